// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "libraries/nvjitlink/call.hpp"

#include <cuprum/error.hpp>

#include <array>
#include <cstddef>

namespace cuprum::nvjitlink {

std::string name_of(nvJitLinkResult status) {
    // In the order of their numbers: the library has no function that names them.
    static constexpr std::array NAMES{
        "NVJITLINK_SUCCESS",
        "NVJITLINK_ERROR_UNRECOGNIZED_OPTION",
        "NVJITLINK_ERROR_MISSING_ARCH",
        "NVJITLINK_ERROR_INVALID_INPUT",
        "NVJITLINK_ERROR_PTX_COMPILE",
        "NVJITLINK_ERROR_NVVM_COMPILE",
        "NVJITLINK_ERROR_INTERNAL",
        "NVJITLINK_ERROR_THREADPOOL",
        "NVJITLINK_ERROR_UNRECOGNIZED_INPUT",
        "NVJITLINK_ERROR_FINALIZE",
        "NVJITLINK_ERROR_NULL_INPUT",
        "NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS",
        "NVJITLINK_ERROR_INCORRECT_INPUT_TYPE",
        "NVJITLINK_ERROR_ARCH_MISMATCH",
        "NVJITLINK_ERROR_OUTDATED_LIBRARY",
        "NVJITLINK_ERROR_MISSING_FATBIN",
        "NVJITLINK_ERROR_UNRECOGNIZED_ARCH",
        "NVJITLINK_ERROR_UNSUPPORTED_ARCH",
        "NVJITLINK_ERROR_LTO_NOT_ENABLED",
    };
    const auto number = static_cast<std::size_t>(status);
    return number < NAMES.size() ? NAMES[number] : "nvJitLink error " + std::to_string(number);
}

std::string version() {
    unsigned major = 0;
    unsigned minor = 0;
    const auto& entry = table().nvJitLinkVersion;
    if (const nvJitLinkResult status = entry(&major, &minor); status != NVJITLINK_SUCCESS) {
        throw LinkerError(ErrorDomain::NvJitLink, status, name_of(status), entry.name, {}, {});
    }
    return std::to_string(major) + "." + std::to_string(minor);
}

} // namespace cuprum::nvjitlink
