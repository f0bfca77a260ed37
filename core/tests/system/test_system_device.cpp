// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// NVML's view of the devices that the tests run on, emulated or not.

#include "libraries/nvml.hpp"
#include "support/device_test.hpp"
#include "support/expect_error.hpp"

#include <cuprum/cuprum.hpp>

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <regex>
#include <string>
#include <vector>

namespace cuprum::system {

namespace {

using testing::expect_error;

class SystemDevice : public cuprum::testing::DeviceTest {
protected:
    [[nodiscard]] Device mine() const { return device().to_system_device(); }
};

/// Returns what a query answers, or nothing if the device does not support it.
template <typename Query>
auto if_supported(const Query& query) -> std::optional<decltype(query())> {
    try {
        return query();
    } catch (const NVMLError& error) {
        EXPECT_TRUE(error.code() == nvml_abi::NVML_ERROR_NOT_SUPPORTED ||
                    error.code() == nvml_abi::NVML_ERROR_FUNCTION_NOT_FOUND ||
                    error.code() == nvml_abi::NVML_ERROR_NOT_READY ||
                    error.code() == nvml_abi::NVML_ERROR_NO_PERMISSION)
            << error.what();
        return std::nullopt;
    }
}

TEST_F(SystemDevice, is_the_same_device_as_the_drivers) {
    const Device system = mine();
    EXPECT_EQ(system.uuid_without_prefix(), device().uuid());
    EXPECT_EQ(system.uuid(), "GPU-" + device().uuid());
    EXPECT_EQ(system.to_cuda_device(), device());
    EXPECT_EQ(system.name(), device().name());
    EXPECT_EQ(system.compute_capability(), device().compute_capability());
    EXPECT_EQ(system.pci_bus_id().substr(4), device().pci_bus_id());
}

TEST_F(SystemDevice, is_found_in_every_way) {
    const Device system = mine();
    EXPECT_EQ(Device::from_uuid(system.uuid()), system);
    EXPECT_EQ(Device::from_pci_bus_id(system.pci_bus_id()), system);
    EXPECT_EQ(Device(static_cast<int>(system.index())), system);
    EXPECT_GE(Device::count(), 1U);
    EXPECT_EQ(Device::all().size(), Device::count());
    if (const auto serial = if_supported([&] { return system.serial(); })) {
        EXPECT_FALSE(serial->empty());
    }
    expect_error<NVMLError>(
        [] { (void)Device::from_uuid("GPU-00000000-dead-beef-0000-000000000000"); },
        {"GPU-00000000-dead-beef", "there are: GPU-"});
    expect_error<NVMLError>([] { (void)Device(10000); }, {"index is 10000", "expected 0 to "});
}

TEST_F(SystemDevice, counts_the_memory_that_this_process_allocates) {
    constexpr std::size_t bytes = std::size_t{64} << 20U;
    const Device system = mine();
    stream().sync(); // the context exists
    const auto resource = SynchronousMemoryResource::create(device());
    // Other processes may use the device and change its memory between two questions.
    bool is_counted = !device().is_emulated(); // which nobody can expect of a GPU
    for (int attempt = 0; attempt < 1000 && !is_counted; ++attempt) {
        const MemoryInfo before = system.memory_info();
        EXPECT_EQ(before.free + before.used + before.reserved, before.total);
        const Buffer buffer = resource->allocate(bytes, stream());
        const MemoryInfo during = system.memory_info();
        EXPECT_EQ(during.total, before.total);
        is_counted = during.used == before.used + bytes;
    }
    EXPECT_TRUE(is_counted);
}

TEST_F(SystemDevice, lists_this_process) {
    const Device system = mine();
    const Buffer buffer = device().allocate(1 << 20U, stream());
    stream().sync();
    const auto processes = if_supported([&] { return system.compute_running_processes(); });
    ASSERT_TRUE(processes);
    if (device().is_emulated()) { // in a container, a GPU shows other process ids
        const auto self = std::find_if(processes->begin(), processes->end(), [](const auto& info) {
            return info.pid == static_cast<unsigned>(::getpid());
        });
        ASSERT_NE(self, processes->end());
        EXPECT_GE(self->used_gpu_memory.value_or(0), std::size_t{1} << 20U);
        EXPECT_FALSE(process_name(self->pid).empty());
    }
    expect_error<NVMLError>([] { (void)process_name(0x7ffffff0); }, {"process 2147483632"});
}

TEST_F(SystemDevice, reports_load_clocks_and_temperature_in_their_ranges) {
    const Device system = mine();
    if (const auto load = if_supported([&] { return system.utilization(); })) {
        EXPECT_LE(load->gpu, 100U);
        EXPECT_LE(load->memory, 100U);
    }
    if (const auto degrees = if_supported([&] { return system.temperature().gpu(); })) {
        EXPECT_GT(*degrees, -20);
        EXPECT_LT(*degrees, 130);
    }
    for (const ClockType type : {ClockType::Graphics, ClockType::SM, ClockType::Memory}) {
        const Clock clock = system.clock(type);
        const auto current = if_supported([&] { return clock.current_mhz(); });
        const auto most = if_supported([&] { return clock.max_mhz(); });
        if (current && most) {
            EXPECT_LE(*current, *most + 50) << type;
        }
    }
    if (const auto state = if_supported([&] { return system.performance_state(); })) {
        EXPECT_LE(state->value_or(0), 15);
    }
    if (const auto reasons = if_supported([&] { return system.clock_event_reasons(); })) {
        for (const ClockEventReason reason : *reasons) {
            EXPECT_FALSE(explain(reason).empty());
        }
    }
}

TEST_F(SystemDevice, power_is_within_its_limits_and_energy_grows) {
    const Power power = mine().power();
    const auto limits = if_supported([&] { return power.limit_constraints_mw(); });
    const auto limit = if_supported([&] { return power.limit_mw(); });
    if (limits && limit) {
        EXPECT_GE(*limit, limits->min);
        EXPECT_LE(*limit, limits->max);
    }
    const auto first = if_supported([&] { return power.total_energy_mj(); });
    const auto second = if_supported([&] { return power.total_energy_mj(); });
    if (first && second) {
        EXPECT_GE(*second, *first);
    }
}

TEST_F(SystemDevice, describes_its_bus) {
    const PciInfo pci = mine().pci_info();
    EXPECT_TRUE(std::regex_match(pci.bus_id(), std::regex("[0-9A-Fa-f]{8}:[0-9A-Fa-f]{2}:"
                                                          "[0-9A-Fa-f]{2}\\.[0-9A-Fa-f]")))
        << pci.bus_id();
    EXPECT_EQ(pci.bus(), std::stoul(pci.bus_id().substr(9, 2), nullptr, 16));
    EXPECT_EQ(pci.vendor_id() == 0x10deU, !device().is_emulated());
}

TEST_F(SystemDevice, waits_for_events_no_longer_than_told) {
    const Device system = mine();
    const std::array types{EventType::XidCriticalError};
    const auto events = if_supported([&] { return system.register_events(types); });
    if (!events) {
        GTEST_SKIP() << "the device has no events";
    }
    const auto begin = std::chrono::steady_clock::now();
    try {
        (void)events->wait(std::chrono::milliseconds(50));
        ADD_FAILURE() << "an Xid error happened";
    } catch (const NVMLError& error) {
        EXPECT_EQ(error.code(), nvml_abi::NVML_ERROR_TIMEOUT);
    }
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(45));
}

TEST_F(SystemDevice, samples_hold_what_the_device_reports) {
    const Device system = mine();
    std::optional<Sample> last;
    for (const Sample& sample :
         SampleRange(system, {.interval = std::chrono::milliseconds(5), .count = 3})) {
        ASSERT_TRUE(sample.memory_total);
        EXPECT_LE(*sample.memory_used, *sample.memory_total);
        if (last) {
            EXPECT_GT(sample.time, last->time);
        }
        last = sample;
    }
}

TEST_F(SystemDevice, knows_its_own_driver) {
    EXPECT_EQ(user_mode_driver_version().major, driver_version() / 1000);
    EXPECT_GE(kernel_mode_driver_version().size(), 2U);
    EXPECT_GE(nvml_version().front(), 10);
    EXPECT_NE(library_path().find("libnvidia-ml.so"), std::string::npos);
}

} // namespace

} // namespace cuprum::system
