// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Copies and slices of one buffer that are closed on different streams and by different threads.

#include "driver/deferred_release.hpp"
#include "stream/stream_state.hpp"
#include "support/device_test.hpp"
#include "support/fake_driver.hpp"

#include <cuprum/cuprum.hpp>

#include <cuda.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace cuprum {

namespace {

class BufferSharesOnFake : public testing::FakeDriverTest {
protected:
    [[nodiscard]] int waits() const { return fake->count("cuStreamWaitEvent"); }

    /// Returns whether the memory was freed on a stream.
    [[nodiscard]] bool is_freed_on(const Stream& stream) const {
        return fake->live().allocations == 0 && fake->last_free.stream == stream.handle();
    }
};

class BufferSharesOnDriver : public testing::DeviceTest {};

constexpr int THREADS = 8;
constexpr int ROUNDS = 50;

/// Runs `work` on several threads that start together.
template <typename Work>
void run_on_threads(const Work& work) {
    std::atomic<int> waiting = THREADS;
    std::vector<std::thread> threads;
    for (int i = 0; i < THREADS; ++i) {
        threads.emplace_back([&, i] {
            --waiting;
            while (waiting > 0) {
                std::this_thread::yield();
            }
            work(i);
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

} // namespace

TEST_F(BufferSharesOnFake, last_share_frees_on_the_stream_that_it_names) {
    const Stream first = Device(0).create_stream();
    const Stream second = Device(0).create_stream();
    Buffer buffer = Device(0).allocate(16, first);
    buffer.close(second);
    EXPECT_TRUE(is_freed_on(second));
    EXPECT_EQ(fake->count("cuEventRecord"), 0) << "one share needs no event";
}

TEST_F(BufferSharesOnFake, other_shares_keep_their_stream_and_the_free_waits) {
    const Stream first = Device(0).create_stream();
    const Stream second = Device(0).create_stream();
    Buffer buffer = Device(0).allocate(16, first);
    Buffer copy = buffer;
    copy.close(second);
    EXPECT_TRUE(copy.is_closed());
    EXPECT_EQ(buffer.deallocation_stream(), first);
    EXPECT_EQ(fake->count("cuEventRecord"), 1);
    EXPECT_EQ(fake->last_record.stream, second.handle());
    EXPECT_EQ(waits(), 0) << "nothing waits before the free";
    buffer.close();
    EXPECT_EQ(waits(), 1);
    EXPECT_TRUE(is_freed_on(first));
    EXPECT_EQ(fake->live().events, 0);
}

TEST_F(BufferSharesOnFake, last_share_waits_for_the_others_on_its_own_stream) {
    const Stream first = Device(0).create_stream();
    const Stream second = Device(0).create_stream();
    const Stream third = Device(0).create_stream();
    Buffer buffer = Device(0).allocate(16, first);
    Buffer copy = buffer;
    copy.close(second);
    buffer.close(third);
    EXPECT_EQ(waits(), 1);
    EXPECT_TRUE(is_freed_on(third));
}

TEST_F(BufferSharesOnFake, one_event_serves_all_shares_that_close_on_one_stream) {
    const Stream first = Device(0).create_stream();
    const Stream second = Device(0).create_stream();
    Buffer buffer = Device(0).allocate(16, first);
    for (int i = 0; i < 100; ++i) {
        Buffer copy = buffer;
        copy.close(second);
    }
    EXPECT_EQ(fake->live().events, 1);
    EXPECT_EQ(fake->count("cuEventRecord"), 100);
    buffer.close();
    EXPECT_EQ(waits(), 1);
}

TEST_F(BufferSharesOnFake, points_that_are_reached_are_not_kept) {
    const Stream first = Device(0).create_stream();
    Buffer buffer = Device(0).allocate(16, first);
    for (int i = 0; i < 100; ++i) {
        Buffer copy = buffer;
        copy.close(Device(0).create_stream());
    }
    EXPECT_EQ(fake->live().events, 1);
    EXPECT_EQ(fake->live().streams, 2) << "the first one and that of the last point";
    buffer.close();
    EXPECT_EQ(fake->live().streams, 1);
}

TEST_F(BufferSharesOnFake, a_deferred_release_may_close_a_share_while_another_one_closes) {
    const Stream first = Device(0).create_stream();
    const Stream second = Device(0).create_stream();
    Buffer buffer = Device(0).allocate(16, first);
    Buffer early = buffer;
    Buffer late = buffer;
    early.close(Device(0).create_stream()); // only the closing point holds this stream
    detail::defer_release(std::shared_ptr<void>(
        nullptr, [inner = Buffer(buffer), second](void*) mutable { inner.close(second); }));
    // Drops the closing point, and with it the stream, whose end runs the deferred release.
    late.close(Device(0).create_stream());
    EXPECT_FALSE(detail::has_deferred_releases());
    EXPECT_EQ(fake->last_record.stream, second.handle());
    buffer.close();
    EXPECT_EQ(waits(), 1) << "for the point that was left";
    EXPECT_TRUE(is_freed_on(first));
    EXPECT_EQ(fake->live().events, 0);
}

TEST_F(BufferSharesOnFake, slices_count_as_shares) {
    const Stream first = Device(0).create_stream();
    const Stream second = Device(0).create_stream();
    Buffer whole = Device(0).allocate(16, first);
    Buffer slice = whole.slice(4, 4);
    Buffer last = slice.slice(1, 1);
    slice.close(second);
    EXPECT_EQ(last.deallocation_stream(), first);
    whole.close();
    last.close(second);
    EXPECT_TRUE(is_freed_on(second)) << "the last slice is the last share";
    EXPECT_EQ(fake->live().events, 0);
}

TEST_F(BufferSharesOnFake, memory_without_a_stream_waits_on_the_host) {
    const Stream stream = Device(0).create_stream();
    const auto pinned = LegacyPinnedMemoryResource::create();
    Buffer buffer = pinned->allocate(16);
    Buffer copy = buffer;
    copy.close(stream);
    EXPECT_EQ(buffer.deallocation_stream(), std::nullopt);
    buffer.close();
    EXPECT_EQ(fake->count("cuEventSynchronize"), 1);
    EXPECT_EQ(fake->live().host_allocations, 0);
}

TEST_F(BufferSharesOnFake, wrapped_memory_records_nothing) {
    const Stream stream = Device(0).create_stream();
    Buffer buffer = Buffer::from_handle(4096, 16);
    Buffer copy = buffer;
    copy.close(stream);
    EXPECT_EQ(fake->count("cuEventRecord"), 0);
}

TEST_F(BufferSharesOnFake, capturing_stream_is_left_alone) {
    const Stream first = Device(0).create_stream();
    const Stream captured = Device(0).create_stream();
    Buffer buffer = Device(0).allocate(16, first);
    Buffer copy = buffer;
    fake->set_capturing(captured.handle());
    copy.close(captured);
    EXPECT_TRUE(copy.is_closed());
    EXPECT_EQ(fake->count("cuEventRecord"), 0) << "the event would be captured";
    buffer.close();
    EXPECT_TRUE(is_freed_on(first));
}

TEST_F(BufferSharesOnFake, host_function_closes_its_share_later) {
    const Stream first = Device(0).create_stream();
    const Stream second = Device(0).create_stream();
    Buffer buffer = Device(0).allocate(16, first);
    Buffer copy = buffer;
    std::size_t calls = 0;
    auto held = std::make_unique<detail::HostFunction>([&] {
        calls = fake->calls().size();
        copy.close(second);
        calls = fake->calls().size() - calls;
    });
    detail::call_host_function(held.release());
    EXPECT_EQ(calls, 0U) << "a host function must not call the driver";
    EXPECT_TRUE(copy.is_closed());
    first.sync();
    EXPECT_EQ(fake->count("cuEventRecord"), 1);
    buffer.close();
    EXPECT_EQ(waits(), 1);
    EXPECT_TRUE(is_freed_on(first));
}

TEST_F(BufferSharesOnFake, share_stays_open_if_its_event_cannot_be_recorded) {
    const Stream first = Device(0).create_stream();
    const Stream second = Device(0).create_stream();
    Buffer buffer = Device(0).allocate(16, first);
    Buffer copy = buffer;
    fake->fail("cuEventRecord", CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_THROW(copy.close(second), CUDAError);
    EXPECT_FALSE(copy.is_closed());
    EXPECT_EQ(fake->live().events, 0);
}

TEST(BufferSharesFailures, every_call) {
    testing::check_every_failure([](testing::FakeDriver&) {
        const Stream first = Device(0).create_stream();
        const Stream second = Device(1).create_stream();
        Buffer buffer = Device(0).allocate(16, first);
        Buffer copy = buffer;
        copy.close(second);
        buffer.close();
    });
}

TEST_F(BufferSharesOnFake, threads_close_and_redirect_shares_at_the_same_time) {
    const Stream first = Device(0).create_stream();
    std::vector<Stream> streams;
    for (int i = 0; i < THREADS; ++i) {
        streams.push_back(Device(i % 2).create_stream());
    }
    for (int round = 0; round < ROUNDS; ++round) {
        const Buffer buffer = Device(0).allocate(64, first);
        std::vector<Buffer> copies(THREADS, buffer);
        std::vector<Buffer> slices(THREADS, buffer.slice(8, 8));
        run_on_threads([&](int thread) {
            const auto i = static_cast<std::size_t>(thread);
            slices[i].set_deallocation_stream(streams[i]);
            EXPECT_NE(copies[i].deallocation_stream(), std::nullopt);
            copies[i].close(streams[i]);
            slices[i].close(streams[i]);
        });
    }
    EXPECT_EQ(fake->live().allocations, 0);
    EXPECT_EQ(fake->live().events, 0);
}

// ---- on a driver -------------------------------------------------------------------------------

TEST_F(BufferSharesOnDriver, threads_write_through_copies_and_close_them_on_their_streams) {
    std::vector<Stream> streams;
    for (int i = 0; i < THREADS; ++i) {
        streams.push_back(device().create_stream());
    }
    for (int round = 0; round < ROUNDS / 5; ++round) {
        Buffer buffer = device().allocate(THREADS * sizeof(std::uint32_t), stream());
        const Event made = stream().record();
        std::vector<Buffer> slices;
        for (std::size_t i = 0; i < THREADS; ++i) {
            slices.push_back(buffer.slice(i * sizeof(std::uint32_t), sizeof(std::uint32_t)));
        }
        run_on_threads([&](int thread) {
            const auto i = static_cast<std::size_t>(thread);
            streams[i].wait(made);
            slices[i].fill(std::uint32_t{7}, streams[i]);
            slices[i].close(streams[i]);
        });
        for (const Stream& each : streams) {
            stream().wait(each);
        }
        EXPECT_EQ(download<std::uint32_t>(buffer), std::vector<std::uint32_t>(THREADS, 7));
        buffer.close();
    }
}

} // namespace cuprum
