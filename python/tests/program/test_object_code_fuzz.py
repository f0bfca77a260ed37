# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Damaged code of every kind: it gives a clear error or a kernel, never a crash."""

import random

import pytest

import cuprum
from cuprum import Linker, ObjectCode, Program, ProgramOptions

SOURCE = """
__constant__ int scale;
__device__ float table[16];
template <typename T> __device__ T twice(T x) { return x + x; }
extern "C" __global__ void fuzzed(float* out, const float* in, int n) {
    __shared__ float tile[64];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x % 64] = i < n ? twice(in[i]) * scale : table[i % 16];
    __syncthreads();
    if (i < n) out[i] = tile[(threadIdx.x + 1) % 64];
}
"""
KINDS = ("ptx", "cubin", "fatbin", "ltoir")
ROUNDS = 24  # a few of each kind; make fuzz runs longer


def sound_code(kind):
    target = {"fatbin": "cubin"}.get(kind, kind)
    return Program(SOURCE, "c++", ProgramOptions(std="c++17")).compile(target).code


def damaged(code, generator, is_cut_alone=False):
    """Return code with one kind of damage."""
    code = bytearray(code)
    match 0 if is_cut_alone else generator.randrange(5):
        case 0:  # cut off
            del code[generator.randrange(len(code)) :]
        case 1:  # some bytes changed
            for _ in range(generator.choice((1, 4, 32))):
                code[generator.randrange(len(code))] = generator.randrange(256)
        case 2:  # a piece removed
            start = generator.randrange(len(code))
            del code[start : start + generator.randrange(1, 64)]
        case 3:  # a piece duplicated
            start = generator.randrange(len(code))
            code[start:start] = code[start : start + generator.randrange(1, 64)]
        case 4:  # the sizes at the start changed
            for _ in range(4):
                code[generator.randrange(min(64, len(code)))] = generator.choice((0, 0x7F, 0xFF))
    return bytes(code)


def load(kind, code):
    """Load code like a user; return the error, or None if the code was valid."""
    try:
        if kind == "ltoir":
            Linker(ObjectCode.from_ltoir(code)).link("ptx")
        else:
            getattr(ObjectCode, f"from_{kind}")(code).get_kernel("fuzzed")
    except (cuprum.CUDAError, ValueError, cuprum.LinkerError) as error:
        return error
    return None


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_code_is_an_error_that_says_so(kind, device):
    generator = random.Random(f"cuprum {kind}")
    sound = sound_code(kind)
    assert load(kind, sound) is None
    refused = 0
    # Only cut the code for a GPU's driver. Its behaviour with other damage is not ours to test.
    is_cut_alone = kind in ("cubin", "fatbin") and not device.is_emulated
    for _ in range(ROUNDS):
        error = load(kind, damaged(sound, generator, is_cut_alone))
        if error is not None:
            refused += 1
            assert str(error)
    assert refused > 0
    assert load(kind, sound) is None, "damaged code leaves nothing behind"


@pytest.mark.parametrize("kind", ["ptx", "cubin", "fatbin"])
def test_random_bytes_are_refused(kind, device):
    generator = random.Random(5)
    for size in (1, 3, 16, 64, 1000):
        error = load(kind, generator.randbytes(size))
        assert error is not None
        assert str(error)
