// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Devices and their primary contexts.

#include "api/entry.hpp"
#include "api/handles.hpp"
#include "objects/devices/device.hpp"
#include "objects/process/error.hpp"
#include "objects/textures/format.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
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

/// The handles of the callbacks that are registered, with their devices.
class Notifications {
public:
    static Notifications& instance() {
        static auto* const all = new Notifications; // never destroyed
        return *all;
    }

    CUasyncCallbackHandle add(int device) {
        const std::lock_guard lock(mutex_);
        devices_.emplace(++last_, device);
        return reinterpret_cast<CUasyncCallbackHandle>(last_);
    }

    /// Returns whether the callback was registered for the device.
    bool remove(int device, CUasyncCallbackHandle handle) {
        const std::lock_guard lock(mutex_);
        const auto found = devices_.find(reinterpret_cast<std::uintptr_t>(handle));
        const bool is_known = found != devices_.end() && found->second == device;
        if (is_known) {
            devices_.erase(found);
        }
        return is_known;
    }

private:
    std::mutex mutex_;
    std::uintptr_t last_ = 0;
    std::map<std::uintptr_t, int> devices_; // by handle
};

} // namespace

ROW(cuDeviceGet, 2000, CUdevice* device, int ordinal) {
    put(device, device_at(ordinal).ordinal());
}

ROW(cuDeviceGetCount, 2000, int* count) {
    put(count, Driver::instance().device_count());
}

ROW(cuDeviceGetName, 2000, char* name, int len, Device& device) {
    put_text(name, len, device.name());
}

ROW(cuDeviceGetUuid, 9020, CUuuid* uuid, Device& device) {
    put(uuid, device.uuid());
}

ALIAS(cuDeviceGetUuid_v2, 11040, cuDeviceGetUuid);

ROW(cuDeviceTotalMem_v2, 3020, size_t* bytes, Device& device) {
    put(bytes, device.total_bytes());
}

ROW(cuDeviceGetAttribute, 2000, int* pi, CUdevice_attribute attrib, Device& device) {
    put(pi, device.attribute(attrib));
}

ROW(cuDeviceComputeCapability, 2000, int* major, int* minor, const Device& device) {
    require(major != nullptr && minor != nullptr, "an output argument is NULL");
    *major = device.major();
    *minor = device.minor();
}

ROW(cuDeviceGetProperties, 2000, CUdevprop* prop, const Device& device) {
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
}

ROW(cuDeviceGetPCIBusId, 4010, char* pciBusId, int len, Device& device) {
    put_text(pciBusId, len, device.pci_bus_id());
}

ROW(cuDeviceGetByPCIBusId, 4010, CUdevice& dev, const std::string& pciBusId) {
    const BusId id = bus_id_from(pciBusId.c_str());
    for (int ordinal = 0; ordinal < Driver::instance().device_count(); ++ordinal) {
        const int own = device_at(ordinal).attribute(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID);
        if (id.domain == 0 && id.slot == 0 && id.function == 0 &&
            id.bus == static_cast<unsigned>(own)) {
            dev = ordinal;
            return;
        }
    }
    fail(CUDA_ERROR_INVALID_DEVICE, "no device has the PCI bus id '" + pciBusId + "'");
}

ROW(cuDeviceGetTexture1DLinearMaxWidth, 11010, size_t* maxWidthInElements, CUarray_format format,
    unsigned numChannels, const Device& /*dev*/) {
    put(maxWidthInElements, max_linear_texels(format, numChannels));
}

ROW(cuDeviceGetExecAffinitySupport, 11040, int* pi, CUexecAffinityType type,
    const Device& /*dev*/) {
    require(type >= 0 && type < CU_EXEC_AFFINITY_TYPE_MAX, "unknown type of affinity");
    put(pi, 0);
}

// ---- peers -------------------------------------------------------------------------------------

ROW(cuDeviceCanAccessPeer, 4000, int* canAccessPeer, Device& device, Device& peer) {
    put(canAccessPeer, &device != &peer ? 1 : 0);
}

ROW(cuDeviceGetP2PAttribute, 8000, int* value, CUdevice_P2PAttribute attrib, CUdevice srcDevice,
    CUdevice dstDevice) {
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
}

// ---- primary contexts --------------------------------------------------------------------------

ROW(cuDevicePrimaryCtxRetain, 7000, CUcontext* pctx, Device& device) {
    require(pctx != nullptr, "pctx must not be NULL");
    *pctx = device.retain_primary()->handle<CUcontext>();
}

ROW(cuDevicePrimaryCtxRelease_v2, 11000, Device& device) {
    device.release_primary();
}

ALIAS(cuDevicePrimaryCtxRelease, 7000, cuDevicePrimaryCtxRelease_v2);

ROW(cuDevicePrimaryCtxReset_v2, 11000, Device& device) {
    device.reset_primary();
}

ALIAS(cuDevicePrimaryCtxReset, 7000, cuDevicePrimaryCtxReset_v2);

ROW(cuDevicePrimaryCtxSetFlags_v2, 11000, Device& device, unsigned int flags) {
    device.set_primary_flags(flags);
}

ALIAS(cuDevicePrimaryCtxSetFlags, 7000, cuDevicePrimaryCtxSetFlags_v2);

ROW(cuDevicePrimaryCtxGetState, 7000, const Device& device, unsigned int* flags, int* active) {
    require(flags != nullptr && active != nullptr, "an output argument is NULL");
    *flags = device.primary_flags();
    *active = device.is_primary_active() ? 1 : 0;
}

// ---- notifications -----------------------------------------------------------------------------

// They say that other programs take a device's memory away, which no program can do here.

ROW(cuDeviceRegisterAsyncNotification, 12040, const Device& device, CUasyncCallback callbackFunc,
    void* /*userData*/, CUasyncCallbackHandle& callback) {
    require(callbackFunc != nullptr, "callbackFunc must not be NULL");
    callback = Notifications::instance().add(device.ordinal());
}

ROW(cuDeviceUnregisterAsyncNotification, 12040, const Device& device,
    CUasyncCallbackHandle callback) {
    require(Notifications::instance().remove(device.ordinal(), callback),
            "callback is not registered for this device");
}

// ---- atomic operations -------------------------------------------------------------------------

ROW(cuDeviceGetHostAtomicCapabilities, 13000, unsigned int* capabilities,
    const CUatomicOperation* operations, unsigned int count, const Device& /*dev*/) {
    tell_atomics(capabilities, operations, count);
}

ROW(cuDeviceGetP2PAtomicCapabilities, 13000, unsigned int* capabilities,
    const CUatomicOperation* operations, unsigned int count, Device& source, Device& target) {
    if (&source == &target) {
        fail(CUDA_ERROR_INVALID_DEVICE, "a device is not a peer of itself");
    }
    tell_atomics(capabilities, operations, count);
}
