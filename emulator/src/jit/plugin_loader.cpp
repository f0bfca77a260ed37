// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "jit/plugin_loader.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

namespace cuprum::emulator::jit {

namespace {

constexpr const char* PLUGIN_NAME = "libcuprum_jit.so";

struct Loaded {
    const Plugin* plugin = nullptr;
    std::string problem;
    std::string build;
};

/// Looks for a library that contains an address, and its build ID.
struct BuildIdSearch {
    std::uintptr_t address;
    std::string found;
};

int find_build_id(dl_phdr_info* library, std::size_t /*bytes*/, void* data) {
    auto& search = *static_cast<BuildIdSearch*>(data);
    const std::span segments(library->dlpi_phdr, library->dlpi_phnum);
    const bool is_it = std::ranges::any_of(segments, [&](const ElfW(Phdr) & segment) {
        return segment.p_type == PT_LOAD &&
               search.address - library->dlpi_addr - segment.p_vaddr < segment.p_memsz;
    });
    if (!is_it) {
        return 0;
    }
    constexpr std::size_t alignment = 4;
    const auto rounded = [](std::size_t bytes) {
        return (bytes + alignment - 1) / alignment * alignment;
    };
    for (const ElfW(Phdr) & segment : segments) {
        if (segment.p_type != PT_NOTE) {
            continue;
        }
        const auto* const notes =
            reinterpret_cast<const char*>(library->dlpi_addr + segment.p_vaddr);
        for (std::size_t at = 0; at + sizeof(ElfW(Nhdr)) <= segment.p_memsz;) {
            const auto& note = *reinterpret_cast<const ElfW(Nhdr)*>(notes + at);
            const std::size_t contents = at + sizeof note + rounded(note.n_namesz);
            const std::string_view owner(notes + at + sizeof note, note.n_namesz);
            if (note.n_type == NT_GNU_BUILD_ID && owner == std::string_view("GNU", 4)) {
                search.found.assign(notes + contents, note.n_descsz);
            }
            at = contents + rounded(note.n_descsz);
        }
    }
    return 1;
}

/// Returns the build ID of the library that contains an address. Empty if it has none.
std::string build_id_of(const void* address) {
    BuildIdSearch search{reinterpret_cast<std::uintptr_t>(address), {}};
    (void)::dl_iterate_phdr(find_build_id, &search);
    return search.found;
}

/// Opens the plug-in beside this library. Nothing else decides where it is.
Loaded open_plugin() {
    Dl_info here{};
    if (::dladdr(reinterpret_cast<const void*>(&open_plugin), &here) == 0 ||
        here.dli_fname == nullptr) {
        return {.plugin = nullptr,
                .problem = "the folder of the emulated device is unknown",
                .build = {}};
    }
    const std::string library = here.dli_fname;
    const std::size_t slash = library.rfind('/');
    if (slash == std::string::npos || library.front() != '/') {
        return {.plugin = nullptr,
                .problem = "the emulated device was not opened by an absolute path",
                .build = {}};
    }
    const std::string path = library.substr(0, slash + 1) + PLUGIN_NAME;
    void* const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        const char* const why = ::dlerror();
        return {.plugin = nullptr,
                .problem = why == nullptr ? "cannot open " + path : why,
                .build = {}};
    }
    const auto function = reinterpret_cast<PluginFunction>(::dlsym(handle, PLUGIN_FUNCTION));
    const Plugin* const plugin = function == nullptr ? nullptr : function();
    if (plugin == nullptr || plugin->layout != PLUGIN_LAYOUT) {
        ::dlclose(handle);
        return {.plugin = nullptr,
                .problem = path + " belongs to another build of the emulated device",
                .build = {}};
    }
    return {.plugin = plugin, .problem = {}, .build = build_id_of(plugin)};
}

const Loaded& loaded() {
    static const Loaded* const result = new Loaded(open_plugin()); // never destroyed
    return *result;
}

} // namespace

const Plugin* plugin() {
    return loaded().plugin;
}

const std::string& plugin_build() {
    return loaded().build;
}

std::string plugin_problem() {
    return loaded().problem;
}

} // namespace cuprum::emulator::jit
