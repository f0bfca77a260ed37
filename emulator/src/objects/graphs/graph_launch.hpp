// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "objects/graphs/graph_memory.hpp"
#include "objects/graphs/schedule.hpp"
#include "objects/graphs/user_object.hpp"
#include "objects/process/origin.hpp"
#include "objects/streams/operation.hpp"

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace cuprum::emulator {

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

    [[nodiscard]] bool uses_memory() const noexcept override { return true; }

private:
    std::shared_ptr<Schedule> schedule_;
    std::shared_ptr<const UserReferences> references_;
    std::vector<std::shared_ptr<GraphMemory>> memory_;
    std::vector<std::shared_ptr<ConditionalVariable>> variables_;
    int priority_;
    Origin origin_;
    std::unordered_map<const Step*, std::shared_ptr<Marker>> records_;
    std::unordered_map<const Step*, std::shared_ptr<Operation>> waits_;
};

} // namespace cuprum::emulator
