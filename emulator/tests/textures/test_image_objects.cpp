// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "textures/array_test.hpp"

#include <cstring>

using namespace cuprum::emulator::test;

class ImageObjects : public ArrayTest {
protected:
    /// Creates a texture object. The test must destroy it.
    static CUtexObject texture(const CUDA_RESOURCE_DESC& resource, CUDA_TEXTURE_DESC how = {},
                               const CUDA_RESOURCE_VIEW_DESC* view = nullptr) {
        CUtexObject object = 0;
        EXPECT_TRUE(succeeds(CU(cuTexObjectCreate)(&object, &resource, &how, view)));
        return object;
    }

    static CUresult texture_refusal(const CUDA_RESOURCE_DESC& resource, CUDA_TEXTURE_DESC how = {},
                                    const CUDA_RESOURCE_VIEW_DESC* view = nullptr) {
        CUtexObject object = 0;
        return CU(cuTexObjectCreate)(&object, &resource, &how, view);
    }
};

TEST_F(ImageObjects, descriptors_come_back_as_they_went) {
    const CUarray array = create(descriptor(16, 8, 6, CUDA_ARRAY3D_LAYERED));
    const auto resource = resource_of(array);
    CUDA_TEXTURE_DESC how{};
    how.addressMode[0] = CU_TR_ADDRESS_MODE_MIRROR;
    how.filterMode = CU_TR_FILTER_MODE_LINEAR;
    how.flags = CU_TRSF_NORMALIZED_COORDINATES;
    how.maxAnisotropy = 100;
    how.mipmapLevelBias = 1.5F;
    CUDA_RESOURCE_VIEW_DESC view{};
    view.format = CU_RES_VIEW_FORMAT_FLOAT_1X32;
    view.width = 16;
    view.height = 8;
    view.depth = 6;
    view.firstLayer = 2;
    view.lastLayer = 4;
    const CUtexObject object = texture(resource, how, &view);
    EXPECT_NE(object, 0);

    CUDA_RESOURCE_DESC found{};
    ASSERT_TRUE(succeeds(CU(cuTexObjectGetResourceDesc)(&found, object)));
    EXPECT_EQ(found.resType, CU_RESOURCE_TYPE_ARRAY);
    EXPECT_EQ(found.res.array.hArray, array);
    CUDA_TEXTURE_DESC found_how{};
    found_how.borderColor[0] = 5;
    ASSERT_TRUE(succeeds(CU(cuTexObjectGetTextureDesc)(&found_how, object)));
    EXPECT_EQ(found_how.addressMode[0], CU_TR_ADDRESS_MODE_MIRROR);
    EXPECT_EQ(found_how.filterMode, CU_TR_FILTER_MODE_LINEAR);
    EXPECT_EQ(found_how.flags, CU_TRSF_NORMALIZED_COORDINATES);
    EXPECT_EQ(found_how.maxAnisotropy, 100);
    EXPECT_EQ(found_how.mipmapLevelBias, 1.5F);
    EXPECT_EQ(found_how.borderColor[0], 5); // not written, as on a GPU
    CUDA_RESOURCE_VIEW_DESC found_view{};
    ASSERT_TRUE(succeeds(CU(cuTexObjectGetResourceViewDesc)(&found_view, object)));
    EXPECT_EQ(std::memcmp(&found_view, &view, sizeof view), 0);
    EXPECT_TRUE(succeeds(CU(cuTexObjectDestroy)(object)));
    destroy(array);
}

TEST_F(ImageObjects, reading_back_a_view_that_is_not_there_writes_nothing) {
    const CUarray array = create(descriptor(16));
    const CUtexObject object = texture(resource_of(array));
    CUDA_RESOURCE_VIEW_DESC view{};
    view.width = 77;
    EXPECT_TRUE(succeeds(CU(cuTexObjectGetResourceViewDesc)(&view, object)));
    EXPECT_EQ(view.width, 77);
    EXPECT_TRUE(succeeds(CU(cuTexObjectDestroy)(object)));
    destroy(array);
}

TEST_F(ImageObjects, destroyed_objects_are_unknown_and_may_be_destroyed_again) {
    const CUarray array = create(descriptor(16, 16, 0, CUDA_ARRAY3D_SURFACE_LDST));
    const auto resource = resource_of(array);
    const CUtexObject object = texture(resource);
    CUsurfObject surface = 0;
    ASSERT_TRUE(succeeds(CU(cuSurfObjectCreate)(&surface, &resource)));
    CUDA_RESOURCE_DESC found{};
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuTexObjectGetResourceDesc)(&found, surface)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuSurfObjectGetResourceDesc)(&found, object)));
    EXPECT_TRUE(succeeds(CU(cuTexObjectDestroy)(surface))); // is none: nothing happens
    EXPECT_TRUE(succeeds(CU(cuSurfObjectGetResourceDesc)(&found, surface)));
    EXPECT_EQ(found.res.array.hArray, array);
    for (int time = 0; time < 2; ++time) {
        EXPECT_TRUE(succeeds(CU(cuTexObjectDestroy)(object)));
        EXPECT_TRUE(succeeds(CU(cuSurfObjectDestroy)(surface)));
    }
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuTexObjectGetResourceDesc)(&found, object)));
    EXPECT_NE(last_message().find("destroyed"), std::string::npos) << last_message();
    EXPECT_TRUE(succeeds(CU(cuTexObjectDestroy)(0)));
    destroy(array);
}

TEST_F(ImageObjects, a_texture_of_a_destroyed_array_forgets_it) {
    const CUarray array = create(descriptor(16, 16));
    const auto resource = resource_of(array);
    const CUtexObject object = texture(resource);
    destroy(array);
    CUDA_RESOURCE_DESC found{};
    EXPECT_TRUE(succeeds(CU(cuTexObjectGetResourceDesc)(&found, object)));
    EXPECT_EQ(found.res.array.hArray, nullptr);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, texture_refusal(resource)));
    EXPECT_TRUE(succeeds(CU(cuTexObjectDestroy)(object)));
}

TEST_F(ImageObjects, refusals_name_field_value_and_limit) {
    const CUarray array = create(descriptor(16, 16));
    const auto resource = resource_of(array);
    CUDA_TEXTURE_DESC how{};
    how.addressMode[1] = static_cast<CUaddress_mode>(7);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, texture_refusal(resource, how)));
    EXPECT_NE(last_message().find("addressMode[1] is 7"), std::string::npos) << last_message();
    how = {};
    how.filterMode = static_cast<CUfilter_mode>(2);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, texture_refusal(resource, how)));
    EXPECT_NE(last_message().find("filterMode 2"), std::string::npos);
    how = {};
    how.flags = CU_TRSF_SEAMLESS_CUBEMAP;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, texture_refusal(resource, how)));
    EXPECT_NE(last_message().find("CUDA_ARRAY3D_CUBEMAP"), std::string::npos);
    how = {};
    how.reserved[3] = 1;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, texture_refusal(resource, how)));

    CUDA_RESOURCE_VIEW_DESC view{};
    view.format = CU_RES_VIEW_FORMAT_FLOAT_1X32;
    view.width = 16;
    view.height = 15;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, texture_refusal(resource, {}, &view)));
    EXPECT_NE(last_message().find("height of the resource view is 15, but must be 16"),
              std::string::npos)
        << last_message();
    view.height = 16;
    view.format = CU_RES_VIEW_FORMAT_UINT_4X32;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, texture_refusal(resource, {}, &view)));
    EXPECT_NE(last_message().find("another size"), std::string::npos);
    view.format = static_cast<CUresourceViewFormat>(99);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, texture_refusal(resource, {}, &view)));
    destroy(array);
}

TEST_F(ImageObjects, linear_and_pitched_memory_must_be_aligned) {
    const CUdeviceptr memory = allocate(1 << 16);
    CUDA_RESOURCE_DESC linear{};
    linear.resType = CU_RESOURCE_TYPE_LINEAR;
    linear.res.linear = {memory, CU_AD_FORMAT_FLOAT, 1, 4096};
    const CUtexObject object = texture(linear);
    CUDA_RESOURCE_DESC found{};
    ASSERT_TRUE(succeeds(CU(cuTexObjectGetResourceDesc)(&found, object)));
    EXPECT_EQ(found.res.linear.devPtr, memory);
    EXPECT_EQ(found.res.linear.sizeInBytes, 4096);
    EXPECT_TRUE(succeeds(CU(cuTexObjectDestroy)(object)));
    linear.res.linear.devPtr = memory + 256;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, texture_refusal(linear)));
    EXPECT_NE(last_message().find("multiple of 512"), std::string::npos);
    linear.res.linear = {memory, CU_AD_FORMAT_FLOAT, 3, 4096};
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, texture_refusal(linear)));
    linear.res.linear = {memory, CU_AD_FORMAT_BC1_UNORM, 4, 4096};
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, texture_refusal(linear)));

    CUDA_RESOURCE_DESC pitched{};
    pitched.resType = CU_RESOURCE_TYPE_PITCH2D;
    pitched.res.pitch2D = {memory, CU_AD_FORMAT_FLOAT, 1, 16, 16, 96};
    const CUtexObject plane = texture(pitched);
    EXPECT_TRUE(succeeds(CU(cuTexObjectDestroy)(plane)));
    pitched.res.pitch2D.pitchInBytes = 100;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, texture_refusal(pitched)));
    EXPECT_NE(last_message().find("pitchInBytes is 100, not a multiple of 32"), std::string::npos);
    pitched.res.pitch2D.pitchInBytes = 96;
    pitched.res.pitch2D.height = 65001;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, texture_refusal(pitched)));
    EXPECT_NE(last_message().find("height is 65001, but can be at most 65000"), std::string::npos);
    EXPECT_TRUE(succeeds(CU(cuMemFree)(memory)));
}

TEST_F(ImageObjects, surfaces_are_made_of_arrays) {
    const auto wanted = descriptor(16, 16, 0, CUDA_ARRAY3D_SURFACE_LDST);
    CUmipmappedArray mipmap = nullptr;
    ASSERT_TRUE(succeeds(CU(cuMipmappedArrayCreate)(&mipmap, &wanted, 3)));
    auto resource = resource_of(mipmap);
    CUsurfObject surface = 0;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuSurfObjectCreate)(&surface, &resource)));
    EXPECT_NE(last_message().find("CU_RESOURCE_TYPE_ARRAY"), std::string::npos);
    CUarray level = nullptr;
    ASSERT_TRUE(succeeds(CU(cuMipmappedArrayGetLevel)(&level, mipmap, 1)));
    resource = resource_of(level);
    ASSERT_TRUE(succeeds(CU(cuSurfObjectCreate)(&surface, &resource)));
    EXPECT_TRUE(succeeds(CU(cuSurfObjectDestroy)(surface)));
    resource.flags = 1;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuSurfObjectCreate)(&surface, &resource)));
    EXPECT_TRUE(succeeds(CU(cuMipmappedArrayDestroy)(mipmap)));
}

TEST_F(ImageObjects, video_frames_are_read_plane_by_plane) {
    const CUarray frame =
        create(descriptor(16, 8, 0, CUDA_ARRAY3D_VIDEO_ENCODE_DECODE, CU_AD_FORMAT_NV12, 3));
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_SUPPORTED, texture_refusal(resource_of(frame))));
    EXPECT_NE(last_message().find("CU_AD_FORMAT_NV12"), std::string::npos);
    CUarray luma = nullptr;
    ASSERT_TRUE(succeeds(CU(cuArrayGetPlane)(&luma, frame, 0)));
    const CUtexObject object = texture(resource_of(luma));
    EXPECT_TRUE(succeeds(CU(cuTexObjectDestroy)(object)));
    destroy(frame);
}

TEST_F(ImageObjects, textures_of_arrays_of_other_contexts_are_refused) {
    const CUarray array = create(descriptor(16));
    const auto resource = resource_of(array);
    const CUtexObject object = texture(resource);
    CUcontext other = nullptr;
    CUctxCreateParams parameters{};
    ASSERT_TRUE(succeeds(CU(cuCtxCreate)(&other, &parameters, 0, 0)));
    EXPECT_TRUE(returns(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, texture_refusal(resource)));
    CUDA_RESOURCE_DESC found{};
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuTexObjectGetResourceDesc)(&found, object)));
    EXPECT_TRUE(succeeds(CU(cuTexObjectDestroy)(object))); // not this context's: nothing happens
    EXPECT_TRUE(succeeds(CU(cuCtxDestroy)(other)));
    ASSERT_TRUE(succeeds(CU(cuCtxSetCurrent)(context_)));
    EXPECT_TRUE(succeeds(CU(cuTexObjectGetResourceDesc)(&found, object)));
    EXPECT_TRUE(succeeds(CU(cuTexObjectDestroy)(object)));
    destroy(array);
}
