// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "api/driver.hpp"

using namespace cuprum::emulator::test;

class Events : public DriverTest {
protected:
    void SetUp() override {
        DriverTest::SetUp();
        ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&stream_, CU_STREAM_NON_BLOCKING)));
        ASSERT_TRUE(succeeds(CU(cuEventCreate)(&begin_, CU_EVENT_DEFAULT)));
        ASSERT_TRUE(succeeds(CU(cuEventCreate)(&end_, CU_EVENT_DEFAULT)));
    }

    void TearDown() override {
        EXPECT_TRUE(succeeds(CU(cuEventDestroy)(begin_)));
        EXPECT_TRUE(succeeds(CU(cuEventDestroy)(end_)));
        EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(stream_)));
        DriverTest::TearDown();
    }

    CUstream stream_ = nullptr;
    CUevent begin_ = nullptr;
    CUevent end_ = nullptr;
};

TEST_F(Events, an_event_that_was_never_recorded_is_done) {
    EXPECT_TRUE(succeeds(CU(cuEventQuery)(begin_)));
    EXPECT_TRUE(succeeds(CU(cuEventSynchronize)(begin_)));
}

TEST_F(Events, time_between_two_events_is_measured) {
    float milliseconds = -1;
    ASSERT_TRUE(succeeds(CU(cuEventRecord)(begin_, stream_)));
    ASSERT_TRUE(succeeds(CU(cuEventRecord)(end_, stream_)));
    ASSERT_TRUE(succeeds(CU(cuEventSynchronize)(end_)));
    ASSERT_TRUE(succeeds(CU(cuEventElapsedTime)(&milliseconds, begin_, end_)));
    EXPECT_GE(milliseconds, 0.0F);
    float backwards = 1;
    ASSERT_TRUE(succeeds(CU(cuEventElapsedTime)(&backwards, end_, begin_)));
    EXPECT_EQ(backwards, -milliseconds);
}

TEST_F(Events, time_is_not_there_before_both_events_are_reached) {
    float milliseconds = 0;
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_HANDLE, CU(cuEventElapsedTime)(&milliseconds, begin_, end_)));
    Gate gate;
    ASSERT_TRUE(succeeds(CU(cuEventRecord)(begin_, stream_)));
    gate.block(stream_);
    ASSERT_TRUE(succeeds(CU(cuEventRecord)(end_, stream_)));
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_READY, CU(cuEventElapsedTime)(&milliseconds, begin_, end_)));
    gate.open();
    ASSERT_TRUE(succeeds(CU(cuEventSynchronize)(end_)));
    EXPECT_TRUE(succeeds(CU(cuEventElapsedTime)(&milliseconds, begin_, end_)));
}

TEST_F(Events, an_event_without_timing_measures_nothing) {
    CUevent untimed = nullptr;
    ASSERT_TRUE(succeeds(CU(cuEventCreate)(&untimed, CU_EVENT_DISABLE_TIMING)));
    ASSERT_TRUE(succeeds(CU(cuEventRecord)(begin_, stream_)));
    ASSERT_TRUE(succeeds(CU(cuEventRecord)(untimed, stream_)));
    ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(stream_)));
    float milliseconds = 0;
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_HANDLE, CU(cuEventElapsedTime)(&milliseconds, begin_, untimed)));
    EXPECT_TRUE(succeeds(CU(cuEventDestroy)(untimed)));
}

TEST_F(Events, an_event_destroyed_while_pending_still_holds_back_its_waiter) {
    CUstream waiter = nullptr;
    CUevent doomed = nullptr;
    ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&waiter, CU_STREAM_NON_BLOCKING)));
    ASSERT_TRUE(succeeds(CU(cuEventCreate)(&doomed, CU_EVENT_DISABLE_TIMING)));
    Gate gate;
    gate.block(stream_);
    ASSERT_TRUE(succeeds(CU(cuEventRecord)(doomed, stream_)));
    ASSERT_TRUE(succeeds(CU(cuStreamWaitEvent)(waiter, doomed, 0)));
    ASSERT_TRUE(succeeds(CU(cuEventDestroy)(doomed)));
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_READY, CU(cuStreamQuery)(waiter)));
    gate.open();
    EXPECT_TRUE(succeeds(CU(cuStreamSynchronize)(waiter)));
    EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(waiter)));
}

TEST_F(Events, an_event_of_a_context_holds_back_no_later_work) {
    CUstream later = nullptr; // a blocking stream, which runs after the legacy stream
    ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&later, CU_STREAM_DEFAULT)));
    Gate gate;
    gate.block(stream_);
    ASSERT_TRUE(succeeds(CU(cuCtxRecordEvent)(context_, end_)));
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_READY, CU(cuEventQuery)(end_)));
    ASSERT_TRUE(succeeds(CU(cuEventRecord)(begin_, later)));
    EXPECT_TRUE(succeeds(CU(cuStreamSynchronize)(later)));
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_READY, CU(cuEventQuery)(end_)));
    gate.open();
    EXPECT_TRUE(succeeds(CU(cuEventSynchronize)(end_)));
    EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(later)));
}

TEST_F(Events, wrong_flags_and_handles_are_refused) {
    CUevent event = nullptr;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuEventCreate)(&event, 0x80)));
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, CU(cuEventCreate)(&event, CU_EVENT_INTERPROCESS)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuEventCreate)(nullptr, 0)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE, CU(cuEventRecord)(nullptr, stream_)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE, CU(cuEventDestroy)(nullptr)));
    ASSERT_TRUE(succeeds(CU(cuEventCreate)(&event, 0)));
    ASSERT_TRUE(succeeds(CU(cuEventDestroy)(event)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE, CU(cuEventDestroy)(event)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE, CU(cuEventQuery)(event)));
}

TEST_F(Events, event_and_stream_must_share_a_context) {
    CUcontext other = nullptr;
    ASSERT_TRUE(succeeds(CU(cuCtxCreate)(&other, nullptr, 0, 0)));
    CUevent event = nullptr;
    ASSERT_TRUE(succeeds(CU(cuEventCreate)(&event, 0)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE, CU(cuEventRecord)(event, stream_)));
    EXPECT_TRUE(succeeds(CU(cuCtxDestroy)(other)));
}
