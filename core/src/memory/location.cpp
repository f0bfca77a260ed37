// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/location.hpp>

#include "memory/location.hpp"

#include <stdexcept>
#include <string>

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
    switch (kind) {
    case LocationKind::Device:
        return "device";
    case LocationKind::Host:
        return "host";
    case LocationKind::HostNuma:
        return "host_numa";
    case LocationKind::HostNumaCurrent:
        return "host_numa_current";
    }
    return "unknown";
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
