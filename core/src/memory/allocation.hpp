// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "driver/call.hpp"

#include <cuprum/location.hpp>

#include <cuda.h>

#include <cstddef>
#include <limits>
#include <optional>
#include <string_view>

namespace cuprum::detail {

/// Throws OutOfMemoryError with what was asked for and what is free: on a device, or on the host if
/// `device` is negative. If that cannot be found out, throws the plain error.
[[noreturn]] void raise_out_of_memory(const char* call, std::size_t bytes, int device,
                                      std::string_view hint = {});

/// Throws for a size that was negative before it was converted.
[[noreturn]] void raise_negative_size(std::size_t bytes, const char* name);

/// Throws for a function that failed to free `pointer`, naming it if that is what is wrong.
[[noreturn]] void raise_free_failure(CUresult status, const char* call, CUdeviceptr pointer);

/// Refuses a size that no memory has: a negative number that became unsigned. `name` is what the
/// caller called it.
/// @throws std::invalid_argument that shows the negative number.
inline void check_size(std::size_t bytes, const char* name = "size") {
    if (bytes > static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max())) [[unlikely]] {
        raise_negative_size(bytes, name);
    }
}

/// Calls a function that allocates `bytes` and throws if it fails, with the figures if it was for
/// want of memory.
template <typename... Params, typename... Args>
void allocate(std::size_t bytes, int device, const driver::Entry<CUresult(Params...)>& entry,
              Args... args) {
    check_size(bytes);
    const CUresult status = entry(args...);
    if (status == CUDA_ERROR_OUT_OF_MEMORY) [[unlikely]] {
        raise_out_of_memory(entry.name, bytes, device);
    }
    if (status != CUDA_SUCCESS) [[unlikely]] {
        driver::raise(status, entry.name);
    }
}

/// Returns a location as the driver takes it.
[[nodiscard]] CUmemLocation driver_location(const Location& location);

/// Returns the location that a CUmemLocationType and an id mean, nothing for "none".
[[nodiscard]] std::optional<Location> location_from(int type, int id);

} // namespace cuprum::detail
