// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "program/source/includes.hpp"

#include "support/never_destroyed.hpp"

#include <cuprum/compiler.hpp>

#include <algorithm>
#include <filesystem>
#include <sys/stat.h>

namespace cuprum::detail {

std::vector<std::string> find_include_directories(const std::string& compiler,
                                                  std::span<const std::string> roots,
                                                  libraries::Targets targets) {
    namespace fs = std::filesystem;
    std::vector<fs::path> places;
    if (!compiler.empty()) {
        // The headers that came with this very compiler suit it best.
        fs::path root = fs::path(compiler).parent_path().parent_path();
        if (root.parent_path().filename() == "targets") {
            root = root.parent_path().parent_path();
        }
        places.push_back(std::move(root));
    }
    places.insert(places.end(), roots.begin(), roots.end());

    std::vector<std::string> folders{"include"};
    for (const char* target : targets) {
        folders.push_back("targets/" + std::string(target) + "/include");
    }
    std::vector<std::string> cccl_folders; // CUDA 13 keeps CCCL in a folder of its own
    for (const std::string& folder : folders) {
        cccl_folders.push_back(folder + "/cccl");
    }
    cccl_folders.emplace_back("include");

    std::vector<std::string> directories;
    const auto add_first = [&](const std::vector<std::string>& inside, const char* file) {
        for (const fs::path& place : places) {
            for (const std::string& folder : inside) {
                const fs::path directory = place / folder;
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
    add_first(folders, "cuda_fp16.h");
    add_first(cccl_folders, "cuda/std/type_traits");
    return directories;
}

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

} // namespace cuprum::detail
