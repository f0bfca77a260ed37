// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "libraries/nvjitlink/table.hpp"

#include <array>

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
