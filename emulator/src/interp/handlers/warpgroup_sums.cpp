// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "interp/handlers/warpgroup_sums.hpp"

#include "interp/handlers/functions.hpp"
#include "interp/handlers/interleave.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

/// The largest exponents with which single precision holds all bits of a term that are not cut off.
/// Beyond them, elements are computed one at a time.
constexpr std::int16_t SMALLEST_FAST = -80;
constexpr std::int16_t LARGEST_FAST = 126;
constexpr std::int16_t LARGEST_ZERO = -4000;

constexpr unsigned PAIR_LANES = 2 * WARP_SIZE;
constexpr unsigned SHORT_VECTORS = PAIR_LANES * sizeof(std::int16_t) / VECTOR_BYTES;

using Shorts = Vector<std::int16_t>;

double power_of_two(int exponent) {
    return double_from(static_cast<std::uint64_t>(1023 + exponent) << 52);
}

int exponent_of(float value) {
    const int field = static_cast<int>(bits_from(value) >> 23 & 0xff);
    return field == 0 ? -126 : field - 127;
}

[[gnu::always_inline]] inline Shorts load_shorts(const std::int16_t* from, unsigned index) {
    return reinterpret_cast<const VectorOf<std::int16_t>::Memory*>(from)[index];
}

[[gnu::always_inline]] inline Shorts larger(Shorts a, Shorts b) {
    return a > b ? a : b;
}

template <typename V>
[[gnu::always_inline]] inline bool is_zero_vector(V value) {
    const auto words = reinterpret_cast<Vector<std::uint64_t>>(value);
    std::uint64_t any = 0;
    for (unsigned i = 0; i < LANES<std::uint64_t>; ++i) {
        any |= words[i];
    }
    return any == 0;
}

/// Repeats four exponents.
[[gnu::always_inline]] inline Shorts repeated_exponents(const std::int16_t* quad) {
    std::uint64_t bits = 0;
    __builtin_memcpy(&bits, quad, sizeof bits);
    return reinterpret_cast<Shorts>(broadcast<std::uint64_t>(bits));
}

[[gnu::always_inline]] inline Vector<float> repeated_numbers(const float* quad) {
#if defined(__AVX512F__)
    // NOTE: not _mm512_broadcast_f32x4, which makes g++ 12 warn of an uninitialised value.
    return _mm512_maskz_broadcast_f32x4(0xffff, _mm_loadu_ps(quad));
#elif defined(__AVX2__)
    return _mm256_broadcast_ps(reinterpret_cast<const __m128*>(quad));
#else
    return load<float>(reinterpret_cast<const std::byte*>(quad), 0);
#endif
}

/// Returns the place of the quad of k = 4 * group + i.
template <unsigned K>
[[gnu::always_inline]] constexpr unsigned place_of(unsigned group, unsigned i) {
    constexpr unsigned WIDTH = K % WIDE == 0 ? WIDE : NARROW;
    const unsigned first = 4 * group;
    return first / WIDTH * WIDTH + i * (WIDTH / 4) + first % WIDTH / 4;
}

/// Writes the exponents of the old values.
[[gnu::always_inline]] inline void find_old(const float* from, std::int16_t* to) {
    for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
        const std::uint32_t bits = bits_from(from[lane]) & 0x7fffffffu;
        const int exponent = static_cast<int>(bits >> 23) - 127;
        const int clamped = exponent < -126 ? -126 : exponent;
        to[lane] = static_cast<std::int16_t>(bits == 0 ? NO_EXPONENT : clamped);
    }
}

/// Finds the largest exponent of the terms of each lane. Returns whether all are in the range that
/// single precision can handle.
template <unsigned K>
[[gnu::always_inline]] inline bool find_largest(const SumFactors& factors, const float* from0,
                                                const float* from1, std::int16_t* largest) {
    Shorts found[SHORT_VECTORS];
    if (from0 != nullptr) {
        find_old(from0, largest);
        find_old(from1, largest + WARP_SIZE);
        for (unsigned v = 0; v < SHORT_VECTORS; ++v) {
            found[v] = load_shorts(largest, v);
        }
    } else {
        for (Shorts& each : found) {
            each = Shorts{} + NO_EXPONENT;
        }
    }
#pragma GCC unroll 2
    for (unsigned group = 0; group < K / 4; ++group) {
#pragma GCC unroll 4
        for (unsigned i = 0; i < 4; ++i) {
            const Shorts quad =
                repeated_exponents(factors.quad_exponents + place_of<K>(group, i) * 4);
            const std::int16_t* const line = factors.row_exponents + (4 * group + i) * PAIR_LANES;
#pragma GCC unroll 8
            for (unsigned v = 0; v < SHORT_VECTORS; ++v) {
                found[v] = larger(found[v], load_shorts(line, v) + quad);
            }
        }
    }
    Shorts slow{};
    for (unsigned v = 0; v < SHORT_VECTORS; ++v) {
        reinterpret_cast<VectorOf<std::int16_t>::Memory*>(largest)[v] = found[v];
        slow |=
            (found[v] > LARGEST_FAST) | ((found[v] < SMALLEST_FAST) & (found[v] > LARGEST_ZERO));
    }
    return is_zero_vector(slow);
}

/// Computes the lanes one at a time.
[[gnu::noinline]] void add_slowly(const SumFactors& factors, const SumFormat& format,
                                  const float* const* from, float* const* to) {
    constexpr unsigned MAX_K = 64;
    float a[MAX_K];
    float b[MAX_K];
    std::int16_t a_exponents[MAX_K];
    std::int16_t b_exponents[MAX_K];
    for (unsigned lane = 0; lane < PAIR_LANES; ++lane) {
        for (unsigned i = 0; i < factors.k; ++i) { // the order does not matter
            const unsigned place = place_in_columns(i, factors.k);
            a[i] = factors.rows[i * PAIR_LANES + lane];
            a_exponents[i] = factors.row_exponents[i * PAIR_LANES + lane];
            b[i] = factors.quads[place * 4 + lane % 4];
            b_exponents[i] = factors.quad_exponents[place * 4 + lane % 4];
        }
        const unsigned half = lane / WARP_SIZE;
        const float old = from[0] == nullptr ? 0.0f : from[half][lane % WARP_SIZE];
        to[half][lane % WARP_SIZE] =
            add_element(a, a_exponents, b, b_exponents, factors.k, old, format);
    }
}

/// Adds the products of both halves of k, in units of the last bit, for a few vectors of lanes.
template <unsigned K, unsigned COUNT>
[[gnu::always_inline]] inline void add_vectors(const SumFactors& factors, const float* scales,
                                               const float* const* from, unsigned first,
                                               std::int32_t* low, std::int32_t* high) {
    using Sums = Vector<std::int32_t>;
    Vector<float> scale[COUNT];
    Sums sums[2][COUNT];
#pragma GCC unroll 4
    for (unsigned v = 0; v < COUNT; ++v) {
        scale[v] = load<float>(reinterpret_cast<const std::byte*>(scales), first + v);
        sums[0][v] = Sums{};
        sums[1][v] = Sums{};
        if (from[0] != nullptr) {
            const unsigned half = (first + v) / CHUNKS<float>;
            sums[0][v] =
                __builtin_convertvector(load<float>(reinterpret_cast<const std::byte*>(from[half]),
                                                    (first + v) % CHUNKS<float>) *
                                            scale[v],
                                        Sums);
        }
    }
#pragma GCC unroll 2
    for (unsigned group = 0; group < K / 8; ++group) {
#pragma GCC unroll 4
        for (unsigned i = 0; i < 4; ++i) {
#pragma GCC unroll 2
            for (unsigned part = 0; part < 2; ++part) {
                const unsigned own = group + part * (K / 8);
                const Vector<float> quad =
                    repeated_numbers(factors.quads + place_of<K>(own, i) * 4);
                const auto* const line =
                    reinterpret_cast<const std::byte*>(factors.rows + (4 * own + i) * PAIR_LANES);
#pragma GCC unroll 4
                for (unsigned v = 0; v < COUNT; ++v) {
                    const Vector<float> product = load<float>(line, first + v) * quad;
                    sums[part][v] += __builtin_convertvector(product * scale[v], Sums);
                }
            }
        }
    }
#pragma GCC unroll 4
    for (unsigned v = 0; v < COUNT; ++v) {
        store<std::int32_t>(reinterpret_cast<std::byte*>(low), first + v, sums[0][v]);
        store<std::int32_t>(reinterpret_cast<std::byte*>(high), first + v, sums[1][v]);
    }
}

/// Cuts off or rounds the sums of some lanes, given in units of the last bit.
template <unsigned COUNT>
[[gnu::always_inline]] inline void finish_sums(const std::int32_t* low, const std::int32_t* high,
                                               const float* scales, const SumFormat& format,
                                               float* out) {
    for (unsigned lane = 0; lane < COUNT; ++lane) {
        const double sum = static_cast<double>(low[lane]) + static_cast<double>(high[lane]);
        // The weight of the last bit is the inverse of the scale.
        const std::uint64_t unit = (std::uint64_t{1023 + 127} << 52) -
                                   (std::uint64_t{bits_from(scales[lane])} << (52 - 23));
        const std::uint64_t bits = bits_from(sum * double_from(unit));
        const std::uint64_t odd = (bits & format.lost) != 0 ? format.odd : 0;
        out[lane] = static_cast<float>(double_from((bits & ~format.lost) | odd));
    }
}

template <unsigned K>
[[gnu::noinline]] void add_lanes(const SumFactors& factors, const SumFormat& format,
                                 const float* const* from, float* const* to) {
    alignas(VECTOR_BYTES) std::int16_t largest[PAIR_LANES];
    if (!find_largest<K>(factors, from[0], from[1], largest)) [[unlikely]] {
        add_slowly(factors, format, from, to);
        return;
    }
    alignas(VECTOR_BYTES) float scales[PAIR_LANES];
    for (unsigned lane = 0; lane < PAIR_LANES; ++lane) {
        const int exponent = largest[lane] < LARGEST_ZERO ? 0 : largest[lane];
        scales[lane] = float_from(static_cast<std::uint32_t>(127 + format.places - exponent) << 23);
    }
    // Each half of the products fits 32 bits: at most eight, below 2^27, are not zero.
    alignas(VECTOR_BYTES) std::int32_t low[PAIR_LANES];
    alignas(VECTOR_BYTES) std::int32_t high[PAIR_LANES];
    constexpr unsigned TOGETHER = VECTOR_BYTES == 64 ? 4 : 2; // what the registers hold
    for (unsigned first = 0; first < PAIR_LANES / LANES<float>; first += TOGETHER) {
        add_vectors<K, TOGETHER>(factors, scales, from, first, low, high);
    }
    for (unsigned half = 0; half < 2; ++half) {
        const unsigned first = half * WARP_SIZE;
        finish_sums<WARP_SIZE>(low + first, high + first, scales + first, format, to[half]);
    }
}

/// Repeats a pair of values.
template <typename T>
[[gnu::always_inline]] inline Vector<T> repeated_pair(const T* pair) {
#if defined(__AVX512F__)
    return reinterpret_cast<Vector<T>>(
        _mm512_set1_pd(*reinterpret_cast<const Aliased<double>::Value*>(pair)));
#elif defined(__AVX2__)
    return reinterpret_cast<Vector<T>>(_mm256_broadcast_sd(reinterpret_cast<const double*>(pair)));
#else
    std::uint64_t bits = 0;
    __builtin_memcpy(&bits, pair, sizeof bits);
    return reinterpret_cast<Vector<T>>(broadcast<std::uint64_t>(bits));
#endif
}

using Ints = Vector<std::int32_t>;

/// A block in the order in which it is multiplied: the elements of two rows of A in turn, and each
/// element of B twice. So a vector has the results of two rows in a few columns.
struct Interleaved {
    static constexpr unsigned MAX_K = BlockFactors::MAX_K;

    alignas(VECTOR_BYTES) float a[BlockFactors::MAX_ROWS * MAX_K];
    alignas(VECTOR_BYTES) std::int32_t a_exponents[BlockFactors::MAX_ROWS * MAX_K];
    alignas(VECTOR_BYTES) float b[MAX_K * 2 * BlockFactors::MAX_COLUMNS];
    alignas(VECTOR_BYTES) std::int32_t b_exponents[MAX_K * 2 * BlockFactors::MAX_COLUMNS];
};

template <typename T>
[[gnu::always_inline]] inline Vector<T> load_at(const T* from) {
    return load<T>(reinterpret_cast<const std::byte*>(from), 0);
}

template <typename T>
[[gnu::always_inline]] inline void store_at(T* to, Vector<T> value) {
    store<T>(reinterpret_cast<std::byte*>(to), 0, value);
}

/// Returns the exponents of numbers, as find_exponents() does.
[[gnu::always_inline]] inline Ints exponents_of(Vector<float> values, int smallest) {
    const Ints bits = reinterpret_cast<Ints>(values) & 0x7fffffff;
    const Ints exponent = (bits >> 23) - 127;
    const Ints clamped = exponent < smallest ? Ints{} + smallest : exponent;
    const Ints finite = bits == 0 ? Ints{} + NO_EXPONENT : clamped;
    return exponent == 128 ? Ints{} + NOT_FINITE : finite;
}

/// Stores numbers in turn, and their exponents.
[[gnu::always_inline]] inline void store_in_turn(Vector<float> first, Vector<float> second,
                                                 int smallest, float* to, std::int32_t* exponents) {
    const Vector<float> parts[] = {alternate_low<float>(first, second),
                                   alternate_high<float>(first, second)};
    for (unsigned part = 0; part < 2; ++part) {
        store_at(to + part * LANES<float>, parts[part]);
        store_at(exponents + part * LANES<float>, exponents_of(parts[part], smallest));
    }
}

template <unsigned K>
[[gnu::always_inline]] inline void interleave(const BlockFactors& factors, Interleaved& to) {
    constexpr unsigned COUNT = LANES<float>;
    for (unsigned pair = 0; pair < factors.m / 2; ++pair) {
        const float* const first = factors.a + 2 * pair * factors.a_stride;
        const float* const second = first + factors.a_stride;
        for (unsigned i = 0; i < K; i += COUNT) { // what lies beyond K is overwritten by the next
            const unsigned at = 2 * (pair * K + i);
            store_in_turn(load_at(first + i), load_at(second + i), factors.smallest, to.a + at,
                          to.a_exponents + at);
        }
    }
    for (unsigned i = 0; i < K * factors.n; i += COUNT) {
        const Vector<float> values = load_at(factors.b + i);
        store_in_turn(values, values, factors.smallest, to.b + 2 * i, to.b_exponents + 2 * i);
    }
}

/// Cuts off or rounds the sums of one vector of lanes, given in units of the last bit.
[[gnu::always_inline]] inline Vector<float> finish_vector(Ints low, Ints high, Vector<float> scale,
                                                          const SumFormat& format) {
    using Bits = Vector<std::uint64_t>;

    struct Words {
        Narrow<std::int32_t> part[2];
    };

    struct Results {
        Narrow<float> part[2];
    };

    const auto lows = cast<Words>(low);
    const auto highs = cast<Words>(high);
    const auto scales = cast<Words>(scale);
    Results results;
    for (unsigned i = 0; i < 2; ++i) {
        const auto sum = convert<double>(lows.part[i]) + convert<double>(highs.part[i]);
        // The weight of the last bit is the inverse of the scale.
        const Bits unit = (std::uint64_t{1023 + 127} << 52) -
                          (cast<Bits>(convert<std::int64_t>(scales.part[i])) << (52 - 23));
        const Bits bits = cast<Bits>(sum * cast<Vector<double>>(unit));
        const Bits odd = select((bits & format.lost) != 0, Bits{} + format.odd, Bits{});
        results.part[i] = convert<float>(cast<Vector<double>>((bits & ~format.lost) | odd));
    }
    return cast<Vector<float>>(results);
}

/// The factors of two rows, and of some columns, of an interleaved block of K products.
struct PairFactors {
    const float* a;
    const std::int32_t* a_exponents;
    const float* b;
    const std::int32_t* b_exponents;
};

/// Adds the products of VECTORS neighbouring vectors of results. Returns false if single precision
/// cannot hold the terms. B has N columns, or `n` if that is 0.
template <unsigned K, unsigned N, unsigned VECTORS>
[[gnu::noinline]] bool add_pair(const PairFactors& factors, unsigned n, const SumFormat& format,
                                float* upper, float* lower) {
    constexpr unsigned COUNT = LANES<float>;
    const float* const a = factors.a;
    const std::int32_t* const a_exponents = factors.a_exponents;
    const float* const b = factors.b;
    const std::int32_t* const b_exponents = factors.b_exponents;
    const unsigned stride = 2 * (N == 0 ? n : N);
    Vector<float> sums[VECTORS];
    Ints most[VECTORS];
#pragma GCC unroll 2
    for (unsigned v = 0; v < VECTORS; ++v) {
        const unsigned column = v * (COUNT / 2);
        sums[v] = alternate_low<float>(load_at(upper + column), load_at(lower + column));
        most[v] = exponents_of(sums[v], -126);
    }
#pragma GCC unroll 16
    for (unsigned i = 0; i < K; ++i) {
        const Ints row = repeated_pair(a_exponents + 2 * i);
#pragma GCC unroll 2
        for (unsigned v = 0; v < VECTORS; ++v) {
            const Ints exponent = row + load_at(b_exponents + i * stride + v * COUNT);
            most[v] = most[v] > exponent ? most[v] : exponent;
        }
    }
    Ints slow{};
#pragma GCC unroll 2
    for (unsigned v = 0; v < VECTORS; ++v) {
        slow |= (most[v] > LARGEST_FAST) | ((most[v] < SMALLEST_FAST) & (most[v] > LARGEST_ZERO));
    }
    if (sign_bits<std::int32_t>(slow) != 0) [[unlikely]] {
        return false;
    }
    Vector<float> scale[VECTORS];
    Ints halves[2][VECTORS];
#pragma GCC unroll 2
    for (unsigned v = 0; v < VECTORS; ++v) {
        const Ints exponent = most[v] < LARGEST_ZERO ? Ints{} : most[v];
        scale[v] = reinterpret_cast<Vector<float>>((format.places + 127 - exponent) << 23);
        halves[0][v] = convert<std::int32_t>(sums[v] * scale[v]);
        halves[1][v] = Ints{};
    }
#pragma GCC unroll 16
    for (unsigned i = 0; i < K; ++i) {
        const Vector<float> row = repeated_pair(a + 2 * i);
#pragma GCC unroll 2
        for (unsigned v = 0; v < VECTORS; ++v) {
            const Vector<float> product = row * load_at(b + i * stride + v * COUNT);
            halves[i % 2][v] += convert<std::int32_t>(product * scale[v]);
        }
    }
#pragma GCC unroll 2
    for (unsigned v = 0; v < VECTORS; ++v) {
        const Vector<float> sum = finish_vector(halves[0][v], halves[1][v], scale[v], format);
        const Vector<float> of_upper = even<float>(sum, sum);
        const Vector<float> of_lower = odd<float>(sum, sum);
        __builtin_memcpy(upper + v * (COUNT / 2), &of_upper, sizeof of_upper / 2);
        __builtin_memcpy(lower + v * (COUNT / 2), &of_lower, sizeof of_lower / 2);
    }
    return true;
}

/// Computes the results of two rows in `columns` columns by themselves.
[[gnu::noinline]] void add_alone(const PairFactors& factors, unsigned k, unsigned n,
                                 unsigned columns, const SumFormat& format, float* upper,
                                 float* lower) {
    float a[Interleaved::MAX_K];
    float b[Interleaved::MAX_K];
    std::int16_t a_exponents[Interleaved::MAX_K];
    std::int16_t b_exponents[Interleaved::MAX_K];
    for (unsigned lane = 0; lane < 2 * columns; ++lane) {
        for (unsigned i = 0; i < k; ++i) {
            a[i] = factors.a[2 * i + lane % 2];
            a_exponents[i] = static_cast<std::int16_t>(factors.a_exponents[2 * i + lane % 2]);
            b[i] = factors.b[2 * i * n + lane];
            b_exponents[i] = static_cast<std::int16_t>(factors.b_exponents[2 * i * n + lane]);
        }
        float& sum = (lane % 2 == 0 ? upper : lower)[lane / 2];
        sum = add_element(a, a_exponents, b, b_exponents, k, sum, format);
    }
}

/// Adds a block with K products and N columns; 0 if there are others than 8.
template <unsigned K, unsigned N>
[[gnu::noinline]] void add_block_of(const BlockFactors& factors, const SumFormat& format,
                                    float* result) {
    constexpr unsigned VECTORS = LANES<float> == 8 ? 2 : 1; // as many as share elements of A well
    constexpr unsigned COLUMNS = VECTORS * LANES<float> / 2;
    const unsigned n = N == 0 ? factors.n : N;
    Interleaved block;
    interleave<K>(factors, block);
    for (unsigned pair = 0; pair < factors.m / 2; ++pair) {
        for (unsigned column = 0; column < n; column += COLUMNS) {
            const PairFactors own{block.a + 2 * pair * K, block.a_exponents + 2 * pair * K,
                                  block.b + 2 * column, block.b_exponents + 2 * column};
            float* const upper = result + 2 * pair * n + column;
            if (!add_pair<K, N, VECTORS>(own, n, format, upper, upper + n)) [[unlikely]] {
                add_alone(own, K, n, COLUMNS, format, upper, upper + n);
            }
        }
    }
}

} // namespace

SumFormat sum_format(bool has_byte_factors, bool is_half_result) {
    constexpr std::uint64_t BELOW_24_BITS = (std::uint64_t{1} << 29) - 1;
    constexpr std::uint64_t BELOW_14_BITS = (std::uint64_t{1} << 39) - 1;
    return {.places = has_byte_factors ? 13 : 25,
            .lost = has_byte_factors && !is_half_result ? BELOW_14_BITS : BELOW_24_BITS,
            .odd = is_half_result ? BELOW_24_BITS + 1 : 0};
}

void add_registers(const SumFactors& factors, const SumFormat& format, const float* const* from,
                   float* const* to) {
    switch (factors.k) {
    case 8:
        return add_lanes<8>(factors, format, from, to);
    case 16:
        return add_lanes<16>(factors, format, from, to);
    case 32:
        return add_lanes<32>(factors, format, from, to);
    default:
        return add_lanes<64>(factors, format, from, to);
    }
}

float add_element(const float* a, const std::int16_t* a_exponents, const float* b,
                  const std::int16_t* b_exponents, unsigned count, float c,
                  const SumFormat& format) {
    int largest = c == 0 ? NO_EXPONENT : exponent_of(c);
    double sum = double{c};
    for (unsigned i = 0; i < count; ++i) {
        const int exponent = a_exponents[i] + b_exponents[i];
        largest = exponent > largest ? exponent : largest;
        sum += double{a[i]} * double{b[i]};
    }
    if (!(sum - sum == 0)) { // an infinity or a NaN
        return canonical(static_cast<float>(sum));
    }
    if (largest < LARGEST_ZERO) {
        return 0;
    }
    const double scale = power_of_two(format.places - largest);
    auto total = static_cast<std::int64_t>(double{c} * scale);
    for (unsigned i = 0; i < count; ++i) {
        total += static_cast<std::int64_t>(double{a[i]} * double{b[i]} * scale);
    }
    const double exact = static_cast<double>(total) * power_of_two(largest - format.places);
    const std::uint64_t bits = bits_from(exact);
    std::uint64_t lost = format.lost;
    const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
    if (exponent < -126) { // subnormal in single precision: fewer bits are left
        const int fewer = -126 - exponent;
        lost = fewer > 22 ? ~(std::uint64_t{1} << 63) : ((lost + 1) << fewer) - 1;
    }
    const std::uint64_t odd = (bits & lost) != 0 ? format.odd : 0;
    return static_cast<float>(double_from((bits & ~lost) | odd));
}

void add_block(const BlockFactors& factors, const SumFormat& format, float* result) {
    switch (factors.k) {
    case 4:
        return factors.n == 8 ? add_block_of<4, 8>(factors, format, result)
                              : add_block_of<4, 0>(factors, format, result);
    case 8:
        return factors.n == 8 ? add_block_of<8, 8>(factors, format, result)
                              : add_block_of<8, 0>(factors, format, result);
    default:
        return factors.n == 8 ? add_block_of<16, 8>(factors, format, result)
                              : add_block_of<16, 0>(factors, format, result);
    }
}

void find_exponents(const float* values, std::size_t count, int smallest, std::int16_t* to) {
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t bits = bits_from(values[i]) & 0x7fffffffu;
        const int exponent = static_cast<int>(bits >> 23) - 127;
        const int clamped = exponent < smallest ? smallest : exponent;
        to[i] = static_cast<std::int16_t>(bits == 0         ? NO_EXPONENT
                                          : exponent == 128 ? NOT_FINITE
                                                            : clamped);
    }
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
