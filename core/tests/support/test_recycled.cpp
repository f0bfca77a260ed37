// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Memory that a thread keeps for short-lived states. Counts by replacing the allocator of this test
// program.

#include "support/recycled.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>
#include <thread>
#include <utility>
#include <vector>

namespace {

std::atomic<int> pieces{0}; // live pieces of the size that the tests look at
std::atomic<int> taken{0};  // all such pieces so far

constexpr std::size_t STATE_BYTES = 777;
constexpr std::size_t PIECE_BYTES = 800; // including what std::shared_ptr adds, at most

bool is_looked_at(std::size_t bytes) {
    return bytes >= STATE_BYTES && bytes <= PIECE_BYTES;
}

} // namespace

// NOTE: the size is stored in front of the memory, so that operator delete knows it.
void* operator new(std::size_t bytes) {
    constexpr std::size_t front = 2 * sizeof(std::size_t);
    auto* const memory = static_cast<std::size_t*>(std::malloc(bytes + front));
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    *memory = bytes;
    if (is_looked_at(bytes)) {
        ++pieces;
        ++taken;
    }
    return memory + 2;
}

// Sanitizers replace this version too, so define it here.
void* operator new(std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
    try {
        return operator new(bytes);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

void operator delete(void* memory) noexcept {
    if (memory != nullptr) {
        auto* const front = static_cast<std::size_t*>(memory) - 2;
        pieces -= is_looked_at(*front) ? 1 : 0;
        std::free(front);
    }
}

void operator delete(void* memory, std::size_t /*bytes*/) noexcept {
    operator delete(memory);
}

namespace cuprum::detail {
namespace {

struct State {
    std::array<char, STATE_BYTES> bytes{};
};

TEST(Recycled, memory_is_used_again_by_the_same_thread) {
    if (!CUPRUM_RECYCLES) {
        GTEST_SKIP() << "sanitizers see every piece come and go";
    }
    std::jthread([] {
        static_cast<void>(make_recycled<State>());
        const int before = taken;
        const void* const place = make_recycled<State>().get();
        for (int i = 0; i < 10; ++i) {
            EXPECT_EQ(make_recycled<State>().get(), place);
        }
        EXPECT_EQ(taken, before);
    }).join();
    EXPECT_EQ(pieces, 0) << "a thread that ends keeps nothing";
}

TEST(Recycled, memory_may_come_back_on_another_thread) {
    if (!CUPRUM_RECYCLES) {
        GTEST_SKIP() << "sanitizers see every piece come and go";
    }
    std::shared_ptr<State> made;
    std::jthread([&] { made = make_recycled<State>(); }).join();
    std::jthread([&] {
        const void* const place = made.get();
        made.reset();
        EXPECT_EQ(make_recycled<State>().get(), place);
    }).join();
    EXPECT_EQ(pieces, 0);
}

TEST(Recycled, only_some_pieces_are_kept) {
    if (!CUPRUM_RECYCLES) {
        GTEST_SKIP() << "sanitizers see every piece come and go";
    }
    std::jthread([] {
        std::vector<std::shared_ptr<State>> many;
        for (int i = 0; i < 1000; ++i) {
            many.push_back(make_recycled<State>());
        }
        EXPECT_EQ(pieces, 1000);
        many.clear();
        EXPECT_LE(pieces, 100);
        for (int i = 0; i < 1000; ++i) {
            many.push_back(make_recycled<State>());
        }
        EXPECT_EQ(pieces, 1000);
    }).join();
    EXPECT_EQ(pieces, 0);
}

/// Releases a state when its thread ends, before or after the thread's memory is released.
struct DroppedAtTheEnd {
    ~DroppedAtTheEnd() { state.reset(); }

    std::shared_ptr<State> state;
};

TEST(Recycled, states_may_be_dropped_while_a_thread_ends) {
    std::jthread([] {
        static thread_local DroppedAtTheEnd outlives; // constructed first, so destroyed last
        outlives.state = make_recycled<State>();
        static_cast<void>(make_recycled<State>());
        static thread_local DroppedAtTheEnd ends_first;
        ends_first.state = make_recycled<State>();
    }).join();
    EXPECT_EQ(pieces, 0);
}

} // namespace
} // namespace cuprum::detail
