// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Parameters of nodes, read and written.

#include "graph/graph_test.hpp"

#include <cuda.h>

namespace cuprum {
namespace {

using testing::expect_error;
using testing::GraphTest;
using Nodes = GraphTest;

TEST_F(Nodes, a_kernel_node_tells_what_it_launches) {
    const Buffer x = numbers(1);
    const GraphDefinition graph;
    const LaunchConfig wanted{.grid = {2, 3, 4}, .block = {8, 2, 1}, .shmem_size = 256};
    const KernelNode node = graph.launch(wanted, kernel("add"), x, 42, COUNT);
    EXPECT_EQ(node.grid(), Dim3(2, 3, 4));
    EXPECT_EQ(node.block(), Dim3(8, 2, 1));
    EXPECT_EQ(node.shmem_size(), 256U);
    EXPECT_EQ(node.kernel(), kernel("add"));
    EXPECT_EQ(node.config(), wanted);
    EXPECT_EQ(node.argument<CUdeviceptr>(0), x.handle());
    EXPECT_EQ(node.argument<int>(1), 42);
    EXPECT_EQ(node.argument_bytes(2).size(), sizeof(int));
    expect_error<std::out_of_range>([&] { static_cast<void>(node.argument<int>(3)); },
                                    {"index is 3", "\"add\"", "3 parameters"});
    expect_error<std::invalid_argument>([&] { static_cast<void>(node.argument<double>(1)); },
                                        {"argument 1", "4 bytes", "8"});
}

TEST_F(Nodes, arguments_known_at_run_time_are_copied) {
    const Buffer x = numbers(1);
    const GraphDefinition graph;
    CUdeviceptr address = x.handle();
    int amount = 6;
    int count = COUNT;
    const std::vector<KernelArgument> arguments{{&address, 8}, {&amount, 4}, {&count, 4}};
    Tracked owner;
    graph.launch(config(), kernel("add"), std::span<const KernelArgument>(arguments),
                 std::move(owner.object));
    amount = 1000;
    EXPECT_TRUE(is_kept(owner.watch));
    run(graph);
    EXPECT_EQ(value_of(x), 7);
    const std::vector<KernelArgument> too_few{{&address, 8}};
    expect_error<std::invalid_argument>(
        [&] { graph.launch(config(), kernel("add"), std::span<const KernelArgument>(too_few)); },
        {"takes 3 arguments, 1 given"});
}

TEST_F(Nodes, a_kernel_node_takes_new_arguments_kernels_and_configurations) {
    const Buffer x = numbers(1);
    const GraphDefinition graph;
    const KernelNode node = graph.launch(config(), kernel("add"), x, 1, COUNT);
    node.update_arguments(x, 4, COUNT);
    run(graph);
    EXPECT_EQ(value_of(x), 5);
    node.update(config(), kernel("scale"), x, 3, COUNT);
    run(graph);
    EXPECT_EQ(value_of(x), 15);
    EXPECT_EQ(node.kernel().name(), "scale");
    node.update({.grid = 1, .block = 32}); // half of the elements
    EXPECT_EQ(node.argument<int>(1), 3) << "the arguments were lost";
    run(graph);
    const auto values = download<int>(x);
    EXPECT_EQ(values[0], 45);
    EXPECT_EQ(values[32], 15);
    const auto typed = kernel("add").as<void(int*, int, int)>();
    node.update(config(), typed, x, 1, COUNT);
    run(graph);
    EXPECT_EQ(download<int>(x)[0], 46);
}

TEST_F(Nodes, a_refused_update_changes_nothing) {
    const Buffer x = numbers(1);
    const GraphDefinition graph;
    const KernelNode node = graph.launch(config(), kernel("add"), x, 1, COUNT);
    expect_error<std::invalid_argument>([&] { node.update_arguments(x, 1); },
                                        {"takes 3 arguments, 2 given"});
    const Kernel other = kernel("scale");
    expect_error<std::invalid_argument>([&] { node.update_with(nullptr, &other, nullptr); },
                                        {"\"scale\"", "no arguments"});
    expect_error<std::invalid_argument>([&] { node.update({.grid = 0}); }, {"grid is (0, 1, 1)"});
    {
        const FaultInjection fault("cuGraphKernelNodeSetParams", 1, CUDA_ERROR_UNKNOWN);
        expect_error<CUDAError>([&] { node.update_arguments(x, 9, COUNT); },
                                {"cuGraphKernelNodeSetParams", "CUDA_ERROR_UNKNOWN", "\"add\""});
    }
    EXPECT_EQ(node.argument<int>(1), 1);
    EXPECT_EQ(node.config(), config());
    run(graph);
    EXPECT_EQ(value_of(x), 2);
}

TEST_F(Nodes, launch_attributes_are_set_read_changed_and_reset) {
    const Buffer x = numbers(1);
    const GraphDefinition graph;
    LaunchConfig cooperative = config();
    cooperative.is_cooperative = true;
    const KernelNode node = graph.launch(cooperative, kernel("add"), x, 1, COUNT);
    EXPECT_TRUE(node.config().is_cooperative);
    EXPECT_EQ(node.attribute(CU_LAUNCH_ATTRIBUTE_COOPERATIVE).value[0], std::byte{1});
    run(graph);
    EXPECT_EQ(value_of(x), 2);
    node.update(config());
    EXPECT_FALSE(node.config().is_cooperative);
    RawLaunchAttribute raw{.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE};
    raw.value[0] = std::byte{1};
    node.set_attribute(raw);
    EXPECT_TRUE(node.config().is_cooperative);
    const KernelNode twin = graph.launch(config(), kernel("nothing"));
    twin.copy_attributes_from(node);
    EXPECT_TRUE(twin.config().is_cooperative);
}

TEST_F(Nodes, clusters_of_blocks_run_in_graphs) {
    if (device().properties().get("cluster_launch", 0) == 0) {
        GTEST_SKIP() << "the device has no clusters";
    }
    const Buffer x = numbers(1);
    const GraphDefinition graph;
    LaunchConfig wanted{.grid = 1, .block = 32, .cluster = Dim3(2)};
    const KernelNode node = graph.launch(wanted, kernel("add"), x, 1, COUNT);
    EXPECT_EQ(node.grid(), Dim3(2)) << "the driver counts blocks";
    EXPECT_EQ(node.config().cluster, Dim3(2));
    EXPECT_EQ(node.config().grid, Dim3(1));
    run(graph);
    EXPECT_EQ(value_of(x), 2);
}

TEST_F(Nodes, a_copy_node_is_read_and_changed) {
    const Buffer x = numbers(1);
    const Buffer y = numbers(2);
    const Buffer z = numbers(0);
    const GraphDefinition graph;
    const MemcpyNode node = graph.memcpy(z, x, BYTES);
    EXPECT_EQ(node.dst(), z.handle());
    EXPECT_EQ(node.src(), x.handle());
    EXPECT_EQ(node.size(), BYTES);
    EXPECT_TRUE(node.is_one_dimensional());
    node.update({.src = y});
    EXPECT_EQ(node.src(), y.handle());
    EXPECT_EQ(node.dst(), z.handle());
    run(graph);
    EXPECT_EQ(value_of(z), 2);
    node.update({.dst = y, .src = x, .size = BYTES / 2});
    run(graph);
    EXPECT_EQ(download<int>(y)[0], 1);
    EXPECT_EQ(download<int>(y)[COUNT / 2], 2);
    expect_error<std::invalid_argument>([&] { node.update({.src = x, .size = BYTES + 1}); },
                                        {"the source takes 257 bytes", "has 256"});
    node.update(MemcpyRegionParameters{
        .dst = z, .dst_place = {.pitch = 8}, .src = x, .extent = {.width = 4, .height = 2}});
    EXPECT_FALSE(node.is_one_dimensional());
    expect_error<std::invalid_argument>([&] { node.update({.src = x}); },
                                        {"copy node", "2 rows", "MemcpyRegionParameters"});
}

TEST_F(Nodes, a_plain_number_fills_bytes) {
    const Buffer x = numbers(1);
    const GraphDefinition graph;
    const MemsetNode zero = graph.memset(x, 0, 8);
    EXPECT_EQ(zero.element_size(), 1U);
    EXPECT_EQ(zero.width(), 8U);
    const MemsetNode last = zero.memset(x.slice(8, 4), 255, 4);
    EXPECT_EQ(last.value(), 255U);
    run(graph);
    const auto values = download<int>(x);
    EXPECT_EQ(std::vector<int>(values.begin(), values.begin() + 4),
              (std::vector<int>{0, 0, -1, 1}));
    for (const int wrong : {-1, 256}) {
        expect_error<std::invalid_argument>(
            [&] { graph.memset(x, wrong, 4); },
            {"value is " + std::to_string(wrong), "0 to 255", "std::uint32_t"});
    }
    EXPECT_EQ(graph.nodes().size(), 2U);
}

TEST_F(Nodes, a_fill_node_is_read_and_changed) {
    const Buffer x = numbers(1);
    const GraphDefinition graph;
    const MemsetNode node = graph.memset(x, std::uint16_t{0x0102}, 16);
    EXPECT_EQ(node.dptr(), x.handle());
    EXPECT_EQ(node.value(), 0x0102U);
    EXPECT_EQ(node.element_size(), 2U);
    EXPECT_EQ(node.width(), 16U);
    EXPECT_EQ(node.height(), 1U);
    node.update({.value = 9, .element_size = 4, .width = COUNT});
    EXPECT_EQ(node.value(), 9U);
    run(graph);
    EXPECT_EQ(value_of(x), 9);
    const Buffer y = numbers(1);
    node.update({.dst = y, .value = 3, .width = 2, .height = 2, .pitch = 16});
    EXPECT_EQ(node.pitch(), 16U);
    run(graph);
    const auto values = download<int>(y);
    EXPECT_EQ(std::vector<int>(values.begin(), values.begin() + 7),
              (std::vector<int>{3, 3, 1, 1, 3, 3, 1}));
}

TEST_F(Nodes, a_callback_node_is_changed) {
    int first = 0;
    int second = 0;
    const GraphDefinition graph;
    const HostCallbackNode node = graph.callback([&] { ++first; });
    node.update([&] { ++second; });
    run(graph);
    EXPECT_EQ(first, 0);
    EXPECT_EQ(second, 1);
    Tracked owner;
    node.update({.function = [](void* data) { ++*static_cast<int*>(data); },
                 .user_data = &first,
                 .owner = owner.object});
    EXPECT_EQ(node.owner(), owner.object);
    run(graph);
    EXPECT_EQ(first, 1);
}

TEST_F(Nodes, event_nodes_return_and_change_their_event) {
    const Event first = device().create_event();
    const Event second = device().create_event();
    const GraphDefinition graph;
    const EventRecordNode record = graph.record(first);
    const EventWaitNode wait = graph.wait(first);
    EXPECT_EQ(record.event(), first);
    EXPECT_EQ(wait.event(), first);
    record.update(second);
    wait.update(second);
    EXPECT_EQ(record.event(), second);
    EXPECT_EQ(wait.event(), second);
}

TEST_F(Nodes, a_child_graph_is_replaced) {
    const Buffer x = numbers(1);
    const GraphDefinition first;
    first.launch(config(), kernel("add"), x, 1, COUNT);
    const GraphDefinition second;
    second.launch(config(), kernel("add"), x, 20, COUNT);
    const GraphDefinition graph;
    const ChildGraphNode node = graph.embed(first);
    const GraphNode old = node.child_graph().nodes().at(0);
    node.update(second);
    EXPECT_FALSE(old.is_valid());
    EXPECT_EQ(node.child_graph().nodes().at(0).as<KernelNode>().argument<int>(1), 20);
    run(graph);
    EXPECT_EQ(value_of(x), 21);
    expect_error<std::invalid_argument>([&] { node.update(graph); }, {"same graph", "clone"});
    expect_error<std::invalid_argument>([&] { node.update(node.child_graph()); }, {"same graph"});
}

TEST_F(Nodes, a_child_graph_can_be_edited_in_place) {
    const Buffer x = numbers(1);
    const GraphDefinition child;
    child.launch(config(), kernel("add"), x, 1, COUNT);
    const GraphDefinition graph;
    const ChildGraphNode node = graph.embed(child);
    const auto inner = node.child_graph().nodes().at(0).as<KernelNode>();
    inner.update_arguments(x, 5, COUNT);
    run(graph);
    EXPECT_EQ(value_of(x), 6);
    run(child);
    EXPECT_EQ(value_of(x), 7) << "the original changed, too";
}

} // namespace
} // namespace cuprum
