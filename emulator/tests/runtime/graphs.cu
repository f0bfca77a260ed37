// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Graphs that are built node by node.

#include "check.hpp"

#include <cstring>
#include <vector>

namespace {

constexpr int COUNT = 256;
constexpr std::size_t BYTES = COUNT * sizeof(int);

__device__ int offset_of_all[1] = {100};

__global__ void add(int* values, int amount) {
    values[threadIdx.x] += amount + offset_of_all[0];
}

void count_call(void* data) {
    ++*static_cast<int*>(data);
}

cudaKernelNodeParams kernel_node(void** arguments) {
    cudaKernelNodeParams result{};
    result.func = reinterpret_cast<void*>(add);
    result.gridDim = dim3(1);
    result.blockDim = dim3(COUNT);
    result.kernelParams = arguments;
    return result;
}

void a_graph_runs_in_the_order_of_its_edges() {
    int* memory = nullptr;
    OK(cudaMalloc(&memory, BYTES));
    std::vector<int> result(COUNT);
    int calls = 0;
    cudaGraph_t graph = nullptr;
    OK(cudaGraphCreate(&graph, 0));

    cudaMemsetParams fill{};
    fill.dst = memory;
    fill.value = 7;
    fill.elementSize = 4;
    fill.width = COUNT;
    fill.height = 1;
    cudaGraphNode_t filled = nullptr;
    OK(cudaGraphAddMemsetNode(&filled, graph, nullptr, 0, &fill));
    int amount = 3;
    void* arguments[] = {&memory, &amount};
    const cudaKernelNodeParams kernel = kernel_node(arguments);
    cudaGraphNode_t added = nullptr;
    OK(cudaGraphAddKernelNode(&added, graph, &filled, 1, &kernel));
    cudaGraphNode_t copied = nullptr;
    OK(cudaGraphAddMemcpyNode1D(&copied, graph, nullptr, 0, result.data(), memory, BYTES,
                                cudaMemcpyDeviceToHost));
    OK(cudaGraphAddDependencies(graph, &added, &copied, nullptr, 1));
    cudaHostNodeParams host{count_call, &calls};
    cudaGraphNode_t called = nullptr;
    OK(cudaGraphAddHostNode(&called, graph, &copied, 1, &host));
    cudaGraphNode_t joined = nullptr;
    const cudaGraphNode_t both[] = {copied, called};
    OK(cudaGraphAddEmptyNode(&joined, graph, both, 2));

    std::size_t count = 0;
    OK(cudaGraphGetNodes(graph, nullptr, &count));
    EXPECT(count == 5);
    OK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
    EXPECT(count == 5);
    OK(cudaGraphGetRootNodes(graph, nullptr, &count));
    EXPECT(count == 1);
    OK(cudaGraphNodeGetDependencies(joined, nullptr, nullptr, &count));
    EXPECT(count == 2);
    cudaGraphNodeType type{};
    OK(cudaGraphNodeGetType(added, &type));
    EXPECT(type == cudaGraphNodeTypeKernel);
    cudaKernelNodeParams found{};
    OK(cudaGraphKernelNodeGetParams(added, &found));
    EXPECT(found.func == reinterpret_cast<void*>(add));
    EXPECT(found.blockDim.x == COUNT && *static_cast<int*>(found.kernelParams[1]) == 3);
    cudaMemcpy3DParms copy{};
    OK(cudaGraphMemcpyNodeGetParams(copied, &copy));
    EXPECT(copy.extent.width == BYTES && copy.kind == cudaMemcpyDeviceToHost);
    EXPECT(copy.dstPtr.ptr == result.data() && copy.srcPtr.ptr == memory);

    cudaGraphExec_t executable = nullptr;
    OK(cudaGraphInstantiate(&executable, graph, 0));
    OK(cudaGraphLaunch(executable, nullptr));
    OK(cudaDeviceSynchronize());
    EXPECT(result[0] == 110 && result[COUNT - 1] == 110 && calls == 1);

    amount = 5; // the argument was copied; the executable graph is changed by a call
    OK(cudaGraphLaunch(executable, nullptr));
    OK(cudaDeviceSynchronize());
    EXPECT(result[0] == 110 && calls == 2);
    OK(cudaGraphExecKernelNodeSetParams(executable, added, &kernel));
    OK(cudaGraphNodeSetEnabled(executable, filled, 0));
    OK(cudaGraphLaunch(executable, nullptr));
    OK(cudaDeviceSynchronize());
    EXPECT(result[0] == 110 + 105);
    unsigned is_enabled = 1;
    OK(cudaGraphNodeGetEnabled(executable, filled, &is_enabled));
    EXPECT(is_enabled == 0);
    OK(cudaGraphExecDestroy(executable));
    OK(cudaGraphDestroy(graph));
    OK(cudaFree(memory));
}

void nodes_of_any_type_have_one_function() {
    cudaGraph_t graph = nullptr;
    OK(cudaGraphCreate(&graph, 0));
    cudaGraphNodeParams alloc{};
    alloc.type = cudaGraphNodeTypeMemAlloc;
    alloc.alloc.poolProps.allocType = cudaMemAllocationTypePinned;
    alloc.alloc.poolProps.location.type = cudaMemLocationTypeDevice;
    alloc.alloc.bytesize = BYTES;
    cudaGraphNode_t allocated = nullptr;
    OK(cudaGraphAddNode(&allocated, graph, nullptr, nullptr, 0, &alloc));
    EXPECT(alloc.alloc.dptr != nullptr);

    cudaGraphNodeParams fill{};
    fill.type = cudaGraphNodeTypeMemset;
    fill.memset.dst = alloc.alloc.dptr;
    fill.memset.value = 1;
    fill.memset.elementSize = 4;
    fill.memset.width = COUNT;
    fill.memset.height = 1;
    cudaGraphNode_t filled = nullptr;
    OK(cudaGraphAddNode(&filled, graph, &allocated, nullptr, 1, &fill));

    int* memory = static_cast<int*>(alloc.alloc.dptr);
    int amount = 1;
    void* arguments[] = {&memory, &amount};
    cudaGraphNodeParams kernel{};
    kernel.type = cudaGraphNodeTypeKernel;
    kernel.kernel.func = reinterpret_cast<void*>(add);
    kernel.kernel.gridDim = dim3(1);
    kernel.kernel.blockDim = dim3(COUNT);
    kernel.kernel.kernelParams = arguments;
    cudaGraphNode_t added = nullptr;
    OK(cudaGraphAddNode(&added, graph, &filled, nullptr, 1, &kernel));

    std::vector<int> result(COUNT);
    cudaGraphNodeParams copy{};
    copy.type = cudaGraphNodeTypeMemcpy;
    copy.memcpy.copyParams.srcPtr = make_cudaPitchedPtr(memory, BYTES, BYTES, 1);
    copy.memcpy.copyParams.dstPtr = make_cudaPitchedPtr(result.data(), BYTES, BYTES, 1);
    copy.memcpy.copyParams.extent = make_cudaExtent(BYTES, 1, 1);
    copy.memcpy.copyParams.kind = cudaMemcpyDeviceToHost;
    cudaGraphNode_t copied = nullptr;
    OK(cudaGraphAddNode(&copied, graph, &added, nullptr, 1, &copy));
    cudaGraphNodeParams free{};
    free.type = cudaGraphNodeTypeMemFree;
    free.free.dptr = memory;
    cudaGraphNode_t freed = nullptr;
    OK(cudaGraphAddNode(&freed, graph, &copied, nullptr, 1, &free));
    void* address = nullptr;
    OK(cudaGraphMemFreeNodeGetParams(freed, &address));
    EXPECT(address == memory);

    cudaGraphExec_t executable = nullptr;
    OK(cudaGraphInstantiate(&executable, graph, 0));
    OK(cudaGraphLaunch(executable, nullptr));
    OK(cudaDeviceSynchronize());
    EXPECT(result[0] == 102 && result[COUNT - 1] == 102);
    OK(cudaGraphExecDestroy(executable));
    OK(cudaGraphDestroy(graph));
    OK(cudaDeviceGraphMemTrim(0));
}

void variables_and_arrays_are_copied() {
    cudaGraph_t graph = nullptr;
    OK(cudaGraphCreate(&graph, 0));
    const int value = 42;
    int back = 0;
    cudaGraphNode_t written = nullptr;
    OK(cudaGraphAddMemcpyNodeToSymbol(&written, graph, nullptr, 0, offset_of_all, &value,
                                      sizeof value, 0, cudaMemcpyHostToDevice));
    cudaGraphNode_t read = nullptr;
    OK(cudaGraphAddMemcpyNodeFromSymbol(&read, graph, &written, 1, &back, offset_of_all,
                                        sizeof back, 0, cudaMemcpyDeviceToHost));
    RETURNS(cudaErrorInvalidValue,
            cudaGraphAddMemcpyNodeFromSymbol(&read, graph, nullptr, 0, &back, offset_of_all,
                                             sizeof back, 4, cudaMemcpyDeviceToHost));

    const cudaChannelFormatDesc format = cudaCreateChannelDesc<int2>();
    cudaArray_t array = nullptr;
    OK(cudaMallocArray(&array, &format, 8, 4));
    std::vector<int2> texels(32, make_int2(1, 2));
    cudaMemcpy3DParms copy{};
    copy.srcPtr = make_cudaPitchedPtr(texels.data(), 8 * sizeof(int2), 8, 4);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(8, 4, 1);
    copy.kind = cudaMemcpyHostToDevice;
    cudaGraphNode_t filled = nullptr;
    OK(cudaGraphAddMemcpyNode(&filled, graph, nullptr, 0, &copy));
    cudaMemcpy3DParms found{};
    OK(cudaGraphMemcpyNodeGetParams(filled, &found));
    EXPECT(found.dstArray == array && found.extent.width == 8);

    cudaGraphExec_t executable = nullptr;
    OK(cudaGraphInstantiate(&executable, graph, 0));
    OK(cudaGraphLaunch(executable, nullptr));
    OK(cudaDeviceSynchronize());
    EXPECT(back == 42);
    int2 texel{};
    OK(cudaMemcpy2DFromArray(&texel, sizeof texel, array, 7 * sizeof(int2), 3, sizeof texel, 1,
                             cudaMemcpyDeviceToHost));
    EXPECT(texel.x == 1 && texel.y == 2);
    OK(cudaGraphExecDestroy(executable));
    OK(cudaGraphDestroy(graph));
    OK(cudaFreeArray(array));
}

void graphs_are_cloned_updated_and_embedded() {
    cudaGraph_t inner = nullptr;
    OK(cudaGraphCreate(&inner, 0));
    int calls = 0;
    cudaHostNodeParams host{count_call, &calls};
    cudaGraphNode_t called = nullptr;
    OK(cudaGraphAddHostNode(&called, inner, nullptr, 0, &host));
    cudaGraph_t clone = nullptr;
    OK(cudaGraphClone(&clone, inner));
    cudaGraphNode_t its_node = nullptr;
    OK(cudaGraphNodeFindInClone(&its_node, called, clone));
    cudaHostNodeParams found{};
    OK(cudaGraphHostNodeGetParams(its_node, &found));
    EXPECT(found.fn == count_call && found.userData == &calls);

    cudaGraph_t outer = nullptr;
    OK(cudaGraphCreate(&outer, 0));
    cudaGraphNode_t child = nullptr;
    OK(cudaGraphAddChildGraphNode(&child, outer, nullptr, 0, inner));
    cudaGraphExec_t executable = nullptr;
    cudaGraphInstantiateParams how{};
    OK(cudaGraphInstantiateWithParams(&executable, outer, &how));
    EXPECT(how.result_out == cudaGraphInstantiateSuccess);
    OK(cudaGraphLaunch(executable, nullptr));
    OK(cudaDeviceSynchronize());
    EXPECT(calls == 1);
    cudaGraphExecUpdateResultInfo result{};
    OK(cudaGraphExecUpdate(executable, outer, &result));
    EXPECT(result.result == cudaGraphExecUpdateSuccess);
    RETURNS(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(executable, inner, &result));
    EXPECT(result.result != cudaGraphExecUpdateSuccess);
    (void)cudaGetLastError();
    OK(cudaGraphExecDestroy(executable));
    OK(cudaGraphDestroyNode(child));
    OK(cudaGraphDestroy(outer));
    OK(cudaGraphDestroy(clone));
    OK(cudaGraphDestroy(inner));
}

void a_stream_is_captured_into_a_graph() {
    cudaStream_t stream = nullptr;
    OK(cudaStreamCreate(&stream));
    int* memory = nullptr;
    OK(cudaMalloc(&memory, BYTES));
    cudaGraph_t graph = nullptr;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0,
                                     cudaStreamCaptureModeThreadLocal));
    OK(cudaMemsetAsync(memory, 1, BYTES, stream));
    cudaGraph_t same = nullptr;
    OK(cudaStreamEndCapture(stream, &same));
    EXPECT(same == graph);
    std::size_t count = 0;
    OK(cudaGraphGetNodes(graph, nullptr, &count));
    EXPECT(count == 1);
    OK(cudaGraphDestroy(graph));
    OK(cudaFree(memory));
    OK(cudaStreamDestroy(stream));
}

} // namespace

int main() {
    a_graph_runs_in_the_order_of_its_edges();
    nodes_of_any_type_have_one_function();
    variables_and_arrays_are_copied();
    graphs_are_cloned_updated_and_embedded();
    a_stream_is_captured_into_a_graph();
    return EXIT_SUCCESS;
}
