// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

namespace cuprum::nvvm {

/// Returns CUDA's library of mathematical functions as bitcode. Reads it once, from beside libNVVM,
/// from Python's packages or from the toolkit.
/// @throws LibraryNotFoundError that lists where it was searched for.
[[nodiscard]] const std::string& libdevice();

} // namespace cuprum::nvvm
