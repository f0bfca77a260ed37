// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/driver_test.hpp"
#include "support/fake_driver.hpp"

#include <cuprum/error.hpp>
#include <cuprum/event.hpp>
#include <cuprum/stream.hpp>

#include <cuda.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace cuprum {

namespace {

constexpr EventOptions TIMED{.timing_enabled = true};

/// Returns the error message of `later - earlier`, which must fail.
std::string time_error(const Event& later, const Event& earlier) {
    try {
        (void)later.milliseconds_since(earlier);
    } catch (const CUDAError& error) {
        EXPECT_EQ(error.call(), "cuEventElapsedTime");
        return error.what();
    }
    ADD_FAILURE() << "there was a time";
    return {};
}

bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

class EventOnFake : public testing::FakeDriverTest {};

class EventOnDriver : public testing::DriverTest {};

} // namespace

// ---- on the fake driver ------------------------------------------------------------------------

TEST_F(EventOnFake, options_reach_the_driver) {
    const Event plain = Device(0).create_event();
    EXPECT_FALSE(plain.is_timing_enabled());
    EXPECT_FALSE(plain.is_blocking_sync());
    EXPECT_FALSE(fake->events.at(plain.handle()).is_timed);
    const Event timed = Device(0).create_event({.timing_enabled = true, .blocking_sync = true});
    EXPECT_TRUE(timed.is_timing_enabled());
    EXPECT_TRUE(timed.is_blocking_sync());
    EXPECT_TRUE(fake->events.at(timed.handle()).is_timed);
    EXPECT_EQ(timed.context(), Device(0).primary_context());
}

TEST_F(EventOnFake, copies_share_one_driver_event) {
    Event first = Device(0).create_event();
    {
        const Event second = first;
        EXPECT_EQ(first, second);
        first.close();
        EXPECT_EQ(fake->live().events, 1);
    }
    EXPECT_EQ(fake->live().events, 0);
}

TEST_F(EventOnFake, is_made_in_the_context_of_the_stream_that_records_it) {
    const CUcontext context = fake->make_context(1);
    const Stream stream = Stream::from_handle(fake->make_stream(context));
    const Event event = stream.record();
    EXPECT_EQ(fake->events.at(event.handle()).context, context);
}

TEST_F(EventOnFake, closed_event_is_an_error) {
    const Stream stream = Device(0).create_stream();
    const Event open = stream.record(TIMED);
    Event closed = Device(0).create_event();
    closed.close();
    closed.close();
    fake->forget_calls();
    EXPECT_TRUE(closed.is_closed());
    EXPECT_THROW((void)closed.handle(), ClosedError);
    EXPECT_THROW((void)closed.is_done(), ClosedError);
    EXPECT_THROW((void)closed.context(), ClosedError);
    EXPECT_THROW((void)closed.is_timing_enabled(), ClosedError);
    EXPECT_THROW((void)closed.is_blocking_sync(), ClosedError);
    EXPECT_THROW(closed.sync(), ClosedError);
    EXPECT_THROW((void)closed.milliseconds_since(open), ClosedError);
    EXPECT_THROW((void)open.milliseconds_since(closed), ClosedError);
    EXPECT_THROW(stream.record(closed), ClosedError);
    EXPECT_THROW(stream.wait(closed), ClosedError);
    EXPECT_TRUE(fake->calls().empty());
    EXPECT_NE(open, closed);
}

TEST_F(EventOnFake, is_done_is_false_when_not_ready_and_raises_otherwise) {
    const Event event = Device(0).create_event();
    EXPECT_TRUE(event.is_done());
    fake->set_pending(event.handle());
    EXPECT_FALSE(event.is_done());
    fake->fail("cuEventQuery", CUDA_ERROR_ILLEGAL_ADDRESS);
    try {
        (void)event.is_done();
        FAIL();
    } catch (const CUDAError& error) {
        EXPECT_EQ(error.code(), CUDA_ERROR_ILLEGAL_ADDRESS);
        EXPECT_EQ(error.call(), "cuEventQuery");
    }
}

TEST_F(EventOnFake, time_error_tells_apart_what_is_missing) {
    const Stream stream = Device(0).create_stream();
    const Event untimed = stream.record();
    const Event timed = stream.record(TIMED);
    const Event unrecorded = Device(0).create_event(TIMED);
    EXPECT_TRUE(contains(time_error(timed, untimed), "enabled: the earlier one has none"));
    EXPECT_TRUE(contains(time_error(untimed, timed), "enabled: the later one has none"));
    EXPECT_TRUE(contains(time_error(untimed, untimed),
                         "Both Events must be created with timing enabled: neither has it; make "
                         "both with timing_enabled = true"));
    EXPECT_TRUE(contains(time_error(timed, unrecorded),
                         "Both Events must be recorded: the earlier one was not"));
    EXPECT_TRUE(contains(time_error(unrecorded, timed),
                         "Both Events must be recorded: the later one was not"));
    const Event pending = stream.record(TIMED);
    fake->set_pending(pending.handle());
    EXPECT_TRUE(contains(time_error(pending, timed),
                         "CUDA_ERROR_NOT_READY (600): One or both events have not completed: the "
                         "later one is not done; synchronise"));
    EXPECT_TRUE(contains(time_error(pending, pending), "have not completed: neither is done"));
}

TEST_F(EventOnFake, time_error_of_another_kind_keeps_its_code_and_meaning) {
    const Stream stream = Device(0).create_stream();
    const Event event = stream.record(TIMED);
    fake->fail("cuEventElapsedTime", CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_TRUE(contains(time_error(event, event), "CUDA_ERROR_LAUNCH_FAILED (719): a kernel"));
}

TEST_F(EventOnFake, foreign_event_is_not_destroyed) {
    const Stream stream = Device(0).create_stream();
    const Event owner = stream.record(TIMED);
    fake->forget_calls();
    {
        const Event foreign = Event::from_handle(owner.handle());
        EXPECT_EQ(foreign, owner);
        EXPECT_EQ(foreign.context(), std::nullopt);
        EXPECT_TRUE(foreign.is_done());
        EXPECT_FLOAT_EQ(foreign.milliseconds_since(owner), 1.5F);
    }
    EXPECT_EQ(fake->count("cuEventDestroy"), 0);
    EXPECT_THROW((void)Event::from_handle(nullptr), std::invalid_argument);
}

TEST(EventFailures, every_call) {
    testing::check_every_failure([](testing::FakeDriver&) {
        const Stream stream = Device(1).create_stream();
        const Event start = stream.record(TIMED);
        const Event end = Device(1).create_event(TIMED);
        stream.record(end);
        (void)end.is_done();
        end.sync();
        (void)end.milliseconds_since(start);
    });
}

// ---- on a driver -------------------------------------------------------------------------------

TEST_F(EventOnDriver, counts_as_done_until_it_is_recorded) {
    const Event event = device().create_event();
    EXPECT_TRUE(event.is_done());
    event.sync();
}

TEST_F(EventOnDriver, is_done_after_sync) {
    const Stream stream = device().create_stream();
    for (const bool is_blocking : {false, true}) {
        const Event event = stream.record({.blocking_sync = is_blocking});
        event.sync();
        EXPECT_TRUE(event.is_done());
        EXPECT_EQ(event.context(), device().primary_context());
    }
}

TEST_F(EventOnDriver, time_between_two_events_is_not_negative) {
    const Stream stream = device().create_stream();
    const TimedEvent start = stream.record_timed();
    const TimedEvent end = stream.record_timed({.blocking_sync = true});
    end.sync();
    EXPECT_GE(end - start, Milliseconds(0));
    EXPECT_EQ(start - start, Milliseconds(0));
    EXPECT_LE(start - end, Milliseconds(0));
    EXPECT_EQ((end - start).count(), end.milliseconds_since(start));
}

TEST_F(EventOnDriver, time_without_timing_or_recording_says_so) {
    const Stream stream = device().create_stream();
    const Event timed = stream.record(TIMED);
    const Event untimed = stream.record();
    const Event unrecorded = device().create_event(TIMED);
    stream.sync();
    EXPECT_TRUE(contains(time_error(untimed, timed), "enabled: the later one has none"));
    EXPECT_TRUE(contains(time_error(timed, unrecorded),
                         "Both Events must be recorded: the earlier one was not"));
    EXPECT_NO_THROW((void)timed.milliseconds_since(timed)) << "the events stay usable";
}

TEST_F(EventOnDriver, recording_again_moves_it) {
    const Stream stream = device().create_stream();
    const TimedEvent start = stream.record_timed();
    const TimedEvent event = device().create_timed_event();
    stream.record(event);
    stream.sync();
    const Milliseconds first = event - start;
    stream.record(event);
    stream.sync();
    EXPECT_GE(event - start, first);
}

} // namespace cuprum
