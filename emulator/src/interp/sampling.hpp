// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// One thread's texture fetch: from coordinates to the bits of the result.
//
// Coordinates become fixed-point numbers of texels with 8 fractional bits, as on an H200. Those
// from 0 to 1 are cut off after 21 bits first, then multiplied by the size.

#pragma once

#include "bytecode/image_forms.hpp"
#include "interp/texels.hpp"

#include <array>
#include <cstdint>

namespace cuprum::emulator {

/// The operands of one thread's tex or tld4.
struct SampleRequest {
    std::array<float, 3> coordinates{};  // or the direction into a cube
    std::array<std::int32_t, 3> whole{}; // integer coordinates
    std::array<std::int32_t, 3> offsets{};
    std::uint32_t layer = 0;
    float level = 0;
    std::int32_t whole_level = 0; // of integer coordinates
    std::array<std::array<float, 3>, 2> gradients{};
};

/// The two texels that one axis contributes to a filter. A negative index lies outside.
struct AxisTexels {
    std::array<std::int64_t, 2> index{};
    std::uint32_t fraction = 0; // the weight of the second, in 1/256
};

/// Which texels a coordinate selects.
enum class TexelChoice : std::uint8_t {
    Nearest,  // the one that it lies in
    Filtered, // the two nearest ones, for a filter
    Gathered, // the same, for tld4: those outside do not lose their weight
    Seamless, // the two nearest ones, also beyond the edge of a cube's face: -1 or the size
};

/// Returns the texels of one axis for a coordinate. `size`: of the level, in texels.
[[nodiscard]] AxisTexels find_texels(float coordinate, std::int32_t offset, std::uint32_t size,
                                     AddressMode mode, bool is_normalized, TexelChoice choice);

/// Returns a level in 1/256, with bias and limits, within the levels of the image. `level` is 0 if
/// an instruction states none; then there is no bias.
[[nodiscard]] std::int32_t limit_level(const Image& image, const Sampler& sampler, double level,
                                       bool is_stated);

/// The level of an image that a fetch reads, and the weight of the next one in 1/256.
struct LevelChoice {
    std::uint32_t level = 0;
    std::uint32_t fraction = 0;
};

/// Returns which levels a level in 1/256 stands for.
[[nodiscard]] LevelChoice choose_levels(const Sampler& sampler, std::int32_t level);

/// A texture, a sampler and a form that were resolved for a warp.
class TextureSampler {
public:
    TextureSampler(const Image& image, const Sampler& sampler, const SampleForm& form);

    /// Returns the four components: integers or single-precision numbers.
    [[nodiscard]] TexelBits sample(const SampleRequest& request) const;

private:
    /// The texels of up to two slices of up to two levels.
    struct Taps {
        std::array<TapGroup, 4> groups;
        std::size_t count = 0;
    };

    /// The axes of one level, and the slice that does not change.
    struct Place {
        std::array<AxisTexels, 3> axes;
        std::uint32_t slice = 0;
    };

    [[nodiscard]] TexelBits sample_whole(const SampleRequest& request) const;
    [[nodiscard]] TexelBits gather(const SampleRequest& request) const;
    [[nodiscard]] std::int32_t level_of(const SampleRequest& request) const;
    [[nodiscard]] Place place_of(const SampleRequest& request, const ImageLevel& level,
                                 TexelChoice choice) const;
    [[nodiscard]] std::uint32_t layer_of(std::uint32_t layer) const;
    [[nodiscard]] Texel texel_at(const ImageLevel& level, std::int64_t x, std::int64_t y,
                                 std::int64_t z) const;
    void add_level(const SampleRequest& request, std::uint32_t level, std::uint32_t weight,
                   Taps& taps) const;
    void add_seamless(const ImageLevel& level, const Place& place, std::uint32_t weight,
                      Taps& taps) const;
    [[nodiscard]] Texel cube_texel(const ImageLevel& level, std::uint32_t slice, std::int64_t x,
                                   std::int64_t y) const;

    const Image& image_;
    const Sampler& sampler_;
    SampleForm form_;
    TexelReader reader_;
    bool is_linear_;
    bool is_cube_;
};

} // namespace cuprum::emulator
