// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Gives every register a place in the warp's frame: linear scan over live ranges. Each width has
// one pool of places for plain registers and one for linear registers.
//
// Ranges include both ends, so a destination never shares a place with a source of the same
// instruction. This matters because handlers process their lanes in chunks and may write some lanes
// before they have read all.

#include "passes/build.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <queue>
#include <string>

namespace cuprum::emulator::passes {

using bytecode::Operand;
using bytecode::Width;

namespace {

/// The kind of a register. Only registers of one kind share places, so a LinearHead never moves.
struct Kind {
    Width width{};
    bool is_linear = false;
};

constexpr std::array KINDS{Kind{Width::Predicate}, Kind{Width::B32},       Kind{Width::B32, true},
                           Kind{Width::B64},       Kind{Width::B64, true}, Kind{Width::B128}};
constexpr std::uint32_t NO_SLOT = ~0u;

/// The smallest and largest number of registers per thread that is reported to the user.
constexpr std::uint32_t MIN_REPORTED_REGISTERS = 8;
constexpr std::uint32_t MAX_REPORTED_REGISTERS = 255;

/// The slots of one width. Free slots are reused lowest first.
class SlotPool {
public:
    [[nodiscard]] std::uint32_t take(const LiveRange& range) {
        while (!busy_.empty() && busy_.top().first < range.first) {
            free_.push(busy_.top().second);
            busy_.pop();
        }
        std::uint32_t slot = count_;
        if (free_.empty()) {
            ++count_;
        } else {
            slot = free_.top();
            free_.pop();
        }
        busy_.emplace(range.last, slot);
        return slot;
    }

    [[nodiscard]] std::uint32_t count() const { return count_; }

private:
    template <typename T>
    using LowestFirst = std::priority_queue<T, std::vector<T>, std::greater<T>>;

    LowestFirst<std::pair<std::uint32_t, std::uint32_t>> busy_; // end of range, slot
    LowestFirst<std::uint32_t> free_;
    std::uint32_t count_ = 0;
};

} // namespace

void refuse_bank(KernelBuild& build, std::string_view values) {
    build.diagnostics.report(ptx::Problem::Unsupported, build.function.location,
                             "kernel '" + build.kernel.name + "' needs more than " +
                                 std::to_string(build.options.bank_bytes) + " bytes for the " +
                                 std::string(values) + " of a warp, which is not supported here; " +
                                 "split it into smaller kernels");
}

void assign_slots(KernelBuild& build) {
    bytecode::Kernel& kernel = build.kernel;
    std::vector<std::uint32_t> order;
    for (std::uint32_t r = 0; r < build.registers.size(); ++r) {
        if (!build.live_ranges[r].is_empty()) {
            order.push_back(r);
        }
    }
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return build.live_ranges[a].first < build.live_ranges[b].first;
    });

    std::vector<std::uint32_t> place(build.registers.size(), NO_SLOT);
    std::uint64_t frame_bytes = 0; // 32 bits could overflow before the check
    std::uint32_t words = 0;       // 32-bit registers that a GPU would need
    for (const auto& [width, is_linear] : KINDS) {
        const std::uint32_t head = is_linear ? sizeof(bytecode::LinearHead) : 0;
        const std::uint32_t stride = head + bytecode::slot_bytes(width);
        SlotPool pool;
        for (const std::uint32_t r : order) {
            if (build.registers[r].width == width && build.registers[r].is_linear == is_linear) {
                place[r] = static_cast<std::uint32_t>(
                    frame_bytes + head + std::uint64_t{pool.take(build.live_ranges[r])} * stride);
            }
        }
        for (std::uint32_t slot = 0; is_linear && slot < pool.count(); ++slot) {
            kernel.linear_slots.push_back(
                static_cast<std::uint32_t>(frame_bytes + head + std::uint64_t{slot} * stride));
        }
        const auto begin = static_cast<std::uint32_t>(frame_bytes);
        frame_bytes += std::uint64_t{pool.count()} * stride;
        if (pool.count() != 0) {
            kernel.slot_ranges.push_back(
                {begin, static_cast<std::uint32_t>(frame_bytes), width, is_linear});
        }
        frame_bytes = (frame_bytes + bytecode::BANK_ALIGNMENT - 1) / bytecode::BANK_ALIGNMENT *
                      bytecode::BANK_ALIGNMENT;
        words += pool.count() * static_cast<std::uint32_t>(width) / 4;
    }
    if (frame_bytes > build.options.bank_bytes) {
        refuse_bank(build, "registers");
        return;
    }
    kernel.frame_bytes = static_cast<std::uint32_t>(frame_bytes);
    const std::uint32_t limit = build.function.directives.max_registers;
    kernel.register_count =
        std::clamp(words, MIN_REPORTED_REGISTERS,
                   limit == 0 ? MAX_REPORTED_REGISTERS
                              : std::clamp(limit, MIN_REPORTED_REGISTERS, MAX_REPORTED_REGISTERS));

    const auto rewrite = [&](Operand& operand) {
        if (is_register(operand)) {
            const std::uint32_t slot = place[operand.offset()];
            operand = slot == NO_SLOT ? Operand{} : Operand{bytecode::Bank::Registers, slot};
        }
    };
    for (bytecode::Instruction& instruction : kernel.code) {
        rewrite(instruction.guard);
        std::for_each(instruction.dst, instruction.dst + instruction.dst_count, rewrite);
        std::for_each(instruction.src, instruction.src + instruction.src_count, rewrite);
    }
    // NOTE: operands of removed instructions are still in the list. They become none.
    std::for_each(kernel.operands.begin(), kernel.operands.end(), rewrite);
    std::erase_if(kernel.warp_specials,
                  [&](const auto& special) { return place[special.offset] == NO_SLOT; });
    for (bytecode::SpecialSlot& special : kernel.warp_specials) {
        special.is_linear = build.registers[special.offset].is_linear;
        special.offset = place[special.offset];
    }
}

} // namespace cuprum::emulator::passes
