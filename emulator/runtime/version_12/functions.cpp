// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The functions of CUDA 12 that CUDA 13 removed or changed. Each forwards to the function of CUDA
// 13, which names.hpp gives another name. Functions of removed features are in refused.def.

#include "forward.hpp"
#include "runtime.hpp"

#include <cstddef>

// The plain names are free again: they belong to the functions below.
#undef cudaGraphAddDependencies
#undef cudaGraphAddNode
#undef cudaGraphGetEdges
#undef cudaGraphNodeGetDependencies
#undef cudaGraphNodeGetDependentNodes
#undef cudaGraphRemoveDependencies
#undef cudaMemAdvise
#undef cudaMemPrefetchAsync
#undef cudaMemPrefetchAsync_ptsz
#undef cudaMemcpy3DBatchAsync
#undef cudaMemcpy3DBatchAsync_ptsz
#undef cudaMemcpyBatchAsync
#undef cudaMemcpyBatchAsync_ptsz
#undef cudaStreamGetCaptureInfo
#undef cudaStreamGetCaptureInfo_ptsz
#undef cudaStreamUpdateCaptureDependencies
#undef cudaStreamUpdateCaptureDependencies_ptsz

using namespace cuprum::runtime;

namespace {

/// Returns the place that CUDA 12 names by a device number, or by cudaCpuDeviceId.
cudaMemLocation place_of(int device) {
    cudaMemLocation place{};
    place.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
    place.id = device == cudaCpuDeviceId ? 0 : device;
    return place;
}

/// Stores the index that CUDA 12 reports if no single operation of a batch failed.
cudaError_t without_index(cudaError_t status, std::size_t* failed_index) {
    if (status != cudaSuccess && failed_index != nullptr) {
        *failed_index = static_cast<std::size_t>(-1);
    }
    return status;
}

} // namespace

/// A function of CUDA 12 that another one replaced, with the same parameters.
#define SAME(function, other)                                                                      \
    extern "C" decltype(other) function;                                                           \
    ALIAS(function, other)

// ---- events and threads ------------------------------------------------------------------------

SAME(cudaEventElapsedTime_v2, cudaEventElapsedTime);
SAME(cudaThreadExit, cudaDeviceReset);
SAME(cudaThreadSynchronize, cudaDeviceSynchronize);
SAME(cudaThreadSetLimit, cudaDeviceSetLimit);
SAME(cudaThreadGetLimit, cudaDeviceGetLimit);
SAME(cudaThreadGetCacheConfig, cudaDeviceGetCacheConfig);
SAME(cudaThreadSetCacheConfig, cudaDeviceSetCacheConfig);

// Devices have had doubles since compute capability 1.3, so there is nothing to convert.
extern "C" cudaError_t CUDARTAPI cudaSetDoubleForDevice(double* /*number*/) {
    return cudaSuccess;
}

extern "C" cudaError_t CUDARTAPI cudaSetDoubleForHost(double* /*number*/) {
    return cudaSuccess;
}

// ---- memory ------------------------------------------------------------------------------------

extern "C" cudaError_t CUDARTAPI cudaMemAdvise(const void* pointer, std::size_t count,
                                               cudaMemoryAdvise advice, int device) {
    return cudaMemAdvise_v2(pointer, count, advice, place_of(device));
}

extern "C" cudaError_t CUDARTAPI cudaMemPrefetchAsync(const void* pointer, std::size_t count,
                                                      int device, cudaStream_t stream) {
    return cudaMemPrefetchAsync_v2(pointer, count, place_of(device), 0, stream);
}

PTSZ(cudaMemPrefetchAsync);

extern "C" cudaError_t CUDARTAPI
cudaMemcpyBatchAsync(void** targets, void** sources, std::size_t* sizes, std::size_t count,
                     cudaMemcpyAttributes* attributes, std::size_t* indices,
                     std::size_t attribute_count, std::size_t* failed_index, cudaStream_t stream) {
    return without_index(cuprum13MemcpyBatchAsync(targets, sources, sizes, count, attributes,
                                                  indices, attribute_count, stream),
                         failed_index);
}

PTSZ(cudaMemcpyBatchAsync);

extern "C" cudaError_t CUDARTAPI cudaMemcpy3DBatchAsync(std::size_t count,
                                                        cudaMemcpy3DBatchOp* operations,
                                                        std::size_t* failed_index,
                                                        unsigned long long flags,
                                                        cudaStream_t stream) {
    return without_index(cuprum13Memcpy3DBatchAsync(count, operations, flags, stream),
                         failed_index);
}

PTSZ(cudaMemcpy3DBatchAsync);

// ---- graphs: without the data of edges ---------------------------------------------------------

extern "C" cudaError_t CUDARTAPI cudaGraphAddDependencies(cudaGraph_t graph,
                                                          const cudaGraphNode_t* from,
                                                          const cudaGraphNode_t* to,
                                                          std::size_t count) {
    return cudaGraphAddDependencies_v2(graph, from, to, nullptr, count);
}

extern "C" cudaError_t CUDARTAPI cudaGraphRemoveDependencies(cudaGraph_t graph,
                                                             const cudaGraphNode_t* from,
                                                             const cudaGraphNode_t* to,
                                                             std::size_t count) {
    return cudaGraphRemoveDependencies_v2(graph, from, to, nullptr, count);
}

extern "C" cudaError_t CUDARTAPI cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                  const cudaGraphNode_t* dependencies,
                                                  std::size_t count,
                                                  cudaGraphNodeParams* parameters) {
    return cudaGraphAddNode_v2(node, graph, dependencies, nullptr, count, parameters);
}

extern "C" cudaError_t CUDARTAPI cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from,
                                                   cudaGraphNode_t* to, std::size_t* count) {
    return cudaGraphGetEdges_v2(graph, from, to, nullptr, count);
}

extern "C" cudaError_t CUDARTAPI cudaGraphNodeGetDependencies(cudaGraphNode_t node,
                                                              cudaGraphNode_t* dependencies,
                                                              std::size_t* count) {
    return cudaGraphNodeGetDependencies_v2(node, dependencies, nullptr, count);
}

extern "C" cudaError_t CUDARTAPI cudaGraphNodeGetDependentNodes(cudaGraphNode_t node,
                                                                cudaGraphNode_t* dependents,
                                                                std::size_t* count) {
    return cudaGraphNodeGetDependentNodes_v2(node, dependents, nullptr, count);
}

// ---- stream capture ----------------------------------------------------------------------------

extern "C" cudaError_t CUDARTAPI cudaStreamGetCaptureInfo_v2(
    cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
    cudaGraph_t* graph, const cudaGraphNode_t** dependencies, std::size_t* count) {
    return cudaStreamGetCaptureInfo_v3(stream, status, id, graph, dependencies, nullptr, count);
}

PTSZ(cudaStreamGetCaptureInfo_v2);

extern "C" cudaError_t CUDARTAPI cudaStreamGetCaptureInfo(cudaStream_t stream,
                                                          cudaStreamCaptureStatus* status,
                                                          unsigned long long* id) {
    return cudaStreamGetCaptureInfo_v3(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}

PTSZ(cudaStreamGetCaptureInfo);

extern "C" cudaError_t CUDARTAPI cudaStreamUpdateCaptureDependencies(cudaStream_t stream,
                                                                     cudaGraphNode_t* dependencies,
                                                                     std::size_t count,
                                                                     unsigned int flags) {
    return cudaStreamUpdateCaptureDependencies_v2(stream, dependencies, nullptr, count, flags);
}

PTSZ(cudaStreamUpdateCaptureDependencies);
