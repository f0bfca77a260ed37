// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Asynchronous copies: bulk copies (cp.async.bulk), which complete at once, and the parts of small
// copies (handlers/async.cpp) that build strings.

#pragma once

#include "bytecode/instruction.hpp"

#include <cstdint>
#include <type_traits>

namespace cuprum::emulator {

struct WarpContext;

/// Copies between global memory and the shared memory of the block or its cluster.
///
/// src[0]: base in shared memory, `target`: signed offset; src[1]: base in global memory,
/// `immediate`: offset; src[2]: number of bytes. If the target is shared memory, also src[3]: base
/// of the mbarrier that counts the bytes, `extra`: signed offset.
namespace bulk_copy {

constexpr std::uint16_t NARROW_SHARED = 1;  // in `tag`: src[0] has 32-bit lanes
constexpr std::uint16_t NARROW_BARRIER = 2; // src[3] has 32-bit lanes
constexpr std::uint16_t NARROW_GLOBAL = 4;  // src[1] has 32-bit lanes

constexpr std::uint16_t TO_GLOBAL = 8;   // reduce: global memory changes, not src[0]
constexpr std::uint16_t GENERIC = 16;    // clear: src[0] is a generic address
constexpr std::uint16_t IN_CLUSTER = 32; // target and mbarrier may be in another block
constexpr unsigned OPERATION_SHIFT = 8;  // reduce: 3 bits, in the order of `Operation`
constexpr unsigned TYPE_SHIFT = 11;      // reduce: a ptx::Type

enum class Operation : std::uint8_t { Add, Min, Max, Inc, Dec, And, Or, Xor };

using Function = std::remove_pointer_t<bytecode::Handler>;

Function to_shared;
Function to_shared_trimmed; // src[2]: size, and the numbers of unread bytes at both ends
Function to_global;
Function to_many;          // to_shared in several blocks; src[2]: size and mask of ranks
Function between_shared;   // to_shared, but src[1] is in the block's own shared memory
Function reduce;           // from shared memory; combines with the old values
Function to_global_masked; // to_global; src[2]: size and mask of the copied bytes in each 16
Function masked_extent;    // dst[0]: the end of what such a copy writes; src[0]: size, src[1]: mask
Function clear;            // zeroes shared memory; src[1]: number of bytes, in 64-bit lanes

} // namespace bulk_copy

/// Raises the fault of a cp.async whose read size exceeds its write size. Returns nullptr.
[[nodiscard]] const bytecode::Instruction*
raise_copy_size_fault(WarpContext& warp, const bytecode::Instruction* at, std::uint32_t lane,
                      std::uint32_t source_bytes, std::uint32_t bytes);

} // namespace cuprum::emulator
