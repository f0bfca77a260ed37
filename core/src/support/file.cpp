// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/file.hpp"

#include <elf.h>
#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <vector>

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

namespace {

constexpr std::size_t MAX_NOTES_BYTES = std::size_t{1} << 16;

/// Reads a structure at an offset; false if the file ends before.
template <typename T>
bool read_at(std::ifstream& file, std::uint64_t offset, T& value) {
    file.clear();
    file.seekg(static_cast<std::streamoff>(offset));
    file.read(reinterpret_cast<char*>(&value), sizeof(value));
    return file.good();
}

/// Finds the build id in the notes of a segment. The sizes in the file are not trusted.
std::string build_id_in(std::string_view notes) {
    static constexpr std::string_view OWNER("GNU\0", 4);
    static constexpr std::string_view DIGITS = "0123456789abcdef";
    const auto padded = [](std::size_t bytes) { return (bytes + 3) / 4 * 4; };
    while (notes.size() > sizeof(Elf64_Nhdr)) {
        Elf64_Nhdr note{};
        std::memcpy(&note, notes.data(), sizeof(note));
        notes.remove_prefix(sizeof(note));
        const std::size_t name_bytes = padded(note.n_namesz);
        const std::size_t total_bytes = name_bytes + padded(note.n_descsz);
        if (name_bytes > notes.size() || note.n_descsz > notes.size() - name_bytes) {
            return {};
        }
        if (note.n_type == NT_GNU_BUILD_ID && notes.substr(0, note.n_namesz) == OWNER) {
            std::string text;
            for (const char character : notes.substr(name_bytes, note.n_descsz)) {
                const auto byte = static_cast<unsigned char>(character);
                text += DIGITS[byte >> 4U];
                text += DIGITS[byte & 15U];
            }
            return text;
        }
        notes.remove_prefix(std::min(total_bytes, notes.size()));
    }
    return {};
}

/// Returns the build id of an ELF file of 64 bits as hexadecimal digits; empty if it has none.
std::string build_id_of(std::ifstream& file) {
    Elf64_Ehdr header{};
    if (!read_at(file, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr)) {
        return {};
    }
    for (std::size_t i = 0; i < header.e_phnum; ++i) {
        Elf64_Phdr segment{};
        if (!read_at(file, header.e_phoff + i * sizeof(segment), segment)) {
            return {};
        }
        if (segment.p_type != PT_NOTE) {
            continue;
        }
        std::string notes(std::min<std::size_t>(segment.p_filesz, MAX_NOTES_BYTES), '\0');
        file.seekg(static_cast<std::streamoff>(segment.p_offset));
        file.read(notes.data(), static_cast<std::streamsize>(notes.size()));
        notes.resize(static_cast<std::size_t>(file.gcount()));
        if (std::string id = build_id_in(notes); !id.empty()) {
            return id;
        }
    }
    return {};
}

} // namespace

std::string file_identity(const std::string& path) {
    struct stat status{};
    if (path.empty() || ::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
        return {};
    }
    std::ifstream file(path, std::ios::binary);
    if (std::string id = build_id_of(file); !id.empty()) {
        return "build id " + id;
    }
    return "size " + std::to_string(status.st_size) + ", time " +
           std::to_string(status.st_mtim.tv_sec) + "." + std::to_string(status.st_mtim.tv_nsec);
}

} // namespace cuprum::detail
