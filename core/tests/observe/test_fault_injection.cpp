// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/device_test.hpp"
#include "support/expect_error.hpp"

#include <cuprum/fault_injection.hpp>

#include <atomic>
#include <thread>

namespace cuprum {
namespace {

constexpr int OUT_OF_MEMORY = 2;
constexpr int UNKNOWN = 999;

class FaultInjectionTest : public testing::DeviceTest {};

TEST_F(FaultInjectionTest, only_the_nth_call_fails) {
    const FaultInjection fault("cuMemAllocFromPoolAsync", 2, OUT_OF_MEMORY);
    const Buffer first = device().allocate(64, stream());
    EXPECT_THROW(static_cast<void>(device().allocate(64, stream())), OutOfMemoryError);
    EXPECT_TRUE(fault.has_failed());
    EXPECT_EQ(fault.failed_call(), "cuMemAllocFromPoolAsync");
    const Buffer third = device().allocate(64, stream());
    EXPECT_EQ(fault.call_count(), 3);
}

TEST_F(FaultInjectionTest, it_ends_with_its_scope) {
    {
        const FaultInjection fault("cuStreamSynchronize", 1, UNKNOWN);
    }
    stream().sync();
}

TEST_F(FaultInjectionTest, the_error_names_the_call) {
    const FaultInjection fault("*", 1, UNKNOWN);
    testing::expect_error<CUDAError>([&] { stream().sync(); }, {"cuStreamSynchronize"});
}

TEST_F(FaultInjectionTest, two_faults_count_for_themselves) {
    const FaultInjection first("cuStreamSynchronize", 1, UNKNOWN);
    const FaultInjection second("cuStreamSynchronize", 2, UNKNOWN);
    EXPECT_THROW(stream().sync(), CUDAError);
    EXPECT_THROW(stream().sync(), CUDAError);
    stream().sync();
}

TEST_F(FaultInjectionTest, faults_of_other_threads_come_and_go) {
    constexpr int rounds = 2000;
    std::atomic<bool> is_done{false};
    std::thread other([&] {
        while (!is_done.load()) {
            const FaultInjection fault("cuEventCreate", 1, UNKNOWN);
        }
    });
    int failed = 0;
    for (int round = 0; round < rounds; ++round) {
        const FaultInjection fault("cuStreamSynchronize", 1, UNKNOWN);
        try {
            stream().sync();
        } catch (const CUDAError&) {
            ++failed;
        }
    }
    is_done.store(true);
    other.join();
    EXPECT_EQ(failed, rounds);
}

TEST_F(FaultInjectionTest, wrong_arguments_are_refused) {
    testing::expect_error<std::invalid_argument>([] { FaultInjection("cuNoSuch", 1, UNKNOWN); },
                                                 {"cuNoSuch"});
    testing::expect_error<std::invalid_argument>([] { FaultInjection("*", 0, UNKNOWN); }, {"nth"});
    testing::expect_error<std::invalid_argument>([] { FaultInjection("*", 1, 0); }, {"success"});
}

} // namespace
} // namespace cuprum
