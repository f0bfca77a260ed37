// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Counts the solutions of the queens puzzle, a search with a stack in local memory for each pair
// of first rows.

#include "suite/suite.hpp"

namespace {

constexpr const char* SOURCE = R"(
extern "C" __global__ void search(int n, unsigned* count) {
    const int a = (blockIdx.x * blockDim.x + threadIdx.x) / n % n, b = threadIdx.x + blockIdx.x * blockDim.x;
    const int c = b % n;
    if (b >= n * n || a == c || a == c + 1 || a + 1 == c) return;
    const unsigned all = (1u << n) - 1;
    unsigned columns[16], left[16], right[16], open[16];
    int row = 2;
    columns[2] = 1u << a | 1u << c;
    left[2] = 1u << a << 2 | 1u << c << 1;
    right[2] = 1u << a >> 2 | 1u << c >> 1;
    open[2] = all & ~(columns[2] | left[2] | right[2]);
    unsigned found = 0;
    while (row >= 2) {
        if (open[row] == 0) { --row; continue; }
        const unsigned queen = open[row] & -open[row];
        open[row] ^= queen;
        if (row == n - 1) { ++found; continue; }
        columns[row + 1] = columns[row] | queen;
        left[row + 1] = (left[row] | queen) << 1;
        right[row + 1] = (right[row] | queen) >> 1;
        ++row;
        open[row] = all & ~(columns[row] | left[row] | right[row]);
    }
    if (found) atomicAdd(count, found);
}
)";

int search(unsigned all, unsigned columns, unsigned left, unsigned right) {
    if (columns == all) {
        return 1;
    }
    int found = 0;
    for (unsigned open = all & ~(columns | left | right); open != 0; open &= open - 1) {
        const unsigned queen = open & -open;
        found += search(all, columns | queen, (left | queen) << 1, (right | queen) >> 1);
    }
    return found;
}

void prepare(suite::Bench& bench) {
    const int n = 12;
    const auto count = bench.output<std::uint32_t>(1);
    bench.device = [=, &bench] { bench.launch("search", {(n * n + 31) / 32}, {32}, n, count); };
    bench.native = [=] {
        int found = 0;
#pragma omp parallel for reduction(+ : found) schedule(dynamic)
        for (int b = 0; b < n * n; ++b) {
            const unsigned first = 1U << b / n;
            const unsigned second = 1U << b % n;
            if (((first | first << 1 | first >> 1) & second) == 0) {
                found += search((1U << n) - 1, first | second, first << 2 | second << 1,
                                first >> 2 | second >> 1);
            }
        }
        *count.host = static_cast<std::uint32_t>(found);
    };
}

const suite::Entry ENTRY({.name = "queens",
                          .difference = "recursion instead of a stack",
                          .source = SOURCE,
                          .prepare = prepare});

} // namespace
