// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Managed memory: advice and prefetching. They have no effect here, but can be queried.

#include "api/entry.hpp"
#include "api/handles.hpp"
#include "objects/graphs/capture.hpp"
#include "objects/memory/managed.hpp"
#include "objects/process/error.hpp"

#include <span>

using namespace cuprum::emulator;

namespace {

/// Returns the location for the device number of the older calls.
constexpr const char* NOT_CAPTURED = "prefetches and discards cannot be captured";

CUmemLocation location_of(CUdevice device) {
    return device == CU_DEVICE_CPU ? CUmemLocation{CU_MEM_LOCATION_TYPE_HOST, 0}
                                   : CUmemLocation{CU_MEM_LOCATION_TYPE_DEVICE, device};
}

/// Checks the ranges of a batch.
void check_batch(const CUdeviceptr* addresses, const std::size_t* sizes, std::size_t count,
                 unsigned long long flags) {
    require(addresses != nullptr && sizes != nullptr && count != 0, "the batch is empty");
    require(flags == 0, "the flags must be 0");
}

void prefetch_batch(const CUdeviceptr* addresses, const std::size_t* sizes, std::size_t count,
                    const CUmemLocation* locations, const std::size_t* starts,
                    std::size_t location_count) {
    require(locations != nullptr && starts != nullptr && location_count != 0 &&
                location_count <= count && starts[0] == 0,
            "the locations do not cover the batch");
    for (std::size_t index = 1; index < location_count; ++index) {
        require(starts[index] > starts[index - 1] && starts[index] < count,
                "the locations are not in the order of the ranges");
    }
    const auto for_each = [&](const auto& action) {
        std::size_t which = 0;
        for (std::size_t index = 0; index < count; ++index) {
            while (which + 1 < location_count && starts[which + 1] <= index) {
                ++which;
            }
            action(addresses[index], sizes[index], locations[which]);
        }
    };
    // All or nothing.
    ManagedAdvice& advice = ManagedAdvice::instance();
    for_each([&](auto... range) { advice.check_prefetch(range...); });
    for_each([&](auto... range) { advice.prefetch(range...); });
}

} // namespace

ROW(cuMemAdvise_v2, 12020, CUdeviceptr devPtr, size_t count, CUmem_advise advice,
    CUmemLocation location) {
    ManagedAdvice::instance().advise(devPtr, count, advice, location);
}

FORWARD(cuMemAdvise, 8000, CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device) {
    return cuMemAdvise_v2(devPtr, count, advice, location_of(device));
}

ROW_PTSZ(cuMemPrefetchAsync_v2, 12020, CUdeviceptr devPtr, size_t count, CUmemLocation location,
         Flags<> /*flags*/, Stream& stream) {
    Capture::refuse_on(stream, NOT_CAPTURED);
    ManagedAdvice::instance().prefetch(devPtr, count, location);
}

FORWARD_PTSZ(cuMemPrefetchAsync, 8000, CUdeviceptr devPtr, size_t count, CUdevice dstDevice,
             CUstream hStream) {
    return cuMemPrefetchAsync_v2(devPtr, count, location_of(dstDevice), 0, hStream);
}

ROW_PTSZ(cuMemPrefetchBatchAsync, 13000, CUdeviceptr* dptrs, size_t* sizes, size_t count,
         CUmemLocation* prefetchLocs, size_t* prefetchLocIdxs, size_t numPrefetchLocs,
         unsigned long long flags, CUstream hStream) {
    Capture::refuse_on(*stream_of_batch(hStream), NOT_CAPTURED);
    check_batch(dptrs, sizes, count, flags);
    prefetch_batch(dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs);
}

ROW_PTSZ(cuMemDiscardBatchAsync, 13000, CUdeviceptr* dptrs, size_t* sizes, size_t count,
         unsigned long long flags, CUstream hStream) {
    // The contents are undefined afterwards, so they may stay as they are.
    Capture::refuse_on(*stream_of_batch(hStream), NOT_CAPTURED);
    check_batch(dptrs, sizes, count, flags);
    for (size_t index = 0; index < count; ++index) {
        const auto allocation = Allocations::instance().find(dptrs[index]);
        require(sizes[index] != 0 && allocation != nullptr && allocation->is_managed() &&
                    Allocations::instance().covers(dptrs[index], sizes[index], false),
                "a range is not managed memory");
    }
}

ROW_PTSZ(cuMemDiscardAndPrefetchBatchAsync, 13000, CUdeviceptr* dptrs, size_t* sizes, size_t count,
         CUmemLocation* prefetchLocs, size_t* prefetchLocIdxs, size_t numPrefetchLocs,
         unsigned long long flags, CUstream hStream) {
    Capture::refuse_on(*stream_of_batch(hStream), NOT_CAPTURED);
    check_batch(dptrs, sizes, count, flags);
    prefetch_batch(dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs);
}

ROW(cuMemRangeGetAttribute, 8000, void* data, size_t dataSize, CUmem_range_attribute attribute,
    CUdeviceptr devPtr, size_t count) {
    ManagedAdvice::instance().get(data, dataSize, attribute, devPtr, count);
}

ROW(cuMemRangeGetAttributes, 8000, void** data, size_t* dataSizes,
    CUmem_range_attribute* attributes, size_t numAttributes, CUdeviceptr devPtr, size_t count) {
    require(data != nullptr && dataSizes != nullptr && attributes != nullptr && numAttributes != 0,
            "an argument is NULL or empty");
    for (size_t index = 0; index < numAttributes; ++index) {
        ManagedAdvice::instance().get(data[index], dataSizes[index], attributes[index], devPtr,
                                      count);
    }
}
