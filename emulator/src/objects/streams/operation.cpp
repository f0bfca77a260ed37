// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/streams/operation.hpp"

#include "builtins/status_line.hpp"
#include "exec/engine.hpp"
#include "exec/watchdog.hpp"
#include "objects/memory/memory_gate.hpp"
#include "objects/process/error.hpp"
#include "objects/process/host_threads.hpp"
#include "objects/process/log.hpp"
#include "objects/process/waits.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <exception>
#include <string>
#include <thread>

namespace cuprum::emulator {

namespace {

// Operations that became ready while another one finishes on this thread. The outermost caller runs
// them one after the other, so that a long chain of quick operations does not overflow the stack.
thread_local constinit std::deque<std::shared_ptr<Operation>>* ready_here = nullptr;

// What this thread waits for while it runs a grid itself (exec/helping.cpp), or nullptr.
thread_local constinit const Operation* awaited_here = nullptr;

/// How often a waiting thread looks before it reads the clock.
constexpr int LOOKS_PER_CLOCK = 16;

std::int64_t now_ns() noexcept {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

/// Runs internal work. It was checked before, so an exception is a bug in the emulator, unless the
/// work itself has found an error of the program, or memory runs out.
void run_guarded(const std::function<void()>& work, ErrorState& errors) noexcept {
    try {
        work();
    } catch (const DriverError& error) {
        if (errors.set(error.code(), error.what())) {
            log(LogLevel::Error, error.what());
        }
    } catch (const std::bad_alloc&) {
        log(LogLevel::Error, "out of host memory for work of a stream");
        errors.set(CUDA_ERROR_OUT_OF_MEMORY);
    } catch (const std::exception& error) {
        log(LogLevel::Error,
            std::string("stream work failed, please report this: ") + error.what());
        errors.set(CUDA_ERROR_UNKNOWN);
    }
}

} // namespace

void Operation::depend_on(const std::shared_ptr<Operation>& other) {
    if (other == nullptr || other->is_done()) {
        return;
    }
    const std::lock_guard lock(other->mutex_);
    if (!other->is_done()) {
        other->successors_.push_back(shared_from_this());
        pending_.fetch_add(1, std::memory_order_relaxed);
    }
}

void Operation::submit() {
    release_one();
}

void Operation::submit_and_wait() {
    // Only our own count is left, so the operation starts on this thread.
    may_run_here_ = pending_.load(std::memory_order_acquire) == 1;
    release_one();
    wait();
}

void Operation::wait() const noexcept {
    while (!is_done() && help()) {
    }
    const std::int64_t end = now_ns() + exec::Engine::instance().spin_time().count();
    do {
        for (int look = 0; look < LOOKS_PER_CLOCK; ++look) {
            if (is_done()) {
                return;
            }
            pause();
        }
        std::this_thread::yield(); // the worker may need this processor
    } while (now_ns() < end);
    const exec::HostWait waiting; // the watchdog may now end a kernel that hangs
    while (!is_done()) {
        done_.wait(0, std::memory_order_acquire);
    }
}

/// Runs a grid on which this operation depends. Returns false if there is none to run here.
bool Operation::help() const noexcept {
    if (ready_here != nullptr) {
        return false;
    }
    awaited_here = this;
    const bool has_helped = exec::Engine::instance().help([this](const void* operation) {
        return static_cast<const Operation*>(operation)->leads_to(*this);
    });
    awaited_here = nullptr;
    return has_helped;
}

/// Returns whether a later operation depends on this one. Looks at a few operations only, so the
/// answer may be false by mistake.
bool Operation::leads_to(const Operation& later) const {
    std::array<std::shared_ptr<const Operation>, 8> found; // what depends on this operation
    std::size_t count = 0;
    const auto look_behind = [&](const Operation& from) {
        const std::lock_guard lock(from.mutex_);
        for (const auto& successor : from.successors_) {
            if (successor.get() == &later) {
                return true;
            }
            if (count != found.size()) {
                found[count++] = successor;
            }
        }
        return false;
    };
    bool is_found = this == &later || look_behind(*this);
    for (std::size_t i = 0; i < count && !is_found; ++i) {
        is_found = look_behind(*found[i]);
    }
    return is_found;
}

void Operation::finish() noexcept {
    const auto self = shared_from_this(); // a waiting thread may drop the last other share
    finish_time_ns_ = now_ns();
    std::vector<std::shared_ptr<Operation>> successors;
    {
        const std::lock_guard lock(mutex_);
        done_.store(1, std::memory_order_release);
        successors.swap(successors_);
    }
    done_.notify_all();
    if (successors.size() > 1) {
        release_by_priority(std::move(successors));
        return;
    }
    for (const auto& successor : successors) {
        successor->release_one();
    }
}

void Operation::release_by_priority(std::vector<std::shared_ptr<Operation>> operations) {
    // Read each priority once, because operations that are not submitted yet may still change it.
    std::vector<std::pair<int, std::shared_ptr<Operation>>> ranked;
    for (auto& operation : operations) {
        const int priority = operation->priority_.load(std::memory_order_relaxed);
        ranked.emplace_back(priority, std::move(operation));
    }
    std::ranges::stable_sort(ranked, {}, [](const auto& entry) { return entry.first; });
    for (const auto& [priority, operation] : ranked) {
        operation->release_one();
    }
}

void Operation::release_one() noexcept {
    if (pending_.fetch_sub(1, std::memory_order_acq_rel) != 1) {
        return;
    }
    if (is_for_a_worker() && exec::Engine::instance().post(
                                 [self = shared_from_this()] { self->run_with_followers(); })) {
        return;
    }
    if (ready_here != nullptr) {
        ready_here->push_back(shared_from_this());
    } else {
        run_with_followers();
    }
}

/// Returns whether this thread helps, but does not wait for this operation.
bool Operation::is_for_a_worker() const {
    return awaited_here != nullptr && (awaited_here->is_done() || !leads_to(*awaited_here));
}

/// Runs an operation that is ready, and the quick ones that become ready through it.
void Operation::run_with_followers() noexcept {
    std::deque<std::shared_ptr<Operation>> ready;
    ready_here = &ready;
    run();
    while (!ready.empty()) {
        const auto next = std::move(ready.front());
        ready.pop_front();
        next->run();
    }
    ready_here = nullptr;
}

void Operation::run() noexcept {
    if (errors_->get() == CUDA_SUCCESS) {
        start();
    } else {
        skip();
    }
}

CUresult not_ready() noexcept {
    exec::Engine::instance().watchdog().note_poll();
    builtins::StatusLine::instance().note_poll();
    return CUDA_ERROR_NOT_READY;
}

// ---- kinds of operations -----------------------------------------------------------------------

void Task::start() noexcept {
    if (size_ != Size::Large || may_run_here()) {
        run_and_finish();
        return;
    }
    const auto self = std::static_pointer_cast<Task>(shared_from_this());
    if (!exec::Engine::instance().post([self] { self->run_and_finish(); })) {
        run_and_finish(); // the process exits, but a thread may wait for this
    }
}

void Task::skip() noexcept {
    if (size_ == Size::Bookkeeping) {
        run_and_finish();
        return;
    }
    work_ = nullptr;
    finish();
}

void Task::run_and_finish() noexcept {
    if (size_ == Size::Bookkeeping) {
        run_guarded(work_, errors());
    } else {
        const auto pass = MemoryGate::instance().pass();
        run_guarded(work_, errors());
    }
    work_ = nullptr; // frees buffers now: the stream still holds this operation
    finish();
}

HostFunction::HostFunction(std::shared_ptr<ErrorState> errors, std::function<void()> function,
                           std::function<void()> on_failure)
    : Operation(std::move(errors)), function_(std::move(function)),
      on_failure_(std::move(on_failure)) {
    HostThreads::instance().start_thread();
}

void HostFunction::start() noexcept {
    on_failure_ = nullptr;
    run_and_finish(std::move(function_));
}

void HostFunction::skip() noexcept {
    function_ = nullptr;
    run_and_finish(std::move(on_failure_));
}

void HostFunction::run_and_finish(std::function<void()> function) noexcept {
    if (!function) {
        finish();
        return;
    }
    const auto self = std::static_pointer_cast<HostFunction>(shared_from_this());
    HostThreads::instance().run([self, function = std::move(function)] {
        const std::string report = call_host_function(function);
        if (!report.empty() && self->errors().set(CUDA_ERROR_LAUNCH_FAILED, report)) {
            log(LogLevel::Error, report);
        }
        self->finish();
    });
}

WaitUntil::WaitUntil(std::shared_ptr<ErrorState> errors, std::function<bool()> is_over)
    : Operation(std::move(errors)), is_over_(std::move(is_over)) {
    Waits::instance().start_thread();
}

void WaitUntil::start() noexcept {
    const auto self = std::static_pointer_cast<WaitUntil>(shared_from_this());
    Waits::instance().add(
        [self] {
            bool is_over = true; // also if looking fails
            if (self->errors().get() == CUDA_SUCCESS) {
                run_guarded([&] { is_over = self->is_over_(); }, self->errors());
            }
            return is_over;
        },
        [self] { self->finish(); });
}

} // namespace cuprum::emulator
