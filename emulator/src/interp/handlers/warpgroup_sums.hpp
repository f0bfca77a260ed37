// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The sums of products of floats on the tensor cores, bit for bit as wgmma.mma_async computes them
// on an H200.
//
// One step adds k products and the old element of D at once:
//   1. Every product is exact. Its exponent is the sum of its factors' exponents, where subnormal
//      numbers have the smallest exponent of their format. Zeros have none.
//   2. All terms are cut off (towards zero) at a common last bit: 25 binary places below the
//   largest
//      exponent of a term, or 13 if the factors have 8 bits.
//   3. The sum of what is left is exact. It is cut off to 24 bits, or to 14 bits if the factors
//   have
//      8 bits; for an f16 result it is rounded to nearest instead.
// Infinities and NaN follow the usual rules. This was fitted to, and agrees with, all recorded
// sums.

#pragma once

#include "interp/handlers/common.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

// ---- the order of B ----------------------------------------------------------------------------
//
// Four columns are transposed a vector at a time: blocks of WIDE or NARROW values of k. Inside a
// block, the quad of k = 4l + i has the place i * width / 4 + l.

constexpr unsigned NARROW = 8;
constexpr unsigned WIDE = VECTOR_BYTES == 64 ? 16 : NARROW;

/// Returns the size of a block for a product with `k`.
[[gnu::always_inline]] inline unsigned column_width(unsigned k) {
    return k % WIDE == 0 ? WIDE : NARROW;
}

/// Returns the place of a quad among the k quads of its columns.
[[gnu::always_inline]] inline unsigned place_in_columns(unsigned at, unsigned k) {
    const unsigned width = column_width(k);
    const unsigned inside = at % width;
    return at - inside + inside % 4 * (width / 4) + inside / 4;
}

// ---- sums ---------------------------------------------------------------------------------------

/// The exponent of a zero: lower than all others, also if one is added to it.
constexpr std::int16_t NO_EXPONENT = -8192;
/// The exponent of infinities and NaN: higher than all others, also if one is added to it.
constexpr std::int16_t NOT_FINITE = 12288;

/// How sums are cut off.
struct SumFormat {
    int places;         // below the largest exponent
    std::uint64_t lost; // the bits of a double that the result does not have
    std::uint64_t odd;  // f16: this bit is set if lost bits were not zero, for the next rounding
};

[[nodiscard]] SumFormat sum_format(bool has_byte_factors, bool is_half_result);

/// The factors of two registers of D, which have the same columns: 64 lanes, k values each.
struct SumFactors {
    const float* rows; // [k][64]: of A, one per lane
    const std::int16_t* row_exponents;
    const float* quads; // [k][4]: of B, repeated in all rows; see place_in_columns()
    const std::int16_t* quad_exponents;
    unsigned k; // 8, 16, 32 or 64
};

/// Computes two registers of D: `to` = sums + `from` (nullptr: zeros). They may be the same.
void add_registers(const SumFactors& factors, const SumFormat& format, const float* const* from,
                   float* const* to);

/// Computes one element of D from pairs of factors, all of which count.
[[nodiscard]] float add_element(const float* a, const std::int16_t* a_exponents, const float* b,
                                const std::int16_t* b_exponents, unsigned count, float c,
                                const SumFormat& format);

/// Factors of at most 16 products in the order of a matrix, for add_block(). A vector of numbers
/// beyond the end of the factors and of the result can be read.
struct BlockFactors {
    static constexpr unsigned MAX_K = 16;
    static constexpr unsigned MAX_ROWS = 32;
    static constexpr unsigned MAX_COLUMNS = 32;

    const float* a; // by rows
    std::size_t a_stride;
    const float* b; // by rows
    unsigned m;     // even
    unsigned n;     // a multiple of 8
    unsigned k;     // 4, 8 or 16
    int smallest;   // the exponent of subnormal factors
};

/// Computes result += a * b, stored by rows, in one step.
void add_block(const BlockFactors& factors, const SumFormat& format, float* result);

/// Writes the exponents of numbers; those below `smallest` become `smallest`.
void find_exponents(const float* values, std::size_t count, int smallest, std::int16_t* to);

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
