// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Everything that a program can pass wrongly, and what the error says. The graph stays usable.

#include "graph/graph_test.hpp"
#include "support/every_failure.hpp"

namespace cuprum {
namespace {

using testing::expect_error;
using testing::GraphTest;
using BadGraphs = GraphTest;

TEST_F(BadGraphs, a_cycle_is_named) {
    const Buffer x = numbers(1);
    const GraphDefinition graph;
    const auto a = graph.launch(config(), kernel("add"), x, 1, COUNT);
    const auto b = a.launch(config(), kernel("scale"), x, 2, COUNT);
    graph.add_edge(b, a);
    expect_error<std::invalid_argument>(
        [&] { static_cast<void>(graph.instantiate()); },
        {"the graph has a cycle", "kernel node \"add\"", "kernel node \"scale\"", " -> "});
    graph.remove_edge(b, a);
    run(graph);
    EXPECT_EQ(value_of(x), 4);
}

TEST_F(BadGraphs, nodes_of_another_graph_are_refused) {
    const GraphDefinition graph;
    const GraphDefinition other;
    const EmptyNode own = graph.empty();
    const EmptyNode foreign = other.empty();
    const std::vector<GraphNode> nodes{foreign};
    for (const auto& action : std::vector<std::function<void()>>{
             [&] { static_cast<void>(graph.after(foreign)); },
             [&] { own.join(foreign); },
             [&] { graph.add_edge(own, foreign); },
             [&] { own.add_predecessors(nodes); },
         }) {
        expect_error<std::invalid_argument>(action, {"empty node (0x", "belongs to graph 0x"});
    }
    EXPECT_EQ(graph.nodes().size(), 1U);
}

TEST_F(BadGraphs, edges_that_make_no_sense_are_named) {
    const GraphDefinition graph;
    const EmptyNode a = graph.empty();
    const EmptyNode b = a.empty();
    expect_error<std::invalid_argument>([&] { graph.add_edge(a, b); },
                                        {"empty node", "in the graph already"});
    expect_error<std::invalid_argument>([&] { graph.remove_edge(b, a); }, {"there is no edge"});
    expect_error<std::invalid_argument>([&] { graph.add_edge(a, a); }, {"with itself"});
    EXPECT_EQ(graph.edges().size(), 1U);
}

TEST_F(BadGraphs, memory_is_freed_once) {
    const GraphDefinition graph;
    const AllocNode memory = graph.allocate(16);
    const FreeNode freed = memory.deallocate(memory);
    expect_error<std::invalid_argument>([&] { freed.deallocate(memory.dptr()); },
                                        {"dptr is 0x", "free node", "frees already"});
    const Buffer x = numbers(0);
    expect_error<std::invalid_argument>([&] { graph.deallocate(x.handle()); },
                                        {"no allocation node made"});
    expect_error<std::invalid_argument>([&] { graph.allocate(0); }, {"size is 0"});
    expect_error<std::invalid_argument>([&] { graph.allocate(static_cast<std::size_t>(-4)); },
                                        {"size is -4 bytes"});
}

TEST_F(BadGraphs, kernels_and_arguments_are_checked) {
    const Buffer x = numbers(1);
    const GraphDefinition graph;
    expect_error<std::invalid_argument>([&] { graph.launch(config(), kernel("add"), x); },
                                        {"takes 3 arguments, 1 given"});
    expect_error<std::invalid_argument>(
        [&] { graph.launch(config(), kernel("add"), x, 1.5F, COUNT); },
        {"argument 1", "floating-point number 1.5"});
    Kernel closed = kernel("add");
    closed.close();
    EXPECT_THROW(graph.launch(config(), closed, x, 1, COUNT), ClosedError);
    Buffer gone = numbers(1);
    gone.close();
    EXPECT_THROW(graph.launch(config(), kernel("add"), gone, 1, COUNT), ClosedError);
    EXPECT_THROW(graph.memset(gone, std::uint8_t{1}, 1), ClosedError);
    LaunchConfig with_event = config();
    with_event.launch_completion_event = device().create_event();
    expect_error<std::invalid_argument>([&] { graph.launch(with_event, kernel("nothing")); },
                                        {"launch_completion_event", "launches on streams"});
    LaunchConfig with_priority = config();
    with_priority.priority = 1000;
    expect_error<std::invalid_argument>([&] { graph.launch(with_priority, kernel("nothing")); },
                                        {"LaunchConfig priority is 1000"});
    EXPECT_TRUE(graph.nodes().empty());
}

TEST_F(BadGraphs, copies_are_checked) {
    const Buffer x = numbers(1);
    const Buffer small = x.slice(0, 16);
    const GraphDefinition graph;
    expect_error<std::invalid_argument>([&] { graph.memcpy(small, x, 17); },
                                        {"the destination takes 17 bytes", "has 16"});
    expect_error<std::invalid_argument>([&] { graph.memcpy(x, small); },
                                        {"256 bytes", "16", "name the size"});
    expect_error<std::invalid_argument>([&] { graph.memcpy(x, small, 0); }, {"size is 0"});
    expect_error<std::invalid_argument>([&] { graph.memcpy(CUdeviceptr{0}, x, 4); },
                                        {"the destination is a null pointer"});
    expect_error<std::invalid_argument>(
        [&] { graph.memcpy({.dst = x, .src = small, .extent = {.width = 8, .height = 3}}); },
        {"the source takes 24 bytes", "has 16"});
    expect_error<std::invalid_argument>(
        [&] {
            graph.memcpy({.dst = x,
                          .dst_place = {.pitch = 4},
                          .src = x,
                          .extent = {.width = 8, .height = 2}});
        },
        {"the destination has a pitch of 4 bytes", "8"});
    expect_error<std::invalid_argument>(
        [&] { graph.memcpy({.dst = x, .src = small, .extent = {.width = 8, .height = 0}}); },
        {"expected something to copy"});
    EXPECT_TRUE(graph.nodes().empty());
}

TEST_F(BadGraphs, fills_are_checked) {
    const Buffer x = numbers(1);
    const GraphDefinition graph;
    expect_error<std::invalid_argument>([&] { graph.memset(x, std::uint8_t{1}, BYTES + 1); },
                                        {"the fill takes 257 bytes", "has 256"});
    expect_error<std::invalid_argument>([&] { graph.memset(x, std::uint8_t{1}, 0); },
                                        {"width is 0"});
    expect_error<std::invalid_argument>(
        [&] { graph.memset({.dst = x, .element_size = 3, .width = 1}); }, {"element_size is 3"});
    expect_error<std::invalid_argument>([&] { graph.memset({.dst = x, .value = 256, .width = 1}); },
                                        {"value is 256", "1 byte"});
    expect_error<std::invalid_argument>([&] { graph.memset(x.slice(2, 4), std::uint32_t{1}, 1); },
                                        {"multiple", "4 bytes"});
    expect_error<std::invalid_argument>([&] { graph.memset(x, std::uint32_t{1}, 4, 2, 8); },
                                        {"pitch is 8", "row of 16"});
    EXPECT_TRUE(graph.nodes().empty());
}

TEST_F(BadGraphs, empty_functions_closed_events_and_self_embedding_are_refused) {
    const GraphDefinition graph;
    expect_error<std::invalid_argument>([&] { graph.callback(std::function<void()>()); },
                                        {"function is empty"});
    expect_error<std::invalid_argument>([&] { graph.callback(HostFunctionParameters{}); },
                                        {"function is null"});
    Event event = device().create_event();
    event.close();
    EXPECT_THROW(graph.record(event), ClosedError);
    EXPECT_THROW(graph.wait(event), ClosedError);
    expect_error<std::invalid_argument>([&] { graph.embed(graph); }, {"itself", "clone"});
    EXPECT_THROW(static_cast<void>(graph.node_from_handle(nullptr)), std::invalid_argument);
    EXPECT_TRUE(graph.nodes().empty());
}

TEST_F(BadGraphs, a_closed_definition_says_so) {
    GraphDefinition graph;
    const EmptyNode node = graph.empty();
    GraphDefinition copy = graph;
    graph.close();
    EXPECT_TRUE(graph.is_closed());
    EXPECT_EQ(to_string(graph), "<GraphDefinition closed>");
    expect_error<ClosedError>([&] { graph.empty(); }, {"GraphDefinition was closed"});
    EXPECT_THROW(static_cast<void>(graph.nodes()), ClosedError);
    EXPECT_THROW(static_cast<void>(graph.instantiate()), ClosedError);
    EXPECT_THROW(static_cast<void>(copy.instantiate().update(graph)), ClosedError);
    EXPECT_EQ(copy.nodes().size(), 1U);
    copy.close();
    EXPECT_TRUE(node.is_valid()) << "the node shares the graph";
}

TEST_F(BadGraphs, limits_of_the_kernel_are_named) {
    const GraphDefinition graph;
    try {
        graph.launch({.block = 4096}, kernel("nothing"));
        static_cast<void>(graph.instantiate());
        graph.instantiate().launch(stream());
        stream().sync();
        FAIL() << "nothing was thrown";
    } catch (const CUDAError& error) {
        EXPECT_EQ(error.code(), 1) << error.what(); // invalid value, wherever the driver says so
    }
}

// ---- every driver call fails once --------------------------------------------------------------

class GraphFailures : public GraphTest {};

TEST_F(GraphFailures, of_definitions) {
    const Kernel add = kernel("add");
    const Buffer x = numbers(0);
    const Buffer y = numbers(0);
    const Event event = device().create_event();
    stream().sync();
    testing::check_every_failure_on_driver([&] {
        const GraphDefinition graph;
        const KernelNode first = graph.launch(config(), add, x, 1, COUNT);
        const MemcpyNode copy = first.memcpy(y, x);
        const MemsetNode fill = graph.after(copy, first).memset(x, std::uint8_t{0}, BYTES);
        const HostCallbackNode callback = fill.callback([kept = x] {});
        const EventRecordNode record = callback.record(event);
        const EventWaitNode wait = record.wait(event);
        first.update_arguments(y, 2, COUNT);
        copy.update({.size = 4});
        fill.update({.dst = y});
        callback.update([kept = y] {});
        record.update(event);
        graph.add_edge(first, wait);
        graph.remove_edge(first, wait);
        static_cast<void>(graph.nodes());
        static_cast<void>(graph.edges());
        static_cast<void>(wait.predecessors());
        static_cast<void>(first.config());
        wait.destroy();
    });
}

TEST_F(GraphFailures, of_nested_graphs) {
    const Kernel add = kernel("add");
    const Buffer x = numbers(0);
    stream().sync();
    testing::check_every_failure_on_driver([&] {
        const GraphDefinition child;
        child.launch(config(), add, x, 1, COUNT);
        const GraphDefinition graph;
        const ChildGraphNode node = graph.embed(child);
        node.update(child);
        const GraphDefinition copy = graph.clone();
        static_cast<void>(copy.nodes().at(0).as<ChildGraphNode>().child_graph().nodes());
        node.destroy();
        const IfNode conditional = graph.if_then(graph.create_condition(1));
        conditional.then().launch(config(), add, x, 1, COUNT);
        const AllocNode memory = graph.allocate(16);
        memory.deallocate(memory);
    });
}

TEST_F(GraphFailures, of_executables) {
    const Kernel add = kernel("add");
    const Buffer x = numbers(0);
    const Buffer y = numbers(0);
    stream().sync();
    const Stream& queue = stream();
    testing::check_every_failure_on_driver([&] {
        const GraphDefinition graph;
        const KernelNode first = graph.launch(config(), add, x, 1, COUNT);
        const MemsetNode fill = first.memset(x, std::uint8_t{0}, BYTES);
        const Graph executable = graph.instantiate();
        executable[first].update(config(), add, y, 3, COUNT);
        executable[fill].update({.dst = y, .value = 1, .width = 4});
        executable[first].disable();
        static_cast<void>(executable[first].is_enabled());
        executable.upload(queue);
        executable.launch(queue);
        executable.update(graph);
        executable.launch(queue);
        queue.sync();
    });
}

} // namespace
} // namespace cuprum
