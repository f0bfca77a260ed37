// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// atom and red: the memory and the old values after all lanes have executed.

#include "support/operation.hpp"

#include <algorithm>
#include <bit>

namespace cuprum::emulator::test {

namespace {

using U = std::uint32_t;

class Atomics : public OnEveryLevel {};

INSTANTIATE_TEST_SUITE_P(levels, Atomics, LEVELS);

template <typename T>
struct Outcome {
    T memory;
    std::vector<T> old;
};

/// Executes `code` on the 32 lanes of a warp, on one word that starts as `start`; %v is the lane
/// number.
template <typename T>
Outcome<T> act(const std::string& code, T start, std::uint32_t threads = 32) {
    const std::string bits = std::to_string(sizeof(T) * 8);
    TestDevice device;
    auto* const word = device.allocate<T>(4);
    auto* const old = device.allocate<T>(64);
    word[0] = start;
    const Fault fault = run(device,
                            R"(.visible .entry k(.param .u64 pw, .param .u64 po)
{
    .reg .b64 %w, %o;
    .reg .b32 %v, %l;
    .reg .b)" + bits + R"( %d, %x;
    .reg .b64 %wide;
    .shared .align 8 .b8 cell[8];
    ld.param.u64 %w, [pw];
    ld.param.u64 %o, [po];
    mov.u32 %v, %tid.x;
    mov.u32 %l, %tid.x;
    cvt.u64.u32 %wide, %v;
    mov.b)" + bits + " %d, 0;\n" +
                                code + "\nmad.wide.u32 %o, %l, " + std::to_string(sizeof(T)) +
                                ", %o;\nst.global.b" + bits + " [%o], %d;\nret;\n}\n",
                            {.grid = 1, .block = threads}, reinterpret_cast<std::uint64_t>(word),
                            reinterpret_cast<std::uint64_t>(old));
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    return {word[0], std::vector<T>(old, old + threads)};
}

TEST_P(Atomics, integers) {
    EXPECT_EQ(act<U>("atom.global.add.u32 %d, [%w], %v;", 10).memory, 10u + 31 * 32 / 2);
    EXPECT_EQ(act<U>("red.global.add.u32 [%w], %v;", 10, 5).memory, 20u);
    EXPECT_EQ(act<U>("atom.global.min.s32 %d, [%w], %v;", U(-5)).memory, U(-5));
    EXPECT_EQ(act<U>("atom.global.min.u32 %d, [%w], %v;", U(-5)).memory, 0u);
    EXPECT_EQ(act<U>("atom.global.max.s32 %d, [%w], %v;", U(-5)).memory, 31u);
    EXPECT_EQ(act<U>("atom.global.and.b32 %d, [%w], 12;", 10).memory, 8u);
    EXPECT_EQ(act<U>("atom.global.or.b32 %d, [%w], %v;", 64).memory, 95u);
    EXPECT_EQ(act<U>("atom.global.xor.b32 %d, [%w], %v;", 1).memory, 1u);
    EXPECT_EQ(act<U>("atom.global.inc.u32 %d, [%w], 9;", 3).memory, (3u + 32) % 10);
    EXPECT_EQ(act<U>("atom.global.dec.u32 %d, [%w], 9;", 3).memory, (3u + 8) % 10);
    EXPECT_EQ(act<U>("atom.global.dec.u32 %d, [%w], 9;", 100, 1).memory, 9u);
    EXPECT_EQ(act<std::uint64_t>("atom.global.add.u64 %d, [%w], %wide;", 1ull << 40).memory,
              (1ull << 40) + 496);
    EXPECT_EQ(act<std::uint64_t>("atom.global.max.s64 %d, [%w], %wide;", ~0ull).memory, 31ull);
}

TEST_P(Atomics, old_values_are_those_before_each_lane) {
    const auto outcome = act<U>("atom.global.add.u32 %d, [%w], 3;", 100);
    for (U lane = 0; lane < 32; ++lane) {
        EXPECT_EQ(outcome.old[lane], 100 + 3 * lane);
    }
    const auto swapped = act<U>("atom.global.exch.b32 %d, [%w], %v;", 77);
    EXPECT_EQ(swapped.memory, 31u);
    EXPECT_EQ(swapped.old[0], 77u);
    EXPECT_EQ(swapped.old[31], 30u);
}

TEST_P(Atomics, compare_and_exchange_only_when_equal) {
    const auto outcome = act<U>("add.u32 %v, %v, 1;\natom.global.cas.b32 %d, [%w], %l, %v;", 0);
    EXPECT_EQ(outcome.memory, 32u); // each lane finds its own number
    EXPECT_EQ(outcome.old[31], 31u);
    EXPECT_EQ(act<U>("atom.global.cas.b32 %d, [%w], 5, %v;", 4).memory, 4u);
    EXPECT_EQ(act<std::uint16_t>("cvt.u16.u32 %x, %v;\natom.global.cas.b16 %d, [%w], 4, %x;", 4, 9)
                  .memory,
              0u);
}

TEST_P(Atomics, floats) {
    const auto bits = [](float value) { return std::bit_cast<U>(value); };
    EXPECT_EQ(
        act<U>("cvt.rn.f32.u32 %x, %v;\natom.global.add.f32 %d, [%w], %x;", bits(0.5f)).memory,
        bits(496.5f));
    EXPECT_EQ(act<double>("cvt.rn.f64.u32 %x, %v;\nred.global.add.f64 [%w], %x;", 0.25).memory,
              496.25);
    EXPECT_EQ(
        act<U>("mov.b32 %x, 0;\natom.global.add.noftz.f16x2 %d, [%w], %x;", 0x3c004000, 1).memory,
        0x3c004000u);
    EXPECT_EQ(
        act<U>("mov.b32 %x, 0x3c003c00;\natom.global.add.noftz.f16x2 %d, [%w], %x;", 0x3c000000, 4)
            .memory,
        0x45004400u);
}

TEST_P(Atomics, additions_in_global_memory_flush_subnormal_numbers) {
    // As documented for atom.add.f32 and observed on an H200; shared memory keeps subnormal
    // numbers.
    EXPECT_EQ(act<U>("mov.b32 %x, 1;\natom.global.add.f32 %d, [%w], %x;", 0x80000000, 1).memory,
              0u);
    EXPECT_EQ(act<U>("st.shared.u32 [cell], 5;\nmov.b32 %x, 1;\n"
                     "atom.shared.add.f32 %d, [cell], %x;\nld.shared.u32 %d, [cell];\n",
                     0, 1)
                  .old[0],
              6u);
    EXPECT_EQ(act<U>("st.shared.u32 [cell], 5;\nmov.b32 %x, 1;\ncvta.shared.u64 %w, cell;\n"
                     "red.add.f32 [%w], %x;\nld.shared.u32 %d, [cell];\n",
                     0, 1)
                  .old[0],
              6u);
}

TEST_P(Atomics, shared_and_generic_addresses) {
    const std::string setup = "st.shared.u32 [cell], 100;\nbar.sync 0;\n";
    const std::string read = "bar.sync 0;\nld.shared.u32 %d, [cell];\n";
    EXPECT_EQ(act<U>(setup + "red.shared.add.u32 [cell], %v;\n" + read, 0).old[3], 596u);
    EXPECT_EQ(
        act<U>(setup + "cvta.shared.u64 %w, cell;\natom.add.u32 %d, [%w], 2;\n" + read, 0).old[0],
        164u);
    EXPECT_EQ(act<U>("atom.add.u32 %d, [%w], 2;", 1).memory, 65u);
}

/// Executes `code` on 32 lanes and four words that start as `start`. Lane l has %v = l + 1 and uses
/// word %i = `word(l)`. Returns the memory and the old values.
struct Scattered {
    std::vector<U> memory;
    std::vector<U> old;
};

Scattered act_on_words(const std::string& code, U start, const std::vector<U>& word_of_lane) {
    TestDevice device;
    auto* const words = device.allocate<U>(4);
    auto* const indices = device.allocate<U>(32);
    auto* const old = device.allocate<U>(32);
    std::fill(words, words + 4, start);
    std::copy(word_of_lane.begin(), word_of_lane.end(), indices);
    const Fault fault = run(device,
                            R"(.visible .entry k(.param .u64 pw, .param .u64 pi, .param .u64 po)
{
    .reg .b64 %w, %i, %o;
    .reg .b32 %v, %l, %n, %d;
    ld.param.u64 %w, [pw];
    ld.param.u64 %i, [pi];
    ld.param.u64 %o, [po];
    mov.u32 %l, %tid.x;
    add.u32 %v, %l, 1;
    mad.wide.u32 %i, %l, 4, %i;
    ld.global.u32 %n, [%i];
    mad.wide.u32 %w, %n, 4, %w;
    mov.u32 %d, 0;
    )" + code + R"(
    mad.wide.u32 %o, %l, 4, %o;
    st.global.u32 [%o], %d;
    ret;
})",
                            {.grid = 1, .block = 32}, words, indices, old);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    return {{words, words + 4}, {old, old + 32}};
}

TEST_P(Atomics, lanes_with_equal_addresses_act_in_order) {
    struct Case {
        const char* code;
        U start;
        U (*update)(U, U);
    };

    const Case cases[] = {
        {"atom.global.add.u32 %d, [%w], %v;", 7, [](U a, U b) { return a + b; }},
        {"atom.global.min.u32 %d, [%w], %v;", 9, [](U a, U b) { return std::min(a, b); }},
        {"atom.global.max.u32 %d, [%w], %v;", 9, [](U a, U b) { return std::max(a, b); }},
        {"atom.global.max.s32 %d, [%w], %v;", U(-9),
         [](U a, U b) { return std::max(std::int32_t(a), std::int32_t(b)) + 0u; }},
        {"atom.global.and.b32 %d, [%w], %v;", 63, [](U a, U b) { return a & b; }},
        {"atom.global.or.b32 %d, [%w], %v;", 64, [](U a, U b) { return a | b; }},
        {"atom.global.xor.b32 %d, [%w], %v;", 64, [](U a, U b) { return a ^ b; }},
        {"atom.global.exch.b32 %d, [%w], %v;", 64, [](U, U b) { return b; }},
        {"atom.global.inc.u32 %d, [%w], %v;", 3, [](U a, U b) { return a >= b ? 0 : a + 1; }},
        {"atom.global.dec.u32 %d, [%w], %v;", 3,
         [](U a, U b) { return a == 0 || a > b ? b : a - 1; }},
        {"cvt.rn.f32.u32 %v, %v;\natom.global.add.f32 %d, [%w], %v;",
         std::bit_cast<U>(16777216.0f), // where the order of additions matters
         [](U a, U b) {
             return std::bit_cast<U>(std::bit_cast<float>(a) + static_cast<float>(b));
         }},
    };
    std::vector<std::vector<U>> patterns(5, std::vector<U>(32));
    for (U lane = 0; lane < 32; ++lane) {
        patterns[1][lane] = lane % 2;
        patterns[2][lane] = lane == 0 ? 3 : lane % 3;
        patterns[3][lane] = lane / 8;
        patterns[4][lane] = lane * 7 % 5 % 4;
    }
    for (const Case& each : cases) {
        for (const auto& pattern : patterns) {
            const Scattered outcome = act_on_words(each.code, each.start, pattern);
            std::vector<U> words(4, each.start);
            for (U lane = 0; lane < 32; ++lane) {
                EXPECT_EQ(outcome.old[lane], words[pattern[lane]]) << each.code << lane;
                words[pattern[lane]] = each.update(words[pattern[lane]], lane + 1);
            }
            EXPECT_EQ(outcome.memory, words) << each.code;
        }
    }
}

/// Runs `red` in many blocks, on words that several of them use. Thread t of all uses word
/// t % words with the operand t.
template <typename T>
std::vector<T> reduce_everywhere(const std::string& red, T start, U words, U blocks) {
    TestDevice device;
    auto* const memory = device.allocate<T>(words);
    std::fill(memory, memory + words, start);
    const Fault fault = run(device,
                            R"(.visible .entry k(.param .u64 pw, .param .u32 pn)
{
    .reg .b64 %w, %x;
    .reg .b32 %v, %n, %b;
    ld.param.u64 %w, [pw];
    ld.param.u32 %n, [pn];
    mov.u32 %v, %tid.x;
    mov.u32 %b, %ctaid.x;
    mad.lo.u32 %v, %b, 64, %v;
    rem.u32 %n, %v, %n;
    mad.wide.u32 %w, %n, )" + std::to_string(sizeof(T)) +
                                R"(, %w;
    cvt.u64.u32 %x, %v;
    )" + red + "\nret;\n}\n",
                            {.grid = blocks, .block = 64}, memory, words);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    return {memory, memory + words};
}

TEST_P(Atomics, collected_reductions_of_many_blocks_are_exact) {
    using Wide = std::uint64_t;
    constexpr U blocks = 3000;
    for (const U words : {1u, 7u, 256u, 2000u}) {
        std::vector<U> sums(words);
        std::vector<U> flips(words, 5);
        std::vector<U> bits(words, 0);
        std::vector<U> largest(words, 0);
        std::vector<Wide> wide(words, 1);
        for (U t = 0; t < blocks * 64; ++t) {
            sums[t % words] += t;
            flips[t % words] ^= t;
            bits[t % words] |= t;
            largest[t % words] = std::max(largest[t % words], t);
            wide[t % words] += t;
        }
        EXPECT_EQ(reduce_everywhere<U>("red.global.add.u32 [%w], %v;", 0, words, blocks), sums);
        EXPECT_EQ(reduce_everywhere<U>("red.global.xor.b32 [%w], %v;", 5, words, blocks), flips);
        EXPECT_EQ(reduce_everywhere<U>("red.global.or.b32 [%w], %v;", 0, words, blocks), bits);
        EXPECT_EQ(reduce_everywhere<U>("red.global.max.u32 [%w], %v;", 0, words, blocks), largest);
        EXPECT_EQ(reduce_everywhere<U>("red.global.max.s32 [%w], %v;", U(-1), words, blocks),
                  largest);
        EXPECT_EQ(reduce_everywhere<Wide>("red.global.add.u64 [%w], %x;", 1, words, blocks), wide);
        // Two operations in turns, and an atom whose result is not used.
        EXPECT_EQ(reduce_everywhere<U>("red.global.or.b32 [%w], 0;\n"
                                       "red.global.add.u32 [%w], %v;",
                                       0, words, blocks),
                  sums);
        EXPECT_EQ(reduce_everywhere<U>("atom.global.add.u32 %n, [%w], %v;", 0, words, blocks),
                  sums);
    }
}

TEST_P(Atomics, operations_on_a_word_keep_their_order_if_the_table_is_given_up) {
    // The places in the loop share an entry of the table, so the table is of no use here.
    TestDevice device;
    auto* const words = device.allocate<U>(8 * 512);
    words[1] = 7;
    const Fault fault = run(device, R"(.visible .entry k(.param .u64 pw)
{
    .reg .pred %p;
    .reg .b32 %k, %j;
    .reg .b64 %w, %a;
    ld.param.u64 %w, [pw];
    mov.u32 %k, 0;
    red.global.add.u32 [%w+4], 1;
LOOP:
    and.b32 %j, %k, 7;
    mad.wide.u32 %a, %j, 2048, %w;
    red.global.add.u32 [%a], 1;
    add.u32 %k, %k, 1;
    setp.lt.u32 %p, %k, 3000;
    @%p bra LOOP;
    red.global.or.b32 [%w+4], 6;
    ret;
})",
                            {.grid = 1, .block = 1}, words);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    EXPECT_EQ(words[1], (7u + 1) | 6);
    for (U i = 0; i < 8; ++i) {
        EXPECT_EQ(words[i * 512], 3000u / 8);
    }
}

TEST_P(Atomics, a_thread_sees_its_own_reduction) {
    const auto outcome = act<U>("red.global.add.u32 [%w], 1;\nld.global.u32 %d, [%w];", 100, 1);
    EXPECT_EQ(outcome.old[0], 101u);
}

TEST_P(Atomics, a_block_may_wait_for_a_reduction_that_was_collected) {
    // Even blocks reduce and exit. Odd blocks wait until the block before them has done so.
    TestDevice device;
    auto* const count = device.allocate<U>(1);
    auto* const done = device.allocate<U>(1);
    const Fault fault = run(device, R"(.visible .entry k(.param .u64 pc, .param .u64 pd)
{
    .reg .pred %p;
    .reg .b64 %c, %d;
    .reg .b32 %b, %h, %n;
    ld.param.u64 %c, [pc];
    ld.param.u64 %d, [pd];
    mov.u32 %b, %ctaid.x;
    and.b32 %n, %b, 1;
    setp.eq.u32 %p, %n, 1;
    @%p bra WAIT;
    red.global.add.u32 [%c], 1;
    ret;
WAIT:
    shr.u32 %h, %b, 4;
SPIN:
    ld.volatile.global.u32 %n, [%c];
    setp.le.u32 %p, %n, %h;
    @%p bra SPIN;
    red.global.add.u32 [%d], 1;
    ret;
})",
                            {.grid = 4000, .block = 1}, count, done);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    EXPECT_EQ(*count, 2000u);
    EXPECT_EQ(*done, 2000u);
}

TEST_P(Atomics, sixteen_bytes_at_once) {
    TestDevice device;
    auto* const cell = device.allocate<std::uint64_t>(2);
    cell[0] = 3;
    cell[1] = 4;
    const Fault fault = run(device, R"(.visible .entry k(.param .u64 pc)
{
    .reg .b64 %c, %x, %y;
    .reg .b128 %old, %expected, %wanted;
    ld.param.u64 %c, [pc];
    mov.u64 %x, 3;
    mov.u64 %y, 4;
    mov.b128 %expected, {%x, %y};
    mov.b128 %wanted, {%y, %x};
    atom.global.cas.b128 %old, [%c], %expected, %wanted;
    ret;
}
)",
                            {.grid = 1, .block = 1}, reinterpret_cast<std::uint64_t>(cell));
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    EXPECT_EQ(cell[0], 4u);
    EXPECT_EQ(cell[1], 3u);
}

} // namespace

} // namespace cuprum::emulator::test
