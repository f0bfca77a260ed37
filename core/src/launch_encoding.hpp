// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/launch_packed.hpp>

#include <cuda.h>

#include <cstddef>

namespace cuprum::detail {

/// A configuration as the driver takes it, without a stream.
struct EncodedConfig {
    static constexpr unsigned MAX_ATTRIBUTES = 32;

    CUlaunchConfig driver{};
    CUlaunchAttribute attributes[MAX_ATTRIBUTES]; // NOTE: uninitialised beyond the count, for speed

    EncodedConfig() {} // NOLINT(modernize-use-equals-default): `{}` would then clear the attributes

    /// Returns the configuration for one launch. The attributes stay ours.
    [[nodiscard]] CUlaunchConfig on(CUstream stream) const noexcept {
        CUlaunchConfig config = driver;
        config.hStream = stream;
        config.attrs = driver.numAttrs == 0 ? nullptr : const_cast<CUlaunchAttribute*>(attributes);
        return config;
    }
};

/// Checks and encodes in place.
void encode(const LaunchConfig& config, EncodedConfig& encoded);

} // namespace cuprum::detail
