// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "interp/sampling.hpp"

#include "interp/cube.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace cuprum::emulator {

namespace {

constexpr std::int64_t ONE = 256; // of weights and of fractions of texels
constexpr std::int64_t HALF = ONE / 2;
constexpr std::int64_t OUTSIDE = -1;

/// Returns a product of two weights as a weight, halfway cases up.
std::uint32_t product(std::uint32_t a, std::uint32_t b) {
    return (a * b + HALF) / ONE;
}

std::int64_t modulo(std::int64_t value, std::int64_t period) {
    const std::int64_t rest = value % period;
    return rest < 0 ? rest + period : rest;
}

/// Returns how many fractional bits of a normalised coordinate count.
unsigned coordinate_bits(std::uint32_t size) {
    constexpr std::uint32_t large = 32768;
    return size > large ? 22 : 21;
}

/// Returns a coordinate in texels as a fixed-point number. Bits below 1/256 are rounded or cut off.
std::int64_t fixed_coordinate(float coordinate, std::uint32_t size, AddressMode mode,
                              bool is_normalized, bool is_rounded) {
    if (!(std::abs(coordinate) >= std::numeric_limits<float>::min())) {
        return 0; // zero, subnormal, or not a number
    }
    constexpr double limit = 0x1p40;
    const double value = std::clamp(static_cast<double>(coordinate), -limit, limit);
    if (!is_normalized) {
        return static_cast<std::int64_t>(std::floor(value * ONE + (is_rounded ? 0.5 : 0.0)));
    }
    const unsigned bits = coordinate_bits(size);
    auto cut = static_cast<std::int64_t>(std::floor(std::ldexp(value, static_cast<int>(bits))));
    const bool is_periodic = mode == AddressMode::Wrap || mode == AddressMode::Mirror;
    const std::int64_t period = std::int64_t{2} << bits;
    cut = is_periodic ? modulo(cut, period) : std::clamp(cut, -period, period);
    constexpr unsigned fraction_bits = 8;
    const unsigned shift = bits - fraction_bits;
    return (cut * size + (is_rounded ? std::int64_t{1} << (shift - 1) : 0)) >> shift;
}

/// Returns the texel that an address mode puts in the place of another one.
std::int64_t texel_of(std::int64_t texel, std::int64_t size, AddressMode mode) {
    if (texel >= 0 && texel < size) {
        return texel;
    }
    switch (mode) {
    case AddressMode::Wrap:
        return modulo(texel, size);
    case AddressMode::Mirror: {
        const std::int64_t rest = modulo(texel, 2 * size);
        return rest >= size ? 2 * size - 1 - rest : rest;
    }
    case AddressMode::Border:
        return OUTSIDE;
    default:
        return std::clamp<std::int64_t>(texel, 0, size - 1);
    }
}

/// Returns the length of a gradient as the hardware estimates it.
double length_of(const std::array<double, 3>& gradient) {
    std::array<double, 3> sorted = {std::abs(gradient[0]), std::abs(gradient[1]),
                                    std::abs(gradient[2])};
    std::sort(sorted.begin(), sorted.end());
    return sorted[2] + 11.0 / 32 * sorted[1] + 1.0 / 4 * sorted[0];
}

/// Returns the level at which a length is one texel, in steps of 1/256. The hardware looks up the
/// first 8 bits of the length after its leading one.
double level_of_length(double length) {
    if (!(length > 0)) {
        return -1e6;
    }
    if (std::isinf(length)) {
        return 1e6;
    }
    int exponent = 0;
    const double mantissa = std::frexp(length, &exponent) * 2;
    const double bits = std::floor((mantissa - 1) * ONE);
    const double fraction =
        bits == 0 ? 0 : std::min(std::floor(std::log2(1 + (bits + 0.47) / ONE) * ONE + 0.5), 255.0);
    return exponent - 1 + fraction / ONE;
}

} // namespace

AxisTexels find_texels(float coordinate, std::int32_t offset, std::uint32_t size, AddressMode mode,
                       bool is_normalized, TexelChoice choice) {
    const bool is_linear = choice != TexelChoice::Nearest;
    const bool is_periodic = mode == AddressMode::Wrap || mode == AddressMode::Mirror;
    if (is_periodic && !is_normalized) {
        mode = AddressMode::Clamp;
    }
    const std::int64_t texels = size;
    AxisTexels result;
    const std::int64_t at =
        fixed_coordinate(coordinate, size, mode, is_normalized, is_linear) + offset * ONE;
    std::int64_t place = is_linear ? at - HALF : at;
    if (mode == AddressMode::Clamp && choice == TexelChoice::Filtered) {
        place = std::clamp<std::int64_t>(place, 0, (texels - 1) * ONE);
    }
    result.fraction = is_linear ? static_cast<std::uint32_t>(place & (ONE - 1)) : 0;
    const std::int64_t first = place >> 8;
    for (std::size_t i = 0; i < 2; ++i) {
        const std::int64_t texel = first + static_cast<std::int64_t>(i);
        result.index[i] = choice == TexelChoice::Seamless ? texel : texel_of(texel, texels, mode);
    }
    return result;
}

std::int32_t limit_level(const Image& image, const Sampler& sampler, double level, bool is_stated) {
    const auto cut = [](double value) {
        return static_cast<std::int64_t>(std::trunc(std::clamp(value, -1e6, 1e6) * ONE));
    };
    const std::int64_t bias =
        is_stated ? cut(static_cast<double>(sampler.level_bias)) : 0; // none: the first level
    const std::int64_t low = cut(static_cast<double>(sampler.min_level));
    const std::int64_t high = std::max(low, cut(static_cast<double>(sampler.max_level)));
    const std::int64_t last = (image.level_count - 1) * ONE;
    return static_cast<std::int32_t>(
        std::clamp<std::int64_t>(std::clamp(cut(level) + bias, low, high), 0, last));
}

LevelChoice choose_levels(const Sampler& sampler, std::int32_t level) {
    const bool is_mixed = sampler.level_filter == ImageFilter::Linear;
    const std::int64_t nearest = is_mixed ? level / ONE : (level + HALF) / ONE;
    return {static_cast<std::uint32_t>(nearest),
            is_mixed ? static_cast<std::uint32_t>(level % ONE) : 0};
}

TextureSampler::TextureSampler(const Image& image, const Sampler& sampler, const SampleForm& form)
    : image_(image), sampler_(sampler), form_(form), reader_(image, sampler),
      is_linear_(sampler.filter == ImageFilter::Linear),
      is_cube_(form.geometry == Geometry::Cube || form.geometry == Geometry::CubeLayers) {}

TexelBits TextureSampler::sample(const SampleRequest& request) const {
    if (image_.levels[0].width == 0 || image_.levels[0].height == 0) {
        return {}; // linear and pitched memory may have no texels
    }
    if (form_.has_whole_coordinates || image_.source == ImageSource::Linear) {
        return sample_whole(request);
    }
    if (form_.component != SampleForm::NOT_GATHER) {
        return gather(request);
    }
    Taps taps;
    const LevelChoice from =
        image_.level_count == 1 ? LevelChoice{} : choose_levels(sampler_, level_of(request));
    add_level(request, from.level, ONE - from.fraction, taps);
    if (from.fraction != 0) {
        add_level(request, from.level + 1, from.fraction, taps);
    }
    if (taps.count == 1 && taps.groups[0].count == 1) {
        return reader_.to_registers(taps.groups[0].taps[0].texel);
    }
    return reader_.filter(std::span(taps.groups).first(taps.count));
}

TexelBits TextureSampler::sample_whole(const SampleRequest& request) const {
    // A line with integer coordinates must be linear memory, and the other way round.
    if ((form_.geometry == Geometry::Line && form_.has_whole_coordinates) !=
        (image_.source == ImageSource::Linear)) {
        if (form_.geometry == Geometry::Line) {
            return {};
        }
    }
    std::array<std::int64_t, 3> at{};
    const unsigned axes = axes_of(form_.geometry);
    std::uint32_t index = 0;
    if (form_.level == LevelFrom::Operand) {
        if (request.whole_level < 0 || request.whole_level >= image_.level_count) {
            return {};
        }
        index = static_cast<std::uint32_t>(request.whole_level);
    }
    const ImageLevel& level = image_.levels[index];
    const std::array<std::int64_t, 3> sizes = {level.width, level.height, level.depth};
    for (unsigned axis = 0; axis < axes; ++axis) {
        at[axis] = std::int64_t{request.whole[axis]} + request.offsets[axis];
        const std::int64_t inside = std::clamp<std::int64_t>(at[axis], 0, sizes[axis] - 1);
        if (inside != at[axis] && form_.level != LevelFrom::Operand) {
            return {};
        }
        at[axis] = inside;
    }
    if (has_layer(form_.geometry) && request.layer >= image_.layers) {
        return {};
    }
    const bool is_volume = form_.geometry == Geometry::Volume;
    const std::int64_t slice = is_volume ? at[2] : layer_of(request.layer);
    return reader_.to_registers(texel_at(level, at[0], at[1], slice));
}

TexelBits TextureSampler::gather(const SampleRequest& request) const {
    const ImageLevel& level = image_.levels[0];
    const bool is_seamless = is_cube_ && sampler_.is_seamless;
    const Place place =
        place_of(request, level, is_seamless ? TexelChoice::Seamless : TexelChoice::Gathered);
    constexpr std::array<std::array<std::size_t, 2>, 4> ORDER{{{0, 1}, {1, 1}, {1, 0}, {0, 0}}};
    TexelBits result{};
    for (std::size_t i = 0; i < ORDER.size(); ++i) {
        const std::int64_t x = place.axes[0].index[ORDER[i][0]];
        const std::int64_t y = place.axes[1].index[ORDER[i][1]];
        const Texel texel =
            is_seamless ? cube_texel(level, place.slice, x, y) : texel_at(level, x, y, place.slice);
        result[i] = reader_.to_registers(texel)[form_.component];
    }
    return result;
}

/// Returns the level in 1/256, within the levels of the image.
std::int32_t TextureSampler::level_of(const SampleRequest& request) const {
    double level = 0;
    if (form_.level == LevelFrom::Operand) {
        level = std::isnan(request.level) ? 0.0 : static_cast<double>(request.level);
    } else if (form_.level == LevelFrom::Gradients) {
        const ImageLevel& base = image_.levels[0];
        const std::array<std::uint32_t, 3> sizes = {base.width, base.height, base.depth};
        std::array<std::array<double, 3>, 2> gradients{};
        for (std::size_t i = 0; i < gradients.size(); ++i) {
            if (is_cube_) {
                const auto projected = gradient_on_cube(request.coordinates, request.gradients[i]);
                gradients[i] = {projected[0], projected[1], 0};
                continue;
            }
            for (unsigned axis = 0; axis < axes_of(form_.geometry); ++axis) {
                gradients[i][axis] = static_cast<double>(request.gradients[i][axis]);
            }
        }
        std::array<std::array<double, 3>, 4> lines{};
        for (unsigned axis = 0; axis < gradients[0].size(); ++axis) {
            const double x = gradients[0][axis] * sizes[axis];
            const double y = gradients[1][axis] * sizes[axis];
            lines[0][axis] = x;
            lines[1][axis] = y;
            lines[2][axis] = (x + y) * (11.0 / 16);
            lines[3][axis] = (x - y) * (11.0 / 16);
        }
        double longest = 0;
        for (const auto& line : lines) {
            longest = std::max(longest, length_of(line));
        }
        level = level_of_length(longest);
    }
    return limit_level(image_, sampler_, level, form_.level != LevelFrom::Nowhere);
}

TextureSampler::Place TextureSampler::place_of(const SampleRequest& request,
                                               const ImageLevel& level, TexelChoice choice) const {
    Place place;
    const bool is_volume = form_.geometry == Geometry::Volume;
    const std::array<std::uint32_t, 3> sizes = {level.width, level.height, level.depth};
    SampleRequest inner = request;
    place.slice = has_layer(form_.geometry) ? layer_of(request.layer) : 0;
    // Coordinates of mipmapped images are always normalised.
    bool is_normalized = sampler_.is_normalized || image_.source == ImageSource::MipmappedArray;
    if (is_cube_) {
        const CubePlace cube = place_on_cube(request.coordinates);
        place.slice = place.slice * 6 + cube.face;
        inner.coordinates = {cube.x, cube.y, 0};
        is_normalized = true;
    }
    const unsigned axes = is_volume ? 3 : std::min(axes_of(form_.geometry), 2u);
    const bool clamps = is_cube_ && sampler_.is_seamless && choice == TexelChoice::Nearest;
    for (unsigned axis = 0; axis < axes; ++axis) {
        place.axes[axis] =
            find_texels(inner.coordinates[axis], request.offsets[axis], sizes[axis],
                        clamps ? AddressMode::Clamp : sampler_.modes[axis], is_normalized, choice);
    }
    if (form_.geometry == Geometry::Line && sampler_.modes[1] == AddressMode::Border &&
        choice == TexelChoice::Filtered) {
        // A line is a plane of one row, and its points lie on the edge of that row.
        place.axes[1] = find_texels(0, 0, 1, AddressMode::Border, is_normalized, choice);
    }
    return place;
}

std::uint32_t TextureSampler::layer_of(std::uint32_t layer) const {
    return std::min(layer, image_.layers - 1);
}

Texel TextureSampler::texel_at(const ImageLevel& level, std::int64_t x, std::int64_t y,
                               std::int64_t z) const {
    if (x < 0 || y < 0 || z < 0) {
        return reader_.border();
    }
    // An instruction may assume another shape than the image has: stay inside.
    const std::uint32_t slices = image_.shape == ImageShape::Volume       ? level.depth
                                 : image_.shape == ImageShape::Cube       ? 6
                                 : image_.shape == ImageShape::CubeLayers ? 6 * image_.layers
                                                                          : image_.layers;
    return reader_.read(level,
                        static_cast<std::uint32_t>(std::min<std::int64_t>(x, level.width - 1)),
                        static_cast<std::uint32_t>(std::min<std::int64_t>(y, level.height - 1)),
                        static_cast<std::uint32_t>(std::min<std::int64_t>(z, slices - 1)));
}

/// Adds the texels of one level. `weight` is that of the level.
void TextureSampler::add_level(const SampleRequest& request, std::uint32_t level,
                               std::uint32_t weight, Taps& taps) const {
    const ImageLevel& from = image_.levels[level];
    const bool is_seamless = is_cube_ && sampler_.is_seamless && is_linear_;
    const Place place = place_of(request, from,
                                 is_seamless  ? TexelChoice::Seamless
                                 : is_linear_ ? TexelChoice::Filtered
                                              : TexelChoice::Nearest);
    if (is_seamless) {
        add_seamless(from, place, weight, taps);
        return;
    }
    const auto& [x, y, z] = place.axes;
    const bool is_volume = form_.geometry == Geometry::Volume;
    const auto add = [&](std::size_t i, std::size_t j, std::size_t k, std::uint32_t part) {
        TapGroup& group = taps.groups[taps.count - 1];
        Tap& tap = group.taps[group.count++];
        tap.texel = texel_at(from, x.index[i], y.index[j],
                             is_volume ? z.index[k] : std::int64_t{place.slice});
        tap.weight = part;
    };
    if (!is_linear_) {
        ++taps.count;
        add(0, 0, 0, weight);
        return;
    }
    // Slices first, then columns, then rows. Each part is rounded, and the other gets the rest.
    for (std::size_t k = 0; k < (is_volume ? 2u : 1u); ++k) {
        const std::uint32_t back = is_volume ? product(weight, z.fraction) : 0;
        const std::uint32_t slice = k == 0 ? weight - back : back;
        ++taps.count;
        const std::uint32_t right = product(slice, x.fraction);
        const std::uint32_t left = slice - right;
        if (axes_of(form_.geometry) == 1 && y.fraction == 0) {
            add(0, 0, k, left);
            add(1, 0, k, right);
            continue;
        }
        const std::uint32_t right_bottom = product(right, y.fraction);
        const std::uint32_t left_top = product(left, ONE - y.fraction);
        add(0, 0, k, left_top);
        add(1, 0, k, right - right_bottom);
        add(0, 1, k, left - left_top);
        add(1, 1, k, right_bottom);
    }
}

/// Adds the texels around a place on a cube, across its edges. At a corner only three texels meet:
/// they share the weight of the fourth.
void TextureSampler::add_seamless(const ImageLevel& level, const Place& place, std::uint32_t weight,
                                  Taps& taps) const {
    const AxisTexels& x = place.axes[0];
    const AxisTexels& y = place.axes[1];
    const std::uint32_t right = product(weight, x.fraction);
    const std::uint32_t left = weight - right;
    const std::uint32_t right_bottom = product(right, y.fraction);
    const std::uint32_t left_top = product(left, ONE - y.fraction);
    std::array<std::uint32_t, 4> weights = {left_top, right - right_bottom, left - left_top,
                                            right_bottom};
    const std::int64_t size = level.width;
    const auto is_outside = [&](std::int64_t at) { return at < 0 || at >= size; };
    std::size_t missing = weights.size();
    for (std::size_t i = 0; i < weights.size(); ++i) {
        if (is_outside(x.index[i & 1]) && is_outside(y.index[i >> 1])) {
            missing = i;
        }
    }
    if (missing < weights.size()) {
        const std::uint32_t shared = weights[missing];
        const std::uint32_t third = (2 * shared + 3) / 6;
        weights[missing ^ 1] += third;
        weights[missing ^ 2] += third;
        weights[missing ^ 3] += shared - 2 * third;
    }
    TapGroup& group = taps.groups[taps.count++];
    for (std::size_t i = 0; i < weights.size(); ++i) {
        if (i != missing) {
            group.taps[group.count++] = {
                cube_texel(level, place.slice, x.index[i & 1], y.index[i >> 1]), weights[i]};
        }
    }
}

Texel TextureSampler::cube_texel(const ImageLevel& level, std::uint32_t slice, std::int64_t x,
                                 std::int64_t y) const {
    const std::int64_t size = level.width;
    const bool is_inside = x >= 0 && x < size && y >= 0 && y < size;
    if (is_inside) {
        return texel_at(level, x, y, slice);
    }
    constexpr std::uint32_t faces = 6;
    const CubeTexel found = texel_beyond_edge({slice % faces, x, y}, level.width);
    return texel_at(level, found.x, found.y, slice / faces * faces + found.face);
}

} // namespace cuprum::emulator
