// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "interp/texture.hpp"

#include "interp/image_operand.hpp"
#include "interp/sampling.hpp"
#include "interp/warp.hpp"

#include <bit>

namespace cuprum::emulator {

using bytecode::Instruction;

namespace {

/// What txq.channel_data_type and txq.channel_order return, as in OpenCL.
std::uint32_t channel_type_of(TexelFormat format);
std::uint32_t channel_order_of(const Image& image);

SampleRequest request_of(const ImageOperands& words, const SampleForm& form, std::uint32_t lane);
void write_sample(WarpContext& warp, const Instruction* at, const SampleForm& form,
                  std::uint32_t lane, const TexelBits& bits);
std::uint32_t answer_of(const Image& image, const QueryForm& form, std::uint32_t level);

} // namespace

namespace texture {

const Instruction* sample(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const auto form = std::bit_cast<SampleForm>(at->immediate);
    const ImageOperands words(warp, at, form.has_sampler ? 2 : 1);
    for (std::uint32_t left = mask; left != 0;) {
        const ImageLanes lanes = find_image(warp, at, left, ImageUse::Texture);
        if (lanes.image == nullptr) {
            return nullptr;
        }
        Sampler sampler = lanes.image->sampler;
        std::uint32_t same = lanes.mask;
        if (form.has_sampler && !find_sampler(warp, at, same, sampler)) {
            return nullptr;
        }
        const TextureSampler source(*lanes.image, sampler, form);
        left &= ~same;
        for (; same != 0; same &= same - 1) {
            const auto lane = static_cast<std::uint32_t>(std::countr_zero(same));
            write_sample(warp, at, form, lane, source.sample(request_of(words, form, lane)));
        }
    }
    if (form.tells_residency) {
        const bytecode::Operand target =
            destination_of(warp, at, form.type == SampleType::HalfPair ? 2 : 4);
        auto* const slot = reinterpret_cast<std::uint32_t*>(warp.at(target));
        *slot |= mask;
    }
    return at + 1;
}

const Instruction* query(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const auto form = std::bit_cast<QueryForm>(at->immediate);
    const ImageOperands words(warp, at, 1);
    auto* const result = reinterpret_cast<ImageWord*>(warp.at(at->dst[0]));
    for (std::uint32_t left = mask; left != 0;) {
        const auto first = static_cast<std::uint32_t>(std::countr_zero(left));
        std::uint32_t same = 1u << first;
        Image sampled;
        const Image* image = &sampled;
        if (form.query < ImageQuery::Filter || !is_sampler(warp, at, first, sampled.sampler)) {
            const ImageLanes lanes =
                find_image(warp, at, left, form.is_surface ? ImageUse::Surface : ImageUse::Texture);
            if (lanes.image == nullptr) {
                return nullptr;
            }
            image = lanes.image;
            same = lanes.mask;
        }
        left &= ~same;
        for (; same != 0; same &= same - 1) {
            const auto lane = static_cast<std::uint32_t>(std::countr_zero(same));
            result[lane] = answer_of(*image, form, form.has_level ? words.word(0, lane) : 0);
        }
    }
    return at + 1;
}

const Instruction* is_type(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const auto type = static_cast<ReferenceType>(at->tag);
    std::uint32_t result = 0;
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
        Sampler sampler;
        const bool holds =
            type == ReferenceType::Sampler
                ? is_sampler(warp, at, lane, sampler)
                : is_image(warp, at, lane,
                           type == ReferenceType::Texture ? ImageUse::Texture : ImageUse::Surface);
        result |= holds ? 1u << lane : 0;
    }
    auto* const slot = reinterpret_cast<ImageWord*>(warp.at(at->dst[0]));
    *slot = (*slot & ~mask) | result;
    return at + 1;
}

} // namespace texture

// ---- helpers -----------------------------------------------------------------------------------

namespace {

SampleRequest request_of(const ImageOperands& words, const SampleForm& form, std::uint32_t lane) {
    SampleRequest request;
    unsigned next = 0;
    const auto take = [&] { return words.word(next++, lane); };
    const unsigned axes = axes_of(form.geometry);
    if (has_layer(form.geometry)) {
        request.layer = take();
    }
    for (unsigned axis = 0; axis < axes; ++axis) {
        const std::uint32_t word = take();
        if (form.has_whole_coordinates) {
            request.whole[axis] = static_cast<std::int32_t>(word);
        } else {
            request.coordinates[axis] = std::bit_cast<float>(word);
        }
    }
    if (form.level == LevelFrom::Operand) {
        const std::uint32_t word = take();
        request.whole_level = static_cast<std::int32_t>(word);
        request.level = std::bit_cast<float>(word);
    } else if (form.level == LevelFrom::Gradients) {
        for (auto& gradient : request.gradients) {
            for (unsigned axis = 0; axis < axes; ++axis) {
                gradient[axis] = std::bit_cast<float>(take());
            }
        }
    }
    if (form.has_offset) {
        for (unsigned axis = 0; axis < axes; ++axis) {
            request.offsets[axis] = static_cast<std::int32_t>(take());
        }
    }
    return request;
}

void write_sample(WarpContext& warp, const Instruction* at, const SampleForm& form,
                  std::uint32_t lane, const TexelBits& bits) {
    const auto write = [&](unsigned index, std::uint32_t value) {
        if (!at->dst[index].is_none()) { // nobody reads it
            reinterpret_cast<ImageWord*>(warp.at(at->dst[index]))[lane] = value;
        }
    };
    switch (form.type) {
    case SampleType::HalfPair:
        for (unsigned i = 0; i < 2; ++i) {
            write(i, single_to_half(bits[2 * i]) | std::uint32_t{single_to_half(bits[2 * i + 1])}
                                                       << 16);
        }
        break;
    case SampleType::Half:
        for (unsigned i = 0; i < bits.size(); ++i) {
            write(i, single_to_half(bits[i]));
        }
        break;
    default:
        for (unsigned i = 0; i < bits.size(); ++i) {
            write(i, bits[i]);
        }
        break;
    }
}

std::uint32_t answer_of(const Image& image, const QueryForm& form, std::uint32_t level) {
    if (level >= image.level_count) {
        return 0;
    }
    const ImageLevel& from = image.levels[level];
    const Sampler& sampler = image.sampler;
    const bool is_layered = image.shape >= ImageShape::LineLayers;
    switch (form.query) {
    case ImageQuery::Width:
        return from.width;
    case ImageQuery::Height:
        if (image.shape == ImageShape::LineLayers) {
            return image.layers;
        }
        // A line has one row as a texture of an array, and none otherwise.
        return image.shape == ImageShape::Line &&
                       (form.is_surface || image.source == ImageSource::Linear)
                   ? 0
                   : from.height;
    case ImageQuery::Depth:
        return image.shape == ImageShape::Volume ? from.depth
               : image.shape == ImageShape::PlaneLayers || image.shape == ImageShape::CubeLayers
                   ? image.layers
                   : 0;
    case ImageQuery::ChannelType:
        return channel_type_of(image.format);
    case ImageQuery::ChannelOrder:
        return channel_order_of(image);
    case ImageQuery::IsNormalized:
        return sampler.is_normalized ? 1 : 0;
    case ImageQuery::Layers:
        return is_layered ? image.layers : 0;
    case ImageQuery::Levels:
        return image.level_count;
    case ImageQuery::Samples:
        return 1;
    case ImageQuery::MemoryLayout:
        return 0;
    case ImageQuery::Filter:
        return sampler.filter == ImageFilter::Linear ? 1 : 0;
    case ImageQuery::Mode0:
    case ImageQuery::Mode1:
    case ImageQuery::Mode2:
        return static_cast<std::uint32_t>(
            sampler.modes[static_cast<std::size_t>(form.query) -
                          static_cast<std::size_t>(ImageQuery::Mode0)]);
    case ImageQuery::ForcesUnnormalized:
        return sampler.is_normalized ? 0 : 1;
    }
    return 0;
}

std::uint32_t channel_type_of(TexelFormat format) {
    switch (format) {
    case TexelFormat::Snorm8:
        return 0x10d0;
    case TexelFormat::Snorm16:
        return 0x10d1;
    case TexelFormat::Unorm8:
        return 0x10d2;
    case TexelFormat::Unorm16:
        return 0x10d3;
    case TexelFormat::S8:
        return 0x10d7;
    case TexelFormat::S16:
        return 0x10d8;
    case TexelFormat::S32:
        return 0x10d9;
    case TexelFormat::U8:
        return 0x10da;
    case TexelFormat::U16:
        return 0x10db;
    case TexelFormat::U32:
        return 0x10dc;
    case TexelFormat::F16:
        return 0x10dd;
    case TexelFormat::F32:
        return 0x10de;
    default:
        return 0;
    }
}

std::uint32_t channel_order_of(const Image& image) {
    return image.channels == 1 ? 0x10b0 : image.channels == 2 ? 0x10b2 : 0x10b5;
}

} // namespace

} // namespace cuprum::emulator
