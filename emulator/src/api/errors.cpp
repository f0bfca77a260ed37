// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The names and descriptions of result codes.

#include "api/entry.hpp"
#include "api/handles.hpp"

#include <algorithm>

using namespace cuprum::emulator;

namespace {

struct CodeText {
    CUresult code;
    const char* name;
    const char* meaning;
};

#define CODE(code, meaning) {code, #code, meaning}
constexpr CodeText CODE_TEXTS[] = {
    CODE(CUDA_SUCCESS, "no error"),
    CODE(CUDA_ERROR_INVALID_VALUE, "an argument has an invalid value"),
    CODE(CUDA_ERROR_OUT_OF_MEMORY, "there is not enough memory"),
    CODE(CUDA_ERROR_NOT_INITIALIZED, "cuInit has not been called"),
    CODE(CUDA_ERROR_DEINITIALIZED, "the driver is shutting down"),
    CODE(CUDA_ERROR_PROFILER_DISABLED, "no profiler is attached"),
    CODE(CUDA_ERROR_PROFILER_NOT_INITIALIZED, "the profiler was not initialised"),
    CODE(CUDA_ERROR_PROFILER_ALREADY_STARTED, "the profiler is running already"),
    CODE(CUDA_ERROR_PROFILER_ALREADY_STOPPED, "the profiler is stopped already"),
    CODE(CUDA_ERROR_STUB_LIBRARY,
         "the program was linked to a stub of the driver and found no real one"),
    CODE(CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, "this call needs a newer driver"),
    CODE(CUDA_ERROR_DEVICE_UNAVAILABLE, "the device is busy or may not be used"),
    CODE(CUDA_ERROR_NO_DEVICE, "there is no CUDA device"),
    CODE(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"),
    CODE(CUDA_ERROR_DEVICE_NOT_LICENSED, "the device lacks a licence for this"),
    CODE(CUDA_ERROR_INVALID_IMAGE, "the module image is not in a known format"),
    CODE(CUDA_ERROR_INVALID_CONTEXT, "there is no usable current context"),
    CODE(CUDA_ERROR_CONTEXT_ALREADY_CURRENT, "the context is current already"),
    CODE(CUDA_ERROR_MAP_FAILED, "memory could not be mapped"),
    CODE(CUDA_ERROR_UNMAP_FAILED, "memory could not be unmapped"),
    CODE(CUDA_ERROR_ARRAY_IS_MAPPED, "the array is mapped and cannot be destroyed"),
    CODE(CUDA_ERROR_ALREADY_MAPPED, "the resource is mapped already"),
    CODE(CUDA_ERROR_NO_BINARY_FOR_GPU, "the module holds no code that this device can run"),
    CODE(CUDA_ERROR_ALREADY_ACQUIRED, "the resource is acquired already"),
    CODE(CUDA_ERROR_NOT_MAPPED, "the resource is not mapped"),
    CODE(CUDA_ERROR_NOT_MAPPED_AS_ARRAY, "the resource is not mapped as an array"),
    CODE(CUDA_ERROR_NOT_MAPPED_AS_POINTER, "the resource is not mapped as a pointer"),
    CODE(CUDA_ERROR_ECC_UNCORRECTABLE, "device memory has an error that cannot be corrected"),
    CODE(CUDA_ERROR_UNSUPPORTED_LIMIT, "the device does not have this limit"),
    CODE(CUDA_ERROR_CONTEXT_ALREADY_IN_USE, "the context is in use by another thread"),
    CODE(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, "the devices cannot access each other"),
    CODE(CUDA_ERROR_INVALID_PTX, "the PTX could not be compiled"),
    CODE(CUDA_ERROR_INVALID_GRAPHICS_CONTEXT, "the graphics context is not valid"),
    CODE(CUDA_ERROR_NVLINK_UNCORRECTABLE,
         "the link between devices has an error that cannot be corrected"),
    CODE(CUDA_ERROR_JIT_COMPILER_NOT_FOUND, "the PTX compiler library was not found"),
    CODE(CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
         "the PTX is of a newer version than this driver knows"),
    CODE(CUDA_ERROR_JIT_COMPILATION_DISABLED, "compilation of PTX is switched off"),
    CODE(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY,
         "the device does not support this execution affinity"),
    CODE(CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC,
         "the code synchronises on the device, which is not supported"),
    CODE(CUDA_ERROR_CONTAINED, "a hardware error was contained; the context is lost"),
    CODE(CUDA_ERROR_INVALID_SOURCE, "the kernel source is not valid"),
    CODE(CUDA_ERROR_FILE_NOT_FOUND, "the file could not be read"),
    CODE(CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, "a shared library lacks a symbol"),
    CODE(CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, "a shared library could not be initialised"),
    CODE(CUDA_ERROR_OPERATING_SYSTEM, "a call to the operating system failed"),
    CODE(CUDA_ERROR_INVALID_HANDLE, "a handle is not valid, or its object no longer exists"),
    CODE(CUDA_ERROR_ILLEGAL_STATE, "an object is not in the state that this call needs"),
    CODE(CUDA_ERROR_LOSSY_QUERY, "the answer would lose information"),
    CODE(CUDA_ERROR_NOT_FOUND, "there is no object with this name"),
    CODE(CUDA_ERROR_NOT_READY, "the work is not finished yet"),
    CODE(CUDA_ERROR_ILLEGAL_ADDRESS, "a kernel accessed memory that it may not access"),
    CODE(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
         "the launch needs more resources than a block can have"),
    CODE(CUDA_ERROR_LAUNCH_TIMEOUT, "a kernel ran for too long"),
    CODE(CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING,
         "the launch uses an incompatible texturing mode"),
    CODE(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "access to the peer is enabled already"),
    CODE(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "access to the peer is not enabled"),
    CODE(CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE, "the primary context is active already"),
    CODE(CUDA_ERROR_CONTEXT_IS_DESTROYED, "the context has been destroyed"),
    CODE(CUDA_ERROR_ASSERT, "an assertion failed in a kernel"),
    CODE(CUDA_ERROR_TOO_MANY_PEERS, "the hardware cannot enable access to more peers"),
    CODE(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "the host memory is registered already"),
    CODE(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "the host memory is not registered"),
    CODE(CUDA_ERROR_HARDWARE_STACK_ERROR, "a kernel overflowed its stack"),
    CODE(CUDA_ERROR_ILLEGAL_INSTRUCTION,
         "a kernel executed an instruction that the device cannot run"),
    CODE(CUDA_ERROR_MISALIGNED_ADDRESS, "a kernel accessed an address that is not aligned"),
    CODE(CUDA_ERROR_INVALID_ADDRESS_SPACE, "a kernel used an address in the wrong memory space"),
    CODE(CUDA_ERROR_INVALID_PC, "a kernel jumped to an address without code"),
    CODE(CUDA_ERROR_LAUNCH_FAILED, "a kernel failed"),
    CODE(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
         "a cooperative grid has more blocks than fit on the device at once"),
    CODE(CUDA_ERROR_TENSOR_MEMORY_LEAK, "a kernel ended without freeing its tensor memory"),
    CODE(CUDA_ERROR_NOT_PERMITTED, "this is not permitted"),
    CODE(CUDA_ERROR_NOT_SUPPORTED, "this is not supported on this device"),
    CODE(CUDA_ERROR_SYSTEM_NOT_READY, "the system is not ready for CUDA yet"),
    CODE(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, "the parts of the driver have different versions"),
    CODE(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE,
         "the device does not support the compatibility driver"),
    CODE(CUDA_ERROR_MPS_CONNECTION_FAILED, "the MPS server could not be reached"),
    CODE(CUDA_ERROR_MPS_RPC_FAILURE, "a call to the MPS server failed"),
    CODE(CUDA_ERROR_MPS_SERVER_NOT_READY, "the MPS server is not ready"),
    CODE(CUDA_ERROR_MPS_MAX_CLIENTS_REACHED, "the MPS server accepts no more clients"),
    CODE(CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED, "the MPS server accepts no more connections"),
    CODE(CUDA_ERROR_MPS_CLIENT_TERMINATED, "the MPS client was ended by the server"),
    CODE(CUDA_ERROR_CDP_NOT_SUPPORTED, "launching kernels from kernels is not supported"),
    CODE(CUDA_ERROR_CDP_VERSION_MISMATCH,
         "parts of the program use different versions of launching from kernels"),
    CODE(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
         "this is not allowed while a stream is being captured"),
    CODE(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "an earlier error ended the capture"),
    CODE(CUDA_ERROR_STREAM_CAPTURE_MERGE, "this would merge two captures"),
    CODE(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "the capture did not begin in this stream"),
    CODE(CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
         "a stream that forked from the capture was not joined"),
    CODE(CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
         "captured and uncaptured work would depend on each other"),
    CODE(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "the legacy stream would depend on a capture"),
    CODE(CUDA_ERROR_CAPTURED_EVENT, "the event was last recorded in a capture"),
    CODE(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, "the capture was begun by another thread"),
    CODE(CUDA_ERROR_TIMEOUT, "the wait took too long"),
    CODE(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, "the executable graph could not be updated"),
    CODE(CUDA_ERROR_EXTERNAL_DEVICE, "a device outside CUDA reported an error"),
    CODE(CUDA_ERROR_INVALID_CLUSTER_SIZE, "the cluster has an invalid size"),
    CODE(CUDA_ERROR_FUNCTION_NOT_LOADED, "the function has not been loaded yet"),
    CODE(CUDA_ERROR_INVALID_RESOURCE_TYPE, "the resource is of the wrong type"),
    CODE(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION, "the resources cannot be arranged this way"),
    CODE(CUDA_ERROR_KEY_ROTATION, "encryption keys are being exchanged"),
    CODE(CUDA_ERROR_UNKNOWN, "something failed for an unknown reason"),
};
#undef CODE

const CodeText* text_of(CUresult code) {
    const auto* found =
        std::ranges::find_if(CODE_TEXTS, [&](const CodeText& text) { return text.code == code; });
    return found == std::end(CODE_TEXTS) ? nullptr : found;
}

} // namespace

ANSWER(cuGetErrorName, 6000, Early, CUresult error, const char*& pStr) {
    const CodeText* text = text_of(error);
    pStr = text == nullptr ? nullptr : text->name;
    return text == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

ANSWER(cuGetErrorString, 6000, Early, CUresult error, const char*& pStr) {
    const CodeText* text = text_of(error);
    pStr = text == nullptr ? nullptr : text->meaning;
    return text == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
