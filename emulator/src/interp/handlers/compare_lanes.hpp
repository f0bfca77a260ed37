// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Comparisons of a chunk of lanes.

#pragma once

#include "interp/handlers/common.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

/// Compares two vectors to all-ones lanes. The unordered operators hold if an input is a NaN.
template <Compare OP, typename V>
[[gnu::always_inline]] inline auto compare(V a, V b) {
    if constexpr (OP == Compare::Eq) {
        return a == b;
    } else if constexpr (OP == Compare::Ne) {
        return (a < b) | (a > b);
    } else if constexpr (OP == Compare::Lt) {
        return a < b;
    } else if constexpr (OP == Compare::Le) {
        return a <= b;
    } else if constexpr (OP == Compare::Gt) {
        return a > b;
    } else if constexpr (OP == Compare::Ge) {
        return a >= b;
    } else if constexpr (OP == Compare::Equ) {
        return ~((a < b) | (a > b));
    } else if constexpr (OP == Compare::Neu) {
        return a != b;
    } else if constexpr (OP == Compare::Ltu) {
        return ~(a >= b);
    } else if constexpr (OP == Compare::Leu) {
        return ~(a > b);
    } else if constexpr (OP == Compare::Gtu) {
        return ~(a <= b);
    } else if constexpr (OP == Compare::Geu) {
        return ~(a < b);
    } else if constexpr (OP == Compare::Num) {
        return (a == a) & (b == b);
    } else {
        return (a != a) | (b != b);
    }
}

#if defined(__AVX512F__)
/// Returns the predicate number of a comparison for vcmpps.
constexpr int float_predicate(Compare op) {
    constexpr int table[] = {0x00, 0x0c, 0x11, 0x12, 0x1e, 0x1d, 0x18,
                             0x04, 0x19, 0x1a, 0x16, 0x15, 0x07, 0x03};
    return table[static_cast<int>(op)];
}

/// Returns the predicate number of a comparison for vpcmpd.
constexpr int integer_predicate(Compare op) {
    constexpr int table[] = {0, 4, 1, 2, 6, 5};
    return table[static_cast<int>(op)];
}
#endif

/// Returns the result for one chunk of lanes, as bits.
template <Compare OP, typename T>
[[gnu::always_inline]] inline std::uint32_t compare_bits(Vector<T> a, Vector<T> b) {
#if defined(__AVX512F__)
    if constexpr (__is_same(T, float)) {
        return _mm512_cmp_ps_mask(a, b, float_predicate(OP));
    } else if constexpr (__is_same(T, double)) {
        return _mm512_cmp_pd_mask(a, b, float_predicate(OP));
    } else {
        const auto x = reinterpret_cast<__m512i>(a);
        const auto y = reinterpret_cast<__m512i>(b);
        constexpr int predicate = integer_predicate(OP);
        if constexpr (__is_same(T, std::int32_t)) {
            return _mm512_cmp_epi32_mask(x, y, predicate);
        } else if constexpr (__is_same(T, std::uint32_t)) {
            return _mm512_cmp_epu32_mask(x, y, predicate);
        } else if constexpr (__is_same(T, std::int64_t)) {
            return _mm512_cmp_epi64_mask(x, y, predicate);
        } else {
            return _mm512_cmp_epu64_mask(x, y, predicate);
        }
    }
#else
    return sign_bits<SignedLike<T>>(compare<OP>(a, b));
#endif
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
