// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The compiler includes this file before every source of libcudart.so.12.
//
// CUDA 13 changed the parameters of some functions and kept their names. CUDA 12 has the same
// functions under names with a version, and the old functions under the plain names. So the sources
// of libcudart.so.13 define the former under the names below. version_12/functions.cpp defines the
// latter.

#pragma once

#define CUPRUM_RUNTIME_12 1

// NOLINTBEGIN(readability-identifier-naming): CUDA's names

// ---- the same function under a name with a version ----------------------------------------------

#define cudaGetDeviceProperties cudaGetDeviceProperties_v2
#define cudaGraphAddDependencies cudaGraphAddDependencies_v2
#define cudaGraphAddNode cudaGraphAddNode_v2
#define cudaGraphGetEdges cudaGraphGetEdges_v2
#define cudaGraphNodeGetDependencies cudaGraphNodeGetDependencies_v2
#define cudaGraphNodeGetDependentNodes cudaGraphNodeGetDependentNodes_v2
#define cudaGraphRemoveDependencies cudaGraphRemoveDependencies_v2
#define cudaMemAdvise cudaMemAdvise_v2
#define cudaMemPrefetchAsync cudaMemPrefetchAsync_v2
#define cudaMemPrefetchAsync_ptsz cudaMemPrefetchAsync_v2_ptsz
#define cudaSignalExternalSemaphoresAsync cudaSignalExternalSemaphoresAsync_v2
#define cudaSignalExternalSemaphoresAsync_ptsz cudaSignalExternalSemaphoresAsync_v2_ptsz
#define cudaStreamGetCaptureInfo cudaStreamGetCaptureInfo_v3
#define cudaStreamGetCaptureInfo_ptsz cudaStreamGetCaptureInfo_v3_ptsz
#define cudaStreamUpdateCaptureDependencies cudaStreamUpdateCaptureDependencies_v2
#define cudaStreamUpdateCaptureDependencies_ptsz cudaStreamUpdateCaptureDependencies_v2_ptsz
#define cudaWaitExternalSemaphoresAsync cudaWaitExternalSemaphoresAsync_v2
#define cudaWaitExternalSemaphoresAsync_ptsz cudaWaitExternalSemaphoresAsync_v2_ptsz

// ---- functions whose structures or parameters differ: not exported under these names ------------

#define cudaCreateSurfaceObject cuprum13CreateSurfaceObject
#define cudaCreateTextureObject cuprum13CreateTextureObject
#define cudaGetSurfaceObjectResourceDesc cuprum13GetSurfaceObjectResourceDesc
#define cudaGetTextureObjectResourceDesc cuprum13GetTextureObjectResourceDesc
#define cudaGetTextureObjectResourceViewDesc cuprum13GetTextureObjectResourceViewDesc
#define cudaMemcpy3DBatchAsync cuprum13Memcpy3DBatchAsync
#define cudaMemcpy3DBatchAsync_ptsz cuprum13Memcpy3DBatchAsyncPtsz
#define cudaMemcpyBatchAsync cuprum13MemcpyBatchAsync
#define cudaMemcpyBatchAsync_ptsz cuprum13MemcpyBatchAsyncPtsz
#define cudaPointerGetAttributes cuprum13PointerGetAttributes

// NOLINTEND(readability-identifier-naming)
