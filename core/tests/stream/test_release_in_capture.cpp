// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Buffers whose last share is released while streams are being captured.

#include "support/fake_driver.hpp"

#include <cuprum/cuprum.hpp>

#include <cuda.h>
#include <gtest/gtest.h>

#include <memory>
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

} // namespace

TEST_F(ReleaseInCaptureOnFake, is_deferred_until_the_capture_ends) {
    const Stream stream = Device(0).create_stream();
    const DeviceMemoryResource pool(Device(0), DeviceMemoryResourceOptions{});
    const auto pinned = std::make_shared<LegacyPinnedMemoryResource>();
    const auto at_once = std::make_shared<SynchronousMemoryResource>(Device(0));
    const auto mapped = std::make_shared<VirtualMemoryResource>(Device(0));
    std::vector<Buffer> buffers{pool.allocate(16, stream), pinned->allocate(16, stream),
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

TEST(ReleaseInCaptureFailures, every_call) {
    testing::check_every_failure([](testing::FakeDriver&) {
        const Stream stream = Device(0).create_stream();
        (void)stream.handle();
        const auto pinned = std::make_shared<LegacyPinnedMemoryResource>();
        const Buffer first = Device(0).allocate(16, stream);
        const Buffer second = pinned->allocate(16, stream);
    });
}

} // namespace cuprum
