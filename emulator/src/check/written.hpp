// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Which bytes of device memory have been written. There is one flag byte per byte of memory, at the
// same offset from MemoryMap::initialized as the memory is from the start of the map. Untouched
// pages of flags take no memory.

#pragma once

#include "interp/memory_map.hpp"

#include <cstddef>
#include <cstdint>

namespace cuprum::emulator::check {

/// Marks bytes as written. Does nothing for memory outside device memory, or if writes are not
/// tracked.
void mark_written(const MemoryMap& map, std::uint64_t address, std::uint64_t bytes) noexcept;

/// Marks bytes as never written.
void forget_written(const MemoryMap& map, std::uint64_t address, std::uint64_t bytes) noexcept;

/// Copies the flags of bytes that were copied: bytes that were unwritten at the source are
/// unwritten at the target. Does nothing unless both ranges are tracked.
void copy_written(const MemoryMap& map, std::uint64_t to, std::uint64_t from,
                  std::uint64_t bytes) noexcept;

/// Returns whether all bytes have been written. Untracked bytes count as written.
[[nodiscard]] bool are_written(const MemoryMap& map, std::uint64_t address,
                               std::uint64_t bytes) noexcept;

/// Returns whether none of the bytes has been written. The bytes lie in device memory.
[[nodiscard]] bool is_unwritten(const MemoryMap& map, std::uint64_t address,
                                std::uint32_t bytes) noexcept;

} // namespace cuprum::emulator::check
