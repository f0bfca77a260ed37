// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "api/driver.hpp"

#include <set>
#include <string>
#include <vector>

using namespace cuprum::emulator::test;

class Devices : public DriverTest {};

TEST_F(Devices, one_device_is_there_and_says_that_it_is_emulated) {
    int count = 0;
    ASSERT_TRUE(succeeds(CU(cuDeviceGetCount)(&count)));
    EXPECT_EQ(count, 1);
    char name[64] = "";
    ASSERT_TRUE(succeeds(CU(cuDeviceGetName)(name, sizeof name, 0)));
    EXPECT_EQ(std::string(name), "Cuprum Emulated Device");
    EXPECT_FALSE(std::string(CU(cuprumEmulatorVersion)()).empty());
}

TEST_F(Devices, a_name_is_cut_to_the_buffer) {
    char name[7] = "";
    ASSERT_TRUE(succeeds(CU(cuDeviceGetName)(name, sizeof name, 0)));
    EXPECT_EQ(std::string(name), "Cuprum");
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuDeviceGetName)(name, 0, 0)));
}

TEST_F(Devices, an_ordinal_that_does_not_exist_is_an_invalid_device) {
    CUdevice device = 0;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_DEVICE, CU(cuDeviceGet)(&device, 1)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_DEVICE, CU(cuDeviceGet)(&device, -1)));
    std::size_t bytes = 0;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_DEVICE, CU(cuDeviceTotalMem)(&bytes, 7)));
}

TEST_F(Devices, every_attribute_has_a_value_and_others_are_refused) {
    constexpr int last = 161; // of CUDA 13.4, whose driver this is
    for (int attribute = 1; attribute <= last; ++attribute) {
        int value = 0;
        EXPECT_TRUE(succeeds(
            CU(cuDeviceGetAttribute)(&value, static_cast<CUdevice_attribute>(attribute), 0)))
            << "attribute " << attribute;
    }
    int value = 0;
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE,
                CU(cuDeviceGetAttribute)(&value, static_cast<CUdevice_attribute>(last + 1), 0)));
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE,
                CU(cuDeviceGetAttribute)(&value, static_cast<CUdevice_attribute>(100000), 0)));
    ASSERT_TRUE(succeeds(CU(cuDeviceGetAttribute)(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0)));
    EXPECT_EQ(value, 32);
}

TEST_F(Devices, the_bus_id_leads_back_to_the_device) {
    char text[32] = "";
    ASSERT_TRUE(succeeds(CU(cuDeviceGetPCIBusId)(text, sizeof text, 0)));
    CUdevice device = -1;
    ASSERT_TRUE(succeeds(CU(cuDeviceGetByPCIBusId)(&device, text)));
    EXPECT_EQ(device, 0);
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_DEVICE, CU(cuDeviceGetByPCIBusId)(&device, "0000:77:00.0")));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuDeviceGetByPCIBusId)(&device, "nonsense")));
}

TEST_F(Devices, the_driver_says_which_cuda_it_implements) {
    int version = 0;
    ASSERT_TRUE(succeeds(CU(cuDriverGetVersion)(&version)));
    EXPECT_EQ(version, 13040) << "the newest CUDA whose compilers are tested";
}

TEST_F(Devices, every_code_has_a_name_and_a_sentence) {
    for (const CUresult code :
         {CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_KEY_ROTATION, CUDA_ERROR_UNKNOWN}) {
        const char* text = nullptr;
        EXPECT_TRUE(succeeds(CU(cuGetErrorString)(code, &text)));
        EXPECT_NE(text, nullptr);
    }
    const char* name = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGetErrorName)(CUDA_ERROR_NOT_FOUND, &name)));
    EXPECT_STREQ(name, "CUDA_ERROR_NOT_FOUND");
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, CU(cuGetErrorName)(static_cast<CUresult>(12345), &name)));
    EXPECT_EQ(name, nullptr);
}

TEST_F(Devices, what_can_be_done_atomically_is_told) {
    const CUatomicOperation operations[] = {CU_ATOMIC_OPERATION_INTEGER_ADD,
                                            CU_ATOMIC_OPERATION_CAS, CU_ATOMIC_OPERATION_FLOAT_MIN};
    unsigned capabilities[3] = {};
    ASSERT_TRUE(succeeds(CU(cuDeviceGetHostAtomicCapabilities)(capabilities, operations, 3, 0)));
    EXPECT_NE(capabilities[0] & CU_ATOMIC_CAPABILITY_REDUCTION, 0U);
    EXPECT_NE(capabilities[1] & CU_ATOMIC_CAPABILITY_SCALAR_64, 0U);
    EXPECT_EQ(capabilities[2], 0U);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_DEVICE,
                        CU(cuDeviceGetHostAtomicCapabilities)(capabilities, operations, 3, 9)));
}

TEST_F(Devices, notifications_are_registered_once_and_never_come) {
    const auto callback = [](CUasyncNotificationInfo*, void* calls, CUasyncCallbackHandle) {
        ++*static_cast<int*>(calls);
    };
    int calls = 0;
    CUasyncCallbackHandle first = nullptr;
    CUasyncCallbackHandle second = nullptr;
    ASSERT_TRUE(succeeds(CU(cuDeviceRegisterAsyncNotification)(0, callback, &calls, &first)));
    ASSERT_TRUE(succeeds(CU(cuDeviceRegisterAsyncNotification)(0, callback, &calls, &second)));
    EXPECT_NE(first, second);
    EXPECT_TRUE(succeeds(CU(cuDeviceUnregisterAsyncNotification)(0, first)));
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, CU(cuDeviceUnregisterAsyncNotification)(0, first)));
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_DEVICE, CU(cuDeviceUnregisterAsyncNotification)(9, second)));
    EXPECT_TRUE(succeeds(CU(cuDeviceUnregisterAsyncNotification)(0, second)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuDeviceRegisterAsyncNotification)(0, nullptr, &calls, &first)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuDeviceRegisterAsyncNotification)(0, callback, &calls, nullptr)));
    EXPECT_EQ(calls, 0);
}
