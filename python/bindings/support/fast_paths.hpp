// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Fast paths read objects of Python, nanobind and other libraries where they lie in memory.
//
// Each one is checked against the official way before its first use and is off if the two differ.
// CUPRUM_DISABLE_FAST_PATHS turns them off by name: a list such as "cupy,torch", or "all".
// `cuprum info` shows the state of each.

#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

namespace cuprum::python {

namespace nb = nanobind;

enum class FastPath : std::uint8_t {
    Instances, // our own objects: instances.hpp
    Ints,      // Python's ints: python_int.hpp
    Numpy,     // NumPy's arrays: numpy_arrays.hpp
    Cupy,      // CuPy's arrays: cupy_arrays.hpp
    Torch,     // PyTorch's tensors: torch_tensors.hpp
};

/// Returns whether the environment turns a fast path off.
[[nodiscard]] bool is_disabled(FastPath path) noexcept;

/// Notes the result of a check, for `cuprum info`. Returns whether the path may be used: the layout
/// is as expected, and the environment does not turn the path off.
bool note_fast_path(FastPath path, bool is_as_expected) noexcept;

/// Checks the fast paths that must be known before the first object is made: instances of `type`,
/// which has weak references and takes part in garbage collection, and ints.
void check_fast_paths(nb::handle type);

void bind_fast_paths(nb::module_& module);

} // namespace cuprum::python
