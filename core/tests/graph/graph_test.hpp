// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "driver/deferred_release.hpp"
#include "graph/payload.hpp"
#include "support/device_test.hpp"
#include "support/expect_error.hpp"

#include <cuprum/cuprum.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <vector>

namespace cuprum::testing {

/// Kernels for graphs. Their results depend on the order in which they run.
inline constexpr const char* GRAPH_KERNELS = R"(
extern "C" __device__ __cudart_builtin__ void CUDARTAPI
cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value);

extern "C" __global__ void add(int* x, int amount, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += amount;
}
extern "C" __global__ void scale(int* x, int factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= factor;
}
extern "C" __global__ void sum(const int* a, const int* b, int* result, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) result[i] = a[i] + b[i];
}
extern "C" __global__ void wait_for(volatile int* flag) { while (*flag == 0) {} }
extern "C" __global__ void shared(int* x) {
    extern __shared__ int scratch[];
    scratch[threadIdx.x] = threadIdx.x;
    __syncthreads();
    x[threadIdx.x] = scratch[blockDim.x - 1 - threadIdx.x];
}
extern "C" __global__ void nothing() {}
extern "C" __global__ void set(cudaGraphConditionalHandle condition, unsigned int value) {
    cudaGraphSetConditional(condition, value);
}
extern "C" __global__ void count_down(cudaGraphConditionalHandle condition, int* x) {
    *x -= 1;
    cudaGraphSetConditional(condition, *x > 0 ? 1 : 0);
}
)";

/// Gives a test compiled kernels and a buffer of numbers. After the test, no graph may keep
/// anything alive.
class GraphTest : public DeviceTest {
protected:
    static constexpr int COUNT = 64;
    static constexpr std::size_t BYTES = COUNT * sizeof(int);

    void SetUp() override {
        DeviceTest::SetUp();
        if (!IsSkipped()) {
            code_ = compile(GRAPH_KERNELS);
        }
    }

    void TearDown() override {
        code_.reset();
        if (!IsSkipped()) {
            EXPECT_TRUE(becomes_true([] { return detail::Payload::live_count() == 0; }))
                << "a graph keeps something alive";
        }
        DeviceTest::TearDown();
    }

    [[nodiscard]] Kernel kernel(const char* name) const { return code_->get_kernel(name); }

    [[nodiscard]] Buffer numbers(int value = 0) { return upload(std::vector<int>(COUNT, value)); }

    /// Returns the number that all elements are.
    int value_of(const Buffer& buffer) {
        const std::vector<int> values = download<int>(buffer);
        EXPECT_EQ(std::count(values.begin(), values.end(), values[0]),
                  static_cast<std::ptrdiff_t>(values.size()));
        return values[0];
    }

    /// Instantiates and launches a graph once and waits for it.
    void run(const GraphDefinition& graph) {
        graph.instantiate().launch(stream());
        stream().sync();
    }

    [[nodiscard]] static LaunchConfig config() { return {.grid = 2, .block = 32}; }

    /// Returns an object, and a weak share that shows whether it lives.
    struct Tracked {
        std::shared_ptr<void> object = std::make_shared<int>(0);
        std::weak_ptr<void> watch = object;
    };

    /// Lets the library release what waits for that, until a condition holds. Drivers may call the
    /// destructors of user objects some time later, on a thread of their own.
    template <typename Condition>
    [[nodiscard]] bool becomes_true(const Condition& condition) const {
        constexpr auto STEP = std::chrono::milliseconds(1);
        constexpr int MOST_STEPS = 5000;
        for (int i = 0; i < MOST_STEPS; ++i) {
            if (!detail::is_lost(stream())) { // by a reset of the device
                stream().sync();
            }
            static_cast<void>(detail::release_deferred());
            if (condition()) {
                return true;
            }
            std::this_thread::sleep_for(STEP);
        }
        return false;
    }

    [[nodiscard]] bool is_released(const std::weak_ptr<void>& object) const {
        return becomes_true([&] { return object.expired(); });
    }

    /// Returns whether an object lives, after a while in which the driver could have released it.
    [[nodiscard]] static bool is_kept(const std::weak_ptr<void>& object) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        static_cast<void>(detail::release_deferred());
        return !object.expired();
    }

private:
    std::optional<ObjectCode> code_;
};

} // namespace cuprum::testing
