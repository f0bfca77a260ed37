// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Allocations of cuMemAlloc given to other processes.
//
// Such memory is ordinary until it is exported for the first time; then its contents move into a
// shared file, which is mapped at the same addresses.

#pragma once

#include "objects/memory/allocations.hpp"
#include "objects/process/shared_file.hpp"

#include <cstdint>
#include <memory>

namespace cuprum::emulator {

/// Returns how much of a shared file is mapped for an allocation.
[[nodiscard]] std::uint64_t shared_bytes(std::uint64_t bytes) noexcept;

/// Returns where other processes find an allocation of cuMemAlloc.
[[nodiscard]] SharedAddress export_memory(const std::shared_ptr<Allocation>& allocation);

/// Maps another process's allocation for a context; a second time it is the same memory.
///
/// @throws DriverError INVALID_HANDLE for a handle that names nothing, INVALID_CONTEXT for one of
/// this process.
[[nodiscard]] std::shared_ptr<Allocation> open_memory(const SharedAddress& address,
                                                      const std::shared_ptr<Context>& context);

/// Gives one use of imported memory back; the last one unmaps it. Throws INVALID_VALUE.
void close_memory(std::uint64_t base);

/// Unmaps imported memory that the table of allocations has dropped.
void close_imported(const Allocation& allocation) noexcept;

} // namespace cuprum::emulator
