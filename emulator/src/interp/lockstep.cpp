// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "interp/lockstep.hpp"

#include "bytecode/forms.hpp"
#include "interp/broadcast.hpp"
#include "interp/groups.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace cuprum::emulator::lockstep {

using bytecode::Bank;
using bytecode::Family;
using bytecode::FULL_MASK;
using bytecode::Instruction;
using bytecode::LinearHead;
using bytecode::LockstepHandler;
using bytecode::Operand;
using bytecode::Variant;
using bytecode::WARP_SIZE;

namespace {

/// How much memory the plain registers of a block may take. In lockstep, each instruction visits
/// all warps, so their registers should stay in the nearest cache.
constexpr std::size_t MAX_PLAIN_BYTES = std::size_t{32} << 10;
/// What a linear register takes at least. Its lanes are not used in lockstep.
constexpr std::size_t LINEAR_BYTES =
    sizeof(LinearHead) + bytecode::slot_bytes(bytecode::Width::B32);
/// The unit of Lockstep::written: places of heads are multiples of it.
constexpr std::uint32_t HEAD_UNIT = bytecode::BANK_ALIGNMENT;
constexpr std::uint32_t WORD_BITS = 64;

/// Writes two adjacent numbers.
template <typename T>
void put(std::byte* to, T first, T second) {
    std::memcpy(to, &first, sizeof first);
    std::memcpy(to + sizeof first, &second, sizeof second);
}

/// Returns whether this processor fetches adjacent lines ahead only up to the end of a page.
/// Processors of AMD continue in the next page, and explicit requests cost time: a sum of two
/// vectors took 40 % longer with them on two cores of an EPYC, and 20 % less on a Xeon.
bool stops_at_pages() {
#if defined(__x86_64__)
    static const bool is_amd = [] {
        __builtin_cpu_init();
        return __builtin_cpu_is("amd") != 0;
    }();
    return !is_amd;
#else
    return true;
#endif
}

/// The lanes that a guard selects, in all warps of a block.
enum class Choice : std::uint8_t { None, All, Some };

Choice choose(const Lockstep& block, const Instruction* at);
bool place_specials(const Lockstep& block, const BlockContext& context);
void start_warps(Lockstep& block);
void start_blocks(Lockstep& block);
void show_place(Lockstep& block);
void hand_out_heads(Lockstep& block);
const Instruction* run_each(Lockstep& block, const Instruction* at);
const Instruction* jump(Lockstep& block, const Instruction* at);
const Instruction* branch(Lockstep& block, const Instruction* at);
const Instruction* exit_all(Lockstep& block, const Instruction* at);
const Instruction* pass_barrier(Lockstep& block, const Instruction* at);
const Instruction* pass(Lockstep& block, const Instruction* at);

} // namespace

LockstepHandler common_handler(const Instruction& at) {
    const bytecode::Form& form = at.form;
    switch (form.family()) {
    case Family::Fixed:
        break;
    case Family::Move:
    case Family::Integer:
    case Family::Dot:
    case Family::Bits:
    case Family::Carry:
    case Family::Float:
    case Family::Compare:
    case Family::Convert:
    case Family::Pack:
    case Family::Memory:
    case Family::Atomic:
    case Family::Warp:
    case Family::Sample:
    case Family::Settle:
        return form.variant == Variant::Plain ? run_each : nullptr;
    default:
        return nullptr;
    }
    switch (form.as<FixedOp>()) {
    case FixedOp::Branch:
    case FixedOp::BranchGuarded:
        return branch;
    case FixedOp::Exit:
        return exit_all;
    case FixedOp::TextureQuery:
    case FixedOp::TextureIsType:
    case FixedOp::SurfaceAccess:
        return run_each;
    case FixedOp::BarrierSync:
        return at.guard.is_none() ? pass_barrier : nullptr;
    case FixedOp::Rendezvous:
        return at.guard.is_none() ? pass : nullptr; // all lanes are there
    default:
        return nullptr;
    }
}

std::uint32_t fitting_warps(const bytecode::Kernel& kernel) {
    const std::size_t plain_bytes =
        kernel.frame_bytes - LINEAR_BYTES * kernel.linear_slots.size() - kernel.skipped_bytes;
    return plain_bytes == 0 ? MAX_TEAM_WARPS
                            : static_cast<std::uint32_t>(MAX_PLAIN_BYTES / plain_bytes);
}

void configure(Lockstep& block, BlockContext& context, std::byte* heads, std::uint32_t blocks) {
    const bytecode::Kernel& kernel = *context.kernel;
    block.is_configured = false;
    block.fetches_adjacent = stops_at_pages();
    block.warps = context.warps;
    block.block_count = blocks;
    block.block_warps = context.warp_count;
    block.warp_count = context.warp_count * blocks;
    block.most_blocks = blocks;
    block.contexts = blocks > 1 ? &context : nullptr;
    block.values.clear();
    block.are_warps_ready = false;
    if (block.warp_count < 2 || context.thread_count % WARP_SIZE != 0) {
        return;
    }
    block.frames = context.warps[0].frames;
    block.warp_stride_bytes =
        static_cast<std::size_t>(context.warps[1].frames - context.warps[0].frames);
    if (block.warp_count > fitting_warps(kernel)) {
        return;
    }
    block.whole.banks = context.warps[0].banks;
    block.whole.banks[0] = heads;
    block.whole.block = &context;
    for (const std::uint32_t offset : kernel.linear_slots) {
        LinearHead head;
        head.is_varied = INVALID_HEAD;
        std::memcpy(heads + offset - sizeof head, &head, sizeof head);
    }
    if (!place_specials(block, context)) {
        return;
    }
    block.written.assign(kernel.frame_bytes / HEAD_UNIT / WORD_BITS + 1, 0);
    block.written_words = block.written.data();
    block.is_configured = true;
}

void start(Lockstep& block, std::uint32_t blocks) {
    block.next = 0;
    block.are_blocks_ready = false;
    block.block_count = blocks;
    block.warp_count = block.block_warps * blocks;
    std::fill(block.written.begin(), block.written.end(), 0);
    for (const BlockValue& value : block.values) {
        std::byte* const slot = block.whole.banks[static_cast<std::size_t>(Bank::Block)];
        if (value.width == bytecode::Width::B64) {
            put(slot + value.offset, value.base, value.step);
        } else {
            put(slot + value.offset, static_cast<std::uint32_t>(value.base),
                static_cast<std::uint32_t>(value.step));
        }
    }
}

Lockstep::End run(Lockstep& block, std::uint32_t budget) {
    // Other code may be published at any time, so look only once.
    const bytecode::Code& current = block.whole.block->code->current();
    const LockstepHandler* const handlers = current.lockstep.data();
    const auto count = static_cast<std::ptrdiff_t>(current.lockstep.size());
    const Instruction* const code = current.instructions;
    block.are_warps_ready = block.are_warps_ready && block.whole.code == code;
    block.whole.code = code;
    block.budget = budget;
    const Instruction* at = code + block.next;
    for (std::ptrdiff_t index = at - code; index < count; index = at - code) {
        const Instruction* const next = handlers[index](block, at);
        if (next == nullptr) {
            if (block.end == Lockstep::End::Alone) {
                break;
            }
            if (block.end == Lockstep::End::Yielded) {
                show_place(block);
            }
            return block.end;
        }
        at = next;
    }
    block.next = static_cast<std::uint32_t>(at - code);
    leave(block);
    return Lockstep::End::Alone;
}

void leave(Lockstep& block) {
    block.whole.code = block.whole.block->code->current().instructions;
    show_place(block);
    hand_out_heads(block);
    block.are_warps_ready = false; // they go their own ways now
}

const Instruction* run_branch(Lockstep& block, const Instruction* at, bool guard_holds) {
    const bool is_negated = (at->flags & bytecode::GUARD_NEGATED) != 0;
    return guard_holds != is_negated ? jump(block, at) : at + 1;
}

void prepare_warps(Lockstep& block) {
    if (!block.are_warps_ready) [[unlikely]] {
        start_warps(block);
    }
    if (!block.are_blocks_ready) {
        block.are_blocks_ready = true;
        if (block.contexts != nullptr) {
            start_blocks(block);
        }
    }
}

const Instruction* run_in_each(Lockstep& block, const Instruction* at, const Instruction* end) {
    prepare_warps(block);
    for (std::uint32_t w = 0; w < block.warp_count; ++w) {
        WarpContext& warp = block.warps[w];
        for (const Instruction* next = at; next != end;) {
            next = next->handler(warp, next, FULL_MASK);
            if (next == nullptr) {
                block.end = Lockstep::End::Faulted; // nothing else stops these instructions
                block.are_warps_ready = false;
                return nullptr;
            }
        }
    }
    return end;
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

Choice choose(const Lockstep& block, const Instruction* at) {
    if (at->guard.is_none()) {
        return Choice::All;
    }
    std::uint32_t all = FULL_MASK;
    std::uint32_t any = 0;
    for (std::uint32_t w = 0; w < block.warp_count; ++w) {
        typedef std::uint32_t Mask __attribute__((may_alias));
        const std::uint32_t holds = *reinterpret_cast<const Mask*>(block.at(w, at->guard));
        all &= holds;
        any |= holds;
    }
    if ((at->flags & bytecode::GUARD_NEGATED) != 0) {
        return any == 0 ? Choice::All : all == FULL_MASK ? Choice::None : Choice::Some;
    }
    return all == FULL_MASK ? Choice::All : any == 0 ? Choice::None : Choice::Some;
}

/// Gives the special values of warps, such as %tid, one head for the block. Returns false if they
/// have none: the warps differ by more than a multiple of one step.
bool place_specials(const Lockstep& block, const BlockContext& context) {
    for (const bytecode::SpecialSlot& slot : context.kernel->warp_specials) {
        if (!slot.is_linear) {
            continue;
        }
        const auto head_in = [&](std::uint32_t warp) {
            LinearHead head;
            std::memcpy(&head, block.warps[warp].frames + slot.offset - sizeof head, sizeof head);
            return head;
        };
        LinearHead first = head_in(0);
        const std::uint64_t step = block.block_warps > 1 ? head_in(1).base - first.base : 0;
        for (std::uint32_t w = 0; w < block.block_warps; ++w) {
            const LinearHead head = head_in(w);
            if (head.is_varied != 0 ||
                static_cast<std::uint32_t>(head.base) !=
                    static_cast<std::uint32_t>(first.base + step * w) ||
                std::memcmp(head.steps, first.steps, sizeof head.steps) != 0) {
                return false;
            }
        }
        first.has_lanes = static_cast<std::uint32_t>(step); // the warp step
        std::memcpy(block.whole.banks[0] + slot.offset - sizeof first, &first, sizeof first);
    }
    return true;
}

/// Puts every warp at the start, with all lanes. A block that finishes in lockstep leaves its warps
/// like this, so the next block need not do it again.
void start_warps(Lockstep& block) {
    for (std::uint32_t w = 0; w < block.most_blocks * block.block_warps; ++w) {
        WarpContext& warp = block.warps[w];
        start_warp(warp, FULL_MASK);
        warp.code = block.whole.code;
        warp.active = FULL_MASK;
        warp.banks[0] = warp.frames;
    }
    block.are_warps_ready = true;
}

/// Gives every block of a team its index and its own special values.
void start_blocks(Lockstep& block) {
    const BlockContext& first = block.contexts[0];
    for (std::uint32_t b = 0; b < block.block_count; ++b) {
        BlockContext& context = block.contexts[b];
        for (std::size_t axis = 0; axis < 3; ++axis) {
            context.index[axis] = first.index[axis];
        }
        context.index[block.axis] = first.index[block.axis] + b;
        for (const BlockValue& value : block.values) {
            broadcast(context.block_bank + value.offset, value.width, value.base + value.step * b);
        }
    }
}

/// Tells every warp where the block stands.
void show_place(Lockstep& block) {
    prepare_warps(block);
    for (std::uint32_t w = 0; w < block.warp_count; ++w) {
        block.warps[w].code = block.whole.code;
        block.warps[w].groups[0].pc = block.next;
    }
}

/// Gives every warp its own copy of the heads that were written in lockstep.
void hand_out_heads(Lockstep& block) {
    for (std::size_t word = 0; word < block.written.size(); ++word) {
        for (std::uint64_t left = block.written[word]; left != 0; left &= left - 1) {
            const std::size_t place =
                (word * WORD_BITS + static_cast<std::size_t>(std::countr_zero(left))) * HEAD_UNIT;
            LinearHead head;
            std::memcpy(&head, block.whole.banks[0] + place, sizeof head);
            const std::uint64_t warp_step = head.has_lanes;
            const std::uint64_t block_step = head.is_varied;
            const std::uint64_t base = head.base;
            head.has_lanes = 0;
            head.is_varied = 0;
            std::byte* to = block.frames + place;
            for (std::uint64_t w = 0; w < block.warp_count; ++w) {
                head.base =
                    base + w % block.block_warps * warp_step + w / block.block_warps * block_step;
                std::memcpy(to, &head, sizeof head);
                to += block.warp_stride_bytes;
            }
        }
    }
}

/// Runs an instruction that only computes, loads or stores, in each warp.
const Instruction* run_each(Lockstep& block, const Instruction* at) {
    prepare_warps(block);
    const bool is_guarded = !at->guard.is_none();
    for (std::uint32_t w = 0; w < block.warp_count; ++w) {
        WarpContext& warp = block.warps[w];
        std::uint32_t mask = FULL_MASK;
        if (is_guarded) {
            const std::uint32_t holds = warp.predicate(at->guard);
            mask = (at->flags & bytecode::GUARD_NEGATED) != 0 ? ~holds : holds;
        }
        if (mask != 0 && at->handler(warp, at, mask) == nullptr) {
            block.end = Lockstep::End::Faulted; // nothing else stops these instructions
            block.are_warps_ready = false;
            return nullptr;
        }
    }
    return at + 1;
}

const Instruction* jump(Lockstep& block, const Instruction* at) {
    const auto* const target = reinterpret_cast<const Instruction*>(
        reinterpret_cast<const std::byte*>(at) + at->immediate);
    if (target > at) {
        return target;
    }
    if (block.budget <= at->tag) {
        block.end = Lockstep::End::Yielded;
        block.next = static_cast<std::uint32_t>(target - block.whole.code);
        return nullptr;
    }
    block.budget -= at->tag;
    return target;
}

const Instruction* branch(Lockstep& block, const Instruction* at) {
    switch (choose(block, at)) {
    case Choice::None:
        return at + 1;
    case Choice::All:
        return jump(block, at);
    default:
        return block.leave();
    }
}

const Instruction* exit_all(Lockstep& block, const Instruction* at) {
    switch (choose(block, at)) {
    case Choice::None:
        return at + 1;
    case Choice::All:
        block.end = Lockstep::End::Finished;
        return nullptr;
    default:
        return block.leave();
    }
}

/// All threads of the block arrive at the barrier together, so nobody waits.
const Instruction* pass_barrier(Lockstep& block, const Instruction* at) {
    typedef std::uint32_t Lane __attribute__((may_alias));
    const BlockContext& context = *block.whole.block;
    const auto uniform = [&](Operand operand) {
        return *reinterpret_cast<const Lane*>(block.whole.at(operand));
    };
    const Operand id = at->src[0];
    const Operand count = at->src[1];
    if (context.pending != 0 || id.bank() == Bank::Registers ||
        uniform(id) >= BlockContext::BARRIER_COUNT) {
        return block.leave();
    }
    const bool is_for_all = count.is_none() || (count.bank() != Bank::Registers &&
                                                uniform(count) == context.thread_count);
    return is_for_all ? at + 1 : block.leave();
}

const Instruction* pass(Lockstep& /*block*/, const Instruction* at) {
    return at + 1;
}

} // namespace

} // namespace cuprum::emulator::lockstep
