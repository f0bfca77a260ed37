// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "interp/warpgroup.hpp"

#include "bytecode/matrix_forms.hpp"
#include "interp/groups.hpp"

#include <bit>
#include <cstdio>

namespace cuprum::emulator::warpgroup {

using bytecode::FULL_MASK;
using bytecode::Instruction;

namespace {

typedef std::uint64_t Lane64 __attribute__((may_alias));

/// The values of one warp that all lanes and all warps must agree on.
struct Agreement {
    std::uint64_t b = 0;
    std::uint64_t a = 0;
    bool adds = false;

    friend bool operator==(const Agreement&, const Agreement&) = default;
};

bool is_complete(WarpContext& warp, const Instruction* at, std::uint32_t mask);
const Group* waiting_group(const WarpContext& warp);
bool find_agreement(WarpContext& warp, const Instruction* at, const std::byte* frame,
                    Agreement& agreement);

} // namespace

bool meet(WarpContext& warp, const Instruction* at, std::uint32_t mask, Meeting& meeting) {
    BlockContext& block = *warp.block;
    const std::uint32_t first = warp.index / WARPS * WARPS;
    if (!is_complete(warp, at, mask)) {
        return false;
    }
    bool are_all_here = true;
    for (std::uint32_t i = 0; i < WARPS; ++i) {
        WarpContext& other = block.warps[first + i];
        if (&other == &warp) {
            meeting.frames[i] = warp.frame(warp.groups[warp.current].depth);
            continue;
        }
        const Group* const group = waiting_group(other);
        if (group == nullptr) {
            are_all_here = false;
            continue;
        }
        if (other.code + group->pc - 1 != at) {
            const auto& lines = block.kernel->lines;
            const std::uint32_t line = other.code[group->pc - 1].line;
            (void)raise_fault(warp, at, FaultKind::IllegalInstruction, 0,
                              "the warps of a warpgroup are at different wgmma.mma_async: warp " +
                                  std::to_string(other.index) + " is at PTX line " +
                                  std::to_string(line < lines.size() ? lines[line].ptx_line : 0) +
                                  "; all four must execute the same one");
            return false;
        }
        meeting.frames[i] = other.frame(group->depth);
    }
    if (!are_all_here) {
        groups::park(warp, mask, groups::index_of(warp, at) + 1, Stop::Warpgroup);
        return false;
    }
    Agreement agreed;
    for (std::uint32_t i = 0; i < WARPS; ++i) {
        Agreement own;
        WarpContext& other = block.warps[first + i];
        if (!find_agreement(other, at, meeting.frames[i], own)) {
            warp.stop = Stop::Fault;
            return false;
        }
        if (i != 0 && own != agreed) {
            (void)raise_fault(warp, at, FaultKind::IllegalInstruction, 0,
                              "warps " + std::to_string(first) + " and " +
                                  std::to_string(first + i) +
                                  " of a warpgroup have different matrix descriptors or scale-d; "
                                  "compute them from values that all 128 threads share");
            return false;
        }
        agreed = own;
    }
    meeting.b = agreed.b;
    meeting.a = agreed.a;
    meeting.adds = agreed.adds;
    return block.observer == nullptr || block.observer->multiplies(warp, at, meeting.a, meeting.b);
}

void release(WarpContext& warp) {
    BlockContext& block = *warp.block;
    const std::uint32_t first = warp.index / WARPS * WARPS;
    for (std::uint32_t i = 0; i < WARPS; ++i) {
        WarpContext& other = block.warps[first + i];
        if (&other != &warp) {
            other.groups[0].state = Stop::Running; // all 32 lanes are in one group
            block.runnable |= 1u << (first + i);
        }
    }
}

const Instruction* raise_outside(WarpContext& warp, const Instruction* at, std::uint64_t descriptor,
                                 std::uint32_t offset, bool is_b) {
    constexpr std::uint64_t FIELD = 0x3fff;
    constexpr const char* SWIZZLES[] = {"none", "128 bytes", "64 bytes", "32 bytes"};
    const auto field = [&](unsigned shift) { return (descriptor >> shift & FIELD) << 4; };
    char text[192];
    (void)std::snprintf(
        text, sizeof text, "start %#llx, leading offset %llu, stride offset %llu, swizzle %s",
        static_cast<unsigned long long>(field(0)), static_cast<unsigned long long>(field(16)),
        static_cast<unsigned long long>(field(32)), SWIZZLES[descriptor >> 62]);
    return raise_fault(warp, at, FaultKind::IllegalAddress, 0,
                       std::string("the descriptor of ") + (is_b ? "B" : "A") +
                           " leaves the block's shared memory: it reads 16 bytes at offset " +
                           std::to_string(offset) + " of " +
                           std::to_string(warp.block->shared_bytes) + " (" + text + ")");
}

std::string describe_missing(const WarpContext& warp) {
    const BlockContext& block = *warp.block;
    const std::uint32_t first = warp.index / WARPS * WARPS;
    std::string text;
    for (std::uint32_t w = first; w < first + WARPS; ++w) {
        if (waiting_group(block.warps[w]) == nullptr) {
            text += (text.empty() ? "warp " : ", ") + std::to_string(w);
        }
    }
    return text + " of the warpgroup";
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

/// Returns whether the warpgroup has 128 threads that can meet. Raises a fault if not.
bool is_complete(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const BlockContext& block = *warp.block;
    const std::uint32_t first = warp.index / WARPS * WARPS;
    if ((first + WARPS) * bytecode::WARP_SIZE > block.thread_count) {
        (void)raise_fault(warp, at, FaultKind::IllegalInstruction, 0,
                          "wgmma needs a whole warpgroup, threads " +
                              std::to_string(first * bytecode::WARP_SIZE) + " to " +
                              std::to_string((first + WARPS) * bytecode::WARP_SIZE - 1) +
                              ", but the block has " + std::to_string(block.thread_count) +
                              " threads; use a multiple of 128");
        return false;
    }
    if (mask != FULL_MASK) {
        (void)raise_fault(
            warp, at, FaultKind::IllegalInstruction,
            static_cast<std::uint32_t>(std::countr_zero(mask)),
            "only " + std::to_string(std::popcount(mask)) +
                " lanes of the warp execute wgmma; all 128 threads of the warpgroup must");
        return false;
    }
    for (std::uint32_t w = first; w < first + WARPS; ++w) {
        if (groups::live(block.warps[w]) != FULL_MASK) {
            (void)raise_fault(warp, at, FaultKind::IllegalInstruction, 0,
                              "wgmma needs all 128 threads of the warpgroup, but threads of warp " +
                                  std::to_string(w) + " have exited");
            return false;
        }
    }
    return true;
}

/// Returns the group of a warp that waits at a wgmma, or nullptr.
const Group* waiting_group(const WarpContext& warp) {
    return warp.group_count == 1 && warp.groups[0].state == Stop::Warpgroup ? &warp.groups[0]
                                                                            : nullptr;
}

/// Returns the place of an operand of a warp that may not be running.
const std::byte* place_of(const WarpContext& warp, const std::byte* frame,
                          bytecode::Operand operand) {
    return operand.bank() == bytecode::Bank::Registers ? frame + operand.offset()
                                                       : warp.at(operand);
}

/// Reads a descriptor, which must be the same in all lanes.
bool read_descriptor(WarpContext& warp, const Instruction* at, const std::byte* frame,
                     bytecode::Operand operand, const char* name, std::uint64_t& descriptor) {
    const auto* const lanes = reinterpret_cast<const Lane64*>(place_of(warp, frame, operand));
    descriptor = lanes[0];
    std::uint64_t differences = 0;
    for (std::uint32_t lane = 1; lane < bytecode::WARP_SIZE; ++lane) {
        differences |= lanes[lane] ^ descriptor;
    }
    if (differences == 0) {
        return true;
    }
    std::uint32_t lane = 1;
    while (lanes[lane] == descriptor) {
        ++lane;
    }
    (void)raise_fault(warp, at, FaultKind::IllegalInstruction, lane,
                      std::string("lanes of a warp have different matrix descriptors of ") + name +
                          "; compute them from values that all 128 threads share");
    return false;
}

bool find_agreement(WarpContext& warp, const Instruction* at, const std::byte* frame,
                    Agreement& agreement) {
    if (!read_descriptor(warp, at, frame, at->src[0], "B", agreement.b)) {
        return false;
    }
    if ((at->tag & WARPGROUP_A_REGISTERS) == 0 &&
        !read_descriptor(warp, at, frame, at->src[WARPGROUP_A_SOURCE], "A", agreement.a)) {
        return false;
    }
    std::uint32_t scale = 0;
    __builtin_memcpy(&scale, place_of(warp, frame, at->src[1]), sizeof scale);
    if (scale != 0 && scale != FULL_MASK) {
        (void)raise_fault(warp, at, FaultKind::IllegalInstruction, 0,
                          "lanes of a warp have different predicates scale-d");
        return false;
    }
    agreement.adds = (scale != 0) != ((at->tag & WARPGROUP_SCALE_NEGATED) != 0);
    return true;
}

} // namespace

} // namespace cuprum::emulator::warpgroup
