// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Fragments: between the registers of 32 lanes and images (see matrix_forms.hpp).
//
// mma.sync prescribes where elements are. With g = lane / 4 and t = lane % 4, a register of a
// factor holds row g (of A) or column g (of B) of an 8 x 16-byte piece, its t-th word: in the order
// of the lanes a register is such a piece, row by row. Registers of A go down eight rows first,
// then on to the next 16 bytes. An accumulator register of 32 or 64 bits holds row g, columns 2t
// and 2t + 1 in turn; the next two are eight rows further down. Packed f16 accumulators have both
// columns in one register.
//
// wmma leaves it to the device. Here accumulators are as with mma.sync, so that f16 and f32 ones
// agree, with the image in place of the rows of eight; factors have 32 words of the image in each
// register, and begin again where there are more registers than words.

#pragma once

#include "bytecode/matrix_forms.hpp"
#include "interp/handlers/common.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

/// Words of the largest image: 32 x 16 halves, 16 x 16 of 32 or 64 bits.
constexpr unsigned MAX_IMAGE_WORDS = 256;

/// Rows of a piece, and words in each of its rows.
constexpr unsigned PIECE_ROWS = 8;
constexpr unsigned PIECE_WORDS = 4;

[[gnu::always_inline]] inline Operand listed_operand(const WarpContext& warp, const Instruction* at,
                                                     unsigned index) {
    // The vector's data pointer, without calling its members (see common.hpp).
    const auto& list = warp.block->kernel->operands;
    const Operand* const data = *reinterpret_cast<const Operand* const*>(&list);
    return data[at->extra + index];
}

/// Returns destination number `index`, of any number.
[[gnu::always_inline]] inline Operand any_destination(const WarpContext& warp,
                                                      const Instruction* at, unsigned index) {
    return index < 4 ? at->dst[index] : listed_operand(warp, at, index - 4);
}

/// Returns source number `index`, of any number.
[[gnu::always_inline]] inline Operand any_source(const WarpContext& warp, const Instruction* at,
                                                 unsigned index) {
    return index < 4 ? at->src[index] : listed_operand(warp, at, at->extra_dst_count + index - 4);
}

/// Reads a factor of mma.sync, `rows` rows of `row_words`, from sources `first` on.
template <typename Word>
inline void gather_pieces(const WarpContext& warp, const Instruction* at, unsigned first,
                          unsigned rows, unsigned row_words, Word* image) {
    const unsigned pieces_down = rows / PIECE_ROWS;
    const unsigned registers = rows * row_words / WARP_SIZE;
    for (unsigned i = 0; i < registers; ++i) {
        const auto* const lanes = lanes_of<Word>(warp, any_source(warp, at, first + i));
        Word* const to =
            image + i % pieces_down * PIECE_ROWS * row_words + i / pieces_down * PIECE_WORDS;
        for (unsigned row = 0; row < PIECE_ROWS; ++row) {
            __builtin_memcpy(to + row * row_words, lanes + row * PIECE_WORDS,
                             PIECE_WORDS * sizeof(Word));
        }
    }
}

/// Reads an image of so many words from sources `first` on: 32 words in each register, or 64 in
/// turn in two of them.
template <typename Word>
inline void gather_words(const WarpContext& warp, const Instruction* at, unsigned first,
                         unsigned words, bool is_paired, Word* __restrict image) {
    for (unsigned i = 0; i < words / WARP_SIZE; i += is_paired ? 2 : 1) {
        Word* const to = image + i * WARP_SIZE;
        const auto* const even = lanes_of<Word>(warp, any_source(warp, at, first + i));
        if (!is_paired) {
            __builtin_memcpy(to, even, WARP_SIZE * sizeof(Word));
            continue;
        }
        const auto* const odd = lanes_of<Word>(warp, any_source(warp, at, first + i + 1));
        for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
            to[2 * lane] = even[lane];
            to[2 * lane + 1] = odd[lane];
        }
    }
}

/// Writes an image of so many words, a power of two, to `registers` destinations.
template <typename Word>
inline void scatter_words(const WarpContext& warp, const Instruction* at, unsigned registers,
                          unsigned words, bool is_paired, const Word* image, std::uint32_t mask) {
    for (unsigned i = 0; i < registers; i += is_paired ? 2 : 1) {
        const Word* const from = image + (i * WARP_SIZE & (words - 1));
        if (!is_paired) {
            store_lanes<Word>(locate(warp, any_destination(warp, at, i)), from, mask);
            continue;
        }
        alignas(VECTOR_BYTES) Word even[WARP_SIZE];
        alignas(VECTOR_BYTES) Word odd[WARP_SIZE];
        for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
            even[lane] = from[2 * lane];
            odd[lane] = from[2 * lane + 1];
        }
        store_lanes<Word>(locate(warp, any_destination(warp, at, i)), even, mask);
        store_lanes<Word>(locate(warp, any_destination(warp, at, i + 1)), odd, mask);
    }
}

/// The handlers that move matrices without computing.
Handler select_matrix_move(const MatrixForm& form);

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
