// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "runtime.hpp"

namespace cuprum::runtime {

/// The format of a texel as the driver describes it.
struct TexelFormat {
    CUarray_format format = CU_AD_FORMAT_FLOAT;
    unsigned channels = 0;
};

/// Converts a channel description. Returns cudaErrorInvalidChannelDescriptor if there is no such
/// format.
cudaError_t to_driver(const cudaChannelFormatDesc& description, TexelFormat& result) noexcept;

/// Converts a format of the driver. Formats that the runtime API does not know have the kind
/// cudaChannelFormatKindNone.
cudaChannelFormatDesc from_driver(const TexelFormat& format) noexcept;

/// Returns the bytes of a texel, or of a compressed block; 0 for planar formats.
std::size_t texel_bytes(const TexelFormat& format) noexcept;

/// Returns the descriptor of an array.
CUresult describe(cudaArray_const_t array, CUDA_ARRAY3D_DESCRIPTOR& result) noexcept;

// Both APIs name the same objects, by different types.

inline CUarray as_driver(cudaArray_const_t array) noexcept {
    return reinterpret_cast<CUarray>(const_cast<cudaArray_t>(array));
}

inline CUmipmappedArray as_driver(cudaMipmappedArray_const_t mipmap) noexcept {
    return reinterpret_cast<CUmipmappedArray>(const_cast<cudaMipmappedArray_t>(mipmap));
}

} // namespace cuprum::runtime
