// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A sparse matrix times a vector, a warp for each row.

#include "suite/suite.hpp"

#include <utility>
#include <vector>

namespace {

constexpr const char* SOURCE = R"(
extern "C" __global__ void multiply(const int* starts, const int* columns, const float* values,
                                    const float* x, float* y, int n) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= n) return;
    float sum = 0;
    for (int i = starts[row] + lane; i < starts[row + 1]; i += 32) sum += values[i] * x[columns[i]];
    for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(~0u, sum, o);
    if (lane == 0) y[row] = sum;
}
)";

/// Fills a sparse matrix of `n` rows with 1 to 31 values each.
void make_matrix(int n, std::vector<int>& starts, std::vector<int>& columns) {
    starts.push_back(0);
    for (int row = 0; row < n; ++row) {
        const std::uint32_t count = 1 + suite::random_bits(row) % 31;
        for (std::uint32_t i = 0; i < count; ++i) {
            columns.push_back(static_cast<int>(suite::random_bits(columns.size() + 7) % n));
        }
        starts.push_back(static_cast<int>(columns.size()));
    }
}

void native(const int* starts, const int* columns, const float* values, const float* x, float* y,
            int n) {
#pragma omp parallel for schedule(dynamic, 256)
    for (int row = 0; row < n; ++row) {
        float sum = 0;
        for (int i = starts[row]; i < starts[row + 1]; ++i) {
            sum += values[i] * x[columns[i]];
        }
        y[row] = sum;
    }
}

void prepare(suite::Bench& bench) {
    const int n = 1 << 16;
    std::vector<int> start_list;
    std::vector<int> column_list;
    make_matrix(n, start_list, column_list);
    const auto values = bench.input<float>(column_list.size(), suite::random_float);
    const auto starts = bench.input(std::move(start_list));
    const auto columns = bench.input(std::move(column_list));
    const auto x = bench.input<float>(n, suite::random_float);
    const auto y = bench.output<float>(n);
    bench.device = [=, &bench] {
        for (int i = 0; i < 4; ++i) {
            bench.launch("multiply", {n / 4}, {128}, starts, columns, values, x, y, n);
        }
    };
    bench.native = [=] {
        for (int i = 0; i < 4; ++i) {
            native(starts.host, columns.host, values.host, x.host, y.host, n);
        }
    };
}

const suite::Entry
    ENTRY({.name = "sparse_warps", .source = SOURCE, .tolerance = 1e-5, .prepare = prepare});

} // namespace
