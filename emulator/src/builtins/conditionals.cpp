// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "builtins/conditionals.hpp"

#include "builtins/builtins.hpp"
#include "builtins/memory.hpp"

#include <bit>
#include <string>

namespace cuprum::emulator::builtins {

Conditionals& Conditionals::instance() {
    static auto* const all = new Conditionals;
    return *all;
}

std::uint64_t Conditionals::add(std::atomic<std::uint32_t>& variable) {
    const std::lock_guard lock(mutex_);
    variables_.emplace(next_, &variable);
    return next_++;
}

void Conditionals::remove(std::uint64_t handle) noexcept {
    const std::lock_guard lock(mutex_);
    variables_.erase(handle);
}

bool Conditionals::set(std::uint64_t handle, std::uint32_t value) noexcept {
    const std::lock_guard lock(mutex_);
    const auto found = variables_.find(handle);
    if (found == variables_.end()) {
        return false;
    }
    found->second->store(value, std::memory_order_release);
    return true;
}

const bytecode::Instruction* set_conditional(WarpContext& warp, const bytecode::Instruction* at,
                                             std::uint32_t mask) {
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
        const std::uint64_t handle = long_of(warp, at->src[0], lane);
        if (!Conditionals::instance().set(handle, word_of(warp, at->src[1], lane))) {
            return raise_fault(warp, at, FaultKind::Trap, lane,
                               "cudaGraphSetConditional: " + std::to_string(handle) +
                                   " is not the handle of a condition, or its graph is gone");
        }
    }
    return at + 1;
}

} // namespace cuprum::emulator::builtins
