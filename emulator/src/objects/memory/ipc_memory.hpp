// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Sharing allocations of cuMemAlloc with other processes.
//
// The first export of an allocation moves its contents into a shared file, which is mapped at the
// same addresses.

#pragma once

#include "objects/memory/allocations.hpp"
#include "objects/process/shared_file.hpp"

#include <cstdint>
#include <memory>

namespace cuprum::emulator {

/// Returns how much of a shared file is mapped for an allocation.
[[nodiscard]] std::uint64_t shared_bytes(std::uint64_t bytes) noexcept;

/// Returns how other processes find an allocation of cuMemAlloc.
[[nodiscard]] SharedAddress export_memory(const std::shared_ptr<Allocation>& allocation);

/// Maps another process's allocation for a context. Mapping it again returns the same memory.
///
/// @throws DriverError INVALID_HANDLE for an unknown handle, INVALID_CONTEXT for a handle of this
/// process.
[[nodiscard]] std::shared_ptr<Allocation> open_memory(const SharedAddress& address,
                                                      const std::shared_ptr<Context>& context);

/// Closes imported memory once. The last close unmaps it. Throws INVALID_VALUE.
void close_memory(std::uint64_t base);

/// Unmaps imported memory that the table of allocations has dropped.
void close_imported(const Allocation& allocation) noexcept;

} // namespace cuprum::emulator
