// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// TextureObject and SurfaceObject, and the methods of Device that make arrays and both of them.

#include "texture/bind_texture_object.hpp"

#include "memory/buffer_objects.hpp"
#include "support/class.hpp"
#include "support/collection.hpp"
#include "support/compatibility.hpp"
#include "texture/texture_objects.hpp"
#include "texture/texture_options.hpp"

#include <vector>

namespace cuprum::python {

namespace {

template <typename Held>
[[nodiscard]] unsigned long long number_of(const Held& self) {
    return self.is_closed() ? 0 : self.handle();
}

template <typename Held>
void close(Held& self) {
    self.drop();
    give_up(self.source);
}

template <typename Held>
void bind_common(Class<Held>& type, const char* factory) {
    const std::string name = Held::CLASS_NAME;
    type.refuse_construction(name + " cannot be instantiated directly. Use Device." + factory +
                             "()");
    type.property("handle", number_of<Held>);
    type.property("is_closed", [](const Held& self) { return self.is_closed(); });
    type.property("resource", [](const Held& self) {
        return self.source.is_valid() ? self.source : nb::none();
    });
    type.property("device", [](const Held& self) { return device_object(self.device()); });
    type.template method<close<Held>>("close", HOT);
    type.method("__enter__", [](nb::object self) { return self; });
    type.method("__exit__", [](Held& self, nb::handle, nb::handle, nb::handle) { close(self); });
    type.method("__repr__", [](const Held& self) -> std::string {
        const std::string name = Held::CLASS_NAME;
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

[[nodiscard]] nb::object create_opaque_array(const PyDevice& self, nb::handle options) {
    const OpaqueArrayOptions how = array_options(
        texture_options_argument(options, "OpaqueArrayOptions", "Opaque array options"));
    check_set_current(self);
    auto array = without_gil([&] { return self.core.create_opaque_array(how); });
    return array_object(std::move(array));
}

[[nodiscard]] nb::object create_mipmapped_array(const PyDevice& self, nb::handle options) {
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
    auto array = without_gil([&] { return self.core.create_mipmapped_array(how); });
    return make<PyMipmappedArray>(std::move(array));
}

[[nodiscard, gnu::hot]] nb::object create_texture_object(PyDevice& self, nb::handle resource,
                                                         nb::handle options) {
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

[[nodiscard]] nb::object create_surface_object(PyDevice& self, nb::handle resource) {
    const ResourceDescriptor& memory = resource_argument(resource);
    check_set_current(self);
    auto surface = [&] {
        const Brief unlocked;
        return self.core.create_surface_object(memory);
    }();
    return make<PySurfaceObject>(std::move(surface), nb::borrow(resource));
}

} // namespace

void bind_texture_object(nb::module_& module) {
    Class<TextureSampling>(module, "_TextureSampling");
    note_type<TextureSampling>(module.attr("_TextureSampling"));
    using TextureSlots =
        MemberSlots<PyTextureObject, &PyTextureObject::source, &PyTextureObject::settings>;
    Class<PyTextureObject> texture(module, "TextureObject", nb::is_weak_referenceable(),
                                   nb::pooled(), nb::type_slots(TextureSlots::slots));
    recycle<PyTextureObject>(texture);
    bind_common(texture, "create_texture_object");
    texture.property("options", [](const PyTextureObject& self) {
        return self.settings.is_valid() ? self.settings
                                        : nb::object(nb::module_::import_("cuprum._texture_options")
                                                         .attr("TextureObjectOptions")());
    });
    using SurfaceSlots = MemberSlots<PySurfaceObject, &PySurfaceObject::source>;
    Class<PySurfaceObject> surface(module, "SurfaceObject", nb::is_weak_referenceable(),
                                   nb::pooled(), nb::type_slots(SurfaceSlots::slots));
    recycle<PySurfaceObject>(surface);
    bind_common(surface, "create_surface_object");
}

void add_texture_making(Class<PyDevice>& type) {
    type.method<create_opaque_array>("create_opaque_array");
    type.method<create_mipmapped_array>("create_mipmapped_array");
    type.method<create_texture_object>("create_texture_object", HOT);
    type.method<create_surface_object>("create_surface_object", HOT);
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

} // namespace cuprum::python
