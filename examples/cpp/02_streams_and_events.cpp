// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Orders work across two streams with events, and times it.

#include <cuprum/cuprum.hpp>

#include <cstdio>
#include <vector>

int main() {
    const cuprum::Device device;
    const auto producer = device.create_stream();
    const auto consumer = device.create_stream();
    const auto code = cuprum::Program(R"(
        extern "C" __global__ void produce(int* data, int n) {
            for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = i;
        }
        extern "C" __global__ void square(const int* data, int* squares, int n) {
            for (int i = threadIdx.x; i < n; i += blockDim.x) squares[i] = data[i] * data[i];
        })")
                          .compile(cuprum::CodeType::Ptx);
    const auto produce = code.get_kernel("produce");
    const auto square = code.get_kernel("square");

    constexpr int COUNT = 4096;
    const auto data = device.allocate(COUNT * sizeof(int), producer);
    const auto squares = device.allocate(COUNT * sizeof(int), consumer);
    const cuprum::LaunchConfig config{.grid = 1, .block = 128};

    const auto begin = producer.record_timed();
    cuprum::launch(producer, config, produce, data, COUNT);
    const auto produced = producer.record();

    // Only the device waits here; the host continues.
    consumer.wait(produced);
    cuprum::launch(consumer, config, square, data, squares, COUNT);
    const auto end = consumer.record_timed();

    std::vector<int> result(COUNT);
    squares.copy_to_host(result, consumer);
    consumer.sync();
    for (int i = 0; i < COUNT; ++i) {
        if (result[static_cast<std::size_t>(i)] != i * i) {
            std::printf("wrong at %d: %d\n", i, result[static_cast<std::size_t>(i)]);
            return 1;
        }
    }
    std::printf("%d squares in order across two streams, %.3f ms\n", COUNT, (end - begin).count());
}
