# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Cases of threads that cooperate: warps, groups, grids, clusters, atomics."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import reduce
from operator import xor

from case import CaseError, Run, case, signed

CLUSTER_ARCHITECTURE = 90


@case("warps", oldest=80)
def shuffles(run: Run) -> None:
    values = [run.random.randrange(-9, 9) for _ in range(32)]
    there = run.buffer("i", values)
    run.launch("shuffles", there, block=32)
    v = [a + values[t ^ 16] for t, a in enumerate(values)]
    v = [a + (v[t + 8] if t < 24 else a) for t, a in enumerate(v)]
    v = [a + v[(t & ~7) | 3] for t, a in enumerate(v)]
    votes = sum(a > 3 for a in v)
    v = [signed(a + votes + int(any(v)) + 0xFFFFFFFF) for a in v]
    v = [signed(a + sum(1 << u for u in range(32) if v[u] == a)) for a in v]
    if len(set(v)) == 1:
        v = [signed(a + 0xFFFFFFFF + 1) for a in v]
    total = sum(v)
    v = [signed(a + total) for a in v]
    v = [signed(a + sum(b != 0 for b in v) + int(any(v))) for a in v]
    run.expect("out", there, v)


@case("warps")
def atomics(run: Run) -> None:
    i = run.buffer("i", [0, 0, 1, 0, 0, 7])
    u, f, d = run.zeros("Q", 1), run.zeros("f", 1), run.zeros("d", 1)
    run.launch("atomics", i, u, f, d, grid=3, block=50)
    run.expect("i", i, [150, 5, 2, 9, 450, 3])
    run.expect("u", u, [150])
    run.expect("f", f, [150.0])
    run.expect("d", d, [150.0])


@case("warps")
def groups(run: Run) -> None:
    values = [run.random.randrange(1000) for _ in range(64)]
    there = run.buffer("i", values)
    run.launch("groups", there, block=64, is_cooperative=True)
    shifted = [values[t + 1] if t % 16 != 15 else a for t, a in enumerate(values)]
    run.expect("out", there, [a + 32 for a in shifted])


@case("groups")
def tiles(run: Run) -> None:
    threads = 64
    values = [run.random.randrange(100) for _ in range(threads)]
    out = run.zeros("i", threads * 8 * 4)
    run.launch("tiles", run.buffer("i", values), out, block=threads)
    expected = []
    for size in (4, 8, 16, 32):
        for t, value in enumerate(values):
            first = t // size * size
            mine = values[first : first + size]
            rank = t - first
            bits = sum(1 << k for k, v in enumerate(mine) if v & 1)
            alike = sum(1 << k for k, v in enumerate(mine) if v % 3 == value % 3)
            expected += [rank + 1000 * (t // size), sum(mine), max(mine), sum(mine[: rank + 1])]
            expected += [reduce(xor, mine[:rank], 0), signed(bits)]
            expected += [mine[(rank + 1) % size] + mine[rank ^ (size // 2)]]
            expected += [signed(alike + (1000000 if 7 in mine else 0))]
    run.expect("out", out, expected)


@case("groups")
def coalesced(run: Run) -> None:
    threads = 96
    values = [run.random.randrange(100) for _ in range(threads)]
    out = run.zeros("i", threads * 5)
    run.launch("coalesced", run.buffer("i", values), out, block=threads)
    expected = [0] * (threads * 5)
    for t, value in enumerate(values):
        warp = [(u, values[u]) for u in range(t // 32 * 32, t // 32 * 32 + 32)]
        active = [(u, v) for u, v in warp if v % 3 != 0]
        if value % 3 != 0:
            expected[t] = [u for u, _ in active].index(t) * 100 + len(active)
            expected[t + threads] = active[-1][1]
            expected[t + 2 * threads] = sum(v for _, v in active)
        expected[t + 3 * threads] = sum(v for _, v in warp if v % 5 == value % 5)
        same = [u for u, v in warp if (v > 50) == (value > 50)]
        expected[t + 4 * threads] = len(same) * 100 + same.index(t)
    run.expect("out", out, expected)


@case("groups")
def grid_ring(run: Run) -> None:
    blocks, rounds = 7, 9
    cells = [run.random.randrange(1000) for _ in range(blocks)]
    there = run.buffer("i", [*cells, 0])
    run.launch("grid_ring", there, ("i", rounds), grid=blocks, block=64, is_cooperative=True)
    for _ in range(rounds):
        cells = [(c + cells[(i + 1) % blocks]) % 1009 for i, c in enumerate(cells)]
    run.expect("cells", there, [*cells, blocks * 64])


@case("groups", oldest=CLUSTER_ARCHITECTURE)
def cluster_sum(run: Run) -> None:
    blocks, cluster = 8, 4
    values = [run.random.randrange(1000) for _ in range(blocks * 32)]
    out = run.zeros("i", blocks * 32 * 3)
    run.launch("cluster_sum", run.buffer("i", values), out, grid=blocks, block=32, cluster=cluster)
    expected = []
    for block in range(blocks):
        first = block // cluster * cluster
        for t in range(32):
            total = sum(values[b * 32 + t] for b in range(first, first + cluster))
            expected += [total, cluster * 32, block % cluster * 100 + cluster - 1]
    run.expect("out", out, expected)


@case("atomics")
def integers(run: Run) -> None:
    threads = 5 * 40
    full = (1 << 64) - 1
    i = run.buffer("i", [0, 0, 0, 0, -1, 0, 0])
    u = run.buffer("I", [3, 3, 0xFFFFFFFF, 0])
    long = run.buffer("q", [0, 0])
    wide = run.buffer("Q", [0, full, 0, 0, 0, 0])
    run.launch("integers", i, u, long, wide, grid=5, block=40)
    each = range(threads)
    total = sum(each)
    run.expect(
        "i",
        i,
        [total, -total, 1 - threads, threads - 1, signed(0xFFFF0000), -1, reduce(xor, each)],
    )
    inc, dec = 3, 3
    for _ in each:
        inc = 0 if inc >= 9 else inc + 1
        dec = 9 if dec == 0 or dec > 9 else dec - 1
    run.expect("u", u, [inc, dec, 0xFFFFFFF0 - threads + 1, 0x80000000 + threads - 1])
    run.expect("long", long, [-(threads - 1) << 33, (threads - 1) << 33])
    crossed = reduce(xor, (0x100000001 * t for t in each))
    run.expect("wide", wide, [total << 30, 0, full, crossed, 5, 77])


@case("atomics")
def reals(run: Run) -> None:
    f, d = run.zeros("f", 8), run.zeros("d", 1)
    h, b, s = run.zeros("e", 2), run.zeros("H", 2), run.zeros("e", 1)
    run.launch("reals", f, d, h, b, s, block=64)
    total = float(sum(range(64)))
    vectors = [64.0, total, 64.0, 128.0, 192.0, total]
    is_new = run.architecture >= CLUSTER_ARCHITECTURE
    got = f.read()
    if got[2:] != (vectors if is_new else [0.0] * 6):
        raise CaseError(f"the vectors are {got[2:]}")
    run.expect("f", got[:1], [total])
    run.expect("d", d, [total / 2])
    run.expect("h", h, [64.0, 96.0])
    run.expect("s", s, [128.0])
    if run.architecture >= 80:
        run.expect("b", b, [0x4280, 0x4200])


@case("atomics")
def narrow(run: Run) -> None:
    there = run.zeros("H", 2)
    run.launch("narrow", there, grid=2, block=48)
    run.expect("values", there, [0, 3 * 96])


def object_bytes(values: Sequence[float]) -> bytes:
    """Pack the structure of the source: count, wide, maximum, lock, flag, guarded, real..."""
    return struct.pack("@iQIiiifdB", *values).ljust(56, b"\0")


@case("atomics")
def objects(run: Run) -> None:
    threads = 4 * 33
    there = run.buffer("B", object_bytes([0] * 9))
    run.launch("objects", there, grid=4, block=33)
    crossed = reduce(xor, (0x1234567 * t for t in range(threads)))
    values = [sum(range(threads)), crossed, threads - 1, 0, 0, 2 * threads]
    wanted = object_bytes([*values, float(threads), threads / 4, threads % 256])
    run.expect("objects", there, wanted)


@case("atomics")
def message(run: Run) -> None:
    there, out = run.buffer("B", object_bytes([0] * 9)), run.zeros("i", 32)
    run.launch("message", there, out, grid=2, block=32)
    run.expect("out", out, [41 + t for t in range(32)])
