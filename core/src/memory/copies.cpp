// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "memory/copies.hpp"

#include "device/context_state.hpp"
#include "device/device_state.hpp"
#include "driver/capture.hpp"
#include "driver/current.hpp"
#include "driver/handle.hpp"
#include "memory/allocation.hpp"
#include "stream/stream_state.hpp"

#include <cuprum/copy.hpp>
#include <cuprum/detail/peer_copies.hpp>
#include <cuprum/error.hpp>
#include <cuprum/version.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace cuprum::detail {

namespace {

using driver::table;

SideDescription describe(const ArrayMemory& side) {
    SideDescription made;
    made.type = CU_MEMORYTYPE_ARRAY;
    made.array = side.array;
    made.x = side.x;
    made.y = side.y;
    made.z = side.z;
    return made;
}

SideDescription describe(const HostMemory& side) {
    SideDescription made;
    made.type = CU_MEMORYTYPE_HOST;
    made.host = side.address;
    made.pitch = side.pitch;
    made.rows_per_slice = side.slice_pitch / side.pitch;
    return made;
}

SideDescription describe(const LinearMemory& side) {
    SideDescription made;
    made.device = side.address;
    made.pitch = side.pitch;
    made.rows_per_slice = side.slice_pitch / side.pitch;
    return made;
}

std::size_t multiplied(std::size_t left, std::size_t right, const char* what) {
    if (left != 0 && right > std::numeric_limits<std::size_t>::max() / 2 / left) {
        throw std::invalid_argument(std::string(what) + " is beyond any memory: " +
                                    std::to_string(left) + " times " + std::to_string(right));
    }
    return left * right;
}

} // namespace

CUDA_MEMCPY3D description_of(const SideDescription& destination, const SideDescription& source,
                             const RegionExtent& extent) {
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = source.type;
    copy.srcDevice = source.device;
    copy.srcHost = source.host;
    copy.srcPitch = source.pitch;
    copy.srcHeight = source.rows_per_slice;
    copy.srcArray = source.array;
    copy.srcXInBytes = source.x;
    copy.srcY = source.y;
    copy.srcZ = source.z;
    copy.dstMemoryType = destination.type;
    copy.dstDevice = destination.device;
    copy.dstHost = destination.host;
    copy.dstPitch = destination.pitch;
    copy.dstHeight = destination.rows_per_slice;
    copy.dstArray = destination.array;
    copy.dstXInBytes = destination.x;
    copy.dstY = destination.y;
    copy.dstZ = destination.z;
    copy.WidthInBytes = extent.width;
    copy.Height = extent.height;
    copy.Depth = extent.depth;
    return copy;
}

void copy_box(const CopySide& destination, const CopySide& source, const RegionExtent& extent,
              CUstream stream) {
    const auto* const to = std::get_if<LinearMemory>(&destination);
    const auto* const from = std::get_if<LinearMemory>(&source);
    if (to != nullptr && from != nullptr) {
        copy_linear(*to, *from, extent, stream);
        return;
    }
    const auto described = [](const CopySide& side, const char* what) {
        const SideDescription made =
            std::visit([](const auto& each) { return describe(each); }, side);
        check_pitch(made.pitch, what);
        return made;
    };
    const CUDA_MEMCPY3D copy = description_of(described(destination, "the destination"),
                                              described(source, "the source"), extent);
    driver::call(table().cuMemcpy3DAsync, &copy, stream);
}

void copy_linear(const LinearMemory& destination, const LinearMemory& source,
                 const RegionExtent& extent, CUstream stream) {
    const auto has_gapless_rows = [&](const LinearMemory& box) {
        return box.pitch == extent.width;
    };
    const auto has_gapless_slices = [&](const LinearMemory& box) {
        return box.slice_pitch == box.pitch * extent.height;
    };
    RegionExtent merged = extent;
    const auto finish = [&](CUresult status, const char* name) {
        const bool is_done =
            status == CUDA_SUCCESS || (status == CUDA_ERROR_INVALID_VALUE &&
                                       copy_between_devices(destination, source, merged, stream));
        if (!is_done) [[unlikely]] {
            driver::raise(status, name);
        }
    };
    if (merged.depth > 1 && has_gapless_slices(destination) && has_gapless_slices(source)) {
        merged.height *= merged.depth;
        merged.depth = 1;
    }
    if (merged.depth == 1 &&
        (merged.height == 1 || (has_gapless_rows(destination) && has_gapless_rows(source)))) {
        merged = {.width = merged.width * merged.height};
        finish(table().cuMemcpyAsync(destination.address, source.address, merged.width, stream),
               table().cuMemcpyAsync.name);
        return;
    }
    check_pitch(destination.pitch, "the destination");
    check_pitch(source.pitch, "the source");
    if (merged.depth == 1) {
        CUDA_MEMCPY2D copy{};
        copy.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
        copy.srcDevice = source.address;
        copy.srcPitch = source.pitch;
        copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
        copy.dstDevice = destination.address;
        copy.dstPitch = destination.pitch;
        copy.WidthInBytes = merged.width;
        copy.Height = merged.height;
        finish(table().cuMemcpy2DAsync(&copy, stream), table().cuMemcpy2DAsync.name);
        return;
    }
    const CUDA_MEMCPY3D copy = description_of(describe(destination), describe(source), merged);
    finish(table().cuMemcpy3DAsync(&copy, stream), table().cuMemcpy3DAsync.name);
}

void check_pitch(std::size_t pitch, const char* what) {
    if (pitch > MAX_PITCH_BYTES) {
        throw std::invalid_argument(std::string(what) + " has a pitch of " + std::to_string(pitch) +
                                    " bytes, expected at most " + std::to_string(MAX_PITCH_BYTES));
    }
}

PlacedRows place_rows(std::size_t size, const RegionPlace& place, const RegionExtent& extent,
                      const std::string& what, const char* holder) {
    const std::size_t pitch = place.pitch == 0 ? extent.width : place.pitch;
    const std::size_t rows = place.rows_per_slice == 0 ? extent.height : place.rows_per_slice;
    if (pitch < extent.width) {
        throw std::invalid_argument(what + " has a pitch of " + std::to_string(pitch) +
                                    " bytes, expected at least the width of " +
                                    std::to_string(extent.width));
    }
    if (rows < extent.height) {
        throw std::invalid_argument(what + " has " + std::to_string(rows) +
                                    " rows per slice, expected at least the height of " +
                                    std::to_string(extent.height));
    }
    const std::size_t slice_pitch = multiplied(pitch, rows, "a slice");
    std::size_t span = 0;
    if (extent.width != 0 && extent.height != 0 && extent.depth != 0) {
        span = multiplied(slice_pitch, extent.depth - 1, "the region") +
               multiplied(pitch, extent.height - 1, "the region") + extent.width;
    }
    if (place.offset > size || span > size - place.offset) {
        throw std::invalid_argument(what + " takes " + std::to_string(span) +
                                    " bytes from offset " + std::to_string(place.offset) +
                                    ", but " + holder + " has " + std::to_string(size));
    }
    return {place.offset, pitch, slice_pitch, span};
}

// Copies between devices. A plain copy needs a stream whose device can access both sides, and a
// pool of the other device may not grant that. Then a call that names both contexts does the copy.

namespace {

using driver::call;
using driver::table;

std::atomic<bool> has_peer_copies = true;

/// What the driver knows about an address.
struct Place {
    int memory_type = 0; // 0 for host memory that the driver does not know
    int ordinal = -1;
    unsigned is_managed = 0;
};

Place place_of(CUdeviceptr address) {
    Place place;
    std::array attributes{CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                          CU_POINTER_ATTRIBUTE_IS_MANAGED};
    std::array<void*, attributes.size()> values{&place.memory_type, &place.ordinal,
                                                &place.is_managed};
    const CUresult status = table().cuPointerGetAttributes(
        static_cast<unsigned>(attributes.size()), attributes.data(), values.data(), address);
    if (status != CUDA_SUCCESS && status != CUDA_ERROR_INVALID_VALUE) {
        driver::raise(status, table().cuPointerGetAttributes.name);
    }
    return status == CUDA_SUCCESS ? place : Place{};
}

/// Returns the device whose memory is at an address. Empty if it is not memory of one device.
std::optional<int> device_of(CUdeviceptr address) {
    const Place place = place_of(address);
    const bool is_known =
        place.memory_type == CU_MEMORYTYPE_DEVICE && place.is_managed == 0 && place.ordinal >= 0;
    return is_known ? std::optional(place.ordinal) : std::nullopt;
}

CUcontext context_on(int ordinal) {
    return primary_context(*devices()[static_cast<std::size_t>(ordinal)])->handle;
}

} // namespace

void set_peer_copies(bool is_on) noexcept {
    has_peer_copies.store(is_on, std::memory_order_relaxed);
}

std::optional<DevicePair> devices_between(CUdeviceptr destination, CUdeviceptr source) {
    if (!has_peer_copies.load(std::memory_order_relaxed)) {
        return std::nullopt;
    }
    const auto to = device_of(destination);
    const auto from = device_of(source);
    return to && from && *to != *from ? std::optional(DevicePair{*to, *from}) : std::nullopt;
}

bool copy_between_devices(const LinearMemory& destination, const LinearMemory& source,
                          const RegionExtent& extent, CUstream stream) {
    const auto devices = devices_between(destination.address, source.address);
    if (!devices) {
        return false;
    }
    if (extent.height == 1 && extent.depth == 1) {
        call(table().cuMemcpyPeerAsync, destination.address, context_on(devices->to),
             source.address, context_on(devices->from), extent.width, stream);
        return true;
    }
    CUDA_MEMCPY3D_PEER copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = source.address;
    copy.srcContext = context_on(devices->from);
    copy.srcPitch = source.pitch;
    copy.srcHeight = source.slice_pitch / source.pitch;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = destination.address;
    copy.dstContext = context_on(devices->to);
    copy.dstPitch = destination.pitch;
    copy.dstHeight = destination.slice_pitch / destination.pitch;
    copy.WidthInBytes = extent.width;
    copy.Height = extent.height;
    copy.Depth = extent.depth;
    call(table().cuMemcpy3DPeerAsync, static_cast<const CUDA_MEMCPY3D_PEER*>(&copy), stream);
    return true;
}

void raise_fill_failure(CUresult status, const char* call, CUdeviceptr memory,
                        const StreamState& queue) {
    if (status != CUDA_ERROR_INVALID_VALUE || memory == 0) {
        driver::raise(status, call);
    }
    const Place place = place_of(memory);
    if (place.memory_type == 0) {
        throw CUDAError(status, call,
                        "this is host memory that devices cannot reach; fill it on the host, or "
                        "register it with register_host_memory first");
    }
    const std::string own = std::to_string(context_state_of(queue)->device->ordinal);
    const std::string home = std::to_string(place.ordinal);
    if (place.memory_type == CU_MEMORYTYPE_DEVICE && place.is_managed == 0 && home != own) {
        throw CUDAError(status, call,
                        "the memory is on device " + home + " and the stream on device " + own +
                            "; use a stream of device " + home + ", or give device " + own +
                            " access with peer_accessible_by of the memory resource");
    }
    driver::raise(status, call);
}

} // namespace cuprum::detail

namespace cuprum {

namespace {

using driver::table;

using driver::call;

/// The copies of a batch, as the driver takes them.
struct Batch {
    std::vector<CUdeviceptr> destinations;
    std::vector<CUdeviceptr> sources;
    std::vector<std::size_t> sizes;
    std::vector<std::size_t> indices; // in what the caller gave

    void add(CUdeviceptr destination, CUdeviceptr source, std::size_t bytes, std::size_t index);
};

void check_pair(const Buffer& source, const Buffer& destination, std::size_t index) {
    const std::string place = " at index " + std::to_string(index);
    if (source.size() != destination.size()) {
        throw std::invalid_argument("size mismatch" + place + ": the source has " +
                                    std::to_string(source.size()) + " bytes and the destination " +
                                    std::to_string(destination.size()));
    }
    const CUdeviceptr from = source.handle();
    const CUdeviceptr to = destination.handle();
    const std::size_t bytes = source.size();
    if (from < to + bytes && to < from + bytes) {
        throw std::invalid_argument("source and destination overlap" + place +
                                    ", so the result would be undefined");
    }
}

Batch collect(std::span<const Buffer> sources, std::span<const Buffer> destinations) {
    if (sources.empty() || destinations.empty()) {
        throw std::invalid_argument("empty buffers sequence, expected at least one copy");
    }
    if (sources.size() != destinations.size()) {
        throw std::invalid_argument("there are " + std::to_string(sources.size()) +
                                    " sources, but " + std::to_string(destinations.size()) +
                                    " destinations; expected the same number");
    }
    Batch batch;
    for (std::size_t i = 0; i < sources.size(); ++i) {
        check_pair(sources[i], destinations[i], i);
        if (sources[i].size() != 0) {
            batch.add(destinations[i].handle(), sources[i].handle(), sources[i].size(), i);
        }
    }
    return batch;
}

void Batch::add(CUdeviceptr destination, CUdeviceptr source, std::size_t bytes, std::size_t index) {
    destinations.push_back(destination);
    sources.push_back(source);
    sizes.push_back(bytes);
    indices.push_back(index);
}

/// Returns the options of one of the copies that the caller gave.
const CopyOptions& options_for(std::span<const CopyOptions> options, std::size_t index) {
    static constexpr CopyOptions DEFAULTS{};
    return options.empty() ? DEFAULTS : options[options.size() == 1 ? 0 : index];
}

CUmemcpyAttributes attributes_of(const CopyOptions& options) {
    CUmemcpyAttributes attributes{};
    switch (options.src_access_order) {
    case SourceAccessOrder::Stream:
        attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
        break;
    case SourceAccessOrder::DuringAPICall:
        attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
        break;
    case SourceAccessOrder::Any:
        attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
        break;
    }
    if (options.src_location_hint) {
        attributes.srcLocHint = detail::driver_location(*options.src_location_hint);
    }
    if (options.dst_location_hint) {
        attributes.dstLocHint = detail::driver_location(*options.dst_location_hint);
    }
    attributes.flags = options.overlap_mode == CopyOverlap::PreferOverlapWithCompute
                           ? CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE
                           : CU_MEMCPY_FLAG_DEFAULT;
    return attributes;
}

/// Makes the one driver call. Equal neighbours share one attribute.
CUresult enqueue(Batch& batch, std::span<const CopyOptions> options, CUstream stream) {
    std::vector<CUmemcpyAttributes> attributes;
    std::vector<std::size_t> starts; // the first copy that each attribute is for
    const CopyOptions* last = nullptr;
    for (std::size_t i = 0; i < (options.size() > 1 ? batch.sizes.size() : 1); ++i) {
        const CopyOptions& each = options_for(options, batch.indices[i]);
        if (last == nullptr || each != *last) {
            attributes.push_back(attributes_of(each));
            starts.push_back(i);
            last = &each;
        }
    }
    return table().cuMemcpyBatchAsync(batch.destinations.data(), batch.sources.data(),
                                      batch.sizes.data(), batch.sizes.size(), attributes.data(),
                                      starts.data(), attributes.size(), stream);
}

/// Names what a plain copy cannot honour, if there is such an option. It reads in the stream's
/// order, which satisfies "any".
std::string what_is_not_plain(const CopyOptions& options) {
    if (options.src_access_order == SourceAccessOrder::DuringAPICall) {
        return "src_access_order=DURING_API_CALL";
    }
    if (options.src_location_hint) {
        return "src_location_hint";
    }
    if (options.dst_location_hint) {
        return "dst_location_hint";
    }
    if (options.overlap_mode != CopyOverlap::Default) {
        return "overlap_mode=PREFER_OVERLAP_WITH_COMPUTE";
    }
    return {};
}

/// Makes one plain copy, between devices if need be.
void copy_one(const Batch& batch, std::size_t at, CUstream stream) {
    const CUdeviceptr to = batch.destinations[at];
    const CUdeviceptr from = batch.sources[at];
    const auto& entry = table().cuMemcpyAsync;
    const CUresult status = entry(to, from, batch.sizes[at], stream);
    if (status != CUDA_SUCCESS &&
        (status != CUDA_ERROR_INVALID_VALUE ||
         !detail::copy_between_devices({.address = to}, {.address = from},
                                       {.width = batch.sizes[at]}, stream))) {
        driver::raise(status, entry.name);
    }
}

/// Copies what the driver refused as one batch. It refuses a batch if a pool denies the stream's
/// device access. Copies that name both devices do not need that access, so they are made one by
/// one. The others stay a batch and go first: if they are refused too, there is another reason.
void enqueue_apart(const Batch& batch, std::span<const CopyOptions> options, CUstream stream) {
    const auto& entry = table().cuMemcpyBatchAsync;
    Batch within;
    std::vector<std::size_t> between;
    for (std::size_t i = 0; i < batch.sizes.size(); ++i) {
        const auto devices = detail::devices_between(batch.destinations[i], batch.sources[i]);
        if (!devices) {
            within.add(batch.destinations[i], batch.sources[i], batch.sizes[i], batch.indices[i]);
            continue;
        }
        const std::size_t index = batch.indices[i];
        if (const auto option = what_is_not_plain(options_for(options, index)); !option.empty()) {
            throw CUDAError(CUDA_ERROR_INVALID_VALUE, entry.name,
                            "the copy at index " + std::to_string(index) + " goes from device " +
                                std::to_string(devices->from) + " to device " +
                                std::to_string(devices->to) +
                                ", and the stream's device has no access to both; set "
                                "peer_accessible_by of their memory resources, or leave out " +
                                option + ": a plain copy needs no access");
        }
        between.push_back(i);
    }
    CUresult status = CUDA_ERROR_INVALID_VALUE;
    if (!between.empty()) {
        status = within.sizes.empty() ? CUDA_SUCCESS : enqueue(within, options, stream);
    }
    if (status != CUDA_SUCCESS) {
        driver::raise(status, entry.name);
    }
    for (const std::size_t i : between) {
        copy_one(batch, i, stream);
    }
}

} // namespace

void copy_batch(const Stream& stream, std::span<const Buffer> sources,
                std::span<const Buffer> destinations, std::span<const CopyOptions> options) {
    const detail::StreamState& queue = detail::open(stream);
    if (const std::string reason = why_no_copy_options(stream); !reason.empty()) {
        throw std::invalid_argument(reason);
    }
    if (!options.empty() && options.size() != 1 && options.size() != sources.size()) {
        throw std::invalid_argument("options length (" + std::to_string(options.size()) +
                                    ") does not match the " + std::to_string(sources.size()) +
                                    " copies; pass one for all, or one for each");
    }
    Batch batch = collect(sources, destinations);
    if (batch.sizes.empty()) {
        return; // all are of 0 bytes
    }
    const driver::Current current(detail::context_of(queue));
    if (const int driver = driver_version(); driver < detail::BATCH_VERSION) {
        for (const CopyOptions& each : options) {
            if (const std::string option = what_is_not_plain(each); !option.empty()) {
                throw NotSupportedError(option, detail::BATCH_VERSION, driver);
            }
        }
        for (std::size_t i = 0; i < batch.sizes.size(); ++i) {
            copy_one(batch, i, queue.handle);
        }
        return;
    }
    const CUresult status = enqueue(batch, options, queue.handle);
    if (status == CUDA_ERROR_INVALID_VALUE) {
        enqueue_apart(batch, options, queue.handle);
    } else if (status != CUDA_SUCCESS) {
        driver::raise(status, table().cuMemcpyBatchAsync.name);
    }
}

void copy_with_options(const Stream& stream, const Buffer& source, const Buffer& destination,
                       const CopyOptions& options) {
    copy_batch(stream, std::span(&source, 1), std::span(&destination, 1), std::span(&options, 1));
}

std::string why_no_copy_options(const Stream& stream) {
    const CUstream queue = detail::handle_of(stream);
    if (driver::is_legacy_default_stream(queue)) {
        return "the legacy default stream supports neither batches of copies nor copy options; "
               "create a stream, or use the per-thread default stream";
    }
    if (driver::capture_status(queue) != CU_STREAM_CAPTURE_STATUS_NONE) {
        return "stream is in graph capture, which supports neither batches of copies nor copy "
               "options; copy one by one, without options";
    }
    return {};
}

} // namespace cuprum
