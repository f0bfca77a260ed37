# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Which NVML is loaded, and what its failures become. Each test has a process of its own."""

import builtins
import os
import shutil

import pytest
from nvml_processes import FAKE_LIBRARY, PREAMBLE, run_python

import cuprum
from cuprum import system
from cuprum.system import exceptions


def test_importing_loads_nothing():
    source = """
import cuprum.system
from cuprum import _cuprum
assert not _cuprum.is_nvml_initialized()
maps = open("/proc/self/maps").read()
assert "libnvidia-ml" not in maps and "libcuda.so" not in maps
"""
    run_python(source)


def test_without_nvml_the_error_says_what_to_install(tmp_path):
    source = """
from cuprum import system, LibraryNotFoundError
try:
    system.get_num_devices()
except system.LibraryNotFoundError as error:
    assert isinstance(error, LibraryNotFoundError) and isinstance(error, system.NvmlError)
    assert error.code == 12
    print(error)
"""
    text = run_python(source, CUPRUM_NVML=tmp_path / "absent.so", CUPRUM_DRIVER="native")
    if not text:
        pytest.skip("an NVML is installed")
    assert "cannot load NVML; install the NVIDIA driver" in text
    assert f"{tmp_path}/absent.so" in text
    assert "CUPRUM_DRIVER=emulated" in text


def test_without_nvml_the_driver_tells_its_version(tmp_path):
    source = """
from cuprum import _cuprum, system
print(system.get_user_mode_driver_version())
print(_cuprum.is_nvml_initialized())
"""
    variables = {"CUPRUM_NVML": tmp_path / "absent.so", "LD_LIBRARY_PATH": ""}
    version, is_found = run_python(source, **variables).splitlines()
    if is_found == "True":
        pytest.skip("an NVML is installed")
    number = cuprum.driver_version()
    assert version == str((number // 1000, number % 1000 // 10))


def test_a_relative_path_is_ignored(tmp_path):
    source = """
from cuprum import system
try:
    print(system.get_library_path())
except system.LibraryNotFoundError as error:
    print(error)
"""
    text = run_python(source, CUPRUM_NVML="libnvidia-ml.so.1", CUPRUM_DRIVER="native")
    assert "not an absolute path, ignored" in text or text.startswith("/")


def test_the_emulated_device_has_the_nvml_beside_it():
    if not cuprum.Device(0).is_emulated:
        pytest.skip("only the emulated device has one of its own")
    folder = os.path.dirname(system.get_library_path())
    assert os.path.exists(os.path.join(folder, "libcuda.so.1"))


def test_reasons_for_low_clocks_apply_to_every_emulated_device(tmp_path):
    if not cuprum.Device(0).is_emulated:
        pytest.skip("a GPU measures them")
    source = """
from cuprum import system
for index in range(system.get_num_devices()):
    print(*system.Device(index=index).current_clock_event_reasons)
"""
    text = run_python(
        source,
        CUPRUM_EMULATOR_DEVICES=3,
        CUPRUM_EMULATOR_CLOCK_EVENTS="sw_power_cap,sync_boost",
        CUPRUM_EMULATOR_RUNTIME_DIR=tmp_path,  # no other process makes the devices busy
    )
    assert [set(line.split()) for line in text.splitlines()] == [
        {"gpu_idle", "sw_power_cap", "sync_boost"}
    ] * 3


def test_without_a_choice_nvml_belongs_to_the_driver_that_is_found():
    source = """
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from cuprum import system
    path = system.get_library_path()
    count = system.get_num_devices()
    import cuprum
    device = cuprum.Device(0)
assert count >= 1
assert device.to_system_device().to_cuda_device() is device
texts = [str(each.message) for each in caught if "no GPU can be used" in str(each.message)]
assert len(texts) == (1 if device.is_emulated else 0), texts
"""
    run_python(source, CUPRUM_DRIVER="")


def test_a_library_that_anyone_may_write_is_refused(tmp_path):
    if not cuprum.Device(0).is_emulated:
        pytest.skip("only the emulated device has one of its own")
    folder = tmp_path / "open"
    folder.mkdir()
    for name in ("libcuda.so.1", "libnvidia-ml.so.1"):
        shutil.copy(os.path.join(os.path.dirname(system.get_library_path()), name), folder)
    folder.chmod(0o777)
    source = """
from cuprum import system
try:
    system.get_num_devices()
except system.LibraryNotFoundError as error:
    print(error)
"""
    variables = {
        "CUPRUM_DRIVER": "emulated",
        "CUPRUM_EMULATOR_LIBRARY": folder / "libcuda.so.1",
    }
    text = run_python(source, **variables)
    assert "cannot load the NVML of the emulated device" in text
    assert "anyone may write to it or to its folder, ignored (name it in CUPRUM_NVML" in text
    named = run_python(source, **variables, CUPRUM_NVML=folder / "libnvidia-ml.so.1")
    assert named == ""  # as the user insists on it


def test_the_variable_names_the_library(run_with_fake):
    assert run_with_fake("print(system.get_library_path())").strip() == str(FAKE_LIBRARY)


def test_queries_create_no_context():
    source = """
import cuprum
from cuprum import system
device = system.Device(index=0)
device.name, device.memory_info, device.compute_running_processes
assert not cuprum.Device(0).is_primary_context_active
"""
    run_python(source)


def test_a_library_that_cannot_be_loaded_is_replaced_by_the_installed_one(tmp_path):
    if not FAKE_LIBRARY.exists():
        pytest.skip("the fake NVML is not built")
    installed = tmp_path / "libnvidia-ml.so.1"
    shutil.copy(FAKE_LIBRARY, installed)
    variables = {"CUPRUM_NVML": tmp_path / "absent.so", "LD_LIBRARY_PATH": tmp_path}
    text = run_python("from cuprum import system; print(system.get_library_path())", **variables)
    assert text.strip() == str(installed)


CODES = {
    error.code: name
    for name in exceptions.__all__
    if (error := getattr(system, name)) is not system.NvmlError
}


def test_there_is_a_class_for_each_code():
    assert sorted(CODES) == [*range(1, 31), 999]
    assert len(exceptions.__all__) == 32


def test_each_code_raises_its_class(run_with_fake):
    source = f"""
codes = {CODES!r}
device = system.Device(index=0)
for code, name in codes.items():
    fail("nvmlDeviceGetName", code)
    try:
        device.name
    except system.NvmlError as error:
        assert type(error) is getattr(system, name), (code, type(error))
        assert error.code == error.status == code
        assert error.domain == "NVML" and error.call == "nvmlDeviceGetName"
        assert f"({{code}}): " in str(error), str(error)
        assert len(error.explanation.split()) >= 4, error.explanation
    else:
        raise AssertionError(code)
fail("nvmlDeviceGetName", 77)
try:
    device.name
except system.NvmlError as error:
    assert type(error) is system.NvmlError and error.code == 77
fail("", 0)
assert device.name == "Fake GPU"
"""
    run_with_fake(source)


@pytest.mark.parametrize(
    ("ours", "builtin"),
    [
        (system.TimeoutError, builtins.TimeoutError),
        (system.NoPermissionError, PermissionError),
        (system.MemoryError, builtins.MemoryError),
        (system.NotFoundError, LookupError),
        (system.InvalidArgumentError, ValueError),
        (system.FunctionNotFoundError, cuprum.NotSupportedError),
        (system.LibraryNotFoundError, cuprum.LibraryNotFoundError),
        (system.NvmlError, cuprum.CUDAError),
    ],
)
def test_errors_are_caught_by_the_classes_that_people_know(ours, builtin):
    assert issubclass(ours, builtin)
    assert str(ours("text")) == "text"
    assert ours.__module__ == "cuprum.system"


def test_an_old_nvml_names_the_driver_that_has_the_function(run_with_fake):
    source = """
device = system.Device(index=0)
try:
    device.temperature.margin
except system.FunctionNotFoundError as error:
    print(error)
assert device.temperature.get_sensor() == 55  # an older function serves
assert device.current_clock_event_reasons == ["sw_power_cap", "sw_thermal_slowdown"]
assert device.throttle_reasons[0] == "the device draws as much power as its limit allows"
"""
    text = run_with_fake(source)
    assert "nvmlDeviceGetMarginTemperature" in text
    assert "needs driver 570 or newer, and the loaded NVML is of driver 535.54.03" in text


def test_no_permission_says_what_to_do(run_with_fake):
    source = """
device = system.Device(index=0)
fail("nvmlDeviceSetPersistenceMode", 4)
try:
    device.is_persistence_mode_enabled = False
except system.NoPermissionError as error:
    print(error)
try:
    device.is_persistence_mode_enabled = "off"
except TypeError as error:
    print(error)
"""
    text = run_with_fake(source)
    assert "run the program as root (sudo)" in text
    assert "is_persistence_mode_enabled" in text.splitlines()[1]


def test_a_device_that_disappears_is_lost(run_with_fake):
    source = """
device = system.Device(index=0)
fail("nvmlDeviceGetUtilizationRates", 15)
for query in (lambda: device.utilization, device.read_sample, lambda: next(device.sample())):
    try:
        query()
    except system.GpuIsLostError as error:
        text = str(error)
print(text)
"""
    assert "no longer answers" in run_with_fake(source)


def test_a_process_that_is_gone_is_not_found(run_with_fake):
    source = """
process = system.Device(index=0).compute_running_processes[0]
assert process.pid == 10 and process.used_gpu_memory == 1000
assert process.name == "/bin/program"
fail("nvmlSystemGetProcessName", 6)
try:
    process.name
except system.NotFoundError as error:
    print(error)
"""
    assert "process 10 is gone" in run_with_fake(source)


def test_unknown_memory_of_a_process_is_none(run_with_fake):
    source = """
assert system.Device(index=0).compute_running_processes[1].used_gpu_memory is None
from cuprum.drop_in import install
install()
from cuda.core import system as reference
process = reference.Device(index=0).compute_running_processes[1]
assert process.used_gpu_memory == 2**64 - 1  # as the reference has it
"""
    run_with_fake(source)


def test_events_of_a_device_that_has_none_are_not_supported(run_with_fake):
    source = """
device = system.Device(index=0)
assert device.get_supported_event_types() == []
try:
    device.register_events("pstate")
except system.NotSupportedError as error:
    print(error)
assert library.fake_nvml_live_sets() == 0
events = device.register_events([])
assert library.fake_nvml_live_sets() == 1
try:
    events.wait(timeout_ms=1)
except system.TimeoutError:
    pass
del events
assert library.fake_nvml_live_sets() == 0
"""
    assert "supported_event_types()" in run_with_fake(source)


def test_a_forked_child_initialises_nvml_itself(run_with_fake):
    source = """
device = system.Device(index=0)
from cuprum import _cuprum
assert _cuprum.is_nvml_initialized()
child = os.fork()
if child == 0:
    was_reset = not _cuprum.is_nvml_initialized()
    os._exit(0 if was_reset and device.name == "Fake GPU" else 1)
assert os.waitpid(child, 0)[1] == 0
assert _cuprum.is_nvml_initialized()
"""
    run_with_fake(source)


def test_a_failed_initialisation_is_tried_again(run_with_fake):
    source = """
fail("nvmlInit_v2", 9)
try:
    system.get_num_devices()
except system.DriverNotLoadedError as error:
    print(error)
fail("", 0)
assert system.get_num_devices() == 1
"""
    assert "modprobe nvidia" in run_with_fake(source)


def test_ctrl_c_ends_a_wait_for_events():
    if not FAKE_LIBRARY.exists():
        pytest.skip("the fake NVML is not built")
    source = (
        PREAMBLE
        + """
import signal, threading
events = system.Device(index=0).register_events([])
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    events.wait()  # without limit
except KeyboardInterrupt:
    print("interrupted")
"""
    )
    assert run_python(source, CUPRUM_NVML=FAKE_LIBRARY).strip() == "interrupted"


def test_the_errors_of_bindings_catch_ours_in_the_drop_in(run_with_fake):
    pytest.importorskip("cuda.bindings.nvml")
    source = """
import cuprum.drop_in
cuprum.drop_in.install()
from cuda.bindings import nvml
from cuda.core import system as reference
device = reference.Device(index=0)
for code, name in ((3, "NotSupportedError"), (4, "NoPermissionError"), (10, "TimeoutError")):
    fail("nvmlDeviceGetName", code)
    try:
        device.name
    except getattr(nvml, name) as error:
        assert isinstance(error, getattr(reference, name)) and error.status == code
    else:
        raise AssertionError(name)
assert device._handle == device.handle
"""
    run_with_fake(source)
