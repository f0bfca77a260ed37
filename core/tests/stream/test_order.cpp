// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/fake_driver.hpp"

#include <cuprum/buffer.hpp>
#include <cuprum/detail/order.hpp>
#include <cuprum/device.hpp>
#include <cuprum/error.hpp>

#include <cuda.h>
#include <gtest/gtest.h>

#include <thread>

namespace cuprum {

namespace {

class OrderOnFake : public testing::FakeDriverTest {};

} // namespace

TEST_F(OrderOnFake, records_and_waits_in_the_producers_context) {
    const CUcontext context = fake->make_context(1);
    const CUstream producer = fake->make_stream(context);
    const CUstream consumer = fake->make_stream(fake->make_context(0));
    detail::order_streams(consumer, producer);
    EXPECT_EQ(fake->count("cuEventRecord"), 1);
    EXPECT_EQ(fake->count("cuStreamWaitEvent"), 1);
    EXPECT_EQ(fake->live().events, 0);
}

TEST_F(OrderOnFake, the_same_stream_needs_nothing) {
    const CUstream stream = fake->make_stream(fake->make_context(0));
    detail::order_streams(stream, stream);
    detail::order_streams(nullptr, CU_STREAM_LEGACY);
    EXPECT_EQ(fake->count("cuEventCreate"), 0);
}

TEST_F(OrderOnFake, a_default_stream_is_of_the_other_streams_context) {
    const CUstream stream = fake->make_stream(fake->make_context(0));
    detail::order_streams(stream, nullptr);
    detail::order_streams(CU_STREAM_PER_THREAD, stream);
    EXPECT_EQ(fake->count("cuStreamWaitEvent"), 2);
    EXPECT_THROW(detail::order_streams(CU_STREAM_PER_THREAD, nullptr), CUDAError);
}

TEST_F(OrderOnFake, a_buffer_is_waited_for_on_the_stream_that_frees_it) {
    const CUstream consumer = fake->make_stream(fake->make_context(0));
    const Stream stream = Device(0).create_stream();
    const Buffer buffer = Device(0).allocate(16, stream);
    EXPECT_TRUE(detail::order_after(consumer, buffer));
    EXPECT_EQ(fake->last_record.stream, stream.handle());
    const Stream other = Device(0).create_stream();
    buffer.set_deallocation_stream(other);
    EXPECT_TRUE(detail::order_after(consumer, buffer.slice(4, 4)));
    EXPECT_EQ(fake->last_record.stream, other.handle());
    EXPECT_FALSE(detail::order_after(consumer, Buffer::from_handle(0x1000, 16)));
    EXPECT_EQ(fake->count("cuStreamWaitEvent"), 2);
}

TEST_F(OrderOnFake, a_default_stream_is_the_one_of_the_buffers_context) {
    const CUstream consumer = fake->make_stream(fake->make_context(1));
    Device(1).set_current();
    const Buffer buffer = Device(1).allocate(16, Stream::legacy_default());
    const Buffer own = Device(1).allocate(16, Stream::per_thread_default());
    Device(0).set_current();
    EXPECT_TRUE(detail::order_after(consumer, buffer));
    EXPECT_EQ(fake->last_record.current, fake->primaries[1]);
    EXPECT_EQ(fake->last_record.stream, CU_STREAM_LEGACY);
    EXPECT_TRUE(detail::order_after(consumer, own));
    EXPECT_EQ(fake->last_record.stream, CU_STREAM_PER_THREAD);
    std::thread([&] { EXPECT_TRUE(detail::order_after(consumer, own)); }).join();
    EXPECT_EQ(fake->last_record.current, fake->primaries[1]);
    EXPECT_EQ(fake->last_record.stream, CU_STREAM_LEGACY) << "the other thread's cannot be named";
    EXPECT_EQ(fake->current(), fake->primaries[0]);
}

TEST(OrderFailures, leave_nothing_behind) {
    testing::check_every_failure([](testing::FakeDriver& fake) {
        const CUcontext context = fake.make_context(0);
        detail::order_streams(fake.make_stream(context), fake.make_stream(context));
        const Buffer buffer = Device(0).allocate(16, Device(0).create_stream());
        (void)detail::order_after(fake.make_stream(context), buffer);
    });
}

} // namespace cuprum
