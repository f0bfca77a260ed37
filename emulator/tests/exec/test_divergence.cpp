// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "exec/harness.hpp"

namespace cuprum::emulator {

namespace {

using test::Launch;
using test::run;
using test::TestDevice;

} // namespace

TEST(Divergence, every_thread_writes_its_index) {
    TestDevice device;
    auto* out = device.allocate<std::uint32_t>(100);
    const Fault fault = run(device, R"(
.visible .entry index(.param .u64 out, .param .u32 n) {
    .reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [n];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra DONE;
    mul.wide.u32 %rd3, %r5, 4;
    add.s64 %rd3, %rd2, %rd3;
    st.global.u32 [%rd3], %r5;
DONE:
    ret;
})",
                            {.grid = 3, .block = 40}, out, std::uint32_t{100});
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    for (std::uint32_t i = 0; i < 100; ++i) {
        ASSERT_EQ(out[i], i);
    }
}

TEST(Divergence, nested_loops_with_a_trip_count_per_lane) {
    TestDevice device;
    auto* out = device.allocate<std::uint32_t>(64);
    const Fault fault = run(device, R"(
.visible .entry nested(.param .u64 out) {
    .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, 0;       // sum
    mov.u32 %r3, 0;       // i
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra DONE;
OUTER:
    mov.u32 %r4, 0;       // j
    setp.eq.u32 %p2, %r3, 0;
    @%p2 bra NEXT;
INNER:
    add.u32 %r2, %r2, %r4;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p3, %r4, %r3;
    @%p3 bra INNER;
NEXT:
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p3, %r3, %r1;
    @%p3 bra OUTER;
DONE:
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r2;
    ret;
})",
                            {.block = 64}, out);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    for (std::uint32_t n = 0; n < 64; ++n) {
        std::uint32_t sum = 0;
        for (std::uint32_t i = 0; i < n; ++i) {
            for (std::uint32_t j = 0; j < i; ++j) {
                sum += j;
            }
        }
        ASSERT_EQ(out[n], sum) << n;
    }
}

TEST(Divergence, lanes_join_again_behind_a_branch) {
    TestDevice device;
    auto* out = device.allocate<std::uint32_t>(32);
    const Fault fault = run(device, R"(
.visible .entry join(.param .u64 out) {
    .reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %laneid;
    and.b32 %r2, %r1, 1;
    setp.eq.u32 %p1, %r2, 0;
    @%p1 bra EVEN;
    mov.u32 %r3, 5;
    bra.uni JOIN;
EVEN:
    mov.u32 %r3, 7;
JOIN:
    activemask.b32 %r4;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    add.u32 %r5, %r4, %r3;
    st.global.u32 [%rd3], %r5;
    ret;
})",
                            {}, out);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
        ASSERT_EQ(out[lane], 0xffffffffu + (lane % 2 == 0 ? 7 : 5)) << lane;
    }
}

TEST(Divergence, indexed_branch_sends_each_lane_to_its_target) {
    TestDevice device;
    auto* out = device.allocate<std::uint32_t>(32);
    const Fault fault = run(device, R"(
.visible .entry indexed(.param .u64 out) {
    .reg .b32 %r<6>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 3;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
TARGETS: .branchtargets A, B, C, B;
    brx.idx %r2, TARGETS;
A:  mov.u32 %r3, 10;
    bra END;
B:  mov.u32 %r3, 20;
    bra END;
C:  mov.u32 %r3, 30;
END:
    activemask.b32 %r4;
    popc.b32 %r5, %r4;
    add.u32 %r3, %r3, %r5;
    st.global.u32 [%rd3], %r3;
    ret;
})",
                            {}, out);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    constexpr std::uint32_t EXPECTED[] = {42, 52, 62, 52};
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
        ASSERT_EQ(out[lane], EXPECTED[lane % 4]) << lane;
    }
}

TEST(Divergence, a_lane_that_spins_on_another_lane_does_not_starve_it) {
    TestDevice device;
    auto* lock = device.allocate<std::uint32_t>(1);
    auto* count = device.allocate<std::uint32_t>(1);
    const Fault fault = run(device, R"(
.visible .entry locked(.param .u64 lock, .param .u64 count) {
    .reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [lock];
    ld.param.u64 %rd2, [count];
SPIN:
    atom.global.cas.b32 %r1, [%rd1], 0, 1;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra SPIN;
    ld.volatile.global.u32 %r2, [%rd2];
    add.u32 %r2, %r2, 1;
    st.volatile.global.u32 [%rd2], %r2;
    membar.gl;
    atom.global.exch.b32 %r3, [%rd1], 0;
    ret;
})",
                            {.grid = 2, .block = 48}, lock, count);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    EXPECT_EQ(*count, 96u);
}

TEST(Divergence, a_call_is_inlined_with_registers_of_its_own) {
    TestDevice device;
    auto* out = device.allocate<std::uint32_t>(32);
    const Fault fault = run(device, R"(
.func (.param .b32 result) twice_or_one(.param .b32 value) {
    .reg .pred %p<2>; .reg .b32 %r<4>;
    ld.param.u32 %r1, [value];
    setp.gt.u32 %p1, %r1, 15;
    @%p1 bra BIG;
    add.u32 %r2, %r1, %r1;
    st.param.b32 [result], %r2;
    ret;
BIG:
    st.param.b32 [result], 1;
    ret;
}
.visible .entry caller(.param .u64 out) {
    .reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .pred %p<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, 1000;
    setp.ne.u32 %p1, %r1, 3;
    {
        .param .b32 a; .param .b32 r;
        st.param.b32 [a], %r1;
        @%p1 call.uni (r), twice_or_one, (a);
        @%p1 ld.param.b32 %r2, [r];
    }
    {
        .param .b32 a; .param .b32 r;
        st.param.b32 [a], %r2;
        call.uni (r), twice_or_one, (a);
        ld.param.b32 %r3, [r];
    }
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r3;
    ret;
})",
                            {}, out);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    const auto twice_or_one = [](std::uint32_t v) { return v > 15 ? 1 : v + v; };
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
        ASSERT_EQ(out[lane], lane == 3 ? 1 : twice_or_one(twice_or_one(lane))) << lane;
    }
}

TEST(Divergence, rendezvous_waits_for_the_lanes_of_its_mask) {
    TestDevice device;
    auto* out = device.allocate<std::uint32_t>(32);
    // Odd lanes take a longer path to the same shuffle.
    const Fault fault = run(device, R"(
.visible .entry meet(.param .u64 out) {
    .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %laneid;
    and.b32 %r2, %r1, 1;
    setp.eq.u32 %p1, %r2, 0;
    mov.u32 %r4, %r1;
    @%p1 bra SHUFFLE;
    mov.u32 %r3, 0;
LOOP:
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p2, %r3, %r1;
    @%p2 bra LOOP;
    add.u32 %r4, %r3, 0;
SHUFFLE:
    shfl.sync.bfly.b32 %r5, %r4, 1, 31, -1;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r5;
    ret;
})",
                            {}, out);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
        ASSERT_EQ(out[lane], lane ^ 1) << lane;
    }
}

} // namespace cuprum::emulator
