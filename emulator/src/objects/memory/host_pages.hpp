// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "interp/memory_map.hpp"

#include <cstdint>

namespace cuprum::emulator {

/// The size of a page of host memory.
inline constexpr std::uint64_t PAGE_BYTES = 4096;

/// Returns whether all pages of a range of this process are mapped.
[[nodiscard]] bool is_mapped(std::uint64_t address, std::uint64_t bytes) noexcept;

/// Returns what this process may do with all of a range of its memory, as the system reports it.
[[nodiscard]] Permission permission_of_process(std::uint64_t address, std::uint64_t bytes);

/// Returns whether the host has a NUMA node of this number. A host without nodes has node 0.
[[nodiscard]] bool is_host_node(int number);

/// Returns the number of the NUMA node on which the calling thread runs.
[[nodiscard]] int current_host_node();

/// Throws OUT_OF_MEMORY for an allocation larger than the host's memory and `more_bytes`, or larger
/// than what a container leaves. The system provides pages on first access, so several large
/// allocations together are refused only in a container.
void check_host_holds(std::uint64_t bytes, std::uint64_t more_bytes = 0);

} // namespace cuprum::emulator
