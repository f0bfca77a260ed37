// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Third step of a launch: what was packed and encoded goes to the driver.

#pragma once

#include "program/kernel_state.hpp"

#include <cuprum/kernel.hpp>
#include <cuprum/launch_config.hpp>
#include <cuprum/stream.hpp>

#include <cuda.h>

#include <cstddef>

namespace cuprum::detail {

/// Launches a kernel. `encoded` is `config`, encoded, on `stream`; `addresses` are packed.
/// @throws what raise_launch_failure() throws if the driver refuses.
void submit(const Stream& stream, const LaunchConfig& config, const CUlaunchConfig& encoded,
            const Kernel& kernel, void** addresses);

/// Raises the kernel's limit of dynamic shared memory on a device if it is lower. If the device has
/// less memory, the launch fails and its error explains why.
void allow_shared_memory(const KernelState& kernel, CUdevice device, std::size_t bytes);

} // namespace cuprum::detail
