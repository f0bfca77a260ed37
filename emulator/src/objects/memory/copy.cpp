// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/memory/copy.hpp"

#include "check/written.hpp"
#include "objects/devices/context.hpp"
#include "objects/devices/device.hpp"
#include "objects/graphs/capture.hpp"
#include "objects/graphs/graph_memory.hpp"
#include "objects/memory/address_space.hpp"
#include "objects/memory/allocations.hpp"
#include "objects/memory/copy_request.hpp"
#include "objects/memory/host_pages.hpp"
#include "objects/memory/reach.hpp"
#include "objects/process/error.hpp"
#include "objects/process/origin.hpp"
#include "objects/process/thread_state.hpp"
#include "objects/streams/operation.hpp"
#include "objects/textures/array.hpp"
#include "usage/publisher.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cuprum::emulator {

namespace {

// A smaller copy costs less than passing it to a worker.
constexpr std::uint64_t QUICK_BYTES = 64 << 10;

constexpr const char* NOT_ALLOCATED =
    "memory of a graph is not allocated: launch the graph that allocates it first";

enum class Residence : std::uint8_t { Pageable, Pinned, Managed, Device };

/// What a copy needs to know about one end.
struct Place {
    Residence residence = Residence::Pageable;
    bool is_synchronous = false; // CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: calls without a stream wait
    bool is_missing = false;     // memory of a graph that no launch has allocated
    bool is_registered = false;  // the program's own memory, which it may free too early
};

Place check_side(const CopySide& side, const Copy& copy, bool is_write, int device);
std::pair<Place, Place> check_ends(const Copy& copy, int device); // destination and source
int device_with_access(const Copy& copy, int device);
Place check_fill(const Fill& fill, int device);
void check_alignment(const Fill& fill);
Copy shape_of(const Fill& fill);
CopySide side_of(const Fill& fill);
bool is_side_there(const CopySide& side, const Copy& copy, bool is_write, std::uint64_t& lost);
std::uint64_t extent_bytes(const CopySide& side, const Copy& copy);
void check_pages(const CopySide& side, const Copy& shape, const char* what, const char* relation,
                 const Origin& by);
void check_pitches(const CopySide& side, const Copy& copy, const char* which);
void count_transfer(const Copy& copy, Residence to, Residence from, int device);
std::shared_ptr<std::vector<std::byte>> stage(Copy& copy);
bool waits(const Copy& copy, const Place& to, const Place& from, CopyMode mode) noexcept;
bool must_be_done(const Place& place) noexcept;
bool is_synchronous(const Stream& stream);
void refuse_capture(Stream& stream, CopyMode mode);

/// Does the work. Counts the time of large copies and fills only: reading the clock would slow
/// small ones down.
template <typename Shape>
void perform_counted(const Shape& shape, int device) {
    if (is_quick(shape)) {
        perform(shape);
        return;
    }
    const usage::MemoryTime time(device);
    perform(shape);
}

} // namespace

Copy linear_copy(std::uint64_t destination, CopyEnd destination_end, std::uint64_t source,
                 CopyEnd source_end, std::uint64_t bytes) {
    Copy copy;
    copy.destination = {destination, bytes, bytes, destination_end};
    copy.source = {source, bytes, bytes, source_end};
    copy.width_bytes = bytes;
    return copy;
}

bool is_empty(const Copy& copy) noexcept {
    return copy.width_bytes == 0 || copy.height == 0 || copy.depth == 0;
}

bool is_empty(const Fill& fill) noexcept {
    return fill.width == 0 || fill.height == 0;
}

void check_work(const Copy& copy, int device) {
    (void)check_ends(copy, device);
}

void check_work(const Fill& fill, int device) {
    (void)check_fill(fill, device);
}

void check_before(const Copy& copy, int device) {
    const auto [destination, source] = check_ends(copy, device);
    require(!destination.is_missing && !source.is_missing, NOT_ALLOCATED);
}

void check_before(const Fill& fill, int device) {
    require(!check_fill(fill, device).is_missing, NOT_ALLOCATED);
}

bool is_still_there(const Copy& copy, std::uint64_t& lost) {
    return is_side_there(copy.source, copy, false, lost) &&
           is_side_there(copy.destination, copy, true, lost);
}

bool is_still_there(const Fill& fill, std::uint64_t& lost) {
    return is_side_there(side_of(fill), shape_of(fill), true, lost);
}

bool is_quick(const Copy& copy) noexcept {
    return copy.width_bytes * copy.height * copy.depth <= QUICK_BYTES;
}

bool is_quick(const Fill& fill) noexcept {
    return fill.width * fill.element_bytes * fill.height <= QUICK_BYTES;
}

void enqueue_copy(Stream& stream, const Copy& requested, CopyMode mode) {
    refuse_capture(stream, mode);
    Copy copy = requested;
    if (is_empty(copy)) {
        return;
    }
    const int device = stream.context().device().ordinal();
    const auto [destination, source] = check_ends(copy, device_with_access(copy, device));
    bool is_waiting = waits(copy, destination, source, mode) ||
                      (mode == CopyMode::Sync && is_synchronous(stream));
    if (stream.may_be_capturing() &&
        Capture::take(stream, MemcpyParameters{request_of(copy), copy, stream.shared_context()})) {
        return;
    }
    require(!destination.is_missing && !source.is_missing, NOT_ALLOCATED);
    const Residence to = destination.residence;
    const Residence from = source.residence;
    // The caller may change a pageable source as soon as the call returns. If the stream is idle,
    // waiting is as quick as staging.
    std::shared_ptr<std::vector<std::byte>> staged;
    if (mode == CopyMode::Staged) {
        staged = stage(copy);
    } else if (from == Residence::Pageable && !is_waiting) {
        if (stream.is_idle()) {
            is_waiting = true;
        } else {
            staged = stage(copy);
        }
    }
    const bool is_to_registered = destination.is_registered;
    const bool is_from_registered = source.is_registered && staged == nullptr;
    const Origin by =
        is_to_registered || is_from_registered ? Origin::here(places::OF_LAUNCHES) : Origin{};
    const auto operation = std::make_shared<Task>(
        stream.context().errors(),
        [copy, staged, to, from, device, is_to_registered, is_from_registered, by] {
            if (is_from_registered) {
                check_pages(copy.source, copy, "copy", "from", by);
            }
            if (is_to_registered) {
                check_pages(copy.destination, copy, "copy", "to", by);
            }
            perform_counted(copy, device);
            count_transfer(copy, to, from, device);
        },
        is_quick(copy) ? Task::Size::Quick : Task::Size::Large);
    if (is_waiting) {
        stream.enqueue_and_wait(operation);
        stream.context().check_usable();
    } else {
        stream.enqueue(operation);
    }
}

void enqueue_fill(Stream& stream, const Fill& fill, CopyMode mode) {
    refuse_capture(stream, mode);
    if (is_empty(fill)) {
        check_alignment(fill);
        return;
    }
    const int device = stream.context().device().ordinal();
    const Place place = check_fill(fill, device);
    const bool is_waiting =
        mode == CopyMode::Sync && (must_be_done(place) || is_synchronous(stream));
    if (stream.may_be_capturing() &&
        Capture::take(stream, MemsetParameters{fill, stream.shared_context()})) {
        return;
    }
    require(!place.is_missing, NOT_ALLOCATED);
    const bool is_registered = place.is_registered;
    const Origin by = is_registered ? Origin::here(places::OF_LAUNCHES) : Origin{};
    const auto operation = std::make_shared<Task>(
        stream.context().errors(),
        [fill, device, is_registered, by] {
            if (is_registered) {
                check_pages(side_of(fill), shape_of(fill), "fill", "at", by);
            }
            perform_counted(fill, device);
        },
        is_quick(fill) ? Task::Size::Quick : Task::Size::Large);
    if (is_waiting) {
        stream.enqueue_and_wait(operation);
        stream.context().check_usable();
    } else {
        stream.enqueue(operation);
    }
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

std::pair<Place, Place> check_ends(const Copy& copy, int device) {
    check_pitches(copy.destination, copy, "destination");
    check_pitches(copy.source, copy, "source");
    const Place destination = check_side(copy.destination, copy, true, device);
    return {destination, check_side(copy.source, copy, false, device)};
}

/// Refuses a call without a stream while the stream that it uses, the thread's own, is capturing.
void refuse_capture(Stream& stream, CopyMode mode) {
    if (mode == CopyMode::Sync) {
        Capture::refuse_on(stream, "calls without a stream cannot be captured; use those that take "
                                   "one, whose names end in Async");
    }
}

/// Returns whether a call without a stream returns only when this memory has been used.
bool must_be_done(const Place& place) noexcept {
    return place.residence != Residence::Device || place.is_synchronous;
}

/// Returns whether calls without a stream always wait, as the program has asked of its context.
bool is_synchronous(const Stream& stream) {
    return (stream.context().flags() & CU_CTX_SYNC_MEMOPS) != 0;
}

/// Returns whether a copy returns only when it is done, as an H200 with driver 580 does.
///
/// Managed memory counts as host memory where the call names it so, otherwise as device memory.
bool waits(const Copy& copy, const Place& to, const Place& from, CopyMode mode) noexcept {
    const auto is_host = [](const Place& place) {
        return place.residence == Residence::Pageable || place.residence == Residence::Pinned;
    };
    const auto is_named_host = [](const Place& place, const CopySide& side) {
        return place.residence == Residence::Managed && side.end == CopyEnd::Host;
    };
    switch (mode) {
    case CopyMode::Sync:
        return must_be_done(to) || must_be_done(from);
    case CopyMode::Async:
        return to.residence == Residence::Pageable || is_named_host(to, copy.destination) ||
               is_named_host(from, copy.source) || (is_host(to) && is_host(from));
    case CopyMode::Staged:
        break;
    }
    return to.residence == Residence::Pageable;
}

/// Returns the device whose access rights a copy has: the stream's, or the current one if only
/// that one may use both ends.
int device_with_access(const Copy& copy, int device) {
    if (AddressSpace::instance().device_count() == 1) {
        return device;
    }
    const auto current = current_context_or_null();
    const int own = current != nullptr ? current->device().ordinal() : device;
    const auto is_open = [](int to, const CopySide& side, bool is_write) {
        const auto allocation =
            side.end != CopyEnd::Array ? Allocations::instance().find(side.address) : nullptr;
        return allocation == nullptr || is_open_to(to, *allocation, is_write);
    };
    const auto may_copy = [&](int each) {
        return is_open(each, copy.destination, true) && is_open(each, copy.source, false);
    };
    return own != device && !may_copy(device) && may_copy(own) ? own : device;
}

void check_alignment(const Fill& fill) {
    require(fill.address % fill.element_bytes == 0 &&
                (fill.height <= 1 || fill.pitch_bytes % fill.element_bytes == 0),
            "the address or the pitch is not aligned to the element");
}

Copy shape_of(const Fill& fill) {
    Copy shape;
    shape.width_bytes = fill.width * fill.element_bytes;
    shape.height = fill.height;
    return shape;
}

CopySide side_of(const Fill& fill) {
    return {fill.address, fill.pitch_bytes, 0, CopyEnd::Device};
}

Place check_fill(const Fill& fill, int device) {
    check_alignment(fill);
    require(fill.width <= ~std::uint64_t{0} / fill.element_bytes, "the size is too large");
    const Copy shape = shape_of(fill);
    const CopySide side = side_of(fill);
    check_pitches(side, shape, "destination");
    return check_side(side, shape, true, device);
}

/// Fails if the program has unmapped registered memory that a copy or a fill is about to use.
///
/// On a GPU the pages would still be there, because registering pins them. Here they are gone with
/// the mapping. NOTE: memory that is unmapped while the copy runs still ends the process.
void check_pages(const CopySide& side, const Copy& shape, const char* what, const char* relation,
                 const Origin& by) {
    const std::uint64_t bytes = extent_bytes(side, shape);
    if (!is_mapped(side.address, bytes)) {
        fail(CUDA_ERROR_ILLEGAL_ADDRESS,
             describe_unmapped(std::string(what) + " of " + std::to_string(bytes) + " bytes " +
                                   relation,
                               side.address, by.to_text("    ")));
    }
}

/// Returns whether an end is still mapped host memory, or memory that is still allocated.
bool is_side_there(const CopySide& side, const Copy& copy, bool is_write, std::uint64_t& lost) {
    if (side.end == CopyEnd::Array) {
        lost = side.address;
        return is_live(side.array);
    }
    lost = side.address;
    if (!AddressSpace::instance().contains(side.address)) {
        return is_mapped(side.address, extent_bytes(side, copy));
    }
    const auto& allocations = Allocations::instance();
    const auto allocation = allocations.find(side.address);
    const auto memory = allocation != nullptr ? allocation->graph.lock() : nullptr;
    return (memory == nullptr || memory->is_open()) &&
           (allocations.bytes_from(side.address) >= extent_bytes(side, copy) ||
            allocations.covers(side.address, extent_bytes(side, copy), is_write));
}

/// Finds the memory of one end and checks that it contains the whole range.
Place check_side(const CopySide& side, const Copy& copy, bool is_write, int device) {
    const char* const which = is_write ? "destination" : "source";
    require(side.address != 0, "an address is NULL");
    if (side.end == CopyEnd::Array) { // the range was checked when the request was read
        require(is_live(side.array), "an array has been destroyed");
        return {.residence = Residence::Device};
    }
    const std::uint64_t extent = extent_bytes(side, copy);
    const auto allocation = Allocations::instance().find(side.address);
    if (allocation == nullptr || allocation->kind == MemoryKind::Array) {
        const bool is_device_address = AddressSpace::instance().contains(side.address);
        if (side.end == CopyEnd::Device || is_device_address) {
            fail(CUDA_ERROR_INVALID_VALUE,
                 std::string(which) + (is_device_address ? " is not allocated, or was freed"
                                                         : " is not device memory"));
        }
        return {};
    }
    check_reach({.address = side.address,
                 .bytes = extent,
                 .is_write = is_write,
                 .is_between_contexts = copy.is_between_contexts,
                 .what = which},
                *allocation, device);
    const std::uint64_t available = Allocations::instance().bytes_from(side.address);
    if (extent > available) {
        if (allocation->kind == MemoryKind::Registered && side.end != CopyEnd::Device) {
            return {}; // begins in registered memory and continues in other host memory
        }
        fail(CUDA_ERROR_INVALID_VALUE, std::string(which) + " of " + std::to_string(extent) +
                                           " bytes does not fit: " + std::to_string(available) +
                                           " bytes are left in its allocation");
    }
    const auto memory = allocation->graph.lock();
    return {allocation->is_managed()           ? Residence::Managed
            : allocation->is_host_accessible() ? Residence::Pinned
                                               : Residence::Device,
            allocation->sync_memops.load(std::memory_order_relaxed),
            memory != nullptr && !memory->is_allocated(),
            allocation->kind == MemoryKind::Registered};
}

/// Returns the number of bytes from the first to the last.
std::uint64_t extent_bytes(const CopySide& side, const Copy& copy) {
    return (copy.depth - 1) * side.slice_bytes + (copy.height - 1) * side.pitch_bytes +
           copy.width_bytes;
}

void check_pitches(const CopySide& side, const Copy& copy, const char* which) {
    constexpr std::uint64_t largest = std::uint64_t{1} << 46; // keeps all products in range
    const bool is_sane = copy.width_bytes <= largest && side.pitch_bytes <= largest &&
                         side.slice_bytes <= largest && copy.height <= largest / copy.width_bytes &&
                         copy.depth <= largest / copy.width_bytes;
    if (!is_sane || (copy.height > 1 && side.pitch_bytes < copy.width_bytes) ||
        (copy.height > 1 && copy.height - 1 > largest / side.pitch_bytes) ||
        (copy.depth > 1 && side.slice_bytes != 0 && copy.depth - 1 > largest / side.slice_bytes)) {
        fail(CUDA_ERROR_INVALID_VALUE,
             std::string("the width, height or pitch of the ") + which + " is out of range");
    }
}

/// Records which bytes of device memory have been written.
void note_copy(const MemoryMap& map, std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
    MemoryRange range;
    if (Allocations::instance().find_for_kernels(from, range) && range.is_tracked) {
        check::copy_written(map, to, from, bytes);
    } else {
        check::mark_written(map, to, bytes);
    }
}

/// Adds to the traffic between host and device that NVML reports.
void count_transfer(const Copy& copy, Residence to, Residence from, int device) {
    if ((to == Residence::Device) != (from == Residence::Device)) {
        usage::DeviceRecord& record = usage::device(device);
        usage::add(to == Residence::Device ? record.host_to_device_bytes
                                           : record.device_to_host_bytes,
                   copy.width_bytes * copy.height * copy.depth);
    }
}

/// Copies the source into a packed buffer, which becomes the source.
std::shared_ptr<std::vector<std::byte>> stage(Copy& copy) {
    auto bytes =
        std::make_shared<std::vector<std::byte>>(copy.width_bytes * copy.height * copy.depth);
    Copy packing = copy;
    packing.destination = {reinterpret_cast<std::uint64_t>(bytes->data()), copy.width_bytes,
                           copy.width_bytes * copy.height, CopyEnd::Host};
    perform(packing);
    copy.source = packing.destination;
    return bytes;
}

} // namespace

void perform(const Copy& copy) {
    const MemoryMap& map = AddressSpace::instance().map();
    for (std::uint64_t slice = 0; slice < copy.depth; ++slice) {
        const std::uint64_t to = copy.destination.address + slice * copy.destination.slice_bytes;
        const std::uint64_t from = copy.source.address + slice * copy.source.slice_bytes;
        for (std::uint64_t row = 0; row < copy.height; ++row) {
            std::memmove(reinterpret_cast<void*>(to + row * copy.destination.pitch_bytes),
                         reinterpret_cast<const void*>(from + row * copy.source.pitch_bytes),
                         copy.width_bytes);
            if (map.initialized != nullptr) {
                note_copy(map, to + row * copy.destination.pitch_bytes,
                          from + row * copy.source.pitch_bytes, copy.width_bytes);
            }
        }
    }
}

void perform(const Fill& fill) {
    for (std::uint64_t row = 0; row < fill.height; ++row) {
        const std::uint64_t address = fill.address + row * fill.pitch_bytes;
        check::mark_written(AddressSpace::instance().map(), address,
                            fill.width * fill.element_bytes);
        switch (fill.element_bytes) {
        case 1:
            std::memset(reinterpret_cast<void*>(address), static_cast<int>(fill.value), fill.width);
            break;
        case 2:
            std::fill_n(reinterpret_cast<std::uint16_t*>(address), fill.width,
                        static_cast<std::uint16_t>(fill.value));
            break;
        default:
            if (fill.width == 1) { // a stream or a kernel may be waiting for this word
                __atomic_store_n(reinterpret_cast<std::uint32_t*>(address), fill.value,
                                 __ATOMIC_RELEASE);
            } else {
                std::fill_n(reinterpret_cast<std::uint32_t*>(address), fill.width, fill.value);
            }
            break;
        }
    }
}

} // namespace cuprum::emulator
