// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What the driver functions write. Which arguments they refuse is compared with a GPU, see
// compare/tensor_maps.py.

#include "api/driver.hpp"
#include "interp/tensor_map.hpp"

#include <array>
#include <cstring>

using namespace cuprum::emulator;
using namespace cuprum::emulator::test;

namespace {

constexpr std::uintptr_t ADDRESS = 0x10000;

/// A call of cuTensorMapEncodeTiled for a matrix of 64 x 100 floats, with rows of 512 bytes.
struct Tiled {
    CUtensorMapDataType element = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    std::array<cuuint64_t, 2> dims{100, 64};
    std::array<cuuint64_t, 1> strides{512};
    std::array<cuuint32_t, 2> box{8, 16};
    std::array<cuuint32_t, 2> element_strides{1, 2};
    CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_32B;

    CUresult encode(CUtensorMap* map) const {
        return CU(cuTensorMapEncodeTiled)(
            map, element, 2, reinterpret_cast<void*>(ADDRESS), dims.data(), strides.data(),
            box.data(), element_strides.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
            CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
    }
};

/// Returns what kernels see.
TensorMap seen(const CUtensorMap& map) {
    TensorMap result;
    std::memcpy(static_cast<void*>(&result), &map, sizeof result);
    return result;
}

} // namespace

class TensorMaps : public DriverTest {};

TEST_F(TensorMaps, devices_with_capability_9_support_them) {
    int value = -1;
    ASSERT_TRUE(succeeds(
        CU(cuDeviceGetAttribute)(&value, CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED, 0)));
    EXPECT_EQ(value, 1);
}

TEST_F(TensorMaps, a_tiled_map_holds_all_arguments) {
    CUtensorMap map;
    ASSERT_TRUE(succeeds(Tiled{}.encode(&map)));
    const TensorMap tensor = seen(map);
    ASSERT_TRUE(tensor.is_valid());
    EXPECT_EQ(tensor.mode, TensorMapMode::Tiled);
    EXPECT_EQ(tensor.rank, 2);
    EXPECT_EQ(tensor.address, ADDRESS);
    EXPECT_EQ(tensor.dimension(0), 100U);
    EXPECT_EQ(tensor.dimension(1), 64U);
    EXPECT_EQ(tensor.strides[0], 512U);
    EXPECT_EQ(tensor.box[0], 8);
    EXPECT_EQ(tensor.box[1], 16);
    EXPECT_EQ(tensor.element_strides[1], 2);
    EXPECT_EQ(tensor.element, TensorElement::F32);
    EXPECT_EQ(element_bits(tensor.element), 32U);
    EXPECT_EQ(tensor.interleave, TensorInterleave::None);
    EXPECT_EQ(tensor.swizzle, TensorSwizzle::Bytes32);
    EXPECT_EQ(tensor.swizzle_atom, TensorSwizzleAtom::Bytes16);
    EXPECT_EQ(tensor.fill, TensorFill::Nan);
    EXPECT_EQ(tensor.l2_promotion, CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
}

TEST_F(TensorMaps, a_dimension_may_have_2_to_the_32_elements) {
    CUtensorMap map;
    ASSERT_TRUE(succeeds(Tiled{.dims = {std::uint64_t{1} << 32, 1}}.encode(&map)));
    EXPECT_EQ(seen(map).dimension(0), std::uint64_t{1} << 32);
    EXPECT_EQ(seen(map).dimension(1), 1U);
}

TEST_F(TensorMaps, swizzles_of_other_pieces_need_capability_10) {
    CUtensorMap map;
    EXPECT_TRUE(succeeds(Tiled{.swizzle = CU_TENSOR_MAP_SWIZZLE_128B}.encode(&map)));
    EXPECT_EQ(seen(map).swizzle, TensorSwizzle::Bytes128);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        Tiled{.swizzle = CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B}.encode(&map)));
}

TEST_F(TensorMaps, an_im2col_map_holds_its_corners_and_pixels) {
    CUtensorMap map;
    constexpr std::array<cuuint64_t, 5> DIMS{64, 9, 8, 7, 6};
    constexpr std::array<cuuint64_t, 4> STRIDES{128, 1152, 9216, 64512};
    constexpr std::array<int, 3> LOWER{-1, -2, -3};
    constexpr std::array<int, 3> UPPER{1, 2, 3};
    constexpr std::array<cuuint32_t, 5> STEPS{1, 2, 3, 4, 1};
    ASSERT_TRUE(succeeds(CU(cuTensorMapEncodeIm2col)(
        &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 5, reinterpret_cast<void*>(ADDRESS), DIMS.data(),
        STRIDES.data(), LOWER.data(), UPPER.data(), 64, 100, STEPS.data(),
        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)));
    const TensorMap tensor = seen(map);
    ASSERT_TRUE(tensor.is_valid());
    EXPECT_EQ(tensor.mode, TensorMapMode::Im2col);
    EXPECT_EQ(tensor.rank, 5);
    EXPECT_EQ(tensor.channels_per_pixel, 64);
    EXPECT_EQ(tensor.pixels_per_column, 100);
    EXPECT_EQ(tensor.lower_corner, (std::array<std::int16_t, 3>{-1, -2, -3}));
    EXPECT_EQ(tensor.upper_corner, (std::array<std::int16_t, 3>{1, 2, 3}));
    EXPECT_EQ(tensor.element_strides, (std::array<std::uint8_t, 5>{1, 2, 3, 4, 1}));
    EXPECT_EQ(tensor.strides, (std::array<std::uint64_t, 4>{128, 1152, 9216, 64512}));
}

TEST_F(TensorMaps, a_replaced_address_changes_nothing_else) {
    CUtensorMap map;
    ASSERT_TRUE(succeeds(Tiled{}.encode(&map)));
    TensorMap expected = seen(map);
    constexpr std::uintptr_t OTHER = 0x20010;
    ASSERT_TRUE(succeeds(CU(cuTensorMapReplaceAddress)(&map, reinterpret_cast<void*>(OTHER))));
    const TensorMap tensor = seen(map);
    EXPECT_TRUE(tensor.is_valid());
    EXPECT_EQ(tensor.address, OTHER);
    expected.address = OTHER;
    expected.seal();
    EXPECT_EQ(std::memcmp(&tensor, &expected, sizeof tensor), 0);
}

TEST_F(TensorMaps, an_address_in_bytes_that_are_no_map_leaves_them_invalid) {
    CUtensorMap map{};
    ASSERT_TRUE(succeeds(CU(cuTensorMapReplaceAddress)(&map, reinterpret_cast<void*>(ADDRESS))));
    EXPECT_FALSE(seen(map).is_valid());
}

TEST_F(TensorMaps, a_refused_call_leaves_the_map_as_it_was) {
    CUtensorMap map;
    ASSERT_TRUE(succeeds(Tiled{}.encode(&map)));
    const CUtensorMap before = map;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, Tiled{.box = {8, 257}}.encode(&map)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuTensorMapReplaceAddress)(&map, reinterpret_cast<void*>(8))));
    EXPECT_EQ(std::memcmp(&map, &before, sizeof map), 0);
}

TEST_F(TensorMaps, one_changed_byte_is_noticed) {
    CUtensorMap map;
    ASSERT_TRUE(succeeds(Tiled{}.encode(&map)));
    for (std::size_t index = 0; index < sizeof map; ++index) {
        CUtensorMap changed = map;
        reinterpret_cast<unsigned char*>(&changed)[index] ^= 1;
        EXPECT_FALSE(seen(changed).is_valid()) << "byte " << index;
    }
    EXPECT_TRUE(seen(map).is_valid());
}
