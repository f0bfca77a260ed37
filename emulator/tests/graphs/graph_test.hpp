// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What the tests of graphs share: kernels, and short ways to make nodes.

#pragma once

#include "api/driver.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace cuprum::emulator::test {

/// add(p, n): *p += n. store(p, n): *p = n. move(to, from): *to = *from. wait(p): until *p is not
/// 0. set_condition(handle, n): sets a condition. countdown(handle, p): --*p, and the condition is
/// whether *p is not 0.
inline constexpr const char* GRAPH_PTX = R"(
.version 8.0
.target sm_70
.address_size 64

.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);

.visible .entry add(.param .u64 p, .param .u32 n)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r1, [n];
    ld.global.u32 %r2, [%rd1];
    add.u32 %r3, %r2, %r1;
    st.global.u32 [%rd1], %r3;
    ret;
}

.visible .entry store(.param .u64 p, .param .u32 n)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r1, [n];
    st.global.u32 [%rd1], %r1;
    ret;
}

.visible .entry move(.param .u64 to, .param .u64 from)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [to];
    ld.param.u64 %rd2, [from];
    ld.global.u32 %r1, [%rd2];
    st.global.u32 [%rd1], %r1;
    ret;
}

.visible .entry wait(.param .u64 p)
{
    .reg .pred %q<2>;
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [p];
AGAIN:
    ld.volatile.global.u32 %r1, [%rd1];
    setp.eq.u32 %q1, %r1, 0;
    @%q1 bra AGAIN;
    ret;
}

.visible .entry set_condition(.param .u64 handle, .param .u32 n)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [handle];
    ld.param.u32 %r1, [n];
    {
    .param .b64 param0;
    st.param.b64 [param0], %rd1;
    .param .b32 param1;
    st.param.b32 [param1], %r1;
    call.uni cudaGraphSetConditional, (param0, param1);
    }
    ret;
}

.visible .entry countdown(.param .u64 handle, .param .u64 p)
{
    .reg .pred %q<2>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [handle];
    ld.param.u64 %rd2, [p];
    ld.global.u32 %r1, [%rd2];
    sub.u32 %r2, %r1, 1;
    st.global.u32 [%rd2], %r2;
    setp.ne.u32 %q1, %r2, 0;
    selp.u32 %r3, 1, 0, %q1;
    {
    .param .b64 param0;
    st.param.b64 [param0], %rd1;
    .param .b32 param1;
    st.param.b32 [param1], %r3;
    call.uni cudaGraphSetConditional, (param0, param1);
    }
    ret;
}
)";

/// A graph, a stream, kernels and some words of device memory.
class GraphTest : public DriverTest {
protected:
    static constexpr std::size_t WORDS = 16;

    void SetUp() override {
        DriverTest::SetUp();
        ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&stream_, CU_STREAM_NON_BLOCKING)));
        ASSERT_TRUE(succeeds(CU(cuModuleLoadData)(&module_, GRAPH_PTX)));
        ASSERT_TRUE(succeeds(CU(cuGraphCreate)(&graph_, 0)));
        words_ = allocate(WORDS * sizeof(std::uint32_t));
        ASSERT_TRUE(succeeds(CU(cuMemsetD32)(words_, 0, WORDS)));
    }

    void TearDown() override {
        for (const CUgraphExec executable : executables_) {
            EXPECT_TRUE(succeeds(CU(cuGraphExecDestroy)(executable)));
        }
        if (graph_ != nullptr) {
            EXPECT_TRUE(succeeds(CU(cuGraphDestroy)(graph_)));
        }
        EXPECT_TRUE(succeeds(CU(cuMemFree)(words_)));
        EXPECT_TRUE(succeeds(CU(cuModuleUnload)(module_)));
        EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(stream_)));
        DriverTest::TearDown();
    }

    /// Returns the address of a word.
    [[nodiscard]] CUdeviceptr word(std::size_t index) const { return words_ + index * 4; }

    /// Returns what a word holds once all work is done.
    [[nodiscard]] std::uint32_t value(std::size_t index) const {
        std::uint32_t result = 0;
        EXPECT_TRUE(succeeds(CU(cuCtxSynchronize)()));
        EXPECT_TRUE(succeeds(CU(cuMemcpyDtoH)(&result, word(index), sizeof result)));
        return result;
    }

    [[nodiscard]] CUfunction function(const char* name) const {
        CUfunction result = nullptr;
        EXPECT_TRUE(succeeds(CU(cuModuleGetFunction)(&result, module_, name)));
        return result;
    }

    /// Returns the parameters of a launch of one thread.
    static CUDA_KERNEL_NODE_PARAMS single(CUfunction function, void** arguments) {
        CUDA_KERNEL_NODE_PARAMS parameters{};
        parameters.func = function;
        parameters.gridDimX = parameters.gridDimY = parameters.gridDimZ = 1;
        parameters.blockDimX = parameters.blockDimY = parameters.blockDimZ = 1;
        parameters.kernelParams = arguments;
        return parameters;
    }

    using Nodes = std::vector<CUgraphNode>;

    /// Adds a kernel that takes an address and a number.
    CUgraphNode add_kernel(const char* name, CUdeviceptr address, std::uint64_t number,
                           const Nodes& after = {}, CUgraph graph = nullptr) {
        void* arguments[] = {&address, &number};
        const auto parameters = single(function(name), arguments);
        CUgraphNode node = nullptr;
        EXPECT_TRUE(succeeds(CU(cuGraphAddKernelNode)(&node, graph != nullptr ? graph : graph_,
                                                      after.data(), after.size(), &parameters)));
        return node;
    }

    CUgraphNode add_memset(CUdeviceptr address, unsigned value, const Nodes& after = {},
                           CUgraph graph = nullptr, std::size_t count = 1) {
        const CUDA_MEMSET_NODE_PARAMS parameters{address, 0, value, 4, count, 1};
        CUgraphNode node = nullptr;
        EXPECT_TRUE(
            succeeds(CU(cuGraphAddMemsetNode)(&node, graph != nullptr ? graph : graph_,
                                              after.data(), after.size(), &parameters, context_)));
        return node;
    }

    CUgraphNode add_empty(const Nodes& after = {}) {
        CUgraphNode node = nullptr;
        EXPECT_TRUE(succeeds(CU(cuGraphAddEmptyNode)(&node, graph_, after.data(), after.size())));
        return node;
    }

    CUgraphNode add_host(CUhostFn function, void* data, const Nodes& after = {},
                         CUgraph graph = nullptr) {
        const CUDA_HOST_NODE_PARAMS parameters{function, data};
        CUgraphNode node = nullptr;
        EXPECT_TRUE(succeeds(CU(cuGraphAddHostNode)(&node, graph != nullptr ? graph : graph_,
                                                    after.data(), after.size(), &parameters)));
        return node;
    }

    /// Returns the parameters of a copy between device addresses.
    static CUDA_MEMCPY3D copy_of(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
        CUDA_MEMCPY3D copy{};
        copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
        copy.srcDevice = from;
        copy.dstDevice = to;
        copy.WidthInBytes = bytes;
        copy.Height = copy.Depth = 1;
        return copy;
    }

    CUgraphNode add_memcpy(CUdeviceptr to, CUdeviceptr from, const Nodes& after = {}) {
        const CUDA_MEMCPY3D copy = copy_of(to, from, 4);
        CUgraphNode node = nullptr;
        EXPECT_TRUE(succeeds(
            CU(cuGraphAddMemcpyNode)(&node, graph_, after.data(), after.size(), &copy, context_)));
        return node;
    }

    /// Makes the graph executable; TearDown() destroys it.
    CUgraphExec instantiate(CUgraph graph = nullptr, unsigned long long flags = 0) {
        CUgraphExec executable = nullptr;
        EXPECT_TRUE(succeeds(
            CU(cuGraphInstantiate)(&executable, graph != nullptr ? graph : graph_, flags)));
        if (executable != nullptr) {
            executables_.push_back(executable);
        }
        return executable;
    }

    /// Destroys an executable graph before TearDown().
    void destroy(CUgraphExec executable) {
        EXPECT_TRUE(succeeds(CU(cuGraphExecDestroy)(executable)));
        std::erase(executables_, executable);
    }

    /// Launches a graph and waits for it.
    [[nodiscard]] CUresult run(CUgraphExec executable) {
        const CUresult result = CU(cuGraphLaunch)(executable, stream_);
        return result != CUDA_SUCCESS ? result : CU(cuStreamSynchronize)(stream_);
    }

    [[nodiscard]] static std::size_t node_count(CUgraph graph) {
        std::size_t count = 0;
        EXPECT_TRUE(succeeds(CU(cuGraphGetNodes)(graph, nullptr, &count)));
        return count;
    }

    CUstream stream_ = nullptr;
    CUmodule module_ = nullptr;
    CUgraph graph_ = nullptr;
    CUdeviceptr words_ = 0;
    std::vector<CUgraphExec> executables_;
};

} // namespace cuprum::emulator::test
