// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What outlives what: leaks, resets and checkpoints with arrays, textures and surfaces.

#include "textures/array_test.hpp"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

using namespace cuprum::emulator::test;

using Lifetimes = ArrayTest;

TEST(Leaks, arrays_and_objects_are_listed_when_the_process_leaves) {
    const auto leave = [](bool leaks) {
        ::setenv("CUPRUM_EMULATOR_LEAKS", "1", 1);
        CUcontext context = nullptr;
        CU(cuInit)(0);
        CU(cuDevicePrimaryCtxRetain)(&context, 0);
        CU(cuCtxSetCurrent)(context);
        const auto wanted = descriptor(64, 32, 0, CUDA_ARRAY3D_SURFACE_LDST);
        CUarray array = nullptr;
        CUmipmappedArray mipmap = nullptr;
        CU(cuArray3DCreate)(&array, &wanted);
        CU(cuMipmappedArrayCreate)(&mipmap, &wanted, 3);
        const auto resource = resource_of(array);
        const CUDA_TEXTURE_DESC how{};
        CUtexObject texture = 0;
        CUsurfObject surface = 0;
        CU(cuTexObjectCreate)(&texture, &resource, &how, nullptr);
        CU(cuSurfObjectCreate)(&surface, &resource);
        if (!leaks) {
            CU(cuTexObjectDestroy)(texture);
            CU(cuSurfObjectDestroy)(surface);
            CU(cuArrayDestroy)(array);
            CU(cuMipmappedArrayDestroy)(mipmap);
        }
        std::exit(0);
    };
    // Levels and the memory of arrays do not count by themselves.
    for (const char* part : {"note: 4 objects were not given back:",
                             "  array 0x[0-9a-f]+, made by cuArray3DCreate, host thread [0-9]+",
                             "  mipmapped array 0x[0-9a-f]+, made by cuMipmappedArrayCreate",
                             "  texture object 0x[0-9a-f]+, made by cuTexObjectCreate",
                             "  surface object 0x[0-9a-f]+, made by cuSurfObjectCreate"}) {
        EXPECT_EXIT(leave(true), testing::ExitedWithCode(0), part);
    }
    EXPECT_EXIT(leave(false), testing::ExitedWithCode(0), "^$");
}

TEST_F(Lifetimes, destroying_an_array_waits_for_the_work_of_all_contexts) {
    struct Work {
        std::atomic<bool> may_end = false;
        std::atomic<bool> is_over = false;
    };

    CUcontext other = nullptr;
    CUctxCreateParams parameters{};
    ASSERT_TRUE(succeeds(CU(cuCtxCreate)(&other, &parameters, 0, 0)));
    CUstream stream = nullptr;
    ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING)));
    ASSERT_TRUE(succeeds(CU(cuCtxSetCurrent)(context_)));
    const auto wanted = descriptor(64, 64);
    for (const bool is_mipmap : {false, true}) {
        CUmipmappedArray mipmap = nullptr;
        CUarray array = nullptr;
        ASSERT_TRUE(succeeds(is_mipmap ? CU(cuMipmappedArrayCreate)(&mipmap, &wanted, 2)
                                       : CU(cuArray3DCreate)(&array, &wanted)));
        Work work;
        const auto run = [](void* data) {
            auto& own = *static_cast<Work*>(data);
            while (!own.may_end) {
                std::this_thread::yield();
            }
            own.is_over = true;
        };
        ASSERT_TRUE(succeeds(CU(cuLaunchHostFunc)(stream, run, &work)));
        std::thread later([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            work.may_end = true;
        });
        EXPECT_TRUE(
            succeeds(is_mipmap ? CU(cuMipmappedArrayDestroy)(mipmap) : CU(cuArrayDestroy)(array)));
        EXPECT_TRUE(work.is_over) << "the memory went while a context worked";
        later.join();
        ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(stream)));
    }
    ASSERT_TRUE(succeeds(CU(cuCtxDestroy)(other)));
    ASSERT_TRUE(succeeds(CU(cuCtxSetCurrent)(context_)));
}

TEST_F(Lifetimes, texels_survive_a_checkpoint) {
    const CUarray array = create(descriptor(64, 32, 0, 0, CU_AD_FORMAT_UNSIGNED_INT8));
    auto values = numbers(2048);
    auto copy = between(array, values.data(), true, 64, 32);
    ASSERT_TRUE(succeeds(CU(cuMemcpy3D)(&copy)));
    const auto resource = resource_of(array);
    const CUDA_TEXTURE_DESC how{};
    CUtexObject texture = 0;
    ASSERT_TRUE(succeeds(CU(cuTexObjectCreate)(&texture, &resource, &how, nullptr)));

    const int self = ::getpid();
    ASSERT_TRUE(succeeds(CU(cuCheckpointProcessLock)(self, nullptr)));
    ASSERT_TRUE(succeeds(CU(cuCheckpointProcessCheckpoint)(self, nullptr)));
    ASSERT_TRUE(succeeds(CU(cuCheckpointProcessRestore)(self, nullptr)));
    ASSERT_TRUE(succeeds(CU(cuCheckpointProcessUnlock)(self, nullptr)));

    std::vector<std::uint8_t> back(2048);
    copy = between(array, back.data(), false, 64, 32);
    ASSERT_TRUE(succeeds(CU(cuMemcpy3D)(&copy)));
    EXPECT_EQ(back, values);
    CUDA_RESOURCE_DESC found{};
    EXPECT_TRUE(succeeds(CU(cuTexObjectGetResourceDesc)(&found, texture)));
    EXPECT_EQ(found.res.array.hArray, array);
    EXPECT_TRUE(succeeds(CU(cuTexObjectDestroy)(texture)));
    destroy(array);
}

TEST_F(Lifetimes, a_reset_ends_arrays_and_objects) {
    const CUarray array = create(descriptor(64, 32));
    const auto resource = resource_of(array);
    const CUDA_TEXTURE_DESC how{};
    CUtexObject texture = 0;
    ASSERT_TRUE(succeeds(CU(cuTexObjectCreate)(&texture, &resource, &how, nullptr)));
    ASSERT_TRUE(succeeds(CU(cuDevicePrimaryCtxReset)(0)));
    ASSERT_TRUE(succeeds(CU(cuDevicePrimaryCtxRetain)(&context_, 0)));
    ASSERT_TRUE(succeeds(CU(cuCtxSetCurrent)(context_)));
    CUDA_ARRAY3D_DESCRIPTOR size{};
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE, CU(cuArray3DGetDescriptor)(&size, array)));
    CUDA_RESOURCE_DESC found{};
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuTexObjectGetResourceDesc)(&found, texture)));
    EXPECT_TRUE(succeeds(CU(cuTexObjectDestroy)(texture)));
}
