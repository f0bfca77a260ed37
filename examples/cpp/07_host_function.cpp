// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Calls a host function between two kernels, and passes a value from one stream to another.

#include <cuprum/cuprum.hpp>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <vector>

int main() {
    const cuprum::Device device;
    const auto stream = device.create_stream();
    const auto other = device.create_stream();

    // Do not take it from a pool: drivers cannot wait on pool memory.
    const auto pinned = cuprum::LegacyPinnedMemoryResource::create();
    const auto flag = pinned->allocate(sizeof(std::uint64_t), stream);
    flag.fill(std::uint8_t{0}, stream);
    stream.sync();

    // On the device, `other` waits for the value that `stream` writes after the host function.
    other.wait_value(flag.handle(), std::uint32_t{1});
    std::vector<int> steps;
    stream.launch_host([&steps] { steps.push_back(1); }); // must not call CUDA
    stream.write_value(flag.handle(), std::uint32_t{1});
    other.launch_host([&steps] { steps.push_back(2); });
    other.sync();
    stream.sync();

    if (steps != std::vector<int>{1, 2}) {
        std::printf("the host was called out of order\n");
        return 1;
    }
    std::printf("the host was called from two streams, in order\n");
    return 0;
}
