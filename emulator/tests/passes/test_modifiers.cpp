// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Every modifier and operand of an instruction is understood or refused when a module is loaded.
// NVIDIA's ptxas 13.0 and 13.4 refuse what is refused here, and accept what is accepted.

#include "exec/harness.hpp"

#include <string>

namespace cuprum::emulator {

namespace {

using test::TestDevice;

/// Compiles a kernel with one instruction. Returns the log, which is empty if it compiles.
std::string log_of(const std::string& instruction) {
    TestDevice device;
    const auto kernel = device.compile(R"(.version 9.4
.target sm_90a
.address_size 64
.global .align 16 .b8 g0[64];
.func (.param .b32 r) f0(.param .b64 a) { st.param.b32 [r], 1; ret; }
.visible .entry k(.param .u64 p0, .param .align 8 .b8 p2[24])
{
    .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .b128 %q<4>; .reg .f32 %f<9>;
    .reg .f64 %e<9>; .reg .pred %p<5>; .param .b64 pb; .param .b32 pr;
    .shared .align 16 .b8 sh[64]; .local .align 16 .b8 lo[64];
    targets: .branchtargets L;
    )" + instruction + "\nL:\n    ret;\n}\n",
                                       121);
    EXPECT_EQ(kernel == nullptr, !device.log.empty()) << instruction;
    return device.log;
}

/// An instruction that no device has, and what the message says besides its name.
struct Refused {
    const char* instruction;
    const char* part;
};

constexpr const char* NONE = "it has no modifiers";

constexpr Refused REFUSED[] = {
    // Control flow.
    {"bra.foo L;", "not known here, .foo; those that exist here are .uni"},
    {"bra L, L;", "has 2 operands; expected 1"},
    {"brx.idx.foo %r1, targets;", "those that exist here are .idx, .uni"},
    {"brx %r1, targets;", "needs .idx"},
    {"call.foo (pr), f0, (pb);", "those that exist here are .uni"},
    {"call (pr), f0, (pb), %r1;", "only a call through a register has a prototype"},
    {"ret.bogus;", "those that exist here are .uni"},
    {"exit.bogus;", NONE},
    {"trap.bogus;", NONE},
    {"brkpt.uni;", NONE},
    {"nanosleep.u32.foo 5;", "those that exist here are .u32"},
    {"nanosleep.s32 5;", "has no form for type .s32"},
    // Barriers.
    {"bar.sync.nonsense 0;", "not known here, .nonsense; those that exist here are .warp, .cta"},
    {"bar.sync 16;", "names barrier 16; a block has barriers 0 to 15"},
    {"bar.sync -1;", "names barrier -1"},
    {"barrier.red.popc.u32 %r1, 16, %p1;", "names barrier 16"},
    {"bar.sync 0, 33;", "is for 33 threads; expected a multiple of 32"},
    {"bar.arrive 0, 0;", "is for 0 threads"},
    {"bar 0;", "needs .sync, .arrive or .red"},
    {"bar.sync.arrive 0, 32;", "exclude each other, .sync and .arrive"},
    {"bar.red.popc.pred %r1, 0, %p1;", "has no form for type .pred"},
    {"bar.red.u32 %r1, 0, %p1;", "needs .popc, .and or .or"},
    {"bar.sync.aligned 0;", "not known here, .aligned"},
    {"barrier.cluster.arrive.acquire;", "not known here, .acquire"},
    {"barrier.cluster.wait 0;", "has 1 operands; expected 0"},
    {"bar.warp.sync.foo -1;", "not known here, .foo"},
    // Parameters.
    {"ld.param.bogus.u64 %d1, [p0];", "not known here, .bogus"},
    {"ld.param.v2.u32 {%r1, %r2, %r3}, [p2];", "needs 2 registers"},
    {"ld.param.v2.u32 %r1, [p2];", "needs 2 registers"},
    {"ld.param.u32 {%r1, %r2}, [p2];", "needs 1 register"},
    {"ld.param.u64 %d1, [p0], %d2;", "has 3 operands; expected 2"},
    {"ld.relaxed.gpu.param.u64 %d1, [p0];", "in a state space of one thread or of constants"},
    {"st.param.rn.b32 [pr], 1;", "not known here, .rn"},
    {"st.param.b32 [pr], 1, 2;", "has 3 operands; expected 2"},
    // Fences.
    {"fence.bogus;", "needs a scope: .cta, .cluster, .gpu or .sys"},
    {"fence.sc.cta.bogus;", "not known here, .bogus; those that exist here are .proxy"},
    {"fence;", "needs a scope"},
    {"fence.sc.cta.gpu;", "exclude each other, .cta and .gpu"},
    {"fence.proxy;", "needs a proxy"},
    {"fence.proxy.async.local;", "not known here, .local"},
    {"fence.proxy.tensormap::generic.acquire.gpu [%d1], 64;", "needs the constant 128"},
    {"fence.mbarrier_init.release.cta;", "needs .cluster"},
    {"membar;", "needs a level: .cta, .gl or .sys"},
    {"membar.gpu;", "needs a level"},
    {"membar.gl.foo;", "not known here, .foo"},
    // Hints.
    {"prefetch.bogus [%d1];", "needs .tensormap or a cache level"},
    {"prefetch.shared.L1 [%d1];", "not known here, .shared"},
    {"prefetch.local.L2::evict_last [lo];", "of global memory"},
    {"prefetchu.L2 [%d1];", "needs .L1"},
    {"prefetch.L1 %d1;", "needs an address in brackets as operand 1"},
    {"griddepcontrol.bogus;", "needs .wait or .launch_dependents"},
    {"griddepcontrol;", "needs .wait or .launch_dependents"},
    {"discard.global.L2 [%d1], 64;", "needs the constant 128 as operand 2"},
    {"applypriority.L2 [%d1], 128;", "needs .L2::evict_normal"},
    {"createpolicy.fractional.b64 %d1;", "needs .fractional or .range and an eviction priority"},
    {"createpolicy.cvt.L2.foo.b64 %d1, %d2;", "not known here, .foo"},
    {"pmevent.foo 3;", "those that exist here are .mask"},
    {"setmaxnreg.inc.sync.aligned.foo.u32 64;", "not known here, .foo"},
    {"cp.async.bulk.prefetch.global [%d1], %r1;", "needs .L2"},
    {"cp.async.bulk.prefetch.L2.ca.global [%d1], %r1;", "not known here, .ca"},
    // Conversions of addresses, moves and selections.
    {"cvta.to.global.foo.u64 %d1, %d2;", "those that exist here are .to, .global, .const"},
    {"cvta.global.b64 %d1, %d2;", "has no form for type .b64"},
    {"cvta.u64 %d1, %d2;", "names no state space"},
    {"mov.b8 %r1, %r2;", "has no form for type .b8"},
    {"mov.f16 %h1, %h2;", "has no form for type .f16"},
    {"selp.b128 %q1, %q2, %q3, %p1;", "has no form for type .b128"},
    {"slct.ftz.b32.s32 %r1, %r2, %r3, %r4;", "has .ftz, but does not compare an f32"},
    // Floats.
    {"fma.f32 %f1, %f2, %f3, %f4;", "needs .rn, .rz, .rm or .rp"},
    {"fma.f16 %h1, %h2, %h3, %h4;", "needs .rn"},
    {"fma.rz.f16 %h1, %h2, %h3, %h4;",
     "has no form with .rz and its other modifiers; did you mean"},
    {"mad.f64 %e1, %e2, %e3, %e4;", "needs .rn, .rz, .rm or .rp"},
    {"mad.rn.f16 %h1, %h2, %h3, %h4;", "has no form for type .f16"},
    {"div.f32 %f1, %f2, %f3;", "needs .approx, .full, .rn, .rz, .rm or .rp"},
    {"sqrt.f64 %e1, %e2;", "needs .rn, .rz, .rm or .rp"},
    {"rcp.f32 %f1, %f2;", "needs .rn, .rz, .rm, .rp or .approx"},
    {"rsqrt.f64 %e1, %e2;", "needs .approx"},
    {"add.ftz.bf16 %h1, %h2, %h3;",
     "has no form with .ftz and its other modifiers; did you mean add.bf16"},
    {"add.sat.bf16 %h1, %h2, %h3;", "did you mean add.bf16?"},
    {"add.rz.f16 %h1, %h2, %h3;", "did you mean add.f16?"},
    {"fma.rn.sat.bf16 %h1, %h2, %h3, %h4;", "did you mean fma.rn.bf16?"},
    {"min.ftz.bf16 %h1, %h2, %h3;", "did you mean min.bf16?"},
    {"neg.ftz.bf16 %h1, %h2;", "did you mean neg.bf16?"},
    {"add.sat.f32x2 %d1, %d2, %d3;", "did you mean add.f32x2?"},
    {"min.xorsign.f32 %f1, %f2, %f3;", "needs .abs"},
    {"max.f32 %f1, %f2;", "has 2 operands; expected 3"},
    {"tanh.approx.ftz.f32 %f1, %f2;", "not known here, .ftz"},
    {"ex2.approx.bf16 %h1, %h2;", "needs .ftz"},
    {"ex2.approx.ftz.f16 %h1, %h2;", "did you mean ex2.approx.f16?"},
    {"setp.eq.ftz.bf16 %p1, %h1, %h2;", "did you mean setp.eq.bf16?"},
    {"setp.lt.b32 %p1, %r1, %r2;", "only .eq and .ne compare bits"},
    {"neg.u32 %r1, %r2;", "needs a signed type"},
    // Integers, bits and predicates: rows.
    {"add.sut.s32 %r1, %r2, %r3;", "known here, .sut; those that exist here are .sat, .cc, .rn"},
    {"add.sut.s32 %r1, %r2, %r3;", "did you mean .sat?"},
    {"add.e4m3x4 %r1, %r2, %r3;", "has a type that is not supported here, .e4m3x4; those that"},
    {"mul.s32 %r1, %r2, %r3;", "needs .lo, .hi or .wide"},
    {"mul.lo.hi.s32 %r1, %r2, %r3;", "exclude each other, .lo and .hi"},
    {"mul.lo.sat.s32 %r1, %r2, %r3;", "did you mean mul.lo.s32?"},
    {"mul.wide.u64 %d1, %d2, %d3;", "has no .wide form for 64-bit values"},
    {"mul.lo.b32 %r1, %r2, %r3;", "has no form for type .b32 here; those that exist are .u16"},
    {"add.sat.u16 %h1, %h2, %h3;", "has no form with .sat and its other modifiers; did you mean"},
    {"min.relu.u32 %r1, %r2, %r3;", "did you mean min.u32?"},
    {"mad.lo %r1, %r2, %r3, %r4;", "has no known type; those that exist here are .u16"},
    {"add.s32 %r1, %r2;", "has 2 operands; expected 3"},
    {"shf.b32 %r1, %r2, %r3, %r4;", "needs .l or .r, and .wrap or .clamp"},
    {"lop3.b32 %r1, %r2, %r3, %r4, 256;", "needs a literal from 0 to 255"},
    {"setp.s32 %p1, %r1, %r2;", "needs .eq, .ne, .lt"},
    {"setp.lt.b32 %p1, %r1, %r2;", "only .eq and .ne compare bits"},
    {"set.lo.u32.s32 %r1, %r2, %r3;", "is not unsigned with an unsigned operator"},
    {"set.lt.u64.s32 %r1, %r2, %r3;", "has no form for type .u64"},
    {"cvt.pack.u16.s32 %r1, %r2, %r3;", "needs .sat"},
    {"cvt.rn.f32.f32 %f1, %f2;", "did you mean cvt.f32.f32?"},
    {"cvt.rn.f16.rna.f32 %h1, %f2;", "has no form with .rna and its other modifiers"},
    {"cvt.rna.f16.f32 %h1, %f2;", "did you mean cvt.rn.f16.f32?"},
    {"cvt.rz.f64.f32 %e1, %f2;", "did you mean cvt.f64.f32?"},
    {"cvt.ftz.u32.u32 %r1, %r2;", "did you mean cvt.u32.u32?"},
    {"cvt.rn.sat.bf16.f32 %h1, %f2;", "did you mean cvt.rn.bf16.f32?"},
    {"cvt.u32.f32 %r1, %f2;", "needs .rni, .rzi, .rmi or .rpi"},
    {"cvt.f32.s32 %f1, %r2;", "needs .rn, .rz, .rm or .rp"},
    {"cvt.rn.satfinite.e4m3x4.f32 %r1, {%f1, %f1, %f1, %f1}, %r1;", "needs .rs"},
    {"cvt.relu.f32.f32 %f1, %f2;", "did you mean cvt.f32.f32?"},
    {"cvt.rn.ftz.satfinite.f16.f32 %h1, %f2;", "did you mean cvt.rn.ftz.f16.f32?"},
    // Memory.
    {"ld.release.gpu.global.u32 %r1, [%d1];", "not known here, .release"},
    {"ld.gpu.global.u32 %r1, [%d1];", "has a scope without a memory order"},
    {"ld.weak.gpu.global.u32 %r1, [%d1];", "has a scope without a memory order"},
    {"ld.acquire.global.u32 %r1, [%d1];", "needs a scope: .cta, .cluster, .gpu or .sys"},
    {"ld.relaxed.gl.global.u32 %r1, [%d1];", "needs a scope"},
    {"ld.mmio.global.u32 %r1, [%d1];", "has .mmio, which needs a memory order with .sys"},
    {"ld.relaxed.gpu.local.u32 %r1, [lo];", "in a state space of one thread"},
    {"ld.global.wb.u32 %r1, [%d1];", "not known here, .wb"},
    {"ld.volatile.global.cg.u32 %r1, [%d1];", "states a memory order and how to use caches"},
    {"ld.shared.nc.u32 %r1, [sh];", "has .nc, which needs .global"},
    {"ld.global.nc.cv.u32 %r1, [%d1];", "has .nc, which needs .global and no cache operator but"},
    {"ld.local.L1::evict_last.u32 %r1, [lo];", "not known here, .L1::evict_last"},
    {"ld.global.f16 %h1, [%d1];", "has no form for type .f16"},
    {"ld.global.v2.b128 {%q1, %q2}, [%d1];", "moves more than 16 bytes per thread"},
    {"ld.global.unified.u32 %r1, [%d1];", "not known here, .unified"},
    {"ld.global.L2::evict_last.u32 %r1, [%d1];", "which needs 32 bytes per thread"},
    {"ldu.global.ca.u32 %r1, [%d1];", "not known here, .ca"},
    {"ldu.shared.u32 %r1, [sh];", "loads from .global only"},
    {"st.acquire.gpu.global.u32 [%d1], %r1;", "not known here, .acquire"},
    {"st.global.ca.u32 [%d1], %r1;", "not known here, .ca"},
    {"st.global.L2::128B.u32 [%d1], %r1;", "not known here, .L2::128B"},
    {"atom.inc.u64 %d1, [%d2], %d3;", "has no form for type .u64"},
    {"atom.global.add.s64 %d1, [%d2], %d3;", "has no form for type .s64"},
    {"atom.global.and.u32 %r1, [%d1], %r2;", "has no form for type .u32"},
    {"atom.global.exch.s32 %r1, [%d1], %r2;", "has no form for type .s32"},
    {"atom.global.cas.f32 %f1, [%d1], %f2, %f3;", "has no form for type .f32"},
    {"atom.global.add.f16x2 %r1, [%d1], %r2;", "needs .noftz for halves"},
    {"atom.global.add.noftz.u32 %r1, [%d1], %r2;", "has .noftz, which its type does not have"},
    {"atom.sc.gpu.global.add.u32 %r1, [%d1], %r2;", "not known here, .sc"},
    {"red.acquire.gpu.global.add.u32 [%d1], %r2;", "not known here, .acquire"},
    {"red.global.exch.b32 [%d1], %r2;", "returns nothing, and there is no such reduction"},
    {"red.async.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [sh], %r1, [sh];",
     "needs .relaxed"},
    {"mbarrier.arrive.cta.shared.b64 %d1, [sh];", "has a scope without a memory order"},
    {"mbarrier.arrive.release.gpu.shared.b64 %d1, [sh];", "wider than a cluster"},
    {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.f32 [sh], %f1, "
     "[sh];",
     "no reduction with an mbarrier has"},
    {"mbarrier.arrive.release.shared.b64 %d1, [sh];", "needs a scope"},
    {"mbarrier.arrive.acquire.cta.shared.b64 %d1, [sh];", "not known here, .acquire"},
    {"mbarrier.init.shared::cluster.b64 [sh], 1;", "not known here, .shared::cluster"},
    {"mbarrier.try_wait.shared::cluster.b64 %p1, [sh], %d1;", "not known here, .shared::cluster"},
    {"mbarrier.arrive.release.cluster.shared::cluster.b64 %d1, [sh];", "needs _ as its result"},
};

constexpr const char* ACCEPTED[] = {
    "bra.uni L;",
    "add.s32.sat %r1, %r2, %r3;",
    "dp4a.u32.s32 %r1, %r2, %r3, %r4;",
    "setp.lt.and.u32 %p1|%p2, %r1, %r2, !%p3;",
    "brx.idx.uni %r1, targets;",
    "call.uni (pr), f0, (pb);",
    "bar.sync 15;",
    "bar.sync 0, 0;",
    "bar.cta.sync %r1, %r2;",
    "bar.arrive 0, 64;",
    "barrier.cta.sync.aligned 0, 64;",
    "barrier.red.popc.aligned.u32 %r1, 0, %p1;",
    "barrier.cta.red.and.pred %p1, 0, 32, !%p2;",
    "barrier.cluster.arrive.relaxed.aligned;",
    "barrier.cluster.wait.acquire.aligned;",
    "nanosleep.u32 %r1;",
    "ld.weak.param.ca.u64 %d1, [p0];",
    "ld.param.v4.u32 {%r1, %r2, _, %r4}, [p2];",
    "ld.param.b128 %q1, [p2];",
    "fence.acquire.sync_restrict::shared::cluster.cluster;",
    "fence.cta;",
    "fence.proxy.tensormap::generic.release.cta;",
    "fence.proxy.tensormap::generic.acquire.sys [%d1], 128;",
    "fence.proxy.async.shared::cta;",
    "membar.proxy.alias;",
    "prefetch.param.tensormap [%d1];",
    "prefetch.global.L2::evict_normal [%d1];",
    "createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %d1, [%d2], 16, %r1;",
    "createpolicy.fractional.L2::evict_first.L2::evict_first.b64 %d1;",
    "createpolicy.cvt.L2.b64 %d1, 0x4567;",
    "griddepcontrol.launch_dependents;",
    "pmevent.mask 3;",
    "cvta.to.param::entry.u64 %d1, %d2;",
    "cvta.global.u64 %d1, g0;",
    "ex2.approx.ftz.bf16x2 %r1, %r2;",
    "rcp.approx.ftz.f64 %e1, %e2;",
    "fma.rn.relu.bf16 %h1, %h2, %h3, %h4;",
    "add.rn.bf16 %h1, %h2, %h3;",
    "cvt.rn.ftz.sat.f16.f32 %h1, %f2;",
    "cvt.rp.f64.bf16 %e1, %h2;",
    "cvt.rni.ftz.sat.f32.f32 %f1, %f2;",
    "ld.mmio.relaxed.sys.global.u32 %r1, [%d1];",
    "ld.volatile.global.L2::128B.u32 %r1, [%d1];",
    "ld.global.nc.cs.L2::256B.u32 %r1, [%d1];",
    "ld.global.L1::evict_last.L2::cache_hint.L2::64B.u32 %r1, [%d1], %d2;",
    "ld.global.v8.u8 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%d1];",
    "st.relaxed.gpu.global.L1::evict_last.u32 [%d1], %r1;",
    "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [sh], %r1, [sh];",
    "atom.relaxed.global.add.u32 %r1, [%d1], %r2;",
    "atom.cta.global.add.u32 %r1, [%d1], %r2;",
    "atom.global.v2.f16.max.noftz {%h1, %h2}, [%d1], {%h3, %h4};",
    "red.release.gpu.global.or.b64 [%d1], %d2;",
    "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [sh];",
    "mbarrier.arrive.noComplete.shared.b64 %d1, [sh], %r1;",
    "mbarrier.arrive_drop.noComplete.release.cta.shared::cta.b64 %d1, [sh], %r1;",
    "mbarrier.test_wait.relaxed.cta.shared.b64 %p1, [sh], %d1;",
};

TEST(Modifiers, what_does_not_exist_is_refused_with_what_does) {
    for (const Refused& refused : REFUSED) {
        const std::string instruction = refused.instruction;
        const std::string name = instruction.substr(0, instruction.find_first_of(" ;"));
        const std::string log = log_of(instruction);
        EXPECT_NE(log.find("'" + name + "'"), std::string::npos) << instruction << '\n' << log;
        EXPECT_NE(log.find(refused.part), std::string::npos) << instruction << '\n' << log;
    }
}

TEST(Modifiers, what_exists_is_accepted) {
    for (const char* const instruction : ACCEPTED) {
        EXPECT_EQ(log_of(instruction), "") << instruction;
    }
}

} // namespace

} // namespace cuprum::emulator
