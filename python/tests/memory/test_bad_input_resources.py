# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Every memory resource with every kind of bad input."""

import ctypes

import numpy as np
import pytest
from bad_input import (
    HUGE,
    TOO_MUCH,
    Stranger,
    addresses,
    check,
    check_all,
    has_figures,
    integers,
    streams,
)

import cuprum
from cuprum import (
    Buffer,
    DeviceMemoryResource,
    GraphMemoryResource,
    LegacyPinnedMemoryResource,
    ManagedMemoryResource,
    PinnedMemoryResource,
    SynchronousMemoryResource,
    VirtualMemoryResource,
)
from cuprum.utils import discard_batch, discard_prefetch_batch, prefetch_batch

POOL_BYTES = 4 << 20
RELAXED_CAPTURE = 2


def device_pool(device):
    return DeviceMemoryResource(device, {"max_size": POOL_BYTES})


def pinned_pool(device):
    if not device.properties.get("host_memory_pools_supported", 0):
        pytest.skip("the device has no pools of host memory")
    return PinnedMemoryResource({"max_size": POOL_BYTES})


def managed_pool(device):
    if not device.properties.get("concurrent_managed_access", 0):
        pytest.skip("the device cannot share managed memory with the host")
    return ManagedMemoryResource({"preferred_location": 0})


def virtual_memory(device):
    if not device.properties.get("virtual_memory_management_supported", 0):
        pytest.skip("the device has no virtual memory management")
    return VirtualMemoryResource(device)


RESOURCES = {
    "device pool": device_pool,
    "device's own pool": lambda device: device.memory_resource,
    "pinned pool": pinned_pool,
    "managed pool": managed_pool,
    "graph memory": GraphMemoryResource,
    "legacy pinned": lambda device: LegacyPinnedMemoryResource(),
    "synchronous": SynchronousMemoryResource,
    "virtual memory": virtual_memory,
}
POOLS = ["device pool", "pinned pool", "managed pool"]
# These need no stream, because they allocate synchronously.
AT_ONCE = {"legacy pinned", "synchronous", "virtual memory"}


@pytest.fixture
def resource(request, device):
    made = RESOURCES[request.param](device)
    yield made
    if made is not device.memory_resource and hasattr(made, "close"):
        made.close()


@pytest.mark.parametrize(("resource", "name"), [(n, n) for n in RESOURCES], indirect=["resource"])
def test_sizes_and_streams_of_allocations(resource, name, device, stream):
    check_all(name, lambda x: resource.allocate(x, stream=stream), integers("size"))
    refused = streams(device, none_is_refused=name not in AT_ONCE)
    check_all(name, lambda s: resource.allocate(16, stream=s), refused)
    nothing = resource.allocate(0, stream=stream)
    assert (nothing.handle, nothing.size) == (0, 0)
    nothing.close()


@pytest.mark.parametrize(("resource", "name"), [(n, n) for n in RESOURCES], indirect=["resource"])
def test_what_is_given_back_must_have_been_given(resource, name, device, stream):
    check_all(name, lambda x: resource.deallocate(x, 16, stream=stream), addresses("ptr"))
    check_all(name, lambda x: resource.deallocate(0, x, stream=stream), integers("size"))
    refused = streams(device, none_is_refused=name not in AT_ONCE)
    check_all(name, lambda s: resource.deallocate(0, 1, stream=s), refused)
    resource.deallocate(0, 0, stream=stream)  # the memory of an empty buffer
    if not device.is_emulated:
        return  # a GPU's driver may not detect an address that it never returned
    error = ValueError if name == "virtual memory" else cuprum.CUDAError
    with pytest.raises(error, match=r"pointer 4660 is not the .*: it was freed already"):
        resource.deallocate(0x1234, 16, stream=stream)


@pytest.mark.parametrize("name", ["device pool", "legacy pinned", "synchronous", "virtual memory"])
def test_want_of_memory_has_the_figures(name, device, stream):
    resource = RESOURCES[name](device)
    with pytest.raises(cuprum.OutOfMemoryError, match="CUDA_ERROR_OUT_OF_MEMORY") as caught:
        resource.allocate(TOO_MUCH, stream=stream)
    assert has_figures(caught.value, TOO_MUCH), str(caught.value)
    assert isinstance(caught.value, MemoryError)
    with resource.allocate(16, stream=stream) as buffer:  # it still works
        assert buffer.size >= 16
    if name == "device pool":
        assert f"{POOL_BYTES} bytes" in str(caught.value), "the limit of the pool"
        resource.close()


@pytest.mark.parametrize("name", POOLS)
def test_closed_pools(name, device, stream):
    pool = RESOURCES[name](device)
    buffer = pool.allocate(64, stream=stream)
    pool.close()
    pool.close()
    for label, use in {
        "allocate": lambda p: p.allocate(1, stream=stream),
        "deallocate": lambda p: p.deallocate(0, 0, stream=stream),
        "from_handle": lambda p: Buffer.from_handle(4096, 1, p, stream=stream),
        "handle": lambda p: p.handle,
        "is_handle_owned": lambda p: p.is_handle_owned,
        "device_id": lambda p: p.device_id,
        "is_device_accessible": lambda p: p.is_device_accessible,
        "is_host_accessible": lambda p: p.is_host_accessible,
        "is_managed": lambda p: p.is_managed,
        "attributes": lambda p: p.attributes,
        "trim_to": lambda p: p.trim_to(0),
    }.items():
        text = f"this {type(pool).__name__} was closed"
        check(label, use, pool, cuprum.ClosedError, text)
    buffer.fill(1, stream=stream)  # its buffers stay usable
    buffer.close()


def test_closed_device_pools_share_nothing(device, stream):
    pool = device_pool(device)
    pool.close()
    for label in ("allocation_handle", "is_ipc_enabled", "is_mapped", "uuid", "peer_accessible_by"):
        use = lambda p, label=label: getattr(p, label)  # noqa: E731
        check(label, use, pool, cuprum.ClosedError, "this DeviceMemoryResource was closed")


# ---- making them --------------------------------------------------------------------------------


def test_devices_that_are_none(device):
    count = len(cuprum.Device.get_all_devices())
    for cls in (
        DeviceMemoryResource,
        SynchronousMemoryResource,
        GraphMemoryResource,
        VirtualMemoryResource,
    ):
        for value, error, text in (
            ("x", TypeError, "device_id must be an integer, got str"),
            (1.5, TypeError, "device_id must be an integer, got float"),
            (None, TypeError, "device_id must be a Device or an ordinal, got None"),
            (-1, ValueError, f"ordinal is -1, expected 0 to {count - 1}"),
            (count, ValueError, f"ordinal is {count}, expected 0 to {count - 1}"),
            (HUGE, ValueError, f"device_id is out of range: {HUGE}"),
        ):
            check(cls.__name__, cls, value, error, text)


@pytest.mark.parametrize(
    "make",
    [
        lambda options: DeviceMemoryResource(0, options),
        PinnedMemoryResource,
        ManagedMemoryResource,
        lambda options: VirtualMemoryResource(0, options),
    ],
    ids=["DeviceMemoryResource", "PinnedMemoryResource", "ManagedMemoryResource", "Virtual"],
)
def test_options_that_are_none(make):
    for value in ("x", 5, Stranger()):
        text = f"Options, a dict or None, got {type(value).__name__}"
        check("options", make, value, TypeError, text)
    check("options", make, {"nope": 1}, TypeError, "nope")


def test_limits_and_nodes_of_pools():
    for make in (lambda o: DeviceMemoryResource(0, o), PinnedMemoryResource):
        limit = lambda x, make=make: make({"max_size": x})  # noqa: E731
        check_all("max_size", limit, integers("max_size"))
    for value, error, text in (
        (-1, ValueError, "numa_id must be >= 0, got -1"),
        ("x", TypeError, "numa_id must be an integer, got str"),
        (1.5, TypeError, "numa_id must be an integer, got float"),
        (HUGE, ValueError, f"numa_id is out of range: {HUGE}"),
    ):
        check("numa_id", lambda x: PinnedMemoryResource({"numa_id": x}), value, error, text)


def test_places_of_managed_pools():
    for place, kind, error, text in (
        (-2, None, ValueError, "must be a device ordinal, -1 for the host or None, got -2"),
        ("x", None, TypeError, "preferred_location must be an integer or None, got str"),
        (1.5, None, TypeError, "preferred_location must be an integer or None, got float"),
        (HUGE, None, ValueError, f"preferred_location is out of range: {HUGE}"),
        (99, None, ValueError, "ordinal is 99, expected 0 to"),
        (None, "x", ValueError, "'x' is not a valid ManagedMemoryLocationType"),
        (None, "device", ValueError, "must be a device ordinal with preferred_location_type"),
        (0, "host", ValueError, "must be None with preferred_location_type 'host', got 0"),
        (-1, "host_numa", ValueError, "must be a NUMA node ID"),
    ):
        options = {"preferred_location": place, "preferred_location_type": kind}
        check("options", ManagedMemoryResource, options, error, text)


class Undecided:
    """An object without a truth value, like a numpy array."""

    def __bool__(self):
        raise ArithmeticError("neither true nor false")


def test_options_of_virtual_memory(device):
    for name, value, error, text in (
        ("allocation_type", "x", ValueError, "Unsupported allocation_type: 'x', expected one of"),
        ("location_type", "x", ValueError, "Unsupported location_type: 'x', expected one of"),
        ("handle_type", "x", ValueError, "Unsupported handle_type: 'x', expected one of"),
        ("handle_type", "win32", NotImplementedError, "use 'win32_kmt'"),
        ("granularity", "x", ValueError, "Unsupported granularity: 'x', expected one of"),
        ("self_access", "x", ValueError, "Unknown access spec: 'x', expected one of"),
        ("peer_access", "x", ValueError, "Unknown access spec: 'x', expected one of"),
        ("addr_hint", "x", TypeError, "addr_hint must be an integer, got str"),
        ("addr_hint", -1, ValueError, "addr_hint must be from 0 to 2**64 - 1, got -1"),
        ("addr_align", 3, ValueError, "addr_align is 3, expected a power of two"),
        ("addr_align", -1, ValueError, "addr_align must be at least 0, got -1"),
        ("peers", 5, TypeError, "peers must be an iterable of Devices or ordinals, got int"),
        ("peers", None, TypeError, "peers must be an iterable of Devices or ordinals, got None"),
        ("peers", ["x"], TypeError, "peers must be an integer, got str"),
        ("peers", [99], ValueError, "ordinal is 99, expected 0 to"),
        ("gpu_direct_rdma", Undecided(), ArithmeticError, "neither true nor false"),
    ):
        make = lambda x, name=name: VirtualMemoryResource(device, {name: x})  # noqa: E731
        check(name, make, value, error, text)


def test_what_cannot_grow(device, stream):
    resource = virtual_memory(device)
    other = virtual_memory(device)
    with resource.allocate(1) as whole, device.allocate(64, stream=stream) as foreign:
        grow = lambda x: resource.modify_allocation(whole, x)  # noqa: E731
        check_all("new_size", grow, integers("new_size"))
        closed = resource.allocate(1)
        closed.close()
        for value, error, text in (
            ("x", TypeError, "buf must be a Buffer, got str"),
            (None, TypeError, "buf must be a Buffer, got None"),
            (foreign, ValueError, "buffer does not come from this VirtualMemoryResource"),
            (closed, cuprum.ClosedError, "this Buffer was closed"),
            (whole[:100], ValueError, "buffer is a part of an allocation, expected the whole"),
            (resource.allocate(0), ValueError, "buffer has 0 bytes and no addresses"),
        ):
            grow = lambda x: resource.modify_allocation(x, 4 << 20)  # noqa: E731
            check("buf", grow, value, error, text)
        with pytest.raises(ValueError, match="does not come from this"):
            other.modify_allocation(whole, 4 << 20)
        with pytest.raises(TypeError, match="options must be VirtualMemoryResourceOptions"):
            resource.modify_allocation(whole, 4 << 20, "x")
        size = whole.size
        with pytest.raises(cuprum.OutOfMemoryError):
            resource.modify_allocation(whole, TOO_MUCH)
        assert whole.size == size


# ---- attributes and peers -----------------------------------------------------------------------


def test_attributes_that_cannot_be_set(device):
    pool = device_pool(device)
    attributes = pool.attributes
    for name in ("release_threshold", "used_mem_high", "reserved_mem_high"):
        assign = lambda x, name=name: setattr(attributes, name, x)  # noqa: E731
        check(name, assign, "x", TypeError, f"{name} must be an integer, got str")
        check(name, assign, -1, ValueError, f"{name} must be from 0 to 2**64 - 1, got -1")
        check(name, assign, HUGE, ValueError, f"{name} must be from 0 to 2**64 - 1")
        check(name, assign, None, TypeError, f"{name} must be an integer, got None")
    for name in (
        "reuse_follow_event_dependencies",
        "reuse_allow_opportunistic",
        "reuse_allow_internal_dependencies",
    ):
        assign = lambda x, name=name: setattr(attributes, name, x)  # noqa: E731
        for value in ("false", None, 1.0, []):
            kind = "None" if value is None else type(value).__name__
            check(name, assign, value, TypeError, f"{name} must be a bool, got {kind}")
        check(name, assign, 2, ValueError, f"{name} must be False or True, 0 or 1, got 2")
        for value in (0, np.True_, False, np.int64(1)):
            assign(value)
            assert getattr(attributes, name) is bool(value)
    for name in ("used_mem_high", "reserved_mem_high"):
        assign = lambda x, name=name: setattr(attributes, name, x)  # noqa: E731
        check(name, assign, 1, AttributeError, f"'{name}' may only be set to zero (got 1)")
    for name in ("used_mem_current", "reserved_mem_current"):
        assign = lambda x, name=name: setattr(attributes, name, x)  # noqa: E731
        check(name, assign, 0, AttributeError, f"'{name}' of a pool's attributes is not writable")
    check("nope", lambda x: setattr(attributes, "nope", x), 1, AttributeError, "nope")
    check_all("trim_to", pool.trim_to, integers("keep_bytes"))
    check_all("trim", pool.trim, integers("keep_bytes"))
    of_graphs = GraphMemoryResource(device).attributes
    for name in ("used_mem_high", "reserved_mem_high"):
        assign = lambda x, name=name: setattr(of_graphs, name, x)  # noqa: E731
        check(name, assign, None, TypeError, f"{name} must be an integer, got None")
        check(name, assign, 1, AttributeError, f"'{name}' may only be set to zero (got 1)")
    pool.close()


def test_peers_that_are_none(device):
    pool = device_pool(device)
    peers = pool.peer_accessible_by
    count = len(cuprum.Device.get_all_devices())
    for value, error, text in (
        (None, TypeError, "peers must be Devices or ordinals, got None"),
        ("x", TypeError, "must be an integer, got str"),
        (1.5, TypeError, "must be an integer, got float"),
        (-1, ValueError, "ordinal is -1"),
        (count, ValueError, f"ordinal is {count}"),
    ):
        check("add", peers.add, value, error, text)
        check("assign", lambda x: setattr(pool, "peer_accessible_by", [x]), value, error, text)
        peers.discard(value)  # discarding a device that is not a member does nothing
    for value in (None, "x", 5, device):
        kind = type(value).__name__
        text = f"peer_accessible_by must be an iterable of Devices or ordinals, got {kind}"
        check("assign", lambda x: setattr(pool, "peer_accessible_by", x), value, TypeError, text)
    assert peers == set()
    with pytest.raises(ValueError, match="handle is null, expected a memory pool"):
        DeviceMemoryResource.from_handle(device, 0)
    wrap = lambda x: DeviceMemoryResource.from_handle(device, x)  # noqa: E731
    check_all("from_handle", wrap, addresses("handle"))
    pool.close()


# ---- capturing streams --------------------------------------------------------------------------


@pytest.fixture
def capturing(driver, device):
    """A stream that is capturing; the capture must still be valid after the test."""
    stream = device.create_stream()
    handle = ctypes.c_void_p(stream.handle)
    assert driver.cuStreamBeginCapture_v2(handle, RELAXED_CAPTURE) == 0
    yield stream
    graph = ctypes.c_void_p()
    assert driver.cuStreamEndCapture(handle, ctypes.byref(graph)) == 0, "the capture was ended"
    assert driver.cuGraphDestroy(graph) == 0
    stream.close()


def test_waiting_for_a_capture_names_the_wait(driver, device):
    stream = device.create_stream()
    handle = ctypes.c_void_p(stream.handle)
    assert driver.cuStreamBeginCapture_v2(handle, RELAXED_CAPTURE) == 0
    with pytest.raises(
        cuprum.CUDAError, match=r"cuStreamSynchronize failed: .*CAPTURE_UNSUPPORTED"
    ):
        stream.sync()
    graph = ctypes.c_void_p()
    driver.cuStreamEndCapture(handle, ctypes.byref(graph))  # the wait has invalidated the capture
    stream.close()


@pytest.mark.parametrize("name", [*POOLS, "device's own pool"])
def test_pools_do_not_allocate_for_a_graph(name, device, capturing):
    pool = RESOURCES[name](device)
    with pytest.raises(RuntimeError, match=r"capturing stream .*GraphMemoryResource"):
        pool.allocate(64, stream=capturing)
    if pool is not device.memory_resource:
        pool.close()


def test_graph_memory_is_for_graphs_alone(device, stream):
    for bytes_asked in (1, 1 << 40):
        with pytest.raises(RuntimeError, match=r"on a non-capturing stream.*capture first"):
            GraphMemoryResource(device).allocate(bytes_asked, stream=stream)


def test_host_memory_does_not_go_into_a_graph(device, stream, capturing):
    from cuprum.utils import CopyOptions, StridedMemoryView, copy_batch

    with device.allocate(64, stream=stream) as buffer, device.allocate(64, stream=stream) as other:
        with pytest.raises(RuntimeError, match="stream is capturing, and the graph would use"):
            buffer.copy_from_host(bytes(64), stream=capturing)
        with pytest.raises(RuntimeError, match="stream is capturing, and the graph would use"):
            buffer.copy_to_host(bytearray(64), stream=capturing)
        with pytest.raises(TypeError, match="stream is in graph capture"):
            copy_batch(capturing, [buffer], [other])
        with pytest.raises(TypeError, match="stream is in graph capture"):
            buffer.copy_to(other, stream=capturing, options=CopyOptions())
        view = StridedMemoryView.from_buffer(buffer, (64,), itemsize=1)
        target = StridedMemoryView.from_buffer(other, (64,), itemsize=1)
        with pytest.raises(RuntimeError, match="stream is capturing, and a copy that waits"):
            view.copy_to(target, capturing, blocking=True)
        buffer.copy_to(other, stream=capturing)  # becomes a node of the graph
        buffer.fill(1, stream=capturing)
        del view, target


@pytest.mark.parametrize("name", sorted(AT_ONCE))
def test_memory_is_not_given_back_at_once_for_a_graph(name, device, stream, capturing):
    resource = RESOURCES[name](device)
    buffer = resource.allocate(64, stream=stream)
    with pytest.raises(RuntimeError, match="cannot be freed at once while its stream is captur"):
        resource.deallocate(buffer.handle, buffer.size, stream=capturing)
    buffer.close()


def test_a_capture_does_not_defer_deallocate_of_python(device, stream, capturing):
    class Borrowing(cuprum.MemoryResource):
        is_device_accessible = True
        is_host_accessible = False
        device_id = 0

        def __init__(self):
            self.memory = device.allocate(64, stream=stream)
            self.freed = []

        def allocate(self, size, *, stream):
            return cuprum.Buffer.from_handle(self.memory.handle, size, self, stream=stream)

        def deallocate(self, ptr, size, *, stream):
            self.freed.append((ptr, size))

    resource = Borrowing()
    buffer = resource.allocate(64, stream=capturing)
    buffer.close()
    assert resource.freed == [(resource.memory.handle, 64)]
    resource.memory.close()


CAPTURE_MODES = {"global": 0, "of the thread": 1, "relaxed": 2}


@pytest.mark.parametrize("mode", CAPTURE_MODES)
@pytest.mark.parametrize("is_blocking", [False, True])
@pytest.mark.parametrize("name", [*POOLS, *sorted(AT_ONCE)])
def test_buffers_that_go_during_a_capture_leave_it_whole(
    name, mode, is_blocking, driver, device, stream, recwarn
):
    resource = RESOURCES[name](device)
    captured = device.create_stream(options={"nonblocking": not is_blocking})
    handle = ctypes.c_void_p(captured.handle)
    buffers = {
        each: resource.allocate(64, stream=each)
        for each in (stream, captured, device.default_stream)
    }
    told = resource.allocate(64, stream=stream)
    assert driver.cuStreamBeginCapture_v2(handle, CAPTURE_MODES[mode]) == 0
    buffers.clear()
    told.close(captured)
    graph = ctypes.c_void_p()
    assert driver.cuStreamEndCapture(handle, ctypes.byref(graph)) == 0, "the capture was ended"
    count = ctypes.c_size_t()
    assert driver.cuGraphGetNodes(graph, None, ctypes.byref(count)) == 0
    assert count.value == 0, "freeing went into the graph"
    assert driver.cuGraphDestroy(graph) == 0
    stream.sync()  # frees memory whose release was deferred
    captured.close()
    if hasattr(resource, "close"):
        resource.close()
    assert [str(each.message) for each in recwarn] == []


def test_graphs_cannot_move_managed_memory(device, stream, capturing):
    if not device.properties.get("concurrent_managed_access", 0):
        pytest.skip("the device cannot share managed memory with the host")
    pool = ManagedMemoryResource({"preferred_location": 0})
    with pool.allocate(64, stream=stream) as buffer:
        for move in (
            lambda: buffer.prefetch(device, stream=capturing),
            lambda: buffer.discard(stream=capturing),
            lambda: buffer.discard_prefetch(device, stream=capturing),
            lambda: prefetch_batch(capturing, [buffer], device),
            lambda: discard_batch(capturing, [buffer]),
            lambda: discard_prefetch_batch(capturing, [buffer], device),
        ):
            with pytest.raises(RuntimeError, match=r"stream is capturing, .* before the capture"):
                move()
        assert buffer.last_prefetch_location is None
    pool.close()
