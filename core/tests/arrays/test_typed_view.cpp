// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/device_test.hpp"
#include "support/expect_error.hpp"

#include <cuprum/typed_view.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace cuprum {

namespace {

using testing::expect_error;
using Slice = StridedLayout::Slice;

class TypedViewOnDriver : public testing::DeviceTest {
protected:
    TypedViewOnDriver() : values(24) { std::iota(values.begin(), values.end(), 0); }

    [[nodiscard]] Buffer wrapped() {
        return Buffer::from_handle(reinterpret_cast<std::uintptr_t>(values.data()),
                                   values.size() * sizeof(int));
    }

    std::vector<int> values;
};

static_assert(std::is_trivially_copyable_v<TypedView<float, 3>>);
static_assert(TypedView<float, 3>::rank() == 3);
static_assert(std::is_convertible_v<TypedView<float, 3>, TypedView<const float, 3>>);
static_assert(!std::is_convertible_v<TypedView<const float, 3>, TypedView<float, 3>>);
static_assert(!std::is_convertible_v<TypedView<float, 3>, TypedView<const double, 3>>);

} // namespace

TEST_F(TypedViewOnDriver, indexes_in_c_order) {
    const auto view = TypedView<int, 3>::on_host(wrapped(), {2, 3, 4});
    EXPECT_EQ(view(1, 2, 3), 23);
    EXPECT_EQ(view[1][0][2], 14);
    EXPECT_EQ(view.at(0, 1, 0), 4);
    EXPECT_EQ(view.size(), 24);
    EXPECT_EQ(view.extent(1), 3);
    EXPECT_EQ(view.stride(0), 12);
    view(0, 0, 0) = -5;
    EXPECT_EQ(values[0], -5);
    EXPECT_EQ(view.as_span().size(), 24U);
    EXPECT_EQ(view.layout(), StridedLayout({2, 3, 4}, sizeof(int)));
}

TEST_F(TypedViewOnDriver, follows_a_layout) {
    const StridedLayout layout = StridedLayout({4, 6}, sizeof(int))
                                     .sliced({Slice::range(1, {}, 2), Slice::range({}, {}, -3)});
    const TypedView<int, 2> view(wrapped(), layout);
    EXPECT_EQ(view.shape(), (std::array<std::int64_t, 2>{2, 2}));
    EXPECT_EQ(view(0, 0), 11);
    EXPECT_EQ(view(1, 1), 20);
    const TypedView<const int, 2> constant = TypedView<int, 2>::on_host(wrapped(), layout);
    EXPECT_EQ(constant(1, 1), 20);
    expect_error<std::invalid_argument>([&] { static_cast<void>(view.as_span()); },
                                        {"not contiguous"});
}

TEST_F(TypedViewOnDriver, refuses_what_does_not_fit) {
    const Buffer buffer = wrapped();
    expect_error<std::out_of_range>(
        [&] { static_cast<void>(TypedView<int, 2>(buffer, {4, 6}).at(4, 0)); }, {"4 of 4"});
    expect_error<std::invalid_argument>(
        [&] { static_cast<void>(TypedView<int, 2>(buffer, {5, 5})); },
        {"96 bytes, expected at least 100"});
    expect_error<std::invalid_argument>(
        [&] { static_cast<void>(TypedView<int, 2>(buffer, StridedLayout({4}, 4))); },
        {"expected 2 dimensions"});
    expect_error<std::invalid_argument>(
        [&] { static_cast<void>(TypedView<int, 1>(buffer.slice(1, 8), {2})); }, {"multiple of 4"});
}

TEST_F(TypedViewOnDriver, of_a_device_is_for_kernels_only) {
    const Buffer buffer = upload(values);
    const TypedView<int, 2> view(buffer, {4, 6});
    EXPECT_EQ(view.data(), buffer.data<int>());
    expect_error<std::invalid_argument>(
        [&] { static_cast<void>(TypedView<int, 2>::on_host(buffer, {4, 6})); },
        {"memory of device 0"});
    const StridedLayout layout({4, 6}, sizeof(int));
    expect_error<std::invalid_argument>(
        [&] { static_cast<void>(TypedView<int, 2>::on_host(buffer, layout)); },
        {"memory of device 0"});
}

} // namespace cuprum
