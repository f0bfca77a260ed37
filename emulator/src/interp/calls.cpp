// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Calls of functions that are not inlined.
//
// The frame of a lane depends only on its call depth, and a register has the same place in every
// function's frame. So lanes at the same instruction and depth can form one group, wherever they
// were called from. The return address of each lane is an ordinary value in its frame.

#include "interp/control.hpp"
#include "interp/groups.hpp"
#include "interp/lanes.hpp"
#include "interp/warp.hpp"

#include <bit>
#include <cstring>
#include <sstream>

namespace cuprum::emulator::control {

using bytecode::Instruction;
using bytecode::Special;
using bytecode::WARP_SIZE;

namespace {

using Word = Aliased<std::uint32_t>::Value;
using Long = Aliased<std::uint64_t>::Value;

std::uint32_t depth_of(const WarpContext& warp) {
    return warp.groups[warp.current].depth;
}

/// Returns the local memory of a lane at a call depth.
std::byte* local_of(const WarpContext& warp, std::uint32_t lane, std::uint32_t depth) {
    const BlockContext& block = *warp.block;
    return block.local + std::size_t{warp.thread(lane)} * block.local_stride_bytes +
           std::size_t{block.kernel->local_bytes} * depth;
}

bool has_room(const WarpContext& warp);
const Instruction* overflow(WarpContext& warp, const Instruction* at, std::uint32_t mask);
void prepare_frame(WarpContext& warp, std::uint32_t depth);
void set_aside(WarpContext& warp, const Instruction* at, std::uint32_t mask);
const Instruction* move_to(WarpContext& warp, std::uint32_t mask, std::uint32_t depth,
                           const Instruction* next);

} // namespace

const Instruction* call(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    if (!has_room(warp)) {
        return overflow(warp, at, mask);
    }
    set_aside(warp, at, mask);
    const std::uint32_t depth = depth_of(warp) + 1;
    prepare_frame(warp, depth);
    const bytecode::Kernel& kernel = *warp.block->kernel;
    auto* const back = reinterpret_cast<Word*>(warp.frame(depth) + kernel.return_slot);
    const std::uint32_t behind = groups::index_of(warp, at) + 1;
    for_each_lane(mask, [&](std::uint32_t lane) { back[lane] = behind; });
    return move_to(warp, mask, depth, warp.code + at->immediate);
}

const Instruction* call_indirect(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const bytecode::Kernel& kernel = *warp.block->kernel;
    const auto* const addresses = reinterpret_cast<const Long*>(warp.at(at->src[0]));
    constexpr std::uint32_t NOT_CALLABLE = ~0u;
    std::uint64_t last_address = 0; // the lanes mostly have the same; no function is at 0
    std::uint32_t last_place = NOT_CALLABLE;
    const auto place_of = [&](std::uint64_t address) {
        if (address != last_address) {
            const auto found = kernel.functions.find(address);
            last_address = address;
            last_place = found == kernel.functions.end() ? NOT_CALLABLE : found->second;
        }
        return last_place;
    };
    std::uint32_t wrong = 0;
    for_each_lane(mask, [&](std::uint32_t lane) {
        wrong |= static_cast<std::uint32_t>(place_of(addresses[lane]) == NOT_CALLABLE) << lane;
    });
    if (wrong != 0) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(wrong));
        std::ostringstream detail;
        detail << "call of 0x" << std::hex << addresses[lane]
               << ", which is not the address of a function of this module";
        return raise_fault(warp, at, FaultKind::IllegalInstruction, lane, detail.str());
    }
    if (!has_room(warp)) {
        return overflow(warp, at, mask);
    }
    set_aside(warp, at, mask);
    const std::uint32_t depth = depth_of(warp) + 1;
    prepare_frame(warp, depth);
    auto* const back = reinterpret_cast<Word*>(warp.frame(depth) + kernel.return_slot);
    const std::uint32_t behind = groups::index_of(warp, at) + 1;
    for_each_lane(mask, [&](std::uint32_t lane) { back[lane] = behind; });
    // The lanes split by callee. Those of the first callee continue as the running group.
    const std::uint32_t first = place_of(addresses[std::countr_zero(mask)]);
    std::uint32_t first_mask = 0;
    for_each_lane(mask, [&](std::uint32_t lane) {
        const std::uint32_t place = place_of(addresses[lane]);
        if (place == first) {
            first_mask |= 1u << lane;
        } else {
            groups::add(warp, 1u << lane, place, depth);
        }
    });
    return move_to(warp, first_mask, depth, warp.code + first);
}

const Instruction* return_lanes(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    set_aside(warp, at, mask);
    const std::uint32_t depth = depth_of(warp) - 1;
    const auto* const back = reinterpret_cast<const Word*>(warp.at(at->src[0]));
    const std::uint32_t first = back[std::countr_zero(mask)];
    std::uint32_t first_mask = 0;
    for_each_lane(mask, [&](std::uint32_t lane) {
        if (back[lane] == first) {
            first_mask |= 1u << lane;
        } else {
            groups::add(warp, 1u << lane, back[lane], depth);
        }
    });
    return move_to(warp, first_mask, depth, warp.code + first);
}

const Instruction* pass_bytes(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    if (!has_room(warp)) {
        return overflow(warp, at, mask);
    }
    const std::uint32_t depth = depth_of(warp);
    for_each_lane(mask, [&](std::uint32_t lane) {
        std::memcpy(local_of(warp, lane, depth + 1) + at->extra,
                    local_of(warp, lane, depth) + at->target,
                    static_cast<std::size_t>(at->immediate));
    });
    return at + 1;
}

const Instruction* fetch_bytes(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const std::uint32_t depth = depth_of(warp);
    for_each_lane(mask, [&](std::uint32_t lane) {
        std::memcpy(local_of(warp, lane, depth) + at->extra,
                    local_of(warp, lane, depth + 1) + at->target,
                    static_cast<std::size_t>(at->immediate));
    });
    return at + 1;
}

const Instruction* local_address(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const auto* const base = reinterpret_cast<const Long*>(warp.at(at->src[0]));
    const auto offset = static_cast<std::uint64_t>(at->immediate);
    std::byte* const out = warp.at(at->dst[0]);
    for_each_lane(mask, [&](std::uint32_t lane) {
        const std::uint64_t address = base[lane] + offset;
        if (at->tag == 1) {
            reinterpret_cast<Word*>(out)[lane] = static_cast<std::uint32_t>(address);
        } else {
            reinterpret_cast<Long*>(out)[lane] = address;
        }
    });
    return at + 1;
}

const Instruction* read_local(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    std::byte* const out = warp.at(at->dst[0]);
    for_each_lane(mask, [&](std::uint32_t lane) {
        std::memcpy(out + std::size_t{lane} * at->tag,
                    local_of(warp, lane, depth_of(warp)) + at->target, at->tag);
    });
    return at + 1;
}

const Instruction* write_local(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const std::byte* const in = warp.at(at->src[0]);
    for_each_lane(mask, [&](std::uint32_t lane) {
        std::memcpy(local_of(warp, lane, depth_of(warp)) + at->target,
                    in + std::size_t{lane} * at->tag, at->tag);
    });
    return at + 1;
}

const Instruction* allocate_stack(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const auto* const base = reinterpret_cast<const Long*>(warp.at(at->src[0]));
    const auto* const top = reinterpret_cast<const Long*>(warp.at(at->src[1]));
    const auto* const size = reinterpret_cast<const Long*>(warp.at(at->src[2]));
    std::uint64_t places[WARP_SIZE];
    std::uint64_t tops[WARP_SIZE];
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
        const std::uint64_t begin = (top[lane] + at->target - 1) & ~std::uint64_t{at->target - 1};
        if (begin > STACK_AREA_BYTES || size[lane] > STACK_AREA_BYTES - begin) {
            return raise_fault(warp, at, FaultKind::StackOverflow, lane,
                               "alloca of " + std::to_string(size[lane]) + " bytes with " +
                                   std::to_string(begin) + " taken; a call may take " +
                                   std::to_string(STACK_AREA_BYTES));
        }
        places[lane] = base[lane] + static_cast<std::uint64_t>(at->immediate) + begin;
        tops[lane] = begin + size[lane];
    }
    auto* const place_to = reinterpret_cast<Long*>(warp.at(at->dst[0]));
    auto* const top_to = reinterpret_cast<Long*>(warp.at(at->dst[1]));
    for_each_lane(mask, [&](std::uint32_t lane) {
        place_to[lane] = places[lane];
        top_to[lane] = tops[lane];
    });
    return at + 1;
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

bool has_room(const WarpContext& warp) {
    return depth_of(warp) + 1 < warp.block->max_frames;
}

const Instruction* overflow(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const BlockContext& block = *warp.block;
    std::string detail = "more than " + std::to_string(block.max_frames - 1) + " calls are nested";
    if (block.stack_bytes != 0) {
        detail += ": the stack has " + std::to_string(block.stack_bytes) +
                  " bytes a thread (CU_LIMIT_STACK_SIZE)";
    }
    return raise_fault(warp, at, FaultKind::StackOverflow,
                       static_cast<std::uint32_t>(std::countr_zero(mask)), std::move(detail));
}

/// Fills in the values that a frame holds before anything runs in it.
void prepare_frame(WarpContext& warp, std::uint32_t depth) {
    if (depth < warp.ready_frames) {
        return;
    }
    const bytecode::Kernel& kernel = *warp.block->kernel;
    std::byte* const frame = warp.frame(depth);
    for (const bytecode::SpecialSlot& slot : kernel.warp_specials) {
        if (slot.special == Special::LocalBase) {
            auto* const base = reinterpret_cast<Long*>(frame + slot.offset);
            for (std::uint32_t lane = 0; lane < WARP_SIZE; ++lane) {
                base[lane] = std::uint64_t{kernel.local_bytes} * depth;
            }
        } else if (slot.special != Special::ReturnAddress) {
            std::memcpy(frame + slot.offset, warp.frames + slot.offset,
                        bytecode::slot_bytes(slot.width));
        }
    }
    warp.ready_frames = depth + 1;
}

/// Lets the lanes outside the guard continue after the instruction.
void set_aside(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    if (mask != warp.active) {
        groups::add(warp, warp.active & ~mask, groups::index_of(warp, at) + 1);
    }
}

/// Makes `mask` the running group at another depth. Costs as much budget as a jump back.
const Instruction* move_to(WarpContext& warp, std::uint32_t mask, std::uint32_t depth,
                           const Instruction* next) {
    Group& group = warp.groups[warp.current];
    group.mask = mask;
    group.depth = depth;
    warp.active = mask;
    warp.banks[0] = warp.frame(depth);
    if (warp.group_count > 1) {
        groups::look_ahead(warp, next);
    }
    warp.budget = warp.budget > LOOP_COST ? warp.budget - LOOP_COST : 0;
    if (warp.budget != 0) {
        return next;
    }
    (void)yield_group(warp, next);
    group.state = Stop::Running; // only the warp yields, not the group
    return nullptr;
}

} // namespace

} // namespace cuprum::emulator::control
