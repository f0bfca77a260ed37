// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings.hpp"
#include "memory/buffer_collection.hpp"
#include "memory/buffer_objects.hpp"
#include "memory/memory_objects.hpp"
#include "support/arguments.hpp"
#include "support/python_objects.hpp"
#include "support/recycling.hpp"

#include <cuprum/buffer.hpp>
#include <cuprum/location.hpp>
#include <cuprum/managed_buffer.hpp>
#include <cuprum/stream.hpp>

#include <nanobind/nanobind.h>

#include <string>
#include <utility>
#include <vector>

namespace cuprum::python {

using namespace nb::literals;

namespace {

[[nodiscard]] ManagedBuffer core_of(const PyManagedBuffer& self) {
    return ManagedBuffer(Buffer(self));
}

void bind_advice(nb::class_<PyManagedBuffer, PyBuffer>& type);
void bind_moves(nb::class_<PyManagedBuffer, PyBuffer>& type);
void bind_batches(nb::module_& module);
[[nodiscard]] std::vector<ManagedBuffer> managed_list(nb::handle buffers);
[[nodiscard]] std::vector<Location> location_list(nb::handle locations);
[[nodiscard]] std::vector<Location> location_list(nb::handle locations, std::size_t buffers);

} // namespace

void bind_managed_buffer(nb::module_& module) {
    nb::class_<PyManagedBuffer, PyBuffer> type(
        module, "ManagedBuffer", nb::is_weak_referenceable(), nb::type_slots(buffer_slots()),
        R"(A piece of managed memory, which moves between host and devices by itself.

Made by ``ManagedMemoryResource.allocate``, or ``ManagedBuffer.from_handle`` for managed memory
allocated elsewhere. Its own methods raise ValueError if the memory is not managed after all.

Examples
--------
>>> managed = cuprum.ManagedMemoryResource().allocate(1024, stream=stream)
>>> managed.prefetch(device, stream=stream)
>>> stream.sync())");
    note_type<PyManagedBuffer>(type);
    allow_chains<PyManagedBuffer>(type);
    type.def(
        "__init__",
        [](nb::handle, const nb::args&, const nb::kwargs&) {
            raise_error(PyExc_RuntimeError,
                        "a ManagedBuffer is not made directly; use "
                        "ManagedMemoryResource.allocate() or ManagedBuffer.from_handle()");
        },
        nb::sig("def __init__(self, *args: object, **kwargs: object) -> None"));
    type.def_static("from_handle", &wrap_memory<PyManagedBuffer>, "ptr"_a.none(), "size"_a.none(),
                    "mr"_a = nb::none(), "owner"_a = nb::none(), nb::kw_only(),
                    "stream"_a = nb::none(),
                    nb::sig("def from_handle(ptr: int, size: int, mr: MemoryResource | None = None,"
                            " owner: object | None = None, *, stream: Stream | None = None) -> "
                            "ManagedBuffer"),
                    R"(Wrap managed memory allocated elsewhere; see ``Buffer.from_handle``.

Parameters
----------
ptr : int
    The address of the memory.
size : int
    The size in bytes.
mr : MemoryResource, optional
    The resource that frees the memory. None leaves it to its owner.
owner : object, optional
    An object to keep alive with the buffer. Excludes `mr`.
stream : Stream, optional
    The stream that the memory is freed on.

Returns
-------
ManagedBuffer
    The buffer.

Raises
------
ValueError
    If both `mr` and `owner` are given, or a stream without `mr`.)");
    bind_advice(type);
    bind_moves(type);
    bind_batches(module);
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

void bind_advice(nb::class_<PyManagedBuffer, PyBuffer>& type) {
    type.def_prop_rw(
        "read_mostly",
        [](const PyManagedBuffer& self) {
            const nb::gil_scoped_release unlocked;
            return core_of(self).read_mostly();
        },
        [](const PyManagedBuffer& self, nb::handle value) {
            const bool is_mostly_read = bool_argument(value, "read_mostly");
            const nb::gil_scoped_release unlocked;
            core_of(self).set_read_mostly(is_mostly_read);
        },
        nb::arg().none(), nb::for_getter(nb::sig("def read_mostly(self) -> bool")),
        nb::for_setter(nb::sig("def read_mostly(self, value: bool, /) -> None")),
        "Return whether the memory is mostly read, so that copies of it may be kept.");
    type.def_prop_rw(
        "preferred_location",
        [](const PyManagedBuffer& self) -> nb::object {
            const auto place = [&] {
                const nb::gil_scoped_release unlocked;
                return core_of(self).preferred_location();
            }();
            return place ? location_object(*place) : nb::none();
        },
        [](const PyManagedBuffer& self, nb::handle location) {
            const auto place = location_argument(location, true);
            const nb::gil_scoped_release unlocked;
            core_of(self).set_preferred_location(place);
        },
        nb::arg().none(),
        nb::for_getter(
            nb::sig("def preferred_location(self) -> Device | cuprum._host.Host | None")),
        nb::for_setter(nb::sig("def preferred_location(self, location: Device | cuprum._host.Host |"
                               " None, /) -> None")),
        "Return the preferred location of the memory, or None.");
    type.def_prop_rw(
        "accessed_by",
        [](nb::handle self) {
            return nb::module_::import_("cuprum._managed").attr("AccessedBySetProxy")(self);
        },
        [](nb::handle self, nb::handle locations) {
            const std::vector<Location> places = location_list(locations);
            const auto& buffer = held_by<PyManagedBuffer>(self);
            const nb::gil_scoped_release unlocked;
            core_of(buffer).set_accessed_by(places);
        },
        nb::for_getter(nb::sig("def accessed_by(self) -> cuprum._managed.AccessedBySetProxy")),
        nb::for_setter(nb::sig("def accessed_by(self, locations: collections.abc.Iterable[Device | "
                               "cuprum._host.Host], /) -> None")),
        "Return the locations that keep the memory mapped: a live set, which can be assigned.");
    type.def(
        "_accessors",
        [](const PyManagedBuffer& self) {
            const auto places = [&] {
                const nb::gil_scoped_release unlocked;
                return core_of(self).accessed_by();
            }();
            nb::list objects;
            for (const Location& place : places) {
                objects.append(location_object(place));
            }
            return objects;
        },
        nb::sig("def _accessors(self) -> list[Device | cuprum._host.Host]"));
    type.def(
        "_advise_accessor",
        [](const PyManagedBuffer& self, nb::handle location, bool is_added) {
            const Location place = *location_argument(location, false);
            const nb::gil_scoped_release unlocked;
            if (is_added) {
                core_of(self).add_accessed_by(place);
            } else {
                core_of(self).remove_accessed_by(place);
            }
        },
        "location"_a.none(), "is_added"_a);
    type.def_prop_ro(
        "last_prefetch_location",
        [](const PyManagedBuffer& self) -> nb::object {
            const auto place = [&] {
                const nb::gil_scoped_release unlocked;
                return core_of(self).last_prefetch_location();
            }();
            return place ? location_object(*place) : nb::none();
        },
        nb::sig("def last_prefetch_location(self) -> Device | cuprum._host.Host | None"),
        "Return the location of the last prefetch, or None.");
}

void bind_moves(nb::class_<PyManagedBuffer, PyBuffer>& type) {
    type.def(
        "prefetch",
        [](const PyManagedBuffer& self, nb::handle location, nb::handle stream) {
            const Location place = *location_argument(location, false);
            const Stream& order = stream_argument(stream);
            const nb::gil_scoped_release unlocked;
            core_of(self).prefetch(place, order);
        },
        "location"_a.none(), nb::kw_only(), "stream"_a.none(),
        nb::sig("def prefetch(self, location: Device | cuprum._host.Host, *, stream: Stream) -> "
                "None"),
        R"(Move the memory to a location, in a stream's order. Returns at once.

Parameters
----------
location : Device or Host
    Where the memory should be.
stream : Stream
    The move runs in the order of this stream.

Raises
------
TypeError
    If the location is neither a device nor a Host.)");
    type.def(
        "discard",
        [](const PyManagedBuffer& self, nb::handle stream) {
            const Stream& order = stream_argument(stream);
            const nb::gil_scoped_release unlocked;
            core_of(self).discard(order);
        },
        nb::kw_only(), "stream"_a.none(), nb::sig("def discard(self, *, stream: Stream) -> None"),
        R"(Discard the contents of the memory, in a stream's order. Needs a driver for CUDA 13.0.

Parameters
----------
stream : Stream
    The memory loses its contents in the order of this stream.

Raises
------
TypeError
    If `stream` is None or not a stream.
ClosedError
    If the buffer or the stream is closed.
NotSupportedError
    If the driver is older than CUDA 13.0.)");
    type.def(
        "discard_prefetch",
        [](const PyManagedBuffer& self, nb::handle location, nb::handle stream) {
            const Location place = *location_argument(location, false);
            const Stream& order = stream_argument(stream);
            const nb::gil_scoped_release unlocked;
            core_of(self).discard_prefetch(place, order);
        },
        "location"_a.none(), nb::kw_only(), "stream"_a.none(),
        nb::sig("def discard_prefetch(self, location: Device | cuprum._host.Host, *, stream: "
                "Stream) -> None"),
        R"(Discard the contents of the memory and move it. Needs a driver for CUDA 13.0.

Parameters
----------
location : Device or Host
    Where the memory should be.
stream : Stream
    The move runs in the order of this stream.

Raises
------
TypeError
    If the location is neither a device nor a Host.)");
}

void bind_batches(nb::module_& module) {
    module.def(
        "prefetch_batch",
        [](nb::handle stream, nb::handle buffers, nb::handle locations) {
            const Stream& order = stream_argument(stream);
            const std::vector<ManagedBuffer> all = managed_list(buffers);
            const std::vector<Location> places = location_list(locations, all.size());
            const nb::gil_scoped_release unlocked;
            prefetch_batch(order, all, places);
        },
        "stream"_a.none(), "buffers"_a.none(), "locations"_a.none(),
        nb::sig("def prefetch_batch(stream: Stream, buffers: collections.abc.Sequence[Buffer], "
                "locations: Device | cuprum._host.Host | collections.abc.Sequence[Device | "
                "cuprum._host.Host]) -> None"),
        R"(Move managed memory, each buffer to its place, in a stream's order.

Parameters
----------
stream : Stream
    The moves are ordered on it.
buffers : sequence of Buffer
    Managed memory, else ValueError.
locations : Device or Host, or a sequence of them
    One for all, or one for each.

Raises
------
TypeError
    If `buffers` is not a sequence of Buffers, a location is not a device or a Host, or `stream` is
    not a stream.
ValueError
    If there is no buffer, one is not managed memory, or the locations are neither one nor as many
    as the buffers.
CUDAError
    If there is no such place, as a NUMA node that the machine lacks.)");
    module.def(
        "discard_batch",
        [](nb::handle stream, nb::handle buffers) {
            const Stream& order = stream_argument(stream);
            const std::vector<ManagedBuffer> all = managed_list(buffers);
            const nb::gil_scoped_release unlocked;
            discard_batch(order, all);
        },
        "stream"_a.none(), "buffers"_a.none(),
        nb::sig("def discard_batch(stream: Stream, buffers: collections.abc.Sequence[Buffer]) -> "
                "None"),
        R"(Discard the contents of managed memory, in a stream's order. Needs CUDA 13.0.

Parameters
----------
stream : Stream
    The buffers lose their contents in the order of this stream.
buffers : Sequence[Buffer]
    Buffers of managed memory.

Raises
------
TypeError
    If `buffers` is not a sequence of Buffers, or `stream` is not a stream.
ValueError
    If there is no buffer, or one is not managed memory.
NotSupportedError
    If the driver is older than CUDA 13.0.)");
    module.def(
        "discard_prefetch_batch",
        [](nb::handle stream, nb::handle buffers, nb::handle locations) {
            const Stream& order = stream_argument(stream);
            const std::vector<ManagedBuffer> all = managed_list(buffers);
            const std::vector<Location> places = location_list(locations, all.size());
            const nb::gil_scoped_release unlocked;
            discard_prefetch_batch(order, all, places);
        },
        "stream"_a.none(), "buffers"_a.none(), "locations"_a.none(),
        nb::sig("def discard_prefetch_batch(stream: Stream, buffers: "
                "collections.abc.Sequence[Buffer], locations: Device | cuprum._host.Host | "
                "collections.abc.Sequence[Device | cuprum._host.Host]) -> None"),
        R"(Discard the contents of managed memory and move it; see ``prefetch_batch``. Needs a driver for CUDA 13.0.

Parameters
----------
stream : Stream
    The moves run in the order of this stream.
buffers : Sequence[Buffer]
    Buffers of managed memory.
locations : Device | Host | Sequence[Device | Host]
    One for all, or one for each buffer.

Raises
------
TypeError
    If `buffers` is not a sequence of Buffers, a location is not a device or a Host, or `stream` is
    not a stream.
ValueError
    If there is no buffer, one is not managed memory, or the locations are neither one nor as many
    as the buffers.
NotSupportedError
    If the driver is older than CUDA 13.0.)");
}

std::vector<ManagedBuffer> managed_list(nb::handle buffers) {
    std::vector<ManagedBuffer> all;
    for (Buffer& buffer : buffer_list_argument(buffers, "buffers")) {
        all.emplace_back(std::move(buffer));
    }
    return all;
}

std::vector<Location> location_list(nb::handle locations) {
    std::vector<Location> places;
    if (!nb::hasattr(locations, "__iter__")) {
        places.push_back(*location_argument(locations, false));
        return places;
    }
    for (nb::handle each : nb::borrow<nb::object>(locations)) {
        places.push_back(*location_argument(each, false));
    }
    return places;
}

/// A sequence of one is not "one for all": it pairs by index like any other.
std::vector<Location> location_list(nb::handle locations, std::size_t buffers) {
    std::vector<Location> places = location_list(locations);
    if (nb::hasattr(locations, "__iter__") && places.size() != buffers) {
        raise_error(PyExc_ValueError, "locations length (" + std::to_string(places.size()) +
                                          ") does not match buffers length (" +
                                          std::to_string(buffers) +
                                          "); pass one location for all, or one for each");
    }
    return places;
}

} // namespace

} // namespace cuprum::python
