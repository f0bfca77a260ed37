// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "arrays/extents.hpp"
#include "bindings.hpp"
#include "support/arguments.hpp"
#include "support/python_objects.hpp"

#include <cuprum/strided_layout.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace cuprum::python {

using namespace nb::literals;

namespace {

using Type = nb::class_<StridedLayout>;

void bind_facts(Type& type);
void bind_properties(Type& type);
void bind_algebra(Type& type);
void bind_repacking(Type& type);
void construct(StridedLayout* self, nb::handle shape, nb::handle strides, nb::handle itemsize,
               nb::handle divide_strides);
[[nodiscard]] std::size_t itemsize_argument(nb::handle value);
[[nodiscard]] StridedLayout dense(nb::handle shape, nb::handle itemsize, nb::handle order);
[[nodiscard]] StridedLayout to_dense(const StridedLayout& layout, nb::handle order);
[[nodiscard]] StridedLayout sliced(const StridedLayout& layout, nb::handle slices);

} // namespace

void bind_strided_layout(nb::module_& module) {
    Type type(module, "StridedLayout", nb::is_weak_referenceable(),
              R"(The layout of the elements of an array in memory.

Extents, strides, the size of an element and the offset of the first one. It does not change: every
operation returns a new layout, and none touches memory. ``layout[1:, ::2]`` slices it.

Parameters
----------
shape : tuple of int
    The extents.
strides : tuple of int or None
    In elements; None is contiguous in C order.
itemsize : int
    Bytes per element.
divide_strides : bool, optional
    The strides are given in bytes.

Raises
------
ValueError
    If an extent is negative, there are more than 64, strides and shape differ in length, or strides
    in bytes are no multiples of the element.

Examples
--------
>>> layout = cuprum.utils.StridedLayout.dense((2, 3), itemsize=4)
>>> layout.permuted((1, 0)).strides
(1, 3))");
    note_type<StridedLayout>(type);
    type.def("__init__", construct, "shape"_a.none(), "strides"_a.none(), "itemsize"_a.none(),
             "divide_strides"_a.none() = false,
             nb::sig("def __init__(self, shape: tuple[int, ...], strides: tuple[int, ...] | None, "
                     "itemsize: int, divide_strides: bool = False) -> None"));
    type.def_static(
        "dense", dense, "shape"_a.none(), "itemsize"_a.none(), "stride_order"_a.none() = "C",
        nb::sig("def dense(shape: tuple[int, ...], itemsize: int, stride_order: str | tuple[int, "
                "...] = 'C') -> StridedLayout"),
        R"(Make a layout without gaps.

Parameters
----------
shape : tuple of int
    The extents.
itemsize : int
    Bytes per element.
stride_order : str or tuple of int, optional
    "C", "F", or the axes from the outermost to the one that is contiguous.

Returns
-------
StridedLayout
    The layout; its strides are explicit.

Raises
------
TypeError
    If the shape is not a tuple of ints.
ValueError
    If an extent is negative, there are more than 64, the element has no bytes, the order does not
    name each axis once, or the size does not fit 64 bits.)");
    type.def_static(
        "dense_like",
        [](nb::handle other, nb::handle order) {
            const StridedLayout* layout = get_if<StridedLayout>(other);
            if (layout == nullptr) {
                raise_error(PyExc_TypeError,
                            "other must be a StridedLayout, got " + type_label(other));
            }
            return to_dense(*layout, order);
        },
        "other"_a.none(), "stride_order"_a.none() = "K",
        nb::sig("def dense_like(other: StridedLayout, stride_order: str | tuple[int, "
                "...] = 'K') -> StridedLayout"),
        R"(Make a layout without gaps with the shape of another. See ``to_dense``.

Parameters
----------
other : StridedLayout
    The layout whose shape is used.
stride_order : str | tuple[int, ...], optional
    ``"C"``, ``"F"``, ``"K"`` for the order of `other`, or the axes from the outermost on.

Returns
-------
StridedLayout
    The new layout.

Raises
------
TypeError
    If `other` is not a StridedLayout.
ValueError
    If the order does not name each axis once.)");
    bind_facts(type);
    bind_properties(type);
    bind_algebra(type);
    bind_repacking(type);
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

void bind_facts(Type& type) {
    type.def_prop_ro("ndim", &StridedLayout::ndim, "Return the number of dimensions.");
    type.def_prop_ro(
        "shape", [](const StridedLayout& self) { return to_tuple(self.shape()); },
        nb::sig("def shape(self) -> tuple[int, ...]"), "Return the extents.");
    type.def_prop_ro(
        "strides",
        [](const StridedLayout& self) -> nb::object {
            return self.has_implicit_strides() ? nb::none() : to_tuple(self.strides());
        },
        nb::sig("def strides(self) -> tuple[int, ...] | None"),
        "Return the strides in elements, or None if they were left implicit.");
    type.def_prop_ro(
        "strides_in_bytes",
        [](const StridedLayout& self) -> nb::object {
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
        },
        nb::sig("def strides_in_bytes(self) -> tuple[int, ...] | None"),
        "Return the strides in bytes, or None if they were left implicit.");
    type.def_prop_ro("itemsize", &StridedLayout::itemsize, "Return the bytes per element.");
    type.def_prop_ro("volume", &StridedLayout::volume, "Return the number of elements.");
    type.def_prop_ro("slice_offset", &StridedLayout::slice_offset,
                     "Return the offset of the first element, in elements.");
    type.def_prop_ro("slice_offset_in_bytes", &StridedLayout::slice_offset_in_bytes,
                     "Return the offset of the first element, in bytes.");
    type.def(
        "__eq__",
        [](const StridedLayout& self, const StridedLayout& other) { return self == other; },
        nb::is_operator(), nb::sig("def __eq__(self, other: object, /) -> bool"));
    type.def("__hash__", [](const StridedLayout& self) {
        return nb::hash(nb::make_tuple(to_tuple(self.shape()), to_tuple(self.strides()),
                                       self.itemsize(), self.slice_offset()));
    });
    type.def("__repr__",
             [](const StridedLayout& self) { return "<StridedLayout " + self.to_string() + ">"; });
}

void bind_properties(Type& type) {
    type.def_prop_ro(
        "stride_order",
        [](const StridedLayout& self) {
            const std::vector<int> axes = self.stride_order();
            return to_tuple(std::vector<std::int64_t>(axes.begin(), axes.end()));
        },
        nb::sig("def stride_order(self) -> tuple[int, ...]"),
        "Return the axes from the one with the largest stride to the one with the smallest.");
    type.def_prop_ro("is_unique", &StridedLayout::is_unique,
                     "Return whether no two elements share memory; strides that interleave are not "
                     "analysed and count as shared.");
    type.def_prop_ro("is_contiguous_c", &StridedLayout::is_contiguous_c,
                     "Return whether it is contiguous with the last axis fastest.");
    type.def_prop_ro("is_contiguous_f", &StridedLayout::is_contiguous_f,
                     "Return whether it is contiguous with the first axis fastest.");
    type.def_prop_ro("is_contiguous_any", &StridedLayout::is_contiguous_any,
                     "Return whether it is contiguous in some order of its axes.");
    type.def_prop_ro("is_dense", &StridedLayout::is_dense,
                     "Return whether it is contiguous in some order and begins at offset 0.");
    type.def_prop_ro(
        "offset_bounds",
        [](const StridedLayout& self) {
            const auto [lowest, highest] = self.offset_bounds();
            return nb::make_tuple(lowest, highest);
        },
        nb::sig("def offset_bounds(self) -> tuple[int, int]"),
        "Return the smallest and the largest offset of an element; (0, -1) if there is none.");
    type.def_prop_ro(
        "min_offset", [](const StridedLayout& self) { return self.offset_bounds().first; },
        "Return the smallest offset of an element, in elements.");
    type.def_prop_ro(
        "max_offset", [](const StridedLayout& self) { return self.offset_bounds().second; },
        "Return the largest offset of an element, in elements.");
    type.def("required_size_in_bytes", &StridedLayout::required_size_in_bytes,
             R"(Return the bytes that memory needs for all elements to lie in it.

Returns
-------
int
    The size, counted from the first byte of the memory.

Raises
------
ValueError
    If some element lies before the start.)");
}

void bind_algebra(Type& type) {
    type.def("to_dense", to_dense, "stride_order"_a.none() = "K",
             nb::sig("def to_dense(self, stride_order: str | tuple[int, ...] = 'K') -> "
                     "StridedLayout"),
             R"(Return a layout without gaps that has the same shape.

Parameters
----------
stride_order : str or tuple of int, optional
    "K" keeps the order of the axes in memory; else as in ``dense``.

Returns
-------
StridedLayout
    The new layout.

Raises
------
ValueError
    If there is no such order.)");
    type.def(
        "reshaped",
        [](const StridedLayout& self, nb::handle shape) {
            return self.reshaped(extents_argument(shape, "shape"));
        },
        "shape"_a.none(), nb::sig("def reshaped(self, shape: tuple[int, ...]) -> StridedLayout"),
        R"(Return a layout of the same elements in another shape.

Parameters
----------
shape : tuple of int
    One extent may be -1: it is computed.

Returns
-------
StridedLayout
    The new layout.

Raises
------
ValueError
    If the number of elements differs, or no strides describe the new shape.)");
    type.def(
        "permuted",
        [](const StridedLayout& self, nb::handle axis_order) {
            return self.permuted(axes_argument(axis_order, "axis_order"));
        },
        "axis_order"_a.none(),
        nb::sig("def permuted(self, axis_order: tuple[int, ...]) -> StridedLayout"),
        R"(Return a layout whose axis i is axis ``axis_order[i]`` of this one.

Parameters
----------
axis_order : tuple[int, ...]
    Each axis once.

Returns
-------
StridedLayout
    The new layout.

Raises
------
ValueError
    If an axis is missing or there twice.)");
    type.def(
        "flattened",
        [](const StridedLayout& self, nb::handle start_axis, nb::handle end_axis, nb::handle mask) {
            const int first = axis_argument(start_axis, "start_axis");
            const int last = axis_argument(end_axis, "end_axis");
            return self.flattened(
                first, last, mask.is_none() ? ~std::uint64_t{0} : address_argument(mask, "mask"));
        },
        "start_axis"_a.none() = 0, "end_axis"_a.none() = -1, "mask"_a = nb::none(),
        nb::sig("def flattened(self, start_axis: int = 0, end_axis: int = -1, mask: int | None = "
                "None) -> StridedLayout"),
        R"(Merge neighbouring axes that one stride can cover.

Parameters
----------
start_axis, end_axis : int, optional
    Only axes in this range, both included, are merged.
mask : int, optional
    Only axes whose bit is set are merged into the axis before; see ``flattened_axis_mask``.

Returns
-------
StridedLayout
    The new layout.

Raises
------
TypeError
    If an axis is not an int.
ValueError
    If there is no such axis.)");
    type.def("flattened_axis_mask", &StridedLayout::flattened_axis_mask,
             R"(Return the axes, one bit each, that can be merged into the axis before.

Returns
-------
int
    A mask. Combine masks of several layouts with ``&``.)");
    type.def("squeezed", &StridedLayout::squeezed,
             R"(Remove the axes of extent 1; a layout without elements becomes one empty axis.

Returns
-------
StridedLayout
    The new layout.)");
    type.def(
        "unsqueezed",
        [](const StridedLayout& self, nb::handle axis) {
            return self.unsqueezed(axes_argument(axis, "axis"));
        },
        "axis"_a.none(),
        nb::sig("def unsqueezed(self, axis: int | tuple[int, ...]) -> StridedLayout"),
        R"(Add axes of extent 1, numbered as in the result.

Parameters
----------
axis : int | tuple[int, ...]
    One axis or several.

Returns
-------
StridedLayout
    The new layout.

Raises
------
ValueError
    If an axis is out of range or there twice.)");
    type.def(
        "broadcast_to",
        [](const StridedLayout& self, nb::handle shape) {
            return self.broadcast_to(extents_argument(shape, "shape"));
        },
        "shape"_a.none(),
        nb::sig("def broadcast_to(self, shape: tuple[int, ...]) -> StridedLayout"),
        R"(Repeat axes of extent 1, and add axes in front, by strides of 0.

Parameters
----------
shape : tuple[int, ...]
    The shape of the result.

Returns
-------
StridedLayout
    The new layout.

Raises
------
ValueError
    If an axis of another extent than 1 would change.)");
    const char* slicing = R"(Return the layout of a part.

Parameters
----------
slices : int, slice or tuple of them
    One for each of the leading axes; an int removes its axis.

Returns
-------
StridedLayout
    The new layout.

Raises
------
TypeError
    If an item is neither an int nor a slice.
ValueError
    If there are more items than axes, an index is out of range, or a step is 0.)";
    const auto signature = nb::sig("def sliced(self, slices: int | slice | tuple[int | slice, "
                                   "...]) -> StridedLayout");
    type.def("sliced", sliced, "slices"_a.none(), signature, slicing);
    type.def("__getitem__", sliced, "slices"_a.none(),
             nb::sig("def __getitem__(self, slices: int | slice | tuple[int | slice, ...], /) -> "
                     "StridedLayout"));
}

void bind_repacking(Type& type) {
    type.def(
        "repacked",
        [](const StridedLayout& self, nb::handle itemsize, nb::handle data_ptr, nb::handle axis,
           nb::handle keep_dim) {
            return self.repacked(itemsize_argument(itemsize),
                                 address_argument(data_ptr, "data_ptr"),
                                 axis_argument(axis, "axis"), bool_argument(keep_dim, "keep_dim"));
        },
        "itemsize"_a.none(), "data_ptr"_a.none() = 0, "axis"_a.none() = -1,
        "keep_dim"_a.none() = true,
        nb::sig("def repacked(self, itemsize: int, data_ptr: int = 0, axis: int = -1, keep_dim: "
                "bool = True) -> StridedLayout"),
        R"(Combine neighbouring elements into larger ones, or divide each into smaller ones.

Parameters
----------
itemsize : int
    Bytes of the new elements, a multiple or a divisor of the present ones.
data_ptr : int, optional
    Where the layout is to be used; its alignment is checked.
axis : int, optional
    The contiguous axis along which elements are taken together.
keep_dim : bool, optional
    An axis that shrinks to extent 1 stays.

Returns
-------
StridedLayout
    The new layout.

Raises
------
ValueError
    If extent, strides, offset or address do not allow it. The message says which.)");
    type.def(
        "max_compatible_itemsize",
        [](const StridedLayout& self, nb::handle max_itemsize, nb::handle data_ptr,
           nb::handle axis) {
            return self.max_compatible_itemsize(size_argument(max_itemsize, "max_itemsize"),
                                                address_argument(data_ptr, "data_ptr"),
                                                axis_argument(axis, "axis"));
        },
        "max_itemsize"_a.none() = 16, "data_ptr"_a.none() = 0, "axis"_a.none() = -1,
        nb::sig("def max_compatible_itemsize(self, max_itemsize: int = 16, data_ptr: int = 0, "
                "axis: int = -1) -> int"),
        R"(Return the largest element size that ``repacked`` can widen to.

Parameters
----------
max_itemsize : int, optional
    A multiple of the size sought; not less than the present one.
data_ptr : int, optional
    Where the layout is to be used, which it has to be aligned for.
axis : int, optional
    The contiguous axis along which elements are taken together.

Returns
-------
int
    The size in bytes.

Raises
------
TypeError
    If an argument is not an int.
ValueError
    If `max_itemsize` is less than the element, or there is no such axis.)");
}

std::size_t itemsize_argument(nb::handle value) {
    const std::size_t itemsize = size_argument(value, "itemsize");
    if (itemsize == 0) {
        raise_error(PyExc_ValueError, "itemsize must be at least 1, got 0");
    }
    return itemsize;
}

void construct(StridedLayout* self, nb::handle shape, nb::handle strides, nb::handle itemsize,
               nb::handle divide_strides) {
    const bool is_in_bytes = bool_argument(divide_strides, "divide_strides");
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

StridedLayout dense(nb::handle shape, nb::handle itemsize, nb::handle order) {
    const auto extents = extents_argument(shape, "shape");
    const std::size_t bytes = itemsize_argument(itemsize);
    return in_order(
        order, false,
        [&](StrideOrder named) { return StridedLayout::dense(extents, bytes, named); },
        [&](const std::vector<int>& axes) { return StridedLayout::dense(extents, bytes, axes); });
}

StridedLayout to_dense(const StridedLayout& layout, nb::handle order) {
    return in_order(
        order, true, [&](StrideOrder named) { return layout.to_dense(named); },
        [&](const std::vector<int>& axes) { return layout.to_dense(axes); });
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

StridedLayout sliced(const StridedLayout& layout, nb::handle slices) {
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

} // namespace

} // namespace cuprum::python
