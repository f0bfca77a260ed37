// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Streams.

#include "api/entry.hpp"
#include "api/handles.hpp"
#include "objects/devices/device.hpp"
#include "objects/process/error.hpp"
#include "objects/process/thread_state.hpp"
#include "objects/streams/query.hpp"

using namespace cuprum::emulator;

namespace {

void create_stream(CUstream* out, unsigned flags, int priority) {
    require(out != nullptr, "phStream must not be NULL");
    const auto& context = current_context();
    *out = context->create_stream(flags, priority, current_green())->handle<CUstream>();
}

CUgreenCtx green_handle(const Stream& stream) {
    return stream.green() == nullptr ? nullptr : stream.green()->handle<CUgreenCtx>();
}

/// Waits for a stream, then throws its context's error if work failed.
void synchronize(Stream& stream) {
    Capture::refuse_on(stream, "a stream that is capturing cannot be waited for");
    stream.check_open();
    Capture::refuse_unsafe_call();
    stream.synchronize();
    stream.context().device().release_unused_pool_memory();
    stream.context().check_usable();
}

} // namespace

extern "C" {

CUresult CUDAAPI cuStreamCreate(CUstream* phStream, unsigned int Flags) {
    return entry("cuStreamCreate", [&] { create_stream(phStream, Flags, Stream::LEAST_PRIORITY); });
}

CUresult CUDAAPI cuStreamCreateWithPriority(CUstream* phStream, unsigned int flags, int priority) {
    return entry("cuStreamCreateWithPriority", [&] { create_stream(phStream, flags, priority); });
}

CUresult CUDAAPI cuStreamDestroy_v2(CUstream hStream) {
    return entry("cuStreamDestroy", [&] {
        const auto number = reinterpret_cast<std::uint64_t>(hStream);
        auto& table = HandleTable::instance();
        if (const auto known = table.find(HandleKind::Stream, number)) {
            // If its green context was destroyed first, the stream stays, as CUDA documents.
            if (const auto& green = static_cast<const Stream&>(*known).green()) {
                green->check_usable();
            }
        }
        const auto object = table.erase(HandleKind::Stream, number);
        if (object == nullptr) {
            fail(CUDA_ERROR_INVALID_HANDLE,
                 "not a stream, or it has been destroyed; default streams cannot be");
        }
        auto& stream = static_cast<Stream&>(*object);
        Capture::abandon(stream);
        stream.retire();
        stream.context().check_usable(); // throws if the context has failed
    });
}

CUresult CUDAAPI cuStreamSynchronize(CUstream hStream) {
    return entry("cuStreamSynchronize", [&] { synchronize(*stream_from(hStream)); });
}

CUresult CUDAAPI cuStreamQuery(CUstream hStream) {
    return entry("cuStreamQuery", [&] {
        const auto stream = stream_from(hStream);
        Capture::refuse_on(*stream, "a capturing stream cannot be queried");
        stream->check_open();
        Capture::refuse_unsafe_call();
        const bool is_idle = stream->is_idle();
        stream->context().check_usable();
        return query_result(is_idle);
    });
}

CUresult CUDAAPI cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int Flags) {
    return entry("cuStreamWaitEvent", [&] {
        require((Flags & ~static_cast<unsigned>(CU_EVENT_WAIT_EXTERNAL)) == 0,
                "unknown flags of a wait");
        event_from(hEvent)->hold_back(*stream_from(hStream), (Flags & CU_EVENT_WAIT_EXTERNAL) != 0);
    });
}

CUresult CUDAAPI cuStreamGetPriority(CUstream hStream, int* priority) {
    return entry("cuStreamGetPriority", [&] { put(priority, stream_from(hStream)->priority()); });
}

CUresult CUDAAPI cuStreamGetFlags(CUstream hStream, unsigned int* flags) {
    return entry("cuStreamGetFlags", [&] {
        const auto stream = stream_from(hStream);
        Capture::refuse_on(*stream, "the flags of a capturing stream cannot be read");
        put(flags, stream->flags());
    });
}

CUresult CUDAAPI cuStreamGetId(CUstream hStream, unsigned long long* streamId) {
    return entry("cuStreamGetId", [&] { put(streamId, stream_from(hStream)->id()); });
}

CUresult CUDAAPI cuStreamGetDevice(CUstream hStream, CUdevice* device) {
    return entry("cuStreamGetDevice",
                 [&] { put(device, stream_from(hStream)->context().device().ordinal()); });
}

CUresult CUDAAPI cuStreamGetCtx(CUstream hStream, CUcontext* pctx) {
    return entry("cuStreamGetCtx", [&] {
        require(pctx != nullptr, "pctx must not be NULL");
        const auto stream = stream_from(hStream);
        *pctx = stream->green() != nullptr ? stream->green()->as_context()
                                           : stream->context().handle<CUcontext>();
    });
}

CUresult CUDAAPI cuStreamGetCtx_v2(CUstream hStream, CUcontext* pCtx, CUgreenCtx* pGreenCtx) {
    return entry("cuStreamGetCtx_v2", [&] {
        require(pCtx != nullptr && pGreenCtx != nullptr, "an output argument is NULL");
        const auto stream = stream_from(hStream);
        *pCtx = stream->context().handle<CUcontext>();
        *pGreenCtx = green_handle(*stream);
    });
}

CUresult CUDAAPI cuStreamGetGreenCtx(CUstream hStream, CUgreenCtx* phCtx) {
    return entry("cuStreamGetGreenCtx", [&] {
        require(phCtx != nullptr, "phCtx must not be NULL");
        *phCtx = green_handle(*stream_from(hStream));
    });
}

CUresult CUDAAPI cuStreamGetAttribute(CUstream hStream, CUstreamAttrID attr,
                                      CUstreamAttrValue* value) {
    return entry("cuStreamGetAttribute", [&] {
        require(value != nullptr, "value must not be NULL");
        *value = stream_from(hStream)->attribute(attr);
    });
}

CUresult CUDAAPI cuStreamSetAttribute(CUstream hStream, CUstreamAttrID attr,
                                      const CUstreamAttrValue* param) {
    return entry("cuStreamSetAttribute", [&] {
        require(param != nullptr, "value must not be NULL");
        stream_from(hStream)->set_attribute(attr, *param);
    });
}

CUresult CUDAAPI cuStreamCopyAttributes(CUstream dstStream, CUstream srcStream) {
    return entry("cuStreamCopyAttributes", [&] {
        const auto to = stream_from(dstStream);
        const auto from = stream_from(srcStream);
        require(&to->context() == &from->context(), "the streams belong to different contexts");
        if (to != from) {
            to->copy_attributes(*from);
        }
    });
}

CUresult CUDAAPI cuStreamAttachMemAsync(CUstream hStream, CUdeviceptr dptr, size_t length,
                                        unsigned int flags) {
    return entry("cuStreamAttachMemAsync", [&] {
        const auto stream = stream_from(hStream);
        Capture::refuse_on(*stream, "an attachment of memory cannot be captured");
        require(flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST ||
                    flags == CU_MEM_ATTACH_SINGLE,
                "unknown flags of an attachment");
        require(flags != CU_MEM_ATTACH_SINGLE || stream->kind() != Stream::Kind::Legacy,
                "memory cannot be attached to the legacy default stream alone");
        const auto allocation = Allocations::instance().find(dptr);
        require(allocation != nullptr && allocation->kind == MemoryKind::Managed,
                "dptr is not managed memory");
        require(length == 0 || (length == allocation->bytes && dptr == allocation->base),
                "managed memory is attached as a whole: the length must be 0 or its size");
    });
}

} // extern "C"
