// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The number formats of cvt, one record each.

#pragma once

#include "bytecode/forms.hpp"
#include "ptx/type_sizes.hpp"

#include <cstdint>
#include <string_view>

namespace cuprum::emulator::rows {

struct FormatRecord {
    std::string_view name; // of one value
    std::string_view pair; // of two in a register
    std::string_view quad; // of four
    unsigned bits;         // that a value takes in a register
    int exponent_bits = 0; // 0: an integer
    int fraction_bits = 0;
    std::uint32_t largest = 0;  // the bits of the largest number
    std::uint32_t infinity = 0; // 0: there is none
    std::uint32_t nan = 0;      // the result for a NaN; the largest number if the format has no NaN
};

/// In the order of Format.
constexpr FormatRecord FORMATS[] = {
    {"u8", "", "", 8},
    {"s8", "", "", 8},
    {"u16", "", "", 16},
    {"s16", "", "", 16},
    {"u32", "", "", 32},
    {"s32", "", "", 32},
    {"u64", "", "", 64},
    {"s64", "", "", 64},
    {"f16", "f16x2", "", 16, 5, 10, 0x7bff, 0x7c00, 0x7fff},
    {"bf16", "bf16x2", "", 16, 8, 7, 0x7f7f, 0x7f80, 0x7fff},
    {"f32", "", "", 32, 8, 23, 0x7f7fffff, 0x7f800000, 0x7fffffff},
    {"f64", "", "", 64, 11, 52},
    {"tf32", "", "", 32, 8, 10, 0x3fbff, 0x3fc00, 0x3ffff},
    {"", "e4m3x2", "e4m3x4", 8, 4, 3, 0x7e, 0, 0x7f},
    {"", "e5m2x2", "e5m2x4", 8, 5, 2, 0x7b, 0x7c, 0x7f},
    {"", "e2m3x2", "e2m3x4", 8, 2, 3, 0x1f, 0, 0x1f},
    {"", "e3m2x2", "e3m2x4", 8, 3, 2, 0x1f, 0, 0x1f},
    {"", "e2m1x2", "e2m1x4", 4, 2, 1, 0x7, 0, 0x7},
    {"", "ue8m0x2", "", 8, 8, 0, 0xfe, 0, 0xff}, // powers of two, without a sign
};

/// A format as a modifier names it.
struct FormatName {
    Format format{};
    unsigned count = 0; // of values in a register; 0: not a format
};

constexpr FormatName format_named(std::string_view word) {
    for (std::uint8_t i = 0; i < std::size(FORMATS); ++i) {
        const FormatRecord& record = FORMATS[i];
        const unsigned count = record.name == word   ? 1
                               : record.pair == word ? 2
                               : record.quad == word ? 4
                                                     : 0;
        if (count != 0 && !word.empty()) {
            return {static_cast<Format>(i), count};
        }
    }
    return {};
}

} // namespace cuprum::emulator::rows
