// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What decoder and handlers of the matrix instructions agree on; see forms.hpp.
//
// Words used here and in the handlers. The factors A (m x k) and B (k x n) and the accumulators C
// and D (m x n) are spread over the registers of 32 lanes: a fragment. Laid out plainly in memory a
// matrix is an image: rows of A, columns of B and rows of C and D one after the other, so that the
// elements that are multiplied with each other lie side by side in both factors. Elements smaller
// than 32 bits are packed, the first in the lowest bits.

#pragma once

#include "ptx/tree.hpp"

#include <cstdint>

namespace cuprum::emulator {

/// The number formats of matrix elements.
enum class MatrixElement : std::uint8_t {
    F16,
    BF16,
    TF32, // an f32 of which the last 13 bits of the fraction are ignored
    F32,
    F64,
    E4M3,
    E5M2,
    E3M2, // in the lower six bits of a byte
    E2M3,
    E2M1,       // in the middle four bits of a byte
    PackedE2M1, // two in a byte
    S8,
    U8,
    S4,
    U4,
    B1,
    S32,
};

enum class MatrixOp : std::uint8_t {
    LoadTiles,     // ldmatrix: dst = tiles, src[0] = address of a row per lane
    StoreTiles,    // stmatrix: src[0] = address of a row per lane, the tiles follow
    LoadBytes,     // ldmatrix of bytes, or of narrower elements that become bytes: as LoadTiles
    StoreBytes,    // stmatrix of bytes: as StoreTiles
    TransposeTile, // movmatrix: dst[0], src[0]
    Load,          // wmma.load: dst = fragment, src[0] = address, src[1] = stride in elements
    Store,         // wmma.store: src[0] = address, src[1] = stride, the fragment follows
    Multiply,      // mma, wmma.mma: dst = D; src = A, B, C
    MultiplyQuads, // mma.m8n8k4 of halves: as above
    // mma.sp, mma.block_scale: as above, then the metadata of mma.sp; then, of .block_scale, the
    // scales of A, their byte-id and thread-id, and the same of B
    MultiplyParts,
};

/// Bits of `Instruction::tag` of everything that accesses memory; `immediate` is the offset.
///
/// Tiles and bytes: MATRIX_COUNT is their number, MATRIX_INNER half the bits of an element in
/// memory. Load and Store: MATRIX_OUTER and MATRIX_INNER are the logarithms of the image's number
/// of rows and of the elements in one, `access_bytes` is the size of an element (4- and 1-bit
/// elements go by bytes); the stride in elements times `access_bytes`, shifted right by
/// MATRIX_STRIDE_SHIFT, is the stride in bytes.
constexpr std::uint16_t MATRIX_COUNT = 0x7;
constexpr std::uint16_t MATRIX_OUTER = 0xf;
constexpr std::uint16_t MATRIX_INNER = 0xf0;
constexpr unsigned MATRIX_INNER_SHIFT = 4;
constexpr std::uint16_t MATRIX_NARROW_ADDRESS = 0x100;
constexpr std::uint16_t MATRIX_TRANSPOSED = 0x200; // memory holds the columns of the image
constexpr std::uint16_t MATRIX_PAIRED = 0x400;     // an accumulator of 32 or 64 bits
constexpr unsigned MATRIX_STRIDE_SHIFT = 12;

/// Bits of `Instruction::tag` of products. `immediate` holds m, n, k and the formats of C, D, A and
/// B in a byte each but k, which has two, from the lowest on.
constexpr std::uint16_t MATRIX_SATURATING = 1;  // .satfinite
constexpr std::uint16_t MATRIX_BITWISE_AND = 2; // b1: .and.popc rather than .xor.popc
constexpr std::uint16_t MATRIX_FRAGMENT = 4;    // fragments as wmma.load makes them, not mma's
constexpr unsigned MATRIX_ROUNDING_SHIFT = 3;   // f64: two bits, a Rounding
constexpr std::uint16_t MATRIX_SPARSE = 0x20;
constexpr unsigned MATRIX_SELECTOR_SHIFT = 6; // mma.sp: two bits, which lanes hold the metadata
constexpr unsigned MATRIX_SCALES_SHIFT = 8;   // three bits: scales in a row of A; 0: no scales
constexpr std::uint16_t MATRIX_SCALE_UE4M3 = 0x800; // scales are .ue4m3, not .ue8m0
constexpr std::uint16_t MATRIX_A_COLUMN = 0x1000;   // MultiplyQuads: A is .col
constexpr std::uint16_t MATRIX_B_ROW = 0x2000;      // MultiplyQuads: B is .row

struct MatrixForm {
    MatrixOp op{};
    ptx::Space space = ptx::Space::None; // of the address
    MatrixElement a{};                   // of what is moved; Multiply: of A
    bool is_scaled = false;              // MultiplyParts: with .block_scale
};

} // namespace cuprum::emulator
