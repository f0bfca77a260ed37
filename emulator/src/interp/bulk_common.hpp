// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What bulk copies and tensor copies share.

#pragma once

#include "interp/warp.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace cuprum::emulator::bulk_copy {

/// Returns one lane of an operand.
template <typename T>
[[nodiscard]] T lane_of(const WarpContext& warp, bytecode::Operand operand, std::uint32_t lane) {
    T value;
    std::memcpy(&value, warp.at(operand) + lane * sizeof(T), sizeof value);
    return value;
}

/// Returns the address that a lane's base and an offset give.
[[nodiscard]] inline std::uint64_t address_of(const WarpContext& warp, bytecode::Operand base,
                                              std::int64_t offset, bool is_narrow,
                                              std::uint32_t lane) {
    if (is_narrow) { // 32-bit addresses wrap at 32 bits
        return lane_of<std::uint32_t>(warp, base, lane) + static_cast<std::uint32_t>(offset);
    }
    return lane_of<std::uint64_t>(warp, base, lane) + static_cast<std::uint64_t>(offset);
}

/// Returns whether the device may access a range of any size.
[[nodiscard]] inline bool is_device_memory(const MemoryMap& map, std::uint64_t address,
                                           std::uint32_t bytes, bool is_write) {
    // is_mapped() tests only the two ends of a range, so check at most one granule at a time.
    const std::uint64_t granule = std::uint64_t{1} << map.granule_shift;
    bool is_mapped = true;
    for (std::uint64_t at = 0; at < bytes && is_mapped; at += granule) {
        const std::uint64_t length = std::min<std::uint64_t>(granule, bytes - at);
        is_mapped = map.is_mapped(address + at, address + at + length - 1, is_write);
    }
    if (is_mapped) {
        return true;
    }
    return map.is_accessible != nullptr && map.is_accessible(map, address, bytes, is_write);
}

} // namespace cuprum::emulator::bulk_copy
