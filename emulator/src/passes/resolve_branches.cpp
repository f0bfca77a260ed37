// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Turns labels into instruction indices, now that instructions no longer move.

#include "interp/control.hpp"
#include "passes/build.hpp"

namespace cuprum::emulator::passes {

void resolve_branches(KernelBuild& build) {
    bytecode::Kernel& kernel = build.kernel;
    auto& code = kernel.code;
    // For each position: how many earlier instructions read what another thread may be about to
    // write.
    std::vector<std::uint32_t> waits(code.size() + 1, 0);
    for (std::size_t i = 0; i < code.size(); ++i) {
        waits[i + 1] = waits[i] + (build.notes[i].waits_for_others ? 1 : 0);
    }
    for (std::uint32_t i = 0; i < code.size(); ++i) {
        if ((code[i].flags & bytecode::IS_BRANCH) == 0) {
            continue;
        }
        const std::uint32_t target = build.labels[code[i].target];
        const bool may_spin = target <= i && waits[i + 1] != waits[target];
        control::finish_branch(code[i], i, target,
                               may_spin ? control::SPIN_COST : control::LOOP_COST);
        if (build.notes[i].ends_wait_loop) {
            code[i].form = FixedOp::BranchToWait;
        }
    }
    for (std::uint32_t& target : kernel.branch_targets) {
        target = build.labels[target];
    }
}

} // namespace cuprum::emulator::passes
