// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What every function of the runtime library does around its one driver call.
//
// The library is the CUDA runtime API over the driver API, and nothing else: it asks libcuda.so.1
// by the names that cuda.h declares. Where both APIs have the same enumeration or structure the
// values are passed through; `same` states for a type that they may be.

#pragma once

#include <cuda.h>

#include <cuda_runtime_api.h>

#include <new>

namespace cuprum::runtime {

/// Initialises the driver once in the process. Needs no context.
cudaError_t start() noexcept;

/// Makes a context current if none is: the primary one of the device this thread has chosen.
cudaError_t enter() noexcept;

/// Keeps `status` for cudaGetLastError, and returns it. "Not ready" is an answer, not an error.
cudaError_t keep(cudaError_t status) noexcept;

/// Returns the device that this thread's calls act on.
cudaError_t current_device(int* device) noexcept;

/// Logs on stderr that `name` is refused and why, unless CUPRUM_EMULATOR_LOG is off.
void log_refusal(const char* name, const char* reason) noexcept;

/// The codes of both APIs have the same numbers.
inline cudaError_t as_error(CUresult status) noexcept {
    return static_cast<cudaError_t>(status);
}

inline cudaError_t as_error(cudaError_t status) noexcept {
    return status;
}

/// Runs `body`, which returns a code of either API, and keeps what goes wrong.
template <typename Body>
cudaError_t guarded(cudaError_t (*prepare)() noexcept, Body&& body) noexcept {
    if (const cudaError_t status = prepare(); status != cudaSuccess) {
        return keep(status);
    }
    try {
        return keep(as_error(body()));
    } catch (const std::bad_alloc&) {
        return keep(cudaErrorMemoryAllocation);
    } catch (...) {
        return keep(cudaErrorUnknown);
    }
}

/// Runs `body` with a context current.
template <typename Body>
cudaError_t in_context(Body&& body) noexcept {
    return guarded(enter, body);
}

/// Runs `body` with the driver initialised and whichever context the caller has, or none.
template <typename Body>
cudaError_t without_context(Body&& body) noexcept {
    return guarded(start, body);
}

inline CUdeviceptr address(const void* pointer) noexcept {
    return reinterpret_cast<CUdeviceptr>(pointer);
}

inline void* pointer(CUdeviceptr address) noexcept {
    return reinterpret_cast<void*>(
        address); // NOLINT(performance-no-int-to-ptr): that is what it is
}

/// Reads an object of one API as the other's: same members, same order, same values.
template <typename To, typename From>
To* same(From* from) noexcept {
    static_assert(sizeof(To) == sizeof(From) && alignof(To) == alignof(From));
    return reinterpret_cast<To*>(from);
}

} // namespace cuprum::runtime
