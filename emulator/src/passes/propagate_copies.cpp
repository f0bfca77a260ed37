// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Lets readers of a copy read the original instead.
//
// Two ways. A register that is written once, by a copy of something that never changes (a constant,
// a parameter, %tid), stands for it everywhere: where control has not passed the copy its value
// would be undefined anyway. Inside a block any copy can be looked through until either side is
// written again.

#include "passes/build.hpp"

namespace cuprum::emulator::passes {

using bytecode::Instruction;
using bytecode::Operand;

namespace {

std::vector<Operand> find_unchanging(KernelBuild& build);

/// The copies that hold at one point of a block.
class LocalCopies {
public:
    explicit LocalCopies(std::size_t register_count)
        : original_(register_count), reader_count_(register_count, 0) {}

    /// Forgets everything: a new block begins.
    void clear();
    /// Returns what to read instead of `operand`.
    [[nodiscard]] Operand resolve(Operand operand) const;
    void add(Operand copy, Operand original);
    /// Forgets what a write to `operand` makes wrong.
    void kill(Operand operand);

private:
    void forget(std::uint32_t copy);

    std::vector<Operand> original_;           // none: not a copy
    std::vector<std::uint32_t> reader_count_; // copies of this register that hold
    std::vector<std::uint32_t> copies_;       // registers with an original, perhaps stale
};

} // namespace

void propagate_copies(KernelBuild& build) {
    const std::vector<Operand> unchanging = find_unchanging(build);
    LocalCopies copies(build.registers.size());
    for (const BasicBlock& block : build.blocks) {
        copies.clear();
        for (std::uint32_t i = block.begin; i < block.end; ++i) {
            Instruction& instruction = build.kernel.code[i];
            for_each_source(build, instruction, [&](Operand& operand) {
                if (!is_register(operand)) {
                    return;
                }
                const Operand always = unchanging[operand.offset()];
                operand = always.is_none() ? copies.resolve(operand) : always;
            });
            for_each_destination(build, instruction,
                                 [&](Operand operand) { copies.kill(operand); });
            if (build.notes[i].is_copy && instruction.guard.is_none() &&
                is_register(instruction.dst[0]) && instruction.dst[0] != instruction.src[0]) {
                copies.add(instruction.dst[0], instruction.src[0]);
            }
        }
    }
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

/// Returns for each register what it stands for everywhere, or none.
std::vector<Operand> find_unchanging(KernelBuild& build) {
    auto& code = build.kernel.code;
    const std::size_t count = build.registers.size();
    std::vector<std::uint32_t> write_count(count, 0);
    std::vector<std::uint32_t> copy_at(count, ~0u); // the copy that writes a register
    for (std::uint32_t i = 0; i < code.size(); ++i) {
        for_each_destination(build, code[i], [&](Operand operand) {
            if (is_register(operand)) {
                ++write_count[operand.offset()];
                copy_at[operand.offset()] = build.notes[i].is_copy ? i : ~0u;
            }
        });
    }
    std::vector<Operand> result(count);
    // Chains of copies mostly run downwards in the code; two sweeps in register order would miss
    // some, so follow each chain to its end.
    for (std::uint32_t start = 0; start < count; ++start) {
        std::uint32_t at = start;
        for (std::size_t steps = 0; steps < count; ++steps) {
            if (write_count[at] != 1 || copy_at[at] == ~0u) {
                break;
            }
            const Operand from = code[copy_at[at]].src[0];
            if (!is_register(from) || build.registers[from.offset()].is_warp_special) {
                result[start] = from;
                break;
            }
            if (!result[from.offset()].is_none()) {
                result[start] = result[from.offset()];
                break;
            }
            at = from.offset();
        }
    }
    return result;
}

void LocalCopies::clear() {
    for (const std::uint32_t copy : copies_) {
        forget(copy);
    }
    copies_.clear();
}

Operand LocalCopies::resolve(Operand operand) const {
    const Operand original = original_[operand.offset()];
    return original.is_none() ? operand : original;
}

void LocalCopies::add(Operand copy, Operand original) {
    original_[copy.offset()] = original;
    copies_.push_back(copy.offset());
    if (is_register(original)) {
        ++reader_count_[original.offset()];
    }
}

void LocalCopies::kill(Operand operand) {
    if (!is_register(operand)) {
        return;
    }
    forget(operand.offset());
    if (reader_count_[operand.offset()] == 0) {
        return;
    }
    for (const std::uint32_t copy : copies_) {
        if (original_[copy] == operand) {
            forget(copy);
        }
    }
}

void LocalCopies::forget(std::uint32_t copy) {
    Operand& original = original_[copy];
    if (!original.is_none() && is_register(original)) {
        --reader_count_[original.offset()];
    }
    original = Operand{};
}

} // namespace

} // namespace cuprum::emulator::passes
