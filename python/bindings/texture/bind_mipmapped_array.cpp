// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings.hpp"
#include "device/device_objects.hpp"
#include "support/arguments.hpp"
#include "texture/texture_objects.hpp"
#include "texture/texture_options.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/operators.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <functional>
#include <string>

namespace cuprum::python {

using namespace nb::literals;

namespace {

[[nodiscard]] std::uintptr_t address(const MipmappedArray& array);
[[nodiscard]] nb::object get_level(const PyMipmappedArray& self, nb::handle level);
void bind_facts(nb::class_<PyMipmappedArray>& type);

} // namespace

void bind_mipmapped_array(nb::module_& module) {
    nb::class_<PyMipmappedArray> type(module, "MipmappedArray", nb::is_weak_referenceable(),
                                      R"(An array with smaller versions of itself.

Made by ``Device.create_mipmapped_array``. Each level has half the size of the one before. Levels
are ``OpaqueArray`` objects that keep the whole alive.

Examples
--------
>>> options = cuprum.texture.MipmappedArrayOptions((64, 64), "float32", num_levels=3)
>>> array = device.create_mipmapped_array(options)
>>> array.get_level(1).shape
(32, 32))");
    note_type<PyMipmappedArray>(type);
    type.def(
        "__init__",
        [](nb::handle, const nb::args&, const nb::kwargs&) {
            raise_error(PyExc_RuntimeError, "MipmappedArray cannot be instantiated directly. Use "
                                            "Device.create_mipmapped_array()");
        },
        nb::sig("def __init__(self, *args: object, **kwargs: object) -> None"));
    bind_facts(type);
    type.def("get_level", get_level, "level"_a.none(),
             nb::sig("def get_level(self, level: int) -> OpaqueArray"),
             R"(Return a level as an array, which keeps the whole alive.

Parameters
----------
level : int
    0 is the largest one.

Returns
-------
OpaqueArray
    The level.

Raises
------
ValueError
    If there is no such level.)");
    type.def("close", &PyMipmappedArray::drop,
             R"(Release this object's share of the array. Calling it again does nothing.

Levels, textures and graphs keep their shares.)");
    type.def(
        "__enter__", [](nb::object self) { return self; },
        nb::sig("def __enter__(self) -> MipmappedArray"));
    type.def(
        "__exit__", [](PyMipmappedArray& self, nb::handle, nb::handle, nb::handle) { self.drop(); },
        "exc_type"_a.none(), "exc"_a.none(), "tb"_a.none(),
        nb::sig("def __exit__(self, exc_type: object, exc: object, tb: object) -> None"));
    type.def(
        "__eq__",
        [](const PyMipmappedArray& self, const PyMipmappedArray& other) {
            return static_cast<const MipmappedArray&>(self) ==
                   static_cast<const MipmappedArray&>(other);
        },
        nb::is_operator(), nb::sig("def __eq__(self, other: object, /) -> bool"));
    type.def("__hash__", [](const PyMipmappedArray& self) {
        return std::hash<std::uintptr_t>{}(address(self));
    });
    type.def("__repr__", [](const PyMipmappedArray& self) -> std::string {
        if (self.is_closed()) {
            return "<MipmappedArray closed>";
        }
        const MipmappedArrayOptions options = self.options();
        return "MipmappedArray(shape=" + repr_text(shape_object(options.array.extent)) +
               ", format=" +
               nb::cast<std::string>(nb::object(format_object(options.array.format).attr("name"))) +
               ", num_channels=" + std::to_string(options.array.num_channels) +
               ", num_levels=" + std::to_string(options.num_levels) + ")";
    });
}

nb::object sparse_object(const ArraySparseProperties& properties) {
    return nb::module_::import_("cuprum._texture_options")
        .attr("ArraySparseProperties")(
            nb::make_tuple(properties.tile.width, properties.tile.height, properties.tile.depth),
            properties.miptail_first_level, properties.miptail_size, properties.is_single_miptail);
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

std::uintptr_t address(const MipmappedArray& array) {
    return array.is_closed() ? 0 : reinterpret_cast<std::uintptr_t>(array.handle());
}

nb::object get_level(const PyMipmappedArray& self, nb::handle level) {
    Py_ssize_t number = 0;
    if (!read_small_int(level, number)) {
        const nb::object index = nb::steal(PyNumber_Index(level.ptr()));
        if (!index.is_valid()) {
            clear_error(PyExc_TypeError);
            raise_error(PyExc_TypeError, "level must be an int, got " + type_label(level));
        }
        if (!read_small_int(index, number)) {
            raise_error(PyExc_ValueError, "level is " + repr_text(index) +
                                              ", expected less than num_levels, which is " +
                                              std::to_string(self.num_levels()));
        }
    }
    if (number < 0) {
        raise_error(PyExc_ValueError,
                    "level is " + std::to_string(number) + ", expected a number >= 0");
    }
    const unsigned levels = self.num_levels();
    if (number >= static_cast<Py_ssize_t>(levels)) {
        raise_error(PyExc_ValueError, "level is " + std::to_string(number) +
                                          ", expected less than num_levels, which is " +
                                          std::to_string(levels));
    }
    return array_object(self.level(static_cast<unsigned>(number)));
}

void bind_facts(nb::class_<PyMipmappedArray>& type) {
    type.def_prop_ro(
        "handle", [](const PyMipmappedArray& self) { return address(self); },
        "Return the driver's ``CUmipmappedArray`` as an int, 0 once closed.");
    type.def_prop_ro("is_closed", &PyMipmappedArray::is_closed,
                     "Return whether ``close`` was called.");
    type.def_prop_ro(
        "shape", [](const PyMipmappedArray& self) { return shape_object(self.extent()); },
        nb::sig("def shape(self) -> tuple[int, ...]"),
        "Return width, height and depth of level 0 in elements, as many as there are.");
    type.def_prop_ro(
        "format", [](const PyMipmappedArray& self) { return format_object(self.format()); },
        nb::sig("def format(self) -> cuprum.typing.ArrayFormatType"),
        "Return the format of the elements.");
    type.def_prop_ro("num_channels", &PyMipmappedArray::num_channels,
                     "Return the number of channels of an element.");
    type.def_prop_ro("num_levels", &PyMipmappedArray::num_levels, "Return the number of levels.");
    type.def_prop_ro("num_layers", &PyMipmappedArray::num_layers,
                     "Return the number of layers, 0 if the array has none.");
    type.def_prop_ro("is_cubemap", &PyMipmappedArray::is_cubemap,
                     "Return whether the array has six faces.");
    type.def_prop_ro("is_surface_load_store", &PyMipmappedArray::is_surface_load_store,
                     "Return whether a ``SurfaceObject`` can be made of a level.");
    type.def_prop_ro(
        "device", [](const PyMipmappedArray& self) { return device_object(self.device()); },
        nb::sig("def device(self) -> Device"), "Return the device that the array lies on.");
    type.def_prop_ro(
        "memory_requirements",
        [](const PyMipmappedArray& self) {
            const ArrayMemoryRequirements needed = self.memory_requirements();
            return nb::module_::import_("cuprum._texture_options")
                .attr("ArrayMemoryRequirements")(needed.size, needed.alignment);
        },
        nb::sig("def memory_requirements(self) -> cuprum._texture_options.ArrayMemoryRequirements"),
        R"(Return the memory that an array with ``is_deferred_mapping`` needs.

Raises
------
ValueError
    If the array has its own memory.)");
    type.def_prop_ro(
        "sparse_properties",
        [](const PyMipmappedArray& self) { return sparse_object(self.sparse_properties()); },
        nb::sig("def sparse_properties(self) -> cuprum._texture_options.ArraySparseProperties"),
        R"(Return how the memory of a sparse array is divided.

Raises
------
ValueError
    If the array is not sparse.)");
}

} // namespace

} // namespace cuprum::python
