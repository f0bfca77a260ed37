// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The images that handlers/texture.cpp samples a warp at a time.

#pragma once

#include "bytecode/image_forms.hpp"
#include "interp/warp.hpp"

#include <cstddef>
#include <cstdint>

namespace cuprum::emulator {

struct Image;

/// The numbers in the texels of a PlaneView.
enum class PlaneNumbers : std::uint8_t {
    Words,  // floats, or integers of 32 bits
    Halves, // half precision
    Bytes,
    Shorts, // integers of 16 bits
};

/// What happens to coordinates outside of an axis. Only coordinates from 0 to 1 wrap or mirror.
enum class AxisMode : std::uint8_t { Clamp, Wrap, Mirror, Border };

/// A line, plane, layers of planes or volume in rows. A plane or volume has at most 4 GiB.
struct PlaneView {
    const std::byte* data = nullptr;
    std::uint64_t pitch_bytes = 0;
    std::uint64_t slice_bytes = 0; // from layer to layer, or from slice to slice
    std::uint32_t layers = 1;
    std::uint32_t sizes[3] = {1, 1, 1};
    std::uint32_t texel_bytes = 4;
    std::uint8_t channels = 1;
    PlaneNumbers numbers = PlaneNumbers::Words;
    bool is_signed = false;      // integers of 8 and 16 bits
    bool reads_integers = false; // of 8 and 16 bits
    bool is_linear = false;
    bool is_normalized = false;
    bool has_border = false;
    AxisMode modes[3] = {AxisMode::Clamp, AxisMode::Clamp, AxisMode::Clamp};
    const Image* levels = nullptr; // not null: choose_level() chooses one of the image's levels
    std::uint32_t border[4] = {};  // the words of a texel that stands for all places outside
};

/// Describes an image that is read as `geometry` says. Returns false if that needs more than a
/// PlaneView can say.
[[nodiscard]] bool view_of(const Image& image, Geometry geometry, PlaneView& view);

/// Makes a view read a level that an instruction states. Returns false if that needs more than a
/// PlaneView can say, such as a mixture of two levels.
[[nodiscard]] bool choose_level(float level, PlaneView& view);

/// Describes the texture that all lanes of `mask` read. Returns false if they read several, or if
/// there is no such view. Then sample_any() does the work, and reports what is wrong.
[[nodiscard]] bool find_plane(const WarpContext& warp, const bytecode::Instruction* at,
                              std::uint32_t mask, Geometry geometry, PlaneView& view);

/// The same for linear memory that is read by index: `sizes[0]` is the number of texels.
[[nodiscard]] bool find_list(const WarpContext& warp, const bytecode::Instruction* at,
                             std::uint32_t mask, PlaneView& view);

/// The handler of all forms: texture::sample.
[[nodiscard]] const bytecode::Instruction*
sample_any(WarpContext& warp, const bytecode::Instruction* at, std::uint32_t mask);

} // namespace cuprum::emulator
