// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Blocks of bytes by address: what regions of buffers and strided copies come down to.

#pragma once

#include "driver/call.hpp"

#include <cuprum/region.hpp>

#include <cstddef>
#include <optional>

namespace cuprum::detail {

struct StreamState;

/// A block of bytes in memory.
struct Block {
    CUdeviceptr address = 0;
    std::size_t pitch = 0;       // bytes from row to row
    std::size_t slice_pitch = 0; // bytes from slice to slice, a multiple of `pitch`
};

/// The largest pitch that the driver takes.
inline constexpr std::size_t MAX_PITCH_BYTES = 0x7fffffff;

/// The devices that a copy goes between.
struct DevicePair {
    int to = -1;
    int from = -1;
};

/// Returns the two devices that a copy goes between; nothing if they are not two, or if copies that
/// name both are not wanted.
[[nodiscard]] std::optional<DevicePair> devices_between(CUdeviceptr destination,
                                                        CUdeviceptr source);

/// Copies a block between two devices after a plain copy was refused; false if they are not two, so
/// that it was refused for another reason.
[[nodiscard]] bool copy_between_devices(const Block& destination, const Block& source,
                                        const RegionExtent& extent, CUstream stream);

/// Copies a block in one driver call. The context must be current; nothing is checked but pitches.
/// @throws std::invalid_argument if it takes rows and they are further apart than MAX_PITCH_BYTES.
void copy_block(const Block& destination, const Block& source, const RegionExtent& extent,
                CUstream stream);

/// Throws for a fill that the driver refused, saying so if the memory is out of the stream's reach.
[[noreturn, gnu::cold]] void raise_fill_failure(CUresult status, const char* call,
                                                CUdeviceptr memory, const StreamState& queue);

} // namespace cuprum::detail
