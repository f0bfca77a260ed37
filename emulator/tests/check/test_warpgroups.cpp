// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// wgmma: each mistake that a GPU may hide once, beside the kernel without it.

#include "check/checked_kernel.hpp"

namespace cuprum::emulator {

namespace {

using test::expect_report;
using test::TestDevice;

const std::string FENCE = "wgmma.fence.sync.aligned;\n";
const std::string PRODUCT = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "
                            "{%f0, %f1, %f2, %f3}, {%a0, %a1, %a2, %a3}, %db, 1, 1, 1, 0;\n";
const std::string COMMIT = "wgmma.commit_group.sync.aligned;\n";
const std::string WAIT = "wgmma.wait_group.sync.aligned 0;\n";
const std::string STORE = "st.global.v4.f32 [%mine], {%f0, %f1, %f2, %f3};\n";
const std::string SYNC = "bar.sync 0;\n";
const std::string PROXY_FENCE = "fence.proxy.async;\n";
const std::string WRITE_B = "@%p0 st.shared.b32 [%r0], %r7;\n";

/// Runs a kernel of one warpgroup with the check `races`. %db describes B, which the first 64
/// threads write with WRITE_B; `functions` stand before the kernel. %f0 to %f3 and %a0 to %a3 are
/// written in the beginning.
Fault races(const std::string& body, const std::string& functions = {}) {
    TestDevice device;
    device.enable_checks(CHECK_RACES);
    auto* const out = device.allocate<float>(512);
    const auto kernel = device.compile(R"(.version 8.4
.target sm_90a
.address_size 64
)" + functions + R"(.visible .entry planted(.param .u64 out)
{
    .shared .align 128 .b32 b[128];
    .reg .b32 %t, %at, %a<4>, %r<8>;
    .reg .b64 %mine, %db;
    .reg .f32 %f<8>;
    .reg .pred %p<8>;
    mov.u32 %t, %tid.x;
    ld.param.u64 %mine, [out];
    mad.wide.u32 %mine, %t, 16, %mine;
    mov.b32 %r7, 0x3c003c00;
    mov.b32 %a0, %r7;
    mov.b32 %a1, %r7;
    mov.b32 %a2, %r7;
    mov.b32 %a3, %r7;
    mov.u32 %at, b;
    setp.lt.u32 %p0, %t, 64;
    mad.lo.u32 %r0, %t, 4, %at;
    shr.u32 %r2, %at, 4;
    cvt.u64.u32 %db, %r2;
    or.b64 %db, %db, 0x0000000800080000; // 128 bytes between core matrices
    mov.f32 %f0, 0f00000000;
    mov.f32 %f1, 0f00000000;
    mov.f32 %f2, 0f00000000;
    mov.f32 %f3, 0f00000000;
)" + body + "\nret;\n}\n");
    EXPECT_NE(kernel, nullptr) << device.log;
    return kernel == nullptr
               ? Fault{}
               : test::Launch(device, kernel, {.block = 128}, reinterpret_cast<std::uint64_t>(out))
                     .wait();
}

const std::string READY = WRITE_B + PROXY_FENCE + SYNC;

TEST(CheckedWarpgroups, a_kernel_with_every_fence_and_wait_is_sound) {
    EXPECT_EQ(races(READY + FENCE + PRODUCT + PRODUCT + COMMIT + WAIT + STORE + SYNC + WRITE_B +
                    PROXY_FENCE + SYNC + "add.f32 %f0, %f0, %f1;\n" + FENCE + PRODUCT + COMMIT +
                    WAIT + STORE)
                  .kind,
              FaultKind::None);
}

TEST(CheckedWarpgroups, registers_that_were_written_need_a_fence) {
    expect_report(races(READY + PRODUCT), FaultKind::Race,
                  {"wgmma uses register %f0 without a wgmma.fence after it was written; execute "
                   "wgmma.fence.sync.aligned between",
                   "the write is\n    at PTX line 25: mov.f32 %f0, 0f00000000;",
                   "at PTX line 32: wgmma.mma_async"});
    expect_report(races(READY + FENCE + "add.u32 %a2, %a2, 1;\n" + PRODUCT), FaultKind::Race,
                  {"wgmma uses register %a2 without a wgmma.fence", "add.u32 %a2, %a2, 1;"});
}

TEST(CheckedWarpgroups, results_need_a_wait) {
    const std::initializer_list<const char*> parts{
        "register %f0 is read before the wgmma that writes it is known to be complete; execute "
        "wgmma.commit_group and wgmma.wait_group first",
        "the wgmma is\n    at PTX line 33: wgmma.mma_async", "st.global.v4.f32 [%mine]"};
    expect_report(races(READY + FENCE + PRODUCT + COMMIT + STORE), FaultKind::Race, parts);
    expect_report(races(READY + FENCE + PRODUCT + WAIT + STORE), FaultKind::Race, parts);
    expect_report(
        races(READY + FENCE + PRODUCT + COMMIT + "wgmma.wait_group.sync.aligned 1;\n" + STORE),
        FaultKind::Race, parts);
    // One group may stay pending if it does not use these registers.
    const std::string other = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "
                              "{%f4, %f5, %f6, %f7}, {%a0, %a1, %a2, %a3}, %db, 0, 1, 1, 0;\n";
    EXPECT_EQ(races(READY + FENCE + PRODUCT + COMMIT + other + COMMIT +
                    "wgmma.wait_group.sync.aligned 1;\n" + STORE + WAIT)
                  .kind,
              FaultKind::None);
}

TEST(CheckedWarpgroups, called_functions_fence_and_wait_for_their_caller) {
    const std::string functions = ".func order() {\n" + FENCE + "ret;\n}\n.func settle() {\n" +
                                  COMMIT + WAIT + "ret;\n}\n" + ".func commit() {\n" + COMMIT +
                                  "ret;\n}\n";
    const std::string call_order = "call.uni order;\n";
    EXPECT_EQ(races(READY + call_order + PRODUCT + "call.uni settle;\n" + STORE, functions).kind,
              FaultKind::None);
    expect_report(races(READY + call_order + PRODUCT + "call.uni commit;\n" + STORE, functions),
                  FaultKind::Race, {"register %f0 is read before the wgmma"});
    expect_report(races(READY + PRODUCT + "call.uni settle;\n" + STORE, functions), FaultKind::Race,
                  {"wgmma uses register %f0 without a wgmma.fence"});
}

TEST(CheckedWarpgroups, registers_of_a_pending_product_must_not_change) {
    expect_report(races(READY + FENCE + PRODUCT + COMMIT + "add.u32 %a1, %a1, 1;\n" + WAIT),
                  FaultKind::Race, {"register %a1 is written while a wgmma may still use it"});
    EXPECT_EQ(races(READY + FENCE + PRODUCT + COMMIT + WAIT + "add.u32 %a1, %a1, 1;\n").kind,
              FaultKind::None);
    EXPECT_EQ(races(READY + FENCE + PRODUCT + COMMIT + "add.u32 %r1, %a1, 1;\n" + WAIT).kind,
              FaultKind::None)
        << "a factor may be read";
}

TEST(CheckedWarpgroups, copies_of_accumulators_between_products_are_allowed) {
    EXPECT_EQ(races(READY + FENCE + PRODUCT + "mov.f32 %f4, %f0;\nmov.f32 %f0, %f4;\n" + PRODUCT +
                    COMMIT + WAIT + STORE)
                  .kind,
              FaultKind::None);
}

TEST(CheckedWarpgroups, factors_in_shared_memory_must_not_change_before_a_wait) {
    expect_report(races(READY + FENCE + PRODUCT + COMMIT + SYNC + WRITE_B + SYNC + WAIT),
                  FaultKind::Race,
                  {"write of 4 bytes at 0x", "overwrites a factor before the read by wgmma",
                   "wgmma.mma_async.sync.aligned.m64n8k16",
                   "is known to be complete; execute wgmma.wait_group",
                   "bytes into shared variable 'b' of 512 bytes", "st.shared.b32 [%r0], %r7;"});
    EXPECT_EQ(races(READY + FENCE + PRODUCT + COMMIT + WAIT + SYNC + WRITE_B).kind,
              FaultKind::None);
}

TEST(CheckedWarpgroups, writes_by_threads_need_a_proxy_fence) {
    const std::initializer_list<const char*> parts{
        "wgmma reads 16 bytes at offset 0 of shared memory, and no fence.proxy.async follows the "
        "write by thread (",
        "execute fence.proxy.async after the writes and before the barrier",
        "st.shared.b32 [%r0], %r7;", "wgmma.mma_async"};
    const std::string rest = FENCE + PRODUCT + COMMIT + WAIT + STORE;
    expect_report(races(WRITE_B + SYNC + rest), FaultKind::Race, parts);
    expect_report(races(WRITE_B + "fence.acq_rel.cta;\n" + SYNC + rest), FaultKind::Race, parts);
    EXPECT_EQ(races(WRITE_B + SYNC + PROXY_FENCE + rest).kind, FaultKind::None);
    EXPECT_EQ(races(WRITE_B + "fence.proxy.async.shared::cta;\n" + SYNC + rest).kind,
              FaultKind::None);
}

} // namespace

} // namespace cuprum::emulator
