// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "kernels/native.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

// Compiled twice: for this machine, and for AVX2.
#ifndef CUPRUM_NATIVE_KERNELS
#define CUPRUM_NATIVE_KERNELS FOR_THIS_MACHINE
#endif

namespace native {

namespace {

int thread_count = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));

void use_threads(unsigned count) {
    thread_count = static_cast<int>(count);
}

/// Runs `body(begin, end)` over [0, count), a part on each thread.
template <typename Body>
void parallel(int count, Body body) {
    const int parts = thread_count;
    std::vector<std::thread> threads;
    for (int i = 0; i < parts; ++i) {
        threads.emplace_back([=] { body(count * i / parts, count * (i + 1) / parts); });
    }
    for (auto& thread : threads) {
        thread.join();
    }
}

/// Runs `body(steps)` until `count` steps are done. Threads on slow processors do fewer of them.
template <typename Body>
void share_out(int count, Body body) {
    const int part = count / 512;
    std::atomic<int> left{512};
    parallel(thread_count, [&left, part, body](int, int) {
        while (left.fetch_sub(1, std::memory_order_relaxed) > 0) {
            body(part);
        }
    });
}

void saxpy(float a, const float* x, float* y, int n) {
    parallel(n / 1024, [=](int begin, int end) {
        const int last = end * 1024;
        for (int i = begin * 1024; i < last; ++i) {
            y[i] = a * x[i] + y[i];
        }
    });
}

void matmul(const float* a, const float* b, float* c, int n) {
    parallel(n, [=](int begin, int end) {
        for (int row = begin; row < end; ++row) {
            float* const out = c + row * n;
            for (int column = 0; column < n; ++column) {
                out[column] = 0;
            }
            for (int k = 0; k < n; ++k) {
                const float factor = a[row * n + k];
                const float* const line = b + k * n;
#pragma omp simd
                for (int column = 0; column < n; ++column) {
                    out[column] += factor * line[column];
                }
            }
        }
    });
}

void arithmetic(int steps) {
#if defined(__AVX512F__)
    constexpr int bytes = 64;
#else
    constexpr int bytes = 32;
#endif
    typedef float Values __attribute__((vector_size(bytes)));
    constexpr int chains = 12; // more than the units have operations under way
    share_out(steps, [](int part) {
        Values values[chains] = {};
        for (int step = 0; step < part; ++step) {
            for (Values& each : values) {
                each = each * 0.5F + 1.0F;
            }
        }
        for (const Values& each : values) {
            asm volatile("" : : "m"(each)); // the results count as used
        }
    });
}

void instructions(int steps) {
    share_out(steps, [](int part) {
        std::uint64_t values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
        for (int step = 0; step < part; ++step) {
#pragma GCC unroll 8
            for (std::uint64_t& each : values) {
                each ^= each + 12345;
                asm volatile("" : "+r"(each)); // not simplified
            }
        }
    });
}

void mandelbrot(int* out, int size, int limit) {
    // Computes sixteen pixels at a time with a mask, like hand-vectorised code.
    constexpr int LANES = 16;
    parallel(size, [=](int begin, int end) {
        for (int py = begin; py < end; ++py) {
            const float cy = -1.5F + 3.0F * static_cast<float>(py) / static_cast<float>(size);
            for (int px = 0; px < size; px += LANES) {
                float x[LANES] = {};
                float y[LANES] = {};
                float cx[LANES];
                int n[LANES] = {};
                for (int i = 0; i < LANES; ++i) {
                    cx[i] = -2.0F + 3.0F * static_cast<float>(px + i) / static_cast<float>(size);
                }
                for (int step = 0; step < limit; ++step) {
                    int alive = 0;
#pragma omp simd reduction(+ : alive)
                    for (int i = 0; i < LANES; ++i) {
                        const float xx = x[i] * x[i];
                        const float yy = y[i] * y[i];
                        const int inside = xx + yy < 4.0F ? 1 : 0;
                        const float nx = xx - yy + cx[i];
                        const float ny = 2.0F * x[i] * y[i] + cy;
                        x[i] = inside != 0 ? nx : x[i];
                        y[i] = inside != 0 ? ny : y[i];
                        n[i] += inside;
                        alive += inside;
                    }
                    if (alive == 0) {
                        break;
                    }
                }
                for (int i = 0; i < LANES; ++i) {
                    out[py * size + px + i] = n[i];
                }
            }
        }
    });
}

float reduce(const float* data, int n) {
    std::vector<float> sums(64);
    parallel(64, [=, &sums](int begin, int end) {
        for (int part = begin; part < end; ++part) {
            float sum = 0;
            const int last = n / 64 * (part + 1);
#pragma omp simd reduction(+ : sum)
            for (int i = n / 64 * part; i < last; ++i) {
                sum += data[i];
            }
            sums[static_cast<std::size_t>(part)] = sum;
        }
    });
    float total = 0;
    for (const float sum : sums) {
        total += sum;
    }
    return total;
}

void histogram(const unsigned char* data, unsigned* bins, int n) {
    std::vector<std::vector<unsigned>> parts(8, std::vector<unsigned>(256));
    parallel(8, [=, &parts](int begin, int end) {
        for (int part = begin; part < end; ++part) {
            auto& mine = parts[static_cast<std::size_t>(part)];
            for (int i = n / 8 * part; i < n / 8 * (part + 1); ++i) {
                ++mine[data[i]];
            }
        }
    });
    for (const auto& part : parts) {
        for (std::size_t i = 0; i < 256; ++i) {
            bins[i] += part[i];
        }
    }
}

} // namespace

const Kernels CUPRUM_NATIVE_KERNELS = {
    .use_threads = use_threads,
    .saxpy = saxpy,
    .matmul = matmul,
    .arithmetic = arithmetic,
    .instructions = instructions,
    .mandelbrot = mandelbrot,
    .reduce = reduce,
    .histogram = histogram,
};

} // namespace native
