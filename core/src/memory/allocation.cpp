// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "memory/allocation.hpp"

#include "support/text.hpp"

#include <cuprum/device.hpp>
#include <cuprum/error.hpp>
#include <cuprum/location.hpp>

#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace cuprum::detail {

namespace {

/// Returns what the system says of the host's memory.
MemoryInfo host_memory_info() {
    const auto pages = [](int name) {
        return static_cast<std::size_t>(std::max(::sysconf(name), 0L));
    };
    const std::size_t page_bytes = pages(_SC_PAGESIZE);
    return {pages(_SC_AVPHYS_PAGES) * page_bytes, pages(_SC_PHYS_PAGES) * page_bytes};
}

} // namespace

void raise_out_of_memory(const char* call, std::size_t bytes, int device, std::string_view hint) {
    MemoryInfo info;
    try {
        info = device < 0 ? host_memory_info() : Device(device).memory_info();
    } catch (const CUDAError&) { // what failed first is what the caller must hear
        driver::raise(CUDA_ERROR_OUT_OF_MEMORY, call);
    }
    if (hint.empty() && device < 0) {
        hint =
            "this is host memory: free buffers, trim the memory pool or ask for less; the system "
            "may limit how much can be page-locked";
    }
    throw OutOfMemoryError(call, bytes, info.free_bytes, info.total_bytes, hint);
}

void raise_negative_size(std::size_t bytes, const char* name) {
    throw std::invalid_argument(
        std::string(name) + " is " + std::to_string(static_cast<std::ptrdiff_t>(bytes)) +
        " bytes (" + std::to_string(bytes) + " as an unsigned number), expected at least 0");
}

void raise_free_failure(CUresult status, const char* call, CUdeviceptr pointer) {
    if (status == CUDA_ERROR_INVALID_VALUE) {
        throw CUDAError(status, call,
                        "pointer " + std::to_string(pointer) +
                            " is not the start of memory that this frees: it was freed already, or "
                            "comes from elsewhere");
    }
    driver::raise(status, call);
}

} // namespace cuprum::detail

namespace cuprum {

Location Location::host(const Host& host) noexcept {
    if (host.is_numa_current()) {
        return host_numa_current();
    }
    return host.numa_id() ? Location{LocationKind::HostNuma, *host.numa_id()} : Location::host();
}

Location Location::host_numa(int node) {
    if (node < 0) {
        throw std::invalid_argument("node is " + std::to_string(node) +
                                    ", expected a NUMA node: at least 0");
    }
    return {LocationKind::HostNuma, node};
}

const char* to_string(LocationKind kind) noexcept {
    return detail::enumerator_text<LocationKind::HostNumaCurrent>(
        kind, {"device", "host", "host_numa", "host_numa_current"});
}

namespace detail {

CUmemLocation driver_location(const Location& location) {
    switch (location.kind) {
    case LocationKind::Device:
        return {CU_MEM_LOCATION_TYPE_DEVICE, location.id};
    case LocationKind::Host:
        return {CU_MEM_LOCATION_TYPE_HOST, 0};
    case LocationKind::HostNuma:
        return {CU_MEM_LOCATION_TYPE_HOST_NUMA, location.id};
    case LocationKind::HostNumaCurrent:
        return {CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 0};
    }
    throw std::invalid_argument("location has an unknown kind");
}

std::optional<Location> location_from(int type, int id) {
    switch (type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        return Location{LocationKind::Device, id};
    case CU_MEM_LOCATION_TYPE_HOST:
        return Location::host();
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
        return Location{LocationKind::HostNuma, id};
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
        return Location::host_numa_current();
    default:
        return std::nullopt;
    }
}

} // namespace detail

} // namespace cuprum
