// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Images with known texels, and kernels of one instruction on them.

#pragma once

#include "exec/harness.hpp"
#include "interp/image.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <initializer_list>

namespace cuprum::emulator::test {

/// An image and its texels.
struct TestImage {
    Image image;
    std::shared_ptr<std::vector<std::byte>> texels;
};

/// Returns an image of floats whose texel (x, y, z) is `first` + 100 z + 10 y + x.
inline TestImage numbered_image(std::uint32_t width, std::uint32_t height, std::uint32_t slices = 1,
                                ImageShape shape = ImageShape::Plane, float first = 0) {
    std::vector<float> values;
    for (std::uint32_t z = 0; z < slices; ++z) {
        for (std::uint32_t y = 0; y < height; ++y) {
            for (std::uint32_t x = 0; x < width; ++x) {
                values.push_back(first + static_cast<float>(100 * z + 10 * y + x));
            }
        }
    }
    TestImage result;
    result.texels = std::make_shared<std::vector<std::byte>>(values.size() * sizeof(float));
    std::memcpy(result.texels->data(), values.data(), result.texels->size());
    Image& image = result.image;
    image.shape = shape;
    image.format = TexelFormat::F32;
    image.texel_bytes = sizeof(float);
    image.layers = shape == ImageShape::PlaneLayers || shape == ImageShape::LineLayers ? slices : 1;
    image.levels[0] = {.data = result.texels->data(),
                       .width = width,
                       .height = height,
                       .depth = shape == ImageShape::Volume ? slices : 1,
                       .pitch_bytes = width * sizeof(float),
                       .slice_bytes = std::uint64_t{width} * height * sizeof(float)};
    image.owner = result.texels;
    return result;
}

/// Returns a line of bytes.
inline TestImage byte_image(std::initializer_list<std::uint8_t> values) {
    TestImage result;
    result.texels = std::make_shared<std::vector<std::byte>>(values.size());
    std::memcpy(result.texels->data(), std::data(values), values.size());
    Image& image = result.image;
    image.format = TexelFormat::U8;
    image.levels[0] = {.data = result.texels->data(),
                       .width = static_cast<std::uint32_t>(values.size()),
                       .pitch_bytes = values.size(),
                       .slice_bytes = values.size()};
    image.owner = result.texels;
    return result;
}

/// Returns an image of 4 x 4 floats with three levels. The texels of a level have its number.
inline TestImage levelled_image() {
    TestImage result = numbered_image(4, 4, 3);
    auto* const values = reinterpret_cast<float*>(result.texels->data());
    Image& image = result.image;
    image.source = ImageSource::MipmappedArray;
    image.level_count = 3;
    for (std::uint32_t level = 0; level < 3; ++level) {
        const std::uint32_t size = 4u >> level;
        std::fill_n(values + std::size_t{16} * level, size * size, static_cast<float>(level));
        image.levels[level] = {.data = result.texels->data() + std::size_t{64} * level,
                               .width = size,
                               .height = size,
                               .pitch_bytes = size * sizeof(float),
                               .slice_bytes = std::uint64_t{size} * size * sizeof(float)};
    }
    return result;
}

/// A texture or surface, and kernels of one warp that use it. In their text, %h is the handle, %c0
/// to %c3 are numbers that all lanes get, %f0 to %f3 are the result, %lane the lane; %w, %q0, %at
/// and %p are free.
class ImageKernel {
public:
    ImageKernel(TestImage image, const Sampler& sampler, std::string declarations = {})
        : image_(std::move(image)), declarations_(std::move(declarations)) {
        image_.image.sampler = sampler;
        handle_ = ImageTable::instance().insert(ImageUse::Texture, image_.image);
    }

    /// Makes it a surface.
    explicit ImageKernel(TestImage image) : image_(std::move(image)) {
        handle_ = ImageTable::instance().insert(ImageUse::Surface, image_.image);
    }

    ImageKernel(const ImageKernel&) = delete;
    ImageKernel& operator=(const ImageKernel&) = delete;

    ~ImageKernel() { destroy_texture(); }

    [[nodiscard]] std::uint64_t handle() const { return handle_; }

    [[nodiscard]] float texel(std::size_t index) const {
        return reinterpret_cast<const float*>(image_.texels->data())[index];
    }

    void destroy_texture() { ImageTable::instance().erase(handle_); }

    /// Runs a kernel and returns the result of the first lane.
    std::array<std::uint32_t, 4> words(const std::string& text,
                                       std::initializer_list<float> numbers) {
        const std::vector<std::uint32_t> all = run_lanes(text, numbers);
        return {all[0], all[32], all[64], all[96]};
    }

    std::array<float, 4> floats(const std::string& text, std::initializer_list<float> numbers) {
        return std::bit_cast<std::array<float, 4>>(words(text, numbers));
    }

    /// Runs a kernel and returns %f0 of all lanes, then %f1...
    std::vector<std::uint32_t> run_lanes(const std::string& text,
                                         std::initializer_list<float> numbers) {
        const Fault fault = launch(text, numbers);
        EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
        return results_;
    }

    /// Runs a kernel that must fail and returns the report.
    std::string fault(const std::string& text, std::initializer_list<float> numbers = {}) {
        const Fault fault = launch(text, numbers);
        EXPECT_NE(fault.kind, FaultKind::None) << text;
        return fault.report;
    }

private:
    Fault launch(const std::string& text, std::initializer_list<float> numbers) {
        TestDevice device;
        auto* const out = device.allocate<std::uint32_t>(128);
        std::string body = declarations_ +
                           ".visible .entry k(.param .u64 ph, .param .u64 pout)\n{\n"
                           ".reg .b32 %f<4>, %c<4>, %lane, %w;\n.reg .b64 %h, %at, %out, %q<2>;\n"
                           ".reg .pred %p;\nld.param.u64 %h, [ph];\nld.param.u64 %out, [pout];\n"
                           "mov.u32 %lane, %tid.x;\nmad.wide.u32 %out, %lane, 4, %out;\n";
        std::vector<float> values(numbers);
        values.resize(4);
        for (std::size_t i = 0; i < values.size(); ++i) {
            body += "mov.b32 %c" + std::to_string(i) + ", " +
                    std::to_string(std::bit_cast<std::uint32_t>(values[i])) + ";\nmov.b32 %f" +
                    std::to_string(i) + ", 0;\n";
        }
        body += text + "\n";
        for (int i = 0; i < 4; ++i) {
            body += "st.global.b32 [%out+" + std::to_string(128 * i) + "], %f" + std::to_string(i) +
                    ";\n";
        }
        body += "ret;\n}\n";
        const Fault fault =
            test::run(device, body, {}, handle_, reinterpret_cast<std::uint64_t>(out));
        results_.assign(out, out + 128);
        return fault;
    }

    TestImage image_;
    std::string declarations_;
    std::uint64_t handle_ = 0;
    std::vector<std::uint32_t> results_;
};

} // namespace cuprum::emulator::test
