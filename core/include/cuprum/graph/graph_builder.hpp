// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Stream capture: work that is enqueued on a stream becomes nodes of a graph instead of running.
//
//     GraphBuilder builder = device.create_graph_builder();
//     builder.begin_building();
//     launch(builder, config, kernel, x, n);     // a builder is accepted wherever a stream is
//     Graph graph = builder.end_building().complete();
//
// capture() does the same in one call and cannot leave the stream capturing:
//
//     GraphDefinition definition = capture(stream, [&] { launch(stream, config, kernel, x, n); });

#pragma once

#include <cuprum/detail/export.hpp>
#include <cuprum/detail/text.hpp>
#include <cuprum/event.hpp>
#include <cuprum/graph/graph.hpp>
#include <cuprum/graph/graph_appender.hpp>
#include <cuprum/graph/graph_condition.hpp>
#include <cuprum/graph/graph_debug.hpp>
#include <cuprum/graph/graph_definition.hpp>
#include <cuprum/graph/graph_node.hpp>
#include <cuprum/stream.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace cuprum {

namespace detail {
struct Access;
struct BuilderState;
} // namespace detail

/// What other calls may do while a capture is active. A call that is not allowed fails and
/// invalidates the capture.
enum class CaptureMode {
    Global,      // no thread of the process may make calls that a graph cannot contain
    ThreadLocal, // the thread that captures may not make them
    Relaxed,     // every thread may make them
};

/// Where a graph builder came from.
enum class GraphBuilderKind {
    Primary,         // from a stream or a device; owns the graph
    Forked,          // from split(); captures into the graph of the builder that was split
    ConditionalBody, // from if_then(), if_else(), while_loop() or switch_cases()
};

/// How far a graph builder is.
enum class GraphBuilderPhase {
    NotStarted,
    Building,
    Ended,
    Closed,
};

/// Returns the name of a capture mode.
[[nodiscard]] CUPRUM_API std::string_view to_string(CaptureMode mode) noexcept;
/// Returns the name of a kind.
[[nodiscard]] CUPRUM_API std::string_view to_string(GraphBuilderKind kind) noexcept;
/// Returns the name of a phase.
[[nodiscard]] CUPRUM_API std::string_view to_string(GraphBuilderPhase phase) noexcept;

/// A graph under construction by stream capture.
///
/// Copies share one builder. While it builds, pass it wherever a stream is accepted: launches,
/// copies and fills become nodes that depend on what was captured before. Work that other libraries
/// enqueue on stream() is captured too.
///
/// The graph keeps alive what this library captures: kernels, buffers, events and callbacks. Use
/// keep_alive() for everything else, such as memory whose address was passed as a number.
///
/// The last copy ends a capture that is still active and drops its graph, so that the stream is
/// never left capturing. Threads may enqueue at the same time; all other calls need one thread at a
/// time. In the modes Global and ThreadLocal the thread that began a capture must end it.
///
/// @code
/// cuprum::GraphBuilder builder = device.create_graph_builder();
/// builder.begin_building();
/// cuprum::launch(builder, {.block = 32}, kernel, buffer);
/// builder.end_building();
/// const cuprum::Graph graph = builder.complete();
/// graph.launch(stream);
/// @endcode
class CUPRUM_API GraphBuilder {
public:
    /// Creates a builder that captures what is enqueued on a stream.
    [[nodiscard]] static GraphBuilder create(const Stream& stream);

    /// Begins the capture.
    /// @throws std::logic_error if the builder has begun before, CUDAError if the stream cannot be
    ///         captured: it is the legacy default stream, or another capture is active on it.
    GraphBuilder& begin_building(CaptureMode mode = CaptureMode::Relaxed);

    /// Returns whether the capture is active.
    /// @throws CUDAError if a failed call invalidated it; end_building() or close() ends it then.
    [[nodiscard]] bool is_building() const;

    /// Ends the capture and keeps its graph. It cannot be resumed.
    /// @throws std::logic_error if the builder does not build, is forked, or has forks that were
    ///         not joined: it goes on building. CUDAError if the capture was invalidated: the
    ///         builder has ended and has no graph.
    GraphBuilder& end_building();

    /// Instantiates the graph.
    /// @throws std::logic_error before end_building().
    [[nodiscard]] Graph complete(const GraphCompleteOptions& options = {}) const;

    /// Returns the graph, to inspect or edit it. It stays valid when the builder is closed.
    ///
    /// A primary builder has it after end_building(), a conditional body whenever it does not
    /// build, a forked builder never.
    /// @throws std::logic_error when there is none.
    [[nodiscard]] GraphDefinition graph_definition() const;

    /// Writes the graph to a file as the driver describes it; see GraphDefinition.
    /// @throws std::logic_error before end_building().
    void debug_dot_print(const std::filesystem::path& path,
                         const GraphDebugPrintOptions& options = {}) const;

    /// Splits the capture into `count` builders that go on from here, each on a stream of its own.
    /// The first is this builder. Join the others before the end.
    /// @throws std::invalid_argument if `count` is less than 2.
    [[nodiscard]] std::vector<GraphBuilder> split(std::size_t count);

    /// Joins builders of one capture: the first that is not forked, or else the first of all,
    /// continues after the work of all. The others are closed.
    /// @throws std::invalid_argument if there are fewer than two, one is there twice, or one
    ///         captures into another graph. Nothing is joined then.
    static GraphBuilder join(std::span<const GraphBuilder> builders);

    /// Joins two or more builders of one capture.
    template <std::same_as<GraphBuilder>... Builders>
    static GraphBuilder join(const GraphBuilder& first, const Builders&... others) {
        const GraphBuilder builders[] = {first, others...};
        return join(std::span<const GraphBuilder>(builders));
    }

    /// Creates a condition for a conditional node of this graph. Kernels set it. Each launch of the
    /// graph starts with `default_value` if there is one.
    [[nodiscard]] GraphCondition
    create_condition(std::optional<unsigned> default_value = std::nullopt) const;

    /// Captures a conditional node and returns builders for its bodies. This builder goes on after
    /// the node. Fill a body by capture, from begin_building() to end_building(), or through its
    /// graph_definition().
    [[nodiscard]] GraphBuilder if_then(const GraphCondition& condition);
    /// Captures a conditional node with two bodies and returns their builders.
    [[nodiscard]] std::pair<GraphBuilder, GraphBuilder> if_else(const GraphCondition& condition);
    /// Captures a loop and returns the builder of its body.
    [[nodiscard]] GraphBuilder while_loop(const GraphCondition& condition);
    /// @throws std::invalid_argument if `count` is 0.
    [[nodiscard]] std::vector<GraphBuilder> switch_cases(const GraphCondition& condition,
                                                         std::size_t count);

    /// Captures a copy of another graph as one node.
    /// @throws std::invalid_argument if the builder of the child has not ended.
    void embed(const GraphBuilder& child);
    /// Captures a copy of a definition as one node.
    void embed(const GraphDefinition& child);

    /// Captures a function that each launch of the graph calls on a thread of the driver. The graph
    /// owns it. It must not call CUDA. If it throws, the library sends a warning of kind
    /// HostFunction and the graph goes on.
    void callback(std::function<void()> function);
    /// Captures a C function. It must not throw.
    void callback(const HostFunctionParameters& parameters);

    /// Captures a record of an event, or a wait for one, as Stream does.
    void record(const Event& event, EventUse use = EventUse::Normal) const;
    /// Captures a wait for an event, as Stream does.
    void wait(const Event& event, EventUse use = EventUse::Normal) const;

    /// Keeps an object alive as long as the graph, its clones, executables and their launches.
    void keep_alive(std::shared_ptr<void> object) const;

    /// Returns the nodes that the next captured work depends on: usually the one captured last.
    [[nodiscard]] std::vector<GraphNode> dependencies() const;

    /// Returns the stream that is captured.
    [[nodiscard]] Stream stream() const;

    /// Converts to the stream, so that a builder can be passed for one.
    /// @throws std::logic_error unless the builder is building: the work would run at once.
    operator const Stream&() const; // NOLINT(google-explicit-constructor)

    /// Returns whether the builder must be joined with another before the capture ends.
    [[nodiscard]] bool is_join_required() const;
    /// Returns how the builder came to be.
    [[nodiscard]] GraphBuilderKind kind() const;
    /// Returns whether the builder is building, or what it did last.
    [[nodiscard]] GraphBuilderPhase phase() const noexcept;
    /// Returns a number that no other builder of the process has. Errors name a builder by it.
    [[nodiscard]] std::uint64_t id() const noexcept;

    /// Returns whether `close()` was called, on this copy or on another.
    [[nodiscard]] bool is_closed() const noexcept { return phase() == GraphBuilderPhase::Closed; }

    /// Closes all copies of the builder. Ends a capture that is still active and drops its graph;
    /// a graph that is complete stays with its definition and its executables. Calling it again
    /// does nothing.
    /// @throws CUDAError if the capture cannot be ended, as on another thread than it began on.
    void close();

    /// Returns whether two objects are copies of one builder.
    friend bool operator==(const GraphBuilder& left, const GraphBuilder& right) noexcept {
        return left.state_ == right.state_;
    }

private:
    friend struct detail::Access;
    friend struct std::hash<GraphBuilder>;

    explicit GraphBuilder(std::shared_ptr<detail::BuilderState> state) noexcept
        : state_(std::move(state)) {}

    std::shared_ptr<detail::BuilderState> state_;
};

/// Returns number, kind and phase for messages and logs. Makes no driver call.
[[nodiscard]] CUPRUM_API std::string to_string(const GraphBuilder& builder);

/// Captures a stream for a scope. However the scope is left, the stream does not capture any more:
/// without end(), as after an exception, the capture is ended and its graph is dropped.
///
/// @code
/// cuprum::CaptureGuard guard(stream);
/// cuprum::launch(stream, {.block = 32}, kernel, buffer); // captured, not run
/// const cuprum::GraphDefinition definition = guard.end();
/// @endcode
class CUPRUM_API CaptureGuard {
public:
    /// Begins the capture, as GraphBuilder::begin_building() does.
    [[nodiscard]] explicit CaptureGuard(const Stream& stream,
                                        CaptureMode mode = CaptureMode::Relaxed);
    ~CaptureGuard();
    CaptureGuard(const CaptureGuard&) = delete;
    CaptureGuard& operator=(const CaptureGuard&) = delete;

    /// Returns the builder, to split, to embed, or to add conditional nodes and callbacks.
    [[nodiscard]] GraphBuilder& builder() noexcept { return builder_; }

    /// Ends the capture and returns its graph.
    /// @throws what GraphBuilder::end_building() throws.
    [[nodiscard]] GraphDefinition end();

private:
    GraphBuilder builder_;
};

/// Calls a function and returns what it enqueues on a stream as a graph. The function may take the
/// GraphBuilder, the Stream or nothing. If it throws, the stream does not capture any more.
/// @throws what the function throws, and what GraphBuilder throws.
template <typename Function>
    requires std::invocable<Function, GraphBuilder&> || std::invocable<Function, const Stream&> ||
             std::invocable<Function>
[[nodiscard]] GraphDefinition capture(const Stream& stream, Function&& function,
                                      CaptureMode mode = CaptureMode::Relaxed) {
    CaptureGuard guard(stream, mode);
    if constexpr (std::invocable<Function, GraphBuilder&>) {
        std::invoke(std::forward<Function>(function), guard.builder());
    } else if constexpr (std::invocable<Function, const Stream&>) {
        std::invoke(std::forward<Function>(function), stream);
    } else {
        std::invoke(std::forward<Function>(function));
    }
    return guard.end();
}

} // namespace cuprum

/// Hashes what operator== compares.
template <>
struct std::hash<cuprum::GraphBuilder> {
    [[nodiscard]] std::size_t operator()(const cuprum::GraphBuilder& builder) const noexcept {
        return std::hash<const void*>()(builder.state_.get());
    }
};
