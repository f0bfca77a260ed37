// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Texture and surface objects.

#include "api/entry.hpp"
#include "api/handles.hpp"
#include "objects/graphs/capture.hpp"
#include "objects/process/error.hpp"
#include "objects/textures/image_object.hpp"

#include <algorithm>

using namespace cuprum::emulator;

namespace {

/// Returns the context of a new object: the current one, or that of its array.
std::shared_ptr<Context> context_for(const CUDA_RESOURCE_DESC& resource) {
    if (current_context_or_null() == nullptr && resource.resType == CU_RESOURCE_TYPE_ARRAY &&
        is_array(resource.res.array.hArray)) {
        auto context = array_from(resource.res.array.hArray)->context().shared_from_this();
        context->check_usable();
        return context;
    }
    return current_context();
}

/// Returns an object of the current context, or of any if none is current.
std::shared_ptr<const ImageObject> object_from(ImageUse use, std::uint64_t handle) {
    return ImageObjects::instance().find(current_context_or_null().get(), use, handle);
}

/// Returns the resource of an object. An array that has been destroyed is NULL.
CUDA_RESOURCE_DESC resource_of(const ImageObject& object) {
    CUDA_RESOURCE_DESC resource = object.resource;
    if (resource.resType == CU_RESOURCE_TYPE_ARRAY && !is_array(resource.res.array.hArray)) {
        resource.res.array.hArray = nullptr;
    } else if (resource.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY &&
               !is_mipmapped_array(resource.res.mipmap.hMipmappedArray)) {
        resource.res.mipmap.hMipmappedArray = nullptr;
    }
    return resource;
}

} // namespace

extern "C" {

CUresult CUDAAPI cuTexObjectCreate(CUtexObject* pTexObject, const CUDA_RESOURCE_DESC* pResDesc,
                                   const CUDA_TEXTURE_DESC* pTexDesc,
                                   const CUDA_RESOURCE_VIEW_DESC* pResViewDesc) {
    return entry("cuTexObjectCreate", [&] {
        require(pTexObject != nullptr, "pTexObject must not be NULL");
        require(pResDesc != nullptr, "pResDesc must not be NULL");
        require(pTexDesc != nullptr, "pTexDesc must not be NULL");
        Capture::refuse_unsafe_call();
        *pTexObject = ImageObjects::instance().create_texture(context_for(*pResDesc), *pResDesc,
                                                              *pTexDesc, pResViewDesc);
    });
}

CUresult CUDAAPI cuTexObjectDestroy(CUtexObject texObject) {
    return entry("cuTexObjectDestroy", [&] {
        Capture::refuse_unsafe_call();
        ImageObjects::instance().destroy(current_context_or_null().get(), ImageUse::Texture,
                                         texObject);
    });
}

CUresult CUDAAPI cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC* pResDesc, CUtexObject texObject) {
    return entry("cuTexObjectGetResourceDesc",
                 [&] { put(pResDesc, resource_of(*object_from(ImageUse::Texture, texObject))); });
}

CUresult CUDAAPI cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC* pTexDesc, CUtexObject texObject) {
    return entry("cuTexObjectGetTextureDesc", [&] {
        require(pTexDesc != nullptr, "pTexDesc must not be NULL");
        // NVIDIA's driver does not write the border colour and the reserved fields.
        CUDA_TEXTURE_DESC result = object_from(ImageUse::Texture, texObject)->texture;
        std::ranges::copy(pTexDesc->borderColor, result.borderColor);
        std::ranges::copy(pTexDesc->reserved, result.reserved);
        *pTexDesc = result;
    });
}

CUresult CUDAAPI cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC* pResViewDesc,
                                                CUtexObject texObject) {
    return entry("cuTexObjectGetResourceViewDesc", [&] {
        require(pResViewDesc != nullptr, "pResViewDesc must not be NULL");
        const auto object = object_from(ImageUse::Texture, texObject);
        // NVIDIA's driver documents an error for textures without a view, but writes nothing.
        if (object->view.has_value()) {
            *pResViewDesc = *object->view;
        }
    });
}

CUresult CUDAAPI cuSurfObjectCreate(CUsurfObject* pSurfObject, const CUDA_RESOURCE_DESC* pResDesc) {
    return entry("cuSurfObjectCreate", [&] {
        require(pSurfObject != nullptr, "pSurfObject must not be NULL");
        require(pResDesc != nullptr, "pResDesc must not be NULL");
        Capture::refuse_unsafe_call();
        *pSurfObject = ImageObjects::instance().create_surface(context_for(*pResDesc), *pResDesc);
    });
}

CUresult CUDAAPI cuSurfObjectDestroy(CUsurfObject surfObject) {
    return entry("cuSurfObjectDestroy", [&] {
        Capture::refuse_unsafe_call();
        ImageObjects::instance().destroy(current_context_or_null().get(), ImageUse::Surface,
                                         surfObject);
    });
}

CUresult CUDAAPI cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC* pResDesc,
                                             CUsurfObject surfObject) {
    return entry("cuSurfObjectGetResourceDesc",
                 [&] { put(pResDesc, resource_of(*object_from(ImageUse::Surface, surfObject))); });
}

} // extern "C"
