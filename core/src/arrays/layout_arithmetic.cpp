// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "arrays/layout_arithmetic.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

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

} // namespace cuprum::detail
