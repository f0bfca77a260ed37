// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/export.hpp>
#include <cuprum/device.hpp>
#include <cuprum/host.hpp>

namespace cuprum {

/// The kind of a place for memory.
enum class LocationKind {
    Device,          // memory of a device; the id is its ordinal
    Host,            // memory of the host; the system chooses where
    HostNuma,        // one NUMA node of the host; the id is its number
    HostNumaCurrent, // the NUMA node of the calling thread
};

/// A place that memory lies in, moves to, or is accessed from.
struct CUPRUM_API Location {
    LocationKind kind = LocationKind::Host; // what the place is
    int id = 0; // a device's ordinal or a NUMA node; 0 where the kind has none

    /// Names a device.
    [[nodiscard]] static Location device(const Device& device) noexcept {
        return {LocationKind::Device, device.ordinal()};
    }

    /// Names the host as a whole.
    [[nodiscard]] static Location host() noexcept { return {LocationKind::Host, 0}; }

    /// Names the host or one of its NUMA nodes.
    [[nodiscard]] static Location host(const Host& host) noexcept;

    /// @throws std::invalid_argument if the node is negative.
    [[nodiscard]] static Location host_numa(int node);

    /// Names the NUMA node of the calling thread.
    [[nodiscard]] static Location host_numa_current() noexcept {
        return {LocationKind::HostNumaCurrent, 0};
    }

    friend bool operator==(const Location&, const Location&) = default;
};

/// Returns the name of the kind: "device", "host", "host_numa", "host_numa_current".
[[nodiscard]] CUPRUM_API const char* to_string(LocationKind kind) noexcept;

} // namespace cuprum
