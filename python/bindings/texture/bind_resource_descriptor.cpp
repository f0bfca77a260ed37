// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "memory/buffer_objects.hpp"
#include "support/class.hpp"
#include "support/collection.hpp"
#include "texture/texture_objects.hpp"
#include "texture/texture_options.hpp"

namespace cuprum::python {

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

[[nodiscard]] nb::object from_linear(nb::handle buffer, nb::handle format, nb::handle num_channels,
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

[[nodiscard]] nb::object from_pitch2d(nb::handle buffer, nb::handle format, nb::handle num_channels,
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

[[nodiscard]] std::string text_of(const PyResourceDescriptor& self) {
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

void bind_facts(Class<PyResourceDescriptor>& type) {
    const auto number = [](bool is_there, std::size_t value) {
        return is_there ? nb::object(nb::int_(value)) : nb::none();
    };
    type.property("kind",
                  [](const PyResourceDescriptor& self) { return to_string(self.core.kind()); });
    type.property("source", [](const PyResourceDescriptor& self) {
        return self.source.is_valid() ? self.source : nb::none();
    });
    type.property("format", [](const PyResourceDescriptor& self) {
        return is_buffer(self) ? format_object(self.core.rows().format) : nb::none();
    });
    type.property("num_channels", [number](const PyResourceDescriptor& self) {
        return number(is_buffer(self), self.core.rows().num_channels);
    });
    const auto is_pitched = [](const PyResourceDescriptor& self) {
        return self.core.kind() == ResourceKind::Pitch2D;
    };
    for (const char* name : {"size_bytes", "_size_bytes"}) {
        type.property(name, [number](const PyResourceDescriptor& self) {
            return number(self.core.kind() == ResourceKind::Linear, self.core.size_bytes());
        });
    }
    type.property("width", [=](const PyResourceDescriptor& self) {
        return number(is_pitched(self), self.core.rows().width);
    });
    type.property("height", [=](const PyResourceDescriptor& self) {
        return number(is_pitched(self), self.core.rows().height);
    });
    type.property("pitch_bytes", [=](const PyResourceDescriptor& self) {
        return number(is_pitched(self), self.core.rows().pitch_bytes);
    });
    type.method<text_of>("__repr__");
}

} // namespace

void bind_resource_descriptor(nb::module_& module) {
    using Slots = MemberSlots<PyResourceDescriptor, &PyResourceDescriptor::source>;
    Class<PyResourceDescriptor> type(module, "ResourceDescriptor", nb::is_weak_referenceable(),
                                     nb::type_slots(Slots::slots));
    type.refuse_construction("ResourceDescriptor cannot be instantiated directly. Use one of "
                             "ResourceDescriptor.from_opaque_array(), from_mipmapped_array(), "
                             "from_linear() and from_pitch2d()");
    type.static_method("from_opaque_array", [](nb::handle array) {
        const auto* const held = get_if<PyOpaqueArray>(array);
        if (held == nullptr) {
            raise_error(PyExc_TypeError, "array must be an OpaqueArray, got " + type_label(array));
        }
        return make<PyResourceDescriptor>(ResourceDescriptor::from_opaque_array(*held),
                                          nb::borrow(array));
    });
    type.static_method("from_mipmapped_array", [](nb::handle array) {
        const auto* const held = get_if<PyMipmappedArray>(array);
        if (held == nullptr) {
            raise_error(PyExc_TypeError,
                        "mipmapped_array must be a MipmappedArray, got " + type_label(array));
        }
        return make<PyResourceDescriptor>(ResourceDescriptor::from_mipmapped_array(*held),
                                          nb::borrow(array));
    });
    type.static_method<from_linear>("from_linear");
    type.static_method<from_pitch2d>("from_pitch2d");
    bind_facts(type);
}

} // namespace cuprum::python
