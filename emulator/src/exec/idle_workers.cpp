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

bool is_note(std::uint32_t notes) {
    return notes % 2 != 0;
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
    std::atomic<std::uint32_t>& notes = lines_[worker].notes;
    const auto is_called = [&] { return state.load(std::memory_order_acquire) == Called; };
    std::uint32_t last = notes.load(std::memory_order_relaxed);
    std::uint32_t at_begin = last;
    for (std::uint64_t end = std::min(now_ns() + spin_ns, until_ns);;) {
        for (int i = 0; i < LOOKS_PER_CLOCK; ++i) {
            if (is_called()) {
                return true;
            }
            relax();
        }
        const std::uint32_t seen = notes.load(std::memory_order_relaxed);
        if (is_note(seen) && seen == last) {
            return false; // nobody has taken it back since the last look
        }
        last = seen;
        if (const std::uint64_t now = now_ns(); now >= end) {
            if (seen == at_begin || now >= until_ns) {
                break;
            }
            at_begin = seen; // work keeps coming: somebody should watch
            end = std::min(now + spin_ns, until_ns);
        }
        std::this_thread::yield(); // the one who will call may need this processor
    }
    std::uint32_t expected = Watching;
    if (!state.compare_exchange_strong(expected, Asleep)) {
        return true; // called just now
    }
    // Fall asleep first, then look, both sequentially consistent: either the thread that leaves a
    // note sees that this worker sleeps, or its note is seen here.
    if (is_note(notes.load())) {
        return false;
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

/// Calls the worker that became idle last. Returns its group if it sleeps.
std::uint32_t IdleWorkers::call_last() {
    const std::uint32_t worker = idle_.back();
    idle_.pop_back();
    const bool is_asleep =
        lines_[worker].state.exchange(Called, std::memory_order_acq_rel) == Asleep;
    return is_asleep ? group_of(worker) : 0;
}

void IdleWorkers::wake(std::uint32_t sleepers) noexcept {
    if (sleepers != 0) {
        calls_.fetch_add(1, std::memory_order_release);
        (void)futex(calls_, FUTEX_WAKE_BITSET, INT_MAX, nullptr, sleepers);
    }
}

bool IdleWorkers::leave_note() noexcept {
    if (idle_.empty()) {
        return false;
    }
    noted_ = idle_.back();
    Line& line = lines_[noted_];
    line.notes.store(line.notes.load(std::memory_order_relaxed) + 1);
    if (line.state.load() == Watching) {
        return true;
    }
    take_note();
    return false;
}

void IdleWorkers::take_note() noexcept {
    std::atomic<std::uint32_t>& notes = lines_[noted_].notes;
    notes.store(notes.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

} // namespace cuprum::emulator::exec
