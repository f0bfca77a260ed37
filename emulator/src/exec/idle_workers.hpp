// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace cuprum::emulator::exec {

/// Where idle workers wait until they are called.
///
/// Every worker waits on a cache line of its own: first it watches the line, then it sleeps. A call
/// writes only to the lines of the workers it needs, so the others notice nothing. Sleeping workers
/// are woken all at once. The worker that became idle last is called first, because its caches are
/// warm and it is the least likely to sleep.
///
/// A small piece of work may be left to the worker that became idle last, without a call: a *note*
/// on another line of that worker, which it looks at about once a microsecond. Until then, a thread
/// that needs the work can take it back and do it itself (helping.cpp).
///
/// The functions that say so need the mutex of the queues. A worker that finds the queues empty
/// enters under the same mutex, so no call is lost.
class IdleWorkers {
public:
    /// What `until` is if a worker waits only for a call.
    static constexpr std::uint64_t FOREVER = ~std::uint64_t{0};

    /// Sets the number of workers. Only while no worker runs.
    void resize(std::uint32_t count);

    /// Returns how many workers are idle. Needs no mutex; the answer may be outdated at once.
    [[nodiscard]] std::uint32_t count() const noexcept {
        return count_.load(std::memory_order_relaxed);
    }

    /// Marks a worker as idle. Needs the mutex. The worker calls wait() next, without the mutex.
    void enter(std::uint32_t worker);

    /// Waits until the worker is called, or until a time of now_ns(). Watches for `spin_ns` before
    /// it sleeps. Returns whether it was called; if not, the worker calls leave(). It is not called
    /// if the time is up, or if it finds a note that has been there for a moment.
    [[nodiscard]] bool wait(std::uint32_t worker, std::uint64_t spin_ns, std::uint64_t until_ns);

    /// Takes back enter() after a wait that ended without a call. Needs the mutex.
    void leave(std::uint32_t worker);

    /// Calls up to `count` idle workers. Needs the mutex. Pass the result to wake() after the mutex
    /// has been released. A worker sees what `prepare(worker)` has written for it.
    template <typename Prepare>
    [[nodiscard]] std::uint32_t call(std::uint64_t count, const Prepare& prepare) {
        std::uint32_t sleepers = 0;
        for (; count != 0 && !idle_.empty(); --count) {
            prepare(idle_.back());
            sleepers |= call_last();
        }
        count_.store(static_cast<std::uint32_t>(idle_.size()), std::memory_order_relaxed);
        return sleepers;
    }

    [[nodiscard]] std::uint32_t call(std::uint64_t count) {
        return call(count, [](std::uint32_t) {});
    }

    /// Wakes the called workers that sleep.
    void wake(std::uint32_t sleepers) noexcept;

    /// Leaves a note to the worker that became idle last. Needs the mutex, and that there is no
    /// note yet. Returns false, and does nothing, unless that worker watches.
    [[nodiscard]] bool leave_note() noexcept;

    /// Takes the note back. Needs the mutex. The worker may have seen it already.
    void take_note() noexcept;

private:
    enum State : std::uint32_t { Busy, Watching, Asleep, Called };

    [[nodiscard]] std::uint32_t call_last();

    struct alignas(64) Line {
        std::atomic<std::uint32_t> state{Busy};
        // Counts notes that are left and taken back, so it is odd while there is one.
        alignas(64) std::atomic<std::uint32_t> notes{0};
    };

    std::unique_ptr<Line[]> lines_;
    std::vector<std::uint32_t> idle_; // the last one is called first
    std::uint32_t noted_ = 0;         // the worker that has the note
    alignas(64) std::atomic<std::uint32_t> count_{0};
    // Sleepers wait until this changes. Each is one of 32 groups that can be woken separately.
    alignas(64) std::atomic<std::uint32_t> calls_{0};
};

/// Tells the processor that this thread only waits for another one.
inline void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

} // namespace cuprum::emulator::exec
