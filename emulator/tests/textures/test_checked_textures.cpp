// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Textures of memory under CUPRUM_EMULATOR_CHECK=memory. Each case runs in its own process.

#include "textures/array_test.hpp"

#include <cstdlib>
#include <functional>

using namespace cuprum::emulator::test;

namespace {

constexpr const char* FETCHES = R"(.version 7.0
.target sm_50
.address_size 64
.visible .entry by_index(.param .u64 object)
{
    .reg .u64 %rd;
    .reg .f32 %f<4>;
    ld.param.u64 %rd, [object];
    tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%rd, {3}];
    ret;
}
.visible .entry by_place(.param .u64 object)
{
    .reg .u64 %rd;
    .reg .f32 %f<6>;
    ld.param.u64 %rd, [object];
    mov.f32 %f5, 0f3fc00000;
    tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%rd, {%f5, %f5}];
    ret;
}
)";

constexpr std::size_t PITCH_BYTES = 512;

/// A program under a check, which fetches through textures of memory.
class Fetching {
public:
    explicit Fetching(const char* checks) {
        ::setenv("CUPRUM_EMULATOR_CHECK", checks, 1);
        CUcontext context = nullptr;
        CU(cuInit)(0);
        CU(cuDevicePrimaryCtxRetain)(&context, 0);
        CU(cuCtxSetCurrent)(context);
        CU(cuModuleLoadData)(&module_, FETCHES);
    }

    static CUdeviceptr allocate(std::size_t bytes) {
        CUdeviceptr memory = 0;
        CU(cuMemAlloc)(&memory, bytes);
        CU(cuMemsetD8)(memory, 0, bytes);
        return memory;
    }

    /// Fetches one of `bytes` bytes.
    [[nodiscard]] CUresult fetch_linear(CUdeviceptr memory, std::size_t bytes) const {
        CUDA_RESOURCE_DESC resource{};
        resource.resType = CU_RESOURCE_TYPE_LINEAR;
        resource.res.linear.devPtr = memory;
        resource.res.linear.format = CU_AD_FORMAT_FLOAT;
        resource.res.linear.numChannels = 1;
        resource.res.linear.sizeInBytes = bytes;
        return fetch("by_index", resource);
    }

    /// Fetches one of 3 rows of `width` floats.
    [[nodiscard]] CUresult fetch_pitched(CUdeviceptr memory, std::size_t width) const {
        CUDA_RESOURCE_DESC resource{};
        resource.resType = CU_RESOURCE_TYPE_PITCH2D;
        resource.res.pitch2D.devPtr = memory;
        resource.res.pitch2D.format = CU_AD_FORMAT_FLOAT;
        resource.res.pitch2D.numChannels = 1;
        resource.res.pitch2D.width = width;
        resource.res.pitch2D.height = 3;
        resource.res.pitch2D.pitchInBytes = PITCH_BYTES;
        return fetch("by_place", resource);
    }

private:
    [[nodiscard]] CUresult fetch(const char* kernel, const CUDA_RESOURCE_DESC& resource) const {
        const CUDA_TEXTURE_DESC how{};
        CUtexObject object = 0;
        CUfunction function = nullptr;
        if (CU(cuTexObjectCreate)(&object, &resource, &how, nullptr) != CUDA_SUCCESS) {
            return CUDA_ERROR_UNKNOWN;
        }
        void* arguments[] = {&object};
        CU(cuModuleGetFunction)(&function, module_, kernel);
        CU(cuLaunchKernel)(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr);
        return CU(cuCtxSynchronize)();
    }

    CUmodule module_ = nullptr;
};

/// Ends the process with 0 if `body` returns true in a program under a check.
void exit_if(const char* checks, const std::function<bool(const Fetching&)>& body) {
    const Fetching program(checks);
    std::_Exit(body(program) ? 0 : 1);
}

/// Reserves one range, and maps two pieces of memory to it that are adjacent.
CUdeviceptr map_two(std::size_t& piece_bytes) {
    CUmemAllocationProp how{};
    how.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    how.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CU(cuMemGetAllocationGranularity)(&piece_bytes, &how, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    CUdeviceptr base = 0;
    CU(cuMemAddressReserve)(&base, 2 * piece_bytes, 0, 0, 0);
    for (std::size_t i = 0; i < 2; ++i) {
        CUmemGenericAllocationHandle memory = 0;
        CU(cuMemCreate)(&memory, piece_bytes, &how, 0);
        CU(cuMemMap)(base + i * piece_bytes, piece_bytes, 0, memory, 0);
    }
    const CUmemAccessDesc access{how.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CU(cuMemSetAccess)(base, 2 * piece_bytes, &access, 1);
    CU(cuMemsetD8)(base, 0, 2 * piece_bytes);
    return base;
}

} // namespace

TEST(CheckedTextures, linear_memory_must_lie_in_its_allocation) {
    EXPECT_EXIT(exit_if("memory",
                        [](const Fetching& program) {
                            const CUdeviceptr memory = Fetching::allocate(100);
                            return program.fetch_linear(memory, 100) == CUDA_SUCCESS &&
                                   program.fetch_linear(memory, 104) == CUDA_ERROR_ILLEGAL_ADDRESS;
                        }),
                testing::ExitedWithCode(0),
                "the texture reads 104 bytes at 0x[0-9a-f]+, which are not all memory that the "
                "device may access\n  0 bytes behind ");
}

TEST(CheckedTextures, the_last_row_of_pitched_memory_may_end_with_its_width) {
    EXPECT_EXIT(exit_if("memory",
                        [](const Fetching& program) {
                            const CUdeviceptr memory = Fetching::allocate(2 * PITCH_BYTES + 40);
                            return program.fetch_pitched(memory, 10) == CUDA_SUCCESS &&
                                   program.fetch_pitched(memory, 11) == CUDA_ERROR_ILLEGAL_ADDRESS;
                        }),
                testing::ExitedWithCode(0),
                "the texture reads 1068 bytes at 0x[0-9a-f]+, which are not all memory that the "
                "device may access\n  0 bytes behind ");
}

TEST(CheckedTextures, freed_memory_is_named) {
    EXPECT_EXIT(exit_if("memory",
                        [](const Fetching& program) {
                            const CUdeviceptr memory = Fetching::allocate(100);
                            CU(cuMemFree)(memory);
                            return program.fetch_linear(memory, 100) == CUDA_ERROR_ILLEGAL_ADDRESS;
                        }),
                testing::ExitedWithCode(0), "0 bytes into (.|\n)*freed by cuMemFree");
}

TEST(CheckedTextures, mappings_may_be_adjacent) {
    EXPECT_EXIT(exit_if("memory",
                        [](const Fetching& program) {
                            std::size_t piece_bytes = 0;
                            const CUdeviceptr memory = map_two(piece_bytes);
                            return program.fetch_linear(memory, 2 * piece_bytes) == CUDA_SUCCESS;
                        }),
                testing::ExitedWithCode(0), "^$");
}

TEST(CheckedTextures, without_the_check_whole_granules_count) {
    EXPECT_EXIT(exit_if("window",
                        [](const Fetching& program) {
                            const CUdeviceptr memory = Fetching::allocate(100);
                            return program.fetch_linear(memory, 104) == CUDA_SUCCESS;
                        }),
                testing::ExitedWithCode(0), "^$");
}
