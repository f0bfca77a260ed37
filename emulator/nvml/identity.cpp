// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Which devices there are, and how they are recognised. All of it agrees with the emulated driver.

#include "library.hpp"
#include "row.hpp"

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

nvmlDevice_t find_by_uuid(const State& state, const char* uuid) {
    const std::string wanted = lower_case(uuid);
    return handle_of(find_device(state, [&](unsigned int index) {
        const std::string own = lower_case(uuid_text(state, index));
        // Clients also pass what CUDA's driver gives them, which has no prefix.
        return wanted == own || wanted == own.substr(UUID_PREFIX.size());
    }));
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

ROW(nvmlDeviceGetCount_v2, const State& state, unsigned int& device_count) {
    device_count = state.settings.device_count;
}

ROW(nvmlDeviceGetHandleByIndex_v2, const State& state, unsigned int index, nvmlDevice_t& device) {
    require(index < state.settings.device_count);
    device = handle_of(index);
}

ROW(nvmlDeviceGetHandleByPciBusId_v2, const State& state, const char* pci_bus_id,
    nvmlDevice_t& device) {
    require(pci_bus_id);
    const auto bus = parse_bus(pci_bus_id);
    require(bus.has_value());
    device = handle_of(find_device(
        state, [&](unsigned int index) { return bus_of(index) == static_cast<int>(*bus); }));
}

ALIAS(nvmlDeviceGetCount, nvmlDeviceGetCount_v2);
ALIAS(nvmlDeviceGetHandleByIndex, nvmlDeviceGetHandleByIndex_v2);
ALIAS(nvmlDeviceGetHandleByPciBusId, nvmlDeviceGetHandleByPciBusId_v2);

ROW(nvmlDeviceGetHandleBySerial, const State& state, const char* serial, nvmlDevice_t& device) {
    require(serial);
    device = handle_of(
        find_device(state, [&](unsigned int index) { return serial_text(index) == serial; }));
}

ROW(nvmlDeviceGetHandleByUUID, const State& state, const char* uuid, nvmlDevice_t& device) {
    require(uuid);
    device = find_by_uuid(state, uuid);
}

ROW(nvmlDeviceGetHandleByUUIDV, const State& state, const nvmlUUID_t& uuid, nvmlDevice_t& device) {
    require_version(uuid.version, nvmlUUID_v1);
    if (uuid.type == NVML_UUID_TYPE_ASCII) {
        require(std::memchr(uuid.value.str, '\0', sizeof uuid.value.str));
        device = find_by_uuid(state, uuid.value.str);
        return;
    }
    require(uuid.type == NVML_UUID_TYPE_BINARY);
    device = handle_of(find_device(state, [&](unsigned int index) {
        const auto bytes = device_uuid(static_cast<int>(index), state.settings.major);
        return std::memcmp(bytes.data(), uuid.value.bytes, bytes.size()) == 0;
    }));
}

ROW(nvmlDeviceGetIndex, Index number, unsigned int& index) {
    index = number;
}

ALIAS(nvmlDeviceGetMinorNumber, nvmlDeviceGetIndex);

ROW(nvmlDeviceGetName, Index /*device*/, char* name, unsigned int length) {
    write_text(cuprum::emulator::DEVICE_NAME, name, length);
}

ROW(nvmlDeviceGetUUID, const State& state, Index index, char* uuid, unsigned int length) {
    write_text(uuid_text(state, index), uuid, length);
}

ROW(nvmlDeviceGetSerial, Index index, char* serial, unsigned int length) {
    write_text(serial_text(index), serial, length);
}

ROW(nvmlDeviceGetPdi, const State& state, Index index, nvmlPdi_t& pdi) {
    require_version(pdi.version, nvmlPdi_v1);
    // The last bytes of the UUID tell the devices apart.
    const auto uuid = device_uuid(static_cast<int>(index), state.settings.major);
    pdi.value = 0;
    for (std::size_t at = uuid.size() - sizeof pdi.value; at < uuid.size(); ++at) {
        pdi.value = pdi.value << 8U | uuid[at];
    }
}

ALIAS(nvmlDeviceGetModuleId, nvmlDeviceGetIndex);

ROW(nvmlDeviceGetPlatformInfo, Index index, nvmlPlatformInfo_t& platform_info) {
    const auto module = static_cast<unsigned char>(index);
    // The device is in no rack, so that only its number in the machine is not zero.
    if (platform_info.version == nvmlPlatformInfo_v1) {
        nvmlPlatformInfo_v1_t first{};
        first.version = nvmlPlatformInfo_v1;
        first.moduleId = module;
        std::memcpy(static_cast<void*>(&platform_info), &first, sizeof first);
        return;
    }
    require_version(platform_info.version, nvmlPlatformInfo_v2);
    platform_info = {};
    platform_info.version = nvmlPlatformInfo_v2;
    platform_info.moduleId = module;
}

ALIAS(nvmlDeviceGetBrand, constant<NVML_BRAND_UNKNOWN>);

ROW(nvmlDeviceGetBoardId, Index index, unsigned int& board_id) {
    board_id = static_cast<unsigned int>(bus_of(index)) << 8U;
}

ALIAS(nvmlDeviceGetMultiGpuBoard, constant<0>);

ROW(nvmlDeviceGetArchitecture, const State& state, Index /*device*/,
    nvmlDeviceArchitecture_t& arch) {
    arch = architecture_of(state.settings.major, state.settings.minor);
}

ROW(nvmlDeviceGetCudaComputeCapability, const State& state, Index /*device*/, int& major,
    int& minor) {
    major = static_cast<int>(state.settings.major);
    minor = static_cast<int>(state.settings.minor);
}

ROW(nvmlDeviceGetNumGpuCores, const State& state, Index /*device*/, unsigned int& num_cores) {
    const unsigned int sm = state.settings.major * 10 + state.settings.minor;
    const unsigned int cores = sm <= 80 ? 64 : 128; // per multiprocessor
    num_cores = state.settings.multiprocessor_count * cores;
}

ROW(nvmlDeviceGetAttributes_v2, const State& state, Index /*device*/,
    nvmlDeviceAttributes_t* attributes) {
    require(attributes);
    *attributes = {};
    attributes->multiprocessorCount = state.settings.multiprocessor_count;
    attributes->sharedCopyEngineCount =
        static_cast<unsigned int>(state.attributes[CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT]);
    attributes->memorySizeMB = state.settings.memory_bytes >> 20U;
}

ALIAS(nvmlDeviceGetAttributes, nvmlDeviceGetAttributes_v2);

ROW(nvmlDeviceGetCapabilities, Index /*device*/, nvmlDeviceCapabilities_t& caps) {
    require_version(caps.version, nvmlDeviceCapabilities_v1);
    caps.capMask = 0;
}

ALIAS(nvmlDeviceGetPciInfo, write_pci_info, false);
ALIAS(nvmlDeviceGetPciInfo_v2, write_pci_info, false);
ALIAS(nvmlDeviceGetPciInfo_v3, write_pci_info, true);

ROW(nvmlDeviceGetPciInfoExt, Index index, nvmlPciInfoExt_t& pci) {
    require_version(pci.version, nvmlPciInfoExt_v1);
    pci.domain = 0;
    pci.bus = static_cast<unsigned int>(bus_of(index));
    pci.device = 0;
    pci.pciDeviceId = (PCI_DEVICE << 16U) | PCI_VENDOR;
    pci.pciSubSystemId = (PCI_DEVICE << 16U) | PCI_VENDOR;
    pci.baseClass = PCI_CLASS_DISPLAY;
    pci.subClass = PCI_SUBCLASS_3D;
    std::snprintf(pci.busId, sizeof pci.busId, "00000000:%02X:00.0", pci.bus);
}

ALIAS(nvmlDeviceGetBusType, constant<NVML_BUS_TYPE_PCIE>);
