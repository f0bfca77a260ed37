// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/launch_packed.hpp>

#include <cuda.h>

#include <cstddef>

namespace cuprum::detail {

/// A configuration as the driver takes it, without a stream, on the stack.
struct EncodedConfig {
    static constexpr unsigned MAX_ATTRIBUTES = 32;

    CUlaunchConfig driver{};
    CUlaunchAttribute attributes[MAX_ATTRIBUTES]; // NOTE: uninitialised beyond the count, for speed

    /// Checks and encodes; see the other encode().
    [[nodiscard]] explicit EncodedConfig(const LaunchConfig& config);
    EncodedConfig(const EncodedConfig&) = delete; // `driver` refers to `attributes`
    EncodedConfig& operator=(const EncodedConfig&) = delete;
};

/// Returns an encoded configuration for one launch.
[[nodiscard]] inline CUlaunchConfig on_stream(const CUlaunchConfig& encoded,
                                              CUstream stream) noexcept {
    CUlaunchConfig config = encoded;
    config.hStream = stream;
    return config;
}

} // namespace cuprum::detail
