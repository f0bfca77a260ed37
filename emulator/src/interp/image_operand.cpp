// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "interp/image_operand.hpp"

#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cstdio>

namespace cuprum::emulator {

using bytecode::Instruction;

namespace {

/// Returns whether a value is the address of mapped memory that may be read.
bool is_address(const WarpContext& warp, std::uint64_t value) {
    return value % sizeof value == 0 &&
           warp.block->memory->is_mapped(value, value + sizeof value - 1, false);
}

/// Returns the handle that a value is or points at.
std::uint64_t handle_of(const WarpContext& warp, std::uint64_t value) {
    return is_address(warp, value) ? *reinterpret_cast<const ImageHandle*>(value) : value;
}

std::uint64_t value_of(const WarpContext& warp, const Instruction* at, std::uint32_t lane) {
    return reinterpret_cast<const ImageHandle*>(warp.at(at->src[0]))[lane] + at->target;
}

/// Returns the first address of an image whose granule may not be read, or its end. is_mapped()
/// tests only the two ends.
std::uint64_t find_unmapped(const MemoryMap& map, const Image& image) {
    const std::uint64_t end = image.address + image.bytes;
    if (image.address - map.memory_base >= map.memory_bytes ||
        end - 1 - map.memory_base >= map.memory_bytes) {
        return image.address;
    }
    const std::uint64_t last = (end - 1 - map.memory_base) >> map.granule_shift;
    const std::uint64_t first = (image.address - map.memory_base) >> map.granule_shift;
    for (std::uint64_t granule = first; granule <= last; ++granule) {
        if ((map.granules[granule].load(std::memory_order_relaxed) & READ_BIT) == 0) {
            return granule == first ? image.address
                                    : map.memory_base + (granule << map.granule_shift);
        }
    }
    return end;
}

/// Returns the first address of an image that no allocation contains, or its end. Only mappings of
/// virtual memory can be adjacent: an image may lie in several of them.
std::uint64_t find_unallocated(const MemoryMap& map, const Image& image) {
    const std::uint64_t end = image.address + image.bytes;
    std::uint64_t next = image.address;
    MemoryRange range;
    while (next < end && map.find(map, next, range)) {
        next = range.base + range.bytes;
    }
    return std::min(next, end);
}

/// Returns the first address of an image that may not be read, or its end.
std::uint64_t find_unreadable(const WarpContext& warp, const Image& image) {
    const MemoryMap& map = *warp.block->memory;
    const std::uint64_t end = image.address + image.bytes;
    if (image.bytes == 0) {
        return end;
    }
    const std::uint64_t unmapped = find_unmapped(map, image);
    const bool is_mapped =
        unmapped == end ||
        (map.is_accessible != nullptr && map.is_accessible(map, image.address, image.bytes, false));
    if (is_mapped && (map.checks & CHECK_MEMORY) != 0 && map.find != nullptr) {
        return find_unallocated(map, image);
    }
    return is_mapped ? end : unmapped;
}

bool is_readable(const WarpContext& warp, const Image& image) {
    return find_unreadable(warp, image) == image.address + image.bytes;
}

std::string hexadecimal(std::uint64_t value) {
    char text[32];
    std::snprintf(text, sizeof text, "0x%" PRIx64, value);
    return text;
}

} // namespace

bytecode::Operand destination_of(const WarpContext& warp, const Instruction* at, unsigned index) {
    return index < 4 ? at->dst[index] : warp.block->kernel->operands[at->extra + index - 4];
}

bytecode::Operand source_of(const WarpContext& warp, const Instruction* at, unsigned index) {
    return index < 4 ? at->src[index]
                     : warp.block->kernel->operands[at->extra + at->extra_dst_count + index - 4];
}

ImageOperands::ImageOperands(const WarpContext& warp, const Instruction* at, unsigned skipped) {
    const unsigned count = unsigned{at->src_count} + at->extra_src_count;
    for (unsigned i = skipped; i < count && i - skipped < places_.size(); ++i) {
        places_[i - skipped] = warp.at(source_of(warp, at, i));
    }
}

ImageLanes find_image(WarpContext& warp, const Instruction* at, std::uint32_t mask, ImageUse use) {
    const auto first = static_cast<std::uint32_t>(std::countr_zero(mask));
    const std::uint64_t value = value_of(warp, at, first);
    const std::uint64_t handle = handle_of(warp, value);
    const ImageTable& table = ImageTable::instance();
    const Image* const image = table.find(use, handle);
    if (image == nullptr) {
        (void)raise_fault(warp, at, FaultKind::IllegalAddress, first,
                          "the handle " + hexadecimal(handle) + " " + table.explain(use, handle));
        return {};
    }
    if (const std::uint64_t bad = find_unreadable(warp, *image);
        bad != image->address + image->bytes) {
        const MemoryMap& map = *warp.block->memory;
        (void)raise_fault(
            warp, at, FaultKind::IllegalAddress, first,
            "the texture reads " + std::to_string(image->bytes) + " bytes at " +
                hexadecimal(image->address) +
                ", which are not all memory that the device may access" +
                (map.describe == nullptr ? std::string{} : map.describe(map, bad, false)));
        return {};
    }
    ImageLanes result{image, 0};
    if (at->src[0].bank() != bytecode::Bank::Registers) {
        result.mask = mask; // the value is the same in all lanes
        return result;
    }
    for (; mask != 0; mask &= mask - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(mask));
        if (value_of(warp, at, lane) == value) {
            result.mask |= 1u << lane;
        }
    }
    return result;
}

const Image* find_common_image(const WarpContext& warp, const Instruction* at, std::uint32_t mask,
                               ImageUse use) {
    const auto* const values = reinterpret_cast<const ImageHandle*>(warp.at(at->src[0]));
    const auto first = static_cast<std::uint32_t>(std::countr_zero(mask));
    std::uint64_t difference = 0;
    if (at->src[0].bank() == bytecode::Bank::Registers) { // other values are the same in all lanes
        for (std::uint32_t lane = 0; lane < bytecode::WARP_SIZE; ++lane) {
            difference |= (mask >> lane & 1) != 0 ? values[lane] ^ values[first] : 0;
        }
    }
    if (difference != 0) {
        return nullptr;
    }
    const Image* const image =
        ImageTable::instance().find(use, handle_of(warp, value_of(warp, at, first)));
    return image != nullptr && is_readable(warp, *image) ? image : nullptr;
}

bool find_sampler(WarpContext& warp, const Instruction* at, std::uint32_t& mask, Sampler& sampler) {
    const auto* const values = reinterpret_cast<const ImageHandle*>(warp.at(at->src[1]));
    const auto first = static_cast<std::uint32_t>(std::countr_zero(mask));
    const std::uint64_t value = values[first];
    const std::uint64_t bits = handle_of(warp, value);
    if (!unpack_sampler(bits, sampler)) {
        // A texture object may also stand for its own sampler.
        const Image* const image = ImageTable::instance().find(ImageUse::Texture, bits);
        if (image == nullptr) {
            (void)raise_fault(warp, at, FaultKind::IllegalAddress, first,
                              "the value " + hexadecimal(value) + " is not a sampler");
            return false;
        }
        sampler = image->sampler;
    }
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
        if (values[lane] != value) {
            mask &= ~(1u << lane);
        }
    }
    return true;
}

bool is_image(const WarpContext& warp, const Instruction* at, std::uint32_t lane, ImageUse use) {
    return ImageTable::instance().find(use, handle_of(warp, value_of(warp, at, lane))) != nullptr;
}

bool is_sampler(const WarpContext& warp, const Instruction* at, std::uint32_t lane,
                Sampler& sampler) {
    sampler.is_normalized = true;
    return unpack_sampler(handle_of(warp, value_of(warp, at, lane)), sampler);
}

std::string describe_image(const Image& image) {
    const ImageLevel& level = image.levels[0];
    std::string sizes = std::to_string(level.width);
    const bool is_line = image.shape == ImageShape::Line || image.shape == ImageShape::LineLayers;
    if (!is_line) {
        sizes += " x " + std::to_string(level.height);
    }
    if (image.shape == ImageShape::Volume) {
        sizes += " x " + std::to_string(level.depth);
    }
    const char* const shape = is_line                             ? "a 1-D array of "
                              : image.shape == ImageShape::Volume ? "a 3-D array of "
                              : image.shape >= ImageShape::Cube   ? "a cube of "
                                                                  : "a 2-D array of ";
    std::string text = shape + sizes + " texels of " + std::to_string(image.texel_bytes) + " bytes";
    if (image.layers > 1) {
        text += " in " + std::to_string(image.layers) + " layers";
    }
    return text;
}

} // namespace cuprum::emulator
