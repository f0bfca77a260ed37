// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Edit distances of pairs of strings, a block for each pair, one anti-diagonal of the table
// after the other.

#include "suite/suite.hpp"

#include <algorithm>

namespace {

constexpr const char* SOURCE = R"(
extern "C" __global__ void distance(const unsigned char* left, const unsigned char* right, int* out) {
    __shared__ int rows[3][129];
    __shared__ unsigned char a[128], b[128];
    const int t = threadIdx.x;
    a[t] = left[blockIdx.x * 128 + t];
    b[t] = right[blockIdx.x * 128 + t];
    int *before = rows[0], *last = rows[1], *next = rows[2];
    for (int d = 0; d <= 256; ++d) {
        __syncthreads();
        for (int i = t; i <= 128; i += 128) {
            const int j = d - i;
            if (j < 0 || j > 128) continue;
            next[i] = i == 0 ? j : j == 0 ? i :
                min(min(last[i], last[i - 1]) + 1, before[i - 1] + (a[i - 1] != b[j - 1]));
        }
        int* const free = before;
        before = last; last = next; next = free;
    }
    __syncthreads();
    if (t == 0) out[blockIdx.x] = last[128];
}
)";

void native(const std::uint8_t* left, const std::uint8_t* right, int* out, int count) {
#pragma omp parallel for
    for (int pair = 0; pair < count; ++pair) {
        int rows[3][129] = {};
        int* before = rows[0];
        int* last = rows[1];
        int* next = rows[2];
        std::uint8_t turned[128]; // so that both strings are read forwards
        for (int i = 0; i < 128; ++i) {
            turned[127 - i] = right[pair * 128 + i];
        }
        const std::uint8_t* const a = left + pair * 128;
        for (int d = 0; d <= 256; ++d) {
            const int first = std::max(1, d - 128);
            const int end = std::min(128, d - 1);
            for (int i = first; i <= end; ++i) {
                next[i] = std::min(std::min(last[i], last[i - 1]) + 1,
                                   before[i - 1] + (a[i - 1] != turned[128 - d + i] ? 1 : 0));
            }
            if (d <= 128) {
                next[0] = d;
                next[d] = d;
            }
            int* const free = before;
            before = last;
            last = next;
            next = free;
        }
        out[pair] = last[128];
    }
}

void prepare(suite::Bench& bench) {
    const int count = 2048;
    const auto letter = [](std::size_t i) { return 'a' + suite::random_bits(i) % 4; };
    const auto left = bench.input<std::uint8_t>(128 * count, letter);
    const auto right =
        bench.input<std::uint8_t>(128 * count, [=](std::size_t i) { return letter(~i); });
    const auto out = bench.output<int>(count);
    bench.device = [=, &bench] { bench.launch("distance", {count}, {128}, left, right, out); };
    bench.native = [=] { native(left.host, right.host, out.host, count); };
}

const suite::Entry ENTRY({.name = "edit_distance", .source = SOURCE, .prepare = prepare});

} // namespace
