// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Barriers in shared memory (mbarrier). One is a 64-bit word of a layout that is ours to choose:
//
//   bits  0-19  pending   arrivals that the current phase still waits for
//   bits 20-39  expected  arrivals of every further phase
//   bits 40-60  tx        bytes announced and not yet delivered, signed
//   bit  62     marker    set by init: distinguishes a barrier from other data
//   bit  63     parity    of the current phase
//
// A phase is complete when nothing is pending and tx is 0. An arrival returns the previous word as
// its state.
//
// A cluster runs on one worker at a time, so its words need no atomic operations.

#pragma once

#include "bytecode/instruction.hpp"
#include "interp/cluster.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace cuprum::emulator {

struct Group;
struct WarpContext;

/// Bits of `Instruction::tag` of the functions below.
namespace mbarrier_tag {
constexpr std::uint16_t NARROW_ADDRESS = 1; // the base has 32-bit lanes
constexpr std::uint16_t GENERIC = 2;        // the address is generic, not a shared offset
constexpr std::uint16_t EXPECTS_TX = 4;     // arrive: src[1] counts bytes; one arrival
constexpr std::uint16_t DROPS = 8;          // arrive: later phases expect fewer arrivals
constexpr std::uint16_t NO_COMPLETE = 16;   // arrive: must not complete the phase
constexpr std::uint16_t PARITY = 32;        // wait: src[1] is a parity, not a state
// and REACHES_CLUSTER of interp/cluster.hpp
} // namespace mbarrier_tag

/// Handlers. src[0] is the base and `immediate` the offset, except for pending_count.
namespace mbarrier {

using Function = std::remove_pointer_t<bytecode::Handler>;

Function init; // src[1]: how many arrivals each phase expects
Function invalidate;
Function arrive;        // dst[0]: the previous state; src[1]: number of arrivals or bytes
Function wait;          // dst[0]: predicate; src[1]: state or parity. Yields if no lane is done
Function expect_tx;     // src[1]: bytes
Function complete_tx;   // src[1]: bytes
Function check;         // only checks that there is a barrier
Function pending_count; // dst[0]; src[0]: a state, 64 bits

/// Describes the barrier that a group waits for at `wait`: its place and what is missing.
[[nodiscard]] std::string describe(const WarpContext& warp, const Group& group,
                                   const bytecode::Instruction* wait);

/// Returns the parity of the current phase of the barrier at a place.
[[nodiscard]] bool parity_at(const std::byte* place);

/// Records that announced bytes have arrived for the barrier at a shared address. Returns false
/// after a fault, which names `at` and `lane`.
[[nodiscard]] bool deliver(WarpContext& warp, const bytecode::Instruction* at, std::uint32_t lane,
                           std::uint64_t address, std::uint32_t bytes, Reach reach);

} // namespace mbarrier

} // namespace cuprum::emulator
