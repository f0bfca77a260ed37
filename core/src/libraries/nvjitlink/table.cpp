// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "libraries/nvjitlink/table.hpp"

#include "support/shared_library.hpp"

#include <cuprum/error.hpp>

#include <array>
#include <string_view>

namespace cuprum::nvjitlink {

namespace {

constexpr int MIN_VERSION = 12030;

// Ready before any constructor runs, as the driver's.
constinit Table library_table;
constinit std::atomic<Table*> active_table{&library_table};

[[nodiscard]] driver::SharedLibrary load();
[[nodiscard]] int version_of(const driver::SharedLibrary& library);

} // namespace

Table& table() noexcept {
    return *active_table.load(std::memory_order_acquire);
}

Table* exchange_table(Table* replacement) noexcept {
    return active_table.exchange(replacement, std::memory_order_acq_rel);
}

void* resolve(const char* name) {
    static const driver::SharedLibrary library = load(); // a failure is tried again
    if (void* const address = library.find(name)) {
        return address;
    }
    throw NotSupportedError(name, MIN_VERSION, version_of(library));
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

driver::SharedLibrary load() {
    static constexpr std::array FILE_NAMES{"libnvJitLink.so.13", "libnvJitLink.so.12"};
    static constexpr std::string_view ADVICE =
        "install it with `pip install nvidia-nvjitlink`, install the CUDA toolkit (12 or 13), or "
        "set CUPRUM_NVJITLINK to the path of libnvJitLink.so";
    return driver::load_library({.name = "nvJitLink",
                                 .file_names = FILE_NAMES,
                                 .variable = "CUPRUM_NVJITLINK",
                                 .advice = ADVICE});
}

int version_of(const driver::SharedLibrary& library) {
    static constexpr int BEFORE_IT_TOLD = 12000;
    unsigned major = 0;
    unsigned minor = 0;
    const auto version =
        reinterpret_cast<decltype(&::nvJitLinkVersion)>(library.find("nvJitLinkVersion"));
    if (version == nullptr || version(&major, &minor) != NVJITLINK_SUCCESS) {
        return BEFORE_IT_TOLD;
    }
    return static_cast<int>(major * 1000 + minor * 10);
}

} // namespace

} // namespace cuprum::nvjitlink
