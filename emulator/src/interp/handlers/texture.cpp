// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The most common texture fetches, a warp at a time: lines and planes of floats or bytes. All other
// fetches take the way of interp/texture.cpp. Both give the same bits.

#include "interp/handlers/select.hpp"
#include "interp/plane_view.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

constexpr std::int32_t ONE = 256; // of weights
constexpr std::int32_t HALF = ONE / 2;

/// The texels of one axis for all lanes.
struct alignas(64) Axis {
    std::int32_t first[WARP_SIZE];
    std::int32_t second[WARP_SIZE];
    std::int32_t fraction[WARP_SIZE]; // weight of the second
};

[[gnu::always_inline]] inline std::int32_t limited(std::int32_t value, std::int32_t last) {
    value = value < 0 ? 0 : value;
    return value > last ? last : value;
}

/// Finds the texels of coordinates that count texels.
template <bool IS_LINEAR>
[[gnu::always_inline]] inline void find_counted(const float* coordinates, std::int32_t size,
                                                Axis& axis) {
    const float limit = static_cast<float>(size) + 1;
    for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
        float x = coordinates[lane];
        x = x > 0 ? x : 0; // also if it is not a number
        x = x < limit ? x : limit;
        if constexpr (IS_LINEAR) {
            const std::int32_t rounded = (static_cast<std::int32_t>(x * (2 * ONE)) + 1) >> 1;
            const std::int32_t place = limited(rounded - HALF, (size - 1) * ONE);
            axis.first[lane] = place >> 8;
            axis.second[lane] = limited((place >> 8) + 1, size - 1);
            axis.fraction[lane] = place & (ONE - 1);
        } else {
            axis.first[lane] = limited(static_cast<std::int32_t>(x), size - 1);
        }
    }
}

/// Finds the texels of coordinates from 0 to 1. Returns false if one is too large for this way.
template <bool IS_LINEAR>
[[gnu::always_inline]] inline bool find_normalized(const float* coordinates, std::int32_t size,
                                                   bool wraps, Axis& axis) {
    constexpr float smallest = 0x1p-126f;
    constexpr float largest = 512;
    constexpr std::int32_t period = 1 << 21;
    std::int32_t is_too_large = 0;
    for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
        float x = coordinates[lane];
        const float magnitude = x < 0 ? -x : x;
        x = magnitude >= smallest ? x : 0;
        if (wraps) {
            is_too_large |= magnitude < largest ? 0 : 1;
            x = magnitude < largest ? x : 0;
        } else {
            x = x > 0 ? x : 0;
            x = x < 1 ? x : 1;
        }
        const double scaled = static_cast<double>(x) * period;
        std::int32_t cut = static_cast<std::int32_t>(scaled);
        cut -= scaled < static_cast<double>(cut) ? 1 : 0;
        cut = wraps ? cut & (period - 1) : cut;
        const std::int64_t texels = std::int64_t{cut} * size;
        if constexpr (IS_LINEAR) {
            std::int32_t place = static_cast<std::int32_t>((texels + (1 << 12)) >> 13) - HALF;
            place = wraps ? place : limited(place, (size - 1) * ONE);
            const std::int32_t first = place >> 8;
            const std::int32_t second = first + 1;
            axis.first[lane] = first < 0 ? size - 1 : first;
            axis.second[lane] = second < size ? second : wraps ? 0 : size - 1;
            axis.fraction[lane] = place & (ONE - 1);
        } else {
            axis.first[lane] = limited(static_cast<std::int32_t>(texels >> 21), size - 1);
        }
    }
    return is_too_large == 0;
}

template <bool IS_LINEAR>
[[gnu::always_inline]] inline bool find(const PlaneView& view, unsigned index,
                                        const float* coordinates, Axis& axis) {
    const auto size = static_cast<std::int32_t>(view.sizes[index]);
    if (view.is_normalized) {
        return find_normalized<IS_LINEAR>(coordinates, size, view.wraps[index], axis);
    }
    find_counted<IS_LINEAR>(coordinates, size, axis);
    return true;
}

/// Returns a fraction of 65535 as a float.
[[gnu::always_inline]] inline float fraction_of(std::int32_t value) {
    return static_cast<float>(static_cast<double>(value) / 65535.0);
}

/// The four weights of a filter for all lanes, in the order of the texels.
struct alignas(64) Weights {
    std::int32_t of[4][WARP_SIZE];
};

[[gnu::always_inline]] inline void find_weights(const Axis& x, const Axis& y, Weights& weights) {
    for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
        const std::int32_t right = x.fraction[lane];
        const std::int32_t left = ONE - right;
        const std::int32_t right_bottom = (right * y.fraction[lane] + HALF) >> 8;
        const std::int32_t left_top = (left * (ONE - y.fraction[lane]) + HALF) >> 8;
        weights.of[0][lane] = left_top;
        weights.of[1][lane] = right - right_bottom;
        weights.of[2][lane] = left - left_top;
        weights.of[3][lane] = right_bottom;
    }
}

/// Adds up four floats per lane as interp/texels.cpp does. Returns false if one of them is not
/// finite.
[[gnu::always_inline]] inline bool filter_floats(const std::uint32_t (&texels)[4][WARP_SIZE],
                                                 const Weights& weights, std::uint32_t mask,
                                                 float* result) {
    std::uint32_t specials = 0;
    for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
        std::uint32_t largest = 1u << 23;
        for (unsigned i = 0; i < 4; ++i) {
            const std::uint32_t magnitude = texels[i][lane] & 0x7fffffffu;
            const std::uint32_t used = weights.of[i][lane] != 0 ? magnitude : 0;
            largest = used > largest ? used : largest;
        }
        const std::uint64_t exponent = largest >> 23;
        specials |= exponent == 255 ? 1u << lane : 0;
        const double scale = __builtin_bit_cast(double, (154 - exponent + 1023) << 52);
        const double unit = __builtin_bit_cast(double, (exponent - 162 + 1023) << 52);
        double sum = 0;
        for (unsigned i = 0; i < 4; ++i) {
            const std::uint32_t bits = texels[i][lane];
            const bool is_zero = (bits & 0x7f800000u) == 0 || weights.of[i][lane] == 0;
            const double texel = static_cast<double>(__builtin_bit_cast(float, is_zero ? 0 : bits));
            sum +=
                static_cast<double>(static_cast<std::int32_t>(texel * scale)) * weights.of[i][lane];
        }
        // Makes halfway cases round away from zero; sums have at most 36 bits.
        const double nudged = sum * (1 + 0x1p-38);
        const float value = static_cast<float>(nudged * unit);
        const float magnitude = value < 0 ? -value : value;
        result[lane] = magnitude < 0x1p-126f ? value * 0.0f : value;
    }
    return (specials & mask) == 0;
}

/// Reads the texels of one corner for all lanes.
[[gnu::always_inline]] inline void find_rows(const PlaneView& view, const std::int32_t* x,
                                             const std::int32_t* y,
                                             const std::byte* (&places)[WARP_SIZE]) {
    for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
        places[lane] = view.data + static_cast<std::uint64_t>(y[lane]) * view.pitch_bytes +
                       static_cast<std::uint64_t>(x[lane]) * view.texel_bytes;
    }
}

[[gnu::always_inline]] inline std::uint32_t word_at(const std::byte* place) {
    typedef std::uint32_t Word __attribute__((aligned(1), may_alias));
    return *reinterpret_cast<const Word*>(place);
}

/// Returns the texel of the first lane if the lanes read neighbours in one row of single floats,
/// the usual case. Returns nullptr if they do not.
[[gnu::always_inline]] inline const std::byte*
find_row(const PlaneView& view, const std::int32_t* x, const std::int32_t* y) {
    if (view.channels != 1 || view.has_bytes) {
        return nullptr;
    }
    std::int32_t differing = 0;
    for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
        differing |= (x[lane] - static_cast<std::int32_t>(lane)) ^ x[0];
        differing |= y[lane] ^ y[0];
    }
    return differing != 0 ? nullptr
                          : view.data + static_cast<std::uint64_t>(y[0]) * view.pitch_bytes +
                                static_cast<std::uint64_t>(x[0]) * sizeof(std::uint32_t);
}

void sample_points(const WarpContext& warp, const Instruction* at, std::uint32_t mask,
                   const PlaneView& view, const Axis& x, const Axis& y) {
    if (const std::byte* const row = find_row(view, x.first, y.first)) {
        alignas(64) std::uint32_t texels[WARP_SIZE];
        __builtin_memcpy(texels, row, sizeof texels);
        store_lanes<std::uint32_t>(locate(warp, at->dst[0]), texels, mask);
        alignas(64) constexpr std::uint32_t zeros[WARP_SIZE] = {};
        for (unsigned channel = 1; channel < 4; ++channel) {
            store_lanes<std::uint32_t>(locate(warp, at->dst[channel]), zeros, mask);
        }
        return;
    }
    const std::byte* places[WARP_SIZE];
    find_rows(view, x.first, y.first, places);
    for (unsigned channel = 0; channel < 4; ++channel) {
        alignas(64) std::uint32_t result[WARP_SIZE] = {};
        if (channel >= view.channels) {
            // zeros
        } else if (!view.has_bytes) {
            for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
                result[lane] = word_at(places[lane] + 4 * channel);
            }
        } else {
            for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
                const auto value = static_cast<std::int32_t>(places[lane][channel]);
                result[lane] = view.reads_integers
                                   ? static_cast<std::uint32_t>(value)
                                   : __builtin_bit_cast(std::uint32_t, fraction_of(value * 257));
            }
        }
        store_lanes<std::uint32_t>(locate(warp, at->dst[channel]), result, mask);
    }
}

bool sample_filtered(const WarpContext& warp, const Instruction* at, std::uint32_t mask,
                     const PlaneView& view, const Axis& x, const Axis& y) {
    Weights weights;
    find_weights(x, y, weights);
    const std::byte* places[4][WARP_SIZE];
    const std::byte* rows[4]; // where a corner is one row of floats
    for (unsigned i = 0; i < 4; ++i) {
        const std::int32_t* const across = (i & 1) == 0 ? x.first : x.second;
        const std::int32_t* const down = i < 2 ? y.first : y.second;
        rows[i] = find_row(view, across, down);
        if (rows[i] == nullptr) {
            find_rows(view, across, down, places[i]);
        }
    }
    alignas(64) float results[4][WARP_SIZE] = {};
    for (unsigned channel = 0; channel < view.channels; ++channel) {
        alignas(64) std::uint32_t texels[4][WARP_SIZE];
        if (view.has_bytes) {
            alignas(64) std::int32_t sums[WARP_SIZE] = {};
            for (unsigned i = 0; i < 4; ++i) {
                for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
                    sums[lane] += static_cast<std::int32_t>(places[i][lane][channel]) * 257 *
                                  weights.of[i][lane];
                }
            }
            for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
                results[channel][lane] = fraction_of((sums[lane] + HALF) >> 8);
            }
            continue;
        }
        for (unsigned i = 0; i < 4; ++i) {
            if (rows[i] != nullptr) {
                __builtin_memcpy(texels[i], rows[i], sizeof texels[i]);
                continue;
            }
            for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
                texels[i][lane] = word_at(places[i][lane] + 4 * channel);
            }
        }
        if (!filter_floats(texels, weights, mask, results[channel])) {
            return false;
        }
    }
    for (unsigned channel = 0; channel < 4; ++channel) {
        store_lanes<float>(locate(warp, at->dst[channel]), results[channel], mask);
    }
    return true;
}

template <bool IS_LINE>
const Instruction* sample(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    PlaneView view;
    if (!find_plane(warp, at, mask, IS_LINE, view)) {
        return sample_any(warp, at, mask);
    }
    const auto* const across = reinterpret_cast<const float*>(locate(warp, at->src[1]));
    const auto* const down =
        IS_LINE ? across : reinterpret_cast<const float*>(locate(warp, at->src[2]));
    Axis x;
    Axis y = {};
    const bool fits =
        view.is_linear
            ? find<true>(view, 0, across, x) && (IS_LINE || find<true>(view, 1, down, y))
            : find<false>(view, 0, across, x) && (IS_LINE || find<false>(view, 1, down, y));
    if (!fits) {
        return sample_any(warp, at, mask);
    }
    if (!view.is_linear) {
        sample_points(warp, at, mask, view, x, y);
    } else if (!sample_filtered(warp, at, mask, view, x, y)) {
        return sample_any(warp, at, mask);
    }
    return at + 1;
}

} // namespace

Handler select_texture(const SampleForm& form) {
    const bool is_plain = form.level == LevelFrom::Nowhere &&
                          form.component == SampleForm::NOT_GATHER && !form.has_whole_coordinates &&
                          !form.has_sampler && !form.has_offset && !form.tells_residency;
    const bool has_words = form.type == SampleType::Word || form.type == SampleType::Float;
    if (!is_plain || !has_words) {
        return nullptr;
    }
    return form.geometry == Geometry::Plane  ? sample<false>
           : form.geometry == Geometry::Line ? sample<true>
                                             : nullptr;
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
