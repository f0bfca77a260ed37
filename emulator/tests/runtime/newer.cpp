// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Calls the functions of libcudart.so.13 that CUDA 13.1 and 13.2 added, by their names: the headers
// that we build with may not declare them. Needs two devices.

#include "by_name.hpp"

#include <cuda.h>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstring>

namespace {

using ExecutionContext = void*;

/// The groups of cudaDevSmResourceSplit.
struct GroupParameters {
    unsigned int multiprocessors;
    unsigned int coscheduled;
    unsigned int preferred_coscheduled;
    unsigned int flags;
    unsigned int reserved[12];
};

template <typename... Arguments>
cudaError_t call(const char* name, Arguments... arguments) {
    return by_name::call<cudaError_t>(name, "libcudart.so.13", arguments...);
}

/// Loads the kernel and returns the handle that launches and nodes take.
void* load_kernel(cudaLibrary_t* code) {
    cudaKernel_t kernel = nullptr;
    EXPECT(call("cudaLibraryLoadData", code, by_name::ADD_FIVE, nullptr, nullptr, 0U, nullptr,
                nullptr, 0U) == cudaSuccess);
    EXPECT(call("cudaLibraryGetKernel", &kernel, *code, "add_five") == cudaSuccess);
    return reinterpret_cast<void*>(kernel);
}

void a_green_context_runs_kernels_on_a_part_of_the_device() {
    CUdevResource whole{};
    EXPECT(call("cudaDeviceGetDevResource", 0, &whole, CU_DEV_RESOURCE_TYPE_SM) == cudaSuccess);
    EXPECT(whole.sm.smCount >= 16);
    CUdevResource part{};
    unsigned int groups = 1;
    EXPECT(call("cudaDevSmResourceSplitByCount", &part, &groups, &whole,
                static_cast<CUdevResource*>(nullptr), 0U, 8U) == cudaSuccess);
    EXPECT(groups == 1 && part.sm.smCount == 8);

    CUdevResourceDesc description = nullptr;
    EXPECT(call("cudaDevResourceGenerateDesc", &description, &part, 1U) == cudaSuccess);
    ExecutionContext green = nullptr;
    EXPECT(call("cudaGreenCtxCreate", &green, description, 0, 1U) == cudaErrorInvalidValue);
    EXPECT(call("cudaGreenCtxCreate", &green, description, 0, 0U) == cudaSuccess);
    EXPECT(green != nullptr);

    cudaStream_t stream = nullptr; // the default flags mean "non-blocking" here
    EXPECT(call("cudaExecutionCtxStreamCreate", &stream, green, 0U, 0) == cudaSuccess);
    unsigned int flags = 0;
    EXPECT(call("cudaStreamGetFlags", stream, &flags) == cudaSuccess);
    EXPECT(flags == cudaStreamNonBlocking);
    CUdevResource of_stream{};
    EXPECT(call("cudaStreamGetDevResource", stream, &of_stream, CU_DEV_RESOURCE_TYPE_SM) ==
           cudaSuccess);
    EXPECT(of_stream.sm.smCount == 8);
    CUdevResource of_context{};
    EXPECT(call("cudaExecutionCtxGetDevResource", green, &of_context, CU_DEV_RESOURCE_TYPE_SM) ==
           cudaSuccess);
    EXPECT(of_context.sm.smCount == 8);

    cudaLibrary_t code = nullptr;
    void* const kernel = load_kernel(&code);
    int* value = nullptr;
    EXPECT(call("cudaMallocManaged", &value, sizeof *value, 1U) == cudaSuccess);
    *value = 1;
    void* arguments[] = {&value};
    EXPECT(call("cudaLaunchKernel", static_cast<const void*>(kernel), dim3(1), dim3(1),
                static_cast<void**>(arguments), std::size_t{0}, stream) == cudaSuccess);
    cudaEvent_t event = nullptr;
    EXPECT(call("cudaEventCreateWithFlags", &event, unsigned{cudaEventDisableTiming}) ==
           cudaSuccess);
    EXPECT(call("cudaExecutionCtxRecordEvent", green, event) == cudaSuccess);
    EXPECT(call("cudaExecutionCtxWaitEvent", green, event) == cudaSuccess);
    EXPECT(call("cudaExecutionCtxSynchronize", green) == cudaSuccess);
    EXPECT(*value == 6);
    EXPECT(call("cudaEventQuery", event) == cudaSuccess);

    EXPECT(call("cudaEventDestroy", event) == cudaSuccess);
    EXPECT(call("cudaStreamDestroy", stream) == cudaSuccess);
    EXPECT(call("cudaExecutionCtxDestroy", green) == cudaSuccess);
    EXPECT(call("cudaExecutionCtxDestroy", green) == cudaErrorInvalidValue);
    EXPECT(call("cudaFree", static_cast<void*>(value)) == cudaSuccess);
    EXPECT(call("cudaLibraryUnload", code) == cudaSuccess);
}

void multiprocessors_are_split_into_groups() {
    CUdevResource whole{};
    EXPECT(call("cudaDeviceGetDevResource", 0, &whole, CU_DEV_RESOURCE_TYPE_SM) == cudaSuccess);
    GroupParameters group{};
    group.multiprocessors = 4;
    CUdevResource part{};
    CUdevResource rest{};
    EXPECT(call("cudaDevSmResourceSplit", &part, 1U, static_cast<const CUdevResource*>(&whole),
                &rest, 0U, &group) == cudaSuccess);
    EXPECT(part.sm.smCount == 4 && rest.sm.smCount == whole.sm.smCount - 4);
}

void a_primary_context_is_an_execution_context() {
    ExecutionContext first = nullptr;
    ExecutionContext second = nullptr;
    EXPECT(call("cudaDeviceGetExecutionCtx", &first, 0) == cudaSuccess);
    EXPECT(call("cudaDeviceGetExecutionCtx", &second, 1) == cudaSuccess);
    EXPECT(first != nullptr && second != nullptr && first != second);
    EXPECT(call("cudaDeviceGetExecutionCtx", &first, 2) == cudaErrorInvalidDevice);
    int device = -1;
    EXPECT(call("cudaExecutionCtxGetDevice", &device, second) == cudaSuccess && device == 1);
    unsigned long long first_id = 0;
    unsigned long long second_id = 0;
    EXPECT(call("cudaExecutionCtxGetId", first, &first_id) == cudaSuccess);
    EXPECT(call("cudaExecutionCtxGetId", second, &second_id) == cudaSuccess);
    EXPECT(first_id != second_id);

    // A stream of the other device, while this thread stays on its own.
    cudaStream_t stream = nullptr;
    EXPECT(call("cudaExecutionCtxStreamCreate", &stream, second, 0U, 0) == cudaSuccess);
    EXPECT(call("cudaStreamGetDevice", stream, &device) == cudaSuccess && device == 1);
    EXPECT(call("cudaGetDevice", &device) == cudaSuccess && device == 0);
    EXPECT(call("cudaStreamDestroy", stream) == cudaSuccess);

    EXPECT(call("cudaExecutionCtxDestroy", first) == cudaErrorInvalidValue);
    const ExecutionContext none = nullptr;
    EXPECT(call("cudaExecutionCtxSynchronize", none) == cudaErrorInvalidValue);
    EXPECT(call("cudaExecutionCtxGetDevice", &device, none) == cudaErrorInvalidValue);
    EXPECT(call("cudaExecutionCtxStreamCreate", &stream, none, 0U, 0) == cudaErrorInvalidValue);
}

void graphs_and_nodes_have_numbers_and_parameters() {
    cudaGraph_t graph = nullptr;
    EXPECT(call("cudaGraphCreate", &graph, 0U) == cudaSuccess);
    cudaLibrary_t code = nullptr;
    int* value = nullptr;
    EXPECT(call("cudaMallocManaged", &value, sizeof *value, 1U) == cudaSuccess);
    *value = 10;
    void* arguments[] = {&value};
    cudaKernelNodeParams parameters{};
    parameters.func = load_kernel(&code);
    parameters.gridDim = dim3(1);
    parameters.blockDim = dim3(1);
    parameters.kernelParams = arguments;
    cudaGraphNode_t node = nullptr;
    EXPECT(call("cudaGraphAddKernelNode", &node, graph, static_cast<cudaGraphNode_t*>(nullptr),
                std::size_t{0}, &parameters) == cudaSuccess);
    cudaMemsetParams filling{};
    filling.dst = value;
    filling.value = 0x21;
    filling.elementSize = 1;
    filling.width = 4;
    filling.height = 1;
    cudaGraphNode_t fill = nullptr;
    EXPECT(call("cudaGraphAddMemsetNode", &fill, graph, static_cast<cudaGraphNode_t*>(nullptr),
                std::size_t{0}, &filling) == cudaSuccess);

    cudaGraphNodeParams found{};
    EXPECT(call("cudaGraphNodeGetParams", node, &found) == cudaSuccess);
    EXPECT(found.type == cudaGraphNodeTypeKernel);
    EXPECT(found.kernel.blockDim.x == 1 && found.kernel.gridDim.x == 1);
    EXPECT(*static_cast<int**>(found.kernel.kernelParams[0]) == value);
    EXPECT(call("cudaGraphNodeGetParams", fill, &found) == cudaSuccess);
    EXPECT(found.type == cudaGraphNodeTypeMemset);
    EXPECT(found.memset.dst == value && found.memset.value == 0x21 && found.memset.width == 4);
    EXPECT(call("cudaGraphNodeGetParams", node, static_cast<cudaGraphNodeParams*>(nullptr)) ==
           cudaErrorInvalidValue);

    unsigned int number = 0;
    unsigned int of_executable = 0;
    unsigned int of_node = 0;
    unsigned int of_other_node = 0;
    unsigned long long for_tools = 0;
    cudaGraph_t owner = nullptr;
    cudaGraphExec_t executable = nullptr;
    EXPECT(call("cudaGraphGetId", graph, &number) == cudaSuccess);
    EXPECT(call("cudaGraphNodeGetLocalId", node, &of_node) == cudaSuccess);
    EXPECT(call("cudaGraphNodeGetLocalId", fill, &of_other_node) == cudaSuccess);
    EXPECT(of_node != of_other_node);
    EXPECT(call("cudaGraphNodeGetToolsId", node, &for_tools) == cudaSuccess && for_tools != 0);
    EXPECT(call("cudaGraphNodeGetContainingGraph", node, &owner) == cudaSuccess);
    EXPECT(owner == graph);
    EXPECT(call("cudaGraphInstantiate", &executable, graph, 0ULL) == cudaSuccess);
    EXPECT(call("cudaGraphExecGetId", executable, &of_executable) == cudaSuccess);

    ExecutionContext context = nullptr;
    cudaGraphConditionalHandle handle{};
    EXPECT(call("cudaDeviceGetExecutionCtx", &context, 0) == cudaSuccess);
    EXPECT(call("cudaGraphConditionalHandleCreate_v2", &handle, graph, context, 1U, 1U) ==
           cudaSuccess);
    EXPECT(handle != 0);

    EXPECT(call("cudaGraphExecDestroy", executable) == cudaSuccess);
    EXPECT(call("cudaGraphDestroy", graph) == cudaSuccess);
    EXPECT(call("cudaFree", static_cast<void*>(value)) == cudaSuccess);
    EXPECT(call("cudaLibraryUnload", code) == cudaSuccess);
}

void copies_take_attributes_and_kernels_count_their_parameters() {
    constexpr std::size_t bytes = 64;
    char from[bytes];
    char to[bytes] = {};
    std::memset(from, 'x', sizeof from);
    void* memory = nullptr;
    cudaStream_t stream = nullptr;
    EXPECT(call("cudaMalloc", &memory, bytes) == cudaSuccess);
    EXPECT(call("cudaStreamCreate", &stream) == cudaSuccess);
    cudaMemcpyAttributes attributes{};
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    EXPECT(call("cudaMemcpyWithAttributesAsync", memory, static_cast<const void*>(from), bytes,
                &attributes, stream) == cudaSuccess);
    EXPECT(call("cudaMemcpyWithAttributesAsync_ptsz", static_cast<void*>(to),
                static_cast<const void*>(memory), bytes, &attributes, stream) == cudaSuccess);
    bool was_called = false;
    const cudaHostFn_t mark = [](void* flag) { *static_cast<bool*>(flag) = true; };
    EXPECT(call("cudaLaunchHostFunc_v2", stream, mark, static_cast<void*>(&was_called), 0U) ==
           cudaSuccess);
    EXPECT(call("cudaStreamSynchronize", stream) == cudaSuccess);
    EXPECT(std::memcmp(from, to, bytes) == 0 && was_called);

    cudaLibrary_t code = nullptr;
    const void* const kernel = load_kernel(&code);
    std::size_t count = 0;
    EXPECT(call("cudaFuncGetParamCount", kernel, &count) == cudaSuccess && count == 1);

    EXPECT(call("cudaLibraryUnload", code) == cudaSuccess);
    EXPECT(call("cudaStreamDestroy", stream) == cudaSuccess);
    EXPECT(call("cudaFree", memory) == cudaSuccess);
}

void the_newest_functions_are_refused_by_name() {
    EXPECT(call("cudaStreamBeginRecaptureToGraph") == cudaErrorNotSupported);
    EXPECT(call("cudaGetLastError") == cudaErrorNotSupported);
}

} // namespace

int main(int, char** arguments) {
    by_name::open(arguments[1]);
    a_green_context_runs_kernels_on_a_part_of_the_device();
    multiprocessors_are_split_into_groups();
    a_primary_context_is_an_execution_context();
    graphs_and_nodes_have_numbers_and_parameters();
    copies_take_attributes_and_kernels_count_their_parameters();
    the_newest_functions_are_refused_by_name();
    return 0;
}
