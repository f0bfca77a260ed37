# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Run one of Triton's tutorials on Cuprum's device, and check its results.

Usage: ``triton_tutorial.py TUTORIAL.py``. Prints "right" at the end. Tensors are in host memory,
because Cuprum has no device for PyTorch. Benchmarks are left out.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from pathlib import Path

import torch
import triton
import triton.testing

import cuprum.triton

#: Text to replace in a tutorial. Tensors in host memory have a device without a number. PyTorch
#: sums halves on the host with errors that are larger than the tutorial allows, so the layer norm
#: is compared in single precision.
CHANGES = {
    "01-vector-add": [
        ("assert x.device == DEVICE and y.device == DEVICE and output.device == DEVICE", "")
    ],
    "05-layer-norm": [
        ("test_layer_norm(1151, 8192, torch.float16)", "test_layer_norm(1151, 8192, torch.float32)")
    ],
}


def check_vector_add(names: dict) -> bool:
    """Compare with the sum of PyTorch."""
    return torch.equal(names["output_torch"], names["output_triton"])


def check_softmax(names: dict) -> bool:
    """Compare with the softmax of PyTorch."""
    return torch.allclose(names["y_triton"], names["y_torch"])


def check_product(names: dict) -> bool:
    """Compare with PyTorch's product of 8-bit floats; the tutorial itself prints a cross."""
    return torch.allclose(names["triton_output"], names["torch_output"], atol=0.125, rtol=0)


def check_dropout(names: dict) -> bool:
    """Check what was kept, and that a seed decides it."""
    x, first, second = names["x"], names["output"], names["output2"]
    third, scale = names["output3"], 1 / (1 - 0.5)
    kept = first != 0
    return (
        torch.equal(first, second)
        and not torch.equal(first, third)
        and torch.allclose(first[kept], x[kept] * scale)
    )


CHECKS: dict[str, Callable[[dict], bool]] = {
    "01-vector-add": check_vector_add,
    "02-fused-softmax": check_softmax,
    "03-matrix-multiplication": check_product,
    "04-low-memory-dropout": check_dropout,
    "05-layer-norm": lambda _: True,  # it asserts all of its results
}


def main() -> None:
    """Run the tutorial that the command line names."""
    cuprum.triton.activate()
    leave_out = types.SimpleNamespace(run=lambda *_, **__: None)
    triton.testing.perf_report = lambda *_, **__: lambda _: leave_out
    torch.manual_seed(0)
    file = Path(sys.argv[1])
    source = file.read_text()
    for before, after in CHANGES.get(file.stem, []):
        if before not in source:
            sys.exit(f"{file} does not contain {before!r}")
        source = source.replace(before, after)
    names: dict = {"__name__": "__main__", "__file__": str(file)}
    exec(compile(source, file, "exec"), names)
    print("right" if CHECKS[file.stem](names) else "WRONG")


main()
