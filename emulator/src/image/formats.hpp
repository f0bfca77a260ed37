// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

// Facts about the file formats that hold code: ELF, archives, fat binaries.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace cuprum::emulator {

static_assert(std::endian::native == std::endian::little);

using Bytes = std::span<const unsigned char>;

inline constexpr std::string_view ELF_MAGIC = "\x7f"
                                              "ELF";
inline constexpr std::string_view ARCHIVE_MAGIC = "!<arch>\n";
inline constexpr std::string_view FATBIN_MAGIC = "\x50\xed\x55\xba";
/// Comes before the name of the architecture at the end of PTX that stands for machine code.
inline constexpr std::string_view MACHINE_CODE_MARK = "\n// Cuprum: stands for machine code of ";
inline constexpr std::size_t ELF_HEADER_BYTES = 64;
inline constexpr std::size_t FATBIN_HEADER_BYTES = 16;
inline constexpr std::uint16_t MACHINE_CUDA = 190;

/// Reads a value that need not be aligned. The caller has checked that it lies within `bytes`.
template <typename T>
[[nodiscard]] T load(Bytes bytes, std::size_t offset) noexcept {
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
    return value;
}

} // namespace cuprum::emulator
