// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Contexts that the library creates, limits, flags, peers, and reset primary contexts.

#include "support/driver_test.hpp"
#include "support/expect_error.hpp"
#include "support/fake_driver.hpp"

#include <cuprum/context.hpp>
#include <cuprum/detail/access.hpp>
#include <cuprum/error.hpp>
#include <cuprum/event.hpp>
#include <cuprum/stream.hpp>

#include <cuda.h>
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

namespace cuprum {

namespace {

class ContextSettingsOnFake : public testing::FakeDriverTest {};

class ContextSettingsOnDriver : public testing::DriverTest {};

constexpr std::size_t STACK_BYTES = 4096;

} // namespace

// ---- on the fake driver ------------------------------------------------------------------------

TEST_F(ContextSettingsOnFake, made_context_is_not_current_and_dies_with_its_last_share) {
    start_with(fake->primaries[0]);
    {
        Context context = Context::create(Device(1), {.wait = HostWait::Blocking});
        EXPECT_EQ(testing::FakeDriver::current(), fake->primaries[0]);
        EXPECT_EQ(context.device(), Device(1));
        EXPECT_FALSE(context.is_primary());
        EXPECT_FALSE(context.is_green());
        EXPECT_EQ(context.flags(), (ContextFlags{.wait = HostWait::Blocking}));
        const Stream stream = Stream::create(context);
        const CUcontext handle = context.handle();
        EXPECT_EQ(detail::Access::state(Context::from_handle(handle)),
                  detail::Access::state(context))
            << "known by its handle";
        context.close();
        EXPECT_EQ(fake->live().contexts, 1) << "the stream has a share";
        EXPECT_EQ(stream.context().handle(), handle);
    }
    EXPECT_EQ(fake->live().contexts, 0);
}

TEST_F(ContextSettingsOnFake, push_and_pop_nest) {
    const Context first = Device(0).primary_context();
    const Context second = Device(1).primary_context();
    first.push();
    second.push();
    EXPECT_EQ(Context::current(), second);
    EXPECT_EQ(Context::pop(), second);
    EXPECT_EQ(Context::pop(), first);
    EXPECT_EQ(Context::current(), std::nullopt);
    testing::expect_error<CUDAError>([] { (void)Context::pop(); }, {"cuCtxPopCurrent"});
}

TEST_F(ContextSettingsOnFake, limits_and_cache_belong_to_the_context_not_to_what_is_current) {
    start_with(fake->primaries[1]);
    const Context context = Device(0).primary_context();
    context.set_limit(Limit::StackSize, STACK_BYTES);
    context.set_cache_config(CacheConfig::PreferL1);
    EXPECT_EQ(context.limit(Limit::StackSize), STACK_BYTES);
    EXPECT_EQ(Device(0).limit(Limit::StackSize), STACK_BYTES);
    EXPECT_EQ(Device(1).limit(Limit::StackSize), 0U);
    EXPECT_EQ(context.cache_config(), CacheConfig::PreferL1);
    EXPECT_EQ(Device(1).primary_context().cache_config(), CacheConfig::None);
    context.set_flags({.sync_memory_operations = true});
    EXPECT_TRUE(context.flags().sync_memory_operations);
    EXPECT_EQ(context.id(), reinterpret_cast<std::uintptr_t>(context.handle()));
    context.reset_persisting_l2_cache();
    EXPECT_EQ(testing::FakeDriver::current(), fake->primaries[1]);
}

TEST_F(ContextSettingsOnFake, a_limit_that_is_refused_is_named) {
    const Context context = Device(0).primary_context();
    for (const CUresult code : {CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_UNSUPPORTED_LIMIT}) {
        fake->fail("cuCtxSetLimit", code);
        testing::expect_error<CUDAError>(
            [&] { context.set_limit(Limit::StackSize, STACK_BYTES); },
            {"cuCtxSetLimit", std::to_string(STACK_BYTES), "stays as it was"});
    }
}

TEST_F(ContextSettingsOnFake, flags_survive_the_way_to_the_driver_and_back) {
    const ContextFlags all{.wait = HostWait::Yield,
                           .map_host = true,
                           .resize_local_memory = true,
                           .coredump_on_error = true,
                           .user_coredump = true,
                           .sync_memory_operations = true};
    Device(1).set_primary_context_flags(all);
    EXPECT_EQ(fake->primary_flags[1], 0xfaU);
    EXPECT_EQ(Device(1).primary_context_state().flags, all);
    EXPECT_EQ(Device(0).primary_context_state().flags, ContextFlags{});
}

TEST_F(ContextSettingsOnFake, primary_context_state_tells_whether_it_is_active) {
    EXPECT_FALSE(Device(0).primary_context_state().is_active);
    (void)Device(0).primary_context();
    EXPECT_TRUE(Device(0).primary_context_state().is_active);
}

TEST_F(ContextSettingsOnFake, what_a_reset_destroyed_is_not_destroyed_again) {
    const Context kept = Device(0).primary_context();
    {
        const Stream stream = Device(0).create_stream();
        const Event event = stream.record();
        const Stream other = Device(1).create_stream();
        Device(0).reset_primary_context();
    }
    EXPECT_EQ(fake->count("cuStreamDestroy"), 1) << "that of the other device";
    EXPECT_EQ(fake->count("cuEventDestroy"), 0);
    {
        const Stream later = Device(0).create_stream();
    }
    EXPECT_EQ(fake->count("cuStreamDestroy"), 2);
}

TEST_F(ContextSettingsOnFake, other_threads_may_read_the_context_that_is_reset) {
    constexpr int RESETS = 100;
    const Context kept = Device(0).primary_context();
    std::atomic<bool> is_over = false;
    std::thread reader([&] { // the thread sanitizer checks this
        while (!is_over) {
            EXPECT_NE(kept.handle(), nullptr);
        }
    });
    for (int i = 0; i < RESETS; ++i) {
        Device(0).reset_primary_context();
    }
    fake->primaries[0] = fake->make_context(0); // a driver may create another context
    Device(0).reset_primary_context();
    is_over = true;
    reader.join();
    EXPECT_EQ(kept.handle(), fake->primaries[0]);
}

TEST_F(ContextSettingsOnFake, events_of_a_whole_context) {
    const Context context = Device(0).primary_context();
    const Event event = Device(0).create_event();
    context.record(event);
    EXPECT_TRUE(fake->events.at(event.handle()).is_recorded);
    Device(1).primary_context().wait(event);
    testing::expect_error<CUDAError>([&] { Device(1).primary_context().record(event); },
                                     {"cuCtxRecordEvent", "CUDA_ERROR_INVALID_HANDLE"});
}

TEST_F(ContextSettingsOnFake, peer_access_is_allowed_once_and_taken_back) {
    Device(0).enable_peer_access(Device(1));
    Device(0).enable_peer_access(Device(1));
    Device(0).enable_peer_access(Device(0));
    ASSERT_EQ(fake->peers.size(), 1U);
    EXPECT_EQ(fake->peers[0], std::pair(fake->primaries[0], fake->primaries[1]));
    Device(0).disable_peer_access(Device(1));
    Device(0).disable_peer_access(Device(1));
    EXPECT_TRUE(fake->peers.empty());
    fake->fail("cuCtxEnablePeerAccess", CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
    EXPECT_THROW(Device(0).enable_peer_access(Device(1)), CUDAError);
}

TEST_F(ContextSettingsOnFake, link_between_devices) {
    EXPECT_EQ(Device(1).p2p_attribute(P2PAttribute::NativeAtomicSupported, Device(0)), 310);
    testing::expect_error<std::invalid_argument>(
        [] { (void)Device(1).p2p_attribute(P2PAttribute::AccessSupported, Device(1)); },
        {"device 1 itself"});
}

TEST(ContextSettingsFailures, every_call) {
    testing::check_every_failure([](testing::FakeDriver&) {
        const Context made = Context::create(Device(1), {.wait = HostWait::Spin});
        const Stream stream = Stream::create(made);
        made.set_limit(Limit::MallocHeapSize, STACK_BYTES);
        (void)made.limit(Limit::MallocHeapSize);
        made.set_cache_config(CacheConfig::PreferEqual);
        (void)made.cache_config();
        made.set_flags({});
        (void)made.flags();
        (void)made.id();
        made.reset_persisting_l2_cache();
        const Event event = Event::create(made);
        made.record(event);
        made.wait(event);
        Device(0).enable_peer_access(Device(1));
        Device(0).disable_peer_access(Device(1));
        (void)Device(0).p2p_attribute(P2PAttribute::PerformanceRank, Device(1));
        (void)Device(0).total_memory();
        Device(0).set_primary_context_flags({});
        (void)Device(0).primary_context_state();
    });
}

// ---- on a driver -------------------------------------------------------------------------------

TEST_F(ContextSettingsOnDriver, work_runs_in_a_context_of_its_own) {
    Context context = Context::create(device(), {.wait = HostWait::Blocking});
    EXPECT_EQ(context.flags().wait, HostWait::Blocking);
    EXPECT_NE(context.id(), device().primary_context().id());
    {
        const Stream stream = Stream::create(context);
        const Event event = stream.record();
        stream.sync();
        EXPECT_TRUE(event.is_done());
        EXPECT_EQ(stream.context(), context);
        const CurrentContext guard(context);
        EXPECT_EQ(Context::current(), context);
    }
    context.sync();
}

TEST_F(ContextSettingsOnDriver, limit_is_at_least_what_was_set) {
    const Context context = Context::create(device());
    context.set_limit(Limit::StackSize, STACK_BYTES);
    EXPECT_GE(context.limit(Limit::StackSize), STACK_BYTES);
    context.set_cache_config(CacheConfig::PreferShared);
    (void)context.cache_config(); // the device may ignore the setting
}

TEST_F(ContextSettingsOnDriver, total_memory_needs_no_context) {
    EXPECT_GT(device().total_memory(), 0U);
    EXPECT_TRUE(device().primary_context_state().is_active);
}

} // namespace cuprum
