// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace cuprum::detail {

/// Reads a whole file.
/// @throws std::system_error that names the path.
[[nodiscard]] std::vector<std::byte> read_file(const std::string& path);

/// Writes all bytes to an open file. Returns 0, or the errno of the failure.
[[nodiscard]] int write_all(int descriptor, std::span<const std::byte> bytes) noexcept;

} // namespace cuprum::detail
