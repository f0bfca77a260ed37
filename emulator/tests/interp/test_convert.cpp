// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// cvt with registers that are wider than the values, and results that were recorded on an H200.

#include "support/operation.hpp"

#include <cmath>
#include <limits>

namespace cuprum::emulator::test {

namespace {

using U = std::uint32_t;

class Convert : public OnEveryLevel {};

INSTANTIATE_TEST_SUITE_P(levels, Convert, LEVELS);

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
