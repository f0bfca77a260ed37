// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Stream capture, and as much of graphs as it needs: graphs are made and destroyed, not yet run.

#include "api/entry.hpp"
#include "api/handles.hpp"
#include "objects/graphs/capture.hpp"
#include "objects/process/error.hpp"
#include "objects/process/thread_state.hpp"

#include <utility>

using namespace cuprum::emulator;

namespace {

std::shared_ptr<Graph> graph_from(CUgraph handle) {
    auto object =
        HandleTable::instance().find(HandleKind::Graph, reinterpret_cast<std::uint64_t>(handle));
    require(object != nullptr, "not a graph, or it has been destroyed");
    return std::static_pointer_cast<Graph>(std::move(object));
}

GraphNode* node_from(CUgraphNode handle) {
    const auto object = HandleTable::instance().find(HandleKind::GraphNode,
                                                     reinterpret_cast<std::uint64_t>(handle));
    require(object != nullptr, "not a node of a graph, or it has been destroyed");
    return &static_cast<GraphNode&>(*object); // its graph keeps it
}

Capture::Nodes nodes_from(const CUgraphNode* handles, std::size_t count) {
    require(handles != nullptr || count == 0, "the dependencies are NULL");
    Capture::Nodes nodes;
    for (std::size_t index = 0; index < count; ++index) {
        nodes.push_back(node_from(handles[index]));
    }
    return nodes;
}

/// Refuses annotations of edges, which our graphs do not have.
void check_edges(const CUgraphEdgeData* edges, std::size_t count) {
    for (std::size_t index = 0; edges != nullptr && index < count; ++index) {
        if (edges[index].from_port != 0 || edges[index].to_port != 0 || edges[index].type != 0) {
            fail(CUDA_ERROR_NOT_SUPPORTED, "edges between nodes that are not plain dependencies "
                                           "are not supported by the emulated device");
        }
    }
}

void check_mode(CUstreamCaptureMode mode) {
    require(mode >= CU_STREAM_CAPTURE_MODE_GLOBAL && mode <= CU_STREAM_CAPTURE_MODE_RELAXED,
            "unknown capture mode");
}

std::shared_ptr<Stream> stream_to_capture(CUstream handle) {
    auto stream = stream_from(handle);
    if (stream->kind() == Stream::Kind::Legacy) {
        fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the legacy default stream cannot be captured");
    }
    return stream;
}

} // namespace

extern "C" {

CUresult CUDAAPI cuStreamBeginCapture_v2(CUstream hStream, CUstreamCaptureMode mode) {
    return entry("cuStreamBeginCapture", [&] {
        check_mode(mode);
        Capture::begin(stream_to_capture(hStream), mode, nullptr, {});
    });
}

CUresult CUDAAPI cuStreamBeginCapture(CUstream hStream) {
    return cuStreamBeginCapture_v2(hStream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

CUresult CUDAAPI cuStreamBeginCaptureToGraph(CUstream hStream, CUgraph hGraph,
                                             const CUgraphNode* dependencies,
                                             const CUgraphEdgeData* dependencyData,
                                             size_t numDependencies, CUstreamCaptureMode mode) {
    return entry("cuStreamBeginCaptureToGraph", [&] {
        check_mode(mode);
        check_edges(dependencyData, numDependencies);
        auto graph = graph_from(hGraph);
        auto nodes = nodes_from(dependencies, numDependencies);
        for (const GraphNode* node : nodes) {
            require(&node->graph() == graph.get(), "a node is of another graph");
        }
        Capture::begin(stream_to_capture(hStream), mode, std::move(graph), std::move(nodes));
    });
}

CUresult CUDAAPI cuStreamEndCapture(CUstream hStream, CUgraph* phGraph) {
    return entry("cuStreamEndCapture", [&] {
        require(phGraph != nullptr, "phGraph must not be NULL");
        *phGraph = nullptr;
        *phGraph = Capture::end(*stream_from(hStream))->handle<CUgraph>();
    });
}

CUresult CUDAAPI cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus* captureStatus) {
    return entry("cuStreamIsCapturing", [&] {
        const auto stream = stream_from(hStream);
        if (stream->kind() == Stream::Kind::Legacy) {
            Capture::refuse_implicit(stream->context(), stream->green().get(), false);
        }
        put(captureStatus, Capture::info(*stream).status);
    });
}

CUresult CUDAAPI cuStreamGetCaptureInfo_v3(CUstream hStream,
                                           CUstreamCaptureStatus* captureStatus_out,
                                           cuuint64_t* id_out, CUgraph* graph_out,
                                           const CUgraphNode** dependencies_out,
                                           const CUgraphEdgeData** edgeData_out,
                                           size_t* numDependencies_out) {
    return entry("cuStreamGetCaptureInfo", [&] {
        require(edgeData_out == nullptr || dependencies_out != nullptr,
                "edgeData_out needs dependencies_out");
        const auto stream = stream_from(hStream);
        if (stream->kind() == Stream::Kind::Legacy) {
            Capture::refuse_implicit(stream->context(), stream->green().get(), false);
        }
        const Capture::Info info = Capture::info(*stream);
        put(captureStatus_out, info.status);
        if (info.status != CU_STREAM_CAPTURE_STATUS_ACTIVE) {
            return;
        }
        if (id_out != nullptr) {
            *id_out = info.id;
        }
        if (graph_out != nullptr) {
            *graph_out = info.graph;
        }
        if (dependencies_out != nullptr) {
            *dependencies_out = info.dependencies->data();
        }
        if (edgeData_out != nullptr) {
            *edgeData_out = nullptr; // all are plain dependencies
        }
        if (numDependencies_out != nullptr) {
            *numDependencies_out = info.dependencies->size();
        }
    });
}

CUresult CUDAAPI cuStreamGetCaptureInfo_v2(CUstream hStream,
                                           CUstreamCaptureStatus* captureStatus_out,
                                           cuuint64_t* id_out, CUgraph* graph_out,
                                           const CUgraphNode** dependencies_out,
                                           size_t* numDependencies_out) {
    return cuStreamGetCaptureInfo_v3(hStream, captureStatus_out, id_out, graph_out,
                                     dependencies_out, nullptr, numDependencies_out);
}

CUresult CUDAAPI cuStreamGetCaptureInfo(CUstream hStream, CUstreamCaptureStatus* captureStatus_out,
                                        cuuint64_t* id_out) {
    return cuStreamGetCaptureInfo_v3(hStream, captureStatus_out, id_out, nullptr, nullptr, nullptr,
                                     nullptr);
}

CUresult CUDAAPI cuStreamUpdateCaptureDependencies_v2(CUstream hStream, CUgraphNode* dependencies,
                                                      const CUgraphEdgeData* dependencyData,
                                                      size_t numDependencies, unsigned int flags) {
    return entry("cuStreamUpdateCaptureDependencies", [&] {
        require(flags == CU_STREAM_ADD_CAPTURE_DEPENDENCIES ||
                    flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES,
                "unknown flags");
        check_edges(dependencyData, numDependencies);
        Capture::update_dependencies(*stream_from(hStream),
                                     nodes_from(dependencies, numDependencies),
                                     flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES);
    });
}

CUresult CUDAAPI cuStreamUpdateCaptureDependencies(CUstream hStream, CUgraphNode* dependencies,
                                                   size_t numDependencies, unsigned int flags) {
    return cuStreamUpdateCaptureDependencies_v2(hStream, dependencies, nullptr, numDependencies,
                                                flags);
}

CUresult CUDAAPI cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
    return entry("cuThreadExchangeStreamCaptureMode", [&] {
        require(mode != nullptr, "mode must not be NULL");
        check_mode(*mode);
        std::swap(*mode, thread_state().capture_mode);
    });
}

// ---- graphs ------------------------------------------------------------------------------------

CUresult CUDAAPI cuGraphCreate(CUgraph* phGraph, unsigned int flags) {
    return entry("cuGraphCreate", [&] {
        require(phGraph != nullptr, "phGraph must not be NULL");
        require(flags == 0, "the flags must be 0");
        *phGraph = Graph::create()->handle<CUgraph>();
    });
}

CUresult CUDAAPI cuGraphDestroy(CUgraph hGraph) {
    return entry("cuGraphDestroy", [&] { graph_from(hGraph)->destroy(); });
}

CUresult CUDAAPI cuGraphGetNodes(CUgraph hGraph, CUgraphNode* nodes, size_t* numNodes) {
    return entry("cuGraphGetNodes", [&] {
        require(numNodes != nullptr, "numNodes must not be NULL");
        const auto all = graph_from(hGraph)->nodes();
        for (std::size_t index = 0; nodes != nullptr && index < *numNodes; ++index) {
            nodes[index] = index < all.size() ? all[index]->handle<CUgraphNode>() : nullptr;
        }
        *numNodes = nodes == nullptr ? all.size() : std::min(*numNodes, all.size());
    });
}

CUresult CUDAAPI cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType* type) {
    return entry("cuGraphNodeGetType", [&] { put(type, node_from(hNode)->type()); });
}

} // extern "C"
