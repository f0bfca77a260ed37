// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The instructions that checks consist of. They stand before (or after) the instruction that they
// look at. Only kernels that were compiled with a check turned on have them.

#pragma once

#include "bytecode/instruction.hpp"

#include <cstdint>
#include <type_traits>

namespace cuprum::emulator::check {

using Function = std::remove_pointer_t<bytecode::Handler>;

/// Looks at what the next instruction accesses. src[0]: base address; `immediate`: offset from it;
/// `access_bytes`: of an element; `tag`: as below; `target`: packed by ACCESS_*_SHIFT. Then come
/// the values that are written, or the size, or the stride.
Function access;

/// The same for a copy into the shared memory of several blocks of the cluster, at one offset in
/// each. src[1]: the size; src[2]: the blocks, a bit each.
Function access_many;

/// Where `target` of an access holds the number of elements, of lines, and of lanes.
constexpr unsigned ACCESS_LINES_SHIFT = 16;
constexpr unsigned ACCESS_LANES_SHIFT = 24;

/// Bits of the `tag` of an access.
constexpr std::uint16_t ACCESS_READS = 1;
constexpr std::uint16_t ACCESS_WRITES = 2;
constexpr std::uint16_t ACCESS_STRONG = 4;   // never part of a race
constexpr std::uint16_t ACCESS_NARROW = 8;   // the base has 32-bit lanes
constexpr std::uint16_t ACCESS_SIZED = 16;   // src[1]: how many bytes a lane accesses
constexpr std::uint16_t ACCESS_VALUES = 32;  // src[1...] and further ones: what is written
constexpr unsigned ACCESS_SPACE_SHIFT = 6;   // 3 bits: an AccessSpace
constexpr unsigned ACCESS_WIDTH_SHIFT = 9;   // 2 bits: logarithm of the values' lane bytes, less 2
constexpr unsigned ACCESS_STRIDE_SHIFT = 11; // 4 bits: AccessNote::stride_shift plus 8
constexpr std::uint16_t ACCESS_PASSES_ON = 1u << 15; // what is read is perhaps not used

enum class AccessSpace : std::uint8_t { Generic, Global, Shared, Local };

Function release;       // lanes publish what they have done to all other threads
Function acquire;       // lanes learn what others have published
Function release_block; // the same among the threads of a block only
Function acquire_block;
Function meet;       // src[0]: the member mask of each lane; all of them are here
Function membership; // src[0]: the member mask of each lane; it must name the lane itself
Function mark_local; // immediate: how many bytes of local memory from `target` on are written, in
                     // the running activation or (tag 1) the one that will be called
Function shake;      // gives way at random

} // namespace cuprum::emulator::check
