# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

import copy
import pickle
import weakref

import pytest

from cuprum import Host

PLACES = [Host(), Host(2), Host.numa_current()]


def test_what_it_names():
    assert Host().numa_id is None
    assert not Host().is_numa_current
    assert Host(3).numa_id == 3
    assert Host(numa_id=0).numa_id == 0
    assert Host.numa_current().is_numa_current
    assert Host.numa_current().numa_id is None


def test_there_is_one_object_per_place():
    assert Host(1) is Host(numa_id=1)
    assert Host(is_numa_current=True) is Host.numa_current()
    assert len({Host(), Host(0), Host(1), Host.numa_current()}) == 4
    assert Host(1) != Host(0)
    assert Host(1) != 1


@pytest.mark.parametrize("place", PLACES, ids=repr)
def test_copies_and_pickles_are_the_same_object(place):
    assert pickle.loads(pickle.dumps(place)) is place
    assert copy.copy(place) is place
    assert copy.deepcopy(place) is place
    assert weakref.ref(place)() is place
    assert eval(repr(place)) is place


@pytest.mark.parametrize("numa_id", [-1, True, False, 1.0, "1"])
def test_what_is_no_node_is_refused(numa_id):
    with pytest.raises(ValueError, match="numa_id must be a non-negative int, got"):
        Host(numa_id)


def test_a_node_and_the_current_one_exclude_each_other():
    with pytest.raises(ValueError, match="mutually exclusive"):
        Host(0, is_numa_current=True)


def test_it_cannot_be_changed():
    with pytest.raises(AttributeError):
        Host().numa_id = 3
    with pytest.raises(AttributeError):
        Host().other = 3
