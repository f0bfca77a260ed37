// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "objects/code/function.hpp"
#include "objects/streams/stream.hpp"

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace cuprum::emulator {

/// A launch as the caller described it.
struct LaunchRequest {
    std::uint32_t grid[3] = {1, 1, 1};
    std::uint32_t block[3] = {1, 1, 1};
    std::uint32_t shared_bytes = 0;
    void** parameters = nullptr; // addresses of the arguments
    void** extra = nullptr;      // or the packed buffer, as cuLaunchKernel takes it
    bool is_cooperative = false;
    std::uint32_t cluster[3] = {0, 0, 0};       // zeros: as the kernel declares
    std::optional<int> priority = std::nullopt; // if it differs from that of the stream
    CUevent completion_event = nullptr;         // recorded after the launch
};

/// Reads launch attributes into a request. Throws INVALID_VALUE if one is unknown.
void apply_attributes(LaunchRequest& request, std::span<const CUlaunchAttribute> attributes);

/// Checks a launch against the limits of the kernel and the device, and enqueues it.
///
/// @throws DriverError with the documented code for the first limit that is exceeded.
void launch(const std::shared_ptr<Function>& function, Stream& stream,
            const LaunchRequest& request);

} // namespace cuprum::emulator
