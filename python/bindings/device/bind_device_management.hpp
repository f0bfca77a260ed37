// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "device/device_objects.hpp"
#include "support/class.hpp"

namespace cuprum::python {

/// Adds contexts, limits and peers to Device.
void add_device_management(Class<PyDevice>& type);

} // namespace cuprum::python
