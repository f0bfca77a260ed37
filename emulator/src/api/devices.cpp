// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Devices and their primary contexts.

#include "api/entry.hpp"
#include "api/handles.hpp"
#include "objects/devices/device.hpp"
#include "objects/process/error.hpp"
#include "objects/textures/format.hpp"

#include <algorithm>
#include <cstring>
#include <string>

using namespace cuprum::emulator;

namespace {

/// Copies a text to the caller's buffer and truncates it if necessary.
void put_text(char* buffer, int size, const std::string& text) {
    require(buffer != nullptr && size > 0, "the buffer is NULL or empty");
    const std::size_t length = std::min(text.size(), static_cast<std::size_t>(size) - 1);
    std::memcpy(buffer, text.data(), length);
    buffer[length] = '\0';
}

struct BusId {
    unsigned domain = 0;
    unsigned bus = 0;
    unsigned slot = 0;
    unsigned function = 0;
};

/// Reads a PCI bus id, such as 0000:01:00.0. The domain, or the function, may be missing.
BusId bus_id_from(const char* text) {
    BusId id;
    const auto reads_all = [text](const char* format, auto*... numbers) {
        int length = 0;
        std::sscanf(text, format, numbers..., &length);
        return length != 0 && text[length] == '\0';
    };
    if (!reads_all("%x:%x:%x.%x%n", &id.domain, &id.bus, &id.slot, &id.function) &&
        !reads_all("%x:%x:%x%n", &id.domain, &id.bus, &id.slot)) {
        id.domain = 0;
        if (!reads_all("%x:%x.%x%n", &id.bus, &id.slot, &id.function)) {
            fail(CUDA_ERROR_INVALID_VALUE, std::string("'") + text +
                                               "' is no PCI bus id: expected one like "
                                               "0000:01:00.0, 0000:01:00 or 01:00.0");
        }
    }
    return id;
}

void check_peers(CUdevice first, CUdevice second) {
    (void)device_at(first);
    (void)device_at(second);
    if (first == second) {
        fail(CUDA_ERROR_INVALID_DEVICE, "a device is not a peer of itself");
    }
}

/// Reports which atomic operations work on memory of the host or of a peer: the same as on the
/// device's own, since all memory is host memory here.
void tell_atomics(unsigned* capabilities, const CUatomicOperation* operations, unsigned count) {
    require(capabilities != nullptr && operations != nullptr && count != 0,
            "an argument is NULL or empty");
    constexpr unsigned words = CU_ATOMIC_CAPABILITY_SCALAR_32 | CU_ATOMIC_CAPABILITY_SCALAR_64;
    constexpr unsigned integers =
        words | CU_ATOMIC_CAPABILITY_SIGNED | CU_ATOMIC_CAPABILITY_UNSIGNED;
    for (unsigned index = 0; index < count; ++index) {
        switch (operations[index]) {
        case CU_ATOMIC_OPERATION_INTEGER_ADD:
        case CU_ATOMIC_OPERATION_INTEGER_MIN:
        case CU_ATOMIC_OPERATION_INTEGER_MAX:
            capabilities[index] = integers | CU_ATOMIC_CAPABILITY_REDUCTION;
            break;
        case CU_ATOMIC_OPERATION_INTEGER_INCREMENT:
        case CU_ATOMIC_OPERATION_INTEGER_DECREMENT:
            capabilities[index] = CU_ATOMIC_CAPABILITY_SCALAR_32 | CU_ATOMIC_CAPABILITY_UNSIGNED |
                                  CU_ATOMIC_CAPABILITY_REDUCTION;
            break;
        case CU_ATOMIC_OPERATION_AND:
        case CU_ATOMIC_OPERATION_OR:
        case CU_ATOMIC_OPERATION_XOR:
        case CU_ATOMIC_OPERATION_FLOAT_ADD:
            capabilities[index] = words | CU_ATOMIC_CAPABILITY_REDUCTION;
            break;
        case CU_ATOMIC_OPERATION_EXCHANGE:
        case CU_ATOMIC_OPERATION_CAS:
            capabilities[index] = words;
            break;
        case CU_ATOMIC_OPERATION_FLOAT_MIN:
        case CU_ATOMIC_OPERATION_FLOAT_MAX:
            capabilities[index] = 0;
            break;
        default:
            fail(CUDA_ERROR_INVALID_VALUE, "unknown atomic operation");
        }
    }
}

} // namespace

extern "C" {

CUresult CUDAAPI cuDeviceGet(CUdevice* device, int ordinal) {
    return entry("cuDeviceGet", [&] { put(device, device_at(ordinal).ordinal()); });
}

CUresult CUDAAPI cuDeviceGetCount(int* count) {
    return entry("cuDeviceGetCount", [&] { put(count, Driver::instance().device_count()); });
}

CUresult CUDAAPI cuDeviceGetName(char* name, int len, CUdevice dev) {
    return entry("cuDeviceGetName", [&] { put_text(name, len, device_at(dev).name()); });
}

CUresult CUDAAPI cuDeviceGetUuid(CUuuid* uuid, CUdevice dev) {
    return entry("cuDeviceGetUuid", [&] { put(uuid, device_at(dev).uuid()); });
}

CUresult CUDAAPI cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice dev) {
    return entry("cuDeviceGetUuid", [&] { put(uuid, device_at(dev).uuid()); });
}

CUresult CUDAAPI cuDeviceTotalMem_v2(size_t* bytes, CUdevice dev) {
    return entry("cuDeviceTotalMem", [&] { put(bytes, device_at(dev).total_bytes()); });
}

CUresult CUDAAPI cuDeviceGetAttribute(int* pi, CUdevice_attribute attrib, CUdevice dev) {
    return entry("cuDeviceGetAttribute", [&] { put(pi, device_at(dev).attribute(attrib)); });
}

CUresult CUDAAPI cuDeviceComputeCapability(int* major, int* minor, CUdevice dev) {
    return entry("cuDeviceComputeCapability", [&] {
        const Device& device = device_at(dev);
        require(major != nullptr && minor != nullptr, "an output argument is NULL");
        *major = device.major();
        *minor = device.minor();
    });
}

CUresult CUDAAPI cuDeviceGetProperties(CUdevprop* prop, CUdevice dev) {
    return entry("cuDeviceGetProperties", [&] {
        const Device& device = device_at(dev);
        const auto value = [&](int attribute) {
            return device.attribute(static_cast<CUdevice_attribute>(attribute));
        };
        require(prop != nullptr, "prop must not be NULL");
        *prop = {};
        prop->maxThreadsPerBlock = value(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
        for (int axis = 0; axis < 3; ++axis) {
            prop->maxThreadsDim[axis] = value(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + axis);
            prop->maxGridSize[axis] = value(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + axis);
        }
        prop->sharedMemPerBlock = value(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
        prop->totalConstantMemory = value(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
        prop->SIMDWidth = value(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
        prop->memPitch = value(CU_DEVICE_ATTRIBUTE_MAX_PITCH);
        prop->regsPerBlock = value(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
        prop->clockRate = value(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
        prop->textureAlign = value(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT);
    });
}

CUresult CUDAAPI cuDeviceGetPCIBusId(char* pciBusId, int len, CUdevice dev) {
    return entry("cuDeviceGetPCIBusId",
                 [&] { put_text(pciBusId, len, device_at(dev).pci_bus_id()); });
}

CUresult CUDAAPI cuDeviceGetByPCIBusId(CUdevice* dev, const char* pciBusId) {
    return entry("cuDeviceGetByPCIBusId", [&] {
        require(dev != nullptr && pciBusId != nullptr, "an argument is NULL");
        const BusId id = bus_id_from(pciBusId);
        for (int ordinal = 0; ordinal < Driver::instance().device_count(); ++ordinal) {
            const int own = device_at(ordinal).attribute(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID);
            if (id.domain == 0 && id.slot == 0 && id.function == 0 &&
                id.bus == static_cast<unsigned>(own)) {
                *dev = ordinal;
                return;
            }
        }
        fail(CUDA_ERROR_INVALID_DEVICE,
             std::string("no device has the PCI bus id '") + pciBusId + "'");
    });
}

CUresult CUDAAPI cuDeviceGetTexture1DLinearMaxWidth(size_t* maxWidthInElements,
                                                    CUarray_format format, unsigned numChannels,
                                                    CUdevice dev) {
    return entry("cuDeviceGetTexture1DLinearMaxWidth", [&] {
        (void)device_at(dev);
        put(maxWidthInElements, max_linear_texels(format, numChannels));
    });
}

CUresult CUDAAPI cuDeviceGetExecAffinitySupport(int* pi, CUexecAffinityType type, CUdevice dev) {
    return entry("cuDeviceGetExecAffinitySupport", [&] {
        (void)device_at(dev);
        require(type >= 0 && type < CU_EXEC_AFFINITY_TYPE_MAX, "unknown type of affinity");
        put(pi, 0);
    });
}

// ---- peers -------------------------------------------------------------------------------------

CUresult CUDAAPI cuDeviceCanAccessPeer(int* canAccessPeer, CUdevice dev, CUdevice peerDev) {
    return entry("cuDeviceCanAccessPeer", [&] {
        (void)device_at(dev);
        (void)device_at(peerDev);
        put(canAccessPeer, dev != peerDev ? 1 : 0);
    });
}

CUresult CUDAAPI cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attrib,
                                         CUdevice srcDevice, CUdevice dstDevice) {
    return entry("cuDeviceGetP2PAttribute", [&] {
        check_peers(srcDevice, dstDevice);
        switch (attrib) {
        case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK:
        case CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED:
            put(value, 0);
            break;
        case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
        case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:
        case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED:
            put(value, 1);
            break;
        default:
            fail(CUDA_ERROR_INVALID_VALUE, "unknown peer attribute");
        }
    });
}

// ---- primary contexts --------------------------------------------------------------------------

CUresult CUDAAPI cuDevicePrimaryCtxRetain(CUcontext* pctx, CUdevice dev) {
    return entry("cuDevicePrimaryCtxRetain", [&] {
        Device& device = device_at(dev);
        require(pctx != nullptr, "pctx must not be NULL");
        *pctx = device.retain_primary()->handle<CUcontext>();
    });
}

CUresult CUDAAPI cuDevicePrimaryCtxRelease_v2(CUdevice dev) {
    return entry("cuDevicePrimaryCtxRelease", [&] { device_at(dev).release_primary(); });
}

CUresult CUDAAPI cuDevicePrimaryCtxRelease(CUdevice dev) {
    return cuDevicePrimaryCtxRelease_v2(dev);
}

CUresult CUDAAPI cuDevicePrimaryCtxReset_v2(CUdevice dev) {
    return entry("cuDevicePrimaryCtxReset", [&] { device_at(dev).reset_primary(); });
}

CUresult CUDAAPI cuDevicePrimaryCtxReset(CUdevice dev) {
    return cuDevicePrimaryCtxReset_v2(dev);
}

CUresult CUDAAPI cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags) {
    return entry("cuDevicePrimaryCtxSetFlags", [&] { device_at(dev).set_primary_flags(flags); });
}

CUresult CUDAAPI cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned int flags) {
    return cuDevicePrimaryCtxSetFlags_v2(dev, flags);
}

CUresult CUDAAPI cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int* flags, int* active) {
    return entry("cuDevicePrimaryCtxGetState", [&] {
        const Device& device = device_at(dev);
        require(flags != nullptr && active != nullptr, "an output argument is NULL");
        *flags = device.primary_flags();
        *active = device.is_primary_active() ? 1 : 0;
    });
}

// ---- atomic operations -------------------------------------------------------------------------

CUresult CUDAAPI cuDeviceGetHostAtomicCapabilities(unsigned int* capabilities,
                                                   const CUatomicOperation* operations,
                                                   unsigned int count, CUdevice dev) {
    return entry("cuDeviceGetHostAtomicCapabilities", [&] {
        (void)device_at(dev);
        tell_atomics(capabilities, operations, count);
    });
}

CUresult CUDAAPI cuDeviceGetP2PAtomicCapabilities(unsigned int* capabilities,
                                                  const CUatomicOperation* operations,
                                                  unsigned int count, CUdevice srcDevice,
                                                  CUdevice dstDevice) {
    return entry("cuDeviceGetP2PAtomicCapabilities", [&] {
        if (&device_at(srcDevice) == &device_at(dstDevice)) {
            fail(CUDA_ERROR_INVALID_DEVICE, "a device is not a peer of itself");
        }
        tell_atomics(capabilities, operations, count);
    });
}

} // extern "C"
