// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The common code around the driver call in every function of the runtime library.
//
// The library implements the CUDA runtime API on top of the driver API. It calls libcuda.so.1 only
// by the names that cuda.h declares. If both APIs have the same enumeration or structure, its
// values are passed through; `same` states this for a type.

#pragma once

#include <cuda.h>

#include <cuda_runtime_api.h>

#include <new>
#include <string>

namespace cuprum::runtime {

/// The version that the library reports. libcudart.so.12 serves programs of CUDA 12.0 to 12.9.
#ifdef CUPRUM_RUNTIME_12
inline constexpr int VERSION = 12090;
#else
inline constexpr int VERSION = CUDART_VERSION;
#endif

/// Initialises the driver once per process. Needs no context.
cudaError_t start() noexcept;

/// If no context is current, makes the primary context of the thread's chosen device current.
cudaError_t enter() noexcept;

/// Returns a device's primary context, which the library retains until the device is reset.
CUresult primary_context(int device, CUcontext* result);

/// Stores `status` for cudaGetLastError and returns it. "Not ready" is not an error.
cudaError_t keep(cudaError_t status) noexcept;

/// Returns the device that this thread's calls use.
cudaError_t current_device(int* device) noexcept;

/// Logs to stderr that `name` is refused and why, unless CUPRUM_EMULATOR_LOG is off.
void log_refusal(const char* name, const char* reason) noexcept;

/// Logs to stderr why a call fails, if CUPRUM_EMULATOR_LOG is "info" or "debug".
void log_failure(const std::string& reason) noexcept;

/// Returns `status` after log_failure().
inline cudaError_t fail(cudaError_t status, const std::string& reason) noexcept {
    log_failure(reason);
    return status;
}

/// Converts a code. The codes of both APIs have the same numbers.
inline cudaError_t as_error(CUresult status) noexcept {
    return static_cast<cudaError_t>(status);
}

inline cudaError_t as_error(cudaError_t status) noexcept {
    return status;
}

/// Runs `body`, which returns a code of either API, and stores any error.
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

/// Runs `body` with the driver initialised, in the caller's context or in none.
template <typename Body>
cudaError_t without_context(Body&& body) noexcept {
    return guarded(start, body);
}

inline CUdeviceptr address(const void* pointer) noexcept {
    return reinterpret_cast<CUdeviceptr>(pointer);
}

inline void* pointer(CUdeviceptr address) noexcept {
    return reinterpret_cast<void*>(address); // NOLINT(performance-no-int-to-ptr): it is an address
}

/// Calls `get` for an address and writes it to `*result`, which must not be null.
template <typename Get>
CUresult put_address(void** result, Get&& get) {
    if (result == nullptr) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUdeviceptr found = 0;
    const CUresult status = get(&found);
    *result = pointer(found);
    return status;
}

/// The same for new memory. A size of 0 is valid here but not in the driver.
template <typename Get>
CUresult put_memory(void** result, std::size_t size, Get&& get) {
    return put_address(result,
                       [&](CUdeviceptr* found) { return size == 0 ? CUDA_SUCCESS : get(found); });
}

/// Reinterprets an object of one API as the other's: same members, order and values.
template <typename To, typename From>
To* same(From* from) noexcept {
    static_assert(sizeof(To) == sizeof(From) && alignof(To) == alignof(From));
    return reinterpret_cast<To*>(from);
}

} // namespace cuprum::runtime
