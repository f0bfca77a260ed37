// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings.hpp"
#include "memory/buffer_collection.hpp"
#include "memory/buffer_dlpack.hpp"
#include "memory/buffer_objects.hpp"
#include "memory/buffer_parts.hpp"
#include "memory/copy_options.hpp"
#include "memory/host_memory.hpp"
#include "memory/memory_objects.hpp"
#include "support/arguments.hpp"
#include "support/compatibility.hpp"
#include "support/display.hpp"
#include "support/fast_method.hpp"
#include "support/gil.hpp"
#include "support/instances.hpp"
#include "support/python_objects.hpp"
#include "support/recycling.hpp"

#include <cuprum/buffer.hpp>
#include <cuprum/copy.hpp>
#include <cuprum/detail/order.hpp>
#include <cuprum/stream.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/operators.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <variant>

namespace cuprum::python {

using namespace nb::literals;

namespace {

[[nodiscard]] std::string place_text(const PyBuffer& buffer);
[[nodiscard]] std::string resource_text(const PyBuffer& buffer);
void bind_facts(nb::class_<PyBuffer>& type);
void bind_copies(nb::class_<PyBuffer>& type);
void bind_closing(nb::class_<PyBuffer>& type);
[[nodiscard]] nb::object from_handle(nb::handle ptr, nb::handle size, nb::handle resource,
                                     nb::handle owner, nb::handle stream);
[[nodiscard]] std::size_t handle(const PyBuffer& self);
[[nodiscard]] std::size_t size(const PyBuffer& self);
[[nodiscard, gnu::hot]] nb::object copy_to(const PyBuffer& self, nb::handle destination,
                                           nb::handle stream, nb::handle options);
[[gnu::hot]] void copy_from(const PyBuffer& self, nb::handle source, nb::handle stream,
                            nb::handle options);
[[gnu::hot]] void fill(const PyBuffer& self, nb::handle value, nb::handle stream);
[[gnu::hot]] void close(PyBuffer& self, nb::handle stream);
void fill_with_pattern(const PyBuffer& self, nb::handle value, const Stream& order);
[[nodiscard]] nb::object to_numpy(nb::handle self, nb::handle dtype, nb::handle copy);
void refuse_capture(const Stream& stream, const char* name);

} // namespace

void bind_buffer(nb::module_& module) {
    nb::class_<PyBuffer> type(module, "Buffer", nb::is_weak_referenceable(), nb::pooled(),
                              nb::type_slots(buffer_slots()),
                              R"(A piece of memory that devices can access.

Made by ``Device.allocate``, ``MemoryResource.allocate`` or ``Buffer.from_handle``. The memory is
freed, in the order of the stream it was allocated on, when the object is closed or dropped; in a
``with`` statement, at its end.

Examples
--------
>>> with device.allocate(16, stream=stream) as buffer:
...     buffer.copy_from_host(np.arange(4, dtype=np.int32), stream=stream)
...     result = np.empty(4, dtype=np.int32)
...     buffer.copy_to_host(result, stream=stream)
...     stream.sync()
>>> print(result)
[0 1 2 3])");
    note_type<PyBuffer>(type);
    recycle<PyBuffer>(type);
    type.def(
        "__init__",
        [](nb::handle, const nb::args&, const nb::kwargs&) {
            raise_error(PyExc_RuntimeError, "a Buffer is not made directly; use Device.allocate(), "
                                            "MemoryResource.allocate() or Buffer.from_handle()");
        },
        nb::sig("def __init__(self, *args: object, **kwargs: object) -> None"));
    type.def_static(
        "from_handle", from_handle, "ptr"_a.none(), "size"_a.none(), "mr"_a = nb::none(),
        "owner"_a = nb::none(), nb::kw_only(), "stream"_a = nb::none(),
        nb::sig("def from_handle(ptr: int, size: int, mr: MemoryResource | None = None, owner: "
                "object | None = None, *, stream: Stream | None = None) -> Buffer"),
        R"(Wrap memory allocated elsewhere.

Parameters
----------
ptr : int
    The address.
size : int
    In bytes.
mr : MemoryResource, optional
    Frees the memory: its ``deallocate`` is called when the buffer is closed or dropped.
owner : object, optional
    Kept alive with the buffer; nothing is freed.
stream : Stream, optional
    With `mr`, the stream that the free is ordered on; the default stream if not given.

Returns
-------
Buffer
    The buffer.

Raises
------
ValueError
    If both `mr` and `owner` are given, or a stream without `mr`.)");
    bind_facts(type);
    bind_copies(type);
    bind_closing(type);
    type.def("__array__", to_numpy, "dtype"_a = nb::none(), "copy"_a = nb::none(),
             nb::sig("def __array__(self, dtype: object = None, copy: bool | None = None) -> "
                     "typing.Any"),
             R"(Return memory that the host can reach as an array of bytes.

Parameters
----------
dtype : object, optional
    The type that numpy asks for.
copy : bool, optional
    Whether numpy needs a copy.

Returns
-------
numpy.ndarray
    The bytes.

Raises
------
TypeError
    If the host cannot reach the memory.)");
    type.attr("__array_ufunc__") = nb::none(); // comparisons with numpy's numbers are ours
    bind_buffer_parts(type);
    bind_buffer_dlpack(type);
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

void bind_facts(nb::class_<PyBuffer>& type) {
    fast_property<handle>(type, "def handle(self) -> int", "Return the address as an int.");
    fast_property<size>(type, "def size(self) -> int", "Return the size in bytes.");
    type.def_prop_ro("is_closed", &PyBuffer::is_closed, "Return whether ``close`` was called.");
    type.def_prop_ro("device_id", &PyBuffer::device_id, nb::call_guard<nb::gil_scoped_release>(),
                     "Return the ordinal of the device it lies on, -1 for host memory.");
    type.def_prop_ro("is_device_accessible", &PyBuffer::is_device_accessible,
                     nb::call_guard<nb::gil_scoped_release>(),
                     "Return whether devices can access the memory.");
    type.def_prop_ro("is_host_accessible", &PyBuffer::is_host_accessible,
                     nb::call_guard<nb::gil_scoped_release>(),
                     "Return whether the host can access the memory.");
    type.def_prop_ro("is_managed", &PyBuffer::is_managed, nb::call_guard<nb::gil_scoped_release>(),
                     "Return whether the memory moves between host and devices by itself.");
    bind_buffer_sharing(type);
    type.def_prop_ro(
        "memory_resource",
        [](const PyBuffer& self) { return self.resource.is_valid() ? self.resource : nb::none(); },
        nb::sig("def memory_resource(self) -> MemoryResource | None"),
        "Return the resource that it came from, or None for wrapped memory.");
    type.def_prop_ro(
        "owner",
        [](const PyBuffer& self) { return self.owner.is_valid() ? self.owner : nb::none(); },
        nb::sig("def owner(self) -> object | None"), "Return the owner of wrapped memory.");
    type.def(
        "__eq__",
        [](const PyBuffer& self, const PyBuffer& other) {
            return static_cast<const Buffer&>(self) == static_cast<const Buffer&>(other);
        },
        nb::is_operator(), nb::sig("def __eq__(self, other: object, /) -> bool"));
    type.def("__hash__", [](const PyBuffer& self) {
        return self.is_closed() ? nb::hash(nb::make_tuple(0, 0))
                                : nb::hash(nb::make_tuple(self.handle(), self.size()));
    });
    type.def("__repr__", [](nb::handle self) {
        const auto& buffer = held_by<PyBuffer>(self);
        return "<" + type_label(self) +
               (buffer.is_closed() ? " closed>"
                                   : " ptr=" + hex_text(buffer.handle()) +
                                         " size=" + std::to_string(buffer.size()) +
                                         place_text(buffer) + resource_text(buffer) + ">");
    });
    bind_html(type, "buffer");
}

/// Returns the kind of memory and its device, as in " kind=device device=0", for `repr`. Empty if
/// the driver does not know the address.
std::string place_text(const PyBuffer& buffer) {
    if (compatibility::keeps_reprs_short()) {
        return {};
    }
    try {
        const nb::gil_scoped_release unlocked;
        const bool is_host = buffer.is_host_accessible();
        const char* const kind = buffer.is_managed()             ? "managed"
                                 : !is_host                      ? "device"
                                 : buffer.is_device_accessible() ? "pinned"
                                                                 : "host";
        const int device = buffer.device_id();
        return std::string(" kind=") + kind +
               (device < 0 ? "" : " device=" + std::to_string(device));
    } catch (const std::exception&) {
        return {};
    }
}

/// Returns the class of the resource that a buffer came from, for `repr`.
std::string resource_text(const PyBuffer& buffer) {
    return compatibility::keeps_reprs_short() || !buffer.resource.is_valid()
               ? ""
               : " resource=" + type_label(buffer.resource);
}

void bind_copies(nb::class_<PyBuffer>& type) {
    fast_method<copy_to>(
        type,
        "def copy_to(self, dst: Buffer | None = None, *, stream: Stream | GraphBuilder, options: "
        "cuprum._copy.CopyOptions | None = None) -> Buffer",
        R"(Copy all bytes to another buffer of the same size. Returns at once.

Parameters
----------
dst : Buffer, optional
    Allocated from this buffer's memory resource if it is not given.
stream : Stream
    The copy is ordered on it.
options : CopyOptions, optional
    How to copy. Not on the legacy default stream, nor while a stream is capturing.

Returns
-------
Buffer
    The destination.

Raises
------
ValueError
    If the sizes differ, the buffers overlap in part, `dst` is read-only, or it cannot be allocated
    for want of a memory resource.)");
    fast_method<copy_from>(
        type,
        "def copy_from(self, src: Buffer, *, stream: Stream | GraphBuilder, options: "
        "cuprum._copy.CopyOptions | None = None) -> None",
        R"(Copy all bytes from another buffer of the same size. Returns at once.

Parameters
----------
src : Buffer
    Where to copy from.
stream : Stream
    The copy is ordered on it.
options : CopyOptions, optional
    How to copy. Not on the legacy default stream, nor while a stream is capturing.

Raises
------
ValueError
    If the sizes differ, the buffers overlap in part, or this one is read-only.)");
    type.def(
        "copy_from_host",
        [](const PyBuffer& self, nb::handle source, nb::handle stream) {
            const HostMemory memory(source, HostMemory::Access::Read, "source");
            const Stream& order = stream_argument(stream);
            check_writable(self, "the buffer");
            refuse_capture(order, "source");
            const nb::gil_scoped_release unlocked;
            self.copy_from_host_bytes(memory.data(), memory.size(), order);
        },
        "source"_a.none(), nb::kw_only(), "stream"_a.none(),
        nb::sig("def copy_from_host(self, source: object, *, stream: Stream) -> None"),
        R"(Copy from host memory, such as a numpy array.

Parameters
----------
source : object with the buffer protocol
    Contiguous and of this buffer's size; its bytes are copied as they lie in memory, also those of
    an array in Fortran order. You may change pageable memory when this returns. Do not
    change pinned memory before the copy is done.
stream : Stream
    The copy is ordered on it.

Raises
------
ValueError
    If the sizes differ, `source` is not contiguous, or the buffer is read-only.
RuntimeError
    If the stream is capturing: a graph would use the memory whenever it runs.)");
    type.def(
        "copy_to_host",
        [](const PyBuffer& self, nb::handle destination, nb::handle stream) {
            const HostMemory memory(destination, HostMemory::Access::Write, "destination");
            const Stream& order = stream_argument(stream);
            refuse_capture(order, "destination");
            const nb::gil_scoped_release unlocked;
            self.copy_to_host_bytes(memory.data(), memory.size(), order);
        },
        "destination"_a.none(), nb::kw_only(), "stream"_a.none(),
        nb::sig("def copy_to_host(self, destination: object, *, stream: Stream) -> None"),
        R"(Copy to host memory, such as a numpy array.

Parameters
----------
destination : object with the buffer protocol
    Contiguous, writable and of this buffer's size. Keep it alive and do not read it until the copy
    is done: call ``stream.sync()``.
stream : Stream
    The copy is ordered on it.

Raises
------
BufferError
    If `destination` is read-only.
ValueError
    If the sizes differ, or `destination` is not contiguous.
RuntimeError
    If the stream is capturing: a graph would use the memory whenever it runs.)");
    fast_method<fill>(type,
                      "def fill(self, value: object, *, stream: Stream | GraphBuilder) -> None",
                      R"(Fill with a repeated value. Returns at once.

Parameters
----------
value : int or object with the buffer protocol
    A byte from 0 to 255, or 1, 2 or 4 bytes.
stream : Stream
    The filling is ordered on it.

Raises
------
OverflowError
    If an int does not fit a byte.
ValueError
    If the value has another width, the size is not a multiple of it, or the buffer is read-only.)");
}

void bind_closing(nb::class_<PyBuffer>& type) {
    fast_method<close>(type, "def close(self, stream: Stream | GraphBuilder | None = None) -> None",
                       R"(Release this object's share of the memory; the last one frees it.

Calling it again does nothing.

Parameters
----------
stream : Stream, optional
    Free the memory on this stream instead. If other shares are left, their free waits for it.

Raises
------
TypeError
    If `stream` is not a stream.
ClosedError
    If `stream` is closed. The buffer stays open then.)");
    type.def(
        "set_deallocation_stream",
        [](nb::handle self, nb::handle stream) {
            const Stream& order = stream_argument(stream);
            held_by<PyBuffer>(self).set_deallocation_stream(order);
            show_foreign_stream(self, stream);
        },
        "stream"_a.none(), nb::sig("def set_deallocation_stream(self, stream: Stream) -> None"),
        R"(Set the stream that the memory will be freed on.

Parameters
----------
stream : Stream
    Work enqueued on it so far finishes before the memory is freed.

Raises
------
TypeError
    If `stream` is None or not a stream.
ClosedError
    If the buffer or the stream is closed.)");
    type.def(
        "__enter__", [](nb::handle self) { return nb::borrow(self); },
        nb::sig("def __enter__(self) -> Buffer"));
    type.def(
        "__exit__", [](PyBuffer& self, const nb::args&) { self.drop(); },
        nb::sig("def __exit__(self, *exception: object) -> None"));
}

nb::object from_handle(nb::handle ptr, nb::handle size, nb::handle resource, nb::handle owner,
                       nb::handle stream) {
    return wrap_memory<PyBuffer>(ptr, size, resource, owner, stream);
}

std::size_t handle(const PyBuffer& self) {
    return self.handle();
}

std::size_t size(const PyBuffer& self) {
    return self.size();
}

/// Returns whether a copy only enqueues; one from or to pageable host memory waits.
bool is_copy_brief(const PyBuffer& source, const PyBuffer& destination) {
    return source.is_release_brief() && destination.is_release_brief();
}

void copy(const PyBuffer& source, const PyBuffer& destination, const Stream& stream) {
    check_writable(destination, "the destination");
    {
        const Brief unlocked(!is_copy_brief(source, destination));
        source.copy_to(destination, stream);
    }
    retain_if_captured(source, stream);
    retain_if_captured(destination, stream);
}

void copy(const PyBuffer& source, const PyBuffer& destination, const Stream& stream,
          const std::optional<CopyOptions>& options) {
    if (!options) {
        copy(source, destination, stream);
        return;
    }
    check_writable(destination, "the destination");
    {
        const nb::gil_scoped_release unlocked;
        copy_with_options(stream, source, destination, *options);
    }
    retain_if_captured(source, stream);
    retain_if_captured(destination, stream);
}

nb::object copy_to(const PyBuffer& source, nb::handle destination, nb::handle stream,
                   nb::handle options) {
    if (options.is_none() && Py_TYPE(destination.ptr()) == TYPE<PyBuffer> &&
        is_ready_inside(destination)) [[likely]] {
        copy(source, *inside<PyBuffer>(destination), stream_argument(stream));
        return nb::borrow(destination);
    }
    (void)source.handle(); // a closed one is refused before anything is allocated
    const auto how = copy_options_argument(options);
    const Stream& order = how ? copy_stream_argument(stream) : stream_argument(stream);
    nb::object target = nb::borrow(destination);
    if (destination.is_none()) {
        if (!source.resource.is_valid()) {
            raise_error(PyExc_ValueError, "dst is not given, and the buffer has no memory resource "
                                          "to allocate one from");
        }
        target = allocate_from(source.resource, source.size(), stream);
    }
    const PyBuffer& into = buffer_argument(target, "dst");
    copy(source, into, order, how);
    return target;
}

void copy_from(const PyBuffer& self, nb::handle source, nb::handle stream, nb::handle options) {
    const PyBuffer& from = buffer_argument(source, "src");
    if (options.is_none()) [[likely]] {
        copy(from, self, stream_argument(stream));
        return;
    }
    const auto how = copy_options_argument(options);
    copy(from, self, how ? copy_stream_argument(stream) : stream_argument(stream), how);
}

void fill(const PyBuffer& self, nb::handle value, nb::handle stream) {
    const Stream& order = stream_argument(stream);
    check_writable(self, "the buffer");
    if (Py_ssize_t number = 0; read_small_int(value, number) && number >= 0 && number <= UINT8_MAX)
        [[likely]] {
        {
            const Brief unlocked(!self.is_release_brief());
            self.fill(static_cast<std::uint8_t>(number), order);
        }
        retain_if_captured(self, order);
        return;
    }
    fill_with_pattern(self, value, order);
    retain_if_captured(self, order);
}

void fill_with_pattern(const PyBuffer& self, nb::handle value, const Stream& order) {
    std::visit(
        [&](auto number) {
            const Brief unlocked(!self.is_release_brief());
            self.fill(number, order);
        },
        pattern_argument(value));
}

void close(PyBuffer& self, nb::handle stream) {
    if (stream.is_none() || self.is_closed()) {
        self.drop();
        return;
    }
    const Stream& order = stream_argument(stream);
    {
        const Brief unlocked(!self.is_release_brief());
        self.Buffer::close(order);
    }
    self.drop();
}

/// Host memory is held for the call alone, and a graph would use it whenever it runs.
/// What numpy asks for if the buffer protocol gave it nothing. Without it, numpy would make an
/// array of one Python object.
nb::object to_numpy(nb::handle self, nb::handle dtype, nb::handle copy) {
    const auto& buffer = held_by<PyBuffer>(self);
    if (!buffer.is_host_accessible()) {
        raise_error(PyExc_TypeError, "the buffer is memory of device " +
                                         std::to_string(buffer.device_id()) +
                                         ", which numpy cannot read; copy it to an array with "
                                         "buffer.copy_to_host(array, stream=...), or view it with "
                                         "StridedMemoryView.from_buffer()");
    }
    const nb::object bytes = nb::steal(PyMemoryView_FromObject(self.ptr()));
    if (!bytes.is_valid()) {
        throw nb::python_error();
    }
    return nb::module_::import_("numpy").attr(is_true(copy) ? "array"
                                                            : "asarray")(bytes, "dtype"_a = dtype);
}

void refuse_capture(const Stream& stream, const char* name) {
    if (cuprum::detail::is_capturing(stream)) {
        raise_error(PyExc_RuntimeError,
                    std::string("stream is capturing, and the graph would use the memory of ") +
                        name +
                        " each time it runs; copy from or to a Buffer of host memory, as "
                        "LegacyPinnedMemoryResource allocates it");
    }
}

} // namespace

} // namespace cuprum::python
