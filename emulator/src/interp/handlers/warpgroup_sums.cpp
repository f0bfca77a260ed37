// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "interp/handlers/warpgroup_sums.hpp"

#include "interp/handlers/float_common.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

/// The largest exponents with which single precision holds all bits of a term that are not cut off.
/// Beyond them, elements are computed one at a time.
constexpr std::int16_t SMALLEST_FAST = -80;
constexpr std::int16_t LARGEST_FAST = 126;
constexpr std::int16_t LARGEST_ZERO = -4000;

constexpr unsigned SHORTS = VECTOR_BYTES / 2;          // in a vector
constexpr unsigned SHORT_VECTORS = WARP_SIZE / SHORTS; // of 32 lanes

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

/// Calls `visit(k, place)` for every k in order, where `place` is the place of its quad.
template <unsigned WIDTH, typename Visit>
[[gnu::always_inline]] inline void for_each_k(unsigned first, unsigned last, Visit visit) {
    for (unsigned block = first; block < last; block += WIDTH) {
        for (unsigned part = 0; part < WIDTH / 4; ++part) {
#pragma GCC unroll 4
            for (unsigned i = 0; i < 4; ++i) {
                visit(block + 4 * part + i, block + i * (WIDTH / 4) + part);
            }
        }
    }
}

/// Finds the largest exponent of the terms of each lane.
template <unsigned WIDTH>
[[gnu::always_inline]] inline void find_largest(const SumFactors& factors, const float* from,
                                                std::int16_t* largest) {
    alignas(VECTOR_BYTES) std::int16_t old[WARP_SIZE];
    for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
        const std::uint32_t bits = from == nullptr ? 0 : bits_from(from[lane]) & 0x7fffffffu;
        const int exponent = static_cast<int>(bits >> 23) - 127;
        old[lane] = static_cast<std::int16_t>(bits == 0         ? NO_EXPONENT
                                              : exponent < -126 ? -126
                                                                : exponent);
    }
    Shorts found[SHORT_VECTORS];
    for (unsigned v = 0; v < SHORT_VECTORS; ++v) {
        found[v] = load_shorts(old, v);
    }
    for_each_k<WIDTH>(0, factors.k, [&](unsigned k, unsigned place) __attribute__((always_inline)) {
        const Shorts quad = repeated_exponents(factors.quad_exponents + place * 4);
#pragma GCC unroll 4
        for (unsigned v = 0; v < SHORT_VECTORS; ++v) {
            found[v] = larger(found[v], load_shorts(factors.row_exponents + k * 64, v) + quad);
        }
    });
    for (unsigned v = 0; v < SHORT_VECTORS; ++v) {
        reinterpret_cast<VectorOf<std::int16_t>::Memory*>(largest)[v] = found[v];
    }
}

bool is_fast(const std::int16_t* largest) {
    unsigned slow = 0;
    for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
        const std::int16_t value = largest[lane];
        slow |= static_cast<unsigned>(value > LARGEST_FAST) |
                (static_cast<unsigned>(value < SMALLEST_FAST) &
                 static_cast<unsigned>(value > LARGEST_ZERO));
    }
    return slow == 0;
}

/// Computes the lanes one at a time.
[[gnu::noinline]] void add_slowly(const SumFactors& factors, const SumFormat& format,
                                  const float* from, float* to) {
    constexpr unsigned MAX_K = 64;
    float a[MAX_K];
    float b[MAX_K];
    std::int16_t a_exponents[MAX_K];
    std::int16_t b_exponents[MAX_K];
    for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
        for (unsigned i = 0; i < factors.k; ++i) { // the order does not matter
            const unsigned inside = i % factors.width;
            const unsigned place = i - inside + inside % 4 * (factors.width / 4) + inside / 4;
            a[i] = factors.rows[i * 64 + lane];
            a_exponents[i] = factors.row_exponents[i * 64 + lane];
            b[i] = factors.quads[place * 4 + lane % 4];
            b_exponents[i] = factors.quad_exponents[place * 4 + lane % 4];
        }
        to[lane] = add_element(a, a_exponents, b, b_exponents, factors.k,
                               from == nullptr ? 0.0f : from[lane], format);
    }
}

template <unsigned WIDTH>
void add_lanes(const SumFactors& factors, const SumFormat& format, const float* from, float* to) {
    alignas(VECTOR_BYTES) std::int16_t largest[WARP_SIZE];
    find_largest<WIDTH>(factors, from, largest);
    if (!is_fast(largest)) [[unlikely]] {
        add_slowly(factors, format, from, to);
        return;
    }
    alignas(VECTOR_BYTES) float scales[WARP_SIZE];
    alignas(VECTOR_BYTES) double units[WARP_SIZE]; // the weight of the last bit
    for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
        const int exponent = largest[lane] < LARGEST_ZERO ? 0 : largest[lane];
        scales[lane] = float_from(static_cast<std::uint32_t>(127 + format.places - exponent) << 23);
        units[lane] = double_from(
            static_cast<std::uint64_t>(static_cast<std::int64_t>(1023 + exponent - format.places))
            << 52);
    }
    // Each half of the products fits 32 bits: at most eight, below 2^27, are not zero.
    alignas(VECTOR_BYTES) std::int32_t sums[2][WARP_SIZE];
    constexpr unsigned VECTORS = CHUNKS<float>;
    for (unsigned part = 0; part < 2; ++part) {
        const unsigned half = factors.k / 2;
        for (unsigned v = 0; v < VECTORS; ++v) {
            const Vector<float> scale = load<float>(reinterpret_cast<const std::byte*>(scales), v);
            Vector<std::int32_t> sum{};
            if (part == 0 && from != nullptr) {
                sum = __builtin_convertvector(
                    load<float>(reinterpret_cast<const std::byte*>(from), v) * scale,
                    Vector<std::int32_t>);
            }
            const auto add = [&](unsigned k, unsigned place) __attribute__((always_inline)) {
                const Vector<float> product =
                    load<float>(reinterpret_cast<const std::byte*>(factors.rows + k * 64), v) *
                    repeated_numbers(factors.quads + place * 4);
                sum += __builtin_convertvector(product * scale, Vector<std::int32_t>);
            };
            if (half % WIDTH == 0) {
                for_each_k<WIDTH>(part * half, (part + 1) * half, add);
            } else { // one block, of which this half has the first or the last columns
                for (unsigned l = part * WIDTH / 8; l < (part + 1) * WIDTH / 8; ++l) {
#pragma GCC unroll 4
                    for (unsigned i = 0; i < 4; ++i) {
                        add(4 * l + i, i * (WIDTH / 4) + l);
                    }
                }
            }
            reinterpret_cast<VectorOf<std::int32_t>::Memory*>(sums[part])[v] = sum;
        }
    }
    for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
        const double sum = static_cast<double>(sums[0][lane]) + static_cast<double>(sums[1][lane]);
        const std::uint64_t bits = bits_from(sum * units[lane]);
        const std::uint64_t odd = (bits & format.lost) != 0 ? format.odd : 0;
        to[lane] = static_cast<float>(double_from((bits & ~format.lost) | odd));
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

void add_register(const SumFactors& factors, const SumFormat& format, const float* from,
                  float* to) {
    if constexpr (VECTOR_BYTES == 64) {
        if (factors.width == 16) {
            add_lanes<16>(factors, format, from, to);
            return;
        }
    }
    add_lanes<8>(factors, format, from, to);
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
