// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// After a kernel fails, every call that needs its context returns the same error. Other contexts
// are not affected.

#include "api/driver.hpp"
#include "api/kernels.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

using namespace cuprum::emulator::test;

TEST_F(DriverTest, every_call_of_a_failed_context_returns_its_error) {
    CUcontext doomed = nullptr;
    ASSERT_TRUE(succeeds(CU(cuCtxCreate)(&doomed, nullptr, 0, 0)));
    CUmodule module = nullptr;
    CUfunction touch = nullptr;
    CUstream stream = nullptr;
    CUevent event = nullptr;
    CUdeviceptr memory = 0;
    ASSERT_TRUE(succeeds(CU(cuModuleLoadData)(&module, COUNTER_PTX)));
    ASSERT_TRUE(succeeds(CU(cuModuleGetFunction)(&touch, module, "touch")));
    ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING)));
    ASSERT_TRUE(succeeds(CU(cuEventCreate)(&event, 0)));
    ASSERT_TRUE(succeeds(CU(cuMemAlloc)(&memory, 64)));
    CUdeviceptr nowhere = 64;
    void* arguments[] = {&nowhere};
    testing::internal::CaptureStderr();
    ASSERT_TRUE(
        succeeds(CU(cuLaunchKernel)(touch, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr)));
    EXPECT_TRUE(returns(CUDA_ERROR_ILLEGAL_ADDRESS, CU(cuStreamSynchronize)(stream)));
    EXPECT_NE(testing::internal::GetCapturedStderr().find("touch"), std::string::npos);

    CUdeviceptr address = 0;
    void* pointer = nullptr;
    unsigned word = 0;
    CUstream made_stream = nullptr;
    CUevent made_event = nullptr;
    CUmodule made_module = nullptr;
    CUlinkState link = nullptr;
    std::size_t size = 0;
    float time = 0;
    const auto nothing = [](void*) {};
    const std::vector<std::pair<std::string, std::function<CUresult()>>> calls{
        {"cuCtxSynchronize", [&] { return CU(cuCtxSynchronize)(); }},
        {"cuCtxSetLimit", [&] { return CU(cuCtxSetLimit)(CU_LIMIT_STACK_SIZE, 2048); }},
        {"cuStreamCreate", [&] { return CU(cuStreamCreate)(&made_stream, 0); }},
        {"cuStreamQuery", [&] { return CU(cuStreamQuery)(stream); }},
        {"cuStreamSynchronize", [&] { return CU(cuStreamSynchronize)(nullptr); }},
        {"cuStreamWaitEvent", [&] { return CU(cuStreamWaitEvent)(stream, event, 0); }},
        {"cuStreamBeginCapture",
         [&] { return CU(cuStreamBeginCapture)(stream, CU_STREAM_CAPTURE_MODE_GLOBAL); }},
        {"cuStreamWriteValue32", [&] { return CU(cuStreamWriteValue32)(stream, memory, 1, 0); }},
        {"cuEventCreate", [&] { return CU(cuEventCreate)(&made_event, 0); }},
        {"cuEventRecord", [&] { return CU(cuEventRecord)(event, stream); }},
        {"cuEventQuery", [&] { return CU(cuEventQuery)(event); }},
        {"cuEventSynchronize", [&] { return CU(cuEventSynchronize)(event); }},
        {"cuEventElapsedTime", [&] { return CU(cuEventElapsedTime)(&time, event, event); }},
        {"cuMemAlloc", [&] { return CU(cuMemAlloc)(&address, 64); }},
        {"cuMemAllocHost", [&] { return CU(cuMemAllocHost)(&pointer, 64); }},
        {"cuMemAllocManaged",
         [&] { return CU(cuMemAllocManaged)(&address, 64, CU_MEM_ATTACH_GLOBAL); }},
        {"cuMemAllocAsync", [&] { return CU(cuMemAllocAsync)(&address, 64, stream); }},
        {"cuMemFreeAsync", [&] { return CU(cuMemFreeAsync)(memory, stream); }},
        {"cuMemHostRegister", [&] { return CU(cuMemHostRegister)(&word, 4, 0); }},
        {"cuMemGetInfo", [&] { return CU(cuMemGetInfo)(&size, &size); }},
        {"cuMemcpyDtoH", [&] { return CU(cuMemcpyDtoH)(&word, memory, 4); }},
        {"cuMemcpyHtoDAsync", [&] { return CU(cuMemcpyHtoDAsync)(memory, &word, 4, stream); }},
        {"cuMemsetD8", [&] { return CU(cuMemsetD8)(memory, 0, 4); }},
        {"cuModuleLoadData", [&] { return CU(cuModuleLoadData)(&made_module, SAXPY_PTX); }},
        {"cuModuleUnload", [&] { return CU(cuModuleUnload)(module); }},
        {"cuLinkCreate", [&] { return CU(cuLinkCreate)(0, nullptr, nullptr, &link); }},
        {"cuLaunchKernel",
         [&] {
             return CU(cuLaunchKernel)(touch, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr);
         }},
        {"cuLaunchHostFunc", [&] { return CU(cuLaunchHostFunc)(stream, nothing, nullptr); }},
        {"cuIpcGetMemHandle",
         [&] {
             CUipcMemHandle handle;
             return CU(cuIpcGetMemHandle)(&handle, memory);
         }},
        {"cuStreamDestroy", [&] { return CU(cuStreamDestroy)(stream); }},
        {"cuEventDestroy", [&] { return CU(cuEventDestroy)(event); }},
        {"cuMemFree", [&] { return CU(cuMemFree)(memory); }},
    };
    for (const auto& [name, call] : calls) {
        EXPECT_TRUE(returns(CUDA_ERROR_ILLEGAL_ADDRESS, call())) << name;
    }
    // Calls without a context, and other contexts, still work.
    int count = 0;
    EXPECT_TRUE(succeeds(CU(cuDeviceGetCount)(&count)));
    CUcontext current = nullptr;
    EXPECT_TRUE(succeeds(CU(cuCtxGetCurrent)(&current)));
    EXPECT_EQ(current, doomed);
    EXPECT_TRUE(succeeds(CU(cuCtxDestroy)(doomed)));
    ASSERT_TRUE(succeeds(CU(cuCtxSetCurrent)(context_)));
    EXPECT_TRUE(succeeds(CU(cuCtxSynchronize)()));
    const CUdeviceptr fresh = allocate(64);
    EXPECT_TRUE(succeeds(CU(cuMemFree)(fresh)));
}
