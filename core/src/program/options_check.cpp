// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// One line per option.

#include "program/options_check.hpp"

#include <cuprum/error.hpp>

#include <string>

namespace cuprum::detail {

namespace {

enum Language : unsigned { CXX = 1, PTX = 2, NVVM = 4 };

struct Field {
    const char* name;
    bool (*is_set)(const ProgramOptions& options);
    unsigned supported_by;
};

using O = ProgramOptions;

/// Returns whether a switch is on. A switch that is off asks for nothing: off is the default of
/// every compiler.
template <auto Member>
bool is_on(const O& options) {
    return (options.*Member).value_or(false);
}

template <auto Member>
bool is_set(const O& options) {
    return (options.*Member).has_value();
}

template <auto Member>
bool has_any(const O& options) {
    return !(options.*Member).empty();
}

// clang-format off
constexpr Field FIELDS[] = {
    {"relocatable_device_code", is_on<&O::relocatable_device_code>, CXX},
    {"extensible_whole_program", is_on<&O::extensible_whole_program>, CXX},
    {"debug", is_on<&O::debug>, CXX | PTX | NVVM},
    {"lineinfo", is_on<&O::lineinfo>, CXX | PTX},
    {"device_code_optimize", is_set<&O::device_code_optimize>, CXX | PTX | NVVM},
    {"ptxas_options", has_any<&O::ptxas_options>, CXX | PTX},
    {"max_register_count", is_set<&O::max_register_count>, CXX | PTX},
    {"ftz", is_set<&O::ftz>, CXX | PTX | NVVM},
    {"prec_sqrt", is_set<&O::prec_sqrt>, CXX | PTX | NVVM},
    {"prec_div", is_set<&O::prec_div>, CXX | PTX | NVVM},
    {"fma", is_set<&O::fma>, CXX | PTX | NVVM},
    {"use_fast_math", is_on<&O::use_fast_math>, CXX},
    {"extra_device_vectorization", is_on<&O::extra_device_vectorization>, CXX},
    {"link_time_optimization", is_on<&O::link_time_optimization>, CXX | PTX | NVVM},
    {"gen_opt_lto", is_on<&O::gen_opt_lto>, CXX},
    {"define_macro", has_any<&O::define_macro>, CXX},
    {"undefine_macro", has_any<&O::undefine_macro>, CXX},
    {"include_path", has_any<&O::include_path>, CXX},
    {"pre_include", has_any<&O::pre_include>, CXX},
    {"no_source_include", is_on<&O::no_source_include>, CXX},
    {"std", is_set<&O::std>, CXX},
    {"builtin_move_forward", is_set<&O::builtin_move_forward>, CXX},
    {"builtin_initializer_list", is_set<&O::builtin_initializer_list>, CXX},
    {"disable_warnings", is_on<&O::disable_warnings>, CXX},
    {"restrict", is_on<&O::restrict_pointers>, CXX},
    {"device_as_default_execution_space", is_on<&O::device_as_default_execution_space>, CXX},
    {"device_int128", is_on<&O::device_int128>, CXX},
    {"device_float128", is_on<&O::device_float128>, CXX},
    {"optimization_info", is_set<&O::optimization_info>, CXX},
    {"no_display_error_number", is_on<&O::no_display_error_number>, CXX},
    {"diag_error", has_any<&O::diag_error>, CXX},
    {"diag_suppress", has_any<&O::diag_suppress>, CXX},
    {"diag_warn", has_any<&O::diag_warn>, CXX},
    {"brief_diagnostics", is_set<&O::brief_diagnostics>, CXX},
    {"time", is_set<&O::time>, CXX | PTX},
    {"split_compile", is_set<&O::split_compile>, CXX | PTX},
    {"fdevice_syntax_only", is_on<&O::fdevice_syntax_only>, CXX},
    {"minimal", is_on<&O::minimal>, CXX},
    {"no_cache", is_on<&O::no_cache>, CXX | PTX},
    {"fdevice_time_trace", is_set<&O::fdevice_time_trace>, CXX},
    {"frandom_seed", is_set<&O::frandom_seed>, CXX},
    {"ofast_compile", is_set<&O::ofast_compile>, CXX},
    {"pch", is_on<&O::pch>, CXX},
    {"create_pch", is_set<&O::create_pch>, CXX},
    {"use_pch", is_set<&O::use_pch>, CXX},
    {"pch_dir", is_set<&O::pch_dir>, CXX},
    {"pch_verbose", is_on<&O::pch_verbose>, CXX},
    {"pch_messages", is_on<&O::pch_messages>, CXX},
    {"instantiate_templates_in_pch", is_on<&O::instantiate_templates_in_pch>, CXX},
    {"extra_sources", has_any<&O::extra_sources>, NVVM},
    {"use_libdevice", is_on<&O::use_libdevice>, NVVM},
    {"numba_debug", is_on<&O::numba_debug>, CXX | PTX | NVVM}, // PTX: a warning
    {"headers", has_any<&O::headers>, CXX},
    {"extra", has_any<&O::extra>, CXX | NVVM},
};
// clang-format on

} // namespace

void check_options(const ProgramOptions& options, SourceType language) {
    const unsigned bit = language == SourceType::Cxx   ? CXX
                         : language == SourceType::Ptx ? PTX
                                                       : NVVM;
    std::string names;
    int count = 0;
    for (const Field& field : FIELDS) {
        if ((field.supported_by & bit) == 0 && field.is_set(options)) {
            names += (names.empty() ? "" : ", ") + std::string(field.name);
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

} // namespace cuprum::detail
