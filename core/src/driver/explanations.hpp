// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuda.h>

#include <string>

namespace cuprum::driver {

/// Returns the name of a result code, or null if this library does not know it. Needs no driver.
[[nodiscard]] const char* known_name(CUresult code) noexcept;

/// Returns the name of a result code, such as "CUDA_ERROR_INVALID_VALUE". Asks the driver for codes
/// newer than this library.
[[nodiscard]] std::string name_of(CUresult code);

/// Returns what a code means and what to do: this library's sentence for common codes, else the
/// driver's text.
[[nodiscard]] std::string explanation_of(CUresult code);

} // namespace cuprum::driver
