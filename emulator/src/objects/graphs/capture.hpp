// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Stream capture: work given to a stream becomes nodes of a graph instead of running.
//
// A capture begins on one stream, its origin, and spreads to streams that wait for an event
// recorded inside it. For each of its streams it knows the nodes that the next one will depend on.
// Whoever breaks its rules invalidates it; what breaks which rule was observed on an H200 where
// cuda.h does not say.

#pragma once

#include "objects/graphs/graph.hpp"

#include <cuda.h>

#include <cstdint>
#include <map>
#include <memory>
#include <thread>
#include <vector>

namespace cuprum::emulator {

class Context;
class Event;
class GreenContext;
class Stream;

/// One capture, from its beginning to its end.
///
/// All captures share one lock, which every static function takes.
class Capture {
public:
    /// A node that the next one depends on. Keeps the node, which the program may remove.
    struct Dependency {
        std::shared_ptr<GraphNode> node;
        CUgraphEdgeData data{};
    };

    using Dependencies = std::vector<Dependency>;

    /// What an event recorded inside a capture stands for.
    struct Point {
        std::shared_ptr<Capture> capture;
        Dependencies nodes;
    };

    /// What a program can ask about a stream.
    struct Info {
        CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
        std::uint64_t id = 0;
        CUgraph graph = nullptr;
        // Valid until the stream's next call.
        const std::vector<CUgraphNode>* dependencies = nullptr;
        const std::vector<CUgraphEdgeData>* edges = nullptr;
    };

    /// Begins a capture on a stream, into `graph` behind `dependencies` or into a new graph.
    ///
    /// @throws DriverError ILLEGAL_STATE if the stream is capturing already.
    static void begin(const std::shared_ptr<Stream>& origin, CUstreamCaptureMode mode,
                      std::shared_ptr<Graph> graph, Dependencies dependencies);

    /// Ends the capture that began on a stream and returns its graph. If the program does not want
    /// it, a graph that the capture created is destroyed. If the capture fails, its graph is
    /// destroyed even if the program created it.
    ///
    /// @throws DriverError as cuStreamEndCapture does.
    static std::shared_ptr<Graph> end(Stream& stream, bool is_wanted = true);

    /// Takes work of a stream, if it is capturing; false if the work is to be done. `may_overlap`
    /// says that a kernel may start while the one before it still runs.
    ///
    /// @throws DriverError STREAM_CAPTURE_INVALIDATED.
    static bool take(Stream& stream, NodeParameters parameters, bool may_overlap = false);

    /// Takes an allocation, if the stream is capturing; 0 if the work is to be done.
    [[nodiscard]] static CUdeviceptr take_allocation(Stream& stream,
                                                     const CUDA_MEM_ALLOC_NODE_PARAMS& request);

    /// Takes the freeing of memory, if the stream is capturing.
    static bool take_free(Stream& stream, CUdeviceptr address);

    /// Refuses work for which there is no type of node.
    ///
    /// @throws DriverError STREAM_CAPTURE_UNSUPPORTED, having invalidated the capture.
    static void refuse_operation(Stream& stream);

    /// Takes the recording of an event: `event` then stands for a point in the capture.
    static bool take_record(Stream& stream, Event& event, bool is_external);

    /// Takes a wait for an event that is, or is not, a point in a capture.
    ///
    /// @throws DriverError STREAM_CAPTURE_MERGE, STREAM_CAPTURE_ISOLATION.
    static bool take_wait(Stream& stream, const Event& event, bool is_external);

    /// Lets an event stand for no point any more.
    static void leave_point(Event& event);

    [[nodiscard]] static Info info(Stream& stream);

    /// Replaces or extends what the next node of a stream depends on.
    static void update_dependencies(Stream& stream, const Dependencies& nodes, bool replaces);

    /// Refuses what cannot be captured, and invalidates the stream's capture, unless it is invalid.
    ///
    /// @throws DriverError STREAM_CAPTURE_UNSUPPORTED if the stream is capturing.
    static void refuse_on(Stream& stream, const char* what);

    /// Refuses work that is not given to a stream and therefore would be lost on replay, as far as
    /// the mode of the calling thread and of the captures asks for it.
    ///
    /// @throws DriverError STREAM_CAPTURE_UNSUPPORTED, having invalidated the captures.
    static void refuse_unsafe_call();

    /// Refuses waiting for, or acting on, all streams of a context.
    ///
    /// @throws DriverError STREAM_CAPTURE_UNSUPPORTED, having invalidated the captures.
    static void refuse_in(const Context& context, const GreenContext* green);

    /// Refuses use of a legacy default stream, since it waits for streams that are capturing.
    ///
    /// @throws DriverError STREAM_CAPTURE_IMPLICIT; `invalidates` says whether they pay for it.
    static void refuse_implicit(const Context& context, const GreenContext* green,
                                bool invalidates);

    /// Refuses asking about an event that stands for a point in a capture.
    ///
    /// @throws DriverError CAPTURED_EVENT, having invalidated the capture, or INVALID_VALUE once it
    /// is over or invalid.
    static void refuse_captured(const Event& event);

    /// Ends captures that have a stream of a context which is going away, or of its part `green`,
    /// and destroys their graphs.
    static void abandon(const Context& context, const GreenContext* green) noexcept;

    /// Ends the capture that began on a stream which is going away, and destroys its graph.
    static void abandon(const Stream& origin) noexcept;

    /// Tells, cheaply, whether there is any capture in the process.
    [[nodiscard]] static bool is_any() noexcept;

private:
    struct Branch {
        Dependencies next; // what the next node depends on
        std::vector<CUgraphNode> handles;
        std::vector<CUgraphEdgeData> edges;
    };

    Capture() = default;

    static void check_active(Capture& capture);

    void invalidate() noexcept { is_valid_ = false; }

    void leave_streams() noexcept;
    void drop() noexcept;
    GraphNode& add(Stream& stream, NodeParameters parameters, bool may_overlap = false);
    [[nodiscard]] bool is_joined() const;

    std::uint64_t id_ = 0;
    CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_GLOBAL;
    std::thread::id thread_;
    Stream* origin_ = nullptr;
    bool is_valid_ = true;
    bool is_over_ = false;
    bool owns_graph_ = true;
    std::shared_ptr<Graph> graph_;
    std::map<std::shared_ptr<Stream>, Branch> branches_;
};

} // namespace cuprum::emulator
