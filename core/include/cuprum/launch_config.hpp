// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/driver_types.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/event.hpp>
#include <cuprum/stream_attributes.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace cuprum {

class Kernel;

/// Extents in up to three dimensions.
struct Dim3 {
    unsigned x = 1; // the first dimension
    unsigned y = 1; // the second dimension
    unsigned z = 1; // the third dimension

    constexpr Dim3() = default;

    /// Sets up to three dimensions. It is implicit, so that `.grid = 128` works.
    // NOLINTNEXTLINE(google-explicit-constructor)
    constexpr Dim3(unsigned width, unsigned height = 1, unsigned depth = 1)
        : x(width), y(height), z(depth) {}

    friend constexpr bool operator==(const Dim3&, const Dim3&) = default;
};

/// How the blocks of a cluster are placed on multiprocessors.
enum class ClusterSchedulingPolicy : std::uint8_t { Default, Spread, LoadBalancing };

/// Whether a launch may use more than what every device of its kind has: clusters of more than 8
/// blocks, or shared memory beyond the common limit.
enum class PortabilityMode : std::uint8_t { Default, RequirePortable, AllowNonPortable };

/// An event that a kernel's blocks trigger, all of them, before it is done.
struct ProgrammaticEvent {
    Event event;                        // without timing
    bool is_triggered_at_start = false; // by each block when it starts, not by its own call
    friend bool operator==(const ProgrammaticEvent&, const ProgrammaticEvent&) = default;
};

/// A launch attribute by the driver's number, for those that have no name here.
struct RawLaunchAttribute {
    int id = 0;                           // a CUlaunchAttributeID
    std::array<std::byte, 64> value = {}; // a CUlaunchAttributeValue
    friend bool operator==(const RawLaunchAttribute&, const RawLaunchAttribute&) = default;
};

/// How a kernel is launched. A plain value: share it between threads, reuse it for many launches.
struct LaunchConfig {
    Dim3 grid = {};                   // blocks, or clusters when `cluster` is given
    Dim3 block = {};                  // threads per block
    std::size_t shmem_size = 0;       // dynamic shared memory per block, in bytes
    std::optional<Dim3> cluster = {}; // blocks per cluster; compute capability 9.0 and later
    /// All blocks are resident at once, so that the grid can synchronise.
    bool is_cooperative = false;
    /// May start before the previous kernel has ended.
    bool programmatic_stream_serialization = false;

    std::optional<int> priority = {};           // lower runs first; none is the stream's
    std::optional<Dim3> preferred_cluster = {}; // a multiple of `cluster`, used where it fits
    /// Where the blocks of a cluster run.
    std::optional<ClusterSchedulingPolicy> cluster_scheduling_policy = {};
    std::optional<unsigned> shared_memory_carveout = {};         // percent of the L1 cache, a hint
    std::optional<AccessPolicyWindow> access_policy_window = {}; // what the L2 cache keeps
    std::optional<MemorySyncDomain> memory_sync_domain = {}; // the domain of the kernel's fences
    std::optional<MemorySyncDomainMap> memory_sync_domain_map = {}; // what the domains stand for
    std::optional<ProgrammaticEvent> programmatic_event = {}; // triggered by the kernel's blocks
    std::optional<Event> launch_completion_event = {}; // once all blocks have begun; no timing
    bool nvlink_centric_scheduling = false;            // a hint: the kernel's time goes to NVLink
    std::optional<PortabilityMode> portable_cluster_mode = {}; // drivers from 13.1 on
    std::optional<PortabilityMode> shared_memory_mode = {};    // drivers from 13.1 on
    std::vector<RawLaunchAttribute> raw_attributes = {};       // attributes that have no name here

    friend bool operator==(const LaunchConfig&, const LaunchConfig&) = default;

    /// Returns a one-dimensional configuration with at least one thread per element.
    /// @throws std::invalid_argument if there is no element, no thread, or too many blocks.
    [[nodiscard]] CUPRUM_API static LaunchConfig from_size(std::size_t elements,
                                                           unsigned block = 256);

    /// Returns a one-dimensional configuration with the block size at which the device is used
    /// best, and blocks for all elements, or as many as fill the device if none are named.
    [[nodiscard]] CUPRUM_API static LaunchConfig
    from_occupancy(const Kernel& kernel, std::optional<std::size_t> elements = {},
                   std::size_t shmem_size = 0, int block_size_limit = 0);
};

} // namespace cuprum
