// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/detail/order.hpp>

#include "device/context_state.hpp"
#include "driver/call.hpp"
#include "driver/capture.hpp"
#include "driver/current.hpp"
#include "stream/event_state.hpp"
#include "stream/stream_state.hpp"

#include <cuprum/context.hpp>
#include <cuprum/detail/access.hpp>
#include <cuprum/detail/pending.hpp>

#include <exception>

namespace cuprum::detail {

namespace {

using driver::call;
using driver::table;

using driver::is_default_stream;

CUstream token(CUstream stream) {
    return stream == nullptr ? CU_STREAM_LEGACY : stream;
}

/// An event for one wait. The driver keeps what an enqueued wait needs after the event is gone.
class BriefEvent {
public:
    [[nodiscard]] BriefEvent() {
        call(table().cuEventCreate, &handle_, unsigned{CU_EVENT_DISABLE_TIMING});
    }

    ~BriefEvent() { driver::release_now("event", table().cuEventDestroy, handle_); }

    BriefEvent(const BriefEvent&) = delete;
    BriefEvent& operator=(const BriefEvent&) = delete;

    [[nodiscard]] CUevent handle() const noexcept { return handle_; }

private:
    CUevent handle_ = nullptr;
};

} // namespace

void order_streams(CUstream consumer, CUstream producer) {
    if (token(consumer) == token(producer)) {
        return; // a stream is in order with itself
    }
    driver::initialise();
    // The event must belong to the producer's context. For a default stream that is the current
    // context or, if none is current, the context of the other stream.
    CUcontext context = nullptr;
    call(table().cuCtxGetCurrent, &context);
    if (!is_default_stream(producer) || (context == nullptr && !is_default_stream(consumer))) {
        call(table().cuStreamGetCtx, is_default_stream(producer) ? consumer : producer, &context);
    }
    if (context == nullptr) {
        driver::raise(CUDA_ERROR_INVALID_CONTEXT, table().cuStreamGetCtx.name);
    }
    const driver::Current current(context);
    const BriefEvent event;
    call(table().cuEventRecord, event.handle(), token(producer));
    call(table().cuStreamWaitEvent, token(consumer), event.handle(),
         unsigned{CU_EVENT_WAIT_DEFAULT});
}

bool is_capturing(const Stream& stream) {
    const StreamState& state = open(stream);
    return can_be_capturing(state) && is_capturing(state.handle);
}

bool is_capturing(CUstream stream) {
    const driver::CaptureQuery answer = driver::query_capture(stream);
    // Without a current context a default stream does not exist. The call that uses it reports
    // that.
    if (answer.status != CUDA_SUCCESS && answer.status != CUDA_ERROR_INVALID_CONTEXT) {
        driver::raise(answer.status, table().cuStreamIsCapturing.name);
    }
    return answer.capture != CU_STREAM_CAPTURE_STATUS_NONE;
}

using driver::unobserved_table;

bool is_pending(const Stream& stream) noexcept {
    try {
        return unobserved_table().cuStreamQuery(handle_of(stream)) == CUDA_ERROR_NOT_READY;
    } catch (const std::exception&) { // closed, destroyed by a reset, or no such driver function
        return false;
    }
}

bool is_pending(const Event& event) noexcept {
    try {
        const CUevent handle = open(Access::state(event), "Event").handle;
        return unobserved_table().cuEventQuery(handle) == CUDA_ERROR_NOT_READY;
    } catch (const std::exception&) {
        return false;
    }
}

WorkMark::WorkMark(const Stream& stream) noexcept {
    try {
        const StreamState& own = open(Access::state(stream), "Stream");
        home_ = own.context;
        CUcontext context = nullptr;
        if (unobserved_table().cuStreamGetCtx(own.handle, &context) == CUDA_SUCCESS) {
            set(context, [&] { return unobserved_table().cuEventRecord(event_, own.handle); });
        }
    } catch (const std::exception&) { // NOLINT(bugprone-empty-catch): there is no mark then
    }
}

WorkMark::WorkMark(const Context& context) noexcept {
    try {
        const ContextState& own = open(Access::state(context), "Context");
        home_ = Access::state(context);
        set(own.handle, [&] {
            return own.green != nullptr
                       ? unobserved_table().cuGreenCtxRecordEvent(own.green, event_)
                       : unobserved_table().cuCtxRecordEvent(own.handle.get(), event_);
        });
    } catch (const std::exception&) { // NOLINT(bugprone-empty-catch): there is no mark then
    }
}

WorkMark::~WorkMark() {
    if (event_ != nullptr && is_intact(home_, made_at_) && !driver::is_leaving()) {
        static_cast<void>(unobserved_table().cuEventDestroy(event_));
    }
}

bool WorkMark::is_pending() const noexcept {
    return event_ != nullptr && is_intact(home_, made_at_) &&
           unobserved_table().cuEventQuery(event_) == CUDA_ERROR_NOT_READY;
}

template <typename Record>
void WorkMark::set(CUcontext context, const Record& record) {
    driver::Table& table = unobserved_table();
    CUcontext current = nullptr;
    if (table.cuCtxGetCurrent(&current) != CUDA_SUCCESS) {
        return;
    }
    const bool is_pushed = current != context;
    if (is_pushed && table.cuCtxPushCurrent(context) != CUDA_SUCCESS) {
        return;
    }
    made_at_ = home_ == nullptr ? 0 : home_->reset_count.load(std::memory_order_relaxed);
    if (table.cuEventCreate(&event_, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS) {
        event_ = nullptr;
    } else if (record() != CUDA_SUCCESS) {
        static_cast<void>(table.cuEventDestroy(event_));
        event_ = nullptr;
    }
    if (is_pushed) {
        static_cast<void>(table.cuCtxPopCurrent(&current));
    }
}

} // namespace cuprum::detail
