// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// From the interpreter into compiled code, and back.

#include "interp/control.hpp"
#include "interp/groups.hpp"
#include "interp/lanes.hpp"
#include "jit/compiled.hpp"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <utility>

namespace cuprum::emulator::jit {

using bytecode::FULL_MASK;
using bytecode::Instruction;
using bytecode::LinearHead;
using bytecode::Operand;
using bytecode::WARP_SIZE;
using bytecode::Width;

namespace {

/// How far around an address a site looks for memory that may be accessed in the same way.
constexpr std::uint64_t MAX_GRANULES_AROUND = 4096;

/// Writes the lanes of a register that only its head describes.
void spread(std::byte* slot, Width width) {
    auto& head = *reinterpret_cast<LinearHead*>(slot - sizeof(LinearHead));
    for (std::uint32_t lane = 0; lane < WARP_SIZE; ++lane) {
        std::uint64_t value = head.base;
        for (std::uint32_t bit = 0; bit < LinearHead::STEP_COUNT; ++bit) {
            value += (lane >> bit & 1) != 0 ? head.steps[bit] : 0;
        }
        if (width == Width::B64) {
            reinterpret_cast<Aliased<std::uint64_t>::Value*>(slot)[lane] = value;
        } else {
            reinterpret_cast<Aliased<std::uint32_t>::Value*>(slot)[lane] =
                static_cast<std::uint32_t>(value);
        }
    }
    head.has_lanes = 1;
}

void spread(const bytecode::Kernel& kernel, std::byte* frame,
            const std::vector<std::uint32_t>& slots) {
    for (const std::uint32_t slot : slots) {
        if (reinterpret_cast<const LinearHead*>(frame + slot - sizeof(LinearHead))->has_lanes !=
            0) {
            continue;
        }
        const auto range =
            std::ranges::find_if(kernel.slot_ranges, [&](const bytecode::SlotRange& each) {
                return slot >= each.begin && slot < each.end;
            });
        spread(frame + slot, range->width);
    }
}

/// A scope in which the processor treats subnormal numbers as zeros or not. Changes nothing if
/// `is_needed` is false, which is cheaper.
class Flushing {
public:
    Flushing([[maybe_unused]] bool is_needed, [[maybe_unused]] bool flushes) {
#if defined(__x86_64__)
        constexpr unsigned flushing = 0x8040; // FTZ, DAZ
        if (is_needed) {
            saved_ = _mm_getcsr();
            _mm_setcsr(flushes ? saved_ | flushing : saved_ & ~flushing);
        }
        is_needed_ = is_needed;
#endif
    }

    ~Flushing() {
#if defined(__x86_64__)
        if (is_needed_) {
            _mm_setcsr(saved_);
        }
#endif
    }

    Flushing(const Flushing&) = delete;
    Flushing& operator=(const Flushing&) = delete;

#if defined(__x86_64__)
private:
    unsigned saved_ = 0;
    bool is_needed_ = false;
#endif
};

void run_gang(const Compiled& compiled, WarpContext& warp, GangCall& call) {
    const Flushing scope(compiled.flushes, true);
    compiled.run(&warp, &call);
}

bool run_instruction(WarpContext* warp, GangCall* call, std::uint32_t pc, std::uint32_t mask) {
    if (mask == 0) {
        return true;
    }
    const Flushing scope(call->flushes != 0, false);
    const Instruction& original = warp->block->kernel->code[pc];
    const Instruction* const at = warp->code + pc;
    const bytecode::Handler handler = original.plain != nullptr ? original.plain : original.handler;
    const std::uint32_t active = std::exchange(warp->active, mask);
    const Instruction* const next = handler(*warp, at, mask);
    warp->active = active;
    return next != nullptr;
}

/// Finds the stretch of memory around an address that may be accessed in the same way.
void look_around(const MemoryMap& map, Site& site, const AccessInfo& use, std::uint64_t address) {
    const std::uint64_t offset = address - map.memory_base;
    if (offset >= map.memory_bytes) {
        return;
    }
    const std::uint8_t wanted = use.is_write != 0 ? WRITE_BIT : READ_BIT;
    const auto may_access = [&](std::uint64_t granule) {
        return (map.granules[granule].load(std::memory_order_relaxed) & wanted) != 0;
    };
    const std::uint64_t here = offset >> map.granule_shift;
    if (!may_access(here)) {
        return;
    }
    const std::uint64_t count = map.memory_bytes >> map.granule_shift;
    std::uint64_t first = here;
    while (first > 0 && here - first < MAX_GRANULES_AROUND && may_access(first - 1)) {
        --first;
    }
    std::uint64_t end = here + 1;
    while (end < count && end - here < MAX_GRANULES_AROUND && may_access(end)) {
        ++end;
    }
    const std::uint64_t bytes = (end - first) << map.granule_shift;
    site.begin = map.memory_base + (first << map.granule_shift);
    site.limit = bytes >= use.span ? ((bytes - use.span) >> use.unit_shift) + 1 : 0;
}

} // namespace

/// Services::run_access.
extern "C" [[gnu::visibility("hidden")]] bool cuprum_run_access(WarpContext* warp, GangCall* call,
                                                                std::uint32_t access,
                                                                std::uint32_t mask,
                                                                std::uint64_t address) {
    if (mask == 0) {
        return true;
    }
    const AccessInfo& about = call->accesses[access];
    if (about.site != NONE) {
        look_around(*warp->block->memory, call->sites[about.site], about, address);
    }
    return run_instruction(warp, call, about.pc, mask);
}

#if defined(__x86_64__)
// Saves all registers that a function may change, vectors and masks included, calls
// cuprum_run_access() and restores them. Needs XSAVE, which comes with AVX.
extern "C" [[gnu::visibility("hidden")]] void cuprum_run_access_preserving();

__asm__(R"(
    .pushsection .text
    .balign 16
    .globl cuprum_run_access_preserving
    .hidden cuprum_run_access_preserving
    .type cuprum_run_access_preserving, @function
cuprum_run_access_preserving:
    pushq %rbp
    movq %rsp, %rbp
    pushq %rcx
    pushq %rdx
    pushq %rsi
    pushq %rdi
    pushq %r8
    pushq %r9
    pushq %r10
    pushq %r11
    subq $4096, %rsp            # the largest area of these components
    andq $-64, %rsp
    xorl %eax, %eax             # the header of the area must be zero
    movq %rax, 512(%rsp)
    movq %rax, 520(%rsp)
    movq %rax, 528(%rsp)
    movq %rax, 536(%rsp)
    movq %rax, 544(%rsp)
    movq %rax, 552(%rsp)
    movq %rax, 560(%rsp)
    movq %rax, 568(%rsp)
    movl %edx, %r9d
    movl $0xe7, %eax            # x87, SSE, AVX, masks and the two parts of AVX-512
    xorl %edx, %edx
    xsave (%rsp)
    movl %r9d, %edx
    call cuprum_run_access
    movzbl %al, %r9d
    movl $0xe7, %eax
    xorl %edx, %edx
    xrstor (%rsp)
    movl %r9d, %eax
    leaq -64(%rbp), %rsp
    popq %r11
    popq %r10
    popq %r9
    popq %r8
    popq %rdi
    popq %rsi
    popq %rdx
    popq %rcx
    popq %rbp
    ret
    .size cuprum_run_access_preserving, . - cuprum_run_access_preserving
    .popsection
)");
constexpr auto RUN_ACCESS_PRESERVING = cuprum_run_access_preserving;
#else
constexpr void (*RUN_ACCESS_PRESERVING)() = nullptr;
#endif

namespace {

constexpr Services SERVICES{.run = run_instruction,
                            .run_access = cuprum_run_access,
                            .run_access_preserving = RUN_ACCESS_PRESERVING};

/// What all gangs of a call of enter() or run_block() have in common.
GangCall call_for(const BlockContext& block, const Compiled& compiled) {
    GangCall call;
    call.flushes = compiled.flushes ? 1 : 0;
    call.services = &SERVICES;
    call.sites = block.sites;
    call.accesses = compiled.accesses.data();
    return call;
}

/// Returns the lanes of a warp's gang.
std::uint32_t gang_mask(std::uint32_t lanes, std::uint32_t first) {
    return (lanes == WARP_SIZE ? FULL_MASK : (1u << lanes) - 1) << first;
}

/// Runs an instruction as the run loop does.
const Instruction* run_original(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const Instruction& original =
        warp.block->kernel->code[static_cast<std::size_t>(at - warp.code)];
    if (!original.guard.is_none() && (original.flags & bytecode::HANDLES_GUARD) == 0) {
        const std::uint32_t holds = warp.predicate(original.guard);
        mask &= (original.flags & bytecode::GUARD_NEGATED) != 0 ? ~holds : holds;
        if (mask == 0) {
            return at + 1;
        }
    }
    return original.handler(warp, at, mask);
}

/// Takes the other runnable groups of a warp into a call, if all of them wait where compiled code
/// that begins at `entry` may pick them up.
bool take_waiting(WarpContext& warp, const Entry& entry, GangCall& call) {
    const std::uint32_t depth = warp.groups[warp.current].depth;
    for (std::uint32_t i = 0; i < warp.group_count; ++i) {
        const Group& group = warp.groups[i];
        if (i == warp.current) {
            continue;
        }
        if (!groups::is_runnable(group)) {
            if (group.state == Stop::Sleep) {
                return false; // it will want its turn
            }
            continue;
        }
        const auto found = std::ranges::find(entry.waiting, group.pc);
        if (group.depth != depth || found == entry.waiting.end()) {
            return false;
        }
        call.waiting[found - entry.waiting.begin()] |= group.mask;
    }
    for (std::uint32_t i = 0; i < warp.group_count;) { // remove what was taken
        const Group& group = warp.groups[i];
        if (i == warp.current || !groups::is_runnable(group)) {
            ++i;
            continue;
        }
        const std::uint32_t last = --warp.group_count;
        warp.groups[i] = warp.groups[last];
        if (warp.current == last) {
            warp.current = i;
        }
    }
    return true;
}

} // namespace

std::unique_ptr<Compiled> make_compiled(const bytecode::Kernel& kernel, Object object,
                                        const Plugin& plugin, std::string& problem) {
    auto compiled = std::make_unique<Compiled>();
    static std::atomic<std::uint64_t> count{0};
    compiled->kernel = &kernel;
    compiled->number = ++count;
    compiled->code = plugin.load(object, problem);
    if (compiled->code == nullptr) {
        return nullptr;
    }
    compiled->run = compiled->code->function();
    compiled->entries = std::move(object.entries);
    compiled->lanes = object.lanes;
    compiled->site_count = object.site_count;
    compiled->accesses = std::move(object.accesses);
    compiled->flushes = object.flushes;
    compiled->instructions = kernel.code;
    compiled->entry_at.assign(kernel.code.size(), 0);
    for (std::size_t e = 0; e < compiled->entries.size(); ++e) {
        const std::uint32_t pc = compiled->entries[e].pc;
        compiled->entry_at[pc] = static_cast<std::uint32_t>(e + 1);
        Instruction& instruction = compiled->instructions[pc];
        instruction.handler = enter;
        instruction.flags |= bytecode::HANDLES_GUARD; // run_original() looks at it
    }
    return compiled;
}

const Instruction* enter(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const BlockContext& block = *warp.block;
    const Compiled& compiled = *block.compiled;
    const auto pc = static_cast<std::uint32_t>(at - warp.code);
    const Entry& entry = compiled.entries[compiled.entry_at[pc] - 1];
    GangCall call = call_for(block, compiled);
    if (block.probe != nullptr || (warp.group_count > 1 && !take_waiting(warp, entry, call))) {
        return run_original(warp, at, mask);
    }
    const bytecode::Kernel& kernel = *block.kernel;
    if (!kernel.linear_slots.empty()) {
        spread(kernel, warp.banks[0],
               warp.group_count == 1 ? entry.linear_slots : kernel.linear_slots);
    }
    call.entry = compiled.entry_at[pc] - 1;
    const std::uint32_t depth = warp.groups[warp.current].depth;
    std::array<Stand, WARP_SIZE + 1> stands;
    std::size_t stand_count = 0;
    const std::uint32_t budget = std::max(1u, warp.budget);
    std::uint32_t budget_left = budget;
    bool is_out_of_budget = false;
    std::uint32_t all_waiting = 0;
    const auto waiting_all = std::to_array(call.waiting);
    for (const std::uint32_t each : waiting_all) {
        all_waiting |= each;
    }
    for (std::uint32_t first = 0; first < WARP_SIZE; first += compiled.lanes) {
        const std::uint32_t gang = gang_mask(compiled.lanes, first);
        if (((mask | all_waiting) & gang) == 0) {
            continue;
        }
        call.first_lane = first;
        call.mask = mask & gang;
        std::ranges::transform(waiting_all, call.waiting,
                               [&](std::uint32_t each) { return each & gang; });
        if (call.mask == 0) { // all lanes of this gang wait
            for (std::size_t i = 0; i < entry.waiting.size(); ++i) {
                if (call.waiting[i] != 0) {
                    stands[stand_count++] = {entry.waiting[i], call.waiting[i]};
                }
            }
            continue;
        }
        call.budget = budget;
        call.stand_count = 0;
        call.is_out_of_budget = 0;
        run_gang(compiled, warp, call);
        if (call.stand_count == 0) {
            return nullptr; // warp.stop is Fault
        }
        budget_left = std::min(budget_left, call.budget);
        is_out_of_budget |= call.is_out_of_budget != 0;
        for (std::uint32_t i = 0; i < call.stand_count; ++i) {
            const auto end = stands.begin() + static_cast<std::ptrdiff_t>(stand_count);
            const auto same = std::ranges::find(stands.begin(), end, call.stands[i].pc, &Stand::pc);
            if (same != end) {
                same->mask |= call.stands[i].mask;
            } else {
                stands[stand_count++] = call.stands[i];
            }
        }
    }
    warp.budget = budget_left;
    // The group that runs first goes on; the others wait.
    const auto end = stands.begin() + static_cast<std::ptrdiff_t>(stand_count);
    std::ranges::sort(stands.begin(), end, {}, &Stand::pc);
    warp.active = stands[0].mask;
    warp.groups[warp.current].mask = warp.active;
    for (std::size_t i = 1; i < stand_count; ++i) {
        groups::add(warp, stands[i].mask, stands[i].pc, depth);
    }
    const Instruction* const next = warp.code + stands[0].pc;
    if (is_out_of_budget || warp.budget == 0) {
        if (stand_count > 1) {
            warp.patience -= static_cast<std::int32_t>(budget);
            if (warp.patience <= 0) {
                warp.patience = groups::PATIENCE;
                return yield_group(warp, next);
            }
        }
        warp.budget = 0;
        (void)yield_group(warp, next);
        warp.groups[warp.current].state = Stop::Running;
        return nullptr;
    }
    if (warp.group_count > 1) {
        groups::look_ahead(warp, next);
    }
    if (compiled.entry_at[stands[0].pc] != 0 && stands[0].pc == pc) {
        return run_original(warp, next, warp.active); // it could not begin: make progress
    }
    return next;
}

BlockEnd run_block(BlockContext& block, std::uint32_t budget) {
    const Compiled& compiled = *block.compiled;
    const bytecode::Kernel& kernel = *block.kernel;
    GangCall call = call_for(block, compiled);
    std::uint32_t pc = 0;
    auto trust = GangCall::Trust::Full;
    for (std::uint32_t w = 0; w < block.warp_count; ++w) {
        block.warps[w].code = compiled.instructions.data();
    }
    for (;;) {
        const std::uint32_t number = compiled.entry_at[pc];
        if (number == 0) {
            break;
        }
        call.entry = number - 1;
        std::uint32_t next = NONE; // where all gangs so far have stopped
        auto next_trust = GangCall::Trust::Full;
        for (std::uint32_t w = 0; w < block.warp_count; ++w) {
            WarpContext& warp = block.warps[w];
            // NOTE: no linear register needs its lanes here: only the interpreter leaves them out.
            bool is_alike = true;
            std::array<Stand, WARP_SIZE + 1> stands; // of gangs before, and of this one
            std::size_t stand_count = 0;
            for (std::uint32_t first = 0; first < WARP_SIZE; first += compiled.lanes) {
                const std::uint32_t mask = warp.present & gang_mask(compiled.lanes, first);
                if (mask == 0) {
                    break;
                }
                call.first_lane = first;
                call.mask = mask;
                call.budget = budget;
                call.trust = trust;
                call.stand_count = 0;
                call.is_out_of_budget = 0;
                call.has_stopped_full = 0;
                run_gang(compiled, warp, call);
                if (call.stand_count == 0) {
                    return BlockEnd::Faulted;
                }
                if (call.has_stopped_full == 0) {
                    next_trust = GangCall::Trust::Partial;
                }
                const Stand& stand = call.stands[0];
                next = next == NONE ? stand.pc : next;
                is_alike &= call.stand_count == 1 && stand.pc == next && call.is_out_of_budget == 0;
                for (std::uint32_t i = 0; i < call.stand_count; ++i) {
                    stands[stand_count++] = call.stands[i];
                }
            }
            if (is_alike) [[likely]] {
                continue;
            }
            // The warps part: those before stand at `next`, those behind have not begun.
            for (std::uint32_t other = 0; other < block.warp_count; ++other) {
                if (other != w) {
                    block.warps[other].groups[0].pc = other < w ? next : pc;
                    continue;
                }
                warp.group_count = 0;
                for (std::size_t i = 0; i < stand_count; ++i) {
                    const auto begin = warp.groups.begin();
                    const auto end = begin + warp.group_count;
                    const auto same = std::ranges::find(begin, end, stands[i].pc, &Group::pc);
                    if (same != end) {
                        same->mask |= stands[i].mask;
                    } else {
                        warp.groups[warp.group_count++] =
                            Group{.pc = stands[i].pc, .mask = stands[i].mask};
                    }
                }
            }
            return BlockEnd::Alone;
        }
        const Instruction& at = kernel.code[next];
        if (at.form.is(FixedOp::Exit) && at.guard.is_none()) {
            return BlockEnd::Finished;
        }
        pc = next;
        trust = next_trust;
        const bool is_barrier = at.form.is(FixedOp::BarrierSync) && at.guard.is_none() &&
                                (at.src_count < 2 || at.src[1].is_none());
        if (!is_barrier) {
            break;
        }
        ++pc; // all threads of the block have arrived
    }
    for (std::uint32_t w = 0; w < block.warp_count; ++w) {
        block.warps[w].groups[0].pc = pc;
    }
    return BlockEnd::Alone;
}

} // namespace cuprum::emulator::jit
