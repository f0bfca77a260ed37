// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The host in the order of a stream: callbacks, and words of memory written and waited for.

#include "api/entry.hpp"
#include "api/handles.hpp"
#include "check/written.hpp"
#include "objects/graphs/capture.hpp"
#include "objects/memory/address_space.hpp"
#include "objects/memory/allocations.hpp"
#include "objects/memory/reach.hpp"
#include "objects/process/error.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

using namespace cuprum::emulator;

namespace {

constexpr unsigned MAX_BATCH_ITEMS = 256;

void check_word(const Stream& stream, CUdeviceptr address, std::size_t bytes, bool is_write) {
    require(address % bytes == 0, "the address is not aligned");
    const auto allocation = Allocations::instance().find(address);
    require(allocation != nullptr && Allocations::instance().bytes_from(address) >= bytes,
            "the address is not known memory");
    check_reach({.address = address, .bytes = bytes, .is_write = is_write}, *allocation, stream);
}

template <typename Word>
void check_write(const Stream& stream, CUdeviceptr address, unsigned flags) {
    constexpr unsigned known = CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER;
    require((flags & ~known) == 0, "unknown flags");
    check_word(stream, address, sizeof(Word), true);
}

/// Writes a word that has been checked.
template <typename Word>
void write_word(Stream& stream, CUdeviceptr address, Word value) {
    stream.enqueue(std::make_shared<Task>(
        stream.context().errors(),
        [address, value] {
            std::atomic_ref(*reinterpret_cast<Word*>(address)).store(value);
            check::mark_written(AddressSpace::instance().map(), address, sizeof(Word));
        },
        Task::Size::Quick, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP));
}

template <typename Word>
bool is_met(Word now, Word value, unsigned condition) {
    switch (condition) {
    case CU_STREAM_WAIT_VALUE_GEQ:
        return static_cast<std::make_signed_t<Word>>(now - value) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ:
        return now == value;
    case CU_STREAM_WAIT_VALUE_AND:
        return (now & value) != 0;
    default:
        return static_cast<Word>(~(now | value)) != 0;
    }
}

unsigned condition_of(unsigned flags) {
    return flags & ~static_cast<unsigned>(CU_STREAM_WAIT_VALUE_FLUSH);
}

template <typename Word>
void check_wait(const Stream& stream, CUdeviceptr address, unsigned flags) {
    require(condition_of(flags) <= CU_STREAM_WAIT_VALUE_NOR, "unknown flags");
    check_word(stream, address, sizeof(Word), false);
}

/// Waits for a word that has been checked.
template <typename Word>
void wait_for_word(Stream& stream, CUdeviceptr address, Word value, unsigned flags) {
    const unsigned condition = condition_of(flags);
    const auto errors = stream.context().errors();
    stream.enqueue(std::make_shared<HostFunction>(
        errors,
        [address, value, condition, errors] {
            constexpr auto longest_nap = std::chrono::microseconds(200);
            auto nap = std::chrono::microseconds(1);
            while (!is_met(std::atomic_ref(*reinterpret_cast<Word*>(address)).load(), value,
                           condition) &&
                   errors->get() == CUDA_SUCCESS) {
                std::this_thread::sleep_for(nap);
                nap = std::min(nap * 2, longest_nap);
            }
        },
        nullptr, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP));
}

template <typename Word>
void write_one(CUstream handle, CUdeviceptr address, Word value, unsigned flags) {
    const auto stream = stream_from(handle);
    check_write<Word>(*stream, address, flags);
    write_word(*stream, address, value);
}

template <typename Word>
void wait_for_one(CUstream handle, CUdeviceptr address, Word value, unsigned flags) {
    const auto stream = stream_from(handle);
    check_wait<Word>(*stream, address, flags);
    wait_for_word(*stream, address, value, flags);
}

void check_item(const Stream& stream, const CUstreamBatchMemOpParams& item) {
    switch (item.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
        return check_wait<cuuint32_t>(stream, item.waitValue.address, item.waitValue.flags);
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        return check_wait<cuuint64_t>(stream, item.waitValue.address, item.waitValue.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
        return check_write<cuuint32_t>(stream, item.writeValue.address, item.writeValue.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        return check_write<cuuint64_t>(stream, item.writeValue.address, item.writeValue.flags);
    case CU_STREAM_MEM_OP_BARRIER:
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
        return;
    default:
        fail(CUDA_ERROR_INVALID_VALUE, "unknown operation in the batch");
    }
}

/// Enqueues an item of a batch that has been checked.
void enqueue_item(Stream& stream, const CUstreamBatchMemOpParams& item) {
    switch (item.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
        wait_for_word(stream, item.waitValue.address, item.waitValue.value, item.waitValue.flags);
        break;
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        wait_for_word(stream, item.waitValue.address, item.waitValue.value64, item.waitValue.flags);
        break;
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
        write_word(stream, item.writeValue.address, item.writeValue.value);
        break;
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        write_word(stream, item.writeValue.address, item.writeValue.value64);
        break;
    default:
        break; // the stream's order is barrier enough
    }
}

} // namespace

extern "C" {

CUresult CUDAAPI cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void* userData) {
    return entry("cuLaunchHostFunc", [&] {
        require(fn != nullptr, "fn must not be NULL");
        const auto stream = stream_from(hStream);
        stream->enqueue(std::make_shared<HostFunction>(
            stream->context().errors(), [fn, userData] { fn(userData); }, nullptr));
    });
}

CUresult CUDAAPI cuStreamAddCallback(CUstream hStream, CUstreamCallback callback, void* userData,
                                     unsigned int flags) {
    return entry("cuStreamAddCallback", [&] {
        require(callback != nullptr, "callback must not be NULL");
        require(flags == 0, "the flags must be 0");
        const auto stream = stream_from(hStream);
        Capture::refuse_on(*stream, "callbacks cannot be captured; cuLaunchHostFunc can");
        const auto errors = stream->context().errors();
        const auto call = [hStream, callback, userData, errors] {
            callback(hStream, errors->get(), userData);
        };
        stream->enqueue(std::make_shared<HostFunction>(errors, call, call));
    });
}

CUresult CUDAAPI cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr addr, cuuint32_t value,
                                         unsigned int flags) {
    return entry("cuStreamWriteValue32", [&] { write_one(stream, addr, value, flags); });
}

CUresult CUDAAPI cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr addr, cuuint64_t value,
                                         unsigned int flags) {
    return entry("cuStreamWriteValue64", [&] { write_one(stream, addr, value, flags); });
}

CUresult CUDAAPI cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr addr, cuuint32_t value,
                                        unsigned int flags) {
    return entry("cuStreamWaitValue32", [&] { wait_for_one(stream, addr, value, flags); });
}

CUresult CUDAAPI cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr addr, cuuint64_t value,
                                        unsigned int flags) {
    return entry("cuStreamWaitValue64", [&] { wait_for_one(stream, addr, value, flags); });
}

CUresult CUDAAPI cuStreamBatchMemOp_v2(CUstream stream, unsigned int count,
                                       CUstreamBatchMemOpParams* paramArray, unsigned int flags) {
    return entry("cuStreamBatchMemOp", [&] {
        require(flags == 0, "the flags must be 0");
        require(paramArray != nullptr && count != 0, "the batch is empty");
        require(count < MAX_BATCH_ITEMS, "a batch has fewer than 256 operations");
        const auto order = stream_from(stream);
        // All or nothing.
        std::for_each_n(paramArray, count, [&](const auto& item) { check_item(*order, item); });
        std::for_each_n(paramArray, count, [&](const auto& item) { enqueue_item(*order, item); });
    });
}

} // extern "C"
