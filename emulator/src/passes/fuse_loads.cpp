// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Lets one handler run two loads and the following multiply-add if nothing else reads the loaded
// values. The code stays as it is (bytecode/fused_forms.hpp); only the variant of the first load
// changes, and a load may move behind the additions that compute the address of the next one.
// Sequences that add to one sum, as in an unrolled dot product, form a chain.

#include "decode/fused.hpp"
#include "passes/uses.hpp"

#include <algorithm>

namespace cuprum::emulator::passes {

using bytecode::Instruction;
using bytecode::Operand;
using bytecode::Variant;

namespace {

/// How many instructions a fused sequence has: two loads and a multiply-add.
constexpr std::size_t SEQUENCE = 3;

class LoadFuser {
public:
    explicit LoadFuser(KernelBuild& build)
        : build_(build), code_(build.kernel.code), uses_(build) {}

    void run() {
        for (std::size_t i = 0; i < code_.size(); ++i) {
            delay(i);
        }
        for (std::size_t i = 0; i + 2 < code_.size(); ++i) {
            if (is_for_next_alone(code_[i]) && is_for_next_alone(code_[i + 1]) &&
                !uses_.is_target(i + 1) && !uses_.is_target(i + 2) &&
                code_[i + 2].guard.is_none() && code_[i + 2].src_count == 3) {
                fuse_load_load_fma(code_[i], code_[i + 1], code_[i + 2]);
            }
        }
        for (std::size_t i = 0; i < code_.size(); ++i) {
            link(i);
        }
        for (std::size_t i = 0; i < code_.size(); ++i) {
            finish(i);
        }
    }

private:
    void delay(std::size_t load);
    void link(std::size_t first);
    void finish(std::size_t first);

    [[nodiscard]] bool is_for_next_alone(const Instruction& load) const {
        return load.form.variant == Variant::Linear && load.guard.is_none() &&
               load.dst_count == 1 && uses_.is_used_once(load.dst[0]);
    }

    KernelBuild& build_;
    std::vector<Instruction>& code_;
    // Code that jumps to the instruction after a load expects the result in the register.
    const Uses uses_;
};

/// Moves a load behind the additions that compute the address of the next load, so that the two
/// loads can be fused.
void LoadFuser::delay(std::size_t load) {
    if (!is_word_load(code_[load]) || !is_for_next_alone(code_[load])) {
        return;
    }
    std::size_t next = load + 1;
    while (next < code_.size() && !uses_.is_target(next) && is_linear_add(code_[next], 64) &&
           code_[next].guard.is_none() && code_[next].dst[0] != code_[load].src[0]) {
        ++next;
    }
    if (next == load + 1 || next >= code_.size() || uses_.is_target(next) ||
        !is_word_load(code_[next])) {
        return;
    }
    const auto rotate = [&](auto& list) {
        const auto first = list.begin() + static_cast<std::ptrdiff_t>(load);
        std::rotate(first, first + 1, list.begin() + static_cast<std::ptrdiff_t>(next));
    };
    rotate(code_);
    rotate(build_.notes);
}

/// Makes a fused sequence part of a chain if the next one adds to its sum.
void LoadFuser::link(std::size_t first) {
    if (code_[first].form.variant != Variant::FusedProduct) {
        return;
    }
    std::size_t next = first + SEQUENCE;
    while (next < code_.size() && !uses_.is_target(next) && is_linear_add(code_[next], 64) &&
           code_[next].guard.is_none()) {
        ++next;
    }
    if (next + 2 >= code_.size() || uses_.is_target(next) ||
        code_[next].form.variant != Variant::FusedProduct ||
        !have_equal_spaces(code_[first], code_[next]) ||
        !have_equal_spaces(code_[first + 1], code_[next + 1])) {
        return;
    }
    const Operand sum = code_[first + 2].dst[0];
    const Instruction& user = code_[next + 2];
    if (!is_register(sum) || user.src[2] != sum ||
        !(uses_.is_used_once(sum) || user.dst[0] == sum)) {
        return;
    }
    code_[first].form.variant = Variant::FusedChain;
    for (std::size_t i = first + SEQUENCE; i < next; ++i) {
        code_[i].form.variant = Variant::LinkedAdd;
    }
}

/// Adds the linear additions behind a chain to it: those of the counters and addresses of a loop.
void LoadFuser::finish(std::size_t first) {
    if (code_[first].form.variant != Variant::FusedChain) {
        return;
    }
    std::size_t next = first + SEQUENCE;
    while (code_[next].form.variant == Variant::LinkedAdd) {
        ++next;
    }
    if (code_[next].form.variant != Variant::FusedProduct) {
        return; // not the last but one
    }
    for (next += SEQUENCE; next < code_.size() && !uses_.is_target(next); ++next) {
        Instruction& add = code_[next];
        if (!add.guard.is_none() || !(is_linear_add(add, 64) || is_linear_add(add, 32))) {
            return;
        }
        add.form.variant = is_linear_add(add, 64) ? Variant::LinkedAdd : Variant::LinkedAdd32;
    }
}

} // namespace

void fuse_loads(KernelBuild& build) {
    LoadFuser(build).run();
}

} // namespace cuprum::emulator::passes
