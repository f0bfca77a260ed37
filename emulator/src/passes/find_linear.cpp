// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Finds registers that need not be computed lane by lane: loop counters, indices and addresses.
//
// Such a register is linear. The head before its lanes (bytecode::LinearHead) describes its value
// as a base plus a step for each bit of the lane number. This covers values that are equal in all
// lanes, %tid in any block whose sides are powers of two, and sums and multiples of these. Adding
// linear values is one operation on the heads, and the steps of an address show how the lanes lie
// in memory.
//
// At run time, a linear register can lose its linear form: lanes diverge, two linear values are
// multiplied, or an index wraps. It then holds ordinary lanes until it is written as a whole again.
// So this pass only decides where linear handlers are worth trying. See docs/design/0006_linear.md.
//
// A register qualifies if every instruction that writes it has a linear handler and reads only
// constants, launch and block values, and other registers that qualify. Instructions without a
// linear handler read its lanes. For these, `spread` brings the lanes up to date, either after the
// writers or before the readers, whichever runs less often.

#include "bytecode/forms.hpp"
#include "decode/linear.hpp"
#include "passes/build.hpp"

#include <algorithm>
#include <array>

namespace cuprum::emulator::passes {

using bytecode::Instruction;
using bytecode::Operand;
using bytecode::Width;

namespace {

/// How much more often a loop body runs than the code around it (an estimate), and the nesting
/// depth beyond which this no longer grows.
constexpr std::uint64_t LOOP_WEIGHT = 8;
constexpr std::uint32_t MAX_DEPTH = 6;
/// How many instructions a linear address saves.
constexpr std::uint64_t ADDRESS_GAIN = 2;

class LinearFinder {
public:
    explicit LinearFinder(KernelBuild& build) : build_(build), code_(build.kernel.code) {}

    void run() {
        classify();
        do {
            reject_mixed();
        } while (reject_unprofitable());
        if (std::find(is_linear_.begin(), is_linear_.end(), true) != is_linear_.end()) {
            mark();
        }
    }

private:
    /// What linear form gains and costs for one register, in executed instructions.
    struct Balance {
        std::uint64_t gain = 0;
        std::uint64_t writes = 0;
        std::uint64_t plain_reads = 0;

        [[nodiscard]] std::uint64_t cost() const { return std::min(writes, plain_reads); }
    };

    void classify();
    void weigh_loops();
    void reject_mixed();
    [[nodiscard]] bool reject_unprofitable();
    void mark();
    [[nodiscard]] std::vector<Balance> balance();
    [[nodiscard]] std::vector<bool> leads_to_address() const;

    /// Returns whether a linear handler can read a source.
    [[nodiscard]] bool is_fitting(Operand operand) const {
        if (is_register(operand)) {
            return is_linear_[operand.offset()];
        }
        const auto& lanes = build_.lane_constants;
        return !operand.is_none() &&
               (operand.bank() != bytecode::Bank::Constants ||
                std::find(lanes.begin(), lanes.end(), operand.offset()) == lanes.end());
    }

    /// Returns whether an instruction will use its linear handler.
    [[nodiscard]] bool runs_linear(std::size_t at) const {
        const Instruction& instruction = code_[at];
        switch (kinds_[at]) {
        case LinearKind::Compute:
            return is_linear_[instruction.dst[0].offset()];
        case LinearKind::Compare:
            return is_fitting(instruction.src[0]) && is_fitting(instruction.src[1]) &&
                   (is_register(instruction.src[0]) || is_register(instruction.src[1]));
        case LinearKind::Address:
            return is_register(instruction.src[0]) && is_linear_[instruction.src[0].offset()];
        default:
            return false;
        }
    }

    /// Calls `visit(register)` for registers whose head a linear handler reads.
    template <typename Visit>
    void for_each_linear_source(std::size_t at, Visit visit) const {
        const Instruction& instruction = code_[at];
        const std::uint32_t count = kinds_[at] == LinearKind::Compute   ? instruction.src_count
                                    : kinds_[at] == LinearKind::Compare ? 2
                                                                        : 1;
        for (std::uint32_t i = 0; i < count; ++i) {
            if (is_register(instruction.src[i])) {
                visit(instruction.src[i].offset());
            }
        }
    }

    /// Calls `visit(register)` for linear registers whose lanes an instruction reads.
    template <typename Visit>
    void for_each_plain_source(std::size_t at, Visit visit) {
        const bool is_linear = runs_linear(at);
        const Operand* const base = code_[at].src;
        for_each_source(build_, code_[at], [&](Operand& operand) {
            if (!is_register(operand) || !is_linear_[operand.offset()]) {
                return;
            }
            const bool is_of_head =
                is_linear && (kinds_[at] != LinearKind::Address || &operand == base);
            if (!is_of_head) {
                visit(operand.offset());
            }
        });
    }

    KernelBuild& build_;
    std::vector<Instruction>& code_;
    std::vector<LinearKind> kinds_;      // one per instruction
    std::vector<std::uint64_t> weights_; // estimate of how often an instruction runs
    std::vector<bool> is_linear_;        // one per register
};

} // namespace

void find_linear(KernelBuild& build) {
    // Called functions have their own frames, which are not prepared for heads.
    if (!build.has_calls) {
        LinearFinder(build).run();
    }
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

/// Assumes that a register is linear if all its writers have a linear handler.
void LinearFinder::classify() {
    const std::size_t count = build_.registers.size();
    std::vector<bool> is_written(count, false);
    std::vector<bool> is_plain(count, false);
    kinds_.reserve(code_.size());
    for (Instruction& instruction : code_) {
        LinearKind kind = linear_kind(instruction);
        const bool is_simple = instruction.dst_count == 1 && is_register(instruction.dst[0]) &&
                               instruction.extra_dst_count + instruction.extra_src_count == 0;
        if (kind == LinearKind::Compute && !is_simple) {
            kind = LinearKind::None;
        }
        kinds_.push_back(kind);
        for_each_destination(build_, instruction, [&](Operand operand) {
            if (is_register(operand)) {
                is_written[operand.offset()] = true;
                is_plain[operand.offset()] =
                    is_plain[operand.offset()] || kind != LinearKind::Compute;
            }
        });
    }
    is_linear_.assign(count, false);
    for (std::size_t r = 0; r < count; ++r) {
        const Width width = build_.registers[r].width;
        is_linear_[r] =
            is_written[r] && !is_plain[r] && (width == Width::B32 || width == Width::B64);
    }
    for (const bytecode::SpecialSlot& slot : build_.kernel.warp_specials) {
        is_linear_[slot.offset] =
            slot.special >= bytecode::Special::TidX && slot.special <= bytecode::Special::WarpId;
    }
    weigh_loops();
}

/// Estimates how often each instruction runs, from the number of loops around it.
void LinearFinder::weigh_loops() {
    std::vector<std::int64_t> change(code_.size() + 1, 0);
    for (std::size_t i = 0; i < code_.size(); ++i) {
        if ((code_[i].flags & bytecode::IS_BRANCH) != 0) {
            const std::uint32_t target = build_.labels[code_[i].target];
            if (target <= i) {
                ++change[target];
                --change[i + 1];
            }
        }
    }
    std::array<std::uint64_t, MAX_DEPTH + 1> powers{};
    powers[0] = 1;
    for (std::size_t depth = 1; depth <= MAX_DEPTH; ++depth) {
        powers[depth] = powers[depth - 1] * LOOP_WEIGHT;
    }
    std::int64_t depth = 0;
    weights_.reserve(code_.size());
    for (std::size_t i = 0; i < code_.size(); ++i) {
        depth += change[i];
        weights_.push_back(
            powers[std::min<std::size_t>(static_cast<std::size_t>(depth), MAX_DEPTH)]);
    }
}

/// Rejects registers that are computed from something that is not linear.
void LinearFinder::reject_mixed() {
    for (bool is_changed = true; is_changed;) {
        is_changed = false;
        for (std::size_t i = 0; i < code_.size(); ++i) {
            const Instruction& instruction = code_[i];
            if (kinds_[i] != LinearKind::Compute || !is_linear_[instruction.dst[0].offset()]) {
                continue;
            }
            const bool fits = std::all_of(instruction.src, instruction.src + instruction.src_count,
                                          [&](Operand operand) { return is_fitting(operand); });
            if (!fits) {
                is_linear_[instruction.dst[0].offset()] = false;
                is_changed = true;
            }
        }
    }
}

std::vector<LinearFinder::Balance> LinearFinder::balance() {
    std::vector<Balance> result(build_.registers.size());
    for (std::size_t i = 0; i < code_.size(); ++i) {
        if (runs_linear(i)) {
            const bool is_address = kinds_[i] == LinearKind::Address;
            const std::uint64_t gain = weights_[i] * (is_address ? ADDRESS_GAIN : 1);
            for_each_linear_source(i, [&](std::uint32_t r) { result[r].gain += gain; });
        }
        for_each_plain_source(i, [&](std::uint32_t r) { result[r].plain_reads += weights_[i]; });
        for_each_destination(build_, code_[i], [&](Operand operand) {
            if (is_register(operand)) {
                result[operand.offset()].writes += weights_[i];
            }
        });
    }
    return result;
}

/// Returns the registers from which linear instructions compute the address of an access.
std::vector<bool> LinearFinder::leads_to_address() const {
    std::vector<bool> result(is_linear_.size(), false);
    for (bool is_changed = true; is_changed;) {
        is_changed = false;
        for (std::size_t i = code_.size(); i-- > 0;) {
            const bool leads =
                runs_linear(i) &&
                (kinds_[i] == LinearKind::Address ||
                 (kinds_[i] == LinearKind::Compute && result[code_[i].dst[0].offset()]));
            if (leads) {
                for_each_linear_source(i, [&](std::uint32_t r) {
                    is_changed = is_changed || !result[r];
                    result[r] = true;
                });
            }
        }
    }
    return result;
}

/// Rejects registers whose lanes are needed at least as often as their heads. Returns whether there
/// were any. Without a register, everything computed from it loses its linear form as well. So if
/// gain and cost are equal, registers that lead to an address stay.
bool LinearFinder::reject_unprofitable() {
    const std::vector<Balance> balances = balance();
    const std::vector<bool> has_address = leads_to_address();
    bool is_changed = false;
    for (std::size_t r = 0; r < is_linear_.size(); ++r) {
        const std::uint64_t gain = balances[r].gain + (has_address[r] ? 1 : 0);
        if (is_linear_[r] && gain <= balances[r].cost()) {
            is_linear_[r] = false;
            is_changed = true;
        }
    }
    return is_changed;
}

/// Marks the linear registers, chooses the linear variant of instructions, and adds `spread`
/// instructions.
void LinearFinder::mark() {
    const std::vector<Balance> balances = balance();
    const auto spreads_at_write = [&](std::uint32_t r) {
        return balances[r].writes <= balances[r].plain_reads;
    };
    std::vector<Instruction> code;
    std::vector<Note> notes;
    std::vector<std::uint32_t> moved(code_.size() + 1);
    code.reserve(code_.size() + code_.size() / 16);
    notes.reserve(code_.size() + code_.size() / 16);
    for (std::size_t i = 0; i < code_.size(); ++i) {
        moved[i] = static_cast<std::uint32_t>(code.size());
        const auto add_spread = [&](std::uint32_t r) {
            Instruction spread;
            spread.form = SpreadForm{build_.registers[r].width};
            spread.src_count = 1;
            spread.src[0] = Operand{bytecode::Bank::Registers, r};
            spread.line = code_[i].line;
            code.push_back(spread);
            notes.emplace_back();
        };
        for_each_plain_source(i, [&](std::uint32_t r) {
            // The lanes of per-warp values are always up to date.
            if (!build_.registers[r].is_warp_special && !spreads_at_write(r)) {
                add_spread(r);
            }
        });
        const bool is_linear = runs_linear(i);
        code.push_back(code_[i]);
        notes.push_back(build_.notes[i]);
        if (!is_linear) {
            continue;
        }
        code.back().form.variant = bytecode::Variant::Linear;
        if (kinds_[i] == LinearKind::Compute) {
            const std::uint32_t r = code_[i].dst[0].offset();
            if (balances[r].plain_reads != 0 && spreads_at_write(r)) {
                add_spread(r);
            }
        }
    }
    moved[code_.size()] = static_cast<std::uint32_t>(code.size());
    for (std::uint32_t& label : build_.labels) {
        label = label < moved.size() ? moved[label] : label;
    }
    for (std::size_t r = 0; r < is_linear_.size(); ++r) {
        build_.registers[r].is_linear = is_linear_[r];
    }
    code_ = std::move(code);
    build_.notes = std::move(notes);
}

} // namespace

} // namespace cuprum::emulator::passes
