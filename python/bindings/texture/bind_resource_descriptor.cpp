// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings.hpp"
#include "memory/buffer_objects.hpp"
#include "support/arguments.hpp"
#include "support/collection.hpp"
#include "texture/texture_objects.hpp"
#include "texture/texture_options.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

namespace cuprum::python {

using namespace nb::literals;

namespace {

[[nodiscard]] nb::object from_linear(nb::handle buffer, nb::handle format, nb::handle num_channels,
                                     nb::handle size_bytes);
[[nodiscard]] nb::object from_pitch2d(nb::handle buffer, nb::handle format, nb::handle num_channels,
                                      nb::handle width, nb::handle height, nb::handle pitch_bytes);
[[nodiscard]] std::string text_of(const PyResourceDescriptor& self);
void bind_facts(nb::class_<PyResourceDescriptor>& type);

} // namespace

void bind_resource_descriptor(nb::module_& module) {
    using Slots = MemberSlots<PyResourceDescriptor, &PyResourceDescriptor::source>;
    nb::class_<PyResourceDescriptor> type(module, "ResourceDescriptor", nb::is_weak_referenceable(),
                                          nb::type_slots(Slots::slots),
                                          R"(The memory that a texture or a surface reads.

Made by the ``from_`` methods, from an array, a mipmapped array or a buffer. Surfaces need an
``OpaqueArray``.

Examples
--------
>>> array = device.create_opaque_array({"shape": (8, 8), "format": "float32"})
>>> resource = cuprum.texture.ResourceDescriptor.from_opaque_array(array)
>>> texture = device.create_texture_object(resource=resource))");
    note_type<PyResourceDescriptor>(type);
    type.def(
        "__init__",
        [](nb::handle, const nb::args&, const nb::kwargs&) {
            raise_error(PyExc_RuntimeError,
                        "ResourceDescriptor cannot be instantiated directly. Use one of "
                        "ResourceDescriptor.from_opaque_array(), from_mipmapped_array(), "
                        "from_linear() and from_pitch2d()");
        },
        nb::sig("def __init__(self, *args: object, **kwargs: object) -> None"));
    type.def_static(
        "from_opaque_array",
        [](nb::handle array) {
            const auto* const held = get_if<PyOpaqueArray>(array);
            if (held == nullptr) {
                raise_error(PyExc_TypeError,
                            "array must be an OpaqueArray, got " + type_label(array));
            }
            return make<PyResourceDescriptor>(ResourceDescriptor::from_opaque_array(*held),
                                              nb::borrow(array));
        },
        "array"_a.none(),
        nb::sig("def from_opaque_array(array: OpaqueArray) -> ResourceDescriptor"),
        R"(Describe an array, for textures and surfaces.

Parameters
----------
array : OpaqueArray
    What kernels read.

Returns
-------
ResourceDescriptor
    The description. It keeps the array alive.

Raises
------
TypeError
    If `array` is not an OpaqueArray.
ClosedError
    If the array is closed.)");
    type.def_static(
        "from_mipmapped_array",
        [](nb::handle array) {
            const auto* const held = get_if<PyMipmappedArray>(array);
            if (held == nullptr) {
                raise_error(PyExc_TypeError,
                            "mipmapped_array must be a MipmappedArray, got " + type_label(array));
            }
            return make<PyResourceDescriptor>(ResourceDescriptor::from_mipmapped_array(*held),
                                              nb::borrow(array));
        },
        "mipmapped_array"_a.none(),
        nb::sig("def from_mipmapped_array(mipmapped_array: MipmappedArray) -> ResourceDescriptor"),
        R"(Describe an array with levels, for textures.

Parameters
----------
mipmapped_array : MipmappedArray
    What kernels read.

Returns
-------
ResourceDescriptor
    The description. It keeps the array alive.

Raises
------
TypeError
    If `mipmapped_array` is not a MipmappedArray.
ClosedError
    If the array is closed.)");
    type.def_static(
        "from_linear", from_linear, "buffer"_a.none(), nb::kw_only(), "format"_a.none(),
        "num_channels"_a.none(), "size_bytes"_a = nb::none(),
        nb::sig("def from_linear(buffer: Buffer, *, format: object, num_channels: int, size_bytes: "
                "int | None = None) -> ResourceDescriptor"),
        R"(Describe elements in a buffer that kernels read by index, for textures.

There is no filtering, and coordinates are not normalized.

Parameters
----------
buffer : Buffer
    The memory. Its address is a multiple of the device's ``texture_alignment``.
format : ArrayFormatType, str or numpy type
    One of the first eight formats.
num_channels : int
    1, 2 or 4.
size_bytes : int, optional
    How many bytes are read. None is the whole buffer.

Returns
-------
ResourceDescriptor
    The description. It keeps the buffer alive.

Raises
------
ValueError
    If the elements do not fill the bytes, or these exceed the buffer.)");
    type.def_static(
        "from_pitch2d", from_pitch2d, "buffer"_a.none(), nb::kw_only(), "format"_a.none(),
        "num_channels"_a.none(), "width"_a.none(), "height"_a.none(), "pitch_bytes"_a.none(),
        nb::sig("def from_pitch2d(buffer: Buffer, *, format: object, num_channels: int, width: "
                "int, height: int, pitch_bytes: int) -> ResourceDescriptor"),
        R"(Describe the rows of an image in a buffer, for textures.

Parameters
----------
buffer : Buffer
    The memory. Its address is a multiple of the device's ``texture_alignment``.
format : ArrayFormatType, str or numpy type
    One of the first eight formats.
num_channels : int
    1, 2 or 4.
width : int
    Elements in a row.
height : int
    Rows.
pitch_bytes : int
    Bytes from row to row, a multiple of the device's ``texture_pitch_alignment``.

Returns
-------
ResourceDescriptor
    The description. It keeps the buffer alive.

Raises
------
ValueError
    If rows overlap or do not fit the buffer.)");
    bind_facts(type);
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

const PyBuffer& buffer_argument(nb::handle buffer) {
    const auto* const held = get_if<PyBuffer>(buffer);
    if (held == nullptr) {
        raise_error(PyExc_TypeError, "buffer must be a Buffer, got " + type_label(buffer));
    }
    return *held;
}

/// Returns a number of elements or bytes; negative ones are a ValueError that says so.
std::size_t count_argument(nb::handle value, const char* name) {
    Py_ssize_t number = 0;
    if (read_small_int(value, number) && number < 1) {
        raise_error(PyExc_ValueError,
                    std::string(name) + " is " + std::to_string(number) + ", expected at least 1");
    }
    return size_argument(value, name);
}

nb::object from_linear(nb::handle buffer, nb::handle format, nb::handle num_channels,
                       nb::handle size_bytes) {
    const PyBuffer& memory = buffer_argument(buffer);
    LinearElements elements{.format = format_argument(format),
                            .num_channels = channels_argument(num_channels)};
    if (!size_bytes.is_none()) {
        elements.size_bytes = size_argument(size_bytes, "size_bytes");
    }
    return make<PyResourceDescriptor>(
        ResourceDescriptor::from_linear(lasting_share(memory), elements), nb::borrow(buffer));
}

nb::object from_pitch2d(nb::handle buffer, nb::handle format, nb::handle num_channels,
                        nb::handle width, nb::handle height, nb::handle pitch_bytes) {
    const PyBuffer& memory = buffer_argument(buffer);
    const PitchedRows rows{.format = format_argument(format),
                           .num_channels = channels_argument(num_channels),
                           .width = count_argument(width, "width"),
                           .height = count_argument(height, "height"),
                           .pitch_bytes = count_argument(pitch_bytes, "pitch_bytes")};
    return make<PyResourceDescriptor>(ResourceDescriptor::from_pitch2d(lasting_share(memory), rows),
                                      nb::borrow(buffer));
}

bool is_buffer(const PyResourceDescriptor& self) {
    return self.core.buffer() != nullptr;
}

std::string text_of(const PyResourceDescriptor& self) {
    const std::string kind =
        "ResourceDescriptor(kind='" + std::string(to_string(self.core.kind())) + "'";
    if (!is_buffer(self)) {
        return kind + ")";
    }
    const PitchedRows& rows = self.core.rows();
    const std::string elements =
        kind +
        ", format=" + nb::cast<std::string>(nb::object(format_object(rows.format).attr("name"))) +
        ", num_channels=" + std::to_string(rows.num_channels);
    if (self.core.kind() == ResourceKind::Linear) {
        return elements + ", size_bytes=" + std::to_string(self.core.size_bytes()) + ")";
    }
    return elements + ", width=" + std::to_string(rows.width) +
           ", height=" + std::to_string(rows.height) +
           ", pitch_bytes=" + std::to_string(rows.pitch_bytes) + ")";
}

void bind_facts(nb::class_<PyResourceDescriptor>& type) {
    const auto number = [](bool is_there, std::size_t value) {
        return is_there ? nb::object(nb::int_(value)) : nb::none();
    };
    type.def_prop_ro(
        "kind", [](const PyResourceDescriptor& self) { return to_string(self.core.kind()); },
        "Return the kind: 'array', 'mipmapped_array', 'linear' or 'pitch2d'.");
    type.def_prop_ro(
        "source",
        [](const PyResourceDescriptor& self) {
            return self.source.is_valid() ? self.source : nb::none();
        },
        nb::sig("def source(self) -> OpaqueArray | MipmappedArray | Buffer"),
        "Return the array or the buffer.");
    type.def_prop_ro(
        "format",
        [](const PyResourceDescriptor& self) {
            return is_buffer(self) ? format_object(self.core.rows().format) : nb::none();
        },
        nb::sig("def format(self) -> cuprum.typing.ArrayFormatType | None"),
        "Return the format of the elements in a buffer, or None for an array.");
    type.def_prop_ro(
        "num_channels",
        [number](const PyResourceDescriptor& self) {
            return number(is_buffer(self), self.core.rows().num_channels);
        },
        nb::sig("def num_channels(self) -> int | None"),
        "Return the number of channels of the elements in a buffer, or None for an array.");
    const auto is_pitched = [](const PyResourceDescriptor& self) {
        return self.core.kind() == ResourceKind::Pitch2D;
    };
    for (const char* name : {"size_bytes", "_size_bytes"}) {
        type.def_prop_ro(
            name,
            [number](const PyResourceDescriptor& self) {
                return number(self.core.kind() == ResourceKind::Linear, self.core.size_bytes());
            },
            nb::sig(("def " + std::string(name) + "(self) -> int | None").c_str()),
            "Return the bytes that are read of linear memory, or None for another kind.");
    }
    type.def_prop_ro(
        "width",
        [=](const PyResourceDescriptor& self) {
            return number(is_pitched(self), self.core.rows().width);
        },
        nb::sig("def width(self) -> int | None"),
        "Return the elements in a row of an image, or None for another kind.");
    type.def_prop_ro(
        "height",
        [=](const PyResourceDescriptor& self) {
            return number(is_pitched(self), self.core.rows().height);
        },
        nb::sig("def height(self) -> int | None"),
        "Return the rows of an image, or None for another kind.");
    type.def_prop_ro(
        "pitch_bytes",
        [=](const PyResourceDescriptor& self) {
            return number(is_pitched(self), self.core.rows().pitch_bytes);
        },
        nb::sig("def pitch_bytes(self) -> int | None"),
        "Return the bytes from row to row of an image, or None for another kind.");
    type.def("__repr__", text_of);
}

} // namespace

} // namespace cuprum::python
