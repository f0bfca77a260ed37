// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "check/global_races.hpp"
#include "check/handlers.hpp"
#include "interp/warp.hpp"

#include <cstdint>
#include <string>

namespace cuprum::emulator::check {

/// One access of one lane.
struct Access {
    AccessSpace space = AccessSpace::Generic;
    bool reads = false;
    bool writes = false;
    bool is_strong = false;
    bool passes_on = false; // what is read from shared or local memory may be unused
    std::uint32_t lane = 0;
    std::uint64_t address = 0;
    std::uint32_t bytes = 0;
    std::uint32_t element_bytes = 0;
    const std::uint8_t* data = nullptr; // that is written; nullptr: not known
};

/// Checks an access and records it. Returns false after a fault. Ignores accesses that the
/// instruction itself will refuse: outside shared or local memory, misaligned.
[[nodiscard]] bool check_access(WarpContext& warp, const bytecode::Instruction* at,
                                const Access& access);

/// Checks and records the accesses of `lanes` lanes, `first` and those after it, as one: they go on
/// behind it, or all read at its address. Returns false, with nothing recorded, when they have to
/// be looked at one by one. `data` is what they write, lane by lane, or nullptr.
[[nodiscard]] bool check_together(WarpContext& warp, const bytecode::Instruction* at,
                                  const Access& first, std::uint32_t lanes, bool is_uniform,
                                  const std::uint8_t* data);

/// Stops the kernel with a fault, or only reports it where CUPRUM_EMULATOR_CHECK_ACTION says so.
/// Returns whether the kernel continues.
[[nodiscard]] bool report_finding(WarpContext& warp, const bytecode::Instruction* at,
                                  std::uint32_t lane, FaultKind kind, const std::string& detail);

/// Returns which thread accesses device memory, and where in its code.
[[nodiscard]] GlobalRaces::Stamp global_stamp(const WarpContext& warp,
                                              const bytecode::Instruction* at, std::uint32_t lane);

} // namespace cuprum::emulator::check
