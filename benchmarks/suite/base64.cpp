// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Encodes bytes as base64, with a table in constant memory.

#include "suite/suite.hpp"

namespace {

constexpr const char* SOURCE = R"(
__constant__ char letters[65] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
extern "C" __global__ void encode(const unsigned char* from, unsigned* to, int groups) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= groups) return;
    const unsigned v = from[3 * i] << 16 | from[3 * i + 1] << 8 | from[3 * i + 2];
    to[i] = letters[v >> 18] | letters[v >> 12 & 63] << 8 | letters[v >> 6 & 63] << 16 | letters[v & 63] << 24;
}
)";

constexpr char LETTERS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void prepare(suite::Bench& bench) {
    const int groups = 1 << 22;
    const auto from = bench.input<std::uint8_t>(3 * groups, suite::random_bits);
    const auto to = bench.output<std::uint32_t>(groups);
    bench.device = [=, &bench] { bench.launch("encode", {groups / 256}, {256}, from, to, groups); };
    bench.native = [=] {
#pragma omp parallel for
        for (int i = 0; i < groups; ++i) {
            const std::uint32_t v =
                from.host[3 * i] << 16 | from.host[3 * i + 1] << 8 | from.host[3 * i + 2];
            const auto letter = [=](int shift) {
                return static_cast<std::uint32_t>(LETTERS[v >> shift & 63]);
            };
            to.host[i] = letter(18) | letter(12) << 8 | letter(6) << 16 | letter(0) << 24;
        }
    };
}

const suite::Entry ENTRY({.name = "base64", .source = SOURCE, .prepare = prepare});

} // namespace
