// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/expect_error.hpp"
#include "support/fake_driver.hpp"

#include <cuprum/cuprum.hpp>

#include <cuda.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace cuprum {

namespace {

using testing::expect_error;

class GraphMemoryOnFake : public testing::FakeDriverTest {};

} // namespace

TEST_F(GraphMemoryOnFake, there_is_one_per_device) {
    const auto first = GraphMemoryResource::of(Device(0));
    EXPECT_EQ(first, GraphMemoryResource::of(Device(0)));
    EXPECT_NE(first, GraphMemoryResource::of(Device(1)));
    EXPECT_EQ(first->device_id(), 0);
    EXPECT_TRUE(first->is_device_accessible());
    EXPECT_FALSE(first->is_host_accessible());
}

TEST_F(GraphMemoryOnFake, allocates_on_capturing_streams_of_its_device_alone) {
    const auto resource = GraphMemoryResource::of(Device(0));
    const Stream stream = Device(0).create_stream();
    const Stream other = Device(1).create_stream();
    expect_error<std::logic_error>(
        [&] { (void)resource->allocate(64, stream); },
        {"GraphMemoryResource cannot perform memory operations on a non-capturing stream."});
    fake->set_capturing(stream.handle());
    fake->set_capturing(other.handle());
    expect_error<std::invalid_argument>([&] { (void)resource->allocate(64, other); },
                                        {"device 1", "device 0"});
    Buffer buffer = resource->allocate(64, stream);
    EXPECT_EQ(buffer.size(), 64U);
    buffer.close();
    EXPECT_EQ(fake->last_free.stream, stream.handle());
    expect_error<OutOfMemoryError>([&] { (void)resource->allocate(std::size_t{1} << 40U, stream); },
                                   {"1099511627776 bytes"});
    EXPECT_EQ(resource->allocate(0, stream).handle(), 0U);
}

TEST_F(GraphMemoryOnFake, a_free_after_the_capture_never_ends_another_capture) {
    const Stream stream = Device(0).create_stream();
    fake->set_capturing(stream.handle());
    Buffer buffer = GraphMemoryResource::of(Device(0))->allocate(64, stream);
    fake->streams.at(stream.handle()).is_capturing = false;
    fake->forget_calls();
    buffer.close();
    const std::vector<std::string> calls = fake->calls();
    const auto free = std::ranges::find(calls, "cuMemFreeAsync");
    ASSERT_NE(free, calls.end());
    EXPECT_EQ(*std::prev(free), "cuThreadExchangeStreamCaptureMode");
    EXPECT_EQ(*std::next(free), "cuThreadExchangeStreamCaptureMode");
}

TEST_F(GraphMemoryOnFake, attributes_are_the_devices) {
    const auto resource = GraphMemoryResource::of(Device(1));
    EXPECT_EQ(resource->attribute(GraphMemoryAttribute::ReservedMemHigh), 103U);
    resource->set_attribute(GraphMemoryAttribute::UsedMemHigh, 0);
    EXPECT_EQ(fake->notes.back(), "graph memory 1 = 0");
    expect_error<std::invalid_argument>(
        [&] { resource->set_attribute(GraphMemoryAttribute::UsedMemHigh, 1); }, {"value is 1"});
    expect_error<std::invalid_argument>(
        [&] { resource->set_attribute(GraphMemoryAttribute::UsedMemCurrent, 0); },
        {"cannot be set"});
    resource->trim();
    EXPECT_EQ(fake->count("cuDeviceGraphMemTrim"), 1);
}

TEST(GraphMemoryFailures, every_call) {
    testing::check_every_failure([](testing::FakeDriver& fake) {
        const Stream stream = Device(0).create_stream();
        fake.set_capturing(stream.handle());
        const auto resource = GraphMemoryResource::of(Device(0));
        const Buffer buffer = resource->allocate(64, stream);
        (void)resource->attribute(GraphMemoryAttribute::UsedMemCurrent);
        resource->set_attribute(GraphMemoryAttribute::UsedMemHigh, 0);
        resource->trim();
    });
}

} // namespace cuprum
