// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Code that a program loads itself at run time.

#include "runtime.hpp"

using namespace cuprum::runtime;

extern "C" {

cudaError_t CUDARTAPI cudaLibraryLoadData(cudaLibrary_t* library, const void* code,
                                          cudaJitOption* jitOptions, void** jitOptionsValues,
                                          unsigned int numJitOptions,
                                          cudaLibraryOption* libraryOptions,
                                          void** libraryOptionValues,
                                          unsigned int numLibraryOptions) {
    return in_context([&] {
        return cuLibraryLoadData(library, code, same<CUjit_option>(jitOptions), jitOptionsValues,
                                 numJitOptions, same<CUlibraryOption>(libraryOptions),
                                 libraryOptionValues, numLibraryOptions);
    });
}

cudaError_t CUDARTAPI cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* fileName,
                                              cudaJitOption* jitOptions, void** jitOptionsValues,
                                              unsigned int numJitOptions,
                                              cudaLibraryOption* libraryOptions,
                                              void** libraryOptionValues,
                                              unsigned int numLibraryOptions) {
    return in_context([&] {
        return cuLibraryLoadFromFile(
            library, fileName, same<CUjit_option>(jitOptions), jitOptionsValues, numJitOptions,
            same<CUlibraryOption>(libraryOptions), libraryOptionValues, numLibraryOptions);
    });
}

cudaError_t CUDARTAPI cudaLibraryUnload(cudaLibrary_t library) {
    return in_context([&] { return cuLibraryUnload(library); });
}

cudaError_t CUDARTAPI cudaLibraryGetKernel(cudaKernel_t* pKernel, cudaLibrary_t library,
                                           const char* name) {
    return in_context([&] { return cuLibraryGetKernel(pKernel, library, name); });
}

cudaError_t CUDARTAPI cudaLibraryGetGlobal(void** dptr, std::size_t* bytes, cudaLibrary_t library,
                                           const char* name) {
    return in_context(
        [&] { return cuLibraryGetGlobal(same<CUdeviceptr>(dptr), bytes, library, name); });
}

cudaError_t CUDARTAPI cudaLibraryGetManaged(void** dptr, std::size_t* bytes, cudaLibrary_t library,
                                            const char* name) {
    return in_context(
        [&] { return cuLibraryGetManaged(same<CUdeviceptr>(dptr), bytes, library, name); });
}

cudaError_t CUDARTAPI cudaLibraryGetUnifiedFunction(void** fptr, cudaLibrary_t library,
                                                    const char* symbol) {
    return in_context([&] { return cuLibraryGetUnifiedFunction(fptr, library, symbol); });
}

cudaError_t CUDARTAPI cudaLibraryGetKernelCount(unsigned int* count, cudaLibrary_t lib) {
    return in_context([&] { return cuLibraryGetKernelCount(count, lib); });
}

cudaError_t CUDARTAPI cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned int numKernels,
                                                  cudaLibrary_t lib) {
    return in_context([&] { return cuLibraryEnumerateKernels(kernels, numKernels, lib); });
}

cudaError_t CUDARTAPI cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attr,
                                                      int value, int device) {
    return in_context([&] {
        return cuKernelSetAttribute(static_cast<CUfunction_attribute>(attr), value, kernel, device);
    });
}

} // extern "C"
