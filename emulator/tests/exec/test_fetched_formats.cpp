// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Fetches of all formats with vectors (interp/handlers/texture.cpp) give the bits of fetches thread
// by thread (interp/sampling.cpp), which tests/compare/ compares with a GPU.

#include "exec/harness.hpp"
#include "interp/sampling.hpp"
#include "support/operation.hpp"

#include <cmath>
#include <limits>
#include <random>

namespace cuprum::emulator {

namespace {

using Word = std::uint32_t;

/// The texels of an image.
enum class Content : std::uint8_t {
    Picture, // numbers from 0 to 1
    Signed,  // numbers of both signs and very different magnitudes, and zeros
    Any,     // any bits
};

/// A texture and how it is read.
struct Case {
    TexelFormat format = TexelFormat::F32;
    unsigned channels = 1;
    ImageFilter filter = ImageFilter::Point;
    AddressMode mode = AddressMode::Clamp;
    bool is_normalized = false;
    bool reads_integers = false;
    Geometry geometry = Geometry::Plane;
    bool is_list = false;    // linear memory, read by index
    bool has_levels = false; // mipmapped, read at a level
    ImageFilter level_filter = ImageFilter::Point;
    Content content = Content::Picture;
};

constexpr Word THREADS = 4 * 96; // of two blocks

unsigned channel_bytes(TexelFormat format) {
    switch (format) {
    case TexelFormat::U8:
    case TexelFormat::S8:
    case TexelFormat::Unorm8:
        return 1;
    case TexelFormat::U32:
    case TexelFormat::S32:
    case TexelFormat::F32:
        return 4;
    default:
        return 2;
    }
}

Word channel_bits(const Case& each, std::mt19937& random) {
    const auto uniform = [&] { return static_cast<float>(random() >> 8) * 0x1p-24f; };
    if (each.content == Content::Any) {
        return static_cast<Word>(random());
    }
    float value = uniform() * uniform();
    if (each.content == Content::Signed) {
        const int exponent = static_cast<int>(random() % 24) - 16;
        value = std::ldexp(value, exponent) * (random() % 2 == 0 ? 1.0f : -1.0f);
        value = random() % 8 == 0 ? 0.0f : value;
    }
    switch (each.format) {
    case TexelFormat::F32:
        // Few bits make halfway cases likely.
        return std::bit_cast<Word>(value) & (random() % 2 == 0 ? ~Word{0} : 0xfffff000u);
    case TexelFormat::F16:
        return single_to_half(std::bit_cast<Word>(value));
    default:
        return static_cast<Word>(static_cast<std::int64_t>(value * 65535));
    }
}

/// Returns the image of a case; its texels are in `texels`.
Image image_of(const Case& each, std::vector<std::byte>& texels, std::mt19937& random) {
    const unsigned bytes = channel_bytes(each.format);
    Image image;
    image.format = each.format;
    image.channels = static_cast<std::uint8_t>(each.channels);
    image.texel_bytes = static_cast<std::uint8_t>(bytes * each.channels);
    const Word width = each.is_list ? 997 : 131;
    const Word height = each.geometry == Geometry::Line ? 1 : 7;
    const bool is_volume = each.geometry == Geometry::Volume;
    const Word slices = is_volume ? 5 : each.geometry == Geometry::PlaneLayers ? 3 : 1;
    // Rows of pitched memory may have a gap.
    const Word pitch = width * image.texel_bytes + (height > 1 ? 2 * image.texel_bytes : 0);
    texels.resize(std::size_t{pitch} * height * slices * (each.has_levels ? 2 : 1));
    for (std::size_t i = 0; i + bytes <= texels.size(); i += bytes) {
        const Word value = channel_bits(each, random);
        std::memcpy(texels.data() + i, &value, bytes);
    }
    image.shape = each.geometry == Geometry::Line    ? ImageShape::Line
                  : each.geometry == Geometry::Plane ? ImageShape::Plane
                  : is_volume                        ? ImageShape::Volume
                                                     : ImageShape::PlaneLayers;
    image.layers = is_volume ? 1 : slices;
    image.source = each.is_list ? ImageSource::Linear : ImageSource::Array;
    image.levels[0] = {.data = texels.data(),
                       .width = width,
                       .height = height,
                       .depth = is_volume ? slices : 1,
                       .pitch_bytes = pitch,
                       .slice_bytes = texels.size() / slices};
    if (each.has_levels) {
        image.source = ImageSource::MipmappedArray;
        image.levels[0].slice_bytes /= 2;
        for (image.level_count = 1; image.level_count < 3; ++image.level_count) {
            const ImageLevel& last = image.levels[image.level_count - 1];
            ImageLevel& next = image.levels[image.level_count];
            next = last;
            next.data += last.pitch_bytes * last.height;
            next.width = last.width / 2;
            next.height = last.height / 2;
        }
        image.sampler.level_filter = each.level_filter;
        image.sampler.level_bias = 0.25f;
        image.sampler.max_level = 7;
    }
    image.sampler.modes = {each.mode, each.mode, each.mode};
    image.sampler.filter = each.filter;
    image.sampler.reads_integers = each.reads_integers;
    image.sampler.is_normalized = each.is_normalized;
    for (float& number : image.sampler.border) {
        number = each.reads_integers
                     ? std::bit_cast<float>(static_cast<Word>(random()))
                     : static_cast<float>(static_cast<int>(random() % 4096) - 1024) / 2048;
    }
    return image;
}

/// Returns coordinates of an axis. Neighbours in one row, at centres of texels and beside them,
/// then points anywhere, and then what is not a place.
std::vector<Word> coordinates_of(const Case& each, const Image& image, unsigned axis,
                                 std::mt19937& random) {
    const ImageLevel& level = image.levels[0];
    const bool is_across = axis == 0;
    const auto size = static_cast<float>(is_across   ? level.width
                                         : axis == 1 ? level.height
                                                     : level.depth);
    constexpr std::array<float, 8> odd = {std::numeric_limits<float>::quiet_NaN(),
                                          std::numeric_limits<float>::infinity(),
                                          -std::numeric_limits<float>::infinity(),
                                          1e30f,
                                          -3e5f,
                                          1e-40f,
                                          -0.0f,
                                          600.25f};
    std::vector<Word> words(THREADS);
    for (Word i = 0; i < THREADS; ++i) {
        const Word warp = i / 32;
        const Word lane = i % 32;
        const auto grain = static_cast<float>(random() % 4096) / 4096;
        if (each.is_list) {
            words[i] = warp < 4 ? 30 * warp + lane : warp == 4 ? 980 + lane : random() % 1100 - 50;
            continue;
        }
        float value = 0;
        if (warp < 3) {
            value = is_across ? static_cast<float>(20 * warp + lane) + 0.5f : 2.5f;
        } else if (warp < 6) {
            value = is_across ? static_cast<float>(25 * warp + lane) + 0.71875f : 3.3f;
        } else if (warp < 8) {
            value = is_across ? static_cast<float>(3 * warp + lane) + grain : 1.75f;
        } else if (lane < 16) {
            value = (grain * 1.5f - 0.25f) * size;
        } else if (lane < 24) { // edges and centres of texels, also outside
            value = std::floor((grain * 1.5f - 0.25f) * size * 2) / 2;
        } else {
            value = odd[random() % odd.size()];
        }
        words[i] = std::bit_cast<Word>(each.is_normalized ? value / size : value);
    }
    return words;
}

/// Fetches with a kernel and compares with the way thread by thread.
void expect_same(const Case& each) {
    std::mt19937 random(static_cast<unsigned>(each.format) * 64 + each.channels);
    std::vector<std::byte> texels;
    const Image image = image_of(each, texels, random);
    const bool is_plane = each.geometry != Geometry::Line;
    const bool has_layers = each.geometry == Geometry::PlaneLayers;
    const bool is_volume = each.geometry == Geometry::Volume;
    const std::vector<Word> across = coordinates_of(each, image, 0, random);
    const std::vector<Word> down =
        is_plane ? coordinates_of(each, image, 1, random) : std::vector<Word>(THREADS);
    std::vector<Word> deep =
        is_volume ? coordinates_of(each, image, 2, random) : std::vector<Word>(THREADS);
    if (each.has_levels) { // most warps read one
        constexpr std::array levels = {0.0f, 0.75f, 1.75f, -3.0f, 9.0f, NAN, 0.5f, 1.3f};
        for (Word i = 0; i < THREADS; ++i) {
            const Word which = i / 32 % 4 == 3 ? random() % 8 : i / 32 + i / 320;
            deep[i] = std::bit_cast<Word>(levels[which % levels.size()]);
        }
    }
    test::TestDevice device;
    auto* const in = device.allocate<Word>(4 * THREADS);
    auto* const out = device.allocate<Word>(4 * THREADS);
    std::copy(across.begin(), across.end(), in);
    std::copy(down.begin(), down.end(), in + THREADS);
    std::copy(deep.begin(), deep.end(), in + 3 * THREADS);
    for (Word i = 0; i < THREADS; ++i) { // most warps read one layer; 3 is beyond the last
        in[2 * THREADS + i] = i / 32 % 4 == 3 ? i % 5 : i / 32 % 4 + i / 320;
    }
    const std::uint64_t handle = ImageTable::instance().insert(ImageUse::Texture, image);
    const std::string bytes = std::to_string(THREADS * sizeof(Word));
    const Fault fault = test::run(
        device,
        ".visible .entry k(.param .u64 ph, .param .u64 pin, .param .u64 pout) {\n"
        ".reg .b64 %h, %in, %out; .reg .b32 %t, %b, %n, %x, %y, %z, %l, %r<4>;\n"
        "ld.param.u64 %h, [ph]; ld.param.u64 %in, [pin]; ld.param.u64 %out, [pout];\n"
        "mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %n, %ntid.x;\n"
        "mad.lo.u32 %t, %b, %n, %t;\nmad.wide.u32 %in, %t, 4, %in;\n"
        "mad.wide.u32 %out, %t, 4, %out;\nld.global.b32 %x, [%in];\nld.global.b32 %y, [%in+" +
            bytes + "];\nld.global.b32 %l, [%in+" + std::to_string(2 * THREADS * sizeof(Word)) +
            "];\nld.global.b32 %z, [%in+" + std::to_string(3 * THREADS * sizeof(Word)) +
            "];\ntex." + (each.has_levels ? "level." : "") +
            (has_layers  ? "a2d"
             : is_volume ? "3d"
             : is_plane  ? "2d"
                         : "1d") +
            ".v4." + (each.reads_integers ? "u32" : "f32") + (each.is_list ? ".s32" : ".f32") +
            " {%r0, %r1, %r2, %r3}, [%h, " +
            (has_layers  ? "{%l, %x, %y, %y}"
             : is_volume ? "{%x, %y, %z, %z}"
             : is_plane  ? "{%x, %y}"
                         : "{%x}") +
            (each.has_levels ? "], %z" : "]") +
            ";\nst.global.b32 [%out], %r0; st.global.b32 [%out+" + bytes +
            "], %r1;\nst.global.b32 [%out+" + std::to_string(2 * THREADS * sizeof(Word)) +
            "], %r2; st.global.b32 [%out+" + std::to_string(3 * THREADS * sizeof(Word)) +
            "], %r3;\nret;\n}\n",
        {.grid = 2, .block = THREADS / 2}, handle, reinterpret_cast<std::uint64_t>(in),
        reinterpret_cast<std::uint64_t>(out));
    ImageTable::instance().erase(handle);
    ASSERT_EQ(fault.kind, FaultKind::None) << fault.report;
    SampleForm form;
    form.geometry = each.geometry;
    form.type = each.reads_integers ? SampleType::Word : SampleType::Float;
    form.has_whole_coordinates = each.is_list;
    form.level = each.has_levels ? LevelFrom::Operand : LevelFrom::Nowhere;
    const TextureSampler sampler(image, image.sampler, form);
    for (Word i = 0; i < THREADS; ++i) {
        SampleRequest request;
        request.coordinates = {std::bit_cast<float>(across[i]), std::bit_cast<float>(down[i]),
                               std::bit_cast<float>(deep[i])};
        request.level = std::bit_cast<float>(deep[i]);
        request.whole = {static_cast<std::int32_t>(across[i]), 0, 0};
        request.layer = in[2 * THREADS + i];
        const TexelBits expected = sampler.sample(request);
        for (unsigned channel = 0; channel < 4; ++channel) {
            ASSERT_EQ(out[channel * THREADS + i], expected[channel])
                << "thread " << i << ", channel " << channel << ", format "
                << static_cast<int>(each.format) << " x " << each.channels << ", linear "
                << (each.filter == ImageFilter::Linear) << ", content "
                << static_cast<int>(each.content) << ", mode " << static_cast<int>(each.mode)
                << ", normalized " << each.is_normalized << ", at " << request.coordinates[0]
                << ", " << request.coordinates[1];
        }
    }
}

constexpr std::array GEOMETRIES = {Geometry::Line, Geometry::Plane, Geometry::PlaneLayers,
                                   Geometry::Volume};

constexpr std::array FORMATS = {TexelFormat::U8,     TexelFormat::U16, TexelFormat::U32,
                                TexelFormat::S8,     TexelFormat::S16, TexelFormat::S32,
                                TexelFormat::F16,    TexelFormat::F32, TexelFormat::Unorm8,
                                TexelFormat::Unorm16};

/// Calls `body(case)` for each format, number of channels, read mode and content.
template <typename Body>
void for_each_format(Case base, Body body) {
    for (const TexelFormat format : FORMATS) {
        for (const unsigned channels : {1u, 2u, 4u}) {
            for (const bool reads_integers : {false, true}) {
                for (const Content content : {Content::Picture, Content::Signed, Content::Any}) {
                    base.format = format;
                    base.channels = channels;
                    base.reads_integers = reads_integers;
                    base.content = content;
                    body(base);
                }
            }
        }
    }
}

} // namespace

class FetchedFormats : public test::OnEveryLevel {};

/// Compares all formats with all address modes and kinds of coordinates.
void expect_same_in_all_modes(const Case& base) {
    for_each_format(base, [](Case each) {
        expect_same(each);
        each.mode = AddressMode::Border;
        expect_same(each);
        each.is_normalized = true;
        for (const AddressMode mode :
             {AddressMode::Clamp, AddressMode::Wrap, AddressMode::Mirror, AddressMode::Border}) {
            each.mode = mode;
            expect_same(each);
        }
    });
}

TEST_P(FetchedFormats, points_are_those_of_single_threads) {
    for (const Geometry geometry : GEOMETRIES) {
        expect_same_in_all_modes({.geometry = geometry});
    }
}

TEST_P(FetchedFormats, filters_are_those_of_single_threads) {
    for (const Geometry geometry : GEOMETRIES) {
        expect_same_in_all_modes({.filter = ImageFilter::Linear, .geometry = geometry});
    }
}

TEST_P(FetchedFormats, levels_are_those_of_single_threads) {
    for (const ImageFilter filter : {ImageFilter::Point, ImageFilter::Linear}) {
        for (const ImageFilter level_filter : {ImageFilter::Point, ImageFilter::Linear}) {
            for_each_format({.filter = filter, .has_levels = true, .level_filter = level_filter},
                            [](Case each) {
                                expect_same(each);
                                each.mode = AddressMode::Border;
                                expect_same(each);
                            });
        }
    }
}

TEST_P(FetchedFormats, linear_memory_is_read_as_by_single_threads) {
    for_each_format({.geometry = Geometry::Line, .is_list = true}, expect_same);
}

INSTANTIATE_TEST_SUITE_P(Levels, FetchedFormats, test::LEVELS,
                         [](const auto& info) { return std::string(info.param); });

} // namespace cuprum::emulator
