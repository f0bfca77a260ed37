# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""cuprum.triton looks for the drivers that the process has loaded. Needs no Triton."""

import mmap
import os

import pytest

import cuprum.triton


@pytest.fixture
def loaded(tmp_path):
    """Map a file that has the name of a driver, and bytes that are not text."""
    file = os.fsencode(tmp_path) + b"/libcuda.so.99\xff"
    with open(file, "wb") as writer:
        writer.write(bytes(mmap.PAGESIZE))
    with open(file, "rb") as reader, mmap.mmap(reader.fileno(), 0, prot=mmap.PROT_READ):
        yield os.fsdecode(file)


def test_the_driver_of_a_gpu_that_is_loaded_is_refused(loaded, tmp_path):
    own = tmp_path / "emulator/libcuda.so.1"
    (own.parent / "compilers").mkdir(parents=True)
    (own.parent / "compilers/ptxas").touch()
    own.touch()
    with pytest.raises(RuntimeError, match="is loaded, and Triton would use it"):
        cuprum.triton._name_compilers(own)
    assert loaded in map(str, cuprum.triton._loaded_drivers())
