// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Calls that are not inlined: recursion, function pointers, virtual functions.

#include "exec/harness.hpp"

namespace cuprum::emulator {

namespace {

using test::run;
using test::Shape;
using test::TestDevice;

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// Written like compiler output: two calls in one activation, and values that are live across them.
constexpr const char* FIBONACCI = R"(
.func (.param .b32 result) fib(.param .b32 n) {
    .reg .pred %p<2>; .reg .b32 %r<9>;
    ld.param.u32 %r8, [n];
    setp.lt.s32 %p1, %r8, 2;
    @%p1 bra DONE;
    add.s32 %r4, %r8, -1;
    {
    .param .b32 param0;
    st.param.b32 [param0+0], %r4;
    .param .b32 retval0;
    call.uni (retval0), fib, (param0);
    ld.param.b32 %r5, [retval0+0];
    }
    add.s32 %r6, %r8, -2;
    {
    .param .b32 param0;
    st.param.b32 [param0+0], %r6;
    .param .b32 retval0;
    call.uni (retval0), fib, (param0);
    ld.param.b32 %r7, [retval0+0];
    }
    add.s32 %r8, %r7, %r5;
DONE:
    st.param.b32 [result+0], %r8;
    ret;
}
.visible .entry kernel(.param .u64 out, .param .u32 modulus) {
    .reg .b32 %r<6>; .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [modulus];
    mov.u32 %r2, %tid.x;
    rem.u32 %r3, %r2, %r1;
    {
    .param .b32 param0;
    st.param.b32 [param0+0], %r3;
    .param .b32 retval0;
    call.uni (retval0), fib, (param0);
    ld.param.b32 %r4, [retval0+0];
    }
    mul.wide.u32 %rd2, %r2, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r4;
    ret;
})";

/// Adds, subtracts or multiplies through a table of functions; the thread number modulo 3 selects
/// one.
constexpr const char* TABLE = R"(
.func (.param .b32 r) plus(.param .b32 a, .param .b32 b);
.func (.param .b32 r) minus(.param .b32 a, .param .b32 b);
.func (.param .b32 r) times(.param .b32 a, .param .b32 b);
.global .align 8 .u64 table[3] = {plus, minus, times};
.func (.param .b32 r) plus(.param .b32 a, .param .b32 b) {
    .reg .b32 %r<4>;
    ld.param.u32 %r1, [a]; ld.param.u32 %r2, [b];
    add.s32 %r3, %r1, %r2;
    st.param.b32 [r], %r3;
    ret;
}
.func (.param .b32 r) minus(.param .b32 a, .param .b32 b) {
    .reg .b32 %r<4>;
    ld.param.u32 %r1, [a]; ld.param.u32 %r2, [b];
    sub.s32 %r3, %r1, %r2;
    st.param.b32 [r], %r3;
    ret;
}
.func (.param .b32 r) times(.param .b32 a, .param .b32 b) {
    .reg .b32 %r<4>; .reg .b64 %rd<4>;
    ld.param.u32 %r1, [a]; ld.param.u32 %r2, [b];
    mul.wide.u32 %rd1, %r1, %r2; // a wide register where the others have narrow ones
    cvt.u32.u64 %r3, %rd1;
    st.param.b32 [r], %r3;
    ret;
}
)";

constexpr const char* CALL_TABLE = R"(
.visible .entry kernel(.param .u64 out) {
    .reg .b32 %r<8>; .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    rem.u32 %r2, %r1, 3;
    mul.wide.u32 %rd2, %r2, 8;
    mov.u64 %rd3, table;
    add.s64 %rd4, %rd3, %rd2;
    ld.global.u64 %rd5, [%rd4];
    {
    .param .b32 param0;
    st.param.b32 [param0+0], %r1;
    .param .b32 param1;
    st.param.b32 [param1+0], 7;
    .param .b32 retval0;
    prototype_0 : .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);
    call (retval0), %rd5, (param0, param1), prototype_0;
    ld.param.b32 %r3, [retval0+0];
    }
    mul.wide.u32 %rd6, %r1, 4;
    add.s64 %rd7, %rd1, %rd6;
    st.global.u32 [%rd7], %r3;
    ret;
})";

} // namespace

TEST(Calls, every_lane_recurses_to_its_own_depth) {
    TestDevice device;
    auto* out = device.allocate<std::uint32_t>(96);
    const Fault fault = run(device, FIBONACCI, {.block = 96}, out, 12u);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    constexpr std::uint32_t EXPECTED[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89};
    for (std::uint32_t i = 0; i < 96; ++i) {
        EXPECT_EQ(out[i], EXPECTED[i % 12]) << i;
    }
}

TEST(Calls, lanes_call_different_functions_through_a_table) {
    TestDevice device;
    auto* out = device.allocate<std::uint32_t>(64);
    const std::string text = std::string(TABLE) + CALL_TABLE;
    const Fault fault = run(device, text, {.block = 64}, out);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    for (std::uint32_t i = 0; i < 64; ++i) {
        EXPECT_EQ(out[i], i % 3 == 0 ? i + 7 : i % 3 == 1 ? i - 7 : i * 7) << i;
    }
}

TEST(Calls, a_function_pointer_in_a_register_names_its_function) {
    TestDevice device;
    auto* out = device.allocate<std::uint32_t>(1);
    const Fault fault = run(device, R"(
.func (.param .b32 r) answer() {
    st.param.b32 [r], 42;
    ret;
}
.visible .entry kernel(.param .u64 out) {
    .reg .b32 %r<3>; .reg .b64 %rd<3>; .reg .pred %p<2>;
    ld.param.u64 %rd1, [out];
    mov.u64 %rd2, answer;
    setp.eq.u64 %p1, %rd2, 0;
    @%p1 trap;
    {
    .param .b32 retval0;
    proto : .callprototype (.param .b32 _) _ ();
    call (retval0), %rd2, (), proto;
    ld.param.b32 %r1, [retval0];
    }
    st.global.u32 [%rd1], %r1;
    ret;
})",
                            {.block = 1}, out);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    EXPECT_EQ(*out, 42u);
}

TEST(Calls, calling_what_is_no_function_is_a_fault) {
    TestDevice device;
    auto* out = device.allocate<std::uint32_t>(1);
    const Fault fault = run(device, R"(
.visible .entry kernel(.param .u64 out) {
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [out];
    {
    .param .b64 param0;
    st.param.b64 [param0], %rd1;
    proto : .callprototype _ (.param .b64 _);
    call %rd1, (param0), proto;
    }
    ret;
})",
                            {.block = 32}, out);
    EXPECT_EQ(fault.kind, FaultKind::IllegalInstruction);
    EXPECT_TRUE(contains(fault.report, "not the address of a function")) << fault.report;
}

TEST(Calls, endless_recursion_is_a_stack_overflow_with_its_place) {
    TestDevice device;
    const Fault fault = run(device, R"(
.func down(.param .b32 n) {
    .reg .b32 %r<2>;
    ld.param.u32 %r1, [n];
    add.s32 %r1, %r1, 1;
    {
    .param .b32 param0;
    st.param.b32 [param0], %r1;
    call.uni down, (param0);
    }
    ret;
}
.visible .entry kernel() {
    .param .b32 param0;
    st.param.b32 [param0], 0;
    call.uni down, (param0);
    ret;
})",
                            {.block = 32});
    EXPECT_EQ(fault.kind, FaultKind::StackOverflow);
    EXPECT_TRUE(contains(fault.report, "calls are nested")) << fault.report;
    EXPECT_TRUE(contains(fault.report, "at PTX line")) << fault.report;
}

TEST(Calls, the_size_of_the_stack_bounds_the_depth_of_calls) {
    const std::string text = R"(
.func down(.param .b32 n) {
    .local .align 16 .b8 own[16];
    .reg .pred %p<2>; .reg .b32 %r<3>; .reg .b64 %rd<2>;
    ld.param.u32 %r1, [n];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 ret;
    sub.s32 %r1, %r1, 1;
    mov.u64 %rd1, own;
    st.local.u32 [%rd1], %r1;
    {
    .param .b32 param0;
    st.param.b32 [param0], %r1;
    call.uni down, (param0);
    }
    ret;
}
.visible .entry kernel(.param .u32 depth) {
    .reg .b32 %r<2>;
    .param .b32 param0;
    ld.param.u32 %r1, [depth];
    st.param.b32 [param0], %r1;
    call.uni down, (param0);
    ret;
})";
    const auto outcome = [&](std::uint32_t stack_bytes, std::uint32_t depth) {
        TestDevice device;
        return run(device, text, {.block = 32, .stack_bytes = stack_bytes}, depth);
    };
    EXPECT_EQ(outcome(4096, 200).kind, FaultKind::None);
    EXPECT_EQ(outcome(8192, 300).kind, FaultKind::None);
    const Fault fault = outcome(4096, 300);
    EXPECT_EQ(fault.kind, FaultKind::StackOverflow);
    EXPECT_TRUE(contains(fault.report, "the stack has 4096 bytes a thread (CU_LIMIT_STACK_SIZE)"))
        << fault.report;
    EXPECT_EQ(outcome(0, 300).kind, FaultKind::None);
}

TEST(Calls, each_activation_has_local_memory_of_its_own) {
    TestDevice device;
    auto* out = device.allocate<std::uint32_t>(32);
    // sum(n): stores n in its depot, calls sum(n - 1) and passes the address of its depot, which
    // the callee reads.
    const Fault fault = run(device, R"(
.func (.param .b32 r) sum(.param .b32 n, .param .b64 above) {
    .local .align 8 .b8 depot[16];
    .reg .b64 %SP, %SPL; .reg .b64 %rd<4>; .reg .b32 %r<8>; .reg .pred %p<2>;
    mov.u64 %SPL, depot;
    cvta.local.u64 %SP, %SPL;
    ld.param.u32 %r1, [n];
    ld.param.u64 %rd1, [above];
    ld.u32 %r5, [%rd1];
    st.local.u32 [%SPL+4], %r1;
    st.u32 [%SP], %r1;
    mov.u32 %r4, 0;
    setp.eq.s32 %p1, %r1, 0;
    @%p1 bra DONE;
    sub.s32 %r2, %r1, 1;
    {
    .param .b32 param0;
    st.param.b32 [param0], %r2;
    .param .b64 param1;
    st.param.b64 [param1], %SP;
    .param .b32 retval0;
    call.uni (retval0), sum, (param0, param1);
    ld.param.b32 %r4, [retval0];
    }
DONE:
    ld.local.u32 %r3, [depot+4];
    add.s32 %r4, %r4, %r3;
    mad.lo.s32 %r4, %r5, 1000, %r4;
    st.param.b32 [r], %r4;
    ret;
}
.visible .entry kernel(.param .u64 out) {
    .reg .b32 %r<4>; .reg .b64 %rd<6>;
    .local .align 4 .b8 mine[4];
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    st.local.u32 [mine], 0;
    mov.u64 %rd4, mine;
    cvta.local.u64 %rd5, %rd4;
    {
    .param .b32 param0;
    st.param.b32 [param0], %r1;
    .param .b64 param1;
    st.param.b64 [param1], %rd5;
    .param .b32 retval0;
    call.uni (retval0), sum, (param0, param1);
    ld.param.b32 %r2, [retval0];
    }
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r2;
    ret;
})",
                            {.block = 32}, out);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    for (std::uint32_t i = 0; i < 32; ++i) {
        // Each activation except the first reads its caller's n.
        const std::uint32_t sum = i * (i + 1) / 2;
        EXPECT_EQ(out[i], sum + 1000 * sum) << i;
    }
}

TEST(Calls, barriers_and_thread_indices_work_inside_functions) {
    TestDevice device;
    auto* out = device.allocate<std::uint32_t>(64);
    // Even and odd threads wait at a barrier, each inside its own function.
    const Fault fault = run(device, R"(
.global .align 8 .u64 table[2] = {even, odd};
.shared .align 4 .b8 values[256];
.func even(.param .b64 out) {
    .reg .b32 %r<6>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, values;
    add.s32 %r3, %r3, %r2;
    st.shared.u32 [%r3], %r1;
    barrier.sync 0;
    ld.shared.u32 %r4, [%r3+4];
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r4;
    ret;
}
.func odd(.param .b64 out) {
    .reg .b32 %r<6>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, values;
    add.s32 %r3, %r3, %r2;
    st.shared.u32 [%r3], %r1;
    barrier.sync 0;
    ld.shared.u32 %r4, [%r3+-4];
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r4;
    ret;
}
.visible .entry kernel(.param .u64 out) {
    .reg .b32 %r<3>; .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 1;
    mul.wide.u32 %rd2, %r2, 8;
    mov.u64 %rd3, table;
    add.s64 %rd4, %rd3, %rd2;
    ld.global.u64 %rd5, [%rd4];
    {
    .param .b64 param0;
    st.param.b64 [param0], %rd1;
    proto : .callprototype _ (.param .b64 _);
    call %rd5, (param0), proto;
    }
    ret;
})",
                            {.block = 64}, out);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    for (std::uint32_t i = 0; i < 64; ++i) {
        EXPECT_EQ(out[i], i ^ 1u) << i;
    }
}

TEST(Calls, threads_may_exit_inside_a_function) {
    TestDevice device;
    auto* out = device.allocate<std::uint32_t>(1);
    const Fault fault = run(device, R"(
.func leave(.param .b32 n) {
    .reg .b32 %r<3>; .reg .pred %p<2>;
    ld.param.u32 %r1, [n];
    setp.gt.u32 %p1, %r1, 15;
    @%p1 exit;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 ret;
    sub.u32 %r1, %r1, 1;
    .param .b32 param0;
    st.param.b32 [param0], %r1;
    call.uni leave, (param0);
    ret;
}
.visible .entry kernel(.param .u64 out) {
    .reg .b32 %r<3>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    .param .b32 param0;
    st.param.b32 [param0], %r1;
    call.uni leave, (param0);
    red.global.add.u32 [%rd1], 1;
    ret;
})",
                            {.block = 32}, out);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    EXPECT_EQ(*out, 16u);
}

TEST(Calls, structures_travel_by_value) {
    TestDevice device;
    auto* out = device.allocate<std::uint64_t>(1);
    const Fault fault = run(device, R"(
.func (.param .align 8 .b8 r[24]) step(.param .align 8 .b8 s[24]) {
    .reg .b64 %rd<9>; .reg .pred %p<2>;
    ld.param.u64 %rd1, [s];
    ld.param.u64 %rd2, [s+8];
    ld.param.u64 %rd3, [s+16];
    setp.eq.u64 %p1, %rd1, 0;
    @%p1 bra DONE;
    sub.s64 %rd1, %rd1, 1;
    add.s64 %rd4, %rd2, %rd3;
    {
    .param .align 8 .b8 param0[24];
    st.param.b64 [param0], %rd1;
    st.param.b64 [param0+8], %rd3;
    st.param.b64 [param0+16], %rd4;
    .param .align 8 .b8 retval0[24];
    call.uni (retval0), step, (param0);
    ld.param.b64 %rd1, [retval0];
    ld.param.b64 %rd2, [retval0+8];
    ld.param.b64 %rd3, [retval0+16];
    }
DONE:
    st.param.b64 [r], %rd1;
    st.param.b64 [r+8], %rd2;
    st.param.b64 [r+16], %rd3;
    ret;
}
.visible .entry kernel(.param .u64 out) {
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [out];
    {
    .param .align 8 .b8 param0[24];
    st.param.b64 [param0], 50;
    st.param.b64 [param0+8], 0;
    st.param.b64 [param0+16], 1;
    .param .align 8 .b8 retval0[24];
    call.uni (retval0), step, (param0);
    ld.param.b64 %rd2, [retval0+8];
    }
    st.global.u64 [%rd1], %rd2;
    ret;
})",
                            {.block = 1}, out);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    EXPECT_EQ(*out, 12586269025u); // the fiftieth Fibonacci number
}

/// Runs a kernel whose thread i adds the value that `body` leaves in %r0 to word i of a buffer.
std::vector<std::uint32_t> run_body(const std::string& functions, const std::string& body) {
    TestDevice device;
    auto* const out = device.allocate<std::uint32_t>(32);
    const Fault fault = run(device, functions + R"(
.visible .entry k(.param .u64 pout) {
    .reg .b64 %out, %d<4>; .reg .b32 %r<8>, %l; .reg .b16 %h<4>; .reg .pred %p;
    .reg .v2 .b32 %v<4>;
    ld.param.u64 %out, [pout];
    mov.u32 %l, %tid.x;
    mad.wide.u32 %out, %l, 4, %out;
    mov.u32 %r0, 0;
)" + body + "\nst.global.u32 [%out], %r0;\nret;\n}\n",
                            {}, reinterpret_cast<std::uint64_t>(out));
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    return {out, out + 32};
}

TEST(Calls, registers_and_constants_are_passed_for_param_variables) {
    const std::string functions = R"(
.func (.param .b32 o) mix(.param .b32 a, .param .b64 b, .param .b16 c) {
    .reg .b32 %r<4>; .reg .b64 %d; .reg .b16 %h;
    ld.param.b32 %r0, [a];
    ld.param.b64 %d, [b];
    ld.param.b16 %h, [c];
    cvt.u32.u64 %r1, %d;
    cvt.u32.u16 %r2, %h;
    mad.lo.u32 %r3, %r0, %r1, %r2;
    st.param.b32 [o], %r3;
    ret;
}
.func (.param .b16 o) narrow(.param .f32 a) {
    .reg .f32 %f; .reg .b16 %h;
    ld.param.f32 %f, [a];
    cvt.rni.u16.f32 %h, %f;
    st.param.b16 [o], %h;
    ret;
}
)";
    std::vector<std::uint32_t> out =
        run_body(functions, "mov.u64 %d0, 3;\nmov.b16 %h0, 5;\n"
                            "call (%r0), mix, (%l, %d0, %h0);\ncall (_), mix, (1, 2, 3);");
    for (std::uint32_t i = 0; i < 32; ++i) {
        EXPECT_EQ(out[i], i * 3 + 5);
    }
    // With a guard, with constants, and with a result that is narrower than its register.
    out = run_body(functions, "setp.gt.u32 %p, %l, 7;\nmov.b16 %h1, 9;\n"
                              "@%p call (%h1), narrow, (2.0);\ncvt.u32.u16 %r0, %h1;");
    for (std::uint32_t i = 0; i < 32; ++i) {
        EXPECT_EQ(out[i], i > 7 ? 2u : 9u);
    }
}

TEST(Calls, registers_are_passed_in_calls_that_are_not_inlined) {
    const std::vector<std::uint32_t> out = run_body(R"(
.func (.param .b32 o) sum(.param .b32 n) {
    .reg .b32 %r<4>; .reg .pred %p;
    ld.param.b32 %r0, [n];
    mov.u32 %r1, 0;
    setp.eq.u32 %p, %r0, 0;
    @%p bra DONE;
    sub.u32 %r2, %r0, 1;
    call (%r1), sum, (%r2);
    add.u32 %r1, %r1, %r0;
DONE:
    st.param.b32 [o], %r1;
    ret;
}
)",
                                                    "call (%r0), sum, (%l);");
    for (std::uint32_t i = 0; i < 32; ++i) {
        EXPECT_EQ(out[i], i * (i + 1) / 2);
    }
}

TEST(Calls, parameters_are_extended_to_wider_registers_and_truncated_from_them) {
    const std::string functions = R"(
.func (.param .b32 o) halve(.param .b32 a, .param .b32 b) {
    .reg .b64 %d<4>; .reg .pred %p;
    ld.param.s32 %d0, [a];
    ld.param.u32 %d1, [b];
    shr.s64 %d2, %d0, 1;
    shr.s64 %d3, %d1, 31;
    add.s64 %d2, %d2, %d3;
    st.param.b32 [o], %d2;
    ret;
}
)";
    const std::vector<std::uint32_t> out =
        run_body(functions, "sub.u32 %l, %l, 16;\ncall (%r0), halve, (%l, 0x80000000);");
    for (std::int32_t i = 0; i < 32; ++i) {
        EXPECT_EQ(static_cast<std::int32_t>(out[static_cast<std::size_t>(i)]), ((i - 16) >> 1) + 1);
    }
}

TEST(Calls, registers_of_several_components_are_passed_whole) {
    const std::vector<std::uint32_t> out = run_body(
        ".func (.reg .v2 .b32 o) swap(.reg .v2 .b32 a) {\nmov.v2.b32 o, {a.y, a.x};\nret;\n}\n",
        "mov.v2.b32 %v0, {%l, 7};\ncall (%v1), swap, (%v0);\nmad.lo.u32 %r0, %v1.x, 100, %v1.y;");
    for (std::uint32_t i = 0; i < 32; ++i) {
        EXPECT_EQ(out[i], 700 + i);
    }
}

TEST(Calls, what_cannot_be_passed_is_refused_by_name) {
    const auto log_of = [](const std::string& function, const std::string& call) {
        TestDevice device;
        (void)device.compile(test::ptx_module(function +
                                              ".visible .entry k() {\n.reg .b32 %r;\n"
                                              ".reg .v2 .b32 %v;\n" +
                                              call + "\nret;\n}\n"));
        return device.log;
    };
    EXPECT_TRUE(contains(log_of(".func f(.param .align 8 .b8 a[8]) { ret; }\n", "call f, (%r);"),
                         "passing '%r' as parameter 'a'"));
    EXPECT_TRUE(
        contains(log_of(".func f(.reg .v4 .b32 a) { ret; }\n", "call f, (%v);"), "4 components"));
    EXPECT_TRUE(contains(log_of(".func f(.param .b32 a) { ret; }\n", "call f, (%q);"), "'%q'"));
}

TEST(Calls, functions_without_a_body_are_still_refused_by_name) {
    TestDevice device;
    EXPECT_EQ(device.compile(test::ptx_module(R"(
.extern .func (.param .b32 r) elsewhere(.param .b64 a);
.visible .entry kernel() {
    .param .b64 a; .param .b32 r;
    call (r), elsewhere, (a);
    ret;
})")),
              nullptr);
    EXPECT_EQ(device.problem, ptx::Problem::Unsupported);
    EXPECT_TRUE(contains(device.log, "'elsewhere'")) << device.log;
}

TEST(Calls, a_parameter_over_64_kib_is_refused) {
    const auto log_of = [](const std::string& bytes) {
        TestDevice device;
        const auto kernel = device.compile(test::ptx_module(
            ".func f(.param .align 4 .b8 big[" + bytes + "]) {\n.param .align 4 .b8 copy[" + bytes +
            "];\ncall.uni f, (copy);\nret;\n}\n"
            ".visible .entry k() {\n.param .align 4 .b8 arg[" +
            bytes + "];\ncall.uni f, (arg);\nret;\n}\n"));
        EXPECT_EQ(kernel == nullptr, !device.log.empty()) << device.log;
        return device.log;
    };
    EXPECT_EQ(log_of("65536"), "");
    for (const char* const bytes : {"65537", "70000", "1000000"}) {
        EXPECT_TRUE(contains(log_of(bytes), "a call passes more than 65536 bytes")) << bytes;
    }
}

} // namespace cuprum::emulator
