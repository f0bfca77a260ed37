// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Finds instructions whose result only the next instruction reads, if one handler can run both. The
// result then need not go through a register.
//
//   - Two f32 instructions: the handlers of a warp and of a block run both.
//   - A comparison and a branch, a multiply-add and a store: only handlers in lockstep run both. A
//     block of saxpy decides once whether it branches, and stores its sums directly to memory.

#include "decode/fused.hpp"
#include "passes/uses.hpp"

namespace cuprum::emulator::passes {

using bytecode::Instruction;
using bytecode::Variant;

void find_pairs(KernelBuild& build) {
    std::vector<Instruction>& code = build.kernel.code;
    const Uses uses(build);
    for (std::size_t i = 0; i + 1 < code.size(); ++i) {
        Instruction& first = code[i];
        Instruction& second = code[i + 1];
        if (!first.guard.is_none() || first.dst_count != 1 || !uses.is_used_once(first.dst[0]) ||
            uses.is_target(i + 1) || build.notes[i + 1].ends_wait_loop) {
            continue;
        }
        if (runs_next(first, second)) {
            first.flags |= bytecode::RUNS_NEXT;
            continue;
        }
        bool is_read = false;
        for_each_source(build, second,
                        [&](bytecode::Operand operand) { is_read |= operand == first.dst[0]; });
        if (is_read) {
            fuse_floats(first, second);
        }
        if (first.form.variant == Variant::FusedPair) {
            ++i; // the second instruction cannot be the first of another pair
        }
    }
}

} // namespace cuprum::emulator::passes
