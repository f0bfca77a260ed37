// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Kernels that use what the driver made: textures and references, and what happens when they end.

#include "textures/array_test.hpp"

#include <algorithm>
#include <tuple>

using namespace cuprum::emulator::test;

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" // texture references

namespace {

constexpr const char* MODULE = R"(.version 7.0
.target sm_50
.address_size 64
.visible .global .texref picture;
.visible .entry read_object(.param .u64 object, .param .u64 out)
{
    .reg .u64 %rd<4>;
    .reg .f32 %f<6>;
    ld.param.u64 %rd1, [object];
    ld.param.u64 %rd2, [out];
    cvta.to.global.u64 %rd3, %rd2;
    mov.f32 %f5, 0f3fc00000;
    tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f5}];
    st.global.f32 [%rd3], %f1;
    ret;
}
.visible .entry read_cube(.param .u64 object, .param .u64 out)
{
    .reg .u64 %rd<4>;
    .reg .f32 %f<7>;
    .reg .u32 %r;
    ld.param.u64 %rd1, [object];
    ld.param.u64 %rd2, [out];
    cvta.to.global.u64 %rd3, %rd2;
    mov.u32 %r, 0;
    mov.f32 %f5, 0f00000000;
    mov.f32 %f6, 0fbf800000;
    tex.acube.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%r, %f5, %f5, %f6}];
    st.global.f32 [%rd3], %f1;
    ret;
}
.visible .entry read_reference(.param .u64 out)
{
    .reg .u64 %rd<3>;
    .reg .f32 %f<6>;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd2, %rd1;
    mov.f32 %f5, 0f3fc00000;
    tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [picture, {%f5, %f5}];
    st.global.f32 [%rd2], %f1;
    ret;
}
)";

} // namespace

class TextureKernels : public ArrayTest {
protected:
    void SetUp() override {
        ArrayTest::SetUp();
        ASSERT_TRUE(succeeds(CU(cuModuleLoadData)(&module_, MODULE)));
        ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&stream_, CU_STREAM_NON_BLOCKING)));
        out_ = allocate(sizeof(float));
    }

    void TearDown() override {
        EXPECT_TRUE(succeeds(CU(cuMemFree)(out_)));
        EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(stream_)));
        EXPECT_TRUE(succeeds(CU(cuModuleUnload)(module_)));
        ArrayTest::TearDown();
    }

    /// Creates an array of 4 x 4 floats, all with one value.
    static CUarray filled(float value) {
        const CUarray array = create(descriptor(4, 4));
        std::vector<float> values(16, value);
        auto copy = between(array, values.data(), true, 16, 4);
        EXPECT_TRUE(succeeds(CU(cuMemcpy3D)(&copy)));
        return array;
    }

    static CUtexObject texture_of(CUarray array) {
        const auto resource = resource_of(array);
        const CUDA_TEXTURE_DESC how{};
        CUtexObject object = 0;
        EXPECT_TRUE(succeeds(CU(cuTexObjectCreate)(&object, &resource, &how, nullptr)));
        return object;
    }

    template <typename... Arguments>
    CUresult launch(const char* name, Arguments... arguments) {
        CUfunction function = nullptr;
        EXPECT_TRUE(succeeds(CU(cuModuleGetFunction)(&function, module_, name)));
        void* pointers[] = {&arguments...};
        return CU(cuLaunchKernel)(function, 1, 1, 1, 1, 1, 1, 0, stream_, pointers, nullptr);
    }

    float result() {
        float value = -1;
        EXPECT_TRUE(succeeds(CU(cuStreamSynchronize)(stream_)));
        EXPECT_TRUE(succeeds(CU(cuMemcpyDtoH)(&value, out_, sizeof value)));
        return value;
    }

    CUmodule module_ = nullptr;
    CUstream stream_ = nullptr;
    CUdeviceptr out_ = 0;
};

TEST_F(TextureKernels, a_texture_that_is_destroyed_serves_the_kernels_before) {
    const CUarray array = filled(7);
    const CUtexObject object = texture_of(array);
    {
        Gate gate;
        gate.block(stream_);
        ASSERT_TRUE(succeeds(launch("read_object", object, out_)));
        EXPECT_TRUE(succeeds(CU(cuTexObjectDestroy)(object)));
        CUDA_RESOURCE_DESC found{};
        EXPECT_TRUE(
            returns(CUDA_ERROR_INVALID_VALUE, CU(cuTexObjectGetResourceDesc)(&found, object)));
    }
    EXPECT_EQ(result(), 7);
    destroy(array);
}

TEST_F(TextureKernels, an_array_that_is_destroyed_waits_for_the_kernels_before) {
    const CUarray array = filled(5);
    const CUtexObject object = texture_of(array);
    ASSERT_TRUE(succeeds(launch("read_object", object, out_)));
    destroy(array);
    EXPECT_EQ(result(), 5);
    EXPECT_TRUE(succeeds(CU(cuTexObjectDestroy)(object)));
}

TEST_F(TextureKernels, pitched_memory_without_texels_reads_as_zero) {
    for (const auto& [width, height, mode] :
         {std::tuple(4, 0, CU_TR_ADDRESS_MODE_CLAMP), std::tuple(0, 1, CU_TR_ADDRESS_MODE_CLAMP),
          std::tuple(0, 1, CU_TR_ADDRESS_MODE_MIRROR)}) {
        CUDA_RESOURCE_DESC resource{};
        resource.resType = CU_RESOURCE_TYPE_PITCH2D;
        resource.res.pitch2D.devPtr = 0x10000; // not memory, but nothing of it is read
        resource.res.pitch2D.format = CU_AD_FORMAT_FLOAT;
        resource.res.pitch2D.numChannels = 1;
        resource.res.pitch2D.width = static_cast<std::size_t>(width);
        resource.res.pitch2D.height = static_cast<std::size_t>(height);
        resource.res.pitch2D.pitchInBytes = 512;
        CUDA_TEXTURE_DESC how{};
        std::ranges::fill(how.addressMode, mode);
        how.flags = CU_TRSF_NORMALIZED_COORDINATES;
        CUtexObject object = 0;
        ASSERT_TRUE(succeeds(CU(cuTexObjectCreate)(&object, &resource, &how, nullptr)));
        ASSERT_TRUE(succeeds(launch("read_object", object, out_)));
        EXPECT_EQ(result(), 0);
        EXPECT_TRUE(succeeds(CU(cuTexObjectDestroy)(object)));
    }
}

TEST_F(TextureKernels, a_view_of_one_face_stays_inside_the_array) {
    constexpr std::size_t SIZE = 256;
    const CUarray array =
        create(descriptor(SIZE, SIZE, 12, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED));
    std::vector<float> values(SIZE * SIZE * 12, 6);
    auto copy = between(array, values.data(), true, SIZE * sizeof(float), SIZE, 12);
    ASSERT_TRUE(succeeds(CU(cuMemcpy3D)(&copy)));
    const auto resource = resource_of(array);
    CUDA_TEXTURE_DESC how{};
    how.flags = CU_TRSF_NORMALIZED_COORDINATES;
    CUDA_RESOURCE_VIEW_DESC view{};
    view.format = CU_RES_VIEW_FORMAT_FLOAT_1X32;
    view.width = SIZE;
    view.height = SIZE;
    view.depth = 12;
    view.firstLayer = 11;
    view.lastLayer = 11;
    CUtexObject object = 0;
    ASSERT_TRUE(succeeds(CU(cuTexObjectCreate)(&object, &resource, &how, &view)));
    ASSERT_TRUE(succeeds(launch("read_cube", object, out_)));
    EXPECT_EQ(result(), 6); // the face in direction -z
    EXPECT_TRUE(succeeds(CU(cuTexObjectDestroy)(object)));
    destroy(array);
}

TEST_F(TextureKernels, references_are_read_as_they_are_bound) {
    CUtexref picture = nullptr;
    ASSERT_TRUE(succeeds(CU(cuModuleGetTexRef)(&picture, module_, "picture")));
    const CUarray first = filled(1);
    const CUarray second = filled(2);
    ASSERT_TRUE(succeeds(CU(cuTexRefSetArray)(picture, first, CU_TRSA_OVERRIDE_FORMAT)));
    ASSERT_TRUE(succeeds(launch("read_reference", out_)));
    EXPECT_EQ(result(), 1);
    {
        Gate gate;
        std::thread opener;
        gate.block(stream_);
        ASSERT_TRUE(succeeds(launch("read_reference", out_)));
        opener = std::thread([&] { gate.open(); });
        // Binding waits for the kernel, which reads the array that was bound when it was launched.
        ASSERT_TRUE(succeeds(CU(cuTexRefSetArray)(picture, second, CU_TRSA_OVERRIDE_FORMAT)));
        opener.join();
    }
    EXPECT_EQ(result(), 1);
    ASSERT_TRUE(succeeds(launch("read_reference", out_)));
    EXPECT_EQ(result(), 2);
    ASSERT_TRUE(succeeds(CU(cuTexRefSetFlags)(picture, CU_TRSF_NORMALIZED_COORDINATES)));
    ASSERT_TRUE(succeeds(launch("read_reference", out_)));
    EXPECT_EQ(result(), 2);

    const CUdeviceptr memory = allocate(4 * 512);
    ASSERT_TRUE(succeeds(CU(cuMemsetD32)(memory, 0x40400000, 512))); // 3.0F
    CUDA_ARRAY_DESCRIPTOR plane{4, 4, CU_AD_FORMAT_FLOAT, 1};
    ASSERT_TRUE(succeeds(CU(cuTexRefSetFlags)(picture, 0)));
    ASSERT_TRUE(succeeds(CU(cuTexRefSetAddress2D)(picture, &plane, memory, 512)));
    ASSERT_TRUE(succeeds(launch("read_reference", out_)));
    EXPECT_EQ(result(), 3);
    EXPECT_TRUE(succeeds(CU(cuMemFree)(memory)));
    destroy(first);
    destroy(second);
}

TEST_F(TextureKernels, a_deferred_array_is_read_once_it_is_mapped) {
    const CUarray array = create(descriptor(4, 4, 0, CUDA_ARRAY3D_DEFERRED_MAPPING));
    const CUtexObject object = texture_of(array); // before there is memory
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CUmemGenericAllocationHandle memory = 0;
    ASSERT_TRUE(succeeds(CU(cuMemCreate)(&memory, 2 << 20, &properties, 0)));
    CUarrayMapInfo info{};
    info.resourceType = CU_RESOURCE_TYPE_ARRAY;
    info.resource.array = array;
    info.memOperationType = CU_MEM_OPERATION_TYPE_MAP;
    info.memHandleType = CU_MEM_HANDLE_TYPE_GENERIC;
    info.memHandle.memHandle = memory;
    info.deviceBitMask = 1;
    ASSERT_TRUE(succeeds(CU(cuMemMapArrayAsync)(&info, 1, stream_)));
    std::vector<float> values(16, 9);
    auto copy = between(array, values.data(), true, 16, 4);
    ASSERT_TRUE(succeeds(CU(cuMemcpy3D)(&copy)));
    ASSERT_TRUE(succeeds(launch("read_object", object, out_)));
    EXPECT_EQ(result(), 9);
    EXPECT_TRUE(succeeds(CU(cuTexObjectDestroy)(object)));
    destroy(array);
    EXPECT_TRUE(succeeds(CU(cuMemRelease)(memory)));
}
