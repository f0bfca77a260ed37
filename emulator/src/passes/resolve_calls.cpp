// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Resolves function addresses and bounds the stack, now that the frame size is known.

#include "passes/build.hpp"

#include <algorithm>

namespace cuprum::emulator::passes {

namespace {

constexpr std::uint32_t MAX_FRAMES = 1024;
constexpr std::uint32_t MIN_FRAMES = 16;
/// The most bytes for the frames of one warp, and for the local memory of one thread.
constexpr std::uint32_t MAX_STACK_BYTES = 8 << 20;
constexpr std::uint32_t MAX_LOCAL_STACK_BYTES = 256 << 10;
constexpr std::uint32_t LOCAL_ALIGNMENT = 16;

} // namespace

void resolve_calls(KernelBuild& build) {
    bytecode::Kernel& kernel = build.kernel;
    if (!build.has_calls) {
        return;
    }
    for (auto& [address, place] : kernel.functions) {
        place = build.labels[place];
    }
    for (bytecode::Instruction& instruction : kernel.code) {
        if (instruction.form.is(FixedOp::Call)) {
            instruction.immediate = build.labels[static_cast<std::size_t>(instruction.immediate)];
        }
    }
    for (const bytecode::SpecialSlot& slot : kernel.warp_specials) {
        if (slot.special == bytecode::Special::ReturnAddress) {
            kernel.return_slot = slot.offset;
        }
    }
    kernel.local_bytes =
        (kernel.local_bytes + LOCAL_ALIGNMENT - 1) / LOCAL_ALIGNMENT * LOCAL_ALIGNMENT;
    kernel.max_frames = std::min({MAX_FRAMES, MAX_STACK_BYTES / std::max(1u, kernel.frame_bytes),
                                  MAX_LOCAL_STACK_BYTES / std::max(1u, kernel.local_bytes)});
    kernel.max_frames = std::max(kernel.max_frames, MIN_FRAMES);
}

} // namespace cuprum::emulator::passes
