// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "libraries/search.hpp"

#include "libraries/nvjitlink.hpp"
#include "libraries/nvrtc.hpp"
#include "libraries/nvvm.hpp"
#include "support/once.hpp"

#include <cuprum/detail/runtime.hpp>
#include <cuprum/error.hpp>
#include <cuprum/libraries.hpp>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <initializer_list>
#include <mutex>
#include <optional>
#include <utility>

namespace cuprum::libraries {

namespace {

namespace fs = std::filesystem;

using detail::environment;
using detail::open_library;
using detail::SharedLibrary;

/// Folders that a language binding adds to the search.
struct GivenFolders {
    std::mutex mutex;
    std::vector<std::string> folders;
};

using Place = std::vector<std::string>; // folders of one rank: the newest file in any of them wins

GivenFolders& given_folders() {
    static detail::NeverDestroyed<GivenFolders> only; // destructors of others may load
    return *only;
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

/// Returns the site-packages folders that may hold CUDA's packages, the given ones first.
std::vector<fs::path> site_packages() {
    std::vector<fs::path> folders;
    {
        const std::lock_guard lock(given_folders().mutex);
        folders.assign(given_folders().folders.begin(), given_folders().folders.end());
    }
    std::vector<std::string> ignored_notes;
    if (const fs::path prefix = absolute_variable("VIRTUAL_ENV", ignored_notes); !prefix.empty()) {
        std::error_code ignored;
        for (const auto& entry : fs::directory_iterator(prefix / "lib", ignored)) {
            if (entry.path().filename().string().starts_with("python")) {
                folders.push_back(entry.path() / "site-packages");
            }
        }
    }
    // An installed Python package lies in site-packages/cuprum.
    for (fs::path folder = detail::own_directory(); folder.has_relative_path();
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

/// Appends the library folders of a conda prefix or a toolkit.
void add_places(std::vector<Place>& places, const fs::path& root,
                std::initializer_list<const char*> folders, const LibraryRequest& request) {
    for (const char* folder : folders) {
        places.push_back({(root / folder).string()});
    }
    for (const char* target : request.targets) {
        places.push_back({(root / "targets" / target / "lib").string()});
    }
    if (request.folder != nullptr) {
        places.push_back({(root / request.folder).string()});
    }
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
    std::sort(place.begin(), place.end()); // the file system lists them in no fixed order
    return place;
}

/// Returns the library folders of Python packages and of conda.
std::vector<Place> places_before_loader(const LibraryRequest& request,
                                        std::vector<std::string>& tried) {
    std::vector<Place> places;
    std::size_t given = 0;
    {
        const std::lock_guard lock(given_folders().mutex);
        given = given_folders().folders.size();
    }
    static_cast<void>(absolute_variable("VIRTUAL_ENV", tried)); // notes a path that is relative
    for (const fs::path& packages : site_packages()) {
        if (given != 0) { // a given folder may hold the libraries themselves
            places.push_back({packages.string()});
            --given;
        }
        places.push_back(packages_in(packages, request.folder));
    }
    if (const fs::path prefix = absolute_variable("CONDA_PREFIX", tried); !prefix.empty()) {
        add_places(places, prefix, {"lib"}, request);
    }
    return places;
}

/// Returns the library folders of installed toolkits.
std::vector<Place> places_after_loader(const LibraryRequest& request,
                                       std::vector<std::string>& tried) {
    std::vector<Place> places;
    for (const fs::path& root : toolkits(tried)) {
        add_places(places, root, {"lib64", "lib"}, request);
    }
    return places;
}

/// Loads the newest of the requested files that a place has.
std::optional<SharedLibrary> search(const Place& place, const LibraryRequest& request,
                                    std::vector<std::string>& tried) {
    bool has_file = false;
    for (const char* name : request.file_names) {
        for (const std::string& directory : place) {
            std::error_code ignored;
            const fs::path file = fs::path(directory) / name;
            if (!fs::exists(file, ignored)) {
                continue;
            }
            has_file = true;
            if (auto library = open_library(file.string(), tried)) {
                return library;
            }
        }
    }
    if (!has_file) {
        for (const std::string& directory : place) {
            tried.push_back(directory + ": has none");
        }
    }
    return std::nullopt;
}

} // namespace

SharedLibrary load_library(const LibraryRequest& request) {
    std::vector<std::string> tried;
    for (const char* name : request.file_names) {
        if (auto library = detail::find_loaded_library(name)) {
            return *std::move(library);
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

    for (const Place& place : places_before_loader(request, tried)) {
        if (auto library = search(place, request, tried)) {
            return *std::move(library);
        }
    }
    for (const char* name : request.file_names) {
        if (auto library = open_library(name, tried)) {
            return *std::move(library);
        }
    }
    for (const Place& place : places_after_loader(request, tried)) {
        if (auto library = search(place, request, tried)) {
            return *std::move(library);
        }
    }
    throw LibraryNotFoundError(request.name, std::move(tried), request.advice);
}

std::vector<std::string> component_roots(Targets targets) {
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
    std::vector<std::string> ignored_notes; // no library is wanted, so there is nothing to report
    if (const fs::path prefix = absolute_variable("CONDA_PREFIX", ignored_notes); !prefix.empty()) {
        for (const char* target : targets) {
            roots.push_back((prefix / "targets" / target).string());
        }
        roots.push_back(prefix.string());
    }
    for (const fs::path& root : toolkits(ignored_notes)) {
        roots.push_back(root.string());
    }
    return roots;
}

} // namespace cuprum::libraries

namespace cuprum::detail {

void set_library_search_paths(std::vector<std::string> directories) {
    std::erase_if(directories, [](const std::string& directory) {
        return !std::filesystem::path(directory).is_absolute();
    });
    auto& given = libraries::given_folders();
    const std::lock_guard lock(given.mutex);
    given.folders = std::move(directories);
}

} // namespace cuprum::detail

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
