// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Tensor copies (cp.async.bulk.tensor and cp.reduce.async.bulk.tensor), which complete at once, and
// the instructions that change tensor maps.

#pragma once

#include "bytecode/instruction.hpp"
#include "interp/tensor_box.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

namespace cuprum::emulator {

struct WarpContext;

/// Copies between a tensor in global memory and a box in shared memory.
///
/// src[0]: base of the box in shared memory, `target`: signed offset; src[1]: base of the tensor
/// map, a generic address, `immediate`: bits 32-63 of it the signed offset; src[2]: base of the
/// mbarrier (load), bits 0-31 of `immediate`: signed offset; src[3]: mask of blocks (load_many).
/// The coordinates follow in the additional operands, then the offsets of im2col.
namespace tensor_copy {

constexpr std::uint16_t NARROW_SHARED = 1;  // in `tag`: src[0] has 32-bit lanes
constexpr std::uint16_t NARROW_MAP = 2;     // src[1] has 32-bit lanes
constexpr std::uint16_t NARROW_BARRIER = 4; // src[2] has 32-bit lanes
constexpr unsigned ACCESS_SHIFT = 3;        // 2 bits: a TensorAccess
constexpr unsigned RANK_SHIFT = 5;          // 3 bits: how many coordinates
constexpr unsigned OPERATION_SHIFT = 8;     // 3 bits: a bulk_copy::Operation, for reduce
// and, for load, REACHES_CLUSTER of interp/cluster.hpp

using Function = std::remove_pointer_t<bytecode::Handler>;

Function load;
Function load_many; // load to several blocks of the cluster
Function store;
Function reduce;
Function prefetch; // only checks the map

/// What one lane of a tensor copy does.
struct Request {
    TensorMap map;
    std::uint64_t map_address = 0;
    TensorAccess access = TensorAccess::Tile;
    TensorPlace place;
    std::uint64_t shared = 0;  // address of the box
    std::uint64_t barrier = 0; // address of the mbarrier
    std::uint32_t blocks = 0;  // load_many: the mask of blocks
};

/// Reads the request of a lane. Returns none if there is no valid map, or if it does not suit the
/// instruction.
[[nodiscard]] std::optional<Request>
request_of(const WarpContext& warp, const bytecode::Instruction* at, std::uint32_t lane);

} // namespace tensor_copy

/// Changes of tensor maps in memory.
namespace tensor_map {

/// The fields that tensormap.replace can change, in the order of its names in decode/tensor.cpp.
enum class Field : std::uint8_t {
    GlobalAddress,
    Rank,
    BoxDim,
    GlobalDim,
    GlobalStride,
    ElementStride,
    Elemtype,
    InterleaveLayout,
    SwizzleMode,
    FillMode,
    SwizzleAtomicity,
};

constexpr std::uint16_t NARROW_TO = 1;   // in `tag`: src[0] has 32-bit lanes
constexpr std::uint16_t NARROW_FROM = 2; // copy: src[1] has 32-bit lanes
constexpr std::uint16_t WIDE_VALUE = 2;  // replace: src[1] has 64-bit lanes
constexpr std::uint16_t IN_SHARED = 4;   // replace: src[0] is an address in shared memory
constexpr unsigned FIELD_SHIFT = 4;      // replace: 4 bits, a Field
constexpr unsigned ORDINAL_SHIFT = 8;    // replace: 3 bits, which number of the field

using Function = std::remove_pointer_t<bytecode::Handler>;

Function replace; // src[0]: base of the map, `immediate`: offset; src[1]: the new value
Function copy;    // src[0]: base in global memory, `immediate`: offset; src[1]: base in shared
                  // memory, `target`: signed offset. Copies one map

} // namespace tensor_map

/// Describes a tensor map in a few words: "tiled map of a 2-dimensional f16 tensor ...".
[[nodiscard]] std::string describe(const TensorMap& map);

} // namespace cuprum::emulator
