// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/driver_test.hpp"
#include "support/expect_error.hpp"
#include "support/fake_driver.hpp"

#include <cuprum/buffer.hpp>
#include <cuprum/error.hpp>

#include <cuda.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace cuprum {

namespace {

/// Allocates host memory and records the requests.
class CountingResource final : public MemoryResource {
public:
    CUdeviceptr allocate_bytes(std::size_t bytes, const Stream&) override {
        requested.push_back(bytes);
        return is_empty ? 0 : 0x1000 * requested.size();
    }

    void deallocate_bytes(CUdeviceptr pointer, std::size_t, const Stream& stream) override {
        freed.push_back(pointer);
        freed_on = stream.handle();
        if (throws_anything) {
            throw 3; // NOLINT(hicpp-exception-baseclass): that is the point
        }
        if (fails) {
            throw std::runtime_error("the arena is gone");
        }
    }

    bool is_device_accessible() const noexcept override { return false; }

    bool is_host_accessible() const noexcept override { return true; }

    int device_id() const noexcept override { return -1; }

    std::vector<std::size_t> requested;
    std::vector<CUdeviceptr> freed;
    CUstream freed_on = nullptr;
    bool fails = false;
    bool throws_anything = false;
    bool is_empty = false;
};

class BufferOnFake : public testing::FakeDriverTest {};

class BufferOnDriver : public testing::DriverTest {
protected:
    template <typename T>
    static std::vector<T> read(const Buffer& buffer, const Stream& stream) {
        std::vector<T> values(buffer.size() / sizeof(T));
        buffer.copy_to_host(std::span<T>(values), stream);
        stream.sync();
        return values;
    }
};

} // namespace

// ---- on the fake driver: freeing ---------------------------------------------------------------

TEST_F(BufferOnFake, is_freed_on_its_stream_from_any_thread) {
    const CUcontext context = fake->make_context(0);
    const CUstream handle = fake->make_stream(context);
    Buffer buffer = Device(0).allocate(16, Stream::from_handle(handle));
    const CUdeviceptr pointer = buffer.handle();
    std::thread([moved = std::move(buffer)]() mutable {
        moved.close();
        EXPECT_EQ(testing::FakeDriver::current(), nullptr);
    }).join();
    EXPECT_EQ(fake->last_free.pointer, pointer);
    EXPECT_EQ(fake->last_free.stream, handle);
}

TEST_F(BufferOnFake, is_always_freed_in_relaxed_capture_mode) {
    const Stream stream = Device(0).create_stream();
    const std::vector<std::string> calls{"cuThreadExchangeStreamCaptureMode", "cuMemFreeAsync",
                                         "cuThreadExchangeStreamCaptureMode"};
    const auto calls_of_a_free = [&] {
        Buffer buffer = Device(0).allocate(64, stream);
        fake->forget_calls();
        buffer.close();
        return fake->calls();
    };
    EXPECT_EQ(calls_of_a_free(), calls);
    // What the library itself reads about a stream changes nothing.
    static_cast<void>(stream.id());
    static_cast<void>(stream.synchronization_policy());
    static_cast<void>(stream.access_policy_window());
    EXPECT_EQ(calls_of_a_free(), calls);
    // Others may capture the stream from here on, so the free asks first.
    static_cast<void>(stream.handle());
    EXPECT_EQ(calls_of_a_free(),
              (std::vector<std::string>{"cuStreamIsCapturing", "cuThreadExchangeStreamCaptureMode",
                                        "cuMemFreeAsync", "cuThreadExchangeStreamCaptureMode"}));
    EXPECT_EQ(fake->live().allocations, 0);
}

TEST_F(BufferOnFake, is_freed_in_its_context_by_a_driver_that_wants_it_current) {
    const CUcontext context = fake->make_context(0);
    const CUstream handle = fake->make_stream(context);
    Buffer buffer = Device(0).allocate(16, Stream::from_handle(handle));
    fake->wants_current = true;
    std::thread([moved = std::move(buffer)]() mutable {
        moved.close();
        EXPECT_EQ(testing::FakeDriver::current(), nullptr);
    }).join();
    EXPECT_EQ(fake->last_free.stream, handle);
    EXPECT_EQ(fake->last_free.current, context);
    EXPECT_EQ(fake->count("cuMemFreeAsync"), 2);
}

TEST_F(BufferOnFake, copies_and_fills_need_no_current_context) {
    const Stream stream = Device(1).create_stream();
    const Buffer buffer = Device(1).allocate(16, stream);
    const Buffer other = Device(1).allocate(16, stream);
    fake->forget_calls();
    buffer.fill(std::uint8_t{0}, stream);
    EXPECT_EQ(fake->calls(), std::vector<std::string>{"cuMemsetD8Async"});
    fake->forget_calls();
    buffer.copy_to(other, stream);
    EXPECT_EQ(fake->calls(), std::vector<std::string>{"cuMemcpyAsync"});
}

TEST_F(BufferOnFake, copies_and_fills_retry_with_the_context_current) {
    const Stream stream = Device(1).create_stream();
    const Buffer buffer = Device(1).allocate(16, stream);
    const Buffer other = Device(1).allocate(16, stream);
    fake->wants_current = true;
    const auto check = [&](const char* entry, const auto& act) {
        SCOPED_TRACE(entry);
        start_with(nullptr);
        fake->forget_calls();
        act();
        EXPECT_EQ(fake->count(entry), 2);
        EXPECT_EQ(fake->count("cuCtxPopCurrent"), 1);
        EXPECT_EQ(fake->current(), nullptr);
        Device(0).set_current();
        EXPECT_NO_THROW(act());
        EXPECT_EQ(fake->current(), fake->primaries[0]);
        Device(1).set_current();
        fake->forget_calls();
        fake->fail(entry, CUDA_ERROR_INVALID_VALUE);
        EXPECT_THROW(act(), CUDAError);
        EXPECT_EQ(fake->count(entry), 1) << "it was current already";
    };
    check("cuMemsetD8Async", [&] { buffer.fill(std::uint8_t{0}, stream); });
    check("cuMemcpyAsync", [&] { buffer.copy_to(other, stream); });
}

TEST_F(BufferOnFake, copies_on_a_default_stream_are_made_in_the_current_context) {
    const Stream stream = Device(0).create_stream();
    const Buffer buffer = Device(0).allocate(16, stream);
    const Buffer other = Device(0).allocate(16, stream);
    EXPECT_THROW(buffer.copy_to(other, Stream::legacy_default()), CUDAError) << "there is none";
    Device(0).set_current();
    fake->forget_calls();
    buffer.copy_to(other, Stream::legacy_default());
    EXPECT_EQ(fake->count("cuMemcpyAsync"), 1);
}

TEST_F(BufferOnFake, closing_on_the_stream_it_was_allocated_on_is_a_plain_free) {
    const Stream stream = Device(0).create_stream();
    Buffer buffer = Device(0).allocate(16, stream);
    fake->forget_calls();
    buffer.close(stream);
    EXPECT_EQ(fake->calls(),
              (std::vector<std::string>{"cuThreadExchangeStreamCaptureMode", "cuMemFreeAsync",
                                        "cuThreadExchangeStreamCaptureMode"}));
}

TEST_F(BufferOnFake, asking_about_memory_of_a_pool_does_not_change_how_it_is_freed) {
    const Stream stream = Device(0).create_stream();
    Buffer buffer = Device(0).allocate(16, stream);
    const CUdeviceptr pointer = buffer.handle();
    EXPECT_FALSE(buffer.is_managed()); // its pool is not managed, but the driver is asked too
    Buffer part = buffer.slice(4, 8);
    EXPECT_FALSE(part.is_managed());
    buffer.close();
    EXPECT_EQ(fake->count("cuMemFreeAsync"), 0);
    part.close();
    EXPECT_EQ(fake->last_free.pointer, pointer);
    EXPECT_EQ(fake->count("cuMemFreeAsync"), 1);
}

TEST_F(BufferOnFake, keeps_its_stream_until_it_is_freed) {
    Stream stream = Device(0).create_stream();
    Buffer buffer = Device(0).allocate(16, stream);
    stream.close();
    EXPECT_EQ(fake->live().streams, 1);
    buffer.close();
    EXPECT_EQ(fake->live().streams, 0);
    EXPECT_EQ(fake->live().allocations, 0);
}

TEST_F(BufferOnFake, copies_share_the_memory) {
    const Stream stream = Device(0).create_stream();
    Buffer first = Device(0).allocate(16, stream);
    {
        const Buffer second = first;
        EXPECT_EQ(first, second);
        first.close();
        EXPECT_EQ(fake->live().allocations, 1);
        EXPECT_EQ(second.size(), 16U);
    }
    EXPECT_EQ(fake->live().allocations, 0);
    EXPECT_EQ(fake->count("cuMemFreeAsync"), 1);
}

TEST_F(BufferOnFake, default_stream_means_the_context_it_was_allocated_in) {
    Device(1).set_current();
    Buffer buffer = Device(1).allocate(16, Stream::legacy_default());
    Device(0).set_current();
    buffer.close();
    EXPECT_EQ(fake->last_free.current, fake->primaries[1]);
    EXPECT_EQ(fake->current(), fake->primaries[0]);
}

TEST_F(BufferOnFake, per_thread_stream_of_another_thread_is_replaced_by_the_legacy_one) {
    Device(0).set_current();
    Buffer here = Device(0).allocate(16, Stream::per_thread_default());
    Buffer there = Device(0).allocate(16, Stream::per_thread_default());
    here.close();
    EXPECT_EQ(fake->last_free.stream, CU_STREAM_PER_THREAD);
    std::thread([moved = std::move(there)]() mutable { moved.close(); }).join();
    EXPECT_EQ(fake->last_free.stream, CU_STREAM_LEGACY);
}

TEST_F(BufferOnFake, per_thread_stream_of_an_ended_thread_is_not_reused) {
    Device(0).set_current();
    std::thread::id first;
    Buffer buffer = Buffer::from_handle(0, 0);
    std::thread([&] {
        Device(0).set_current();
        first = std::this_thread::get_id();
        buffer = Device(0).allocate(16, Stream::per_thread_default());
    }).join();
    // The system may give a new thread the id of one that has ended.
    constexpr int attempts = 100;
    for (int i = 0; i < attempts && !buffer.is_closed(); ++i) {
        std::thread([&] {
            if (std::this_thread::get_id() == first) {
                buffer.close();
            }
        }).join();
    }
    if (!buffer.is_closed()) {
        GTEST_SKIP() << "no thread had the identity of the first";
    }
    EXPECT_EQ(fake->last_free.stream, CU_STREAM_LEGACY);
}

TEST_F(BufferOnFake, deallocation_stream_can_be_changed) {
    const Stream first = Device(0).create_stream();
    const Stream second = Device(0).create_stream();
    Buffer buffer = Device(0).allocate(16, first);
    buffer.set_deallocation_stream(second);
    buffer.close();
    EXPECT_EQ(fake->last_free.stream, second.handle());
    Buffer other = Device(0).allocate(16, first);
    other.close(second);
    EXPECT_EQ(fake->last_free.stream, second.handle());
    EXPECT_NO_THROW(other.close(second));
}

TEST_F(BufferOnFake, close_on_a_closed_stream_is_an_error_and_keeps_the_buffer) {
    const Stream stream = Device(0).create_stream();
    Stream closed = Device(0).create_stream();
    closed.close();
    Buffer buffer = Device(0).allocate(16, stream);
    EXPECT_THROW(buffer.close(closed), ClosedError);
    EXPECT_FALSE(buffer.is_closed());
    buffer.close();
    EXPECT_EQ(fake->last_free.stream, stream.handle());
}

TEST_F(BufferOnFake, failed_free_is_a_warning) {
    const Stream stream = Device(0).create_stream();
    fake->fail("cuMemFreeAsync", CUDA_ERROR_ILLEGAL_ADDRESS);
    Device(0).allocate(16, stream).close();
    const auto messages = warnings.take(WarningKind::Release);
    ASSERT_EQ(messages.size(), 1U);
    EXPECT_NE(messages[0].find("could not release a buffer: cuMemFreeAsync failed: "
                               "CUDA_ERROR_ILLEGAL_ADDRESS (700)"),
              std::string::npos)
        << messages[0];
}

TEST_F(BufferOnFake, default_stream_buffer_of_a_destroyed_context_is_reported_and_not_freed) {
    const CUcontext context = fake->make_context(0);
    start_with(context);
    Buffer buffer = Device(0).allocate(16, Stream::legacy_default());
    Device(0).set_current();
    fake->contexts.erase(context);
    buffer.close();
    EXPECT_EQ(warnings.take(WarningKind::Release).size(), 1U);
    EXPECT_EQ(fake->count("cuMemFreeAsync"), 0);
    fake->allocations.clear();
}

// ---- on the fake driver: the rest --------------------------------------------------------------

TEST_F(BufferOnFake, zero_bytes_are_a_null_pointer_without_a_driver_call) {
    const Device device(0);
    const Stream stream = device.create_stream();
    const auto& pool = device.memory_resource();
    fake->forget_calls();
    {
        const Buffer buffer = pool->allocate(0, stream);
        EXPECT_EQ(buffer.handle(), 0U);
        EXPECT_EQ(buffer.size(), 0U);
        EXPECT_EQ(buffer.device_id(), 0);
        buffer.fill(std::uint32_t{1}, stream);
        buffer.copy_to(pool->allocate(0, stream), stream);
        buffer.copy_from_host(std::span<const int>(), stream);
    }
    EXPECT_TRUE(fake->calls().empty());
}

TEST_F(BufferOnFake, closed_buffer_is_an_error) {
    const Stream stream = Device(0).create_stream();
    const Buffer open = Device(0).allocate(16, stream);
    Buffer closed = Device(0).allocate(16, stream);
    closed.close();
    closed.close();
    EXPECT_TRUE(closed.is_closed());
    EXPECT_THROW((void)closed.handle(), ClosedError);
    EXPECT_THROW((void)closed.size(), ClosedError);
    EXPECT_THROW((void)closed.data<float>(), ClosedError);
    EXPECT_THROW((void)closed.device_id(), ClosedError);
    EXPECT_THROW((void)closed.is_device_accessible(), ClosedError);
    EXPECT_THROW((void)closed.is_host_accessible(), ClosedError);
    EXPECT_THROW((void)closed.memory_resource(), ClosedError);
    EXPECT_THROW(closed.copy_to(open, stream), ClosedError);
    EXPECT_THROW(closed.copy_from(open, stream), ClosedError);
    EXPECT_THROW(closed.copy_from_host_bytes("", 0, stream), ClosedError);
    EXPECT_THROW(closed.copy_to_host_bytes(nullptr, 0, stream), ClosedError);
    EXPECT_THROW(closed.fill(std::uint8_t{0}, stream), ClosedError);
    EXPECT_THROW(closed.set_deallocation_stream(stream), ClosedError);
    EXPECT_NE(open, closed);
}

TEST_F(BufferOnFake, copy_of_another_size_is_an_error_with_both_sizes) {
    const Stream stream = Device(0).create_stream();
    const Buffer small = Device(0).allocate(16, stream);
    const Buffer large = Device(0).allocate(32, stream);
    const auto expect_sizes = [](const auto& copy, const char* text) {
        try {
            copy();
            FAIL();
        } catch (const std::invalid_argument& error) {
            EXPECT_STREQ(error.what(), text);
        }
    };
    expect_sizes([&] { small.copy_to(large, stream); },
                 "buffer sizes mismatch: the source has 16 bytes and the destination 32, expected "
                 "the same size");
    expect_sizes([&] { small.copy_from(large, stream); },
                 "buffer sizes mismatch: the source has 32 bytes and the destination 16, expected "
                 "the same size");
    expect_sizes([&] { small.copy_from_host_bytes("abc", 3, stream); },
                 "buffer sizes mismatch: the source has 3 bytes and the destination 16, expected "
                 "the same size");
    EXPECT_EQ(fake->count("cuMemcpyAsync"), 0);
}

TEST_F(BufferOnFake, fill_width_must_divide_the_size) {
    const Stream stream = Device(0).create_stream();
    const Buffer buffer = Device(0).allocate(6, stream);
    EXPECT_NO_THROW(buffer.fill(std::uint8_t{1}, stream));
    EXPECT_NO_THROW(buffer.fill(std::uint16_t{1}, stream));
    try {
        buffer.fill(std::uint32_t{1}, stream);
        FAIL();
    } catch (const std::invalid_argument& error) {
        EXPECT_STREQ(error.what(), "value has 4 bytes, expected a width that divides the buffer's "
                                   "size of 6 bytes");
    }
}

TEST_F(BufferOnFake, wrapped_memory_is_not_freed_and_its_owner_is_kept) {
    auto owner = std::make_shared<int>(1);
    const std::weak_ptr<int> kept = owner;
    Buffer buffer = Buffer::from_handle(0x5000, 64, std::move(owner));
    EXPECT_EQ(buffer.handle(), 0x5000U);
    EXPECT_EQ(buffer.size(), 64U);
    EXPECT_EQ(buffer.memory_resource(), nullptr);
    EXPECT_FALSE(kept.expired());
    buffer.close();
    EXPECT_TRUE(kept.expired());
    EXPECT_EQ(fake->count("cuMemFreeAsync"), 0);
}

TEST_F(BufferOnFake, wrapped_memory_is_asked_about_once) {
    const Stream stream = Device(0).create_stream();
    const Buffer device_memory = Device(0).allocate(16, stream);
    const Buffer view = Buffer::from_handle(device_memory.handle(), 16);
    EXPECT_EQ(view.device_id(), 0);
    EXPECT_TRUE(view.is_device_accessible());
    EXPECT_FALSE(view.is_host_accessible());
    EXPECT_EQ(fake->count("cuPointerGetAttributes"), 1);
    const Buffer host = Buffer::from_handle(0x5000, 16);
    EXPECT_EQ(host.device_id(), -1);
    EXPECT_FALSE(host.is_device_accessible());
    EXPECT_TRUE(host.is_host_accessible());
    const Buffer nothing = Buffer::from_handle(0, 0);
    EXPECT_EQ(nothing.device_id(), -1);
    EXPECT_EQ(fake->count("cuPointerGetAttributes"), 2);
}

TEST_F(BufferOnFake, memory_taken_over_is_freed_through_its_resource) {
    const Stream stream = Device(0).create_stream();
    const auto resource = Device(0).memory_resource();
    const CUdeviceptr pointer = resource->allocate_bytes(16, stream);
    Buffer::from_handle(pointer, 16, resource, stream).close();
    EXPECT_EQ(fake->last_free.pointer, pointer);
    EXPECT_THROW((void)Buffer::from_handle(pointer, 16, nullptr, stream), std::invalid_argument);
}

TEST_F(BufferOnFake, resource_of_ones_own_serves_buffers) {
    const Stream stream = Device(0).create_stream();
    const auto resource = std::make_shared<CountingResource>();
    {
        const Buffer buffer = resource->allocate(24, stream);
        EXPECT_EQ(buffer.handle(), 0x1000U);
        EXPECT_EQ(buffer.device_id(), -1);
        EXPECT_TRUE(buffer.is_host_accessible());
        EXPECT_FALSE(buffer.is_device_accessible());
        EXPECT_EQ(buffer.memory_resource(), resource);
        (void)resource->allocate(0, stream);
    }
    EXPECT_EQ(resource->requested, std::vector<std::size_t>{24}) << "never asked for 0 bytes";
    EXPECT_EQ(resource->freed, std::vector<CUdeviceptr>{0x1000});
    EXPECT_EQ(resource->freed_on, stream.handle());
}

TEST_F(BufferOnFake, resource_that_throws_when_freeing_is_reported) {
    const Stream stream = Device(0).create_stream();
    const auto resource = std::make_shared<CountingResource>();
    resource->fails = true;
    resource->allocate(8, stream).close();
    EXPECT_EQ(warnings.take(WarningKind::Release),
              std::vector<std::string>{"could not release a buffer: the arena is gone"});
    resource->throws_anything = true;
    resource->allocate(8, stream).close();
    EXPECT_EQ(warnings.take(WarningKind::Release),
              std::vector<std::string>{"could not release a buffer: something that is not a "
                                       "std::exception was thrown"});
}

TEST_F(BufferOnFake, resource_that_gives_nothing_is_an_error) {
    const Stream stream = Device(0).create_stream();
    const auto resource = std::make_shared<CountingResource>();
    resource->is_empty = true;
    testing::expect_error<std::logic_error>([&] { (void)resource->allocate(8, stream); },
                                            {"gave a null pointer for 8 bytes"});
    EXPECT_TRUE(resource->freed.empty());
}

TEST(BufferFailures, every_call) {
    testing::check_every_failure([](testing::FakeDriver& fake) {
        const Stream stream = Stream::from_handle(fake.make_stream(fake.make_context(1)));
        const Buffer first = Device(1).allocate(16, stream);
        const Buffer second = Device(1).allocate(16, stream);
        first.copy_to(second, stream);
        first.fill(std::uint8_t{1}, stream);
        first.fill(std::uint16_t{1}, stream);
        first.fill(std::uint32_t{1}, stream);
        (void)Buffer::from_handle(first.handle(), 16).device_id();
    });
}

// ---- on a driver -------------------------------------------------------------------------------

TEST_F(BufferOnDriver, what_goes_in_comes_out) {
    const Stream stream = device().create_stream();
    std::vector<int> values(1000);
    std::iota(values.begin(), values.end(), 7);
    const Buffer first = device().allocate(values.size() * sizeof(int), stream);
    const Buffer second = device().allocate(values.size() * sizeof(int), stream);
    first.copy_from_host(std::span<const int>(values), stream);
    first.copy_to(second, stream);
    EXPECT_EQ(read<int>(second, stream), values);
    first.fill(std::uint8_t{0}, stream);
    first.copy_from(second, stream);
    EXPECT_EQ(read<int>(first, stream), values);
}

TEST_F(BufferOnDriver, fill_repeats_the_value) {
    const Stream stream = device().create_stream();
    const Buffer buffer = device().allocate(16, stream);
    buffer.fill(std::uint8_t{0xab}, stream);
    EXPECT_EQ(read<std::uint8_t>(buffer, stream), std::vector<std::uint8_t>(16, 0xab));
    buffer.fill(std::uint16_t{0x1234}, stream);
    EXPECT_EQ(read<std::uint16_t>(buffer, stream), std::vector<std::uint16_t>(8, 0x1234));
    buffer.fill(std::uint32_t{0xdeadbeef}, stream);
    EXPECT_EQ(read<std::uint32_t>(buffer, stream), std::vector<std::uint32_t>(4, 0xdeadbeef));
}

TEST_F(BufferOnDriver, knows_its_location) {
    const Stream stream = device().create_stream();
    const Buffer buffer = device().allocate(64, stream);
    stream.sync();
    EXPECT_EQ(buffer.device_id(), 0);
    EXPECT_TRUE(buffer.is_device_accessible());
    EXPECT_FALSE(buffer.is_host_accessible());
    const Buffer view = Buffer::from_handle(buffer.handle(), 64);
    EXPECT_EQ(view, buffer);
    EXPECT_EQ(view.device_id(), 0);
    EXPECT_TRUE(view.is_device_accessible());
    EXPECT_FALSE(view.is_host_accessible());
}

TEST_F(BufferOnDriver, wraps_memory_of_the_host) {
    std::vector<int> values{1, 2, 3, 4};
    const Buffer host = Buffer::from_handle(reinterpret_cast<std::uintptr_t>(values.data()),
                                            values.size() * sizeof(int));
    EXPECT_EQ(host.device_id(), -1);
    EXPECT_TRUE(host.is_host_accessible());
    const Stream stream = device().create_stream();
    const Buffer buffer = device().allocate(host.size(), stream);
    host.copy_to(buffer, stream);
    EXPECT_EQ(read<int>(buffer, stream), values);
}

TEST_F(BufferOnDriver, may_be_used_and_freed_on_a_thread_with_no_context) {
    const Stream stream = device().create_stream();
    Buffer buffer = device().allocate(64, stream);
    std::thread([&stream, moved = std::move(buffer)]() mutable {
        moved.fill(std::uint32_t{5}, stream);
        EXPECT_EQ(read<std::uint32_t>(moved, stream), std::vector<std::uint32_t>(16, 5));
        moved.close();
    }).join();
    stream.sync();
}

TEST_F(BufferOnDriver, default_streams_serve_memory_too) {
    const CurrentContext guard(device().primary_context());
    for (const Stream& stream : {Stream::legacy_default(), Stream::per_thread_default()}) {
        Buffer buffer = device().allocate(64, stream);
        buffer.fill(std::uint8_t{3}, stream);
        EXPECT_EQ(read<std::uint8_t>(buffer, stream), std::vector<std::uint8_t>(64, 3));
        std::thread([moved = std::move(buffer)]() mutable { moved.close(); }).join();
    }
    Stream::legacy_default().sync();
}

TEST_F(BufferOnDriver, sizes_that_differ_are_an_error_and_the_buffers_stay_usable) {
    const Stream stream = device().create_stream();
    const Buffer first = device().allocate(16, stream);
    const Buffer second = device().allocate(32, stream);
    EXPECT_THROW(first.copy_to(second, stream), std::invalid_argument);
    EXPECT_NO_THROW(first.fill(std::uint8_t{1}, stream));
    stream.sync();
}

} // namespace cuprum
