// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Races on shared memory: each kind once, and the synchronisation that fixes it. The schedule
// decides which of the two accesses comes first.

#include "check/checked_kernel.hpp"

namespace cuprum::emulator {

namespace {

using test::expect_report;
using test::run_checked;
using test::Shape;

constexpr Shape TWO_WARPS{.block = 64};
constexpr const char* WRITE_MINE = "st.shared.u32 [%mine], %t;\n";
/// Reads the element of the thread 32 further on, modulo 64. Another warp writes it.
constexpr const char* READ_OTHER = "xor.b32 %r1, %t4, 128;\nmov.u32 %r2, tile;\n"
                                   "add.u32 %r1, %r1, %r2;\nld.shared.u32 %r3, [%r1];\n";
constexpr const char* SYNC = "bar.sync 0;\n";

Fault races(const std::string& body, Shape shape = TWO_WARPS) {
    return run_checked(CHECK_RACES, body, shape);
}

TEST(SharedRaces, a_read_of_what_another_warp_writes_needs_a_barrier) {
    const Fault fault = races(std::string(WRITE_MINE) + READ_OTHER);
    expect_report(fault, FaultKind::Race,
                  {" of 4 bytes at 0x", "nothing orders it after the ", " by thread (",
                   "bytes into shared variable 'tile' of 4096 bytes", "st.shared.u32 [%mine], %t;",
                   "in kernel planted, block (0, 0, 0), thread (", "ld.shared.u32 %r3, [%r1];"});
    EXPECT_EQ(races(std::string(WRITE_MINE) + SYNC + READ_OTHER).kind, FaultKind::None);
}

TEST(SharedRaces, a_write_of_what_another_warp_reads_needs_a_barrier) {
    const std::string read_first = std::string(WRITE_MINE) + SYNC + READ_OTHER;
    expect_report(races(read_first + WRITE_MINE), FaultKind::Race,
                  {"st.shared.u32 [%mine], %t;", "ld.shared.u32 %r3, [%r1];"});
    EXPECT_EQ(races(read_first + SYNC + WRITE_MINE).kind, FaultKind::None);
}

TEST(SharedRaces, a_write_is_remembered_behind_many_reads_of_its_own_warp) {
    // Warp 0 reads, then warp 1 reads and writes. The read of warp 0 must be remembered.
    const Fault fault = races("st.shared.u32 [tile], 5;\nbar.sync 0;\nld.shared.u32 %r1, [tile];\n"
                              "setp.eq.u32 %p1, %t, 63;\n@%p1 st.shared.u32 [tile], %t;\n");
    expect_report(fault, FaultKind::Race, {"the read by thread ("});
}

TEST(SharedRaces, different_values_at_one_place_are_a_race_and_equal_ones_are_not) {
    expect_report(races("st.shared.u32 [tile], %t;\n", {.block = 32}), FaultKind::Race,
                  {"write of 4 bytes", "the write by thread (0, 0, 0)"});
    EXPECT_EQ(races("st.shared.u32 [tile], 7;\n").kind, FaultKind::None);
    EXPECT_EQ(races("mov.u32 %r1, 7;\nst.shared.v2.u32 [tile], {%r1, %r1};\n").kind,
              FaultKind::None);
}

TEST(SharedRaces, lanes_of_one_warp_need_a_warp_barrier) {
    const std::string read_next = "xor.b32 %r1, %t4, 4;\nmov.u32 %r2, tile;\n"
                                  "add.u32 %r1, %r1, %r2;\nld.shared.u32 %r3, [%r1];\n";
    const Shape shape{.block = 32};
    expect_report(races(WRITE_MINE + read_next, shape), FaultKind::Race, {"read of 4 bytes"});
    EXPECT_EQ(races(WRITE_MINE + std::string("bar.warp.sync -1;\n") + read_next, shape).kind,
              FaultKind::None);
    EXPECT_EQ(races(WRITE_MINE + std::string("bar.sync 0;\n") + read_next, shape).kind,
              FaultKind::None);
    // Nothing else orders the memory accesses of lanes. compute-sanitizer's racecheck on an H200
    // agrees.
    for (const char* const between :
         {"shfl.sync.idx.b32 %r9, %t, 0, 31, -1;\n", "vote.sync.ballot.b32 %r9, %p0, -1;\n",
          "vote.sync.any.pred %p1, %p0, -1;\n", "redux.sync.add.u32 %r9, %t, -1;\n",
          "match.any.sync.b32 %r9, %t, -1;\n", "activemask.b32 %r9;\n", "membar.cta;\n",
          "fence.acq_rel.cta;\n", "fence.sc.gpu;\n"}) {
        expect_report(races(WRITE_MINE + std::string(between) + read_next, shape), FaultKind::Race,
                      {"read of 4 bytes"});
    }
}

TEST(SharedRaces, a_value_that_one_lane_writes_for_all_needs_a_warp_barrier) {
    const std::string write = "setp.eq.u32 %p0, %l, 0;\n@%p0 st.shared.u32 [tile], 42;\n";
    const std::string read = "ld.shared.u32 %r1, [tile];\n";
    const Shape shape{.block = 32};
    expect_report(races(write + read, shape), FaultKind::Race,
                  {"read of 4 bytes", "nothing orders it after the write by thread (0, 0, 0)"});
    EXPECT_EQ(races(write + "bar.warp.sync -1;\n" + read, shape).kind, FaultKind::None);
    // Writes again while other threads may still read: the other half of the same bug.
    expect_report(
        races(write + "bar.warp.sync -1;\n" + read + "@%p0 st.shared.u32 [tile], %l;\n", shape),
        FaultKind::Race, {"write of 4 bytes", "the read by thread ("});
    EXPECT_EQ(races(write + "bar.warp.sync -1;\n" + read + "bar.warp.sync -1;\n" +
                        "@%p0 st.shared.u32 [tile], %l;\n",
                    shape)
                  .kind,
              FaultKind::None);
}

TEST(SharedRaces, lanes_on_different_paths_race_too) {
    const auto body = [](const std::string& meet) {
        return "setp.lt.u32 %p0, %l, 16;\n@!%p0 bra READ;\nst.shared.u32 [%mine], %t;\n" + meet +
               "bra END;\nREAD:\n" + meet + "ld.shared.u32 %r1, [%mine+-64];\nEND:\n";
    };
    const Shape shape{.block = 32};
    expect_report(races(body(""), shape), FaultKind::Race, {"of 4 bytes"});
    EXPECT_EQ(races(body("bar.warp.sync -1;\n"), shape).kind, FaultKind::None);
}

TEST(SharedRaces, a_flag_orders_lanes_when_a_fence_comes_before_it) {
    // Lane 0 writes, executes the fence and sets a flag. The others wait for the flag and read.
    const auto body = [](const std::string& fence) {
        return "setp.ne.u32 %p0, %l, 0;\nst.volatile.shared.u32 [tile+64], 0;\n"
               "bar.warp.sync -1;\n@%p0 bra WAIT;\nst.shared.u32 [tile], 42;\n" +
               fence +
               "st.volatile.shared.u32 [tile+64], 1;\nbra END;\nWAIT:\n"
               "ld.volatile.shared.u32 %r1, [tile+64];\nsetp.eq.u32 %p1, %r1, 0;\n"
               "@%p1 bra WAIT;\nld.shared.u32 %r2, [tile];\nEND:\n";
    };
    const Shape shape{.block = 32};
    EXPECT_EQ(races(body("membar.cta;\n"), shape).kind, FaultKind::None);
    expect_report(races(body(""), shape), FaultKind::Race, {"of 4 bytes"});
}

TEST(SharedRaces, a_warp_barrier_does_not_order_other_warps) {
    expect_report(
        races(std::string(WRITE_MINE) + "bar.warp.sync -1;\n" + READ_OTHER + "bar.warp.sync -1;\n"),
        FaultKind::Race, {"ld.shared.u32 %r3, [%r1];"});
}

TEST(SharedRaces, order_goes_through_a_third_lane) {
    // Lane 0 writes and synchronises with lane 1, lane 1 with lane 2, and lane 2 reads.
    EXPECT_EQ(
        races("setp.eq.u32 %p0, %l, 0;\nsetp.le.u32 %p1, %l, 1;\nsetp.ge.u32 %p2, %l, 1;\n"
              "setp.eq.u32 %p3, %l, 2;\n@%p0 st.shared.u32 [tile], 1;\n"
              "@%p1 bar.warp.sync 3;\n@%p2 bar.warp.sync 6;\n@%p3 ld.shared.u32 %r1, [tile];\n",
              {.block = 3})
            .kind,
        FaultKind::None);
}

TEST(SharedRaces, atomic_and_volatile_accesses_are_no_races) {
    EXPECT_EQ(races("red.shared.add.u32 [tile], %t;\nld.volatile.shared.u32 %r1, [tile+4];\n"
                    "st.volatile.shared.u32 [tile+4], %t;\n")
                  .kind,
              FaultKind::None);
}

TEST(SharedRaces, neighbouring_bytes_and_halves_are_different_places) {
    EXPECT_EQ(races("mov.u32 %r1, tile;\nadd.u32 %r1, %r1, %t;\nst.shared.u8 [%r1], %t;\n").kind,
              FaultKind::None);
    expect_report(races("mov.u32 %r1, tile;\nadd.u32 %r1, %r1, %t;\nst.shared.u8 [%r1], %t;\n"
                        "setp.eq.u32 %p0, %t, 0;\n@%p0 ld.shared.u32 %r2, [tile];\n"),
                  FaultKind::Race, {"read of 4 bytes", "the write by thread (1, 0, 0)"});
}

TEST(SharedRaces, a_barrier_of_some_warps_orders_those) {
    // Warp 0 produces, warp 1 consumes, and warp 2 takes no part.
    const std::string body = "setp.ge.u32 %p0, %t, 64;\n@%p0 bra END;\n"
                             "setp.ge.u32 %p1, %t, 32;\n@%p1 bra CONSUME;\n"
                             "st.shared.u32 [%mine], %t;\nbar.arrive 1, 64;\nbra END;\nCONSUME:\n";
    EXPECT_EQ(races(body + "bar.sync 1, 64;\n" + READ_OTHER + "END:\n", {.block = 96}).kind,
              FaultKind::None);
    expect_report(races(body + READ_OTHER + "bar.sync 1, 64;\nEND:\n", {.block = 96}),
                  FaultKind::Race, {});
}

TEST(SharedRaces, an_mbarrier_orders_those_who_wait_for_it) {
    const std::string body = "setp.eq.u32 %p0, %t, 0;\n@%p0 mbarrier.init.shared.b64 [gate], 32;\n"
                             "bar.sync 0;\nsetp.ge.u32 %p1, %t, 32;\n@%p1 bra CONSUME;\n"
                             "st.shared.u32 [%mine], %t;\n"
                             "mbarrier.arrive.shared.b64 %rd1, [gate];\nbra END;\nCONSUME:\n";
    const std::string wait = "WAIT:\nmbarrier.try_wait.parity.shared.b64 %p2, [gate], 0;\n"
                             "@!%p2 bra WAIT;\n";
    EXPECT_EQ(races(body + wait + READ_OTHER + "END:\n").kind, FaultKind::None);
    expect_report(races(body + READ_OTHER + wait + "END:\n"), FaultKind::Race, {});
}

TEST(SharedRaces, blocks_of_a_cluster_need_its_barrier) {
    const Shape shape{.grid = 2, .block = 32, .cluster = 2};
    const std::string write = "mov.u32 %r1, %cluster_ctarank;\nxor.b32 %r1, %r1, 1;\n"
                              "mapa.shared::cluster.u32 %r2, %mine, %r1;\n"
                              "st.shared::cluster.u32 [%r2], %t;\n";
    const std::string meet = "barrier.cluster.arrive;\nbarrier.cluster.wait;\n";
    const std::string read = "ld.shared.u32 %r3, [%mine];\n";
    EXPECT_EQ(races(meet + write + meet + read, shape).kind, FaultKind::None);
    expect_report(races(meet + write + read, shape), FaultKind::Race, {"of the cluster's block "});
    expect_report(races(meet + write + SYNC + read, shape), FaultKind::Race, {});
}

TEST(SharedRaces, the_block_that_comes_next_starts_afresh) {
    EXPECT_EQ(races(std::string(WRITE_MINE) + SYNC + READ_OTHER, {.grid = 50, .block = 64}).kind,
              FaultKind::None);
}

TEST(SharedRaces, a_member_mask_must_name_the_lane_that_uses_it) {
    const Shape shape{.block = 32};
    for (const char* const operation :
         {"match.any.sync.b32 %r1, %t, 0xffff;", "shfl.sync.idx.b32 %r1, %t, 0, 31, 0xffff;",
          "vote.sync.ballot.b32 %r1, %p0, 0xffff;", "bar.warp.sync 0xffff;"}) {
        const std::string half = "setp.lt.u32 %p0, %l, 16;\n@%p0 " + std::string(operation);
        EXPECT_EQ(races(half, shape).kind, FaultKind::None) << operation;
        expect_report(races("setp.lt.u32 %p0, %l, 16;\n" + std::string(operation), shape),
                      FaultKind::DivergentBarrier,
                      {"lane 16 executes a warp operation with member mask 0x0000ffff, which does "
                       "not name it; the result is undefined",
                       "thread (16, 0, 0)", operation});
    }
}

} // namespace

} // namespace cuprum::emulator
