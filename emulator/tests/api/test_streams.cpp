// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "api/driver.hpp"

#include <array>
#include <atomic>
#include <thread>
#include <vector>

using namespace cuprum::emulator::test;

class Streams : public DriverTest {
protected:
    void SetUp() override {
        DriverTest::SetUp();
        ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&first_, CU_STREAM_NON_BLOCKING)));
        ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&second_, CU_STREAM_NON_BLOCKING)));
        ASSERT_TRUE(succeeds(CU(cuEventCreate)(&event_, CU_EVENT_DISABLE_TIMING)));
    }

    void TearDown() override {
        EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(first_)));
        EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(second_)));
        EXPECT_TRUE(succeeds(CU(cuEventDestroy)(event_)));
        DriverTest::TearDown();
    }

    CUstream first_ = nullptr;
    CUstream second_ = nullptr;
    CUevent event_ = nullptr;
};

TEST_F(Streams, work_runs_in_order_and_not_before_its_turn) {
    std::vector<int> order;

    struct Note {
        std::vector<int>* order;
        int number;
    };

    std::array<Note, 5> notes{};
    Gate gate;
    gate.block(first_);
    for (int number = 0; number < 5; ++number) {
        notes[static_cast<std::size_t>(number)] = {&order, number};
        ASSERT_TRUE(succeeds(CU(cuLaunchHostFunc)(
            first_,
            [](void* data) {
                const auto* note = static_cast<Note*>(data);
                note->order->push_back(note->number);
            },
            &notes[static_cast<std::size_t>(number)])));
    }
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_READY, CU(cuStreamQuery)(first_)));
    gate.open();
    ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(first_)));
    EXPECT_TRUE(succeeds(CU(cuStreamQuery)(first_)));
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST_F(Streams, host_functions_and_callbacks_must_not_call_cuda) {
    std::array<CUresult, 2> inside{CUDA_SUCCESS, CUDA_SUCCESS};
    ASSERT_TRUE(succeeds(CU(cuLaunchHostFunc)(
        first_, [](void* data) { *static_cast<CUresult*>(data) = CU(cuCtxSynchronize)(); },
        inside.data())));
    ASSERT_TRUE(succeeds(CU(cuStreamAddCallback)(
        first_,
        [](CUstream stream, CUresult, void* data) {
            *static_cast<CUresult*>(data) = CU(cuStreamQuery)(stream);
        },
        &inside[1], 0)));
    ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(first_)));
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_PERMITTED, inside[0]));
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_PERMITTED, inside[1]));
    EXPECT_TRUE(succeeds(CU(cuStreamQuery)(first_))) << "only inside, and nothing stays";
}

TEST_F(Streams, a_blocked_stream_does_not_hold_back_another) {
    Gate gate;
    gate.block(first_);
    bool was_called = false;
    ASSERT_TRUE(succeeds(CU(cuLaunchHostFunc)(
        second_, [](void* flag) { *static_cast<bool*>(flag) = true; }, &was_called)));
    ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(second_)));
    EXPECT_TRUE(was_called);
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_READY, CU(cuStreamQuery)(first_)));
    gate.open();
    ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(first_)));
}

TEST_F(Streams, waiting_for_an_event_orders_two_streams) {
    Gate gate;
    gate.block(first_);
    ASSERT_TRUE(succeeds(CU(cuEventRecord)(event_, first_)));
    ASSERT_TRUE(succeeds(CU(cuStreamWaitEvent)(second_, event_, 0)));
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_READY, CU(cuStreamQuery)(second_)));
    gate.open();
    ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(second_)));
    EXPECT_TRUE(succeeds(CU(cuStreamQuery)(first_)));
}

TEST_F(Streams, a_wait_holds_for_the_record_that_was_there_when_it_was_made) {
    Gate gate;
    ASSERT_TRUE(succeeds(CU(cuEventRecord)(event_, first_)));
    ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(first_)));
    ASSERT_TRUE(succeeds(CU(cuStreamWaitEvent)(second_, event_, 0)));
    gate.block(first_);
    ASSERT_TRUE(succeeds(CU(cuEventRecord)(event_, first_)));
    EXPECT_TRUE(succeeds(CU(cuStreamSynchronize)(second_)));
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_READY, CU(cuEventQuery)(event_)));
    gate.open();
    EXPECT_TRUE(succeeds(CU(cuEventSynchronize)(event_)));
}

TEST_F(Streams, the_legacy_stream_waits_for_blocking_streams_and_they_for_it) {
    CUstream blocking = nullptr;
    ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&blocking, CU_STREAM_DEFAULT)));
    {
        Gate gate;
        gate.block(blocking);
        ASSERT_TRUE(succeeds(CU(cuEventRecord)(event_, CU_STREAM_LEGACY)));
        EXPECT_TRUE(returns(CUDA_ERROR_NOT_READY, CU(cuEventQuery)(event_)));
        EXPECT_TRUE(returns(CUDA_ERROR_NOT_READY, CU(cuStreamQuery)(nullptr)));
        gate.open();
        ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(nullptr)));
        EXPECT_TRUE(succeeds(CU(cuEventQuery)(event_)));
    }
    {
        Gate gate;
        gate.block(nullptr);
        ASSERT_TRUE(succeeds(CU(cuEventRecord)(event_, blocking)));
        EXPECT_TRUE(returns(CUDA_ERROR_NOT_READY, CU(cuEventQuery)(event_)));
        EXPECT_TRUE(succeeds(CU(cuStreamQuery)(first_))); // a non-blocking stream is not affected
        gate.open();
        ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(blocking)));
    }
    EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(blocking)));
}

TEST_F(Streams, per_thread_default_streams_of_two_threads_are_independent) {
    Gate gate;
    gate.block(CU_STREAM_PER_THREAD);
    CUresult other = CUDA_ERROR_UNKNOWN;
    std::thread([&] {
        CU(cuCtxSetCurrent)(context_);
        other = CU(cuStreamQuery)(CU_STREAM_PER_THREAD);
    }).join();
    EXPECT_TRUE(succeeds(other));
    // For functions with the suffix _ptsz, NULL is the thread's own default stream.
    auto* query = symbol<decltype(cuStreamQuery)>("cuStreamQuery_ptsz");
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_READY, query(nullptr)));
    gate.open();
    EXPECT_TRUE(succeeds(CU(cuStreamSynchronize)(CU_STREAM_PER_THREAD)));
    EXPECT_TRUE(succeeds(query(nullptr)));
}

TEST_F(Streams, destroying_a_busy_stream_lets_its_work_finish) {
    CUstream doomed = nullptr;
    ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&doomed, CU_STREAM_NON_BLOCKING)));
    std::atomic<bool> was_called{false};
    Gate gate;
    gate.block(doomed);
    ASSERT_TRUE(succeeds(CU(cuLaunchHostFunc)(
        doomed, [](void* flag) { static_cast<std::atomic<bool>*>(flag)->store(true); },
        &was_called)));
    ASSERT_TRUE(succeeds(CU(cuStreamDestroy)(doomed)));
    EXPECT_FALSE(was_called);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE, CU(cuStreamQuery)(doomed)));
    gate.open();
    ASSERT_TRUE(succeeds(CU(cuCtxSynchronize)()));
    EXPECT_TRUE(was_called);
}

TEST_F(Streams, a_long_queue_of_quick_work_runs_through) {
    constexpr int count = 20000;
    Gate gate;
    gate.block(first_);
    for (int index = 0; index < count; ++index) {
        ASSERT_TRUE(succeeds(CU(cuEventRecord)(event_, first_)));
    }
    gate.open();
    EXPECT_TRUE(succeeds(CU(cuEventSynchronize)(event_)));
}

TEST_F(Streams, flags_priority_id_and_device_are_reported) {
    CUstream stream = nullptr;
    int least = 7;
    int greatest = 7;
    ASSERT_TRUE(succeeds(CU(cuCtxGetStreamPriorityRange)(&least, &greatest)));
    EXPECT_LT(greatest, least);
    ASSERT_TRUE(
        succeeds(CU(cuStreamCreateWithPriority)(&stream, CU_STREAM_NON_BLOCKING, greatest - 100)));
    int priority = 7;
    unsigned flags = 7;
    unsigned long long id = 0;
    unsigned long long other_id = 0;
    CUdevice device = -1;
    CUcontext context = nullptr;
    EXPECT_TRUE(succeeds(CU(cuStreamGetPriority)(stream, &priority)));
    EXPECT_EQ(priority, greatest);
    EXPECT_TRUE(succeeds(CU(cuStreamGetFlags)(stream, &flags)));
    EXPECT_EQ(flags, static_cast<unsigned>(CU_STREAM_NON_BLOCKING));
    EXPECT_TRUE(succeeds(CU(cuStreamGetId)(stream, &id)));
    EXPECT_TRUE(succeeds(CU(cuStreamGetId)(first_, &other_id)));
    EXPECT_NE(id, other_id);
    EXPECT_TRUE(succeeds(CU(cuStreamGetDevice)(stream, &device)));
    EXPECT_EQ(device, 0);
    EXPECT_TRUE(succeeds(CU(cuStreamGetCtx)(stream, &context)));
    EXPECT_EQ(context, context_);
    EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(stream)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuStreamCreate)(&stream, 0xF0)));
}

TEST_F(Streams, bad_handles_are_refused) {
    int nothing = 0;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE,
                        CU(cuStreamSynchronize)(reinterpret_cast<CUstream>(&nothing))));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE, CU(cuStreamDestroy)(nullptr)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE, CU(cuStreamDestroy)(CU_STREAM_LEGACY)));
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_HANDLE, CU(cuStreamQuery)(reinterpret_cast<CUstream>(event_))));
}

TEST_F(Streams, a_word_in_memory_can_be_written_and_waited_for) {
    CUdeviceptr word = allocate(8);
    ASSERT_TRUE(succeeds(CU(cuMemsetD32)(word, 0, 2)));
    ASSERT_TRUE(succeeds(CU(cuStreamWaitValue32)(first_, word, 5, CU_STREAM_WAIT_VALUE_GEQ)));
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_READY, CU(cuStreamQuery)(first_)));
    ASSERT_TRUE(succeeds(CU(cuStreamWriteValue32)(second_, word, 6, 0)));
    EXPECT_TRUE(succeeds(CU(cuStreamSynchronize)(first_)));
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, CU(cuStreamWriteValue32)(second_, word + 2, 6, 0)));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(word)));
}

TEST_F(Streams, a_callback_gets_its_stream_and_status) {
    struct Seen {
        CUstream stream = nullptr;
        CUresult status = CUDA_ERROR_UNKNOWN;
    } seen;

    ASSERT_TRUE(succeeds(CU(cuStreamAddCallback)(
        first_,
        [](CUstream stream, CUresult status, void* data) {
            *static_cast<Seen*>(data) = {stream, status};
        },
        &seen, 0)));
    ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(first_)));
    EXPECT_EQ(seen.stream, first_);
    EXPECT_TRUE(succeeds(seen.status));
}
