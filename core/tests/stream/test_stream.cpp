// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/driver_test.hpp"
#include "support/fake_driver.hpp"

#include <cuprum/buffer.hpp>
#include <cuprum/error.hpp>
#include <cuprum/stream.hpp>

#include <cuda.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

namespace cuprum {

namespace {

class StreamOnFake : public testing::FakeDriverTest {};

class StreamOnDriver : public testing::DriverTest {};

} // namespace

// ---- on the fake driver ------------------------------------------------------------------------

TEST_F(StreamOnFake, default_options_are_nonblocking_and_the_lowest_priority) {
    const Stream stream = Device(0).create_stream();
    EXPECT_TRUE(stream.is_nonblocking());
    EXPECT_EQ(stream.priority(), testing::FakeDriver::LOWEST_PRIORITY);
}

TEST_F(StreamOnFake, options_reach_the_driver) {
    const Stream stream = Device(0).create_stream({.nonblocking = false, .priority = -3});
    EXPECT_FALSE(stream.is_nonblocking());
    EXPECT_EQ(stream.priority(), -3);
}

TEST_F(StreamOnFake, priority_out_of_range_is_an_error_with_the_range) {
    for (const int priority : {1, -6}) {
        try {
            (void)Device(1).create_stream({.priority = priority});
            FAIL();
        } catch (const std::invalid_argument& error) {
            EXPECT_EQ(std::string(error.what()), "priority is " + std::to_string(priority) +
                                                     ", expected -5 (runs first) to 0 on device 1");
        }
    }
}

TEST_F(StreamOnFake, priority_range_is_read_once_per_device) {
    for (int i = 0; i < 3; ++i) {
        (void)Device(0).create_stream();
    }
    EXPECT_EQ(fake->count("cuCtxGetStreamPriorityRange"), 1);
    (void)Device(1).create_stream();
    EXPECT_EQ(fake->count("cuCtxGetStreamPriorityRange"), 2);
}

TEST_F(StreamOnFake, creation_in_the_current_context_costs_no_push) {
    Device(0).set_current();
    (void)Device(0).create_stream();
    fake->forget_calls();
    (void)Stream::create(Device(0).primary_context());
    EXPECT_EQ(fake->calls(),
              (std::vector<std::string>{"cuCtxGetCurrent", "cuStreamCreateWithPriority",
                                        "cuStreamDestroy"}));
}

TEST_F(StreamOnFake, copies_share_one_driver_stream) {
    Stream first = Device(0).create_stream();
    {
        const Stream second = first;
        EXPECT_EQ(first, second);
        first.close();
        EXPECT_EQ(fake->live().streams, 1);
        second.sync();
    }
    EXPECT_EQ(fake->live().streams, 0);
}

TEST_F(StreamOnFake, closed_stream_is_an_error_and_never_the_default_stream) {
    const Stream open = Device(0).create_stream();
    const Event event = open.record();
    const Buffer buffer = Device(0).allocate(16, open);
    Stream closed = Device(0).create_stream();
    closed.close();
    closed.close();
    fake->forget_calls();
    EXPECT_TRUE(closed.is_closed());
    EXPECT_THROW((void)closed.handle(), ClosedError);
    EXPECT_THROW((void)closed.is_nonblocking(), ClosedError);
    EXPECT_THROW((void)closed.priority(), ClosedError);
    EXPECT_THROW((void)closed.context(), ClosedError);
    EXPECT_THROW((void)closed.device(), ClosedError);
    EXPECT_THROW(closed.sync(), ClosedError);
    EXPECT_THROW((void)closed.is_done(), ClosedError);
    EXPECT_THROW((void)closed.record(), ClosedError);
    EXPECT_THROW(closed.record(event), ClosedError);
    EXPECT_THROW(closed.wait(event), ClosedError);
    EXPECT_THROW(closed.wait(open), ClosedError);
    EXPECT_THROW(open.wait(closed), ClosedError);
    EXPECT_THROW((void)Device(0).allocate(16, closed), ClosedError);
    EXPECT_THROW((void)Device(0).allocate(0, closed), ClosedError);
    EXPECT_THROW(buffer.fill(std::uint8_t{0}, closed), ClosedError);
    EXPECT_THROW(buffer.copy_to(buffer, closed), ClosedError);
    EXPECT_THROW(buffer.set_deallocation_stream(closed), ClosedError);
    EXPECT_TRUE(fake->calls().empty()) << "the driver was called: " << fake->calls().front();
    EXPECT_NE(closed, Stream::legacy_default());
}

TEST_F(StreamOnFake, is_done_is_false_when_not_ready_and_raises_otherwise) {
    const Stream stream = Device(0).create_stream();
    EXPECT_TRUE(stream.is_done());
    fake->set_pending(stream.handle());
    EXPECT_FALSE(stream.is_done());
    fake->fail("cuStreamQuery", CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_THROW((void)stream.is_done(), CUDAError);
}

TEST_F(StreamOnFake, foreign_stream_is_not_destroyed_and_its_owner_is_kept) {
    const CUcontext context = fake->make_context(1);
    const CUstream handle = fake->make_stream(context);
    auto owner = std::make_shared<int>(1);
    const std::weak_ptr<int> kept = owner;
    {
        const Stream stream = Stream::from_handle(handle, std::move(owner));
        EXPECT_EQ(stream.handle(), handle);
        EXPECT_EQ(stream.context().handle(), context);
        EXPECT_EQ(stream.device(), Device(1));
        EXPECT_FALSE(kept.expired());
        EXPECT_EQ(stream, Stream::from_handle(handle));
    }
    EXPECT_TRUE(kept.expired());
    EXPECT_EQ(fake->count("cuStreamDestroy"), 0);
}

TEST_F(StreamOnFake, default_streams_go_by_the_current_context) {
    const Stream legacy = Stream::legacy_default();
    EXPECT_EQ(legacy.handle(), CU_STREAM_LEGACY);
    EXPECT_EQ(Stream::per_thread_default().handle(), CU_STREAM_PER_THREAD);
    EXPECT_NE(legacy, Stream::per_thread_default());
    try {
        (void)legacy.context();
        FAIL();
    } catch (const CUDAError& error) {
        EXPECT_EQ(error.code(), CUDA_ERROR_INVALID_CONTEXT);
        EXPECT_NE(std::string(error.what()).find("the default stream needs a current context"),
                  std::string::npos)
            << error.what();
    }
    EXPECT_THROW((void)legacy.record(), CUDAError);
    Device(1).set_current();
    EXPECT_EQ(legacy.device(), Device(1));
    (void)legacy.record();
    Device(0).set_current();
    EXPECT_EQ(legacy.device(), Device(0));
    EXPECT_EQ(Stream::from_handle(CU_STREAM_LEGACY).device(), Device(0));
}

TEST_F(StreamOnFake, waiting_for_another_stream_leaves_no_event_behind) {
    const Stream first = Device(0).create_stream();
    const Stream second = Device(1).create_stream();
    first.wait(second);
    EXPECT_EQ(fake->count("cuStreamWaitEvent"), 1);
    EXPECT_EQ(fake->live().events, 0);
    fake->forget_calls();
    first.wait(first);
    EXPECT_TRUE(fake->calls().empty()) << "a stream is in order with itself";
}

TEST_F(StreamOnFake, enqueuing_on_a_stream_costs_one_driver_call) {
    const Stream stream = Device(1).create_stream(); // no context is current
    const Event event = Device(1).create_event();
    fake->forget_calls();
    stream.record(event);
    stream.wait(event);
    stream.sync();
    EXPECT_EQ(fake->calls(), (std::vector<std::string>{"cuEventRecord", "cuStreamWaitEvent",
                                                       "cuStreamSynchronize"}));
}

TEST(StreamFailures, every_call) {
    testing::check_every_failure([](testing::FakeDriver& fake) {
        const Stream stream = Device(1).create_stream({.priority = -1});
        (void)stream.is_nonblocking();
        (void)stream.priority();
        (void)stream.is_done();
        const Event event = stream.record();
        stream.record(event);
        stream.wait(event);
        const Stream foreign = Stream::from_handle(fake.make_stream(fake.make_context(0)));
        stream.wait(foreign);
        (void)foreign.device();
        stream.sync();
    });
}

// ---- on a driver -------------------------------------------------------------------------------

TEST_F(StreamOnDriver, has_what_it_was_made_with) {
    const Stream stream = device().create_stream();
    EXPECT_TRUE(stream.is_nonblocking());
    EXPECT_EQ(stream.device(), device());
    EXPECT_EQ(stream.context(), device().primary_context());
    EXPECT_FALSE(device().create_stream({.nonblocking = false}).is_nonblocking());
    EXPECT_EQ(device().create_stream({.priority = 0}).priority(), 0);
    EXPECT_EQ(Stream::from_handle(stream.handle()), stream);
    EXPECT_EQ(Stream::from_handle(stream.handle()).context(), device().primary_context());
}

TEST_F(StreamOnDriver, priority_out_of_range_is_an_argument_error) {
    EXPECT_THROW((void)device().create_stream({.priority = 1000}), std::invalid_argument);
    EXPECT_THROW((void)device().create_stream({.priority = -1000}), std::invalid_argument);
}

TEST_F(StreamOnDriver, empty_stream_is_done) {
    const Stream stream = device().create_stream();
    EXPECT_TRUE(stream.is_done());
    stream.sync();
    EXPECT_TRUE(stream.is_done());
}

TEST_F(StreamOnDriver, streams_wait_for_each_other) {
    const Stream first = device().create_stream();
    const Stream second = device().create_stream();
    first.wait(second);
    second.wait(first.record());
    second.sync();
    EXPECT_TRUE(first.is_done());
}

TEST_F(StreamOnDriver, default_streams_work_in_the_current_context) {
    const CurrentContext guard(device().primary_context());
    for (const Stream& stream : {Stream::legacy_default(), Stream::per_thread_default()}) {
        stream.sync();
        EXPECT_TRUE(stream.is_done());
        EXPECT_EQ(stream.device(), device());
        stream.record().sync();
    }
}

TEST_F(StreamOnDriver, default_stream_without_a_current_context_is_an_error) {
    std::thread([] {
        EXPECT_THROW(Stream::legacy_default().sync(), CUDAError);
        EXPECT_THROW((void)Stream::legacy_default().record(), CUDAError);
    }).join();
}

TEST_F(StreamOnDriver, may_be_closed_from_another_thread) {
    Stream stream = device().create_stream();
    std::thread([moved = std::move(stream)]() mutable { moved.close(); }).join();
}

} // namespace cuprum
