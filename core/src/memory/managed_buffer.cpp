// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/managed_buffer.hpp>

#include "device/context_state.hpp"
#include "device/device_state.hpp"
#include "driver/current.hpp"
#include "driver/handle.hpp"
#include "memory/allocation.hpp"
#include "memory/buffer_state.hpp"
#include "memory/copies.hpp"
#include "stream/stream_state.hpp"

#include <cuprum/detail/order.hpp>
#include <cuprum/error.hpp>
#include <cuprum/version.hpp>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

namespace cuprum {

namespace {

using driver::call;
using driver::table;

constexpr int HOST_ORDINAL = -1;                     // CU_DEVICE_CPU
constexpr int NO_ORDINAL = -2;                       // CU_DEVICE_INVALID
constexpr Location NOWHERE{LocationKind::Device, 0}; // for advice that takes no place

/// The ranges of a batch, as the driver takes them, and where each goes, if they move. Buffers of 0
/// bytes have nothing to move and are left out: the driver refuses them.
struct Ranges {
    std::vector<CUdeviceptr> pointers;
    std::vector<std::size_t> sizes;
    std::vector<CUmemLocation> targets; // one for all, or one for each
    std::vector<std::size_t> starts;    // the first range that each target is for
};

Ranges ranges_of(std::span<const ManagedBuffer> buffers, std::span<const Location> locations = {});

detail::BufferState& managed(const Buffer& buffer) {
    detail::BufferState& state = detail::open(buffer, "ManagedBuffer");
    if (!detail::is_managed(state)) {
        throw std::invalid_argument(
            "buffer is not a managed-memory allocation: it does not move, so "
            "it cannot be advised, prefetched or discarded");
    }
    return state;
}

/// The same, of a buffer that has something in it.
detail::BufferState& with_bytes(const Buffer& buffer) {
    detail::BufferState& state = managed(buffer);
    if (state.size == 0) {
        throw std::invalid_argument("buffer has 0 bytes, so there is nothing to advise on");
    }
    return state;
}

void advise(const Buffer& buffer, CUmem_advise advice, const Location& location) {
    const detail::BufferState& state = with_bytes(buffer);
    const detail::AnyContext context;
    const auto& entry = table().cuMemAdvise;
    const CUresult status =
        entry(state.pointer, state.size, advice, detail::driver_location(location));
    if (status == CUDA_ERROR_NOT_SUPPORTED) {
        driver::raise(status, entry.name,
                      "this driver takes no advice for memory of a managed pool; give the pool a "
                      "preferred_location, prefetch, or wrap memory of cuMemAllocManaged with "
                      "ManagedBuffer.from_handle");
    }
    if (status != CUDA_SUCCESS) {
        driver::raise(status, entry.name);
    }
}

int range_attribute(const Buffer& buffer, CUmem_range_attribute attribute) {
    const detail::BufferState& state = with_bytes(buffer);
    int value = 0;
    const detail::AnyContext context;
    call(table().cuMemRangeGetAttribute, static_cast<void*>(&value), sizeof(value), attribute,
         state.pointer, state.size);
    return value;
}

/// Asks for a location's type and id; drivers that do not know those know the plain ordinal.
std::optional<Location> range_location(const Buffer& buffer, CUmem_range_attribute type,
                                       CUmem_range_attribute id, CUmem_range_attribute plain) {
    if (driver_version() >= detail::BATCH_VERSION) {
        return detail::location_from(range_attribute(buffer, type), range_attribute(buffer, id));
    }
    const int ordinal = range_attribute(buffer, plain);
    if (ordinal == NO_ORDINAL) {
        return std::nullopt;
    }
    return ordinal == HOST_ORDINAL ? Location::host() : Location{LocationKind::Device, ordinal};
}

void check_accessor(const Location& location) {
    if (location.kind != LocationKind::Device && location.kind != LocationKind::Host) {
        throw std::invalid_argument(std::string("accessed_by does not support location_type='") +
                                    to_string(location.kind) +
                                    "', expected a device or the host as a whole");
    }
}

Ranges ranges_of(std::span<const ManagedBuffer> buffers, std::span<const Location> locations) {
    if (buffers.empty()) {
        throw std::invalid_argument("empty buffers sequence, expected at least one buffer");
    }
    Ranges ranges;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        const detail::BufferState& state = managed(buffers[i]);
        if (state.size == 0) {
            continue;
        }
        if (locations.size() > 1 || (locations.size() == 1 && ranges.targets.empty())) {
            ranges.starts.push_back(ranges.pointers.size());
            ranges.targets.push_back(
                detail::driver_location(locations[locations.size() == 1 ? 0 : i]));
        }
        ranges.pointers.push_back(state.pointer);
        ranges.sizes.push_back(state.size);
    }
    return ranges;
}

void check_count(std::span<const Location> locations, std::size_t buffers) {
    if (buffers != 0 && locations.size() != 1 && locations.size() != buffers) {
        throw std::invalid_argument("locations length (" + std::to_string(locations.size()) +
                                    ") does not match buffers length (" + std::to_string(buffers) +
                                    "); pass one location for all, or one for each");
    }
}

/// Returns a stream that moves can be enqueued on.
const detail::StreamState& open_queue(const Stream& stream) {
    const detail::StreamState& queue = detail::open(stream);
    if (detail::is_capturing(stream)) {
        throw std::logic_error("stream is capturing, and a graph has no nodes that prefetch or "
                               "discard managed memory; do it before the capture, or on another "
                               "stream");
    }
    return queue;
}

void require_batches(const char* what) {
    if (const int found = driver_version(); found < detail::BATCH_VERSION) {
        throw NotSupportedError(what, detail::BATCH_VERSION, found);
    }
}

} // namespace

bool ManagedBuffer::read_mostly() const {
    return range_attribute(*this, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY) != 0;
}

void ManagedBuffer::set_read_mostly(bool value) const {
    advise(*this, value ? CU_MEM_ADVISE_SET_READ_MOSTLY : CU_MEM_ADVISE_UNSET_READ_MOSTLY, NOWHERE);
}

std::optional<Location> ManagedBuffer::preferred_location() const {
    return range_location(*this, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE,
                          CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID,
                          CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION);
}

void ManagedBuffer::set_preferred_location(const std::optional<Location>& location) const {
    advise(*this,
           location ? CU_MEM_ADVISE_SET_PREFERRED_LOCATION : CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION,
           location.value_or(NOWHERE));
}

std::vector<Location> ManagedBuffer::accessed_by() const {
    const detail::BufferState& buffer = with_bytes(*this);
    std::vector<int> ordinals(detail::devices().size() + 1, NO_ORDINAL); // and the host
    const detail::AnyContext context;
    call(table().cuMemRangeGetAttribute, static_cast<void*>(ordinals.data()),
         ordinals.size() * sizeof(int), CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, buffer.pointer,
         buffer.size);
    std::erase(ordinals, NO_ORDINAL);
    std::ranges::sort(ordinals, {}, [](int each) { return static_cast<unsigned>(each); });
    std::vector<Location> locations;
    locations.reserve(ordinals.size());
    for (const int ordinal : ordinals) {
        locations.push_back(ordinal == HOST_ORDINAL ? Location::host()
                                                    : Location{LocationKind::Device, ordinal});
    }
    return locations;
}

void ManagedBuffer::set_accessed_by(std::span<const Location> locations) const {
    std::ranges::for_each(locations, check_accessor);
    const std::vector<Location> now = accessed_by();
    const auto is_in = [](const auto& range, const Location& each) {
        return std::ranges::find(range, each) != range.end();
    };
    for (const Location& each : now) {
        if (!is_in(locations, each)) {
            remove_accessed_by(each);
        }
    }
    for (const Location& each : locations) {
        if (!is_in(now, each)) {
            add_accessed_by(each);
        }
    }
}

void ManagedBuffer::add_accessed_by(const Location& location) const {
    check_accessor(location);
    advise(*this, CU_MEM_ADVISE_SET_ACCESSED_BY, location);
}

void ManagedBuffer::remove_accessed_by(const Location& location) const {
    check_accessor(location);
    advise(*this, CU_MEM_ADVISE_UNSET_ACCESSED_BY, location);
}

std::optional<Location> ManagedBuffer::last_prefetch_location() const {
    return range_location(*this, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE,
                          CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID,
                          CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION);
}

void ManagedBuffer::prefetch(const Location& location, const Stream& stream) const {
    const detail::BufferState& buffer = managed(*this);
    const detail::StreamState& queue = open_queue(stream);
    if (buffer.size == 0) {
        return;
    }
    const driver::Current current(detail::context_of(queue));
    call(table().cuMemPrefetchAsync, buffer.pointer, buffer.size, detail::driver_location(location),
         0U, queue.handle);
}

void ManagedBuffer::discard(const Stream& stream) const {
    discard_batch(stream, std::span(this, 1));
}

void ManagedBuffer::discard_prefetch(const Location& location, const Stream& stream) const {
    discard_prefetch_batch(stream, std::span(this, 1), std::span(&location, 1));
}

void prefetch_batch(const Stream& stream, std::span<const ManagedBuffer> buffers,
                    std::span<const Location> locations) {
    const detail::StreamState& queue = open_queue(stream);
    check_count(locations, buffers.size());
    Ranges ranges = ranges_of(buffers, locations);
    if (ranges.sizes.empty()) {
        return;
    }
    if (driver_version() < detail::BATCH_VERSION) {
        for (std::size_t i = 0; i < buffers.size(); ++i) {
            buffers[i].prefetch(locations[locations.size() == 1 ? 0 : i], stream);
        }
        return;
    }
    const driver::Current current(detail::context_of(queue));
    call(table().cuMemPrefetchBatchAsync, ranges.pointers.data(), ranges.sizes.data(),
         ranges.pointers.size(), ranges.targets.data(), ranges.starts.data(), ranges.targets.size(),
         0ULL, queue.handle);
}

void discard_batch(const Stream& stream, std::span<const ManagedBuffer> buffers) {
    const detail::StreamState& queue = open_queue(stream);
    Ranges ranges = ranges_of(buffers);
    require_batches("cuMemDiscardBatchAsync");
    if (ranges.sizes.empty()) {
        return;
    }
    const driver::Current current(detail::context_of(queue));
    call(table().cuMemDiscardBatchAsync, ranges.pointers.data(), ranges.sizes.data(),
         ranges.pointers.size(), 0ULL, queue.handle);
}

void discard_prefetch_batch(const Stream& stream, std::span<const ManagedBuffer> buffers,
                            std::span<const Location> locations) {
    const detail::StreamState& queue = open_queue(stream);
    check_count(locations, buffers.size());
    Ranges ranges = ranges_of(buffers, locations);
    require_batches("cuMemDiscardAndPrefetchBatchAsync");
    if (ranges.sizes.empty()) {
        return;
    }
    const driver::Current current(detail::context_of(queue));
    call(table().cuMemDiscardAndPrefetchBatchAsync, ranges.pointers.data(), ranges.sizes.data(),
         ranges.pointers.size(), ranges.targets.data(), ranges.starts.data(), ranges.targets.size(),
         0ULL, queue.handle);
}

} // namespace cuprum
