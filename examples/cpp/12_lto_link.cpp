// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Links a kernel with a function that is chosen at run time. Both are compiled to LTO-IR, and the
// linker inlines the function into the kernel.

#include <cuprum/cuprum.hpp>

#include <array>
#include <cstdio>
#include <vector>

int main() {
    const cuprum::Device device;
    const auto stream = device.create_stream();
    const auto kernel = cuprum::Program(R"(
        extern __device__ float f(float x);
        extern "C" __global__ void map(float* x, int n) {
            const int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) x[i] = f(x[i]);
        })")
                            .compile(cuprum::CodeType::LtoIr);

    struct Choice {
        const char* function;
        float expected;
    };

    for (const auto& [function, expected] :
         {Choice{"__device__ float f(float x) { return x * x; }", 16.0F},
          Choice{"__device__ float f(float x) { return x + 9; }", 13.0F}}) {
        const std::array parts{kernel, cuprum::Program(function).compile(cuprum::CodeType::LtoIr)};
        const auto code = cuprum::Linker(parts).link(cuprum::CodeType::Cubin);

        std::vector<float> values(100, 4.0F);
        const auto buffer = device.allocate(values.size() * sizeof(float), stream);
        buffer.copy_from_host(values, stream);
        cuprum::launch(stream, {.grid = 1, .block = 128}, code.get_kernel("map"), buffer,
                       static_cast<int>(values.size()));
        buffer.copy_to_host(values, stream);
        stream.sync();
        for (const float value : values) {
            if (value != expected) {
                std::printf("wrong: %f\n", value);
                return 1;
            }
        }
        std::printf("%s gives %.0f of 4\n", function, values[0]);
    }
}
