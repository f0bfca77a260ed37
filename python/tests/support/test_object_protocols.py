# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Equality, hash, weak references, repr, pickling and subclassing of every public class.

Exceptions, options, named tuples and enumerations each follow one rule. Every other class has a row
in TABLE; a public class without a row fails a test.
"""

import copy
import dataclasses
import enum
import importlib
import inspect
import pickle
import re
import types
import weakref

import pytest
from headless_gl import HeadlessGL

import cuprum

MODULES = (
    "cuprum",
    "cuprum.typing",
    "cuprum.utils",
    "cuprum.texture",
    "cuprum.trace",
    "cuprum.testing",
)


@dataclasses.dataclass
class Row:
    """The expectations for a class."""

    make: object  # a function of the resources below
    other: object = None  # makes an object that is not equal
    same: object = None  # makes an equal object from one; None: equality is identity
    repr: str = ""  # must match the whole text
    is_hashable: bool = True
    is_weakly_referenced: bool = True
    is_picklable: bool = False
    is_subclassed: bool = True
    error_when_made: object = RuntimeError  # when the class is called without arguments


def handle_of(name):
    return rf"<{name} handle=0x[0-9a-f]+>"


TABLE = {
    "Buffer": Row(
        make=lambda at: at.device.allocate(64, stream=at.stream),
        other=lambda at: at.device.allocate(64, stream=at.stream),
        repr=r"<Buffer ptr=0x[0-9a-f]+ size=64 kind=device device=0 resource=\w+>",
    ),
    "Context": Row(
        make=lambda at: cuprum.Context.create(at.device),
        other=lambda at: at.device.context,
        same=lambda at, made: at.keep(made.create_stream()).context,
        repr=r"<Context handle=0x[0-9a-f]+ device=0>",
    ),
    "Device": Row(
        make=lambda at: at.device,
        same=lambda at, made: cuprum.Device(made.device_id),
        repr=r"<Device 0 \(.+\)>",
        is_picklable=True,
        error_when_made=None,
    ),
    "DeviceMemoryResource": Row(
        make=lambda at: cuprum.DeviceMemoryResource(at.device, {"max_size": 1 << 20}),
        other=lambda at: cuprum.DeviceMemoryResource(at.device, {"max_size": 1 << 20}),
        repr=r"<DeviceMemoryResource (device=0 )?handle=0x[0-9a-f]+>",
        error_when_made=TypeError,
    ),
    "DeviceResources": Row(make=lambda at: at.device.resources, repr=r"<DeviceResources device=0>"),
    "Event": Row(
        make=lambda at: at.stream.record(),
        other=lambda at: at.stream.record(),
        same=lambda at, made: at.stream.record(made),
        repr=r"<Event handle=0x[0-9a-f]+ device=0 timing=off>",
    ),
    "ExternalMemory": Row(
        make=lambda at: at.external_memory(),
        other=lambda at: at.external_memory(),
        repr=r"<ExternalMemory handle=0x[0-9a-f]+ opaque_fd size=4096>",
    ),
    "ExternalSemaphore": Row(
        make=lambda at: at.external_semaphore(),
        other=lambda at: at.external_semaphore(),
        repr=r"<ExternalSemaphore handle=0x[0-9a-f]+ timeline_fd>",
    ),
    "GraphicsResource": Row(
        make=lambda at: at.graphics_resource(),
        other=lambda at: at.graphics_resource(),
        repr=handle_of("GraphicsResource"),
    ),
    "Host": Row(
        make=lambda at: cuprum.Host(1),
        other=lambda at: cuprum.Host(),
        same=lambda at, made: cuprum.Host(numa_id=1),
        repr=r"Host\(numa_id=1\)",
        is_picklable=True,
        error_when_made=None,
    ),
    "Kernel": Row(
        make=lambda at: at.module.get_kernel("empty"),
        other=lambda at: at.module.get_kernel("add_one"),
        same=lambda at, made: at.module.get_kernel("empty"),
        repr=r"<Kernel name='empty' parameters=\(\) handle=0x[0-9a-f]+>",
    ),
    "LaunchConfig": Row(
        make=lambda at: cuprum.LaunchConfig(grid=2, block=32),
        other=lambda at: cuprum.LaunchConfig(grid=2, block=64),
        same=lambda at, made: cuprum.LaunchConfig(grid=(2, 1, 1), block=32),
        repr=r"LaunchConfig\(grid=\(2, 1, 1\), .*block=\(32, 1, 1\).*\)",
        is_picklable=True,
        error_when_made=ValueError,
    ),
    "Linker": Row(
        make=lambda at: at.linker(),
        other=lambda at: at.linker(),
        repr=r"<Linker name='.+' backend='(nvJitLink|driver)'>",
        error_when_made=(TypeError, ValueError),
    ),
    "ManagedBuffer": Row(
        make=lambda at: cuprum.ManagedBuffer.from_handle(4096, 16),
        other=lambda at: cuprum.ManagedBuffer.from_handle(8192, 16),
        same=lambda at, made: cuprum.ManagedBuffer.from_handle(4096, 16),
        repr=r"<ManagedBuffer ptr=0x1000 size=16.*>",
    ),
    "ManagedMemoryResource": Row(
        make=lambda at: cuprum.ManagedMemoryResource({}),
        other=lambda at: cuprum.ManagedMemoryResource({}),
        repr=r"<ManagedMemoryResource (device=0 )?handle=0x[0-9a-f]+>",
        error_when_made=None,
    ),
    "MemoryPool": Row(
        make=lambda at: cuprum.DeviceMemoryResource(at.device, {"max_size": 1 << 20}),
        repr=r"<.*MemoryResource.*>",
    ),
    "MemoryResource": Row(
        make=lambda at: type("Mine", (cuprum.MemoryResource,), {})(), repr=r".*Mine.*"
    ),
    "ObjectCode": Row(
        make=lambda at: at.module,
        repr=r"<ObjectCode name='.+' code_type='.+' size=\d+>",
        is_picklable=True,
    ),
    "PinnedMemoryResource": Row(
        make=lambda at: cuprum.PinnedMemoryResource({"max_size": 1 << 20}),
        other=lambda at: cuprum.PinnedMemoryResource({"max_size": 1 << 20}),
        repr=r"<PinnedMemoryResource (device=0 )?handle=0x[0-9a-f]+>",
        error_when_made=None,
    ),
    "SynchronousMemoryResource": Row(
        make=lambda at: cuprum.SynchronousMemoryResource(at.device),
        other=lambda at: cuprum.SynchronousMemoryResource(at.device),
        repr=r"<SynchronousMemoryResource (device=0 )?at 0x[0-9a-f]+>",
        error_when_made=TypeError,
    ),
    "TensorMapDescriptor": Row(
        make=lambda at: at.tensor_map(),
        other=lambda at: at.tensor_map(),
        repr=r"TensorMapDescriptor\(tiled, rank=1, dtype=UINT8, swizzle=NONE\)",
    ),
    "VirtualMemoryResource": Row(
        make=lambda at: cuprum.VirtualMemoryResource(at.device),
        other=lambda at: cuprum.VirtualMemoryResource(at.device),
        repr=r"<VirtualMemoryResource (device=0 )?at 0x[0-9a-f]+>",
        error_when_made=TypeError,
    ),
    "GraphMemoryResource": Row(
        make=lambda at: cuprum.GraphMemoryResource(at.device),
        same=lambda at, made: cuprum.GraphMemoryResource(made.device_id),
        repr=r"<GraphMemoryResource (device=0 )?at 0x[0-9a-f]+>",
        error_when_made=TypeError,
    ),
    "LegacyPinnedMemoryResource": Row(
        make=lambda at: cuprum.LegacyPinnedMemoryResource(),
        other=lambda at: cuprum.LegacyPinnedMemoryResource(),
        repr=r"<LegacyPinnedMemoryResource (device=0 )?at 0x[0-9a-f]+>",
        error_when_made=None,
    ),
    "Program": Row(
        make=lambda at: cuprum.Program("__global__ void k() {}", "c++"),
        other=lambda at: cuprum.Program("__global__ void k() {}", "c++"),
        repr=r"<Program name='.+' code_type='c\+\+' arch='sm_\d+a?' backend='NVRTC'>",
        error_when_made=TypeError,
    ),
    "SMResource": Row(
        make=lambda at: at.resources("sm"), repr=r"<SMResource sm_count=\d+ device=0>"
    ),
    "Stream": Row(
        make=lambda at: at.device.create_stream(),
        other=lambda at: at.device.create_stream(),
        same=lambda at, made: cuprum.Stream.from_handle(int(made.handle)),
        repr=r"<Stream handle=0x[0-9a-f]+ context=0x[0-9a-f]+>",
    ),
    "WorkqueueResource": Row(
        make=lambda at: at.resources("workqueue"), repr=r"<WorkqueueResource .+ device=0>"
    ),
    # ---- cuprum.trace --------------------------------------------------------------------------
    "Timeline": Row(
        make=lambda at: cuprum.trace.Timeline(),
        other=lambda at: cuprum.trace.Timeline(),
        repr=r"<Timeline 0 events, 0 us>",
        is_picklable=True,
        error_when_made=None,
    ),
    # ---- cuprum.testing ------------------------------------------------------------------------
    "FaultInjection": Row(
        make=lambda at: cuprum.testing.fail_call("cuInit"),
        other=lambda at: cuprum.testing.fail_call("cuInit"),
        repr=r"<FaultInjection function='.+' nth=\d+ code=\d+>",
        is_weakly_referenced=False,
        error_when_made=TypeError,
    ),
    # ---- cuprum.texture ------------------------------------------------------------------------
    "MipmappedArray": Row(
        make=lambda at: at.device.create_mipmapped_array({"shape": (8, 8), "format": "uint8"}),
        other=lambda at: at.device.create_mipmapped_array({"shape": (8, 8), "format": "uint8"}),
        repr=r"MipmappedArray\(shape=\(8, 8\), format=UINT8, num_channels=1, num_levels=4\)",
    ),
    "OpaqueArray": Row(
        make=lambda at: at.array(),
        other=lambda at: at.array(),
        repr=r"OpaqueArray\(shape=\(8, 8\), format=UINT8, num_channels=1\)",
    ),
    "ResourceDescriptor": Row(
        make=lambda at: at.resource(),
        other=lambda at: at.resource(),
        repr=r"ResourceDescriptor\(kind='array'\)",
    ),
    "SurfaceObject": Row(
        make=lambda at: at.device.create_surface_object(resource=at.resource()),
        other=lambda at: at.device.create_surface_object(resource=at.resource()),
        repr=r"SurfaceObject\(handle=0x[0-9a-f]+\)",
    ),
    "TextureObject": Row(
        make=lambda at: at.device.create_texture_object(resource=at.resource()),
        other=lambda at: at.device.create_texture_object(resource=at.resource()),
        repr=r"TextureObject\(handle=0x[0-9a-f]+\)",
    ),
    # ---- cuprum.utils --------------------------------------------------------------------------
    "FileStreamProgramCache": Row(
        make=lambda at: cuprum.utils.FileStreamProgramCache(at.folder),
        other=lambda at: cuprum.utils.FileStreamProgramCache(at.folder),
        repr=r"<FileStreamProgramCache path='.+'>",
        error_when_made=None,
    ),
    "InMemoryProgramCache": Row(
        make=lambda at: cuprum.utils.InMemoryProgramCache(),
        other=lambda at: cuprum.utils.InMemoryProgramCache(),
        repr=r"<InMemoryProgramCache entries=0 size_bytes=0>",
        error_when_made=None,
    ),
    "StridedLayout": Row(
        make=lambda at: cuprum.utils.StridedLayout((2, 3), (3, 1), 4),
        repr=r".+",
        error_when_made=TypeError,
    ),
    "StridedMemoryView": Row(
        make=lambda at: at.view(), repr=r".*StridedMemoryView.*", error_when_made=None
    ),
}


class Resources:
    """Creates the objects that rows need, and closes them."""

    def __init__(self, device, stream, module, folder):
        self.device = device
        self.stream = stream
        self.module = module
        self.folder = folder
        self.gl = None
        self.kept = []

    def keep(self, thing):
        self.kept.append(thing)
        return thing

    def resources(self, name):
        try:
            return getattr(self.device.resources, name)
        except cuprum.CUDAError as error:
            pytest.skip(str(error))

    def linker(self):
        code = cuprum.Program('extern "C" __global__ void k() {}', "c++").compile("ptx")
        return cuprum.Linker(code, options={"arch": f"sm_{self.device.arch}"})

    def array(self):
        options = {"shape": (8, 8), "format": "uint8", "is_surface_load_store": True}
        return self.device.create_opaque_array(options)

    def resource(self):
        return cuprum.texture.ResourceDescriptor.from_opaque_array(self.keep(self.array()))

    def file(self):
        if not self.device.is_emulated:
            pytest.skip("the driver of a GPU imports no plain files")
        path = self.folder / "shared"
        path.write_bytes(bytes(4096))
        return self.keep(path.open("r+b"))

    def external_memory(self):
        return cuprum.ExternalMemory.from_fd(self.file(), 4096)

    def external_semaphore(self):
        return cuprum.ExternalSemaphore.from_fd(self.file(), handle_type="timeline_fd")

    def graphics_resource(self):
        numpy = pytest.importorskip("numpy")
        try:
            self.gl = self.gl or self.keep(HeadlessGL())
        except OSError as error:
            pytest.skip(f"no OpenGL: {error}")
        gl = self.gl
        if not self.device.is_emulated and "NVIDIA" not in gl.vendor:
            pytest.skip(f"OpenGL is that of {gl.vendor}, not of the GPU")
        buffer = gl.make_buffer(numpy.zeros(4))
        return self.keep(cuprum.GraphicsResource.from_gl_buffer(buffer))

    def view(self):
        numpy = pytest.importorskip("numpy")
        return cuprum.utils.StridedMemoryView.from_array_interface(numpy.zeros(3))

    def tensor_map(self):
        if self.device.compute_capability < (9, 0):
            pytest.skip("tensor maps need compute capability 9.0")
        buffer = self.keep(self.device.allocate(64, stream=self.stream))
        view = cuprum.utils.StridedMemoryView.from_any_interface(buffer, -1)
        return view.as_tensor_map((16,), data_type="uint8")

    def close(self):
        for thing in reversed(self.kept):
            # Do not close the fixtures' own objects and the current context.
            is_ours = thing not in (self.stream, self.module, self.device.context)
            if hasattr(thing, "close") and is_ours:
                thing.close()
        self.kept.clear()


@pytest.fixture
def at(device, stream, module, tmp_path):
    resources = Resources(device, stream, module, tmp_path)
    yield resources
    resources.close()


def public_classes():
    """Return every public class by name, except protocols."""
    found = {}
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        for name in module.__all__:
            value = getattr(module, name)
            is_ours = inspect.isclass(value) and value.__module__.startswith("cuprum")
            if is_ours and not getattr(value, "_is_protocol", False):
                found[value.__name__] = value
    return found


def is_generic(kind):
    """Return whether a class follows the rule of its kind."""
    return (
        issubclass(kind, (BaseException, enum.Enum, tuple))
        or dataclasses.is_dataclass(kind)
        or isinstance(kind, types.GenericAlias)
        or inspect.isabstract(kind)
    )


CLASSES = public_classes()
ROWS = [pytest.param(name, id=name) for name in TABLE]


def rows(condition):
    return [pytest.param(name, id=name) for name, row in TABLE.items() if condition(row)]


def test_every_public_class_has_a_row_or_a_rule():
    missing = {name for name, kind in CLASSES.items() if not is_generic(kind)} - set(TABLE)
    assert not missing, f"add these to TABLE: {sorted(missing)}"
    assert set(TABLE) <= set(CLASSES), "TABLE names a class that is not public"


# ---- the table ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ROWS)
def test_an_object_equals_itself_and_nothing_of_another_type(at, name):
    made = at.keep(TABLE[name].make(at))
    assert made == made
    assert not made != made  # noqa: SIM202
    for foreign in (None, 3, "text", object(), 0.5, ()):
        assert (made == foreign) is False
        assert (foreign == made) is False
        assert made != foreign


@pytest.mark.parametrize("name", rows(lambda row: row.other))
def test_different_objects_differ(at, name):
    made, other = at.keep(TABLE[name].make(at)), at.keep(TABLE[name].other(at))
    assert made != other
    if TABLE[name].is_hashable:
        assert len({made, other}) == 2
        assert hash(made) != hash(other)


@pytest.mark.parametrize("name", rows(lambda row: row.same))
def test_objects_that_stand_for_one_thing_are_equal(at, name):
    made = at.keep(TABLE[name].make(at))
    same = at.keep(TABLE[name].same(at, made))
    assert made == same
    assert same == made
    assert hash(made) == hash(same)
    assert {made: 1}[same] == 1


@pytest.mark.parametrize("name", ROWS)
def test_hash(at, name):
    made = at.keep(TABLE[name].make(at))
    if TABLE[name].is_hashable:
        assert hash(made) == hash(made)
    else:
        with pytest.raises(TypeError, match="unhashable"):
            hash(made)


@pytest.mark.parametrize("name", ROWS)
def test_weak_references(at, name):
    made = at.keep(TABLE[name].make(at))
    if TABLE[name].is_weakly_referenced:
        assert weakref.ref(made)() is made
        assert weakref.WeakValueDictionary({1: made})[1] is made
    else:
        with pytest.raises(TypeError, match="weak reference"):
            weakref.ref(made)


@pytest.mark.parametrize("name", ROWS)
def test_repr_says_what_it_is(at, name):
    made = at.keep(TABLE[name].make(at))
    assert re.fullmatch(TABLE[name].repr, repr(made)), repr(made)


# Their close() does nothing, as in the reference.
HAVE_NOTHING_TO_CLOSE = ("FileStreamProgramCache", "GraphMemoryResource", "InMemoryProgramCache")


@pytest.mark.parametrize("name", ROWS)
def test_a_closed_object_says_so_and_has_a_repr(at, name):
    row = TABLE[name]
    if not hasattr(CLASSES[name], "close") or not row.other:
        pytest.skip("is not closed")
    made = at.keep(row.make(at))
    if made is not at.module:
        tells = hasattr(CLASSES[name], "is_closed")
        assert tells or name in HAVE_NOTHING_TO_CLOSE
        assert not (tells and made.is_closed)
        made.close()
        made.close()
        assert not tells or made.is_closed
        assert repr(made)
        assert made == made


@pytest.mark.parametrize("name", ROWS)
def test_pickling_works_or_is_refused(at, name):
    row = TABLE[name]
    made = at.keep(row.make(at))
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        if row.is_picklable:
            again = at.keep(pickle.loads(pickle.dumps(made, protocol)))
            assert type(again) is type(made)
        else:
            with pytest.raises((TypeError, RuntimeError), match=r"pickle|ipc_enabled|IPC"):
                pickle.dumps(made, protocol)


@pytest.mark.parametrize("name", ROWS)
def test_subclassing(name):
    kind = CLASSES[name]
    if TABLE[name].is_subclassed:
        derived = type(f"My{name}", (kind,), {"extra": 1})
        assert issubclass(derived, kind)
        assert derived.extra == 1
    else:
        with pytest.raises(TypeError, match=r"not an acceptable base type|prohibits subclassing"):
            type(f"My{name}", (kind,), {})


@pytest.mark.parametrize("name", rows(lambda row: row.error_when_made))
def test_what_is_made_elsewhere_says_where(name):
    if name == "MemoryResource":
        pytest.skip("a base class: Python classes derive from it")
    with pytest.raises(TABLE[name].error_when_made) as caught:
        CLASSES[name]()
    assert str(caught.value)


def test_abstract_classes_are_derived_from():
    for kind in filter(inspect.isabstract, CLASSES.values()):
        with pytest.raises(TypeError, match="abstract"):
            kind()
        assert issubclass(type("Mine", (kind,), {}), kind)


# ---- the rules ---------------------------------------------------------------------------------


def of_kind(condition):
    return [pytest.param(kind, id=name) for name, kind in CLASSES.items() if condition(kind)]


@pytest.mark.parametrize("kind", of_kind(lambda kind: issubclass(kind, BaseException)))
def test_exceptions_can_be_pickled_with_their_details(kind):
    error = kind("text")
    error.extra = [1]
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert str(again) == "text"
    assert again.extra == [1]
    assert issubclass(kind, Exception)


@pytest.mark.parametrize("kind", of_kind(dataclasses.is_dataclass))
def test_options_are_values(kind):
    needed = [
        field.name
        for field in dataclasses.fields(kind)
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    ]
    arguments = dict.fromkeys(needed, ())
    if "shape" in arguments:  # options of arrays are checked at once
        arguments.update(shape=(8, 4), format="uint8")
    made = kind(**arguments)
    assert made == kind(**arguments)
    assert made != 3
    assert repr(made).startswith(f"{kind.__name__}(")
    assert pickle.loads(pickle.dumps(made)) == made
    assert copy.copy(made) == made
    assert weakref.ref(made)() is made
    assert kind.__module__.startswith("cuprum")


@pytest.mark.parametrize("kind", of_kind(lambda kind: issubclass(kind, enum.Enum)))
def test_enumerations_are_their_strings(kind):
    for member in kind:
        assert isinstance(member, str)
        assert kind(str(member)) is member
        assert member == str(member)
        assert pickle.loads(pickle.dumps(member)) is member


@pytest.mark.parametrize("kind", of_kind(lambda kind: issubclass(kind, tuple)))
def test_named_tuples_are_values(kind):
    made = kind(*range(len(kind._fields)))
    assert made == tuple(range(len(kind._fields)))
    assert pickle.loads(pickle.dumps(made)) == made
    assert type(pickle.loads(pickle.dumps(made))) is kind
    assert repr(made).startswith(f"{kind.__name__}(")
