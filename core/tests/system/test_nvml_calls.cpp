// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// How NVML is initialised and how its failures arrive, on a fake library.

#include "libraries/nvml.hpp"
#include "support/expect_error.hpp"
#include "support/fake_nvml.hpp"

#include <cuprum/cuprum.hpp>

#include <gtest/gtest.h>

#include <unistd.h>

#include <array>
#include <functional>
#include <set>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <vector>

namespace cuprum::system {

namespace {

using namespace nvml_abi;
using testing::expect_error;
using testing::FakeNvml;

/// A function of NVML, and a call that uses it.
struct Use {
    const char* function;
    std::function<void(const Device&)> call;
};

const FieldQuery ONE_FIELD = FieldId::DevPowerInstant;

/// Every function in symbols.def has its line here.
const std::vector<Use>& uses() {
    using D = const Device&;
    static const std::vector<Use> all{
        {"nvmlInit_v2", [](D) { nvml::initialize(); }},
        {"nvmlSystemGetCudaDriverVersion_v2", [](D) { (void)user_mode_driver_version(); }},
        {"nvmlSystemGetDriverVersion", [](D) { (void)kernel_mode_driver_version(); }},
        {"nvmlSystemGetNVMLVersion", [](D) { (void)nvml_version(); }},
        {"nvmlSystemGetDriverBranch", [](D) { (void)driver_branch(); }},
        {"nvmlSystemGetProcessName", [](D) { (void)process_name(1); }},
        {"nvmlSystemGetTopologyGpuSet", [](D) { (void)Device::with_cpu_affinity(0); }},
        {"nvmlSystemEventSetCreate", [](D) { (void)register_events({}); }},
        {"nvmlSystemRegisterEvents", [](D) { (void)register_events({}); }},
        {"nvmlSystemEventSetWait",
         [](D) { (void)register_events({}).wait(std::chrono::milliseconds(0)); }},
        {"nvmlDeviceGetCount_v2", [](D) { (void)Device::count(); }},
        {"nvmlDeviceGetHandleByIndex_v2", [](D) { (void)Device(0); }},
        {"nvmlDeviceGetHandleByPciBusId_v2", [](D) { (void)Device::from_pci_bus_id("x"); }},
        {"nvmlDeviceGetHandleByUUID", [](D) { (void)Device::from_uuid("GPU-x"); }},
        {"nvmlDeviceGetIndex", [](D d) { (void)d.index(); }},
        {"nvmlDeviceGetUUID", [](D d) { (void)d.uuid(); }},
        {"nvmlDeviceGetSerial", [](D) { (void)Device::from_serial("1234"); }},
        {"nvmlDeviceGetPciInfoExt", [](D d) { (void)d.pci_info(); }},
        {"nvmlDeviceGetName", [](D d) { (void)d.name(); }},
        {"nvmlDeviceGetBrand", [](D d) { (void)d.brand(); }},
        {"nvmlDeviceGetArchitecture", [](D d) { (void)d.arch(); }},
        {"nvmlDeviceGetCudaComputeCapability", [](D d) { (void)d.compute_capability(); }},
        {"nvmlDeviceGetMinorNumber", [](D d) { (void)d.minor_number(); }},
        {"nvmlDeviceGetModuleId", [](D d) { (void)d.module_id(); }},
        {"nvmlDeviceGetNumaNodeId", [](D d) { (void)d.numa_node_id(); }},
        {"nvmlDeviceGetC2cModeInfoV", [](D d) { (void)d.is_c2c_enabled(); }},
        {"nvmlDeviceGetPersistenceMode", [](D d) { (void)d.is_persistence_mode_enabled(); }},
        {"nvmlDeviceSetPersistenceMode", [](D d) { d.set_persistence_mode_enabled(true); }},
        {"nvmlDeviceGetAddressingMode", [](D d) { (void)d.addressing_mode(); }},
        {"nvmlDeviceGetDisplayMode", [](D d) { (void)d.is_display_connected(); }},
        {"nvmlDeviceGetDisplayActive", [](D d) { (void)d.is_display_active(); }},
        {"nvmlDeviceGetAttributes_v2", [](D d) { (void)d.attributes(); }},
        {"nvmlDeviceGetVbiosVersion", [](D d) { (void)d.vbios_version(); }},
        {"nvmlDeviceGetRepairStatus", [](D d) { (void)d.repair_status(); }},
        {"nvmlDeviceGetMemoryAffinity", [](D d) { (void)d.memory_affinity(); }},
        {"nvmlDeviceGetCpuAffinityWithinScope", [](D d) { (void)d.cpu_affinity(); }},
        {"nvmlDeviceSetCpuAffinity", [](D d) { d.set_cpu_affinity(); }},
        {"nvmlDeviceClearCpuAffinity", [](D d) { d.clear_cpu_affinity(); }},
        {"nvmlDeviceGetTopologyNearestGpus",
         [](D d) { (void)d.topology_nearest_gpus(GpuTopologyLevel::Single); }},
        {"nvmlDeviceGetTopologyCommonAncestor", [](D d) { (void)topology_common_ancestor(d, d); }},
        {"nvmlDeviceGetP2PStatus", [](D d) { (void)p2p_status(d, d, GpuP2PCapsIndex::Read); }},
        {"nvmlDeviceGetClock", [](D d) { (void)d.clock(ClockType::SM).current_mhz(); }},
        {"nvmlDeviceGetMaxClockInfo", [](D d) { (void)d.clock(ClockType::SM).max_mhz(); }},
        {"nvmlDeviceGetMaxCustomerBoostClock",
         [](D d) { (void)d.clock(ClockType::SM).max_customer_boost_mhz(); }},
        {"nvmlDeviceGetMinMaxClockOfPState",
         [](D d) { (void)d.clock(ClockType::SM).limits_of_pstate_mhz(0); }},
        {"nvmlDeviceGetClockOffsets", [](D d) { (void)d.clock(ClockType::SM).offsets(0); }},
        {"nvmlDeviceGetAutoBoostedClocksEnabled", [](D d) { (void)d.auto_boosted_clocks(); }},
        {"nvmlDeviceGetCurrentClocksEventReasons", [](D d) { (void)d.clock_event_reasons(); }},
        {"nvmlDeviceGetSupportedClocksEventReasons",
         [](D d) { (void)d.supported_clock_event_reasons(); }},
        {"nvmlDeviceGetPerformanceState", [](D d) { (void)d.performance_state(); }},
        {"nvmlDeviceGetSupportedPerformanceStates", [](D d) { (void)d.supported_pstates(); }},
        {"nvmlDeviceGetDynamicPstatesInfo", [](D d) { (void)d.dynamic_pstates(); }},
        {"nvmlDeviceGetUtilizationRates", [](D d) { (void)d.utilization(); }},
        {"nvmlDeviceGetEncoderUtilization", [](D d) { (void)d.encoder_utilization(); }},
        {"nvmlDeviceGetDecoderUtilization", [](D d) { (void)d.decoder_utilization(); }},
        {"nvmlDeviceGetMemoryInfo_v2", [](D d) { (void)d.memory_info(); }},
        {"nvmlDeviceGetBAR1MemoryInfo", [](D d) { (void)d.bar1_memory_info(); }},
        {"nvmlDeviceGetComputeRunningProcesses_v3",
         [](D d) { (void)d.compute_running_processes(); }},
        {"nvmlDeviceGetGraphicsRunningProcesses_v3",
         [](D d) { (void)d.graphics_running_processes(); }},
        {"nvmlDeviceGetMPSComputeRunningProcesses_v3",
         [](D d) { (void)d.mps_compute_running_processes(); }},
        {"nvmlDeviceGetProcessUtilization", [](D d) { (void)d.process_utilization(); }},
        {"nvmlDeviceGetEccMode", [](D d) { (void)d.ecc().is_enabled(); }},
        {"nvmlDeviceSetEccMode", [](D d) { d.ecc().set_enabled(true); }},
        {"nvmlDeviceGetTotalEccErrors",
         [](D d) { (void)d.ecc().total_errors(MemoryErrorType::Corrected); }},
        {"nvmlDeviceClearEccErrorCounts", [](D d) { d.ecc().clear_errors(EccCounter::Volatile); }},
        {"nvmlDeviceGetRemappedRows", [](D d) { (void)d.ecc().remapped_rows(); }},
        {"nvmlDeviceGetPowerUsage", [](D d) { (void)d.power().usage_mw(); }},
        {"nvmlDeviceGetPowerManagementLimit", [](D d) { (void)d.power().limit_mw(); }},
        {"nvmlDeviceSetPowerManagementLimit", [](D d) { d.power().set_limit_mw(1); }},
        {"nvmlDeviceGetPowerManagementDefaultLimit",
         [](D d) { (void)d.power().default_limit_mw(); }},
        {"nvmlDeviceGetPowerManagementLimitConstraints",
         [](D d) { (void)d.power().limit_constraints_mw(); }},
        {"nvmlDeviceGetEnforcedPowerLimit", [](D d) { (void)d.power().enforced_limit_mw(); }},
        {"nvmlDeviceGetTotalEnergyConsumption", [](D d) { (void)d.power().total_energy_mj(); }},
        {"nvmlDeviceGetCoolerInfo", [](D d) { (void)d.cooler(); }},
        {"nvmlDeviceGetNumFans", [](D d) { (void)d.fan(); }},
        {"nvmlDeviceGetFanSpeed_v2", [](D d) { (void)d.fan().speed(); }},
        {"nvmlDeviceSetFanSpeed_v2", [](D d) { d.fan().set_speed(50); }},
        {"nvmlDeviceGetFanSpeedRPM", [](D d) { (void)d.fan().speed_rpm(); }},
        {"nvmlDeviceGetTargetFanSpeed", [](D d) { (void)d.fan().target_speed(); }},
        {"nvmlDeviceGetMinMaxFanSpeed", [](D d) { (void)d.fan().speed_limits(); }},
        {"nvmlDeviceGetFanControlPolicy_v2", [](D d) { (void)d.fan().control_policy(); }},
        {"nvmlDeviceSetDefaultFanSpeed_v2", [](D d) { d.fan().set_default_speed(); }},
        {"nvmlDeviceGetTemperatureV", [](D d) { (void)d.temperature().gpu(); }},
        {"nvmlDeviceGetTemperatureThreshold",
         [](D d) { (void)d.temperature().threshold(TemperatureThreshold::Shutdown); }},
        {"nvmlDeviceGetMarginTemperature", [](D d) { (void)d.temperature().margin(); }},
        {"nvmlDeviceGetThermalSettings",
         [](D d) { (void)d.temperature().sensors(ThermalTarget::All); }},
        {"nvmlDeviceGetMaxPcieLinkGeneration", [](D d) { (void)d.pci_info().link_generation(); }},
        {"nvmlDeviceGetGpuMaxPcieLinkGeneration",
         [](D d) { (void)d.pci_info().max_link_generation(); }},
        {"nvmlDeviceGetMaxPcieLinkWidth", [](D d) { (void)d.pci_info().max_link_width(); }},
        {"nvmlDeviceGetCurrPcieLinkGeneration",
         [](D d) { (void)d.pci_info().current_link_generation(); }},
        {"nvmlDeviceGetCurrPcieLinkWidth", [](D d) { (void)d.pci_info().current_link_width(); }},
        {"nvmlDeviceGetPcieThroughput", [](D d) { (void)d.pci_info().rx_throughput(); }},
        {"nvmlDeviceGetPcieReplayCounter", [](D d) { (void)d.pci_info().replay_counter(); }},
        {"nvmlDeviceGetNvLinkVersion", [](D d) { (void)d.nvlink(0).version(); }},
        {"nvmlDeviceGetNvLinkState", [](D d) { (void)d.nvlink(0).is_active(); }},
        {"nvmlDeviceGetFieldValues", [](D d) { (void)d.field_values({&ONE_FIELD, 1}); }},
        {"nvmlDeviceClearFieldValues", [](D d) { d.clear_field_values({&ONE_FIELD, 1}); }},
        {"nvmlDeviceGetInforomVersion", [](D d) { (void)d.inforom().version(InforomObject::Oem); }},
        {"nvmlDeviceGetInforomImageVersion", [](D d) { (void)d.inforom().image_version(); }},
        {"nvmlDeviceGetInforomConfigurationChecksum",
         [](D d) { (void)d.inforom().configuration_checksum(); }},
        {"nvmlDeviceValidateInforom", [](D d) { d.inforom().validate(); }},
        {"nvmlDeviceGetLastBBXFlushTime", [](D d) { (void)d.inforom().bbx_flush_time(); }},
        {"nvmlDeviceGetBoardPartNumber", [](D d) { (void)d.inforom().board_part_number(); }},
        {"nvmlDeviceIsMigDeviceHandle", [](D d) { (void)d.mig().is_mig_device(); }},
        {"nvmlDeviceGetMigMode", [](D d) { (void)d.mig().is_enabled(); }},
        {"nvmlDeviceSetMigMode", [](D d) { d.mig().set_enabled(true); }},
        {"nvmlDeviceGetMaxMigDeviceCount", [](D d) { (void)d.mig().devices(); }},
        {"nvmlDeviceGetMigDeviceHandleByIndex", [](D d) { (void)d.mig().devices(); }},
        {"nvmlDeviceGetDeviceHandleFromMigDeviceHandle", [](D d) { (void)d.mig().parent(); }},
        {"nvmlEventSetCreate", [](D d) { (void)d.register_events({}); }},
        {"nvmlDeviceRegisterEvents", [](D d) { (void)d.register_events({}); }},
        {"nvmlEventSetWait_v2",
         [](D d) { (void)d.register_events({}).wait(std::chrono::milliseconds(0)); }},
        {"nvmlDeviceGetSupportedEventTypes", [](D d) { (void)d.supported_event_types(); }},
    };
    return all;
}

/// Functions without a line above: their failures are handled, or come after a missing newer one.
const std::set<std::string> HANDLED{"nvmlDeviceGetPciInfo_v3",
                                    "nvmlDeviceGetTemperature",
                                    "nvmlDeviceGetCurrentClocksThrottleReasons",
                                    "nvmlDeviceGetSupportedClocksThrottleReasons",
                                    "nvmlEventSetFree",
                                    "nvmlSystemEventSetFree"};

TEST(NvmlCalls, every_function_is_tested) {
    std::set<std::string> tested = HANDLED;
    for (const Use& use : uses()) {
        EXPECT_NE(nvml::driver_with(use.function), 0) << use.function;
        tested.insert(use.function);
    }
#define CUPRUM_NVML_FUNCTION(name, driver) EXPECT_EQ(tested.count(#name), 1) << #name;
#include "libraries/nvml.def"
#undef CUPRUM_NVML_FUNCTION
}

TEST(NvmlCalls, every_failure_names_its_function_and_code_and_leaks_nothing) {
    FakeNvml fake;
    const Device device(0);
    for (const Use& use : uses()) {
        fake.fail(use.function, NVML_ERROR_GPU_IS_LOST);
        if (use.function == std::string_view("nvmlInit_v2")) {
            nvml::state = nvml::State::Uninitialized;
        }
        try {
            use.call(device);
            ADD_FAILURE() << use.function << ": nothing was thrown";
        } catch (const NVMLError& error) {
            EXPECT_EQ(error.domain(), ErrorDomain::NVML);
            EXPECT_EQ(error.code(), NVML_ERROR_GPU_IS_LOST);
            EXPECT_EQ(error.name(), "NVML_ERROR_GPU_IS_LOST");
            EXPECT_EQ(error.call(), use.function);
            EXPECT_NE(std::string(error.what()).find("fell off the bus"), std::string::npos);
        }
        EXPECT_EQ(fake.live_sets, 0) << use.function;
        fake.failures.clear();
    }
    EXPECT_EQ(device.name(), "Fake GPU"); // and all works afterwards
}

TEST(NvmlCalls, every_call_of_an_old_library_names_the_driver_that_has_it) {
    FakeNvml fake;
    const Device device(0);
    fake.remove("nvmlDeviceGetMarginTemperature");
    expect_error<NVMLError>([&] { (void)device.temperature().margin(); },
                            {"nvmlDeviceGetMarginTemperature", "FUNCTION_NOT_FOUND",
                             "driver 570 or newer", "535.104.05", "update"});
    fake.remove("nvmlDeviceGetRepairStatus");
    fake.remove("nvmlSystemGetDriverVersion");
    expect_error<NVMLError>([&] { (void)device.repair_status(); },
                            {"driver 580 or newer", "unknown version"});
}

TEST(NvmlCalls, older_functions_serve_where_newer_ones_are_missing) {
    FakeNvml fake;
    fake.clock_reasons = 4;
    const Device device(1);
    EXPECT_EQ(device.temperature().gpu(), 41);
    fake.remove("nvmlDeviceGetTemperatureV");
    EXPECT_EQ(device.temperature().gpu(), 42);
    EXPECT_EQ(device.pci_info().base_class(), 3U);
    fake.remove("nvmlDeviceGetPciInfoExt");
    EXPECT_EQ(device.pci_info().bus_id(), "00000000:01:00.0");
    EXPECT_EQ(device.pci_info().base_class(), 0U);
    fake.remove("nvmlDeviceGetCurrentClocksEventReasons");
    EXPECT_EQ(device.clock_event_reasons(), std::vector{ClockEventReason::SwPowerCap});
    EXPECT_EQ(fake.calls["nvmlDeviceGetCurrentClocksThrottleReasons"], 1);
}

TEST(NvmlCalls, the_first_query_initialises_nvml_and_the_next_do_not) {
    FakeNvml fake;
    EXPECT_EQ(library_state(), LibraryState::Uninitialized);
    EXPECT_EQ(Device::count(), FakeNvml::DEVICE_COUNT);
    EXPECT_EQ(library_state(), LibraryState::Initialized);
    (void)Device(0).name();
    initialize();
    EXPECT_EQ(fake.calls["nvmlInit_v2"], 1);
}

TEST(NvmlCalls, a_failed_initialisation_is_tried_again) {
    FakeNvml fake;
    fake.fail("nvmlInit_v2", NVML_ERROR_DRIVER_NOT_LOADED);
    expect_error<NVMLError>([] { (void)Device::count(); },
                            {"nvmlInit_v2", "DRIVER_NOT_LOADED", "CUPRUM_DRIVER=emulated"});
    EXPECT_EQ(library_state(), LibraryState::Uninitialized);
    fake.failures.clear();
    EXPECT_EQ(Device::count(), FakeNvml::DEVICE_COUNT);
}

TEST(NvmlCalls, nvml_is_initialised_again_after_another_library_shut_it_down) {
    FakeNvml fake;
    EXPECT_EQ(Device::count(), FakeNvml::DEVICE_COUNT);
    fake.is_initialized = false;
    EXPECT_EQ(Device::count(), FakeNvml::DEVICE_COUNT);
    EXPECT_EQ(fake.calls["nvmlInit_v2"], 2);
}

TEST(NvmlCalls, many_threads_initialise_nvml_once) {
    FakeNvml fake;
    std::atomic<int> failures{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&failures] {
            for (int n = 0; n < 100; ++n) {
                failures += Device::count() == FakeNvml::DEVICE_COUNT ? 0 : 1;
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(failures, 0);
    EXPECT_EQ(fake.calls["nvmlInit_v2"], 1);
}

TEST(NvmlCalls, a_child_process_initialises_nvml_itself) {
    FakeNvml fake;
    const Device device(0);
    EXPECT_EQ(fake.calls["nvmlInit_v2"], 1);
    const pid_t child = ::fork();
    if (child == 0) {
        const bool was_reset = library_state() == LibraryState::Uninitialized;
        const bool works = device.name() == "Fake GPU" && fake.calls["nvmlInit_v2"] == 2;
        ::_exit(was_reset && works ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(library_state(), LibraryState::Initialized); // the parent's is unchanged
}

TEST(NvmlCalls, permission_and_support_have_their_own_advice) {
    FakeNvml fake;
    const Device device(0);
    fake.fail("nvmlDeviceSetPersistenceMode", NVML_ERROR_NO_PERMISSION);
    expect_error<NVMLError>([&] { device.set_persistence_mode_enabled(true); },
                            {"NO_PERMISSION (4)", "root"});
    fake.fail("nvmlDeviceGetFanSpeed_v2", NVML_ERROR_NOT_SUPPORTED);
    expect_error<NVMLError>([&] { (void)device.fan().speed(); },
                            {"NOT_SUPPORTED (3)", "treat the value as unknown"});
    fake.fail("nvmlDeviceRegisterEvents", NVML_ERROR_NOT_SUPPORTED);
    const std::array types{EventType::PState};
    expect_error<NVMLError>([&] { (void)device.register_events(types); },
                            {"supported_event_types()"});
    fake.fail("nvmlDeviceGetName", static_cast<nvmlReturn_t>(77));
    expect_error<NVMLError>([&] { (void)device.name(); }, {"NVML error 77 (77)"});
}

} // namespace

} // namespace cuprum::system
