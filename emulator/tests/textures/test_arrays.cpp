// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "textures/array_test.hpp"

using namespace cuprum::emulator::test;

using Arrays = ArrayTest;

TEST_F(Arrays, a_descriptor_comes_back_as_it_went) {
    const auto wanted =
        descriptor(12, 12, 12, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED, CU_AD_FORMAT_HALF, 4);
    const CUarray array = create(wanted);
    CUDA_ARRAY3D_DESCRIPTOR deep{};
    ASSERT_TRUE(succeeds(CU(cuArray3DGetDescriptor)(&deep, array)));
    EXPECT_EQ(deep.Width, 12);
    EXPECT_EQ(deep.Height, 12);
    EXPECT_EQ(deep.Depth, 12);
    EXPECT_EQ(deep.Format, CU_AD_FORMAT_HALF);
    EXPECT_EQ(deep.NumChannels, 4);
    EXPECT_EQ(deep.Flags, wanted.Flags);
    CUDA_ARRAY_DESCRIPTOR flat{};
    ASSERT_TRUE(succeeds(CU(cuArrayGetDescriptor)(&flat, array)));
    EXPECT_EQ(flat.Width, 12);
    EXPECT_EQ(flat.Height, 12);
    destroy(array);
}

TEST_F(Arrays, memory_is_counted_and_given_back) {
    std::size_t before = 0;
    std::size_t during = 0;
    std::size_t after = 0;
    std::size_t total = 0;
    ASSERT_TRUE(succeeds(CU(cuMemGetInfo)(&before, &total)));
    const CUarray array = create(descriptor(1024, 256));
    ASSERT_TRUE(succeeds(CU(cuMemGetInfo)(&during, &total)));
    destroy(array);
    ASSERT_TRUE(succeeds(CU(cuMemGetInfo)(&after, &total)));
    EXPECT_GE(before - during, 1024 * 256 * sizeof(float));
    EXPECT_EQ(after, before);
}

TEST_F(Arrays, too_much_memory_is_refused_and_nothing_leaks) {
    std::size_t before = 0;
    std::size_t after = 0;
    std::size_t total = 0;
    ASSERT_TRUE(succeeds(CU(cuMemGetInfo)(&before, &total)));
    const auto huge = descriptor(16384, 16384, 16384, 0, CU_AD_FORMAT_FLOAT, 4);
    EXPECT_TRUE(returns(CUDA_ERROR_OUT_OF_MEMORY, refusal(huge)));
    CUmipmappedArray mipmap = nullptr;
    EXPECT_TRUE(returns(CUDA_ERROR_OUT_OF_MEMORY, CU(cuMipmappedArrayCreate)(&mipmap, &huge, 3)));
    ASSERT_TRUE(succeeds(CU(cuMemGetInfo)(&after, &total)));
    EXPECT_EQ(after, before);
}

TEST_F(Arrays, refusals_name_the_field_its_value_and_the_limit) {
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, refusal(descriptor(131073))));
    EXPECT_NE(last_message().find("Width is 131073, but the device has 1-D arrays of up to 131072"),
              std::string::npos)
        << last_message();
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        refusal(descriptor(8, 8, 0, 0, CU_AD_FORMAT_UNORM_INT8X4, 2))));
    EXPECT_NE(last_message().find("CU_AD_FORMAT_UNORM_INT8X4 have 4 channels, not 2"),
              std::string::npos)
        << last_message();
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, refusal(descriptor(8, 4, 6, CUDA_ARRAY3D_CUBEMAP))));
    EXPECT_NE(last_message().find("Width and Height must be equal"), std::string::npos);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, refusal(descriptor(8, 8, 0, 1U << 20))));
    EXPECT_NE(last_message().find("unknown flags 1048576"), std::string::npos);
    EXPECT_TRUE(
        returns(CUDA_ERROR_NOT_SUPPORTED, refusal(descriptor(64, 64, 0, CUDA_ARRAY3D_SPARSE))));
    EXPECT_NE(last_message().find("sparse arrays"), std::string::npos);
}

TEST_F(Arrays, dead_and_foreign_handles_are_refused) {
    const CUarray array = create(descriptor(8, 8));
    CUDA_ARRAY3D_DESCRIPTOR found{};
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE,
                        CU(cuMipmappedArrayDestroy)(reinterpret_cast<CUmipmappedArray>(array))));
    destroy(array);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE, CU(cuArray3DGetDescriptor)(&found, array)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE, CU(cuArrayDestroy)(array)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE, CU(cuArrayDestroy)(nullptr)));
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_HANDLE, CU(cuArrayDestroy)(reinterpret_cast<CUarray>(0x1230))));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpyAtoH)(&found, array, 0, 8)));
}

TEST_F(Arrays, levels_shrink_but_layers_stay) {
    const auto wanted = descriptor(13, 7, 5, CUDA_ARRAY3D_LAYERED);
    CUmipmappedArray mipmap = nullptr;
    ASSERT_TRUE(succeeds(CU(cuMipmappedArrayCreate)(&mipmap, &wanted, 100)));
    const std::size_t widths[] = {13, 6, 3, 1};
    const std::size_t heights[] = {7, 3, 1, 1};
    for (unsigned level = 0; level < 4; ++level) {
        CUarray array = nullptr;
        ASSERT_TRUE(succeeds(CU(cuMipmappedArrayGetLevel)(&array, mipmap, level)));
        CUDA_ARRAY3D_DESCRIPTOR found{};
        ASSERT_TRUE(succeeds(CU(cuArray3DGetDescriptor)(&found, array)));
        EXPECT_EQ(found.Width, widths[level]);
        EXPECT_EQ(found.Height, heights[level]);
        EXPECT_EQ(found.Depth, 5);
        CUarray again = nullptr;
        ASSERT_TRUE(succeeds(CU(cuMipmappedArrayGetLevel)(&again, mipmap, level)));
        EXPECT_EQ(again, array);
    }
    CUarray array = nullptr;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMipmappedArrayGetLevel)(&array, mipmap, 4)));
    EXPECT_NE(last_message().find("level is 4, but the mipmap has levels 0 to 3"),
              std::string::npos);
    ASSERT_TRUE(succeeds(CU(cuMipmappedArrayGetLevel)(&array, mipmap, 1)));
    EXPECT_TRUE(succeeds(CU(cuArrayDestroy)(array))); // does nothing: levels go with the mipmap
    CUDA_ARRAY3D_DESCRIPTOR found{};
    EXPECT_TRUE(succeeds(CU(cuArray3DGetDescriptor)(&found, array)));
    EXPECT_TRUE(succeeds(CU(cuMipmappedArrayDestroy)(mipmap)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE, CU(cuArray3DGetDescriptor)(&found, array)));
}

TEST_F(Arrays, planes_of_a_video_format_are_arrays_of_their_own) {
    const CUarray frame =
        create(descriptor(16, 8, 0, CUDA_ARRAY3D_VIDEO_ENCODE_DECODE, CU_AD_FORMAT_NV12, 3));
    CUarray luma = nullptr;
    CUarray chroma = nullptr;
    ASSERT_TRUE(succeeds(CU(cuArrayGetPlane)(&luma, frame, 0)));
    ASSERT_TRUE(succeeds(CU(cuArrayGetPlane)(&chroma, frame, 1)));
    CUarray none = nullptr;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuArrayGetPlane)(&none, frame, 2)));
    CUDA_ARRAY3D_DESCRIPTOR found{};
    ASSERT_TRUE(succeeds(CU(cuArray3DGetDescriptor)(&found, chroma)));
    EXPECT_EQ(found.Width, 8);
    EXPECT_EQ(found.Height, 4);
    EXPECT_EQ(found.NumChannels, 2);
    EXPECT_EQ(found.Format, CU_AD_FORMAT_UNSIGNED_INT8);

    // The planes do not share memory.
    auto bright = numbers(128);
    auto colours = numbers(64);
    auto fill = between(luma, bright.data(), true, 16, 8);
    ASSERT_TRUE(succeeds(CU(cuMemcpy3D)(&fill)));
    fill = between(chroma, colours.data(), true, 16, 4);
    ASSERT_TRUE(succeeds(CU(cuMemcpy3D)(&fill)));
    std::vector<std::uint8_t> back(128);
    auto read = between(luma, back.data(), false, 16, 8);
    ASSERT_TRUE(succeeds(CU(cuMemcpy3D)(&read)));
    EXPECT_EQ(back, bright);
    auto whole = between(frame, back.data(), false, 16, 8);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpy3D)(&whole)));
    EXPECT_NE(last_message().find("plane by plane"), std::string::npos);
    destroy(frame);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE, CU(cuArray3DGetDescriptor)(&found, luma)));
}

TEST_F(Arrays, a_destroyed_context_takes_its_arrays_with_it) {
    CUcontext other = nullptr;
    CUctxCreateParams parameters{};
    ASSERT_TRUE(succeeds(CU(cuCtxCreate)(&other, &parameters, 0, 0)));
    const CUarray array = create(descriptor(64, 64));
    const auto wanted = descriptor(64, 64);
    CUmipmappedArray mipmap = nullptr;
    ASSERT_TRUE(succeeds(CU(cuMipmappedArrayCreate)(&mipmap, &wanted, 3)));
    CUDA_TEXTURE_DESC texture{};
    const auto resource = resource_of(array);
    CUtexObject object = 0;
    ASSERT_TRUE(succeeds(CU(cuTexObjectCreate)(&object, &resource, &texture, nullptr)));
    ASSERT_TRUE(succeeds(CU(cuCtxDestroy)(other)));
    ASSERT_TRUE(succeeds(CU(cuCtxSetCurrent)(context_)));
    CUDA_ARRAY3D_DESCRIPTOR found{};
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE, CU(cuArray3DGetDescriptor)(&found, array)));
    CUarray level = nullptr;
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_HANDLE, CU(cuMipmappedArrayGetLevel)(&level, mipmap, 0)));
    CUDA_RESOURCE_DESC resources{};
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, CU(cuTexObjectGetResourceDesc)(&resources, object)));
} // DriverTest checks that the memory is gone too

TEST_F(Arrays, loads_and_stores_cannot_reach_arrays) {
    // The address of an array is known to the driver only; no copy of plain memory may use it.
    const CUarray array = create(descriptor(64));
    const CUdeviceptr memory = allocate(4096);
    for (CUdeviceptr address = memory & ~CUdeviceptr{0xffff}; address < memory + (1 << 20);
         address += 1 << 16) {
        if (address >= memory && address < memory + 4096) {
            continue;
        }
        float value = 0;
        EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpyDtoH)(&value, address, 4)));
        EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemFree)(address)));
    }
    EXPECT_TRUE(succeeds(CU(cuMemFree)(memory)));
    destroy(array);
}

TEST_F(Arrays, arrays_cannot_be_created_during_a_capture) {
    CUstream stream = nullptr;
    ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING)));
    ASSERT_TRUE(succeeds(CU(cuStreamBeginCapture)(stream, CU_STREAM_CAPTURE_MODE_GLOBAL)));
    EXPECT_TRUE(returns(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, refusal(descriptor(8))));
    CUgraph graph = nullptr;
    EXPECT_TRUE(
        returns(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, CU(cuStreamEndCapture)(stream, &graph)));
    EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(stream)));
}

// ---- deferred mapping
// ----------------------------------------------------------------------------

class DeferredArrays : public ArrayTest {
protected:
    void SetUp() override {
        ArrayTest::SetUp();
        ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&stream_, CU_STREAM_NON_BLOCKING)));
        CUmemAllocationProp properties{};
        properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
        properties.allocFlags.usage = CU_MEM_CREATE_USAGE_TILE_POOL;
        ASSERT_TRUE(succeeds(CU(cuMemCreate)(&memory_, 2 << 20, &properties, 0)));
    }

    void TearDown() override {
        EXPECT_TRUE(succeeds(CU(cuMemRelease)(memory_)));
        EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(stream_)));
        ArrayTest::TearDown();
    }

    [[nodiscard]] CUarrayMapInfo mapping(CUarray array) const {
        CUarrayMapInfo info{};
        info.resourceType = CU_RESOURCE_TYPE_ARRAY;
        info.resource.array = array;
        info.memOperationType = CU_MEM_OPERATION_TYPE_MAP;
        info.memHandleType = CU_MEM_HANDLE_TYPE_GENERIC;
        info.memHandle.memHandle = memory_;
        info.deviceBitMask = 1;
        return info;
    }

    CUresult map(CUarrayMapInfo info) { return CU(cuMemMapArrayAsync)(&info, 1, stream_); }

    CUstream stream_ = nullptr;
    CUmemGenericAllocationHandle memory_ = 0;
};

TEST_F(DeferredArrays, have_no_memory_until_some_is_mapped) {
    std::size_t before = 0;
    std::size_t after = 0;
    std::size_t total = 0;
    ASSERT_TRUE(succeeds(CU(cuMemGetInfo)(&before, &total)));
    const CUarray array = create(descriptor(256, 64, 0, CUDA_ARRAY3D_DEFERRED_MAPPING));
    ASSERT_TRUE(succeeds(CU(cuMemGetInfo)(&after, &total)));
    EXPECT_EQ(after, before);
    CUDA_ARRAY_MEMORY_REQUIREMENTS needs{};
    ASSERT_TRUE(succeeds(CU(cuArrayGetMemoryRequirements)(&needs, array, 0)));
    EXPECT_EQ(needs.size, 65536);
    EXPECT_EQ(needs.alignment, 65536);
    auto values = numbers(16);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpyHtoA)(array, 0, values.data(), 16)));
    EXPECT_NE(last_message().find("cuMemMapArrayAsync"), std::string::npos);
    ASSERT_TRUE(succeeds(map(mapping(array))));
    EXPECT_TRUE(succeeds(CU(cuMemcpyHtoA)(array, 0, values.data(), 16)));
    auto unmap = mapping(array);
    unmap.memOperationType = CU_MEM_OPERATION_TYPE_UNMAP;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, map(unmap)));
    unmap.memHandle.memHandle = 0;
    ASSERT_TRUE(succeeds(map(unmap)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpyHtoA)(array, 0, values.data(), 16)));
    destroy(array);
}

TEST_F(DeferredArrays, arrays_that_share_memory_show_the_same_texels) {
    const CUarray first = create(descriptor(64, 0, 0, CUDA_ARRAY3D_DEFERRED_MAPPING));
    const CUarray second = create(descriptor(64, 0, 0, CUDA_ARRAY3D_DEFERRED_MAPPING));
    const CUarray third = create(descriptor(64, 0, 0, CUDA_ARRAY3D_DEFERRED_MAPPING));
    ASSERT_TRUE(succeeds(map(mapping(first))));
    ASSERT_TRUE(succeeds(map(mapping(second))));
    auto elsewhere = mapping(third);
    elsewhere.offset = 65536;
    ASSERT_TRUE(succeeds(map(elsewhere)));
    auto values = numbers(256);
    ASSERT_TRUE(succeeds(CU(cuMemcpyHtoA)(first, 0, values.data(), 256)));
    std::vector<std::uint8_t> back(256);
    ASSERT_TRUE(succeeds(CU(cuMemcpyAtoH)(back.data(), second, 0, 256)));
    EXPECT_EQ(back, values);
    ASSERT_TRUE(succeeds(CU(cuMemcpyAtoH)(back.data(), third, 0, 256)));
    EXPECT_EQ(back, std::vector<std::uint8_t>(256));
    destroy(first);
    ASSERT_TRUE(succeeds(CU(cuMemcpyAtoH)(back.data(), second, 0, 256)));
    EXPECT_EQ(back, values);
    destroy(second);
    destroy(third);
}

TEST_F(DeferredArrays, levels_of_a_deferred_mipmap_lie_in_its_memory) {
    const auto wanted = descriptor(64, 64, 0, CUDA_ARRAY3D_DEFERRED_MAPPING);
    CUmipmappedArray mipmap = nullptr;
    ASSERT_TRUE(succeeds(CU(cuMipmappedArrayCreate)(&mipmap, &wanted, 3)));
    CUDA_ARRAY_MEMORY_REQUIREMENTS needs{};
    ASSERT_TRUE(succeeds(CU(cuMipmappedArrayGetMemoryRequirements)(&needs, mipmap, 0)));
    EXPECT_EQ(needs.size, 65536);
    CUarray level = nullptr;
    ASSERT_TRUE(succeeds(CU(cuMipmappedArrayGetLevel)(&level, mipmap, 1)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, map(mapping(level))));
    CUarrayMapInfo info = mapping(nullptr);
    info.resourceType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    info.resource.mipmap = mipmap;
    ASSERT_TRUE(succeeds(map(info)));
    auto values = numbers(128);
    ASSERT_TRUE(succeeds(CU(cuMemcpyHtoA)(level, 0, values.data(), 128)));
    std::vector<std::uint8_t> back(128);
    ASSERT_TRUE(succeeds(CU(cuMemcpyAtoH)(back.data(), level, 0, 128)));
    EXPECT_EQ(back, values);
    EXPECT_TRUE(succeeds(CU(cuMipmappedArrayDestroy)(mipmap)));
}

TEST_F(DeferredArrays, wrong_mappings_are_refused) {
    const CUarray array = create(descriptor(256, 64, 0, CUDA_ARRAY3D_DEFERRED_MAPPING));
    const CUarray plain = create(descriptor(256, 64));
    const auto refuses = [&](auto change) {
        CUarrayMapInfo info = mapping(array);
        change(info);
        return returns(CUDA_ERROR_INVALID_VALUE, map(info));
    };
    EXPECT_TRUE(refuses([&](auto& info) { info.resource.array = plain; }));
    EXPECT_TRUE(refuses([&](auto& info) { info.resource.array = nullptr; }));
    EXPECT_TRUE(refuses([&](auto& info) { info.resourceType = CU_RESOURCE_TYPE_LINEAR; }));
    EXPECT_TRUE(refuses([&](auto& info) { info.deviceBitMask = 3; }));
    EXPECT_TRUE(refuses([&](auto& info) { info.deviceBitMask = 2; }));
    EXPECT_TRUE(refuses([&](auto& info) { info.flags = 1; }));
    EXPECT_TRUE(refuses([&](auto& info) { info.offset = 1; }));
    EXPECT_TRUE(refuses([&](auto& info) { info.offset = 2 << 20; }));
    EXPECT_NE(last_message().find("needs 65536 bytes"), std::string::npos) << last_message();
    EXPECT_TRUE(refuses([&](auto& info) { info.memHandle.memHandle = 77; }));
    EXPECT_TRUE(
        refuses([&](auto& info) { info.memOperationType = static_cast<CUmemOperationType>(9); }));
    destroy(array);
    destroy(plain);
}
