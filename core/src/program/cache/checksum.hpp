// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace cuprum::detail {

/// Returns a checksum that detects accidental damage: flipped, lost, added and exchanged bytes. It
/// misses one change in 2^64.
///
/// It is the same on every machine and about as fast as reading memory. It does not protect against
/// forgery: for that, the folder must not be writable by others.
[[nodiscard]] std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t seed) noexcept;

} // namespace cuprum::detail
