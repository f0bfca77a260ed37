// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Green contexts and the device resources that they use.

#include "support/driver_test.hpp"
#include "support/expect_error.hpp"
#include "support/fake_driver.hpp"

#include <cuprum/context.hpp>
#include <cuprum/detail/access.hpp>
#include <cuprum/device_resources.hpp>
#include <cuprum/error.hpp>
#include <cuprum/event.hpp>
#include <cuprum/stream.hpp>

#include <cuda.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace cuprum {

namespace {

class DeviceResourcesOnFake : public testing::FakeDriverTest {
protected:
    static constexpr int STRUCTURED = 13010;
};

class DeviceResourcesOnDriver : public testing::DriverTest {
protected:
    void SetUp() override {
        DriverTest::SetUp();
        if (IsSkipped()) {
            return;
        }
        try {
            (void)device().resources().sm();
        } catch (const CUDAError& error) {
            GTEST_SKIP() << "no green contexts: " << error.what();
        }
    }
};

} // namespace

// ---- on the fake driver ------------------------------------------------------------------------

TEST_F(DeviceResourcesOnFake, multiprocessors_of_a_device) {
    const SMResource sm = Device(1).resources().sm();
    EXPECT_EQ(sm.sm_count(), 132U);
    EXPECT_EQ(sm.min_partition_size(), 8U);
    EXPECT_EQ(sm.coscheduled_alignment(), 8U);
    EXPECT_EQ(sm.flags(), 0U);
    EXPECT_EQ(sm.device(), Device(1));
    EXPECT_TRUE(sm.is_usable());
    EXPECT_NE(sm.handle(), nullptr);
    EXPECT_EQ(fake->count("cuDevicePrimaryCtxRetain"), 0);
}

TEST_F(DeviceResourcesOnFake, older_driver_splits_into_groups_of_one_size) {
    const SMResource sm = Device(0).resources().sm();
    const SMSplit split = sm.split({{.count = 60}, {.count = 60}});
    ASSERT_EQ(split.groups.size(), 2U);
    EXPECT_EQ(split.groups[0].sm_count(), 64U) << "rounded up";
    EXPECT_EQ(split.remainder.sm_count(), 4U);
    EXPECT_EQ(sm.sm_count(), 132U) << "the whole stays as it is";
    EXPECT_EQ(sm.split({{.count = 3, .backfill = true}}).groups[0].sm_count(), 3U);
    EXPECT_EQ(fake->count("cuDevSmResourceSplit"), 0);
}

TEST_F(DeviceResourcesOnFake, older_driver_refuses_what_it_cannot_do_by_name) {
    const SMResource sm = Device(0).resources().sm();
    for (const SMGroup& odd : {SMGroup{.count = 16}, SMGroup{.count = 8, .coscheduled_sm_count = 8},
                               SMGroup{.count = 8, .preferred_coscheduled_sm_count = 8},
                               SMGroup{.count = 8, .backfill = true}}) {
        testing::expect_error<NotSupportedError>([&] { (void)sm.split({{.count = 8}, odd}); },
                                                 {"cuDevSmResourceSplit", "13.1", "13.0"});
    }
}

TEST_F(DeviceResourcesOnFake, too_many_groups_are_an_error_with_the_numbers) {
    const SMResource sm = Device(0).resources().sm();
    testing::expect_error<CUDAError>(
        [&] { (void)sm.split({{.count = 128}, {.count = 128}}); },
        {"CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION", "1 groups of 128", "2 were asked for"});
    testing::expect_error<std::invalid_argument>(
        [&] { (void)sm.split(std::span<const SMGroup>()); }, {"groups is empty"});
    fake->version = STRUCTURED;
    testing::expect_error<CUDAError>([&] { (void)sm.split({{.count = 128}, {}, {.count = 64}}); },
                                     {"CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION",
                                      "groups of 128, any number, 64 multi", "there are 132",
                                      "at least 8", "multiple of 8"});
    fake->fail("cuDevSmResourceSplit", CUDA_ERROR_DEVICE_UNAVAILABLE);
    testing::expect_error<CUDAError>([&] { (void)sm.split({{.count = 8}}); },
                                     {"CUDA_ERROR_DEVICE_UNAVAILABLE"});
}

TEST_F(DeviceResourcesOnFake, newer_driver_splits_into_groups_of_any_size) {
    fake->version = STRUCTURED;
    const SMResource sm = Device(0).resources().sm();
    const SMSplit split = sm.split({{.count = 16}, {.count = 30, .backfill = true}, {}});
    ASSERT_EQ(split.groups.size(), 3U);
    EXPECT_EQ(split.groups[0].sm_count(), 16U);
    EXPECT_EQ(split.groups[1].sm_count(), 30U);
    EXPECT_EQ(split.groups[2].sm_count(), 8U);
    EXPECT_EQ(split.remainder.sm_count(), 132U - 54U);
    EXPECT_EQ(fake->count("cuDevSmResourceSplitByCount"), 0);
}

TEST_F(DeviceResourcesOnFake, dry_run_returns_sizes_but_no_usable_resources) {
    for (const int version : {13000, STRUCTURED}) {
        fake->version = version;
        const SMSplit split = Device(0).resources().sm().split({{.count = 16}}, true);
        ASSERT_EQ(split.groups.size(), 1U);
        EXPECT_EQ(split.groups[0].sm_count(), 16U);
        EXPECT_EQ(split.remainder.sm_count(), 132U - 16U);
        EXPECT_FALSE(split.groups[0].is_usable());
        testing::expect_error<std::invalid_argument>(
            [&] { (void)Device(0).create_context({.resources = {split.groups[0]}}); },
            {"dry-run SMResource"});
    }
}

TEST_F(DeviceResourcesOnFake, work_queues_need_a_newer_driver) {
    testing::expect_error<NotSupportedError>([] { (void)Device(0).resources().workqueue(); },
                                             {"WorkqueueResource", "13.1", "13.0"});
    fake->version = STRUCTURED;
    const WorkqueueResource queues = Device(1).resources().workqueue();
    EXPECT_EQ(queues.device(), Device(1));
    EXPECT_EQ(queues.concurrency_limit(), 4U);
    EXPECT_EQ(queues.sharing_scope(), WorkqueueSharingScope::DeviceContext);
    queues.configure({.sharing_scope = WorkqueueSharingScope::GreenContextBalanced});
    queues.configure({.concurrency_limit = 9});
    EXPECT_EQ(queues.sharing_scope(), WorkqueueSharingScope::GreenContextBalanced);
    EXPECT_EQ(queues.concurrency_limit(), 9U);
    EXPECT_EQ(Device(1).resources().workqueue().concurrency_limit(), 4U);
    testing::expect_error<std::invalid_argument>(
        [&] { queues.configure({.concurrency_limit = 0}); }, {"concurrency_limit must be >= 1"});
}

TEST_F(DeviceResourcesOnFake, green_context_has_its_part_and_outlives_what_it_was_made_of) {
    start_with(fake->primaries[0]);
    std::optional<Context> context;
    {
        const SMSplit split = Device(1).resources().sm().split({{.count = 16}});
        context = Device(1).create_context({.resources = {split.groups[0]}});
    }
    EXPECT_TRUE(context->is_green());
    EXPECT_FALSE(context->is_primary());
    EXPECT_EQ(context->device(), Device(1));
    EXPECT_EQ(context->resources().sm().sm_count(), 16U);
    EXPECT_EQ(Device(1).primary_context().resources().sm().sm_count(), 132U);
    const Stream stream = Stream::create(*context);
    EXPECT_EQ(detail::Access::state(stream.context()), detail::Access::state(*context));
    EXPECT_EQ(stream.resources().sm().sm_count(), 16U);
    EXPECT_EQ(detail::Access::state(Stream::from_handle(stream.handle()).context()),
              detail::Access::state(*context));
    const Event event = stream.record();
    EXPECT_EQ(event.context(), context);
    context->record(event);
    context->wait(event);
    EXPECT_EQ(fake->count("cuGreenCtxRecordEvent"), 1);
    context->close();
    EXPECT_EQ(fake->live().contexts, 1) << "stream and event have shares";
    EXPECT_EQ(testing::FakeDriver::current(), fake->primaries[0]);
}

TEST_F(DeviceResourcesOnFake, streams_of_a_green_context_must_not_block) {
    const Context context = Device(0).create_context({.resources = {Device(0).resources().sm()}});
    testing::expect_error<std::invalid_argument>(
        [&] { (void)Stream::create(context, {.nonblocking = false}); }, {"must be non-blocking"});
    EXPECT_EQ(Stream::create(context, {.priority = -2}).priority(), -2);
}

TEST_F(DeviceResourcesOnFake, device_methods_act_in_a_green_context_that_is_current) {
    const Context context = Device(0).create_context({.resources = {Device(0).resources().sm()}});
    EXPECT_EQ(Device(0).set_current(context), std::nullopt);
    EXPECT_EQ(detail::Access::state(Device(0).create_stream().context()),
              detail::Access::state(context));
    EXPECT_EQ(Device(0).create_event().context(), context);
    EXPECT_EQ(Device(0).set_current(Device(0).primary_context()), context);
}

TEST_F(DeviceResourcesOnFake, wrong_resources_are_refused) {
    fake->version = STRUCTURED;
    testing::expect_error<std::invalid_argument>([] { (void)Device(0).create_context({}); },
                                                 {"at least one SMResource"});
    testing::expect_error<std::invalid_argument>(
        [] { (void)Device(0).create_context({.resources = {Device(0).resources().workqueue()}}); },
        {"at least one SMResource"});
    testing::expect_error<std::invalid_argument>(
        [] { (void)Device(0).create_context({.resources = {Device(1).resources().sm()}}); },
        {"device 1", "expected those of device 0"});
}

TEST(DeviceResourcesFailures, every_call) {
    for (const int version : {13000, 13010}) {
        testing::check_every_failure([version](testing::FakeDriver& fake) {
            fake.version = version;
            const SMSplit split = Device(1).resources().sm().split({{.count = 16}});
            ContextOptions options{.resources = {split.groups[0]}};
            if (version > 13000) {
                options.resources.emplace_back(Device(1).resources().workqueue());
            }
            const Context context = Device(1).create_context(options);
            (void)context.resources().sm();
            (void)Device(1).primary_context().resources().sm();
            const Stream stream = Stream::create(context);
            const Event event = stream.record();
            context.record(event);
            context.wait(event);
        });
    }
}

// ---- on a driver -------------------------------------------------------------------------------

TEST_F(DeviceResourcesOnDriver, split_keeps_the_count) {
    const SMResource sm = device().resources().sm();
    EXPECT_EQ(sm.sm_count(), static_cast<unsigned>(device().properties().multiprocessor_count()));
    const unsigned count = sm.min_partition_size();
    const SMSplit split = sm.split({{.count = count}});
    ASSERT_EQ(split.groups.size(), 1U);
    EXPECT_GE(split.groups[0].sm_count(), count);
    EXPECT_LE(split.groups[0].sm_count() + split.remainder.sm_count(), sm.sm_count());
    EXPECT_EQ(sm.split({{.count = count}}, true).groups[0].sm_count(), split.groups[0].sm_count());
}

TEST_F(DeviceResourcesOnDriver, work_runs_in_a_green_context) {
    const SMResource sm = device().resources().sm();
    const SMSplit split = sm.split({{.count = sm.min_partition_size()}});
    const Context context = device().create_context({.resources = {split.groups[0]}});
    EXPECT_TRUE(context.is_green());
    EXPECT_EQ(context.resources().sm().sm_count(), split.groups[0].sm_count());
    const Stream stream = Stream::create(context);
    const Event event = stream.record();
    EXPECT_EQ(stream.context(), context);
    EXPECT_EQ(event.context(), context);
    stream.sync();
    EXPECT_TRUE(event.is_done());
}

} // namespace cuprum
