// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "program/code/image.hpp"

#include <cuprum/error.hpp>

#include <cuda.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>

namespace cuprum::detail {

namespace {

constexpr std::uint32_t ELF_MAGIC = 0x464C457F;
constexpr std::uint32_t LTOIR_MAGIC = 0x7F4E43ED;
constexpr std::uint32_t WRAPPER_MAGIC = 0x466243B1;
constexpr std::size_t ELF_HEADER_BYTES = 64;
constexpr std::size_t ELF_SECTION_BYTES = 64;
constexpr std::size_t FATBIN_HEADER_BYTES = 16;
constexpr std::size_t LTOIR_HEADER_BYTES = 24;

/// Returns the number at an offset, or 0 beyond the end.
template <typename T>
[[nodiscard]] T number_at(std::span<const std::byte> code, std::size_t offset) noexcept {
    T number = 0;
    if (offset <= code.size() && sizeof(T) <= code.size() - offset) {
        std::memcpy(&number, code.data() + offset, sizeof(T));
    }
    return number;
}

std::uint64_t end_of(std::uint64_t offset, std::uint64_t bytes) noexcept {
    return offset > UINT64_MAX - bytes ? UINT64_MAX : offset + bytes;
}

/// Returns the end of the last section of an ELF file, among those whose headers are present.
std::uint64_t end_of_sections(std::span<const std::byte> code) noexcept {
    static constexpr std::uint32_t WITHOUT_BYTES = 8; // SHT_NOBITS: takes no room in the file
    static constexpr std::uint32_t FIRST_SPECIAL = 0x70000000; // NVIDIA's own kinds, undocumented
    const auto table = number_at<std::uint64_t>(code, 40);
    const auto stride = number_at<std::uint16_t>(code, 58);
    const auto count = number_at<std::uint16_t>(code, 60);
    std::uint64_t end = 0;
    for (std::uint64_t i = 0; stride >= ELF_SECTION_BYTES && i < count; ++i) {
        if (table > code.size() || (i + 1) * stride > code.size() - table) {
            break; // the table itself is truncated
        }
        const std::size_t header = table + i * stride;
        const auto kind = number_at<std::uint32_t>(code, header + 4);
        if (kind != WITHOUT_BYTES && kind < FIRST_SPECIAL) {
            end = std::max(end, end_of(number_at<std::uint64_t>(code, header + 24),
                                       number_at<std::uint64_t>(code, header + 32)));
        }
    }
    return end;
}

std::optional<std::uint64_t> bytes_needed(std::span<const std::byte> code) noexcept {
    const auto magic = number_at<std::uint32_t>(code, 0);
    if (magic == FATBIN_MAGIC) {
        const auto payload = number_at<std::uint64_t>(code, 8);
        return payload > UINT64_MAX - FATBIN_HEADER_BYTES ? UINT64_MAX
                                                          : FATBIN_HEADER_BYTES + payload;
    }
    if (magic == LTOIR_MAGIC) {
        // The ends of its two parts.
        return std::max<std::uint64_t>({LTOIR_HEADER_BYTES, number_at<std::uint32_t>(code, 16),
                                        number_at<std::uint32_t>(code, 20)});
    }
    if (magic == ELF_MAGIC) {
        if (code.size() < ELF_HEADER_BYTES) {
            return ELF_HEADER_BYTES;
        }
        // The section headers come last, except for the program headers.
        const auto table_end = [&](std::size_t offset_at, std::size_t size_at) {
            const auto offset = number_at<std::uint64_t>(code, offset_at);
            const std::uint64_t size = std::uint64_t{number_at<std::uint16_t>(code, size_at)} *
                                       number_at<std::uint16_t>(code, size_at + 2);
            return end_of(offset, size);
        };
        return std::max({table_end(32, 54), table_end(40, 58), end_of_sections(code)});
    }
    return std::nullopt;
}

} // namespace

void check_image(const std::string& what, CodeType type, std::span<const std::byte> code) {
    const auto refuse = [&](const std::string& why) {
        throw CUDAError(CUDA_ERROR_INVALID_IMAGE, "cuLibraryLoadData",
                        what + " cannot be loaded: " + why);
    };
    if (type == CodeType::LtoIr || type == CodeType::Object || type == CodeType::Library) {
        refuse("code of type \"" + std::string(to_string(type)) +
               "\" must be linked to a cubin first");
    }
    if (code.empty()) {
        refuse("it is empty");
    }
    if (number_at<std::uint32_t>(code, 0) == WRAPPER_MAGIC) {
        refuse("it is the wrapper that a host compiler puts around a fat binary, which holds an "
               "address and not the code; pass the fat binary itself");
    }
    if (const auto needed = bytes_needed(code); needed.has_value() && *needed > code.size()) {
        refuse("it is truncated: it has " + std::to_string(code.size()) +
               " bytes, but its header announces " + std::to_string(*needed));
    }
}

void check_link_input(const std::string& what, std::span<const std::byte> code) {
    if (const auto needed = bytes_needed(code); needed.has_value() && *needed > code.size()) {
        throw std::invalid_argument(what +
                                    " cannot be linked: it is truncated or damaged: it has " +
                                    std::to_string(code.size()) +
                                    " bytes, but its header announces " + std::to_string(*needed));
    }
}

int cubin_architecture(std::span<const std::byte> code) noexcept {
    static constexpr std::size_t ABI_VERSION_AT = 8;
    static constexpr std::size_t FLAGS_AT = 48;
    static constexpr std::uint8_t ABI_WITH_WIDE_FLAGS = 8; // since CUDA 13
    if (number_at<std::uint32_t>(code, 0) != ELF_MAGIC) {
        return 0;
    }
    const auto flags = number_at<std::uint32_t>(code, FLAGS_AT);
    const bool is_wide = number_at<std::uint8_t>(code, ABI_VERSION_AT) >= ABI_WITH_WIDE_FLAGS;
    return static_cast<int>(is_wide ? flags >> 8 & 0xFF : flags & 0xFF);
}

// The container, little endian:
//
//   header   0 u32 magic  4 u16 version  6 u16 header bytes  8 u64 bytes that follow the header
//   entry    0 u16 kind   2 u16 version  4 u32 header bytes  8 u64 payload bytes, padded to 8
//           20 u32 offset of the options (entry + 64)
//           24 u16 minor, 26 u16 major: the ISA of PTX, the ELF flavour of a cubin
//           28 u32 architecture, 90 for sm_90          40 u64 flags
//           64 u32 offset of the first option (entry + 72, where there is none)
//
// All other fields are zero. A PTX entry needs the header of 80 bytes: nvJitLink refuses the older
// one of 64 bytes.

namespace {

constexpr std::size_t HEADER_BYTES = 16;
constexpr std::size_t ENTRY_BYTES = 80;
constexpr std::size_t ALIGNMENT_BYTES = 8;
constexpr std::uint64_t FLAG_64_BIT = 0x1;
constexpr std::uint64_t FLAG_LINUX = 0x10;
constexpr std::uint64_t FLAG_ARCH_SPECIFIC = 0x100000;   // sm_90a
constexpr std::uint64_t FLAG_FAMILY_SPECIFIC = 0x200000; // sm_100f

struct Version {
    std::uint16_t major;
    std::uint16_t minor;
};

struct Architecture {
    std::uint32_t number = 0;
    std::uint64_t flags = 0;
};

template <typename T>
void put(std::byte* at, T value) {
    static_assert(std::endian::native == std::endian::little);
    std::memcpy(at, &value, sizeof(value));
}

std::size_t padded(const FatbinImage& image) {
    // PTX ends with a NUL, so that loaders can use it in place.
    const std::size_t bytes = image.code.size() + (image.kind == FatbinImage::Kind::Ptx ? 1 : 0);
    return (bytes + ALIGNMENT_BYTES - 1) / ALIGNMENT_BYTES * ALIGNMENT_BYTES;
}

Version version_of(const FatbinImage& image) {
    static constexpr std::size_t ELF_ABI_VERSION_AT = 8;
    if (image.kind == FatbinImage::Kind::Cubin) {
        const bool has_version = image.code.size() > ELF_ABI_VERSION_AT;
        const auto abi = has_version
                             ? std::to_integer<std::uint16_t>(image.code[ELF_ABI_VERSION_AT])
                             : std::uint16_t{0};
        return {.major = 1, .minor = abi};
    }
    const std::string_view text(reinterpret_cast<const char*>(image.code.data()),
                                image.code.size());
    static constexpr std::string_view DIRECTIVE = ".version ";
    Version version{.major = 0, .minor = 0};
    if (const std::size_t found = text.find(DIRECTIVE); found != std::string_view::npos) {
        const char* const end = text.data() + text.size();
        const auto major =
            std::from_chars(text.data() + found + DIRECTIVE.size(), end, version.major);
        if (major.ptr != end && *major.ptr == '.') {
            std::from_chars(major.ptr + 1, end, version.minor);
        }
    }
    return version;
}

Architecture parse(std::string_view arch) {
    const std::string_view digits = arch.substr(arch.find('_') + 1);
    Architecture parsed;
    std::from_chars(digits.data(), digits.data() + digits.size(), parsed.number);
    if (digits.ends_with('a')) {
        parsed.flags = FLAG_ARCH_SPECIFIC;
    } else if (digits.ends_with('f')) {
        parsed.flags = FLAG_FAMILY_SPECIFIC;
    }
    return parsed;
}

} // namespace

std::vector<std::byte> write_fatbin(std::span<const FatbinImage> images) {
    std::size_t total = HEADER_BYTES;
    for (const FatbinImage& image : images) {
        total += ENTRY_BYTES + padded(image);
    }
    std::vector<std::byte> fatbin(total);
    std::byte* at = fatbin.data();
    put<std::uint32_t>(at, FATBIN_MAGIC);
    put<std::uint16_t>(at + 4, 1);
    put<std::uint16_t>(at + 6, HEADER_BYTES);
    put<std::uint64_t>(at + 8, total - HEADER_BYTES);
    at += HEADER_BYTES;
    for (const FatbinImage& image : images) {
        const Version version = version_of(image);
        const Architecture architecture = parse(image.arch);
        put<std::uint16_t>(at, static_cast<std::uint16_t>(image.kind));
        put<std::uint16_t>(at + 2, 0x101);
        put<std::uint32_t>(at + 4, ENTRY_BYTES);
        put<std::uint64_t>(at + 8, padded(image));
        put<std::uint32_t>(at + 20, 0x40);
        put<std::uint16_t>(at + 24, version.minor);
        put<std::uint16_t>(at + 26, version.major);
        put<std::uint32_t>(at + 28, architecture.number);
        put<std::uint64_t>(at + 40, FLAG_64_BIT | FLAG_LINUX | architecture.flags);
        put<std::uint32_t>(at + 64, 0x48);
        at += ENTRY_BYTES;
        if (!image.code.empty()) { // an empty span may have no address
            std::memcpy(at, image.code.data(), image.code.size());
        }
        at += padded(image);
    }
    return fatbin;
}

std::vector<std::byte> with_ptx(std::string_view arch, std::span<const std::byte> cubin,
                                std::span<const std::byte> ptx) {
    using Kind = FatbinImage::Kind;
    const std::array images{
        FatbinImage{.kind = Kind::Cubin, .arch = arch, .code = cubin},
        FatbinImage{.kind = Kind::Ptx, .arch = arch, .code = ptx},
    };
    return write_fatbin(images);
}

bool is_fatbin(std::span<const std::byte> code) noexcept {
    std::uint32_t magic = 0;
    if (code.size() >= sizeof(magic)) {
        std::memcpy(&magic, code.data(), sizeof(magic));
    }
    return magic == FATBIN_MAGIC;
}

std::string_view ptx_in_fatbin(std::span<const std::byte> fatbin) noexcept {
    static constexpr std::uint64_t COMPRESSED = 0x1000 | 0x2000 | 0x8000;
    const auto get = [](std::span<const std::byte> from, std::size_t offset, auto& value) {
        std::memcpy(&value, from.data() + offset, sizeof(value));
    };
    if (fatbin.size() < HEADER_BYTES || !is_fatbin(fatbin)) {
        return {};
    }
    std::span<const std::byte> rest = fatbin.subspan(HEADER_BYTES);
    while (rest.size() >= ENTRY_BYTES) {
        std::uint16_t kind = 0;
        std::uint32_t header = 0;
        std::uint64_t bytes = 0;
        std::uint64_t flags = 0;
        get(rest, 0, kind);
        get(rest, 4, header);
        get(rest, 8, bytes);
        get(rest, 40, flags);
        if (header < ENTRY_BYTES || header > rest.size() || bytes > rest.size() - header) {
            return {};
        }
        if (kind == static_cast<std::uint16_t>(FatbinImage::Kind::Ptx) &&
            (flags & COMPRESSED) == 0) {
            const std::string_view text(reinterpret_cast<const char*>(rest.data()) + header, bytes);
            return text.substr(0, text.find('\0'));
        }
        rest = rest.subspan(header + bytes);
    }
    return {};
}

} // namespace cuprum::detail
