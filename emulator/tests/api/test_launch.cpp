// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "api/driver.hpp"
#include "api/kernels.hpp"

#include <thread>
#include <vector>

using namespace cuprum::emulator::test;

class Launch : public DriverTest {
protected:
    void SetUp() override {
        DriverTest::SetUp();
        ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&stream_, CU_STREAM_NON_BLOCKING)));
        ASSERT_TRUE(succeeds(
            CU(cuLibraryLoadData)(&library_, SAXPY_PTX, nullptr, nullptr, 0, nullptr, nullptr, 0)));
        ASSERT_TRUE(succeeds(CU(cuLibraryGetKernel)(&saxpy_, library_, "saxpy")));
    }

    void TearDown() override {
        EXPECT_TRUE(succeeds(CU(cuLibraryUnload)(library_)));
        EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(stream_)));
        DriverTest::TearDown();
    }

    CUfunction saxpy() const { return reinterpret_cast<CUfunction>(saxpy_); }

    /// Launches saxpy over zero elements with a given shape, to test only the checks.
    CUresult launch_shape(unsigned grid_x, unsigned block_x, unsigned block_y,
                          unsigned shared_bytes) const {
        unsigned n = 0;
        float a = 0;
        CUdeviceptr none = 0;
        void* arguments[] = {&n, &a, &none, &none};
        return CU(cuLaunchKernel)(saxpy(), grid_x, 1, 1, block_x, block_y, 1, shared_bytes, stream_,
                                  arguments, nullptr);
    }

    CUstream stream_ = nullptr;
    CUlibrary library_ = nullptr;
    CUkernel saxpy_ = nullptr;
};

TEST_F(Launch, the_functions_from_before_cuda_4_launch_too) {
    // cuda.h deprecates these functions, so their types are written out.
    auto* set_block = symbol<CUresult(CUfunction, int, int, int)>("cuFuncSetBlockShape");
    auto* set_shared = symbol<CUresult(CUfunction, unsigned)>("cuFuncSetSharedSize");
    auto* set_size = symbol<CUresult(CUfunction, unsigned)>("cuParamSetSize");
    auto* set_int = symbol<CUresult(CUfunction, int, unsigned)>("cuParamSeti");
    auto* set_float = symbol<CUresult(CUfunction, int, float)>("cuParamSetf");
    auto* set_bytes = symbol<CUresult(CUfunction, int, void*, unsigned)>("cuParamSetv");
    auto* launch_grid = symbol<CUresult(CUfunction, int, int)>("cuLaunchGrid");
    auto* launch_async = symbol<CUresult(CUfunction, int, int, CUstream)>("cuLaunchGridAsync");
    CUfunction function = nullptr;
    ASSERT_TRUE(succeeds(CU(cuKernelGetFunction)(&function, saxpy_)));
    constexpr unsigned n = 100;
    CUdeviceptr x = allocate(n * sizeof(float));
    CUdeviceptr y = allocate(n * sizeof(float));
    constexpr unsigned one = 0x3f800000;
    ASSERT_TRUE(succeeds(CU(cuMemsetD32)(x, one, n)));
    ASSERT_TRUE(succeeds(CU(cuMemsetD32)(y, one, n)));
    ASSERT_TRUE(succeeds(set_block(function, 32, 1, 1)));
    ASSERT_TRUE(succeeds(set_shared(function, 64)));
    ASSERT_TRUE(succeeds(set_int(function, 0, n)));
    ASSERT_TRUE(succeeds(set_float(function, 4, 3.0F)));
    ASSERT_TRUE(succeeds(set_bytes(function, 8, &x, sizeof x)));
    ASSERT_TRUE(succeeds(set_bytes(function, 16, &y, sizeof y)));
    ASSERT_TRUE(succeeds(set_size(function, 24)));
    ASSERT_TRUE(succeeds(launch_grid(function, 4, 1)));
    ASSERT_TRUE(succeeds(CU(cuCtxSynchronize)()));
    ASSERT_TRUE(succeeds(launch_async(function, 4, 1, stream_)));
    ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(stream_)));
    float last = 0;
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoH)(&last, y + (n - 1) * sizeof(float), sizeof last)));
    EXPECT_EQ(last, 7.0F);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, launch_grid(function, 0, 1)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, set_block(function, 0, 1, 1)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, set_bytes(function, -1, &x, sizeof x)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE, set_block(nullptr, 1, 1, 1)));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(x)));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(y)));
}

TEST_F(Launch, saxpy_gives_the_right_numbers) {
    unsigned n = 100003;
    float a = 3;
    std::vector<float> x(n);
    std::vector<float> y(n);
    for (unsigned i = 0; i < n; ++i) {
        x[i] = static_cast<float>(i);
        y[i] = 1;
    }
    const std::size_t bytes = n * sizeof(float);
    CUdeviceptr device_x = allocate(bytes);
    CUdeviceptr device_y = allocate(bytes);
    ASSERT_TRUE(succeeds(CU(cuMemcpyHtoDAsync)(device_x, x.data(), bytes, stream_)));
    ASSERT_TRUE(succeeds(CU(cuMemcpyHtoDAsync)(device_y, y.data(), bytes, stream_)));
    void* arguments[] = {&n, &a, &device_x, &device_y};
    ASSERT_TRUE(succeeds(CU(cuLaunchKernel)(saxpy(), (n + 255) / 256, 1, 1, 256, 1, 1, 0, stream_,
                                            arguments, nullptr)));
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoHAsync)(y.data(), device_y, bytes, stream_)));
    ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(stream_)));
    for (unsigned i = 0; i < n; ++i) {
        ASSERT_EQ(y[i], 3 * static_cast<float>(i) + 1) << i;
    }
    EXPECT_TRUE(succeeds(CU(cuMemFree)(device_x)));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(device_y)));
}

TEST_F(Launch, packed_arguments_do_the_same) {
    struct {
        unsigned n = 1;
        float a = 2;
        CUdeviceptr x = 0;
        CUdeviceptr y = 0;
    } packed;

    packed.x = packed.y = allocate(sizeof(float));
    const float one = 1;
    ASSERT_TRUE(succeeds(CU(cuMemcpyHtoD)(packed.x, &one, sizeof one)));
    std::size_t size = sizeof packed;
    void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    CUlaunchConfig config{};
    config.gridDimX = config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    config.hStream = stream_;
    ASSERT_TRUE(succeeds(CU(cuLaunchKernelEx)(&config, saxpy(), nullptr, extra)));
    ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(stream_)));
    float result = 0;
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoH)(&result, packed.y, sizeof result)));
    EXPECT_EQ(result, 3);
    size = 8;
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, CU(cuLaunchKernelEx)(&config, saxpy(), nullptr, extra)));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(packed.x)));
}

TEST_F(Launch, limits_are_checked) {
    EXPECT_TRUE(succeeds(launch_shape(1, 1024, 1, 0)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, launch_shape(0, 32, 1, 0)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, launch_shape(1, 0, 1, 0)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, launch_shape(1, 1025, 1, 0)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, launch_shape(1, 64, 32, 0)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, launch_shape(1, 32, 1, 49153)));
    EXPECT_TRUE(succeeds(launch_shape(1, 32, 1, 49152)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuLaunchKernel)(saxpy(), 1, 1, 1, 1, 1, 1, 0,
                                                                     stream_, nullptr, nullptr)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE, CU(cuLaunchKernel)(nullptr, 1, 1, 1, 1, 1, 1, 0,
                                                                      stream_, nullptr, nullptr)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE,
                        CU(cuLaunchKernel)(reinterpret_cast<CUfunction>(stream_), 1, 1, 1, 1, 1, 1,
                                           0, stream_, nullptr, nullptr)));
    EXPECT_TRUE(succeeds(CU(cuStreamSynchronize)(stream_)));
}

TEST_F(Launch, shared_memory_beyond_48_kib_must_be_asked_for) {
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, launch_shape(1, 32, 1, 60000)));
    ASSERT_TRUE(succeeds(CU(cuKernelSetAttribute)(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                                  60000, saxpy_, 0)));
    EXPECT_TRUE(succeeds(launch_shape(1, 32, 1, 60000)));
    EXPECT_TRUE(succeeds(CU(cuStreamSynchronize)(stream_)));
}

TEST_F(Launch, a_cooperative_grid_must_fit_on_the_device) {
    unsigned n = 0;
    float a = 0;
    CUdeviceptr none = 0;
    void* arguments[] = {&n, &a, &none, &none};
    EXPECT_TRUE(
        succeeds(CU(cuLaunchCooperativeKernel)(saxpy(), 1, 1, 1, 32, 1, 1, 0, stream_, arguments)));
    EXPECT_TRUE(returns(
        CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
        CU(cuLaunchCooperativeKernel)(saxpy(), 1000000, 1, 1, 1024, 1, 1, 0, stream_, arguments)));
    EXPECT_TRUE(succeeds(CU(cuStreamSynchronize)(stream_)));
}

TEST_F(Launch, occupancy_is_within_the_device) {
    CUfunction function = nullptr;
    ASSERT_TRUE(succeeds(CU(cuKernelGetFunction)(&function, saxpy_)));
    int blocks = 0;
    ASSERT_TRUE(
        succeeds(CU(cuOccupancyMaxActiveBlocksPerMultiprocessor)(&blocks, function, 256, 0)));
    EXPECT_GE(blocks, 1);
    EXPECT_LE(blocks, 32);
    int fewer = 0;
    ASSERT_TRUE(
        succeeds(CU(cuOccupancyMaxActiveBlocksPerMultiprocessor)(&fewer, function, 256, 40000)));
    EXPECT_LT(fewer, blocks);
    int grid = 0;
    int block = 0;
    ASSERT_TRUE(
        succeeds(CU(cuOccupancyMaxPotentialBlockSize)(&grid, &block, function, nullptr, 0, 0)));
    EXPECT_GT(block, 0);
    EXPECT_EQ(block % 32, 0);
    EXPECT_GT(grid, 0);
    std::size_t shared = 0;
    ASSERT_TRUE(succeeds(CU(cuOccupancyAvailableDynamicSMemPerBlock)(&shared, function, 2, 256)));
    EXPECT_GT(shared, 0U);
}

TEST_F(Launch, variables_of_a_module_are_shared_between_launches) {
    CUmodule module = nullptr;
    CUfunction bump = nullptr;
    ASSERT_TRUE(succeeds(CU(cuModuleLoadData)(&module, COUNTER_PTX)));
    ASSERT_TRUE(succeeds(CU(cuModuleGetFunction)(&bump, module, "bump")));
    for (int round = 0; round < 3; ++round) {
        ASSERT_TRUE(
            succeeds(CU(cuLaunchKernel)(bump, 1, 1, 1, 1, 1, 1, 0, stream_, nullptr, nullptr)));
    }
    ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(stream_)));
    CUdeviceptr counter = 0;
    unsigned value = 0;
    ASSERT_TRUE(succeeds(CU(cuModuleGetGlobal)(&counter, nullptr, module, "counter")));
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoH)(&value, counter, sizeof value)));
    EXPECT_EQ(value, 46U);
    CUfunction small = nullptr;
    ASSERT_TRUE(succeeds(CU(cuModuleGetFunction)(&small, module, "small")));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuLaunchKernel)(small, 1, 1, 1, 65, 1, 1, 0,
                                                                     stream_, nullptr, nullptr)));
    EXPECT_TRUE(succeeds(CU(cuModuleUnload)(module)));
}

TEST_F(Launch, a_launch_behind_a_gate_uses_memory_freed_after_it_in_the_stream) {
    CUmodule module = nullptr;
    CUfunction touch = nullptr;
    ASSERT_TRUE(succeeds(CU(cuModuleLoadData)(&module, COUNTER_PTX)));
    ASSERT_TRUE(succeeds(CU(cuModuleGetFunction)(&touch, module, "touch")));
    CUdeviceptr memory = 0;
    Gate gate;
    ASSERT_TRUE(succeeds(CU(cuMemAllocAsync)(&memory, 4, stream_)));
    gate.block(stream_);
    void* arguments[] = {&memory};
    ASSERT_TRUE(
        succeeds(CU(cuLaunchKernel)(touch, 1, 1, 1, 1, 1, 1, 0, stream_, arguments, nullptr)));
    ASSERT_TRUE(succeeds(CU(cuMemFreeAsync)(memory, stream_)));
    ASSERT_TRUE(succeeds(CU(cuModuleUnload)(module)));
    gate.open();
    EXPECT_TRUE(succeeds(CU(cuStreamSynchronize)(stream_)));
}

TEST_F(Launch, a_fault_sticks_to_the_context_until_it_is_destroyed) {
    CUcontext doomed = nullptr;
    CUmodule module = nullptr;
    CUfunction touch = nullptr;
    ASSERT_TRUE(succeeds(CU(cuCtxCreate)(&doomed, nullptr, 0, 0)));
    ASSERT_TRUE(succeeds(CU(cuModuleLoadData)(&module, COUNTER_PTX)));
    ASSERT_TRUE(succeeds(CU(cuModuleGetFunction)(&touch, module, "touch")));
    CUdeviceptr nowhere = 0x1000;
    void* arguments[] = {&nowhere};
    testing::internal::CaptureStderr();
    ASSERT_TRUE(
        succeeds(CU(cuLaunchKernel)(touch, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr)));
    EXPECT_TRUE(returns(CUDA_ERROR_ILLEGAL_ADDRESS, CU(cuCtxSynchronize)()));
    const std::string report = testing::internal::GetCapturedStderr();
    EXPECT_NE(report.find("touch"), std::string::npos) << report;
    CUdeviceptr memory = 0;
    EXPECT_TRUE(returns(CUDA_ERROR_ILLEGAL_ADDRESS, CU(cuMemAlloc)(&memory, 16)));
    EXPECT_TRUE(returns(CUDA_ERROR_ILLEGAL_ADDRESS, CU(cuStreamSynchronize)(nullptr)));
    EXPECT_TRUE(succeeds(CU(cuCtxDestroy)(doomed)));
    // Other contexts are not affected.
    EXPECT_TRUE(succeeds(CU(cuCtxSynchronize)()));
    EXPECT_TRUE(succeeds(launch_shape(1, 32, 1, 0)));
    EXPECT_TRUE(succeeds(CU(cuStreamSynchronize)(stream_)));
}

TEST_F(Launch, several_threads_launch_at_once) {
    constexpr int thread_count = 4;
    constexpr int launches = 50;
    std::vector<std::thread> threads;
    std::atomic<int> failures{0};
    for (int index = 0; index < thread_count; ++index) {
        threads.emplace_back([&] {
            CUstream stream = nullptr;
            CU(cuCtxSetCurrent)(context_);
            failures += CU(cuStreamCreate)(&stream, CU_STREAM_DEFAULT) != CUDA_SUCCESS;
            unsigned n = 0;
            float a = 0;
            CUdeviceptr none = 0;
            void* arguments[] = {&n, &a, &none, &none};
            for (int round = 0; round < launches; ++round) {
                failures += CU(cuLaunchKernel)(saxpy(), 2, 1, 1, 64, 1, 1, 0, stream, arguments,
                                               nullptr) != CUDA_SUCCESS;
            }
            failures += CU(cuStreamSynchronize)(stream) != CUDA_SUCCESS;
            failures += CU(cuStreamDestroy)(stream) != CUDA_SUCCESS;
        });
    }
    for (auto& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(failures, 0);
}
