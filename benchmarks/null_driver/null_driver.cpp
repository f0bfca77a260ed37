// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A driver that does nothing and returns immediately. Benchmarks on it show only our own overhead,
// to a few nanoseconds and on any machine. Functions that are not defined here succeed without
// effect.

#include <cuda.h>

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace {

constexpr int VERSION = 13000;
constexpr std::size_t MEMORY_BYTES = std::size_t{64} << 30U;

// Handles point to this. It is never read.
int object;
thread_local CUcontext current = nullptr;

template <typename Handle>
Handle handle() {
    return reinterpret_cast<Handle>(&object);
}

/// The kernels of the benchmarks, by name.
struct NullKernel {
    const char* name;
    int count;
    int sizes[16];
};

constexpr NullKernel KERNELS[] = {
    {"empty", 0, {}},
    {"three", 3, {8, 4, 8}},
    {"sixteen", 16, {8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8}},
};

CUresult succeed() {
    return CUDA_SUCCESS;
}

} // namespace

#define EXPORT extern "C" __attribute__((visibility("default"))) CUresult CUDAAPI

EXPORT cuInit(unsigned) {
    return CUDA_SUCCESS;
}

EXPORT cuDriverGetVersion(int* version) {
    *version = VERSION;
    return CUDA_SUCCESS;
}

EXPORT cuGetProcAddress(const char* symbol, void** function, int, cuuint64_t,
                        CUdriverProcAddressQueryResult* found) {
    static void* const self = [] {
        Dl_info info{};
        dladdr(&object, &info);
        return dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    }();
    *function = nullptr;
    for (const char* suffix : {"", "_v2", "_v3", "_v4"}) {
        if (*function == nullptr) {
            *function = dlsym(self, (std::string(symbol) + suffix).c_str());
        }
    }
    if (*function == nullptr) {
        *function = reinterpret_cast<void*>(&succeed);
    }
    if (found != nullptr) {
        *found = CU_GET_PROC_ADDRESS_SUCCESS;
    }
    return CUDA_SUCCESS;
}

// NVRTC asks for tables of private functions, but works without them.
EXPORT cuGetExportTable(const void** table, const CUuuid*) {
    *table = nullptr;
    return CUDA_ERROR_NOT_FOUND;
}

EXPORT cuGetErrorName(CUresult, const char** text) {
    *text = "CUDA_ERROR_UNKNOWN";
    return CUDA_SUCCESS;
}

EXPORT cuGetErrorString(CUresult, const char** text) {
    *text = "the null driver knows no errors";
    return CUDA_SUCCESS;
}

// ---- devices and contexts ----------------------------------------------------------------------

EXPORT cuDeviceGet(CUdevice* device, int ordinal) {
    *device = ordinal;
    return CUDA_SUCCESS;
}

EXPORT cuDeviceGetCount(int* count) {
    *count = 1;
    return CUDA_SUCCESS;
}

EXPORT cuDeviceGetName(char* name, int size, CUdevice) {
    std::strncpy(name, "null device", static_cast<std::size_t>(size));
    return CUDA_SUCCESS;
}

EXPORT cuDeviceGetUuid(CUuuid* uuid, CUdevice) {
    *uuid = CUuuid{};
    return CUDA_SUCCESS;
}

EXPORT cuDeviceGetPCIBusId(char* text, int size, CUdevice) {
    std::strncpy(text, "0000:00:00.0", static_cast<std::size_t>(size));
    return CUDA_SUCCESS;
}

EXPORT cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        *value = 9;
        break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        *value = 0;
        break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
        *value = 227 * 1024;
        break;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = 1024;
        break;
    default:
        *value = 1;
    }
    return CUDA_SUCCESS;
}

EXPORT cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
    *context = handle<CUcontext>();
    return CUDA_SUCCESS;
}

EXPORT cuDevicePrimaryCtxGetState(CUdevice, unsigned* flags, int* is_active) {
    *flags = 0;
    *is_active = 1;
    return CUDA_SUCCESS;
}

EXPORT cuCtxGetCurrent(CUcontext* context) {
    *context = current;
    return CUDA_SUCCESS;
}

EXPORT cuCtxSetCurrent(CUcontext context) {
    current = context;
    return CUDA_SUCCESS;
}

EXPORT cuCtxPushCurrent(CUcontext context) {
    current = context;
    return CUDA_SUCCESS;
}

EXPORT cuCtxPopCurrent(CUcontext* context) {
    *context = current;
    current = nullptr;
    return CUDA_SUCCESS;
}

EXPORT cuCtxGetDevice(CUdevice* device) {
    *device = 0;
    return current == nullptr ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
}

EXPORT cuCtxGetStreamPriorityRange(int* least, int* greatest) {
    *least = 0;
    *greatest = -5;
    return CUDA_SUCCESS;
}

EXPORT cuMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
    *free_bytes = *total_bytes = MEMORY_BYTES;
    return CUDA_SUCCESS;
}

// ---- streams and events ------------------------------------------------------------------------

EXPORT cuStreamCreateWithPriority(CUstream* stream, unsigned, int) {
    *stream = handle<CUstream>();
    return CUDA_SUCCESS;
}

EXPORT cuStreamGetCtx(CUstream, CUcontext* context) {
    *context = handle<CUcontext>();
    return CUDA_SUCCESS;
}

EXPORT cuStreamGetFlags(CUstream, unsigned* flags) {
    *flags = CU_STREAM_NON_BLOCKING;
    return CUDA_SUCCESS;
}

EXPORT cuStreamGetPriority(CUstream, int* priority) {
    *priority = 0;
    return CUDA_SUCCESS;
}

EXPORT cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode*) {
    return CUDA_SUCCESS;
}

EXPORT cuStreamIsCapturing(CUstream, CUstreamCaptureStatus* status) {
    *status = CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

EXPORT cuStreamDestroy(CUstream) {
    return CUDA_SUCCESS;
}

EXPORT cuStreamSynchronize(CUstream) {
    return CUDA_SUCCESS;
}

EXPORT cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType, cuuint32_t, void*,
                              const cuuint64_t*, const cuuint64_t*, const cuuint32_t*,
                              const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                              CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
    *map = {};
    return CUDA_SUCCESS;
}

EXPORT cuEventCreate(CUevent* event, unsigned) {
    *event = handle<CUevent>();
    return CUDA_SUCCESS;
}

EXPORT cuArray3DCreate_v2(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR*) {
    *array = handle<CUarray>();
    return CUDA_SUCCESS;
}

EXPORT cuArrayDestroy(CUarray) {
    return CUDA_SUCCESS;
}

EXPORT cuTexObjectCreate(CUtexObject* texture, const CUDA_RESOURCE_DESC*, const CUDA_TEXTURE_DESC*,
                         const CUDA_RESOURCE_VIEW_DESC*) {
    *texture = 1;
    return CUDA_SUCCESS;
}

EXPORT cuTexObjectDestroy(CUtexObject) {
    return CUDA_SUCCESS;
}

EXPORT cuSurfObjectCreate(CUsurfObject* surface, const CUDA_RESOURCE_DESC*) {
    *surface = 1;
    return CUDA_SUCCESS;
}

EXPORT cuSurfObjectDestroy(CUsurfObject) {
    return CUDA_SUCCESS;
}

EXPORT cuEventDestroy(CUevent) {
    return CUDA_SUCCESS;
}

EXPORT cuEventRecord(CUevent, CUstream) {
    return CUDA_SUCCESS;
}

EXPORT cuStreamWaitEvent(CUstream, CUevent, unsigned) {
    return CUDA_SUCCESS;
}

EXPORT cuEventQuery(CUevent) {
    return CUDA_SUCCESS;
}

EXPORT cuEventElapsedTime(float* milliseconds, CUevent, CUevent) {
    *milliseconds = 0;
    return CUDA_SUCCESS;
}

// ---- memory ------------------------------------------------------------------------------------

EXPORT cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice) {
    *pool = handle<CUmemoryPool>();
    return CUDA_SUCCESS;
}

EXPORT cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps*) {
    *pool = handle<CUmemoryPool>();
    return CUDA_SUCCESS;
}

EXPORT cuMemPoolGetAttribute(CUmemoryPool, CUmemPool_attribute, void* value) {
    *static_cast<cuuint64_t*>(value) = 1;
    return CUDA_SUCCESS;
}

EXPORT cuMemAllocFromPoolAsync(CUdeviceptr* pointer, std::size_t, CUmemoryPool, CUstream) {
    *pointer = reinterpret_cast<CUdeviceptr>(&object);
    return CUDA_SUCCESS;
}

EXPORT cuMemFreeAsync(CUdeviceptr, CUstream) {
    return CUDA_SUCCESS;
}

EXPORT cuMemcpyAsync(CUdeviceptr, CUdeviceptr, std::size_t, CUstream) {
    return CUDA_SUCCESS;
}

EXPORT cuMemsetD8Async(CUdeviceptr, unsigned char, std::size_t, CUstream) {
    return CUDA_SUCCESS;
}

EXPORT cuPointerGetAttributes(unsigned count, CUpointer_attribute* names, void** values,
                              CUdeviceptr pointer) {
    for (unsigned i = 0; i < count; ++i) {
        switch (names[i]) {
        case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
            std::memcpy(values[i], &pointer, sizeof(pointer));
            break;
        case CU_POINTER_ATTRIBUTE_HOST_POINTER:
            std::memset(values[i], 0, sizeof(void*));
            break;
        case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
            *static_cast<unsigned*>(values[i]) = CU_MEMORYTYPE_DEVICE;
            break;
        default:
            *static_cast<unsigned*>(values[i]) = 0;
        }
    }
    return CUDA_SUCCESS;
}

EXPORT cuPointerGetAttribute(void* value, CUpointer_attribute name, CUdeviceptr pointer) {
    return cuPointerGetAttributes(1, &name, &value, pointer);
}

// ---- code --------------------------------------------------------------------------------------

EXPORT cuLibraryLoadData(CUlibrary* library, const void*, CUjit_option*, void**, unsigned,
                         CUlibraryOption*, void**, unsigned) {
    *library = handle<CUlibrary>();
    return CUDA_SUCCESS;
}

EXPORT cuLibraryGetKernel(CUkernel* kernel, CUlibrary, const char* name) {
    for (const NullKernel& known : KERNELS) {
        if (std::strcmp(known.name, name) == 0) {
            *kernel = reinterpret_cast<CUkernel>(const_cast<NullKernel*>(&known));
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_NOT_FOUND;
}

EXPORT cuLibraryGetKernelCount(unsigned* count, CUlibrary) {
    *count = 0;
    return CUDA_SUCCESS;
}

EXPORT cuKernelGetName(const char** name, CUkernel kernel) {
    *name = reinterpret_cast<const NullKernel*>(kernel)->name;
    return CUDA_SUCCESS;
}

EXPORT cuKernelGetParamInfo(CUkernel kernel, std::size_t index, std::size_t* offset,
                            std::size_t* size) {
    const auto& known = *reinterpret_cast<const NullKernel*>(kernel);
    if (index >= static_cast<std::size_t>(known.count)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *offset = 8 * index;
    *size = static_cast<std::size_t>(known.sizes[index]);
    return CUDA_SUCCESS;
}

EXPORT cuKernelGetAttribute(int* value, CUfunction_attribute, CUkernel, CUdevice) {
    *value = 1024;
    return CUDA_SUCCESS;
}

EXPORT cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction, int, std::size_t) {
    *blocks = 8;
    return CUDA_SUCCESS;
}

EXPORT cuLaunchKernelEx(const CUlaunchConfig*, CUfunction, void**, void**) {
    return CUDA_SUCCESS;
}
