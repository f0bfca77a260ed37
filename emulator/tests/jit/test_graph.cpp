// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The analysis of kernels for the compiling engine, on small kernels of each kind.

#include "interp/control.hpp"
#include "jit/graph_test.hpp"
#include "support/scaling.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

namespace cuprum::emulator {

namespace {

using jit::Block;
using jit::Version;
using test::analyse_body;
using test::Analysed;

constexpr auto F = Version::Full;
constexpr auto P = Version::Partial;

const char* const STORE = "mul.wide.u32 %d1, %i, 4; add.s64 %d2, %p, %d1;\n"
                          "st.global.u32 [%d2], %r1;\nret;\n";

// ---- straight code -----------------------------------------------------------------------------

TEST(Graph, straight_code_is_one_block) {
    const Analysed k = analyse_body(std::string("add.u32 %r1, %n, 5;\n") + STORE);
    ASSERT_EQ(k.problem, "");
    ASSERT_EQ(k.graph.blocks.size(), 2u);
    EXPECT_TRUE(k.graph.blocks[0].is_entry);
    EXPECT_EQ(k.graph.blocks[1].end, Block::End::Exit);
    EXPECT_FALSE(k.graph.needs_partial);
    EXPECT_EQ(k.lanes("add.u32 %r1"), "UU");
    EXPECT_EQ(k.lanes("mad.lo"), "AA");
    EXPECT_EQ(k.alignment("mad.lo"), 16u);
    EXPECT_EQ(k.lanes("mul.wide"), "PP");
    EXPECT_EQ(k.alignment("mul.wide"), 64u);
    EXPECT_EQ(k.lanes("add.s64"), "PP");
}

TEST(Graph, indices_that_cannot_wrap_need_no_test) {
    const std::string body = "mul.wide.s32 %d1, %i, 4; add.u32 %r1, %i, 1;\n"
                             "mul.wide.s32 %d2, %r1, 4; cvt.u64.u32 %d3, %r1;\n"
                             "add.s64 %d1, %d1, %d2; add.s64 %d1, %d1, %d3;\n"
                             "st.global.u64 [%p], %d1; ret;\n";
    const Analysed k = analyse_body(body, {.has_small_grid = false});
    EXPECT_FALSE(k.node("mul.wide.s32 %d1").must_not_wrap[0]);
    EXPECT_TRUE(k.node("mul.wide.s32 %d2").must_not_wrap[0]);
    EXPECT_TRUE(k.node("mul.wide.s32 %d2").must_not_wrap[1]);
    EXPECT_TRUE(k.node("cvt.u64.u32 %d3").must_not_wrap[0]);
    const Analysed small = analyse_body(body);
    EXPECT_FALSE(small.node("mul.wide.s32 %d2").must_not_wrap[0]);
    EXPECT_FALSE(small.node("cvt.u64.u32 %d3").must_not_wrap[0]);
}

TEST(Graph, patterns_follow_bits) {
    const Analysed k = analyse_body("and.b32 %r1, %t, 7; shr.u32 %r2, %t, 2; shl.b32 %r3, %t, 3;\n"
                                    "or.b32 %r4, %r3, 1; xor.b32 %r5, %t, 1; and.b32 %r6, %t, 48;\n"
                                    "mul.lo.u32 %r7, %t, 5; sub.u32 %r8, 3, %t;\n"
                                    "shr.u32 %r9, %t, 5; mul.lo.u32 %r10, %t, %t;\n"
                                    "rem.u32 %r11, %t, 4; div.u32 %r12, %t, 4;\n"
                                    "st.global.v4.u32 [%p], {%r1, %r2, %r3, %r4};\n"
                                    "st.global.v4.u32 [%p], {%r5, %r6, %r7, %r8};\n"
                                    "st.global.v4.u32 [%p], {%r9, %r10, %r11, %r12}; ret;\n");
    const auto offset = [&](const char* text, std::size_t lane) {
        return k.graph.lanes(k.node(text).results[0], F).offsets.at(lane);
    };
    EXPECT_EQ(offset("and.b32 %r1", 13), 5);
    EXPECT_EQ(offset("shr.u32 %r2", 13), 3);
    EXPECT_EQ(offset("shl.b32 %r3", 13), 104);
    EXPECT_EQ(offset("or.b32 %r4", 13), 105);
    EXPECT_EQ(offset("xor.b32 %r5", 13), 12);
    EXPECT_EQ(k.lanes("and.b32 %r6"), "UU"); // bits above the gang's lanes
    EXPECT_EQ(offset("mul.lo.u32 %r7", 13), 65);
    EXPECT_EQ(offset("sub.u32 %r8", 13), -13);
    EXPECT_EQ(k.lanes("shr.u32 %r9"), "UU"); // what differs is shifted out
    EXPECT_EQ(k.lanes("mul.lo.u32 %r10"), "VV");
    EXPECT_EQ(offset("rem.u32 %r11", 13), 1);
    EXPECT_EQ(offset("div.u32 %r12", 13), 3);
    const Analysed wide =
        analyse_body("shr.u32 %r9, %t, 5; st.global.u32 [%p], %r9; ret;\n", {.lanes = 32});
    EXPECT_EQ(wide.lanes("shr.u32 %r9"), "UU");
}

TEST(Graph, patterns_of_16_bits_vary) {
    const Analysed k = analyse_body(".reg .b16 %h<4>; cvt.u16.u32 %h1, %t; add.u16 %h2, %h1, 1;\n"
                                    "st.global.u16 [%p], %h2; ret;\n");
    EXPECT_EQ(k.lanes("cvt.u16"), "VV");
    EXPECT_EQ(k.lanes("add.u16"), "VV");
}

TEST(Graph, numbers_in_wider_registers_are_extended) {
    const Analysed k =
        analyse_body("add.u32 %r1, %t, 1; cvt.u32.u32 %d1, %r1; cvt.u64.u32 %d2, %d1;\n"
                     "add.s64 %d3, %d1, %d2; st.global.u64 [%p], %d3; ret;\n");
    EXPECT_EQ(k.lanes("cvt.u32.u32"), "VV");
    EXPECT_EQ(k.lanes("cvt.u64.u32"), "VV");
}

TEST(Graph, the_shape_of_blocks_decides_about_thread_numbers) {
    const std::string body = "mov.u32 %r1, %tid.y; add.u32 %r2, %r1, 1; add.u32 %r3, %t, 1;\n"
                             "st.global.v2.u32 [%p], {%r2, %r3}; st.global.u32 [%p], %i; ret;\n";
    const Analysed one = analyse_body(body, {.has_whole_rows = false, .has_one_row = true});
    EXPECT_EQ(one.lanes("add.u32 %r2"), "UU");
    EXPECT_EQ(one.lanes("add.u32 %r3"), "AA");
    EXPECT_EQ(one.lanes("mad.lo"), "AA");
    EXPECT_EQ(one.alignment("mad.lo"), 1u); // of any number of rows before
    const Analysed none = analyse_body(body, {.has_whole_rows = false, .has_one_row = false});
    EXPECT_EQ(none.lanes("add.u32 %r2"), "VV");
    EXPECT_EQ(none.lanes("add.u32 %r3"), "VV");
}

TEST(Graph, constants_that_differ_between_lanes) {
    const Analysed k = analyse_body("mov.u32 %r1, %laneid; mov.u32 %r2, %lanemask_lt;\n"
                                    "add.u32 %r3, %r1, 4; add.u32 %r4, %r2, 4;\n"
                                    "st.global.v2.u32 [%p], {%r3, %r4}; ret;\n");
    EXPECT_EQ(k.lanes("add.u32 %r3"), "AA");
    EXPECT_EQ(k.lanes("add.u32 %r4"), "VV"); // the two gangs of a warp differ
    const auto& sources = k.node("add.u32 %r3").sources;
    EXPECT_EQ(sources[0].kind, jit::Ref::Kind::Lanes);
    EXPECT_EQ(jit::constant_of(k.graph, sources[0], bytecode::Width::B32, 21), 21u);
    EXPECT_EQ(sources[1].kind, jit::Ref::Kind::Constant);
    EXPECT_EQ(jit::constant_of(k.graph, sources[1], bytecode::Width::B32), 4u);
}

TEST(Graph, constants_of_64_bits_are_the_same_in_all_lanes) {
    const Analysed k =
        analyse_body("add.s64 %d1, %p, 0x500000001; st.global.u64 [%p], %d1; ret;\n");
    const jit::Ref& constant = k.node("add.s64").sources[1];
    EXPECT_EQ(constant.kind, jit::Ref::Kind::Constant);
    EXPECT_EQ(jit::constant_of(k.graph, constant, bytecode::Width::B64), 0x500000001u);
    EXPECT_EQ(k.node("add.s64").sources[0].kind, jit::Ref::Kind::Bank);
}

TEST(Graph, addresses_of_variables_belong_to_the_context) {
    const Analysed k = analyse_body("mov.u64 %d1, global; add.s64 %d2, %d1, 4;\n"
                                    "st.global.u64 [%p], %d2; ret;\n",
                                    {}, ".global .b32 global[4];\n");
    EXPECT_EQ(k.node("add.s64").sources[0].kind, jit::Ref::Kind::Bank);
    EXPECT_EQ(k.lanes("add.s64"), "UU");
}

TEST(Graph, loads_from_uniform_addresses_are_uniform) {
    const Analysed k = analyse_body("ld.global.u32 %r1, [%p]; ld.const.u32 %r2, [table];\n"
                                    "mul.wide.u32 %d1, %t, 4; add.s64 %d1, %d1, %p;\n"
                                    "ld.global.u32 %r3, [%d1]; ld.u32 %r4, [%p];\n"
                                    "st.global.v4.u32 [%p], {%r1, %r2, %r3, %r4}; ret;\n",
                                    {}, ".const .b32 table[4];\n");
    EXPECT_EQ(k.lanes("ld.global.u32 %r1"), "UU");
    EXPECT_EQ(k.lanes("ld.const"), "UU");
    EXPECT_EQ(k.lanes("ld.global.u32 %r3"), "VV");
    EXPECT_EQ(k.lanes("ld.u32 %r4"), "UU");
}

TEST(Graph, local_memory_differs_between_threads) {
    const Analysed k = analyse_body(".local .b32 own[4]; st.local.u32 [own], %t;\n"
                                    "ld.local.u32 %r1, [own]; ld.u32 %r2, [%p];\n"
                                    "st.global.v2.u32 [%p], {%r1, %r2}; ret;\n");
    EXPECT_EQ(k.lanes("ld.local"), "VV");
    EXPECT_EQ(k.lanes("ld.u32 %r2"), "VV"); // a generic address may be one of local memory
}

TEST(Graph, results_of_atomics_and_clocks) {
    const Analysed k = analyse_body("atom.global.add.u32 %r1, [%p], 1; mov.u32 %r2, %clock;\n"
                                    "st.global.v2.u32 [%p], {%r1, %r2}; ret;\n");
    EXPECT_EQ(k.lanes("atom"), "VV");
    EXPECT_EQ(k.lanes("mov.u32 %r2"), "UU");
}

TEST(Graph, guarded_instructions_keep_what_was_there) {
    const Analysed k = analyse_body(std::string("setp.lt.u32 %q1, %t, %n; mov.u32 %r1, 7;\n"
                                                "@!%q1 add.u32 %r1, %n, 1;\n") +
                                    STORE);
    const jit::Node& node = k.node("@!%q1");
    EXPECT_EQ(node.guard.value, k.node("setp").results[0]);
    ASSERT_EQ(node.previous.size(), 1u);
    EXPECT_EQ(node.previous[0], k.node("mov.u32 %r1").results[0]);
    EXPECT_EQ(k.lanes("@!%q1"), "VV");
    EXPECT_EQ(k.node("st.global").sources[1].value, node.results[0]);
}

TEST(Graph, a_uniform_guard_leaves_uniform_values_uniform) {
    const Analysed k = analyse_body(std::string("setp.lt.u32 %q1, %n, 5; mov.u32 %r1, 7;\n"
                                                "@%q1 add.u32 %r1, %n, 1;\n") +
                                    STORE);
    EXPECT_EQ(k.lanes("@%q1"), "UU");
}

TEST(Graph, results_that_only_feed_each_other_are_not_needed) {
    const Analysed k = analyse_body(std::string("mov.u32 %r1, 0; mov.u32 %r2, 0;\n"
                                                "L: add.u32 %r2, %r2, 3; add.u32 %r1, %r1, 1;\n"
                                                "setp.lt.u32 %q1, %r1, %n; @%q1 bra L;\n") +
                                    STORE);
    EXPECT_FALSE(k.node("add.u32 %r2").is_needed);
    EXPECT_TRUE(k.node("add.u32 %r1").is_needed);
    EXPECT_EQ(k.block_at("add.u32 %r1").phis.size(), 1u);
}

// ---- branches ----------------------------------------------------------------------------------

TEST(Graph, lanes_that_return_early_are_gone) {
    const Analysed k = analyse_body(std::string("setp.ge.u32 %q1, %i, %n;\n@%q1 bra END;\n"
                                                "mov.u32 %r1, 1;\nst.global.u32 [%p], %r1;\n"
                                                "END: ret;\n"));
    const Block& test = k.block_at("setp");
    EXPECT_TRUE(test.leaves_early);
    EXPECT_EQ(test.successors[0], k.graph.exit);
    EXPECT_FALSE(test.is_negated);
    EXPECT_FALSE(test.is_simple);
    EXPECT_TRUE(k.graph.needs_partial);
    EXPECT_FALSE(k.has_mask("st.global", P));
    EXPECT_FALSE(k.graph.flow(P).has_mask[k.graph.exit]);
}

TEST(Graph, a_guarded_exit_is_a_branch) {
    const Analysed k = analyse_body(std::string("setp.ge.u32 %q1, %i, %n;\n@!%q1 exit;\n"
                                                "mov.u32 %r1, 1;\n") +
                                    STORE);
    const Block& test = k.block_at("setp");
    EXPECT_EQ(test.end, Block::End::Branch);
    EXPECT_EQ(test.successors[0], k.graph.exit);
    EXPECT_TRUE(test.is_negated);
    EXPECT_TRUE(test.leaves_early);
    // Where lanes wait for the exit, the interpreter finds an exit without a condition.
    EXPECT_TRUE(k.kernel->code[k.graph.blocks[k.graph.exit].pc].guard.is_none());
}

TEST(Graph, a_short_branch_stays_masked) {
    const Analysed k = analyse_body(std::string("ld.global.u32 %r5, [%p];\n"
                                                "setp.lt.u32 %q1, %t, %n;\n@%q1 bra A;\n"
                                                "add.u32 %r1, %n, 2;\nbra B;\n"
                                                "A: add.u32 %r1, %n, 3;\nB:\n") +
                                    STORE);
    EXPECT_TRUE(k.block_at("setp").is_simple);
    EXPECT_TRUE(k.is_divergent("setp", F));
    EXPECT_TRUE(k.is_divergent("setp", P));
    EXPECT_FALSE(k.graph.needs_partial);
    EXPECT_TRUE(k.has_mask("st.global", F));
    ASSERT_EQ(k.block_at("st.global").phis.size(), 1u);
    EXPECT_EQ(k.lanes_of(k.block_at("st.global").phis[0]), "VV");
    EXPECT_EQ(k.lanes("add.u32 %r1, %n, 2"), "UU");
}

std::string repeated(const std::string& text, int count) {
    std::string all;
    for (int i = 0; i < count; ++i) {
        all += text;
    }
    return all;
}

TEST(Graph, a_long_branch_leads_to_the_partial_version) {
    const Analysed k =
        analyse_body("setp.lt.u32 %q1, %t, %n;\nmov.u32 %r1, %n;\n@%q1 bra B;\n" +
                     repeated("mad.lo.u32 %r1, %r1, %r1, 3;\n", 17) + "B:\n" + STORE);
    EXPECT_FALSE(k.block_at("setp").is_simple);
    EXPECT_FALSE(k.is_divergent("setp", F));
    EXPECT_TRUE(k.is_divergent("setp", P));
    EXPECT_TRUE(k.graph.needs_partial);
    EXPECT_FALSE(k.has_mask("st.global", F));
    EXPECT_TRUE(k.has_mask("st.global", P));
    // In F, all lanes have come the same way.
    EXPECT_EQ(k.lanes_of(k.block_at("st.global").phis.at(0)), "UV");
}

TEST(Graph, a_uniform_branch_stays_a_branch) {
    const Analysed k = analyse_body(std::string("setp.lt.u32 %q1, %n, 100;\nmov.u32 %r1, %n;\n"
                                                "@%q1 bra B;\nadd.u32 %r1, %r1, 3;\nB:\n") +
                                    STORE);
    EXPECT_FALSE(k.is_divergent("setp", P));
    EXPECT_FALSE(k.has_mask("st.global", P));
    EXPECT_EQ(k.lanes_of(k.block_at("st.global").phis.at(0)), "UU");
}

TEST(Graph, comparisons_with_whole_gangs_are_uniform) {
    const Analysed k =
        analyse_body(std::string("mov.u32 %r1, %n;\nsetp.lt.u32 %q1, %t, 32;\n"
                                 "setp.lt.u32 %q2, %t, 33;\nsetp.eq.u32 %q3, %t, 32;\n"
                                 "@%q1 add.u32 %r1, %r1, 1;\n@%q2 add.u32 %r1, %r1, 2;\n"
                                 "@%q3 add.u32 %r1, %r1, 3;\n") +
                     STORE);
    EXPECT_EQ(k.lanes("setp.lt.u32 %q1"), "UU");
    EXPECT_EQ(k.lanes("setp.lt.u32 %q2"), "VV");
    EXPECT_EQ(k.lanes("setp.eq.u32 %q3"), "VV");
}

TEST(Graph, a_branch_with_an_atomic_or_a_barrier_is_not_short) {
    for (const char* const inside : {"atom.global.add.u32 %r1, [%p], 1;\n", "bar.sync 0;\n"}) {
        const Analysed k = analyse_body(std::string("mov.u32 %r1, 0;\nsetp.lt.u32 %q1, %t, %n;\n"
                                                    "@%q1 bra B;\n") +
                                        inside + "B:\n" + STORE);
        EXPECT_FALSE(k.block_at("setp").is_simple) << inside;
    }
}

// ---- loops -------------------------------------------------------------------------------------

TEST(Graph, a_uniform_loop) {
    const Analysed k = analyse_body(std::string("mov.u32 %r1, 0;\nmov.u32 %r2, %t;\n"
                                                "L: add.u32 %r2, %r2, %n;\nadd.u32 %r1, %r1, 4;\n"
                                                "setp.lt.u32 %q1, %r1, %n;\n@%q1 bra L;\n"
                                                "add.u32 %r1, %r1, %r2;\n") +
                                    STORE);
    ASSERT_EQ(k.graph.loops.size(), 1u);
    const jit::Loop& loop = k.graph.loops[0];
    EXPECT_EQ(loop.header, k.block("setp"));
    EXPECT_FALSE(loop.is_divergent);
    EXPECT_TRUE(k.graph.blocks[loop.header].is_entry);
    const Block& latch = k.graph.blocks[loop.latch];
    EXPECT_TRUE(latch.is_own && latch.is_latch);
    EXPECT_EQ(latch.cost, control::LOOP_COST);
    ASSERT_EQ(loop.exits.size(), 1u);
    EXPECT_TRUE(k.graph.blocks[loop.exits[0]].is_loop_exit);
    EXPECT_EQ(k.lanes("add.u32 %r1, %r1, 4"), "UU");
    EXPECT_EQ(k.alignment("add.u32 %r1, %r1, 4"), 4u);
    EXPECT_EQ(k.lanes("add.u32 %r2"), "AA");
    EXPECT_EQ(k.lanes("add.u32 %r1, %r1, %r2"), "AA");
}

TEST(Graph, a_divergent_loop) {
    const Analysed k = analyse_body(std::string("mov.u32 %r1, 0;\n"
                                                "L: add.u32 %r1, %r1, 4;\n"
                                                "setp.lt.u32 %q1, %r1, %t;\n@%q1 bra L;\n"
                                                "add.u32 %r1, %r1, 1;\n") +
                                    STORE);
    const jit::Loop& loop = k.graph.loops.at(0);
    EXPECT_TRUE(loop.is_divergent);
    EXPECT_EQ(k.graph.flow(P).waiting[loop.header], loop.exits);
    EXPECT_TRUE(k.graph.flow(F).waiting[loop.header].empty());
    // Inside, all lanes are in the same round. Behind it, each has its own in P.
    EXPECT_EQ(k.lanes("add.u32 %r1, %r1, 4"), "UU");
    EXPECT_EQ(k.lanes("add.u32 %r1, %r1, 1"), "UV");
}

TEST(Graph, a_boundary_that_no_lane_comes_to_is_skipped_while_others_wait) {
    const Analysed k = analyse_body(std::string("mov.u32 %r1, 0;\n"
                                                "L: add.u32 %r1, %r1, 4;\n"
                                                "setp.gt.u32 %q1, %r1, %t;\n@%q1 bra OUT;\n"
                                                "setp.gt.u32 %q2, %n, %t;\n@%q2 bra SKIP;\n"
                                                "nanosleep.u32 20;\n"
                                                "SKIP: add.u32 %r1, %r1, 2;\nbra L;\n"
                                                "OUT: add.u32 %r1, %r1, 1;\n") +
                                    STORE);
    const auto& waiting = k.graph.flow(P).waiting;
    const std::uint32_t exit = k.graph.loops.at(0).exits.at(0);
    EXPECT_EQ(std::ranges::count(waiting[k.block("nanosleep")], exit), 1);
    EXPECT_EQ(std::ranges::count(waiting[k.block("add.u32 %r1, %r1, 2")], exit), 1);
}

TEST(Graph, a_loop_over_the_whole_grid) {
    const Analysed k = analyse_body("mov.u32 %r1, %nctaid.x; mov.u32 %r3, %ntid.x;\n"
                                    "mul.lo.u32 %r2, %r1, %r3;\n"
                                    "setp.ge.u32 %q1, %i, %n;\n@%q1 bra END;\n"
                                    "L: mul.wide.u32 %d1, %i, 4; add.s64 %d2, %p, %d1;\n"
                                    "st.global.u32 [%d2], %r1;\nadd.u32 %i, %i, %r2;\n"
                                    "setp.lt.u32 %q2, %i, %n;\n@%q2 bra L;\nEND: ret;\n");
    EXPECT_EQ(k.lanes("add.u32 %i"), "AA");
    EXPECT_EQ(k.alignment("add.u32 %i"), 16u);
    EXPECT_EQ(k.lanes("add.s64 %d2"), "PP");
    EXPECT_TRUE(k.graph.loops.at(0).is_divergent);
    EXPECT_FALSE(k.node("mul.wide").must_not_wrap[1]);
    // Lanes that leave the loop wait for the others.
    EXPECT_EQ(k.graph.flow(P).waiting[k.graph.loops[0].header], k.graph.loops[0].exits);
}

TEST(Graph, break_and_continue) {
    const Analysed k =
        analyse_body(std::string("mov.u32 %r1, 0;\n"
                                 "L: add.u32 %r1, %r1, 1;\nld.global.u32 %r2, [%p];\n"
                                 "setp.eq.u32 %q1, %r1, %t;\n@%q1 bra L;\n"
                                 "setp.gt.u32 %q2, %r2, %r1;\n@%q2 bra OUT;\n"
                                 "add.u32 %r1, %r1, 3;\nbra L;\nOUT:\n") +
                     STORE);
    const jit::Loop& loop = k.graph.loops.at(0);
    const Block& latch = k.graph.blocks[loop.latch];
    EXPECT_EQ(latch.predecessors.size(), 2u); // continue and the end of the body
    EXPECT_EQ(latch.phis.size(), 1u);
    EXPECT_EQ(loop.exits.size(), 1u);
    EXPECT_TRUE(loop.is_divergent); // some lanes wait for the next round while others leave
    EXPECT_TRUE(k.graph.flow(P).has_mask[loop.latch]);
}

TEST(Graph, nested_loops_with_an_exit_from_both) {
    const Analysed k = analyse_body(std::string("mov.u32 %r1, 0;\nmov.u32 %r2, 0;\n"
                                                "O: mov.u32 %r3, 0;\n"
                                                "I: add.u32 %r3, %r3, 1;\nadd.u32 %r1, %r1, %r3;\n"
                                                "setp.eq.u32 %q1, %r1, 77;\n@%q1 bra ALL;\n"
                                                "setp.lt.u32 %q2, %r3, %n;\n@%q2 bra I;\n"
                                                "add.u32 %r2, %r2, 1;\n"
                                                "setp.lt.u32 %q3, %r2, %n;\n@%q3 bra O;\n"
                                                "ALL:\n") +
                                    STORE);
    ASSERT_EQ(k.graph.loops.size(), 2u);
    const jit::Loop& inner = k.graph.loops[0];
    const jit::Loop& outer = k.graph.loops[1];
    EXPECT_EQ(inner.parent, 1u);
    EXPECT_EQ(outer.parent, jit::NONE);
    EXPECT_EQ(inner.exits.size(), 2u);
    EXPECT_EQ(outer.exits.size(), 2u);
    // One block leaves both.
    EXPECT_TRUE(std::ranges::any_of(inner.exits, [&](std::uint32_t exit) {
        return std::ranges::find(outer.exits, exit) != outer.exits.end();
    }));
    EXPECT_EQ(k.lanes("add.u32 %r1, %r1, %r3"), "UU");
}

TEST(Graph, an_early_exit_in_a_loop) {
    const Analysed k = analyse_body(std::string("mov.u32 %r1, 0;\n"
                                                "L: add.u32 %r1, %r1, 1;\n"
                                                "setp.eq.u32 %q1, %r1, %t;\n@%q1 exit;\n"
                                                "setp.lt.u32 %q2, %r1, %n;\n@%q2 bra L;\n") +
                                    STORE);
    const jit::Loop& loop = k.graph.loops.at(0);
    EXPECT_TRUE(loop.is_divergent);
    ASSERT_EQ(loop.exits.size(), 2u);
    EXPECT_TRUE(std::ranges::any_of(loop.exits, [&](std::uint32_t exit) {
        return k.graph.blocks[exit].successors[0] == k.graph.exit;
    }));
}

TEST(Graph, a_loop_that_may_wait_for_others_costs_more) {
    const Analysed k = analyse_body("L: ld.volatile.global.u32 %r1, [%p];\n"
                                    "setp.eq.u32 %q1, %r1, 0;\n@%q1 bra L;\nret;\n");
    EXPECT_EQ(k.graph.blocks[k.graph.loops.at(0).latch].cost, control::SPIN_COST);
}

TEST(Graph, a_kernel_that_begins_with_a_loop) {
    // The parameters need no instructions.
    std::string log;
    const auto kernels = test::compile_for_graph(
        ".version 8.0\n.target sm_80\n.address_size 64\n"
        ".visible .entry k(.param .u64 pp) {\n.reg .b32 %r1; .reg .b64 %p; .reg .pred %q;\n"
        "L: ld.param.u64 %p, [pp]; ld.volatile.global.u32 %r1, [%p];\n"
        "setp.eq.u32 %q, %r1, 0; @%q bra L; ret;\n}\n",
        log);
    ASSERT_EQ(kernels.size(), 1u) << log;
    const Analysed k = test::analyse(kernels[0]);
    ASSERT_EQ(k.graph.loops.size(), 1u);
    EXPECT_TRUE(k.graph.blocks[0].is_own);
    EXPECT_FALSE(k.graph.blocks[0].is_entry);
    EXPECT_EQ(k.graph.loops[0].header, 1u);
    EXPECT_TRUE(k.graph.blocks[1].is_entry);
}

// ---- where compiled code stops -----------------------------------------------------------------

TEST(Graph, a_barrier_in_a_loop_divides_it) {
    const Analysed k = analyse_body(std::string("mov.u32 %r1, 0;\nmov.u32 %r2, %t;\n"
                                                "L: add.u32 %r1, %r1, 1;\nbar.sync 0;\n"
                                                "add.u32 %r2, %r2, %r1;\n"
                                                "setp.lt.u32 %q1, %r1, %n;\n@%q1 bra L;\n"
                                                "add.u32 %r1, %r1, %r2;\n") +
                                    STORE);
    const Block& before = k.block_at("bar.sync");
    EXPECT_EQ(before.end, Block::End::Boundary);
    EXPECT_EQ(before.end_pc, k.pc("bar.sync"));
    ASSERT_EQ(before.successors.size(), 1u);
    const Block& behind = k.graph.blocks[before.successors[0]];
    EXPECT_TRUE(behind.is_entry);
    EXPECT_EQ(behind.pc, k.pc("bar.sync") + 1);
    EXPECT_FALSE(before.live_out.empty());
    EXPECT_EQ(before.live_out, behind.live_in);
    EXPECT_FALSE(k.graph.loops.at(0).is_divergent);
}

TEST(Graph, what_a_boundary_writes_is_found_in_the_frame) {
    const Analysed k = analyse_body(std::string("setp.lt.u32 %q1, %t, %n;\n"
                                                "bar.red.popc.u32 %r1, 0, %q1;\n"
                                                "add.u32 %r1, %r1, 1;\n") +
                                    STORE);
    const Block& barrier = k.block_at("bar.red");
    const std::uint32_t result = k.node("add.u32 %r1").sources[0].value;
    EXPECT_EQ(k.graph.values[result].kind, jit::Value::Kind::Entry);
    EXPECT_EQ(k.graph.values[result].block, k.block("bar.red"));
    EXPECT_EQ(k.lanes_of(result), "VV");
    // The interpreter reads the predicate.
    const std::uint32_t predicate = k.node("setp").results[0];
    EXPECT_NE(std::ranges::find(barrier.live_out, predicate), barrier.live_out.end());
    EXPECT_EQ(std::ranges::find(barrier.live_out, result), barrier.live_out.end());
    EXPECT_EQ(std::ranges::count(k.block_at("add.u32 %r1").live_in, result), 1);
}

TEST(Graph, a_guarded_boundary_keeps_the_value_before) {
    const Analysed k = analyse_body(std::string("setp.lt.u32 %q1, %n, 9;\nmov.u32 %r1, 7;\n"
                                                "@%q1 bar.red.popc.u32 %r1, 0, %q1;\n") +
                                    STORE);
    const Block& barrier = k.block_at("@%q1 bar.red");
    const std::uint32_t before = k.node("mov.u32 %r1").results[0];
    EXPECT_EQ(std::ranges::count(barrier.live_out, before), 1);
    EXPECT_NE(k.node("st.global").sources[1].value, before);
}

TEST(Graph, lanes_do_not_wait_across_a_barrier) {
    const Analysed k =
        analyse_body(std::string("mov.u32 %r1, 0;\nsetp.lt.u32 %q1, %t, %n;\n"
                                 "@%q1 bra B;\nbar.sync 0;\nadd.u32 %r1, %n, 1;\nB:\n") +
                     STORE);
    EXPECT_TRUE(k.has_mask("st.global", P)); // while others go to the barrier
    EXPECT_TRUE(k.graph.flow(P).waiting[k.block("add.u32 %r1")].empty());
}

const char* const FUNCTION =
    ".visible .func (.param .b32 r) f(.param .b32 a) {\n.reg .b32 %x<6>; .reg .pred %y;\n"
    "ld.param.u32 %x1, [a]; setp.eq.u32 %y, %x1, 0; @%y bra Z; sub.u32 %x2, %x1, 1;\n"
    "{ .param .b32 q; .param .b32 w; st.param.b32 [q], %x2; call.uni (w), f, (q);\n"
    "ld.param.b32 %x3, [w]; } add.u32 %x4, %x3, %x1; st.param.b32 [r], %x4; ret;\n"
    "Z: st.param.b32 [r], %x1; ret;\n}\n";

TEST(Graph, calls_are_boundaries_and_functions_are_entered) {
    const Analysed k = analyse_body(std::string("{ .param .b32 q; .param .b32 w;\n"
                                                "st.param.b32 [q], %t; call.uni (w), f, (q);\n"
                                                "ld.param.b32 %r1, [w]; }\n") +
                                        STORE,
                                    {}, FUNCTION);
    ASSERT_EQ(k.problem, "");
    ASSERT_EQ(k.kernel->functions.size(), 1u);
    const std::uint32_t first = k.kernel->functions.begin()->second;
    EXPECT_EQ(std::ranges::count_if(k.graph.blocks,
                                    [&](const Block& block) {
                                        return block.pc == first && block.is_entry &&
                                               block.predecessors.empty();
                                    }),
              1);
    const auto calls = std::ranges::count_if(k.graph.blocks, [&](const Block& block) {
        return block.end == Block::End::Boundary &&
               k.kernel->code[block.end_pc].form.is(FixedOp::Call) && block.successors.size() == 1;
    });
    EXPECT_EQ(calls, 2);
    // Nobody goes on behind a return.
    const auto returns = std::ranges::count_if(k.graph.blocks, [](const Block& block) {
        return block.end == Block::End::Boundary && block.successors.empty();
    });
    EXPECT_EQ(returns, 2);
}

TEST(Graph, indexed_branches_lead_to_entries) {
    const Analysed k = analyse_body(std::string("and.b32 %r2, %n, 1;\n"
                                                "ways: .branchtargets A, B;\nbrx.idx %r2, ways;\n"
                                                "A: mov.u32 %r1, 5;\nbra C;\n"
                                                "B: mov.u32 %r1, 6;\nC:\n") +
                                    STORE);
    const Block& branch = k.block_at("brx.idx");
    EXPECT_EQ(branch.end, Block::End::Boundary);
    ASSERT_EQ(branch.successors.size(), 2u);
    for (const std::uint32_t next : branch.successors) {
        EXPECT_TRUE(k.graph.blocks[next].is_entry);
    }
}

TEST(Graph, what_looks_at_all_lanes_needs_a_gang_of_all) {
    const std::string body = std::string("setp.lt.u32 %q1, %t, %n;\n"
                                         "vote.sync.ballot.b32 %r1, %q1, 0xffffffff;\n"
                                         "shfl.sync.bfly.b32 %r2, %r1, 1, 31, 0xffffffff;\n"
                                         "add.u32 %r1, %r1, %r2;\n") +
                             STORE;
    const Analysed narrow = analyse_body(body, {.lanes = 16});
    const auto role = [](const Analysed& k, FixedOp op) {
        return std::ranges::count_if(k.graph.blocks, [&](const Block& block) {
            return block.end == Block::End::Boundary && k.kernel->code[block.end_pc].form.is(op);
        });
    };
    EXPECT_EQ(role(narrow, FixedOp::Rendezvous), 2);
    EXPECT_EQ(std::ranges::count(narrow.graph.blocks, Block::End::Boundary, &Block::end), 4);
    const Analysed wide = analyse_body(body, {.lanes = 32});
    EXPECT_EQ(std::ranges::count(wide.graph.blocks, Block::End::Boundary, &Block::end), 0);
    const auto lanes_of = [&](std::size_t source) {
        return wide.source_lanes("add.u32 %r1", source);
    };
    EXPECT_EQ(lanes_of(0), "UU");
    EXPECT_EQ(lanes_of(1), "UV"); // a shuffle of what all lanes have
}

TEST(Graph, butterfly_sums_are_the_same_in_all_lanes) {
    std::string body = "ld.global.f32 %f1, [%d1];\n";
    const auto exchange = [&](int distance) {
        const std::string number = std::to_string(distance);
        body += "mov.b32 %r1, %f1; shfl.sync.bfly.b32 %r2, %r1, " + number +
                ", 31, 0xffffffff; mov.b32 %f2, %r2;\nadd.f32 %f1, %f1, %f2;\n";
    };
    const auto lanes = [&](const std::string& end) {
        const Analysed k = analyse_body("mul.wide.u32 %d1, %t, 4; add.s64 %d1, %p, %d1;\n" + body +
                                            end + "st.global.f32 [%d1], %f3; ret;\n",
                                        {.lanes = 32});
        return k.lanes("mul.f32 %f3");
    };
    for (const int distance : {16, 8, 4, 2}) {
        exchange(distance);
    }
    EXPECT_EQ(lanes("mul.f32 %f3, %f1, %f1;\n"), "VV");
    exchange(1);
    EXPECT_EQ(lanes("mul.f32 %f3, %f1, %f1;\n"), "UV");
    EXPECT_EQ(lanes("ld.global.f32 %f4, [%d1]; mul.f32 %f3, %f1, %f4;\n"), "VV");
}

TEST(Graph, other_shuffles_do_not_make_lanes_the_same) {
    for (const char* const shuffle :
         {"shfl.sync.down.b32 %r2, %r1, 1, 31, -1;",
          "shfl.sync.bfly.b32 %r2, %r1, 1, 7967, -1;", // halves
          "shfl.sync.bfly.b32 %r2, %r3, 1, 31, -1;", "shfl.sync.bfly.b32 %r2, %r1, 3, 31, -1;"}) {
        std::string body = "ld.global.u32 %r1, [%d1]; ld.global.u32 %r3, [%d1+4];\n";
        for (const char* const distance : {"16", "8", "4", "2"}) {
            body += std::string("shfl.sync.bfly.b32 %r2, %r1, ") + distance +
                    ", 31, -1; add.u32 %r1, %r1, %r2;\n";
        }
        const Analysed k =
            analyse_body("mul.wide.u32 %d1, %t, 4; add.s64 %d1, %p, %d1;\n" + body + shuffle +
                             "\nadd.u32 %r1, %r1, %r2; not.b32 %r4, %r1;\n"
                             "st.global.u32 [%d1], %r4; ret;\n",
                         {.lanes = 32});
        EXPECT_EQ(k.lanes("not.b32"), "VV") << shuffle;
    }
}

// ---- how large values are ----------------------------------------------------------------------

TEST(Graph, indices_of_threads_have_no_sign) {
    const std::string body = "shr.s32 %r1, %i, 31; shr.u32 %r2, %r1, 27; add.s32 %r3, %i, %r2;\n"
                             "shr.s32 %r4, %r3, 5; and.b32 %r5, %r3, -32; sub.s32 %r6, %i, %r5;\n"
                             "st.global.v2.u32 [%p], {%r4, %r6}; ret;\n";
    const jit::Shape one_row{.lanes = 32, .has_whole_rows = true, .has_one_row = true};
    const Analysed k = analyse_body(body, one_row);
    EXPECT_EQ(k.lanes("shr.s32 %r4"), "UU"); // i / 32
    EXPECT_EQ(k.lanes("sub.s32 %r6"), "AA"); // i % 32
    jit::Shape large = one_row;
    large.has_small_grid = false;
    EXPECT_EQ(analyse_body(body, large).lanes("shr.s32 %r4"), "VV");
}

TEST(Graph, bits_below_what_all_others_are_multiples_of_are_added) {
    const std::string body = "shl.b32 %r1, %n, 6; and.b32 %r2, %t, 31; or.b32 %r3, %r1, %r2;\n"
                             "shl.b32 %r4, %n, 4; or.b32 %r5, %r4, %r2;\n"
                             "st.global.v2.u32 [%p], {%r3, %r5}; ret;\n";
    const Analysed k = analyse_body(body, {.lanes = 32});
    EXPECT_EQ(k.lanes("or.b32 %r3"), "AA");
    EXPECT_EQ(k.lanes("or.b32 %r5"), "VV");
}

TEST(Graph, what_a_loop_adds_to_has_no_bound) {
    const Analysed k = analyse_body(std::string("mov.u32 %r1, 0;\nL: add.u32 %r1, %r1, 1;\n"
                                                "setp.lt.u32 %q1, %r1, %n;\n@%q1 bra L;\n"
                                                "and.b32 %r1, %r1, 15;\n") +
                                    STORE);
    const auto most = [&](const char* text) {
        return k.graph.lanes(k.node(text).results[0], F).most;
    };
    EXPECT_GE(most("add.u32 %r1"), 0xffffffffu);
    EXPECT_EQ(most("and.b32 %r1"), 15u);
}

// ---- what is refused ---------------------------------------------------------------------------

TEST(Graph, a_loop_with_two_entries_is_refused) {
    const Analysed k = analyse_body(std::string("mov.u32 %r1, 0;\nsetp.lt.u32 %q1, %t, %n;\n"
                                                "@%q1 bra B;\nA: add.u32 %r1, %r1, 1;\n"
                                                "B: add.u32 %r1, %r1, 2;\n"
                                                "setp.lt.u32 %q2, %r1, %n;\n@%q2 bra A;\n") +
                                    STORE);
    EXPECT_EQ(k.problem, "it has a loop with several entries");
}

TEST(Graph, a_kernel_without_an_end_is_refused) {
    const Analysed k = analyse_body("L: bra L;\n");
    EXPECT_NE(k.problem, "");
}

TEST(Graph, a_description_names_everything) {
    const Analysed k = analyse_body(std::string("setp.ge.u32 %q1, %i, %n;\n@%q1 bra END;\n"
                                                "mov.u32 %r1, 0;\n"
                                                "L: add.u32 %r1, %r1, 4;\nbar.sync 0;\n"
                                                "setp.lt.u32 %q1, %r1, %n;\n@%q1 bra L;\n"
                                                "st.global.u32 [%p], %r1;\nEND: ret;\n"));
    const std::string text = jit::describe(k.graph);
    for (const char* const part :
         {"k: 8 blocks, 1 loops, needs P\n", "loop 0: b2 to b4, exits b5\n",
          "add.u32 %r1, %r1, 4 -> v", "bar.sync 0 -> boundary, then b3\n",
          ", divergent P, leaves\n", "latch of cost 1", " = phi(b1: v", "b7 at ", "  exit\n"}) {
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
    }
}

// ---- scaling -----------------------------------------------------------------------------------

void expect_linear(std::size_t size, const std::string& head, const std::string& unit,
                   const std::string& tail) {
    test::expect_scales(
        size,
        [&](std::size_t count) {
            std::string body = head;
            for (std::size_t i = 0; i < count; ++i) {
                std::string each = unit;
                for (std::size_t at = each.find('#'); at != std::string::npos;
                     at = each.find('#')) {
                    each.replace(at, 1, std::to_string(i));
                }
                body += each;
            }
            return analyse_body(body + tail + "\n").kernel;
        },
        [](const std::shared_ptr<const bytecode::Kernel>& kernel) {
            EXPECT_EQ(test::analyse(kernel).problem, "");
        });
}

TEST(GraphScaling, straight_code) {
    expect_linear(1000, "mov.u32 %r1, %t;\n", "mad.lo.u32 %r1, %r1, %n, %t;\n", STORE);
}

TEST(GraphScaling, branches) {
    expect_linear(300, "mov.u32 %r1, %t;\n",
                  "setp.lt.u32 %q1, %r1, #; @%q1 bra A#; mad.lo.u32 %r1, %r1, %n, 5;\n"
                  "st.global.u32 [%p], %r1; A#:\n",
                  STORE);
}

TEST(GraphScaling, loops) {
    expect_linear(200, "mov.u32 %r1, %t;\n",
                  "A#: add.u32 %r1, %r1, %n; setp.lt.u32 %q1, %r1, %t; @%q1 bra A#;\n", STORE);
}

TEST(GraphScaling, barriers) {
    expect_linear(300, "mov.u32 %r1, %t;\n", "bar.sync 0; add.u32 %r1, %r1, %n;\n", STORE);
}

TEST(GraphScaling, early_exits) {
    expect_linear(300, "mov.u32 %r1, %t;\n",
                  "setp.eq.u32 %q1, %r1, #; @%q1 exit; mad.lo.u32 %r1, %r1, %n, 5;\n", STORE);
}

} // namespace

} // namespace cuprum::emulator
