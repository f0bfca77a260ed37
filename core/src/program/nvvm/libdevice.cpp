// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/shared_library.hpp"
#include "program/nvvm/compilation.hpp"
#include "support/file.hpp"

#include <cuprum/error.hpp>

#include <filesystem>
#include <system_error>
#include <vector>

namespace cuprum::nvvm {

namespace {

[[nodiscard]] std::string load_libdevice();

} // namespace

const std::string& libdevice() {
    static const std::string code = load_libdevice(); // a failure is tried again
    return code;
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

std::string load_libdevice() {
    namespace fs = std::filesystem;
    static constexpr const char* FILE_NAME = "libdevice.10.bc";
    std::vector<fs::path> candidates;
    if (const std::string file = driver::environment("CUPRUM_LIBDEVICE"); !file.empty()) {
        candidates.emplace_back(file);
    }
    if (const fs::path library = library_path(); !library.empty()) {
        // In a toolkit the library is in nvvm/lib64, in Python's packages of CUDA 13 in lib.
        const fs::path root = library.parent_path().parent_path();
        candidates.push_back(root / "libdevice" / FILE_NAME);
        candidates.push_back(root / "nvvm" / "libdevice" / FILE_NAME);
    }
    for (const std::string& root : driver::component_roots()) {
        candidates.push_back(fs::path(root) / "nvvm" / "libdevice" / FILE_NAME);
    }
    std::vector<std::string> tried;
    for (const fs::path& file : candidates) {
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

} // namespace

} // namespace cuprum::nvvm
