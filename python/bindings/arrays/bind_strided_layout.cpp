// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "arrays/extents.hpp"
#include "support/class.hpp"

#include <cuprum/strided_layout.hpp>

#include <nanobind/stl/optional.h>

#include <limits>
#include <vector>

namespace cuprum::python {

namespace {

using Type = Class<StridedLayout>;

void bind_facts(Type& type) {
    type.property("ndim", &StridedLayout::ndim);
    type.property("shape", [](const StridedLayout& self) { return to_tuple(self.shape()); });
    type.property("strides", [](const StridedLayout& self) -> nb::object {
        return self.has_implicit_strides() ? nb::none() : to_tuple(self.strides());
    });
    type.property("strides_in_bytes", [](const StridedLayout& self) -> nb::object {
        if (self.has_implicit_strides()) {
            return nb::none();
        }
        std::vector<std::int64_t> bytes(self.strides().begin(), self.strides().end());
        for (std::int64_t& stride : bytes) {
            // Axes of one element may have any stride: then the nearest number there is.
            constexpr auto largest = std::numeric_limits<std::int64_t>::max();
            std::int64_t product = 0;
            const bool is_beyond = __builtin_mul_overflow(
                stride, static_cast<std::int64_t>(self.itemsize()), &product);
            stride = !is_beyond ? product : stride < 0 ? -largest : largest;
        }
        return to_tuple(bytes);
    });
    type.property("itemsize", &StridedLayout::itemsize);
    type.property("volume", &StridedLayout::volume);
    type.property("slice_offset", &StridedLayout::slice_offset);
    type.property("slice_offset_in_bytes", &StridedLayout::slice_offset_in_bytes);
    type.method("__eq__", [](const StridedLayout& self, const StridedLayout& other) {
        return self == other;
    });
    type.method("__hash__", [](const StridedLayout& self) {
        return nb::hash(nb::make_tuple(to_tuple(self.shape()), to_tuple(self.strides()),
                                       self.itemsize(), self.slice_offset()));
    });
    type.method("__repr__", [](const StridedLayout& self) {
        return "<StridedLayout " + self.to_string() + ">";
    });
}

void bind_properties(Type& type) {
    type.property("stride_order", [](const StridedLayout& self) {
        const std::vector<int> axes = self.stride_order();
        return to_tuple(std::vector<std::int64_t>(axes.begin(), axes.end()));
    });
    type.property("is_unique", &StridedLayout::is_unique);
    type.property("is_contiguous_c", &StridedLayout::is_contiguous_c);
    type.property("is_contiguous_f", &StridedLayout::is_contiguous_f);
    type.property("is_contiguous_any", &StridedLayout::is_contiguous_any);
    type.property("is_dense", &StridedLayout::is_dense);
    type.property("offset_bounds", [](const StridedLayout& self) {
        const auto [lowest, highest] = self.offset_bounds();
        return nb::make_tuple(lowest, highest);
    });
    type.property("min_offset",
                  [](const StridedLayout& self) { return self.offset_bounds().first; });
    type.property("max_offset",
                  [](const StridedLayout& self) { return self.offset_bounds().second; });
    type.method<&StridedLayout::required_size_in_bytes>("required_size_in_bytes");
}

std::optional<std::int64_t> bound(PyObject* value) {
    if (value == Py_None) {
        return std::nullopt;
    }
    // Too large a bound is as good as the end of the axis.
    const Py_ssize_t index = PyNumber_AsSsize_t(value, nullptr);
    if (index == -1 && PyErr_Occurred() != nullptr) {
        throw nb::python_error();
    }
    return index;
}

StridedLayout::Slice slice_argument(nb::handle item) {
    if (PySlice_Check(item.ptr())) {
        const auto* slice = reinterpret_cast<PySliceObject*>(item.ptr());
        return StridedLayout::Slice::range(bound(slice->start), bound(slice->stop),
                                           bound(slice->step).value_or(1));
    }
    if (PyIndex_Check(item.ptr()) == 0) {
        raise_error(PyExc_TypeError,
                    "slices: Expected slice instance or integer, got " + type_label(item));
    }
    const Py_ssize_t index = PyNumber_AsSsize_t(item.ptr(), PyExc_OverflowError);
    if (index == -1 && PyErr_Occurred() != nullptr) {
        clear_error(PyExc_OverflowError);
        raise_error(PyExc_ValueError, "index " + repr_text(item) + " is out of range for any axis");
    }
    return StridedLayout::Slice::at(index);
}

[[nodiscard]] StridedLayout sliced(const StridedLayout& layout, nb::handle slices) {
    std::vector<StridedLayout::Slice> parts;
    if (PyTuple_Check(slices.ptr()) == 0) {
        parts.push_back(slice_argument(slices));
    } else {
        for (const nb::handle item : nb::borrow<nb::tuple>(slices)) {
            parts.push_back(slice_argument(item));
        }
    }
    return layout.sliced(parts);
}

/// Reads an order: one of C, F and K, or axes.
template <typename Named, typename Listed>
StridedLayout in_order(nb::handle order, bool may_keep, Named named, Listed listed) {
    if (PyUnicode_Check(order.ptr()) == 0) {
        return listed(axes_argument(order, "stride_order"));
    }
    const std::string name = text_argument(order, "stride_order");
    if (name == "C") {
        return named(StrideOrder::C);
    }
    if (name == "F") {
        return named(StrideOrder::F);
    }
    if (name == "K" && may_keep) {
        return named(StrideOrder::Keep);
    }
    raise_error(PyExc_ValueError, std::string("stride_order must be \"C\", \"F\"") +
                                      (may_keep ? ", \"K\"" : "") + " or a tuple of axes, got \"" +
                                      name + "\"");
}

[[nodiscard]] StridedLayout to_dense(const StridedLayout& layout, nb::handle order) {
    return in_order(
        order, true, [&](StrideOrder named) { return layout.to_dense(named); },
        [&](const std::vector<int>& axes) { return layout.to_dense(axes); });
}

void bind_algebra(Type& type) {
    type.method<to_dense>("to_dense");
    type.method("reshaped", [](const StridedLayout& self, nb::handle shape) {
        return self.reshaped(extents_argument(shape, "shape"));
    });
    type.method("permuted", [](const StridedLayout& self, nb::handle axis_order) {
        return self.permuted(axes_argument(axis_order, "axis_order"));
    });
    type.method("flattened", [](const StridedLayout& self, nb::handle start_axis,
                                nb::handle end_axis, nb::handle mask) {
        const int first = axis_argument(start_axis, "start_axis");
        const int last = axis_argument(end_axis, "end_axis");
        return self.flattened(first, last,
                              mask.is_none() ? ~std::uint64_t{0} : address_argument(mask, "mask"));
    });
    type.method<&StridedLayout::flattened_axis_mask>("flattened_axis_mask");
    type.method<&StridedLayout::squeezed>("squeezed");
    type.method("unsqueezed", [](const StridedLayout& self, nb::handle axis) {
        return self.unsqueezed(axes_argument(axis, "axis"));
    });
    type.method("broadcast_to", [](const StridedLayout& self, nb::handle shape) {
        return self.broadcast_to(extents_argument(shape, "shape"));
    });
    type.method<sliced>("sliced");
    type.method("__getitem__",
                [](const StridedLayout& self, nb::handle slices) { return sliced(self, slices); });
}

[[nodiscard]] std::size_t itemsize_argument(nb::handle value) {
    const std::size_t itemsize = size_argument(value, "itemsize");
    if (itemsize == 0) {
        raise_error(PyExc_ValueError, "itemsize must be at least 1, got 0");
    }
    return itemsize;
}

void bind_repacking(Type& type) {
    type.method("repacked", [](const StridedLayout& self, nb::handle itemsize, nb::handle data_ptr,
                               nb::handle axis, bool keep_dim) {
        return self.repacked(itemsize_argument(itemsize), address_argument(data_ptr, "data_ptr"),
                             axis_argument(axis, "axis"), keep_dim);
    });
    type.method("max_compatible_itemsize", [](const StridedLayout& self, std::size_t max_itemsize,
                                              nb::handle data_ptr, nb::handle axis) {
        return self.max_compatible_itemsize(max_itemsize, address_argument(data_ptr, "data_ptr"),
                                            axis_argument(axis, "axis"));
    });
}

void construct(StridedLayout* self, nb::handle shape, nb::handle strides, nb::handle itemsize,
               bool is_in_bytes) {
    const auto extents = extents_argument(shape, "shape");
    const std::size_t bytes = itemsize_argument(itemsize);
    if (strides.is_none()) {
        new (self) StridedLayout(extents, bytes);
        return;
    }
    const auto steps = extents_argument(strides, "strides");
    new (self) StridedLayout(is_in_bytes ? StridedLayout::from_byte_strides(extents, steps, bytes)
                                         : StridedLayout(extents, steps, bytes));
}

[[nodiscard]] StridedLayout dense(nb::handle shape, nb::handle itemsize, nb::handle order) {
    const auto extents = extents_argument(shape, "shape");
    const std::size_t bytes = itemsize_argument(itemsize);
    return in_order(
        order, false,
        [&](StrideOrder named) { return StridedLayout::dense(extents, bytes, named); },
        [&](const std::vector<int>& axes) { return StridedLayout::dense(extents, bytes, axes); });
}

} // namespace

void bind_strided_layout(nb::module_& module) {
    Type type(module, "StridedLayout", nb::is_weak_referenceable());
    type.constructor<construct>();
    type.static_method<dense>("dense");
    type.static_method("dense_like", [](nb::handle other, nb::handle order) {
        const StridedLayout* layout = get_if<StridedLayout>(other);
        if (layout == nullptr) {
            raise_error(PyExc_TypeError, "other must be a StridedLayout, got " + type_label(other));
        }
        return to_dense(*layout, order);
    });
    bind_facts(type);
    bind_properties(type);
    bind_algebra(type);
    bind_repacking(type);
}

} // namespace cuprum::python
