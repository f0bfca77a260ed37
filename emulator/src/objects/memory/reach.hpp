// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What copies, fills and waits of a stream may do with memory. Kernels use the table of granules
// instead (interp/memory_map.hpp).

#pragma once

#include "interp/memory_map.hpp"

#include <cuda.h>

#include <cstdint>
#include <string>

namespace cuprum::emulator {

struct Allocation;

/// Returns what flags of cuMemSetAccess or cuMemPoolSetAccess allow.
[[nodiscard]] Permission permission_of(CUmemAccess_flags flags) noexcept;

/// How work uses one range of memory.
struct Use {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    bool is_write = false;
    bool is_between_contexts = false; // no device needs access to the other's memory
    const char* what = "the memory";  // for messages
};

/// Returns whether a device may use memory, as far as pools decide that.
[[nodiscard]] bool is_open_to(int device, const Allocation& allocation, bool is_write);

/// Checks that work of a device may use memory in this way. Throws INVALID_VALUE and explains what
/// to do.
void check_reach(const Use& use, const Allocation& allocation, int device);

/// Returns a report of queued work on host memory that the process does not have any more. `what`
/// says what the work did, `by` who enqueued it.
[[nodiscard]] std::string describe_unmapped(const std::string& what, std::uint64_t address,
                                            const std::string& by = {});

/// Returns a report of work on device memory that was freed.
[[nodiscard]] std::string describe_freed(const std::string& what, std::uint64_t address,
                                         const std::string& by = {});

} // namespace cuprum::emulator
