# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Reference cycles through objects of this package are collected."""

import contextlib
import ctypes
import gc
import weakref

import numpy as np
import pytest

import cuprum
from cuprum import Buffer, LegacyPinnedMemoryResource, MemoryResource, _cuprum, utils
from cuprum.utils import StridedMemoryView


class Holder:
    """An object that refers to any others."""


@contextlib.contextmanager
def no_collection():
    """Turn off automatic garbage collection."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def check_collected(build, *arguments):
    """Run a function that returns the objects of a cycle, and check that they are collected."""
    with no_collection():
        references = [weakref.ref(each) for each in build(*arguments)]
        assert references
        assert all(each() is not None for each in references), "there is no cycle"
        gc.collect()
        assert [each() for each in references if each() is not None] == []


class Resource(MemoryResource):
    """A resource that refers to its buffers and to what a test adds."""

    def __init__(self, log=None):
        self.inner = LegacyPinnedMemoryResource()
        self.log = [] if log is None else log
        self.blocks = {}
        self.kept = []

    def allocate(self, size, *, stream):
        block = self.inner.allocate(size)
        self.blocks[block.handle] = block
        self.kept.append(Buffer.from_handle(block.handle, size, self, stream=stream))
        return self.kept[-1]

    def deallocate(self, ptr, size, *, stream):
        self.blocks.pop(ptr).close()
        self.log.append(size)

    is_device_accessible = True
    is_host_accessible = True
    device_id = -1


class Owner:
    """An owner of host memory, with a buffer over it and what a test adds."""

    def __init__(self, size=64):
        self.memory = np.arange(size, dtype=np.uint8)
        self.buffer = Buffer.from_handle(self.memory.ctypes.data, size, owner=self)


def view_of(buffer, count=8):
    return StridedMemoryView.from_buffer(buffer, (count,), itemsize=1)


# ---- memory of an owner ------------------------------------------------------------------------


def keep_part_and_whole(owner):
    owner.part = owner.buffer[8:32]


def keep_parts_alone(owner):
    owner.parts = [owner.buffer[8:32], owner.buffer[16:48][4:8]]
    owner.buffer = None


def keep_view(owner):
    owner.view = view_of(owner.buffer)


def keep_view_alone(owner):
    owner.view = view_of(owner.buffer)
    owner.buffer = None


def keep_view_of_part(owner):
    owner.view = view_of(owner.buffer[8:32])


def keep_view_of_view(owner):
    view = view_of(owner.buffer, 16)
    owner.view = view.view(cuprum.utils.StridedLayout((4, 4), None, 1))


def keep_view_of_closed_buffer(owner):
    owner.view = view_of(owner.buffer)
    owner.buffer.close()


def keep_view_through_dlpack(owner):
    owner.view = StridedMemoryView.from_dlpack(owner.buffer, -1)
    owner.buffer.close()


def keep_view_through_old_dlpack(owner):
    class Old:
        def __init__(self, buffer):
            self.buffer = buffer

        def __dlpack_device__(self):
            return self.buffer.__dlpack_device__()

        def __dlpack__(self, *, stream=None):
            return self.buffer.__dlpack__(stream=stream)

    owner.view = StridedMemoryView.from_dlpack(Old(owner.buffer), -1)


def keep_views_of_views_through_dlpack(owner):
    view = StridedMemoryView.from_any_interface(owner.buffer, -1)
    owner.view = StridedMemoryView.from_dlpack(view, -1)
    owner.derived = owner.view.view(cuprum.utils.StridedLayout((8, 8), None, 1))
    owner.capsule_taken = StridedMemoryView.from_dlpack(Capsule(view.__dlpack__(), view), -1)


def keep_memoryview(owner):
    owner.memoryview = memoryview(owner.buffer)


def keep_memoryview_of_closed_buffer(owner):
    owner.memoryview = memoryview(owner.buffer[8:16])
    owner.buffer.close()


def keep_managed_buffer(owner):
    address = owner.memory.ctypes.data
    owner.managed = cuprum.ManagedBuffer.from_handle(address, 16, owner=owner)


class Capsule:
    """An object that returns an existing capsule."""

    def __init__(self, capsule, source):
        self.capsule = capsule
        self.source = source

    def __dlpack_device__(self):
        return self.source.__dlpack_device__()

    def __dlpack__(self, **_):
        return self.__dict__.pop("capsule")


@pytest.mark.parametrize(
    "keep",
    [
        lambda owner: None,
        keep_part_and_whole,
        keep_parts_alone,
        keep_view,
        keep_view_alone,
        keep_view_of_part,
        keep_view_of_view,
        keep_view_of_closed_buffer,
        keep_view_through_dlpack,
        keep_view_through_old_dlpack,
        keep_views_of_views_through_dlpack,
        keep_memoryview,
        keep_memoryview_of_closed_buffer,
        keep_managed_buffer,
    ],
)
def test_an_owner_that_keeps_what_shares_its_memory_is_collected(keep):
    def build():
        owner = Owner()
        keep(owner)
        return [owner]

    check_collected(build)


@pytest.mark.parametrize(
    "share",
    [
        lambda owner: owner.buffer[8:16],
        lambda owner: view_of(owner.buffer),
        lambda owner: StridedMemoryView.from_dlpack(owner.buffer, -1),
        lambda owner: memoryview(owner.buffer),
        lambda owner: owner.buffer.__dlpack__(),
        lambda owner: owner.buffer.__dlpack__(max_version=(1, 0)),
        lambda owner: np.from_dlpack(owner.buffer),
    ],
)
def test_who_shares_the_memory_keeps_the_owner_whole(share):
    with no_collection():
        owner = Owner()
        keep_part_and_whole(owner)
        keep_view(owner)
        reference = weakref.ref(owner)
        shared = share(owner)
        owner.buffer.close()
        del owner
        gc.collect()
        gc.collect()
        assert reference() is not None
        assert sorted(reference().__dict__) == ["buffer", "memory", "part", "view"]
        assert reference().view.shape == (8,)
        assert reference().part.size == 24
        del shared
        gc.collect()
        assert reference() is None


@pytest.mark.parametrize(
    "hide",
    [
        lambda owner: owner.buffer.__dlpack__(),
        lambda owner: np.frombuffer(owner.buffer, np.uint8),
    ],
)
def test_what_python_cannot_see_through_keeps_a_cycle_until_it_is_dropped(hide):
    with no_collection():
        owner = Owner()
        owner.hidden = hide(owner)
        reference = weakref.ref(owner)
        del owner
        gc.collect()
        assert reference() is not None
        del reference().hidden
        gc.collect()
        assert reference() is None


def test_registered_memory_that_keeps_its_buffer_is_collected():
    class Bytes(bytearray):
        pass

    def build():
        memory = Bytes(4096)
        memory.buffer = cuprum.utils.register_host_memory(memory)
        memory.part = memory.buffer[:16]
        memory.view = view_of(memory.part)
        return [memory, memory.buffer, memory.view]

    check_collected(build)


# ---- memory of a resource ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "share",
    [
        lambda buffer: buffer[8:16],
        lambda buffer: view_of(buffer[8:16]),
        lambda buffer: StridedMemoryView.from_any_interface(buffer, -1),
        lambda buffer: [view_of(buffer), buffer[:8], buffer[4:], buffer],
    ],
)
@pytest.mark.parametrize("is_closed", [False, True])
def test_a_resource_that_keeps_what_shares_its_memory_is_collected(stream, share, is_closed):
    log = []

    def build():
        resource = Resource(log)
        buffer = resource.allocate(64, stream=stream)
        resource.kept.append(share(buffer))
        if is_closed:
            buffer.close()
        assert log == []
        return [resource]

    check_collected(build)
    assert log == [64], "freed once, by a resource that was still whole"


def test_memory_of_a_resource_is_freed_after_the_last_share_by_a_whole_resource(stream):
    with no_collection():
        log = []
        resource = Resource(log)
        view = view_of(resource.allocate(64, stream=stream))
        resource.kept.pop().close()
        reference = weakref.ref(resource)
        del resource
        gc.collect()
        assert reference().inner is not None
        derived = view.view(utils.StridedLayout((2, 4), None, 1))
        del view
        gc.collect()
        assert log == []
        del derived
        assert log == [64]
        assert reference() is None


def test_a_memoryview_keeps_a_cycle_of_a_resource_until_it_is_dropped(stream):
    # Python would release the memoryview after clearing the resource, which could then not free it.
    with no_collection():
        log = []
        resource = Resource(log)
        resource.memory = memoryview(resource.allocate(64, stream=stream))
        reference = weakref.ref(resource)
        del resource
        gc.collect()
        assert reference() is not None
        del reference().memory
        gc.collect()
        assert reference() is None
        assert log == [64]


def test_a_memoryview_keeps_a_cycle_of_a_foreign_stream_until_it_is_dropped(device, stream):
    with no_collection():
        foreign = ForeignStream(stream)
        foreign.ours = device.create_stream(foreign)
        foreign.host = LegacyPinnedMemoryResource().allocate(64, stream=foreign.ours)
        foreign.memory = memoryview(foreign.host)
        reference = weakref.ref(foreign)
        del foreign
        gc.collect()
        assert reference().ours.is_done in (True, False)
        del reference().memory
        gc.collect()
        assert reference() is None


def test_a_batch_of_copies_may_be_the_last_to_hold_the_memory(device):
    order = device.create_stream()
    log = []
    resource = Resource(log)
    source = resource.allocate(64, stream=order)
    target = resource.allocate(64, stream=order)
    resource.kept.clear()
    utils.copy_batch(order, [source], [target])
    order.sync()
    del source, target
    assert log == [64, 64]


# ---- arrays of others --------------------------------------------------------------------------


class Array:
    """An array that offers memory through one protocol and keeps the view of it."""

    def __init__(self):
        self.memory = np.arange(8, dtype=np.int32)


class DLPackArray(Array):
    def __dlpack__(self, **arguments):
        return self.memory.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self.memory.__dlpack_device__()


class CudaArray(Array):
    @property
    def __cuda_array_interface__(self):
        return {"version": 3, "shape": (8,), "typestr": "<i4", "data": (self.address, False)}


class HostArray(Array):
    @property
    def __array_interface__(self):
        return self.memory.__array_interface__


class NumpyArray(np.ndarray):
    pass


def test_an_array_that_keeps_the_view_of_it_is_collected(device, stream):
    buffer = device.allocate(32, stream=stream)

    def through_cuda():
        array = CudaArray()
        array.address = buffer.handle
        array.view = StridedMemoryView.from_cuda_array_interface(array, -1)
        return [array, array.view]

    def through_dlpack():
        array = DLPackArray()
        array.view = StridedMemoryView.from_dlpack(array, -1)
        array.typed = array.view.view(dtype=np.uint32)
        return [array, array.view, array.typed]

    def through_array():
        array = HostArray()
        array.view = StridedMemoryView.from_array_interface(array)
        return [array, array.view]

    def of_numpy():
        array = np.zeros(8, np.int32).view(NumpyArray)
        array.view_of_it = StridedMemoryView.from_any_interface(array, -1)
        array.dtype_and_layout = array.view_of_it.dtype, array.view_of_it.layout
        return [array]

    for build in (through_cuda, through_dlpack, through_array):
        check_collected(build)
    # numpy's arrays do not support the collector, so a derived class only shows its attributes. The
    # view still shows its array.
    array = np.zeros(8, np.int32).view(NumpyArray)
    view = StridedMemoryView.from_any_interface(array, -1)
    assert array in [each for each in gc.get_referents(view) if each is array]
    del of_numpy
    buffer.close()


def test_a_viewed_argument_that_its_array_keeps_is_collected():
    def build():
        array = DLPackArray()

        @utils.args_viewable_as_strided_memory((0,))
        def keep(argument):
            array.argument = argument
            array.view = argument.view(-1)

        keep(array)
        return [array, array.view]

    check_collected(build)


def test_a_view_of_a_tensor_that_was_viewed_again_keeps_the_memory():
    with no_collection():
        owner = Owner()
        reference = weakref.ref(owner)
        view = StridedMemoryView.from_dlpack(owner.buffer, -1)
        again = view.view(utils.StridedLayout((4, 16), None, 1))
        owner.buffer.close()
        del owner, view
        gc.collect()
        assert reference() is not None
        assert again.exporting_obj is reference().buffer
        del again
        gc.collect()
        assert reference() is None


# ---- streams and pools of others ---------------------------------------------------------------


class ForeignStream:
    """A stream of another library, which may refer to ours."""

    def __init__(self, stream):
        self.inner = stream

    def __cuda_stream__(self):
        return (0, int(self.inner.handle))


def test_a_foreign_stream_that_keeps_ours_is_collected(device, stream):
    class Derived(cuprum.Stream):
        pass

    def build():
        foreign = ForeignStream(stream)
        foreign.ours = device.create_stream(foreign)
        foreign.again = device.create_stream(foreign.ours)
        foreign.derived = Derived._init(obj=foreign)
        foreign.derived_again = Derived._init(obj=foreign.ours)
        foreign.derived.me = foreign.derived
        foreign.event = foreign.ours.record()
        foreign.ours.sync()
        return [foreign, foreign.ours, foreign.again, foreign.derived, foreign.event]

    check_collected(build)


@pytest.mark.parametrize("is_told", [False, True])
def test_memory_that_grew_is_collected_with_a_foreign_stream(driver, device, stream, is_told):
    if not device.properties.get("virtual_memory_management_supported", 0):
        pytest.skip("the device has no virtual memory management")
    virtual = cuprum.VirtualMemoryResource(device)
    foreign = ForeignStream(stream)
    ours = device.create_stream(foreign)
    buffer = virtual.allocate(1, stream=stream if is_told else ours)
    if is_told:
        buffer.set_deallocation_stream(ours)
    size, end = ctypes.c_size_t(buffer.size), ctypes.c_ulonglong(buffer.handle + buffer.size)
    behind = ctypes.c_ulonglong()  # reserved, so that the allocation cannot grow in place
    nothing = ctypes.c_ulonglong(0)
    assert driver.cuMemAddressReserve(ctypes.byref(behind), size, None, end, nothing) == 0
    foreign.grown = virtual.modify_allocation(buffer, 2 * buffer.size)
    buffer.close()
    reference = weakref.ref(foreign)
    del foreign, ours
    gc.collect()
    assert reference() is None
    assert driver.cuMemAddressFree(behind, size) == 0


def test_closing_gives_up_a_foreign_stream(device, stream):
    foreign = ForeignStream(stream)
    reference = weakref.ref(foreign)
    ours = device.create_stream(foreign)
    del foreign
    assert reference() is not None
    ours.close()
    assert reference() is None
    ours.close()


@pytest.mark.parametrize("goes_first", ["collected", "closed", "dropped"])
def test_a_buffer_keeps_the_foreign_stream_that_it_is_freed_on(device, stream, goes_first):
    with no_collection():
        foreign = ForeignStream(stream)
        reference = weakref.ref(foreign)
        ours = device.create_stream(foreign)
        buffer = device.allocate(64, stream=ours)
        if goes_first == "collected":
            foreign.ours = ours
        elif goes_first == "closed":
            ours.close()
        del foreign, ours
        for _ in range(3):
            gc.collect()
            assert reference() is not None
            assert reference().inner is stream
        if goes_first == "collected":
            reference().ours.sync()  # it is still usable
            more = device.allocate(64, stream=reference().ours)
            more.close()
        buffer.close()
        del buffer
        gc.collect()
        assert reference() is None


def test_a_foreign_stream_of_a_cycle_outlives_it_for_a_buffer_that_was_told_later(device, stream):
    with no_collection():
        log = []

        class Telling(ForeignStream):
            def __del__(self):
                log.append("gone")

        foreign = Telling(stream)
        foreign.ours = device.create_stream(foreign)
        buffer = device.allocate(64, stream=stream)
        buffer.set_deallocation_stream(foreign.ours)
        del foreign
        gc.collect()
        kept = [each for each in gc.get_objects() if type(each) is Telling]
        assert len(kept) == 1
        assert kept[0].inner is stream
        kept[0].ours.sync()  # still usable
        again = device.allocate(64, stream=kept[0].ours)
        again.close()
        del again
        kept.clear()
        gc.collect()
        assert len([each for each in gc.get_objects() if type(each) is Telling]) == 1
        buffer.close()
        gc.collect()
        assert [each for each in gc.get_objects() if type(each) is Telling] == []
        assert log == ["gone"]


def test_a_cycle_through_a_buffer_that_is_freed_on_a_foreign_stream_is_collected(device, stream):
    def build():
        foreign = ForeignStream(stream)
        foreign.ours = device.create_stream(foreign)
        foreign.buffer = device.allocate(64, stream=foreign.ours)
        foreign.host = LegacyPinnedMemoryResource().allocate(64, stream=foreign.ours)
        foreign.part = foreign.buffer[:8]
        foreign.view = view_of(foreign.part)
        foreign.told = device.allocate(64, stream=stream)
        foreign.told.set_deallocation_stream(foreign.ours)
        foreign.told_last = device.allocate(64, stream=stream)
        foreign.told_last.set_deallocation_stream(device.create_stream(foreign))
        foreign.of_python = Resource().allocate(64, stream=foreign.ours)
        return [foreign, foreign.ours, foreign.buffer, foreign.told, foreign.view]

    check_collected(build)


def test_a_buffer_that_was_told_of_a_foreign_stream_is_collected_with_it(device, stream):
    def build():
        foreign = ForeignStream(stream)
        foreign.buffer = device.allocate(64, stream=stream)
        foreign.buffer.set_deallocation_stream(device.create_stream(foreign))
        return [foreign, foreign.buffer]  # only the buffer refers to the stream

    check_collected(build)


def test_a_buffer_keeps_no_stream_but_the_one_it_was_told_last(device, stream):
    with no_collection():
        buffer = device.allocate(64, stream=stream)
        references = []
        for _ in range(3):
            foreign = ForeignStream(stream)
            references.append(weakref.ref(foreign))
            buffer.set_deallocation_stream(device.create_stream(foreign))
        del foreign
        assert [each() is None for each in references] == [True, True, False]
        buffer.set_deallocation_stream(stream)
        assert references[-1]() is None
        buffer.close()


def test_a_foreign_pool_whose_owner_keeps_ours_is_collected(device, stream):
    pool = cuprum.DeviceMemoryResource(device, {"max_size": 1 << 20})

    def build():
        owner = Holder()
        owner.ours = cuprum.DeviceMemoryResource.from_handle(device, int(pool.handle), owner)
        owner.buffer = owner.ours.allocate(64, stream=stream)
        owner.view = view_of(owner.buffer)
        return [owner, owner.ours, owner.buffer]

    check_collected(build)
    owner = Holder()
    reference = weakref.ref(owner)
    ours = cuprum.DeviceMemoryResource.from_handle(device, int(pool.handle), owner)
    del owner
    assert reference() is not None
    ours.close()
    assert reference() is None
    stream.sync()
    pool.close()


def test_memory_keeps_the_owner_of_a_foreign_pool(device, stream):
    pool = cuprum.DeviceMemoryResource(device, {"max_size": 1 << 20})
    with no_collection():
        owner = Holder()
        owner.ours = cuprum.DeviceMemoryResource.from_handle(device, int(pool.handle), owner)
        buffer = owner.ours.allocate(64, stream=stream)
        view = view_of(buffer)
        buffer.close()
        reference = weakref.ref(owner)
        del owner, buffer
        gc.collect()
        # The view keeps the memory's pool; a closed buffer keeps nothing.
        assert reference() is not None
        assert reference().ours.handle == pool.handle
        del view
        gc.collect()
        assert reference() is None
    stream.sync()
    pool.close()


# ---- objects with options ----------------------------------------------------------------------


def program_cycle(device):
    program = cuprum.Program("__global__ void nothing() {}", "c++", {"name": "cycle"})
    program.options.program = program
    return [program, program.options]


def linker_cycle(device):
    code = cuprum.Program("__global__ void nothing() {}", "c++").compile("ptx")
    options = cuprum.LinkerOptions(arch=f"sm_{device.arch}")
    linker = cuprum.Linker(code, options=options)
    options.linker = linker
    linker_options = getattr(linker, "options", options)
    linker_options.linker = linker
    return [linker, linker_options]


def virtual_memory_cycle(device):
    options = cuprum.VirtualMemoryResourceOptions()
    resource = cuprum.VirtualMemoryResource(device, options)
    resource.config.resource = resource
    return [resource, resource.config]


def launch_config_cycle(device):
    class Config(cuprum.LaunchConfig):
        pass

    config = Config(grid=1, block=1, launch_completion_event=device.create_event())
    config.me = config
    return [config]


@pytest.mark.parametrize(
    "build", [program_cycle, linker_cycle, virtual_memory_cycle, launch_config_cycle]
)
def test_an_object_whose_options_refer_to_it_is_collected(device, build):
    check_collected(build, device)


def test_a_guard_that_a_context_of_a_cycle_keeps_is_collected(device):
    def build():
        holder = Holder()
        holder.context = device.context
        holder.guard = holder.context.as_current()
        holder.me = holder
        return [holder, holder.guard]

    check_collected(build)


def test_a_launch_configuration_shows_the_collector_what_it_keeps(device):
    event = device.create_event()
    config = cuprum.LaunchConfig(grid=1, block=1, launch_completion_event=event)
    (extras,) = [each for each in gc.get_referents(config) if isinstance(each, dict)]
    assert event in extras.values()


# ---- several at once ---------------------------------------------------------------------------


def test_a_graph_of_many_objects_is_collected(device, stream, module):
    log = []

    def build():
        foreign = ForeignStream(stream)
        resource = Resource(log)
        owner = Owner()
        ours = device.create_stream(foreign)
        buffer = resource.allocate(64, stream=stream)
        kernel = module.get_kernel("empty")
        holder = Holder()
        holder.all = [kernel, module, ours.record(), cuprum.LaunchConfig(grid=1, block=1)]
        foreign.next = [resource, holder]
        resource.next = owner
        owner.next = view_of(buffer[4:20])
        holder.next = [foreign, ours, owner.buffer[1:], view_of(owner.buffer), kernel]
        return [foreign, resource, owner, ours, buffer, owner.next, holder, kernel]

    check_collected(build)
    assert log == [64]


def test_a_host_function_keeps_its_stream_until_it_ran(device):
    with no_collection():
        order = device.create_stream()
        reference = weakref.ref(order)

        def function(captured=order):
            pass

        # The queue refers to the function, and the function to the stream that has the queue.
        order.launch_host(function)
        order.sync()
        del order, function
        # The next call that checks for finished work releases functions that have run.
        device.create_stream().launch_host(lambda: None)
        device.sync()
        other = device.create_stream()
        other.sync()
        other.close()
        gc.collect()
        assert reference() is None


# ---- every class -------------------------------------------------------------------------------


def native_classes():
    return sorted(
        (each for each in vars(_cuprum).values() if type(each).__name__.startswith("nb_type")),
        key=lambda each: each.__name__,
    )


MADE = {
    "Device": lambda cls, device: cls(device.device_id),
    "Buffer": lambda cls, device: cls.from_handle(0, 0),
    "DeviceMemoryResource": lambda cls, device: cls(device),
    "LaunchConfig": lambda cls, device: cls(grid=1, block=1),
    "LegacyPinnedMemoryResource": lambda cls, device: cls(),
    "MemoryResource": lambda cls, device: cls(),
    "Program": lambda cls, device: cls("__global__ void nothing() {}", "c++"),
    "Stream": lambda cls, device: cls._init(),
    "StridedLayout": lambda cls, device: cls((1,), None, 1),
    "StridedMemoryView": lambda cls, device: cls.from_any_interface(np.zeros(1), -1),
    "SynchronousMemoryResource": lambda cls, device: cls(device),
    "VirtualMemoryResource": lambda cls, device: cls(device),
}


@pytest.mark.parametrize("base", native_classes(), ids=lambda each: each.__name__)
def test_an_object_of_a_derived_class_with_attributes_is_collected(device, base):
    def build():
        derived = type("Derived", (base,), {"__slots__": ("__dict__", "me")})
        make = MADE.get(base.__name__)
        made = make(derived, device) if make is not None else derived.__new__(derived)
        if type(made) is not derived:  # a factory that always creates the base class
            made = derived.__new__(derived)
        holder = Holder()
        made.me = [made, holder]
        holder.made = made
        return [holder]

    check_collected(build)


def test_a_device_keeps_its_resource_until_another_is_set(device):
    original = device.memory_resource
    resource = Resource()
    resource.device = device
    reference = weakref.ref(resource)
    device.memory_resource = resource
    del resource
    gc.collect()
    assert reference() is not None, "a device lives as long as the process"
    device.memory_resource = original
    gc.collect()
    assert reference() is None
