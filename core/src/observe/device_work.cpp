// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "observe/device_work.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <string_view>
#include <utility>

namespace cuprum::trace {

namespace {

constexpr std::size_t MAX_ENQUEUED = 4096;    // then the oldest is waited for
constexpr int DEVICE_PROCESS = 1'000'000'000; // beyond every real process number
// The driver tells times between events as a float, which far away is no longer exact.
constexpr float MAX_DISTANCE_MS = 1000;

[[nodiscard]] std::int64_t nanoseconds(float milliseconds) {
    return static_cast<std::int64_t>(static_cast<double>(milliseconds) * 1e6);
}

/// Makes a context current for a scope, below the observers.
class Current {
public:
    explicit Current(CUcontext context)
        : is_pushed_(driver::unobserved_table().cuCtxPushCurrent(context) == CUDA_SUCCESS) {}

    ~Current() {
        if (CUcontext popped = nullptr; is_pushed_) {
            static_cast<void>(driver::unobserved_table().cuCtxPopCurrent(&popped));
        }
    }

    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;

private:
    bool is_pushed_;
};

/// Returns the argument of a call that has one.
template <typename T>
[[nodiscard]] T argument(const driver::Call& call) {
    return std::get<0>(*static_cast<const std::tuple<T>*>(call.arguments));
}

bool is_primary_active(CUdevice device) {
    unsigned flags = 0;
    int is_active = 0;
    return driver::unobserved_table().cuDevicePrimaryCtxGetState(device, &flags, &is_active) ==
               CUDA_SUCCESS &&
           is_active != 0;
}

/// Tells whether a context is its device's primary one.
bool is_primary(CUcontext context, CUdevice device) {
    driver::Table& table = driver::unobserved_table();
    CUcontext primary = nullptr;
    // NOTE: one that is not active would be made.
    if (!is_primary_active(device) ||
        table.cuDevicePrimaryCtxRetain(&primary, device) != CUDA_SUCCESS) {
        return false;
    }
    static_cast<void>(table.cuDevicePrimaryCtxRelease(device));
    return primary == context;
}

bool is_capturing(CUstream stream) {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    return driver::unobserved_table().cuStreamIsCapturing(stream, &status) != CUDA_SUCCESS ||
           status != CU_STREAM_CAPTURE_STATUS_NONE;
}

} // namespace

bool DeviceWork::is_work(const driver::Call& call) noexcept {
    const std::string_view name = call.name;
    return call.stream.has_value() &&
           (name.starts_with("cuLaunchKernel") || name.starts_with("cuLaunchCooperative") ||
            name.starts_with("cuGraphLaunch") ||
            ((name.starts_with("cuMemcpy") || name.starts_with("cuMemset")) &&
             name.find("Async") != std::string_view::npos));
}

void DeviceWork::begin(const driver::Call& call) noexcept {
    try {
        driver::Table& table = driver::unobserved_table();
        if (is_capturing(*call.stream)) {
            return;
        }
        const std::lock_guard lock(mutex_);
        write_finished(false);
        Clock* clock = clock_of(*call.stream);
        if (clock == nullptr) {
            return;
        }
        const Current current(clock->context);
        const char* category = call.kernel != nullptr ? "kernel" : "copy";
        Work work{clock,
                  lane_of(*clock, *call.stream),
                  *call.stream,
                  take_event(*clock),
                  take_event(*clock),
                  name_of(call),
                  category};
        if (work.begin != nullptr && work.end != nullptr &&
            table.cuEventRecord(work.begin, work.stream) == CUDA_SUCCESS) {
            begun_.insert_or_assign(thread_number(), std::move(work));
            return;
        }
        for (CUevent event : {work.begin, work.end}) {
            if (event != nullptr) {
                clock->spare.push_back(event);
            }
        }
    } catch (const std::exception&) { // NOLINT(bugprone-empty-catch)
        // Tracing must not change what the program does.
    }
}

void DeviceWork::end(const driver::Call& /*call*/, CUresult status) noexcept {
    try {
        const std::lock_guard lock(mutex_);
        const auto begun = begun_.find(thread_number());
        if (begun == begun_.end()) {
            return;
        }
        Work work = std::move(begun->second);
        begun_.erase(begun);
        if (status == CUDA_SUCCESS &&
            driver::unobserved_table().cuEventRecord(work.end, work.stream) == CUDA_SUCCESS) {
            enqueued_.push_back(std::move(work));
        } else {
            work.clock->spare.insert(work.clock->spare.end(), {work.begin, work.end});
        }
    } catch (const std::exception&) { // NOLINT(bugprone-empty-catch): as in begin()
    }
}

void DeviceWork::before_end_of_contexts(const driver::Call& call) noexcept {
    try {
        const std::string_view name = call.name;
        CUcontext context = nullptr;
        if (name == "cuCtxDestroy") {
            context = argument<CUcontext>(call);
        } else if (name == "cuGreenCtxDestroy") {
            static_cast<void>(
                driver::unobserved_table().cuCtxFromGreenCtx(&context, argument<CUgreenCtx>(call)));
        } else if (name == "cuDevicePrimaryCtxReset") {
            context = known_primary(argument<CUdevice>(call));
        }
        if (context == nullptr || !is_known(context)) {
            return;
        }
        {
            // Not under the lock: what is waited for may itself wait for other threads.
            const Current current(context);
            static_cast<void>(driver::unobserved_table().cuCtxSynchronize());
        }
        const std::lock_guard lock(mutex_);
        drop(context, true);
    } catch (const std::exception&) { // NOLINT(bugprone-empty-catch): as in begin()
    }
}

void DeviceWork::after_release_of_context(const driver::Call& call) noexcept {
    try {
        if (std::string_view(call.name) != "cuDevicePrimaryCtxRelease") {
            return;
        }
        const CUcontext context = known_primary(argument<CUdevice>(call));
        if (context != nullptr && !is_primary_active(argument<CUdevice>(call))) {
            const std::lock_guard lock(mutex_);
            drop(context, false);
        }
    } catch (const std::exception&) { // NOLINT(bugprone-empty-catch): as in begin()
    }
}

bool DeviceWork::is_known(CUcontext context) {
    const std::lock_guard lock(mutex_);
    return clocks_.contains(context);
}

/// Returns a device's primary context if work in it was met, else null.
CUcontext DeviceWork::known_primary(int device) {
    const std::lock_guard lock(mutex_);
    const auto place = std::ranges::find_if(clocks_, [&](const auto& known) {
        return known.second.is_primary && known.second.device == device;
    });
    return place == clocks_.end() ? nullptr : place->first;
}

/// Forgets a context; while it is there, its finished work is written and its events destroyed.
void DeviceWork::drop(CUcontext context, bool is_alive) {
    const auto place = clocks_.find(context);
    if (place == clocks_.end()) {
        return; // another thread was first
    }
    driver::Table& table = driver::unobserved_table();
    Clock& clock = place->second;
    std::deque<Work> others;
    for (Work& work : enqueued_) {
        if (work.clock != &clock) {
            others.push_back(std::move(work));
            continue;
        }
        if (is_alive && table.cuEventQuery(work.end) == CUDA_SUCCESS) {
            write(work);
        }
        clock.spare.insert(clock.spare.end(), {work.begin, work.end});
    }
    enqueued_ = std::move(others);
    std::erase_if(begun_, [&](const auto& begun) {
        const Work& work = begun.second;
        if (work.clock != &clock) {
            return false;
        }
        clock.spare.insert(clock.spare.end(), {work.begin, work.end});
        return true;
    });
    if (is_alive) {
        clock.spare.push_back(clock.origin);
        for (CUevent event : clock.spare) {
            static_cast<void>(table.cuEventDestroy(event));
        }
    }
    std::erase_if(lanes_, [&](const auto& lane) { return lane.second.context == context; });
    clocks_.erase(place);
}

void DeviceWork::finish() noexcept {
    try {
        const std::lock_guard lock(mutex_);
        write_finished(true);
        driver::Table& table = driver::unobserved_table();
        for (auto& [thread, work] : begun_) { // by threads that are in the driver at this moment
            work.clock->spare.insert(work.clock->spare.end(), {work.begin, work.end});
        }
        for (auto& [context, clock] : clocks_) {
            for (CUevent event : clock.spare) {
                static_cast<void>(table.cuEventDestroy(event));
            }
            static_cast<void>(table.cuEventDestroy(clock.origin));
        }
        clocks_.clear();
        lanes_.clear();
        begun_.clear();
    } catch (const std::exception&) { // NOLINT(bugprone-empty-catch): as in begin()
    }
}

/// Returns what is known of a stream's context; an origin is recorded in it when it is first met.
DeviceWork::Clock* DeviceWork::clock_of(CUstream stream) {
    driver::Table& table = driver::unobserved_table();
    CUcontext context = nullptr;
    if (table.cuStreamGetCtx(stream, &context) != CUDA_SUCCESS || context == nullptr) {
        return nullptr;
    }
    const auto [place, is_new] = clocks_.try_emplace(context);
    Clock& clock = place->second;
    if (is_new) {
        const Current current(context);
        CUdevice device = 0;
        clock.context = context;
        if (table.cuCtxGetDevice(&device) != CUDA_SUCCESS ||
            table.cuEventCreate(&clock.origin, CU_EVENT_DEFAULT) != CUDA_SUCCESS ||
            table.cuEventRecord(clock.origin, stream) != CUDA_SUCCESS ||
            table.cuEventSynchronize(clock.origin) != CUDA_SUCCESS) {
            if (clock.origin != nullptr) {
                static_cast<void>(table.cuEventDestroy(clock.origin));
            }
            clocks_.erase(place);
            return nullptr;
        }
        clock.origin_ns = now_ns();
        clock.device = device;
        clock.is_primary = is_primary(context, device);
        writer_.name_process(DEVICE_PROCESS + device, "device " + std::to_string(device));
    }
    return &clock;
}

/// Returns what is known of a stream. The default streams have one handle in all contexts, and the
/// one per thread has one in all threads.
DeviceWork::Lane* DeviceWork::lane_of(const Clock& clock, CUstream stream) {
    const bool is_of_thread = stream == CU_STREAM_PER_THREAD;
    const bool is_default = is_of_thread || stream == nullptr || stream == CU_STREAM_LEGACY;
    const int thread = is_of_thread ? thread_number() : 0;
    const auto [place, is_new] =
        lanes_.try_emplace({is_default ? clock.context : nullptr,
                            stream == CU_STREAM_LEGACY ? nullptr : stream, thread});
    Lane& lane = place->second;
    if (is_new) {
        // NOTE: not the handle, which does not fit into the 32 bits that viewers keep.
        lane.track = {DEVICE_PROCESS + clock.device, ++lane_count_};
        lane.context = clock.context;
        char name[40];
        std::snprintf(name, sizeof name, "stream 0x%llx",
                      static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(stream)));
        lane.name = is_of_thread ? "default stream of thread " + std::to_string(thread)
                    : is_default ? "default stream"
                                 : name;
    }
    return &lane;
}

CUevent DeviceWork::take_event(Clock& clock) {
    CUevent event = nullptr;
    if (clock.spare.empty()) {
        static_cast<void>(driver::unobserved_table().cuEventCreate(&event, CU_EVENT_DEFAULT));
    } else {
        event = clock.spare.back();
        clock.spare.pop_back();
    }
    return event;
}

std::string DeviceWork::name_of(const driver::Call& call) {
    const char* name = nullptr;
    // What is launched is a kernel, or a function of the older kind, which the driver tells apart.
    if (call.kernel != nullptr &&
        driver::unobserved_table().cuKernelGetName(
            &name, reinterpret_cast<CUkernel>(call.kernel)) == CUDA_SUCCESS &&
        name != nullptr) {
        return name;
    }
    return call.name;
}

/// Writes the work that is done, oldest first; waits for all of it if asked to.
void DeviceWork::write_finished(bool waits) {
    driver::Table& table = driver::unobserved_table();
    while (!enqueued_.empty()) {
        Work& oldest = enqueued_.front();
        const bool must_wait = waits || enqueued_.size() > MAX_ENQUEUED;
        const CUresult status =
            must_wait ? table.cuEventSynchronize(oldest.end) : table.cuEventQuery(oldest.end);
        if (status == CUDA_ERROR_NOT_READY) {
            return;
        }
        if (status == CUDA_SUCCESS) {
            write(oldest);
        }
        oldest.clock->spare.insert(oldest.clock->spare.end(), {oldest.begin, oldest.end});
        enqueued_.pop_front();
    }
}

void DeviceWork::write(Work& work) {
    driver::Table& table = driver::unobserved_table();
    float begin_ms = 0;
    float length_ms = 0;
    if (table.cuEventElapsedTime(&begin_ms, work.clock->origin, work.begin) != CUDA_SUCCESS ||
        table.cuEventElapsedTime(&length_ms, work.begin, work.end) != CUDA_SUCCESS) {
        return;
    }
    Lane& lane = *work.lane;
    writer_.name_track(lane.track, lane.name);
    const std::int64_t measured = work.clock->origin_ns + nanoseconds(begin_ms);
    // The driver rounds times, so that work may seem to begin before that in front of it ended.
    const std::int64_t begin = std::max(measured, lane.last_end_ns);
    lane.last_end_ns = std::max(begin, measured + nanoseconds(length_ms));
    writer_.write(lane.track, work.category, work.name, begin, lane.last_end_ns, {});
    if (begin_ms > MAX_DISTANCE_MS) {
        // The event goes on as the origin, the origin as a spare event.
        std::swap(work.clock->origin, work.begin);
        work.clock->origin_ns = measured;
    }
}

} // namespace cuprum::trace
