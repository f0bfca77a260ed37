# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

import pathlib
import pickle
import re
import warnings

import pytest

import cuprum
from cuprum import _errors


def test_the_family():
    for error in (
        cuprum.OutOfMemoryError,
        cuprum.NVRTCError,
        cuprum.LinkerError,
        cuprum.NotSupportedError,
    ):
        assert issubclass(error, cuprum.CUDAError)
    assert issubclass(cuprum.CUDAError, Exception)
    assert issubclass(cuprum.OutOfMemoryError, MemoryError)
    assert issubclass(cuprum.LibraryNotFoundError, RuntimeError)
    assert issubclass(cuprum.ClosedError, RuntimeError)


def test_a_failed_call_tells_code_name_call_and_explanation():
    with pytest.raises(cuprum.CUDAError) as caught:
        cuprum.ObjectCode.from_cubin(b"rubbish" * 100).get_kernel("k")
    error = caught.value
    assert error.code > 0
    assert error.name.startswith("CUDA_ERROR_")
    assert error.call.startswith("cu")
    assert error.explanation
    for part in (error.name, str(error.code), error.call):
        assert part in str(error)


def test_a_code_is_told_apart_by_its_domain():
    with pytest.raises(cuprum.NVRTCError) as caught:
        cuprum.Program("oops", "c++", {"arch": "sm_90"}).compile("ptx")
    assert (caught.value.domain, caught.value.code) == ("NVRTC", 6)
    assert isinstance(caught.value, cuprum.CUDAError)
    with pytest.raises(cuprum.CUDAError) as caught:
        cuprum.ObjectCode.from_cubin(b"rubbish" * 100).get_kernel("k")
    assert caught.value.domain == "driver"


def test_errors_can_be_pickled():
    with pytest.raises(cuprum.CUDAError) as caught:
        cuprum.ObjectCode.from_cubin(b"rubbish" * 100).get_kernel("k")
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert again.code == caught.value.code


OWN_ERRORS = [
    value
    for value in vars(_errors).values()
    if isinstance(value, type) and issubclass(value, Exception)
]


@pytest.mark.parametrize("error", OWN_ERRORS, ids=lambda error: error.__name__)
def test_every_error_has_a_public_name_and_can_be_pickled(error):
    assert getattr(cuprum, error.__name__) is error
    assert error.__name__ in cuprum.__all__
    assert error.__module__ == "cuprum"
    made = error("made here")
    made.code = 7
    again = pickle.loads(pickle.dumps(made))
    assert type(again) is error
    assert (str(again), again.code) == ("made here", 7)


def test_the_bindings_raise_no_error_without_a_public_name():
    bindings = pathlib.Path(__file__).resolve().parents[2] / "bindings"
    named = set()
    for source in bindings.rglob("*.?pp"):
        calls = r'(?:raise_as|raise_named|find|attr)\("(\w+Error)"'
        named |= set(re.findall(calls, source.read_text()))
    assert len(named) > 10
    assert named == {error.__name__ for error in OWN_ERRORS}


def test_every_error_is_documented():
    page = pathlib.Path(__file__).resolve().parents[3] / "docs/errors.md"
    text = page.read_text()
    for error in OWN_ERRORS:
        assert f"`cuprum.{error.__name__}`" in text, error


def test_the_errors_of_events_and_attributes_are_caught_by_name(device):
    first, second = (device.create_event() for _ in range(2))
    with pytest.raises(cuprum.ElapsedTimeError) as caught:
        _ = second - first
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_errors_can_be_made_by_programs():
    error = cuprum.CUDAError("made here")
    assert str(error) == "made here"
    assert error.code is None


def test_a_missing_driver_lists_where_it_was_looked_for(tmp_path):
    import os
    import subprocess
    import sys

    absent = str(tmp_path / "absent.so")
    code = (
        f"import sys; sys.path[:0] = {[*sys.path]!r}; import cuprum\n"
        "try: cuprum.Device(0)\n"
        "except cuprum.LibraryNotFoundError as e: print(e, e.library, e.tried)\n"
    )
    out = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "CUPRUM_DRIVER": absent},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert out.count(absent) >= 2


def test_nothing_warns_in_ordinary_use(device):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stream = device.create_stream()
        with device.allocate(64, stream=stream) as buffer:
            buffer.fill(0, stream=stream)
        stream.sync()
        stream.close()


def test_a_warning_points_at_the_line_that_led_to_it(device):
    stream = device.create_stream()
    with warnings.catch_warnings(record=True) as told, cuprum.testing.fail_call("cuStreamDestroy"):
        warnings.simplefilter("always")
        stream.close()
    assert [warning.category for warning in told] == [RuntimeWarning]
    assert told[0].filename == __file__
    assert "could not release a stream: cuStreamDestroy failed" in str(told[0].message)


def test_a_kernel_that_faults_is_named_by_the_error():
    """Run in a separate process, because a fault makes the context unusable."""
    import subprocess
    import sys

    code = f"""
import sys; sys.path[:0] = {[*sys.path]!r}
import cuprum
device = cuprum.Device(0)
device.set_current()
source = 'extern "C" __global__ void stray(int* p) {{ *p = 1; }}'
kernel = cuprum.Program(source, "c++").compile("cubin").get_kernel("stray")
stream, other = device.create_stream(), device.create_stream()
cuprum.launch(stream, cuprum.LaunchConfig(grid=1, block=1), kernel, 8)
try:
    stream.sync()
except cuprum.CUDAError as error:
    print(error.in_flight, str(error).count("last launched"), error.in_flight[0] in str(error))
    if device.is_emulated:
        assert "in kernel stray, block (0, 0, 0), thread (0, 0, 0)" in str(error), error
        assert "at PTX line" in str(error), error
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.startswith("['stray on stream 0x"), result.stderr
    assert result.stdout.strip().endswith("1 True")
    assert result.returncode == 0, result.stderr


def _run_apart(code):
    """Run a program in a process of its own, because a fault makes the context unusable."""
    import subprocess
    import sys

    result = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{code}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout == "done\n"


FAULT = r"""
import cuprum
device = cuprum.Device(0)
device.set_current()
source = "template <typename T> __global__ void zero(T* p) { *p = 0; }"
code = cuprum.Program(source, "c++").compile("ptx", name_expressions=["zero<double>"])
kernel = code.get_kernel(code.kernel_names[0])
stream, other = device.create_stream(), device.create_stream()
def errors(*calls):
    for call in calls:
        try:
            call()
        except cuprum.CUDAError as error:
            yield str(error)
def fault(address=8):
    cuprum.launch(stream, cuprum.LaunchConfig(grid=1, block=1), kernel, address)
"""


def test_a_fault_is_reported_in_full_once_and_names_the_way_out():
    _run_apart(
        FAULT
        + r"""
fault()
first, *later = errors(stream.sync, stream.sync, other.sync, device.sync)
assert "cuStreamSynchronize failed: CUDA_ERROR_ILLEGAL_ADDRESS (700): a kernel" in first, first
assert "\nlast launched:\n  zero<double> on stream 0x" in first, first
assert "restart the process" in first and "device.reset_primary_context()" in first, first
assert len(later) == 3, later
for text in later:
    assert " (700): this is the failure that cuStreamSynchronize reported" in text, text
    assert "restart the process" in text and "device.reset_primary_context()" in text, text
    assert "\n" not in text, text
if device.is_emulated:
    assert "call device.reset_primary_context() or restart the process" in first, first
    assert "in kernel zero<double>, block (0, 0, 0), thread (0, 0, 0)" in first, first
    device.reset_primary_context()
    device.set_current()
    stream = device.create_stream()
    with device.allocate(8, stream=stream) as buffer:
        fault(buffer)
        stream.sync()
    fault()
    (again,) = errors(stream.sync)
    assert "last launched" in again, "what comes after a reset is new"
print("done")
"""
    )


@pytest.mark.parametrize("waiter", ["stream", "event"])
def test_asking_whether_work_is_done_does_not_use_up_the_report(waiter):
    _run_apart(
        FAULT
        + r"""
import ctypes, re
driver = ctypes.CDLL(re.search(r"\((.*)\)", cuprum.driver_description())[1])
event = stream.record()
fault()
while driver.cuStreamQuery(ctypes.c_void_p(int(stream.handle))) == 600:  # CUDA_ERROR_NOT_READY
    pass
"""
        + f"""
(text,) = errors({waiter}.sync)
assert "\\nlast launched:" in text, text
print("done")
"""
    )


def test_a_host_function_behind_a_fault_is_not_called():
    _run_apart(
        FAULT
        + r"""
called = []
stream.launch_host(lambda: called.append("before"))
fault()
try:
    stream.launch_host(lambda: called.append("behind"))
except cuprum.CUDAError:
    pass  # the fault came first
(text,) = errors(stream.sync)
assert "CUDA_ERROR_ILLEGAL_ADDRESS" in text, text
assert called == ["before"], called
print("done")
"""
    )


def test_a_kernel_is_named_as_its_source_has_it():
    _run_apart(
        FAULT
        + """
assert code.kernel_names == ["_Z4zeroIdEvPT_"], "what get_kernel() takes"
try:
    cuprum.launch(stream, cuprum.LaunchConfig(grid=1, block=1), kernel)
except (TypeError, ValueError) as error:
    assert 'kernel "zero<double>" takes 1 argument' in str(error), error
else:
    raise AssertionError("took it")
try:
    cuprum.launch(stream, cuprum.LaunchConfig(grid=1, block=4096), kernel, 0)
except cuprum.LaunchError as error:
    assert 'kernel "zero<double>" was launched' in str(error), error
else:
    raise AssertionError("took it")
print("done")
"""
    )


def test_a_fault_on_memory_of_a_pool_names_its_access(device):
    if len(cuprum.Device.get_all_devices()) < 2:
        pytest.skip("needs two devices")
    _run_apart(
        FAULT
        + """
peer = cuprum.Device(1)
if device.can_access_peer(peer):
    device.enable_peer_access(peer)
    buffer = peer.allocate(8, stream=peer.create_stream())
    fault(buffer)
    (text,) = errors(stream.sync)
    assert "add the device to memory_resource.peer_accessible_by" in text, text
    if device.is_emulated:
        assert "cuMemPoolSetAccess was not called; cuCtxEnablePeerAccess does not" in text, text
print("done")
"""
    )


def test_a_bad_setting_of_the_emulated_device_is_named(device):
    import os
    import subprocess
    import sys

    if not device.is_emulated:
        pytest.skip("the settings are the emulated device's")
    code = f"import sys; sys.path[:0] = {sys.path!r}; import cuprum; cuprum.Device(0)"
    environment = {**os.environ, "CUPRUM_EMULATOR_DEVICES": "many"}
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False
    )
    assert result.returncode == 1
    assert "CUPRUM_EMULATOR_DEVICES" in result.stderr
    assert "cuInit failed: CUDA_ERROR_INVALID_VALUE (1): a variable of the" in result.stderr
