// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/detail/order.hpp>

#include "driver/current.hpp"
#include "memory/buffer_state.hpp"
#include "stream/ordered_free.hpp"
#include "stream/stream_state.hpp"

namespace cuprum::detail {

namespace {

using driver::call;
using driver::table;

bool is_default(CUstream stream) {
    return stream == nullptr || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD;
}

CUstream token(CUstream stream) {
    return stream == nullptr ? CU_STREAM_LEGACY : stream;
}

/// An event for one wait; a wait that was enqueued does not need it any more.
class BriefEvent {
public:
    [[nodiscard]] BriefEvent() {
        call(table().cuEventCreate, &handle_, unsigned{CU_EVENT_DISABLE_TIMING});
    }

    ~BriefEvent() { driver::release("event", table().cuEventDestroy, handle_); }

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
    note_shared_streams();
    // The event must be of the producer's context. A default stream's is the current one, or else
    // the one that the other stream belongs to.
    CUcontext context = nullptr;
    call(table().cuCtxGetCurrent, &context);
    if (!is_default(producer) || (context == nullptr && !is_default(consumer))) {
        call(table().cuStreamGetCtx, is_default(producer) ? consumer : producer, &context);
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
    BufferState& state = open(memory).whole_state();
    if (state.stream.is_closed()) {
        return false;
    }
    const StreamState& producer = *Access::state(state.stream);
    if (producer.is_lost()) {
        return true; // what it held went with the reset
    }
    if (!producer.is_default) {
        order_streams(consumer, producer.handle);
        return true;
    }
    const driver::Current current(state.unusual.get().context->handle);
    order_streams(consumer, state.is_stream_usable() ? producer.handle : CU_STREAM_LEGACY);
    return true;
}

bool is_capturing(const Stream& stream) {
    const StreamState& state = open(stream);
    return state.may_capture.load(std::memory_order_relaxed) && is_capturing(state.handle);
}

bool is_capturing(CUstream stream) {
    CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
    const auto& query = table().cuStreamIsCapturing;
    const CUresult status = query(stream, &capture);
    // Without a context a default stream is no stream; whoever uses it is told.
    if (status != CUDA_SUCCESS && status != CUDA_ERROR_INVALID_CONTEXT) {
        driver::raise(status, query.name);
    }
    return capture != CU_STREAM_CAPTURE_STATUS_NONE;
}

} // namespace cuprum::detail
