// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Ranges that are handed out in pieces, and what uses them: malloc in kernels.

#include "builtins/free_ranges.hpp"
#include "builtins/heap.hpp"
#include "objects/graphs/ordered_list.hpp"
#include "support/scaling.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

using namespace cuprum::emulator;
using namespace cuprum::emulator::test;

TEST(FreeRanges, neighbours_are_joined) {
    FreeRanges ranges;
    ranges.put(0x1000, 0x100);
    ranges.put(0x1200, 0x100);
    EXPECT_EQ(ranges.take(0x300, 1), 0U);
    ranges.put(0x1100, 0x100);
    EXPECT_EQ(ranges.take(0x300, 1), 0x1000U);
    EXPECT_EQ(ranges.take(1, 1), 0U);
}

TEST(FreeRanges, the_lowest_of_those_that_fit_best_is_taken) {
    FreeRanges ranges;
    ranges.put(0x1000, 0x400);
    ranges.put(0x2000, 0x100);
    ranges.put(0x3000, 0x100);
    EXPECT_EQ(ranges.take(0x100, 1), 0x2000U);
    EXPECT_EQ(ranges.take(0x100, 1), 0x3000U);
    EXPECT_EQ(ranges.take(0x100, 1), 0x1000U);
    EXPECT_EQ(ranges.take(0x300, 1), 0x1100U);
}

TEST(FreeRanges, pieces_are_aligned_and_the_rest_stays) {
    FreeRanges ranges;
    ranges.put(0x1010, 0x200);
    EXPECT_EQ(ranges.take(0x100, 0x100), 0x1100U);
    EXPECT_EQ(ranges.take(0xf0, 1), 0x1010U);
    EXPECT_EQ(ranges.take(0x10, 1), 0x1200U);
    EXPECT_EQ(ranges.take(1, 1), 0U);
}

TEST(FreeRanges, an_aligned_piece_among_many_is_found_at_last) {
    FreeRanges ranges;
    for (std::uint64_t index = 0; index < 100; ++index) {
        ranges.put(0x100000 + index * 0x10000 + 0x10, 0x1000);
    }
    ranges.put(0x10000000, 0x1000);
    EXPECT_EQ(ranges.take(0x1000, 0x1000), 0U) << "not found quickly";
    EXPECT_EQ(ranges.take(0x1000, 0x1000, true), 0x10000000U);
    ranges.put(0x20000010, 0x2000);
    EXPECT_EQ(ranges.take(0x1000, 0x1000), 0x20001000U);
}

TEST(FreeRanges, a_range_is_taken_at_its_beginning) {
    FreeRanges ranges;
    ranges.put(0x1000, 0x200);
    EXPECT_FALSE(ranges.take_at(0x1100, 0x100));
    EXPECT_FALSE(ranges.take_at(0x1000, 0x300));
    EXPECT_TRUE(ranges.take_at(0x1000, 0x100));
    EXPECT_TRUE(ranges.take_at(0x1100, 0x100));
    EXPECT_FALSE(ranges.take_at(0x1200, 1));
}

TEST(FreeRanges, random_pieces_never_overlap) {
    constexpr std::uint64_t base = 0x10000;
    constexpr std::uint64_t bytes = 0x8000;
    FreeRanges ranges;
    ranges.put(base, bytes);
    std::map<std::uint64_t, std::uint64_t> taken;
    std::mt19937 random(1);
    for (int round = 0; round < 20000; ++round) {
        if (random() % 2 == 0 && !taken.empty()) {
            auto piece = taken.lower_bound(base + random() % bytes);
            piece = piece == taken.end() ? taken.begin() : piece;
            ranges.put(piece->first, piece->second);
            taken.erase(piece);
            continue;
        }
        const std::uint64_t size = 1 + random() % 0x200;
        const std::uint64_t alignment = std::uint64_t{1} << random() % 8;
        const std::uint64_t found = ranges.take(size, alignment, true);
        if (found == 0) {
            continue;
        }
        ASSERT_EQ(found % alignment, 0U);
        ASSERT_TRUE(found >= base && found + size <= base + bytes);
        const auto [place, is_new] = taken.emplace(found, size);
        ASSERT_TRUE(is_new);
        ASSERT_TRUE(std::next(place) == taken.end() || std::next(place)->first >= found + size);
        ASSERT_TRUE(place == taken.begin() ||
                    std::prev(place)->first + std::prev(place)->second <= found);
    }
    for (const auto& [start, size] : taken) {
        ranges.put(start, size);
    }
    EXPECT_EQ(ranges.take(bytes, 1), base) << "all of it is one range again";
}

TEST(Scaling, malloc_in_kernels) {
    const auto make = [](std::size_t count) {
        return std::pair(std::make_unique<builtins::Heap>(0x100000, count * 256), count);
    };
    expect_scales(2000, make, [](auto& input) {
        auto& [heap, count] = input;
        std::vector<std::uint64_t> pieces(count);
        for (std::uint64_t& piece : pieces) {
            piece = heap->allocate(32);
            EXPECT_NE(piece, 0U);
        }
        for (std::size_t index = 0; index < count; index += 2) {
            EXPECT_TRUE(heap->release(pieces[index]));
        }
        for (std::size_t index = 0; index < count; index += 2) { // no gap has room for them
            pieces[index] = heap->allocate(64);
            EXPECT_NE(pieces[index], 0U);
        }
        for (const std::uint64_t piece : pieces) {
            EXPECT_TRUE(heap->release(piece));
        }
    });
}

namespace {

struct ItselfOf {
    const int* operator()(const int* item) const noexcept { return item; }
};

} // namespace

TEST(OrderedList, items_keep_their_order_and_are_found) {
    for (const std::size_t count : {std::size_t{5}, std::size_t{100}}) {
        const std::vector<int> numbers(count);
        OrderedList<const int*, ItselfOf> list;
        for (const int& number : numbers) {
            list.add(&number);
        }
        EXPECT_EQ(list.size(), count);
        EXPECT_TRUE(list.erase(&numbers[1]));
        EXPECT_FALSE(list.erase(&numbers[1]));
        EXPECT_FALSE(list.contains(&numbers[1]));
        EXPECT_TRUE(list.contains(&numbers[2]));
        EXPECT_EQ(*list.find(&numbers[3]), &numbers[3]);
        EXPECT_EQ(list.size(), count - 1);
        ASSERT_EQ(list.items().size(), count - 1);
        EXPECT_EQ(list.items()[0], numbers.data());
        EXPECT_EQ(list.items()[1], &numbers[2]);
        list.add(&numbers[1]);
        EXPECT_EQ(list.items().back(), &numbers[1]);
        for (const int& number : numbers) {
            EXPECT_TRUE(list.erase(&number));
        }
        EXPECT_TRUE(list.empty());
        EXPECT_TRUE(list.items().empty());
    }
}

TEST(Scaling, ordered_lists) {
    expect_scales(2000, [](std::size_t count) {
        const std::vector<int> numbers(count);
        OrderedList<const int*, ItselfOf> list;
        for (const int& number : numbers) {
            list.add(&number);
        }
        for (const int& number : numbers) {
            EXPECT_TRUE(list.erase(&number));
        }
    });
}
