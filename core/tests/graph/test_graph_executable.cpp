// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Executable graphs: options, updates of all and of single nodes, switches.

#include "graph/graph_test.hpp"

namespace cuprum {
namespace {

using testing::expect_error;
using testing::GraphTest;
using Executable = GraphTest;

TEST_F(Executable, options_are_passed_to_the_driver) {
    const GraphDefinition graph;
    graph.launch(config(), kernel("nothing"));
    EXPECT_EQ(graph.instantiate().flags(), 0U);
    EXPECT_EQ(graph.instantiate({.auto_free_on_launch = true}).flags(), 1U);
    const auto prioritised = graph.instantiate({.use_node_priority = true}).flags();
    EXPECT_TRUE(prioritised == 8U || prioritised == 0U) << "some drivers do not report it";
    const Graph uploaded = graph.instantiate({.upload_stream = stream()});
    uploaded.launch(stream());
    uploaded.upload(stream());
    stream().sync();
    expect_error<std::invalid_argument>(
        [&] {
            static_cast<void>(
                graph.instantiate({.auto_free_on_launch = true, .device_launch = true}));
        },
        {"device_launch", "auto_free_on_launch"});
}

TEST_F(Executable, memory_that_stays_is_freed_before_the_next_launch_on_request) {
    const GraphDefinition graph;
    graph.allocate(BYTES); // never freed by the graph
    const Graph executable = graph.instantiate({.auto_free_on_launch = true});
    for (int i = 0; i < 3; ++i) {
        executable.launch(stream());
    }
    stream().sync();
}

TEST_F(Executable, memory_that_stays_becomes_a_buffer_of_the_graph_memory_resource) {
    const auto resource = GraphMemoryResource::of(device());
    const GraphDefinition graph;
    const AllocNode memory = graph.allocate(BYTES);
    memory.memset(memory, std::uint32_t{7}, COUNT);
    const Graph executable = graph.instantiate();
    executable.launch(stream());
    stream().sync();
    EXPECT_GE(resource->attribute(GraphMemoryAttribute::UsedMemCurrent), BYTES);
    {
        const Buffer buffer =
            Buffer::from_handle(memory.dptr(), memory.bytesize(), resource, stream());
        EXPECT_EQ(value_of(buffer), 7);
    } // frees the memory on the stream
    executable.launch(stream()); // allocates again, which the driver refuses if it is not freed
    static_cast<void>(Buffer::from_handle(memory.dptr(), memory.bytesize(), resource, stream()));
    stream().sync();
}

TEST_F(Executable, memory_that_is_not_freed_refuses_the_next_launch) {
    const GraphDefinition graph;
    const AllocNode memory = graph.allocate(BYTES);
    const Graph executable = graph.instantiate();
    executable.launch(stream());
    stream().sync();
    EXPECT_THROW(executable.launch(stream()), CUDAError);
    static_cast<void>(Buffer::from_handle(memory.dptr(), memory.bytesize(),
                                          GraphMemoryResource::of(device()), stream()));
    executable.launch(stream());
    static_cast<void>(Buffer::from_handle(memory.dptr(), memory.bytesize(),
                                          GraphMemoryResource::of(device()), stream()));
    stream().sync();
}

TEST_F(Executable, does_not_need_its_definition) {
    const Buffer x = numbers(1);
    std::optional<Graph> executable;
    {
        const GraphDefinition graph;
        graph.launch(config(), kernel("add"), x, 1, COUNT);
        executable = graph.instantiate();
    }
    executable->launch(stream());
    EXPECT_EQ(value_of(x), 2);
}

TEST_F(Executable, takes_over_a_definition_of_the_same_topology) {
    const Buffer x = numbers(1);
    const GraphDefinition graph;
    const KernelNode node = graph.launch(config(), kernel("add"), x, 1, COUNT);
    const Graph executable = graph.instantiate();
    node.update_arguments(x, 10, COUNT);
    executable.launch(stream());
    EXPECT_EQ(value_of(x), 2) << "an executable follows its definition only when it is updated";
    executable.update(graph);
    executable.launch(stream());
    EXPECT_EQ(value_of(x), 12);
    const GraphDefinition other;
    other.launch(config(), kernel("scale"), x, 2, COUNT);
    EXPECT_TRUE(executable.try_update(other));
    executable.launch(stream());
    EXPECT_EQ(value_of(x), 24);
}

TEST_F(Executable, says_why_it_does_not_take_over_a_definition) {
    const Buffer x = numbers(1);
    const GraphDefinition graph;
    graph.launch(config(), kernel("add"), x, 1, COUNT);
    const Graph executable = graph.instantiate();
    const GraphDefinition longer;
    longer.launch(config(), kernel("add"), x, 5, COUNT).empty();
    const GraphUpdateResult result = executable.try_update(longer);
    EXPECT_FALSE(result.is_updated);
    EXPECT_EQ(result.reason, GraphUpdateReason::TopologyChanged);
    EXPECT_NE(result.text.find("other nodes or edges"), std::string::npos) << result.text;
    const GraphDefinition different;
    const MemsetNode fill = different.memset(x, std::uint8_t{1}, 1);
    try {
        executable.update(different);
        FAIL() << "nothing was thrown";
    } catch (const GraphUpdateError& error) {
        EXPECT_EQ(error.result().reason, GraphUpdateReason::NodeTypeChanged);
        EXPECT_EQ(error.result().node, fill);
        EXPECT_NE(std::string(error.what()).find("fill node (0x"), std::string::npos)
            << error.what();
        EXPECT_NE(std::string(error.what()).find("Graph update failed"), std::string::npos);
    }
    executable.launch(stream());
    EXPECT_EQ(value_of(x), 2) << "a refused update changed the executable";
}

TEST_F(Executable, kernel_nodes_are_updated_alone) {
    const Buffer x = numbers(1);
    const GraphDefinition graph;
    const KernelNode node = graph.launch(config(), kernel("add"), x, 1, COUNT);
    const Graph executable = graph.instantiate();
    for (int amount = 2; amount <= 4; ++amount) {
        executable[node].update(config(), kernel("add"), x, amount, COUNT);
        executable.launch(stream());
    }
    EXPECT_EQ(value_of(x), 1 + 2 + 3 + 4);
    const auto typed = kernel("scale").as<void(int*, int, int)>();
    executable[node].update(config(), typed, x, 2, COUNT);
    executable.launch(stream());
    EXPECT_EQ(value_of(x), 20);
    EXPECT_EQ(node.argument<int>(1), 1) << "the definition changed, too";
    LaunchConfig cooperative = config();
    cooperative.is_cooperative = true;
    expect_error<std::invalid_argument>(
        [&] { executable[node].update(cooperative, kernel("add"), x, 1, COUNT); },
        {"launch attribute 2", "kernel node \"add\"", "definition"});
    executable.launch(stream());
    EXPECT_EQ(value_of(x), 40);
}

TEST_F(Executable, copies_and_fills_are_updated_alone) {
    const Buffer x = numbers(1);
    const Buffer y = numbers(2);
    const Buffer z = numbers(0);
    const GraphDefinition graph;
    const MemcpyNode copy = graph.memcpy(z, x);
    const MemsetNode fill = copy.memset(x, std::uint32_t{5}, COUNT);
    const Graph executable = graph.instantiate();
    executable[copy].update(z, y, BYTES);
    executable[fill].update({.dst = y, .value = 6, .element_size = 4, .width = COUNT});
    executable.launch(stream());
    EXPECT_EQ(value_of(z), 2);
    EXPECT_EQ(value_of(y), 6);
    EXPECT_EQ(value_of(x), 1);
}

TEST_F(Executable, events_callbacks_and_children_are_updated_alone) {
    const Buffer x = numbers(1);
    const Event first = device().create_event();
    const Event second = device().create_event();
    int calls = 0;
    const GraphDefinition child;
    child.launch(config(), kernel("add"), x, 1, COUNT);
    const GraphDefinition replacement;
    replacement.launch(config(), kernel("add"), x, 30, COUNT);
    const GraphDefinition graph;
    const ChildGraphNode nested = graph.embed(child);
    const EventRecordNode record = nested.record(first);
    const EventWaitNode wait = graph.wait(first);
    const HostCallbackNode callback = nested.callback([] {});
    const Graph executable = graph.instantiate();
    executable[nested].update(replacement);
    executable[record].update(second);
    executable[wait].update(second);
    executable[callback].update([&] { ++calls; });
    executable.launch(stream());
    EXPECT_EQ(value_of(x), 31);
    EXPECT_EQ(calls, 1);
    executable[callback].update(
        {.function = [](void* data) { *static_cast<int*>(data) += 10; }, .user_data = &calls});
    executable.launch(stream());
    stream().sync();
    EXPECT_EQ(calls, 11);
}

TEST_F(Executable, nodes_are_switched_off_and_on) {
    const Buffer x = numbers(1);
    const GraphDefinition graph;
    const KernelNode add = graph.launch(config(), kernel("add"), x, 1, COUNT);
    const MemsetNode fill = add.memset(x.slice(0, 4), std::uint32_t{100}, 1);
    const Graph executable = graph.instantiate();
    EXPECT_TRUE(executable[add].is_enabled());
    executable[add].disable();
    executable[fill].disable();
    EXPECT_FALSE(executable[add].is_enabled());
    executable.launch(stream());
    EXPECT_EQ(value_of(x), 1);
    executable[add].enable();
    executable.launch(stream());
    EXPECT_EQ(value_of(x), 2);
}

TEST_F(Executable, a_closed_graph_says_so) {
    const GraphDefinition graph;
    const KernelNode node = graph.launch(config(), kernel("nothing"));
    Graph executable = graph.instantiate();
    const Graph copy = executable;
    const auto view = executable[node];
    executable.close();
    executable.close(); // again does nothing
    EXPECT_TRUE(executable.is_closed());
    expect_error<ClosedError>([&] { executable.launch(stream()); }, {"Graph was closed"});
    EXPECT_THROW(executable.upload(stream()), ClosedError);
    EXPECT_THROW(executable.update(graph), ClosedError);
    EXPECT_THROW(static_cast<void>(executable[node]), ClosedError);
    EXPECT_THROW(static_cast<void>(executable.handle()), ClosedError);
    EXPECT_EQ(to_string(executable), "<Graph closed>");
    EXPECT_TRUE(view.is_enabled()) << "the other shares still work";
    copy.launch(stream());
    stream().sync();
}

TEST_F(Executable, a_launch_on_a_closed_stream_says_so) {
    const GraphDefinition graph;
    graph.empty();
    const Graph executable = graph.instantiate();
    Stream queue = device().create_stream();
    queue.close();
    expect_error<ClosedError>([&] { executable.launch(queue); }, {"Stream was closed"});
}

} // namespace
} // namespace cuprum
