// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "interp/control.hpp"

#include "interp/clock.hpp"
#include "interp/groups.hpp"
#include "interp/lanes.hpp"
#include "interp/probe.hpp"
#include "interp/random.hpp"
#include "interp/warp.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>

namespace cuprum::emulator::control {

using bytecode::Instruction;
using bytecode::WARP_SIZE;

namespace {

const Instruction* jump_target(const Instruction* at);
const Instruction* jump(WarpContext& warp, const Instruction* at, const Instruction* target);
const Instruction* split(WarpContext& warp, const Instruction* at, std::uint32_t taken,
                         const Instruction* target);
bool is_met_elsewhere(WarpContext& warp, const Instruction* at);

template <typename T>
[[nodiscard]] typename Aliased<T>::Value* lanes(const WarpContext& warp,
                                                bytecode::Operand operand) {
    return reinterpret_cast<typename Aliased<T>::Value*>(warp.at(operand));
}

template <typename T>
const Instruction* fill(WarpContext& warp, const Instruction* at, std::uint32_t mask, T value) {
    auto* out = lanes<T>(warp, at->dst[0]);
    for_each_lane(mask, [&](std::uint32_t lane) { out[lane] = value; });
    return at + 1;
}

} // namespace

void finish_branch(Instruction& branch, std::uint32_t at, std::uint32_t target,
                   std::uint16_t back_edge_cost) {
    branch.target = target;
    branch.tag = back_edge_cost;
    // A distance in bytes saves the handler a multiplication.
    branch.immediate = (static_cast<std::int64_t>(target) - static_cast<std::int64_t>(at)) *
                       static_cast<std::int64_t>(sizeof(Instruction));
}

const Instruction* branch(WarpContext& warp, const Instruction* at, std::uint32_t /*mask*/) {
    return jump(warp, at, jump_target(at));
}

const Instruction* branch_guarded(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const std::uint32_t holds = warp.predicate(at->guard);
    const std::uint32_t taken =
        mask & ((at->flags & bytecode::GUARD_NEGATED) != 0 ? ~holds : holds);
    if (taken == 0) {
        return at + 1;
    }
    if (taken == mask) {
        return jump(warp, at, jump_target(at));
    }
    return split(warp, at, taken, jump_target(at));
}

const Instruction* branch_to_wait(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    std::uint32_t taken = mask;
    if (!at->guard.is_none()) {
        const std::uint32_t holds = warp.predicate(at->guard);
        taken &= (at->flags & bytecode::GUARD_NEGATED) != 0 ? ~holds : holds;
    }
    ClusterContext& cluster = *warp.block->cluster;
    bool has_changed = false;
    for_each_lane(taken, [&](std::uint32_t lane) {
        has_changed |= warp.tested_at[lane] != cluster.mbarrier_changes;
    });
    if (taken == 0 || has_changed) {
        return at->guard.is_none() ? branch(warp, at, mask) : branch_guarded(warp, at, mask);
    }
    // Another round of the loop would end here again, because nothing that it depends on has
    // changed. So the lanes block, which also makes a deadlock visible.
    warp.budget = warp.budget > at->tag ? warp.budget - at->tag : 0;
    ++cluster.mbarrier_waiters;
    groups::park(warp, taken, groups::index_of(warp, jump_target(at)), Stop::Mbarrier);
    if (warp.active == 0) {
        return nullptr;
    }
    groups::look_ahead(warp, at + 1);
    return at + 1;
}

const Instruction* branch_indexed(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const auto& targets = warp.block->kernel->branch_targets;
    const auto* index = lanes<std::uint32_t>(warp, at->src[0]);
    // Lanes outside the guard continue after the branch; the others split by target.
    std::uint32_t waiting = mask;
    if (mask != warp.active) {
        groups::add(warp, warp.active & ~mask, groups::index_of(warp, at) + 1);
        warp.active = mask;
    }
    const Instruction* first_target = nullptr;
    std::uint32_t first_mask = 0;
    while (waiting != 0) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(waiting));
        const std::uint32_t choice = index[lane];
        if (choice >= at->tag) {
            return raise_fault(warp, at, FaultKind::IllegalInstruction, lane,
                               "branch index " + std::to_string(choice) +
                                   " is outside its list of " + std::to_string(at->tag) +
                                   " targets");
        }
        std::uint32_t same = 0;
        for_each_lane(waiting, [&](std::uint32_t other) {
            same |= static_cast<std::uint32_t>(index[other] == choice) << other;
        });
        const std::uint32_t target = targets[at->extra + choice];
        if (first_target == nullptr) {
            first_target = warp.code + target;
            first_mask = same;
        } else {
            groups::add(warp, same, target);
        }
        waiting &= ~same;
    }
    warp.active = first_mask;
    warp.groups[warp.current].mask = first_mask;
    if (warp.group_count > 1) {
        groups::look_ahead(warp, first_target);
    }
    if (first_target > at) {
        return first_target;
    }
    warp.budget = warp.budget > LOOP_COST ? warp.budget - LOOP_COST : 0;
    return warp.budget > 0 ? first_target : yield_group(warp, first_target);
}

const Instruction* exit_lanes(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    if (!groups::retire(warp, mask)) {
        return nullptr;
    }
    if (warp.group_count > 1) {
        groups::look_ahead(warp, at + 1);
    }
    return at + 1;
}

const Instruction* trap(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    return raise_fault(warp, at, FaultKind::Trap,
                       static_cast<std::uint32_t>(std::countr_zero(mask)),
                       "the kernel executed a trap instruction");
}

const Instruction* rendezvous(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const std::uint32_t alive = groups::live(warp);
    if (mask == alive) [[likely]] {
        return at + 1;
    }
    const auto* members = lanes<std::uint32_t>(warp, at->src[0]);
    std::uint32_t wanted = 0;
    for_each_lane(mask, [&](std::uint32_t lane) { wanted |= members[lane]; });
    if ((wanted & alive & ~mask) == 0) {
        return at + 1;
    }
    // Some lanes are missing. Lanes whose own mask is complete continue, together with those
    // outside the guard. The others wait, in one group per mask.
    const std::uint32_t pc = groups::index_of(warp, at);
    std::uint32_t left = mask;
    while (left != 0) {
        const std::uint32_t member_mask =
            members[static_cast<std::uint32_t>(std::countr_zero(left))];
        std::uint32_t same = 0;
        for_each_lane(left, [&](std::uint32_t lane) {
            same |= static_cast<std::uint32_t>(members[lane] == member_mask) << lane;
        });
        left &= ~same;
        if ((member_mask & alive & ~mask) != 0) {
            groups::park(warp, same, pc + 1, Stop::Rendezvous).wait_mask = member_mask;
        }
    }
    if (is_met_elsewhere(warp, at)) [[unlikely]] {
        return nullptr;
    }
    groups::release_rendezvous(warp);
    if (warp.active == 0) {
        return nullptr; // in any case, the run loop chooses the next group
    }
    groups::look_ahead(warp, at + 1);
    return at + 1;
}

const Instruction* sleep(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const auto* durations = lanes<std::uint32_t>(warp, at->src[0]);
    std::uint32_t longest = 0;
    for_each_lane(mask, [&](std::uint32_t lane) { longest = std::max(longest, durations[lane]); });
    if (longest == 0) {
        return yield_group(warp, at + 1);
    }
    groups::park(warp, mask, groups::index_of(warp, at) + 1, Stop::Sleep).wake_at =
        now_ns() + std::min(longest, MAX_SLEEP_NS);
    if (warp.active == 0) {
        return nullptr;
    }
    groups::look_ahead(warp, at + 1);
    return at + 1;
}

std::uint64_t clock_count(const WarpContext& warp) {
    return warp.block->probe == nullptr ? now_ns() : warp.block->probe->clock();
}

std::uint64_t timer_count(const WarpContext& warp) {
    if (warp.block->probe != nullptr) {
        return warp.block->probe->timer();
    }
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                          std::chrono::system_clock::now().time_since_epoch())
                                          .count());
}

const Instruction* read_clock32(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    return fill(warp, at, mask, static_cast<std::uint32_t>(clock_count(warp) >> at->immediate));
}

const Instruction* read_clock64(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    return fill(warp, at, mask, clock_count(warp) >> at->immediate);
}

const Instruction* read_timer32(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    return fill(warp, at, mask, static_cast<std::uint32_t>(timer_count(warp) >> at->immediate));
}

const Instruction* read_timer64(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    return fill(warp, at, mask, timer_count(warp) >> at->immediate);
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

const Instruction* jump_target(const Instruction* at) {
    return reinterpret_cast<const Instruction*>(reinterpret_cast<const std::byte*>(at) +
                                                at->immediate);
}

/// Raises a fault and returns true if lanes that arrive at a rendezvous and lanes at another
/// instruction wait for each other. The data they would exchange is undefined on a GPU.
bool is_met_elsewhere(WarpContext& warp, const Instruction* at) {
    const std::uint32_t pc = groups::index_of(warp, at) + 1;
    const auto ptx_line = [&lines = warp.block->kernel->lines](const Instruction& instruction) {
        return instruction.line < lines.size() ? lines[instruction.line].ptx_line : 0;
    };
    for (std::uint32_t i = 0; i < warp.group_count; ++i) {
        const Group& here = warp.groups[i];
        if (here.state != Stop::Rendezvous || here.pc != pc) {
            continue;
        }
        for (std::uint32_t k = 0; k < warp.group_count; ++k) {
            const Group& there = warp.groups[k];
            if (there.state != Stop::Rendezvous || there.wait_mask != here.wait_mask) {
                continue;
            }
            const Instruction& other = warp.code[there.pc - 1];
            // One line may be in several places if its function was inlined.
            if (ptx_line(other) == ptx_line(*at) || (other.tag & at->tag & MEETS_OTHERS) != 0) {
                continue;
            }
            (void)raise_fault(warp, at, FaultKind::DivergentBarrier,
                              static_cast<std::uint32_t>(std::countr_zero(here.mask)),
                              "lanes of a warp meet with the same member mask at different "
                              "instructions; " +
                                  std::to_string(std::popcount(there.mask)) + " of them wait" +
                                  describe_place(*warp.block->kernel, other) + "\n  and others");
            return true;
        }
    }
    return false;
}

/// Moves the whole running group. A jump back uses up budget and may make the group yield.
const Instruction* jump(WarpContext& warp, const Instruction* at, const Instruction* target) {
    if (target > at) {
        return target;
    }
    const std::uint32_t cost = at->tag;
    warp.budget = warp.budget > cost ? warp.budget - cost : 0;
    if (warp.group_count > 1) [[unlikely]] {
        warp.patience -= static_cast<std::int32_t>(cost);
        if (warp.patience <= 0) {
            warp.patience = groups::PATIENCE;
            return yield_group(warp, target);
        }
        groups::look_ahead(warp, target);
    }
    if (warp.budget == 0) [[unlikely]] {
        (void)yield_group(warp, target);
        // Only the warp yields. Among its groups this one stays first, so that lanes that have left
        // a long loop wait for it at the end.
        warp.groups[warp.current].state = Stop::Running;
        return nullptr;
    }
    return target;
}

/// Splits the lanes that take a branch from the others. The group with the lower address runs
/// first.
const Instruction* split(WarpContext& warp, const Instruction* at, std::uint32_t taken,
                         const Instruction* target) {
    const Instruction* next = at + 1;
    const std::uint32_t rest = warp.active & ~taken;
    const bool is_back = target <= at;
    const std::uint32_t ahead = is_back ? rest : taken;
    const Instruction* ahead_at = is_back ? next : target;
    warp.active &= ~ahead;
    warp.groups[warp.current].mask = warp.active;
    groups::add(warp, ahead, groups::index_of(warp, ahead_at));
    if (warp.block->random != 0 && random_below(warp.block->random, 2) == 0) [[unlikely]] {
        // In a random schedule, the run loop chooses the next group.
        warp.groups[warp.current].pc = groups::index_of(warp, is_back ? target : next);
        warp.stop = Stop::Diverged;
        return nullptr;
    }
    if (is_back) {
        return jump(warp, at, target);
    }
    groups::look_ahead(warp, next);
    return next;
}

} // namespace

} // namespace cuprum::emulator::control
