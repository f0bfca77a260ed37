// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Events: kernels that fail in other processes.

#include "nvml_test.hpp"

#include <cuda.h>

#include <fcntl.h>

#include <sys/file.h>

namespace cuprum::nvml::test {

namespace {

constexpr unsigned long long XID_MEMORY_FAULT = 31;

class EventSet {
public:
    EventSet() { EXPECT_EQ(NVML(nvmlEventSetCreate)(&set_), NVML_SUCCESS); }

    ~EventSet() { EXPECT_EQ(NVML(nvmlEventSetFree)(set_), NVML_SUCCESS); }

    EventSet(const EventSet&) = delete;
    EventSet& operator=(const EventSet&) = delete;

    [[nodiscard]] nvmlReturn_t add(nvmlDevice_t device,
                                   unsigned long long types = nvmlEventTypeXidCriticalError) const {
        return NVML(nvmlDeviceRegisterEvents)(device, types, set_);
    }

    nvmlReturn_t wait(nvmlEventData_t& data, unsigned int timeout_ms) const {
        return NVML(nvmlEventSetWait_v2)(set_, &data, timeout_ms);
    }

    [[nodiscard]] nvmlEventSet_t get() const { return set_; }

private:
    nvmlEventSet_t set_ = nullptr;
};

void fail_kernel(const std::string& device) {
    Worker worker;
    ASSERT_EQ(worker.run("use " + device), 0);
    ASSERT_EQ(worker.run("fault"), CUDA_ERROR_ILLEGAL_ADDRESS);
}

} // namespace

using EventsTest = NVMLTest;

TEST_F(EventsTest, a_failed_kernel_is_an_event_of_its_device) {
    const EventSet set;
    ASSERT_EQ(set.add(device(0)), NVML_SUCCESS);
    ASSERT_EQ(set.add(device(1)), NVML_SUCCESS);
    nvmlEventData_t data{};
    EXPECT_EQ(set.wait(data, 0), NVML_ERROR_TIMEOUT);
    fail_kernel("1");
    ASSERT_EQ(set.wait(data, 5000), NVML_SUCCESS);
    EXPECT_EQ(data.device, device(1));
    EXPECT_EQ(data.eventType, nvmlEventTypeXidCriticalError);
    EXPECT_EQ(data.eventData, XID_MEMORY_FAULT);
    EXPECT_EQ(data.gpuInstanceId, 0xffffffffU);
    EXPECT_EQ(set.wait(data, 0), NVML_ERROR_TIMEOUT) << "each event is told once";
}

TEST_F(EventsTest, a_waiting_thread_wakes_up) {
    const EventSet set;
    ASSERT_EQ(set.add(device(0)), NVML_SUCCESS);
    std::thread other([] { fail_kernel("0"); });
    nvmlEventData_t data{};
    EXPECT_EQ(set.wait(data, 20000), NVML_SUCCESS);
    EXPECT_EQ(data.device, device(0));
    other.join();
}

TEST_F(EventsTest, only_registered_devices_and_later_events_count) {
    fail_kernel("0"); // before the set
    const EventSet early;
    fail_kernel("0"); // before the registration
    ASSERT_EQ(early.add(device(0)), NVML_SUCCESS);
    const EventSet other;
    ASSERT_EQ(other.add(device(1)), NVML_SUCCESS);
    const EventSet nothing;
    ASSERT_EQ(nothing.add(device(0), 0), NVML_SUCCESS);
    nvmlEventData_t data{};
    EXPECT_EQ(early.wait(data, 20), NVML_ERROR_TIMEOUT);
    fail_kernel("0");
    EXPECT_EQ(other.wait(data, 20), NVML_ERROR_TIMEOUT);
    EXPECT_EQ(nothing.wait(data, 20), NVML_ERROR_TIMEOUT);
    EXPECT_EQ(early.wait(data, 0), NVML_SUCCESS);
}

TEST_F(EventsTest, events_keep_their_order_and_are_kept_for_those_who_wait_later) {
    const EventSet set;
    ASSERT_EQ(set.add(device(0)), NVML_SUCCESS);
    ASSERT_EQ(set.add(device(1)), NVML_SUCCESS);
    for (const char* const each : {"1", "0", "1"}) {
        fail_kernel(each);
    }
    for (const unsigned int expected : {1U, 0U, 1U}) {
        nvmlEventData_t data{};
        ASSERT_EQ(NVML(nvmlEventSetWait)(set.get(), &data, 0), NVML_SUCCESS);
        EXPECT_EQ(data.device, device(expected));
    }
}

TEST_F(EventsTest, a_wait_lasts_as_long_as_it_says) {
    const EventSet set;
    ASSERT_EQ(set.add(device(0)), NVML_SUCCESS);
    nvmlEventData_t data{};
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(set.wait(data, 100), NVML_ERROR_TIMEOUT);
    const auto elapsed = std::chrono::steady_clock::now() - begin;
    EXPECT_GE(elapsed, std::chrono::milliseconds(100));
    EXPECT_LT(elapsed, std::chrono::seconds(5));
}

TEST_F(EventsTest, other_events_do_not_exist_here) {
    unsigned long long types = 0;
    ASSERT_EQ(NVML(nvmlDeviceGetSupportedEventTypes)(device(), &types), NVML_SUCCESS);
    EXPECT_EQ(types, nvmlEventTypeXidCriticalError);
    const EventSet set;
    EXPECT_EQ(set.add(device(), nvmlEventTypeClock), NVML_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(set.add(device(), 1ULL << 40U), NVML_ERROR_INVALID_ARGUMENT);
}

TEST_F(EventsTest, sets_that_do_not_exist_are_refused) {
    nvmlEventSet_t freed = nullptr;
    ASSERT_EQ(NVML(nvmlEventSetCreate)(&freed), NVML_SUCCESS);
    ASSERT_EQ(NVML(nvmlEventSetFree)(freed), NVML_SUCCESS);
    int local = 0;
    nvmlEventData_t data{};
    for (const nvmlEventSet_t wrong :
         {nvmlEventSet_t{nullptr}, freed, reinterpret_cast<nvmlEventSet_t>(&local)}) {
        EXPECT_EQ(NVML(nvmlEventSetFree)(wrong), NVML_ERROR_INVALID_ARGUMENT);
        EXPECT_EQ(NVML(nvmlEventSetWait_v2)(wrong, &data, 0), NVML_ERROR_INVALID_ARGUMENT);
        EXPECT_EQ(NVML(nvmlDeviceRegisterEvents)(device(), 0, wrong), NVML_ERROR_INVALID_ARGUMENT);
    }
}

TEST_F(EventsTest, a_board_with_the_largest_number_of_events_has_none) {
    constexpr off_t newest_offset = 16;
    constexpr std::uint64_t largest = ~std::uint64_t{0};
    ASSERT_EQ(NVML(nvmlDeviceSetPersistenceMode)(device(0), NVML_FEATURE_ENABLED), NVML_SUCCESS);
    const EventSet set;
    ASSERT_EQ(set.add(device(0)), NVML_SUCCESS);
    const int board = ::open((folder_ / "board").c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_EQ(::pwrite(board, &largest, sizeof largest, newest_offset), ssize_t{sizeof largest});
    ::close(board);
    nvmlEventData_t data{};
    EXPECT_EQ(set.wait(data, 0), NVML_ERROR_TIMEOUT);
}

TEST_F(EventsTest, a_damaged_board_is_like_an_empty_one) {
    fail_kernel("0");
    for (const std::uintmax_t bytes : {std::uintmax_t{3}, std::uintmax_t{100}}) {
        fs::resize_file(folder_ / "board", bytes);
        const EventSet set;
        EXPECT_EQ(set.add(device(0)), NVML_SUCCESS);
        nvmlEventData_t data{};
        EXPECT_EQ(set.wait(data, 10), NVML_ERROR_TIMEOUT);
        EXPECT_EQ(NVML(nvmlDeviceSetPersistenceMode)(device(), NVML_FEATURE_ENABLED),
                  NVML_ERROR_OPERATING_SYSTEM);
        fail_kernel("0"); // must not fail because of it
    }
}

TEST_F(EventsTest, a_process_that_was_stopped_with_the_lock_stops_nobody_else) {
    ASSERT_EQ(NVML(nvmlDeviceSetPersistenceMode)(device(), NVML_FEATURE_ENABLED), NVML_SUCCESS);
    const int board = ::open((folder_ / "board").c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_EQ(::flock(board, LOCK_EX), 0);
    EXPECT_EQ(NVML(nvmlDeviceSetPersistenceMode)(device(), NVML_FEATURE_DISABLED),
              NVML_ERROR_OPERATING_SYSTEM);
    fail_kernel("0");
    ::close(board);
    nvmlEnableState_t mode{};
    ASSERT_EQ(NVML(nvmlDeviceGetPersistenceMode)(device(), &mode), NVML_SUCCESS);
    EXPECT_EQ(mode, NVML_FEATURE_ENABLED);
}

TEST_F(EventsTest, the_system_has_no_events) {
    nvmlSystemEventSetCreateRequest_t create{};
    EXPECT_EQ(NVML(nvmlSystemEventSetCreate)(&create), NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    create.version = nvmlSystemEventSetCreateRequest_v1;
    ASSERT_EQ(NVML(nvmlSystemEventSetCreate)(&create), NVML_SUCCESS);
    nvmlSystemRegisterEventRequest_t add{};
    add.version = nvmlSystemRegisterEventRequest_v1;
    add.eventTypes = nvmlSystemEventTypeGpuDriverUnbind;
    add.set = create.set;
    EXPECT_EQ(NVML(nvmlSystemRegisterEvents)(&add), NVML_SUCCESS);
    nvmlSystemEventData_v1_t data{};
    nvmlSystemEventSetWaitRequest_t wait{};
    wait.version = nvmlSystemEventSetWaitRequest_v1;
    wait.timeoutms = 10;
    wait.set = create.set;
    wait.data = &data;
    wait.dataSize = 1;
    wait.numEvent = 7;
    EXPECT_EQ(NVML(nvmlSystemEventSetWait)(&wait), NVML_ERROR_TIMEOUT);
    EXPECT_EQ(wait.numEvent, 0U);
    nvmlSystemEventSetFreeRequest_t free{};
    free.version = nvmlSystemEventSetFreeRequest_v1;
    free.set = create.set;
    EXPECT_EQ(NVML(nvmlSystemEventSetFree)(&free), NVML_SUCCESS);
    EXPECT_EQ(NVML(nvmlSystemEventSetFree)(&free), NVML_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(NVML(nvmlSystemEventSetWait)(&wait), NVML_ERROR_INVALID_ARGUMENT);
}

} // namespace cuprum::nvml::test
