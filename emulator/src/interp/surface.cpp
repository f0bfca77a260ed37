// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// suld, sust and sured.

#include "interp/image_operand.hpp"
#include "interp/texels.hpp"
#include "interp/texture.hpp"
#include "interp/warp.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>

namespace cuprum::emulator {

using bytecode::Instruction;

namespace {

/// A place in a surface. x counts bytes, or texels for formatted accesses.
struct SurfacePlace {
    std::int64_t x = 0;
    std::int64_t y = 0;
    std::int64_t z = 0;
    bool is_outside = false;
};

SurfacePlace surface_place_of(const ImageOperands& words, const SurfaceForm& form,
                              std::uint32_t lane);
void limit(SurfacePlace& place, const Image& image, const SurfaceForm& form);
bool fits(const Image& image, const SurfaceForm& form);
std::string describe_surface_place(const SurfacePlace& place, const SurfaceForm& form);
void load_texels(WarpContext& warp, const Instruction* at, const SurfaceForm& form,
                 std::uint32_t lane, const std::byte* from);
void store_texels(const ImageOperands& words, const SurfaceForm& form, std::uint32_t lane,
                  std::byte* to);
void store_formatted(const ImageOperands& words, const SurfaceForm& form, const Image& image,
                     std::uint32_t lane, std::byte* to);
void reduce(const ImageOperands& words, const SurfaceForm& form, const Image& image,
            std::uint32_t lane, std::byte* at);

std::uint32_t access_rows(WarpContext& warp, const Instruction* at, const SurfaceForm& form,
                          const ImageOperands& words, const Image& image, std::uint32_t mask);

/// Returns the number of words before the values.
unsigned place_words(const SurfaceForm& form) {
    return axes_of(form.geometry) + (has_layer(form.geometry) ? 1 : 0);
}

} // namespace

namespace surface {

const Instruction* access(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const auto form = std::bit_cast<SurfaceForm>(at->immediate);
    const ImageOperands words(warp, at, 1);
    for (std::uint32_t left = mask; left != 0;) {
        const ImageLanes lanes = find_image(warp, at, left, ImageUse::Surface);
        if (lanes.image == nullptr) {
            return nullptr;
        }
        const Image& image = *lanes.image;
        const ImageLevel& level = image.levels[0];
        left &= ~lanes.mask;
        if (form.op >= SurfaceOp::Add && form.counts_texels &&
            form.element_bytes > image.texel_bytes) {
            return raise_fault(warp, at, FaultKind::IllegalInstruction,
                               static_cast<std::uint32_t>(std::countr_zero(lanes.mask)),
                               "sured.p changes " + std::to_string(form.element_bytes) +
                                   " bytes, but the surface is " + describe_image(image));
        }
        std::uint32_t same = lanes.mask;
        if (form.op == SurfaceOp::Load || form.op == SurfaceOp::Store) {
            same &= ~access_rows(warp, at, form, words, image, same);
        }
        for (; same != 0; same &= same - 1) {
            const auto lane = static_cast<std::uint32_t>(std::countr_zero(same));
            SurfacePlace place = surface_place_of(words, form, lane);
            const SurfacePlace asked = place;
            limit(place, image, form);
            if (place.is_outside && form.boundary == Boundary::Trap) {
                return raise_fault(warp, at, FaultKind::IllegalAddress, lane,
                                   "the surface access at " + describe_surface_place(asked, form) +
                                       " is outside of " + describe_image(image));
            }
            if (place.is_outside && (form.boundary == Boundary::Zero || !fits(image, form))) {
                if (form.op == SurfaceOp::Load) {
                    constexpr std::byte zeros[16] = {};
                    load_texels(warp, at, form, lane, zeros);
                }
                continue;
            }
            const std::int64_t x_bytes = form.counts_texels ? place.x * image.texel_bytes : place.x;
            std::byte* const data = level.data +
                                    static_cast<std::uint64_t>(place.z) * level.slice_bytes +
                                    static_cast<std::uint64_t>(place.y) * level.pitch_bytes +
                                    static_cast<std::uint64_t>(x_bytes);
            switch (form.op) {
            case SurfaceOp::Load:
                load_texels(warp, at, form, lane, data);
                break;
            case SurfaceOp::Store:
                store_texels(words, form, lane, data);
                break;
            case SurfaceOp::StoreFormatted:
                store_formatted(words, form, image, lane, data);
                break;
            default:
                reduce(words, form, image, lane, data);
                break;
            }
        }
    }
    return at + 1;
}

} // namespace surface

// ---- helpers -----------------------------------------------------------------------------------

namespace {

SurfacePlace surface_place_of(const ImageOperands& words, const SurfaceForm& form,
                              std::uint32_t lane) {
    SurfacePlace place;
    unsigned next = 0;
    const auto take = [&] {
        return std::int64_t{static_cast<std::int32_t>(words.word(next++, lane))};
    };
    if (has_layer(form.geometry)) {
        constexpr std::int64_t LAYER_BITS = 0xffff; // the hardware looks at no more
        place.z = take() & LAYER_BITS;
    }
    place.x = take();
    if (axes_of(form.geometry) > 1) {
        place.y = take();
    }
    if (form.geometry == Geometry::Volume) {
        place.z = take();
    }
    return place;
}

/// Returns whether a row is at least as long as what the access reads or writes.
bool fits(const Image& image, const SurfaceForm& form) {
    return form.counts_texels || std::uint64_t{form.element_bytes} * form.count <=
                                     std::uint64_t{image.levels[0].width} * image.texel_bytes;
}

/// Marks a place outside of the image, and moves it inside.
void limit(SurfacePlace& place, const Image& image, const SurfaceForm& form) {
    const ImageLevel& level = image.levels[0];
    const std::int64_t access = form.counts_texels ? 1 : form.element_bytes * form.count;
    const std::int64_t width =
        form.counts_texels ? level.width : std::int64_t{level.width} * image.texel_bytes;
    const bool is_cube = image.shape == ImageShape::Cube || image.shape == ImageShape::CubeLayers;
    const std::int64_t slices = image.shape == ImageShape::Volume ? level.depth
                                : is_cube                         ? 6 * std::int64_t{image.layers}
                                                                  : image.layers;
    const auto move = [&](std::int64_t& at, std::int64_t last) {
        const std::int64_t inside =
            std::clamp<std::int64_t>(at, 0, std::max<std::int64_t>(last, 0));
        place.is_outside |= inside != at || last < 0;
        at = inside;
    };
    move(place.x, width - access);
    move(place.y, level.height - std::int64_t{1});
    move(place.z, slices - 1);
}

std::string describe_surface_place(const SurfacePlace& place, const SurfaceForm& form) {
    std::string text = form.counts_texels ? "texel " : "byte ";
    text += std::to_string(place.x);
    if (axes_of(form.geometry) > 1) {
        text += ", row " + std::to_string(place.y);
    }
    if (form.geometry == Geometry::Volume || has_layer(form.geometry)) {
        text += (has_layer(form.geometry) ? ", layer " : ", slice ") + std::to_string(place.z);
    }
    return text;
}

// Most often, the lanes of half a warp access neighbours in one row. (Blocks that are 16 threads
// wide have two rows in a warp.) These are checked once.

constexpr std::uint32_t ROW_LANES = bytecode::WARP_SIZE / 2;
constexpr std::uint32_t ROW_MASK = (1u << ROW_LANES) - 1;

/// Returns whether each lane of a row has a number that is `step` more than that of the lane
/// before.
bool has_step(const std::byte* words, std::uint32_t step) {
    const auto* const numbers = reinterpret_cast<const ImageWord*>(words);
    const std::uint32_t first = numbers[0];
    std::uint32_t differing = 0;
    for (std::uint32_t lane = 0; lane < ROW_LANES; ++lane) { // a round number, for vectors
        differing |= numbers[lane] - (first + lane * step);
    }
    return differing == 0;
}

/// Copies value number `index` of each lane between a row and a register.
template <typename Element, typename Register>
void copy_row(const SurfaceForm& form, std::byte* row, std::byte* lanes, unsigned index) {
    const bool is_load = form.op == SurfaceOp::Load;
    if (form.count == 1 && sizeof(Element) == sizeof(Register)) {
        constexpr std::size_t bytes = ROW_LANES * sizeof(Element);
        std::memcpy(is_load ? lanes : row, is_load ? row : lanes, bytes);
        return;
    }
    row += index * sizeof(Element);
    const std::size_t step = form.count * sizeof(Element);
    if (is_load) {
        for (std::uint32_t lane = 0; lane < ROW_LANES; ++lane) {
            Element element;
            std::memcpy(&element, row + lane * step, sizeof element);
            const Register extended = element;
            std::memcpy(lanes + lane * sizeof extended, &extended, sizeof extended);
        }
        return;
    }
    for (std::uint32_t lane = 0; lane < ROW_LANES; ++lane) { // the lower bytes
        std::memcpy(row + lane * step, lanes + lane * sizeof(Register), sizeof(Element));
    }
}

void copy_row_of(const SurfaceForm& form, std::byte* row, std::byte* lanes, unsigned index) {
    switch (form.element_bytes) {
    case 1:
        return copy_row<std::uint8_t, std::uint32_t>(form, row, lanes, index);
    case 2:
        return copy_row<std::uint16_t, std::uint32_t>(form, row, lanes, index);
    case 4:
        return copy_row<std::uint32_t, std::uint32_t>(form, row, lanes, index);
    default:
        return copy_row<std::uint64_t, std::uint64_t>(form, row, lanes, index);
    }
}

/// Loads or stores in those halves of a warp whose lanes access neighbours in one row of the image.
/// Returns the lanes that are done.
std::uint32_t access_rows(WarpContext& warp, const Instruction* at, const SurfaceForm& form,
                          const ImageOperands& words, const Image& image, std::uint32_t mask) {
    const std::uint32_t lane_bytes = std::uint32_t{form.element_bytes} * form.count;
    const unsigned word_count = place_words(form);
    const unsigned x_word = has_layer(form.geometry) ? 1 : 0;
    const ImageLevel& level = image.levels[0];
    std::uint32_t done = 0;
    for (std::uint32_t first = 0; first < bytecode::WARP_SIZE; first += ROW_LANES) {
        bool is_row = (mask >> first & ROW_MASK) == ROW_MASK && !form.counts_texels;
        for (unsigned i = 0; is_row && i < word_count; ++i) {
            is_row =
                has_step(words.place(i) + first * sizeof(ImageWord), i == x_word ? lane_bytes : 0);
        }
        if (!is_row) {
            continue;
        }
        SurfacePlace place = surface_place_of(words, form, first);
        SurfacePlace last = surface_place_of(words, form, first + ROW_LANES - 1);
        limit(place, image, form);
        limit(last, image, form);
        if (place.is_outside || last.is_outside) {
            continue;
        }
        std::byte* const row = level.data +
                               static_cast<std::uint64_t>(place.z) * level.slice_bytes +
                               static_cast<std::uint64_t>(place.y) * level.pitch_bytes +
                               static_cast<std::uint64_t>(place.x);
        const std::size_t register_bytes = form.element_bytes == 8 ? 8 : 4;
        for (unsigned i = 0; i < form.count; ++i) {
            const bytecode::Operand value =
                form.op == SurfaceOp::Load ? at->dst[i] : source_of(warp, at, 1 + word_count + i);
            copy_row_of(form, row, warp.at(value) + first * register_bytes, i);
        }
        done |= ROW_MASK << first;
    }
    return done;
}

void load_texels(WarpContext& warp, const Instruction* at, const SurfaceForm& form,
                 std::uint32_t lane, const std::byte* from) {
    for (unsigned i = 0; i < form.count; ++i) {
        std::uint64_t value = 0;
        std::memcpy(&value, from + std::size_t{i} * form.element_bytes, form.element_bytes);
        std::byte* const to = warp.at(at->dst[i]);
        if (form.element_bytes == 8) {
            reinterpret_cast<ImageHandle*>(to)[lane] = value;
        } else {
            reinterpret_cast<ImageWord*>(to)[lane] = static_cast<std::uint32_t>(value);
        }
    }
}

void store_texels(const ImageOperands& words, const SurfaceForm& form, std::uint32_t lane,
                  std::byte* to) {
    for (unsigned i = 0; i < form.count; ++i) {
        const std::byte* const from = words.place(place_words(form) + i);
        std::memcpy(to + std::size_t{i} * form.element_bytes,
                    from + std::size_t{lane} * (form.element_bytes == 8 ? 8 : 4),
                    form.element_bytes);
    }
}

/// Returns a float as a number of `one` steps, within 0 or -1 and 1.
std::uint32_t scaled_word(std::uint32_t word, bool is_signed, std::int32_t one) {
    const auto value = std::bit_cast<float>(word);
    const float low = is_signed ? -1.0f : 0.0f;
    const auto inside =
        static_cast<double>(std::isnan(value) ? 0.0f : std::clamp(value, low, 1.0f));
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(std::floor(inside * one + 0.5)));
}

/// Returns a float as a half, cut off. Numbers that are too large become the largest half.
std::uint32_t cut_to_half(std::uint32_t word) {
    constexpr std::uint32_t infinite = 0x7f800000u;
    constexpr std::uint32_t largest = 0x477fe000u;
    const std::uint32_t magnitude = word & 0x7fffffffu;
    if (magnitude >= largest && magnitude < infinite) {
        return (word >> 16 & 0x8000u) | 0x7bffu;
    }
    constexpr std::uint32_t smallest_normal = 0x38800000u;
    if (magnitude < smallest_normal) {
        const float steps = std::bit_cast<float>(magnitude) * 0x1p24f;
        return (word >> 16 & 0x8000u) | static_cast<std::uint32_t>(steps);
    }
    if (magnitude >= infinite) {
        return (word >> 16 & 0x8000u) | 0x7c00u | (magnitude >> 13 & 0x3ffu);
    }
    return single_to_half(word & 0xffffe000u);
}

/// Returns a word as a channel of a format: integers are saturated, floats are converted.
std::uint32_t formatted(TexelFormat format, std::uint32_t word, unsigned channel) {
    const auto number = static_cast<std::int32_t>(word);
    switch (format) {
    case TexelFormat::U8:
        return std::min<std::uint32_t>(word, 255);
    case TexelFormat::U16:
        return std::min<std::uint32_t>(word, 65535);
    case TexelFormat::S8:
        return static_cast<std::uint32_t>(std::clamp(number, -128, 127));
    case TexelFormat::S16:
        return static_cast<std::uint32_t>(std::clamp(number, -32768, 32767));
    case TexelFormat::F16:
        return cut_to_half(word);
    case TexelFormat::Unorm8:
        return scaled_word(word, false, 255);
    case TexelFormat::Unorm16:
        return scaled_word(word, false, 65535);
    case TexelFormat::Snorm8:
        return scaled_word(word, true, 127);
    case TexelFormat::Snorm16:
        return scaled_word(word, true, 32767);
    case TexelFormat::Unorm10x3A2:
        return scaled_word(word, false, channel == 3 ? 3 : 1023);
    default:
        return word;
    }
}

/// Stores words as a texel of the surface's format. Channels without a word become 0.
void store_formatted(const ImageOperands& words, const SurfaceForm& form, const Image& image,
                     std::uint32_t lane, std::byte* to) {
    const auto channel = [&](unsigned index) {
        return index < form.count
                   ? formatted(image.format, words.word(place_words(form) + index, lane), index)
                   : 0;
    };
    if (image.format == TexelFormat::Unorm10x3A2) {
        const std::uint32_t texel =
            channel(0) | channel(1) << 10 | channel(2) << 20 | channel(3) << 30;
        std::memcpy(to, &texel, sizeof texel);
        return;
    }
    const unsigned bytes = image.texel_bytes / image.channels;
    for (unsigned i = 0; i < image.channels; ++i) {
        const std::uint32_t value = channel(i);
        std::memcpy(to + std::size_t{i} * bytes, &value, bytes);
    }
}

template <typename T, typename Combine>
void combine_at(std::byte* at, const Combine& combine) {
    std::atomic_ref<T> target(*reinterpret_cast<T*>(at));
    T old = target.load();
    while (!target.compare_exchange_weak(old, combine(old))) {
    }
}

template <typename T>
void reduce_as(SurfaceOp op, std::byte* at, T value) {
    combine_at<T>(at, [&](T old) -> T {
        switch (op) {
        case SurfaceOp::Add: {
            using Unsigned = std::make_unsigned_t<T>;
            return static_cast<T>(static_cast<Unsigned>(old) + static_cast<Unsigned>(value));
        }
        case SurfaceOp::Min:
            return std::min(old, value);
        case SurfaceOp::Max:
            return std::max(old, value);
        case SurfaceOp::And:
            return old & value;
        default:
            return old | value;
        }
    });
}

void reduce(const ImageOperands& words, const SurfaceForm& form, const Image& image,
            std::uint32_t lane, std::byte* at) {
    at -= reinterpret_cast<std::uintptr_t>(at) % form.element_bytes; // as PTX allows
    const std::byte* const from = words.place(place_words(form));
    const bool is_signed = form.counts_texels ? image.format == TexelFormat::S32 : form.is_signed;
    if (form.element_bytes == 8) {
        const std::uint64_t value = reinterpret_cast<const ImageHandle*>(from)[lane];
        if (is_signed) {
            reduce_as(form.op, at, static_cast<std::int64_t>(value));
        } else {
            reduce_as(form.op, at, value);
        }
        return;
    }
    const std::uint32_t value = reinterpret_cast<const ImageWord*>(from)[lane];
    if (is_signed) {
        reduce_as(form.op, at, static_cast<std::int32_t>(value));
    } else {
        reduce_as(form.op, at, value);
    }
}

} // namespace

} // namespace cuprum::emulator
