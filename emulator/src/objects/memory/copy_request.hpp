// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Copies as cuda.h describes them.

#pragma once

#include "objects/memory/copy.hpp"

#include <cuda.h>

namespace cuprum::emulator {

/// Reads a copy; throws INVALID_VALUE or NOT_SUPPORTED for what is none.
[[nodiscard]] Copy copy_of(const CUDA_MEMCPY2D& request);
[[nodiscard]] Copy copy_of(const CUDA_MEMCPY3D& request);
[[nodiscard]] Copy copy_of(const CUDA_MEMCPY3D_PEER& request);

/// Describes a copy as copy_of() reads it. Ends of which only unified addressing knows the type get
/// the type that they have now.
[[nodiscard]] CUDA_MEMCPY3D request_of(const Copy& copy);

} // namespace cuprum::emulator
