// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "exec/watchdog.hpp"

#include "exec/block.hpp"
#include "interp/probe.hpp"

#include <fstream>
#include <string>

namespace cuprum::emulator::exec {

namespace {

/// A host that asks at least this often counts as waiting.
constexpr std::chrono::seconds POLL_TIME{2};
/// How often a block is looked at before its new states count as progress, and before it is ended.
/// This many looks are needed however much time has passed, because the process may have been
/// stopped meanwhile.
constexpr std::uint32_t LEARNING_LOOKS = 32;
constexpr std::uint32_t NEEDED_LOOKS = 64;

/// Returns whether a debugger is attached to this process.
bool is_debugged() {
    std::ifstream file("/proc/self/status");
    constexpr std::string_view key = "TracerPid:";
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with(key)) {
            return line.find_first_of("123456789", key.size()) != line.npos;
        }
    }
    return false;
}

} // namespace

void Watchdog::configure(const WatchdogSettings& settings) noexcept {
    seconds_ = settings.seconds;
    is_strict_ = settings.is_strict;
    restart(Clock::now());
}

WatchdogSettings Watchdog::settings() const noexcept {
    return {seconds_.load(std::memory_order_relaxed), is_strict_.load(std::memory_order_relaxed)};
}

void Watchdog::note_poll() noexcept {
    polled_at_.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
}

std::chrono::seconds Watchdog::hung_for(Block& block, Clock::time_point now) {
    constexpr std::chrono::seconds not_hung{0};
    const std::uint32_t seconds = seconds_.load(std::memory_order_relaxed);
    if (seconds == 0) {
        return not_hung;
    }
    const bool is_strict = is_strict_.load(std::memory_order_relaxed);
    if (has_anything_moved() || (!is_strict && may_host_act(now))) {
        restart(now);
        block.end_probe();
        return not_hung;
    }
    std::chrono::seconds limit(seconds);
    if (!is_strict && host_memories_.load(std::memory_order_relaxed) > 0) {
        limit *= HOST_MEMORY_FACTOR;
    }
    const Clock::duration quiet =
        now.time_since_epoch() - Clock::duration(moved_at_.load(std::memory_order_relaxed));
    if (quiet > limit && is_debugged()) {
        restart(now);
        block.end_probe();
        return not_hung;
    }
    if (is_strict) {
        return quiet > limit ? limit : not_hung;
    }
    if (quiet < limit / 2) {
        block.end_probe();
        return not_hung;
    }
    Probe& probe = block.begin_probe();
    block.observe();
    if (probe.has_moved()) {
        restart(now);
        block.end_probe();
        return not_hung;
    }
    if (probe.is_learning() && quiet > limit * 5 / 8 && probe.look_count() >= LEARNING_LOOKS) {
        probe.end_learning();
    }
    const bool is_hung =
        quiet > limit && !probe.is_learning() && probe.look_count() >= NEEDED_LOOKS;
    return is_hung ? limit : not_hung;
}

/// Returns whether a block has finished, a task has run or a kernel was launched since the last
/// time that this was true.
bool Watchdog::has_anything_moved() noexcept {
    std::uint64_t sum = launches_.load(std::memory_order_relaxed);
    for (const Tally& tally : tallies_) {
        sum += tally.count.load(std::memory_order_relaxed);
    }
    if (seen_.load(std::memory_order_relaxed) == sum) {
        return false;
    }
    seen_.store(sum, std::memory_order_relaxed);
    return true;
}

/// Returns whether the host may still do what a kernel waits for.
bool Watchdog::may_host_act(Clock::time_point now) const noexcept {
    if (host_functions_.load(std::memory_order_relaxed) > 0) {
        return true;
    }
    const Clock::duration polled(polled_at_.load(std::memory_order_relaxed));
    return waiting_hosts_.load(std::memory_order_relaxed) <= 0 &&
           now.time_since_epoch() - polled > POLL_TIME;
}

void Watchdog::restart(Clock::time_point now) noexcept {
    moved_at_.store(now.time_since_epoch().count(), std::memory_order_relaxed);
}

} // namespace cuprum::emulator::exec
