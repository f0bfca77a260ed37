// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "interp/warp.hpp"

#include <cstdint>

namespace cuprum::emulator {

/// The reason why a memory access is refused.
enum class AccessProblem : std::uint8_t {
    Unmapped,     // neither device memory nor other memory that the device may access
    Misaligned,   // not a multiple of the access size
    BeyondShared, // outside the block's shared memory
    BeyondLocal,  // outside the thread's local memory
    BeyondParam,  // outside the kernel's parameters
    NotAtomic,    // an atomic operation on local memory or parameters
};

/// Describes the fault of one lane's access and raises it. Returns nullptr, like raise_fault.
/// `context` adds lines to the report, each after a line break.
///
/// Compiled only once: handlers are compiled per instruction-set level and build no strings.
[[nodiscard]] const bytecode::Instruction*
raise_access_fault(WarpContext& warp, const bytecode::Instruction* at, std::uint32_t lane,
                   AccessProblem problem, std::uint64_t address, std::uint32_t bytes, bool is_write,
                   const char* context = "");

} // namespace cuprum::emulator
