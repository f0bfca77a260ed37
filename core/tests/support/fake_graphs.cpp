// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Graphs and stream captures of the fake driver. Nodes have a kind and what is below them, but no
// edges and no parameters. Every call costs about the same, however many nodes there are.

#include "support/fake_functions.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace cuprum::testing {

namespace {

FakeDriver& fake() {
    return *active_fake();
}

CUgraph make_graph() {
    const auto graph = fake().next_handle<CUgraph>();
    fake().graphs[graph];
    return graph;
}

CUresult add(CUgraphNode* node, CUgraph graph, CUgraphNodeType type, CUgraph child = nullptr) {
    const auto place = fake().graphs.find(graph);
    if (place == fake().graphs.end()) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *node = fake().next_handle<CUgraphNode>();
    place->second.nodes.insert(*node);
    fake().graph_nodes[*node] = {.graph = graph, .type = type, .child = child};
    return CUDA_SUCCESS;
}

void release(CUuserObject object) {
    const auto place = fake().user_objects.find(object);
    if (--place->second.shares == 0) {
        const FakeDriver::UserObject gone = place->second;
        fake().user_objects.erase(place);
        gone.destroy(gone.data);
    }
}

void destroy_graph(CUgraph graph);

void destroy_node(CUgraphNode node) {
    const FakeDriver::GraphNode gone = fake().graph_nodes.at(node);
    fake().graph_nodes.erase(node);
    fake().graphs.at(gone.graph).nodes.erase(node);
    if (gone.child != nullptr) {
        destroy_graph(gone.child);
    }
}

void destroy_graph(CUgraph graph) {
    while (!fake().graphs.at(graph).nodes.empty()) {
        destroy_node(*fake().graphs.at(graph).nodes.begin());
    }
    for (const CUuserObject object : fake().graphs.at(graph).objects) {
        release(object);
    }
    fake().graphs.erase(graph);
}

CUgraph clone(CUgraph original) {
    const CUgraph copy = make_graph();
    const FakeDriver::Graph source = fake().graphs.at(original);
    for (const CUgraphNode node : source.nodes) {
        const FakeDriver::GraphNode known = fake().graph_nodes.at(node);
        CUgraphNode twin = nullptr;
        add(&twin, copy, known.type, known.child != nullptr ? clone(known.child) : nullptr);
        fake().graphs.at(copy).twins[node] = twin;
    }
    for (const CUuserObject object : source.objects) {
        ++fake().user_objects.at(object).shares;
        fake().graphs.at(copy).objects.insert(object);
    }
    return copy;
}

void add_definitions(driver::Table& table) {
    table.cuGraphCreate = [](CUgraph* graph, unsigned) {
        *graph = make_graph();
        return CUDA_SUCCESS;
    };
    table.cuGraphDestroy = [](CUgraph graph) {
        destroy_graph(graph);
        return CUDA_SUCCESS;
    };
    table.cuGraphClone = [](CUgraph* copy, CUgraph original) {
        *copy = clone(original);
        return CUDA_SUCCESS;
    };
    table.cuGraphNodeFindInClone = [](CUgraphNode* twin, CUgraphNode original, CUgraph copy) {
        const auto& twins = fake().graphs.at(copy).twins;
        const auto place = twins.find(original);
        *twin = place != twins.end() ? place->second : nullptr;
        return place != twins.end() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    };
    table.cuGraphGetNodes = [](CUgraph graph, CUgraphNode* nodes, std::size_t* count) {
        const auto& all = fake().graphs.at(graph).nodes;
        if (nodes != nullptr) {
            std::copy(all.begin(), all.end(), nodes);
        }
        *count = all.size();
        return CUDA_SUCCESS;
    };
    table.cuGraphNodeGetType = [](CUgraphNode node, CUgraphNodeType* type) {
        *type = fake().graph_nodes.at(node).type;
        return CUDA_SUCCESS;
    };
    table.cuGraphChildGraphNodeGetGraph = [](CUgraphNode node, CUgraph* child) {
        *child = fake().graph_nodes.at(node).child;
        return CUDA_SUCCESS;
    };
    table.cuGraphDestroyNode = [](CUgraphNode node) {
        destroy_node(node);
        return CUDA_SUCCESS;
    };
    table.cuGraphConditionalHandleCreate = [](CUgraphConditionalHandle* handle, CUgraph, CUcontext,
                                              unsigned, unsigned) {
        *handle = reinterpret_cast<std::uintptr_t>(fake().next_handle<void*>());
        return CUDA_SUCCESS;
    };
    table.cuUserObjectCreate = [](CUuserObject* object, void* data, CUhostFn destroy,
                                  unsigned shares, unsigned) {
        *object = fake().next_handle<CUuserObject>();
        fake().user_objects[*object] = {destroy, data, shares};
        return CUDA_SUCCESS;
    };
    table.cuUserObjectRelease = [](CUuserObject object, unsigned) {
        release(object);
        return CUDA_SUCCESS;
    };
    table.cuGraphRetainUserObject = [](CUgraph graph, CUuserObject object, unsigned, unsigned) {
        fake().graphs.at(graph).objects.insert(object);
        return CUDA_SUCCESS;
    };
    table.cuGraphReleaseUserObject = [](CUgraph graph, CUuserObject object, unsigned) {
        fake().graphs.at(graph).objects.erase(object);
        release(object);
        return CUDA_SUCCESS;
    };
}

void add_nodes(driver::Table& table) {
    table.cuGraphAddEmptyNode = [](CUgraphNode* node, CUgraph graph, const CUgraphNode*,
                                   std::size_t) {
        return add(node, graph, CU_GRAPH_NODE_TYPE_EMPTY);
    };
    table.cuGraphAddKernelNode = [](CUgraphNode* node, CUgraph graph, const CUgraphNode*,
                                    std::size_t, const CUDA_KERNEL_NODE_PARAMS*) {
        return add(node, graph, CU_GRAPH_NODE_TYPE_KERNEL);
    };
    table.cuGraphKernelNodeSetAttribute = [](CUgraphNode, CUkernelNodeAttrID,
                                             const CUkernelNodeAttrValue*) { return CUDA_SUCCESS; };
    table.cuGraphAddMemsetNode = [](CUgraphNode* node, CUgraph graph, const CUgraphNode*,
                                    std::size_t, const CUDA_MEMSET_NODE_PARAMS*, CUcontext) {
        return add(node, graph, CU_GRAPH_NODE_TYPE_MEMSET);
    };
    table.cuGraphAddMemcpyNode = [](CUgraphNode* node, CUgraph graph, const CUgraphNode*,
                                    std::size_t, const CUDA_MEMCPY3D*, CUcontext) {
        return add(node, graph, CU_GRAPH_NODE_TYPE_MEMCPY);
    };
    table.cuGraphAddHostNode = [](CUgraphNode* node, CUgraph graph, const CUgraphNode*, std::size_t,
                                  const CUDA_HOST_NODE_PARAMS*) {
        return add(node, graph, CU_GRAPH_NODE_TYPE_HOST);
    };
    table.cuGraphAddMemAllocNode = [](CUgraphNode* node, CUgraph graph, const CUgraphNode*,
                                      std::size_t, CUDA_MEM_ALLOC_NODE_PARAMS* parameters) {
        parameters->dptr = reinterpret_cast<std::uintptr_t>(fake().next_handle<void*>()) << 20U;
        const CUresult status = add(node, graph, CU_GRAPH_NODE_TYPE_MEM_ALLOC);
        if (status == CUDA_SUCCESS) {
            fake().graph_nodes.at(*node).memory = *parameters;
        }
        return status;
    };
    table.cuGraphMemAllocNodeGetParams = [](CUgraphNode node,
                                            CUDA_MEM_ALLOC_NODE_PARAMS* parameters) {
        *parameters = fake().graph_nodes.at(node).memory;
        return CUDA_SUCCESS;
    };
    table.cuGraphAddMemFreeNode = [](CUgraphNode* node, CUgraph graph, const CUgraphNode*,
                                     std::size_t, CUdeviceptr) {
        return add(node, graph, CU_GRAPH_NODE_TYPE_MEM_FREE);
    };
    table.cuGraphAddChildGraphNode = [](CUgraphNode* node, CUgraph graph, const CUgraphNode*,
                                        std::size_t, CUgraph child) {
        return add(node, graph, CU_GRAPH_NODE_TYPE_GRAPH, clone(child));
    };
}

void add_executables(driver::Table& table) {
    table.cuGraphInstantiateWithParams = [](CUgraphExec* executable, CUgraph,
                                            CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) {
        *executable = fake().next_handle<CUgraphExec>();
        fake().executables.insert(*executable);
        parameters->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
        return CUDA_SUCCESS;
    };
    table.cuGraphExecDestroy = [](CUgraphExec executable) {
        return fake().executables.erase(executable) == 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    };
    table.cuGraphExecUpdate = [](CUgraphExec, CUgraph, CUgraphExecUpdateResultInfo* info) {
        info->result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
        return CUDA_SUCCESS;
    };
    table.cuGraphExecMemsetNodeSetParams = [](CUgraphExec, CUgraphNode,
                                              const CUDA_MEMSET_NODE_PARAMS*,
                                              CUcontext) { return CUDA_SUCCESS; };
    table.cuGraphLaunch = [](CUgraphExec, CUstream stream) { return check_stream(stream); };
    table.cuGraphUpload = [](CUgraphExec, CUstream stream) { return check_stream(stream); };
}

void add_captures(driver::Table& table) {
    table.cuStreamBeginCapture = [](CUstream stream, CUstreamCaptureMode) {
        FakeDriver::Stream& captured = fake().streams.at(stream);
        if (captured.is_capturing) {
            return CUDA_ERROR_ILLEGAL_STATE;
        }
        captured.is_capturing = true;
        captured.capture = ++fake().last_capture;
        fake().captures[captured.capture] = {make_graph(), {stream}};
        return CUDA_SUCCESS;
    };
    table.cuStreamEndCapture = [](CUstream stream, CUgraph* graph) {
        const auto place = fake().captures.find(fake().streams.at(stream).capture);
        if (place == fake().captures.end()) {
            return CUDA_ERROR_ILLEGAL_STATE;
        }
        *graph = place->second.graph;
        for (const CUstream each : place->second.streams) {
            if (const auto known = fake().streams.find(each); known != fake().streams.end()) {
                known->second.is_capturing = false;
                known->second.capture = 0;
            }
        }
        fake().captures.erase(place);
        return CUDA_SUCCESS;
    };
    table.cuStreamGetCaptureInfo = [](CUstream stream, CUstreamCaptureStatus* status,
                                      cuuint64_t* number, CUgraph* graph, const CUgraphNode** nodes,
                                      const CUgraphEdgeData**, std::size_t* count) {
        const auto known = fake().streams.find(stream);
        const bool is_capturing = known != fake().streams.end() && known->second.capture != 0;
        *status = is_capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
        if (is_capturing && number != nullptr) {
            *number = known->second.capture;
        }
        if (is_capturing && graph != nullptr) {
            *graph = fake().captures.at(known->second.capture).graph;
        }
        if (count != nullptr) {
            *nodes = nullptr;
            *count = 0;
        }
        return check_stream(stream);
    };
}

} // namespace

void join_capture(CUstream stream, cuuint64_t capture) {
    const auto place = fake().captures.find(capture);
    if (place != fake().captures.end()) {
        fake().streams.at(stream).is_capturing = true;
        fake().streams.at(stream).capture = capture;
        place->second.streams.push_back(stream);
    }
}

void add_graphs(driver::Table& table) {
    add_definitions(table);
    add_nodes(table);
    add_executables(table);
    add_captures(table);
}

} // namespace cuprum::testing
