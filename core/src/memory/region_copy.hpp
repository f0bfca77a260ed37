// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Copies of boxes of bytes. Regions of buffers and strided copies end here.
//
// A copy has two sides, and each side is one kind of memory: see CopySide. A further kind, such as
// an opaque array of a texture, takes three steps: add a struct, add it to CopySide, and add an
// overload of describe() in region_copy.cpp. Copies between two sides of linear memory keep their
// shorter driver calls; every other pair is one cuMemcpy3DAsync.

#pragma once

#include "driver/call.hpp"

#include <cuprum/region.hpp>

#include <cstddef>
#include <variant>

namespace cuprum::detail {

/// A box in memory that has an address for devices: of a device, managed, pinned or registered.
struct LinearMemory {
    CUdeviceptr address = 0;
    std::size_t pitch = 0;       // bytes from row to row
    std::size_t slice_pitch = 0; // bytes from slice to slice, a multiple of `pitch`
};

/// A box in host memory that no device needs to know.
struct HostMemory {
    void* address = nullptr;
    std::size_t pitch = 0;       // bytes from row to row
    std::size_t slice_pitch = 0; // bytes from slice to slice, a multiple of `pitch`
};

/// One side of a copy.
using CopySide = std::variant<LinearMemory, HostMemory>;

/// The largest pitch that the driver takes.
inline constexpr std::size_t MAX_PITCH_BYTES = 0x7fffffff;

/// Copies a box in one driver call. The stream's context must be current. Checks pitches only.
/// @throws std::invalid_argument if a side has rows further apart than MAX_PITCH_BYTES.
void copy_box(const CopySide& destination, const CopySide& source, const RegionExtent& extent,
              CUstream stream);

/// Copies between two sides of linear memory, as few bytes of description as possible.
void copy_linear(const LinearMemory& destination, const LinearMemory& source,
                 const RegionExtent& extent, CUstream stream);

/// Refuses rows further apart than the driver takes; `what` names the side in the message.
void check_pitch(std::size_t pitch, const char* what);

} // namespace cuprum::detail
