# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Kernels of one tensor copy each, as PTX.

Every kernel has the same arguments: the tensor map, the buffer `words` of 32-bit words, the bytes
`image` for the start of shared memory, and the buffer `out`. The words are:

    0-4    coordinates          8   bytes that the barrier expects      11     blocks of a multicast
    5-7    im2col offsets       9   place of the box in shared memory   12-13  value for a field
                                10  size of the image                   14     which of the fields

A kernel copies the image to shared memory, runs its instruction on one thread, and writes shared
memory to `out`, then two words: whether the first and the second phase of the barrier are over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

WORDS = 16
STATUS_BYTES = 8
MAP_ROOM_BYTES = 256  # a copy of the map in shared memory, behind the image and the barrier
POLLS = 3000


@dataclass(frozen=True)
class Form:
    """One instruction: `action` is load, store, prefetch or the name of a reduction.

    `field` is a field of the tensor map to replace first, `in_global` says where the map is then.
    """

    action: str
    rank: int
    mode: str = "tile"
    has_hint: bool = False
    is_multicast: bool = False
    field: str = ""
    immediate: int | None = None
    in_global: bool = False

    @property
    def text(self) -> str:
        """The instruction, without operands."""
        hint = ".L2::cache_hint" * self.has_hint
        mode = f".{self.mode}"
        if self.action == "load":
            many = ".multicast::cluster" * self.is_multicast
            end = f"mbarrier::complete_tx::bytes{many}{hint}"
            return f"cp.async.bulk.tensor.{self.rank}d.shared::cluster.global{mode}.{end}"
        if self.action == "prefetch":
            return f"cp.async.bulk.prefetch.tensor.{self.rank}d.L2.global{mode}{hint}"
        kind, operation = "cp.async", ""
        if self.action != "store":
            kind, operation = "cp.reduce.async", f".{self.action}"
        ends = f"global.shared::cta{operation}{mode}"
        return f"{kind}.bulk.tensor.{self.rank}d.{ends}.bulk_group{hint}"


def kernel_text(form: Form) -> str:
    """Return the PTX of a module with the kernel k."""
    target = "sm_90a" if form.field else "sm_90"
    lines = [
        ".version 8.3",
        f".target {target}",
        ".address_size 64",
        ".extern .shared .align 1024 .b8 stage[];",
        ".visible .entry k(.param .align 64 .b8 pmap[128], .param .u64 pwords,",
        "    .param .u64 pimage, .param .u64 pout)",
        "{",
        ".reg .b64 map, words, image, out, at, policy, wide;",
        ".reg .b32 lane, c<5>, bytes, place, size, mask, ordinal, base, box, bar, copy, i, v, n;",
        ".reg .b32 rank, value;",
        ".reg .b16 o<3>, blocks;",
        ".reg .pred p, first, again, issues;",
        "mov.b64 map, pmap;",
        "cvta.param.u64 map, map;",
        "ld.param.u64 words, [pwords];",
        "ld.param.u64 image, [pimage];",
        "ld.param.u64 out, [pout];",
        "mov.u32 lane, %tid.x;",
        "setp.eq.u32 first, lane, 0;",
        "mov.u32 base, stage;",
        "add.u32 base, base, 1023;",
        "and.b32 base, base, 0xfffffc00;",
        *(f"ld.global.b32 c{i}, [words+{4 * i}];" for i in range(5)),
        *(f"ld.global.b16 o{i}, [words+{20 + 4 * i}];" for i in range(3)),
        "ld.global.b32 bytes, [words+32];",
        "ld.global.b32 place, [words+36];",
        "ld.global.b32 size, [words+40];",
        "ld.global.b16 blocks, [words+44];",
        "ld.global.b64 wide, [words+48];",
        "cvt.u32.u64 value, wide;",
        "add.u32 box, base, place;",
        "add.u32 bar, base, size;",
        "add.u32 copy, bar, 128;",
        "createpolicy.fractional.L2::evict_last.b64 policy, 1.0;",
        # The image, a word for each thread at a time.
        "mov.u32 i, lane;",
        "FILL:",
        "mad.wide.u32 at, i, 4, image;",
        "ld.global.b32 v, [at];",
        "mad.lo.u32 n, i, 4, base;",
        "st.shared.b32 [n], v;",
        "add.u32 i, i, 32;",
        "mul.lo.u32 n, i, 4;",
        "setp.lt.u32 p, n, size;",
        "@p bra FILL;",
        "@first mbarrier.init.shared::cta.b64 [bar], 1;",
        "fence.mbarrier_init.release.cluster;",
        "fence.proxy.async;",
        "barrier.cluster.arrive;",
        "barrier.cluster.wait;",
    ]
    lines += replace_lines(form) if form.field else []
    lines += ["mov.pred issues, first;", "mov.u32 rank, %cluster_ctarank;"]
    if form.is_multicast:
        # A block that the mask leaves out waits for nothing.
        lines += [
            "setp.eq.and.u32 issues, rank, 0, first;",
            "cvt.u32.u16 mask, blocks;",
            "shr.u32 mask, mask, rank;",
            "and.b32 mask, mask, 1;",
            "mul.lo.u32 bytes, bytes, mask;",
        ]
    if form.action == "load":
        lines.append("@first mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], bytes;")
    lines += [f"@issues {form.text} {', '.join(operands(form))};"]
    if form.action == "load":
        lines += [
            "mov.u32 i, 0;",
            "POLL:",
            "mbarrier.test_wait.parity.shared::cta.b64 p, [bar], 0;",
            "@p bra ARRIVED;",
            "nanosleep.u32 200;",
            "add.u32 i, i, 1;",
            f"setp.lt.u32 again, i, {POLLS};",
            "@again bra POLL;",
            "ARRIVED:",
        ]
    elif form.action != "prefetch":
        lines += ["cp.async.bulk.commit_group;", "cp.async.bulk.wait_group 0;"]
    lines += [
        "barrier.cluster.arrive;",
        "barrier.cluster.wait;",
        # Each block has its part of `out`: the image and the status.
        f"add.u32 n, size, {STATUS_BYTES};",
        "mov.u32 i, %ctaid.x;",
        "mul.lo.u32 n, n, i;",
        "cvt.u64.u32 at, n;",
        "add.u64 out, out, at;",
        "mov.u32 i, lane;",
        "EMPTY:",
        "mad.lo.u32 n, i, 4, base;",
        "ld.shared.b32 v, [n];",
        "mad.wide.u32 at, i, 4, out;",
        "st.global.b32 [at], v;",
        "add.u32 i, i, 32;",
        "mul.lo.u32 n, i, 4;",
        "setp.lt.u32 p, n, size;",
        "@p bra EMPTY;",
        "cvt.u64.u32 at, size;",
        "add.u64 out, out, at;",
    ]
    for phase in range(2):
        lines += [
            f"mbarrier.test_wait.parity.shared::cta.b64 p, [bar], {phase};",
            "selp.u32 v, 1, 0, p;",
            f"@first st.global.b32 [out+{4 * phase}], v;",
        ]
    return "\n".join([*lines, "ret;", "}", ""])


def operands(form: Form) -> Sequence[str]:
    """Return the operands of the instruction."""
    place = "[map, {" + ", ".join(f"c{i}" for i in range(form.rank)) + "}]"
    if form.action == "load":
        result = ["[box]", place, "[bar]"]
    elif form.action == "prefetch":
        result = [place]
    else:
        result = [place, "[box]"]
    if form.mode == "im2col":
        result.append("{" + ", ".join(f"o{i}" for i in range(form.rank - 2)) + "}")
    return result + ["blocks"] * form.is_multicast + ["policy"] * form.has_hint


def replace_lines(form: Form) -> list[str]:
    """Return lines that make a map with one field replaced, and set `map` to its address.

    The map goes through shared memory, or through the last bytes of `out`, to that place.
    """
    parts = form.field.split(".")  # a field, and for some which of its numbers
    name = parts[0]
    width = 64 if name in ("global_address", "global_stride") else 32
    space = "global" if form.in_global else "shared::cta"
    value = "wide" if width == 64 else "value"
    if form.immediate is not None:
        value = str(form.immediate)
    place = f"[{'at' if form.in_global else 'copy'}]"
    ordinal = f"{parts[1]}, " if len(parts) > 1 else ""
    replace = f"tensormap.replace.tile.{name}.{space}.b1024.b{width} {place}, {ordinal}{value};"
    lines = [
        "mul.wide.u32 at, lane, 4;",
        "add.u64 at, at, map;",
        "ld.b32 v, [at];",
        # The new map lies behind the image and the status, at a multiple of 128 bytes.
        "cvt.u64.u32 at, size;",
        "add.u64 at, at, out;",
        "add.u64 at, at, 128;",
        "mad.lo.u32 n, lane, 4, copy;",
        "mad.wide.u32 map, lane, 4, at;",
        "st.global.b32 [map], v;" if form.in_global else "st.shared.b32 [n], v;",
        "bar.warp.sync 0xffffffff;",
        f"@first {replace}",
        "bar.warp.sync 0xffffffff;",
    ]
    if form.in_global:
        lines.append("fence.proxy.tensormap::generic.release.gpu;")
    else:
        lines.append(
            "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu"
            ".sync.aligned [at], [copy], 128;"
        )
    return [*lines, "fence.proxy.tensormap::generic.acquire.gpu [at], 128;", "mov.b64 map, at;"]
