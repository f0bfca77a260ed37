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
#include <utility>

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
///
/// No call of the driver is made under the mutex: it may wait for the program's host functions, and
/// calls its log callbacks.
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

} // namespace

// Not a static initialiser, which would be a lock over cuInit: that may call a log callback.
cudaError_t start() noexcept {
    constexpr int unknown = -1;
    static std::atomic<int> outcome{unknown};
    static std::atomic<bool> is_registered{false};
    if (const int known = outcome.load(std::memory_order_acquire); known != unknown) {
        return static_cast<cudaError_t>(known);
    }
    const cudaError_t status = as_error(cuInit(0));
    // This handler is registered after the driver's handlers, so it runs before them. nvcc's own
    // unload functions are registered earlier and run when the driver is already gone.
    if (!is_registered.exchange(true)) {
        std::atexit([] { Registry::instance().unload_all(); });
    }
    outcome.store(status, std::memory_order_release);
    return status;
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

void log_failure(const std::string& reason) noexcept {
    const char* level = ::secure_getenv("CUPRUM_EMULATOR_LOG");
    if (level != nullptr && (std::strcmp(level, "info") == 0 || std::strcmp(level, "debug") == 0)) {
        std::fprintf(stderr, "cuprum-emulator: %s\n", reason.c_str());
    }
}

void log_refusal(const char* name, const char* reason) noexcept {
    const char* level = ::secure_getenv("CUPRUM_EMULATOR_LOG");
    if (level == nullptr || std::strcmp(level, "off") != 0) {
        std::fprintf(stderr, "cuprum-emulator: %s is not supported: %s\n", name, reason);
    }
}

namespace {

/// Returns the context of a device if it is retained, and the count of resets until then.
CUcontext retained(int device, unsigned int* resets) {
    Primaries& shared = primaries();
    const std::lock_guard lock(shared.mutex);
    *resets = shared.resets;
    const auto found = shared.contexts.find(device);
    return found != shared.contexts.end() ? found->second : nullptr;
}

CUresult primary_context(int device, CUcontext* result, unsigned int* resets) {
    Primaries& shared = primaries();
    for (;;) {
        *result = retained(device, resets);
        if (*result != nullptr) {
            return CUDA_SUCCESS;
        }
        CUresult status = cuDevicePrimaryCtxRetain(result, device);
        if (status != CUDA_SUCCESS) {
            return status;
        }
        bool is_reset = false;
        {
            const std::lock_guard lock(shared.mutex);
            is_reset = shared.resets != *resets;
            if (!is_reset && shared.contexts.emplace(device, *result).second) {
                return CUDA_SUCCESS;
            }
        }
        // Another thread has retained the context meanwhile, so that one share is enough. Or one
        // has reset a device: if it was this one, the context must be retained again.
        status = cuDevicePrimaryCtxRelease(device);
        if (status != CUDA_SUCCESS || !is_reset) {
            return status;
        }
    }
}

CUresult make_primary_current(int device) {
    CUcontext context = nullptr;
    unsigned int resets = 0;
    if (const CUresult status = primary_context(device, &context, &resets);
        status != CUDA_SUCCESS) {
        return status;
    }
    thread.context = context;
    thread.resets = resets;
    return cuCtxSetCurrent(context);
}

/// Sets the flags of a device's primary context. Memory of the host is mapped with any flags.
CUresult set_flags(int device, unsigned int flags) {
    return cuDevicePrimaryCtxSetFlags(device, flags & ~unsigned{cudaDeviceMapHost});
}

CUresult reset(int device) {
    CUresult status = cuDevicePrimaryCtxReset(device);
    bool was_retained = false;
    if (status == CUDA_SUCCESS) {
        Primaries& shared = primaries();
        const std::lock_guard lock(shared.mutex);
        was_retained = shared.contexts.erase(device) != 0;
        ++shared.resets;
    }
    if (was_retained) {
        status = cuDevicePrimaryCtxRelease(device);
    }
    if (status == CUDA_SUCCESS) {
        status = cuCtxSetCurrent(nullptr); // the next call creates a new context
    }
    return status;
}

} // namespace

CUresult primary_context(int device, CUcontext* result) {
    unsigned int resets = 0;
    return primary_context(device, result, &resets);
}

} // namespace cuprum::runtime

using namespace cuprum::runtime;

extern "C" {

// An error that makes a context unusable is no exception: NVIDIA's library forgets it too, and
// every later call in that context stores it again.
cudaError_t CUDARTAPI cudaGetLastError() {
    return std::exchange(thread.last_error, cudaSuccess);
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
            if (const CUresult status = set_flags(device, deviceFlags); status != CUDA_SUCCESS) {
                return status;
            }
        }
        // This creates the context but does not choose it: the thread's own stays.
        CUcontext context = nullptr;
        return primary_context(device, &context);
    });
}

cudaError_t CUDARTAPI cudaSetDeviceFlags(unsigned int flags) {
    return without_context([&] {
        int device = 0;
        if (const cudaError_t status = current_device(&device); status != cudaSuccess) {
            return status;
        }
        return as_error(set_flags(device, flags));
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
        return as_error(reset(device));
    });
}

} // extern "C"
