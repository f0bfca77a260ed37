// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace cuprum::emulator {

/// Returns whether the bytes are an archive of object files, as `ar` makes it.
[[nodiscard]] bool is_archive(std::span<const unsigned char> bytes) noexcept;

/// Returns whether the bytes are an object file of the host, as `nvcc -c` makes it, or an archive.
[[nodiscard]] bool is_object_file(std::span<const unsigned char> bytes) noexcept;

/// Finds the fatbins that nvcc embeds in an object file, or in the members of an archive.
///
/// They point into `bytes`. Parts outside the file are ignored, so that a damaged file has fewer
/// fatbins or none.
[[nodiscard]] std::vector<std::span<const unsigned char>>
find_fatbins(std::span<const unsigned char> bytes);

} // namespace cuprum::emulator
