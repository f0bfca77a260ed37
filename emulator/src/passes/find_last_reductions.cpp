// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Finds reductions that may take effect later than they are executed:
//
//   red.global.add.u32 [%rd1], 1;
//   ret;
//
// The memory model lets a relaxed reduction without a result take effect at any time before
// something that is ordered after it. A reduction qualifies if its thread, after it, only computes
// from registers, branches, executes other such reductions, and exits. Then nothing is ordered
// after it but the end of the grid: no access that could see its own effect, no fence, no barrier.
// The interpreter may collect these reductions and apply several of them together
// (interp/reductions.hpp).
//
// An atom whose result is not used becomes a reduction here, as in the machine code of a GPU.

#include "passes/build.hpp"

namespace cuprum::emulator::passes {

using bytecode::Instruction;
using bytecode::Operand;

namespace {

/// Returns whether an instruction is an atomic with a result.
bool has_result(const Instruction& instruction) {
    return instruction.form.family() == bytecode::Family::Atomic && instruction.dst_count == 1;
}

/// Drops the results of atomics that nothing reads. Those with a result cannot wait.
void drop_unused_results(KernelBuild& build) {
    std::vector<bool> is_read(build.registers.size(), false);
    for (Instruction& instruction : build.kernel.code) {
        for_each_source(build, instruction, [&](Operand operand) {
            if (is_register(operand)) {
                is_read[operand.offset()] = true;
            }
        });
    }
    for (Instruction& instruction : build.kernel.code) {
        if (!has_result(instruction)) {
            continue;
        }
        const Operand result = instruction.dst[0];
        if (result.is_none() || (is_register(result) && !is_read[result.offset()])) {
            instruction.dst_count = 0;
        } else {
            instruction.flags &= static_cast<std::uint8_t>(~bytecode::CAN_WAIT);
        }
    }
}

/// Returns whether a reduction may wait until after this instruction.
bool is_quiet(const KernelBuild& build, std::uint32_t at) {
    constexpr int harmless =
        bytecode::IS_BRANCH | bytecode::NO_FALL_THROUGH | bytecode::CAN_WAIT; // jumps and exits
    return build.notes[at].is_arithmetic || (build.kernel.code[at].flags & harmless) != 0;
}

} // namespace

void find_last_reductions(KernelBuild& build) {
    auto& code = build.kernel.code;
    bool can_any_wait = false;
    bool has_any_result = false;
    for (Instruction& instruction : code) {
        if (build.has_calls) { // what follows a return is not known here
            instruction.flags &= static_cast<std::uint8_t>(~bytecode::CAN_WAIT);
        }
        can_any_wait |= (instruction.flags & bytecode::CAN_WAIT) != 0;
        has_any_result |= has_result(instruction);
    }
    if (has_any_result) {
        drop_unused_results(build);
    }
    if (!can_any_wait) {
        return;
    }
    find_blocks(build); // the passes before this one have removed instructions

    // A block is quiet if it and everything that can follow it is.
    std::vector<bool> is_block_quiet(build.blocks.size(), true);
    const auto are_successors_quiet = [&](std::size_t block) {
        bool all = true;
        for (const std::uint32_t next : build.blocks[block].successors) {
            all = all && is_block_quiet[next];
        }
        return all;
    };
    for (bool is_changed = true; is_changed;) {
        is_changed = false;
        for (std::size_t b = build.blocks.size(); b-- != 0;) {
            bool is_all_quiet = is_block_quiet[b] && are_successors_quiet(b);
            for (std::uint32_t i = build.blocks[b].begin; is_all_quiet && i < build.blocks[b].end;
                 ++i) {
                is_all_quiet = is_quiet(build, i);
            }
            is_changed |= is_block_quiet[b] != is_all_quiet;
            is_block_quiet[b] = is_all_quiet;
        }
    }
    for (std::size_t b = 0; b < build.blocks.size(); ++b) {
        bool is_rest_quiet = are_successors_quiet(b);
        for (std::uint32_t i = build.blocks[b].end; i-- != build.blocks[b].begin;) {
            if (!is_rest_quiet) {
                code[i].flags &= static_cast<std::uint8_t>(~bytecode::CAN_WAIT);
            }
            is_rest_quiet = is_rest_quiet && is_quiet(build, i);
        }
    }
}

} // namespace cuprum::emulator::passes
