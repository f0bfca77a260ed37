// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Parameters, and the memory spaces that the passes lay out.

#include "exec/harness.hpp"

namespace cuprum::emulator {

namespace {

using test::ptx_module;
using test::run;
using test::TestDevice;

} // namespace

TEST(Memory, dynamic_shared_memory_lies_behind_the_static_one) {
    TestDevice device;
    auto* out = device.allocate<std::uint32_t>(4);
    const Fault fault = run(device, R"(
.extern .shared .align 16 .b8 dynamic[];
.shared .align 4 .b8 module_static[20];
.visible .entry shared(.param .u64 out) {
    .reg .b32 %r<8>; .reg .b64 %rd<4>;
    .shared .align 4 .b32 own[3];
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, dynamic;
    mov.u32 %r2, %dynamic_smem_size;
    mov.u32 %r3, own;
    mov.u32 %r4, module_static;
    st.shared.u32 [dynamic+60], 77;
    ld.shared.u32 %r5, [%r1+60];
    st.global.u32 [%rd1], %r1;
    st.global.u32 [%rd1+4], %r2;
    sub.u32 %r6, %r4, %r3;
    st.global.u32 [%rd1+8], %r6;
    st.global.u32 [%rd1+12], %r5;
    ret;
})",
                            {.block = 1, .dynamic_shared_bytes = 64}, out);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    EXPECT_EQ(out[0], 32u); // 12 + 20 bytes are static
    EXPECT_EQ(out[1], 64u);
    EXPECT_EQ(out[2], 12u);
    EXPECT_EQ(out[3], 77u);
}

TEST(Memory, an_extern_shared_array_with_a_size_is_static) {
    // ptxas gives it this size, and Taichi relies on it.
    TestDevice device;
    auto* out = device.allocate<std::uint32_t>(2);
    const Fault fault = run(device, R"(
.extern .shared .align 8 .b8 sized[512];
.extern .shared .align 8 .b8 dynamic[];
.visible .entry shared(.param .u64 out) {
    .reg .b32 %r<3>; .reg .b64 %rd1;
    ld.param.u64 %rd1, [out];
    st.shared.u32 [sized+508], 7;
    ld.shared.u32 %r1, [sized+508];
    mov.u32 %r2, dynamic;
    st.global.u32 [%rd1], %r1;
    st.global.u32 [%rd1+4], %r2;
    ret;
})",
                            {.block = 1}, out);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    EXPECT_EQ(out[0], 7u);
    EXPECT_EQ(out[1], 512u);
}

TEST(Memory, an_access_behind_dynamic_shared_memory_is_a_fault) {
    TestDevice device;
    const Fault fault = run(device, R"(
.extern .shared .align 4 .b8 dynamic[];
.visible .entry beyond() {
    st.shared.u32 [dynamic+128], 1;
    ret;
})",
                            {.block = 1, .dynamic_shared_bytes = 64});
    EXPECT_NE(fault.kind, FaultKind::None);
}

// Compilers read a whole vector of which they need the first elements.
TEST(Memory, the_last_unit_of_shared_memory_may_be_read_whole) {
    TestDevice device;
    auto* out = device.allocate<std::uint32_t>(1);
    const Fault fault = run(device, R"(
.extern .shared .align 16 .b8 dynamic[];
.visible .entry vector(.param .u64 out) {
    .reg .b32 %r<5>; .reg .b64 %rd;
    ld.param.u64 %rd, [out];
    st.shared.u32 [dynamic+24], 5;
    ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [dynamic+16];
    st.global.u32 [%rd], %r3;
    ret;
})",
                            {.block = 1, .dynamic_shared_bytes = 28}, out);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    EXPECT_EQ(*out, 5u);
}

TEST(Memory, parameters_are_packed_and_extended_as_declared) {
    TestDevice device;
    auto* out = device.allocate<std::int64_t>(4);
    const auto kernel = device.compile(ptx_module(R"(
.visible .entry packed(.param .s8 a, .param .u16 b, .param .u64 out, .param .f32 c) {
    .reg .b32 %r<4>; .reg .b64 %rd<6>; .reg .b16 %rs<3>; .reg .f32 %f<2>;
    ld.param.u64 %rd1, [out];
    ld.param.s8 %rd2, [a];
    ld.param.u16 %r2, [b];
    ld.param.f32 %f1, [c];
    cvt.u64.u32 %rd3, %r2;
    mov.b32 %r3, %f1;
    cvt.u64.u32 %rd4, %r3;
    st.global.u64 [%rd1], %rd2;
    st.global.u64 [%rd1+8], %rd3;
    st.global.u64 [%rd1+16], %rd4;
    ret;
})"));
    ASSERT_TRUE(kernel) << device.log;
    ASSERT_EQ(kernel->parameters.size(), 4u);
    EXPECT_EQ(kernel->parameters[1].offset, 2u);
    EXPECT_EQ(kernel->parameters[2].offset, 8u);
    EXPECT_EQ(kernel->parameters[3].offset, 16u);
    EXPECT_EQ(kernel->parameter_bytes, 20u);
    const Fault fault =
        test::Launch(device, kernel, {.block = 1}, std::int8_t{-3}, std::uint16_t{65000}, out, 1.0f)
            .wait();
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    EXPECT_EQ(out[0], -3);
    EXPECT_EQ(out[1], 65000);
    EXPECT_EQ(out[2], 0x3f800000);
}

TEST(Memory, the_address_of_a_parameter_can_be_taken) {
    struct Big {
        std::uint32_t values[8];
    };

    TestDevice device;
    auto* out = device.allocate<std::uint32_t>(8);
    // Each thread reads a different element, once through .param and once through a generic
    // address.
    const Fault fault = run(device, R"(
.visible .entry indexed(.param .align 4 .b8 big[32], .param .u64 out) {
    .reg .b32 %r<6>; .reg .b64 %rd<8>;
    .shared .align 4 .b32 other[5];
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    st.shared.u32 [other], %r1;
    mul.wide.u32 %rd2, %r1, 4;
    mov.b64 %rd3, big;
    add.s64 %rd4, %rd3, %rd2;
    ld.param.u32 %r2, [%rd4];
    cvta.param.u64 %rd5, %rd4;
    ld.u32 %r3, [%rd5];
    add.u32 %r4, %r2, %r3;
    add.s64 %rd6, %rd1, %rd2;
    st.global.u32 [%rd6], %r4;
    ret;
})",
                            {.block = 8}, Big{{1, 2, 3, 4, 5, 6, 7, 8}}, out);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    for (std::uint32_t i = 0; i < 8; ++i) {
        ASSERT_EQ(out[i], 2 * (i + 1));
    }
}

TEST(Memory, what_the_system_reserves_in_shared_memory_is_apart_from_what_the_kernel_declares) {
    TestDevice device;
    auto* out = device.allocate<std::uint32_t>(8);
    constexpr const char* code = R"(
.extern .shared .align 4 .b8 dynamic[];
.visible .entry reserved(.param .u64 out) {
    .shared .align 4 .b32 own[5];
    .reg .b32 %r<12>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %reserved_smem_offset_begin;
    mov.u32 %r2, %reserved_smem_offset_0;
    mov.u32 %r3, %reserved_smem_offset_1;
    mov.u32 %r4, %reserved_smem_offset_end;
    mov.u32 %r5, %reserved_smem_offset_cap;
    mov.u32 %r6, dynamic;
    st.shared.u32 [own], 1;
    st.shared.u32 [dynamic], 2;
    cvt.u64.u32 %rd2, %r3;
    cvta.shared.u64 %rd3, %rd2;
    atom.or.b32 %r7, [%rd3], 4;
    st.shared.u32 [%r4+-4], 3;
    ld.shared.u32 %r8, [own];
    ld.shared.u32 %r9, [dynamic];
    st.global.v4.u32 [%rd1], {%r1, %r2, %r3, %r4};
    st.global.v4.u32 [%rd1+16], {%r5, %r6, %r7, %r8};
    ret;
})";
    const auto kernel = device.compile(test::ptx_module(code));
    ASSERT_TRUE(kernel) << device.log;
    EXPECT_EQ(kernel->static_shared_bytes, 20u);
    for (int round = 0; round < 2; ++round) { // a block must find the memory cleared
        const Fault fault =
            test::Launch(device, kernel, {.block = 1, .dynamic_shared_bytes = 64}, out).wait();
        ASSERT_EQ(fault.kind, FaultKind::None) << fault.report;
        EXPECT_GE(out[0], 20u);
        EXPECT_EQ(out[1], out[0]);
        EXPECT_GT(out[2], out[1]);
        EXPECT_GE(out[3] - out[2], 288u); // the size that cooperative groups request
        EXPECT_EQ(out[3] - out[0], out[4]);
        EXPECT_GE(out[5], out[3]);
        EXPECT_EQ(out[6], 0u);
        EXPECT_EQ(out[7], 1u);
    }
}

TEST(Memory, narrow_loads_can_acquire) {
    TestDevice device;
    auto* out = device.allocate<std::uint32_t>(8);
    out[0] = 0xfff18285;
    const Fault fault = run(device, R"(
.visible .entry acquire(.param .u64 out) {
    .reg .b16 %h<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.acquire.gpu.b16 %h1, [%rd1];
    ld.acquire.gpu.global.s8 %r1, [%rd1+1];
    ld.acquire.cta.u32 %rd2, [%rd1];
    cvt.u32.u16 %r2, %h1;
    cvt.u32.u64 %r3, %rd2;
    st.release.gpu.u16 [%rd1+16], %h1;
    st.global.u32 [%rd1+4], %r1;
    st.global.u32 [%rd1+8], %r2;
    st.global.u32 [%rd1+12], %r3;
    ret;
})",
                            {.block = 1}, out);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    EXPECT_EQ(out[1], 0xffffff82);
    EXPECT_EQ(out[2], 0x8285u);
    EXPECT_EQ(out[3], 0xfff18285);
    EXPECT_EQ(out[4], 0x8285u);
}

TEST(Memory, every_thread_has_its_own_local_memory) {
    TestDevice device;
    auto* out = device.allocate<std::uint32_t>(64);
    const Fault fault = run(device, R"(
.visible .entry local(.param .u64 out) {
    .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<8>;
    .local .align 8 .b8 depot[40];
    ld.param.u64 %rd1, [out];
    mov.u64 %rd2, depot;
    cvta.local.u64 %rd3, %rd2;
    mov.u32 %r1, %tid.x;
    st.local.u32 [%rd2+36], %r1;
    bar.sync 0;
    ld.u32 %r2, [%rd3+36];
    mul.wide.u32 %rd4, %r1, 4;
    add.s64 %rd5, %rd1, %rd4;
    st.global.u32 [%rd5], %r2;
    ret;
})",
                            {.block = 64}, out);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    for (std::uint32_t i = 0; i < 64; ++i) {
        ASSERT_EQ(out[i], i);
    }
}

TEST(Memory, structures_are_passed_to_functions_in_memory) {
    TestDevice device;
    auto* out = device.allocate<std::uint32_t>(32);
    // The callee indexes its parameter, so the parameter cannot be in registers.
    const Fault fault = run(device, R"(
.func (.param .b32 result) pick(.param .align 4 .b8 data[16], .param .b32 which) {
    .reg .b32 %r<4>; .reg .b64 %rd<4>;
    mov.b64 %rd1, data;
    ld.param.u32 %r1, [which];
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.param.u32 %r2, [%rd3];
    st.param.b32 [result], %r2;
    ret;
}
.visible .entry structures(.param .u64 out) {
    .reg .b32 %r<8>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 3;
    {
        .param .align 4 .b8 d[16]; .param .b32 w; .param .b32 r;
        st.param.v2.b32 [d], {10, 20};
        st.param.b32 [d+8], %r1;
        st.param.b32 [d+12], 40;
        st.param.b32 [w], %r2;
        call.uni (r), pick, (d, w);
        ld.param.b32 %r3, [r];
    }
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r3;
    ret;
})",
                            {}, out);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    for (std::uint32_t i = 0; i < 32; ++i) {
        const std::uint32_t expected[] = {10, 20, i, 40};
        ASSERT_EQ(out[i], expected[i % 4]) << i;
    }
}

TEST(Memory, global_and_constant_variables_are_initialised) {
    TestDevice device;
    auto* out = device.allocate<std::uint32_t>(3);
    const Fault fault = run(device, R"(
.global .align 4 .u32 numbers[4] = {1, 2, 3};
.const .align 4 .f32 factors[2] = {0f3F800000, 0f40000000};
.visible .entry variables(.param .u64 out) {
    .reg .b32 %r<4>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.global.u32 %r1, [numbers+8];
    mov.u64 %rd2, factors;
    ld.const.b32 %r2, [%rd2+4];
    ld.global.u32 %r3, [numbers+12];
    st.global.u32 [%rd1], %r1;
    st.global.u32 [%rd1+4], %r2;
    st.global.u32 [%rd1+8], %r3;
    ret;
})",
                            {.block = 1}, out);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    EXPECT_EQ(out[0], 3u);
    EXPECT_EQ(out[1], 0x40000000u);
    EXPECT_EQ(out[2], 0u);
}

} // namespace cuprum::emulator
