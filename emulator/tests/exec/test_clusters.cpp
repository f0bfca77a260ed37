// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Clusters: ranks, the barrier, and the shared memory of other blocks.

#include "exec/harness.hpp"

namespace cuprum::emulator {

namespace {

using test::Shape;
using test::TestDevice;

using U = std::uint32_t;

/// Returns a kernel with these registers: %k is the rank, %n the size of the cluster, %l the
/// thread, and %mine the thread's own word of the output. It has an array of 64 words in shared
/// memory.
std::string kernel(const std::string& body) {
    return R"(.visible .entry k(.param .u64 pout)
{
    .reg .b64 %out, %mine, %g<4>;
    .reg .b32 %k, %n, %l, %c, %t, %r<8>;
    .reg .pred %p<4>;
    .shared .align 128 .b32 tile[64];
    ld.param.u64 %out, [pout];
    mov.u32 %k, %cluster_ctarank;
    mov.u32 %n, %cluster_nctarank;
    mov.u32 %l, %tid.x;
    mov.u32 %c, %ctaid.x;
    mov.u32 %t, %ntid.x;
    mad.lo.u32 %r0, %c, %t, %l;
    mad.wide.u32 %mine, %r0, 4, %out;
)" + body + "\nret;\n}\n";
}

struct Result {
    Fault fault;
    std::vector<U> out;
};

Result run_kernel(const std::string& body, Shape shape) {
    TestDevice device;
    auto* const out = device.allocate<U>(4096);
    Result result;
    result.fault = test::run(device, kernel(body), shape, reinterpret_cast<std::uint64_t>(out));
    result.out.assign(out, out + 4096);
    return result;
}

const std::string SYNC = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";

TEST(Clusters, special_registers_say_who_is_who) {
    const Result result =
        run_kernel("mov.u32 %r1, %clusterid.x;\nmov.u32 %r2, %nclusterid.x;\n"
                   "mov.u32 %r3, %cluster_ctaid.x;\n"
                   "mad.lo.u32 %r1, %r1, 10, %r2;\nmad.lo.u32 %r1, %r1, 10, %r3;\n"
                   "mad.lo.u32 %r1, %r1, 10, %k;\nmad.lo.u32 %r1, %r1, 10, %n;\n"
                   "st.global.u32 [%mine], %r1;\n",
                   {.grid = 12, .block = 1, .cluster = 4});
    ASSERT_EQ(result.fault.kind, FaultKind::None) << result.fault.report;
    for (U block = 0; block < 12; ++block) {
        EXPECT_EQ(result.out[block], block / 4 * 10000 + 3000 + block % 4 * 110 + 4);
    }
}

TEST(Clusters, blocks_read_and_write_each_others_shared_memory) {
    // Each block stores to the next one. After the barrier, every block reads what the previous one
    // wrote.
    const std::string store = "mov.u32 %r1, tile;\nadd.u32 %r2, %k, 1;\nrem.u32 %r2, %r2, %n;\n"
                              "mapa.shared::cluster.u32 %r3, %r1, %r2;\n"
                              "mad.lo.u32 %r3, %l, 4, %r3;\nmad.lo.u32 %r4, %c, 100, %l;\n"
                              "st.shared::cluster.u32 [%r3], %r4;\n" +
                              SYNC;
    const std::string own = "mad.lo.u32 %r1, %l, 4, %r1;\nld.shared.u32 %r5, [%r1];\n"
                            "st.global.u32 [%mine], %r5;\n";
    for (const U size : {1u, 2u, 8u, 16u}) {
        const Result result = run_kernel(store + own, {.grid = 32, .block = 48, .cluster = size});
        ASSERT_EQ(result.fault.kind, FaultKind::None) << result.fault.report;
        for (U i = 0; i < 32 * 48; ++i) {
            const U block = i / 48;
            const U before = block / size * size + (block % size + size - 1) % size;
            ASSERT_EQ(result.out[i], before * 100 + i % 48) << i << " of clusters of " << size;
        }
    }
}

TEST(Clusters, generic_addresses_and_atomics_reach_other_blocks) {
    const Result result =
        run_kernel("setp.eq.u32 %p0, %l, 0;\n@%p0 st.shared.u32 [tile], 0;\n" + SYNC +
                       "cvta.shared.u64 %g0, tile;\nmapa.u64 %g1, %g0, 0;\n"
                       "atom.add.u32 %r1, [%g1], 1;\n" +
                       SYNC +
                       "ld.u32 %r2, [%g1];\ngetctarank.u64 %r3, %g1;\ngetctarank.u64 %r4, %g0;\n"
                       "isspacep.shared %p1, %g1;\nisspacep.shared::cluster %p2, %g1;\n"
                       "selp.u32 %r5, 1, 0, %p1;\nselp.u32 %r6, 1, 0, %p2;\n"
                       "mad.lo.u32 %r2, %r2, 10, %r3;\nmad.lo.u32 %r2, %r2, 10, %r4;\n"
                       "mad.lo.u32 %r2, %r2, 10, %r5;\nmad.lo.u32 %r2, %r2, 10, %r6;\n"
                       "st.global.u32 [%mine], %r2;\n" +
                       SYNC,
                   {.grid = 6, .block = 64, .cluster = 3});
    ASSERT_EQ(result.fault.kind, FaultKind::None) << result.fault.report;
    for (U i = 0; i < 6 * 64; ++i) {
        const U rank = i / 64 % 3;
        ASSERT_EQ(result.out[i], 192u * 10000 + rank * 100 + (rank == 0 ? 10 : 0) + 1) << i;
    }
}

TEST(Clusters, a_barrier_has_many_phases_and_forgets_those_who_exit) {
    // Block k exits after k + 1 rounds; the others continue.
    const Result result = run_kernel(
        "mov.u32 %r1, 0;\nmov.u32 %r7, 0;\nsetp.eq.u32 %p0, %l, 0;\n"
        "@%p0 st.shared.u32 [tile], 0;\n" +
            SYNC +
            "mov.u32 %r2, tile;\nsub.u32 %r4, %n, 1;\n"
            "mapa.shared::cluster.u32 %r3, %r2, %r4;\nLOOP:\n"
            "red.shared::cluster.add.u32 [%r3], 1;\n" +
            SYNC + "ld.shared::cluster.u32 %r5, [%r3];\nadd.u32 %r7, %r7, %r5;\n" + SYNC +
            "add.u32 %r1, %r1, 1;\nsetp.le.u32 %p1, %r1, %k;\n@%p1 bra LOOP;\n"
            "st.global.u32 [%mine], %r7;\n",
        {.grid = 4, .block = 40, .cluster = 4});
    ASSERT_EQ(result.fault.kind, FaultKind::None) << result.fault.report;
    for (U block = 0; block < 4; ++block) {
        U sum = 0;
        U total = 0;
        for (U round = 0; round <= block; ++round) {
            sum += (4 - round) * 40;
            total += sum;
        }
        EXPECT_EQ(result.out[block * 40 + 39], total) << block;
    }
}

TEST(Clusters, an_mbarrier_counts_arrivals_from_other_blocks) {
    const Result result = run_kernel(
        "mov.u32 %r1, tile;\nsetp.eq.u32 %p0, %l, 0;\n@%p0 mbarrier.init.shared.b64 [%r1], 96;\n" +
            SYNC +
            "xor.b32 %r2, %k, 1;\nmapa.shared::cluster.u32 %r3, %r1, %r2;\n"
            "mapa.shared::cluster.u32 %r4, %r1, %k;\nst.shared::cluster.u32 [%r3+32], %c;\n"
            "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3];\nWAIT:\n"
            "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r4], 0;\n"
            "@!%p1 bra WAIT;\nld.shared.u32 %r5, [tile+32];\nst.global.u32 [%mine], %r5;\n" +
            SYNC,
        {.grid = 4, .block = 96, .cluster = 2});
    ASSERT_EQ(result.fault.kind, FaultKind::None) << result.fault.report;
    for (U i = 0; i < 4 * 96; ++i) {
        ASSERT_EQ(result.out[i], (i / 96) ^ 1u);
    }
}

TEST(Clusters, a_barrier_that_cannot_complete_is_a_deadlock) {
    // Block 1 waits at its own barrier for a warp that waits at the cluster's barrier. Block 0 is
    // not at fault and waits for them.
    const Fault fault = run_kernel("setp.eq.u32 %p0, %k, 1;\nsetp.lt.u32 %p1, %l, 32;\n"
                                   "and.pred %p0, %p0, %p1;\n@%p0 bra OTHER;\n" +
                                       SYNC + "bra END;\nOTHER:\nbar.sync 1;\nEND:\n",
                                   {.grid = 2, .block = 64, .cluster = 2})
                            .fault;
    EXPECT_EQ(fault.kind, FaultKind::Deadlock);
    for (const char* part : {"wait at the barrier of the cluster, where 96 of 128 threads",
                             "block (0, 0, 0)", "block (1, 0, 0)", "wait at barrier 1"}) {
        EXPECT_NE(fault.report.find(part), std::string::npos) << part << "\n" << fault.report;
    }
}

/// Instructions that access [%r1], an offset in shared memory, or [%g1], its generic address.
constexpr const char* ACCESSES[] = {
    "st.shared.u32 [%r1], 7;",
    "st.shared::cta.v2.u32 [%r1], {%r4, %r4};",
    "st.shared::cluster.u32 [%r1], 7;",
    "st.u32 [%g1], 7;",
    "ld.shared.u32 %r4, [%r1];",
    "ld.shared::cluster.v4.u32 {%r4, %r5, %r6, %r7}, [%r1];",
    "ld.u64 %g2, [%g1];",
    "ld.relaxed.cluster.u32 %r4, [%g1];",
    "atom.shared.add.u32 %r4, [%r1], 1;",
    "atom.shared::cluster.exch.b64 %g2, [%r1], %g2;",
    "atom.cas.b32 %r4, [%g1], 1, 2;",
    "red.shared.add.f32 [%r1], 0f3F800000;",
    "red.max.u32 [%g1], 9;",
    "mbarrier.init.shared.b64 [%r1], 1;",
    "mbarrier.init.b64 [%g1], 1;",
    "mbarrier.arrive.shared.b64 %g2, [%r1];",
    "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1];",
    "mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0;",
    "cp.async.ca.shared.global [%r1], [%out], 4;",
    "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%out], 16, [tile+16];",
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%out], 16, "
    "[tile+16];",
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%out], 16, [%r1];",
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
    "[%r1], [%out], 16, [tile+16], 1;",
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
    "[tile], [%out], 16, [%r1], 1;",
    "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r1], [tile], 16, "
    "[tile+16];",
    "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [tile], [%r1], 16, "
    "[tile+16];",
    "cp.async.bulk.global.shared::cta.bulk_group [%out], [%r1], 16;",
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%out], [%r1], 16;",
    "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], 7, [tile+16];",
    "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [tile], 7, [%r1];",
    "st.bulk.weak.shared::cta [%r1], %g2, 0;",
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%r1];",
    "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r4};",
    "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r1], "
    "[tile+16];",
    "tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r1], 1;",
    "mapa.shared::cluster.u32 %r4, %r1, 0;",
};

/// Returns a body that initialises an mbarrier in each block, moves %r1 away from `tile`, and lets
/// the first thread (or, for instructions of warps, all of them) access it.
std::string access_to(const std::string& move, const std::string& access) {
    const bool is_of_warp = access.find("aligned") != std::string::npos;
    return "setp.eq.u32 %p0, %l, 0;\n@%p0 mbarrier.init.shared.b64 [tile+16], 9;\n" + SYNC +
           "mov.u32 %r1, tile;\n" + move +
           "cvt.u64.u32 %g1, %r1;\ncvta.shared.u64 %g1, %g1;\nmov.u64 %g2, 16;\n"
           "mov.u32 %r4, 0;\n" +
           (is_of_warp ? "" : "@%p0 ") + access +
           "\nst.global.u32 [%mine], %r4;\nst.global.u64 [%out+8192], %g2;\n"; // all is used
}

TEST(Clusters, no_address_is_another_name_for_the_memory_of_the_block) {
    // A GPU faults at all of these. The distances are multiples of the windows of this device and
    // of a GPU.
    for (const char* const distance : {"524288", "1048576", "8388608", "16777216"}) {
        for (const char* const access : ACCESSES) {
            const std::string move = std::string("add.u32 %r1, %r1, ") + distance + ";\n";
            const Fault fault = run_kernel(access_to(move, access), {.grid = 1, .block = 32}).fault;
            EXPECT_TRUE(fault.kind == FaultKind::IllegalAddress ||
                        fault.kind == FaultKind::InvalidAddressSpace)
                << access << " at a distance of " << distance << "\n"
                << fault.report;
        }
    }
}

TEST(Clusters, the_window_of_the_own_rank_is_not_used) {
    for (const char* const access : ACCESSES) {
        const char* const move = "add.u32 %r2, %k, 1;\nmad.lo.u32 %r1, %r2, 524288, %r1;\n";
        const Fault fault =
            run_kernel(access_to(move, access), {.grid = 2, .block = 32, .cluster = 2}).fault;
        EXPECT_TRUE(fault.kind == FaultKind::IllegalAddress ||
                    fault.kind == FaultKind::InvalidAddressSpace)
            << access << "\n"
            << fault.report;
    }
}

TEST(Clusters, only_cluster_and_generic_addresses_reach_other_blocks) {
    const char* const other = "xor.b32 %r2, %k, 1;\nmapa.shared::cluster.u32 %r1, %r1, %r2;\n";
    const Shape shape{.grid = 2, .block = 32, .cluster = 2};
    for (const char* const access :
         {"st.shared.u32 [%r1], 7;", "ld.shared::cta.u32 %r4, [%r1];",
          "atom.shared.add.u32 %r4, [%r1], 1;", "mbarrier.init.shared.b64 [%r1], 1;",
          "cp.async.ca.shared.global [%r1], [%out], 4;",
          "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%out], 16, "
          "[tile+16];",
          "cp.async.bulk.global.shared::cta.bulk_group [%out], [%r1], 16;"}) {
        const Fault fault = run_kernel(access_to(other, access), shape).fault;
        EXPECT_EQ(fault.kind, FaultKind::IllegalAddress) << access;
        EXPECT_NE(fault.report.find("it is an address of the block of rank "), std::string::npos)
            << access << "\n"
            << fault.report;
        EXPECT_NE(fault.report.find("needs .shared::cluster or a generic address"),
                  std::string::npos)
            << fault.report;
    }
    for (const char* const access :
         {"st.shared::cluster.u32 [%r1], 7;", "ld.shared::cluster.u32 %r4, [%r1];",
          "ld.u32 %r4, [%g1];", "atom.shared::cluster.add.u32 %r4, [%r1], 1;",
          "red.add.u32 [%g1], 1;",
          "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1+16];",
          "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], 7, [%r1+16];",
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%out], 16, "
          "[%r1+16];",
          "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r1], [tile], "
          "16, [%r1+16];"}) {
        const Fault fault = run_kernel(access_to(other, access) + SYNC, shape).fault;
        EXPECT_EQ(fault.kind, FaultKind::None) << access << "\n" << fault.report;
    }
}

TEST(Clusters, ranks_and_addresses_outside_are_faults) {
    const Shape shape{.grid = 2, .block = 1, .cluster = 2};
    const Fault rank =
        run_kernel("mapa.shared::cluster.u32 %r1, %r0, 2;\nst.global.u32 [%mine], %r1;\n", shape)
            .fault;
    EXPECT_EQ(rank.kind, FaultKind::IllegalInstruction);
    EXPECT_NE(rank.report.find("no block of rank 2 in a cluster of 2"), std::string::npos);
    const Fault beyond =
        run_kernel(
            "mov.u32 %r1, tile;\nxor.b32 %r2, %k, 1;\n"
            "mapa.shared::cluster.u32 %r1, %r1, %r2;\nst.shared::cluster.u32 [%r1+256], 1;\n",
            shape)
            .fault;
    EXPECT_EQ(beyond.kind, FaultKind::IllegalAddress);
    EXPECT_NE(beyond.report.find("shared memory"), std::string::npos) << beyond.report;
}

} // namespace

} // namespace cuprum::emulator
