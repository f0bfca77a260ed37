// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Teams: several blocks in lockstep (exec/team.hpp). Each kernel runs three times: in teams, block
// by block, and with the warps of each block one after the other. All memory and all reports must
// be the same.

#include "exec/block.hpp"
#include "exec/engine.hpp"
#include "exec/published_code.hpp"
#include "exec/team.hpp"
#include "support/operation.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace cuprum::emulator {

namespace {

using exec::Block;
using exec::Grid;
using exec::GridLaunch;
using exec::Team;
using test::ptx_module;
using test::TestDevice;
using U = std::uint32_t;

constexpr std::size_t WORDS = 65536;
constexpr U SHIFT = 16384; // the kernels' pointers begin this many words into their memory
constexpr std::uint64_t MANY = 1u << 20;

/// What every kernel begins with: %i is the number of the thread in the grid, %t in the block, %k
/// the number of the block.
constexpr const char* TEAM_PROLOGUE = R"(
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n) {
.reg .pred %p, %q; .reg .b32 %x, %y, %b, %c, %w, %h, %g, %i, %k, %t, %n, %r<16>;
.reg .b64 %in, %out, %d<16>; .reg .f32 %f<8>;
ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; ld.param.u32 %n, [n];
mov.u32 %x, %tid.x; mov.u32 %y, %tid.y; mov.u32 %b, %ctaid.x; mov.u32 %c, %ctaid.y;
mov.u32 %w, %ntid.x; mov.u32 %h, %ntid.y; mov.u32 %g, %nctaid.x;
mad.lo.u32 %t, %y, %w, %x; mul.lo.u32 %r15, %w, %h; mad.lo.u32 %k, %c, %g, %b;
mad.lo.u32 %i, %k, %r15, %t;
)";

constexpr const char* STORE_RESULT = "mul.wide.u32 %d0, %i, 4; add.u64 %d0, %out, %d0; "
                                     "st.global.u32 [%d0], %r0;\n";

/// The sizes of a grid and of its blocks.
struct Sizes {
    U grid[2] = {1, 1};
    U block[2] = {32, 1};
};

/// What a run leaves behind.
struct TeamOutcome {
    Fault fault;
    std::vector<U> memory;
    std::uint64_t in_teams = 0; // blocks that have finished in teams
    std::uint64_t adopted = 0;  // blocks that have continued where their team parted
};

class InTeams : public test::OnEveryLevel {
protected:
    InTeams() : in_(device_.allocate<U>(WORDS)), out_(device_.allocate<U>(WORDS)) {}

    GridLaunch launch_of(const std::shared_ptr<const bytecode::Kernel>& kernel, const Sizes& sizes,
                         U n) const {
        GridLaunch launch;
        launch.kernel = kernel;
        launch.constants = device_.constants(kernel.get());
        std::copy_n(sizes.grid, 2, launch.grid);
        std::copy_n(sizes.block, 2, launch.block);
        launch.memory = &device_.map();
        const U* const pointers[] = {in_ + SHIFT, out_ + SHIFT};
        launch.parameters.resize(kernel->parameter_bytes);
        std::memcpy(launch.parameters.data(), pointers, sizeof pointers);
        std::memcpy(launch.parameters.data() + sizeof pointers, &n, sizeof n);
        return launch;
    }

    /// Runs all blocks of a grid on this thread, as a worker does.
    TeamOutcome run(const std::shared_ptr<const bytecode::Kernel>& kernel, const Sizes& sizes, U n,
                    std::uint64_t most = MANY) {
        for (U i = 0; i < WORDS; ++i) {
            in_[i] = i * i % 1009;
            out_[i] = i * 2654435761u;
        }
        TeamOutcome result;
        const auto grid = std::make_shared<Grid>(launch_of(kernel, sizes, n), [](const Fault*) {});
        Team team;
        Block block;
        PendingReductions reductions;
        team.configure(*grid, MANY, 0, reductions);
        const auto finish = [&](std::uint64_t number) {
            Block::Outcome outcome{};
            while ((outcome = block.run()) == Block::Outcome::Yielded) {
            }
            EXPECT_EQ(outcome == Block::Outcome::Faulted, block.fault().kind != FaultKind::None);
            result.fault = std::move(block.fault());
            return number + 1;
        };
        for (std::uint64_t next = 0;
             next < grid->block_count() && result.fault.kind == FaultKind::None;) {
            std::uint64_t end = next + 1;
            bool is_adopted = false;
            if (team.is_useful()) {
                const Team::Outcome outcome =
                    team.run(next, std::min(most, grid->block_count() - next));
                end = next + std::max(1u, team.block_count());
                if (team.block_count() > 1 && outcome != Team::Outcome::Parted) {
                    result.in_teams += team.block_count();
                    next = end;
                    if (outcome == Team::Outcome::Faulted) {
                        result.fault = std::move(team.fault());
                    }
                    continue;
                }
                is_adopted = team.block_count() > 1 && team.has_effects();
            }
            for (const std::uint64_t first = next;
                 next != end && result.fault.kind == FaultKind::None;) {
                block.start(grid, next, 0, reductions);
                if (is_adopted) {
                    block.adopt(team, static_cast<U>(next - first));
                    ++result.adopted;
                }
                next = finish(next);
            }
        }
        apply_reductions(reductions);
        result.memory.assign(out_, out_ + WORDS);
        return result;
    }

    /// Runs the body of a kernel in all three ways. Returns what the teams have left behind.
    TeamOutcome expect_same(const std::string& body, const Sizes& sizes, U n = 3000) {
        const auto kernel = device_.compile(ptx_module(TEAM_PROLOGUE + body + "\nret;\n}"));
        EXPECT_TRUE(kernel) << device_.log << body;
        if (kernel == nullptr) {
            return {};
        }
        const auto together = std::make_shared<bytecode::Kernel>(*kernel);
        const auto alone = test::without_lockstep(*kernel);
        together->can_run_in_teams = false;
        alone->can_run_in_teams = false;
        TeamOutcome in_teams = run(kernel, sizes, n, 5);
        expect_equal(in_teams, run(kernel, sizes, n), body, "teams of other sizes");
        for (const auto& other : {together, alone}) {
            device_.set_constants(other.get(), device_.constants(kernel.get()));
            const TeamOutcome outcome = run(other, sizes, n);
            EXPECT_EQ(outcome.in_teams, 0u);
            expect_equal(in_teams, outcome, body, other == together ? "blocks" : "warps");
        }
        return in_teams;
    }

    static void expect_equal(const TeamOutcome& teams, const TeamOutcome& other,
                             const std::string& body, const char* what) {
        EXPECT_EQ(teams.fault.kind, other.fault.kind) << teams.fault.report << body;
        EXPECT_EQ(teams.fault.report, other.fault.report) << what;
        if (teams.fault.kind != FaultKind::None) {
            return; // how far the others were is undefined
        }
        const auto differing =
            std::mismatch(teams.memory.begin(), teams.memory.end(), other.memory.begin());
        EXPECT_TRUE(differing.first == teams.memory.end())
            << "word " << differing.first - teams.memory.begin() << " is " << *differing.first
            << " in teams and " << *differing.second << " in " << what << ":\n"
            << body;
    }

    static std::vector<Sizes> all_sizes() {
        return {{{70, 1}, {32, 1}},  {{9, 1}, {256, 1}}, {{13, 1}, {64, 1}}, {{6, 1}, {16, 16}},
                {{7, 3}, {32, 4}},   {{1, 11}, {96, 1}}, {{33, 2}, {8, 4}},  {{12, 1}, {48, 1}},
                {{1, 1}, {1024, 1}}, {{1, 1}, {128, 1}}};
    }

    /// Does so for grids and blocks of several sizes. Returns how many blocks have finished in
    /// teams.
    std::uint64_t expect_same_in_sizes(const std::string& body, U n = 3000) {
        std::uint64_t in_teams = 0;
        for (const Sizes& sizes : all_sizes()) {
            in_teams += expect_same(body, sizes, n).in_teams;
        }
        EXPECT_TRUE(has_teams() || in_teams == 0);
        return in_teams;
    }

    static bool has_teams() {
        return std::string(GetParam()) == "v3" || std::string(GetParam()) == "v4";
    }

    /// All blocks of all_sizes() that share a team of at most five blocks with another block.
    static constexpr std::uint64_t ALL_IN_TEAMS = 70 + 9 + 13 + 5 + 21 + 10 + 66;

    TestDevice device_;
    U* in_;
    U* out_;
};

INSTANTIATE_TEST_SUITE_P(Levels, InTeams, test::LEVELS,
                         [](const auto& each) { return std::string(each.param); });

} // namespace

TEST_P(InTeams, blocks_that_only_exit) {
    const std::uint64_t in_teams = expect_same_in_sizes("");
    EXPECT_EQ(in_teams, has_teams() ? ALL_IN_TEAMS : 0);
}

TEST_P(InTeams, indices_and_elements_of_every_size) {
    for (const char* type : {"u8", "s16", "u32"}) {
        const std::string name = type;
        const std::string size = name == "u8" ? "1" : name == "s16" ? "2" : "4";
        const std::uint64_t in_teams = expect_same_in_sizes(
            "mul.wide.u32 %d1, %i, " + size + "; add.u64 %d2, %in, %d1; add.u64 %d3, %out, %d1;\n" +
            "ld.global." + name + " %r0, [%d2]; add.u32 %r0, %r0, %k;\nst.global." + name +
            " [%d3], %r0;");
        EXPECT_EQ(in_teams, has_teams() ? ALL_IN_TEAMS : 0) << name;
    }
}

TEST_P(InTeams, values_of_the_block) {
    // As operands of linear, plain and storing instructions, and as a store's value.
    const std::uint64_t in_teams = expect_same_in_sizes(
        "mul.wide.u32 %d0, %i, 4; add.u64 %d0, %out, %d0; st.global.u32 [%d0], %b;\n"
        "mov.u32 %r1, %ctaid.x; xor.b32 %r2, %r1, %t; popc.b32 %r3, %ctaid.x; mul.lo.u32 %r4, %r3, "
        "%r2; mov.u32 %r5, %clusterid.x; mov.u32 %r6, %ctaid.z; add.u32 %r0, %r4, %r5;\n"
        "add.u32 %r0, %r0, %r6; cvt.rn.f32.u32 %f0, %b; mov.b32 %r7, %f0; add.u32 %r0, %r0, %r7;\n"
        "st.global.u32 [%d0+40000], %r0;");
    EXPECT_EQ(in_teams, has_teams() ? ALL_IN_TEAMS : 0);
    // One word per block, at one address for all its threads; and in reverse order.
    (void)expect_same_in_sizes("mul.wide.u32 %d0, %k, 4; add.u64 %d0, %out, %d0;\n"
                               "st.global.u32 [%d0], %k;");
    (void)expect_same_in_sizes("sub.u32 %r1, 5000, %i; mul.wide.s32 %d1, %r1, 4; add.u64 %d2, %in, "
                               "%d1; ld.global.u32 %r0, [%d2];\n" +
                               std::string(STORE_RESULT));
    (void)expect_same_in_sizes("sub.u32 %r1, 90, %k; mad.lo.u32 %r1, %r1, %r15, %t;\n"
                               "mul.wide.s32 %d1, %r1, 4; add.u64 %d2, %out, %d1;\n"
                               "st.global.u32 [%d2], %i;");
}

TEST_P(InTeams, products_of_loaded_numbers) {
    (void)expect_same_in_sizes(
        "setp.ge.s32 %p, %i, %n; @%p bra END; mul.wide.s32 %d1, %i, 4; add.u64 %d2, %in, %d1;\n"
        "ld.global.f32 %f1, [%d2]; add.u64 %d3, %out, %d1; ld.global.f32 %f2, [%d3];\n"
        "fma.rn.f32 %f3, %f1, 0f40400000, %f2; st.global.f32 [%d3], %f3;\nEND:");
    (void)expect_same_in_sizes(
        "mul.wide.s32 %d1, %i, 4; add.u64 %d2, %in, %d1; add.u64 %d3, %out, %d1;\n"
        "cvt.rn.f32.u32 %f4, %b; ld.global.f32 %f1, [%d2]; ld.global.f32 %f2, [%d3];\n"
        "fma.rn.f32 %f3, %f1, %f2, %f4; st.global.f32 [%d3], %f3;");
}

TEST_P(InTeams, sums_of_vectors) {
    // Loads and stores of all warps lie in rows. The result may lie on a source.
    for (const Sizes& sizes :
         {Sizes{{64, 1}, {32, 1}}, Sizes{{20, 1}, {256, 1}}, Sizes{{4, 1}, {1024, 1}}}) {
        const auto sum = [](const std::string& to) {
            return "mul.wide.s32 %d1, %i, 4; add.u64 %d2, %out, %d1; add.u64 %d3, %in, %d1;\n"
                   "ld.global.f32 %f1, [%d2]; ld.global.f32 %f2, [%d3];\n"
                   "fma.rn.f32 %f3, %f1, 0f40400000, %f2; st.global.f32 [" +
                   to + "], %f3;";
        };
        for (const char* place : {"%d2", "%d2+40000", "%d2-40000"}) {
            const TeamOutcome outcome = expect_same(sum(place), sizes);
            EXPECT_EQ(outcome.in_teams, has_teams() ? sizes.grid[0] : 0);
        }
        // In reverse order, and in rows of blocks that are apart.
        const std::string of_inputs = "mul.wide.s32 %d1, %i, 4; add.u64 %d3, %in, %d1;\n"
                                      "ld.global.f32 %f1, [%d3]; ld.global.f32 %f2, [%d3+64];\n"
                                      "fma.rn.f32 %f3, %f1, 0f40400000, %f2;"
                                      " st.global.f32 [%d4], %f3;";
        (void)expect_same("sub.u32 %r1, 9000, %i; mul.wide.s32 %d4, %r1, 4; add.u64 %d4, %out, %d4;"
                          "\n" +
                              of_inputs,
                          sizes);
        (void)expect_same("mul.lo.u32 %r1, %b, 300; add.u32 %r1, %r1, %t; mul.wide.s32 %d4, %r1, 4;"
                          " add.u64 %d4, %out, %d4;\n" +
                              of_inputs,
                          sizes);
        // The store has a fault: beyond its memory, and at an odd address.
        device_.set_permission(out_ + SHIFT + 1024, 4, Permission::Read);
        const Fault fault = expect_same(sum("%d2"), sizes).fault;
        device_.set_permission(out_ + SHIFT + 1024, 4, Permission::ReadWrite);
        EXPECT_EQ(fault.kind, FaultKind::IllegalAddress);
        EXPECT_EQ(expect_same(sum("%d2+2"), sizes).fault.kind, FaultKind::MisalignedAddress);
    }
}

TEST_P(InTeams, blocks_that_part_after_a_sum_of_vectors) {
    const TeamOutcome outcome =
        expect_same("mul.wide.s32 %d1, %i, 4; add.u64 %d2, %out, %d1; add.u64 %d3, %in, %d1;\n"
                    "ld.global.f32 %f1, [%d2]; ld.global.f32 %f2, [%d3];\n"
                    "fma.rn.f32 %f3, %f1, 0f40400000, %f2; st.global.f32 [%d2], %f3;\n"
                    "setp.lt.u32 %p, %i, %n; @%p bra OVER; st.global.u32 [%d2+32768], %i;\nOVER:",
                    {{64, 1}, {32, 1}}, 1000);
    EXPECT_EQ(outcome.adopted, has_teams() ? 5 : 0);
    EXPECT_EQ(outcome.in_teams, has_teams() ? 59 : 0);
}

TEST_P(InTeams, teams_become_smaller_before_a_grid_does_without) {
    // The last block of each row goes another way, so the last team of each row parts.
    const auto kernel = device_.compile(
        ptx_module(TEAM_PROLOGUE +
                   std::string("add.u32 %r1, %b, 1; setp.eq.u32 %p, %r1, %g; mov.u32 %r0, 1;\n"
                               "@%p bra OVER; mov.u32 %r0, 2;\nOVER: mul.wide.u32 %d0, %t, 4;\n"
                               "add.u64 %d0, %out, %d0; st.global.u32 [%d0], %r0; ret;\n}")));
    ASSERT_TRUE(kernel) << device_.log;
    EXPECT_EQ(kernel->can_run_in_teams, has_teams());
    const Sizes sizes{{125, 100}, {256, 1}};
    const TeamOutcome outcome = run(kernel, sizes, 0);
    EXPECT_EQ(outcome.fault.kind, FaultKind::None) << outcome.fault.report;
    if (has_teams()) {
        EXPECT_GT(outcome.in_teams, 125u * 100u * 9 / 10);
    }
}

TEST_P(InTeams, blocks_that_part_start_again_before_they_have_effects) {
    for (const char* bound : {"0", "1", "40", "1000", "1024", "2000"}) {
        for (const char* value : {"%i", "%k", "%t"}) {
            (void)expect_same_in_sizes(
                "setp.ge.u32 %p, " + std::string(value) + ", " + bound +
                "; mov.u32 %r0, 7; @%p bra OVER; add.u32 %r0, %i, 9;\nOVER:\n" + STORE_RESULT);
            (void)expect_same_in_sizes("setp.lt.s32 %p, " + std::string(value) + ", " + bound +
                                       "; @%p ret; mov.u32 %r0, 3;\n" + STORE_RESULT);
        }
    }
    const Sizes sizes{{64, 1}, {32, 1}};
    const TeamOutcome outcome = expect_same("setp.ge.u32 %p, %i, %n; @%p ret; mov.u32 %r0, 1;\n" +
                                                std::string(STORE_RESULT),
                                            sizes, 1000);
    EXPECT_EQ(outcome.adopted, 0u);
    EXPECT_EQ(outcome.in_teams, has_teams() ? 59 : 0); // all but the team of block 31
}

TEST_P(InTeams, blocks_that_part_after_effects_continue_where_they_are) {
    const std::string body = "mul.wide.u32 %d0, %i, 4; add.u64 %d0, %out, %d0;\n"
                             "atom.global.add.u32 %r1, [%d0], 5; mul.lo.u32 %r2, %i, %k;\n"
                             "mov.u32 %r3, 1; setp.lt.u32 %p, %i, %n; @%p bra OVER;\n"
                             "mov.u32 %r3, 2; add.u32 %r2, %r2, %t;\nOVER:\n"
                             "add.u32 %r0, %r1, %r2; add.u32 %r0, %r0, %r3; add.u32 %r0, %r0, %b;\n"
                             "atom.global.add.u32 %r1, [%d0], %r0;";
    const TeamOutcome outcome = expect_same(body, {{64, 1}, {32, 1}}, 1000);
    EXPECT_EQ(outcome.adopted, has_teams() ? 5 : 0);
    EXPECT_EQ(outcome.in_teams, has_teams() ? 59 : 0);
    for (const U n : {0u, 100u, 512u, 1000u, 1500u}) {
        (void)expect_same_in_sizes(body, n);
    }
}

TEST_P(InTeams, a_block_leaves_lockstep_after_others_have_continued_by_themselves) {
    // Block 20 goes another way before effects, block 100 after them, and threads of block 150
    // part.
    const std::string body =
        "setp.eq.u32 %p, %k, 20; mov.u32 %r3, 1; @%p bra A; mov.u32 %r3, 2;\nA:\n"
        "setp.eq.u32 %p, %k, 150; selp.u32 %r4, %t, 0, %p; setp.gt.u32 %q, %r4, 33; @%q bra B;\n"
        "add.u32 %r3, %r3, 7;\nB:\n"
        "mul.wide.u32 %d0, %i, 4; add.u64 %d0, %out, %d0; atom.global.add.u32 %r1, [%d0], 5;\n"
        "setp.eq.u32 %p, %k, 100; @%p bra C; add.u32 %r3, %r3, 20;\nC:\n"
        "add.u32 %r0, %r1, %r3; atom.global.add.u32 %r1, [%d0], %r0;";
    for (const U threads : {32u, 64u, 128u}) {
        const TeamOutcome outcome = expect_same(body, {{200, 1}, {threads, 1}});
        EXPECT_EQ(outcome.adopted, has_teams() ? 5 : 0);
    }
}

TEST_P(InTeams, a_grid_whose_teams_part_runs_block_by_block) {
    // Every other block goes another way.
    const std::string body = "and.b32 %r1, %b, 1; setp.eq.u32 %p, %r1, 0; mov.u32 %r0, 1;\n"
                             "@%p bra OVER; mov.u32 %r0, 2;\nOVER:\n" +
                             std::string(STORE_RESULT);
    const TeamOutcome outcome = expect_same(body, {{200, 1}, {32, 1}});
    EXPECT_EQ(outcome.in_teams, 0u);
}

TEST_P(InTeams, reductions_and_atomics) {
    (void)expect_same_in_sizes("and.b32 %r1, %i, 15; mul.wide.u32 %d0, %r1, 4; add.u64 %d0, %out, "
                               "%d0; red.global.add.u32 [%d0], %k;");
    (void)expect_same_in_sizes("atom.global.add.u32 %r1, [%out], 3; atom.global.max.u32 %r2, "
                               "[%out+4], %k; add.u32 %r0, %r1, %r2;\n"
                               "mul.wide.u32 %d0, %i, 4; add.u64 %d0, %out, %d0;\n"
                               "st.global.u32 [%d0+64], 1;");
}

TEST_P(InTeams, loads_behind_reductions) {
    const std::uint64_t in_teams =
        expect_same_in_sizes("mul.wide.u32 %d0, %i, 4; add.u64 %d0, %out, %d0;\n"
                             "red.global.add.u32 [%d0], %k; ld.global.u32 %r1, [%d0];\n"
                             "add.u32 %r1, %r1, %i; red.global.xor.b32 [%d0], %r1;");
    EXPECT_EQ(in_teams, has_teams() ? ALL_IN_TEAMS : 0);
}

TEST_P(InTeams, warp_operations_and_selections) {
    (void)expect_same_in_sizes(
        "mov.u32 %r1, %warpid; mov.u32 %r2, %laneid; add.u32 %r3, %i, %r1;\n"
        "shfl.sync.bfly.b32 %r4, %r3, 5, 31, -1; setp.gt.u32 %p, %r4, %i;\n"
        "vote.sync.ballot.b32 %r5, %p, -1; selp.b32 %r6, %r5, %k, %p; add.u32 %r0, %r6, %r2;\n"
        "activemask.b32 %r7; xor.b32 %r0, %r0, %r7;\n" +
        std::string(STORE_RESULT));
}

TEST_P(InTeams, faults_name_the_block_and_the_thread) {
    const std::string base = "mul.wide.u32 %d1, %i, 4; add.u64 %d2, %out, %d1;\n";
    for (const Sizes& sizes : {Sizes{{70, 1}, {32, 1}}, Sizes{{9, 1}, {256, 1}}}) {
        device_.set_permission(out_ + SHIFT + 1024, 4, Permission::Read);
        const Fault fault = expect_same(base + "st.global.u32 [%d2], %i;", sizes).fault;
        device_.set_permission(out_ + SHIFT + 1024, 4, Permission::ReadWrite);
        EXPECT_EQ(fault.kind, FaultKind::IllegalAddress);
        EXPECT_NE(fault.report.find(sizes.block[0] == 32 ? "block (32, 0, 0)" : "block (4, 0, 0)"),
                  std::string::npos)
            << fault.report;
        EXPECT_EQ(expect_same(base + "ld.global.u32 %r0, [%d2+2]; st.global.u32 [%d2], %r0;", sizes)
                      .fault.kind,
                  FaultKind::MisalignedAddress);
    }
}

TEST_P(InTeams, steps_that_have_no_place_in_a_head) {
    // A step from block to block of 2^63, and some that wrap.
    for (const char* shift : {"63", "62", "61", "32", "31"}) {
        (void)expect_same_in_sizes("cvt.u64.u32 %d1, %b; shl.b64 %d2, %d1, " + std::string(shift) +
                                   "; cvt.u64.u32 %d3, %i; add.u64 %d4, %d2, %d3;\n"
                                   "add.u64 %d4, %d4, %d2; shr.u64 %d5, %d4, 5; cvt.u32.u64 %r0, "
                                   "%d5; cvt.u32.u64 %r1, %d4; xor.b32 %r0, %r0, %r1;\n" +
                                   STORE_RESULT);
    }
    for (const char* factor : {"0x10000000", "0x7fffffff", "0xffffffff", "0x04000001"}) {
        for (const char* type : {"u", "s"}) {
            const std::string t = type;
            (void)expect_same_in_sizes("mul.lo.u32 %r1, %b, " + std::string(factor) +
                                       "; add.u32 %r1, %r1, %t; cvt." + t + "64." + t +
                                       "32 %d1, %r1; shr.u64 %d2, %d1, 30; cvt.u32.u64 %r0, %d2;\n"
                                       "setp.lt." +
                                       t +
                                       "32 %p, %r1, 77; selp.b32 %r2, 5, 6, %p;\n"
                                       "xor.b32 %r0, %r0, %r2;\n" +
                                       STORE_RESULT);
        }
    }
}

TEST_P(InTeams, kernels_that_need_whole_blocks_do_without) {
    const auto count_in_teams = [&](const std::string& text) {
        const auto kernel = device_.compile(ptx_module(text));
        EXPECT_TRUE(kernel) << device_.log;
        return kernel == nullptr ? 0 : run(kernel, {{64, 1}, {32, 1}}, 0).in_teams;
    };
    const std::string head = ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n) {\n"
                             ".reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d;\n";
    EXPECT_EQ(count_in_teams(head + "ret; }"), has_teams() ? 64 : 0);
    EXPECT_EQ(count_in_teams(head + ".shared .b32 s; mov.u32 %r0, 1; st.shared.u32 [s], %r0; "
                                    "ret; }"),
              0u);
    EXPECT_EQ(count_in_teams(head + "bar.sync 0; ret; }"), 0u);
    EXPECT_EQ(count_in_teams(head + "mov.u32 %r0, 0; L: add.u32 %r0, %r0, 1; setp.lt.u32 %p, %r0, "
                                    "9; @%p bra L; ret; }"),
              0u);
    EXPECT_EQ(count_in_teams(head + ".local .b32 l; mov.u32 %r0, 1; st.local.u32 [l], %r0; ret; }"),
              0u);
}

TEST_P(InTeams, random_programs_without_loops) {
    std::mt19937 random(20261117);
    const auto below = [&](std::size_t count) { return random() % count; };
    const auto pick = [&](const std::vector<std::string>& from) {
        return from[below(from.size())];
    };
    for (int program = 0; program < 80 && !HasFailure(); ++program) {
        std::vector<std::string> values = {"%i", "%t", "%x", "%y", "%n", "%b", "%k", "%c"};
        std::string body;
        for (int r = 0; r < 10; ++r) {
            body += "add.u32 %r" + std::to_string(r) + ", " + pick(values) + ", " +
                    std::to_string(r) + ";\n";
        }
        const std::size_t length = 3 + below(12);
        for (std::size_t at = 0; at < length; ++at) {
            const std::string to = "%r" + std::to_string(1 + below(9));
            const std::string a = pick(values);
            const std::string b = pick(values);
            const std::string number = std::to_string(below(90));
            const std::string label = "L" + std::to_string(at);
            switch (below(8)) {
            case 0:
                body += "add.u32 " + to + ", " + a + ", " + b + ";\n";
                break;
            case 1:
                body += "sub.u32 " + to + ", " + number + ", " + a + ";\n";
                break;
            case 2:
                body += "mad.lo.u32 " + to + ", " + a + ", " + number + ", " + b + ";\n";
                break;
            case 3:
                body += "shl.b32 " + to + ", " + a + ", " + std::to_string(below(34)) + ";\n";
                break;
            case 4:
                body += "and.b32 %r12, " + a +
                        ", 8191; mul.wide.u32 %d1, %r12, 4; add.u64 %d1, "
                        "%in, %d1; ld.global.u32 " +
                        to + ", [%d1];\n";
                break;
            case 5:
                body += "setp." + pick({"lt", "ge", "eq", "ne"}) + "." + pick({"u", "s"}) +
                        "32 %p, " + a + ", " + pick({b, number}) + "; mov.u32 " + to + ", 1; @" +
                        pick({"", "!"}) + "%p bra " + label + "; mov.u32 " + to + ", " + b + ";\n" +
                        label + ":\n";
                break;
            case 6: // an effect that depends on all that came before
                body += "xor.b32 %r0, %r0, " + a +
                        "; mul.wide.u32 %d2, %i, 4; add.u64 %d2, %out, "
                        "%d2; atom.global.add.u32 %r13, [%d2], %r0; add.u32 " +
                        to + ", %r13, " + b + ";\n";
                break;
            default:
                body += "mul.wide." + pick({"u", "s"}) + "32 %d4, " + a + ", " + number +
                        "; cvt.u64.u32 %d3, " + b +
                        "; add.u64 %d3, %d3, %d4; shr.u64 %d4, %d3, "
                        "32; cvt.u32.u64 %r11, %d4; xor.b32 %r0, %r0, %r11; cvt.u32.u64 " +
                        to + ", %d3;\n";
                break;
            }
            values.push_back(to);
        }
        for (int r = 1; r < 10; ++r) {
            body += "xor.b32 %r0, %r0, %r" + std::to_string(r) + ";\n";
        }
        (void)expect_same_in_sizes(body + STORE_RESULT, static_cast<U>(random() % 3000));
    }
}

namespace {

/// Returns whether blocks run in teams on this machine, given enough of them. The level may be
/// chosen by the environment.
bool has_teams_by_default() {
    TestDevice device;
    const auto kernel = device.compile(ptx_module(".visible .entry k() { ret; }"));
    return kernel != nullptr && !kernel->lockstep.empty();
}

} // namespace

TEST(Teams, the_engine_runs_every_block_of_a_large_grid_once) {
    for (const U threads : {32u, 64u}) {
        TestDevice device;
        // A worker runs teams if its share of the grid has 128 warps or more.
        const U workers = exec::Engine::instance().worker_count();
        const U blocks = std::max(20'000u, 2 * 128 * workers);
        if (blocks > 100'000) {
            GTEST_SKIP() << workers << " workers need more memory than the device has";
        }
        U* const counts = device.allocate<U>(blocks);
        U* const distances = device.allocate<U>(blocks);
        U* const counters = device.allocate<U>(2);
        // The first thread of each block takes two numbers. In a team, the other blocks take theirs
        // in between. Some blocks go another way, after they have been counted.
        const Fault fault =
            test::run(device, R"(.visible .entry k(.param .u64 counts, .param .u64 distances,
                                         .param .u64 counters) {
            .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %d<8>;
            ld.param.u64 %d0, [counts]; ld.param.u64 %d1, [distances];
            ld.param.u64 %d2, [counters]; mov.u32 %r0, %ctaid.x; mul.wide.u32 %d3, %r0, 4;
            add.u64 %d4, %d0, %d3; atom.global.add.u32 %r1, [%d4], 1; add.u64 %d5, %d1, %d3;
            mov.u32 %r2, %tid.x; setp.eq.u32 %p, %r2, 0; mov.u32 %r3, 0; mov.u32 %r4, 0;
            @%p atom.global.add.u32 %r3, [%d2], 1; @%p atom.global.add.u32 %r4, [%d2], 1;
            sub.u32 %r5, %r4, %r3; @%p st.global.u32 [%d5], %r5;
            rem.u32 %r6, %r0, 997; setp.ne.u32 %p, %r6, 3; @%p bra END;
            red.global.add.u32 [%d2+4], 1;
            END: ret; })",
                      {.grid = blocks, .block = threads}, counts, distances, counters);
        ASSERT_EQ(fault.kind, FaultKind::None) << fault.report;
        EXPECT_EQ(std::count(counts, counts + blocks, threads), blocks);
        EXPECT_EQ(counters[0], 2 * blocks);
        EXPECT_EQ(counters[1], threads * ((blocks - 1 - 3) / 997 + 1));
        const auto apart = std::count_if(distances, distances + blocks, [](U n) { return n > 1; });
        if (has_teams_by_default()) {
            EXPECT_GT(apart, 0) << "no block has run in a team";
        }
    }
}

TEST(Teams, one_worker_repeats_a_run) {
    exec::EngineSettings settings;
    settings.worker_count = 1;
    exec::Engine::instance().configure(settings);
    TestDevice device;
    constexpr U blocks = 6000;
    U* const counter = device.allocate<U>(2);
    U* const out = device.allocate<U>(blocks);
    // The order of the blocks decides what the first thread of each gets. The last load sees the
    // reductions that are done so far.
    const std::string code = R"(.visible .entry k(.param .u64 counter, .param .u64 out) {
        .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %d<4>;
        ld.param.u64 %d0, [counter]; ld.param.u64 %d1, [out]; mov.u32 %r0, %ctaid.x;
        mov.u32 %r1, %tid.x; setp.ne.u32 %p, %r1, 0; mul.wide.u32 %d2, %r0, 4;
        add.u64 %d2, %d1, %d2; mov.u32 %r2, 0; mov.u32 %r3, 0;
        @!%p atom.global.add.u32 %r2, [%d0], 1; @!%p atom.global.add.u32 %r3, [%d0], 1;
        @!%p red.relaxed.gpu.global.add.u32 [%d0+4], 1;
        @!%p ld.relaxed.gpu.global.u32 %r4, [%d0+4];
        mad.lo.u32 %r5, %r2, 100003, %r3; mad.lo.u32 %r5, %r5, 100003, %r4;
        @!%p st.global.u32 [%d2], %r5; ret; })";
    std::vector<U> first;
    for (int launch = 0; launch < 10; ++launch) {
        counter[0] = counter[1] = 0;
        const Fault fault = test::run(device, code, {.grid = blocks, .block = 32}, counter, out);
        ASSERT_EQ(fault.kind, FaultKind::None) << fault.report;
        const std::vector<U> values(out, out + blocks);
        if (launch == 0) {
            first = values;
        }
        ASSERT_TRUE(values == first) << "launch " << launch << " differs from the first";
    }
}

} // namespace cuprum::emulator
