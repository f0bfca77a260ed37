// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Asynchronous copies: those of many bytes (cp.async.bulk), which are done at once, and what the
// small ones (handlers/async.cpp) need that builds strings.

#pragma once

#include "bytecode/instruction.hpp"

#include <cstdint>
#include <type_traits>

namespace cuprum::emulator {

struct WarpContext;

/// Copies between global and shared memory of the block.
///
/// src[0]: base in shared memory, `target`: signed offset; src[1]: base in global memory,
/// `immediate`: offset; src[2]: how many bytes. To shared memory also src[3]: base of the mbarrier
/// that is told of the bytes, `extra`: signed offset.
namespace bulk_copy {

constexpr std::uint16_t NARROW_SHARED = 1;  // in `tag`: src[0] has 32-bit lanes
constexpr std::uint16_t NARROW_BARRIER = 2; // src[3] has
constexpr std::uint16_t NARROW_GLOBAL = 4;  // src[1] has

std::remove_pointer_t<bytecode::Handler> to_shared;
std::remove_pointer_t<bytecode::Handler> to_global;

} // namespace bulk_copy

/// Raises the fault of a cp.async that is told to read more than it writes. Returns nullptr.
[[nodiscard]] const bytecode::Instruction*
raise_copy_size_fault(WarpContext& warp, const bytecode::Instruction* at, std::uint32_t lane,
                      std::uint32_t source_bytes, std::uint32_t bytes);

} // namespace cuprum::emulator
