// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "passes/uses.hpp"

namespace cuprum::emulator::passes {

using bytecode::Operand;

Uses::Uses(KernelBuild& build)
    : reads_(build.registers.size(), 0), writes_(build.registers.size(), 0),
      is_target_(build.kernel.code.size() + 1, false) {
    const auto counter = [](std::vector<std::uint32_t>& counts) {
        return [&counts](Operand operand) {
            if (is_register(operand)) {
                ++counts[operand.offset()];
            }
        };
    };
    for (bytecode::Instruction& instruction : build.kernel.code) {
        for_each_source(build, instruction, counter(reads_));
        for_each_destination(build, instruction, counter(writes_));
    }
    for (const std::uint32_t label : build.labels) {
        if (label < build.kernel.code.size()) {
            is_target_[label] = true;
        }
    }
}

bool Uses::is_used_once(Operand operand) const {
    return is_register(operand) && reads_[operand.offset()] == 1 && writes_[operand.offset()] == 1;
}

} // namespace cuprum::emulator::passes
