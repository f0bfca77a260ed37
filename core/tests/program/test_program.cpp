// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/expect_error.hpp"

#include <cuprum/device.hpp>
#include <cuprum/error.hpp>
#include <cuprum/program.hpp>

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace cuprum {
namespace {

using testing::expect_error;

const ProgramOptions FOR_SM_90{.arch = "sm_90"};
constexpr const char* EMPTY_KERNEL = "extern \"C\" __global__ void f() {}";
constexpr const char* TEMPLATE_SOURCE =
    "namespace maths { template <typename T> __global__ void twice(T* x) { *x = *x + *x; } }";
constexpr const char* ELF_MAGIC = "\x7f"
                                  "ELF";

TEST(Program, compiles_to_ptx) {
    const ObjectCode code = Program(EMPTY_KERNEL, FOR_SM_90).compile(CodeType::Ptx);
    EXPECT_EQ(code.code_type(), CodeType::Ptx);
    EXPECT_EQ(code.name(), "default_program");
    EXPECT_NE(code.text().find(".target sm_90"), std::string_view::npos);
    EXPECT_NE(code.text().find(".entry f("), std::string_view::npos);
}

TEST(Program, compiles_to_lto_code) {
    const ObjectCode code = Program(EMPTY_KERNEL, FOR_SM_90).compile(CodeType::LtoIr);
    EXPECT_EQ(code.code_type(), CodeType::LtoIr);
    EXPECT_GT(code.code().size(), 100U);
    EXPECT_THROW(static_cast<void>(code.text()), std::invalid_argument);
}

TEST(Program, a_cubin_for_an_emulated_device_holds_ptx_as_well) {
    const ObjectCode code = Program(EMPTY_KERNEL, FOR_SM_90).compile(CodeType::Cubin);
    EXPECT_EQ(code.code_type(), CodeType::Cubin);
    const std::string bytes(reinterpret_cast<const char*>(code.code().data()), code.code().size());
    const bool is_emulated = Device().is_emulated();
    EXPECT_EQ(bytes.starts_with(ELF_MAGIC), !is_emulated);
    EXPECT_EQ(bytes.find(".version") != std::string::npos, is_emulated);
    EXPECT_NE(bytes.find(".entry f("), std::string::npos) << "launches read it";
    EXPECT_NE(bytes.find(ELF_MAGIC), std::string::npos);
}

TEST(Program, without_an_architecture_it_compiles_for_the_current_device) {
    const Program program("");
    EXPECT_EQ(program.options().arch, "sm_" + Device().arch());
    EXPECT_EQ(program.compiler_options().front(), "-arch=sm_" + Device().arch());
}

TEST(Program, a_virtual_architecture_has_no_cubin) {
    const Program program("", {.arch = "compute_90"});
    expect_error<std::invalid_argument>(
        [&] { static_cast<void>(program.compile(CodeType::Cubin)); },
        {"cubin", "\"compute_90\"", "\"sm_90\""});
    EXPECT_NO_THROW(static_cast<void>(program.compile(CodeType::Ptx))) << "it stays usable";
}

TEST(Program, targets_that_cannot_be_are_refused) {
    const Program program("", FOR_SM_90);
    for (const CodeType target : {CodeType::Fatbin, CodeType::Object, CodeType::Library}) {
        expect_error<std::invalid_argument>([&] { static_cast<void>(program.compile(target)); },
                                            {to_string(target), "ltoir"});
    }
    const Program forced("", {.arch = "sm_90", .extra = {"-dlto"}});
    expect_error<std::invalid_argument>([&] { static_cast<void>(forced.compile(CodeType::Cubin)); },
                                        {"\"cubin\"", "-dlto"});
}

TEST(Program, link_time_optimization_matters_to_lto_code_alone) {
    const Program program(EMPTY_KERNEL, {.arch = "sm_90", .link_time_optimization = true});
    EXPECT_NE(program.compile(CodeType::Ptx).text().find(".entry f("), std::string_view::npos);
    EXPECT_GT(program.compile(CodeType::LtoIr).code().size(), 100U);
}

TEST(Program, names_of_templates_are_found_as_they_are_written) {
    const std::array<std::string, 2> names{"maths::twice<float>", "maths::twice<int>"};
    const ObjectCode code = Program(TEMPLATE_SOURCE, FOR_SM_90).compile(CodeType::Ptx, names);
    ASSERT_EQ(code.symbol_mapping().size(), 2U);
    for (const auto& [expression, symbol] : code.symbol_mapping()) {
        EXPECT_TRUE(symbol.starts_with("_ZN5maths5twice")) << symbol;
        EXPECT_NE(code.text().find(symbol), std::string_view::npos) << expression;
    }
}

TEST(Program, names_may_be_a_list) {
    const Program program(TEMPLATE_SOURCE, FOR_SM_90);
    const ObjectCode code = program.compile(CodeType::Ptx, {"maths::twice<float>"});
    EXPECT_EQ(code.symbol_mapping().size(), 1U);
    EXPECT_EQ(program.compile(CodeType::Ptx, {"maths::twice<float>", "maths::twice<int>"})
                  .symbol_mapping()
                  .size(),
              2U);
}

TEST(Program, a_name_that_is_not_there_does_not_compile) {
    const std::array<std::string, 1> names{"maths::thrice<float>"};
    const Program program(TEMPLATE_SOURCE, FOR_SM_90);
    expect_error<NVRTCError>([&] { static_cast<void>(program.compile(CodeType::Ptx, names)); },
                             {"thrice"});
}

TEST(Program, source_that_does_not_compile_shows_log_and_options) {
    const Program program("__global__ void f() { undeclared = 1; }",
                          {.name = "mine.cu", .arch = "sm_90", .use_fast_math = true});
    expect_error<NVRTCError>([&] { static_cast<void>(program.compile(CodeType::Ptx)); },
                             {"nvrtcCompileProgram", "NVRTC_ERROR_COMPILATION (6)", "undeclared",
                              "mine.cu(1)", "--use_fast_math"});
    EXPECT_NE(program.log().find("undeclared"), std::string::npos);
}

TEST(Program, a_missing_header_says_where_it_was_looked_for) {
    const Program program("#include <absent/header.h>\n",
                          {.arch = "sm_90", .include_path = {"/nonexistent/include"}});
    expect_error<NVRTCError>([&] { static_cast<void>(program.compile(CodeType::Ptx)); },
                             {"\"absent/header.h\"", "/nonexistent/include", "include_path"});
}

TEST(Program, an_architecture_unknown_to_the_compiler_lists_those_it_knows) {
    const Program program("", {.arch = "sm_999"});
    expect_error<NVRTCError>([&] { static_cast<void>(program.compile(CodeType::Ptx)); },
                             {"\"sm_999\"", "90"});
}

TEST(Program, warnings_are_in_the_log) {
    const Program program("__global__ void f() { int unused_variable; }", FOR_SM_90);
    EXPECT_EQ(program.log(), "");
    static_cast<void>(program.compile(CodeType::Ptx));
    EXPECT_NE(program.log().find("unused_variable"), std::string::npos);
}

TEST(Program, compiles_again_and_for_another_target) {
    const Program program(TEMPLATE_SOURCE, FOR_SM_90);
    const std::array<std::string, 1> names{"maths::twice<float>"};
    const ObjectCode first = program.compile(CodeType::Ptx, names);
    const ObjectCode second = program.compile(CodeType::Ptx);
    const ObjectCode third = program.compile(CodeType::Cubin, names);
    EXPECT_TRUE(second.symbol_mapping().empty());
    EXPECT_EQ(first.symbol_mapping(), third.symbol_mapping());
}

TEST(Program, compiles_on_several_threads) {
    constexpr std::size_t THREADS = 4;
    const Program program(TEMPLATE_SOURCE, FOR_SM_90);
    std::array<std::string, THREADS> texts;
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < THREADS; ++i) {
            threads.emplace_back([&, i] {
                const std::array<std::string, 1> names{"maths::twice<float>"};
                texts[i] = program.compile(CodeType::Ptx, names).text();
            });
        }
    }
    for (const std::string& text : texts) {
        EXPECT_FALSE(text.empty());
        EXPECT_EQ(text, texts[0]);
    }
}

TEST(Program, never_touches_a_file_of_its_name) {
    const std::string path = ::testing::TempDir() + "cuprum_test_program_mine.cu";
    std::ofstream(path) << "mine";
    {
        Program program("", {.name = path, .arch = "sm_90", .debug = true});
        static_cast<void>(program.compile(CodeType::Ptx));
        program.close();
    }
    EXPECT_TRUE(std::filesystem::exists(path));
    EXPECT_EQ(std::filesystem::file_size(path), 4U);
    std::filesystem::remove(path);
}

TEST(Program, source_with_a_nul_is_refused) {
    expect_error<std::invalid_argument>(
        [] { const Program program(std::string_view("ab\0c", 4), FOR_SM_90); },
        {"NUL", "position 2"});
    expect_error<std::invalid_argument>(
        [] { const Program program("", {.name = "", .arch = "sm_90"}); }, {"name"});
}

TEST(Program, use_after_close_is_an_error) {
    Program program("", FOR_SM_90);
    program.close();
    program.close();
    EXPECT_TRUE(program.is_closed());
    EXPECT_THROW(static_cast<void>(program.compile(CodeType::Ptx)), ClosedError);
    EXPECT_THROW(static_cast<void>(program.log()), ClosedError);
    EXPECT_THROW(static_cast<void>(program.options()), ClosedError);
    EXPECT_THROW(static_cast<void>(program.compiler_options()), ClosedError);
}

} // namespace
} // namespace cuprum
