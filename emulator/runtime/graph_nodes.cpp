// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Nodes of graphs: kernels, copies, fills, and nodes of any type. The others are in graphs.cpp.

#include "copy_parameters.hpp"
#include "kernels.hpp"
#include "newer.hpp"
#include "registry.hpp"
#include "runtime.hpp"

#include <algorithm>
#include <string>

using namespace cuprum::runtime;

namespace {

/// The nodes that a new node depends on.
struct Place {
    cudaGraphNode_t* node;
    cudaGraph_t graph;
    const cudaGraphNode_t* dependencies;
    std::size_t count;
};

CUcontext current_context() {
    CUcontext context = nullptr;
    (void)cuCtxGetCurrent(&context);
    return context;
}

template <typename Parameters>
cudaError_t kernel_to_driver(const Parameters* from, CUDA_KERNEL_NODE_PARAMS& to) {
    if (from == nullptr) {
        return cudaErrorInvalidValue;
    }
    to.gridDimX = from->gridDim.x;
    to.gridDimY = from->gridDim.y;
    to.gridDimZ = from->gridDim.z;
    to.blockDimX = from->blockDim.x;
    to.blockDimY = from->blockDim.y;
    to.blockDimZ = from->blockDim.z;
    to.sharedMemBytes = from->sharedMemBytes;
    to.kernelParams = from->kernelParams;
    to.extra = from->extra;
    return find_function(from->func, &to.func);
}

cudaError_t add_copy(const Place& place, const CUDA_MEMCPY3D& copy) {
    return as_error(cuGraphAddMemcpyNode(place.node, place.graph, place.dependencies, place.count,
                                         &copy, current_context()));
}

/// Calls `use` with a copy of one dimension.
template <typename Use>
cudaError_t with_linear_copy(void* to, const void* from, std::size_t count, cudaMemcpyKind kind,
                             Use&& use) {
    CUDA_MEMCPY3D copy{};
    const cudaError_t status = linear_copy(to, from, count, kind, copy);
    return status != cudaSuccess ? status : as_error(use(copy));
}

/// Calls `use` with a copy to or from a variable.
template <typename Use>
cudaError_t with_copy_to_symbol(const void* symbol, const void* from, std::size_t count,
                                std::size_t offset, cudaMemcpyKind kind, Use&& use) {
    CUdeviceptr to = 0;
    const cudaError_t status = find_part(symbol, offset, count, &to);
    if (status != cudaSuccess) {
        return status;
    }
    if (type_of_destination(kind) == CU_MEMORYTYPE_HOST) {
        return cudaErrorInvalidMemcpyDirection;
    }
    return with_linear_copy(pointer(to), from, count, kind, use);
}

template <typename Use>
cudaError_t with_copy_from_symbol(void* to, const void* symbol, std::size_t count,
                                  std::size_t offset, cudaMemcpyKind kind, Use&& use) {
    CUdeviceptr from = 0;
    const cudaError_t status = find_part(symbol, offset, count, &from);
    if (status != cudaSuccess) {
        return status;
    }
    if (type_of_source(kind) == CU_MEMORYTYPE_HOST) {
        return cudaErrorInvalidMemcpyDirection;
    }
    return with_linear_copy(to, pointer(from), count, kind, use);
}

/// Converts the parameters of any node. Where both APIs have the same members, they are copied.
cudaError_t to_driver(const cudaGraphNodeParams& from, CUgraphNodeParams& to) {
    static_assert(sizeof to == sizeof from);
    to = {};
    to.type = static_cast<CUgraphNodeType>(from.type);
    std::ranges::copy(from.reserved0, to.reserved0); // the driver refuses all but 0
    to.reserved2 = from.reserved2;
    switch (from.type) {
    case cudaGraphNodeTypeKernel: {
        CUDA_KERNEL_NODE_PARAMS kernel{};
        const cudaError_t status = kernel_to_driver(&from.kernel, kernel);
        to.kernel.func = kernel.func;
        to.kernel.gridDimX = kernel.gridDimX;
        to.kernel.gridDimY = kernel.gridDimY;
        to.kernel.gridDimZ = kernel.gridDimZ;
        to.kernel.blockDimX = kernel.blockDimX;
        to.kernel.blockDimY = kernel.blockDimY;
        to.kernel.blockDimZ = kernel.blockDimZ;
        to.kernel.sharedMemBytes = kernel.sharedMemBytes;
        to.kernel.kernelParams = kernel.kernelParams;
        to.kernel.extra = kernel.extra;
        return status;
    }
    case cudaGraphNodeTypeMemcpy:
        to.memcpy.flags = from.memcpy.flags;
        to.memcpy.copyCtx = current_context();
        return cuprum::runtime::to_driver(from.memcpy.copyParams, to.memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
        to.memset = {address(from.memset.dst), from.memset.pitch, from.memset.value,
                     from.memset.elementSize,  from.memset.width, from.memset.height,
                     current_context()};
        return cudaSuccess;
    case cudaGraphNodeTypeConditional:
        to.conditional.handle = from.conditional.handle;
        to.conditional.type = static_cast<CUgraphConditionalNodeType>(from.conditional.type);
        to.conditional.size = from.conditional.size;
        to.conditional.ctx = current_context();
        return cudaSuccess;
    case cudaGraphNodeTypeMemAlloc:
        to.alloc = *same<const CUDA_MEM_ALLOC_NODE_PARAMS_v2>(&from.alloc);
        return cudaSuccess;
    case cudaGraphNodeTypeMemFree:
        to.free.dptr = address(from.free.dptr);
        return cudaSuccess;
    case cudaGraphNodeTypeHost:
        to.host.fn = from.host.fn;
        to.host.userData = from.host.userData;
        return cudaSuccess;
    case cudaGraphNodeTypeGraph:
        to.graph.graph = from.graph.graph;
        to.graph.ownership = static_cast<CUgraphChildGraphNodeOwnership>(from.graph.ownership);
        return cudaSuccess;
    case cudaGraphNodeTypeWaitEvent:
        to.eventWait.event = from.eventWait.event;
        return cudaSuccess;
    case cudaGraphNodeTypeEventRecord:
        to.eventRecord.event = from.eventRecord.event;
        return cudaSuccess;
    case cudaGraphNodeTypeEmpty:
        return cudaSuccess;
    case cudaGraphNodeTypeExtSemaphoreSignal:
    case cudaGraphNodeTypeExtSemaphoreWait:
        log_refusal("cudaGraphAddNode", "this type of node is not supported");
        return cudaErrorNotSupported;
    default:
        return fail(cudaErrorInvalidValue, std::to_string(from.type) + " is no type of node");
    }
}

#ifndef CUPRUM_RUNTIME_12

/// Converts the parameters of any node that `to_driver` accepts.
cudaError_t from_driver(const CUgraphNodeParams& from, cudaGraphNodeParams& to) {
    to = {};
    to.type = static_cast<cudaGraphNodeType>(from.type);
    switch (to.type) {
    case cudaGraphNodeTypeKernel:
        to.kernel.func = const_cast<void*>(Registry::instance().host_of(from.kernel.func));
        to.kernel.gridDim = {from.kernel.gridDimX, from.kernel.gridDimY, from.kernel.gridDimZ};
        to.kernel.blockDim = {from.kernel.blockDimX, from.kernel.blockDimY, from.kernel.blockDimZ};
        to.kernel.sharedMemBytes = from.kernel.sharedMemBytes;
        to.kernel.kernelParams = from.kernel.kernelParams;
        to.kernel.extra = from.kernel.extra;
        return cudaSuccess;
    case cudaGraphNodeTypeMemcpy:
        to.memcpy.flags = from.memcpy.flags;
        return cuprum::runtime::from_driver(from.memcpy.copyParams, to.memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
        to.memset.dst = pointer(from.memset.dst);
        to.memset.pitch = from.memset.pitch;
        to.memset.value = from.memset.value;
        to.memset.elementSize = from.memset.elementSize;
        to.memset.width = from.memset.width;
        to.memset.height = from.memset.height;
        return cudaSuccess;
    case cudaGraphNodeTypeConditional:
        to.conditional.handle = from.conditional.handle;
        to.conditional.type = static_cast<cudaGraphConditionalNodeType>(from.conditional.type);
        to.conditional.size = from.conditional.size;
        to.conditional.phGraph_out = from.conditional.phGraph_out;
        return cudaSuccess;
    case cudaGraphNodeTypeMemAlloc:
        to.alloc = *same<const cudaMemAllocNodeParamsV2>(&from.alloc);
        return cudaSuccess;
    case cudaGraphNodeTypeMemFree:
        to.free.dptr = pointer(from.free.dptr);
        return cudaSuccess;
    case cudaGraphNodeTypeHost:
        to.host.fn = from.host.fn;
        to.host.userData = from.host.userData;
        return cudaSuccess;
    case cudaGraphNodeTypeGraph:
        to.graph.graph = from.graph.graph;
        to.graph.ownership = static_cast<cudaGraphChildGraphNodeOwnership>(from.graph.ownership);
        return cudaSuccess;
    case cudaGraphNodeTypeWaitEvent:
        to.eventWait.event = from.eventWait.event;
        return cudaSuccess;
    case cudaGraphNodeTypeEventRecord:
        to.eventRecord.event = from.eventRecord.event;
        return cudaSuccess;
    case cudaGraphNodeTypeEmpty:
        return cudaSuccess;
    default:
        log_refusal("cudaGraphNodeGetParams", "this type of node is not supported");
        return cudaErrorNotSupported;
    }
}

#endif

} // namespace

extern "C" {

// ---- kernels -----------------------------------------------------------------------------------

cudaError_t CUDARTAPI cudaGraphAddKernelNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                             const cudaGraphNode_t* pDependencies,
                                             std::size_t numDependencies,
                                             const cudaKernelNodeParams* pNodeParams) {
    return in_context([&] {
        CUDA_KERNEL_NODE_PARAMS kernel{};
        const cudaError_t status = kernel_to_driver(pNodeParams, kernel);
        return status != cudaSuccess
                   ? status
                   : as_error(cuGraphAddKernelNode(pGraphNode, graph, pDependencies,
                                                   numDependencies, &kernel));
    });
}

cudaError_t CUDARTAPI cudaGraphKernelNodeGetParams(cudaGraphNode_t node,
                                                   cudaKernelNodeParams* pNodeParams) {
    return in_context([&] {
        CUDA_KERNEL_NODE_PARAMS found{};
        const CUresult status = pNodeParams == nullptr ? CUDA_ERROR_INVALID_VALUE
                                                       : cuGraphKernelNodeGetParams(node, &found);
        if (status == CUDA_SUCCESS) {
            pNodeParams->func = const_cast<void*>(Registry::instance().host_of(found.func));
            pNodeParams->gridDim = {found.gridDimX, found.gridDimY, found.gridDimZ};
            pNodeParams->blockDim = {found.blockDimX, found.blockDimY, found.blockDimZ};
            pNodeParams->sharedMemBytes = found.sharedMemBytes;
            pNodeParams->kernelParams = found.kernelParams;
            pNodeParams->extra = found.extra;
        }
        return status;
    });
}

cudaError_t CUDARTAPI cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                                   const cudaKernelNodeParams* pNodeParams) {
    return in_context([&] {
        CUDA_KERNEL_NODE_PARAMS kernel{};
        const cudaError_t status = kernel_to_driver(pNodeParams, kernel);
        return status != cudaSuccess ? status : as_error(cuGraphKernelNodeSetParams(node, &kernel));
    });
}

cudaError_t CUDARTAPI cudaGraphExecKernelNodeSetParams(cudaGraphExec_t hGraphExec,
                                                       cudaGraphNode_t node,
                                                       const cudaKernelNodeParams* pNodeParams) {
    return in_context([&] {
        CUDA_KERNEL_NODE_PARAMS kernel{};
        const cudaError_t status = kernel_to_driver(pNodeParams, kernel);
        return status != cudaSuccess
                   ? status
                   : as_error(cuGraphExecKernelNodeSetParams(hGraphExec, node, &kernel));
    });
}

cudaError_t CUDARTAPI cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t hDst,
                                                        cudaGraphNode_t hSrc) {
    return in_context([&] { return cuGraphKernelNodeCopyAttributes(hDst, hSrc); });
}

cudaError_t CUDARTAPI cudaGraphKernelNodeGetAttribute(cudaGraphNode_t hNode,
                                                      cudaLaunchAttributeID attr,
                                                      cudaLaunchAttributeValue* value_out) {
    return in_context([&] {
        return cuGraphKernelNodeGetAttribute(hNode, static_cast<CUlaunchAttributeID>(attr),
                                             same<CUlaunchAttributeValue>(value_out));
    });
}

cudaError_t CUDARTAPI cudaGraphKernelNodeSetAttribute(cudaGraphNode_t hNode,
                                                      cudaLaunchAttributeID attr,
                                                      const cudaLaunchAttributeValue* value) {
    return in_context([&] {
        return cuGraphKernelNodeSetAttribute(hNode, static_cast<CUlaunchAttributeID>(attr),
                                             same<const CUlaunchAttributeValue>(value));
    });
}

// ---- copies ------------------------------------------------------------------------------------

cudaError_t CUDARTAPI cudaGraphAddMemcpyNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                             const cudaGraphNode_t* pDependencies,
                                             std::size_t numDependencies,
                                             const cudaMemcpy3DParms* pCopyParams) {
    return in_context([&] {
        CUDA_MEMCPY3D copy{};
        const cudaError_t status = pCopyParams == nullptr
                                       ? cudaErrorInvalidValue
                                       : cuprum::runtime::to_driver(*pCopyParams, copy);
        return status != cudaSuccess
                   ? status
                   : add_copy({pGraphNode, graph, pDependencies, numDependencies}, copy);
    });
}

cudaError_t CUDARTAPI cudaGraphAddMemcpyNode1D(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                               const cudaGraphNode_t* pDependencies,
                                               std::size_t numDependencies, void* dst,
                                               const void* src, std::size_t count,
                                               cudaMemcpyKind kind) {
    return in_context([&] {
        return with_linear_copy(dst, src, count, kind, [&](const CUDA_MEMCPY3D& copy) {
            return add_copy({pGraphNode, graph, pDependencies, numDependencies}, copy);
        });
    });
}

cudaError_t CUDARTAPI cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                                     const cudaGraphNode_t* pDependencies,
                                                     std::size_t numDependencies,
                                                     const void* symbol, const void* src,
                                                     std::size_t count, std::size_t offset,
                                                     cudaMemcpyKind kind) {
    return in_context([&] {
        return with_copy_to_symbol(
            symbol, src, count, offset, kind, [&](const CUDA_MEMCPY3D& copy) {
                return add_copy({pGraphNode, graph, pDependencies, numDependencies}, copy);
            });
    });
}

cudaError_t CUDARTAPI cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* pGraphNode,
                                                       cudaGraph_t graph,
                                                       const cudaGraphNode_t* pDependencies,
                                                       std::size_t numDependencies, void* dst,
                                                       const void* symbol, std::size_t count,
                                                       std::size_t offset, cudaMemcpyKind kind) {
    return in_context([&] {
        return with_copy_from_symbol(
            dst, symbol, count, offset, kind, [&](const CUDA_MEMCPY3D& copy) {
                return add_copy({pGraphNode, graph, pDependencies, numDependencies}, copy);
            });
    });
}

cudaError_t CUDARTAPI cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node,
                                                   cudaMemcpy3DParms* pNodeParams) {
    return in_context([&] {
        CUDA_MEMCPY3D found{};
        const CUresult status = pNodeParams == nullptr ? CUDA_ERROR_INVALID_VALUE
                                                       : cuGraphMemcpyNodeGetParams(node, &found);
        return status != CUDA_SUCCESS ? as_error(status) : from_driver(found, *pNodeParams);
    });
}

cudaError_t CUDARTAPI cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                                   const cudaMemcpy3DParms* pNodeParams) {
    return in_context([&] {
        CUDA_MEMCPY3D copy{};
        const cudaError_t status = pNodeParams == nullptr
                                       ? cudaErrorInvalidValue
                                       : cuprum::runtime::to_driver(*pNodeParams, copy);
        return status != cudaSuccess ? status : as_error(cuGraphMemcpyNodeSetParams(node, &copy));
    });
}

cudaError_t CUDARTAPI cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* dst,
                                                     const void* src, std::size_t count,
                                                     cudaMemcpyKind kind) {
    return in_context([&] {
        return with_linear_copy(dst, src, count, kind, [&](const CUDA_MEMCPY3D& copy) {
            return cuGraphMemcpyNodeSetParams(node, &copy);
        });
    });
}

cudaError_t CUDARTAPI cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void* symbol,
                                                           const void* src, std::size_t count,
                                                           std::size_t offset,
                                                           cudaMemcpyKind kind) {
    return in_context([&] {
        return with_copy_to_symbol(
            symbol, src, count, offset, kind,
            [&](const CUDA_MEMCPY3D& copy) { return cuGraphMemcpyNodeSetParams(node, &copy); });
    });
}

cudaError_t CUDARTAPI cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* dst,
                                                             const void* symbol, std::size_t count,
                                                             std::size_t offset,
                                                             cudaMemcpyKind kind) {
    return in_context([&] {
        return with_copy_from_symbol(
            dst, symbol, count, offset, kind,
            [&](const CUDA_MEMCPY3D& copy) { return cuGraphMemcpyNodeSetParams(node, &copy); });
    });
}

cudaError_t CUDARTAPI cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t hGraphExec,
                                                       cudaGraphNode_t node,
                                                       const cudaMemcpy3DParms* pNodeParams) {
    return in_context([&] {
        CUDA_MEMCPY3D copy{};
        const cudaError_t status = pNodeParams == nullptr
                                       ? cudaErrorInvalidValue
                                       : cuprum::runtime::to_driver(*pNodeParams, copy);
        return status != cudaSuccess ? status
                                     : as_error(cuGraphExecMemcpyNodeSetParams(
                                           hGraphExec, node, &copy, current_context()));
    });
}

cudaError_t CUDARTAPI cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t hGraphExec,
                                                         cudaGraphNode_t node, void* dst,
                                                         const void* src, std::size_t count,
                                                         cudaMemcpyKind kind) {
    return in_context([&] {
        return with_linear_copy(dst, src, count, kind, [&](const CUDA_MEMCPY3D& copy) {
            return cuGraphExecMemcpyNodeSetParams(hGraphExec, node, &copy, current_context());
        });
    });
}

cudaError_t CUDARTAPI cudaGraphExecMemcpyNodeSetParamsToSymbol(
    cudaGraphExec_t hGraphExec, cudaGraphNode_t node, const void* symbol, const void* src,
    std::size_t count, std::size_t offset, cudaMemcpyKind kind) {
    return in_context([&] {
        return with_copy_to_symbol(
            symbol, src, count, offset, kind, [&](const CUDA_MEMCPY3D& copy) {
                return cuGraphExecMemcpyNodeSetParams(hGraphExec, node, &copy, current_context());
            });
    });
}

cudaError_t CUDARTAPI cudaGraphExecMemcpyNodeSetParamsFromSymbol(
    cudaGraphExec_t hGraphExec, cudaGraphNode_t node, void* dst, const void* symbol,
    std::size_t count, std::size_t offset, cudaMemcpyKind kind) {
    return in_context([&] {
        return with_copy_from_symbol(
            dst, symbol, count, offset, kind, [&](const CUDA_MEMCPY3D& copy) {
                return cuGraphExecMemcpyNodeSetParams(hGraphExec, node, &copy, current_context());
            });
    });
}

// ---- fills -------------------------------------------------------------------------------------

cudaError_t CUDARTAPI cudaGraphAddMemsetNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                             const cudaGraphNode_t* pDependencies,
                                             std::size_t numDependencies,
                                             const cudaMemsetParams* pMemsetParams) {
    return in_context([&] {
        return cuGraphAddMemsetNode(pGraphNode, graph, pDependencies, numDependencies,
                                    same<const CUDA_MEMSET_NODE_PARAMS>(pMemsetParams),
                                    current_context());
    });
}

cudaError_t CUDARTAPI cudaGraphMemsetNodeGetParams(cudaGraphNode_t node,
                                                   cudaMemsetParams* pNodeParams) {
    return in_context([&] {
        return cuGraphMemsetNodeGetParams(node, same<CUDA_MEMSET_NODE_PARAMS>(pNodeParams));
    });
}

cudaError_t CUDARTAPI cudaGraphMemsetNodeSetParams(cudaGraphNode_t node,
                                                   const cudaMemsetParams* pNodeParams) {
    return in_context([&] {
        return cuGraphMemsetNodeSetParams(node, same<const CUDA_MEMSET_NODE_PARAMS>(pNodeParams));
    });
}

cudaError_t CUDARTAPI cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t hGraphExec,
                                                       cudaGraphNode_t node,
                                                       const cudaMemsetParams* pNodeParams) {
    return in_context([&] {
        return cuGraphExecMemsetNodeSetParams(
            hGraphExec, node, same<const CUDA_MEMSET_NODE_PARAMS>(pNodeParams), current_context());
    });
}

// ---- nodes of any type -------------------------------------------------------------------------

cudaError_t CUDARTAPI cudaGraphAddNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                       const cudaGraphNode_t* pDependencies,
                                       const cudaGraphEdgeData* dependencyData,
                                       std::size_t numDependencies,
                                       cudaGraphNodeParams* nodeParams) {
    return in_context([&] {
        if (nodeParams == nullptr) {
            return cudaErrorInvalidValue;
        }
        CUgraphNodeParams parameters{};
        if (const cudaError_t status = to_driver(*nodeParams, parameters); status != cudaSuccess) {
            return status;
        }
        const CUresult status = cuGraphAddNode(pGraphNode, graph, pDependencies,
                                               same<const CUgraphEdgeData>(dependencyData),
                                               numDependencies, &parameters);
        if (status == CUDA_SUCCESS && nodeParams->type == cudaGraphNodeTypeMemAlloc) {
            nodeParams->alloc.dptr = pointer(parameters.alloc.dptr);
        }
        if (status == CUDA_SUCCESS && nodeParams->type == cudaGraphNodeTypeConditional) {
            nodeParams->conditional.phGraph_out = parameters.conditional.phGraph_out;
        }
        return as_error(status);
    });
}

cudaError_t CUDARTAPI cudaGraphNodeSetParams(cudaGraphNode_t node,
                                             cudaGraphNodeParams* nodeParams) {
    return in_context([&] {
        CUgraphNodeParams parameters{};
        const cudaError_t status =
            nodeParams == nullptr ? cudaErrorInvalidValue : to_driver(*nodeParams, parameters);
        return status != cudaSuccess ? status : as_error(cuGraphNodeSetParams(node, &parameters));
    });
}

cudaError_t CUDARTAPI cudaGraphExecNodeSetParams(cudaGraphExec_t graphExec, cudaGraphNode_t node,
                                                 cudaGraphNodeParams* nodeParams) {
    return in_context([&] {
        CUgraphNodeParams parameters{};
        const cudaError_t status =
            nodeParams == nullptr ? cudaErrorInvalidValue : to_driver(*nodeParams, parameters);
        return status != cudaSuccess
                   ? status
                   : as_error(cuGraphExecNodeSetParams(graphExec, node, &parameters));
    });
}

#ifndef CUPRUM_RUNTIME_12

cudaError_t CUDARTAPI cudaGraphNodeGetParams(cudaGraphNode_t node,
                                             cudaGraphNodeParams* nodeParams) {
    return in_context([&] {
        constexpr int cuda_13_2 = 13020;
        CUgraphNodeParams found{};
        const cudaError_t status =
            nodeParams == nullptr ? cudaErrorInvalidValue
                                  : call_newer("cuGraphNodeGetParams", cuda_13_2, node, &found);
        return status != cudaSuccess ? status : from_driver(found, *nodeParams);
    });
}

#endif

} // extern "C"
