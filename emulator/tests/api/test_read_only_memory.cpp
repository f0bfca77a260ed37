// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Memory that devices may read but not write, and memory that they may not access at all.

#include "api/driver.hpp"

#include <functional>
#include <string>
#include <sys/mman.h>
#include <utility>
#include <vector>

using namespace cuprum::emulator::test;

namespace {

/// Kernels of one warp that write to their argument, each in another way, and one that reads.
constexpr const char* WAYS_PTX = R"(
.version 8.0
.target sm_90
.address_size 64

.visible .entry side_by_side(.param .u64 p) {
    .reg .b32 %r<2>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r1;
    ret;
}

.visible .entry at_one_place(.param .u64 p) {
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, 7;
    st.u32 [%rd1], %r1;
    ret;
}

.visible .entry scattered(.param .u64 p) {
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    mul.lo.u32 %r2, %r1, %r1;
    mul.wide.u32 %rd2, %r2, 64;
    add.s64 %rd3, %rd1, %rd2;
    st.u32 [%rd3], %r1;
    ret;
}

.visible .entry far_apart(.param .u64 p) {
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    xor.b32 %r2, %r1, 5;
    mul.wide.u32 %rd2, %r2, 65536;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r1;
    ret;
}

.visible .entry by_some_lanes(.param .u64 p) {
    .reg .pred %p<2>;
    .reg .b32 %r<3>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 3;
    setp.eq.u32 %p1, %r2, 3;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    @%p1 st.global.u32 [%rd3], %r1;
    ret;
}

.visible .entry by_vectors(.param .u64 p) {
    .reg .b32 %r<2>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 16;
    add.s64 %rd3, %rd1, %rd2;
    st.global.v4.u32 [%rd3], {%r1, %r1, %r1, %r1};
    ret;
}

.visible .entry by_bytes(.param .u64 p) {
    .reg .b32 %r<2>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    cvt.u64.u32 %rd2, %r1;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u8 [%rd3], %r1;
    ret;
}

.visible .entry by_adding(.param .u64 p) {
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, 1;
    atom.global.add.u32 %r2, [%rd1], %r1;
    ret;
}

.visible .entry by_exchanging(.param .u64 p) {
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p];
    mov.u64 %rd2, 1;
    atom.exch.b64 %rd3, [%rd1], %rd2;
    ret;
}

.visible .entry by_matrices(.param .u64 p) {
    .reg .f32 %f<2>;
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [p];
    mov.f32 %f1, 0f3F800000;
    mov.u32 %r1, 16;
    wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd1], {%f1, %f1, %f1, %f1, %f1, %f1, %f1, %f1}, %r1;
    ret;
}

.visible .entry in_bulk(.param .u64 p) {
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    .shared .align 16 .b8 room[64];
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, room;
    cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 64;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
    ret;
}

.visible .entry by_reading(.param .u64 p, .param .u64 out) {
    .reg .b32 %r<3>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [p];
    ld.param.u64 %rd2, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    ld.global.u32 %r2, [%rd4];
    st.global.u32 [%rd5], %r2;
    ret;
}
)";

constexpr const char* WAYS_TO_WRITE[] = {"side_by_side",  "at_one_place", "scattered", "far_apart",
                                         "by_some_lanes", "by_vectors",   "by_bytes",  "by_adding",
                                         "by_exchanging", "by_matrices",  "in_bulk"};

constexpr unsigned LANES = 32;

} // namespace

class ReadOnlyMemory : public DriverTest {
protected:
    /// Runs a kernel of one warp in a separate context, because a fault makes it unusable. Returns
    /// the result of that context.
    CUresult run(const char* kernel, CUdeviceptr memory, CUdeviceptr other = 0) {
        CUcontext context = nullptr;
        CUmodule module = nullptr;
        CUfunction function = nullptr;
        EXPECT_TRUE(succeeds(CU(cuCtxCreate)(&context, nullptr, 0, 0)));
        EXPECT_TRUE(succeeds(CU(cuModuleLoadData)(&module, WAYS_PTX)));
        EXPECT_TRUE(succeeds(CU(cuModuleGetFunction)(&function, module, kernel)));
        void* arguments[] = {&memory, &other};
        EXPECT_TRUE(succeeds(
            CU(cuLaunchKernel)(function, 1, 1, 1, LANES, 1, 1, 0, nullptr, arguments, nullptr)));
        const CUresult result = CU(cuCtxSynchronize)();
        EXPECT_TRUE(succeeds(CU(cuCtxDestroy)(context)));
        EXPECT_TRUE(succeeds(CU(cuCtxSetCurrent)(context_)));
        return result;
    }

    /// Returns what the driver logs during an action.
    static std::string log_of(const std::function<void()>& action) {
        std::string text;
        CUlogsCallbackHandle handle = nullptr;
        EXPECT_TRUE(succeeds(CU(cuLogsRegisterCallback)(
            [](void* kept, CUlogLevel, char* message, std::size_t length) {
                *static_cast<std::string*>(kept) += std::string(message, length) + "\n";
            },
            &text, &handle)));
        action();
        EXPECT_TRUE(succeeds(CU(cuLogsUnregisterCallback)(handle)));
        return text;
    }

    static void expect_part(const std::string& text, const char* part) {
        EXPECT_NE(text.find(part), std::string::npos) << "expected: " << part << "\nin: " << text;
    }
};

/// Memory of device 0, in two adjacent mappings.
class MappedReadOnly : public ReadOnlyMemory {
protected:
    void SetUp() override {
        DriverTest::SetUp();
        CUmemAllocationProp properties{};
        properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
        ASSERT_TRUE(succeeds(CU(cuMemAddressReserve)(&base_, 2 * PIECE_BYTES, 0, 0, 0)));
        for (std::size_t offset = 0; offset < 2 * PIECE_BYTES; offset += PIECE_BYTES) {
            CUmemGenericAllocationHandle handle = 0;
            ASSERT_TRUE(succeeds(CU(cuMemCreate)(&handle, PIECE_BYTES, &properties, 0)));
            ASSERT_TRUE(succeeds(CU(cuMemMap)(base_ + offset, PIECE_BYTES, 0, handle, 0)));
            ASSERT_TRUE(succeeds(CU(cuMemRelease)(handle)));
        }
        allow(base_, 2 * PIECE_BYTES, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
        ASSERT_TRUE(succeeds(CU(cuMemsetD32)(base_, 5, 2 * PIECE_BYTES / 4)));
        ASSERT_TRUE(succeeds(CU(cuCtxSynchronize)()));
    }

    void TearDown() override {
        EXPECT_TRUE(succeeds(CU(cuMemUnmap)(base_, 2 * PIECE_BYTES)));
        EXPECT_TRUE(succeeds(CU(cuMemAddressFree)(base_, 2 * PIECE_BYTES)));
        DriverTest::TearDown();
    }

    static void allow(CUdeviceptr base, std::size_t bytes, CUmemAccess_flags flags) {
        const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0}, flags};
        ASSERT_TRUE(succeeds(CU(cuMemSetAccess)(base, bytes, &access, 1)));
    }

    /// Returns how many words have changed since the test started.
    std::size_t changed_words() {
        std::vector<unsigned> words(2 * PIECE_BYTES / 4);
        EXPECT_TRUE(succeeds(CU(cuMemcpyDtoH)(words.data(), base_, 2 * PIECE_BYTES)));
        std::size_t changed = 0;
        for (const unsigned word : words) {
            changed += word == 5 ? 0U : 1U;
        }
        return changed;
    }

    static constexpr std::size_t PIECE_BYTES = 2 << 20;
    CUdeviceptr base_ = 0;
};

TEST_F(MappedReadOnly, kernels_can_write_it_before_and_after_but_not_meanwhile) {
    for (const char* way : WAYS_TO_WRITE) {
        SCOPED_TRACE(way);
        EXPECT_TRUE(succeeds(run(way, base_)));
        EXPECT_GT(changed_words(), 0U);
        EXPECT_TRUE(succeeds(CU(cuMemsetD32)(base_, 5, 2 * PIECE_BYTES / 4)));
        allow(base_, 2 * PIECE_BYTES, CU_MEM_ACCESS_FLAGS_PROT_READ);
        EXPECT_TRUE(returns(CUDA_ERROR_ILLEGAL_ADDRESS, run(way, base_)));
        EXPECT_EQ(changed_words(), 0U);
        allow(base_, 2 * PIECE_BYTES, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    }
}

TEST_F(MappedReadOnly, kernels_can_read_it) {
    allow(base_, PIECE_BYTES, CU_MEM_ACCESS_FLAGS_PROT_READ);
    EXPECT_TRUE(succeeds(run("by_reading", base_, base_ + PIECE_BYTES + 128)));
    unsigned words[LANES] = {};
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoH)(words, base_ + PIECE_BYTES + 128, sizeof words)));
    EXPECT_EQ(words[0], 5U);
    EXPECT_EQ(words[LANES - 1], 5U);
}

TEST_F(MappedReadOnly, a_report_says_what_kind_of_memory_it_is_and_who_wrote) {
    allow(base_, PIECE_BYTES, CU_MEM_ACCESS_FLAGS_PROT_READ);
    const std::string text = log_of(
        [&] { EXPECT_TRUE(returns(CUDA_ERROR_ILLEGAL_ADDRESS, run("by_some_lanes", base_ + 4))); });
    expect_part(text, "write of 4 bytes at 0x");
    expect_part(text, "is refused: the device may only read this memory");
    expect_part(text, "memory that device 0 may only read: cuMemSetAccess gave it "
                      "CU_MEM_ACCESS_FLAGS_PROT_READ");
    expect_part(text, "16 bytes into mapped memory");
    expect_part(text, "made by cuMemMap");
    expect_part(text, "thread (3, 0, 0)");
}

TEST_F(MappedReadOnly, copies_and_fills_into_it_are_refused_and_out_of_it_done) {
    unsigned words[16] = {1, 2, 3};
    CUDA_MEMCPY2D flat{};
    flat.srcMemoryType = CU_MEMORYTYPE_HOST;
    flat.srcHost = words;
    flat.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    flat.dstDevice = base_;
    flat.WidthInBytes = 16;
    flat.Height = 2;
    CUDA_MEMCPY3D_PEER peer{};
    peer.srcMemoryType = CU_MEMORYTYPE_HOST;
    peer.srcHost = words;
    peer.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    peer.dstDevice = base_;
    peer.WidthInBytes = 16;
    peer.Height = peer.Depth = 1;
    CUdeviceptr writable = base_ + PIECE_BYTES;
    CUdeviceptr to = base_;
    CUstream stream = nullptr;
    std::size_t bytes = 16;
    std::size_t start = 0;
    CUmemcpyAttributes attributes{};
    attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING)));
    const std::pair<const char*, std::function<CUresult()>> writes[] = {
        {"HtoD", [&] { return CU(cuMemcpyHtoD)(base_, words, 16); }},
        {"HtoDAsync", [&] { return CU(cuMemcpyHtoDAsync)(base_, words, 16, stream); }},
        {"DtoD", [&] { return CU(cuMemcpyDtoD)(base_, writable, 16); }},
        {"copy", [&] { return CU(cuMemcpyAsync)(base_, writable, 16, stream); }},
        {"peer", [&] { return CU(cuMemcpyPeer)(base_, context_, writable, context_, 16); }},
        {"2D", [&] { return CU(cuMemcpy2D)(&flat); }},
        {"3D peer", [&] { return CU(cuMemcpy3DPeer)(&peer); }},
        {"batch",
         [&] {
             return CU(cuMemcpyBatchAsync)(&to, &writable, &bytes, 1, &attributes, &start, 1,
                                           stream);
         }},
        {"D8", [&] { return CU(cuMemsetD8)(base_, 1, 16); }},
        {"D32Async", [&] { return CU(cuMemsetD32Async)(base_, 1, 4, stream); }},
        {"D2D16", [&] { return CU(cuMemsetD2D16)(base_, 64, 1, 4, 2); }},
        {"value", [&] { return CU(cuStreamWriteValue32)(stream, base_, 1, 0); }},
    };
    allow(base_, PIECE_BYTES, CU_MEM_ACCESS_FLAGS_PROT_READ);
    for (const auto& [name, write] : writes) {
        EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, write())) << name;
    }
    EXPECT_TRUE(succeeds(CU(cuCtxSynchronize)())) << "nothing was spoiled";
    EXPECT_EQ(changed_words(), 0U);
    EXPECT_TRUE(succeeds(CU(cuMemcpyDtoD)(writable, base_, 16)));
    EXPECT_TRUE(succeeds(CU(cuStreamWaitValue32)(stream, base_, 5, CU_STREAM_WAIT_VALUE_EQ)));
    EXPECT_TRUE(succeeds(CU(cuStreamSynchronize)(stream)));
    allow(base_, PIECE_BYTES, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    for (const auto& [name, write] : writes) {
        EXPECT_TRUE(succeeds(write())) << name;
    }
    EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(stream)));
}

TEST_F(MappedReadOnly, a_copy_over_two_mappings_needs_access_to_both) {
    std::vector<unsigned> words(32);
    const CUdeviceptr middle = base_ + PIECE_BYTES - 64;
    allow(base_ + PIECE_BYTES, PIECE_BYTES, CU_MEM_ACCESS_FLAGS_PROT_READ);
    EXPECT_TRUE(succeeds(CU(cuMemcpyHtoD)(middle, words.data(), 64)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpyHtoD)(middle, words.data(), 128)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemsetD8)(middle, 0, 65)));
    EXPECT_TRUE(succeeds(CU(cuMemcpyDtoH)(words.data(), middle, 128)));
    allow(base_ + PIECE_BYTES, PIECE_BYTES, CU_MEM_ACCESS_FLAGS_PROT_NONE);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpyDtoH)(words.data(), middle, 128)));
    EXPECT_TRUE(succeeds(CU(cuMemcpyDtoH)(words.data(), middle, 64)));
}

TEST_F(MappedReadOnly, without_any_access_reading_is_refused_too) {
    unsigned word = 0;
    allow(base_, PIECE_BYTES, CU_MEM_ACCESS_FLAGS_PROT_NONE);
    const std::string text = log_of([&] {
        EXPECT_TRUE(
            returns(CUDA_ERROR_ILLEGAL_ADDRESS, run("by_reading", base_, base_ + PIECE_BYTES)));
    });
    expect_part(text, "read of 4 bytes at 0x");
    expect_part(text,
                "memory to which device 0 has no access: cuMemSetAccess was not called for it");
    EXPECT_TRUE(returns(CUDA_ERROR_ILLEGAL_ADDRESS, run("at_one_place", base_)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpyDtoH)(&word, base_, 4)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuStreamWaitValue32)(nullptr, base_, 0, 0)));
    allow(base_, PIECE_BYTES, CU_MEM_ACCESS_FLAGS_PROT_READ);
    EXPECT_TRUE(succeeds(CU(cuMemcpyDtoH)(&word, base_, 4)));
    EXPECT_EQ(word, 5U);
}

TEST_F(ReadOnlyMemory, memory_registered_for_reading_is_not_written_by_devices) {
    std::vector<unsigned> words(1024, 5);
    ASSERT_TRUE(succeeds(CU(cuMemHostRegister)(words.data(), 4096, CU_MEMHOSTREGISTER_READ_ONLY)));
    const auto address = reinterpret_cast<CUdeviceptr>(words.data());
    const CUdeviceptr memory = allocate(4096);
    const std::string text = log_of(
        [&] { EXPECT_TRUE(returns(CUDA_ERROR_ILLEGAL_ADDRESS, run("side_by_side", address))); });
    expect_part(text, "is refused: the device may only read this memory");
    expect_part(text, "memory that was registered with CU_MEMHOSTREGISTER_READ_ONLY");
    expect_part(text, "registered host memory");
    EXPECT_TRUE(returns(CUDA_ERROR_ILLEGAL_ADDRESS, run("by_adding", address)));
    EXPECT_TRUE(succeeds(run("by_reading", address, memory)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpyDtoH)(words.data(), memory, 64)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemsetD8)(address, 0, 64)));
    EXPECT_TRUE(succeeds(CU(cuMemcpyHtoD)(memory, words.data(), 64)));
    int flags = -1;
    EXPECT_TRUE(
        succeeds(CU(cuPointerGetAttribute)(&flags, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, address)));
    EXPECT_EQ(flags, CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READ);
    ASSERT_TRUE(succeeds(CU(cuMemHostUnregister)(words.data())));
    EXPECT_EQ(words, std::vector<unsigned>(1024, 5));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(memory)));
}

TEST_F(ReadOnlyMemory, pages_that_the_process_cannot_write_are_registered_for_reading_only) {
    constexpr std::size_t bytes = 8192;
    void* const pages =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(pages, MAP_FAILED);
    const auto register_with = [&](unsigned flags) {
        return CU(cuMemHostRegister)(pages, bytes, flags);
    };
    ASSERT_EQ(::mprotect(static_cast<char*>(pages) + 4096, 4096, PROT_READ), 0);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, register_with(0)));
    EXPECT_TRUE(succeeds(register_with(CU_MEMHOSTREGISTER_READ_ONLY)));
    EXPECT_TRUE(succeeds(CU(cuMemHostUnregister)(pages)));
    ASSERT_EQ(::mprotect(static_cast<char*>(pages) + 4096, 4096, PROT_NONE), 0);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, register_with(CU_MEMHOSTREGISTER_READ_ONLY)));
    ASSERT_EQ(::mprotect(pages, bytes, PROT_READ | PROT_WRITE), 0);
    EXPECT_TRUE(succeeds(register_with(0)));
    EXPECT_TRUE(succeeds(CU(cuMemHostUnregister)(pages)));
    ::munmap(pages, bytes);
}
