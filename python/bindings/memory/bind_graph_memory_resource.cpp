// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings.hpp"
#include "memory/buffer_objects.hpp"
#include "memory/memory_objects.hpp"
#include "support/python_objects.hpp"

#include <cuprum/device.hpp>
#include <cuprum/graph_memory_resource.hpp>
#include <cuprum/stream.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <string>
#include <utility>

namespace cuprum::python {

using namespace nb::literals;

namespace {

/// The attributes of a device's graph memory. Each read asks the driver.
struct PyGraphMemoryAttributes {
    std::shared_ptr<GraphMemoryResource> resource;
};

[[nodiscard]] GraphMemoryResource& core_of(const PyGraphMemoryResource& self) {
    return static_cast<GraphMemoryResource&>(*self.core);
}

/// Returns the one object of a device, made on first use and kept.
[[nodiscard]] nb::object resource_object(nb::handle device_id);

template <GraphMemoryAttribute Name>
void bind_attribute(nb::class_<PyGraphMemoryAttributes>& type, const char* name,
                    const char* sentence) {
    const auto set = [name](const PyGraphMemoryAttributes& self, nb::handle value) {
        constexpr bool is_mark = Name == GraphMemoryAttribute::UsedMemHigh ||
                                 Name == GraphMemoryAttribute::ReservedMemHigh;
        if (!is_mark) {
            raise_error(PyExc_AttributeError,
                        std::string("attribute '") + name +
                            "' of 'GraphMemoryResourceAttributes' objects is not writable");
        }
        if (const std::uint64_t wanted = address_argument(value, name); wanted != 0) {
            raise_error(PyExc_AttributeError, std::string("Attribute '") + name +
                                                  "' may only be set to zero (got " +
                                                  std::to_string(wanted) + ").");
        }
        const nb::gil_scoped_release unlocked;
        self.resource->set_attribute(Name, 0);
    };
    type.def_prop_rw(
        name,
        [](const PyGraphMemoryAttributes& self) {
            const nb::gil_scoped_release unlocked;
            return self.resource->attribute(Name);
        },
        set, nb::arg().none(),
        nb::for_getter(nb::sig((std::string("def ") + name + "(self) -> int").c_str())),
        nb::for_setter(
            nb::sig((std::string("def ") + name + "(self, value: int, /) -> None").c_str())),
        sentence);
}

void bind_attributes(nb::module_& module) {
    nb::class_<PyGraphMemoryAttributes> type(
        module, "GraphMemoryResourceAttributes",
        R"(Memory of a device that graphs hold and have held; each read asks the driver.

Examples
--------
>>> attributes = cuprum.GraphMemoryResource(device).attributes
>>> attributes.used_mem_current <= attributes.used_mem_high
True)");
    note_type<PyGraphMemoryAttributes>(type);
    type.def(
        "__init__",
        [](nb::handle, const nb::args&, const nb::kwargs&) {
            raise_error(PyExc_RuntimeError, "GraphMemoryResourceAttributes cannot be instantiated "
                                            "directly; use GraphMemoryResource.attributes");
        },
        nb::sig("def __init__(self, *args: object, **kwargs: object) -> None"));
    bind_attribute<GraphMemoryAttribute::ReservedMemCurrent>(
        type, "reserved_mem_current", "Return the bytes that are held for graphs.");
    bind_attribute<GraphMemoryAttribute::ReservedMemHigh>(
        type, "reserved_mem_high", "Return the most bytes that were held; may be set to 0.");
    bind_attribute<GraphMemoryAttribute::UsedMemCurrent>(type, "used_mem_current",
                                                         "Return the bytes in use.");
    bind_attribute<GraphMemoryAttribute::UsedMemHigh>(
        type, "used_mem_high", "Return the most bytes that were in use; may be set to 0.");
    type.def("__repr__", [](const PyGraphMemoryAttributes& self) {
        const auto field = [&](const char* name, GraphMemoryAttribute attribute) {
            return std::string(name) + "=" + std::to_string(self.resource->attribute(attribute));
        };
        const nb::gil_scoped_release unlocked;
        return "GraphMemoryResourceAttributes(" +
               field("reserved_mem_current", GraphMemoryAttribute::ReservedMemCurrent) + ", " +
               field("reserved_mem_high", GraphMemoryAttribute::ReservedMemHigh) + ", " +
               field("used_mem_current", GraphMemoryAttribute::UsedMemCurrent) + ", " +
               field("used_mem_high", GraphMemoryAttribute::UsedMemHigh) + ")";
    });
}

} // namespace

void bind_graph_memory_resource(nb::module_& module) {
    bind_attributes(module);
    nb::class_<PyGraphMemoryResource, PyNativeResource> type(
        module, "GraphMemoryResource", nb::is_weak_referenceable(),
        R"(The memory resource of the graph that is being captured. There is one per device.

Only streams that are capturing can allocate from it. Memory that the graph does not free itself may
be freed, once the graph has run, by closing the buffer on any stream.

Parameters
----------
device_id : Device or int
    The device whose memory it is.

Raises
------
TypeError
    If `device_id` is neither a Device nor an int.
ValueError
    If there is no such device.

Examples
--------
>>> resource = cuprum.GraphMemoryResource(device)
>>> with cuprum.graph.capture(stream) as builder:
...     scratch = resource.allocate(1024, stream=builder)
...     scratch.fill(0, stream=builder)
...     scratch.close()
>>> builder.complete().launch(stream))");
    note_type<PyGraphMemoryResource>(type);
    type.def(nb::new_(&resource_object), "device_id"_a.none());
    type.def(
        "allocate",
        [](nb::handle self, nb::handle size, nb::handle stream) {
            const std::size_t bytes = size_argument(size, "size");
            const Stream& order = stream_argument(stream);
            auto& core = core_of(held_by<PyGraphMemoryResource>(self));
            auto buffer = [&] {
                const nb::gil_scoped_release unlocked;
                return core.allocate(bytes, order);
            }();
            nb::object made = make<PyBuffer>(std::move(buffer), nb::borrow(self), nb::object());
            keep_foreign_stream(made, stream);
            return made;
        },
        "size"_a.none(), nb::kw_only(), "stream"_a.none(),
        nb::sig("def allocate(self, size: int, *, stream: Stream | GraphBuilder) -> Buffer"),
        R"(Allocate memory in the graph that a stream captures.

Parameters
----------
size : int
    The size in bytes.
stream : Stream or GraphBuilder
    A stream that is being captured, or its builder.

Returns
-------
Buffer
    Memory that exists while the graph runs.

Raises
------
RuntimeError
    If the stream is not capturing.
ValueError
    If it is another device's.)");
    type.def(
        "deallocate",
        [](const PyGraphMemoryResource& self, nb::handle ptr, nb::handle size, nb::handle stream) {
            const CUdeviceptr pointer = address_argument(ptr, "ptr");
            const std::size_t bytes = size_argument(size, "size");
            const Stream& order = stream_argument(stream);
            const nb::gil_scoped_release unlocked;
            self.core->deallocate_bytes(pointer, bytes, order);
        },
        "ptr"_a.none(), "size"_a.none(), nb::kw_only(), "stream"_a.none(),
        nb::sig(
            "def deallocate(self, ptr: int, size: int, *, stream: Stream | GraphBuilder) -> None"),
        R"(Free memory of a graph that no Buffer holds.

Parameters
----------
ptr : int
    The address of the memory.
size : int
    The size in bytes.
stream : Stream or GraphBuilder
    A stream that is being captured, or its builder.

Raises
------
TypeError
    If an argument has another type.
ValueError
    If `size` is negative.
CUDAError
    If `ptr` is not the start of such memory, or was freed before.)");
    type.def_prop_ro(
        "attributes",
        [](const PyGraphMemoryResource& self) {
            return make<PyGraphMemoryAttributes>(
                std::static_pointer_cast<GraphMemoryResource>(self.core));
        },
        nb::sig("def attributes(self) -> GraphMemoryResourceAttributes"),
        "Return what graphs hold and have held; each read asks the driver.");
    type.def(
        "trim", [](const PyGraphMemoryResource& self) { core_of(self).trim(); },
        nb::call_guard<nb::gil_scoped_release>(),
        R"(Return memory to the system that no graph uses now.

Raises
------
CUDAError
    If the driver refuses it.)");
    type.def("close", [](nb::handle) {}, "Do nothing: the memory is the device's.");
    type.def_prop_ro(
        "device_id", [](const PyGraphMemoryResource& self) { return self.core->device_id(); },
        "Return the ordinal of the device whose memory this is.");
    type.def_prop_ro(
        "is_device_accessible", [](const PyGraphMemoryResource&) { return true; },
        "Return whether devices can access the memory.");
    type.def_prop_ro(
        "is_host_accessible", [](const PyGraphMemoryResource&) { return false; },
        "Return whether the host can access the memory.");
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

nb::object resource_object(nb::handle device_id) {
    static nb::ft_mutex mutex;
    static auto* known = new std::vector<PyObject*>; // held for the life of the process
    const Device device = device_argument(device_id, "device_id");
    const nb::ft_lock_guard lock(mutex);
    known->resize(std::max(known->size(), static_cast<std::size_t>(device.ordinal()) + 1));
    PyObject*& slot = (*known)[static_cast<std::size_t>(device.ordinal())];
    if (slot == nullptr) {
        slot = make<PyGraphMemoryResource>(GraphMemoryResource::of(device)).release().ptr();
    }
    return nb::borrow(slot);
}

} // namespace

} // namespace cuprum::python
