// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Captures one step of a training loop as a graph and launches it many times.
//
// The model is a line, y = slope * x + offset. A step computes the errors, then both gradients side
// by side, then the new parameters. Five pieces of work take one call.

#include <cuprum/cuprum.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

namespace {

constexpr const char* SOURCE = R"(
extern "C" __global__ void errors(const float* x, const float* y, const float* line, float* error,
                                  int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        error[i] = line[0] * x[i] + line[1] - y[i];
    }
}
extern "C" __global__ void slope_gradient(const float* x, const float* error, float* gradient,
                                          int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        atomicAdd(&gradient[0], 2 * error[i] * x[i] / count);
    }
}
extern "C" __global__ void offset_gradient(const float* error, float* gradient, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        atomicAdd(&gradient[1], 2 * error[i] / count);
    }
}
extern "C" __global__ void descend(float* line, const float* gradient, float rate) {
    line[threadIdx.x] -= rate * gradient[threadIdx.x];
})";

constexpr int COUNT = 256;
constexpr int STEPS = 200;
constexpr float RATE = 0.5F;

} // namespace

int main() {
    const cuprum::Device device;
    const auto stream = device.create_stream();
    const auto code = cuprum::Program(SOURCE).compile(cuprum::CodeType::Ptx);
    const auto errors = code.get_kernel("errors");
    const auto slope_gradient = code.get_kernel("slope_gradient");
    const auto offset_gradient = code.get_kernel("offset_gradient");
    const auto descend = code.get_kernel("descend");

    std::vector<float> points(COUNT);
    std::vector<float> values(COUNT);
    for (int i = 0; i < COUNT; ++i) {
        points[static_cast<std::size_t>(i)] = static_cast<float>(i) / COUNT;
        values[static_cast<std::size_t>(i)] = 2 * points[static_cast<std::size_t>(i)] - 1;
    }
    const auto x = device.allocate<float>(COUNT, stream);
    const auto y = device.allocate<float>(COUNT, stream);
    const auto error = device.allocate<float>(COUNT, stream);
    const auto line = device.allocate<float>(2, stream);
    const auto gradient = device.allocate<float>(2, stream);
    x.copy_from(points, stream);
    y.copy_from(values, stream);
    line.fill(0.0F, stream);

    // Nothing runs here: each call becomes a node. If the function threw, the capture would end.
    const cuprum::LaunchConfig all{.grid = COUNT / 128, .block = 128};
    const auto step = cuprum::capture(stream, [&](cuprum::GraphBuilder& builder) {
        gradient.fill(0.0F, builder);
        launch(builder, all, errors, x, y, line, error, COUNT);
        auto branches = builder.split(2); // both gradients can run at the same time
        launch(branches[0], all, slope_gradient, x, error, gradient, COUNT);
        launch(branches[1], all, offset_gradient, error, gradient, COUNT);
        cuprum::GraphBuilder::join(branches);
        launch(builder, {.grid = 1, .block = 2}, descend, line, gradient, RATE);
    });
    std::printf("%s", step.to_text().c_str());

    const cuprum::Graph graph = step.instantiate();
    for (int i = 0; i < STEPS; ++i) {
        graph.launch(stream);
    }
    const std::vector<float> found = line.to_vector(stream);
    std::printf("after %d steps: y = %.3f * x %+.3f\n", STEPS, static_cast<double>(found[0]),
                static_cast<double>(found[1]));
    return std::abs(found[0] - 2) < 0.01F && std::abs(found[1] + 1) < 0.01F ? 0 : 1;
}
