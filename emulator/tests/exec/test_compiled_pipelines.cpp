// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Barriers, pipelines and asynchronous copies as the CUDA compiler writes them:
// corpus/pipelines.cu.

#include "exec/corpus_test.hpp"

namespace cuprum::emulator {

namespace {

using test::Shape;
using test::TestDevice;

class CompiledPipelines : public test::CorpusTest {
protected:
    CompiledPipelines() : CorpusTest("pipelines") {}

    /// Returns whether the text has a kernel with this name.
    [[nodiscard]] bool has(const std::string& kernel) const {
        return text().find(".entry " + kernel + "(") != std::string::npos;
    }

    /// Makes an input of `count` different words.
    static int* make_input(TestDevice& device, int count) {
        int* const in = device.allocate<int>(static_cast<std::size_t>(count));
        for (int i = 0; i < count; ++i) {
            in[i] = i * i % 1009;
        }
        return in;
    }
};

TEST_F(CompiledPipelines, copies_are_done_when_their_barrier_says_so) {
    for_each_text([&](TestDevice& device) {
        int* const in = make_input(device, 256);
        int* const out = device.allocate<int>(256);
        run(device, "staged", {.block = 256}, in, out);
        for (int i = 0; i < 256; ++i) {
            ASSERT_EQ(out[i], in[255 - i]);
        }
    });
}

TEST_F(CompiledPipelines, one_warp_feeds_the_others_phase_by_phase) {
    constexpr int rounds = 20;
    for_each_text([&](TestDevice& device) {
        int* const in = make_input(device, 256);
        int* const out = device.allocate<int>(256);
        run(device, "phases", {.block = 256}, in, out, rounds);
        for (int i = 32; i < 256; ++i) {
            ASSERT_EQ(out[i], in[i] * rounds + rounds * (rounds - 1) / 2);
        }
    });
}

TEST_F(CompiledPipelines, threads_may_drop_out_of_a_barrier) {
    for_each_text([&](TestDevice& device) {
        int* const out = device.allocate<int>(8);
        run(device, "dropping", {.block = 144}, out);
        int total = 0;
        for (int round = 0; round < 8; ++round) {
            total += 144 - 16 * (round + 1);
            ASSERT_EQ(out[round], total) << round;
        }
    });
}

TEST_F(CompiledPipelines, a_block_pipelines_its_batches) {
    constexpr int batches = 9;
    for_each_text([&](TestDevice& device) {
        int* const in = make_input(device, 128 * batches);
        int* const out = device.allocate<int>(128);
        run(device, "pipelined", {.block = 128}, in, out, batches);
        for (int i = 0; i < 128; ++i) {
            int sum = 0;
            for (int b = 0; b < batches; ++b) {
                sum += in[b * 128 + 127 - i];
            }
            ASSERT_EQ(out[i], sum) << i;
        }
    });
}

TEST_F(CompiledPipelines, a_thread_pipelines_for_itself) {
    constexpr int batches = 5;
    for_each_text([&](TestDevice& device) {
        int* const in = make_input(device, 4 * 128 * batches);
        int* const out = device.allocate<int>(128);
        run(device, "thread_pipelined", {.block = 128}, in, out, batches);
        for (int i = 0; i < 128; ++i) {
            int sum = 0;
            for (int b = 0; b < batches; ++b) {
                for (int k = 0; k < 4; ++k) {
                    sum += in[4 * (b * 128 + i) + k];
                }
            }
            ASSERT_EQ(out[i], sum) << i;
        }
    });
}

TEST_F(CompiledPipelines, producers_and_consumers_share_a_pipeline) {
    constexpr int batches = 7;
    for_each_text([&](TestDevice& device) {
        int* const in = make_input(device, 64 * batches);
        int* const out = device.allocate<int>(64);
        run(device, "partitioned", {.block = 96}, in, out, batches);
        for (int i = 0; i < 64; ++i) {
            int sum = 0;
            for (int b = 0; b < batches; ++b) {
                sum += in[b * 64 + i] * (b + 1);
            }
            ASSERT_EQ(out[i], sum) << i;
        }
    });
}

TEST_F(CompiledPipelines, a_group_copies_together) {
    for_each_text([&](TestDevice& device) {
        int* const in = make_input(device, 100);
        int* const out = device.allocate<int>(100);
        run(device, "grouped", {.block = 100, .dynamic_shared_bytes = 400}, in, out);
        for (int i = 0; i < 100; ++i) {
            ASSERT_EQ(out[i], in[99 - i]) << i;
        }
    });
}

TEST_F(CompiledPipelines, blocks_of_a_cluster_see_each_other) {
    for_each_text([&](TestDevice& device) {
        if (!has("neighbours")) {
            return; // compiled for a device without clusters
        }
        int* const out = device.allocate<int>(6 * 64);
        run(device, "neighbours", {.grid = 6, .block = 64, .cluster = 2}, out);
        for (int i = 0; i < 6 * 64; ++i) {
            ASSERT_EQ(out[i], ((i / 64 ^ 1) * 100 + i % 64) * 1000 + 64) << i;
        }
    });
}

} // namespace

} // namespace cuprum::emulator
