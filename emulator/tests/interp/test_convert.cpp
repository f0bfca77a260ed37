// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// cvt, compared with plain C++, and with the results of an H200 where C++ leaves them undefined.

#include "support/operation.hpp"

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>

namespace cuprum::emulator::test {

namespace {

using U = std::uint32_t;

class Convert : public OnEveryLevel {};

INSTANTIATE_TEST_SUITE_P(levels, Convert, LEVELS);

const std::vector<U> SINGLES{0,          0x80000000, 0x3f800000, 0xbf800000, 0x3f000000, 0x3fc00000,
                             0x40200000, 0xc0200000, 0x4f000000, 0xcf000000, 0x4f7fffff, 0x4f800000,
                             0x5f000000, 0xdf000001, 0x5f800000, 0x7f800000, 0xff800000, 0x7fc00000,
                             0x00000001, 0x80000001, 0x42ff0000, 0x437f8000, 0xc3008000, 0x47800000,
                             0x3effffff, 0x4b7fffff, 0x7f7fffff};

template <typename T>
std::vector<T> integers() {
    using L = std::numeric_limits<T>;
    return {T(0),    T(1),    T(-1),     L::max(),  L::min(),  T(L::max() / 2 + 1), T(0x7f),
            T(0x80), T(0xff), T(0x7fff), T(0x8000), T(0xffff), T(16777217),         T(-16777217)};
}

TEST_P(Convert, between_integers_extends_or_cuts) {
    using S = std::int32_t;
    using L = std::int64_t;
    expect_operation<L>("cvt.s64.s32 %d, %a;", each(integers<S>()), [](S a) { return L{a}; });
    expect_operation<L>("cvt.u64.u32 %d, %a;", each(integers<S>()),
                        [](S a) { return static_cast<L>(static_cast<U>(a)); });
    expect_operation<S>("cvt.u32.u64 %d, %a;", each(integers<L>()),
                        [](L a) { return static_cast<S>(a); });
    expect_operation<S>("cvt.s32.s8 %d, %a;", each(integers<S>()),
                        [](S a) { return S{static_cast<std::int8_t>(a)}; });
    expect_operation<L>("cvt.u64.u16 %d, %a;", each(integers<S>()),
                        [](S a) { return L{static_cast<std::uint16_t>(a)}; });
    // The register is wider than the type, so the result is extended to the whole register.
    expect_operation<S>("cvt.s8.s32 %d, %a;", each(integers<S>()),
                        [](S a) { return S{static_cast<std::int8_t>(a)}; });
    expect_operation<L>("cvt.s16.s64 %d, %a;", each(integers<L>()),
                        [](L a) { return L{static_cast<std::int16_t>(a)}; });
}

TEST_P(Convert, between_integers_saturates_when_asked) {
    using S = std::int32_t;
    using L = std::int64_t;
    expect_operation<S>("cvt.sat.s8.s32 %d, %a;", each(integers<S>()),
                        [](S a) { return std::clamp<S>(a, -128, 127); });
    expect_operation<S>("cvt.sat.u8.s32 %d, %a;", each(integers<S>()),
                        [](S a) { return std::clamp<S>(a, 0, 255); });
    expect_operation<U>("cvt.sat.u32.s64 %d, %a;", each(integers<L>()),
                        [](L a) { return static_cast<U>(std::clamp<L>(a, 0, UINT32_MAX)); });
    expect_operation<L>(
        "cvt.sat.s64.u64 %d, %a;", each(integers<std::uint64_t>()),
        [](std::uint64_t a) { return static_cast<L>(std::min<std::uint64_t>(a, INT64_MAX)); });
}

/// Converts a float to type T: rounded and clamped. NaN becomes 0 or, with 64 bits, the top bit.
template <typename T, typename F>
T to_integer(F value, int mode) {
    if (value != value) {
        const bool is_wide = sizeof(T) == 8 || sizeof(F) == 8;
        return is_wide ? static_cast<T>(std::uint64_t{1} << (sizeof(T) * 8 - 1)) : T{0};
    }
    std::fesetround(mode);
    volatile double input = value;
    const double rounded = std::nearbyint(input);
    std::fesetround(FE_TONEAREST);
    if (rounded >= std::ldexp(1.0, sizeof(T) * 8 - (std::is_signed_v<T> ? 1 : 0))) {
        return std::numeric_limits<T>::max();
    }
    if (rounded < static_cast<double>(std::numeric_limits<T>::min())) {
        return std::numeric_limits<T>::min();
    }
    return static_cast<T>(rounded);
}

TEST_P(Convert, floats_to_integers_round_clamp_and_send_nan_to_zero) {
    const std::pair<const char*, int> roundings[] = {
        {"rni", FE_TONEAREST}, {"rzi", FE_TOWARDZERO}, {"rmi", FE_DOWNWARD}, {"rpi", FE_UPWARD}};
    std::vector<double> doubles{NAN, 1e300, -1e300, 2147483647.5, -2147483648.5, 4294967295.5};
    for (const U bits : SINGLES) {
        doubles.push_back(std::bit_cast<float>(bits));
    }
    for (const auto& [name, mode] : roundings) {
        const auto check = [&, mode = mode, name = name](auto zero, const std::string& type) {
            using T = decltype(zero);
            expect_operation<T>("cvt." + std::string(name) + "." + type + ".f32 %d, %a;",
                                each(SINGLES),
                                [&](U a) { return to_integer<T>(std::bit_cast<float>(a), mode); });
            expect_operation<T>("cvt." + std::string(name) + "." + type + ".f64 %d, %a;",
                                each(doubles), [&](double a) { return to_integer<T>(a, mode); });
        };
        check(std::int32_t{}, "s32");
        check(std::uint32_t{}, "u32");
        check(std::int64_t{}, "s64");
        check(std::uint64_t{}, "u64");
    }
    expect_operation<std::int32_t>("cvt.rzi.s8.f32 %d, %a;", each(SINGLES), [](U a) {
        const std::int32_t value = to_integer<std::int32_t>(std::bit_cast<float>(a), FE_TOWARDZERO);
        return std::clamp(value, -128, 127);
    });
}

TEST_P(Convert, integers_to_floats_round_as_told) {
    // A long double holds every integer of 64 bits. Compilers may convert 0 itself to -0 here.
    const std::pair<const char*, int> roundings[] = {
        {"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};
    for (const auto& [name, mode] : roundings) {
        const auto check = [&, mode = mode, name = name](auto zero, const std::string& type) {
            using T = decltype(zero);
            expect_operation<float>("cvt." + std::string(name) + ".f32." + type + " %d, %a;",
                                    each(integers<T>()), [&](T a) {
                                        volatile long double exact = a;
                                        std::fesetround(mode);
                                        volatile float result = static_cast<float>(exact);
                                        std::fesetround(FE_TONEAREST);
                                        return float{result};
                                    });
            expect_operation<double>("cvt." + std::string(name) + ".f64." + type + " %d, %a;",
                                     each(integers<T>()), [&](T a) {
                                         volatile long double exact = a;
                                         std::fesetround(mode);
                                         volatile double result = static_cast<double>(exact);
                                         std::fesetround(FE_TONEAREST);
                                         return double{result};
                                     });
        };
        check(std::int32_t{}, "s32");
        check(std::uint32_t{}, "u32");
        check(std::int64_t{}, "s64");
        check(std::uint64_t{}, "u64");
    }
    expect_operation<float>("cvt.rn.f32.s16 %d, %a;", each(integers<std::int16_t>()),
                            [](std::int16_t a) { return static_cast<float>(a); });
    expect_operation<float>("cvt.rn.f32.u8 %d, %a;", each(integers<std::int16_t>()),
                            [](std::int16_t a) { return float(a & 0xff); });
}

TEST_P(Convert, floats_to_floats) {
    expect_operation<double>("cvt.f64.f32 %d, %a;",
                             each(std::vector<float>{0.1f, -0.0f, 1e-45f, INFINITY}),
                             [](float a) { return double{a}; });
    expect_operation<float>("cvt.rn.f32.f64 %d, %a;",
                            each(std::vector<double>{0.1, 1e300, 1e-50, 1.00000006}),
                            [](double a) { return static_cast<float>(a); });
    EXPECT_EQ(run_operation<U>("cvt.rz.f32.f64 %d, %a;", each(std::vector<double>{1e300}))[0],
              0x7f7fffffu);
    expect_operation<float>("cvt.rmi.f32.f32 %d, %a;",
                            each(std::vector<float>{1.5f, -1.5f, 0.25f, -0.25f, 3e9f}),
                            [](float a) { return std::floor(a); });
    expect_operation<double>("cvt.rni.f64.f64 %d, %a;",
                             each(std::vector<double>{0.5, 1.5, -2.5, 1e15 + 0.5}),
                             [](double a) { return std::nearbyint(a); });
    expect_operation<float>("cvt.sat.f32.f32 %d, %a;",
                            each(std::vector<float>{-1, 0.25f, 7, NAN, -0.0f}),
                            [](float a) { return a > 0 ? std::min(a, 1.0f) : 0.0f; });
    expect_operation<U>("cvt.ftz.f32.f32 %d, %a;", each(std::vector<U>{1, 0x80000001, 0x3f800000}),
                        [](U a) { return (a & 0x7f800000) == 0 ? a & 0x80000000 : a; });
}

TEST_P(Convert, halves_round_once) {
    using H = std::uint16_t;
    // Values and results recorded on an H200.
    const std::vector<std::pair<U, H>> cases{
        {0x477fe000, 0x7bff}, {0x477fefff, 0x7bff}, {0x477ff000, 0x7c00}, {0x33000000, 0x0000},
        {0x33000001, 0x0001}, {0x38800000, 0x0400}, {0x387fe000, 0x0400}, {0x7fc00000, 0x7fff},
        {0xff800000, 0xfc00}, {0x80000000, 0x8000}};
    for (const auto& [input, expected] : cases) {
        EXPECT_EQ(run_operation<H>("cvt.rn.f16.f32 %d, %a;", each(std::vector<U>{input}))[0],
                  expected)
            << std::hex << input;
    }
    // Rounding to f32 first would give 0x3c00: the value is just above halfway between 1 and its
    // successor.
    EXPECT_EQ(run_operation<H>("cvt.rn.f16.f64 %d, %a;",
                               each(std::vector<double>{1.0 + 0x1p-11 + 0x1p-40}))[0],
              0x3c01);
    EXPECT_EQ(run_operation<U>("cvt.rn.bf16x2.f32 %d, %a, %b;",
                               each(std::vector<float>{1.0f}, std::vector<float>{-2.0f}))[0],
              0x3f80c000u);
    std::vector<H> all;
    for (U bits = 0; bits < 0x7c00; bits += 7) {
        all.push_back(static_cast<H>(bits));
    }
    const auto widened = run_operation<float>("cvt.f32.f16 %d, %a;", each(all));
    const auto back = run_operation<H>("cvt.rn.f16.f32 %d, %a;", each(widened));
    EXPECT_EQ(back, all);
}

TEST_P(Convert, eighths_saturate_to_finite) {
    using H = std::uint16_t;
    const auto pack = [](const std::string& form, float high, float low) {
        return run_operation<H>("cvt.rn.satfinite." + form + ".f32 %d, %a, %b;",
                                each(std::vector<float>{high}, std::vector<float>{low}))[0];
    };
    EXPECT_EQ(pack("e4m3x2", 1.0f, 1e9f), 0x387e);
    EXPECT_EQ(pack("e4m3x2", -448.0f, NAN), 0xfe7f);
    EXPECT_EQ(pack("e5m2x2", 1.0f, -1e9f), 0x3cfb);
    EXPECT_EQ(run_operation<U>("cvt.rn.f16x2.e4m3x2 %d, %a;", each(std::vector<H>{0x387e}))[0],
              0x3c005f00u);
}

} // namespace

} // namespace cuprum::emulator::test
