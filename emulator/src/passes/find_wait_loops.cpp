// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Finds loops that only test mbarriers until one of them completes a phase:
//
//   WAIT: mbarrier.try_wait.shared.b64 %p1, [%r1], %rd1;
//         @!%p1 bra WAIT;
//
// The next round of such a loop depends only on the mbarriers. Its branch can therefore block until
// one of them changes (control::branch_to_wait). Blocked threads cost nothing. If all threads of a
// cluster are blocked, that is a deadlock, because no other thread can reach its mbarriers.
//
// A loop qualifies if all of this holds. It is one run of instructions that is entered only at its
// beginning and contains only branches that leave it. Its instructions only compute from registers
// or test mbarriers. No register carries a value from one round to the next. A loop that counts its
// rounds, reads a clock or reads other memory may end by itself and keeps its ordinary branch.

#include "bytecode/check_forms.hpp"
#include "interp/control.hpp"
#include "interp/mbarrier.hpp"
#include "passes/build.hpp"

#include <algorithm>
#include <array>

namespace cuprum::emulator::passes {

using bytecode::Instruction;
using bytecode::Operand;

namespace {

/// The longest loop that is considered; longer ones do more than wait.
constexpr std::uint32_t MAX_LOOP_LENGTH = 32;

/// Instructions with side effects that a wait loop may contain, besides checks.
constexpr std::array HARMLESS{FixedOp::MbarrierWait, FixedOp::Sleep};

/// Instructions whose results change by themselves.
constexpr std::array CLOCKS{FixedOp::ReadClock32, FixedOp::ReadClock64, FixedOp::ReadTimer32,
                            FixedOp::ReadTimer64};

template <std::size_t COUNT>
bool is_one_of(const std::array<FixedOp, COUNT>& ops, const Instruction& at) {
    return std::ranges::any_of(ops, [&](FixedOp op) { return at.form.is(op); });
}

/// Returns whether an instruction computes the same results in every round from equal registers.
bool is_repeatable(const KernelBuild& build, std::uint32_t at) {
    const Instruction& instruction = build.kernel.code[at];
    if (is_one_of(HARMLESS, instruction) || bytecode::is_check(instruction.form)) {
        return true;
    }
    return (instruction.flags & (bytecode::HAS_SIDE_EFFECT | bytecode::ENDS_BLOCK)) == 0 &&
           build.notes[at].is_arithmetic && !is_one_of(CLOCKS, instruction);
}

/// Returns whether a read register may hold a value of the previous round.
bool carries_values(KernelBuild& build, std::uint32_t begin, std::uint32_t end) {
    std::vector<std::uint32_t> all;
    for (std::uint32_t i = begin; i < end; ++i) {
        for_each_destination(build, build.kernel.code[i], [&](Operand operand) {
            if (is_register(operand)) {
                all.push_back(operand.offset());
            }
        });
    }
    std::vector<std::uint32_t> written; // in this round, by all lanes
    bool is_carried = false;
    const auto look_at = [&](Operand operand) {
        is_carried |= is_register(operand) && std::ranges::count(all, operand.offset()) != 0 &&
                      std::ranges::count(written, operand.offset()) == 0;
    };
    for (std::uint32_t i = begin; i < end; ++i) {
        Instruction& instruction = build.kernel.code[i];
        for_each_source(build, instruction, look_at);
        const bool is_guarded = !instruction.guard.is_none();
        for_each_destination(build, instruction, [&](Operand operand) {
            if (is_guarded) {
                look_at(operand); // some lanes keep the old value
            } else if (is_register(operand)) {
                written.push_back(operand.offset());
            }
        });
    }
    return is_carried;
}

/// Returns for each instruction whether something jumps to it.
std::vector<bool> find_targets(const KernelBuild& build) {
    std::vector<bool> is_target(build.kernel.code.size() + 1, false);
    const auto mark = [&](std::uint32_t label) {
        if (build.labels[label] < is_target.size()) {
            is_target[build.labels[label]] = true;
        }
    };
    for (const Instruction& instruction : build.kernel.code) {
        if ((instruction.flags & bytecode::IS_BRANCH) != 0) {
            mark(instruction.target);
        }
    }
    std::ranges::for_each(build.kernel.branch_targets, mark);
    std::ranges::for_each(build.entries, mark);
    return is_target;
}

/// Returns whether [begin, end] is a loop that only waits; `end` branches back to `begin`.
bool is_wait_loop(KernelBuild& build, const std::vector<bool>& is_target, std::uint32_t begin,
                  std::uint32_t end) {
    const auto& code = build.kernel.code;
    bool has_wait = false;
    for (std::uint32_t i = begin; i < end; ++i) {
        if (is_target[i + 1]) {
            return false;
        }
        if ((code[i].flags & bytecode::IS_BRANCH) != 0) {
            if (build.labels[code[i].target] == begin) {
                return false;
            }
            continue;
        }
        if (!is_repeatable(build, i)) {
            return false;
        }
        has_wait |= code[i].form.is(FixedOp::MbarrierWait) && code[i].guard.is_none();
    }
    return has_wait && !carries_values(build, begin, end + 1);
}

} // namespace

void find_wait_loops(KernelBuild& build) {
    const auto& code = build.kernel.code;
    const std::vector<bool> is_target = find_targets(build);
    for (std::uint32_t i = 0; i < code.size(); ++i) {
        if ((code[i].flags & bytecode::IS_BRANCH) == 0) {
            continue;
        }
        const std::uint32_t target = build.labels[code[i].target];
        build.notes[i].ends_wait_loop = target < i && i - target <= MAX_LOOP_LENGTH &&
                                        is_wait_loop(build, is_target, target, i);
    }
}

} // namespace cuprum::emulator::passes
