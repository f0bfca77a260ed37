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

/// Returns a text that identifies the build of a library file: its build id if the linker wrote
/// one, else its size and modification time. Empty if the file cannot be read.
///
/// A build id stays the same wherever the file is installed, so that machines can share a cache.
[[nodiscard]] std::string file_identity(const std::string& path);

} // namespace cuprum::detail
