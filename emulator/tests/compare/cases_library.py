# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Cases of the C++ core libraries: barriers, pipelines, block primitives, a scan with look-back."""

from __future__ import annotations

from itertools import accumulate

from case import Buffer, Run, case, single
from cases_groups import CLUSTER_ARCHITECTURE


def inputs(run: Run, count: int) -> tuple[list[int], Buffer]:
    """Make an input of different numbers."""
    values = [i * i % 1009 for i in range(count)]
    return values, run.buffer("i", values)


@case("pipelines")
def staged(run: Run) -> None:
    values, there = inputs(run, 256)
    out = run.zeros("i", 256)
    run.launch("staged", there, out, block=256)
    run.expect("out", out, values[::-1])


@case("pipelines")
def phases(run: Run) -> None:
    values, there = inputs(run, 256)
    out = run.zeros("i", 256)
    run.launch("phases", there, out, ("i", 20), block=256)
    run.expect("out", out, [0] * 32 + [v * 20 + 190 for v in values[32:]])


@case("pipelines")
def dropping(run: Run) -> None:
    out = run.zeros("i", 8)
    run.launch("dropping", out, block=144)
    run.expect("out", out, list(accumulate(144 - 16 * (r + 1) for r in range(8))))


@case("pipelines")
def pipelined(run: Run) -> None:
    values, there = inputs(run, 128 * 9)
    out = run.zeros("i", 128)
    run.launch("pipelined", there, out, ("i", 9), block=128)
    run.expect("out", out, [sum(values[b * 128 + 127 - t] for b in range(9)) for t in range(128)])


@case("pipelines")
def thread_pipelined(run: Run) -> None:
    values, there = inputs(run, 4 * 128 * 5)
    out = run.zeros("i", 128)
    run.launch("thread_pipelined", there, out, ("i", 5), block=128)
    quads = [sum(values[i : i + 4]) for i in range(0, len(values), 4)]
    run.expect("out", out, [sum(quads[b * 128 + t] for b in range(5)) for t in range(128)])


@case("pipelines")
def partitioned(run: Run) -> None:
    values, there = inputs(run, 64 * 7)
    out = run.zeros("i", 64)
    run.launch("partitioned", there, out, ("i", 7), block=96)
    run.expect("out", out, [sum(values[b * 64 + t] * (b + 1) for b in range(7)) for t in range(64)])


@case("pipelines")
def grouped(run: Run) -> None:
    values, there = inputs(run, 100)
    out = run.zeros("i", 100)
    run.launch("grouped", there, out, block=100, shared_bytes=400)
    run.expect("out", out, values[::-1])


@case("pipelines", oldest=CLUSTER_ARCHITECTURE)
def neighbours(run: Run) -> None:
    out = run.zeros("i", 6 * 64)
    run.launch("neighbours", out, grid=6, block=64)
    run.expect("out", out, [((i // 64 ^ 1) * 100 + i % 64) * 1000 + 64 for i in range(6 * 64)])


@case("bulk", oldest=CLUSTER_ARCHITECTURE)
def there_and_back(run: Run) -> None:
    values, there = inputs(run, 3 * 256)
    out = run.zeros("i", 3 * 256)
    run.launch("there_and_back", there, out, grid=3, block=256)
    run.expect("out", out, [v * 3 + 1 for v in values])


@case("bulk", oldest=CLUSTER_ARCHITECTURE)
def summed(run: Run) -> None:
    blocks = 5
    total, highest = run.zeros("i", 256), run.buffer("I", [50] * 256)
    run.launch("summed", total, highest, grid=blocks, block=256)
    run.expect("total", total, [t * sum(range(1, blocks + 1)) for t in range(256)])
    peaks = [[(b * 37 + t * 11) % 101 for b in range(blocks)] for t in range(256)]
    run.expect("highest", highest, [max(50, *each) for each in peaks])


@case("bulk", oldest=CLUSTER_ARCHITECTURE)
def sent_around(run: Run) -> None:
    out = run.zeros("i", 8 * 32)
    run.launch("sent_around", out, grid=8, block=32)
    senders = [block // 4 * 4 + (block + 3) % 4 for block in range(8)]
    run.expect("out", out, [s * 1000 + t for s in senders for t in range(32)])


@case("blocks")
def scan(run: Run) -> None:
    values = [run.random.randrange(-100, 100) for _ in range(512)]
    out, totals = run.zeros("i", 1024), run.zeros("i", 128)
    run.launch("scan", run.buffer("i", values), out, totals, block=128)
    sums = [0, *accumulate(values)]
    run.expect("out", out, sums[:-1] + list(accumulate(values, max)))
    run.expect("totals", totals, [sums[-1]] * 128)


@case("blocks")
def sort(run: Run) -> None:
    keys = [run.random.randrange(1000) for _ in range(512)]
    reals = [single(run.random.uniform(-5, 5)) for _ in range(512)]
    there, places, far = run.buffer("I", keys), run.zeros("i", 512), run.buffer("f", reals)
    run.launch("sort", there, places, far, block=128)
    run.expect("keys", there, sorted(keys))
    run.expect("places", places, sorted(range(512), key=lambda i: keys[i]))
    run.expect("reals", far, sorted(reals, reverse=True))


@case("blocks")
def merge_sort(run: Run) -> None:
    keys = [run.random.randrange(-(2**31), 2**31) for _ in range(384)]
    there = run.buffer("i", keys)
    run.launch("merge_sort", there, block=128)
    run.expect("keys", there, sorted(keys))


@case("blocks")
def reduce(run: Run) -> None:
    values = [run.random.randrange(-100, 100) for _ in range(128)]
    out, real = run.zeros("i", 288), run.zeros("d", 1)
    run.launch("reduce", run.buffer("i", values), out, real, block=128)
    expected = [sum(values), max(values[:77])]
    expected += [sum(values[i : i + 32]) for i in range(0, 128, 32)]
    expected += [max(values[i : i + 8]) for i in range(0, 128, 8)]
    expected += [0] * (32 - len(expected))
    for first in range(0, 128, 32):
        expected += [0, *accumulate(values[first : first + 31])]
    heads = [sum(values[t : min(t + 5, 32)]) if t % 5 == 0 else 0 for t in range(32)]
    expected += heads + [0] * 96
    run.expect("out", out, expected)
    run.expect("real", real, [sum(values) * 0.5])


@case("lookback")
def look_back(run: Run) -> None:
    tiles = 37
    count = tiles * 512
    values = [run.random.randrange(1 << 20) for _ in range(count)]
    bytes_ = 1 << 16
    storage, out = run.zeros("B", bytes_), run.zeros("I", count)
    size = ("Q", bytes_)
    run.launch("prepare", storage, size, ("i", tiles), grid=1, block=128)
    there = run.buffer("I", values)
    run.launch("scan", storage, size, ("i", tiles), there, out, grid=tiles, block=128)
    run.expect("out", out, [v & 0xFFFFFFFF for v in accumulate(values)])
