# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""New objects reuse destroyed ones, and the collector tracks only those that need it."""

import gc
import weakref

import numpy as np
import pytest

import cuprum
from cuprum.utils import StridedMemoryView

MORE_THAN_ARE_KEPT = 300


def view_of(array):
    return StridedMemoryView.from_any_interface(array, stream_ptr=-1)


@pytest.fixture(params=["event", "stream", "buffer", "view", "kernel"])
def make(request, device, stream, module):
    """A function that makes an object of a class whose objects are recycled."""
    return {
        "event": device.create_event,
        "stream": device.create_stream,
        "buffer": lambda: device.allocate(64, stream=stream),
        "view": lambda: view_of(np.zeros(4)),
        "kernel": lambda: module.get_kernel("empty"),
    }[request.param]


def test_a_weak_reference_ends_with_its_object(make):
    made = make()
    ended = []
    reference = weakref.ref(made, ended.append)
    del made
    again = make()
    assert reference() is None
    assert ended == [reference]
    assert weakref.ref(again)() is again
    assert weakref.getweakrefcount(again) == 0


def test_many_at_once_are_all_different(make):
    for _ in range(2):
        many = [make() for _ in range(MORE_THAN_ARE_KEPT)]
        assert len({id(each) for each in many}) == len(many)
        del many


def test_dropping_one_while_another_is_dropped(make):
    # The callback runs while the object is being destroyed.
    made = make()
    inner = []
    reference = weakref.ref(made, lambda _: inner.extend((make(), make())))
    del made
    assert reference() is None
    assert len({id(each) for each in [*inner, make()]}) == 3


def test_what_cannot_be_in_a_cycle_is_unknown_to_the_collector(device, stream):
    with device.allocate(64, stream=stream) as buffer:
        for each in (buffer, device.create_event(), device.create_stream(), view_of(np.zeros(4))):
            assert not gc.is_tracked(each)


class Derived(np.ndarray):
    """An array that can have attributes."""


class DerivedView(StridedMemoryView):
    """A view that can have attributes."""


def test_a_view_in_a_cycle_is_collected():
    array = np.zeros(4).view(Derived)
    array.view_of_it = view_of(array)
    assert gc.is_tracked(array.view_of_it)
    reference = weakref.ref(array.view_of_it)
    del array
    gc.collect()
    assert reference() is None


def test_a_derived_view_in_a_cycle_is_collected():
    made = DerivedView.from_any_interface(np.zeros(4), stream_ptr=-1)
    assert type(made) is DerivedView
    made.itself = made
    reference = weakref.ref(made)
    del made
    gc.collect()
    assert reference() is None
    assert type(view_of(np.zeros(4))) is StridedMemoryView


class Owner:
    """An owner of memory that keeps the buffer over it."""


def test_a_buffer_that_its_owner_keeps_is_collected(device, stream):
    with device.allocate(64, stream=stream) as memory:
        owner = Owner()
        owner.buffer = cuprum.Buffer.from_handle(memory.handle, 64, owner=owner)
        reference = weakref.ref(owner)
        del owner
        gc.collect()
        assert reference() is None


# ---- chains ------------------------------------------------------------------------------------

DEEPER_THAN_THE_STACK = 200_000  # and than Python's limit for nested calls


@pytest.mark.parametrize("cls", [cuprum.Buffer, cuprum.ManagedBuffer])
def test_a_long_chain_of_owners_is_dropped(cls):
    last = None
    for _ in range(DEEPER_THAN_THE_STACK):
        last = cls.from_handle(4096, 16, owner=last)
    reference = weakref.ref(last)
    del last
    assert reference() is None
    assert cls.from_handle(4096, 16).size == 16


def test_a_long_chain_of_views_is_dropped():
    view = view_of(np.zeros(4))
    for _ in range(DEEPER_THAN_THE_STACK):
        view = view_of(view)
    reference = weakref.ref(view)
    del view
    assert reference() is None
    assert view_of(np.zeros(4)).shape == (4,)
