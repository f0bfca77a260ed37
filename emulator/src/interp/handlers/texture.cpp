// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The most common texture fetches with vectors: lines and planes of floats or bytes. All other
// fetches take the way of interp/texture.cpp. Both give the same bits.
//
// A chunk is the lanes of one hardware vector. Most often, the lanes of a chunk read neighbours in
// one row, which are loaded like plain memory. In lockstep, the texture is found once for all
// warps.

#include "interp/handlers/float_common.hpp"
#include "interp/handlers/linear_access.hpp"
#include "interp/handlers/select.hpp"
#include "interp/lockstep.hpp"
#include "interp/plane_view.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

using Ints = Vector<std::int32_t>;
using Words = Vector<std::uint32_t>;
using Floats = Vector<float>;
using Doubles = Vector<double>;

constexpr unsigned CHUNK_LANES = LANES<float>;
constexpr std::uint32_t CHUNK_MASK =
    static_cast<std::uint32_t>((std::uint64_t{1} << CHUNK_LANES) - 1);
constexpr std::int32_t ONE = 256; // of weights
constexpr std::int32_t HALF_ONE = ONE / 2;
constexpr std::uint32_t MAGNITUDE_BITS = 0x7fffffff;
constexpr unsigned EXPONENT_PLACE = 23;

// ---- vectors -----------------------------------------------------------------------------------

/// Returns whether all bits are zero.
[[gnu::always_inline]] inline bool is_zero(Ints value) {
#if defined(__AVX512F__)
    const auto bits = reinterpret_cast<__m512i>(value);
    return _mm512_test_epi32_mask(bits, bits) == 0;
#elif defined(__AVX2__)
    const auto bits = reinterpret_cast<__m256i>(value);
    return _mm256_testz_si256(bits, bits) != 0;
#else
    return sign_bits<std::int32_t>(value != 0) == 0;
#endif
}

/// Returns which lanes of a comparison hold.
[[gnu::always_inline]] inline std::uint32_t lanes_where(Ints holds) {
    return sign_bits<std::int32_t>(holds);
}

template <typename V>
[[gnu::always_inline]] inline V smaller(V a, V b) {
    return a < b ? a : b;
}

template <typename V>
[[gnu::always_inline]] inline V larger(V a, V b) {
    return a > b ? a : b;
}

[[gnu::always_inline]] inline Ints all(std::int32_t value) {
    return broadcast<std::int32_t>(value);
}

// A chunk as doubles is two vectors: its lower and its upper half. NOTE: not
// __builtin_convertvector, which g++ splits into parts of 16 bytes, and not the functions without a
// mask, for which g++ 12 warns about its own headers.

#if defined(__AVX512F__)
constexpr __mmask8 ALL = 0xff;
#endif

/// Converts from memory: a conversion between registers also takes a shuffle, of which processors
/// can do only one at a time.
[[gnu::always_inline]] inline Doubles to_doubles(const float* from) {
#if defined(__AVX512F__)
    return _mm512_maskz_cvtps_pd(ALL, _mm256_load_ps(from));
#elif defined(__AVX2__)
    return _mm256_cvtps_pd(_mm_load_ps(from));
#else
    Doubles result;
    for (unsigned i = 0; i < LANES<double>; ++i) {
        result[i] = static_cast<double>(from[i]);
    }
    return result;
#endif
}

[[gnu::always_inline]] inline Doubles to_doubles(const std::int32_t* from) {
#if defined(__AVX512F__)
    return _mm512_maskz_cvtepi32_pd(ALL, *reinterpret_cast<const __m256i*>(from));
#elif defined(__AVX2__)
    return _mm256_cvtepi32_pd(*reinterpret_cast<const __m128i*>(from));
#else
    Doubles result;
    for (unsigned i = 0; i < LANES<double>; ++i) {
        result[i] = static_cast<double>(from[i]);
    }
    return result;
#endif
}

[[gnu::always_inline]] inline Floats to_floats(Doubles lower, Doubles upper) {
#if defined(__AVX512F__)
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_maskz_cvtpd_ps(ALL, lower)),
                              _mm512_maskz_cvtpd_ps(ALL, upper), 1);
#elif defined(__AVX2__)
    return _mm256_set_m128(_mm256_cvtpd_ps(upper), _mm256_cvtpd_ps(lower));
#else
    Floats result;
    for (unsigned i = 0; i < LANES<double>; ++i) {
        result[i] = static_cast<float>(lower[i]);
        result[i + LANES<double>] = static_cast<float>(upper[i]);
    }
    return result;
#endif
}

// ---- coordinates -------------------------------------------------------------------------------

/// The texels of one axis.
struct Axis {
    Ints first{};
    Ints second{};
    Ints fraction{}; // weight of the second
};

/// Finds the texels of coordinates that count texels.
template <bool IS_LINEAR>
[[gnu::always_inline]] inline void find_counted(Floats x, std::int32_t size, Axis& axis) {
    x = larger(x, Floats{}); // also if it is not a number
    x = smaller(x, broadcast<float>(static_cast<float>(size + 1)));
    if constexpr (IS_LINEAR) {
        // In 1/256, rounded, and half a texel less.
        const Ints doubled = __builtin_convertvector(x * static_cast<float>(2 * ONE), Ints);
        Ints place = (doubled + 1 - ONE) >> 1;
        place = smaller(larger(place, Ints{}), all((size - 1) * ONE));
        axis.first = place >> 8;
        axis.second = smaller(axis.first + 1, all(size - 1));
        axis.fraction = place & (ONE - 1);
    } else {
        axis.first = smaller(__builtin_convertvector(x, Ints), all(size - 1));
    }
}

/// Finds the texels of coordinates from 0 to 1. Returns the lanes whose coordinate is too large for
/// this way.
template <bool IS_LINEAR>
[[gnu::always_inline]] inline std::uint32_t find_normalized(Floats x, std::int32_t size, bool wraps,
                                                            Axis& axis) {
    constexpr float smallest = 0x1p-126f;
    constexpr float largest = 512;
    constexpr std::int32_t period = 1 << 21;
    const auto magnitude = reinterpret_cast<Floats>(reinterpret_cast<Words>(x) & MAGNITUDE_BITS);
    std::uint32_t too_large = 0;
    x = magnitude >= smallest ? x : Floats{};
    if (wraps) {
        const Ints fits = magnitude < largest;
        too_large = ~lanes_where(fits) & CHUNK_MASK;
        x = fits ? x : Floats{};
    } else {
        x = smaller(larger(x, Floats{}), broadcast<float>(1));
    }
    const Floats scaled = x * static_cast<float>(period); // exact
    Ints cut = __builtin_convertvector(scaled, Ints);
    cut += scaled < __builtin_convertvector(cut, Floats); // the comparison is 0 or -1
    cut = wraps ? cut & (period - 1) : cut;
    // cut * size may have 36 bits, so multiply the upper and the lower 11 bits of `cut`.
    const Ints upper = (cut >> 11) * size;
    const Ints lower = (cut & 2047) * size;
    if constexpr (IS_LINEAR) {
        // (cut * size + 2^12) >> 13: in 1/256, rounded
        Ints place = ((upper + ((lower + 4096) >> 11)) >> 2) - HALF_ONE;
        place = wraps ? place : smaller(larger(place, Ints{}), all((size - 1) * ONE));
        const Ints first = place >> 8;
        const Ints second = first + 1;
        axis.first = first < 0 ? all(size - 1) : first;
        axis.second = second < size ? second : all(wraps ? 0 : size - 1);
        axis.fraction = place & (ONE - 1);
    } else {
        axis.first = smaller((upper + (lower >> 11)) >> 10, all(size - 1)); // (cut * size) >> 21
    }
    return too_large;
}

template <bool IS_LINEAR>
[[gnu::always_inline]] inline std::uint32_t find(const PlaneView& view, unsigned index, Floats x,
                                                 Axis& axis) {
    const auto size = static_cast<std::int32_t>(view.sizes[index]);
    if (view.is_normalized) {
        return find_normalized<IS_LINEAR>(x, size, view.wraps[index], axis);
    }
    find_counted<IS_LINEAR>(x, size, axis);
    return 0;
}

// ---- texels ------------------------------------------------------------------------------------

/// Returns whether the lanes read neighbours in one row.
[[gnu::always_inline]] inline bool is_row(Ints x, Ints y) {
    return is_zero((x - iota<std::int32_t>() - all(x[0])) | (y - all(y[0])));
}

[[gnu::always_inline]] inline const std::byte* place_of(const PlaneView& view, Ints x, Ints y) {
    return view.data + static_cast<std::uint32_t>(y[0]) * view.pitch_bytes +
           static_cast<std::uint32_t>(x[0]) * view.texel_bytes;
}

/// Reads texels of up to four bytes, beginning with that of the first lane. HAS_WORDS: they have
/// four bytes.
template <bool HAS_WORDS>
[[gnu::always_inline]] inline Words read_row(const PlaneView& view, const std::byte* from) {
    switch (HAS_WORDS ? 4 : view.texel_bytes) {
    case 1:
        return load_elements<std::uint8_t, std::uint32_t>(from, 0);
    case 2:
        return load_elements<std::uint16_t, std::uint32_t>(from, 0);
    default:
        return load<std::uint32_t>(from, 0);
    }
}

/// Reads words at places of up to 32 bits.
[[gnu::always_inline]] inline Words gather_words(const std::byte* data, Words places) {
#if defined(__AVX2__)
    // Indices are signed, so count from the middle of the 4 GiB.
    constexpr std::uint32_t middle = 0x80000000u;
    const Words indices = places ^ middle;
    const auto* const base = reinterpret_cast<const int*>(data + middle);
#if defined(__AVX512F__)
    return reinterpret_cast<Words>(_mm512_mask_i32gather_epi32(
        __m512i{}, 0xffff, reinterpret_cast<__m512i>(indices), base, 1));
#else
    return reinterpret_cast<Words>(
        _mm256_i32gather_epi32(base, reinterpret_cast<__m256i>(indices), 1));
#endif
#else
    Words texels{};
    for (unsigned lane = 0; lane < CHUNK_LANES; ++lane) {
        typedef std::uint32_t Word __attribute__((aligned(1), may_alias));
        texels[lane] = *reinterpret_cast<const Word*>(data + places[lane]);
    }
    return texels;
#endif
}

/// Reads texels anywhere: four bytes from `offset` on, or all if a texel is smaller.
template <bool HAS_WORDS>
[[gnu::always_inline]] inline Words read_anywhere(const PlaneView& view, Ints x, Ints y,
                                                  unsigned offset) {
    const auto row = reinterpret_cast<Words>(y) * static_cast<std::uint32_t>(view.pitch_bytes);
    const Words places = row + reinterpret_cast<Words>(x) * view.texel_bytes;
    if (HAS_WORDS || view.texel_bytes >= 4) {
        return gather_words(view.data + offset, places);
    }
    Words texels{};
    for (unsigned lane = 0; lane < CHUNK_LANES; ++lane) {
        typedef std::uint16_t Pair __attribute__((aligned(1), may_alias));
        const std::byte* const from = view.data + places[lane];
        texels[lane] = view.texel_bytes == 2 ? *reinterpret_cast<const Pair*>(from)
                                             : static_cast<std::uint32_t>(*from);
    }
    return texels;
}

/// Returns a channel of texels of bytes.
[[gnu::always_inline]] inline Ints byte_of(Words texels, unsigned channel) {
    return reinterpret_cast<Ints>(texels >> 8 * channel & 0xff);
}

/// Returns numbers up to 65535 as fractions of 65535, correctly rounded.
[[gnu::always_inline]] inline Floats fractions(Ints numbers) {
    // 1 / 65535 = 2^-16 + 2^-32 + 2^-48 + ...: the first product is exact.
    const Floats values = __builtin_convertvector(numbers, Floats);
    return values * 0x1p-16f + values * (0x1p-32f + 0x1p-48f);
}

// ---- filters -----------------------------------------------------------------------------------

/// The texels around a point, in the order of their weights: left and right of the upper row, then
/// of the lower one.
constexpr unsigned CORNERS = 4;

struct Weights {
    Ints of[CORNERS];
};

[[gnu::always_inline]] inline Weights find_weights(const Axis& x, const Axis& y) {
    const Ints right = x.fraction;
    const Ints left = ONE - right;
    const Ints right_bottom = (right * y.fraction + HALF_ONE) >> 8;
    const Ints left_top = (left * (ONE - y.fraction) + HALF_ONE) >> 8;
    return {{left_top, right - right_bottom, left - left_top, right_bottom}};
}

/// Returns whether a sum of these texels loses no bits, because their exponents differ by at most 4
/// or all are zero. Returns false for very large and very small numbers, which need more care.
[[gnu::always_inline]] inline bool is_exact(const Words (&texels)[CORNERS]) {
    constexpr std::int32_t exponent_one = 1 << EXPONENT_PLACE;
    constexpr std::int32_t smallest_safe = 48 * exponent_one; // no result is subnormal
    constexpr std::int32_t infinite = 255 * exponent_one;
    Ints largest = reinterpret_cast<Ints>(texels[0] & MAGNITUDE_BITS);
    Ints smallest = largest;
    for (unsigned i = 1; i < CORNERS; ++i) {
        const auto magnitude = reinterpret_cast<Ints>(texels[i] & MAGNITUDE_BITS);
        largest = larger(largest, magnitude);
        smallest = smaller(smallest, magnitude);
    }
    const Ints limit = larger((largest & infinite) - 4 * exponent_one, all(smallest_safe));
    const Ints is_far = (smallest < limit) & (largest != 0);
    return is_zero(is_far | (largest >= infinite));
}

/// Returns lanes of ones, without the lowest bits of each. Removes up to 31 bits.
[[gnu::always_inline]] inline Words upper_bits(Ints removed) {
#if defined(__AVX512F__)
    return reinterpret_cast<Words>(
        _mm512_maskz_sllv_epi32(0xffff, _mm512_set1_epi32(-1), reinterpret_cast<__m512i>(removed)));
#elif defined(__AVX2__)
    return reinterpret_cast<Words>(
        _mm256_sllv_epi32(_mm256_set1_epi32(-1), reinterpret_cast<__m256i>(removed)));
#else
    return ~Words{} << reinterpret_cast<Words>(removed & 31);
#endif
}

/// Sets the bits to zero that a sum loses, and all bits of texels that do not count: the sum has 4
/// bits more than its largest texel. Returns the lanes with a number that is not finite or tiny.
[[gnu::always_inline]] inline std::uint32_t align_texels(Words (&texels)[CORNERS],
                                                         const Weights& weights) {
    constexpr std::int32_t extra_bits = 4;
    constexpr auto most = static_cast<std::int32_t>(EXPONENT_PLACE); // bits of a texel to remove
    Ints exponents[CORNERS];
    Ints largest{};
    Words bits{}; // of any texel
    for (unsigned i = 0; i < CORNERS; ++i) {
        texels[i] = weights.of[i] == 0 ? Words{} : texels[i];
        bits |= texels[i];
        exponents[i] = reinterpret_cast<Ints>(texels[i] << 1 >> 24);
        largest = larger(largest, exponents[i]);
    }
    for (unsigned i = 0; i < CORNERS; ++i) {
        // Zeros and subnormal numbers lose all bits, unless the largest number is tiny, too.
        const Ints lost = larger(largest - extra_bits - exponents[i], Ints{});
        texels[i] = lost > most ? Words{} : texels[i] & upper_bits(lost);
    }
    const auto is_nonzero = reinterpret_cast<Ints>(bits << 1 != 0);
    const Ints is_tiny = (largest <= most + extra_bits) & is_nonzero;
    return lanes_where(is_tiny | (largest == 255));
}

/// The texels and weights of a filter in memory.
struct alignas(VECTOR_BYTES) Terms {
    float texels[CORNERS][CHUNK_LANES];
    std::int32_t weights[CORNERS][CHUNK_LANES];
};

/// Returns the weighted sum of the texels in half a chunk. All steps but the last are exact.
[[gnu::always_inline]] inline Doubles sum_of_floats(const Terms& terms, unsigned first_lane) {
    Doubles sum{};
    for (unsigned i = 0; i < CORNERS; ++i) {
        const Doubles texel = to_doubles(terms.texels[i] + first_lane);
        const Doubles weight = to_doubles(terms.weights[i] + first_lane);
#if defined(__FMA__)
        sum = fused(texel, weight, sum);
#else
        sum += texel * weight;
#endif
    }
    // Makes halfway cases round away from zero; sums have at most 36 bits.
    return sum * ((1 + 0x1p-38) / ONE);
}

/// Adds up four floats per lane as interp/texels.cpp does. Adds the lanes with a number that is not
/// finite to `missed`.
[[gnu::always_inline]] inline Floats filter_floats(Words (&texels)[CORNERS], const Weights& weights,
                                                   std::uint32_t& missed) {
    const bool has_exact_sum = is_exact(texels);
    if (!has_exact_sum) {
        missed |= align_texels(texels, weights);
    }
    Terms terms;
    for (unsigned i = 0; i < CORNERS; ++i) {
        store<std::uint32_t>(reinterpret_cast<std::byte*>(terms.texels[i]), 0, texels[i]);
        store<std::int32_t>(reinterpret_cast<std::byte*>(terms.weights[i]), 0, weights.of[i]);
    }
    asm("" : "+m"(terms)); // so that the compiler really uses memory
    const Floats sum = to_floats(sum_of_floats(terms, 0), sum_of_floats(terms, LANES<double>));
    return has_exact_sum ? sum : flush(sum);
}

/// Adds up a channel of texels of bytes.
[[gnu::always_inline]] inline Floats filter_bytes(const Words (&texels)[CORNERS],
                                                  const Weights& weights, unsigned channel) {
    Ints sum{};
    for (unsigned i = 0; i < CORNERS; ++i) {
        sum += byte_of(texels[i], channel) * weights.of[i];
    }
    return fractions((sum * 257 + HALF_ONE) >> 8);
}

// ---- fetches -----------------------------------------------------------------------------------

/// The registers of a fetch in the first of some warps, and the distance to those of the next warp.
struct Registers {
    const std::byte* across = nullptr;
    const std::byte* down = nullptr;
    std::byte* results[4] = {}; // null: not used
    std::size_t across_step = 0;
    std::size_t down_step = 0;
    std::size_t step = 0; // of the results

    void advance() {
        across += across_step;
        down += down_step;
        for (std::byte*& each : results) {
            each = each == nullptr ? nullptr : each + step;
        }
    }
};

/// Writes the lanes of a chunk of a result.
[[gnu::always_inline]] inline void write(std::byte* to, unsigned chunk, Words value,
                                         std::uint32_t mask) {
    if (to == nullptr) {
        return;
    }
    if (mask == FULL_MASK) [[likely]] {
        store<std::uint32_t>(to, chunk, value);
    } else {
        store_masked<std::uint32_t>(to, chunk, value, mask);
    }
}

/// Fetches points. `results` receives as many words as a texel has channels. IS_SINGLE: texels are
/// single floats.
template <bool IS_LINE, bool IS_SINGLE>
[[gnu::always_inline]] inline std::uint32_t sample_points(const PlaneView& view, Floats across,
                                                          Floats down, Words (&results)[4]) {
    Axis x;
    Axis y;
    std::uint32_t missed = find<false>(view, 0, across, x);
    if constexpr (!IS_LINE) {
        missed |= find<false>(view, 1, down, y);
    }
    const bool has_row = (IS_SINGLE || view.texel_bytes <= 4) && is_row(x.first, y.first);
    const Words texels = has_row ? read_row<IS_SINGLE>(view, place_of(view, x.first, y.first))
                                 : read_anywhere<IS_SINGLE>(view, x.first, y.first, 0);
    if (IS_SINGLE || !view.has_bytes) {
        results[0] = texels;
        for (unsigned channel = 1; !IS_SINGLE && channel < view.channels; ++channel) {
            results[channel] = read_anywhere<false>(view, x.first, y.first, 4 * channel);
        }
        return missed;
    }
    for (unsigned channel = 0; channel < view.channels; ++channel) {
        const Ints value = byte_of(texels, channel);
        results[channel] = view.reads_integers ? reinterpret_cast<Words>(value)
                                               : reinterpret_cast<Words>(fractions(value * 257));
    }
    return missed;
}

/// The same with a linear filter.
template <bool IS_LINE, bool IS_SINGLE>
[[gnu::always_inline]] inline std::uint32_t sample_filtered(const PlaneView& view, Floats across,
                                                            Floats down, Words (&results)[4]) {
    Axis x;
    Axis y;
    std::uint32_t missed = find<true>(view, 0, across, x);
    if constexpr (!IS_LINE) {
        missed |= find<true>(view, 1, down, y);
    }
    const Weights weights = find_weights(x, y);
    // If the lanes share their first row, they also share the second one.
    const bool has_rows = (IS_SINGLE || view.texel_bytes <= 4) && is_row(x.first, y.first) &&
                          static_cast<std::uint32_t>(x.first[0]) + CHUNK_LANES < view.sizes[0];
    const unsigned words = IS_SINGLE || view.has_bytes ? 1 : view.channels; // that a texel has
    for (unsigned word = 0; word < words; ++word) {
        Words texels[CORNERS];
        if (has_rows) {
            const std::byte* const upper = place_of(view, x.first, y.first);
            const std::byte* const lower = place_of(view, x.first, y.second);
            texels[0] = read_row<IS_SINGLE>(view, upper);
            texels[1] = read_row<IS_SINGLE>(view, upper + view.texel_bytes);
            texels[2] = read_row<IS_SINGLE>(view, lower);
            texels[3] = read_row<IS_SINGLE>(view, lower + view.texel_bytes);
        } else {
            texels[0] = read_anywhere<IS_SINGLE>(view, x.first, y.first, 4 * word);
            texels[1] = read_anywhere<IS_SINGLE>(view, x.second, y.first, 4 * word);
            texels[2] = read_anywhere<IS_SINGLE>(view, x.first, y.second, 4 * word);
            texels[3] = read_anywhere<IS_SINGLE>(view, x.second, y.second, 4 * word);
        }
        if (IS_SINGLE || !view.has_bytes) {
            results[word] = reinterpret_cast<Words>(filter_floats(texels, weights, missed));
            continue;
        }
        for (unsigned channel = 0; channel < view.channels; ++channel) {
            results[channel] = reinterpret_cast<Words>(filter_bytes(texels, weights, channel));
        }
    }
    return missed;
}

/// Fetches for some warps, or for the first of them that has lanes that must be fetched in another
/// way. Returns these lanes. `registers` are then those of this warp, and `count` is the number of
/// warps from it on. The coordinates of these lanes are unchanged, even if the results go to the
/// same registers.
template <bool IS_LINE, bool IS_LINEAR, bool IS_SINGLE>
[[gnu::noinline]] std::uint32_t sample_warps(const PlaneView& shared_view,
                                             Registers& shared_registers, unsigned& count,
                                             std::uint32_t mask) {
    // Copies, which stores to registers cannot change.
    const PlaneView view = shared_view;
    Registers registers = shared_registers;
    const unsigned channels = IS_SINGLE ? 1 : view.channels;
    for (unsigned warps = count; warps != 0; --warps) {
        std::uint32_t left = 0;
        for (unsigned chunk = 0; chunk < CHUNKS<float>; ++chunk) {
            const auto across = load<float>(registers.across, chunk);
            const auto down = load<float>(registers.down, chunk);
            Words results[4];
            for (Words& each : results) { // not as an initialiser, for which g++ calls memset
                each = Words{};
            }
            const std::uint32_t missed =
                IS_LINEAR ? sample_filtered<IS_LINE, IS_SINGLE>(view, across, down, results)
                          : sample_points<IS_LINE, IS_SINGLE>(view, across, down, results);
            const std::uint32_t lanes = CHUNK_MASK << chunk * CHUNK_LANES & mask;
            if ((missed << chunk * CHUNK_LANES & lanes) != 0) [[unlikely]] {
                left |= lanes;
                continue;
            }
            for (unsigned channel = 0; channel < channels; ++channel) {
                write(registers.results[channel], chunk, results[channel], mask);
            }
        }
        for (unsigned channel = channels; channel < 4; ++channel) {
            for (unsigned chunk = 0; chunk < CHUNKS<float>; ++chunk) {
                write(registers.results[channel], chunk, Words{}, mask & ~left);
            }
        }
        if (left != 0) [[unlikely]] {
            shared_registers = registers;
            count = warps;
            return left;
        }
        registers.advance();
    }
    return 0;
}

using SampleWarps = std::uint32_t (*)(const PlaneView&, Registers&, unsigned&, std::uint32_t);

template <bool IS_LINE>
[[gnu::always_inline]] inline SampleWarps sampler_of(const PlaneView& view) {
    if (view.channels == 1 && !view.has_bytes) {
        return view.is_linear ? sample_warps<IS_LINE, true, true>
                              : sample_warps<IS_LINE, false, true>;
    }
    return view.is_linear ? sample_warps<IS_LINE, true, false>
                          : sample_warps<IS_LINE, false, false>;
}

/// Finds the registers of a fetch. `frame` is that of the first warp.
template <bool IS_LINE>
[[gnu::always_inline]] inline Registers registers_of(const WarpContext& warp, std::byte* frame,
                                                     std::size_t step, const Instruction* at) {
    const auto place = [&](Operand operand) {
        return is_linear_operand(operand) ? frame + operand.bits : locate(warp, operand);
    };
    const Operand across = at->src[1];
    const Operand down = at->src[IS_LINE ? 1 : 2];
    Registers registers;
    registers.across = place(across);
    registers.down = place(down);
    registers.across_step = is_linear_operand(across) ? step : 0;
    registers.down_step = is_linear_operand(down) ? step : 0;
    registers.step = step;
    for (unsigned channel = 0; channel < 4; ++channel) {
        registers.results[channel] =
            at->dst[channel].bits == Operand::NONE_BITS ? nullptr : place(at->dst[channel]);
    }
    return registers;
}

template <bool IS_LINE>
const Instruction* sample(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    PlaneView view;
    if (!find_plane(warp, at, mask, IS_LINE, view)) {
        return sample_any(warp, at, mask);
    }
    Registers registers =
        registers_of<IS_LINE>(warp, *reinterpret_cast<std::byte* const*>(&warp.banks), 0, at);
    unsigned count = 1;
    const std::uint32_t left = sampler_of<IS_LINE>(view)(view, registers, count, mask);
    return left == 0 ? at + 1 : sample_any(warp, at, left);
}

/// Fetches for all warps of a block. The texture is the same for all of them.
template <bool IS_LINE>
const Instruction* sample_block(Lockstep& block, const Instruction* at) {
    PlaneView view;
    if (!find_plane(block.whole, at, FULL_MASK, IS_LINE, view)) {
        return lockstep::run_in_each(block, at, at + 1);
    }
    Registers registers =
        registers_of<IS_LINE>(block.whole, block.frames, block.warp_stride_bytes, at);
    const SampleWarps sample_warps = sampler_of<IS_LINE>(view);
    unsigned count = block.warp_count;
    for (;;) {
        const std::uint32_t left = sample_warps(view, registers, count, FULL_MASK);
        if (left == 0) [[likely]] {
            return at + 1;
        }
        lockstep::prepare_warps(block);
        if (sample_any(block.warps[block.warp_count - count], at, left) == nullptr) {
            block.end = Lockstep::End::Faulted;
            block.are_warps_ready = false;
            return nullptr;
        }
        registers.advance();
        --count;
    }
}

/// Returns whether this file knows a form: lines and planes without a level or an offset.
bool is_known(const SampleForm& form) {
    const bool is_plain = form.level == LevelFrom::Nowhere &&
                          form.component == SampleForm::NOT_GATHER && !form.has_whole_coordinates &&
                          !form.has_sampler && !form.has_offset && !form.tells_residency;
    const bool has_words = form.type == SampleType::Word || form.type == SampleType::Float;
    return is_plain && has_words &&
           (form.geometry == Geometry::Plane || form.geometry == Geometry::Line);
}

} // namespace

Handler select_texture(const SampleForm& form) {
    if (!is_known(form)) {
        return nullptr;
    }
    return form.geometry == Geometry::Plane ? sample<false> : sample<true>;
}

bytecode::LockstepHandler select_lockstep_texture(const SampleForm& form) {
    if (!is_known(form)) {
        return nullptr;
    }
    return form.geometry == Geometry::Plane ? sample_block<false> : sample_block<true>;
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
