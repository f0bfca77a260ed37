// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Removes instructions whose results are not used, and results of texture fetches: compilers always
// take four channels of a texel, and often use one.

#include "passes/build.hpp"

namespace cuprum::emulator::passes {

using bytecode::Instruction;
using bytecode::Operand;

void remove_dead_code(KernelBuild& build) {
    auto& code = build.kernel.code;
    const std::size_t count = build.registers.size();
    std::vector<std::uint32_t> read_count(count, 0);
    std::vector<std::vector<std::uint32_t>> writers(count);
    for (std::uint32_t i = 0; i < code.size(); ++i) {
        for_each_source(build, code[i], [&](Operand operand) {
            if (is_register(operand)) {
                ++read_count[operand.offset()];
            }
        });
        for_each_destination(build, code[i], [&](Operand operand) {
            if (is_register(operand)) {
                writers[operand.offset()].push_back(i);
            }
        });
    }
    const auto is_dead = [&](Instruction& instruction) {
        if ((instruction.flags & (bytecode::HAS_SIDE_EFFECT | bytecode::ENDS_BLOCK)) != 0 ||
            instruction.dst_count + instruction.extra_dst_count == 0) {
            return false;
        }
        bool is_read = false;
        for_each_destination(build, instruction, [&](Operand operand) {
            is_read = is_read || !is_register(operand) || read_count[operand.offset()] != 0;
        });
        return !is_read;
    };
    std::vector<std::uint32_t> pending(code.size());
    for (std::uint32_t i = 0; i < code.size(); ++i) {
        pending[i] = i;
    }
    while (!pending.empty()) {
        const std::uint32_t at = pending.back();
        pending.pop_back();
        if (build.notes[at].is_removed || !is_dead(code[at])) {
            continue;
        }
        build.notes[at].is_removed = true;
        for_each_source(build, code[at], [&](Operand operand) {
            if (is_register(operand) && --read_count[operand.offset()] == 0) {
                const auto& all = writers[operand.offset()];
                pending.insert(pending.end(), all.begin(), all.end());
            }
        });
    }
    for (Instruction& instruction : code) {
        if (instruction.form.family() == bytecode::Family::Sample) {
            for (std::uint32_t i = 0; i < instruction.dst_count; ++i) {
                Operand& operand = instruction.dst[i];
                if (is_register(operand) && read_count[operand.offset()] == 0) {
                    operand = Operand{};
                }
            }
        }
    }
    compact(build);
}

} // namespace cuprum::emulator::passes
