// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "api/driver.hpp"

#include <atomic>
#include <chrono>
#include <thread>

using namespace cuprum::emulator::test;

class Contexts : public DriverTest {
protected:
    static CUcontext current() {
        CUcontext context = nullptr;
        EXPECT_TRUE(succeeds(CU(cuCtxGetCurrent)(&context)));
        return context;
    }
};

TEST_F(Contexts, the_primary_context_is_one_and_counted) {
    CUcontext again = nullptr;
    ASSERT_TRUE(succeeds(CU(cuDevicePrimaryCtxRetain)(&again, 0)));
    EXPECT_EQ(again, context_);
    ASSERT_TRUE(succeeds(CU(cuDevicePrimaryCtxRelease)(0)));
    unsigned flags = 0;
    int active = 0;
    ASSERT_TRUE(succeeds(CU(cuDevicePrimaryCtxGetState)(0, &flags, &active)));
    EXPECT_EQ(active, 1);
}

TEST_F(Contexts, releasing_more_often_than_retaining_is_an_error) {
    ASSERT_TRUE(succeeds(CU(cuDevicePrimaryCtxRelease)(0)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_CONTEXT, CU(cuDevicePrimaryCtxRelease)(0)));
    CUdeviceptr address = 0;
    EXPECT_TRUE(returns(CUDA_ERROR_CONTEXT_IS_DESTROYED, CU(cuMemAlloc)(&address, 16)));
    ASSERT_TRUE(succeeds(CU(cuDevicePrimaryCtxRetain)(&context_, 0)));
    ASSERT_TRUE(succeeds(CU(cuMemAlloc)(&address, 16)));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(address)));
}

TEST_F(Contexts, a_reset_frees_everything_and_the_next_retain_works_again) {
    const CUdeviceptr address = allocate(1024);
    CUstream stream = nullptr;
    ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&stream, CU_STREAM_DEFAULT)));
    ASSERT_TRUE(succeeds(CU(cuDevicePrimaryCtxReset)(0)));
    EXPECT_TRUE(returns(CUDA_ERROR_CONTEXT_IS_DESTROYED, CU(cuCtxSynchronize)()));
    ASSERT_TRUE(succeeds(CU(cuDevicePrimaryCtxRetain)(&context_, 0)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemFree)(address)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE, CU(cuStreamQuery)(stream)));
    ASSERT_TRUE(succeeds(CU(cuDevicePrimaryCtxRelease)(0)));
}

TEST_F(Contexts, a_reset_in_the_middle_of_a_grid_lets_every_block_run_once) {
    constexpr const char* count_blocks = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry count(.param .u64 out)
{
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    red.global.add.u32 [%rd1], 1;
    ret;
}
)";
    constexpr unsigned blocks = 200'000;
    CUcontext other = nullptr; // keeps the memory while the primary context is reset
    void* memory = nullptr;
    ASSERT_TRUE(succeeds(CU(cuCtxCreate)(&other, nullptr, 0, 0)));
    ASSERT_TRUE(succeeds(CU(cuMemHostAlloc)(&memory, 4, CU_MEMHOSTALLOC_PORTABLE)));
    *static_cast<unsigned*>(memory) = 0;
    for (unsigned round = 1; round <= 5; ++round) {
        ASSERT_TRUE(succeeds(CU(cuDevicePrimaryCtxRetain)(&context_, 0)));
        ASSERT_TRUE(succeeds(CU(cuCtxSetCurrent)(context_)));
        CUmodule module = nullptr;
        CUfunction count = nullptr;
        ASSERT_TRUE(succeeds(CU(cuModuleLoadData)(&module, count_blocks)));
        ASSERT_TRUE(succeeds(CU(cuModuleGetFunction)(&count, module, "count")));
        void* arguments[] = {&memory};
        ASSERT_TRUE(succeeds(
            CU(cuLaunchKernel)(count, blocks, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr)));
        ASSERT_TRUE(succeeds(CU(cuDevicePrimaryCtxReset)(0)));
        EXPECT_EQ(*static_cast<volatile unsigned*>(memory), round * blocks);
        ASSERT_TRUE(succeeds(CU(cuDevicePrimaryCtxRelease)(0)));
    }
    ASSERT_TRUE(succeeds(CU(cuCtxSetCurrent)(other)));
    EXPECT_TRUE(succeeds(CU(cuMemFreeHost)(memory)));
    EXPECT_TRUE(succeeds(CU(cuCtxDestroy)(other)));
    ASSERT_TRUE(succeeds(CU(cuDevicePrimaryCtxRetain)(&context_, 0)));
    ASSERT_TRUE(succeeds(CU(cuDevicePrimaryCtxRelease)(0)));
}

TEST_F(Contexts, a_host_function_may_wait_for_a_thread_that_asks_for_the_context) {
    const auto ask = [](void*) {
        std::thread([] {
            // By then the reset waits for this function.
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            unsigned flags = 0;
            int active = 0;
            EXPECT_TRUE(succeeds(CU(cuDevicePrimaryCtxGetState)(0, &flags, &active)));
        }).join();
    };
    CUstream stream = nullptr;
    ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING)));
    ASSERT_TRUE(succeeds(CU(cuLaunchHostFunc)(stream, ask, nullptr)));
    ASSERT_TRUE(succeeds(CU(cuDevicePrimaryCtxReset)(0)));
    ASSERT_TRUE(succeeds(CU(cuDevicePrimaryCtxRetain)(&context_, 0)));
    ASSERT_TRUE(succeeds(CU(cuDevicePrimaryCtxRelease)(0)));
}

TEST_F(Contexts, creating_pushes_and_destroying_pops) {
    CUcontext made = nullptr;
    ASSERT_TRUE(succeeds(CU(cuCtxCreate)(&made, nullptr, 0, 0)));
    EXPECT_EQ(current(), made);
    EXPECT_TRUE(succeeds(CU(cuCtxDestroy)(made)));
    EXPECT_EQ(current(), context_);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_CONTEXT, CU(cuCtxDestroy)(made)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_CONTEXT, CU(cuCtxSetCurrent)(made)));
}

// The functions are deprecated, and PyCUDA calls them.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

TEST_F(Contexts, the_last_detach_destroys) {
    CUcontext made = nullptr;
    CUcontext again = nullptr;
    ASSERT_TRUE(succeeds(CU(cuCtxCreate)(&made, nullptr, 0, 0)));
    ASSERT_TRUE(succeeds(CU(cuCtxAttach)(&again, 0)));
    EXPECT_EQ(again, made);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_CONTEXT, CU(cuCtxDetach)(context_)));
    EXPECT_TRUE(succeeds(CU(cuCtxDetach)(made)));
    EXPECT_EQ(current(), made);
    EXPECT_TRUE(succeeds(CU(cuCtxDetach)(made)));
    EXPECT_EQ(current(), context_);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_CONTEXT, CU(cuCtxDetach)(made)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuCtxDetach)(nullptr)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuCtxAttach)(nullptr, 0)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuCtxAttach)(&again, 1)));
}

#pragma GCC diagnostic pop

TEST_F(Contexts, destroying_takes_along_what_belongs_to_it) {
    CUcontext made = nullptr;
    ASSERT_TRUE(succeeds(CU(cuCtxCreate)(&made, nullptr, 0, 0)));
    const CUdeviceptr address = allocate(4096);
    CUstream stream = nullptr;
    CUevent event = nullptr;
    ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&stream, CU_STREAM_DEFAULT)));
    ASSERT_TRUE(succeeds(CU(cuEventCreate)(&event, CU_EVENT_DEFAULT)));
    ASSERT_TRUE(succeeds(CU(cuCtxDestroy)(made)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE, CU(cuStreamSynchronize)(stream)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE, CU(cuEventQuery)(event)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemFree)(address)));
}

TEST_F(Contexts, every_thread_has_a_stack_of_its_own) {
    CUcontext seen = context_;
    CUresult result = CUDA_SUCCESS;
    std::thread([&] {
        CU(cuCtxGetCurrent)(&seen);
        CUdeviceptr address = 0;
        result = CU(cuMemAlloc)(&address, 16);
    }).join();
    EXPECT_EQ(seen, nullptr);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_CONTEXT, result));
}

TEST_F(Contexts, push_and_pop_nest) {
    CUcontext popped = nullptr;
    ASSERT_TRUE(succeeds(CU(cuCtxPushCurrent)(context_)));
    ASSERT_TRUE(succeeds(CU(cuCtxPopCurrent)(&popped)));
    EXPECT_EQ(popped, context_);
    ASSERT_TRUE(succeeds(CU(cuCtxPopCurrent)(&popped)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_CONTEXT, CU(cuCtxPopCurrent)(&popped)));
}

TEST_F(Contexts, a_foreign_handle_is_refused_and_never_followed) {
    int nothing = 0;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_CONTEXT,
                        CU(cuCtxSetCurrent)(reinterpret_cast<CUcontext>(&nothing))));
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_CONTEXT, CU(cuCtxSetCurrent)(reinterpret_cast<CUcontext>(16))));
    CUstream stream = nullptr;
    ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&stream, CU_STREAM_DEFAULT)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_CONTEXT,
                        CU(cuCtxSetCurrent)(reinterpret_cast<CUcontext>(stream))));
    EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(stream)));
}

TEST_F(Contexts, limits_and_flags_are_kept) {
    std::size_t value = 0;
    ASSERT_TRUE(succeeds(CU(cuCtxSetLimit)(CU_LIMIT_STACK_SIZE, 4096)));
    ASSERT_TRUE(succeeds(CU(cuCtxGetLimit)(&value, CU_LIMIT_STACK_SIZE)));
    EXPECT_EQ(value, 4096U);
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, CU(cuCtxGetLimit)(&value, static_cast<CUlimit>(77))));
    EXPECT_TRUE(returns(CUDA_ERROR_UNSUPPORTED_LIMIT,
                        CU(cuCtxGetLimit)(&value, CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuCtxSetLimit)(CU_LIMIT_PRINTF_FIFO_SIZE, std::size_t{1} << 60)));
    ASSERT_TRUE(succeeds(CU(cuCtxSetLimit)(CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 4096)));
    ASSERT_TRUE(succeeds(CU(cuCtxGetLimit)(&value, CU_LIMIT_MAX_L2_FETCH_GRANULARITY)));
    EXPECT_EQ(value, 128U);
    unsigned flags = 0;
    ASSERT_TRUE(succeeds(CU(cuCtxSetFlags)(CU_CTX_SCHED_BLOCKING_SYNC)));
    ASSERT_TRUE(succeeds(CU(cuCtxGetFlags)(&flags)));
    EXPECT_EQ(flags, static_cast<unsigned>(CU_CTX_SCHED_BLOCKING_SYNC));
}

TEST_F(Contexts, a_reset_while_other_threads_use_the_context_ends_in_errors_alone) {
    std::atomic<bool> is_over{false};
    const auto use = [&](unsigned flags) {
        EXPECT_TRUE(succeeds(CU(cuCtxSetCurrent)(context_)));
        while (!is_over.load()) {
            CUstream stream = nullptr;
            CUdeviceptr memory = 0;
            CUevent event = nullptr;
            std::size_t limit = 0;
            // Ignore the results: the context may be destroyed at any time.
            (void)CU(cuStreamCreate)(&stream, flags);
            (void)CU(cuMemAlloc)(&memory, 64);
            (void)CU(cuEventCreate)(&event, CU_EVENT_DEFAULT);
            (void)CU(cuMemsetD8Async)(memory, 1, 64, nullptr);
            (void)CU(cuEventRecord)(event, stream);
            (void)CU(cuStreamSynchronize)(nullptr);
            (void)CU(cuCtxGetLimit)(&limit, CU_LIMIT_STACK_SIZE);
            (void)CU(cuEventQuery)(event);
            (void)CU(cuEventDestroy)(event);
            (void)CU(cuStreamDestroy)(stream);
            (void)CU(cuMemFree)(memory);
        }
    };
    std::thread first(use, CU_STREAM_DEFAULT);
    std::thread second(use, CU_STREAM_NON_BLOCKING);
    constexpr int resets = 20000;
    for (int i = 0; i < resets; ++i) {
        CUcontext again = nullptr;
        EXPECT_TRUE(succeeds(CU(cuDevicePrimaryCtxReset)(0)));
        EXPECT_TRUE(succeeds(CU(cuDevicePrimaryCtxRetain)(&again, 0)));
        EXPECT_TRUE(succeeds(CU(cuDevicePrimaryCtxRelease)(0)));
    }
    is_over = true;
    first.join();
    second.join();
    CUcontext again = nullptr;
    EXPECT_TRUE(succeeds(CU(cuDevicePrimaryCtxReset)(0)));
    EXPECT_TRUE(succeeds(CU(cuDevicePrimaryCtxRetain)(&again, 0)));
    EXPECT_TRUE(succeeds(CU(cuDevicePrimaryCtxRelease)(0)));
}
