// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Texture and surface references. CUDA deprecates them, but cuda.h still declares their functions.

#include "api/entry.hpp"
#include "api/handles.hpp"
#include "objects/devices/device.hpp"
#include "objects/process/error.hpp"
#include "objects/textures/reference.hpp"

#include <algorithm>
#include <string>

using namespace cuprum::emulator;

namespace {

constexpr int DIMENSIONS = 3;
/// The flags that cuTexRefSetFlags accepts on NVIDIA's driver.
constexpr unsigned REFERENCE_FLAGS = 0x3f;

void check_dimension(int dimension) {
    require(dimension >= 0 && dimension < DIMENSIONS, "dim must be 0, 1 or 2");
}

std::uint64_t texture_alignment(const TextureReference& reference) {
    return static_cast<std::uint64_t>(
        reference.context().device().attribute(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT));
}

/// Returns what is bound, if it is of this type. Throws INVALID_VALUE if it is not.
CUDA_RESOURCE_DESC bound(CUtexref handle, CUresourcetype type, const char* complaint) {
    const auto resource = object_of(handle)->settings().resource;
    require(resource.has_value() && resource->resType == type, complaint);
    return *resource;
}

/// Binds linear memory. Returns the bytes between the aligned address that is bound and `address`.
std::uint64_t bind_linear(TextureReference& reference, CUdeviceptr address, std::size_t bytes,
                          bool has_offset) {
    const std::uint64_t offset = address % texture_alignment(reference);
    require(offset == 0 || has_offset,
            "dptr is not aligned to CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, and ByteOffset is NULL");
    reference.change([&](TextureSettings& settings) {
        const ArrayFormat* const format = find_format(settings.format);
        const std::uint64_t texel_bytes =
            format == nullptr ? 0 : format->texel_bytes(settings.channels);
        require(texel_bytes == 0 ||
                    bytes / texel_bytes <= max_linear_texels(settings.format, settings.channels),
                "the memory has more texels than a texture of linear memory can have");
        settings.resource.reset();
        if (address != 0) {
            CUDA_RESOURCE_DESC resource{};
            resource.resType = CU_RESOURCE_TYPE_LINEAR;
            resource.res.linear = {address - offset, settings.format, settings.channels,
                                   bytes + offset};
            settings.resource = resource;
        }
    });
    return offset;
}

} // namespace

ROW(cuModuleGetTexRef, 2000, CUtexref& pTexRef, Module& module, const std::string& name) {
    pTexRef = module.texture_reference(name)->handle<CUtexref>();
}

ROW(cuModuleGetSurfRef, 3000, CUsurfref& pSurfRef, Module& module, const std::string& name) {
    pSurfRef = module.surface_reference(name)->handle<CUsurfref>();
}

// Kernels reach the references of their module without it.
ROW(cuParamSetTexRef, 2000, Function& /*hfunc*/, int /*texunit*/, TextureReference& /*hTexRef*/) {}

ROW(cuTexRefCreate, 2000, CUtexref& pTexRef) {
    pTexRef = new_handle<CUtexref>(std::make_shared<TextureReference>(current_context(), 0));
}

ROW(cuTexRefDestroy, 2000, TextureReference& reference) {
    if (!reference.is_of_module()) { // the others go with their module
        reference.destroy();
    }
}

// ---- what is bound -----------------------------------------------------------------------------

ROW(cuTexRefSetArray, 2000, CUtexref hTexRef, CUarray hArray,
    Flags<CU_TRSA_OVERRIDE_FORMAT> /*flags*/) {
    const auto array = object_of(hArray);
    object_of(hTexRef)->change([&](TextureSettings& settings) {
        CUDA_RESOURCE_DESC resource{};
        resource.resType = CU_RESOURCE_TYPE_ARRAY;
        resource.res.array.hArray = hArray;
        settings.resource = resource;
        settings.format = array->descriptor().Format;
        settings.channels = array->descriptor().NumChannels;
    });
}

ROW(cuTexRefSetMipmappedArray, 5000, CUtexref hTexRef, CUmipmappedArray hMipmappedArray,
    Flags<CU_TRSA_OVERRIDE_FORMAT> /*flags*/) {
    const auto mipmap = object_of(hMipmappedArray);
    object_of(hTexRef)->change([&](TextureSettings& settings) {
        CUDA_RESOURCE_DESC resource{};
        resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
        resource.res.mipmap.hMipmappedArray = hMipmappedArray;
        settings.resource = resource;
        settings.format = mipmap->descriptor().Format;
        settings.channels = mipmap->descriptor().NumChannels;
    });
}

ROW(cuTexRefSetAddress_v2, 3020, size_t* ByteOffset, TextureReference& reference, CUdeviceptr dptr,
    size_t bytes) {
    const std::uint64_t offset = bind_linear(reference, dptr, bytes, ByteOffset != nullptr);
    put_optional(ByteOffset, offset);
}

ROW(cuTexRefSetAddress2D_v3, 4010, TextureReference& reference, const CUDA_ARRAY_DESCRIPTOR& desc,
    CUdeviceptr dptr, size_t Pitch) {
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_PITCH2D;
    resource.res.pitch2D = {dptr, desc.Format, desc.NumChannels, desc.Width, desc.Height, Pitch};
    // Throws if the memory cannot be a texture.
    (void)texture_image(resource, {}, nullptr, reference.context().device());
    reference.change([&](TextureSettings& settings) {
        settings.resource = resource;
        settings.format = desc.Format;
        settings.channels = desc.NumChannels;
    });
}

ALIAS(cuTexRefSetAddress2D_v2, 3020, cuTexRefSetAddress2D_v3);

ROW(cuTexRefGetArray, 2000, CUarray* phArray, CUtexref hTexRef) {
    put(phArray, bound(hTexRef, CU_RESOURCE_TYPE_ARRAY, "no array is bound").res.array.hArray);
}

ROW(cuTexRefGetMipmappedArray, 5000, CUmipmappedArray* phMipmappedArray, CUtexref hTexRef) {
    put(phMipmappedArray,
        bound(hTexRef, CU_RESOURCE_TYPE_MIPMAPPED_ARRAY, "no mipmapped array is bound")
            .res.mipmap.hMipmappedArray);
}

ROW(cuTexRefGetAddress_v2, 3020, CUdeviceptr* pdptr, TextureReference& reference) {
    const auto resource = reference.settings().resource;
    require(resource.has_value() && (resource->resType == CU_RESOURCE_TYPE_LINEAR ||
                                     resource->resType == CU_RESOURCE_TYPE_PITCH2D),
            "no memory is bound");
    put(pdptr, resource->resType == CU_RESOURCE_TYPE_LINEAR ? resource->res.linear.devPtr
                                                            : resource->res.pitch2D.devPtr);
}

// ---- how it is read ----------------------------------------------------------------------------

ROW(cuTexRefSetFormat, 2000, CUtexref hTexRef, CUarray_format fmt, int NumPackedComponents) {
    require(NumPackedComponents >= 0 && NumPackedComponents <= 4 && NumPackedComponents != 3,
            "NumPackedComponents must be 1, 2 or 4");
    object_of(hTexRef)->change([&](TextureSettings& settings) {
        settings.format = fmt;
        settings.channels = static_cast<unsigned>(NumPackedComponents);
        if (settings.resource.has_value() &&
            settings.resource->resType == CU_RESOURCE_TYPE_LINEAR) {
            settings.resource->res.linear.format = settings.format;
            settings.resource->res.linear.numChannels = settings.channels;
        }
    });
}

ROW(cuTexRefGetFormat, 2000, CUarray_format* pFormat, int* pNumChannels,
    TextureReference& reference) {
    const TextureSettings settings = reference.settings();
    put_optional(pFormat, settings.format);
    put_optional(pNumChannels, static_cast<int>(settings.channels));
}

ROW(cuTexRefSetAddressMode, 2000, CUtexref hTexRef, int dim, CUaddress_mode am) {
    check_dimension(dim);
    const bool is_mode = am >= CU_TR_ADDRESS_MODE_WRAP && am <= CU_TR_ADDRESS_MODE_BORDER;
    object_of(hTexRef)->change([&](TextureSettings& settings) {
        // NVIDIA's driver replaces what is no mode.
        settings.texture.addressMode[dim] = is_mode ? am : CU_TR_ADDRESS_MODE_CLAMP;
    });
}

ROW(cuTexRefGetAddressMode, 2000, CUaddress_mode* pam, CUtexref hTexRef, int dim) {
    check_dimension(dim);
    put(pam, object_of(hTexRef)->settings().texture.addressMode[dim]);
}

ROW(cuTexRefSetFilterMode, 2000, TextureReference& reference, CUfilter_mode fm) {
    reference.change([&](TextureSettings& settings) { settings.texture.filterMode = fm; });
}

ROW(cuTexRefGetFilterMode, 2000, CUfilter_mode* pfm, TextureReference& reference) {
    put(pfm, reference.settings().texture.filterMode);
}

ROW(cuTexRefSetMipmapFilterMode, 5000, CUtexref hTexRef, CUfilter_mode fm) {
    require(fm == CU_TR_FILTER_MODE_POINT || fm == CU_TR_FILTER_MODE_LINEAR, "unknown filter mode");
    object_of(hTexRef)->change(
        [&](TextureSettings& settings) { settings.texture.mipmapFilterMode = fm; });
}

ROW(cuTexRefGetMipmapFilterMode, 5000, CUfilter_mode* pfm, TextureReference& reference) {
    put(pfm, reference.settings().texture.mipmapFilterMode);
}

ROW(cuTexRefSetMipmapLevelBias, 5000, TextureReference& reference, float bias) {
    reference.change([&](TextureSettings& settings) { settings.texture.mipmapLevelBias = bias; });
}

ROW(cuTexRefGetMipmapLevelBias, 5000, float* pbias, TextureReference& reference) {
    put(pbias, reference.settings().texture.mipmapLevelBias);
}

ROW(cuTexRefSetMipmapLevelClamp, 5000, TextureReference& reference, float minMipmapLevelClamp,
    float maxMipmapLevelClamp) {
    reference.change([&](TextureSettings& settings) {
        settings.texture.minMipmapLevelClamp = minMipmapLevelClamp;
        settings.texture.maxMipmapLevelClamp = maxMipmapLevelClamp;
    });
}

ROW(cuTexRefGetMipmapLevelClamp, 5000, float* pminMipmapLevelClamp, float* pmaxMipmapLevelClamp,
    TextureReference& reference) {
    const TextureSettings settings = reference.settings();
    put(pminMipmapLevelClamp, settings.texture.minMipmapLevelClamp);
    put(pmaxMipmapLevelClamp, settings.texture.maxMipmapLevelClamp);
}

ROW(cuTexRefSetMaxAnisotropy, 5000, TextureReference& reference, unsigned int maxAniso) {
    reference.change([&](TextureSettings& settings) { settings.texture.maxAnisotropy = maxAniso; });
}

ROW(cuTexRefGetMaxAnisotropy, 5000, int* pmaxAniso, TextureReference& reference) {
    put(pmaxAniso, reference.settings().texture.maxAnisotropy);
}

ROW(cuTexRefSetBorderColor, 8000, TextureReference& reference, float* pBorderColor) {
    require(pBorderColor != nullptr, "pBorderColor must not be NULL");
    reference.change([&](TextureSettings& settings) {
        std::copy_n(pBorderColor, std::size(settings.texture.borderColor),
                    settings.texture.borderColor);
    });
}

ROW(cuTexRefGetBorderColor, 8000, float* pBorderColor, TextureReference& reference) {
    require(pBorderColor != nullptr, "pBorderColor must not be NULL");
    const TextureSettings settings = reference.settings();
    std::ranges::copy(settings.texture.borderColor, pBorderColor);
}

ROW(cuTexRefSetFlags, 2000, CUtexref hTexRef, unsigned int flags) {
    require((flags & ~REFERENCE_FLAGS) == 0, "unknown flags of a texture reference");
    object_of(hTexRef)->change([&](TextureSettings& settings) { settings.texture.flags = flags; });
}

ROW(cuTexRefGetFlags, 2000, unsigned int* pFlags, TextureReference& reference) {
    put(pFlags, reference.settings().texture.flags);
}

// ---- surfaces ----------------------------------------------------------------------------------

ROW(cuSurfRefSetArray, 3000, SurfaceReference& reference, CUarray hArray, Flags<> /*flags*/) {
    reference.bind(hArray);
}

ROW(cuSurfRefGetArray, 3000, CUarray* phArray, SurfaceReference& reference) {
    put(phArray, reference.array());
}
