// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/shared_library.hpp"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>

#include <filesystem>

namespace cuprum::detail {

namespace {

std::string path_of(void* handle, const std::string& fallback) {
    link_map* map = nullptr;
    if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr && map->l_name != nullptr &&
        map->l_name[0] != '\0') {
        return map->l_name;
    }
    return fallback;
}

} // namespace

void* SharedLibrary::find(const char* symbol) const noexcept {
    return handle == nullptr ? nullptr : ::dlsym(handle, symbol);
}

std::optional<SharedLibrary> open_library(const std::string& file,
                                          std::vector<std::string>& tried) {
    if (void* handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
        return SharedLibrary{handle, path_of(handle, file)};
    }
    const char* reason = ::dlerror();
    std::string text = reason == nullptr ? "cannot be loaded" : reason;
    // The loader starts with the file's name, as this list does.
    if (text.starts_with(file + ": ")) {
        text.erase(0, file.size() + 2);
    }
    tried.push_back(file + ": " + text);
    return std::nullopt;
}

std::optional<SharedLibrary> find_loaded_library(const char* name) {
    if (void* handle = ::dlopen(name, RTLD_NOW | RTLD_NOLOAD)) {
        return SharedLibrary{handle, path_of(handle, name)};
    }
    return std::nullopt;
}

std::string own_directory() {
    Dl_info info{};
    if (::dladdr(reinterpret_cast<const void*>(&own_directory), &info) == 0 ||
        info.dli_fname == nullptr) {
        return {};
    }
    std::error_code error;
    const std::filesystem::path file = std::filesystem::canonical(info.dli_fname, error);
    return error ? std::string() : file.parent_path().string();
}

std::string environment(const char* name) {
    const char* value = ::secure_getenv(name);
    return value == nullptr ? std::string() : std::string(value);
}

} // namespace cuprum::detail
