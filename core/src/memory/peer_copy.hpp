// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "memory/region_copy.hpp"

#include <optional>

namespace cuprum::detail {

struct StreamState;

/// The devices of a copy.
struct DevicePair {
    int to = -1;
    int from = -1;
};

/// Returns the devices of a copy if they differ and set_peer_copies() allows copies that name both.
[[nodiscard]] std::optional<DevicePair> devices_between(CUdeviceptr destination,
                                                        CUdeviceptr source);

/// Copies a box between two devices after the driver refused the plain copy. Returns false if the
/// devices are not two, so that the driver had another reason.
[[nodiscard]] bool copy_between_devices(const LinearMemory& destination, const LinearMemory& source,
                                        const RegionExtent& extent, CUstream stream);

/// Throws for a fill that the driver refused. The text says so if the stream cannot reach the
/// memory.
[[noreturn, gnu::cold]] void raise_fill_failure(CUresult status, const char* call,
                                                CUdeviceptr memory, const StreamState& queue);

} // namespace cuprum::detail
