// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/graphs/graph_launch.hpp"

#include "objects/graphs/conditional.hpp"
#include "objects/graphs/executable.hpp"
#include "objects/streams/event.hpp"

namespace cuprum::emulator {

GraphLaunch::GraphLaunch(std::shared_ptr<ErrorState> errors, std::shared_ptr<Schedule> schedule,
                         std::shared_ptr<const UserReferences> references,
                         std::vector<std::shared_ptr<GraphMemory>> memory,
                         std::vector<std::shared_ptr<ConditionalVariable>> variables, int priority)
    : Operation(std::move(errors)), schedule_(std::move(schedule)),
      references_(std::move(references)), memory_(std::move(memory)),
      variables_(std::move(variables)), priority_(priority),
      origin_(Origin::here(places::OF_LAUNCHES)) {
    for (const auto& each : memory_) {
        each->begin_use();
    }
}

void GraphLaunch::take_events() {
    // Waits first: a graph does not wait for what it records itself, its edges order that.
    schedule_->for_each([&](const Step& step) {
        if (const auto* wait = std::get_if<WaitParameters>(&step.parameters)) {
            if (auto mark = wait->event->pending_mark()) {
                waits_.emplace(&step, std::move(mark));
            }
        }
    });
    schedule_->for_each([&](const Step& step) {
        if (const auto* record = std::get_if<RecordParameters>(&step.parameters)) {
            auto marker = std::make_shared<Marker>(record->event->context().errors());
            record->event->set_mark(marker);
            records_.emplace(&step, std::move(marker));
        }
    });
}

void GraphLaunch::end() noexcept {
    part_ended();
}

void GraphLaunch::launch_from_kernel(std::shared_ptr<GraphExecutable> executable, bool is_tail) {
    const auto self = std::static_pointer_cast<GraphLaunch>(shared_from_this());
    if (!is_tail) {
        parts_.fetch_add(1);
        executable->launch_for(self, nullptr);
        return;
    }
    // The outermost launch runs all tails, one after the other: a graph may launch itself for long.
    auto outermost = self;
    while (outermost->parent_ != nullptr) {
        outermost = outermost->parent_;
    }
    const std::lock_guard lock(outermost->mutex_);
    outermost->tails_.push_back(std::move(executable));
}

/// Goes on when nothing runs: with the next tail, or with the end.
void GraphLaunch::part_ended() noexcept {
    if (parts_.fetch_sub(1, std::memory_order_acq_rel) != 1) {
        return;
    }
    std::shared_ptr<GraphExecutable> next;
    {
        const std::lock_guard lock(mutex_);
        if (!tails_.empty()) {
            next = std::move(tails_.front());
            tails_.pop_front();
        }
    }
    if (errors().get() != CUDA_SUCCESS) {
        // Graphs that will not run any more; one of them may hold this launch.
        const std::lock_guard lock(mutex_);
        tails_.clear();
        next = nullptr;
    }
    if (next != nullptr) {
        parts_.store(1);
        const auto self = std::static_pointer_cast<GraphLaunch>(shared_from_this());
        next->launch_for(self, this);
        return;
    }
    const auto parent = std::move(parent_);
    for (const auto& each : memory_) {
        each->end_use();
    }
    memory_.clear();
    variables_.clear();
    records_.clear();
    waits_.clear();
    schedule_ = nullptr;
    references_ = nullptr;
    finish();
    if (parent != nullptr) {
        parent->part_ended();
    }
}

std::shared_ptr<Operation> GraphLaunch::awaited_by(const Step& step) const {
    const auto found = waits_.find(&step);
    return found == waits_.end() || found->second->is_done() ? nullptr : found->second;
}

void GraphLaunch::record(const Step& step) noexcept {
    if (const auto found = records_.find(&step); found != records_.end()) {
        found->second->submit();
    }
}

void GraphLaunch::skip_step(const Step& step) noexcept {
    if (!records_.empty()) {
        record(step);
    }
}

std::string GraphLaunch::describe_origin() const {
    return "\n  launched by " + origin_.to_text("    ");
}

void GraphLaunch::start() noexcept {
    // The schedule must not go before begin() returns, even if it is done by then.
    const auto schedule = schedule_;
    for (const auto& variable : variables_) {
        variable->begin_launch();
    }
    schedule->begin(std::static_pointer_cast<GraphLaunch>(shared_from_this()));
}

void GraphLaunch::skip() noexcept {
    for (const auto& [step, marker] : records_) {
        marker->submit();
    }
    end();
}

} // namespace cuprum::emulator
