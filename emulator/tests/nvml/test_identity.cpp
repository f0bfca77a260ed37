// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Which devices there are. What NVML says must be what the emulated driver says.

#include "nvml_test.hpp"

#include <cuda.h>

#include <cstdio>
#include <cstring>

namespace cuprum::nvml::test {

namespace {

constexpr const char* SECOND_BUS = "00000000:02:00.0";

/// Returns a text that NVML writes into a buffer.
template <typename Function>
std::string text_of(Function& function, nvmlDevice_t device) {
    char buffer[96] = {};
    EXPECT_EQ(function(device, buffer, sizeof buffer), NVML_SUCCESS);
    return buffer;
}

/// Expects INSUFFICIENT_SIZE for a buffer without room for the final zero, and success with it.
template <typename Function>
void expect_exact_size(Function& function, nvmlDevice_t device) {
    const std::string text = text_of(function, device);
    const auto length = static_cast<unsigned int>(text.size());
    std::string buffer(text.size() + 1, '#');
    EXPECT_EQ(function(device, buffer.data(), length), NVML_ERROR_INSUFFICIENT_SIZE);
    EXPECT_EQ(buffer, std::string(text.size() + 1, '#')) << "a failed call must write nothing";
    EXPECT_EQ(function(device, buffer.data(), 0), NVML_ERROR_INSUFFICIENT_SIZE);
    EXPECT_EQ(function(device, buffer.data(), length + 1), NVML_SUCCESS);
    EXPECT_STREQ(buffer.c_str(), text.c_str());
}

template <typename Function>
Function* driver_symbol(const char* name) {
    static void* const library = ::dlopen(CUPRUM_EMULATOR_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    return reinterpret_cast<Function*>(::dlsym(library, name));
}

} // namespace

using IdentityTest = NVMLTest;

TEST_F(IdentityTest, devices_are_those_of_the_driver) {
    ASSERT_EQ(driver_symbol<decltype(cuInit)>("cuInit")(0), CUDA_SUCCESS);
    int count = 0;
    ASSERT_EQ(driver_symbol<decltype(cuDeviceGetCount)>("cuDeviceGetCount")(&count), CUDA_SUCCESS);
    ASSERT_EQ(count, 2);
    for (int ordinal = 0; ordinal < count; ++ordinal) {
        const nvmlDevice_t handle = device(static_cast<unsigned int>(ordinal));
        char name[96] = {};
        char bus[32] = {};
        CUuuid uuid{};
        std::size_t bytes = 0;
        driver_symbol<decltype(cuDeviceGetName)>("cuDeviceGetName")(name, sizeof name, ordinal);
        driver_symbol<decltype(cuDeviceGetPCIBusId)>("cuDeviceGetPCIBusId")(bus, sizeof bus,
                                                                            ordinal);
        driver_symbol<decltype(cuDeviceGetUuid)>("cuDeviceGetUuid_v2")(&uuid, ordinal);
        driver_symbol<decltype(cuDeviceTotalMem)>("cuDeviceTotalMem_v2")(&bytes, ordinal);
        std::string uuid_text = "GPU-";
        for (int at = 0; at < 16; ++at) {
            char digits[3];
            std::snprintf(digits, sizeof digits, "%02x",
                          static_cast<unsigned char>(uuid.bytes[at]));
            uuid_text += std::string(at == 4 || at == 6 || at == 8 || at == 10 ? "-" : "") + digits;
        }
        EXPECT_EQ(text_of(NVML(nvmlDeviceGetName), handle), name);
        EXPECT_EQ(text_of(NVML(nvmlDeviceGetUUID), handle), uuid_text);
        nvmlPciInfo_t pci{};
        ASSERT_EQ(NVML(nvmlDeviceGetPciInfo_v3)(handle, &pci), NVML_SUCCESS);
        EXPECT_STREQ(pci.busIdLegacy, bus);
        EXPECT_EQ(pci.busId, "0000" + std::string(bus));
        nvmlMemory_t memory{};
        ASSERT_EQ(NVML(nvmlDeviceGetMemoryInfo)(handle, &memory), NVML_SUCCESS);
        EXPECT_EQ(memory.total, bytes);
        EXPECT_EQ(memory.total, 1024 * MIB);
    }
    int version = 0;
    int driver_version = 0;
    driver_symbol<decltype(cuDriverGetVersion)>("cuDriverGetVersion")(&driver_version);
    ASSERT_EQ(NVML(nvmlSystemGetCudaDriverVersion_v2)(&version), NVML_SUCCESS);
    EXPECT_EQ(version, driver_version);
}

TEST_F(IdentityTest, every_way_to_a_device_leads_to_the_same_one) {
    for (unsigned int index = 0; index < 2; ++index) {
        const nvmlDevice_t handle = device(index);
        unsigned int number = 99;
        ASSERT_EQ(NVML(nvmlDeviceGetIndex)(handle, &number), NVML_SUCCESS);
        EXPECT_EQ(number, index);
        nvmlDevice_t found = nullptr;
        ASSERT_EQ(NVML(nvmlDeviceGetHandleByIndex)(index, &found), NVML_SUCCESS);
        EXPECT_EQ(found, handle);
        const std::string uuid = text_of(NVML(nvmlDeviceGetUUID), handle);
        for (const std::string& text : {uuid, uuid.substr(4)}) { // with and without "GPU-"
            found = nullptr;
            ASSERT_EQ(NVML(nvmlDeviceGetHandleByUUID)(text.c_str(), &found), NVML_SUCCESS) << text;
            EXPECT_EQ(found, handle);
        }
        nvmlUUID_t versioned{};
        versioned.version = nvmlUUID_v1;
        versioned.type = NVML_UUID_TYPE_ASCII;
        std::snprintf(versioned.value.str, sizeof versioned.value.str, "%s", uuid.c_str());
        found = nullptr;
        ASSERT_EQ(NVML(nvmlDeviceGetHandleByUUIDV)(&versioned, &found), NVML_SUCCESS);
        EXPECT_EQ(found, handle);
        const std::string serial = text_of(NVML(nvmlDeviceGetSerial), handle);
        found = nullptr;
        ASSERT_EQ(NVML(nvmlDeviceGetHandleBySerial)(serial.c_str(), &found), NVML_SUCCESS);
        EXPECT_EQ(found, handle);
    }
    for (const char* const bus : {SECOND_BUS, "0000:02:00.0", "0:2:0.0", "02:00.0", "0000:02:00"}) {
        nvmlDevice_t found = nullptr;
        ASSERT_EQ(NVML(nvmlDeviceGetHandleByPciBusId_v2)(bus, &found), NVML_SUCCESS) << bus;
        EXPECT_EQ(found, device(1)) << bus;
    }
}

TEST_F(IdentityTest, devices_that_do_not_exist_are_not_found) {
    nvmlDevice_t found = nullptr;
    EXPECT_EQ(NVML(nvmlDeviceGetHandleByIndex_v2)(2, &found), NVML_ERROR_INVALID_ARGUMENT);
    for (const char* const uuid : {"", "GPU-", "GPU-00000000-0000-0000-0000-000000000000", "0"}) {
        EXPECT_EQ(NVML(nvmlDeviceGetHandleByUUID)(uuid, &found), NVML_ERROR_NOT_FOUND) << uuid;
    }
    EXPECT_EQ(NVML(nvmlDeviceGetHandleBySerial)("CUPRUM0007", &found), NVML_ERROR_NOT_FOUND);
    for (const char* const bus : {"0000:03:00.0", "0001:02:00.0", "0000:02:01.0", "0000:02:00.1"}) {
        EXPECT_EQ(NVML(nvmlDeviceGetHandleByPciBusId_v2)(bus, &found), NVML_ERROR_NOT_FOUND) << bus;
    }
    for (const char* const bus : {"", "two", "0000:02:00.0x", "0000-02-00.0", ":::"}) {
        EXPECT_EQ(NVML(nvmlDeviceGetHandleByPciBusId_v2)(bus, &found), NVML_ERROR_INVALID_ARGUMENT)
            << bus;
    }
    nvmlUUID_t versioned{};
    EXPECT_EQ(NVML(nvmlDeviceGetHandleByUUIDV)(&versioned, &found),
              NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    versioned.version = nvmlUUID_v1;
    versioned.type = NVML_UUID_TYPE_BINARY;
    EXPECT_EQ(NVML(nvmlDeviceGetHandleByUUIDV)(&versioned, &found), NVML_ERROR_NOT_FOUND);
    versioned.type = 7;
    EXPECT_EQ(NVML(nvmlDeviceGetHandleByUUIDV)(&versioned, &found), NVML_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(found, nullptr);
}

TEST_F(IdentityTest, texts_need_room_for_their_final_zero) {
    expect_exact_size(NVML(nvmlDeviceGetName), device());
    expect_exact_size(NVML(nvmlDeviceGetUUID), device());
    expect_exact_size(NVML(nvmlDeviceGetSerial), device());
    char text[80];
    EXPECT_EQ(NVML(nvmlSystemGetDriverVersion)(text, 3), NVML_ERROR_INSUFFICIENT_SIZE);
    EXPECT_EQ(NVML(nvmlSystemGetNVMLVersion)(text, 3), NVML_ERROR_INSUFFICIENT_SIZE);
    EXPECT_EQ(NVML(nvmlSystemGetNVMLVersion)(text, sizeof text), NVML_SUCCESS);
    EXPECT_TRUE(std::string(text).starts_with("13.")) << text;
}

TEST_F(IdentityTest, the_architecture_follows_the_compute_capability) {
    const std::map<std::string, unsigned int> architectures{
        {"7.0", NVML_DEVICE_ARCH_VOLTA},     {"7.5", NVML_DEVICE_ARCH_TURING},
        {"8.0", NVML_DEVICE_ARCH_AMPERE},    {"8.9", NVML_DEVICE_ARCH_ADA},
        {"9.0", NVML_DEVICE_ARCH_HOPPER},    {"10.0", NVML_DEVICE_ARCH_BLACKWELL},
        {"12.1", NVML_DEVICE_ARCH_BLACKWELL}};
    for (const auto& [capability, expected] : architectures) {
        set("CUPRUM_EMULATOR_COMPUTE_CAPABILITY", capability);
        ASSERT_EQ(restart(), NVML_SUCCESS);
        unsigned int architecture = 0;
        int major = 0;
        int minor = 0;
        ASSERT_EQ(NVML(nvmlDeviceGetArchitecture)(device(), &architecture), NVML_SUCCESS);
        EXPECT_EQ(architecture, expected) << capability;
        ASSERT_EQ(NVML(nvmlDeviceGetCudaComputeCapability)(device(), &major, &minor), NVML_SUCCESS);
        EXPECT_EQ(std::to_string(major) + "." + std::to_string(minor), capability);
    }
}

TEST_F(IdentityTest, older_structures_are_filled_only_as_far_as_they_go) {
    nvmlPciInfo_t pci;
    std::memset(&pci, 0x5a, sizeof pci);
    ASSERT_EQ(NVML(nvmlDeviceGetPciInfo)(device(1), &pci), NVML_SUCCESS);
    EXPECT_STREQ(pci.busIdLegacy, "0000:02:00.0");
    EXPECT_EQ(pci.bus, 2U);
    for (const char c : pci.busId) {
        EXPECT_EQ(c, 0x5a);
    }
    nvmlPciInfoExt_t extended{};
    EXPECT_EQ(NVML(nvmlDeviceGetPciInfoExt)(device(1), &extended),
              NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    extended.version = nvmlPciInfoExt_v1;
    ASSERT_EQ(NVML(nvmlDeviceGetPciInfoExt)(device(1), &extended), NVML_SUCCESS);
    EXPECT_STREQ(extended.busId, SECOND_BUS);
    EXPECT_EQ(extended.baseClass, 3U);
}

TEST_F(IdentityTest, device_identifiers_differ_and_stay) {
    nvmlPdi_t first{.version = nvmlPdi_v1, .value = 0};
    nvmlPdi_t second{.version = nvmlPdi_v1, .value = 0};
    ASSERT_EQ(NVML(nvmlDeviceGetPdi)(device(0), &first), NVML_SUCCESS);
    ASSERT_EQ(NVML(nvmlDeviceGetPdi)(device(1), &second), NVML_SUCCESS);
    EXPECT_NE(first.value, 0U);
    EXPECT_NE(first.value, second.value);
    const unsigned long long before = first.value;
    ASSERT_EQ(NVML(nvmlDeviceGetPdi)(device(0), &first), NVML_SUCCESS);
    EXPECT_EQ(first.value, before);
    EXPECT_EQ(NVML(nvmlDeviceGetPdi)(device(0), nullptr), NVML_ERROR_INVALID_ARGUMENT);
    first.version = 0;
    EXPECT_EQ(NVML(nvmlDeviceGetPdi)(device(0), &first), NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    EXPECT_EQ(first.value, before) << "a failed call must write nothing";
}

TEST_F(IdentityTest, devices_have_a_place_in_the_machine_but_in_no_rack) {
    unsigned int module = 99;
    ASSERT_EQ(NVML(nvmlDeviceGetModuleId)(device(1), &module), NVML_SUCCESS);
    EXPECT_EQ(module, 1U);
    EXPECT_EQ(NVML(nvmlDeviceGetModuleId)(device(1), nullptr), NVML_ERROR_INVALID_ARGUMENT);

    nvmlPlatformInfo_v2_t info{};
    std::memset(static_cast<void*>(&info), 0xff, sizeof info);
    info.version = nvmlPlatformInfo_v2;
    ASSERT_EQ(NVML(nvmlDeviceGetPlatformInfo)(device(1), &info), NVML_SUCCESS);
    EXPECT_EQ(info.version, nvmlPlatformInfo_v2);
    EXPECT_EQ(info.moduleId, 1);
    EXPECT_EQ(info.slotNumber, 0);
    EXPECT_EQ(info.ibGuid[0], 0);

    nvmlPlatformInfo_v1_t old{};
    std::memset(static_cast<void*>(&old), 0xff, sizeof old);
    old.version = nvmlPlatformInfo_v1;
    ASSERT_EQ(
        NVML(nvmlDeviceGetPlatformInfo)(device(1), reinterpret_cast<nvmlPlatformInfo_t*>(&old)),
        NVML_SUCCESS);
    EXPECT_EQ(old.version, nvmlPlatformInfo_v1);
    EXPECT_EQ(old.moduleId, 1);
    EXPECT_EQ(old.rackGuid[0], 0);

    info.version = nvmlPlatformInfo_v2 + 1;
    EXPECT_EQ(NVML(nvmlDeviceGetPlatformInfo)(device(1), &info),
              NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    EXPECT_EQ(NVML(nvmlDeviceGetPlatformInfo)(device(1), nullptr), NVML_ERROR_INVALID_ARGUMENT);
}

TEST_F(IdentityTest, devices_are_not_virtual) {
    auto mode = NVML_GPU_VIRTUALIZATION_MODE_VGPU;
    ASSERT_EQ(NVML(nvmlDeviceGetVirtualizationMode)(device(1), &mode), NVML_SUCCESS);
    EXPECT_EQ(mode, NVML_GPU_VIRTUALIZATION_MODE_NONE);
    EXPECT_EQ(NVML(nvmlDeviceGetVirtualizationMode)(device(1), nullptr),
              NVML_ERROR_INVALID_ARGUMENT);
}

TEST_F(IdentityTest, machines_have_no_units) {
    unsigned int count = 99;
    ASSERT_EQ(NVML(nvmlUnitGetCount)(&count), NVML_SUCCESS);
    EXPECT_EQ(count, 0U);
    EXPECT_EQ(NVML(nvmlUnitGetCount)(nullptr), NVML_ERROR_INVALID_ARGUMENT);
}

} // namespace cuprum::nvml::test
