// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/process/waits.hpp"

#include "exec/engine.hpp"
#include "exec/watchdog.hpp"
#include "objects/process/error.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <system_error>
#include <thread>

namespace cuprum::emulator {

Waits& Waits::instance() {
    static auto* waits = new Waits;
    return *waits;
}

void Waits::start_thread() {
    const std::lock_guard lock(mutex_);
    if (has_thread_) {
        return;
    }
    try {
        std::thread([this] { serve(); }).detach();
    } catch (const std::system_error& error) {
        fail(CUDA_ERROR_OPERATING_SYSTEM,
             std::string("the system refused a thread that waits: ") + error.what());
    }
    has_thread_ = true;
}

void Waits::add(std::function<bool()> is_over, std::function<void()> done) {
    if (is_over()) {
        done();
        return;
    }
    // What ends the wait may come from the program, like a host function.
    exec::Engine::instance().watchdog().add_host_function(1);
    const std::lock_guard lock(mutex_);
    added_.push_back({std::move(is_over), std::move(done)});
    wake_.notify_one();
}

void Waits::serve() noexcept {
    constexpr auto shortest_nap = std::chrono::microseconds(1);
    constexpr auto longest_nap = std::chrono::microseconds(200);
    auto nap = shortest_nap;
    std::vector<Wait> pending;
    std::vector<Wait> over;
    for (;;) {
        {
            std::unique_lock lock(mutex_);
            if (pending.empty()) {
                wake_.wait(lock, [&] { return !added_.empty(); });
            } else {
                wake_.wait_for(lock, nap, [&] { return !added_.empty(); });
            }
            nap = added_.empty() ? std::min(nap * 2, longest_nap) : shortest_nap;
            std::ranges::move(added_, std::back_inserter(pending));
            added_.clear();
        }
        // In the order in which they were added: a semaphore that counts goes to the first.
        std::erase_if(pending, [&](Wait& wait) {
            if (!wait.is_over()) {
                return false;
            }
            over.push_back(std::move(wait));
            return true;
        });
        for (const Wait& wait : over) {
            exec::Engine::instance().watchdog().add_host_function(-1);
            wait.done();
            nap = shortest_nap;
        }
        over.clear();
    }
}

} // namespace cuprum::emulator
