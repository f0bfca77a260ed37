// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Who is inside the driver.
//
// A process that is locked for a checkpoint holds back new calls, and waits for those that are
// inside. Counting calls in one shared counter would cost every call two contended instructions.
// Instead each thread has a record of its own, which only it writes: a call costs two plain stores.
// The thread that locks the process closes the gate (Driver::hold_calls) and then orders all other
// threads with the system call membarrier. After that, a call either sees the closed gate or is
// seen here.

#pragma once

#include <atomic>
#include <cstdint>

namespace cuprum::emulator {

/// The calls that are inside the driver, of all threads.
class CallGate {
    /// What one thread says about itself. Records are reused and never freed.
    struct Record {
        std::atomic<std::uint32_t> depth{0}; // calls within calls; written by the thread alone
        std::atomic<bool> is_taken{false};   // by a thread that is alive
        Record* next = nullptr;

        void enter() noexcept {
            depth.store(depth.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
            // The gate must be looked at after this store, see order_threads().
            std::atomic_signal_fence(std::memory_order_seq_cst);
            if (is_fence_needed_.load(std::memory_order_relaxed)) [[unlikely]] {
                std::atomic_thread_fence(std::memory_order_seq_cst);
            }
        }

        void leave() noexcept {
            depth.store(depth.load(std::memory_order_relaxed) - 1, std::memory_order_release);
        }
    };

public:
    /// Says for its lifetime that the current thread is in a call. Calls can nest.
    class Pass {
    public:
        [[nodiscard]] Pass() noexcept : record_(here_ != nullptr ? *here_ : enlist()) {
            record_.enter();
        }

        ~Pass() { record_.leave(); }

        Pass(const Pass&) = delete;
        Pass& operator=(const Pass&) = delete;

    private:
        Record& record_;
    };

    /// Prepares the system call. Before the first Pass.
    static void prepare() noexcept;

    /// Returns whether the current thread is in a call within a call.
    [[nodiscard]] static bool is_nested() noexcept;

    /// Takes the current thread out of its call; come_back() undoes it. Between the two, the thread
    /// waits for the gate and touches nothing.
    static void step_out() noexcept;
    static void come_back() noexcept;

    /// Makes all other threads see that the gate was closed. Once, before is_empty().
    static void order_threads() noexcept;

    /// Returns whether no thread is inside.
    [[nodiscard]] static bool is_empty() noexcept;

private:
    struct Reaper;

    [[nodiscard]] static Record& enlist() noexcept;

    static thread_local constinit Record* here_;
    static std::atomic<Record*> first_;
    static std::atomic<bool> is_fence_needed_; // the system has no membarrier
};

} // namespace cuprum::emulator
