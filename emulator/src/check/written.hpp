// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Which bytes of device memory have been written: a byte per byte, at the same distance from the
// start of MemoryMap::initialized as the memory is from that of the map. Pages of it that nobody
// has touched take no memory.

#pragma once

#include "interp/memory_map.hpp"

#include <cstddef>
#include <cstdint>

namespace cuprum::emulator::check {

/// Says that bytes have been written. Does nothing for memory outside device memory, or when
/// nobody keeps account.
void mark_written(const MemoryMap& map, std::uint64_t address, std::uint64_t bytes) noexcept;

/// Says that bytes have never been written.
void forget_written(const MemoryMap& map, std::uint64_t address, std::uint64_t bytes) noexcept;

/// Says that bytes have been copied between places of which account is kept: what was not written
/// before is not written there either.
void copy_written(const MemoryMap& map, std::uint64_t to, std::uint64_t from,
                  std::uint64_t bytes) noexcept;

/// Returns whether all of the bytes have been written, or lie where nobody keeps account.
[[nodiscard]] bool are_written(const MemoryMap& map, std::uint64_t address,
                               std::uint64_t bytes) noexcept;

/// Returns whether none of the bytes, which lie in device memory, has been written.
[[nodiscard]] bool is_unwritten(const MemoryMap& map, std::uint64_t address,
                                std::uint32_t bytes) noexcept;

} // namespace cuprum::emulator::check
