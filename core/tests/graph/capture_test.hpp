// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "driver/deferred_release.hpp"
#include "graph/payload.hpp"
#include "support/device_test.hpp"

#include <cuprum/graph/graph_builder.hpp>

#include <chrono>
#include <optional>
#include <thread>
#include <vector>

namespace cuprum::testing {

/// Gives tests of captures a few kernels and counters.
class CaptureTest : public DeviceTest {
protected:
    static constexpr const char* SOURCE = R"(
extern "C" __device__ __cudart_builtin__ void CUDARTAPI
cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value);

extern "C" __global__ void add(int* value, int amount) { *value += amount; }
extern "C" __global__ void multiply(int* value, int factor) { *value *= factor; }
extern "C" __global__ void set_condition(cudaGraphConditionalHandle handle, unsigned value) {
    cudaGraphSetConditional(handle, value);
}
extern "C" __global__ void count_down(cudaGraphConditionalHandle handle, int* left) {
    *left -= 1;
    cudaGraphSetConditional(handle, *left > 0 ? 1 : 0);
})";

    void SetUp() override {
        DeviceTest::SetUp();
        if (!IsSkipped()) {
            code_ = compile(SOURCE);
        }
    }

    void TearDown() override {
        code_.reset();
        EXPECT_TRUE(release_all()) << "graphs are gone, but not what they kept alive";
        DeviceTest::TearDown();
    }

    /// Waits until nothing is kept alive by graphs any more: the driver decides when a launch gives
    /// up what it used, and on which thread.
    static bool release_all() {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        while (detail::Payload::live_count() != 0) {
            detail::release_deferred();
            if (std::chrono::steady_clock::now() > deadline) {
                return false;
            }
            std::this_thread::yield();
        }
        return true;
    }

    [[nodiscard]] Kernel kernel(const char* name) const { return code_->get_kernel(name); }

    [[nodiscard]] Buffer counters(std::vector<int> values) {
        Buffer buffer = upload(values);
        stream().sync();
        return buffer;
    }

    void add(const Stream& queue, const Buffer& value, int amount) const {
        launch(queue, ONE, kernel("add"), value, amount);
    }

    void multiply(const Stream& queue, const Buffer& value, int factor) const {
        launch(queue, ONE, kernel("multiply"), value, factor);
    }

    /// Launches a graph on the stream of the test and waits.
    void run(const Graph& graph) const {
        graph.launch(stream());
        stream().sync();
    }

    static inline const LaunchConfig ONE{.grid = 1, .block = 1};

private:
    std::optional<ObjectCode> code_;
};

} // namespace cuprum::testing
