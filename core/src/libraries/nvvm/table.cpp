// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "libraries/nvvm/table.hpp"

#include "support/never_destroyed.hpp"
#include "support/shared_library.hpp"

#include <cuprum/error.hpp>

#include <array>
#include <mutex>
#include <string_view>

namespace cuprum::nvvm {

namespace {

constexpr int MIN_VERSION = 12000;

// Ready before any constructor runs, as the driver's.
constinit Table library_table;
constinit std::atomic<Table*> active_table{&library_table};
constinit std::mutex path_mutex;
std::string& loaded_path();

[[nodiscard]] driver::SharedLibrary load();

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
    throw NotSupportedError(name, MIN_VERSION, MIN_VERSION);
}

std::string library_path() {
    const std::lock_guard lock(path_mutex);
    return loaded_path();
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

std::string& loaded_path() {
    static cuprum::detail::NeverDestroyed<std::string> path; // destructors may compile
    return *path;
}

driver::SharedLibrary load() {
    static constexpr std::array FILE_NAMES{"libnvvm.so.4"};
    static constexpr std::string_view ADVICE =
        "install it with `pip install nvidia-nvvm` (CUDA 12: nvidia-cuda-nvcc-cu12), install the "
        "CUDA toolkit (12 or 13), or set CUPRUM_NVVM to the path of libnvvm.so";
    driver::SharedLibrary library = driver::load_library({.name = "libNVVM",
                                                          .file_names = FILE_NAMES,
                                                          .variable = "CUPRUM_NVVM",
                                                          .advice = ADVICE,
                                                          .folder = "nvvm/lib64"});
    const std::lock_guard lock(path_mutex);
    loaded_path() = library.path;
    return library;
}

} // namespace

} // namespace cuprum::nvvm
