// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Accesses of 32 adjacent lanes are checked as one. A bug in any lane must still be found and
// named.

#include "check/checked_kernel.hpp"

namespace cuprum::emulator {

namespace {

using test::expect_report;
using test::run_checked;
using test::TestDevice;

constexpr std::uint8_t ALL = CHECK_MEMORY | CHECK_INITIALIZED | CHECK_RACES;

const std::string ADDRESS = "mul.wide.u32 %rd1, %t, 4;\nadd.u64 %rd1, %rd1, %out;\n";
const std::string SHARED_READ =
    "add.u32 %r1, %r1, 1;\nmul.wide.u32 %rd1, %t, 4;\nadd.u64 %rd1, %rd1, %out;\n"
    "st.global.u32 [%rd1], %r1;\n";

TEST(WholeWarps, what_is_right_is_no_finding) {
    const std::string body = ADDRESS + "ld.global.u32 %r1, [%rd1];\nst.shared.u32 [%mine], %r1;\n"
                                       "bar.sync 0;\nxor.b32 %r2, %t4, 4;\nmov.u32 %r3, tile;\n"
                                       "add.u32 %r3, %r3, %r2;\nld.shared.u32 %r4, [%r3];\n"
                                       "ld.shared.u32 %r5, [tile];\nadd.u32 %r4, %r4, %r5;\n"
                                       "bar.sync 0;\nst.shared.u32 [%mine], %r4;\n"
                                       "st.global.u32 [%rd1], %r4;\n";
    for (const std::uint32_t block : {32u, 64u, 256u}) {
        EXPECT_EQ(run_checked(ALL, body, {.block = block}).kind, FaultKind::None) << block;
    }
}

TEST(WholeWarps, one_element_that_was_never_written) {
    TestDevice device;
    auto* const out = device.allocate<std::uint32_t>(64);
    device.enable_checks(CHECK_INITIALIZED);
    const std::string body = ADDRESS + "ld.global.u32 %r1, [%rd1];\nadd.u32 %r1, %r1, 1;\n"
                                       "st.global.u32 [%rd1], %r1;\n";
    EXPECT_EQ(run_checked(device, body, {.block = 64}, out).kind, FaultKind::None);
    device.forget(out + 37, 4);
    expect_report(run_checked(device, body, {.block = 64}, out), FaultKind::UninitializedRead,
                  {"read of 4 bytes", "thread (37, 0, 0)"});
    device.forget(out, 256);
    const std::string first = ADDRESS + "st.global.u32 [%rd1], 0;\nbar.sync 0;\n" + body;
    EXPECT_EQ(run_checked(device, first, {.block = 64}, out).kind, FaultKind::None);
}

TEST(WholeWarps, one_word_of_shared_memory_that_was_never_written) {
    expect_report(run_checked(CHECK_INITIALIZED,
                              "setp.ne.u32 %p1, %t, 19;\n@%p1 st.shared.u32 [%mine], 1;\n"
                              "bar.sync 0;\nld.shared.u32 %r1, [%mine];\n" +
                                  SHARED_READ,
                              {.block = 32}),
                  FaultKind::UninitializedRead, {"thread (19, 0, 0)", "76 bytes into"});
    expect_report(run_checked(CHECK_INITIALIZED, "ld.shared.u32 %r1, [tile+16];\n" + SHARED_READ,
                              {.block = 32}),
                  FaultKind::UninitializedRead, {"thread (0, 0, 0)", "16 bytes into"});
}

TEST(WholeWarps, warps_of_a_block_that_race_in_shared_memory) {
    // The second warp reads what the first one writes, without synchronisation.
    const std::string body = "and.b32 %r2, %t4, 127;\nmov.u32 %r3, tile;\nadd.u32 %r3, %r3, %r2;\n"
                             "setp.lt.u32 %p1, %t, 32;\n@%p1 bra WRITE;\nBARRIER\n"
                             "ld.shared.u32 %r1, [%r3];\nbra DONE;\n"
                             "WRITE: st.shared.u32 [%r3], %t;\nBARRIER\nDONE:\n";
    const auto with = [&](const std::string& barrier) {
        std::string text = body;
        for (std::size_t at = text.find("BARRIER"); at != std::string::npos;
             at = text.find("BARRIER")) {
            text.replace(at, 7, barrier);
        }
        return run_checked(CHECK_RACES, text, {.block = 64});
    };
    expect_report(with(""), FaultKind::Race, {"of 4 bytes", "shared variable 'tile'"});
    EXPECT_EQ(with("barrier.sync 0;").kind, FaultKind::None);
}

TEST(WholeWarps, readers_at_one_address_are_remembered) {
    expect_report(run_checked(CHECK_RACES,
                              "setp.lt.u32 %p1, %t, 32;\n@%p1 bra READ;\n"
                              "setp.eq.u32 %p2, %t, 32;\n@%p2 st.shared.u32 [tile], %t;\n"
                              "bra DONE;\nREAD: ld.shared.u32 %r1, [tile];\nDONE:\n",
                              {.block = 64}),
                  FaultKind::Race, {"shared variable 'tile'"});
}

TEST(WholeWarps, blocks_that_race_in_device_memory) {
    expect_report(
        run_checked(CHECK_RACES, ADDRESS + "st.global.u32 [%rd1], %b;\n", {.grid = 2, .block = 32}),
        FaultKind::Race, {"write of 4 bytes", "nothing orders it after the write"});
    EXPECT_EQ(
        run_checked(CHECK_RACES, ADDRESS + "st.global.u32 [%rd1], %t;\n", {.grid = 9, .block = 64})
            .kind,
        FaultKind::None)
        << "all write the same";
    EXPECT_EQ(
        run_checked(CHECK_RACES, ADDRESS + "ld.global.u32 %r1, [%rd1];\n", {.grid = 9, .block = 64})
            .kind,
        FaultKind::None)
        << "all read";
    expect_report(run_checked(CHECK_RACES,
                              ADDRESS + "setp.eq.u32 %p1, %b, 0;\n@%p1 bra WRITE;\n"
                                        "ld.global.u32 %r1, [%rd1];\nbra DONE;\n"
                                        "WRITE: st.global.u32 [%rd1], %t;\nDONE:\n",
                              {.grid = 2, .block = 32}),
                  FaultKind::Race, {"of block ("});
}

} // namespace

} // namespace cuprum::emulator
