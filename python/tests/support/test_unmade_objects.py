# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Members of objects whose ``__init__`` has not run, and of objects of another class.

This happens in a derived class that omits ``super().__init__()``. Every use must raise an
exception, and none may read missing state.
"""

import contextlib
import inspect
import warnings

import pytest

import cuprum
from cuprum import _cuprum

ARGUMENTS = [(), (1,), (1, 2), (1, 2, 3), (None,), (slice(0, 1),), ([],)]


def native_classes():
    """Return the classes that are bound from C++."""
    return sorted(
        (each for each in vars(_cuprum).values() if isinstance(each, type)),
        key=lambda each: each.__name__,
    )


def members(base):
    # These trust the number that they are given. NVIDIA's driver accepts any handle, and an adopted
    # descriptor is closed, whoever opened it.
    believers = {"from_handle", "_init", "_duplicate"}
    others = {"__class__", "__new__", "__init_subclass__", "__subclasshook__"}
    for name in dir(base):
        if name not in believers | others:
            yield name, inspect.getattr_static(base, name)


def use(call, stream):
    """Call something in many ways; each call may raise any exception."""
    for arguments in ARGUMENTS:
        with contextlib.suppress(Exception):
            call(*arguments)
        with contextlib.suppress(Exception):
            call(*arguments, stream=stream)


@pytest.fixture(autouse=True)
def without_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    cuprum.Device(0).set_current()  # the tests also call static members


@pytest.mark.parametrize("base", native_classes(), ids=lambda each: each.__name__)
def test_members_of_an_object_that_was_not_made_do_no_harm(stream, base):
    try:
        empty = base.__new__(base)
    except TypeError:
        pytest.skip("has no objects that are not made")
    for name, member in members(base):
        with contextlib.suppress(Exception):
            setattr(empty, name, [])
        with contextlib.suppress(Exception):
            value = getattr(empty, name)
            if callable(value) and not isinstance(member, staticmethod | classmethod):
                use(value, stream)
    for look in (repr, hash, memoryview, iter, len, bool, lambda each: each == each):
        with contextlib.suppress(Exception):
            look(empty)


@pytest.mark.parametrize("base", native_classes(), ids=lambda each: each.__name__)
def test_members_called_on_an_object_of_another_class_are_refused(stream, base):
    for name, member in members(base):
        if isinstance(member, property):
            with contextlib.suppress(Exception):
                member.fget(42)
            with contextlib.suppress(Exception):
                member.fset(42, [])
        elif callable(member) and not isinstance(member, staticmethod | classmethod | type):
            if name in {"__init__", "__exit__", "__enter__"}:
                continue
            use(lambda *rest, call=member, **named: call(42, *rest, **named), stream)


class Forgetful(cuprum.DeviceMemoryResource):
    """A class that does not call the constructor of its base."""

    def __init__(self):
        pass


@pytest.mark.parametrize(
    "use",
    [
        lambda resource, stream: resource.allocate(16, stream=stream),
        lambda resource, stream: resource.uuid,
        lambda resource, stream: resource.allocation_handle,
        lambda resource, stream: resource.peer_accessible_by,
        lambda resource, stream: resource.close(),
    ],
    ids=["allocate", "uuid", "allocation_handle", "peer_accessible_by", "close"],
)
def test_a_derived_class_that_forgot_to_call_init_is_told_so(stream, use):
    with pytest.raises(TypeError, match="Forgetful is not initialised: call its __init__"):
        use(Forgetful(), stream)


def test_a_method_of_one_resource_does_not_take_another(device):
    pinned = cuprum.LegacyPinnedMemoryResource()
    with pytest.raises(TypeError, match=r"SynchronousMemoryResource.* doesn't apply to a .*Legacy"):
        cuprum.SynchronousMemoryResource.allocate(pinned, 16)
    with pytest.raises(TypeError, match=r"Buffer.* doesn't apply to a 'int'"):
        cuprum.Buffer.__repr__(42)
