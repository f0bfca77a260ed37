// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// lop3: any function of three bits, one for each of the 256 truth tables.

#pragma once

#include "interp/handlers/common.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

using LogicBits = Vector<std::uint32_t>;

/// Evaluates a function of two bits given its table: bit 2b + c is the result for b and c.
template <unsigned TABLE>
[[gnu::always_inline]] inline LogicBits two_inputs(LogicBits b, LogicBits c) {
    switch (TABLE) {
    case 0:
        return LogicBits{};
    case 1:
        return ~(b | c);
    case 2:
        return ~b & c;
    case 3:
        return ~b;
    case 4:
        return b & ~c;
    case 5:
        return ~c;
    case 6:
        return b ^ c;
    case 7:
        return ~(b & c);
    case 8:
        return b & c;
    case 9:
        return ~(b ^ c);
    case 10:
        return c;
    case 11:
        return ~b | c;
    case 12:
        return b;
    case 13:
        return b | ~c;
    case 14:
        return b | c;
    default:
        return ~LogicBits{};
    }
}

/// Splits the table by the first bit (Shannon expansion), so that every table costs at most a dozen
/// operations.
template <unsigned LUT>
struct Lop3 {
    template <typename T>
    static Vector<T> apply(Vector<T> a, Vector<T> b, Vector<T> c) {
#if defined(__AVX512F__)
        return reinterpret_cast<Vector<T>>(
            _mm512_ternarylogic_epi32(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b),
                                      reinterpret_cast<__m512i>(c), LUT));
#else
        constexpr unsigned when_set = LUT >> 4;
        constexpr unsigned when_clear = LUT & 15;
        if constexpr (when_set == when_clear) {
            return two_inputs<when_set>(b, c);
        } else if constexpr (when_set == (when_clear ^ 15)) {
            return a ^ two_inputs<when_clear>(b, c);
        } else {
            return (a & two_inputs<when_set>(b, c)) | (~a & two_inputs<when_clear>(b, c));
        }
#endif
    }
};

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
