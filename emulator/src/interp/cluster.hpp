// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Clusters: blocks that run together, access each other's shared memory and have a barrier.
//
// A shared address below CLUSTER_WINDOW_BYTES is an offset into the block's own shared memory. An
// address in window number r + 1 is an offset into the memory of another block, the one with rank
// r. So the block's own addresses are valid in the cluster, as on a real device. The window of the
// block's own rank is not used: no address is another name for the block's own memory.
//
// Only .shared::cluster and generic addresses reach other blocks. An instruction on .shared, which
// means .shared::cta, faults there, as on a real device.

#pragma once

#include "bytecode/instruction.hpp"
#include "interp/warp.hpp"

#include <cstdint>
#include <type_traits>

namespace cuprum::emulator {

/// Which memory an instruction may access through a shared address.
enum class Reach : std::uint8_t { Block, Cluster };

/// Bit of `Instruction::tag` of loads, stores, atomics, mbarriers and tensor copies: the shared
/// address may belong to another block (.shared::cluster).
constexpr std::uint16_t REACHES_CLUSTER = 0x8000;

[[nodiscard]] inline Reach reach_of(const bytecode::Instruction& instruction) {
    return (instruction.tag & REACHES_CLUSTER) != 0 ? Reach::Cluster : Reach::Block;
}

/// A place in the shared memory of a block.
struct SharedPlace {
    const BlockContext* owner = nullptr; // nullptr: no block has this address
    std::uint64_t offset = 0;
};

/// Returns whose shared memory an address belongs to. The offset may be beyond its end.
[[nodiscard]] SharedPlace place_of(const BlockContext& block, std::uint64_t address, Reach reach);

/// Returns the address that `block` uses for the same place in the block of another rank. Returns
/// an address that no block has unchanged, so that an access to it faults.
[[nodiscard]] std::uint64_t same_place_in(const BlockContext& block, std::uint32_t rank,
                                          std::uint64_t address);

/// Returns the host address of bytes at a shared address. Returns nullptr unless all of them are
/// in the memory of one block.
[[nodiscard]] std::byte* find_shared(const BlockContext& block, std::uint64_t address,
                                     std::uint32_t bytes, Reach reach);

/// Handlers.
namespace cluster {

constexpr std::uint16_t WIDE_ADDRESS = 1; // in `tag`: the address has 64-bit lanes
constexpr std::uint16_t GENERIC = 2;      // the address is generic

using Function = std::remove_pointer_t<bytecode::Handler>;

Function map_address;   // mapa: dst[0], src[0]: an address; src[1]: a rank
Function rank_of;       // getctarank: dst[0], 32 bits; src[0]: an address
Function is_own_shared; // isspacep.shared: dst[0], a predicate; src[0]: a generic address
Function arrive;        // barrier.cluster.arrive
Function wait;          // barrier.cluster.wait

} // namespace cluster

} // namespace cuprum::emulator
