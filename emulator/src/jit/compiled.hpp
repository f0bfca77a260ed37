// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "jit/plugin.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace cuprum::emulator::jit {

/// Compiled code of a kernel for one shape of blocks, ready to run.
struct Compiled {
    const bytecode::Kernel* kernel = nullptr;
    std::uint64_t number = 0; // differs from that of all other compiled code
    std::unique_ptr<Code> code;
    GangFunction run = nullptr;
    std::vector<Entry> entries;
    std::vector<std::uint32_t> entry_at; // by instruction: one more than the index into `entries`
    std::uint32_t lanes = 16;
    std::uint32_t site_count = 0;
    std::vector<AccessInfo> accesses;
    bool flushes = false; // Object::flushes
    // The kernel's instructions, with enter() as the handler of those where an entry is.
    std::vector<bytecode::Instruction> instructions;
};

/// Makes an object ready to run. Returns null, and why in `problem`, if it cannot.
[[nodiscard]] std::unique_ptr<Compiled> make_compiled(const bytecode::Kernel& kernel, Object object,
                                                      const Plugin& plugin, std::string& problem);

/// Runs the running group by compiled code, from the entry at this instruction until it stops. Runs
/// the instruction itself if compiled code cannot begin here now.
[[nodiscard]] const bytecode::Instruction* enter(WarpContext& warp, const bytecode::Instruction* at,
                                                 std::uint32_t mask);

/// How a block that ran by compiled code alone has stopped.
enum class BlockEnd : std::uint8_t {
    Finished,
    Alone, // the warps continue one by one
    Faulted,
};

/// Runs a block whose warps have just started, all together from barrier to barrier, for at most
/// `budget` back edges of a gang at a time.
[[nodiscard]] BlockEnd run_block(BlockContext& block, std::uint32_t budget);

} // namespace cuprum::emulator::jit
