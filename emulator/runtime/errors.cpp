// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Names and explanations of error codes.

#include "runtime.hpp"

using namespace cuprum::runtime;

namespace {

/// Explains a code that only the runtime has; returns null for the others.
const char* own_explanation(cudaError_t error);

} // namespace

extern "C" {

const char* CUDARTAPI cudaGetErrorName(cudaError_t error) {
    switch (error) {
#define CUPRUM_ERROR(name)                                                                         \
    case name:                                                                                     \
        return #name;
#include "errors.def"
#undef CUPRUM_ERROR
    }
    return "unrecognized error code";
}

const char* CUDARTAPI cudaGetErrorString(cudaError_t error) {
    if (const char* own = own_explanation(error); own != nullptr) {
        return own;
    }
    const char* text = nullptr;
    const CUresult status = cuGetErrorString(static_cast<CUresult>(error), &text);
    return status == CUDA_SUCCESS && text != nullptr ? text : "unrecognized error code";
}

} // extern "C"

// ---- helpers -----------------------------------------------------------------------------------

namespace {

const char* own_explanation(cudaError_t error) {
    switch (error) {
    case cudaErrorInvalidConfiguration:
        return "invalid configuration argument: a size of the grid or block is 0 or too large";
    case cudaErrorInvalidPitchValue:
        return "invalid pitch argument";
    case cudaErrorInvalidSymbol:
        return "invalid device symbol: no variable is registered for this address";
    case cudaErrorInvalidMemcpyDirection:
        return "invalid copy direction for memcpy";
    case cudaErrorInsufficientDriver:
        return "the driver is older than this runtime library";
    case cudaErrorMissingConfiguration:
        return "a kernel's stub was called without a configuration (<<<...>>>)";
    case cudaErrorInvalidDeviceFunction:
        return "invalid device function: no kernel is registered for this address";
    case cudaErrorIncompatibleDriverContext:
        return "the current context was created by the driver API and is incompatible with the "
               "runtime";
    case cudaErrorInvalidHostPointer:
        return "invalid host pointer";
    case cudaErrorInvalidDevicePointer:
        return "invalid device pointer";
    case cudaErrorInvalidChannelDescriptor:
        return "invalid channel descriptor";
    default:
        return nullptr;
    }
}

} // namespace
