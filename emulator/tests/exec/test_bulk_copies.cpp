// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Asynchronous stores, reductions and bulk copies to other blocks of a cluster. Each reports the
// received bytes to a barrier.

#include "exec/harness.hpp"

namespace cuprum::emulator {

namespace {

using test::Shape;
using test::TestDevice;
using U = std::uint32_t;

/// Returns a kernel with these registers: %k is the rank, %l the thread, %tile an array of 64 words
/// in shared memory, %bar a barrier that expects one arrival, and %out the buffer. The blocks are
/// synchronised after the barrier was initialised.
std::string kernel(const std::string& body) {
    return R"(.visible .entry k(.param .u64 pout)
{
    .reg .b64 %out, %mine, %g<4>;
    .reg .b32 %k, %l, %c, %tile, %bar, %r<8>;
    .reg .b16 %h<4>;
    .reg .pred %p<4>, %first, %done;
    .shared .align 16 .b32 tile[64];
    .shared .align 8 .b64 bar;
    ld.param.u64 %out, [pout];
    mov.u32 %k, %cluster_ctarank;
    mov.u32 %l, %tid.x;
    mov.u32 %c, %ctaid.x;
    mov.u32 %tile, tile;
    mov.u32 %bar, bar;
    mad.lo.u32 %r0, %c, 32, %l;
    mad.wide.u32 %mine, %r0, 4, %out;
    setp.eq.u32 %first, %l, 0;
    mad.lo.u32 %r1, %l, 4, %tile;
    st.shared.u32 [%r1], 1000;
    st.shared.u32 [%r1+128], 2000;
    @%first mbarrier.init.shared::cta.b64 [%bar], 1;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
)" + body + R"(
    mad.lo.u32 %r1, %l, 4, %tile;
    ld.shared.u32 %r0, [%r1];
    st.global.u32 [%mine], %r0;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    ret;
}
)";
}

const std::string EXPECT_128 =
    "@%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 128;\n";
const std::string WAIT = "WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 %done, [%bar], 0;\n"
                         "@!%done bra WAIT;\n";
const std::string OTHER = "xor.b32 %r2, %k, 1;\nmapa.shared::cluster.u32 %r3, %tile, %r2;\n"
                          "mapa.shared::cluster.u32 %r4, %bar, %r2;\n";

/// Runs two clusters of two blocks of one warp and returns the buffer. Each thread writes its word
/// of the tile to the start of the buffer. Word 256 + i of the buffer starts as i.
std::vector<U> run_kernel(const std::string& body) {
    TestDevice device;
    auto* const out = device.allocate<U>(512);
    for (U i = 0; i < 256; ++i) {
        out[256 + i] = i;
    }
    const Fault fault = test::run(device, kernel(body), {.grid = 4, .block = 32, .cluster = 2},
                                  reinterpret_cast<std::uint64_t>(out));
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    return {out, out + 512};
}

TEST(BulkCopies, a_store_to_the_other_block_tells_its_barrier) {
    const std::vector<U> out = run_kernel(
        EXPECT_128 + OTHER +
        "mad.lo.u32 %r3, %l, 4, %r3;\nmad.lo.u32 %r5, %c, 100, %l;\n"
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r3], %r5, [%r4];\n" +
        WAIT);
    for (U i = 0; i < 128; ++i) {
        EXPECT_EQ(out[i], (i / 32 ^ 1) * 100 + i % 32);
    }
}

TEST(BulkCopies, a_reduction_in_the_other_block_tells_its_barrier) {
    const std::vector<U> out = run_kernel(
        EXPECT_128 + OTHER +
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r3], "
        "%l, [%r4];\n" +
        WAIT);
    for (U i = 0; i < 128; ++i) {
        EXPECT_EQ(out[i], i % 32 == 0 ? 1000 + 496 : 1000u);
    }
}

TEST(BulkCopies, asynchronous_accesses_to_global_memory_release) {
    const std::vector<U> out =
        run_kernel("mul.wide.u32 %g0, %l, 4;\nadd.u64 %g0, %g0, %out;\nsetp.eq.u32 %p0, %c, 0;\n"
                   "@%p0 st.async.release.gpu.global.b32 [%g0+1024], %l;\n"
                   "and.pred %p1, %p0, %first;\nmov.u64 %g1, 0x500000006;\n"
                   "@%p1 st.async.mmio.release.sys.b64 [%out+1536], %g1;\n"
                   "red.async.release.gpu.global.add.u32 [%out+1280], %l;\n"
                   "red.async.mmio.release.sys.max.s32 [%out+1284], %l;\n");
    for (U i = 0; i < 32; ++i) {
        EXPECT_EQ(out[256 + i], i);
    }
    EXPECT_EQ(out[320], 64 + 4 * 496u);
    EXPECT_EQ(out[321], 65u); // the previous value is larger
    EXPECT_EQ(out[384], 6u);
    EXPECT_EQ(out[385], 5u);
}

TEST(BulkCopies, shared_memory_is_copied_to_the_other_block) {
    const std::vector<U> out = run_kernel(
        EXPECT_128 + OTHER +
        "add.u32 %r5, %tile, 128;\n"
        "@%first cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r3], "
        "[%r5], 128, [%r4];\n" +
        WAIT);
    for (U i = 0; i < 128; ++i) {
        EXPECT_EQ(out[i], 2000u);
    }
}

TEST(BulkCopies, one_copy_reaches_several_blocks) {
    // Only rank 0 of each cluster copies, for both blocks.
    const std::vector<U> out = run_kernel(
        EXPECT_128 +
        "setp.eq.and.u32 %p0, %k, 0, %first;\nmov.b16 %h0, 3;\nadd.u64 %g0, %out, 1024;\n"
        "mad.wide.u32 %g0, %c, 64, %g0;\n"
        "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%tile], [%g0], 128, [%bar], %h0;\n" +
        WAIT);
    for (U i = 0; i < 128; ++i) {
        EXPECT_EQ(out[i], i / 64 * 32 + i % 32);
    }
}

TEST(BulkCopies, bulk_reductions_combine_with_global_memory) {
    const std::vector<U> out = run_kernel(
        "fence.proxy.async;\nadd.u64 %g0, %out, 1024;\n"
        "@%first cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%g0], [%tile], 64;\n"
        "@%first cp.reduce.async.bulk.global.shared::cta.bulk_group.max.s32 [%g0+64], [%tile], "
        "64;\n"
        "@%first cp.reduce.async.bulk.global.shared::cta.bulk_group.or.b32 [%g0+128], [%tile], "
        "64;\n"
        "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n");
    for (U i = 0; i < 16; ++i) {
        EXPECT_EQ(out[256 + i], i + 4 * 1000);
        EXPECT_EQ(out[272 + i], 1000u);
        EXPECT_EQ(out[288 + i], (32 + i) | 1000u);
    }
}

TEST(BulkCopies, a_mask_spares_bytes_of_each_sixteen) {
    // Bytes 0, 1 and 15 of every 16.
    const std::vector<U> out = run_kernel(
        "mov.u32 %r5, 0xa1a2a3a4;\nst.shared.u32 [%r1], %r5;\nbarrier.sync 0;\n"
        "mov.b16 %h0, 0x8003;\nsetp.eq.and.u32 %p0, %c, 0, %first;\nadd.u64 %g0, %out, 1024;\n"
        "@%p0 cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%g0], [%tile], 32, %h0;\n"
        "@%p0 cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.cp_mask [%g0+64], "
        "[%tile], 16, %g1, 0;\n"
        "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n");
    for (const U i : {0u, 4u}) {
        EXPECT_EQ(out[256 + i], 0xa3a4u);
        EXPECT_EQ(out[256 + i + 1], i + 1);
        EXPECT_EQ(out[256 + i + 3], 0xa1000000u | (i + 3));
    }
    EXPECT_EQ(out[272], 16u);
}

TEST(BulkCopies, bytes_at_both_ends_need_not_exist) {
    // 48 bytes, of which 3 at the front and 5 at the end are not read. They keep their old values.
    const std::vector<U> out = run_kernel(
        "add.u64 %g0, %out, 1024;\n"
        "@%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 48;\n"
        "@%first cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.ignore_oob "
        "[%tile], [%g0], 48, 3, 5, [%bar];\n" +
        WAIT);
    EXPECT_EQ(out[0], 1000u); // word 256 is 0, so its last byte is that of 1000 too
    for (U i = 1; i < 10; ++i) {
        EXPECT_EQ(out[i], i);
    }
    EXPECT_EQ(out[10], (10u & 0xffffff) | (1000u & 0xff000000));
    EXPECT_EQ(out[11], 1000u);
}

TEST(BulkCopies, at_most_fifteen_bytes_are_ignored_at_an_end) {
    const auto run_at_end = [](const char* right) {
        TestDevice device;
        auto* const out = device.allocate<U>(512);
        device.set_permission(reinterpret_cast<std::byte*>(out) + 4096, 4096, Permission::None);
        // The last 16 bytes of the copy lie behind the end of the memory.
        return test::run(device,
                         kernel("add.u64 %g0, %out, 4064;\n"
                                "@%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 48;\n"
                                "@%first cp.async.bulk.shared::cta.global"
                                ".mbarrier::complete_tx::bytes.ignore_oob [%tile], [%g0], 48, 0, " +
                                std::string(right) + ", [%bar];\n" + WAIT),
                         {.block = 32}, reinterpret_cast<std::uint64_t>(out));
    };
    EXPECT_EQ(run_at_end("0").kind, FaultKind::IllegalAddress);
    const Fault wrong = run_at_end("16");
    EXPECT_EQ(wrong.kind, FaultKind::IllegalInstruction);
    EXPECT_NE(wrong.report.find("expected 0 to 15 each"), std::string::npos) << wrong.report;
    // Numbers that do not fit 16 bits are not cut to those that do.
    for (const char* const right : {"65552", "65536", "4294901760"}) {
        EXPECT_EQ(run_at_end(right).kind, FaultKind::IllegalInstruction) << right;
    }
}

TEST(BulkCopies, copies_have_a_memory_order) {
    const std::vector<U> out = run_kernel(
        "add.u64 %g0, %out, 1024;\n" + EXPECT_128 +
        "@%first cp.async.bulk.weak.shared::cta.global.mbarrier::complete_tx::bytes [%tile], "
        "[%g0], 64, [%bar];\nadd.u32 %r5, %tile, 64;\n"
        "@%first cp.async.bulk.relaxed.gpu.shared::cta.global.mbarrier::complete_tx::bytes.b128 "
        "[%r5], [%g0+64], 64, [%bar];\n" +
        WAIT);
    for (U i = 0; i < 32; ++i) {
        EXPECT_EQ(out[i], i);
    }
}

TEST(BulkCopies, a_bulk_store_clears_shared_memory) {
    const std::vector<U> out =
        run_kernel("@%first st.bulk.weak.shared::cta [%tile+8], 16, 0;\n"
                   "cvta.shared.u64 %g0, tile;\nadd.u64 %g0, %g0, 64;\nmov.u64 %g1, 32;\n"
                   "@%first st.bulk [%g0], %g1, 0;\n@%first st.bulk.shared::cta [%tile], 0, 0;\n"
                   "barrier.sync 0;\n");
    for (U i = 0; i < 32; ++i) {
        const bool is_clear = (i >= 2 && i < 6) || (i >= 16 && i < 24);
        EXPECT_EQ(out[i], is_clear ? 0u : 1000u) << i;
    }
}

TEST(BulkCopies, a_bulk_store_beyond_its_limits_is_a_fault) {
    const auto fault_of = [](const std::string& body) {
        TestDevice device;
        auto* const out = device.allocate<U>(512);
        return test::run(device, kernel(body), {.block = 32}, reinterpret_cast<std::uint64_t>(out));
    };
    EXPECT_NE(fault_of("@%first st.bulk.shared::cta [%tile], 12, 0;").report.find("multiple of 8"),
              std::string::npos);
    EXPECT_EQ(fault_of("@%first st.bulk.shared::cta [%tile+4], 8, 0;").kind,
              FaultKind::MisalignedAddress);
    EXPECT_EQ(fault_of("@%first st.bulk.shared::cta [%tile], 1048576, 0;").kind,
              FaultKind::IllegalAddress);
    EXPECT_EQ(fault_of("@%first st.bulk [%out], 8, 0;").kind, FaultKind::InvalidAddressSpace);
}

TEST(BulkCopies, wrong_asynchronous_stores_are_refused_by_name) {
    const auto log_of = [](const std::string& body) {
        TestDevice device;
        (void)device.compile(test::ptx_module(kernel(body)));
        return device.log;
    };
    EXPECT_NE(log_of("st.async.global.b32 [%out], %l;").find("or .release to .global"),
              std::string::npos);
    EXPECT_NE(log_of("st.async.release.gpu.shared::cta.b32 [%tile], %l;").find("'st.async"),
              std::string::npos);
    EXPECT_NE(log_of("st.bulk.shared::cta [%tile], 64, 1;").find("nothing but 0"),
              std::string::npos);
}

TEST(BulkCopies, halves_and_floats_are_added_in_their_precision) {
    // 1000 is the bit pattern of a subnormal float, which the adder of global memory treats as
    // zero. As two halves it is 5.96e-5 and zero.
    const std::vector<U> out = run_kernel(
        "add.u64 %g0, %out, 1024;\nmov.u32 %r5, 0x3c003c00;\nst.shared.u32 [%r1], %r5;\n"
        "mov.u32 %r6, 0x3f800000;\nst.shared.u32 [%r1+128], %r6;\nbarrier.sync 0;\n"
        "setp.eq.and.u32 %p0, %c, 0, %first;\n"
        "@%p0 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16 [%g0], [%tile], "
        "16;\n"
        "add.u32 %r5, %tile, 128;\n"
        "@%p0 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%g0+16], [%r5], 16;\n");
    EXPECT_EQ(out[256], 0x3c003c00u);
    EXPECT_EQ(out[256 + 5], 0x3f800000u); // 5 is the bit pattern of a subnormal number
}

TEST(BulkCopies, a_request_for_the_work_of_another_cluster_is_declined) {
    const std::string ask =
        "@%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 16;\n"
        "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
        "cvta.shared.u64 %g0, tile;\ncvta.shared.u64 %g1, bar;\n.reg .b128 %q;\n";
    const std::string answer =
        WAIT + "ld.shared.b128 %q, [%tile];\n"
               "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %q;\n"
               "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 "
               "{%r5, %r6, %r7, _}, %q;\n"
               "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r5, %q;\n"
               "barrier.sync 0;\nmad.lo.u32 %r1, %l, 4, %tile;\n"
               "selp.u32 %r2, 1, 5, %p1;\nst.shared.u32 [%r1], %r2;\n";
    // Each block for itself; with generic addresses; the first block of a cluster for all.
    for (const char* const request :
         {"@%first clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes"
          ".b128 [%tile], [%bar];\n",
          "@%first clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.b128 "
          "[%g0], [%g1];\n",
          "setp.eq.and.u32 %p0, %k, 0, %first;\n"
          "@%p0 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes"
          ".multicast::cluster::all.b128 [%tile], [%bar];\n"}) {
        const std::vector<U> out = run_kernel(ask + request + answer);
        for (U i = 0; i < 128; ++i) {
            EXPECT_EQ(out[i], 5u) << request;
        }
    }
}

TEST(BulkCopies, a_kernel_knows_whether_it_has_clusters) {
    const std::string body = "mov.pred %p0, %is_explicit_cluster;\nselp.u32 %r2, 1, 0, %p0;\n"
                             "mad.lo.u32 %r1, %l, 4, %tile;\nst.shared.u32 [%r1], %r2;\n";
    EXPECT_EQ(run_kernel(body)[0], 1u);
    TestDevice device;
    auto* const out = device.allocate<U>(512);
    const Fault fault = test::run(device, kernel(body), {}, reinterpret_cast<std::uint64_t>(out));
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    EXPECT_EQ(out[0], 0u);
}

} // namespace

} // namespace cuprum::emulator
