// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "device/device_objects.hpp"
#include "graphics/graphics_objects.hpp"
#include "memory/buffer_objects.hpp"
#include "memory/memory_objects.hpp"
#include "support/class.hpp"
#include "support/collection.hpp"
#include "texture/texture_objects.hpp"

#include <cuprum/graphics/graphics_resource.hpp>

#include <limits>

namespace cuprum::python {

using namespace nb::literals;

namespace {

struct RegisterFlag {
    std::string_view name;
    bool GraphicsOptions::* member; // null for "none"
};

constexpr std::array<RegisterFlag, 5> REGISTER_FLAGS{
    {{"none", nullptr},
     {"read_only", &GraphicsOptions::is_read_only},
     {"write_discard", &GraphicsOptions::is_write_discard},
     {"surface_load_store", &GraphicsOptions::is_surface_load_store},
     {"texture_gather", &GraphicsOptions::is_texture_gather}}};

constexpr Choices<GLDeviceList, 3> GL_DEVICE_LISTS{"GLDeviceListType",
                                                   {{{"all", GLDeviceList::All},
                                                     {"current_frame", GLDeviceList::CurrentFrame},
                                                     {"next_frame", GLDeviceList::NextFrame}}}};

/// Closes the buffer or the array of the last mapping, as a program would do it.
void close_mapped(PyGraphicsResource& self, nb::handle stream) {
    const nb::object mapped = std::move(self.mapped);
    if (!mapped.is_valid()) {
        return;
    }
    if (get_if<PyBuffer>(mapped) != nullptr) {
        mapped.attr("close")("stream"_a = stream);
    } else {
        mapped.attr("close")();
    }
}

[[nodiscard]] bool is_mapped(const PyGraphicsResource& self) {
    return self.GraphicsResource::is_mapped();
}

void unmap(PyGraphicsResource& self, nb::handle stream) {
    const std::optional<Stream> order = optional_stream_argument(stream);
    {
        const nb::gil_scoped_release unlocked;
        if (order) {
            self.GraphicsResource::unmap(*order);
        } else {
            self.GraphicsResource::unmap();
        }
    }
    close_mapped(self, nb::none());
}

void close(PyGraphicsResource& self, nb::handle stream) {
    if (self.is_closed()) {
        return;
    }
    const std::optional<Stream> order = optional_stream_argument(stream);
    close_mapped(self, stream);
    if (is_mapped(self)) { // slices or other arrays are still alive
        const nb::gil_scoped_release unlocked;
        if (order) {
            self.GraphicsResource::unmap(*order);
        } else {
            self.GraphicsResource::unmap();
        }
    }
    give_up(self.stream);
    self.drop();
}

[[nodiscard]] nb::object map(PyGraphicsResource& self, nb::handle stream) {
    const Stream& order = stream_argument(stream);
    Buffer buffer = without_gil([&] { return self.GraphicsResource::map(order); });
    nb::object made = make<PyBuffer>(std::move(buffer), nb::object(), nb::object());
    keep_foreign_stream(made, stream);
    self.mapped = made;
    return made;
}

/// Returns a name or an enumerator of OpenGL.
[[nodiscard]] unsigned gl_argument(nb::handle value, const char* name) {
    const std::uint64_t number = address_argument(value, name);
    if (number > std::numeric_limits<unsigned>::max()) {
        raise_error(PyExc_ValueError, std::string(name) + " is " + repr_text(value) +
                                          ", expected a number of OpenGL, which has 32 bits");
    }
    return static_cast<unsigned>(number);
}

[[nodiscard]] nb::object map_array(PyGraphicsResource& self, nb::handle index, nb::handle level,
                                   nb::handle stream) {
    const Stream& order = stream_argument(stream);
    const unsigned layer = index.is_none() ? 0 : gl_argument(index, "index");
    const unsigned mipmap_level = level.is_none() ? 0 : gl_argument(level, "level");
    OpaqueArray array =
        without_gil([&] { return self.GraphicsResource::map_array(order, layer, mipmap_level); });
    nb::object made = array_object(std::move(array));
    self.mapped = made;
    return made;
}

[[nodiscard]] nb::object mapped_array(const PyGraphicsResource& self, nb::handle index,
                                      nb::handle level) {
    const unsigned layer = index.is_none() ? 0 : gl_argument(index, "index");
    const unsigned mipmap_level = level.is_none() ? 0 : gl_argument(level, "level");
    return array_object(self.GraphicsResource::mapped_array(layer, mipmap_level));
}

void bind_use(Class<PyGraphicsResource>& type) {
    type.method<map>("map", HOT);
    type.method<map_array>("map_array", HOT);
    type.method<mapped_array>("mapped_array", HOT);
    type.method<unmap>("unmap", HOT);
    type.method<close>("close", HOT);
    type.method("set_map_use", [](const PyGraphicsResource& self, nb::handle use) {
        self.set_map_use(GRAPHICS_MAP_USES.parse(use, "use"));
    });
    type.method("__enter__", [](nb::handle self) {
        auto& held = held_by<PyGraphicsResource>(self);
        return held.stream.is_valid() ? map(held, held.stream) : nb::borrow(self);
    });
    type.method("__exit__",
                [](PyGraphicsResource& self, const nb::args&) { close(self, nb::none()); });
}

[[nodiscard]] std::string text_of(const PyGraphicsResource& self) {
    return to_string(static_cast<const GraphicsResource&>(self));
}

void bind_facts(Class<PyGraphicsResource>& type) {
    for (const char* name : {"handle", "resource_handle"}) {
        type.property(name, [](const PyGraphicsResource& self) {
            return reinterpret_cast<std::uintptr_t>(self.handle());
        });
    }
    type.property("is_mapped", is_mapped);
    type.property("is_image", &PyGraphicsResource::is_image);
    type.property("is_closed", &PyGraphicsResource::is_closed);
    type.property("context",
                  [](const PyGraphicsResource& self) { return context_object(self.context()); });
    type.property("device", [](const PyGraphicsResource& self) {
        return device_object(self.context().device());
    });
    type.method("__eq__", [](const PyGraphicsResource& self, const PyGraphicsResource& other) {
        return static_cast<const GraphicsResource&>(self) ==
               static_cast<const GraphicsResource&>(other);
    });
    type.method("__hash__",
                [](const PyGraphicsResource& self) { return std::hash<GraphicsResource>{}(self); });
    type.method<text_of>("__repr__");
}

[[nodiscard]] GraphicsOptions options_of(nb::handle flags) {
    GraphicsOptions options;
    if (!flags.is_none() && PyUnicode_Check(flags.ptr()) == 0 &&
        PySequence_Check(flags.ptr()) == 0) {
        raise_error(PyExc_TypeError,
                    "flags must be a str or a sequence of str, got " + type_label(flags));
    }
    for (const std::string& text : text_list_argument(flags, "flags")) {
        bool is_known = false;
        std::string expected;
        for (const RegisterFlag& flag : REGISTER_FLAGS) {
            if (flag.name == text) {
                is_known = true;
                if (flag.member != nullptr) {
                    options.*flag.member = true;
                }
            }
            expected += (expected.empty() ? "'" : ", '") + std::string(flag.name) + "'";
        }
        if (!is_known) {
            raise_error(PyExc_ValueError,
                        "Unknown register flag '" + text + "'; expected " + expected);
        }
    }
    return options;
}

[[nodiscard]] nb::object from_gl_buffer(nb::handle cls, nb::handle buffer, nb::handle flags,
                                        nb::handle stream) {
    const unsigned name = gl_argument(buffer, "gl_buffer");
    const GraphicsOptions options = options_of(flags);
    nb::object order;
    if (!stream.is_none()) {
        static_cast<void>(stream_argument(stream));
        order = nb::borrow(stream);
    }
    const Context context = current_context_for("registering a graphics resource");
    GraphicsResource resource =
        without_gil([&] { return GraphicsResource::from_gl_buffer(context, name, options); });
    return make_as<PyGraphicsResource>(cls, std::move(resource), std::move(order));
}

[[nodiscard]] nb::object from_gl_image(nb::handle cls, nb::handle image, nb::handle target,
                                       nb::handle flags) {
    const unsigned name = gl_argument(image, "image");
    const unsigned bound_to = gl_argument(target, "target");
    const GraphicsOptions options = options_of(flags);
    const Context context = current_context_for("registering a graphics resource");
    GraphicsResource resource = without_gil(
        [&] { return GraphicsResource::from_gl_image(context, name, bound_to, options); });
    return make_as<PyGraphicsResource>(cls, std::move(resource), nb::object());
}

[[nodiscard]] nb::object from_egl_image(nb::handle cls, nb::handle image, nb::handle flags) {
    auto* const address =
        reinterpret_cast<void*>(static_cast<std::uintptr_t>(address_argument(image, "image")));
    const GraphicsOptions options = options_of(flags);
    const Context context = current_context_for("registering a graphics resource");
    GraphicsResource resource =
        without_gil([&] { return GraphicsResource::from_egl_image(context, address, options); });
    return make_as<PyGraphicsResource>(cls, std::move(resource), nb::object());
}

} // namespace

void bind_graphics_resource(nb::module_& module) {
    Class<PyGraphicsResource> type(
        module, "GraphicsResource", nb::is_weak_referenceable(),
        nb::type_slots(MemberSlots<PyGraphicsResource, &PyGraphicsResource::stream,
                                   &PyGraphicsResource::mapped>::slots));
    type.refuse_construction(
        "GraphicsResource objects cannot be instantiated directly. Use "
        "GraphicsResource.from_gl_buffer() or GraphicsResource.from_gl_image()");
    type.class_method<from_gl_buffer>("from_gl_buffer");
    type.class_method<from_gl_image>("from_gl_image");
    type.class_method<from_egl_image>("from_egl_image");
    bind_use(type);
    bind_facts(type);
    function(module, "gl_devices", [](nb::handle list) {
        const GLDeviceList which = GL_DEVICE_LISTS.parse(list, "devices");
        const std::vector<Device> found = without_gil([&] { return gl_devices(which); });
        nb::list result;
        for (const Device& device : found) {
            result.append(device_object(device));
        }
        return result;
    });
}

} // namespace cuprum::python
