// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/expect_error.hpp"

#include <cuprum/strided_layout.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

namespace cuprum {

namespace {

using Index = StridedLayout::Index;
using Slice = StridedLayout::Slice;
using testing::expect_error;

constexpr std::size_t ITEM_BYTES = 4;

[[nodiscard]] std::vector<Index> listed(StridedLayout::Extents extents) {
    return {extents.begin(), extents.end()};
}

[[nodiscard]] StridedLayout dense(std::vector<Index> shape, StrideOrder order = StrideOrder::C) {
    return StridedLayout::dense(shape, ITEM_BYTES, order);
}

} // namespace

TEST(StridedLayout, implicit_strides_are_those_of_c_order) {
    const StridedLayout layout({2, 3, 4}, ITEM_BYTES);
    EXPECT_TRUE(layout.has_implicit_strides());
    EXPECT_EQ(listed(layout.strides()), (std::vector<Index>{12, 4, 1}));
    EXPECT_EQ(layout.volume(), 24);
    EXPECT_EQ(layout.required_size_in_bytes(), 96U);
    EXPECT_TRUE(layout.is_contiguous_c());
    EXPECT_FALSE(layout.is_contiguous_f());
    EXPECT_TRUE(layout.is_dense());
    EXPECT_EQ(layout, dense({2, 3, 4}));
}

TEST(StridedLayout, dense_orders_its_axes_as_asked) {
    EXPECT_EQ(dense({2, 3, 4}, StrideOrder::F), StridedLayout({2, 3, 4}, {1, 2, 6}, ITEM_BYTES));
    const std::array order{2, 0, 1};
    const std::vector<Index> shape{5, 3, 7};
    const StridedLayout layout = StridedLayout::dense(shape, ITEM_BYTES, order);
    EXPECT_EQ(layout, StridedLayout({5, 3, 7}, {3, 1, 15}, ITEM_BYTES));
    EXPECT_EQ(layout.stride_order(), (std::vector<int>{2, 0, 1}));
    EXPECT_TRUE(layout.is_contiguous_any());
    EXPECT_EQ(layout.to_dense(), layout);
}

TEST(StridedLayout, byte_strides_are_divided) {
    const std::vector<Index> shape{2, 2};
    const std::vector<Index> bytes{-16, 4};
    EXPECT_EQ(StridedLayout::from_byte_strides(shape, bytes, ITEM_BYTES),
              StridedLayout({2, 2}, {-4, 1}, ITEM_BYTES));
    const std::vector<Index> odd{6, 4};
    expect_error<std::invalid_argument>(
        [&] { static_cast<void>(StridedLayout::from_byte_strides(shape, odd, ITEM_BYTES)); },
        {"strides must be divisible by itemsize", "axis 0 has 6 bytes"});
}

TEST(StridedLayout, slicing_moves_the_offset_and_keeps_the_bounds) {
    const StridedLayout layout = dense({5, 7});
    const StridedLayout part = layout.sliced({Slice::range({}, -2), Slice::range(3, {})});
    EXPECT_EQ(listed(part.shape()), (std::vector<Index>{3, 4}));
    EXPECT_EQ(part.slice_offset(), 3);
    EXPECT_EQ(part.slice_offset_in_bytes(), 12);
    EXPECT_EQ(part.offset_bounds(), std::pair(Index{3}, Index{20}));
    EXPECT_FALSE(part.is_contiguous_any());
    EXPECT_TRUE(part.is_unique());

    const StridedLayout reversed = layout.sliced({Slice::at(-1), Slice::range({}, {}, -2)});
    EXPECT_EQ(listed(reversed.shape()), (std::vector<Index>{4}));
    EXPECT_EQ(listed(reversed.strides()), (std::vector<Index>{-2}));
    EXPECT_EQ(reversed.offset_bounds(), std::pair(Index{28}, Index{34}));
}

TEST(StridedLayout, an_empty_slice_has_no_elements_and_needs_no_memory) {
    const StridedLayout empty = dense({3, 5}).sliced({Slice::range(5, 4)});
    EXPECT_EQ(empty.volume(), 0);
    EXPECT_EQ(empty.slice_offset(), 0);
    EXPECT_EQ(listed(empty.strides()), (std::vector<Index>{0, 0}));
    EXPECT_EQ(empty.offset_bounds(), std::pair(Index{0}, Index{-1}));
    EXPECT_EQ(empty.required_size_in_bytes(), 0U);
    EXPECT_TRUE(empty.is_unique());
}

TEST(StridedLayout, extreme_steps_take_one_element) {
    constexpr Index largest = std::numeric_limits<Index>::max();
    constexpr Index smallest = std::numeric_limits<Index>::min();
    EXPECT_EQ(dense({9}).sliced({Slice::range({}, {}, largest)}).volume(), 1);
    EXPECT_EQ(dense({9}).sliced({Slice::range({}, {}, smallest)}).volume(), 1);
    EXPECT_EQ(dense({9}).sliced({Slice::range(smallest / 2, largest)}).volume(), 9);
}

TEST(StridedLayout, reshaping_splits_and_merges_axes) {
    EXPECT_EQ(dense({5, 3, 4}).reshaped(std::vector<Index>{20, 3}), dense({20, 3}));
    EXPECT_EQ(dense({5, 3, 4}).reshaped(std::vector<Index>{4, -1}), dense({4, 15}));
    const StridedLayout part = dense({12, 4}).sliced({Slice::range({}, {}), Slice::range({}, -1)});
    EXPECT_EQ(part.reshaped(std::vector<Index>{6, 2, 3}),
              StridedLayout({6, 2, 3}, {8, 4, 1}, ITEM_BYTES));
    EXPECT_EQ(dense({0}).reshaped(std::vector<Index>{3, 0}).volume(), 0);
}

TEST(StridedLayout, reshaping_says_what_does_not_fit) {
    const auto refuse = [](const StridedLayout& layout, std::vector<Index> shape,
                           const char* words) {
        expect_error<std::invalid_argument>([&] { static_cast<void>(layout.reshaped(shape)); },
                                            {words});
    };
    refuse(dense({12}), {11}, "The original volume 12 and the new volume 11 must be equal");
    refuse(dense({12}), {-1, 5}, "must be divisible by the specified sub-volume 5");
    refuse(dense({12}), {-1, -1}, "at most one -1");
    refuse(dense({12}), {-2, 6}, "Extents must be non-negative");
    refuse(dense({0}), {0, -1}, "ambiguous");
    refuse(dense({3, 4}, StrideOrder::F), {12}, "incompatible with the new shape");
}

TEST(StridedLayout, permuting_flattening_and_squeezing) {
    const std::array order{1, 2, 0};
    const StridedLayout permuted = dense({2, 3, 4}).permuted(order);
    EXPECT_EQ(permuted, StridedLayout({3, 4, 2}, {4, 1, 12}, ITEM_BYTES));
    EXPECT_EQ(permuted.flattened_axis_mask(), 0b010U);
    EXPECT_EQ(permuted.flattened(), StridedLayout({12, 2}, {1, 12}, ITEM_BYTES));
    EXPECT_EQ(permuted.flattened(0, -1, 0), permuted);
    EXPECT_EQ(dense({2, 3, 4}).flattened(1), StridedLayout({2, 12}, {12, 1}, ITEM_BYTES));
    EXPECT_EQ(dense({1, 3, 1}).squeezed(), dense({3}));
    const std::array axes{0, -1};
    EXPECT_EQ(listed(dense({3}).unsqueezed(axes).shape()), (std::vector<Index>{1, 3, 1}));
    // Existing axes keep their strides, even those with one element.
    const std::array front{0};
    EXPECT_EQ(StridedLayout({2, 1, 4}, {4, 20, 1}, ITEM_BYTES).unsqueezed(front),
              StridedLayout({1, 2, 1, 4}, {8, 4, 20, 1}, ITEM_BYTES));
    EXPECT_EQ(dense({}).unsqueezed(front), dense({1}));
    EXPECT_EQ(dense({}).flattened(), dense({1}));
    expect_error<std::invalid_argument>([] { static_cast<void>(dense({}).flattened(0, 1)); },
                                        {"end_axis: axis 1 out of range"});

    const std::array doubled{0, 0, 1};
    expect_error<std::invalid_argument>([&] { static_cast<void>(permuted.permuted(doubled)); },
                                        {"axis 0 appears multiple times"});
    const std::array far{0, 1, 3};
    expect_error<std::invalid_argument>([&] { static_cast<void>(permuted.permuted(far)); },
                                        {"axis 3 out of range for"});
    const std::array few{0};
    expect_error<std::invalid_argument>([&] { static_cast<void>(permuted.permuted(few)); },
                                        {"same length as the number of dimensions"});
}

TEST(StridedLayout, broadcasting_repeats_elements) {
    const StridedLayout layout = dense({3, 1}).broadcast_to(std::vector<Index>{2, 3, 5});
    EXPECT_EQ(layout, StridedLayout({2, 3, 5}, {0, 1, 0}, ITEM_BYTES));
    EXPECT_FALSE(layout.is_unique());
    EXPECT_EQ(layout.required_size_in_bytes(), 12U);
    expect_error<std::invalid_argument>(
        [] { static_cast<void>(dense({3}).broadcast_to(std::vector<Index>{4})); },
        {"(3,) cannot be broadcast to (4,)", "expected 1 or 4"});
}

TEST(StridedLayout, repacking_changes_the_element) {
    const StridedLayout layout = dense({5, 4});
    EXPECT_EQ(layout.max_compatible_itemsize(), 16U);
    EXPECT_EQ(layout.max_compatible_itemsize(8), 8U);
    EXPECT_EQ(layout.max_compatible_itemsize(16, 0x1008), 8U);
    EXPECT_EQ(layout.max_compatible_itemsize(16, 0x1002), ITEM_BYTES); // nothing larger fits
    EXPECT_EQ(dense({2, 6}).max_compatible_itemsize(12), 12U);
    EXPECT_EQ(dense({2, 6}).repacked(12), StridedLayout({2, 2}, {2, 1}, 12));
    EXPECT_EQ(dense({2, 6}).max_compatible_itemsize(10), ITEM_BYTES); // not a multiple of it
    expect_error<std::invalid_argument>(
        [&] { static_cast<void>(layout.max_compatible_itemsize(2)); },
        {"max_itemsize is 2, expected at least the element's 4 bytes"});
    EXPECT_EQ(layout.repacked(8), StridedLayout({5, 2}, {2, 1}, 8));
    EXPECT_EQ(layout.repacked(2), StridedLayout({5, 8}, {8, 1}, 2));
    EXPECT_EQ(layout.repacked(16, 0, -1, false), StridedLayout({5}, {1}, 16));
    EXPECT_EQ(layout.repacked(8).repacked(ITEM_BYTES), layout);
    const auto refuse = [](const StridedLayout& of, std::size_t size, std::uintptr_t address,
                           const char* words) {
        expect_error<std::invalid_argument>([&] { static_cast<void>(of.repacked(size, address)); },
                                            {words});
    };
    refuse(layout, 6, 0, "itemsize must be a multiple or a divisor of 4, got 6");
    refuse(layout, std::numeric_limits<std::size_t>::max(), 0, "a multiple or a divisor of 4");
    refuse(layout, 32, 0, "the extent of the axis is 4");
    refuse(layout, 8, 4, "the address is 4");
    refuse(dense({4, 5}, StrideOrder::F), 8, 0, "the stride of the axis is 4");
    refuse(layout.sliced({Slice::range({}, {}), Slice::range(1, 3)}), 8, 0, "the offset is 1");
}

TEST(StridedLayout, axes_of_one_element_may_have_any_stride) {
    constexpr Index huge = std::numeric_limits<Index>::max() / 2 + 1;
    const StridedLayout layout({1, 4}, {huge, 1}, 8);
    const StridedLayout narrow = layout.repacked(4);
    EXPECT_EQ(narrow.shape()[1], 8);
    EXPECT_EQ(narrow.strides()[0], std::numeric_limits<Index>::max());
    const StridedLayout stepped = layout.sliced({Slice{.step = 4}});
    EXPECT_EQ(stepped.strides()[0], std::numeric_limits<Index>::max());
    EXPECT_EQ(layout.permuted(std::vector{1, 0}).reshaped(std::vector<Index>{4}).strides()[0], 1);
    const StridedLayout backward({1, 4}, {std::numeric_limits<Index>::min(), 1}, 8);
    EXPECT_EQ(backward.max_compatible_itemsize(16, 0), 8U);
    EXPECT_EQ(backward.repacked(4).strides()[0], -std::numeric_limits<Index>::max());
}

TEST(StridedLayout, what_reaches_further_than_64_bits_can_count_is_refused) {
    constexpr Index largest = std::numeric_limits<Index>::max();
    constexpr Index smallest = std::numeric_limits<Index>::min();
    for (const Index stride : {largest, smallest, largest / 4, -(largest / 4)}) {
        expect_error<std::invalid_argument>(
            [&] { static_cast<void>(StridedLayout({3}, {stride}, ITEM_BYTES)); },
            {"reaches further than 64 bits can count bytes"});
    }
    expect_error<std::invalid_argument>(
        [] { static_cast<void>(StridedLayout({2}, std::numeric_limits<std::size_t>::max())); },
        {"itemsize must be at most"});
    // With at most one element, strides do not matter.
    EXPECT_TRUE(StridedLayout({1}, {smallest}, ITEM_BYTES).is_unique());
    EXPECT_EQ(StridedLayout({0, 2}, {smallest, largest}, ITEM_BYTES).volume(), 0);
    EXPECT_EQ(StridedLayout({0, 2}, {smallest, largest}, ITEM_BYTES).stride_order(),
              (std::vector<int>{1, 0}));
}

TEST(StridedLayout, empty_layouts_may_have_any_extents_and_strides) {
    constexpr Index large = Index{1} << 40;
    constexpr Index huge = Index{1} << 62;
    const StridedLayout empty({0, large, large}, ITEM_BYTES);
    const std::array order{1, 2, 0};
    EXPECT_EQ(listed(empty.permuted(order).shape()), (std::vector<Index>{large, large, 0}));
    EXPECT_EQ(empty.permuted(order).volume(), 0);
    EXPECT_EQ(empty.flattened().volume(), 0);
    expect_error<std::invalid_argument>([&] { static_cast<void>(empty.flattened(1)); },
                                        {"more elements or bytes than 64 bits can count"});
    const auto part =
        StridedLayout({0, 10}, {1, huge}, ITEM_BYTES).sliced({Slice::range({}, {}), Slice::at(9)});
    EXPECT_EQ(part.slice_offset_in_bytes(), 0);
}

TEST(StridedLayout, strides_at_the_end_of_what_can_be_counted_are_not_merged) {
    constexpr Index huge = Index{1} << 62;
    constexpr Index smallest = std::numeric_limits<Index>::min(); // 2 * huge, if that wraps around
    EXPECT_EQ(StridedLayout({1, 2}, {smallest, huge}, 1).flattened_axis_mask(), 0U);
    const StridedLayout columns({2, 2}, {1, huge}, 1);
    expect_error<std::invalid_argument>(
        [&] { static_cast<void>(columns.reshaped(std::vector<Index>{4})); },
        {"strides are incompatible"});
}

TEST(StridedLayout, refuses_what_is_no_layout) {
    const std::vector<Index> wide(65, 1);
    const std::vector<Index> negative{2, -3};
    const std::vector<Index> huge{Index{1} << 40U, Index{1} << 40U};
    expect_error<std::invalid_argument>([&] { StridedLayout(wide, 1U); }, {"65 dimensions"});
    expect_error<std::invalid_argument>([&] { StridedLayout(negative, 1U); }, {"(2, -3)"});
    expect_error<std::invalid_argument>([&] { StridedLayout(huge, 1U); }, {"64 bits"});
    expect_error<std::invalid_argument>([] { StridedLayout({2}, 0U); }, {"itemsize"});
    expect_error<std::invalid_argument>([] { StridedLayout({2}, {1, 1}, 4U); }, {"strides has 2"});
    expect_error<std::invalid_argument>(
        [] { static_cast<void>(StridedLayout({3}, {-1}, 4U).required_size_in_bytes()); },
        {"reaches 2 elements before its start"});
    expect_error<std::invalid_argument>(
        [] { static_cast<void>(dense({3}).sliced({Slice::at(3)})); }, {"out of range for axis 0"});
    expect_error<std::invalid_argument>(
        [] { static_cast<void>(dense({3}).sliced({Slice::range({}, {}, 0)})); },
        {"slice step cannot be zero"});
    expect_error<std::invalid_argument>(
        [] { static_cast<void>(dense({3}).sliced({Slice::at(0), Slice::at(0)})); },
        {"greater than the number of dimensions"});
}

} // namespace cuprum
