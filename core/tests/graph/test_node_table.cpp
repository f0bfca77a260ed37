// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The table of nodes and the holder of what they keep alive: no driver needed.

#include "graph/graph_state.hpp"
#include "graph/payload.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

namespace cuprum::detail {
namespace {

CUgraphNode handle(std::uintptr_t number) {
    return reinterpret_cast<CUgraphNode>(number * 0x40);
}

NodeShare node(NodeTable& table, std::uintptr_t number) {
    NodeShare made = table.make();
    made->handle = handle(number);
    return made;
}

TEST(NodeTable, an_empty_table_finds_nothing) {
    NodeTable table;
    EXPECT_EQ(table.find(handle(1)), nullptr);
    table.erase(handle(1));
    EXPECT_EQ(table.size(), 0U);
}

TEST(NodeTable, agrees_with_a_map_after_many_changes) {
    constexpr int CHANGES = 20'000;
    constexpr unsigned HANDLES = 300;
    std::mt19937 random(1); // NOLINT(cert-msc51-cpp): the same numbers each time
    NodeTable table;
    std::map<CUgraphNode, NodeShare> expected;
    for (int i = 0; i < CHANGES; ++i) {
        const CUgraphNode key = handle(1 + random() % HANDLES);
        if (expected.contains(key)) {
            table.erase(key);
            expected.erase(key);
        } else {
            NodeShare made = node(table, reinterpret_cast<std::uintptr_t>(key) / 0x40);
            expected[key] = made;
            table.insert(made);
        }
        ASSERT_EQ(table.size(), expected.size());
        if (random() % 4 != 0) {
            continue; // several nodes are added between two searches
        }
        const CUgraphNode probe = handle(1 + random() % HANDLES);
        const auto place = expected.find(probe);
        ASSERT_EQ(table.find(probe), place == expected.end() ? nullptr : place->second);
    }
    for (const auto& [key, state] : expected) {
        EXPECT_EQ(table.find(key), state);
    }
    std::size_t seen = 0;
    table.for_each([&](const NodeShare&) { ++seen; });
    EXPECT_EQ(seen, expected.size());
    table.clear();
    EXPECT_EQ(table.find(expected.begin()->first), nullptr);
}

TEST(NodeTable, erasing_gives_up_the_share) {
    NodeTable table;
    NodeShare made = node(table, 1);
    const long shares = made.use_count(); // of all nodes in its piece of memory
    table.insert(made);
    EXPECT_EQ(made.use_count(), shares + 1);
    table.erase(made->handle);
    EXPECT_EQ(made.use_count(), shares);
}

TEST(NodeTable, the_memory_of_nodes_goes_with_the_last_of_them) {
    NodeShare kept;
    {
        NodeTable table;
        for (std::uintptr_t number = 1; number < 100; ++number) {
            kept = node(table, number);
            table.insert(kept);
        }
        EXPECT_GT(kept.use_count(), 1);
    }
    EXPECT_EQ(kept.use_count(), 1);
}

TEST(NodeTable, a_node_that_is_taken_back_is_not_there) {
    NodeTable table;
    static_cast<void>(table.make());
    EXPECT_EQ(table.promised(), 1U);
    table.take_back();
    EXPECT_EQ(table.promised(), 0U);
    EXPECT_EQ(table.size(), 0U);
}

TEST(NodeTable, nodes_that_are_inserted_late_or_never_agree_with_a_map) {
    constexpr int CHANGES = 20'000;
    constexpr unsigned HANDLES = 300;
    std::mt19937 random(2); // NOLINT(cert-msc51-cpp): the same numbers each time
    NodeTable table;
    std::map<CUgraphNode, const NodeState*> expected;
    std::vector<std::pair<CUgraphNode, NodeShare>> promised; // made, inserted later
    const auto is_expected = [&](CUgraphNode key) {
        const auto place = expected.find(key);
        return table.find(key).get() == (place == expected.end() ? nullptr : place->second);
    };
    for (int i = 0; i < CHANGES; ++i) {
        const CUgraphNode key = handle(1 + random() % HANDLES);
        const bool is_promised =
            std::ranges::any_of(promised, [&](const auto& each) { return each.first == key; });
        if (expected.contains(key)) {
            table.erase(key);
            expected.erase(key);
        } else if (is_promised) {
            continue;
        } else if (random() % 4 == 0) {
            promised.emplace_back(key, table.make());
        } else {
            NodeShare made = table.make();
            if (random() % 16 == 0) {
                table.take_back(); // the driver refused the node
                continue;
            }
            made->handle = key;
            expected[key] = made.get();
            table.insert(std::move(made));
        }
        if (!promised.empty() && random() % 2 == 0) {
            auto& [later, made] = promised.front();
            made->handle = later;
            expected[later] = made.get();
            table.insert(std::move(made));
            promised.erase(promised.begin());
        }
        ASSERT_EQ(table.size(), expected.size());
        ASSERT_EQ(table.promised(), promised.size());
        if (random() % 8 == 0) {
            ASSERT_TRUE(is_expected(handle(1 + random() % HANDLES)));
        }
    }
    const auto all = table.shares_of([](const NodeState& /*node*/) { return true; });
    EXPECT_EQ(all.size(), expected.size());
    for (const NodeShare& each : all) {
        EXPECT_EQ(expected.at(each->handle), each.get());
        EXPECT_GE(each.use_count(), 2);
    }
    for (unsigned i = 1; i <= HANDLES; ++i) {
        EXPECT_TRUE(is_expected(handle(i)));
    }
}

TEST(Payload, holds_and_releases_its_owners) {
    const std::size_t before = Payload::live_count();
    auto object = std::make_shared<int>(1);
    {
        const auto payload = Payload::make(3);
        payload->owners()[1] = object;
        EXPECT_EQ(object.use_count(), 2);
        EXPECT_EQ(payload->owners()[0], nullptr);
        EXPECT_EQ(Payload::live_count(), before + 1);
    }
    release_payloads();
    EXPECT_EQ(object.use_count(), 1);
    EXPECT_EQ(Payload::live_count(), before);
}

TEST(Payload, of_nothing_is_none) {
    EXPECT_EQ(Payload::of(nullptr), nullptr);
    const auto second = Payload::of(nullptr, std::make_shared<int>(1));
    EXPECT_EQ(second->owners()[0], nullptr);
    EXPECT_NE(second->owners()[1], nullptr);
}

TEST(Payload, the_last_share_only_defers_its_release) {
    auto object = std::make_shared<int>(1);
    PayloadShare first = Payload::of(object);
    PayloadShare second = first;
    first = nullptr;
    release_payloads();
    EXPECT_EQ(object.use_count(), 2);
    second = nullptr;
    EXPECT_EQ(object.use_count(), 2) << "released where a lock may be held, or inside the driver";
    release_payloads();
    EXPECT_EQ(object.use_count(), 1);
}

TEST(Payload, what_only_another_payload_held_is_released_with_it) {
    auto object = std::make_shared<int>(1);
    static_cast<void>(Payload::of(std::make_shared<PayloadShare>(Payload::of(object))));
    release_payloads();
    EXPECT_EQ(object.use_count(), 1);
}

TEST(Payload, a_share_that_is_given_out_can_be_taken_back) {
    auto object = std::make_shared<int>(1);
    PayloadShare share = Payload::of(object);
    Payload* const given = share.release();
    EXPECT_EQ(share, nullptr);
    EXPECT_EQ(share.release(), nullptr);
    share = PayloadShare(given);
    share = nullptr;
    release_payloads();
    EXPECT_EQ(object.use_count(), 1);
}

TEST(AddressRanges, agree_with_a_list_of_ranges_that_may_overlap) {
    std::mt19937 random(3); // NOLINT(cert-msc51-cpp): the same numbers each time
    AddressRanges ranges;
    std::vector<std::pair<CUdeviceptr, std::size_t>> expected;
    EXPECT_FALSE(ranges.contains(0));
    for (int i = 0; i < 60; ++i) {
        const CUdeviceptr begin = random() % 2000;
        const std::size_t bytes = 1 + random() % 40;
        ranges.add(AddressRanges::make_room(), begin, bytes);
        expected.emplace_back(begin, bytes);
        for (CUdeviceptr address = 0; address < 2100; ++address) {
            const bool is_expected = std::ranges::any_of(expected, [&](const auto& each) {
                return address >= each.first && address - each.first < each.second;
            });
            ASSERT_EQ(ranges.contains(address), is_expected) << address;
        }
    }
}

} // namespace
} // namespace cuprum::detail
