// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The instruction forms that the grammar fuzzer writes, beside those of rows (rows/row.hpp).
//
// `{a,b,}` picks one alternative; a comma or brace with a space behind it is PTX's own. `$` and a
// letter stand for an operand. Upper case is a destination, lower case a source: H 16 bits, W 32
// bits, Q 64 bits, B 128 bits, R a predicate. Addresses: g global, s shared, l local, c constant, n
// generic. The rest: i a small integer, k a 32-bit register, m a mask of lanes, t a label.

#pragma once

#include <string_view>

namespace cuprum::emulator::test {

inline constexpr std::string_view PTX_FORMS[] = {
    // lop3 with a predicate.
    "lop3.{and,or}.b32 $W|$R, $w, $w, $w, 0x1b, $r",
    // Video.
    "{vadd,vsub,vabsdiff,vmin,vmax}.{u,s}32.{u,s}32.{u,s}32{.sat,} $W, $w, $w",
    "{vadd,vsub}.s32.s32.s32.sat $W, $k{.b1,.h1,}, $k{.b3,.h0,}",
    "vmad.{u,s}32.{u,s}32.{u,s}32{.sat,}{.shr7,} $W, $k.h0, $k.b1, $w",
    "{vadd2,vavrg2,vmin2,vadd4,vavrg4,vmax4}.s32.u32.s32{.sat,.add,} $W, $w, $w, $w",
    "vset{2,4,}.u32.s32.{lt,ne} $W, $w, $w{,, $w}",
    // Moves.
    "mov.{b16 $H, $h,b32 $W, $w,u64 $Q, $q,pred $R, $r,b128 $B, $b}",
    "mov.b32 $W, {%tid.x,%laneid,%clock,%ntid.y,%ctaid.z,%smid,%lanemask_lt}",
    "mov.u64 $Q, {%clock64,%globaltimer,g0,sh0,lo0}",
    "mov.b32 { $H, $H }, $w",
    "mov.b64 $Q, { $w, $w }",
    "mov.b64 { $W, _ }, $q",
    "mov.b128 { $Q, $Q }, $b",
    "cvta{.to,}.{global,shared,local,const}.u64 $Q, $q",
    "isspacep.{global,shared,local,const,shared::cluster} $R, $q",
    // Memory.
    "ld{.volatile,.relaxed.gpu,.acquire.cta,.weak,}.global.{u8,s8} $H, $g",
    "ld.global{.nc,.ca,.cg,}.{u32,s32,f32,b32} $W, $g",
    "ld.global.{u16,s8,u8,b32} $W, $g",
    "ld.global.{u64,f64} $Q, $g",
    "ld.global.v2.{u32,f32} { $W, $W }, $g",
    "ld.global.v4.{u32,f32} { $W, $W, $W, $W }, $g",
    "ld.global.v2.u64 { $Q, $Q }, $g",
    "ld.global.b128 $B, $g",
    "ld.global.v8.b32 { $W, $W, $W, $W, $W, $W, $W, $W }, $g",
    "ld.shared{.volatile,}.{u32,s8,b16} $W, $s",
    "ld.shared.v4.u32 { $W, $W, _, $W }, $s",
    "ld.local.{u32,s16} $W, $l",
    "ld.const.{u32,u8} $W, $c",
    "ld.{u32 $W,u64 $Q,u16 $H}, $n",
    "ld.param.u32 $W, [p{0,1,2}]",
    "ld.param.{u64 $Q,v2.u32 { $W, $W }}, [p{0,2+8,2}]",
    "ldu.global.u32 $W, $g",
    "st{.volatile,.relaxed.sys,.release.gpu,}.global.{u8,u16,u32} $g, $w",
    "st.global.{u64,f64} $g, $q",
    "st.global.v2.u32 $g, { $w, $w }",
    "st.global.v4.f32 $g, { $w, $w, $w, $w }",
    "st.global.b128 $g, $b",
    "st.shared.{u32,b8} $s, $w",
    "st.shared.v2.u64 $s, { $q, $q }",
    "st.local.v2.u32 $l, { $w, $w }",
    "st.local.u32 $l, $w",
    "st.{u32 $n,u8 $n}, $w",
    "atom{.relaxed,.acq_rel,}{.cta,.gpu,.sys,}.global.{add,min,max}.{u32,s32} $W, $g, $w",
    "atom.{global.cas.b32 $W, $g,shared.cas.b32 $W, $s}, $w, $w",
    "atom.global.cas.b{16 $H, $g, $h, $h,64 $Q, $g, $q, $q,128 $B, $g, $b, $b}",
    "atom.shared.{exch.b32,and.b32,inc.u32,dec.u32} $W, $s, $w",
    "atom.global.add.{f32 $W, $g, $w,f64 $Q, $g, $q,noftz.f16 $H, $g, $h,noftz.f16x2 $W, $g, $w}",
    "red.global.{add.u32,xor.b32} $g, $w",
    "red.global.v2.f32.add $g, { $w, $w }",
    "{prefetch.global.L2 $g,prefetchu.L1 $n,discard.global.L2 $g, 128}",
    "{membar.gl,fence.sc.cta,fence.acq_rel.gpu,fence.proxy.async,fence.mbarrier_init.release."
    "cluster}",
    // Asynchronous copies and barriers in memory.
    "cp.async.ca.shared.global $s, $g, {4,8,16}{,, $i}",
    "cp.async.cg.shared.global $s, $g, 16",
    "cp.async.{commit_group,wait_all,wait_group 1,mbarrier.arrive.shared.b64 $s}",
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes $s, $g, $w, $s",
    "cp.async.bulk.global.shared::cta.bulk_group $g, $s, $w",
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.{u32,f32} $g, $s, $w",
    "cp.async.bulk.{commit_group,wait_group 0,wait_group.read 1}",
    "cp.async.bulk.tensor.{1,2,3}d.shared::cluster.global{.tile,.im2col,}"
    ".mbarrier::complete_tx::bytes{.multicast::cluster,} $s, [%d0, { $w, $w }], $s{,, $h}",
    "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%d0, { $w, $w }], $s",
    "cp.reduce.async.bulk.tensor.2d.global.shared::cta.{add,xor}.bulk_group [%d0, { $w, $w }], $s",
    "cp.async.bulk.prefetch.tensor.2d.L2.global [%d0, { $w, $w }]",
    "tensormap.replace.tile.{box_dim,element_stride}.{global.b1024.b32 $g,shared::cta.b1024.b32 $s}"
    ", $i, $w",
    "tensormap.replace.tile.{elemtype,swizzle_mode}.global.b1024.b32 $g, $i",
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned $g, "
    "$s, "
    "128",
    "mbarrier.init.shared.b64 $s, $w",
    "mbarrier.{inval.shared.b64 $s,arrive.shared.b64 $Q, $s,arrive_drop.shared.b64 $Q, $s}",
    "mbarrier.{test_wait,try_wait}.shared.b64 $R, $s, $q",
    "mbarrier.test_wait.parity.shared.b64 $R, $s, $w",
    "mbarrier.expect_tx.relaxed.cta.shared.b64 $s, $w",
    "mbarrier.arrive.expect_tx.shared.b64 $Q, $s, $w",
    "mbarrier.pending_count.b64 $W, $q",
    // Control.
    "bra{.uni,} $t",
    "{ret,exit,trap,brkpt,ret.uni}",
    "bar.sync $i{,, 32}",
    "bar.{arrive $i, 64,warp.sync $m,red.popc.u32 $W, $i, $r,red.and.pred $R, $i, $r}",
    "barrier.{sync,sync.aligned} $i",
    "barrier.cluster.{arrive,wait,arrive.release,wait.acquire}{.aligned,}",
    "nanosleep.u32 $w",
    "pmevent $i",
    "brx.idx $w, targets",
    "setmaxnreg.inc.sync.aligned.u32 24",
    "griddepcontrol.{wait,launch_dependents}",
    // The stack.
    "alloca.u64 $Q, $q, {8,16}",
    "stacksave.u64 $Q",
    "stackrestore.u64 $q",
    // Clusters.
    "mapa{.shared::cluster,}.u64 $Q, $q, $w",
    "mapa.shared::cluster.u32 $W, sh0, $w",
    "getctarank{.shared::cluster,}.u{32 $W, $w,64 $W, $q}",
    "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 $s, $w, $s",
    // Matrices.
    "ldmatrix.sync.aligned.m8n8.x1{.trans,}.shared.b16 { $W }, $s",
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 { $W, $W, $W, $W }, $s",
    "stmatrix.sync.aligned.m8n8.x2.shared.b16 $s, { $w, $w }",
    "movmatrix.sync.aligned.m8n8.trans.b16 $W, $w",
    "mma.sync.aligned.m16n8k8.row.col.f32.{f16.f16,bf16.bf16}.f32 { $W, $W, $W, $W }, { $w, $w }, "
    "{ $w }, { $w, $w, $w, $w }",
    "mma.sync.aligned.m16n8k16.row.col.s32.{s8.s8,u8.s8}.s32 { $W, $W, $W, $W }, { $w, $w }, "
    "{ $w }, { $w, $w, $w, $w }",
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 { $Q, $Q }, { $q }, { $q }, { $q, $q }",
    "wgmma.{fence,commit_group}.sync.aligned",
    "wgmma.wait_group.sync.aligned {0,1}",
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.{f16.f16,bf16.bf16} { $W, $W, $W, $W }, $q, $q, $r, "
    "{1,-1}, 1, {0,1}, {0,1}",
    "wgmma.mma_async.sync.aligned.m64n8k32{.satfinite,}.s32.{s8.s8,u8.s8} { $W, $W, $W, $W }, "
    "{ $w, $w, $w, $w }, $q, $r",
    "wmma.load.c.sync.aligned.row.m16n16k16.f32{.global,} { $W, $W, $W, $W, $W, $W, $W, $W }, $g, "
    "{16,8,$w}",
    "wmma.store.d.sync.aligned.col.m16n16k16.f32.shared $s, { $w, $w, $w, $w, $w, $w, $w, $w }, 16",
};

/// Forms that never load: not supported, wrong, or not instructions at all.
inline constexpr std::string_view WRONG_PTX_FORMS[] = {
    "tex.2d.v4.f32.f32 { $W, $W, $W, $W }, [$q, { $w, $w }]",
    "{tcgen05.wait::ld.sync.aligned,frobnicate.b32 $W, $w}",
    "mov.{u64 $Q, nothing,b32 $W, %nothing.x,v4.u32 $Q, %tid}",
    "ld.param.{u64 $Q,v4.u32 { $W, $W, $W, $W }}, "
    "[p{0,1,2,9}{+4,+8,-4,+4294967296,+9223372036854775807}]",
    "st.param.{u32,b8} [p{0,1,2}], $w",
    "st.local.u32 $l, { $w, $w }",
    "vset{2,4,}.u32.s32.{lt,ne} $W, $w, $w, $w, $w",
    "{call,bra,brx.idx,bar,ld,cp,cvt,mma,mbarrier,atom,shfl,wmma.mma}",
    "{ld,st,mov,add,cp.async.bulk,mma.sync,wmma.load}{.u32,.v2,.global,} { $W, $W, $w }, $g, { $w "
    "}",
};

/// Forms that no device has, near those that exist. A module with one of them does not load.
inline constexpr std::string_view REFUSED_PTX_FORMS[] = {
    "bar.sync {16,-1}",
    "bar.{sync 0, 33,arrive 0, 0}",
    "ld.param.v2.u32 { $W, $W, $W }, [p2]",
    "ld.param.{v2.u32 $W,u32 { $W, $W }}, [p2]",
    "{fma.f32 $W, $w, $w, $w,mad.f64 $Q, $q, $q, $q,div.f32 $W, $w, $w,sqrt.f64 $Q, $q}",
    "atom.global.{inc.u64,add.s64,xor.u64,exch.s64} $Q, $g, $q",
    "{add,mul,min}.ftz.bf16 $H, $h, $h",
    "{red.global.exch.b32,red.acquire.gpu.global.add.u32,st.acquire.gpu.global.u32} $g, $w",
    "{ld.release.gpu.global.u32,ld.gpu.global.u32,ld.relaxed.global.u32,ld.shared.nc.u32} $W, $g",
    "{fence,fence.proxy,membar,griddepcontrol,prefetch $g,fence.acquire.cta.gpu}",
    "{nanosleep.s32 $w,setmaxnreg.sync.aligned.u32 24,cvta.u64 $Q, $q,pmevent $i, $i}",
    "{neg.u32 $W, $w,setp.lt.b32 $R, $w, $w,slct.ftz.u32.s32 $W, $w, $w, "
    "$w}",
};

/// Words that no instruction has as a modifier.
inline constexpr std::string_view UNKNOWN_PTX_WORDS[] = {"nonsense", "foo", "v3", "u33",
                                                         "shared::grid"};

/// Accesses to shared memory at the offset %r1 and the generic address %d1, which no block has.
inline constexpr std::string_view OUTSIDE_PTX_FORMS[] = {
    "st{.volatile,}.shared{,::cta,::cluster}.{u32 [%r1], %r6,u8 [%r1], %r6,v2.u64 [%r1], { %d4, "
    "%d4 }}",
    "st{.volatile,}.{u32 [%d1], %r6,v4.u32 [%d1], { %r6, %r6, %r6, %r6 }}",
    "ld{.volatile,}.shared{,::cta,::cluster}.{u32 %r2,u8 %r2,v2.u32 { %r2, %r3 }}, [%r1]",
    "ld.{u32 %r2,v4.u32 { %r2, %r3, %r4, %r5 }}, [%d1]",
    "atom.shared{,::cluster}.{add.u32,exch.b32,max.s32,inc.u32} %r2, [%r1], %r6",
    "atom.{add.u32 %r2, [%d1], %r6,cas.b32 %r2, [%d1], %r6, %r7}",
    "red.{shared.add.u32 [%r1],shared::cluster.or.b32 [%r1],max.u32 [%d1]}, %r6",
    "mbarrier.init.{shared.b64 [%r1],b64 [%d1]}, 1",
    "mbarrier.{inval.shared.b64 [%r1],arrive.shared.b64 %d5, [%r1],arrive.b64 %d5, [%d1]}",
    "mbarrier.test_wait.parity.{shared.b64 %p2, [%r1],b64 %p2, [%d1]}, 0",
    "cp.async.ca.shared.global [%r1], [%d0], 4",
    "cp.async.bulk.shared::{cta,cluster}.global.mbarrier::complete_tx::bytes "
    "{[%r1], [%d0], 16, [sh0],[sh0], [%d0], 16, [%r1]}",
    "cp.async.bulk.global.shared::cta.bulk_group [%d0], [%r1], 16",
    "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 {[%r1], %r6, [sh0],[sh0], %r6, "
    "[%r1]}",
    "st.bulk.weak.shared::cta [%r1], %d3, 0",
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 { %r2 }, [%r1]",
    "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], { %r6 }",
    "tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r1], 1",
};

/// Statements that a long kernel repeats. `#` stands for the number of the repetition, `@#` for a
/// part of a name that is different in each.
inline constexpr std::string_view REPEATED_PTX[] = {
    "add.s32 %r2, %r2, %r3;",
    "mad.lo.s32 %r2, %r2, 3, %r3; shl.b32 %r3, %r2, 1;",
    "add.u32 %r2, %r2, #;",
    "fma.rn.f32 %f0, %f0, %f2, %f3;",
    "ld.global.u32 %r2, [%d0+4]; xor.b32 %r6, %r6, %r2;",
    "ld.global.f32 %f1, [%d6]; fma.rn.f32 %f0, %f1, %f2, %f0;",
    "add.s64 %d3, %d3, 4; st.global.u32 [%d0], %r2;",
    "red.global.add.u32 [%d0], 1;",
    "st.shared.u32 [sh0+64], %r2; ld.shared.u32 %r2, [sh0];",
    "{ .reg .b32 %x; mov.u32 %x, #; xor.b32 %r2, %r2, %x; }",
    "{ .param .b32 y; .param .b64 a; .param .align 8 .b8 s[16]; .param .b32 n; "
    "st.param.b64 [a], %d0; st.param.b64 [s+8], %d0; st.param.b32 [n], %r2; "
    "call (y), repeated, (a, s, n); ld.param.b32 %r2, [y]; }",
    ".param .b32 n@#; st.param.b32 [n@#], %r2; ld.param.b32 %r3, [n@#];",
    "bar.sync 0;",
    "shfl.sync.idx.b32 %r2, %r2, 1, 31, -1;",
    "mov.u32 %r3, %r2; mov.u32 %r2, %r3;",
    "cvta.to.global.u64 %d4, %d0; ld.global.u32 %r4, [%d4]; add.u32 %r2, %r2, %r4;",
    "mbarrier.test_wait.parity.shared.b64 %p2, [sh0], 0;",
};

/// Words for places where they may be wrong.
inline constexpr std::string_view PTX_WORDS[] = {
    "u8",
    "s16",
    "b32",
    "u64",
    "f32",
    "f64",
    "b128",
    "pred",
    "f16x2",
    "bf16",
    "e4m3x2",
    "rn",
    "rz",
    "rni",
    "sat",
    "ftz",
    "relu",
    "global",
    "shared",
    "local",
    "const",
    "param",
    "v2",
    "v4",
    "v8",
    "wide",
    "lo",
    "hi",
    "cc",
    "uni",
    "sync",
    "async",
    "aligned",
    "volatile",
    "gpu",
    "cta",
    "add",
    "cas",
    "to",
    "nc",
    "unified",
    "bulk",
    "tensor",
    "m16n8k16",
    "x4",
    "trans",
    "row",
    "shared::cluster",
    "level::eviction_priority",
};

} // namespace cuprum::emulator::test
