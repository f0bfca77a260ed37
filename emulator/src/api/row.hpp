// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The record of one exported name. Every name has one row in one source of this folder.

#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

namespace cuprum::emulator {

/// What is known about one exported name of the driver API.
struct Row {
    const char* symbol;     // cuMemAlloc_v2
    const char* name;       // cuMemAlloc, for cuGetProcAddress, logs and reports
    int version;            // the CUDA version that added it: 3020
    bool is_per_thread;     // for it, NULL is the calling thread's own default stream
    const char* parameters; // of its body, as written; nullptr if it has none
    const char* missing;    // why it is refused; nullptr if it is implemented
    void* address;
};

/// Returns whether an exported name is one for which NULL is the thread's own default stream.
consteval bool is_per_thread(std::string_view symbol) {
    return symbol.ends_with("_ptsz") || symbol.ends_with("_ptds");
}

/// Returns the public name of an exported one: without its version and `_ptsz` or `_ptds`.
template <std::size_t Size>
consteval std::array<char, Size> public_name(const char (&symbol)[Size]) {
    std::string_view name(symbol, Size - 1);
    if (is_per_thread(name)) {
        name.remove_suffix(5);
    }
    if (const std::size_t at = name.rfind("_v"); at != name.npos && at + 3 == name.size()) {
        name = name.substr(0, at);
    }
    std::array<char, Size> text{};
    for (std::size_t index = 0; index < name.size(); ++index) {
        text[index] = name[index];
    }
    return text;
}

/// Returns the rows of all exported names, sorted by public name.
[[nodiscard]] const std::vector<const Row*>& rows();

} // namespace cuprum::emulator

/// Adds a row to the list that rows() returns: the linker joins all parts of this section.
#define CUPRUM_LIST_ROW(symbol, row)                                                               \
    [[gnu::section("cuprum_rows"),                                                                 \
      gnu::used]] static const cuprum::emulator::Row* const symbol##_listed = &(row)
