// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Traces of work whose context is destroyed during the recording.

#include "driver/table.hpp"
#include "support/device_test.hpp"
#include "support/fake_driver.hpp"
#include "support/traced.hpp"

#include <cuprum/device_resources.hpp>
#include <cuprum/trace.hpp>

#include <cuda.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace cuprum {
namespace {

// ---- on the fake driver ------------------------------------------------------------------------

using TracedOnFake = testing::Traced<testing::FakeDriverTest>;

/// Fills a buffer on a device: one unit of work.
void fill_on(const Device& device) {
    const Stream stream = device.create_stream();
    device.allocate(64, stream).fill(std::uint8_t{1}, stream);
}

TEST_F(TracedOnFake, the_last_release_of_a_primary_context_takes_its_work_along) {
    fill_on(Device(1));
    start_trace(path());
    fill_on(Device(1));
    fill_on(Device(0));
    const int events_before = fake->live().events;
    const int shares = fake->primary_shares[1];
    ASSERT_GT(events_before, 0);
    for (int i = 0; i < shares; ++i) {
        EXPECT_EQ(driver::table().cuDevicePrimaryCtxRelease(1), CUDA_SUCCESS);
    }
    // Destroying the context destroys its events and streams. Their handles may be reused by now.
    const CUcontext gone = fake->primaries[1];
    const auto of_context = [&](const auto& event) { return event.second.context == gone; };
    EXPECT_GT(std::erase_if(fake->events, of_context), 0U);
    EXPECT_EQ(std::erase_if(fake->streams, of_context), 1U) << "the trace's own";
    fake->forget_calls();
    fill_on(Device(0));
    for (int i = 0; i < shares; ++i) { // restore the library's shares
        CUcontext again = nullptr;
        EXPECT_EQ(driver::table().cuDevicePrimaryCtxRetain(&again, 1), CUDA_SUCCESS);
    }
    fill_on(Device(1));
    EXPECT_EQ(ended_with("copy"), 4);
    EXPECT_EQ(fake->live().events, 0);
}

TEST_F(TracedOnFake, a_release_that_is_not_the_last_changes_nothing) {
    fill_on(Device(0));
    start_trace(path());
    fill_on(Device(0));
    CUcontext shared = nullptr;
    EXPECT_EQ(driver::table().cuDevicePrimaryCtxRetain(&shared, 0), CUDA_SUCCESS);
    const int events = fake->live().events;
    EXPECT_EQ(driver::table().cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
    EXPECT_EQ(fake->live().events, events);
    fill_on(Device(0));
    EXPECT_EQ(ended_with("copy"), 2);
    EXPECT_EQ(fake->live().events, 0);
}

TEST_F(TracedOnFake, the_events_of_a_green_context_are_destroyed_before_it) {
    start_trace(path());
    {
        const SMSplit split = Device(0).resources().sm().split({{.count = 16}});
        const Context context = Device(0).create_context({.resources = {split.groups[0]}});
        const Stream stream = Stream::create(context);
        Buffer buffer = Device(0).allocate(64, stream);
        buffer.fill(std::uint8_t{1}, stream);
        EXPECT_GT(fake->live().events, 0);
    }
    EXPECT_EQ(fake->live().contexts, 0);
    EXPECT_EQ(fake->live().events, 0);
    EXPECT_EQ(ended_with("copy"), 1);
}

TEST_F(TracedOnFake, a_context_that_cannot_be_synchronised_is_dropped) {
    start_trace(path());
    {
        const Context context = Context::create(Device(0));
        const Stream stream = Stream::create(context);
        Buffer buffer = Device(0).allocate(64, stream);
        buffer.fill(std::uint8_t{1}, stream);
        buffer.close();
        fake->fail("cuCtxSynchronize", CUDA_ERROR_LAUNCH_FAILED);
        fake->fail("cuEventQuery", CUDA_ERROR_LAUNCH_FAILED);
    }
    EXPECT_EQ(fake->live().contexts, 0);
    EXPECT_EQ(fake->live().events, 0);
    EXPECT_EQ(ended_with("copy"), 0); // its duration is unknown
    fake->failures.clear();
}

// ---- on a device -------------------------------------------------------------------------------

using TracedOnDevice = testing::Traced<testing::DeviceTest>;

TEST_F(TracedOnDevice, work_of_a_green_context_is_recorded_when_the_context_goes) {
    const Kernel kernel =
        compile(R"(extern "C" __global__ void traced(int* out) { out[threadIdx.x] = 1; })")
            .get_kernel("traced");
    std::optional<SMSplit> split;
    try {
        const SMResource all = device().resources().sm();
        split = all.split({{.count = all.min_partition_size()}});
    } catch (const CUDAError& error) {
        GTEST_SKIP() << "no green contexts: " << error.what();
    }
    start_trace(path());
    for (int i = 0; i < 2; ++i) { // the driver may reuse the handles of the first
        const Context context = device().create_context({.resources = {split->groups[0]}});
        const Stream own = Stream::create(context);
        const Buffer buffer = device().allocate(32 * sizeof(int), own);
        launch(own, LaunchConfig(1, 32), kernel, buffer);
    }
    launch(stream(), LaunchConfig(1, 32), kernel, device().allocate(32 * sizeof(int), stream()));
    stream().sync();
    EXPECT_EQ(ended_with("kernel"), 3);
}

} // namespace
} // namespace cuprum
