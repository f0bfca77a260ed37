# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Compiled functions have signatures for ``inspect``, ``help`` and editors."""

import inspect
import pydoc
import subprocess
import sys

import pytest

import cuprum
from cuprum import _cuprum

CLASSES = [each for each in vars(_cuprum).values() if inspect.isclass(each)]


def methods_of(cls):
    return {
        name: each
        for name in dir(cls)
        if not name.startswith("_") and callable(each := getattr(cls, name))
    }


@pytest.mark.filterwarnings("ignore:max_links is deprecated")
@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_method_has_a_signature(cls):
    for name, method in methods_of(cls).items():
        assert inspect.signature(method) is not None, name


def test_a_signature_says_names_kinds_defaults_and_types():
    signature = inspect.signature(cuprum.Program.compile)
    names = ["self", "target_type", "name_expressions", "logs", "cache", "extra_digest"]
    assert list(signature.parameters) == names
    assert signature.parameters["name_expressions"].default == ()
    assert signature.parameters["logs"].default is None
    assert signature.parameters["target_type"].default is inspect.Parameter.empty
    assert signature.parameters["cache"].kind is inspect.Parameter.KEYWORD_ONLY
    assert signature.return_annotation == "ObjectCode"


def test_a_bound_method_takes_no_self(device):
    assert list(inspect.signature(device.sync).parameters) == []
    assert list(inspect.signature(cuprum.Device.sync).parameters) == ["self"]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="inspect of Python 3.10 cannot ask classes")
def test_classes_have_the_signatures_of_their_constructors():
    assert list(inspect.signature(cuprum.Program).parameters)[:2] == ["code", "code_type"]
    assert list(inspect.signature(cuprum.Device).parameters) == ["device_id"]
    assert list(inspect.signature(cuprum.GraphMemoryResource).parameters) == ["device_id"]
    assert "kwargs" in inspect.signature(cuprum.ManagedBuffer).parameters


def test_help_shows_the_parameters():
    text = pydoc.plain(pydoc.render_doc(cuprum.Linker))
    assert "link(self, target_type" in text


def test_nothing_is_imported_for_it_before_it_is_asked():
    program = "import cuprum, sys; cuprum.Device; print('cuprum._inspection' in sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout == "False\n"
