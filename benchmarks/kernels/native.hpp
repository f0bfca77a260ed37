// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The benchmark's kernels as native, vectorised code on several threads.

#pragma once

namespace native {

struct Kernels {
    /// Sets how many threads all of these use from now on. The default is one per core.
    void (*use_threads)(unsigned count);

    /// y = a * x + y; `n` is a multiple of 1024.
    void (*saxpy)(float a, const float* x, float* y, int n);

    /// c = a * b, square matrices with `n` rows.
    void (*matmul)(const float* a, const float* b, float* c, int n);

    /// Runs `steps` rounds of multiply-adds that keep the vector units busy and access no memory.
    /// Threads on slow processors do fewer of them.
    void (*arithmetic)(int steps);

    /// Does the same with integer instructions, as many at a time as a processor can start. They
    /// slow down more than arithmetic on vectors if two processors share a core.
    void (*instructions)(int steps);

    /// Counts the steps, at most `limit`, that each of size * size points stays near the origin.
    void (*mandelbrot)(int* out, int size, int limit);

    /// Returns the sum of `n` values, a multiple of 64.
    float (*reduce)(const float* data, int n);

    /// Adds to `bins` how often each byte occurs; `n` is a multiple of 8.
    void (*histogram)(const unsigned char* data, unsigned* bins, int n);
};

extern const Kernels FOR_THIS_MACHINE;

#if defined(__x86_64__)
extern const Kernels FOR_AVX2;
#endif

} // namespace native
