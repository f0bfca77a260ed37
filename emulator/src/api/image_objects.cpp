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
        is_live(resource.res.array.hArray)) {
        auto context = object_of(resource.res.array.hArray)->context().shared_from_this();
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
    if (resource.resType == CU_RESOURCE_TYPE_ARRAY && !is_live(resource.res.array.hArray)) {
        resource.res.array.hArray = nullptr;
    } else if (resource.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY &&
               !is_live(resource.res.mipmap.hMipmappedArray)) {
        resource.res.mipmap.hMipmappedArray = nullptr;
    }
    return resource;
}

} // namespace

ROW(cuTexObjectCreate, 5000, CUtexObject& pTexObject, const CUDA_RESOURCE_DESC& pResDesc,
    const CUDA_TEXTURE_DESC& pTexDesc, const CUDA_RESOURCE_VIEW_DESC* pResViewDesc, UnsafeCall) {
    pTexObject = ImageObjects::instance().create_texture(context_for(pResDesc), pResDesc, pTexDesc,
                                                         pResViewDesc);
}

ROW(cuTexObjectDestroy, 5000, UnsafeCall, CUtexObject texObject) {
    ImageObjects::instance().destroy(current_context_or_null().get(), ImageUse::Texture, texObject);
}

ROW(cuTexObjectGetResourceDesc, 5000, CUDA_RESOURCE_DESC* pResDesc, CUtexObject texObject) {
    put(pResDesc, resource_of(*object_from(ImageUse::Texture, texObject)));
}

ROW(cuTexObjectGetTextureDesc, 5000, CUDA_TEXTURE_DESC& pTexDesc, CUtexObject texObject) {
    // NVIDIA's driver does not write the border colour and the reserved fields.
    CUDA_TEXTURE_DESC result = object_from(ImageUse::Texture, texObject)->texture;
    std::ranges::copy(pTexDesc.borderColor, result.borderColor);
    std::ranges::copy(pTexDesc.reserved, result.reserved);
    pTexDesc = result;
}

ROW(cuTexObjectGetResourceViewDesc, 5000, CUDA_RESOURCE_VIEW_DESC& pResViewDesc,
    CUtexObject texObject) {
    const auto object = object_from(ImageUse::Texture, texObject);
    // NVIDIA's driver documents an error for textures without a view, but writes nothing.
    if (object->view.has_value()) {
        pResViewDesc = *object->view;
    }
}

ROW(cuSurfObjectCreate, 5000, CUsurfObject& pSurfObject, const CUDA_RESOURCE_DESC& pResDesc,
    UnsafeCall) {
    pSurfObject = ImageObjects::instance().create_surface(context_for(pResDesc), pResDesc);
}

ROW(cuSurfObjectDestroy, 5000, UnsafeCall, CUsurfObject surfObject) {
    ImageObjects::instance().destroy(current_context_or_null().get(), ImageUse::Surface,
                                     surfObject);
}

ROW(cuSurfObjectGetResourceDesc, 5000, CUDA_RESOURCE_DESC* pResDesc, CUsurfObject surfObject) {
    put(pResDesc, resource_of(*object_from(ImageUse::Surface, surfObject)));
}
