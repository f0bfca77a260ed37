// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Conversion of fragments between the registers of 32 lanes and images (see matrix_forms.hpp).
//
// mma.sync prescribes the positions of elements. Let g = lane / 4 and t = lane % 4. A register of a
// factor holds word t of row g (of A) or column g (of B) of a piece of 8 x 16 bytes. In lane order,
// a register is therefore such a piece, row by row. The registers of A go down eight rows first,
// then on to the next 16 bytes. Two accumulator registers of 32 or 64 bits hold columns 2t and 2t +
// 1 of row g; the next two are eight rows further down. Packed f16 accumulators have both columns
// in one register.
//
// wmma leaves the positions to the device. Here its accumulators are laid out as with mma.sync, so
// that f16 and f32 accumulators agree, but over the whole image instead of rows of eight. A factor
// has 32 words of the image in each register, and repeats if there are more registers than words.

#pragma once

#include "bytecode/matrix_forms.hpp"
#include "interp/handlers/common.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

/// The words of the largest image: 32 x 16 halves, 16 x 16 elements of 32 or 64 bits.
constexpr unsigned MAX_IMAGE_WORDS = 256;

/// The rows of a piece, and the words in each row.
constexpr unsigned PIECE_ROWS = 8;
constexpr unsigned PIECE_WORDS = 4;

[[gnu::always_inline]] inline Operand listed_operand(const WarpContext& warp, const Instruction* at,
                                                     unsigned index) {
    // This reads the vector's data pointer without calling its members (see common.hpp).
    const auto& list = warp.block->kernel->operands;
    const Operand* const data = *reinterpret_cast<const Operand* const*>(&list);
    return data[at->extra + index];
}

/// Returns destination number `index`, which may be in the kernel's operand list.
[[gnu::always_inline]] inline Operand any_destination(const WarpContext& warp,
                                                      const Instruction* at, unsigned index) {
    return index < 4 ? at->dst[index] : listed_operand(warp, at, index - 4);
}

/// Returns source number `index`, which may be in the kernel's operand list.
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

/// Reads an image of `words` words from sources `first` on: 32 words per register, or 64
/// alternating between two.
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

/// Writes an image of `words` words, a power of two, to `registers` destinations.
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

/// Returns the handler that moves matrices without computing.
Handler select_matrix_move(const MatrixForm& form);

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
