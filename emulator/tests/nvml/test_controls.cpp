// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Values that users set: through environment variables, and through NVML's own setters.

#include "nvml_test.hpp"

#include <sys/resource.h>

namespace cuprum::nvml::test {

namespace {

unsigned int temperature(nvmlDevice_t device) {
    unsigned int value = 0;
    EXPECT_EQ(NVML(nvmlDeviceGetTemperature)(device, NVML_TEMPERATURE_GPU, &value), NVML_SUCCESS);
    return value;
}

unsigned int fan_speed(nvmlDevice_t device, unsigned int fan = 0) {
    unsigned int value = 0;
    EXPECT_EQ(NVML(nvmlDeviceGetFanSpeed_v2)(device, fan, &value), NVML_SUCCESS);
    return value;
}

unsigned int clock(nvmlDevice_t device, nvmlClockType_t type) {
    unsigned int value = 0;
    EXPECT_EQ(NVML(nvmlDeviceGetClockInfo)(device, type, &value), NVML_SUCCESS);
    return value;
}

unsigned int power_limit(nvmlDevice_t device) {
    unsigned int value = 0;
    EXPECT_EQ(NVML(nvmlDeviceGetPowerManagementLimit)(device, &value), NVML_SUCCESS);
    return value;
}

} // namespace

using ControlsTest = NVMLTest;

TEST_F(ControlsTest, a_disk_that_was_full_does_not_spoil_the_board) {
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto old_handler = ::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{.rlim_cur = 4096, .rlim_max = before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const nvmlReturn_t failed = NVML(nvmlDeviceSetPersistenceMode)(device(), NVML_FEATURE_ENABLED);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    ::signal(SIGXFSZ, old_handler);
    EXPECT_EQ(failed, NVML_ERROR_OPERATING_SYSTEM);
    EXPECT_EQ(NVML(nvmlDeviceSetPersistenceMode)(device(), NVML_FEATURE_ENABLED), NVML_SUCCESS);
}

TEST_F(ControlsTest, variables_set_what_cannot_be_measured) {
    set("CUPRUM_EMULATOR_TEMPERATURE", "85");
    set("CUPRUM_EMULATOR_POWER", "123");
    set("CUPRUM_EMULATOR_POWER_LIMIT", "400");
    set("CUPRUM_EMULATOR_SM_CLOCK", "1980");
    set("CUPRUM_EMULATOR_MEMORY_CLOCK", "3201");
    set("CUPRUM_EMULATOR_FANS", "3");
    set("CUPRUM_EMULATOR_FAN_SPEED", "77");
    set("CUPRUM_EMULATOR_PERFORMANCE_STATE", "2");
    set("CUPRUM_EMULATOR_CLOCK_EVENTS", "sw_power_cap,hw_thermal_slowdown");
    ASSERT_EQ(restart(), NVML_SUCCESS);
    const nvmlDevice_t handle = device();
    EXPECT_EQ(temperature(handle), 85U);
    nvmlTemperature_t versioned{};
    versioned.version = nvmlTemperature_v1;
    ASSERT_EQ(NVML(nvmlDeviceGetTemperatureV)(handle, &versioned), NVML_SUCCESS);
    EXPECT_EQ(versioned.temperature, 85);
    unsigned int power = 0;
    ASSERT_EQ(NVML(nvmlDeviceGetPowerUsage)(handle, &power), NVML_SUCCESS);
    EXPECT_EQ(power, 123000U);
    EXPECT_EQ(power_limit(handle), 400000U);
    EXPECT_EQ(clock(handle, NVML_CLOCK_SM), 1980U);
    EXPECT_EQ(clock(handle, NVML_CLOCK_MEM), 3201U);
    unsigned int fans = 0;
    ASSERT_EQ(NVML(nvmlDeviceGetNumFans)(handle, &fans), NVML_SUCCESS);
    EXPECT_EQ(fans, 3U);
    EXPECT_EQ(fan_speed(handle, 2), 77U);
    unsigned int speed = 0;
    EXPECT_EQ(NVML(nvmlDeviceGetFanSpeed_v2)(handle, 3, &speed), NVML_ERROR_INVALID_ARGUMENT);
    nvmlPstates_t state{};
    ASSERT_EQ(NVML(nvmlDeviceGetPerformanceState)(handle, &state), NVML_SUCCESS);
    EXPECT_EQ(state, NVML_PSTATE_2);
    unsigned long long reasons = 0;
    ASSERT_EQ(NVML(nvmlDeviceGetCurrentClocksEventReasons)(handle, &reasons), NVML_SUCCESS);
    EXPECT_EQ(reasons, nvmlClocksEventReasonGpuIdle | nvmlClocksEventReasonSwPowerCap |
                           nvmlClocksThrottleReasonHwThermalSlowdown);
}

TEST_F(ControlsTest, a_list_has_one_value_per_device_and_the_last_one_is_for_the_rest) {
    set("CUPRUM_EMULATOR_DEVICES", "3");
    set("CUPRUM_EMULATOR_TEMPERATURE", "30,60");
    set("CUPRUM_EMULATOR_ECC_ERRORS", "1:0,7:2");
    ASSERT_EQ(restart(), NVML_SUCCESS);
    const unsigned int temperatures[] = {30, 60, 60};
    const unsigned long long uncorrected[] = {0, 2, 2};
    for (unsigned int index = 0; index < 3; ++index) {
        EXPECT_EQ(temperature(device(index)), temperatures[index]);
        unsigned long long count = 99;
        ASSERT_EQ(NVML(nvmlDeviceGetTotalEccErrors)(
                      device(index), NVML_MEMORY_ERROR_TYPE_UNCORRECTED, NVML_VOLATILE_ECC, &count),
                  NVML_SUCCESS);
        EXPECT_EQ(count, uncorrected[index]);
    }
}

TEST_F(ControlsTest, ecc_is_not_supported_unless_it_is_set) {
    nvmlEnableState_t current{};
    nvmlEnableState_t pending{};
    unsigned long long count = 0;
    EXPECT_EQ(NVML(nvmlDeviceGetEccMode)(device(), &current, &pending), NVML_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(NVML(nvmlDeviceGetTotalEccErrors)(device(), NVML_MEMORY_ERROR_TYPE_CORRECTED,
                                                NVML_AGGREGATE_ECC, &count),
              NVML_ERROR_NOT_SUPPORTED);
    set("CUPRUM_EMULATOR_ECC_ERRORS", "5:0");
    ASSERT_EQ(restart(), NVML_SUCCESS);
    ASSERT_EQ(NVML(nvmlDeviceGetEccMode)(device(), &current, &pending), NVML_SUCCESS);
    EXPECT_EQ(current, NVML_FEATURE_ENABLED);
    ASSERT_EQ(NVML(nvmlDeviceGetMemoryErrorCounter)(device(), NVML_MEMORY_ERROR_TYPE_CORRECTED,
                                                    NVML_VOLATILE_ECC,
                                                    NVML_MEMORY_LOCATION_DEVICE_MEMORY, &count),
              NVML_SUCCESS);
    EXPECT_EQ(count, 5U);
    EXPECT_EQ(NVML(nvmlDeviceGetTotalEccErrors)(device(), NVML_MEMORY_ERROR_TYPE_COUNT,
                                                NVML_VOLATILE_ECC, &count),
              NVML_ERROR_INVALID_ARGUMENT);
}

TEST_F(ControlsTest, what_a_setter_sets_lasts_and_concerns_one_device) {
    ASSERT_EQ(NVML(nvmlDeviceSetPersistenceMode)(device(0), NVML_FEATURE_ENABLED), NVML_SUCCESS);
    ASSERT_EQ(NVML(nvmlDeviceSetPowerManagementLimit)(device(0), 200000), NVML_SUCCESS);
    ASSERT_EQ(NVML(nvmlDeviceSetFanSpeed_v2)(device(0), 0, 0), NVML_SUCCESS);
    ASSERT_EQ(NVML(nvmlDeviceSetGpuLockedClocks)(device(0), 300, 600), NVML_SUCCESS);
    ASSERT_EQ(restart(), NVML_SUCCESS);
    const auto persistence = [](nvmlDevice_t handle) {
        nvmlEnableState_t mode{};
        EXPECT_EQ(NVML(nvmlDeviceGetPersistenceMode)(handle, &mode), NVML_SUCCESS);
        return mode;
    };
    const auto policy = [](nvmlDevice_t handle) {
        nvmlFanControlPolicy_t value = 99;
        EXPECT_EQ(NVML(nvmlDeviceGetFanControlPolicy_v2)(handle, 0, &value), NVML_SUCCESS);
        return value;
    };
    EXPECT_EQ(persistence(device(0)), NVML_FEATURE_ENABLED);
    EXPECT_EQ(persistence(device(1)), NVML_FEATURE_DISABLED);
    EXPECT_EQ(power_limit(device(0)), 200000U);
    EXPECT_EQ(power_limit(device(1)), 300000U);
    EXPECT_EQ(fan_speed(device(0)), 0U);
    EXPECT_EQ(policy(device(0)), NVML_FAN_POLICY_MANUAL);
    EXPECT_EQ(policy(device(1)), NVML_FAN_POLICY_TEMPERATURE_CONTINOUS_SW);
    EXPECT_EQ(clock(device(0), NVML_CLOCK_GRAPHICS), 600U);
    EXPECT_EQ(clock(device(0), NVML_CLOCK_MEM), 1000U);
    EXPECT_EQ(clock(device(1), NVML_CLOCK_GRAPHICS), 1000U);

    ASSERT_EQ(NVML(nvmlDeviceSetDefaultFanSpeed_v2)(device(0), 0), NVML_SUCCESS);
    EXPECT_EQ(fan_speed(device(0)), 30U);
    ASSERT_EQ(NVML(nvmlDeviceResetGpuLockedClocks)(device(0)), NVML_SUCCESS);
    EXPECT_EQ(clock(device(0), NVML_CLOCK_GRAPHICS), 1000U);
    ASSERT_EQ(NVML(nvmlDeviceSetPersistenceMode)(device(0), NVML_FEATURE_DISABLED), NVML_SUCCESS);
    EXPECT_EQ(persistence(device(0)), NVML_FEATURE_DISABLED);
}

TEST_F(ControlsTest, setters_refuse_what_the_device_cannot_do) {
    unsigned int least = 0;
    unsigned int most = 0;
    ASSERT_EQ(NVML(nvmlDeviceGetPowerManagementLimitConstraints)(device(), &least, &most),
              NVML_SUCCESS);
    EXPECT_LT(least, most);
    for (const unsigned int limit : {0U, least - 1, most + 1}) {
        EXPECT_EQ(NVML(nvmlDeviceSetPowerManagementLimit)(device(), limit),
                  NVML_ERROR_INVALID_ARGUMENT);
    }
    EXPECT_EQ(power_limit(device()), most);
    EXPECT_EQ(NVML(nvmlDeviceSetFanSpeed_v2)(device(), 0, 101), NVML_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(NVML(nvmlDeviceSetFanSpeed_v2)(device(), 1, 50), NVML_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(NVML(nvmlDeviceSetGpuLockedClocks)(device(), 600, 300), NVML_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(NVML(nvmlDeviceSetPersistenceMode)(device(), static_cast<nvmlEnableState_t>(2)),
              NVML_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(NVML(nvmlDeviceSetComputeMode)(device(), NVML_COMPUTEMODE_DEFAULT), NVML_SUCCESS);
    EXPECT_EQ(NVML(nvmlDeviceSetComputeMode)(device(), NVML_COMPUTEMODE_PROHIBITED),
              NVML_ERROR_NOT_SUPPORTED);
    nvmlPowerValue_v2_t value{};
    EXPECT_EQ(NVML(nvmlDeviceSetPowerManagementLimit_v2)(device(), &value),
              NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    value.version = nvmlPowerValue_v2;
    value.powerScope = NVML_POWER_SCOPE_MODULE;
    EXPECT_EQ(NVML(nvmlDeviceSetPowerManagementLimit_v2)(device(), &value),
              NVML_ERROR_NOT_SUPPORTED);
}

TEST_F(ControlsTest, nothing_needs_a_licence) {
    nvmlGridLicensableFeatures_t features{};
    features.isGridLicenseSupported = 1;
    features.licensableFeaturesCount = 3;
    EXPECT_EQ(NVML(nvmlDeviceGetGridLicensableFeatures_v4)(device(), &features), NVML_SUCCESS);
    EXPECT_EQ(features.isGridLicenseSupported, 0);
    EXPECT_EQ(features.licensableFeaturesCount, 0U);
}

TEST_F(ControlsTest, a_device_without_fans_has_no_fan_functions) {
    set("CUPRUM_EMULATOR_FANS", "0");
    ASSERT_EQ(restart(), NVML_SUCCESS);
    unsigned int value = 99;
    EXPECT_EQ(NVML(nvmlDeviceGetFanSpeed)(device(), &value), NVML_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(NVML(nvmlDeviceSetFanSpeed_v2)(device(), 0, 50), NVML_ERROR_NOT_SUPPORTED);
    ASSERT_EQ(NVML(nvmlDeviceGetNumFans)(device(), &value), NVML_SUCCESS);
    EXPECT_EQ(value, 0U);
}

TEST_F(ControlsTest, energy_grows_with_power) {
    set("CUPRUM_EMULATOR_POWER", "100");
    ASSERT_EQ(restart(), NVML_SUCCESS);
    const auto energy = [] {
        unsigned long long value = 0;
        EXPECT_EQ(NVML(nvmlDeviceGetTotalEnergyConsumption)(device(), &value), NVML_SUCCESS);
        return value;
    };
    const unsigned long long before = energy();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const unsigned long long after = energy();
    EXPECT_GE(after - before, 5000U); // 100 W for 50 ms, in mJ
    EXPECT_LT(after - before, 500000U);
}

TEST_F(ControlsTest, temperatures_have_thresholds) {
    unsigned int slowdown = 0;
    unsigned int shutdown = 0;
    ASSERT_EQ(NVML(nvmlDeviceGetTemperatureThreshold)(device(), NVML_TEMPERATURE_THRESHOLD_SLOWDOWN,
                                                      &slowdown),
              NVML_SUCCESS);
    ASSERT_EQ(NVML(nvmlDeviceGetTemperatureThreshold)(device(), NVML_TEMPERATURE_THRESHOLD_SHUTDOWN,
                                                      &shutdown),
              NVML_SUCCESS);
    EXPECT_LT(slowdown, shutdown);
    EXPECT_EQ(NVML(nvmlDeviceGetTemperatureThreshold)(
                  device(), NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_MIN, &slowdown),
              NVML_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(NVML(nvmlDeviceGetTemperatureThreshold)(device(), NVML_TEMPERATURE_THRESHOLD_COUNT,
                                                      &slowdown),
              NVML_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(NVML(nvmlDeviceGetTemperature)(device(), NVML_TEMPERATURE_COUNT, &slowdown),
              NVML_ERROR_INVALID_ARGUMENT);
}

TEST_F(ControlsTest, field_values_agree_with_the_functions_and_fail_one_by_one) {
    set("CUPRUM_EMULATOR_POWER", "77");
    ASSERT_EQ(restart(), NVML_SUCCESS);
    nvmlFieldValue_t fields[4]{};
    fields[0].fieldId = NVML_FI_DEV_POWER_INSTANT;
    fields[1].fieldId = NVML_FI_DEV_NVLINK_LINK_COUNT;
    fields[2].fieldId = NVML_FI_DEV_ECC_CURRENT;
    fields[3].fieldId = 100000;
    ASSERT_EQ(NVML(nvmlDeviceGetFieldValues)(device(), 4, fields), NVML_SUCCESS);
    EXPECT_EQ(fields[0].nvmlReturn, NVML_SUCCESS);
    EXPECT_EQ(fields[0].valueType, NVML_VALUE_TYPE_UNSIGNED_INT);
    EXPECT_EQ(fields[0].value.uiVal, 77000U);
    EXPECT_GT(fields[0].timestamp, 0);
    EXPECT_EQ(fields[1].value.uiVal, 0U);
    EXPECT_EQ(fields[2].nvmlReturn, NVML_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(fields[3].nvmlReturn, NVML_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(NVML(nvmlDeviceGetFieldValues)(device(), -1, fields), NVML_ERROR_INVALID_ARGUMENT);
}

TEST_F(ControlsTest, clocks_of_wrong_kinds_are_refused) {
    unsigned int value = 0;
    EXPECT_EQ(NVML(nvmlDeviceGetClockInfo)(device(), NVML_CLOCK_COUNT, &value),
              NVML_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(NVML(nvmlDeviceGetClock)(device(), NVML_CLOCK_SM, NVML_CLOCK_ID_CURRENT, &value),
              NVML_SUCCESS);
    EXPECT_EQ(value, 1000U);
    EXPECT_EQ(
        NVML(nvmlDeviceGetClock)(device(), NVML_CLOCK_SM, NVML_CLOCK_ID_CUSTOMER_BOOST_MAX, &value),
        NVML_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(NVML(nvmlDeviceGetClock)(device(), NVML_CLOCK_SM, NVML_CLOCK_ID_COUNT, &value),
              NVML_ERROR_INVALID_ARGUMENT);
    nvmlPstates_t states[3]{};
    ASSERT_EQ(NVML(nvmlDeviceGetSupportedPerformanceStates)(device(), states, sizeof states),
              NVML_SUCCESS);
    EXPECT_EQ(states[0], NVML_PSTATE_0);
    EXPECT_EQ(states[1], NVML_PSTATE_UNKNOWN);
    EXPECT_EQ(NVML(nvmlDeviceGetSupportedPerformanceStates)(device(), states, 3),
              NVML_ERROR_INSUFFICIENT_SIZE);
}

} // namespace cuprum::nvml::test
