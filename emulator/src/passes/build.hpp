// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A kernel on its way from PTX to bytecode: the data that the passes share.

#pragma once

#include "bytecode/kernel.hpp"
#include "passes/adjacency.hpp"
#include "passes/compile.hpp"
#include "passes/module_index.hpp"
#include "ptx/diagnostics.hpp"
#include "ptx/tree.hpp"

#include <cstdint>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace cuprum::emulator::passes {

/// A register before it has a place in the frame. In NVRTC's output, nearly all are written once.
struct VirtualRegister {
    bytecode::Width width = bytecode::Width::B32;
    ptx::Type type = ptx::Type::None; // as declared
    bool is_warp_special = false;     // set when the warp starts and never written later
    bool is_linear = false;           // find_linear: has a LinearHead before its lanes
};

/// What the passes know about an instruction beyond the instruction itself.
struct Note {
    bool is_copy = false;          // dst[0] = src[0], nothing else
    bool is_removed = false;       // compact() will drop it
    bool waits_for_others = false; // reads what another thread may be about to write
    bool is_arithmetic = false;    // its results depend only on registers and constants
    bool ends_wait_loop = false;   // find_wait_loops: branches back to retest mbarriers
};

/// A run of instructions that is entered only at its beginning and left only at its end.
struct BasicBlock {
    std::uint32_t begin = 0;
    std::uint32_t end = 0; // one past the last
    std::vector<std::uint32_t> successors;
};

/// The instructions during which a register's value is needed, including both ends.
struct LiveRange {
    std::uint32_t first = ~0u;
    std::uint32_t last = 0;

    [[nodiscard]] bool is_empty() const { return first > last; }

    void include(std::uint32_t at) {
        first = at < first ? at : first;
        last = at > last ? at : last;
    }
};

/// A kernel that is being compiled. The comments name the pass that fills in each field.
struct KernelBuild {
    const ModuleIndex& index;
    const ptx::Function& function;
    const CompileOptions& options;
    ptx::Diagnostics& diagnostics;

    bytecode::Kernel kernel;

    // lower_body. Branch targets, including those in Kernel::branch_targets, are labels until
    // resolve_branches. Registers are indices into `registers` until assign_slots.
    std::vector<VirtualRegister> registers;
    std::vector<Note> notes;            // one per instruction
    std::vector<std::uint32_t> labels;  // the instruction that follows a label
    std::vector<std::uint32_t> entries; // labels of the functions that are not inlined
    bool has_calls = false;             // some calls are not inlined, so there is a stack
    std::unordered_set<std::uint32_t> lane_constants; // constants that differ between lanes

    std::vector<BasicBlock> blocks;     // find_blocks
    std::vector<LiveRange> live_ranges; // find_live_ranges: one per virtual register
};

/// Calls `visit` for each operand that an instruction reads (its guard too) or writes.
template <typename Visit>
void for_each_source(KernelBuild& build, bytecode::Instruction& instruction, Visit visit) {
    if (!instruction.guard.is_none()) {
        visit(instruction.guard);
    }
    for (std::uint32_t i = 0; i < instruction.src_count; ++i) {
        if (!instruction.src[i].is_none()) {
            visit(instruction.src[i]);
        }
    }
    const std::uint32_t first = instruction.extra + instruction.extra_dst_count;
    for (std::uint32_t i = 0; i < instruction.extra_src_count; ++i) {
        if (!build.kernel.operands[first + i].is_none()) {
            visit(build.kernel.operands[first + i]);
        }
    }
}

template <typename Visit>
void for_each_destination(KernelBuild& build, bytecode::Instruction& instruction, Visit visit) {
    for (std::uint32_t i = 0; i < instruction.dst_count; ++i) {
        if (!instruction.dst[i].is_none()) {
            visit(instruction.dst[i]);
        }
    }
    for (std::uint32_t i = 0; i < instruction.extra_dst_count; ++i) {
        if (!build.kernel.operands[instruction.extra + i].is_none()) {
            visit(build.kernel.operands[instruction.extra + i]);
        }
    }
}

[[nodiscard]] inline bool is_register(bytecode::Operand operand) {
    return operand.bank() == bytecode::Bank::Registers && !operand.is_none();
}

/// Refuses a kernel with a bank that is larger than operands can address. `values` says what the
/// bank holds.
void refuse_bank(KernelBuild& build, std::string_view values);

/// Drops the instructions marked as removed and adjusts the labels.
void compact(KernelBuild& build);

/// Returns the blocks that come directly before each block.
[[nodiscard]] Adjacency predecessors_of(const KernelBuild& build);

/// Returns the provider of a finished kernel's code. It refers to the kernel, which owns it.
[[nodiscard]] std::shared_ptr<bytecode::CodeSource> code_source_of(const bytecode::Kernel& kernel);

// The passes, in order. pipeline.cpp lists what holds after each.
void lower_body(KernelBuild& build);
void remove_unreachable(KernelBuild& build);
void find_blocks(KernelBuild& build);
void propagate_copies(KernelBuild& build);
void remove_dead_code(KernelBuild& build);
void find_last_reductions(KernelBuild& build);
void find_linear(KernelBuild& build);
void fuse_loads(KernelBuild& build);
void find_pairs(KernelBuild& build);
void find_wait_loops(KernelBuild& build);
void find_live_ranges(KernelBuild& build);
void assign_slots(KernelBuild& build);
void resolve_branches(KernelBuild& build);
void resolve_calls(KernelBuild& build);
void place_constants(KernelBuild& build);
void select_handlers(KernelBuild& build);

} // namespace cuprum::emulator::passes
