// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "exec/harness.hpp"
#include "passes/compile.hpp"
#include "ptx/parser.hpp"

#include <cstdint>
#include <cstring>
#include <string>

namespace cuprum::emulator {

namespace {

constexpr std::uint64_t DEVICE_BYTES = std::uint64_t{1} << 20;

/// The variables of a module for a device of 1 MiB, and what is wrong with them.
struct LaidOut {
    std::vector<passes::GlobalVariable> variables;
    ptx::Diagnostics diagnostics;

    explicit LaidOut(const std::string& declarations) {
        const auto module = ptx::parse(test::ptx_module(declarations), diagnostics);
        if (module) {
            variables = passes::global_variables(*module, DEVICE_BYTES, diagnostics);
        }
    }
};

} // namespace

TEST(GlobalVariables, nested_lists_fill_one_row_each) {
    const LaidOut laid_out(".global .b32 x[2][3] = {{1}, {2, 3}};");
    ASSERT_TRUE(laid_out.diagnostics.is_empty()) << laid_out.diagnostics.to_text();
    ASSERT_EQ(laid_out.variables.size(), 1u);
    EXPECT_EQ(laid_out.variables[0].size_bytes, 24u);
    std::uint32_t values[5];
    ASSERT_EQ(laid_out.variables[0].initial.size(), sizeof values); // the last is zero, not stored
    std::memcpy(values, laid_out.variables[0].initial.data(), sizeof values);
    EXPECT_EQ(values[0], 1u);
    EXPECT_EQ(values[1], 0u);
    EXPECT_EQ(values[3], 2u);
    EXPECT_EQ(values[4], 3u);
}

TEST(GlobalVariables, more_values_than_elements_are_refused_in_every_row) {
    for (const char* const declaration :
         {".global .b32 x[2] = {1, 2, 3};", ".global .b32 x[2][2] = {{1, 2, 3}, {4}};",
          ".global .b32 x[1][2] = {{1}, {2}};", ".global .b32 x = {1, 2};",
          ".global .v2 .b32 x[1] = {{1, 2}, {3, 4}};", ".global .b8 x[9] = {{{1}, {2}}, {3}};"}) {
        const LaidOut laid_out(declaration);
        const std::string text = laid_out.diagnostics.to_text();
        const bool is_refused =
            text.find("variable 'x' has more initial values than elements") != std::string::npos;
        EXPECT_TRUE(is_refused) << declaration << "\n" << text;
    }
}

TEST(GlobalVariables, a_name_has_one_definition) {
    const LaidOut twice(".global .b32 x; .weak .global .b64 x;");
    EXPECT_EQ(twice.diagnostics.to_text(), "ptx:4:36: error: variable 'x' is defined twice\n");
    const LaidOut once(".extern .global .b32 x; .visible .global .b32 x = 1;");
    EXPECT_TRUE(once.diagnostics.is_empty()) << once.diagnostics.to_text();
    test::TestDevice device;
    const std::string kernel = ".visible .entry k() { ret; } ";
    EXPECT_EQ(device.compile(test::ptx_module(kernel + kernel)), nullptr);
    EXPECT_EQ(device.log, "ptx:4:46: error: function 'k' is defined twice\n");
    EXPECT_EQ(device.compile(test::ptx_module(kernel + ".global .b32 k;")), nullptr);
    EXPECT_EQ(device.log, "ptx:4:43: error: 'k' is the name of a function and of a variable\n");
}

TEST(GlobalVariables, an_address_must_fit_behind_its_offset) {
    const LaidOut narrow(".global .b32 y; .global .b8 x[8] = {0, 0xff(y), 2};");
    EXPECT_NE(narrow.diagnostics.to_text().find("the address of 'y' does not fit in variable 'x'"),
              std::string::npos);
    const LaidOut good(".global .b32 y; .global .b8 x[9] = {0, 0xff(y), 0xff00(y)};");
    EXPECT_TRUE(good.diagnostics.is_empty()) << good.diagnostics.to_text();
    ASSERT_EQ(good.variables.at(1).relocations.size(), 1u);
    EXPECT_EQ(good.variables[1].relocations[0].offset, 1u);
}

TEST(GlobalVariables, the_size_is_compared_with_the_device_before_bytes_are_stored) {
    const LaidOut alone(".global .b8 x[1099511627776] = {1};");
    ASSERT_EQ(alone.diagnostics.items().size(), 1u);
    EXPECT_EQ(alone.diagnostics.items()[0].problem, ptx::Problem::Memory);
    EXPECT_EQ(
        alone.diagnostics.items()[0].message,
        "variable 'x' needs 1099511627776 bytes, and 1048576 of the device's 1048576 are left");
    EXPECT_TRUE(alone.variables.empty());
    const LaidOut together(".global .b8 x[1048000]; .global .b8 y[1048000] = {1};");
    ASSERT_EQ(together.diagnostics.items().size(), 1u);
    EXPECT_EQ(together.diagnostics.items()[0].message,
              "variable 'y' needs 1048000 bytes, and 576 of the device's 1048576 are left");
}

TEST(GlobalVariables, only_samplers_have_settings) {
    const auto complaint = [](const char* text) { return LaidOut(text).diagnostics.to_text(); };
    EXPECT_EQ(complaint(".global .samplerref s = { filter_mode = nearest, addr_mode_2 = wrap };"),
              "");
    EXPECT_NE(complaint(".global .samplerref s = { filter_mode = cubic };")
                  .find("'filter_mode = cubic' is not a setting of a sampler"),
              std::string::npos);
    EXPECT_NE(
        complaint(".global .samplerref s = { addr_mode_0 = clamp_ogl };").find("use clamp_to_edge"),
        std::string::npos);
    EXPECT_NE(complaint(".global .texref t = { normalized_coords = 1 };")
                  .find("settings of variable 't' are not supported"),
              std::string::npos);
}

} // namespace cuprum::emulator
