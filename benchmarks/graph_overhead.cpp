// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Measures the overhead of graph objects over bare driver calls, in turns: "…/driver" with
// hand-written calls that keep nothing alive and check nothing, "…/cuprum" with objects.

#include "bare_driver.hpp"
#include "in_turns.hpp"

#include <cuprum/cuprum.hpp>

#include <benchmark/benchmark.h>
#include <cuda.h>

#include <optional>
#include <vector>

namespace {

using bare::check;
using bare::Driver;
using in_turns::Between;
using in_turns::compare;

constexpr int KERNELS = 16; // in a graph

constexpr const char* SOURCE = R"(
extern "C" __global__ void empty() {}
extern "C" __global__ void three(float* x, float a, long long n) { if (n < 0) *x = a; }
)";

} // namespace

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    const cuprum::Device device(0);
    device.set_current();
    const auto context = device.primary_context();
    auto stream = device.create_stream();
    const auto code = cuprum::Program(SOURCE).compile(cuprum::CodeType::Cubin);
    const auto three = code.get_kernel("three");
    const auto memory = device.allocate(4096, stream);
    const Driver driver;
    const auto raw_create = [&driver] {
        CUstream made = nullptr;
        check(driver.cuStreamCreateWithPriority_(&made, CU_STREAM_NON_BLOCKING, 0), "create");
        return made;
    };
    CUstream raw_stream = raw_create();

    CUdeviceptr pointer = memory.handle();
    float factor = 2;
    long long count = 7;
    void* arguments[] = {&pointer, &factor, &count};
    CUDA_KERNEL_NODE_PARAMS parameters{};
    parameters.gridDimX = parameters.gridDimY = parameters.gridDimZ = 1;
    parameters.blockDimX = parameters.blockDimY = parameters.blockDimZ = 1;
    parameters.kernelParams = arguments;
    parameters.kern = three.handle();
    parameters.ctx = context.handle();
    CUlaunchConfig raw_config{};
    raw_config.gridDimX = raw_config.gridDimY = raw_config.gridDimZ = 1;
    raw_config.blockDimX = raw_config.blockDimY = raw_config.blockDimZ = 1;
    raw_config.hStream = raw_stream;
    const cuprum::LaunchConfig config{.grid = 1, .block = 1};

    // Graphs that grow during a turn begin anew in the next.
    CUgraph raw_graph = nullptr;
    check(driver.cuGraphCreate_(&raw_graph, 0), "graph");
    std::optional<cuprum::GraphDefinition> graph(std::in_place);
    const Between anew{[&] {
                           check(driver.cuGraphDestroy_(raw_graph), "destroy");
                           check(driver.cuGraphCreate_(&raw_graph, 0), "graph");
                           graph.emplace();
                       },
                       [] {}};
    compare(
        "add_kernel_node", 200, anew,
        [&] {
            CUgraphNode node = nullptr;
            check(driver.cuGraphAddKernelNode_(&node, raw_graph, nullptr, 0, &parameters), "add");
        },
        [&] { graph->launch(config, three, memory, factor, count); });

    // Kernels that take turns with two buffers: no node can share what the one before keeps alive.
    const auto other_memory = device.allocate(4096, stream);
    CUdeviceptr other_pointer = other_memory.handle();
    void* other_arguments[] = {&other_pointer, &factor, &count};
    CUDA_KERNEL_NODE_PARAMS other_parameters = parameters;
    other_parameters.kernelParams = other_arguments;
    bool is_other = false;
    compare(
        "add_kernel_node_in_turns", 200, anew,
        [&] {
            is_other = !is_other;
            CUgraphNode node = nullptr;
            check(driver.cuGraphAddKernelNode_(&node, raw_graph, nullptr, 0,
                                               is_other ? &other_parameters : &parameters),
                  "add");
        },
        [&] {
            is_other = !is_other;
            graph->launch(config, three, is_other ? other_memory : memory, factor, count);
        });

    const auto raw_instantiate = [&](CUgraphExec* made, CUgraph source) {
        CUDA_GRAPH_INSTANTIATE_PARAMS options{};
        check(driver.cuGraphInstantiateWithParams_(made, source, &options), "instantiate");
    };
    // A chain of kernels, made both ways.
    const auto raw_chain = [&](CUgraph made, CUgraphNode* first) {
        CUgraphNode last = nullptr;
        for (int i = 0; i < KERNELS; ++i) {
            CUgraphNode node = nullptr;
            check(driver.cuGraphAddKernelNode_(&node, made, &last, i == 0 ? 0 : 1, &parameters),
                  "add");
            *first = i == 0 ? node : *first;
            last = node;
        }
    };
    const auto chain = [&](const cuprum::GraphDefinition& made) {
        const cuprum::KernelNode first = made.launch(config, three, memory, factor, count);
        cuprum::KernelNode last = first;
        for (int i = 1; i < KERNELS; ++i) {
            last = last.launch(config, three, memory, factor, count);
        }
        return first;
    };
    CUgraph raw_definition = nullptr;
    CUgraphNode raw_node = nullptr;
    CUgraphExec raw_executable = nullptr;
    check(driver.cuGraphCreate_(&raw_definition, 0), "graph");
    raw_chain(raw_definition, &raw_node);
    raw_instantiate(&raw_executable, raw_definition);
    const cuprum::GraphDefinition definition;
    const cuprum::KernelNode node = chain(definition);
    const cuprum::Graph executable = definition.instantiate();

    const Between settle{[&] {
                             check(driver.cuStreamSynchronize_(raw_stream), "sync");
                             stream.sync();
                         },
                         [&] {
                             stream = device.create_stream();
                             const CUstream before = raw_stream;
                             raw_stream = raw_config.hStream = raw_create();
                             check(driver.cuStreamDestroy_(before), "destroy");
                         }};
    const auto view = executable[node];
    compare(
        "update_node_in_executable", 500, settle,
        [&] {
            check(driver.cuGraphExecKernelNodeSetParams_(raw_executable, raw_node, &parameters),
                  "update");
        },
        [&] { view.update(config, three, memory, factor, count); });
    compare(
        "launch_16_kernels", 100, settle,
        [&] { check(driver.cuGraphLaunch_(raw_executable, raw_stream), "launch"); },
        [&] { executable.launch(stream); });
    compare(
        "update_executable_16", 50, settle,
        [&] {
            CUgraphExecUpdateResultInfo info{};
            check(driver.cuGraphExecUpdate_(raw_executable, raw_definition, &info), "update");
        },
        [&] { executable.update(definition); });
    compare(
        "define_instantiate_16", 20, settle,
        [&] {
            CUgraph made = nullptr;
            CUgraphNode first = nullptr;
            CUgraphExec instance = nullptr;
            check(driver.cuGraphCreate_(&made, 0), "graph");
            raw_chain(made, &first);
            raw_instantiate(&instance, made);
            check(driver.cuGraphExecDestroy_(instance), "destroy");
            check(driver.cuGraphDestroy_(made), "destroy");
        },
        [&] {
            const cuprum::GraphDefinition made;
            chain(made);
            static_cast<void>(made.instantiate());
        });
    compare(
        "capture_instantiate_16", 20, settle,
        [&] {
            CUgraph made = nullptr;
            CUgraphExec instance = nullptr;
            check(driver.cuStreamBeginCapture_(raw_stream, CU_STREAM_CAPTURE_MODE_RELAXED),
                  "begin");
            for (int i = 0; i < KERNELS; ++i) {
                check(driver.cuLaunchKernelEx_(&raw_config,
                                               reinterpret_cast<CUfunction>(parameters.kern),
                                               arguments, nullptr),
                      "launch");
            }
            check(driver.cuStreamEndCapture_(raw_stream, &made), "end");
            raw_instantiate(&instance, made);
            check(driver.cuGraphExecDestroy_(instance), "destroy");
            check(driver.cuGraphDestroy_(made), "destroy");
        },
        [&] {
            cuprum::GraphBuilder builder = stream.create_graph_builder();
            builder.begin_building();
            for (int i = 0; i < KERNELS; ++i) {
                cuprum::launch(builder, config, three, memory, factor, count);
            }
            benchmark::DoNotOptimize(builder.end_building().complete());
        });

    cuprum::launch(stream, config, three, memory, factor, count);
    stream.sync();
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    check(driver.cuGraphExecDestroy_(raw_executable), "destroy");
    check(driver.cuGraphDestroy_(raw_definition), "destroy");
    check(driver.cuGraphDestroy_(raw_graph), "destroy");
}
