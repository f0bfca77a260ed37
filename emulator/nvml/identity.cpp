// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Which devices there are, and how they are recognised. All of it agrees with the emulated driver.

#include "library.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <functional>
#include <optional>

using namespace cuprum::nvml;
using cuprum::emulator::device_uuid;
using cuprum::emulator::pci_bus;

namespace {

constexpr unsigned int PCI_CLASS_DISPLAY = 3; // display controllers
constexpr unsigned int PCI_SUBCLASS_3D = 2;   // without a display
// No vendor has 0xC0DE. The device is not a product of NVIDIA and does not claim to be.
constexpr unsigned int PCI_VENDOR = 0xC0DE;
constexpr unsigned int PCI_DEVICE = 0x0001;

constexpr std::string_view UUID_PREFIX = "GPU-";

std::string lower_case(std::string text) {
    std::ranges::transform(text, text.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

int bus_of(unsigned int index) {
    return pci_bus(static_cast<int>(index));
}

std::string uuid_text(const State& state, unsigned int index) {
    const auto bytes = device_uuid(static_cast<int>(index), state.settings.major);
    std::string text(UUID_PREFIX);
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", bytes[at]);
        const bool is_group = at == 4 || at == 6 || at == 8 || at == 10;
        text += (is_group ? "-" : "") + std::string(digits);
    }
    return text;
}

std::string serial_text(unsigned int index) {
    char text[16];
    std::snprintf(text, sizeof text, "CUPRUM%04u", index);
    return text;
}

/// Returns the number of the only device that fits; fails with NOT_FOUND.
unsigned int find_device(const State& state, const std::function<bool(unsigned int)>& fits) {
    for (unsigned int index = 0; index < state.settings.device_count; ++index) {
        if (fits(index)) {
            return index;
        }
    }
    fail(NVML_ERROR_NOT_FOUND);
}

/// Parses "domain:bus:device.function" or "bus:device.function", in hexadecimal digits.
std::optional<unsigned int> parse_bus(const char* text) {
    unsigned int domain = 0;
    unsigned int bus = 0;
    unsigned int device = 0;
    unsigned int function = 0;
    int used = 0;
    const auto is_whole = [&] { return text[used] == '\0'; };
    bool is_parsed =
        std::sscanf(text, "%8x:%2x:%2x.%1x%n", &domain, &bus, &device, &function, &used) == 4 &&
        is_whole();
    if (!is_parsed) {
        used = 0;
        is_parsed =
            std::sscanf(text, "%8x:%2x:%2x%n", &domain, &bus, &device, &used) == 3 && is_whole();
    }
    if (!is_parsed) {
        domain = 0;
        used = 0;
        is_parsed =
            std::sscanf(text, "%2x:%2x.%1x%n", &bus, &device, &function, &used) == 3 && is_whole();
    }
    if (!is_parsed) {
        return std::nullopt;
    }
    // An address at which no device of ours lies is well formed all the same.
    return domain == 0 && device == 0 && function == 0 ? bus : 0;
}

nvmlReturn_t find_by_bus(const char* pci_bus_id, nvmlDevice_t* device) {
    return entry([&](const State& state) {
        require(pci_bus_id, device);
        const auto bus = parse_bus(pci_bus_id);
        require(bus.has_value());
        *device = handle_of(find_device(
            state, [&](unsigned int index) { return bus_of(index) == static_cast<int>(*bus); }));
    });
}

nvmlReturn_t find_by_index(unsigned int index, nvmlDevice_t* device) {
    return entry([&](const State& state) {
        require(device, index < state.settings.device_count);
        *device = handle_of(index);
    });
}

nvmlReturn_t count_devices(unsigned int* count) {
    return entry([&](const State& state) {
        require(count);
        *count = state.settings.device_count;
    });
}

nvmlReturn_t write_pci_info(nvmlDevice_t device, nvmlPciInfo_t* pci, bool has_long_id) {
    return device_entry(device, [&](const State&, unsigned int index) {
        require(pci);
        // The first version of the structure ends before the long address.
        std::memset(pci, 0, has_long_id ? sizeof *pci : offsetof(nvmlPciInfo_t, busId));
        pci->bus = static_cast<unsigned int>(bus_of(index));
        pci->pciDeviceId = (PCI_DEVICE << 16U) | PCI_VENDOR;
        pci->pciSubSystemId = (PCI_DEVICE << 16U) | PCI_VENDOR;
        std::snprintf(pci->busIdLegacy, sizeof pci->busIdLegacy, "0000:%02X:00.0", pci->bus);
        if (has_long_id) {
            std::snprintf(pci->busId, sizeof pci->busId, "00000000:%02X:00.0", pci->bus);
        }
    });
}

unsigned int architecture_of(unsigned int major, unsigned int minor) {
    switch (major) {
    case 7:
        return minor >= 5 ? NVML_DEVICE_ARCH_TURING : NVML_DEVICE_ARCH_VOLTA;
    case 8:
        return minor == 9 ? NVML_DEVICE_ARCH_ADA : NVML_DEVICE_ARCH_AMPERE;
    case 9:
        return NVML_DEVICE_ARCH_HOPPER;
    default:
        return major >= 10 ? NVML_DEVICE_ARCH_BLACKWELL : NVML_DEVICE_ARCH_UNKNOWN;
    }
}

} // namespace

extern "C" {

nvmlReturn_t nvmlDeviceGetCount(unsigned int* device_count) {
    return count_devices(device_count);
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int* device_count) {
    return count_devices(device_count);
}

nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned int index, nvmlDevice_t* device) {
    return find_by_index(index, device);
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t* device) {
    return find_by_index(index, device);
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId(const char* pci_bus_id, nvmlDevice_t* device) {
    return find_by_bus(pci_bus_id, device);
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char* pci_bus_id, nvmlDevice_t* device) {
    return find_by_bus(pci_bus_id, device);
}

nvmlReturn_t nvmlDeviceGetHandleBySerial(const char* serial, nvmlDevice_t* device) {
    return entry([&](const State& state) {
        require(serial, device);
        *device = handle_of(
            find_device(state, [&](unsigned int index) { return serial_text(index) == serial; }));
    });
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* uuid, nvmlDevice_t* device) {
    return entry([&](const State& state) {
        require(uuid, device);
        const std::string wanted = lower_case(uuid);
        *device = handle_of(find_device(state, [&](unsigned int index) {
            const std::string own = lower_case(uuid_text(state, index));
            // Clients also pass what CUDA's driver gives them, which has no prefix.
            return wanted == own || wanted == own.substr(UUID_PREFIX.size());
        }));
    });
}

nvmlReturn_t nvmlDeviceGetHandleByUUIDV(const nvmlUUID_t* uuid, nvmlDevice_t* device) {
    if (uuid != nullptr && uuid->version == nvmlUUID_v1 && uuid->type == NVML_UUID_TYPE_ASCII &&
        std::memchr(uuid->value.str, '\0', sizeof uuid->value.str) != nullptr) {
        return nvmlDeviceGetHandleByUUID(uuid->value.str, device);
    }
    return entry([&](const State& state) {
        require(uuid, device);
        require_version(uuid->version, nvmlUUID_v1);
        require(uuid->type == NVML_UUID_TYPE_BINARY);
        *device = handle_of(find_device(state, [&](unsigned int index) {
            const auto bytes = device_uuid(static_cast<int>(index), state.settings.major);
            return std::memcmp(bytes.data(), uuid->value.bytes, bytes.size()) == 0;
        }));
    });
}

nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned int* index) {
    return value_entry(device, index, [](const State&, unsigned int number) { return number; });
}

nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned int* minor_number) {
    return nvmlDeviceGetIndex(device, minor_number);
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char* name, unsigned int length) {
    return device_entry(device, [&](const State&, unsigned int) {
        write_text(cuprum::emulator::DEVICE_NAME, name, length);
    });
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char* uuid, unsigned int length) {
    return device_entry(device, [&](const State& state, unsigned int index) {
        write_text(uuid_text(state, index), uuid, length);
    });
}

nvmlReturn_t nvmlDeviceGetSerial(nvmlDevice_t device, char* serial, unsigned int length) {
    return device_entry(device, [&](const State&, unsigned int index) {
        write_text(serial_text(index), serial, length);
    });
}

nvmlReturn_t nvmlDeviceGetPdi(nvmlDevice_t device, nvmlPdi_t* pdi) {
    return device_entry(device, [&](const State& state, unsigned int index) {
        require(pdi);
        require_version(pdi->version, nvmlPdi_v1);
        // The last bytes of the UUID tell the devices apart.
        const auto uuid = device_uuid(static_cast<int>(index), state.settings.major);
        pdi->value = 0;
        for (std::size_t at = uuid.size() - sizeof pdi->value; at < uuid.size(); ++at) {
            pdi->value = pdi->value << 8U | uuid[at];
        }
    });
}

nvmlReturn_t nvmlDeviceGetModuleId(nvmlDevice_t device, unsigned int* module_id) {
    return nvmlDeviceGetIndex(device, module_id);
}

nvmlReturn_t nvmlDeviceGetPlatformInfo(nvmlDevice_t device, nvmlPlatformInfo_t* platform_info) {
    return device_entry(device, [&](const State&, unsigned int index) {
        require(platform_info);
        const auto module = static_cast<unsigned char>(index);
        // The device is in no rack, so that only its number in the machine is not zero.
        if (platform_info->version == nvmlPlatformInfo_v1) {
            nvmlPlatformInfo_v1_t first{};
            first.version = nvmlPlatformInfo_v1;
            first.moduleId = module;
            std::memcpy(static_cast<void*>(platform_info), &first, sizeof first);
            return;
        }
        require_version(platform_info->version, nvmlPlatformInfo_v2);
        *platform_info = {};
        platform_info->version = nvmlPlatformInfo_v2;
        platform_info->moduleId = module;
    });
}

nvmlReturn_t nvmlDeviceGetBrand(nvmlDevice_t device, nvmlBrandType_t* type) {
    return value_entry(device, type, [](const State&, unsigned int) { return NVML_BRAND_UNKNOWN; });
}

nvmlReturn_t nvmlDeviceGetBoardId(nvmlDevice_t device, unsigned int* board_id) {
    return value_entry(device, board_id, [](const State&, unsigned int index) {
        return static_cast<unsigned int>(bus_of(index)) << 8U;
    });
}

nvmlReturn_t nvmlDeviceGetMultiGpuBoard(nvmlDevice_t device, unsigned int* is_multi_gpu) {
    return value_entry(device, is_multi_gpu, [](const State&, unsigned int) { return 0; });
}

nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t device, nvmlDeviceArchitecture_t* arch) {
    return value_entry(device, arch, [](const State& state, unsigned int) {
        return architecture_of(state.settings.major, state.settings.minor);
    });
}

nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int* major, int* minor) {
    return device_entry(device, [&](const State& state, unsigned int) {
        require(major, minor);
        *major = static_cast<int>(state.settings.major);
        *minor = static_cast<int>(state.settings.minor);
    });
}

nvmlReturn_t nvmlDeviceGetNumGpuCores(nvmlDevice_t device, unsigned int* num_cores) {
    return value_entry(device, num_cores, [](const State& state, unsigned int) {
        const unsigned int sm = state.settings.major * 10 + state.settings.minor;
        const unsigned int cores = sm <= 80 ? 64 : 128; // per multiprocessor
        return state.settings.multiprocessor_count * cores;
    });
}

nvmlReturn_t nvmlDeviceGetAttributes_v2(nvmlDevice_t device, nvmlDeviceAttributes_t* attributes) {
    return device_entry(device, [&](const State& state, unsigned int) {
        require(attributes);
        *attributes = {};
        attributes->multiprocessorCount = state.settings.multiprocessor_count;
        attributes->sharedCopyEngineCount =
            static_cast<unsigned int>(state.attributes[CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT]);
        attributes->memorySizeMB = state.settings.memory_bytes >> 20U;
    });
}

nvmlReturn_t nvmlDeviceGetAttributes(nvmlDevice_t device, nvmlDeviceAttributes_t* attributes) {
    return nvmlDeviceGetAttributes_v2(device, attributes);
}

nvmlReturn_t nvmlDeviceGetCapabilities(nvmlDevice_t device, nvmlDeviceCapabilities_t* caps) {
    return device_entry(device, [&](const State&, unsigned int) {
        require(caps);
        require_version(caps->version, nvmlDeviceCapabilities_v1);
        caps->capMask = 0;
    });
}

nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t device, nvmlPciInfo_t* pci) {
    return write_pci_info(device, pci, false);
}

nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_t* pci) {
    return write_pci_info(device, pci, false);
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t* pci) {
    return write_pci_info(device, pci, true);
}

nvmlReturn_t nvmlDeviceGetPciInfoExt(nvmlDevice_t device, nvmlPciInfoExt_t* pci) {
    return device_entry(device, [&](const State&, unsigned int index) {
        require(pci);
        require_version(pci->version, nvmlPciInfoExt_v1);
        pci->domain = 0;
        pci->bus = static_cast<unsigned int>(bus_of(index));
        pci->device = 0;
        pci->pciDeviceId = (PCI_DEVICE << 16U) | PCI_VENDOR;
        pci->pciSubSystemId = (PCI_DEVICE << 16U) | PCI_VENDOR;
        pci->baseClass = PCI_CLASS_DISPLAY;
        pci->subClass = PCI_SUBCLASS_3D;
        std::snprintf(pci->busId, sizeof pci->busId, "00000000:%02X:00.0", pci->bus);
    });
}

nvmlReturn_t nvmlDeviceGetBusType(nvmlDevice_t device, nvmlBusType_t* type) {
    return value_entry(device, type, [](const State&, unsigned int) { return NVML_BUS_TYPE_PCIE; });
}

} // extern "C"
