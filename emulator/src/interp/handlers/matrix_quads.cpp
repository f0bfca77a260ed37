// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// mma.m8n8k4 of halves, the form of compute capability 7.0: four products at once. Lanes 0 to 3 and
// 16 to 19 do the first, lanes 4 to 7 and 20 to 23 the second, and so on. The lower four lanes hold
// rows 0 to 3 of A (.row) and columns 0 to 3 of B (.col), one each; the upper four hold the rest.
// If A is .col or B is .row, a lane holds four elements of a column of A or a row of B instead.

#include "interp/handlers/functions.hpp"
#include "interp/handlers/matrix_product.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

constexpr unsigned SIZE = 8;  // rows and columns of a product
constexpr unsigned DEPTH = 4; // products in a sum, lanes in a group, groups in half a warp

struct Place {
    unsigned row;
    unsigned column;
};

/// Returns the position of element `i` of an accumulator in lane `t` of a group's lower (half 0) or
/// upper (half 1) lanes.
Place place_in_result(bool is_packed, unsigned half, unsigned t, unsigned i) {
    if (is_packed) {
        return {half * DEPTH + t, i};
    }
    return {half * DEPTH + (t & 1) + (i & 2), (i & 4) + (t & 2) + (i & 1)};
}

/// Reads half number `i`, stored two per register, from sources `first` on.
float half_of(const WarpContext& warp, const Instruction* at, unsigned first, unsigned lane,
              unsigned i) {
    const auto* const lanes = lanes_of<std::uint32_t>(warp, any_source(warp, at, first + i / 2));
    return half_to_float(lanes[lane] >> (i % 2 * 16) & 0xffffu);
}

} // namespace

const Instruction* multiply_quads(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const Product product(at);
    const bool a_by_columns = (at->tag & MATRIX_A_COLUMN) != 0;
    const bool b_by_rows = (at->tag & MATRIX_B_ROW) != 0;
    const bool c_is_packed = product.c == MatrixElement::F16;
    const bool d_is_packed = product.d == MatrixElement::F16;
    alignas(VECTOR_BYTES) std::uint32_t registers[SIZE][WARP_SIZE] = {};
    for (unsigned group = 0; group < DEPTH; ++group) {
        float a[SIZE][DEPTH];
        float b[DEPTH][SIZE];
        float result[SIZE][SIZE];
        for (unsigned index = 0; index < SIZE; ++index) {
            const unsigned half = index / DEPTH;
            const unsigned t = index % DEPTH;
            const unsigned lane = half * (WARP_SIZE / 2) + group * DEPTH + t;
            for (unsigned i = 0; i < DEPTH; ++i) {
                const float of_a = half_of(warp, at, 0, lane, i);
                const float of_b = half_of(warp, at, 2, lane, i);
                (a_by_columns ? a[half * DEPTH + i][t] : a[index][i]) = of_a;
                (b_by_rows ? b[t][half * DEPTH + i] : b[i][index]) = of_b;
            }
            for (unsigned i = 0; i < SIZE; ++i) {
                const Place place = place_in_result(c_is_packed, half, t, i);
                result[place.row][place.column] =
                    c_is_packed ? half_of(warp, at, 4, lane, i)
                                : lanes_of<float>(warp, any_source(warp, at, 4 + i))[lane];
            }
        }
        for (unsigned row = 0; row < SIZE; ++row) {
            for (unsigned column = 0; column < SIZE; ++column) {
                for (unsigned i = 0; i < DEPTH; ++i) {
                    result[row][column] += a[row][i] * b[i][column];
                }
            }
        }
        for (unsigned index = 0; index < SIZE; ++index) {
            const unsigned lane = index / DEPTH * (WARP_SIZE / 2) + group * DEPTH + index % DEPTH;
            for (unsigned i = 0; i < SIZE; ++i) {
                const Place place = place_in_result(d_is_packed, index / DEPTH, index % DEPTH, i);
                const float value = result[place.row][place.column];
                if (d_is_packed) {
                    registers[i / 2][lane] |= float_to_half(value) << (i % 2 * 16);
                } else {
                    registers[i][lane] = bits_from(canonical(value));
                }
            }
        }
    }
    for (unsigned i = 0; i < (d_is_packed ? SIZE / 2 : SIZE); ++i) {
        store_lanes<std::uint32_t>(locate(warp, any_destination(warp, at, i)), registers[i], mask);
    }
    return at + 1;
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
