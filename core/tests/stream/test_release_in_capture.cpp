// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Buffers whose last share is released while streams are being captured.

#include "driver/table.hpp"
#include "support/device_test.hpp"
#include "support/fake_driver.hpp"

#include <cuprum/cuprum.hpp>

#include <cuda.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cuprum {

namespace {

class ReleaseInCaptureOnFake : public testing::FakeDriverTest {
protected:
    void end_capture(const Stream& stream) {
        fake->streams.at(stream.handle()).is_capturing = false;
    }
};

class ReleaseInCaptureOnDriver : public testing::DeviceTest {};

} // namespace

TEST_F(ReleaseInCaptureOnFake, is_deferred_until_the_capture_is_over) {
    const Stream stream = Device(0).create_stream();
    const auto pool = DeviceMemoryResource::create(Device(0), DeviceMemoryResourceOptions{});
    const auto pinned = LegacyPinnedMemoryResource::create();
    const auto at_once = SynchronousMemoryResource::create(Device(0));
    const auto mapped = VirtualMemoryResource::create(Device(0));
    std::vector<Buffer> buffers{pool->allocate(16, stream), pinned->allocate(16, stream),
                                at_once->allocate(16, stream), mapped->allocate(1, stream)};
    fake->set_capturing(stream.handle());
    fake->forget_calls();
    buffers.clear();
    EXPECT_EQ(fake->count("cuMemFreeAsync"), 0);
    EXPECT_EQ(fake->count("cuStreamSynchronize"), 0);
    Device(0).create_stream().sync();
    EXPECT_EQ(fake->count("cuMemFreeAsync"), 0) << "it still goes on";
    EXPECT_EQ(fake->live().allocations, 2);
    EXPECT_EQ(fake->live().host_allocations, 1);
    end_capture(stream);
    Device(0).create_stream().sync();
    EXPECT_EQ(fake->live().allocations, 0);
    EXPECT_EQ(fake->live().host_allocations, 0);
    EXPECT_EQ(fake->live().mappings, 0);
    EXPECT_EQ(fake->count("cuMemFreeAsync"), 1);
}

TEST_F(ReleaseInCaptureOnFake, goes_to_the_stream_that_was_named) {
    const Stream stream = Device(0).create_stream();
    const Stream captured = Device(0).create_stream();
    Buffer buffer = Device(0).allocate(16, stream);
    fake->set_capturing(captured.handle());
    buffer.close(captured);
    EXPECT_EQ(fake->live().allocations, 1);
    end_capture(captured);
    stream.sync();
    EXPECT_EQ(fake->last_free.stream, captured.handle());
    EXPECT_EQ(fake->live().allocations, 0);
}

TEST_F(ReleaseInCaptureOnFake, waits_while_the_default_stream_would_have_to_wait_for_a_capture) {
    Device(0).set_current();
    Buffer buffer = Device(0).allocate(16, Stream::legacy_default());
    fake->fail("cuStreamIsCapturing", CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    buffer.close();
    EXPECT_EQ(fake->live().allocations, 1);
    Device(0).sync();
    EXPECT_EQ(fake->live().allocations, 0);
    EXPECT_EQ(fake->last_free.stream, CU_STREAM_LEGACY);
}

TEST_F(ReleaseInCaptureOnFake, memory_is_freed_if_the_capture_state_is_unknown) {
    const Stream stream = Device(0).create_stream();
    Buffer buffer = Device(0).allocate(16, stream);
    (void)stream.handle(); // from here on other code may capture the stream
    fake->fail("cuStreamIsCapturing", CUDA_ERROR_UNKNOWN);
    buffer.close();
    EXPECT_EQ(fake->live().allocations, 0);
    const auto said = warnings.take(WarningKind::Release);
    ASSERT_EQ(said.size(), 1U);
    EXPECT_NE(said[0].find("cuStreamIsCapturing"), std::string::npos) << said[0];
}

TEST_F(ReleaseInCaptureOnFake, a_failed_change_of_the_capture_mode_does_not_stay) {
    const Stream stream = Device(0).create_stream();
    Buffer buffer = Device(0).allocate(16, stream);
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL; // whatever it was before
    ASSERT_EQ(driver::table().cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
    fake->fail("cuThreadExchangeStreamCaptureMode", CUDA_ERROR_UNKNOWN);
    buffer.close();
    EXPECT_EQ(fake->live().allocations, 0);
    EXPECT_EQ(warnings.take(WarningKind::Release).size(), 1U);
    mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    ASSERT_EQ(driver::table().cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
    EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) << "the thread's mode is as before";
}

TEST_F(ReleaseInCaptureOnFake, runs_before_an_allocation_fails) {
    const Stream stream = Device(0).create_stream();
    const Stream captured = Device(0).create_stream();
    Buffer buffer = Device(0).allocate(16, captured);
    fake->set_capturing(captured.handle());
    buffer.close();
    end_capture(captured);
    ASSERT_EQ(fake->live().allocations, 1);
    fake->fail("cuMemAllocFromPoolAsync", CUDA_ERROR_OUT_OF_MEMORY);
    buffer = Device(0).allocate(16, stream);
    EXPECT_EQ(fake->live().allocations, 1);
    fake->fail("cuMemAllocFromPoolAsync", CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_THROW((void)Device(0).allocate(16, stream), OutOfMemoryError) << "nothing to free";
}

TEST_F(ReleaseInCaptureOnDriver, never_ends_a_capture_of_another_library) {
    const auto begin_capture = reinterpret_cast<CUresult (*)(CUstream, CUstreamCaptureMode)>(
        driver::resolve("cuStreamBeginCapture", 10010));
    const auto end_capture = reinterpret_cast<CUresult (*)(CUstream, CUgraph*)>(
        driver::resolve("cuStreamEndCapture", 10000));
    const auto destroy_graph =
        reinterpret_cast<CUresult (*)(CUgraph)>(driver::resolve("cuGraphDestroy", 10000));
    const CurrentContext current(device().primary_context());
    const Stream theirs = device().create_stream();
    for (const auto mode : {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL}) {
        const auto pinned = LegacyPinnedMemoryResource::create();
        const auto at_once = SynchronousMemoryResource::create(device());
        std::vector<char> memory(4096);
        auto pool = DeviceMemoryResource::create(device(), {});
        std::vector<Buffer> buffers{
            device().allocate(64, stream()), pool->allocate(64, stream()),
            pinned->allocate(64, stream()),  pinned->allocate(64),
            at_once->allocate(64, stream()), register_host_memory(memory.data(), memory.size())};
        if (device().properties().get("virtual_memory_management_supported", 0) != 0) {
            buffers.push_back(VirtualMemoryResource::create(device())->allocate(1, stream()));
        }
        std::optional<ObjectCode> code = compile("extern \"C\" __global__ void empty() {}");
        static_cast<void>(code->get_kernel("empty").handle());
        std::optional<Stream> ours = device().create_stream();
        std::optional<Event> event = ours->record();
        stream().sync();
        ASSERT_EQ(begin_capture(theirs.handle(), mode), CUDA_SUCCESS);
        buffers.clear();
        pool.reset();
        code.reset();
        event.reset();
        ours.reset();
        CUgraph graph = nullptr;
        EXPECT_EQ(end_capture(theirs.handle(), &graph), CUDA_SUCCESS) << "mode " << mode;
        EXPECT_EQ(destroy_graph(graph), CUDA_SUCCESS);
    }
    EXPECT_TRUE(warnings.take(WarningKind::Release).empty());
}

TEST(ReleaseInCaptureFailures, every_call) {
    testing::check_every_failure([](testing::FakeDriver&) {
        const Stream stream = Device(0).create_stream();
        (void)stream.handle();
        const auto pinned = LegacyPinnedMemoryResource::create();
        const Buffer first = Device(0).allocate(16, stream);
        const Buffer second = pinned->allocate(16, stream);
    });
}

} // namespace cuprum
