// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Arithmetic that the parts of the strided layout share.

#pragma once

#include <cuprum/dlpack.hpp>
#include <cuprum/strided_layout.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace cuprum::detail {

/// Multiplies two counts.
/// @throws std::invalid_argument if the product is beyond 64 bits.
[[nodiscard]] StridedLayout::Index multiplied(StridedLayout::Index left,
                                              StridedLayout::Index right);

/// Returns a stride times a number, or the nearest number that fits: an axis of one element may
/// have any stride.
[[nodiscard]] StridedLayout::Index scaled(StridedLayout::Index stride,
                                          StridedLayout::Index factor) noexcept;

/// Returns an axis counted from the front; negative ones count from the end.
/// @throws std::invalid_argument, naming the argument, if there is no such axis.
[[nodiscard]] std::size_t checked_axis(int axis, std::size_t ndim, const char* name);

/// Returns the axes counted from the front.
/// @throws std::invalid_argument unless each of the `ndim` axes is named once.
[[nodiscard]] std::vector<int> checked_permutation(std::span<const int> axes, std::size_t ndim);

/// Writes numbers as Python writes a tuple.
[[nodiscard]] std::string tuple_text(std::span<const StridedLayout::Index> numbers);

// The names of element types in messages.

/// Returns the name of an element type, "float32", "4 x uint8". A type without bits is named after
/// the bytes of an element.
[[nodiscard]] std::string text_of(dlpack::DataType type, std::size_t itemsize);

} // namespace cuprum::detail
