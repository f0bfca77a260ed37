// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Makes readers of a copy read the original instead.
//
// There are two cases. A register that is written only once, by a copy of something that never
// changes (a constant, a parameter, %tid), is replaced everywhere. Before the copy its value is
// undefined anyway. Inside a block, readers use the original of any copy until either side is
// written again.
//
// Both cases take linear time, because kernels with tens of thousands of copies exist.

#include "passes/build.hpp"

namespace cuprum::emulator::passes {

using bytecode::Instruction;
using bytecode::Operand;

namespace {

std::vector<Operand> find_unchanging(KernelBuild& build);

/// The copies that are valid at one point of a block.
class LocalCopies {
public:
    explicit LocalCopies(std::size_t register_count)
        : original_(register_count), first_copy_(register_count, NONE), next_(register_count, NONE),
          previous_(register_count, NONE) {}

    /// Forgets everything. Call it when a new block begins.
    void clear();
    /// Returns the operand to read instead of `operand`.
    [[nodiscard]] Operand resolve(Operand operand) const;
    void add(Operand copy, Operand original);
    /// Forgets the copies that a write to `operand` invalidates.
    void kill(Operand operand);

private:
    static constexpr std::uint32_t NONE = ~0u;

    void forget(std::uint32_t copy);

    std::vector<Operand> original_; // none: the register is not a copy
    // The copies of each register form a linked list: the head by original, the links by copy.
    std::vector<std::uint32_t> first_copy_;
    std::vector<std::uint32_t> next_;
    std::vector<std::uint32_t> previous_;
    std::vector<std::uint32_t> added_; // registers that became copies since clear()
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

/// Returns for each register the unchanging operand that replaces it, or none.
std::vector<Operand> find_unchanging(KernelBuild& build) {
    auto& code = build.kernel.code;
    const std::size_t count = build.registers.size();
    std::vector<std::uint32_t> write_count(count, 0);
    std::vector<std::uint32_t> copy_at(count, ~0u); // the copy that writes each register
    for (std::uint32_t i = 0; i < code.size(); ++i) {
        for_each_destination(build, code[i], [&](Operand operand) {
            if (is_register(operand)) {
                ++write_count[operand.offset()];
                copy_at[operand.offset()] = build.notes[i].is_copy ? i : ~0u;
            }
        });
    }
    std::vector<Operand> result(count);
    std::vector<bool> is_known(count, false);
    std::vector<std::uint32_t> chain; // registers that have the same replacement
    for (std::uint32_t start = 0; start < count; ++start) {
        Operand origin;
        chain.clear();
        // This also ends for a cyclic chain: its registers are known from the second visit on.
        for (std::uint32_t at = start; !is_known[at];) {
            is_known[at] = true;
            chain.push_back(at);
            if (write_count[at] != 1 || copy_at[at] == ~0u) {
                break;
            }
            const Operand from = code[copy_at[at]].src[0];
            if (!is_register(from) || build.registers[from.offset()].is_warp_special) {
                origin = from;
                break;
            }
            at = from.offset();
            origin = result[at];
        }
        for (const std::uint32_t each : chain) {
            result[each] = origin;
        }
    }
    return result;
}

void LocalCopies::clear() {
    for (const std::uint32_t copy : added_) {
        forget(copy);
    }
    added_.clear();
}

Operand LocalCopies::resolve(Operand operand) const {
    const Operand original = original_[operand.offset()];
    return original.is_none() ? operand : original;
}

void LocalCopies::add(Operand copy, Operand original) {
    const std::uint32_t index = copy.offset();
    original_[index] = original;
    added_.push_back(index);
    if (is_register(original)) {
        std::uint32_t& first = first_copy_[original.offset()];
        previous_[index] = NONE;
        next_[index] = first;
        if (first != NONE) {
            previous_[first] = index;
        }
        first = index;
    }
}

void LocalCopies::kill(Operand operand) {
    if (!is_register(operand)) {
        return;
    }
    forget(operand.offset());
    while (first_copy_[operand.offset()] != NONE) {
        forget(first_copy_[operand.offset()]);
    }
}

void LocalCopies::forget(std::uint32_t copy) {
    Operand& original = original_[copy];
    if (!original.is_none() && is_register(original)) {
        if (next_[copy] != NONE) {
            previous_[next_[copy]] = previous_[copy];
        }
        if (previous_[copy] != NONE) {
            next_[previous_[copy]] = next_[copy];
        } else {
            first_copy_[original.offset()] = next_[copy];
        }
    }
    original = Operand{};
}

} // namespace

} // namespace cuprum::emulator::passes
