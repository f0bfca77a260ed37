// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// An executable graph: its nodes with ready-made work and counts of what each waits for.
//
// Instantiation makes a schedule of a graph, and one of each graph that is embedded in it. A launch
// copies the counts and starts the steps that wait for nothing. A step that is done counts down its
// successors and starts those that reach zero, on the thread that found out; steps that take long
// run on a worker or on a host thread. Nothing is decoded or allocated again.
//
// A schedule runs once at a time. Nobody waits in it: the last step that is done ends the level,
// which is a step of the level above, or the launch.

#pragma once

#include "objects/graphs/graph.hpp"
#include "objects/graphs/node_parameters.hpp"
#include "objects/process/error_state.hpp"
#include "objects/process/origin.hpp"

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace cuprum::emulator {

class GraphLaunch;
class Schedule;

namespace check {
class NodeAccesses;
}

/// The ready-made work of one step.
class Work {
public:
    Work() = default;
    virtual ~Work() = default;
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;

    /// Begins the work of a step. Returns whether it is done; if it is not, Schedule::complete()
    /// follows, on any thread.
    [[nodiscard]] virtual bool start(Schedule& schedule, std::uint32_t step) = 0;
};

/// A node in a schedule.
struct Step {
    Step();
    ~Step();
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

    std::uint64_t id = 0;     // of the node
    std::uint32_t number = 0; // of the node in its graph, for reports
    NodeParameters parameters;
    bool is_enabled = true;
    std::vector<std::uint32_t> dependencies; // in the order of the node's edges
    std::vector<std::uint32_t> successors;
    std::vector<std::unique_ptr<Schedule>> bodies; // of what is embedded in the node
    std::unique_ptr<check::NodeAccesses> accesses; // of a kernel, if the order is checked
    std::unique_ptr<Work> work;
    std::atomic<std::uint32_t> pending{0};
};

/// How executable graphs run.
struct ScheduleOptions {
    bool uses_node_priority = false;
};

/// The steps of one graph in an order that respects its edges.
class Schedule {
public:
    /// Makes the schedule of a graph. `bad_node` receives the node that is to blame.
    ///
    /// @throws DriverError INVALID_VALUE for a cycle, or what making the work of a node throws.
    [[nodiscard]] static std::unique_ptr<Schedule>
    make(const Graph& graph, const ScheduleOptions& options, GraphNode*& bad_node);

    /// Makes another schedule with the same steps.
    [[nodiscard]] std::unique_ptr<Schedule> copy() const;

    /// Starts the schedule of a whole graph for a launch, which it tells when it is done.
    void begin(const std::shared_ptr<GraphLaunch>& launch);

    /// Starts an embedded schedule as part of a step, whose work is told when it is done.
    void begin_within(Schedule& parent, std::uint32_t step);

    /// Says that the work of a step is done.
    void complete(std::uint32_t step) noexcept;

    /// Replaces the work of a step by work with other parameters.
    void replace(Step& step, NodeParameters parameters);

    [[nodiscard]] const std::vector<std::unique_ptr<Step>>& steps() const noexcept {
        return steps_;
    }

    [[nodiscard]] Step& step(std::uint32_t index) const noexcept { return *steps_[index]; }

    /// Returns the launch that runs now. Only while a step runs.
    [[nodiscard]] GraphLaunch& launch() const noexcept { return *launch_; }

    [[nodiscard]] const ScheduleOptions& options() const noexcept { return options_; }

    /// Returns which node a step is, for reports: "node 3, kernel 'saxpy', of a graph". Nodes that
    /// it is embedded in follow.
    [[nodiscard]] std::string describe(std::uint32_t step) const;

    /// Calls a function for all steps, embedded ones after the one that they belong to.
    template <typename Function>
    void for_each(Function&& function) const {
        for (const auto& step : steps_) {
            function(*step);
            for (const auto& body : step->bodies) {
                body->for_each(function);
            }
        }
    }

    /// Calls a function for all steps in the same order, with the schedule that a step belongs to.
    template <typename Function>
    void for_each_with_owner(Function&& function) {
        for (const auto& step : steps_) {
            function(*this, *step);
            for (const auto& body : step->bodies) {
                body->for_each_with_owner(function);
            }
        }
    }

    /// Records an error of a step, with the words that reports use.
    void fail_step(std::uint32_t step, CUresult code, const std::string& report) noexcept;

    /// Runs a part of a step. What it throws becomes an error of the step.
    template <typename Part>
    void attempt(std::uint32_t step, Part&& part) noexcept {
        try {
            part();
        } catch (...) {
            fail_with_exception(step);
        }
    }

    /// Forgets which of the embedded schedules have run. Before a launch whose order is checked.
    void forget_runs() noexcept;

    /// Returns whether the schedule has begun since forget_runs().
    [[nodiscard]] bool has_run() const noexcept { return launch_ != nullptr; }

    /// Returns whether two steps were not noted before, and notes them.
    [[nodiscard]] bool note_pair(std::uint32_t one, std::uint32_t other);

    /// Runs the body of a while node once more, on a worker.
    void repeat(std::uint32_t step);

private:
    friend class ReadySteps;

    Schedule() = default;

    void fail_with_exception(std::uint32_t step) noexcept;
    void start_all() noexcept;
    void start_one(std::uint32_t step) noexcept;
    void end() noexcept;
    void prepare(Step& step);

    ScheduleOptions options_;
    std::vector<std::unique_ptr<Step>> steps_;
    std::vector<std::uint32_t> roots_;
    std::atomic<std::uint32_t> remaining_{0};
    GraphLaunch* launch_ = nullptr;              // while it runs
    std::shared_ptr<GraphLaunch> launch_to_end_; // of the outermost schedule, while it runs
    Schedule* parent_ = nullptr;
    std::uint32_t parent_step_ = 0;
    std::set<std::pair<std::uint32_t, std::uint32_t>> noted_; // pairs that a check has reported
};

} // namespace cuprum::emulator
