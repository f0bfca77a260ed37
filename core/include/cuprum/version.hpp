// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/export.hpp>

#include <string>

/// Changes when a program must change.
#define CUPRUM_VERSION_MAJOR 0
/// Changes when something is added.
#define CUPRUM_VERSION_MINOR 1
/// Changes when something is corrected.
#define CUPRUM_VERSION_PATCH 0

namespace cuprum {

/// Returns the version of the library that is loaded, "0.1.0".
[[nodiscard]] CUPRUM_API const char* version() noexcept;

/// Returns the CUDA version that the driver supports, 13000 for 13.0.
[[nodiscard]] CUPRUM_API int driver_version();

/// Returns which driver is in use and where it came from, "emulated (/opt/.../libcuda.so.1)".
[[nodiscard]] CUPRUM_API std::string driver_description();

} // namespace cuprum
