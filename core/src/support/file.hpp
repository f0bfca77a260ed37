// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace cuprum::detail {

/// Reads a whole file.
/// @throws std::system_error that names the path and the reason.
[[nodiscard]] std::vector<std::byte> read_file(const std::string& path);

} // namespace cuprum::detail
