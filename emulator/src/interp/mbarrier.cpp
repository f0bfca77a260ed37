// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "interp/mbarrier.hpp"

#include "interp/access_fault.hpp"
#include "interp/groups.hpp"
#include "interp/warp.hpp"

#include <bit>
#include <string>

namespace cuprum::emulator {

using bytecode::Instruction;

namespace {

typedef std::uint32_t Lane32 __attribute__((may_alias));
typedef std::uint64_t Lane64 __attribute__((may_alias));

constexpr std::uint32_t BARRIER_BYTES = 8;
constexpr std::uint32_t COUNT_BITS = 20;
constexpr std::uint32_t MAX_COUNT = (1u << COUNT_BITS) - 1;
constexpr std::uint32_t EXPECTED_SHIFT = COUNT_BITS;
constexpr std::uint32_t TX_SHIFT = 2 * COUNT_BITS;
constexpr std::uint32_t TX_BITS = 21;
constexpr std::int64_t MAX_TX = MAX_COUNT;
constexpr std::uint64_t MARKER = std::uint64_t{1} << 62;
constexpr std::uint64_t TX_MASK = ((std::uint64_t{1} << TX_BITS) - 1) << TX_SHIFT;

/// The fields of a barrier's word.
struct State {
    std::uint32_t pending = 0;
    std::uint32_t expected = 0;
    std::int64_t tx = 0;
    bool parity = false;

    static State from(std::uint64_t word);
    [[nodiscard]] std::uint64_t word() const;
    /// Starts the next phase if this one is complete.
    void settle();
};

bool parity_of(std::uint64_t word);
ClusterContext::Transactions& transactions_of(ClusterContext& cluster, const void* word);
void store(WarpContext& warp, const Instruction* at, Lane64* word, std::uint64_t value);
Lane64* word_in_shared(WarpContext& warp, const Instruction* at, std::uint32_t lane,
                       std::uint64_t address, Reach reach);
Lane64* word_at(WarpContext& warp, const Instruction* at, std::uint32_t lane);
Lane64* checked(WarpContext& warp, const Instruction* at, std::uint32_t lane, Lane64* word);
Lane64* barrier_at(WarpContext& warp, const Instruction* at, std::uint32_t lane);
std::uint32_t operand32(const WarpContext& warp, const Instruction* at, std::uint32_t lane);
bool change_tx(WarpContext& warp, const Instruction* at, std::uint32_t lane, State& state,
               std::int64_t change);
bool arrive_at(WarpContext& warp, const Instruction* at, std::uint32_t lane, State& state);
const Instruction* for_each_state(WarpContext& warp, const Instruction* at, std::uint32_t mask,
                                  bool (*change)(WarpContext&, const Instruction*, std::uint32_t,
                                                 State&));

/// Calls `visit` for the lanes of a mask, lowest first, until it returns false. Returns whether all
/// lanes were visited.
template <typename Visit>
bool visit_lanes(std::uint32_t mask, Visit visit) {
    for (; mask != 0; mask &= mask - 1) {
        if (!visit(static_cast<std::uint32_t>(std::countr_zero(mask)))) {
            return false;
        }
    }
    return true;
}

} // namespace

namespace mbarrier {

const Instruction* init(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const bool is_done = visit_lanes(mask, [&](std::uint32_t lane) {
        Lane64* const word = word_at(warp, at, lane);
        if (word == nullptr) {
            return false;
        }
        const std::uint32_t count = operand32(warp, at, lane);
        if (count == 0 || count > MAX_COUNT) {
            (void)raise_fault(warp, at, FaultKind::IllegalInstruction, lane,
                              "mbarrier.init with a count of " + std::to_string(count) +
                                  "; expected 1 to " + std::to_string(MAX_COUNT));
            return false;
        }
        store(warp, at, word, State{.pending = count, .expected = count}.word());
        // What the word held before was no barrier, or one that is gone.
        transactions_of(*warp.block->cluster, word) = {.barrier = word};
        return true;
    });
    return is_done ? at + 1 : nullptr;
}

const Instruction* invalidate(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const bool is_done = visit_lanes(mask, [&](std::uint32_t lane) {
        // Several lanes may invalidate one barrier at once, so only the memory is checked.
        Lane64* const word = word_at(warp, at, lane);
        // On a GPU the barrier goes on to work: programs invalidate one in the destructor of the
        // first thread, while other warps still use it. The check reports such a use.
        const bool is_checked = (warp.block->memory->checks & CHECK_INITIALIZED) != 0;
        if (word != nullptr && is_checked) {
            store(warp, at, word, 0);
        }
        return word != nullptr;
    });
    return is_done ? at + 1 : nullptr;
}

const Instruction* arrive(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    // The result may overwrite the base lane by lane, so the results are written at the end.
    std::uint64_t before[bytecode::WARP_SIZE];
    const bool is_done = visit_lanes(mask, [&](std::uint32_t lane) {
        Lane64* const word = barrier_at(warp, at, lane);
        if (word == nullptr) {
            return false;
        }
        before[lane] = *word;
        State state = State::from(*word);
        if (!arrive_at(warp, at, lane, state)) {
            return false;
        }
        store(warp, at, word, state.word());
        return true;
    });
    if (!is_done) {
        return nullptr;
    }
    if (at->dst_count != 0) {
        auto* const to = reinterpret_cast<Lane64*>(warp.at(at->dst[0]));
        visit_lanes(mask, [&](std::uint32_t lane) {
            to[lane] = before[lane];
            return true;
        });
    }
    return at + 1;
}

const Instruction* wait(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    std::uint32_t done = 0;
    const bool is_valid = visit_lanes(mask, [&](std::uint32_t lane) {
        const Lane64* const word = barrier_at(warp, at, lane);
        if (word == nullptr) {
            return false;
        }
        const bool awaited =
            (at->tag & mbarrier_tag::PARITY) != 0
                ? (operand32(warp, at, lane) & 1) != 0
                : parity_of(reinterpret_cast<const Lane64*>(warp.at(at->src[1]))[lane]);
        warp.tested_at[lane] = warp.block->cluster->mbarrier_changes;
        // The awaited phase is over if the current phase has another parity.
        done |= static_cast<std::uint32_t>(parity_of(*word) != awaited) << lane;
        return true;
    });
    if (!is_valid) {
        return nullptr;
    }
    auto* const to = reinterpret_cast<Lane32*>(warp.at(at->dst[0]));
    *to = (*to & ~mask) | done;
    // Threads whose test fails will test again, so let the threads they wait for run first.
    return done != 0 ? at + 1 : yield_group(warp, at + 1);
}

const Instruction* expect_tx(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    return for_each_state(
        warp, at, mask,
        [](WarpContext& own, const Instruction* where, std::uint32_t lane, State& state) {
            return change_tx(own, where, lane, state, operand32(own, where, lane));
        });
}

const Instruction* complete_tx(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    return for_each_state(
        warp, at, mask,
        [](WarpContext& own, const Instruction* where, std::uint32_t lane, State& state) {
            if (!change_tx(own, where, lane, state, -std::int64_t{operand32(own, where, lane)})) {
                return false;
            }
            state.settle();
            return true;
        });
}

const Instruction* check(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const bool is_done = visit_lanes(
        mask, [&](std::uint32_t lane) { return barrier_at(warp, at, lane) != nullptr; });
    return is_done ? at + 1 : nullptr;
}

const Instruction* pending_count(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const auto* const states = reinterpret_cast<const Lane64*>(warp.at(at->src[0]));
    std::uint32_t counts[bytecode::WARP_SIZE];
    visit_lanes(mask, [&](std::uint32_t lane) {
        counts[lane] = State::from(states[lane]).pending;
        return true;
    });
    auto* const to = reinterpret_cast<Lane32*>(warp.at(at->dst[0]));
    visit_lanes(mask, [&](std::uint32_t lane) {
        to[lane] = counts[lane];
        return true;
    });
    return at + 1;
}

std::string describe(const WarpContext& warp, const Group& group, const Instruction* wait) {
    const BlockContext& block = *warp.block;
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(group.mask));
    const std::byte* const bases = groups::at(warp, wait->src[0], group.depth);
    const bool is_narrow = (wait->tag & mbarrier_tag::NARROW_ADDRESS) != 0;
    std::uint64_t offset = (is_narrow ? reinterpret_cast<const Lane32*>(bases)[lane]
                                      : reinterpret_cast<const Lane64*>(bases)[lane]) +
                           static_cast<std::uint64_t>(wait->immediate);
    offset -= (wait->tag & mbarrier_tag::GENERIC) != 0 ? block.memory->shared_base : 0;
    const std::byte* const place = find_shared(block, offset, BARRIER_BYTES, reach_of(*wait));
    if (place == nullptr || offset % BARRIER_BYTES != 0 ||
        (*reinterpret_cast<const Lane64*>(place) & MARKER) == 0) {
        return "an mbarrier";
    }
    const State state = State::from(*reinterpret_cast<const Lane64*>(place));
    std::string text = "the mbarrier at byte " + std::to_string(offset) +
                       " of shared memory, whose phase needs " + std::to_string(state.pending) +
                       (state.pending == 1 ? " more arrival" : " more arrivals");
    if (state.tx != 0) {
        text += " and " + std::to_string(state.tx) + " more bytes";
    }
    text += " (parity " + std::to_string(state.parity ? 1 : 0);
    const ClusterContext::Transactions& bytes = transactions_of(*block.cluster, place);
    if (bytes.barrier == place) {
        text += ", " + std::to_string(bytes.announced) + " bytes announced, " +
                std::to_string(bytes.received) + " received";
    }
    return text + ")";
}

bool parity_at(const std::byte* place) {
    return parity_of(*reinterpret_cast<const Lane64*>(place));
}

bool deliver(WarpContext& warp, const Instruction* at, std::uint32_t lane, std::uint64_t address,
             std::uint32_t bytes, Reach reach) {
    Lane64* const word = checked(warp, at, lane, word_in_shared(warp, at, lane, address, reach));
    if (word == nullptr) {
        return false;
    }
    State state = State::from(*word);
    if (!change_tx(warp, at, lane, state, -std::int64_t{bytes})) {
        return false;
    }
    state.settle();
    store(warp, at, word, state.word());
    return true;
}

} // namespace mbarrier

void groups::release_mbarrier_waiters(WarpContext& warp, const Instruction* at) {
    ClusterContext& cluster = *warp.block->cluster;
    ++cluster.mbarrier_changes;
    if (cluster.mbarrier_waiters == 0) {
        return;
    }
    cluster.mbarrier_waiters = 0;
    for (std::uint32_t rank = 0; rank < cluster.size; ++rank) {
        BlockContext& block = *cluster.blocks[rank];
        for (std::uint32_t w = 0; w < block.warp_count; ++w) {
            WarpContext& waiting = block.warps[w];
            for (std::uint32_t i = 0; i < waiting.group_count; ++i) {
                if (waiting.groups[i].state == Stop::Mbarrier) {
                    waiting.groups[i].state = Stop::Running;
                    block.runnable |= 1u << w;
                }
            }
        }
    }
    if (warp.group_count > 1) {
        look_ahead(warp, at + 1);
    }
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

State State::from(std::uint64_t word) {
    State state;
    state.pending = static_cast<std::uint32_t>(word) & MAX_COUNT;
    state.expected = static_cast<std::uint32_t>(word >> EXPECTED_SHIFT) & MAX_COUNT;
    state.tx = static_cast<std::int64_t>(word << (64 - TX_SHIFT - TX_BITS)) >> (64 - TX_BITS);
    state.parity = parity_of(word);
    return state;
}

std::uint64_t State::word() const {
    const std::uint64_t tx_mask = (std::uint64_t{1} << TX_BITS) - 1;
    return pending | std::uint64_t{expected} << EXPECTED_SHIFT |
           (static_cast<std::uint64_t>(tx) & tx_mask) << TX_SHIFT | MARKER |
           std::uint64_t{parity} << 63;
}

void State::settle() {
    if (pending == 0 && tx == 0) {
        parity = !parity;
        pending = expected;
    }
}

bool parity_of(std::uint64_t word) {
    return (word >> 63) != 0;
}

ClusterContext::Transactions& transactions_of(ClusterContext& cluster, const void* word) {
    return cluster.transactions[reinterpret_cast<std::uintptr_t>(word) / BARRIER_BYTES %
                                ClusterContext::TRANSACTIONS];
}

/// Updates what is known about the bytes of a barrier that changes to `value`.
void count_transactions(ClusterContext& cluster, const Lane64* word, std::uint64_t value) {
    ClusterContext::Transactions& bytes = transactions_of(cluster, word);
    if (bytes.barrier != word || parity_of(*word ^ value)) {
        bytes = {.barrier = word};
    }
    const std::int64_t change = State::from(value).tx - State::from(*word).tx;
    if (!parity_of(*word ^ value)) {
        (change > 0 ? bytes.announced : bytes.received) += change > 0 ? change : -change;
    }
}

/// Changes a barrier. Releases waiting groups if the parity or the marker changes, because only
/// these decide what a wait returns.
void store(WarpContext& warp, const Instruction* at, Lane64* word, std::uint64_t value) {
    const std::uint64_t changed = *word ^ value;
    if (parity_of(changed) || (changed & TX_MASK) != 0) {
        count_transactions(*warp.block->cluster, word, value);
    }
    *word = value;
    if (parity_of(changed) || (changed & MARKER) != 0) {
        groups::release_mbarrier_waiters(warp, at);
    }
}

Lane64* word_in_shared(WarpContext& warp, const Instruction* at, std::uint32_t lane,
                       std::uint64_t address, Reach reach) {
    if (address % BARRIER_BYTES != 0) {
        (void)raise_access_fault(warp, at, lane, AccessProblem::Misaligned, address, BARRIER_BYTES,
                                 true);
        return nullptr;
    }
    std::byte* const place = find_shared(*warp.block, address, BARRIER_BYTES, reach);
    if (place == nullptr) {
        (void)raise_access_fault(warp, at, lane, AccessProblem::BeyondShared, address,
                                 BARRIER_BYTES, true);
    }
    return reinterpret_cast<Lane64*>(place);
}

/// Returns the address of a lane's barrier without looking at it; nullptr after a fault.
Lane64* word_at(WarpContext& warp, const Instruction* at, std::uint32_t lane) {
    const BlockContext& block = *warp.block;
    const std::byte* const bases = warp.at(at->src[0]);
    std::uint64_t address = 0;
    if ((at->tag & mbarrier_tag::NARROW_ADDRESS) != 0) {
        // 32-bit addresses wrap at 32 bits.
        address = reinterpret_cast<const Lane32*>(bases)[lane] +
                  static_cast<std::uint32_t>(at->immediate);
    } else {
        address = reinterpret_cast<const Lane64*>(bases)[lane] +
                  static_cast<std::uint64_t>(at->immediate);
    }
    std::uint64_t offset = address;
    if ((at->tag & mbarrier_tag::GENERIC) != 0) {
        offset -= block.memory->shared_base;
        if (offset >= block.memory->shared_bytes) {
            (void)raise_fault(warp, at, FaultKind::InvalidAddressSpace, lane,
                              "an mbarrier must lie in shared memory");
            return nullptr;
        }
    }
    return word_in_shared(warp, at, lane, offset, reach_of(*at));
}

/// Returns `word` if it holds an initialised barrier. Raises a fault and returns nullptr if not.
Lane64* checked(WarpContext& warp, const Instruction* at, std::uint32_t lane, Lane64* word) {
    if (word != nullptr && (*word & MARKER) == 0) {
        (void)raise_fault(warp, at, FaultKind::IllegalInstruction, lane,
                          "there is no mbarrier at this address: mbarrier.init has not run, or "
                          "mbarrier.inval or other data has replaced it");
        return nullptr;
    }
    return word;
}

/// Returns a lane's barrier. Returns nullptr after a fault, also if none was initialised there.
Lane64* barrier_at(WarpContext& warp, const Instruction* at, std::uint32_t lane) {
    return checked(warp, at, lane, word_at(warp, at, lane));
}

std::uint32_t operand32(const WarpContext& warp, const Instruction* at, std::uint32_t lane) {
    return reinterpret_cast<const Lane32*>(warp.at(at->src[1]))[lane];
}

bool change_tx(WarpContext& warp, const Instruction* at, std::uint32_t lane, State& state,
               std::int64_t change) {
    state.tx += change;
    if (state.tx < -MAX_TX || state.tx > MAX_TX) {
        (void)raise_fault(warp, at, FaultKind::IllegalInstruction, lane,
                          "the mbarrier's transaction count becomes " + std::to_string(state.tx) +
                              "; it may be at most " + std::to_string(MAX_TX));
        return false;
    }
    return true;
}

bool arrive_at(WarpContext& warp, const Instruction* at, std::uint32_t lane, State& state) {
    std::uint32_t count = 1;
    if ((at->tag & mbarrier_tag::EXPECTS_TX) != 0) {
        if (!change_tx(warp, at, lane, state, operand32(warp, at, lane))) {
            return false;
        }
    } else {
        count = operand32(warp, at, lane);
    }
    const bool drops = (at->tag & mbarrier_tag::DROPS) != 0;
    if (count == 0 || count > state.pending || (drops && count > state.expected)) {
        (void)raise_fault(warp, at, FaultKind::IllegalInstruction, lane,
                          std::to_string(count) + " arrivals at an mbarrier that waits for " +
                              std::to_string(state.pending) + " more in this phase");
        return false;
    }
    state.pending -= count;
    state.expected -= drops ? count : 0;
    if ((at->tag & mbarrier_tag::NO_COMPLETE) != 0 && state.pending == 0 && state.tx == 0) {
        (void)raise_fault(warp, at, FaultKind::IllegalInstruction, lane,
                          "an arrival with .noComplete completes the phase of its mbarrier");
        return false;
    }
    state.settle();
    return true;
}

/// Calls `change` for the barrier of each lane. `change` returns false after a fault.
const Instruction* for_each_state(WarpContext& warp, const Instruction* at, std::uint32_t mask,
                                  bool (*change)(WarpContext&, const Instruction*, std::uint32_t,
                                                 State&)) {
    const bool is_done = visit_lanes(mask, [&](std::uint32_t lane) {
        Lane64* const word = barrier_at(warp, at, lane);
        if (word == nullptr) {
            return false;
        }
        State state = State::from(*word);
        if (!change(warp, at, lane, state)) {
            return false;
        }
        store(warp, at, word, state.word());
        return true;
    });
    return is_done ? at + 1 : nullptr;
}

} // namespace

} // namespace cuprum::emulator
