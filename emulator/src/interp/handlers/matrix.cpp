// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// mma.sync and wmma.mma: D = A * B + C.
//
// Floats. Up to 16 products (8 of tf32) are added to C at once, as wgmma adds on an H200: see
// warpgroup_sums.hpp. Factors of 8 bits become f16, because the H200 has no such mma: its compiler
// replaces one by two of f16 and an addition. f64 is a chain of fused multiply-adds. Integers are
// exact: they wrap, or saturate at the end with .satfinite.

#include "interp/handlers/functions.hpp"
#include "interp/handlers/matrix_product.hpp"
#include "interp/handlers/select.hpp"
#include "interp/handlers/warpgroup_sums.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

/// Computes result += a * b, all stored by rows. Four rows at a time hide the latency of additions.
template <typename T>
void multiply_add(const Product& product, const T* a, const T* b, T* result) {
    using V = typename Neighbours<T>::Value;
    using M = typename Neighbours<T>::Memory;
    const unsigned k = product.k;
    const unsigned n = product.n;
    for (unsigned column = 0; column < n; column += Neighbours<T>::count) {
        for (unsigned row = 0; row < product.m; row += 4) {
            M* to[4];
            for (unsigned i = 0; i < 4; ++i) {
                to[i] = reinterpret_cast<M*>(result + (row + i) * n + column);
            }
            V sum0 = *to[0];
            V sum1 = *to[1];
            V sum2 = *to[2];
            V sum3 = *to[3];
            const T* const factor = a + row * k;
            for (unsigned i = 0; i < k; ++i) {
                const V other = *reinterpret_cast<const M*>(b + i * n + column);
                sum0 += other * factor[i];
                sum1 += other * factor[k + i];
                sum2 += other * factor[2 * k + i];
                sum3 += other * factor[3 * k + i];
            }
            *to[0] = sum0;
            *to[1] = sum1;
            *to[2] = sum2;
            *to[3] = sum3;
        }
    }
}

/// Rounds results to f16.
void round_to_halves(float* result, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
        const std::uint32_t bits = float_to_half(result[i]);
        // A sum that becomes zero by rounding is positive.
        result[i] = bits == 0x8000u ? 0.0f : half_to_float(bits);
    }
}

/// Computes result += a * b in steps of `step` products, each of which adds to the last.
void add_in_steps(const Product& product, const FloatFactors& factors, unsigned step,
                  float* result) {
    const bool is_half = product.d == MatrixElement::F16;
    const bool is_wide = product.a == MatrixElement::BF16 || product.a == MatrixElement::TF32;
    const SumFormat format = sum_format(false, is_half);
    BlockFactors block{.a = factors.a,
                       .a_stride = factors.k,
                       .b = factors.b,
                       .m = factors.m,
                       .n = product.n,
                       .k = step,
                       .smallest = is_wide ? -126 : -14};
    for (unsigned first = 0; first < factors.k; first += step) {
        block.a = factors.a + first;
        block.b = factors.b + std::size_t{first} * product.n;
        add_block(block, format, result);
        if (is_half) {
            round_to_halves(result, factors.m * product.n);
        }
    }
}

/// Computes result += a * b for factors of 8 bits. The products of the first two of each four
/// elements are added up from zero, then those of the other two. The result is added at the end.
void add_bytes(const Product& product, const FloatFactors& factors, float* result) {
    alignas(VECTOR_BYTES) float a[MAX_ELEMENTS + LANES<float>];
    alignas(VECTOR_BYTES) float b[MAX_ELEMENTS + LANES<float>];
    alignas(VECTOR_BYTES) float sums[MAX_RESULTS + LANES<float>] = {};
    const unsigned step = factors.k / 2;
    for (unsigned i = 0; i < factors.k; ++i) {
        const unsigned from = i % step / 2 * 4 + i / step * 2 + i % 2;
        for (unsigned row = 0; row < factors.m; ++row) {
            a[row * factors.k + i] = factors.a[row * factors.k + from];
        }
        __builtin_memcpy(b + i * product.n, factors.b + from * product.n,
                         product.n * sizeof(float));
    }
    add_in_steps(product, {.a = a, .b = b, .m = factors.m, .k = factors.k}, step, sums);
    for (unsigned i = 0; i < factors.m * product.n; ++i) {
        result[i] += sums[i];
    }
    if (product.d == MatrixElement::F16) {
        round_to_halves(result, factors.m * product.n);
    }
}

const Instruction* multiply_floats(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const Product product(at);
    constexpr unsigned more = LANES<float>; // that add_block() may read
    alignas(VECTOR_BYTES) float a[MAX_ELEMENTS + more];
    alignas(VECTOR_BYTES) float b[MAX_ELEMENTS + more];
    alignas(VECTOR_BYTES) float result[MAX_RESULTS + more];
    unsigned next = gather_numbers(warp, at, product, product.a, 0, product.m, product.k, a);
    next = gather_rows_of_b(warp, at, product, next, b);
    gather_floats(warp, at, product, next, result);
    add_floats(product, {.a = a, .b = b, .m = product.m, .k = product.k}, result);
    scatter_floats(warp, at, product, result, mask);
    return at + 1;
}

const Instruction* multiply_doubles(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const Product product(at);
    std::uint64_t image[MAX_IMAGE_WORDS];
    double a[MAX_IMAGE_WORDS];
    double b[MAX_IMAGE_WORDS];
    double result[MAX_RESULTS];
    unsigned next = gather_factor(warp, at, product, product.a, 0, product.m, product.k, image);
    __builtin_memcpy(a, image, product.m * product.k * sizeof(double));
    next = gather_factor(warp, at, product, product.b, next, product.n, product.k, image);
    __builtin_memcpy(b, image, product.n * product.k * sizeof(double));
    gather_result(warp, at, product, next, image);
    __builtin_memcpy(result, image, product.m * product.n * sizeof(double));
    {
        const RoundingScope scope(static_cast<Rounding>(at->tag >> MATRIX_ROUNDING_SHIFT & 3));
        scope.keep(a);
        scope.keep(b);
        scope.keep(result);
        for (unsigned row = 0; row < product.m; ++row) {
            for (unsigned column = 0; column < product.n; ++column) {
                double sum = result[row * product.n + column];
                for (unsigned i = 0; i < product.k; ++i) {
                    sum = fused(a[row * product.k + i], b[column * product.k + i], sum);
                }
                result[row * product.n + column] = sum;
            }
        }
        scope.keep(result);
    }
    __builtin_memcpy(image, result, product.m * product.n * sizeof(double));
    scatter_result(warp, at, product, image, mask);
    return at + 1;
}

const Instruction* multiply_integers(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const Product product(at);
    alignas(VECTOR_BYTES) std::uint32_t a[MAX_ELEMENTS];
    alignas(VECTOR_BYTES) std::uint32_t b[MAX_ELEMENTS];
    alignas(VECTOR_BYTES) std::uint32_t sums[MAX_RESULTS] = {};
    unsigned next = gather_numbers(warp, at, product, product.a, 0, product.m, product.k, a);
    next = gather_rows_of_b(warp, at, product, next, b);
    multiply_add(product, a, b, sums);
    add_integers(warp, at, product, next, sums, mask);
    return at + 1;
}

/// Multiplies b1: counts the bits that differ between a row and a column, or that both have.
const Instruction* multiply_bits(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const Product product(at);
    const unsigned row_words = product.k / 32;
    std::uint32_t a[MAX_IMAGE_WORDS];
    std::uint32_t b[MAX_IMAGE_WORDS];
    std::uint32_t image[MAX_IMAGE_WORDS];
    unsigned next = gather_factor(warp, at, product, product.a, 0, product.m, product.k, a);
    next = gather_factor(warp, at, product, product.b, next, product.n, product.k, b);
    gather_result(warp, at, product, next, image);
    const bool is_and = (at->tag & MATRIX_BITWISE_AND) != 0;
    for (unsigned row = 0; row < product.m; ++row) {
        for (unsigned column = 0; column < product.n; ++column) {
            std::uint32_t sum = image[row * product.n + column];
            for (unsigned i = 0; i < row_words; ++i) {
                const std::uint32_t x = a[row * row_words + i];
                const std::uint32_t y = b[column * row_words + i];
                sum += static_cast<std::uint32_t>(__builtin_popcount(is_and ? x & y : x ^ y));
            }
            image[row * product.n + column] = sum;
        }
    }
    scatter_result(warp, at, product, image, mask);
    return at + 1;
}

} // namespace

void add_floats(const Product& product, const FloatFactors& factors, float* result) {
    if (elements_per_word(product.a) == 4) {
        return add_bytes(product, factors, result);
    }
    const unsigned most = product.a == MatrixElement::TF32 ? 8 : BlockFactors::MAX_K;
    add_in_steps(product, factors, factors.k < most ? factors.k : most, result);
}

Handler select_matrix(const MatrixForm& form) {
    using E = MatrixElement;
    switch (form.op) {
    case MatrixOp::Multiply:
        break;
    case MatrixOp::MultiplyQuads:
        return multiply_quads;
    case MatrixOp::MultiplyParts:
        return select_matrix_parts(form);
    case MatrixOp::MultiplyWarpgroup:
        return form.a == E::B1 ? multiply_warpgroup_bits : multiply_warpgroup;
    default:
        return select_matrix_move(form);
    }
    switch (form.a) {
    case E::F64:
        return multiply_doubles;
    case E::S8:
    case E::U8:
    case E::S4:
    case E::U4:
        return multiply_integers;
    case E::B1:
        return multiply_bits;
    default:
        return multiply_floats;
    }
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
