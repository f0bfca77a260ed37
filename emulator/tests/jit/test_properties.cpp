// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What holds of every graph, on random kernels: structured ones, and the modules of the fuzzer.

#include "fuzz/ptx_grammar.hpp"
#include "jit/graph_test.hpp"
#include "jit/properties.hpp"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace cuprum::emulator {

namespace {

/// Writes random structured kernels: branches, loops with breaks, continues and early exits,
/// barriers, guarded instructions and indexed branches, on a few registers.
class RandomKernel {
public:
    explicit RandomKernel(std::uint32_t seed) : random_(seed) {}

    [[nodiscard]] std::string text() {
        statements(6, 0);
        std::string result = "mov.u32 %r0, %n; mov.u32 %r1, %t; mov.u32 %r2, 0; mov.u32 %r3, %i;\n";
        for (int k = 4; k < REGISTERS; ++k) {
            result += "mov.u32 %r" + std::to_string(k) + ", " + std::to_string(k) + ";\n";
        }
        result += text_ + "mul.wide.u32 %d1, %i, 4; add.s64 %d2, %p, %d1;\n";
        for (int k = 0; k < REGISTERS; ++k) {
            result +=
                "st.global.u32 [%d2+" + std::to_string(4 * k) + "], %r" + std::to_string(k) + ";\n";
        }
        return result + "ret;\n";
    }

private:
    static constexpr int REGISTERS = 8;
    static constexpr std::uint32_t MAX_DEPTH = 4;

    struct Loop {
        std::string next;
        std::string end;
    };

    [[nodiscard]] std::uint32_t below(std::uint32_t end) {
        return std::uniform_int_distribution<std::uint32_t>(0, end - 1)(random_);
    }

    [[nodiscard]] std::string any() { return "%r" + std::to_string(below(REGISTERS)); }

    [[nodiscard]] std::string label() { return "L" + std::to_string(labels_++); }

    /// Compares two registers and returns the predicate.
    [[nodiscard]] std::string condition() {
        std::string predicate = "%q";
        predicate += std::to_string(below(4));
        const char* const compare[] = {"lt.u32", "ge.s32", "eq.u32", "ne.s32"};
        text_ += std::string("setp.") + compare[below(4)] + " " + predicate + ", " + any() + ", " +
                 (below(2) == 0 ? any() : std::to_string(below(64))) + ";\n";
        return predicate;
    }

    void compute() {
        const char* const ops[] = {"add.u32", "sub.u32", "mul.lo.u32", "and.b32",
                                   "xor.b32", "shr.u32", "max.s32",    "or.b32"};
        std::string guard;
        if (below(5) == 0) {
            guard = "@" + std::string(below(2) == 0 ? "!" : "") + condition() + " ";
        }
        text_ += guard + ops[below(8)] + " " + any() + ", " + any() + ", " +
                 (below(2) == 0 ? any() : std::to_string(below(32))) + ";\n";
    }

    void statements(std::uint32_t count, std::uint32_t depth) {
        for (std::uint32_t i = 0; i < 1 + below(count); ++i) {
            statement(depth);
        }
    }

    void statement(std::uint32_t depth) {
        const std::uint32_t choice = depth < MAX_DEPTH ? below(20) : below(10);
        if (choice < 7) {
            compute();
        } else if (choice == 7) {
            leave();
        } else if (choice == 8) {
            text_ += below(3) == 0 ? "bar.red.popc.u32 " + any() + ", 0, " + "%q0;\n"
                                   : std::string("bar.sync 0;\n");
        } else if (choice == 9) {
            text_ += "ld.global.u32 " + any() + ", [%p];\n";
        } else if (choice < 15) {
            branch(depth);
        } else if (choice < 19) {
            loop(depth);
        } else {
            choose(depth);
        }
    }

    /// Breaks, continues or exits, mostly under a condition.
    void leave() {
        const std::string predicate = condition();
        const std::uint32_t choice = below(4);
        if (loops_.empty() || choice == 0) {
            text_ += "@" + predicate + " exit;\n";
        } else {
            const Loop& loop = loops_[choice == 1 ? below(static_cast<std::uint32_t>(loops_.size()))
                                                  : loops_.size() - 1];
            text_ += "@" + predicate + " bra " + (choice == 2 ? loop.next : loop.end) + ";\n";
        }
    }

    void branch(std::uint32_t depth) {
        const std::string other = label();
        const std::string end = label();
        text_ += "@" + condition() + " bra " + other + ";\n";
        statements(4, depth + 1);
        if (below(2) == 0) {
            text_ += "bra " + end + ";\n" + other + ":\n";
            statements(4, depth + 1);
            text_ += end + ":\n";
        } else {
            text_ += other + ":\n";
        }
    }

    void loop(std::uint32_t depth) {
        const std::string start = label();
        const Loop loop{.next = label(), .end = label()};
        loops_.push_back(loop);
        text_ += start + ":\n";
        const bool is_tested_first = below(2) == 0;
        if (is_tested_first) {
            text_ += "@" + condition() + " bra " + loop.end + ";\n";
        }
        statements(4, depth + 1);
        text_ += loop.next + ":\n";
        if (is_tested_first) {
            text_ += "bra " + start + ";\n";
        } else {
            text_ += "@" + condition() + " bra " + start + ";\n";
        }
        text_ += loop.end + ":\n";
        loops_.pop_back();
    }

    void choose(std::uint32_t depth) {
        const std::string list = label();
        const std::string ways[] = {label(), label(), label()};
        const std::string end = label();
        text_ += list + ": .branchtargets " + ways[0] + ", " + ways[1] + ", " + ways[2] + ";\n";
        text_ += "brx.idx " + any() + ", " + list + ";\n";
        for (const std::string& way : ways) {
            text_ += way + ":\n";
            statements(2, depth + 1);
            text_ += below(3) == 0 ? std::string() : "bra " + end + ";\n";
        }
        text_ += end + ":\n";
    }

    std::mt19937 random_;
    std::string text_;
    std::uint32_t labels_ = 0;
    std::vector<Loop> loops_;
};

TEST(GraphProperties, hold_on_random_structured_kernels) {
    constexpr std::uint32_t KERNELS = 400;
    constexpr std::uint32_t WIDTHS[] = {8, 16, 32};
    for (std::uint32_t seed = 0; seed < KERNELS && !testing::Test::HasFailure(); ++seed) {
        const std::string body = RandomKernel(seed).text();
        const test::Analysed result = test::analyse_body(body, {.lanes = WIDTHS[seed % 3],
                                                                .has_whole_rows = seed % 2 == 0,
                                                                .has_one_row = seed % 4 < 2});
        ASSERT_EQ(result.problem, "") << "seed " << seed << "\n" << body;
        test::GraphChecker(result.graph).check();
        if (testing::Test::HasFailure()) {
            ADD_FAILURE() << "seed " << seed << "\n" << body << jit::describe(result.graph);
        }
    }
}

TEST(GraphProperties, hold_on_modules_of_the_fuzzer) {
    constexpr std::uint32_t MODULES = 600;
    std::mt19937 random(1);
    std::uint32_t kernels = 0;
    for (std::uint32_t m = 0; m < MODULES && !testing::Test::HasFailure(); ++m) {
        std::vector<std::uint8_t> bytes(512);
        for (std::uint8_t& byte : bytes) {
            byte = static_cast<std::uint8_t>(random());
        }
        const std::string text = test::PTXGrammar(bytes).module().text;
        std::string log;
        for (const auto& kernel : test::compile_for_graph(text, log)) {
            const test::Analysed result = test::analyse(kernel);
            if (!result.problem.empty()) {
                continue; // such as a loop with several entries
            }
            ++kernels;
            test::GraphChecker(result.graph).check();
            EXPECT_FALSE(jit::describe(result.graph).empty());
            if (testing::Test::HasFailure()) {
                ADD_FAILURE() << text << jit::describe(result.graph);
            }
        }
    }
    EXPECT_GT(kernels, MODULES / 10) << "few modules load";
}

} // namespace

} // namespace cuprum::emulator
