// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "driver/table.hpp"
#include "support/driver_test.hpp"
#include "support/fake_driver.hpp"

#include <cuprum/context.hpp>
#include <cuprum/detail/pending.hpp>
#include <cuprum/device.hpp>
#include <cuprum/error.hpp>
#include <cuprum/event.hpp>
#include <cuprum/stream.hpp>

#include <cuda.h>
#include <gtest/gtest.h>

namespace cuprum {

namespace {

class PendingOnFake : public testing::FakeDriverTest {};

} // namespace

TEST_F(PendingOnFake, a_stream_is_pending_while_it_has_work) {
    const Stream stream = Device(0).create_stream();
    EXPECT_FALSE(detail::is_pending(stream));
    fake->set_pending(stream.handle());
    EXPECT_TRUE(detail::is_pending(stream));
}

TEST_F(PendingOnFake, an_event_is_pending_until_it_is_reached) {
    const Event event = Device(0).create_event();
    EXPECT_FALSE(detail::is_pending(event));
    fake->events.at(event.handle()).is_pending = true;
    EXPECT_TRUE(detail::is_pending(event));
}

TEST_F(PendingOnFake, what_cannot_be_asked_is_not_pending) {
    Stream stream = Device(0).create_stream();
    Event event = Device(0).create_event();
    fake->set_pending(stream.handle());
    fake->fail("cuStreamQuery", CUDA_ERROR_ILLEGAL_ADDRESS);
    fake->fail("cuEventQuery", CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT_FALSE(detail::is_pending(stream));
    EXPECT_FALSE(detail::is_pending(event));
    stream.close();
    event.close();
    EXPECT_FALSE(detail::is_pending(stream));
    EXPECT_FALSE(detail::is_pending(event));
}

TEST_F(PendingOnFake, a_mark_has_an_event_for_as_long_as_it_lives) {
    const Stream stream = Device(0).create_stream();
    const Context context = Device(0).primary_context();
    const auto check = [&](const auto& work) {
        ASSERT_TRUE(fake->events.empty());
        {
            const detail::WorkMark mark(work);
            ASSERT_EQ(fake->events.size(), 1U);
            EXPECT_FALSE(mark.is_pending());
            fake->events.begin()->second.is_pending = true;
            EXPECT_TRUE(mark.is_pending());
        }
        EXPECT_TRUE(fake->events.empty());
    };
    check(stream);
    check(context);
}

TEST_F(PendingOnFake, a_mark_that_cannot_be_set_is_not_pending) {
    const Stream stream = Device(0).create_stream();
    for (const char* const call : {"cuEventCreate", "cuEventRecord", "cuStreamGetCtx"}) {
        fake->fail(call, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        const detail::WorkMark mark(stream);
        EXPECT_FALSE(mark.is_pending()) << call;
        EXPECT_TRUE(fake->events.empty()) << call;
    }
}

TEST_F(PendingOnFake, an_older_driver_leaves_no_mark_and_no_context_behind) {
    // cuCtxRecordEvent needs CUDA 12.5.
    driver::table().cuCtxRecordEvent = [](CUcontext, CUevent) -> CUresult {
        return driver::lack("cuCtxRecordEvent", 12050, 12000);
    };
    const Context context = Device(1).primary_context();
    for (const CUcontext current : {CUcontext(), Device(0).primary_context().handle()}) {
        ASSERT_EQ(driver::table().cuCtxSetCurrent(current), CUDA_SUCCESS);
        const detail::WorkMark mark(context);
        EXPECT_FALSE(mark.is_pending());
        EXPECT_TRUE(fake->events.empty());
        EXPECT_EQ(fake->current(), current);
    }
}

} // namespace cuprum
