// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "driver/observe.hpp"
#include "observe/writer.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace cuprum::trace {

/// Finds out when kernels, copies and fills ran: an event before and after each, on its stream.
class DeviceWork {
public:
    explicit DeviceWork(Writer& writer) : writer_(writer) {}

    /// Tells whether a call enqueues work that takes time on the device.
    [[nodiscard]] static bool is_work(const driver::Call& call) noexcept;

    /// Records the event before the work. Never fails: work that cannot be timed is left out.
    void begin(const driver::Call& call) noexcept;

    /// Records the event after the work, or forgets about it if the call failed.
    void end(const driver::Call& call, CUresult status) noexcept;

    /// Writes the work of contexts that a call is about to destroy, and drops what is known of
    /// them. Does nothing for other calls.
    void before_end_of_contexts(const driver::Call& call) noexcept;

    /// Drops what is known of a primary context that a call destroyed by giving it up for the last
    /// time. Does nothing for other calls.
    void after_release_of_context(const driver::Call& call) noexcept;

    /// Waits for all work and writes it.
    void finish() noexcept;

private:
    /// What is known of a context: how its clock relates to ours, and events to use again.
    struct Clock {
        CUcontext context = nullptr;
        int device = 0;
        bool is_primary = false;
        CUevent origin = nullptr;
        std::int64_t origin_ns = 0;
        std::vector<CUevent> spare;
    };

    /// What is known of a stream: its line in the trace, and when its last work ended.
    struct Lane {
        CUcontext context = nullptr;
        Track track;
        std::string name;
        std::int64_t last_end_ns = 0;
    };

    struct Work {
        Clock* clock;
        Lane* lane;
        CUstream stream;
        CUevent begin;
        CUevent end;
        std::string name;
        const char* category;
    };

    Clock* clock_of(CUstream stream);
    Lane* lane_of(const Clock& clock, CUstream stream);
    static CUevent take_event(Clock& clock);
    static std::string name_of(const driver::Call& call);
    [[nodiscard]] bool is_known(CUcontext context);
    [[nodiscard]] CUcontext known_primary(int device);
    void drop(CUcontext context, bool is_alive);
    void write_finished(bool waits);
    void write(Work& work);

    Writer& writer_;
    std::mutex mutex_;
    std::map<CUcontext, Clock> clocks_;
    std::map<std::tuple<CUcontext, CUstream, int>, Lane> lanes_;
    std::map<int, Work> begun_; // by thread: between begin() and end()
    std::deque<Work> enqueued_;
    long long lane_count_ = 0; // of all that ever were: numbers are not used again
};

} // namespace cuprum::trace
