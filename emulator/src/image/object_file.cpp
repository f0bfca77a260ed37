// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// nvcc puts device code into sections of the host's object files: .nv_fatbin, or __nv_relfatbin for
// code that is to be linked (-rdc=true). Each holds one fatbin after another, aligned to 8 bytes.
// An archive is a magic of 8 bytes and members, each behind a header of 60 that states its size in
// decimal at byte 48.

#include "image/object_file.hpp"

#include "image/formats.hpp"

#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace cuprum::emulator {

namespace {

constexpr std::size_t SECTION_HEADER_BYTES = 64;
constexpr std::size_t MEMBER_HEADER_BYTES = 60;

bool starts_with(Bytes bytes, std::string_view magic) noexcept {
    return bytes.size() >= magic.size() &&
           std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

/// Returns a part of `bytes`. Empty if it is not inside.
std::optional<Bytes> part(Bytes bytes, std::uint64_t offset, std::uint64_t size) noexcept {
    if (offset > bytes.size() || size > bytes.size() - offset) {
        return std::nullopt;
    }
    return bytes.subspan(offset, size);
}

bool is_host_elf(Bytes bytes) noexcept {
    constexpr std::size_t CLASS_OFFSET = 4;
    constexpr std::size_t MACHINE_OFFSET = 18;
    constexpr unsigned char CLASS_64 = 2;
    return bytes.size() >= ELF_HEADER_BYTES && starts_with(bytes, ELF_MAGIC) &&
           bytes[CLASS_OFFSET] == CLASS_64 &&
           load<std::uint16_t>(bytes, MACHINE_OFFSET) != MACHINE_CUDA;
}

/// One entry of an ELF file's table of sections.
struct Section {
    std::uint32_t name; // in the section of names
    Bytes contents;
};

std::optional<Section> section_at(Bytes elf, std::uint64_t index) noexcept {
    constexpr std::size_t TABLE_OFFSET = 40;
    constexpr std::size_t OFFSET_OFFSET = 24;
    constexpr std::size_t SIZE_OFFSET = 32;
    const auto table = load<std::uint64_t>(elf, TABLE_OFFSET);
    if (table > elf.size()) {
        return std::nullopt;
    }
    const auto header = part(elf, table + index * SECTION_HEADER_BYTES, SECTION_HEADER_BYTES);
    if (!header) {
        return std::nullopt;
    }
    const auto contents = part(elf, load<std::uint64_t>(*header, OFFSET_OFFSET),
                               load<std::uint64_t>(*header, SIZE_OFFSET));
    if (!contents) {
        return std::nullopt;
    }
    return Section{load<std::uint32_t>(*header, 0), *contents};
}

bool holds_device_code(const Section& section, Bytes names) noexcept {
    for (const std::string_view wanted : {".nv_fatbin", "__nv_relfatbin"}) {
        const auto name = part(names, section.name, wanted.size() + 1); // and its NUL
        if (name && starts_with(*name, wanted) && name->back() == 0) {
            return true;
        }
    }
    return false;
}

/// Adds the fatbins of one section.
void split(Bytes contents, std::vector<Bytes>& fatbins) {
    constexpr std::size_t ALIGNMENT = 8;
    std::size_t offset = 0;
    while (const auto header = part(contents, offset, FATBIN_HEADER_BYTES)) {
        if (!starts_with(*header, FATBIN_MAGIC)) {
            offset += ALIGNMENT; // padding
            continue;
        }
        const auto payload = load<std::uint64_t>(*header, 8);
        const auto header_size = load<std::uint16_t>(*header, 6);
        if (header_size < FATBIN_HEADER_BYTES || payload > contents.size()) {
            return;
        }
        const auto fatbin = part(contents, offset, header_size + payload);
        if (!fatbin) {
            return;
        }
        if (payload != 0) {
            fatbins.push_back(*fatbin);
        }
        offset += (fatbin->size() + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
}

void find_in_object(Bytes elf, std::vector<Bytes>& fatbins) {
    constexpr std::size_t ENTRY_SIZE_OFFSET = 58;
    constexpr std::size_t COUNT_OFFSET = 60;
    constexpr std::size_t NAMES_OFFSET = 62;
    const auto names = section_at(elf, load<std::uint16_t>(elf, NAMES_OFFSET));
    if (!names || load<std::uint16_t>(elf, ENTRY_SIZE_OFFSET) != SECTION_HEADER_BYTES) {
        return;
    }
    const auto count = load<std::uint16_t>(elf, COUNT_OFFSET);
    for (std::uint16_t index = 0; index < count; ++index) {
        const auto section = section_at(elf, index);
        if (section && holds_device_code(*section, names->contents)) {
            split(section->contents, fatbins);
        }
    }
}

void find_in_archive(Bytes archive, std::vector<Bytes>& fatbins) {
    constexpr std::size_t SIZE_OFFSET = 48;
    constexpr std::size_t SIZE_DIGITS = 10;
    std::size_t offset = ARCHIVE_MAGIC.size();
    while (const auto header = part(archive, offset, MEMBER_HEADER_BYTES)) {
        const char* const digits = reinterpret_cast<const char*>(header->data()) + SIZE_OFFSET;
        std::uint64_t size = 0;
        if (std::from_chars(digits, digits + SIZE_DIGITS, size).ec != std::errc()) {
            return;
        }
        offset += MEMBER_HEADER_BYTES;
        const auto member = part(archive, offset, size);
        if (!member) {
            return;
        }
        if (is_host_elf(*member)) {
            find_in_object(*member, fatbins);
        }
        offset += size + size % 2;
    }
}

} // namespace

bool is_archive(Bytes bytes) noexcept {
    return starts_with(bytes, ARCHIVE_MAGIC);
}

bool is_object_file(Bytes bytes) noexcept {
    return is_archive(bytes) || is_host_elf(bytes);
}

std::vector<Bytes> find_fatbins(Bytes bytes) {
    std::vector<Bytes> fatbins;
    if (starts_with(bytes, ARCHIVE_MAGIC)) {
        find_in_archive(bytes, fatbins);
    } else if (is_host_elf(bytes)) {
        find_in_object(bytes, fatbins);
    }
    return fatbins;
}

} // namespace cuprum::emulator
