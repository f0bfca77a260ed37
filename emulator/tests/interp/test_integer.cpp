// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Integer arithmetic against plain C++.

#include "support/operation.hpp"

#include <algorithm>
#include <limits>

namespace cuprum::emulator::test {

namespace {

class Integer : public OnEveryLevel {};

INSTANTIATE_TEST_SUITE_P(levels, Integer, LEVELS);

__extension__ typedef __int128 Wide;

template <typename T>
std::vector<T> edges() {
    using L = std::numeric_limits<T>;
    return {T(0),
            T(1),
            T(2),
            T(3),
            T(7),
            T(10),
            T(-1),
            T(-2),
            T(-7),
            L::max(),
            T(L::max() - 1),
            L::min(),
            T(L::min() + 1),
            T(L::max() / 3),
            T(0x55),
            T(0x8001)};
}

template <typename T>
std::string name() {
    return std::string(std::is_signed_v<T> ? "s" : "u") + std::to_string(sizeof(T) * 8);
}

/// Calls `body` with a value of each of the six integer types.
template <typename Body>
void for_each_type(Body body) {
    body(std::uint16_t{});
    body(std::int16_t{});
    body(std::uint32_t{});
    body(std::int32_t{});
    body(std::uint64_t{});
    body(std::int64_t{});
}

template <typename T>
T wrap(Wide value) {
    return static_cast<T>(value);
}

TEST_P(Integer, add_sub_and_mul_wrap) {
    for_each_type([](auto zero) {
        using T = decltype(zero);
        const auto pairs = each(edges<T>(), edges<T>());
        expect_operation<T>("add." + name<T>() + " %d, %a, %b;", pairs,
                            [](T a, T b) { return wrap<T>(Wide{a} + b); });
        expect_operation<T>("sub." + name<T>() + " %d, %a, %b;", pairs,
                            [](T a, T b) { return wrap<T>(Wide{a} - b); });
        expect_operation<T>("mul.lo." + name<T>() + " %d, %a, %b;", pairs, [](T a, T b) {
            return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
        });
    });
}

TEST_P(Integer, mul_hi_is_the_upper_half) {
    for_each_type([](auto zero) {
        using T = decltype(zero);
        expect_operation<T>(
            "mul.hi." + name<T>() + " %d, %a, %b;", each(edges<T>(), edges<T>()), [](T a, T b) {
                __extension__ typedef unsigned __int128 UnsignedWide;
                if (std::is_signed_v<T>) {
                    return static_cast<T>((Wide{a} * b) >> (sizeof(T) * 8));
                }
                return static_cast<T>((UnsignedWide(a) * UnsignedWide(b)) >> (sizeof(T) * 8));
            });
    });
}

TEST_P(Integer, mul_wide_and_mad_wide_double_the_width) {
    const auto check = [](auto narrow, auto wide) {
        using T = decltype(narrow);
        using D = decltype(wide);
        expect_operation<D>("mul.wide." + name<T>() + " %d, %a, %b;", each(edges<T>(), edges<T>()),
                            [](T a, T b) { return static_cast<D>(Wide{a} * b); });
        expect_operation<D>("mad.wide." + name<T>() + " %d, %a, %b, %c;",
                            each(edges<T>(), edges<T>(), std::vector<D>{0, 1, D(-1), D(12345)}),
                            [](T a, T b, D c) { return static_cast<D>(Wide{a} * b + c); });
    };
    check(std::uint16_t{}, std::uint32_t{});
    check(std::int16_t{}, std::int32_t{});
    check(std::uint32_t{}, std::uint64_t{});
    check(std::int32_t{}, std::int64_t{});
}

TEST_P(Integer, mad_adds_to_the_chosen_half) {
    using T = std::int32_t;
    const auto triples = each(edges<T>(), edges<T>(), std::vector<T>{0, 5, -9, INT32_MAX});
    expect_operation<T>("mad.lo.s32 %d, %a, %b, %c;", triples,
                        [](T a, T b, T c) { return wrap<T>(Wide{a} * b + c); });
    expect_operation<T>("mad.hi.s32 %d, %a, %b, %c;", triples, [](T a, T b, T c) {
        return wrap<T>(((std::int64_t{a} * b) >> 32) + std::int64_t{c});
    });
}

TEST_P(Integer, saturating_forms_clamp) {
    using T = std::int32_t;
    const auto clamp = [](std::int64_t value) {
        return static_cast<T>(std::clamp<std::int64_t>(value, INT32_MIN, INT32_MAX));
    };
    const auto pairs = each(edges<T>(), edges<T>());
    expect_operation<T>("add.sat.s32 %d, %a, %b;", pairs,
                        [&](T a, T b) { return clamp(std::int64_t{a} + b); });
    expect_operation<T>("sub.sat.s32 %d, %a, %b;", pairs,
                        [&](T a, T b) { return clamp(std::int64_t{a} - b); });
    expect_operation<T>("mad.hi.sat.s32 %d, %a, %b, %c;",
                        each(edges<T>(), edges<T>(), std::vector<T>{0, INT32_MAX, INT32_MIN}),
                        [&](T a, T b, T c) { return clamp(((std::int64_t{a} * b) >> 32) + c); });
}

TEST_P(Integer, division_never_traps) {
    for_each_type([](auto zero) {
        using T = decltype(zero);
        const auto pairs = each(edges<T>(), edges<T>());
        // Division by zero gives all ones. The most negative number divided by -1 gives itself,
        // remainder 0.
        expect_operation<T>("div." + name<T>() + " %d, %a, %b;", pairs, [](T a, T b) {
            return b == 0 ? static_cast<T>(-1) : wrap<T>(Wide{a} / Wide{b});
        });
        expect_operation<T>("rem." + name<T>() + " %d, %a, %b;", pairs, [](T a, T b) {
            return b == 0 ? static_cast<T>(-1) : wrap<T>(Wide{a} % Wide{b});
        });
    });
}

TEST_P(Integer, min_max_abs_neg_and_sad) {
    for_each_type([](auto zero) {
        using T = decltype(zero);
        const auto pairs = each(edges<T>(), edges<T>());
        expect_operation<T>("min." + name<T>() + " %d, %a, %b;", pairs,
                            [](T a, T b) { return std::min(a, b); });
        expect_operation<T>("max." + name<T>() + " %d, %a, %b;", pairs,
                            [](T a, T b) { return std::max(a, b); });
        expect_operation<T>(
            "sad." + name<T>() + " %d, %a, %b, %c;",
            each(edges<T>(), edges<T>(), std::vector<T>{0, T(100), T(-1)}), [](T a, T b, T c) {
                const Wide difference = Wide{a} < Wide{b} ? Wide{b} - a : Wide{a} - b;
                return wrap<T>(difference + c);
            });
        if constexpr (std::is_signed_v<T>) {
            const auto singles = each(edges<T>());
            expect_operation<T>("abs." + name<T>() + " %d, %a;", singles,
                                [](T a) { return wrap<T>(a < 0 ? -Wide{a} : Wide{a}); });
            expect_operation<T>("neg." + name<T>() + " %d, %a;", singles,
                                [](T a) { return wrap<T>(-Wide{a}); });
        }
    });
}

TEST_P(Integer, mul24_and_mad24_use_24_bits) {
    using T = std::int32_t;
    using U = std::uint32_t;
    const auto signed24 = [](T a) { return static_cast<T>(static_cast<U>(a) << 8) >> 8; };
    expect_operation<T>("mul24.lo.s32 %d, %a, %b;", each(edges<T>(), edges<T>()),
                        [&](T a, T b) { return wrap<T>(Wide{signed24(a)} * signed24(b)); });
    expect_operation<T>("mul24.hi.s32 %d, %a, %b;", each(edges<T>(), edges<T>()),
                        [&](T a, T b) { return wrap<T>((Wide{signed24(a)} * signed24(b)) >> 16); });
    expect_operation<U>("mad24.hi.u32 %d, %a, %b, %c;",
                        each(edges<U>(), edges<U>(), std::vector<U>{0, 77}), [](U a, U b, U c) {
                            const std::uint64_t product =
                                std::uint64_t{a & 0xffffff} * (b & 0xffffff);
                            return static_cast<U>(product >> 16) + c;
                        });
}

TEST_P(Integer, carries_chain_through_the_hidden_flag) {
    using U = std::uint64_t;
    // The upper half of a 128-bit sum and difference whose lower half is (a, b).
    const auto pairs = each(edges<U>(), edges<U>());
    expect_operation<U>(
        "@G add.cc.u64 %x, %a, %b;\n@G addc.u64 %d, %a, %b;", pairs,
        [](U a, U b) { return a + b + (a + b < a ? 1 : 0); }, ".reg .b64 %x;\n");
    expect_operation<U>(
        "@G sub.cc.u64 %x, %a, %b;\n@G subc.u64 %d, %a, %b;", pairs,
        [](U a, U b) { return a - b - (a < b ? 1 : 0); }, ".reg .b64 %x;\n");
    // Both use the same flag: it is 0 after a subtraction that borrows.
    expect_operation<U>(
        "@G sub.cc.u64 %x, %a, %b;\n@G addc.u64 %d, 0, 0;", pairs,
        [](U a, U b) -> U { return a < b ? 0 : 1; }, ".reg .b64 %x;\n");
    expect_operation<U>(
        "@G sub.cc.u64 %x, %a, %b;\n@G subc.cc.u64 %x, %b, %a;\n@G addc.u64 %d, 0, 0;", pairs,
        [](U a, U b) -> U { return b < a ? 0 : 1; }, ".reg .b64 %x;\n");
    expect_operation<U>(
        "@G add.cc.u64 %x, %a, %b;\n@G subc.u64 %d, %a, %b;", pairs,
        [](U a, U b) { return a - b - (a + b < a ? 0 : 1); }, ".reg .b64 %x;\n");
    using V = std::uint32_t;
    expect_operation<V>(
        "@G mad.lo.cc.u32 %x, %a, %b, %c;\n@G madc.hi.u32 %d, %a, %b, 0;",
        each(edges<V>(), edges<V>(), edges<V>()),
        [](V a, V b, V c) { return static_cast<V>((std::uint64_t{a} * b + c) >> 32); },
        ".reg .b32 %x;\n");
}

TEST_P(Integer, dot_products_of_bytes) {
    using U = std::uint32_t;
    const std::vector<U> words{0, 0x01020304, 0x80ff7f01, 0xffffffff};
    expect_operation<U>("dp4a.s32.s32 %d, %a, %b, %c;", each(words, words, words),
                        [](U a, U b, U c) {
                            std::int32_t sum = static_cast<std::int32_t>(c);
                            for (int i = 0; i < 4; ++i) {
                                sum += static_cast<std::int8_t>(a >> (8 * i)) *
                                       static_cast<std::int8_t>(b >> (8 * i));
                            }
                            return static_cast<U>(sum);
                        });
    expect_operation<U>(
        "dp2a.hi.u32.s32 %d, %a, %b, %c;", each(words, words, words), [](U a, U b, U c) {
            U sum = c;
            for (int i = 0; i < 2; ++i) {
                sum += static_cast<U>(static_cast<std::int32_t>(a >> (16 * i) & 0xffff) *
                                      static_cast<std::int8_t>(b >> (16 + 8 * i)));
            }
            return sum;
        });
}

} // namespace

} // namespace cuprum::emulator::test
