// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Code that a program loads itself at run time.

#include "forward.hpp"
#include "runtime.hpp"

using namespace cuprum::runtime;

FORWARD(cudaLibraryLoadData, cuLibraryLoadData, IN_CONTEXT);
FORWARD(cudaLibraryLoadFromFile, cuLibraryLoadFromFile, IN_CONTEXT);
FORWARD(cudaLibraryUnload, cuLibraryUnload, IN_CONTEXT);
FORWARD(cudaLibraryGetKernel, cuLibraryGetKernel, IN_CONTEXT);
FORWARD(cudaLibraryGetGlobal, cuLibraryGetGlobal, IN_CONTEXT);
FORWARD(cudaLibraryGetManaged, cuLibraryGetManaged, IN_CONTEXT);
FORWARD(cudaLibraryGetUnifiedFunction, cuLibraryGetUnifiedFunction, IN_CONTEXT);
FORWARD(cudaLibraryGetKernelCount, cuLibraryGetKernelCount, IN_CONTEXT);
FORWARD(cudaLibraryEnumerateKernels, cuLibraryEnumerateKernels, IN_CONTEXT);

cudaError_t CUDARTAPI cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attr,
                                                      int value, int device) {
    return in_context([&] {
        return cuKernelSetAttribute(static_cast<CUfunction_attribute>(attr), value, kernel, device);
    });
}
