# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

import threading
import weakref

import pytest

import cuprum


def test_context_of_a_device(device, current_context):
    context = device.context
    assert context.handle == current_context()
    assert context.device is device
    assert context.is_primary
    assert not context.is_green
    assert f"handle={context.handle:#x} device=0" in repr(context)


def test_equality_and_hash_follow_the_handle(device, stream):
    assert device.context == stream.context
    assert hash(device.context) == hash(stream.context)
    assert device.context != 3
    assert weakref.ref(context := device.context)() is context


def test_contexts_are_not_made_directly():
    with pytest.raises(RuntimeError, match=r"Device\.context"):
        cuprum.Context()


def test_closing_the_current_context_is_refused(device):
    with pytest.raises(RuntimeError, match="current on this thread"):
        device.context.close()


def test_closing_elsewhere_gives_up_this_share_only(device):
    context = device.context

    def work():
        context.close()
        context.close()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert context.handle is None
    assert repr(context) == "<Context closed>"
    with pytest.raises(cuprum.ClosedError, match="Context"):
        context.sync()
    device.sync()


def test_streams_can_be_made_in_a_context(device):
    stream = device.context.create_stream({"nonblocking": True})
    assert stream.context == device.context
    stream.close()


def test_sync(device):
    device.context.sync()
