// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Registered host memory that the program frees while work that uses it is still queued. The work
// fails with a report that names it, the memory and what is known about its end.

#include "api/driver.hpp"

#include <functional>
#include <initializer_list>
#include <string>
#include <sys/mman.h>

using namespace cuprum::emulator::test;

namespace {

constexpr std::size_t PAGE_BYTES = 4096;
/// Large enough for a copy that a worker does.
constexpr std::size_t BYTES = 256 * PAGE_BYTES;

constexpr const char* KERNELS = R"(
.version 8.0
.target sm_80
.address_size 64

.visible .entry store(.param .u64 p) {
    .reg .b32 %r<2>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r1;
    ret;
}

.visible .entry load(.param .u64 p, .param .u64 out) {
    .reg .b32 %r<3>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [p];
    ld.param.u64 %rd4, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.u32 %r2, [%rd3];
    add.s64 %rd5, %rd4, %rd2;
    st.global.u32 [%rd5], %r2;
    ret;
}
)";

} // namespace

/// A context that a fault may end, with a stream, device memory and registered memory.
class UnmappedMemory : public DriverTest {
protected:
    void SetUp() override {
        DriverTest::SetUp();
        ASSERT_TRUE(succeeds(CU(cuCtxCreate)(&doomed_, nullptr, 0, 0)));
        ASSERT_TRUE(succeeds(CU(cuModuleLoadData)(&module_, KERNELS)));
        ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&stream_, CU_STREAM_NON_BLOCKING)));
        memory_ = allocate(BYTES);
        host_ = static_cast<char*>(
            ::mmap(nullptr, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        ASSERT_NE(host_, MAP_FAILED);
        ASSERT_TRUE(succeeds(CU(cuMemHostRegister)(host_, BYTES, 0)));
    }

    void TearDown() override {
        EXPECT_TRUE(succeeds(CU(cuCtxDestroy)(doomed_)));
        ::munmap(host_, BYTES);
        DriverTest::TearDown();
    }

    CUresult launch(const char* name) {
        CUfunction function = nullptr;
        EXPECT_TRUE(succeeds(CU(cuModuleGetFunction)(&function, module_, name)));
        CUdeviceptr host = device_address();
        void* arguments[] = {&host, &memory_};
        return CU(cuLaunchKernel)(function, 4, 1, 1, 64, 1, 1, 0, stream_, arguments, nullptr);
    }

    [[nodiscard]] CUdeviceptr device_address() const {
        return reinterpret_cast<CUdeviceptr>(host_);
    }

    /// Enqueues work, ends the memory before the work can run, and expects a report.
    void expect_report(const std::function<CUresult()>& work,
                       std::initializer_list<const char*> parts) {
        std::string text;
        CUlogsCallbackHandle handle = nullptr;
        ASSERT_TRUE(succeeds(CU(cuLogsRegisterCallback)(
            [](void* kept, CUlogLevel, char* message, std::size_t length) {
                *static_cast<std::string*>(kept) += std::string(message, length) + "\n";
            },
            &text, &handle)));
        {
            Gate gate;
            gate.block(stream_);
            EXPECT_TRUE(succeeds(work()));
            ASSERT_EQ(::munmap(host_, BYTES), 0);
            gate.open();
            EXPECT_TRUE(returns(CUDA_ERROR_ILLEGAL_ADDRESS, CU(cuStreamSynchronize)(stream_)));
        }
        EXPECT_TRUE(succeeds(CU(cuLogsUnregisterCallback)(handle)));
        for (const char* const part : parts) {
            EXPECT_NE(text.find(part), std::string::npos) << part << "\nin: " << text;
        }
    }

    CUcontext doomed_ = nullptr;
    CUmodule module_ = nullptr;
    CUstream stream_ = nullptr;
    CUdeviceptr memory_ = 0;
    char* host_ = nullptr;
};

TEST_F(UnmappedMemory, a_queued_copy_from_it_fails) {
    expect_report([&] { return CU(cuMemcpyHtoDAsync)(memory_, host_ + 16, BYTES - 16, stream_); },
                  {"copy of 1048560 bytes from 0x",
                   "which the program has freed or unmapped before the work was done",
                   "16 bytes into registered host memory #",
                   "made by cuMemHostRegister, host thread",
                   "enqueued by cuMemcpyHtoDAsync, host thread",
                   "wait for the stream, then call cuMemHostUnregister"});
}

TEST_F(UnmappedMemory, a_queued_short_copy_from_it_fails) {
    expect_report([&] { return CU(cuMemcpyHtoDAsync)(memory_, host_, 4, stream_); },
                  {"copy of 4 bytes from 0x", "registered host memory #"});
}

TEST_F(UnmappedMemory, a_queued_copy_to_it_fails) {
    expect_report([&] { return CU(cuMemcpyDtoHAsync)(host_, memory_, BYTES, stream_); },
                  {"copy of 1048576 bytes to 0x", "registered host memory #"});
}

TEST_F(UnmappedMemory, queued_rows_to_it_fail) {
    expect_report(
        [&] {
            CUDA_MEMCPY2D rows{};
            rows.srcMemoryType = CU_MEMORYTYPE_DEVICE;
            rows.srcDevice = memory_;
            rows.srcPitch = 64;
            rows.dstMemoryType = CU_MEMORYTYPE_HOST;
            rows.dstHost = host_;
            rows.dstPitch = PAGE_BYTES;
            rows.WidthInBytes = 64;
            rows.Height = BYTES / PAGE_BYTES;
            return CU(cuMemcpy2DAsync)(&rows, stream_);
        },
        {"copy of 1044544 bytes to 0x"});
}

TEST_F(UnmappedMemory, a_queued_fill_of_it_fails) {
    expect_report([&] { return CU(cuMemsetD8Async)(device_address(), 1, BYTES, stream_); },
                  {"fill of 1048576 bytes at 0x", "enqueued by cuMemsetD8Async"});
}

TEST_F(UnmappedMemory, a_queued_kernel_that_writes_it_fails) {
    expect_report([&] { return launch("store"); },
                  {"write of 4 bytes at 0x", "memory that the program has freed or unmapped",
                   "0 bytes into registered host memory #", "in kernel store",
                   "st.global.u32 [%rd3], %r1;"});
}

TEST_F(UnmappedMemory, a_queued_kernel_that_reads_it_fails) {
    // Once everything is warm, the kernels follow closely on each other: what was found out for the
    // first must not be trusted in the second.
    for (int round = 0; round < 20 && !HasFailure(); ++round) {
        ASSERT_TRUE(succeeds(launch("load")));
        ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(stream_)));
        expect_report([&] { return launch("load"); }, {"read of 4 bytes at 0x", "in kernel load"});
        TearDown();
        SetUp();
    }
}

TEST_F(UnmappedMemory, a_graph_that_copies_it_fails) {
    CUgraph graph = nullptr;
    CUgraphExec executable = nullptr;
    ASSERT_TRUE(succeeds(CU(cuStreamBeginCapture)(stream_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)));
    ASSERT_TRUE(succeeds(CU(cuMemcpyHtoDAsync)(memory_, host_, BYTES, stream_)));
    ASSERT_TRUE(succeeds(CU(cuStreamEndCapture)(stream_, &graph)));
    ASSERT_TRUE(succeeds(CU(cuGraphInstantiate)(&executable, graph, 0)));
    expect_report([&] { return CU(cuGraphLaunch)(executable, stream_); },
                  {"was freed or is not allocated", "registered host memory #", "in node 0"});
    EXPECT_TRUE(succeeds(CU(cuGraphExecDestroy)(executable)));
    EXPECT_TRUE(succeeds(CU(cuGraphDestroy)(graph)));
}

TEST_F(UnmappedMemory, a_queued_write_of_a_value_into_it_fails) {
    expect_report([&] { return CU(cuStreamWriteValue32)(stream_, device_address() + 8, 1, 0); },
                  {"write of 4 bytes at 0x", "8 bytes into registered host memory #",
                   "enqueued by cuStreamWriteValue32"});
}

TEST_F(UnmappedMemory, a_queued_batch_of_values_in_it_fails) {
    expect_report(
        [&] {
            CUstreamBatchMemOpParams items[2]{};
            items[0].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
            items[0].writeValue.address = memory_;
            items[1].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
            items[1].writeValue.address = device_address();
            return CU(cuStreamBatchMemOp)(stream_, 2, items, 0);
        },
        {"write of 8 bytes at 0x", "enqueued by cuStreamBatchMemOp"});
}

TEST_F(UnmappedMemory, a_wait_for_a_value_that_has_begun_fails) {
    ASSERT_TRUE(
        succeeds(CU(cuStreamWaitValue64)(stream_, device_address(), 1, CU_STREAM_WAIT_VALUE_EQ)));
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_READY, CU(cuStreamQuery)(stream_)));
    ASSERT_EQ(::munmap(host_, BYTES), 0);
    EXPECT_TRUE(returns(CUDA_ERROR_ILLEGAL_ADDRESS, CU(cuStreamSynchronize)(stream_)));
}

TEST_F(UnmappedMemory, a_queued_wait_for_a_value_in_it_fails) {
    expect_report(
        [&] {
            return CU(cuStreamWaitValue64)(stream_, device_address(), 1, CU_STREAM_WAIT_VALUE_EQ);
        },
        {"wait for a value of 8 bytes at 0x", "0 bytes into registered host memory #",
         "enqueued by cuStreamWaitValue64"});
}

TEST_F(UnmappedMemory, a_graph_that_waits_for_a_value_in_it_fails) {
    CUgraph graph = nullptr;
    CUgraphExec executable = nullptr;
    ASSERT_TRUE(succeeds(CU(cuStreamBeginCapture)(stream_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)));
    ASSERT_TRUE(
        succeeds(CU(cuStreamWaitValue32)(stream_, device_address(), 1, CU_STREAM_WAIT_VALUE_EQ)));
    ASSERT_TRUE(succeeds(CU(cuStreamEndCapture)(stream_, &graph)));
    ASSERT_TRUE(succeeds(CU(cuGraphInstantiate)(&executable, graph, 0)));
    expect_report([&] { return CU(cuGraphLaunch)(executable, stream_); },
                  {"wait for a value of 4 bytes at 0x", "in node 0"});
    EXPECT_TRUE(succeeds(CU(cuGraphExecDestroy)(executable)));
    EXPECT_TRUE(succeeds(CU(cuGraphDestroy)(graph)));
}

TEST_F(UnmappedMemory, the_report_names_who_unregistered_it) {
    // Unregistering waits for the context that the memory was registered in, and not for others.
    ASSERT_TRUE(succeeds(CU(cuCtxSetCurrent)(context_)));
    char* const other = static_cast<char*>(
        ::mmap(nullptr, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_TRUE(succeeds(CU(cuMemHostRegister)(other, BYTES, 0)));
    expect_report(
        [&] {
            EXPECT_TRUE(succeeds(CU(cuCtxSetCurrent)(doomed_)));
            const CUresult result = CU(cuMemcpyHtoDAsync)(memory_, other, BYTES, stream_);
            EXPECT_TRUE(succeeds(CU(cuCtxSetCurrent)(context_)));
            EXPECT_TRUE(succeeds(CU(cuMemHostUnregister)(other)));
            ::munmap(other, BYTES);
            EXPECT_TRUE(succeeds(CU(cuCtxSetCurrent)(doomed_)));
            return result;
        },
        {"copy of 1048576 bytes from 0x", "registered host memory #",
         "freed by cuMemHostUnregister, host thread"});
}

TEST_F(UnmappedMemory, what_is_left_of_it_can_be_used) {
    ASSERT_EQ(::munmap(host_ + BYTES / 2, BYTES / 2), 0);
    EXPECT_TRUE(succeeds(CU(cuMemcpyHtoDAsync)(memory_, host_, BYTES / 2, stream_)));
    EXPECT_TRUE(succeeds(launch("store")));
    EXPECT_TRUE(succeeds(CU(cuStreamSynchronize)(stream_)));
    EXPECT_EQ(reinterpret_cast<unsigned*>(host_)[63], 63U);
}
