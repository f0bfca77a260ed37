// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What the Python objects of devices and contexts hold.

#pragma once

#include "support/compatibility.hpp"
#include "support/held.hpp"
#include "support/python_objects.hpp"

#include <cuprum/context.hpp>
#include <cuprum/device.hpp>
#include <cuprum/device_resources.hpp>

#include <nanobind/nanobind.h>

#include <atomic>
#include <utility>

namespace cuprum::python {

using PyContext = Held<Context>;

/// A device; one Python object per ordinal.
struct PyDevice {
    PyDevice(const Device& named, nb::object attributes)
        : core(named), properties(std::move(attributes)) {}

    Device core;
    nb::object properties;
    nb::object memory_resource;        // null until asked for or set
    std::atomic<bool> is_used = false; // its primary context exists: using it again is brief
    std::atomic<bool> was_made_current = false; // on any thread
    nb::ft_mutex mutex;                         // guards it where there is no GIL
};

/// A device must be made current before it is used, if objects behave as those of cuda.core.
/// @throws CUDAError if it was not.
inline void check_set_current(const PyDevice& device) {
    compatibility::check_set_current(device.core, device.was_made_current);
}

/// Returns the one Python object of a device.
[[nodiscard]] nb::object device_object(const Device& device);

/// Returns a Python object of a context: the one there is, unless it is a primary context.
[[nodiscard]] nb::object context_object(Context context);

/// Returns what a green context is made of, from a ContextOptions or a dict.
[[nodiscard]] ContextOptions context_options(nb::handle options);

} // namespace cuprum::python
