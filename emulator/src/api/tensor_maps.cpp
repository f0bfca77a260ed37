// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Tensor maps, which tensor copies (cp.async.bulk.tensor) read.

#include "api/entry.hpp"
#include "objects/memory/tensor_map_encoding.hpp"
#include "objects/process/error.hpp"
#include "objects/process/thread_state.hpp"

#include <cstring>

using namespace cuprum::emulator;

namespace {

/// Checks what all functions need. The limits are those of the current device.
TensorMapLimits check_map(const CUtensorMap* map) {
    const TensorMapLimits limits = tensor_map_limits(current_context()->device());
    require(map != nullptr, "tensorMap is null");
    return limits;
}

// NOTE: a GPU's driver takes maps at any address. Compilers rely on the alignment of CUtensorMap,
// so these take plain pointers.

/// Reads a map from memory of the program.
TensorMap read(const void* source) {
    TensorMap map;
    std::memcpy(static_cast<void*>(&map), source, sizeof map);
    return map;
}

/// Writes a map to memory of the program.
void write(void* target, const TensorMap& map) {
    static_assert(sizeof(CUtensorMap) == sizeof map);
    std::memcpy(target, &map, sizeof map);
}

} // namespace

ROW(cuTensorMapEncodeTiled, 12000, CUtensorMap* tensorMap, CUtensorMapDataType tensorDataType,
    cuuint32_t tensorRank, void* globalAddress, const cuuint64_t* globalDim,
    const cuuint64_t* globalStrides, const cuuint32_t* boxDim, const cuuint32_t* elementStrides,
    CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
    CUtensorMapL2promotion l2Promotion, CUtensorMapFloatOOBfill oobFill) {
    const TensorMapLimits limits = check_map(tensorMap);
    write(tensorMap,
          encode_tiled(limits,
                       {tensorDataType, tensorRank, globalAddress, globalDim, globalStrides,
                        elementStrides, interleave, swizzle, l2Promotion, oobFill},
                       boxDim));
}

ROW(cuTensorMapEncodeIm2col, 12000, CUtensorMap* tensorMap, CUtensorMapDataType tensorDataType,
    cuuint32_t tensorRank, void* globalAddress, const cuuint64_t* globalDim,
    const cuuint64_t* globalStrides, const int* pixelBoxLowerCorner, const int* pixelBoxUpperCorner,
    cuuint32_t channelsPerPixel, cuuint32_t pixelsPerColumn, const cuuint32_t* elementStrides,
    CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
    CUtensorMapL2promotion l2Promotion, CUtensorMapFloatOOBfill oobFill) {
    const TensorMapLimits limits = check_map(tensorMap);
    write(tensorMap,
          encode_im2col(limits,
                        {tensorDataType, tensorRank, globalAddress, globalDim, globalStrides,
                         elementStrides, interleave, swizzle, l2Promotion, oobFill},
                        pixelBoxLowerCorner, pixelBoxUpperCorner,
                        {channelsPerPixel, pixelsPerColumn}));
}

ROW(cuTensorMapEncodeIm2colWide, 12080, CUtensorMap* tensorMap, CUtensorMapDataType tensorDataType,
    cuuint32_t tensorRank, void* globalAddress, const cuuint64_t* globalDim,
    const cuuint64_t* globalStrides, int pixelBoxLowerCornerWidth, int pixelBoxUpperCornerWidth,
    cuuint32_t channelsPerPixel, cuuint32_t pixelsPerColumn, const cuuint32_t* elementStrides,
    CUtensorMapInterleave interleave, CUtensorMapIm2ColWideMode mode, CUtensorMapSwizzle swizzle,
    CUtensorMapL2promotion l2Promotion, CUtensorMapFloatOOBfill oobFill) {
    const TensorMapLimits limits = check_map(tensorMap);
    write(tensorMap,
          encode_im2col_wide(limits,
                             {tensorDataType, tensorRank, globalAddress, globalDim, globalStrides,
                              elementStrides, interleave, swizzle, l2Promotion, oobFill},
                             pixelBoxLowerCornerWidth, pixelBoxUpperCornerWidth,
                             {channelsPerPixel, pixelsPerColumn}, mode));
}

ROW(cuTensorMapReplaceAddress, 12000, CUtensorMap* tensorMap, void* globalAddress) {
    static_cast<void>(check_map(tensorMap));
    TensorMap map = read(tensorMap);
    replace_address(map, globalAddress);
    write(tensorMap, map);
}
