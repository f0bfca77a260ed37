// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What a program does besides compiling C++: PTX, headers, precompiled headers, cancelling, files
// for debuggers, other architectures.

#include "support/device_test.hpp"
#include "support/expect_error.hpp"
#include "support/scoped_variable.hpp"

#include <cuprum/error.hpp>
#include <cuprum/program.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace cuprum {
namespace {

using testing::expect_error;

constexpr const char* KERNEL = "extern \"C\" __global__ void f(int* x) { *x = 42; }";

class ProgramOnDevice : public testing::DeviceTest {
protected:
    void expect_answer(const ObjectCode& code) {
        const Buffer out = upload(std::vector<int>{0});
        launch(stream(), {}, code.get_kernel("f"), out);
        EXPECT_EQ(download<int>(out), std::vector{42});
    }
};

/// Provides a separate folder for each test.
class ProgramFiles : public ::testing::Test {
protected:
    ProgramFiles() {
        std::string name = (std::filesystem::temp_directory_path() / "cuprum-test-XXXXXX").string();
        folder = ::mkdtemp(name.data());
    }

    ~ProgramFiles() override { std::filesystem::remove_all(folder); }

    [[nodiscard]] std::size_t files() const {
        const auto entries = std::filesystem::directory_iterator(folder);
        return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
    }

    std::filesystem::path folder;
    testing::WarningLog warnings;
};

TEST_F(ProgramOnDevice, ptx_compiles_to_a_cubin_that_runs) {
    const ObjectCode ptx = Program(KERNEL).compile(CodeType::Ptx);
    const Program program(ptx.text(), SourceType::Ptx, {.name = "mine", .max_register_count = 64});
    EXPECT_EQ(program.language(), SourceType::Ptx);
    EXPECT_EQ(program.backend(), CompilerBackend::NvJitLink);
    EXPECT_NE(program.handle(), nullptr);
    const ObjectCode code = program.compile(CodeType::Cubin);
    EXPECT_EQ(code.name(), "mine");
    expect_answer(code);
}

TEST(ProgramFromPtx, options_it_cannot_honour_are_refused_by_name) {
    expect_error<UnsupportedOptionError>(
        [] {
            const Program program("", SourceType::Ptx,
                                  {.arch = "sm_90", .define_macro = {{"A", "1"}}, .minimal = true});
        },
        {"define_macro", "minimal", "the PTX backend"});
    expect_error<UnsupportedOptionError>(
        [] { const Program program("", {.arch = "sm_90", .use_libdevice = true}); },
        {"use_libdevice", "the NVRTC backend"});
}

TEST(ProgramFromPtx, text_that_is_no_ptx_gives_the_assemblers_log) {
    const Program program(".version 8.0\n.target sm_90\n.nonsense\n", SourceType::Ptx,
                          {.arch = "sm_90"});
    expect_error<LinkerError>([&] { static_cast<void>(program.compile(CodeType::Cubin)); },
                              {"NVJITLINK_ERROR_PTX_COMPILE", "line 3"});
    EXPECT_NE(program.log().find("line 3"), std::string::npos);
    expect_error<std::invalid_argument>(
        [&] { static_cast<void>(program.compile(CodeType::LtoIr)); }, {"ltoir", "PTX", "cubin"});
}

TEST(ProgramFromPtx, names_of_templates_are_refused) {
    const std::array<std::string, 1> names{"f<int>"};
    for (const SourceType language : {SourceType::Ptx, SourceType::Nvvm}) {
        const Program program("text", language, {.arch = "sm_90"});
        expect_error<std::invalid_argument>(
            [&] { static_cast<void>(program.compile(CodeType::Ptx, names)); },
            {"name_expressions", "\"f<int>\"", to_string(language)});
    }
}

TEST(ProgramHeaders, of_cuda_and_cccl_are_found_without_asking) {
    ASSERT_FALSE(default_include_directories().empty());
    const char* const source = "#include <cuda_fp16.h>\n#include <cuda/std/array>\n"
                               "__global__ void f(cuda::std::array<__half, 2>* x) {}";
    EXPECT_NO_THROW(static_cast<void>(Program(source, {.arch = "sm_90"}).compile(CodeType::Ptx)));
    const Program without(source, {.arch = "sm_90", .default_include_path = false});
    expect_error<NVRTCError>([&] { static_cast<void>(without.compile(CodeType::Ptx)); },
                             {"cuda_fp16.h", "no directories were searched"});
}

TEST(ProgramHeaders, in_memory_are_found_by_name) {
    const Program program("#include \"my/answer.h\"\n__global__ void f(int* x) { *x = ANSWER; }",
                          {.arch = "sm_90", .headers = {{"my/answer.h", "#define ANSWER 42\n"}}});
    EXPECT_NO_THROW(static_cast<void>(program.compile(CodeType::Ptx)));
    const Program wrong("#include \"other.h\"\n", {.arch = "sm_90", .headers = {{"my.h", ""}}});
    expect_error<NVRTCError>([&] { static_cast<void>(wrong.compile(CodeType::Ptx)); },
                             {"\"other.h\"", "\"my.h\"", "ProgramOptions headers"});
    expect_error<std::invalid_argument>(
        [] { const Program bad("", {.arch = "sm_90", .headers = {{"", ""}}}); }, {"headers"});
}

TEST(ProgramErrors, show_the_line_also_of_a_header_in_memory) {
    const Program program("#include \"bad.h\"\n",
                          {.arch = "sm_90", .headers = {{"bad.h", "\n  int x = y;\n"}}});
    expect_error<NVRTCError>([&] { static_cast<void>(program.compile(CodeType::Ptx)); },
                             {"line 2 of \"bad.h\": int x = y;", "compilation log"});
}

TEST_F(ProgramFiles, a_precompiled_header_is_made_and_used) {
    const std::string file = (folder / "x.pch").string();
    const char* const source = "#include <cuda_fp16.h>\n__global__ void f() {}";
    const Program maker(source, {.arch = "sm_90", .create_pch = file});
    EXPECT_EQ(maker.pch_status(), std::nullopt);
    static_cast<void>(maker.compile(CodeType::Ptx));
    ASSERT_EQ(maker.pch_status(), PchStatus::Created);
    EXPECT_TRUE(std::filesystem::exists(file));
    const Program user(source, {.arch = "sm_90", .use_pch = file});
    static_cast<void>(user.compile(CodeType::Ptx));
    EXPECT_EQ(user.pch_status(), std::nullopt) << "it made none";
    EXPECT_NE(user.log().find("using precompiled header"), std::string::npos) << user.log();
    const Program plain(source, {.arch = "sm_90"});
    static_cast<void>(plain.compile(CodeType::Ptx));
    EXPECT_EQ(plain.pch_status(), std::nullopt);
}

TEST_F(ProgramFiles, debuggers_find_the_source_as_long_as_the_code_lives) {
    const testing::ScopedVariable temporary("TMPDIR", folder.string());
    {
        const Program program(KERNEL, {.arch = "sm_90", .lineinfo = true});
        EXPECT_EQ(files(), 0U);
        ObjectCode code = program.compile(CodeType::Ptx);
        EXPECT_TRUE(std::filesystem::exists(code.name())) << code.name();
        EXPECT_NE(code.text().find(code.name()), std::string_view::npos);
        EXPECT_EQ(program.compile(CodeType::Cubin).name(), code.name()) << "one file is enough";
        Program other = program;
        EXPECT_EQ(files(), 1U);
    }
    EXPECT_EQ(files(), 0U);
    const std::string mine = (folder / "mine.cu").string();
    const Program named(KERNEL, {.name = mine, .arch = "sm_90", .debug = true});
    EXPECT_EQ(named.compile(CodeType::Ptx).name(), mine);
    EXPECT_EQ(files(), 0U) << "a named source is the user's own affair";
}

TEST_F(ProgramFiles, source_that_cannot_be_written_for_debuggers_is_a_warning) {
    const testing::ScopedVariable temporary("TMPDIR", (folder / "absent").string());
    const Program program(KERNEL, {.arch = "sm_90", .debug = true});
    EXPECT_EQ(program.compile(CodeType::Ptx).name(), "default_program");
    const auto degraded = warnings.take(WarningKind::Degraded);
    ASSERT_EQ(degraded.size(), 1U);
    EXPECT_NE(degraded[0].find("TMPDIR"), std::string::npos) << degraded[0];
}

TEST_F(ProgramFiles, times_are_written_where_they_are_asked_for) {
    const Program to_log(KERNEL, {.arch = "sm_90", .time = "-"});
    static_cast<void>(to_log.compile(CodeType::Ptx));
    EXPECT_NE(to_log.log().find("phase"), std::string::npos) << to_log.log();
    const std::string file = (folder / "times.csv").string();
    static_cast<void>(Program(KERNEL, {.arch = "sm_90", .time = file}).compile(CodeType::Ptx));
    EXPECT_TRUE(std::filesystem::exists(file));
}

TEST(ProgramCancel, ends_a_compilation_in_another_thread) {
    std::string source = "#include <cuda/std/array>\n";
    for (int i = 0; i < 1500; ++i) { // takes many seconds to compile
        const std::string number = std::to_string(i);
        source += "__global__ void f" + number +
                  "(float* x) { for (int i = 0; i < 64; ++i) x[i] = " + "sinf(x[i] + " + number +
                  ") * powf(x[i], " + number + ".5f); }\n";
    }
    const Program program(source, {.arch = "sm_90"});
    program.cancel(); // nothing runs yet, so this must not affect later compilations
    std::atomic<bool> is_done = false;
    std::jthread canceller([&] {
        while (!is_done) { // the compilation may not have started yet
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            program.cancel();
        }
    });
    expect_error<NVRTCError>([&] { static_cast<void>(program.compile(CodeType::Cubin)); },
                             {"NVRTC_ERROR_CANCELLED", "cancel()"});
    is_done = true;
}

TEST(ProgramArchitectures, can_all_be_compiled_for_without_a_device) {
    const std::vector<int> known = supported_architectures();
    ASSERT_GE(known.size(), 4U);
    EXPECT_TRUE(std::is_sorted(known.begin(), known.end()));
    for (const int number : {known.front(), known.back()}) {
        const std::string arch = "sm_" + std::to_string(number);
        EXPECT_GT(Program(KERNEL, {.arch = arch}).compile(CodeType::Cubin).code().size(), 100U);
    }
    EXPECT_NE(compiler_version(CompilerBackend::Nvrtc), "");
}

TEST(ProgramHandle, is_the_compilers_and_stays) {
    const Program program(KERNEL, {.arch = "sm_90"});
    EXPECT_NE(program.handle(), nullptr);
    EXPECT_EQ(program.handle(), program.handle());
    EXPECT_NO_THROW(static_cast<void>(program.compile(CodeType::Ptx)));
}

} // namespace
} // namespace cuprum
