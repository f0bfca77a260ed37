// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Finds out when each register's value is needed.
//
// Every write is masked, so the rules of a scalar program hold for each lane, and other lanes do
// not matter. A guarded write may leave the old value in place, so it does not end the old value's
// life. Such values must not count as needed back to the start of the kernel. Therefore a register
// is live only where a write may have reached it.
//
// Most registers are used in one block only. Just the others take part in the two dataflow
// problems, as bits of sets.

#include "passes/build.hpp"

#include <bit>

namespace cuprum::emulator::passes {

using bytecode::Instruction;
using bytecode::Operand;

namespace {

/// Sets of registers that cross blocks, one row of bits per block.
class BitRows {
public:
    BitRows(std::size_t row_count, std::size_t bit_count)
        : words_((bit_count + 63) / 64), bits_(row_count * words_, 0) {}

    [[nodiscard]] std::uint64_t* row(std::size_t index) { return bits_.data() + index * words_; }

    [[nodiscard]] std::size_t words() const { return words_; }

    void set(std::size_t row_index, std::size_t bit) {
        row(row_index)[bit / 64] |= std::uint64_t{1} << (bit % 64);
    }

    [[nodiscard]] bool test(std::size_t row_index, std::size_t bit) {
        return (row(row_index)[bit / 64] >> (bit % 64) & 1) != 0;
    }

private:
    std::size_t words_;
    std::vector<std::uint64_t> bits_;
};

constexpr std::uint32_t NOT_CROSSING = ~0u;

std::vector<std::uint32_t> number_crossing_registers(KernelBuild& build, std::uint32_t& count);
void solve(KernelBuild& build, BitRows& live_in, BitRows& kills, BitRows& written_out,
           BitRows& written_in);

} // namespace

void find_live_ranges(KernelBuild& build) {
    auto& code = build.kernel.code;
    build.live_ranges.assign(build.registers.size(), {});
    std::uint32_t crossing_count = 0;
    const std::vector<std::uint32_t> number = number_crossing_registers(build, crossing_count);

    const std::size_t block_count = build.blocks.size();
    BitRows live_in(block_count, crossing_count); // initially: read before it is surely written
    BitRows kills(block_count, crossing_count);   // surely written
    BitRows written_in(block_count, crossing_count);
    BitRows written_out(block_count, crossing_count); // initially: perhaps written in this block
    for (std::size_t b = 0; b < block_count; ++b) {
        for (std::uint32_t i = build.blocks[b].begin; i < build.blocks[b].end; ++i) {
            Instruction& instruction = code[i];
            for_each_source(build, instruction, [&](Operand operand) {
                if (!is_register(operand)) {
                    return;
                }
                build.live_ranges[operand.offset()].include(i);
                const std::uint32_t bit = number[operand.offset()];
                if (bit != NOT_CROSSING && !kills.test(b, bit)) {
                    live_in.set(b, bit);
                }
            });
            for_each_destination(build, instruction, [&](Operand operand) {
                if (!is_register(operand)) {
                    return;
                }
                build.live_ranges[operand.offset()].include(i);
                const std::uint32_t bit = number[operand.offset()];
                if (bit != NOT_CROSSING) {
                    written_out.set(b, bit);
                    if (instruction.guard.is_none()) {
                        kills.set(b, bit);
                    }
                }
            });
        }
    }
    // Per-warp values exist from the start and are never overwritten: a frame, which many blocks
    // use one after the other, is filled in only once.
    for (std::uint32_t r = 0; r < build.registers.size(); ++r) {
        if (build.registers[r].is_warp_special && !build.live_ranges[r].is_empty()) {
            build.live_ranges[r].include(0);
            build.live_ranges[r].include(static_cast<std::uint32_t>(code.size() - 1));
            if (number[r] != NOT_CROSSING) {
                written_in.set(0, number[r]);
                written_out.set(0, number[r]);
            }
        }
    }
    solve(build, live_in, kills, written_out, written_in);

    std::vector<std::uint32_t> register_of(crossing_count);
    for (std::uint32_t r = 0; r < number.size(); ++r) {
        if (number[r] != NOT_CROSSING) {
            register_of[number[r]] = r;
        }
    }
    const auto include_all = [&](std::uint64_t bits, std::size_t word, std::uint32_t at) {
        for (; bits != 0; bits &= bits - 1) {
            const std::size_t bit = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
            build.live_ranges[register_of[bit]].include(at);
        }
    };
    for (std::size_t b = 0; b < block_count; ++b) {
        const BasicBlock& block = build.blocks[b];
        for (std::size_t w = 0; w < live_in.words(); ++w) {
            include_all(live_in.row(b)[w] & written_in.row(b)[w], w, block.begin);
            std::uint64_t live_out = 0;
            for (const std::uint32_t next : block.successors) {
                live_out |= live_in.row(next)[w];
            }
            include_all(live_out & written_out.row(b)[w], w, block.end - 1);
        }
    }
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

/// Numbers the registers that some block reads before it has surely written them.
std::vector<std::uint32_t> number_crossing_registers(KernelBuild& build, std::uint32_t& count) {
    auto& code = build.kernel.code;
    std::vector<std::uint32_t> number(build.registers.size(), NOT_CROSSING);
    std::vector<std::uint32_t> written_in_block(build.registers.size(), ~0u);
    for (std::uint32_t b = 0; b < build.blocks.size(); ++b) {
        for (std::uint32_t i = build.blocks[b].begin; i < build.blocks[b].end; ++i) {
            for_each_source(build, code[i], [&](Operand operand) {
                if (is_register(operand) && written_in_block[operand.offset()] != b &&
                    number[operand.offset()] == NOT_CROSSING) {
                    number[operand.offset()] = count++;
                }
            });
            if (code[i].guard.is_none()) {
                for_each_destination(build, code[i], [&](Operand operand) {
                    if (is_register(operand)) {
                        written_in_block[operand.offset()] = b;
                    }
                });
            }
        }
    }
    return number;
}

/// Completes the sets. Liveness flows backwards, and possible writes flow forwards.
void solve(KernelBuild& build, BitRows& live_in, BitRows& kills, BitRows& written_out,
           BitRows& written_in) {
    const std::size_t words = live_in.words();
    for (bool is_changed = true; is_changed;) {
        is_changed = false;
        for (std::size_t b = build.blocks.size(); b-- > 0;) {
            std::uint64_t* into = live_in.row(b);
            const std::uint64_t* killed = kills.row(b);
            for (const std::uint32_t next : build.blocks[b].successors) {
                const std::uint64_t* wanted = live_in.row(next);
                for (std::size_t w = 0; w < words; ++w) {
                    const std::uint64_t more = wanted[w] & ~killed[w] & ~into[w];
                    is_changed = is_changed || more != 0;
                    into[w] |= more;
                }
            }
        }
    }
    for (bool is_changed = true; is_changed;) {
        is_changed = false;
        for (std::size_t b = 0; b < build.blocks.size(); ++b) {
            const std::uint64_t* out = written_out.row(b);
            for (const std::uint32_t next : build.blocks[b].successors) {
                std::uint64_t* next_in = written_in.row(next);
                std::uint64_t* next_out = written_out.row(next);
                for (std::size_t w = 0; w < words; ++w) {
                    const std::uint64_t more = out[w] & ~next_in[w];
                    is_changed = is_changed || more != 0;
                    next_in[w] |= more;
                    next_out[w] |= more;
                }
            }
        }
    }
}

} // namespace

} // namespace cuprum::emulator::passes
