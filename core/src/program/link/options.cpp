// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "program/link/options.hpp"

#include "program/architecture.hpp"
#include "program/flags.hpp"

#include <cuprum/device.hpp>
#include <cuprum/error.hpp>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string_view>

namespace cuprum::detail {

namespace {

constexpr std::string_view REGISTER_LIMIT = "maxrregcount"; // of ptxas, after one or two dashes

void check_digits(const std::string& arch);

} // namespace

std::vector<std::string> nvjitlink_flags(const LinkerOptions& options) {
    Flags flags("LinkerOptions");
    const std::string wanted = options.arch.has_value() ? *options.arch : "sm_" + Device().arch();
    check_digits(wanted);
    flags.text("arch", "-arch=", wanted);
    flags.number("max_register_count", "-maxrregcount=", options.max_register_count, 1);
    flags.on("-time", options.time);
    flags.on("-verbose", options.verbose);
    flags.on("-lto", options.link_time_optimization);
    flags.on("-ptx", options.ptx);
    flags.number("optimization_level", "-O", options.optimization_level, 0);
    flags.on("-g", options.debug);
    flags.on("-lineinfo", options.lineinfo);
    flags.either("-ftz=", options.ftz);
    flags.either("-prec-div=", options.prec_div);
    flags.either("-prec-sqrt=", options.prec_sqrt);
    flags.either("-fma=", options.fma);
    flags.texts("kernels_used", "-kernels-used=", options.kernels_used);
    flags.texts("variables_used", "-variables-used=", options.variables_used);
    flags.on("-optimize-unused-variables", options.optimize_unused_variables);
    flags.texts("ptxas_options", "-Xptxas=", options.ptxas_options);
    flags.number("split_compile", "-split-compile=", options.split_compile, 0);
    flags.number("split_compile_extended",
                 "-split-compile-extended=", options.split_compile_extended, 0);
    flags.on("-no-cache", options.no_cache);
    return flags.take();
}

void check_driver_link_options(const LinkerOptions& options) {
    const auto reject = [](const char* field, bool is_set) {
        if (is_set) {
            throw UnsupportedOptionError(std::string("LinkerOptions: the ") + field +
                                         " option is not supported by the driver API; leave it "
                                         "unset, or install nvJitLink (pip install "
                                         "nvidia-nvjitlink)");
        }
    };
    reject("time", options.time.value_or(false));
    reject("ptx", options.ptx.value_or(false));
    reject("link_time_optimization", options.link_time_optimization.value_or(false));
    reject("ptxas_options", !options.ptxas_options.empty());
    reject("split_compile", options.split_compile.has_value());
    reject("split_compile_extended", options.split_compile_extended.has_value());
    reject("ftz", options.ftz.has_value());
    reject("prec_div", options.prec_div.has_value());
    reject("prec_sqrt", options.prec_sqrt.has_value());
    reject("fma", options.fma.has_value());
    reject("kernels_used", !options.kernels_used.empty());
    reject("variables_used", !options.variables_used.empty());
    reject("optimize_unused_variables", options.optimize_unused_variables.value_or(false));
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

// ---- helpers -----------------------------------------------------------------------------------

namespace {

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

} // namespace cuprum::detail
