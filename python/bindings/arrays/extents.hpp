// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Shapes, strides and axes between Python and the core.

#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <span>
#include <vector>

namespace cuprum::python {

namespace nb = nanobind;

/// Returns the numbers of a tuple or another sequence of integers.
/// @throws TypeError naming the argument.
[[nodiscard]] std::vector<std::int64_t> extents_argument(nb::handle value, const char* name);

/// Returns the axes of an integer or a sequence of integers.
/// @throws TypeError or ValueError naming the argument.
[[nodiscard]] std::vector<int> axes_argument(nb::handle value, const char* name);

/// Returns one axis, which may be negative.
/// @throws TypeError or ValueError naming the argument.
[[nodiscard]] int axis_argument(nb::handle value, const char* name);

/// Returns numbers as a tuple.
[[nodiscard]] nb::object to_tuple(std::span<const std::int64_t> numbers);

} // namespace cuprum::python
