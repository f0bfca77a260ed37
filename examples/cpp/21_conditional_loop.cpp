// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Iterates on the device until the result is good enough: one launch, no help from the host.
//
// Jacobi's method solves a system of linear equations step by step. The loop is a node of a graph.
// Its body computes one step and the largest change, and a kernel decides whether to continue.

#include <cuprum/cuprum.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

namespace {

constexpr const char* SOURCE = R"(
extern "C" __device__ __cudart_builtin__ void CUDARTAPI
cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value);

// Each unknown has a strong diagonal and two neighbours: 4 x[i] - x[i-1] - x[i+1] = b[i].
extern "C" __global__ void step(const float* b, const float* x, float* next, float* change, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float left = i > 0 ? x[i - 1] : 0;
        const float right = i + 1 < n ? x[i + 1] : 0;
        next[i] = (b[i] + left + right) / 4;
        // Positive floats are ordered like the integers that have the same bits.
        atomicMax(reinterpret_cast<int*>(change), __float_as_int(fabsf(next[i] - x[i])));
    }
}
extern "C" __global__ void decide(cudaGraphConditionalHandle again, const float* change,
                                  float tolerance, int* steps) {
    ++*steps;
    cudaGraphSetConditional(again, *change > tolerance ? 1 : 0);
})";

constexpr int UNKNOWNS = 128;
constexpr float TOLERANCE = 1e-6F;

} // namespace

int main() {
    const cuprum::Device device;
    if (cuprum::driver_version() < 12030) {
        std::printf("loops in graphs need a driver from CUDA 12.3 on\n");
        return 0;
    }
    const auto stream = device.create_stream();
    const auto code = cuprum::Program(SOURCE).compile(cuprum::CodeType::Ptx);
    const auto step = code.get_kernel("step");
    const auto decide = code.get_kernel("decide");

    const std::vector<float> right_side(UNKNOWNS, 1.0F);
    const auto b = device.allocate<float>(UNKNOWNS, stream);
    const auto x = device.allocate<float>(UNKNOWNS, stream);
    const auto next = device.allocate<float>(UNKNOWNS, stream);
    const auto change = device.allocate<float>(1, stream);
    const auto steps = device.allocate<int>(1, stream);
    b.copy_from(right_side, stream);
    x.fill(0.0F, stream);
    steps.fill(0, stream);

    const cuprum::GraphDefinition graph(device);
    // Each launch begins with 1, so that the body runs at least once.
    const cuprum::GraphCondition again = graph.create_condition(1);
    const cuprum::GraphDefinition body = graph.while_loop(again).body();
    const cuprum::LaunchConfig all{.grid = UNKNOWNS / 64, .block = 64};
    body.memset(change, 0.0F)
        .launch(all, step, b, x, next, change, UNKNOWNS)
        .memcpy(x, next)
        .launch({}, decide, again, change, TOLERANCE, steps);

    graph.instantiate().launch(stream);
    const std::vector<float> found = x.to_vector(stream);
    const int taken = steps.to_vector(stream)[0];
    float worst = 0;
    for (std::size_t i = 0; i < UNKNOWNS; ++i) {
        const float left = i > 0 ? found[i - 1] : 0;
        const float right = i + 1 < UNKNOWNS ? found[i + 1] : 0;
        worst = std::max(worst, std::abs(4 * found[i] - left - right - 1));
    }
    std::printf("converged after %d steps; the largest error is %.1e\n", taken,
                static_cast<double>(worst));
    return taken > 5 && taken < 100 && worst < 1e-5F ? 0 : 1;
}
