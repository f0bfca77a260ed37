// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "objects/graphs/graph_memory.hpp"
#include "objects/graphs/schedule.hpp"
#include "objects/graphs/user_object.hpp"
#include "objects/process/origin.hpp"
#include "objects/streams/operation.hpp"

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace cuprum::emulator {

class GraphExecutable;

/// One launch of an executable graph, as work of a stream.
///
/// Keeps the schedule, the memory and the user objects until it is done: an executable graph may be
/// changed or destroyed meanwhile.
class GraphLaunch final : public Operation {
public:
    GraphLaunch(std::shared_ptr<ErrorState> errors, std::shared_ptr<Schedule> schedule,
                std::shared_ptr<const UserReferences> references,
                std::vector<std::shared_ptr<GraphMemory>> memory,
                std::vector<std::shared_ptr<ConditionalVariable>> variables, int priority);

    /// Takes part in the events of the graph: those that it records are pending from now on, and
    /// those that it waits for are waited for as they are now.
    void take_events();

    /// Says that the schedule is done.
    void end() noexcept;

    /// Launches another graph for a kernel of this one: behind this launch, or at once. This launch
    /// is done when the other one is.
    void launch_from_kernel(std::shared_ptr<GraphExecutable> executable, bool is_tail);

    /// Makes this the launch of a graph by a kernel of another launch.
    void set_parent(std::shared_ptr<GraphLaunch> parent) noexcept { parent_ = std::move(parent); }

    /// Returns the launch whose kernel launched this one, or nullptr.
    [[nodiscard]] const GraphLaunch* parent() const noexcept { return parent_.get(); }

    /// Returns the handle of the executable graph.
    [[nodiscard]] std::uint64_t executable_handle() const noexcept { return executable_handle_; }

    void set_executable_handle(std::uint64_t handle) noexcept { executable_handle_ = handle; }

    [[nodiscard]] ErrorState& error_state() const noexcept { return errors(); }

    [[nodiscard]] std::shared_ptr<ErrorState> shared_errors() const { return shared_error_state(); }

    /// Returns the priority of the stream.
    [[nodiscard]] int stream_priority() const noexcept { return priority_; }

    /// Returns what a wait step waits for; nullptr if that has happened.
    [[nodiscard]] std::shared_ptr<Operation> awaited_by(const Step& step) const;

    /// Records the event of a step.
    void record(const Step& step) noexcept;

    /// Does what a step must do even if its work does not run.
    void skip_step(const Step& step) noexcept;

    /// Returns where the program launched the graph, in lines that start with a line break.
    [[nodiscard]] std::string describe_origin() const;

protected:
    void start() noexcept override;
    void skip() noexcept override;

private:
    void part_ended() noexcept;

    std::shared_ptr<Schedule> schedule_;
    std::shared_ptr<const UserReferences> references_;
    std::vector<std::shared_ptr<GraphMemory>> memory_;
    std::vector<std::shared_ptr<ConditionalVariable>> variables_;
    int priority_;
    Origin origin_;
    std::unordered_map<const Step*, std::shared_ptr<Marker>> records_;
    std::unordered_map<const Step*, std::shared_ptr<Operation>> waits_;
    std::uint64_t executable_handle_ = 0;
    std::shared_ptr<GraphLaunch> parent_; // the launch whose kernel launched this one
    std::atomic<std::uint32_t> parts_{1}; // what runs: the schedule, and launches of its kernels
    std::mutex mutex_;                    // of what follows
    std::deque<std::shared_ptr<GraphExecutable>> tails_; // to launch when nothing runs
};

} // namespace cuprum::emulator
