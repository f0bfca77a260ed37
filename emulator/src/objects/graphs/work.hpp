// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "objects/graphs/schedule.hpp"

#include <memory>

namespace cuprum::emulator {

/// Makes the work of a step ready to run.
///
/// @throws DriverError if the parameters are not valid any more: a module was unloaded.
[[nodiscard]] std::unique_ptr<Work> make_work(Schedule& schedule, const Step& step);

/// Told when an embedded schedule is done: chooses what comes next.
class EmbeddingWork : public Work {
public:
    /// Goes on after a body is done.
    virtual void body_ended(Schedule& schedule, std::uint32_t step) = 0;
};

/// The work of a kernel node, as its blocks find it.
class KernelNodeWork : public Work {
public:
    /// Returns the schedule that the kernel runs in. Only while it runs.
    [[nodiscard]] virtual Schedule& running() const noexcept = 0;
};

/// The node that decides by a variable which of its bodies runs. See conditional_work.cpp.
[[nodiscard]] std::unique_ptr<Work> make_conditional_work(const ConditionalParameters& parameters);

/// Operations on words of memory. See batch_work.cpp.
[[nodiscard]] std::unique_ptr<Work> make_batch_work(const BatchParameters& parameters);

/// Signals of external semaphores, and waits for them. See semaphore_work.cpp.
[[nodiscard]] std::unique_ptr<Work> make_semaphore_work(const SemaphoreSignals& parameters);
[[nodiscard]] std::unique_ptr<Work> make_semaphore_work(const SemaphoreWaits& parameters);

} // namespace cuprum::emulator
