# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Compile once, and read the result from a file in later runs."""

import tempfile
import time

import cuprum
from cuprum.utils import FileStreamProgramCache

SOURCE = r"""
#include <cuda/std/array>
template <typename T> __global__ void fill(cuda::std::array<T, 4>* x, T value) { x->fill(value); }
"""

with tempfile.TemporaryDirectory() as folder:
    # The default folder is ~/.cache/cuprum/program-cache.
    cache = FileStreamProgramCache(folder, max_size_bytes=64 << 20)
    program = cuprum.Program(SOURCE, "c++", cuprum.ProgramOptions(std="c++17"))
    codes = []
    for attempt in ("compiled", "from the cache"):
        start = time.perf_counter()
        codes.append(program.compile("cubin", ("fill<float>",), cache=cache))
        print(f"{attempt}: {(time.perf_counter() - start) * 1e3:.3f} ms")
    assert codes[0].code == codes[1].code
    assert codes[1].get_kernel("fill<float>").num_arguments == 2
    print(f"{len(cache)} entry, {cache.size_bytes} bytes in {cache.path}")
