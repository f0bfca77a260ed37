// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "support/python_objects.hpp"

#include <cuprum/detail/launch_packed.hpp>
#include <cuprum/launch_config.hpp>

#include <cuda.h>

#include <vector>

namespace cuprum::python {

/// A configuration, and as the driver takes it: encoded once, for many launches.
struct PyLaunchConfig {
    LaunchConfig core;
    CUlaunchConfig encoded = {};
    std::vector<CUlaunchAttribute> attributes = {}; // of `encoded`
    nb::object extras = {}; // a dict of the rarer fields that were given, as they are read; or null
};

template <>
inline PyTypeObject*& TYPE<PyLaunchConfig> = hot_data.launch_config_type;

/// Returns the configuration of a `config` argument. One made from a dict is put into `made`.
/// @throws TypeError for anything else.
[[nodiscard]] const PyLaunchConfig& config_argument(nb::handle config, nb::object& made);

/// Makes the Python object of a configuration.
[[nodiscard]] nb::object config_object(const LaunchConfig& config);

} // namespace cuprum::python
