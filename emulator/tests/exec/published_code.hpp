// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Code that tests publish in place of a kernel's own (bytecode/code_source.hpp).

#pragma once

#include "bytecode/kernel.hpp"
#include "interp/lockstep.hpp"
#include "passes/build.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace cuprum::emulator::test {

/// Returns a copy of a kernel whose warps always run alone.
[[nodiscard]] inline std::shared_ptr<bytecode::Kernel>
without_lockstep(const bytecode::Kernel& kernel) {
    auto copy = std::make_shared<bytecode::Kernel>(kernel);
    copy->lockstep.clear();
    copy->code_source = passes::code_source_of(*copy);
    return copy;
}

/// Provides a kernel's own code, or code whose handlers count and then run those of the kernel. A
/// test may publish another one at any time.
///
/// Handlers are plain functions, so only the last object counts. An object keeps all its code,
/// because workers look at the slot until they turn to another grid.
class CountingCode final : public bytecode::CodeSource {
public:
    explicit CountingCode(std::shared_ptr<const bytecode::Kernel> kernel)
        : kernel_(std::move(kernel)), instructions_(kernel_->code),
          handlers_(kernel_->lockstep.size(), run_for_block) {
        for (bytecode::Instruction& instruction : instructions_) {
            instruction.handler = run_for_warp;
        }
        counted = kernel_.get();
        for_warps = 0;
        for_blocks = 0;
    }

    [[nodiscard]] const bytecode::CodeSlot& code() override { return slot_; }

    void publish_own() { slot_.publish(own_); }

    void publish_own_without_lockstep() { slot_.publish(own_alone_); }

    void publish_counting() { slot_.publish(counting_); }

    void publish_counting_without_lockstep() { slot_.publish(counting_alone_); }

    /// Returns a copy of the kernel that runs this code.
    [[nodiscard]] static std::shared_ptr<bytecode::Kernel>
    kernel_with(const std::shared_ptr<CountingCode>& code) {
        auto copy = std::make_shared<bytecode::Kernel>(*code->kernel_);
        copy->code_source = code;
        return copy;
    }

    /// How many times a handler has run for a warp.
    static inline std::atomic<std::uint64_t> for_warps = 0;
    /// How many times a handler has run for a block or a team in lockstep.
    static inline std::atomic<std::uint64_t> for_blocks = 0;

private:
    static const bytecode::Instruction*
    run_for_warp(WarpContext& warp, const bytecode::Instruction* at, std::uint32_t mask) {
        for_warps.fetch_add(1, std::memory_order_relaxed);
        return counted->code[static_cast<std::size_t>(at - warp.code)].handler(warp, at, mask);
    }

    static const bytecode::Instruction* run_for_block(Lockstep& block,
                                                      const bytecode::Instruction* at) {
        for_blocks.fetch_add(1, std::memory_order_relaxed);
        return counted->lockstep[static_cast<std::size_t>(at - block.whole.code)](block, at);
    }

    static inline const bytecode::Kernel* counted = nullptr;
    std::shared_ptr<const bytecode::Kernel> kernel_;
    std::vector<bytecode::Instruction> instructions_;
    std::vector<bytecode::LockstepHandler> handlers_;
    bytecode::Code own_{.instructions = kernel_->code.data(), .lockstep = kernel_->lockstep};
    bytecode::Code own_alone_{.instructions = kernel_->code.data(), .lockstep = {}};
    bytecode::Code counting_{.instructions = instructions_.data(), .lockstep = handlers_};
    bytecode::Code counting_alone_{.instructions = instructions_.data(), .lockstep = {}};
    bytecode::CodeSlot slot_{own_};
};

} // namespace cuprum::emulator::test
