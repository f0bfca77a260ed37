// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/driver_test.hpp"
#include "support/fake_driver.hpp"

#include <cuprum/context.hpp>
#include <cuprum/detail/access.hpp>
#include <cuprum/error.hpp>
#include <cuprum/stream.hpp>

#include <cuda.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

namespace cuprum {

namespace {

class ContextOnFake : public testing::FakeDriverTest {};

class ContextOnDriver : public testing::DriverTest {};

} // namespace

// ---- on the fake driver ------------------------------------------------------------------------

TEST_F(ContextOnFake, current_is_nothing_at_first) {
    EXPECT_EQ(Context::current(), std::nullopt);
}

TEST_F(ContextOnFake, current_is_the_shared_primary_one_when_that_is_current) {
    Device(1).set_current();
    const auto context = Context::current();
    ASSERT_TRUE(context.has_value());
    EXPECT_EQ(detail::Access::state(*context), detail::Access::state(Device(1).primary_context()));
    EXPECT_TRUE(context->is_primary());
    EXPECT_EQ(context->device(), Device(1));
}

TEST_F(ContextOnFake, foreign_context_is_named_not_owned) {
    const CUcontext handle = fake->make_context(1);
    {
        const Context context = Context::from_handle(handle);
        EXPECT_EQ(context.handle(), handle);
        EXPECT_EQ(context.device(), Device(1));
        EXPECT_FALSE(context.is_primary());
    }
    EXPECT_EQ(fake->contexts.count(handle), 1U);
    EXPECT_EQ(fake->live().primary_contexts, 0);
}

TEST_F(ContextOnFake, primary_context_that_others_retained_is_recognised) {
    fake->primary_shares[1] = 1; // as the CUDA runtime does
    const Context context = Context::from_handle(fake->primaries[1]);
    EXPECT_TRUE(context.is_primary());
    EXPECT_EQ(detail::Access::state(context), detail::Access::state(Device(1).primary_context()));
}

TEST_F(ContextOnFake, null_or_unknown_handle_is_refused) {
    EXPECT_THROW((void)Context::from_handle(nullptr), std::invalid_argument);
    EXPECT_THROW((void)Context::from_handle(reinterpret_cast<CUcontext>(0x10)), CUDAError);
}

TEST_F(ContextOnFake, closed_context_is_an_error_and_closing_twice_is_not) {
    Context context = Device(0).primary_context();
    context.close();
    context.close();
    EXPECT_TRUE(context.is_closed());
    EXPECT_THROW((void)context.handle(), ClosedError);
    EXPECT_THROW((void)context.device(), ClosedError);
    EXPECT_THROW((void)context.is_primary(), ClosedError);
    EXPECT_THROW(context.sync(), ClosedError);
    EXPECT_THROW((void)Stream::create(context), ClosedError);
    EXPECT_THROW((void)Event::create(context), ClosedError);
    EXPECT_THROW(const CurrentContext guard(context), ClosedError);
    EXPECT_THROW((void)Device(0).set_current(context), ClosedError);
    EXPECT_NE(context, Device(0).primary_context());
}

TEST_F(ContextOnFake, guard_restores_what_was_current) {
    const CUcontext before = fake->make_context(0);
    start_with(before);
    {
        const CurrentContext guard(Device(1).primary_context());
        EXPECT_EQ(fake->current(), fake->primaries[1]);
    }
    EXPECT_EQ(fake->current(), before);
}

TEST_F(ContextOnFake, guard_does_nothing_when_it_is_current_already) {
    Device(1).set_current();
    fake->forget_calls();
    {
        const CurrentContext guard(Device(1).primary_context());
    }
    EXPECT_EQ(fake->calls(), std::vector<std::string>{"cuCtxGetCurrent"});
}

TEST(ContextFailures, every_call) {
    testing::check_every_failure([](testing::FakeDriver& fake) {
        const Context context = Context::from_handle(fake.make_context(1));
        context.sync();
        const CurrentContext guard(context);
        (void)Context::current()->device();
        (void)context.device().primary_context();
    });
}

// ---- on a driver -------------------------------------------------------------------------------

TEST_F(ContextOnDriver, primary_context_belongs_to_its_device) {
    const Context context = device().primary_context();
    EXPECT_NE(context.handle(), nullptr);
    EXPECT_EQ(context.device(), device());
    EXPECT_TRUE(context.is_primary());
    EXPECT_EQ(context, Context::from_handle(context.handle()));
    context.sync();
}

TEST_F(ContextOnDriver, guard_is_undone_on_every_thread_alone) {
    const CurrentContext guard(device().primary_context());
    EXPECT_EQ(*Context::current(), device().primary_context());
    std::thread([] { EXPECT_EQ(Context::current(), std::nullopt); }).join();
}

TEST_F(ContextOnDriver, objects_work_with_no_context_current) {
    std::thread([this] {
        const Stream stream = device().create_stream();
        stream.record().sync();
        stream.sync();
        EXPECT_EQ(stream.context(), device().primary_context());
        EXPECT_EQ(Context::current(), std::nullopt);
    }).join();
}

} // namespace cuprum
