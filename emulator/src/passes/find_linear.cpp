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
//
// The pass starts with every register that could be linear and rejects registers until nothing
// changes. Rejecting one never makes another one worthwhile, so the order does not matter. Each
// instruction stops being linear once at most, which makes the time linear.

#include "bytecode/forms.hpp"
#include "decode/linear.hpp"
#include "passes/build.hpp"

#include <algorithm>
#include <array>
#include <optional>

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
        find_users();
        take_balance();
        reject_all();
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
    void find_users();
    void find_groups();
    void take_balance();
    void reject_all();
    void reject(std::uint32_t r);
    void reject_if_unprofitable(std::uint32_t r);
    void pass_on_rejection(std::uint32_t r);
    void forget_address(std::uint32_t group);
    void stop_linear(std::uint32_t at);
    void drop_support(std::uint32_t at);
    void mark();

    /// Returns whether a linear handler can read a source.
    [[nodiscard]] bool is_fitting(Operand operand) const {
        if (is_register(operand)) {
            return is_linear_[operand.offset()];
        }
        return !operand.is_none() && (operand.bank() != bytecode::Bank::Constants ||
                                      !build_.lane_constants.contains(operand.offset()));
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
        const bool is_linear = runs_[at];
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

    /// Returns what a linear handler of an instruction saves for each head that it reads.
    [[nodiscard]] std::uint64_t gain_of(std::size_t at) const {
        return weights_[at] * (kinds_[at] == LinearKind::Address ? ADDRESS_GAIN : 1);
    }

    /// Registers that are computed from each other, as in a loop. They are rejected together,
    /// because nothing linear is computed from a register that is not.
    struct Group {
        // How often linear instructions read members to access memory, or to compute a member of
        // another group that has an address.
        std::size_t support = 0;
        bool has_address = false; // linear instructions compute the address of an access from it
    };

    /// Calls `visit(group)` for each head from which an instruction computes an address, or a
    /// register of another group.
    template <typename Visit>
    void for_each_source_group(std::size_t at, Visit visit) {
        const bool is_compute = kinds_[at] == LinearKind::Compute;
        if (!is_compute && kinds_[at] != LinearKind::Address) {
            return;
        }
        for_each_linear_source(at, [&](std::uint32_t r) {
            if (!is_compute || group_of_[r] != group_of_[code_[at].dst[0].offset()]) {
                visit(groups_[group_of_[r]]);
            }
        });
    }

    KernelBuild& build_;
    std::vector<Instruction>& code_;
    std::vector<LinearKind> kinds_;      // one per instruction
    std::vector<std::uint64_t> weights_; // estimate of how often an instruction runs
    std::vector<bool> runs_;             // runs_linear(), as far as it is known
    std::vector<bool> is_linear_;        // one per register
    std::vector<Balance> balances_;
    std::vector<std::uint32_t> group_of_;
    std::vector<Group> groups_;
    std::optional<Adjacency> members_; // by group: registers
    std::optional<Adjacency> readers_; // by register: instructions
    std::optional<Adjacency> writers_;
    std::vector<std::uint32_t> rejected_;    // registers whose users do not know it yet
    std::vector<std::uint32_t> unsupported_; // groups that have lost their last address
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

/// Lists the instructions that read and write each register.
void LinearFinder::find_users() {
    std::vector<Adjacency::Edge> reads;
    std::vector<Adjacency::Edge> writes;
    for (std::uint32_t i = 0; i < code_.size(); ++i) {
        for_each_source(build_, code_[i], [&](Operand operand) {
            if (is_register(operand) && is_linear_[operand.offset()]) {
                reads.emplace_back(operand.offset(), i);
            }
        });
        for_each_destination(build_, code_[i], [&](Operand operand) {
            if (is_register(operand) && is_linear_[operand.offset()]) {
                writes.emplace_back(operand.offset(), i);
            }
        });
    }
    readers_.emplace(is_linear_.size(), reads);
    writers_.emplace(is_linear_.size(), writes);
    runs_.resize(code_.size());
    for (std::size_t i = 0; i < code_.size(); ++i) {
        runs_[i] = runs_linear(i);
    }
    find_groups();
}

/// Finds the groups and which of them lead to an address.
void LinearFinder::find_groups() {
    std::vector<Adjacency::Edge> edges;
    for (std::size_t i = 0; i < code_.size(); ++i) {
        if (runs_[i] && kinds_[i] == LinearKind::Compute) {
            for_each_linear_source(
                i, [&](std::uint32_t r) { edges.emplace_back(r, code_[i].dst[0].offset()); });
        }
    }
    group_of_ = components_of({is_linear_.size(), edges});
    edges.clear();
    for (std::uint32_t r = 0; r < group_of_.size(); ++r) {
        edges.emplace_back(group_of_[r], r);
    }
    groups_.resize(edges.empty() ? 0 : *std::ranges::max_element(group_of_) + 1);
    members_.emplace(groups_.size(), edges);
    const auto support = [](Group& group) { ++group.support; };
    for (std::size_t i = 0; i < code_.size(); ++i) {
        if (runs_[i] && kinds_[i] == LinearKind::Address) {
            for_each_source_group(i, support);
        }
    }
    // What is computed from a group has a lower number, so its support is known.
    for (std::uint32_t group = 0; group < groups_.size(); ++group) {
        groups_[group].has_address = groups_[group].support != 0;
        for (const std::uint32_t r : (*members_)[group]) {
            for (const std::uint32_t at : (*writers_)[r]) {
                if (groups_[group].has_address && runs_[at]) {
                    for_each_source_group(at, support);
                }
            }
        }
    }
}

/// Computes what linear form gains and costs for each register.
void LinearFinder::take_balance() {
    balances_.resize(is_linear_.size());
    for (std::size_t i = 0; i < code_.size(); ++i) {
        if (runs_[i]) {
            for_each_linear_source(i, [&](std::uint32_t r) { balances_[r].gain += gain_of(i); });
        }
        for_each_plain_source(i, [&](std::uint32_t r) { balances_[r].plain_reads += weights_[i]; });
        for_each_destination(build_, code_[i], [&](Operand operand) {
            if (is_register(operand)) {
                balances_[operand.offset()].writes += weights_[i];
            }
        });
    }
}

/// Rejects registers that are computed from something that is not linear, and those that are not
/// worthwhile, until there are no more.
void LinearFinder::reject_all() {
    for (std::size_t i = 0; i < code_.size(); ++i) {
        const Instruction& instruction = code_[i];
        if (runs_[i] && kinds_[i] == LinearKind::Compute &&
            !std::all_of(instruction.src, instruction.src + instruction.src_count,
                         [&](Operand operand) { return is_fitting(operand); })) {
            reject(instruction.dst[0].offset());
        }
    }
    for (std::uint32_t r = 0; r < is_linear_.size(); ++r) {
        reject_if_unprofitable(r);
    }
    while (!rejected_.empty() || !unsupported_.empty()) {
        auto& pending = rejected_.empty() ? unsupported_ : rejected_;
        const std::uint32_t next = pending.back();
        const bool is_group = rejected_.empty();
        pending.pop_back();
        if (is_group) {
            forget_address(next);
        } else {
            pass_on_rejection(next);
        }
    }
}

void LinearFinder::reject(std::uint32_t r) {
    if (is_linear_[r]) {
        is_linear_[r] = false;
        rejected_.push_back(r);
    }
}

/// Rejects a register whose lanes are needed at least as often as its head. Without it, everything
/// computed from it loses its linear form as well. So if gain and cost are equal, a register that
/// leads to an address stays.
void LinearFinder::reject_if_unprofitable(std::uint32_t r) {
    const std::uint64_t gain = balances_[r].gain + (groups_[group_of_[r]].has_address ? 1 : 0);
    if (gain <= balances_[r].cost()) {
        reject(r);
    }
}

/// Changes the instructions that write or read a rejected register.
void LinearFinder::pass_on_rejection(std::uint32_t r) {
    for (const std::uint32_t at : (*writers_)[r]) {
        stop_linear(at);
    }
    for (const std::uint32_t at : (*readers_)[r]) {
        if (runs_[at] && kinds_[at] == LinearKind::Compute) {
            reject(code_[at].dst[0].offset());
        } else if (!runs_linear(at)) {
            stop_linear(at);
        }
    }
}

/// Takes the mark from a group that no longer leads to an address, and its support from others.
void LinearFinder::forget_address(std::uint32_t group) {
    for (const std::uint32_t r : (*members_)[group]) {
        for (const std::uint32_t at : (*writers_)[r]) {
            if (runs_[at]) {
                drop_support(at);
            }
        }
    }
    groups_[group].has_address = false;
    for (const std::uint32_t r : (*members_)[group]) {
        reject_if_unprofitable(r);
    }
}

/// Notes that an instruction will not use its linear handler, which its sources lose by.
void LinearFinder::stop_linear(std::uint32_t at) {
    if (!runs_[at]) {
        return;
    }
    drop_support(at);
    runs_[at] = false;
    for_each_linear_source(at, [&](std::uint32_t r) { balances_[r].gain -= gain_of(at); });
    for_each_source(build_, code_[at], [&](Operand& operand) {
        const bool was_of_head = kinds_[at] != LinearKind::Address || &operand == code_[at].src;
        if (was_of_head && is_register(operand) && is_linear_[operand.offset()]) {
            balances_[operand.offset()].plain_reads += weights_[at];
            reject_if_unprofitable(operand.offset());
        }
    });
}

/// Takes the support that an instruction gives to the groups of its sources.
void LinearFinder::drop_support(std::uint32_t at) {
    if (kinds_[at] == LinearKind::Compute &&
        !groups_[group_of_[code_[at].dst[0].offset()]].has_address) {
        return; // it gives none
    }
    for_each_source_group(at, [&](Group& group) {
        if (--group.support == 0) {
            unsupported_.push_back(static_cast<std::uint32_t>(&group - groups_.data()));
        }
    });
}

/// Marks the linear registers, chooses the linear variant of instructions, and adds `spread`
/// instructions.
void LinearFinder::mark() {
    const auto spreads_at_write = [&](std::uint32_t r) {
        return balances_[r].writes <= balances_[r].plain_reads;
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
        const bool is_linear = runs_[i];
        code.push_back(code_[i]);
        notes.push_back(build_.notes[i]);
        if (!is_linear) {
            continue;
        }
        code.back().form.variant = bytecode::Variant::Linear;
        if (kinds_[i] == LinearKind::Compute) {
            const std::uint32_t r = code_[i].dst[0].offset();
            if (balances_[r].plain_reads != 0 && spreads_at_write(r)) {
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
