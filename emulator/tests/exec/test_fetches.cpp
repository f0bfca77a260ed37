// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Fetches that have vector code (interp/handlers/texture.cpp). Each kernel fetches every point
// twice: with and without an offset of zero. An offset takes the way of interp/texture.cpp, which
// compare/textures.py compares with a GPU. Both must give the same bits, in lockstep and not.

#include "exec/image_test.hpp"
#include "support/operation.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace cuprum::emulator {

namespace {

using test::Launch;
using test::Shape;
using test::TestDevice;
using test::TestImage;

constexpr std::uint32_t POINTS = 512;

/// Which texels and points a test takes.
enum class Numbers : std::uint8_t { Plain, Unusual };

/// The bits of floats of all kinds, most of them of similar size.
std::uint32_t float_bits(std::mt19937& random, Numbers numbers) {
    const auto plain = std::bit_cast<std::uint32_t>(static_cast<float>(random() % 4096) / 512 - 4);
    if (numbers == Numbers::Plain) {
        return plain;
    }
    switch (random() % 8) {
    case 0:
        return 0;
    case 1:
        return static_cast<std::uint32_t>(random()); // of any size, perhaps not a number
    case 2:
        return static_cast<std::uint32_t>(random()) & 0x81ffffffu; // tiny or subnormal
    case 3:
        return random() % 64 == 0 ? 0x7f800000u : plain ^ 0x80000000u;
    default:
        return plain;
    }
}

TestImage make_image(std::mt19937& random, ImageShape shape, std::uint32_t width,
                     std::uint32_t height, TexelFormat format, std::uint8_t channels,
                     Numbers numbers) {
    const bool has_bytes = format == TexelFormat::U8;
    TestImage result;
    Image& image = result.image;
    image.shape = shape;
    image.format = format;
    image.channels = channels;
    image.texel_bytes = static_cast<std::uint8_t>(channels * (has_bytes ? 1 : 4));
    const std::uint32_t pitch = (width * image.texel_bytes + 31) / 32 * 32;
    result.texels = std::make_shared<std::vector<std::byte>>(std::size_t{pitch} * height);
    for (std::size_t i = 0; i + 4 <= result.texels->size(); i += 4) {
        const std::uint32_t bits =
            has_bytes ? static_cast<std::uint32_t>(random()) : float_bits(random, numbers);
        std::memcpy(result.texels->data() + i, &bits, sizeof bits);
    }
    image.levels[0] = {.data = result.texels->data(),
                       .width = width,
                       .height = height,
                       .pitch_bytes = pitch,
                       .slice_bytes = result.texels->size()};
    image.owner = result.texels;
    return result;
}

/// Returns coordinates of two axes for all points.
std::vector<float> make_points(std::mt19937& random, const Image& image, bool is_normalized,
                               Numbers numbers) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    constexpr float specials[] = {0,    -0.0f, 1e-40f,   infinity, -infinity, NAN,  511.99f, 600,
                                  -513, 1e20f, 0x1p-22f, -3e-7f,   -1e-30f,   1e9f, -1e20f};
    const auto width = static_cast<float>(image.levels[0].width);
    const auto height = static_cast<float>(image.levels[0].height);
    std::vector<float> points(2 * std::size_t{POINTS});
    const auto fraction = [&] { return static_cast<float>(random() % 4096) / 4096; };
    // Points of one row come first: neighbours, with a common fraction.
    const float right = fraction();
    const float down = fraction();
    for (std::uint32_t i = 0; i < POINTS; ++i) {
        float x = static_cast<float>(i % 64) + right;
        float y = static_cast<float>(i / 64 % 8) + down;
        if (i >= POINTS / 4 * 3) { // edges and centres of texels, also outside
            const auto sizes = static_cast<unsigned>(2 * width) + 9;
            x = static_cast<float>(random() % sizes) / 2 - 2;
            y = static_cast<float>(random() % (static_cast<unsigned>(2 * height) + 9)) / 2 - 2;
        } else if (i >= POINTS / 2) {
            x = (fraction() * 3 - 1) * width;
            y = (fraction() * 3 - 1) * height;
        }
        points[i] = is_normalized ? x / width : x;
        points[POINTS + i] = is_normalized ? y / height : y;
    }
    for (std::uint32_t i = 0; numbers == Numbers::Unusual && i < POINTS / 16; ++i) {
        points[random() % points.size()] = specials[random() % std::size(specials)];
    }
    return points;
}

/// A kernel that writes the results of both ways. `fetch` is the text of the fetch, in which $ is
/// the place of the offset, and # the number of the way.
std::string kernel_of(const std::string& fetch) {
    const auto with = [&](const std::string& offset, int way) {
        std::string text = fetch;
        text.replace(text.find('$'), 1, offset);
        for (char& each : text) {
            each = each == '#' ? static_cast<char>('0' + way) : each;
        }
        return text;
    };
    std::string text = R"(
.visible .entry k(.param .u64 ph, .param .u64 pin, .param .u64 pout) {
.reg .b64 %h, %in, %out, %d; .reg .f32 %f<4>, %x, %y; .reg .b32 %t, %i, %w, %b; .reg .pred %p;
ld.param.u64 %h, [ph]; ld.param.u64 %in, [pin]; ld.param.u64 %out, [pout];
mov.u32 %w, %ntid.x; mov.u32 %b, %tid.y; mov.u32 %t, %tid.x; mad.lo.u32 %t, %b, %w, %t;
mov.u32 %b, %ctaid.x; mad.lo.u32 %i, %b, 256, %t; mul.wide.u32 %d, %i, 4;
add.u64 %in, %in, %d; add.u64 %out, %out, %d;
)";
    for (int way = 0; way < 2; ++way) {
        text += "ld.global.f32 %x, [%in]; ld.global.f32 %y, [%in+" + std::to_string(4 * POINTS) +
                "]; mov.b32 %f0, 77; mov.b32 %f1, 78; mov.b32 %f2, 79; mov.b32 %f3, 80;\n" +
                with(way == 0                                 ? ""
                     : fetch.find(".1d") == std::string::npos ? ", {0, 0}"
                                                              : ", {0}",
                     way);
        const char* const results[] = {"%f0", "%f1", "%f2", "%f3", "%x", "%y"};
        for (int k = 0; k < 6; ++k) {
            text += "st.global.b32 [%out+" + std::to_string(4 * POINTS * (6 * way + k)) + "], " +
                    results[k] + ";\n";
        }
    }
    return text + "ret;\n}\n";
}

class Fetches : public test::OnEveryLevel {
protected:
    void SetUp() override {
        OnEveryLevel::SetUp();
        exec::Engine::instance().configure({.worker_count = 1});
    }

    /// Runs a kernel in blocks of several shapes and compares both ways.
    void expect_same(const TestImage& image, const std::vector<float>& points,
                     const std::string& fetch) {
        TestDevice device;
        auto* const in = device.allocate<float>(points.size());
        auto* const out = device.allocate<std::uint32_t>(std::size_t{12} * POINTS);
        std::copy(points.begin(), points.end(), in);
        const auto kernel = device.compile(test::ptx_module(kernel_of(fetch)));
        ASSERT_TRUE(kernel) << device.log;
        const bool has_lockstep =
            std::string(GetParam()) == "v3" || std::string(GetParam()) == "v4";
        EXPECT_EQ(kernel->lockstep.size(), has_lockstep ? kernel->code.size() : 0);
        const auto handle = ImageTable::instance().insert(ImageUse::Texture, image.image);
        for (const Shape& shape :
             {Shape{.grid = 2, .block = 256}, Shape{.grid = 2, .block = 16, .block_y = 16}}) {
            std::fill_n(out, 12 * POINTS, 0xaaaaaaaau);
            const Fault fault = Launch(device, kernel, shape, handle, in, out).wait();
            ASSERT_EQ(fault.kind, FaultKind::None) << fault.report;
            for (std::uint32_t i = 0; i < 6 * POINTS; ++i) {
                ASSERT_EQ(out[i], out[6 * POINTS + i])
                    << "result " << i / POINTS << " of point " << i % POINTS << " ("
                    << points[i % POINTS] << ", " << points[POINTS + i % POINTS] << ")";
            }
        }
        ImageTable::instance().erase(handle);
    }
};

INSTANTIATE_TEST_SUITE_P(Levels, Fetches, test::LEVELS,
                         [](const auto& each) { return std::string(each.param); });

constexpr const char* FETCH_PLANE = "tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%h, {%x, %y}]$;\n";

/// All filters and kinds of coordinates with address modes alone and in pairs.
std::vector<Sampler> samplers() {
    std::vector<Sampler> all;
    for (const AddressMode mode :
         {AddressMode::Clamp, AddressMode::Wrap, AddressMode::Mirror, AddressMode::Border}) {
        for (const ImageFilter filter : {ImageFilter::Point, ImageFilter::Linear}) {
            for (const bool is_normalized : {false, true}) {
                Sampler sampler;
                sampler.modes = {mode, AddressMode::Clamp, mode};
                sampler.filter = filter;
                sampler.is_normalized = is_normalized;
                sampler.border = {0.3f, -1.5f, 0x1p-130f, 7e4f};
                all.push_back(sampler);
                sampler.modes = {mode, mode, mode};
                all.push_back(sampler);
                sampler.modes = {AddressMode::Mirror, mode, AddressMode::Wrap};
                all.push_back(sampler);
            }
        }
    }
    return all;
}

} // namespace

TEST_P(Fetches, floats_in_planes) {
    std::mt19937 random(1);
    for (const Sampler& sampler : samplers()) {
        for (const std::uint8_t channels : {1, 2, 4}) {
            for (const Numbers numbers : {Numbers::Plain, Numbers::Unusual}) {
                TestImage image = make_image(random, ImageShape::Plane, 70, 11, TexelFormat::F32,
                                             channels, numbers);
                image.image.sampler = sampler;
                expect_same(image, make_points(random, image.image, sampler.is_normalized, numbers),
                            FETCH_PLANE);
            }
        }
    }
}

TEST_P(Fetches, bytes_in_planes) {
    std::mt19937 random(2);
    for (Sampler sampler : samplers()) {
        for (const std::uint8_t channels : {1, 2, 4}) {
            for (const bool reads_integers : {false, true}) {
                TestImage image = make_image(random, ImageShape::Plane, 67, 9, TexelFormat::U8,
                                             channels, Numbers::Plain);
                sampler.reads_integers = reads_integers;
                image.image.sampler = sampler;
                expect_same(
                    image,
                    make_points(random, image.image, sampler.is_normalized, Numbers::Unusual),
                    FETCH_PLANE);
            }
        }
    }
}

TEST_P(Fetches, lines) {
    std::mt19937 random(3);
    for (const Sampler& sampler : samplers()) {
        for (const TexelFormat format : {TexelFormat::F32, TexelFormat::U8}) {
            for (const std::uint32_t width : {1u, 2u, 3u, 5u, 64u, 1000u}) {
                TestImage image =
                    make_image(random, ImageShape::Line, width, 1, format, 1, Numbers::Unusual);
                image.image.sampler = sampler;
                expect_same(
                    image,
                    make_points(random, image.image, sampler.is_normalized, Numbers::Unusual),
                    "tex.1d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%h, {%x}]$;\n");
            }
        }
    }
}

TEST_P(Fetches, sizes_up_to_the_largest) {
    std::mt19937 random(4);
    for (const std::uint32_t width : {2u, 3u, 255u, 4097u, 32766u, 32767u, 32768u, 32769u}) {
        for (const Sampler& sampler : samplers()) {
            TestImage image = make_image(random, ImageShape::Plane, width, 3, TexelFormat::F32, 1,
                                         Numbers::Plain);
            image.image.sampler = sampler;
            expect_same(image,
                        make_points(random, image.image, sampler.is_normalized, Numbers::Plain),
                        FETCH_PLANE);
        }
    }
}

TEST_P(Fetches, numbers_near_the_ends_of_the_range) {
    // Exponents where sums lose bits, overflow, or become subnormal.
    std::mt19937 random(5);
    Sampler sampler;
    sampler.filter = ImageFilter::Linear;
    for (const std::uint32_t exponent :
         {0u, 1u, 4u, 5u, 20u, 26u, 33u, 35u, 36u, 127u, 250u, 254u}) {
        for (const std::uint32_t spread : {1u, 4u, 5u, 30u}) {
            TestImage image =
                make_image(random, ImageShape::Plane, 70, 11, TexelFormat::F32, 1, Numbers::Plain);
            auto* const texels = reinterpret_cast<std::uint32_t*>(image.texels->data());
            for (std::size_t i = 0; i < image.texels->size() / 4; ++i) {
                const auto bits = static_cast<std::uint32_t>(random());
                const std::uint32_t chosen = std::min(exponent + bits % spread, 254u);
                texels[i] =
                    random() % 9 == 0 ? bits & 0x80000000u : (bits & 0x807fffffu) | chosen << 23;
            }
            image.image.sampler = sampler;
            expect_same(image, make_points(random, image.image, false, Numbers::Plain),
                        FETCH_PLANE);
        }
    }
}

TEST_P(Fetches, registers_that_hold_coordinates_and_results) {
    // Some lanes cannot be fetched with vectors: their coordinates must survive the others.
    std::mt19937 random(6);
    for (const Sampler& sampler : samplers()) {
        TestImage image =
            make_image(random, ImageShape::Plane, 70, 11, TexelFormat::F32, 2, Numbers::Unusual);
        image.image.sampler = sampler;
        const std::vector<float> points =
            make_points(random, image.image, sampler.is_normalized, Numbers::Unusual);
        expect_same(image, points, "tex.2d.v4.f32.f32 {%x, %y, %f2, %f3}, [%h, {%x, %y}]$;\n");
        expect_same(image, points, "tex.2d.v4.f32.f32 {%y, %f1, %x, %f3}, [%h, {%x, %y}]$;\n");
    }
}

TEST_P(Fetches, some_lanes_and_one_coordinate_for_all) {
    std::mt19937 random(7);
    for (const Sampler& sampler : samplers()) {
        TestImage image =
            make_image(random, ImageShape::Plane, 70, 11, TexelFormat::F32, 1, Numbers::Unusual);
        image.image.sampler = sampler;
        const std::vector<float> points =
            make_points(random, image.image, sampler.is_normalized, Numbers::Unusual);
        expect_same(image, points,
                    "and.b32 %b, %t, 5; setp.ne.u32 %p, %b, 4;\n"
                    "@%p tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%h, {%x, %y}]$;\n");
        expect_same(image, points,
                    "tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%h, {%x, 0f3F000000}]$;\n");
        expect_same(image, points,
                    "setp.gt.u32 %p, %t, 70; @%p bra AFTER_#;\n"
                    "tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%h, {%x, %y}]$;\n"
                    "AFTER_#:\n");
    }
}

TEST_P(Fetches, results_that_nobody_reads) {
    TestDevice device;
    std::mt19937 random(8);
    TestImage image =
        make_image(random, ImageShape::Plane, 70, 11, TexelFormat::F32, 4, Numbers::Plain);
    const auto handle = ImageTable::instance().insert(ImageUse::Texture, image.image);
    auto* const out = device.allocate<float>(POINTS);
    const auto* const texels = reinterpret_cast<const float*>(image.texels->data());
    for (const std::string offset : {"", ", {0, 0}"}) {
        const Fault fault =
            test::run(device,
                      ".visible .entry k(.param .u64 ph, .param .u64 pout) {\n"
                      ".reg .b64 %h, %out, %d; .reg .f32 %f<5>; .reg .b32 %t;\n"
                      "ld.param.u64 %h, [ph]; ld.param.u64 %out, [pout]; mov.u32 %t, %tid.x;\n"
                      "cvt.rn.f32.u32 %f4, %t; mul.wide.u32 %d, %t, 4; add.u64 %out, %out, %d;\n"
                      "tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%h, {%f4, %f4}]" +
                          offset + ";\nst.global.f32 [%out], %f2;\nret;\n}\n",
                      {.block = 64}, handle, out);
        ASSERT_EQ(fault.kind, FaultKind::None) << fault.report;
        const std::size_t row = image.image.levels[0].pitch_bytes / sizeof(float);
        for (std::size_t i = 0; i < 11; ++i) {
            EXPECT_EQ(out[i], texels[i * row + 4 * i + 2]);
        }
    }
    ImageTable::instance().erase(handle);
}

TEST_P(Fetches, a_destroyed_texture_is_reported_in_blocks_of_many_warps) {
    TestDevice device;
    std::mt19937 random(9);
    TestImage image =
        make_image(random, ImageShape::Plane, 8, 8, TexelFormat::F32, 1, Numbers::Plain);
    const auto handle = ImageTable::instance().insert(ImageUse::Texture, image.image);
    ImageTable::instance().erase(handle);
    auto* const in = device.allocate<float>(2 * std::size_t{POINTS});
    auto* const out = device.allocate<std::uint32_t>(std::size_t{12} * POINTS);
    const Fault fault =
        test::run(device, kernel_of(FETCH_PLANE), {.grid = 2, .block = 256}, handle, in, out);
    EXPECT_EQ(fault.kind, FaultKind::IllegalAddress);
    EXPECT_NE(fault.report.find("belongs to a texture object that was destroyed"),
              std::string::npos)
        << fault.report;
}

} // namespace cuprum::emulator
