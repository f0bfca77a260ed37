// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "check/global_races.hpp"
#include "check/handlers.hpp"
#include "interp/warp.hpp"

#include <cstdint>
#include <string>

namespace cuprum::emulator::check {

/// The checks that look at every access. That of graphs only records those of nodes of graphs.
constexpr std::uint8_t CHECKS_OF_ACCESSES = CHECK_MEMORY | CHECK_INITIALIZED | CHECK_RACES;

/// One access by one lane.
struct Access {
    AccessSpace space = AccessSpace::Generic;
    bool reads = false;
    bool writes = false;
    bool is_strong = false;
    bool passes_on = false; // the value read from shared or local memory may stay unused
    std::uint32_t lane = 0;
    std::uint64_t address = 0;
    std::uint32_t bytes = 0;
    std::uint32_t element_bytes = 0;
    const std::uint8_t* data = nullptr; // the bytes that are written; nullptr if unknown
    bool is_async = false;              // of the async proxy, in shared memory
    // If the access is an asynchronous write: the mbarrier that counts it, as an offset into the
    // shared memory of the same block.
    std::uint32_t barrier = NO_BARRIER;

    static constexpr std::uint32_t NO_BARRIER = ~0u;
};

/// Checks and records an access. Returns false after a fault. Ignores accesses that the instruction
/// itself will refuse: those outside shared or local memory, and misaligned ones.
[[nodiscard]] bool check_access(WarpContext& warp, const bytecode::Instruction* at,
                                const Access& access);

/// Checks and records the accesses of `lanes` lanes, starting with `first`, as one access. The
/// lanes either access adjacent addresses or all read at one address. `data` holds what they write,
/// lane by lane, or is nullptr. Returns false and records nothing if the lanes must be checked one
/// by one.
[[nodiscard]] bool check_together(WarpContext& warp, const bytecode::Instruction* at,
                                  const Access& first, std::uint32_t lanes, bool is_uniform,
                                  const std::uint8_t* data);

/// Stops the kernel with a fault, or only reports it if CUPRUM_EMULATOR_CHECK_ACTION says so.
/// Returns whether the kernel continues.
[[nodiscard]] bool report_finding(WarpContext& warp, const bytecode::Instruction* at,
                                  std::uint32_t lane, FaultKind kind, const std::string& detail);

/// Records which device memory a node of a graph accesses, if that is checked.
void record_access(GridShadow& grid, const Access& access, std::uint64_t bytes);

/// Returns which thread accesses device memory, and at which instruction.
[[nodiscard]] GlobalRaces::Stamp global_stamp(const WarpContext& warp,
                                              const bytecode::Instruction* at, std::uint32_t lane);

} // namespace cuprum::emulator::check
