// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Clusters: blocks that run together, access each other's shared memory and have a barrier.
//
// A shared address below CLUSTER_WINDOW_BYTES is an offset into the block's own shared memory. An
// address in window number r + 1 is an offset into the memory of the block with rank r. So the
// block's own addresses are valid in the cluster, as on a real device.

#pragma once

#include "bytecode/instruction.hpp"
#include "interp/warp.hpp"

#include <cstdint>
#include <type_traits>

namespace cuprum::emulator {

/// Returns the host address of bytes at a shared address, in the block's memory or that of another
/// block of its cluster. Returns nullptr unless all of them are there.
[[nodiscard]] std::byte* find_shared(const BlockContext& block, std::uint64_t address,
                                     std::uint32_t bytes);

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
