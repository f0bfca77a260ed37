// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Finds out when each register's value is needed.
//
// Every write is masked, so the rules of a scalar program hold for each lane, and other lanes do
// not matter. A guarded write may leave the old value in place, so it does not end the old value's
// life. Such values must not count as needed back to the start of the kernel. Therefore a register
// is live only where a write may have reached it.
//
// In code without loops, a value is needed from the first to the last instruction that names its
// register. A loop can keep a value alive before or behind these. So only registers at whose ends a
// loop may go on take part in the two dataflow problems, 256 at a time, as bits of sets. Each step
// looks only at blocks in which one of these is live. So the time grows with the code, unless
// thousands of registers live in thousands of blocks of a loop.

#include "passes/build.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <span>

namespace cuprum::emulator::passes {

using bytecode::Instruction;
using bytecode::Operand;

namespace {

constexpr std::uint32_t NOT_CROSSING = ~0u;

/// Some of the registers that take part.
class RegisterSet {
public:
    static constexpr std::uint32_t SIZE = 256;

    void insert(std::uint32_t number) {
        words_[number / BITS] |= std::uint64_t{1} << number % BITS;
    }

    /// Adds the members of `more` that are in neither this set nor `except`. Returns whether there
    /// were any.
    bool add(const RegisterSet& more, const RegisterSet& except) {
        std::uint64_t added = 0;
        for (std::size_t i = 0; i < words_.size(); ++i) {
            const std::uint64_t fresh = more.words_[i] & ~except.words_[i] & ~words_[i];
            words_[i] |= fresh;
            added |= fresh;
        }
        return added != 0;
    }

    /// Adds the members of `more`. Returns those that were not members before.
    RegisterSet add_new(const RegisterSet& more) {
        RegisterSet fresh;
        fresh.add(more, *this);
        add(fresh, {});
        return fresh;
    }

    [[nodiscard]] RegisterSet operator&(const RegisterSet& other) const {
        RegisterSet both;
        for (std::size_t i = 0; i < words_.size(); ++i) {
            both.words_[i] = words_[i] & other.words_[i];
        }
        return both;
    }

    template <typename Visit>
    void for_each(Visit visit) const {
        for (std::uint32_t i = 0; i < words_.size(); ++i) {
            for (std::uint64_t left = words_[i]; left != 0; left &= left - 1) {
                visit(i * BITS + static_cast<std::uint32_t>(std::countr_zero(left)));
            }
        }
    }

private:
    static constexpr std::uint32_t BITS = 64;

    std::array<std::uint64_t, SIZE / BITS> words_{};
};

/// What a block does to a register that takes part.
struct Event {
    enum class Kind : std::uint8_t { ReadsBefore, SurelyWrites, PerhapsWrites };

    std::uint32_t number = 0; // of the register among those that take part
    std::uint32_t block = 0;
    Kind kind{}; // ReadsBefore: it may read what comes from blocks before it
};

/// The dataflow problems of some registers at once.
class LiveSets {
public:
    explicit LiveSets(const KernelBuild& build)
        : build_(build), predecessors_(predecessors_of(build)), rows_(build.blocks.size()) {}

    /// Solves the problems. Calls `visit(set, instruction)` with the registers that are live, and
    /// perhaps written, at the beginning or end of a block, if it is the first or last such place.
    template <typename Visit>
    void solve(std::span<const Event> events, Visit visit);

private:
    struct Row {
        RegisterSet live_in;
        RegisterSet kills; // surely written
        RegisterSet written_in;
        RegisterSet written_out;
        bool is_used = false;
        bool is_pending = false;
    };

    Row& use(std::uint32_t block) {
        Row& row = rows_[block];
        if (!row.is_used) {
            row.is_used = true;
            used_.push_back(block);
        }
        return row;
    }

    void push(std::uint32_t block) {
        if (!rows_[block].is_pending) {
            rows_[block].is_pending = true;
            pending_.push_back(block);
        }
    }

    [[nodiscard]] std::uint32_t pop() {
        const std::uint32_t block = pending_.back();
        pending_.pop_back();
        rows_[block].is_pending = false;
        return block;
    }

    const KernelBuild& build_;
    Adjacency predecessors_;
    std::vector<Row> rows_;           // by block; empty but for those in used_
    std::vector<std::uint32_t> used_; // blocks
    std::vector<std::uint32_t> pending_;
};

std::vector<std::uint32_t> number_crossing_registers(KernelBuild& build, std::uint32_t& count);
std::vector<Event> find_events(KernelBuild& build, const std::vector<std::uint32_t>& number,
                               std::uint32_t count);

} // namespace

void find_live_ranges(KernelBuild& build) {
    std::uint32_t count = 0;
    const std::vector<std::uint32_t> number = number_crossing_registers(build, count);
    if (count == 0) {
        return;
    }
    std::vector<std::uint32_t> register_of(count);
    for (std::uint32_t r = 0; r < number.size(); ++r) {
        if (number[r] != NOT_CROSSING) {
            register_of[number[r]] = r;
        }
    }
    const std::vector<Event> events = find_events(build, number, count);
    LiveSets sets(build);
    for (auto first = events.begin(); first != events.end();) {
        const std::uint32_t begin = first->number / RegisterSet::SIZE * RegisterSet::SIZE;
        const auto last = std::find_if(first, events.end(), [&](const Event& event) {
            return event.number >= begin + RegisterSet::SIZE;
        });
        sets.solve({first, last}, [&](const RegisterSet& live, std::uint32_t at) {
            live.for_each([&](std::uint32_t number) {
                build.live_ranges[register_of[begin + number]].include(at);
            });
        });
        first = last;
    }
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

/// Finds the instructions that name each register. Numbers the registers that a block may read
/// before it has surely written them, if a loop goes on before or behind those instructions.
std::vector<std::uint32_t> number_crossing_registers(KernelBuild& build, std::uint32_t& count) {
    auto& code = build.kernel.code;
    build.live_ranges.assign(build.registers.size(), {});
    std::vector<std::uint32_t> candidates; // in the order of such reads
    std::vector<bool> is_candidate(build.registers.size(), false);
    std::vector<std::uint32_t> written_in_block(build.registers.size(), ~0u);
    for (std::uint32_t b = 0; b < build.blocks.size(); ++b) {
        for (std::uint32_t i = build.blocks[b].begin; i < build.blocks[b].end; ++i) {
            for_each_source(build, code[i], [&](Operand operand) {
                if (!is_register(operand)) {
                    return;
                }
                const std::uint32_t r = operand.offset();
                build.live_ranges[r].include(i);
                if (written_in_block[r] != b && !is_candidate[r]) {
                    is_candidate[r] = true;
                    candidates.push_back(r);
                }
            });
            for_each_destination(build, code[i], [&](Operand operand) {
                if (is_register(operand)) {
                    build.live_ranges[operand.offset()].include(i);
                    if (code[i].guard.is_none()) {
                        written_in_block[operand.offset()] = b;
                    }
                }
            });
        }
    }
    // How many jumps back pass between an instruction and the next one.
    std::vector<std::int32_t> jumps(code.size() + 1, 0);
    for (std::uint32_t b = 0; b < build.blocks.size(); ++b) {
        for (const std::uint32_t next : build.blocks[b].successors) {
            if (next <= b) {
                ++jumps[build.blocks[next].begin];
                --jumps[build.blocks[b].end - 1];
            }
        }
    }
    for (std::size_t i = 1; i < jumps.size(); ++i) {
        jumps[i] += jumps[i - 1];
    }
    std::vector<std::uint32_t> number(build.registers.size(), NOT_CROSSING);
    for (std::uint32_t r = 0; r < build.registers.size(); ++r) {
        // Per-warp values exist from the start and are never overwritten: a frame, which many
        // blocks use one after the other, is filled in only once.
        if (build.registers[r].is_warp_special && !build.live_ranges[r].is_empty()) {
            build.live_ranges[r].include(0);
            build.live_ranges[r].include(static_cast<std::uint32_t>(code.size() - 1));
        }
    }
    for (const std::uint32_t r : candidates) {
        const LiveRange& range = build.live_ranges[r];
        if (jumps[range.last] != 0 || (range.first != 0 && jumps[range.first - 1] != 0)) {
            number[r] = count++;
        }
    }
    return number;
}

/// Lists what blocks do to the registers that take part, in the order of their sets.
std::vector<Event> find_events(KernelBuild& build, const std::vector<std::uint32_t>& number,
                               std::uint32_t count) {
    auto& code = build.kernel.code;
    std::vector<Event> events;
    std::vector<std::uint32_t> written_in_block(count, ~0u);
    for (std::uint32_t b = 0; b < build.blocks.size(); ++b) {
        for (std::uint32_t i = build.blocks[b].begin; i < build.blocks[b].end; ++i) {
            for_each_source(build, code[i], [&](Operand operand) {
                const std::uint32_t n =
                    is_register(operand) ? number[operand.offset()] : NOT_CROSSING;
                if (n != NOT_CROSSING && written_in_block[n] != b) {
                    events.push_back({n, b, Event::Kind::ReadsBefore});
                }
            });
            for_each_destination(build, code[i], [&](Operand operand) {
                const std::uint32_t n =
                    is_register(operand) ? number[operand.offset()] : NOT_CROSSING;
                if (n == NOT_CROSSING) {
                    return;
                }
                const bool is_sure = code[i].guard.is_none();
                events.push_back(
                    {n, b, is_sure ? Event::Kind::SurelyWrites : Event::Kind::PerhapsWrites});
                if (is_sure) {
                    written_in_block[n] = b;
                }
            });
        }
    }
    std::ranges::stable_sort(events, {},
                             [](const Event& event) { return event.number / RegisterSet::SIZE; });
    return events;
}

/// Liveness flows backwards. Possible writes flow forwards, and only through blocks where the
/// register is live: behind one where it is not, another write comes before it is live again.
template <typename Visit>
void LiveSets::solve(std::span<const Event> events, Visit visit) {
    for (const Event& event : events) {
        Row& row = use(event.block);
        const std::uint32_t number = event.number % RegisterSet::SIZE;
        if (event.kind == Event::Kind::ReadsBefore) {
            row.live_in.insert(number);
            push(event.block);
            continue;
        }
        row.written_out.insert(number);
        if (event.kind == Event::Kind::SurelyWrites) {
            row.kills.insert(number);
        }
    }
    while (!pending_.empty()) {
        const std::uint32_t block = pop();
        for (const std::uint32_t before : predecessors_[block]) {
            if (rows_[before].live_in.add(rows_[block].live_in, rows_[before].kills)) {
                use(before);
                push(before);
            }
        }
    }
    for (std::size_t i = used_.size(); i-- > 0;) { // so that the first block comes first
        push(used_[i]);
    }
    while (!pending_.empty()) {
        const std::uint32_t block = pop();
        for (const std::uint32_t next : build_.blocks[block].successors) {
            Row& row = rows_[next];
            const RegisterSet into = rows_[block].written_out & row.live_in;
            if (row.written_in.add(into, {})) {
                row.written_out.add(into, {});
                push(next);
            }
        }
    }
    std::ranges::sort(used_);
    for (const std::uint32_t block : used_) {
        Row& row = rows_[block];
        RegisterSet live_out;
        for (const std::uint32_t next : build_.blocks[block].successors) {
            live_out.add(rows_[next].live_in, {});
        }
        row.written_out = row.written_out & live_out;
    }
    RegisterSet begun;
    for (const std::uint32_t block : used_) {
        visit(begun.add_new(rows_[block].written_in), build_.blocks[block].begin);
        visit(begun.add_new(rows_[block].written_out), build_.blocks[block].end - 1);
    }
    RegisterSet ended;
    for (std::size_t i = used_.size(); i-- > 0;) {
        const std::uint32_t block = used_[i];
        visit(ended.add_new(rows_[block].written_out), build_.blocks[block].end - 1);
        visit(ended.add_new(rows_[block].written_in), build_.blocks[block].begin);
        rows_[block] = {};
    }
    used_.clear();
}

} // namespace

} // namespace cuprum::emulator::passes
