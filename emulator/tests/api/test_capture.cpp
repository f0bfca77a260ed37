// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Which calls break the rules of stream capture. The codes and the effects are those of an H200
// with driver 580.

#include "api/driver.hpp"
#include "api/kernels.hpp"

#include <thread>
#include <vector>

using namespace cuprum::emulator::test;

class Captures : public DriverTest {
protected:
    void SetUp() override {
        DriverTest::SetUp();
        stream_ = make_stream(CU_STREAM_NON_BLOCKING);
        other_ = make_stream(CU_STREAM_NON_BLOCKING);
        ASSERT_TRUE(succeeds(CU(cuEventCreate)(&event_, CU_EVENT_DEFAULT)));
        memory_ = allocate(64);
    }

    void TearDown() override {
        EXPECT_EQ(status(stream_), CU_STREAM_CAPTURE_STATUS_NONE) << "the test left a capture";
        EXPECT_TRUE(succeeds(CU(cuMemFree)(memory_)));
        EXPECT_TRUE(succeeds(CU(cuEventDestroy)(event_)));
        for (const CUstream stream : streams_) {
            EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(stream)));
        }
        DriverTest::TearDown();
    }

    CUstream make_stream(unsigned flags) {
        CUstream stream = nullptr;
        EXPECT_TRUE(succeeds(CU(cuStreamCreate)(&stream, flags)));
        streams_.push_back(stream);
        return stream;
    }

    void begin(CUstream stream, CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL) {
        ASSERT_TRUE(succeeds(CU(cuStreamBeginCapture)(stream, mode)));
        ASSERT_TRUE(succeeds(work(stream)));
    }

    CUresult work(CUstream stream) { return CU(cuMemsetD8Async)(memory_, 1, 64, stream); }

    CUresult record(CUstream stream) { return CU(cuEventRecord)(event_, stream); }

    CUresult wait(CUstream stream) { return CU(cuStreamWaitEvent)(stream, event_, 0); }

    static CUstreamCaptureStatus status(CUstream stream) {
        CUstreamCaptureStatus status{};
        EXPECT_TRUE(succeeds(CU(cuStreamIsCapturing)(stream, &status)));
        return status;
    }

    /// Ends a capture. Returns the code, and the graph in `graph`.
    static CUresult end(CUstream stream, CUgraph& graph) {
        return CU(cuStreamEndCapture)(stream, &graph);
    }

    /// Expects that a capture is invalidated, and ends it.
    static void expect_invalidated(CUstream stream) {
        EXPECT_EQ(status(stream), CU_STREAM_CAPTURE_STATUS_INVALIDATED);
        CUgraph graph = reinterpret_cast<CUgraph>(1);
        EXPECT_TRUE(returns(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, end(stream, graph)));
        EXPECT_EQ(graph, nullptr);
        EXPECT_EQ(status(stream), CU_STREAM_CAPTURE_STATUS_NONE);
    }

    /// Expects that a capture is valid, ends it and returns the types of its nodes.
    static std::vector<CUgraphNodeType> expect_good(CUstream stream) {
        EXPECT_EQ(status(stream), CU_STREAM_CAPTURE_STATUS_ACTIVE);
        CUgraph graph = nullptr;
        EXPECT_TRUE(succeeds(end(stream, graph)));
        std::size_t count = 0;
        EXPECT_TRUE(succeeds(CU(cuGraphGetNodes)(graph, nullptr, &count)));
        std::vector<CUgraphNode> nodes(count);
        EXPECT_TRUE(succeeds(CU(cuGraphGetNodes)(graph, nodes.data(), &count)));
        std::vector<CUgraphNodeType> types(count);
        for (std::size_t index = 0; index < count; ++index) {
            EXPECT_TRUE(succeeds(CU(cuGraphNodeGetType)(nodes[index], &types[index])));
        }
        EXPECT_TRUE(succeeds(CU(cuGraphDestroy)(graph)));
        EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuGraphDestroy)(graph)));
        return types;
    }

    CUstream stream_ = nullptr;
    CUstream other_ = nullptr;
    CUevent event_ = nullptr;
    CUdeviceptr memory_ = 0;
    std::vector<CUstream> streams_;
};

TEST_F(Captures, captured_work_does_not_run_and_becomes_nodes) {
    ASSERT_TRUE(succeeds(CU(cuMemsetD8)(memory_, 9, 64)));
    ASSERT_TRUE(succeeds(CU(cuCtxSynchronize)()));
    CUmodule module = nullptr;
    CUfunction touch = nullptr;
    ASSERT_TRUE(succeeds(CU(cuModuleLoadData)(&module, COUNTER_PTX)));
    ASSERT_TRUE(succeeds(CU(cuModuleGetFunction)(&touch, module, "touch")));
    begin(stream_);
    unsigned char host[64] = {};
    bool was_called = false;
    void* arguments[] = {&memory_};
    ASSERT_TRUE(
        succeeds(CU(cuLaunchKernel)(touch, 1, 1, 1, 1, 1, 1, 0, stream_, arguments, nullptr)));
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoHAsync)(host, memory_, 64, stream_)));
    ASSERT_TRUE(succeeds(CU(cuLaunchHostFunc)(
        stream_, [](void* flag) { *static_cast<bool*>(flag) = true; }, &was_called)));
    ASSERT_TRUE(succeeds(CU(cuStreamWriteValue32)(stream_, memory_, 1, 0)));
    EXPECT_EQ(expect_good(stream_),
              (std::vector{CU_GRAPH_NODE_TYPE_MEMSET, CU_GRAPH_NODE_TYPE_KERNEL,
                           CU_GRAPH_NODE_TYPE_MEMCPY, CU_GRAPH_NODE_TYPE_HOST,
                           CU_GRAPH_NODE_TYPE_BATCH_MEM_OP}));
    ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(stream_)));
    EXPECT_FALSE(was_called);
    EXPECT_EQ(host[0], 0);
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoH)(host, memory_, 64)));
    EXPECT_EQ(host[0], 9);
    EXPECT_TRUE(succeeds(CU(cuModuleUnload)(module)));
}

TEST_F(Captures, beginning_and_ending_are_checked) {
    CUgraph graph = nullptr;
    EXPECT_TRUE(returns(CUDA_ERROR_ILLEGAL_STATE, end(stream_, graph)));
    EXPECT_TRUE(returns(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                        CU(cuStreamBeginCapture)(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL)));
    EXPECT_TRUE(returns(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                        CU(cuStreamBeginCapture)(CU_STREAM_LEGACY, CU_STREAM_CAPTURE_MODE_GLOBAL)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuStreamBeginCapture)(stream_, static_cast<CUstreamCaptureMode>(7))));
    begin(stream_);
    EXPECT_TRUE(returns(CUDA_ERROR_ILLEGAL_STATE,
                        CU(cuStreamBeginCapture)(stream_, CU_STREAM_CAPTURE_MODE_GLOBAL)));
    EXPECT_EQ(expect_good(stream_).size(), 1U);
    // The calling thread's own default stream can be captured.
    begin(CU_STREAM_PER_THREAD);
    EXPECT_EQ(expect_good(CU_STREAM_PER_THREAD).size(), 1U);
}

TEST_F(Captures, waiting_for_or_asking_a_capturing_stream_invalidates) {
    begin(stream_);
    EXPECT_TRUE(returns(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, CU(cuStreamSynchronize)(stream_)));
    EXPECT_TRUE(returns(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, work(stream_)));
    EXPECT_TRUE(returns(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, record(stream_)));
    EXPECT_TRUE(returns(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, wait(stream_)));
    expect_invalidated(stream_);
    begin(stream_);
    EXPECT_TRUE(returns(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, CU(cuStreamQuery)(stream_)));
    expect_invalidated(stream_);
    for (const auto mode : {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_RELAXED}) {
        begin(stream_, mode);
        EXPECT_TRUE(returns(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, CU(cuCtxSynchronize)()));
        expect_invalidated(stream_);
    }
}

TEST_F(Captures, callbacks_are_refused_where_host_functions_are_taken) {
    begin(stream_);
    ASSERT_TRUE(succeeds(CU(cuLaunchHostFunc)(stream_, [](void*) {}, nullptr)));
    EXPECT_TRUE(
        returns(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                CU(cuStreamAddCallback)(stream_, [](CUstream, CUresult, void*) {}, nullptr, 0)));
    expect_invalidated(stream_);
}

TEST_F(Captures, an_event_recorded_inside_cannot_be_asked) {
    begin(stream_);
    ASSERT_TRUE(succeeds(record(stream_)));
    EXPECT_TRUE(returns(CUDA_ERROR_CAPTURED_EVENT, CU(cuEventQuery)(event_)));
    expect_invalidated(stream_);
    begin(stream_);
    ASSERT_TRUE(succeeds(record(stream_)));
    EXPECT_TRUE(returns(CUDA_ERROR_CAPTURED_EVENT, CU(cuEventSynchronize)(event_)));
    expect_invalidated(stream_);
    begin(stream_);
    ASSERT_TRUE(succeeds(record(stream_)));
    EXPECT_EQ(expect_good(stream_).size(), 1U);
    // After the capture, the event is invalid until it is recorded again.
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuEventQuery)(event_)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuEventSynchronize)(event_)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, wait(other_)));
    ASSERT_TRUE(succeeds(record(stream_)));
    EXPECT_TRUE(succeeds(CU(cuEventSynchronize)(event_)));
}

TEST_F(Captures, a_fork_must_be_joined) {
    begin(stream_);
    ASSERT_TRUE(succeeds(record(stream_)));
    ASSERT_TRUE(succeeds(wait(other_)));
    EXPECT_EQ(status(other_), CU_STREAM_CAPTURE_STATUS_ACTIVE);
    ASSERT_TRUE(succeeds(work(other_)));
    CUgraph graph = nullptr;
    EXPECT_TRUE(returns(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, end(stream_, graph)));
    EXPECT_EQ(status(stream_), CU_STREAM_CAPTURE_STATUS_NONE);
    EXPECT_EQ(status(other_), CU_STREAM_CAPTURE_STATUS_NONE);
    EXPECT_TRUE(succeeds(work(other_))) << "it is an ordinary stream again";

    begin(stream_);
    ASSERT_TRUE(succeeds(record(stream_)));
    ASSERT_TRUE(succeeds(wait(other_)));
    ASSERT_TRUE(succeeds(work(other_)));
    ASSERT_TRUE(succeeds(record(other_)));
    ASSERT_TRUE(succeeds(work(stream_)));
    ASSERT_TRUE(succeeds(wait(stream_)));
    EXPECT_EQ(expect_good(stream_).size(), 3U);
    EXPECT_EQ(status(other_), CU_STREAM_CAPTURE_STATUS_NONE);

    begin(stream_);
    ASSERT_TRUE(succeeds(record(stream_)));
    ASSERT_TRUE(succeeds(wait(other_)));
    EXPECT_EQ(expect_good(stream_).size(), 1U) << "nothing was done there, nothing is to join";
}

TEST_F(Captures, a_capture_ends_where_it_began) {
    begin(stream_);
    ASSERT_TRUE(succeeds(record(stream_)));
    ASSERT_TRUE(succeeds(wait(other_)));
    CUgraph graph = nullptr;
    EXPECT_TRUE(returns(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, end(other_, graph)));
    EXPECT_EQ(status(other_), CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    expect_invalidated(stream_);
    EXPECT_EQ(status(other_), CU_STREAM_CAPTURE_STATUS_NONE);
}

TEST_F(Captures, a_capture_ends_on_its_thread_unless_it_is_relaxed) {
    CUgraph graph = nullptr;
    const auto end_elsewhere = [&] {
        CUresult result = CUDA_SUCCESS;
        std::thread([&] {
            CU(cuCtxSetCurrent)(context_);
            result = end(stream_, graph);
        }).join();
        return result;
    };
    begin(stream_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    EXPECT_TRUE(returns(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, end_elsewhere()));
    EXPECT_EQ(status(stream_), CU_STREAM_CAPTURE_STATUS_NONE) << "it is over all the same";
    begin(stream_, CU_STREAM_CAPTURE_MODE_RELAXED);
    ASSERT_TRUE(succeeds(end_elsewhere()));
    EXPECT_TRUE(succeeds(CU(cuGraphDestroy)(graph)));
}

TEST_F(Captures, dependencies_do_not_cross_the_boundary_nor_join_captures) {
    ASSERT_TRUE(succeeds(record(other_)));
    begin(stream_);
    EXPECT_TRUE(returns(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, wait(stream_)));
    expect_invalidated(stream_);
    begin(stream_);
    begin(other_);
    ASSERT_TRUE(succeeds(record(other_)));
    EXPECT_TRUE(returns(CUDA_ERROR_STREAM_CAPTURE_MERGE, wait(stream_)));
    expect_invalidated(stream_);
    expect_invalidated(other_);
}

TEST_F(Captures, calls_outside_streams_are_refused_as_the_modes_say) {
    CUdeviceptr memory = 0;
    begin(stream_);
    EXPECT_TRUE(returns(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, CU(cuMemAlloc)(&memory, 64)));
    expect_invalidated(stream_);
    begin(stream_, CU_STREAM_CAPTURE_MODE_RELAXED);
    EXPECT_TRUE(succeeds(CU(cuMemAlloc)(&memory, 64)));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(memory)));
    EXPECT_EQ(expect_good(stream_).size(), 1U);
    // The thread can switch to another capture mode.
    begin(stream_);
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    ASSERT_TRUE(succeeds(CU(cuThreadExchangeStreamCaptureMode)(&mode)));
    EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
    EXPECT_TRUE(succeeds(CU(cuMemAlloc)(&memory, 64)));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(memory)));
    ASSERT_TRUE(succeeds(CU(cuThreadExchangeStreamCaptureMode)(&mode)));
    EXPECT_EQ(expect_good(stream_).size(), 1U);
    // A global capture affects other threads; a thread-local one does not.
    const auto allocate_elsewhere = [&] {
        CUresult result = CUDA_SUCCESS;
        std::thread([&] {
            CU(cuCtxSetCurrent)(context_);
            result = CU(cuMemAlloc)(&memory, 64);
        }).join();
        return result;
    };
    begin(stream_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    EXPECT_TRUE(succeeds(allocate_elsewhere()));
    EXPECT_EQ(expect_good(stream_).size(), 1U);
    EXPECT_TRUE(succeeds(CU(cuMemFree)(memory)));
    begin(stream_);
    EXPECT_TRUE(returns(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, allocate_elsewhere()));
    expect_invalidated(stream_);
}

TEST_F(Captures, the_legacy_stream_is_unusable_while_a_blocking_stream_captures) {
    const CUstream blocking = make_stream(CU_STREAM_DEFAULT);
    unsigned char byte = 0;
    begin(stream_);
    EXPECT_TRUE(succeeds(work(nullptr))) << "a non-blocking stream does not matter";
    EXPECT_TRUE(succeeds(CU(cuMemcpyDtoH)(&byte, memory_, 1)));
    EXPECT_EQ(expect_good(stream_).size(), 1U);
    begin(blocking);
    CUstreamCaptureStatus unused{};
    EXPECT_TRUE(
        returns(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, CU(cuStreamIsCapturing)(nullptr, &unused)));
    EXPECT_EQ(status(blocking), CU_STREAM_CAPTURE_STATUS_ACTIVE) << "asking does no harm";
    EXPECT_TRUE(returns(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, work(nullptr)));
    expect_invalidated(blocking);
    begin(blocking, CU_STREAM_CAPTURE_MODE_RELAXED);
    EXPECT_TRUE(returns(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, CU(cuMemcpyDtoH)(&byte, memory_, 1)));
    expect_invalidated(blocking);
}

TEST_F(Captures, what_is_captured_can_be_looked_at) {
    begin(stream_);
    CUstreamCaptureStatus status{};
    cuuint64_t id = 0;
    CUgraph graph = nullptr;
    const CUgraphNode* dependencies = nullptr;
    std::size_t count = 0;
    ASSERT_TRUE(succeeds(
        CU(cuStreamGetCaptureInfo)(stream_, &status, &id, &graph, &dependencies, nullptr, &count)));
    EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    EXPECT_NE(id, 0U);
    ASSERT_EQ(count, 1U);
    CUgraphNode first = dependencies[0];
    std::size_t nodes = 0;
    ASSERT_TRUE(succeeds(CU(cuGraphGetNodes)(graph, nullptr, &nodes)));
    EXPECT_EQ(nodes, 1U);
    ASSERT_TRUE(succeeds(work(stream_)));
    ASSERT_TRUE(succeeds(CU(cuStreamUpdateCaptureDependencies)(
        stream_, &first, nullptr, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES)));
    ASSERT_TRUE(succeeds(CU(cuStreamGetCaptureInfo)(stream_, &status, &id, nullptr, &dependencies,
                                                    nullptr, &count)));
    ASSERT_EQ(count, 1U);
    EXPECT_EQ(dependencies[0], first);
    EXPECT_EQ(expect_good(stream_).size(), 2U);
    ASSERT_TRUE(succeeds(
        CU(cuStreamGetCaptureInfo)(stream_, &status, nullptr, nullptr, nullptr, nullptr, nullptr)));
    EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_NONE);
}

TEST_F(Captures, a_capture_can_add_to_a_graph) {
    CUgraph graph = nullptr;
    CUgraph ended = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphCreate)(&graph, 0)));
    for (int round = 0; round < 2; ++round) {
        ASSERT_TRUE(succeeds(CU(cuStreamBeginCaptureToGraph)(stream_, graph, nullptr, nullptr, 0,
                                                             CU_STREAM_CAPTURE_MODE_GLOBAL)));
        ASSERT_TRUE(succeeds(work(stream_)));
        ASSERT_TRUE(succeeds(end(stream_, ended)));
        EXPECT_EQ(ended, graph);
    }
    std::size_t nodes = 0;
    ASSERT_TRUE(succeeds(CU(cuGraphGetNodes)(graph, nullptr, &nodes)));
    EXPECT_EQ(nodes, 2U);
    EXPECT_TRUE(succeeds(CU(cuGraphDestroy)(graph)));
}

// As an H200 with driver 580 does.
TEST_F(Captures, a_capture_can_end_without_a_place_for_the_graph) {
    CUgraph graph = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphCreate)(&graph, 0)));
    ASSERT_TRUE(succeeds(CU(cuStreamBeginCaptureToGraph)(stream_, graph, nullptr, nullptr, 0,
                                                         CU_STREAM_CAPTURE_MODE_GLOBAL)));
    ASSERT_TRUE(succeeds(work(stream_)));
    EXPECT_TRUE(succeeds(CU(cuStreamEndCapture)(stream_, nullptr)));
    std::size_t nodes = 0;
    ASSERT_TRUE(succeeds(CU(cuGraphGetNodes)(graph, nullptr, &nodes)));
    EXPECT_EQ(nodes, 1U) << "the graph of the program is kept";
    EXPECT_TRUE(succeeds(CU(cuGraphDestroy)(graph)));
    begin(stream_);
    ASSERT_TRUE(succeeds(work(stream_)));
    EXPECT_TRUE(succeeds(CU(cuStreamEndCapture)(stream_, nullptr)));
    EXPECT_TRUE(returns(CUDA_ERROR_ILLEGAL_STATE, CU(cuStreamEndCapture)(stream_, nullptr)));
    EXPECT_TRUE(succeeds(CU(cuStreamSynchronize)(stream_))) << "the stream does not capture";
}

TEST_F(Captures, a_stream_or_a_context_that_goes_takes_its_capture_along) {
    CUstream doomed = nullptr;
    CUdeviceptr memory = 0;
    ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&doomed, CU_STREAM_NON_BLOCKING)));
    begin(doomed);
    ASSERT_TRUE(succeeds(CU(cuStreamDestroy)(doomed)));
    EXPECT_TRUE(succeeds(CU(cuMemAlloc)(&memory, 64))) << "no capture is left";
    EXPECT_TRUE(succeeds(CU(cuMemFree)(memory)));
    // A forked stream may be destroyed; its captured work stays.
    CUstream fork = nullptr;
    ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&fork, CU_STREAM_NON_BLOCKING)));
    begin(stream_);
    ASSERT_TRUE(succeeds(record(stream_)));
    ASSERT_TRUE(succeeds(wait(fork)));
    ASSERT_TRUE(succeeds(CU(cuStreamDestroy)(fork)));
    EXPECT_EQ(expect_good(stream_).size(), 1U);
    CUcontext context = nullptr;
    ASSERT_TRUE(succeeds(CU(cuCtxCreate)(&context, nullptr, 0, 0)));
    ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&doomed, CU_STREAM_NON_BLOCKING)));
    ASSERT_TRUE(succeeds(CU(cuStreamBeginCapture)(doomed, CU_STREAM_CAPTURE_MODE_GLOBAL)));
    ASSERT_TRUE(succeeds(CU(cuCtxDestroy)(context)));
    ASSERT_TRUE(succeeds(CU(cuCtxSetCurrent)(context_)));
    EXPECT_TRUE(succeeds(CU(cuMemAlloc)(&memory, 64)));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(memory)));
}
