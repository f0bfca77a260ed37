// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/file.hpp"

#include <errno.h>
#include <unistd.h>

#include <cstdio>
#include <system_error>

namespace cuprum::detail {

std::vector<std::byte> read_file(const std::string& path) {
    static constexpr std::size_t CHUNK_BYTES = 65536;
    std::vector<std::byte> bytes;
    errno = 0;
    std::FILE* const file = std::fopen(path.c_str(), "rb");
    bool is_read = file != nullptr;
    if (is_read) {
        // In chunks: only regular files know their size.
        std::size_t got = CHUNK_BYTES;
        while (got == CHUNK_BYTES) {
            const std::size_t before = bytes.size();
            bytes.resize(before + CHUNK_BYTES);
            got = std::fread(bytes.data() + before, 1, CHUNK_BYTES, file);
            bytes.resize(before + got);
        }
        is_read = std::ferror(file) == 0;
    }
    const int error = errno;
    if (file != nullptr) {
        std::fclose(file);
    }
    if (!is_read) {
        throw std::system_error(error, std::generic_category(), "\"" + path + "\" cannot be read");
    }
    return bytes;
}

int write_all(int descriptor, std::span<const std::byte> bytes) noexcept {
    while (!bytes.empty()) {
        const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
        if (written >= 0) {
            bytes = bytes.subspan(static_cast<std::size_t>(written));
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

} // namespace cuprum::detail
