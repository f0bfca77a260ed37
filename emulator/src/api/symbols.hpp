// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>

namespace cuprum::emulator {

/// Which default stream an exported name means by NULL.
enum class Flavour : std::uint8_t {
    Any,       // it takes no stream, or makes no difference
    Legacy,    // the legacy default stream; there is a per-thread twin
    PerThread, // the calling thread's own
};

/// One exported name of the driver API.
struct Symbol {
    const char* symbol; // cuMemAlloc_v2
    const char* name;   // cuMemAlloc
    int version;        // of CUDA that brought it: 3020
    Flavour flavour;
    void* address;
    void* stub; // equal to `address` while the function is not implemented
};

/// Returns all exported names, by public name and version.
[[nodiscard]] std::span<const Symbol> symbols();

/// Returns whether a symbol does anything but refuse; a per-thread name counts as its plain twin.
[[nodiscard]] bool is_implemented(const Symbol& symbol);

} // namespace cuprum::emulator
