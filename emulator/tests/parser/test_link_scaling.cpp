// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Linking takes about as long as its inputs are. Each row of ROWS is one kind of input.

#include "ptx/linker.hpp"
#include "ptx/parser.hpp"
#include "support/repeated_text.hpp"
#include "support/scaling.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

namespace cuprum::emulator::ptx {

namespace {

using test::numbered;
using test::repeated;
using test::reversed;

struct LinkRow {
    const char* name;
    std::size_t size;
    std::vector<LinkInput> (*inputs)(std::size_t count);

    friend std::ostream& operator<<(std::ostream& out, const LinkRow& row) {
        return out << row.name;
    }
};

LinkInput input(const std::string& text, bool is_member = false) {
    Diagnostics diagnostics;
    auto module = parse(".version 8.6\n.target sm_90\n.address_size 64\n" + text, diagnostics);
    EXPECT_TRUE(module) << diagnostics.to_text();
    return {"input", std::move(*module), is_member};
}

/// Returns an input for every number.
std::vector<LinkInput> inputs(std::size_t count, std::string_view pattern, bool are_members) {
    std::vector<LinkInput> result;
    for (std::size_t i = 0; i < count; ++i) {
        result.push_back(input(numbered(pattern, i), are_members));
    }
    return result;
}

const LinkRow ROWS[] = {
    {"symbols", 1000,
     [](std::size_t n) {
         std::vector<LinkInput> all;
         all.push_back(input(repeated(n, ".extern .func f#();\n") + ".entry k() {\n" +
                             repeated(n, "call f#;\n") + "ret; }\n"));
         all.push_back(input(repeated(n, ".visible .func f#() { ret; }\n")));
         return all;
     }},
    {"modules", 250,
     [](std::size_t n) {
         return inputs(n,
                       ".extern .func f#();\n.visible .func f@@() { call f#; ret; }\n"
                       ".weak .func f0() { ret; }\n",
                       false);
     }},
    {"private_symbols_of_the_same_names", 250,
     [](std::size_t n) {
         return inputs(n, ".global .b32 v; .func f() { ret; }\n.entry k#() { call f; ret; }\n",
                       false);
     }},
    {"members_that_need_the_one_before", 250,
     [](std::size_t n) {
         auto all =
             inputs(n, ".extern .func f#();\n.visible .func f@@() { call f#; ret; }\n", true);
         all.push_back(input(".visible .func f0() { ret; }\n", true));
         all.push_back(input(numbered(".extern .func f#();\n.entry k() { call f#; ret; }\n", n)));
         return all;
     }},
    {"members_that_need_the_one_behind", 250,
     [](std::size_t n) {
         auto all =
             inputs(n, ".extern .func f@@();\n.visible .func f#() { call f@@; ret; }\n", true);
         all.push_back(input(numbered(".visible .func f#() { ret; }\n", n), true));
         all.push_back(input(".extern .func f0();\n.entry k() { call f0; ret; }\n"));
         return all;
     }},
    {"members_that_nothing_needs", 250,
     [](std::size_t n) {
         auto all = inputs(n, ".visible .func f#() { ret; }\n", true);
         all.push_back(input(".entry k() { ret; }\n"));
         return all;
     }},
    {"calls_of_functions_declared_with_a_result", 500,
     [](std::size_t n) {
         std::vector<LinkInput> all;
         all.push_back(input(repeated(n, ".extern .func (.param .b32 r) f#();\n") +
                             ".entry k() {\n.param .b32 r;\n" + repeated(n, "call (r), f#;\n") +
                             "ret; }\n"));
         all.push_back(input(repeated(n, ".visible .func f#() { ret; }\n")));
         return all;
     }},
    {"initial_values_with_addresses", 1000,
     [](std::size_t n) {
         std::vector<LinkInput> all;
         all.push_back(input(repeated(n, ".extern .global .b32 v#;\n") + ".global .u64 list[] = {" +
                             repeated(n, "v#, ") + "0};\n" + ".entry k() { ret; }\n"));
         all.push_back(input(repeated(n, ".visible .global .b32 v#;\n")));
         return all;
     }},
};

class Linking : public ::testing::TestWithParam<LinkRow> {};

} // namespace

TEST_P(Linking, takes_linear_time) {
    test::expect_scales(GetParam().size, GetParam().inputs, [](std::vector<LinkInput>& all) {
        const LinkResult result =
            link(std::move(all), [](std::string_view /*name*/) { return false; });
        EXPECT_TRUE(result.errors.empty()) << result.errors.front();
        EXPECT_NE(result.text, "");
    });
}

INSTANTIATE_TEST_SUITE_P(Of, Linking, ::testing::ValuesIn(ROWS),
                         [](const auto& info) { return std::string(info.param.name); });

} // namespace cuprum::emulator::ptx
