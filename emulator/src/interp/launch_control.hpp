// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// clusterlaunchcontrol: a running cluster asks for the work of a cluster that has not started.
//
// A device may always decline such a request. The emulator always does: every cluster of a grid
// runs by itself and does its own part. The answer takes 16 bytes in our own layout: whether a
// cluster was cancelled, and the index of its first block in x, y and z, 32 bits each.

#pragma once

#include "bytecode/instruction.hpp"

#include <cstdint>
#include <type_traits>

namespace cuprum::emulator::launch_control {

constexpr std::uint16_t NARROW_ANSWER = 1;  // in `tag`: src[0] has 32-bit lanes
constexpr std::uint16_t NARROW_BARRIER = 2; // src[1] has 32-bit lanes
constexpr std::uint16_t GENERIC = 4;        // the addresses are generic
constexpr std::uint16_t TO_ALL = 8;         // all blocks of the cluster get the answer

constexpr std::uint32_t ANSWER_BYTES = 16;

using Function = std::remove_pointer_t<bytecode::Handler>;

/// src[0]: base address of the answer, `target`: signed offset; src[1]: base of the mbarrier that
/// counts its bytes, `extra`: signed offset.
Function try_cancel;

} // namespace cuprum::emulator::launch_control
