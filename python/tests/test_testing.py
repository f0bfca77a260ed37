# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

import warnings

import pytest

import cuprum
from cuprum.testing import fail_call


def test_the_nth_call_fails_and_only_inside_the_block(device):
    stream = device.create_stream()
    with fail_call("cuMemAllocFromPoolAsync", nth=2, code=2) as fault:
        device.allocate(64, stream=stream)
        assert fault.failed_call == ""
        with pytest.raises(cuprum.OutOfMemoryError):
            device.allocate(64, stream=stream)
    assert fault.call_count == 2
    assert fault.failed_call == "cuMemAllocFromPoolAsync"
    device.allocate(64, stream=stream)


def test_wrong_arguments_are_refused():
    with pytest.raises(ValueError, match="cuNoSuch"), fail_call("cuNoSuch"):
        pass
    with pytest.raises(ValueError, match="nth"), fail_call("*", nth=0):
        pass
    with pytest.raises(ValueError, match="success"), fail_call("*", code=0):
        pass


def test_every_failing_call_of_a_program_is_an_error_or_a_warning(device):
    def scenario():
        stream = device.create_stream()
        buffer = device.allocate(64, stream=stream)
        buffer.fill(b"1", stream=stream)
        event = stream.record()
        event.sync()
        buffer.close(stream)
        stream.sync()

    with fail_call("*", nth=10**6) as count:
        scenario()
    assert count.call_count > 5
    for nth in range(1, count.call_count + 1):
        with warnings.catch_warnings(record=True) as warned, fail_call("*", nth=nth) as fault:
            warnings.simplefilter("always")
            error = failure_of(scenario)
        told = str(error) if error else " ".join(str(warning.message) for warning in warned)
        # A query may be a shortcut: then the wait behind it decides.
        assert fault.failed_call in told or fault.failed_call.endswith("Query")
        scenario()


def failure_of(action):
    try:
        action()
    except cuprum.CUDAError as error:
        return error
    return None
