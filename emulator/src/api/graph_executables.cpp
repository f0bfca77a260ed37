// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Executable graphs: instantiation, launches and changes.

#include "api/graph_handles.hpp"
#include "objects/graphs/capture.hpp"
#include "objects/process/error.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

using namespace cuprum::emulator;

namespace {

CUgraphExec instantiate(CUgraph graph, cuuint64_t flags, GraphExecutable::Failure& failure) {
    static_cast<void>(current_context()); // throws INVALID_CONTEXT, as a GPU's driver does
    return GraphExecutable::create(*graph_from(graph), flags, failure)->handle<CUgraphExec>();
}

/// Runs the body of a function that instantiates a graph, which some captures do not allow.
template <typename Body>
CUresult instantiation_entry(const char* name, Body&& body) noexcept {
    return entry(name, [&] {
        Capture::refuse_unsafe_call(); // without GraphLock, which comes after the lock of captures
        const GraphLock lock;
        return std::forward<Body>(body)();
    });
}

/// Instantiates as the functions did before flags; says in the caller's buffer what is wrong.
void instantiate_with_log(CUgraphExec* out, CUgraph graph, CUgraphNode* bad_node, char* log,
                          std::size_t log_bytes) {
    require(out != nullptr, "phGraphExec must not be NULL");
    const auto write_log = [&](const char* text) {
        if (log != nullptr && log_bytes != 0) {
            const std::size_t length = std::min(log_bytes - 1, std::strlen(text));
            std::memcpy(log, text, length);
            log[length] = '\0';
        }
    };
    GraphExecutable::Failure failure;
    try {
        *out = instantiate(graph, 0, failure);
        write_log("");
    } catch (const DriverError& error) {
        if (bad_node != nullptr) {
            *bad_node =
                failure.node != nullptr ? failure.node->handle<CUgraphNode>() : CUgraphNode{};
        }
        write_log(error.what());
        throw;
    }
}

} // namespace

extern "C" {

// ---- life --------------------------------------------------------------------------------------

CUresult CUDAAPI cuGraphInstantiateWithFlags(CUgraphExec* phGraphExec, CUgraph hGraph,
                                             unsigned long long flags) {
    return instantiation_entry("cuGraphInstantiate", [&] {
        require(phGraphExec != nullptr, "phGraphExec must not be NULL");
        require((flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) == 0,
                "only cuGraphInstantiateWithParams can upload");
        GraphExecutable::Failure failure;
        *phGraphExec = instantiate(hGraph, flags, failure);
    });
}

CUresult CUDAAPI cuGraphInstantiateWithParams(CUgraphExec* phGraphExec, CUgraph hGraph,
                                              CUDA_GRAPH_INSTANTIATE_PARAMS* instantiateParams) {
    return entry("cuGraphInstantiateWithParams", [&] {
        require(phGraphExec != nullptr && instantiateParams != nullptr, "an argument is NULL");
        Capture::refuse_unsafe_call();
        GraphExecutable::Failure failure;
        instantiateParams->hErrNode_out = nullptr;
        try {
            const auto stream = (instantiateParams->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) != 0
                                    ? stream_from(instantiateParams->hUploadStream)
                                    : nullptr;
            CUgraphExec handle = nullptr;
            {
                const GraphLock lock;
                handle = instantiate(hGraph, instantiateParams->flags, failure);
            }
            if (stream != nullptr) { // without GraphLock, which comes after the lock of captures
                executable_from(handle)->upload(*stream);
            }
            *phGraphExec = handle;
            instantiateParams->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
        } catch (...) {
            instantiateParams->result_out = failure.result;
            const GraphLock lock;
            if (failure.node != nullptr) {
                instantiateParams->hErrNode_out = failure.node->handle<CUgraphNode>();
            }
            throw;
        }
    });
}

CUresult CUDAAPI cuGraphInstantiate_v2(CUgraphExec* phGraphExec, CUgraph hGraph,
                                       CUgraphNode* phErrorNode, char* logBuffer,
                                       size_t bufferSize) {
    return instantiation_entry("cuGraphInstantiate", [&] {
        instantiate_with_log(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize);
    });
}

CUresult CUDAAPI cuGraphInstantiate(CUgraphExec* phGraphExec, CUgraph hGraph,
                                    CUgraphNode* phErrorNode, char* logBuffer, size_t bufferSize) {
    return cuGraphInstantiate_v2(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize);
}

CUresult CUDAAPI cuGraphExecDestroy(CUgraphExec hGraphExec) {
    return entry("cuGraphExecDestroy", [&] {
        const auto executable = executable_from(hGraphExec);
        Capture::refuse_unsafe_call();
        require(HandleTable::instance().erase(HandleKind::GraphExecutable,
                                              executable->handle_value()) != nullptr,
                "the executable graph was destroyed by another thread");
    });
}

CUresult CUDAAPI cuGraphExecGetFlags(CUgraphExec hGraphExec, cuuint64_t* flags) {
    return entry("cuGraphExecGetFlags", [&] { put(flags, executable_from(hGraphExec)->flags()); });
}

// ---- launches ----------------------------------------------------------------------------------

CUresult CUDAAPI cuGraphUpload(CUgraphExec hGraphExec, CUstream hStream) {
    return entry("cuGraphUpload", [&] {
        const auto executable = executable_from(hGraphExec);
        executable->upload(*stream_from(hStream));
    });
}

CUresult CUDAAPI cuGraphLaunch(CUgraphExec hGraphExec, CUstream hStream) {
    return entry("cuGraphLaunch", [&] {
        const auto executable = executable_from(hGraphExec);
        executable->launch(*stream_from(hStream));
    });
}

// ---- changes -----------------------------------------------------------------------------------

CUresult CUDAAPI cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph,
                                      CUgraphExecUpdateResultInfo* resultInfo) {
    return graph_entry("cuGraphExecUpdate", [&] {
        require(resultInfo != nullptr, "resultInfo must not be NULL");
        *resultInfo = {CU_GRAPH_EXEC_UPDATE_ERROR, nullptr, nullptr};
        const auto executable = executable_from(hGraphExec);
        executable->update(*graph_from(hGraph), *resultInfo);
    });
}

CUresult CUDAAPI cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph,
                                   CUgraphNode* hErrorNode_out,
                                   CUgraphExecUpdateResult* updateResult_out) {
    CUgraphExecUpdateResultInfo info{};
    const CUresult result = cuGraphExecUpdate_v2(hGraphExec, hGraph, &info);
    if (hErrorNode_out != nullptr) {
        *hErrorNode_out = info.errorNode;
    }
    if (updateResult_out != nullptr) {
        *updateResult_out = info.result;
    }
    return result;
}

CUresult CUDAAPI cuGraphNodeSetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode,
                                       unsigned int isEnabled) {
    return graph_entry("cuGraphNodeSetEnabled", [&] {
        executable_from(hGraphExec)->set_enabled(node_from(hNode), isEnabled != 0);
    });
}

CUresult CUDAAPI cuGraphNodeGetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode,
                                       unsigned int* isEnabled) {
    return graph_entry("cuGraphNodeGetEnabled", [&] {
        put(isEnabled, executable_from(hGraphExec)->is_enabled(node_from(hNode)) ? 1U : 0U);
    });
}

CUresult CUDAAPI cuGraphExecKernelNodeSetParams_v2(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                   const CUDA_KERNEL_NODE_PARAMS* nodeParams) {
    return graph_entry("cuGraphExecKernelNodeSetParams", [&] {
        executable_from(hGraphExec)->set_parameters(node_from(hNode), kernel_from(nodeParams));
    });
}

CUresult CUDAAPI cuGraphExecKernelNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                const CUDA_KERNEL_NODE_PARAMS_v1* nodeParams) {
    return graph_entry("cuGraphExecKernelNodeSetParams", [&] {
        executable_from(hGraphExec)->set_parameters(node_from(hNode), kernel_from(nodeParams));
    });
}

CUresult CUDAAPI cuGraphExecMemcpyNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                const CUDA_MEMCPY3D* copyParams, CUcontext ctx) {
    return graph_entry("cuGraphExecMemcpyNodeSetParams", [&] {
        executable_from(hGraphExec)->set_parameters(node_from(hNode), memcpy_from(copyParams, ctx));
    });
}

CUresult CUDAAPI cuGraphExecMemsetNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                const CUDA_MEMSET_NODE_PARAMS* memsetParams,
                                                CUcontext ctx) {
    return graph_entry("cuGraphExecMemsetNodeSetParams", [&] {
        executable_from(hGraphExec)
            ->set_parameters(node_from(hNode), memset_from(memsetParams, ctx));
    });
}

CUresult CUDAAPI cuGraphExecHostNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                              const CUDA_HOST_NODE_PARAMS* nodeParams) {
    return graph_entry("cuGraphExecHostNodeSetParams", [&] {
        executable_from(hGraphExec)->set_parameters(node_from(hNode), host_from(nodeParams));
    });
}

CUresult CUDAAPI cuGraphExecChildGraphNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                    CUgraph childGraph) {
    return graph_entry("cuGraphExecChildGraphNodeSetParams", [&] {
        executable_from(hGraphExec)->set_child(node_from(hNode), *graph_from(childGraph));
    });
}

CUresult CUDAAPI cuGraphExecEventRecordNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                    CUevent event) {
    return graph_entry("cuGraphExecEventRecordNodeSetEvent", [&] {
        executable_from(hGraphExec)
            ->set_parameters(node_from(hNode), RecordParameters{event_of_node(event)});
    });
}

CUresult CUDAAPI cuGraphExecEventWaitNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                  CUevent event) {
    return graph_entry("cuGraphExecEventWaitNodeSetEvent", [&] {
        executable_from(hGraphExec)
            ->set_parameters(node_from(hNode), WaitParameters{event_of_node(event)});
    });
}

CUresult CUDAAPI cuGraphExecBatchMemOpNodeSetParams(
    CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_BATCH_MEM_OP_NODE_PARAMS* nodeParams) {
    return graph_entry("cuGraphExecBatchMemOpNodeSetParams", [&] {
        executable_from(hGraphExec)->set_parameters(node_from(hNode), batch_from(nodeParams));
    });
}

} // extern "C"
