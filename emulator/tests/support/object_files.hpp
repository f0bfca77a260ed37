// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Makes object files and archives like those of nvcc and ar.

#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace cuprum::emulator::test {

template <typename T>
void put_at(std::string& bytes, std::size_t offset, T value) {
    std::memcpy(bytes.data() + offset, &value, sizeof(value));
}

/// Makes a fat binary of complete entries.
inline std::string make_fatbin(const std::string& payload) {
    std::string fatbin(16, '\0');
    put_at(fatbin, 0, 0xBA55ED50U);
    put_at(fatbin, 6, std::uint16_t{16});
    put_at(fatbin, 8, static_cast<std::uint64_t>(payload.size()));
    return fatbin + payload;
}

/// Makes a fat binary of one PTX text.
inline std::string make_ptx_fatbin(const std::string& ptx, std::uint32_t sm) {
    std::string header(64, '\0');
    put_at(header, 0, std::uint16_t{1});
    put_at(header, 4, static_cast<std::uint32_t>(header.size()));
    put_at(header, 8, static_cast<std::uint64_t>(ptx.size() + 1));
    put_at(header, 28, sm);
    return make_fatbin(header + ptx + '\0');
}

/// Makes an ELF file of sections, given by name and content.
inline std::string make_elf(const std::vector<std::pair<std::string, std::string>>& sections,
                            std::uint16_t machine = 62) {
    std::string names(1, '\0');
    std::string contents;
    std::string table(64, '\0'); // the first section is always empty
    const auto add = [&](const std::string& name, const std::string& content) {
        std::string header(64, '\0');
        put_at(header, 0, static_cast<std::uint32_t>(names.size()));
        put_at(header, 24, static_cast<std::uint64_t>(64 + contents.size()));
        names += name + '\0';
        const std::string& body = name == ".shstrtab" ? names : content;
        put_at(header, 32, static_cast<std::uint64_t>(body.size()));
        contents += body;
        table += header;
    };
    for (const auto& [name, content] : sections) {
        add(name, content);
    }
    add(".shstrtab", "");
    std::string elf(64, '\0');
    elf.replace(0, 5,
                "\x7f"
                "ELF\x02");
    put_at(elf, 18, machine);
    put_at(elf, 40, static_cast<std::uint64_t>(64 + contents.size()));
    put_at(elf, 58, std::uint16_t{64});
    put_at(elf, 60, static_cast<std::uint16_t>(sections.size() + 2));
    put_at(elf, 62, static_cast<std::uint16_t>(sections.size() + 1));
    return elf + contents + table;
}

/// Makes an archive in the format of ar.
inline std::string make_archive(const std::vector<std::string>& members) {
    std::string archive = "!<arch>\n";
    for (const std::string& member : members) {
        std::string header(60, ' ');
        header.replace(0, 7, "part.o/");
        const std::string size = std::to_string(member.size());
        header.replace(48, size.size(), size);
        header.replace(58, 2, "`\n");
        archive += header + member + (member.size() % 2 != 0 ? "\n" : "");
    }
    return archive;
}

} // namespace cuprum::emulator::test
