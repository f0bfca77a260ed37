// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Nodes of graphs: kernels, copies, fills, and nodes of any type. The others are in graphs.cpp.

#include "copy_parameters.hpp"
#include "forward.hpp"
#include "kernels.hpp"
#include "newer.hpp"
#include "registry.hpp"
#include "runtime.hpp"

#include <bit>
#include <string>

using namespace cuprum::runtime;

namespace {

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

/// Calls `use` with the parameters of a kernel as the driver has them.
template <typename Use>
cudaError_t with_kernel(const cudaKernelNodeParams* parameters, Use&& use) {
    return in_context([&] {
        CUDA_KERNEL_NODE_PARAMS kernel{};
        const cudaError_t status = kernel_to_driver(parameters, kernel);
        return status != cudaSuccess ? status : as_error(use(&kernel));
    });
}

// The ways to describe a copy; each fails for what is no direction.

cudaError_t any_copy(CUDA_MEMCPY3D& copy, const cudaMemcpy3DParms* parameters) {
    return parameters == nullptr ? cudaErrorInvalidValue
                                 : cuprum::runtime::to_driver(*parameters, copy);
}

cudaError_t flat_copy(CUDA_MEMCPY3D& copy, void* to, const void* from, std::size_t count,
                      cudaMemcpyKind kind) {
    return linear_copy(to, from, count, kind, copy);
}

cudaError_t copy_to_variable(CUDA_MEMCPY3D& copy, const void* symbol, const void* from,
                             std::size_t count, std::size_t offset, cudaMemcpyKind kind) {
    CUdeviceptr to = 0;
    const cudaError_t status = find_part(symbol, offset, count, &to);
    if (status == cudaSuccess && type_of_destination(kind) == CU_MEMORYTYPE_HOST) {
        return cudaErrorInvalidMemcpyDirection;
    }
    return status != cudaSuccess ? status : linear_copy(pointer(to), from, count, kind, copy);
}

cudaError_t copy_from_variable(CUDA_MEMCPY3D& copy, void* to, const void* symbol, std::size_t count,
                               std::size_t offset, cudaMemcpyKind kind) {
    CUdeviceptr from = 0;
    const cudaError_t status = find_part(symbol, offset, count, &from);
    if (status == cudaSuccess && type_of_source(kind) == CU_MEMORYTYPE_HOST) {
        return cudaErrorInvalidMemcpyDirection;
    }
    return status != cudaSuccess ? status : linear_copy(to, pointer(from), count, kind, copy);
}

// The uses of such a description.

template <auto Describe, typename... What>
cudaError_t add_copy(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                     std::size_t count, What... what) {
    CUDA_MEMCPY3D copy{};
    const cudaError_t status = Describe(copy, what...);
    return status != cudaSuccess ? status
                                 : as_error(cuGraphAddMemcpyNode(node, graph, dependencies, count,
                                                                 &copy, current_context()));
}

template <auto Describe, typename... What>
cudaError_t set_copy(cudaGraphNode_t node, What... what) {
    CUDA_MEMCPY3D copy{};
    const cudaError_t status = Describe(copy, what...);
    return status != cudaSuccess ? status : as_error(cuGraphMemcpyNodeSetParams(node, &copy));
}

template <auto Describe, typename... What>
cudaError_t set_executable_copy(cudaGraphExec_t executable, cudaGraphNode_t node, What... what) {
    CUDA_MEMCPY3D copy{};
    const cudaError_t status = Describe(copy, what...);
    return status != cudaSuccess ? status
                                 : as_error(cuGraphExecMemcpyNodeSetParams(executable, node, &copy,
                                                                           current_context()));
}

/// Converts the parameters of any node. Both APIs have the same members where nothing is said.
cudaError_t to_driver(const cudaGraphNodeParams& from, CUgraphNodeParams& to) {
    to = std::bit_cast<CUgraphNodeParams>(from); // the driver refuses reserved fields other than 0
    switch (from.type) {
    case cudaGraphNodeTypeKernel: {
        CUDA_KERNEL_NODE_PARAMS kernel{};
        const cudaError_t status = kernel_to_driver(&from.kernel, kernel);
        to.kernel = std::bit_cast<CUDA_KERNEL_NODE_PARAMS_v3>(kernel);
        return status;
    }
    case cudaGraphNodeTypeMemcpy:
        to.memcpy = {};
        to.memcpy.flags = from.memcpy.flags;
        to.memcpy.copyCtx = current_context();
        return cuprum::runtime::to_driver(from.memcpy.copyParams, to.memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
        to.memset.ctx = current_context();
        return cudaSuccess;
    case cudaGraphNodeTypeConditional:
        to.conditional.ctx = current_context();
        return cudaSuccess;
    case cudaGraphNodeTypeMemAlloc:
    case cudaGraphNodeTypeMemFree:
    case cudaGraphNodeTypeHost:
    case cudaGraphNodeTypeGraph:
    case cudaGraphNodeTypeWaitEvent:
    case cudaGraphNodeTypeEventRecord:
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

template <typename Parameters>
void kernel_from_driver(const CUDA_KERNEL_NODE_PARAMS& from, Parameters& to) {
    to.func = const_cast<void*>(Registry::instance().host_of(from.func));
    to.gridDim = {from.gridDimX, from.gridDimY, from.gridDimZ};
    to.blockDim = {from.blockDimX, from.blockDimY, from.blockDimZ};
    to.sharedMemBytes = from.sharedMemBytes;
    to.kernelParams = from.kernelParams;
    to.extra = from.extra;
}

#ifndef CUPRUM_RUNTIME_12

/// Converts the parameters of any node that `to_driver` accepts.
cudaError_t from_driver(const CUgraphNodeParams& from, cudaGraphNodeParams& to) {
    to = std::bit_cast<cudaGraphNodeParams>(from);
    switch (to.type) {
    case cudaGraphNodeTypeKernel:
        to.kernel = {};
        kernel_from_driver(std::bit_cast<CUDA_KERNEL_NODE_PARAMS>(from.kernel), to.kernel);
        return cudaSuccess;
    case cudaGraphNodeTypeMemcpy:
        to.memcpy = {};
        to.memcpy.flags = from.memcpy.flags;
        return cuprum::runtime::from_driver(from.memcpy.copyParams, to.memcpy.copyParams);
    case cudaGraphNodeTypeExtSemaphoreSignal:
    case cudaGraphNodeTypeExtSemaphoreWait:
        log_refusal("cudaGraphNodeGetParams", "this type of node is not supported");
        return cudaErrorNotSupported;
    default:
        return cudaSuccess;
    }
}

#endif

} // namespace

// ---- kernels -----------------------------------------------------------------------------------

cudaError_t CUDARTAPI cudaGraphAddKernelNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                             const cudaGraphNode_t* pDependencies,
                                             std::size_t numDependencies,
                                             const cudaKernelNodeParams* pNodeParams) {
    return with_kernel(pNodeParams, [&](const auto* kernel) {
        return cuGraphAddKernelNode(pGraphNode, graph, pDependencies, numDependencies, kernel);
    });
}

cudaError_t CUDARTAPI cudaGraphKernelNodeGetParams(cudaGraphNode_t node,
                                                   cudaKernelNodeParams* pNodeParams) {
    return in_context([&] {
        CUDA_KERNEL_NODE_PARAMS found{};
        const CUresult status = pNodeParams == nullptr ? CUDA_ERROR_INVALID_VALUE
                                                       : cuGraphKernelNodeGetParams(node, &found);
        if (status == CUDA_SUCCESS) {
            kernel_from_driver(found, *pNodeParams);
        }
        return status;
    });
}

cudaError_t CUDARTAPI cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                                   const cudaKernelNodeParams* pNodeParams) {
    return with_kernel(
        pNodeParams, [&](const auto* kernel) { return cuGraphKernelNodeSetParams(node, kernel); });
}

cudaError_t CUDARTAPI cudaGraphExecKernelNodeSetParams(cudaGraphExec_t hGraphExec,
                                                       cudaGraphNode_t node,
                                                       const cudaKernelNodeParams* pNodeParams) {
    return with_kernel(pNodeParams, [&](const auto* kernel) {
        return cuGraphExecKernelNodeSetParams(hGraphExec, node, kernel);
    });
}

FORWARD(cudaGraphKernelNodeCopyAttributes, cuGraphKernelNodeCopyAttributes, IN_CONTEXT);
FORWARD(cudaGraphKernelNodeGetAttribute, cuGraphKernelNodeGetAttribute, IN_CONTEXT);
FORWARD(cudaGraphKernelNodeSetAttribute, cuGraphKernelNodeSetAttribute, IN_CONTEXT);

// ---- copies ------------------------------------------------------------------------------------

CALL(cudaGraphAddMemcpyNode, add_copy<any_copy>, IN_CONTEXT);
CALL(cudaGraphAddMemcpyNode1D, add_copy<flat_copy>, IN_CONTEXT);
CALL(cudaGraphAddMemcpyNodeToSymbol, add_copy<copy_to_variable>, IN_CONTEXT);
CALL(cudaGraphAddMemcpyNodeFromSymbol, add_copy<copy_from_variable>, IN_CONTEXT);

cudaError_t CUDARTAPI cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node,
                                                   cudaMemcpy3DParms* pNodeParams) {
    return in_context([&] {
        CUDA_MEMCPY3D found{};
        const CUresult status = pNodeParams == nullptr ? CUDA_ERROR_INVALID_VALUE
                                                       : cuGraphMemcpyNodeGetParams(node, &found);
        return status != CUDA_SUCCESS ? as_error(status) : from_driver(found, *pNodeParams);
    });
}

CALL(cudaGraphMemcpyNodeSetParams, set_copy<any_copy>, IN_CONTEXT);
CALL(cudaGraphMemcpyNodeSetParams1D, set_copy<flat_copy>, IN_CONTEXT);
CALL(cudaGraphMemcpyNodeSetParamsToSymbol, set_copy<copy_to_variable>, IN_CONTEXT);
CALL(cudaGraphMemcpyNodeSetParamsFromSymbol, set_copy<copy_from_variable>, IN_CONTEXT);
CALL(cudaGraphExecMemcpyNodeSetParams, set_executable_copy<any_copy>, IN_CONTEXT);
CALL(cudaGraphExecMemcpyNodeSetParams1D, set_executable_copy<flat_copy>, IN_CONTEXT);
CALL(cudaGraphExecMemcpyNodeSetParamsToSymbol, set_executable_copy<copy_to_variable>, IN_CONTEXT);
CALL(cudaGraphExecMemcpyNodeSetParamsFromSymbol, set_executable_copy<copy_from_variable>,
     IN_CONTEXT);

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

FORWARD(cudaGraphMemsetNodeGetParams, cuGraphMemsetNodeGetParams, IN_CONTEXT);
FORWARD(cudaGraphMemsetNodeSetParams, cuGraphMemsetNodeSetParams, IN_CONTEXT);

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
