# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The list of instruction forms for kernels of one instruction.

A pattern describes forms with alternatives: "add{,.sat}.{u,s}32 d, a, b" means four forms. A form
lists the kinds of its operands, results first: 16, 32 or 64 bits, or p for a predicate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product


@dataclass(frozen=True)
class Form:
    """One instruction: its text with operands d, e, f, g (results) and a, b, c (sources)."""

    text: str
    results: str  # kinds: h (16 bits), w (32), q (64), p (predicate)
    sources: str
    values: str  # of the sources: i for integers, e at borders, f for floats of their widths
    target: int = 70
    tolerance: float = 0.0  # the allowed relative error of an approximation; 0 for exact results


# Pattern, results, sources, values, then the first architecture and a tolerance.
PATTERNS: tuple[tuple, ...] = (
    # Integers.
    ("{add,sub,min,max,mul.lo,mul.hi,div,rem}.{u,s}16 d, a, b", "h", "hh", "i"),
    ("{add,sub,min,max,mul.lo,mul.hi,div,rem}.{u,s}32 d, a, b", "w", "ww", "i"),
    ("{add,sub,min,max,mul.lo,mul.hi,div,rem}.{u,s}64 d, a, b", "q", "qq", "i"),
    ("{add,sub}.sat.s32 d, a, b", "w", "ww", "i"),
    ("mul.wide.{u,s}16 d, a, b", "w", "hh", "i"),
    ("mul.wide.{u,s}32 d, a, b", "q", "ww", "i"),
    ("mad.{lo,hi}.{u,s}16 d, a, b, c", "h", "hhh", "i"),
    ("mad.{lo,hi}.{u,s}32 d, a, b, c", "w", "www", "i"),
    ("mad.{lo,hi}.{u,s}64 d, a, b, c", "q", "qqq", "i"),
    ("mad.hi.sat.s32 d, a, b, c", "w", "www", "i"),
    ("mad.wide.{u,s}16 d, a, b, c", "w", "hhw", "i"),
    ("mad.wide.{u,s}32 d, a, b, c", "q", "wwq", "i"),
    ("mul24.{lo,hi}.{u,s}32 d, a, b", "w", "ww", "i"),
    ("mad24.{lo,hi}.{u,s}32 d, a, b, c", "w", "www", "i"),
    ("mad24.hi.sat.s32 d, a, b, c", "w", "www", "i"),
    ("sad.{u,s}16 d, a, b, c", "h", "hhh", "i"),
    ("sad.{u,s}32 d, a, b, c", "w", "www", "i"),
    ("sad.{u,s}64 d, a, b, c", "q", "qqq", "i"),
    ("{abs,neg}.s16 d, a", "h", "h", "i"),
    ("{abs,neg}.s32 d, a", "w", "w", "i"),
    ("{abs,neg}.s64 d, a", "q", "q", "i"),
    ("add.{u,s}16x2 d, a, b", "w", "ww", "i", 90),
    ("{min,max}.{u,s}16x2 d, a, b", "w", "ww", "i", 90),
    ("{min,max}.relu.s16x2 d, a, b", "w", "ww", "i", 90),
    ("{min,max}.relu.s32 d, a, b", "w", "ww", "i", 90),
    ("dp4a.{u,s}32.{u,s}32 d, a, b, c", "w", "www", "i"),
    ("dp2a.{lo,hi}.{u,s}32.{u,s}32 d, a, b, c", "w", "www", "i"),
    ("add.cc.{u,s}32 d, a, b; addc.u32 e, c, 0", "ww", "www", "i"),
    ("sub.cc.u32 d, a, b; subc.u32 e, c, 0", "ww", "www", "i"),
    ("add.cc.u64 d, a, b; addc.u64 e, c, 0", "qq", "qqq", "i"),
    ("mad.{lo,hi}.cc.u32 d, a, b, c; addc.u32 e, a, 0", "ww", "www", "i"),
    ("add.cc.u32 d, a, b; madc.{lo,hi}.u32 e, a, b, c", "ww", "www", "i"),
    # Carries. The result of addc after sub.cc is recorded on a GPU. The last result is the flag.
    ("{add,sub}.cc.{u,s}32 d, a, b; {addc,subc}.{u,s}32 e, b, c", "ww", "www", "e"),
    ("{add,sub}.cc.{u,s}64 d, a, b; {addc,subc}.{u,s}64 e, b, c", "qq", "qqq", "e"),
    (
        "{add,sub}.cc.u32 d, a, b; {addc,subc}.cc.u32 e, b, c; {addc,subc}.u32 f, 0, 0",
        "www",
        "www",
        "e",
    ),
    (
        "{add,sub}.cc.u64 d, a, b; {addc,subc}.cc.u64 e, b, c; {addc,subc}.u64 f, 0, 0",
        "qqq",
        "qqq",
        "e",
    ),
    (
        "{add,sub}.cc.s32 d, a, b; {addc,subc}.cc.s32 e, b, c; {addc,subc}.cc.s32 f, c, a; "
        "addc.s32 g, 0, 0",
        "wwww",
        "www",
        "e",
    ),
    (
        "{add,sub}.cc.s64 d, a, b; {addc,subc}.cc.s64 e, b, c; {addc,subc}.cc.s64 f, c, a; "
        "addc.s64 g, 0, 0",
        "qqqq",
        "qqq",
        "e",
    ),
    (
        "mad.{lo,hi}.cc.{u,s}32 d, a, b, c; madc.{lo,hi}.cc.{u,s}32 e, b, c, a; addc.u32 f, 0, 0",
        "www",
        "www",
        "e",
    ),
    (
        "mad.{lo,hi}.cc.{u,s}64 d, a, b, c; madc.{lo,hi}.cc.{u,s}64 e, b, c, a; addc.u64 f, 0, 0",
        "qqq",
        "qqq",
        "e",
    ),
    ("mad.lo.cc.u32 d, a, b, c; madc.hi.u32 e, a, b, 0", "ww", "www", "e"),
    ("mad.lo.cc.u64 d, a, b, c; madc.hi.u64 e, a, b, 0", "qq", "qqq", "e"),
    ("sub.cc.u32 d, a, b; madc.{lo,hi}.cc.u32 e, a, b, c; subc.u32 f, 0, 0", "www", "www", "e"),
    ("mad.lo.cc.u32 d, a, b, c; {subc,addc}.cc.u32 e, b, a; subc.u32 f, 0, 0", "www", "www", "e"),
    ("add.cc.u32 d, a, b; {addc,subc}.u64 wide, 5, 3; cvt.u32.u64 e, wide", "ww", "ww", "e"),
    # Bits.
    ("{and,or,xor}.b16 d, a, b", "h", "hh", "i"),
    ("{and,or,xor}.b32 d, a, b", "w", "ww", "i"),
    ("{and,or,xor}.b64 d, a, b", "q", "qq", "i"),
    ("{not,cnot}.b16 d, a", "h", "h", "i"),
    ("{not,cnot,brev}.b32 d, a", "w", "w", "i"),
    ("{not,cnot,brev}.b64 d, a", "q", "q", "i"),
    ("{and,or,xor}.pred d, a, b", "p", "pp", "i"),
    ("not.pred d, a", "p", "p", "i"),
    ("shl.b16 d, a, b", "h", "hw", "s"),
    ("shl.b32 d, a, b", "w", "ww", "s"),
    ("shl.b64 d, a, b", "q", "qw", "s"),
    ("shr.{b,u,s}16 d, a, b", "h", "hw", "s"),
    ("shr.{b,u,s}32 d, a, b", "w", "ww", "s"),
    ("shr.{b,u,s}64 d, a, b", "q", "qw", "s"),
    ("shf.{l,r}.{wrap,clamp}.b32 d, a, b, c", "w", "www", "s"),
    ("{popc,clz}.b32 d, a", "w", "w", "i"),
    ("{popc,clz}.b64 d, a", "w", "q", "i"),
    ("bfind{,.shiftamt}.{u,s}32 d, a", "w", "w", "i"),
    ("bfind{,.shiftamt}.{u,s}64 d, a", "w", "q", "i"),
    ("bfe.{u,s}32 d, a, b, c", "w", "www", "s"),
    ("bfe.{u,s}64 d, a, b, c", "q", "qww", "s"),
    ("bfi.b32 d, a, b, c, 9", "w", "www", "s"),
    ("bfi.b64 d, a, b, c, 40", "q", "qqw", "s"),
    ("bmsk.{clamp,wrap}.b32 d, a, b", "w", "ww", "s"),
    ("szext.{clamp,wrap}.{u,s}32 d, a, b", "w", "ww", "s"),
    ("fns.b32 d, a, b, {1,-1,3}", "w", "ww", "s"),
    ("prmt.b32{,.f4e,.b4e,.rc8,.ecl,.ecr,.rc16} d, a, b, c", "w", "www", "i"),
    ("lop3.b32 d, a, b, c, {0x80,0xE8,0x96,0x1B,0xCA}", "w", "www", "i"),
    ("lop3.{and,or}.b32 d|e, a, b, 0xffff, 0x80, c", "wp", "wwp", "i", 80),
    # Comparisons and selections.
    ("setp.{eq,ne,lt,le,gt,ge}.s16 d, a, b", "p", "hh", "i"),
    ("setp.{eq,ne,lt,le,gt,ge,lo,ls,hi,hs}.u32 d, a, b", "p", "ww", "i"),
    ("setp.{lt,ge}.s32 d|e, a, b", "pp", "ww", "i"),
    ("setp.{lt,ge}.{and,or,xor}.s64 d|e, a, b, c", "pp", "qqp", "i"),
    ("setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}{,.ftz}.f32 d, a, b", "p", "ww", "f"),
    ("setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.f64 d, a, b", "p", "qq", "f"),
    ("setp.{eq,lt,geu,nan}.f16 d, a, b", "p", "hh", "f"),
    ("setp.{eq,lt,geu,nan}.bf16 d, a, b", "p", "hh", "f", 90),
    ("set.{eq,lt,gtu}.{u32,s32,f32}.f32 d, a, b", "w", "ww", "f"),
    ("set.{eq,lt}.{u32,f32}.s32 d, a, b", "w", "ww", "i"),
    ("set.{lt,geu}.f16x2.f16x2 d, a, b", "w", "ww", "h"),
    ("selp.b32 d, a, b, c", "w", "wwp", "i"),
    ("selp.f64 d, a, b, c", "q", "qqp", "f"),
    ("slct.u32.{s32,f32} d, a, b, c", "w", "www", "f"),
    ("slct.ftz.f64.f32 d, a, b, c", "q", "qqw", "f"),
    # Single and double precision.
    ("{add,sub,mul}{,.rn,.rz,.rm,.rp}{,.ftz}{,.sat}.f32 d, a, b", "w", "ww", "f"),
    ("{add,sub,mul}{,.rn,.rz,.rm,.rp}.f64 d, a, b", "q", "qq", "f"),
    ("fma{.rn,.rz,.rm,.rp}{,.ftz}{,.sat}.f32 d, a, b, c", "w", "www", "f"),
    ("fma{.rn,.rz,.rm,.rp}.f64 d, a, b, c", "q", "qqq", "f"),
    ("div{.rn,.rz,.rm,.rp}{,.ftz}.f32 d, a, b", "w", "ww", "f"),
    ("div{.rn,.rz,.rm,.rp}.f64 d, a, b", "q", "qq", "f"),
    ("{rcp,sqrt}{.rn,.rz,.rm,.rp}{,.ftz}.f32 d, a", "w", "w", "f"),
    ("{rcp,sqrt}{.rn,.rz,.rm,.rp}.f64 d, a", "q", "q", "f"),
    ("{abs,neg}{,.ftz}.f32 d, a", "w", "w", "f"),
    ("{abs,neg}.f64 d, a", "q", "q", "f"),
    ("{min,max}{,.ftz}{,.NaN}.f32 d, a, b", "w", "ww", "f", 80),
    ("{min,max}.xorsign.abs.f32 d, a, b", "w", "ww", "f", 86),
    ("{min,max}.f64 d, a, b", "q", "qq", "f"),
    ("copysign.f32 d, a, b", "w", "ww", "f"),
    ("copysign.f64 d, a, b", "q", "qq", "f"),
    ("testp.{finite,infinite,number,notanumber,normal,subnormal}.f32 d, a", "p", "w", "f"),
    ("testp.{finite,infinite,number,notanumber,normal,subnormal}.f64 d, a", "p", "q", "f"),
    ("div.{full,approx}{,.ftz}.f32 d, a, b", "w", "ww", "n", 70, 4e-7),
    ("{rcp,sqrt,rsqrt}.approx{,.ftz}.f32 d, a", "w", "w", "n", 70, 4e-7),
    ("{ex2,lg2}.approx{,.ftz}.f32 d, a", "w", "w", "n", 70, 2e-6),
    ("{sin,cos}.approx{,.ftz}.f32 d, a", "w", "w", "m", 70, 2e-6),
    ("tanh.approx.f32 d, a", "w", "w", "m", 75, 1e-3),
    # Halves.
    ("{add,sub,mul}{,.rn}{,.ftz}{,.sat}.f16 d, a, b", "h", "hh", "f"),
    ("{add,sub,mul}{,.rn}{,.ftz}{,.sat}.f16x2 d, a, b", "w", "ww", "h"),
    ("{add,sub,mul}{,.rn}.bf16 d, a, b", "h", "hh", "b", 90),
    ("{add,sub,mul}{,.rn}.bf16x2 d, a, b", "w", "ww", "c", 90),
    ("fma.rn{,.ftz}{,.sat,.relu}.f16 d, a, b, c", "h", "hhh", "f", 80),
    ("fma.rn{,.ftz}{,.sat,.relu}.f16x2 d, a, b, c", "w", "www", "h", 80),
    ("fma.rn{,.relu}.bf16 d, a, b, c", "h", "hhh", "b", 80),
    ("fma.rn{,.relu}.bf16x2 d, a, b, c", "w", "www", "c", 80),
    ("fma.rn.oob{,.relu}.f16 d, a, b, c", "h", "hhh", "o", 90),
    ("fma.rn.oob{,.relu}.f16x2 d, a, b, c", "w", "www", "O", 90),
    ("fma.rn.oob{,.relu}.bf16 d, a, b, c", "h", "hhh", "z", 90),
    ("fma.rn.oob{,.relu}.bf16x2 d, a, b, c", "w", "www", "Z", 90),
    ("{abs,neg}{,.ftz}.f16 d, a", "h", "h", "f"),
    ("{abs,neg}.bf16x2 d, a", "w", "w", "c", 80),
    ("{min,max}{,.ftz}{,.NaN}.f16 d, a, b", "h", "hh", "f", 80),
    ("{min,max}{,.NaN}.bf16x2 d, a, b", "w", "ww", "c", 80),
    ("{min,max}.xorsign.abs.f16x2 d, a, b", "w", "ww", "h", 86),
    ("{ex2,tanh}.approx.f16 d, a", "h", "h", "m", 75, 2e-3),
    ("{ex2,tanh}.approx.f16x2 d, a", "w", "w", "M", 75, 2e-3),
    ("ex2.approx.ftz.bf16 d, a", "h", "h", "k", 90, 1e-2),
    ("tanh.approx.bf16 d, a", "h", "h", "k", 90, 1e-2),
    # Conversions.
    ("cvt.{u16,s16}.{u32,s32} d, a", "h", "w", "i"),
    ("cvt{,.sat}.{u8,s8}.{u32,s32} d, a", "w", "w", "i"),
    ("cvt{,.sat}.{u32,s32}.{u64,s64} d, a", "w", "q", "i"),
    ("cvt.{u64,s64}.{u32,s32} d, a", "q", "w", "i"),
    ("cvt{.rni,.rzi,.rmi,.rpi}{,.ftz}.{u32,s32}.f32 d, a", "w", "w", "f"),
    ("cvt{.rni,.rzi,.rmi,.rpi}.{u64,s64}.f32 d, a", "q", "w", "f"),
    ("cvt{.rni,.rzi,.rmi,.rpi}.{u16,s16}.f32 d, a", "h", "w", "f"),
    ("cvt{.rni,.rzi,.rmi,.rpi}.{u32,s32}.f64 d, a", "w", "q", "f"),
    ("cvt{.rni,.rzi,.rmi,.rpi}.{u64,s64}.f64 d, a", "q", "q", "f"),
    ("cvt{.rni,.rzi,.rmi,.rpi}.{u32,s32}.f16 d, a", "w", "h", "f"),
    ("cvt{.rn,.rz,.rm,.rp}.f32.{u32,s32} d, a", "w", "w", "i"),
    ("cvt{.rn,.rz,.rm,.rp}.f32.{u64,s64} d, a", "w", "q", "i"),
    ("cvt{.rn,.rz,.rm,.rp}.f64.{u64,s64} d, a", "q", "q", "i"),
    ("cvt{.rn,.rz,.rm,.rp}.f16.{u32,s32} d, a", "h", "w", "i"),
    ("cvt{.rni,.rzi,.rmi,.rpi}{,.ftz}{,.sat}.f32.f32 d, a", "w", "w", "f"),
    ("cvt{.rni,.rzi,.rmi,.rpi}.f64.f64 d, a", "q", "q", "f"),
    ("cvt{.rn,.rz,.rm,.rp}{,.ftz}{,.sat}.f32.f64 d, a", "w", "q", "f"),
    ("cvt{,.ftz}{,.sat}.f64.f32 d, a", "q", "w", "f"),
    ("cvt{.rn,.rz,.rm,.rp}{,.ftz}{,.sat}.f16.f32 d, a", "h", "w", "f"),
    ("cvt{,.ftz}{,.sat}.f32.f16 d, a", "w", "h", "f"),
    ("cvt{.rn,.rz}{,.relu}.{bf16,f16}.f32 d, a", "h", "w", "f", 80),
    ("cvt{.rn,.rz}{,.relu}.{bf16x2,f16x2}.f32 d, a, b", "w", "ww", "f", 80),
    ("cvt.f32.bf16 d, a", "w", "h", "b", 90),
    ("cvt{,.rn,.rz,.rm,.rp}.f16.bf16 d, a", "h", "h", "b", 90),
    ("cvt{,.rn,.rz,.rm,.rp}.bf16.f16 d, a", "h", "h", "f", 90),
    ("cvt.rna.tf32.f32 d, a", "w", "w", "f", 80),
    ("cvt{.rn,.rz}{,.relu}.tf32.f32 d, a", "w", "w", "f", 90),
    ("cvt.rn.satfinite{,.relu}.{e4m3x2,e5m2x2}.f32 d, a, b", "h", "ww", "f", 89),
    ("cvt.rn.satfinite{,.relu}.{e4m3x2,e5m2x2}.f16x2 d, a", "h", "w", "h", 89),
    ("cvt.rn{,.relu}.f16x2.{e4m3x2,e5m2x2} d, a", "w", "h", "i", 89),
    ("cvt.pack.sat.{u16,s16}.s32 d, a, b", "w", "ww", "i", 72),
    ("cvt.pack.sat.{u8,s8}.s32.b32 d, a, b, c", "w", "www", "i", 72),
    # Video.
    ("{vadd,vsub,vabsdiff,vmin,vmax}.{u,s}32.{u,s}32.{u,s}32{,.sat} d, a, b", "w", "ww", "i"),
    ("{vadd,vsub,vabsdiff}.s32.{u,s}32.s32.sat d, a{.b1,.h1}, b{.b3,.h0}", "w", "ww", "i"),
    ("{vadd,vsub,vmin}.{u,s}32.s32.s32{,.sat}{.add,.min,.max} d, a, b.b0, c", "w", "www", "i"),
    ("{vadd,vmax}.s32.s32.s32{,.sat} d{.b2,.h1}, a, b.h0, c", "w", "www", "i"),
    ("{vshl,vshr}.{u,s}32.{u,s}32.u32{,.sat}{.clamp,.wrap} d, a, b", "w", "ww", "s"),
    ("vmad.{u,s}32.{u,s}32.{u,s}32{,.sat}{,.shr7,.shr15} d, a.h0, b.b1, c", "w", "www", "i"),
    ("vset.{u,s}32.{u,s}32{.eq,.ne,.lt,.le,.gt,.ge} d, a, b.h1", "w", "ww", "i"),
    ("vset.s32.s32.lt{.add,.max} d, a, b, c", "w", "www", "i"),
    (
        "{vadd2,vsub2,vavrg2,vabsdiff2,vmin2,vmax2}.{u,s}32.s32.s32{,.sat,.add} d, a, b, c",
        "w",
        "www",
        "i",
    ),
    ("{vadd2,vavrg2}.s32.u32.s32.sat d.h1, a.h31, b.h02, c", "w", "www", "i"),
    (
        "{vadd4,vsub4,vavrg4,vabsdiff4,vmin4,vmax4}.{u,s}32.u32.s32{,.sat,.add} d, a, b, c",
        "w",
        "www",
        "i",
    ),
    ("{vadd4,vabsdiff4}.u32.u32.u32.sat d.b20, a.b4071, b.b3210, c", "w", "www", "i"),
    ("vset2.u32.s32{.lt,.ne}{,.add} d, a, b, c", "w", "www", "i"),
    ("vset4.s32.s32{.ge,.eq}{,.add} d, a, b, c", "w", "www", "i"),
    # Warps: all 32 lanes take part.
    ("shfl.sync.{up,down,bfly,idx}.b32 d|e, a, b, {0x1f,0x181f}, -1", "wp", "ww", "l"),
    ("vote.sync.{all,any,uni}.pred d, a, -1", "p", "p", "i"),
    ("vote.sync.ballot.b32 d, a, -1", "w", "p", "i"),
    ("match.any.sync.b32 d, a, -1", "w", "w", "l"),
    ("match.all.sync.b64 d|e, a, -1", "wp", "q", "l"),
    ("redux.sync.{add,min,max}.{u,s}32 d, a, -1", "w", "w", "i", 80),
    ("redux.sync.{and,or,xor}.b32 d, a, -1", "w", "w", "i", 80),
    ("mov.b32 {lo, hi}, a; mov.b32 d, {hi, lo}", "w", "w", "i"),
    ("mov.b64 {e, d}, a", "ww", "q", "i"),
    # Registers with several components: the kernels declare pair, quad and ids.
    ("mov.v2.b32 pair, {a, b}; mov.v2.b32 pair, {pair.y, pair.x}; mov.b64 d, pair", "q", "ww", "i"),
    ("mov.b64 quad, a; mov.b64 d, {quad.w, quad.b, quad.g, quad.x}", "q", "q", "i"),
    (
        "mov.v4.u32 ids, {%tid,%ntid,%ctaid,%nctaid}; add.u32 d, ids.x, a; mov.b32 e, ids.w",
        "ww",
        "w",
        "i",
    ),
    # Instructions that only newer devices have.
    ("{add,sub,mul}{.rn,.rz}{,.ftz}.f32x2 d, a, b", "q", "qq", "P", 100),
    ("fma{.rn,.rm}{,.ftz}.f32x2 d, a, b, c", "q", "qqq", "P", 100),
    ("{add,sub}{,.rn,.rz}{,.sat}.f32.f16 d, a, b", "w", "hw", "f", 100),
    ("fma.rn{,.sat}.f32.f16 d, a, b, c", "w", "hhw", "f", 100),
    ("{min,max}{,.ftz}{,.NaN}{,.abs}.f32 d, a, b, c", "w", "www", "f", 100),
)


def forms() -> Iterator[Form]:
    """Yield every form."""
    for pattern, results, sources, values, *rest in PATTERNS:
        for text in alternatives(pattern):
            yield Form(text, results, sources, values, *rest)


def alternatives(pattern: str) -> Iterator[str]:
    """Expand {x,y} into one text for each choice; braces with spaces belong to PTX."""
    pieces = re.split(r"(\{[^{} ]*\})", pattern)
    choices = [
        piece[1:-1].split(",") if re.fullmatch(r"\{[^{} ]*\}", piece) else [piece]
        for piece in pieces
    ]
    for choice in product(*choices):
        yield "".join(choice)
