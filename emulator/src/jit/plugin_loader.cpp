// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "jit/plugin_loader.hpp"

#include <dlfcn.h>

namespace cuprum::emulator::jit {

namespace {

constexpr const char* PLUGIN_NAME = "libcuprum_jit.so";

struct Loaded {
    const Plugin* plugin = nullptr;
    std::string problem;
};

/// Opens the plug-in beside this library. Nothing else decides where it is.
Loaded open_plugin() {
    Dl_info here{};
    if (::dladdr(reinterpret_cast<const void*>(&open_plugin), &here) == 0 ||
        here.dli_fname == nullptr) {
        return {nullptr, "the folder of the emulated device is unknown"};
    }
    const std::string library = here.dli_fname;
    const std::size_t slash = library.rfind('/');
    if (slash == std::string::npos || library.front() != '/') {
        return {nullptr, "the emulated device was not opened by an absolute path"};
    }
    const std::string path = library.substr(0, slash + 1) + PLUGIN_NAME;
    void* const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        const char* const why = ::dlerror();
        return {nullptr, why == nullptr ? "cannot open " + path : why};
    }
    const auto function = reinterpret_cast<PluginFunction>(::dlsym(handle, PLUGIN_FUNCTION));
    const Plugin* const plugin = function == nullptr ? nullptr : function();
    if (plugin == nullptr || plugin->layout != PLUGIN_LAYOUT) {
        ::dlclose(handle);
        return {nullptr, path + " belongs to another build of the emulated device"};
    }
    return {plugin, {}};
}

const Loaded& loaded() {
    static const Loaded* const result = new Loaded(open_plugin()); // never destroyed
    return *result;
}

} // namespace

const Plugin* plugin() {
    return loaded().plugin;
}

std::string plugin_problem() {
    return loaded().problem;
}

} // namespace cuprum::emulator::jit
