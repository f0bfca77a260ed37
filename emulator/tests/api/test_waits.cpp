// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Streams that wait for a value in memory, and what host functions do to the process.

#include "api/driver.hpp"
#include "support/sanitized.hpp"

#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <vector>

using namespace cuprum::emulator::test;

namespace {

/// Returns a number from /proc/self/status, such as that of threads.
std::size_t status_of_process(const std::string& key) {
    std::ifstream file("/proc/self/status");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with(key + ":")) {
            return std::stoul(line.substr(key.size() + 1));
        }
    }
    return 0;
}

/// Takes away the address space that the stack of a thread needs. Returns the limit before.
rlimit take_room_for_threads() {
    rlimit before{};
    EXPECT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
    rlimit none = before;
    none.rlim_cur = (status_of_process("VmSize") << 10) + (std::size_t{1} << 20);
    EXPECT_EQ(::setrlimit(RLIMIT_AS, &none), 0);
    return before;
}

} // namespace

class Waits : public DriverTest {
protected:
    void SetUp() override {
        DriverTest::SetUp();
        flags_ = allocate(COUNT * sizeof(std::uint32_t));
        ASSERT_TRUE(succeeds(CU(cuMemsetD32)(flags_, 0, COUNT)));
        for (CUstream& stream : streams_) {
            ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING)));
        }
    }

    void TearDown() override {
        for (const CUstream stream : streams_) {
            EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(stream)));
        }
        EXPECT_TRUE(succeeds(CU(cuMemFree)(flags_)));
        DriverTest::TearDown();
    }

    [[nodiscard]] CUdeviceptr flag(std::size_t index) const {
        return flags_ + index * sizeof(std::uint32_t);
    }

    static constexpr std::size_t COUNT = 64;
    std::array<CUstream, COUNT> streams_{};
    CUdeviceptr flags_ = 0;
};

TEST_F(Waits, many_take_no_thread_each) {
    const std::size_t before = status_of_process("Threads");
    for (std::size_t index = 0; index < COUNT; ++index) {
        ASSERT_TRUE(succeeds(
            CU(cuStreamWaitValue32)(streams_[index], flag(index), 1, CU_STREAM_WAIT_VALUE_EQ)));
    }
    EXPECT_LE(status_of_process("Threads"), before + 2);
    for (std::size_t index = COUNT; index-- > 0;) {
        EXPECT_TRUE(returns(CUDA_ERROR_NOT_READY, CU(cuStreamQuery)(streams_[index])));
        ASSERT_TRUE(succeeds(CU(cuStreamWriteValue32)(nullptr, flag(index), 1, 0)));
        EXPECT_TRUE(succeeds(CU(cuStreamSynchronize)(streams_[index])));
    }
}

TEST_F(Waits, a_batch_waits_in_its_place) {
    std::array<CUstreamBatchMemOpParams, 3> items{};
    items[0].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    items[0].writeValue.address = flag(0);
    items[0].writeValue.value = 1;
    items[1].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    items[1].waitValue.address = flag(1);
    items[1].waitValue.value = 1;
    items[1].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
    items[2] = items[0];
    items[2].writeValue.address = flag(2);
    ASSERT_TRUE(succeeds(CU(cuStreamBatchMemOp)(streams_[0], 3, items.data(), 0)));
    ASSERT_TRUE(
        succeeds(CU(cuStreamWaitValue32)(streams_[1], flag(0), 1, CU_STREAM_WAIT_VALUE_EQ)));
    ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(streams_[1])));
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_READY, CU(cuStreamQuery)(streams_[0])));
    ASSERT_TRUE(succeeds(CU(cuStreamWriteValue32)(streams_[1], flag(1), 1, 0)));
    ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(streams_[0])));
    std::uint32_t last = 0;
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoH)(&last, flag(2), sizeof last)));
    EXPECT_EQ(last, 1U);
}

// The system refuses threads: what there are do all the work.
TEST_F(Waits, host_functions_wait_for_the_threads_that_there_are) {
    if (IS_SANITIZED) {
        GTEST_SKIP() << "sanitizers need the address space that the test takes away";
    }
    Gate gate;
    gate.block(streams_[0]); // there is one thread now
    const rlimit before = take_room_for_threads();
    for (std::size_t index = 1; index < 4; ++index) {
        gate.block(streams_[index]);
    }
    ASSERT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
    gate.open();
    for (std::size_t index = 0; index < 4; ++index) {
        EXPECT_TRUE(succeeds(CU(cuStreamSynchronize)(streams_[index])));
    }
}

namespace {

/// Ends the process with 0 if work that `enqueue` gives to a stream fails the context, without
/// ending the process. Not in a test that has initialised the driver.
template <typename Enqueue>
void exit_if_context_fails(Enqueue enqueue) {
    CUcontext context = nullptr;
    CUstream stream = nullptr;
    const bool is_ready = CU(cuInit)(0) == CUDA_SUCCESS &&
                          CU(cuDevicePrimaryCtxRetain)(&context, 0) == CUDA_SUCCESS &&
                          CU(cuCtxSetCurrent)(context) == CUDA_SUCCESS &&
                          CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS;
    enqueue(stream);
    (void)CU(cuStreamSynchronize)(stream);
    std::_Exit(is_ready && CU(cuCtxSynchronize)() == CUDA_ERROR_LAUNCH_FAILED ? 0 : 1);
}

void throw_text(void* /*data*/) {
    throw std::runtime_error("too late");
}

void throw_number(void* /*data*/) {
    throw 1;
}

constexpr const char* REPORT =
    "an exception left a host function: too late; streams and graphs call it like a C function: "
    "catch exceptions inside it";

} // namespace

TEST(HostFunctions, an_exception_fails_the_context_and_not_the_process) {
    EXPECT_EXIT(exit_if_context_fails(
                    [](CUstream stream) { CU(cuLaunchHostFunc)(stream, throw_text, nullptr); }),
                testing::ExitedWithCode(0), REPORT);
    EXPECT_EXIT(exit_if_context_fails(
                    [](CUstream stream) { CU(cuLaunchHostFunc)(stream, throw_number, nullptr); }),
                testing::ExitedWithCode(0),
                "an exception left a host function; streams and graphs");
}

TEST(HostFunctions, an_exception_in_a_graph_fails_the_context_and_not_the_process) {
    EXPECT_EXIT(exit_if_context_fails([](CUstream stream) {
                    CUgraph graph = nullptr;
                    CUgraphNode node = nullptr;
                    CUgraphExec executable = nullptr;
                    const CUDA_HOST_NODE_PARAMS parameters{throw_text, nullptr};
                    CU(cuGraphCreate)(&graph, 0);
                    CU(cuGraphAddHostNode)(&node, graph, nullptr, 0, &parameters);
                    CU(cuGraphInstantiate)(&executable, graph, 0);
                    CU(cuGraphLaunch)(executable, stream);
                }),
                testing::ExitedWithCode(0), REPORT);
}

// In a process of its own, which has no thread yet.
TEST(HostFunctions, calls_that_need_the_first_thread_are_refused_without_it) {
    if (IS_SANITIZED) {
        GTEST_SKIP() << "sanitizers need the address space that the test takes away";
    }
    const auto run = [] {
        CUcontext context = nullptr;
        CUstream stream = nullptr;
        CUdeviceptr flag = 0;
        const bool is_ready = CU(cuInit)(0) == CUDA_SUCCESS &&
                              CU(cuDevicePrimaryCtxRetain)(&context, 0) == CUDA_SUCCESS &&
                              CU(cuCtxSetCurrent)(context) == CUDA_SUCCESS &&
                              CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS &&
                              CU(cuMemAlloc)(&flag, sizeof(std::uint32_t)) == CUDA_SUCCESS;
        take_room_for_threads();
        const CUresult waited = CU(cuStreamWaitValue32)(stream, flag, 1, CU_STREAM_WAIT_VALUE_EQ);
        const CUresult called = CU(cuLaunchHostFunc)(stream, [](void*) {}, nullptr);
        std::_Exit(is_ready && waited == CUDA_ERROR_OPERATING_SYSTEM &&
                           called == CUDA_ERROR_OPERATING_SYSTEM &&
                           CU(cuStreamSynchronize)(stream) == CUDA_SUCCESS
                       ? 0
                       : 1);
    };
    EXPECT_EXIT(run(), testing::ExitedWithCode(0), "");
}

class HostFunctionsOfOthers : public DriverTest {};

TEST_F(HostFunctionsOfOthers, an_exception_of_a_log_callback_is_ignored) {
    CUlogsCallbackHandle handle = nullptr;
    ASSERT_TRUE(succeeds(CU(cuLogsRegisterCallback)(
        [](void*, CUlogLevel, char*, std::size_t) { throw std::runtime_error("no"); }, nullptr,
        &handle)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemsetD8)(1, 1, 16)));
    EXPECT_TRUE(succeeds(CU(cuLogsUnregisterCallback)(handle)));
}

TEST_F(HostFunctionsOfOthers, an_exception_of_a_destructor_of_a_user_object_is_ignored) {
    CUuserObject object = nullptr;
    ASSERT_TRUE(succeeds(CU(cuUserObjectCreate)(&object, nullptr, throw_text, 1,
                                                CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)));
    EXPECT_TRUE(succeeds(CU(cuUserObjectRelease)(object, 1)));
    CUstream stream = nullptr;
    ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING)));
    ASSERT_TRUE(succeeds(CU(cuLaunchHostFunc)(stream, [](void*) {}, nullptr)));
    EXPECT_TRUE(succeeds(CU(cuStreamSynchronize)(stream))) << "behind the destructor, or beside it";
    EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(stream)));
}
