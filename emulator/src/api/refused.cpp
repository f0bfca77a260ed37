// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The functions that are refused, with what is missing. All exist, and name themselves in the log.
//
// NOTE: do not include cuda.h here, because each name is defined without its parameters.

#include "api/row.hpp"
#include "objects/process/log.hpp"

#include <string>

namespace {

int refuse(const cuprum::emulator::Row& row) noexcept {
    constexpr int not_supported = 801; // CUDA_ERROR_NOT_SUPPORTED
    using namespace cuprum::emulator;
    log(LogLevel::Error,
        std::string(row.name) + " is not supported by the emulated device (" + row.missing + ")");
    return not_supported;
}

} // namespace

/// REFUSE(exported name, CUDA version, what is missing)
#define REFUSE(symbol, version, missing)                                                           \
    extern "C" [[gnu::visibility("default")]] int symbol();                                        \
    static constexpr auto symbol##_name = cuprum::emulator::public_name(#symbol);                  \
    static const cuprum::emulator::Row symbol##_row{#symbol,                                       \
                                                    symbol##_name.data(),                          \
                                                    version,                                       \
                                                    cuprum::emulator::is_per_thread(#symbol),      \
                                                    nullptr,                                       \
                                                    missing,                                       \
                                                    reinterpret_cast<void*>(&symbol)};             \
    int symbol() {                                                                                 \
        return refuse(symbol##_row);                                                               \
    }                                                                                              \
    CUPRUM_LIST_ROW(symbol, symbol##_row)

#define REFUSE_OLD(symbol, version) REFUSE(symbol, version, "32-bit addresses and sizes")

// clang-format off
REFUSE(cuDeviceGetLuid, 10000, "LUIDs, which are of Windows");
REFUSE(cuDeviceGetNvSciSyncAttributes, 10020, "NvSciSync");
REFUSE(cuEGLStreamConsumerAcquireFrame, 7000, "EGL streams and frames");
REFUSE(cuEGLStreamConsumerConnect, 7000, "EGL streams and frames");
REFUSE(cuEGLStreamConsumerConnectWithFlags, 8000, "EGL streams and frames");
REFUSE(cuEGLStreamConsumerDisconnect, 7000, "EGL streams and frames");
REFUSE(cuEGLStreamConsumerReleaseFrame, 7000, "EGL streams and frames");
REFUSE(cuEGLStreamProducerConnect, 7000, "EGL streams and frames");
REFUSE(cuEGLStreamProducerDisconnect, 7000, "EGL streams and frames");
REFUSE(cuEGLStreamProducerPresentFrame, 7000, "EGL streams and frames");
REFUSE(cuEGLStreamProducerReturnFrame, 7000, "EGL streams and frames");
REFUSE(cuEventCreateFromEGLSync, 9000, "EGL streams and frames");
REFUSE(cuGraphicsEGLRegisterImage, 7000, "EGL streams and frames");
REFUSE(cuFlushGPUDirectRDMAWrites, 11030, "GPUDirect RDMA");
REFUSE(cuGLCtxCreate, 2000, "the interface of OpenGL before CUDA 3; cuGraphicsGL* is there");
REFUSE(cuGLCtxCreate_v2, 3020, "the interface of OpenGL before CUDA 3; cuGraphicsGL* is there");
REFUSE(cuGLInit, 2000, "the interface of OpenGL before CUDA 3; cuGraphicsGL* is there");
REFUSE(cuGLMapBufferObject, 2000, "the interface of OpenGL before CUDA 3; cuGraphicsGL* is there");
REFUSE(cuGLMapBufferObject_v2, 3020, "the interface of OpenGL before CUDA 3; cuGraphicsGL* is there");
REFUSE(cuGLMapBufferObject_v2_ptds, 7000, "the interface of OpenGL before CUDA 3; cuGraphicsGL* is there");
REFUSE(cuGLMapBufferObjectAsync, 2030, "the interface of OpenGL before CUDA 3; cuGraphicsGL* is there");
REFUSE(cuGLMapBufferObjectAsync_v2, 3020, "the interface of OpenGL before CUDA 3; cuGraphicsGL* is there");
REFUSE(cuGLMapBufferObjectAsync_v2_ptsz, 7000, "the interface of OpenGL before CUDA 3; cuGraphicsGL* is there");
REFUSE(cuGLRegisterBufferObject, 2000, "the interface of OpenGL before CUDA 3; cuGraphicsGL* is there");
REFUSE(cuGLSetBufferObjectMapFlags, 2030, "the interface of OpenGL before CUDA 3; cuGraphicsGL* is there");
REFUSE(cuGLUnmapBufferObject, 2000, "the interface of OpenGL before CUDA 3; cuGraphicsGL* is there");
REFUSE(cuGLUnmapBufferObjectAsync, 2030, "the interface of OpenGL before CUDA 3; cuGraphicsGL* is there");
REFUSE(cuGLUnregisterBufferObject, 2000, "the interface of OpenGL before CUDA 3; cuGraphicsGL* is there");
REFUSE(cuGraphicsVDPAURegisterOutputSurface, 3010, "VDPAU");
REFUSE(cuGraphicsVDPAURegisterVideoSurface, 3010, "VDPAU");
REFUSE(cuVDPAUCtxCreate, 3010, "VDPAU");
REFUSE(cuVDPAUCtxCreate_v2, 3020, "VDPAU");
REFUSE(cuVDPAUGetDevice, 3010, "VDPAU");
REFUSE(cuLaunchCooperativeKernelMultiDevice, 9000, "launches over several devices");
REFUSE(cuMemBatchDecompressAsync, 12060, "decompression");
REFUSE(cuMemBatchDecompressAsync_ptsz, 12060, "decompression");
REFUSE(cuMemGetHandleForAddressRange, 11070, "DMA buffers");
REFUSE(cuMulticastAddDevice, 12010, "multicast objects");
REFUSE(cuMulticastBindAddr, 12010, "multicast objects");
REFUSE(cuMulticastBindMem, 12010, "multicast objects");
REFUSE(cuMulticastCreate, 12010, "multicast objects");
REFUSE(cuMulticastGetGranularity, 12010, "multicast objects");
REFUSE(cuMulticastUnbind, 12010, "multicast objects");
REFUSE(cuMulticastBindAddr_v2, 13010, "multicast objects");
REFUSE(cuMulticastBindMem_v2, 13010, "multicast objects");
REFUSE(cuProfilerInitialize, 4000, "settings of the profiler");
REFUSE(cuWGLGetDevice, 2020, "WGL, which is of Windows");
REFUSE(cuCheckpointOperationComplete, 13040, "asynchronous checkpoints");
REFUSE(cuCoredumpDeregisterCompleteCallback, 13020, "callbacks of core dumps; none are written");
REFUSE(cuCoredumpDeregisterStartCallback, 13020, "callbacks of core dumps; none are written");
REFUSE(cuCoredumpRegisterCompleteCallback, 13020, "callbacks of core dumps; none are written");
REFUSE(cuCoredumpRegisterStartCallback, 13020, "callbacks of core dumps; none are written");
REFUSE(cuDeviceGetCliqueCount, 13040, "fabric cliques");
REFUSE(cuDeviceGetCliqueInfo, 13040, "fabric cliques");
REFUSE(cuDeviceGetFabricClusterUuid, 13040, "fabric clusters");
REFUSE(cuLogicalEndpointAddDevice, 13030, "logical endpoints");
REFUSE(cuLogicalEndpointBindAddr, 13030, "logical endpoints");
REFUSE(cuLogicalEndpointBindMem, 13030, "logical endpoints");
REFUSE(cuLogicalEndpointCreate, 13030, "logical endpoints");
REFUSE(cuLogicalEndpointDestroy, 13030, "logical endpoints");
REFUSE(cuLogicalEndpointExport, 13030, "logical endpoints");
REFUSE(cuLogicalEndpointGetLimits, 13030, "logical endpoints");
REFUSE(cuLogicalEndpointIdRelease, 13030, "logical endpoints");
REFUSE(cuLogicalEndpointIdReserve, 13030, "logical endpoints");
REFUSE(cuLogicalEndpointImport, 13030, "logical endpoints");
REFUSE(cuLogicalEndpointQuery, 13030, "logical endpoints");
REFUSE(cuLogicalEndpointUnbind, 13030, "logical endpoints");
REFUSE(cuMemGetLocationInfo, 13040, "locations of memory");
REFUSE(cuStreamBeginCaptureToCig, 13010, "graphics contexts");
REFUSE(cuStreamBeginCaptureToCig_ptsz, 13010, "graphics contexts");
REFUSE(cuStreamEndCaptureToCig, 13010, "graphics contexts");
REFUSE(cuStreamEndCaptureToCig_ptsz, 13010, "graphics contexts");
REFUSE(cuStreamBeginRecaptureToGraph, 13030, "recapturing into a graph");
REFUSE(cuStreamBeginRecaptureToGraph_ptsz, 13030, "recapturing into a graph");

REFUSE_OLD(cuArray3DCreate, 2000);
REFUSE_OLD(cuArray3DGetDescriptor, 2000);
REFUSE_OLD(cuArrayCreate, 2000);
REFUSE_OLD(cuArrayGetDescriptor, 2000);
REFUSE_OLD(cuDeviceTotalMem, 2000);
REFUSE(cuGraphicsResourceGetMappedEglFrame, 7000, "EGL streams and frames");
REFUSE_OLD(cuGraphicsResourceGetMappedPointer, 3000);
REFUSE_OLD(cuMemAlloc, 2000);
REFUSE_OLD(cuMemAllocHost, 2000);
REFUSE_OLD(cuMemAllocPitch, 2000);
REFUSE_OLD(cuMemFree, 2000);
REFUSE_OLD(cuMemGetAddressRange, 2000);
REFUSE_OLD(cuMemGetInfo, 2000);
REFUSE_OLD(cuMemHostGetDevicePointer, 2020);
REFUSE_OLD(cuMemcpy2D, 2000);
REFUSE_OLD(cuMemcpy2DAsync, 2000);
REFUSE_OLD(cuMemcpy2DUnaligned, 2000);
REFUSE_OLD(cuMemcpy3D, 2000);
REFUSE_OLD(cuMemcpy3DAsync, 2000);
REFUSE_OLD(cuMemcpyAtoA, 2000);
REFUSE_OLD(cuMemcpyAtoD, 2000);
REFUSE_OLD(cuMemcpyAtoH, 2000);
REFUSE_OLD(cuMemcpyAtoHAsync, 2000);
REFUSE_OLD(cuMemcpyDtoA, 2000);
REFUSE_OLD(cuMemcpyDtoD, 2000);
REFUSE_OLD(cuMemcpyDtoDAsync, 3000);
REFUSE_OLD(cuMemcpyDtoH, 2000);
REFUSE_OLD(cuMemcpyDtoHAsync, 2000);
REFUSE_OLD(cuMemcpyHtoA, 2000);
REFUSE_OLD(cuMemcpyHtoAAsync, 2000);
REFUSE_OLD(cuMemcpyHtoD, 2000);
REFUSE_OLD(cuMemcpyHtoDAsync, 2000);
REFUSE_OLD(cuMemsetD16, 2000);
REFUSE_OLD(cuMemsetD2D16, 2000);
REFUSE_OLD(cuMemsetD2D32, 2000);
REFUSE_OLD(cuMemsetD2D8, 2000);
REFUSE_OLD(cuMemsetD32, 2000);
REFUSE_OLD(cuMemsetD8, 2000);
REFUSE_OLD(cuModuleGetGlobal, 2000);
REFUSE_OLD(cuTexRefGetAddress, 2000);
REFUSE_OLD(cuTexRefSetAddress, 2000);
REFUSE_OLD(cuTexRefSetAddress2D, 2020);
