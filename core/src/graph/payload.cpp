// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/payload.hpp"

#include "driver/call.hpp"
#include "driver/capture.hpp"
#include "driver/current.hpp"
#include "driver/explanations.hpp"
#include "support/warn.hpp"

#include <cuprum/error.hpp>

#include <string>
#include <utility>

namespace cuprum::detail {

namespace {

std::atomic<std::size_t> live_payloads = 0;

/// What the driver calls once nothing needs a user object any more, on a thread of its own choice
/// and possibly inside another call.
void CUDA_CB give_up_share(void* payload) noexcept {
    // NOTE: no call of the driver here, and no destructor of anything: see the top of payload.hpp.
    const PayloadShare given(static_cast<Payload*>(payload));
}

} // namespace

Payload::Payload(std::size_t count) noexcept : count_(static_cast<unsigned>(count)) {
    std::uninitialized_value_construct_n(begin(), count_);
    live_payloads.fetch_add(1, std::memory_order_relaxed);
}

Payload::~Payload() {
    std::destroy_n(begin(), count_);
    live_payloads.fetch_sub(1, std::memory_order_relaxed);
}

PayloadShare Payload::make(std::size_t count) {
    return PayloadShare(new (Owners{count}) Payload(count));
}

PayloadShare Payload::of(std::shared_ptr<void> first, std::shared_ptr<void> second) {
    // A share of a null pointer can still have something to release.
    if (first.use_count() == 0 && second.use_count() == 0) {
        return nullptr;
    }
    PayloadShare made = make(2);
    made->owners()[0] = std::move(first);
    made->owners()[1] = std::move(second);
    return made;
}

std::size_t Payload::live_count() noexcept {
    return live_payloads.load(std::memory_order_relaxed);
}

void KeptForOthers::add(PayloadShare payload) {
    const std::lock_guard lock(mutex_);
    all_.push_back(std::move(payload));
}

CUuserObject retain_payload(CUgraph graph, PayloadShare payload) {
    CUuserObject object = nullptr;
    driver::call(driver::table().cuUserObjectCreate, &object, static_cast<void*>(payload.get()),
                 static_cast<CUhostFn>(&give_up_share), 1U,
                 unsigned{CU_USER_OBJECT_NO_DESTRUCTOR_SYNC});
    static_cast<void>(payload.release()); // the user object owns it
    const auto& retain = driver::table().cuGraphRetainUserObject;
    const CUresult status = retain(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE);
    if (status != CUDA_SUCCESS) [[unlikely]] {
        release_or_defer("what a graph keeps alive", driver::table().cuUserObjectRelease, object,
                         1U);
        driver::raise(status, retain.name);
    }
    return object;
}

RetainedPayload::~RetainedPayload() {
    release_or_defer("what a graph keeps alive", driver::table().cuGraphReleaseUserObject, graph_,
                     object_, 1U);
}

namespace {

/// Payloads that launches use until an event is done.
struct RetiredPayload final : AwaitedRelease {
    RetiredPayload(PayloadShare retired, std::shared_ptr<EventState> behind,
                   std::shared_ptr<StreamState> to_ask) noexcept
        : payload(std::move(retired)), mark(std::move(behind)), stream(std::move(to_ask)) {}

    [[nodiscard]] bool is_due() noexcept override {
        if (mark == nullptr) { // the stream could not be marked before
            EndOfWork asked = end_of_work(*stream);
            if (asked.answer != EndOfWork::Answer::Event) {
                return asked.answer == EndOfWork::Answer::Over;
            }
            mark = std::move(asked.event);
            stream = nullptr;
        }
        if (mark->is_lost()) {
            return true; // a reset of the device ended the launches
        }
        return is_over(driver::table().cuEventQuery(mark->handle));
    }

    PayloadShare payload;
    std::shared_ptr<EventState> mark;
    std::shared_ptr<StreamState> stream; // to ask if there is no mark
};

} // namespace

EndOfWork end_of_work(const StreamState& stream) noexcept {
    using Answer = EndOfWork::Answer;
    if (driver::is_leaving() || stream.is_lost()) {
        return {Answer::Over};
    }
    if (runs_host_function()) {
        return {Answer::Later};
    }
    const auto is_captured = [&] {
        return driver::capture_status(stream.handle) != CU_STREAM_CAPTURE_STATUS_NONE;
    };
    try {
        const driver::Current current(stream.context->handle);
        if (is_captured()) { // the event would stand for captured work
            return {Answer::Later};
        }
        auto event = Access::state(make_event(stream.context, CU_EVENT_DISABLE_TIMING));
        driver::call(driver::table().cuEventRecord, event->handle, stream.handle);
        if (is_captured()) { // another thread began in between
            return {Answer::Later};
        }
        return {Answer::Event, std::move(event)};
    } catch (const CUDAError& error) {
        return {is_over(error.code()) ? Answer::Over : Answer::Later, {}, std::current_exception()};
    } catch (...) {
        return {Answer::Later, {}, std::current_exception()};
    }
}

bool is_over(int status) noexcept {
    switch (status) {
    case CUDA_SUCCESS:
    case CUDA_ERROR_DEINITIALIZED:
    case CUDA_ERROR_INVALID_CONTEXT:
    case CUDA_ERROR_INVALID_HANDLE:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_MPS_CLIENT_TERMINATED:
    case CUDA_ERROR_EXTERNAL_DEVICE:
        return true;
    default:
        return driver::is_about_device_work(status);
    }
}

void warn_unmarked(const std::exception_ptr& failure) noexcept {
    try {
        std::rethrow_exception(failure);
    } catch (const std::exception& error) {
        warn_unmarked(error.what());
    } catch (...) {
        warn_unmarked("the reason is not known");
    }
}

void warn_unmarked(const char* reason) noexcept {
    try {
        warn(WarningKind::Release, std::string("the end of a graph launch could not be marked: ") +
                                       reason +
                                       "; what the graph uses is released later than usual");
    } catch (...) { // there is no memory for the text
        warn(WarningKind::Release, reason);
    }
}

void retire(PayloadShare payload, const std::shared_ptr<EventState>& mark,
            std::shared_ptr<StreamState> stream) noexcept {
    if (payload == nullptr || (mark == nullptr && stream == nullptr)) {
        return;
    }
    try {
        push_awaited(std::make_unique<RetiredPayload>(payload, mark, std::move(stream)));
    } catch (...) {
        // Without memory for the list it is kept for good: a launch may use it.
        static_cast<void>(payload.release());
        driver::report_release_failure("what an executable graph keeps alive");
    }
}

} // namespace cuprum::detail
