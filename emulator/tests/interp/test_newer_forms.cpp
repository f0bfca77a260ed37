// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Forms that later versions of PTX added to old instructions.

#include "support/operation.hpp"

#include <bit>

namespace cuprum::emulator::test {

namespace {

using U = std::uint32_t;
using UL = std::uint64_t;

class NewerForms : public OnEveryLevel {};

INSTANTIATE_TEST_SUITE_P(levels, NewerForms, LEVELS);

const std::vector<U> WORDS{0, 1, 0x80000000, 0xffffffff, 0x12345678, 0x0000ffff};
const std::vector<float> REALS{0.0f, -0.0f, 1.0f, -2.5f, 1e20f, -1e-20f, 1e-40f, 3.14159f};

UL pair(float low, float high) {
    return static_cast<UL>(std::bit_cast<U>(high)) << 32 | std::bit_cast<U>(low);
}

float low(UL bits) {
    return std::bit_cast<float>(static_cast<U>(bits));
}

float high(UL bits) {
    return std::bit_cast<float>(static_cast<U>(bits >> 32));
}

std::vector<UL> pairs() {
    std::vector<UL> result;
    for (std::size_t i = 0; i < REALS.size(); ++i) {
        result.push_back(pair(REALS[i], REALS[(i + 3) % REALS.size()]));
    }
    return result;
}

TEST_P(NewerForms, a_pair_may_be_its_own_operand) {
    expect_operation<UL>("@G mov.b64 %d, %a;\n@G add.f32x2 %d, %d, %b;", each(pairs(), pairs()),
                         [](UL a, UL b) { return pair(low(a) + low(b), high(a) + high(b)); });
}

TEST_P(NewerForms, lop3_tells_whether_any_bit_is_set) {
    const std::vector<Bool> both{Bool{0}, Bool{1}};
    expect_operation<Bool>(
        "lop3.or.b32 _|%d, %a, %b, 0xff, 0x80, %c;", each(WORDS, WORDS, both),
        [](U a, U b, Bool c) { return Bool{(a & b & 0xff) != 0 || c.value != 0 ? 1u : 0u}; });
    expect_operation<Bool>("lop3.and.b32 %w|%d, %a, %b, %a, 0x96, !%c;", each(WORDS, WORDS, both),
                           [](U, U b, Bool c) { return Bool{b != 0 && c.value == 0 ? 1u : 0u}; });
    expect_operation<U>("lop3.and.b32 %d|%g, %a, %b, %c, 0xE8, %out;", each(WORDS, WORDS, WORDS),
                        [](U a, U b, U c) { return (a & b) | (a & c) | (b & c); });
}

/// Runs a kernel of one warp on an array; %l is its lane and %at the array.
std::vector<float> run_on_array(const std::string& body, std::size_t count) {
    TestDevice device;
    auto* const array = device.allocate<float>(count);
    const Fault fault = run(device,
                            ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %at;\n"
                            ".reg .b32 %l, %f<8>;\n.reg .pred %p;\n"
                            "ld.param.u64 %at, [p];\nmov.u32 %l, %tid.x;\n"
                            "cvt.rn.f32.u32 %f0, %l;\nmov.f32 %f1, 0f3f800000;\n" +
                                body + "\nret;\n}\n",
                            {}, reinterpret_cast<std::uint64_t>(array));
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    return {array, array + count};
}

TEST_P(NewerForms, atomics_add_vectors) {
    EXPECT_EQ(run_on_array("red.global.add.v2.f32 [%at], {%f0, %f1};", 2),
              (std::vector<float>{496, 32}));
    EXPECT_EQ(run_on_array("red.global.add.v4.f32 [%at+16], {%f1, %f0, %f1, %f0};", 8),
              (std::vector<float>{0, 0, 0, 0, 32, 496, 32, 496}));
    // Each lane returns the old values; the last one returns the sums of the others.
    EXPECT_EQ(run_on_array("atom.global.v2.f32.add {%f0, %f1}, [%at], {%f1, %f0};\n"
                           "setp.eq.u32 %p, %l, 31;\n"
                           "@%p st.global.v2.f32 [%at+8], {%f0, %f1};\n",
                           4),
              (std::vector<float>{32, 496, 31, 465}));
}

} // namespace

} // namespace cuprum::emulator::test
