// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Adds two vectors: the smallest complete program.

#include <cuprum/cuprum.hpp>

#include <cstdio>
#include <vector>

int main() {
    const cuprum::Device device;
    const auto stream = device.create_stream();
    const auto add = cuprum::Program(R"(
        extern "C" __global__ void add(const float* a, const float* b, float* c, int n) {
            const int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) c[i] = a[i] + b[i];
        })")
                         .compile(cuprum::CodeType::Ptx)
                         .get_kernel("add");

    const std::vector<float> a(1000, 1.5F);
    const std::vector<float> b(1000, 2.0F);
    std::vector<float> c(1000);
    const auto bytes = c.size() * sizeof(float);
    const auto a_buffer = device.allocate(bytes, stream);
    const auto b_buffer = device.allocate(bytes, stream);
    const auto c_buffer = device.allocate(bytes, stream);
    a_buffer.copy_from_host(a, stream);
    b_buffer.copy_from_host(b, stream);
    cuprum::launch(stream, {.grid = 4, .block = 256}, add, a_buffer, b_buffer, c_buffer,
                   static_cast<int>(c.size()));
    c_buffer.copy_to_host(c, stream);
    stream.sync();

    for (const float value : c) {
        if (value != 3.5F) {
            std::printf("wrong: %f\n", value);
            return 1;
        }
    }
    std::printf("%zu sums, all %.1f, on %s\n", c.size(), c[0], device.name().c_str());
}
