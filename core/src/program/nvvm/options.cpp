// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// libNVVM takes options with a single dash only.

#include "program/nvvm/options.hpp"

#include "program/architecture.hpp"
#include "program/options_check.hpp"

#include <cuprum/device.hpp>

#include <optional>

namespace cuprum::nvvm {

std::vector<std::string> flags_of(const ProgramOptions& options, CodeType target) {
    detail::check_options(options, SourceType::Nvvm);
    const std::string architecture =
        options.arch.has_value() ? *options.arch : "sm_" + Device().arch();
    detail::check_arch("ProgramOptions", architecture);
    // libNVVM compiles for virtual architectures.
    std::vector<std::string> flags{"-arch=compute_" +
                                   std::string(detail::arch_number(architecture))};
    const auto number = [&flags](const char* flag, const std::optional<bool>& value) {
        if (value.has_value()) {
            flags.push_back(std::string(flag) + (*value ? "1" : "0"));
        }
    };
    if (options.debug.value_or(false)) {
        flags.emplace_back("-g");
    }
    if (options.device_code_optimize.has_value()) {
        flags.emplace_back(*options.device_code_optimize ? "-opt=3" : "-opt=0");
    }
    number("-ftz=", options.ftz);
    number("-prec-sqrt=", options.prec_sqrt);
    number("-prec-div=", options.prec_div);
    number("-fma=", options.fma);
    if (options.numba_debug.value_or(false)) {
        flags.emplace_back("-numba-debug");
    }
    if (target == CodeType::LtoIr) {
        flags.emplace_back("-gen-lto");
    }
    flags.insert(flags.end(), options.extra.begin(), options.extra.end());
    return flags;
}

} // namespace cuprum::nvvm
