// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Which descriptors of textures and surfaces are valid, and the image that they describe.

#include "objects/devices/device.hpp"
#include "objects/process/error.hpp"
#include "objects/process/log.hpp"
#include "objects/textures/image_object.hpp"

#include <algorithm>
#include <atomic>
#include <string>

namespace cuprum::emulator {

namespace {

constexpr unsigned FACES_OF_CUBE = 6;
// Two bits have no name in cuda.h, but NVIDIA's driver accepts them.
constexpr unsigned UNNAMED_TEXTURE_FLAGS = 0x04 | 0x08;
constexpr unsigned KNOWN_TEXTURE_FLAGS = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES |
                                         CU_TRSF_SRGB | CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION |
                                         CU_TRSF_SEAMLESS_CUBEMAP | UNNAMED_TEXTURE_FLAGS;

[[noreturn]] void refuse(const std::string& message) {
    fail(CUDA_ERROR_INVALID_VALUE, message);
}

bool is_cube(ImageShape shape) {
    return shape == ImageShape::Cube || shape == ImageShape::CubeLayers;
}

bool is_layered(ImageShape shape) {
    return shape == ImageShape::LineLayers || shape == ImageShape::PlaneLayers ||
           shape == ImageShape::CubeLayers;
}

/// Fills in what all levels of an array share.
void describe_array(Image& image, const CUDA_ARRAY3D_DESCRIPTOR& whole, const ArrayFormat& format) {
    image.shape = shape_of(whole);
    image.format = format.texel;
    image.channels = static_cast<std::uint8_t>(whole.NumChannels);
    image.texel_bytes = static_cast<std::uint8_t>(format.texel_bytes(whole.NumChannels));
    image.sampler.is_srgb = format.is_srgb;
    if (is_layered(image.shape)) {
        image.layers = static_cast<std::uint32_t>(whole.Depth);
        if (is_cube(image.shape)) {
            image.layers /= FACES_OF_CUBE;
        }
    }
}

ImageLevel level_of(const Array& array) {
    const CUDA_ARRAY3D_DESCRIPTOR& size = array.descriptor();
    const ArrayLayout& layout = array.layout();
    ImageLevel level;
    level.data = reinterpret_cast<std::byte*>(array.base());
    level.width = static_cast<std::uint32_t>(size.Width);
    level.height = std::max(static_cast<std::uint32_t>(size.Height), 1U);
    level.depth = shape_of(size) == ImageShape::Volume ? static_cast<std::uint32_t>(size.Depth) : 1;
    level.pitch_bytes = layout.row_bytes;
    level.slice_bytes = layout.slice_bytes();
    return level;
}

ImageOfResource image_of_array(const Array& array) {
    ImageOfResource result{{}, array.memory()};
    result.image.source = ImageSource::Array;
    describe_array(result.image, array.descriptor(), array.format());
    result.image.levels[0] = level_of(array);
    return result;
}

ImageOfResource image_of_mipmap(const MipmappedArray& mipmap) {
    ImageOfResource result{{}, mipmap.memory()};
    result.image.source = ImageSource::MipmappedArray;
    describe_array(result.image, mipmap.descriptor(), format_from(mipmap.descriptor().Format));
    result.image.level_count = static_cast<std::uint8_t>(mipmap.levels().size());
    for (std::size_t level = 0; level < mipmap.levels().size(); ++level) {
        result.image.levels[level] = level_of(*mipmap.levels()[level]);
    }
    return result;
}

/// Returns the format of linear or pitched memory, whose texels are plain numbers.
const ArrayFormat& memory_format_from(CUarray_format id, unsigned channels) {
    const ArrayFormat& format = format_from(id, channels);
    if (!format.is_plain() && id != CU_AD_FORMAT_UNORM_INT_101010_2) {
        refuse(std::string("linear memory cannot have the format CU_AD_FORMAT_") + format.name);
    }
    return format;
}

/// Whether the address is memory is checked when a kernel reads it, as on a GPU.
void check_address(CUdeviceptr address, const Device& device) {
    const auto alignment =
        static_cast<std::uint64_t>(device.attribute(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT));
    require(address != 0, "devPtr is NULL");
    if (address % alignment != 0) {
        refuse("devPtr is not a multiple of " + std::to_string(alignment) +
               " (CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT)");
    }
}

void check_limit(const char* field, std::uint64_t value, CUdevice_attribute limit,
                 const Device& device) {
    const auto most = static_cast<std::uint64_t>(device.attribute(limit));
    if (value > most) {
        refuse(std::string(field) + " is " + std::to_string(value) + ", but can be at most " +
               std::to_string(most));
    }
}

/// Fills in what linear and pitched memory have in common.
void describe_memory(Image& image, const ArrayFormat& format, unsigned channels,
                     CUdeviceptr address) {
    image.format = format.texel;
    image.channels = static_cast<std::uint8_t>(channels);
    image.texel_bytes = static_cast<std::uint8_t>(format.texel_bytes(channels));
    image.levels[0].data = reinterpret_cast<std::byte*>(address);
    image.address = address;
}

ImageOfResource image_of_linear(const CUDA_RESOURCE_DESC& resource, const Device& device) {
    const auto& linear = resource.res.linear;
    const ArrayFormat& format = memory_format_from(linear.format, linear.numChannels);
    const std::uint64_t width = linear.sizeInBytes / format.texel_bytes(linear.numChannels);
    const std::uint64_t most = max_linear_texels(linear.format, linear.numChannels);
    if (width > most) {
        refuse("sizeInBytes is " + std::to_string(linear.sizeInBytes) +
               ", but a texture of this format has at most " + std::to_string(most) + " texels");
    }
    check_address(linear.devPtr, device);
    ImageOfResource result{};
    Image& image = result.image;
    image.source = ImageSource::Linear;
    image.shape = ImageShape::Line;
    describe_memory(image, format, linear.numChannels, linear.devPtr);
    image.levels[0].width = static_cast<std::uint32_t>(width);
    image.bytes = linear.sizeInBytes;
    return result;
}

ImageOfResource image_of_pitched(const CUDA_RESOURCE_DESC& resource, const Device& device) {
    const auto& pitched = resource.res.pitch2D;
    const ArrayFormat& format = memory_format_from(pitched.format, pitched.numChannels);
    check_limit("width", pitched.width, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH, device);
    check_limit("height", pitched.height, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT,
                device);
    check_limit("pitchInBytes", pitched.pitchInBytes,
                CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH, device);
    const auto alignment =
        static_cast<std::uint64_t>(device.attribute(CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT));
    if (pitched.pitchInBytes % alignment != 0) {
        refuse("pitchInBytes is " + std::to_string(pitched.pitchInBytes) + ", not a multiple of " +
               std::to_string(alignment) + " (CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT)");
    }
    check_address(pitched.devPtr, device);
    ImageOfResource result{};
    Image& image = result.image;
    image.source = ImageSource::Pitched;
    image.shape = ImageShape::Plane;
    describe_memory(image, format, pitched.numChannels, pitched.devPtr);
    ImageLevel& level = image.levels[0];
    level.width = static_cast<std::uint32_t>(pitched.width);
    level.height = static_cast<std::uint32_t>(pitched.height);
    level.pitch_bytes = pitched.pitchInBytes;
    level.slice_bytes = pitched.pitchInBytes * pitched.height;
    const std::uint64_t row_bytes = std::uint64_t{level.width} * image.texel_bytes;
    image.bytes = level.height == 0 ? 0 : (level.height - 1) * level.pitch_bytes + row_bytes;
    return result;
}

ImageOfResource image_of(const CUDA_RESOURCE_DESC& resource, const Device& device) {
    require(resource.flags == 0, "the flags of a resource must be 0");
    switch (resource.resType) {
    case CU_RESOURCE_TYPE_ARRAY: {
        require(is_live(resource.res.array.hArray), "not an array, or it has been destroyed");
        const auto array = object_of(resource.res.array.hArray);
        if (array->format().is_video) {
            fail(CUDA_ERROR_NOT_SUPPORTED,
                 std::string("textures of the format CU_AD_FORMAT_") + array->format().name +
                     " are not supported by the emulated device" +
                     (array->format().is_planar() ? "; make one of each plane (cuArrayGetPlane)"
                                                  : ""));
        }
        return image_of_array(*array);
    }
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        require(is_live(resource.res.mipmap.hMipmappedArray),
                "not a mipmapped array, or it has been destroyed");
        return image_of_mipmap(*object_of(resource.res.mipmap.hMipmappedArray));
    case CU_RESOURCE_TYPE_LINEAR:
        return image_of_linear(resource, device);
    case CU_RESOURCE_TYPE_PITCH2D:
        return image_of_pitched(resource, device);
    default:
        refuse("unknown type " + std::to_string(static_cast<int>(resource.resType)) +
               " of a resource");
    }
}

// ---- samplers ----------------------------------------------------------------------------------

bool is_address_mode(CUaddress_mode mode) {
    return mode >= CU_TR_ADDRESS_MODE_WRAP && mode <= CU_TR_ADDRESS_MODE_BORDER;
}

/// Returns how many address modes an image uses.
std::size_t dimensions_of(ImageShape shape) {
    switch (shape) {
    case ImageShape::Line:
    case ImageShape::LineLayers:
        return 1;
    case ImageShape::Volume:
        return 3;
    default:
        return 2;
    }
}

ImageFilter filter_from(CUfilter_mode mode, const char* field) {
    if (mode != CU_TR_FILTER_MODE_POINT && mode != CU_TR_FILTER_MODE_LINEAR) {
        refuse(std::string("unknown ") + field + " " + std::to_string(static_cast<int>(mode)));
    }
    return static_cast<ImageFilter>(mode);
}

void check_texture_flags(const Image& image, unsigned flags) {
    const unsigned unknown = flags & ~KNOWN_TEXTURE_FLAGS;
    if (unknown != 0) {
        refuse("unknown flags " + std::to_string(unknown) + " of a texture");
    }
    require((flags & CU_TRSF_SEAMLESS_CUBEMAP) == 0 || is_cube(image.shape),
            "CU_TRSF_SEAMLESS_CUBEMAP needs an array with CUDA_ARRAY3D_CUBEMAP");
    require(!image.sampler.is_srgb || (flags & CU_TRSF_SRGB) != 0,
            "textures of an sRGB format need CU_TRSF_SRGB");
}

void describe_sampler(Image& image, const CUDA_TEXTURE_DESC& texture) {
    const auto has = [&](unsigned flag) { return (texture.flags & flag) != 0; };
    require_zero(texture.reserved);
    check_texture_flags(image, texture.flags);
    Sampler& sampler = image.sampler;
    for (std::size_t dimension = 0; dimension < dimensions_of(image.shape); ++dimension) {
        const CUaddress_mode mode = texture.addressMode[dimension];
        if (!is_address_mode(mode)) {
            refuse("addressMode[" + std::to_string(dimension) + "] is " +
                   std::to_string(static_cast<int>(mode)) + ", which is no address mode");
        }
        sampler.modes[dimension] = static_cast<AddressMode>(mode);
    }
    if (image.shape == ImageShape::Line && is_address_mode(texture.addressMode[1])) {
        // A GPU filters a line as a plane of one row, with the border of the second dimension.
        sampler.modes[1] = static_cast<AddressMode>(texture.addressMode[1]);
    }
    // NVIDIA's driver accepts a linear filter for integers, and the hardware filters them.
    sampler.filter = filter_from(texture.filterMode, "filterMode");
    sampler.level_filter = filter_from(texture.mipmapFilterMode, "mipmapFilterMode");
    sampler.reads_integers = has(CU_TRSF_READ_AS_INTEGER);
    sampler.is_normalized = has(CU_TRSF_NORMALIZED_COORDINATES);
    sampler.is_srgb = has(CU_TRSF_SRGB);
    sampler.is_seamless = has(CU_TRSF_SEAMLESS_CUBEMAP);
    sampler.disables_trilinear = has(CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION);
    sampler.max_anisotropy = texture.maxAnisotropy;
    if (texture.maxAnisotropy > 1) {
        static std::atomic_flag is_told;
        if (!is_told.test_and_set()) {
            log(LogLevel::Warn, "maxAnisotropy is ignored: textures are filtered isotropically");
        }
    }
    sampler.level_bias = texture.mipmapLevelBias;
    sampler.min_level = texture.minMipmapLevelClamp;
    sampler.max_level = texture.maxMipmapLevelClamp;
    std::ranges::copy(texture.borderColor, sampler.border.begin());
}

// ---- views -------------------------------------------------------------------------------------

void check_equal(const char* field, std::uint64_t value, std::uint64_t expected) {
    if (value != expected) {
        refuse(std::string("the ") + field + " of the resource view is " + std::to_string(value) +
               ", but must be " + std::to_string(expected));
    }
}

/// Checks the first and last level or layer of a view, and returns how many it has.
std::uint32_t range_of(const char* field, unsigned first, unsigned last, std::uint32_t count,
                       bool is_clamped) {
    if (first > last || first >= count || (last >= count && !is_clamped)) {
        refuse(std::string("the ") + field + " of the resource view are " + std::to_string(first) +
               " to " + std::to_string(last) + ", but must be from 0 to " +
               std::to_string(count - 1));
    }
    return std::min(last, count - 1) - first + 1;
}

void apply_view(Image& image, const CUDA_ARRAY3D_DESCRIPTOR& whole,
                const CUDA_RESOURCE_VIEW_DESC& view) {
    require_zero(view.reserved);
    const ViewFormat& format = view_format_from(view.format);
    const bool is_compressed = is_block_compressed(format.texel);
    require(!is_block_compressed(image.format), "arrays of a compressed format have no views");
    require(format.bytes == image.texel_bytes,
            "the format of the resource view has another size than texels of the array");
    require(!is_compressed || image.format == TexelFormat::U32,
            "a compressed resource view needs an array of CU_AD_FORMAT_UNSIGNED_INT32");
    const std::uint32_t scale = is_compressed ? BLOCK_TEXELS : 1;
    check_equal("width", view.width, whole.Width * scale);
    check_equal("height", view.height, whole.Height * scale);
    check_equal("depth", view.depth, whole.Depth);
    const bool has_levels = image.source == ImageSource::MipmappedArray;
    const std::uint32_t levels = range_of("levels", view.firstMipmapLevel, view.lastMipmapLevel,
                                          image.level_count, has_levels);
    const std::uint32_t slices =
        is_layered(image.shape) ? static_cast<std::uint32_t>(whole.Depth) : 1;
    const std::uint32_t layers =
        range_of("layers", view.firstLayer, view.lastLayer, slices, is_layered(image.shape));

    // The layers of cubemaps are faces. NVIDIA's driver accepts views that do not have six of them;
    // such a view begins early enough for a whole cube.
    std::uint32_t first_layer = view.firstLayer;
    if (is_layered(image.shape) && is_cube(image.shape)) {
        const std::uint32_t cubes = std::max(layers / FACES_OF_CUBE, 1U);
        first_layer = std::min(first_layer, slices - cubes * FACES_OF_CUBE);
    }

    image.format = format.texel;
    image.channels = format.channels;
    for (std::size_t index = 0; index < image.level_count; ++index) {
        ImageLevel& level = image.levels[index];
        if (is_compressed) { // of a level, the size in texels may be no multiple of 4
            level.width = std::clamp(static_cast<std::uint32_t>(view.width >> index), 1U,
                                     level.width * BLOCK_TEXELS);
            level.height = std::clamp(static_cast<std::uint32_t>(view.height >> index), 1U,
                                      level.height * BLOCK_TEXELS);
        }
        level.data += first_layer * level.slice_bytes;
    }
    std::copy_n(image.levels.begin() + view.firstMipmapLevel, levels, image.levels.begin());
    image.level_count = static_cast<std::uint8_t>(levels);
    if (is_layered(image.shape)) {
        image.layers = is_cube(image.shape) ? std::max(layers / FACES_OF_CUBE, 1U) : layers;
    }
}

} // namespace

ImageOfResource texture_image(const CUDA_RESOURCE_DESC& resource, const CUDA_TEXTURE_DESC& texture,
                              const CUDA_RESOURCE_VIEW_DESC* view, const Device& device) {
    ImageOfResource result = image_of(resource, device);
    if (view != nullptr && resource.resType == CU_RESOURCE_TYPE_ARRAY) {
        apply_view(result.image, object_of(resource.res.array.hArray)->descriptor(), *view);
    } else if (view != nullptr && resource.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY) {
        apply_view(result.image, object_of(resource.res.mipmap.hMipmappedArray)->descriptor(),
                   *view);
    }
    describe_sampler(result.image, texture);
    return result;
}

ImageOfResource surface_image(const CUDA_RESOURCE_DESC& resource) {
    require(resource.resType == CU_RESOURCE_TYPE_ARRAY,
            "surfaces are made of arrays: resType must be CU_RESOURCE_TYPE_ARRAY");
    require(resource.flags == 0, "the flags of a resource must be 0");
    require(is_live(resource.res.array.hArray), "not an array, or it has been destroyed");
    // NVIDIA's driver does not ask for CUDA_ARRAY3D_SURFACE_LDST here.
    const auto array = object_of(resource.res.array.hArray);
    if (array->format().is_compressed() || array->format().is_video) {
        fail(CUDA_ERROR_NOT_SUPPORTED, std::string("surfaces of the format CU_AD_FORMAT_") +
                                           array->format().name +
                                           " are not supported by the emulated device");
    }
    return image_of_array(*array);
}

} // namespace cuprum::emulator
