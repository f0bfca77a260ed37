// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/arguments.hpp"
#include "support/compatibility.hpp"
#include "support/errors.hpp"
#include "support/python_objects.hpp"

#include <cuprum/device.hpp>

#include <cuda.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

namespace cuprum::python {

using namespace nb::literals;

namespace {

// The GIL is kept: the core remembers the values, and the driver answers the rest from a table.
int read(const DeviceProperties& properties, int attribute) {
    try {
        return properties.get(attribute);
    } catch (const CUDAError& error) {
        if (error.code() != CUDA_ERROR_INVALID_VALUE) {
            throw;
        }
        if (!compatibility::reads_unknown_attributes_as_zero()) {
            raise_as("UnknownAttributeError", error, error.what());
        }
        switch (attribute) {
        case CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT:
            return 1;
        case CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID:
            return -1;
        default:
            return 0;
        }
    }
}

} // namespace

void bind_device_properties(nb::module_& module) {
    nb::class_<DeviceProperties> type(
        module, "DeviceProperties", nb::is_weak_referenceable(),
        R"(The attributes of one device, under the driver's names in lower case.

If the driver does not know an attribute, reading it raises an error that is an AttributeError and a CUDAError. ``get`` returns a
default in that case, and ``is_supported`` returns whether the driver knows it.

Examples
--------
>>> device.properties.warp_size
32
>>> device.properties.get("multiprocessor_count", 0) > 0
True)");
    note_type<DeviceProperties>(type);
    type.def(
        "__init__",
        [](nb::handle, const nb::args&, const nb::kwargs&) {
            raise_error(PyExc_RuntimeError,
                        "DeviceProperties cannot be instantiated directly. Use Device.properties");
        },
        nb::sig("def __init__(self, *args: object, **kwargs: object) -> None"));
#define CUPRUM_INT_ATTRIBUTE(name, number)                                                         \
    type.def_prop_ro(                                                                              \
        #name, [](const DeviceProperties& self) { return read(self, number); },                    \
        "Return the driver's attribute of this name.");
#define CUPRUM_BOOL_ATTRIBUTE(name, number)                                                        \
    type.def_prop_ro(                                                                              \
        #name, [](const DeviceProperties& self) { return read(self, number) != 0; },               \
        "Return the driver's attribute of this name.");
#include <cuprum/detail/device_attributes.def>
#undef CUPRUM_INT_ATTRIBUTE
#undef CUPRUM_BOOL_ATTRIBUTE
    type.def(
        "get",
        [](const DeviceProperties& self, const std::string& name, nb::handle fallback) {
            // is_supported raises for a name that no driver knows.
            return self.is_supported(name) ? nb::object(nb::int_(self.get(name)))
                                           : nb::borrow(fallback);
        },
        "name"_a, "default"_a = nb::none(),
        nb::sig("def get(self, name: str, default: object = None) -> object"),
        R"(Return an attribute by name, or a default if the driver does not know it.

Parameters
----------
name : str
    The driver's name in lower case, such as ``"multiprocessor_count"``.
default : object, optional
    Returned if this driver does not know the attribute.

Returns
-------
object
    The value or the default.

Raises
------
ValueError
    If there is no attribute of that name at all.)");
    type.def("__repr__", [](const DeviceProperties& self) {
        return "<DeviceProperties compute_capability=" +
               std::to_string(self.compute_capability_major()) + "." +
               std::to_string(self.compute_capability_minor()) +
               " multiprocessor_count=" + std::to_string(self.multiprocessor_count()) +
               " warp_size=" + std::to_string(self.warp_size()) + ">";
    });
    type.def("is_supported", &DeviceProperties::is_supported, "name"_a,
             R"(Return whether the driver knows an attribute.

Parameters
----------
name : str
    The name of an attribute.

Returns
-------
bool
    False if the driver is too old for it.

Raises
------
ValueError
    If there is no attribute of that name at all.)");
    type.def_static("names", &DeviceProperties::names,
                    R"(Return the names of all attributes, in the driver's order.

Returns
-------
list[str]
    The names.)");
}

} // namespace cuprum::python
