// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Copies as cuda.h describes them.

#pragma once

#include "objects/memory/copy.hpp"

#include <cuda.h>

namespace cuprum::emulator {

/// Where in an array a copy begins.
struct ArrayPosition {
    std::uint64_t x_bytes = 0;
    std::uint64_t y = 0; // a row of texels, or of compressed blocks
    std::uint64_t z = 0; // a slice, a layer or a face
};

/// Returns one end of a copy that is an array. Throws INVALID_VALUE if the copy does not fit.
[[nodiscard]] CopySide array_side(CUarray handle, const ArrayPosition& begin, const Copy& copy);

/// Reads a copy; throws INVALID_VALUE or NOT_SUPPORTED for what is none.
[[nodiscard]] Copy copy_of(const CUDA_MEMCPY2D& request);
[[nodiscard]] Copy copy_of(const CUDA_MEMCPY3D& request);
[[nodiscard]] Copy copy_of(const CUDA_MEMCPY3D_PEER& request);

/// Describes a copy as copy_of() reads it. Ends of which only unified addressing knows the type get
/// the type that they have now.
[[nodiscard]] CUDA_MEMCPY3D request_of(const Copy& copy);

} // namespace cuprum::emulator
