// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Elements of arrays, `table[%r1+2]`, as Dr.Jit writes them. What they mean was read off the code
// that ptxas 13.0 makes.

#include "exec/harness.hpp"

#include <algorithm>
#include <array>

namespace cuprum::emulator {

namespace {

using test::ptx_module;
using test::run;
using test::TestDevice;

} // namespace

TEST(Elements, arrays_in_every_space_take_registers_and_constants_as_index) {
    TestDevice device;
    auto* out = device.allocate<std::uint32_t>(12);
    const Fault fault = run(device, R"(
.global .align 8 .u64 in_global[4] = {10, 11, 12, 13};
.const .align 4 .u32 in_const[4] = {20, 21, 22, 23};
.func (.param .b32 result) second(.param .align 4 .b32 own[2], .param .b32 index) {
    .reg .b32 %r<3>;
    ld.param.b32 %r1, [index];
    ld.param.b32 %r2, own[%r1];
    st.param.b32 [result], %r2;
    ret;
}
.visible .entry k(.param .u64 out, .param .align 4 .b32 numbers[3]) {
    .reg .b16 %h; .reg .b32 %r<12>; .reg .b64 %rd<6>;
    .shared .align 4 .b32 in_shared[4][2];
    .local .align 4 .b32 in_local[4];
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, 1;
    mov.u16 %h, 2;
    mov.u64 %rd2, 3;
    ld.global.u64 %rd3, in_global[%r1];
    st.global.u32 [%rd1], %rd3;
    ld.const.u32 %r2, in_const[%h];
    st.global.u32 [%rd1+4], %r2;
    st.shared.u32 in_shared[%rd2+1], 40; // the fifth number
    ld.shared.u32 %r2, [in_shared+16];
    st.global.u32 [%rd1+8], %r2;
    st.local.u32 in_local[%r1+1], 50;
    ld.local.u32 %r2, in_local[2];
    st.global.u32 [%rd1+12], %r2;
    ld.param.u32 %r2, numbers[%r1];
    st.global.u32 [%rd1+16], %r2;
    ld.param.u32 %r2, numbers[2];
    st.global.u32 [%rd1+20], %r2;
    mov.u64 %rd4, in_global[%rd2];
    ld.global.u64 %rd3, [%rd4];
    st.global.u32 [%rd1+24], %rd3;
    mov.u32 %r3, in_shared[%r1];
    st.global.u32 [%rd1+28], %r3;
    cvta.shared.u64 %rd4, in_shared[4];
    ld.u32 %r2, [%rd4];
    st.global.u32 [%rd1+32], %r2;
    ld.u64 %rd3, in_global[%h];
    st.global.u32 [%rd1+36], %rd3;
    ld.u32 %r2, in_shared[%rd2+1];
    st.global.u32 [%rd1+40], %r2;
    {
        .param .align 4 .b8 pair[8];
        .param .b32 index;
        .param .b32 result;
        st.param.b32 [pair], 60;
        st.param.b32 [pair+4], 61;
        st.param.b32 [index], 1;
        call (result), second, (pair, index);
        ld.param.b32 %r2, [result];
    }
    st.global.u32 [%rd1+44], %r2;
    ret;
})",
                            {.block = 1}, out, std::array<std::uint32_t, 3>{1, 2, 3});
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    const std::uint32_t expected[] = {11, 22, 40, 50, 2, 3, 13, 4, 40, 12, 40, 61};
    EXPECT_TRUE(std::equal(std::begin(expected), std::end(expected), out))
        << testing::PrintToString(std::vector<std::uint32_t>(out, out + 12));
}

TEST(Elements, an_offset_has_32_bits) {
    TestDevice device;
    auto* out = device.allocate<std::uint64_t>(2);
    const Fault fault = run(device, R"(
.global .align 4 .u32 numbers[4];
.visible .entry k(.param .u64 out) {
    .reg .s32 %r1; .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [out];
    mov.s32 %r1, -1;
    mov.u64 %rd2, numbers;
    mov.u64 %rd3, numbers[%r1];
    sub.u64 %rd4, %rd3, %rd2;
    st.global.u64 [%rd1], %rd4;
    mov.u64 %rd3, numbers[-1];
    sub.u64 %rd4, %rd3, %rd2;
    st.global.u64 [%rd1+8], %rd4;
    ret;
})",
                            {.block = 1}, out);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    EXPECT_EQ(out[0], 0xfffffffcu);
    EXPECT_EQ(out[1], static_cast<std::uint64_t>(-4));
}

TEST(Elements, only_the_lanes_of_the_guard_store) {
    TestDevice device;
    auto* out = device.allocate<std::uint32_t>(32);
    const Fault fault = run(device, R"(
.visible .entry k(.param .u64 out) {
    .reg .b32 %r<3>; .reg .b64 %rd<3>; .reg .pred %p;
    .shared .align 4 .b32 numbers[32];
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    st.shared.u32 numbers[%r1], 0;
    setp.lt.u32 %p, %r1, 4;
    @%p st.shared.u32 numbers[%r1], %r1;
    ld.shared.u32 %r2, numbers[%r1];
    mad.wide.u32 %rd2, %r1, 4, %rd1;
    st.global.u32 [%rd2], %r2;
    ret;
})",
                            {.block = 32}, out);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
        EXPECT_EQ(out[lane], lane < 4 ? lane : 0);
    }
}

TEST(Elements, what_ptxas_refuses_is_refused) {
    const auto log_of = [](const std::string& instruction) {
        TestDevice device;
        EXPECT_EQ(device.compile(ptx_module(".global .align 4 .b32 table[4];\n.global .b32 one;\n"
                                            ".visible .entry k() {\n.reg .b32 %r<3>; .reg .f32 "
                                            "%f; .reg .b64 %rd;\n" +
                                            instruction + "\nret;\n}")),
                  nullptr)
            << instruction;
        return device.log;
    };
    const auto expect = [&](const std::string& instruction, const char* words) {
        const std::string log = log_of(instruction);
        EXPECT_NE(log.find(words), std::string::npos) << log;
    };
    expect("ld.global.u32 %r1, one[%r2];", "'one' is not an array");
    expect("ld.global.u32 %r1, other[%r2];", "'other' is not an array");
    expect("ld.global.u32 %r1, table[%f];", "'%f' is not a register that can be an index");
    expect("ld.global.u32 %r1, table[%r3];", "'%r3' is not a register that can be an index");
    expect("ld.global.u32 %r1, table[%r2-1];", "expected ']' after an index");
    expect("ld.global.u32 %r1, table[%tid.x];", "expected ']' after an index");
    expect("atom.global.add.u32 %r1, table[%r2], 1;", "operand 2 of 'atom' cannot be an element");
    expect("add.u64 %rd, table[2], 1;", "operand 2 of 'add' cannot be an element");
}

} // namespace cuprum::emulator
