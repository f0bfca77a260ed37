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

extern "C" {

CUresult CUDAAPI cuEventCreate(CUevent* phEvent, unsigned int Flags) {
    return entry("cuEventCreate", [&] {
        require(phEvent != nullptr, "phEvent must not be NULL");
        const auto event = std::make_shared<Event>(current_context(), Flags);
        HandleTable::instance().insert(HandleKind::Event, event);
        *phEvent = event->handle<CUevent>();
    });
}

CUresult CUDAAPI cuEventDestroy_v2(CUevent hEvent) {
    return entry("cuEventDestroy", [&] {
        const auto event = event_from(hEvent);
        if (HandleTable::instance().erase(HandleKind::Event,
                                          reinterpret_cast<std::uint64_t>(hEvent)) == nullptr) {
            fail(CUDA_ERROR_INVALID_HANDLE, "the event was destroyed by another thread");
        }
        event->context().check_usable(); // throws if the context has failed
    });
}

CUresult CUDAAPI cuEventRecordWithFlags(CUevent hEvent, CUstream hStream, unsigned int flags) {
    return entry("cuEventRecord", [&] {
        require((flags & ~static_cast<unsigned>(CU_EVENT_RECORD_EXTERNAL)) == 0,
                "unknown flags of a record");
        event_from(hEvent)->record(*stream_from(hStream), (flags & CU_EVENT_RECORD_EXTERNAL) != 0);
    });
}

CUresult CUDAAPI cuEventRecord(CUevent hEvent, CUstream hStream) {
    return cuEventRecordWithFlags(hEvent, hStream, CU_EVENT_RECORD_DEFAULT);
}

CUresult CUDAAPI cuEventQuery(CUevent hEvent) {
    return entry("cuEventQuery", [&] {
        const auto event = event_from(hEvent);
        Capture::refuse_captured(*event);
        Capture::refuse_unsafe_call();
        const bool is_done = event->is_done();
        event->context().check_usable();
        return query_result(is_done);
    });
}

CUresult CUDAAPI cuEventSynchronize(CUevent hEvent) {
    return entry("cuEventSynchronize", [&] {
        const auto event = event_from(hEvent);
        Capture::refuse_captured(*event);
        Capture::refuse_unsafe_call();
        event->synchronize();
        event->context().device().release_unused_pool_memory();
        event->context().check_usable();
    });
}

CUresult CUDAAPI cuEventElapsedTime_v2(float* pMilliseconds, CUevent hStart, CUevent hEnd) {
    return entry("cuEventElapsedTime", [&] {
        const auto begin = event_from(hStart);
        const auto end = event_from(hEnd);
        begin->context().check_usable();
        put(pMilliseconds, Event::elapsed_ms(*begin, *end));
    });
}

CUresult CUDAAPI cuEventElapsedTime(float* pMilliseconds, CUevent hStart, CUevent hEnd) {
    return cuEventElapsedTime_v2(pMilliseconds, hStart, hEnd);
}

CUresult CUDAAPI cuCtxRecordEvent(CUcontext hCtx, CUevent hEvent) {
    return entry("cuCtxRecordEvent", [&] {
        const auto [context, green] = usable_context(hCtx);
        const auto event = event_from(hEvent);
        if (green != nullptr) {
            green->record(*event);
            return;
        }
        Capture::refuse_in(*context, nullptr);
        event->record(context->streams(), *context->legacy_stream());
    });
}

CUresult CUDAAPI cuCtxWaitEvent(CUcontext hCtx, CUevent hEvent) {
    return entry("cuCtxWaitEvent", [&] {
        const auto [context, green] = usable_context(hCtx);
        const auto event = event_from(hEvent);
        if (green != nullptr) {
            green->wait_for(*event);
            return;
        }
        Capture::refuse_in(*context, nullptr);
        event->hold_back(*context->legacy_stream());
        for (const auto& stream : context->streams()) {
            event->hold_back(*stream);
        }
    });
}

} // extern "C"
