// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/libraries.hpp>

#include "libraries/nvjitlink/table.hpp"
#include "libraries/nvrtc/table.hpp"
#include "libraries/nvvm/table.hpp"

#include <exception>

namespace cuprum {

namespace {

/// Describes a library; a failure to find it becomes part of the answer. `version` is the entry
/// that returns major and minor.
template <typename Number, typename Table, typename Version>
LibraryInfo look_for(const char* name, Version Table::* version) {
    LibraryInfo info;
    info.name = name;
    try {
        info.path = libraries::Loader<Table>::loaded().file.path;
        Number major = 0;
        Number minor = 0;
        if ((libraries::Loader<Table>::table().*version)(&major, &minor) == 0) {
            info.version = std::to_string(major) + "." + std::to_string(minor);
        }
    } catch (const std::exception& error) {
        info.problem = error.what();
    }
    return info;
}

} // namespace

std::vector<LibraryInfo> compiler_libraries() {
    return {look_for<int>("NVRTC", &nvrtc::Table::nvrtcVersion),
            look_for<unsigned>("nvJitLink", &nvjitlink::Table::nvJitLinkVersion),
            look_for<int>("NVVM", &nvvm::Table::nvvmVersion)};
}

} // namespace cuprum
