// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Which code the warps of a launch run. This is the seam between the engine, which runs code, and
// whatever produces it.
//
// All code of a kernel has the same instructions at the same places. Only the handlers differ. A
// program counter is therefore valid in all of it, and a warp may change from one to another
// whenever it stops.

#pragma once

#include "bytecode/instruction.hpp"

#include <atomic>
#include <span>

namespace cuprum::emulator::jit {
class CodeCache;
}

namespace cuprum::emulator::bytecode {

/// Code of one kernel. It refers to lists that someone else owns.
struct Code {
    const Instruction* instructions = nullptr; // all of the kernel, with handlers for warps
    // Handlers of the first instructions for whole blocks (interp/lockstep.hpp). If there are none,
    // every warp runs alone.
    std::span<const LockstepHandler> lockstep;
};

/// The place where warps, blocks in lockstep and teams find their code. It may be replaced while
/// they run.
class CodeSlot {
public:
    CodeSlot() = default;

    explicit CodeSlot(const Code& code) : current_(&code) {}

    /// Returns the code to run now. Call it only after code was published.
    [[nodiscard]] const Code& current() const noexcept {
        return *current_.load(std::memory_order_acquire);
    }

    /// Replaces the code. Warps and blocks that run keep the old code until they stop. So `code`
    /// and all that it refers to must stay as long as the slot.
    void publish(const Code& code) noexcept { current_.store(&code, std::memory_order_release); }

private:
    std::atomic<const Code*> current_{nullptr};
};

/// Provides the code of one kernel.
class CodeSource {
public:
    CodeSource() = default;
    CodeSource(const CodeSource&) = delete;
    CodeSource& operator=(const CodeSource&) = delete;
    virtual ~CodeSource() = default;

    /// Returns where warps find their code. The slot lives as long as the source.
    [[nodiscard]] virtual const CodeSlot& code() = 0;

    /// Returns the kernel's compiled code, or null if it is never compiled.
    [[nodiscard]] virtual jit::CodeCache* compiled_code() noexcept { return nullptr; }
};

} // namespace cuprum::emulator::bytecode
