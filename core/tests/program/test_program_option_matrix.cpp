// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Every option of a program with every compiler: its flags, or that it is refused.

#include "support/expect_error.hpp"
#include "support/fake_driver.hpp"

#include <cuprum/error.hpp>
#include <cuprum/linker.hpp>
#include <cuprum/program.hpp>

#include <cuda.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cuprum {
namespace {

using testing::expect_error;
using O = ProgramOptions;
using Flags = std::optional<std::vector<std::string>>;
using Jit = std::optional<std::map<CUjit_option, std::uintptr_t>>;

/// One option and its flags for each compiler; no value if the compiler refuses it.
struct OptionCase {
    const char* field;
    std::function<void(O&)> set;
    Flags nvrtc;
    Flags nvjitlink;
    Flags nvvm;
    Jit driver;

    friend void PrintTo(const OptionCase& option, std::ostream* out) { *out << option.field; }
};

constexpr std::nullopt_t NO = std::nullopt;
const std::vector<std::string> NONE;

// clang-format off
const std::vector<OptionCase> OPTION_CASES{
    {"name", [](O& o) { o.name = "mine"; }, NONE, NONE, NONE, Jit::value_type{}},
    {"arch", [](O& o) { o.arch = "sm_80"; }, {{"-arch=sm_80"}}, {{"-arch=sm_80"}}, {{"-arch=compute_80"}}, {{{CU_JIT_TARGET, 80}}}},
    {"relocatable_device_code", [](O& o) { o.relocatable_device_code = true; }, {{"--relocatable-device-code=true"}}, NO, NO, NO},
    {"extensible_whole_program", [](O& o) { o.extensible_whole_program = true; }, {{"--extensible-whole-program"}}, NO, NO, NO},
    {"debug", [](O& o) { o.debug = true; }, {{"--device-debug"}}, {{"-g"}}, {{"-g"}}, {{{CU_JIT_GENERATE_DEBUG_INFO, 1}}}},
    {"lineinfo", [](O& o) { o.lineinfo = true; }, {{"--generate-line-info"}}, {{"-lineinfo"}}, NO, {{{CU_JIT_GENERATE_LINE_INFO, 1}}}},
    {"device_code_optimize", [](O& o) { o.device_code_optimize = true; }, {{"--dopt=on"}}, {{"-O3"}}, {{"-opt=3"}}, {{{CU_JIT_OPTIMIZATION_LEVEL, 3}}}},
    {"ptxas_options", [](O& o) { o.ptxas_options = {"-v"}; }, {{"--ptxas-options=-v"}}, {{"-Xptxas=-v"}}, NO, NO},
    {"max_register_count", [](O& o) { o.max_register_count = 32; }, {{"--maxrregcount=32"}}, {{"-maxrregcount=32"}}, NO, {{{CU_JIT_MAX_REGISTERS, 32}}}},
    {"ftz", [](O& o) { o.ftz = true; }, {{"--ftz=true"}}, {{"-ftz=true"}}, {{"-ftz=1"}}, NO},
    {"prec_sqrt", [](O& o) { o.prec_sqrt = false; }, {{"--prec-sqrt=false"}}, {{"-prec-sqrt=false"}}, {{"-prec-sqrt=0"}}, NO},
    {"prec_div", [](O& o) { o.prec_div = false; }, {{"--prec-div=false"}}, {{"-prec-div=false"}}, {{"-prec-div=0"}}, NO},
    {"fma", [](O& o) { o.fma = false; }, {{"--fmad=false"}}, {{"-fma=false"}}, {{"-fma=0"}}, NO},
    {"use_fast_math", [](O& o) { o.use_fast_math = true; }, {{"--use_fast_math"}}, NO, NO, NO},
    {"extra_device_vectorization", [](O& o) { o.extra_device_vectorization = true; }, {{"--extra-device-vectorization"}}, NO, NO, NO},
    {"link_time_optimization", [](O& o) { o.link_time_optimization = true; }, {{"--dlink-time-opt"}}, {{"-lto"}}, NONE, NO},
    {"gen_opt_lto", [](O& o) { o.gen_opt_lto = true; }, {{"--gen-opt-lto"}}, NO, NO, NO},
    {"define_macro", [](O& o) { o.define_macro = {{"A", NO}, {"B", "2"}}; }, {{"--define-macro=A", "--define-macro=B=2"}}, NO, NO, NO},
    {"undefine_macro", [](O& o) { o.undefine_macro = {"A"}; }, {{"--undefine-macro=A"}}, NO, NO, NO},
    {"include_path", [](O& o) { o.include_path = {"/a"}; }, {{"--include-path=/a"}}, NO, NO, NO},
    {"pre_include", [](O& o) { o.pre_include = {"a.h"}; }, {{"--pre-include=a.h"}}, NO, NO, NO},
    {"no_source_include", [](O& o) { o.no_source_include = true; }, {{"--no-source-include"}}, NO, NO, NO},
    {"std", [](O& o) { o.std = "c++20"; }, {{"--std=c++20"}}, NO, NO, NO},
    {"builtin_move_forward", [](O& o) { o.builtin_move_forward = false; }, {{"--builtin-move-forward=false"}}, NO, NO, NO},
    {"builtin_initializer_list", [](O& o) { o.builtin_initializer_list = false; }, {{"--builtin-initializer-list=false"}}, NO, NO, NO},
    {"disable_warnings", [](O& o) { o.disable_warnings = true; }, {{"--disable-warnings"}}, NO, NO, NO},
    {"restrict", [](O& o) { o.restrict_pointers = true; }, {{"--restrict"}}, NO, NO, NO},
    {"device_as_default_execution_space", [](O& o) { o.device_as_default_execution_space = true; }, {{"--device-as-default-execution-space"}}, NO, NO, NO},
    {"device_int128", [](O& o) { o.device_int128 = true; }, {{"--device-int128"}}, NO, NO, NO},
    {"device_float128", [](O& o) { o.device_float128 = true; }, {{"--device-float128"}}, NO, NO, NO},
    {"optimization_info", [](O& o) { o.optimization_info = "inline"; }, {{"--optimization-info=inline"}}, NO, NO, NO},
    {"no_display_error_number", [](O& o) { o.no_display_error_number = true; }, {{"--no-display-error-number"}}, NO, NO, NO},
    {"diag_error", [](O& o) { o.diag_error = {177}; }, {{"--diag-error=177"}}, NO, NO, NO},
    {"diag_suppress", [](O& o) { o.diag_suppress = {177, 20}; }, {{"--diag-suppress=177", "--diag-suppress=20"}}, NO, NO, NO},
    {"diag_warn", [](O& o) { o.diag_warn = {177}; }, {{"--diag-warn=177"}}, NO, NO, NO},
    {"brief_diagnostics", [](O& o) { o.brief_diagnostics = true; }, {{"--brief-diagnostics=true"}}, NO, NO, NO},
    {"time", [](O& o) { o.time = "-"; }, {{"--time=-"}}, {{"-time"}}, NO, NO},
    {"split_compile", [](O& o) { o.split_compile = 0; }, {{"--split-compile=0"}}, {{"-split-compile=0"}}, NO, NO},
    {"fdevice_syntax_only", [](O& o) { o.fdevice_syntax_only = true; }, {{"--fdevice-syntax-only"}}, NO, NO, NO},
    {"minimal", [](O& o) { o.minimal = true; }, {{"--minimal"}}, NO, NO, NO},
    {"no_cache", [](O& o) { o.no_cache = true; }, {{"--no-cache"}}, {{"-no-cache"}}, NO, {{{CU_JIT_CACHE_MODE, CU_JIT_CACHE_OPTION_NONE}}}},
    {"fdevice_time_trace", [](O& o) { o.fdevice_time_trace = "t"; }, {{"--fdevice-time-trace=t"}}, NO, NO, NO},
    {"frandom_seed", [](O& o) { o.frandom_seed = "7"; }, {{"--frandom-seed=7"}}, NO, NO, NO},
    {"ofast_compile", [](O& o) { o.ofast_compile = "mid"; }, {{"--Ofast-compile=mid"}}, NO, NO, NO},
    {"pch", [](O& o) { o.pch = true; }, {{"--pch"}}, NO, NO, NO},
    {"create_pch", [](O& o) { o.create_pch = "p"; }, {{"--create-pch=p"}}, NO, NO, NO},
    {"use_pch", [](O& o) { o.use_pch = "p"; }, {{"--use-pch=p"}}, NO, NO, NO},
    {"pch_dir", [](O& o) { o.pch_dir = "/p"; }, {{"--pch-dir=/p"}}, NO, NO, NO},
    {"pch_verbose", [](O& o) { o.pch_verbose = true; }, {{"--pch-verbose=true"}}, NO, NO, NO},
    {"pch_messages", [](O& o) { o.pch_messages = true; }, {{"--pch-messages=true"}}, NO, NO, NO},
    {"instantiate_templates_in_pch", [](O& o) { o.instantiate_templates_in_pch = true; }, {{"--instantiate-templates-in-pch=true"}}, NO, NO, NO},
    {"extra_sources", [](O& o) { o.extra_sources = {{"m", "ir"}}; }, NO, NO, NONE, NO},
    {"use_libdevice", [](O& o) { o.use_libdevice = true; }, NO, NO, NONE, NO},
    {"numba_debug", [](O& o) { o.numba_debug = true; }, {{"--numba-debug"}}, NONE, {{"-numba-debug"}}, Jit::value_type{}}, // linkers: a warning
    {"headers", [](O& o) { o.headers = {{"a.h", ""}}; }, NONE, NO, NO, NO},
    {"extra", [](O& o) { o.extra = {"-x"}; }, {{"-x"}}, NO, {{"-x"}}, NO},
};
// clang-format on

constexpr std::size_t OF_THE_REFERENCE = 54;
constexpr std::size_t OF_OUR_OWN = 2; // headers, extra

class EachOptionWithEachCompiler : public testing::FakeDriverTest,
                                   public ::testing::WithParamInterface<OptionCase> {
protected:
    [[nodiscard]] static ProgramOptions options() {
        ProgramOptions options{.arch = "sm_90"};
        GetParam().set(options);
        return options;
    }

    /// Checks the flags apart from the architecture, or expects a refusal that names the field.
    static void expect_flags(const Flags& expected, const char* compiler,
                             const std::function<std::vector<std::string>()>& flags) {
        if (!expected.has_value()) {
            expect_error<UnsupportedOptionError>([&] { static_cast<void>(flags()); },
                                                 {GetParam().field, compiler});
            return;
        }
        std::vector<std::string> found = flags();
        const bool is_arch = std::string(GetParam().field) == "arch";
        ASSERT_FALSE(found.empty());
        EXPECT_TRUE(found.front().starts_with("-arch="));
        if (!is_arch) {
            found.erase(found.begin());
        }
        EXPECT_EQ(found, *expected) << compiler;
    }
};

TEST_P(EachOptionWithEachCompiler, is_a_flag_of_nvrtc_or_refused_by_name) {
    expect_flags(GetParam().nvrtc, "NVRTC", [] {
        options().check_honoured(SourceType::Cxx);
        return options().to_nvrtc();
    });
}

TEST_P(EachOptionWithEachCompiler, is_a_flag_of_nvjitlink_or_refused_by_name) {
    expect_flags(GetParam().nvjitlink, "PTX", [] {
        options().check_honoured(SourceType::Ptx);
        return options().to_linker().to_nvjitlink();
    });
}

TEST_P(EachOptionWithEachCompiler, is_a_flag_of_libnvvm_or_refused_by_name) {
    expect_flags(GetParam().nvvm, "NVVM", [] { return options().to_nvvm(CodeType::Ptx); });
}

TEST_P(EachOptionWithEachCompiler, is_an_option_of_the_drivers_linker_or_refused_by_name) {
    const auto link = [&] {
        options().check_honoured(SourceType::Ptx);
        LinkerOptions linked = options().to_linker();
        linked.backend = CompilerBackend::Driver;
        const std::array code{
            ObjectCode::from_bytes(CodeType::Ptx, std::vector<std::byte>(4, std::byte{'x'}))};
        static_cast<void>(Linker(code, linked).link(CodeType::Cubin));
    };
    const Jit& expected = GetParam().driver;
    if (!expected.has_value()) {
        expect_error<UnsupportedOptionError>(link, {GetParam().field});
        return;
    }
    link();
    std::map<CUjit_option, std::uintptr_t> wanted = *expected;
    wanted.emplace(CU_JIT_TARGET, 90);
    std::map<CUjit_option, std::uintptr_t> given(fake->last_link.options.begin(),
                                                 fake->last_link.options.end());
    for (const CUjit_option log : {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                                   CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES}) {
        EXPECT_EQ(given.erase(log), 1U) << "logs are always asked for";
    }
    EXPECT_EQ(given, wanted);
}

INSTANTIATE_TEST_SUITE_P(Program, EachOptionWithEachCompiler, ::testing::ValuesIn(OPTION_CASES),
                         [](const auto& info) { return std::string(info.param.field); });

TEST(ProgramOptionMatrix, has_every_option) {
    EXPECT_EQ(OPTION_CASES.size(), OF_THE_REFERENCE + OF_OUR_OWN);
}

} // namespace
} // namespace cuprum
