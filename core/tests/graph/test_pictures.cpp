// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/capture_test.hpp"
#include "graph/pictures.hpp"
#include "support/expect_error.hpp"
#include "support/run_program.hpp"
#include "support/scoped_variable.hpp"
#include "support/traced.hpp"

#include <cuprum/cuprum.hpp>

#include <cuda.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace cuprum {

namespace {

using testing::expect_error;

class Pictures : public testing::CaptureTest {
protected:
    void SetUp() override {
        CaptureTest::SetUp();
        folder_ = std::filesystem::path(::testing::TempDir()) /
                  (std::string("pictures_") +
                   ::testing::UnitTest::GetInstance()->current_test_info()->name());
        std::filesystem::create_directories(folder_);
    }

    void TearDown() override {
        std::filesystem::remove_all(folder_);
        CaptureTest::TearDown();
    }

    static std::string read(const std::filesystem::path& path) {
        std::ifstream file(path);
        std::stringstream all;
        all << file.rdbuf();
        return all.str();
    }

    /// Writes a program that stands for Graphviz and returns its folder.
    [[nodiscard]] std::string fake_dot(const std::string& script) const {
        const std::filesystem::path program = folder_ / "dot";
        std::ofstream(program) << "#!/bin/sh\n" << script << "\n";
        std::filesystem::permissions(program, std::filesystem::perms::owner_all);
        return folder_.string();
    }

    std::filesystem::path folder_;
};

class GraphTraces : public testing::Traced<testing::CaptureTest> {};

void expect_parts(const std::string& text, std::initializer_list<std::string_view> parts) {
    for (const std::string_view part : parts) {
        EXPECT_NE(text.find(part), std::string::npos) << "\"" << part << "\" is not in:\n" << text;
    }
}

/// A diamond: one node, two behind it, and one behind both.
detail::GraphPicture diamond() {
    detail::GraphPicture picture;
    picture.nodes.resize(4);
    picture.nodes[0].text = {GraphNodeType::Memset, "fill 4 KiB with 0", {}};
    picture.nodes[1].text = {GraphNodeType::Kernel, "left", {"grid 4, block 256"}};
    picture.nodes[1].predecessors = {0};
    picture.nodes[2].text = {GraphNodeType::Kernel, "right\"\\", {"grid 4, block 256"}};
    picture.nodes[2].predecessors = {0};
    picture.nodes[2].early_starts = {0};
    picture.nodes[3].text = {GraphNodeType::Conditional, "while", {}};
    picture.nodes[3].predecessors = {1, 2};
    picture.nodes[3].children.resize(1);
    picture.nodes[3].children[0].label = "body";
    picture.nodes[3].children[0].nodes.resize(1);
    picture.nodes[3].children[0].nodes[0].text = {GraphNodeType::Kernel, "step", {}};
    return picture;
}

} // namespace

// ---- formats -----------------------------------------------------------------------------------

TEST(PictureFormats, text_is_a_tree) {
    EXPECT_EQ(detail::to_text(diamond()), "graph: 4 nodes, 4 edges\n"
                                          "├─ 1  fill 4 KiB with 0\n"
                                          "├─ 2  left, grid 4, block 256  after 1\n"
                                          "├─ 3  right\"\\, grid 4, block 256  after 1 (may start "
                                          "early)\n"
                                          "└─ 4  while  after 2, 3\n"
                                          "   └─ body: 1 node, 0 edges\n"
                                          "      └─ 4.1  step\n");
    EXPECT_EQ(detail::to_text({}), "graph: 0 nodes, 0 edges\n");
}

TEST(PictureFormats, dot_has_nodes_edges_and_clusters) {
    const std::string text = detail::to_dot(diamond());
    expect_parts(text, {"digraph cuprum {", "n0 [label=\"fill 4 KiB with 0\"",
                        "n1 [label=\"left\\ngrid 4, block 256\", shape=box",
                        "n2 [label=\"right\\\"\\\\\\n", "n0 -> n1;",
                        "n0 -> n2 [style=dashed, label=\"may start early\"];", "n1 -> n3;",
                        "n2 -> n3;", "subgraph cluster_0 {", "label=\"body\"", "n4 [label=\"step\"",
                        "n3 -> n4 [lhead=cluster_0"});
    EXPECT_EQ(std::ranges::count(text, '{'), std::ranges::count(text, '}'));
    detail::GraphPicture empty_body = diamond();
    empty_body.nodes[3].children[0].nodes.clear();
    expect_parts(detail::to_dot(empty_body), {"n4 [label=\"(empty)\""});
}

TEST(PictureFormats, bytes_are_readable) {
    EXPECT_EQ(detail::bytes_text(1), "1 byte");
    EXPECT_EQ(detail::bytes_text(1000), "1000 bytes");
    EXPECT_EQ(detail::bytes_text(4096), "4 KiB");
    EXPECT_EQ(detail::bytes_text(3U << 19U), "1.5 MiB");
}

// ---- graphs ------------------------------------------------------------------------------------

TEST_F(Pictures, show_what_nodes_do) {
    const Buffer value = counters({0, 0, 0, 0});
    const Buffer other = counters({0, 0, 0, 0});
    std::vector<int> host(4);
    const Event event = device().create_event();
    GraphDefinition child;
    child.empty();
    GraphBuilder builder = device().create_graph_builder();
    builder.begin_building();
    value.fill(std::uint32_t{0xabcd}, builder);
    launch(builder, LaunchConfig{.grid = {16, 2}, .block = 64, .shmem_size = 1024}, kernel("add"),
           value, 1);
    other.copy_from(value, builder);
    other.copy_to_host(host, builder);
    builder.record(event, EventUse::External);
    builder.callback([] {});
    builder.embed(child);
    GraphBuilder loop = builder.while_loop(builder.create_condition(0));
    add(loop.begin_building(), value, 1);
    loop.end_building();
    auto bodies = builder.switch_cases(builder.create_condition(0), 2);
    builder.end_building();
    const GraphDefinition definition = builder.graph_definition();

    const std::string text = definition.to_text();
    expect_parts(text,
                 {"graph: 9 nodes, 8 edges", "1  fill 16 bytes with 0xabcd, 4 values of 4 bytes\n",
                  "2  add, grid 16 x 2, block 64, shared memory 1 KiB  after 1\n",
                  "3  copy 16 bytes, device 0 to device 0  after 2\n",
                  "4  copy 16 bytes, device 0 to host  after 3\n", "5  record event 0x",
                  "6  host function  after 5\n", "7  child graph  after 6\n",
                  "child graph: 1 node, 0 edges\n", "7.1  empty\n", "8  while, condition 0x",
                  "body: 1 node, 0 edges\n", "8.1  add, grid 1, block 1\n", "9  switch, condition",
                  "case 0: 0 nodes", "case 1: 0 nodes"});
    const std::string dot = definition.to_dot();
    expect_parts(dot,
                 {"[label=\"add\\ngrid 16 x 2, block 64\\nshared memory 1 KiB\"",
                  "label=\"child graph\"", "label=\"body\"", "label=\"case 1\"", "shape=diamond"});
}

TEST_F(Pictures, order_nodes_as_they_can_run) {
    GraphDefinition graph;
    const GraphNode first = graph.empty();
    const GraphNode second = graph.empty();
    graph.add_edge(second, first); // made in the other order
    EXPECT_EQ(graph.to_text(), "graph: 2 nodes, 1 edge\n"
                               "├─ 1  empty\n"
                               "└─ 2  empty  after 1\n");
    graph.add_edge(first, second);
    expect_parts(graph.to_text(), {"graph: 2 nodes, 2 edges; it has a cycle"});
}

TEST_F(Pictures, of_the_driver_have_every_option) {
    const Buffer value = counters({0});
    GraphBuilder builder = device().create_graph_builder();
    builder.begin_building();
    add(builder, value, 1);
    EXPECT_THROW(builder.debug_dot_print(folder_ / "early.dot"), std::logic_error);
    builder.end_building();
    const GraphDefinition definition = builder.graph_definition();
    builder.debug_dot_print(folder_ / "plain.dot");
    const std::string plain = read(folder_ / "plain.dot");
    expect_parts(plain, {"digraph"});
    definition.debug_dot_print(folder_ / "all.dot", {.verbose = true});
    EXPECT_GT(read(folder_ / "all.dot").size(), plain.size());

    GraphDebugPrintOptions options;
    unsigned seen = 0;
    bool* const members[] = {&options.verbose,
                             &options.runtime_types,
                             &options.kernel_node_params,
                             &options.memcpy_node_params,
                             &options.memset_node_params,
                             &options.host_node_params,
                             &options.event_node_params,
                             &options.ext_semas_signal_node_params,
                             &options.ext_semas_wait_node_params,
                             &options.kernel_node_attributes,
                             &options.handles,
                             &options.mem_alloc_node_params,
                             &options.mem_free_node_params,
                             &options.batch_mem_op_node_params,
                             &options.extra_topo_info,
                             &options.conditional_node_params};
    static_assert(sizeof(GraphDebugPrintOptions) == std::size(members));
    for (bool* const member : members) {
        *member = true;
        const unsigned flags = detail::debug_flags(options);
        EXPECT_EQ(std::popcount(flags), 1);
        EXPECT_EQ(seen & flags, 0U) << "two options have one flag";
        seen |= flags;
        definition.debug_dot_print(folder_ / "one.dot", options);
        expect_parts(read(folder_ / "one.dot"), {"digraph"});
        *member = false;
    }
    expect_error<CUDAError>([&] { definition.debug_dot_print(folder_ / "missing" / "graph.dot"); },
                            {"cuGraphDebugDotPrint", "missing/graph.dot", "folder must exist"});
    EXPECT_THROW(definition.debug_dot_print(""), CUDAError);
}

// ---- SVG ---------------------------------------------------------------------------------------

TEST_F(Pictures, as_svg_come_from_graphviz) {
    std::vector<std::string> tried;
    if (detail::find_program("dot", tried).empty()) {
        GTEST_SKIP() << "Graphviz is not installed";
    }
    GraphDefinition graph;
    graph.empty().empty();
    const std::string svg = graph.to_svg();
    expect_parts(svg, {"<svg", "empty", "</svg>"});
}

TEST_F(Pictures, as_svg_pass_the_graph_to_dot_and_return_its_output) {
    GraphDefinition graph;
    graph.empty();
    const std::string script = "test \"$1\" = -Tsvg || exit 3\necho '<svg>'; cat; echo '</svg>'";
    const testing::ScopedVariable path("PATH", fake_dot(script) + ":/usr/bin:/bin");
    EXPECT_EQ(graph.to_svg(), "<svg>\n" + graph.to_dot() + "</svg>\n");
}

TEST_F(Pictures, as_svg_say_what_to_install) {
    GraphDefinition graph;
    const testing::ScopedVariable path("PATH", "/nonexistent/bin");
    expect_error<LibraryNotFoundError>(
        [&] { (void)graph.to_svg(); },
        {"dot", "Graphviz", "/nonexistent/bin", "install graphviz", "to_text()"});
}

TEST_F(Pictures, as_svg_never_run_a_program_of_the_current_folder) {
    GraphDefinition graph;
    const std::string folder = fake_dot("echo '<svg></svg>'");
    const std::filesystem::path before = std::filesystem::current_path();
    std::filesystem::current_path(folder);
    const testing::ScopedVariable path("PATH", ".::relative");
    EXPECT_THROW((void)graph.to_svg(), LibraryNotFoundError);
    std::filesystem::current_path(before);
}

TEST_F(Pictures, as_svg_report_why_dot_failed) {
    GraphDefinition graph;
    const testing::ScopedVariable path("PATH",
                                       fake_dot("echo 'no fonts' >&2; exit 7") + ":/usr/bin:/bin");
    expect_error<std::runtime_error>([&] { (void)graph.to_svg(); },
                                     {"/dot failed with code 7", "no fonts"});
}

// ---- programs ----------------------------------------------------------------------------------

TEST(RunProgram, passes_input_and_output_of_any_size) {
    const std::string input(3'000'000, 'x');
    const detail::ProgramRun run =
        detail::run_program("/bin/cat", {}, input, std::chrono::seconds(20));
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_TRUE(run.output == input);
    const detail::ProgramRun deaf =
        detail::run_program("/bin/true", {}, input, std::chrono::seconds(20));
    EXPECT_EQ(deaf.exit_code, 0) << "a program that reads nothing raises no signal here";
}

TEST(RunProgram, ends_programs_that_take_too_long) {
    const detail::ProgramRun run =
        detail::run_program("/bin/sleep", {"60"}, "", std::chrono::milliseconds(50));
    EXPECT_TRUE(run.is_timed_out);
    EXPECT_EQ(run.exit_code, -9);
}

TEST(RunProgram, passes_arguments_without_a_shell) {
    const detail::ProgramRun run =
        detail::run_program("/bin/echo", {"$HOME; `id`", "a  b"}, "", std::chrono::seconds(20));
    EXPECT_EQ(run.output, "$HOME; `id` a  b\n");
    expect_error<std::runtime_error>(
        [] { (void)detail::run_program("/nonexistent", {}, "", std::chrono::seconds(1)); },
        {"/nonexistent cannot be started"});
}

// ---- traces ------------------------------------------------------------------------------------

TEST_F(GraphTraces, have_graph_launches_with_their_nodes) {
    const Buffer value = counters({0});
    start_trace(path());
    const Graph graph = capture(stream(), [&] {
                            add(stream(), value, 1);
                            value.fill(std::uint8_t{0}, stream());
                        }).instantiate(); // the definition is gone
    run(graph);
    stop_trace();
    const std::string trace = text();
    EXPECT_EQ(count(trace, "graph"), 1) << trace;
    EXPECT_EQ(count(trace, "kernel"), 0) << "captured launches do not run";
    expect_parts(trace, {"\"graph of 2 nodes\"",
                         "\"nodes\": [\"add, grid 1, block 1\", \"fill 4 bytes with 0\"]"});
}

TEST_F(GraphTraces, have_the_nodes_of_graphs_made_before) {
    const Buffer value = counters({0});
    const GraphDefinition definition = capture(stream(), [&] { add(stream(), value, 1); });
    const Graph graph = definition.instantiate();
    GraphDefinition replacement;
    replacement.launch(LaunchConfig{.grid = 3, .block = 1}, kernel("add"), value, 1);
    start_trace(path());
    run(graph);
    graph.update(replacement);
    run(graph);
    stop_trace();
    expect_parts(
        text(), {"\"nodes\": [\"add, grid 1, block 1\"]", "\"nodes\": [\"add, grid 3, block 1\"]"});
}

} // namespace cuprum
