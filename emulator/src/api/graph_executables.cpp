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
    return GraphExecutable::create(*object_of(graph), flags, failure)->handle<CUgraphExec>();
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

// ---- life --------------------------------------------------------------------------------------

ROW(cuGraphInstantiateWithFlags, 11040, UnsafeCall, GraphLocked, CUgraphExec& phGraphExec,
    CUgraph hGraph, unsigned long long flags) {
    require((flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) == 0,
            "only cuGraphInstantiateWithParams can upload");
    GraphExecutable::Failure failure;
    phGraphExec = instantiate(hGraph, flags, failure);
}

ROW_PTSZ(cuGraphInstantiateWithParams, 12000, CUgraphExec& phGraphExec, CUgraph hGraph,
         CUDA_GRAPH_INSTANTIATE_PARAMS& instantiateParams, UnsafeCall) {
    GraphExecutable::Failure failure;
    instantiateParams.hErrNode_out = nullptr;
    try {
        const auto stream = (instantiateParams.flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) != 0
                                ? object_of(instantiateParams.hUploadStream)
                                : nullptr;
        CUgraphExec handle = nullptr;
        {
            const GraphLock lock;
            handle = instantiate(hGraph, instantiateParams.flags, failure);
        }
        if (stream != nullptr) { // without GraphLock, which comes after the lock of captures
            object_of(handle)->upload(*stream);
        }
        phGraphExec = handle;
        instantiateParams.result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
    } catch (...) {
        instantiateParams.result_out = failure.result;
        const GraphLock lock;
        if (failure.node != nullptr) {
            instantiateParams.hErrNode_out = failure.node->handle<CUgraphNode>();
        }
        throw;
    }
}

ROW(cuGraphInstantiate_v2, 11000, UnsafeCall, GraphLocked, CUgraphExec* phGraphExec, CUgraph hGraph,
    CUgraphNode* phErrorNode, char* logBuffer, size_t bufferSize) {
    instantiate_with_log(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize);
}

ALIAS(cuGraphInstantiate, 10000, cuGraphInstantiate_v2);

ROW(cuGraphExecDestroy, 10000, GraphExecutable& executable) {
    Capture::refuse_unsafe_call();
    close_handle(executable.handle<CUgraphExec>());
}

ROW(cuGraphExecGetFlags, 12000, GraphExecutable& executable, cuuint64_t* flags) {
    put(flags, executable.flags());
}

// ---- launches ----------------------------------------------------------------------------------

ROW_PTSZ(cuGraphUpload, 11010, GraphExecutable& executable, Stream& stream) {
    executable.upload(stream);
}

ROW_PTSZ(cuGraphLaunch, 10000, GraphExecutable& executable, Stream& stream) {
    executable.launch(stream);
}

// ---- changes -----------------------------------------------------------------------------------

ROW(cuGraphExecUpdate_v2, 12000, GraphLocked, CUgraphExec hGraphExec, CUgraph hGraph,
    CUgraphExecUpdateResultInfo& resultInfo) {
    resultInfo = {CU_GRAPH_EXEC_UPDATE_ERROR, nullptr, nullptr};
    const auto executable = object_of(hGraphExec);
    executable->update(*object_of(hGraph), resultInfo);
}

FORWARD(cuGraphExecUpdate, 10020, CUgraphExec hGraphExec, CUgraph hGraph,
        CUgraphNode* hErrorNode_out, CUgraphExecUpdateResult* updateResult_out) {
    CUgraphExecUpdateResultInfo info{};
    const CUresult result = cuGraphExecUpdate_v2(hGraphExec, hGraph, &info);
    put_optional(hErrorNode_out, info.errorNode);
    put_optional(updateResult_out, info.result);
    return result;
}

ROW(cuGraphNodeSetEnabled, 11060, GraphLocked, GraphExecutable& executable, GraphNode& node,
    unsigned int isEnabled) {
    executable.set_enabled(node, isEnabled != 0);
}

ROW(cuGraphNodeGetEnabled, 11060, GraphLocked, GraphExecutable& executable, GraphNode& node,
    unsigned int* isEnabled) {
    put(isEnabled, executable.is_enabled(node) ? 1U : 0U);
}
