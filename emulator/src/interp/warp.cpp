// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The run loop and the choice of the next group.
//
// The group with the deepest call runs first; among equals, the one with the lowest program
// counter. A group runs until it reaches an instruction where another group stands
// (`WarpContext::limit`). There they merge, or the group that is further behind runs first. With
// one group, the limit is never reached and costs one comparison.
//
// A group that has jumped back often enough (`patience`) while others could run is marked Yield. It
// runs again after every other group has had its turn.

#include "interp/warp.hpp"

#include "interp/clock.hpp"
#include "interp/groups.hpp"
#include "interp/probe.hpp"
#include "interp/random.hpp"

#include <algorithm>

namespace cuprum::emulator {

using bytecode::Instruction;
using groups::is_runnable;

namespace {

/// How many instructions, on average, a group runs in a random schedule while another is behind.
constexpr std::uint32_t STEPS_AHEAD = 4;

/// Every address of an instruction is below this.
const Instruction* const NO_LIMIT = reinterpret_cast<const Instruction*>(~std::uintptr_t{0});

void remove(WarpContext& warp, std::uint32_t index);
void release_after_exit(BlockContext& block);
bool choose_group(WarpContext& warp);
std::uint32_t any_runnable_group(WarpContext& warp);
const Instruction* meet(WarpContext& warp, const Instruction* at);
void run_group(WarpContext& warp);
void run_group_probed(WarpContext& warp);
bool is_any_running(const WarpContext& warp);
Stop waiting_state(const WarpContext& warp);

} // namespace

void start_warp(WarpContext& warp, std::uint32_t present) {
    warp.present = present;
    warp.exited = 0;
    warp.patience = groups::PATIENCE;
    warp.stop = Stop::Running;
    warp.ready_frames = 1;
    warp.cluster_arrived = 0;
    warp.cluster_parity = 0;
    warp.current = 0;
    warp.group_count = 1;
    warp.groups[0] = Group{.pc = 0, .mask = present};
}

Stop run_warp(WarpContext& warp) {
    const BlockContext& block = *warp.block;
    warp.code = block.compiled_code != nullptr && block.probe == nullptr
                    ? block.compiled_code
                    : block.code->current().instructions;
    while (choose_group(warp)) {
        if (warp.block->probe == nullptr) [[likely]] {
            run_group(warp);
        } else {
            run_group_probed(warp);
        }
        switch (warp.stop) {
        case Stop::Fault:
            return Stop::Fault;
        case Stop::Yield:
            if (warp.budget == 0 || !is_any_running(warp)) {
                return Stop::Yield;
            }
            break;
        case Stop::Exited:
            if (warp.group_count == 0) {
                return Stop::Exited;
            }
            break;
        default:
            break;
        }
    }
    return waiting_state(warp);
}

std::uint64_t next_wake(const WarpContext& warp) {
    std::uint64_t first = ~std::uint64_t{0};
    for (std::uint32_t i = 0; i < warp.group_count; ++i) {
        if (warp.groups[i].state == Stop::Sleep) {
            first = std::min(first, warp.groups[i].wake_at);
        }
    }
    return first;
}

namespace groups {

void look_ahead(WarpContext& warp, const Instruction* at) {
    const std::uint32_t pc = index_of(warp, at);
    const std::uint32_t depth = warp.groups[warp.current].depth;
    const Instruction* limit = NO_LIMIT;
    for (std::uint32_t i = 0; i < warp.group_count; ++i) {
        const Group& group = warp.groups[i];
        if (i == warp.current || !is_runnable(group)) {
            continue;
        }
        if (group.depth == depth && group.pc >= pc) {
            limit = std::min(limit, warp.code + group.pc);
        } else if (group.state == Stop::Running && goes_before(group, depth, pc)) {
            limit = warp.code; // a group is behind: stop at the next instruction
        }
    }
    warp.limit = limit;
}

void add(WarpContext& warp, std::uint32_t mask, std::uint32_t pc, std::uint32_t depth) {
    for (std::uint32_t i = 0; i < warp.group_count; ++i) {
        Group& group = warp.groups[i];
        if (i != warp.current && group.pc == pc && group.depth == depth && is_runnable(group)) {
            group.mask |= mask;
            group.state = Stop::Running;
            return;
        }
    }
    warp.groups[warp.group_count++] = Group{.pc = pc, .mask = mask, .depth = depth};
}

Group& park(WarpContext& warp, std::uint32_t mask, std::uint32_t pc, Stop state) {
    warp.active &= ~mask;
    Group& running = warp.groups[warp.current];
    running.mask = warp.active;
    if (warp.active == 0) { // the whole group becomes the waiting one
        running = Group{.pc = pc, .mask = mask, .depth = running.depth, .state = state};
        warp.stop = state;
        return running;
    }
    Group& group = warp.groups[warp.group_count++];
    group = Group{.pc = pc, .mask = mask, .depth = running.depth, .state = state};
    return group;
}

void release_rendezvous(WarpContext& warp) {
    const std::uint32_t alive = live(warp);
    for (std::uint32_t i = 0; i < warp.group_count; ++i) {
        const Group& first = warp.groups[i];
        if (first.state != Stop::Rendezvous) {
            continue;
        }
        const std::uint32_t wanted = first.wait_mask;
        std::uint32_t here = 0;
        for (std::uint32_t k = 0; k < warp.group_count; ++k) {
            const Group& group = warp.groups[k];
            if (group.state == Stop::Rendezvous && group.wait_mask == wanted) {
                here |= group.mask;
            }
        }
        if ((wanted & alive & ~here) != 0) {
            continue;
        }
        for (std::uint32_t k = 0; k < warp.group_count; ++k) {
            Group& group = warp.groups[k];
            if (group.state == Stop::Rendezvous && group.wait_mask == wanted) {
                group.state = Stop::Running;
            }
        }
    }
}

bool retire(WarpContext& warp, std::uint32_t mask) {
    warp.exited |= mask;
    warp.active &= ~mask;
    BlockContext& block = *warp.block;
    block.live_threads -= mask == bytecode::FULL_MASK
                              ? bytecode::WARP_SIZE // the common case; popcount may be a call
                              : static_cast<std::uint32_t>(std::popcount(mask));
    if (warp.active == 0 && warp.group_count == 1) [[likely]] { // nobody is left to wait
        warp.group_count = 0;
        warp.stop = Stop::Exited;
        release_after_exit(block);
        return false;
    }
    warp.groups[warp.current].mask = warp.active;
    const bool is_left = warp.active != 0;
    if (!is_left) {
        remove(warp, warp.current);
        warp.stop = Stop::Exited;
    }
    if (warp.group_count > 1 || !is_left) {
        release_rendezvous(warp);
    }
    release_after_exit(block);
    return is_left;
}

} // namespace groups

// ---- helpers -----------------------------------------------------------------------------------

namespace {

void remove(WarpContext& warp, std::uint32_t index) {
    const std::uint32_t last = --warp.group_count;
    warp.groups[index] = warp.groups[last];
    if (warp.current == last) {
        warp.current = index;
    }
}

/// Resumes barriers that wait for all threads if no other threads are left.
void release_after_exit(BlockContext& block) {
    if (block.pending != 0) {
        groups::release_barriers_after_exit(block);
    }
    if (block.cluster->waiting != 0) {
        groups::release_cluster_after_exit(*block.cluster);
    }
}

/// Picks the runnable group that runs before all others.
bool choose_group(WarpContext& warp) {
    if (warp.group_count == 1 && warp.groups[0].state == Stop::Running) [[likely]] {
        warp.current = 0;
        warp.active = warp.groups[0].mask;
        warp.banks[0] = warp.frame(warp.groups[0].depth);
        warp.limit = NO_LIMIT;
        return true;
    }
    std::uint32_t best = warp.group_count;
    for (int round = 0; round < 2 && best == warp.group_count; ++round) {
        for (std::uint32_t i = 0; i < warp.group_count; ++i) {
            Group& group = warp.groups[i];
            if (round == 1 && group.state == Stop::Yield) {
                group.state = Stop::Running; // every group had its turn: start a new round
            }
            if (round == 0 && group.state == Stop::Sleep && now_ns() >= group.wake_at)
                [[unlikely]] {
                group.state = Stop::Running;
            }
            if (group.state == Stop::Running &&
                (best == warp.group_count ||
                 groups::goes_before(group, warp.groups[best].depth, warp.groups[best].pc))) {
                best = i;
            }
        }
    }
    if (best == warp.group_count) {
        return false;
    }
    if (warp.block->random != 0 && warp.group_count > 1) {
        best = any_runnable_group(warp);
    }
    warp.current = best;
    warp.active = warp.groups[best].mask;
    warp.banks[0] = warp.frame(warp.groups[best].depth);
    const Instruction* at = warp.code + warp.groups[best].pc;
    warp.limit = NO_LIMIT;
    if (warp.group_count > 1) {
        groups::look_ahead(warp, at); // the run loop merges the groups at `at`
    }
    return true;
}

/// Picks one of the groups that may run, at random.
std::uint32_t any_runnable_group(WarpContext& warp) {
    std::uint32_t candidates = 0;
    for (std::uint32_t i = 0; i < warp.group_count; ++i) {
        candidates |= static_cast<std::uint32_t>(warp.groups[i].state == Stop::Running) << i;
    }
    const auto count = static_cast<std::uint32_t>(std::popcount(candidates));
    for (std::uint32_t skip = random_below(warp.block->random, count); skip != 0; --skip) {
        candidates &= candidates - 1;
    }
    return static_cast<std::uint32_t>(std::countr_zero(candidates));
}

/// Merges the groups at `at`, then decides whether this group continues. Returns nullptr if a group
/// behind it must run first.
const Instruction* meet(WarpContext& warp, const Instruction* at) {
    const std::uint32_t pc = groups::index_of(warp, at);
    const std::uint32_t depth = warp.groups[warp.current].depth;
    bool is_behind = false;
    for (std::uint32_t i = 0; i < warp.group_count;) {
        const Group& group = warp.groups[i];
        if (i != warp.current && is_runnable(group)) {
            if (group.pc == pc && group.depth == depth) {
                warp.active |= group.mask;
                warp.groups[warp.current].mask = warp.active;
                remove(warp, i);
                continue;
            }
            is_behind |= group.state == Stop::Running && groups::goes_before(group, depth, pc);
        }
        ++i;
    }
    if (is_behind && warp.block->random != 0) {
        // The group may continue anyway, at random. If it does not, it may be chosen again at once.
        is_behind = random_below(warp.block->random, STEPS_AHEAD) == 0;
    }
    if (is_behind) {
        warp.groups[warp.current].pc = pc;
        warp.stop = Stop::Diverged;
        return nullptr;
    }
    groups::look_ahead(warp, at);
    return at;
}

void run_group(WarpContext& warp) {
    const Instruction* at = warp.code + warp.groups[warp.current].pc;
    do {
        if (at >= warp.limit) [[unlikely]] {
            at = meet(warp, at);
            if (at == nullptr) {
                return;
            }
        }
        std::uint32_t mask = warp.active;
        if (!at->guard.is_none() && (at->flags & bytecode::HANDLES_GUARD) == 0) {
            const std::uint32_t holds = warp.predicate(at->guard);
            mask &= (at->flags & bytecode::GUARD_NEGATED) != 0 ? ~holds : holds;
            if (mask == 0) {
                ++at;
                continue;
            }
        }
        at = at->handler(warp, at, mask);
    } while (at != nullptr);
}

/// As run_group(), but shows every instruction to the block's probe.
void run_group_probed(WarpContext& warp) {
    const Instruction* at = warp.code + warp.groups[warp.current].pc;
    do {
        if (at >= warp.limit) {
            at = meet(warp, at);
            if (at == nullptr) {
                return;
            }
        }
        std::uint32_t mask = warp.active;
        if (!at->guard.is_none() && (at->flags & bytecode::HANDLES_GUARD) == 0) {
            const std::uint32_t holds = warp.predicate(at->guard);
            mask &= (at->flags & bytecode::GUARD_NEGATED) != 0 ? ~holds : holds;
            if (mask == 0) {
                warp.block->probe->observe(warp, at, 0);
                ++at;
                continue;
            }
        }
        const Instruction* const done = at;
        // One instruction at a time: the probe follows values from one to the next.
        const bool is_pair = done->form.variant == bytecode::Variant::FusedPair;
        at = (is_pair ? done->plain : done->handler)(warp, done, mask);
        if (at != nullptr || warp.stop != Stop::Fault) {
            warp.block->probe->observe(warp, done, mask);
        }
    } while (at != nullptr);
}

bool is_any_running(const WarpContext& warp) {
    return std::any_of(warp.groups.begin(), warp.groups.begin() + warp.group_count,
                       [](const Group& group) { return group.state == Stop::Running; });
}

/// Returns why a warp without a runnable group waits.
Stop waiting_state(const WarpContext& warp) {
    for (std::uint32_t i = 0; i < warp.group_count; ++i) {
        if (warp.groups[i].state == Stop::Sleep) {
            return Stop::Sleep; // it will wake up by itself, whatever the others wait for
        }
    }
    for (std::uint32_t i = 0; i < warp.group_count; ++i) {
        const Stop state = warp.groups[i].state;
        if (state == Stop::Barrier || state == Stop::Cluster || state == Stop::Mbarrier ||
            state == Stop::Warpgroup) {
            return state;
        }
    }
    return warp.group_count == 0 ? Stop::Exited : Stop::Rendezvous;
}

} // namespace

} // namespace cuprum::emulator
