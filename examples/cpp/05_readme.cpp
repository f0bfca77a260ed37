// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/cuprum.hpp>

#include <cstdio>
#include <vector>

int main() {
    const cuprum::Device device;
    const auto stream = device.create_stream();
    const auto twice = cuprum::Program(R"(extern "C" __global__ void twice(float* x, int n) {
        int i = threadIdx.x; if (i < n) x[i] *= 2; })")
                           .compile(cuprum::CodeType::Cubin)
                           .get_kernel("twice");
    std::vector<float> x(100, 21.0F);
    const auto buffer = device.allocate(x.size() * sizeof(float), stream);
    buffer.copy_from_host(x, stream);
    cuprum::launch(stream, {.grid = 1, .block = 128}, twice, buffer, 100);
    buffer.copy_to_host(x, stream);
    stream.sync();
    std::printf("%g %g ... on %s\n", x[0], x[1], device.name().c_str());
}
