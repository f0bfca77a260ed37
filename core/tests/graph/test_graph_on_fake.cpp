// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What happens to graphs and captures when the driver refuses a call, and under which locks the
// driver is called. The fake driver checks the locks at every call.

#include "graph/graph_state.hpp"
#include "support/expect_error.hpp"
#include "support/fake_libraries.hpp"

#include <cuprum/cuprum.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cuprum {
namespace {

using detail::Access;
using testing::expect_error;

class GraphOnFake : public testing::FakeLibrariesTest {
protected:
    GraphOnFake() {
        constexpr int many = std::numeric_limits<int>::max();
        libraries->device_attributes = {
            {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
            {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
            {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
            {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
            {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, many},
            {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, many},
            {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, many},
            {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 100000},
            {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 10},
            {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1},
            {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
        };
        libraries->kernel_attributes = {{CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 512}};
    }

    static Kernel kernel() {
        return ObjectCode::from_bytes(CodeType::Ptx, std::vector<std::byte>(1))
            .get_kernel("nothing");
    }
};

TEST_F(GraphOnFake, a_refused_node_gives_back_its_place) {
    const GraphDefinition graph;
    const detail::NodeTable& nodes = Access::state(graph)->nodes;
    const Kernel nothing = kernel();
    for (int i = 0; i < 100; ++i) {
        fake->fail("cuGraphAddEmptyNode", CUDA_ERROR_INVALID_VALUE);
        EXPECT_THROW(static_cast<void>(graph.empty()), CUDAError);
        fake->fail("cuGraphAddKernelNode", CUDA_ERROR_INVALID_VALUE);
        EXPECT_THROW(static_cast<void>(graph.launch({.grid = 1, .block = 1}, nothing)), CUDAError);
        fake->fail("cuGraphAddMemFreeNode", CUDA_ERROR_NOT_SUPPORTED);
        EXPECT_THROW(static_cast<void>(graph.deallocate(CUdeviceptr{64})), CUDAError);
        fake->fail("cuGraphAddNode", CUDA_ERROR_NOT_SUPPORTED);
        EXPECT_THROW(static_cast<void>(graph.if_then(graph.create_condition())), CUDAError);
        EXPECT_EQ(nodes.promised(), 0U);
    }
    EXPECT_EQ(graph.nodes().size(), 0U);
    const EmptyNode first = graph.empty();
    const EmptyNode second = graph.empty();
    EXPECT_NE(first, second);
    EXPECT_EQ(graph.nodes().size(), 2U);
    EXPECT_EQ(nodes.promised(), 0U);
}

TEST_F(GraphOnFake, a_handler_of_warnings_can_use_the_graph_to_which_a_node_was_not_added) {
    const GraphDefinition graph;
    static_cast<void>(graph.empty());
    const Kernel nothing = kernel();
    std::vector<std::size_t> seen;
    WarningHandler previous = set_warning_handler(
        [&](WarningKind /*kind*/, std::string_view) { seen.push_back(graph.nodes().size()); });
    fake->fail("cuGraphKernelNodeSetAttribute", CUDA_ERROR_INVALID_VALUE);
    fake->fail("cuGraphDestroyNode", CUDA_ERROR_UNKNOWN); // a warning
    const LaunchConfig config{.grid = 1, .block = 1, .is_cooperative = true};
    EXPECT_THROW(static_cast<void>(graph.launch(config, nothing)), CUDAError);
    set_warning_handler(std::move(previous));
    EXPECT_EQ(seen, std::vector<std::size_t>{1});
    EXPECT_EQ(Access::state(graph)->nodes.promised(), 0U);
}

TEST_F(GraphOnFake, a_handler_of_warnings_can_use_the_graph_whose_handle_is_asked_for) {
    const GraphDefinition graph;
    static_cast<void>(graph.empty());
    graph.keep_alive(std::make_shared<int>(1));
    graph.keep_alive(std::make_shared<int>(2));
    std::vector<std::size_t> seen;
    WarningHandler previous = set_warning_handler([&](WarningKind /*kind*/, std::string_view) {
        graph.keep_alive(std::make_shared<int>(3));
        seen.push_back(graph.nodes().size());
    });
    fake->fail("cuGraphRetainUserObject", CUDA_ERROR_INVALID_VALUE);
    fake->fail("cuUserObjectRelease", CUDA_ERROR_UNKNOWN); // a warning
    EXPECT_THROW(static_cast<void>(graph.handle()), CUDAError);
    EXPECT_EQ(seen, std::vector<std::size_t>{1});
    EXPECT_NE(graph.handle(), nullptr) << "the next caller tries again";
    set_warning_handler(std::move(previous));
    EXPECT_EQ(fake->live().user_objects, 1);
}

TEST_F(GraphOnFake, a_stream_that_ends_while_another_is_looked_up_ends_without_a_lock) {
    const Device device(0);
    const Stream asking = device.create_stream();
    const Buffer buffer = device.allocate(64, asking);
    std::optional<Stream> captured = device.create_stream();
    GraphBuilder builder = captured->create_graph_builder();
    builder.begin_building();
    captured.reset();
    static_cast<void>(asking.handle()); // others can capture it from now on
    int ended = 0;
    fake->on_call = [&](std::string_view function) {
        if (function == "cuStreamGetCaptureInfo" && ended++ == 0) {
            builder.close(); // with the last share of its stream
        }
    };
    buffer.fill(std::uint8_t{1}, asking);
    fake->on_call = nullptr;
    EXPECT_EQ(ended, 1);
    EXPECT_EQ(fake->live().streams, 1);
    EXPECT_EQ(detail::active_captures, 0U);
}

TEST_F(GraphOnFake, a_capture_whose_number_is_not_known_does_not_begin) {
    const Device device(0);
    GraphBuilder builder = device.create_graph_builder();
    fake->fail("cuStreamGetCaptureInfo", CUDA_ERROR_UNKNOWN);
    expect_error<CUDAError>([&] { builder.begin_building(); }, {"cuStreamGetCaptureInfo"});
    EXPECT_EQ(detail::active_captures, 0U);
    EXPECT_EQ(fake->live().graphs, 0);
    builder.begin_building();
    EXPECT_TRUE(builder.is_building());
    builder.end_building();
}

TEST_F(GraphOnFake, every_failure_of_an_executable_is_reported_without_a_lock) {
    testing::check_every_failure([](testing::FakeDriver& /*driver*/) {
        const Device device(0);
        const Stream own = device.create_stream();
        const Buffer buffer = device.allocate(64, own);
        const GraphDefinition graph;
        const MemsetNode node = graph.memset(buffer, std::uint8_t{1}, 64);
        const Graph executable = graph.instantiate();
        executable.upload(own);
        executable.launch(own);
        const Stream foreign = Stream::from_handle(own.handle());
        executable.launch(foreign);
        executable[node].update({.dst = buffer, .value = 2, .width = 64});
        executable.update(graph);
    });
}

} // namespace
} // namespace cuprum
