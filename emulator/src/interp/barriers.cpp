// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The sixteen barriers of a block. They count threads one by one, so diverged lanes may arrive from
// different places. A barrier without a count expects every thread that has not exited.

#include "interp/control.hpp"
#include "interp/groups.hpp"
#include "interp/warp.hpp"

#include <bit>
#include <string>

namespace cuprum::emulator {

using bytecode::Instruction;

namespace {

/// The parameters of a barrier instruction, read from its operands.
struct Request {
    Barrier* barrier = nullptr; // nullptr after a fault
    std::uint32_t id = 0;
    std::uint32_t expected = 0;
};

typedef std::uint32_t Lane32 __attribute__((may_alias));

Request read_request(WarpContext& warp, const Instruction* at, std::uint32_t mask);
std::uint32_t threads_in(const WarpContext& warp, const Request& request, std::uint32_t mask);
bool is_complete(const BlockContext& block, const Barrier& barrier);
bool leaves_some_out(const BlockContext& block, std::uint32_t expected);
void write_result(WarpContext& warp, const Instruction& instruction, const Barrier& barrier,
                  std::uint32_t mask, std::uint32_t depth);
void release(BlockContext& block, std::uint32_t id);
const Instruction* wait_here(WarpContext& warp, const Instruction* at, std::uint32_t mask,
                             const Request& request);
void gather(WarpContext& warp, const Instruction* at, std::uint32_t mask, Barrier& barrier);
bool is_divergent(WarpContext& warp, const Instruction* at, std::uint32_t mask);

} // namespace

namespace control {

const Instruction* barrier_sync(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const Request request = read_request(warp, at, mask);
    return request.barrier == nullptr || is_divergent(warp, at, mask)
               ? nullptr
               : wait_here(warp, at, mask, request);
}

const Instruction* barrier_arrive(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const Request request = read_request(warp, at, mask);
    if (request.barrier == nullptr) {
        return nullptr;
    }
    BlockContext& block = *warp.block;
    request.barrier->arrived += threads_in(warp, request, mask);
    block.pending |= 1u << request.id;
    const bool is_observed = block.observer != nullptr && leaves_some_out(block, request.expected);
    if (is_observed) [[unlikely]] {
        block.observer->arrived(warp, mask);
    }
    if (is_complete(block, *request.barrier)) {
        release(block, request.id);
        groups::look_ahead(warp, at + 1);
    }
    return at + 1;
}

const Instruction* barrier_reduce(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const Request request = read_request(warp, at, mask);
    if (request.barrier == nullptr || is_divergent(warp, at, mask)) {
        return nullptr;
    }
    gather(warp, at, mask, *request.barrier);
    return wait_here(warp, at, mask, request);
}

} // namespace control

void groups::release_barriers_after_exit(BlockContext& block) {
    for (std::uint32_t left = block.pending; left != 0; left &= left - 1) {
        const auto id = static_cast<std::uint32_t>(std::countr_zero(left));
        const Barrier& barrier = block.barriers[id];
        if (barrier.expected == 0 && block.live_threads != 0 && is_complete(block, barrier)) {
            release(block, id);
        }
    }
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

Request read_request(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(mask));
    const auto* ids = reinterpret_cast<const Lane32*>(warp.at(at->src[0]));
    Request request;
    request.id = ids[lane];
    if (!at->src[1].is_none()) {
        request.expected = reinterpret_cast<const Lane32*>(warp.at(at->src[1]))[lane];
    }
    if (at->src[0].bank() == bytecode::Bank::Registers) {
        for (std::uint32_t left = mask; left != 0; left &= left - 1) {
            const auto other = static_cast<std::uint32_t>(std::countr_zero(left));
            if (ids[other] != request.id) {
                (void)raise_fault(warp, at, FaultKind::DivergentBarrier, other,
                                  "lanes that arrive together name different barriers, " +
                                      std::to_string(request.id) + " and " +
                                      std::to_string(ids[other]));
                return request;
            }
        }
    }
    if (request.id >= BlockContext::BARRIER_COUNT) {
        (void)raise_fault(warp, at, FaultKind::IllegalInstruction, lane,
                          "barrier " + std::to_string(request.id) +
                              " does not exist: a block has barriers 0 to 15");
        return request;
    }
    Barrier& barrier = warp.block->barriers[request.id];
    if (barrier.arrived != 0 && barrier.expected != request.expected) {
        (void)raise_fault(warp, at, FaultKind::DivergentBarrier, lane,
                          "barrier " + std::to_string(request.id) + " is asked to wait for " +
                              std::to_string(request.expected) +
                              " threads (0: all) while others wait for " +
                              std::to_string(barrier.expected));
        return request;
    }
    barrier.expected = request.expected;
    request.barrier = &barrier;
    return request;
}

/// Returns how many threads the lanes in `mask` count as.
std::uint32_t threads_in(const WarpContext& warp, const Request& request, std::uint32_t mask) {
    // An explicit count is a multiple of the warp size. So a whole warp counts as 32 threads, even
    // if it is a partial last warp or some of its lanes have exited.
    if (request.expected != 0 && mask == groups::live(warp)) {
        return bytecode::WARP_SIZE;
    }
    return static_cast<std::uint32_t>(std::popcount(mask));
}

bool is_complete(const BlockContext& block, const Barrier& barrier) {
    return barrier.arrived >= (barrier.expected != 0 ? barrier.expected : block.live_threads);
}

/// Returns whether a barrier for `expected` threads excludes part of the block.
bool leaves_some_out(const BlockContext& block, std::uint32_t expected) {
    return expected != 0 && expected < block.thread_count;
}

/// Writes the result of a bar.red for lanes at a call depth. Does nothing for the other barrier
/// instructions.
void write_result(WarpContext& warp, const Instruction& instruction, const Barrier& barrier,
                  std::uint32_t mask, std::uint32_t depth) {
    if (instruction.dst_count == 0 || instruction.dst[0].is_none()) {
        return;
    }
    auto* out = reinterpret_cast<Lane32*>(groups::at(warp, instruction.dst[0], depth));
    const auto reduction = static_cast<control::Reduction>(instruction.immediate);
    if (reduction == control::Reduction::Popc) {
        for (std::uint32_t left = mask; left != 0; left &= left - 1) {
            out[std::countr_zero(left)] = barrier.true_count;
        }
        return;
    }
    const bool holds =
        reduction == control::Reduction::And ? barrier.is_all_true : barrier.is_any_true;
    *out = holds ? (*out | mask) : (*out & ~mask);
}

void release(BlockContext& block, std::uint32_t id) {
    Barrier& barrier = block.barriers[id];
    const bool is_partial = leaves_some_out(block, barrier.expected);
    if (block.observer != nullptr && !is_partial) {
        block.observer->met();
    }
    for (std::uint32_t left = barrier.waiting; left != 0; left &= left - 1) {
        const auto index = static_cast<std::uint32_t>(std::countr_zero(left));
        WarpContext& warp = block.warps[index];
        for (std::uint32_t i = 0; i < warp.group_count; ++i) {
            Group& group = warp.groups[i];
            if (group.state == Stop::Barrier && group.barrier == id) {
                write_result(warp, warp.code[group.pc - 1], barrier, group.mask, group.depth);
                group.state = Stop::Running;
                if (block.observer != nullptr && is_partial) {
                    block.observer->passed(warp, group.mask);
                }
            }
        }
    }
    block.runnable |= barrier.waiting;
    block.pending &= ~(1u << id);
    barrier = Barrier{};
}

const Instruction* wait_here(WarpContext& warp, const Instruction* at, std::uint32_t mask,
                             const Request& request) {
    BlockContext& block = *warp.block;
    Barrier& barrier = *request.barrier;
    barrier.arrived += threads_in(warp, request, mask);
    block.pending |= 1u << request.id;
    const bool is_observed = block.observer != nullptr && leaves_some_out(block, request.expected);
    if (is_observed) [[unlikely]] {
        block.observer->arrived(warp, mask);
    }
    if (is_complete(block, barrier)) {
        // The last lanes to arrive need not stop. Waiting lanes of this warp may join them.
        write_result(warp, *at, barrier, mask, warp.groups[warp.current].depth);
        release(block, request.id);
        if (is_observed) [[unlikely]] {
            block.observer->passed(warp, mask);
        }
        if (warp.group_count > 1) {
            groups::look_ahead(warp, at + 1);
        }
        return at + 1;
    }
    barrier.waiting |= 1u << warp.index;
    groups::park(warp, mask, groups::index_of(warp, at) + 1, Stop::Barrier).barrier = request.id;
    return warp.active != 0 ? at + 1 : nullptr;
}

/// If lanes arrive at an aligned barrier while others of their warp wait at another one, raises a
/// fault and returns true. A GPU may hang or release threads too early in this case.
bool is_divergent(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    if (warp.group_count == 1 || (at->tag & control::ALIGNED) == 0) [[likely]] {
        return false;
    }
    for (std::uint32_t i = 0; i < warp.group_count; ++i) {
        const Group& group = warp.groups[i];
        const Instruction* const other = warp.code + group.pc - 1; // where it waits
        if (group.state == Stop::Barrier && other != at && (other->tag & control::ALIGNED) != 0) {
            const auto& lines = warp.block->kernel->lines;
            const std::uint32_t line = other->line < lines.size() ? lines[other->line].ptx_line : 0;
            (void)raise_fault(warp, at, FaultKind::DivergentBarrier,
                              static_cast<std::uint32_t>(std::countr_zero(mask)),
                              "the lanes of a warp are at different barriers: " +
                                  std::to_string(std::popcount(group.mask)) +
                                  " of them wait at PTX line " + std::to_string(line) +
                                  "; bar and barrier.aligned need all of them at one instruction");
            return true;
        }
    }
    return false;
}

/// Adds the predicates of the lanes in `mask` to the result of a bar.red.
void gather(WarpContext& warp, const Instruction* at, std::uint32_t mask, Barrier& barrier) {
    std::uint32_t holds = warp.predicate(at->src[2]);
    if ((at->tag & control::NEGATES) != 0) {
        holds = ~holds;
    }
    barrier.true_count += static_cast<std::uint32_t>(std::popcount(holds & mask));
    barrier.is_all_true = barrier.is_all_true && (mask & ~holds) == 0;
    barrier.is_any_true = barrier.is_any_true || (mask & holds) != 0;
}

} // namespace

} // namespace cuprum::emulator
