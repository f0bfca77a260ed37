// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The functions of CUDA 12 that always return "not supported". See ../refused.cpp.

#include "../refused.hpp"

// The plain names belong to functions of older versions.
#undef cudaGetDeviceProperties
#undef cudaSignalExternalSemaphoresAsync
#undef cudaSignalExternalSemaphoresAsync_ptsz
#undef cudaWaitExternalSemaphoresAsync
#undef cudaWaitExternalSemaphoresAsync_ptsz

namespace {

constexpr int NOT_SUPPORTED_12 = 801; // cudaErrorNotSupported

int refuse_12(const char* name, const char* reason) {
    return cuprum::runtime::refuse(name, reason, NOT_SUPPORTED_12);
}

constexpr const char* OTHER_DRIVERS =
    "the emulated device does not share resources with other drivers";

} // namespace

extern "C" {

// Programs of CUDA 12 call cudaGetDeviceProperties_v2.
int cudaGetDeviceProperties() {
    return refuse_12("cudaGetDeviceProperties", "its structure is the one of CUDA 11");
}

int cudaLaunchCooperativeKernelMultiDevice() {
    return refuse_12("cudaLaunchCooperativeKernelMultiDevice",
                     "grids that span devices were removed from CUDA; launch one grid per device");
}

int cudaSignalExternalSemaphoresAsync() {
    return refuse_12("cudaSignalExternalSemaphoresAsync", OTHER_DRIVERS);
}

int cudaSignalExternalSemaphoresAsync_ptsz() {
    return refuse_12("cudaSignalExternalSemaphoresAsync", OTHER_DRIVERS);
}

int cudaWaitExternalSemaphoresAsync() {
    return refuse_12("cudaWaitExternalSemaphoresAsync", OTHER_DRIVERS);
}

int cudaWaitExternalSemaphoresAsync_ptsz() {
    return refuse_12("cudaWaitExternalSemaphoresAsync", OTHER_DRIVERS);
}

} // extern "C"
