// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "program/source/includes.hpp"

#include "support/never_destroyed.hpp"
#include "support/shared_library.hpp"
#include "libraries/nvrtc/table.hpp"

#include <cuprum/compiler.hpp>

#include <algorithm>
#include <filesystem>
#include <sys/stat.h>

namespace cuprum {

namespace {

namespace fs = std::filesystem;

[[nodiscard]] std::vector<std::string> find_include_directories();

} // namespace

const std::vector<std::string>& default_include_directories() {
    static detail::NeverDestroyed<std::vector<std::string>> directories(
        find_include_directories()); // destructors may compile
    return *directories;
}

namespace detail {

const std::string& default_headers_fingerprint() {
    static NeverDestroyed<std::string> fingerprint([] {
        std::string text;
        for (const std::string& directory : default_include_directories()) {
            text += directory;
            for (const char* file : {"/cuda.h", "/cuda_runtime_api.h", "/cuda_fp16.hpp",
                                     "/cuda/std/version", "/cuda/std/__cccl/version.h"}) {
                struct stat status{};
                if (::stat((directory + file).c_str(), &status) == 0) {
                    text += std::string(file) + ":" + std::to_string(status.st_size) + ":" +
                             std::to_string(status.st_mtim.tv_sec);
                }
            }
            text += ';';
        }
        return text;
    }());
    return *fingerprint;
}

} // namespace detail

// ---- helpers -----------------------------------------------------------------------------------

namespace {

std::vector<std::string> find_include_directories() {
    std::vector<std::string> roots;
    // Headers that came with this very compiler suit it best.
    if (const fs::path library = nvrtc::library_path(); !library.empty()) {
        fs::path root = library.parent_path().parent_path();
        if (root.parent_path().filename() == "targets") {
            root = root.parent_path().parent_path();
        }
        roots.push_back(root.string());
    }
    const std::vector<std::string> others = driver::component_roots();
    roots.insert(roots.end(), others.begin(), others.end());

    std::vector<std::string> directories;
    const auto add_first = [&](std::initializer_list<const char*> folders, const char* file) {
        for (const std::string& root : roots) {
            for (const char* folder : folders) {
                const fs::path directory = fs::path(root) / folder;
                std::error_code ignored;
                if (!fs::is_regular_file(directory / file, ignored)) {
                    continue;
                }
                const std::string text = directory.lexically_normal().string();
                if (std::find(directories.begin(), directories.end(), text) == directories.end()) {
                    directories.push_back(text);
                }
                return;
            }
        }
    };
    add_first({"include", "targets/x86_64-linux/include"}, "cuda_fp16.h");
    // CUDA 13 keeps CCCL in a folder of its own.
    add_first({"include/cccl", "targets/x86_64-linux/include/cccl", "include"},
              "cuda/std/type_traits");
    return directories;
}

} // namespace

} // namespace cuprum
