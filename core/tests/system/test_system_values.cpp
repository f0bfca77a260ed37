// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What NVML's answers become, on a fake library.

#include "support/expect_error.hpp"
#include "support/fake_nvml.hpp"

#include <cuprum/cuprum.hpp>

#include <gtest/gtest.h>

#include <array>
#include <sstream>
#include <string>
#include <unordered_set>
#include <vector>

namespace cuprum::system {

namespace {

using namespace nvml_abi;
using testing::expect_error;
using testing::FakeNvml;

class SystemValues : public ::testing::Test {
protected:
    FakeNvml fake;
    Device device{0};
};

TEST_F(SystemValues, devices_are_found_by_index_uuid_address_and_serial) {
    const Device second(1);
    EXPECT_NE(device, second);
    EXPECT_EQ(second.index(), 1U);
    EXPECT_EQ(Device::from_uuid(second.uuid()), second);
    EXPECT_EQ(Device::from_uuid(second.uuid_without_prefix()), second);
    EXPECT_EQ(Device::from_pci_bus_id(second.pci_bus_id()), second);
    EXPECT_EQ(Device::all(), (std::vector{device, second}));
    EXPECT_EQ((std::unordered_set<Device>{device, second, device}.size()), 2U);
    EXPECT_EQ(Device::from_handle(second.handle()), second);
    EXPECT_EQ(Device::with_cpu_affinity(0), std::vector{second});
    EXPECT_TRUE(Device::with_cpu_affinity(1).empty());
    EXPECT_EQ(device.topology_nearest_gpus(GpuTopologyLevel::Single), std::vector{second});
}

TEST_F(SystemValues, mig_devices_are_found_by_the_uuid_that_cuda_writes) {
    fake.uuid_prefix = "MIG-";
    EXPECT_EQ(Device::from_uuid(device.uuid_without_prefix()), device);
    EXPECT_EQ(device.uuid().substr(0, 4), "MIG-");
}

TEST_F(SystemValues, a_wrong_choice_of_device_shows_what_there_is) {
    expect_error<std::invalid_argument>([] { (void)Device(-1); }, {"index is -1"});
    expect_error<NVMLError>([] { (void)Device(7); }, {"index is 7", "expected 0 to 1"});
    expect_error<NVMLError>([] { (void)Device::from_uuid("GPU-nothing"); },
                            {"uuid is \"GPU-nothing\"", "there are: GPU-00000000"});
    expect_error<NVMLError>([] { (void)Device::from_uuid("nothing"); }, {"NOT_FOUND", "nothing"});
    expect_error<NVMLError>([] { (void)Device::from_pci_bus_id("0000:99:00.0"); },
                            {"pci_bus_id is \"0000:99:00.0\"", "00000000:00:00.0"});
    expect_error<std::invalid_argument>([] { (void)Device::from_uuid(""); }, {"uuid is empty"});
    expect_error<std::invalid_argument>(
        [] { (void)Device::from_uuid(std::string_view("a\0b", 3)); }, {"NUL"});
    expect_error<NVMLError>([] { (void)Device::from_serial("99"); },
                            {"serial is \"99\"", "there are: 1234, 1234"});
}

TEST_F(SystemValues, a_serial_number_that_two_devices_share_is_ambiguous) {
    expect_error<std::invalid_argument>([] { (void)Device::from_serial("1234"); },
                                        {"several devices", "GPU-00000000", "UUID"});
}

TEST_F(SystemValues, boards_without_a_serial_number_are_skipped) {
    fake.fail("nvmlDeviceGetSerial", NVML_ERROR_NOT_SUPPORTED);
    expect_error<NVMLError>([] { (void)Device::from_serial("1234"); },
                            {"NOT_FOUND", "there are: none"});
}

TEST_F(SystemValues, versions_are_numbers) {
    EXPECT_EQ(kernel_mode_driver_version(), (std::vector{535, 104, 5}));
    EXPECT_EQ(nvml_version(), (std::vector{12, 535, 104, 5}));
    EXPECT_EQ(user_mode_driver_version(), (CudaVersion{12, 2}));
}

TEST_F(SystemValues, memory_is_in_bytes) {
    const MemoryInfo memory = device.memory_info();
    EXPECT_EQ(memory.total, 100U);
    EXPECT_EQ(memory.free + memory.used + memory.reserved, memory.total);
}

TEST_F(SystemValues, processes_of_any_number_are_listed) {
    for (unsigned pid = 1; pid <= 20; ++pid) {
        fake.processes.push_back({.pid = pid,
                                  .usedGpuMemory = pid == 3 ? ~0ULL : pid * 10ULL,
                                  .gpuInstanceId = pid == 4 ? 1U : ~0U,
                                  .computeInstanceId = ~0U});
    }
    const std::vector<ProcessInfo> processes = device.compute_running_processes();
    ASSERT_EQ(processes.size(), 20U);
    EXPECT_EQ(processes[0].used_gpu_memory, 10U);
    EXPECT_EQ(processes[2].used_gpu_memory, std::nullopt); // the driver does not tell
    EXPECT_EQ(processes[0].gpu_instance_id, std::nullopt);
    EXPECT_EQ(processes[3].gpu_instance_id, 1U);
    EXPECT_TRUE(device.graphics_running_processes().empty());
}

TEST_F(SystemValues, no_process_samples_are_an_empty_list) {
    fake.fail("nvmlDeviceGetProcessUtilization", NVML_ERROR_NOT_FOUND);
    EXPECT_TRUE(device.process_utilization().empty());
}

TEST_F(SystemValues, a_process_that_is_gone_is_named) {
    fake.fail("nvmlSystemGetProcessName", NVML_ERROR_NOT_FOUND);
    expect_error<NVMLError>([] { (void)process_name(4711); }, {"process 4711 is gone"});
}

TEST_F(SystemValues, reasons_for_low_clocks_have_words) {
    fake.clock_reasons = 1 | 64 | 1ULL << 40U;
    const std::vector<ClockEventReason> reasons = device.clock_event_reasons();
    ASSERT_EQ(reasons.size(), 3U);
    EXPECT_EQ(reasons[0], ClockEventReason::GpuIdle);
    EXPECT_EQ(to_string(reasons[1]), "hw_thermal_slowdown");
    EXPECT_NE(explain(reasons[1]).find("too hot"), std::string_view::npos);
    EXPECT_EQ(to_string(reasons[2]), "unknown");
    EXPECT_NE(explain(reasons[2]).find("does not know"), std::string_view::npos);
    fake.clock_reasons = 0;
    EXPECT_TRUE(device.clock_event_reasons().empty());
}

TEST_F(SystemValues, every_enumerator_has_a_name) {
    std::unordered_set<std::string_view> explanations;
    for (const auto& reason : detail::ENUM_NAMES<ClockEventReason>) {
        explanations.insert(explain(reason.value));
    }
    EXPECT_EQ(explanations.size(), detail::ENUM_NAMES<ClockEventReason>.size());
    EXPECT_EQ(to_string(GpuP2PCapsIndex::Pci), "pci"); // which has an older name as well
    std::ostringstream out;
    out << ClockType::SM << ' ' << GpuP2PStatus::GpuNotSupported;
    EXPECT_EQ(out.str(), "sm GPU not supported");
}

TEST_F(SystemValues, performance_states_are_numbers) {
    EXPECT_EQ(device.performance_state(), 0);
    fake.pstate = NVML_PSTATE_UNKNOWN;
    EXPECT_EQ(device.performance_state(), std::nullopt);
    EXPECT_EQ(device.supported_pstates(), (std::vector{0, 8}));
    const Clock clock = device.clock(ClockType::SM);
    expect_error<std::invalid_argument>([&] { (void)clock.offsets(16); },
                                        {"pstate is 16", "0 (the fastest) to 15"});
    expect_error<std::invalid_argument>([&] { (void)clock.limits_of_pstate_mhz(-1); },
                                        {"pstate is -1"});
}

TEST_F(SystemValues, fans_and_links_outside_the_range_are_refused) {
    EXPECT_EQ(device.fan(1).index(), 1U);
    expect_error<std::invalid_argument>([&] { (void)device.fan(2); },
                                        {"fan is 2", "expected 0 to 1"});
    fake.fans = 0;
    expect_error<std::invalid_argument>([&] { (void)device.fan(); }, {"the device has none"});
    EXPECT_EQ(device.nvlinks().size(), 3U);
    expect_error<std::invalid_argument>([&] { (void)device.nvlink(3); },
                                        {"link is 3", "expected 0 to 2"});
    EXPECT_EQ(device.nvlink(0).version(), (NvLinkVersion{4, 0}));
    fake.nvlink_version = 99;
    expect_error<std::runtime_error>([&] { (void)device.nvlink(0).version(); },
                                     {"version number 99", "update Cuprum"});
}

TEST_F(SystemValues, a_cooler_cools_several_things) {
    const CoolerInfo cooler = device.cooler();
    EXPECT_EQ(cooler.signal_type, CoolerControl::Variable);
    EXPECT_EQ(cooler.targets,
              (std::vector{CoolerTarget::Gpu, CoolerTarget::Memory, CoolerTarget::PowerSupply}));
}

TEST_F(SystemValues, affinity_is_a_list_of_cpus) {
    EXPECT_EQ(device.cpu_affinity(), (std::vector{0U, 3U}));
}

TEST_F(SystemValues, each_field_has_its_own_value_or_error) {
    const std::array<FieldQuery, 3> queries{FieldId::DevPowerInstant,
                                            FieldQuery(FieldId::DevNvlinkLinkCount, 4),
                                            FieldId::DevEccCurrent};
    const std::vector<FieldValue> fields = device.field_values(queries);
    ASSERT_EQ(fields.size(), 3U);
    EXPECT_EQ(std::get<std::uint64_t>(fields[0].value()), 3U);
    EXPECT_EQ(fields[0].timestamp_us(), 7);
    EXPECT_EQ(fields[1].scope_id(), 4U);
    EXPECT_EQ(std::get<std::uint64_t>(fields[1].value()), 7U);
    EXPECT_FALSE(fields[2].is_valid());
    expect_error<NVMLError>([&] { (void)fields[2].value(); }, {"field 1", "unknown"});
    const FieldQuery decimal = FieldId::DevEccPending;
    EXPECT_EQ(std::get<double>(device.field_values({&decimal, 1}).front().value()), 2.5);
    EXPECT_TRUE(device.field_values({}).empty());
    device.clear_field_values({});
    EXPECT_EQ(fake.calls["nvmlDeviceClearFieldValues"], 0);
}

TEST_F(SystemValues, mig_devices_that_do_not_exist_are_left_out) {
    EXPECT_EQ(device.mig().devices().size(), 3U);
    fake.missing_mig_devices = {1};
    EXPECT_EQ(device.mig().devices().size(), 2U);
    expect_error<NVMLError>([&] { (void)device.mig().device(1); }, {"NOT_FOUND"});
    fake.mig_activation = NVML_ERROR_IN_USE;
    expect_error<NVMLError>([&] { device.mig().set_enabled(true); }, {"IN_USE", "not active yet"});
}

TEST_F(SystemValues, events_are_delivered_and_their_set_is_freed) {
    const std::array types{EventType::XidCriticalError, EventType::PState};
    {
        DeviceEvents events = device.register_events(types);
        const DeviceEvents copy = events;
        EXPECT_EQ(fake.live_sets, 1);
        fake.events.push_back({.device = reinterpret_cast<nvmlDevice_t>(device.handle()),
                               .eventType = 8,
                               .eventData = 79,
                               .gpuInstanceId = ~0U,
                               .computeInstanceId = 2});
        fake.events.push_back({.device = reinterpret_cast<nvmlDevice_t>(device.handle()),
                               .eventType = 4,
                               .eventData = 0,
                               .gpuInstanceId = 0,
                               .computeInstanceId = 0});
        const EventData xid = events.wait();
        EXPECT_EQ(xid.device, device);
        EXPECT_EQ(xid.type, EventType::XidCriticalError);
        EXPECT_EQ(xid.xid, 79U);
        EXPECT_EQ(xid.gpu_instance_id, std::nullopt);
        EXPECT_EQ(xid.compute_instance_id, 2U);
        EXPECT_EQ(copy.wait().xid, std::nullopt);
        expect_error<NVMLError>([&] { (void)events.wait(std::chrono::milliseconds(1)); },
                                {"TIMEOUT (10)"});
        expect_error<std::invalid_argument>(
            [&] { (void)events.wait(std::chrono::milliseconds(-1)); }, {"timeout is -1"});
        events.close();
        expect_error<ClosedError>([&] { (void)events.wait(); }, {"DeviceEvents"});
        EXPECT_EQ(fake.live_sets, 1); // the copy has it
    }
    EXPECT_EQ(fake.live_sets, 0);
}

TEST_F(SystemValues, system_events_name_their_device) {
    const std::array types{SystemEventType::Unbind};
    SystemEvents events = register_events(types);
    expect_error<NVMLError>([&] { (void)events.wait(std::chrono::milliseconds(1)); }, {"TIMEOUT"});
    expect_error<std::invalid_argument>([&] { (void)events.wait(std::nullopt, 0); }, {"is 0"});
    fake.system_events = {{.eventType = 1, .gpuId = 0x0100}, {.eventType = 2, .gpuId = 0}};
    EXPECT_EQ(events.wait().size(), 1U);
    const std::vector<SystemEvent> both = events.wait(std::nullopt, 5);
    ASSERT_EQ(both.size(), 2U);
    EXPECT_EQ(both[0].type, SystemEventType::Unbind);
    EXPECT_EQ(both[0].device(), Device(1));
    events.close();
    EXPECT_EQ(fake.live_sets, 0);
    expect_error<ClosedError>([&] { (void)events.wait(); }, {"SystemEvents"});
}

TEST_F(SystemValues, a_sample_leaves_out_what_the_device_does_not_report) {
    fake.fail("nvmlDeviceGetPowerUsage", NVML_ERROR_NOT_SUPPORTED);
    const Sample sample = read_sample(device);
    EXPECT_EQ(sample.memory_used, 20U);
    EXPECT_EQ(sample.temperature, 41);
    EXPECT_EQ(sample.power_mw, std::nullopt);
    EXPECT_EQ(sample.energy_mj, 0U);
    fake.fail("nvmlDeviceGetUtilizationRates", NVML_ERROR_GPU_IS_LOST);
    expect_error<NVMLError>([&] { (void)read_sample(device); }, {"GPU_IS_LOST"});
}

TEST_F(SystemValues, samples_come_at_the_interval) {
    using namespace std::chrono_literals;
    const auto begin = std::chrono::steady_clock::now();
    int count = 0;
    for (const Sample& sample : SampleRange(device, {.interval = 10ms, .count = 4})) {
        EXPECT_EQ(sample.memory_total, 100U);
        ++count;
    }
    EXPECT_EQ(count, 4);
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 30ms);
    for (const Sample& sample : SampleRange(device, {.interval = 10ms, .count = 0})) {
        ADD_FAILURE() << sample.memory_total.value_or(0);
    }
    expect_error<std::invalid_argument>([&] { (void)SampleRange(device, {.interval = 0ns}); },
                                        {"interval is 0"});
}

} // namespace

} // namespace cuprum::system
