// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Stream-ordered work.
//
// Every copy, launch, event record or host function is an Operation: a node that starts when the
// operations it depends on are done. A stream is not a queue, but a pointer to its last operation,
// on which the next one will depend. Waiting for an event adds an edge. The legacy default stream
// adds an edge to every blocking stream. No code walks the graph: an operation that finishes
// decrements a count in each of its successors and starts those that reach zero.

#pragma once

#include "objects/process/error_state.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace cuprum::emulator {

/// One piece of work that starts after others.
///
/// Create it, add what it depends on, then submit() it once. The operations it waits for keep it
/// alive.
class Operation : public std::enable_shared_from_this<Operation> {
public:
    virtual ~Operation() = default;
    Operation(const Operation&) = delete;
    Operation& operator=(const Operation&) = delete;

    /// Makes this operation wait for `other`. Call it before submit().
    void depend_on(const std::shared_ptr<Operation>& other);

    /// Sets the priority, which is that of the stream. If several operations become ready at once,
    /// those with lower numbers start first. Call it before submit().
    void set_priority(int priority) noexcept {
        priority_.store(priority, std::memory_order_relaxed);
    }

    /// Lets the operation start as soon as it can. A quick one may run on the calling thread.
    void submit();

    /// Submits and blocks until done. Runs the work on the calling thread if possible.
    void submit_and_wait();

    /// Blocks until done: runs a small grid on which this operation depends, if no worker has it,
    /// or spins for a moment, then sleeps.
    void wait() const noexcept;

    [[nodiscard]] bool is_done() const noexcept {
        return done_.load(std::memory_order_acquire) != 0;
    }

    /// Returns when the operation finished, on the steady clock, or 0 if it has not finished.
    [[nodiscard]] std::int64_t finish_time_ns() const noexcept { return finish_time_ns_; }

protected:
    explicit Operation(std::shared_ptr<ErrorState> errors) : errors_(std::move(errors)) {}

    /// Begins the work. finish() must follow, now or later, on any thread.
    virtual void start() noexcept = 0;

    /// Called instead of start() when the context has failed.
    virtual void skip() noexcept { finish(); }

    /// Marks the operation as done and starts the operations that waited only for it.
    void finish() noexcept;

    /// Returns whether a caller is blocked in submit_and_wait() and may do the work itself.
    [[nodiscard]] bool may_run_here() const noexcept { return may_run_here_; }

    [[nodiscard]] ErrorState& errors() const noexcept { return *errors_; }

    [[nodiscard]] const std::shared_ptr<ErrorState>& shared_error_state() const noexcept {
        return errors_;
    }

private:
    [[nodiscard]] bool help() const noexcept;
    [[nodiscard]] bool leads_to(const Operation& later) const;
    [[nodiscard]] bool is_for_a_worker() const;
    void release_one() noexcept;
    void run_with_followers() noexcept;
    static void release_by_priority(std::vector<std::shared_ptr<Operation>> operations);
    void run() noexcept;

    std::shared_ptr<ErrorState> errors_;
    std::atomic<std::uint32_t> pending_{1}; // unfinished dependencies, plus one until submit()
    std::atomic<std::uint32_t> done_{0};
    std::atomic<int> priority_{0}; // read by its dependencies, which may finish at any time
    bool may_run_here_ = false;
    std::int64_t finish_time_ns_ = 0;
    mutable std::mutex mutex_; // guards successors_, and done_ becoming true
    std::vector<std::shared_ptr<Operation>> successors_;
};

/// Records that a host thread asks for work that is not done, and so waits for the device. Returns
/// NOT_READY.
CUresult not_ready() noexcept;

/// Does nothing. Only its place in the order matters: events and synchronisation use it.
class Marker final : public Operation {
public:
    explicit Marker(std::shared_ptr<ErrorState> errors) : Operation(std::move(errors)) {}

protected:
    void start() noexcept override { finish(); }
};

/// Runs a function that does not block: a copy, a fill, bookkeeping.
class Task final : public Operation {
public:
    /// Where the function runs.
    enum class Size : std::uint8_t {
        Quick,       // at once, on the thread that finishes the last dependency
        Large,       // on a worker
        Bookkeeping, // as Quick, but even if the context has failed
    };

    Task(std::shared_ptr<ErrorState> errors, std::function<void()> work, Size size)
        : Operation(std::move(errors)), work_(std::move(work)), size_(size) {}

protected:
    void start() noexcept override;
    void skip() noexcept override;

private:
    void run_and_finish() noexcept;

    std::function<void()> work_;
    Size size_;
};

/// Runs a function of the program, which may block, on a separate thread.
class HostFunction final : public Operation {
public:
    /// If the context has failed, `on_failure` is called instead. It may be empty.
    ///
    /// @throws DriverError OPERATING_SYSTEM if there is no thread to run it.
    HostFunction(std::shared_ptr<ErrorState> errors, std::function<void()> function,
                 std::function<void()> on_failure);

protected:
    void start() noexcept override;
    void skip() noexcept override;

private:
    void run_and_finish(std::function<void()> function) noexcept;

    std::function<void()> function_;
    std::function<void()> on_failure_;
};

/// Is done when `is_over` returns true, or when the context fails. See Waits.
class WaitUntil final : public Operation {
public:
    /// @throws DriverError OPERATING_SYSTEM if there is no thread that waits.
    WaitUntil(std::shared_ptr<ErrorState> errors, std::function<bool()> is_over);

protected:
    void start() noexcept override;

private:
    std::function<bool()> is_over_;
};

} // namespace cuprum::emulator
