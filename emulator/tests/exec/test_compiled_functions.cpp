// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Calls as the CUDA compiler writes them (corpus/functions.cu), compared with the same functions
// compiled for the host.

#include "corpus/functions.hpp"
#include "exec/corpus_test.hpp"

#include <algorithm>

namespace cuprum::emulator {

namespace {

using test::Shape;
using test::TestDevice;

constexpr std::uint32_t THREADS = 96;

class CompiledFunctions : public test::CorpusTest {
protected:
    CompiledFunctions() : CorpusTest("functions") {}
};

} // namespace

TEST_F(CompiledFunctions, every_thread_sorts_by_recursion) {
    for_each_text([&](TestDevice& device) {
        constexpr int LENGTH = 61;
        constexpr int SLICES = 128;
        auto* data = device.allocate<int>(SLICES * LENGTH);
        std::uint32_t state = 1;
        for (int i = 0; i < SLICES * LENGTH; ++i) {
            state = state * 1664525u + 1013904223u;
            data[i] = static_cast<int>(state >> 20);
        }
        std::vector<int> expected(data, data + SLICES * LENGTH);
        for (int slice = 0; slice < SLICES; ++slice) {
            std::sort(expected.begin() + slice * LENGTH, expected.begin() + (slice + 1) * LENGTH);
        }
        run(device, "sort_slices", {.grid = 2, .block = SLICES / 2}, data, LENGTH);
        EXPECT_TRUE(std::equal(expected.begin(), expected.end(), data));
    });
}

TEST_F(CompiledFunctions, functions_call_each_other_with_arrays_of_their_own) {
    for_each_text([&](TestDevice& device) {
        auto* out = device.allocate<int>(THREADS);
        run(device, "parities", {.block = THREADS}, out);
        for (std::uint32_t i = 0; i < THREADS; ++i) {
            EXPECT_EQ(out[i], functions::parity(static_cast<int>(i) % 37)) << i;
        }
    });
}

TEST_F(CompiledFunctions, virtual_functions_and_pointers_to_members) {
    for_each_text([&](TestDevice& device) {
        auto* out = device.allocate<double>(THREADS);
        run(device, "objects", {.block = THREADS}, out);
        for (std::uint32_t i = 0; i < THREADS; ++i) {
            EXPECT_EQ(out[i], functions::use_objects(static_cast<int>(i))) << i;
        }
    });
}

TEST_F(CompiledFunctions, loops_that_part_at_pointers_to_functions) {
    for_each_text([&](TestDevice& device) {
        auto* out = device.allocate<unsigned>(THREADS);
        run(device, "mixes", {.block = THREADS}, out, 100u);
        for (std::uint32_t i = 0; i < THREADS; ++i) {
            EXPECT_EQ(out[i], functions::mix(i, 100)) << i;
        }
    });
}

TEST_F(CompiledFunctions, shuffles_and_barriers_inside_recursion) {
    for_each_text([&](TestDevice& device) {
        auto* out = device.allocate<int>(THREADS);
        run(device, "warp_sums", {.block = THREADS}, out);
        for (std::uint32_t i = 0; i < THREADS; ++i) {
            const std::uint32_t sum = i / 32 * 32 * 32 + 31 * 32 / 2;
            EXPECT_EQ(out[i], static_cast<int>(sum * 1000 + THREADS * 5)) << i;
        }
    });
}

TEST_F(CompiledFunctions, a_cooperative_grid_meets_twice) {
    for_each_text([&](TestDevice& device) {
        constexpr std::uint32_t BLOCKS = 20;
        device.grid_workspace = reinterpret_cast<std::uint64_t>(device.allocate<std::uint32_t>(16));
        auto* sum = device.allocate<int>(1);
        auto* out = device.allocate<int>(BLOCKS * THREADS);
        run(device, "count_over_grid", {.grid = BLOCKS, .block = THREADS, .is_cooperative = true},
            sum, out);
        for (std::uint32_t i = 0; i < BLOCKS * THREADS; ++i) {
            ASSERT_EQ(out[i], static_cast<int>(BLOCKS * THREADS)) << i;
        }
    });
}

} // namespace cuprum::emulator
