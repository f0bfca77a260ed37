// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "exec/harness.hpp"

#include <chrono>
#include <string>

namespace cuprum::emulator {

namespace {

using test::ptx_module;
using test::TestDevice;

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::string kernel_with(const std::string& body) {
    return ptx_module(".visible .entry k(.param .u64 a, .param .u32 b) {\n"
                      ".reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;\n" +
                      body + "\nret;\n}");
}

} // namespace

TEST(Compile, parameters_and_constants_cost_no_instruction) {
    TestDevice device;
    const auto kernel = device.compile(kernel_with(R"(
        ld.param.u64 %rd1, [a];
        cvta.to.global.u64 %rd2, %rd1;
        ld.param.u32 %r1, [b];
        mov.u32 %r2, %tid.x;
        mov.u32 %r3, %ctaid.x;
        mov.u32 %r4, 12;
        add.u32 %r5, %r1, %r2;
        add.u32 %r6, %r5, %r3;
        add.u32 %r7, %r6, %r4;
        st.global.u32 [%rd2], %r7;)"));
    ASSERT_TRUE(kernel) << device.log;
    EXPECT_EQ(kernel->code.size(), 5u); // three additions, the store, the end
}

TEST(Compile, unused_results_are_removed) {
    TestDevice device;
    const auto kernel = device.compile(kernel_with(R"(
        mov.u32 %r1, %tid.x;
        add.u32 %r2, %r1, 1;
        add.u32 %r3, %r2, 1;
        setp.eq.u32 %p1, %r3, 4;
        bra.uni NEXT;
        NEXT:)"));
    ASSERT_TRUE(kernel) << device.log;
    EXPECT_EQ(kernel->code.size(), 1u);
    EXPECT_EQ(kernel->frame_bytes, 0u);
}

TEST(Compile, a_guarded_write_keeps_the_old_value) {
    TestDevice device;
    auto* out = device.allocate<std::uint32_t>(32);
    // %r3 is live across the guarded write, so its place must not be reused.
    const Fault fault = test::run(device, R"(
.visible .entry guarded(.param .u64 out) {
    .reg .pred %p<2>; .reg .b32 %r<9>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    setp.gt.u32 %p1, %r1, 20;
    add.u32 %r3, %r1, 100;
    add.u32 %r4, %r1, 7;
    @%p1 mov.u32 %r3, %r4;
    add.u32 %r5, %r3, 1;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r5;
    ret;
})",
                                  {}, out);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    for (std::uint32_t i = 0; i < 32; ++i) {
        ASSERT_EQ(out[i], i > 20 ? i + 8 : i + 101) << i;
    }
}

TEST(Compile, inner_scopes_hide_outer_names) {
    TestDevice device;
    auto* out = device.allocate<std::uint32_t>(1);
    const Fault fault = test::run(device, R"(
.visible .entry scopes(.param .u64 out) {
    .reg .b32 %r<3>, one; .reg .b64 %rd<2>; .reg .pred p;
    ld.param.u64 %rd1, [out];
    mov.u32 one, 1;
    mov.u32 %r1, 0;
    { .reg .b32 one; .reg .pred p;
      mov.u32 one, 40;
      AGAIN: add.u32 %r1, %r1, one;
      setp.lt.u32 p, %r1, 70;
      @p bra AGAIN; }
    { .reg .pred p;
      AGAIN: add.u32 %r1, %r1, one;
      setp.lt.u32 p, %r1, 85;
      @p bra AGAIN; }
    st.global.u32 [%rd1], %r1;
    ret;
})",
                                  {.block = 1}, out);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    EXPECT_EQ(*out, 85u);
}

TEST(Compile, a_long_straight_kernel_needs_few_places_and_little_time) {
    std::string body = "ld.param.u64 %rd1, [a];\n.reg .f32 %x<4100>;\nld.global.f32 %x0, [%rd1];\n";
    constexpr int COUNT = 4000;
    for (int i = 1; i <= COUNT; ++i) {
        body += "fma.rn.f32 %x" + std::to_string(i) + ", %x" + std::to_string(i - 1) + ", %x" +
                std::to_string(i > 5 ? i - 5 : 0) + ", 0f3F800000;\n";
    }
    body += "st.global.f32 [%rd1], %x" + std::to_string(COUNT) + ";";
    TestDevice device;
    const std::string module = kernel_with(body);
    const auto start = std::chrono::steady_clock::now();
    const auto kernel = device.compile(module);
    const auto time = std::chrono::steady_clock::now() - start;
    ASSERT_TRUE(kernel) << device.log;
    EXPECT_LT(kernel->frame_bytes, 2048u);
    // This takes a few milliseconds; the limit only detects quadratic behaviour.
    EXPECT_LT(std::chrono::duration<double>(time).count(), 0.5);
    RecordProperty("compile_us",
                   static_cast<int>(std::chrono::duration<double, std::micro>(time).count()));
}

TEST(Compile, unsupported_things_are_named_with_their_lines) {
    TestDevice device;
    EXPECT_EQ(device.compile(kernel_with(R"(
        tcgen05.wait::ld.sync.aligned;
        add.u32 %r1, %r1, 1;
        call undeclared;
        bra NOWHERE;)")),
              nullptr);
    EXPECT_TRUE(contains(device.log, ":7:")) << device.log;
    EXPECT_TRUE(contains(device.log, "tcgen05.wait::ld.sync.aligned")) << device.log;
    EXPECT_TRUE(contains(device.log, "'undeclared'")) << device.log;
    EXPECT_TRUE(contains(device.log, ":10:")) << device.log;
    EXPECT_TRUE(contains(device.log, "'NOWHERE' is not a label")) << device.log;
}

TEST(Compile, calls_that_cannot_be_made_are_refused_by_name) {
    TestDevice device;
    EXPECT_EQ(device.compile(ptx_module(R"(
.extern .func elsewhere();
.visible .entry k() {
    .reg .b64 %rd<2>;
    call.uni elsewhere;
    call %rd1;
    ret;
})")),
              nullptr);
    EXPECT_TRUE(contains(device.log, "call of 'elsewhere', which has no body")) << device.log;
    EXPECT_TRUE(contains(device.log, "indirect call through '%rd1' needs a prototype"))
        << device.log;
    EXPECT_EQ(device.problem, ptx::Problem::Unsupported);
}

TEST(Compile, an_alias_is_declared_and_stands_for_a_function_with_a_body) {
    TestDevice device;
    const auto complaint = [&](const std::string& text) {
        EXPECT_EQ(device.compile(ptx_module(text + ".visible .entry k() { ret; }\n")), nullptr);
        return device.log.substr(device.log.find("error: '.alias") + 7);
    };
    EXPECT_EQ(complaint(".alias f, g;\n"),
              "'.alias f, g': function 'f' is not declared; declare it with '.func' before the "
              "alias\n");
    EXPECT_EQ(complaint(".func f();\n.alias f, g;\n"),
              "'.alias f, g': function 'g' is not declared; declare it with '.func' before the "
              "alias\n");
    EXPECT_EQ(complaint(".alias f, g;\n.func f();\n.func g() { ret; }\n"),
              "'.alias f, g': function 'f' is not declared; declare it with '.func' before the "
              "alias\n");
    EXPECT_EQ(complaint(".func f();\n.func g();\n.alias f, g;\n"),
              "'.alias f, g': 'g' has no body in this module; define it, or name a function that "
              "has one\n");
    EXPECT_EQ(complaint(".func f() { ret; }\n.func g() { ret; }\n.alias f, g;\n"),
              "'.alias f, g': 'f' has a body; an alias is declared without one\n");
    EXPECT_EQ(complaint(".func f();\n.entry g() { ret; }\n.alias f, g;\n"),
              "'.alias f, g': 'g' is a kernel; only functions have aliases\n");
    EXPECT_EQ(complaint(".func f(.param .b32 a);\n.func g() { ret; }\n.alias f, g;\n"),
              "'.alias f, g': the functions have different parameters or results; declare both "
              "alike\n");
    EXPECT_EQ(complaint(".func f();\n.func g() { ret; }\n.alias f, g;\n.alias f, g;\n"),
              "'.alias f, g': 'f' is an alias already; remove one of the two\n");
    EXPECT_NE(device.compile(ptx_module(".func f();\n.func g();\n.alias f, g;\n"
                                        ".func g() { ret; }\n"
                                        ".visible .entry k() { call f; ret; }\n")),
              nullptr)
        << device.log;
}

TEST(Compile, only_recursive_functions_need_a_stack) {
    TestDevice device;
    const auto inlined = device.compile(ptx_module(R"(
.func helper() { ret; }
.visible .entry k() { call.uni helper; ret; })"));
    ASSERT_NE(inlined, nullptr) << device.log;
    EXPECT_EQ(inlined->max_frames, 1u);
    const auto recursive = device.compile(ptx_module(R"(
.func there();
.func back() { call.uni there; ret; }
.func there() { call.uni back; ret; }
.visible .entry k() { call.uni there; ret; })"));
    ASSERT_NE(recursive, nullptr) << device.log;
    EXPECT_GT(recursive->max_frames, 1u);
}

TEST(Compile, functions_that_double_at_each_level_are_not_inlined_without_end) {
    TestDevice device;
    std::string text = ".func f0() { .reg .b32 %r<2>; mov.u32 %r1, 1; trap; }\n";
    for (int i = 1; i < 30; ++i) {
        const std::string callee = "call.uni f" + std::to_string(i - 1) + "; ";
        text += ".func f" + std::to_string(i) + "() { " + callee + callee + "ret; }\n";
    }
    const auto kernel =
        device.compile(ptx_module(text + ".visible .entry k() { call.uni f29; ret; }"));
    ASSERT_NE(kernel, nullptr) << device.log;
    EXPECT_LT(kernel->code.size(), 200'000u);
}

TEST(Compile, newer_targets_are_refused) {
    TestDevice device;
    EXPECT_EQ(device.compile(".version 8.0\n.target sm_90\n.address_size 64\n", 80), nullptr);
    EXPECT_EQ(device.problem, ptx::Problem::Target);
    EXPECT_TRUE(contains(device.log, "compute_80")) << device.log;
}

TEST(Compile, offsets_of_parameters_are_checked_without_overflow) {
    TestDevice device;
    for (const char* const offset : {"9223372036854775807", "9223372036854775804", "4", "-4"}) {
        EXPECT_EQ(device.compile(kernel_with("ld.param.u32 %r1, [b+" + std::string(offset) +
                                             "];\nst.global.u32 [%rd1], %r1;")),
                  nullptr)
            << offset;
        EXPECT_TRUE(contains(device.log, "parameter 'b' has 4 bytes; this reads 4 at offset"))
            << device.log;
    }
    // A parameter of a call becomes bytes of local memory, where the access is a fault.
    EXPECT_NE(device.compile(kernel_with("{ .param .b64 x; st.param.b64 [x+9223372036854775807], 1;"
                                         " ld.param.v2.b32 {%r1, %r2}, [x+9223372036854775804];"
                                         " st.global.u32 [%rd1], %r1; }")),
              nullptr)
        << device.log;
}

TEST(Compile, offsets_into_local_memory_of_functions_wrap) {
    TestDevice device;
    const std::string recursive =
        ".func f() { .reg .b32 %r<2>; .local .align 4 .b8 a[8]; .local .align 4 .b8 x[8]; "
        "st.local.u32 [x+9223372036854775807], 1; ld.local.u32 %r1, [a]; "
        "st.local.u32 [x+9223372036854775804], %r1; call.uni f; ret; }\n";
    EXPECT_NE(device.compile(ptx_module(recursive + ".visible .entry k() { call.uni f; ret; }")),
              nullptr)
        << device.log;
}

TEST(Compile, offsets_of_vector_atomics_wrap) {
    TestDevice device;
    EXPECT_NE(
        device.compile(ptx_module(".target sm_90\n.visible .entry k() { .reg .b64 %rd<2>; "
                                  "mov.u64 %rd1, 0; red.global.v2.f32.add "
                                  "[%rd1+9223372036854775807], {0f3F800000, 0f3F800000}; ret; }")),
        nullptr)
        << device.log;
}

TEST(Compile, undeclared_registers_and_wrong_widths_are_errors) {
    TestDevice device;
    EXPECT_EQ(device.compile(kernel_with("add.u32 %r1, %r10, %rd1;\nadd.u32 %r9, %r1, 1;")),
              nullptr);
    EXPECT_EQ(device.problem, ptx::Problem::Syntax);
    EXPECT_TRUE(contains(device.log, "'%r10' is not declared")) << device.log;
    EXPECT_TRUE(contains(device.log, "'%r9'")) << device.log;
}

TEST(Compile, special_registers_have_32_or_64_bits) {
    for (const char* const text :
         {".reg .b128 %q; mov.b128 %q, %ctaid.x;", ".reg .b128 %q; mov.b128 %q, %ntid.x;",
          ".reg .pred %q; mov.pred %q, %ctaid.x;"}) {
        TestDevice device;
        EXPECT_EQ(device.compile(kernel_with(text)), nullptr) << text;
        EXPECT_TRUE(contains(device.log, "32 or 64 bits wide")) << device.log;
    }
}

TEST(GlobalVariables, initial_bytes_and_relocations) {
    ptx::Diagnostics diagnostics;
    const auto module = ptx::parse(ptx_module(R"(
.visible .global .align 4 .u32 table[2][2] = {{1, 2}, {3, 4}};
.global .align 8 .u64 pointers[2] = {table, generic(table)+8};
.const .align 8 .f64 value = 0d3FF0000000000000;
.extern .global .u32 elsewhere;
)"),
                                   diagnostics);
    ASSERT_TRUE(module) << diagnostics.to_text();
    const auto variables = passes::global_variables(*module, 1 << 20, diagnostics);
    ASSERT_TRUE(diagnostics.is_empty()) << diagnostics.to_text();
    ASSERT_EQ(variables.size(), 4u);
    EXPECT_TRUE(variables[0].is_visible);
    EXPECT_EQ(variables[0].size_bytes, 16u);
    std::uint32_t numbers[4];
    std::memcpy(numbers, variables[0].initial.data(), sizeof numbers);
    EXPECT_EQ(numbers[2], 3u);
    ASSERT_EQ(variables[1].relocations.size(), 2u);
    EXPECT_EQ(variables[1].relocations[1].offset, 8u);
    EXPECT_EQ(variables[1].relocations[1].symbol, "table");
    EXPECT_EQ(variables[1].relocations[1].addend, 8);
    EXPECT_EQ(variables[2].space, ptx::Space::Constant);
    EXPECT_TRUE(variables[3].is_external);
    EXPECT_TRUE(variables[3].initial.empty());
}

TEST(Compile, a_bank_beyond_what_operands_address_is_refused) {
    // The limit is a gigabyte. Tests lower it, because such modules take long to load.
    EXPECT_EQ(TestDevice().bank_bytes, 1u << 30);
    constexpr std::uint32_t bank_bytes = 4096; // 32 values of 32 bits
    const auto refusal_of = [](const std::string& body) {
        TestDevice device;
        device.bank_bytes = bank_bytes;
        const auto kernel = device.compile(kernel_with(body));
        EXPECT_EQ(kernel == nullptr, !device.log.empty());
        return device.log;
    };
    const auto sum_of_constants = [](unsigned count) {
        std::string body = "ld.param.u32 %r1, [b];\nld.param.u64 %rd1, [a];\n";
        for (unsigned i = 0; i < count; ++i) {
            body += "xor.b32 %r1, %r1, " + std::to_string(100 + i) + ";\n";
        }
        return body + "st.global.u32 [%rd1], %r1;\n";
    };
    EXPECT_EQ(refusal_of(sum_of_constants(32)), "");
    EXPECT_TRUE(contains(refusal_of(sum_of_constants(33)),
                         "kernel 'k' needs more than 4096 bytes for the constants of a warp"));
    const auto live_values = [](unsigned count) {
        std::string body = ".reg .b32 %x<100>;\nld.param.u64 %rd1, [a];\n";
        for (unsigned i = 0; i < count; ++i) {
            body += "ld.global.u32 %x" + std::to_string(i) + ", [%rd1];\n";
        }
        for (unsigned i = 0; i < count; ++i) {
            body += "st.global.u32 [%rd1], %x" + std::to_string(i) + ";\n";
        }
        return body;
    };
    EXPECT_EQ(refusal_of(live_values(32)), "");
    EXPECT_TRUE(contains(refusal_of(live_values(33)),
                         "kernel 'k' needs more than 4096 bytes for the registers of a warp"));
    EXPECT_TRUE(contains(refusal_of(live_values(33)), "split it into smaller kernels"));
    std::string parameters;
    for (unsigned offset = 0; offset < 8; ++offset) {
        parameters += "ld.param.u8 %r1, [a+" + std::to_string(offset) + "];\n" +
                      "st.global.u32 [%rd1], %r1;\nld.param.s8 %r1, [a+" + std::to_string(offset) +
                      "];\nst.global.u32 [%rd1], %r1;\n" + "ld.param.u8 %rd2, [a+" +
                      std::to_string(offset) + "];\nst.global.u64 [%rd1], %rd2;\n";
    }
    EXPECT_TRUE(contains(refusal_of("ld.param.u64 %rd1, [a];\n" + parameters),
                         "kernel 'k' needs more than 4096 bytes for the parameters of a warp"));
}

} // namespace cuprum::emulator
