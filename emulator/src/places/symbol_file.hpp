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
    std::string name; // the linker's name; empty if none was found
    std::uint64_t start = 0;
};

/// Finds the function that contains an address, exported or not. The address is relative to the
/// file, not to where it is loaded. Finds nothing in a stripped or unreadable file.
[[nodiscard]] Symbol find_symbol(const char* path, std::uint64_t address);

/// Finds the function in the bytes of a file. Ignores everything that does not fit into them.
[[nodiscard]] Symbol find_symbol(std::span<const std::byte> file, std::uint64_t address);

} // namespace cuprum::emulator::places
