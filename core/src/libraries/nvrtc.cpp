// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "libraries/nvrtc.hpp"

#include <cuprum/error.hpp>

#include <dlfcn.h>

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

namespace cuprum::nvrtc {

namespace {

constexpr int MIN_VERSION = 12000;
constexpr int PCH_VERSION = 12080;
constexpr int FLOW_CALLBACK_VERSION = 12080;
constexpr std::array FILE_NAMES{"libnvrtc.so.13", "libnvrtc.so.12"};

int version_of(const detail::SharedLibrary& file) {
    int major = 0;
    int minor = 0;
    const auto version = reinterpret_cast<decltype(&::nvrtcVersion)>(file.find("nvrtcVersion"));
    return version != nullptr && version(&major, &minor) == NVRTC_SUCCESS
               ? major * 1000 + minor * 10
               : 0;
}

int version_of_function(std::string_view function) {
    return function.find("PCH") != std::string_view::npos ? PCH_VERSION
           : function == "nvrtcSetFlowCallback"           ? FLOW_CALLBACK_VERSION
                                                          : MIN_VERSION;
}

/// Loads NVRTC's second library from the folder of the first.
///
/// NVRTC opens it by its bare name when it first compiles. In Python's packages the system loader
/// does not find it there, but a library that is loaded already needs no search.
void load_builtins(const detail::SharedLibrary& file, int version) {
    const std::filesystem::path folder = std::filesystem::path(file.path).parent_path();
    if (!folder.is_absolute()) {
        return; // the system loader found NVRTC and will find this
    }
    const std::filesystem::path builtins =
        folder / ("libnvrtc-builtins.so." + std::to_string(version / 1000) + "." +
                  std::to_string(version % 1000 / 10));
    // If this fails, NVRTC reports it, with the name, when it compiles.
    static_cast<void>(::dlopen(builtins.c_str(), RTLD_NOW | RTLD_LOCAL));
}

} // namespace

} // namespace cuprum::nvrtc

namespace cuprum::libraries {

template <>
constinit const LibraryDescription Loader<nvrtc::Table>::DESCRIPTION{
    .request = {.name = "NVRTC",
                .file_names = nvrtc::FILE_NAMES,
                .variable = "CUPRUM_NVRTC",
                .advice = "install it with `pip install nvidia-cuda-nvrtc`, install the CUDA "
                          "toolkit (12 or 13), or set CUPRUM_NVRTC to the path of libnvrtc.so"},
    .min_version = nvrtc::MIN_VERSION,
    .version_of = nvrtc::version_of,
    .version_of_function = nvrtc::version_of_function,
    .after_load = nvrtc::load_builtins};

template class Loader<nvrtc::Table>;

} // namespace cuprum::libraries

namespace cuprum::nvrtc {

std::string name_of(nvrtcResult status) {
    return table().nvrtcGetErrorString(status);
}

void raise(nvrtcResult status, const char* call, std::string log, std::vector<std::string> options,
           std::string_view advice) {
    throw NVRTCError(status, name_of(status), call, std::move(log), std::move(options), advice);
}

std::vector<int> supported_architectures() {
    int count = 0;
    call(table().nvrtcGetNumSupportedArchs, &count);
    std::vector<int> architectures(static_cast<std::size_t>(count));
    call(table().nvrtcGetSupportedArchs, architectures.data());
    return architectures;
}

bool can_cancel() {
    // Ask the library: the entry always has an address, a stub or a fake.
    static const bool has_callback = [] {
        try {
            return Library::resolve("nvrtcSetFlowCallback") != nullptr;
        } catch (const NotSupportedError&) {
            return false;
        }
    }();
    return has_callback;
}

} // namespace cuprum::nvrtc
