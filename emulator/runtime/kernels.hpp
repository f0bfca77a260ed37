// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "runtime.hpp"

namespace cuprum::runtime {

/// Finds the kernel that `entry` identifies: by the address of a host stub, or by its own handle.
cudaError_t find_kernel(const void* entry, CUkernel* result);

/// Finds the kernel as a function of the current context.
cudaError_t find_function(const void* entry, CUfunction* result);

} // namespace cuprum::runtime
