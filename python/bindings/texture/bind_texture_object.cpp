// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// TextureObject and SurfaceObject, and the methods of Device that make arrays and both of them.

#include "texture/bind_texture_object.hpp"

#include "bindings.hpp"
#include "memory/buffer_objects.hpp"
#include "support/arguments.hpp"
#include "support/collection.hpp"
#include "support/compatibility.hpp"
#include "support/fast_method.hpp"
#include "texture/texture_objects.hpp"
#include "texture/texture_options.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace cuprum::python {

using namespace nb::literals;

namespace {

[[nodiscard, gnu::hot]] nb::object create_texture_object(PyDevice& self, nb::handle resource,
                                                         nb::handle options);
[[nodiscard]] nb::object create_surface_object(PyDevice& self, nb::handle resource);
[[nodiscard]] nb::object create_opaque_array(const PyDevice& self, nb::handle options);
[[nodiscard]] nb::object create_mipmapped_array(const PyDevice& self, nb::handle options);
template <typename Held>
void bind_common(nb::class_<Held>& type, const char* factory);

template <typename Held>
[[nodiscard]] unsigned long long number_of(const Held& self) {
    return self.is_closed() ? 0 : self.handle();
}

template <typename Held>
void close(Held& self) {
    self.drop();
    give_up(self.source);
}

} // namespace

void bind_texture_object(nb::module_& module) {
    nb::class_<TextureSampling>(module, "_TextureSampling",
                                "The settings of a texture, checked and converted.");
    note_type<TextureSampling>(module.attr("_TextureSampling"));
    using TextureSlots =
        MemberSlots<PyTextureObject, &PyTextureObject::source, &PyTextureObject::settings>;
    nb::class_<PyTextureObject> texture(
        module, "TextureObject", nb::is_weak_referenceable(), nb::pooled(),
        nb::type_slots(TextureSlots::slots),
        R"(A handle by which kernels read an array or a buffer as a texture.

Made by ``Device.create_texture_object``. It keeps the memory alive. Pass it to ``launch`` for a
parameter of type ``cudaTextureObject_t``, and keep it until the kernels that read it are done.

Examples
--------
>>> array = device.create_opaque_array({"shape": (8, 8), "format": "float32"})
>>> resource = cuprum.texture.ResourceDescriptor.from_opaque_array(array)
>>> texture = device.create_texture_object(resource=resource, options={"filter_mode": "linear"}))");
    note_type<PyTextureObject>(texture);
    recycle<PyTextureObject>(texture);
    bind_common(texture, "create_texture_object");
    texture.def_prop_ro(
        "options",
        [](const PyTextureObject& self) {
            return self.settings.is_valid()
                       ? self.settings
                       : nb::object(nb::module_::import_("cuprum._texture_options")
                                        .attr("TextureObjectOptions")());
        },
        nb::sig("def options(self) -> cuprum._texture_options.TextureObjectOptions"),
        "Return the options that it was made with.");
    using SurfaceSlots = MemberSlots<PySurfaceObject, &PySurfaceObject::source>;
    nb::class_<PySurfaceObject> surface(module, "SurfaceObject", nb::is_weak_referenceable(),
                                        nb::pooled(), nb::type_slots(SurfaceSlots::slots),
                                        R"(A handle by which kernels read and write an array.

Made by ``Device.create_surface_object``. It keeps the array alive. Pass it to ``launch`` for a
parameter of type ``cudaSurfaceObject_t``, and keep it until the kernels that use it are done.

Examples
--------
>>> options = cuprum.texture.OpaqueArrayOptions((8, 8), "float32", is_surface_load_store=True)
>>> resource = cuprum.texture.ResourceDescriptor.from_opaque_array(
...     device.create_opaque_array(options))
>>> surface = device.create_surface_object(resource=resource))");
    note_type<PySurfaceObject>(surface);
    recycle<PySurfaceObject>(surface);
    bind_common(surface, "create_surface_object");
}

void add_texture_making(nb::class_<PyDevice>& type) {
    type.def("create_opaque_array", create_opaque_array, "options"_a.none(),
             nb::sig("def create_opaque_array(self, options: "
                     "cuprum._texture_options.OpaqueArrayOptions | dict) -> OpaqueArray"),
             R"(Create an array for textures and surfaces.

Parameters
----------
options : OpaqueArrayOptions or dict
    Size, format and use.

Returns
-------
OpaqueArray
    The array.

Raises
------
ValueError
    If options contradict each other, or a size exceeds a limit of the device. The text names it.
OutOfMemoryError
    If the device has no memory left.)");
    type.def("create_mipmapped_array", create_mipmapped_array, "options"_a.none(),
             nb::sig("def create_mipmapped_array(self, options: "
                     "cuprum._texture_options.MipmappedArrayOptions | dict) -> MipmappedArray"),
             R"(Create an array with levels, each half as large as the one before.

Parameters
----------
options : MipmappedArrayOptions or dict
    Size, format, levels and use.

Returns
-------
MipmappedArray
    The array.

Raises
------
ValueError
    If options contradict each other, there cannot be so many levels, or a size exceeds a limit of
    the device.
OutOfMemoryError
    If the device has no memory left.)");
    fast_method<create_texture_object>(
        type,
        "def create_texture_object(self, *, resource: ResourceDescriptor, options: "
        "cuprum._texture_options.TextureObjectOptions | dict | None = None) -> TextureObject",
        R"(Create a texture.

Parameters
----------
resource : ResourceDescriptor
    The memory that kernels read.
options : TextureObjectOptions or dict, optional
    How they read it.

Returns
-------
TextureObject
    The texture.

Raises
------
ValueError
    If the options do not fit the resource, or exceed a limit of the device. The text names it.
ClosedError
    If the array or the buffer is closed.)");
    fast_method<create_surface_object>(
        type, "def create_surface_object(self, *, resource: ResourceDescriptor) -> SurfaceObject",
        R"(Create a surface.

Parameters
----------
resource : ResourceDescriptor
    An array made with ``is_surface_load_store=True``.

Returns
-------
SurfaceObject
    The surface.

Raises
------
ValueError
    If the resource is no such array.
ClosedError
    If the array is closed.)");
}

const detail::HandleArgument* handle_argument(nb::handle object) noexcept {
    if (const auto* const texture = get_if<PyTextureObject>(object)) {
        return texture;
    }
    return get_if<PySurfaceObject>(object);
}

std::vector<const detail::HandleArgument*> handle_arguments(std::span<PyObject* const> values) {
    std::vector<const detail::HandleArgument*> found;
    for (PyObject* const value : values) {
        if (const detail::HandleArgument* const handle = handle_argument(value)) {
            found.push_back(handle);
        }
    }
    return found;
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

template <typename Held>
void bind_common(nb::class_<Held>& type, const char* factory) {
    const std::string name = Held::CLASS_NAME;
    type.def(
        "__init__",
        [name, factory](nb::handle, const nb::args&, const nb::kwargs&) {
            raise_error(PyExc_RuntimeError,
                        name + " cannot be instantiated directly. Use Device." + factory + "()");
        },
        nb::sig("def __init__(self, *args: object, **kwargs: object) -> None"));
    fast_property<number_of<Held>>(type, "def handle(self) -> int",
                                   "Return the handle that kernels take as an int, 0 once closed.");
    type.def_prop_ro(
        "is_closed", [](const Held& self) { return self.is_closed(); },
        "Return whether ``close`` was called.");
    type.def_prop_ro(
        "resource",
        [](const Held& self) { return self.source.is_valid() ? self.source : nb::none(); },
        nb::sig("def resource(self) -> ResourceDescriptor | None"),
        "Return the memory that it was made from, or None once closed.");
    type.def_prop_ro(
        "device", [](const Held& self) { return device_object(self.device()); },
        nb::sig("def device(self) -> Device"), "Return the device that it belongs to.");
    fast_method<close<Held>>(type, "def close(self) -> None",
                             R"(Release this object's share. Calling it again does nothing.

Graphs that use it keep their shares.)");
    type.def(
        "__enter__", [](nb::object self) { return self; },
        nb::sig(("def __enter__(self) -> " + name).c_str()));
    type.def(
        "__exit__", [](Held& self, nb::handle, nb::handle, nb::handle) { close(self); },
        "exc_type"_a.none(), "exc"_a.none(), "tb"_a.none(),
        nb::sig("def __exit__(self, exc_type: object, exc: object, tb: object) -> None"));
    type.def("__repr__", [name](const Held& self) -> std::string {
        return self.is_closed() ? "<" + name + " closed>"
                                : name + "(handle=" + hex_text(self.handle()) + ")";
    });
}

/// Returns the core's descriptor.
/// @throws TypeError for anything else; ClosedError if the Python object behind it was closed.
const ResourceDescriptor& resource_argument(nb::handle resource) {
    const auto* const held = get_if<PyResourceDescriptor>(resource);
    if (held == nullptr) {
        raise_error(PyExc_TypeError,
                    "resource must be a ResourceDescriptor, got " + type_label(resource));
    }
    // The core looks at its own share. Only Python knows that its object was closed.
    const auto check = [](const auto* object) {
        if (object->is_closed()) [[unlikely]] {
            static_cast<void>(object->handle()); // raises
        }
    };
    const nb::handle source = held->source;
    if (const auto* const array = get_if<PyOpaqueArray>(source)) [[likely]] {
        check(array);
    } else if (const auto* const mipmap = get_if<PyMipmappedArray>(source)) {
        check(mipmap);
    } else if (const auto* const buffer = get_if<PyBuffer>(source)) {
        check(buffer);
    }
    return held->core;
}

nb::object create_opaque_array(const PyDevice& self, nb::handle options) {
    const OpaqueArrayOptions how = array_options(
        texture_options_argument(options, "OpaqueArrayOptions", "Opaque array options"));
    check_set_current(self);
    auto array = [&] {
        const nb::gil_scoped_release unlocked;
        return self.core.create_opaque_array(how);
    }();
    return array_object(std::move(array));
}

nb::object create_mipmapped_array(const PyDevice& self, nb::handle options) {
    const nb::object given =
        texture_options_argument(options, "MipmappedArrayOptions", "Mipmapped array options");
    MipmappedArrayOptions how{.array = array_options(given)};
    const nb::object levels = given.attr("num_levels");
    if (!levels.is_none()) {
        const std::size_t count = size_argument(levels, "num_levels");
        if (count == 0) { // set after the options were checked
            raise_error(PyExc_ValueError, "num_levels is 0, expected at least 1, or None");
        }
        how.num_levels = static_cast<unsigned>(std::min<std::size_t>(count, 0xffffffffU));
    }
    check_set_current(self);
    auto array = [&] {
        const nb::gil_scoped_release unlocked;
        return self.core.create_mipmapped_array(how);
    }();
    return make<PyMipmappedArray>(std::move(array));
}

nb::object create_texture_object(PyDevice& self, nb::handle resource, nb::handle options) {
    const ResourceDescriptor& memory = resource_argument(resource);
    nb::object settings;
    nb::object sampling; // keeps the settings if another thread changes the options
    if (PyObject* const known = SAMPLING_SLOT.find(options.ptr());
        known != nullptr && Py_TYPE(known) == TYPE<TextureSampling> && is_ready_inside(known))
        [[likely]] {
        settings = nb::borrow(options);
        sampling = nb::borrow(known);
    } else if (!options.is_none()) {
        settings =
            texture_options_argument(options, "TextureObjectOptions", "Texture object options");
        sampling = sampling_options(settings);
    }
    static const TextureObjectOptions defaults;
    const TextureObjectOptions& how =
        sampling.is_valid() ? inside<TextureSampling>(sampling)->core : defaults;
    check_set_current(self);
    auto texture = [&] {
        const Brief unlocked;
        return self.core.create_texture_object(memory, how);
    }();
    return make<PyTextureObject>(std::move(texture), nb::borrow(resource), std::move(settings));
}

nb::object create_surface_object(PyDevice& self, nb::handle resource) {
    const ResourceDescriptor& memory = resource_argument(resource);
    check_set_current(self);
    auto surface = [&] {
        const Brief unlocked;
        return self.core.create_surface_object(memory);
    }();
    return make<PySurfaceObject>(std::move(surface), nb::borrow(resource));
}

} // namespace

} // namespace cuprum::python
