// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Checks what launch() passes to the driver, on the fake driver. test_launch_on_device.cpp checks
// what kernels compute.

#include "driver/explanations.hpp"
#include "driver/table.hpp"
#include "support/expect_error.hpp"
#include "support/fake_libraries.hpp"

#include <cuprum/error.hpp>
#include <cuprum/launch.hpp>
#include <cuprum/managed_buffer.hpp>
#include <cuprum/object_code.hpp>
#include <cuprum/typed_kernel.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace cuprum {
namespace {

using testing::expect_error;
using testing::FakeDriver;

class FakeLaunch : public testing::FakeLibrariesTest {
protected:
    FakeLaunch() {
        libraries->device_attributes = {
            {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
            {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
            {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
            {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
            {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, std::numeric_limits<int>::max()},
            {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
            {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
            {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 100000},
            {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
            {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 10},
            {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1},
            {CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 1},
            {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
        };
        libraries->kernel_attributes = {
            {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 512},
            {CU_FUNC_ATTRIBUTE_NUM_REGS, 128},
            {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 1000},
            {CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 48000},
        };
    }

    static Kernel kernel(const char* name) {
        return ObjectCode::from_bytes(CodeType::Ptx, std::vector<std::byte>(1)).get_kernel(name);
    }

    /// Launches "nothing", which fails with this code, and checks the exception's text.
    template <typename Exception>
    void expect_failure(CUresult code, const LaunchConfig& config,
                        std::initializer_list<std::string_view> parts) {
        const Kernel nothing = kernel("nothing");
        libraries->failures["cuLaunchKernelEx"] = code;
        expect_error<Exception>([&] { launch(stream, config, nothing); }, parts);
        expect_error<Exception>([&] { launch(stream, config, nothing); },
                                {"\"nothing\"", "grid (", "block (", "dynamic shared memory",
                                 "cuLaunchKernelEx", "(" + std::to_string(code) + ")"});
        libraries->failures.clear();
        EXPECT_NO_THROW(launch(stream, LaunchConfig{}, nothing)) << "the objects stay usable";
    }

    CUcontext context = fake->make_context(0);
    Stream stream = Stream::from_handle(fake->make_stream(context));
};

template <typename T>
T value_of(const std::vector<std::byte>& bytes) {
    T value;
    EXPECT_EQ(bytes.size(), sizeof(T));
    std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
}

TEST_F(FakeLaunch, passes_configuration_and_arguments) {
    float y = 0;
    launch(stream, {.grid = {2, 3, 4}, .block = {5, 6, 7}, .shmem_size = 8}, kernel("saxpy"), 1.5F,
           Buffer::from_handle(0x1234, 16), &y, std::size_t{99});
    ASSERT_EQ(libraries->launches.size(), 1U);
    const testing::FakeLibraries::Launch& launched = libraries->launches[0];
    const CUlaunchConfig& config = launched.config;
    EXPECT_EQ((std::vector{config.gridDimX, config.gridDimY, config.gridDimZ, config.blockDimX,
                           config.blockDimY, config.blockDimZ, config.sharedMemBytes}),
              (std::vector{2U, 3U, 4U, 5U, 6U, 7U, 8U}));
    EXPECT_EQ(config.hStream, stream.handle());
    EXPECT_EQ(config.numAttrs, 0U);
    EXPECT_EQ(launched.kernel, "saxpy");
    EXPECT_EQ(value_of<float>(launched.arguments[0]), 1.5F);
    EXPECT_EQ(value_of<CUdeviceptr>(launched.arguments[1]), 0x1234U);
    EXPECT_EQ(value_of<float*>(launched.arguments[2]), &y);
    EXPECT_EQ(value_of<std::size_t>(launched.arguments[3]), 99U);
}

TEST_F(FakeLaunch, uses_the_streams_context_and_keeps_the_current_one) {
    const Kernel nothing = kernel("nothing");
    for (const CUcontext before : {CUcontext{nullptr}, fake->make_context(1), context}) {
        start_with(before);
        launch(stream, {}, nothing);
        // The stream determines the context, so launch() makes no context current.
        EXPECT_EQ(libraries->launches.back().config.hStream, stream.handle());
        EXPECT_EQ(libraries->launches.back().context, before);
        EXPECT_EQ(FakeDriver::current(), before);
    }
    libraries->failures["cuLaunchKernelEx"] = CUDA_ERROR_ILLEGAL_ADDRESS;
    start_with(fake->make_context(1));
    const CUcontext before = FakeDriver::current();
    EXPECT_THROW(launch(stream, {}, nothing), CUDAError);
    EXPECT_EQ(FakeDriver::current(), before);
}

TEST_F(FakeLaunch, retries_with_its_context_current) {
    const Kernel nothing = kernel("nothing");
    const CUcontext before = fake->make_context(1);
    start_with(before);
    libraries->failures["cuLaunchKernelEx"] = CUDA_ERROR_INVALID_CONTEXT;
    EXPECT_THROW(launch(stream, {}, nothing), CUDAError);
    ASSERT_EQ(libraries->launches.size(), 2U);
    EXPECT_EQ(libraries->launches[0].context, before);
    EXPECT_EQ(libraries->launches[1].context, context);
    EXPECT_EQ(FakeDriver::current(), before);
}

TEST_F(FakeLaunch, asks_the_driver_for_nothing_else_when_it_succeeds) {
    const Kernel nothing = kernel("nothing");
    start_with(context);
    fake->forget_calls();
    launch(stream, {}, nothing);
    EXPECT_EQ(fake->calls(), std::vector<std::string>{})
        << "besides the launch, which the libraries answer";
}

TEST_F(FakeLaunch, attributes_are_passed_on) {
    launch(stream,
           {.grid = {3, 2, 1},
            .block = 32,
            .cluster = Dim3{2, 4},
            .is_cooperative = true,
            .programmatic_stream_serialization = true},
           kernel("nothing"));
    const testing::FakeLibraries::Launch& launched = libraries->launches.at(0);
    EXPECT_EQ(launched.config.gridDimX, 6U) << "the grid counts clusters";
    EXPECT_EQ(launched.config.gridDimY, 8U);
    EXPECT_EQ(launched.config.gridDimZ, 1U);
    ASSERT_EQ(launched.attributes.size(), 3U);
    EXPECT_EQ(launched.attributes[0].id, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
    EXPECT_EQ(launched.attributes[0].value.clusterDim.x, 2U);
    EXPECT_EQ(launched.attributes[0].value.clusterDim.y, 4U);
    EXPECT_EQ(launched.attributes[0].value.clusterDim.z, 1U);
    EXPECT_EQ(launched.attributes[1].id, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
    EXPECT_EQ(launched.attributes[1].value.cooperative, 1);
    EXPECT_EQ(launched.attributes[2].id, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
    EXPECT_EQ(launched.attributes[2].value.programmaticStreamSerializationAllowed, 1);
}

TEST_F(FakeLaunch, more_arguments_than_fit_on_the_stack_are_passed_too) {
    constexpr std::size_t COUNT = 100;
    libraries->kernels.push_back({"many", std::vector<std::size_t>(COUNT, sizeof(int))});
    std::vector<int> values(COUNT);
    std::vector<KernelArgument> arguments;
    for (std::size_t i = 0; i < COUNT; ++i) {
        values[i] = static_cast<int>(i * i);
        arguments.push_back({&values[i], sizeof(int)});
    }
    launch(stream, {}, kernel("many"), std::span<const KernelArgument>(arguments));
    for (std::size_t i = 0; i < COUNT; ++i) {
        EXPECT_EQ(value_of<int>(libraries->launches.at(0).arguments[i]), values[i]);
    }
}

TEST_F(FakeLaunch, a_wrong_count_names_both_and_launches_nothing) {
    const Kernel saxpy = kernel("saxpy");
    expect_error<std::invalid_argument>([&] { launch(stream, {}, saxpy, 1.0F); },
                                        {"\"saxpy\" takes 4 arguments", "1 given", "4 8 8 8"});
    expect_error<std::invalid_argument>([&] { launch(stream, {}, kernel("nothing"), 1); },
                                        {"takes 0 arguments"});
    EXPECT_TRUE(libraries->launches.empty());
}

TEST_F(FakeLaunch, a_wrong_size_names_argument_and_sizes) {
    const Kernel saxpy = kernel("saxpy");
    const Buffer buffer = Buffer::from_handle(0x1234, 16);
    expect_error<std::invalid_argument>([&] { launch(stream, {}, saxpy, 1.0, buffer, buffer, 1L); },
                                        {"argument 0", "\"saxpy\"", "8 bytes", "expected 4"});
    expect_error<std::invalid_argument>([&] { launch(stream, {}, saxpy, 1.0F, buffer, buffer, 1); },
                                        {"argument 3", "4 bytes", "expected 8"});
    const KernelArgument null{nullptr, 4};
    libraries->kernels.push_back({"one", {4}});
    expect_error<std::invalid_argument>(
        [&] { launch(stream, {}, kernel("one"), std::span(&null, 1)); }, {"argument 0", "null"});
    EXPECT_TRUE(libraries->launches.empty());
}

TEST_F(FakeLaunch, a_kernel_without_a_plan_is_not_checked) {
    libraries->is_old = true;
    libraries->kernels = {{"nothing", {}}};
    EXPECT_NO_THROW(launch(stream, {}, kernel("nothing"), 1, 2, 3));
}

TEST_F(FakeLaunch, a_zero_extent_is_refused) {
    const Kernel nothing = kernel("nothing");
    expect_error<std::invalid_argument>(
        [&] { launch(stream, {.grid = {1, 0, 1}, .block = 1}, nothing); },
        {"grid is (1, 0, 1)", "at least 1"});
    expect_error<std::invalid_argument>([&] { launch(stream, {.block = 0}, nothing); },
                                        {"block is (0, 1, 1)"});
    expect_error<std::invalid_argument>(
        [&] { launch(stream, {.cluster = Dim3{1, 1, 0}}, nothing); }, {"cluster is (1, 1, 0)"});
    EXPECT_TRUE(libraries->launches.empty());
}

TEST_F(FakeLaunch, numbers_that_the_driver_cannot_hold_are_refused) {
    const Kernel nothing = kernel("nothing");
    expect_error<std::invalid_argument>(
        [&] { launch(stream, {.grid = 0x80000000U, .cluster = Dim3{2}}, nothing); },
        {"grid.x", "4294967296", "counts clusters"});
    expect_error<std::invalid_argument>(
        [&] { launch(stream, {.shmem_size = std::size_t{1} << 32U}, nothing); },
        {"shmem_size", "4294967296"});
    EXPECT_TRUE(libraries->launches.empty());
}

TEST_F(FakeLaunch, closed_objects_are_errors) {
    Kernel nothing = kernel("nothing");
    Stream copy = stream;
    copy.close();
    EXPECT_THROW(launch(copy, {}, nothing), ClosedError);
    nothing.close();
    EXPECT_THROW(launch(stream, {}, nothing), ClosedError);
    Buffer buffer = Buffer::from_handle(0x1234, 16);
    buffer.close();
    EXPECT_THROW(launch(stream, {}, kernel("saxpy"), 1.0F, buffer, buffer, 1L), ClosedError);
    EXPECT_TRUE(libraries->launches.empty());
}

TEST_F(FakeLaunch, a_block_too_large_for_the_device_gives_the_limit) {
    expect_failure<LaunchError>(CUDA_ERROR_INVALID_VALUE, {.block = {64, 32}},
                                {"threads per block is 2048", "device 0 allows at most 1024"});
    expect_failure<LaunchError>(CUDA_ERROR_INVALID_VALUE, {.block = {1, 1, 65}},
                                {"block.z is 65", "at most 64"});
    expect_failure<LaunchError>(CUDA_ERROR_INVALID_VALUE, {.grid = {1, 70000}},
                                {"grid.y in blocks is 70000", "at most 65535"});
}

TEST_F(FakeLaunch, a_broken_limit_keeps_the_code_of_the_driver) {
    libraries->failures["cuLaunchKernelEx"] = CUDA_ERROR_INVALID_VALUE;
    try {
        launch(stream, {.block = {64, 32}}, kernel("nothing"));
        FAIL() << "nothing was thrown";
    } catch (const LaunchError& error) {
        EXPECT_EQ(error.domain(), ErrorDomain::Driver);
        EXPECT_EQ(error.code(), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(error.call(), "cuLaunchKernelEx");
        EXPECT_EQ(error.limit(), "threads per block is 2048, but device 0 allows at most 1024");
        EXPECT_TRUE(std::string_view(error.what()).starts_with(error.limit() + "; "))
            << error.what();
    }
}

TEST_F(FakeLaunch, a_block_too_large_for_the_kernel_gives_the_limit) {
    expect_failure<LaunchError>(
        CUDA_ERROR_INVALID_VALUE, {.block = 513},
        {"threads per block is 513", "kernel \"nothing\" allows", "128 registers", "at most 512"});
}

TEST_F(FakeLaunch, too_much_shared_memory_gives_the_limit_and_the_way_out) {
    expect_failure<LaunchError>(CUDA_ERROR_INVALID_VALUE, {.shmem_size = 99001},
                                {"99001 bytes of LaunchConfig shmem_size",
                                 "1000 the kernel declares", "is 100001", "at most 100000"});
}

TEST_F(FakeLaunch, shared_memory_that_cannot_be_allowed_gives_the_limit) {
    const Kernel nothing = kernel("nothing");
    libraries->failures["cuKernelSetAttribute"] = CUDA_ERROR_INVALID_VALUE;
    libraries->failures["cuLaunchKernelEx"] = CUDA_ERROR_INVALID_VALUE;
    expect_error<LaunchError>([&] { launch(stream, {.shmem_size = 48001}, nothing); },
                              {"shmem_size is 48001", "at most 48000", "\"nothing\""});
    libraries->failures["cuKernelSetAttribute"] = CUDA_ERROR_ILLEGAL_ADDRESS;
    expect_error<CUDAError>([&] { launch(stream, {.shmem_size = 48001}, nothing); },
                            {"cuKernelSetAttribute", "CUDA_ERROR_ILLEGAL_ADDRESS"});
}

TEST_F(FakeLaunch, more_shared_memory_is_allowed_once_and_never_lowered) {
    const Kernel nothing = kernel("nothing");
    int& allowed = libraries->kernel_attributes[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES];
    launch(stream, {.shmem_size = 60000}, nothing);
    EXPECT_EQ(allowed, 60000);
    libraries->failures["cuKernelGetAttribute"] = CUDA_ERROR_UNKNOWN;
    EXPECT_NO_THROW(launch(stream, {.shmem_size = 60000}, nothing)) << "it is known by now";
    EXPECT_NO_THROW(launch(stream, {.shmem_size = 100}, nothing));
    libraries->failures.clear();
    EXPECT_EQ(allowed, 60000);
    nothing.set_max_dynamic_shared_size_bytes(Device(0), 1000);
    launch(stream, {.shmem_size = 2000}, nothing);
    EXPECT_EQ(allowed, 2000) << "what was known is forgotten when it is set";
}

TEST_F(FakeLaunch, two_threads_that_need_more_shared_memory_get_the_larger_limit) {
    static std::function<void()> before_first_set; // the fake driver calls plain functions
    const Kernel nothing = kernel("nothing");
    std::thread other;
    std::atomic<bool> is_done = false;
    before_first_set = [&] {
        other = std::thread([&] {
            launch(stream, {.shmem_size = 90000}, nothing);
            is_done = true;
        });
        // The other launch must wait for this one. Give it time to overtake.
        for (int i = 0; i < 50 && !is_done; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    };
    static const auto set = driver::table().cuKernelSetAttribute.address.load();
    driver::table().cuKernelSetAttribute = [](CUfunction_attribute attribute, int value,
                                              CUkernel function, CUdevice device) {
        if (before_first_set != nullptr) {
            std::exchange(before_first_set, nullptr)();
        }
        return set(attribute, value, function, device);
    };
    launch(stream, {.shmem_size = 60000}, nothing);
    other.join();
    EXPECT_EQ(libraries->kernel_attributes[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES], 90000);
}

TEST_F(FakeLaunch, too_many_registers_give_the_numbers) {
    libraries->kernel_attributes[CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK] = 1024;
    expect_failure<LaunchError>(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, {.block = 1024},
                                {"1024 threads", "131072 registers", "65536"});
}

TEST_F(FakeLaunch, a_cooperative_grid_too_large_gives_the_numbers) {
    expect_failure<LaunchError>(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
                                {.grid = 21, .block = 32, .is_cooperative = true},
                                {"blocks is 21", "2 on each of 10 multiprocessors", "at most 20"});
    expect_failure<LaunchError>(
        CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
        {.grid = 11, .block = 32, .cluster = Dim3{2}, .is_cooperative = true},
        {"blocks is 22", "at most 20"});
}

TEST_F(FakeLaunch, a_cluster_too_large_gives_the_limit) {
    expect_failure<LaunchError>(
        CUDA_ERROR_INVALID_CLUSTER_SIZE, {.cluster = Dim3{16}},
        {"per cluster is 16", "at most 8", "non_portable_cluster_size_allowed"});
    expect_failure<LaunchError>(CUDA_ERROR_INVALID_CLUSTER_SIZE, {.cluster = Dim3{32}},
                                {"per cluster is 32", "at most 16"});
}

TEST_F(FakeLaunch, a_cluster_that_the_kernel_is_not_made_for_is_named) {
    libraries->kernel_attributes[CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET] = 1;
    expect_failure<LaunchError>(CUDA_ERROR_INVALID_CLUSTER_SIZE, {},
                                {"needs a cluster", "has none"});
    libraries->kernel_attributes[CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH] = 2;
    libraries->kernel_attributes[CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT] = 1;
    libraries->kernel_attributes[CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH] = 1;
    expect_failure<LaunchError>(CUDA_ERROR_INVALID_CLUSTER_SIZE, {.cluster = Dim3{4}},
                                {"cluster is (4, 1, 1)", "made for (2, 1, 1)"});
}

TEST_F(FakeLaunch, clusters_on_an_older_device_say_what_they_need) {
    libraries->device_attributes[CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH] = 0;
    libraries->device_attributes[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR] = 8;
    expect_failure<LaunchError>(CUDA_ERROR_INVALID_VALUE, {.cluster = Dim3{2}},
                                {"sm_80", "compute capability 9.0"});
}

TEST_F(FakeLaunch, an_out_of_range_priority_shows_the_valid_range) {
    const Kernel nothing = kernel("nothing");
    for (const int priority :
         {testing::FakeDriver::LOWEST_PRIORITY + 1, testing::FakeDriver::HIGHEST_PRIORITY - 1}) {
        expect_error<std::invalid_argument>(
            [&] { launch(stream, {.priority = priority}, nothing); },
            {"LaunchConfig priority is " + std::to_string(priority),
             "expected -5 (runs first) to 0 on device 0"});
    }
    EXPECT_TRUE(libraries->launches.empty());
    launch(stream, {.priority = testing::FakeDriver::HIGHEST_PRIORITY}, nothing);
    EXPECT_EQ(libraries->launches.size(), 1U);
}

TEST_F(FakeLaunch, other_failures_keep_their_code_and_name_the_launch) {
    expect_failure<CUDAError>(CUDA_ERROR_ILLEGAL_ADDRESS, {.grid = 7}, {"grid (7, 1, 1)"});
    expect_failure<CUDAError>(CUDA_ERROR_INVALID_VALUE, {.grid = 7},
                              {"CUDA_ERROR_INVALID_VALUE (1)"});
}

TEST_F(FakeLaunch, a_failure_keeps_what_the_driver_logged_about_it) {
    std::string reason = "cuLaunchKernelEx: because";
    const auto log = [&] {
        driver::keep_message(nullptr, CU_LOG_LEVEL_ERROR, reason.data(), reason.size());
    };
    log();
    expect_failure<CUDAError>(CUDA_ERROR_ILLEGAL_ADDRESS, {.grid = 7}, {"(7, 1, 1)", reason});
    log();
    expect_failure<CUDAError>(CUDA_ERROR_INVALID_VALUE, {.grid = 7}, {"(7, 1, 1)", reason});
    log();
    expect_failure<LaunchError>(CUDA_ERROR_INVALID_VALUE, {.block = 2048},
                                {"at most 1024", reason});
}

TEST_F(FakeLaunch, a_failure_while_explaining_does_not_hide_the_first) {
    const Kernel nothing = kernel("nothing");
    libraries->failures["cuLaunchKernelEx"] = CUDA_ERROR_INVALID_VALUE;
    libraries->failures["cuDeviceGetAttribute"] = CUDA_ERROR_UNKNOWN;
    expect_error<CUDAError>([&] { launch(stream, {.block = 2048}, nothing); },
                            {"cuLaunchKernelEx", "CUDA_ERROR_INVALID_VALUE (1)", "\"nothing\""});
}

TEST_F(FakeLaunch, a_typed_kernel_converts_its_arguments) {
    const auto saxpy = kernel("saxpy").as<void(float, const float*, float*, std::size_t)>();
    const Buffer buffer = Buffer::from_handle(0x1234, 16);
    saxpy(stream, {.block = 32}, 2, buffer, buffer, 7);
    const testing::FakeLibraries::Launch& launched = libraries->launches.at(0);
    EXPECT_EQ(value_of<float>(launched.arguments[0]), 2.0F);
    EXPECT_EQ(value_of<CUdeviceptr>(launched.arguments[2]), 0x1234U);
    EXPECT_EQ(value_of<std::size_t>(launched.arguments[3]), 7U);
}

TEST_F(FakeLaunch, a_managed_buffer_passes_its_address) {
    const ManagedBuffer buffer(Buffer::from_handle(0x1234, 16));
    launch(stream, {}, kernel("saxpy"), 1.0F, buffer, buffer, std::size_t{1});
    kernel("saxpy").as<void(float, const float*, float*, std::size_t)>()(stream, {}, 1.0F, buffer,
                                                                         buffer, std::size_t{1});
    ASSERT_EQ(libraries->launches.size(), 2U);
    for (const testing::FakeLibraries::Launch& launched : libraries->launches) {
        EXPECT_EQ(value_of<CUdeviceptr>(launched.arguments[1]), 0x1234U);
    }
}

TEST_F(FakeLaunch, a_typed_kernel_refuses_integers_that_would_change) {
    const auto saxpy = kernel("saxpy").as<void(float, const float*, float*, std::size_t)>();
    const Buffer buffer = Buffer::from_handle(0x1234, 16);
    expect_error<std::invalid_argument>([&] { saxpy(stream, {}, 2, buffer, buffer, -1); },
                                        {"argument 3 is -1", "integer type"});
    expect_error<std::invalid_argument>([&] { saxpy(stream, {}, 16'777'217, buffer, buffer, 1); },
                                        {"argument 0 is 16777217", "exactly"});
    EXPECT_TRUE(libraries->launches.empty());
    saxpy(stream, {}, std::int64_t{1} << 40, buffer, buffer, 1);
    EXPECT_EQ(value_of<float>(libraries->launches.at(0).arguments[0]), 0x1p40F);
}

} // namespace
} // namespace cuprum
