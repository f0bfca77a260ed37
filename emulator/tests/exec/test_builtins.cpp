// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// printf, assert, malloc and free inside kernels.

#include "builtins/heap.hpp"
#include "exec/harness.hpp"

#include <unistd.h>

#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace cuprum::emulator {

namespace {

using test::run;
using test::Shape;
using test::TestDevice;

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// Returns a string as the initial bytes of a variable.
std::string string_variable(const std::string& name, const std::string& text) {
    std::string out =
        ".global .align 1 .b8 " + name + "[" + std::to_string(text.size() + 1) + "] = {";
    for (const char letter : text) {
        out += std::to_string(static_cast<unsigned char>(letter)) + ", ";
    }
    return out + "0};\n";
}

/// A kernel that stores arguments (PTX statements that write to %rd2, local) and prints once.
std::string printing(const std::string& format, const std::string& stores) {
    return string_variable("format", format) + string_variable("word", "word") + R"(
.extern .func (.param .b32 func_retval0) vprintf(.param .b64 p0, .param .b64 p1);
.visible .entry kernel(.param .u64 out) {
    .local .align 16 .b8 depot[128];
    .reg .b64 %SP, %SPL; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f64 %fd<3>;
    mov.u64 %SPL, depot;
    cvta.local.u64 %SP, %SPL;
    mov.u64 %rd2, %SPL;
    mov.u32 %r1, %tid.x;
    mov.u64 %rd4, word;
)" + stores +
           R"(
    mov.u64 %rd3, format;
    {
    .param .b64 param0;
    st.param.b64 [param0+0], %rd3;
    .param .b64 param1;
    st.param.b64 [param1+0], %SP;
    .param .b32 retval0;
    call.uni (retval0), vprintf, (param0, param1);
    ld.param.b32 %r4, [retval0+0];
    }
    ld.param.u64 %rd5, [out];
    st.global.u32 [%rd5], %r4;
    ret;
})";
}

std::string print(const std::string& format, const std::string& stores, int expected_count,
                  Shape shape = {.block = 1}) {
    TestDevice device;
    auto* out = device.allocate<std::int32_t>(1);
    testing::internal::CaptureStdout();
    const Fault fault = run(device, printing(format, stores), shape, out);
    std::string text = testing::internal::GetCapturedStdout();
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    EXPECT_EQ(*out, expected_count);
    return text;
}

constexpr const char* HEAP_FUNCTIONS = R"(
.extern .func (.param .b64 func_retval0) malloc(.param .b64 p0);
.extern .func free(.param .b64 p0);
)";

} // namespace

TEST(Printf, integers_of_all_lengths_and_bases) {
    EXPECT_EQ(print("%d %u %x %#o %5d|%-5d|%05d %lld %lu %hhd", R"(
    st.local.u32 [%rd2], -1; st.local.u32 [%rd2+4], -1; st.local.u32 [%rd2+8], 255;
    st.local.u32 [%rd2+12], 8; st.local.u32 [%rd2+16], 42; st.local.u32 [%rd2+20], 42;
    st.local.u32 [%rd2+24], 42; st.local.u64 [%rd2+32], -1099511627776;
    st.local.u64 [%rd2+40], 1099511627776; st.local.u32 [%rd2+48], 257;
)",
                    10),
              "-1 4294967295 ff 010    42|42   |00042 -1099511627776 1099511627776 1");
}

TEST(Printf, floats_strings_characters_and_pointers) {
    EXPECT_EQ(print("%f %.2f %8.3e %g %s|%6s|%.2s %c %p %%", R"(
    mov.f64 %fd1, 0d3FF8000000000000; // 1.5
    st.local.f64 [%rd2], %fd1; st.local.f64 [%rd2+8], %fd1; st.local.f64 [%rd2+16], %fd1;
    st.local.f64 [%rd2+24], %fd1; st.local.u64 [%rd2+32], %rd4; st.local.u64 [%rd2+40], %rd4;
    st.local.u64 [%rd2+48], %rd4; st.local.u32 [%rd2+56], 65; st.local.u64 [%rd2+64], 4096;
)",
                    9),
              "1.500000 1.50 1.500e+00 1.5 word|  word|wo A 0x1000 %");
}

TEST(Printf, a_declaration_may_leave_the_result_out) {
    // Taichi does.
    TestDevice device;
    testing::internal::CaptureStdout();
    const Fault fault = run(device, string_variable("format", "hello") + R"(
.extern .func vprintf(.param .b64 p0, .param .b64 p1);
.visible .entry kernel() {
    .reg .b64 %rd1;
    mov.u64 %rd1, format;
    cvta.global.u64 %rd1, %rd1;
    {
    .param .b64 param0;
    st.param.b64 [param0], %rd1;
    .param .b64 param1;
    st.param.b64 [param1], 0;
    call.uni vprintf, (param0, param1);
    }
    ret;
})",
                            {.block = 1});
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "hello");
}

TEST(Printf, numbers_look_the_same_in_every_language) {
    const auto folder =
        std::filesystem::temp_directory_path() / ("cuprum_locale_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    // A language of which no machine has to have the locale.
    const std::string make =
        "localedef -i de_DE -f UTF-8 '" + (folder / "de_DE.UTF-8").string() + "' 2>/dev/null";
    [[maybe_unused]] const int made = std::system(make.c_str());
    ::setenv("LOCPATH", folder.c_str(), 1);
    const bool is_set = std::setlocale(LC_ALL, "de_DE.UTF-8") != nullptr;
    ::unsetenv("LOCPATH");
    std::filesystem::remove_all(folder);
    if (!is_set) {
        GTEST_SKIP() << "localedef cannot make a German locale";
    }
    char own[8] = {};
    std::snprintf(own, sizeof own, "%.2f", 1.5);
    const std::string text = print("%.2f", R"(
    mov.f64 %fd1, 0d3FF8000000000000;
    st.local.f64 [%rd2], %fd1;
)",
                                   1);
    std::setlocale(LC_ALL, "C");
    EXPECT_STREQ(own, "1,50") << "the host writes a comma";
    EXPECT_EQ(text, "1.50");
}

TEST(Printf, width_and_precision_may_be_arguments) {
    EXPECT_EQ(print("%*d|%.*f|%-*d|", R"(
    mov.f64 %fd1, 0d3FF8000000000000;
    st.local.u32 [%rd2], 4; st.local.u32 [%rd2+4], 7; st.local.u32 [%rd2+8], 3;
    st.local.f64 [%rd2+16], %fd1; st.local.u32 [%rd2+24], 3; st.local.u32 [%rd2+28], 7;
)",
                    6),
              "   7|1.500|7  |");
}

TEST(Printf, no_arguments_and_half_a_conversion) {
    EXPECT_EQ(print("plain\n", "", 0), "plain\n");
    EXPECT_EQ(print("50%", "", 0), "50%");
}

TEST(Printf, all_threads_print_each_line_whole) {
    const std::string text =
        print("thread %d\n", "st.local.u32 [%rd2], %r1;", 1, {.grid = 8, .block = 64});
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 8 * 64);
    std::size_t count = 0;
    for (std::size_t at = text.find("thread 63\n"); at != std::string::npos;
         at = text.find("thread 63\n", at + 1)) {
        ++count;
    }
    EXPECT_EQ(count, 8u);
}

TEST(Printf, a_string_outside_memory_is_a_fault) {
    TestDevice device;
    auto* out = device.allocate<std::int32_t>(1);
    const Fault fault = run(device, printing("%s", "st.local.u64 [%rd2], 64;"), {.block = 1}, out);
    EXPECT_EQ(fault.kind, FaultKind::IllegalAddress);
    EXPECT_TRUE(contains(fault.report, "0x40")) << fault.report;
}

TEST(Assert, says_what_where_and_who) {
    TestDevice device;
    testing::internal::CaptureStderr();
    const Fault fault =
        run(device,
            string_variable("condition", "i < n") + string_variable("file", "a.cu") +
                string_variable("function", "void check(int)") + R"(
.extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
.visible .entry kernel() {
    .reg .b64 %rd<4>; .reg .b32 %r<2>; .reg .pred %p<2>;
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p1, %r1, 30;
    @%p1 bra DONE;
    mov.u64 %rd1, condition; mov.u64 %rd2, file; mov.u64 %rd3, function;
    {
    .param .b64 param0; st.param.b64 [param0], %rd1;
    .param .b64 param1; st.param.b64 [param1], %rd2;
    .param .b32 param2; st.param.b32 [param2], 7;
    .param .b64 param3; st.param.b64 [param3], %rd3;
    .param .b64 param4; st.param.b64 [param4], 1;
    call.uni __assertfail, (param0, param1, param2, param3, param4);
    }
DONE:
    ret;
})",
            {.block = 32});
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_EQ(fault.kind, FaultKind::Assert);
    EXPECT_TRUE(contains(fault.report, "'i < n'")) << fault.report;
    EXPECT_TRUE(contains(text, "a.cu:7, in void check(int): block (0, 0, 0), thread (30, 0, 0)"))
        << text;
    EXPECT_TRUE(contains(text, "thread (31, 0, 0)")) << text;
}

TEST(Malloc, memory_can_be_written_read_and_freed) {
    TestDevice device;
    constexpr std::size_t HEAP_BYTES = 8192;
    device.heap = std::make_shared<builtins::Heap>(
        reinterpret_cast<std::uint64_t>(device.allocate<std::byte>(HEAP_BYTES)), HEAP_BYTES);
    auto* out = device.allocate<std::uint64_t>(64);
    for (int round = 0; round < 10; ++round) { // the heap would run out if memory were not freed
        const Fault fault = run(device, std::string(HEAP_FUNCTIONS) + R"(
.visible .entry kernel(.param .u64 out) {
    .reg .b64 %rd<6>; .reg .b32 %r<3>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    {
    .param .b64 param0; st.param.b64 [param0], 48;
    .param .b64 retval0;
    call.uni (retval0), malloc, (param0);
    ld.param.b64 %rd2, [retval0];
    }
    st.u32 [%rd2+44], %r1;
    mul.wide.u32 %rd3, %r1, 8;
    add.s64 %rd4, %rd1, %rd3;
    ld.u32 %r2, [%rd2+44];
    cvt.u64.u32 %rd5, %r2;
    st.global.u64 [%rd4], %rd5;
    {
    .param .b64 param0; st.param.b64 [param0], %rd2;
    call.uni free, (param0);
    }
    ret;
})",
                                {.block = 64}, out);
        ASSERT_EQ(fault.kind, FaultKind::None) << fault.report;
        for (std::uint32_t i = 0; i < 64; ++i) {
            EXPECT_EQ(out[i], i);
        }
    }
}

TEST(Malloc, an_exhausted_heap_returns_null) {
    builtins::Heap heap(0x10000, 1024);
    EXPECT_NE(heap.allocate(512), 0u);
    EXPECT_EQ(heap.allocate(512), 0u);
    EXPECT_EQ(heap.allocate(~std::uint64_t{0}), 0u);
}

TEST(Malloc, freed_neighbours_become_one_piece) {
    builtins::Heap heap(0x10000, 256 + 300);
    const std::uint64_t a = heap.allocate(96);
    const std::uint64_t b = heap.allocate(96);
    const std::uint64_t c = heap.allocate(96);
    EXPECT_TRUE(heap.release(a));
    EXPECT_TRUE(heap.release(c));
    EXPECT_TRUE(heap.release(b));
    EXPECT_EQ(heap.allocate(288), a);
    EXPECT_FALSE(heap.release(b));
}

TEST(Malloc, freeing_what_was_not_allocated_is_a_fault) {
    TestDevice device;
    auto* out = device.allocate<std::uint64_t>(1);
    const Fault fault = run(device, std::string(HEAP_FUNCTIONS) + R"(
.visible .entry kernel(.param .u64 out) {
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    .param .b64 param0; st.param.b64 [param0], %rd1;
    call.uni free, (param0);
    ret;
})",
                            {.block = 1}, out);
    EXPECT_EQ(fault.kind, FaultKind::IllegalAddress);
    EXPECT_TRUE(contains(fault.report, "malloc has not returned")) << fault.report;
}

} // namespace cuprum::emulator
