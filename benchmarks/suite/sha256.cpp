// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// One block of SHA-256 of many messages, a thread for each.

#include "suite/suite.hpp"

namespace {

constexpr const char* SOURCE = R"(
__constant__ unsigned K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};
__device__ unsigned turn(unsigned x, int by) { return x >> by | x << (32 - by); }
__device__ inline void sha256(const unsigned* message, unsigned stride, unsigned* hash) {
    unsigned w[16];
    for (int i = 0; i < 16; ++i) w[i] = message[i * stride];
    unsigned a = 0x6a09e667, b = 0xbb67ae85, c = 0x3c6ef372, d = 0xa54ff53a, e = 0x510e527f, f = 0x9b05688c,
             g = 0x1f83d9ab, h = 0x5be0cd19;
    for (int i = 0; i < 64; ++i) {
        if (i >= 16) {
            const unsigned x = w[(i + 1) & 15], y = w[(i + 14) & 15];
            w[i & 15] += (turn(x, 7) ^ turn(x, 18) ^ x >> 3) + w[(i + 9) & 15] +
                (turn(y, 17) ^ turn(y, 19) ^ y >> 10);
        }
        const unsigned p = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + K[i] + w[i & 15];
        const unsigned q = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g; g = f; f = e; e = d + p; d = c; c = b; b = a; a = p + q;
    }
    hash[0] = a + 0x6a09e667; hash[1] = b + 0xbb67ae85; hash[2] = c + 0x3c6ef372; hash[3] = d + 0xa54ff53a;
    hash[4] = e + 0x510e527f; hash[5] = f + 0x9b05688c; hash[6] = g + 0x1f83d9ab; hash[7] = h + 0x5be0cd19;
}
extern "C" __global__ void hash(const unsigned* messages, unsigned* hashes, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned out[8];
    sha256(messages + i, n, out);
    for (int k = 0; k < 8; ++k) hashes[k * n + i] = out[k];
}
)";

constexpr std::uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

inline std::uint32_t turn(std::uint32_t x, int by) {
    return x >> by | x << (32 - by);
}

/// Hashes sixteen messages at a time.
void native(const std::uint32_t* messages, std::uint32_t* hashes, int n) {
    constexpr int LANES = 16;
    constexpr std::uint32_t FIRST[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
#pragma omp parallel for
    for (int first = 0; first < n; first += LANES) {
        std::uint32_t w[16][LANES];
        std::uint32_t s[8][LANES];
        for (int i = 0; i < 16; ++i) {
            for (int l = 0; l < LANES; ++l) {
                w[i][l] = messages[i * n + first + l];
            }
        }
        for (int i = 0; i < 8; ++i) {
            for (int l = 0; l < LANES; ++l) {
                s[i][l] = FIRST[i];
            }
        }
        for (int i = 0; i < 64; ++i) {
#pragma omp simd
            for (int l = 0; l < LANES; ++l) {
                if (i >= 16) {
                    const std::uint32_t x = w[(i + 1) & 15][l];
                    const std::uint32_t y = w[(i + 14) & 15][l];
                    w[i & 15][l] += (turn(x, 7) ^ turn(x, 18) ^ x >> 3) + w[(i + 9) & 15][l] +
                                    (turn(y, 17) ^ turn(y, 19) ^ y >> 10);
                }
                const std::uint32_t a = s[0][l];
                const std::uint32_t e = s[4][l];
                const std::uint32_t p = s[7][l] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) +
                                        ((e & s[5][l]) ^ (~e & s[6][l])) + K[i] + w[i & 15][l];
                const std::uint32_t q = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) +
                                        ((a & s[1][l]) ^ (a & s[2][l]) ^ (s[1][l] & s[2][l]));
                s[7][l] = s[6][l];
                s[6][l] = s[5][l];
                s[5][l] = e;
                s[4][l] = s[3][l] + p;
                s[3][l] = s[2][l];
                s[2][l] = s[1][l];
                s[1][l] = a;
                s[0][l] = p + q;
            }
        }
        for (int i = 0; i < 8; ++i) {
            for (int l = 0; l < LANES; ++l) {
                hashes[i * n + first + l] = s[i][l] + FIRST[i];
            }
        }
    }
}

void prepare(suite::Bench& bench) {
    const int n = 1 << 18;
    const auto messages = bench.input<std::uint32_t>(16 * n, suite::random_bits);
    const auto hashes = bench.output<std::uint32_t>(8 * n);
    bench.device = [=, &bench] { bench.launch("hash", {n / 128}, {128}, messages, hashes, n); };
    bench.native = [=] { native(messages.host, hashes.host, n); };
}

const suite::Entry ENTRY({.name = "sha256", .source = SOURCE, .prepare = prepare});

} // namespace
