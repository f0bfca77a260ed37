// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

namespace cuprum::detail {

/// Returns a text that identifies the build of a library file: its build id if the linker wrote
/// one, else its size and modification time. Empty if the file cannot be read.
///
/// A build id stays the same wherever the file is installed, so that machines can share a cache.
[[nodiscard]] std::string file_identity(const std::string& path);

} // namespace cuprum::detail
