// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "formats.hpp"

#include <algorithm>
#include <array>

namespace cuprum::runtime {

namespace {

/// A kind that stands for one format.
struct NamedFormat {
    cudaChannelFormatKind kind;
    CUarray_format format;
    std::array<int, 4> bits; // of x, y, z, w
    unsigned bytes;          // of a texel or a block
};

constexpr std::array NAMED_FORMATS{
    NamedFormat{cudaChannelFormatKindNV12, CU_AD_FORMAT_NV12, {8, 8, 8, 0}, 0},
    NamedFormat{
        cudaChannelFormatKindUnsignedNormalized8X1, CU_AD_FORMAT_UNORM_INT8X1, {8, 0, 0, 0}, 1},
    NamedFormat{
        cudaChannelFormatKindUnsignedNormalized8X2, CU_AD_FORMAT_UNORM_INT8X2, {8, 8, 0, 0}, 2},
    NamedFormat{
        cudaChannelFormatKindUnsignedNormalized8X4, CU_AD_FORMAT_UNORM_INT8X4, {8, 8, 8, 8}, 4},
    NamedFormat{
        cudaChannelFormatKindUnsignedNormalized16X1, CU_AD_FORMAT_UNORM_INT16X1, {16, 0, 0, 0}, 2},
    NamedFormat{
        cudaChannelFormatKindUnsignedNormalized16X2, CU_AD_FORMAT_UNORM_INT16X2, {16, 16, 0, 0}, 4},
    NamedFormat{cudaChannelFormatKindUnsignedNormalized16X4,
                CU_AD_FORMAT_UNORM_INT16X4,
                {16, 16, 16, 16},
                8},
    NamedFormat{
        cudaChannelFormatKindSignedNormalized8X1, CU_AD_FORMAT_SNORM_INT8X1, {8, 0, 0, 0}, 1},
    NamedFormat{
        cudaChannelFormatKindSignedNormalized8X2, CU_AD_FORMAT_SNORM_INT8X2, {8, 8, 0, 0}, 2},
    NamedFormat{
        cudaChannelFormatKindSignedNormalized8X4, CU_AD_FORMAT_SNORM_INT8X4, {8, 8, 8, 8}, 4},
    NamedFormat{
        cudaChannelFormatKindSignedNormalized16X1, CU_AD_FORMAT_SNORM_INT16X1, {16, 0, 0, 0}, 2},
    NamedFormat{
        cudaChannelFormatKindSignedNormalized16X2, CU_AD_FORMAT_SNORM_INT16X2, {16, 16, 0, 0}, 4},
    NamedFormat{
        cudaChannelFormatKindSignedNormalized16X4, CU_AD_FORMAT_SNORM_INT16X4, {16, 16, 16, 16}, 8},
    NamedFormat{
        cudaChannelFormatKindUnsignedBlockCompressed1, CU_AD_FORMAT_BC1_UNORM, {8, 8, 8, 8}, 8},
    NamedFormat{cudaChannelFormatKindUnsignedBlockCompressed1SRGB,
                CU_AD_FORMAT_BC1_UNORM_SRGB,
                {8, 8, 8, 8},
                8},
    NamedFormat{
        cudaChannelFormatKindUnsignedBlockCompressed2, CU_AD_FORMAT_BC2_UNORM, {8, 8, 8, 8}, 16},
    NamedFormat{cudaChannelFormatKindUnsignedBlockCompressed2SRGB,
                CU_AD_FORMAT_BC2_UNORM_SRGB,
                {8, 8, 8, 8},
                16},
    NamedFormat{
        cudaChannelFormatKindUnsignedBlockCompressed3, CU_AD_FORMAT_BC3_UNORM, {8, 8, 8, 8}, 16},
    NamedFormat{cudaChannelFormatKindUnsignedBlockCompressed3SRGB,
                CU_AD_FORMAT_BC3_UNORM_SRGB,
                {8, 8, 8, 8},
                16},
    NamedFormat{
        cudaChannelFormatKindUnsignedBlockCompressed4, CU_AD_FORMAT_BC4_UNORM, {8, 0, 0, 0}, 8},
    NamedFormat{
        cudaChannelFormatKindSignedBlockCompressed4, CU_AD_FORMAT_BC4_SNORM, {8, 0, 0, 0}, 8},
    NamedFormat{
        cudaChannelFormatKindUnsignedBlockCompressed5, CU_AD_FORMAT_BC5_UNORM, {8, 8, 0, 0}, 16},
    NamedFormat{
        cudaChannelFormatKindSignedBlockCompressed5, CU_AD_FORMAT_BC5_SNORM, {8, 8, 0, 0}, 16},
    NamedFormat{cudaChannelFormatKindUnsignedBlockCompressed6H,
                CU_AD_FORMAT_BC6H_UF16,
                {16, 16, 16, 0},
                16},
    NamedFormat{
        cudaChannelFormatKindSignedBlockCompressed6H, CU_AD_FORMAT_BC6H_SF16, {16, 16, 16, 0}, 16},
    NamedFormat{
        cudaChannelFormatKindUnsignedBlockCompressed7, CU_AD_FORMAT_BC7_UNORM, {8, 8, 8, 8}, 16},
    NamedFormat{cudaChannelFormatKindUnsignedBlockCompressed7SRGB,
                CU_AD_FORMAT_BC7_UNORM_SRGB,
                {8, 8, 8, 8},
                16},
    NamedFormat{cudaChannelFormatKindUnsignedNormalized1010102,
                CU_AD_FORMAT_UNORM_INT_101010_2,
                {10, 10, 10, 2},
                4},
};

/// A format of plain numbers, with 1, 2 or 4 channels.
struct PlainFormat {
    cudaChannelFormatKind kind;
    int bits;
    CUarray_format format;
};

constexpr std::array PLAIN_FORMATS{
    PlainFormat{cudaChannelFormatKindUnsigned, 8, CU_AD_FORMAT_UNSIGNED_INT8},
    PlainFormat{cudaChannelFormatKindUnsigned, 16, CU_AD_FORMAT_UNSIGNED_INT16},
    PlainFormat{cudaChannelFormatKindUnsigned, 32, CU_AD_FORMAT_UNSIGNED_INT32},
    PlainFormat{cudaChannelFormatKindSigned, 8, CU_AD_FORMAT_SIGNED_INT8},
    PlainFormat{cudaChannelFormatKindSigned, 16, CU_AD_FORMAT_SIGNED_INT16},
    PlainFormat{cudaChannelFormatKindSigned, 32, CU_AD_FORMAT_SIGNED_INT32},
    PlainFormat{cudaChannelFormatKindFloat, 16, CU_AD_FORMAT_HALF},
    PlainFormat{cudaChannelFormatKindFloat, 32, CU_AD_FORMAT_FLOAT},
};

/// Returns how many channels a description has; they must come first and have the same size.
unsigned count_channels(const std::array<int, 4>& bits) {
    unsigned count = 0;
    while (count < bits.size() && bits[count] != 0) {
        ++count;
    }
    for (std::size_t index = 0; index < bits.size(); ++index) {
        if (index < count ? bits[index] != bits[0] : bits[index] != 0) {
            return 0;
        }
    }
    return count;
}

unsigned named_channels(const NamedFormat& format) {
    return static_cast<unsigned>(
        std::ranges::count_if(format.bits, [](int bits) { return bits != 0; }));
}

} // namespace

cudaError_t to_driver(const cudaChannelFormatDesc& description, TexelFormat& result) noexcept {
    const std::array<int, 4> bits{description.x, description.y, description.z, description.w};
    const auto* const named = std::ranges::find(NAMED_FORMATS, description.f, &NamedFormat::kind);
    if (named != NAMED_FORMATS.end()) {
        result = {named->format, named_channels(*named)};
        return bits == named->bits ? cudaSuccess : cudaErrorInvalidChannelDescriptor;
    }
    const unsigned channels = count_channels(bits);
    const auto* const plain = std::ranges::find_if(PLAIN_FORMATS, [&](const PlainFormat& each) {
        return each.kind == description.f && each.bits == bits[0];
    });
    if (plain == PLAIN_FORMATS.end() || channels == 0 || channels == 3) {
        return cudaErrorInvalidChannelDescriptor;
    }
    result = {plain->format, channels};
    return cudaSuccess;
}

cudaChannelFormatDesc from_driver(const TexelFormat& format) noexcept {
    const auto* const named = std::ranges::find(NAMED_FORMATS, format.format, &NamedFormat::format);
    if (named != NAMED_FORMATS.end()) {
        return {named->bits[0], named->bits[1], named->bits[2], named->bits[3], named->kind};
    }
    const auto* const plain = std::ranges::find(PLAIN_FORMATS, format.format, &PlainFormat::format);
    if (plain == PLAIN_FORMATS.end()) {
        return {0, 0, 0, 0, cudaChannelFormatKindNone};
    }
    const auto bits = [&](unsigned channel) { return channel < format.channels ? plain->bits : 0; };
    return {bits(0), bits(1), bits(2), bits(3), plain->kind};
}

std::size_t texel_bytes(const TexelFormat& format) noexcept {
    const auto* const named = std::ranges::find(NAMED_FORMATS, format.format, &NamedFormat::format);
    if (named != NAMED_FORMATS.end()) {
        return named->bytes;
    }
    const auto* const plain = std::ranges::find(PLAIN_FORMATS, format.format, &PlainFormat::format);
    return plain == PLAIN_FORMATS.end()
               ? 0
               : static_cast<std::size_t>(plain->bits) / 8 * format.channels;
}

CUresult describe(cudaArray_const_t array, CUDA_ARRAY3D_DESCRIPTOR& result) noexcept {
    return cuArray3DGetDescriptor(&result, as_driver(array));
}

} // namespace cuprum::runtime
