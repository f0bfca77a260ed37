// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "api/graph_handles.hpp"

#include "api/semaphores.hpp"
#include "objects/devices/device.hpp"
#include "objects/memory/copy_request.hpp"
#include "objects/process/error.hpp"
#include "objects/streams/memory_words.hpp"

namespace cuprum::emulator {

namespace {

constexpr unsigned MAX_NODE_ITEMS = 256;

template <typename Request>
LaunchRequest launch_of(const Request& request) {
    return {.grid = {request.gridDimX, request.gridDimY, request.gridDimZ},
            .block = {request.blockDimX, request.blockDimY, request.blockDimZ},
            .shared_bytes = request.sharedMemBytes,
            .parameters = request.kernelParams,
            .extra = request.extra};
}

template <typename Batch, typename Request>
Batch batch_of(const Request* request) {
    require(request != nullptr, "nodeParams must not be NULL");
    return semaphores_from<Batch>(request->extSemArray, request->paramsArray, request->numExtSems);
}

} // namespace

std::vector<GraphEdge> edges_from(const CUgraphNode* handles, const CUgraphEdgeData* data,
                                  std::size_t count) {
    require(handles != nullptr || count == 0, "the dependencies are NULL");
    require(data == nullptr || count != 0, "there is edge data for no dependencies");
    std::vector<GraphEdge> edges;
    for (std::size_t index = 0; index < count; ++index) {
        edges.push_back(
            {object_of(handles[index]).get(), data != nullptr ? data[index] : CUgraphEdgeData{}});
    }
    return edges;
}

KernelParameters parameters_from(const CUDA_KERNEL_NODE_PARAMS* request) {
    require(request != nullptr, "nodeParams must not be NULL");
    if (request->func != nullptr) {
        return kernel_parameters(object_of(request->func), kernel_or_null(request->func),
                                 launch_of(*request));
    }
    require(request->kern != nullptr, "both func and kern are NULL");
    const auto context = context_or_current(request->ctx);
    return kernel_parameters(object_of(request->kern)->function(context), request->kern,
                             launch_of(*request));
}

KernelParameters parameters_from(const CUDA_KERNEL_NODE_PARAMS_v1* request) {
    require(request != nullptr, "nodeParams must not be NULL");
    require(request->func != nullptr, "func must not be NULL");
    return kernel_parameters(object_of(request->func), kernel_or_null(request->func),
                             launch_of(*request));
}

MemcpyParameters parameters_from(const CUDA_MEMCPY3D* request, CUcontext context) {
    require(request != nullptr, "copyParams must not be NULL");
    MemcpyParameters parameters{*request, copy_of(*request), context_or_current(context)};
    check_memcpy(parameters);
    return parameters;
}

MemsetParameters parameters_from(const CUDA_MEMSET_NODE_PARAMS* request, CUcontext context) {
    require(request != nullptr, "memsetParams must not be NULL");
    MemsetParameters parameters{{request->dst, request->pitch, request->value, request->elementSize,
                                 request->width, request->height},
                                context_or_current(context)};
    check_memset(parameters);
    return parameters;
}

HostParameters parameters_from(const CUDA_HOST_NODE_PARAMS* request) {
    require(request != nullptr && request->fn != nullptr, "fn must not be NULL");
    return {request->fn, request->userData};
}

BatchParameters parameters_from(const CUDA_BATCH_MEM_OP_NODE_PARAMS* request) {
    require(request != nullptr, "nodeParams must not be NULL");
    require(request->paramArray != nullptr && request->count != 0, "the batch is empty");
    require(request->count < MAX_NODE_ITEMS, "a batch has fewer than 256 operations");
    require(request->flags == 0, "the flags must be 0");
    BatchParameters parameters{context_or_current(request->ctx),
                               {request->paramArray, request->paramArray + request->count},
                               request->flags};
    for (const CUstreamBatchMemOpParams& item : parameters.items) {
        check_word_operation(item, parameters.context->device().ordinal());
    }
    return parameters;
}

std::shared_ptr<Event> event_of_node(CUevent handle) {
    auto event = object_of(handle);
    if (event->shared() != nullptr) {
        fail(CUDA_ERROR_NOT_SUPPORTED, "events that processes share cannot be used in graphs of "
                                       "the emulated device");
    }
    return event;
}

SemaphoreSignals parameters_from(const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* request) {
    return batch_of<SemaphoreSignals>(request);
}

SemaphoreWaits parameters_from(const CUDA_EXT_SEM_WAIT_NODE_PARAMS* request) {
    return batch_of<SemaphoreWaits>(request);
}

CUDA_KERNEL_NODE_PARAMS request_of(GraphNode& node, const KernelParameters& kernel) {
    CUDA_KERNEL_NODE_PARAMS out{};
    out.gridDimX = kernel.grid[0];
    out.gridDimY = kernel.grid[1];
    out.gridDimZ = kernel.grid[2];
    out.blockDimX = kernel.block[0];
    out.blockDimY = kernel.block[1];
    out.blockDimZ = kernel.block[2];
    out.sharedMemBytes = kernel.shared_bytes;
    if (kernel.is_extra) {
        out.extra = node.extra_pointers();
    } else {
        out.kernelParams = node.argument_pointers();
    }
    if (kernel.kernel != nullptr) {
        out.kern = kernel.kernel;
    } else {
        out.func = kernel.function->handle<CUfunction>();
    }
    out.ctx = kernel.context->handle<CUcontext>();
    return out;
}

CUDA_MEMCPY3D request_of(GraphNode& /*node*/, const MemcpyParameters& copy) {
    return copy.request;
}

CUDA_MEMSET_NODE_PARAMS request_of(GraphNode& /*node*/, const MemsetParameters& set) {
    const Fill& fill = set.fill;
    return {fill.address,       fill.pitch_bytes, fill.value,
            fill.element_bytes, fill.width,       fill.height};
}

CUDA_HOST_NODE_PARAMS request_of(GraphNode& /*node*/, const HostParameters& host) {
    return {host.function, host.data};
}

CUDA_BATCH_MEM_OP_NODE_PARAMS request_of(GraphNode& /*node*/, BatchParameters& batch) {
    return {batch.context->handle<CUcontext>(), static_cast<unsigned>(batch.items.size()),
            batch.items.data(), batch.flags};
}

CUDA_MEM_ALLOC_NODE_PARAMS request_of(GraphNode& /*node*/, AllocParameters& memory) {
    CUDA_MEM_ALLOC_NODE_PARAMS out = memory.request;
    out.accessDescs = memory.access.empty() ? nullptr : memory.access.data();
    return out;
}

CUDA_EXT_SEM_SIGNAL_NODE_PARAMS request_of(GraphNode& /*node*/, SemaphoreSignals& batch) {
    return {batch.handles.data(), batch.items.data(), static_cast<unsigned>(batch.items.size())};
}

CUDA_EXT_SEM_WAIT_NODE_PARAMS request_of(GraphNode& /*node*/, SemaphoreWaits& batch) {
    return {batch.handles.data(), batch.items.data(), static_cast<unsigned>(batch.items.size())};
}

CUevent request_of(GraphNode& /*node*/, const RecordParameters& record) {
    return record.event->handle<CUevent>();
}

CUevent request_of(GraphNode& /*node*/, const WaitParameters& wait) {
    return wait.event->handle<CUevent>();
}

CUgraph request_of(GraphNode& /*node*/, const ChildParameters& child) {
    return child.graph->handle<CUgraph>();
}

CUdeviceptr request_of(GraphNode& /*node*/, const FreeParameters& memory) {
    return memory.address;
}

void set_parameters(GraphNode& node, NodeParameters parameters) {
    if (auto* kernel = std::get_if<KernelParameters>(&parameters)) {
        kernel->attributes = node.get<KernelParameters>().attributes;
    }
    node.set_parameters(std::move(parameters));
}

} // namespace cuprum::emulator
