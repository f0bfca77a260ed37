// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What graphs compute, in which order, and how they are traversed and edited.

#include "graph/graph_test.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>
#include <unordered_set>

namespace cuprum {
namespace {

using testing::GraphTest;
using Definition = GraphTest;

TEST_F(Definition, kernels_run_in_the_order_of_their_dependencies) {
    const Buffer x = numbers(1);
    const GraphDefinition graph;
    const auto first = graph.launch(config(), kernel("add"), x, 2, COUNT);
    const auto second = first.launch(config(), kernel("scale"), x, 10, COUNT);
    second.launch(config(), kernel("add"), x, 5, COUNT);
    run(graph);
    EXPECT_EQ(value_of(x), (1 + 2) * 10 + 5);
}

TEST_F(Definition, one_executable_launches_many_times) {
    const Buffer x = numbers(0);
    const GraphDefinition graph;
    graph.launch(config(), kernel("add"), x, 1, COUNT);
    const Graph executable = graph.instantiate();
    for (int i = 0; i < 5; ++i) {
        executable.launch(stream());
    }
    EXPECT_EQ(value_of(x), 5);
}

TEST_F(Definition, typed_kernels_check_their_arguments) {
    const Buffer x = numbers(1);
    const GraphDefinition graph;
    const auto add = kernel("add").as<void(int*, int, int)>();
    const KernelNode node = graph.launch(config(), add, x, 4L, COUNT);
    run(graph);
    EXPECT_EQ(value_of(x), 5);
    testing::expect_error<std::invalid_argument>(
        [&] { node.launch(config(), add, x, 1LL << 40, COUNT); }, {"1099511627776", "can hold"});
    EXPECT_EQ(graph.nodes().size(), 1U) << "a refused node was added";
}

TEST_F(Definition, a_point_waits_for_all_its_nodes) {
    const Buffer a = numbers(1);
    const Buffer b = numbers(2);
    const Buffer c = numbers(0);
    const GraphDefinition graph;
    const auto left = graph.launch(config(), kernel("scale"), a, 10, COUNT);
    const auto right = graph.launch(config(), kernel("scale"), b, 100, COUNT);
    const auto both = graph.after(left, right).launch(config(), kernel("sum"), a, b, c, COUNT);
    const std::vector<GraphNode> expected{left, right};
    EXPECT_TRUE(std::ranges::is_permutation(both.predecessors(), expected));
    run(graph);
    EXPECT_EQ(value_of(c), 210);
}

TEST_F(Definition, copies_and_fills_of_all_widths) {
    const Buffer x = numbers(7);
    const Buffer y = numbers(0);
    const GraphDefinition graph;
    const auto copied = graph.memcpy(y, x);
    copied.memset(x, std::uint8_t{0x11}, BYTES)
        .memset(x.slice(0, BYTES / 2), std::uint16_t{0x2222}, BYTES / 4)
        .memset(x.slice(0, BYTES / 4), std::uint32_t{0x33333333}, BYTES / 16);
    run(graph);
    EXPECT_EQ(value_of(y), 7);
    const auto filled = download<int>(x);
    EXPECT_EQ(filled[0], 0x33333333);
    EXPECT_EQ(filled[COUNT / 4], 0x22222222);
    EXPECT_EQ(filled[COUNT / 2], 0x11111111);
}

TEST_F(Definition, copies_from_and_to_host_memory) {
    std::vector<int> pageable(COUNT, 3);
    const auto pinned = LegacyPinnedMemoryResource::create();
    const Buffer locked = pinned->allocate(BYTES);
    const Buffer x = numbers(0);
    const GraphDefinition graph;
    graph.memcpy(x, pageable.data(), BYTES)
        .launch(config(), kernel("add"), x, 1, COUNT)
        .memcpy(locked, x, BYTES);
    run(graph);
    EXPECT_EQ(locked.as_span<int>()[COUNT - 1], 4);
}

TEST_F(Definition, rectangles_are_copied_and_filled) {
    std::vector<int> grid(COUNT);
    for (int i = 0; i < COUNT; ++i) {
        grid[static_cast<std::size_t>(i)] = i;
    }
    const Buffer x = upload(grid); // 8 by 8
    const Buffer y = numbers(-1);
    constexpr std::size_t ROW = 8 * sizeof(int);
    const GraphDefinition graph;
    // Two rows of three, from row 1, column 2 to the start, and a column of zeros.
    const MemcpyNode copy = graph.memcpy({
        .dst = y,
        .src = x,
        .src_place = {.offset = ROW + 2 * sizeof(int), .pitch = ROW},
        .extent = {.width = 3 * sizeof(int), .height = 2},
    });
    copy.memset(x, std::uint32_t{0}, 1, 8, ROW);
    EXPECT_FALSE(copy.is_one_dimensional());
    EXPECT_EQ(copy.extent().height, 2U);
    EXPECT_EQ(copy.src(), x.handle() + ROW + 2 * sizeof(int));
    run(graph);
    const auto copied = download<int>(y);
    EXPECT_EQ(std::vector<int>(copied.begin(), copied.begin() + 7),
              (std::vector<int>{10, 11, 12, 18, 19, 20, -1}));
    const auto filled = download<int>(x);
    EXPECT_EQ(filled[8], 0);
    EXPECT_EQ(filled[9], 9);
}

TEST_F(Definition, boxes_are_copied) {
    std::vector<int> cube(COUNT); // 4 by 4 by 4
    for (int i = 0; i < COUNT; ++i) {
        cube[static_cast<std::size_t>(i)] = i;
    }
    const Buffer x = upload(cube);
    const Buffer y = numbers(-1);
    const GraphDefinition graph;
    graph.memcpy({
        .dst = y,
        .src = x,
        .src_place = {.pitch = 4 * sizeof(int), .rows_per_slice = 4},
        .extent = {.width = 2 * sizeof(int), .height = 2, .depth = 2},
    });
    run(graph);
    const auto copied = download<int>(y);
    EXPECT_EQ(std::vector<int>(copied.begin(), copied.begin() + 9),
              (std::vector<int>{0, 1, 4, 5, 16, 17, 20, 21, -1}));
}

TEST_F(Definition, callbacks_run_in_order_at_every_launch) {
    std::vector<int> seen;
    const GraphDefinition graph;
    graph.callback([&] { seen.push_back(1); }).callback([&] { seen.push_back(2); });
    const Graph executable = graph.instantiate();
    executable.launch(stream());
    executable.launch(stream());
    stream().sync();
    EXPECT_EQ(seen, (std::vector<int>{1, 2, 1, 2}));
}

TEST_F(Definition, a_c_function_is_called_with_its_data) {
    int called = 0;
    const GraphDefinition graph;
    const HostCallbackNode node = graph.callback(
        {.function = [](void* data) { ++*static_cast<int*>(data); }, .user_data = &called});
    run(graph);
    EXPECT_EQ(called, 1);
    EXPECT_EQ(node.parameters().user_data, &called);
    EXPECT_EQ(node.owner(), nullptr);
}

TEST_F(Definition, a_callback_that_throws_is_reported_and_the_graph_goes_on) {
    bool is_reached = false;
    const GraphDefinition graph;
    graph.callback([] { throw std::runtime_error("no more coffee"); }).callback([&] {
        is_reached = true;
    });
    run(graph);
    EXPECT_TRUE(is_reached);
    const auto reports = warnings.take(WarningKind::HostFunction);
    ASSERT_EQ(reports.size(), 1U);
    EXPECT_NE(reports[0].find("no more coffee"), std::string::npos) << reports[0];
    EXPECT_NE(reports[0].find("callback of graph 0x"), std::string::npos) << reports[0];
}

TEST_F(Definition, objects_dropped_in_a_callback_are_released_later) {
    auto buffer = std::make_shared<std::optional<Buffer>>(numbers(1));
    const GraphDefinition graph;
    graph.callback([buffer] { buffer->reset(); }); // frees device memory
    run(graph);
    EXPECT_FALSE(buffer->has_value());
}

TEST_F(Definition, events_order_work_outside_the_graph) {
    const Buffer x = numbers(1);
    const Event done = device().create_event();
    const Event go = device().create_event();
    stream().sync();
    const Stream other = device().create_stream();
    other.record(go);
    const GraphDefinition graph;
    graph.wait(go).launch(config(), kernel("add"), x, 1, COUNT).record(done);
    graph.instantiate().launch(stream());
    other.wait(done);
    launch(other, config(), kernel("scale"), x, 5, COUNT);
    other.sync();
    stream().sync();
    EXPECT_EQ(value_of(x), 10);
}

TEST_F(Definition, memory_of_the_graph_is_allocated_used_and_freed) {
    const Buffer x = numbers(0);
    const GraphDefinition graph;
    const AllocNode scratch = graph.allocate(BYTES);
    EXPECT_NE(scratch.dptr(), 0U);
    EXPECT_EQ(scratch.bytesize(), BYTES);
    EXPECT_EQ(scratch.device_id(), device().ordinal());
    EXPECT_EQ(scratch.memory_type(), GraphMemoryType::Device);
    EXPECT_TRUE(scratch.peer_access().empty());
    const auto typed = kernel("add").as<void(int*, int, int)>();
    const FreeNode freed = scratch.memset(scratch, std::uint32_t{5}, COUNT)
                               .launch(config(), kernel("add"), scratch, 2, COUNT)
                               .launch(config(), typed, scratch, 3, COUNT)
                               .memcpy(x, scratch, BYTES)
                               .deallocate(scratch);
    EXPECT_EQ(freed.dptr(), scratch.dptr());
    const Graph executable = graph.instantiate();
    executable.launch(stream());
    executable.launch(stream());
    EXPECT_EQ(value_of(x), 10);
}

TEST_F(Definition, an_embedded_graph_runs_as_one_node) {
    const Buffer x = numbers(1);
    GraphDefinition child;
    child.launch(config(), kernel("add"), x, 1, COUNT)
        .launch(config(), kernel("scale"), x, 3, COUNT);
    const GraphDefinition graph;
    const ChildGraphNode node = graph.launch(config(), kernel("add"), x, 10, COUNT).embed(child);
    child.launch(config(), kernel("scale"), x, 0, COUNT); // too late to matter
    child.close();
    EXPECT_EQ(node.child_graph().nodes().size(), 2U);
    EXPECT_TRUE(node.child_graph().is_child());
    EXPECT_EQ(node.child_graph(), node.child_graph());
    run(graph);
    EXPECT_EQ(value_of(x), 36);
}

TEST_F(Definition, shared_memory_beyond_the_usual_limit_is_allowed) {
    constexpr unsigned THREADS = 64;
    const Buffer x = numbers(0);
    const GraphDefinition graph;
    graph.launch({.block = THREADS, .shmem_size = 64 << 10}, kernel("shared"), x);
    run(graph);
    const auto values = download<int>(x);
    EXPECT_EQ(values[0], static_cast<int>(THREADS) - 1);
    EXPECT_EQ(values[THREADS - 1], 0);
}

// ---- traversal ---------------------------------------------------------------------------------

TEST_F(Definition, nodes_edges_and_neighbours_are_listed) {
    const GraphDefinition graph;
    const EmptyNode a = graph.empty();
    const EmptyNode b = a.empty();
    const EmptyNode c = a.empty();
    const EmptyNode d = b.join(c);
    EXPECT_TRUE(std::ranges::is_permutation(graph.nodes(), std::vector<GraphNode>{a, b, c, d}));
    EXPECT_EQ(graph.roots(), std::vector<GraphNode>{a});
    const std::vector<GraphEdge> expected{{a, b}, {a, c}, {b, d}, {c, d}};
    EXPECT_TRUE(std::ranges::is_permutation(graph.edges(), expected));
    EXPECT_TRUE(std::ranges::is_permutation(a.successors(), std::vector<GraphNode>{b, c}));
    EXPECT_TRUE(std::ranges::is_permutation(d.predecessors(), std::vector<GraphNode>{b, c}));
    EXPECT_TRUE(a.predecessors().empty());
}

TEST_F(Definition, nodes_found_again_are_equal_and_have_their_class) {
    const Buffer x = numbers(0);
    const GraphDefinition graph;
    const KernelNode node = graph.launch(config(), kernel("add"), x, 1, COUNT);
    const GraphNode found = graph.nodes().at(0);
    EXPECT_EQ(found, node);
    EXPECT_EQ(std::hash<GraphNode>()(found), std::hash<GraphNode>()(node));
    EXPECT_EQ(found.type(), GraphNodeType::Kernel);
    EXPECT_EQ(found.as<KernelNode>().kernel(), kernel("add"));
    EXPECT_EQ(found.graph(), graph);
    testing::expect_error<std::invalid_argument>([&] { static_cast<void>(found.as<MemcpyNode>()); },
                                                 {"kernel node \"add\"", "not a MemcpyNode"});
    const std::unordered_set<GraphNode> nodes{found, node};
    EXPECT_EQ(nodes.size(), 1U);
}

TEST_F(Definition, the_entry_is_no_node) {
    const GraphDefinition graph;
    const GraphNode entry = graph.entry();
    EXPECT_TRUE(entry.is_entry());
    EXPECT_FALSE(entry.type().has_value());
    EXPECT_EQ(entry.handle(), nullptr);
    EXPECT_TRUE(entry.empty().predecessors().empty());
    EXPECT_EQ(to_string(entry), "<GraphNode entry>");
    EXPECT_THROW(entry.destroy(), std::logic_error);
}

TEST_F(Definition, edges_are_added_and_removed_in_bulk) {
    const GraphDefinition graph;
    const EmptyNode a = graph.empty();
    const EmptyNode b = graph.empty();
    const EmptyNode c = graph.empty();
    const std::vector<GraphNode> both{a, b};
    c.add_predecessors(both);
    EXPECT_EQ(c.predecessors().size(), 2U);
    c.remove_predecessors(both);
    EXPECT_TRUE(graph.edges().empty());
    const std::vector<GraphNode> others{b, c};
    a.add_successors(others);
    EXPECT_TRUE(std::ranges::is_permutation(a.successors(), others));
    a.remove_successors(others);
    graph.add_edge(a, b);
    graph.remove_edge(a, b);
    EXPECT_TRUE(graph.edges().empty());
    a.add_successors({}); // nothing to do
}

TEST_F(Definition, programmatic_launches_have_programmatic_edges) {
    const Buffer x = numbers(1);
    const GraphDefinition graph;
    const auto first = graph.launch(config(), kernel("add"), x, 1, COUNT);
    LaunchConfig early = config();
    early.programmatic_stream_serialization = true;
    const auto second = first.launch(early, kernel("scale"), x, 5, COUNT);
    const auto edges = graph.edges();
    ASSERT_EQ(edges.size(), 1U);
    EXPECT_TRUE(edges[0].is_programmatic);
    EXPECT_EQ(edges[0].from_port, 1);
    EXPECT_EQ(second.predecessors(), std::vector<GraphNode>{first});
    graph.remove_edges(edges);
    EXPECT_TRUE(graph.edges().empty());
    graph.add_edge(first, second);
    run(graph);
    EXPECT_EQ(value_of(x), 10);
}

TEST_F(Definition, a_destroyed_node_is_gone_for_all_copies) {
    const Buffer x = numbers(1);
    const GraphDefinition graph;
    const KernelNode node = graph.launch(config(), kernel("add"), x, 1, COUNT);
    const GraphNode copy = node;
    const EmptyNode after = node.empty();
    node.destroy();
    EXPECT_FALSE(copy.is_valid());
    EXPECT_EQ(copy.handle(), nullptr);
    EXPECT_TRUE(after.predecessors().empty());
    EXPECT_EQ(graph.nodes().size(), 1U);
    node.destroy(); // again does nothing
    EXPECT_THROW(static_cast<void>(node.grid()), ClosedError);
    EXPECT_THROW(node.empty(), ClosedError);
    EXPECT_THROW(static_cast<void>(graph.after(node)), ClosedError);
    run(graph);
    EXPECT_EQ(value_of(x), 1);
}

TEST_F(Definition, graphs_below_a_destroyed_node_are_gone_too) {
    const GraphDefinition inner;
    inner.empty();
    const GraphDefinition middle;
    middle.embed(inner);
    const GraphDefinition graph;
    const ChildGraphNode node = graph.embed(middle);
    const GraphDefinition child = node.child_graph();
    const auto nested = child.nodes().at(0).as<ChildGraphNode>();
    const GraphDefinition deepest = nested.child_graph();
    const GraphNode leaf = deepest.nodes().at(0);
    node.destroy();
    EXPECT_FALSE(nested.is_valid());
    EXPECT_FALSE(leaf.is_valid());
    testing::expect_error<ClosedError>([&] { static_cast<void>(child.nodes()); },
                                       {"GraphDefinition was destroyed"});
    testing::expect_error<ClosedError>([&] { deepest.empty(); }, {"GraphDefinition was destroyed"});
}

// ---- clones ------------------------------------------------------------------------------------

TEST_F(Definition, a_clone_changes_on_its_own) {
    const Buffer x = numbers(1);
    const GraphDefinition graph;
    const KernelNode node = graph.launch(config(), kernel("add"), x, 1, COUNT);
    const GraphDefinition copy = graph.clone();
    EXPECT_NE(copy, graph);
    const auto twin = copy.find_clone(node).as<KernelNode>();
    EXPECT_NE(twin, node);
    EXPECT_EQ(twin.kernel(), kernel("add"));
    twin.update_arguments(x, 100, COUNT);
    node.destroy();
    run(copy);
    EXPECT_EQ(value_of(x), 101);
    EXPECT_TRUE(graph.nodes().empty());
    testing::expect_error<ClosedError>([&] { static_cast<void>(copy.find_clone(node)); },
                                       {"was destroyed"});
    testing::expect_error<CUDAError>([&] { static_cast<void>(graph.find_clone(twin)); },
                                     {"kernel node \"add\"", "no clone"});
}

TEST_F(Definition, clones_of_graphs_with_children_know_their_nodes) {
    const Buffer x = numbers(1);
    Tracked callback;
    const GraphDefinition child;
    child.callback({.function = [](void*) {}, .owner = callback.object});
    const GraphDefinition graph;
    graph.embed(child);
    const GraphDefinition copy = graph.clone();
    const auto node = copy.nodes().at(0).as<ChildGraphNode>();
    const auto inner = node.child_graph().nodes().at(0).as<HostCallbackNode>();
    EXPECT_EQ(inner.owner(), callback.object);
}

TEST_F(Definition, a_graph_of_others_can_be_wrapped) {
    const GraphDefinition graph;
    graph.empty();
    const GraphDefinition view = GraphDefinition::from_handle(graph.handle());
    EXPECT_EQ(view.nodes().size(), 1U);
    view.empty();
    EXPECT_EQ(graph.nodes().size(), 2U);
    EXPECT_THROW(static_cast<void>(GraphDefinition::from_handle(nullptr)), std::invalid_argument);
}

// ---- contexts ----------------------------------------------------------------------------------

TEST_F(Definition, needs_no_current_context) {
    const Buffer x = numbers(1);
    std::jthread([&] {
        EXPECT_FALSE(Context::current().has_value());
        const GraphDefinition graph;
        graph.launch(config(), kernel("add"), x, 1, COUNT)
            .memset(x.slice(0, 4), std::uint8_t{0}, 4)
            .launch(config(), kernel("nothing"));
        graph.instantiate().launch(stream());
        stream().sync();
        const FaultInjection refused("cuGraphAddKernelNode", 1'000'000'000, 999);
        graph.launch(config(), kernel("nothing"));
        EXPECT_EQ(refused.call_count(), 1) << "it asks for the context first after one failure";
        EXPECT_FALSE(Context::current().has_value());
    }).join();
    EXPECT_EQ(download<int>(x)[1], 2);
}

TEST_F(Definition, runs_in_the_context_that_it_was_made_for) {
    const Context own = Context::create(device());
    {
        const Stream queue = Stream::create(own);
        const auto memory = SynchronousMemoryResource::create(device());
        const Buffer x = numbers(1);
        stream().sync();
        const GraphDefinition graph(own);
        const KernelNode node = graph.launch(config(), kernel("add"), x, 1, COUNT);
        graph.instantiate().launch(queue);
        queue.sync();
        EXPECT_EQ(value_of(x), 2);
        EXPECT_TRUE(node.is_valid());
    }
    const GraphDefinition on_device(device());
    on_device.launch(config(), kernel("nothing"));
    run(on_device);
}

TEST_F(Definition, kernel_nodes_stay_in_the_context_that_was_current) {
    const auto context_of = [](const KernelNode& node) {
        CUDA_KERNEL_NODE_PARAMS parameters{};
        driver::call(driver::table().cuGraphKernelNodeGetParams, node.handle(), &parameters);
        return parameters.ctx;
    };
    const Context own = Context::create(device());
    {
        const GraphDefinition graph;
        std::optional<KernelNode> node;
        {
            const CurrentContext current(own);
            node = graph.launch(config(), kernel("nothing"));
        }
        const CurrentContext current(device().primary_context());
        EXPECT_EQ(context_of(*node), own.handle());
        node->update({.grid = 2, .block = 1});
        EXPECT_EQ(context_of(*node), own.handle());
        EXPECT_EQ(context_of(graph.launch(config(), kernel("nothing"))),
                  device().primary_context().handle());
    }
}

class OnSeveralDevices : public GraphTest {
protected:
    void SetUp() override {
        try { // what is created once and kept
            for (const Device& each : Device::all()) {
                static_cast<void>(each.primary_context());
                static_cast<void>(each.memory_resource());
            }
        } catch (const std::exception&) { // NOLINT(bugprone-empty-catch): the base reports it
        }
        GraphTest::SetUp();
    }
};

TEST_F(OnSeveralDevices, nodes_run_on_the_device_of_their_buffers) {
    if (Device::all().size() < 2) {
        GTEST_SKIP() << "there is one device";
    }
    const Device second(1);
    const CurrentContext current(device().primary_context()); // the wrong one
    const Stream queue = second.create_stream();
    const Buffer x = second.allocate(BYTES, queue);
    const Buffer y = second.allocate(BYTES, queue);
    const GraphDefinition graph;
    graph.memset(x, std::uint32_t{4}, COUNT)
        .launch(config(), kernel("add"), x, 1, COUNT)
        .memcpy(y, x);
    graph.instantiate().launch(queue);
    std::vector<int> values(COUNT);
    y.copy_to_host(std::span<int>(values), queue);
    queue.sync();
    EXPECT_EQ(values, std::vector<int>(COUNT, 5));
    EXPECT_TRUE(Context::current() == device().primary_context());
    EXPECT_EQ(graph.allocate(16, {.device = second}).device_id(), 1);
}

// ---- pictures ----------------------------------------------------------------------------------

TEST_F(Definition, the_driver_writes_a_picture) {
    const GraphDefinition graph;
    graph.empty().empty();
    const auto path = std::filesystem::temp_directory_path() /
                      ("cuprum_graph_" + std::to_string(::getpid()) + ".dot");
    graph.debug_dot_print(path, {.verbose = true});
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    std::filesystem::remove(path);
    EXPECT_NE(text.find("digraph"), std::string::npos) << text;
    testing::expect_error<CUDAError>([&] { graph.debug_dot_print("/nowhere/at/all.dot"); },
                                     {"/nowhere/at/all.dot", "writable"});
}

TEST(GraphDebugPrint, options_are_the_flags_of_the_driver) {
    EXPECT_EQ(detail::debug_flags({}), 0U);
    EXPECT_EQ(detail::debug_flags({.verbose = true}), 1U);
    EXPECT_EQ(detail::debug_flags({.runtime_types = true, .conditional_node_params = true}),
              2U | 1U << 15U);
    EXPECT_EQ(detail::debug_flags({.handles = true}), 1U << 10U);
}

} // namespace
} // namespace cuprum
