// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Copies between devices. A plain copy needs a stream whose device can access both sides, and a
// pool of the other device may not grant that. Then a call that names both contexts does the copy.

#include "memory/peer_copy.hpp"

#include "device/context_state.hpp"
#include "device/device_state.hpp"
#include "stream/stream_state.hpp"

#include <cuprum/detail/peer_copies.hpp>
#include <cuprum/error.hpp>

#include <array>
#include <atomic>
#include <string>

namespace cuprum::detail {

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

Place place_of(CUdeviceptr address);
std::optional<int> device_of(CUdeviceptr address);
CUcontext context_on(int ordinal);

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

// ---- helpers -----------------------------------------------------------------------------------

namespace {

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

} // namespace cuprum::detail
