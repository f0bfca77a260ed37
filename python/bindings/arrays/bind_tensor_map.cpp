// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "arrays/extents.hpp"
#include "arrays/tensor_map.hpp"
#include "arrays/view_sources.hpp"
#include "device/device_objects.hpp"
#include "support/class.hpp"
#include "support/collection.hpp"

#include <cuprum/detail/access.hpp>
#include <cuprum/tensor_map.hpp>

#include <cstring>

namespace cuprum::python {

using namespace nb::literals;

namespace {

using Type = Class<PyTensorMap>;
using Slots = MemberSlots<PyTensorMap, &PyTensorMap::view>;

/// Returns the ordinal of the current device, or -1 if there is none. A single device need not be
/// asked for.
[[nodiscard]] int current_device() {
    static const bool is_single = Device::all().size() == 1;
    if (is_single) [[likely]] {
        return 0;
    }
    const std::optional<Device> current = Device::current();
    return current ? current->ordinal() : -1;
}

/// Returns the device that a map of a view is for: the current one, or the view's if there is none.
[[nodiscard]] int device_for(nb::handle object) {
    if (const int current = current_device(); current >= 0) [[likely]] {
        return current;
    }
    StridedMemoryView* const view = get_if<StridedMemoryView>(object);
    return view == nullptr || view->device_id < 0 ? 0 : view->device_id;
}

/// Returns numbers from any iterable of integers.
[[nodiscard]] TensorMapExtents extents_of(nb::handle value, const char* name) {
    nb::object items;
    if (PyTuple_CheckExact(value.ptr()) == 0) {
        items = nb::steal(PySequence_Tuple(value.ptr()));
        if (!items.is_valid()) {
            clear_error(PyExc_TypeError);
            raise_error(PyExc_TypeError,
                        std::string(name) + " must be a tuple of ints, got " + type_label(value));
        }
        value = items;
    }
    std::array<std::int64_t, TensorMapExtents::MAXIMUM + 1> numbers{};
    const Py_ssize_t count = PyTuple_GET_SIZE(value.ptr());
    for (Py_ssize_t index = 0; index < count; ++index) {
        const nb::handle item = PyTuple_GET_ITEM(value.ptr(), index);
        Py_ssize_t number = 0;
        if (!read_small_int(item, number)) [[unlikely]] {
            const nb::object plain = nb::steal(PyNumber_Index(item.ptr()));
            if (!plain.is_valid()) {
                clear_error(PyExc_TypeError);
                raise_error(PyExc_TypeError, std::string(name) + "[" + std::to_string(index) +
                                                 "] must be an int, got " + type_label(item));
            }
            number = PyLong_AsSsize_t(plain.ptr());
            if (number == -1 && PyErr_Occurred() != nullptr) {
                clear_error(PyExc_OverflowError);
                raise_error(PyExc_ValueError, std::string(name) + "[" + std::to_string(index) +
                                                  "] is " + repr_text(item) +
                                                  ", which does not fit into 64 bits");
            }
        }
        if (static_cast<std::size_t>(index) < numbers.size()) {
            numbers[static_cast<std::size_t>(index)] = number;
        }
    }
    // What is more than can be stored is more than a map can have: the core says so.
    const auto stored = std::min<std::size_t>(static_cast<std::size_t>(count), numbers.size());
    return TensorMapExtents(std::span<const std::int64_t>(numbers.data(), stored));
}

[[nodiscard]] nb::object made(nb::handle cls, const TensorMapDescriptor& map, nb::handle view,
                              int device) {
    const bool is_derived =
        cls.is_valid() && cls.ptr() != reinterpret_cast<PyObject*>(TYPE<PyTensorMap>);
    return is_derived ? make_as<PyTensorMap>(cls, map, nb::borrow(view), device)
                      : make<PyTensorMap>(map, nb::borrow(view), device);
}

[[nodiscard]] std::int64_t number_of(nb::handle value, const char* name) {
    return extents_of(nb::make_tuple(value), name)[0];
}

/// Returns whether a value belongs to an enumeration of cuprum._tensor_map.
[[nodiscard]] bool is_member(nb::handle value, const char* enumeration) noexcept {
    return PyLong_Check(value.ptr()) != 0 &&
           std::strcmp(Py_TYPE(value.ptr())->tp_name, enumeration) == 0;
}

/// Returns the value of a choice; None is the default.
template <typename Enum>
[[nodiscard]] Enum choice(nb::handle value, const char* name, const char* enumeration,
                          Enum fallback) {
    if (value.is_none()) {
        return fallback;
    }
    if (!is_member(value, enumeration)) [[unlikely]] {
        // Names are looked up in Python, and other values are refused there.
        const nb::object tensor_map = nb::module_::import_("cuprum._tensor_map");
        const nb::object chosen =
            tensor_map.attr("_choice")(name, value, nb::object(tensor_map.attr(enumeration)));
        return static_cast<Enum>(nb::cast<int>(chosen));
    }
    return static_cast<Enum>(PyLong_AsLong(value.ptr()));
}

[[nodiscard]] std::optional<TensorMapDataType> type_of(nb::handle value) {
    if (value.is_none()) {
        return {};
    }
    if (is_member(value, "TensorMapDataType")) {
        return static_cast<TensorMapDataType>(PyLong_AsLong(value.ptr()));
    }
    const nb::object number =
        nb::module_::import_("cuprum._tensor_map").attr("_resolve_data_type")(nb::none(), value);
    return static_cast<TensorMapDataType>(nb::cast<int>(number));
}

/// Sets what the options of all modes share.
template <typename Options>
void set_common(Options& options, nb::handle element_strides, nb::handle data_type,
                nb::handle interleave, nb::handle swizzle, nb::handle l2_promotion,
                nb::handle oob_fill) {
    if (!element_strides.is_none()) {
        options.element_strides = extents_of(element_strides, "element_strides");
    }
    options.data_type = type_of(data_type);
    options.interleave =
        choice(interleave, "interleave", "TensorMapInterleave", options.interleave);
    options.swizzle = choice(swizzle, "swizzle", "TensorMapSwizzle", options.swizzle);
    options.l2_promotion =
        choice(l2_promotion, "l2_promotion", "TensorMapL2Promotion", options.l2_promotion);
    options.oob_fill = choice(oob_fill, "oob_fill", "TensorMapOOBFill", options.oob_fill);
}

/// Returns the type of a view's elements.
/// @throws ValueError if it is not known, or none that tensor maps have.
[[nodiscard]] dlpack::DataType type_of_view(StridedMemoryView& view) {
    if (view.type_source == StridedMemoryView::TypeSource::DLPack || view.type.bits != 0) {
        return view.type;
    }
    const nb::object dtype = view.dtype_object();
    // It raises ValueError for what it does not know.
    static_cast<void>(nb::module_::import_("cuprum._tensor_map")
                          .attr("_resolve_data_type")(
                              nb::none(), dtype.is_none() ? nb::object(nb::none()) : dtype));
    return view.dlpack_type();
}

/// Returns the tensor of a view, for the current device. How much memory the view has is only
/// looked at if `needs_size` is set, because that takes longer than the rest.
/// @throws ValueError if the memory is another device's.
[[nodiscard]] TensorMapSource source_of(nb::handle object, bool needs_type, bool needs_size,
                                        const char* operation, int expected_device) {
    StridedMemoryView* const view = get_if<StridedMemoryView>(object);
    if (view == nullptr) {
        raise_error(PyExc_TypeError, "view must be a StridedMemoryView, got " + type_label(object));
    }
    view->check_not_empty();
    const dlpack::DeviceType kind = view->device_type == dlpack::DeviceType::Unknown
                                        ? view->dlpack_device().type
                                        : view->device_type;
    if (kind == dlpack::DeviceType::Cuda && view->device_id != expected_device) [[unlikely]] {
        raise_error(PyExc_ValueError, std::string(operation) + " expects tensor on device " +
                                          std::to_string(expected_device) + ", got " +
                                          std::to_string(view->device_id) +
                                          "; make that device current");
    }
    const auto shape = view->shape();
    const auto strides = view->strides();
    std::array<std::int64_t, TensorMapExtents::MAXIMUM> plain{};
    std::span<const std::int64_t> steps = strides.value_or(std::span<const std::int64_t>());
    if (!strides && shape.size() <= plain.size()) {
        std::int64_t step = 1;
        for (std::size_t axis = shape.size(); axis-- > 0;) {
            plain[axis] = step;
            step *= shape[axis];
        }
        steps = {plain.data(), shape.size()};
    }
    dlpack::DataType type{};
    if (needs_type && view->is_device_accessible) {
        type = type_of_view(*view);
    }
    auto source = detail::Access::make<TensorMapSource>(static_cast<CUdeviceptr>(view->pointer),
                                                        shape, steps, view->itemsize, type);
    std::uint64_t bytes = 0; // not known
    if (needs_size) {
        bytes = view->base + static_cast<std::uint64_t>(view->reachable().end) - view->pointer;
    }
    detail::Access::set_memory(source, view->is_device_accessible, bytes, expected_device);
    return source;
}

[[nodiscard]] nb::object from_im2col(nb::handle cls, nb::handle view, nb::handle lower,
                                     nb::handle upper, nb::handle channels, nb::handle pixels,
                                     nb::handle element_strides, nb::handle data_type,
                                     nb::handle interleave, nb::handle swizzle,
                                     nb::handle l2_promotion, nb::handle oob_fill) {
    TensorMapIm2ColOptions how{
        .pixel_box_lower_corner = extents_of(lower, "pixel_box_lower_corner"),
        .pixel_box_upper_corner = extents_of(upper, "pixel_box_upper_corner"),
        .channels_per_pixel = number_of(channels, "channels_per_pixel"),
        .pixels_per_column = number_of(pixels, "pixels_per_column")};
    set_common(how, element_strides, data_type, interleave, swizzle, l2_promotion, oob_fill);
    const int device = device_for(view);
    TensorMapSource source =
        source_of(view, !how.data_type, false, "TensorMapDescriptor._from_im2col", device);
    const auto encoded = [&] {
        const Brief unlocked;
        return TensorMapDescriptor::im2col(std::move(source), how);
    }();
    return made(cls, encoded, view, device);
}

[[nodiscard]] nb::object from_im2col_wide(nb::handle cls, nb::handle view, nb::handle lower,
                                          nb::handle upper, nb::handle channels, nb::handle pixels,
                                          nb::handle element_strides, nb::handle data_type,
                                          nb::handle interleave, nb::handle mode,
                                          nb::handle swizzle, nb::handle l2_promotion,
                                          nb::handle oob_fill) {
    TensorMapIm2ColWideOptions how{
        .pixel_box_lower_corner_width = number_of(lower, "pixel_box_lower_corner_width"),
        .pixel_box_upper_corner_width = number_of(upper, "pixel_box_upper_corner_width"),
        .channels_per_pixel = number_of(channels, "channels_per_pixel"),
        .pixels_per_column = number_of(pixels, "pixels_per_column")};
    how.mode = choice(mode, "mode", "TensorMapIm2ColWideMode", how.mode);
    set_common(how, element_strides, data_type, interleave, swizzle, l2_promotion, oob_fill);
    const int device = device_for(view);
    TensorMapSource source =
        source_of(view, !how.data_type, false, "TensorMapDescriptor._from_im2col_wide", device);
    const auto encoded = [&] {
        const Brief unlocked;
        return TensorMapDescriptor::im2col_wide(std::move(source), how);
    }();
    return made(cls, encoded, view, device);
}

[[nodiscard]] nb::object from_tiled(nb::handle cls, nb::handle view, nb::handle box_dim,
                                    nb::handle options, nb::handle element_strides,
                                    nb::handle data_type, nb::handle interleave, nb::handle swizzle,
                                    nb::handle l2_promotion, nb::handle oob_fill) {
    TensorMapDescriptorOptions how;
    if (options.is_none() && !box_dim.is_none()) [[likely]] {
        how.box_dim = extents_of(box_dim, "box_dim");
        set_common(how, element_strides, data_type, interleave, swizzle, l2_promotion, oob_fill);
    } else {
        const nb::object all =
            nb::module_::import_("cuprum._tensor_map")
                .attr("_coerce_tensor_map_descriptor_options")(
                    box_dim, options, "element_strides"_a = element_strides,
                    "data_type"_a = data_type, "interleave"_a = interleave, "swizzle"_a = swizzle,
                    "l2_promotion"_a = l2_promotion, "oob_fill"_a = oob_fill);
        how.box_dim = extents_of(nb::object(all.attr("box_dim")), "box_dim");
        set_common(how, nb::object(all.attr("element_strides")), nb::object(all.attr("data_type")),
                   nb::object(all.attr("interleave")), nb::object(all.attr("swizzle")),
                   nb::object(all.attr("l2_promotion")), nb::object(all.attr("oob_fill")));
    }
    const int device = device_for(view);
    TensorMapSource source =
        source_of(view, !how.data_type, false, "TensorMapDescriptor._from_tiled", device);
    const auto encoded = [&] {
        const Brief unlocked;
        return TensorMapDescriptor::tiled(std::move(source), how);
    }();
    return made(cls, encoded, view, device);
}

void replace_address(PyTensorMap& self, nb::handle tensor) {
    if (const int current = current_device(); current >= 0 && current != self.device_id) {
        raise_error(PyExc_RuntimeError,
                    "the TensorMapDescriptor belongs to device " + std::to_string(self.device_id) +
                        ", but the current device is " + std::to_string(current));
    }
    nb::object view = nb::borrow(tensor);
    if (get_if<StridedMemoryView>(tensor) == nullptr) {
        constexpr long long NO_ORDER = -1; // only the address is read
        view = nb::handle(reinterpret_cast<PyObject*>(TYPE<StridedMemoryView>))
                   .attr("from_any_interface")(tensor, NO_ORDER);
    }
    TensorMapSource source = source_of(view, false, true, "replace_address", self.device_id);
    {
        const Brief unlocked;
        self.core.replace_address(std::move(source));
    }
    std::swap(self.view, view); // the old one goes last
}

void bind_factories(Type& type) {
    type.class_method<from_tiled>("_from_tiled");
    type.class_method<from_im2col>("_from_im2col");
    type.class_method<from_im2col_wide>("_from_im2col_wide");
    type.method<replace_address>("replace_address", LOCKS_SELF);
}

[[nodiscard]] nb::object tuple_of(const TensorMapExtents& extents) {
    std::array<std::int64_t, TensorMapExtents::MAXIMUM> numbers{};
    for (std::size_t index = 0; index < extents.size(); ++index) {
        numbers[index] = extents[index];
    }
    return to_tuple({numbers.data(), extents.size()});
}

/// Returns the member of an enumeration of cuprum._tensor_map.
[[nodiscard]] nb::object member(const char* name, unsigned value) {
    return nb::module_::import_("cuprum._tensor_map").attr(name)(value);
}

template <auto Function>
void add_extents(Type& type, const char* name) {
    type.property(
        name, [](const PyTensorMap& self) { return tuple_of((self.core.*Function)()); },
        LOCKS_SELF);
}

void bind_facts(Type& type) {
    using Core = TensorMapDescriptor;
    type.property("device",
                  [](const PyTensorMap& self) { return device_object(Device(self.device_id)); });
    type.property("mode",
                  [](const PyTensorMap& self) { return std::string(to_string(self.core.mode())); });
    type.property("rank", [](const PyTensorMap& self) { return self.core.rank(); });
    type.property("data_type", [](const PyTensorMap& self) {
        return member("TensorMapDataType", static_cast<unsigned>(self.core.data_type()));
    });
    type.property("interleave", [](const PyTensorMap& self) {
        return member("TensorMapInterleave", static_cast<unsigned>(self.core.interleave()));
    });
    type.property("swizzle", [](const PyTensorMap& self) {
        return member("TensorMapSwizzle", static_cast<unsigned>(self.core.swizzle()));
    });
    type.property("l2_promotion", [](const PyTensorMap& self) {
        return member("TensorMapL2Promotion", static_cast<unsigned>(self.core.l2_promotion()));
    });
    type.property("oob_fill", [](const PyTensorMap& self) {
        return member("TensorMapOOBFill", static_cast<unsigned>(self.core.oob_fill()));
    });
    add_extents<&Core::shape>(type, "shape");
    add_extents<&Core::strides_in_bytes>(type, "strides_in_bytes");
    add_extents<&Core::box_dim>(type, "box_dim");
    add_extents<&Core::element_strides>(type, "element_strides");
    add_extents<&Core::pixel_box_lower_corner>(type, "pixel_box_lower_corner");
    add_extents<&Core::pixel_box_upper_corner>(type, "pixel_box_upper_corner");
    type.property("copy_bytes", [](const PyTensorMap& self) { return self.core.copy_bytes(); });
    type.property(
        "address", [](const PyTensorMap& self) { return self.core.address(); }, LOCKS_SELF);
    type.method(
        "__bytes__",
        [](const PyTensorMap& self) {
            const auto bytes = self.core.bytes();
            return nb::bytes(bytes.data(), bytes.size());
        },
        LOCKS_SELF);
    type.method("__repr__", [](const PyTensorMap& self) { return to_string(self.core); });
    type.method(
        "__str__", [](const PyTensorMap& self) { return self.core.description(); }, LOCKS_SELF);
    type.method("__reduce__", [](const PyTensorMap&) {
        raise_error(PyExc_TypeError, "a TensorMapDescriptor cannot be pickled: it describes "
                                     "memory of this process");
    });
}

} // namespace

void bind_tensor_map(nb::module_& module) {
    Type type(module, "TensorMapDescriptor", nb::is_weak_referenceable(),
              nb::type_slots(Slots::slots));
    type.constructor([](PyTensorMap*) {
        raise_error(PyExc_RuntimeError, "a TensorMapDescriptor cannot be instantiated "
                                        "directly; call as_tensor_map() of a "
                                        "StridedMemoryView");
    });
    bind_factories(type);
    bind_facts(type);
}

nb::object tensor_map_of(nb::handle view, nb::handle box_dim, nb::handle options,
                         nb::handle element_strides, nb::handle data_type, nb::handle interleave,
                         nb::handle swizzle, nb::handle l2_promotion, nb::handle oob_fill) {
    return from_tiled(nb::handle(), view, box_dim, options, element_strides, data_type, interleave,
                      swizzle, l2_promotion, oob_fill);
}

} // namespace cuprum::python
