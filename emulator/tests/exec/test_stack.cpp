// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Memory from the stack: alloca, stacksave, stackrestore.

#include "exec/harness.hpp"

namespace cuprum::emulator {

namespace {

using test::TestDevice;
using U = std::uint32_t;

const std::string HEAD = R"(.visible .entry k(.param .u64 pout)
{
    .reg .b64 %out, %d<8>;
    .reg .b32 %l, %r<8>;
    .reg .pred %p;
    ld.param.u64 %out, [pout];
    mov.u32 %l, %tid.x;
    mad.wide.u32 %out, %l, 4, %out;
)";

TEST(Stack, each_thread_takes_as_much_as_it_asks_for) {
    // Thread l allocates two arrays of l + 1 words, fills both and adds them up.
    TestDevice device;
    auto* const out = device.allocate<U>(32);
    const Fault fault = test::run(device, HEAD + R"(
    add.u32 %r0, %l, 1;
    mul.wide.u32 %d0, %r0, 4;
    alloca.u64 %d1, %d0;
    alloca.u64 %d2, %d0, 16;
    mov.u32 %r1, 0;
FILL:
    mul.wide.u32 %d3, %r1, 4;
    add.u64 %d4, %d1, %d3;
    st.local.u32 [%d4], %r1;
    add.u64 %d4, %d2, %d3;
    add.u32 %r2, %r1, 1000;
    st.local.u32 [%d4], %r2;
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p, %r1, %r0;
    @%p bra FILL;
    mov.u32 %r3, 0;
SUM:
    sub.u32 %r1, %r1, 1;
    mul.wide.u32 %d3, %r1, 4;
    add.u64 %d4, %d1, %d3;
    ld.local.u32 %r2, [%d4];
    add.u32 %r3, %r3, %r2;
    cvta.local.u64 %d5, %d2;
    add.u64 %d4, %d5, %d3;
    ld.u32 %r2, [%d4];
    add.u32 %r3, %r3, %r2;
    setp.ne.u32 %p, %r1, 0;
    @%p bra SUM;
    st.global.u32 [%out], %r3;
    ret;
}
)",
                                  {}, reinterpret_cast<std::uint64_t>(out));
    ASSERT_EQ(fault.kind, FaultKind::None) << fault.report;
    for (U lane = 0; lane < 32; ++lane) {
        EXPECT_EQ(out[lane], lane * (lane + 1) + 1000 * (lane + 1)) << lane;
    }
}

TEST(Stack, what_is_restored_is_taken_again) {
    // Allocates 1,000 bytes a hundred times, frees them each time, and then gets the first address
    // again.
    TestDevice device;
    auto* const out = device.allocate<U>(32);
    const Fault fault = test::run(device, HEAD + R"(
    mov.u32 %r0, 0;
    mov.u64 %d3, 0;
LOOP:
    stacksave.u64 %d0;
    alloca.u64 %d1, 1000;
    st.local.u32 [%d1+996], %r0;
    add.u64 %d3, %d3, %d1;
    stackrestore.u64 %d0;
    add.u32 %r0, %r0, 1;
    setp.lt.u32 %p, %r0, 100;
    @%p bra LOOP;
    mul.lo.u64 %d1, %d1, 100;
    setp.eq.u64 %p, %d1, %d3;
    selp.u32 %r1, 1, 0, %p;
    st.global.u32 [%out], %r1;
    ret;
}
)",
                                  {}, reinterpret_cast<std::uint64_t>(out));
    ASSERT_EQ(fault.kind, FaultKind::None) << fault.report;
    EXPECT_EQ(out[0], 1u);
}

TEST(Stack, a_function_gives_back_what_it_took_when_it_returns) {
    TestDevice device;
    auto* const out = device.allocate<U>(32);
    const Fault fault = test::run(device, R"(.func take(.reg .u32 %n)
{
    .reg .b64 %d<2>;
    alloca.u64 %d0, 5000;
    st.local.u32 [%d0], %n;
    ret;
}
)" + HEAD + R"(
    mov.u32 %r0, 0;
LOOP:
    call take, (%r0);
    add.u32 %r0, %r0, 1;
    setp.lt.u32 %p, %r0, 50;
    @%p bra LOOP;
    st.global.u32 [%out], %r0;
    ret;
}
)",
                                  {}, reinterpret_cast<std::uint64_t>(out));
    ASSERT_EQ(fault.kind, FaultKind::None) << fault.report;
    EXPECT_EQ(out[31], 50u);
}

TEST(Stack, taking_too_much_is_an_overflow) {
    TestDevice device;
    auto* const out = device.allocate<U>(32);
    const Fault fault = test::run(device, HEAD + R"(
    mul.wide.u32 %d0, %l, 1000;
    alloca.u64 %d1, %d0;
    st.global.u32 [%out], %l;
    ret;
}
)",
                                  {}, reinterpret_cast<std::uint64_t>(out));
    EXPECT_EQ(fault.kind, FaultKind::StackOverflow);
    EXPECT_NE(fault.report.find("alloca of 9000 bytes with 0 taken"), std::string::npos)
        << fault.report;
    EXPECT_NE(fault.report.find("thread (9, 0, 0)"), std::string::npos) << fault.report;
}

} // namespace

} // namespace cuprum::emulator
