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

ROW(cuStreamCreate, 2000, CUstream* phStream, unsigned int flags) {
    create_stream(phStream, flags, Stream::LEAST_PRIORITY);
}

ROW(cuStreamCreateWithPriority, 5050, CUstream* phStream, unsigned int flags, int priority) {
    create_stream(phStream, flags, priority);
}

ROW(cuStreamDestroy_v2, 4000, CUstream hStream) {
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
}

ALIAS(cuStreamDestroy, 2000, cuStreamDestroy_v2);

ROW_PTSZ(cuStreamSynchronize, 2000, Stream& stream) {
    synchronize(stream);
}

ANSWER_PTSZ(cuStreamQuery, 2000, std::shared_ptr<Stream> stream) {
    Capture::refuse_on(*stream, "a capturing stream cannot be queried");
    stream->check_open();
    Capture::refuse_unsafe_call();
    const bool is_idle = stream->is_idle();
    stream->context().check_usable();
    return query_result(is_idle);
}

ROW_PTSZ(cuStreamWaitEvent, 3020, Stream& stream, Event& event,
         Flags<CU_EVENT_WAIT_EXTERNAL> flags) {
    event.hold_back(stream, (flags & CU_EVENT_WAIT_EXTERNAL) != 0);
}

ROW_PTSZ(cuStreamGetPriority, 5050, Stream& stream, int* priority) {
    put(priority, stream.priority());
}

ROW_PTSZ(cuStreamGetFlags, 5050, std::shared_ptr<Stream> stream, unsigned int* flags) {
    Capture::refuse_on(*stream, "the flags of a capturing stream cannot be read");
    put(flags, stream->flags());
}

ROW_PTSZ(cuStreamGetId, 12000, Stream& stream, unsigned long long* streamId) {
    put(streamId, stream.id());
}

ROW_PTSZ(cuStreamGetDevice, 12080, Stream& stream, CUdevice* device) {
    put(device, stream.context().device().ordinal());
}

ROW_PTSZ(cuStreamGetCtx, 9020, Stream& stream, CUcontext& pctx) {
    pctx = stream.green() != nullptr ? stream.green()->as_context()
                                     : stream.context().handle<CUcontext>();
}

ROW_PTSZ(cuStreamGetCtx_v2, 12050, Stream& stream, CUcontext& pCtx, CUgreenCtx& pGreenCtx) {
    pCtx = stream.context().handle<CUcontext>();
    pGreenCtx = green_handle(stream);
}

ROW(cuStreamGetGreenCtx, 12040, Stream& stream, CUgreenCtx& phCtx) {
    phCtx = green_handle(stream);
}

ROW_PTSZ(cuStreamGetAttribute, 11000, Stream& stream, CUstreamAttrID attr,
         CUstreamAttrValue& value) {
    value = stream.attribute(attr);
}

ROW_PTSZ(cuStreamSetAttribute, 11000, Stream& stream, CUstreamAttrID attr,
         const CUstreamAttrValue& param) {
    stream.set_attribute(attr, param);
}

ROW_PTSZ(cuStreamCopyAttributes, 11000, std::shared_ptr<Stream> to, std::shared_ptr<Stream> from) {
    require(&to->context() == &from->context(), "the streams belong to different contexts");
    if (to != from) {
        to->copy_attributes(*from);
    }
}

ROW_PTSZ(cuStreamAttachMemAsync, 6000, std::shared_ptr<Stream> stream, CUdeviceptr dptr,
         size_t length, unsigned int flags) {
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
}
