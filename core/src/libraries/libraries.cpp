// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/libraries.hpp>

#include "libraries/nvjitlink/table.hpp"
#include "libraries/nvrtc/table.hpp"
#include "libraries/nvvm/table.hpp"

#include <dlfcn.h>

#include <exception>

namespace cuprum {

namespace {

/// Returns the file that holds a function, links resolved by the loader.
std::string file_of(void* function) {
    Dl_info info{};
    return ::dladdr(function, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname
                                                                       : std::string();
}

/// Fills in what `find` tells of a library; its failure is an answer here.
template <typename Find>
LibraryInfo look(const char* name, const Find& find) {
    LibraryInfo info;
    info.name = name;
    try {
        find(info);
    } catch (const std::exception& error) {
        info.problem = error.what();
    }
    return info;
}

std::string version_text(unsigned major, unsigned minor) {
    return std::to_string(major) + "." + std::to_string(minor);
}

} // namespace

std::vector<LibraryInfo> compiler_libraries() {
    return {
        look("NVRTC",
             [](LibraryInfo& info) {
                 info.path = file_of(nvrtc::resolve("nvrtcVersion"));
                 int major = 0;
                 int minor = 0;
                 if (nvrtc::table().nvrtcVersion(&major, &minor) == NVRTC_SUCCESS) {
                     info.version =
                         version_text(static_cast<unsigned>(major), static_cast<unsigned>(minor));
                 }
             }),
        look("nvJitLink",
             [](LibraryInfo& info) {
                 info.path = file_of(nvjitlink::resolve("nvJitLinkVersion"));
                 unsigned major = 0;
                 unsigned minor = 0;
                 if (nvjitlink::table().nvJitLinkVersion(&major, &minor) == NVJITLINK_SUCCESS) {
                     info.version = version_text(major, minor);
                 }
             }),
        look("NVVM",
             [](LibraryInfo& info) {
                 info.path = file_of(nvvm::resolve("nvvmVersion"));
                 int major = 0;
                 int minor = 0;
                 if (nvvm::table().nvvmVersion(&major, &minor) == nvvm::NVVM_SUCCESS) {
                     info.version =
                         version_text(static_cast<unsigned>(major), static_cast<unsigned>(minor));
                 }
             }),
    };
}

} // namespace cuprum
