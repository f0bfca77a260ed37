// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/system/device.hpp>

#include "support/text.hpp"
#include "system/query.hpp"

#include <cuprum/error.hpp>
#include <cuprum/system/pci_info.hpp>

#include <algorithm>
#include <stdexcept>

namespace cuprum::system {

using namespace nvml_abi;

namespace {

/// Returns a name of every device for a message.
template <typename NameOf>
std::string known_devices(const NameOf& name_of) {
    std::string text;
    for (const Device& device : Device::all()) {
        try {
            text += (text.empty() ? "" : ", ") + name_of(device);
        } catch (const NVMLError&) {
            continue; // it has no such name
        }
    }
    return text.empty() ? "none" : text;
}

/// Reports a device that cannot be found, with the names of those that can.
template <typename NameOf>
[[noreturn]] void raise_not_found(nvmlReturn_t status, const char* function, const char* argument,
                                  const std::string& value, const NameOf& name_of) {
    if (status != NVML_ERROR_NOT_FOUND && status != NVML_ERROR_INVALID_ARGUMENT) {
        nvml::raise(status, function);
    }
    nvml::raise(status, function,
                std::string(argument) + " is " + cuprum::detail::quoted(value) +
                    ", which no device has; there are: " + known_devices(name_of));
}

/// Returns a text as a C string takes it.
std::string checked_text(const char* argument, std::string_view value) {
    cuprum::detail::check_has_no_nul(argument, value);
    if (value.empty()) {
        throw std::invalid_argument(
            std::string(argument) + " is empty, expected one of: " +
            (std::string_view(argument) == "uuid"
                 ? known_devices([](const Device& d) { return d.uuid(); })
                 : known_devices([](const Device& d) { return d.pci_bus_id(); })));
    }
    return std::string(value);
}

bool has_prefix(std::string_view uuid) {
    return uuid.starts_with("GPU-") || uuid.starts_with("MIG-");
}

} // namespace

Device::Device(int index) : handle_(nullptr) {
    if (index < 0) {
        throw std::invalid_argument("index is " + std::to_string(index) +
                                    ", expected at least 0: devices are counted from 0");
    }
    const auto& entry = nvml::table().nvmlDeviceGetHandleByIndex_v2;
    nvmlDevice_t device{};
    const nvmlReturn_t status = nvml::try_call(entry, static_cast<unsigned>(index), &device);
    if (status == NVML_ERROR_INVALID_ARGUMENT) {
        const unsigned there = count();
        nvml::raise(status, entry.name,
                    "index is " + std::to_string(index) +
                        (there == 0 ? ", but NVML sees no device"
                                    : ", expected 0 to " + std::to_string(there - 1)));
    }
    if (status != NVML_SUCCESS) {
        nvml::raise(status, entry.name);
    }
    handle_ = handle_of(device);
}

Device Device::from_uuid(std::string_view uuid) {
    const auto& entry = nvml::table().nvmlDeviceGetHandleByUUID;
    const std::string wanted = checked_text("uuid", uuid);
    nvmlDevice_t device{};
    nvmlReturn_t status = NVML_ERROR_NOT_FOUND;
    if (has_prefix(wanted)) {
        status = nvml::try_call(entry, wanted.c_str(), &device);
    } else { // as CUDA writes it
        status = nvml::try_call(entry, ("GPU-" + wanted).c_str(), &device);
        if (status == NVML_ERROR_NOT_FOUND || status == NVML_ERROR_INVALID_ARGUMENT) {
            const nvmlReturn_t mig = nvml::try_call(entry, ("MIG-" + wanted).c_str(), &device);
            status = mig == NVML_SUCCESS ? mig : status;
        }
    }
    if (status != NVML_SUCCESS) {
        raise_not_found(status, entry.name, "uuid", wanted,
                        [](const Device& known) { return known.uuid(); });
    }
    return Device(handle_of(device));
}

Device Device::from_pci_bus_id(std::string_view pci_bus_id) {
    const auto& entry = nvml::table().nvmlDeviceGetHandleByPciBusId_v2;
    const std::string wanted = checked_text("pci_bus_id", pci_bus_id);
    nvmlDevice_t device{};
    if (const nvmlReturn_t status = nvml::try_call(entry, wanted.c_str(), &device);
        status != NVML_SUCCESS) {
        raise_not_found(status, entry.name, "pci_bus_id", wanted,
                        [](const Device& known) { return known.pci_bus_id(); });
    }
    return Device(handle_of(device));
}

Device Device::from_serial(std::string_view serial) {
    std::vector<Device> found;
    for (const Device& device : all()) {
        try {
            if (device.serial() == serial) {
                found.push_back(device);
            }
        } catch (const NVMLError& error) {
            if (error.code() != NVML_ERROR_NOT_SUPPORTED) { // most consumer boards have none
                throw;
            }
        }
    }
    if (found.empty()) {
        raise_not_found(NVML_ERROR_NOT_FOUND, nvml::table().nvmlDeviceGetSerial.name, "serial",
                        std::string(serial), [](const Device& known) { return known.serial(); });
    }
    if (found.size() > 1) {
        std::string uuids;
        for (const Device& device : found) {
            uuids += (uuids.empty() ? "" : ", ") + device.uuid();
        }
        throw std::invalid_argument("serial is " + cuprum::detail::quoted(serial) +
                                    ", which several devices of one board share; choose one by its "
                                    "UUID: " +
                                    uuids);
    }
    return found.front();
}

unsigned Device::count() {
    unsigned count = 0;
    nvml::call(nvml::table().nvmlDeviceGetCount_v2, &count);
    return count;
}

std::vector<Device> Device::all() {
    std::vector<Device> devices;
    const unsigned there = count();
    for (unsigned i = 0; i < there; ++i) {
        devices.emplace_back(static_cast<int>(i));
    }
    return devices;
}

std::vector<Device> Device::with_cpu_affinity(unsigned cpu) {
    const auto& entry = nvml::table().nvmlSystemGetTopologyGpuSet;
    const auto handles =
        query_list<nvmlDevice_t>(entry.name, [&](unsigned* count, nvmlDevice_t* devices) {
            return nvml::try_call(entry, cpu, count, devices);
        });
    std::vector<Device> devices;
    for (const nvmlDevice_t handle : handles) {
        devices.push_back(Device(handle_of(handle)));
    }
    return devices;
}

cuprum::Device Device::to_cuda_device() const {
    const std::string wanted = uuid_without_prefix();
    std::string known;
    for (const cuprum::Device& device : cuprum::Device::all()) {
        if (device.uuid() == wanted) {
            return device;
        }
        known += (known.empty() ? "" : ", ") + device.uuid();
    }
    throw std::runtime_error("CUDA does not see the device " + uuid() + "; it sees " +
                             (known.empty() ? "none" : known) +
                             "; check CUDA_VISIBLE_DEVICES, and use a MIG device where MIG is on");
}

std::string Device::uuid() const {
    return query_text<NVML_DEVICE_UUID_V2_BUFFER_SIZE>(nvml::table().nvmlDeviceGetUUID,
                                                       native(handle_));
}

std::string Device::uuid_without_prefix() const {
    std::string text = uuid();
    if (has_prefix(text)) {
        text.erase(0, text.find('-') + 1);
    }
    return text;
}

std::string Device::pci_bus_id() const {
    return pci_info().bus_id();
}

std::string Device::name() const {
    return query_text<NVML_DEVICE_NAME_V2_BUFFER_SIZE>(nvml::table().nvmlDeviceGetName,
                                                       native(handle_));
}

std::string_view Device::brand() const {
    static constexpr std::array BRANDS{"Unknown",     "Quadro",       "Tesla",
                                       "NVS",         "GRID",         "GeForce",
                                       "Titan",       "NVIDIA vApps", "NVIDIA VPC",
                                       "NVIDIA VCS",  "NVIDIA VWS",   "NVIDIA Cloud Gaming",
                                       "Quadro RTX",  "NVIDIA RTX",   "NVIDIA",
                                       "GeForce RTX", "Titan RTX"};
    const auto number =
        static_cast<std::size_t>(query<nvmlBrandType_t>(nvml::table().nvmlDeviceGetBrand, handle_));
    return number < BRANDS.size() ? BRANDS[number] : BRANDS[0];
}

std::string Device::serial() const {
    return query_text<NVML_DEVICE_SERIAL_BUFFER_SIZE>(nvml::table().nvmlDeviceGetSerial,
                                                      native(handle_));
}

std::string Device::vbios_version() const {
    return query_text<NVML_DEVICE_VBIOS_VERSION_BUFFER_SIZE>(
        nvml::table().nvmlDeviceGetVbiosVersion, native(handle_));
}

DeviceArch Device::arch() const {
    return static_cast<DeviceArch>(
        query<nvmlDeviceArchitecture_t>(nvml::table().nvmlDeviceGetArchitecture, handle_));
}

ComputeCapability Device::compute_capability() const {
    const auto [major, minor] =
        query_two<int>(nvml::table().nvmlDeviceGetCudaComputeCapability, handle_);
    return {major, minor};
}

int Device::numa_node_id() const {
    return static_cast<int>(query<unsigned>(nvml::table().nvmlDeviceGetNumaNodeId, handle_));
}

DeviceAttributes Device::attributes() const {
    const auto answer =
        query<nvmlDeviceAttributes_t>(nvml::table().nvmlDeviceGetAttributes_v2, handle_);
    return {
        answer.multiprocessorCount,   answer.sharedCopyEngineCount,     answer.sharedDecoderCount,
        answer.sharedEncoderCount,    answer.sharedJpegCount,           answer.sharedOfaCount,
        answer.gpuInstanceSliceCount, answer.computeInstanceSliceCount, answer.memorySizeMB};
}

PciInfo Device::pci_info() const {
    PciInfo info(handle_);
    nvmlPciInfoExt_t answer{};
    answer.version = nvmlPciInfoExt_v1;
    const auto& newer = nvml::table().nvmlDeviceGetPciInfoExt;
    const nvmlReturn_t status = nvml::try_call(newer, native(handle_), &answer);
    const auto take = [&info](const auto& address) {
        info.bus_id_ = address.busId;
        info.domain_ = address.domain;
        info.bus_ = address.bus;
        info.device_number_ = address.device;
        info.pci_device_id_ = address.pciDeviceId;
        info.subsystem_id_ = address.pciSubSystemId;
    };
    if (status == NVML_ERROR_FUNCTION_NOT_FOUND) [[unlikely]] { // before driver 550
        take(query<nvmlPciInfo_t>(nvml::table().nvmlDeviceGetPciInfo_v3, handle_));
        return info;
    }
    if (status != NVML_SUCCESS) [[unlikely]] {
        nvml::raise(status, newer.name,
                    status == NVML_ERROR_INVALID_ARGUMENT
                        ? "this device has no PCI address, as a MIG device; ask its parent"
                        : "");
    }
    take(answer);
    info.base_class_ = answer.baseClass;
    info.sub_class_ = answer.subClass;
    return info;
}

GpuTopologyLevel topology_common_ancestor(const Device& first, const Device& second) {
    return static_cast<GpuTopologyLevel>(
        query<nvmlGpuTopologyLevel_t>(nvml::table().nvmlDeviceGetTopologyCommonAncestor,
                                      first.handle(), native(second.handle())));
}

GpuP2PStatus p2p_status(const Device& first, const Device& second, GpuP2PCapsIndex index) {
    return static_cast<GpuP2PStatus>(query<nvmlGpuP2PStatus_t>(
        nvml::table().nvmlDeviceGetP2PStatus, first.handle(), native(second.handle()),
        static_cast<nvmlGpuP2PCapsIndex_t>(index)));
}

std::string to_string(const Device& device) {
    return "system::Device " + cuprum::detail::hexadecimal(device.handle());
}

} // namespace cuprum::system
