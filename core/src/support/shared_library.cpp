// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/shared_library.hpp"

#include <cuprum/detail/runtime.hpp>
#include <cuprum/error.hpp>

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <utility>

namespace cuprum::driver {

namespace {

namespace fs = std::filesystem;

struct SearchPaths {
    std::mutex mutex;
    std::vector<std::string> directories;
};

using Place = std::vector<std::string>; // folders of one rank: the newest file in any of them wins

SearchPaths& search_paths();
std::vector<fs::path> site_packages();
std::vector<fs::path> toolkits(std::vector<std::string>& tried);
std::vector<Place> places_before_loader(const char* folder, std::vector<std::string>& tried);
std::vector<Place> places_after_loader(const char* folder, std::vector<std::string>& tried);
std::optional<SharedLibrary> search(const Place& place, const LibraryRequest& request,
                                    std::vector<std::string>& tried);
Place packages_in(const fs::path& site_packages, const char* folder);
fs::path absolute_variable(const char* name, std::vector<std::string>& tried);
std::string path_of(void* handle, const std::string& otherwise);

} // namespace

void* SharedLibrary::find(const char* symbol) const noexcept {
    return handle == nullptr ? nullptr : ::dlsym(handle, symbol);
}

SharedLibrary load_library(const LibraryRequest& request) {
    std::vector<std::string> tried;
    for (const char* name : request.file_names) {
        if (void* handle = ::dlopen(name, RTLD_NOW | RTLD_NOLOAD)) {
            return {handle, path_of(handle, name)};
        }
    }
    tried.emplace_back("already loaded: no");

    if (const std::string file = environment(request.variable); !file.empty()) {
        if (!fs::path(file).is_absolute()) {
            tried.push_back(std::string(request.variable) + "=" + file +
                            ": not an absolute path, ignored");
        } else if (auto library = open_library(file, tried)) {
            return *std::move(library);
        }
    } else {
        tried.push_back(std::string(request.variable) + ": not set");
    }

    for (const Place& place : places_before_loader(request.folder, tried)) {
        if (auto library = search(place, request, tried)) {
            return *std::move(library);
        }
    }
    for (const char* name : request.file_names) {
        if (auto library = open_library(name, tried)) {
            return *std::move(library);
        }
    }
    for (const Place& place : places_after_loader(request.folder, tried)) {
        if (auto library = search(place, request, tried)) {
            return *std::move(library);
        }
    }
    throw LibraryNotFoundError(request.name, std::move(tried), request.advice);
}

std::optional<SharedLibrary> open_library(const std::string& file,
                                          std::vector<std::string>& tried) {
    if (void* handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
        return SharedLibrary{handle, path_of(handle, file)};
    }
    const char* reason = ::dlerror();
    std::string text = reason == nullptr ? "cannot be loaded" : reason;
    // The loader starts with the file's name, as we do.
    if (text.rfind(file + ": ", 0) == 0) {
        text.erase(0, file.size() + 2);
    }
    tried.push_back(file + ": " + text);
    return std::nullopt;
}

std::vector<std::string> component_roots() {
    std::vector<std::string> roots;
    for (const fs::path& packages : site_packages()) {
        std::vector<std::string> found;
        std::error_code ignored;
        for (const auto& entry : fs::directory_iterator(packages / "nvidia", ignored)) {
            found.push_back(entry.path().string());
        }
        std::sort(found.begin(), found.end()); // cu13 before cuda_runtime, of CUDA 12
        roots.insert(roots.end(), found.begin(), found.end());
    }
    std::vector<std::string> notes; // nobody asked for a library: nothing to report
    if (const fs::path prefix = absolute_variable("CONDA_PREFIX", notes); !prefix.empty()) {
        roots.push_back((prefix / "targets/x86_64-linux").string());
        roots.push_back(prefix.string());
    }
    for (const fs::path& root : toolkits(notes)) {
        roots.push_back(root.string());
    }
    return roots;
}

std::string own_directory() {
    Dl_info info{};
    if (::dladdr(reinterpret_cast<const void*>(&own_directory), &info) == 0 ||
        info.dli_fname == nullptr) {
        return {};
    }
    std::error_code error;
    const fs::path file = fs::canonical(info.dli_fname, error);
    return error ? std::string() : file.parent_path().string();
}

std::string environment(const char* name) {
    const char* value = ::secure_getenv(name);
    return value == nullptr ? std::string() : std::string(value);
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

SearchPaths& search_paths() {
    static auto* paths = new SearchPaths; // never destroyed: destructors of others may load
    return *paths;
}

/// Returns the site-packages folders that may hold CUDA's packages, the given ones first.
std::vector<fs::path> site_packages() {
    std::vector<fs::path> folders;
    {
        const std::lock_guard lock(search_paths().mutex);
        folders.assign(search_paths().directories.begin(), search_paths().directories.end());
    }
    std::vector<std::string> ignored_notes;
    if (const fs::path prefix = absolute_variable("VIRTUAL_ENV", ignored_notes); !prefix.empty()) {
        std::error_code ignored;
        for (const auto& entry : fs::directory_iterator(prefix / "lib", ignored)) {
            if (entry.path().filename().string().rfind("python", 0) == 0) {
                folders.push_back(entry.path() / "site-packages");
            }
        }
    }
    // As part of an installed Python package we lie in site-packages/cuprum.
    for (fs::path folder = own_directory(); folder.has_relative_path();
         folder = folder.parent_path()) {
        if (folder.filename() == "site-packages" || folder.filename() == "dist-packages") {
            folders.push_back(folder);
            break;
        }
    }
    return folders;
}

/// Returns the folders of installed toolkits.
std::vector<fs::path> toolkits(std::vector<std::string>& tried) {
    std::vector<fs::path> roots;
    for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
        if (fs::path root = absolute_variable(name, tried); !root.empty()) {
            roots.push_back(std::move(root));
        }
    }
    roots.emplace_back("/usr/local/cuda");
    return roots;
}

/// Returns the folders of Python packages and of conda.
std::vector<Place> places_before_loader(const char* folder, std::vector<std::string>& tried) {
    std::vector<Place> places;
    std::size_t given = 0;
    {
        const std::lock_guard lock(search_paths().mutex);
        given = search_paths().directories.size();
    }
    static_cast<void>(absolute_variable("VIRTUAL_ENV", tried)); // says if it is not absolute
    for (const fs::path& packages : site_packages()) {
        if (given != 0) { // these may hold the libraries themselves
            places.push_back({packages.string()});
            --given;
        }
        places.push_back(packages_in(packages, folder));
    }
    if (const fs::path prefix = absolute_variable("CONDA_PREFIX", tried); !prefix.empty()) {
        places.push_back({(prefix / "lib").string()});
        places.push_back({(prefix / "targets/x86_64-linux/lib").string()});
        if (folder != nullptr) {
            places.push_back({(prefix / folder).string()});
        }
    }
    return places;
}

/// Returns the library folders of installed toolkits.
std::vector<Place> places_after_loader(const char* folder, std::vector<std::string>& tried) {
    std::vector<Place> places;
    for (const fs::path& root : toolkits(tried)) {
        for (const char* libraries : {"lib64", "lib", "targets/x86_64-linux/lib"}) {
            places.push_back({(root / libraries).string()});
        }
        if (folder != nullptr) {
            places.push_back({(root / folder).string()});
        }
    }
    return places;
}

/// Loads the newest of the wanted files that a place has.
std::optional<SharedLibrary> search(const Place& place, const LibraryRequest& request,
                                    std::vector<std::string>& tried) {
    bool is_there = false;
    for (const char* name : request.file_names) {
        for (const std::string& directory : place) {
            std::error_code ignored;
            const fs::path file = fs::path(directory) / name;
            if (!fs::exists(file, ignored)) {
                continue;
            }
            is_there = true;
            if (auto library = open_library(file.string(), tried)) {
                return library;
            }
        }
    }
    if (!is_there) {
        for (const std::string& directory : place) {
            tried.push_back(directory + ": has none");
        }
    }
    return std::nullopt;
}

/// Returns the `nvidia/*/lib` folders of a site-packages folder, and `nvidia/*/<folder>`.
Place packages_in(const fs::path& site_packages, const char* folder) {
    Place place;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(site_packages / "nvidia", ignored)) {
        for (const char* inside : {"lib", folder}) {
            if (inside != nullptr && fs::is_directory(entry.path() / inside, ignored)) {
                place.push_back((entry.path() / inside).string());
            }
        }
    }
    std::sort(place.begin(), place.end()); // folders come in no order: the same every time
    return place;
}

fs::path absolute_variable(const char* name, std::vector<std::string>& tried) {
    fs::path value = environment(name);
    if (value.is_relative() && !value.empty()) {
        tried.push_back(std::string(name) + "=" + value.string() +
                        ": not an absolute path, ignored");
        value.clear();
    }
    return value;
}

std::string path_of(void* handle, const std::string& otherwise) {
    link_map* map = nullptr;
    if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr && map->l_name != nullptr &&
        map->l_name[0] != '\0') {
        return map->l_name;
    }
    return otherwise;
}

} // namespace

} // namespace cuprum::driver

namespace cuprum::detail {

void set_library_search_paths(std::vector<std::string> directories) {
    std::erase_if(directories, [](const std::string& directory) {
        return !std::filesystem::path(directory).is_absolute();
    });
    auto& paths = driver::search_paths();
    const std::lock_guard lock(paths.mutex);
    paths.directories = std::move(directories);
}

} // namespace cuprum::detail
