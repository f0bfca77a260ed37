// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Events that are shared with a newly started process.

#include "api/driver.hpp"
#include "api/peer.hpp"

#include <cstring>

using namespace cuprum::emulator::test;

namespace {

constexpr std::size_t BYTES = 4096;

} // namespace

class InterprocessEvents : public DriverTest {
protected:
    void SetUp() override {
        DriverTest::SetUp();
        ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&stream_, CU_STREAM_NON_BLOCKING)));
        ASSERT_TRUE(
            succeeds(CU(cuEventCreate)(&event_, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING)));
        ASSERT_TRUE(succeeds(CU(cuIpcGetEventHandle)(&handle_, event_)));
        memory_ = allocate(BYTES);
        ASSERT_TRUE(succeeds(CU(cuMemsetD32)(memory_, 1, BYTES / 4)));
    }

    void TearDown() override {
        EXPECT_TRUE(succeeds(CU(cuMemFree)(memory_)));
        EXPECT_TRUE(succeeds(CU(cuEventDestroy)(event_)));
        EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(stream_)));
        DriverTest::TearDown();
    }

    /// Sends the memory and the event to the peer.
    void share_with(Peer& peer) {
        CUipcMemHandle memory{};
        ASSERT_TRUE(succeeds(CU(cuIpcGetMemHandle)(&memory, memory_)));
        ASSERT_TRUE(succeeds(peer.ask(Request::OpenMemory, 0, &memory).result));
        ASSERT_TRUE(succeeds(peer.ask(Request::OpenEvent, 0, &handle_).result));
    }

    unsigned word() {
        unsigned value = 0;
        EXPECT_TRUE(succeeds(CU(cuMemcpyDtoH)(&value, memory_, sizeof value)));
        return value;
    }

    CUstream stream_ = nullptr;
    CUevent event_ = nullptr;
    CUdeviceptr memory_ = 0;
    CUipcEventHandle handle_{};
};

TEST_F(InterprocessEvents, the_other_process_waits_for_our_work) {
    Peer peer;
    share_with(peer);
    EXPECT_TRUE(succeeds(peer.ask(Request::QueryEvent).result)) << "it was never recorded";
    {
        Gate gate;
        gate.block(stream_);
        ASSERT_TRUE(succeeds(CU(cuMemsetD32Async)(memory_, 2, BYTES / 4, stream_)));
        ASSERT_TRUE(succeeds(CU(cuEventRecord)(event_, stream_)));
        ASSERT_TRUE(succeeds(peer.ask(Request::WaitThenFill, 3).result));
        EXPECT_TRUE(returns(CUDA_ERROR_NOT_READY, peer.ask(Request::QueryEvent).result));
        EXPECT_TRUE(returns(CUDA_ERROR_NOT_READY, CU(cuEventQuery)(event_)));
        EXPECT_EQ(word(), 1U);
    }
    EXPECT_TRUE(succeeds(peer.ask(Request::Synchronize).result));
    EXPECT_EQ(word(), 3U) << "theirs comes after ours";
    EXPECT_TRUE(succeeds(peer.ask(Request::QueryEvent).result));
    EXPECT_TRUE(succeeds(CU(cuStreamSynchronize)(stream_)));
}

TEST_F(InterprocessEvents, we_wait_for_what_the_other_process_records) {
    Peer peer;
    share_with(peer);
    ASSERT_TRUE(succeeds(peer.ask(Request::RecordBehindGate).result));
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_READY, CU(cuEventQuery)(event_)));
    ASSERT_TRUE(succeeds(CU(cuStreamWaitEvent)(stream_, event_, 0)));
    ASSERT_TRUE(succeeds(CU(cuMemsetD32Async)(memory_, 4, BYTES / 4, stream_)));
    EXPECT_EQ(word(), 1U);
    ASSERT_TRUE(succeeds(peer.ask(Request::OpenGate).result));
    EXPECT_TRUE(succeeds(CU(cuEventSynchronize)(event_)));
    EXPECT_TRUE(succeeds(CU(cuStreamSynchronize)(stream_)));
    EXPECT_EQ(word(), 4U);
}

TEST_F(InterprocessEvents, recording_again_moves_the_mark_for_both) {
    Peer peer;
    share_with(peer);
    for (int round = 0; round < 3; ++round) {
        Gate gate;
        gate.block(stream_);
        ASSERT_TRUE(succeeds(CU(cuEventRecord)(event_, stream_)));
        EXPECT_TRUE(returns(CUDA_ERROR_NOT_READY, peer.ask(Request::QueryEvent).result));
        gate.open();
        EXPECT_TRUE(succeeds(CU(cuEventSynchronize)(event_)));
        EXPECT_TRUE(succeeds(peer.ask(Request::QueryEvent).result));
    }
}

TEST_F(InterprocessEvents, an_event_whose_process_is_killed_is_an_error_not_a_hang) {
    Peer peer;
    share_with(peer);
    // Use a separate context, because the test makes it unusable.
    CUcontext doomed = nullptr;
    CUstream stream = nullptr;
    CUevent event = nullptr;
    ASSERT_TRUE(succeeds(CU(cuCtxCreate)(&doomed, nullptr, 0, 0)));
    ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING)));
    ASSERT_TRUE(succeeds(CU(cuIpcOpenEventHandle)(&event, handle_)));
    ASSERT_TRUE(succeeds(peer.ask(Request::RecordBehindGate).result));
    EXPECT_TRUE(succeeds(CU(cuStreamWaitEvent)(stream, event, 0)));
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_READY, CU(cuEventQuery)(event)));
    peer.kill();
    EXPECT_TRUE(returns(CUDA_ERROR_EXTERNAL_DEVICE, CU(cuStreamSynchronize)(stream)));
    EXPECT_TRUE(returns(CUDA_ERROR_EXTERNAL_DEVICE, CU(cuEventQuery)(event)));
    EXPECT_TRUE(returns(CUDA_ERROR_EXTERNAL_DEVICE, CU(cuCtxSynchronize)()));
    EXPECT_TRUE(succeeds(CU(cuCtxDestroy)(doomed)));
    ASSERT_TRUE(succeeds(CU(cuCtxSetCurrent)(context_)));
    // After another record, the event works again.
    ASSERT_TRUE(succeeds(CU(cuEventRecord)(event_, stream_)));
    EXPECT_TRUE(succeeds(CU(cuEventSynchronize)(event_)));
}

TEST_F(InterprocessEvents, an_event_outlives_the_process_that_made_it) {
    Peer peer;
    const Message made = peer.ask(Request::MakeEvent);
    ASSERT_TRUE(succeeds(made.result));
    CUipcEventHandle handle{};
    std::memcpy(&handle, made.data.data(), sizeof handle);
    CUevent opened = nullptr;
    ASSERT_TRUE(succeeds(CU(cuIpcOpenEventHandle)(&opened, handle)));
    peer.kill();
    ASSERT_TRUE(succeeds(CU(cuEventRecord)(opened, stream_)));
    EXPECT_TRUE(succeeds(CU(cuEventSynchronize)(opened)));
    EXPECT_TRUE(succeeds(CU(cuEventDestroy)(opened)));
    CUevent late = nullptr;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE, CU(cuIpcOpenEventHandle)(&late, handle)));
}

TEST_F(InterprocessEvents, only_events_made_for_it_can_be_shared) {
    CUevent plain = nullptr;
    CUipcEventHandle handle{};
    ASSERT_TRUE(succeeds(CU(cuEventCreate)(&plain, CU_EVENT_DISABLE_TIMING)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE, CU(cuIpcGetEventHandle)(&handle, plain)));
    EXPECT_TRUE(succeeds(CU(cuEventDestroy)(plain)));
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, CU(cuEventCreate)(&plain, CU_EVENT_INTERPROCESS)));
}

TEST_F(InterprocessEvents, forged_handles_are_refused) {
    Peer peer;
    CUipcEventHandle nothing{};
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_HANDLE, peer.ask(Request::OpenEvent, 0, &nothing).result));
    for (const std::size_t byte : {0, 8, 12, 16, 24, 39}) {
        CUipcEventHandle forged = handle_;
        reinterpret_cast<unsigned char*>(&forged)[byte] ^= 0x5A;
        EXPECT_TRUE(
            returns(CUDA_ERROR_INVALID_HANDLE, peer.ask(Request::OpenEvent, 0, &forged).result))
            << "byte " << byte;
    }
    CUipcMemHandle memory{};
    ASSERT_TRUE(succeeds(CU(cuIpcGetMemHandle)(&memory, memory_)));
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_HANDLE, peer.ask(Request::OpenEvent, 0, &memory).result));
}
