// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Gives urgent work a few multiprocessors of its own.

#include <cuprum/cuprum.hpp>

#include <cstdio>
#include <span>
#include <vector>

int main() {
    constexpr int count = 1024;
    const cuprum::Device device;
    device.set_current();
    std::optional<cuprum::SMResource> all;
    try {
        all = device.resources().sm();
    } catch (const cuprum::CUDAError& error) {
        std::printf("green contexts are not supported here: %s\n", error.what());
        return 0;
    }
    const auto split = all->split({{.count = all->min_partition_size()}});
    const auto green = device.create_context({.resources = {split.groups[0]}});

    const auto code = cuprum::Program(R"(
        extern "C" __global__ void fill(int* out, int value, int n) {
            const int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) out[i] = value;
        })")
                          .compile(cuprum::CodeType::Ptx);
    const auto fill = code.get_kernel("fill");
    const auto urgent = cuprum::Stream::create(green);
    const auto buffer = device.allocate(count * sizeof(int), urgent);
    cuprum::launch(urgent, {.grid = count / 128, .block = 128}, fill, buffer, 7, count);
    std::vector<int> values(count);
    buffer.copy_to_host(std::span<int>(values), urgent);
    urgent.sync();
    if (values.front() != 7 || values.back() != 7) {
        std::printf("the kernel did not do its work\n");
        return 1;
    }
    std::printf("a kernel ran on %u of %u multiprocessors\n", green.resources().sm().sm_count(),
                all->sm_count());
    return 0;
}
