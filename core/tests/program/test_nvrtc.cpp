// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "libraries/nvrtc.hpp"
#include "program/nvrtc.hpp"
#include "support/expect_error.hpp"
#include "support/fake_driver.hpp"
#include "support/fake_nvrtc.hpp"
#include "support/warning_log.hpp"

#include <cuprum/error.hpp>
#include <cuprum/program.hpp>

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace cuprum {
namespace {

using testing::FakeNvrtc;

const ProgramOptions FOR_SM_90{.arch = "sm_90"};

bool holds(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

/// A function of NVRTC, and a target whose compilation calls it.
struct Step {
    const char* function;
    CodeType target;

    friend void PrintTo(const Step& step, std::ostream* out) { *out << step.function; }
};

class EachNvrtcCall : public ::testing::TestWithParam<Step> {};

TEST_P(EachNvrtcCall, failing_raises_its_name_and_leaks_no_program) {
    FakeNvrtc nvrtc;
    const Program program("", FOR_SM_90);
    nvrtc.fail(GetParam().function);
    const std::array<std::string, 1> names{"foo<int>"};
    const auto compile = [&] { static_cast<void>(program.compile(GetParam().target, names)); };
    try {
        compile();
        FAIL() << "nothing was thrown";
    } catch (const NVRTCError& error) {
        EXPECT_EQ(error.call(), GetParam().function);
        EXPECT_EQ(error.code(), NVRTC_ERROR_INTERNAL_ERROR);
        EXPECT_EQ(error.options().front(), "-arch=sm_90");
    }
    EXPECT_EQ(nvrtc.live_programs, 0);

    nvrtc.fail("nothing");
    EXPECT_NO_THROW(compile()) << "the program stays usable";
    EXPECT_EQ(nvrtc.live_programs, 0);
}

INSTANTIATE_TEST_SUITE_P(Nvrtc, EachNvrtcCall,
                         ::testing::Values(Step{"nvrtcCreateProgram", CodeType::Ptx},
                                           Step{"nvrtcAddNameExpression", CodeType::Ptx},
                                           Step{"nvrtcSetFlowCallback", CodeType::Ptx},
                                           Step{"nvrtcCompileProgram", CodeType::Ptx},
                                           Step{"nvrtcGetProgramLogSize", CodeType::Ptx},
                                           Step{"nvrtcGetProgramLog", CodeType::Ptx},
                                           Step{"nvrtcGetLoweredName", CodeType::Ptx},
                                           Step{"nvrtcGetPTXSize", CodeType::Ptx},
                                           Step{"nvrtcGetPTX", CodeType::Ptx},
                                           Step{"nvrtcGetCUBINSize", CodeType::Cubin},
                                           Step{"nvrtcGetCUBIN", CodeType::Cubin}),
                         [](const auto& info) { return std::string(info.param.function); });

INSTANTIATE_TEST_SUITE_P(NvrtcLto, EachNvrtcCall,
                         ::testing::Values(Step{"nvrtcGetLTOIRSize", CodeType::LtoIr},
                                           Step{"nvrtcGetLTOIR", CodeType::LtoIr}),
                         [](const auto& info) { return std::string(info.param.function); });

TEST(Nvrtc, every_compile_has_a_program_of_its_own) {
    FakeNvrtc nvrtc;
    const Program program("", FOR_SM_90);
    EXPECT_EQ(nvrtc.created_programs, 0);
    static_cast<void>(program.compile(CodeType::Ptx));
    static_cast<void>(program.compile(CodeType::Cubin));
    EXPECT_EQ(nvrtc.created_programs, 2);
    EXPECT_EQ(nvrtc.live_programs, 0);
}

TEST(Nvrtc, a_refused_program_shows_log_and_options) {
    FakeNvrtc nvrtc;
    nvrtc.log = "x(1): error: expected a declaration";
    nvrtc.fail("nvrtcCompileProgram", NVRTC_ERROR_COMPILATION);
    const Program program("oops", FOR_SM_90);
    testing::expect_error<NVRTCError>(
        [&] { static_cast<void>(program.compile(CodeType::Ptx)); },
        {"nvrtcCompileProgram", "expected a declaration", "-arch=sm_90"});
    EXPECT_EQ(program.log(), nvrtc.log);
}

TEST(Nvrtc, a_log_that_cannot_be_read_does_not_hide_the_failure) {
    FakeNvrtc nvrtc;
    nvrtc::Table table = nvrtc::table();
    table.nvrtcCompileProgram = [](nvrtcProgram, int, const char* const*) {
        return NVRTC_ERROR_COMPILATION;
    };
    table.nvrtcGetProgramLog = [](nvrtcProgram, char*) { return NVRTC_ERROR_OUT_OF_MEMORY; };
    nvrtc::Table* const before = nvrtc::Library::exchange_table(&table);
    const std::string source;
    nvrtc::Compilation compilation(source, "x", {});
    try {
        compilation.run();
        ADD_FAILURE() << "nothing was thrown";
    } catch (const NVRTCError& error) {
        EXPECT_EQ(error.code(), NVRTC_ERROR_COMPILATION);
        EXPECT_TRUE(holds(error.log(), "nvrtcGetProgramLog")) << error.log();
    }
    nvrtc::Library::exchange_table(before);
}

TEST(Nvrtc, a_missing_header_names_the_directories_searched_and_the_option) {
    for (const char* words : {"cannot open", "could not open"}) {
        const std::string advice = nvrtc::advice_for(
            "x(1): catastrophic error: " + std::string(words) + " source file \"foo.h\"\n",
            {"-arch=sm_90", "--include-path=/one", "--include-path=/two"});
        EXPECT_TRUE(holds(advice, "\"foo.h\"")) << advice;
        EXPECT_TRUE(holds(advice, "/one, /two")) << advice;
        EXPECT_TRUE(holds(advice, "include_path")) << advice;
    }
    EXPECT_TRUE(holds(nvrtc::advice_for("cannot open source file \"foo.h\"", {}),
                      "no directories were searched"));
    EXPECT_TRUE(holds(nvrtc::advice_for("cannot open source file \"foo.h\"", {}, {}, "/src/x.cu"),
                      "searched: /src;"));
    EXPECT_TRUE(holds(nvrtc::advice_for("cannot open source file \"foo.h\"\n #include <foo.h>", {},
                                        {}, "/src/x.cu"),
                      "no directories were searched"));
    EXPECT_TRUE(holds(nvrtc::advice_for("cannot open source file \"foo.h\"",
                                        {"--no-source-include"}, {}, "/src/x.cu"),
                      "no directories were searched"));
    EXPECT_EQ(nvrtc::advice_for("x(1): error: expected a declaration", {}), "");
}

TEST(Nvrtc, a_missing_standard_header_says_what_to_include_instead) {
    const auto advice = [](const std::string& header, const std::string& place = "x.cu") {
        return nvrtc::advice_for(place + "(1): catastrophic error: cannot open source file \"" +
                                     header + "\"\n  #include <" + header + ">\n",
                                 {"--include-path=/one"}, {}, "x.cu");
    };
    for (const char* header : {"cstdint", "stdint.h"}) {
        EXPECT_EQ(advice(header), "header \"" + std::string(header) +
                                      "\" was not found: NVRTC has no standard library; include "
                                      "<cuda/std/cstdint> instead");
    }
    EXPECT_TRUE(holds(advice("stdio.h"), "leave the header out: printf,")) << advice("stdio.h");
    EXPECT_TRUE(holds(advice("cmath"), "<cuda/std/cmath>")) << advice("cmath");
    EXPECT_TRUE(holds(advice("float.h"), "numeric_limits")) << advice("float.h");
    EXPECT_TRUE(holds(advice("vector"), "host code")) << advice("vector");
    EXPECT_TRUE(holds(advice("stdlib.h", "/cuda/include/cuda.h"),
                      "\"stdlib.h\", which /cuda/include/cuda.h includes, was not found"))
        << advice("stdlib.h", "/cuda/include/cuda.h");
    EXPECT_TRUE(holds(advice("cvector.h"), "include_path")) << "a header of the user's";
}

TEST(Nvrtc, names_that_are_not_built_in_say_which_header_declares_them) {
    const auto advice = [](const std::string& name) {
        return nvrtc::advice_for("x.cu(1): warning #177-D: variable \"a\" was declared but never "
                                 "referenced\nx.cu(2): error: identifier \"" +
                                     name + "\" is undefined\n",
                                 {}, {}, "x.cu");
    };
    EXPECT_EQ(advice("uint32_t"), "\"uint32_t\" is not built in; include <cuda/std/cstdint>");
    EXPECT_EQ(advice("half"), "\"half\" is not built in; include <cuda_fp16.h>");
    EXPECT_TRUE(holds(advice("FLT_MAX"), "cuda::std::numeric_limits<float>")) << advice("FLT_MAX");
    EXPECT_EQ(advice("mine"), "");
    EXPECT_TRUE(holds(nvrtc::advice_for("error: namespace \"std\" has no member \"max\"", {}),
                      "use cuda::std"));
}

TEST(Nvrtc, host_code_file_names_and_wrong_name_expressions_are_explained) {
    EXPECT_TRUE(holds(nvrtc::advice_for("error: A function without execution space annotations "
                                        "(__host__/__device__/__global__) is considered a host "
                                        "function, and host functions are not allowed in JIT mode.",
                                        {}),
                      "mark functions __device__"));
    EXPECT_TRUE(holds(nvrtc::advice_for("error: expected a declaration", {}, {}, "x", "a/scale.cu"),
                      "\"a/scale.cu\", which looks like the name of a file"));
    EXPECT_EQ(nvrtc::advice_for("error: expected a declaration", {}, {}, "x", "int x; // scale.cu"),
              "");
    EXPECT_TRUE(holds(nvrtc::advice_for("__nv_name_map(2): error: identifier \"g\" is undefined\n"
                                        "  #pragma nv_mangled_name g<int>\n      ^\n",
                                        {}),
                      "name expression \"g<int>\""));
}

TEST(Nvrtc, advice_is_about_the_first_error_and_not_about_its_consequences) {
    const std::string log =
        "x.cu(1): warning #1-D: last line of file ends without a newline\n\n"
        "x.cu(1): error: attribute \"__global__\" does not apply here\n"
        "  __global__ void k( { }\n  ^\n\n"
        "x.cu(1): error: host variables are not allowed in JIT mode. Consider using\n"
        "  __global__ void k( { }\n                  ^\n\n"
        "x.cu(2): error: identifier \"half\" is undefined\n";
    EXPECT_EQ(nvrtc::advice_for(log, {}), "");
    EXPECT_EQ(nvrtc::headline_of(nvrtc::first_error(log)),
              "attribute \"__global__\" does not apply here");
    EXPECT_EQ(nvrtc::first_error(log),
              "x.cu(1): error: attribute \"__global__\" does not apply here"
              "\n  __global__ void k( { }\n  ^");
    EXPECT_EQ(nvrtc::first_error("no log"), "");
    const std::string brief = "x.cu(1): error: expected a \";\"\n"
                              "x.cu(2): error: identifier \"half\" is undefined\n";
    EXPECT_EQ(nvrtc::advice_for(brief, {}), "");
}

TEST(Nvrtc, a_failure_without_advice_begins_with_the_first_error) {
    FakeNvrtc nvrtc;
    nvrtc.fail("nvrtcCompileProgram");
    nvrtc.log = "x(1): error: expected a declaration\n\nx(2): error: identifier \"half\" is "
                "undefined\n";
    try {
        static_cast<void>(Program("", FOR_SM_90).compile(CodeType::Ptx));
        ADD_FAILURE() << "nothing was thrown";
    } catch (const NVRTCError& error) {
        EXPECT_TRUE(holds(error.what(), "): expected a declaration\n")) << error.what();
    }
}

TEST(Nvrtc, an_unknown_standard_lists_those_known) {
    EXPECT_EQ(nvrtc::advice_for("nvrtc: error: invalid value for --std(-std)\n", {"--std=c++99"}),
              "ProgramOptions std is \"c++99\", which this NVRTC does not know; expected "
              "\"c++03\", \"c++11\", \"c++14\", \"c++17\" or \"c++20\"");
}

TEST(Nvrtc, streams_of_the_standard_library_say_to_print_with_printf) {
    for (const char* log : {"x(1): error: namespace \"std\" has no member \"cout\"",
                            "x(1): error: identifier \"cout\" is undefined",
                            "x(1): catastrophic error: cannot open source file \"iostream\""}) {
        EXPECT_TRUE(holds(nvrtc::advice_for(log, {}), "print with printf")) << log;
    }
}

TEST(Nvrtc, too_much_shared_memory_names_the_larger_limit_and_how_to_use_it) {
    const std::string advice =
        nvrtc::advice_for("ptxas error   : Entry function 'k' uses too much shared data (0x13880 "
                          "bytes, 0xc000 max)",
                          {});
    EXPECT_TRUE(holds(advice, "max_shared_memory_per_block_optin")) << advice;
    EXPECT_TRUE(holds(advice, "LaunchConfig shmem_size")) << advice;
}

TEST(Nvrtc, an_unknown_architecture_lists_those_known) {
    FakeNvrtc nvrtc;
    const std::string log = "nvrtc: error: invalid value for --gpu-architecture (-arch)";
    const std::string advice = nvrtc::advice_for(log, {"-arch=sm_999"});
    EXPECT_TRUE(holds(advice, "\"sm_999\"")) << advice;
    EXPECT_TRUE(holds(advice, "75, 90")) << advice;
    EXPECT_TRUE(holds(advice, "13.0")) << advice;

    nvrtc.fail("nvrtcGetSupportedArchs");
    EXPECT_TRUE(holds(nvrtc::advice_for(log, {"-arch=sm_999"}), "\"sm_999\""))
        << "a failure while advising is no failure";
}

TEST(Nvrtc, an_option_of_a_later_version_says_which_one) {
    FakeNvrtc nvrtc;
    const std::string log = "nvrtc: error: unrecognized option --create-pch=/tmp/x.pch found\n";
    EXPECT_EQ(nvrtc::advice_for(log, {"--create-pch=/tmp/x.pch"}),
              "NVRTC 13.0 does not know --create-pch, which needs CUDA 12.8; update the package "
              "nvidia-cuda-nvrtc or the toolkit, or leave the option out");
    EXPECT_EQ(nvrtc::advice_for("nvrtc: error: unrecognized option --new found", {}),
              "NVRTC 13.0 does not know --new; leave it out, or use a newer NVRTC if the option is "
              "new");
}

TEST(Nvrtc, lto_code_is_asked_for_with_the_option_it_needs) {
    FakeNvrtc nvrtc;
    const Program program("", FOR_SM_90);
    static_cast<void>(program.compile(CodeType::LtoIr));
    EXPECT_EQ(nvrtc.options.back(), "--dlink-time-opt");
    static_cast<void>(program.compile(CodeType::Ptx));
    EXPECT_EQ(nvrtc.options, program.compiler_options());
}

TEST(Nvrtc, a_precompiled_header_that_fails_is_a_warning_with_the_reason) {
    FakeNvrtc nvrtc;
    testing::WarningLog warnings;
    nvrtc.pch_results = {NVRTC_ERROR_PCH_CREATE};
    nvrtc.log = "the disk is full";
    const Program program("", {.name = "mine", .arch = "sm_90", .create_pch = "x.pch"});
    EXPECT_NO_THROW(static_cast<void>(program.compile(CodeType::Ptx)));
    EXPECT_EQ(program.pch_status(), PchStatus::Failed);
    const auto degraded = warnings.take(WarningKind::Degraded);
    ASSERT_EQ(degraded.size(), 1U);
    for (const char* part : {"\"mine\"", "NVRTC_ERROR_FAKE", "the disk is full"}) {
        EXPECT_TRUE(holds(degraded[0], part)) << degraded[0];
    }
    EXPECT_EQ(nvrtc.created_programs, 1) << "it is not tried again";
    EXPECT_EQ(nvrtc.live_programs, 0);
}

TEST(Nvrtc, a_precompiled_header_that_needs_more_room_is_made_again_with_it) {
    FakeNvrtc nvrtc;
    nvrtc.pch_results = {NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED};
    const Program program("", {.arch = "sm_90", .pch = true});
    static_cast<void>(program.compile(CodeType::Ptx));
    EXPECT_EQ(nvrtc.pch_heap_bytes, 12345U);
    EXPECT_EQ(nvrtc.created_programs, 2);
    EXPECT_EQ(nvrtc.live_programs, 0);
    EXPECT_EQ(program.pch_status(), PchStatus::Created);
}

TEST(Nvrtc, a_precompiled_header_that_was_not_attempted_is_reported) {
    FakeNvrtc nvrtc;
    nvrtc.pch_results = {NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED};
    const Program program("", {.arch = "sm_90", .pch = true});
    static_cast<void>(program.compile(CodeType::Ptx));
    EXPECT_EQ(program.pch_status(), PchStatus::NotAttempted);
}

TEST(Nvrtc, ptx_has_no_final_nul) {
    FakeNvrtc nvrtc;
    const ObjectCode code = Program("", FOR_SM_90).compile(CodeType::Ptx);
    EXPECT_EQ(code.text(), ".version 9.0\n.target sm_90\n");
    EXPECT_EQ(code.code().size(), code.text().size());
}

} // namespace
} // namespace cuprum
