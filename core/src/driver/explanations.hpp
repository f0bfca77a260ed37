// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuda.h>

#include <string>

namespace cuprum::driver {

/// Returns the name of a result code that this library knows, else null. Asks no driver.
[[nodiscard]] const char* known_name(CUresult code) noexcept;

/// Returns the name of a result code, "CUDA_ERROR_INVALID_VALUE"; asks the driver for codes newer
/// than this library.
[[nodiscard]] std::string name_of(CUresult code);

/// Returns what a code means and what to do: our own sentence for the codes people meet, else the
/// driver's.
[[nodiscard]] std::string explanation_of(CUresult code);

} // namespace cuprum::driver
