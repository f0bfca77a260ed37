// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// When kernels, copies and fills ran: an event before and after each, on its stream.
//
// Tracing must not change what a program does. A stream may wait for something that the host does
// next, so no call here waits for the user's work while it holds the lock, and begin() and end()
// wait for no work at all. Events are read once the driver reports them done. The time base of each
// context comes from a stream of our own.

#pragma once

#include "driver/observe.hpp"
#include "observe/writer.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace cuprum::trace {

/// Times the work that driver calls enqueue and writes it to the trace.
class DeviceWork {
public:
    using Duration = std::chrono::steady_clock::duration;

    explicit DeviceWork(Writer& writer) : writer_(writer) {}

    /// Returns whether a call enqueues work that takes time on the device.
    [[nodiscard]] static bool is_work(const driver::Call& call) noexcept;

    /// Accepts work from now on.
    void start() noexcept;

    /// Records the event before the work. Leaves out work that cannot be timed. Never waits for
    /// work on the device.
    void begin(const driver::Call& call) noexcept;

    /// Records the event after the work, or forgets the work if the call failed.
    void end(const driver::Call& call, CUresult status) noexcept;

    /// Writes the work of a context that a call is about to destroy, and forgets the context. Does
    /// nothing for other calls.
    void before_end_of_contexts(const driver::Call& call) noexcept;

    /// Forgets a primary context that a call destroyed by releasing it for the last time. Does
    /// nothing for other calls.
    void after_release_of_context(const driver::Call& call) noexcept;

    /// Accepts no more work, waits for the rest without holding the lock, and writes it. With a
    /// limit it gives up when no work has finished for so long.
    /// @returns the number of kernels, copies and fills that the trace lacks.
    std::size_t finish(std::optional<Duration> limit) noexcept;

private:
    /// The time base of a context, and events to use again.
    struct Clock {
        CUcontext context = nullptr;
        int device = 0;
        bool is_primary = false;
        CUstream stream = nullptr; // our own: nothing of the user's runs there
        CUevent origin = nullptr;
        std::int64_t origin_ns = 0;
        std::vector<CUevent> spare;
        bool is_alive = true; // the context exists

        Clock() = default;
        Clock(const Clock&) = delete;
        Clock& operator=(const Clock&) = delete;
        ~Clock();
    };

    struct Work {
        std::shared_ptr<Clock> clock;
        CUstream stream = nullptr;
        CUevent begin = nullptr;
        CUevent end = nullptr;
        std::string name;
        std::string details; // JSON members
        const char* category = "";
    };

    /// The line of a stream in the trace, its unfinished work, and when its last work ended.
    struct Lane {
        CUcontext context = nullptr;
        Track track;
        std::string name;
        std::int64_t last_end_ns = 0;
        std::deque<Work> enqueued; // oldest first
    };

    struct Begun {
        std::shared_ptr<Lane> lane;
        Work work;
    };

    [[nodiscard]] std::shared_ptr<Clock> clock_of(CUstream stream);
    [[nodiscard]] static std::shared_ptr<Clock> make_clock(CUcontext context, CUstream stream);
    [[nodiscard]] std::shared_ptr<Lane> lane_of(const Clock& clock, CUstream stream);
    static CUevent take_event(Clock& clock);
    static void give_back(Work& work);
    static void describe(const driver::Call& call, Work& work);
    [[nodiscard]] static std::string name_of(const driver::Call& call);
    [[nodiscard]] bool is_known(CUcontext context);
    [[nodiscard]] CUcontext known_primary(int device);
    void drop(CUcontext context, bool is_alive);
    void wait_for_work(CUcontext context, std::optional<Duration> limit);
    std::size_t write_finished(CUcontext context);
    std::size_t write_finished(Lane& lane);
    void write(Lane& lane, Work& work);

    Writer& writer_;
    std::mutex mutex_; // NOTE: do not wait for work on a device while holding it
    bool is_on_ = false;
    std::map<CUcontext, std::shared_ptr<Clock>> clocks_;
    std::map<std::tuple<CUcontext, CUstream, int>, std::shared_ptr<Lane>> lanes_;
    std::map<int, Begun> begun_;      // by thread: between begin() and end()
    std::size_t enqueued_count_ = 0;  // in all lanes
    std::size_t left_out_count_ = 0;  // since start()
    unsigned begins_until_sweep_ = 0; // see begin()
    long long lane_count_ = 0;        // of all that ever were: numbers are not used again
};

} // namespace cuprum::trace
