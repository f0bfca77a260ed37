// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Functions of CUDA 13.1 to 13.4, which the headers of this build do not declare.

#include "api/driver.hpp"
#include "api/kernels.hpp"
#include "support/shell.hpp"

#include <array>
#include <cstring>
#include <string>
#include <vector>

using namespace cuprum::emulator::test;

namespace {

const auto WORKQUEUE_CONFIG = static_cast<CUdevResourceType>(1000); // NOLINT: of CUDA 13.1
constexpr unsigned BACKFILL = 1;

/// CU_DEV_SM_RESOURCE_GROUP_PARAMS.
struct Group {
    unsigned count = 0;
    unsigned coscheduled = 0;
    unsigned preferred = 0;
    unsigned flags = 0;
    unsigned reserved[12] = {};
};

/// The configuration in a CUdevResource of work queues.
struct Queues {
    int device = 0;
    unsigned limit = 0;
    unsigned scope = 0;
};

using Split = CUresult(CUdevResource*, unsigned, const CUdevResource*, CUdevResource*, unsigned,
                       Group*);

} // namespace

class NewerFunctions : public DriverTest {
protected:
    void SetUp() override {
        DriverTest::SetUp();
        ASSERT_TRUE(succeeds(CU(cuDeviceGetDevResource)(0, &whole_, CU_DEV_RESOURCE_TYPE_SM)));
        ASSERT_EQ(whole_.sm.smCount, 16U);
    }

    static CUresult split(CUdevResource* results, const CUdevResource& input, CUdevResource* rest,
                          std::vector<Group>& groups) {
        return symbol<Split>("cuDevSmResourceSplit")(results, static_cast<unsigned>(groups.size()),
                                                     &input, rest, 0, groups.data());
    }

    CUdevResource whole_{};
};

TEST_F(NewerFunctions, multiprocessors_are_split_into_groups_of_given_sizes) {
    std::array<CUdevResource, 2> parts{};
    CUdevResource rest{};
    std::vector<Group> groups{{.count = 8, .coscheduled = 4}, {.count = 2, .coscheduled = 2}};
    ASSERT_TRUE(succeeds(split(parts.data(), whole_, &rest, groups)));
    EXPECT_EQ(parts[0].sm.smCount, 8U);
    EXPECT_EQ(parts[1].sm.smCount, 2U);
    EXPECT_EQ(rest.sm.smCount, 6U);
    // The rest can be split again, and all of it becomes a group.
    groups = {{.coscheduled = 2, .flags = BACKFILL}};
    ASSERT_TRUE(succeeds(split(parts.data(), rest, &rest, groups)));
    EXPECT_EQ(groups[0].count, 6U);
    EXPECT_EQ(rest.type, CU_DEV_RESOURCE_TYPE_INVALID);
    CUdevResourceDesc description = nullptr;
    CUgreenCtx green = nullptr;
    ASSERT_TRUE(succeeds(CU(cuDevResourceGenerateDesc)(&description, parts.data(), 1)));
    ASSERT_TRUE(
        succeeds(CU(cuGreenCtxCreate)(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM)));
    CUstream stream = nullptr;
    CUdevResource of_stream{};
    ASSERT_TRUE(succeeds(CU(cuGreenCtxStreamCreate)(&stream, green, CU_STREAM_NON_BLOCKING, 0)));
    ASSERT_TRUE(succeeds(symbol<CUresult(CUstream, CUdevResource*, CUdevResourceType)>(
        "cuStreamGetDevResource")(stream, &of_stream, CU_DEV_RESOURCE_TYPE_SM)));
    EXPECT_EQ(of_stream.sm.smCount, 6U);
    EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(stream)));
    EXPECT_TRUE(succeeds(CU(cuGreenCtxDestroy)(green)));
}

TEST_F(NewerFunctions, sizes_can_be_found_out_first) {
    std::vector<Group> groups{{.count = 10, .coscheduled = 2}, {}, {}};
    CUdevResource rest{};
    ASSERT_TRUE(succeeds(split(nullptr, whole_, &rest, groups)));
    EXPECT_EQ(groups[1].count, 0U) << "groups of 8 do not fit any more";
    EXPECT_EQ(rest.sm.smCount, 6U);
}

TEST_F(NewerFunctions, impossible_groups_are_refused) {
    std::array<CUdevResource, 2> parts{};
    const auto expect = [&](CUresult code, std::vector<Group> groups) {
        EXPECT_TRUE(returns(code, split(parts.data(), whole_, nullptr, groups)));
    };
    expect(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION, {{.count = 18}});
    expect(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION, {{.count = 16}, {}});
    expect(CUDA_ERROR_INVALID_VALUE, {{.count = 3}});
    expect(CUDA_ERROR_INVALID_VALUE, {{.count = 8, .coscheduled = 3}});
    expect(CUDA_ERROR_INVALID_VALUE, {{.count = 8, .coscheduled = 64}});
    expect(CUDA_ERROR_INVALID_VALUE, {{.count = 10, .coscheduled = 4}});
    expect(CUDA_ERROR_INVALID_VALUE, {{.count = 8, .flags = 4}});
    expect(CUDA_SUCCESS, {{.count = 10, .coscheduled = 4, .flags = BACKFILL}});
}

TEST_F(NewerFunctions, work_queues_are_configured_and_remembered) {
    CUdevResource resource{};
    ASSERT_TRUE(succeeds(CU(cuDeviceGetDevResource)(0, &resource, WORKQUEUE_CONFIG)));
    Queues queues;
    std::memcpy(&queues, resource._oversize, sizeof queues);
    EXPECT_EQ(queues.device, 0);
    EXPECT_GE(queues.limit, 1U);
    queues.limit = 3;
    queues.scope = 1;
    std::memcpy(resource._oversize, &queues, sizeof queues);
    std::array both{whole_, resource};
    CUdevResourceDesc description = nullptr;
    CUgreenCtx green = nullptr;
    ASSERT_TRUE(succeeds(CU(cuDevResourceGenerateDesc)(&description, both.data(), 2)));
    ASSERT_TRUE(
        succeeds(CU(cuGreenCtxCreate)(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM)));
    CUdevResource found{};
    ASSERT_TRUE(succeeds(CU(cuGreenCtxGetDevResource)(green, &found, WORKQUEUE_CONFIG)));
    EXPECT_EQ(std::memcmp(found._oversize, &queues, sizeof queues), 0);
    EXPECT_TRUE(succeeds(CU(cuGreenCtxDestroy)(green)));
    queues.limit = 0;
    std::memcpy(both[1]._oversize, &queues, sizeof queues);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuDevResourceGenerateDesc)(&description, both.data(), 2)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_RESOURCE_TYPE,
                        CU(cuDeviceGetDevResource)(0, &found, static_cast<CUdevResourceType>(7))));
}

TEST_F(NewerFunctions, a_kernel_tells_how_many_parameters_it_has) {
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    std::size_t count = 99;
    ASSERT_TRUE(succeeds(CU(cuModuleLoadData)(&module, COUNTER_PTX)));
    ASSERT_TRUE(succeeds(CU(cuModuleGetFunction)(&function, module, "bump")));
    ASSERT_TRUE(succeeds(
        symbol<CUresult(CUfunction, std::size_t*)>("cuFuncGetParamCount")(function, &count)));
    std::size_t offset = 0;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuFuncGetParamInfo)(function, count, &offset, nullptr)));
    if (count != 0) {
        EXPECT_TRUE(succeeds(CU(cuFuncGetParamInfo)(function, count - 1, &offset, nullptr)));
    }
    EXPECT_TRUE(succeeds(CU(cuModuleUnload)(module)));
}

TEST_F(NewerFunctions, copies_and_host_functions_take_further_arguments) {
    CUstream stream = nullptr;
    CUdeviceptr memory = 0;
    ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING)));
    ASSERT_TRUE(succeeds(CU(cuMemAlloc)(&memory, 8)));
    const std::array<std::uint32_t, 2> in{7, 8};
    std::array<std::uint32_t, 2> out{};
    CUmemcpyAttributes attributes{};
    attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    auto* const copy =
        symbol<CUresult(CUdeviceptr, CUdeviceptr, std::size_t, CUmemcpyAttributes*, CUstream)>(
            "cuMemcpyWithAttributesAsync");
    const auto address = [](const void* host) { return reinterpret_cast<CUdeviceptr>(host); };
    EXPECT_TRUE(succeeds(copy(memory, address(in.data()), 8, &attributes, stream)));
    EXPECT_TRUE(succeeds(copy(address(out.data()), memory, 8, &attributes, stream)));
    auto* const call = symbol<CUresult(CUstream, CUhostFn, void*, unsigned)>("cuLaunchHostFunc_v2");
    int calls = 0;
    const CUhostFn count = [](void* data) { ++*static_cast<int*>(data); };
    EXPECT_TRUE(succeeds(call(stream, count, &calls, 0)));
    EXPECT_TRUE(succeeds(call(stream, count, &calls, 1)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, call(stream, count, &calls, 2)));
    EXPECT_TRUE(succeeds(CU(cuStreamSynchronize)(stream)));
    EXPECT_EQ(out, in);
    EXPECT_EQ(calls, 2);
    EXPECT_TRUE(succeeds(CU(cuMemFree)(memory)));
    EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(stream)));
}

TEST_F(NewerFunctions, the_parameters_of_any_node_can_be_read) {
    auto* const read = symbol<CUresult(CUgraphNode, CUgraphNodeParams*)>("cuGraphNodeGetParams");
    CUgraph graph = nullptr;
    CUgraphNode node = nullptr;
    CUgraphNodeParams found{};
    int data = 0;
    CUdeviceptr memory = 0;
    ASSERT_TRUE(succeeds(CU(cuMemAlloc)(&memory, 64)));
    ASSERT_TRUE(succeeds(CU(cuGraphCreate)(&graph, 0)));
    const CUDA_MEMSET_NODE_PARAMS set{memory, 0, 7, 4, 16, 1};
    ASSERT_TRUE(succeeds(CU(cuGraphAddMemsetNode)(&node, graph, nullptr, 0, &set, context_)));
    ASSERT_TRUE(succeeds(read(node, &found)));
    EXPECT_EQ(found.type, CU_GRAPH_NODE_TYPE_MEMSET);
    EXPECT_EQ(found.memset.dst, memory);
    EXPECT_EQ(found.memset.value, 7U);
    EXPECT_EQ(found.memset.ctx, context_);
    const CUDA_HOST_NODE_PARAMS host{[](void*) {}, &data};
    ASSERT_TRUE(succeeds(CU(cuGraphAddHostNode)(&node, graph, nullptr, 0, &host)));
    ASSERT_TRUE(succeeds(read(node, &found)));
    EXPECT_EQ(found.type, CU_GRAPH_NODE_TYPE_HOST);
    EXPECT_EQ(found.host.userData, &data);
    CUgraphNodeParams wanted{};
    wanted.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    wanted.conditional.type = CU_GRAPH_COND_TYPE_IF;
    wanted.conditional.size = 1;
    wanted.conditional.ctx = context_;
    ASSERT_TRUE(succeeds(
        CU(cuGraphConditionalHandleCreate)(&wanted.conditional.handle, graph, context_, 0, 0)));
    ASSERT_TRUE(succeeds(CU(cuGraphAddNode)(&node, graph, nullptr, nullptr, 0, &wanted)));
    ASSERT_TRUE(succeeds(read(node, &found)));
    EXPECT_EQ(found.conditional.handle, wanted.conditional.handle);
    ASSERT_EQ(found.conditional.size, 1U);
    EXPECT_EQ(found.conditional.phGraph_out[0], wanted.conditional.phGraph_out[0]);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, read(node, nullptr)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, read(nullptr, &found)));
    EXPECT_TRUE(succeeds(CU(cuGraphDestroy)(graph)));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(memory)));
}

TEST_F(NewerFunctions, the_others_are_refused_by_name) {
    testing::internal::CaptureStderr();
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_SUPPORTED, symbol<CUresult(CUdevice, unsigned*)>(
                                                      "cuDeviceGetCliqueCount")(0, nullptr)));
    EXPECT_NE(
        testing::internal::GetCapturedStderr().find("cuDeviceGetCliqueCount is not supported"),
        std::string::npos);
}

TEST(DriverVersion, is_that_of_the_newest_compilers_or_what_the_user_wants) {
    const auto info = [](const std::string& value) {
        return shell("CUPRUM_EMULATOR_DRIVER_VERSION=" + value +
                     " " CUPRUM_EMULATOR_COMMAND " info");
    };
    EXPECT_NE(info("").output.find("CUDA: 13.4\n"), std::string::npos);
    EXPECT_NE(info("12.4").output.find("CUDA: 12.4\n"), std::string::npos);
    for (const char* const odd : {"11.8", "13", "14.0", "12.10", "new"}) {
        const Outcome outcome = info(odd);
        EXPECT_NE(outcome.status, 0) << odd;
        EXPECT_NE(outcome.output.find("CUPRUM_EMULATOR_DRIVER_VERSION"), std::string::npos);
        EXPECT_NE(outcome.output.find("from 12.0 to 13.9"), std::string::npos) << outcome.output;
    }
}
