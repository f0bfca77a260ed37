// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// cuda.h as the driver itself sees it: every version of every function under its exported name.
//
// NOTE: must come before anything else that includes cuda.h, so it is the first include of every
// file in api/.

#pragma once

#ifdef __cuda_cuda_h__
#error "cuda_abi.hpp must be included before cuda.h"
#endif

#define __CUDA_API_VERSION_INTERNAL     // NOLINT: CUDA's own switches
#define __CUDA_API_VERSION_INTERNAL_ODR // NOLINT: enumerations as in the public header

// The library is built with hidden symbols. These are its exported functions.
#pragma GCC visibility push(default)
#include <cuda.h>

extern "C" {
// As cudaProfiler.h declares them; that header is not part of every distribution of CUDA's headers.
CUresult CUDAAPI cuProfilerStart();
CUresult CUDAAPI cuProfilerStop();

// As cudaGL.h declares them; that header needs OpenGL's.
CUresult CUDAAPI cuGraphicsGLRegisterBuffer(CUgraphicsResource* pCudaResource, unsigned int buffer,
                                            unsigned int Flags);
CUresult CUDAAPI cuGraphicsGLRegisterImage(CUgraphicsResource* pCudaResource, unsigned int image,
                                           unsigned int target, unsigned int Flags);
CUresult CUDAAPI cuGLGetDevices_v2(unsigned int* pCudaDeviceCount, CUdevice* pCudaDevices,
                                   unsigned int cudaDeviceCount, unsigned int deviceList);
CUresult CUDAAPI cuGLGetDevices(unsigned int* pCudaDeviceCount, CUdevice* pCudaDevices,
                                unsigned int cudaDeviceCount, unsigned int deviceList);
}
#pragma GCC visibility pop
