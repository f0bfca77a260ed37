// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What GraphBuilder captures.

#include "driver/call.hpp"
#include "driver/capture.hpp"
#include "graph/capture_test.hpp"
#include "graph/payload.hpp"
#include "stream/active_captures.hpp"
#include "support/every_failure.hpp"
#include "support/expect_error.hpp"

#include <cuprum/cuprum.hpp>

#include <cuda.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace cuprum {

namespace {

class GraphBuilderTest : public testing::CaptureTest {
protected:
    /// Checks that nothing is left of captures when a test ends.
    void TearDown() override {
        EXPECT_EQ(detail::active_captures.load(), 0U);
        CaptureTest::TearDown();
    }

    static bool is_capturing(const Stream& queue) {
        return driver::capture_status(queue.handle()) != CU_STREAM_CAPTURE_STATUS_NONE;
    }
};

} // namespace

TEST_F(GraphBuilderTest, captures_in_order_and_runs_at_each_launch) {
    const Buffer value = counters({1});
    GraphBuilder builder = stream().create_graph_builder();
    EXPECT_EQ(builder.phase(), GraphBuilderPhase::NotStarted);
    EXPECT_FALSE(builder.is_building());
    builder.begin_building();
    EXPECT_TRUE(builder.is_building());
    EXPECT_EQ(builder.stream(), stream());
    add(builder, value, 2);
    multiply(builder, value, 10);
    EXPECT_EQ(&builder.end_building(), &builder);
    EXPECT_FALSE(builder.is_building());
    EXPECT_EQ(builder.phase(), GraphBuilderPhase::Ended);
    EXPECT_EQ(download<int>(value), (std::vector{1})) << "nothing ran during the capture";

    const Graph graph = builder.complete();
    run(graph);
    EXPECT_EQ(download<int>(value), (std::vector{30}));
    run(graph);
    EXPECT_EQ(download<int>(value), (std::vector{320}));

    const GraphDefinition definition = builder.graph_definition();
    ASSERT_EQ(definition.nodes().size(), 2U);
    ASSERT_EQ(definition.edges().size(), 1U);
    EXPECT_EQ(definition.edges()[0].from, definition.nodes()[0]);
    EXPECT_EQ(definition.nodes()[0].type(), GraphNodeType::Kernel);
}

TEST_F(GraphBuilderTest, of_a_device_has_a_stream_of_its_own) {
    const Buffer value = counters({0});
    GraphBuilder builder = device().create_graph_builder();
    EXPECT_NE(builder.stream(), stream());
    EXPECT_EQ(builder.stream().device(), device());
    builder.begin_building();
    add(builder, value, 1);
    add(stream(), value, 10); // another stream runs at once
    EXPECT_EQ(download<int>(value), (std::vector{10}));
    run(builder.end_building().complete());
    EXPECT_EQ(download<int>(value), (std::vector{11}));
}

TEST_F(GraphBuilderTest, is_accepted_wherever_a_stream_is) {
    const Buffer from = counters({1, 2, 3, 4});
    const Buffer to = counters({0, 0, 0, 0});
    const TypedBuffer<int> typed = device().allocate<int>(1, stream());
    const auto add_typed = kernel("add").as<void(int*, int)>();
    const Event event = device().create_event();
    GraphBuilder builder = device().create_graph_builder();
    builder.begin_building();
    from.copy_to(to, builder);
    typed.fill(5, builder);
    add_typed(builder, ONE, to, 100);
    launch(builder, ONE, kernel("add"), typed, 1);
    builder.record(event, EventUse::External);
    copy_region(to, {.offset = 12}, to, {.offset = 0}, {.width = 4}, builder);
    builder.end_building();
    std::vector<GraphNodeType> types;
    for (const GraphNode& node : builder.graph_definition().nodes()) {
        types.push_back(*node.type());
    }
    EXPECT_EQ(types, (std::vector{GraphNodeType::Memcpy, GraphNodeType::Memset,
                                  GraphNodeType::Kernel, GraphNodeType::Kernel,
                                  GraphNodeType::EventRecord, GraphNodeType::Memcpy}));
    run(builder.complete());
    EXPECT_EQ(download<int>(to), (std::vector{101, 2, 3, 101}));
    EXPECT_EQ(typed.to_vector(stream()), (std::vector{6}));
    EXPECT_TRUE(event.is_done());
}

TEST_F(GraphBuilderTest, captures_what_other_code_enqueues_on_its_stream) {
    const Buffer value = counters({7});
    GraphBuilder builder = device().create_graph_builder();
    builder.begin_building();
    // Other libraries get the handle of the stream.
    driver::call(driver::table().cuMemsetD8Async, value.handle(), std::uint8_t{0}, std::size_t{4},
                 builder.stream().handle());
    add(Stream::from_handle(builder.stream().handle()), value, 3);
    builder.end_building();
    EXPECT_EQ(builder.graph_definition().nodes().size(), 2U);
    run(builder.complete());
    EXPECT_EQ(download<int>(value), (std::vector{3}));
}

TEST_F(GraphBuilderTest, reports_the_nodes_that_the_next_work_depends_on) {
    const Buffer value = counters({0});
    GraphBuilder builder = device().create_graph_builder();
    builder.begin_building();
    EXPECT_TRUE(builder.dependencies().empty());
    add(builder, value, 1);
    const std::vector<GraphNode> first = builder.dependencies();
    ASSERT_EQ(first.size(), 1U);
    add(builder, value, 2);
    const std::vector<GraphNode> second = builder.dependencies();
    ASSERT_EQ(second.size(), 1U);
    EXPECT_NE(first[0], second[0]);
    builder.end_building();
    const GraphDefinition definition = builder.graph_definition();
    EXPECT_EQ(definition.nodes(), (std::vector{first[0], second[0]})) << "the same node objects";
    const Graph graph = builder.complete();
    graph[first[0].as<KernelNode>()].update(ONE, kernel("add"), value, 40);
    run(graph);
    EXPECT_EQ(download<int>(value), (std::vector{42}));
}

TEST_F(GraphBuilderTest, its_graph_can_be_edited_and_outlives_it) {
    const Buffer value = counters({1});
    std::optional<GraphDefinition> definition;
    {
        GraphBuilder builder = device().create_graph_builder();
        builder.begin_building();
        add(builder, value, 1);
        builder.end_building();
        definition = builder.graph_definition();
        builder.close();
        EXPECT_TRUE(builder.is_closed());
        builder.close();
    }
    const GraphNode captured = definition->nodes().at(0);
    captured.launch(ONE, kernel("multiply"), value, 5);
    run(definition->instantiate());
    EXPECT_EQ(download<int>(value), (std::vector{10}));
}

TEST_F(GraphBuilderTest, captures_the_default_stream_of_a_thread) {
    const Buffer value = counters({1});
    const CurrentContext current(device().primary_context());
    GraphBuilder builder = Stream::per_thread_default().create_graph_builder();
    builder.begin_building();
    Buffer dropped = counters({20});
    dropped.copy_to(value, builder);
    dropped.close();
    std::thread([&] { // in another thread the same token means another stream
        const CurrentContext there(device().primary_context());
        add(Stream::per_thread_default(), value, 5);
        Stream::per_thread_default().sync();
    })
        .join();
    EXPECT_EQ(download<int>(value), (std::vector{6}));
    builder.end_building();
    EXPECT_EQ(builder.graph_definition().nodes().size(), 1U);
    run(builder.complete());
    EXPECT_EQ(download<int>(value), (std::vector{20}));
}

// ---- forks -------------------------------------------------------------------------------------

TEST_F(GraphBuilderTest, splits_and_joins) {
    const Buffer left_value = counters({1});
    const Buffer right_value = counters({2});
    const Buffer other_value = counters({0});
    GraphBuilder builder = device().create_graph_builder();
    builder.begin_building();
    add(builder, left_value, 0);
    std::vector<GraphBuilder> forks = builder.split(3);
    ASSERT_EQ(forks.size(), 3U);
    EXPECT_EQ(forks[0], builder);
    EXPECT_FALSE(forks[0].is_join_required());
    EXPECT_TRUE(forks[1].is_join_required());
    EXPECT_EQ(forks[1].kind(), GraphBuilderKind::Forked);
    EXPECT_TRUE(forks[2].is_building());
    add(forks[0], left_value, 10);
    add(forks[1], right_value, 20);
    add(forks[2], other_value, 30);
    const GraphBuilder joined = GraphBuilder::join(forks[1], forks[0], forks[2]);
    EXPECT_EQ(joined, builder);
    EXPECT_TRUE(forks[1].is_closed());
    EXPECT_FALSE(forks[0].is_closed());
    launch(builder, ONE, kernel("multiply"), left_value, 2);
    builder.end_building();
    const GraphDefinition definition = builder.graph_definition();
    ASSERT_EQ(definition.nodes().size(), 5U);
    EXPECT_EQ(definition.nodes()[4].predecessors().size(), 3U);
    EXPECT_EQ(definition.nodes()[0].successors().size(), 3U);
    run(builder.complete());
    EXPECT_EQ(download<int>(left_value), (std::vector{22}));
    EXPECT_EQ(download<int>(right_value), (std::vector{22}));
    EXPECT_EQ(download<int>(other_value), (std::vector{30}));
}

TEST_F(GraphBuilderTest, joins_forks_of_forks) {
    const Buffer value = counters({0});
    GraphBuilder builder = device().create_graph_builder();
    builder.begin_building();
    add(builder, value, 1);
    std::vector<GraphBuilder> outer = builder.split(2);
    std::vector<GraphBuilder> inner = outer[1].split(2);
    add(inner[1], value, 1);
    const GraphBuilder fork = GraphBuilder::join(inner);
    EXPECT_EQ(fork, outer[1]);
    EXPECT_TRUE(fork.is_join_required());
    EXPECT_FALSE(GraphBuilder::join(outer).is_join_required());
    run(builder.end_building().complete());
    EXPECT_EQ(download<int>(value), (std::vector{2}));
}

TEST_F(GraphBuilderTest, streams_that_wait_for_its_events_are_captured_too) {
    const Buffer value = counters({1});
    Buffer dropped = counters({5});
    GraphBuilder builder = device().create_graph_builder();
    const Stream other = device().create_stream();
    builder.begin_building();
    add(builder, value, 1);
    other.wait(builder.stream().record());
    multiply(other, value, 3);
    dropped.copy_to(value, other); // the graph keeps it
    builder.wait(other.record());
    builder.end_building();
    dropped.close();
    EXPECT_FALSE(is_capturing(other));
    ASSERT_EQ(builder.graph_definition().nodes().size(), 3U);
    run(builder.complete());
    EXPECT_EQ(download<int>(value), (std::vector{5}));
}

// ---- graphs in graphs --------------------------------------------------------------------------

TEST_F(GraphBuilderTest, embeds_graphs) {
    const Buffer value = counters({1});
    GraphBuilder child = device().create_graph_builder();
    child.begin_building();
    multiply(child, value, 4);
    GraphBuilder parent = device().create_graph_builder();
    parent.begin_building(); // two captures at once
    add(parent, value, 1);
    testing::expect_error<std::invalid_argument>(
        [&] { parent.embed(child); }, {"child is <GraphBuilder", "building", "has ended"});
    child.end_building();
    parent.embed(child);
    GraphDefinition definition;
    definition.launch(ONE, kernel("add"), value, 100);
    parent.embed(definition);
    add(parent, value, 1000);
    parent.end_building();
    child.close();
    const std::vector<GraphNode> nodes = parent.graph_definition().nodes();
    ASSERT_EQ(nodes.size(), 4U);
    EXPECT_EQ(nodes[1].type(), GraphNodeType::Graph);
    EXPECT_EQ(nodes[1].as<ChildGraphNode>().child_graph().nodes().size(), 1U);
    EXPECT_EQ(nodes[2].predecessors(), (std::vector{nodes[1]}));
    run(parent.complete());
    EXPECT_EQ(download<int>(value), (std::vector{1108}));
}

TEST_F(GraphBuilderTest, captures_conditional_bodies) {
    for (const unsigned chosen : {0U, 1U}) {
        const Buffer value = counters({1});
        GraphBuilder builder = device().create_graph_builder();
        builder.begin_building();
        const GraphCondition condition = builder.create_condition();
        launch(builder, ONE, kernel("set_condition"), condition, chosen);
        GraphBuilder body = builder.if_then(condition);
        EXPECT_EQ(body.kind(), GraphBuilderKind::ConditionalBody);
        EXPECT_FALSE(body.is_building());
        EXPECT_TRUE(body.graph_definition().nodes().empty());
        body.begin_building();
        std::vector<GraphBuilder> forks = body.split(2);
        add(forks[0], value, 5);
        GraphBuilder::join(forks);
        body.end_building();
        body.graph_definition().nodes().at(0).launch(ONE, kernel("add"), value, 6);
        multiply(builder, value, 2);
        run(builder.end_building().complete());
        EXPECT_EQ(download<int>(value), (std::vector{chosen != 0 ? 24 : 2}));
    }
}

TEST_F(GraphBuilderTest, captures_if_else_and_switch) {
    for (const unsigned chosen : {0U, 1U, 2U, 3U}) {
        const Buffer value = counters({0});
        GraphBuilder builder = device().create_graph_builder();
        builder.begin_building();
        const GraphCondition condition = builder.create_condition(chosen);
        auto [then, otherwise] = builder.if_else(condition);
        add(then.begin_building(), value, 1);
        then.end_building();
        add(otherwise.begin_building(), value, 2);
        otherwise.end_building();
        const GraphCondition number = builder.create_condition(chosen);
        std::vector<GraphBuilder> cases = builder.switch_cases(number, 3);
        ASSERT_EQ(cases.size(), 3U);
        for (int i = 0; i < 3; ++i) {
            GraphBuilder& body = cases[static_cast<std::size_t>(i)];
            add(body.begin_building(), value, 10 * (i + 1));
            body.end_building();
        }
        run(builder.end_building().complete());
        const int branch = chosen != 0 ? 1 : 2;
        const int which = chosen < 3 ? 10 * (static_cast<int>(chosen) + 1) : 0;
        EXPECT_EQ(download<int>(value), (std::vector{branch + which}));
        const std::vector<GraphNode> nodes = builder.graph_definition().nodes();
        ASSERT_EQ(nodes.size(), 2U);
        EXPECT_EQ(nodes[0].as<IfElseNode>().condition(), condition);
        EXPECT_EQ(nodes[1].as<SwitchNode>().branches().size(), 3U);
    }
}

TEST_F(GraphBuilderTest, captures_loops_in_conditions) {
    const Buffer value = counters({0});
    const Buffer left = counters({4});
    GraphBuilder builder = device().create_graph_builder();
    builder.begin_building();
    const GraphCondition outer = builder.create_condition(1);
    GraphBuilder then = builder.if_then(outer);
    then.begin_building();
    const GraphCondition again = then.create_condition(1);
    GraphBuilder loop = then.while_loop(again);
    loop.begin_building();
    add(loop, value, 3);
    launch(loop, ONE, kernel("count_down"), again, left);
    loop.end_building();
    add(then, value, 100);
    then.end_building();
    run(builder.end_building().complete());
    EXPECT_EQ(download<int>(value), (std::vector{112}));
}

// ---- callbacks ---------------------------------------------------------------------------------

TEST_F(GraphBuilderTest, callbacks_run_at_each_launch_and_belong_to_the_graph) {
    const auto owned = std::make_shared<std::atomic<int>>(0);
    {
        std::optional<Graph> graph;
        {
            GraphBuilder builder = device().create_graph_builder();
            builder.begin_building();
            builder.callback([owned] { owned->fetch_add(1); });
            builder.stream().launch_host([owned] { owned->fetch_add(10); });
            const auto count = [](void* data) {
                static_cast<std::atomic<int>*>(data)->fetch_add(100);
            };
            builder.callback(HostFunctionParameters{
                .function = count, .user_data = owned.get(), .owner = owned});
            graph = builder.end_building().complete();
            EXPECT_EQ(builder.graph_definition().nodes().size(), 3U);
        }
        run(*graph);
        EXPECT_EQ(owned->load(), 111);
        run(*graph);
        EXPECT_EQ(owned->load(), 222);
        EXPECT_GT(owned.use_count(), 1);
    }
    EXPECT_TRUE(release_all());
    EXPECT_EQ(owned.use_count(), 1) << "the callbacks went with the graph";
}

TEST_F(GraphBuilderTest, what_a_callback_throws_is_a_warning) {
    const Buffer value = counters({0});
    GraphBuilder builder = device().create_graph_builder();
    builder.begin_building();
    builder.callback([] { throw std::runtime_error("not today"); });
    add(builder, value, 1);
    run(builder.end_building().complete());
    EXPECT_EQ(download<int>(value), (std::vector{1})) << "the graph goes on";
    EXPECT_EQ(warnings.take(WarningKind::HostFunction).size(), 1U);
}

// ---- lifetime ----------------------------------------------------------------------------------

TEST_F(GraphBuilderTest, the_graph_keeps_alive_what_it_uses) {
    const Buffer value = counters({1});
    const auto token = std::make_shared<int>(3);
    std::optional<Graph> graph;
    {
        // Everything that the graph uses goes out of scope, the code of its kernel too.
        const ObjectCode code = compile(SOURCE);
        Buffer amount = counters({41});
        GraphBuilder builder = device().create_graph_builder();
        builder.begin_building();
        amount.copy_to(value, builder);
        launch(builder, ONE, code.get_kernel("add"), value, 1);
        builder.keep_alive(token);
        builder.end_building();
        builder.keep_alive(token);
        graph = builder.complete();
    }
    stream().sync();
    const Buffer other = counters({-1}); // would get the address of `amount`
    run(*graph);
    EXPECT_EQ(download<int>(value), (std::vector{42}));
    EXPECT_EQ(token.use_count(), 3);
    graph.reset();
    EXPECT_TRUE(release_all());
    EXPECT_EQ(token.use_count(), 1);
}

TEST_F(GraphBuilderTest, memory_of_the_graph_is_freed_where_its_buffer_is_dropped) {
    const Buffer value = counters({1});
    GraphBuilder builder = device().create_graph_builder();
    builder.begin_building();
    EXPECT_THROW((void)device().allocate(4, builder), std::exception)
        << "pools are no graph memory";
    {
        const Buffer scratch = GraphMemoryResource::of(device())->allocate(4, builder);
        value.copy_to(scratch, builder);
        multiply(builder, scratch, 3);
        scratch.copy_to(value, builder);
    }
    builder.end_building();
    std::vector<GraphNodeType> types;
    for (const GraphNode& node : builder.graph_definition().nodes()) {
        types.push_back(*node.type());
    }
    EXPECT_EQ(types,
              (std::vector{GraphNodeType::MemAlloc, GraphNodeType::Memcpy, GraphNodeType::Kernel,
                           GraphNodeType::Memcpy, GraphNodeType::MemFree}));
    const Graph graph = builder.complete();
    run(graph);
    run(graph); // could not run again if it did not free its memory
    EXPECT_EQ(download<int>(value), (std::vector{9}));
}

TEST_F(GraphBuilderTest, a_graph_that_runs_keeps_alive_what_it_uses) {
    const Buffer value = counters({0});
    std::atomic<bool> is_going_on = false;
    {
        Buffer amount = counters({8});
        GraphBuilder builder = device().create_graph_builder();
        builder.begin_building();
        builder.callback([&] {
            while (!is_going_on) {
                std::this_thread::yield();
            }
        });
        amount.copy_to(value, builder);
        builder.end_building().complete().launch(stream());
    }
    is_going_on = true;
    EXPECT_EQ(download<int>(value), (std::vector{8}));
}

TEST_F(GraphBuilderTest, dropped_or_closed_in_a_capture_leaves_the_stream_usable) {
    const Buffer value = counters({0});
    const auto token = std::make_shared<int>(0);
    {
        GraphBuilder builder = stream().create_graph_builder();
        builder.begin_building();
        add(builder, value, 1);
        builder.callback([token] {});
        EXPECT_TRUE(is_capturing(stream()));
    }
    EXPECT_FALSE(is_capturing(stream()));
    GraphBuilder builder = stream().create_graph_builder();
    builder.begin_building();
    std::vector<GraphBuilder> forks = builder.split(2);
    add(forks[1], value, 1);
    builder.close(); // with a fork that is not joined
    EXPECT_FALSE(is_capturing(stream()));
    EXPECT_EQ(forks[1].phase(), GraphBuilderPhase::Ended);
    EXPECT_THROW(add(forks[1], value, 1), std::logic_error);
    EXPECT_TRUE(release_all());
    EXPECT_EQ(token.use_count(), 1);
    add(stream(), value, 5);
    EXPECT_EQ(download<int>(value), (std::vector{5}));
}

TEST_F(GraphBuilderTest, moves_to_another_thread_in_relaxed_mode) {
    const Buffer value = counters({0});
    GraphBuilder builder = device().create_graph_builder();
    builder.begin_building(CaptureMode::Relaxed);
    std::thread([&] {
        add(builder, value, 2);
        builder.end_building();
    }).join();
    run(builder.complete());
    EXPECT_EQ(download<int>(value), (std::vector{2}));
}

TEST_F(GraphBuilderTest, is_captured_by_many_threads_at_once) {
    constexpr int THREADS = 4;
    const Buffer value = counters({0, 0, 0, 0});
    std::vector<std::thread> threads;
    std::vector<std::optional<Graph>> graphs(THREADS);
    for (int i = 0; i < THREADS; ++i) {
        threads.emplace_back([&, i] {
            for (int round = 0; round < 10; ++round) {
                graphs[static_cast<std::size_t>(i)] =
                    capture(device().create_stream(), [&](const Stream& queue) {
                        add(queue, value.slice(static_cast<std::size_t>(i) * 4, 4), i + 1);
                    }).instantiate();
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    for (const std::optional<Graph>& graph : graphs) {
        run(*graph);
    }
    EXPECT_EQ(download<int>(value), (std::vector{1, 2, 3, 4}));
}

TEST_F(GraphBuilderTest, survives_every_failure) {
    const Buffer value = counters({0});
    testing::check_every_failure_on_driver([&] {
        GraphBuilder builder = device().create_graph_builder();
        builder.begin_building();
        add(builder, value, 1);
        std::vector<GraphBuilder> forks = builder.split(2);
        value.fill(std::uint32_t{1}, forks[1]);
        GraphBuilder::join(forks);
        builder.callback([] {});
        builder.end_building();
        GraphBuilder parent = device().create_graph_builder();
        parent.begin_building(CaptureMode::ThreadLocal);
        parent.embed(builder);
        (void)parent.dependencies();
        const GraphCondition condition = parent.create_condition(1);
        GraphBuilder body = parent.if_then(condition);
        body.begin_building();
        add(body, value, 1);
        body.end_building();
        const Graph graph = parent.end_building().complete();
        graph.launch(parent.stream());
        parent.stream().sync();
    });
}

} // namespace cuprum
