// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Graphs that contain nothing. Nodes have different handles, and user objects are destroyed when
// their last reference goes, so that a benchmark on the null driver does not leak.

#include <cuda.h>

#include <cstdint>
#include <vector>

#define EXPORT extern "C" __attribute__((visibility("default"))) CUresult CUDAAPI

namespace {

struct NullObject {
    void* pointer;
    CUhostFn destroy;
    unsigned references;
};

struct NullGraph {
    std::vector<NullObject*> objects;
    std::uintptr_t nodes = 0;
};

NullGraph* graph_of(CUgraph graph) {
    return reinterpret_cast<NullGraph*>(graph);
}

NullObject* object_of(CUuserObject object) {
    return reinterpret_cast<NullObject*>(object);
}

void release(NullObject* object, unsigned count) {
    object->references -= count;
    if (object->references == 0) {
        object->destroy(object->pointer);
        delete object;
    }
}

} // namespace

EXPORT cuGraphCreate(CUgraph* graph, unsigned) {
    *graph = reinterpret_cast<CUgraph>(new NullGraph);
    return CUDA_SUCCESS;
}

EXPORT cuGraphDestroy(CUgraph graph) {
    for (NullObject* const object : graph_of(graph)->objects) {
        release(object, 1);
    }
    delete graph_of(graph);
    return CUDA_SUCCESS;
}

EXPORT cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode*, size_t,
                               const CUDA_KERNEL_NODE_PARAMS*) {
    *node = reinterpret_cast<CUgraphNode>(++graph_of(graph)->nodes * 64);
    return CUDA_SUCCESS;
}

EXPORT cuUserObjectCreate(CUuserObject* object, void* pointer, CUhostFn destroy,
                          unsigned references, unsigned) {
    *object = reinterpret_cast<CUuserObject>(new NullObject{pointer, destroy, references});
    return CUDA_SUCCESS;
}

EXPORT cuUserObjectRelease(CUuserObject object, unsigned count) {
    release(object_of(object), count);
    return CUDA_SUCCESS;
}

EXPORT cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned, unsigned) {
    graph_of(graph)->objects.push_back(object_of(object)); // always moved
    return CUDA_SUCCESS;
}

EXPORT cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned count) {
    std::erase(graph_of(graph)->objects, object_of(object));
    release(object_of(object), count);
    return CUDA_SUCCESS;
}

EXPORT cuGraphInstantiateWithParams(CUgraphExec* executable, CUgraph,
                                    CUDA_GRAPH_INSTANTIATE_PARAMS* options) {
    *executable = reinterpret_cast<CUgraphExec>(64);
    options->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
    return CUDA_SUCCESS;
}

EXPORT cuGraphExecDestroy(CUgraphExec) {
    return CUDA_SUCCESS;
}

EXPORT cuGraphExecKernelNodeSetParams_v2(CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS*) {
    return CUDA_SUCCESS;
}

EXPORT cuGraphExecUpdate_v2(CUgraphExec, CUgraph, CUgraphExecUpdateResultInfo*) {
    return CUDA_SUCCESS;
}

EXPORT cuGraphLaunch(CUgraphExec, CUstream) {
    return CUDA_SUCCESS;
}

EXPORT cuStreamBeginCapture_v2(CUstream, CUstreamCaptureMode) {
    return CUDA_SUCCESS;
}

EXPORT cuStreamGetCaptureInfo(CUstream, CUstreamCaptureStatus* status, cuuint64_t* number, CUgraph*,
                              const CUgraphNode**, const CUgraphEdgeData**, size_t*) {
    *status = CU_STREAM_CAPTURE_STATUS_ACTIVE; // only builders that capture ask
    *number = 1;
    return CUDA_SUCCESS;
}

EXPORT cuStreamEndCapture(CUstream, CUgraph* graph) {
    return cuGraphCreate(graph, 0);
}
