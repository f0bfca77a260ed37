// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Texture and surface references as the host sees them. What kernels read through them is tested
// with the instructions.

#include "textures/array_test.hpp"

using namespace cuprum::emulator::test;

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" // by CUDA, but its driver still has them

class References : public ArrayTest {
protected:
    void SetUp() override {
        ArrayTest::SetUp();
        ASSERT_TRUE(succeeds(CU(cuModuleLoadData)(&module_, R"(.version 6.0
.target sm_50
.address_size 64
.visible .global .texref picture;
.visible .global .surfref canvas;
.visible .global .u64 number;
)")));
        ASSERT_TRUE(succeeds(CU(cuModuleGetTexRef)(&picture_, module_, "picture")));
    }

    void TearDown() override {
        if (module_ != nullptr) {
            EXPECT_TRUE(succeeds(CU(cuModuleUnload)(module_)));
        }
        ArrayTest::TearDown();
    }

    CUmodule module_ = nullptr;
    CUtexref picture_ = nullptr;
};

TEST_F(References, modules_know_their_references_by_name) {
    CUtexref texture = nullptr;
    ASSERT_TRUE(succeeds(CU(cuModuleGetTexRef)(&texture, module_, "picture")));
    EXPECT_EQ(texture, picture_);
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_FOUND, CU(cuModuleGetTexRef)(&texture, module_, "nothing")));
    EXPECT_NE(last_message().find("no texture reference 'nothing'"), std::string::npos);
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_FOUND, CU(cuModuleGetTexRef)(&texture, module_, "canvas")));
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_FOUND, CU(cuModuleGetTexRef)(&texture, module_, "number")));
    CUsurfref surface = nullptr;
    EXPECT_TRUE(succeeds(CU(cuModuleGetSurfRef)(&surface, module_, "canvas")));
    EXPECT_TRUE(
        returns(CUDA_ERROR_NOT_FOUND, CU(cuModuleGetSurfRef)(&surface, module_, "picture")));
    CUdeviceptr address = 0;
    std::size_t bytes = 0;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuModuleGetGlobal)(&address, &bytes, module_, "picture")));
}

TEST_F(References, settings_come_back_as_they_went) {
    CUaddress_mode mode{};
    ASSERT_TRUE(succeeds(CU(cuTexRefGetAddressMode)(&mode, picture_, 0)));
    EXPECT_EQ(mode, CU_TR_ADDRESS_MODE_CLAMP);
    ASSERT_TRUE(succeeds(CU(cuTexRefSetAddressMode)(picture_, 1, CU_TR_ADDRESS_MODE_MIRROR)));
    ASSERT_TRUE(succeeds(CU(cuTexRefGetAddressMode)(&mode, picture_, 1)));
    EXPECT_EQ(mode, CU_TR_ADDRESS_MODE_MIRROR);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuTexRefSetAddressMode)(picture_, 3, CU_TR_ADDRESS_MODE_WRAP)));
    ASSERT_TRUE(succeeds(CU(cuTexRefSetFlags)(picture_, CU_TRSF_NORMALIZED_COORDINATES)));
    unsigned flags = 0;
    ASSERT_TRUE(succeeds(CU(cuTexRefGetFlags)(&flags, picture_)));
    EXPECT_EQ(flags, CU_TRSF_NORMALIZED_COORDINATES);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuTexRefSetFlags)(picture_, 64)));
    float border[4]{1, 2, 3, 4};
    float found[4]{};
    ASSERT_TRUE(succeeds(CU(cuTexRefSetBorderColor)(picture_, border)));
    ASSERT_TRUE(succeeds(CU(cuTexRefGetBorderColor)(found, picture_)));
    EXPECT_EQ(found[3], 4);
    CUarray_format format{};
    int channels = 0;
    ASSERT_TRUE(succeeds(CU(cuTexRefSetFormat)(picture_, CU_AD_FORMAT_HALF, 2)));
    ASSERT_TRUE(succeeds(CU(cuTexRefGetFormat)(&format, &channels, picture_)));
    EXPECT_EQ(format, CU_AD_FORMAT_HALF);
    EXPECT_EQ(channels, 2);
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, CU(cuTexRefSetFormat)(picture_, CU_AD_FORMAT_HALF, 3)));
}

TEST_F(References, one_thing_is_bound_at_a_time) {
    CUarray found = nullptr;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuTexRefGetArray)(&found, picture_)));
    const CUarray array = create(descriptor(16, 16, 0, 0, CU_AD_FORMAT_SIGNED_INT16, 4));
    ASSERT_TRUE(succeeds(CU(cuTexRefSetArray)(picture_, array, CU_TRSA_OVERRIDE_FORMAT)));
    ASSERT_TRUE(succeeds(CU(cuTexRefGetArray)(&found, picture_)));
    EXPECT_EQ(found, array);
    CUarray_format format{};
    int channels = 0;
    ASSERT_TRUE(succeeds(CU(cuTexRefGetFormat)(&format, &channels, picture_)));
    EXPECT_EQ(format, CU_AD_FORMAT_SIGNED_INT16);
    EXPECT_EQ(channels, 4);

    const CUdeviceptr memory = allocate(4096);
    std::size_t offset = 0;
    ASSERT_TRUE(succeeds(CU(cuTexRefSetAddress)(&offset, picture_, memory + 100, 1024)));
    EXPECT_EQ(offset, 100);
    CUdeviceptr address = 0;
    ASSERT_TRUE(succeeds(CU(cuTexRefGetAddress)(&address, picture_)));
    EXPECT_EQ(address, memory);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuTexRefGetArray)(&found, picture_)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuTexRefSetAddress)(nullptr, picture_, memory + 100, 1024)));
    CUDA_ARRAY_DESCRIPTOR plane{16, 16, CU_AD_FORMAT_FLOAT, 1};
    EXPECT_TRUE(succeeds(CU(cuTexRefSetAddress2D)(picture_, &plane, memory, 64)));
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, CU(cuTexRefSetAddress2D)(picture_, &plane, memory, 100)));
    EXPECT_TRUE(succeeds(CU(cuTexRefSetAddress)(&offset, picture_, 0, 0)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuTexRefGetAddress)(&address, picture_)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE,
                        CU(cuTexRefSetArray)(picture_, nullptr, CU_TRSA_OVERRIDE_FORMAT)));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(memory)));
    destroy(array);
}

TEST_F(References, surfaces_need_the_flag_of_the_array) {
    CUsurfref canvas = nullptr;
    ASSERT_TRUE(succeeds(CU(cuModuleGetSurfRef)(&canvas, module_, "canvas")));
    const CUarray plain = create(descriptor(16, 16));
    const CUarray surface = create(descriptor(16, 16, 0, CUDA_ARRAY3D_SURFACE_LDST));
    CUarray found = nullptr;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuSurfRefGetArray)(&found, canvas)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuSurfRefSetArray)(canvas, plain, 0)));
    EXPECT_NE(last_message().find("CUDA_ARRAY3D_SURFACE_LDST"), std::string::npos);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuSurfRefSetArray)(canvas, surface, 1)));
    ASSERT_TRUE(succeeds(CU(cuSurfRefSetArray)(canvas, surface, 0)));
    ASSERT_TRUE(succeeds(CU(cuSurfRefGetArray)(&found, canvas)));
    EXPECT_EQ(found, surface);
    destroy(plain);
    destroy(surface);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuSurfRefGetArray)(&found, canvas)));
}

TEST_F(References, references_go_with_their_module) {
    const CUarray array = create(descriptor(16, 16));
    ASSERT_TRUE(succeeds(CU(cuTexRefSetArray)(picture_, array, CU_TRSA_OVERRIDE_FORMAT)));
    EXPECT_TRUE(succeeds(CU(cuTexRefDestroy)(picture_))); // does nothing
    EXPECT_TRUE(succeeds(CU(cuTexRefSetFlags)(picture_, 0)));
    ASSERT_TRUE(succeeds(CU(cuModuleUnload)(module_)));
    module_ = nullptr;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE, CU(cuTexRefSetFlags)(picture_, 0)));
    destroy(array);
}

TEST_F(References, programs_can_create_references) {
    CUtexref reference = nullptr;
    ASSERT_TRUE(succeeds(CU(cuTexRefCreate)(&reference)));
    EXPECT_TRUE(succeeds(CU(cuTexRefSetMaxAnisotropy)(reference, 7)));
    int anisotropy = 0;
    ASSERT_TRUE(succeeds(CU(cuTexRefGetMaxAnisotropy)(&anisotropy, reference)));
    EXPECT_EQ(anisotropy, 7);
    EXPECT_TRUE(succeeds(CU(cuTexRefDestroy)(reference)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE, CU(cuTexRefDestroy)(reference)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE, CU(cuTexRefSetFlags)(nullptr, 0)));
}
