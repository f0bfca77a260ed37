// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Compiles a template by its C++ name. The second compilation comes from a cache.

#include <cuprum/cuprum.hpp>

#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

int main() {
    const cuprum::Device device;
    const auto stream = device.create_stream();
    cuprum::InMemoryProgramCache cache; // FileStreamProgramCache keeps code for later runs
    const cuprum::Program program(R"(
        template <typename T> __global__ void scale(T* x, T factor, int n) {
            const int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) x[i] *= factor;
        })");

    std::vector<float> values(1000, 2.0F);
    const auto buffer = device.allocate(values.size() * sizeof(float), stream);
    buffer.copy_from_host(values, stream);
    for (const char* how : {"compiled", "from the cache"}) {
        const auto start = std::chrono::steady_clock::now();
        const auto code = program.compile(cuprum::CodeType::Cubin,
                                          {.name_expressions = {"scale<float>"}, .cache = &cache});
        const std::chrono::duration<double, std::milli> taken =
            std::chrono::steady_clock::now() - start;
        std::printf("%s: %.3f ms\n", how, taken.count());
        cuprum::launch(stream, {.grid = 4, .block = 256}, code.get_kernel("scale<float>"), buffer,
                       3.0F, static_cast<int>(values.size()));
    }
    buffer.copy_to_host(values, stream);
    stream.sync();
    for (const float value : values) {
        if (value != 18.0F) {
            std::printf("wrong: %f\n", value);
            return 1;
        }
    }
    std::printf("%zu values, all %.0f, on %s\n", values.size(), values[0], device.name().c_str());
}
