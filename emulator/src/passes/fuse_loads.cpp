// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Lets one handler run two loads and the following multiply-add if nothing else reads the loaded
// values. The code stays as it is (bytecode/fused_forms.hpp); only the handler of the first load
// changes.

#include "decode/fused.hpp"
#include "passes/build.hpp"

namespace cuprum::emulator::passes {

using bytecode::Instruction;
using bytecode::Operand;

void fuse_loads(KernelBuild& build) {
    auto& code = build.kernel.code;
    std::vector<std::uint32_t> reads(build.registers.size(), 0);
    std::vector<std::uint32_t> writes(build.registers.size(), 0);
    for (Instruction& instruction : code) {
        for_each_source(build, instruction, [&](Operand operand) {
            if (is_register(operand)) {
                ++reads[operand.offset()];
            }
        });
        for_each_destination(build, instruction, [&](Operand operand) {
            if (is_register(operand)) {
                ++writes[operand.offset()];
            }
        });
    }
    // Code that jumps to the instruction after a load expects the result in the register.
    std::vector<bool> is_target(code.size(), false);
    for (const std::uint32_t label : build.labels) {
        if (label < code.size()) {
            is_target[label] = true;
        }
    }
    const auto is_for_next_alone = [&](const Instruction& load) {
        return load.plain != nullptr && load.guard.is_none() && load.dst_count == 1 &&
               is_register(load.dst[0]) && reads[load.dst[0].offset()] == 1 &&
               writes[load.dst[0].offset()] == 1;
    };
    for (std::size_t i = 0; i + 2 < code.size(); ++i) {
        if (is_for_next_alone(code[i]) && is_for_next_alone(code[i + 1]) && !is_target[i + 1] &&
            !is_target[i + 2] && code[i + 2].guard.is_none() && code[i + 2].src_count == 3) {
            fuse_load_load_fma(code[i], code[i + 1], code[i + 2]);
        }
    }
}

} // namespace cuprum::emulator::passes
