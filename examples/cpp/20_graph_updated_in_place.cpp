// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Builds a graph from nodes, makes it executable once, and changes it between launches.
//
// A wave runs through a bar: each frame computes the amplitude at every point for one moment, and
// copies it to the host. Only the moment changes from frame to frame, so one node gets new
// arguments. A second definition then replaces the parameters of all nodes at once.

#include <cuprum/cuprum.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

namespace {

constexpr const char* SOURCE = R"(
extern "C" __global__ void wave(float* amplitude, float moment, int points) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < points) {
        amplitude[i] = sinf(6.2831853f * (static_cast<float>(i) / points - moment));
    }
}
extern "C" __global__ void square(float* amplitude, int points) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < points) {
        amplitude[i] *= amplitude[i];
    }
})";

constexpr int POINTS = 256;
constexpr int FRAMES = 8;
const cuprum::LaunchConfig CONFIG{.grid = POINTS / 128, .block = 128};

float expected(int point, float moment) {
    const float angle = 6.2831853F * (static_cast<float>(point) / POINTS - moment);
    return std::sin(angle) * std::sin(angle);
}

} // namespace

int main() {
    const cuprum::Device device;
    const auto stream = device.create_stream();
    const auto code = cuprum::Program(SOURCE).compile(cuprum::CodeType::Ptx);
    const auto wave = code.get_kernel("wave").as<void(float*, float, int)>();
    const auto square = code.get_kernel("square").as<void(float*, int)>();
    const auto amplitude = device.allocate<float>(POINTS, stream);
    std::vector<float> frame(POINTS);

    // A node added to another one runs after it. The graph keeps the buffer and the kernels alive.
    const cuprum::GraphDefinition definition(device);
    const cuprum::KernelNode first = definition.launch(CONFIG, wave, amplitude, 0.0F, POINTS);
    first.launch(CONFIG, square, amplitude, POINTS)
        .memcpy(frame.data(), amplitude, POINTS * sizeof(float));
    std::printf("%s", definition.to_text().c_str());

    const cuprum::Graph graph = definition.instantiate();
    bool is_right = true;
    for (int i = 0; i < FRAMES; ++i) {
        const float moment = static_cast<float>(i) / FRAMES;
        graph[first].update(CONFIG, wave, amplitude, moment, POINTS); // of the executable alone
        graph.launch(stream);
        stream.sync();
        std::printf("moment %.3f: energy %.3f at the start, %.3f in the middle\n",
                    static_cast<double>(moment), static_cast<double>(frame[0]),
                    static_cast<double>(frame[POINTS / 2]));
        for (int point = 0; point < POINTS; ++point) {
            const float error = frame[static_cast<std::size_t>(point)] - expected(point, moment);
            is_right = is_right && std::abs(error) < 1e-4F;
        }
    }

    // The definition is still the old one. Edit it, and update the whole executable from it.
    first.update_arguments(amplitude, 0.25F, POINTS);
    graph.update(definition);
    graph.launch(stream);
    stream.sync();
    is_right = is_right && std::abs(frame[0] - 1) < 1e-4F;

    // A definition with another topology is refused. The result says why, and the graph still runs.
    const cuprum::GraphDefinition other(device);
    other.launch(CONFIG, wave, amplitude, 0.0F, POINTS);
    const cuprum::GraphUpdateResult result = graph.try_update(other);
    std::printf("another graph: %s\n", result ? "taken over" : result.text.c_str());
    return is_right && !result ? 0 : 1;
}
