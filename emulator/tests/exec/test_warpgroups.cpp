// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// wgmma: how the four warps of a warpgroup meet, and what is refused. The products themselves are
// compared in ../compare/warpgroups.py, on a GPU too.

#include "exec/harness.hpp"

namespace cuprum::emulator {

namespace {

using test::Shape;
using test::TestDevice;

constexpr Shape ONE_GROUP{.block = 128};
constexpr const char* TARGET = "sm_90a";

const std::string FENCE = "wgmma.fence.sync.aligned;\n";
const std::string PRODUCT =
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, "
    "{%a, %a, %a, %a}, %db, 1, 1, 1, 0;\n";
const std::string WAIT = "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
const std::string STORE = "st.global.v4.f32 [%mine], {%f0, %f1, %f2, %f3};\n";

/// Returns a kernel in which B, 8 columns of 16 halves, is all ones in shared memory, and %db its
/// descriptor. %a holds two ones, %f0 to %f3 hold 100 to 103, and %mine is the thread's part of the
/// result.
std::string module(const std::string& body, const std::string& target = TARGET) {
    return ".version 8.4\n.target " + target + R"(
.address_size 64
.visible .entry k(.param .u64 out)
{
    .shared .align 128 .b32 b[128];
    .shared .align 8 .b64 gate;
    .reg .b32 %t, %a, %at, %r<8>;
    .reg .b64 %mine, %db, %da, %x<8>;
    .reg .f32 %f<16>;
    .reg .pred %p<8>;
    mov.u32 %t, %tid.x;
    ld.param.u64 %mine, [out];
    mad.wide.u32 %mine, %t, 16, %mine;
    mov.b32 %a, 0x3c003c00;
    mov.u32 %at, b;
    setp.lt.u32 %p0, %t, 64;
    mad.lo.u32 %r0, %t, 4, %at;
    @%p0 st.shared.b32 [%r0], %a;
    setp.eq.u32 %p1, %t, 0;
    mov.u32 %r1, gate;
    @%p1 mbarrier.init.shared::cta.b64 [%r1], 1;
    shr.u32 %r2, %at, 4;
    cvt.u64.u32 %db, %r2;
    or.b64 %db, %db, 0x0000000800080000; // 128 bytes between core matrices
    mov.f32 %f0, 0f42c80000;
    mov.f32 %f1, 0f42ca0000;
    mov.f32 %f2, 0f42cc0000;
    mov.f32 %f3, 0f42ce0000;
    fence.proxy.async;
    bar.sync 0;
)" + body + "\nret;\n}\n";
}

struct Result {
    Fault fault;
    std::vector<float> values;
};

Result run_module(const std::string& body, Shape shape = ONE_GROUP) {
    TestDevice device;
    auto* const out = device.allocate<float>(std::size_t{4} * shape.block);
    const auto kernel = device.compile(module(body));
    EXPECT_NE(kernel, nullptr) << device.log;
    if (kernel == nullptr) {
        return {};
    }
    Result result;
    result.fault = test::Launch(device, kernel, shape, reinterpret_cast<std::uint64_t>(out)).wait();
    result.values.assign(out, out + std::size_t{4} * shape.block);
    return result;
}

void expect_report(const std::string& body, FaultKind kind,
                   std::initializer_list<const char*> parts, Shape shape = ONE_GROUP) {
    const Fault fault = run_module(body, shape).fault;
    EXPECT_EQ(fault.kind, kind) << fault.report;
    for (const char* const part : parts) {
        EXPECT_NE(fault.report.find(part), std::string::npos) << "missing: " << part << "\n"
                                                              << fault.report;
    }
}

void expect_refusal(const std::string& body, std::initializer_list<const char*> parts,
                    const std::string& target = TARGET) {
    TestDevice device;
    EXPECT_EQ(device.compile(module(body, target)), nullptr) << body;
    EXPECT_EQ(device.problem, ptx::Problem::Syntax) << device.log;
    for (const char* const part : parts) {
        EXPECT_NE(device.log.find(part), std::string::npos) << "missing: " << part << "\n"
                                                            << device.log;
    }
}

TEST(Warpgroups, four_warps_multiply_together) {
    const Result result = run_module(FENCE + PRODUCT + WAIT + STORE);
    ASSERT_EQ(result.fault.kind, FaultKind::None) << result.fault.report;
    for (std::size_t i = 0; i < result.values.size(); ++i) {
        EXPECT_EQ(result.values[i], 116.0f + static_cast<float>(i % 4)) << i;
    }
}

TEST(Warpgroups, every_warpgroup_of_a_block_has_its_own_product) {
    // The second warpgroup negates A and runs twice.
    std::string other = PRODUCT;
    other.replace(other.find("1, 1, 1, 0"), 10, "1, -1, 1, 0");
    const Result result =
        run_module(FENCE + "setp.ge.u32 %p2, %t, 128;\n@%p2 bra SECOND;\n" + PRODUCT +
                       "bra DONE;\nSECOND:\n" + other + other + "DONE:\n" + WAIT + STORE,
                   {.block = 256});
    ASSERT_EQ(result.fault.kind, FaultKind::None) << result.fault.report;
    EXPECT_EQ(result.values[0], 116.0f);
    EXPECT_EQ(result.values[511], 119.0f);
    EXPECT_EQ(result.values[512], 68.0f);
    EXPECT_EQ(result.values[1023], 71.0f);
}

TEST(Warpgroups, scale_d_decides_whether_the_old_value_counts) {
    std::string call = PRODUCT;
    call.replace(call.find("%db, 1"), 6, "%db, %p3");
    const std::string set = "setp.ne.u32 %p3, %r3, 0;\n";
    EXPECT_EQ(run_module("mov.u32 %r3, 0;\n" + set + FENCE + call + WAIT + STORE).values[2], 16.0f);
    EXPECT_EQ(run_module("mov.u32 %r3, 1;\n" + set + FENCE + call + WAIT + STORE).values[2],
              118.0f);
}

TEST(Warpgroups, old_values_may_come_from_copies_in_another_order) {
    // The copies let the compiler read other registers than it writes.
    const Result result = run_module(
        "mov.f32 %f8, %f3;\nmov.f32 %f9, %f2;\nmov.f32 %f10, %f1;\nmov.f32 %f11, %f0;\n" + FENCE +
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f8, %f9, %f10, %f11}, "
        "{%a, %a, %a, %a}, %db, 1, 1, 1, 0;\n" +
        WAIT + "st.global.v4.f32 [%mine], {%f8, %f9, %f10, %f11};\n");
    ASSERT_EQ(result.fault.kind, FaultKind::None) << result.fault.report;
    for (std::size_t i = 0; i < result.values.size(); ++i) {
        EXPECT_EQ(result.values[i], 119.0f - static_cast<float>(i % 4)) << i;
    }
}

TEST(Warpgroups, one_thread_may_give_the_buffer_back_for_its_warpgroup) {
    // Warp 4 overwrites B as soon as thread 0 says that the product is complete.
    const Result result = run_module(
        "setp.ge.u32 %p2, %t, 128;\n@%p2 bra PRODUCER;\n" + FENCE + PRODUCT + WAIT +
            "@%p1 mbarrier.arrive.shared::cta.b64 _, [%r1];\nbra DONE;\n"
            "PRODUCER:\n"
            "mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r1], 0;\n"
            "@!%p3 bra PRODUCER;\n"
            "sub.u32 %r0, %r0, 512;\nst.shared.b32 [%r0], 0;\nst.shared.b32 [%r0+128], 0;\n"
            "DONE:\n" +
            STORE,
        {.block = 160});
    ASSERT_EQ(result.fault.kind, FaultKind::None) << result.fault.report;
    for (std::size_t i = 0; i < 512; ++i) {
        EXPECT_EQ(result.values[i], 116.0f + static_cast<float>(i % 4)) << i;
    }
}

TEST(Warpgroups, a_block_without_a_whole_warpgroup_is_reported) {
    expect_report(FENCE + PRODUCT, FaultKind::IllegalInstruction,
                  {"threads 0 to 127, but the block has 96 threads; use a multiple of 128",
                   "wgmma.mma_async.sync.aligned.m64n8k16"},
                  {.block = 96});
    expect_report("setp.lt.u32 %p2, %t, 128;\n@%p2 bra DONE;\n" + FENCE + PRODUCT + "DONE:\n",
                  FaultKind::IllegalInstruction,
                  {"threads 128 to 255, but the block has 192 threads"}, {.block = 192});
}

TEST(Warpgroups, missing_lanes_and_warps_are_reported) {
    expect_report("and.b32 %r3, %t, 1;\nsetp.eq.u32 %p2, %r3, 0;\n@%p2 exit;\n" + FENCE + PRODUCT,
                  FaultKind::IllegalInstruction,
                  {"only 16 lanes of the warp execute wgmma; all 128 threads"});
    expect_report("setp.ge.u32 %p2, %t, 96;\n@%p2 exit;\n" + FENCE + PRODUCT,
                  FaultKind::IllegalInstruction,
                  {"wgmma needs all 128 threads of the warpgroup, but threads of warp 3 have "
                   "exited"});
}

TEST(Warpgroups, a_warp_that_waits_elsewhere_is_a_deadlock) {
    expect_report("setp.ge.u32 %p2, %t, 96;\n@%p2 bra LATE;\n" + FENCE + PRODUCT +
                      "bar.sync 1;\nbra DONE;\nLATE:\nbar.sync 1;\n" + FENCE + PRODUCT + "DONE:\n",
                  FaultKind::Deadlock,
                  {"warp 0: lanes 0-31 wait at wgmma for warp 3 of the warpgroup",
                   "warp 3: lanes 0-31 wait at barrier 1"});
}

TEST(Warpgroups, warps_that_disagree_are_reported) {
    expect_report("cvt.u64.u32 %x1, %t;\nand.b64 %x1, %x1, 64;\nadd.u64 %db, %db, %x1;\n" + FENCE +
                      PRODUCT,
                  FaultKind::IllegalInstruction,
                  {"warps 0 and 2 of a warpgroup have different matrix descriptors"});
    expect_report("cvt.u64.u32 %x1, %t;\nand.b64 %x1, %x1, 1;\nadd.u64 %db, %db, %x1;\n" + FENCE +
                      PRODUCT,
                  FaultKind::IllegalInstruction,
                  {"lanes of a warp have different matrix descriptors of B", "thread (1, 0, 0)"});
    expect_report("setp.ge.u32 %p2, %t, 96;\n@%p2 bra OTHER;\n" + PRODUCT + "bra DONE;\nOTHER:\n" +
                      PRODUCT + "DONE:\n",
                  FaultKind::IllegalInstruction,
                  {"the warps of a warpgroup are at different wgmma.mma_async: warp ",
                   "all four must execute the same one"});
}

TEST(Warpgroups, a_descriptor_outside_shared_memory_is_reported) {
    expect_report("or.b64 %db, %db, 0x1000;\n" + FENCE + PRODUCT, FaultKind::IllegalAddress,
                  {"the descriptor of B leaves the block's shared memory: it reads 16 bytes at",
                   "start 0x10000, leading offset 128, stride offset 128, swizzle none"});
    expect_report("mov.b64 %da, 0x4000004000010000;\n" + FENCE +
                      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, "
                      "%da, %db, 1, 1, 1, 0, 0;\n",
                  FaultKind::IllegalAddress,
                  {"the descriptor of A leaves", "stride offset 1024, swizzle 128 bytes"});
}

TEST(Warpgroups, the_target_needs_its_letter) {
    for (const char* const target : {"sm_90", "sm_80"}) {
        expect_refusal(FENCE,
                       {"'wgmma.fence.sync.aligned' needs .target sm_90a; compile for "
                        "compute_90a or sm_90a"},
                       target);
    }
}

TEST(Warpgroups, what_specialised_warps_use_besides_is_accepted) {
    // These are the forms that CUTLASS writes.
    const Result result =
        run_module("setmaxnreg.dec.sync.aligned.u32 40;\nsetmaxnreg.inc.sync.aligned.u32 232;\n"
                   "griddepcontrol.wait;\ngriddepcontrol.launch_dependents;\n"
                   "elect.sync %r3|%p2, 0xffffffff;\n"
                   "barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;\n"
                   "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.acquire.aligned;\n" +
                   FENCE +
                   "{\n.reg .pred p;\nsetp.ne.b32 p, %r7, %r7;\n"
                   "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, "
                   "{%a, %a, %a, %a}, %db, p, 1, 1, 0;\n}\n" +
                   WAIT + "@%p2 add.f32 %f0, %f0, 0f3f800000;\n" + STORE);
    ASSERT_EQ(result.fault.kind, FaultKind::None) << result.fault.report;
    EXPECT_EQ(result.values[0], 17.0f) << "of the elected lane";
    EXPECT_EQ(result.values[1], 16.0f);
    EXPECT_EQ(result.values[4], 16.0f);
}

TEST(Warpgroups, wrong_forms_are_refused) {
    const auto refuse = [](const std::string& types, const std::string& operands,
                           const char* reason) {
        expect_refusal("wgmma.mma_async." + types + " " + operands + ";\n", {reason});
    };
    const std::string d = "{%f0, %f1, %f2, %f3}";
    const std::string a = ", {%a, %a, %a, %a}, %db";
    refuse("sync.aligned.m64n12k16.f32.f16.f16", d + a + ", 1, 1, 1, 0",
           "has n = 12; expected a multiple of 8 up to 256");
    refuse("sync.aligned.m64n40k32.s32.s8.s8", d + a + ", 1",
           "has n = 40; expected 8, 24 or a multiple of 16 up to 256");
    refuse("sync.aligned.m64n8k8.f32.f16.f16", d + a + ", 1, 1, 1, 0", "has k = 8; expected 16");
    refuse("sync.aligned.m64n8k16.f16.bf16.bf16", d + a + ", 1, 1, 1, 0", "combines types");
    refuse("sync.aligned.m64n8k16.f32.f16.bf16", d + a + ", 1, 1, 1, 0", "combines types");
    refuse("sync.aligned.m64n8k256.s32.b1.b1", d + a + ", 1", "needs .and.popc for b1");
    refuse("sync.aligned.m64n8k16.satfinite.f32.f16.f16", d + a + ", 1, 1, 1, 0", ".satfinite");
    refuse("sync.aligned.m64n8k16.f32.f16.f16", "{%f0, %f1}" + a + ", 1, 1, 1, 0",
           "has 2 registers as operand 1; expected 4");
    refuse("sync.aligned.m64n8k16.f32.f16.f16", d + ", {%a, %a}, %db, 1, 1, 1, 0",
           "has 2 registers as operand 2; expected 4");
    refuse("sync.aligned.m64n8k16.f32.f16.f16", d + a + ", 1, 2, 1, 0",
           "needs the constant -1 or 1 as operand 5, imm-scale-a");
    refuse("sync.aligned.m64n8k16.f32.f16.f16", d + a + ", 1, 1, 1, 2",
           "needs the constant 0 or 1 as operand 7, imm-trans-b");
    refuse("sp.sync.aligned.m64n8k32.f32.f16.f16", d + a + ", %a, 2, 1, 1, 1, 0",
           "needs the constant 0 or 1 as operand 5, the sparsity selector");
    refuse("sp.sync.aligned.m64n8k64.f32.e4m3.e4m3", d + a + ", %a, 1, 1, 1, 1",
           "needs the constant 0 as operand 5, the sparsity selector");
    refuse("aligned.m64n8k16.f32.f16.f16", d + a + ", 1, 1, 1, 0", "needs .sync");
    refuse("sync.aligned.f32.f16.f16", d + a + ", 1, 1, 1, 0", "needs a shape");
    for (const char* const count : {"16", "260", "33", "%r0"}) {
        expect_refusal(std::string("setmaxnreg.inc.sync.aligned.u32 ") + count + ";\n",
                       {"needs a constant number of registers: a multiple of 8 from 24 to 256"});
    }
    expect_refusal("setmaxnreg.sync.aligned.u32 40;\n", {"needs .inc or .dec"});
    expect_refusal("wgmma.wait_group.sync.aligned %r0;\n", {"needs a constant number of groups"});
    expect_refusal("wgmma.sync.aligned;\n", {"needs .mma_async, .fence, .commit_group"});
}

} // namespace

} // namespace cuprum::emulator
