// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "builtins/memory.hpp"

#include <cstring>

namespace cuprum::emulator::builtins {

const std::byte* locate(const WarpContext& warp, std::uint32_t lane, std::uint64_t address,
                        std::uint32_t bytes) {
    const BlockContext& block = *warp.block;
    const MemoryMap& map = *block.memory;
    if (const std::uint64_t offset = address - map.shared_base; offset < map.shared_bytes) {
        return offset <= block.shared_bytes && bytes <= block.shared_bytes - offset
                   ? block.shared + offset
                   : nullptr;
    }
    if (const std::uint64_t offset = address - map.local_base; offset < map.local_bytes) {
        const std::uint64_t stride = block.local_stride_bytes;
        return offset <= stride && bytes <= stride - offset
                   ? block.local + warp.thread(lane) * stride + offset
                   : nullptr;
    }
    const bool is_readable =
        map.is_mapped(address, address + bytes - 1, false) ||
        (map.is_accessible != nullptr && map.is_accessible(map, address, bytes, false));
    return is_readable ? reinterpret_cast<const std::byte*>(address) : nullptr;
}

std::optional<std::string> read_string(const WarpContext& warp, std::uint32_t lane,
                                       std::uint64_t address, std::uint64_t& bad_address) {
    std::string text;
    for (;; ++address) {
        const std::byte* at = locate(warp, lane, address, 1);
        if (at == nullptr) {
            bad_address = address;
            return std::nullopt;
        }
        const char letter = *reinterpret_cast<const char*>(at);
        if (letter == '\0') {
            return text;
        }
        text += letter;
    }
}

std::uint32_t word_of(const WarpContext& warp, bytecode::Operand operand, std::uint32_t lane) {
    std::uint32_t value = 0;
    std::memcpy(&value, warp.at(operand) + lane * sizeof value, sizeof value);
    return value;
}

std::uint64_t long_of(const WarpContext& warp, bytecode::Operand operand, std::uint32_t lane) {
    std::uint64_t value = 0;
    std::memcpy(&value, warp.at(operand) + lane * sizeof value, sizeof value);
    return value;
}

void store_word(WarpContext& warp, bytecode::Operand operand, std::uint32_t lane,
                std::uint32_t value) {
    if (!operand.is_none()) {
        std::memcpy(warp.at(operand) + lane * sizeof value, &value, sizeof value);
    }
}

void store_long(WarpContext& warp, bytecode::Operand operand, std::uint32_t lane,
                std::uint64_t value) {
    if (!operand.is_none()) {
        std::memcpy(warp.at(operand) + lane * sizeof value, &value, sizeof value);
    }
}

} // namespace cuprum::emulator::builtins
