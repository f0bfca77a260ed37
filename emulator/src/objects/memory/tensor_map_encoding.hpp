// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Encodes tensor maps: checks the rules and fills a TensorMap. The rules are those that an H200
// enforces (tests/compare/tensor_maps.py records them); they differ from the comments in cuda.h.
// What needs a newer device follows cuda.h.

#pragma once

#include "interp/tensor_map.hpp"

#include <cuda.h>

#include <cstdint>

namespace cuprum::emulator {

class Device;

/// The arguments that all three functions share. Dimension 0 is the innermost.
struct TensorDescription {
    CUtensorMapDataType element;
    std::uint32_t rank;
    const void* address;
    const cuuint64_t* dims;
    const cuuint64_t* strides; // in bytes, of dimensions 1 and up
    const cuuint32_t* element_strides;
    CUtensorMapInterleave interleave;
    CUtensorMapSwizzle swizzle;
    CUtensorMapL2promotion l2_promotion;
    CUtensorMapFloatOOBfill fill;
};

/// What one im2col copy moves.
struct PixelBox {
    std::uint32_t channels_per_pixel;
    std::uint32_t pixels_per_column;
};

/// What the rules depend on.
struct TensorMapLimits {
    bool has_newer_modes; // packed elements, swizzled pieces of more than 16 bytes, wide im2col
    std::uint64_t shared_bytes; // of a multiprocessor
};

/// Returns the limits of a device.
[[nodiscard]] TensorMapLimits tensor_map_limits(const Device& device);

/// Each throws DriverError INVALID_VALUE with the rule that an argument breaks.
[[nodiscard]] TensorMap encode_tiled(const TensorMapLimits& limits, const TensorDescription& tensor,
                                     const cuuint32_t* box);
[[nodiscard]] TensorMap encode_im2col(const TensorMapLimits& limits,
                                      const TensorDescription& tensor, const int* lower_corner,
                                      const int* upper_corner, PixelBox box);
/// Before compute capability 10.0 this encodes an ordinary im2col map, like NVIDIA's driver.
[[nodiscard]] TensorMap encode_im2col_wide(const TensorMapLimits& limits,
                                           const TensorDescription& tensor, int lower_width,
                                           int upper_width, PixelBox box,
                                           CUtensorMapIm2ColWideMode mode);

/// Changes the address of a map. Bytes that are no map remain none: a kernel that uses them fails.
/// Throws DriverError INVALID_VALUE if the address is null or not aligned to 16 bytes.
void replace_address(TensorMap& map, const void* address);

} // namespace cuprum::emulator
