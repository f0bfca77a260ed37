// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "driver/deferred_release.hpp"
#include "support/device_test.hpp"
#include "support/every_failure.hpp"
#include "support/expect_error.hpp"

#include <cuprum/cuprum.hpp>

#include <cuda.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

namespace cuprum {

namespace {

using testing::expect_error;
using Type = TensorMapDataType;

/// Reads the bytes of its parameter, which a kernel may do with a copy of a tensor map.
constexpr const char* READ_SOURCE = R"(
struct alignas(64) Map { unsigned long long words[16]; };
extern "C" __global__ void read(const __grid_constant__ Map map, unsigned long long* target) {
    target[threadIdx.x] = map.words[threadIdx.x];
}
extern "C" __global__ void read_both(const __grid_constant__ Map first, int number,
                                     const __grid_constant__ Map second,
                                     unsigned long long* target) {
    target[threadIdx.x] = first.words[threadIdx.x] + number * second.words[threadIdx.x];
}
)";

constexpr std::size_t MAP_WORDS = 16;

std::vector<std::int64_t> values(const TensorMapExtents& extents) {
    std::vector<std::int64_t> result;
    for (std::size_t index = 0; index < extents.size(); ++index) {
        result.push_back(extents[index]);
    }
    return result;
}

using Values = std::vector<std::int64_t>;

/// A matrix of 64 x 128 floats, and what each test changes about its map.
class TensorMapTest : public testing::DeviceTest {
protected:
    void SetUp() override {
        DeviceTest::SetUp();
        if (IsSkipped()) {
            return;
        }
        if (device().compute_capability() < ComputeCapability{9, 0}) {
            GTEST_SKIP() << "tensor maps need compute capability 9.0";
        }
        buffer_ = std::make_unique<Buffer>(device().allocate(64 * 128 * sizeof(float), stream()));
    }

    void TearDown() override {
        buffer_.reset();
        DeviceTest::TearDown();
    }

    [[nodiscard]] const Buffer& buffer() const { return *buffer_; }

    [[nodiscard]] StridedMemoryView matrix() const {
        return StridedMemoryView::of<float>(buffer(), Values{64, 128});
    }

    [[nodiscard]] TensorMapDescriptor tiled(const TensorMapDescriptorOptions& options) const {
        return TensorMapDescriptor::tiled(matrix(), options);
    }

    /// Expects that a map of a raw tensor is refused with these parts of a message.
    void expect_refused(Type type, const TensorMapExtents& shape, const TensorMapExtents& strides,
                        const TensorMapDescriptorOptions& options,
                        std::initializer_list<std::string_view> parts,
                        CUdeviceptr address = 0) const {
        expect_error<std::invalid_argument>(
            [&] {
                const CUdeviceptr where = address == 0 ? buffer().handle() : address;
                static_cast<void>(TensorMapDescriptor::tiled(
                    TensorMapSource::at(where, type, shape, strides), options));
            },
            parts);
    }

    /// Returns what a kernel sees of its argument.
    std::vector<std::uint64_t> words(const Buffer& target) {
        return download<std::uint64_t>(target);
    }

    /// Returns whether an object is gone, after all that graphs release later.
    [[nodiscard]] bool is_released(const std::weak_ptr<int>& object) const {
        constexpr int ATTEMPTS = 2000;
        for (int attempt = 0; attempt < ATTEMPTS && !object.expired(); ++attempt) {
            stream().sync();
            static_cast<void>(detail::release_deferred());
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return object.expired();
    }

    static std::vector<std::uint64_t> words(const TensorMapDescriptor& map) {
        std::vector<std::uint64_t> result(MAP_WORDS);
        std::memcpy(result.data(), map.handle(), TensorMapDescriptor::SIZE_BYTES);
        return result;
    }

private:
    std::unique_ptr<Buffer> buffer_;
};

} // namespace

// ---- what a map describes -----------------------------------------------------------------------

TEST_F(TensorMapTest, describes_a_view) {
    const TensorMapDescriptor map = tiled({.box_dim = {16, 32},
                                           .element_strides = {2, 1},
                                           .swizzle = TensorMapSwizzle::Bytes128,
                                           .l2_promotion = TensorMapL2Promotion::Bytes256,
                                           .oob_fill = TensorMapOOBFill::NaNRequestZeroFMA});
    EXPECT_EQ(map.mode(), TensorMapMode::Tiled);
    EXPECT_EQ(map.rank(), 2U);
    EXPECT_EQ(map.data_type(), Type::Float32);
    EXPECT_EQ(map.address(), buffer().handle());
    EXPECT_EQ(values(map.shape()), (Values{64, 128}));
    EXPECT_EQ(values(map.strides_in_bytes()), (Values{512, 4}));
    EXPECT_EQ(values(map.box_dim()), (Values{16, 32}));
    EXPECT_EQ(values(map.element_strides()), (Values{2, 1}));
    EXPECT_TRUE(map.pixel_box_lower_corner().is_empty());
    EXPECT_EQ(map.interleave(), TensorMapInterleave::None);
    EXPECT_EQ(map.swizzle(), TensorMapSwizzle::Bytes128);
    EXPECT_EQ(map.l2_promotion(), TensorMapL2Promotion::Bytes256);
    EXPECT_EQ(map.oob_fill(), TensorMapOOBFill::NaNRequestZeroFMA);
    EXPECT_EQ(map.copy_bytes(), 8U * 32U * 4U);
    EXPECT_EQ(map.device(), device());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(map.handle()) % 64, 0U);
}

TEST_F(TensorMapTest, encodes_the_bytes_that_the_driver_does) {
    const TensorMapDescriptor map =
        tiled({.box_dim = {16, 32}, .swizzle = TensorMapSwizzle::Bytes128});
    const TensorMapDescriptor raw = TensorMapDescriptor::tiled(
        TensorMapSource::at(buffer().handle(), Type::Float32, {64, 128}, {512, 4}),
        {.box_dim = {16, 32}, .swizzle = TensorMapSwizzle::Bytes128});
    const TensorMapDescriptor other =
        tiled({.box_dim = {32, 16}, .swizzle = TensorMapSwizzle::Bytes128});
    EXPECT_EQ(map, raw);
    EXPECT_FALSE(map == other);
    EXPECT_FALSE(raw.device());
    EXPECT_EQ(raw.owner(), nullptr);
}

TEST_F(TensorMapTest, a_layout_a_typed_view_and_a_typed_buffer_give_the_same_map) {
    const TensorMapDescriptorOptions options{.box_dim = {16, 32}};
    const TensorMapDescriptor map = tiled(options);
    EXPECT_EQ(map,
              TensorMapDescriptor::tiled(
                  {buffer(), StridedLayout({64, 128}, sizeof(float)), Type::Float32}, options));
    EXPECT_EQ(map, TensorMapDescriptor::tiled(TypedView<float, 2>(buffer(), {64, 128}), options));
    const TypedBuffer<float> typed(buffer());
    EXPECT_EQ(map, TensorMapDescriptor::tiled({typed, {64, 128}}, options));
}

TEST_F(TensorMapTest, a_slice_begins_at_its_first_element) {
    const StridedLayout part =
        StridedLayout({64, 128}, sizeof(float))
            .sliced({StridedLayout::Slice::range(8, 40), StridedLayout::Slice::range(4, 68)});
    const TensorMapDescriptor map =
        TensorMapDescriptor::tiled({buffer(), part, Type::Float32}, {.box_dim = {8, 8}});
    EXPECT_EQ(map.address(), buffer().handle() + (8 * 128 + 4) * sizeof(float));
    EXPECT_EQ(values(map.shape()), (Values{32, 64}));
    EXPECT_EQ(values(map.strides_in_bytes()), (Values{512, 4}));
}

TEST_F(TensorMapTest, an_axis_of_one_element_may_have_any_stride) {
    const TensorMapDescriptor map = TensorMapDescriptor::tiled(
        TensorMapSource::at(buffer().handle(), Type::Float32, {1, 6}, {24, 4}),
        {.box_dim = {1, 4}});
    EXPECT_EQ(values(map.shape()), (Values{1, 6}));
}

TEST_F(TensorMapTest, a_repeated_axis_may_have_stride_0) {
    const TensorMapDescriptor map = TensorMapDescriptor::tiled(
        TensorMapSource::at(buffer().handle(), Type::Float32, {8, 64}, {0, 4}),
        {.box_dim = {8, 8}});
    EXPECT_EQ(values(map.strides_in_bytes()), (Values{0, 4}));
}

TEST_F(TensorMapTest, another_type_sees_the_same_bytes) {
    const StridedMemoryView bytes = StridedMemoryView::of<std::uint8_t>(buffer(), Values{64, 512});
    const TensorMapDescriptor map =
        TensorMapDescriptor::tiled(bytes, {.box_dim = {8, 8}, .data_type = Type::Float32});
    EXPECT_EQ(values(map.shape()), (Values{64, 128}));
    EXPECT_EQ(values(map.strides_in_bytes()), (Values{512, 4}));
    expect_error<std::invalid_argument>(
        [&] {
            const StridedMemoryView odd =
                StridedMemoryView::of<std::uint8_t>(buffer(), Values{64, 18});
            static_cast<void>(
                TensorMapDescriptor::tiled(odd, {.box_dim = {8, 8}, .data_type = Type::Float32}));
        },
        {"innermost axis has 18 elements of 8 bits", "FLOAT32"});
}

TEST_F(TensorMapTest, takes_the_type_of_the_view) {
    const auto type_of = [&](dlpack::TypeCode code, std::uint8_t bits) {
        const StridedMemoryView view(buffer(), StridedLayout({8, 128}, bits / 8U), {code, bits, 1});
        return TensorMapDescriptor::tiled(view, {.box_dim = {1, 16}}).data_type();
    };
    using dlpack::TypeCode;
    EXPECT_EQ(type_of(TypeCode::UInt, 8), Type::UInt8);
    EXPECT_EQ(type_of(TypeCode::UInt, 16), Type::UInt16);
    EXPECT_EQ(type_of(TypeCode::UInt, 32), Type::UInt32);
    EXPECT_EQ(type_of(TypeCode::UInt, 64), Type::UInt64);
    EXPECT_EQ(type_of(TypeCode::Int, 32), Type::Int32);
    EXPECT_EQ(type_of(TypeCode::Int, 64), Type::Int64);
    EXPECT_EQ(type_of(TypeCode::Float, 16), Type::Float16);
    EXPECT_EQ(type_of(TypeCode::Float, 32), Type::Float32);
    EXPECT_EQ(type_of(TypeCode::Float, 64), Type::Float64);
    EXPECT_EQ(type_of(TypeCode::BFloat, 16), Type::BFloat16);
    for (const auto& [code, bits] :
         {std::pair{TypeCode::Int, std::uint8_t{8}}, std::pair{TypeCode::Bool, std::uint8_t{8}},
          std::pair{TypeCode::Complex, std::uint8_t{64}}}) {
        expect_error<std::invalid_argument>([&] { static_cast<void>(type_of(code, bits)); },
                                            {"which tensor maps do not have", "set data_type"});
    }
}

TEST_F(TensorMapTest, every_type_interleave_swizzle_promotion_and_fill_is_encoded) {
    for (int type = 0; type <= static_cast<int>(Type::TFloat32FTZ); ++type) {
        const auto element = static_cast<Type>(type);
        const TensorMapDescriptor map = TensorMapDescriptor::tiled(
            TensorMapSource::at(buffer().handle(), element, {4, 128}), {.box_dim = {1, 16}});
        EXPECT_EQ(map.data_type(), element);
    }
    for (const auto swizzle : {TensorMapSwizzle::None, TensorMapSwizzle::Bytes32,
                               TensorMapSwizzle::Bytes64, TensorMapSwizzle::Bytes128}) {
        EXPECT_EQ(tiled({.box_dim = {8, 8}, .swizzle = swizzle}).swizzle(), swizzle);
    }
    for (const auto promotion : {TensorMapL2Promotion::None, TensorMapL2Promotion::Bytes64,
                                 TensorMapL2Promotion::Bytes128, TensorMapL2Promotion::Bytes256}) {
        EXPECT_EQ(tiled({.box_dim = {8, 8}, .l2_promotion = promotion}).l2_promotion(), promotion);
    }
    const auto cube = TensorMapSource::at(buffer().handle(), Type::Float32, {4, 8, 64});
    EXPECT_EQ(TensorMapDescriptor::tiled(
                  cube, {.box_dim = {1, 8, 8}, .interleave = TensorMapInterleave::Bytes16})
                  .interleave(),
              TensorMapInterleave::Bytes16);
    EXPECT_EQ(TensorMapDescriptor::tiled(cube, {.box_dim = {1, 8, 8},
                                                .interleave = TensorMapInterleave::Bytes32,
                                                .swizzle = TensorMapSwizzle::Bytes32})
                  .interleave(),
              TensorMapInterleave::Bytes32);
}

TEST_F(TensorMapTest, prints_what_it_describes) {
    const TensorMapDescriptor map =
        TensorMapDescriptor::tiled(TensorMapSource::at(0x7f0000001000, Type::Float32, {64, 128}),
                                   {.box_dim = {16, 32}, .swizzle = TensorMapSwizzle::Bytes128});
    EXPECT_EQ(to_string(map),
              "TensorMapDescriptor(tiled, rank=2, dtype=FLOAT32, swizzle=SWIZZLE_128B)");
    EXPECT_EQ(map.description(),
              "tiled map of 64 x 128 FLOAT32 at 0x7f0000001000, strides 512, 4 bytes, boxes of 16 "
              "x 32 (2048 bytes), interleave NONE, swizzle 128B, L2 promotion NONE, outside 0");
    EXPECT_EQ(to_string(TensorMapDescriptor::tiled(
                  TensorMapSource::at(0x7f0000001000, Type::UInt8, {64}), {.box_dim = {16}})),
              "TensorMapDescriptor(tiled, rank=1, dtype=UINT8, swizzle=NONE)");
}

// ---- im2col -------------------------------------------------------------------------------------

TEST_F(TensorMapTest, im2col_corners_follow_the_axes) {
    const auto images = TensorMapSource::at(buffer().handle(), Type::Float16, {2, 3, 4, 5, 64});
    const TensorMapDescriptor map =
        TensorMapDescriptor::im2col(images, {.pixel_box_lower_corner = {-1, -2, -3},
                                             .pixel_box_upper_corner = {1, 2, 3},
                                             .channels_per_pixel = 64,
                                             .pixels_per_column = 16,
                                             .swizzle = TensorMapSwizzle::Bytes128});
    EXPECT_EQ(map.mode(), TensorMapMode::Im2Col);
    EXPECT_EQ(values(map.pixel_box_lower_corner()), (Values{-1, -2, -3}));
    EXPECT_EQ(values(map.pixel_box_upper_corner()), (Values{1, 2, 3}));
    EXPECT_EQ(map.channels_per_pixel(), 64U);
    EXPECT_EQ(map.pixels_per_column(), 16U);
    EXPECT_EQ(map.copy_bytes(), 64U * 16U * 2U);
    EXPECT_TRUE(map.box_dim().is_empty());
    EXPECT_NE(map.description().find("pixels from (-1, -2, -3) to (1, 2, 3), 16 of 64 channels"),
              std::string::npos)
        << map.description();
}

TEST_F(TensorMapTest, im2col_rules_are_checked) {
    const auto refuse = [&](const TensorMapExtents& shape, const TensorMapIm2ColOptions& options,
                            std::initializer_list<std::string_view> parts) {
        expect_error<std::invalid_argument>(
            [&] {
                static_cast<void>(TensorMapDescriptor::im2col(
                    TensorMapSource::at(buffer().handle(), Type::Float16, shape), options));
            },
            parts);
    };
    const TensorMapIm2ColOptions valid{.pixel_box_lower_corner = {0},
                                       .pixel_box_upper_corner = {0},
                                       .channels_per_pixel = 64,
                                       .pixels_per_column = 4};
    refuse({32, 64}, valid, {"Im2col tensor rank must be between 3 and 5", "2 axes"});
    auto options = valid;
    options.pixel_box_lower_corner = {0, 0};
    refuse({1, 32, 64}, options, {"pixel_box_lower_corner must have 1 elements", "it has 2"});
    options = valid;
    options.pixel_box_upper_corner = {};
    refuse({1, 32, 64}, options, {"pixel_box_upper_corner must have 1 elements", "it has 0"});
    options = valid;
    options.pixel_box_lower_corner = {32768};
    refuse({1, 32, 64}, options, {"32768", "expected -32768 to 32767"});
    options = valid;
    options.pixel_box_lower_corner = {0, -129};
    options.pixel_box_upper_corner = {0, 0};
    refuse({1, 32, 32, 64}, options, {"-129", "expected -128 to 127"});
    options = valid;
    options.pixel_box_lower_corner = {0, 0, 0};
    options.pixel_box_upper_corner = {16, 0, 0};
    refuse({1, 8, 8, 8, 64}, options, {"16", "expected -16 to 15"});
    options = valid;
    options.pixel_box_upper_corner = {-32};
    refuse({1, 32, 64}, options, {"the pixel box has 0 elements on axis 1", "32 of the tensor"});
    options = valid;
    options.channels_per_pixel = 257;
    refuse({1, 32, 64}, options, {"channels_per_pixel is 257", "1 to 256"});
    options = valid;
    options.channels_per_pixel = 4;
    refuse({1, 32, 64}, options, {"channels_per_pixel is 4", "8 bytes", "multiple of 16"});
    options = valid;
    options.pixels_per_column = 0;
    refuse({1, 32, 64}, options, {"pixels_per_column is 0", "1 to 1024"});
    options = valid;
    options.swizzle = TensorMapSwizzle::Bytes64;
    refuse({1, 32, 64}, options, {"channels_per_pixel is 64", "at most 64 bytes for swizzle 64B"});
}

TEST_F(TensorMapTest, wide_im2col_has_corners_along_w_only) {
    const auto images = TensorMapSource::at(buffer().handle(), Type::Float16, {2, 4, 8, 64});
    const TensorMapDescriptor map =
        TensorMapDescriptor::im2col_wide(images, {.pixel_box_lower_corner_width = -1,
                                                  .pixel_box_upper_corner_width = 1,
                                                  .channels_per_pixel = 64,
                                                  .pixels_per_column = 8});
    EXPECT_EQ(map.mode(), TensorMapMode::Im2ColWide);
    EXPECT_EQ(values(map.pixel_box_lower_corner()), (Values{-1}));
    EXPECT_EQ(map.swizzle(), TensorMapSwizzle::Bytes128);
    EXPECT_EQ(to_string(map),
              "TensorMapDescriptor(im2col_wide, rank=4, dtype=FLOAT16, swizzle=SWIZZLE_128B)");
    expect_error<std::invalid_argument>(
        [&] {
            static_cast<void>(
                TensorMapDescriptor::im2col_wide(images, {.channels_per_pixel = 64,
                                                          .pixels_per_column = 8,
                                                          .swizzle = TensorMapSwizzle::Bytes32}));
        },
        {"wide im2col", "64B, 128B or 128B_ATOM_32B, got 32B"});
    expect_error<std::invalid_argument>(
        [&] {
            static_cast<void>(TensorMapDescriptor::im2col_wide(
                TensorMapSource::at(buffer().handle(), Type::Float16, {64}),
                {.channels_per_pixel = 64, .pixels_per_column = 8}));
        },
        {"Im2col-wide tensor rank must be between 3 and 5"});
}

// ---- rules --------------------------------------------------------------------------------------

TEST_F(TensorMapTest, rank_and_counts_are_checked) {
    expect_refused(Type::Float32, {}, {}, {.box_dim = {}}, {"rank must be between 1 and 5"});
    expect_refused(Type::Float32, {2, 2, 2, 2, 2, 2}, {}, {.box_dim = {2, 2, 2, 2, 2, 2}},
                   {"6 axes", "rank must be between 1 and 5"});
    expect_refused(Type::Float32, {64, 64}, {}, {.box_dim = {8}},
                   {"box_dim must have 2 elements", "it has 1"});
    expect_refused(Type::Float32, {64, 64}, {}, {.box_dim = {8, 8}, .element_strides = {1}},
                   {"element_strides must have 2 elements", "it has 1"});
    expect_refused(Type::Float32, {64, 64}, {4}, {.box_dim = {8, 8}},
                   {"strides_in_bytes must have 2 elements", "it has 1"});
    expect_refused(Type::Float32, {64, 64}, {},
                   {.box_dim = {8, 8}, .interleave = TensorMapInterleave::Bytes16},
                   {"interleave is 16B", "3 to 5 axes", "this one has 2"});
}

TEST_F(TensorMapTest, extents_and_strides_are_checked) {
    const TensorMapDescriptorOptions options{.box_dim = {8, 8}};
    expect_refused(Type::Float32, {0, 64}, {}, options, {"shape[0] is 0", "1 to 2^32"});
    expect_refused(Type::Float32, {(std::int64_t{1} << 32) + 1, 64}, {256, 4}, options,
                   {"shape[0] is 4294967297"});
    expect_refused(Type::Float32, {64, 66}, {}, options,
                   {"axis 0 has a stride of 264 bytes", "multiple of 16", "pad the rows"});
    expect_refused(Type::Float32, {64, 64}, {-256, 4}, options, {"stride of -256 bytes"});
    expect_refused(Type::Float32, {64, 64}, {std::int64_t{1} << 40, 4}, options, {"2^40 - 1"});
    expect_refused(Type::Float32, {64, 64}, {16, 256}, options,
                   {"axis 1 is the innermost", "stride of 256 bytes, expected 4", "contiguous"});
    expect_refused(Type::Float32, {64, 64}, {}, options, {"0x1008", "multiple of 16"}, 0x1008);
    const TensorMapDescriptorOptions interleaved{.box_dim = {1, 8, 8},
                                                 .interleave = TensorMapInterleave::Bytes32,
                                                 .swizzle = TensorMapSwizzle::Bytes32};
    expect_refused(Type::Float32, {8, 8, 64}, {}, interleaved, {"0x1010", "multiple of 32"},
                   0x1010);
    expect_refused(Type::Float32, {8, 8, 64}, {2064, 272, 4}, interleaved,
                   {"multiple of 32", "interleave 32B"});
    expect_error<std::invalid_argument>(
        [] {
            static_cast<void>(TensorMapDescriptor::tiled(
                TensorMapSource::at(0, Type::Float32, {64}), {.box_dim = {8}}));
        },
        {"no memory"});
}

TEST_F(TensorMapTest, boxes_are_checked) {
    const auto refuse = [&](const TensorMapDescriptorOptions& options,
                            std::initializer_list<std::string_view> parts) {
        expect_refused(Type::Float32, {64, 512}, {}, options, parts);
    };
    refuse({.box_dim = {0, 8}}, {"box_dim[0] must be in [1, 256]", "it is 0"});
    refuse({.box_dim = {8, 257}}, {"box_dim[1] must be in [1, 256]", "it is 257"});
    refuse({.box_dim = {8, 6}}, {"box_dim is 6 elements of type FLOAT32, 24 bytes"});
    refuse({.box_dim = {8, 16}, .swizzle = TensorMapSwizzle::Bytes32},
           {"64 bytes", "at most 32 bytes for swizzle 32B"});
    refuse({.box_dim = {8, 64}, .swizzle = TensorMapSwizzle::Bytes128},
           {"256 bytes", "at most 128 bytes for swizzle 128B"});
    refuse({.box_dim = {8, 8}, .element_strides = {9, 1}},
           {"element_strides[0] must be in [1, 8]"});
    refuse({.box_dim = {8, 8}, .element_strides = {1, 0}}, {"element_strides[1]", "it is 0"});
    // 256 x 256 floats do not fit into shared memory.
    refuse({.box_dim = {256, 256}}, {"262144 bytes", "smaller box"});
}

TEST_F(TensorMapTest, types_and_modes_are_checked_together) {
    expect_refused(Type::UInt32, {64, 64}, {},
                   {.box_dim = {8, 8}, .oob_fill = TensorMapOOBFill::NaNRequestZeroFMA},
                   {"NAN_REQUEST_ZERO_FMA", "floating-point", "UINT32"});
    expect_refused(Type::Float32, {8, 8, 64}, {},
                   {.box_dim = {1, 8, 8}, .interleave = TensorMapInterleave::Bytes32},
                   {"interleave 32B needs swizzle 32B, got NONE"});
    expect_refused(Type::Packed16U6Align16B, {8, 8, 256}, {},
                   {.box_dim = {1, 8, 128}, .interleave = TensorMapInterleave::Bytes16},
                   {"16U6_ALIGN16B cannot be interleaved"});
    expect_refused(Type::Packed16U4Align16B, {8, 256}, {},
                   {.box_dim = {1, 128}, .swizzle = TensorMapSwizzle::Bytes64},
                   {"16U4_ALIGN16B allow the swizzles", "got 64B"});
    expect_refused(Type::Packed16U4Align16B, {8, 192}, {}, {.box_dim = {1, 128}},
                   {"192 elements, expected a multiple of 128"});
    expect_refused(Type::Packed16U4Align16B, {8, 256}, {}, {.box_dim = {1, 64}},
                   {"is 64, expected 128"});
    expect_refused(static_cast<Type>(77), {64}, {}, {.box_dim = {8}}, {"type is the number 77"});
    expect_refused(Type::Float32, {64}, {},
                   {.box_dim = {8}, .swizzle = static_cast<TensorMapSwizzle>(9)},
                   {"swizzle is the number 9"});
}

TEST_F(TensorMapTest, what_a_newer_device_has_is_named) {
    if (device().compute_capability() >= ComputeCapability{10, 0}) {
        const TensorMapDescriptor map =
            tiled({.box_dim = {8, 8}, .swizzle = TensorMapSwizzle::Bytes128Atom64});
        EXPECT_EQ(map.swizzle(), TensorMapSwizzle::Bytes128Atom64);
        return;
    }
    expect_refused(Type::Float32, {64, 64}, {},
                   {.box_dim = {8, 8}, .swizzle = TensorMapSwizzle::Bytes128Atom32},
                   {"the swizzle 128B_ATOM_32B needs compute capability 10.0", "has 9.0"});
    expect_refused(Type::Packed16U4Align8B, {64, 64}, {}, {.box_dim = {8, 32}},
                   {"the data type 16U4_ALIGN8B needs compute capability 10.0"});
}

TEST_F(TensorMapTest, memory_must_be_open_and_reach_the_device) {
    Buffer closed = device().allocate(4096, stream());
    closed.close();
    EXPECT_THROW(
        static_cast<void>(TensorMapSource(closed, StridedLayout({1024}, 4), Type::Float32)),
        ClosedError);
    expect_error<std::invalid_argument>(
        [&] {
            static_cast<void>(
                TensorMapSource(buffer(), StridedLayout({64, 129}, 4), Type::Float32));
        },
        {"the buffer has 32768 bytes, expected at least 33024"});
    std::vector<float> host(64);
    const Buffer wrapped = Buffer::from_handle(
        static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(host.data())), 256);
    if (!wrapped.is_device_accessible()) {
        expect_error<std::invalid_argument>(
            [&] {
                static_cast<void>(TensorMapDescriptor::tiled(
                    {wrapped, StridedLayout({64}, 4), Type::Float32}, {.box_dim = {8}}));
            },
            {"not device-accessible"});
    }
}

// ---- replaced addresses -------------------------------------------------------------------------

TEST_F(TensorMapTest, replace_address_describes_other_memory) {
    TensorMapDescriptor map = tiled({.box_dim = {8, 8}});
    const Buffer other = device().allocate(64 * 128 * sizeof(float), stream());
    const auto view = StridedMemoryView::of<float>(other, Values{64, 128});
    map.replace_address(view);
    EXPECT_EQ(map.address(), other.handle());
    EXPECT_EQ(map, TensorMapDescriptor::tiled(view, {.box_dim = {8, 8}}));
}

TEST_F(TensorMapTest, replace_address_checks_the_new_memory) {
    TensorMapDescriptor map = tiled({.box_dim = {8, 8}});
    const TensorMapDescriptor before = map;
    const auto refuse = [&](const TensorMapSource& source,
                            std::initializer_list<std::string_view> parts) {
        expect_error<std::invalid_argument>([&] { map.replace_address(source); }, parts);
        EXPECT_EQ(map, before);
        EXPECT_EQ(map.address(), before.address());
    };
    refuse(TensorMapSource::at(0x1008, Type::Float32, {64}), {"0x1008", "multiple of 16"});
    refuse(TensorMapSource::at(0, Type::Float32, {64}), {"no memory"});
    const Buffer small = device().allocate(4096, stream());
    refuse({small, StridedLayout({1024}, 4), Type::Float32}, {"4096 bytes", "describes 32768"});
}

TEST_F(TensorMapTest, copies_are_independent) {
    TensorMapDescriptor map = tiled({.box_dim = {8, 8}});
    const TensorMapDescriptor copy = map;
    const Buffer other = device().allocate(64 * 128 * sizeof(float), stream());
    map.replace_address({other, StridedLayout({64, 128}, 4), Type::Float32});
    EXPECT_EQ(copy.address(), buffer().handle());
    EXPECT_FALSE(map == copy);
}

// ---- lifetime -----------------------------------------------------------------------------------

TEST_F(TensorMapTest, keeps_the_memory_of_its_view_alive) {
    auto owner = std::make_shared<int>(1);
    const std::weak_ptr<int> watch = owner;
    std::unique_ptr<TensorMapDescriptor> map;
    {
        const Buffer wrapped =
            Buffer::from_handle(buffer().handle(), buffer().size(), std::move(owner));
        const auto view = StridedMemoryView::of<float>(wrapped, Values{64, 128});
        map = std::make_unique<TensorMapDescriptor>(
            TensorMapDescriptor::tiled(view, {.box_dim = {8, 8}}));
    }
    EXPECT_FALSE(watch.expired());
    map->replace_address(matrix());
    EXPECT_TRUE(watch.expired()) << "the new memory is kept instead";
}

TEST_F(TensorMapTest, a_graph_keeps_the_memory_alive) {
    const Kernel kernel = compile(READ_SOURCE).get_kernel("read");
    const Buffer target = device().allocate(MAP_WORDS * sizeof(std::uint64_t), stream());
    auto owner = std::make_shared<int>(1);
    const std::weak_ptr<int> watch = owner;
    std::vector<std::uint64_t> expected;
    {
        GraphDefinition graph;
        {
            const Buffer wrapped =
                Buffer::from_handle(buffer().handle(), buffer().size(), std::move(owner));
            const TensorMapDescriptor map = TensorMapDescriptor::tiled(
                {wrapped, StridedLayout({64, 128}, 4), Type::Float32}, {.box_dim = {8, 8}});
            expected = words(map);
            static_cast<void>(graph.launch({.grid = 1, .block = MAP_WORDS}, kernel, map, target));
        }
        EXPECT_FALSE(watch.expired());
        const Graph executable = graph.instantiate();
        executable.launch(stream());
        EXPECT_EQ(words(target), expected);
    }
    EXPECT_TRUE(is_released(watch));
}

TEST_F(TensorMapTest, a_captured_launch_keeps_the_memory_alive) {
    const Kernel kernel = compile(READ_SOURCE).get_kernel("read");
    const Buffer target = device().allocate(MAP_WORDS * sizeof(std::uint64_t), stream());
    auto owner = std::make_shared<int>(1);
    const std::weak_ptr<int> watch = owner;
    {
        GraphBuilder builder = device().create_graph_builder();
        builder.begin_building();
        {
            const Buffer wrapped =
                Buffer::from_handle(buffer().handle(), buffer().size(), std::move(owner));
            const TensorMapDescriptor map = TensorMapDescriptor::tiled(
                {wrapped, StridedLayout({64, 128}, 4), Type::Float32}, {.box_dim = {8, 8}});
            launch(builder.stream(), {.grid = 1, .block = MAP_WORDS}, kernel, map, target);
        }
        builder.end_building();
        EXPECT_FALSE(watch.expired());
        const Graph executable = builder.complete();
        EXPECT_FALSE(watch.expired());
        executable.launch(stream());
        stream().sync();
    }
    EXPECT_TRUE(is_released(watch));
}

// ---- kernels ------------------------------------------------------------------------------------

TEST_F(TensorMapTest, a_kernel_takes_the_128_bytes) {
    const ObjectCode code = compile(READ_SOURCE);
    const TensorMapDescriptor map = tiled({.box_dim = {8, 8}});
    const Buffer target = device().allocate(MAP_WORDS * sizeof(std::uint64_t), stream());
    const LaunchConfig config{.grid = 1, .block = MAP_WORDS};
    launch(stream(), config, code.get_kernel("read"), map, target);
    EXPECT_EQ(words(target), words(map));

    const TensorMapDescriptor other = tiled({.box_dim = {16, 16}});
    launch(stream(), config, code.get_kernel("read_both"), other, 2, map, target);
    const std::vector<std::uint64_t> sums = words(target);
    for (std::size_t index = 0; index < MAP_WORDS; ++index) {
        EXPECT_EQ(sums[index], words(other)[index] + 2 * words(map)[index]) << index;
    }
}

TEST_F(TensorMapTest, a_typed_view_is_refused_like_any_tensor) {
    using Options = TensorMapDescriptorOptions;
    const TypedView<float, 2> view(buffer(), {64, 128});
    const TypedView<float, 2> narrow(view.data(), {8, 6}, {6, 1});
    const TypedView<float, 2> turned(view.data(), {8, 8}, {1, 8});
    const TypedView<float, 2> empty(view.data(), {0, 8}, {8, 1});
    const TypedView<float, 2> unaligned(view.data() + 1, {8, 8}, {8, 1});
    const TypedView<float, 2> none(nullptr, {8, 8}, {8, 1});
    const auto text_of = [](const auto& source, const Options& options) -> std::string {
        try {
            static_cast<void>(TensorMapDescriptor::tiled(source, options));
        } catch (const std::invalid_argument& error) {
            return error.what();
        }
        return "";
    };
    const auto expect_same_refusal = [&](const TypedView<float, 2>& tensor,
                                         const Options& options) {
        const std::string text = text_of(tensor, options);
        EXPECT_NE(text, "");
        EXPECT_EQ(text, text_of(TensorMapSource(tensor), options));
    };
    const Options usual{.box_dim = {8, 4}};
    for (const auto& tensor : {narrow, turned, empty, unaligned, none}) {
        expect_same_refusal(tensor, usual);
    }
    expect_same_refusal(view, {.box_dim = {8}});
    expect_same_refusal(view, {.box_dim = {0, 8}});
    expect_same_refusal(view, {.box_dim = {8, 300}});
    expect_same_refusal(view, {.box_dim = {8, std::int64_t{1} << 32U}});
    expect_same_refusal(view, {.box_dim = {8, 3}});
    expect_same_refusal(view, {.box_dim = {8, 64}, .swizzle = TensorMapSwizzle::Bytes32});
    expect_same_refusal(view, {.box_dim = {8, 4}, .element_strides = {1, 9}});
    expect_same_refusal(view, {.box_dim = {8, 4}, .data_type = TensorMapDataType{99}});
    const Options bytes{.box_dim = {8, 16}, .data_type = TensorMapDataType::UInt8};
    EXPECT_EQ(TensorMapDescriptor::tiled(view, bytes),
              TensorMapDescriptor::tiled(TensorMapSource(view), bytes));
}

TEST_F(TensorMapTest, a_typed_kernel_takes_it) {
    const ObjectCode code = compile(READ_SOURCE);
    const TensorMapDescriptor map = tiled({.box_dim = {8, 8}});
    const Buffer target = device().allocate(MAP_WORDS * sizeof(std::uint64_t), stream());
    const auto kernel = code.get_kernel("read").as<void(TensorMapDescriptor, std::uint64_t*)>();
    kernel(stream(), {.grid = 1, .block = MAP_WORDS}, map, target);
    EXPECT_EQ(words(target), words(map));
    EXPECT_THROW(static_cast<void>(code.get_kernel("read").as<void(float, std::uint64_t*)>()),
                 std::invalid_argument);
}

TEST_F(TensorMapTest, a_parameter_of_another_size_is_refused) {
    const Kernel kernel =
        compile(
            R"(extern "C" __global__ void small(int number, int* target) { *target = number; })")
            .get_kernel("small");
    const TensorMapDescriptor map = tiled({.box_dim = {8, 8}});
    expect_error<std::invalid_argument>(
        [&] { launch(stream(), {.grid = 1, .block = 1}, kernel, map, buffer()); }, {"128", "4"});
}

// ---- the driver ---------------------------------------------------------------------------------

TEST_F(TensorMapTest, the_current_context_does_not_matter) {
    const auto view = matrix();
    const TensorMapDescriptor expected = tiled({.box_dim = {8, 8}}); // no context is current here
    std::thread([&] {
        device().set_current();
        const std::optional<Context> before = Context::current();
        TensorMapDescriptor map = TensorMapDescriptor::tiled(view, {.box_dim = {8, 8}});
        map.replace_address(view);
        EXPECT_EQ(map, expected);
        EXPECT_EQ(Context::current(), before);
    }).join();
}

TEST_F(TensorMapTest, a_refusal_is_explained_where_the_driver_is_asked_first) {
    // A usual map goes straight to the driver if a context is current.
    std::thread([&] {
        device().set_current();
        const auto refuse = [&](Type type, const TensorMapExtents& shape,
                                const TensorMapDescriptorOptions& options, std::string_view part,
                                CUdeviceptr address = 0) {
            expect_refused(type, shape, {}, options, {part}, address);
        };
        refuse(Type::Float32, {64, 64}, {.box_dim = {8, 6}}, "24 bytes, expected a multiple of 16");
        refuse(Type::Float32, {64, 64}, {.box_dim = {0, 8}}, "box_dim[0] must be in [1, 256]");
        refuse(Type::Float32, {64, 64}, {.box_dim = {8, -8}}, "box_dim[1] must be in [1, 256]");
        refuse(Type::Float32, {64, 64}, {.box_dim = {8, 512}}, "box_dim[1] must be in [1, 256]");
        refuse(Type::Float32, {64, 64}, {.box_dim = {256, 256}}, "262144 bytes");
        refuse(Type::Float32, {0, 64}, {.box_dim = {8, 8}}, "shape[0] is 0");
        refuse(Type::Float32, {-4, 64}, {.box_dim = {8, 8}}, "shape[0] is -4");
        refuse(Type::Float32, {64, 64}, {.box_dim = {8, 8}}, "multiple of 16", 0x1008);
        refuse(Type::Float32, {64, 64}, {.box_dim = {8, 16}, .swizzle = TensorMapSwizzle::Bytes32},
               "at most 32 bytes");
        refuse(Type::Float32, {64, 64},
               {.box_dim = {8, 8}, .swizzle = static_cast<TensorMapSwizzle>(9)},
               "swizzle is the number 9");
        refuse(Type::UInt32, {64, 64},
               {.box_dim = {8, 8}, .oob_fill = TensorMapOOBFill::NaNRequestZeroFMA},
               "floating-point");
        const FaultInjection fault("cuTensorMapEncodeTiled", 1, CUDA_ERROR_INVALID_VALUE);
        expect_error<CUDAError>([&] { static_cast<void>(tiled({.box_dim = {8, 8}})); },
                                {"cuTensorMapEncodeTiled", "CUDA_ERROR_INVALID_VALUE"});
        EXPECT_EQ(fault.call_count(), 1) << "the call is not repeated";
    }).join();
}

TEST_F(TensorMapTest, a_refusal_of_the_driver_is_reported) {
    {
        const FaultInjection fault("cuTensorMapEncodeTiled", 1, CUDA_ERROR_INVALID_VALUE);
        expect_error<CUDAError>([&] { static_cast<void>(tiled({.box_dim = {8, 8}})); },
                                {"cuTensorMapEncodeTiled", "CUDA_ERROR_INVALID_VALUE"});
    }
    TensorMapDescriptor map = tiled({.box_dim = {8, 8}});
    const Buffer other = device().allocate(64 * 128 * sizeof(float), stream());
    const FaultInjection fault("cuTensorMapReplaceAddress", 1, CUDA_ERROR_UNKNOWN);
    expect_error<CUDAError>(
        [&] { map.replace_address({other, StridedLayout({64, 128}, 4), Type::Float32}); },
        {"cuTensorMapReplaceAddress"});
    EXPECT_EQ(map.address(), buffer().handle()) << "the map is unchanged";
}

TEST_F(TensorMapTest, no_failure_of_the_driver_leaks) {
    testing::check_every_failure_on_driver([&] {
        const Stream queue = device().create_stream();
        const Buffer memory = device().allocate(4096, queue);
        TensorMapDescriptor map = TensorMapDescriptor::tiled(
            {memory, StridedLayout({8, 128}, 4), Type::Float32}, {.box_dim = {8, 8}});
        map.replace_address({memory, StridedLayout({8, 128}, 4), Type::Float32});
    });
}

} // namespace cuprum
