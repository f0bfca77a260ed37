// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "device/device_objects.hpp"
#include "support/class.hpp"

#include <nanobind/nanobind.h>

namespace cuprum::python {

/// Adds the methods that make arrays, textures and surfaces.
void add_texture_making(Class<PyDevice>& type);

} // namespace cuprum::python
