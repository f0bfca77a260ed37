// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "launch/kernel_objects.hpp"
#include "support/class.hpp"

namespace cuprum::python {

/// Binds KernelAttributes and `Kernel.attributes`.
void bind_kernel_attributes(nb::module_& module, Class<PyKernel>& kernel);

/// Binds KernelOccupancy and `Kernel.occupancy`.
void bind_kernel_occupancy(nb::module_& module, Class<PyKernel>& kernel);

} // namespace cuprum::python
