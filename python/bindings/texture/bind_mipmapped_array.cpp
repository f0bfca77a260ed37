// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "device/device_objects.hpp"
#include "support/class.hpp"
#include "texture/texture_objects.hpp"
#include "texture/texture_options.hpp"

namespace cuprum::python {

namespace {

[[nodiscard]] std::uintptr_t address(const MipmappedArray& array) {
    return array.is_closed() ? 0 : reinterpret_cast<std::uintptr_t>(array.handle());
}

[[nodiscard]] nb::object get_level(const PyMipmappedArray& self, nb::handle level) {
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

void bind_facts(Class<PyMipmappedArray>& type) {
    type.property("handle", [](const PyMipmappedArray& self) { return address(self); });
    type.property("is_closed", &PyMipmappedArray::is_closed);
    type.property("shape",
                  [](const PyMipmappedArray& self) { return shape_object(self.extent()); });
    type.property("format",
                  [](const PyMipmappedArray& self) { return format_object(self.format()); });
    type.property("num_channels", &PyMipmappedArray::num_channels);
    type.property("num_levels", &PyMipmappedArray::num_levels);
    type.property("num_layers", &PyMipmappedArray::num_layers);
    type.property("is_cubemap", &PyMipmappedArray::is_cubemap);
    type.property("is_surface_load_store", &PyMipmappedArray::is_surface_load_store);
    type.property("device",
                  [](const PyMipmappedArray& self) { return device_object(self.device()); });
    type.property("memory_requirements", [](const PyMipmappedArray& self) {
        const ArrayMemoryRequirements needed = self.memory_requirements();
        return nb::module_::import_("cuprum._texture_options")
            .attr("ArrayMemoryRequirements")(needed.size, needed.alignment);
    });
    type.property("sparse_properties", [](const PyMipmappedArray& self) {
        return sparse_object(self.sparse_properties());
    });
}

} // namespace

void bind_mipmapped_array(nb::module_& module) {
    Class<PyMipmappedArray> type(module, "MipmappedArray", nb::is_weak_referenceable());
    type.refuse_construction("MipmappedArray cannot be instantiated directly. Use "
                             "Device.create_mipmapped_array()");
    bind_facts(type);
    type.method<get_level>("get_level");
    type.method<&PyMipmappedArray::drop>("close");
    type.method("__enter__", [](nb::object self) { return self; });
    type.method("__exit__",
                [](PyMipmappedArray& self, nb::handle, nb::handle, nb::handle) { self.drop(); });
    type.method("__eq__", [](const PyMipmappedArray& self, const PyMipmappedArray& other) {
        return static_cast<const MipmappedArray&>(self) ==
               static_cast<const MipmappedArray&>(other);
    });
    type.method("__hash__", [](const PyMipmappedArray& self) {
        return std::hash<std::uintptr_t>{}(address(self));
    });
    type.method("__repr__", [](const PyMipmappedArray& self) -> std::string {
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

} // namespace cuprum::python
