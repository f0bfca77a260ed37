// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "observe/device_work.hpp"

#include "driver/capture.hpp"
#include "driver/current.hpp"
#include "driver/hooks.hpp"
#include "support/locks.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string_view>
#include <thread>
#include <utility>

namespace cuprum::trace {

namespace {

using Time = std::chrono::steady_clock;
using namespace std::chrono_literals;
using cuprum::detail::QuietLock;

constexpr std::size_t MAX_ENQUEUED = 65536; // more is left out of the trace
constexpr unsigned BEGINS_PER_SWEEP = 64;
constexpr std::size_t MAX_NODES_SHOWN = 100; // of one launch of a graph
constexpr auto MAX_ORIGIN_WAIT = 100ms;      // on our own stream, which other streams can hold up
constexpr auto MAX_CONTEXT_WAIT = 5s;        // for the work of a context that is being destroyed
constexpr auto POLL_INTERVAL = 200us;
constexpr int DEVICE_PROCESS = 1'000'000'000; // beyond every real process number
// The driver reports times between events as a float, which loses precision over long distances.
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

bool is_graph_launch(const driver::Call& call) {
    return std::string_view(call.name).starts_with("cuGraphLaunch");
}

bool is_primary_active(CUdevice device) {
    unsigned flags = 0;
    int is_active = 0;
    return driver::unobserved_table().cuDevicePrimaryCtxGetState(device, &flags, &is_active) ==
               CUDA_SUCCESS &&
           is_active != 0;
}

/// Returns whether a context is its device's primary one.
bool is_primary(CUcontext context, CUdevice device) {
    driver::Table& table = driver::unobserved_table();
    CUcontext primary = nullptr;
    // NOTE: retaining an inactive one would create it.
    if (!is_primary_active(device) ||
        table.cuDevicePrimaryCtxRetain(&primary, device) != CUDA_SUCCESS) {
        return false;
    }
    static_cast<void>(table.cuDevicePrimaryCtxRelease(device));
    return primary == context;
}

bool is_capturing(CUstream stream) {
    const driver::CaptureQuery answer = driver::query_capture(stream, driver::unobserved_table());
    return answer.status != CUDA_SUCCESS || answer.is_capturing();
}

/// Allows calls that would invalidate a stream capture of this thread, below the observers: our
/// events have nothing to do with what is captured.
class RelaxedCapture {
public:
    RelaxedCapture() { exchange(); }

    ~RelaxedCapture() { exchange(); }

    RelaxedCapture(const RelaxedCapture&) = delete;
    RelaxedCapture& operator=(const RelaxedCapture&) = delete;

private:
    void exchange() {
        static_cast<void>(driver::unobserved_table().cuThreadExchangeStreamCaptureMode(&mode_));
    }

    CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

/// Creates a stream that neither waits for the default stream nor holds it up, in the context of
/// `like`, which must be current. Returns null if the driver refuses.
CUstream create_stream(CUstream like) {
    driver::Table& table = driver::unobserved_table();
    CUstream stream = nullptr;
    CUgreenCtx green = nullptr;
    // A green context takes streams of its own kind only; drivers without them have no such query.
    if (table.cuStreamGetGreenCtx(like, &green) == CUDA_SUCCESS && green != nullptr) {
        static_cast<void>(table.cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
        return stream;
    }
    static_cast<void>(table.cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0));
    return stream;
}

/// Records an event on our own stream, waits for it for a limited time, and returns the host's
/// time of it; nothing if it did not finish in time.
std::optional<std::int64_t> record_origin(CUevent origin, CUstream stream) {
    driver::Table& table = driver::unobserved_table();
    if (table.cuEventRecord(origin, stream) != CUDA_SUCCESS) {
        return std::nullopt;
    }
    const Time::time_point deadline = Time::now() + MAX_ORIGIN_WAIT;
    CUresult status = CUDA_ERROR_NOT_READY;
    while (status == CUDA_ERROR_NOT_READY && Time::now() < deadline) {
        status = table.cuEventQuery(origin);
    }
    return status == CUDA_SUCCESS ? std::optional(now_ns()) : std::nullopt;
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

void DeviceWork::start() noexcept {
    const QuietLock lock(mutex_);
    is_on_ = true;
    left_out_count_ = 0;
}

void DeviceWork::begin(const driver::Call& call) noexcept {
    try {
        if (is_capturing(*call.stream)) {
            return;
        }
        const RelaxedCapture relaxed;
        const std::shared_ptr<Clock> clock = clock_of(*call.stream);
        if (clock == nullptr) {
            return;
        }
        const Current current(clock->context);
        Begun begun;
        Work& work = begun.work;
        work.clock = clock;
        work.stream = *call.stream;
        describe(call, work);
        {
            const QuietLock lock(mutex_);
            if (!is_on_ || !clock->is_alive) {
                return;
            }
            begun.lane = lane_of(*clock, *call.stream);
            write_finished(*begun.lane);
            if (begins_until_sweep_-- == 0) { // streams that get no more work have some to write
                begins_until_sweep_ = BEGINS_PER_SWEEP;
                write_finished(nullptr);
            }
            if (enqueued_count_ >= MAX_ENQUEUED) {
                ++left_out_count_;
                return;
            }
            work.begin = take_event(*clock);
            work.end = take_event(*clock);
        }
        // Not under the lock: recording waits when the driver's queue of a stream is full.
        const bool is_recorded =
            work.begin != nullptr && work.end != nullptr &&
            driver::unobserved_table().cuEventRecord(work.begin, work.stream) == CUDA_SUCCESS;
        const QuietLock lock(mutex_);
        if (is_recorded) {
            begun_.insert_or_assign(thread_number(), std::move(begun));
        } else {
            give_back(work);
        }
    } catch (const std::exception&) { // NOLINT(bugprone-empty-catch)
        // Tracing must not change what the program does.
    }
}

void DeviceWork::end(const driver::Call& /*call*/, CUresult status) noexcept {
    try {
        Begun begun;
        {
            const QuietLock lock(mutex_);
            const auto found = begun_.find(thread_number());
            if (found == begun_.end()) {
                return;
            }
            begun = std::move(found->second);
            begun_.erase(found);
        }
        const bool is_recorded =
            status == CUDA_SUCCESS && driver::unobserved_table().cuEventRecord(
                                          begun.work.end, begun.work.stream) == CUDA_SUCCESS;
        const QuietLock lock(mutex_);
        if (is_recorded && is_on_ && begun.work.clock->is_alive) {
            begun.lane->enqueued.push_back(std::move(begun.work));
            ++enqueued_count_;
        } else {
            give_back(begun.work);
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
        } else if (name == "cuDevicePrimaryCtxRelease") {
            // It may be the last release. No waiting: the context usually stays.
            if (CUcontext const primary = known_primary(argument<CUdevice>(call))) {
                const RelaxedCapture relaxed;
                const QuietLock lock(mutex_);
                write_finished(primary);
            }
            return;
        }
        if (context == nullptr || !is_known(context)) {
            return;
        }
        const RelaxedCapture relaxed;
        wait_for_work(context, MAX_CONTEXT_WAIT);
        const QuietLock lock(mutex_);
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
            const QuietLock lock(mutex_);
            drop(context, false);
        }
    } catch (const std::exception&) { // NOLINT(bugprone-empty-catch): as in begin()
    }
}

bool DeviceWork::is_known(CUcontext context) {
    const QuietLock lock(mutex_);
    return clocks_.contains(context);
}

/// Returns a device's primary context if work in it was traced, else null.
CUcontext DeviceWork::known_primary(int device) {
    const QuietLock lock(mutex_);
    const auto place = std::ranges::find_if(clocks_, [&](const auto& known) {
        return known.second->is_primary && known.second->device == device;
    });
    return place == clocks_.end() ? nullptr : place->first;
}

/// Forgets a context. While it exists, writes its finished work and destroys its events.
void DeviceWork::drop(CUcontext context, bool is_alive) {
    const auto place = clocks_.find(context);
    if (place == clocks_.end()) {
        return; // another thread was first
    }
    if (is_alive) {
        write_finished(context);
    }
    std::erase_if(lanes_, [&](const auto& known) {
        Lane& lane = *known.second;
        if (lane.context != context) {
            return false;
        }
        left_out_count_ += lane.enqueued.size();
        enqueued_count_ -= lane.enqueued.size();
        for (Work& work : lane.enqueued) {
            give_back(work);
        }
        return true;
    });
    // NOTE: a call of another thread may still hold the clock; its events end with the context.
    place->second->is_alive = is_alive && place->second.use_count() == 1;
    clocks_.erase(place);
}

std::size_t DeviceWork::finish(std::optional<Duration> limit) noexcept {
    try {
        {
            const QuietLock lock(mutex_);
            is_on_ = false;
        }
        const RelaxedCapture relaxed;
        wait_for_work(nullptr, limit);
        const QuietLock lock(mutex_);
        for (auto& [key, lane] : lanes_) {
            left_out_count_ += lane->enqueued.size();
            for (Work& work : lane->enqueued) {
                give_back(work);
            }
        }
        enqueued_count_ = 0;
        lanes_.clear();
        clocks_.clear(); // calls that are still running keep theirs until end()
        return left_out_count_;
    } catch (const std::exception&) { // NOLINT(bugprone-empty-catch): as in begin()
        return 0;
    }
}

/// Writes the unfinished work of one context, or of all if it is null, as it finishes. Returns once
/// all is written, or when none has finished for `limit`.
void DeviceWork::wait_for_work(CUcontext context, std::optional<Duration> limit) {
    Time::time_point last_progress = Time::now();
    while (true) {
        {
            const QuietLock lock(mutex_);
            if (write_finished(context) != 0) {
                last_progress = Time::now();
            }
            if (std::ranges::all_of(lanes_, [&](const auto& known) {
                    const Lane& lane = *known.second;
                    return lane.enqueued.empty() || (context != nullptr && lane.context != context);
                })) {
                return;
            }
        }
        if (limit.has_value() && Time::now() - last_progress > *limit) {
            return;
        }
        std::this_thread::sleep_for(POLL_INTERVAL);
    }
}

DeviceWork::Clock::~Clock() {
    if (!is_alive || context == nullptr) {
        return;
    }
    try {
        driver::Table& table = driver::unobserved_table();
        const Current current(context);
        for (CUevent event : spare) {
            static_cast<void>(table.cuEventDestroy(event));
        }
        if (origin != nullptr) {
            static_cast<void>(table.cuEventDestroy(origin));
        }
        if (stream != nullptr) {
            static_cast<void>(table.cuStreamDestroy(stream));
        }
    } catch (const std::exception&) { // NOLINT(bugprone-empty-catch): as in begin()
    }
}

/// Returns the time base of a stream's context, made when the context is first used.
std::shared_ptr<DeviceWork::Clock> DeviceWork::clock_of(CUstream stream) {
    CUcontext context = nullptr;
    if (driver::unobserved_table().cuStreamGetCtx(stream, &context) != CUDA_SUCCESS ||
        context == nullptr) {
        return nullptr;
    }
    {
        const QuietLock lock(mutex_);
        if (const auto known = clocks_.find(context); known != clocks_.end()) {
            return known->second;
        }
    }
    std::shared_ptr<Clock> made = make_clock(context, stream); // waits, so not under the lock
    if (made == nullptr) {
        const QuietLock lock(mutex_);
        ++left_out_count_;
        return nullptr;
    }
    writer_.name_process(DEVICE_PROCESS + made->device, "device " + std::to_string(made->device));
    const QuietLock lock(mutex_);
    if (!is_on_) {
        return nullptr;
    }
    return clocks_.try_emplace(context, std::move(made)).first->second; // one of another thread
}

/// Makes the time base of a context. Returns null if the context cannot have one, or if our stream
/// is held up: the driver may put several streams into one queue of the device.
std::shared_ptr<DeviceWork::Clock> DeviceWork::make_clock(CUcontext context, CUstream stream) {
    driver::Table& table = driver::unobserved_table();
    const Current current(context);
    auto clock = std::make_shared<Clock>();
    clock->context = context;
    CUdevice device = 0;
    if (table.cuCtxGetDevice(&device) != CUDA_SUCCESS) {
        return nullptr;
    }
    clock->device = device;
    clock->stream = create_stream(stream);
    if (clock->stream == nullptr ||
        table.cuEventCreate(&clock->origin, CU_EVENT_DEFAULT) != CUDA_SUCCESS) {
        return nullptr;
    }
    const std::optional<std::int64_t> time = record_origin(clock->origin, clock->stream);
    if (!time.has_value()) {
        return nullptr;
    }
    clock->origin_ns = *time;
    clock->is_primary = is_primary(context, device);
    return clock;
}

/// Returns the lane of a stream. The default streams have one handle in all contexts, and the
/// per-thread one has one in all threads.
std::shared_ptr<DeviceWork::Lane> DeviceWork::lane_of(const Clock& clock, CUstream stream) {
    const bool is_of_thread = stream == CU_STREAM_PER_THREAD;
    const bool is_default = driver::is_default_stream(stream);
    const int thread = is_of_thread ? thread_number() : 0;
    std::shared_ptr<Lane>& lane = lanes_[{is_default ? clock.context : nullptr,
                                          stream == CU_STREAM_LEGACY ? nullptr : stream, thread}];
    if (lane == nullptr) {
        lane = std::make_shared<Lane>();
        // NOTE: not the handle, which does not fit into the 32 bits that viewers keep.
        lane->track = {DEVICE_PROCESS + clock.device, ++lane_count_};
        lane->context = clock.context;
        char name[40];
        std::snprintf(name, sizeof name, "stream 0x%llx",
                      static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(stream)));
        lane->name = is_of_thread ? "default stream of thread " + std::to_string(thread)
                     : is_default ? "default stream"
                                  : name;
    }
    return lane;
}

/// Returns an event of a context, which must be current; null if none can be made.
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

/// Keeps the events of a piece of work for the next one.
void DeviceWork::give_back(Work& work) {
    for (CUevent* event : {&work.begin, &work.end}) {
        if (CUevent const unused = std::exchange(*event, nullptr)) {
            work.clock->spare.push_back(unused);
        }
    }
}

/// Writes what a call enqueues: a kernel, a copy or fill, or a graph with its nodes.
void DeviceWork::describe(const driver::Call& call, Work& work) {
    if (!is_graph_launch(call)) {
        work.name = name_of(call);
        work.category = call.kernel != nullptr ? "kernel" : "copy";
        return;
    }
    work.name = "graph";
    work.category = "graph";
    const CUgraphExec graph =
        std::get<0>(*static_cast<const std::tuple<CUgraphExec, CUstream>*>(call.arguments));
    const std::vector<std::string> nodes = driver::nodes_of_executable(graph);
    if (nodes.empty()) {
        return; // made by other code
    }
    work.name += " of " + std::to_string(nodes.size()) + (nodes.size() == 1 ? " node" : " nodes");
    work.details = "\"nodes\": [";
    const std::size_t shown = std::min(nodes.size(), MAX_NODES_SHOWN);
    for (std::size_t i = 0; i < shown; ++i) {
        work.details += i == 0 ? "" : ", ";
        driver::append_quoted(work.details, nodes[i].c_str());
    }
    work.details +=
        shown < nodes.size() ? ", \"and " + std::to_string(nodes.size() - shown) + " more\"]" : "]";
}

std::string DeviceWork::name_of(const driver::Call& call) {
    const char* name = nullptr;
    // The handle is a kernel's or a function's of the older kind; the driver refuses the latter.
    if (call.kernel != nullptr &&
        driver::unobserved_table().cuKernelGetName(
            &name, reinterpret_cast<CUkernel>(call.kernel)) == CUDA_SUCCESS &&
        name != nullptr) {
        return name;
    }
    return call.name;
}

/// Writes the finished work of one context, or of all if it is null. Returns how much left the
/// queues.
std::size_t DeviceWork::write_finished(CUcontext context) {
    std::size_t count = 0;
    for (auto& [key, lane] : lanes_) {
        if (context == nullptr || lane->context == context) {
            count += write_finished(*lane);
        }
    }
    return count;
}

/// Writes the finished work of one stream, oldest first. Returns how much left the queue.
std::size_t DeviceWork::write_finished(Lane& lane) {
    driver::Table& table = driver::unobserved_table();
    std::size_t count = 0;
    while (!lane.enqueued.empty()) {
        Work& oldest = lane.enqueued.front();
        const CUresult status = table.cuEventQuery(oldest.end);
        if (status == CUDA_ERROR_NOT_READY) {
            break;
        }
        if (status == CUDA_SUCCESS) {
            write(lane, oldest);
        } else {
            ++left_out_count_;
        }
        give_back(oldest);
        lane.enqueued.pop_front();
        --enqueued_count_;
        ++count;
    }
    return count;
}

void DeviceWork::write(Lane& lane, Work& work) {
    driver::Table& table = driver::unobserved_table();
    Clock& clock = *work.clock;
    float begin_ms = 0;
    float length_ms = 0;
    if (table.cuEventElapsedTime(&begin_ms, clock.origin, work.begin) != CUDA_SUCCESS ||
        table.cuEventElapsedTime(&length_ms, work.begin, work.end) != CUDA_SUCCESS) {
        ++left_out_count_;
        return;
    }
    writer_.name_track(lane.track, lane.name);
    const std::int64_t measured = clock.origin_ns + nanoseconds(begin_ms);
    // The driver rounds times: work may seem to begin before the work in front of it ended.
    const std::int64_t begin = std::max(measured, lane.last_end_ns);
    lane.last_end_ns = std::max(begin, measured + nanoseconds(length_ms));
    writer_.write(lane.track, work.category, work.name, begin, lane.last_end_ns, work.details);
    if (begin_ms > MAX_DISTANCE_MS) {
        // The event becomes the origin, and the origin a spare event.
        std::swap(clock.origin, work.begin);
        clock.origin_ns = measured;
    }
}

} // namespace cuprum::trace
