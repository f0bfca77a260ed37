// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Host functions, and values in memory that a stream writes or waits for.

#include "api/entry.hpp"
#include "api/handles.hpp"
#include "api/newer_cuda.hpp"
#include "objects/devices/device.hpp"
#include "objects/graphs/capture.hpp"
#include "objects/process/error.hpp"
#include "objects/streams/memory_words.hpp"

#include <span>

using namespace cuprum::emulator;

namespace {

constexpr unsigned MAX_BATCH_ITEMS = 256;

/// Enqueues an operation that has been checked.
void enqueue_item(Stream& stream, const CUstreamBatchMemOpParams& item) {
    const auto errors = stream.context().errors();
    const Origin by = Origin::here(places::OF_LAUNCHES);
    if (!is_wait(item)) {
        stream.enqueue(
            std::make_shared<Task>(errors, [item, by] { perform(item, by); }, Task::Size::Quick));
        return;
    }
    stream.enqueue(
        std::make_shared<WaitUntil>(errors, [item, by] { return is_reached(item, by); }));
}

/// Checks operations and gives them to a stream: all or nothing.
void enqueue_batch(CUstream handle, std::span<const CUstreamBatchMemOpParams> items) {
    const auto stream = object_of(handle);
    for (const CUstreamBatchMemOpParams& item : items) {
        check_word_operation(item, stream->context().device().ordinal());
    }
    if (stream->may_be_capturing() &&
        Capture::take(*stream,
                      BatchParameters{stream->shared_context(), {items.begin(), items.end()}, 0})) {
        return;
    }
    for (const CUstreamBatchMemOpParams& item : items) {
        enqueue_item(*stream, item);
    }
}

template <typename Word>
void write_one(CUstream stream, CUdeviceptr address, Word value, unsigned flags) {
    CUstreamBatchMemOpParams item{};
    if constexpr (sizeof(Word) == sizeof(cuuint32_t)) {
        item.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
        item.writeValue.value = value;
    } else {
        item.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
        item.writeValue.value64 = value;
    }
    item.writeValue.address = address;
    item.writeValue.flags = flags;
    enqueue_batch(stream, {&item, 1});
}

template <typename Word>
void wait_for_one(CUstream stream, CUdeviceptr address, Word value, unsigned flags) {
    CUstreamBatchMemOpParams item{};
    if constexpr (sizeof(Word) == sizeof(cuuint32_t)) {
        item.waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
        item.waitValue.value = value;
    } else {
        item.waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_64;
        item.waitValue.value64 = value;
    }
    item.waitValue.address = address;
    item.waitValue.flags = flags;
    enqueue_batch(stream, {&item, 1});
}

} // namespace

// How the driver's thread waits for the function makes no difference here.
ROW_PTSZ(cuLaunchHostFunc_v2, 13010, CUstream hStream, CUhostFn fn, void* userData,
         unsigned int syncMode) {
    constexpr unsigned spin_wait = 1; // CU_HOST_TASK_SPINWAIT
    require(syncMode <= spin_wait, "unknown syncMode");
    require(fn != nullptr, "fn must not be NULL");
    const auto stream = object_of(hStream);
    if (stream->may_be_capturing() && Capture::take(*stream, HostParameters{fn, userData})) {
        return;
    }
    stream->enqueue(std::make_shared<HostFunction>(
        stream->context().errors(), [fn, userData] { fn(userData); }, nullptr));
}

FORWARD_PTSZ(cuLaunchHostFunc, 10000, CUstream hStream, CUhostFn fn, void* userData) {
    return cuLaunchHostFunc_v2(hStream, fn, userData, 0);
}

ROW_PTSZ(cuStreamAddCallback, 5000, CUstream hStream, CUstreamCallback callback, void* userData,
         unsigned int flags) {
    require(callback != nullptr, "callback must not be NULL");
    require(flags == 0, "the flags must be 0");
    const auto stream = object_of(hStream);
    Capture::refuse_on(*stream, "callbacks cannot be captured; cuLaunchHostFunc can");
    const auto errors = stream->context().errors();
    const auto call = [hStream, callback, userData, errors] {
        callback(hStream, errors->get(), userData);
    };
    stream->enqueue(std::make_shared<HostFunction>(errors, call, call));
}

ROW_PTSZ(cuStreamWriteValue32_v2, 11070, CUstream stream, CUdeviceptr addr, cuuint32_t value,
         unsigned int flags) {
    write_one(stream, addr, value, flags);
}

ALIAS_PTSZ(cuStreamWriteValue32, 8000, cuStreamWriteValue32_v2);

ROW_PTSZ(cuStreamWriteValue64_v2, 11070, CUstream stream, CUdeviceptr addr, cuuint64_t value,
         unsigned int flags) {
    write_one(stream, addr, value, flags);
}

ALIAS_PTSZ(cuStreamWriteValue64, 9000, cuStreamWriteValue64_v2);

ROW_PTSZ(cuStreamWaitValue32_v2, 11070, CUstream stream, CUdeviceptr addr, cuuint32_t value,
         unsigned int flags) {
    wait_for_one(stream, addr, value, flags);
}

ALIAS_PTSZ(cuStreamWaitValue32, 8000, cuStreamWaitValue32_v2);

ROW_PTSZ(cuStreamWaitValue64_v2, 11070, CUstream stream, CUdeviceptr addr, cuuint64_t value,
         unsigned int flags) {
    wait_for_one(stream, addr, value, flags);
}

ALIAS_PTSZ(cuStreamWaitValue64, 9000, cuStreamWaitValue64_v2);

ROW_PTSZ(cuStreamBatchMemOp_v2, 11070, CUstream stream, unsigned int count,
         CUstreamBatchMemOpParams* paramArray, Flags<> /*flags*/) {
    require(paramArray != nullptr && count != 0, "the batch is empty");
    require(count < MAX_BATCH_ITEMS, "a batch has fewer than 256 operations");
    enqueue_batch(stream, {paramArray, count});
}

ALIAS_PTSZ(cuStreamBatchMemOp, 8000, cuStreamBatchMemOp_v2);
