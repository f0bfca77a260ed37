// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bytecode/kernel.hpp"

#include <cstddef>
#include <cstdint>

namespace cuprum::emulator {

/// Writes a value to every lane of a slot in a bank.
inline void broadcast(std::byte* slot, bytecode::Width width, std::uint64_t value) {
    // One vector store fills several lanes.
    typedef std::uint64_t Lanes __attribute__((vector_size(16), may_alias));
    const bool is_wide = width == bytecode::Width::B64;
    const std::uint64_t pair = is_wide ? value : (value & 0xffffffffu) | value << 32;
    auto* const lanes = reinterpret_cast<Lanes*>(slot);
    const std::uint32_t stores = bytecode::WARP_SIZE * (is_wide ? 8 : 4) / sizeof(Lanes);
    for (std::uint32_t i = 0; i < stores; ++i) {
        lanes[i] = Lanes{pair, pair};
    }
}

} // namespace cuprum::emulator
