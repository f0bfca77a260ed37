// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "exec/harness.hpp"

#include <algorithm>

namespace cuprum::emulator {

namespace {

using test::run;
using test::TestDevice;

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

} // namespace

TEST(Barriers, a_barrier_in_a_loop_orders_shared_memory) {
    TestDevice device;
    auto* out = device.allocate<std::uint32_t>(128);
    // In each round, every thread takes its right neighbour's value.
    const Fault fault = run(device, R"(
.visible .entry rotate(.param .u64 out, .param .u32 rounds) {
    .reg .pred %p<3>; .reg .b32 %r<12>; .reg .b64 %rd<4>;
    .shared .align 4 .b32 values[128];
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [rounds];
    mov.u32 %r2, %tid.x;
    mov.u32 %r10, values;
    shl.b32 %r3, %r2, 2;
    add.u32 %r4, %r10, %r3;
    add.u32 %r5, %r2, 1;
    and.b32 %r5, %r5, 127;
    shl.b32 %r5, %r5, 2;
    add.u32 %r6, %r10, %r5;
    st.shared.u32 [%r4], %r2;
    mov.u32 %r7, 0;
ROUND:
    bar.sync 0;
    ld.shared.u32 %r8, [%r6];
    bar.sync 0;
    st.shared.u32 [%r4], %r8;
    add.u32 %r7, %r7, 1;
    setp.lt.u32 %p1, %r7, %r1;
    @%p1 bra ROUND;
    mul.wide.u32 %rd2, %r2, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r8;
    ret;
})",
                            {.block = 128}, out, std::uint32_t{5});
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    for (std::uint32_t i = 0; i < 128; ++i) {
        ASSERT_EQ(out[i], (i + 5) % 128);
    }
}

TEST(Barriers, threads_that_have_exited_are_not_expected) {
    TestDevice device;
    auto* out = device.allocate<std::uint32_t>(1);
    // Threads from 20 on exit before the barrier: part of warp 0 and all of warp 2.
    const Fault fault = run(device, R"(
.visible .entry early(.param .u64 out) {
    .reg .pred %p<3>; .reg .b32 %r<4>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    setp.ge.u32 %p1, %r1, 20;
    @%p1 exit;
    bar.sync 0;
    red.global.add.u32 [%rd1], 1;
    bar.sync 0;
    ret;
})",
                            {.block = 70}, out);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    EXPECT_EQ(*out, 20u);
}

TEST(Barriers, a_thread_that_exits_late_releases_the_others) {
    TestDevice device;
    auto* out = device.allocate<std::uint32_t>(1);
    const Fault fault = run(device, R"(
.visible .entry late(.param .u64 out) {
    .reg .pred %p<3>; .reg .b32 %r<4>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, 0;
    setp.ne.u32 %p1, %r1, 63;
    @%p1 bra WAIT;
LOOP:
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p2, %r2, 20000;
    @%p2 bra LOOP;
    exit;
WAIT:
    bar.sync 0;
    red.global.add.u32 [%rd1], 1;
    ret;
})",
                            {.block = 64}, out);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    EXPECT_EQ(*out, 63u);
}

TEST(Barriers, reductions_count_and_combine_predicates) {
    TestDevice device;
    auto* out = device.allocate<std::uint32_t>(96 * 3);
    const Fault fault = run(device, R"(
.visible .entry reduce(.param .u64 out) {
    .reg .pred %p<6>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p1, %r1, 40;
    bar.red.popc.u32 %r2, 1, %p1;
    bar.red.and.pred %p2, 1, !%p1;
    bar.red.or.pred %p3, 1, %p1;
    selp.u32 %r3, 1, 0, %p2;
    selp.u32 %r4, 1, 0, %p3;
    mul.wide.u32 %rd2, %r1, 12;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r2;
    st.global.u32 [%rd3+4], %r3;
    st.global.u32 [%rd3+8], %r4;
    ret;
})",
                            {.block = 96}, out);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    for (std::uint32_t i = 0; i < 96; ++i) {
        ASSERT_EQ(out[i * 3], 40u);
        ASSERT_EQ(out[i * 3 + 1], 0u);
        ASSERT_EQ(out[i * 3 + 2], 1u);
    }
}

TEST(Barriers, producers_arrive_and_consumers_wait) {
    TestDevice device;
    auto* out = device.allocate<std::uint32_t>(32);
    // Warp 1 writes and only arrives; warp 0 waits for both.
    const Fault fault = run(device, R"(
.visible .entry handover(.param .u64 out) {
    .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
    .shared .align 4 .b32 values[32];
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mov.u32 %r5, values;
    and.b32 %r2, %r1, 31;
    shl.b32 %r3, %r2, 2;
    add.u32 %r4, %r5, %r3;
    setp.lt.u32 %p1, %r1, 32;
    @%p1 bra CONSUME;
    st.shared.u32 [%r4], %r1;
    barrier.arrive 3, 64;
    ret;
CONSUME:
    barrier.sync 3, 64;
    ld.shared.u32 %r6, [%r4];
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r6;
    ret;
})",
                            {.block = 64}, out);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    for (std::uint32_t i = 0; i < 32; ++i) {
        ASSERT_EQ(out[i], i + 32);
    }
}

TEST(Barriers, diverged_lanes_may_arrive_from_two_places) {
    TestDevice device;
    auto* out = device.allocate<std::uint32_t>(1);
    const Fault fault = run(device, R"(
.visible .entry places(.param .u64 out) {
    .reg .pred %p<3>; .reg .b32 %r<4>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p1, %r1, 7;
    @%p1 bra OTHER;
    barrier.sync 0;
    bra END;
OTHER:
    barrier.sync 0;
END:
    red.global.add.u32 [%rd1], 1;
    ret;
})",
                            {.block = 64}, out);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    EXPECT_EQ(*out, 64u);
}

TEST(Barriers, lanes_of_a_warp_at_different_aligned_barriers_are_a_fault) {
    TestDevice device;
    const Fault fault = run(device, R"(
.visible .entry diverged() {
    .reg .pred %p<3>; .reg .b32 %r<4>;
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p1, %r1, 7;
    @%p1 bra OTHER;
    bar.sync 0;
    bra END;
OTHER:
    bar.sync 0;
END:
    ret;
})",
                            {.block = 64});
    EXPECT_EQ(fault.kind, FaultKind::DivergentBarrier);
    EXPECT_TRUE(contains(fault.report, "lanes of a warp are at different barriers"))
        << fault.report;
    EXPECT_TRUE(contains(fault.report, "25 of them wait at PTX line 10")) << fault.report;
    EXPECT_TRUE(contains(fault.report, "at PTX line 13: bar.sync")) << fault.report;
}

TEST(Barriers, lanes_that_exchange_values_at_different_instructions_are_a_fault) {
    const auto diverged = [](const std::string& one, const std::string& other) {
        TestDevice device;
        return run(device,
                   ".visible .entry diverged() {\n.reg .pred %p<3>; .reg .b32 %r<4>;\n"
                   "mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 7;\n@%p1 bra OTHER;\n" +
                       one + "\nbra END;\nOTHER:\n" + other + "\nEND:\nret;\n}",
                   {.block = 64});
    };
    const std::string shuffle = "shfl.sync.idx.b32 %r2, %r1, 0, 31, -1;";
    const std::string vote = "vote.sync.any.pred %p2, %p1, -1;";
    const std::string meet = "bar.warp.sync -1;";
    for (const auto& [one, other] : {std::pair{shuffle, vote}, std::pair{shuffle, shuffle},
                                     std::pair{meet, shuffle}, std::pair{vote, meet}}) {
        const Fault fault = diverged(one, other);
        EXPECT_EQ(fault.kind, FaultKind::DivergentBarrier);
        EXPECT_TRUE(contains(fault.report, "at different instructions")) << fault.report;
        EXPECT_TRUE(contains(fault.report, "PTX line 9: " + one.substr(0, 8))) << fault.report;
        EXPECT_TRUE(contains(fault.report, "PTX line 12: " + other.substr(0, 8))) << fault.report;
    }
    EXPECT_EQ(diverged(meet, meet).kind, FaultKind::None);
    EXPECT_EQ(diverged("shfl.sync.idx.b32 %r2, %r1, 0, 31, 0xffffff80;",
                       "shfl.sync.idx.b32 %r2, %r1, 0, 31, 0x7f;")
                  .kind,
              FaultKind::None);
}

TEST(Barriers, a_deadlock_is_reported_with_the_place_of_every_warp) {
    TestDevice device;
    const Fault fault = run(device, R"(
.visible .entry stuck() {
    .reg .pred %p<3>; .reg .b32 %r<4>;
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p1, %r1, 32;
    @%p1 bra OTHER;
    bar.sync 1;
    ret;
OTHER:
    bar.sync 2;
    ret;
})",
                            {.block = 64});
    EXPECT_EQ(fault.kind, FaultKind::Deadlock);
    EXPECT_TRUE(contains(fault.report, "kernel stuck, block (0, 0, 0)")) << fault.report;
    EXPECT_TRUE(contains(fault.report, "warp 0: lanes 0-31 wait at barrier 2")) << fault.report;
    EXPECT_TRUE(contains(fault.report, "32 of 64 threads")) << fault.report;
    EXPECT_TRUE(contains(fault.report, "bar.sync 1;")) << fault.report;
}

TEST(Barriers, a_mask_that_names_a_lane_which_never_comes_is_a_deadlock_that_names_it) {
    TestDevice device;
    const Fault fault = run(device, R"(
.visible .entry missing() {
    .reg .pred %p<3>; .reg .b32 %r<4>;
    mov.u32 %r1, %laneid;
    setp.eq.u32 %p1, %r1, 5;
    @%p1 bra OTHER;
    bar.warp.sync -1;
    ret;
OTHER:
    bar.sync 2;
    ret;
})",
                            {});
    EXPECT_EQ(fault.kind, FaultKind::Deadlock);
    EXPECT_TRUE(contains(fault.report, "wait for lane 5 of their member mask")) << fault.report;
}

TEST(Barriers, the_report_of_a_deadlock_has_an_end) {
    TestDevice device;
    // Every lane waits for the next one, which waits for another.
    const Fault fault = run(device, R"(
.visible .entry ring() {
    .reg .pred %p<3>; .reg .b32 %r<4>;
    mov.u32 %r1, %laneid;
    shl.b32 %r2, 3, %r1;
    setp.eq.u32 %p1, %r1, 31;
    selp.b32 %r2, 0x80000001, %r2, %p1;
    and.b32 %r3, %r1, 1;
    setp.eq.u32 %p2, %r3, 0;
    @%p2 bra EVEN;
    bar.warp.sync %r2;
    ret;
EVEN:
    bar.warp.sync %r2;
    ret;
})",
                            {.block = 1024});
    EXPECT_EQ(fault.kind, FaultKind::Deadlock) << fault.report;
    EXPECT_TRUE(contains(fault.report, "more groups of lanes")) << fault.report;
    EXPECT_LT(std::count(fault.report.begin(), fault.report.end(), '\n'), 200);
}

TEST(Barriers, a_mask_may_name_lanes_that_have_exited) {
    TestDevice device;
    auto* out = device.allocate<std::uint32_t>(1);
    const Fault fault = run(device, R"(
.visible .entry gone(.param .u64 out) {
    .reg .pred %p<3>; .reg .b32 %r<4>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %laneid;
    setp.eq.u32 %p1, %r1, 5;
    @%p1 exit;
    bar.warp.sync -1;
    red.global.add.u32 [%rd1], 1;
    ret;
})",
                            {}, out);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    EXPECT_EQ(*out, 31u);
}

TEST(Barriers, a_reduction_is_delivered_at_every_call_depth) {
    // The lower lanes wait inside of a recursive function, the upper ones complete the barrier from
    // the kernel. Registers of one kind have the same place in both frames.
    TestDevice device;
    auto* out = device.allocate<std::uint32_t>(64);
    const Fault fault = run(device, R"(
.func (.param .b32 result) meet(.param .b32 depth) {
    .reg .pred %p<6>; .reg .b32 %r<8>;
    .param .b32 argument; .param .b32 answer;
    ld.param.b32 %r1, [depth];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra MEET;
    sub.u32 %r1, %r1, 1;
    st.param.b32 [argument], %r1;
    call (answer), meet, (argument);
    ld.param.b32 %r2, [answer];
    st.param.b32 [result], %r2;
    ret;
MEET:
    mov.u32 %r3, %tid.x;
    and.b32 %r3, %r3, 1;
    setp.eq.u32 %p2, %r3, 1;
    barrier.red.popc.u32 %r4, 0, %p2;
    barrier.red.or.pred %p3, 1, %p2;
    barrier.red.and.pred %p4, 2, %p2;
    selp.u32 %r5, 100, 0, %p3;
    selp.u32 %r6, 1000, 0, %p4;
    add.u32 %r4, %r4, %r5;
    add.u32 %r4, %r4, %r6;
    st.param.b32 [result], %r4;
    ret;
}
.visible .entry depths(.param .u64 out) {
    .reg .pred %p<6>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
    .param .b32 argument; .param .b32 answer;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd1, %rd1, %rd2;
    and.b32 %r2, %r1, 31;
    setp.ge.u32 %p1, %r2, 16;
    and.b32 %r3, %r1, 1;
    setp.eq.u32 %p2, %r3, 1;
    @%p1 bra KERNEL;
    st.param.b32 [argument], %r2;
    call (answer), meet, (argument);
    ld.param.b32 %r4, [answer];
    bra END;
KERNEL:
    barrier.red.popc.u32 %r4, 0, %p2;
    barrier.red.or.pred %p3, 1, %p2;
    barrier.red.and.pred %p4, 2, %p2;
    selp.u32 %r5, 100, 0, %p3;
    selp.u32 %r6, 1000, 0, %p4;
    add.u32 %r4, %r4, %r5;
    add.u32 %r4, %r4, %r6;
END:
    st.global.u32 [%rd1], %r4;
    ret;
})",
                            {.block = 64}, out);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    for (std::uint32_t i = 0; i < 64; ++i) {
        EXPECT_EQ(out[i], 132u) << i; // 32 odd threads, some of all, not all
    }
}

} // namespace cuprum::emulator
