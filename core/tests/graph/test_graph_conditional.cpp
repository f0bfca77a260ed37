// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/graph_test.hpp"

namespace cuprum {
namespace {

using testing::expect_error;
using testing::GraphTest;

class Conditional : public GraphTest {
protected:
    void SetUp() override {
        GraphTest::SetUp();
        if (!IsSkipped() && driver_version() < 12030) {
            GTEST_SKIP() << "conditional nodes need a driver from CUDA 12.3 on";
        }
    }
};

TEST_F(Conditional, a_body_runs_if_the_condition_is_not_zero) {
    for (const unsigned value : {0U, 1U, 7U}) {
        const Buffer x = numbers(1);
        const GraphDefinition graph;
        const GraphCondition condition = graph.create_condition();
        const IfNode node = graph.launch({}, kernel("set"), condition, value).if_then(condition);
        node.then().launch(config(), kernel("add"), x, 1, COUNT);
        run(graph);
        EXPECT_EQ(value_of(x), value == 0 ? 1 : 2) << value;
    }
}

TEST_F(Conditional, one_of_two_bodies_runs) {
    for (const unsigned value : {0U, 1U}) {
        const Buffer x = numbers(1);
        const GraphDefinition graph;
        const GraphCondition condition = graph.create_condition(value); // no kernel sets it
        const IfElseNode node = graph.if_else(condition);
        node.then().launch(config(), kernel("add"), x, 1, COUNT);
        node.otherwise().launch(config(), kernel("add"), x, 10, COUNT);
        run(graph);
        EXPECT_EQ(value_of(x), value == 0 ? 11 : 2) << value;
    }
}

TEST_F(Conditional, a_loop_runs_until_its_condition_is_zero) {
    const Buffer count = upload(std::vector<int>{7});
    const Buffer x = numbers(0);
    const GraphDefinition graph;
    const GraphCondition condition = graph.create_condition(1);
    const WhileNode loop = graph.while_loop(condition);
    const auto typed = kernel("count_down").as<void(unsigned long long, int*)>();
    loop.body().launch(config(), kernel("add"), x, 1, COUNT).launch({}, typed, condition, count);
    const Graph executable = graph.instantiate();
    executable.launch(stream());
    EXPECT_EQ(value_of(x), 7);
    EXPECT_EQ(download<int>(count)[0], 0);
    executable.launch(stream()); // the default value again: one round
    EXPECT_EQ(value_of(x), 8);
}

TEST_F(Conditional, a_switch_runs_the_body_with_the_number) {
    for (const unsigned value : {0U, 1U, 2U, 3U}) {
        const Buffer x = numbers(0);
        const GraphDefinition graph;
        const GraphCondition condition = graph.create_condition(value);
        const SwitchNode node = graph.switch_cases(condition, 3);
        int amount = 1;
        for (const GraphDefinition& body : node.branches()) {
            body.launch(config(), kernel("add"), x, amount, COUNT);
            amount *= 10;
        }
        run(graph);
        EXPECT_EQ(value_of(x), value == 0 ? 1 : value == 1 ? 10 : value == 2 ? 100 : 0) << value;
    }
}

TEST_F(Conditional, bodies_nest) {
    const Buffer x = numbers(0);
    const Buffer count = upload(std::vector<int>{3});
    const GraphDefinition graph;
    const GraphCondition again = graph.create_condition(1);
    const WhileNode loop = graph.while_loop(again);
    const GraphDefinition body = loop.body();
    const GraphCondition odd = body.create_condition(1);
    const IfNode inner = body.if_then(odd);
    inner.then().launch(config(), kernel("add"), x, 5, COUNT);
    inner.launch({}, kernel("count_down"), again, count);
    run(graph);
    EXPECT_EQ(value_of(x), 15);
}

TEST_F(Conditional, nodes_know_their_condition_type_and_bodies) {
    const GraphDefinition graph;
    const GraphCondition condition = graph.create_condition(0);
    const WhileNode node = graph.while_loop(condition);
    EXPECT_EQ(node.type(), GraphNodeType::Conditional);
    EXPECT_EQ(node.condition(), condition);
    EXPECT_EQ(node.cond_type(), GraphConditionalType::While);
    EXPECT_EQ(node.branches().size(), 1U);
    EXPECT_EQ(node.branches()[0], node.body());
    EXPECT_TRUE(node.body().is_child());
    const GraphNode found = graph.nodes().at(0);
    EXPECT_EQ(found.as<WhileNode>().body(), node.body());
    EXPECT_EQ(found.as<ConditionalNode>().condition(), condition);
    expect_error<std::invalid_argument>([&] { static_cast<void>(found.as<IfNode>()); },
                                        {"conditional node", "not a IfNode"});
    const GraphDefinition body = node.body();
    const GraphNode leaf = body.empty();
    node.destroy();
    EXPECT_FALSE(leaf.is_valid());
    EXPECT_THROW(static_cast<void>(body.nodes()), ClosedError);
}

TEST_F(Conditional, a_body_keeps_what_it_uses) {
    Tracked tracked;
    std::optional<Graph> executable;
    const Buffer x = numbers(0);
    stream().sync();
    {
        const GraphDefinition graph;
        const IfNode node = graph.if_then(graph.create_condition(1));
        node.then().memset({x.handle(), std::move(tracked.object)}, std::uint32_t{4}, COUNT);
        executable = graph.instantiate();
    }
    stream().sync();
    EXPECT_TRUE(is_kept(tracked.watch));
    executable->launch(stream());
    EXPECT_EQ(value_of(x), 4);
    executable.reset();
    stream().sync();
    EXPECT_TRUE(is_released(tracked.watch));
}

TEST_F(Conditional, bad_conditions_are_explained) {
    const GraphDefinition graph;
    const GraphDefinition other;
    const GraphCondition foreign = other.create_condition(1);
    expect_error<CUDAError>([&] { graph.if_then(foreign); },
                            {"cuGraphAddNode", "not made by this graph"});
    expect_error<std::invalid_argument>([&] { graph.switch_cases(graph.create_condition(1), 0); },
                                        {"count is 0"});
    const GraphCondition used = graph.create_condition(1);
    graph.if_then(used);
    expect_error<CUDAError>([&] { graph.if_then(used); },
                            {"cuGraphAddNode", "one conditional node"});
}

TEST_F(Conditional, an_unused_condition_is_named) {
    const GraphDefinition graph;
    graph.empty();
    static_cast<void>(graph.create_condition(1));
    try {
        static_cast<void>(graph.instantiate());
        FAIL() << "nothing was thrown";
    } catch (const GraphInstantiateError& error) {
        EXPECT_EQ(error.reason(), GraphInstantiateReason::ConditionalHandleUnused);
        EXPECT_NE(std::string(error.what()).find("no conditional node uses"), std::string::npos)
            << error.what();
    }
}

TEST(Condition, is_a_number) {
    const auto condition = GraphCondition::from_handle(0x10);
    EXPECT_EQ(condition.handle(), 0x10U);
    EXPECT_EQ(condition, GraphCondition::from_handle(0x10));
    EXPECT_NE(condition, GraphCondition::from_handle(0x11));
    EXPECT_EQ(to_string(condition), "<GraphCondition handle=0x10>");
    EXPECT_EQ(std::hash<GraphCondition>()(condition),
              std::hash<GraphCondition>()(GraphCondition::from_handle(0x10)));
}

} // namespace
} // namespace cuprum
