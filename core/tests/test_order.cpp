// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/fake_driver.hpp"

#include <cuprum/detail/order.hpp>
#include <cuprum/error.hpp>

#include <cuda.h>
#include <gtest/gtest.h>

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

TEST(OrderFailures, leave_nothing_behind) {
    testing::check_every_failure([](testing::FakeDriver& fake) {
        const CUcontext context = fake.make_context(0);
        detail::order_streams(fake.make_stream(context), fake.make_stream(context));
    });
}

} // namespace cuprum
