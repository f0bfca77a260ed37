// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Loading takes about as long as its text is, whatever the text consists of. Each row of ROWS is
// one kind of input; a new kind is a new row.

#include "passes/compile.hpp"
#include "ptx/parser.hpp"
#include "support/repeated_text.hpp"
#include "support/scaling.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>

namespace cuprum::emulator {

namespace {

using test::each;
using test::numbered;
using test::repeated;
using test::reversed;

constexpr std::string_view HEAD = ".version 8.6\n.target sm_90\n.address_size 64\n";

/// Returns a module with a kernel of `body`. `%rd1` is its parameter, `%r0` the thread's index.
std::string kernel(std::size_t count, const std::string& body, const std::string& before = {}) {
    const std::string many = "<" + std::to_string(count + 9) + ">";
    return std::string(HEAD) + before + ".visible .entry k(.param .u64 a) {\n.reg .pred %p" + many +
           "; .reg .b32 %r" + many + "; .reg .b64 %rd" + many + "; .reg .f32 %f" + many +
           ";\nld.param.u64 %rd1, [a];\nmov.u32 %r0, %tid.x;\nld.global.f32 %f0, [%rd1];\n" + body +
           "\nret;\n}\n";
}

struct Row {
    const char* name;
    std::size_t size;
    std::string (*text)(std::size_t count);

    friend std::ostream& operator<<(std::ostream& out, const Row& row) { return out << row.name; }
};

constexpr std::string_view STORE_INTEGER = "st.global.u32 [%rd1], %r";
constexpr std::string_view CALL = "call.uni (result#), f, (argument#);\n";

const Row ROWS[] = {
    // ---- straight code
    {"chained_integers", 1000,
     [](std::size_t n) {
         return kernel(n, repeated(n, "add.u32 %r@@, %r#, 7;\n") + std::string(STORE_INTEGER) +
                              std::to_string(n) + ";");
     }},
    {"chained_integers_of_a_value_that_is_not_linear", 1000,
     [](std::size_t n) {
         return kernel(n, "ld.global.u32 %r0, [%rd1];\n" + repeated(n, "add.u32 %r@@, %r#, 7;\n") +
                              std::string(STORE_INTEGER) + std::to_string(n) + ";");
     }},
    {"chained_integers_that_are_compared", 500,
     [](std::size_t n) {
         return kernel(n, repeated(n, "add.u32 %r@@, %r#, 7;\nsetp.gt.u32 %p@@, %r@@, 5;\n"
                                      "@%p@@ st.global.f32 [%rd1], %f0;\n") +
                              std::string(STORE_INTEGER) + std::to_string(n) + ";");
     }},
    {"chained_integers_in_reverse_order", 500,
     [](std::size_t n) {
         return kernel(n, "AGAIN:\n" + reversed(n, "add.u32 %r@@, %r#, 7;\n") +
                              "ld.global.u32 %r0, [%rd1];\nsetp.gt.u32 %p1, %r" +
                              std::to_string(n) + ", 5;\n@%p1 bra AGAIN;");
     }},
    {"chained_addresses", 1000,
     [](std::size_t n) {
         return kernel(n, repeated(n, "add.s64 %rd@@, %rd#, 8;\nst.global.f32 [%rd@@], %f0;\n"));
     }},
    {"chained_floats", 1000,
     [](std::size_t n) {
         return kernel(n, repeated(n, "fma.rn.f32 %f@@, %f#, %f#, 0f3F800000;\n") +
                              "st.global.f32 [%rd1], %f" + std::to_string(n) + ";");
     }},
    {"dead_code", 1000,
     [](std::size_t n) {
         return kernel(n, repeated(n, "fma.rn.f32 %f@@, %f#, %f#, 0f3F800000;\n"));
     }},
    {"copies", 1000,
     [](std::size_t n) {
         return kernel(n, repeated(n, "mov.u32 %r@@, %r#;\nadd.u32 %r#, %r@@, 1;\n") +
                              std::string(STORE_INTEGER) + std::to_string(n) + ";");
     }},
    {"constants", 1000,
     [](std::size_t n) {
         return kernel(n, repeated(n, "mul.lo.u32 %r@@, %r#, @@;\n") + std::string(STORE_INTEGER) +
                              std::to_string(n) + ";");
     }},
    {"lane_numbers", 1000,
     [](std::size_t n) {
         return kernel(n, repeated(n, "mov.u32 %r@@, %laneid;\nadd.u32 %r@@, %r@@, %r0;\n"
                                      "st.global.u32 [%rd1+4], %r@@;\n"));
     }},
    {"loads_and_products", 500,
     [](std::size_t n) {
         return kernel(n, repeated(n, "ld.global.f32 %f2, [%rd1+4];\nld.global.f32 %f3, [%rd1+8];\n"
                                      "fma.rn.f32 %f0, %f2, %f3, %f0;\nadd.s64 %rd1, %rd1, 8;\n") +
                              "st.global.f32 [%rd1], %f0;");
     }},
    {"loads", 1000,
     [](std::size_t n) {
         return kernel(n, repeated(n, "ld.global.u32 %r@@, [%rd1+8];\n"
                                      "st.global.u32 [%rd1], %r@@;\n"));
     }},
    {"loads_behind_a_reduction", 1000,
     [](std::size_t n) {
         return kernel(n,
                       "red.global.add.u32 [%rd1], 1;\n" +
                           repeated(n, "ld.global.u32 %r@@, [%rd1+8];\nadd.u32 %r0, %r0, %r@@;\n") +
                           "setp.gt.u32 %p1, %r0, 5;\n@%p1 bra END;\nEND:");
     }},
    {"loads_of_many_bases_behind_a_reduction", 1000,
     [](std::size_t n) {
         return kernel(
             n, repeated(n, "add.s64 %rd@@, %rd#, 8;\n") + "red.global.add.u32 [%rd1], 1;\n" +
                    repeated(n, "ld.global.u32 %r@@, [%rd@@];\nadd.u32 %r0, %r0, %r@@;\n") +
                    "red.global.add.u32 [%rd1], %r0;");
     }},
    {"reductions", 1000,
     [](std::size_t n) { return kernel(n, repeated(n, "red.global.add.u32 [%rd1+4], #;\n")); }},
    {"stores", 1000,
     [](std::size_t n) { return kernel(n, repeated(n, "st.global.u32 [%rd1+8], #;\n")); }},
    {"shared_accesses", 1000,
     [](std::size_t n) {
         return kernel(n, ".shared .b32 s;\n" + repeated(n, "st.shared.u32 [s], #;\nbar.sync 0;\n"
                                                            "ld.shared.u32 %r@@, [s];\n"));
     }},
    {"source_locations", 1000,
     [](std::size_t n) {
         return kernel(n, repeated(n, ".loc 1 @@ 5\nst.global.u32 [%rd1], %r0;\n"),
                       ".file 1 \"a.cu\"\n");
     }},

    // ---- control flow
    {"branches", 500,
     [](std::size_t n) {
         return kernel(n, repeated(n, "setp.gt.u32 %p@@, %r0, #;\n@%p@@ bra L#;\n"
                                      "st.global.u32 [%rd1], %r0;\nL#:\n"));
     }},
    {"branches_around_nothing", 500,
     [](std::size_t n) {
         return kernel(n, "setp.gt.u32 %p1, %r0, 3;\n" + reversed(n, "@%p1 bra L#;\n") +
                              repeated(n, "L#:\n"));
     }},
    {"blocks_in_reverse_order", 500,
     [](std::size_t n) {
         return kernel(n, "red.global.add.u32 [%rd1], 1;\nbra L" + std::to_string(n) + ";\n" +
                              "L0: st.global.u32 [%rd1], %r1;\nret;\n" +
                              repeated(n, "L@@: add.u32 %r1, %r0, %r1;\nbra L#;\n"));
     }},
    {"blocks_in_a_cycle_behind_a_reduction", 500,
     [](std::size_t n) {
         return kernel(n, "bra L" + std::to_string(n) + ";\n" +
                              repeated(n, "L@@: setp.gt.u32 %p1, %r0, @@;\n@%p1 bra L#;\n"
                                          "red.global.add.u32 [%rd1], 1;\n") +
                              "bar.sync 0;\nL0:");
     }},
    {"labels", 1000, [](std::size_t n) { return kernel(n, repeated(n, "L#:\n")); }},
    {"loops", 500,
     [](std::size_t n) {
         return kernel(n, repeated(n, "mov.u32 %r@@, 0;\nL#: st.global.u32 [%rd1], %r@@;\n"
                                      "add.u32 %r@@, %r@@, 1;\nsetp.lt.u32 %p1, %r@@, %r0;\n"
                                      "@%p1 bra L#;\n"));
     }},
    {"loops_that_continue_a_counter", 500,
     [](std::size_t n) {
         return kernel(n, repeated(n, "mov.u32 %r@@, %r#;\nL#: add.u32 %r@@, %r@@, 1;\n"
                                      "setp.lt.u32 %p1, %r@@, 9;\n@%p1 bra L#;\n") +
                              std::string(STORE_INTEGER) + std::to_string(n) + ";");
     }},
    {"loops_in_loops", 500,
     [](std::size_t n) {
         return kernel(n, repeated(n, "mov.u32 %r@@, %r#;\nL#: add.u32 %r@@, %r@@, 1;\n") +
                              reversed(n, "setp.lt.u32 %p1, %r@@, 9;\n@%p1 bra L#;\n"));
     }},
    {"waits", 500,
     [](std::size_t n) {
         return kernel(n, ".shared .b64 m;\n" +
                              repeated(n, "L#: mbarrier.try_wait.parity.shared.b64 %p1, [m], %r0;\n"
                                          "@!%p1 bra L#;\n"));
     }},
    {"registers_that_live_across_branches", 500,
     [](std::size_t n) {
         return kernel(n, repeated(n, "ld.global.u32 %r@@, [%rd1+8];\n") +
                              repeated(n, "setp.gt.u32 %p1, %r0, #;\n@%p1 bra L#;\n"
                                          "st.global.u32 [%rd1], 1;\nL#:\n") +
                              repeated(n, "st.global.u32 [%rd1], %r@@;\n"));
     }},
    {"registers_that_live_across_branches_of_a_loop", 500,
     [](std::size_t n) {
         return kernel(n, "AGAIN:\n" + repeated(n, "ld.global.u32 %r@@, [%rd1+8];\n") +
                              repeated(n, "setp.gt.u32 %p1, %r0, #;\n@%p1 bra L#;\n"
                                          "st.global.u32 [%rd1], 1;\nL#:\n") +
                              repeated(n, "st.global.u32 [%rd1], %r@@;\n") +
                              "setp.gt.u32 %p1, %r1, 5;\n@%p1 bra AGAIN;");
     }},
    {"targets_of_an_indexed_branch", 500,
     [](std::size_t n) {
         return kernel(n, "list: .branchtargets " +
                              each(n, [](std::size_t i) { return numbered("L#, ", i); }) +
                              "END;\nbrx.idx %r0, list;\n" +
                              repeated(n, "L#: st.global.u32 [%rd1], #;\n") + "END:");
     }},
    {"indexed_branches", 500,
     [](std::size_t n) {
         return kernel(n, repeated(n, "list#: .branchtargets A#, B#;\nbrx.idx %r0, list#;\n"
                                      "A#: st.global.u32 [%rd1], #;\nB#:\n"));
     }},
    {"nested_blocks", 500,
     [](std::size_t n) {
         return kernel(
             n, repeated(n, "{ .reg .b32 x; mov.u32 x, %r0;\n"
                            "{ .reg .b32 y; add.u32 y, x, 1; st.global.u32 [%rd1], y; } }\n"));
     }},

    // ---- names
    {"registers", 1000,
     [](std::size_t n) {
         return kernel(n, repeated(n, ".reg .b32 x#;\nmov.u32 x#, %r0;\n"
                                      "st.global.u32 [%rd1], x#;\n"));
     }},
    {"ranges_of_registers", 1000,
     [](std::size_t n) {
         return kernel(n, repeated(n, ".reg .b32 x#y<3>;\nmov.u32 x#y1, %r0;\n"
                                      "st.global.u32 [%rd1], x#y1;\n"));
     }},
    {"vector_registers", 1000,
     [](std::size_t n) {
         return kernel(n, repeated(n, ".reg .v2 .b32 x#;\nmov.u32 x#.x, %r0;\n"
                                      "mov.u32 x#.y, %r0;\nst.global.v2.u32 [%rd1], x#;\n"));
     }},
    {"global_variables", 1000,
     [](std::size_t n) {
         return kernel(n, repeated(n, "st.global.u32 [v#], %r0;\n"),
                       repeated(n, ".visible .global .u32 v# = #;\n"));
     }},
    {"constant_variables", 1000,
     [](std::size_t n) {
         return kernel(n, repeated(n, "ld.const.u32 %r1, [v#];\nst.global.u32 [%rd1], %r1;\n"),
                       repeated(n, ".const .u32 v# = #;\n"));
     }},
    {"shared_variables", 1000,
     [](std::size_t n) {
         return kernel(n, repeated(n, ".shared .b32 v#;\nst.shared.u32 [v#], %r0;\n"));
     }},
    {"shared_variables_of_the_module", 1000,
     [](std::size_t n) {
         return kernel(n, repeated(n, "st.shared.u32 [v#], %r0;\n"),
                       repeated(n, ".shared .b32 v#;\n"));
     }},
    {"local_variables", 1000,
     [](std::size_t n) {
         return kernel(n, repeated(n, ".local .b32 v#;\nst.local.u32 [v#], %r0;\n"));
     }},
    {"initial_values", 4000,
     [](std::size_t n) {
         return std::string(HEAD) + ".global .b8 text[] = {" + repeated(n, "65, ") + "0};\n";
     }},
    {"initial_values_with_addresses_of_variables", 1000,
     [](std::size_t n) {
         return std::string(HEAD) + repeated(n, ".global .u32 v#;\n") + ".global .u64 list[] = {" +
                repeated(n, "v#, ") + "0};\n";
     }},
    {"initial_values_with_addresses_of_functions", 1000,
     [](std::size_t n) {
         return std::string(HEAD) + repeated(n, ".func f#() { ret; }\n") +
                ".global .u64 list[] = {" + repeated(n, "f#, ") + "0};\n";
     }},
    {"files", 1000,
     [](std::size_t n) { return std::string(HEAD) + repeated(n, ".file @@ \"a#.cu\"\n"); }},

    // ---- functions and calls
    {"kernels", 500,
     [](std::size_t n) {
         return std::string(HEAD) + repeated(n, ".visible .entry k#(.param .u64 a) { ret; }\n");
     }},
    {"kernels_and_variables_and_files", 250,
     [](std::size_t n) {
         return std::string(HEAD) + repeated(n, ".file @@ \"a#.cu\"\n") +
                repeated(n, ".const .u32 v# = #;\n") + repeated(n, ".global .u32 g# = #;\n") +
                repeated(n, ".visible .entry k#(.param .u64 a) { ret; }\n");
     }},
    {"kernels_that_call", 250,
     [](std::size_t n) {
         return std::string(HEAD) + repeated(n, ".func f#();\n.func f#() { call.uni f#; ret; }\n"
                                                ".visible .entry k#() { call.uni f#; ret; }\n");
     }},
    {"parameters_of_a_kernel", 500,
     [](std::size_t n) {
         return std::string(HEAD) + ".visible .entry k(.param .u64 a" +
                repeated(n, ", .param .u32 a#") +
                ") {\n.reg .b32 %r<9>; .reg .b64 %rd<9>;\nld.param.u64 %rd1, [a];\n" +
                repeated(n, "ld.param.u32 %r1, [a#];\nst.global.u32 [%rd1], %r1;\n") + "ret;\n}\n";
     }},
    {"parameters_of_a_function", 100,
     [](std::size_t n) {
         return kernel(
             n,
             repeated(n, ".param .b32 a#;\nst.param.b32 [a#], %r0;\n") + "call.uni f, (" +
                 repeated(n - 1, "a#, ") + numbered("a#", n - 1) + ");",
             ".func f(" + repeated(n - 1, ".param .b32 p#, ") + numbered(".param .b32 p#", n - 1) +
                 ") {\n.reg .b32 %r<9>; .reg .b64 %rd<9>;\nmov.b64 %rd1, 64;\n" +
                 repeated(n, "ld.param.b32 %r1, [p#];\nst.global.b32 [%rd1], %r1;\n") + "ret; }\n");
     }},
    {"words_of_a_parameter", 100,
     [](std::size_t n) {
         const auto word = [](std::string_view pattern) {
             return [pattern](std::size_t i) { return numbered(pattern, 4 * i); };
         };
         const std::string size = "[" + std::to_string(4 * n) + "]";
         return kernel(n,
                       ".param .align 8 .b8 q" + size + ";\n" +
                           each(n, word("st.param.b32 [q+#], %r0;\n")) + "call.uni f, (q);",
                       ".func f(.param .align 8 .b8 p" + size +
                           ") {\n.reg .b32 %r<9>; .reg .b64 %rd<9>;\nmov.b64 %rd1, 64;\n" +
                           each(n, word("ld.param.b32 %r1, [p+#];\nst.global.b32 [%rd1], %r1;\n")) +
                           "ret; }\n");
     }},
    {"functions", 500,
     [](std::size_t n) {
         return kernel(n, repeated(n, "call.uni f#;\n"),
                       repeated(n, ".func f#() { bar.sync 0; ret; }\n"));
     }},
    {"functions_that_call_each_other_in_turn", 500,
     [](std::size_t n) {
         return kernel(n, "call.uni f" + std::to_string(n) + ";",
                       ".func f0() { bar.sync 0; ret; }\n" +
                           repeated(n, ".func f@@() { call.uni f#; ret; }\n"));
     }},
    {"functions_that_call_a_large_one_often", 250,
     [](std::size_t n) {
         return kernel(n, "call.uni f0;",
                       ".func g() { " + repeated(100, "bar.sync 0;\n") + "ret; }\n.func f1() { " +
                           repeated(n, "call.uni g; ") + "ret; }\n.func f0() { " +
                           repeated(n, "call.uni f1; ") + "ret; }\n");
     }},
    {"recursive_functions", 250,
     [](std::size_t n) {
         return kernel(n, repeated(n, "call.uni f#;\n"),
                       repeated(n, ".func f#();\n.func f#() { call.uni f#; ret; }\n"));
     }},
    {"function_pointers", 250,
     [](std::size_t n) {
         return kernel(n,
                       repeated(n, "mov.u64 %rd2, f#;\n{ p: .callprototype _ ();\n"
                                   "call %rd2, p; }\n"),
                       repeated(n, ".func f#() { bar.sync 0; ret; }\n"));
     }},
    {"aliases", 250,
     [](std::size_t n) {
         return kernel(
             n, repeated(n, "call.uni g#;\nmov.u64 %rd2, g#;\nst.global.u64 [%rd1], %rd2;\n"),
             repeated(n, ".func f#() { bar.sync 0; ret; }\n.func g#();\n") +
                 repeated(n, ".alias g#, f#;\n"));
     }},
    {"calls_with_variables_in_blocks", 500,
     [](std::size_t n) {
         return kernel(
             n,
             repeated(n, "{ .param .b32 argument; .param .b32 result;\n"
                         "st.param.b32 [argument], %r0;\n"
                         "call.uni (result), f, (argument);\n"
                         "ld.param.b32 %r0, [result]; }\n") +
                 std::string(STORE_INTEGER) + "0;",
             ".func (.param .b32 y) f(.param .b32 x) { .reg .b32 %r1;\n"
             "ld.param.b32 %r1, [x]; add.u32 %r1, %r1, 1; st.param.b32 [y], %r1; ret; }\n");
     }},
    {"calls_with_variables_of_the_kernel", 500,
     [](std::size_t n) {
         return kernel(
             n,
             repeated(n, ".param .b32 argument#; .param .b32 result#;\n"
                         "st.param.b32 [argument#], %r0;\n") +
                 repeated(n, std::string(CALL) + "ld.param.b32 %r@@, [result#];\n"
                                                 "st.global.u32 [%rd1], %r@@;\n"),
             ".func (.param .b32 y) f(.param .b32 x) { .reg .b32 %r1;\n"
             "ld.param.b32 %r1, [x]; add.u32 %r1, %r1, 1; st.param.b32 [y], %r1; ret; }\n");
     }},
    {"calls_of_the_device", 500,
     [](std::size_t n) {
         return kernel(n,
                       repeated(n, "{ .param .b64 size; .param .b64 result;\n"
                                   "st.param.b64 [size], 8;\ncall.uni (result), malloc, (size);\n"
                                   "ld.param.b64 %rd@@, [result];\nst.global.u32 [%rd@@], 1; }\n"),
                       ".extern .func (.param .b64 y) malloc(.param .b64 x);\n");
     }},
};

/// Where nothing is ever read: these tests only load.
MemoryMap memory_map(std::uint8_t checks) {
    constexpr std::uint64_t WINDOW_BYTES = std::uint64_t{1} << 30;
    MemoryMap map;
    map.shared_base = std::uint64_t{1} << 40;
    map.local_base = map.shared_base + WINDOW_BYTES;
    map.memory_base = map.local_base + WINDOW_BYTES;
    map.shared_bytes = map.local_bytes = map.memory_bytes = WINDOW_BYTES;
    map.window_base = map.shared_base;
    map.window_bytes = 3 * WINDOW_BYTES;
    map.checks = checks;
    return map;
}

std::optional<ptx::Module> parse(const std::string& text) {
    ptx::Diagnostics diagnostics;
    auto module = ptx::parse(text, diagnostics);
    EXPECT_TRUE(module) << diagnostics.to_text();
    return module;
}

void compile(const ptx::Module& module, const MemoryMap& map) {
    ptx::Diagnostics diagnostics;
    passes::CompileOptions options;
    options.memory = &map;
    options.device_sm = 90;
    for (const auto& variable : passes::global_variables(module, map.memory_bytes, diagnostics)) {
        options.symbols.insert(variable.name);
    }
    (void)passes::compile(module, options, diagnostics);
    EXPECT_TRUE(diagnostics.is_empty()) << diagnostics.to_text();
}

class Loading : public testing::TestWithParam<Row> {};

} // namespace

TEST_P(Loading, parsing_takes_linear_time) {
    test::expect_scales(GetParam().size, GetParam().text,
                        [](const std::string& text) { (void)parse(text); });
}

TEST_P(Loading, compiling_takes_linear_time) {
    const MemoryMap map = memory_map(0);
    test::expect_scales(
        GetParam().size, [](std::size_t size) { return parse(GetParam().text(size)); },
        [&](const auto& module) { compile(*module, map); });
}

TEST_P(Loading, compiling_with_all_checks_takes_linear_time) {
    const MemoryMap map =
        memory_map(CHECK_MEMORY | CHECK_INITIALIZED | CHECK_RACES | CHECK_GRAPHS | SHAKE);
    test::expect_scales(
        GetParam().size, [](std::size_t size) { return parse(GetParam().text(size)); },
        [&](const auto& module) { compile(*module, map); });
}

INSTANTIATE_TEST_SUITE_P(Of, Loading, testing::ValuesIn(ROWS),
                         [](const auto& info) { return std::string(info.param.name); });

} // namespace cuprum::emulator
