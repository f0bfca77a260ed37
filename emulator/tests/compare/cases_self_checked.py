# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Kernels that check their own results; nothing is recorded."""

from __future__ import annotations

from case import Buffer, CaseError, Run, case

BODY_BYTES = 32


def expect_all_right(run: Run, kernel: str, *arguments: Buffer, **shape: int) -> None:
    """Run a kernel and raise CaseError with the first line whose check failed."""
    findings = run.zeros("I", 4)
    run.launch(kernel, findings, *arguments, **shape)
    checked, wrong, line, thread = findings.read()
    if wrong != 0:
        raise CaseError(
            f"{wrong} of {checked} values are wrong, the first in line {line}, thread {thread}"
        )
    if checked == 0:
        raise CaseError("nothing was checked")


@case("self_checked")
def whole_vectors(run: Run) -> None:
    blocks, threads = 4, 128
    bodies = run.zeros("B", blocks * threads * BODY_BYTES)
    expect_all_right(run, "whole_vectors", bodies, grid=blocks, block=threads)


# Before sm_80, the barriers are in the program's memory, and a check reports them as a race.
@case("self_checked", oldest=80)
def tiles_of_warps(run: Run) -> None:
    expect_all_right(run, "tiles_of_warps", grid=2, block=512)


@case("self_checked")
def labelled(run: Run) -> None:
    expect_all_right(run, "labelled", grid=2, block=96)


@case("self_checked")
def references(run: Run) -> None:
    expect_all_right(run, "references", run.zeros("B", 32), grid=5, block=96)
