// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Events that processes share, and events whose type enables timing.

#include "support/driver_test.hpp"
#include "support/expect_error.hpp"
#include "support/fake_driver.hpp"

#include <cuprum/error.hpp>
#include <cuprum/event.hpp>
#include <cuprum/stream.hpp>

#include <cuda.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <type_traits>

namespace cuprum {

namespace {

class EventSharingOnFake : public testing::FakeDriverTest {};

class EventSharingOnDriver : public testing::DriverTest {};

template <typename T>
concept HasTime = requires(const T& later, const T& earlier) { later - earlier; };

static_assert(HasTime<TimedEvent>);
static_assert(!HasTime<Event>, "an event may have no time, so its type offers none");

} // namespace

TEST_F(EventSharingOnFake, timed_event_has_timing_and_takes_other_options) {
    const Stream stream = Device(0).create_stream();
    const TimedEvent event = stream.record_timed({.blocking_sync = true});
    EXPECT_TRUE(event.is_timing_enabled());
    EXPECT_TRUE(event.is_blocking_sync());
    EXPECT_EQ(fake->last_event_flags, unsigned{CU_EVENT_BLOCKING_SYNC});
    EXPECT_EQ(TimedEvent(Device(0).create_event({.timing_enabled = true})).is_timing_enabled(),
              true);
    testing::expect_error<std::invalid_argument>([] { (void)TimedEvent(Device(0).create_event()); },
                                                 {"without timing", "timing_enabled"});
}

TEST_F(EventSharingOnFake, shared_event_is_made_without_timing) {
    const Event event = Device(0).create_event({.ipc_enabled = true});
    EXPECT_TRUE(event.is_ipc_enabled());
    EXPECT_EQ(fake->last_event_flags,
              unsigned{CU_EVENT_INTERPROCESS} | unsigned{CU_EVENT_DISABLE_TIMING});
    testing::expect_error<std::invalid_argument>(
        [] { (void)Device(0).create_event({.timing_enabled = true, .ipc_enabled = true}); },
        {"ipc_enabled", "timing_enabled"});
}

TEST_F(EventSharingOnFake, descriptor_opens_an_event_that_is_ours_to_destroy) {
    start_with(fake->primaries[0]);
    const Event event = Device(0).create_event({.blocking_sync = true, .ipc_enabled = true});
    const IPCEventDescriptor descriptor = event.ipc_descriptor();
    EXPECT_TRUE(descriptor.blocking_sync);
    EXPECT_EQ(descriptor, event.ipc_descriptor());
    {
        const Event opened = Event::from_ipc_descriptor(descriptor);
        EXPECT_TRUE(opened.is_ipc_enabled());
        EXPECT_TRUE(opened.is_blocking_sync());
        EXPECT_FALSE(opened.is_timing_enabled());
        EXPECT_EQ(opened.context(), std::nullopt);
        EXPECT_EQ(opened.ipc_descriptor(), descriptor) << "it can be passed on";
        EXPECT_EQ(fake->live().events, 2);
    }
    EXPECT_EQ(fake->live().events, 1);
}

TEST_F(EventSharingOnFake, only_shared_events_have_a_descriptor) {
    testing::expect_error<std::logic_error>([] { (void)Device(0).create_event().ipc_descriptor(); },
                                            {"not IPC-enabled"});
    testing::expect_error<CUDAError>([] { (void)Event::from_ipc_descriptor({}); },
                                     {"opening an event of another process", "set_current"});
}

TEST(EventSharingFailures, every_call) {
    testing::check_every_failure([](testing::FakeDriver&) {
        const Event event = Device(0).create_event({.ipc_enabled = true});
        const CurrentContext current(Device(0).primary_context());
        (void)Event::from_ipc_descriptor(event.ipc_descriptor());
    });
}

TEST_F(EventSharingOnDriver, descriptor_is_the_same_every_time) {
    if (!device().properties().ipc_event_supported()) {
        GTEST_SKIP() << "the device has no events between processes";
    }
    const Event event = device().create_event({.ipc_enabled = true});
    const Event other = device().create_event({.ipc_enabled = true});
    EXPECT_EQ(event.ipc_descriptor(), event.ipc_descriptor());
    EXPECT_NE(event.ipc_descriptor(), other.ipc_descriptor());
}

} // namespace cuprum
