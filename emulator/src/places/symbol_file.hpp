// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace cuprum::emulator::places {

/// A function in an ELF file.
struct Symbol {
    std::string name; // as the linker knows it; empty: none was found
    std::uint64_t start = 0;
};

/// Finds the function that holds an address of the file's own (before it was loaded anywhere), also
/// one that is not exported. Finds none in a stripped file, or in one that cannot be read.
[[nodiscard]] Symbol find_symbol(const char* path, std::uint64_t address);

/// Finds it in the bytes of a file. Whatever does not fit into them is left out.
[[nodiscard]] Symbol find_symbol(std::span<const std::byte> file, std::uint64_t address);

} // namespace cuprum::emulator::places
