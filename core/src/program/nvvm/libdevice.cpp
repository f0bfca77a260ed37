// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "program/nvvm/libdevice.hpp"

#include "libraries/nvvm/table.hpp"
#include "support/file.hpp"

#include <cuprum/error.hpp>

#include <cstddef>
#include <filesystem>
#include <system_error>
#include <vector>

namespace cuprum::nvvm {

namespace {

namespace fs = std::filesystem;

constexpr const char* LIBDEVICE_FILE = "libdevice.10.bc";

[[nodiscard]] std::string load_libdevice();
[[nodiscard]] std::vector<fs::path> libdevice_candidates();

} // namespace

const std::string& libdevice() {
    static const std::string code = load_libdevice(); // the next caller retries after a failure
    return code;
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

std::string load_libdevice() {
    std::vector<std::string> tried;
    for (const fs::path& file : libdevice_candidates()) {
        std::error_code ignored;
        if (file.is_absolute() && fs::is_regular_file(file, ignored)) {
            try {
                const std::vector<std::byte> bytes = detail::read_file(file.string());
                return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
            } catch (const std::system_error& error) {
                tried.emplace_back(error.what());
                continue;
            }
        }
        tried.push_back(file.string() + ": no such file");
    }
    throw LibraryNotFoundError("libdevice", tried,
                               "install it with `pip install nvidia-nvvm` (CUDA 12: "
                               "nvidia-cuda-nvcc-cu12), install the CUDA toolkit, or set "
                               "CUPRUM_LIBDEVICE to the path of libdevice.10.bc");
}

std::vector<fs::path> libdevice_candidates() {
    std::vector<fs::path> candidates;
    if (const std::string file = detail::environment("CUPRUM_LIBDEVICE"); !file.empty()) {
        candidates.emplace_back(file);
    }
    try {
        // A toolkit has the library in nvvm/lib64, a Python package of CUDA 13 in lib.
        const fs::path library = Library::loaded().file.path;
        const fs::path root = library.parent_path().parent_path();
        candidates.push_back(root / "libdevice" / LIBDEVICE_FILE);
        candidates.push_back(root / "nvvm" / "libdevice" / LIBDEVICE_FILE);
    } catch (const LibraryNotFoundError&) { // NOLINT(bugprone-empty-catch)
        // There may be bitcode without libNVVM.
    }
    for (const std::string& root : libraries::component_roots()) {
        candidates.push_back(fs::path(root) / "nvvm" / "libdevice" / LIBDEVICE_FILE);
    }
    return candidates;
}

} // namespace

} // namespace cuprum::nvvm
