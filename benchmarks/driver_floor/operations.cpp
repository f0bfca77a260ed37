// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "operations.hpp"

#include "../bare_driver.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace floors {

namespace {

constexpr std::size_t ALLOCATED_BYTES = 1024;
constexpr std::size_t COPIED_BYTES = 4096;
constexpr int GRAPH_KERNELS = 16;
constexpr int MOST_NODES = 1000; // of one graph

/// Resolved once, when this library is loaded.
const bare::Driver DRIVER;

void check(CUresult status) {
    if (status != CUDA_SUCCESS) {
        std::fprintf(stderr, "a driver call failed: %d\n", static_cast<int>(status));
        std::exit(1);
    }
}

void launch(const Objects& objects, CUkernel kernel, void** arguments) {
    CUlaunchConfig config{};
    config.gridDimX = config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    config.hStream = objects.stream;
    check(DRIVER.cuLaunchKernelEx_(&config, reinterpret_cast<CUfunction>(kernel), arguments,
                                   nullptr));
}

/// The arguments of the kernel with three.
struct ThreeArguments {
    explicit ThreeArguments(const Objects& objects) : pointer(objects.source) {}

    CUdeviceptr pointer;
    float factor = 2;
    long long count = 7;
    void* addresses[3] = {&pointer, &factor, &count};
};

CUDA_KERNEL_NODE_PARAMS one_thread(CUkernel kernel, void** arguments) {
    CUDA_KERNEL_NODE_PARAMS parameters{};
    parameters.kern = kernel;
    parameters.gridDimX = parameters.gridDimY = parameters.gridDimZ = 1;
    parameters.blockDimX = parameters.blockDimY = parameters.blockDimZ = 1;
    parameters.kernelParams = arguments;
    return parameters;
}

CUgraph create_graph() {
    CUgraph graph = nullptr;
    check(DRIVER.cuGraphCreate_(&graph, 0));
    return graph;
}

CUgraphNode add_node(CUgraph graph, CUgraphNode after, CUkernel kernel, void** arguments) {
    CUgraphNode node = nullptr;
    const CUDA_KERNEL_NODE_PARAMS parameters = one_thread(kernel, arguments);
    check(
        DRIVER.cuGraphAddKernelNode_(&node, graph, &after, after == nullptr ? 0 : 1, &parameters));
    return node;
}

CUgraphExec instantiate(CUgraph graph) {
    CUgraphExec executable = nullptr;
    CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
    check(DRIVER.cuGraphInstantiateWithParams_(&executable, graph, &parameters));
    return executable;
}

template <typename Call>
double time(int loops, const Call& call) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < loops; ++i) {
        call();
    }
    const auto end = std::chrono::steady_clock::now();
    return std::chrono::duration<double, std::nano>(end - begin).count() / loops;
}

} // namespace

void complete(Objects& objects) {
    objects.stream = create_stream();
    objects.event = create_event();
}

void renew_stream(Objects& objects) {
    const CUstream before = objects.stream;
    objects.stream = create_stream(); // before destroying the old one, so that the handle differs
    destroy(before);
}

void settle(const Objects& objects) {
    check(DRIVER.cuStreamSynchronize_(objects.stream));
}

CUdeviceptr allocate(const Objects& objects) {
    CUdeviceptr memory = 0;
    check(DRIVER.cuMemAllocFromPoolAsync_(&memory, ALLOCATED_BYTES, objects.pool, objects.stream));
    return memory;
}

void free(const Objects& objects, CUdeviceptr memory) {
    check(DRIVER.cuMemFreeAsync_(memory, objects.stream));
}

void copy(const Objects& objects) {
    check(DRIVER.cuMemcpyAsync_(objects.target, objects.source, COPIED_BYTES, objects.stream));
}

void fill(const Objects& objects, unsigned char value) {
    check(DRIVER.cuMemsetD8Async_(objects.source, value, COPIED_BYTES, objects.stream));
}

void launch_empty(const Objects& objects) {
    launch(objects, objects.empty, nullptr);
}

void launch_three(const Objects& objects, float factor, long long count) {
    CUdeviceptr pointer = objects.source;
    void* arguments[] = {&pointer, &factor, &count};
    launch(objects, objects.three, arguments);
}

void launch_sixteen(const Objects& objects) {
    CUdeviceptr pointer = objects.source;
    void* arguments[16];
    for (void*& argument : arguments) {
        argument = &pointer;
    }
    launch(objects, objects.sixteen, arguments);
}

CUevent create_event() {
    CUevent event = nullptr;
    check(DRIVER.cuEventCreate_(&event, CU_EVENT_DISABLE_TIMING));
    return event;
}

void destroy(CUevent event) {
    check(DRIVER.cuEventDestroy_(event));
}

void record(const Objects& objects) {
    check(DRIVER.cuEventRecord_(objects.event, objects.stream));
}

void encode_tensor_map(const Objects& objects) {
    CUtensorMap map;
    const cuuint64_t dims[] = {64, 16};
    const cuuint64_t strides[] = {256};
    const cuuint32_t box[] = {8, 8};
    const cuuint32_t steps[] = {1, 1};
    check(DRIVER.cuTensorMapEncodeTiled_(
        &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, reinterpret_cast<void*>(objects.source), dims,
        strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
}

bool is_done(const Objects& objects) {
    return DRIVER.cuEventQuery_(objects.event) == CUDA_SUCCESS;
}

CUstream create_stream() {
    CUstream stream = nullptr;
    check(DRIVER.cuStreamCreateWithPriority_(&stream, CU_STREAM_NON_BLOCKING, 0));
    return stream;
}

void destroy(CUstream stream) {
    check(DRIVER.cuStreamDestroy_(stream));
}

void create_texture() {
    static const CUDA_RESOURCE_DESC resource = [] {
        CUDA_ARRAY3D_DESCRIPTOR description{};
        description.Width = 64;
        description.Height = 64;
        description.Format = CU_AD_FORMAT_FLOAT;
        description.NumChannels = 1;
        CUDA_RESOURCE_DESC made{};
        made.resType = CU_RESOURCE_TYPE_ARRAY;
        check(DRIVER.cuArray3DCreate_(&made.res.array.hArray, &description));
        return made;
    }();
    CUDA_TEXTURE_DESC sampling{};
    sampling.filterMode = CU_TR_FILTER_MODE_LINEAR;
    sampling.flags = CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_READ_AS_INTEGER;
    CUtexObject texture = 0;
    check(DRIVER.cuTexObjectCreate_(&texture, &resource, &sampling, nullptr));
    check(DRIVER.cuTexObjectDestroy_(texture));
}

void order_default_streams() {
    CUevent event = create_event();
    check(DRIVER.cuEventRecord_(event, CU_STREAM_LEGACY));
    check(DRIVER.cuStreamWaitEvent_(CU_STREAM_PER_THREAD, event, CU_EVENT_WAIT_DEFAULT));
    destroy(event);
}

void set_current(const Objects& objects) {
    check(DRIVER.cuCtxSetCurrent_(objects.context));
}

void launch_graph(const Objects& objects) {
    static const CUgraphExec executable = [&] {
        const CUgraph graph = create_graph();
        CUgraphNode last = nullptr;
        for (int i = 0; i < GRAPH_KERNELS; ++i) {
            last = add_node(graph, last, objects.empty, nullptr);
        }
        return instantiate(graph);
    }();
    check(DRIVER.cuGraphLaunch_(executable, objects.stream));
}

void add_kernel_node(const Objects& objects) {
    static CUgraph graph = nullptr;
    static int count = 0;
    if (count++ % MOST_NODES == 0) {
        if (graph != nullptr) {
            check(DRIVER.cuGraphDestroy_(graph));
        }
        graph = create_graph();
    }
    ThreeArguments arguments(objects);
    static_cast<void>(add_node(graph, nullptr, objects.three, arguments.addresses));
}

void update_kernel_node(const Objects& objects) {
    static CUgraphNode node = nullptr;
    static const CUgraphExec executable = [&] {
        const CUgraph graph = create_graph();
        ThreeArguments arguments(objects);
        node = add_node(graph, nullptr, objects.three, arguments.addresses);
        return instantiate(graph);
    }();
    ThreeArguments arguments(objects);
    const CUDA_KERNEL_NODE_PARAMS parameters = one_thread(objects.three, arguments.addresses);
    check(DRIVER.cuGraphExecKernelNodeSetParams_(executable, node, &parameters));
}

void capture_graph(const Objects& objects) {
    CUgraph graph = nullptr;
    check(DRIVER.cuStreamBeginCapture_(objects.stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    for (int i = 0; i < GRAPH_KERNELS; ++i) {
        launch_empty(objects);
    }
    check(DRIVER.cuStreamEndCapture_(objects.stream, &graph));
    const CUgraphExec executable = instantiate(graph);
    check(DRIVER.cuGraphExecDestroy_(executable));
    check(DRIVER.cuGraphDestroy_(graph));
}

double time_of(const char* operation, int loops, const Objects& objects) {
    const auto is = [operation](const char* name) { return std::strcmp(operation, name) == 0; };
    if (is("launch_empty")) {
        return time(loops, [&] { launch_empty(objects); });
    }
    if (is("launch_3_args")) {
        return time(loops, [&] { launch_three(objects, 2, 7); });
    }
    if (is("launch_16_pointers") || is("launch_16_buffers")) {
        return time(loops, [&] { launch_sixteen(objects); });
    }
    if (is("allocate_free") || is("allocate_drop")) {
        return time(loops, [&] { free(objects, allocate(objects)); });
    }
    if (is("copy")) {
        return time(loops, [&] { copy(objects); });
    }
    if (is("fill")) {
        return time(loops, [&] { fill(objects, 0); });
    }
    if (is("event_create")) {
        return time(loops, [] { destroy(create_event()); });
    }
    if (is("texture_create_drop") || is("texture_create_close")) {
        return time(loops, [] { create_texture(); });
    }
    if (is("event_record")) {
        return time(loops, [&] { record(objects); });
    }
    if (is("event_is_done")) {
        return time(loops, [&] { static_cast<void>(is_done(objects)); });
    }
    if (is("stream_create")) {
        return time(loops, [] { destroy(create_stream()); });
    }
    if (is("stream_sync")) {
        return time(loops, [&] { settle(objects); });
    }
    if (is("set_current")) {
        return time(loops, [&] { set_current(objects); });
    }
    if (is("graph_launch")) {
        return time(loops, [&] { launch_graph(objects); });
    }
    if (is("graph_add_kernel")) {
        return time(loops, [&] { add_kernel_node(objects); });
    }
    if (is("graph_update_node")) {
        return time(loops, [&] { update_kernel_node(objects); });
    }
    if (is("tensor_map")) {
        return time(loops, [&] { encode_tensor_map(objects); });
    }
    if (is("graph_capture")) {
        return time(loops, [&] { capture_graph(objects); });
    }
    if (is("view_cupy_ordered") || is("view_torch_ordered")) {
        return time(loops, [] { order_default_streams(); });
    }
    return -1;
}

} // namespace floors
