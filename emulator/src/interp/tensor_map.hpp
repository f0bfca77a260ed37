// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Tensor maps: what the 128 bytes of a CUtensorMap hold on the emulated device. The layout is ours
// to choose, because CUDA calls the bytes opaque. The driver functions (api/tensor_maps.cpp) write
// it, tensor copies read it, and tensormap.replace changes single fields.
//
// A map that kernels read may be any 128 bytes: a program may pass the wrong parameter, or copy
// only a part. `magic` and `checksum` distinguish a map from other data. Whoever changes a field
// calls `seal`.
//
// Dimension 0 is the innermost, as in cuda.h and in the coordinates of the instructions.

#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace cuprum::emulator {

/// How coordinates become addresses. Only `Tiled` uses `TensorMap::box`.
enum class TensorMapMode : std::uint8_t {
    Tiled,
    Im2col,
    Im2colWide,    // .im2col::w
    Im2colWide128, // .im2col::w::128
};

/// Element types in the order of CUtensorMapDataType.
///
/// NOTE: tensormap.replace.elemtype numbers F32Ftz, F64 and Bf16 differently.
enum class TensorElement : std::uint8_t {
    U8,
    U16,
    U32,
    S32,
    U64,
    S64,
    F16,
    F32,
    F64,
    Bf16,
    F32Ftz,
    Tf32,
    Tf32Ftz,
    B4x16,       // 16 values of 4 bits in 8 bytes, no gaps
    B4x16Padded, // 8 bytes of values, then a gap of 8 bytes in shared memory
    B6x16Padded, // 12 bytes of values, then a gap of 4 bytes in shared memory
};

/// In the order of CUtensorMapInterleave and of tensormap.replace.interleave_layout.
enum class TensorInterleave : std::uint8_t { None, Bytes16, Bytes32 };

/// Over how many bytes 16-byte pieces are permuted, in the order of tensormap.replace.swizzle_mode.
enum class TensorSwizzle : std::uint8_t { None, Bytes32, Bytes64, Bytes128, Bytes96 };

/// What the swizzle moves as one piece, in the order of tensormap.replace.swizzle_atomicity.
enum class TensorSwizzleAtom : std::uint8_t { Bytes16, Bytes32, Bytes32Flip8, Bytes64 };

/// What a load writes for elements outside the tensor, in the order of CUtensorMapFloatOOBfill.
enum class TensorFill : std::uint8_t { Zero, Nan };

/// The contents of a CUtensorMap.
struct alignas(64) TensorMap {
    static constexpr std::uint64_t MAGIC = 0x70614d726f736e54; // "TnsorMap"
    static constexpr std::uint32_t MAXIMUM_RANK = 5;

    std::uint64_t magic = MAGIC;
    // CUTLASS clears bit 21 of this word to work around an error of some drivers, so it holds
    // nothing.
    std::uint64_t patched = 0;
    std::uint64_t address = 0;
    std::array<std::uint64_t, 4> strides{};      // in bytes; strides[i] belongs to dimension i + 1
    std::array<std::uint32_t, 5> last_indices{}; // each dimension's size, less one
    std::array<std::uint16_t, 5> box{};          // tiled: elements, before element strides

    // im2col. The corners are offsets of the box in elements: [0] for W, [1] for H, [2] for D. The
    // wide modes use [0] only.
    std::uint16_t channels_per_pixel = 0;
    std::uint16_t pixels_per_column = 0;
    std::array<std::int16_t, 3> lower_corner{};
    std::array<std::int16_t, 3> upper_corner{};

    std::array<std::uint8_t, 5> element_strides{}; // element_strides[0] counts only if interleaved
    std::uint8_t rank = 0;
    TensorMapMode mode = TensorMapMode::Tiled;
    TensorElement element = TensorElement::U8;
    TensorInterleave interleave = TensorInterleave::None;
    TensorSwizzle swizzle = TensorSwizzle::None;
    TensorSwizzleAtom swizzle_atom = TensorSwizzleAtom::Bytes16;
    TensorFill fill = TensorFill::Zero;
    std::uint8_t l2_promotion = 0; // a CUtensorMapL2promotion; no effect here

    std::array<std::uint8_t, 9> unused{};
    std::uint32_t checksum = 0;

    /// Returns the size of a dimension in elements, 1 to 2^32.
    [[nodiscard]] std::uint64_t dimension(std::uint32_t index) const {
        return std::uint64_t{last_indices[index]} + 1;
    }

    /// Makes the map valid again after a field has changed.
    void seal() { checksum = expected_checksum(); }

    /// Returns whether these bytes are a map, and complete.
    [[nodiscard]] bool is_valid() const {
        return magic == MAGIC && checksum == expected_checksum();
    }

private:
    [[nodiscard]] std::uint32_t expected_checksum() const;
};

// The checksum covers all bytes, so there is no padding.
static_assert(sizeof(TensorMap) == 128 && std::has_unique_object_representations_v<TensorMap>);

/// Returns the bits of one element in global memory.
[[nodiscard]] constexpr std::uint32_t element_bits(TensorElement element) {
    switch (element) {
    case TensorElement::U8:
        return 8;
    case TensorElement::U16:
    case TensorElement::F16:
    case TensorElement::Bf16:
        return 16;
    case TensorElement::U32:
    case TensorElement::S32:
    case TensorElement::F32:
    case TensorElement::F32Ftz:
    case TensorElement::Tf32:
    case TensorElement::Tf32Ftz:
        return 32;
    case TensorElement::U64:
    case TensorElement::S64:
    case TensorElement::F64:
        return 64;
    case TensorElement::B4x16:
    case TensorElement::B4x16Padded:
        return 4;
    case TensorElement::B6x16Padded:
        return 6;
    }
    return 0;
}

inline std::uint32_t TensorMap::expected_checksum() const {
    static_assert(sizeof(TensorMap) % sizeof(std::uint64_t) == 0);
    std::array<std::uint64_t, sizeof(TensorMap) / sizeof(std::uint64_t)> words;
    std::memcpy(words.data(), this, sizeof *this);
    words.back() &= 0xffffffff; // the upper half is the checksum itself
    std::uint64_t hash = 0;
    for (const std::uint64_t word : words) {
        hash = (hash ^ word) * 0x9e3779b97f4a7c15;
        hash ^= hash >> 29;
    }
    return static_cast<std::uint32_t>(hash >> 32);
}

} // namespace cuprum::emulator
