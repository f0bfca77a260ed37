// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/memory/tensor_map_encoding.hpp"

#include "objects/devices/device.hpp"
#include "objects/process/error.hpp"

#include <algorithm>
#include <array>
#include <sstream>

namespace cuprum::emulator {

namespace {

constexpr std::uint64_t MAXIMUM_DIMENSION = std::uint64_t{1} << 32;
constexpr std::uint64_t STRIDE_LIMIT = std::uint64_t{1} << 40;
constexpr std::uint32_t MAXIMUM_BOX = 256;
constexpr std::uint32_t MAXIMUM_PIXELS = 1024;
constexpr std::uint32_t MAXIMUM_ELEMENT_STRIDE = 8;
constexpr std::uint32_t PACKED_BOX = 128; // the inner box of types with gaps
constexpr std::uint32_t ADDRESS_BITS = 57;
constexpr std::uint32_t UNIT_BYTES = 16;

/// Ends the call unless a rule holds. The parts form the message, which is built only then.
template <typename... Parts>
void rule(bool holds, const Parts&... parts) {
    if (!holds) [[unlikely]] {
        std::ostringstream message;
        (message << ... << parts);
        fail(CUDA_ERROR_INVALID_VALUE, message.str());
    }
}

template <typename Enum>
void known(const char* name, Enum value, int last) {
    const int number = static_cast<int>(value);
    rule(number >= 0 && number <= last, name, " is ", number, ", expected 0 to ", last);
}

bool is_packed(TensorElement element) {
    return element >= TensorElement::B4x16;
}

/// Whether shared memory has gaps between the values.
bool has_gaps(TensorElement element) {
    return element == TensorElement::B4x16Padded || element == TensorElement::B6x16Padded;
}

bool is_floating(TensorElement element) {
    switch (element) {
    case TensorElement::F16:
    case TensorElement::F32:
    case TensorElement::F64:
    case TensorElement::Bf16:
    case TensorElement::F32Ftz:
    case TensorElement::Tf32:
    case TensorElement::Tf32Ftz:
        return true;
    default:
        return false;
    }
}

std::uint32_t swizzle_bytes(TensorSwizzle swizzle) {
    return swizzle == TensorSwizzle::None ? 0 : 16U << static_cast<unsigned>(swizzle);
}

void set_swizzle(TensorMap& map, CUtensorMapSwizzle swizzle) {
    if (swizzle <= CU_TENSOR_MAP_SWIZZLE_128B) {
        map.swizzle = static_cast<TensorSwizzle>(swizzle);
        return;
    }
    map.swizzle = TensorSwizzle::Bytes128;
    map.swizzle_atom =
        static_cast<TensorSwizzleAtom>(swizzle - CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B + 1);
}

std::uint32_t address_alignment(const TensorMap& map) {
    return map.interleave == TensorInterleave::Bytes32 || has_gaps(map.element) ? 2 * UNIT_BYTES
                                                                                : UNIT_BYTES;
}

void set_address(TensorMap& map, const void* address, std::uint32_t alignment) {
    const auto value = reinterpret_cast<std::uintptr_t>(address);
    rule(value % alignment == 0, "globalAddress is ", address, ", expected a multiple of ",
         alignment);
    rule(value >> ADDRESS_BITS == 0, "globalAddress is ", address, ", expected less than 2^",
         ADDRESS_BITS);
    map.address = value;
}

void set_dimensions(TensorMap& map, const TensorDescription& tensor) {
    rule(tensor.dims != nullptr, "globalDim is null");
    for (std::uint32_t index = 0; index < map.rank; ++index) {
        const std::uint64_t size = tensor.dims[index];
        rule(size != 0 && size <= MAXIMUM_DIMENSION, "globalDim[", index, "] is ", size,
             ", expected 1 to 2^32");
        map.last_indices[index] = static_cast<std::uint32_t>(size - 1);
    }
    if (is_packed(map.element)) {
        const std::uint32_t multiple = has_gaps(map.element) ? PACKED_BOX : 2;
        rule(tensor.dims[0] % multiple == 0, "globalDim[0] is ", tensor.dims[0],
             ", expected a multiple of ", multiple, " for packed elements");
    }
}

void set_strides(TensorMap& map, const TensorDescription& tensor) {
    rule(tensor.strides != nullptr || map.rank == 1, "globalStrides is null");
    const std::uint32_t multiple = address_alignment(map);
    for (std::uint32_t index = 0; index + 1 < map.rank; ++index) {
        const std::uint64_t stride = tensor.strides[index];
        rule(stride % multiple == 0, "globalStrides[", index, "] is ", stride,
             ", expected a multiple of ", multiple);
        rule(stride < STRIDE_LIMIT, "globalStrides[", index, "] is ", stride,
             ", expected less than 2^40");
        map.strides[index] = stride;
    }
}

void set_element_strides(TensorMap& map, const TensorDescription& tensor) {
    rule(tensor.element_strides != nullptr, "elementStrides is null");
    for (std::uint32_t index = 0; index < map.rank; ++index) {
        const std::uint32_t stride = tensor.element_strides[index];
        rule(stride != 0 && stride <= MAXIMUM_ELEMENT_STRIDE, "elementStrides[", index, "] is ",
             stride, ", expected 1 to ", MAXIMUM_ELEMENT_STRIDE);
        map.element_strides[index] = static_cast<std::uint8_t>(stride);
    }
}

/// Checks what element type, swizzle and fill allow together.
void check_together(const TensorMap& map) {
    if (map.element == TensorElement::B6x16Padded) {
        rule(map.interleave == TensorInterleave::None,
             "interleave must be none for elements of type 16U6_ALIGN16B");
    }
    if (has_gaps(map.element)) {
        const bool is_allowed_piece = map.swizzle == TensorSwizzle::Bytes128 &&
                                      (map.swizzle_atom == TensorSwizzleAtom::Bytes16 ||
                                       map.swizzle_atom == TensorSwizzleAtom::Bytes32 ||
                                       (map.swizzle_atom == TensorSwizzleAtom::Bytes64 &&
                                        map.element == TensorElement::B6x16Padded));
        rule(map.swizzle == TensorSwizzle::None || is_allowed_piece,
             "the swizzle is none of those that packed elements with gaps allow");
    }
    rule(map.fill == TensorFill::Zero || is_floating(map.element),
         "oobFill is NAN_REQUEST_ZERO_FMA, but the elements are no floating-point numbers");
}

/// Checks the innermost extent of a box, in elements.
void check_inner_box(const TensorMap& map, const char* name, std::uint32_t elements) {
    if (has_gaps(map.element)) {
        rule(elements == PACKED_BOX, name, " is ", elements, ", expected ", PACKED_BOX,
             " for packed elements with gaps");
        return;
    }
    const std::uint64_t bits = std::uint64_t{elements} * element_bits(map.element);
    rule(bits % (UNIT_BYTES * 8) == 0, name, " is ", elements, " elements, ", bits / 8,
         " bytes, expected a multiple of 16 bytes");
    const std::uint32_t most = swizzle_bytes(map.swizzle);
    rule(most == 0 || map.interleave != TensorInterleave::None || bits / 8 <= most, name, " is ",
         elements, " elements, ", bits / 8, " bytes, expected at most the ", most,
         " bytes of the swizzle");
}

void check_total(const TensorMapLimits& limits, const TensorMap& map, std::uint64_t elements) {
    // In shared memory, 16 packed elements with gaps take 16 bytes.
    const std::uint64_t bits = elements * (has_gaps(map.element) ? 8 : element_bits(map.element));
    rule(bits / 8 <= limits.shared_bytes, "a copy has ", bits / 8, " bytes, expected at most ",
         limits.shared_bytes, ", the shared memory of a multiprocessor");
}

/// Fills what all kinds of maps share.
TensorMap describe(const TensorMapLimits& limits, const TensorDescription& tensor,
                   TensorMapMode mode, std::uint32_t least_rank) {
    TensorMap map;
    map.mode = mode;
    known("tensorDataType", tensor.element,
          limits.has_newer_modes ? CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B
                                 : CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ);
    known("swizzle", tensor.swizzle,
          limits.has_newer_modes ? CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B
                                 : CU_TENSOR_MAP_SWIZZLE_128B);
    known("interleave", tensor.interleave, CU_TENSOR_MAP_INTERLEAVE_32B);
    known("l2Promotion", tensor.l2_promotion, CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
    known("oobFill", tensor.fill, CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
    map.element = static_cast<TensorElement>(tensor.element);
    map.interleave = static_cast<TensorInterleave>(tensor.interleave);
    map.l2_promotion = static_cast<std::uint8_t>(tensor.l2_promotion);
    map.fill = static_cast<TensorFill>(tensor.fill);
    const std::uint32_t least =
        map.interleave == TensorInterleave::None ? least_rank : std::max(least_rank, 3U);
    rule(tensor.rank >= least && tensor.rank <= TensorMap::MAXIMUM_RANK, "tensorRank is ",
         tensor.rank, ", expected ", least, " to ", TensorMap::MAXIMUM_RANK);
    map.rank = static_cast<std::uint8_t>(tensor.rank);
    set_swizzle(map, tensor.swizzle);
    set_address(map, tensor.address, address_alignment(map));
    set_dimensions(map, tensor);
    set_strides(map, tensor);
    set_element_strides(map, tensor);
    check_together(map);
    return map;
}

/// Sets the corners of the box in one of the dimensions W, H, D.
void set_corners(TensorMap& map, std::uint32_t index, int lower, int upper, int bits) {
    const int least = -(1 << (bits - 1));
    const int most = (1 << (bits - 1)) - 1;
    rule(lower >= least && lower <= most, "pixelBoxLowerCorner[", index, "] is ", lower,
         ", expected ", least, " to ", most);
    rule(upper >= least && upper <= most, "pixelBoxUpperCorner[", index, "] is ", upper,
         ", expected ", least, " to ", most);
    // Without interleaving, dimension 0 holds the channels. The sum wraps, as on a GPU.
    const std::uint32_t dimension = index + (map.interleave == TensorInterleave::None ? 1 : 0);
    const auto size = static_cast<std::uint32_t>(map.dimension(dimension));
    const auto extent = static_cast<std::int32_t>(size + static_cast<std::uint32_t>(upper - lower));
    rule(extent > 0, "the pixel box is empty: dimension ", dimension, " has ",
         map.dimension(dimension), " elements, its corners are ", lower, " and ", upper);
    map.lower_corner[index] = static_cast<std::int16_t>(lower);
    map.upper_corner[index] = static_cast<std::int16_t>(upper);
}

void set_pixels(const TensorMapLimits& limits, TensorMap& map, PixelBox box) {
    rule(box.channels_per_pixel != 0 && box.channels_per_pixel <= MAXIMUM_BOX,
         "channelsPerPixel is ", box.channels_per_pixel, ", expected 1 to ", MAXIMUM_BOX);
    check_inner_box(map, "channelsPerPixel", box.channels_per_pixel);
    map.channels_per_pixel = static_cast<std::uint16_t>(box.channels_per_pixel);
    if (map.mode != TensorMapMode::Im2colWide128) {
        rule(box.pixels_per_column != 0 && box.pixels_per_column <= MAXIMUM_PIXELS,
             "pixelsPerColumn is ", box.pixels_per_column, ", expected 1 to ", MAXIMUM_PIXELS);
        map.pixels_per_column = static_cast<std::uint16_t>(box.pixels_per_column);
        check_total(limits, map, std::uint64_t{box.channels_per_pixel} * box.pixels_per_column);
    }
}

constexpr std::uint32_t LEAST_IM2COL_RANK = 3;
constexpr std::array CORNER_BITS{16, 8, 5}; // of ranks 3, 4 and 5

} // namespace

TensorMapLimits tensor_map_limits(const Device& device) {
    constexpr int FIRST_MAJOR_WITH_NEWER_MODES = 10;
    return {.has_newer_modes = device.attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) >=
                               FIRST_MAJOR_WITH_NEWER_MODES,
            .shared_bytes = static_cast<std::uint64_t>(
                device.attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR))};
}

TensorMap encode_tiled(const TensorMapLimits& limits, const TensorDescription& tensor,
                       const cuuint32_t* box) {
    TensorMap map = describe(limits, tensor, TensorMapMode::Tiled, 1);
    rule(box != nullptr, "boxDim is null");
    std::uint64_t elements = 1;
    for (std::uint32_t index = 0; index < map.rank; ++index) {
        rule(box[index] != 0 && box[index] <= MAXIMUM_BOX, "boxDim[", index, "] is ", box[index],
             ", expected 1 to ", MAXIMUM_BOX);
        map.box[index] = static_cast<std::uint16_t>(box[index]);
        // NVIDIA's driver rounds down here, although a copy moves the elements rounded up.
        elements *= box[index] / map.element_strides[index];
    }
    check_inner_box(map, "boxDim[0]", box[0]);
    check_total(limits, map, elements);
    map.seal();
    return map;
}

TensorMap encode_im2col(const TensorMapLimits& limits, const TensorDescription& tensor,
                        const int* lower_corner, const int* upper_corner, PixelBox box) {
    TensorMap map = describe(limits, tensor, TensorMapMode::Im2col, LEAST_IM2COL_RANK);
    rule(lower_corner != nullptr, "pixelBoxLowerCorner is null");
    rule(upper_corner != nullptr, "pixelBoxUpperCorner is null");
    for (std::uint32_t index = 0; index + 2 < map.rank; ++index) {
        set_corners(map, index, lower_corner[index], upper_corner[index],
                    CORNER_BITS[map.rank - LEAST_IM2COL_RANK]);
    }
    set_pixels(limits, map, box);
    map.seal();
    return map;
}

TensorMap encode_im2col_wide(const TensorMapLimits& limits, const TensorDescription& tensor,
                             int lower_width, int upper_width, PixelBox box,
                             CUtensorMapIm2ColWideMode mode) {
    known("mode", mode, CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128);
    if (!limits.has_newer_modes) {
        const std::array lower{lower_width, 0, 0};
        const std::array upper{upper_width, 0, 0};
        return encode_im2col(limits, tensor, lower.data(), upper.data(), box);
    }
    const bool is_wide_128 = mode == CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128;
    TensorMap map = describe(limits, tensor,
                             is_wide_128 ? TensorMapMode::Im2colWide128 : TensorMapMode::Im2colWide,
                             LEAST_IM2COL_RANK);
    const bool is_allowed_piece = map.swizzle_atom == TensorSwizzleAtom::Bytes16 ||
                                  map.swizzle_atom == TensorSwizzleAtom::Bytes32;
    rule(map.swizzle == TensorSwizzle::Bytes64 ||
             (map.swizzle == TensorSwizzle::Bytes128 && is_allowed_piece),
         "swizzle must be 64B, 128B or 128B_ATOM_32B in the wide modes");
    set_corners(map, 0, lower_width, upper_width, CORNER_BITS[0]);
    set_pixels(limits, map, box);
    map.seal();
    return map;
}

void replace_address(TensorMap& map, const void* address) {
    rule(address != nullptr, "globalAddress is null");
    const bool is_map = map.is_valid();
    set_address(map, address, UNIT_BYTES);
    if (is_map) {
        map.seal();
    }
}

} // namespace cuprum::emulator
