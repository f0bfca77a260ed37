// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Bulk and tensor copies access shared memory in the background. Each mistake once, and what fixes
// it.

#include "check/checked_kernel.hpp"
#include "exec/tensor_kernel.hpp"

namespace cuprum::emulator {

namespace {

using test::expect_bytes;
using test::expect_report;
using test::Shape;
using test::tensor_kernel;
using test::TestDevice;
using test::tiled_map;

const std::string LOAD = "@%first cp.async.bulk.tensor.2d.shared::cluster.global"
                         ".mbarrier::complete_tx::bytes [%tile], [%map, {%r0, %r0}], [%bar];\n";
const std::string STORE = "@%first cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%map, "
                          "{%r0, %r0}], [%tile];\n";
const std::string BULK_STORE = "@%first cp.async.bulk.global.shared::cta.bulk_group [%out], "
                               "[%tile], 128;\n";
const std::string COMMIT = "cp.async.bulk.commit_group;\n";
const std::string WAIT_GROUP = "cp.async.bulk.wait_group.read 0;\n";
const std::string WRITE = "mad.lo.u32 %r1, %l, 4, %tile;\nst.shared.u32 [%r1], %l;\n";
const std::string READ = "mad.lo.u32 %r1, %l, 4, %tile;\nld.shared.u32 %r2, [%r1];\n"
                         "mad.wide.u32 %g0, %l, 4, %out;\nst.global.u32 [%g0+1024], %r2;\n";
const std::string FENCE = "fence.proxy.async.shared::cta;\n";
const std::string SYNC = "barrier.sync 0;\n";

std::string wait(const std::string& name, int parity = 0) {
    return name + ":\nmbarrier.try_wait.parity.shared::cta.b64 %done, [%bar], " +
           std::to_string(parity) + ";\n@!%done bra " + name + ";\n";
}

/// Runs a kernel on a tensor of 8 by 4 words with checks enabled.
Fault run(const std::string& body, std::uint8_t checks = CHECK_RACES, Shape shape = {.block = 64}) {
    TestDevice device;
    auto* const tensor = device.allocate<std::uint32_t>(32);
    auto* const out = device.allocate<std::uint32_t>(4096);
    device.enable_checks(checks);
    return test::run(device, tensor_kernel("mov.u32 %r0, 0;\n" + body), shape,
                     tiled_map(tensor, 8, 4, 8, 4), reinterpret_cast<std::uint64_t>(out));
}

void expect_sound(const std::string& body, std::uint8_t checks = CHECK_RACES,
                  Shape shape = {.block = 64}) {
    const Fault fault = run(body, checks, shape);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
}

TEST(BackgroundCopies, a_store_needs_a_proxy_fence_behind_the_writes) {
    for (const std::string& store : {STORE, BULK_STORE}) {
        expect_report(run(WRITE + SYNC + store), FaultKind::Race,
                      {"in the background, and no fence.proxy.async follows the write by thread (",
                       "st.shared.u32 [%r1], %l;", "bytes into shared variable 'tile'",
                       "thread (0, 0, 0)", ".bulk_group"});
        // The thread that wrote may fence, or the one that copies.
        expect_sound(WRITE + FENCE + SYNC + store);
        expect_sound(WRITE + SYNC + FENCE + store);
        expect_sound(WRITE + "fence.proxy.async;\n" + SYNC + store);
        // A fence between other kinds of accesses does not help, and one before the write neither.
        EXPECT_EQ(run(WRITE + "fence.proxy.async.global;\n" + SYNC + store).kind, FaultKind::Race);
        EXPECT_EQ(run(FENCE + WRITE + SYNC + store).kind, FaultKind::Race);
    }
}

TEST(BackgroundCopies, a_fence_of_a_thread_between_writer_and_copy_counts) {
    expect_sound(WRITE + SYNC + "setp.ne.u32 %p0, %l, 40;\n@%p0 bra JOIN;\n" + FENCE + "JOIN:\n" +
                 SYNC + STORE);
}

TEST(BackgroundCopies, what_a_load_brings_may_be_read_when_its_barrier_says_so) {
    // Also the thread that starts the load has to wait, and a barrier of the block is not enough.
    for (const std::string& instead : {std::string(), SYNC}) {
        expect_report(run(expect_bytes(128) + LOAD + instead + READ), FaultKind::Race,
                      {"read of 4 bytes", "nothing orders it after the write by thread (0, 0, 0)",
                       "cp.async.bulk.tensor.2d", "until a wait for its mbarrier",
                       "ld.shared.u32 %r2, [%r1];"});
    }
    expect_sound(expect_bytes(128) + LOAD + wait("A") + READ);
    // One thread may wait for all.
    expect_sound(expect_bytes(128) + LOAD + "@!%first bra JOIN;\n" + wait("A") + "JOIN:\n" + SYNC +
                 READ);
}

TEST(BackgroundCopies, a_wait_for_an_earlier_phase_is_not_enough) {
    const std::string first = expect_bytes(128) + LOAD + wait("A") + READ + SYNC;
    // The second load belongs to the phase of parity 1. A wait for parity 0 returns at once if it
    // comes before the load, and never if it comes after it.
    expect_report(run(first + expect_bytes(128) + wait("B", 0) + LOAD + READ), FaultKind::Race,
                  {"until a wait for its mbarrier"});
    expect_report(run(first + expect_bytes(128) + LOAD + wait("B", 0) + READ), FaultKind::Deadlock,
                  {"wait for the mbarrier at byte 8192", "1 more arrival (parity 0"});
    expect_sound(first + expect_bytes(128) + LOAD + wait("B", 1) + READ);
}

TEST(BackgroundCopies, a_load_must_not_overwrite_what_is_still_read) {
    const std::string first = expect_bytes(128) + LOAD + wait("A") + READ;
    const std::string next = expect_bytes(128) + LOAD + wait("B", 1) + READ;
    expect_report(run(first + next), FaultKind::Race,
                  {"write of 128 bytes", "nothing orders it after the read by thread (",
                   "ld.shared.u32 %r2, [%r1];", "cp.async.bulk.tensor.2d"});
    expect_sound(first + SYNC + next);
}

TEST(BackgroundCopies, what_a_store_reads_may_be_overwritten_after_a_wait_for_its_group) {
    const std::string store = WRITE + FENCE + SYNC + STORE + COMMIT;
    for (const std::string& instead :
         {std::string(), std::string("cp.async.bulk.wait_group 1;\n")}) {
        expect_report(run(store + instead + SYNC + WRITE), FaultKind::Race,
                      {"write of 4 bytes", "nothing orders it after the read by thread (0, 0, 0)",
                       "until cp.async.bulk.wait_group"});
    }
    expect_sound(store + WAIT_GROUP + SYNC + WRITE);
    // A wait that leaves the newest group covers the ones before.
    expect_sound(store + BULK_STORE + COMMIT + WAIT_GROUP + SYNC + WRITE);
}

TEST(BackgroundCopies, memory_that_nothing_has_written_must_not_be_stored) {
    expect_report(run(STORE, CHECK_INITIALIZED), FaultKind::UninitializedRead,
                  {"which this block has never written", "cp.async.bulk.tensor.2d.global"});
    expect_sound(WRITE + FENCE + SYNC + STORE, CHECK_INITIALIZED);
    expect_sound(expect_bytes(128) + LOAD + wait("A") + READ, CHECK_INITIALIZED, {.block = 32});
}

TEST(BackgroundCopies, a_load_for_the_cluster_is_checked_in_each_block) {
    const std::string load =
        "setp.eq.and.u32 %p0, %k, 0, %first;\nmov.b16 %h0, 3;\n" + expect_bytes(128) +
        "@%p0 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%tile], [%map, {%r0, %r0}], [%bar], %h0;\n";
    const std::string sync = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";
    const Shape pair{.grid = 2, .block = 64, .cluster = 2};
    Fault fault = run(load + wait("A") + READ + sync, CHECK_RACES, pair);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    fault = run(load + sync + READ + sync, CHECK_RACES, pair);
    expect_report(fault, FaultKind::Race, {"until a wait for its mbarrier"});
}

} // namespace

} // namespace cuprum::emulator
