// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "api/cuda_abi.hpp"
#include "objects/process/error.hpp"

#include <cstdint>
#include <limits>

namespace cuprum::emulator {

/// Throws NOT_SUPPORTED for any way of sharing but file descriptors, INVALID_VALUE for none.
inline void require_descriptor_type(CUmemAllocationHandleType type) {
    require(type != CU_MEM_HANDLE_TYPE_NONE, "the type of the handle is none");
    if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
        fail(CUDA_ERROR_NOT_SUPPORTED,
             "the emulated device shares memory by POSIX file descriptors only");
    }
}

/// Returns the file descriptor that CUDA's functions take in the place of a pointer.
[[nodiscard]] inline int descriptor_of(void* handle) {
    const auto number = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(handle));
    require(number >= 0 && number <= std::numeric_limits<int>::max(),
            "the handle is not a file descriptor");
    return static_cast<int>(number);
}

} // namespace cuprum::emulator
