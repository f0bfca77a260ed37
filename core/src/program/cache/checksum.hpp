// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace cuprum::detail {

/// Returns a checksum that finds accidental damage: flipped, lost, added and exchanged bytes, but
/// for one change in 2^64. It is the same on every machine, and about as fast as memory is read,
/// which no cryptographic one is. It is no protection against somebody who means to forge: what
/// keeps those away is that nobody else can write to the folder.
[[nodiscard]] std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t seed) noexcept;

} // namespace cuprum::detail
