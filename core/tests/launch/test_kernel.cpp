// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/device_test.hpp"
#include "support/expect_error.hpp"
#include "support/fake_libraries.hpp"
#include "support/warning_log.hpp"

#include <cuprum/error.hpp>
#include <cuprum/kernel.hpp>
#include <cuprum/object_code.hpp>
#include <cuprum/typed_kernel.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace cuprum {
namespace {

using testing::expect_error;

// ---- on the fake driver ------------------------------------------------------------------------

class FakeKernel : public testing::FakeLibrariesTest {
protected:
    static Kernel kernel(const char* name) {
        return ObjectCode::from_bytes(CodeType::Ptx, std::vector<std::byte>(1)).get_kernel(name);
    }
};

TEST_F(FakeKernel, parameters_are_read_without_a_current_context) {
    const Kernel saxpy = kernel("saxpy");
    ASSERT_EQ(saxpy.parameters().size(), 4U);
    EXPECT_EQ(saxpy.parameters()[0], (ParameterInfo{.offset = 0, .size = 4}));
    EXPECT_EQ(saxpy.parameters()[3], (ParameterInfo{.offset = 24, .size = 8}));
    EXPECT_TRUE(kernel("nothing").parameters().empty());
    EXPECT_EQ(testing::FakeDriver::current(), nullptr);
}

TEST_F(FakeKernel, parameters_are_read_in_the_current_context) {
    const CUcontext context = fake->make_context(1);
    start_with(context);
    EXPECT_EQ(kernel("saxpy").parameters().size(), 4U);
    EXPECT_EQ(testing::FakeDriver::current(), context);
    EXPECT_EQ(fake->count("cuCtxPushCurrent"), 0);
}

TEST_F(FakeKernel, parameters_are_read_once_for_each_kernel) {
    const ObjectCode code = ObjectCode::from_bytes(CodeType::Ptx, std::vector<std::byte>(1));
    static_cast<void>(code.get_kernel("saxpy"));
    libraries->failures["cuKernelGetParamInfo"] = CUDA_ERROR_UNKNOWN;
    EXPECT_EQ(code.get_kernel("saxpy").parameters().size(), 4U);
    EXPECT_THROW(static_cast<void>(code.get_kernel("nothing")), CUDAError);
}

TEST_F(FakeKernel, only_the_documented_end_ends_the_parameters) {
    libraries->failures["cuKernelGetParamInfo"] = CUDA_ERROR_INVALID_HANDLE;
    expect_error<CUDAError>([] { static_cast<void>(kernel("saxpy")); },
                            {"cuKernelGetParamInfo", "CUDA_ERROR_INVALID_HANDLE"});
}

TEST_F(FakeKernel, drivers_that_cannot_tell_parameters_have_none_checked) {
    libraries->is_old = true;
    const Kernel saxpy = kernel("saxpy");
    EXPECT_FALSE(saxpy.is_plan_known());
    EXPECT_THROW(static_cast<void>(saxpy.parameters()), NotSupportedError);
    EXPECT_NO_THROW(static_cast<void>(saxpy.as<void(int, int)>()));
}

TEST_F(FakeKernel, a_signature_is_compared_with_the_parameters) {
    const Kernel saxpy = kernel("saxpy");
    EXPECT_TRUE(saxpy.is_plan_known());
    EXPECT_NO_THROW(static_cast<void>(saxpy.as<void(float, const float*, float*, std::size_t)>()));
    expect_error<std::invalid_argument>(
        [&] { static_cast<void>(saxpy.as<void(float, const float*)>()); },
        {"2 parameters", "\"saxpy\" takes 4"});
    expect_error<std::invalid_argument>(
        [&] { static_cast<void>(saxpy.as<void(double, const float*, float*, std::size_t)>()); },
        {"parameter 0", "8 bytes", "\"saxpy\" takes 4"});
    EXPECT_NO_THROW(static_cast<void>(kernel("nothing").as<void()>()));
}

TEST_F(FakeKernel, attributes_are_those_of_the_driver) {
    libraries->kernel_attributes[CU_FUNC_ATTRIBUTE_NUM_REGS] = 42;
    libraries->kernel_attributes[CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK] = 512;
    const KernelAttributes attributes = kernel("saxpy").attributes(Device(1));
    EXPECT_EQ(attributes.num_regs, 42);
    EXPECT_EQ(attributes.max_threads_per_block, 512);
    libraries->failures["cuKernelGetAttribute"] = CUDA_ERROR_INVALID_VALUE;
    EXPECT_THROW(static_cast<void>(kernel("saxpy").attributes(Device(1))), CUDAError);
}

TEST_F(FakeKernel, too_much_shared_memory_gives_the_limit) {
    libraries->device_attributes[CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN] = 1000;
    libraries->kernel_attributes[CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES] = 100;
    libraries->failures["cuKernelSetAttribute"] = CUDA_ERROR_INVALID_VALUE;
    expect_error<std::invalid_argument>(
        [] { kernel("saxpy").set_max_dynamic_shared_size_bytes(Device(0), 950); },
        {"max_dynamic_shared_size_bytes is 950", "0 to 900", "\"saxpy\"", "1000"});
}

TEST_F(FakeKernel, attributes_can_be_set) {
    const Kernel saxpy = kernel("saxpy");
    saxpy.set_attribute(KernelAttribute::PreferredSharedMemoryCarveout, 50, Device(0));
    saxpy.set_attribute(KernelAttribute::NonPortableClusterSizeAllowed, 1, Device(0));
    const KernelAttributes attributes = saxpy.attributes(Device(0));
    EXPECT_EQ(attributes.preferred_shared_memory_carveout, 50);
    EXPECT_TRUE(attributes.non_portable_cluster_size_allowed);
    libraries->failures["cuKernelSetAttribute"] = CUDA_ERROR_INVALID_VALUE;
    expect_error<std::invalid_argument>(
        [&] {
            saxpy.set_attribute(KernelAttribute::PreferredSharedMemoryCarveout, 101, Device(0));
        },
        {"preferred_shared_memory_carveout is 101", "0 to 100", "\"saxpy\"", "device 0"});
    expect_error<std::invalid_argument>(
        [&] { saxpy.set_attribute(KernelAttribute::NumRegs, 8, Device(0)); }, {"cannot be set"});
}

TEST_F(FakeKernel, a_handle_leads_back_to_its_code) {
    testing::WarningLog log;
    ObjectCode code = ObjectCode::from_bytes(CodeType::Ptx, std::vector<std::byte>(1));
    const Kernel wrapped = Kernel::from_handle(code.get_kernel("saxpy").handle());
    EXPECT_EQ(wrapped.name(), "saxpy");
    EXPECT_EQ(wrapped.parameters().size(), 4U);
    code.close();
    EXPECT_EQ(libraries->live_libraries, 1) << "the kernel keeps it loaded";
    EXPECT_TRUE(log.take(WarningKind::Degraded).empty());
    EXPECT_THROW(static_cast<void>(Kernel::from_handle(nullptr)), std::invalid_argument);
}

TEST_F(FakeKernel, a_handle_is_wrapped_by_drivers_that_cannot_tell_its_library) {
    const ObjectCode code = ObjectCode::from_bytes(CodeType::Ptx, std::vector<std::byte>(1));
    const CUkernel handle = code.get_kernel("saxpy").handle();
    libraries->is_old = true;
    const Kernel wrapped = Kernel::from_handle(handle, code);
    EXPECT_FALSE(wrapped.is_plan_known());
    EXPECT_TRUE(wrapped == Kernel::from_handle(handle));
}

TEST_F(FakeKernel, occupancy_asks_the_driver) {
    const KernelOccupancy occupancy = kernel("saxpy").occupancy();
    EXPECT_EQ(occupancy.max_active_blocks_per_multiprocessor(32, 0), 2);
    EXPECT_EQ(occupancy.max_active_blocks_per_multiprocessor(32, 0, true), 3) << "the flag is 1";
    EXPECT_EQ(occupancy.max_potential_block_size(0), (PotentialBlockSize{20, 1024}));
    EXPECT_EQ(occupancy.max_potential_block_size(0, 128), (PotentialBlockSize{20, 128}));
    EXPECT_EQ(occupancy.available_dynamic_shared_memory_per_block(4, 32), 250U);
    EXPECT_EQ(testing::FakeDriver::current(), nullptr);
    EXPECT_THROW(static_cast<void>(occupancy.max_potential_block_size(0, -1)),
                 std::invalid_argument);
    EXPECT_THROW(static_cast<void>(occupancy.available_dynamic_shared_memory_per_block(0, 32)),
                 std::invalid_argument);
}

TEST_F(FakeKernel, occupancy_is_remembered_until_something_is_set) {
    Device(0).set_current();
    const Kernel saxpy = kernel("saxpy");
    const KernelOccupancy occupancy = saxpy.occupancy();
    const auto blocks = [](const KernelOccupancy& asked, int block_size, std::size_t bytes) {
        return asked.max_active_blocks_per_multiprocessor(block_size, bytes);
    };
    EXPECT_EQ(blocks(occupancy, 32, 0), 2);
    libraries->active_blocks = 5;
    EXPECT_EQ(blocks(occupancy, 32, 0), 2) << "not asked again";
    EXPECT_EQ(blocks(saxpy.occupancy(), 32, 0), 5) << "a new one knows nothing";
    EXPECT_EQ(blocks(KernelOccupancy(occupancy), 32, 0), 5) << "nor does a copy";
    EXPECT_EQ(blocks(occupancy, 64, 0), 5);
    libraries->active_blocks = 6;
    EXPECT_EQ(blocks(occupancy, 64, 8), 6);
    libraries->active_blocks = 7;
    saxpy.set_attribute(KernelAttribute::PreferredSharedMemoryCarveout, 50, Device(0));
    EXPECT_EQ(blocks(occupancy, 64, 8), 7);
    libraries->active_blocks = 8;
    Device(1).set_current();
    EXPECT_EQ(blocks(occupancy, 64, 8), 8);
    libraries->active_blocks = 9;
    Device(1).primary_context().set_cache_config(CacheConfig::PreferShared);
    EXPECT_EQ(blocks(occupancy, 64, 8), 9);
    EXPECT_THROW(static_cast<void>(blocks(occupancy, 0, 8)), std::invalid_argument);
}

TEST_F(FakeKernel, occupancy_is_not_remembered_when_asking_failed) {
    Device(0).set_current();
    const KernelOccupancy occupancy = kernel("saxpy").occupancy();
    libraries->failures["cuOccupancyMaxActiveBlocksPerMultiprocessor"] = CUDA_ERROR_UNKNOWN;
    EXPECT_THROW(static_cast<void>(occupancy.max_active_blocks_per_multiprocessor(32, 0)),
                 CUDAError);
    libraries->failures.clear();
    EXPECT_EQ(occupancy.max_active_blocks_per_multiprocessor(32, 0), 2);
    fake->fail("cuCtxGetDevice", CUDA_ERROR_DEINITIALIZED);
    expect_error<CUDAError>(
        [&] { static_cast<void>(occupancy.max_active_blocks_per_multiprocessor(32, 0)); },
        {"cuCtxGetDevice", "CUDA_ERROR_DEINITIALIZED"});
}

TEST_F(FakeKernel, threads_that_ask_at_once_get_their_own_answer) {
    // Each thread asks a different question, so the remembered answer changes all the time.
    constexpr int THREADS = 4;
    detail::LastOccupancy last;
    std::atomic<int> wrong{0};
    {
        std::vector<std::jthread> threads;
        for (int i = 1; i <= THREADS; ++i) {
            threads.emplace_back([&, i] {
                const detail::OccupancyQuestion mine{
                    .device = i, .block_size = i, .bytes = static_cast<std::size_t>(i)};
                for (int round = 0; round < 20000; ++round) {
                    const int known = last.find(mine);
                    wrong += known != -1 && known != i ? 1 : 0;
                    last.keep(mine, i);
                }
            });
        }
    }
    EXPECT_EQ(wrong, 0);
}

TEST_F(FakeKernel, shared_memory_may_depend_on_the_block_size) {
    const KernelOccupancy occupancy = kernel("saxpy").occupancy();
    const auto best = occupancy.max_potential_block_size(
        [](int threads) { return static_cast<std::size_t>(threads) * 4; });
    EXPECT_EQ(best.max_block_size, 128) << "512 bytes, where 256 threads need 1024";
    expect_error<std::out_of_range>(
        [&] {
            static_cast<void>(occupancy.max_potential_block_size(
                [](int) -> std::size_t { throw std::out_of_range("mine"); }));
        },
        {"mine"});
    EXPECT_THROW(
        static_cast<void>(occupancy.max_potential_block_size(std::function<std::size_t(int)>())),
        std::invalid_argument);
}

TEST_F(FakeKernel, clusters_are_asked_about_with_the_configuration) {
    const KernelOccupancy occupancy = kernel("saxpy").occupancy();
    const Stream stream = Stream::from_handle(fake->make_stream(fake->make_context(0)));
    EXPECT_EQ(occupancy.max_potential_cluster_size({.block = 32}, stream), 32);
    EXPECT_EQ(occupancy.max_active_clusters({.block = 32, .cluster = Dim3{4}}, stream), 25);
    Stream closed = stream;
    closed.close();
    EXPECT_THROW(static_cast<void>(occupancy.max_active_clusters({}, closed)), ClosedError);
}

TEST_F(FakeKernel, configurations_are_made_from_sizes_and_occupancy) {
    EXPECT_EQ(LaunchConfig::from_size(1000), (LaunchConfig{.grid = 4, .block = 256}));
    EXPECT_EQ(LaunchConfig::from_size(1, 32), (LaunchConfig{.grid = 1, .block = 32}));
    EXPECT_THROW(static_cast<void>(LaunchConfig::from_size(0)), std::invalid_argument);
    EXPECT_THROW(static_cast<void>(LaunchConfig::from_size(1, 0)), std::invalid_argument);
    expect_error<std::invalid_argument>(
        [] { static_cast<void>(LaunchConfig::from_size(std::size_t{1} << 40U, 1)); },
        {"1099511627776", "at most 2147483647"});
    const Kernel saxpy = kernel("saxpy");
    EXPECT_EQ(LaunchConfig::from_occupancy(saxpy), (LaunchConfig{.grid = 20, .block = 1024}));
    EXPECT_EQ(LaunchConfig::from_occupancy(saxpy, 1000, 100, 64),
              (LaunchConfig{.grid = 16, .block = 64, .shmem_size = 100}));
    expect_error<std::invalid_argument>(
        [&] { static_cast<void>(LaunchConfig::from_occupancy(saxpy, {}, 2000)); },
        {"shmem_size is 2000", "\"saxpy\""});
}

TEST_F(FakeKernel, equality_compares_handles) {
    const ObjectCode code = ObjectCode::from_bytes(CodeType::Ptx, std::vector<std::byte>(1));
    Kernel left = code.get_kernel("saxpy");
    const Kernel right = code.get_kernel("saxpy");
    EXPECT_TRUE(left == right);
    EXPECT_FALSE(left == code.get_kernel("nothing"));
    left.close();
    EXPECT_FALSE(left == right);
}

TEST_F(FakeKernel, use_after_close_is_an_error) {
    Kernel saxpy = kernel("saxpy");
    saxpy.close();
    saxpy.close();
    EXPECT_TRUE(saxpy.is_closed());
    EXPECT_THROW(static_cast<void>(saxpy.handle()), ClosedError);
    EXPECT_THROW(static_cast<void>(saxpy.name()), ClosedError);
    EXPECT_THROW(static_cast<void>(saxpy.parameters()), ClosedError);
    EXPECT_THROW(static_cast<void>(saxpy.attributes(Device(0))), ClosedError);
    EXPECT_THROW(static_cast<void>(saxpy.occupancy()), ClosedError);
    EXPECT_THROW(static_cast<void>(saxpy.as<void()>()), ClosedError);
}

// ---- on the device -----------------------------------------------------------------------------

using DeviceKernel = testing::DeviceTest;

constexpr const char* SOURCE = R"(
    struct Point { float x, y, z; };
    extern "C" __global__ void none() {}
    extern "C" __global__ void mixed(char a, double b, Point c, float* d, short e) { *d = b; }
    extern "C" __global__ void __launch_bounds__(64) bounded(int* x) { *x = 1; }
    extern "C" __global__ void tile(float* x) {
        __shared__ float values[256];
        values[threadIdx.x] = x[threadIdx.x];
        __syncthreads();
        x[threadIdx.x] = values[255 - threadIdx.x];
    })";

TEST_F(DeviceKernel, parameters_have_the_offsets_and_sizes_of_c) {
    const ObjectCode code = compile(SOURCE);
    EXPECT_TRUE(code.get_kernel("none").parameters().empty());
    const Kernel mixed = code.get_kernel("mixed");
    using enum ParameterKind;
    std::vector<ParameterInfo> expected{
        {0, 1, Integer}, {8, 8, Float}, {16, 12, Unknown}, {32, 8, Pointer}, {40, 2, Integer}};
    const std::vector<ParameterInfo> found(mixed.parameters().begin(), mixed.parameters().end());
    ASSERT_EQ(found.size(), expected.size());
    if (found[3].kind == Integer) { // older compilers do not mark pointers in PTX
        expected[3].kind = Integer;
    }
    EXPECT_EQ(found, expected);
}

TEST_F(DeviceKernel, attributes_show_launch_bounds_and_shared_memory) {
    const ObjectCode code = compile(SOURCE);
    EXPECT_EQ(code.get_kernel("bounded").attributes(device()).max_threads_per_block, 64);
    const KernelAttributes tile = code.get_kernel("tile").attributes(device());
    EXPECT_EQ(tile.shared_size_bytes, 1024);
    EXPECT_GE(tile.max_threads_per_block, 256);
    EXPECT_GT(tile.num_regs, 0);
}

TEST_F(DeviceKernel, occupancy_falls_with_the_block_and_needs_no_context) {
    const Kernel tile = compile(SOURCE).get_kernel("tile");
    const KernelOccupancy occupancy = tile.occupancy();
    const int small = occupancy.max_active_blocks_per_multiprocessor(32, 0);
    const int large = occupancy.max_active_blocks_per_multiprocessor(1024, 0);
    EXPECT_GE(large, 1);
    EXPECT_GE(small, large);
    const PotentialBlockSize best = occupancy.max_potential_block_size(0);
    EXPECT_GE(best.max_block_size, 32);
    EXPECT_GE(best.min_grid_size, 1);
    EXPECT_LE(occupancy.max_potential_block_size(0, 64).max_block_size, 64);
    EXPECT_GT(occupancy.available_dynamic_shared_memory_per_block(1, 32), 0U);
    EXPECT_THROW(static_cast<void>(occupancy.max_active_blocks_per_multiprocessor(0, 0)),
                 std::invalid_argument);
}

} // namespace
} // namespace cuprum
