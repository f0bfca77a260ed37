// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The contract between the decoder and the handlers of the matrix instructions; see forms.hpp.
//
// Terms used here and in the handlers. A fragment is a matrix that is spread over the registers of
// 32 lanes: a factor A (m x k) or B (k x n), or an accumulator C or D (m x n). An image is the same
// matrix laid out in memory: the rows of A, the columns of B, or the rows of C and D one after the
// other. So the elements that are multiplied with each other are adjacent in both factors. Elements
// smaller than 32 bits are packed, the first in the lowest bits.

#pragma once

#include "bytecode/form.hpp"
#include "ptx/tree.hpp"

#include <cstdint>

namespace cuprum::emulator {

/// The number formats of matrix elements.
enum class MatrixElement : std::uint8_t {
    F16,
    BF16,
    TF32, // an f32 whose last 13 fraction bits are ignored
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
    // mma.sp, mma.block_scale: as above, then the metadata (mma.sp), then (.block_scale) the scales
    // of A with their byte-id and thread-id, and the same for B
    MultiplyParts,
    MultiplyWarpgroup, // wgmma.mma_async: see WARPGROUP_ below
};

/// Bits of `Instruction::tag` for everything that accesses memory; `immediate` is the offset.
///
/// Tiles and bytes: MATRIX_COUNT is their number, and MATRIX_INNER is half the bits of an element
/// in memory. Load and Store: MATRIX_OUTER is log2 of the image's number of rows, and MATRIX_INNER
/// is log2 of the elements per row. `access_bytes` is the size of an element; 4- and 1-bit elements
/// count as bytes. The stride in bytes is the stride in elements times `access_bytes`, shifted
/// right by MATRIX_STRIDE_SHIFT.
constexpr std::uint16_t MATRIX_COUNT = 0x7;
constexpr std::uint16_t MATRIX_OUTER = 0xf;
constexpr std::uint16_t MATRIX_INNER = 0xf0;
constexpr unsigned MATRIX_INNER_SHIFT = 4;
constexpr std::uint16_t MATRIX_NARROW_ADDRESS = 0x100;
constexpr std::uint16_t MATRIX_TRANSPOSED = 0x200; // memory holds the columns of the image
constexpr std::uint16_t MATRIX_PAIRED = 0x400;     // an accumulator of 32 or 64 bits
constexpr unsigned MATRIX_STRIDE_SHIFT = 12;

/// Bits of `Instruction::tag` for products. `immediate` holds, from the lowest byte on, m, n, k and
/// the formats of C, D, A and B. k takes two bytes, the others one each.
constexpr std::uint16_t MATRIX_SATURATING = 1;  // .satfinite
constexpr std::uint16_t MATRIX_BITWISE_AND = 2; // b1: .and.popc rather than .xor.popc
constexpr std::uint16_t MATRIX_FRAGMENT = 4;  // fragments have the layout of wmma.load, not of mma
constexpr unsigned MATRIX_ROUNDING_SHIFT = 3; // f64: two bits, a Rounding
constexpr std::uint16_t MATRIX_SPARSE = 0x20;
constexpr unsigned MATRIX_SELECTOR_SHIFT = 6; // mma.sp: two bits, which lanes hold the metadata
constexpr unsigned MATRIX_SCALES_SHIFT = 8;   // three bits: scales per row of A; 0: no scales
constexpr std::uint16_t MATRIX_SCALE_UE4M3 = 0x800; // scales are .ue4m3, not .ue8m0
constexpr std::uint16_t MATRIX_A_COLUMN = 0x1000;   // MultiplyQuads: A is .col
constexpr std::uint16_t MATRIX_B_ROW = 0x2000;      // MultiplyQuads: B is .row

/// wgmma.mma_async: dst = D; src[0] = descriptor of B, src[1] = predicate scale-d, src[2] =
/// metadata (or a zero), src[3] = descriptor of A, or the first of its four registers, then D
/// again. `immediate` holds n and k (16 bits each), then the formats of D, A and B (8 bits each).
/// `tag`:
constexpr std::uint16_t WARPGROUP_SATURATING = 1; // .satfinite
constexpr std::uint16_t WARPGROUP_SPARSE = 2;
constexpr std::uint16_t WARPGROUP_SELECTOR = 4;    // .sp: the metadata is in lanes 2 and 3 of four
constexpr std::uint16_t WARPGROUP_A_REGISTERS = 8; // A is in registers
constexpr std::uint16_t WARPGROUP_NEGATED = 0x10;  // the product is subtracted
constexpr std::uint16_t WARPGROUP_A_COLUMN = 0x20; // the elements of a column of A are adjacent
constexpr std::uint16_t WARPGROUP_B_ROW = 0x40;    // the elements of a row of B are adjacent
constexpr std::uint16_t WARPGROUP_SCALE_NEGATED = 0x80; // scale-d is !p
constexpr unsigned WARPGROUP_ROWS = 64;
constexpr unsigned WARPGROUP_A_SOURCE = 3;
constexpr unsigned WARPGROUP_A_COUNT = 4; // registers of A

struct MatrixForm {
    MatrixOp op{};
    ptx::Space space = ptx::Space::None; // of the address
    MatrixElement a{};                   // of the elements that are moved; Multiply: of A
    bool is_scaled = false;              // MultiplyParts: with .block_scale
};

template <>
constexpr inline bytecode::Family bytecode::FAMILY_OF<MatrixForm> = bytecode::Family::Matrix;

} // namespace cuprum::emulator
