// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Counts where a pattern occurs in a text, from every position, until a letter differs.

#include "suite/suite.hpp"

namespace {

constexpr const char* SOURCE = R"(
extern "C" __global__ void match(const unsigned char* text, const unsigned char* pattern, int n, int m, int* count) {
    int found = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i <= n - m; i += gridDim.x * blockDim.x) {
        int k = 0;
        while (k < m && text[i + k] == pattern[k]) ++k;
        found += k == m;
    }
    if (found) atomicAdd(count, found);
}
)";

void prepare(suite::Bench& bench) {
    const int n = 1 << 22;
    const int m = 6;
    const auto letter = [](std::size_t i) { return 'a' + suite::random_bits(i) % 3; };
    const auto text = bench.input<std::uint8_t>(n, letter);
    const auto pattern =
        bench.input<std::uint8_t>(m, [=](std::size_t i) { return letter(i + 1000); });
    const auto count = bench.output<int>(1);
    bench.device = [=, &bench] { bench.launch("match", {256}, {256}, text, pattern, n, m, count); };
    bench.native = [=] {
        int found = 0;
#pragma omp parallel for reduction(+ : found)
        for (int i = 0; i <= n - m; ++i) {
            int k = 0;
            while (k < m && text.host[i + k] == pattern.host[k]) {
                ++k;
            }
            found += k == m ? 1 : 0;
        }
        *count.host = found;
    };
}

const suite::Entry ENTRY({.name = "string_match", .source = SOURCE, .prepare = prepare});

} // namespace
