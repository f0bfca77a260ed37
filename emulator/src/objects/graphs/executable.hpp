// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "objects/graphs/graph.hpp"
#include "objects/graphs/schedule.hpp"
#include "objects/process/handle_table.hpp"

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace cuprum::emulator {

class GraphLaunch;
class GraphMemory;
class Operation;
class Stream;

/// A graph that is ready to be launched, as often as the program likes, one launch at a time.
///
/// Changes concern later launches only: while a launch runs, they are made in a copy of the
/// schedule.
class GraphExecutable final : public Object {
public:
    /// Why instantiation failed.
    struct Failure {
        CUgraphInstantiateResult result = CUDA_GRAPH_INSTANTIATE_ERROR;
        GraphNode* node = nullptr;
    };

    /// Makes a graph executable. Only under GraphLock.
    ///
    /// @throws DriverError after filling in `failure`.
    [[nodiscard]] static std::shared_ptr<GraphExecutable> create(Graph& graph, cuuint64_t flags,
                                                                 Failure& failure);

    /// Puts memory behind the allocation nodes.
    void upload(Stream& stream);

    /// Gives the graph to a stream, behind the launches of it before.
    ///
    /// @throws DriverError INVALID_VALUE if memory of the last launch has not been freed.
    void launch(Stream& stream);

    /// Launches the graph for a kernel of another launch, `parent`. The launch `done`, if it is not
    /// nullptr, counts as done although it is not: a graph may launch itself again.
    void launch_for(const std::shared_ptr<GraphLaunch>& parent, const GraphLaunch* done);

    /// Replaces the parameters of a node in later launches; throws INVALID_VALUE if the node is
    /// none of this graph, or if `parameters` differ in what cannot change.
    void set_parameters(const GraphNode& node, NodeParameters parameters);

    /// Replaces the graph inside a child graph node; throws GRAPH_EXEC_UPDATE_FAILURE if its shape
    /// differs. Only under GraphLock.
    void set_child(const GraphNode& node, const Graph& graph);

    void set_enabled(const GraphNode& node, bool is_enabled);
    [[nodiscard]] bool is_enabled(const GraphNode& node);

    /// Takes over the parameters of a graph of the same shape; says in `info` what differs. Only
    /// under GraphLock.
    ///
    /// @throws DriverError GRAPH_EXEC_UPDATE_FAILURE.
    void update(Graph& graph, CUgraphExecUpdateResultInfo& info);

    [[nodiscard]] cuuint64_t flags() const noexcept { return flags_; }

    /// Returns a number that no other graph of the process has or had.
    [[nodiscard]] std::uint32_t id() const noexcept { return id_; }

private:
    GraphExecutable() = default;

    void make_writable();
    void set_schedule(std::shared_ptr<Schedule> schedule);
    [[nodiscard]] Step& find(const GraphNode& node, Schedule** owner = nullptr);
    void find_memory();
    void note_contents();

    [[nodiscard]] bool frees_on_launch() const noexcept {
        return (flags_ & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) != 0;
    }

    const std::uint32_t id_ = next_graph_id();
    cuuint64_t flags_ = 0;
    std::mutex mutex_; // of what follows
    std::shared_ptr<Schedule> schedule_;
    // Which step of the schedule, or of one in it, a node is, by its number. Made on first use.
    std::unordered_map<std::uint64_t, std::pair<Schedule*, Step*>> steps_;
    std::shared_ptr<const UserReferences> references_;
    std::vector<std::shared_ptr<GraphMemory>> allocated_; // by its own nodes, and not freed by them
    std::vector<std::shared_ptr<GraphMemory>> within_;    // allocated and freed by its own nodes
    std::vector<std::shared_ptr<GraphMemory>> freed_;     // by its own nodes, allocated elsewhere
    // What a launch has to look at, so that it need not look at all steps.
    std::vector<std::shared_ptr<Context>> contexts_;
    std::vector<std::shared_ptr<ConditionalVariable>> variables_;
    bool has_events_ = false;
    std::shared_ptr<Operation> last_launch_;        // by the program
    std::shared_ptr<Operation> last_kernel_launch_; // by a kernel of another graph
};

} // namespace cuprum::emulator
