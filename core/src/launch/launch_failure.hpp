// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/launch.hpp>

#include <cuda.h>

#include <string>

namespace cuprum::detail {

/// Writes extents as people do: "(32, 8, 1)".
[[nodiscard]] std::string to_text(const Dim3& extents);

/// Explains a failed launch: compares it with the limits of the stream's device and of the kernel
/// there.
/// @throws LaunchError if a limit was broken, else CUDAError. Both name the kernel, the
/// configuration, the call and its code.
[[noreturn]] void raise_launch_failure(CUresult status, const LaunchConfig& config,
                                       const Kernel& kernel, const Stream& stream);

/// Does the same for a kernel node of a graph that runs in `context`. `call` is what failed.
[[noreturn]] void raise_launch_failure(CUresult status, const char* call,
                                       const LaunchConfig& config, const Kernel& kernel,
                                       const Context& context);

} // namespace cuprum::detail
