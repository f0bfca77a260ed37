// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The state of the runtime: the chosen device and the last error per thread, and the retained
// primary contexts of the process.

#include "runtime.hpp"

#include "refused.hpp"
#include "registry.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

namespace cuprum::runtime {

namespace {

struct ThreadState {
    int device = 0;
    cudaError_t last_error = cudaSuccess;
    CUcontext context = nullptr; ///< the primary context that was made current last
    unsigned int resets = 0;     ///< how many resets there had been by then
};

thread_local ThreadState thread;

/// The primary contexts. Each is retained once until its device is reset.
struct Primaries {
    std::mutex mutex;
    std::map<int, CUcontext> contexts;
    std::atomic<unsigned int> resets = 0;
};

Primaries& primaries() {
    static auto* const shared = new Primaries; // outlives the functions that run at exit
    return *shared;
}

CUresult make_primary_current(int device);
CUresult reset(int device);
bool is_sticky(cudaError_t status);

} // namespace

cudaError_t start() noexcept {
    static const CUresult status = [] {
        const CUresult initialized = cuInit(0);
        // This handler is registered after the driver's handlers, so it runs before them. nvcc's
        // own unload functions are registered earlier and run when the driver is already gone.
        std::atexit([] { Registry::instance().unload_all(); });
        return initialized;
    }();
    return as_error(status);
}

cudaError_t enter() noexcept {
    if (const cudaError_t status = start(); status != cudaSuccess) {
        return status;
    }
    CUcontext context = nullptr;
    if (const CUresult status = cuCtxGetCurrent(&context); status != CUDA_SUCCESS) {
        return as_error(status);
    }
    // The context is unusable if another thread has reset it in the meantime.
    const bool is_stale = context == thread.context && thread.resets != primaries().resets;
    return context != nullptr && !is_stale ? cudaSuccess
                                           : as_error(make_primary_current(thread.device));
}

cudaError_t keep(cudaError_t status) noexcept {
    if (status != cudaSuccess && status != cudaErrorNotReady) {
        thread.last_error = status;
    }
    return status;
}

cudaError_t current_device(int* device) noexcept {
    CUcontext context = nullptr;
    if (cuCtxGetCurrent(&context) == CUDA_SUCCESS && context != nullptr) {
        return as_error(cuCtxGetDevice(device)); // the caller may have set it through the driver
    }
    *device = thread.device;
    return cudaSuccess;
}

int refuse(const char* name, const char* reason, int code) noexcept {
    log_refusal(name, reason);
    return keep(static_cast<cudaError_t>(code));
}

void log_refusal(const char* name, const char* reason) noexcept {
    const char* level = ::secure_getenv("CUPRUM_EMULATOR_LOG");
    if (level == nullptr || std::strcmp(level, "off") != 0) {
        std::fprintf(stderr, "cuprum-emulator: %s is not supported: %s\n", name, reason);
    }
}

namespace {

CUresult make_primary_current(int device) {
    Primaries& shared = primaries();
    const std::lock_guard lock(shared.mutex);
    auto found = shared.contexts.find(device);
    if (found == shared.contexts.end()) {
        CUcontext context = nullptr;
        if (const CUresult status = cuDevicePrimaryCtxRetain(&context, device);
            status != CUDA_SUCCESS) {
            return status;
        }
        found = shared.contexts.emplace(device, context).first;
    }
    thread.context = found->second;
    thread.resets = shared.resets;
    return cuCtxSetCurrent(found->second);
}

CUresult reset(int device) {
    Primaries& shared = primaries();
    const std::lock_guard lock(shared.mutex);
    CUresult status = cuDevicePrimaryCtxReset(device);
    if (status == CUDA_SUCCESS && shared.contexts.erase(device) != 0) {
        status = cuDevicePrimaryCtxRelease(device);
    }
    ++shared.resets;
    if (status == CUDA_SUCCESS) {
        status = cuCtxSetCurrent(nullptr); // the next call creates a new context
    }
    return status;
}

/// Returns whether an error is permanent because it leaves the context unusable.
bool is_sticky(cudaError_t status) {
    switch (status) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
        return true;
    default:
        return false;
    }
}

} // namespace

} // namespace cuprum::runtime

using namespace cuprum::runtime;

extern "C" {

cudaError_t CUDARTAPI cudaGetLastError() {
    const cudaError_t last = thread.last_error;
    if (!is_sticky(last)) {
        thread.last_error = cudaSuccess;
    }
    return last;
}

cudaError_t CUDARTAPI cudaPeekAtLastError() {
    return thread.last_error;
}

cudaError_t CUDARTAPI cudaSetDevice(int device) {
    return without_context([&] {
        int count = 0;
        if (const CUresult status = cuDeviceGetCount(&count); status != CUDA_SUCCESS) {
            return status;
        }
        if (device < 0 || device >= count) {
            return CUDA_ERROR_INVALID_DEVICE;
        }
        thread.device = device;
        return make_primary_current(device);
    });
}

cudaError_t CUDARTAPI cudaGetDevice(int* device) {
    return without_context(
        [&] { return device == nullptr ? cudaErrorInvalidValue : current_device(device); });
}

cudaError_t CUDARTAPI cudaInitDevice(int device, unsigned int deviceFlags, unsigned int flags) {
    return without_context([&] {
        if ((flags & ~static_cast<unsigned int>(cudaInitDeviceFlagsAreValid)) != 0) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        if ((flags & cudaInitDeviceFlagsAreValid) != 0) {
            if (const CUresult status = cuDevicePrimaryCtxSetFlags(device, deviceFlags);
                status != CUDA_SUCCESS) {
                return status;
            }
        }
        // This creates the context but does not choose it: the current context stays current.
        CUcontext before = nullptr;
        if (const CUresult status = cuCtxGetCurrent(&before); status != CUDA_SUCCESS) {
            return status;
        }
        const CUresult status = make_primary_current(device);
        const CUresult restored = cuCtxSetCurrent(before);
        return status != CUDA_SUCCESS ? status : restored;
    });
}

cudaError_t CUDARTAPI cudaSetDeviceFlags(unsigned int flags) {
    return without_context([&] {
        int device = 0;
        if (const cudaError_t status = current_device(&device); status != cudaSuccess) {
            return status;
        }
        return as_error(cuDevicePrimaryCtxSetFlags(device, flags));
    });
}

cudaError_t CUDARTAPI cudaGetDeviceFlags(unsigned int* flags) {
    return without_context([&] {
        int device = 0;
        int active = 0;
        if (const cudaError_t status = current_device(&device); status != cudaSuccess) {
            return status;
        }
        return as_error(cuDevicePrimaryCtxGetState(device, flags, &active));
    });
}

cudaError_t CUDARTAPI cudaDeviceReset() {
    return without_context([&] {
        int device = 0;
        if (const cudaError_t status = current_device(&device); status != cudaSuccess) {
            return status;
        }
        if (const CUresult status = reset(device); status != CUDA_SUCCESS) {
            return as_error(status);
        }
        thread.last_error = cudaSuccess;
        return cudaSuccess;
    });
}

} // extern "C"
