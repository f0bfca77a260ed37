// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Barriers in shared memory: phases, counts, transactions, and waits that let other threads run.

#include "exec/harness.hpp"

#include <algorithm>

namespace cuprum::emulator {

namespace {

using test::ptx_module;
using test::Shape;
using test::TestDevice;

using U = std::uint32_t;

/// Returns a kernel whose thread 0 initialises a barrier with `count` arrivals before all threads
/// run `body`. %b is its address, %l the thread, %out the address of the results and %mine the
/// thread's own word there.
std::string kernel(const std::string& count, const std::string& body) {
    return R"(.visible .entry k(.param .u64 pout)
{
    .reg .b64 %out, %mine, %s<8>, %g;
    .reg .b32 %l, %b, %r<8>;
    .reg .pred %p<8>;
    .shared .align 8 .b64 bar[4];
    .shared .align 4 .b32 word;
    ld.param.u64 %out, [pout];
    mov.u32 %l, %tid.x;
    mad.wide.u32 %mine, %l, 4, %out;
    mov.u32 %b, bar;
    setp.eq.u32 %p0, %l, 0;
    @%p0 mbarrier.init.shared::cta.b64 [%b], )" +
           count + R"(;
    @%p0 st.shared.u32 [word], 0;
    bar.sync 0;
)" + body + "\nret;\n}\n";
}

struct Result {
    Fault fault;
    std::vector<U> out;
};

Result run_kernel(const std::string& count, const std::string& body, U threads) {
    TestDevice device;
    auto* const out = device.allocate<U>(1024);
    Result result;
    result.fault = test::run(device, kernel(count, body), {.block = threads},
                             reinterpret_cast<std::uint64_t>(out));
    result.out.assign(out, out + 1024);
    return result;
}

/// Runs one thread and returns the first words that it stored.
std::vector<U> run_thread(const std::string& count, const std::string& body) {
    Result result = run_kernel(count, body, 1);
    EXPECT_EQ(result.fault.kind, FaultKind::None) << result.fault.report;
    result.out.resize(8);
    return result.out;
}

/// Stores in word `index` whether a wait for a parity succeeds.
std::string store_parity(const std::string& parity, int index) {
    return "mbarrier.test_wait.parity.shared.b64 %p1, [%b], " + parity +
           ";\nselp.u32 %r7, 1, 0, %p1;\nst.global.u32 [%out+" + std::to_string(4 * index) +
           "], %r7;\n";
}

TEST(Mbarrier, a_phase_ends_with_its_last_arrival) {
    const auto out =
        run_thread("2", store_parity("0", 0) + store_parity("1", 1) +
                            "mbarrier.arrive.shared.b64 %s0, [%b];\n" + store_parity("0", 2) +
                            "mbarrier.arrive.release.cta.shared::cta.b64 _, [%b];\n" +
                            store_parity("0", 3) + store_parity("1", 4) +
                            "mbarrier.arrive.shared::cta.b64 _, [%b], 2;\n" + store_parity("1", 5));
    EXPECT_EQ(out, (std::vector<U>{0, 1, 0, 1, 0, 1, 0, 0}));
}

TEST(Mbarrier, all_barriers_have_the_first_layout) {
    const auto out = run_thread(
        "1", "mbarrier.inval.shared.b64 [%b];\nmbarrier.init.layout::v0.shared.b64 [%b], 2;\n"
             "mbarrier.check_layout.layout::v0.shared::cta.b64 %p1, [%b];\n"
             "mbarrier.check_layout.layout::v1.shared::cta.b64 %p2, [%b];\n"
             "selp.u32 %r0, 1, 0, %p1;\nst.global.u32 [%out], %r0;\n"
             "selp.u32 %r0, 1, 0, %p2;\nst.global.u32 [%out+4], %r0;\n"
             "mbarrier.arrive.noComplete.shared.b64 %s0, [%b], 1;\n"
             "mbarrier.pending_count.layout::v0.b64 %r0, %s0;\nst.global.u32 [%out+8], %r0;\n"
             "mbarrier.arrive.shared.b64 _, [%b];\n"
             "mbarrier.try_wait.parity.phase_type::primary.acquire.cta.shared::cta.b64 %p1, [%b], "
             "0;\nselp.u32 %r0, 1, 0, %p1;\nst.global.u32 [%out+12], %r0;\n");
    EXPECT_EQ(out, (std::vector<U>{1, 0, 2, 1, 0, 0, 0, 0}));
}

TEST(Mbarrier, a_state_is_awaited_and_tells_what_was_pending) {
    const auto out =
        run_thread("5", "mbarrier.arrive.noComplete.release.cta.shared.b64 %s0, [%b], 3;\n"
                        "mbarrier.arrive.noComplete.shared.b64 %s1, [%b], 1;\n"
                        "mbarrier.pending_count.b64 %r0, %s0;\nst.global.u32 [%out], %r0;\n"
                        "mbarrier.pending_count.b64 %r0, %s1;\nst.global.u32 [%out+4], %r0;\n"
                        "mbarrier.test_wait.shared.b64 %p1, [%b], %s0;\nselp.u32 %r0, 1, 0, %p1;\n"
                        "st.global.u32 [%out+8], %r0;\n"
                        "mbarrier.arrive.shared.b64 %s2, [%b];\n"
                        "mbarrier.try_wait.acquire.cta.shared::cta.b64 %p1, [%b], %s2, 1000;\n"
                        "selp.u32 %r0, 1, 0, %p1;\nst.global.u32 [%out+12], %r0;\n"
                        "mbarrier.arrive.shared.b64 %s2, [%b];\n"
                        "mbarrier.pending_count.b64 %r0, %s2;\nst.global.u32 [%out+16], %r0;\n");
    EXPECT_EQ(out, (std::vector<U>{5, 2, 0, 1, 5, 0, 0, 0}));
}

TEST(Mbarrier, dropping_out_lowers_what_later_phases_expect) {
    const auto out = run_thread("3", "mbarrier.arrive_drop.shared.b64 _, [%b], 2;\n"
                                     "mbarrier.arrive.shared.b64 _, [%b];\n" +
                                         store_parity("0", 0) +
                                         "mbarrier.arrive.shared.b64 %s0, [%b];\n"
                                         "mbarrier.pending_count.b64 %r0, %s0;\n"
                                         "st.global.u32 [%out+4], %r0;\n" +
                                         store_parity("1", 2));
    EXPECT_EQ(out, (std::vector<U>{1, 1, 1, 0, 0, 0, 0, 0}));
}

TEST(Mbarrier, announced_bytes_must_arrive_too) {
    const auto out = run_thread(
        "1", "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%b], 64;\n" +
                 store_parity("0", 0) +
                 "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%b], 48;\n" +
                 store_parity("0", 1) + "mbarrier.complete_tx.shared::cta.b64 [%b], 16;\n" +
                 store_parity("0", 2) +
                 // Bytes may also arrive before they are announced.
                 "mbarrier.complete_tx.shared::cta.b64 [%b], 8;\n"
                 "mbarrier.arrive.shared.b64 _, [%b];\n" +
                 store_parity("1", 3) +
                 "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%b], 12;\n"
                 "mbarrier.complete_tx.shared::cta.b64 [%b], 4;\n" +
                 store_parity("1", 4));
    EXPECT_EQ(out, (std::vector<U>{0, 0, 1, 0, 1, 0, 0, 0}));
}

TEST(Mbarrier, generic_addresses_lead_to_shared_memory) {
    const auto out = run_thread("1", "cvta.shared.u64 %g, bar;\nmbarrier.arrive.b64 %s0, [%g];\n"
                                     "mbarrier.test_wait.b64 %p1, [%g], %s0;\n"
                                     "selp.u32 %r0, 1, 0, %p1;\nst.global.u32 [%out], %r0;\n"
                                     "mbarrier.init.b64 [%g+16], 4;\n"
                                     "mbarrier.arrive.shared.b64 %s1, [%b+16];\n"
                                     "mbarrier.pending_count.b64 %r0, %s1;\n"
                                     "st.global.u32 [%out+4], %r0;\n");
    EXPECT_EQ(out[0], 1u);
    EXPECT_EQ(out[1], 4u);
}

TEST(Mbarrier, copies_arrive_with_and_without_being_expected) {
    const auto out = run_thread("2", "cp.async.mbarrier.arrive.shared.b64 [%b];\n"
                                     "mbarrier.arrive.shared.b64 %s0, [%b];\n"
                                     "mbarrier.pending_count.b64 %r0, %s0;\n"
                                     "st.global.u32 [%out], %r0;\n"
                                     "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%b];\n" +
                                         store_parity("0", 1));
    EXPECT_EQ(out[0], 2u);
    EXPECT_EQ(out[1], 1u);
}

/// Copies 64 bytes to global memory and back; %b+32 is the address in shared memory.
std::string bulk_round_trip(const std::string& size) {
    return "mov.u32 %r0, 11;\nst.shared.u32 [big], %r0;\nmov.u32 %r0, 22;\n"
           "st.shared.u32 [big+60], %r0;\nmov.u32 %r1, big;\n"
           "cp.async.bulk.global.shared::cta.bulk_group [%out], [%r1], " +
           size +
           ";\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;\n"
           "st.global.u32 [%out+60], 33;\n"
           "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], 64;\n"
           "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1+64], [%out], " +
           size + ", [%b];\n" + store_parity("0", 1) +
           "ld.shared.u32 %r0, [big+64];\nst.global.u32 [%out+8], %r0;\n"
           "ld.shared.u32 %r0, [big+124];\nst.global.u32 [%out+12], %r0;\n";
}

TEST(Mbarrier, bulk_copies_deliver_the_bytes_announced) {
    const std::string shared = ".shared .align 16 .b8 big[128];\n";
    const auto out = run_thread("1", shared + bulk_round_trip("64"));
    EXPECT_EQ(out[0], 11u);
    EXPECT_EQ(out[1], 1u);
    EXPECT_EQ(out[2], 11u);
    EXPECT_EQ(out[3], 33u);
    const Fault uneven = run_kernel("1", shared + bulk_round_trip("60"), 1).fault;
    EXPECT_EQ(uneven.kind, FaultKind::IllegalInstruction);
    EXPECT_NE(uneven.report.find("60 bytes; expected a multiple of 16"), std::string::npos);
    const Fault beyond = run_kernel("1", shared + bulk_round_trip("4096"), 1).fault;
    EXPECT_EQ(beyond.kind, FaultKind::IllegalAddress);
    EXPECT_NE(beyond.report.find("shared memory"), std::string::npos) << beyond.report;
}

TEST(Mbarrier, waiting_warps_let_the_others_run) {
    // Every thread adds to a word, arrives and waits; then all must see the whole sum. Repeats ten
    // times.
    for (const U threads : {32u, 33u, 256u, 1024u}) {
        const Result result = run_kernel(std::to_string(threads), R"(
    mov.u32 %r0, 0;
    mov.u32 %r3, 0;
LOOP:
    atom.shared.add.u32 %r1, [word], 1;
    mbarrier.arrive.shared.b64 %s0, [%b];
WAIT:
    mbarrier.try_wait.shared.b64 %p1, [%b], %s0;
    @!%p1 bra WAIT;
    ld.shared.u32 %r2, [word];
    add.u32 %r3, %r3, %r2;
    mbarrier.arrive.shared.b64 %s0, [%b];
AGAIN:
    mbarrier.test_wait.shared.b64 %p1, [%b], %s0;
    @!%p1 bra AGAIN;
    add.u32 %r0, %r0, 1;
    setp.lt.u32 %p2, %r0, 10;
    @%p2 bra LOOP;
    st.global.u32 [%mine], %r3;
)",
                                         threads);
        ASSERT_EQ(result.fault.kind, FaultKind::None) << result.fault.report;
        for (U thread = 0; thread < threads; ++thread) {
            ASSERT_EQ(result.out[thread], 55 * threads) << thread << " of " << threads;
        }
    }
}

TEST(Mbarrier, lanes_of_one_warp_may_wait_for_each_other) {
    // Lane 0 waits for the 31 other lanes, which arrive at another place of the code.
    const Result result = run_kernel("31", R"(
    setp.ne.u32 %p1, %l, 0;
    @%p1 bra OTHERS;
WAIT:
    mbarrier.try_wait.parity.shared.b64 %p2, [%b], 0;
    @!%p2 bra WAIT;
    ld.shared.u32 %r0, [word];
    st.global.u32 [%out], %r0;
    bra DONE;
OTHERS:
    atom.shared.add.u32 %r1, [word], %l;
    mbarrier.arrive.shared.b64 _, [%b];
DONE:
)",
                                     32);
    ASSERT_EQ(result.fault.kind, FaultKind::None) << result.fault.report;
    EXPECT_EQ(result.out[0], 31u * 32 / 2);
}

// As on an H200. The check "initialized" reports it.
TEST(Mbarrier, one_that_was_invalidated_still_works) {
    const auto result = run_kernel("2",
                                   "mbarrier.inval.shared.b64 [%b];\n"
                                   "mbarrier.arrive.shared.b64 _, [%b];\n"
                                   "mbarrier.arrive.shared.b64 _, [%b];",
                                   1);
    EXPECT_EQ(result.fault.kind, FaultKind::None) << result.fault.report;
}

TEST(Mbarrier, misuse_is_a_fault_that_says_what) {
    const auto expect_fault = [](const std::string& body, FaultKind kind,
                                 const std::string& words) {
        const Fault fault = run_kernel("2", body, 1).fault;
        EXPECT_EQ(fault.kind, kind) << body;
        EXPECT_NE(fault.report.find(words), std::string::npos) << fault.report;
    };
    expect_fault("mbarrier.arrive.shared::cta.b64 _, [%b], 3;", FaultKind::IllegalInstruction,
                 "3 arrivals at an mbarrier that waits for 2");
    expect_fault("mbarrier.init.shared.b64 [%b], 0;", FaultKind::IllegalInstruction,
                 "count of 0; expected 1 to 1048575");
    expect_fault("st.shared.u64 [%b], 0;\nmbarrier.arrive.shared.b64 _, [%b];",
                 FaultKind::IllegalInstruction, "mbarrier.init has not run");
    expect_fault("mbarrier.arrive.noComplete.shared.b64 %s0, [%b], 2;",
                 FaultKind::IllegalInstruction, ".noComplete completes the phase");
    expect_fault("mbarrier.expect_tx.shared::cta.b64 [%b], 1048576;", FaultKind::IllegalInstruction,
                 "at most 1048575");
    expect_fault("mbarrier.arrive.shared.b64 _, [%b+4];", FaultKind::MisalignedAddress,
                 "multiple of 8");
    expect_fault("mbarrier.arrive.shared.b64 _, [%b+8192];", FaultKind::IllegalAddress,
                 "shared memory");
    expect_fault("mbarrier.arrive.b64 _, [%out];", FaultKind::InvalidAddressSpace,
                 "must lie in shared memory");
}

TEST(Mbarrier, forms_that_do_not_exist_are_refused_by_name) {
    TestDevice device;
    EXPECT_EQ(device.compile(ptx_module(kernel("1", "mbarrier.leave.shared.b64 [%b];"))), nullptr);
    EXPECT_NE(device.log.find("'mbarrier.leave.shared.b64'"), std::string::npos) << device.log;
    EXPECT_EQ(device.compile(ptx_module(kernel("1", "mbarrier.arrive.global.b64 _, [%out];"))),
              nullptr);
    EXPECT_NE(device.log.find(".global"), std::string::npos) << device.log;
}

/// The loops that compilers write to wait for a phase.
const std::vector<std::string> WAIT_LOOPS{
    "WAIT:\nmbarrier.try_wait.shared.b64 %p1, [%b], %s0;\n@!%p1 bra WAIT;\n",
    "WAIT:\nmbarrier.try_wait.parity.shared.b64 %p1, [%b], 0;\n@%p1 bra DONE;\nbra WAIT;\nDONE:\n",
    "WAIT:\nmbarrier.test_wait.shared.b64 %p1, [%b], %s0;\nselp.b32 %r0, 1, 0, %p1;\n"
    "setp.eq.u32 %p2, %r0, 0;\n@%p2 bra WAIT;\n",
    "WAIT:\nadd.u32 %r1, %b, 0;\nmbarrier.try_wait.shared.b64 %p1, [%r1], %s0, 100;\n"
    "nanosleep.u32 20;\n@!%p1 bra WAIT;\n"};

TEST(Mbarrier, a_phase_that_nobody_can_complete_is_a_deadlock) {
    for (const std::string& loop : WAIT_LOOPS) {
        const std::string body = "mbarrier.arrive.shared.b64 %s0, [%b];\n" + loop;
        EXPECT_EQ(run_kernel("64", body, 64).fault.kind, FaultKind::None) << loop;
        const Fault fault = run_kernel("65", body, 64).fault;
        EXPECT_EQ(fault.kind, FaultKind::Deadlock) << loop << fault.report;
        for (const char* part :
             {"deadlock: every remaining thread waits for another thread",
              "warp 0: lanes 0-31 wait for ", "warp 1: lanes 0-31 wait for ", "_wait."}) {
            EXPECT_NE(fault.report.find(part), std::string::npos) << part << "\n" << fault.report;
        }
    }
    const Fault fault =
        run_kernel("65", "mbarrier.arrive.shared.b64 %s0, [%b];\n" + WAIT_LOOPS[0], 64).fault;
    EXPECT_NE(fault.report.find("of shared memory, whose phase needs 1 more arrival (parity "),
              std::string::npos)
        << fault.report;
}

TEST(Mbarrier, missing_bytes_are_a_deadlock_that_says_how_many) {
    const Fault fault = run_kernel("1",
                                   "setp.ne.u32 %p1, %l, 0;\n@%p1 bra AT_BARRIER;\n"
                                   "mbarrier.arrive.expect_tx.shared::cta.b64 %s0, [%b], 96;\n" +
                                       WAIT_LOOPS[0] + "AT_BARRIER:\nbarrier.sync 1;\n",
                                   64)
                            .fault;
    EXPECT_EQ(fault.kind, FaultKind::Deadlock);
    for (const char* part : {"needs 0 more arrivals and 96 more bytes",
                             "wait at barrier 1, where 63 of 64 threads have arrived"}) {
        EXPECT_NE(fault.report.find(part), std::string::npos) << part << "\n" << fault.report;
    }
}

TEST(Mbarrier, a_wait_that_ends_by_itself_is_no_deadlock) {
    // No thread arrives. The loops count their rounds, or read a clock or other memory.
    const std::string test = "WAIT:\nmbarrier.test_wait.parity.shared.b64 %p1, [%b], 0;\n";
    const std::vector<std::string> loops{
        "mov.u32 %r0, 0;\n" + test +
            "add.u32 %r0, %r0, 1;\nsetp.gt.u32 %p2, %r0, 1000;\nor.pred %p3, %p1, %p2;\n"
            "@!%p3 bra WAIT;\n",
        "mov.u64 %s1, %clock64;\n" + test +
            "mov.u64 %s2, %clock64;\nsub.u64 %s3, %s2, %s1;\nsetp.gt.u64 %p2, %s3, 100000;\n"
            "or.pred %p3, %p1, %p2;\n@!%p3 bra WAIT;\n",
        // The loop is entered after the test, so its first round does not test the barrier.
        "mbarrier.arrive.shared.b64 _, [%b+16];\nsetp.ne.u32 %p1, %l, %l;\nbra FIRST;\n"
        "WAIT:\nmbarrier.test_wait.parity.shared.b64 %p1, [%b+16], 0;\nFIRST:\n"
        "@!%p1 bra WAIT;\n",
        "setp.eq.u32 %p4, %l, 63;\n@%p4 st.volatile.shared.u32 [word], 1;\n" + test +
            "ld.volatile.shared.u32 %r1, [word];\nsetp.ne.u32 %p2, %r1, 0;\n"
            "or.pred %p3, %p1, %p2;\n@!%p3 bra WAIT;\n"};
    for (const std::string& loop : loops) {
        const std::string second = "@%p0 mbarrier.init.shared.b64 [%b+16], 64;\nbar.sync 0;\n";
        const Result result = run_kernel("1", second + loop + "st.global.u32 [%mine], 7;\n", 64);
        ASSERT_EQ(result.fault.kind, FaultKind::None) << loop << result.fault.report;
        EXPECT_EQ(std::count(result.out.begin(), result.out.begin() + 64, 7u), 64) << loop;
    }
}

TEST(Mbarrier, waiting_works_in_every_schedule) {
    // Two barriers pass a number back and forth between two warps, and between lanes of one warp.
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        exec::Engine::instance().configure({.worker_count = 1, .is_random = true, .seed = seed});
        const Result result = run_kernel("1", R"(
    setp.eq.u32 %p0, %l, 0;
    @%p0 mbarrier.init.shared.b64 [%b+8], 1;
    bar.sync 0;
    mov.u32 %r0, 0;
    setp.eq.u32 %p4, %l, 32;
    @%p0 bra FIRST;
    @%p4 bra SECOND;
    bra END;
FIRST:
    ld.shared.u32 %r1, [word];
    add.u32 %r1, %r1, 1;
    st.shared.u32 [word], %r1;
    mbarrier.arrive.shared.b64 _, [%b];
WAIT1:
    mbarrier.try_wait.parity.shared.b64 %p1, [%b+8], %r0;
    @!%p1 bra WAIT1;
    xor.b32 %r0, %r0, 1;
    ld.shared.u32 %r1, [word];
    setp.lt.u32 %p2, %r1, 200;
    @%p2 bra FIRST;
    st.global.u32 [%out], %r1;
    bra END;
SECOND:
    mbarrier.try_wait.parity.shared.b64 %p1, [%b], %r0;
    @!%p1 bra SECOND;
    xor.b32 %r0, %r0, 1;
    ld.shared.u32 %r1, [word];
    add.u32 %r1, %r1, 1;
    st.shared.u32 [word], %r1;
    mbarrier.arrive.shared.b64 _, [%b+8];
    setp.lt.u32 %p2, %r1, 200;
    @%p2 bra SECOND;
END:
)",
                                         64);
        ASSERT_EQ(result.fault.kind, FaultKind::None) << seed << "\n" << result.fault.report;
        EXPECT_EQ(result.out[0], 200u) << seed;
    }
    exec::Engine::instance().configure({});
}

} // namespace

} // namespace cuprum::emulator
