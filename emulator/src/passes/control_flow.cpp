// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The graph of basic blocks: building it, and removing unreachable code.

#include "interp/control.hpp"
#include "passes/build.hpp"

#include <algorithm>

namespace cuprum::emulator::passes {

using bytecode::Instruction;

namespace {

bool falls_through(const Instruction& instruction) {
    return (instruction.flags & bytecode::NO_FALL_THROUGH) == 0 || !instruction.guard.is_none();
}

/// Calls `visit` with the label of every place that an instruction may jump to.
template <typename Visit>
void for_each_target(const KernelBuild& build, const Instruction& instruction, Visit visit) {
    if ((instruction.flags & bytecode::IS_BRANCH) != 0) {
        visit(instruction.target);
    } else if (instruction.form.is(FixedOp::BranchIndexed)) {
        for (std::uint32_t i = 0; i < instruction.tag; ++i) {
            visit(build.kernel.branch_targets[instruction.extra + i]);
        }
    }
}

void remove_jumps_to_next(KernelBuild& build);

} // namespace

void compact(KernelBuild& build) {
    auto& code = build.kernel.code;
    std::vector<std::uint32_t> moved(code.size() + 1);
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < code.size(); ++i) {
        moved[i] = kept;
        if (!build.notes[i].is_removed) {
            code[kept] = code[i];
            build.notes[kept] = build.notes[i];
            ++kept;
        }
    }
    moved[code.size()] = kept;
    code.resize(kept);
    build.notes.resize(kept);
    for (std::uint32_t& label : build.labels) {
        label = label < moved.size() ? moved[label] : label;
    }
}

void find_blocks(KernelBuild& build) {
    const auto& code = build.kernel.code;
    const auto size = static_cast<std::uint32_t>(code.size());
    std::vector<bool> is_leader(size + 1, false);
    is_leader[0] = true;
    for (const std::uint32_t entry : build.entries) {
        is_leader[build.labels[entry]] = true;
    }
    for (std::uint32_t i = 0; i < size; ++i) {
        for_each_target(build, code[i],
                        [&](std::uint32_t label) { is_leader[build.labels[label]] = true; });
        if ((code[i].flags & bytecode::ENDS_BLOCK) != 0) {
            is_leader[i + 1] = true;
        }
    }
    std::vector<std::uint32_t> block_of(size + 1, 0);
    build.blocks.clear();
    for (std::uint32_t i = 0; i < size; ++i) {
        if (is_leader[i]) {
            if (!build.blocks.empty()) {
                build.blocks.back().end = i;
            }
            build.blocks.push_back({.begin = i, .end = size, .successors = {}});
        }
        block_of[i] = static_cast<std::uint32_t>(build.blocks.size() - 1);
    }
    for (BasicBlock& block : build.blocks) {
        const Instruction& last = code[block.end - 1];
        for_each_target(build, last, [&](std::uint32_t label) {
            block.successors.push_back(block_of[build.labels[label]]);
        });
        if (falls_through(last) && block.end < size) {
            block.successors.push_back(block_of[block.end]);
        }
        std::sort(block.successors.begin(), block.successors.end());
        block.successors.erase(std::unique(block.successors.begin(), block.successors.end()),
                               block.successors.end());
    }
}

void remove_unreachable(KernelBuild& build) {
    find_blocks(build);
    std::vector<bool> is_reached(build.blocks.size(), false);
    std::vector<bool> is_entry(build.kernel.code.size(), false); // of a function
    for (const std::uint32_t entry : build.entries) {
        is_entry[build.labels[entry]] = true;
    }
    std::vector<std::uint32_t> pending{0};
    for (std::uint32_t b = 0; b < build.blocks.size(); ++b) {
        if (is_entry[build.blocks[b].begin]) {
            pending.push_back(b);
            is_reached[b] = true;
        }
    }
    is_reached[0] = true;
    while (!pending.empty()) {
        const BasicBlock& block = build.blocks[pending.back()];
        pending.pop_back();
        for (const std::uint32_t next : block.successors) {
            if (!is_reached[next]) {
                is_reached[next] = true;
                pending.push_back(next);
            }
        }
    }
    for (std::size_t b = 0; b < build.blocks.size(); ++b) {
        if (!is_reached[b]) {
            for (std::uint32_t i = build.blocks[b].begin; i < build.blocks[b].end; ++i) {
                build.notes[i].is_removed = true;
            }
        }
    }
    compact(build);
    remove_jumps_to_next(build);
}

Adjacency predecessors_of(const KernelBuild& build) {
    std::vector<Adjacency::Edge> edges;
    for (std::uint32_t b = 0; b < build.blocks.size(); ++b) {
        for (const std::uint32_t next : build.blocks[b].successors) {
            edges.emplace_back(next, b);
        }
    }
    return {build.blocks.size(), edges};
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

/// Removes branches to the next instruction, which NVRTC emits at the end of many blocks. Without
/// them, a branch around them jumps to the next instruction too, so the last one comes first.
void remove_jumps_to_next(KernelBuild& build) {
    const auto& code = build.kernel.code;
    std::vector<std::uint32_t> kept(code.size() + 1); // the first one from here on that stays
    kept[code.size()] = static_cast<std::uint32_t>(code.size());
    for (auto i = static_cast<std::uint32_t>(code.size()); i-- > 0;) {
        const bool is_branch = (code[i].flags & bytecode::IS_BRANCH) != 0;
        const std::uint32_t target = is_branch ? build.labels[code[i].target] : 0;
        build.notes[i].is_removed = target > i && kept[target] == kept[i + 1];
        kept[i] = build.notes[i].is_removed ? kept[i + 1] : i;
    }
    compact(build);
}

} // namespace

} // namespace cuprum::emulator::passes
