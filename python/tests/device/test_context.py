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
    with pytest.raises(RuntimeError, match="while it is current on this thread"):
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


def test_sync_waits_for_all_work_of_the_context(device, stream):
    ran = []
    stream.launch_host(lambda: ran.append(True))
    device.context.sync()
    assert ran == [True]


def test_a_context_is_current_for_a_block(device, current_context):
    before = current_context()
    context = cuprum.Context.create(device, wait="blocking")
    with context.as_current() as inside:
        assert inside is context
        assert current_context() == context.handle
        assert cuprum.Context.current() is context
        assert device.context is context
        with device.as_current():
            assert cuprum.Context.current().is_primary
        assert current_context() == context.handle
    assert current_context() == before
    guard = context.as_current()
    with guard, pytest.raises(RuntimeError, match="entered already"):
        guard.__enter__()
    assert current_context() == before
    context.close()


def test_push_and_pop(device, current_context):
    before = current_context()
    context = cuprum.Context.create(device)
    context.push()
    assert current_context() == context.handle
    assert cuprum.Context.pop() is context
    assert current_context() == before
    context.close()


def test_a_made_context_lives_as_long_as_its_streams(device, live_objects):
    context = cuprum.Context.create(device)
    assert not context.is_primary
    assert not context.is_green
    assert context.id != device.context.id
    stream = context.create_stream()
    assert stream.context is context
    context.close()
    assert stream.context.device is device
    stream.sync()
    stream.close()


def test_flags(device):
    context = cuprum.Context.create(device, wait="yield")
    assert context.flags.wait == "yield"
    context.set_flags(wait=cuprum.typing.HostWaitType.BLOCKING)
    assert context.flags.wait is cuprum.typing.HostWaitType.BLOCKING
    with pytest.raises(TypeError, match="no flag 'waiting'"):
        context.set_flags(waiting="spin")
    with pytest.raises(ValueError, match="wait is 'no', expected one of 'auto', 'spin'"):
        context.set_flags(wait="no")
    context.close()


def test_limits(device):
    context = cuprum.Context.create(device)
    context.set_limit("stack_size", 2048)
    assert context.get_limit(cuprum.typing.LimitType.STACK_SIZE) >= 2048
    with pytest.raises(ValueError, match="limit is 'size', expected one of 'stack_size'"):
        context.get_limit("size")
    with pytest.raises(ValueError, match="value must be at least 0"):
        context.set_limit("stack_size", -1)
    assert device.get_limit("malloc_heap_size") > 0
    context.cache_config = "prefer_l1"
    assert context.cache_config in list(cuprum.typing.CacheConfigType)
    context.close()


def test_events_of_a_whole_context(device, stream):
    held = device.create_stream()
    event = device.create_event()
    gate = threading.Event()
    order = []
    held.launch_host(lambda: order.append(gate.wait(10)))
    device.context.record(event)  # of all streams
    assert not event.is_done
    device.context.wait(event)  # on all streams
    stream.launch_host(lambda: order.append("behind"))
    assert not stream.is_done
    gate.set()
    stream.sync()
    assert event.is_done
    assert order == [True, "behind"]
    held.close()
    event.close()
