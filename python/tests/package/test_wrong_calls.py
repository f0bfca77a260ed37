# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""What wrong calls say: one sentence with the argument, what was passed and the way out."""

import ast
import dataclasses
import inspect
import re
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


@pytest.mark.parametrize("name", MISSING_OR_MISSPELT)
def test_a_missing_or_misspelt_argument_is_named(objects, name):
    call, named = MISSING_OR_MISSPELT[name]
    with pytest.raises((TypeError, ValueError)) as raised:
        call(objects)
    text = str(raised.value)
    assert "incompatible function arguments" not in text
    assert named in text


def public_classes():
    """Return the public classes: those that are bound, and options."""
    modules = (cuprum, cuprum.graph, cuprum.system, cuprum.texture, cuprum.utils)
    found = {getattr(module, name) for module in modules for name in module.__all__}
    return sorted((each for each in found if inspect.isclass(each)), key=lambda each: each.__name__)


METHOD = type(inspect.getattr_static(cuprum.Device, "sync"))
HOT_METHOD = type(inspect.getattr_static(cuprum.Stream, "sync"))


def is_method(member):
    return isinstance(member, (METHOD, HOT_METHOD))


def bound_callables():
    """Yield the owner and the name of each constructor, method and function."""
    for each in public_classes():
        if dataclasses.is_dataclass(each) or is_method(vars(each).get("__init__")):
            yield each, "__init__"
        for name, member in vars(each).items():
            is_other = isinstance(member, (staticmethod, classmethod))
            is_other = is_other and inspect.isbuiltin(getattr(each, name))
            if not name.startswith("_") and (is_method(member) or is_other):
                yield each, name
    for name in cuprum.__all__:
        if inspect.isbuiltin(getattr(cuprum, name)):
            yield cuprum, name


CALLABLES = {f"{owner.__name__}.{name}": (owner, name) for owner, name in bound_callables()}


def callable_of(name):
    """Return a callable, with an object that holds nothing if it needs one, and its signature."""
    owner, name = CALLABLES[name]
    if name == "__init__":
        return owner, inspect.signature(owner)
    call = getattr(owner, name)
    if inspect.isclass(owner) and is_method(inspect.getattr_static(owner, name)):
        call = getattr(owner.__new__(owner), name)
    return call, inspect.signature(call)


def named_parameters(signature):
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [each for each in signature.parameters.values() if each.kind in kinds]


def takes_any(signature):
    return any(each.kind is each.VAR_KEYWORD for each in signature.parameters.values())


def message_of(call, *arguments, **named):
    with pytest.raises(TypeError) as raised:
        call(*arguments, **named)
    return str(raised.value)


@pytest.mark.parametrize("name", CALLABLES)
def test_a_missing_argument_is_named_with_a_way_out(name):
    call, signature = callable_of(name)
    required = [each for each in named_parameters(signature) if each.default is each.empty]
    if not required or takes_any(signature):
        return
    text = message_of(call)
    assert f"'{required[0].name}'" in text
    assert re.search(r"; (call \w+\(|pass a stream)", text), text
    assert "\n" not in text


@pytest.mark.parametrize("name", CALLABLES)
def test_a_misspelt_argument_is_named_with_the_right_ones(name):
    call, signature = callable_of(name)
    parameters = named_parameters(signature)
    if takes_any(signature) or not parameters:
        return
    for parameter in parameters:
        wrong = parameter.name + "x"
        text = message_of(call, **{wrong: None})
        assert f"'{wrong}'" in text
        assert f"did you mean '{parameter.name}'" in text
        assert all(each.name in text for each in parameters)
        assert "\n" not in text


def test_type_checkers_know_the_words_of_languages_and_formats():
    folder = Path(cuprum.__file__).with_name("_cuprum")
    stub = (folder / "program.pyi").read_text()
    assert "code_type: SourceCodeType | SourceCodeTypeWord" in stub
    assert "target_type: ObjectCodeFormatType | ObjectCodeFormatTypeWord" in stub
    assert "| str" not in re.sub(r'"""[\s\S]*?"""', "", (folder / "words.pyi").read_text())


def test_the_words_of_the_stubs_are_those_of_the_enumerations():
    tree = ast.parse(Path(cuprum.__file__).with_name("_cuprum").joinpath("words.pyi").read_text())
    words = [each for each in tree.body if isinstance(each, ast.AnnAssign)]
    assert len(words) > 10
    for each in words:
        name = each.target.id.removesuffix("Word")
        enumeration = getattr(cuprum.typing, name, None) or getattr(cuprum.system.typing, name)
        listed = ast.literal_eval(each.value.slice)
        assert [str(member) for member in enumeration] == list(listed), name


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
