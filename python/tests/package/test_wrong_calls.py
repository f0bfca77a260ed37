# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""What wrong calls say: one sentence with the argument, what was passed and the way out."""

from pathlib import Path

import numpy as np
import pytest

import cuprum

# Each call and what its sentence must name.
MISSING_OR_MISSPELT = {
    "copy_from_host without a stream": (
        lambda at: at.buffer.copy_from_host(np.zeros(4)),
        "stream",
    ),
    "Program without a language": (lambda at: cuprum.Program(""), "code_type"),
    "compile without a target": (
        lambda at: cuprum.Program("", "c++").compile(),
        "target_type",
    ),
    "a memory resource without a device": (
        lambda at: cuprum.SynchronousMemoryResource(),
        "device",
    ),
    "blocks for block": (lambda at: cuprum.LaunchConfig(grid=1, blocks=1), "did you mean 'block'"),
    "timing for timing_enabled": (
        lambda at: cuprum.EventOptions(timing=True),
        "did you mean 'timing_enabled'",
    ),
    "fast_math for use_fast_math": (
        lambda at: cuprum.ProgramOptions(fast_math=True),
        "did you mean 'use_fast_math'",
    ),
    "grid and block by position": (lambda at: cuprum.LaunchConfig(4, 256), "block=256"),
    "options for a stream": (lambda at: at.device.create_stream({"priority": 0}), "options="),
}


class Objects:
    """The objects of these calls."""

    def __init__(self, device):
        self.device = device
        self.stream = device.create_stream()
        self.buffer = device.allocate(32, stream=self.stream)


@pytest.fixture
def objects(device):
    """Make the objects, and release them though a report keeps the error and its frames."""
    made = Objects(device)
    yield made
    made.buffer.close()
    made.stream.close()


@pytest.mark.xfail(strict=True, reason="bindings do not know the names of arguments yet")
@pytest.mark.parametrize("name", MISSING_OR_MISSPELT)
def test_a_missing_or_misspelt_argument_is_named(objects, name):
    call, named = MISSING_OR_MISSPELT[name]
    with pytest.raises((TypeError, ValueError)) as raised:
        call(objects)
    text = str(raised.value)
    assert "incompatible function arguments" not in text
    assert named in text


@pytest.mark.xfail(strict=True, reason="the stubs accept every str")
def test_type_checkers_know_the_words_of_languages_and_formats():
    stub = Path(cuprum.__file__).with_name("_cuprum.pyi").read_text()
    assert "code_type: cuprum.typing.SourceCodeType" in stub
    assert "code_type: cuprum.typing.SourceCodeType | str," not in stub
    assert "target_type: cuprum.typing.ObjectCodeFormatType | str" not in stub


@pytest.fixture
def code(device):
    source = 'extern "C" __global__ void twice(float* x) { *x *= 2; }'
    made = cuprum.Program(source, "c++").compile("cubin")
    yield made
    made.close()


def text_of(call):
    """Return what a call that fails says, without its frames."""
    try:
        call()
    except (TypeError, ValueError, cuprum.CUDAError) as error:
        return f"{type(error).__mro__} {error}"
    return ""


def launch_with_a_float(device, code):
    stream, kernel = device.create_stream(), code.get_kernel("twice")
    try:
        cuprum.launch(stream, cuprum.LaunchConfig(grid=1, block=1), kernel, 1.5)
    finally:
        kernel.close()
        stream.close()


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="the texts lack the way out")
@pytest.mark.parametrize(
    ("call", "named"),
    [
        (
            lambda device, code: cuprum.ObjectCode.from_cubin("/no/k").get_kernel("k"),
            "FileNotFound",
        ),
        (lambda device, code: code.get_kernel("twise"), "did you mean"),
        (launch_with_a_float, "Buffer"),
    ],
    ids=["absent file", "misspelt kernel", "float for a pointer"],
)
def test_a_mistake_with_kernels_is_told_the_way_out(device, code, call, named):
    assert named in text_of(lambda: call(device, code))
