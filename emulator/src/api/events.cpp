// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Events.

#include "api/entry.hpp"
#include "api/handles.hpp"
#include "objects/devices/device.hpp"
#include "objects/process/error.hpp"
#include "objects/process/thread_state.hpp"
#include "objects/streams/query.hpp"

using namespace cuprum::emulator;

ROW(cuEventCreate, 2000, CUevent& phEvent, unsigned int flags) {
    phEvent = new_handle<CUevent>(std::make_shared<Event>(current_context(), flags));
}

ROW(cuEventDestroy_v2, 4000, Event& event) {
    close_handle(event.handle<CUevent>());
    event.context().check_usable(); // throws if the context has failed
}

ALIAS(cuEventDestroy, 2000, cuEventDestroy_v2);

ROW_PTSZ(cuEventRecordWithFlags, 11010, Event& event, Stream& stream,
         Flags<CU_EVENT_RECORD_EXTERNAL> flags) {
    event.record(stream, (flags & CU_EVENT_RECORD_EXTERNAL) != 0);
}

FORWARD_PTSZ(cuEventRecord, 2000, CUevent hEvent, CUstream hStream) {
    return cuEventRecordWithFlags(hEvent, hStream, CU_EVENT_RECORD_DEFAULT);
}

ANSWER(cuEventQuery, 2000, Event& event) {
    Capture::refuse_captured(event);
    Capture::refuse_unsafe_call();
    const bool is_done = event.is_done();
    event.context().check_usable();
    return query_result(is_done);
}

ROW(cuEventSynchronize, 2000, Event& event) {
    Capture::refuse_captured(event);
    Capture::refuse_unsafe_call();
    event.synchronize();
    event.context().device().release_unused_pool_memory();
    event.context().check_usable();
}

ROW(cuEventElapsedTime_v2, 12080, float* pMilliseconds, Event& begin, Event& end) {
    begin.context().check_usable();
    put(pMilliseconds, Event::elapsed_ms(begin, end));
}

ALIAS(cuEventElapsedTime, 2000, cuEventElapsedTime_v2);

ROW(cuCtxRecordEvent, 12050, CUcontext hCtx, CUevent hEvent) {
    const auto [context, green] = usable_context(hCtx);
    const auto event = object_of(hEvent);
    if (green != nullptr) {
        green->record(*event);
        return;
    }
    Capture::refuse_in(*context, nullptr);
    event->record(context->streams(), *context->legacy_stream());
}

ROW(cuCtxWaitEvent, 12050, CUcontext hCtx, CUevent hEvent) {
    const auto [context, green] = usable_context(hCtx);
    const auto event = object_of(hEvent);
    if (green != nullptr) {
        green->wait_for(*event);
        return;
    }
    Capture::refuse_in(*context, nullptr);
    event->hold_back(*context->legacy_stream());
    for (const auto& stream : context->streams()) {
        event->hold_back(*stream);
    }
}
