// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// cudaDeviceProp, filled in from the driver's attributes.

#include "runtime.hpp"

#ifdef CUPRUM_RUNTIME_12
#include "version_12/properties.hpp"
#endif

#include <initializer_list>

using namespace cuprum::runtime;

namespace {

/// The structure that programs pass. The header declares the one of CUDA 13.
#ifdef CUPRUM_RUNTIME_12
using Properties = version_12::DeviceProperties;
#else
using Properties = cudaDeviceProp;
#endif

/// A reader of one device's attributes. It stops at the first failure and keeps its code.
class Attributes {
public:
    explicit Attributes(CUdevice device) : device_(device) {}

    [[nodiscard]] CUresult status() const { return status_; }

    template <typename Value>
    void read(Value& into, CUdevice_attribute attribute) {
        int value = 0;
        if (status_ == CUDA_SUCCESS) {
            status_ = cuDeviceGetAttribute(&value, attribute, device_);
        }
        into = static_cast<Value>(value);
    }

    template <std::size_t Count>
    void read(int (&into)[Count], std::initializer_list<CUdevice_attribute> attributes) {
        int* each = into;
        for (const CUdevice_attribute attribute : attributes) {
            read(*each++, attribute);
        }
    }

private:
    CUdevice device_;
    CUresult status_ = CUDA_SUCCESS;
};

void read_limits(Properties& result, Attributes& from) {
    from.read(result.major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    from.read(result.minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    from.read(result.warpSize, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
    from.read(result.multiProcessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    from.read(result.regsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
    from.read(result.regsPerMultiprocessor, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
    from.read(result.sharedMemPerBlock, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    from.read(result.sharedMemPerBlockOptin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    from.read(result.sharedMemPerMultiprocessor,
              CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
    from.read(result.reservedSharedMemPerBlock,
              CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
    from.read(result.totalConstMem, CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
    from.read(result.memPitch, CU_DEVICE_ATTRIBUTE_MAX_PITCH);
    from.read(result.maxThreadsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    from.read(result.maxThreadsPerMultiProcessor,
              CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
    from.read(result.maxBlocksPerMultiProcessor, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
    from.read(result.maxThreadsDim,
              {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
               CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z});
    from.read(result.maxGridSize,
              {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
               CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z});
    from.read(result.asyncEngineCount, CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT);
    from.read(result.memoryBusWidth, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
    from.read(result.l2CacheSize, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
    from.read(result.persistingL2CacheMaxSize, CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE);
    from.read(result.accessPolicyMaxWindowSize, CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE);
    from.read(result.pciBusID, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID);
    from.read(result.pciDeviceID, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID);
    from.read(result.pciDomainID, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID);
    from.read(result.multiGpuBoardGroupID, CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID);
}

void read_textures(Properties& result, Attributes& from) {
    from.read(result.textureAlignment, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT);
    from.read(result.texturePitchAlignment, CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT);
    from.read(result.surfaceAlignment, CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT);
    from.read(result.maxTexture1D, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH);
    from.read(result.maxTexture1DMipmap, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH);
    from.read(result.maxTexture2D, {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH,
                                    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT});
    from.read(result.maxTexture2DMipmap, {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH,
                                          CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT});
    from.read(result.maxTexture2DLinear, {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH,
                                          CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT,
                                          CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH});
    from.read(result.maxTexture2DGather, {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH,
                                          CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT});
    from.read(result.maxTexture3D, {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH,
                                    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT,
                                    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH});
    from.read(result.maxTexture3DAlt, {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE,
                                       CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE,
                                       CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE});
    from.read(result.maxTextureCubemap, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH);
    from.read(result.maxTexture1DLayered, {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH,
                                           CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS});
    from.read(result.maxTexture2DLayered, {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH,
                                           CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT,
                                           CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS});
    from.read(result.maxTextureCubemapLayered,
              {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH,
               CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS});
    from.read(result.maxSurface1D, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH);
    from.read(result.maxSurface2D, {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH,
                                    CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT});
    from.read(result.maxSurface3D, {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH,
                                    CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT,
                                    CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH});
    from.read(result.maxSurface1DLayered, {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH,
                                           CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_LAYERS});
    from.read(result.maxSurface2DLayered, {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH,
                                           CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_HEIGHT,
                                           CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS});
    from.read(result.maxSurfaceCubemap, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_WIDTH);
    from.read(result.maxSurfaceCubemapLayered,
              {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH,
               CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS});
    from.read(result.sparseCudaArraySupported, CU_DEVICE_ATTRIBUTE_SPARSE_CUDA_ARRAY_SUPPORTED);
    from.read(result.deferredMappingCudaArraySupported,
              CU_DEVICE_ATTRIBUTE_DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED);
}

void read_abilities(Properties& result, Attributes& from) {
    from.read(result.integrated, CU_DEVICE_ATTRIBUTE_INTEGRATED);
    from.read(result.canMapHostMemory, CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY);
    from.read(result.concurrentKernels, CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS);
    from.read(result.ECCEnabled, CU_DEVICE_ATTRIBUTE_ECC_ENABLED);
    from.read(result.tccDriver, CU_DEVICE_ATTRIBUTE_TCC_DRIVER);
    from.read(result.unifiedAddressing, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING);
    from.read(result.streamPrioritiesSupported, CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED);
    from.read(result.globalL1CacheSupported, CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED);
    from.read(result.localL1CacheSupported, CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED);
    from.read(result.managedMemory, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY);
    from.read(result.isMultiGpuBoard, CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD);
    from.read(result.hostNativeAtomicSupported, CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED);
    from.read(result.pageableMemoryAccess, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS);
    from.read(result.concurrentManagedAccess, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS);
    from.read(result.computePreemptionSupported, CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED);
    from.read(result.canUseHostPointerForRegisteredMem,
              CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM);
    from.read(result.cooperativeLaunch, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH);
    from.read(result.pageableMemoryAccessUsesHostPageTables,
              CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES);
    from.read(result.directManagedMemAccessFromHost,
              CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST);
    from.read(result.hostRegisterSupported, CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED);
    from.read(result.hostRegisterReadOnlySupported,
              CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED);
    from.read(result.timelineSemaphoreInteropSupported,
              CU_DEVICE_ATTRIBUTE_TIMELINE_SEMAPHORE_INTEROP_SUPPORTED);
    from.read(result.memoryPoolsSupported, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
    from.read(result.memoryPoolSupportedHandleTypes,
              CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES);
    from.read(result.gpuDirectRDMASupported, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED);
    from.read(result.gpuDirectRDMAFlushWritesOptions,
              CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS);
    from.read(result.gpuDirectRDMAWritesOrdering,
              CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING);
    from.read(result.ipcEventSupported, CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED);
    from.read(result.clusterLaunch, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH);
    from.read(result.unifiedFunctionPointers, CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS);
}

void read_what_versions_differ_in(Properties& result, Attributes& from) {
#ifdef CUPRUM_RUNTIME_12
    from.read(result.clockRate, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
    from.read(result.deviceOverlap, CU_DEVICE_ATTRIBUTE_GPU_OVERLAP);
    from.read(result.kernelExecTimeoutEnabled, CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT);
    from.read(result.computeMode, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE);
    from.read(result.maxTexture1DLinear, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH);
    from.read(result.memoryClockRate, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
    from.read(result.singleToDoublePrecisionPerfRatio,
              CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO);
#else
    from.read(result.gpuPciDeviceID, CU_DEVICE_ATTRIBUTE_GPU_PCI_DEVICE_ID);
    from.read(result.gpuPciSubsystemID, CU_DEVICE_ATTRIBUTE_GPU_PCI_SUBSYSTEM_ID);
    from.read(result.deviceNumaConfig, CU_DEVICE_ATTRIBUTE_NUMA_CONFIG);
    from.read(result.deviceNumaId, CU_DEVICE_ATTRIBUTE_NUMA_ID);
    from.read(result.hostNumaId, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID);
    from.read(result.mpsEnabled, CU_DEVICE_ATTRIBUTE_MPS_ENABLED);
    from.read(result.hostNumaMultinodeIpcSupported,
              CU_DEVICE_ATTRIBUTE_HOST_NUMA_MULTINODE_IPC_SUPPORTED);
#endif
}

CUresult fill(Properties& result, CUdevice device) {
    result = {};
    CUresult status = cuDeviceGetName(result.name, sizeof result.name, device);
    if (status == CUDA_SUCCESS) {
        status = cuDeviceGetUuid(same<CUuuid>(&result.uuid), device);
    }
    if (status == CUDA_SUCCESS) {
        status = cuDeviceTotalMem(&result.totalGlobalMem, device);
    }
    if (status != CUDA_SUCCESS) {
        return status;
    }
    Attributes attributes(device);
    read_limits(result, attributes);
    read_textures(result, attributes);
    read_abilities(result, attributes);
    read_what_versions_differ_in(result, attributes);
    return attributes.status();
}

} // namespace

extern "C" {

cudaError_t CUDARTAPI cudaGetDeviceProperties(cudaDeviceProp* prop, int device) {
    return without_context([&] {
        CUdevice handle = 0;
        if (prop == nullptr) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        const CUresult status = cuDeviceGet(&handle, device);
        return status != CUDA_SUCCESS ? status : fill(*reinterpret_cast<Properties*>(prop), handle);
    });
}

cudaError_t CUDARTAPI cudaChooseDevice(int* device, const cudaDeviceProp* prop) {
    return without_context([&] {
        int count = 0;
        if (device == nullptr || prop == nullptr) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        const auto& wanted = *reinterpret_cast<const Properties*>(prop);
        CUresult status = cuDeviceGetCount(&count);
        int best_score = -1;
        for (int each = 0; status == CUDA_SUCCESS && each < count; ++each) {
            Properties has{};
            status = fill(has, each);
            const bool is_new_enough = has.major > wanted.major ||
                                       (has.major == wanted.major && has.minor >= wanted.minor);
            const int score = static_cast<int>(is_new_enough) +
                              static_cast<int>(has.totalGlobalMem >= wanted.totalGlobalMem);
            if (score > best_score) { // on a tie, the first device wins
                best_score = score;
                *device = each;
            }
        }
        return status;
    });
}

} // extern "C"
