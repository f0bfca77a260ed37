// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "exec/idle_workers.hpp"

#include "interp/clock.hpp"

#include <unistd.h>

#include <algorithm>
#include <climits>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <thread>

namespace cuprum::emulator::exec {

namespace {

/// How often a watching worker looks at its line before it reads the clock.
constexpr int LOOKS_PER_CLOCK = 16;

/// The group of sleepers that a worker belongs to.
std::uint32_t group_of(std::uint32_t worker) {
    return 1u << worker % 32;
}

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* until, std::uint32_t groups) noexcept {
    return ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word),
                     operation | FUTEX_PRIVATE_FLAG, value, until, nullptr, groups);
}

} // namespace

void IdleWorkers::resize(std::uint32_t count) {
    lines_ = std::make_unique<Line[]>(count);
    idle_.reserve(count);
}

void IdleWorkers::enter(std::uint32_t worker) {
    lines_[worker].state.store(Watching, std::memory_order_relaxed);
    idle_.push_back(worker);
    count_.store(static_cast<std::uint32_t>(idle_.size()), std::memory_order_relaxed);
}

bool IdleWorkers::wait(std::uint32_t worker, std::uint64_t spin_ns, std::uint64_t until_ns) {
    std::atomic<std::uint32_t>& state = lines_[worker].state;
    const auto is_called = [&] { return state.load(std::memory_order_acquire) == Called; };
    for (const std::uint64_t begin = now_ns(), end = std::min(begin + spin_ns, until_ns);;) {
        for (int i = 0; i < LOOKS_PER_CLOCK; ++i) {
            if (is_called()) {
                return true;
            }
            relax();
        }
        if (now_ns() >= end) {
            break;
        }
        std::this_thread::yield(); // the one who will call may need this processor
    }
    std::uint32_t expected = Watching;
    if (!state.compare_exchange_strong(expected, Asleep, std::memory_order_acq_rel)) {
        return true; // called just now
    }
    timespec until{};
    until.tv_sec = static_cast<time_t>(until_ns / 1'000'000'000);
    until.tv_nsec = static_cast<long>(until_ns % 1'000'000'000);
    for (;;) {
        const std::uint32_t seen = calls_.load(std::memory_order_acquire);
        if (is_called()) {
            return true;
        }
        if (until_ns != FOREVER && now_ns() >= until_ns) {
            return false;
        }
        (void)futex(calls_, FUTEX_WAIT_BITSET, seen, until_ns == FOREVER ? nullptr : &until,
                    group_of(worker));
    }
}

void IdleWorkers::leave(std::uint32_t worker) {
    if (std::erase(idle_, worker) != 0) { // not called since wait() returned
        count_.store(static_cast<std::uint32_t>(idle_.size()), std::memory_order_relaxed);
    }
}

std::uint32_t IdleWorkers::call(std::uint64_t count) {
    std::uint32_t sleepers = 0;
    if (count == 0 || idle_.empty()) {
        return sleepers;
    }
    for (; count != 0 && !idle_.empty(); --count) {
        const std::uint32_t worker = idle_.back();
        idle_.pop_back();
        if (lines_[worker].state.exchange(Called, std::memory_order_acq_rel) == Asleep) {
            sleepers |= group_of(worker);
        }
    }
    count_.store(static_cast<std::uint32_t>(idle_.size()), std::memory_order_relaxed);
    return sleepers;
}

void IdleWorkers::wake(std::uint32_t sleepers) noexcept {
    if (sleepers != 0) {
        calls_.fetch_add(1, std::memory_order_release);
        (void)futex(calls_, FUTEX_WAKE_BITSET, INT_MAX, nullptr, sleepers);
    }
}

} // namespace cuprum::emulator::exec
