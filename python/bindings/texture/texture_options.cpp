// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "texture/texture_options.hpp"

#include "support/arguments.hpp"
#include "support/choices.hpp"
#include "texture/texture_objects.hpp"

#include <structmember.h> // before Python 3.12, PyMemberDef is only here

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace cuprum::python {

namespace {

constexpr Choices<AddressMode, 4> ADDRESS_MODES{"AddressModeType",
                                                {{{"wrap", AddressMode::Wrap},
                                                  {"clamp", AddressMode::Clamp},
                                                  {"mirror", AddressMode::Mirror},
                                                  {"border", AddressMode::Border}}}};
constexpr Choices<FilterMode, 2> FILTER_MODES{
    "FilterModeType", {{{"point", FilterMode::Point}, {"linear", FilterMode::Linear}}}};
constexpr Choices<ReadMode, 2> READ_MODES{
    "ReadModeType",
    {{{"element_type", ReadMode::ElementType}, {"normalized_float", ReadMode::NormalizedFloat}}}};

constexpr const char* CACHE = "_sampling"; // the attribute that holds a TextureSampling

nb::object texture_module() {
    return nb::module_::import_("cuprum._texture_options");
}

/// Returns a count that fits an unsigned number.
unsigned unsigned_argument(nb::handle value, const char* name) {
    const std::size_t number = size_argument(value, name);
    if (number > std::numeric_limits<unsigned>::max()) {
        raise_error(PyExc_ValueError, std::string(name) + " is " + std::to_string(number) +
                                          ", expected less than " +
                                          std::to_string(std::uint64_t{1} << 32U));
    }
    return static_cast<unsigned>(number);
}

float float_argument(nb::handle value, const char* name) {
    const double number = PyFloat_AsDouble(value.ptr());
    if (number == -1.0 && PyErr_Occurred() != nullptr) {
        clear_error(PyExc_TypeError);
        raise_error(PyExc_TypeError,
                    std::string(name) + " must be a number, got " + type_label(value));
    }
    return static_cast<float>(number);
}

std::array<float, 4> border_color(nb::handle color) {
    std::array<float, 4> made{};
    if (color.is_none()) {
        return made;
    }
    const nb::tuple values = nb::steal<nb::tuple>(PySequence_Tuple(color.ptr()));
    if (!values.is_valid()) {
        clear_error(PyExc_TypeError);
        raise_error(PyExc_TypeError,
                    "border_color must be four numbers or None, got " + type_label(color));
    }
    if (values.size() != made.size()) {
        raise_error(PyExc_ValueError,
                    "border_color must have 4 elements, got " + std::to_string(values.size()));
    }
    for (std::size_t i = 0; i < made.size(); ++i) {
        made[i] = float_argument(values[i], "border_color");
    }
    return made;
}

std::optional<ResourceView> view_argument(nb::handle view) {
    if (view.is_none()) {
        return std::nullopt;
    }
    const nb::object given = texture_options_argument(view, "ResourceView", "Resource view");
    const auto last = [&](const char* name) {
        const nb::object value = given.attr(name);
        return value.is_none() ? std::nullopt : std::optional(unsigned_argument(value, name));
    };
    return ResourceView{
        .format =
            static_cast<ResourceViewFormat>(nb::cast<unsigned>(nb::object(given.attr("_number")))),
        .first_level = unsigned_argument(nb::object(given.attr("first_level")), "first_level"),
        .last_level = last("last_level"),
        .first_layer = unsigned_argument(nb::object(given.attr("first_layer")), "first_layer"),
        .last_layer = last("last_layer")};
}

TextureObjectOptions read_sampling(nb::handle options) {
    TextureObjectOptions made;
    const auto get = [&](const char* name) { return nb::object(options.attr(name)); };
    const nb::tuple modes =
        nb::cast<nb::tuple>(texture_module().attr("_normalize_address_modes")(get("address_mode")));
    for (std::size_t i = 0; i < made.address_mode.size(); ++i) {
        made.address_mode[i] = ADDRESS_MODES.parse(nb::object(modes[i]), "address_mode");
    }
    made.filter_mode = FILTER_MODES.parse(get("filter_mode"), "filter_mode");
    made.read_mode = READ_MODES.parse(get("read_mode"), "read_mode");
    made.normalized_coords = is_true(get("normalized_coords"));
    made.srgb = is_true(get("srgb"));
    made.disable_trilinear_optimization = is_true(get("disable_trilinear_optimization"));
    made.seamless_cubemap = is_true(get("seamless_cubemap"));
    made.max_anisotropy = unsigned_argument(get("max_anisotropy"), "max_anisotropy");
    made.mipmap_filter_mode = FILTER_MODES.parse(get("mipmap_filter_mode"), "mipmap_filter_mode");
    made.mipmap_level_bias = float_argument(get("mipmap_level_bias"), "mipmap_level_bias");
    made.min_mipmap_level_clamp =
        float_argument(get("min_mipmap_level_clamp"), "min_mipmap_level_clamp");
    made.max_mipmap_level_clamp =
        float_argument(get("max_mipmap_level_clamp"), "max_mipmap_level_clamp");
    made.border_color = border_color(get("border_color"));
    made.view = view_argument(get("view"));
    return made;
}

/// Notes where options keep what was converted. Finding an attribute by its name would take a
/// quarter of the time of a texture.
void note_slot() {
    const nb::object type = texture_module().attr("TextureObjectOptions");
    const nb::object slot = type.attr(CACHE);
    SAMPLING_SLOT.offset =
        reinterpret_cast<const PyMemberDescrObject*>(slot.ptr())->d_member->offset;
    SAMPLING_SLOT.type = reinterpret_cast<PyTypeObject*>(nb::object(type).release().ptr());
}

/// Returns whether a value cannot change while it stays the value of its attribute.
bool is_constant(nb::handle value) noexcept {
    return value.is_none() || PyUnicode_Check(value.ptr()) != 0 ||
           PyTuple_CheckExact(value.ptr()) != 0;
}

/// Returns up to three numbers of a tuple, each at least `least`; zeros for None and what is
/// missing.
std::array<std::size_t, 3> numbers_argument(nb::handle values, const char* name,
                                            std::size_t least = 0) {
    std::array<std::size_t, 3> made{};
    if (values.is_none()) {
        return made;
    }
    const nb::tuple numbers = nb::steal<nb::tuple>(PySequence_Tuple(values.ptr()));
    if (!numbers.is_valid()) {
        clear_error(PyExc_TypeError);
        raise_error(PyExc_TypeError,
                    std::string(name) + " must be a tuple of ints, got " + type_label(values));
    }
    if (numbers.size() == 0 || numbers.size() > made.size()) {
        raise_error(PyExc_ValueError, std::string(name) + " has " + std::to_string(numbers.size()) +
                                          " numbers, expected 1 to 3");
    }
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        made[i] = size_argument(numbers[i], name);
        if (made[i] < least) {
            raise_error(PyExc_ValueError, std::string(name) + "[" + std::to_string(i) + "] is " +
                                              std::to_string(made[i]) + ", expected at least " +
                                              std::to_string(least));
        }
    }
    return made;
}

} // namespace

nb::object texture_options_argument(nb::handle options, const char* class_name, const char* what) {
    const nb::object type = texture_module().attr(class_name);
    if (PyDict_Check(options.ptr()) != 0) {
        return type(**nb::borrow<nb::dict>(options));
    }
    if (PyObject_IsInstance(options.ptr(), type.ptr()) != 1) {
        raise_error(PyExc_TypeError, std::string(what) + " must be provided as an object of type " +
                                         class_name + ", or as a dict of its fields, got " +
                                         type_label(options));
    }
    return nb::borrow(options);
}

OpaqueArrayOptions array_options(nb::handle options) {
    const auto get = [&](const char* name) { return nb::object(options.attr(name)); };
    const std::array<std::size_t, 3> sizes = numbers_argument(get("shape"), "shape");
    const auto flag = [&](const char* name) { return is_true(get(name)); };
    return {.extent = {sizes[0], sizes[1], sizes[2]},
            .format = format_argument(get("format")),
            .num_channels = channels_argument(get("num_channels")),
            .num_layers = unsigned_argument(get("num_layers"), "num_layers"),
            .is_cubemap = flag("is_cubemap"),
            .is_surface_load_store = flag("is_surface_load_store"),
            .is_texture_gather = flag("is_texture_gather"),
            .is_depth_texture = flag("is_depth_texture"),
            .is_color_attachment = flag("is_color_attachment"),
            .is_sparse = flag("is_sparse"),
            .is_deferred_mapping = flag("is_deferred_mapping"),
            .is_video = flag("is_video")};
}

nb::object sampling_options(nb::handle options) {
    nb::object known = nb::steal(PyObject_GetAttrString(options.ptr(), CACHE));
    if (!known.is_valid()) {
        clear_error(PyExc_AttributeError);
    } else if (get_if<TextureSampling>(known) != nullptr) {
        return known;
    }
    static PyObject* const cache = PyUnicode_InternFromString(CACHE);
    nb::object made = make<TextureSampling>(read_sampling(options));
    if (is_constant(nb::object(options.attr("address_mode"))) &&
        is_constant(nb::object(options.attr("border_color"))) &&
        PyObject_GenericSetAttr(options.ptr(), cache, made.ptr()) != 0) {
        clear_error(PyExc_Exception); // no cache then
    }
    if (SAMPLING_SLOT.type == nullptr) {
        note_slot();
    }
    return made;
}

ArrayFormat format_argument(nb::handle format) {
    const nb::object member = texture_module().attr("_normalize_array_format")(format);
    const auto name = nb::cast<std::string>(nb::str(nb::object(member.attr("value"))));
    for (const ArrayFormatInfo& info : array_formats()) {
        if (name == info.name) {
            return info.format;
        }
    }
    raise_error(PyExc_ValueError, "format is '" + name + "', which the core does not know");
}

nb::object format_object(ArrayFormat format) {
    return nb::module_::import_("cuprum.typing").attr("ArrayFormatType")(info_of(format).name);
}

unsigned channels_argument(nb::handle num_channels) {
    Py_ssize_t number = 0;
    if (!read_small_int(num_channels, number) || number < 1 || number > 4) {
        raise_error(PyExc_ValueError,
                    "num_channels must be 1, 2 or 4, got " + repr_text(num_channels));
    }
    return static_cast<unsigned>(number);
}

nb::tuple shape_object(const ArrayExtent& extent) {
    if (extent.depth != 0) {
        return nb::make_tuple(extent.width, extent.height, extent.depth);
    }
    return extent.height != 0 ? nb::make_tuple(extent.width, extent.height)
                              : nb::make_tuple(extent.width);
}

ArrayRegion region_argument(nb::handle offset, nb::handle shape, const char* offset_name) {
    const auto first = numbers_argument(offset, offset_name);
    const auto sizes = numbers_argument(shape, "shape", 1);
    return {first[0], first[1], first[2], sizes[0], sizes[1], sizes[2]};
}

} // namespace cuprum::python
