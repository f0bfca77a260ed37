// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Kernels that launch kernels. They call functions of the device runtime, as nvcc's code does.

#include "api/driver.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace cuprum::emulator::test;

namespace {

constexpr std::uint64_t TAIL = 3;            // cudaStreamTailLaunch
constexpr std::uint64_t FIRE_AND_FORGET = 4; // cudaStreamFireAndForget
constexpr std::uint64_t SOME_STREAM = 256;

/// `note` writes its second argument behind the numbers that are there; the first word counts them.
const std::string HEADER = R"(.version 8.0
.target sm_70
.address_size 64
.extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 kernel,
    .param .align 4 .b8 grid[12], .param .align 4 .b8 block[12], .param .b32 shared);
.extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 arguments, .param .b64 stream);
.extern .func (.param .b32 r) __cudaCDP2GetLastError();
.visible .entry note(.param .u64 out, .param .u32 value)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [value];
    atom.global.add.u32 %r2, [%rd1], 1;
    mul.wide.u32 %rd2, %r2, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3+4], %r1;
    ret;
}
)";

/// Returns PTX that asks for the arguments of a launch of %rd2. %rd3 is their address then.
std::string asking(unsigned threads = 1) {
    return R"(
    {
        .param .b64 kernel1;
        .param .align 4 .b8 grid1[12];
        .param .align 4 .b8 block1[12];
        .param .b32 shared1;
        .param .b64 buffer1;
        st.param.b64 [kernel1], %rd2;
        st.param.b32 [grid1], 1;
        st.param.b32 [grid1+4], 1;
        st.param.b32 [grid1+8], 1;
        st.param.b32 [block1], )" +
           std::to_string(threads) + R"(;
        st.param.b32 [block1+4], 1;
        st.param.b32 [block1+8], 1;
        st.param.b32 [shared1], 0;
        call.uni (buffer1), __cudaCDP2GetParameterBufferV2, (kernel1, grid1, block1, shared1);
        ld.param.b64 %rd3, [buffer1];
    }
)";
}

/// Returns PTX that launches what has its arguments at %rd3. The register becomes the error.
std::string launching_arguments(const std::string& error, std::uint64_t stream = 0) {
    return R"(
    {
        .param .b64 buffer1;
        .param .b64 stream1;
        .param .b32 error1;
        st.param.b64 [buffer1], %rd3;
        st.param.b64 [stream1], )" +
           std::to_string(stream) + R"(;
        call.uni (error1), __cudaCDP2LaunchDeviceV2, (buffer1, stream1);
        ld.param.b32 )" +
           error + R"(, [error1];
    }
)";
}

/// Returns PTX that launches kernel(%rd1, value) in one block. %r1 is the error then.
std::string launching(const std::string& kernel, unsigned value, std::uint64_t stream = 0,
                      unsigned threads = 1) {
    const std::string over = "OVER_" + kernel + std::to_string(value);
    return "    mov.u64 %rd2, " + kernel + ";\n" + asking(threads) +
           "    mov.u32 %r1, 2;\n"
           "    setp.eq.u64 %p3, %rd3, 0;\n"
           "    @%p3 bra " +
           over +
           ";\n"
           "    st.u64 [%rd3], %rd1;\n"
           "    st.u32 [%rd3+8], " +
           std::to_string(value) + ";\n" + launching_arguments("%r1", stream) + over + ":\n";
}

/// Returns a kernel of (out, value).
std::string kernel_of(const std::string& name, const std::string& body) {
    return ".visible .entry " + name + R"((.param .u64 out, .param .u32 value)
{
    .reg .pred %p<4>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
)" + body + "    ret;\n}\n";
}

const std::string LAST_ERROR = R"(
    {
        .param .b32 last;
        call.uni (last), __cudaCDP2GetLastError, ();
        ld.param.b32 %r2, [last];
    }
)";

} // namespace

class ChildLaunches : public DriverTest {
protected:
    static constexpr std::size_t MOST = 64;

    void SetUp() override {
        DriverTest::SetUp();
        out_ = allocate(4 * MOST);
        ASSERT_TRUE(succeeds(CU(cuMemsetD32)(out_, 0, MOST)));
    }

    void TearDown() override {
        if (module_ != nullptr) {
            EXPECT_TRUE(succeeds(CU(cuModuleUnload)(module_)));
        }
        EXPECT_TRUE(succeeds(CU(cuMemFree)(out_)));
        DriverTest::TearDown();
    }

    /// Links kernels with `note` and returns the one called `parent`.
    CUfunction load(const std::string& kernels) { return load_text(HEADER + kernels); }

    CUfunction load_text(const std::string& text) {
        CUlinkState link = nullptr;
        void* image = nullptr;
        std::size_t bytes = 0;
        CUfunction parent = nullptr;
        EXPECT_TRUE(succeeds(CU(cuLinkCreate)(0, nullptr, nullptr, &link)));
        EXPECT_TRUE(
            succeeds(CU(cuLinkAddData)(link, CU_JIT_INPUT_PTX, const_cast<char*>(text.c_str()),
                                       text.size() + 1, "kernels", 0, nullptr, nullptr)));
        EXPECT_TRUE(succeeds(CU(cuLinkComplete)(link, &image, &bytes)));
        EXPECT_TRUE(succeeds(CU(cuModuleLoadData)(&module_, image)));
        EXPECT_TRUE(succeeds(CU(cuLinkDestroy)(link)));
        EXPECT_TRUE(succeeds(CU(cuModuleGetFunction)(&parent, module_, "parent")));
        return parent;
    }

    CUresult launch(CUfunction function, CUstream stream = nullptr) {
        unsigned value = 0;
        void* arguments[] = {&out_, &value};
        return CU(cuLaunchKernel)(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr);
    }

    /// Returns the numbers that `note` wrote, or the first words of the memory.
    std::vector<unsigned> numbers() {
        std::vector<unsigned> words(MOST);
        EXPECT_TRUE(succeeds(CU(cuMemcpyDtoH)(words.data(), out_, 4 * MOST)));
        words.resize(1 + std::min<std::size_t>(words[0], MOST - 1));
        words.erase(words.begin());
        return words;
    }

    CUdeviceptr out_ = 0;
    CUmodule module_ = nullptr;
};

TEST_F(ChildLaunches, run_before_the_stream_goes_on) {
    const CUfunction parent =
        load(kernel_of("parent", launching("note", 5) + launching("note", 6)));
    ASSERT_TRUE(succeeds(launch(parent)));
    EXPECT_EQ(numbers(), (std::vector<unsigned>{5, 6})) << "both are in one stream";
    ASSERT_TRUE(succeeds(launch(parent)));
    EXPECT_EQ(numbers(), (std::vector<unsigned>{5, 6, 5, 6}));
}

TEST_F(ChildLaunches, leave_the_ids_of_the_hosts_launches_alone) {
    // Random schedules depend on the ids, so these must not depend on when kernels run.
    const CUfunction parent = load(kernel_of(
        "parent", launching("note", 5) + "mov.u64 %rd2, %gridid; st.u64 [%rd1+64], %rd2;"));
    std::vector<std::uint64_t> ids;
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(succeeds(launch(parent)));
        ids.emplace_back();
        ASSERT_TRUE(succeeds(CU(cuMemcpyDtoH)(&ids.back(), out_ + 64, sizeof ids.back())));
    }
    EXPECT_EQ(ids[1], ids[0] + 1);
    EXPECT_EQ(ids[2], ids[0] + 2);
}

TEST_F(ChildLaunches, other_names_of_the_functions_work_too) {
    using Names = std::vector<std::pair<std::string, std::string>>;
    const std::string buffer = "__cudaCDP2GetParameterBufferV2";
    const std::string launcher = "__cudaCDP2LaunchDeviceV2";
    for (const Names& names : {Names{{buffer, "cudaGetParameterBufferV2"},
                                     {launcher, "cudaLaunchDeviceV2"}},  // documented for compilers
                               Names{{launcher, launcher + "_ptsz"}}}) { // a stream per thread
        std::string text =
            HEADER + kernel_of("parent", launching("note", 5) + launching("note", 6));
        for (const auto& [usual, other] : names) {
            for (auto at = text.find(usual); at != std::string::npos;
                 at = text.find(usual, at + other.size())) {
                text.replace(at, usual.size(), other);
            }
        }
        ASSERT_TRUE(succeeds(launch(load_text(text))));
        ASSERT_TRUE(succeeds(CU(cuModuleUnload)(module_)));
        module_ = nullptr;
    }
    EXPECT_EQ(numbers(), (std::vector<unsigned>{5, 6, 5, 6}));
}

TEST_F(ChildLaunches, the_tail_comes_after_everything_else) {
    const CUfunction parent =
        load(kernel_of("child", launching("note", 1) + launching("note", 2, TAIL)) +
             kernel_of("parent", launching("note", 3, TAIL) + launching("note", 4, TAIL) +
                                     launching("child", 0, SOME_STREAM) +
                                     launching("note", 5, FIRE_AND_FORGET)));
    ASSERT_TRUE(succeeds(launch(parent)));
    std::vector<unsigned> found = numbers();
    ASSERT_EQ(found.size(), 5U);
    EXPECT_EQ(found[3], 3U);
    EXPECT_EQ(found[4], 4U);
    EXPECT_LT(std::ranges::find(found, 1U), std::ranges::find(found, 2U));
    std::ranges::sort(found);
    EXPECT_EQ(found, (std::vector<unsigned>{1, 2, 3, 4, 5}));
}

TEST_F(ChildLaunches, a_launch_that_cannot_be_is_an_error_of_the_thread) {
    const std::string keep = "    st.global.u32 [%rd1+8], %r1;\n" + LAST_ERROR +
                             "    st.global.u32 [%rd1+12], %r2;\n" + LAST_ERROR +
                             "    st.global.u32 [%rd1+16], %r2;\n";
    const CUfunction parent = load(kernel_of("parent", launching("note", 1, 0, 2000) + keep));
    ASSERT_TRUE(succeeds(launch(parent)));
    unsigned words[5] = {};
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoH)(words, out_, sizeof words)));
    EXPECT_EQ(words[0], 0U) << "nothing ran";
    EXPECT_EQ(words[2], 9U) << "cudaErrorInvalidConfiguration";
    EXPECT_EQ(words[3], 9U);
    EXPECT_EQ(words[4], 0U) << "cudaGetLastError clears it";
}

TEST_F(ChildLaunches, kernels_launch_each_other_24_levels_deep) {
    const CUfunction parent = load(
        kernel_of("parent", "    atom.global.add.u32 %r3, [%rd1], 1;\n" + launching("parent", 0) +
                                "    atom.global.max.u32 %r3, [%rd1+128], %r1;\n"));
    ASSERT_TRUE(succeeds(launch(parent)));
    unsigned words[33] = {};
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoH)(words, out_, sizeof words)));
    EXPECT_EQ(words[0], 25U);
    EXPECT_EQ(words[32], 65U) << "cudaErrorLaunchMaxDepthExceeded";
}

TEST_F(ChildLaunches, are_limited_in_number) {
    // Launches until one fails, and keeps their number and the error.
    const CUfunction parent =
        load(kernel_of("child", "") +
             kernel_of("parent", "    mov.u32 %r4, 0;\nAGAIN:\n" + launching("child", 0) +
                                     "    add.u32 %r4, %r4, 1;\n"
                                     "    setp.eq.u32 %p1, %r1, 0;\n"
                                     "    setp.lt.u32 %p2, %r4, 100000;\n"
                                     "    and.pred %p1, %p1, %p2;\n"
                                     "    @%p1 bra AGAIN;\n"
                                     "    st.global.u32 [%rd1+8], %r4;\n"
                                     "    st.global.u32 [%rd1+12], %r1;\n"));
    ASSERT_TRUE(succeeds(launch(parent)));
    unsigned words[4] = {};
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoH)(words, out_, sizeof words)));
    EXPECT_EQ(words[2], 16'385U);
    EXPECT_EQ(words[3], 69U) << "cudaErrorLaunchPendingCountExceeded";
    ASSERT_TRUE(succeeds(CU(cuCtxSetLimit)(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 16'500)));
    ASSERT_TRUE(succeeds(launch(parent)));
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoH)(words, out_, sizeof words)));
    EXPECT_EQ(words[2], 16'501U);
    EXPECT_TRUE(succeeds(CU(cuCtxSetLimit)(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 2048)));
}

TEST_F(ChildLaunches, refused_launches_give_their_arguments_back) {
    // 120,000 launches of 80 bytes are more than the heap has.
    const CUfunction parent =
        load(kernel_of("parent", "    mov.u32 %r4, 0;\nAGAIN:\n" + launching("note", 1, 0, 2000) +
                                     "    add.u32 %r4, %r4, 1;\n"
                                     "    setp.lt.u32 %p1, %r4, 120000;\n"
                                     "    @%p1 bra AGAIN;\n" +
                                     launching("note", 2)));
    ASSERT_TRUE(succeeds(launch(parent)));
    EXPECT_EQ(numbers(), (std::vector<unsigned>{2}));
}

TEST_F(ChildLaunches, nothing_of_a_module_is_left_when_its_kernels_are_done) {
    const std::string wait = "AGAIN:\n"
                             "    ld.volatile.global.u32 %r3, [%rd1];\n"
                             "    setp.eq.u32 %p1, %r3, 0;\n"
                             "    @%p1 bra AGAIN;\n";
    unsigned* flag = nullptr;
    ASSERT_TRUE(succeeds(CU(cuMemHostAlloc)(reinterpret_cast<void**>(&flag), sizeof *flag, 0)));
    const auto before = live_counts();
    // Many times: the host must wake up before the worker goes on to show what it still keeps.
    for (int i = 0; i < 20 && !HasFailure(); ++i) {
        const CUfunction parent = load(kernel_of("parent", wait + LAST_ERROR));
        *flag = 0;
        unsigned value = 0;
        void* arguments[] = {&flag, &value};
        ASSERT_TRUE(
            succeeds(CU(cuLaunchKernel)(parent, 2, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr)));
        std::atomic<bool> is_waiting = false;
        std::thread waiting([&] {
            EXPECT_TRUE(succeeds(CU(cuCtxSetCurrent)(context_)));
            is_waiting = true;
            EXPECT_TRUE(succeeds(CU(cuCtxSynchronize)()));
            EXPECT_TRUE(succeeds(CU(cuModuleUnload)(module_)));
            EXPECT_EQ(live_counts().device_allocations, before.device_allocations);
        });
        while (!is_waiting) {
            std::this_thread::yield();
        }
        std::atomic_ref(*flag).store(1);
        waiting.join();
        module_ = nullptr;
    }
    EXPECT_TRUE(succeeds(CU(cuMemFreeHost)(flag)));
}

TEST_F(ChildLaunches, kernels_keep_their_attributes_when_the_module_is_unloaded) {
    constexpr int shared = 60'000; // more than a launch gets without asking
    std::string body = launching("child", 5);
    const std::string none = "st.param.b32 [shared1], 0;";
    body.replace(body.find(none), none.size(),
                 "st.param.b32 [shared1], " + std::to_string(shared) + ";");
    const CUfunction parent =
        load(kernel_of("child", launching("note", 7)) + kernel_of("parent", body));
    CUfunction child = nullptr;
    CUstream stream = nullptr;
    ASSERT_TRUE(succeeds(CU(cuModuleGetFunction)(&child, module_, "child")));
    ASSERT_TRUE(succeeds(
        CU(cuFuncSetAttribute)(child, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared)));
    ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING)));
    {
        Gate gate;
        gate.block(stream);
        ASSERT_TRUE(succeeds(launch(parent, stream)));
        ASSERT_TRUE(succeeds(CU(cuModuleUnload)(module_)));
        module_ = nullptr;
    }
    ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(stream)));
    EXPECT_EQ(numbers(), (std::vector<unsigned>{7}));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE, launch(parent))) << "its handle is gone";
    EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(stream)));
}

TEST_F(ChildLaunches, fills_and_copies_end_where_registered_memory_ends) {
    const std::string call = R"(
    {
        .param .b64 to1;
        .param .b32 value1;
        .param .b64 from1;
        .param .b64 bytes1;
        .param .b64 stream1;
        .param .b32 error1;
        st.param.b64 [to1], %rd1;
        st.param.b32 [value1], 7;
        st.param.b64 [from1], %rd1;
        st.param.b64 [bytes1], 4097;
        st.param.b64 [stream1], 0;
)";
    const CUfunction parent = load(R"(
.extern .func (.param .b32 r) __cudaCDP2MemsetAsync(.param .b64 to, .param .b32 value,
    .param .b64 bytes, .param .b64 stream);
.extern .func (.param .b32 r) __cudaCDP2MemcpyAsync(.param .b64 to, .param .b64 from,
    .param .b64 bytes, .param .b32 kind, .param .b64 stream);
)" + kernel_of("parent", call + R"(
        call.uni (error1), __cudaCDP2MemsetAsync, (to1, value1, bytes1, stream1);
        ld.param.b32 %r1, [error1];
    }
)" + call + R"(
        call.uni (error1), __cudaCDP2MemcpyAsync, (to1, from1, bytes1, value1, stream1);
        ld.param.b32 %r2, [error1];
    }
    st.global.u32 [%rd1], %r1;
    st.global.u32 [%rd1+4], %r2;
)"));
    constexpr std::size_t page = 4096;
    std::vector<unsigned char> memory(3 * page);
    void* first = memory.data();
    std::size_t room = memory.size();
    ASSERT_NE(std::align(page, 2 * page, first, room), nullptr);
    ASSERT_TRUE(succeeds(CU(cuMemHostRegister)(first, page, 0)));
    unsigned value = 0;
    void* arguments[] = {&first, &value};
    ASSERT_TRUE(
        succeeds(CU(cuLaunchKernel)(parent, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr)));
    ASSERT_TRUE(succeeds(CU(cuCtxSynchronize)()));
    EXPECT_EQ(static_cast<unsigned*>(first)[0], 1U) << "cudaErrorInvalidValue";
    EXPECT_EQ(static_cast<unsigned*>(first)[1], 1U) << "cudaErrorInvalidValue";
    EXPECT_EQ(static_cast<unsigned char*>(first)[page], 0) << "the byte behind it";
    EXPECT_TRUE(succeeds(CU(cuMemHostUnregister)(first)));
}

TEST_F(ChildLaunches, an_address_that_is_not_of_a_launch_is_refused) {
    const CUfunction parent =
        load(kernel_of("parent", "    mov.u64 %rd3, %rd1;\n" + launching_arguments("%r1") +
                                     "    mov.u64 %rd3, 0;\n" + launching_arguments("%r2") +
                                     "    st.global.u32 [%rd1+8], %r1;\n"
                                     "    st.global.u32 [%rd1+12], %r2;\n"));
    ASSERT_TRUE(succeeds(launch(parent)));
    unsigned words[4] = {};
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoH)(words, out_, sizeof words)));
    EXPECT_EQ(words[2], 1U) << "cudaErrorInvalidValue";
    EXPECT_EQ(words[3], 1U) << "cudaErrorInvalidValue";
}

TEST_F(ChildLaunches, arguments_launch_once) {
    const CUfunction parent =
        load(kernel_of("parent", "    mov.u64 %rd2, note;\n" + asking() +
                                     "    st.u64 [%rd3], %rd1;\n    st.u32 [%rd3+8], 5;\n" +
                                     launching_arguments("%r1") + launching_arguments("%r2") +
                                     "    st.global.u32 [%rd1+12], %r1;\n"
                                     "    st.global.u32 [%rd1+16], %r2;\n"));
    ASSERT_TRUE(succeeds(launch(parent)));
    unsigned words[5] = {};
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoH)(words, out_, sizeof words)));
    EXPECT_EQ(words[0], 1U) << "the kernel ran once";
    EXPECT_EQ(words[1], 5U);
    EXPECT_EQ(words[3], 0U);
    EXPECT_EQ(words[4], 1U) << "cudaErrorInvalidValue";
}

TEST_F(ChildLaunches, arguments_whose_launch_was_overwritten_are_refused) {
    std::string body = "    mov.u64 %rd2, note;\n" + asking();
    for (int word = -16; word < 0; ++word) {
        body += "    st.u32 [%rd3" + std::to_string(4 * word) + "], 0x77777777;\n";
    }
    const CUfunction parent =
        load(kernel_of("parent", body + launching_arguments("%r1") +
                                     "    st.global.u32 [%rd1+8], %r1;\n" + launching("note", 6)));
    ASSERT_TRUE(succeeds(launch(parent)));
    unsigned words[3] = {};
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoH)(words, out_, sizeof words)));
    EXPECT_EQ(words[2], 1U) << "cudaErrorInvalidValue";
    EXPECT_EQ(numbers(), (std::vector<unsigned>{6})) << "other launches go on";
}

TEST_F(ChildLaunches, only_kernels_have_arguments) {
    const CUfunction parent =
        load(kernel_of("parent", "    mov.u64 %rd2, 12345;\n" + asking() + LAST_ERROR +
                                     "    st.global.u64 [%rd1+8], %rd3;\n"
                                     "    st.global.u32 [%rd1+16], %r2;\n"));
    ASSERT_TRUE(succeeds(launch(parent)));
    unsigned words[5] = {};
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoH)(words, out_, sizeof words)));
    EXPECT_EQ(words[2] | words[3], 0U) << "no address";
    EXPECT_EQ(words[4], 98U) << "cudaErrorInvalidDeviceFunction";
}

TEST_F(ChildLaunches, a_full_heap_is_an_error_of_the_thread) {
    CUcontext context = nullptr; // its heap stays full
    ASSERT_TRUE(succeeds(CU(cuCtxCreate)(&context, nullptr, 0, 0)));
    const CUfunction parent =
        load(kernel_of("parent", "    mov.u64 %rd2, note;\nAGAIN:\n" + asking() +
                                     "    setp.ne.u64 %p1, %rd3, 0;\n    @%p1 bra AGAIN;\n" +
                                     LAST_ERROR + "    st.global.u32 [%rd1+8], %r2;\n" +
                                     LAST_ERROR + "    st.global.u32 [%rd1+12], %r2;\n"));
    ASSERT_TRUE(succeeds(launch(parent)));
    unsigned words[4] = {};
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoH)(words, out_, sizeof words)));
    EXPECT_EQ(words[2], 2U) << "cudaErrorMemoryAllocation";
    EXPECT_EQ(words[3], 0U) << "cudaGetLastError clears it";
    EXPECT_TRUE(succeeds(CU(cuCtxDestroy)(context)));
    module_ = nullptr; // it went with its context
    ASSERT_TRUE(succeeds(CU(cuCtxSetCurrent)(context_)));
}

TEST_F(ChildLaunches, run_in_every_launch_of_a_graph) {
    const CUfunction parent = load(kernel_of("parent", launching("note", 7)));
    CUstream stream = nullptr;
    CUgraph graph = nullptr;
    CUgraphExec executable = nullptr;
    ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING)));
    ASSERT_TRUE(succeeds(CU(cuStreamBeginCapture)(stream, CU_STREAM_CAPTURE_MODE_RELAXED)));
    ASSERT_TRUE(succeeds(launch(parent, stream)));
    ASSERT_TRUE(succeeds(launch(parent, stream)));
    ASSERT_TRUE(succeeds(CU(cuStreamEndCapture)(stream, &graph)));
    ASSERT_TRUE(succeeds(CU(cuGraphInstantiate)(&executable, graph, 0)));
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(succeeds(CU(cuGraphLaunch)(executable, stream)));
    }
    ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(stream)));
    EXPECT_EQ(numbers(), std::vector<unsigned>(6, 7));
    EXPECT_TRUE(succeeds(CU(cuGraphExecDestroy)(executable)));
    EXPECT_TRUE(succeeds(CU(cuGraphDestroy)(graph)));
    EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(stream)));
}

TEST_F(ChildLaunches, a_fault_ends_the_launches_behind_it) {
    CUcontext context = nullptr; // an error stays with its context
    ASSERT_TRUE(succeeds(CU(cuCtxCreate)(&context, nullptr, 0, 0)));
    const CUfunction parent = load(
        kernel_of("child", "    mov.u64 %rd2, 64;\n    st.global.u32 [%rd2], 1;\n") +
        kernel_of("parent", launching("note", 1) + launching("child", 0) + launching("note", 2)));
    ASSERT_TRUE(succeeds(launch(parent)));
    EXPECT_TRUE(returns(CUDA_ERROR_ILLEGAL_ADDRESS, CU(cuCtxSynchronize)()));
    EXPECT_TRUE(succeeds(CU(cuCtxDestroy)(context)));
    module_ = nullptr; // it went with its context
    ASSERT_TRUE(succeeds(CU(cuCtxSetCurrent)(context_)));
    EXPECT_EQ(numbers(), (std::vector<unsigned>{1}));
}
