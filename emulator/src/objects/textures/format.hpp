// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The formats of arrays and of views, as a table.

#pragma once

#include "interp/image.hpp"

#include <cuda.h>

#include <cstdint>
#include <span>

namespace cuprum::emulator {

/// One plane of a planar format: an array of its own, smaller by powers of two.
struct FormatPlane {
    CUarray_format format = CU_AD_FORMAT_UNSIGNED_INT8;
    std::uint8_t channels = 1;
    std::uint8_t width_shift = 0;
    std::uint8_t height_shift = 0;
};

/// What the emulated device knows about a CUarray_format.
struct ArrayFormat {
    /// How texels are stored.
    enum class Layout : std::uint8_t {
        Plain,  // `bytes` for each channel
        Packed, // `bytes` for all channels
        Blocks, // `bytes` for 4 x 4 texels
        Planes, // see planes_of()
    };

    CUarray_format id = CU_AD_FORMAT_UNSIGNED_INT8;
    const char* name = "";
    Layout layout = Layout::Plain;
    std::uint8_t bytes = 1;
    std::uint8_t channels = 0; // the only valid number of channels; 0: 1, 2 or 4
    TexelFormat texel = TexelFormat::U8;
    bool is_srgb = false;
    bool is_video = false; // texture instructions read planes only

    [[nodiscard]] bool allows_channels(unsigned count) const noexcept {
        return channels != 0 ? count == channels : count == 1 || count == 2 || count == 4;
    }

    /// Returns the bytes of a texel, or of a block of texels. For planes use those of each plane.
    [[nodiscard]] std::uint32_t texel_bytes(unsigned count) const noexcept {
        return layout == Layout::Plain ? bytes * count : bytes;
    }

    [[nodiscard]] bool is_compressed() const noexcept { return layout == Layout::Blocks; }

    [[nodiscard]] bool is_planar() const noexcept { return layout == Layout::Planes; }

    /// Returns whether texels are the plain numbers that linear memory can hold too.
    [[nodiscard]] bool is_plain() const noexcept { return layout == Layout::Plain; }
};

/// Texels of a compressed block, in each direction.
constexpr std::uint32_t BLOCK_TEXELS = 4;

/// Returns a format, or nullptr if cuda.h has none with this number.
[[nodiscard]] const ArrayFormat* find_format(CUarray_format id) noexcept;

/// Returns a format. Throws INVALID_VALUE and names the number if there is none.
[[nodiscard]] const ArrayFormat& format_from(CUarray_format id);

/// Returns a format and checks that it can have this number of channels.
[[nodiscard]] const ArrayFormat& format_from(CUarray_format id, unsigned channels);

/// Returns the planes of a planar format, none for the others.
[[nodiscard]] std::span<const FormatPlane> planes_of(CUarray_format id) noexcept;

/// Returns how many texels a texture of linear memory can have. Throws as format_from() does.
///
/// This is more than CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH, which holds for texels of
/// 16 bytes.
[[nodiscard]] std::uint64_t max_linear_texels(CUarray_format id, unsigned channels);

/// A format of a resource view.
struct ViewFormat {
    CUresourceViewFormat id = CU_RES_VIEW_FORMAT_NONE;
    TexelFormat texel = TexelFormat::U8;
    std::uint8_t channels = 1;
    std::uint8_t bytes = 1; // of a texel or a block
};

/// Returns a format of views. Throws INVALID_VALUE if there is none with this number.
[[nodiscard]] const ViewFormat& view_format_from(CUresourceViewFormat id);

} // namespace cuprum::emulator
