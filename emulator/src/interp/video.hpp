// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The video instructions: arithmetic on bytes and halfwords of 32-bit registers, with a second
// operation or a merge at the end.

#pragma once

#include "bytecode/instruction.hpp"
#include "interp/warp.hpp"

#include <cstdint>
#include <type_traits>

namespace cuprum::emulator::video {

enum class Op : std::uint8_t {
    Add,
    Sub,
    AbsDiff,
    Min,
    Max,
    Average,
    ShiftLeft,
    ShiftRight,
    Multiply, // and add: vmad
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
};

enum class Second : std::uint8_t { None, Add, Min, Max, Merge };

/// The operation of one instruction, stored in `immediate`.
struct Form {
    Op op{};
    Second second = Second::None;
    std::uint8_t lanes = 1; // 1: scalar; 2 halfwords, 4 bytes: SIMD
    std::uint8_t flags = 0;
    // Scalar: the part of a, b and d (0-3 bytes, 4-5 halfwords, 6 all). SIMD: `d` is the mask of
    // written elements; the instruction's `target` selects the elements of a and b.
    std::uint8_t d = ALL;
    std::uint8_t a = ALL;
    std::uint8_t b = ALL;
    std::uint8_t shift = 0; // vmad: .shr7 or .shr15

    static constexpr std::uint8_t HIGH_HALF = 5;
    static constexpr std::uint8_t ALL = 6;

    // Bits of `flags`.
    static constexpr unsigned SIGNED_D = 1;
    static constexpr unsigned SIGNED_A = 2;
    static constexpr unsigned SIGNED_B = 4;
    static constexpr unsigned SATURATES = 8;
    static constexpr unsigned WRAPS = 16;      // shifts: .wrap, else .clamp
    static constexpr unsigned NEGATES_AB = 32; // vmad: -(a * b)
    static constexpr unsigned NEGATES_C = 64;  // vmad
    static constexpr unsigned PLUS_ONE = 128;  // vmad: c.po
};

static_assert(sizeof(Form) == 8);

using Function = std::remove_pointer_t<bytecode::Handler>;

/// dst[0] = Form in `immediate` of src[0], src[1], src[2] (c, or a zero). SIMD: `target` holds the
/// selectors, one nibble per element of a (low halfword) and b (high halfword).
Function run;

} // namespace cuprum::emulator::video
