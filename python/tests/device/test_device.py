# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

import copy
import ctypes
import pickle
import re
import threading
import uuid
import weakref
from pathlib import Path

import pytest

import cuprum
from cuprum import Device


def test_there_is_one_object_per_device():
    assert Device(0) is Device(0)
    assert Device(Device(0)) is Device(0)
    assert Device(device_id=0) is Device(0)
    assert Device.get_all_devices()[0] is Device(0)


def test_one_object_also_across_threads():
    seen = []
    thread = threading.Thread(target=lambda: seen.append(Device(0)))
    thread.start()
    thread.join()
    assert seen[0] is Device(0)


def test_without_an_ordinal_it_is_the_current_device():
    assert Device() is Device(0)


def test_device_without_a_context_is_device_0():
    seen = []
    thread = threading.Thread(target=lambda: seen.append(Device().device_id))
    thread.start()
    thread.join()
    assert seen == [0]


@pytest.mark.parametrize("ordinal", [-1, 1000, 2**40])
def test_wrong_ordinal_is_a_value_error_that_names_it(ordinal):
    with pytest.raises(ValueError, match=str(ordinal)):
        Device(ordinal)
    assert Device(0).name


def test_wrong_ordinal_gives_the_range():
    count = len(Device.get_all_devices())
    with pytest.raises(ValueError, match=str(count - 1)):
        Device(count)


@pytest.mark.parametrize("ordinal", ["0", 1.5, object()])
def test_an_ordinal_that_is_no_integer_is_a_type_error(ordinal):
    with pytest.raises(TypeError, match="device_id"):
        Device(ordinal)


def test_identity(device):
    assert device.device_id == 0
    assert int(device) == 0
    assert uuid.UUID(device.uuid)
    assert device.name in repr(device)
    assert repr(device).startswith("<Device 0 (")
    assert device.pci_bus_id.count(":") == 2
    assert isinstance(device.is_emulated, bool)


def test_compute_capability_is_a_named_tuple(device):
    capability = device.compute_capability
    assert capability >= (5, 0)
    assert capability == (capability.major, capability.minor)
    assert device.arch == f"{capability.major}{capability.minor}"


def test_equality_hash_and_references(device):
    assert device == Device(0)
    assert device != 0
    assert hash(device) == hash(Device(0))
    assert weakref.ref(device)() is device


def test_pickle_and_copy_give_the_same_object(device):
    assert pickle.loads(pickle.dumps(device)) is device
    assert copy.copy(device) is device


def test_properties_read_the_driver(device):
    properties = device.properties
    assert properties.multiprocessor_count >= 1
    assert properties.warp_size == 32
    assert properties.max_threads_per_block >= 512
    assert isinstance(properties.unified_addressing, bool)
    assert isinstance(properties.max_grid_dim_x, int)
    assert device.properties is properties


def test_every_property_reads_or_raises_clearly(device):
    names = cuprum._cuprum.DeviceProperties.names()
    assert len(names) >= 143
    for name in names:
        if device.properties.is_supported(name):
            value = getattr(device.properties, name)
            assert value == type(value)(device.properties.get(name))
        else:
            assert device.properties.get(name, "absent") == "absent"
            with pytest.raises(cuprum.CUDAError):
                getattr(device.properties, name)


def test_each_attribute_of_cuda_13_0_is_a_property():
    folders = (Path(folder) for folder in cuprum.default_include_directories())
    header = next((path for folder in folders if (path := folder / "cuda.h").is_file()), None)
    if header is None:
        pytest.skip("needs the headers of CUDA")
    text = header.read_text().partition("typedef enum CUdevice_attribute_enum")[2]
    rows = re.findall(r"CU_DEVICE_ATTRIBUTE_(\w+)\s*=\s*(\d+)", text.partition("}")[0])
    names = {}  # some attributes have an old name too
    for name, number in rows:
        if int(number) <= 147:  # the last one of CUDA 13.0
            names.setdefault(number, set()).add(name.lower())
    assert len(names) > 100
    properties = set(cuprum._cuprum.DeviceProperties.names())
    assert [each for each in names.values() if not each & properties] == []


def test_an_unknown_property_is_an_error(device):
    with pytest.raises(AttributeError):
        _ = device.properties.no_such_attribute
    with pytest.raises(ValueError, match="no_such_attribute"):
        device.properties.get("no_such_attribute", 0)
    with pytest.raises(ValueError, match="no_such_attribute"):
        device.properties.is_supported("no_such_attribute")


def test_memory_info(device):
    info = device.memory_info
    assert 0 < info.free <= info.total
    assert tuple(info) == (info.free, info.total)


def test_a_device_can_access_itself(device):
    assert device.can_access_peer(device)
    assert device.can_access_peer(0)


def test_set_current_returns_none_without_a_context(device):
    assert device.set_current() is None


def test_set_current_with_a_context_returns_the_one_before(device):
    context = device.context
    assert device.set_current(context) == context


def test_set_current_takes_only_contexts(device):
    with pytest.raises(TypeError, match="ctx must be a Context"):
        device.set_current(3)


def test_methods_leave_a_thread_without_a_context_as_it_was(device, driver):
    seen = []

    def work():
        stream = device.create_stream()
        event = device.create_event()
        buffer = device.allocate(64, stream=stream)
        buffer.fill(1, stream=stream)
        stream.record(event)
        stream.sync()
        event.sync()
        buffer.close()
        device.sync()
        context = ctypes.c_void_p()
        driver.cuCtxGetCurrent(ctypes.byref(context))
        seen.append(context.value)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [None]


def test_default_stream_follows_the_environment(device, monkeypatch):
    monkeypatch.delenv("CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM", raising=False)
    assert device.default_stream is cuprum.LEGACY_DEFAULT_STREAM
    monkeypatch.setenv("CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM", "1")
    assert device.default_stream is cuprum.PER_THREAD_DEFAULT_STREAM
    monkeypatch.setenv("CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM", "0")
    assert device.default_stream is cuprum.LEGACY_DEFAULT_STREAM


def test_allocate_needs_a_stream(device):
    with pytest.raises(TypeError, match=r"device\.default_stream"):
        device.allocate(16, stream=None)
    with pytest.raises(TypeError, match="stream"):
        device.allocate(16)


def test_allocate_refuses_bad_sizes(device, stream):
    with pytest.raises(ValueError, match="size must be at least 0, got -1"):
        device.allocate(-1, stream=stream)
    with pytest.raises(TypeError, match="size must be an integer, got float"):
        device.allocate(1.5, stream=stream)


def test_out_of_memory_tells_requested_and_free_bytes(device, stream):
    requested = 1 << 50
    with pytest.raises(cuprum.OutOfMemoryError, match=str(requested)) as caught:
        device.allocate(requested, stream=stream)
    error = caught.value
    assert isinstance(error, MemoryError)
    assert isinstance(error, cuprum.CUDAError)
    assert error.requested_bytes == requested
    assert str(error.free_bytes) in str(error)
    assert error.total_bytes == device.memory_info.total
    assert "CUDA_ERROR_OUT_OF_MEMORY" in str(error)
    device.allocate(16, stream=stream).close()


def test_memory_resource_can_be_replaced(device, stream):
    original = device.memory_resource
    own = cuprum.DeviceMemoryResource(device, {"max_size": 1 << 20})
    try:
        device.memory_resource = own
        assert device.memory_resource is own
        with device.allocate(16, stream=stream) as buffer:
            assert buffer.memory_resource is own
    finally:
        device.memory_resource = original


def test_memory_resource_takes_only_memory_resources(device):
    with pytest.raises(TypeError, match="must be a MemoryResource, got int"):
        device.memory_resource = 1


def test_create_stream_takes_a_dict(device):
    stream = device.create_stream(options={"nonblocking": False})
    assert not stream.is_nonblocking
    stream.close()


@pytest.mark.parametrize("options", [3, "nonblocking", cuprum.EventOptions()])
def test_create_stream_refuses_other_options(device, options):
    with pytest.raises(TypeError, match="options must be StreamOptions"):
        device.create_stream(options=options)


def test_printing_tells_what_it_is(device):
    text = str(device)
    assert text.startswith(f"<Device 0 ({device.name}), compute capability ")
    assert f"{device.properties.multiprocessor_count} multiprocessors" in text
    assert ("emulated" in text) == device.is_emulated


def test_total_memory_is_what_memory_info_says(device):
    assert device.total_memory == pytest.approx(device.memory_info.total, rel=0.1)


def test_primary_context_state(device):
    assert device.is_primary_context_active
    flags = device.primary_context_flags
    device.set_primary_context_flags(**flags._asdict())
    assert device.primary_context_flags == flags
    assert flags.wait in list(cuprum.typing.HostWaitType)


def test_peer_access_to_itself_is_a_matter_of_course(device):
    device.enable_peer_access(device)
    device.disable_peer_access(0)
    with pytest.raises(ValueError, match="device 0 itself"):
        device.get_p2p_attribute("access_supported", device)


def test_an_attribute_that_the_driver_does_not_know_is_no_attribute(device, monkeypatch):
    from cuprum import _cuprum

    unknown = [n for n in device.properties.names() if not device.properties.is_supported(n)]
    if not unknown:
        pytest.skip("this driver knows every attribute")
    assert not hasattr(device.properties, unknown[0])
    with pytest.raises(cuprum.UnknownAttributeError, match="does not know") as caught:
        getattr(device.properties, unknown[0])
    assert isinstance(caught.value, cuprum.CUDAError)
    assert caught.value.code == 1
    _cuprum.follow_reference(True)
    try:
        assert getattr(device.properties, unknown[0]) in (0, 1, -1)
    finally:
        _cuprum.follow_reference(False)


def test_properties_are_not_made_directly():
    from cuprum._cuprum import DeviceProperties

    with pytest.raises(RuntimeError, match=r"Device\.properties"):
        DeviceProperties()


def test_a_context_of_another_kind_is_refused(device):
    with pytest.raises(TypeError, match="ctx must be a Context"):
        device.set_current(3)


@pytest.fixture
def _as_the_reference():
    from cuprum import _cuprum

    _cuprum.follow_reference(True)
    _cuprum.forget_initialized_devices()
    yield
    _cuprum.follow_reference(False)


@pytest.mark.usefixtures("_as_the_reference")
@pytest.mark.parametrize(
    "use",
    [
        lambda device: device.create_stream(),
        lambda device: device.create_event(),
        lambda device: device.context,
        lambda device: device.sync(),
        lambda device: device.allocate(8, stream=cuprum.LEGACY_DEFAULT_STREAM),
    ],
)
def test_programs_for_the_reference_must_make_a_device_current_first(device, use):
    with pytest.raises(cuprum.CUDAError, match="device 0 was never made current"):
        use(device)
    device.set_current()
    use(device)


@pytest.fixture(scope="session")
def two_devices():
    devices = cuprum.Device.get_all_devices()
    if len(devices) < 2:
        pytest.skip("needs two devices")
    with devices[1].as_current():  # its primary context exists from here on
        pass
    return devices[:2]


def test_methods_act_on_their_own_device_whatever_is_current(two_devices, current_context):
    first, second = two_devices
    first.set_current()
    before = current_context()
    stream = second.create_stream()
    event = stream.record()
    assert stream.device is second
    assert event.device is second
    assert second.context.device is second
    second.sync()
    assert second.memory_info.total > 0
    assert current_context() == before
    with second.as_current():
        assert cuprum.Device() is second
    assert cuprum.Device() is first
    event.close()
    stream.close()


def test_a_context_of_another_device_cannot_be_made_current(two_devices):
    first, second = two_devices
    with pytest.raises(RuntimeError, match="ctx belongs to device 1, expected one of device 0"):
        first.set_current(second.context)


def test_peer_access_is_allowed_and_taken_back(two_devices):
    first, second = two_devices
    if not first.can_access_peer(second):
        pytest.skip("the devices do not reach each other")
    assert first.get_p2p_attribute("access_supported", second) == 1
    for _ in range(2):
        first.enable_peer_access(second)
    for _ in range(2):
        first.disable_peer_access(second)


def test_an_ordinal_out_of_range_names_the_variable_for_more_emulated_devices(device):
    if not device.is_emulated:
        pytest.skip("the number of GPUs cannot be set")
    with pytest.raises(ValueError, match=r"ordinal is 99, .*CUPRUM_EMULATOR_DEVICES"):
        cuprum.Device(99)
