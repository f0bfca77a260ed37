// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "libraries/nvjitlink.hpp"

#include <cuprum/error.hpp>

#include <array>
#include <cstddef>

namespace cuprum::nvjitlink {

namespace {

constexpr int MIN_VERSION = 12030;
constexpr std::array FILE_NAMES{"libnvJitLink.so.13", "libnvJitLink.so.12"};

int version_of(const detail::SharedLibrary& file) {
    static constexpr int BEFORE_VERSION_QUERY = 12000;
    unsigned major = 0;
    unsigned minor = 0;
    const auto version =
        reinterpret_cast<decltype(&::nvJitLinkVersion)>(file.find("nvJitLinkVersion"));
    return version != nullptr && version(&major, &minor) == NVJITLINK_SUCCESS
               ? static_cast<int>(major * 1000 + minor * 10)
               : BEFORE_VERSION_QUERY;
}

} // namespace

} // namespace cuprum::nvjitlink

namespace cuprum::libraries {

template <>
constinit const LibraryDescription Loader<nvjitlink::Table>::DESCRIPTION{
    .request = {.name = "nvJitLink",
                .file_names = nvjitlink::FILE_NAMES,
                .variable = "CUPRUM_NVJITLINK",
                .advice = "install it with `pip install nvidia-nvjitlink`, install the CUDA "
                          "toolkit (12 or 13), or set CUPRUM_NVJITLINK to the path of "
                          "libnvJitLink.so"},
    .min_version = nvjitlink::MIN_VERSION,
    .version_of = nvjitlink::version_of};

template class Loader<nvjitlink::Table>;

} // namespace cuprum::libraries

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
