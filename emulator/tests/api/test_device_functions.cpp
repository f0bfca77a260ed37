// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Functions that kernels call on the device: printf, assert, malloc, function pointers, grid
// barriers.

#include "api/driver.hpp"

#include <array>
#include <cstdio>
#include <vector>

using namespace cuprum::emulator::test;

namespace {

constexpr const char* DEVICE_FUNCTIONS_PTX = R"(
.version 8.0
.target sm_80
.address_size 64
.func (.param .b32 r) plus(.param .b32 a);
.func (.param .b32 r) times(.param .b32 a);
.extern .func (.param .b32 func_retval0) vprintf(.param .b64 p0, .param .b64 p1);
.extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
.extern .func (.param .b64 func_retval0) malloc(.param .b64 p0);
.extern .func free(.param .b64 p0);
.global .align 8 .u64 table[2] = {plus, times};
.global .align 1 .b8 format[7] = {110, 32, 37, 117, 33, 10, 0}; // "n %u!\n"
.global .align 1 .b8 text[5] = {116, 101, 120, 116, 0};         // "text"

.func (.param .b32 r) plus(.param .b32 a) {
    .reg .b32 %r<2>;
    ld.param.u32 %r1, [a];
    add.u32 %r1, %r1, 100;
    st.param.b32 [r], %r1;
    ret;
}
.func (.param .b32 r) times(.param .b32 a) {
    .reg .b32 %r<2>;
    ld.param.u32 %r1, [a];
    mul.lo.u32 %r1, %r1, 100;
    st.param.b32 [r], %r1;
    ret;
}
.visible .entry say(.param .u32 n) {
    .local .align 8 .b8 depot[8];
    .reg .b64 %rd<4>; .reg .b32 %r<2>;
    ld.param.u32 %r1, [n];
    st.local.u32 [depot], %r1;
    mov.u64 %rd1, depot;
    cvta.local.u64 %rd2, %rd1;
    mov.u64 %rd3, format;
    .param .b64 param0;
    st.param.b64 [param0], %rd3;
    .param .b64 param1;
    st.param.b64 [param1], %rd2;
    .param .b32 retval0;
    call.uni (retval0), vprintf, (param0, param1);
    ret;
}
.visible .entry insist() {
    .reg .b64 %rd<2>;
    mov.u64 %rd1, text;
    .param .b64 param0; st.param.b64 [param0], %rd1;
    .param .b64 param1; st.param.b64 [param1], %rd1;
    .param .b32 param2; st.param.b32 [param2], 7;
    .param .b64 param3; st.param.b64 [param3], %rd1;
    .param .b64 param4; st.param.b64 [param4], 1;
    call.uni __assertfail, (param0, param1, param2, param3, param4);
    ret;
}
.visible .entry keep(.param .u64 out) { // allocates and leaves the address for another kernel
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [out];
    .param .b64 param0; st.param.b64 [param0], 1000;
    .param .b64 retval0;
    call.uni (retval0), malloc, (param0);
    ld.param.b64 %rd2, [retval0];
    st.u64 [%rd2+992], 77;
    st.global.u64 [%rd1], %rd2;
    ret;
}
.visible .entry take(.param .u64 out) { // reads what is there, frees it
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.global.u64 %rd2, [%rd1];
    ld.u64 %rd3, [%rd2+992];
    st.global.u64 [%rd1], %rd3;
    .param .b64 param0; st.param.b64 [param0], %rd2;
    call.uni free, (param0);
    ret;
}
.visible .entry choose(.param .u64 out) {
    .reg .b64 %rd<8>; .reg .b32 %r<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 1;
    mul.wide.u32 %rd2, %r2, 8;
    mov.u64 %rd3, table;
    add.s64 %rd4, %rd3, %rd2;
    ld.global.u64 %rd5, [%rd4];
    {
    .param .b32 param0;
    st.param.b32 [param0], %r1;
    .param .b32 retval0;
    proto : .callprototype (.param .b32 _) _ (.param .b32 _);
    call (retval0), %rd5, (param0), proto;
    ld.param.b32 %r3, [retval0];
    }
    mul.wide.u32 %rd6, %r1, 4;
    add.s64 %rd7, %rd1, %rd6;
    st.global.u32 [%rd7], %r3;
    ret;
}
.visible .entry meet(.param .u64 sum, .param .u64 out) { // one thread a block
    .reg .b64 %rd<10>; .reg .b32 %r<12>; .reg .pred %p<3>;
    ld.param.u64 %rd1, [sum];
    ld.param.u64 %rd2, [out];
    red.global.add.u32 [%rd1], 1;
    mov.u32 %r1, %envreg2;
    cvt.u64.u32 %rd3, %r1;
    mov.u32 %r2, %envreg1;
    cvt.u64.u32 %rd4, %r2;
    bfi.b64 %rd5, %rd4, %rd3, 32, 32;
    setp.ne.s64 %p1, %rd5, 0;
    @%p1 bra GO;
    trap;
GO:
    mov.u32 %r3, %nctaid.x;
    mov.u32 %r4, %ctaid.x;
    setp.eq.u32 %p1, %r4, 0;
    sub.s32 %r5, -2147483647, %r3;
    selp.b32 %r6, %r5, 1, %p1;
    atom.add.release.gpu.u32 %r7, [%rd5+4], %r6;
WAIT:
    ld.acquire.gpu.u32 %r8, [%rd5+4];
    xor.b32 %r9, %r8, %r7;
    setp.gt.s32 %p2, %r9, -1;
    @%p2 bra WAIT;
    ld.volatile.global.u32 %r10, [%rd1];
    mul.wide.u32 %rd6, %r4, 4;
    add.s64 %rd7, %rd2, %rd6;
    st.global.u32 [%rd7], %r10;
    ret;
}
)";

class DeviceFunctions : public DriverTest {
protected:
    void SetUp() override {
        DriverTest::SetUp();
        ASSERT_TRUE(succeeds(CU(cuModuleLoadData)(&module_, DEVICE_FUNCTIONS_PTX)));
    }

    void TearDown() override {
        EXPECT_TRUE(succeeds(CU(cuModuleUnload)(module_)));
        DriverTest::TearDown();
    }

    CUfunction function(const char* name) const {
        CUfunction result = nullptr;
        EXPECT_TRUE(succeeds(CU(cuModuleGetFunction)(&result, module_, name)));
        return result;
    }

    template <typename... Args>
    CUresult run(const char* name, unsigned threads, Args... args) const {
        std::array<void*, sizeof...(args) + 1> arguments{&args..., nullptr};
        const CUresult status =
            CU(cuLaunchKernel)(function(name), 1, 1, 1, threads, 1, 1, 0, nullptr,
                               sizeof...(args) == 0 ? nullptr : arguments.data(), nullptr);
        return status != CUDA_SUCCESS ? status : CU(cuCtxSynchronize)();
    }

    CUmodule module_ = nullptr;
};

} // namespace

TEST_F(DeviceFunctions, printf_is_written_before_synchronizing_returns) {
    testing::internal::CaptureStdout();
    EXPECT_TRUE(succeeds(run("say", 2, 5u)));
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "n 5!\nn 5!\n");
}

TEST_F(DeviceFunctions, what_one_kernel_allocates_another_may_free) {
    CUdeviceptr out = allocate(8);
    EXPECT_TRUE(succeeds(run("keep", 1, out)));
    EXPECT_TRUE(succeeds(run("take", 1, out)));
    std::uint64_t value = 0;
    EXPECT_TRUE(succeeds(CU(cuMemcpyDtoH)(&value, out, sizeof value)));
    EXPECT_EQ(value, 77u);
    EXPECT_TRUE(succeeds(CU(cuMemFree)(out)));
}

TEST_F(DeviceFunctions, the_heap_keeps_its_size_once_a_kernel_has_used_it) {
    CUdeviceptr out = allocate(8);
    ASSERT_TRUE(succeeds(CU(cuCtxSetLimit)(CU_LIMIT_MALLOC_HEAP_SIZE, 16 << 20)));
    EXPECT_TRUE(succeeds(run("keep", 1, out)));
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, CU(cuCtxSetLimit)(CU_LIMIT_MALLOC_HEAP_SIZE, 32 << 20)));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(out)));
}

TEST_F(DeviceFunctions, a_fault_behind_the_heap_names_the_heap) {
    CUcontext context = nullptr;
    CUmodule module = nullptr;
    CUfunction keep = nullptr;
    CUfunction take = nullptr;
    ASSERT_TRUE(succeeds(CU(cuCtxCreate)(&context, nullptr, 0, 0)));
    ASSERT_TRUE(succeeds(CU(cuModuleLoadData)(&module, DEVICE_FUNCTIONS_PTX)));
    ASSERT_TRUE(succeeds(CU(cuModuleGetFunction)(&keep, module, "keep")));
    ASSERT_TRUE(succeeds(CU(cuModuleGetFunction)(&take, module, "take")));
    CUdeviceptr out = allocate(8);
    void* arguments[] = {&out};
    ASSERT_TRUE(
        succeeds(CU(cuLaunchKernel)(keep, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr)));
    CUdeviceptr kept = 0;
    CUdeviceptr heap = 0;
    std::size_t bytes = 0;
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoH)(&kept, out, sizeof kept)));
    ASSERT_TRUE(succeeds(CU(cuMemGetAddressRange)(&heap, &bytes, kept)));
    const CUdeviceptr behind = heap + bytes + 16;
    ASSERT_TRUE(succeeds(CU(cuMemcpyHtoD)(out, &behind, sizeof behind)));
    std::string text;
    CUlogsCallbackHandle handle = nullptr;
    ASSERT_TRUE(succeeds(CU(cuLogsRegisterCallback)(
        [](void* told, CUlogLevel, char* message, std::size_t length) {
            *static_cast<std::string*>(told) += std::string(message, length) + "\n";
        },
        &text, &handle)));
    ASSERT_TRUE(
        succeeds(CU(cuLaunchKernel)(take, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr)));
    EXPECT_TRUE(returns(CUDA_ERROR_ILLEGAL_ADDRESS, CU(cuCtxSynchronize)()));
    EXPECT_TRUE(succeeds(CU(cuLogsUnregisterCallback)(handle)));
    EXPECT_NE(text.find("bytes behind heap of kernels"), std::string::npos) << text;
    EXPECT_TRUE(succeeds(CU(cuCtxDestroy)(context)));
    EXPECT_TRUE(succeeds(CU(cuCtxSetCurrent)(context_)));
}

TEST_F(DeviceFunctions, function_pointers_in_variables_can_be_called) {
    CUdeviceptr out = allocate(32 * sizeof(std::uint32_t));
    EXPECT_TRUE(succeeds(run("choose", 32, out)));
    std::array<std::uint32_t, 32> values{};
    EXPECT_TRUE(succeeds(CU(cuMemcpyDtoH)(values.data(), out, sizeof values)));
    for (std::uint32_t i = 0; i < 32; ++i) {
        EXPECT_EQ(values[i], i % 2 == 0 ? i + 100 : i * 100);
    }
    EXPECT_TRUE(succeeds(CU(cuMemFree)(out)));
}

TEST_F(DeviceFunctions, blocks_of_a_cooperative_grid_wait_for_each_other) {
    constexpr unsigned BLOCKS = 40;
    CUdeviceptr sum = allocate(sizeof(std::uint32_t));
    CUdeviceptr out = allocate(BLOCKS * sizeof(std::uint32_t));
    void* arguments[] = {&sum, &out};
    for (int round = 0; round < 3; ++round) {
        EXPECT_TRUE(succeeds(CU(cuMemsetD32)(sum, 0, 1)));
        EXPECT_TRUE(succeeds(CU(cuLaunchCooperativeKernel)(function("meet"), BLOCKS, 1, 1, 1, 1, 1,
                                                           0, nullptr, arguments)));
        std::vector<std::uint32_t> values(BLOCKS);
        EXPECT_TRUE(succeeds(CU(cuMemcpyDtoH)(values.data(), out, BLOCKS * sizeof(std::uint32_t))));
        EXPECT_EQ(values, std::vector<std::uint32_t>(BLOCKS, BLOCKS));
    }
    EXPECT_TRUE(succeeds(CU(cuMemFree)(sum)));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(out)));
}

// The context is unusable afterwards, so this test creates its own.
TEST(DeviceAssert, a_failed_assertion_is_the_drivers_assert_error) {
    ASSERT_TRUE(succeeds(CU(cuInit)(0)));
    CUcontext context = nullptr;
    ASSERT_TRUE(succeeds(CU(cuCtxCreate)(&context, nullptr, 0, 0)));
    CUmodule module = nullptr;
    CUfunction insist = nullptr;
    ASSERT_TRUE(succeeds(CU(cuModuleLoadData)(&module, DEVICE_FUNCTIONS_PTX)));
    ASSERT_TRUE(succeeds(CU(cuModuleGetFunction)(&insist, module, "insist")));
    testing::internal::CaptureStderr();
    EXPECT_TRUE(
        succeeds(CU(cuLaunchKernel)(insist, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr)));
    EXPECT_TRUE(returns(CUDA_ERROR_ASSERT, CU(cuCtxSynchronize)()));
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_NE(text.find("text:7, in text: block (0, 0, 0), thread (0, 0, 0)"), std::string::npos)
        << text;
    EXPECT_TRUE(succeeds(CU(cuCtxDestroy)(context)));
}
