// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "libraries/nvjitlink/table.hpp"

#include <string>

namespace cuprum::nvjitlink {

/// Returns the name of a result code, such as "NVJITLINK_ERROR_PTX_COMPILE".
[[nodiscard]] std::string name_of(nvJitLinkResult status);

/// Returns nvJitLink's version, such as "13.0".
[[nodiscard]] std::string version();

} // namespace cuprum::nvjitlink
