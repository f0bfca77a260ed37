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
    const auto resource = texture_reference_from(handle)->settings().resource;
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

extern "C" {

CUresult CUDAAPI cuModuleGetTexRef(CUtexref* pTexRef, CUmodule hmod, const char* name) {
    return entry("cuModuleGetTexRef", [&] {
        require(pTexRef != nullptr && name != nullptr, "pTexRef and name must not be NULL");
        *pTexRef = module_from(hmod)->texture_reference(name)->handle<CUtexref>();
    });
}

CUresult CUDAAPI cuModuleGetSurfRef(CUsurfref* pSurfRef, CUmodule hmod, const char* name) {
    return entry("cuModuleGetSurfRef", [&] {
        require(pSurfRef != nullptr && name != nullptr, "pSurfRef and name must not be NULL");
        *pSurfRef = module_from(hmod)->surface_reference(name)->handle<CUsurfref>();
    });
}

CUresult CUDAAPI cuParamSetTexRef(CUfunction hfunc, int /*texunit*/, CUtexref hTexRef) {
    return entry("cuParamSetTexRef", [&] {
        // Kernels reach the references of their module without it.
        (void)function_from(hfunc);
        (void)texture_reference_from(hTexRef);
    });
}

CUresult CUDAAPI cuTexRefCreate(CUtexref* pTexRef) {
    return entry("cuTexRefCreate", [&] {
        require(pTexRef != nullptr, "pTexRef must not be NULL");
        const auto reference = std::make_shared<TextureReference>(current_context(), 0);
        HandleTable::instance().insert(HandleKind::TextureReference, reference);
        *pTexRef = reference->handle<CUtexref>();
    });
}

CUresult CUDAAPI cuTexRefDestroy(CUtexref hTexRef) {
    return entry("cuTexRefDestroy", [&] {
        const auto reference = texture_reference_from(hTexRef);
        if (!reference->is_of_module()) { // the others go with their module
            reference->destroy();
        }
    });
}

// ---- what is bound -----------------------------------------------------------------------------

CUresult CUDAAPI cuTexRefSetArray(CUtexref hTexRef, CUarray hArray, unsigned int Flags) {
    return entry("cuTexRefSetArray", [&] {
        require((Flags & ~static_cast<unsigned>(CU_TRSA_OVERRIDE_FORMAT)) == 0,
                "Flags must be CU_TRSA_OVERRIDE_FORMAT");
        const auto array = array_from(hArray);
        texture_reference_from(hTexRef)->change([&](TextureSettings& settings) {
            CUDA_RESOURCE_DESC resource{};
            resource.resType = CU_RESOURCE_TYPE_ARRAY;
            resource.res.array.hArray = hArray;
            settings.resource = resource;
            settings.format = array->descriptor().Format;
            settings.channels = array->descriptor().NumChannels;
        });
    });
}

CUresult CUDAAPI cuTexRefSetMipmappedArray(CUtexref hTexRef, CUmipmappedArray hMipmappedArray,
                                           unsigned int Flags) {
    return entry("cuTexRefSetMipmappedArray", [&] {
        require((Flags & ~static_cast<unsigned>(CU_TRSA_OVERRIDE_FORMAT)) == 0,
                "Flags must be CU_TRSA_OVERRIDE_FORMAT");
        const auto mipmap = mipmapped_array_from(hMipmappedArray);
        texture_reference_from(hTexRef)->change([&](TextureSettings& settings) {
            CUDA_RESOURCE_DESC resource{};
            resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
            resource.res.mipmap.hMipmappedArray = hMipmappedArray;
            settings.resource = resource;
            settings.format = mipmap->descriptor().Format;
            settings.channels = mipmap->descriptor().NumChannels;
        });
    });
}

CUresult CUDAAPI cuTexRefSetAddress_v2(size_t* ByteOffset, CUtexref hTexRef, CUdeviceptr dptr,
                                       size_t bytes) {
    return entry("cuTexRefSetAddress", [&] {
        const std::uint64_t offset =
            bind_linear(*texture_reference_from(hTexRef), dptr, bytes, ByteOffset != nullptr);
        if (ByteOffset != nullptr) {
            *ByteOffset = offset;
        }
    });
}

CUresult CUDAAPI cuTexRefSetAddress2D_v3(CUtexref hTexRef, const CUDA_ARRAY_DESCRIPTOR* desc,
                                         CUdeviceptr dptr, size_t Pitch) {
    return entry("cuTexRefSetAddress2D", [&] {
        require(desc != nullptr, "desc must not be NULL");
        const auto reference = texture_reference_from(hTexRef);
        CUDA_RESOURCE_DESC resource{};
        resource.resType = CU_RESOURCE_TYPE_PITCH2D;
        resource.res.pitch2D = {dptr,        desc->Format, desc->NumChannels,
                                desc->Width, desc->Height, Pitch};
        // Throws if the memory cannot be a texture.
        (void)texture_image(resource, {}, nullptr, reference->context().device());
        reference->change([&](TextureSettings& settings) {
            settings.resource = resource;
            settings.format = desc->Format;
            settings.channels = desc->NumChannels;
        });
    });
}

CUresult CUDAAPI cuTexRefSetAddress2D_v2(CUtexref hTexRef, const CUDA_ARRAY_DESCRIPTOR* desc,
                                         CUdeviceptr dptr, size_t Pitch) {
    return cuTexRefSetAddress2D_v3(hTexRef, desc, dptr, Pitch);
}

CUresult CUDAAPI cuTexRefGetArray(CUarray* phArray, CUtexref hTexRef) {
    return entry("cuTexRefGetArray", [&] {
        put(phArray, bound(hTexRef, CU_RESOURCE_TYPE_ARRAY, "no array is bound").res.array.hArray);
    });
}

CUresult CUDAAPI cuTexRefGetMipmappedArray(CUmipmappedArray* phMipmappedArray, CUtexref hTexRef) {
    return entry("cuTexRefGetMipmappedArray", [&] {
        put(phMipmappedArray,
            bound(hTexRef, CU_RESOURCE_TYPE_MIPMAPPED_ARRAY, "no mipmapped array is bound")
                .res.mipmap.hMipmappedArray);
    });
}

CUresult CUDAAPI cuTexRefGetAddress_v2(CUdeviceptr* pdptr, CUtexref hTexRef) {
    return entry("cuTexRefGetAddress", [&] {
        const auto resource = texture_reference_from(hTexRef)->settings().resource;
        require(resource.has_value() && (resource->resType == CU_RESOURCE_TYPE_LINEAR ||
                                         resource->resType == CU_RESOURCE_TYPE_PITCH2D),
                "no memory is bound");
        put(pdptr, resource->resType == CU_RESOURCE_TYPE_LINEAR ? resource->res.linear.devPtr
                                                                : resource->res.pitch2D.devPtr);
    });
}

// ---- how it is read ----------------------------------------------------------------------------

CUresult CUDAAPI cuTexRefSetFormat(CUtexref hTexRef, CUarray_format fmt, int NumPackedComponents) {
    return entry("cuTexRefSetFormat", [&] {
        require(NumPackedComponents >= 0 && NumPackedComponents <= 4 && NumPackedComponents != 3,
                "NumPackedComponents must be 1, 2 or 4");
        texture_reference_from(hTexRef)->change([&](TextureSettings& settings) {
            settings.format = fmt;
            settings.channels = static_cast<unsigned>(NumPackedComponents);
            if (settings.resource.has_value() &&
                settings.resource->resType == CU_RESOURCE_TYPE_LINEAR) {
                settings.resource->res.linear.format = settings.format;
                settings.resource->res.linear.numChannels = settings.channels;
            }
        });
    });
}

CUresult CUDAAPI cuTexRefGetFormat(CUarray_format* pFormat, int* pNumChannels, CUtexref hTexRef) {
    return entry("cuTexRefGetFormat", [&] {
        const TextureSettings settings = texture_reference_from(hTexRef)->settings();
        if (pFormat != nullptr) {
            *pFormat = settings.format;
        }
        if (pNumChannels != nullptr) {
            *pNumChannels = static_cast<int>(settings.channels);
        }
    });
}

CUresult CUDAAPI cuTexRefSetAddressMode(CUtexref hTexRef, int dim, CUaddress_mode am) {
    return entry("cuTexRefSetAddressMode", [&] {
        check_dimension(dim);
        const bool is_mode = am >= CU_TR_ADDRESS_MODE_WRAP && am <= CU_TR_ADDRESS_MODE_BORDER;
        texture_reference_from(hTexRef)->change([&](TextureSettings& settings) {
            // NVIDIA's driver replaces what is no mode.
            settings.texture.addressMode[dim] = is_mode ? am : CU_TR_ADDRESS_MODE_CLAMP;
        });
    });
}

CUresult CUDAAPI cuTexRefGetAddressMode(CUaddress_mode* pam, CUtexref hTexRef, int dim) {
    return entry("cuTexRefGetAddressMode", [&] {
        check_dimension(dim);
        put(pam, texture_reference_from(hTexRef)->settings().texture.addressMode[dim]);
    });
}

CUresult CUDAAPI cuTexRefSetFilterMode(CUtexref hTexRef, CUfilter_mode fm) {
    return entry("cuTexRefSetFilterMode", [&] {
        texture_reference_from(hTexRef)->change(
            [&](TextureSettings& settings) { settings.texture.filterMode = fm; });
    });
}

CUresult CUDAAPI cuTexRefGetFilterMode(CUfilter_mode* pfm, CUtexref hTexRef) {
    return entry("cuTexRefGetFilterMode",
                 [&] { put(pfm, texture_reference_from(hTexRef)->settings().texture.filterMode); });
}

CUresult CUDAAPI cuTexRefSetMipmapFilterMode(CUtexref hTexRef, CUfilter_mode fm) {
    return entry("cuTexRefSetMipmapFilterMode", [&] {
        require(fm == CU_TR_FILTER_MODE_POINT || fm == CU_TR_FILTER_MODE_LINEAR,
                "unknown filter mode");
        texture_reference_from(hTexRef)->change(
            [&](TextureSettings& settings) { settings.texture.mipmapFilterMode = fm; });
    });
}

CUresult CUDAAPI cuTexRefGetMipmapFilterMode(CUfilter_mode* pfm, CUtexref hTexRef) {
    return entry("cuTexRefGetMipmapFilterMode", [&] {
        put(pfm, texture_reference_from(hTexRef)->settings().texture.mipmapFilterMode);
    });
}

CUresult CUDAAPI cuTexRefSetMipmapLevelBias(CUtexref hTexRef, float bias) {
    return entry("cuTexRefSetMipmapLevelBias", [&] {
        texture_reference_from(hTexRef)->change(
            [&](TextureSettings& settings) { settings.texture.mipmapLevelBias = bias; });
    });
}

CUresult CUDAAPI cuTexRefGetMipmapLevelBias(float* pbias, CUtexref hTexRef) {
    return entry("cuTexRefGetMipmapLevelBias", [&] {
        put(pbias, texture_reference_from(hTexRef)->settings().texture.mipmapLevelBias);
    });
}

CUresult CUDAAPI cuTexRefSetMipmapLevelClamp(CUtexref hTexRef, float minMipmapLevelClamp,
                                             float maxMipmapLevelClamp) {
    return entry("cuTexRefSetMipmapLevelClamp", [&] {
        texture_reference_from(hTexRef)->change([&](TextureSettings& settings) {
            settings.texture.minMipmapLevelClamp = minMipmapLevelClamp;
            settings.texture.maxMipmapLevelClamp = maxMipmapLevelClamp;
        });
    });
}

CUresult CUDAAPI cuTexRefGetMipmapLevelClamp(float* pminMipmapLevelClamp,
                                             float* pmaxMipmapLevelClamp, CUtexref hTexRef) {
    return entry("cuTexRefGetMipmapLevelClamp", [&] {
        const TextureSettings settings = texture_reference_from(hTexRef)->settings();
        put(pminMipmapLevelClamp, settings.texture.minMipmapLevelClamp);
        put(pmaxMipmapLevelClamp, settings.texture.maxMipmapLevelClamp);
    });
}

CUresult CUDAAPI cuTexRefSetMaxAnisotropy(CUtexref hTexRef, unsigned int maxAniso) {
    return entry("cuTexRefSetMaxAnisotropy", [&] {
        texture_reference_from(hTexRef)->change(
            [&](TextureSettings& settings) { settings.texture.maxAnisotropy = maxAniso; });
    });
}

CUresult CUDAAPI cuTexRefGetMaxAnisotropy(int* pmaxAniso, CUtexref hTexRef) {
    return entry("cuTexRefGetMaxAnisotropy", [&] {
        put(pmaxAniso, texture_reference_from(hTexRef)->settings().texture.maxAnisotropy);
    });
}

CUresult CUDAAPI cuTexRefSetBorderColor(CUtexref hTexRef, float* pBorderColor) {
    return entry("cuTexRefSetBorderColor", [&] {
        require(pBorderColor != nullptr, "pBorderColor must not be NULL");
        texture_reference_from(hTexRef)->change([&](TextureSettings& settings) {
            std::copy_n(pBorderColor, std::size(settings.texture.borderColor),
                        settings.texture.borderColor);
        });
    });
}

CUresult CUDAAPI cuTexRefGetBorderColor(float* pBorderColor, CUtexref hTexRef) {
    return entry("cuTexRefGetBorderColor", [&] {
        require(pBorderColor != nullptr, "pBorderColor must not be NULL");
        const TextureSettings settings = texture_reference_from(hTexRef)->settings();
        std::ranges::copy(settings.texture.borderColor, pBorderColor);
    });
}

CUresult CUDAAPI cuTexRefSetFlags(CUtexref hTexRef, unsigned int Flags) {
    return entry("cuTexRefSetFlags", [&] {
        require((Flags & ~REFERENCE_FLAGS) == 0, "unknown flags of a texture reference");
        texture_reference_from(hTexRef)->change(
            [&](TextureSettings& settings) { settings.texture.flags = Flags; });
    });
}

CUresult CUDAAPI cuTexRefGetFlags(unsigned int* pFlags, CUtexref hTexRef) {
    return entry("cuTexRefGetFlags",
                 [&] { put(pFlags, texture_reference_from(hTexRef)->settings().texture.flags); });
}

// ---- surfaces ----------------------------------------------------------------------------------

CUresult CUDAAPI cuSurfRefSetArray(CUsurfref hSurfRef, CUarray hArray, unsigned int Flags) {
    return entry("cuSurfRefSetArray", [&] {
        require(Flags == 0, "Flags must be 0");
        surface_reference_from(hSurfRef)->bind(hArray);
    });
}

CUresult CUDAAPI cuSurfRefGetArray(CUarray* phArray, CUsurfref hSurfRef) {
    return entry("cuSurfRefGetArray",
                 [&] { put(phArray, surface_reference_from(hSurfRef)->array()); });
}

} // extern "C"
