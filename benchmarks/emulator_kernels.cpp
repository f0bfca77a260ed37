// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What the emulated device makes of real kernels: each runs on whatever device Cuprum uses
// ("…/device") and as the same algorithm in native, vectorised code on all cores ("…/native").

#include <cuprum/cuprum.hpp>

#include <benchmark/benchmark.h>

#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr const char* SOURCE = R"(
extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int n) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}
extern "C" __global__ void tiled(const float* a, const float* b, float* c, int n) {
    __shared__ float at[16][16], bt[16][16];
    const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        at[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
        bt[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
        __syncthreads();
        for (int i = 0; i < 16; ++i) sum += at[threadIdx.y][i] * bt[i][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
extern "C" __global__ void mandelbrot(int* out, int size, int limit) {
    const int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    const float cx = -2.0f + 3.0f * px / size, cy = -1.5f + 3.0f * py / size;
    float x = 0, y = 0;
    int n = 0;
    while (n < limit && x * x + y * y < 4.0f) {
        const float t = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = t;
        ++n;
    }
    out[py * size + px] = n;
}
extern "C" __global__ void reduce(const float* data, float* out, int n) {
    __shared__ float sums[8];
    float v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += data[i];
    for (int o = 16; o > 0; o /= 2) v += __shfl_down_sync(~0u, v, o);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x == 0) { for (int i = 1; i < 8; ++i) v += sums[i]; atomicAdd(out, v); }
}
extern "C" __global__ void histogram(const unsigned char* data, unsigned* bins, int n) {
    __shared__ unsigned local[256];
    local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[data[i]], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}
)";

/// Runs `body(begin, end)` over [0, count) on all cores.
template <typename Body>
void parallel(int count, Body body) {
    const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    std::vector<std::thread> threads;
    for (int i = 0; i < cores; ++i) {
        threads.emplace_back([=] { body(count * i / cores, count * (i + 1) / cores); });
    }
    for (auto& thread : threads) {
        thread.join();
    }
}

void native_saxpy(float a, const float* x, float* y, int n) {
    parallel(n / 1024, [=](int begin, int end) {
        const int last = end * 1024;
        for (int i = begin * 1024; i < last; ++i) {
            y[i] = a * x[i] + y[i];
        }
    });
}

void native_matmul(const float* a, const float* b, float* c, int n) {
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

void native_mandelbrot(int* out, int size, int limit) {
    // Sixteen pixels at a time with a mask, as a vectorising programmer would write it.
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

float native_reduce(const float* data, int n) {
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

void native_histogram(const unsigned char* data, unsigned* bins, int n) {
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

void compare(const std::string& name, const std::function<void()>& device,
             const std::function<void()>& native) {
    const auto time = [](const std::string& what, const std::function<void()>& body) {
        benchmark::RegisterBenchmark(what.c_str(),
                                     [=](benchmark::State& state) {
                                         for (auto _ : state) {
                                             body();
                                         }
                                     })
            ->UseRealTime()
            ->Iterations(3)
            ->Unit(benchmark::kMillisecond);
    };
    time(name + "/device", device);
    time(name + "/native", native);
}

} // namespace

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    const cuprum::Device device(0);
    const auto stream = device.create_stream();
    const auto code = cuprum::Program(SOURCE).compile(cuprum::CodeType::Ptx);
    constexpr int LARGE = 1 << 24;
    constexpr int N = 512;
    constexpr int SIZE = 1024;
    constexpr int LIMIT = 256;

    std::vector<float> x(LARGE, 1.0F);
    std::vector<float> y(LARGE, 2.0F);
    std::vector<float> c(static_cast<std::size_t>(N) * N);
    std::vector<int> picture(static_cast<std::size_t>(SIZE) * SIZE);
    std::vector<unsigned char> bytes(LARGE);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<unsigned char>(i * 2654435761U >> 13);
    }
    std::vector<unsigned> bins(256);
    const auto dx = device.allocate(x.size() * sizeof(float), stream);
    const auto dy = device.allocate(y.size() * sizeof(float), stream);
    const auto dc = device.allocate(c.size() * sizeof(float), stream);
    const auto dpicture = device.allocate(picture.size() * sizeof(int), stream);
    const auto dbytes = device.allocate(bytes.size(), stream);
    const auto dbins = device.allocate(bins.size() * sizeof(unsigned), stream);
    dx.copy_from_host(x, stream);
    dy.copy_from_host(y, stream);
    dbytes.copy_from_host(bytes, stream);
    dbins.fill(std::uint8_t{0}, stream);

    const auto run = [&](const char* kernel, const cuprum::LaunchConfig& config,
                         auto... arguments) {
        return [&stream, config, loaded = code.get_kernel(kernel), arguments...] {
            cuprum::launch(stream, config, loaded, arguments...);
            stream.sync();
        };
    };
    compare("saxpy_16M", run("saxpy", {.grid = LARGE / 256, .block = 256}, 1.5F, dx, dy, LARGE),
            [&] { native_saxpy(1.5F, x.data(), y.data(), LARGE); });
    compare("matmul_512", run("matmul", {.grid = {N / 32, N / 8}, .block = {32, 8}}, dx, dy, dc, N),
            [&] { native_matmul(x.data(), y.data(), c.data(), N); });
    compare("matmul_512_tiled",
            run("tiled", {.grid = {N / 16, N / 16}, .block = {16, 16}}, dx, dy, dc, N),
            [&] { native_matmul(x.data(), y.data(), c.data(), N); });
    compare(
        "mandelbrot_1024",
        run("mandelbrot", {.grid = {SIZE / 32, SIZE / 8}, .block = {32, 8}}, dpicture, SIZE, LIMIT),
        [&] { native_mandelbrot(picture.data(), SIZE, LIMIT); });
    compare("reduce_16M", run("reduce", {.grid = 256, .block = 256}, dx, dc, LARGE),
            [&] { benchmark::DoNotOptimize(native_reduce(x.data(), LARGE)); });
    compare("histogram_16M", run("histogram", {.grid = 256, .block = 256}, dbytes, dbins, LARGE),
            [&] { native_histogram(bytes.data(), bins.data(), LARGE); });

    std::fprintf(stderr, "device: %s\n", device.name().c_str());
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
}
