// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The instructions that perform checks. They stand before (or after) the instruction that they
// check. Only kernels that are compiled with a check enabled contain them.

#pragma once

#include "bytecode/instruction.hpp"

#include <cstdint>
#include <type_traits>

namespace cuprum::emulator::check {

using Function = std::remove_pointer_t<bytecode::Handler>;

/// Checks what the next instruction accesses. src[0]: base address; `immediate`: offset from it;
/// `access_bytes`: size of an element; `tag`: the ACCESS_ bits below; `target`: counts, packed by
/// ACCESS_*_SHIFT. The values that are written, the size, or the stride follow in the other
/// sources.
Function access;

/// Checks what a bulk copy accesses in the background. src[1]: the size; src[2]: base of the
/// mbarrier that a write ends with, `extra`: offset from it; src[3]: the mask of blocks that the
/// copy writes to, at one offset in each. `tag`: the ACCESS_ bits and the ASYNC_ bits below.
Function access_async;

constexpr std::uint16_t ASYNC_BARRIER = 1u << 9; // src[2] and `extra` count
constexpr std::uint16_t ASYNC_NARROW = 1u << 10; // src[2] has 32-bit lanes
constexpr std::uint16_t ASYNC_BLOCKS = 1u << 5;  // src[3] counts

/// Check what a tensor copy accesses; operands and `tag` are those of the copy.
Function tensor_load; // `access_bytes`: whether it goes to several blocks
Function tensor_store;
Function tensor_reduction;

/// Records which mbarriers threads have found complete. Operands are those of mbarrier::wait;
/// src[2]: the predicate that it returned.
Function waited;

/// Where `target` of an access holds the number of elements (from bit 0 on), the layout of the
/// values, and the numbers of lines and lanes.
constexpr std::uint32_t ACCESS_COUNT = 0xff;
constexpr unsigned ACCESS_LAYOUT_SHIFT = 8;
constexpr unsigned ACCESS_LINES_SHIFT = 16;
constexpr unsigned ACCESS_LANES_SHIFT = 24;

/// A layout: 0 if each lane has the values that it writes, else one of the first three bits, as in
/// AccessNote::Layout.
constexpr std::uint32_t LAYOUT_TILES = 1;
constexpr std::uint32_t LAYOUT_BYTES = 2;
constexpr std::uint32_t LAYOUT_FRAGMENT = 4;
constexpr std::uint32_t LAYOUT_TRANSPOSED = 8;
constexpr std::uint32_t LAYOUT_PAIRED = 16;

/// Bits of the `tag` of an access.
constexpr std::uint16_t ACCESS_READS = 1;
constexpr std::uint16_t ACCESS_WRITES = 2;
constexpr std::uint16_t ACCESS_STRONG = 4;   // never part of a race
constexpr std::uint16_t ACCESS_NARROW = 8;   // the base has 32-bit lanes
constexpr std::uint16_t ACCESS_SIZED = 16;   // src[1]: how many bytes each lane accesses
constexpr std::uint16_t ACCESS_VALUES = 32;  // the sources behind the others: what is written
constexpr unsigned ACCESS_SPACE_SHIFT = 6;   // 3 bits: an AccessSpace
constexpr unsigned ACCESS_WIDTH_SHIFT = 9;   // 2 bits: log2 of the values' bytes per lane, minus 2
constexpr unsigned ACCESS_STRIDE_SHIFT = 11; // 4 bits: AccessNote::stride_shift plus 8
constexpr std::uint16_t ACCESS_PASSES_ON = 1u << 15; // the value that is read may stay unused

enum class AccessSpace : std::uint8_t {
    Generic,
    Global,
    Shared,  // only of the block
    Cluster, // .shared::cluster
    Local,
};

Function release;       // publishes the lanes' work to all other threads
Function acquire;       // lets the lanes know what others have published
Function fence_proxy;   // makes the lanes' work visible to copies in the background
Function commit_group;  // ends the lanes' group of bulk copies
Function wait_group;    // the groups of the lanes have ended, except the last `target` ones
Function release_block; // release, but only for the threads of a block
Function acquire_block;
Function meet;       // src[0]: the member mask of each lane; all members have arrived
Function membership; // src[0]: the member mask of each lane; it must contain the lane itself
Function mark_local; // immediate: how many bytes of local memory from `target` on are written, in
                     // the running activation or (tag 1) in the one that will be called
Function shake;      // yields at random

/// Checks how an instruction uses registers of wgmma. `target`: the first of them, in
/// Kernel::group_registers; `immediate`: how many; `tag`: a GroupShadow::Use. `extra`: the register
/// that a copy reads, or NO_REGISTER.
Function use_registers;
constexpr std::uint32_t NO_REGISTER = ~0u;

enum class ProductOrder : std::uint8_t { Fence, Commit, Wait };

Function order_products; // tag: a ProductOrder; immediate: the groups that may stay pending

} // namespace cuprum::emulator::check
