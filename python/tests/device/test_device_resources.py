# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Green contexts and the device resources that they use."""

import numpy as np
import pytest

import cuprum


@pytest.fixture
def sm(device):
    try:
        return device.resources.sm
    except cuprum.CUDAError as error:
        pytest.skip(str(error))


@pytest.fixture
def green(device, sm):
    groups, _ = sm.split({"count": sm.min_partition_size})
    context = device.create_context(cuprum.ContextOptions(resources=groups))
    yield context
    context.close()


@pytest.mark.parametrize("name", ["DeviceResources", "SMResource", "WorkqueueResource"])
def test_resources_are_not_made_directly(name):
    with pytest.raises(RuntimeError, match=f"{name} objects cannot be instantiated directly"):
        getattr(cuprum, name)()


def test_multiprocessors_of_a_device(device, sm):
    assert sm.sm_count == device.properties.multiprocessor_count
    assert 0 < sm.min_partition_size <= sm.sm_count
    assert sm.coscheduled_alignment > 0
    assert sm.handle != 0
    assert sm.flags >= 0
    assert sm.device is device
    assert repr(sm) == f"<SMResource sm_count={sm.sm_count} device=0>"
    assert device.context.resources.sm.sm_count == sm.sm_count


def test_split_into_a_group_and_the_rest(sm):
    count = sm.min_partition_size
    groups, rest = sm.split(cuprum.SMResourceOptions(count=count))
    assert len(groups) == 1
    assert groups[0].sm_count >= count
    assert groups[0].sm_count + rest.sm_count <= sm.sm_count
    tried, _ = sm.split({"count": count}, dry_run=True)
    assert tried[0].sm_count == groups[0].sm_count
    assert not tried[0].is_usable
    assert "dry_run=True" in repr(tried[0])


def test_the_driver_may_choose_the_size(sm):
    groups, _ = sm.split(cuprum.SMResourceOptions())
    assert groups[0].sm_count >= sm.min_partition_size


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"count": []}, ValueError, "count sequence must not be empty"),
        ({"count": -1}, ValueError, "count must be non-negative, got -1"),
        ({"count": 2.5}, TypeError, "count must be int, Sequence, or None, got float"),
        ({"count": "8"}, TypeError, "count must be int, Sequence, or None, got str"),
        (
            {"count": 8, "backfill": [True]},
            ValueError,
            "backfill is a sequence but count is scalar",
        ),
        (
            {"count": [8, 8], "coscheduled_sm_count": [8]},
            ValueError,
            "coscheduled_sm_count has 1 values, expected 2",
        ),
    ],
)
def test_wrong_groups_are_refused(sm, options, error, text):
    with pytest.raises(error, match=text):
        sm.split(options)


def test_a_green_context_has_its_part(device, sm, green, current_context):
    before = current_context()
    assert green.is_green
    assert not green.is_primary
    assert green.device is device
    assert green.resources.sm.sm_count < sm.sm_count or sm.sm_count == sm.min_partition_size
    stream = green.create_stream()
    assert stream.context is green
    assert stream.resources.sm.sm_count == green.resources.sm.sm_count
    event = stream.record()
    assert event.context is green
    green.record(event)
    green.wait(event)
    stream.sync()
    assert event.is_done
    assert current_context() == before
    event.close()
    stream.close()


def test_kernels_run_in_a_green_context(device, green, module):
    stream = green.create_stream()
    data = np.arange(64, dtype=np.int32)
    with device.allocate(data.nbytes, stream=stream) as buffer:
        buffer.copy_from_host(data, stream=stream)
        cuprum.launch(
            stream, cuprum.LaunchConfig(grid=2, block=32), module.get_kernel("add_one"), buffer
        )
        buffer.copy_to_host(data, stream=stream)
        stream.sync()
    assert (data == np.arange(1, 65)).all()
    stream.close()


def test_a_green_context_can_be_current(device, green):
    before = device.set_current(green)
    assert cuprum.Context.current() is green
    with pytest.raises(RuntimeError, match="while it is current"):
        green.close()
    assert device.set_current(before) is green


def test_streams_of_a_green_context_must_not_block(green):
    with pytest.raises(ValueError, match="must be non-blocking"):
        green.create_stream({"nonblocking": False})


def test_a_closed_green_context_has_nothing(device, sm):
    context = device.create_context({"resources": [sm]})
    context.close()
    assert context.handle is None
    assert not context.is_green
    with pytest.raises(RuntimeError, match="Cannot query resources of a closed Context"):
        _ = context.resources
    with pytest.raises(cuprum.ClosedError):
        context.create_stream()


def test_wrong_resources_are_refused(device, sm):
    for options in (None, {"resources": None}):
        with pytest.raises(ValueError, match="resources must be provided"):
            device.create_context(options)
    with pytest.raises(ValueError, match="resources must not be empty"):
        device.create_context({"resources": []})
    with pytest.raises(TypeError, match="got int"):
        device.create_context({"resources": [3]})
    with pytest.raises(TypeError, match="ContextOptions"):
        device.create_context(3)
    tried, _ = sm.split({}, dry_run=True)
    with pytest.raises(ValueError, match="dry-run SMResource"):
        device.create_context({"resources": tried})


def test_options_of_work_queues_are_checked_when_made():
    with pytest.raises(ValueError, match="'x' is not a valid WorkqueueSharingScopeType"):
        cuprum.WorkqueueResourceOptions(sharing_scope="x")
    with pytest.raises(ValueError, match="concurrency_limit must be >= 1, got 0"):
        cuprum.WorkqueueResourceOptions(concurrency_limit=0)


def test_work_queues(device):
    if cuprum.driver_version() < 13010:
        with pytest.raises(cuprum.NotSupportedError, match=r"WorkqueueResource.*needs CUDA 13\.1"):
            _ = device.resources.workqueue
        return
    queues = device.resources.workqueue
    assert queues.concurrency_limit >= 1
    assert queues.device is device
    for scope in cuprum.typing.WorkqueueSharingScopeType:
        queues.configure({"sharing_scope": scope, "concurrency_limit": 3})
        assert queues.sharing_scope is scope
    assert queues.concurrency_limit == 3
    queues.configure(cuprum.WorkqueueResourceOptions())
    assert queues.concurrency_limit == 3
