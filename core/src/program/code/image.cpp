// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "program/code/image.hpp"

#include "program/code/fatbin.hpp"

#include <cuprum/error.hpp>

#include <cuda.h>

#include <algorithm>
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

[[nodiscard]] std::optional<std::uint64_t> bytes_needed(std::span<const std::byte> code) noexcept;
[[nodiscard]] std::uint64_t end_of_sections(std::span<const std::byte> code) noexcept;
[[nodiscard]] std::uint64_t end_of(std::uint64_t offset, std::uint64_t bytes) noexcept;

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

// ---- helpers -----------------------------------------------------------------------------------

namespace {

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

std::uint64_t end_of(std::uint64_t offset, std::uint64_t bytes) noexcept {
    return offset > UINT64_MAX - bytes ? UINT64_MAX : offset + bytes;
}

} // namespace

} // namespace cuprum::detail
