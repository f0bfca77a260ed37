// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "driver/call.hpp"

#include <cstddef>
#include <string_view>

namespace cuprum::detail {

/// Throws OutOfMemoryError with what was asked for and what is free: on a device, or on the host if
/// `device` is negative. If that cannot be found out, throws the plain error.
[[noreturn]] void raise_out_of_memory(const char* call, std::size_t bytes, int device,
                                      std::string_view hint = {});

/// Throws for a function that failed to free `pointer`, naming it if that is what is wrong.
[[noreturn]] void raise_free_failure(CUresult status, const char* call, CUdeviceptr pointer);

/// Calls a function that allocates `bytes` and throws if it fails, with the figures if it was for
/// want of memory.
template <typename... Params, typename... Args>
void allocate(std::size_t bytes, int device, const driver::Entry<CUresult(Params...)>& entry,
              Args... args) {
    const CUresult status = entry(args...);
    if (status == CUDA_ERROR_OUT_OF_MEMORY) [[unlikely]] {
        raise_out_of_memory(entry.name, bytes, device);
    }
    if (status != CUDA_SUCCESS) [[unlikely]] {
        driver::raise(status, entry.name);
    }
}

} // namespace cuprum::detail
