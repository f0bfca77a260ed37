// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>

namespace cuprum::emulator {

/// Which default stream NULL is for an exported name.
enum class Flavour : std::uint8_t {
    Any,       // it takes no stream, or it does not matter
    Legacy,    // the legacy default stream; a per-thread version exists
    PerThread, // the calling thread's own
};

/// One exported name of the driver API.
struct Symbol {
    const char* symbol; // cuMemAlloc_v2
    const char* name;   // cuMemAlloc
    int version;        // the CUDA version that added it: 3020
    Flavour flavour;
    void* address;
    void* stub; // equal to `address` while the function is not implemented
};

/// Returns all exported names, sorted by public name and version.
[[nodiscard]] std::span<const Symbol> symbols();

/// Returns whether a symbol is implemented. A per-thread name counts as its plain version.
[[nodiscard]] bool is_implemented(const Symbol& symbol);

} // namespace cuprum::emulator
