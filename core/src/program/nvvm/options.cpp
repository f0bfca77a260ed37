// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// ProgramOptions as libNVVM takes them. It knows single dashes alone.

#include "program/architecture.hpp"

#include <cuprum/device.hpp>
#include <cuprum/program.hpp>

#include <optional>
#include <string>
#include <vector>

namespace cuprum {

std::vector<std::string> ProgramOptions::to_nvvm(CodeType target) const {
    check_honoured(SourceType::Nvvm);
    const std::string architecture = arch.has_value() ? *arch : "sm_" + Device().arch();
    detail::check_arch("ProgramOptions", architecture);
    // libNVVM compiles for virtual architectures.
    std::vector<std::string> flags{"-arch=compute_" +
                                   std::string(detail::arch_number(architecture))};
    const auto number = [&flags](const char* flag, const std::optional<bool>& value) {
        if (value.has_value()) {
            flags.push_back(std::string(flag) + (*value ? "1" : "0"));
        }
    };
    if (debug.value_or(false)) {
        flags.emplace_back("-g");
    }
    if (device_code_optimize.has_value()) {
        flags.emplace_back(*device_code_optimize ? "-opt=3" : "-opt=0");
    }
    number("-ftz=", ftz);
    number("-prec-sqrt=", prec_sqrt);
    number("-prec-div=", prec_div);
    number("-fma=", fma);
    if (numba_debug.value_or(false)) {
        flags.emplace_back("-numba-debug");
    }
    if (target == CodeType::LtoIr) {
        flags.emplace_back("-gen-lto");
    }
    flags.insert(flags.end(), extra.begin(), extra.end());
    return flags;
}

} // namespace cuprum
