// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/device_test.hpp"
#include "support/expect_error.hpp"
#include "support/fake_driver.hpp"

#include <cuprum/cuprum.hpp>

#include <cuda.h>
#include <gtest/gtest.h>

#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum {

namespace {

using testing::expect_error;

class ManagedBufferOnFake : public testing::FakeDriverTest {
protected:
    ManagedBufferOnFake()
        : pool(ManagedMemoryResource::create(ManagedMemoryResourceOptions{})),
          stream(Device(0).create_stream()), buffer(pool->allocate(4096, *stream)) {}

    ~ManagedBufferOnFake() override {
        buffer.reset();
        stream.reset();
        pool.reset();
    }

    std::shared_ptr<ManagedMemoryResource> pool;
    std::optional<Stream> stream;
    std::optional<ManagedBuffer> buffer;
};

class ManagedBufferOnDriver : public testing::DeviceTest {
protected:
    void SetUp() override {
        DeviceTest::SetUp();
        if (!IsSkipped() && device().properties().get("concurrent_managed_access", 0) == 0) {
            GTEST_SKIP() << "the device cannot share managed memory with the host";
        }
    }
};

} // namespace

TEST_F(ManagedBufferOnFake, advice_is_kept_by_the_driver) {
    EXPECT_FALSE(buffer->read_mostly());
    buffer->set_read_mostly(true);
    EXPECT_TRUE(buffer->read_mostly());
    buffer->set_read_mostly(false);
    EXPECT_FALSE(buffer->read_mostly());
    EXPECT_EQ(buffer->preferred_location(), std::nullopt);
    for (const Location& place :
         {Location::device(Device(1)), Location::host(), Location::host_numa(2)}) {
        buffer->set_preferred_location(place);
        EXPECT_EQ(buffer->preferred_location(), place);
    }
    buffer->set_preferred_location(std::nullopt);
    EXPECT_EQ(buffer->preferred_location(), std::nullopt);
    EXPECT_EQ(testing::FakeDriver::current(), nullptr);
}

TEST_F(ManagedBufferOnFake, parts_can_be_steered_on_their_own) {
    const ManagedBuffer part = buffer->slice(16, 32);
    EXPECT_EQ(part.handle(), buffer->handle() + 16);
    part.prefetch(Location::host(), *stream);
    EXPECT_EQ(fake->count("cuMemPrefetchAsync"), 1);
}

TEST_F(ManagedBufferOnFake, refused_advice_suggests_an_alternative) {
    for (const CUresult code : {CUDA_ERROR_NOT_SUPPORTED, CUDA_ERROR_INVALID_DEVICE}) {
        fake->fail("cuMemAdvise", code);
        try {
            buffer->set_read_mostly(true);
            ADD_FAILURE() << "the driver's refusal was swallowed";
        } catch (const CUDAError& error) {
            EXPECT_EQ(error.code(), code);
            const bool is_told =
                std::string_view(error.what()).find("cuMemAllocManaged") != std::string_view::npos;
            EXPECT_EQ(is_told, code == CUDA_ERROR_NOT_SUPPORTED) << error.what();
        }
    }
    EXPECT_FALSE(buffer->read_mostly());
}

TEST_F(ManagedBufferOnFake, accessors_are_a_set) {
    EXPECT_TRUE(buffer->accessed_by().empty());
    const std::vector<Location> all{Location::host(), Location::device(Device(1))};
    buffer->set_accessed_by(all);
    EXPECT_EQ(buffer->accessed_by(),
              (std::vector<Location>{Location::device(Device(1)), Location::host()}));
    buffer->remove_accessed_by(Location::host());
    buffer->add_accessed_by(Location::device(Device(0)));
    EXPECT_EQ(buffer->accessed_by(),
              (std::vector<Location>{Location::device(Device(0)), Location::device(Device(1))}));
    fake->notes.clear();
    const std::vector<Location> wrong{Location::host(), Location::host_numa(0)};
    expect_error<std::invalid_argument>([&] { buffer->set_accessed_by(wrong); },
                                        {"does not support location_type='host_numa'"});
    EXPECT_TRUE(fake->notes.empty()) << "nothing is advised before all is checked";
}

TEST_F(ManagedBufferOnFake, moves_are_ordered_on_the_stream) {
    buffer->prefetch(Location::device(Device(1)), *stream);
    EXPECT_EQ(fake->notes.back(), "prefetch device 1");
    buffer->discard(*stream);
    EXPECT_EQ(fake->notes.back(), "discard 1");
    buffer->discard_prefetch(Location::host(), *stream);
    EXPECT_EQ(fake->notes.back(), "discard 1 and prefetch host");
}

TEST_F(ManagedBufferOnFake, batches_are_one_call_and_older_drivers_get_one_each) {
    const std::vector<ManagedBuffer> both{*buffer, *buffer};
    const std::vector<Location> one{Location::host()};
    const std::vector<Location> two{Location::host(), Location::device(Device(1))};
    prefetch_batch(*stream, both, one);
    EXPECT_EQ(fake->notes.back(), "prefetch 2 to 1, first host");
    prefetch_batch(*stream, both, two);
    EXPECT_EQ(fake->notes.back(), "prefetch 2 to 2, first host");
    fake->version = 12080;
    fake->notes.clear();
    prefetch_batch(*stream, both, two);
    EXPECT_EQ(fake->notes, (std::vector<std::string>{"prefetch host", "prefetch device 1"}));
    expect_error<NotSupportedError>([&] { discard_batch(*stream, both); },
                                    {"cuMemDiscardBatchAsync", "13.0", "12.8"});
    expect_error<NotSupportedError>([&] { discard_prefetch_batch(*stream, both, one); },
                                    {"cuMemDiscardAndPrefetchBatchAsync", "13.0"});
}

TEST_F(ManagedBufferOnFake, older_drivers_are_asked_for_places_by_number) {
    fake->version = 12080;
    for (const Location& place : {Location::device(Device(1)), Location::host()}) {
        buffer->set_preferred_location(place);
        EXPECT_EQ(buffer->preferred_location(), place);
    }
    buffer->set_preferred_location(std::nullopt);
    EXPECT_EQ(buffer->preferred_location(), std::nullopt);
}

TEST_F(ManagedBufferOnFake, buffers_without_bytes_are_left_out_of_batches) {
    const ManagedBuffer empty = pool->allocate(0, *stream);
    const std::vector<ManagedBuffer> three{empty, *buffer, empty};
    const std::vector<Location> one{Location::host()};
    const std::vector<Location> each{Location::host(), Location::device(Device(1)),
                                     Location::host()};
    prefetch_batch(*stream, three, one);
    EXPECT_EQ(fake->notes.back(), "prefetch 1 to 1, first host");
    prefetch_batch(*stream, three, each);
    EXPECT_EQ(fake->notes.back(), "prefetch 1 to 1, first device 1");
    discard_batch(*stream, three);
    EXPECT_EQ(fake->notes.back(), "discard 1");
    discard_prefetch_batch(*stream, three, each);
    EXPECT_EQ(fake->notes.back(), "discard 1 and prefetch device 1");
    fake->notes.clear();
    empty.prefetch(Location::host(), *stream);
    empty.discard(*stream);
    empty.discard_prefetch(Location::host(), *stream);
    EXPECT_TRUE(fake->notes.empty());
    expect_error<std::invalid_argument>([&] { (void)empty.read_mostly(); }, {"0 bytes"});
    expect_error<std::invalid_argument>([&] { (void)empty.accessed_by(); }, {"0 bytes"});
    expect_error<std::invalid_argument>([&] { empty.set_read_mostly(true); }, {"0 bytes"});
}

TEST_F(ManagedBufferOnFake, graphs_cannot_move_memory) {
    fake->set_capturing(stream->handle());
    const std::span all(&*buffer, 1);
    const std::vector<Location> places{Location::host()};
    const std::vector<std::function<void()>> moves{
        [&] { buffer->prefetch(places[0], *stream); },
        [&] { buffer->discard(*stream); },
        [&] { buffer->discard_prefetch(places[0], *stream); },
        [&] { prefetch_batch(*stream, all, places); },
        [&] { discard_batch(*stream, all); },
        [&] { discard_prefetch_batch(*stream, all, places); },
    };
    for (const auto& move : moves) {
        expect_error<std::logic_error>(move, {"stream is capturing", "before the capture"});
    }
    EXPECT_EQ(fake->count("cuMemPrefetchAsync"), 0);
    fake->streams.at(stream->handle()).is_capturing = false;
}

TEST_F(ManagedBufferOnFake, batches_are_checked) {
    const std::vector<ManagedBuffer> none;
    const std::vector<ManagedBuffer> three{*buffer, *buffer, *buffer};
    const std::vector<Location> two{Location::host(), Location::host()};
    expect_error<std::invalid_argument>([&] { discard_batch(*stream, none); },
                                        {"empty buffers sequence"});
    expect_error<std::invalid_argument>([&] { prefetch_batch(*stream, three, two); },
                                        {"locations length (2)", "buffers length (3)"});
}

TEST_F(ManagedBufferOnFake, other_memory_is_refused) {
    const auto plain = DeviceMemoryResource::create(Device(0), {});
    const ManagedBuffer wrong(plain->allocate(64, *stream));
    const auto parts = {std::string_view("managed-memory allocation")};
    expect_error<std::invalid_argument>([&] { wrong.set_read_mostly(true); }, parts);
    expect_error<std::invalid_argument>([&] { wrong.prefetch(Location::host(), *stream); }, parts);
    expect_error<std::invalid_argument>([&] { wrong.discard(*stream); }, parts);
    fake->is_pointer_managed = true; // memory that the driver knows to be managed
    const ManagedBuffer wrapped(Buffer::from_handle(plain->allocate(64, *stream).handle(), 64));
    EXPECT_NO_THROW(wrapped.set_read_mostly(true));
}

TEST_F(ManagedBufferOnFake, want_of_managed_memory_is_not_one_of_pinned_memory) {
    fake->fail("cuMemAllocFromPoolAsync", CUDA_ERROR_OUT_OF_MEMORY);
    expect_error<OutOfMemoryError>([&] { (void)pool->allocate(64, *stream); },
                                   {"64 bytes were requested", "managed memory", "ask for less"});
}

TEST_F(ManagedBufferOnFake, closed_buffers_and_streams_are_errors) {
    Stream closed = Device(0).create_stream();
    closed.close();
    EXPECT_THROW(buffer->prefetch(Location::host(), closed), ClosedError);
    EXPECT_THROW(buffer->discard(closed), ClosedError);
    ManagedBuffer gone = *buffer;
    gone.close();
    EXPECT_THROW((void)gone.read_mostly(), ClosedError);
    EXPECT_THROW(gone.prefetch(Location::host(), *stream), ClosedError);
}

TEST(ManagedBufferFailures, every_call) {
    testing::check_every_failure([](testing::FakeDriver&) {
        const auto pool = ManagedMemoryResource::create(ManagedMemoryResourceOptions{});
        const Stream stream = Device(0).create_stream();
        const ManagedBuffer buffer = pool->allocate(4096, stream);
        buffer.set_read_mostly(true);
        buffer.set_preferred_location(Location::host());
        (void)buffer.preferred_location();
        const std::vector<Location> all{Location::host()};
        buffer.set_accessed_by(all);
        buffer.prefetch(Location::host(), stream);
        buffer.discard_prefetch(Location::host(), stream);
        prefetch_batch(stream, std::span(&buffer, 1), all);
    });
}

// ---- on a driver -------------------------------------------------------------------------------

TEST_F(ManagedBufferOnDriver, prefetching_keeps_the_bytes_and_is_remembered) {
    const auto pool = ManagedMemoryResource::create(ManagedMemoryResourceOptions{});
    const ManagedBuffer buffer = pool->allocate(1 << 16, stream());
    buffer.fill(std::uint8_t{5}, stream());
    buffer.prefetch(Location::host(), stream());
    stream().sync();
    EXPECT_EQ(buffer.last_prefetch_location(), Location::host());
    EXPECT_EQ(buffer.data<std::uint8_t>()[100], 5);
    buffer.prefetch(Location::device(device()), stream());
    stream().sync();
    EXPECT_EQ(buffer.last_prefetch_location(), Location::device(device()));
    EXPECT_EQ(download<std::uint8_t>(buffer)[100], 5);
}

TEST_F(ManagedBufferOnDriver, is_a_kernel_argument_like_any_buffer) {
    const Kernel kernel =
        compile(
            "extern \"C\" __global__ void add(int* x, int amount) { x[threadIdx.x] += amount; }")
            .get_kernel("add");
    const auto pool = ManagedMemoryResource::create(ManagedMemoryResourceOptions{});
    const ManagedBuffer buffer = pool->allocate(32 * sizeof(int), stream());
    buffer.fill(std::uint32_t{1}, stream());
    launch(stream(), LaunchConfig(1, 32), kernel, buffer, 2);
    launch(stream(), LaunchConfig(1, 16), kernel, buffer.slice(64, 64), 30);
    kernel.as<void(int*, int)>()(stream(), LaunchConfig(1, 32), buffer, 4);
    const std::vector<int> values = download<int>(buffer);
    EXPECT_EQ(values.front(), 7);
    EXPECT_EQ(values.back(), 37);
}

} // namespace cuprum
