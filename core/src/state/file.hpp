// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace cuprum::detail {

/// How many NULs follow an image in memory, so that a loader that looks at the first words of a
/// short one stays inside it.
inline constexpr std::size_t IMAGE_PADDING_BYTES = 64;

/// Reads a whole file.
/// @throws CUDAError with CUDA_ERROR_FILE_NOT_FOUND that names the path and the reason.
[[nodiscard]] std::vector<std::byte> read_file(const std::string& path);

} // namespace cuprum::detail
