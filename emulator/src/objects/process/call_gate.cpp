// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/process/call_gate.hpp"

#include <unistd.h>

#include <linux/membarrier.h>
#include <sys/syscall.h>

namespace cuprum::emulator {

thread_local constinit CallGate::Record* CallGate::here_ = nullptr;
constinit std::atomic<CallGate::Record*> CallGate::first_{nullptr};
constinit std::atomic<bool> CallGate::is_fence_needed_{false};

namespace {

long membarrier(int command) noexcept {
    return ::syscall(SYS_membarrier, command, 0, 0);
}

} // namespace

/// Gives the record of a thread back when the thread ends.
struct CallGate::Reaper {
    bool is_armed = false;

    ~Reaper() {
        if (here_ != nullptr) {
            here_->is_taken.store(false, std::memory_order_release);
            here_ = nullptr; // a destructor that runs later takes a record and keeps it
        }
    }
};

void CallGate::prepare() noexcept {
    if (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) != 0) {
        is_fence_needed_.store(true);
    }
}

bool CallGate::is_nested() noexcept {
    return here_ != nullptr && here_->depth.load(std::memory_order_relaxed) > 1;
}

void CallGate::step_out() noexcept {
    here_->leave();
}

void CallGate::come_back() noexcept {
    here_->enter();
}

void CallGate::order_threads() noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (!is_fence_needed_.load(std::memory_order_relaxed)) {
        (void)membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
    }
}

bool CallGate::is_empty() noexcept {
    for (const Record* each = first_.load(std::memory_order_acquire); each != nullptr;
         each = each->next) {
        if (each->depth.load(std::memory_order_acquire) != 0) {
            return false;
        }
    }
    return true;
}

CallGate::Record& CallGate::enlist() noexcept {
    Record* found = first_.load(std::memory_order_acquire);
    bool expected = false;
    while (found != nullptr &&
           !found->is_taken.compare_exchange_strong(expected, true, std::memory_order_acq_rel)) {
        expected = false;
        found = found->next;
    }
    if (found == nullptr) {
        found = new Record;
        found->is_taken.store(true, std::memory_order_relaxed);
        found->next = first_.load(std::memory_order_relaxed);
        while (!first_.compare_exchange_weak(found->next, found)) {
        }
    }
    here_ = found;
    static thread_local constinit bool was_reaper_used = false;
    if (!was_reaper_used) {
        was_reaper_used = true;
        static thread_local Reaper reaper;
        reaper.is_armed = true; // touching it registers its destructor with the thread
    }
    return *found;
}

} // namespace cuprum::emulator
