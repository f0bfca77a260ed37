// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "program/options.hpp"

#include "support/text.hpp"

#include <cuprum/device.hpp>
#include <cuprum/error.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace cuprum::detail {

void check_arch(const char* options, const std::string& arch) {
    std::string_view rest = arch_number(arch);
    const bool had_prefix = rest.size() != arch.size();
    // a: this architecture alone, f: its family
    if (!rest.empty() && (rest.back() == 'a' || rest.back() == 'f')) {
        rest.remove_suffix(1);
    }
    const auto is_digit = [](char character) { return character >= '0' && character <= '9'; };
    if (!had_prefix || rest.empty() || !std::all_of(rest.begin(), rest.end(), is_digit)) {
        throw std::invalid_argument(std::string(options) + " arch is " + detail::quoted(arch) +
                                    "; expected a name such as \"sm_90\" or \"compute_90\"");
    }
}

std::string_view arch_number(std::string_view arch) noexcept {
    for (const std::string_view prefix : {"sm_", "compute_"}) {
        if (arch.starts_with(prefix)) {
            return arch.substr(prefix.size());
        }
    }
    return arch;
}

namespace {

constexpr std::string_view REGISTER_LIMIT = "maxrregcount"; // of ptxas, after one or two dashes

/// Throws std::invalid_argument for an option's value: "ProgramOptions std is "x"; expected
/// ...".
[[noreturn]] void reject_option(const char* options_class, const char* field,
                                const std::string& value, const std::string& expected) {
    throw std::invalid_argument(std::string(options_class) + " " + field + " is " + value +
                                "; expected " + expected);
}

/// Collects flags and checks the values.
class Flags {
public:
    /// `options_class` is the class that messages name, such as "ProgramOptions".
    explicit Flags(const char* options_class) : options_class_(options_class) {}

    /// Adds `flag` if the option is on. Off is the compiler's default, which has no flag.
    void on(const char* flag, const std::optional<bool>& value) {
        if (value.value_or(false)) {
            flags_.emplace_back(flag);
        }
    }

    /// Adds `flag` with "true" or "false" if the option is set.
    void add(const char* /*field*/, const char* flag, const std::optional<bool>& value, int = 0) {
        if (value.has_value()) {
            flags_.push_back(std::string(flag) + (*value ? "true" : "false"));
        }
    }

    /// Adds `flag` with a number of at least `least`.
    void add(const char* field, const char* flag, const std::optional<int>& value, int least) {
        if (!value.has_value()) {
            return;
        }
        if (*value < least) {
            reject_option(options_class_, field, std::to_string(*value),
                          "a number of at least " + std::to_string(least));
        }
        flags_.push_back(flag + std::to_string(*value));
    }

    /// Adds `flag` with a text.
    void add(const char* field, const char* flag, const std::string& value, int = 0) {
        if (value.empty()) {
            reject_option(options_class_, field, "\"\"", "a text that is not empty");
        }
        if (value.find('\0') != std::string::npos) {
            // Compilers take C strings and would ignore the rest.
            reject_option(options_class_, field, detail::quoted(value),
                          "a text without a NUL character");
        }
        flags_.push_back(flag + value);
    }

    void add(const char* field, const char* flag, const std::optional<std::string>& value,
             int = 0) {
        if (value.has_value()) {
            add(field, flag, *value);
        }
    }

    /// Adds `flag` with each value. Pairs have no flag.
    template <typename T>
    void add(const char* field, const char* flag, const std::vector<T>& values, int least) {
        for (const T& value : values) {
            if constexpr (std::is_same_v<T, int>) {
                add(field, flag, std::optional(value), least);
            } else if constexpr (std::is_same_v<T, std::string>) {
                add(field, flag, value);
            }
        }
    }

    [[nodiscard]] std::vector<std::string> take() { return std::move(flags_); }

private:
    const char* options_class_;
    std::vector<std::string> flags_;
};

/// How options of one type are read.
template <typename Options>
struct Kind {
    bool (*is_set)(const Options& options);
    void (*add)(Flags& flags, const char* field, const char* flag, const Options& options);
};

template <typename T>
bool has_any(const T& value) {
    if constexpr (requires { value.has_value(); }) {
        return value.has_value();
    } else {
        return !value.empty();
    }
}

template <auto Member>
struct MemberOf;

template <typename Options, typename T, T Options::* Member>
struct MemberOf<Member> {
    /// A switch. One that is off asks for nothing: off is the default of every compiler.
    static constexpr Kind<Options> SWITCH{
        [](const Options& options) { return (options.*Member).value_or(false); },
        [](Flags& flags, const char*, const char* flag, const Options& options) {
            flags.on(flag, options.*Member);
        }};
    /// A value, or several, numbers of at least `Least`.
    template <int Least>
    static constexpr Kind<Options> VALUE{
        [](const Options& options) { return has_any(options.*Member); },
        [](Flags& flags, const char* field, const char* flag, const Options& options) {
            flags.add(field, flag, options.*Member, Least);
        }};
};

template <auto Member>
constexpr auto ON = MemberOf<Member>::SWITCH;
template <auto Member, int Least = 0>
constexpr auto SET = MemberOf<Member>::template VALUE<Least>;

/// One option: what it is called, how it is read, who supports it, and its flag. Compilers take
/// flags in the order of the list.
template <typename Options>
struct Option {
    const char* field;
    Kind<Options> kind;
    unsigned supported_by;
    const char* flag = nullptr; // of NVRTC or nvJitLink; none if there is no such flag
};

template <typename Options, std::size_t Count>
std::vector<std::string> flags_of(const Options& options, const char* options_class,
                                  const Option<Options> (&known)[Count]) {
    Flags flags(options_class);
    for (const Option<Options>& option : known) {
        if (option.flag != nullptr) {
            option.kind.add(flags, option.field, option.flag, options);
        }
    }
    return flags.take();
}

enum Compiler : unsigned { CXX = 1, PTX = 2, NVVM = 4, DRIVER = 8 };

using O = ProgramOptions;
using L = LinkerOptions;

/// Macros to define, with or without a value.
constexpr Kind<O> DEFINITIONS{
    [](const O& options) { return !options.define_macro.empty(); },
    [](Flags& flags, const char* field, const char* flag, const O& options) {
        for (const auto& [macro, value] : options.define_macro) {
            flags.add(field, flag, value.has_value() ? macro + "=" + *value : macro);
        }
    }};

// clang-format off
constexpr Option<O> OPTIONS[] = {
    {"std", SET<&O::std>, CXX, "--std="},
    {"include_path", SET<&O::include_path>, CXX, "--include-path="},
    {"pre_include", SET<&O::pre_include>, CXX, "--pre-include="},
    {"define_macro", DEFINITIONS, CXX, "--define-macro="},
    {"undefine_macro", SET<&O::undefine_macro>, CXX, "--undefine-macro="},
    {"relocatable_device_code", SET<&O::relocatable_device_code>, CXX, "--relocatable-device-code="},
    {"extensible_whole_program", ON<&O::extensible_whole_program>, CXX, "--extensible-whole-program"},
    {"debug", ON<&O::debug>, CXX | PTX | NVVM, "--device-debug"},
    {"lineinfo", ON<&O::lineinfo>, CXX | PTX, "--generate-line-info"},
    {"device_code_optimize", ON<&O::device_code_optimize>, CXX | PTX | NVVM, "--dopt=on"},
    {"link_time_optimization", ON<&O::link_time_optimization>, CXX | PTX | NVVM, "--dlink-time-opt"},
    {"gen_opt_lto", ON<&O::gen_opt_lto>, CXX, "--gen-opt-lto"},
    {"ptxas_options", SET<&O::ptxas_options>, CXX | PTX, "--ptxas-options="},
    {"max_register_count", SET<&O::max_register_count, 1>, CXX | PTX, "--maxrregcount="},
    {"split_compile", SET<&O::split_compile>, CXX | PTX, "--split-compile="},
    {"ofast_compile", SET<&O::ofast_compile>, CXX, "--Ofast-compile="},
    {"ftz", SET<&O::ftz>, CXX | PTX | NVVM, "--ftz="},
    {"prec_sqrt", SET<&O::prec_sqrt>, CXX | PTX | NVVM, "--prec-sqrt="},
    {"prec_div", SET<&O::prec_div>, CXX | PTX | NVVM, "--prec-div="},
    {"fma", SET<&O::fma>, CXX | PTX | NVVM, "--fmad="},
    {"use_fast_math", ON<&O::use_fast_math>, CXX, "--use_fast_math"},
    {"extra_device_vectorization", ON<&O::extra_device_vectorization>, CXX, "--extra-device-vectorization"},
    {"device_as_default_execution_space", ON<&O::device_as_default_execution_space>, CXX, "--device-as-default-execution-space"},
    {"device_int128", ON<&O::device_int128>, CXX, "--device-int128"},
    {"device_float128", ON<&O::device_float128>, CXX, "--device-float128"},
    {"builtin_move_forward", SET<&O::builtin_move_forward>, CXX, "--builtin-move-forward="},
    {"builtin_initializer_list", SET<&O::builtin_initializer_list>, CXX, "--builtin-initializer-list="},
    {"restrict", ON<&O::restrict_pointers>, CXX, "--restrict"},
    {"no_source_include", ON<&O::no_source_include>, CXX, "--no-source-include"},
    {"fdevice_syntax_only", ON<&O::fdevice_syntax_only>, CXX, "--fdevice-syntax-only"},
    {"minimal", ON<&O::minimal>, CXX, "--minimal"},
    {"no_cache", ON<&O::no_cache>, CXX | PTX, "--no-cache"},
    {"brief_diagnostics", SET<&O::brief_diagnostics>, CXX, "--brief-diagnostics="},
    {"disable_warnings", ON<&O::disable_warnings>, CXX, "--disable-warnings"},
    {"no_display_error_number", ON<&O::no_display_error_number>, CXX, "--no-display-error-number"},
    {"diag_error", SET<&O::diag_error, 1>, CXX, "--diag-error="},
    {"diag_suppress", SET<&O::diag_suppress, 1>, CXX, "--diag-suppress="},
    {"diag_warn", SET<&O::diag_warn, 1>, CXX, "--diag-warn="},
    {"optimization_info", SET<&O::optimization_info>, CXX, "--optimization-info="},
    {"time", SET<&O::time>, CXX | PTX, "--time="},
    {"fdevice_time_trace", SET<&O::fdevice_time_trace>, CXX, "--fdevice-time-trace="},
    {"frandom_seed", SET<&O::frandom_seed>, CXX, "--frandom-seed="},
    {"pch", ON<&O::pch>, CXX, "--pch"},
    {"create_pch", SET<&O::create_pch>, CXX, "--create-pch="},
    {"use_pch", SET<&O::use_pch>, CXX, "--use-pch="},
    {"pch_dir", SET<&O::pch_dir>, CXX, "--pch-dir="},
    {"pch_verbose", SET<&O::pch_verbose>, CXX, "--pch-verbose="},
    {"pch_messages", SET<&O::pch_messages>, CXX, "--pch-messages="},
    {"instantiate_templates_in_pch", SET<&O::instantiate_templates_in_pch>, CXX, "--instantiate-templates-in-pch="},
    {"numba_debug", ON<&O::numba_debug>, CXX | PTX | NVVM, "--numba-debug"}, // PTX: a warning
    {"extra", SET<&O::extra>, CXX | NVVM, ""},
    {"use_libdevice", ON<&O::use_libdevice>, NVVM},
    {"extra_sources", SET<&O::extra_sources>, NVVM},
    {"headers", SET<&O::headers>, CXX},
};

constexpr Option<L> LINKER_OPTIONS[] = {
    {"arch", SET<&L::arch>, DRIVER, "-arch="},
    {"max_register_count", SET<&L::max_register_count, 1>, DRIVER, "-maxrregcount="},
    {"time", ON<&L::time>, 0, "-time"},
    {"verbose", ON<&L::verbose>, DRIVER, "-verbose"},
    {"link_time_optimization", ON<&L::link_time_optimization>, 0, "-lto"},
    {"ptx", ON<&L::ptx>, 0, "-ptx"},
    {"optimization_level", SET<&L::optimization_level>, DRIVER, "-O"},
    {"debug", ON<&L::debug>, DRIVER, "-g"},
    {"lineinfo", ON<&L::lineinfo>, DRIVER, "-lineinfo"},
    {"ftz", SET<&L::ftz>, 0, "-ftz="},
    {"prec_div", SET<&L::prec_div>, 0, "-prec-div="},
    {"prec_sqrt", SET<&L::prec_sqrt>, 0, "-prec-sqrt="},
    {"fma", SET<&L::fma>, 0, "-fma="},
    {"kernels_used", SET<&L::kernels_used>, 0, "-kernels-used="},
    {"variables_used", SET<&L::variables_used>, 0, "-variables-used="},
    {"optimize_unused_variables", ON<&L::optimize_unused_variables>, 0, "-optimize-unused-variables"},
    {"ptxas_options", SET<&L::ptxas_options>, 0, "-Xptxas="},
    {"split_compile", SET<&L::split_compile>, 0, "-split-compile="},
    {"split_compile_extended", SET<&L::split_compile_extended>, 0, "-split-compile-extended="},
    {"no_cache", ON<&L::no_cache>, DRIVER, "-no-cache"},
};
// clang-format on

bool is_digit(char character) {
    return character >= '0' && character <= '9';
}

void check_std(const std::string& dialect) {
    // The compiler reports dialects of this form that its version does not have.
    const std::string_view text = dialect;
    if (!text.starts_with("c++") || text.size() < 4 || !is_digit(text[3])) {
        reject_option("ProgramOptions", "std", "\"" + dialect + "\"",
                      "a dialect such as \"c++17\" or \"c++20\"");
    }
}

void check_macro(const char* field, const std::string& macro) {
    if (macro.empty() ||
        !(macro[0] == '_' || std::isalpha(static_cast<unsigned char>(macro[0])) != 0)) {
        reject_option("ProgramOptions", field, "\"" + macro + "\"", "a macro name");
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
    reject_option("ProgramOptions", field, "\"" + *value + "\"", expected);
}

/// Refuses architectures of one digit, on which nvJitLink crashes. It reports all others that it
/// does not know.
void check_digits(const std::string& arch) {
    const auto is_digit = [](char character) { return character >= '0' && character <= '9'; };
    const std::string_view number = arch_number(arch);
    if (!number.empty() && is_digit(number[0]) && (number.size() == 1 || !is_digit(number[1]))) {
        throw std::invalid_argument("LinkerOptions arch is \"" + arch +
                                    "\"; expected a name such as \"sm_90\"");
    }
}

} // namespace

std::vector<std::string> nvrtc_flags(const ProgramOptions& options) {
    const std::string arch = options.arch.has_value() ? *options.arch : "sm_" + Device().arch();
    check_arch("ProgramOptions", arch);
    if (options.std.has_value()) {
        check_std(*options.std);
    }
    for (const auto& [macro, value] : options.define_macro) {
        check_macro("define_macro", macro);
    }
    for (const std::string& macro : options.undefine_macro) {
        check_macro("undefine_macro", macro);
    }
    check_one_of("ofast_compile", options.ofast_compile, {"0", "min", "mid", "max"});
    check_one_of("optimization_info", options.optimization_info, {"inline"});
    std::vector<std::string> flags = flags_of(options, "ProgramOptions", OPTIONS);
    flags.insert(flags.begin(), "-arch=" + arch);
    return flags;
}

void check_options(const ProgramOptions& options, SourceType language) {
    const unsigned bit = language == SourceType::Cxx   ? CXX
                         : language == SourceType::Ptx ? PTX
                                                       : NVVM;
    std::string names;
    int count = 0;
    for (const Option<O>& option : OPTIONS) {
        if ((option.supported_by & bit) == 0 && option.kind.is_set(options)) {
            names += (names.empty() ? "" : ", ") + std::string(option.field);
            ++count;
        }
    }
    if (count == 0) {
        return;
    }
    const char* const backend = language == SourceType::Cxx   ? "the NVRTC backend"
                                : language == SourceType::Ptx ? "the PTX backend"
                                                              : "NVVM backend";
    const char* const compiles = language == SourceType::Cxx   ? "C++"
                                 : language == SourceType::Ptx ? "PTX"
                                                               : "NVVM IR";
    throw UnsupportedOptionError("ProgramOptions " + names + (count == 1 ? " is" : " are") +
                                 " not supported by " + backend + ", which compiles " + compiles +
                                 "; leave " + (count == 1 ? "it" : "them") + " unset");
}

std::vector<std::string> nvjitlink_flags(const LinkerOptions& options) {
    LinkerOptions checked = options;
    if (!checked.arch.has_value()) {
        checked.arch = "sm_" + Device().arch();
    }
    check_digits(*checked.arch);
    return flags_of(checked, "LinkerOptions", LINKER_OPTIONS);
}

void check_driver_link_options(const LinkerOptions& options) {
    for (const Option<L>& option : LINKER_OPTIONS) {
        if (option.supported_by == 0 && option.kind.is_set(options)) {
            throw UnsupportedOptionError(std::string("LinkerOptions: the ") + option.field +
                                         " option is not supported by the driver API; leave it "
                                         "unset, or install nvJitLink (pip install "
                                         "nvidia-nvjitlink)");
        }
    }
}

std::optional<int> register_limit(std::optional<int> max_register_count,
                                  const std::vector<std::string>& ptxas_options) {
    std::optional<int> limit = max_register_count;
    bool is_next = false; // the number is an option of its own
    for (const std::string& option : ptxas_options) {
        std::string_view text = option;
        if (!is_next) {
            text.remove_prefix(std::min(text.find_first_not_of('-'), text.size()));
            if (!text.starts_with(REGISTER_LIMIT)) {
                continue;
            }
            text.remove_prefix(REGISTER_LIMIT.size());
            is_next = text.empty();
            text.remove_prefix(std::min(text.find_first_not_of("= "), text.size()));
        } else {
            is_next = false;
        }
        int number = 0;
        const char* const end = text.data() + text.size();
        if (const auto read = std::from_chars(text.data(), end, number);
            read.ec == std::errc() && read.ptr == end) {
            limit = number;
        }
    }
    return limit;
}

bool changes_ptx(const LinkerOptions& options) {
    return register_limit(options.max_register_count, options.ptxas_options).has_value() ||
           !options.kernels_used.empty() || !options.variables_used.empty();
}

LinkerOptions linker_options_of(const ProgramOptions& options) {
    LinkerOptions linked;
    linked.name = options.name;
    linked.arch = options.arch;
    linked.max_register_count = options.max_register_count;
    if (options.time.has_value()) {
        linked.time = true; // the linker writes to its log, never to a file
    }
    linked.link_time_optimization = options.link_time_optimization;
    if (options.device_code_optimize.has_value()) {
        linked.optimization_level = *options.device_code_optimize ? 3 : 0;
    }
    linked.debug = options.debug;
    linked.lineinfo = options.lineinfo;
    linked.ftz = options.ftz;
    linked.prec_div = options.prec_div;
    linked.prec_sqrt = options.prec_sqrt;
    linked.fma = options.fma;
    linked.ptxas_options = options.ptxas_options;
    linked.split_compile = options.split_compile;
    linked.no_cache = options.no_cache;
    return linked;
}

} // namespace cuprum::detail
