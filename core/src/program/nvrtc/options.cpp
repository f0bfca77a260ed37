// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// ProgramOptions as NVRTC takes them: one function per kind of option, one line per option.

#include "program/architecture.hpp"
#include "support/text.hpp"

#include <cuprum/device.hpp>
#include <cuprum/program.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <stdexcept>

namespace cuprum {

namespace {

/// Collects flags, checking the values on the way.
class Flags {
public:
    /// Adds `flag` alone if the option is on. Off is the compiler's default, which has no flag.
    void on(const char* flag, const std::optional<bool>& value);
    /// Adds `flag` with "true" or "false" if the option is set.
    void either(const char* flag, const std::optional<bool>& value);
    /// Adds `flag` with a number of at least `least`.
    void number(const char* field, const char* flag, const std::optional<int>& value, int least);
    void numbers(const char* field, const char* flag, const std::vector<int>& values);
    /// Adds `flag` with a text.
    void text(const char* field, const char* flag, const std::string& value);
    void text(const char* field, const char* flag, const std::optional<std::string>& value);
    void texts(const char* field, const char* flag, const std::vector<std::string>& values);

    [[nodiscard]] std::vector<std::string> take() { return std::move(flags_); }

private:
    std::vector<std::string> flags_;
};

[[noreturn]] void reject(const char* field, const std::string& value, const std::string& expected);
void check_std(const std::string& dialect);
void check_macro(const char* field, const std::string& macro);
void check_one_of(const char* field, const std::optional<std::string>& value,
                  std::initializer_list<std::string_view> allowed);

} // namespace

std::vector<std::string> ProgramOptions::to_nvrtc() const {
    Flags flags;
    const std::string architecture = arch.has_value() ? *arch : "sm_" + Device().arch();
    detail::check_arch("ProgramOptions", architecture);
    flags.text("arch", "-arch=", architecture);
    if (std.has_value()) {
        check_std(*std);
    }
    flags.text("std", "--std=", std);
    flags.texts("include_path", "--include-path=", include_path);
    flags.texts("pre_include", "--pre-include=", pre_include);
    for (const auto& [macro, value] : define_macro) {
        check_macro("define_macro", macro);
        flags.text("define_macro",
                   "--define-macro=", value.has_value() ? macro + "=" + *value : macro);
    }
    for (const std::string& macro : undefine_macro) {
        check_macro("undefine_macro", macro);
        flags.text("undefine_macro", "--undefine-macro=", macro);
    }

    flags.either("--relocatable-device-code=", relocatable_device_code);
    flags.on("--extensible-whole-program", extensible_whole_program);
    flags.on("--device-debug", debug);
    flags.on("--generate-line-info", lineinfo);
    flags.on("--dopt=on", device_code_optimize);
    flags.on("--dlink-time-opt", link_time_optimization);
    flags.on("--gen-opt-lto", gen_opt_lto);
    flags.texts("ptxas_options", "--ptxas-options=", ptxas_options);
    flags.number("max_register_count", "--maxrregcount=", max_register_count, 1);
    flags.number("split_compile", "--split-compile=", split_compile, 0);
    check_one_of("ofast_compile", ofast_compile, {"0", "min", "mid", "max"});
    flags.text("ofast_compile", "--Ofast-compile=", ofast_compile);

    flags.either("--ftz=", ftz);
    flags.either("--prec-sqrt=", prec_sqrt);
    flags.either("--prec-div=", prec_div);
    flags.either("--fmad=", fma);
    flags.on("--use_fast_math", use_fast_math);
    flags.on("--extra-device-vectorization", extra_device_vectorization);

    flags.on("--device-as-default-execution-space", device_as_default_execution_space);
    flags.on("--device-int128", device_int128);
    flags.on("--device-float128", device_float128);
    flags.either("--builtin-move-forward=", builtin_move_forward);
    flags.either("--builtin-initializer-list=", builtin_initializer_list);
    flags.on("--restrict", restrict_pointers);
    flags.on("--no-source-include", no_source_include);
    flags.on("--fdevice-syntax-only", fdevice_syntax_only);
    flags.on("--minimal", minimal);
    flags.on("--no-cache", no_cache);

    flags.either("--brief-diagnostics=", brief_diagnostics);
    flags.on("--disable-warnings", disable_warnings);
    flags.on("--no-display-error-number", no_display_error_number);
    flags.numbers("diag_error", "--diag-error=", diag_error);
    flags.numbers("diag_suppress", "--diag-suppress=", diag_suppress);
    flags.numbers("diag_warn", "--diag-warn=", diag_warn);
    check_one_of("optimization_info", optimization_info, {"inline"});
    flags.text("optimization_info", "--optimization-info=", optimization_info);
    flags.text("time", "--time=", time);
    flags.text("fdevice_time_trace", "--fdevice-time-trace=", fdevice_time_trace);
    flags.text("frandom_seed", "--frandom-seed=", frandom_seed);

    flags.on("--pch", pch);
    flags.text("create_pch", "--create-pch=", create_pch);
    flags.text("use_pch", "--use-pch=", use_pch);
    flags.text("pch_dir", "--pch-dir=", pch_dir);
    flags.either("--pch-verbose=", pch_verbose);
    flags.either("--pch-messages=", pch_messages);
    flags.either("--instantiate-templates-in-pch=", instantiate_templates_in_pch);
    flags.on("--numba-debug", numba_debug);
    flags.texts("extra", "", extra);
    return flags.take();
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

void Flags::on(const char* flag, const std::optional<bool>& value) {
    if (value.value_or(false)) {
        flags_.emplace_back(flag);
    }
}

void Flags::either(const char* flag, const std::optional<bool>& value) {
    if (value.has_value()) {
        flags_.push_back(std::string(flag) + (*value ? "true" : "false"));
    }
}

void Flags::number(const char* field, const char* flag, const std::optional<int>& value,
                   int least) {
    if (!value.has_value()) {
        return;
    }
    if (*value < least) {
        reject(field, std::to_string(*value), "a number of at least " + std::to_string(least));
    }
    flags_.push_back(flag + std::to_string(*value));
}

void Flags::numbers(const char* field, const char* flag, const std::vector<int>& values) {
    for (const int value : values) {
        number(field, flag, value, 1);
    }
}

void Flags::text(const char* field, const char* flag, const std::string& value) {
    if (value.empty()) {
        reject(field, "\"\"", "a text that is not empty");
    }
    if (value.find('\0') != std::string::npos) {
        // The compiler takes C strings and would not see the rest.
        reject(field, detail::quoted(value), "a text without a NUL character");
    }
    flags_.push_back(flag + value);
}

void Flags::text(const char* field, const char* flag, const std::optional<std::string>& value) {
    if (value.has_value()) {
        text(field, flag, *value);
    }
}

void Flags::texts(const char* field, const char* flag, const std::vector<std::string>& values) {
    for (const std::string& value : values) {
        text(field, flag, value);
    }
}

void reject(const char* field, const std::string& value, const std::string& expected) {
    throw std::invalid_argument(std::string("ProgramOptions ") + field + " is " + value +
                                "; expected " + expected);
}

bool is_digit(char character) {
    return character >= '0' && character <= '9';
}

void check_std(const std::string& dialect) {
    // Which dialects there are depends on the compiler's version: it says so itself.
    const std::string_view text = dialect;
    if (!text.starts_with("c++") || text.size() < 4 || !is_digit(text[3])) {
        reject("std", "\"" + dialect + "\"", "a dialect such as \"c++17\" or \"c++20\"");
    }
}

void check_macro(const char* field, const std::string& macro) {
    if (macro.empty() ||
        !(macro[0] == '_' || std::isalpha(static_cast<unsigned char>(macro[0])) != 0)) {
        reject(field, "\"" + macro + "\"", "a macro name");
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
    reject(field, "\"" + *value + "\"", expected);
}

} // namespace

} // namespace cuprum
