// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "compilers/real_library.hpp"

#include "compilers/emulated_driver.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <sstream>
#include <utility>

namespace cuprum::emulator::compilers {

namespace {

namespace fs = std::filesystem;

/// Returns Python's package folders of this process, by the paths of its loaded libraries.
std::set<fs::path> package_folders() {
    std::set<fs::path> folders;
    ::dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* data) {
            const std::string path = info->dlpi_name != nullptr ? info->dlpi_name : "";
            for (const char* const name : {"/site-packages/", "/dist-packages/"}) {
                if (const std::size_t at = path.find(name);
                    path.starts_with('/') && at != std::string::npos) {
                    static_cast<std::set<fs::path>*>(data)->insert(
                        path.substr(0, at + std::strlen(name)));
                }
            }
            return 0;
        },
        &folders);
    return folders;
}

/// Returns the folders of toolkits and of the system, best first.
std::vector<fs::path> library_folders() {
    std::vector<fs::path> folders;
    if (const char* const conda = ::secure_getenv("CONDA_PREFIX"); conda != nullptr) {
        folders.push_back(fs::path(conda) / "lib");
    }
    if (const char* const searched = ::secure_getenv("LD_LIBRARY_PATH"); searched != nullptr) {
        std::istringstream text(searched);
        for (std::string folder; std::getline(text, folder, ':');) {
            folders.emplace_back(folder);
        }
    }
    for (const char* const variable : {"CUDA_HOME", "CUDA_PATH"}) {
        if (const char* const toolkit = ::secure_getenv(variable); toolkit != nullptr) {
            folders.push_back(fs::path(toolkit) / "lib64");
        }
    }
    for (const char* const folder : {"/usr/local/cuda/lib64", "/usr/lib/x86_64-linux-gnu",
                                     "/usr/lib/aarch64-linux-gnu", "/usr/lib64"}) {
        folders.emplace_back(folder);
    }
    return folders;
}

} // namespace

void* load_real(const LibraryPlaces& places) {
    std::vector<fs::path> paths;
    if (const char* const named = ::secure_getenv(places.variable); named != nullptr) {
        paths.emplace_back(named);
    }
    for (const fs::path& folder : package_folders()) {
        for (const char* const wheel : places.wheels) {
            paths.push_back(folder / wheel);
        }
    }
    for (const fs::path& folder : library_folders()) {
        for (const char* const name : places.names) {
            paths.push_back(folder / name);
        }
    }
    std::erase_if(paths, [](const fs::path& path) {
        std::error_code error;
        return !path.is_absolute() || !fs::exists(path, error) ||
               fs::canonical(path, error).parent_path() == own_folder();
    });
    // One that this process uses already comes first: others may write LTO-IR of another version.
    for (const int flags : {RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD, RTLD_NOW | RTLD_LOCAL}) {
        for (const fs::path& path : paths) {
            if (void* const library = ::dlopen(path.c_str(), flags)) {
                return library;
            }
        }
    }
    throw CompileError(CUDA_ERROR_NOT_FOUND, places.advice);
}

LibraryPlaces nvrtc_places(int major) {
    return {.variable = "CUPRUM_NVRTC",
            .wheels = {major == 13 ? "nvidia/cu13/lib/libnvrtc.so.13"
                                   : "nvidia/cuda_nvrtc/lib/libnvrtc.so.12"},
            .names = {major == 13 ? "libnvrtc.so.13" : "libnvrtc.so.12"},
            .advice = "NVIDIA's NVRTC was not found: install the package nvidia-cuda-nvrtc or a "
                      "CUDA toolkit, or set CUPRUM_NVRTC to the path of the library"};
}

LibraryPlaces nvfatbin_places(int major) {
    // NOTE: its symbols have no versions, so a program of CUDA 12 may be bound to the stand-in of
    // 13 and the reverse. Both libraries do the same.
    std::vector<const char*> wheels{"nvidia/cu13/lib/libnvfatbin.so.13",
                                    "nvidia/nvfatbin/lib/libnvfatbin.so.12"};
    std::vector<const char*> names{"libnvfatbin.so.13", "libnvfatbin.so.12"};
    if (major == 12) {
        std::ranges::reverse(wheels);
        std::ranges::reverse(names);
    }
    return {.variable = "CUPRUM_NVFATBIN",
            .wheels = std::move(wheels),
            .names = std::move(names),
            .advice = "NVIDIA's nvFatbin was not found: install the package nvidia-nvfatbin or a "
                      "CUDA toolkit, or set CUPRUM_NVFATBIN to the path of the library"};
}

} // namespace cuprum::emulator::compilers
