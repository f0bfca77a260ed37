// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Counts letters, digits and other bytes with branches that diverge, and all bytes in shared
// memory.

#include "suite/suite.hpp"

namespace {

constexpr const char* SOURCE = R"(
extern "C" __global__ void classify(const unsigned char* data, int n, unsigned* bins, unsigned* kinds) {
    __shared__ unsigned local[256];
    local[threadIdx.x] = 0;
    __syncthreads();
    unsigned letters = 0, digits = 0, others = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
        const unsigned char c = data[i];
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
            ++letters;
            atomicAdd(&local[c & 0xdf], 1u);
        } else if (c >= '0' && c <= '9') {
            digits += c - '0';
            atomicAdd(&local[c], 1u);
        } else if (c & 1) {
            others += 3;
        } else {
            atomicAdd(&local[c / 2], 1u);
        }
    }
    __syncthreads();
    if (local[threadIdx.x]) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
    atomicAdd(&kinds[0], letters);
    atomicAdd(&kinds[1], digits);
    atomicAdd(&kinds[2], others);
}
)";

void native(const std::uint8_t* data, int n, std::uint32_t* bins, std::uint32_t* kinds) {
#pragma omp parallel
    {
        std::uint32_t local[256] = {};
        std::uint32_t mine[3] = {};
#pragma omp for nowait
        for (int i = 0; i < n; ++i) {
            const std::uint8_t c = data[i];
            if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
                ++mine[0];
                ++local[c & 0xdf];
            } else if (c >= '0' && c <= '9') {
                mine[1] += c - '0';
                ++local[c];
            } else if ((c & 1) != 0) {
                mine[2] += 3;
            } else {
                ++local[c / 2];
            }
        }
#pragma omp critical
        {
            for (int i = 0; i < 256; ++i) {
                bins[i] += local[i];
            }
            for (int i = 0; i < 3; ++i) {
                kinds[i] += mine[i];
            }
        }
    }
}

void prepare(suite::Bench& bench) {
    const int n = 1 << 21;
    const auto data = bench.input<std::uint8_t>(n, suite::random_bits);
    const auto bins = bench.output<std::uint32_t>(256);
    const auto kinds = bench.output<std::uint32_t>(3);
    bench.device = [=, &bench] { bench.launch("classify", {128}, {256}, data, n, bins, kinds); };
    bench.native = [=] { native(data.host, n, bins.host, kinds.host); };
}

const suite::Entry ENTRY({.name = "histogram", .source = SOURCE, .prepare = prepare});

} // namespace
