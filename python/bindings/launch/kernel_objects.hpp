// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What the Python objects of kernels hold.

#pragma once

#include "support/held.hpp"
#include "support/hot_data.hpp"
#include "support/python_objects.hpp"
#include "support/recycling.hpp"

#include <cuprum/kernel.hpp>

#include <nanobind/nanobind.h>

#include <atomic>

namespace cuprum::python {

/// A kernel, and whether it was launched: the first launch may have to load or compile it.
struct PyKernel : Held<Kernel> {
    using Held<Kernel>::Held;

    PyKernel(const PyKernel&) = delete;
    PyKernel& operator=(const PyKernel&) = delete;

    ~PyKernel() { drop(); }

    /// Gives up the share and the occupancy object. Call it with the GIL held.
    void drop() noexcept {
        give_up(occupancy);
        Held<Kernel>::drop();
    }

    mutable std::atomic<bool> is_loaded = false;
    mutable nb::ft_mutex mutex;   // guards the next one where there is no GIL
    mutable nb::object occupancy; // a KernelOccupancy, which refers to no Python object; or null
};

template <>
inline constexpr bool IS_RECYCLED<PyKernel> = true;
template <>
inline PyTypeObject*& TYPE<PyKernel> = hot_data.kernel_type;

} // namespace cuprum::python
