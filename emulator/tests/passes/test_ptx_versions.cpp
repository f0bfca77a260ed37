// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What PTX ISA 9.1 to 9.4 add: each form runs, or is refused by its name with a reason.

#include "exec/harness.hpp"

#include <string>

namespace cuprum::emulator {

namespace {

using test::TestDevice;

/// A form that a version of PTX added. NVIDIA's ptxas 13.4 accepts all but those of spcompress,
/// spdecompress and FP8 sums, whose operands are made up.
struct Form {
    const char* version;
    const char* target;
    const char* instruction;
    const char* refusal; // a part of the message; nullptr if it runs
};

constexpr const char* MULTICAST = "it belongs to multicast memory";
constexpr const char* FABRIC = "copies between GPUs over NVLink's fabric";
constexpr const char* SPARSE = "sparse matrices of compute capability 10.7";
constexpr const char* TYPES = "has a type that is not supported here";
constexpr const char* SUBNORMAL = "leave .noftz out";

constexpr Form FORMS[] = {
    {"9.1", "sm_90", "ld.volatile.local.u32 %r5, [lo];", nullptr},
    {"9.1", "sm_90", "st.volatile.local.u32 [lo], %r1;", nullptr},
    {"9.1", "sm_100f", "cvt.rn.satfinite.e4m3x2.bf16x2 %h3, %r1;", nullptr},
    {"9.1", "sm_100f", "cvt.rn.satfinite.e5m2x2.bf16x2 %h3, %r1;", nullptr},
    {"9.1", "sm_100f", "cvt.rn.satfinite.e2m1x2.f16x2 %c1, %r1;", nullptr},
    {"9.1", "sm_100f", "cvt.rn.satfinite.e2m3x2.f16x2 %h3, %r1;", nullptr},
    {"9.1", "sm_100f", "cvt.rn.satfinite.e3m2x2.bf16x2 %h3, %r1;", nullptr},
    {"9.1", "sm_100a", "cvt.rn.satfinite.s2f6x2.f32 %h3, %f1, %f2;", TYPES},
    {"9.1", "sm_100a", "cvt.rn.scaled::n2::ue8m0.bf16x2.s2f6x2 %r5, %h1, %h2;", TYPES},
    {"9.1", "sm_100", "multimem.cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r10], %r2;",
     MULTICAST},
    {"9.1", "sm_100",
     "multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d1], [%r10], %r2;",
     MULTICAST},
    {"9.2", "sm_120f", "add.u8x4 %r5, %r1, %r2;", nullptr},
    {"9.2", "sm_120f", "add.sat.s8x4 %r5, %r1, %r2;", nullptr},
    {"9.2", "sm_120f", "sub.s8x4 %r5, %r1, %r2;", nullptr},
    {"9.2", "sm_120f", "min.relu.s8x4 %r5, %r1, %r2;", nullptr},
    {"9.2", "sm_120f", "max.u8x4 %r5, %r1, %r2;", nullptr},
    {"9.2", "sm_120f", "neg.s8x4 %r5, %r1;", nullptr},
    {"9.2", "sm_120f", "add.sat.u16x2 %r5, %r1, %r2;", nullptr},
    {"9.2", "sm_120f", "add.sat.u32 %r5, %r1, %r2;", nullptr},
    {"9.2", "sm_100",
     "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b128 [%r10], %q1, [%r11];",
     nullptr},
    {"9.2", "sm_90",
     "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.ignore_oob [%r10], [%d1], "
     "%r4, %r1, %r1, [%r11];",
     nullptr},
    {"9.2", "sm_100f", "cvt.rn.bf16x2.e4m3x2 %r5, %h1;", nullptr},
    {"9.2", "sm_100f", "cvt.rn.bf16x2.e2m1x2 %r5, %c1;", nullptr},
    {"9.2", "sm_100f", "cvt.rn.scaled::n2::ue8m0.bf16x2.e4m3x2 %r5, %h1, %h2;", ".scaled::n2"},
    {"9.3", "sm_90", "ld.mmio.acquire.sys.global.u32 %r5, [%d1];", nullptr},
    {"9.3", "sm_90", "st.mmio.release.sys.global.u32 [%d1], %r1;", nullptr},
    {"9.3", "sm_90", "clmad.lo.u64 %d4, %d2, %d3, %d2;", nullptr},
    {"9.3", "sm_90", "clmad.hi.u64 %d4, %d2, %d3, %d2;", nullptr},
    {"9.3", "sm_100", "multimem.red.async.release.sys.global.add.u32 [%d1], %r1;", MULTICAST},
    {"9.3", "sm_90a",
     "cp.async.bulk.relaxed.gpu.shared::cta.global.mbarrier::complete_tx::bytes.b128 [%r10], "
     "[%d1], %r4, [%r11];",
     nullptr},
    {"9.3", "sm_90a",
     "cp.reduce.async.bulk.relaxed.gpu.global.shared::cta.bulk_group.add.u32 [%d1], [%r10], %r4;",
     nullptr},
    {"9.3", "sm_90", "mbarrier.init.layout::v0.shared.b64 [%r11], %r2;", nullptr},
    {"9.3", "sm_90", "mbarrier.init.layout::v1.shared.b64 [%r11], %r2;", ".layout::v1"},
    {"9.3", "sm_90", "mbarrier.check_layout.layout::v1.b64 %p1, [%d1];", nullptr},
    {"9.3", "sm_90",
     "mbarrier.try_wait.parity.phase_type::primary.acquire.cta.shared::cta.b64 %p1, [%r11], %r1;",
     nullptr},
    {"9.3", "sm_90",
     "mbarrier.try_wait.parity.phase_type::conditional.acquire.cta.shared::cta.b64 %p1, [%r11], "
     "%r1;",
     ".phase_type::conditional"},
    {"9.3", "sm_90",
     "mbarrier.try_wait.parity.phase_type::primary.acquire.cta.shared::cta.b64 %p1|%p2, [%r11], "
     "%r1;",
     "reads a report"},
    {"9.3", "sm_100", "fence.proxy.generic::fabric.alias.acquire.sys;", nullptr},
    {"9.3", "sm_100", "fabric.submit;", FABRIC},
    {"9.3", "sm_100", "fabric.wait.sync_restrict::reads;", FABRIC},
    {"9.4", "sm_107f",
     "mbarrier.arrive.release.cluster.shared::cluster.multicast::cluster::32b.b64 _, [%r11], %r2, "
     "%r3;",
     ".multicast::cluster::32b"},
    {"9.4", "sm_107f",
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster::32b "
     "[%r10], [%d1], %r4, [%r11], %r2;",
     ".multicast::cluster::32b"},
    {"9.4", "sm_107f", "applypriority.async.bulk.global.bulk_group.L2::evict_normal [%d1], %r4;",
     nullptr},
    {"9.4", "sm_107f", "cp.async.bulk.prefetch.L2.global.L2::evict_last [%d1], %r4;", nullptr},
    {"9.4", "sm_107a", "spcompress.b32 %r5, %r1, %r2;", SPARSE},
    {"9.4", "sm_107a", "spdecompress.b32 %r5, %r1, %r2;", SPARSE},
    {"9.4", "sm_107f", "add.f32.f16 %f4, %h1, %f1;", nullptr},
    {"9.4", "sm_100a", "add.rn.e4m3x4 %r5, %r1, %r2;", "not supported here, .e4m3x4"},
    {"9.4", "sm_107f", "cvt.rn.satfinite.ue5m3x2.f32 %h3, %f1, %f2;", TYPES},
    {"9.4", "sm_107f", "cvt.rz.satfinite.e4m3x2.f32 %h3, %f1, %f2;",
     "did you mean cvt.rn.satfinite.e4m3x2.f32?"},
    {"9.4", "sm_107f", "cvt.rn.satfinite.pzo.e4m3x2.f32 %h3, %f1, %f2;", "pzo"},
    {"9.4", "sm_107f", "set.eq.u8x4 %r5, %r1, %r2;", "not supported here, .u8x4"},
    {"9.4", "sm_90a", "ldmatrix.sync.aligned.m8n16.x1.shared.s8.s4 {%r5}, [%r10];", ".s8"},
    {"9.4", "sm_90", "prefetch.global.L1::32B.valid_addr [%d1];", nullptr},
    {"9.4", "sm_90", "atom.global.add.noftz.f32 %f4, [%d1], %f1;", SUBNORMAL},
    {"9.4", "sm_90", "atom.shared.add.noftz.f32 %f4, [%r10], %f1;", nullptr},
    {"9.4", "sm_90", "red.global.add.noftz.f32 [%d1], %f1;", SUBNORMAL},
    {"9.4", "sm_90",
     "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f32 [%d1], [%r10], %r4;",
     SUBNORMAL},
    {"9.4", "sm_90", "ld.global.proxy::readonly.u32 %r5, [%d1];", nullptr},
    {"9.4", "sm_90", "fence.proxy.alias.acquire.sys;", nullptr},
    {"9.4", "sm_90",
     "fence.proxy.async::generic.release.sync_restrict::shared::cluster::read.cluster;", nullptr},
    {"9.4", "sm_100f",
     "tcgen05.alloc.exclusive.cta_group::1.sync.aligned.shared::cta.b32 [%r10], 32;",
     "tensor cores of compute capability 10"},
    {"9.4", "sm_90", ".loc_intermediate 1 2 3", nullptr},
};

std::string module_with(const Form& form) {
    return std::string(".version ") + form.version + "\n.target " + form.target + R"(
.address_size 64
.file 1 "kernel.py"
.visible .entry k(.param .u64 a)
{
    .reg .b8 %c<9>; .reg .b16 %h<9>; .reg .b32 %r<40>; .reg .b64 %d<9>; .reg .b128 %q<4>;
    .reg .f32 %f<9>; .reg .pred %p<5>;
    .shared .align 128 .b8 sm[4096]; .shared .align 8 .b64 bar; .local .align 16 .b8 lo[64];
    ld.param.u64 %d1, [a]; mov.u32 %r10, sm; mov.u32 %r11, bar;
    )" + form.instruction +
           "\n    ret;\n}\n";
}

} // namespace

TEST(PtxVersions, every_new_form_runs_or_is_refused_by_name) {
    for (const Form& form : FORMS) {
        TestDevice device;
        const auto kernel = device.compile(module_with(form), 121);
        if (form.refusal == nullptr) {
            EXPECT_NE(kernel, nullptr) << form.instruction << '\n' << device.log;
            continue;
        }
        const std::string instruction = form.instruction;
        const std::string name = "'" + instruction.substr(0, instruction.find_first_of(" ;")) + "'";
        EXPECT_NE(device.log.find(name), std::string::npos) << name << '\n' << device.log;
        EXPECT_NE(device.log.find(form.refusal), std::string::npos) << form.instruction << '\n'
                                                                    << device.log;
    }
}

TEST(PtxVersions, memory_of_a_block_is_refused_with_a_way_out) {
    TestDevice device;
    (void)device.compile(".version 9.4\n.target sm_90\n.address_size 64\n"
                         ".visible .entry k() .minperctamemory 2048 { ret; }\n");
    EXPECT_NE(device.log.find("'.minperctamemory' is not supported"), std::string::npos)
        << device.log;
    EXPECT_NE(device.log.find("pass a buffer to the kernel instead"), std::string::npos);
    EXPECT_EQ(device.problem, ptx::Problem::Unsupported);
    (void)device.compile(".version 9.4\n.target sm_90\n.address_size 64\n"
                         ".nv_intermediate_source_section { }\n");
    EXPECT_NE(device.log.find("'.nv_intermediate_source_section' is not supported"),
              std::string::npos)
        << device.log;
}

TEST(PtxVersions, an_unknown_instruction_says_which_versions_are_known) {
    TestDevice device;
    (void)device.compile(".version 9.9\n.target sm_90\n.address_size 64\n"
                         ".visible .entry k() { frobnicate.u32; ret; }\n");
    EXPECT_NE(device.log.find("'frobnicate.u32' is not an instruction of PTX ISA 9.4, the newest "
                              "version known here"),
              std::string::npos)
        << device.log;
}

} // namespace cuprum::emulator
