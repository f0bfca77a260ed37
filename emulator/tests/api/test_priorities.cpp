// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Priorities and other settings of streams. One worker makes the order of blocks deterministic.

#include "api/driver.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

using namespace cuprum::emulator::test;

namespace {

const bool is_set_up = ::setenv("CUPRUM_EMULATOR_WORKERS", "1", 1) == 0;

constexpr unsigned BLOCKS = 64;

/// ticket(counter, out): out[block] = (*counter)++.
constexpr const char* TICKET_PTX = R"(
.version 7.0
.target sm_70
.address_size 64

.visible .entry ticket(.param .u64 ticket_counter, .param .u64 ticket_out)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [ticket_counter];
    ld.param.u64 %rd2, [ticket_out];
    atom.global.add.u32 %r1, [%rd1], 1;
    mov.u32 %r2, %ctaid.x;
    mul.wide.u32 %rd3, %r2, 4;
    add.s64 %rd4, %rd2, %rd3;
    st.global.u32 [%rd4], %r1;
    ret;
}
)";

} // namespace

class Priorities : public DriverTest {
protected:
    void SetUp() override {
        ASSERT_TRUE(is_set_up);
        DriverTest::SetUp();
        ASSERT_TRUE(succeeds(CU(cuModuleLoadData)(&module_, TICKET_PTX)));
        ASSERT_TRUE(succeeds(CU(cuModuleGetFunction)(&ticket_, module_, "ticket")));
        counter_ = allocate(4);
        ASSERT_TRUE(succeeds(CU(cuMemsetD32)(counter_, 0, 1)));
        ASSERT_TRUE(succeeds(CU(cuCtxSynchronize)()));
        ASSERT_TRUE(succeeds(CU(cuEventCreate)(&start_, CU_EVENT_DISABLE_TIMING)));
        gated_ = stream(0);
    }

    void TearDown() override {
        for (const CUstream each : streams_) {
            EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(each)));
        }
        EXPECT_TRUE(succeeds(CU(cuEventDestroy)(start_)));
        EXPECT_TRUE(succeeds(CU(cuMemFree)(counter_)));
        EXPECT_TRUE(succeeds(CU(cuModuleUnload)(module_)));
        DriverTest::TearDown();
    }

    CUstream stream(int priority) {
        CUstream made = nullptr;
        EXPECT_TRUE(
            succeeds(CU(cuStreamCreateWithPriority)(&made, CU_STREAM_NON_BLOCKING, priority)));
        streams_.push_back(made);
        return made;
    }

    /// Launches blocks that take tickets, after the event. Returns the address of the tickets.
    CUdeviceptr launch(CUstream stream) {
        CUdeviceptr out = allocate(BLOCKS * 4);
        EXPECT_TRUE(succeeds(CU(cuStreamWaitEvent)(stream, start_, 0)));
        void* arguments[] = {&counter_, &out};
        EXPECT_TRUE(succeeds(
            CU(cuLaunchKernel)(ticket_, BLOCKS, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr)));
        return out;
    }

    std::vector<unsigned> tickets(CUdeviceptr out) {
        std::vector<unsigned> drawn(BLOCKS);
        EXPECT_TRUE(succeeds(CU(cuMemcpyDtoH)(drawn.data(), out, BLOCKS * 4)));
        EXPECT_TRUE(succeeds(CU(cuMemFree)(out)));
        std::ranges::sort(drawn);
        return drawn;
    }

    CUmodule module_ = nullptr;
    CUfunction ticket_ = nullptr;
    CUdeviceptr counter_ = 0;
    CUevent start_ = nullptr;
    CUstream gated_ = nullptr;
    std::vector<CUstream> streams_;
};

TEST_F(Priorities, work_of_higher_priority_that_is_ready_starts_first) {
    CUdeviceptr low = 0;
    CUdeviceptr middle = 0;
    CUdeviceptr high = 0;
    {
        Gate gate;
        gate.block(gated_);
        ASSERT_TRUE(succeeds(CU(cuEventRecord)(start_, gated_)));
        low = launch(stream(0));
        high = launch(stream(-5));
        middle = launch(stream(-2));
    }
    ASSERT_TRUE(succeeds(CU(cuCtxSynchronize)()));
    EXPECT_EQ(tickets(high).back(), BLOCKS - 1) << "all of its blocks came first";
    EXPECT_EQ(tickets(middle).back(), 2 * BLOCKS - 1);
    EXPECT_EQ(tickets(low).back(), 3 * BLOCKS - 1);
}

TEST_F(Priorities, a_launch_can_have_a_priority_of_its_own) {
    CUdeviceptr ordinary = 0;
    CUdeviceptr urgent = allocate(BLOCKS * 4);
    const CUstream other = stream(0);
    {
        Gate gate;
        gate.block(gated_);
        ASSERT_TRUE(succeeds(CU(cuEventRecord)(start_, gated_)));
        ASSERT_TRUE(succeeds(CU(cuStreamWaitEvent)(other, start_, 0)));
        CUlaunchAttribute attribute{};
        attribute.id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
        attribute.value.priority = -3;
        CUlaunchConfig config{};
        config.gridDimX = BLOCKS;
        config.gridDimY = config.gridDimZ = 1;
        config.blockDimX = config.blockDimY = config.blockDimZ = 1;
        config.hStream = other;
        config.attrs = &attribute;
        config.numAttrs = 1;
        void* arguments[] = {&counter_, &urgent};
        ASSERT_TRUE(succeeds(CU(cuLaunchKernelEx)(&config, ticket_, arguments, nullptr)));
        ordinary = launch(stream(0));
    }
    ASSERT_TRUE(succeeds(CU(cuCtxSynchronize)()));
    EXPECT_EQ(tickets(urgent).back(), BLOCKS - 1);
    EXPECT_EQ(tickets(ordinary).back(), 2 * BLOCKS - 1);
}

TEST_F(Priorities, settings_of_a_stream_are_kept_and_copied) {
    const CUstream from = stream(-2);
    const CUstream to = stream(0);
    CUstreamAttrValue value{};
    ASSERT_TRUE(succeeds(CU(cuStreamGetAttribute)(from, CU_STREAM_ATTRIBUTE_PRIORITY, &value)));
    EXPECT_EQ(value.priority, -2);
    value.priority = -99;
    ASSERT_TRUE(succeeds(CU(cuStreamSetAttribute)(from, CU_STREAM_ATTRIBUTE_PRIORITY, &value)));
    int priority = 0;
    ASSERT_TRUE(succeeds(CU(cuStreamGetPriority)(from, &priority)));
    EXPECT_EQ(priority, -5) << "the highest there is";
    value = {};
    value.syncPolicy = CU_SYNC_POLICY_YIELD;
    ASSERT_TRUE(succeeds(
        CU(cuStreamSetAttribute)(from, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value)));
    ASSERT_TRUE(succeeds(CU(cuStreamCopyAttributes)(to, from)));
    value = {};
    ASSERT_TRUE(
        succeeds(CU(cuStreamGetAttribute)(to, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value)));
    EXPECT_EQ(value.syncPolicy, CU_SYNC_POLICY_YIELD);
    ASSERT_TRUE(
        succeeds(CU(cuStreamGetAttribute)(to, CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, &value)));
    EXPECT_EQ(value.memSyncDomainMap.remote, 1);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuStreamGetAttribute)(to, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value)));
    value.accessPolicyWindow.hitRatio = 2;
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE,
                CU(cuStreamSetAttribute)(to, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value)));
}
