// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Second step of a launch: the configuration is checked and written as the driver takes it.

#pragma once

#include <cuprum/detail/launch_packed.hpp>

#include <cuda.h>

#include <algorithm>
#include <cstddef>

namespace cuprum::detail {

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
