// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// One function per kind of option, one line per option.

#include "program/nvrtc/options.hpp"

#include "program/architecture.hpp"
#include "program/flags.hpp"

#include <cuprum/device.hpp>

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <string_view>

namespace cuprum::nvrtc {

namespace {

constexpr const char* OPTIONS_CLASS = "ProgramOptions";

void check_std(const std::string& dialect);
void check_macro(const char* field, const std::string& macro);
void check_one_of(const char* field, const std::optional<std::string>& value,
                  std::initializer_list<std::string_view> allowed);

} // namespace

std::vector<std::string> flags_of(const ProgramOptions& options) {
    detail::Flags flags(OPTIONS_CLASS);
    const std::string architecture =
        options.arch.has_value() ? *options.arch : "sm_" + Device().arch();
    detail::check_arch(OPTIONS_CLASS, architecture);
    flags.text("arch", "-arch=", architecture);
    if (options.std.has_value()) {
        check_std(*options.std);
    }
    flags.text("std", "--std=", options.std);
    flags.texts("include_path", "--include-path=", options.include_path);
    flags.texts("pre_include", "--pre-include=", options.pre_include);
    for (const auto& [macro, value] : options.define_macro) {
        check_macro("define_macro", macro);
        flags.text("define_macro",
                   "--define-macro=", value.has_value() ? macro + "=" + *value : macro);
    }
    for (const std::string& macro : options.undefine_macro) {
        check_macro("undefine_macro", macro);
        flags.text("undefine_macro", "--undefine-macro=", macro);
    }

    flags.either("--relocatable-device-code=", options.relocatable_device_code);
    flags.on("--extensible-whole-program", options.extensible_whole_program);
    flags.on("--device-debug", options.debug);
    flags.on("--generate-line-info", options.lineinfo);
    flags.on("--dopt=on", options.device_code_optimize);
    flags.on("--dlink-time-opt", options.link_time_optimization);
    flags.on("--gen-opt-lto", options.gen_opt_lto);
    flags.texts("ptxas_options", "--ptxas-options=", options.ptxas_options);
    flags.number("max_register_count", "--maxrregcount=", options.max_register_count, 1);
    flags.number("split_compile", "--split-compile=", options.split_compile, 0);
    check_one_of("ofast_compile", options.ofast_compile, {"0", "min", "mid", "max"});
    flags.text("ofast_compile", "--Ofast-compile=", options.ofast_compile);

    flags.either("--ftz=", options.ftz);
    flags.either("--prec-sqrt=", options.prec_sqrt);
    flags.either("--prec-div=", options.prec_div);
    flags.either("--fmad=", options.fma);
    flags.on("--use_fast_math", options.use_fast_math);
    flags.on("--extra-device-vectorization", options.extra_device_vectorization);

    flags.on("--device-as-default-execution-space", options.device_as_default_execution_space);
    flags.on("--device-int128", options.device_int128);
    flags.on("--device-float128", options.device_float128);
    flags.either("--builtin-move-forward=", options.builtin_move_forward);
    flags.either("--builtin-initializer-list=", options.builtin_initializer_list);
    flags.on("--restrict", options.restrict_pointers);
    flags.on("--no-source-include", options.no_source_include);
    flags.on("--fdevice-syntax-only", options.fdevice_syntax_only);
    flags.on("--minimal", options.minimal);
    flags.on("--no-cache", options.no_cache);

    flags.either("--brief-diagnostics=", options.brief_diagnostics);
    flags.on("--disable-warnings", options.disable_warnings);
    flags.on("--no-display-error-number", options.no_display_error_number);
    flags.numbers("diag_error", "--diag-error=", options.diag_error);
    flags.numbers("diag_suppress", "--diag-suppress=", options.diag_suppress);
    flags.numbers("diag_warn", "--diag-warn=", options.diag_warn);
    check_one_of("optimization_info", options.optimization_info, {"inline"});
    flags.text("optimization_info", "--optimization-info=", options.optimization_info);
    flags.text("time", "--time=", options.time);
    flags.text("fdevice_time_trace", "--fdevice-time-trace=", options.fdevice_time_trace);
    flags.text("frandom_seed", "--frandom-seed=", options.frandom_seed);

    flags.on("--pch", options.pch);
    flags.text("create_pch", "--create-pch=", options.create_pch);
    flags.text("use_pch", "--use-pch=", options.use_pch);
    flags.text("pch_dir", "--pch-dir=", options.pch_dir);
    flags.either("--pch-verbose=", options.pch_verbose);
    flags.either("--pch-messages=", options.pch_messages);
    flags.either("--instantiate-templates-in-pch=", options.instantiate_templates_in_pch);
    flags.on("--numba-debug", options.numba_debug);
    flags.texts("extra", "", options.extra);
    return flags.take();
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

bool is_digit(char character) {
    return character >= '0' && character <= '9';
}

void check_std(const std::string& dialect) {
    // The compiler reports dialects of this form that its version does not have.
    const std::string_view text = dialect;
    if (!text.starts_with("c++") || text.size() < 4 || !is_digit(text[3])) {
        detail::reject_option(OPTIONS_CLASS, "std", "\"" + dialect + "\"",
                              "a dialect such as \"c++17\" or \"c++20\"");
    }
}

void check_macro(const char* field, const std::string& macro) {
    if (macro.empty() ||
        !(macro[0] == '_' || std::isalpha(static_cast<unsigned char>(macro[0])) != 0)) {
        detail::reject_option(OPTIONS_CLASS, field, "\"" + macro + "\"", "a macro name");
    }
}

void check_one_of(const char* field, const std::optional<std::string>& value,
                  std::initializer_list<std::string_view> allowed) {
    if (!value.has_value() || std::find(allowed.begin(), allowed.end(), *value) != allowed.end()) {
        return;
    }
    std::string expected;
    for (const std::string_view choice : allowed) {
        expected += (expected.empty() ? "\"" : ", \"") + std::string(choice) + "\"";
    }
    detail::reject_option(OPTIONS_CLASS, field, "\"" + *value + "\"", expected);
}

} // namespace

} // namespace cuprum::nvrtc
