// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A tour in one program: compile a kernel from source, allocate, copy, launch, time, check.
// It runs on the GPU, or on the emulated device if there is no GPU.

#include <cuprum/cuprum.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace {

constexpr const char* SOURCE = R"(
template <typename T>
__global__ void saxpy(T a, const T* x, T* y, size_t n) {
    const size_t stride = size_t(gridDim.x) * blockDim.x;
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
        y[i] = a * x[i] + y[i];
    }
}
)";

/// Prints how long each step of the demo took.
class Account {
public:
    void step(const std::string& what) {
        const auto now = std::chrono::steady_clock::now();
        const double ms = std::chrono::duration<double, std::milli>(now - last_).count();
        std::printf("  %-58s %9.3f ms\n", what.c_str(), ms);
        last_ = std::chrono::steady_clock::now();
    }

private:
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// Returns how many elements differ from a * x + y.
std::size_t count_wrong(const std::vector<float>& got, const std::vector<float>& x,
                        const std::vector<float>& y, float a) {
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
        wrong += std::abs(got[i] - (a * x[i] + y[i])) > 1e-5F * std::abs(got[i]) ? 1 : 0;
    }
    return wrong;
}

} // namespace

int main() {
    constexpr std::size_t COUNT = std::size_t{1} << 20;
    constexpr float A = 2.5F;

    Account account;
    const cuprum::Device device(0);
    const auto stream = device.create_stream();
    std::printf("Cuprum %s from C++ on %s (compute capability %d.%d, %s)\n", cuprum::version(),
                device.name().c_str(), device.compute_capability().major,
                device.compute_capability().minor, device.is_emulated() ? "emulated" : "GPU");
    account.step("start the driver, make a stream");

    const std::vector<std::string> names{"saxpy<float>"};
    const auto code = cuprum::Program(SOURCE, {.name = "saxpy.cu", .std = "c++17"})
                          .compile(cuprum::CodeType::Cubin, names);
    account.step("compile saxpy<float> with NVRTC: " + std::to_string(code.code().size()) +
                 " bytes");
    const auto saxpy =
        code.get_kernel("saxpy<float>").as<void(float, const float*, float*, std::size_t)>();
    account.step("load it: " + saxpy.kernel().name());

    std::vector<float> x(COUNT);
    std::vector<float> y(COUNT);
    for (std::size_t i = 0; i < COUNT; ++i) {
        x[i] = static_cast<float>(i % 1000);
        y[i] = 0.5F * static_cast<float>(i % 77);
    }
    const auto x_buffer = device.allocate(COUNT * sizeof(float), stream);
    const auto y_buffer = device.allocate(COUNT * sizeof(float), stream);
    x_buffer.copy_from_host(x, stream);
    y_buffer.copy_from_host(y, stream);
    stream.sync();
    account.step("allocate 2 x 4 MiB from the pool, copy in");

    const auto begin = stream.record_timed();
    saxpy(stream, {.grid = 256, .block = 256}, A, x_buffer, y_buffer, COUNT);
    const auto end = stream.record_timed();
    end.sync();
    account.step("launch 256 blocks of 256 threads and wait");
    std::printf("  %-58s %9.3f ms\n", "  of it on the device, by two events",
                (end - begin).count());

    std::vector<float> result(COUNT);
    y_buffer.copy_to_host(result, stream);
    stream.sync();
    account.step("copy out");

    const std::size_t wrong = count_wrong(result, x, y, A);
    std::printf("  result: %zu of %zu elements right%s\n", COUNT - wrong, COUNT,
                wrong == 0 ? "" : "  <-- WRONG");
    return wrong == 0 ? 0 : 1;
}
