// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Instructions that change tensor maps, and the text that describes one.

#include "interp/tensor_map.hpp"

#include "interp/access_fault.hpp"
#include "interp/bulk_common.hpp"
#include "interp/cluster.hpp"
#include "interp/tensor_copy.hpp"
#include "interp/warp.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <sstream>
#include <string>
#include <string_view>

namespace cuprum::emulator {

using bytecode::Instruction;

namespace {

constexpr std::uint32_t MAP_BYTES = sizeof(TensorMap);

/// The element types in the order of tensormap.replace.
constexpr TensorElement REPLACED_ELEMENTS[] = {
    TensorElement::U8,          TensorElement::U16,   TensorElement::U32,
    TensorElement::S32,         TensorElement::U64,   TensorElement::S64,
    TensorElement::F16,         TensorElement::F32,   TensorElement::F32Ftz,
    TensorElement::F64,         TensorElement::Bf16,  TensorElement::Tf32,
    TensorElement::Tf32Ftz,     TensorElement::B4x16, TensorElement::B4x16Padded,
    TensorElement::B6x16Padded,
};

std::string_view name_of(TensorElement element) {
    constexpr std::string_view NAMES[] = {
        "u8",  "u16",  "u32",     "s32",  "u64",      "s64",   "f16",       "f32",
        "f64", "bf16", "f32.ftz", "tf32", "tf32.ftz", "b4x16", "b4x16_p64", "b6x16_p32"};
    const auto index = static_cast<std::size_t>(element);
    return index < std::size(NAMES) ? NAMES[index] : "?";
}

std::string_view name_of(TensorSwizzle swizzle, TensorSwizzleAtom atom) {
    constexpr std::string_view SPANS[] = {"none", "32B", "64B", "128B", "96B"};
    constexpr std::string_view ATOMS[] = {"128B", "128B with atoms of 32B",
                                          "128B with atoms of 32B and a flip of 8B",
                                          "128B with atoms of 64B"};
    if (swizzle == TensorSwizzle::Bytes128) {
        return ATOMS[static_cast<std::size_t>(atom) % std::size(ATOMS)];
    }
    const auto index = static_cast<std::size_t>(swizzle);
    return index < std::size(SPANS) ? SPANS[index] : "?";
}

template <typename T>
void write_list(std::ostream& out, std::span<const T> values, std::uint64_t more) {
    out << "(";
    for (std::size_t i = 0; i < values.size(); ++i) {
        out << (i == 0 ? "" : ", ")
            << static_cast<std::int64_t>(values[i]) + static_cast<std::int64_t>(more);
    }
    out << ")";
}

/// Returns the memory of a map that a lane wants to change; nullptr after a fault.
std::byte* map_memory(WarpContext& warp, const Instruction* at, std::uint32_t lane,
                      std::uint64_t address, bool is_shared) {
    const BlockContext& block = *warp.block;
    if (address % MAP_BYTES != 0) {
        (void)raise_access_fault(warp, at, lane, AccessProblem::Misaligned, address, MAP_BYTES,
                                 true, "\n  expected a tensor map there");
        return nullptr;
    }
    if (const std::uint64_t offset = address - block.memory->shared_base;
        !is_shared && offset < block.memory->shared_bytes) {
        is_shared = true;
        address = offset;
    }
    if (is_shared) {
        std::byte* const place = find_shared(block, address, MAP_BYTES, Reach::Block);
        if (place == nullptr) {
            (void)raise_access_fault(warp, at, lane, AccessProblem::BeyondShared, address,
                                     MAP_BYTES, true);
        }
        return place;
    }
    if (!bulk_copy::is_device_memory(*block.memory, address, MAP_BYTES, true)) {
        (void)raise_access_fault(warp, at, lane, AccessProblem::Unmapped, address, MAP_BYTES, true);
        return nullptr;
    }
    return reinterpret_cast<std::byte*>(address);
}

/// Returns whether a map is all zeros. Triton makes maps on the device from zeros, and replaces
/// only the fields that are not zero.
bool is_blank(const std::byte* map) {
    return std::all_of(map, map + MAP_BYTES, [](std::byte each) { return each == std::byte{}; });
}

/// Changes one field. Returns what is wrong with the new value; an empty text if nothing is.
std::string set_field(TensorMap& map, tensor_map::Field field, std::uint32_t ordinal,
                      std::uint64_t value) {
    using tensor_map::Field;
    const auto narrow = static_cast<std::uint32_t>(value);
    switch (field) {
    case Field::GlobalAddress:
        map.address = value;
        return value % 16 != 0 ? "the address of a tensor must be a multiple of 16" : "";
    case Field::Rank:
        map.rank = static_cast<std::uint8_t>(narrow + 1);
        return narrow >= TensorMap::MAXIMUM_RANK ? "the rank less one is at most 4" : "";
    case Field::BoxDim:
        map.box[ordinal] = static_cast<std::uint16_t>(narrow);
        return narrow == 0 || narrow > 256 ? "a box has 1 to 256 elements in each dimension" : "";
    case Field::GlobalDim:
        map.last_indices[ordinal] = narrow - 1;
        return "";
    case Field::GlobalStride:
        if (ordinal == map.strides.size()) {
            return "there is no stride of this number";
        }
        map.strides[ordinal] = value;
        return value % 16 != 0 ? "a stride must be a multiple of 16" : "";
    case Field::ElementStride:
        map.element_strides[ordinal] = static_cast<std::uint8_t>(narrow);
        return narrow > 8 ? "a step is at most 8" : "";
    case Field::Elemtype:
        if (narrow >= std::size(REPLACED_ELEMENTS)) {
            return "there is no element type of this number";
        }
        map.element = REPLACED_ELEMENTS[narrow];
        return "";
    case Field::InterleaveLayout:
        map.interleave = static_cast<TensorInterleave>(narrow);
        return narrow > 2 ? "there is no interleave layout of this number" : "";
    case Field::SwizzleMode:
        map.swizzle = static_cast<TensorSwizzle>(narrow);
        return narrow > 3 ? "there is no supported swizzle of this number" : "";
    case Field::FillMode:
        map.fill = static_cast<TensorFill>(narrow);
        return narrow > 1 ? "there is no fill mode of this number" : "";
    case Field::SwizzleAtomicity:
        map.swizzle_atom = static_cast<TensorSwizzleAtom>(narrow);
        return narrow > 3 ? "there is no swizzle atomicity of this number" : "";
    }
    return "";
}

} // namespace

namespace tensor_map {

const Instruction* replace(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    for (; mask != 0; mask &= mask - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(mask));
        const std::uint64_t address = bulk_copy::address_of(warp, at->src[0], at->immediate,
                                                            (at->tag & NARROW_TO) != 0, lane);
        std::byte* const place = map_memory(warp, at, lane, address, (at->tag & IN_SHARED) != 0);
        if (place == nullptr) {
            return nullptr;
        }
        TensorMap map;
        std::memcpy(&map, place, sizeof map);
        if (!map.is_valid()) {
            if (!is_blank(place)) {
                continue; // a GPU changes bits without a meaning; a copy by this map is refused
            }
            map = TensorMap();
            map.rank = 1; // the field holds the rank less one
        }
        const std::uint64_t value = (at->tag & WIDE_VALUE) != 0
                                        ? bulk_copy::lane_of<std::uint64_t>(warp, at->src[1], lane)
                                        : bulk_copy::lane_of<std::uint32_t>(warp, at->src[1], lane);
        const std::string problem = set_field(map, static_cast<Field>(at->tag >> FIELD_SHIFT & 15),
                                              at->tag >> ORDINAL_SHIFT & 7, value);
        if (!problem.empty()) {
            return raise_fault(warp, at, FaultKind::IllegalInstruction, lane,
                               "tensormap.replace with the value " + std::to_string(value) + ": " +
                                   problem);
        }
        map.seal();
        std::memcpy(place, &map, sizeof map);
    }
    return at + 1;
}

const Instruction* copy(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    // All lanes name the same two places.
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(mask));
    const std::uint64_t to_address =
        bulk_copy::address_of(warp, at->src[0], at->immediate, (at->tag & NARROW_TO) != 0, lane);
    const std::uint64_t from_address =
        bulk_copy::address_of(warp, at->src[1], static_cast<std::int32_t>(at->target),
                              (at->tag & NARROW_FROM) != 0, lane);
    std::byte* const to = map_memory(warp, at, lane, to_address, false);
    const std::byte* const from =
        to == nullptr ? nullptr : map_memory(warp, at, lane, from_address, true);
    if (from == nullptr) {
        return nullptr;
    }
    std::memcpy(to, from, MAP_BYTES);
    return at + 1;
}

} // namespace tensor_map

std::string describe(const TensorMap& map) {
    std::ostringstream out;
    const bool is_tiled = map.mode == TensorMapMode::Tiled;
    const std::uint32_t rank = std::min<std::uint32_t>(map.rank, TensorMap::MAXIMUM_RANK);
    out << (is_tiled ? "tiled" : "im2col") << ", " << name_of(map.element) << ", dimensions ";
    write_list(out, std::span(map.last_indices).first(rank), 1);
    out << " at 0x" << std::hex << map.address << std::dec;
    if (rank > 1) {
        out << ", strides ";
        write_list(out, std::span(map.strides).first(rank - 1), 0);
    }
    if (is_tiled) {
        out << ", box ";
        write_list(out, std::span(map.box).first(rank), 0);
    } else {
        out << ", " << map.channels_per_pixel << " channels of " << map.pixels_per_column
            << " pixels";
    }
    if (map.swizzle != TensorSwizzle::None) {
        out << ", swizzle " << name_of(map.swizzle, map.swizzle_atom);
    }
    if (map.interleave != TensorInterleave::None) {
        out << ", interleave " << (map.interleave == TensorInterleave::Bytes16 ? "16B" : "32B");
    }
    return out.str();
}

} // namespace cuprum::emulator
