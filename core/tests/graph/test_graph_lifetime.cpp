// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What graphs keep alive, and until when: through definitions, clones, executables and launches.

#include "graph/graph_test.hpp"

#include <cuprum/detail/access.hpp>

#include <array>
#include <atomic>
#include <functional>
#include <thread>

namespace cuprum {
namespace {

using testing::GraphTest;

class Lifetime : public GraphTest {
protected:
    /// A node of each kind that keeps an object alive, which the weak share watches.
    struct Sample {
        const char* name;
        std::function<void(const GraphAppender&, std::shared_ptr<void>)> add;
    };

    [[nodiscard]] std::vector<Sample> samples() {
        return {
            {"kernel",
             [this](const GraphAppender& place, std::shared_ptr<void> owner) {
                 place.launch_with(config(), kernel("nothing"),
                                   {.owner = std::move(owner), .is_packed = true});
             }},
            {"copy destination",
             [this](const GraphAppender& place, std::shared_ptr<void> owner) {
                 place.memcpy({memory().handle(), std::move(owner)}, memory().handle() + 128, 4);
             }},
            {"copy source",
             [this](const GraphAppender& place, std::shared_ptr<void> owner) {
                 place.memcpy(memory().handle(), {memory().handle() + 128, std::move(owner)}, 4);
             }},
            {"fill",
             [this](const GraphAppender& place, std::shared_ptr<void> owner) {
                 place.memset({memory().handle(), std::move(owner)}, std::uint8_t{1}, 4);
             }},
            {"function",
             [](const GraphAppender& place, std::shared_ptr<void> owner) {
                 place.callback([kept = std::move(owner)] {});
             }},
            {"C function",
             [](const GraphAppender& place, std::shared_ptr<void> owner) {
                 place.callback({.function = [](void*) {}, .data_owner = std::move(owner)});
             }},
        };
    }

    void SetUp() override {
        GraphTest::SetUp();
        if (!IsSkipped()) {
            memory_ = numbers(0);
            stream().sync();
        }
    }

    void TearDown() override {
        memory_.reset();
        GraphTest::TearDown();
    }

    [[nodiscard]] const Buffer& memory() const { return *memory_; }

private:
    std::optional<Buffer> memory_;
};

TEST_F(Lifetime, a_definition_keeps_what_its_nodes_use) {
    for (const Sample& sample : samples()) {
        SCOPED_TRACE(sample.name);
        Tracked tracked;
        {
            const GraphDefinition graph;
            sample.add(graph, std::move(tracked.object));
            EXPECT_TRUE(is_kept(tracked.watch));
        }
        EXPECT_TRUE(is_released(tracked.watch));
    }
}

TEST_F(Lifetime, a_destroyed_node_gives_up_what_it_used) {
    for (const Sample& sample : samples()) {
        SCOPED_TRACE(sample.name);
        Tracked tracked;
        const GraphDefinition graph;
        sample.add(graph, std::move(tracked.object));
        graph.nodes().at(0).destroy();
        EXPECT_TRUE(is_released(tracked.watch));
    }
}

TEST_F(Lifetime, clones_executables_and_parents_keep_it_too) {
    for (const Sample& sample : samples()) {
        SCOPED_TRACE(sample.name);
        Tracked tracked;
        std::optional<GraphDefinition> clone;
        std::optional<GraphDefinition> parent;
        std::optional<Graph> executable;
        {
            const GraphDefinition graph;
            sample.add(graph, std::move(tracked.object));
            clone = graph.clone();
            parent.emplace();
            parent->embed(graph);
            executable = graph.instantiate();
        }
        EXPECT_TRUE(is_kept(tracked.watch));
        clone.reset();
        EXPECT_TRUE(is_kept(tracked.watch));
        parent.reset();
        EXPECT_TRUE(is_kept(tracked.watch));
        executable->launch(stream());
        EXPECT_TRUE(is_kept(tracked.watch));
        executable.reset();
        EXPECT_TRUE(is_released(tracked.watch));
    }
}

TEST_F(Lifetime, a_launch_in_flight_keeps_it_when_everything_is_dropped) {
    const auto pinned = LegacyPinnedMemoryResource::create();
    const Buffer flag = pinned->allocate(sizeof(int));
    *flag.data<volatile int>() = 0;
    for (const Sample& sample : samples()) {
        SCOPED_TRACE(sample.name);
        *flag.data<volatile int>() = 0;
        Tracked tracked;
        {
            const GraphDefinition graph;
            sample.add(graph.launch({}, kernel("wait_for"), flag), std::move(tracked.object));
            graph.instantiate().launch(stream());
        }
        EXPECT_TRUE(is_kept(tracked.watch));
        *flag.data<volatile int>() = 1;
        EXPECT_TRUE(is_released(tracked.watch));
    }
}

TEST_F(Lifetime, buffers_may_be_closed_before_the_graph_runs) {
    Buffer x = numbers(1);
    Buffer y = numbers(0);
    const Buffer seen = y.slice(0, BYTES);
    const GraphDefinition graph;
    graph.launch(config(), kernel("add"), x, 4, COUNT).memcpy(y, x);
    x.close();
    y.close();
    run(graph);
    EXPECT_EQ(value_of(seen), 5);
}

TEST_F(Lifetime, typed_buffers_may_be_closed_before_the_graph_runs) {
    TypedBuffer<int> x = device().allocate<int>(COUNT, stream());
    TypedBuffer<int> y = device().allocate<int>(COUNT, stream());
    const TypedBuffer<int> seen = y.slice(0, COUNT);
    stream().sync();
    const std::weak_ptr<void> watch = detail::Access::state(x.buffer());
    {
        const GraphDefinition graph;
        const auto typed = kernel("add").as<void(int*, int, int)>();
        graph.memset(x, 3)
            .launch(config(), kernel("add"), x, 4, COUNT)
            .launch(config(), typed, x, 5, COUNT)
            .memcpy(y, x);
        x.close();
        y.close();
        EXPECT_TRUE(is_kept(watch));
        run(graph);
        EXPECT_EQ(seen.to_vector(stream())[COUNT - 1], 12);
    }
    EXPECT_TRUE(is_released(watch));
}

TEST_F(Lifetime, kernels_stay_loaded) {
    const Buffer x = numbers(1);
    const GraphDefinition graph;
    {
        const ObjectCode code = compile("extern \"C\" __global__ void twice(int* x) { *x *= 2; }");
        graph.launch({}, code.get_kernel("twice"), x.slice(0, 4));
    }
    run(graph);
    EXPECT_EQ(download<int>(x)[0], 2);
}

TEST_F(Lifetime, events_stay_alive) {
    const GraphDefinition graph;
    {
        const Event event = device().create_event();
        graph.record(event).wait(event);
    }
    run(graph);
}

TEST_F(Lifetime, new_parameters_replace_what_is_kept) {
    Tracked first;
    Tracked second;
    const GraphDefinition graph;
    const MemsetNode node =
        graph.memset({memory().handle(), std::move(first.object)}, std::uint8_t{1}, 4);
    node.update({.dst = NodeMemory(memory().handle(), std::move(second.object))});
    EXPECT_TRUE(is_released(first.watch));
    EXPECT_TRUE(is_kept(second.watch));
    node.update({.value = 3});
    EXPECT_TRUE(is_kept(second.watch)) << "an unchanged operand was given up";
    node.update({.dst = memory()});
    EXPECT_TRUE(is_released(second.watch));
}

TEST_F(Lifetime, one_side_of_a_copy_can_be_replaced) {
    Tracked dst;
    Tracked src;
    const GraphDefinition graph;
    const MemcpyNode node = graph.memcpy({memory().handle(), std::move(dst.object)},
                                         {memory().handle() + 128, std::move(src.object)}, 4);
    node.update({.src = NodeMemory(memory().handle() + 64)});
    EXPECT_TRUE(is_kept(dst.watch));
    EXPECT_TRUE(is_released(src.watch));
}

TEST_F(Lifetime, a_refused_update_gives_up_the_new_and_keeps_the_old) {
    Tracked first;
    Tracked second;
    const GraphDefinition graph;
    const HostCallbackNode node =
        graph.callback({.function = [](void*) {}, .owner = std::move(first.object)});
    {
        const FaultInjection fault("cuGraphHostNodeSetParams", 1, 999);
        EXPECT_THROW(node.update({.function = [](void*) {}, .owner = std::move(second.object)}),
                     CUDAError);
    }
    EXPECT_TRUE(is_kept(first.watch));
    EXPECT_TRUE(is_released(second.watch));
}

TEST_F(Lifetime, an_executable_keeps_the_old_parameters_of_its_definition) {
    Tracked first;
    const GraphDefinition graph;
    const MemsetNode node =
        graph.memset({memory().handle(), std::move(first.object)}, std::uint8_t{1}, 4);
    const Graph executable = graph.instantiate();
    node.update({.dst = memory()});
    EXPECT_TRUE(is_kept(first.watch)) << "the executable still uses it";
    executable.update(graph);
    EXPECT_TRUE(is_released(first.watch));
}

TEST_F(Lifetime, an_executable_keeps_what_updates_of_single_nodes_bring) {
    Tracked tracked;
    const GraphDefinition graph;
    const MemsetNode node = graph.memset(memory(), std::uint8_t{1}, 4);
    {
        const Graph executable = graph.instantiate();
        executable[node].update(
            {.dst = {memory().handle(), std::move(tracked.object)}, .value = 2, .width = 4});
        EXPECT_TRUE(is_kept(tracked.watch));
        executable.launch(stream());
    }
    EXPECT_TRUE(is_released(tracked.watch));
}

TEST_F(Lifetime, an_update_of_the_whole_executable_gives_up_single_updates) {
    Tracked tracked;
    const GraphDefinition graph;
    const HostCallbackNode node = graph.callback([] {});
    const Graph executable = graph.instantiate();
    executable[node].update({.function = [](void*) {}, .owner = std::move(tracked.object)});
    executable.launch(stream());
    EXPECT_TRUE(is_kept(tracked.watch));
    executable.update(graph);
    EXPECT_TRUE(is_released(tracked.watch));
}

TEST_F(Lifetime, an_executable_keeps_what_a_new_child_graph_uses) {
    Tracked tracked;
    const GraphDefinition child;
    child.callback([] {});
    const GraphDefinition graph;
    const ChildGraphNode node = graph.embed(child);
    {
        const Graph executable = graph.instantiate();
        {
            const GraphDefinition replacement;
            replacement.callback({.function = [](void*) {}, .owner = std::move(tracked.object)});
            executable[node].update(replacement);
        }
        EXPECT_TRUE(is_kept(tracked.watch));
        executable.launch(stream());
        stream().sync();
    }
    EXPECT_TRUE(is_released(tracked.watch));
}

TEST_F(Lifetime, a_launch_in_flight_keeps_what_a_single_update_brought) {
    const auto pinned = LegacyPinnedMemoryResource::create();
    const Buffer flag = pinned->allocate(sizeof(int));
    *flag.data<volatile int>() = 0;
    Tracked tracked;
    {
        const GraphDefinition graph;
        const HostCallbackNode node = graph.launch({}, kernel("wait_for"), flag).callback([] {});
        const Graph executable = graph.instantiate();
        executable[node].update({.function = [](void*) {}, .owner = std::move(tracked.object)});
        executable.launch(stream());
    }
    EXPECT_TRUE(is_kept(tracked.watch));
    *flag.data<volatile int>() = 1;
    EXPECT_TRUE(is_released(tracked.watch));
}

TEST_F(Lifetime, updates_with_the_same_objects_do_not_pile_up) {
    const Buffer x = numbers(0);
    const Kernel add = kernel("add");
    const GraphDefinition graph;
    const KernelNode node = graph.launch(config(), add, x, 1, COUNT);
    const Graph executable = graph.instantiate();
    const std::size_t before = detail::Payload::live_count();
    for (int amount = 0; amount < 100; ++amount) {
        executable[node].update(config(), add, x, amount, COUNT);
    }
    EXPECT_EQ(detail::Payload::live_count(), before + 1);
}

TEST_F(Lifetime, what_many_updates_replaced_is_released_while_the_executable_lives) {
    constexpr int UPDATES = 1000;
    const GraphDefinition graph;
    const MemsetNode node = graph.memset(memory(), std::uint8_t{1}, 4);
    const Graph executable = graph.instantiate();
    const auto live = std::make_shared<int>(0); // the last owners go after the test
    int most = 0;
    const auto counted = [&] {
        ++*live;
        return std::shared_ptr<void>(nullptr, [live](void*) { --*live; });
    };
    for (int i = 0; i < UPDATES; ++i) {
        executable[node].update({.dst = {memory().handle(), counted()}, .value = 2, .width = 4});
        executable.launch(stream());
        stream().sync();
        most = std::max(most, *live);
    }
    EXPECT_LT(most, UPDATES / 4);
    // Others may launch it now, so that everything stays.
    static_cast<void>(executable.handle());
    const int before = *live;
    for (int i = 0; i < UPDATES; ++i) {
        executable[node].update({.dst = {memory().handle(), counted()}, .value = 2, .width = 4});
    }
    EXPECT_EQ(*live, before + UPDATES);
}

TEST_F(Lifetime, a_body_that_is_closed_while_it_builds_keeps_what_it_captured) {
    Tracked tracked;
    GraphBuilder builder = stream().create_graph_builder();
    builder.begin_building();
    GraphBuilder body = builder.if_then(builder.create_condition(1));
    body.begin_building();
    body.keep_alive(std::move(tracked.object));
    body.close();
    builder.end_building();
    EXPECT_TRUE(is_kept(tracked.watch)) << "the nodes stay in the body";
    builder.close();
    EXPECT_TRUE(is_released(tracked.watch));
}

TEST_F(Lifetime, a_capture_keeps_two_owners_of_one_address) {
    Tracked first;
    Tracked second;
    int address = 0;
    GraphBuilder builder = stream().create_graph_builder();
    builder.begin_building();
    builder.keep_alive(std::shared_ptr<void>(std::move(first.object), &address));
    builder.keep_alive(std::shared_ptr<void>(std::move(second.object), &address));
    builder.end_building();
    EXPECT_TRUE(is_kept(first.watch));
    EXPECT_TRUE(is_kept(second.watch));
}

TEST_F(Lifetime, updates_leave_a_capture_of_the_last_stream_alone) {
    constexpr int UPDATES = 1000;
    const GraphDefinition graph;
    const MemsetNode node = graph.memset(memory(), std::uint8_t{1}, 4);
    const Graph executable = graph.instantiate();
    executable.launch(stream());
    GraphBuilder builder = stream().create_graph_builder();
    builder.begin_building();
    for (int i = 0; i < UPDATES; ++i) {
        executable[node].update(
            {.dst = {memory().handle(), std::make_shared<int>(i)}, .value = 2, .width = 4});
    }
    EXPECT_NO_THROW(builder.end_building());
    EXPECT_TRUE(builder.graph_definition().nodes().empty());
}

TEST_F(Lifetime, what_updates_replaced_stays_while_a_launch_may_use_it) {
    const auto pinned = LegacyPinnedMemoryResource::create();
    const Buffer flag = pinned->allocate(sizeof(int));
    *flag.data<volatile int>() = 0;
    Tracked used;
    const GraphDefinition graph;
    const MemsetNode node =
        graph.launch({}, kernel("wait_for"), flag).memset(memory(), std::uint8_t{1}, 4);
    const Graph executable = graph.instantiate();
    executable[node].update(
        {.dst = {memory().handle(), std::move(used.object)}, .value = 2, .width = 4});
    executable.launch(stream()); // waits for the flag, then writes
    for (int i = 0; i < 500; ++i) {
        executable[node].update(
            {.dst = {memory().handle(), std::make_shared<int>(i)}, .value = 3, .width = 4});
    }
    EXPECT_FALSE(used.watch.expired());
    *flag.data<volatile int>() = 1;
    stream().sync();
    for (int i = 0; i < 5000; ++i) {
        executable[node].update(
            {.dst = {memory().handle(), std::make_shared<int>(i)}, .value = 3, .width = 4});
    }
    EXPECT_TRUE(is_released(used.watch));
}

TEST_F(Lifetime, an_object_can_be_kept_without_a_node) {
    Tracked tracked;
    std::optional<Graph> executable;
    {
        const GraphDefinition graph;
        graph.keep_alive(std::move(tracked.object));
        graph.empty();
        executable = graph.instantiate();
    }
    EXPECT_TRUE(is_kept(tracked.watch));
    executable.reset();
    EXPECT_TRUE(is_released(tracked.watch));
}

TEST_F(Lifetime, a_node_or_a_child_keeps_the_graph) {
    Tracked tracked;
    std::optional<GraphNode> node;
    std::optional<GraphDefinition> child;
    {
        const GraphDefinition inner;
        inner.empty();
        const GraphDefinition graph;
        graph.keep_alive(std::move(tracked.object));
        node = graph.empty();
        child = graph.embed(inner).child_graph();
    }
    EXPECT_TRUE(node->is_valid());
    EXPECT_EQ(node->graph().nodes().size(), 2U);
    node.reset();
    EXPECT_EQ(child->nodes().size(), 1U);
    EXPECT_TRUE(is_kept(tracked.watch));
    child.reset();
    EXPECT_TRUE(is_released(tracked.watch));
}

TEST_F(Lifetime, objects_of_raw_driver_copies_live_as_long) {
    Tracked tracked;
    CUgraph copy = nullptr;
    {
        const GraphDefinition graph;
        graph.callback({.function = [](void*) {}, .owner = std::move(tracked.object)});
        driver::call(driver::table().cuGraphClone, &copy, graph.handle());
    }
    EXPECT_TRUE(is_kept(tracked.watch));
    driver::call(driver::table().cuGraphDestroy, copy);
    EXPECT_TRUE(is_released(tracked.watch));
}

} // namespace
} // namespace cuprum
