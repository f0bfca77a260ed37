// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "exec/harness.hpp"

namespace cuprum::emulator {

namespace {

using test::run;
using test::TestDevice;

constexpr const char* STORE = R"(
.visible .entry store(.param .u64 out) {
    .reg .b32 %r<9>; .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %tid.y;
    mov.u32 %r3, %ntid.x;
    mad.lo.u32 %r4, %r2, %r3, %r1;
    mov.u32 %r5, REGISTER;
    mul.wide.u32 %rd2, %r4, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r5;
    ret;
})";

/// Returns the value of a special register in each of 80 threads, a block of 10 by 8.
std::vector<std::uint32_t> values_of(const std::string& name) {
    TestDevice device;
    auto* out = device.allocate<std::uint32_t>(80);
    std::string text = STORE;
    text.replace(text.find("REGISTER"), 8, name);
    const Fault fault = run(device, text, {.grid = 1, .block = 10, .block_y = 8}, out);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    return {out, out + 80};
}

} // namespace

TEST(Specials, thread_indices_follow_the_shape_of_the_block) {
    const auto x = values_of("%tid.x");
    const auto y = values_of("%tid.y");
    for (std::uint32_t i = 0; i < 80; ++i) {
        ASSERT_EQ(x[i], i % 10);
        ASSERT_EQ(y[i], i / 10);
    }
}

TEST(Specials, lane_and_warp_values) {
    const auto lane = values_of("%laneid");
    const auto below = values_of("%lanemask_lt");
    const auto above = values_of("%lanemask_gt");
    const auto warp = values_of("%warpid");
    for (std::uint32_t i = 0; i < 80; ++i) {
        ASSERT_EQ(lane[i], i % 32);
        ASSERT_EQ(warp[i], i / 32);
        ASSERT_EQ(below[i], (1u << i % 32) - 1);
        ASSERT_EQ(above[i], ~below[i] & ~(1u << i % 32));
    }
}

TEST(Specials, launch_values) {
    EXPECT_EQ(values_of("%ntid.y")[3], 8u);
    EXPECT_EQ(values_of("%nctaid.z")[79], 1u);
    EXPECT_EQ(values_of("%nsmid")[0], 4u);
    EXPECT_EQ(values_of("WARP_SZ")[0], 32u);
    EXPECT_EQ(values_of("%cluster_nctarank")[0], 1u);
}

TEST(Specials, the_clock_advances) {
    TestDevice device;
    auto* out = device.allocate<std::uint64_t>(2);
    const Fault fault = run(device, R"(
.visible .entry clocks(.param .u64 out) {
    .reg .b64 %rd<9>; .reg .pred %p<2>; .reg .b32 %r<2>;
    ld.param.u64 %rd1, [out];
    mov.u64 %rd2, %clock64;
    mov.u64 %rd3, %globaltimer;
    mov.u32 %r1, 0;
AGAIN:
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p1, %r1, 1000;
    @%p1 bra AGAIN;
    mov.u64 %rd4, %clock64;
    mov.u64 %rd5, %globaltimer;
    sub.u64 %rd6, %rd4, %rd2;
    sub.u64 %rd7, %rd5, %rd3;
    st.global.u64 [%rd1], %rd6;
    st.global.u64 [%rd1+8], %rd7;
    ret;
})",
                            {.block = 1}, out);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    EXPECT_GT(out[0], 0u);
    EXPECT_GT(out[1], 0u);
    EXPECT_LT(out[1], 10'000'000'000u);
}

} // namespace cuprum::emulator
