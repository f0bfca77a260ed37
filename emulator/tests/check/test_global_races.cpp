// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Races on device memory between blocks of a grid.

#include "check/checked_kernel.hpp"

namespace cuprum::emulator {

namespace {

using test::expect_report;
using test::run_checked;
using test::Shape;
using test::TestDevice;

Fault races(const std::string& body, Shape shape) {
    return run_checked(CHECK_RACES, body, shape);
}

TEST(GlobalRaces, two_blocks_that_write_one_place_are_a_race) {
    expect_report(races("st.global.u32 [%out], %b;\n", {.grid = 2, .block = 1}), FaultKind::Race,
                  {"write of 4 bytes at 0x",
                   "nothing orders it after the write by thread (0, 0, 0)", "of block (",
                   "st.global.u32 [%out], %b;"});
    EXPECT_EQ(races("st.global.u32 [%out], 1;\n", {.grid = 9, .block = 32}).kind, FaultKind::None)
        << "all write the same";
    EXPECT_EQ(races("mul.wide.u32 %rd1, %b, 4;\nadd.u64 %rd1, %rd1, %out;\n"
                    "st.global.u32 [%rd1], %b;\n",
                    {.grid = 9, .block = 1})
                  .kind,
              FaultKind::None)
        << "each writes its own place";
}

TEST(GlobalRaces, reading_what_another_block_writes_is_a_race) {
    expect_report(races("setp.eq.u32 %p0, %b, 0;\n@%p0 st.global.u32 [%out], 3;\n"
                        "@!%p0 ld.global.u32 %r1, [%out];\n",
                        {.grid = 2, .block = 1}),
                  FaultKind::Race, {"of block ("});
}

TEST(GlobalRaces, bytes_of_one_word_may_belong_to_different_blocks) {
    EXPECT_EQ(races("cvt.u64.u32 %rd1, %b;\nadd.u64 %rd1, %rd1, %out;\nst.global.u8 [%rd1], %b;\n",
                    {.grid = 8, .block = 1})
                  .kind,
              FaultKind::None);
}

TEST(GlobalRaces, atomic_and_volatile_accesses_are_no_races) {
    EXPECT_EQ(races("red.global.add.u32 [%out], 1;\nst.volatile.global.u32 [%out+4], %b;\n"
                    "ld.relaxed.gpu.global.u32 %r1, [%out+4];\n",
                    {.grid = 4, .block = 32})
                  .kind,
              FaultKind::None);
}

/// Block 0 writes data and sets a flag. The others wait for the flag and read the data.
std::string hand_over(const char* before_flag) {
    return std::string("setp.ne.u32 %p0, %b, 0;\n@%p0 bra WAIT;\nst.global.u32 [%out], 42;\n") +
           before_flag +
           "\nst.volatile.global.u32 [%out+64], 1;\nbra END;\nWAIT:\n"
           "ld.volatile.global.u32 %r1, [%out+64];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra WAIT;\n"
           "ld.global.u32 %r2, [%out];\nEND:\n";
}

TEST(GlobalRaces, a_fence_before_the_flag_orders_and_without_one_it_is_a_race) {
    const Shape shape{.grid = 4, .block = 1};
    EXPECT_EQ(races(hand_over("fence.acq_rel.gpu;"), shape).kind, FaultKind::None);
    EXPECT_EQ(races(hand_over("membar.gl;"), shape).kind, FaultKind::None);
    expect_report(races(hand_over(""), shape), FaultKind::Race,
                  {"read of 4 bytes", "the write by thread (0, 0, 0) of block (0, 0, 0)"});
    expect_report(races(hand_over("fence.acq_rel.cta;"), shape), FaultKind::Race,
                  {"read of 4 bytes"});
}

TEST(GlobalRaces, the_next_launch_starts_afresh) {
    TestDevice device;
    auto* const out = device.allocate<std::uint32_t>(16);
    device.enable_checks(CHECK_RACES);
    for (int i = 0; i < 3; ++i) {
        const Fault fault =
            run_checked(device, "ld.global.u32 %r1, [%out];\nst.global.u32 [%out], %t;\n",
                        {.grid = 1, .block = 1}, out);
        EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    }
}

} // namespace

} // namespace cuprum::emulator
