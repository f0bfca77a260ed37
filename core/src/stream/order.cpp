// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/detail/order.hpp>

#include "driver/capture.hpp"
#include "driver/current.hpp"
#include "driver/default_stream.hpp"
#include "memory/buffer_state.hpp"
#include "stream/stream_state.hpp"

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

bool order_after(CUstream consumer, const Buffer& memory) {
    const FreeOrder order = open(memory).whole_state().free_order();
    if (order.stream.is_closed()) {
        return false;
    }
    const StreamState& producer = *Access::state(order.stream);
    if (producer.is_lost()) {
        return true; // the reset ended its work
    }
    if (!producer.is_default) {
        order_streams(consumer, producer.handle);
        return true;
    }
    const driver::Current current(order.context->handle);
    order_streams(consumer, order.is_usable() ? producer.handle : CU_STREAM_LEGACY);
    return true;
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

} // namespace cuprum::detail
