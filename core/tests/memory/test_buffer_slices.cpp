// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/device_test.hpp"
#include "support/expect_error.hpp"
#include "support/fake_driver.hpp"

#include <cuprum/buffer.hpp>
#include <cuprum/error.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace cuprum {

namespace {

using testing::expect_error;

class SlicesOnFake : public testing::FakeDriverTest {};

class SlicesOnDriver : public testing::DeviceTest {};

} // namespace

TEST_F(SlicesOnFake, share_the_memory_which_is_freed_once_with_the_last) {
    const Stream stream = Device(0).create_stream();
    Buffer whole = Device(0).allocate(64, stream);
    const CUdeviceptr pointer = whole.handle();
    Buffer part = whole.slice(16, 32);
    Buffer inner = part.slice(8, 8);
    EXPECT_EQ(part.handle(), pointer + 16);
    EXPECT_EQ(inner.handle(), pointer + 24);
    EXPECT_EQ(inner.size(), 8U);
    EXPECT_EQ(inner.device_id(), 0);
    EXPECT_EQ(inner.memory_resource(), whole.memory_resource());
    whole.close();
    part.close();
    EXPECT_EQ(fake->live().allocations, 1);
    inner.close();
    EXPECT_EQ(fake->live().allocations, 0);
    EXPECT_EQ(fake->last_free.pointer, pointer);
    EXPECT_EQ(fake->count("cuMemFreeAsync"), 1);
}

TEST_F(SlicesOnFake, name_the_stream_that_the_whole_is_freed_on) {
    const Stream first = Device(0).create_stream();
    const Stream second = Device(0).create_stream();
    Buffer whole = Device(0).allocate(64, first);
    Buffer part = whole.slice(0, 8);
    EXPECT_EQ(*part.deallocation_stream(), first);
    whole.close();
    part.close(second);
    EXPECT_EQ(fake->last_free.stream, second.handle());
}

TEST_F(SlicesOnFake, out_of_range_or_closed_are_refused) {
    const Stream stream = Device(0).create_stream();
    Buffer whole = Device(0).allocate(64, stream);
    EXPECT_EQ(whole.slice(64, 0).size(), 0U);
    EXPECT_EQ(whole.slice(0, 64), whole);
    constexpr std::size_t huge = std::numeric_limits<std::size_t>::max();
    for (const auto& [offset, bytes] :
         {std::pair<std::size_t, std::size_t>{0, 65}, {65, 0}, {60, 5}, {8, huge}, {huge, 1}}) {
        expect_error<std::invalid_argument>(
            [&] { static_cast<void>(whole.slice(offset, bytes)); },
            {"from offset " + std::to_string(offset), "the buffer has 64"});
    }
    whole.close();
    EXPECT_THROW(static_cast<void>(whole.slice(0, 1)), ClosedError);
}

TEST_F(SlicesOnFake, overlapping_and_misaligned_are_refused) {
    const Stream stream = Device(0).create_stream();
    const Buffer whole = Device(0).allocate(64, stream);
    expect_error<std::invalid_argument>(
        [&] { whole.slice(0, 32).copy_to(whole.slice(31, 32), stream); },
        {"overlap: 32 bytes each, 31 bytes apart"});
    expect_error<std::invalid_argument>(
        [&] { whole.slice(31, 32).copy_to(whole.slice(0, 32), stream); }, {"overlap"});
    expect_error<std::invalid_argument>([&] { whole.slice(1, 8).fill(std::uint16_t{1}, stream); },
                                        {"multiple of the value's 2"});
    expect_error<std::invalid_argument>([&] { whole.slice(2, 8).fill(std::uint32_t{1}, stream); },
                                        {"multiple of the value's 4"});
    EXPECT_EQ(fake->count("cuMemcpyAsync"), 0);
    whole.slice(0, 32).copy_to(whole.slice(32, 32), stream);
    whole.copy_to(whole, stream);
    EXPECT_EQ(fake->count("cuMemcpyAsync"), 2);
}

TEST_F(SlicesOnDriver, copy_and_fill_parts) {
    std::vector<std::uint8_t> values(16);
    std::iota(values.begin(), values.end(), std::uint8_t{0});
    const Buffer buffer = upload(values);
    buffer.slice(0, 4).copy_to(buffer.slice(8, 4), stream());
    buffer.slice(12, 2).fill(std::uint16_t{0xffff}, stream());
    EXPECT_EQ(download<std::uint8_t>(buffer),
              (std::vector<std::uint8_t>{0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 0xff, 0xff, 14, 15}));
    EXPECT_EQ(download<std::uint8_t>(buffer.slice(6, 3)), (std::vector<std::uint8_t>{6, 7, 0}));
}

TEST_F(SlicesOnDriver, outlive_the_whole) {
    std::optional<Buffer> part;
    {
        const Buffer buffer = upload(std::vector<int>{1, 2, 3, 4});
        part = buffer.slice(4, 8);
    }
    EXPECT_EQ(download<int>(*part), (std::vector<int>{2, 3}));
}

TEST_F(SlicesOnDriver, memory_of_the_host_is_a_span) {
    alignas(8) std::array<std::byte, 16> memory{};
    const Buffer buffer =
        Buffer::from_handle(reinterpret_cast<std::uintptr_t>(memory.data()), memory.size());
    const std::span<std::int32_t> numbers = buffer.as_span<std::int32_t>();
    ASSERT_EQ(numbers.size(), 4U);
    numbers[1] = -1;
    EXPECT_EQ(memory[4], std::byte{0xff});
    expect_error<std::invalid_argument>(
        [&] { static_cast<void>(buffer.slice(0, 6).as_span<std::int32_t>()); }, {"6 bytes"});
    expect_error<std::invalid_argument>(
        [&] { static_cast<void>(buffer.slice(2, 4).as_span<std::int32_t>()); }, {"multiples of 4"});
}

TEST_F(SlicesOnDriver, null_address_gives_no_span) {
    const Buffer nothing = Buffer::from_handle(0, 16);
    expect_error<std::invalid_argument>([&] { static_cast<void>(nothing.as_span<int>()); },
                                        {"the buffer's address is null"});
}

TEST_F(SlicesOnDriver, device_memory_gives_no_span) {
    const Buffer buffer = device().allocate(16, stream());
    expect_error<std::invalid_argument>([&] { static_cast<void>(buffer.as_span<int>()); },
                                        {"memory of device 0", "copy_to_host"});
}

} // namespace cuprum
