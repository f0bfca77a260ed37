// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Stream capture.

#include "api/graph_handles.hpp"
#include "objects/graphs/capture.hpp"
#include "objects/process/error.hpp"
#include "objects/process/thread_state.hpp"

#include <algorithm>
#include <utility>

using namespace cuprum::emulator;

namespace {

Capture::Dependencies dependencies_from(const CUgraphNode* handles, const CUgraphEdgeData* data,
                                        std::size_t count) {
    Capture::Dependencies dependencies;
    for (const GraphEdge& edge : edges_from(handles, data, count)) {
        dependencies.push_back({edge.node->shared_from_this(), edge.data});
    }
    return dependencies;
}

void check_mode(CUstreamCaptureMode mode) {
    require(mode >= CU_STREAM_CAPTURE_MODE_GLOBAL && mode <= CU_STREAM_CAPTURE_MODE_RELAXED,
            "unknown capture mode");
}

std::shared_ptr<Stream> stream_to_capture(CUstream handle) {
    auto stream = object_of(handle);
    if (stream->kind() == Stream::Kind::Legacy) {
        fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the legacy default stream cannot be captured");
    }
    return stream;
}

} // namespace

ROW_PTSZ(cuStreamBeginCapture_v2, 10010, CUstream hStream, CUstreamCaptureMode mode) {
    check_mode(mode);
    Capture::begin(stream_to_capture(hStream), mode, nullptr, {});
}

FORWARD_PTSZ(cuStreamBeginCapture, 10000, CUstream hStream) {
    return cuStreamBeginCapture_v2(hStream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

ROW_PTSZ(cuStreamBeginCaptureToGraph, 12030, CUstream hStream, CUgraph hGraph,
         const CUgraphNode* dependencies, const CUgraphEdgeData* dependencyData,
         size_t numDependencies, CUstreamCaptureMode mode) {
    check_mode(mode);
    auto stream = stream_to_capture(hStream);
    std::shared_ptr<Graph> graph;
    Capture::Dependencies nodes;
    {
        const GraphLock lock;
        graph = object_of(hGraph);
        nodes = dependencies_from(dependencies, dependencyData, numDependencies);
        for (const auto& [node, data] : nodes) {
            require(&node->graph() == graph.get(), "a node is of another graph");
        }
    }
    Capture::begin(stream, mode, std::move(graph), std::move(nodes));
}

ROW_PTSZ(cuStreamEndCapture, 10000, CUstream hStream, CUgraph* phGraph) {
    // Without phGraph a driver ends the capture too, and keeps no new graph.
    if (phGraph == nullptr) {
        Capture::end(*object_of(hStream), false);
        return;
    }
    *phGraph = nullptr;
    *phGraph = Capture::end(*object_of(hStream))->handle<CUgraph>();
}

ROW_PTSZ(cuStreamIsCapturing, 10000, Stream& stream, CUstreamCaptureStatus* captureStatus) {
    if (stream.kind() == Stream::Kind::Legacy) {
        Capture::refuse_implicit(stream.context(), stream.green().get(), false);
    }
    put(captureStatus, Capture::info(stream).status);
}

ROW_PTSZ(cuStreamGetCaptureInfo_v3, 12030, CUstream hStream,
         CUstreamCaptureStatus* captureStatus_out, cuuint64_t* id_out, CUgraph* graph_out,
         const CUgraphNode** dependencies_out, const CUgraphEdgeData** edgeData_out,
         size_t* numDependencies_out) {
    require(edgeData_out == nullptr || dependencies_out != nullptr,
            "edgeData_out needs dependencies_out");
    const auto stream = object_of(hStream);
    if (stream->kind() == Stream::Kind::Legacy) {
        Capture::refuse_implicit(stream->context(), stream->green().get(), false);
    }
    const Capture::Info info = Capture::info(*stream);
    put(captureStatus_out, info.status);
    if (info.status != CU_STREAM_CAPTURE_STATUS_ACTIVE) {
        return;
    }
    put_optional(id_out, info.id);
    put_optional(graph_out, info.graph);
    put_optional(dependencies_out, info.dependencies->data());
    if (edgeData_out != nullptr) {
        *edgeData_out = info.edges->data();
    } else if (dependencies_out != nullptr && !std::ranges::all_of(*info.edges, is_plain)) {
        fail(CUDA_ERROR_LOSSY_QUERY, "an edge has data: pass an array for it");
    }
    put_optional(numDependencies_out, info.dependencies->size());
}

FORWARD_PTSZ(cuStreamGetCaptureInfo_v2, 11030, CUstream hStream,
             CUstreamCaptureStatus* captureStatus_out, cuuint64_t* id_out, CUgraph* graph_out,
             const CUgraphNode** dependencies_out, size_t* numDependencies_out) {
    return cuStreamGetCaptureInfo_v3(hStream, captureStatus_out, id_out, graph_out,
                                     dependencies_out, nullptr, numDependencies_out);
}

FORWARD_PTSZ(cuStreamGetCaptureInfo, 10010, CUstream hStream,
             CUstreamCaptureStatus* captureStatus_out, cuuint64_t* id_out) {
    return cuStreamGetCaptureInfo_v3(hStream, captureStatus_out, id_out, nullptr, nullptr, nullptr,
                                     nullptr);
}

ROW_PTSZ(cuStreamUpdateCaptureDependencies_v2, 12030, CUstream hStream, CUgraphNode* dependencies,
         const CUgraphEdgeData* dependencyData, size_t numDependencies, unsigned int flags) {
    require(flags == CU_STREAM_ADD_CAPTURE_DEPENDENCIES ||
                flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES,
            "unknown flags");
    Capture::Dependencies nodes;
    {
        const GraphLock lock;
        nodes = dependencies_from(dependencies, dependencyData, numDependencies);
    }
    Capture::update_dependencies(*object_of(hStream), nodes,
                                 flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES);
}

FORWARD_PTSZ(cuStreamUpdateCaptureDependencies, 11030, CUstream hStream, CUgraphNode* dependencies,
             size_t numDependencies, unsigned int flags) {
    return cuStreamUpdateCaptureDependencies_v2(hStream, dependencies, nullptr, numDependencies,
                                                flags);
}

ROW(cuThreadExchangeStreamCaptureMode, 10010, CUstreamCaptureMode& mode) {
    check_mode(mode);
    std::swap(mode, thread_state().capture_mode);
}
