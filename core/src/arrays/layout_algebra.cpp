// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Operations that derive a layout from another. Elements are visited in C order: the last axis
// fastest.

#include "arrays/layout_algebra.hpp"

#include <cuprum/strided_layout.hpp>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace cuprum {

namespace {

using detail::checked_axis;
using detail::multiplied;
using detail::scaled;
using detail::tuple_text;
using Index = StridedLayout::Index;
using Extents = StridedLayout::Extents;

std::vector<Index> resolved_shape(Extents shape, Index volume) {
    std::vector<Index> result(shape.begin(), shape.end());
    const std::string given = "shape is " + tuple_text(shape) + ": ";
    if (result.size() > StridedLayout::MAX_DIMENSIONS) {
        throw std::invalid_argument("shape has " + std::to_string(result.size()) +
                                    " dimensions, expected at most " +
                                    std::to_string(StridedLayout::MAX_DIMENSIONS));
    }
    Index known = 1;
    auto unknown = result.end();
    bool is_ambiguous = false;
    for (auto extent = result.begin(); extent != result.end(); ++extent) {
        if (*extent < -1) {
            throw std::invalid_argument(given + "Extents must be non-negative, or -1 for one");
        }
        if (*extent >= 0) {
            known = multiplied(known, *extent);
        } else {
            is_ambiguous = unknown != result.end();
            unknown = extent;
        }
    }
    if (is_ambiguous) {
        throw std::invalid_argument(given + "There can be at most one -1 extent in a shape");
    }
    if (unknown != result.end()) {
        if (known == 0) {
            throw std::invalid_argument(
                given + "The -1 extent is ambiguous when the specified sub-volume is 0");
        }
        if (volume % known != 0) {
            throw std::invalid_argument(given + "The original volume " + std::to_string(volume) +
                                        " must be divisible by the specified sub-volume " +
                                        std::to_string(known));
        }
        *unknown = volume / known;
    } else if (known != volume) {
        throw std::invalid_argument(given + "The original volume " + std::to_string(volume) +
                                    " and the new volume " + std::to_string(known) +
                                    " must be equal, since no element is added or dropped");
    }
    return result;
}

/// Returns the strides that visit the layout's elements in another shape, or nothing if there are
/// none.
std::optional<std::vector<Index>> strides_for(const StridedLayout& layout,
                                              const std::vector<Index>& shape) {
    std::vector<Index> strides(shape.size(), 0);
    if (layout.volume() == 0) {
        return strides;
    }
    const StridedLayout old = layout.squeezed();
    // Cut both shapes at the same places into the shortest groups of axes with equal volume. One
    // stride must visit a whole group of the old shape; the new group uses the same stride.
    std::size_t old_end = 0;
    std::size_t new_end = 0;
    while (old_end < old.ndim()) {
        const std::size_t old_begin = old_end++;
        const std::size_t new_begin = new_end++;
        Index old_volume = old.shape()[old_begin];
        Index new_volume = shape[new_begin];
        while (old_volume != new_volume) {
            if (old_volume < new_volume) {
                old_volume *= old.shape()[old_end++];
            } else {
                new_volume *= shape[new_end++];
            }
        }
        for (std::size_t i = old_begin + 1; i < old_end; ++i) {
            if (old.strides()[i - 1] != scaled(old.strides()[i], old.shape()[i])) {
                return std::nullopt;
            }
        }
        Index stride = old.strides()[old_end - 1];
        for (std::size_t i = new_end; i-- > new_begin;) {
            strides[i] = stride;
            stride = scaled(stride, shape[i]);
        }
    }
    // The remaining axes have extent 1.
    std::fill(strides.begin() + static_cast<std::ptrdiff_t>(new_end), strides.end(),
              new_end == 0 ? 1 : strides[new_end - 1]);
    return strides;
}

/// Resolves a slice of an axis: the first index and the count.
std::pair<Index, Index> resolved(const StridedLayout::Slice& slice, Index extent,
                                 std::size_t axis) {
    const auto from_front = [extent](Index index) { return index < 0 ? index + extent : index; };
    if (slice.is_index) {
        const Index index = from_front(slice.start.value_or(0));
        if (index < 0 || index >= extent) {
            throw std::invalid_argument("index " + std::to_string(slice.start.value_or(0)) +
                                        " is out of range for axis " + std::to_string(axis) +
                                        " with extent " + std::to_string(extent));
        }
        return {index, 1};
    }
    if (slice.step == 0) {
        throw std::invalid_argument("slice step cannot be zero (axis " + std::to_string(axis) +
                                    ")");
    }
    const bool is_forward = slice.step > 0;
    const Index lowest = is_forward ? 0 : -1;
    const Index highest = is_forward ? extent : extent - 1;
    const auto clamped = [&](std::optional<Index> index, Index otherwise) {
        return index ? std::clamp(from_front(*index), lowest, highest) : otherwise;
    };
    const Index start = clamped(slice.start, is_forward ? lowest : highest);
    const Index stop = clamped(slice.stop, is_forward ? highest : lowest);
    const Index distance = is_forward ? stop - start : start - stop;
    if (distance <= 0) {
        return {0, 0};
    }
    // An overflow of the step's magnitude is harmless: one element is taken either way.
    const Index size =
        is_forward ? slice.step : (slice.step == INT64_MIN ? INT64_MAX : -slice.step);
    return {start, (distance - 1) / size + 1};
}

} // namespace

StridedLayout StridedLayout::to_dense(StrideOrder order) const {
    const bool is_same = slice_offset_ == 0 && (order == StrideOrder::C   ? is_contiguous_c()
                                                : order == StrideOrder::F ? is_contiguous_f()
                                                                          : is_contiguous_any());
    if (is_same && (is_implicit_ || volume_ != 0)) {
        return *this;
    }
    return order == StrideOrder::Keep ? to_dense(stride_order()) : dense(shape(), itemsize_, order);
}

StridedLayout StridedLayout::to_dense(std::span<const int> axis_order) const {
    return dense(shape(), itemsize_, axis_order);
}

StridedLayout StridedLayout::reshaped(Extents shape) const {
    std::vector<Index> target = resolved_shape(shape, volume_);
    const auto strides = strides_for(*this, target);
    if (!strides) {
        throw std::invalid_argument("shape is " + tuple_text(target) +
                                    ": Layout strides are incompatible with the new shape, the "
                                    "layout has " +
                                    to_string());
    }
    return with_strides(std::move(target), *strides, itemsize_, slice_offset_);
}

StridedLayout StridedLayout::permuted(std::span<const int> axis_order) const {
    std::vector<Index> new_shape;
    std::vector<Index> new_strides;
    for (const int axis : detail::checked_permutation(axis_order, ndim())) {
        new_shape.push_back(shape()[static_cast<std::size_t>(axis)]);
        new_strides.push_back(strides()[static_cast<std::size_t>(axis)]);
    }
    return with_strides(std::move(new_shape), new_strides, itemsize_, slice_offset_);
}

StridedLayout StridedLayout::flattened(int start_axis, int end_axis, std::uint64_t mask) const {
    // A layout without axes is one element; flatten it as if it had one axis.
    const std::size_t axes = std::max(ndim(), std::size_t{1});
    const std::size_t first = checked_axis(start_axis, axes, "start_axis");
    const std::size_t last = checked_axis(end_axis, axes, "end_axis");
    if (ndim() == 0) {
        return with_strides({1}, {1}, itemsize_, slice_offset_);
    }
    mask &= flattened_axis_mask();
    std::vector<Index> new_shape;
    std::vector<Index> new_strides;
    for (std::size_t i = 0; i < ndim(); ++i) {
        const bool is_merged = i > first && i <= last && ((mask >> i) & 1U) != 0;
        if (is_merged) {
            new_shape.back() = multiplied(new_shape.back(), shape()[i]);
            new_strides.back() = strides()[i];
        } else {
            new_shape.push_back(shape()[i]);
            new_strides.push_back(strides()[i]);
        }
    }
    return with_strides(std::move(new_shape), new_strides, itemsize_, slice_offset_);
}

std::uint64_t StridedLayout::flattened_axis_mask() const noexcept {
    std::uint64_t mask = 0;
    for (std::size_t i = 1; i < ndim(); ++i) {
        if (volume_ == 0 || strides()[i - 1] == scaled(strides()[i], shape()[i])) {
            mask |= std::uint64_t{1} << i;
        }
    }
    return mask;
}

StridedLayout StridedLayout::squeezed() const {
    if (volume_ == 0) {
        return with_strides({0}, {0}, itemsize_, slice_offset_);
    }
    std::vector<Index> new_shape;
    std::vector<Index> new_strides;
    for (std::size_t i = 0; i < ndim(); ++i) {
        if (shape()[i] != 1) {
            new_shape.push_back(shape()[i]);
            new_strides.push_back(strides()[i]);
        }
    }
    return with_strides(std::move(new_shape), new_strides, itemsize_, slice_offset_);
}

StridedLayout StridedLayout::unsqueezed(std::span<const int> axes) const {
    if (axes.empty()) {
        return *this;
    }
    const std::size_t count = ndim() + axes.size();
    if (count > MAX_DIMENSIONS) {
        throw std::invalid_argument("axis adds " + std::to_string(axes.size()) + " axes to " +
                                    std::to_string(ndim()) + ", expected at most " +
                                    std::to_string(MAX_DIMENSIONS) + " together");
    }
    std::vector<bool> is_new(count, false);
    for (const int axis : axes) {
        const std::size_t index = checked_axis(axis, count, "axis");
        if (is_new[index]) {
            throw std::invalid_argument("axis " + std::to_string(axis) +
                                        " appears multiple times in axis");
        }
        is_new[index] = true;
    }
    std::vector<Index> new_shape;
    std::vector<Index> new_strides;
    std::size_t next = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (!is_new[i]) {
            new_shape.push_back(shape()[next]);
            new_strides.push_back(strides()[next]);
            ++next;
            continue;
        }
        // An axis of one element can have any stride; this one lets the next axis merge into it.
        new_shape.push_back(1);
        new_strides.push_back(next < ndim() ? scaled(strides()[next], shape()[next])
                              : ndim() != 0 ? strides().back()
                                            : 1);
    }
    return with_strides(std::move(new_shape), new_strides, itemsize_, slice_offset_);
}

StridedLayout StridedLayout::broadcast_to(Extents target) const {
    const auto refuse = [&](const std::string& reason) {
        throw std::invalid_argument("shape " + tuple_text(shape()) + " cannot be broadcast to " +
                                    tuple_text(target) + ": " + reason);
    };
    if (target.size() > MAX_DIMENSIONS || target.size() < ndim()) {
        refuse("expected from " + std::to_string(ndim()) + " to " + std::to_string(MAX_DIMENSIONS) +
               " dimensions");
    }
    const std::size_t added = target.size() - ndim();
    std::vector<Index> new_strides(target.size(), 0);
    for (std::size_t i = 0; i < target.size(); ++i) {
        if (target[i] < 0) {
            refuse("Extents must be non-negative");
        }
        if (i < added) {
            continue;
        }
        const Index extent = shape()[i - added];
        if (extent == target[i]) {
            new_strides[i] = strides()[i - added];
        } else if (extent != 1) {
            refuse("axis " + std::to_string(i - added) + " has extent " + std::to_string(extent) +
                   ", expected 1 or " + std::to_string(target[i]));
        }
    }
    return with_strides({target.begin(), target.end()}, new_strides, itemsize_, slice_offset_);
}

StridedLayout StridedLayout::repacked(std::size_t itemsize, std::uintptr_t address, int axis,
                                      bool keep_dim) const {
    if (itemsize == itemsize_) {
        return *this;
    }
    const bool is_wider = itemsize > itemsize_;
    const std::size_t large = is_wider ? itemsize : itemsize_;
    const std::size_t small = is_wider ? itemsize_ : itemsize;
    constexpr auto largest = static_cast<std::size_t>(std::numeric_limits<Index>::max());
    if (small == 0 || large > largest || large % small != 0) {
        throw std::invalid_argument("itemsize must be a multiple or a divisor of " +
                                    std::to_string(itemsize_) + ", got " +
                                    std::to_string(itemsize));
    }
    const auto factor = static_cast<Index>(large / small);
    const std::size_t along = checked_axis(axis, ndim(), "axis");
    const auto refuse = [&](const std::string& what, Index value, const std::string& expected) {
        throw std::invalid_argument("elements of " + std::to_string(itemsize_) +
                                    " bytes cannot be taken as elements of " +
                                    std::to_string(itemsize) + ": " + what + " is " +
                                    std::to_string(value) + ", expected " + expected);
    };
    const std::string multiple = "a multiple of " + std::to_string(factor);
    if (shape()[along] < 1) {
        refuse("the extent of the axis", shape()[along], "at least 1");
    }
    if (strides()[along] != 1) {
        refuse("the stride of the axis", strides()[along], "1");
    }
    std::vector<Index> new_shape(shape().begin(), shape().end());
    std::vector<Index> new_strides(strides().begin(), strides().end());
    Index offset = slice_offset_;
    if (is_wider) {
        if (shape()[along] % factor != 0) {
            refuse("the extent of the axis", shape()[along], multiple);
        }
        for (std::size_t i = 0; i < ndim(); ++i) {
            if (i != along && strides()[i] % factor != 0) {
                refuse("the stride of axis " + std::to_string(i), strides()[i], multiple);
            }
            new_strides[i] /= i == along ? 1 : factor;
        }
        if (offset % factor != 0) {
            refuse("the offset", offset, multiple);
        }
        if (address % itemsize != 0) {
            refuse("the address", static_cast<Index>(address),
                   "one aligned to " + std::to_string(itemsize) + " bytes");
        }
        new_shape[along] /= factor;
        offset /= factor;
    } else {
        for (std::size_t i = 0; i < ndim(); ++i) {
            new_strides[i] = scaled(new_strides[i], i == along ? 1 : factor);
        }
        new_shape[along] = multiplied(new_shape[along], factor);
        offset *= factor;
    }
    if (!keep_dim && new_shape[along] == 1) {
        new_shape.erase(new_shape.begin() + static_cast<std::ptrdiff_t>(along));
        new_strides.erase(new_strides.begin() + static_cast<std::ptrdiff_t>(along));
    }
    return with_strides(std::move(new_shape), new_strides, itemsize, offset);
}

std::size_t StridedLayout::max_compatible_itemsize(std::size_t max_itemsize, std::uintptr_t address,
                                                   int axis) const {
    if (max_itemsize < itemsize_) {
        throw std::invalid_argument("max_itemsize is " + std::to_string(max_itemsize) +
                                    ", expected at least the element's " +
                                    std::to_string(itemsize_) + " bytes");
    }
    if (ndim() == 0) {
        return itemsize_;
    }
    const std::size_t along = checked_axis(axis, ndim(), "axis");
    if (shape()[along] < 1 || strides()[along] != 1 || max_itemsize % itemsize_ != 0 ||
        address % itemsize_ != 0) {
        return itemsize_;
    }
    // This many elements combine into one at every place where an element begins.
    std::uintptr_t together = std::gcd(max_itemsize / itemsize_, address / itemsize_);
    const auto take_into_account = [&](Index number) {
        together = std::gcd(together, static_cast<std::uintptr_t>(std::abs(scaled(number, 1))));
    };
    take_into_account(shape()[along]);
    take_into_account(slice_offset_);
    for (std::size_t i = 0; i < ndim(); ++i) {
        if (i != along) {
            take_into_account(strides()[i]);
        }
    }
    return itemsize_ * together;
}

StridedLayout StridedLayout::sliced(std::span<const Slice> slices) const {
    if (slices.size() > ndim()) {
        throw std::invalid_argument("the number of slices, " + std::to_string(slices.size()) +
                                    ", is greater than the number of dimensions, " +
                                    std::to_string(ndim()));
    }
    std::vector<Index> new_shape;
    std::vector<Index> new_strides;
    Index offset = slice_offset_;
    bool is_empty = false;
    for (std::size_t i = 0; i < ndim(); ++i) {
        if (i >= slices.size()) {
            new_shape.push_back(shape()[i]);
            new_strides.push_back(strides()[i]);
        } else {
            const auto [first, count] = resolved(slices[i], shape()[i], i);
            offset += volume_ == 0 ? 0 : first * strides()[i]; // an empty layout has no first
            if (!slices[i].is_index) {
                new_shape.push_back(count);
                new_strides.push_back(scaled(strides()[i], slices[i].step));
            }
        }
        is_empty = is_empty || (!new_shape.empty() && new_shape.back() == 0);
    }
    if (is_empty) {
        std::ranges::fill(new_strides, 0);
    }
    return with_strides(std::move(new_shape), new_strides, itemsize_, offset);
}

StridedLayout StridedLayout::sliced(std::initializer_list<Slice> slices) const {
    return sliced(std::span<const Slice>(slices.begin(), slices.size()));
}

} // namespace cuprum

namespace cuprum::detail {

StridedLayout::Index multiplied(StridedLayout::Index left, StridedLayout::Index right) {
    constexpr auto largest = std::numeric_limits<StridedLayout::Index>::max();
    // Extents and strides of dense layouts are never negative.
    if (left != 0 && right > largest / left) {
        throw std::invalid_argument("shape has more elements or bytes than 64 bits can count: " +
                                    std::to_string(left) + " times " + std::to_string(right));
    }
    return left * right;
}

StridedLayout::Index scaled(StridedLayout::Index stride, StridedLayout::Index factor) noexcept {
    constexpr auto largest = std::numeric_limits<StridedLayout::Index>::max();
    StridedLayout::Index product = 0;
    if (__builtin_mul_overflow(stride, factor, &product)) {
        return (stride < 0) == (factor < 0) ? largest : -largest;
    }
    return std::max(product, -largest); // so that its negative fits too
}

std::size_t checked_axis(int axis, std::size_t ndim, const char* name) {
    const auto count = static_cast<int>(ndim);
    if (axis < -count || axis >= count) {
        throw std::invalid_argument(std::string(name) + ": axis " + std::to_string(axis) +
                                    " out of range for a layout with " + std::to_string(ndim) +
                                    " dimensions");
    }
    return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
}

std::vector<int> checked_permutation(std::span<const int> axes, std::size_t ndim) {
    if (axes.size() != ndim) {
        throw std::invalid_argument("the order of axes must have the same length as the number of "
                                    "dimensions, " +
                                    std::to_string(ndim) + ", got " + std::to_string(axes.size()));
    }
    std::vector<int> order;
    std::vector<bool> is_seen(ndim, false);
    for (const int axis : axes) {
        const std::size_t index = checked_axis(axis, ndim, "order of axes");
        if (is_seen[index]) {
            throw std::invalid_argument("axis " + std::to_string(axis) +
                                        " appears multiple times in the order of axes");
        }
        is_seen[index] = true;
        order.push_back(static_cast<int>(index));
    }
    return order;
}

std::string tuple_text(std::span<const StridedLayout::Index> numbers) {
    std::string text = "(";
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        text += (i == 0 ? "" : ", ") + std::to_string(numbers[i]);
    }
    return text + (numbers.size() == 1 ? ",)" : ")");
}

namespace {

std::string kind_of(dlpack::TypeCode code) {
    switch (code) {
    case dlpack::TypeCode::Int:
        return "int";
    case dlpack::TypeCode::UInt:
        return "uint";
    case dlpack::TypeCode::Float:
        return "float";
    case dlpack::TypeCode::BFloat:
        return "bfloat";
    case dlpack::TypeCode::Complex:
        return "complex";
    case dlpack::TypeCode::Bool:
        return "bool";
    default:
        return "DLPack type " + std::to_string(static_cast<int>(code)) + " of bits ";
    }
}

} // namespace

std::string text_of(dlpack::DataType type, std::size_t itemsize) {
    if (type.bits == 0) {
        return "elements of " + std::to_string(itemsize) + " bytes";
    }
    return (type.lanes == 1 ? std::string() : std::to_string(type.lanes) + " x ") +
           kind_of(type.code) + std::to_string(type.bits);
}

} // namespace cuprum::detail
