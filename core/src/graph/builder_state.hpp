// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The states behind GraphBuilder.
//
// A capture belongs to the builder that began it and to all builders that were split off. They
// share one Capture, which knows the forks that still have to be joined. The builder that began it
// ends it. When it ends, however that happens, the Capture is over for all of them.
//
// The driver creates the graph of a primary builder when the capture begins and hands it over when
// the capture ends. If somebody needs it in between, for a conditional node or a callback, the
// Capture makes a GraphState that does not own the graph yet. A capture that fails takes the graph
// with it, and all objects that refer to it learn that it is gone.

#pragma once

#include "graph/graph_state.hpp"
#include "stream/active_captures.hpp"

#include <cuprum/graph/graph_builder.hpp>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace cuprum::detail {

/// One stream capture.
struct Capture final : CaptureRecord {
    /// A builder that was split off and not joined yet.
    struct Fork {
        Stream stream; // kept: the driver needs it to join
        bool is_dropped = false;
    };

    using CaptureRecord::CaptureRecord;

    void capture_callback(const Stream& queue, std::function<void()> function) override;

    CaptureMode mode = CaptureMode::Relaxed;
    std::optional<Stream> stream;        // that it began on
    std::thread::id thread;              // that began it
    std::uint64_t faults_before = 0;     // see driver::capture_fault_count()
    std::atomic<bool> is_over = false;   // the driver captures no more
    std::mutex mutex;                    // guards what follows
    std::map<std::uint64_t, Fork> forks; // that are not joined, by builder
    GraphShare graph;                    // see above; a body's graph is there from the start
};

/// A graph builder. Destroying it ends its capture.
struct BuilderState {
    std::uint64_t id = 0;
    GraphBuilderKind kind = GraphBuilderKind::Primary;
    std::atomic<GraphBuilderPhase> phase = GraphBuilderPhase::NotStarted;
    std::uint64_t origin = 0; // the builder that a fork or a body came from
    Stream stream;
    std::shared_ptr<Capture> capture; // while it builds
    GraphShare graph;                 // of a body, and of a builder that has ended

    explicit BuilderState(Stream captured) noexcept : stream(std::move(captured)) {}

    ~BuilderState();
    BuilderState(const BuilderState&) = delete;
    BuilderState& operator=(const BuilderState&) = delete;
};

/// What the driver says about a capture. The nodes are valid until the next call on the stream.
struct CaptureInfo {
    std::uint64_t number = 0; // of the capture; no other one of this process has it
    CUgraph graph = nullptr;
    std::span<const CUgraphNode> nodes; // that the next work depends on
};

/// Notes that a builder which was split off cannot be joined any more.
void drop_fork(Capture& capture, std::uint64_t builder) noexcept;

/// Returns what messages call a builder: "GraphBuilder 3".
[[nodiscard]] std::string name_of(const BuilderState& builder);

/// Returns how far a builder is. A fork ends with its capture.
[[nodiscard]] GraphBuilderPhase phase_of(const BuilderState& builder) noexcept;

/// Returns the state of a builder that is not closed.
/// @throws ClosedError, naming the builder.
[[nodiscard]] BuilderState& unclosed(const GraphBuilder& builder);

/// Returns the state of a builder that builds. Does not ask the driver.
/// @throws std::logic_error, naming the builder.
[[nodiscard]] BuilderState& building(const GraphBuilder& builder);

/// Asks the driver about a capture that a stream is part of.
/// @throws CUDAError if the capture was invalidated.
[[nodiscard]] CaptureInfo capture_info(const Stream& stream, const Capture& capture);

/// Throws for a capture that gives no graph. Names the call that invalidated it if it is known.
[[noreturn]] void raise_invalidated(const Capture& capture, CUresult status, const char* call);

/// Returns what is wrong with the graph that a capture makes.
[[nodiscard]] GraphDamage damage_of(const Capture& capture) noexcept;

/// Lets a graph keep alive what was captured into it.
void hand_over(GraphState& graph, Capture& capture);

/// Notes that the graph of a capture is gone.
void lose_graph(Capture& capture) noexcept;

/// Makes sure that a stream captures no more after the driver refused to end its capture. Returns
/// whether that left a graph, which is destroyed if it is owned.
bool end_failed_capture(CUstream stream, bool is_graph_owned) noexcept;

/// Ends a capture and drops its graph, after the captures of bodies below that graph. A body keeps
/// its nodes, and what they use. Returns the driver's code, success once it is over.
CUresult abandon(const Stream& stream, Capture& capture, bool is_graph_owned) noexcept;

/// Returns a new stream for work beside that of another one: same context, same priority.
[[nodiscard]] Stream stream_beside(const Stream& stream);

/// Makes a builder that has not begun.
[[nodiscard]] GraphBuilder make_builder(GraphBuilderKind kind, Stream stream, std::uint64_t origin);

} // namespace cuprum::detail
