// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/memory/memory_gate.hpp"

#include "objects/process/error.hpp"

#include <thread>

namespace cuprum::emulator {

MemoryGate& MemoryGate::instance() {
    static auto* gate = new MemoryGate;
    return *gate;
}

bool MemoryGate::enter(const std::shared_ptr<Operation>& operation) {
    // Count first, then look, both sequentially consistent: the thread that closes the gate either
    // sees the count, or is seen here.
    inside_.fetch_add(1);
    if (!is_closed_.load()) [[likely]] {
        return true;
    }
    const std::lock_guard lock(mutex_);
    if (!is_closed_.load()) {
        return true;
    }
    inside_.fetch_sub(1);
    waiting_.push_back(operation);
    return false;
}

void MemoryGate::run_alone(const std::function<void()>& work, std::chrono::milliseconds longest) {
    const std::lock_guard lock(closing_mutex_);
    const auto deadline = std::chrono::steady_clock::now() + longest;
    is_closed_.store(true);
    while (inside_.load() != 0) {
        if (std::chrono::steady_clock::now() > deadline) {
            open();
            fail(CUDA_ERROR_NOT_READY, "a kernel is still running; share memory before you "
                                       "launch it");
        }
        std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    try {
        work();
    } catch (...) {
        open();
        throw;
    }
    open();
}

void MemoryGate::open() {
    std::vector<std::shared_ptr<Operation>> waiting;
    {
        const std::lock_guard lock(mutex_);
        is_closed_.store(false);
        waiting.swap(waiting_);
    }
    for (const auto& operation : waiting) {
        inside_.fetch_add(1);
        operation->run();
    }
}

} // namespace cuprum::emulator
