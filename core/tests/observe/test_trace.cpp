// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/device_test.hpp"
#include "support/expect_error.hpp"
#include "support/traced.hpp"

#include <cuprum/trace.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <sstream>
#include <thread>

namespace cuprum {
namespace {

constexpr const char* SOURCE = R"(
extern "C" __global__ void traced(int* out) { out[threadIdx.x] = threadIdx.x; })";

using TraceTest = testing::Traced<testing::DeviceTest>;

TEST_F(TraceTest, calls_kernels_copies_and_ranges_are_recorded) {
    const ObjectCode code = compile(SOURCE);
    const Kernel kernel = code.get_kernel("traced");
    start_trace(path());
    EXPECT_TRUE(is_tracing());
    {
        const TraceRange range("my range");
        Buffer buffer = device().allocate(32 * sizeof(int), stream());
        launch(stream(), LaunchConfig(1, 32), kernel, buffer);
        EXPECT_EQ(download<int>(buffer)[31], 31);
    }
    stop_trace();
    EXPECT_FALSE(is_tracing());

    const std::string trace = text();
    EXPECT_EQ(trace.substr(0, 2), "[\n");
    EXPECT_EQ(trace.substr(trace.size() - 2), "]\n");
    EXPECT_NE(trace.find("\"name\": \"cuLaunchKernelEx\", \"cat\": \"driver\""), std::string::npos);
    EXPECT_NE(trace.find("\"name\": \"my range\", \"cat\": \"range\""), std::string::npos);
    EXPECT_NE(trace.find("\"name\": \"traced\", \"cat\": \"kernel\""), std::string::npos) << trace;
    EXPECT_NE(trace.find("\"bytesize\": 128"), std::string::npos) << trace;
    EXPECT_NE(trace.find("\"result\": \"CUDA_SUCCESS\""), std::string::npos);
    EXPECT_EQ(count(trace, "kernel"), 1);
    EXPECT_EQ(count(trace, "copy"), 1);
}

TEST_F(TraceTest, nothing_is_recorded_after_the_end) {
    start_trace(path());
    stop_trace();
    stop_trace();
    const std::string before = text();
    stream().sync();
    EXPECT_EQ(text(), before);
}

TEST_F(TraceTest, a_second_trace_is_refused) {
    start_trace(path());
    testing::expect_error<std::logic_error>([&] { start_trace(path() + "2"); }, {"already"});
}

TEST_F(TraceTest, a_file_that_cannot_be_written_is_refused_by_name) {
    testing::expect_error<std::invalid_argument>([] { start_trace("/no/such/folder/file"); },
                                                 {"/no/such/folder/file"});
    EXPECT_FALSE(is_tracing());
}

TEST_F(TraceTest, work_of_a_context_is_recorded_when_the_context_goes) {
    const Kernel kernel = compile(SOURCE).get_kernel("traced");
    start_trace(path());
    for (int i = 0; i < 2; ++i) { // the driver may reuse the handles of the first
        const Context context = Context::create(device());
        const CurrentContext current(context);
        const Stream own = Stream::create(context);
        const Buffer buffer = device().allocate(32 * sizeof(int), own);
        launch(own, LaunchConfig(1, 32), kernel, buffer);
    }
    launch(stream(), LaunchConfig(1, 32), kernel, device().allocate(32 * sizeof(int), stream()));
    stop_trace();
    EXPECT_EQ(count(text(), "kernel"), 3) << text();
}

/// A flag in host memory that a stream waits for. The destructor sets it, so that no test hangs.
class HostFlag {
public:
    explicit HostFlag(const Stream& stream)
        : memory_(LegacyPinnedMemoryResource::create()->allocate(sizeof(std::uint32_t), stream)) {
        stream.sync();
        set(0);
    }

    ~HostFlag() { set(1); }

    HostFlag(const HostFlag&) = delete;
    HostFlag& operator=(const HostFlag&) = delete;

    void hold_back(const Stream& stream) const {
        stream.wait_value(memory_.handle(), std::uint32_t{1});
    }

    void set(std::uint32_t value) const {
        std::atomic_ref(*memory_.data<std::uint32_t>()).store(value);
    }

private:
    Buffer memory_;
};

constexpr std::chrono::seconds HANG{20}; // a call that takes this long is blocked

TEST_F(TraceTest, the_first_work_behind_a_wait_does_not_block_the_host) {
    const Kernel kernel = compile(SOURCE).get_kernel("traced");
    const Buffer buffer = device().allocate(32 * sizeof(int), stream());
    stream().sync();
    const HostFlag flag(stream());
    start_trace(path());
    flag.hold_back(stream());
    auto launched = std::async(std::launch::async,
                               [&] { launch(stream(), LaunchConfig(1, 32), kernel, buffer); });
    const bool has_returned = launched.wait_for(HANG) == std::future_status::ready;
    EXPECT_FALSE(stream().is_done());
    flag.set(1); // release the stream only now
    launched.get();
    EXPECT_TRUE(has_returned) << "the launch waited for its own stream";
    EXPECT_EQ(download<int>(buffer)[31], 31);
    EXPECT_EQ(ended_with("kernel"), 1) << text();
}

TEST_F(TraceTest, work_of_other_streams_is_traced_while_one_is_held_back) {
    const Kernel kernel = compile(SOURCE).get_kernel("traced");
    const Buffer buffer = device().allocate(32 * sizeof(int), stream());
    const Stream other = device().create_stream();
    const Buffer second = device().allocate(32 * sizeof(int), other);
    stream().sync();
    const HostFlag flag(stream());
    start_trace(path());
    flag.hold_back(stream());
    auto launched = std::async(std::launch::async, [&] {
        launch(stream(), LaunchConfig(1, 32), kernel, buffer);
        for (int i = 0; i < 100; ++i) {
            launch(other, LaunchConfig(1, 32), kernel, second);
        }
        other.sync();
    });
    const bool has_returned = launched.wait_for(HANG) == std::future_status::ready;
    flag.set(1);
    launched.get();
    EXPECT_TRUE(has_returned) << "a launch waited for the stream that is held back";
    EXPECT_EQ(ended_with("kernel"), 101);
}

TEST_F(TraceTest, the_end_of_a_trace_leaves_other_threads_alone_while_it_waits) {
    const Kernel kernel = compile(SOURCE).get_kernel("traced");
    const Buffer buffer = device().allocate(32 * sizeof(int), stream());
    const Stream other = device().create_stream();
    const Buffer second = device().allocate(32 * sizeof(int), other);
    stream().sync();
    const HostFlag flag(stream());
    start_trace(path());
    flag.hold_back(stream());
    launch(stream(), LaunchConfig(1, 32), kernel, buffer);
    auto stopped = std::async(std::launch::async, [] { stop_trace(); });
    auto launched = std::async(std::launch::async, [&] {
        for (int i = 0; i < 100; ++i) {
            launch(other, LaunchConfig(1, 32), kernel, second);
        }
        other.sync();
    });
    EXPECT_EQ(launched.wait_for(HANG), std::future_status::ready) << "a launch waited";
    EXPECT_EQ(stopped.wait_for(std::chrono::milliseconds(0)), std::future_status::timeout);
    flag.set(1);
    stopped.get();
    launched.get();
    EXPECT_NE(text().find("\"name\": \"traced\", \"cat\": \"kernel\""), std::string::npos);
}

TEST_F(TraceTest, device_work_can_be_left_out) {
    TraceOptions options;
    options.has_device_work = false;
    Buffer buffer = device().allocate(64, stream());
    start_trace(path(), options);
    buffer.fill(std::uint8_t{1}, stream());
    stop_trace();
    EXPECT_EQ(count(text(), "copy"), 0);
    EXPECT_GT(count(text(), "driver"), 0);
}

TEST_F(TraceTest, several_threads_write_whole_lines) {
    start_trace(path());
    std::vector<std::thread> threads;
    threads.reserve(4);
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (int round = 0; round < 50; ++round) {
                stream().sync();
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    stop_trace();
    std::istringstream lines(text());
    int events = 0;
    for (std::string line; std::getline(lines, line);) {
        if (line.size() > 1) {
            EXPECT_EQ(line.front(), '{') << line;
            events += line.find("cuStreamSynchronize") != std::string::npos ? 1 : 0;
        }
    }
    EXPECT_EQ(events, 200);
}

TEST_F(TraceTest, results_of_calls_are_the_same_with_a_trace) {
    start_trace(path());
    EXPECT_THROW(static_cast<void>(device().allocate(std::size_t{1} << 60U, stream())), CUDAError);
    EXPECT_TRUE(stream().is_done());
    stop_trace();
    EXPECT_NE(text().find("CUDA_ERROR_OUT_OF_MEMORY"), std::string::npos);
}

} // namespace
} // namespace cuprum
