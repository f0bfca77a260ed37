// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A process that creates and destroys objects forever must not grow.

#include "api/driver.hpp"
#include "api/kernels.hpp"
#include "support/sanitized.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

using namespace cuprum::emulator::test;

namespace {

// Compiling a kernel loads the plug-in, which needs more memory than what is measured here.
const bool is_set_up = ::setenv("CUPRUM_EMULATOR_LOG", "off", 1) == 0 &&
                       ::setenv("CUPRUM_EMULATOR_JIT", "off", 1) == 0 &&
                       ::setenv("CUPRUM_EMULATOR_DEVICES", "2", 1) == 0;

/// The memory that a round may leave behind: less than any object that is kept by mistake.
constexpr std::int64_t MOST_BYTES_PER_ROUND = 24;
/// Additional memory that the C library and tables may use.
constexpr std::int64_t SLACK_BYTES = std::int64_t{1} << 20;

std::int64_t resident_bytes() {
    std::ifstream file("/proc/self/statm");
    std::int64_t all = 0;
    std::int64_t resident = 0;
    file >> all >> resident;
    return resident * ::sysconf(_SC_PAGESIZE);
}

} // namespace

class Growth : public DriverTest {
protected:
    void SetUp() override {
        ASSERT_TRUE(is_set_up);
        DriverTest::SetUp();
    }

    /// Runs `round` many times and expects that the process does not grow.
    static void expect_none(int rounds, const std::function<void()>& round) {
        if (IS_SANITIZED) {
            rounds /= 20; // calls are about that much slower
        }
        const auto repeat = [&](int count) {
            for (int i = 0; i < count && !HasFailure(); ++i) {
                round();
            }
        };
        repeat(std::max(rounds / 2, 100)); // fills what is kept on purpose
        const std::int64_t before = resident_bytes();
        repeat(rounds);
        if (IS_SANITIZED) {
            return; // the run still shows that nothing fails
        }
        EXPECT_LE(resident_bytes() - before, SLACK_BYTES + rounds * MOST_BYTES_PER_ROUND)
            << "after " << rounds << " rounds";
    }

    static constexpr int MANY = 30000;
    static constexpr int SOME = 2000;
};

TEST_F(Growth, streams_and_events) {
    expect_none(MANY, [] {
        CUstream stream = nullptr;
        CUevent event = nullptr;
        ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING)));
        ASSERT_TRUE(succeeds(CU(cuEventCreate)(&event, CU_EVENT_DEFAULT)));
        ASSERT_TRUE(succeeds(CU(cuEventRecord)(event, stream)));
        ASSERT_TRUE(succeeds(CU(cuEventDestroy)(event)));
        ASSERT_TRUE(succeeds(CU(cuStreamDestroy)(stream)));
    });
}

TEST_F(Growth, threads_with_default_streams_of_their_own) {
    const CUdeviceptr memory = allocate(64);
    expect_none(SOME * 4, [&] {
        std::thread([&] {
            EXPECT_TRUE(succeeds(CU(cuCtxSetCurrent)(context_)));
            EXPECT_TRUE(succeeds(CU(cuMemsetD8Async)(memory, 1, 64, CU_STREAM_PER_THREAD)));
        }).join();
    });
    EXPECT_TRUE(succeeds(CU(cuMemFree)(memory)));
}

TEST_F(Growth, contexts_and_peers) {
    expect_none(SOME * 2, [&] {
        CUcontext peer = nullptr;
        ASSERT_TRUE(succeeds(CU(cuCtxCreate)(&peer, nullptr, 0, 1)));
        ASSERT_TRUE(succeeds(CU(cuCtxSetCurrent)(context_)));
        ASSERT_TRUE(succeeds(CU(cuCtxEnablePeerAccess)(peer, 0)));
        ASSERT_TRUE(succeeds(CU(cuCtxDestroy)(peer)));
    });
}

TEST_F(Growth, green_contexts) {
    CUdevResource all{};
    CUdevResourceDesc description = nullptr;
    ASSERT_TRUE(succeeds(CU(cuDeviceGetDevResource)(0, &all, CU_DEV_RESOURCE_TYPE_SM)));
    ASSERT_TRUE(succeeds(CU(cuDevResourceGenerateDesc)(&description, &all, 1)));
    expect_none(MANY, [&] {
        CUgreenCtx green = nullptr;
        CUcontext view = nullptr;
        ASSERT_TRUE(
            succeeds(CU(cuGreenCtxCreate)(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM)));
        ASSERT_TRUE(succeeds(CU(cuCtxFromGreenCtx)(&view, green)));
        ASSERT_TRUE(succeeds(CU(cuGreenCtxDestroy)(green)));
        ASSERT_TRUE(returns(CUDA_ERROR_CONTEXT_IS_DESTROYED, CU(cuCtxSetCurrent)(view)));
    });
}

TEST_F(Growth, memory_of_every_kind) {
    std::vector<char> ordinary(4096);
    expect_none(MANY, [&] {
        const CUdeviceptr device = allocate(4096);
        ASSERT_TRUE(succeeds(CU(cuMemFree)(device)));
        void* pinned = nullptr;
        ASSERT_TRUE(succeeds(CU(cuMemHostAlloc)(&pinned, 4096, 0)));
        ASSERT_TRUE(succeeds(CU(cuMemFreeHost)(pinned)));
        ASSERT_TRUE(succeeds(CU(cuMemHostRegister)(ordinary.data(), ordinary.size(), 0)));
        ASSERT_TRUE(succeeds(CU(cuMemHostUnregister)(ordinary.data())));
        CUdeviceptr pooled = 0;
        ASSERT_TRUE(succeeds(CU(cuMemAllocAsync)(&pooled, 4096, nullptr)));
        ASSERT_TRUE(succeeds(CU(cuMemFreeAsync)(pooled, nullptr)));
    });
}

TEST_F(Growth, managed_memory_with_advice) {
    expect_none(MANY, [&] {
        CUdeviceptr memory = 0;
        ASSERT_TRUE(succeeds(CU(cuMemAllocManaged)(&memory, 4096, CU_MEM_ATTACH_GLOBAL)));
        const CUmemLocation place{CU_MEM_LOCATION_TYPE_DEVICE, 0};
        ASSERT_TRUE(succeeds(CU(cuMemAdvise)(memory, 4096, CU_MEM_ADVISE_SET_ACCESSED_BY, place)));
        ASSERT_TRUE(succeeds(CU(cuMemPrefetchAsync)(memory, 4096, place, 0, nullptr)));
        ASSERT_TRUE(succeeds(CU(cuMemFree)(memory)));
    });
}

TEST_F(Growth, pools_that_are_shared_and_that_are_not) {
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    expect_none(SOME, [&] {
        for (const auto type :
             {CU_MEM_HANDLE_TYPE_NONE, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR}) {
            properties.handleTypes = type;
            CUmemoryPool pool = nullptr;
            CUdeviceptr memory = 0;
            ASSERT_TRUE(succeeds(CU(cuMemPoolCreate)(&pool, &properties)));
            ASSERT_TRUE(succeeds(CU(cuMemAllocFromPoolAsync)(&memory, 4096, pool, nullptr)));
            ASSERT_TRUE(succeeds(CU(cuMemFreeAsync)(memory, nullptr)));
            ASSERT_TRUE(succeeds(CU(cuMemPoolDestroy)(pool)));
        }
    });
}

TEST_F(Growth, mapped_memory) {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    constexpr std::size_t bytes = std::size_t{2} << 20;
    expect_none(SOME, [&] {
        CUdeviceptr place = 0;
        CUmemGenericAllocationHandle memory = 0;
        ASSERT_TRUE(succeeds(CU(cuMemAddressReserve)(&place, bytes, 0, 0, 0)));
        ASSERT_TRUE(succeeds(CU(cuMemCreate)(&memory, bytes, &properties, 0)));
        ASSERT_TRUE(succeeds(CU(cuMemMap)(place, bytes, 0, memory, 0)));
        ASSERT_TRUE(succeeds(CU(cuMemUnmap)(place, bytes)));
        ASSERT_TRUE(succeeds(CU(cuMemRelease)(memory)));
        ASSERT_TRUE(succeeds(CU(cuMemAddressFree)(place, bytes)));
    });
}

TEST_F(Growth, modules_and_the_launches_of_old) {
    // cuda.h deprecates these functions, so their types are written out.
    auto* set_block = symbol<CUresult(CUfunction, int, int, int)>("cuFuncSetBlockShape");
    auto* set_bytes = symbol<CUresult(CUfunction, int, void*, unsigned)>("cuParamSetv");
    auto* launch = symbol<CUresult(CUfunction)>("cuLaunch");
    std::vector<unsigned char> unused(256);
    expect_none(SOME * 2, [&] {
        CUmodule module = nullptr;
        CUfunction bump = nullptr;
        ASSERT_TRUE(succeeds(CU(cuModuleLoadData)(&module, COUNTER_PTX)));
        ASSERT_TRUE(succeeds(CU(cuModuleGetFunction)(&bump, module, "bump")));
        ASSERT_TRUE(succeeds(set_block(bump, 1, 1, 1)));
        ASSERT_TRUE(succeeds(set_bytes(bump, 0, unused.data(), 256)));
        ASSERT_TRUE(succeeds(launch(bump)));
        ASSERT_TRUE(succeeds(CU(cuCtxSynchronize)())); // the module stays loaded until then
        ASSERT_TRUE(succeeds(CU(cuModuleUnload)(module)));
    });
}

TEST_F(Growth, modules_that_are_unloaded_before_their_kernels_launch_others) {
    const std::string text = R"(.version 8.0
.target sm_70
.address_size 64
.extern .func (.param .b64 r) __cuprum_make_launch(.param .b64 kernel);
.extern .func free(.param .b64 address);
.visible .entry child() { ret; }
.visible .entry parent()
{
    .reg .b64 %rd<3>;
    mov.u64 %rd1, child;
    {
        .param .b64 kernel1;
        .param .b64 header1;
        st.param.b64 [kernel1], %rd1;
        call.uni (header1), __cuprum_make_launch, (kernel1);
        ld.param.b64 %rd2, [header1];
        st.param.b64 [header1], %rd2;
        call.uni free, (header1);
    }
    ret;
}
)";
    expect_none(SOME * 2, [&] {
        CUmodule module = nullptr;
        CUfunction parent = nullptr;
        CUstream stream = nullptr;
        ASSERT_TRUE(succeeds(CU(cuModuleLoadData)(&module, text.c_str())));
        ASSERT_TRUE(succeeds(CU(cuModuleGetFunction)(&parent, module, "parent")));
        ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING)));
        {
            Gate gate;
            gate.block(stream);
            ASSERT_TRUE(succeeds(
                CU(cuLaunchKernel)(parent, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr)));
            ASSERT_TRUE(succeeds(CU(cuModuleUnload)(module)));
        }
        ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(stream)));
        ASSERT_TRUE(succeeds(CU(cuStreamDestroy)(stream)));
    });
}

TEST_F(Growth, libraries_and_links) {
    expect_none(SOME, [&] {
        CUlibrary code = nullptr;
        CUkernel kernel = nullptr;
        CUfunction function = nullptr;
        ASSERT_TRUE(succeeds(
            CU(cuLibraryLoadData)(&code, SAXPY_PTX, nullptr, nullptr, 0, nullptr, nullptr, 0)));
        ASSERT_TRUE(succeeds(CU(cuLibraryGetKernel)(&kernel, code, "saxpy")));
        ASSERT_TRUE(succeeds(CU(cuKernelGetFunction)(&function, kernel)));
        ASSERT_TRUE(succeeds(CU(cuLibraryUnload)(code)));
        CUlinkState link = nullptr;
        void* image = nullptr;
        std::size_t bytes = 0;
        std::string text = SAXPY_PTX;
        ASSERT_TRUE(succeeds(CU(cuLinkCreate)(0, nullptr, nullptr, &link)));
        ASSERT_TRUE(succeeds(CU(cuLinkAddData)(link, CU_JIT_INPUT_PTX, text.data(), text.size() + 1,
                                               "saxpy", 0, nullptr, nullptr)));
        ASSERT_TRUE(succeeds(CU(cuLinkComplete)(link, &image, &bytes)));
        ASSERT_TRUE(succeeds(CU(cuLinkDestroy)(link)));
    });
}

TEST_F(Growth, captures) {
    const CUdeviceptr memory = allocate(64);
    CUstream stream = nullptr;
    CUevent event = nullptr;
    ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING)));
    ASSERT_TRUE(succeeds(CU(cuEventCreate)(&event, CU_EVENT_DEFAULT)));
    expect_none(MANY, [&] {
        CUgraph graph = nullptr;
        ASSERT_TRUE(succeeds(CU(cuStreamBeginCapture)(stream, CU_STREAM_CAPTURE_MODE_RELAXED)));
        ASSERT_TRUE(succeeds(CU(cuMemsetD8Async)(memory, 1, 64, stream)));
        ASSERT_TRUE(succeeds(CU(cuEventRecord)(event, stream)));
        ASSERT_TRUE(succeeds(CU(cuStreamEndCapture)(stream, &graph)));
        ASSERT_TRUE(succeeds(CU(cuGraphDestroy)(graph)));
    });
    EXPECT_TRUE(succeeds(CU(cuEventDestroy)(event)));
    EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(stream)));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(memory)));
}

TEST_F(Growth, events_that_can_be_shared) {
    expect_none(SOME, [] {
        CUevent event = nullptr;
        CUipcEventHandle handle{};
        ASSERT_TRUE(
            succeeds(CU(cuEventCreate)(&event, CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS)));
        ASSERT_TRUE(succeeds(CU(cuIpcGetEventHandle)(&handle, event)));
        ASSERT_TRUE(succeeds(CU(cuEventRecord)(event, nullptr)));
        ASSERT_TRUE(succeeds(CU(cuEventSynchronize)(event)));
        ASSERT_TRUE(succeeds(CU(cuEventDestroy)(event)));
    });
}

TEST_F(Growth, calls_that_fail) {
    expect_none(MANY, [] {
        CUdeviceptr memory = 0;
        ASSERT_TRUE(
            returns(CUDA_ERROR_OUT_OF_MEMORY, CU(cuMemAlloc)(&memory, std::size_t{1} << 50)));
        ASSERT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE,
                            CU(cuStreamSynchronize)(reinterpret_cast<CUstream>(0x1230))));
    });
}

TEST_F(Growth, a_loaded_library_keeps_little_for_each_line_of_ptx) {
    // The tree that the compiler works on takes about 600 bytes more for a line.
    constexpr std::int64_t MOST_BYTES_PER_LINE = 300;
    constexpr std::int64_t LINES = 20000;
    constexpr int COUNT = 10;
    std::string text = ".version 7.0\n.target sm_70\n.address_size 64\n"
                       ".visible .entry k(.param .u64 p)\n{\n    .reg .b32 %r<2>;\n"
                       "    .reg .b64 %rd<2>;\n    ld.param.u64 %rd1, [p];\n"
                       "    mov.u32 %r1, %tid.x;\n";
    for (std::int64_t line = 0; line < LINES; ++line) {
        text += "    st.global.u32 [%rd1+" + std::to_string(4 * line) + "], %r1;\n";
    }
    text += "    ret;\n}\n";
    std::vector<CUlibrary> libraries;
    const auto load = [&] {
        CUlibrary& library = libraries.emplace_back();
        ASSERT_TRUE(succeeds(CU(cuLibraryLoadData)(&library, text.c_str(), nullptr, nullptr, 0,
                                                   nullptr, nullptr, 0)));
    };
    load(); // the memory that loading needs stays with the process
    const std::int64_t before = resident_bytes();
    for (int i = 0; i < COUNT; ++i) {
        load();
    }
    const std::int64_t grown = resident_bytes() - before;
    for (CUlibrary library : libraries) {
        EXPECT_TRUE(succeeds(CU(cuLibraryUnload)(library)));
    }
    if (!IS_SANITIZED) {
        EXPECT_LE(grown, SLACK_BYTES + COUNT * LINES * MOST_BYTES_PER_LINE);
    }
}
