// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "places/symbol_file.hpp"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <optional>
#include <sys/mman.h>
#include <sys/stat.h>

namespace cuprum::emulator::places {

namespace {

using Bytes = std::span<const std::byte>;

/// Returns `size` bytes of a file at an offset; empty if they do not fit.
Bytes part(Bytes file, std::uint64_t offset, std::uint64_t size) {
    return offset <= file.size() && size <= file.size() - offset ? file.subspan(offset, size)
                                                                 : Bytes{};
}

/// Reads a table element at any alignment.
template <typename T>
std::optional<T> read(Bytes table, std::uint64_t index) {
    if (index >= table.size() / sizeof(T)) {
        return std::nullopt;
    }
    T value;
    std::memcpy(&value, table.data() + index * sizeof(T), sizeof(T));
    return value;
}

std::string name_at(Bytes names, std::uint64_t offset) {
    if (offset >= names.size()) {
        return {};
    }
    const auto* const start = reinterpret_cast<const char*>(names.data()) + offset;
    return {start, ::strnlen(start, names.size() - offset)};
}

Symbol find_in(Bytes symbols, Bytes names, std::uint64_t address) {
    for (std::uint64_t i = 0; i < symbols.size() / sizeof(Elf64_Sym); ++i) {
        const auto symbol = *read<Elf64_Sym>(symbols, i);
        if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF &&
            address - symbol.st_value < symbol.st_size) {
            return {name_at(names, symbol.st_name), symbol.st_value};
        }
    }
    return {};
}

} // namespace

Symbol find_symbol(const char* path, std::uint64_t address) {
    const int descriptor = ::open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
        return {};
    }
    struct stat about{};
    const bool has_size = ::fstat(descriptor, &about) == 0 && about.st_size > 0;
    const auto size = has_size ? static_cast<std::size_t>(about.st_size) : 0;
    void* const bytes =
        has_size ? ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0) : MAP_FAILED;
    ::close(descriptor);
    if (bytes == MAP_FAILED) {
        return {};
    }
    Symbol found;
    try {
        found = find_symbol({static_cast<const std::byte*>(bytes), size}, address);
    } catch (...) {
        ::munmap(bytes, size);
        throw;
    }
    ::munmap(bytes, size);
    return found;
}

Symbol find_symbol(std::span<const std::byte> file, std::uint64_t address) {
    const auto header = read<Elf64_Ehdr>(file, 0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_shentsize != sizeof(Elf64_Shdr)) {
        return {};
    }
    const Bytes sections = part(file, header->e_shoff, header->e_shnum * sizeof(Elf64_Shdr));
    for (std::uint64_t i = 0; i < sections.size() / sizeof(Elf64_Shdr); ++i) {
        const auto section = *read<Elf64_Shdr>(sections, i);
        if (section.sh_type != SHT_SYMTAB) {
            continue;
        }
        const auto names = read<Elf64_Shdr>(sections, section.sh_link);
        if (!names) {
            continue;
        }
        Symbol found = find_in(part(file, section.sh_offset, section.sh_size),
                               part(file, names->sh_offset, names->sh_size), address);
        if (!found.name.empty()) {
            return found;
        }
    }
    return {};
}

} // namespace cuprum::emulator::places
