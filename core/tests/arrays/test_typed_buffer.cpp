// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/device_test.hpp"
#include "support/expect_error.hpp"

#include <cuprum/cuprum.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <type_traits>
#include <unordered_set>
#include <vector>

namespace cuprum {

namespace {

using testing::expect_error;

class TypedBufferOnDriver : public testing::DeviceTest {
protected:
    static std::vector<float> counted(std::size_t count) {
        std::vector<float> values(count);
        std::iota(values.begin(), values.end(), 0.0F);
        return values;
    }
};

// It converts to the pointers that a T* converts to, and to nothing else.
static_assert(std::is_convertible_v<TypedBuffer<float>, float*>);
static_assert(std::is_convertible_v<TypedBuffer<float>, const float*>);
static_assert(std::is_convertible_v<TypedBuffer<float>, const Buffer&>);
static_assert(!std::is_convertible_v<TypedBuffer<float>, int*>);
static_assert(!std::is_convertible_v<TypedBuffer<float>, bool>);
static_assert(!std::is_convertible_v<Buffer, TypedBuffer<float>>);

} // namespace

TEST_F(TypedBufferOnDriver, counts_in_elements) {
    const TypedBuffer<double> buffer = device().allocate<double>(10, stream());
    EXPECT_EQ(buffer.size(), 10U);
    EXPECT_EQ(buffer.size_bytes(), 80U);
    EXPECT_FALSE(buffer.is_empty());
    EXPECT_EQ(buffer.buffer().size(), 80U);
    EXPECT_TRUE(device().allocate<double>(0, stream()).is_empty());
}

TEST_F(TypedBufferOnDriver, copies_to_and_from_the_host) {
    const std::vector<float> values = counted(100);
    const auto buffer = device().allocate<float>(values.size(), stream());
    buffer.copy_from(values, stream());
    EXPECT_EQ(buffer.to_vector(stream()), values);
    std::vector<float> copied(values.size());
    buffer.copy_to(copied, stream());
    stream().sync();
    EXPECT_EQ(copied, values);
}

TEST_F(TypedBufferOnDriver, copies_lists_of_values) {
    const auto buffer = device().allocate<float>(3, stream());
    buffer.copy_from({1.0F, 2.0F, 3.0F}, stream());
    EXPECT_EQ(buffer.to_vector(stream()), (std::vector<float>{1, 2, 3}));
    buffer.buffer().copy_from_host({4.0F, 5.0F, 6.0F}, stream());
    EXPECT_EQ(buffer.to_vector(stream()), (std::vector<float>{4, 5, 6}));
    expect_error<std::invalid_argument>([&] { buffer.copy_from({1.0F, 2.0F}, stream()); },
                                        {"source has 2 elements, expected 3"});
    expect_error<std::invalid_argument>(
        [&] { buffer.buffer().copy_from_host({1.0F, 2.0F}, stream()); },
        {"the source has 8 bytes", "12"});
    GraphBuilder builder = device().create_graph_builder();
    builder.begin_building();
    expect_error<std::logic_error>([&] { buffer.copy_from({1.0F, 2.0F, 3.0F}, builder.stream()); },
                                   {"the stream is capturing", "copy from memory that lives"});
    builder.end_building();
}

TEST_F(TypedBufferOnDriver, copies_between_buffers_and_fills) {
    const auto first = device().allocate<float>(8, stream());
    const auto second = device().allocate<float>(8, stream());
    first.fill(2.5F, stream());
    first.copy_to(second, stream());
    EXPECT_EQ(second.to_vector(stream()), std::vector<float>(8, 2.5F));
    const auto words = device().allocate<std::uint16_t>(3, stream());
    words.fill(0xabcd, stream());
    EXPECT_EQ(words.to_vector(stream()), std::vector<std::uint16_t>(3, 0xabcd));
}

TEST_F(TypedBufferOnDriver, refuses_ranges_of_another_size_and_names_both) {
    const auto buffer = device().allocate<int>(4, stream());
    std::vector<int> three(3);
    expect_error<std::invalid_argument>([&] { buffer.copy_from(three, stream()); },
                                        {"the source has 3 elements, expected 4"});
    expect_error<std::invalid_argument>([&] { buffer.copy_to(three, stream()); },
                                        {"the destination has 3 elements, expected 4"});
}

TEST_F(TypedBufferOnDriver, slices_by_element_and_shares_the_memory) {
    auto whole = device().allocate<float>(10, stream());
    whole.copy_from(counted(10), stream());
    const TypedBuffer<float> part = whole.slice(4, 3);
    EXPECT_EQ(part.data(), whole.data() + 4);
    whole.close();
    EXPECT_EQ(part.to_vector(stream()), (std::vector<float>{4, 5, 6}));
    EXPECT_EQ(part.slice(3, 0).size(), 0U);
    expect_error<std::invalid_argument>([&] { static_cast<void>(part.slice(2, 2)); },
                                        {"the slice has elements 2 to 4, expected at most 3"});
    // NOTE: the sum of offset and count wraps around.
    EXPECT_THROW(static_cast<void>(part.slice(1, std::numeric_limits<std::size_t>::max())),
                 std::invalid_argument);
}

TEST_F(TypedBufferOnDriver, passes_to_a_kernel_as_a_pointer) {
    const ObjectCode code = compile("extern \"C\" __global__ void scale(const float* x, float* y,"
                                    " float factor, int n) {"
                                    " int i = blockIdx.x * blockDim.x + threadIdx.x;"
                                    " if (i < n) y[i] = factor * x[i]; }");
    const Kernel kernel = code.get_kernel("scale");
    const auto x = device().allocate<float>(40, stream());
    const auto y = device().allocate<float>(40, stream());
    x.copy_from(counted(40), stream());
    const LaunchConfig config{.grid = 2, .block = 32};
    launch(stream(), config, kernel, x, y, 2.0F, 40);
    EXPECT_EQ(y.to_vector(stream())[39], 78.0F);
    const auto scale = kernel.as<void(const float*, float*, float, int)>();
    scale(stream(), config, x, y, 3.0F, 40);
    EXPECT_EQ(y.to_vector(stream())[39], 117.0F);
}

TEST_F(TypedBufferOnDriver, is_seen_as_an_array) {
    const auto pinned = LegacyPinnedMemoryResource::create();
    const auto buffer = TypedBuffer<int>::allocate(*pinned, 6, stream());
    stream().sync();
    const std::span<int> values = buffer.as_span();
    std::iota(values.begin(), values.end(), 0);
    const TypedView<int, 2> view = buffer.view(2, 3);
    EXPECT_EQ(view(1, 2), 5);
    EXPECT_EQ(view.data(), buffer.data());
    EXPECT_THROW(static_cast<void>(buffer.view(3, 3)), std::invalid_argument);
    EXPECT_THROW(static_cast<void>(device().allocate<int>(6, stream()).as_span()),
                 std::invalid_argument);
}

TEST_F(TypedBufferOnDriver, takes_a_buffer_only_if_it_fits) {
    const Buffer bytes = device().allocate(10, stream());
    expect_error<std::invalid_argument>([&] { TypedBuffer<int>{bytes}; },
                                        {"10 bytes, expected a multiple of 4"});
    expect_error<std::invalid_argument>([&] { TypedBuffer<int>(bytes.slice(1, 8)); },
                                        {"expected a multiple of 4"});
    EXPECT_EQ(TypedBuffer<std::uint16_t>(bytes).size(), 5U);
}

TEST_F(TypedBufferOnDriver, refuses_sizes_that_overflow) {
    expect_error<std::invalid_argument>(
        [&] {
            static_cast<void>(
                device().allocate<double>(std::numeric_limits<std::size_t>::max() / 4, stream()));
        },
        {"does not fit into 64 bits"});
}

TEST_F(TypedBufferOnDriver, compares_hashes_and_closes_like_a_buffer) {
    auto buffer = device().allocate<int>(4, stream());
    const auto copy = buffer;
    EXPECT_EQ(buffer, copy);
    EXPECT_EQ((std::unordered_set<TypedBuffer<int>>{buffer, copy}.size()), 1U);
    EXPECT_EQ(to_string(buffer), to_string(buffer.buffer()));
    buffer.close(stream());
    buffer.close();
    EXPECT_TRUE(buffer.is_closed());
    EXPECT_NE(buffer, copy);
    EXPECT_THROW(static_cast<void>(buffer.size()), ClosedError);
}

#if defined(__cpp_lib_mdspan)
TEST_F(TypedBufferOnDriver, is_seen_as_an_mdspan) {
    const auto buffer = device().allocate<float>(6, stream());
    const auto span = buffer.view(2, 3).as_mdspan();
    EXPECT_EQ(span.extent(1), 3);
    EXPECT_EQ(span.stride(0), 3);
    EXPECT_EQ(span.data_handle(), buffer.data());
}
#endif

} // namespace cuprum
