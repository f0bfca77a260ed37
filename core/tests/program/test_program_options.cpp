// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/expect_error.hpp"

#include <cuprum/program.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace cuprum {
namespace {

using testing::expect_error;
using O = ProgramOptions;

const ProgramOptions FOR_SM_90{.arch = "sm_90"};

/// An option, and the flags that it becomes.
struct OptionCase {
    const char* field;
    std::function<void(O&)> set;
    std::vector<std::string> flags;

    friend void PrintTo(const OptionCase& option, std::ostream* out) { *out << option.field; }
};

// clang-format off
const std::vector<OptionCase> OPTION_CASES{
    {"std", [](O& o) { o.std = "c++20"; }, {"--std=c++20"}},
    {"include_path", [](O& o) { o.include_path = {"/a", "/b"}; }, {"--include-path=/a", "--include-path=/b"}},
    {"define_macro", [](O& o) { o.define_macro = {{"A", std::nullopt}, {"B", "2"}}; }, {"--define-macro=A", "--define-macro=B=2"}},
    {"undefine_macro", [](O& o) { o.undefine_macro = {"A"}; }, {"--undefine-macro=A"}},
    {"relocatable_device_code", [](O& o) { o.relocatable_device_code = false; }, {"--relocatable-device-code=false"}},
    {"debug", [](O& o) { o.debug = true; }, {"--device-debug"}},
    {"lineinfo", [](O& o) { o.lineinfo = true; }, {"--generate-line-info"}},
    {"device_code_optimize", [](O& o) { o.device_code_optimize = true; }, {"--dopt=on"}},
    {"ftz", [](O& o) { o.ftz = true; }, {"--ftz=true"}},
    {"prec_sqrt", [](O& o) { o.prec_sqrt = false; }, {"--prec-sqrt=false"}},
    {"prec_div", [](O& o) { o.prec_div = false; }, {"--prec-div=false"}},
    {"fma", [](O& o) { o.fma = false; }, {"--fmad=false"}},
    {"use_fast_math", [](O& o) { o.use_fast_math = true; }, {"--use_fast_math"}},
    {"extra_device_vectorization", [](O& o) { o.extra_device_vectorization = true; }, {"--extra-device-vectorization"}},
    {"extensible_whole_program", [](O& o) { o.extensible_whole_program = true; }, {"--extensible-whole-program"}},
    {"device_as_default_execution_space", [](O& o) { o.device_as_default_execution_space = true; }, {"--device-as-default-execution-space"}},
    {"device_int128", [](O& o) { o.device_int128 = true; }, {"--device-int128"}},
    {"builtin_move_forward", [](O& o) { o.builtin_move_forward = false; }, {"--builtin-move-forward=false"}},
    {"builtin_initializer_list", [](O& o) { o.builtin_initializer_list = false; }, {"--builtin-initializer-list=false"}},
    {"brief_diagnostics", [](O& o) { o.brief_diagnostics = true; }, {"--brief-diagnostics=true"}},
    {"disable_warnings", [](O& o) { o.disable_warnings = true; }, {"--disable-warnings"}},
    {"restrict_pointers", [](O& o) { o.restrict_pointers = true; }, {"--restrict"}},
    {"no_source_include", [](O& o) { o.no_source_include = true; }, {"--no-source-include"}},
    {"no_display_error_number", [](O& o) { o.no_display_error_number = true; }, {"--no-display-error-number"}},
    {"no_cache", [](O& o) { o.no_cache = true; }, {"--no-cache"}},
    {"fdevice_syntax_only", [](O& o) { o.fdevice_syntax_only = true; }, {"--fdevice-syntax-only"}},
    {"minimal", [](O& o) { o.minimal = true; }, {"--minimal"}},
    {"max_register_count", [](O& o) { o.max_register_count = 32; }, {"--maxrregcount=32"}},
    {"split_compile", [](O& o) { o.split_compile = 0; }, {"--split-compile=0"}},
    {"optimization_info", [](O& o) { o.optimization_info = "inline"; }, {"--optimization-info=inline"}},
    {"time", [](O& o) { o.time = "-"; }, {"--time=-"}},
    {"frandom_seed", [](O& o) { o.frandom_seed = "7"; }, {"--frandom-seed=7"}},
    {"ofast_compile", [](O& o) { o.ofast_compile = "mid"; }, {"--Ofast-compile=mid"}},
    {"ptxas_options", [](O& o) { o.ptxas_options = {"-v", "-O2"}; }, {"--ptxas-options=-v", "--ptxas-options=-O2"}},
    {"diag_error", [](O& o) { o.diag_error = {177}; }, {"--diag-error=177"}},
    {"diag_suppress", [](O& o) { o.diag_suppress = {177, 20}; }, {"--diag-suppress=177", "--diag-suppress=20"}},
    {"diag_warn", [](O& o) { o.diag_warn = {177}; }, {"--diag-warn=177"}},
    {"extra", [](O& o) { o.extra = {"-lineinfo"}; }, {"-lineinfo"}},
};
// clang-format on

class EachOption : public ::testing::TestWithParam<OptionCase> {};

TEST_P(EachOption, becomes_its_flags_and_nvrtc_knows_them) {
    ProgramOptions options = FOR_SM_90;
    GetParam().set(options);
    std::vector<std::string> expected{"-arch=sm_90"};
    expected.insert(expected.end(), GetParam().flags.begin(), GetParam().flags.end());
    EXPECT_EQ(options.to_nvrtc(), expected);
    EXPECT_NO_THROW(static_cast<void>(Program("", options).compile(CodeType::Ptx)));
}

INSTANTIATE_TEST_SUITE_P(ProgramOptions, EachOption, ::testing::ValuesIn(OPTION_CASES),
                         [](const auto& info) { return std::string(info.param.field); });

TEST(ProgramOptions, flags_that_need_more_than_a_compiler) {
    ProgramOptions options = FOR_SM_90;
    options.pre_include = {"a.h"};
    options.link_time_optimization = true;
    options.gen_opt_lto = true;
    options.device_float128 = true;
    options.fdevice_time_trace = "trace.json";
    EXPECT_EQ(options.to_nvrtc(),
              (std::vector<std::string>{"-arch=sm_90", "--pre-include=a.h", "--dlink-time-opt",
                                        "--gen-opt-lto", "--device-float128",
                                        "--fdevice-time-trace=trace.json"}));
}

TEST(ProgramOptions, what_is_off_has_no_flag) {
    ProgramOptions options = FOR_SM_90;
    options.debug = false;
    options.use_fast_math = false;
    options.link_time_optimization = false;
    EXPECT_EQ(options.to_nvrtc(), std::vector<std::string>{"-arch=sm_90"});
}

TEST(ProgramOptions, architectures_are_checked_for_their_form) {
    for (const char* arch : {"sm_90a", "compute_100f", "sm_75"}) {
        ProgramOptions options;
        options.arch = arch;
        EXPECT_EQ(options.to_nvrtc().front(), "-arch=" + std::string(arch));
    }
    for (const char* arch : {"90", "sm_", "sm_90b", "gfx90", "", "sm-90", "lto_90"}) {
        ProgramOptions options;
        options.arch = arch;
        expect_error<std::invalid_argument>([&] { static_cast<void>(options.to_nvrtc()); },
                                            {"arch", arch, "\"sm_90\""});
    }
}

TEST(ProgramOptions, a_bad_value_names_field_and_value) {
    const auto expect_rejected = [](const char* field, const char* value, const auto& set) {
        ProgramOptions options = FOR_SM_90;
        set(options);
        expect_error<std::invalid_argument>([&] { static_cast<void>(options.to_nvrtc()); },
                                            {field, value, "expected"});
    };
    expect_rejected("std", "\"20\"", [](O& o) { o.std = "20"; });
    expect_rejected("max_register_count", "0", [](O& o) { o.max_register_count = 0; });
    expect_rejected("split_compile", "-1", [](O& o) { o.split_compile = -1; });
    expect_rejected("optimization_info", "\"all\"", [](O& o) { o.optimization_info = "all"; });
    expect_rejected("ofast_compile", "\"fast\"", [](O& o) { o.ofast_compile = "fast"; });
    expect_rejected("define_macro", "\"1x\"", [](O& o) { o.define_macro = {{"1x", "1"}}; });
    expect_rejected("undefine_macro", "\"\"", [](O& o) { o.undefine_macro = {""}; });
    expect_rejected("include_path", "\"\"", [](O& o) { o.include_path = {""}; });
    expect_rejected("include_path", "NUL", [](O& o) { o.include_path = {std::string("a\0b", 3)}; });
    expect_rejected("diag_error", "-3", [](O& o) { o.diag_error = {-3}; });
    expect_rejected("time", "\"\"", [](O& o) { o.time = ""; });
}

} // namespace
} // namespace cuprum
