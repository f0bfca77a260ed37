// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What a stream does beside kernels and copies: host functions, values in memory, attributes.

#include "stream/bind_stream_operations.hpp"

#include "graph/graph_objects.hpp"
#include "memory/buffer_objects.hpp"
#include "stream/stream_objects.hpp"
#include "support/choices.hpp"
#include "support/gil.hpp"
#include "support/leaving.hpp"
#include "support/lent_owner.hpp"
#include "support/python_objects.hpp"

#include <cuprum/device_resources.hpp>
#include <cuprum/stream.hpp>
#include <cuprum/stream_attributes.hpp>

#include <nanobind/stl/string.h>

#include <cstdint>
#include <limits>
#include <string>

namespace cuprum::python {

using namespace nb::literals;

namespace {

void add_values(nb::class_<PyStream>& type);
void add_attributes(nb::class_<PyStream>& type);
void launch_host(const PyStream& self, nb::handle function);
[[nodiscard]] CUdeviceptr word_address(nb::handle target, nb::handle offset, std::size_t size);
[[nodiscard]] std::size_t word_size(nb::handle bits);
[[nodiscard]] std::uint64_t word_value(nb::handle value, std::size_t size);

/// Binds a property whose values are the names of an enumeration.
template <auto Get, auto Set, typename All>
void choice_property(nb::class_<PyStream>& type, const char* name, const All& all,
                     const char* documentation) {
    type.def_prop_rw(
        name,
        [&all](const PyStream& self) {
            const Stream& stream = self;
            const auto value = [&] {
                const nb::gil_scoped_release unlocked;
                return (stream.*Get)();
            }();
            return all.member(value);
        },
        [&all, name](const PyStream& self, nb::handle value) {
            const auto wanted = all.parse(value, name);
            const Stream& stream = self;
            const nb::gil_scoped_release unlocked;
            (stream.*Set)(wanted);
        },
        nb::for_getter(
            nb::sig((std::string("def ") + name + "(self) -> cuprum.typing." + all.type).c_str())),
        nb::for_setter(nb::sig((std::string("def ") + name + "(self, value: cuprum.typing." +
                                all.type + " | str, /) -> None")
                                   .c_str())),
        documentation);
}

} // namespace

void add_stream_operations(nb::class_<PyStream>& type) {
    type.def_prop_ro("id", &PyStream::id, nb::call_guard<nb::gil_scoped_release>(),
                     "Return a number that no other stream of this process ever has.");
    type.def_prop_ro(
        "resources",
        [](const PyStream& self) {
            auto resources = [&] {
                const nb::gil_scoped_release unlocked;
                return self.resources();
            }();
            return make<DeviceResources>(std::move(resources));
        },
        nb::sig("def resources(self) -> DeviceResources"),
        "Return the resources of the stream's context.");
    type.def(
        "create_graph_builder",
        [](nb::handle self) {
            const auto& stream = held_by<PyStream>(self);
            return builder_object(GraphBuilder::create(stream), nb::borrow(self));
        },
        nb::sig("def create_graph_builder(self) -> GraphBuilder"),
        R"(Create a builder of graphs that captures what is enqueued on this stream.

Returns
-------
GraphBuilder
    The builder. Call ``begin_building`` to start the capture.

Raises
------
ClosedError
    If the stream is closed.)");
    type.def("launch_host", launch_host, "function"_a.none(),
             nb::sig("def launch_host(self, function: collections.abc.Callable[[], object]) -> "
                     "None"),
             R"(Call a function on a thread of the driver, in this stream's order. Returns at once.

If it raises, the exception goes to ``sys.unraisablehook`` and the stream continues. It is never
called if earlier work of the context failed. If a ``GraphBuilder`` captures the stream, every launch
of the graph calls it.

Parameters
----------
function : callable
    Called without arguments. It must not call CUDA, directly or through this package, nor wait for
    a thread that does.

Raises
------
CUDAError
    If other code than a ``GraphBuilder`` captures the stream.)");
    add_values(type);
    add_attributes(type);
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

void launch_host(const PyStream& self, nb::handle function) {
    if (PyCallable_Check(function.ptr()) == 0) {
        raise_error(PyExc_TypeError,
                    "function must be callable without arguments, got " + type_label(function));
    }
    note_python_in_driver();
    const std::shared_ptr<void> kept = keep_alive(function);
    const auto call = [kept, callable = function.ptr()] {
        const PythonScope python;
        if (!python) {
            return;
        }
        PyObject* result = PyObject_CallNoArgs(callable);
        if (result == nullptr) {
            PyErr_WriteUnraisable(callable);
        }
        Py_XDECREF(result);
    };
    const nb::gil_scoped_release unlocked;
    self.launch_host(call);
}

void add_values(nb::class_<PyStream>& type) {
    type.def(
        "write_value",
        [](const PyStream& self, nb::handle target, nb::handle value, nb::handle offset,
           nb::handle bits, bool memory_barrier) {
            const std::size_t size = word_size(bits);
            const CUdeviceptr address = word_address(target, offset, size);
            const std::uint64_t word = word_value(value, size);
            const nb::gil_scoped_release unlocked;
            if (size == sizeof(std::uint64_t)) {
                self.write_value(address, word, {.memory_barrier = memory_barrier});
            } else {
                self.write_value(address, static_cast<std::uint32_t>(word),
                                 {.memory_barrier = memory_barrier});
            }
        },
        "target"_a, "value"_a, nb::kw_only(), "offset"_a = 0, "bits"_a = 32,
        "memory_barrier"_a = true,
        nb::sig("def write_value(self, target: Buffer | int, value: int, *, offset: int = 0, "
                "bits: int = 32, memory_barrier: bool = True) -> None"),
        R"(Write a number to memory of the device, in this stream's order.

Parameters
----------
target : Buffer or int
    Where, as a buffer or an address.
value : int
    What, negative numbers in two's complement.
offset : int, optional
    Bytes from the start of `target`.
bits : int, optional
    32 or 64.
memory_barrier : bool, optional
    Earlier writes of the stream are visible before the number is.

Raises
------
ValueError
    If the place is not aligned, or outside the buffer, or the number does not fit.)");
    type.def(
        "wait_value",
        [](const PyStream& self, nb::handle target, nb::handle value, nb::handle offset,
           nb::handle bits, nb::handle condition, bool flush) {
            const std::size_t size = word_size(bits);
            const CUdeviceptr address = word_address(target, offset, size);
            const std::uint64_t word = word_value(value, size);
            const WaitValueOptions how{.condition = WAIT_CONDITIONS.parse(condition, "condition"),
                                       .flush = flush};
            const nb::gil_scoped_release unlocked;
            if (size == sizeof(std::uint64_t)) {
                self.wait_value(address, word, how);
            } else {
                self.wait_value(address, static_cast<std::uint32_t>(word), how);
            }
        },
        "target"_a, "value"_a, nb::kw_only(), "offset"_a = 0, "bits"_a = 32,
        "condition"_a = "greater_or_equal", "flush"_a = false,
        nb::sig("def wait_value(self, target: Buffer | int, value: int, *, offset: int = 0, "
                "bits: int = 32, condition: cuprum.typing.WaitConditionType | str = "
                "'greater_or_equal', flush: bool = False) -> None"),
        R"(Make later work on this stream wait until memory holds a number. Returns at once.

Parameters
----------
target : Buffer or int
    Where, as a buffer or an address.
value : int
    What to compare with.
offset : int, optional
    Bytes from the start of `target`.
bits : int, optional
    32 or 64.
condition : WaitConditionType or str, optional
    ``"greater_or_equal"`` (counters may wrap round), ``"equal"``, ``"and"`` (some bit of `value` is
    set) or ``"nor"`` (some bit is neither in memory nor in `value`).
flush : bool, optional
    Also wait for writes of other devices that arrived before the number.

Raises
------
ValueError
    If the address is not aligned, or there is no such condition.)");
}

void add_attributes(nb::class_<PyStream>& type) {
    type.def("set_priority", &PyStream::set_priority, "priority"_a,
             nb::call_guard<nb::gil_scoped_release>(),
             R"(Change the priority of work enqueued from now on; lower runs first.

Parameters
----------
priority : int
    A number in the device's range.

Raises
------
ValueError
    If the priority is out of the device's range; the text shows the range.)");
    choice_property<&Stream::synchronization_policy, &Stream::set_synchronization_policy>(
        type, "synchronization_policy", SYNCHRONIZATION_POLICIES,
        "Return how threads wait for this stream.");
    choice_property<&Stream::memory_sync_domain, &Stream::set_memory_sync_domain>(
        type, "memory_sync_domain", MEMORY_SYNC_DOMAINS,
        "Return the domain whose writes a fence of this stream's kernels waits for.");
    type.def_prop_rw(
        "memory_sync_domain_map",
        [](const PyStream& self) {
            const MemorySyncDomainMap map = [&] {
                const nb::gil_scoped_release unlocked;
                return self.memory_sync_domain_map();
            }();
            return nb::make_tuple(map.default_domain, map.remote_domain);
        },
        [](const PyStream& self, std::pair<unsigned char, unsigned char> map) {
            const nb::gil_scoped_release unlocked;
            self.set_memory_sync_domain_map({map.first, map.second});
        },
        nb::for_getter(nb::sig("def memory_sync_domain_map(self) -> tuple[int, int]")),
        nb::for_setter(
            nb::sig("def memory_sync_domain_map(self, map: tuple[int, int], /) -> None")),
        "Return the hardware domains of the default and the remote domain.");
    type.def_prop_rw(
        "access_policy_window",
        [](const PyStream& self) -> nb::object {
            const AccessPolicyWindow window = [&] {
                const nb::gil_scoped_release unlocked;
                return self.access_policy_window();
            }();
            if (window.bytes == 0) {
                return nb::none();
            }
            return nb::module_::import_("cuprum._types")
                .attr("AccessPolicyWindow")(window.base, window.bytes, window.hit_ratio,
                                            ACCESS_PROPERTIES.member(window.hit),
                                            ACCESS_PROPERTIES.member(window.miss));
        },
        [](const PyStream& self, nb::handle given) {
            AccessPolicyWindow window;
            if (!given.is_none()) {
                for (const char* member : {"base", "bytes", "hit_ratio", "hit", "miss"}) {
                    if (!nb::hasattr(given, member)) {
                        raise_error(PyExc_TypeError,
                                    "access_policy_window must be None or have base, bytes, "
                                    "hit_ratio, hit and miss, as AccessPolicyWindow does, got " +
                                        type_label(given));
                    }
                }
                window = {.base = address_argument(nb::object(given.attr("base")), "base"),
                          .bytes = size_argument(nb::object(given.attr("bytes")), "bytes"),
                          .hit_ratio = nb::cast<float>(nb::object(given.attr("hit_ratio"))),
                          .hit = ACCESS_PROPERTIES.parse(nb::object(given.attr("hit")), "hit"),
                          .miss = ACCESS_PROPERTIES.parse(nb::object(given.attr("miss")), "miss")};
            }
            const nb::gil_scoped_release unlocked;
            self.set_access_policy_window(window);
        },
        nb::for_getter(
            nb::sig("def access_policy_window(self) -> cuprum._types.AccessPolicyWindow | None")),
        nb::for_setter(nb::sig("def access_policy_window(self, window: "
                               "cuprum._types.AccessPolicyWindow | None, /) -> None")),
        R"(Return the range of memory whose accesses are cached in a certain way, or None.

Set it to an object with ``base``, ``bytes``, ``hit_ratio``, ``hit`` and ``miss``, such as
``cuprum.AccessPolicyWindow``.)");
    type.def(
        "copy_attributes_from",
        [](const PyStream& self, const PyStream& other) {
            const nb::gil_scoped_release unlocked;
            self.copy_attributes_from(other);
        },
        "other"_a, nb::sig("def copy_attributes_from(self, other: Stream) -> None"),
        R"(Copy all attributes of another stream of the same context.

Parameters
----------
other : Stream
    The stream to copy from.

Raises
------
ClosedError
    If a stream is closed.)");
}

CUdeviceptr word_address(nb::handle target, nb::handle offset, std::size_t size) {
    const std::size_t distance = size_argument(offset, "offset");
    const PyBuffer* buffer = get_if<PyBuffer>(target);
    if (buffer == nullptr) {
        return address_argument(target, "target") + distance;
    }
    if (distance > buffer->size() || buffer->size() - distance < size) {
        raise_error(PyExc_ValueError, "offset is " + std::to_string(distance) + ", expected " +
                                          std::to_string(size) + " bytes from there on inside " +
                                          "the buffer's " + std::to_string(buffer->size()));
    }
    return buffer->handle() + distance;
}

std::size_t word_size(nb::handle bits) {
    const std::size_t count = size_argument(bits, "bits");
    if (count != 32 && count != 64) {
        raise_error(PyExc_ValueError, "bits is " + std::to_string(count) + ", expected 32 or 64");
    }
    return count / 8;
}

std::uint64_t word_value(nb::handle value, std::size_t size) {
    if (PyIndex_Check(value.ptr()) == 0) {
        raise_error(PyExc_TypeError, "value must be an integer, got " + type_label(value));
    }
    const nb::object number = nb::steal(PyNumber_Index(value.ptr()));
    if (!number.is_valid()) {
        throw nb::python_error();
    }
    int overflow = 0;
    const long long narrow = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    std::uint64_t word = static_cast<std::uint64_t>(narrow);
    if (overflow > 0) {
        word = PyLong_AsUnsignedLongLong(number.ptr());
    }
    const bool is_too_wide = PyErr_Occurred() != nullptr || overflow < 0;
    PyErr_Clear();
    const bool fits = size == sizeof(std::uint64_t)
                          ? !is_too_wide
                          : overflow == 0 && narrow >= std::numeric_limits<std::int32_t>::min() &&
                                narrow <= std::numeric_limits<std::uint32_t>::max();
    if (!fits) {
        raise_error(PyExc_ValueError, "value is " + repr_text(number) + ", expected a number of " +
                                          std::to_string(size * 8) + " bits");
    }
    return word;
}

} // namespace

} // namespace cuprum::python
