// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What GraphBuilder, CaptureGuard and capture() refuse, and that everything works afterwards.

#include "driver/call.hpp"
#include "driver/capture.hpp"
#include "graph/capture_test.hpp"
#include "stream/active_captures.hpp"
#include "support/expect_error.hpp"

#include <cuprum/cuprum.hpp>

#include <cuda.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace cuprum {

namespace {

using testing::expect_error;

class GraphBuilderErrors : public testing::CaptureTest {
protected:
    void TearDown() override {
        EXPECT_EQ(detail::active_captures.load(), 0U);
        CaptureTest::TearDown();
    }

    static bool is_capturing(const Stream& queue) {
        return driver::capture_status(queue.handle()) != CU_STREAM_CAPTURE_STATUS_NONE;
    }

    static std::string name_of(const GraphBuilder& builder) {
        return "GraphBuilder " + std::to_string(builder.id());
    }

    /// Makes a call that invalidates captures of this thread, unless they are relaxed.
    static void make_forbidden_call(const Stream& queue) { EXPECT_THROW(queue.sync(), CUDAError); }
};

class CaptureGuardTest : public GraphBuilderErrors {};

} // namespace

TEST_F(GraphBuilderErrors, name_the_builder_and_what_to_do) {
    const Buffer value = counters({0});
    GraphBuilder builder = device().create_graph_builder();
    const std::string name = name_of(builder);
    expect_error<std::logic_error>([&] { (void)builder.complete(); },
                                   {name, "has not finished building", "begin_building()"});
    expect_error<std::logic_error>([&] { builder.end_building(); },
                                   {name, "is not building", "call begin_building() first"});
    expect_error<std::logic_error>([&] { (void)builder.split(2); }, {name, "is not building"});
    expect_error<std::logic_error>([&] { add(builder, value, 1); }, {name, "is not building"});
    expect_error<std::logic_error>([&] { (void)builder.create_condition(); }, {name});
    builder.begin_building();
    expect_error<std::logic_error>([&] { builder.begin_building(); },
                                   {name, "is building already"});
    expect_error<std::logic_error>([&] { (void)builder.graph_definition(); },
                                   {name, "the capture is in progress", "end_building()"});
    expect_error<std::invalid_argument>([&] { (void)builder.split(1); },
                                        {"count is 1", "at least 2"});
    expect_error<std::invalid_argument>(
        [&] { (void)builder.switch_cases(GraphCondition::from_handle(1), 0); }, {"count is 0"});
    expect_error<std::invalid_argument>([&] { builder.callback(std::function<void()>()); },
                                        {"function is empty"});
    expect_error<std::invalid_argument>([&] { builder.callback(HostFunctionParameters{}); },
                                        {"function is null"});
    EXPECT_TRUE(builder.is_building()) << "none of this ends the capture";
    add(builder, value, 1);
    builder.end_building();
    expect_error<std::logic_error>([&] { builder.end_building(); }, {name, "it has ended"});
    expect_error<std::logic_error>([&] { builder.begin_building(); },
                                   {name, "cannot go on building", "create another"});
    expect_error<std::logic_error>([&] { add(builder, value, 1); }, {name, "it has ended"});
    expect_error<std::logic_error>([&] { builder.callback([] {}); }, {name, "it has ended"});
    run(builder.complete());
    EXPECT_EQ(download<int>(value), (std::vector{1}));
    EXPECT_EQ(to_string(builder), "<" + name + " primary, ended>");
    builder.close();
    expect_error<ClosedError>([&] { (void)builder.complete(); }, {name, "closed"});
    expect_error<ClosedError>([&] { (void)builder.stream(); }, {name});
    expect_error<ClosedError>([&] { (void)builder.is_building(); }, {name});
    expect_error<ClosedError>([&] { builder.begin_building(); }, {name});
    EXPECT_EQ(to_string(builder), "<" + name + " primary, closed>");
}

TEST_F(GraphBuilderErrors, refuse_streams_that_cannot_be_captured) {
    const CurrentContext current(device().primary_context());
    GraphBuilder legacy = Stream::legacy_default().create_graph_builder();
    expect_error<CUDAError>([&] { legacy.begin_building(); },
                            {name_of(legacy), "the legacy default stream cannot be captured"});
    Stream closed = device().create_stream();
    closed.close();
    EXPECT_THROW((void)closed.create_graph_builder(), ClosedError);
    GraphBuilder first = stream().create_graph_builder();
    GraphBuilder second = stream().create_graph_builder();
    first.begin_building();
    expect_error<CUDAError>([&] { second.begin_building(); },
                            {name_of(second), name_of(first), "captures this stream"});
    EXPECT_TRUE(first.is_building());
    first.end_building();
    second.begin_building();
    second.end_building();
}

TEST_F(GraphBuilderErrors, refuse_a_stream_that_other_code_captures) {
    GraphBuilder builder = stream().create_graph_builder();
    driver::call(driver::table().cuStreamBeginCapture, stream().handle(),
                 CU_STREAM_CAPTURE_MODE_RELAXED);
    expect_error<CUDAError>([&] { builder.begin_building(); },
                            {name_of(builder), "another library captures this stream"});
    EXPECT_THROW(stream().launch_host([] {}), CUDAError) << "nobody would own it";
    CUgraph graph = nullptr;
    driver::call(driver::table().cuStreamEndCapture, stream().handle(), &graph);
    driver::call(driver::table().cuGraphDestroy, graph);
    builder.begin_building();
    builder.end_building();
}

TEST_F(GraphBuilderErrors, refuse_a_mode_that_does_not_exist) {
    GraphBuilder builder = stream().create_graph_builder();
    expect_error<std::invalid_argument>(
        [&] { builder.begin_building(static_cast<CaptureMode>(7)); }, {"mode is 7", "Relaxed"});
    EXPECT_EQ(builder.phase(), GraphBuilderPhase::NotStarted);
    builder.begin_building();
    builder.end_building();
}

TEST_F(GraphBuilderErrors, name_forks_that_are_not_joined) {
    const Buffer value = counters({0});
    GraphBuilder builder = device().create_graph_builder();
    builder.begin_building();
    add(builder, value, 1);
    std::vector<GraphBuilder> forks = builder.split(3);
    expect_error<std::logic_error>(
        [&] { builder.end_building(); },
        {name_of(builder), name_of(forks[1]), name_of(forks[2]), "join them"});
    expect_error<std::logic_error>([&] { forks[1].end_building(); },
                                   {name_of(forks[1]), name_of(builder), "join"});
    expect_error<std::logic_error>([&] { forks[1].begin_building(); }, {"is building already"});
    expect_error<std::logic_error>([&] { (void)forks[1].graph_definition(); },
                                   {name_of(forks[1]), "is forked", name_of(builder)});
    GraphBuilder::join(forks);
    EXPECT_THROW((void)forks[1].complete(), ClosedError);
    run(builder.end_building().complete());
    EXPECT_EQ(download<int>(value), (std::vector{1}));
}

TEST_F(GraphBuilderErrors, name_forks_that_were_dropped) {
    const Buffer value = counters({0});
    GraphBuilder builder = stream().create_graph_builder();
    builder.begin_building();
    std::string dropped;
    {
        const std::vector<GraphBuilder> forks = builder.split(2);
        add(forks[1], value, 1);
        dropped = name_of(forks[1]);
    }
    expect_error<std::logic_error>([&] { builder.end_building(); },
                                   {name_of(builder), dropped, "dropped", "close this builder"});
    builder.close();
    EXPECT_FALSE(is_capturing(stream()));
    add(stream(), value, 2);
    EXPECT_EQ(download<int>(value), (std::vector{2}));
}

TEST_F(GraphBuilderErrors, refuse_to_join_foreign_builders) {
    GraphBuilder first = device().create_graph_builder();
    GraphBuilder second = device().create_graph_builder();
    GraphBuilder idle = device().create_graph_builder();
    first.begin_building();
    second.begin_building();
    std::vector<GraphBuilder> forks = second.split(2);
    expect_error<std::invalid_argument>(
        [&] { GraphBuilder::join(first, forks[1]); },
        {name_of(forks[1]), name_of(first), name_of(second), "embed()"});
    expect_error<std::invalid_argument>([&] { GraphBuilder::join(first, second); },
                                        {name_of(first), name_of(second)});
    expect_error<std::logic_error>([&] { GraphBuilder::join(forks[0], forks[1], idle); },
                                   {name_of(idle), "is not building"});
    expect_error<std::invalid_argument>([&] { GraphBuilder::join(forks[0], forks[1], forks[1]); },
                                        {name_of(forks[1]), "twice"});
    expect_error<std::invalid_argument>([&] { GraphBuilder::join(first); }, {"has 1"});
    expect_error<std::invalid_argument>(
        [&] { GraphBuilder::join(std::span<const GraphBuilder>()); }, {"has 0"});
    EXPECT_EQ(forks[1].phase(), GraphBuilderPhase::Building) << "nothing was joined";
    GraphBuilder::join(forks);
    second.end_building();
    first.end_building();
}

TEST_F(GraphBuilderErrors, name_the_call_that_invalidated_the_capture) {
    const Buffer value = counters({0});
    GraphBuilder builder = stream().create_graph_builder();
    builder.begin_building(CaptureMode::ThreadLocal);
    add(builder, value, 1);
    const GraphNode node = builder.dependencies().at(0);
    make_forbidden_call(stream());
    expect_error<CUDAError>([&] { (void)builder.is_building(); },
                            {name_of(builder), "cuStreamSynchronize", "invalidated"});
    expect_error<CUDAError>([&] { builder.callback([] {}); }, {name_of(builder), "invalidated"});
    expect_error<CUDAError>(
        [&] { builder.end_building(); },
        {name_of(builder), "cuStreamSynchronize", "CUDA_ERROR_STREAM_CAPTURE_", "capture again"});
    EXPECT_FALSE(is_capturing(stream()));
    EXPECT_EQ(builder.phase(), GraphBuilderPhase::Ended);
    EXPECT_FALSE(node.is_valid()) << "the graph is gone";
    expect_error<std::logic_error>([&] { (void)builder.graph_definition(); },
                                   {name_of(builder), "has no graph", "capture again"});
    GraphBuilder other = stream().create_graph_builder();
    other.begin_building(CaptureMode::ThreadLocal);
    add(other, value, 2);
    run(other.end_building().complete());
    EXPECT_EQ(download<int>(value), (std::vector{2}));
}

// A GPU's driver destroys the body and then crashes when it uses the whole graph.
TEST_F(GraphBuilderErrors, of_an_invalidated_body_lose_the_whole_graph) {
    const Buffer value = counters({0});
    GraphBuilder builder = stream().create_graph_builder();
    builder.begin_building();
    GraphBuilder body = builder.if_then(builder.create_condition(1));
    body.begin_building(CaptureMode::ThreadLocal);
    make_forbidden_call(body.stream());
    EXPECT_THROW(body.end_building(), CUDAError);
    expect_error<std::logic_error>([&] { (void)body.graph_definition().nodes(); },
                                   {"cannot be used", "body failed", "again"});
    add(builder, value, 1);
    expect_error<CUDAError>([&] { builder.end_building(); },
                            {name_of(builder), "conditional body failed", "again"});
    expect_error<std::logic_error>([&] { (void)builder.complete(); },
                                   {name_of(builder), "has no graph", "capture again"});
    EXPECT_FALSE(is_capturing(stream()));
    GraphBuilder other = stream().create_graph_builder();
    other.begin_building();
    add(other, value, 1);
    other.end_building();
    run(other.complete());
    EXPECT_EQ(download<int>(value), (std::vector{1}));
}

TEST_F(GraphBuilderErrors, closing_a_builder_ends_the_captures_of_its_bodies) {
    const Buffer value = counters({1});
    for (const bool is_closed : {true, false}) {
        GraphBuilder builder = stream().create_graph_builder();
        builder.begin_building();
        GraphBuilder body = builder.if_then(builder.create_condition(1));
        body.begin_building();
        add(body, value, 1);
        GraphBuilder inner = body.if_then(body.create_condition(1));
        inner.begin_building();
        add(inner, value, 1);
        const std::vector<GraphBuilder> forks = inner.split(2);
        add(forks[1], value, 1);
        const Stream captured[] = {body.stream(), inner.stream(), forks[1].stream()};
        if (is_closed) {
            builder.close();
        } else {
            builder = body; // the last share
        }
        for (const Stream& each : captured) {
            EXPECT_FALSE(is_capturing(each));
        }
        EXPECT_EQ(body.phase(), GraphBuilderPhase::Ended);
        EXPECT_EQ(inner.phase(), GraphBuilderPhase::Ended);
        EXPECT_EQ(forks[1].phase(), GraphBuilderPhase::Ended);
        EXPECT_THROW(body.end_building(), std::logic_error);
        expect_error<ClosedError>([&] { (void)body.graph_definition().nodes(); }, {"destroyed"});
        EXPECT_NO_THROW(inner.close());
        EXPECT_NO_THROW(body.close());
    }
    add(stream(), value, 1);
    EXPECT_EQ(download<int>(value)[0], 2) << "nothing captured runs";
}

TEST_F(GraphBuilderErrors, of_an_invalidated_body_survive_closing_the_parent) {
    GraphBuilder builder = stream().create_graph_builder();
    builder.begin_building();
    GraphBuilder body = builder.if_then(builder.create_condition(1));
    body.begin_building(CaptureMode::ThreadLocal);
    make_forbidden_call(body.stream());
    body.close();
    builder.close();
    EXPECT_FALSE(is_capturing(stream()));
}

TEST_F(GraphBuilderErrors, only_the_thread_that_began_ends_a_capture) {
    GraphBuilder builder = stream().create_graph_builder();
    builder.begin_building(CaptureMode::ThreadLocal);
    std::thread([&] {
        expect_error<CUDAError>([&] { builder.end_building(); },
                                {name_of(builder), "thread_local", "another thread"});
    }).join();
    if (is_capturing(stream())) { // the driver decides whether the capture survives that
        EXPECT_EQ(builder.phase(), GraphBuilderPhase::Building);
        builder.end_building();
    } else {
        EXPECT_EQ(builder.phase(), GraphBuilderPhase::Ended);
    }
    stream().sync();
    CaptureGuard guard(stream(), CaptureMode::ThreadLocal);
    std::thread([&] {
        try {
            guard.builder().close();
        } catch (const CUDAError& error) {
            EXPECT_EQ(error.code(), CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
            EXPECT_EQ(guard.builder().phase(), GraphBuilderPhase::Building);
        }
    }).join();
}

TEST_F(GraphBuilderErrors, foreign_work_that_is_not_joined_loses_the_capture) {
    const Buffer value = counters({0});
    const Stream other = device().create_stream();
    GraphBuilder builder = stream().create_graph_builder();
    builder.begin_building();
    add(builder, value, 1);
    other.wait(stream().record());
    add(other, value, 1);
    expect_error<CUDAError>([&] { builder.end_building(); },
                            {name_of(builder), "not joined", "CUDA_ERROR_STREAM_CAPTURE_UNJOINED"});
    EXPECT_FALSE(is_capturing(stream()));
    EXPECT_FALSE(is_capturing(other));
    add(other, value, 3);
    other.sync();
    EXPECT_EQ(download<int>(value), (std::vector{3}));
}

TEST_F(GraphBuilderErrors, of_a_reset_device_say_that_the_stream_is_gone) {
    if (!device().is_emulated()) {
        GTEST_SKIP() << "a GPU's driver does not define what a reset does to a capture";
    }
    const Buffer value = counters({0});
    GraphBuilder builder = device().create_graph_builder();
    builder.begin_building();
    {
        const driver::RelaxedCapture relaxed;
        EXPECT_NO_THROW(device().reset_primary_context());
    }
    EXPECT_THROW(add(builder, value, 1), ClosedError);
    EXPECT_THROW(builder.end_building(), ClosedError);
    builder.close();
    EXPECT_EQ(detail::active_captures.load(), 0U);
}

// ---- CaptureGuard ------------------------------------------------------------------------------

TEST_F(CaptureGuardTest, returns_the_graph) {
    const Buffer value = counters({1});
    CaptureGuard guard(stream());
    add(guard.builder(), value, 1);
    const GraphDefinition definition = guard.end();
    EXPECT_EQ(definition.nodes().size(), 1U);
    run(definition.instantiate());
    EXPECT_EQ(download<int>(value), (std::vector{2}));
}

TEST_F(CaptureGuardTest, ends_the_capture_after_an_exception) {
    const Buffer value = counters({0});
    EXPECT_THROW(
        {
            const CaptureGuard guard(stream());
            add(stream(), value, 1);
            throw std::runtime_error("half way");
        },
        std::runtime_error);
    EXPECT_FALSE(is_capturing(stream()));
    add(stream(), value, 7);
    EXPECT_EQ(download<int>(value), (std::vector{7}));
}

TEST_F(CaptureGuardTest, ends_an_invalidated_capture) {
    const Buffer value = counters({0});
    {
        const CaptureGuard guard(stream(), CaptureMode::ThreadLocal);
        make_forbidden_call(stream());
    }
    EXPECT_FALSE(is_capturing(stream()));
    add(stream(), value, 7);
    EXPECT_EQ(download<int>(value), (std::vector{7}));
}

TEST_F(CaptureGuardTest, ends_a_capture_with_forks_after_an_exception) {
    const Buffer value = counters({0});
    EXPECT_THROW((void)capture(stream(),
                               [&](GraphBuilder& builder) {
                                   std::vector<GraphBuilder> forks = builder.split(3);
                                   add(forks[1], value, 1);
                                   throw std::runtime_error("half way");
                               }),
                 std::runtime_error);
    EXPECT_FALSE(is_capturing(stream()));
    stream().sync();
}

TEST_F(CaptureGuardTest, capture_calls_functions_with_what_they_take) {
    const Buffer value = counters({0});
    const auto amount = [&](const GraphDefinition& definition) {
        EXPECT_EQ(definition.nodes().size(), 1U);
        run(definition.instantiate());
        return download<int>(value)[0];
    };
    EXPECT_EQ(amount(capture(stream(), [&] { add(stream(), value, 1); })), 1);
    EXPECT_EQ(amount(capture(stream(), [&](const Stream& queue) { add(queue, value, 2); })), 3);
    EXPECT_EQ(
        amount(capture(
            stream(), [&](GraphBuilder& builder) { add(builder, value, 3); }, CaptureMode::Global)),
        6);
}

TEST_F(CaptureGuardTest, capture_passes_exceptions_on) {
    expect_error<std::domain_error>(
        [&] { (void)capture(stream(), [] { throw std::domain_error("my own"); }); }, {"my own"});
    EXPECT_FALSE(is_capturing(stream()));
}

} // namespace cuprum
