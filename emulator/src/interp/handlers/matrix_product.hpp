// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Common parts of all matrix products: the description of a product, and its factors and
// accumulators as plain numbers.

#pragma once

#include "interp/handlers/matrix_common.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

/// The most elements of a factor: 16 x 64 or 8 x 128 elements of 4 bits.
constexpr unsigned MAX_ELEMENTS = 1024;
/// The most elements of an accumulator.
constexpr unsigned MAX_RESULTS = 256;

/// The description of a product, decoded from its instruction.
struct Product {
    unsigned m;
    unsigned n;
    unsigned k;
    MatrixElement a;
    MatrixElement b;
    MatrixElement c;
    MatrixElement d;
    bool is_fragment; // in the layout of wmma

    explicit Product(const Instruction* at)
        : m(static_cast<unsigned>(at->immediate & 0xff)),
          n(static_cast<unsigned>(at->immediate >> 8 & 0xff)),
          k(static_cast<unsigned>(at->immediate >> 16 & 0xffff)),
          a(static_cast<MatrixElement>(at->immediate >> 48 & 0xff)),
          b(static_cast<MatrixElement>(at->immediate >> 56 & 0xff)),
          c(static_cast<MatrixElement>(at->immediate >> 32 & 0xff)),
          d(static_cast<MatrixElement>(at->immediate >> 40 & 0xff)),
          is_fragment((at->tag & MATRIX_FRAGMENT) != 0) {}
};

/// Eight adjacent elements in a row of the result, which has at least that many columns.
template <typename T>
struct Neighbours {
    static constexpr unsigned count = 8;
    typedef T Value __attribute__((vector_size(8 * sizeof(T))));
    typedef T Memory __attribute__((vector_size(8 * sizeof(T)), aligned(4), may_alias));
};

/// Returns how many elements of a factor fit in a word; 1 if they are at least as wide.
[[gnu::always_inline]] inline unsigned elements_per_word(MatrixElement element) {
    using E = MatrixElement;
    switch (element) {
    case E::F16:
    case E::BF16:
        return 2;
    case E::F32:
    case E::TF32:
    case E::F64:
    case E::S32:
        return 1;
    case E::PackedE2M1:
    case E::S4:
    case E::U4:
        return 8;
    case E::B1:
        return 32;
    default:
        return 4;
    }
}

/// Converts the elements of an image of `words` words, in any factor format, to numbers.
void widen_elements(MatrixElement element, const std::uint32_t* image, unsigned words, float* to);
/// Converts integers of 8 and 4 bits. Arithmetic is unsigned, so that it may wrap.
void widen_elements(MatrixElement element, const std::uint32_t* image, unsigned words,
                    std::uint32_t* to);

/// Reads a factor, `rows` rows or columns of `length` elements, from sources `first` on. Returns
/// the number of the next source. f16 factors of wmma always have eight registers.
template <typename Word>
unsigned gather_factor(const WarpContext& warp, const Instruction* at, const Product& product,
                       MatrixElement element, unsigned first, unsigned rows, unsigned length,
                       Word* image) {
    constexpr unsigned PADDED_REGISTERS = 8;
    const unsigned row_words = length / elements_per_word(element);
    if (product.is_fragment) {
        gather_words<Word>(warp, at, first, rows * row_words, false, image);
        if (element == MatrixElement::F16) {
            return first + PADDED_REGISTERS;
        }
    } else {
        gather_pieces<Word>(warp, at, first, rows, row_words, image);
    }
    return first + rows * row_words / WARP_SIZE;
}

/// Reads the words of C's image.
template <typename Word>
void gather_result(const WarpContext& warp, const Instruction* at, const Product& product,
                   unsigned first, Word* image) {
    const bool is_packed = product.c == MatrixElement::F16;
    const unsigned words = product.m * product.n >> (is_packed ? 1 : 0);
    gather_words<Word>(warp, at, first, words, !is_packed, image);
}

/// Writes D.
template <typename Word>
void scatter_result(const WarpContext& warp, const Instruction* at, const Product& product,
                    const Word* image, std::uint32_t mask) {
    const bool is_packed = product.d == MatrixElement::F16;
    const unsigned words = product.m * product.n >> (is_packed ? 1 : 0);
    scatter_words<Word>(warp, at, words / WARP_SIZE, words, !is_packed, image, mask);
}

/// Reads an f16 or f32 C from sources `first` on.
void gather_floats(const WarpContext& warp, const Instruction* at, const Product& product,
                   unsigned first, float* result);
/// Writes an f16 or f32 D.
void scatter_floats(const WarpContext& warp, const Instruction* at, const Product& product,
                    const float* result, std::uint32_t mask);
/// Adds integers to C and writes the sums as D.
void add_integers(const WarpContext& warp, const Instruction* at, const Product& product,
                  unsigned first, const std::uint32_t* sums, std::uint32_t mask);

/// Reads a factor of floats or integers from sources `first` on as numbers.
template <typename T>
unsigned gather_numbers(const WarpContext& warp, const Instruction* at, const Product& product,
                        MatrixElement element, unsigned first, unsigned rows, unsigned length,
                        T* to) {
    alignas(VECTOR_BYTES) std::uint32_t image[MAX_IMAGE_WORDS];
    const unsigned next = gather_factor(warp, at, product, element, first, rows, length, image);
    widen_elements(element, image, rows * length / elements_per_word(element), to);
    return next;
}

/// Transposes the columns of B, as stored in the image, into rows.
///
/// NOTE: not inlined. g++ would warn that the rows are uninitialised, because it does not know that
/// n and k are not 0.
template <typename T>
[[gnu::noinline]] void columns_to_rows(const Product& product, const T* columns,
                                       T* __restrict rows) {
    constexpr unsigned COUNT = Neighbours<T>::count;
    for (unsigned first = 0; first < product.n; first += COUNT) {
        for (unsigned row = 0; row < product.k; ++row) {
            for (unsigned i = 0; i < COUNT; ++i) {
                rows[row * product.n + first + i] = columns[(first + i) * product.k + row];
            }
        }
    }
}

/// Reads B, which is stored by columns, from sources `first` on as rows of numbers.
template <typename T>
unsigned gather_rows_of_b(const WarpContext& warp, const Instruction* at, const Product& product,
                          unsigned first, T* rows) {
    alignas(VECTOR_BYTES) T columns[MAX_ELEMENTS];
    const unsigned next =
        gather_numbers(warp, at, product, product.b, first, product.n, product.k, columns);
    columns_to_rows(product, columns, rows);
    return next;
}

/// Factors of floats, stored by rows: `m` rows of A, an even number, with `k` elements, and `k`
/// rows of B. A vector of numbers beyond their end can be read.
struct FloatFactors {
    const float* a;
    const float* b;
    unsigned m;
    unsigned k;
};

/// Computes result += a * b in the steps of a dense or sparse product. A vector of numbers beyond
/// the end of the result can be read.
void add_floats(const Product& product, const FloatFactors& factors, float* result);

/// Handlers of products other than one dense product of the whole warp.
const Instruction* multiply_quads(WarpContext& warp, const Instruction* at, std::uint32_t mask);
Handler select_matrix_parts(const MatrixForm& form);
const Instruction* multiply_warpgroup(WarpContext& warp, const Instruction* at, std::uint32_t mask);
const Instruction* multiply_warpgroup_bits(WarpContext& warp, const Instruction* at,
                                           std::uint32_t mask);

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
