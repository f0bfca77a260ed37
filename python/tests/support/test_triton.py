# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Triton kernels on Cuprum's devices. Runs only if Triton is installed."""

import os
import re
import subprocess
import sys
import textwrap

import numpy as np
import pytest

triton = pytest.importorskip("triton")
tl = pytest.importorskip("triton.language")

import cuprum.triton  # noqa: E402
from cuprum.triton import Tensor  # noqa: E402


@pytest.fixture(autouse=True)
def _leaves_nothing():
    """Triton keeps the code that it loaded, so live objects are not counted."""


@pytest.fixture(scope="module", autouse=True)
def _active():
    try:
        cuprum.triton.activate()
    except RuntimeError as error:
        if "is loaded" not in str(error):
            raise
        pytest.skip(str(error))


@triton.jit
def _add(x, y, out, n, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def _sum_rows(x, out, n, block: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, block)
    total = tl.sum(tl.load(x + row * n + i, mask=i < n, other=0), 0)
    tl.atomic_add(out, total)


@triton.jit
def _multiply(a, b, c, n, block: tl.constexpr):
    i = tl.arange(0, block)
    rows, columns = tl.program_id(0) * block + i, tl.program_id(1) * block + i
    total = tl.zeros((block, block), dtype=tl.float32)
    for k in range(0, n, block):
        left = tl.load(a + rows[:, None] * n + (k + i)[None, :])
        right = tl.load(b + (k + i)[:, None] * n + columns[None, :])
        total = tl.dot(left, right, total)
    tl.store(c + rows[:, None] * n + columns[None, :], total)


def test_a_masked_kernel_writes_its_elements_only():
    a, b = np.random.default_rng(0).random((2, 1000), dtype=np.float32)
    out = Tensor(np.full(1024, -1, np.float32))
    _add[(4,)](Tensor(a), Tensor(b), out, 1000, block=256)
    assert np.array_equal(out.numpy()[:1000], a + b)
    assert np.array_equal(out.numpy()[1000:], np.full(24, -1, np.float32))


def test_reductions_and_atomics():
    values = np.arange(8 * 100, dtype=np.int32).reshape(8, 100)
    out = Tensor(np.zeros(1, np.int32))
    _sum_rows[(8,)](Tensor(values), out, 100, block=128)
    assert out.numpy()[0] == values.sum()


def test_a_product_of_matrices():
    a, b = np.random.default_rng(1).integers(-4, 5, (2, 64, 64)).astype(np.float16)
    out = Tensor(np.zeros((64, 64), np.float32))
    _multiply[(2, 2)](Tensor(a), Tensor(b), out, 64, block=32)
    assert np.array_equal(out.numpy(), a.astype(np.float32) @ b.astype(np.float32))


def test_autotuning_chooses_a_configuration():
    configs = [triton.Config({"block": size}) for size in (128, 256)]
    tuned = triton.autotune(configs=configs, key=["n"])(_add)
    a, b = np.random.default_rng(2).random((2, 512), dtype=np.float32)
    out = Tensor(np.zeros(512, np.float32))
    tuned[lambda meta: (512 // meta["block"],)](Tensor(a), Tensor(b), out, 512)
    assert np.array_equal(out.numpy(), a + b)
    assert tuned.best_config in configs


def test_tensors_of_pytorch_in_host_memory():
    torch = pytest.importorskip("torch")
    x, y = torch.rand(2, 1000)  # two views of one storage
    out = torch.zeros(1001)[1:]  # which is not aligned
    _add[(4,)](x, y, out, 1000, block=256)
    assert torch.equal(out, x + y)


def test_a_tensor_says_what_it_is():
    tensor = Tensor(np.zeros((2, 3), np.float16))
    assert repr(tensor) == "Tensor(shape=(2, 3), dtype=fp16)"
    assert tensor.stride() == (3, 1)
    assert tensor.stride(0) == 3
    assert tensor.element_size() == 2
    with pytest.raises(TypeError, match="elements of type complex64, which Triton does not have"):
        Tensor(np.zeros(2, np.complex64))


# What a kernel does wrong, with which check, and what the report says. The line of the mistake ends
# with "# here".
MISTAKES = {
    "beyond": (
        "memory",
        "tl.store(x + i, tl.load(x + i, mask=i < n) * 2)  # here",
        r"write of \d+ bytes at 0x[0-9a-f]+ is outside every live allocation",
    ),
    "race": (
        "races",
        "tl.store(x, tl.program_id(0).to(tl.float32))  # here",
        r"race: write of 4 bytes .* nothing orders it after the write by thread .* of block",
    ),
    "unwritten": (
        "initialized",
        "tl.store(x + i, tl.load(y + i) + 1, mask=i < n)  # here",
        r"uninitialised read: read of \d+ bytes",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_checks_report_the_line_of_the_kernel(mistake, tmp_path):
    if not cuprum.Device().is_emulated:
        pytest.skip("only the emulated device checks kernels")
    check, line, report = MISTAKES[mistake]
    file = tmp_path / "program.py"
    file.write_text(
        textwrap.dedent(f"""
            import numpy as np
            import triton
            import triton.language as tl
            import cuprum.triton
            from cuprum.triton import Tensor

            cuprum.triton.activate()

            @triton.jit
            def kernel(x, y, n, block: tl.constexpr):
                i = tl.program_id(0) * block + tl.arange(0, block)
                {line}

            class Unwritten:
                dtype = "fp32"
                buffer = cuprum.Device().allocate(4096, stream=cuprum.Device().create_stream())
                def data_ptr(self): return int(self.buffer.handle)

            x = Tensor(np.zeros(1000, np.float32))
            kernel[(4,)](x, Unwritten(), 1000, block=256)
            x.numpy()
        """)
    )
    number = 1 + next(
        i for i, text in enumerate(file.read_text().splitlines()) if text.endswith("# here")
    )
    result = subprocess.run(
        [sys.executable, file],
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            "CUPRUM_EMULATOR_CHECK": check,
            "TRITON_CACHE_DIR": str(tmp_path / "cache"),  # code names the file it was compiled from
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        },
    )
    assert result.returncode != 0
    assert re.search(report, result.stderr), result.stderr
    assert "in kernel kernel, block (" in result.stderr
    assert f"from {file}:{number}" in result.stderr, result.stderr
