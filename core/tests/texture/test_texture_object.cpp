// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/expect_error.hpp"
#include "support/fake_driver.hpp"

#include <cuprum/cuprum.hpp>

#include <cuda.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace cuprum {

namespace {

using testing::expect_error;

class TextureOnFake : public testing::FakeDriverTest {
protected:
    static OpaqueArray image(ArrayFormat format, unsigned num_channels = 1,
                             bool is_surface = false) {
        return Device(0).create_opaque_array({.extent = {.width = 32, .height = 16},
                                              .format = format,
                                              .num_channels = num_channels,
                                              .is_surface_load_store = is_surface});
    }

    static TextureObject texture(const OpaqueArray& array,
                                 const TextureObjectOptions& options = {}) {
        return TextureObject::create(ResourceDescriptor::from_opaque_array(array), options);
    }

    static Buffer buffer(std::size_t bytes) {
        return Device(0).allocate(bytes, Device(0).create_stream());
    }

    static void expect_refused(const OpaqueArray& array, const TextureObjectOptions& options,
                               std::initializer_list<std::string_view> parts) {
        expect_error<std::invalid_argument>([&] { (void)texture(array, options); }, parts);
    }
};

} // namespace

TEST_F(TextureOnFake, options_become_the_driver_s_description) {
    const OpaqueArray array = image(ArrayFormat::UInt8, 4);
    const TextureObjectOptions options{
        .address_mode = {AddressMode::Wrap, AddressMode::Mirror, AddressMode::Border},
        .filter_mode = FilterMode::Linear,
        .read_mode = ReadMode::NormalizedFloat,
        .normalized_coords = true,
        .srgb = true,
        .disable_trilinear_optimization = true,
        .max_anisotropy = 8,
        .mipmap_filter_mode = FilterMode::Linear,
        .mipmap_level_bias = 0.5F,
        .min_mipmap_level_clamp = 1.0F,
        .max_mipmap_level_clamp = 2.0F,
        .border_color = {0.1F, 0.2F, 0.3F, 0.4F},
    };
    const TextureObject made = texture(array, options);
    const auto& [resource, sampling, view, has_view] = fake->last_texture;
    EXPECT_EQ(resource.resType, CU_RESOURCE_TYPE_ARRAY);
    EXPECT_EQ(resource.res.array.hArray, array.handle());
    EXPECT_EQ(resource.flags, 0U);
    EXPECT_EQ(sampling.addressMode[0], CU_TR_ADDRESS_MODE_WRAP);
    EXPECT_EQ(sampling.addressMode[1], CU_TR_ADDRESS_MODE_MIRROR);
    EXPECT_EQ(sampling.addressMode[2], CU_TR_ADDRESS_MODE_BORDER);
    EXPECT_EQ(sampling.filterMode, CU_TR_FILTER_MODE_LINEAR);
    EXPECT_EQ(sampling.flags, unsigned{CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB |
                                       CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION});
    EXPECT_EQ(sampling.maxAnisotropy, 8U);
    EXPECT_EQ(sampling.mipmapFilterMode, CU_TR_FILTER_MODE_LINEAR);
    EXPECT_EQ(sampling.mipmapLevelBias, 0.5F);
    EXPECT_EQ(sampling.minMipmapLevelClamp, 1.0F);
    EXPECT_EQ(sampling.maxMipmapLevelClamp, 2.0F);
    EXPECT_EQ(sampling.borderColor[3], 0.4F);
    EXPECT_FALSE(has_view);
    EXPECT_EQ(made.options(), options);
    EXPECT_EQ(made.resource().kind(), ResourceKind::OpaqueArray);
    EXPECT_EQ(made.device(), Device(0));
    EXPECT_EQ(texture(array).options(), TextureObjectOptions{});
    EXPECT_EQ(fake->last_texture.sampling.flags, unsigned{CU_TRSF_READ_AS_INTEGER});
    EXPECT_EQ(fake->last_texture.sampling.addressMode[2], CU_TR_ADDRESS_MODE_CLAMP);
}

TEST_F(TextureOnFake, a_format_that_holds_srgb_is_read_as_srgb) {
    (void)texture(image(ArrayFormat::BC1UnormSrgb, 4));
    EXPECT_NE(fake->last_texture.sampling.flags & CU_TRSF_SRGB, 0U);
    (void)texture(image(ArrayFormat::BC1Unorm, 4));
    EXPECT_EQ(fake->last_texture.sampling.flags & CU_TRSF_SRGB, 0U);
}

TEST_F(TextureOnFake, a_texture_keeps_its_array_alive) {
    OpaqueArray array = image(ArrayFormat::Float32);
    TextureObject first = texture(array);
    array.close();
    EXPECT_EQ(fake->live().arrays, 1);
    const TextureObject second = first;
    EXPECT_EQ(first, second);
    EXPECT_EQ(std::hash<TextureObject>()(first), std::hash<TextureObject>()(second));
    EXPECT_EQ(to_string(first).rfind("<TextureObject handle=0x", 0), 0U);
    first.close();
    first.close();
    EXPECT_FALSE(first == second);
    EXPECT_EQ(fake->live().textures, 1);
    EXPECT_EQ(to_string(first), "<TextureObject closed>");
    expect_error<ClosedError>([&] { (void)first.handle(); }, {"TextureObject", "closed"});
    expect_error<ClosedError>([&] { (void)first.options(); }, {"TextureObject"});
}

TEST_F(TextureOnFake, objects_are_destroyed_in_their_context) {
    const CUcontext other = fake->make_context(1);
    start_with(other);
    const OpaqueArray array = image(ArrayFormat::Float32, 1, true);
    (void)texture(array);
    (void)SurfaceObject::create(array);
    EXPECT_EQ(testing::FakeDriver::current(), other);
    EXPECT_EQ(fake->live().textures, 0);
    EXPECT_EQ(fake->live().surfaces, 0);
}

TEST_F(TextureOnFake, closed_resources_are_refused) {
    OpaqueArray array = image(ArrayFormat::Float32);
    array.close();
    expect_error<ClosedError>([&] { (void)ResourceDescriptor::from_opaque_array(array); },
                              {"OpaqueArray"});
    MipmappedArray levels =
        Device(0).create_mipmapped_array({.array = {.extent = {.width = 8, .height = 8}}});
    levels.close();
    expect_error<ClosedError>([&] { (void)ResourceDescriptor::from_mipmapped_array(levels); },
                              {"MipmappedArray"});
    Buffer memory = buffer(256);
    memory.close();
    expect_error<ClosedError>([&] { (void)ResourceDescriptor::from_linear(memory, {}); },
                              {"Buffer"});
}

TEST_F(TextureOnFake, options_that_do_not_fit_the_resource_are_refused) {
    const OpaqueArray bytes = image(ArrayFormat::UInt8);
    const OpaqueArray words = image(ArrayFormat::Int32);
    const OpaqueArray shorts = image(ArrayFormat::UInt16);
    const OpaqueArray floats = image(ArrayFormat::Float32);
    expect_refused(bytes, {.filter_mode = FilterMode::Linear},
                   {"filter_mode is linear", "uint8", "normalized_float"});
    expect_refused(words,
                   {.filter_mode = FilterMode::Linear, .read_mode = ReadMode::NormalizedFloat},
                   {"filter_mode is linear", "int32", "another format"});
    expect_refused(floats, {.seamless_cubemap = true}, {"seamless_cubemap", "no cubemap"});
    expect_refused(shorts, {.srgb = true}, {"srgb", "uint16", "8 bits"});
    expect_refused(floats, {.mipmap_level_bias = std::numeric_limits<float>::quiet_NaN()},
                   {"mipmap_level_bias is", "finite"});
    expect_refused(floats, {.address_mode = {static_cast<AddressMode>(9)}},
                   {"address_mode is 9", "AddressMode"});
    expect_refused(floats, {.filter_mode = static_cast<FilterMode>(9)}, {"filter_mode"});
    const MipmappedArray levels =
        Device(0).create_mipmapped_array({.array = {.extent = {.width = 8, .height = 8}}});
    expect_error<std::invalid_argument>(
        [&] { (void)TextureObject::create(ResourceDescriptor::from_mipmapped_array(levels)); },
        {"normalized_coords is not set", "mipmapped"});
    const Buffer memory = buffer(256);
    expect_error<std::invalid_argument>(
        [&] {
            (void)TextureObject::create(ResourceDescriptor::from_linear(memory, {}),
                                        {.view = ResourceView{}});
        },
        {"view is set", "buffer"});
    EXPECT_EQ(fake->count("cuTexObjectCreate"), 0);
    (void)texture(bytes,
                  {.filter_mode = FilterMode::Linear, .read_mode = ReadMode::NormalizedFloat});
    (void)TextureObject::create(
        ResourceDescriptor::from_linear(memory, {.format = ArrayFormat::UInt32}),
        {.filter_mode = FilterMode::Linear}); // the driver ignores it
    EXPECT_EQ(fake->count("cuTexObjectCreate"), 2);
}

TEST_F(TextureOnFake, linear_memory_is_described_in_elements) {
    const Buffer memory = buffer(4096);
    const ResourceDescriptor whole =
        ResourceDescriptor::from_linear(memory, {.format = ArrayFormat::UInt16, .num_channels = 2});
    EXPECT_EQ(whole.kind(), ResourceKind::Linear);
    EXPECT_EQ(whole.size_bytes(), 4096U);
    EXPECT_EQ(to_string(whole), "<ResourceDescriptor linear 1024 of uint16 channels=2>");
    const ResourceDescriptor part = ResourceDescriptor::from_linear(memory, {.size_bytes = 256});
    (void)TextureObject::create(part);
    const auto& linear = fake->last_texture.resource.res.linear;
    EXPECT_EQ(fake->last_texture.resource.resType, CU_RESOURCE_TYPE_LINEAR);
    EXPECT_EQ(linear.devPtr, memory.handle());
    EXPECT_EQ(linear.sizeInBytes, 256U);
    EXPECT_EQ(linear.format, CU_AD_FORMAT_FLOAT);
    EXPECT_EQ(linear.numChannels, 1U);
    const auto refused = [&](const LinearElements& elements,
                             std::initializer_list<std::string_view> parts) {
        expect_error<std::invalid_argument>(
            [&] { (void)ResourceDescriptor::from_linear(memory, elements); }, parts);
    };
    refused({.size_bytes = 5000}, {"size_bytes is 5000", "exceeds buffer.size, 4096"});
    refused({.size_bytes = 0}, {"size_bytes is 0", "at least one element of 4 bytes"});
    refused({.size_bytes = 10}, {"size_bytes is 10", "multiple of element size"});
    refused({.num_channels = 3}, {"num_channels is 3", "1, 2 or 4"});
    refused({.format = ArrayFormat::BC1Unorm}, {"format is bc1_unorm", "only arrays"});
}

TEST_F(TextureOnFake, pitched_memory_is_described_in_rows) {
    const Buffer memory = buffer(4096);
    const ResourceDescriptor rows =
        ResourceDescriptor::from_pitch2d(memory, {.format = ArrayFormat::UInt8,
                                                  .num_channels = 4,
                                                  .width = 30,
                                                  .height = 16,
                                                  .pitch_bytes = 128});
    EXPECT_EQ(rows.kind(), ResourceKind::Pitch2D);
    EXPECT_EQ(rows.size_bytes(), 0U);
    EXPECT_EQ(to_string(rows),
              "<ResourceDescriptor pitch2d 30 x 16 of uint8 channels=4 pitch=128>");
    (void)TextureObject::create(rows);
    const auto& pitched = fake->last_texture.resource.res.pitch2D;
    EXPECT_EQ(fake->last_texture.resource.resType, CU_RESOURCE_TYPE_PITCH2D);
    EXPECT_EQ(pitched.width, 30U);
    EXPECT_EQ(pitched.height, 16U);
    EXPECT_EQ(pitched.pitchInBytes, 128U);
    const auto refused = [&](const PitchedRows& wrong,
                             std::initializer_list<std::string_view> parts) {
        expect_error<std::invalid_argument>(
            [&] { (void)ResourceDescriptor::from_pitch2d(memory, wrong); }, parts);
    };
    refused({.width = 0, .height = 1, .pitch_bytes = 64}, {"width is 0"});
    refused({.width = 1, .height = 0, .pitch_bytes = 64}, {"height is 0"});
    refused({.width = 16, .height = 1, .pitch_bytes = 32},
            {"pitch_bytes is 32", "16 elements of 4 bytes"});
    refused({.width = std::numeric_limits<std::size_t>::max() / 2, .height = 1, .pitch_bytes = 32},
            {"pitch_bytes is 32"});
    refused({.width = 16, .height = 100, .pitch_bytes = 64},
            {"64 times 100", "exceeds buffer.size, 4096"});
}

TEST_F(TextureOnFake, misaligned_memory_names_the_alignment) {
    fake->device_attributes = {{CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, 512},
                               {CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT, 32},
                               {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH, 8},
                               {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH, 4}};
    const Buffer memory = buffer(4096).slice(4, 1024);
    expect_error<std::invalid_argument>(
        [&] { (void)TextureObject::create(ResourceDescriptor::from_linear(memory, {})); },
        {"the buffer's address is", "multiple of 512", "texture_alignment of device 0"});
    const Buffer aligned = Buffer::from_handle(0x10000, 4096);
    const auto with_failure = [&](const ResourceDescriptor& resource,
                                  std::initializer_list<std::string_view> parts) {
        fake->fail("cuTexObjectCreate", CUDA_ERROR_INVALID_VALUE);
        expect_error<std::invalid_argument>(
            [&] { (void)Device(0).create_texture_object(resource, {}); }, parts);
    };
    with_failure(
        ResourceDescriptor::from_pitch2d(aligned, {.width = 8, .height = 2, .pitch_bytes = 36}),
        {"pitch_bytes is 36", "multiple of 32", "texture_pitch_alignment"});
    with_failure(
        ResourceDescriptor::from_pitch2d(aligned, {.width = 9, .height = 2, .pitch_bytes = 64}),
        {"width is 9", "at most 8", "maximum_texture2d_linear_width"});
    with_failure(ResourceDescriptor::from_linear(aligned, {.size_bytes = 32}),
                 {"the number of elements is 8", "at most 4", "maximum_texture1d_linear_width"});
}

TEST_F(TextureOnFake, a_view_selects_levels_layers_and_a_format) {
    const MipmappedArray levels = Device(0).create_mipmapped_array(
        {.array = {.extent = {.width = 32, .height = 16}, .num_layers = 6}, .num_levels = 4});
    const ResourceDescriptor resource = ResourceDescriptor::from_mipmapped_array(levels);
    (void)TextureObject::create(
        resource,
        {.normalized_coords = true, .view = ResourceView{.first_level = 1, .last_layer = 3}});
    EXPECT_TRUE(fake->last_texture.has_view);
    const CUDA_RESOURCE_VIEW_DESC& view = fake->last_texture.view;
    EXPECT_EQ(view.format, CU_RES_VIEW_FORMAT_FLOAT_1X32);
    EXPECT_EQ(view.width, 32U);
    EXPECT_EQ(view.height, 16U);
    EXPECT_EQ(view.depth, 6U);
    EXPECT_EQ(view.firstMipmapLevel, 1U);
    EXPECT_EQ(view.lastMipmapLevel, 3U);
    EXPECT_EQ(view.firstLayer, 0U);
    EXPECT_EQ(view.lastLayer, 3U);
    const OpaqueArray blocks = image(ArrayFormat::UInt32, 2);
    (void)texture(blocks, {.filter_mode = FilterMode::Linear,
                           .view = ResourceView{.format = ResourceViewFormat::UnsignedBC1}});
    EXPECT_EQ(view.width, 128U);
    EXPECT_EQ(view.height, 64U);
    EXPECT_EQ(view.lastLayer, 0U);
}

TEST_F(TextureOnFake, every_plain_format_has_a_view_of_its_own) {
    constexpr std::array<std::pair<ArrayFormat, CUresourceViewFormat>, 8> formats{{
        {ArrayFormat::UInt8, CU_RES_VIEW_FORMAT_UINT_1X8},
        {ArrayFormat::UInt16, CU_RES_VIEW_FORMAT_UINT_1X16},
        {ArrayFormat::UInt32, CU_RES_VIEW_FORMAT_UINT_1X32},
        {ArrayFormat::Int8, CU_RES_VIEW_FORMAT_SINT_1X8},
        {ArrayFormat::Int16, CU_RES_VIEW_FORMAT_SINT_1X16},
        {ArrayFormat::Int32, CU_RES_VIEW_FORMAT_SINT_1X32},
        {ArrayFormat::Float16, CU_RES_VIEW_FORMAT_FLOAT_1X16},
        {ArrayFormat::Float32, CU_RES_VIEW_FORMAT_FLOAT_1X32},
    }};
    for (const auto& [format, expected] : formats) {
        for (unsigned nth = 0; nth < 3; ++nth) {
            (void)texture(image(format, 1U << nth), {.view = ResourceView{}});
            EXPECT_EQ(static_cast<unsigned>(fake->last_texture.view.format),
                      static_cast<unsigned>(expected) + nth);
        }
    }
}

TEST_F(TextureOnFake, views_outside_the_array_are_refused) {
    const OpaqueArray array = image(ArrayFormat::Float32);
    expect_refused(array, {.view = ResourceView{.first_level = 1}},
                   {"levels 1 to 0", "1 level, counted from 0"});
    expect_refused(array, {.view = ResourceView{.last_layer = 1}}, {"layers 0 to 1", "1 layer"});
    expect_refused(array, {.view = ResourceView{.format = static_cast<ResourceViewFormat>(0x77)}},
                   {"view.format is 119"});
    expect_refused(image(ArrayFormat::BC1Unorm, 4),
                   {.view = ResourceView{.format = ResourceViewFormat::UnsignedBC1}},
                   {"bc1_unorm", "compressed"});
    expect_refused(image(ArrayFormat::UnormInt8x4, 4), {.view = ResourceView{}},
                   {"view.format is none", "unorm_int8x4"});
}

TEST_F(TextureOnFake, surfaces_need_an_array_that_allows_them) {
    const OpaqueArray plain = image(ArrayFormat::UInt8);
    expect_error<std::invalid_argument>([&] { (void)SurfaceObject::create(plain); },
                                        {"is_surface_load_store=True"});
    const Buffer memory = buffer(256);
    expect_error<std::invalid_argument>(
        [&] { (void)SurfaceObject::create(ResourceDescriptor::from_linear(memory, {})); },
        {"linear", "array-backed"});
    OpaqueArray array = image(ArrayFormat::UInt8, 4, true);
    const ResourceDescriptor resource = ResourceDescriptor::from_opaque_array(array);
    SurfaceObject surface = SurfaceObject::create(resource);
    array.close();
    EXPECT_EQ(fake->live().arrays, 2);
    EXPECT_EQ(surface.resource(), resource);
    EXPECT_EQ(surface.device(), Device(0));
    EXPECT_EQ(fake->surfaces.count(surface.handle()), 1U);
    const SurfaceObject other = surface;
    EXPECT_EQ(std::hash<SurfaceObject>()(other), std::hash<SurfaceObject>()(surface));
    EXPECT_EQ(to_string(surface).rfind("<SurfaceObject handle=0x", 0), 0U);
    surface.close();
    EXPECT_FALSE(surface == other);
    EXPECT_EQ(to_string(surface), "<SurfaceObject closed>");
    expect_error<ClosedError>([&] { (void)surface.handle(); }, {"SurfaceObject"});
}

TEST_F(TextureOnFake, a_resource_of_another_device_is_refused) {
    const OpaqueArray array = image(ArrayFormat::Float32, 1, true);
    const ResourceDescriptor resource = ResourceDescriptor::from_opaque_array(array);
    expect_error<std::invalid_argument>(
        [&] { (void)Device(1).create_texture_object(resource, {}); }, {"device 0", "device 1"});
    expect_error<std::invalid_argument>([&] { (void)Device(1).create_surface_object(resource); },
                                        {"device 0", "device 1"});
    const Buffer memory = buffer(256);
    expect_error<std::invalid_argument>(
        [&] {
            (void)Device(1).create_texture_object(ResourceDescriptor::from_linear(memory, {}), {});
        },
        {"device 0", "device 1"});
}

TEST_F(TextureOnFake, a_reset_of_the_device_destroys_textures_and_surfaces) {
    const OpaqueArray array = image(ArrayFormat::Float32, 1, true);
    const TextureObject first = texture(array);
    const SurfaceObject second = SurfaceObject::create(array);
    Device(0).reset_primary_context();
    expect_error<ClosedError>([&] { (void)first.handle(); }, {"TextureObject", "reset"});
    expect_error<ClosedError>([&] { (void)second.handle(); }, {"SurfaceObject", "reset"});
    fake->textures.clear(); // the driver destroys them with the context
    fake->surfaces.clear();
    fake->arrays.clear();
}

TEST(TextureFailures, nothing_leaks_if_any_driver_call_fails) {
    testing::check_every_failure([](testing::FakeDriver&) {
        const Stream stream = Device(0).create_stream();
        const OpaqueArray array = Device(0).create_opaque_array(
            {.extent = {.width = 32, .height = 16}, .is_surface_load_store = true});
        const ResourceDescriptor resource = ResourceDescriptor::from_opaque_array(array);
        const TextureObject texture = TextureObject::create(resource);
        const SurfaceObject surface = Device(0).create_surface_object(resource);
        const Buffer memory = Device(0).allocate(4096, stream);
        (void)Device(0).create_texture_object(ResourceDescriptor::from_linear(memory, {}), {});
        (void)texture.handle();
    });
}

} // namespace cuprum
