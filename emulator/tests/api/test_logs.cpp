// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "api/driver.hpp"
#include "api/kernels.hpp"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

using namespace cuprum::emulator::test;

class Logs : public DriverTest {
protected:
    /// Makes a call fail.
    static void fail_once() { EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemFree)(64))); }

    static std::string read(CUlogIterator* from, std::size_t room) {
        std::string buffer(room, '?');
        std::size_t size = buffer.size();
        EXPECT_TRUE(succeeds(CU(cuLogsDumpToMemory)(from, buffer.data(), &size, 0)));
        buffer.resize(size);
        return buffer;
    }
};

TEST_F(Logs, a_failed_call_is_explained) {
    CUlogIterator now = 0;
    ASSERT_TRUE(succeeds(CU(cuLogsCurrent)(&now, 0)));
    EXPECT_EQ(read(&now, 1000), "");
    fail_once();
    const std::string text = read(&now, 1000);
    EXPECT_NE(text.find("[E] cuMemFree: dptr is not the start of device memory"), std::string::npos)
        << text;
    EXPECT_EQ(text.back(), '\n');
    EXPECT_EQ(read(&now, 1000), "") << "the iterator moved on";
    EXPECT_NE(read(nullptr, 30000).find("cuMemFree"), std::string::npos);
}

TEST_F(Logs, the_call_that_meets_a_failed_kernel_has_its_report) {
    CUcontext doomed = nullptr;
    ASSERT_TRUE(succeeds(CU(cuCtxCreate)(&doomed, nullptr, 0, 0)));
    CUmodule module = nullptr;
    CUfunction touch = nullptr;
    ASSERT_TRUE(succeeds(CU(cuModuleLoadData)(&module, COUNTER_PTX)));
    ASSERT_TRUE(succeeds(CU(cuModuleGetFunction)(&touch, module, "touch")));
    CUlogIterator now = 0;
    ASSERT_TRUE(succeeds(CU(cuLogsCurrent)(&now, 0)));
    CUdeviceptr nowhere = 64;
    void* arguments[] = {&nowhere};
    testing::internal::CaptureStderr();
    ASSERT_TRUE(
        succeeds(CU(cuLaunchKernel)(touch, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr)));
    EXPECT_TRUE(returns(CUDA_ERROR_ILLEGAL_ADDRESS, CU(cuCtxSynchronize)()));
    testing::internal::GetCapturedStderr();
    const std::string log = read(&now, 4000);
    EXPECT_NE(log.find("cuCtxSynchronize: an earlier kernel failed"), std::string::npos) << log;
    EXPECT_NE(log.find("in kernel touch, block (0, 0, 0), thread (0, 0, 0)"), std::string::npos)
        << log;
    ASSERT_TRUE(succeeds(CU(cuCtxDestroy)(doomed)));
}

TEST_F(Logs, what_does_not_fit_is_left_out_and_that_is_said) {
    CUlogIterator now = 0;
    ASSERT_TRUE(succeeds(CU(cuLogsCurrent)(&now, 0)));
    fail_once();
    CUlogIterator second = now;
    const std::size_t one = read(&second, 1000).size();
    fail_once();
    CUlogIterator all = now;
    const std::string text = read(&all, one + 60);
    EXPECT_EQ(text.find("[earlier messages were left out]\n"), 0U) << text;
    EXPECT_NE(text.find("cuMemFree"), std::string::npos);
    char tiny[8];
    std::size_t size = sizeof tiny;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuLogsDumpToMemory)(&now, tiny, &size, 0)));
    EXPECT_EQ(size, 0U);
}

TEST_F(Logs, only_the_latest_messages_are_kept) {
    CUlogIterator start = 0;
    ASSERT_TRUE(succeeds(CU(cuLogsCurrent)(&start, 0)));
    for (int round = 0; round < 1000; ++round) {
        fail_once();
    }
    const std::string text = read(&start, 100000);
    EXPECT_LE(text.size(), 25600U + 64);
    EXPECT_GT(text.size(), 20000U);
    EXPECT_EQ(text.find("[earlier messages were left out]\n"), 0U);
}

TEST_F(Logs, callbacks_hear_of_every_failure_until_they_are_removed) {
    std::string heard;
    CUlogsCallbackHandle handle = nullptr;
    ASSERT_TRUE(succeeds(CU(cuLogsRegisterCallback)(
        [](void* data, CUlogLevel level, char* message, std::size_t length) {
            *static_cast<std::string*>(data) +=
                (level == CU_LOG_LEVEL_ERROR ? "E " : "W ") + std::string(message, length);
        },
        &heard, &handle)));
    fail_once();
    EXPECT_EQ(heard.find("E cuMemFree: "), 0U) << heard;
    ASSERT_TRUE(succeeds(CU(cuLogsUnregisterCallback)(handle)));
    heard.clear();
    fail_once();
    EXPECT_EQ(heard, "");
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuLogsUnregisterCallback)(handle)));
}

TEST_F(Logs, they_go_to_a_file) {
    const std::string path = testing::TempDir() + "cuprum_logs.txt";
    CUlogIterator now = 0;
    ASSERT_TRUE(succeeds(CU(cuLogsCurrent)(&now, 0)));
    fail_once();
    ASSERT_TRUE(succeeds(CU(cuLogsDumpToFile)(&now, path.c_str(), 0)));
    std::ifstream file(path);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    std::remove(path.c_str());
    EXPECT_NE(text.find("cuMemFree"), std::string::npos);
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, CU(cuLogsDumpToFile)(&now, "/no/such/folder/file", 0)));
}
