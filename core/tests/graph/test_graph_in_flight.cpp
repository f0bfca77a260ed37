// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What launches in flight keep alive, whatever happens to the executable, and which graphs have
// user objects of the driver.

#include "driver/current.hpp"
#include "graph/graph_test.hpp"
#include "support/warning_log.hpp"

#include <cuprum/detail/unexposed_handle.hpp>

#include <atomic>
#include <thread>

namespace cuprum {
namespace {

using testing::GraphTest;

/// Counts the calls of a driver function.
class Calls {
public:
    explicit Calls(const char* function) : counted_(function, NEVER, 999) {}

    [[nodiscard]] int count() const noexcept { return counted_.call_count(); }

private:
    static constexpr int NEVER = 1'000'000'000;

    FaultInjection counted_;
};

/// Gives tests a graph that runs until the test says so, and keeps an object alive.
class InFlight : public GraphTest {
protected:
    void SetUp() override {
        GraphTest::SetUp();
        if (!IsSkipped()) {
            flag_ = LegacyPinnedMemoryResource::create()->allocate(sizeof(int));
            hold();
            memory_ = numbers(0);
            stream().sync();
        }
    }

    void TearDown() override {
        if (flag_.has_value()) {
            let_go();
        }
        memory_.reset();
        flag_.reset(); // a graph that runs keeps it
        GraphTest::TearDown();
    }

    /// Makes a graph that waits, then fills memory that the tracked object owns.
    [[nodiscard]] GraphDefinition waiting_graph(Tracked& tracked) {
        GraphDefinition graph;
        graph.launch({}, kernel("wait_for"), flag())
            .memset({memory().handle(), std::move(tracked.object)}, std::uint8_t{1}, 4);
        return graph;
    }

    /// Returns the node that fills.
    [[nodiscard]] static MemsetNode fill_of(const GraphDefinition& graph) {
        return graph.nodes().at(1).as<MemsetNode>();
    }

    [[nodiscard]] const Buffer& flag() const { return *flag_; }

    [[nodiscard]] const Buffer& memory() const { return *memory_; }

    /// Returns the stream as code sees it that did not make it.
    [[nodiscard]] Stream borrowed() const { return Stream::from_handle(stream().handle()); }

    void hold() { *flag_->data<volatile int>() = 0; }

    void let_go() { *flag_->data<volatile int>() = 1; }

    /// Drops the memory of the graphs, which a reset of the device has freed.
    void forget_memory() {
        memory_.reset();
        flag_.reset();
    }

    /// Expects that a running launch keeps an object, and its end releases it.
    void expect_kept_until_the_end(const Tracked& tracked) {
        EXPECT_TRUE(is_kept(tracked.watch)) << "a launch uses it";
        let_go();
        EXPECT_TRUE(is_released(tracked.watch));
    }

    /// Expects one warning, that a launch could not be marked.
    static void expect_unmarked(const std::vector<std::string>& told, const std::string& call) {
        ASSERT_EQ(told.size(), 1U) << call;
        EXPECT_NE(told[0].find("could not be marked"), std::string::npos) << told[0];
        EXPECT_NE(told[0].find(call), std::string::npos) << told[0];
    }

private:
    std::optional<Buffer> flag_;
    std::optional<Buffer> memory_;
};

// ---- the executable ----------------------------------------------------------------------------

TEST_F(InFlight, closing_the_executable_keeps_what_the_launch_uses) {
    Tracked tracked;
    Graph executable = waiting_graph(tracked).instantiate();
    executable.launch(stream());
    executable.close();
    expect_kept_until_the_end(tracked);
}

TEST_F(InFlight, an_executable_that_was_never_launched_gives_everything_up_at_once) {
    Tracked tracked;
    Graph executable = waiting_graph(tracked).instantiate();
    executable.close();
    EXPECT_TRUE(tracked.watch.expired());
}

TEST_F(InFlight, an_update_of_the_whole_executable_keeps_what_the_launch_uses) {
    Tracked tracked;
    Tracked second;
    const Graph executable = waiting_graph(tracked).instantiate();
    executable.launch(stream());
    executable.update(waiting_graph(second)); // whose definition goes at once
    EXPECT_TRUE(is_kept(second.watch));
    expect_kept_until_the_end(tracked);
    EXPECT_TRUE(is_kept(second.watch)) << "the executable uses it";
}

TEST_F(InFlight, an_update_of_a_node_keeps_what_the_launch_uses) {
    Tracked unused;
    Tracked tracked;
    const GraphDefinition graph = waiting_graph(unused);
    const Graph executable = graph.instantiate();
    const auto set = [&](std::shared_ptr<void> owner) {
        executable[fill_of(graph)].update(
            {.dst = {memory().handle(), std::move(owner)}, .value = 2, .width = 4});
    };
    set(std::move(tracked.object));
    executable.launch(stream());
    Tracked never_launched;
    set(std::move(never_launched.object));
    set(nullptr);
    EXPECT_TRUE(never_launched.watch.expired()) << "no launch can use it";
    expect_kept_until_the_end(tracked);
}

TEST_F(InFlight, what_an_update_replaced_does_not_wait_for_later_launches) {
    Tracked unused;
    Tracked tracked;
    const GraphDefinition graph = waiting_graph(unused);
    const Graph executable = graph.instantiate();
    executable[fill_of(graph)].update(
        {.dst = {memory().handle(), std::move(tracked.object)}, .value = 2, .width = 4});
    let_go();
    executable.launch(stream());
    executable[fill_of(graph)].update({.dst = memory(), .value = 2, .width = 4});
    stream().sync();
    hold();
    executable.launch(stream());
    for (int i = 0; i < 1000 && !tracked.watch.expired(); ++i) {
        detail::release_payloads();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_TRUE(tracked.watch.expired());
}

TEST_F(InFlight, a_new_child_graph_keeps_what_the_launch_uses) {
    Tracked unused;
    Tracked tracked;
    const GraphDefinition child;
    child.memset(memory(), std::uint8_t{1}, 4);
    const GraphDefinition graph;
    const ChildGraphNode node = graph.launch({}, kernel("wait_for"), flag()).embed(child);
    const Graph executable = graph.instantiate();
    {
        const GraphDefinition replacement;
        replacement.memset({memory().handle(), std::move(tracked.object)}, std::uint8_t{1}, 4);
        executable[node].update(replacement);
    }
    executable.launch(stream());
    executable[node].update(child);
    expect_kept_until_the_end(tracked);
}

TEST_F(InFlight, closing_the_executable_in_its_own_callback_is_fine) {
    Tracked tracked;
    std::atomic<bool> is_launched = false; // orders the threads for sanitizers too
    std::atomic<bool> is_called = false;
    std::optional<Graph> executable;
    {
        const GraphDefinition graph;
        graph.launch({}, kernel("wait_for"), flag())
            .callback([&, kept = std::move(tracked.object)] {
                EXPECT_TRUE(is_launched);
                executable.reset();
                is_called = true;
            });
        executable = graph.instantiate();
    }
    executable->launch(stream());
    is_launched = true;
    EXPECT_TRUE(is_kept(tracked.watch));
    let_go();
    stream().sync();
    EXPECT_TRUE(is_called);
    EXPECT_TRUE(is_released(tracked.watch));
}

TEST_F(InFlight, a_failed_launch_does_not_forget_the_one_before) {
    Tracked unused;
    Tracked tracked;
    const GraphDefinition graph = waiting_graph(unused);
    Graph executable = graph.instantiate();
    executable[fill_of(graph)].update(
        {.dst = {memory().handle(), std::move(tracked.object)}, .value = 2, .width = 4});
    executable.launch(stream());
    {
        const FaultInjection fault("cuGraphLaunch", 1, 999);
        EXPECT_THROW(executable.launch(stream()), CUDAError);
    }
    // The update shares the mark of the first launch, so that the next launch takes another one.
    executable[fill_of(graph)].update({.dst = memory(), .value = 2, .width = 4});
    {
        const FaultInjection fault("cuGraphLaunch", 1, 999);
        EXPECT_THROW(executable.launch(stream()), CUDAError);
    }
    executable.close();
    expect_kept_until_the_end(tracked);
}

TEST_F(InFlight, two_threads_may_launch_one_executable) {
    constexpr int LAUNCHES = 100;
    Tracked tracked;
    const Buffer x = numbers(0);
    stream().sync();
    std::optional<GraphDefinition> graph(std::in_place);
    graph->launch(config(), kernel("add"), x, 1, COUNT);
    graph->keep_alive(std::move(tracked.object));
    std::optional<Graph> executable = graph->instantiate();
    graph.reset();
    const auto launch = [&](const Stream& queue) {
        for (int i = 0; i < LAUNCHES; ++i) {
            executable->launch(queue);
        }
    };
    const Stream other = device().create_stream();
    std::thread second([&] {
        device().set_current();
        launch(other);
    });
    launch(stream());
    second.join();
    executable.reset();
    stream().sync();
    other.sync();
    EXPECT_EQ(value_of(x), 2 * LAUNCHES) << "two launches overlapped";
    EXPECT_TRUE(is_released(tracked.watch));
}

// ---- streams -----------------------------------------------------------------------------------

TEST_F(InFlight, the_stream_may_be_closed) {
    Tracked tracked;
    std::optional<Graph> executable = waiting_graph(tracked).instantiate();
    Stream queue = device().create_stream();
    executable->launch(queue);
    queue.close();
    executable.reset();
    expect_kept_until_the_end(tracked);
}

TEST_F(InFlight, the_stream_of_the_last_launch_lives_as_long_as_the_executable) {
    Tracked tracked;
    std::optional<Graph> executable = waiting_graph(tracked).instantiate();
    Stream queue = device().create_stream();
    executable->launch(queue);
    const Calls destroyed("cuStreamDestroy");
    queue.close();
    EXPECT_EQ(destroyed.count(), 0);
    executable.reset();
    EXPECT_EQ(destroyed.count(), 1);
    expect_kept_until_the_end(tracked);
}

TEST_F(InFlight, the_stream_may_be_closed_before_an_update) {
    Tracked tracked;
    Tracked second;
    const Graph executable = waiting_graph(tracked).instantiate();
    Stream queue = device().create_stream();
    executable.launch(queue);
    queue.close();
    executable.update(waiting_graph(second));
    expect_kept_until_the_end(tracked);
}

TEST_F(InFlight, the_stream_may_be_closed_in_a_host_function) {
    Tracked tracked;
    std::optional<Graph> executable = waiting_graph(tracked).instantiate();
    std::optional<Stream> queue = device().create_stream();
    executable->launch(*queue);
    const Stream other = device().create_stream();
    other.launch_host([&] { queue.reset(); });
    other.sync();
    executable.reset();
    expect_kept_until_the_end(tracked);
}

TEST_F(InFlight, a_stream_without_launches_of_graphs_gets_no_event) {
    Stream queue = device().create_stream();
    const Calls records("cuEventRecord");
    queue.close();
    EXPECT_EQ(records.count(), 0);
}

TEST_F(InFlight, a_stream_of_our_own_after_one_of_others_keeps_what_the_launch_uses) {
    Tracked tracked;
    std::optional<Graph> executable = waiting_graph(tracked).instantiate();
    const Stream foreign = borrowed();
    executable->launch(foreign);
    executable->launch(stream());
    executable->launch(foreign);
    executable->launch(stream());
    executable.reset();
    expect_kept_until_the_end(tracked);
}

TEST_F(InFlight, the_stream_of_others_may_be_destroyed) {
    Tracked tracked;
    std::optional<Graph> executable = waiting_graph(tracked).instantiate();
    const driver::Current current(device().primary_context().handle());
    CUstream queue = nullptr;
    driver::call(driver::table().cuStreamCreateWithPriority, &queue,
                 unsigned{CU_STREAM_NON_BLOCKING}, 0);
    executable->launch(Stream::from_handle(queue));
    driver::call(driver::table().cuStreamDestroy, queue);
    executable.reset();
    expect_kept_until_the_end(tracked);
}

TEST_F(InFlight, the_stream_may_be_captured) {
    Tracked tracked;
    std::optional<Graph> executable = waiting_graph(tracked).instantiate();
    executable->launch(stream());
    GraphBuilder builder = stream().create_graph_builder();
    builder.begin_building(CaptureMode::Global);
    executable.reset();
    detail::release_payloads();
    EXPECT_FALSE(tracked.watch.expired());
    EXPECT_NO_THROW(builder.end_building());
    EXPECT_TRUE(builder.graph_definition().nodes().empty()) << "an event was captured";
    expect_kept_until_the_end(tracked);
}

TEST_F(InFlight, default_streams_work_too) {
    const driver::Current current(device().primary_context().handle());
    for (const Stream& queue : {Stream::legacy_default(), Stream::per_thread_default()}) {
        hold();
        Tracked tracked;
        std::optional<Graph> executable = waiting_graph(tracked).instantiate();
        executable->launch(queue);
        executable.reset();
        EXPECT_TRUE(is_kept(tracked.watch));
        let_go();
        EXPECT_TRUE(is_released(tracked.watch));
    }
}

TEST_F(InFlight, a_launch_on_another_stream_comes_behind_the_one_before) {
    Tracked tracked;
    std::optional<Graph> executable = waiting_graph(tracked).instantiate();
    const Stream other = device().create_stream();
    executable->launch(stream());
    executable->launch(other);
    executable.reset();
    expect_kept_until_the_end(tracked);
}

TEST_F(InFlight, a_stream_that_is_being_captured_is_refused_and_not_disturbed) {
    const GraphDefinition graph;
    graph.memset(memory(), std::uint8_t{1}, 4);
    const Graph executable = graph.instantiate();
    GraphBuilder builder = stream().create_graph_builder();
    builder.begin_building();
    testing::expect_error<CUDAError>([&] { executable.launch(builder); },
                                     {"cuGraphLaunch", "embed the definition instead"});
    builder.embed(graph);
    EXPECT_NO_THROW(builder.end_building());
    EXPECT_EQ(builder.graph_definition().nodes().size(), 1U);
    executable.launch(stream());
    stream().sync();
}

TEST_F(InFlight, a_reset_of_the_device_ends_a_launch_that_nobody_marked) {
    Tracked tracked;
    std::optional<Graph> executable = waiting_graph(tracked).instantiate();
    executable->launch(stream());
    let_go();
    stream().sync();
    device().reset_primary_context();
    forget_memory();
    const Calls records("cuEventRecord");
    executable.reset();
    detail::release_payloads();
    EXPECT_TRUE(tracked.watch.expired());
    EXPECT_EQ(records.count(), 0);
}

TEST_F(InFlight, a_reset_of_the_device_ends_everything) {
    Tracked tracked;
    std::optional<Graph> executable = waiting_graph(tracked).instantiate();
    executable->launch(stream());
    executable.reset();
    EXPECT_TRUE(is_kept(tracked.watch));
    let_go();
    // The graph's Payload must go without a question about an event that the reset destroyed.
    device().reset_primary_context();
    forget_memory();
    const Calls queries("cuEventQuery");
    detail::release_payloads();
    EXPECT_TRUE(tracked.watch.expired());
    EXPECT_EQ(queries.count(), 0);
}

// ---- failures ----------------------------------------------------------------------------------

TEST_F(InFlight, a_launch_that_cannot_be_marked_does_not_start) {
    const Buffer x = numbers(1);
    const GraphDefinition graph;
    graph.launch(config(), kernel("add"), x, 1, COUNT);
    const Graph executable = graph.instantiate();
    {
        const FaultInjection fault("cuEventCreate", 1, 999);
        EXPECT_THROW(executable.launch(borrowed()), CUDAError);
    }
    EXPECT_EQ(value_of(x), 1);
    executable.launch(stream());
    EXPECT_EQ(value_of(x), 2);
}

TEST_F(InFlight, a_launch_whose_mark_fails_keeps_what_it_uses) {
    Tracked tracked;
    std::optional<Graph> executable = waiting_graph(tracked).instantiate();
    {
        testing::WarningLog warnings;
        const FaultInjection fault("cuEventRecord", 1, 999);
        executable->launch(borrowed());
        expect_unmarked(warnings.take(WarningKind::Release), "cuEventRecord");
    }
    executable.reset();
    expect_kept_until_the_end(tracked);
}

TEST_F(InFlight, a_mark_is_recorded_again_in_its_context) {
    Tracked tracked;
    std::optional<Graph> executable = waiting_graph(tracked).instantiate();
    {
        testing::WarningLog warnings;
        const FaultInjection fault("cuEventRecord", 1, CUDA_ERROR_INVALID_CONTEXT);
        executable->launch(borrowed());
        EXPECT_EQ(fault.call_count(), 2);
        EXPECT_TRUE(warnings.take(WarningKind::Release).empty());
    }
    executable.reset();
    expect_kept_until_the_end(tracked);
}

TEST_F(InFlight, a_call_that_is_not_permitted_does_not_say_that_the_launch_has_ended) {
    Tracked tracked;
    std::optional<Graph> executable = waiting_graph(tracked).instantiate();
    executable->launch(stream());
    executable.reset();
    for (const int code : {CUDA_ERROR_NOT_PERMITTED, CUDA_ERROR_NOT_INITIALIZED,
                           CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, CUDA_ERROR_UNKNOWN}) {
        const FaultInjection fault("cuEventQuery", 1, code);
        detail::release_payloads();
        EXPECT_TRUE(fault.has_failed());
        EXPECT_FALSE(tracked.watch.expired()) << code;
    }
    expect_kept_until_the_end(tracked);
}

TEST_F(InFlight, a_handler_of_warnings_may_use_the_graph) {
    const Buffer x = numbers(1);
    const GraphDefinition graph;
    graph.launch(config(), kernel("add"), x, 1, COUNT);
    const Graph executable = graph.instantiate();
    const WarningHandler before = set_warning_handler([&](WarningKind, std::string_view) {
        static_cast<void>(executable.flags());
        executable.launch(stream());
        executable.update(graph);
    });
    {
        const FaultInjection fault("cuEventRecord", 1, 999);
        executable.launch(borrowed());
    }
    set_warning_handler(before);
    EXPECT_EQ(value_of(x), 3);
}

TEST_F(InFlight, a_stream_that_cannot_be_marked_later_keeps_what_the_launch_uses) {
    for (const char* const call : {"cuEventCreate", "cuEventRecord", "cuStreamIsCapturing"}) {
        hold();
        Tracked tracked;
        std::optional<Graph> executable = waiting_graph(tracked).instantiate();
        executable->launch(stream());
        {
            testing::WarningLog warnings;
            const FaultInjection fault(call, 1, 999);
            executable.reset();
            EXPECT_TRUE(fault.has_failed()) << call;
            expect_unmarked(warnings.take(WarningKind::Release), call);
        }
        expect_kept_until_the_end(tracked);
    }
}

TEST_F(InFlight, a_closed_stream_that_cannot_be_marked_later_keeps_what_the_launch_uses) {
    for (const char* const call : {"cuEventCreate", "cuEventRecord"}) {
        hold();
        Tracked tracked;
        std::optional<Graph> executable = waiting_graph(tracked).instantiate();
        Stream queue = device().create_stream();
        executable->launch(queue);
        queue.close();
        {
            testing::WarningLog warnings;
            const FaultInjection fault(call, 1, 999);
            executable.reset();
            EXPECT_TRUE(fault.has_failed()) << call;
            expect_unmarked(warnings.take(WarningKind::Release), call);
        }
        expect_kept_until_the_end(tracked);
    }
}

TEST_F(InFlight, a_failed_context_ends_its_launches) {
    for (const char* const call : {"cuEventCreate", "cuEventRecord", "cuStreamIsCapturing"}) {
        Tracked tracked;
        std::optional<Graph> executable = waiting_graph(tracked).instantiate();
        let_go();
        executable->launch(stream());
        stream().sync();
        testing::WarningLog warnings;
        const FaultInjection fault(call, 1, CUDA_ERROR_ILLEGAL_ADDRESS);
        executable.reset();
        EXPECT_TRUE(fault.has_failed()) << call;
        detail::release_payloads();
        EXPECT_TRUE(tracked.watch.expired()) << call;
        EXPECT_TRUE(warnings.take(WarningKind::Release).empty()) << call;
    }
}

TEST_F(InFlight, a_closed_stream_of_a_failed_context_ends_its_launches) {
    Tracked tracked;
    std::optional<Graph> executable = waiting_graph(tracked).instantiate();
    let_go();
    Stream queue = device().create_stream();
    executable->launch(queue);
    queue.sync();
    queue.close();
    testing::WarningLog warnings;
    {
        const FaultInjection fault("cuEventRecord", 1, CUDA_ERROR_ILLEGAL_ADDRESS);
        executable.reset();
        EXPECT_TRUE(fault.has_failed());
    }
    detail::release_payloads();
    EXPECT_TRUE(tracked.watch.expired());
    EXPECT_TRUE(warnings.take(WarningKind::Release).empty());
}

TEST_F(InFlight, the_stream_may_be_captured_during_an_update) {
    Tracked tracked;
    Tracked second;
    const Graph executable = waiting_graph(tracked).instantiate();
    executable.launch(stream());
    GraphBuilder builder = stream().create_graph_builder();
    builder.begin_building();
    const Calls uploads("cuGraphUpload");
    executable.update(waiting_graph(second));
    EXPECT_NO_THROW(builder.end_building());
    EXPECT_EQ(uploads.count(), 0);
    expect_kept_until_the_end(tracked);
}

TEST_F(InFlight, a_failed_upload_of_an_update_leaks_nothing) {
    Tracked tracked;
    Tracked second;
    std::optional<Graph> executable = waiting_graph(tracked).instantiate();
    static_cast<void>(executable->handle()); // others may launch it, so that an upload asks
    executable->launch(stream());
    testing::WarningLog warnings;
    {
        const FaultInjection fault("cuGraphUpload", 1, CUDA_ERROR_OUT_OF_MEMORY);
        executable->update(waiting_graph(second));
        EXPECT_TRUE(fault.has_failed());
    }
    EXPECT_EQ(warnings.take(WarningKind::Release).size(), 1U);
    let_go();
    stream().sync();
    EXPECT_TRUE(is_kept(tracked.watch)) << "nothing says that no launch uses it";
    executable.reset();
    EXPECT_TRUE(is_released(tracked.watch)) << "the failed upload leaked it";
    EXPECT_TRUE(is_released(second.watch));
    EXPECT_TRUE(warnings.take(WarningKind::Release).empty());
}

TEST_F(InFlight, a_launch_makes_one_driver_call) {
    const GraphDefinition graph;
    graph.memset(memory(), std::uint8_t{1}, 4);
    const Graph executable = graph.instantiate();
    executable.launch(stream());
    {
        const Calls all("*");
        executable.launch(stream());
        EXPECT_EQ(all.count(), 1);
    }
    const Stream foreign = borrowed();
    executable.launch(foreign);
    const Calls all("*");
    executable.launch(foreign);
    EXPECT_EQ(all.count(), 3) << "is it captured, the launch, and its mark";
}

// ---- user objects of the driver ----------------------------------------------------------------

TEST_F(InFlight, graphs_of_our_own_have_no_user_objects) {
    const Calls made("cuUserObjectCreate");
    const Buffer x = numbers(1);
    GraphBuilder builder = stream().create_graph_builder();
    builder.begin_building();
    launch(builder, config(), kernel("add"), x, 1, COUNT);
    builder.callback([] {});
    builder.end_building();
    const GraphDefinition graph;
    const KernelNode node = graph.launch(config(), kernel("add"), x, 1, COUNT);
    node.embed(builder.graph_definition());
    graph.keep_alive(std::make_shared<int>(0));
    const GraphDefinition clone = graph.clone();
    const Graph executable = graph.instantiate();
    executable.launch(stream());
    node.update_arguments(x, 2, COUNT);
    executable.update(graph);
    executable[node].update(config(), kernel("add"), x, 3, COUNT);
    executable.launch(stream());
    static_cast<void>(to_string(graph));
    static_cast<void>(to_string(node));
    static_cast<void>(graph.edges());
    static_cast<void>(clone.instantiate());
    EXPECT_EQ(value_of(x), 7);
    EXPECT_EQ(made.count(), 0);
}

TEST_F(InFlight, a_handle_that_is_given_out_makes_a_user_object_for_each_graph_of_the_hierarchy) {
    Tracked inner;
    Tracked outer;
    Tracked kept;
    Tracked later;
    Tracked replaced;
    CUgraph copy = nullptr;
    {
        const GraphDefinition child;
        child.memset({memory().handle(), std::move(inner.object)}, std::uint8_t{1}, 4);
        const GraphDefinition graph;
        const MemsetNode node =
            graph.memset({memory().handle(), std::move(replaced.object)}, std::uint8_t{1}, 4);
        const ChildGraphNode embedded = graph.embed(child);
        graph.keep_alive(std::move(kept.object));
        const Calls made("cuUserObjectCreate");
        const CUgraph handle = embedded.child_graph().handle();
        EXPECT_EQ(made.count(), 2);
        EXPECT_EQ(embedded.child_graph().handle(), handle);
        static_cast<void>(graph.handle());
        EXPECT_EQ(made.count(), 2) << "once is enough";
        node.update({.dst = NodeMemory(memory().handle(), std::move(outer.object))});
        graph.callback([object = std::move(later.object)] {});
        EXPECT_EQ(made.count(), 2);
        driver::call(driver::table().cuGraphClone, &copy, graph.handle());
    }
    for (const Tracked& each : {inner, outer, kept, later, replaced}) {
        EXPECT_TRUE(is_kept(each.watch)) << "others may have copied the graph at any time";
    }
    driver::call(driver::table().cuGraphDestroy, copy);
    for (const Tracked& each : {inner, outer, kept, later, replaced}) {
        EXPECT_TRUE(is_released(each.watch));
    }
}

TEST_F(InFlight, a_handle_of_a_node_exposes_its_graph) {
    const GraphDefinition graph;
    const MemsetNode node = graph.memset(memory(), std::uint8_t{1}, 4);
    const Calls made("cuUserObjectCreate");
    EXPECT_NE(detail::unexposed_handle(node), nullptr);
    EXPECT_EQ(made.count(), 0);
    EXPECT_EQ(node.handle(), detail::unexposed_handle(node));
    EXPECT_EQ(made.count(), 1);
    node.destroy();
    EXPECT_EQ(node.handle(), nullptr);
}

TEST_F(InFlight, a_child_of_an_exposed_graph_is_exposed) {
    Tracked tracked;
    CUgraph copy = nullptr;
    {
        const GraphDefinition graph;
        const CUgraph handle = graph.handle();
        const GraphDefinition child;
        child.memset({memory().handle(), std::move(tracked.object)}, std::uint8_t{1}, 4);
        graph.embed(child);
        driver::call(driver::table().cuGraphClone, &copy, handle);
    }
    EXPECT_TRUE(is_kept(tracked.watch));
    driver::call(driver::table().cuGraphDestroy, copy);
    EXPECT_TRUE(is_released(tracked.watch));
}

TEST_F(InFlight, a_graph_from_a_handle_keeps_what_is_added_here) {
    Tracked tracked;
    CUgraph graph = nullptr;
    driver::call(driver::table().cuGraphCreate, &graph, 0U);
    GraphDefinition::from_handle(graph).memset({memory().handle(), std::move(tracked.object)},
                                               std::uint8_t{1}, 4);
    EXPECT_TRUE(is_kept(tracked.watch));
    driver::call(driver::table().cuGraphDestroy, graph);
    EXPECT_TRUE(is_released(tracked.watch));
}

TEST_F(InFlight, a_handle_is_not_given_out_if_user_objects_cannot_be_made) {
    Tracked first;
    Tracked second;
    {
        const GraphDefinition graph;
        graph.memset({memory().handle(), std::move(first.object)}, std::uint8_t{1}, 4)
            .memset({memory().handle(), std::move(second.object)}, std::uint8_t{1}, 4);
        {
            const FaultInjection fault("cuUserObjectCreate", 1, 999);
            EXPECT_THROW(static_cast<void>(graph.handle()), CUDAError);
        }
        {
            const FaultInjection fault("cuGraphRetainUserObject", 1, 999);
            EXPECT_THROW(static_cast<void>(graph.handle()), CUDAError);
        }
        EXPECT_TRUE(is_kept(first.watch));
        EXPECT_TRUE(is_kept(second.watch));
        EXPECT_NE(graph.handle(), nullptr);
    }
    EXPECT_TRUE(is_released(first.watch));
    EXPECT_TRUE(is_released(second.watch));
}

TEST_F(InFlight, launches_by_others_keep_what_they_use) {
    Tracked tracked;
    std::optional<Graph> executable = waiting_graph(tracked).instantiate();
    const Stream queue = device().create_stream();
    driver::call(driver::table().cuGraphLaunch, executable->handle(), queue.handle());
    executable.reset();
    expect_kept_until_the_end(tracked);
}

TEST_F(InFlight, launches_by_others_keep_what_an_update_replaces) {
    Tracked tracked;
    Tracked second;
    const Graph executable = waiting_graph(tracked).instantiate();
    const Stream queue = device().create_stream();
    driver::call(driver::table().cuGraphLaunch, executable.handle(), queue.handle());
    executable.update(waiting_graph(second));
    expect_kept_until_the_end(tracked);
}

TEST_F(InFlight, a_shared_executable_can_be_closed_in_a_host_function) {
    Tracked tracked;
    std::optional<Graph> executable = waiting_graph(tracked).instantiate();
    static_cast<void>(executable->handle());
    executable->launch(stream());
    const Stream other = device().create_stream();
    other.launch_host([&] { executable.reset(); });
    other.sync();
    expect_kept_until_the_end(tracked);
}

TEST_F(InFlight, graphs_that_kernels_launch_have_one_user_object) {
    Tracked tracked;
    const Buffer x = numbers(1);
    std::optional<Graph> executable;
    {
        const GraphDefinition graph;
        const KernelNode node = graph.launch(config(), kernel("add"), x, 1, COUNT);
        node.launch(config(), kernel("add"), x, 2, COUNT);
        graph.keep_alive(std::move(tracked.object));
        const Calls made("cuUserObjectCreate");
        executable = graph.instantiate({.device_launch = true});
        EXPECT_EQ(made.count(), 1);
        static_cast<void>(graph.instantiate());
        EXPECT_EQ(made.count(), 1) << "the definition has none";
    }
    executable->upload(stream());
    executable->launch(stream());
    EXPECT_EQ(value_of(x), 4);
    EXPECT_TRUE(is_kept(tracked.watch));
    executable.reset();
    EXPECT_TRUE(is_released(tracked.watch));
}

} // namespace
} // namespace cuprum
