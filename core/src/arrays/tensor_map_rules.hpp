// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What the types and modes of tensor maps are and allow: small tables that checks and texts share.

#pragma once

#include <cuprum/tensor_map.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace cuprum::detail {

constexpr std::uint32_t TENSOR_UNIT_BYTES = 16; // TMA moves pieces of this size
constexpr unsigned BITS_OF_A_BYTE = 8;

[[nodiscard]] constexpr bool is_packed(TensorMapDataType type) noexcept {
    return type >= TensorMapDataType::Packed16U4Align8B;
}

/// Returns whether shared memory has gaps between packed elements.
[[nodiscard]] constexpr bool has_gaps(TensorMapDataType type) noexcept {
    return type >= TensorMapDataType::Packed16U4Align16B;
}

[[nodiscard]] constexpr bool is_floating(TensorMapDataType type) noexcept {
    return type >= TensorMapDataType::Float16 && type <= TensorMapDataType::TFloat32FTZ;
}

/// Returns over how many bytes a swizzle permutes; 0 for none.
[[nodiscard]] constexpr std::uint32_t swizzle_bytes(TensorMapSwizzle swizzle) noexcept {
    constexpr std::uint8_t BYTES[] = {0, 32, 64, 128, 128, 128, 128};
    return BYTES[static_cast<unsigned>(swizzle)];
}

/// Returns whether a device needs compute capability 10.0 for the swizzle.
[[nodiscard]] constexpr bool is_newer(TensorMapSwizzle swizzle) noexcept {
    return swizzle > TensorMapSwizzle::Bytes128;
}

/// Returns the bytes that one element takes in shared memory, in bits.
[[nodiscard]] constexpr std::uint32_t shared_bits(TensorMapDataType type) noexcept {
    return has_gaps(type) ? 8 : element_bits(type);
}

/// Throws std::invalid_argument with a text made of the parts: strings and numbers.
template <typename... Parts>
[[noreturn, gnu::cold, gnu::noinline]] void refuse_map(const Parts&... parts) {
    std::string text;
    const auto append = [&](const auto& part) {
        if constexpr (std::is_arithmetic_v<std::decay_t<decltype(part)>>) {
            text += std::to_string(part);
        } else {
            text += part;
        }
    };
    (append(parts), ...);
    throw std::invalid_argument(text);
}

} // namespace cuprum::detail
