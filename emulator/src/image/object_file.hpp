// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace cuprum::emulator {

/// Tells whether bytes are an object file of the host, or an archive of such: what nvcc -c and ar
/// make.
[[nodiscard]] bool is_object_file(std::span<const unsigned char> bytes) noexcept;

/// Finds the fatbins that nvcc has embedded in an object file, or in the members of an archive.
///
/// They point into `bytes`. Whatever does not fit into the file is left out: a damaged file has
/// fewer, or none.
[[nodiscard]] std::vector<std::span<const unsigned char>>
find_fatbins(std::span<const unsigned char> bytes);

} // namespace cuprum::emulator
