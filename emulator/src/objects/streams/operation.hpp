// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Stream-ordered work.
//
// Every copy, launch, event record or host function is an Operation: a node that starts once the
// operations it depends on are done. A stream is no queue, only a pointer to the last operation
// given to it, on which the next one will depend; waiting for an event adds one more edge; the
// legacy default stream adds an edge to every blocking stream. Nobody walks the graph: an operation
// that finishes counts down its successors and starts those that reach zero.

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
/// Make it, name what it depends on, then submit() it once. Kept alive by what it waits for.
class Operation : public std::enable_shared_from_this<Operation> {
public:
    virtual ~Operation() = default;
    Operation(const Operation&) = delete;
    Operation& operator=(const Operation&) = delete;

    /// Holds this operation back until `other` is done. Only before submit().
    void depend_on(const std::shared_ptr<Operation>& other);

    /// Says how urgent the operation is, by the priority of its stream: of several that become
    /// ready at once, those with lower numbers start first. Only before submit().
    void set_priority(int priority) noexcept {
        priority_.store(priority, std::memory_order_relaxed);
    }

    /// Lets the operation start as soon as it can; it may run on the calling thread if it is quick.
    void submit();

    /// Submits and blocks until done, running the work on the calling thread where possible.
    void submit_and_wait();

    /// Blocks until done: spins for a moment, then sleeps.
    void wait() const noexcept;

    [[nodiscard]] bool is_done() const noexcept {
        return done_.load(std::memory_order_acquire) != 0;
    }

    /// Returns what the operation is in a graph.
    [[nodiscard]] virtual CUgraphNodeType node_type() const noexcept {
        return CU_GRAPH_NODE_TYPE_EMPTY;
    }

    /// Returns when the operation finished, on the steady clock; 0 before.
    [[nodiscard]] std::int64_t finish_time_ns() const noexcept { return finish_time_ns_; }

protected:
    friend class MemoryGate;

    explicit Operation(std::shared_ptr<ErrorState> errors) : errors_(std::move(errors)) {}

    /// Returns whether the work reads or writes device memory, so that it must not run while the
    /// memory itself is being moved.
    [[nodiscard]] virtual bool uses_memory() const noexcept { return false; }

    /// Begins the work; finish() must follow, now or later, on any thread.
    virtual void start() noexcept = 0;

    /// Called instead of start() when the context has failed.
    virtual void skip() noexcept { finish(); }

    /// Marks the operation done and starts what waited for it alone.
    void finish() noexcept;

    /// Returns whether a caller is blocked in submit_and_wait() and may do the work itself.
    [[nodiscard]] bool may_run_here() const noexcept { return may_run_here_; }

    [[nodiscard]] ErrorState& errors() const noexcept { return *errors_; }

private:
    void release_one() noexcept;
    static void release_by_priority(std::vector<std::shared_ptr<Operation>> operations);
    void run() noexcept;

    std::shared_ptr<ErrorState> errors_;
    std::atomic<std::uint32_t> pending_{1}; // dependencies not done, and one until submit()
    std::atomic<std::uint32_t> done_{0};
    std::atomic<int> priority_{0}; // read by what it depends on, which may finish at any time
    bool may_run_here_ = false;
    bool is_counted_ = false; // by the memory gate, until it finishes
    std::int64_t finish_time_ns_ = 0;
    std::mutex mutex_; // of successors_, and of done_ becoming true
    std::vector<std::shared_ptr<Operation>> successors_;
};

/// Does nothing; its place in the order is the point. Events and synchronisation are made of it.
class Marker final : public Operation {
public:
    explicit Marker(std::shared_ptr<ErrorState> errors) : Operation(std::move(errors)) {}

protected:
    void start() noexcept override { finish(); }
};

/// Runs a function that does not block: a copy, a fill, bookkeeping.
class Task final : public Operation {
public:
    /// Where the function runs once it can.
    enum class Size : std::uint8_t {
        Quick,       // at once, on whichever thread finds out
        Large,       // on a worker
        Bookkeeping, // as Quick, and even when the context has failed
    };

    Task(std::shared_ptr<ErrorState> errors, std::function<void()> work, Size size,
         CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY)
        : Operation(std::move(errors)), work_(std::move(work)), size_(size), type_(type) {}

    [[nodiscard]] CUgraphNodeType node_type() const noexcept override { return type_; }

protected:
    void start() noexcept override;
    void skip() noexcept override;

    [[nodiscard]] bool uses_memory() const noexcept override { return size_ != Size::Bookkeeping; }

private:
    void run_and_finish() noexcept;

    std::function<void()> work_;
    Size size_;
    CUgraphNodeType type_;
};

/// Runs a user's function, which may block, on a thread kept for that.
class HostFunction final : public Operation {
public:
    /// `on_failure`, which may be empty, is called instead when the context has failed.
    HostFunction(std::shared_ptr<ErrorState> errors, std::function<void()> function,
                 std::function<void()> on_failure, CUgraphNodeType type = CU_GRAPH_NODE_TYPE_HOST)
        : Operation(std::move(errors)), function_(std::move(function)),
          on_failure_(std::move(on_failure)), type_(type) {}

    [[nodiscard]] CUgraphNodeType node_type() const noexcept override { return type_; }

protected:
    void start() noexcept override;
    void skip() noexcept override;

private:
    void run_and_finish(std::function<void()> function) noexcept;

    std::function<void()> function_;
    std::function<void()> on_failure_;
    CUgraphNodeType type_;
};

} // namespace cuprum::emulator
