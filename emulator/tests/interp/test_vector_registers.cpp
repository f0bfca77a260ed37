// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Registers with several components: .reg .v2 and .v4.

#include "support/operation.hpp"

namespace cuprum::emulator::test {

namespace {

using U = std::uint32_t;
using UL = std::uint64_t;

class VectorRegisters : public OnEveryLevel {};

INSTANTIATE_TEST_SUITE_P(levels, VectorRegisters, LEVELS);

const std::vector<U> WORDS{0, 1, 0x12345678, 0xffffffff};

TEST_P(VectorRegisters, components_are_registers) {
    const std::string declarations = ".reg .v4 .b32 %v;\n.reg .v2 .b32 %u;\n";
    expect_operation<U>(
        "@G mov.b32 %v.x, %a;\n@G mov.b32 %v.w, %b;\n@G sub.u32 %v.y, %v.x, %v.w;\n"
        "@G mov.b32 %u.y, %v.y;\n@G add.u32 %d, %u.y, 1;",
        each(WORDS, WORDS), [](U a, U b) { return a - b + 1; }, declarations);
    expect_operation<U>(
        "@G mov.b32 %v.r, %a;\n@G mov.b32 %v.g, %b;\n@G mov.b32 %v.b, 3;\n@G mov.b32 %v.a, 4;\n"
        "@G add.u32 %d, %v.x, %v.w;\n@G add.u32 %d, %d, %v.z;",
        each(WORDS, WORDS), [](U a, U) { return a + 7; }, declarations);
}

TEST_P(VectorRegisters, whole_ones_move_component_by_component) {
    expect_operation<U>(
        "@G mov.v2.b32 %v1, {%a, %b};\n@G mov.v2.b32 %v2, %v1;\n"
        "@G mov.v2.b32 %v2, {%v2.y, %v2.x};\n@G mov.v2.b32 {_, %t}, %v2;\n"
        "@G sub.u32 %d, %v2.x, %t;",
        each(WORDS, WORDS), [](U a, U b) { return b - a; }, ".reg .v2 .b32 %v<3>;\n");
    expect_operation<float>(
        "@G mov.v4.f32 %v, {%a, 0f40000000, %a, 3.0};\n@G mov.v4.f32 %v, %v;\n"
        "@G fma.rn.f32 %d, %v.x, %v.y, %v.w;",
        each(std::vector<float>{0.5f, -1.0f}), [](float a) { return a * 2 + 3; },
        ".reg .v4 .f32 %v;\n");
}

TEST_P(VectorRegisters, whole_ones_are_packed_and_unpacked) {
    expect_operation<UL>(
        "@G mov.v2.b32 %v, {%a, %b};\n@G mov.b64 %d, %v;", each(WORDS, WORDS),
        [](U a, U b) { return UL{b} << 32 | a; }, ".reg .v2 .b32 %v;\n");
    expect_operation<UL>(
        "@G mov.b64 %v, %a;\n@G mov.b64 %d, {%v.w, %v.z, %v.y, %v.x};",
        each(std::vector<UL>{0x0123456789abcdef}), [](UL) { return 0xcdef89ab45670123ull; },
        ".reg .v4 .b16 %v;\n");
}

TEST_P(VectorRegisters, the_innermost_declaration_counts) {
    expect_operation<U>(
        "@G mov.b32 %v.x, %a;\n{\n.reg .v2 .b32 %v;\n@G mov.b32 %v.x, 9;\n}\n@G mov.b32 %d, %v.x;",
        each(WORDS), [](U a) { return a; }, ".reg .v2 .b32 %v;\n");
}

/// Runs a kernel of one warp on an array; %at is the array and %l the lane.
std::vector<U> run_on_array(const std::string& body, std::vector<U> content) {
    TestDevice device;
    auto* const array = device.allocate<U>(content.size());
    std::copy(content.begin(), content.end(), array);
    const Fault fault = run(device,
                            ".visible .entry k(.param .u64 p, .param .v4 .u32 four)\n{\n"
                            ".reg .b64 %at;\n.reg .b32 %l;\n.reg .v2 .b32 %two;\n"
                            ".reg .v4 .b32 %v<4>;\nld.param.u64 %at, [p];\nmov.u32 %l, %tid.x;\n" +
                                body + "\nret;\n}\n",
                            {.grid = 1, .block = 1}, reinterpret_cast<std::uint64_t>(array),
                            std::array<U, 4>{5, 6, 7, 8});
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    return {array, array + content.size()};
}

TEST_P(VectorRegisters, loads_and_stores_take_whole_ones) {
    EXPECT_EQ(run_on_array("ld.global.v4.b32 %v0, [%at];\nmov.v4.b32 %v1, "
                           "{%v0.w, %v0.z, %v0.y, %v0.x};\nst.global.v4.b32 [%at+16], %v1;",
                           {1, 2, 3, 4, 0, 0, 0, 0}),
              (std::vector<U>{1, 2, 3, 4, 4, 3, 2, 1}));
    EXPECT_EQ(run_on_array("ld.param.v4.u32 %v2, [four];\nst.global.v4.u32 [%at], %v2;\n"
                           "ld.global.v2.u32 {%two.y, %v3.x}, [%at+8];\n"
                           "st.global.v2.u32 [%at+16], {%v3.x, %two.y};",
                           {0, 0, 0, 0, 0, 0}),
              (std::vector<U>{5, 6, 7, 8, 8, 7}));
    EXPECT_EQ(run_on_array(".shared .align 16 .b8 s[16];\nmov.v4.b32 %v0, {1, 2, 3, 4};\n"
                           "st.shared.v4.b32 [s], %v0;\nld.shared.v2.b32 %two, [s+8];\n"
                           "atom.global.add.u32 %v1.x, [%at], %two.x;\n"
                           "st.global.v2.b32 [%at+8], %two;",
                           {10, 0, 0, 0}),
              (std::vector<U>{13, 0, 3, 4}));
}

TEST_P(VectorRegisters, special_ones_move_whole) {
    EXPECT_EQ(run_on_array("mov.v4.u32 %v0, %ntid;\nst.global.v4.u32 [%at], %v0;\n"
                           "mov.v4.u32 %v0, %ctaid;\nmov.u32 %v0.x, %nctaid.r;\n"
                           "mov.u32 %v0.y, %tid.a;\nst.global.v4.u32 [%at+16], %v0;",
                           {9, 9, 9, 9, 9, 9, 9, 9}),
              (std::vector<U>{1, 1, 1, 0, 1, 0, 0, 0}));
}

TEST(VectorRegisterErrors, are_told_by_name) {
    const auto expect_refused = [](const std::string& body, const std::string& words) {
        TestDevice device;
        (void)device.compile(ptx_module(".visible .entry k()\n{\n.reg .b32 %r;\n.reg .v2 .b32 %v;\n"
                                        ".reg .v4 .b32 %w;\n" +
                                        body + "\nret;\n}\n"));
        EXPECT_NE(device.log.find(words), std::string::npos) << body << "\n" << device.log;
    };
    expect_refused("mov.b32 %r, %v.z;", "'%v.z' is not declared");
    expect_refused("mov.b32 %v.q, %r;", "'%v.q'");
    expect_refused("mov.v4.b32 %w, %v;", "vectors of 4 components");
    expect_refused("mov.v2.b32 %v, %r;", "vectors of 2 components");
    expect_refused("add.u32 %v, %v, %v;", "'add'");
    expect_refused(".reg .v2 .pred %p;", "a vector of predicates");
    expect_refused(".reg .v2 .b32 %v;", "declared twice");
}

} // namespace

} // namespace cuprum::emulator::test
