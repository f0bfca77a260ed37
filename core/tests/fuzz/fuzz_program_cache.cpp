// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Reads program cache files with arbitrary content. A lookup returns exactly what was stored, or
// nothing. The first byte of an input selects how it becomes a file.

#include <cuprum/program_cache.hpp>
#include <cuprum/warning.hpp>

#include <stdlib.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <vector>

using namespace cuprum;

namespace {

/// A cache in a folder that is deleted when the process ends.
struct Place {
    Place() {
        std::string path = (std::filesystem::temp_directory_path() / "cuprum-fuzz-XXXXXX").string();
        if (::mkdtemp(path.data()) == nullptr) {
            std::abort();
        }
        folder = path;
        set_warning_handler([](WarningKind, std::string_view) {}); // of damaged files
        cache.emplace(folder);
    }

    ~Place() {
        cache.reset();
        std::error_code ignored;
        std::filesystem::remove_all(folder, ignored);
    }

    std::string folder;
    std::optional<FileStreamProgramCache> cache;
};

std::vector<char> content_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write(const std::string& path, std::span<const char> content) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(content.data(), static_cast<std::streamsize>(content.size()));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static Place place;
    if (size == 0) {
        return 0;
    }
    constexpr const char* key = "key";
    FileStreamProgramCache& cache = *place.cache;
    const std::span code(reinterpret_cast<const std::byte*>(data + 1), size - 1);
    cache.put(key, code);
    const std::string path = cache.file_of(key);
    std::vector<char> content = content_of(path);
    const bool is_damaged = data[0] % 2 != 0;
    if (is_damaged) {
        // Change the byte that the input selects, or replace the file by the input.
        if (data[0] % 4 == 1 && size > 2) {
            content[data[1] % content.size()] ^= static_cast<char>(data[2] | 1);
        } else {
            content.assign(reinterpret_cast<const char*>(data),
                           reinterpret_cast<const char*>(data) + size);
        }
        write(path, content);
    }
    const std::optional<std::vector<std::byte>> found = cache.get(key);
    const bool is_whole =
        found.has_value() && std::equal(found->begin(), found->end(), code.begin(), code.end());
    if (is_damaged ? found.has_value() && data[0] % 4 == 1 && size > 2 : !is_whole) {
        std::abort(); // a changed byte was not detected, or intact code was not found
    }
    cache.remove(key);
    return 0;
}
