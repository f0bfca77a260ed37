// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What a tensor map says about itself.

#include "arrays/tensor_map_rules.hpp"
#include "support/text.hpp"

#include <cuprum/tensor_map.hpp>

namespace cuprum {

namespace {

/// Returns values that are stored innermost first, outermost first.
template <typename Values>
[[nodiscard]] TensorMapExtents reversed(const Values& values, std::size_t count) noexcept {
    std::array<std::int64_t, TensorMapExtents::MAXIMUM> result{};
    for (std::size_t index = 0; index < count; ++index) {
        result[index] = static_cast<std::int64_t>(values[count - 1 - index]);
    }
    return TensorMapExtents(std::span<const std::int64_t>(result.data(), count));
}

[[nodiscard]] std::string joined(const TensorMapExtents& extents, const char* separator) {
    std::string text;
    for (std::size_t index = 0; index < extents.size(); ++index) {
        text += (index == 0 ? "" : separator) + std::to_string(extents[index]);
    }
    return text;
}

} // namespace

TensorMapExtents TensorMapDescriptor::shape() const noexcept {
    return reversed(dims_, rank_);
}

TensorMapExtents TensorMapDescriptor::strides_in_bytes() const noexcept {
    std::array<std::uint64_t, MAXIMUM_RANK> all{detail::element_bits(data_type_) / 8};
    std::copy_n(strides_.begin(), rank_ - 1U, all.begin() + 1);
    return reversed(all, rank_);
}

TensorMapExtents TensorMapDescriptor::box_dim() const noexcept {
    return reversed(box_, mode_ == TensorMapMode::Tiled ? rank_ : 0);
}

TensorMapExtents TensorMapDescriptor::element_strides() const noexcept {
    return reversed(element_strides_, rank_);
}

TensorMapExtents TensorMapDescriptor::pixel_box_lower_corner() const noexcept {
    return reversed(lower_corner_, corner_count());
}

TensorMapExtents TensorMapDescriptor::pixel_box_upper_corner() const noexcept {
    return reversed(upper_corner_, corner_count());
}

std::size_t TensorMapDescriptor::corner_count() const noexcept {
    switch (mode_) {
    case TensorMapMode::Tiled:
        return 0;
    case TensorMapMode::Im2ColWide:
        return 1;
    case TensorMapMode::Im2Col:
        break;
    }
    return rank_ - 2U;
}

std::size_t TensorMapDescriptor::copy_bytes() const noexcept {
    std::size_t elements = 1;
    if (mode_ == TensorMapMode::Tiled) {
        for (std::size_t index = 0; index < rank_; ++index) {
            // Without interleaving, TMA ignores the stride of the innermost dimension.
            const bool is_dense = index == 0 && interleave_ == TensorMapInterleave::None;
            const std::uint32_t step = is_dense ? 1 : element_strides_[index];
            elements *= (box_[index] + step - 1) / step;
        }
    } else {
        elements = std::size_t{channels_} * pixels_;
    }
    return elements * detail::shared_bits(data_type_) / 8;
}

/// Returns the bytes from the address to the end of the last element.
std::uint64_t TensorMapDescriptor::reach_bytes() const noexcept {
    std::uint64_t bytes = dims_[0] * detail::element_bits(data_type_) / 8;
    for (std::size_t index = 1; index < rank_; ++index) {
        bytes += (dims_[index] - 1) * strides_[index - 1];
    }
    return bytes;
}

std::optional<Device> TensorMapDescriptor::device() const {
    return device_id_ < 0 ? std::optional<Device>() : Device(device_id_);
}

std::string TensorMapDescriptor::description() const {
    std::string text = std::string(to_string(mode_)) + " map of " + joined(shape(), " x ") + " " +
                       std::string(to_string(data_type_)) + " at " + detail::hexadecimal(address_);
    if (rank_ > 1) {
        text += ", strides " + joined(strides_in_bytes(), ", ") + " bytes";
    }
    if (mode_ == TensorMapMode::Tiled) {
        text += ", boxes of " + joined(box_dim(), " x ");
    } else {
        text += ", pixels from (" + joined(pixel_box_lower_corner(), ", ") + ") to (" +
                joined(pixel_box_upper_corner(), ", ") + "), " + std::to_string(pixels_) + " of " +
                std::to_string(channels_) + " channels each";
    }
    text += " (" + std::to_string(copy_bytes()) + " bytes)";
    const std::span<const std::uint32_t> steps(element_strides_.data(), rank_);
    if (std::ranges::any_of(steps, [](std::uint32_t step) { return step > 1; })) {
        text += ", element strides " + joined(element_strides(), ", ");
    }
    if (mode_ == TensorMapMode::Im2ColWide) {
        text += ", mode " + std::string(to_string(wide_mode_));
    }
    text += ", interleave " + std::string(to_string(interleave_)) + ", swizzle " +
            std::string(to_string(swizzle_)) + ", L2 promotion " +
            std::string(to_string(l2_promotion_)) + ", outside " +
            (oob_fill_ == TensorMapOOBFill::None ? "0" : "NaN");
    return text;
}

std::string_view to_string(TensorMapDataType type) noexcept {
    constexpr std::string_view NAMES[] = {
        "UINT8",        "UINT16",       "UINT32",        "INT32",         "UINT64",      "INT64",
        "FLOAT16",      "FLOAT32",      "FLOAT64",       "BFLOAT16",      "FLOAT32_FTZ", "TFLOAT32",
        "TFLOAT32_FTZ", "16U4_ALIGN8B", "16U4_ALIGN16B", "16U6_ALIGN16B",
    };
    return NAMES[static_cast<unsigned>(type)];
}

std::string_view to_string(TensorMapInterleave interleave) noexcept {
    constexpr std::string_view NAMES[] = {"NONE", "16B", "32B"};
    return NAMES[static_cast<unsigned>(interleave)];
}

std::string_view to_string(TensorMapSwizzle swizzle) noexcept {
    constexpr std::string_view NAMES[] = {
        "NONE", "32B", "64B", "128B", "128B_ATOM_32B", "128B_ATOM_32B_FLIP_8B", "128B_ATOM_64B"};
    return NAMES[static_cast<unsigned>(swizzle)];
}

std::string_view to_string(TensorMapL2Promotion promotion) noexcept {
    constexpr std::string_view NAMES[] = {"NONE", "64B", "128B", "256B"};
    return NAMES[static_cast<unsigned>(promotion)];
}

std::string_view to_string(TensorMapOOBFill fill) noexcept {
    return fill == TensorMapOOBFill::None ? "NONE" : "NAN_REQUEST_ZERO_FMA";
}

std::string_view to_string(TensorMapIm2ColWideMode mode) noexcept {
    return mode == TensorMapIm2ColWideMode::W ? "W" : "W128";
}

std::string_view to_string(TensorMapMode mode) noexcept {
    constexpr std::string_view NAMES[] = {"tiled", "im2col", "im2col_wide"};
    return NAMES[static_cast<unsigned>(mode)];
}

std::string to_string(const TensorMapDescriptor& map) {
    const bool has_swizzle = map.swizzle() != TensorMapSwizzle::None;
    return "TensorMapDescriptor(" + std::string(to_string(map.mode())) +
           ", rank=" + std::to_string(map.rank()) +
           ", dtype=" + std::string(to_string(map.data_type())) +
           ", swizzle=" + (has_swizzle ? "SWIZZLE_" : "") + std::string(to_string(map.swizzle())) +
           ")";
}

} // namespace cuprum
