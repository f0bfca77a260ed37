// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "image/fatbin_writer.hpp"

#include "image/formats.hpp"

#include <charconv>
#include <cstddef>

namespace cuprum::emulator {

namespace {

/// Appends a number, lowest byte first.
template <typename T>
void put(std::string& out, T value) {
    for (std::size_t byte = 0; byte < sizeof(T); ++byte) {
        out += static_cast<char>(value >> (8 * byte) & 0xFF);
    }
}

} // namespace

std::string make_fatbin(std::string_view ptx, std::string_view architecture,
                        std::uint32_t version_major, std::uint32_t version_minor) {
    constexpr std::uint32_t magic = 0xBA55ED50;
    constexpr std::uint32_t entry_header_bytes = 80;
    constexpr std::size_t alignment = 8;
    const std::string_view number = architecture.substr(architecture.find('_') + 1);
    std::uint32_t sm = 0;
    std::from_chars(number.data(), number.data() + number.size(), sm);
    std::string text(ptx);
    text.append(MACHINE_CODE_MARK).append(architecture) += '\n';
    text.resize((text.size() + 1 + alignment - 1) / alignment * alignment, '\0');

    std::string out;
    put(out, magic);
    put(out, std::uint16_t{1});  // version
    put(out, std::uint16_t{16}); // bytes of this header
    put(out, std::uint64_t{entry_header_bytes + text.size()});

    const std::size_t entry = out.size();
    put(out, std::uint16_t{1});     // PTX
    put(out, std::uint16_t{0x101}); // version of the entry
    put(out, entry_header_bytes);
    put(out, std::uint64_t{text.size()});
    put(out, std::uint32_t{0});    // compressed bytes: none
    put(out, std::uint32_t{0x40}); // as current toolkits write it
    put(out, static_cast<std::uint16_t>(version_minor));
    put(out, static_cast<std::uint16_t>(version_major));
    put(out, sm);
    out.resize(entry + 40, '\0');
    put(out, std::uint64_t{0x11}); // 64 bits, Linux
    out.resize(entry + 64, '\0');
    put(out, std::uint32_t{0x48});
    out.resize(entry + entry_header_bytes, '\0');
    return out + text;
}

} // namespace cuprum::emulator
