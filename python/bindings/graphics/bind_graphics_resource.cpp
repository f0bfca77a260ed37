// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings.hpp"
#include "device/device_objects.hpp"
#include "graphics/graphics_objects.hpp"
#include "memory/buffer_objects.hpp"
#include "memory/memory_objects.hpp"
#include "support/arguments.hpp"
#include "support/collection.hpp"
#include "support/fast_method.hpp"
#include "support/python_objects.hpp"
#include "texture/texture_objects.hpp"

#include <cuprum/graphics/graphics_resource.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/operators.h>
#include <nanobind/stl/string.h>

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

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

[[nodiscard]] GraphicsOptions options_of(nb::handle flags);
[[nodiscard]] unsigned gl_argument(nb::handle value, const char* name);
[[nodiscard]] nb::object from_gl_buffer(nb::handle cls, nb::handle buffer, nb::handle flags,
                                        nb::handle stream);
[[nodiscard]] nb::object from_gl_image(nb::handle cls, nb::handle image, nb::handle target,
                                       nb::handle flags);
[[nodiscard]] nb::object from_egl_image(nb::handle cls, nb::handle image, nb::handle flags);
[[nodiscard]] nb::object map(PyGraphicsResource& self, nb::handle stream);
[[nodiscard]] nb::object map_array(PyGraphicsResource& self, nb::handle index, nb::handle level,
                                   nb::handle stream);
[[nodiscard]] nb::object mapped_array(const PyGraphicsResource& self, nb::handle index,
                                      nb::handle level);
void unmap(PyGraphicsResource& self, nb::handle stream);
void close(PyGraphicsResource& self, nb::handle stream);
[[nodiscard]] bool is_mapped(const PyGraphicsResource& self);
void close_mapped(PyGraphicsResource& self, nb::handle stream);
[[nodiscard]] std::string text_of(const PyGraphicsResource& self);
void bind_use(nb::class_<PyGraphicsResource>& type);
void bind_facts(nb::class_<PyGraphicsResource>& type);

} // namespace

void bind_graphics_resource(nb::module_& module) {
    nb::class_<PyGraphicsResource> type(
        module, "GraphicsResource", nb::is_weak_referenceable(),
        nb::type_slots(MemberSlots<PyGraphicsResource, &PyGraphicsResource::stream,
                                   &PyGraphicsResource::mapped>::slots),
        R"(A buffer or an image of OpenGL or EGL that CUDA can use.

The graphics API owns the contents. Map the resource before CUDA work uses it, and unmap it before
the graphics API does. OpenGL's context must be current on the calling thread whenever a resource
is registered, mapped, unmapped or closed.

Made by ``from_gl_buffer``, ``from_gl_image`` or ``from_egl_image``. In a ``with`` statement the
resource is closed at the end. If it was made with a stream, it is also mapped at the beginning,
and the statement gives the mapped buffer.

Examples
--------
>>> resource = cuprum.GraphicsResource.from_gl_buffer(vbo)  # doctest: +SKIP
>>> with resource.map(stream=stream) as vertices:  # doctest: +SKIP
...     cuprum.launch(stream, config, kernel, vertices))");
    note_type<PyGraphicsResource>(type);
    type.def(
        "__init__",
        [](nb::handle, const nb::args&, const nb::kwargs&) {
            raise_error(PyExc_RuntimeError,
                        "GraphicsResource objects cannot be instantiated directly. Use "
                        "GraphicsResource.from_gl_buffer() or GraphicsResource.from_gl_image()");
        },
        nb::sig("def __init__(self, *args: object, **kwargs: object) -> None"));
    fast_class_method<from_gl_buffer>(
        type,
        "def from_gl_buffer(cls, gl_buffer: int, *, flags: str | Sequence[str] | None = None, "
        "stream: Stream | None = None) -> GraphicsResource",
        R"(Register a buffer of OpenGL in the current context.

Parameters
----------
gl_buffer : int
    The name that ``glGenBuffers`` returned. The buffer must have storage.
flags : str or sequence of str, optional
    What kernels do with it: ``"read_only"``, or ``"write_discard"`` if they write all of it and
    read none of it. ``"none"`` is the default.
stream : Stream, optional
    Lets ``with`` map the resource on this stream and give the mapped buffer.

Returns
-------
GraphicsResource
    The registered resource.

Raises
------
ValueError
    If a flag is unknown or does not suit a buffer.
CUDAError
    If no context of OpenGL is current on this thread, or it has no such buffer.)");
    fast_class_method<from_gl_image>(
        type,
        "def from_gl_image(cls, image: int, target: int, *, flags: str | Sequence[str] | None = "
        "None) -> GraphicsResource",
        R"(Register a texture or a renderbuffer of OpenGL in the current context.

Parameters
----------
image : int
    The name that ``glGenTextures`` or ``glGenRenderbuffers`` returned.
target : int
    What it is bound to, such as ``GL_TEXTURE_2D``.
flags : str or sequence of str, optional
    What kernels do with it: ``"read_only"``, ``"write_discard"``, ``"surface_load_store"``,
    ``"texture_gather"``. ``"none"`` is the default.

Returns
-------
GraphicsResource
    The registered resource.

Raises
------
ValueError
    If a flag is unknown, or CUDA cannot use images of this target.
CUDAError
    If no context of OpenGL is current on this thread, or it has no such image.)");
    fast_class_method<from_egl_image>(
        type,
        "def from_egl_image(cls, image: int, *, flags: str | Sequence[str] | None = None) -> "
        "GraphicsResource",
        R"(Register an image of EGL in the current context.

Parameters
----------
image : int
    The address of the ``EGLImageKHR``.
flags : str or sequence of str, optional
    As for ``from_gl_image``.

Returns
-------
GraphicsResource
    The registered resource.

Raises
------
CUDAError
    If the driver refuses the image.)");
    bind_use(type);
    bind_facts(type);
    module.def(
        "gl_devices",
        [](nb::handle list) {
            const GLDeviceList which = GL_DEVICE_LISTS.parse(list, "devices");
            const std::vector<Device> found = [&] {
                const nb::gil_scoped_release unlocked;
                return gl_devices(which);
            }();
            nb::list result;
            for (const Device& device : found) {
                result.append(device_object(device));
            }
            return result;
        },
        "devices"_a = "all", nb::sig("def gl_devices(devices: str = \"all\") -> list[Device]"),
        R"(Return the devices that the current context of OpenGL uses.

Parameters
----------
devices : str
    ``"all"``, or those that render the ``"current_frame"`` or the ``"next_frame"``.

Returns
-------
list[Device]
    The devices.

Raises
------
CUDAError
    If no context of OpenGL is current on this thread.)");
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

void bind_use(nb::class_<PyGraphicsResource>& type) {
    fast_method<map>(type, "def map(self, *, stream: Stream) -> Buffer",
                     R"(Map the resource for the work of a stream and return its memory.

The buffer is the mapping: ``unmap``, or closing the buffer, ends it. The resource keeps the
buffer until then.

Parameters
----------
stream : Stream
    The work that uses the memory; pass ``device.default_stream`` for the default stream.

Returns
-------
Buffer
    The memory, until ``unmap``.

Raises
------
RuntimeError
    If the resource is mapped already, is closed, or is an image, which has no linear memory.
CUDAError
    If the driver refuses it. Nothing is mapped then.)");
    fast_method<map_array>(
        type,
        "def map_array(self, index: int = 0, level: int = 0, *, stream: Stream) -> "
        "OpaqueArray",
        R"(Map an image for the work of a stream and return one of its arrays.

The array is the mapping: ``unmap``, or closing all arrays of it, ends it. The resource keeps this
array until then.

Parameters
----------
index : int
    The layer of a layered image, or the face of a cube map.
level : int
    The mipmap level.
stream : Stream
    The work that uses the array.

Returns
-------
OpaqueArray
    The array, until ``unmap``.

Raises
------
RuntimeError
    If the resource is mapped already, is closed, or is a buffer, which has no arrays.
CUDAError
    If the image has no such array. Nothing is mapped then.)");
    fast_method<mapped_array>(
        type, "def mapped_array(self, index: int = 0, level: int = 0) -> OpaqueArray",
        R"(Return another array of an image that is mapped. It shares the mapping.

Parameters
----------
index : int
    The layer of a layered image, or the face of a cube map.
level : int
    The mipmap level.

Returns
-------
OpaqueArray
    The array, until ``unmap``.

Raises
------
RuntimeError
    If the resource is not mapped, or is a buffer.
CUDAError
    If the image has no such array.)");
    fast_method<unmap>(type, "def unmap(self, *, stream: Stream | None = None) -> None",
                       R"(Give the resource back to the graphics API and close the mapped buffer.

Parts of the buffer that are still alive must not be used any more. The arrays of an image raise
``ClosedError``, and so do their levels and planes and the textures and surfaces made of them.

Parameters
----------
stream : Stream, optional
    Later work of the graphics API waits for the work of this stream. Without one, for the work of
    the stream that the resource was mapped on.

Raises
------
RuntimeError
    If the resource is not mapped, or is closed.
CUDAError
    If the driver refuses it. The resource stays mapped then.)");
    fast_method<close>(type, "def close(self, stream: Stream | None = None) -> None",
                       R"(Unmap the resource if it is mapped, and unregister it.

Calling it again does nothing.

Parameters
----------
stream : Stream, optional
    The stream that the mapped buffer is closed on.

Raises
------
TypeError
    If `stream` is not a stream.
ClosedError
    If the stream is closed.
CUDAError
    If the driver cannot unmap the resource.)");
    type.def(
        "set_map_use",
        [](const PyGraphicsResource& self, nb::handle use) {
            self.set_map_use(GRAPHICS_MAP_USES.parse(use, "use"));
        },
        "use"_a.none(), nb::sig("def set_map_use(self, use: str) -> None"),
        R"(Set what kernels do with the resource when it is mapped next.

Parameters
----------
use : str
    ``"read_write"``, ``"read_only"`` or ``"write_discard"``.

Raises
------
RuntimeError
    If the resource is mapped.)");
    type.def(
        "__enter__",
        [](nb::handle self) {
            auto& held = held_by<PyGraphicsResource>(self);
            return held.stream.is_valid() ? map(held, held.stream) : nb::borrow(self);
        },
        nb::sig("def __enter__(self) -> GraphicsResource | Buffer"));
    type.def(
        "__exit__", [](PyGraphicsResource& self, const nb::args&) { close(self, nb::none()); },
        nb::sig("def __exit__(self, *exception: object) -> None"));
}

void bind_facts(nb::class_<PyGraphicsResource>& type) {
    for (const char* name : {"handle", "resource_handle"}) {
        type.def_prop_ro(
            name,
            [](const PyGraphicsResource& self) {
                return reinterpret_cast<std::uintptr_t>(self.handle());
            },
            nb::sig((std::string("def ") + name + "(self) -> int").c_str()),
            "Return the driver's ``CUgraphicsResource`` as an int.");
    }
    type.def_prop_ro("is_mapped", is_mapped, "Return whether CUDA may use the resource now.");
    type.def_prop_ro("is_image", &PyGraphicsResource::is_image,
                     "Return whether it was registered as an image.");
    type.def_prop_ro("is_closed", &PyGraphicsResource::is_closed,
                     "Return whether ``close`` was called.");
    type.def_prop_ro(
        "context", [](const PyGraphicsResource& self) { return context_object(self.context()); },
        nb::sig("def context(self) -> Context"), "Return the context that it was registered in.");
    type.def_prop_ro(
        "device",
        [](const PyGraphicsResource& self) { return device_object(self.context().device()); },
        nb::sig("def device(self) -> Device"), "Return the device that it was registered on.");
    type.def(
        "__eq__",
        [](const PyGraphicsResource& self, const PyGraphicsResource& other) {
            return static_cast<const GraphicsResource&>(self) ==
                   static_cast<const GraphicsResource&>(other);
        },
        nb::is_operator(), nb::sig("def __eq__(self, other: object, /) -> bool"));
    type.def("__hash__",
             [](const PyGraphicsResource& self) { return std::hash<GraphicsResource>{}(self); });
    type.def("__repr__", text_of);
}

GraphicsOptions options_of(nb::handle flags) {
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

/// Returns a name or an enumerator of OpenGL.
unsigned gl_argument(nb::handle value, const char* name) {
    const std::uint64_t number = address_argument(value, name);
    if (number > std::numeric_limits<unsigned>::max()) {
        raise_error(PyExc_ValueError, std::string(name) + " is " + repr_text(value) +
                                          ", expected a number of OpenGL, which has 32 bits");
    }
    return static_cast<unsigned>(number);
}

nb::object from_gl_buffer(nb::handle cls, nb::handle buffer, nb::handle flags, nb::handle stream) {
    const unsigned name = gl_argument(buffer, "gl_buffer");
    const GraphicsOptions options = options_of(flags);
    nb::object order;
    if (!stream.is_none()) {
        static_cast<void>(stream_argument(stream));
        order = nb::borrow(stream);
    }
    const Context context = current_context_for("registering a graphics resource");
    GraphicsResource resource = [&] {
        const nb::gil_scoped_release unlocked;
        return GraphicsResource::from_gl_buffer(context, name, options);
    }();
    return make_as<PyGraphicsResource>(cls, std::move(resource), std::move(order));
}

nb::object from_gl_image(nb::handle cls, nb::handle image, nb::handle target, nb::handle flags) {
    const unsigned name = gl_argument(image, "image");
    const unsigned bound_to = gl_argument(target, "target");
    const GraphicsOptions options = options_of(flags);
    const Context context = current_context_for("registering a graphics resource");
    GraphicsResource resource = [&] {
        const nb::gil_scoped_release unlocked;
        return GraphicsResource::from_gl_image(context, name, bound_to, options);
    }();
    return make_as<PyGraphicsResource>(cls, std::move(resource), nb::object());
}

nb::object from_egl_image(nb::handle cls, nb::handle image, nb::handle flags) {
    auto* const address =
        reinterpret_cast<void*>(static_cast<std::uintptr_t>(address_argument(image, "image")));
    const GraphicsOptions options = options_of(flags);
    const Context context = current_context_for("registering a graphics resource");
    GraphicsResource resource = [&] {
        const nb::gil_scoped_release unlocked;
        return GraphicsResource::from_egl_image(context, address, options);
    }();
    return make_as<PyGraphicsResource>(cls, std::move(resource), nb::object());
}

nb::object map(PyGraphicsResource& self, nb::handle stream) {
    const Stream& order = stream_argument(stream);
    Buffer buffer = [&] {
        const nb::gil_scoped_release unlocked;
        return self.GraphicsResource::map(order);
    }();
    nb::object made = make<PyBuffer>(std::move(buffer), nb::object(), nb::object());
    keep_foreign_stream(made, stream);
    self.mapped = made;
    return made;
}

nb::object map_array(PyGraphicsResource& self, nb::handle index, nb::handle level,
                     nb::handle stream) {
    const Stream& order = stream_argument(stream);
    const unsigned layer = index.is_none() ? 0 : gl_argument(index, "index");
    const unsigned mipmap_level = level.is_none() ? 0 : gl_argument(level, "level");
    OpaqueArray array = [&] {
        const nb::gil_scoped_release unlocked;
        return self.GraphicsResource::map_array(order, layer, mipmap_level);
    }();
    nb::object made = array_object(std::move(array));
    self.mapped = made;
    return made;
}

nb::object mapped_array(const PyGraphicsResource& self, nb::handle index, nb::handle level) {
    const unsigned layer = index.is_none() ? 0 : gl_argument(index, "index");
    const unsigned mipmap_level = level.is_none() ? 0 : gl_argument(level, "level");
    return array_object(self.GraphicsResource::mapped_array(layer, mipmap_level));
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

bool is_mapped(const PyGraphicsResource& self) {
    return self.GraphicsResource::is_mapped();
}

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

std::string text_of(const PyGraphicsResource& self) {
    return to_string(static_cast<const GraphicsResource&>(self));
}

} // namespace

} // namespace cuprum::python
