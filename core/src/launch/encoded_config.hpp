// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Second step of a launch: the configuration is checked and written as the driver takes it.

#pragma once

#include <cuprum/detail/launch_packed.hpp>

#include <cuda.h>

#include <algorithm>
#include <cstddef>
#include <limits>

namespace cuprum::detail {

/// Throws for a grid, a block or an amount of shared memory that no launch can have.
[[noreturn, gnu::cold]] void refuse_shape(const LaunchConfig& config);

/// Checks what every launch has.
/// @throws std::invalid_argument if a value is out of its range.
inline void check_shape(const LaunchConfig& config) {
    const Dim3& grid = config.grid;
    const Dim3& block = config.block;
    if (grid.x == 0 || grid.y == 0 || grid.z == 0 || block.x == 0 || block.y == 0 || block.z == 0 ||
        config.shmem_size > std::numeric_limits<unsigned>::max()) [[unlikely]] {
        refuse_shape(config);
    }
}

/// Returns whether any of the rarer fields is set.
[[nodiscard]] inline bool has_rare_fields(const LaunchConfig& config) noexcept {
    return config.priority.has_value() || config.preferred_cluster.has_value() ||
           config.cluster_scheduling_policy.has_value() ||
           config.shared_memory_carveout.has_value() || config.access_policy_window.has_value() ||
           config.memory_sync_domain.has_value() || config.memory_sync_domain_map.has_value() ||
           config.programmatic_event.has_value() || config.launch_completion_event.has_value() ||
           config.nvlink_centric_scheduling || config.portable_cluster_mode.has_value() ||
           config.shared_memory_mode.has_value() || !config.raw_attributes.empty();
}

/// Returns whether a configuration has more than grid, block and shared memory.
[[nodiscard]] inline bool has_attributes(const LaunchConfig& config) noexcept {
    return config.cluster.has_value() || config.is_cooperative ||
           config.programmatic_stream_serialization || has_rare_fields(config);
}

/// A configuration as the driver takes it, without a stream. A plain value on the stack.
struct EncodedConfig {
    static constexpr unsigned MAX_ATTRIBUTES = 32;

    CUlaunchConfig driver{};                      // on() adds stream and attributes
    CUlaunchAttribute attributes[MAX_ATTRIBUTES]; // NOTE: uninitialised beyond the count, for speed

    /// Checks and encodes a configuration.
    /// @throws std::invalid_argument if a value is out of its range, ClosedError for a closed
    ///         event.
    [[nodiscard]] explicit EncodedConfig(const LaunchConfig& config);

    EncodedConfig(const EncodedConfig& other) noexcept : driver(other.driver) {
        std::copy_n(other.attributes, driver.numAttrs, attributes);
    }

    EncodedConfig& operator=(const EncodedConfig& other) noexcept {
        driver = other.driver;
        std::copy_n(other.attributes, driver.numAttrs, attributes);
        return *this;
    }

    ~EncodedConfig() = default;

    /// Returns the driver's structure for a stream, which refers to this object.
    [[nodiscard]] const CUlaunchConfig& on(CUstream stream) noexcept {
        driver.hStream = stream;
        driver.attrs = driver.numAttrs == 0 ? nullptr : attributes;
        return driver;
    }
};

/// Returns an encoded configuration for a stream.
[[nodiscard]] inline CUlaunchConfig on_stream(const CUlaunchConfig& encoded,
                                              CUstream stream) noexcept {
    CUlaunchConfig config = encoded;
    config.hStream = stream;
    return config;
}

} // namespace cuprum::detail
