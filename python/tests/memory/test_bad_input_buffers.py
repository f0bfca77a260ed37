# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Every method of buffers with every kind of bad input."""

import gc
import pickle
import types

import numpy as np
import pytest
from bad_input import HUGE, addresses, buffers, check, check_all, integers, numbers, streams

import cuprum
from cuprum import Buffer, Host, LegacyPinnedMemoryResource, ManagedBuffer, ManagedMemoryResource
from cuprum.utils import (
    CopyOptions,
    copy_batch,
    discard_batch,
    discard_prefetch_batch,
    prefetch_batch,
    register_host_memory,
)

BYTES = 64


@pytest.fixture
def memory(device, stream):
    """Two buffers of one size, a smaller one, one in host memory, and a closed one."""
    made = types.SimpleNamespace(
        a=device.allocate(BYTES, stream=stream),
        b=device.allocate(BYTES, stream=stream),
        small=device.allocate(BYTES // 2, stream=stream),
        host=LegacyPinnedMemoryResource().allocate(BYTES),
        closed=device.allocate(BYTES, stream=stream),
        stream=stream,
        device=device,
    )
    made.closed.close()
    yield made
    for name in ("a", "b", "small", "host"):
        getattr(made, name).close()


@pytest.fixture
def managed(device, stream):
    if not device.properties.get("concurrent_managed_access", 0):
        pytest.skip("the device cannot share managed memory with the host")
    pool = ManagedMemoryResource({"preferred_location": 0})
    buffer = pool.allocate(BYTES, stream=stream)
    yield buffer
    buffer.close()
    pool.close()


# Functions that take a stream, and whether the stream may be None.
STREAM_TAKERS = {
    "copy_to": (lambda m, s: m.a.copy_to(m.b, stream=s), False),
    "copy_to a new one": (lambda m, s: m.a.copy_to(stream=s), False),
    "copy_to with options": (lambda m, s: m.a.copy_to(m.b, stream=s, options=CopyOptions()), False),
    "copy_from": (lambda m, s: m.a.copy_from(m.b, stream=s), False),
    "copy_from_host": (lambda m, s: m.a.copy_from_host(bytes(BYTES), stream=s), False),
    "copy_to_host": (lambda m, s: m.a.copy_to_host(bytearray(BYTES), stream=s), False),
    "fill": (lambda m, s: m.a.fill(0, stream=s), False),
    "copy_region_from": (lambda m, s: m.a.copy_region_from(m.b, (4, 4), stream=s), False),
    "fill_region": (lambda m, s: m.a.fill_region(0, (4, 4), stream=s), False),
    "set_deallocation_stream": (lambda m, s: m.a.set_deallocation_stream(s), False),
    "close": (lambda m, s: m.a.close(s), True),
    "from_handle": (
        lambda m, s: Buffer.from_handle(4096, 1, m.device.memory_resource, stream=s),
        True,
    ),
}


@pytest.mark.parametrize("name", STREAM_TAKERS)
def test_streams_that_are_none(memory, name):
    use, is_none_allowed = STREAM_TAKERS[name]
    check_all(name, lambda s: use(memory, s), streams(memory.device, not is_none_allowed))
    assert memory.a.size == BYTES, "nothing was closed on the way"


# Functions that need open buffers; the tests pass a closed one.
BUFFER_USERS = {
    "handle": lambda m, x: x.handle,
    "size": lambda m, x: x.size,
    "device_id": lambda m, x: x.device_id,
    "is_device_accessible": lambda m, x: x.is_device_accessible,
    "is_host_accessible": lambda m, x: x.is_host_accessible,
    "is_managed": lambda m, x: x.is_managed,
    "is_mapped": lambda m, x: x.is_mapped,
    "ipc_descriptor": lambda m, x: x.ipc_descriptor,
    "pickle": lambda m, x: pickle.dumps(x),
    "copy_to": lambda m, x: x.copy_to(m.a, stream=m.stream),
    "copy_to a new one": lambda m, x: x.copy_to(stream=m.stream),
    "copy_to it": lambda m, x: m.a.copy_to(x, stream=m.stream),
    "copy_from": lambda m, x: x.copy_from(m.a, stream=m.stream),
    "copy_from it": lambda m, x: m.a.copy_from(x, stream=m.stream),
    "copy_from_host": lambda m, x: x.copy_from_host(bytes(BYTES), stream=m.stream),
    "copy_to_host": lambda m, x: x.copy_to_host(bytearray(BYTES), stream=m.stream),
    "fill": lambda m, x: x.fill(0, stream=m.stream),
    "copy_region_from": lambda m, x: x.copy_region_from(m.a, (4,), stream=m.stream),
    "copy_region_from it": lambda m, x: m.a.copy_region_from(x, (4,), stream=m.stream),
    "fill_region": lambda m, x: x.fill_region(0, (4,), stream=m.stream),
    "slice": lambda m, x: x[0:4],
    "memoryview": lambda m, x: memoryview(x),
    "__dlpack__": lambda m, x: x.__dlpack__(),
    "__dlpack_device__": lambda m, x: x.__dlpack_device__(),
    "set_deallocation_stream": lambda m, x: x.set_deallocation_stream(m.stream),
    "copy_batch from it": lambda m, x: copy_batch(m.stream, [x], [m.a]),
    "copy_batch to it": lambda m, x: copy_batch(m.stream, [m.a], [x]),
    "prefetch_batch": lambda m, x: prefetch_batch(m.stream, [x], m.device),
    "discard_batch": lambda m, x: discard_batch(m.stream, [x]),
    "discard_prefetch_batch": lambda m, x: discard_prefetch_batch(m.stream, [x], m.device),
}


@pytest.mark.parametrize("name", BUFFER_USERS)
def test_closed_buffers(memory, name):
    check(
        name, lambda x: BUFFER_USERS[name](memory, x), memory.closed, cuprum.ClosedError, "closed"
    )


def test_a_closed_buffer_can_still_be_looked_at(memory):
    closed = memory.closed
    closed.close()
    closed.close(memory.stream)
    assert repr(closed) == "<Buffer closed>"
    assert closed != memory.a
    assert (closed.memory_resource, closed.owner) == (None, None)
    assert isinstance(hash(closed), int)
    with closed:
        pass


def test_things_that_are_no_buffer(memory):
    m = memory
    check_all("copy_from", lambda x: m.a.copy_from(x, stream=m.stream), buffers("src"))
    region = lambda x: m.a.copy_region_from(x, (4,), stream=m.stream)  # noqa: E731
    check_all("copy_region_from", region, buffers("src"))
    given = [row for row in buffers("dst") if row[0] is not None]  # None requests a new buffer
    check_all("copy_to", lambda x: m.a.copy_to(x, stream=m.stream), given)
    with pytest.raises(RuntimeError, match=r"not made directly; use Device\.allocate"):
        Buffer()


def test_numbers_that_are_none(memory):
    m = memory
    check_all("from_handle", lambda x: Buffer.from_handle(x, 16), addresses("ptr"))
    check_all("from_handle", lambda x: Buffer.from_handle(4096, x), integers("size"))
    for made in (Buffer, ManagedBuffer):
        with pytest.raises(ValueError, match=r"size is 17 .*: the range exceeds the address space"):
            made.from_handle((1 << 64) - 17, 17)
    check_all("ManagedBuffer", lambda x: ManagedBuffer.from_handle(x, 16), addresses("ptr"))
    check_all("ManagedBuffer", lambda x: ManagedBuffer.from_handle(4096, x), integers("size"))
    for name in (
        "offset",
        "pitch",
        "rows_per_slice",
        "src_offset",
        "src_pitch",
        "src_rows_per_slice",
    ):
        copy = lambda x, name=name: m.a.copy_region_from(  # noqa: E731
            m.b, (4, 2), stream=m.stream, **{name: x}
        )
        check_all(name, copy, [row for row in integers(name) if row[0] is not None])
    for name in ("offset", "pitch"):
        fill = lambda x, name=name: m.a.fill_region(  # noqa: E731
            0, (4, 2), stream=m.stream, **{name: x}
        )
        check_all(name, fill, [row for row in integers(name) if row[0] is not None])
    copy = lambda x: m.a.copy_region_from(m.b, x, stream=m.stream)  # noqa: E731
    check_all("copy_region_from", copy, numbers("extent"))
    check_all("fill_region", lambda x: m.a.fill_region(0, x, stream=m.stream), numbers("extent"))


def test_wrapped_memory_has_one_way_to_end(memory):
    resource = memory.device.memory_resource
    for arguments, keywords, error, text in (
        ((4096, 1, "x"), {}, TypeError, "mr must be a MemoryResource, got str"),
        ((4096, 1, resource), {"owner": 3}, ValueError, "mr and owner cannot be both specified"),
        ((4096, 1), {"stream": memory.stream}, ValueError, "stream requires a memory resource"),
    ):
        with pytest.raises(error, match=text):
            Buffer.from_handle(*arguments, **keywords)


def test_sizes_that_do_not_match(memory):
    m = memory
    text = r"buffer sizes mismatch: the source has 64 bytes and the destination 32"
    with pytest.raises(ValueError, match=text):
        m.a.copy_to(m.small, stream=m.stream)
    with pytest.raises(ValueError, match=text):
        m.small.copy_from(m.a, stream=m.stream)
    with pytest.raises(ValueError, match="source has 3 bytes and the destination 64"):
        m.a.copy_from_host(bytes(3), stream=m.stream)
    with pytest.raises(ValueError, match="source has 64 bytes and the destination 65"):
        m.a.copy_to_host(bytearray(65), stream=m.stream)
    with pytest.raises(ValueError, match="size mismatch at index 1: the source has 64"):
        copy_batch(m.stream, [m.a, m.a], [m.b, m.small])
    for extent, text in (
        ((65,), "takes 65 bytes from offset 0, but the buffer has 64"),
        ((8, 9), "takes 72 bytes from offset 0, but the buffer has 64"),
        ((4, 4, 5), "takes 80 bytes from offset 0, but the buffer has 64"),
        ((1 << 62, 4), "beyond any memory: 4611686018427387904 times 4"),
        ((-1, 4), r"extent must not be negative, got \(-1, 4\)"),
        ((1, 1, 1, 1), "extent must have 1 to 3 numbers, got 4"),
    ):
        with pytest.raises(ValueError, match=text):
            m.a.copy_region_from(m.b, extent, stream=m.stream)


def test_nothing_is_copied_and_filled_without_the_driver(memory, device, stream):
    with device.allocate(0, stream=stream) as empty:
        assert (empty.handle, empty.size) == (0, 0)
        empty.copy_to(empty, stream=stream)
        empty.fill(1, stream=stream)
        empty.copy_from_host(b"", stream=stream)
        empty[0:0].copy_to(memory.a[5:5], stream=stream)
        empty.copy_region_from(memory.a, (0, 0), stream=stream)
        assert bytes(memoryview(empty)) == b""


def test_ranges_that_overlap(memory):
    m = memory
    text = "source and destination overlap: 40 bytes each, 8 bytes apart; copy through another"
    with pytest.raises(ValueError, match=text):
        m.a[:40].copy_to(m.a[8:48], stream=m.stream)
    with pytest.raises(ValueError, match="overlap at index 0"):
        copy_batch(m.stream, [m.a[:40]], [m.a[8:48]])
    with pytest.raises(ValueError, match=r"overlap: .* 2 bytes apart; copy through another buffer"):
        m.a.copy_region_from(m.a, (4, 4), stream=m.stream, pitch=8, src_pitch=8, offset=2)
    seen = memoryview(m.host)
    with pytest.raises(ValueError, match="source and destination overlap"):
        m.host[:40].copy_from_host(seen[8:48], stream=m.stream)
    with pytest.raises(ValueError, match="source and destination overlap"):
        m.host[:40].copy_to_host(seen[8:48], stream=m.stream)
    seen.release()
    m.a.copy_to(m.a, stream=m.stream)  # changes nothing


def test_addresses_that_are_not_aligned(memory):
    m = memory
    with pytest.raises(ValueError, match=r"begins at address \d+, expected a multiple .* 4 bytes"):
        m.a[1:5].fill(b"abcd", stream=m.stream)
    with pytest.raises(ValueError, match=r"value has 4 bytes, expected a width that divides .* 6"):
        m.a[:6].fill(b"abcd", stream=m.stream)
    for keywords, text in (
        ({"extent": (8, 2), "offset": 2, "pitch": 16}, "the region's address is"),
        ({"extent": (8, 2), "pitch": 18}, "pitch is 18, expected a multiple of the value's 4"),
        ({"extent": (6, 2), "pitch": 16}, "width is 6, expected a multiple of the value's 4"),
    ):
        with pytest.raises(ValueError, match=text):
            m.a.fill_region(b"abcd", stream=m.stream, **keywords)
    m.a[1:3].copy_to(m.b[2:4], stream=m.stream)  # copies need no alignment


FILLS = {
    "str": ("x", TypeError, "value must be an int or have the buffer protocol, got str"),
    "None": (None, TypeError, "value must be an int or have the buffer protocol, got None"),
    "float": (1.5, TypeError, "value must be an int or have the buffer protocol, got float"),
    "negative": (-1, OverflowError, "value must be from 0 to 255 if it is an int, got -1; pass"),
    "large": (256, OverflowError, "got 256; pass bytes for a wider pattern"),
    "huge": (HUGE, OverflowError, f"got {HUGE}; pass bytes"),
    "no bytes": (b"", ValueError, "value must have 1, 2 or 4 bytes, got 0"),
    "three bytes": (b"abc", ValueError, "value must have 1, 2 or 4 bytes, got 3"),
    "eight bytes": (bytes(8), ValueError, "value must have 1, 2 or 4 bytes, got 8"),
}


@pytest.mark.parametrize("name", FILLS)
def test_values_to_fill_with(memory, name):
    check("fill", lambda x: memory.a.fill(x, stream=memory.stream), *FILLS[name])
    region = lambda x: memory.a.fill_region(x, (4, 4), stream=memory.stream)  # noqa: E731
    check("fill_region", region, *FILLS[name])


def test_host_memory_that_cannot_be_copied(memory):
    m = memory
    strided = np.zeros((BYTES, 2), np.uint8)[:, 0]
    for value in ("x", None, 7):
        text = f"must have the buffer protocol, as numpy arrays do, got {type(value).__name__}"
        text = text.replace("NoneType", "None")
        check("to", lambda x: m.a.copy_to_host(x, stream=m.stream), value, TypeError, text)
        check("from", lambda x: m.a.copy_from_host(x, stream=m.stream), value, TypeError, text)
        check("register", register_host_memory, value, TypeError, f"obj {text}")
    text = "(bytes) is read-only, expected writable memory"
    to_host = lambda x: m.a.copy_to_host(x, stream=m.stream)  # noqa: E731
    check("copy_to_host", to_host, bytes(BYTES), BufferError, f"destination {text}")
    check("register", register_host_memory, bytes(BYTES), BufferError, f"obj {text}")
    text = "(ndarray) is not contiguous: copy it first"
    check("copy_to_host", to_host, strided, ValueError, f"destination {text}")
    from_host = lambda x: m.a.copy_from_host(x, stream=m.stream)  # noqa: E731
    check("copy_from_host", from_host, strided, ValueError, f"source {text}")
    check("register", register_host_memory, strided, ValueError, f"obj {text}")
    check("register", register_host_memory, bytearray(), ValueError, "has 0 bytes, expected")


def test_registration_of_what_is_registered(memory):
    array = np.zeros(4096, np.uint8)
    with register_host_memory(array):
        with pytest.raises(cuprum.CUDAError, match="ALREADY_REGISTERED"):
            register_host_memory(array)
        for name in ("read_only", "io_memory"):
            with pytest.raises(TypeError, match=f"{name} must be a bool, got str"):
                register_host_memory(array, **{name: "x"})
    gc.collect()
    register_host_memory(array).close()


def test_batches_that_are_none(memory):
    m = memory
    for value, text in (
        (m.a, "must be a sequence of Buffers, got one Buffer; put it in a list"),
        ("ab", "must be a sequence of Buffers, got str"),
        (None, "must be a sequence of Buffers, got None"),
        (7, "must be a sequence of Buffers, got int"),
        ({m.a}, "must be a sequence of Buffers, got set"),
        ((each for each in [m.a]), "must be a sequence of Buffers, got generator"),
        ([None], "[0]: expected Buffer, got NoneType"),
        ([m.a, 7], "[1]: expected Buffer, got int"),
    ):
        check("srcs", lambda x: copy_batch(m.stream, x, [m.b]), value, TypeError, f"srcs{text}"
              if text[0] == "[" else f"srcs {text}")  # fmt: skip
        check("dsts", lambda x: copy_batch(m.stream, [m.b], x), value, TypeError, text)
        check("discard", lambda x: discard_batch(m.stream, x), value, TypeError, text)
        check("prefetch", lambda x: prefetch_batch(m.stream, x, m.device), value, TypeError, text)
        both = lambda x: discard_prefetch_batch(m.stream, x, m.device)  # noqa: E731
        check("discard_prefetch", both, value, TypeError, text)
    for empty in (
        lambda: copy_batch(m.stream, [], []),
        lambda: discard_batch(m.stream, []),
        lambda: prefetch_batch(m.stream, [], m.device),
        lambda: discard_prefetch_batch(m.stream, [], m.device),
    ):
        with pytest.raises(ValueError, match="empty buffers sequence, expected at least one"):
            empty()
    refused = streams(m.device, none_is_refused=False)
    for take in (
        lambda s: discard_batch(s, [m.a]),
        lambda s: prefetch_batch(s, [m.a], m.device),
        lambda s: discard_prefetch_batch(s, [m.a], m.device),
    ):
        check_all("batch", take, refused)
    closed = refused[-1]
    check("copy_batch", lambda s: copy_batch(s, [m.a], [m.b]), *closed)


class Parts:
    """A sequence that creates its items when they are requested, like a slice or a lazy list."""

    def __init__(self, buffer, count, error=None):
        self.buffer, self.count, self.error = buffer, count, error

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if index >= self.count:
            raise self.error or IndexError(index)
        size = self.buffer.size // self.count
        return self.buffer[index * size : (index + 1) * size]


def test_batches_of_buffers_that_nobody_else_holds(memory, device):
    m = memory
    pattern = bytes(range(BYTES))
    m.a.copy_from_host(pattern, stream=m.stream)
    copy_batch(m.stream, Parts(m.a, 4), Parts(m.b, 4))
    back = bytearray(BYTES)
    m.b.copy_to_host(back, stream=m.stream)
    m.stream.sync()
    assert back == pattern
    lost = Parts(m.a, 4, KeyError("lost"))
    for batch in (
        lambda: copy_batch(m.stream, lost, Parts(m.b, 4)),
        lambda: copy_batch(m.stream, Parts(m.a, 4), lost),
        lambda: prefetch_batch(m.stream, lost, device),
        lambda: copy_batch(m.stream, [m.a], [m.b], options=lost),
    ):
        with pytest.raises(KeyError, match="lost"):
            batch()


def test_managed_batches_of_parts_that_nobody_else_holds(managed, device, stream):
    prefetch_batch(stream, Parts(managed, 2), device)
    stream.sync()
    assert managed.last_prefetch_location == device


READ_ONLY_WRITES = {
    "copy_from": lambda r, m: r.copy_from(m.host, stream=m.stream),
    "copy_from with options": lambda r, m: r.copy_from(m.a, stream=m.stream, options=CopyOptions()),
    "copy_to": lambda r, m: m.a.copy_to(r, stream=m.stream),
    "copy_from_host": lambda r, m: r.copy_from_host(bytes(BYTES), stream=m.stream),
    "copy_region_from": lambda r, m: r.copy_region_from(m.a, (4,), stream=m.stream),
    "fill": lambda r, m: r.fill(0, stream=m.stream),
    "fill with a pattern": lambda r, m: r.fill(b"ab", stream=m.stream),
    "fill_region": lambda r, m: r.fill_region(0, (4,), stream=m.stream),
    "copy_batch": lambda r, m: copy_batch(m.stream, [m.a], [r]),
}


@pytest.mark.parametrize("name", READ_ONLY_WRITES)
def test_memory_that_must_not_be_written(memory, device, name):
    if not device.properties.get("read_only_host_register_supported", 0):
        pytest.skip("the device does not know such registrations")
    text = b"constant" * 512
    with register_host_memory(text, read_only=True) as whole:
        part = whole[:BYTES]
        with pytest.raises(ValueError, match="is read-only: it is memory that was registered with"):
            READ_ONLY_WRITES[name](part, memory)
        part.copy_to(memory.a, stream=memory.stream)
        memory.stream.sync()
        part.close()
    assert text == b"constant" * 512


def test_arrays_of_objects_are_refused(memory):
    np = pytest.importorskip("numpy")
    objects = np.full(4, "text", object)
    with pytest.raises(TypeError, match=r"ndarray\) holds Python objects, expected numbers"):
        memory.a.copy_to_host(objects, stream=memory.stream)
    with pytest.raises(TypeError, match=r"ndarray\) holds Python objects, expected numbers"):
        memory.a.copy_from_host(objects, stream=memory.stream)


def test_registering_for_reading_alone_makes_a_read_only_buffer(memory, device):
    if not device.properties.get("read_only_host_register_supported", 0):
        pytest.skip("the device does not know such registrations")
    array = np.zeros(4096, np.uint8)  # the array itself is writable
    with register_host_memory(array, read_only=True) as buffer:
        with pytest.raises(ValueError, match="is read-only"):
            buffer.fill(1, stream=memory.stream)
        assert memoryview(buffer).readonly
        with pytest.raises(BufferError, match="read-only"):
            buffer.__dlpack__()
        array[:] = 7
        buffer[:BYTES].copy_to(memory.a, stream=memory.stream)
        back = bytearray(BYTES)
        memory.a.copy_to_host(back, stream=memory.stream)
        memory.stream.sync()
        assert bytes(back) == b"\7" * BYTES


MANAGED_METHODS = {
    "read_mostly": lambda m, s, d: m.read_mostly,
    "preferred_location": lambda m, s, d: m.preferred_location,
    "accessed_by": lambda m, s, d: set(m.accessed_by),
    "prefetch": lambda m, s, d: m.prefetch(d, stream=s),
    "discard": lambda m, s, d: m.discard(stream=s),
    "discard_prefetch": lambda m, s, d: m.discard_prefetch(d, stream=s),
    "prefetch_batch": lambda m, s, d: prefetch_batch(s, [m], d),
    "discard_batch": lambda m, s, d: discard_batch(s, [m]),
    "discard_prefetch_batch": lambda m, s, d: discard_prefetch_batch(s, [m], d),
}


@pytest.mark.parametrize("name", MANAGED_METHODS)
def test_memory_that_is_not_managed_or_closed(memory, name):
    use = lambda m: MANAGED_METHODS[name](m, memory.stream, memory.device)  # noqa: E731
    wrapped = ManagedBuffer.from_handle(memory.a.handle, BYTES)
    check(name, use, wrapped, ValueError, "buffer is not a managed-memory allocation")
    wrapped.close()
    check(name, use, wrapped, cuprum.ClosedError, "closed")


def test_places_that_managed_memory_cannot_go(managed, device, stream):
    def assign(name):
        return lambda x: setattr(managed, name, x)

    wrong = "location must be a Device, Host, or None, got "
    takers = {
        "prefetch": lambda x: managed.prefetch(x, stream=stream),
        "discard_prefetch": lambda x: managed.discard_prefetch(x, stream=stream),
        "prefetch_batch": lambda x: prefetch_batch(stream, [managed], x),
        "accessed_by.add": managed.accessed_by.add,
        "preferred_location": assign("preferred_location"),
    }
    for name, take in takers.items():
        check(name, take, "x", TypeError, wrong + "str")
        check(name, take, 1.5, TypeError, wrong + "float")
        if name != "preferred_location":
            check(name, take, None, ValueError, "location is required: a Device or a Host")
    with pytest.raises(ValueError, match=r"locations length \(2\) does not match buffers length"):
        prefetch_batch(stream, [managed], [device, device])
    for add in (managed.accessed_by.add, lambda x: setattr(managed, "accessed_by", [x])):
        check("accessed_by", add, Host(0), ValueError, "does not support location_type='host_numa'")
    check("read_mostly", assign("read_mostly"), "x", TypeError, "read_mostly must be a bool")
    for take in (
        lambda s: managed.prefetch(device, stream=s),
        lambda s: managed.discard(stream=s),
        lambda s: managed.discard_prefetch(device, stream=s),
    ):
        check_all("managed", take, streams(device))


def test_what_dlpack_cannot_give(memory):
    buffer = memory.a
    for keywords, error, text in (
        ({"dl_device": (1, 0)}, BufferError, "not supported: dl_device"),
        ({"dl_device": (2, 7)}, BufferError, "not supported: dl_device"),
        ({"copy": True}, BufferError, "not supported: copy=True"),
        ({"max_version": "x"}, BufferError, "max_version"),
        ({"stream": "x"}, TypeError, "stream must be an integer, got str"),
        ({"stream": -5}, ValueError, "or -1 for no ordering, got -5"),
        ({"stream": HUGE}, ValueError, "stream must be from 0"),
    ):
        with pytest.raises(error, match=text):
            buffer.__dlpack__(**keywords)
    with pytest.raises(BufferError, match="memory of device 0, which the host cannot reach"):
        memoryview(buffer)


def test_slices_that_are_none(memory):
    for key, error, text in (
        (1, TypeError, r"cut by slices, as in buffer\[16:32\], got int"),
        ("x", TypeError, "cut by slices"),
        (slice(None, None, 2), ValueError, "step of a Buffer's slice must be 1, got 2"),
        (slice(1.5, 3), TypeError, "integers"),
    ):
        with pytest.raises(error, match=text):
            memory.a[key]
    assert memory.a[5:2].size == 0
    assert memory.a[60:1000].size == 4
