// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Copies of one dimension to and from arrays. The others are in memory_copy.cpp.

#include "api/entry.hpp"
#include "api/handles.hpp"
#include "objects/memory/copy.hpp"
#include "objects/memory/copy_request.hpp"

#include <cstdint>

using namespace cuprum::emulator;

namespace {

/// One end of such a copy: an array from an offset on, or plain memory.
struct FlatEnd {
    CUarray array = nullptr;
    std::uint64_t offset = 0;
    std::uint64_t address = 0;
    CopyEnd end = CopyEnd::Array;
};

FlatEnd part_of(CUarray array, std::size_t offset) {
    return {array, offset, 0, CopyEnd::Array};
}

FlatEnd host(const void* pointer) {
    return {nullptr, 0, reinterpret_cast<std::uint64_t>(pointer), CopyEnd::Host};
}

FlatEnd device(CUdeviceptr address) {
    return {nullptr, 0, address, CopyEnd::Device};
}

void copy_flat(CUstream stream, const FlatEnd& to, const FlatEnd& from, std::size_t bytes,
               CopyMode mode) {
    Copy copy = linear_copy(to.address, to.end, from.address, from.end, bytes);
    if (to.end == CopyEnd::Array) {
        copy.destination = array_side(to.array, {to.offset, 0, 0}, copy);
    }
    if (from.end == CopyEnd::Array) {
        copy.source = array_side(from.array, {from.offset, 0, 0}, copy);
    }
    enqueue_copy(*object_of(stream), copy, mode);
}

} // namespace

ROW_PTDS(cuMemcpyHtoA_v2, 3020, CUarray dstArray, size_t dstOffset, const void* srcHost,
         size_t ByteCount) {
    copy_flat(nullptr, part_of(dstArray, dstOffset), host(srcHost), ByteCount, CopyMode::Sync);
}

ROW_PTSZ(cuMemcpyHtoAAsync_v2, 3020, CUarray dstArray, size_t dstOffset, const void* srcHost,
         size_t ByteCount, CUstream hStream) {
    copy_flat(hStream, part_of(dstArray, dstOffset), host(srcHost), ByteCount, CopyMode::Async);
}

ROW_PTDS(cuMemcpyAtoH_v2, 3020, void* dstHost, CUarray srcArray, size_t srcOffset,
         size_t ByteCount) {
    copy_flat(nullptr, host(dstHost), part_of(srcArray, srcOffset), ByteCount, CopyMode::Sync);
}

ROW_PTSZ(cuMemcpyAtoHAsync_v2, 3020, void* dstHost, CUarray srcArray, size_t srcOffset,
         size_t ByteCount, CUstream hStream) {
    copy_flat(hStream, host(dstHost), part_of(srcArray, srcOffset), ByteCount, CopyMode::Async);
}

ROW_PTDS(cuMemcpyDtoA_v2, 3020, CUarray dstArray, size_t dstOffset, CUdeviceptr srcDevice,
         size_t ByteCount) {
    copy_flat(nullptr, part_of(dstArray, dstOffset), device(srcDevice), ByteCount, CopyMode::Sync);
}

ROW_PTDS(cuMemcpyAtoD_v2, 3020, CUdeviceptr dstDevice, CUarray srcArray, size_t srcOffset,
         size_t ByteCount) {
    copy_flat(nullptr, device(dstDevice), part_of(srcArray, srcOffset), ByteCount, CopyMode::Sync);
}

ROW_PTDS(cuMemcpyAtoA_v2, 3020, CUarray dstArray, size_t dstOffset, CUarray srcArray,
         size_t srcOffset, size_t ByteCount) {
    copy_flat(nullptr, part_of(dstArray, dstOffset), part_of(srcArray, srcOffset), ByteCount,
              CopyMode::Sync);
}
