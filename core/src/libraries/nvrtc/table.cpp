// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "libraries/nvrtc/table.hpp"

#include "support/shared_library.hpp"

#include <cuprum/error.hpp>

#include <dlfcn.h>

#include <array>
#include <filesystem>
#include <string>
#include <string_view>

namespace cuprum::nvrtc {

namespace {

constexpr int MIN_MAJOR_VERSION = 12;
constexpr int PCH_VERSION = 12080;
constexpr int FLOW_CALLBACK_VERSION = 12090;

// Ready before any constructor runs, as the driver's.
constinit Table library_table;
constinit std::atomic<Table*> active_table{&library_table};

struct Library {
    driver::SharedLibrary file;
    int version = 0; // as the driver counts: 13000 for 13.0
};

[[nodiscard]] Library load();
void load_builtins(const void* inside_nvrtc, int major, int minor);

} // namespace

Table& table() noexcept {
    return *active_table.load(std::memory_order_acquire);
}

Table* exchange_table(Table* replacement) noexcept {
    return active_table.exchange(replacement, std::memory_order_acq_rel);
}

void* resolve(const char* name) {
    static const Library library = load(); // a failure is tried again by the next caller
    if (void* const address = library.file.find(name)) {
        return address;
    }
    const std::string_view function = name;
    const int needed = function.find("PCH") != std::string_view::npos ? PCH_VERSION
                       : function == "nvrtcSetFlowCallback"           ? FLOW_CALLBACK_VERSION
                                                                      : MIN_MAJOR_VERSION * 1000;
    throw NotSupportedError(name, needed, library.version);
}

std::string library_path() {
    int major = 0;
    int minor = 0;
    if (table().nvrtcVersion(&major, &minor) != NVRTC_SUCCESS) {
        return {};
    }
    Dl_info info{};
    const auto address = table().nvrtcVersion.address.load(std::memory_order_relaxed);
    if (dladdr(reinterpret_cast<const void*>(address), &info) == 0 || info.dli_fname == nullptr) {
        return {};
    }
    std::error_code error;
    const std::filesystem::path file = std::filesystem::canonical(info.dli_fname, error);
    // A fake compiler lies in the program itself.
    return !error && file.filename().string().starts_with("libnvrtc") ? file.string()
                                                                      : std::string();
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

Library load() {
    static constexpr std::array FILE_NAMES{"libnvrtc.so.13", "libnvrtc.so.12"};
    static constexpr std::string_view ADVICE =
        "install it with `pip install nvidia-cuda-nvrtc`, install the CUDA toolkit (12 or 13), or "
        "set CUPRUM_NVRTC to the path of libnvrtc.so";
    Library library{driver::load_library(
        {.name = "NVRTC", .file_names = FILE_NAMES, .variable = "CUPRUM_NVRTC", .advice = ADVICE})};
    int major = 0;
    int minor = 0;
    const auto version =
        reinterpret_cast<decltype(&::nvrtcVersion)>(library.file.find("nvrtcVersion"));
    if (version == nullptr || version(&major, &minor) != NVRTC_SUCCESS ||
        major < MIN_MAJOR_VERSION) {
        throw LibraryNotFoundError("NVRTC",
                                   {library.file.path + ": version " + std::to_string(major) + "." +
                                    std::to_string(minor) + " is too old, 12.0 is needed"},
                                   ADVICE);
    }
    library.version = major * 1000 + minor * 10;
    load_builtins(reinterpret_cast<const void*>(version), major, minor);
    return library;
}

/// NVRTC opens a second library by its bare name when it first compiles, and in the wheels nothing
/// tells the loader where that is. Once it is loaded from NVRTC's own folder, the name suffices.
void load_builtins(const void* inside_nvrtc, int major, int minor) {
    Dl_info info{};
    if (dladdr(inside_nvrtc, &info) == 0 || info.dli_fname == nullptr) {
        return;
    }
    const std::filesystem::path folder = std::filesystem::path(info.dli_fname).parent_path();
    if (!folder.is_absolute()) {
        return; // the system's loader found NVRTC and will find this
    }
    const std::filesystem::path file =
        folder / ("libnvrtc-builtins.so." + std::to_string(major) + "." + std::to_string(minor));
    // If this fails, NVRTC says so itself, with the name, when it compiles.
    static_cast<void>(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL));
}

} // namespace

} // namespace cuprum::nvrtc
