// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Adds up rows of a table that a list of numbers chooses, eight for each result.

#include "suite/suite.hpp"

namespace {

constexpr const char* SOURCE = R"(
extern "C" __global__ void gather(const float* table, const int* rows, float* out, int width) {
    float sum = 0;
    for (int k = 0; k < 8; ++k) sum += table[rows[blockIdx.x * 8 + k] * width + threadIdx.x];
    out[blockIdx.x * width + threadIdx.x] = sum;
}
)";

void prepare(suite::Bench& bench) {
    const int width = 128;
    const int count = 16384;
    const int entries = 4096;
    const auto table = bench.input<float>(entries * width, suite::random_float);
    const auto rows =
        bench.input<int>(8 * count, [=](std::size_t i) { return suite::random_bits(i) % entries; });
    const auto out = bench.output<float>(count * width);
    bench.device = [=, &bench] {
        bench.launch("gather", {count}, {width}, table, rows, out, width);
    };
    bench.native = [=] {
#pragma omp parallel for
        for (int i = 0; i < count; ++i) {
            float sums[width] = {};
            for (int k = 0; k < 8; ++k) {
                for (int j = 0; j < width; ++j) {
                    sums[j] += table.host[rows.host[i * 8 + k] * width + j];
                }
            }
            for (int j = 0; j < width; ++j) {
                out.host[i * width + j] = sums[j];
            }
        }
    };
}

const suite::Entry
    ENTRY({.name = "embedding", .source = SOURCE, .tolerance = 1e-5, .prepare = prepare});

} // namespace
