// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "exec/idle_workers.hpp"

#include <atomic>
#include <cstdint>

namespace cuprum::emulator::exec {

/// A mutex that is mostly held for a moment only.
///
/// Sleeping and being woken takes fifty times as long as what happens under the mutex. When a grid
/// ends, all workers want it at once, and std::mutex would let most of them sleep. So threads watch
/// it first: they only read, which does not slow down the one that holds it.
///
/// unlock() may look at the mutex after another thread has locked it, so that thread must not
/// destroy it.
class BriefMutex {
public:
    /// Sets whether threads watch the mutex before they sleep, or hardly so.
    void set_watched(bool is_watched) noexcept {
        looks_.store(is_watched ? LOOKS : FEW_LOOKS, std::memory_order_relaxed);
    }

    void lock() noexcept {
        for (int i = looks_.load(std::memory_order_relaxed); i != 0; --i) {
            if (try_lock()) {
                return;
            }
            relax();
        }
        // The one that holds it has probably lost its processor.
        while (state_.exchange(Contended, std::memory_order_acquire) != Free) {
            state_.wait(Contended, std::memory_order_relaxed);
        }
    }

    [[nodiscard]] bool try_lock() noexcept {
        std::uint32_t expected = Free;
        return state_.load(std::memory_order_relaxed) == Free &&
               state_.compare_exchange_strong(expected, Held, std::memory_order_acquire,
                                              std::memory_order_relaxed);
    }

    void unlock() noexcept {
        if (state_.exchange(Free, std::memory_order_release) == Contended) {
            state_.notify_one();
        }
    }

private:
    enum State : std::uint32_t { Free, Held, Contended };

    static constexpr int LOOKS = 500; // up to 20 microseconds, by the processor's pause
    static constexpr int FEW_LOOKS = 16;

    std::atomic<std::uint32_t> state_{Free};
    std::atomic<int> looks_{LOOKS};
};

} // namespace cuprum::emulator::exec
