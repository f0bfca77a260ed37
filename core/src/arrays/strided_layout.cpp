// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/strided_layout.hpp>

#include "arrays/layout_algebra.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace cuprum {

namespace {

using detail::multiplied;
using detail::tuple_text;
using Index = StridedLayout::Index;

void check_shape(StridedLayout::Extents shape, std::size_t itemsize) {
    if (itemsize == 0) {
        throw std::invalid_argument("itemsize must be at least 1 byte, got 0");
    }
    if (itemsize > static_cast<std::size_t>(std::numeric_limits<Index>::max())) {
        throw std::invalid_argument("itemsize must be at most 2**63 - 1 bytes, got " +
                                    std::to_string(itemsize));
    }
    if (shape.size() > StridedLayout::MAX_DIMENSIONS) {
        throw std::invalid_argument("shape has " + std::to_string(shape.size()) +
                                    " dimensions, expected at most " +
                                    std::to_string(StridedLayout::MAX_DIMENSIONS));
    }
    for (const Index extent : shape) {
        if (extent < 0) {
            throw std::invalid_argument("shape is " + tuple_text(shape) +
                                        ": Extents must be non-negative");
        }
    }
}

/// Returns the absolute value, or the largest number for the one value that has none.
Index magnitude(Index number) noexcept {
    constexpr auto largest = std::numeric_limits<Index>::max();
    return number >= 0 ? number : number < -largest ? largest : -number;
}

bool is_contiguous(const StridedLayout& layout, std::span<const int> axes) {
    Index expected = 1;
    for (std::size_t i = axes.size(); i-- > 0 && layout.volume() != 0;) {
        const auto axis = static_cast<std::size_t>(axes[i]);
        const Index extent = layout.shape()[axis];
        if (extent != 1 && layout.strides()[axis] != expected) {
            return false;
        }
        expected *= extent;
    }
    return true;
}

std::vector<int> axes_in_order(std::size_t ndim, StrideOrder order) {
    std::vector<int> axes(ndim);
    std::iota(axes.begin(), axes.end(), 0);
    if (order == StrideOrder::F) {
        std::ranges::reverse(axes);
    }
    return axes;
}

} // namespace

StridedLayout::StridedLayout(Extents shape, std::size_t itemsize)
    : StridedLayout(dense(shape, itemsize, StrideOrder::C)) {
    is_implicit_ = true;
}

StridedLayout::StridedLayout(Extents shape, Extents strides, std::size_t itemsize)
    : itemsize_(itemsize) {
    check_shape(shape, itemsize);
    if (strides.size() != shape.size()) {
        throw std::invalid_argument("strides has " + std::to_string(strides.size()) +
                                    " entries, expected one for each of the " +
                                    std::to_string(shape.size()) + " extents of shape");
    }
    extents_.assign(shape.begin(), shape.end());
    extents_.insert(extents_.end(), strides.begin(), strides.end());
    count_elements();
}

StridedLayout::StridedLayout(std::initializer_list<Index> shape, std::size_t itemsize)
    : StridedLayout(Extents(shape.begin(), shape.size()), itemsize) {}

StridedLayout::StridedLayout(std::initializer_list<Index> shape,
                             std::initializer_list<Index> strides, std::size_t itemsize)
    : StridedLayout(Extents(shape.begin(), shape.size()), Extents(strides.begin(), strides.size()),
                    itemsize) {}

StridedLayout StridedLayout::from_byte_strides(Extents shape, Extents byte_strides,
                                               std::size_t itemsize) {
    check_shape(shape, itemsize);
    std::vector<Index> strides(byte_strides.begin(), byte_strides.end());
    for (std::size_t i = 0; i < strides.size(); ++i) {
        if (strides[i] % static_cast<Index>(itemsize) != 0) {
            throw std::invalid_argument("strides must be divisible by itemsize: axis " +
                                        std::to_string(i) + " has " + std::to_string(strides[i]) +
                                        " bytes, an element " + std::to_string(itemsize));
        }
        strides[i] /= static_cast<Index>(itemsize);
    }
    return StridedLayout(shape, strides, itemsize);
}

StridedLayout StridedLayout::dense(Extents shape, std::size_t itemsize, StrideOrder order) {
    if (order == StrideOrder::Keep) {
        throw std::invalid_argument("order is Keep, expected C, F or the axes: a new layout has "
                                    "no order to keep");
    }
    return dense(shape, itemsize, axes_in_order(shape.size(), order));
}

StridedLayout StridedLayout::dense(Extents shape, std::size_t itemsize,
                                   std::span<const int> axis_order) {
    check_shape(shape, itemsize);
    const std::vector<int> axes = detail::checked_permutation(axis_order, shape.size());
    const bool is_empty = std::ranges::find(shape, 0) != shape.end();
    std::vector<Index> strides(shape.size(), 0);
    Index stride = 1;
    for (std::size_t i = axes.size(); i-- > 0 && !is_empty;) {
        const auto axis = static_cast<std::size_t>(axes[i]);
        strides[axis] = stride;
        stride = multiplied(stride, shape[axis]);
    }
    return StridedLayout(shape, strides, itemsize);
}

std::vector<int> StridedLayout::stride_order() const {
    std::vector<int> axes(ndim());
    std::iota(axes.begin(), axes.end(), 0);
    std::ranges::sort(axes, [this](int left, int right) {
        const auto a = static_cast<std::size_t>(left);
        const auto b = static_cast<std::size_t>(right);
        const Index first = magnitude(strides()[a]);
        const Index second = magnitude(strides()[b]);
        if (first != second) {
            return first > second;
        }
        // Axes of extent 1 lie inside those that share their stride.
        return shape()[a] != shape()[b] ? shape()[a] > shape()[b] : left < right;
    });
    return axes;
}

bool StridedLayout::is_unique() const {
    if (volume_ == 0) {
        return true;
    }
    Index reached = 0; // the largest distance between elements of the axes seen so far
    const std::vector<int> axes = stride_order();
    for (std::size_t i = axes.size(); i-- > 0;) {
        const auto axis = static_cast<std::size_t>(axes[i]);
        const Index extent = shape()[axis];
        const Index stride = magnitude(strides()[axis]);
        if (extent == 1) {
            continue;
        }
        if (stride <= reached) {
            return false;
        }
        reached += (extent - 1) * stride;
    }
    return true;
}

bool StridedLayout::is_contiguous_c() const {
    return is_implicit_ || is_contiguous(*this, axes_in_order(ndim(), StrideOrder::C));
}

bool StridedLayout::is_contiguous_f() const {
    return is_contiguous(*this, axes_in_order(ndim(), StrideOrder::F));
}

bool StridedLayout::is_contiguous_any() const {
    return is_implicit_ || is_contiguous(*this, stride_order());
}

bool StridedLayout::is_dense() const {
    return slice_offset_ == 0 && is_contiguous_any();
}

std::pair<StridedLayout::Index, StridedLayout::Index>
StridedLayout::offset_bounds() const noexcept {
    if (volume_ == 0) {
        return {0, -1};
    }
    Index lowest = slice_offset_;
    Index highest = slice_offset_;
    for (std::size_t i = 0; i < ndim(); ++i) {
        const Index reach = strides()[i] * (shape()[i] - 1);
        (reach < 0 ? lowest : highest) += reach;
    }
    return {lowest, highest};
}

std::size_t StridedLayout::required_size_in_bytes() const {
    const auto [lowest, highest] = offset_bounds();
    if (lowest < 0) {
        throw std::invalid_argument("the layout (" + to_string() + ") reaches " +
                                    std::to_string(-lowest) +
                                    " elements before its start, expected no offset below 0");
    }
    return static_cast<std::size_t>(multiplied(highest + 1, static_cast<Index>(itemsize_)));
}

std::string StridedLayout::to_string() const {
    return "shape " + tuple_text(shape()) + ", strides " + tuple_text(strides()) + ", " +
           std::to_string(itemsize_) + "-byte elements, offset " + std::to_string(slice_offset_);
}

bool operator==(const StridedLayout& left, const StridedLayout& right) noexcept {
    return left.extents_ == right.extents_ && left.itemsize_ == right.itemsize_ &&
           left.slice_offset_ == right.slice_offset_;
}

StridedLayout StridedLayout::with_strides(std::vector<Index> shape,
                                          const std::vector<Index>& strides, std::size_t itemsize,
                                          Index slice_offset) {
    StridedLayout layout;
    layout.extents_ = std::move(shape);
    layout.extents_.insert(layout.extents_.end(), strides.begin(), strides.end());
    layout.itemsize_ = itemsize;
    layout.slice_offset_ = slice_offset;
    layout.count_elements();
    return layout;
}

void StridedLayout::count_elements() {
    if (std::ranges::find(shape(), 0) != shape().end()) {
        volume_ = 0; // however large the other extents are
        return;
    }
    volume_ = 1;
    for (const Index extent : shape()) {
        volume_ = multiplied(volume_, extent);
    }
    // Check once that the offset of every element, and the distance between any two, fits into
    // 64 bits when counted in bytes.
    Index reach = 1;
    bool is_beyond = __builtin_add_overflow(reach, magnitude(slice_offset_), &reach);
    for (std::size_t i = 0; i < ndim(); ++i) {
        Index distance = 0;
        is_beyond |= shape()[i] > 1 &&
                     __builtin_mul_overflow(magnitude(strides()[i]), shape()[i] - 1, &distance);
        is_beyond |= __builtin_add_overflow(reach, distance, &reach);
    }
    is_beyond |= __builtin_mul_overflow(reach, static_cast<Index>(itemsize_), &reach);
    if (is_beyond) {
        throw std::invalid_argument("the layout (" + to_string() +
                                    ") reaches further than 64 bits can count bytes");
    }
}

} // namespace cuprum
