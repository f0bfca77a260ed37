// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Conditional nodes: if, while and switch.

#include "exec/engine.hpp"
#include "exec/watchdog.hpp"
#include "objects/graphs/conditional.hpp"
#include "objects/graphs/graph_launch.hpp"
#include "objects/graphs/work.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <variant>

namespace cuprum::emulator {

namespace {

class ConditionalWork final : public EmbeddingWork {
public:
    explicit ConditionalWork(const ConditionalParameters& parameters)
        : variable_(parameters.variable), type_(parameters.type),
          is_hopeless_(type_ == CU_GRAPH_COND_TYPE_WHILE && has_no_kernel(parameters)) {}

    bool start(Schedule& schedule, std::uint32_t step) override {
        if (!is_repeating_) {
            began_ = Clock::now();
            rounds_ = 0;
        }
        is_repeating_ = false;
        const auto& bodies = schedule.step(step).bodies;
        const std::size_t chosen = choose();
        if (chosen >= bodies.size() || is_time_up(schedule, step)) {
            return true;
        }
        bodies[chosen]->begin_within(schedule, step);
        return false;
    }

    void body_ended(Schedule& schedule, std::uint32_t step) override {
        if (type_ != CU_GRAPH_COND_TYPE_WHILE) {
            schedule.complete(step);
            return;
        }
        // On a worker even if the body was short: a loop must not keep the thread that launches.
        ++rounds_;
        is_repeating_ = true;
        schedule.repeat(step);
    }

private:
    using Clock = std::chrono::steady_clock;

    /// Returns which body runs now; one that does not exist means none.
    [[nodiscard]] std::size_t choose() const noexcept {
        const std::uint32_t value = variable_->value();
        switch (type_) {
        case CU_GRAPH_COND_TYPE_IF:
            return value != 0 ? 0 : 1;
        case CU_GRAPH_COND_TYPE_WHILE:
            return value != 0 ? 0 : NONE;
        default:
            return value;
        }
    }

    /// Returns whether no kernel in the bodies can change the condition.
    [[nodiscard]] static bool has_no_kernel(const ConditionalParameters& parameters) {
        return std::ranges::none_of(parameters.bodies, [](const auto& body) {
            return body->contains({CU_GRAPH_NODE_TYPE_KERNEL});
        });
    }

    /// Ends a loop that has run for longer than a strict watchdog allows a kernel. A loop without a
    /// kernel ends soon even without the watchdog: only a kernel outside it could still end it.
    bool is_time_up(Schedule& schedule, std::uint32_t step) const {
        const exec::WatchdogSettings watchdog = exec::Engine::instance().watchdog().settings();
        std::uint32_t seconds = watchdog.is_strict ? watchdog.seconds : 0;
        if (is_hopeless_ && (seconds == 0 || seconds > HOPELESS_SECONDS)) {
            seconds = HOPELESS_SECONDS;
        }
        if (seconds == 0 || type_ != CU_GRAPH_COND_TYPE_WHILE ||
            Clock::now() - began_ <= std::chrono::seconds(seconds)) {
            return false;
        }
        if (is_hopeless_) {
            schedule.fail_step(step, CUDA_ERROR_LAUNCH_TIMEOUT,
                               "the body of a while node has no kernel that could set its "
                               "condition to 0: it has run " +
                                   std::to_string(rounds_) + " times in " +
                                   std::to_string(seconds) +
                                   " seconds; add a kernel that calls cudaGraphSetConditional");
            return true;
        }
        schedule.fail_step(step, CUDA_ERROR_LAUNCH_TIMEOUT,
                           "the body of a while node has run " + std::to_string(rounds_) +
                               " times and its condition is still not 0 after " +
                               std::to_string(seconds) +
                               " seconds, which CUPRUM_EMULATOR_WATCHDOG allows");
        return true;
    }

    static constexpr std::size_t NONE = ~std::size_t{0};
    static constexpr std::uint32_t HOPELESS_SECONDS = 3;

    std::shared_ptr<ConditionalVariable> variable_;
    CUgraphConditionalNodeType type_;
    bool is_hopeless_;
    bool is_repeating_ = false;
    std::uint64_t rounds_ = 0;
    Clock::time_point began_;
};

} // namespace

std::unique_ptr<Work> make_conditional_work(const ConditionalParameters& parameters) {
    return std::make_unique<ConditionalWork>(parameters);
}

} // namespace cuprum::emulator
