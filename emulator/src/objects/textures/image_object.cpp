// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/textures/image_object.hpp"

#include "objects/devices/device.hpp"
#include "objects/devices/peer_access.hpp"
#include "objects/process/error.hpp"
#include "objects/streams/operation.hpp"
#include "objects/streams/stream.hpp"

#include <string>

namespace cuprum::emulator {

namespace {

/// Returns the context of a resource's array, nullptr if it has none.
const Context* context_of(const CUDA_RESOURCE_DESC& resource) {
    switch (resource.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
        return is_live(resource.res.array.hArray) ? &object_of(resource.res.array.hArray)->context()
                                                  : nullptr;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        return is_live(resource.res.mipmap.hMipmappedArray)
                   ? &object_of(resource.res.mipmap.hMipmappedArray)->context()
                   : nullptr;
    default:
        return nullptr;
    }
}

/// Checks that textures of a context may use an array of another.
void check_context(const Context& context, const CUDA_RESOURCE_DESC& resource) {
    const Context* const owner = context_of(resource);
    if (owner == nullptr || owner == &context) {
        return;
    }
    const int from = context.device().ordinal();
    const int to = owner->device().ordinal();
    if (from == to || !PeerAccess::instance().is_enabled(from, to)) {
        fail(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED,
             "the array belongs to another context: make its context current, or call "
             "cuCtxEnablePeerAccess");
    }
}

/// Erases an image when everything before it is done, even if that failed.
class ImageRelease final : public Operation {
public:
    ImageRelease(std::shared_ptr<ErrorState> errors, std::uint64_t image)
        : Operation(std::move(errors)), image_(image) {}

protected:
    void start() noexcept override {
        ImageTable::instance().erase(image_);
        finish();
    }

    void skip() noexcept override { start(); }

private:
    std::uint64_t image_;
};

/// Ends an object whose context goes on. Kernels that were launched before may still use it, as on
/// a GPU, where the descriptor stays in memory.
void release_after_work(const ImageObject& object) {
    if (const auto memory = object.memory.lock()) {
        memory->remove_image(object.handle);
    }
    Context& context = *object.context;
    const auto release = std::make_shared<ImageRelease>(context.errors(), object.handle);
    release->depend_on(context.legacy_stream()->pending_tail());
    for (const auto& stream : context.streams()) {
        release->depend_on(stream->pending_tail());
    }
    release->submit();
}

} // namespace

ImageObjects& ImageObjects::instance() {
    static auto* const objects = new ImageObjects;
    return *objects;
}

std::uint64_t ImageObjects::create_texture(const std::shared_ptr<Context>& context,
                                           const CUDA_RESOURCE_DESC& resource,
                                           const CUDA_TEXTURE_DESC& texture,
                                           const CUDA_RESOURCE_VIEW_DESC* view) {
    check_context(*context, resource);
    auto [image, memory] = texture_image(resource, texture, view, context->device());
    ImageObject object;
    object.use = ImageUse::Texture;
    object.context = context;
    object.resource = resource;
    object.texture = texture;
    object.memory = memory;
    if (view != nullptr && image.source != ImageSource::Linear &&
        image.source != ImageSource::Pitched) {
        object.view = *view;
    }
    // NVIDIA's driver replaces what is no mode in dimensions that the image does not have.
    for (CUaddress_mode& mode : object.texture.addressMode) {
        if (mode < CU_TR_ADDRESS_MODE_WRAP || mode > CU_TR_ADDRESS_MODE_BORDER) {
            mode = CU_TR_ADDRESS_MODE_CLAMP;
        }
    }
    return add(std::move(object), std::move(image), memory);
}

std::uint64_t ImageObjects::create_surface(const std::shared_ptr<Context>& context,
                                           const CUDA_RESOURCE_DESC& resource) {
    check_context(*context, resource);
    auto [image, memory] = surface_image(resource);
    ImageObject object;
    object.use = ImageUse::Surface;
    object.context = context;
    object.resource = resource;
    object.memory = memory;
    return add(std::move(object), std::move(image), memory);
}

std::uint64_t ImageObjects::add(ImageObject object, Image image,
                                const std::shared_ptr<ArrayMemory>& memory) {
    object.made_by = Origin::here(places::OF_HANDLES);
    auto shared = std::make_shared<ImageObject>(std::move(object));
    shared->handle = ImageTable::instance().insert(shared->use, std::move(image));
    if (memory != nullptr) {
        memory->add_image(shared->handle);
    }
    const std::lock_guard lock(mutex_);
    objects_.emplace(shared->handle, shared);
    return shared->handle;
}

ImageObjects::Map::const_iterator ImageObjects::find_in_map(const Context* context, ImageUse use,
                                                            std::uint64_t handle) const {
    const auto found = objects_.find(handle);
    const bool is_it = found != objects_.end() && found->second->use == use &&
                       (context == nullptr || found->second->context.get() == context);
    return is_it ? found : objects_.end();
}

void ImageObjects::destroy(const Context* context, ImageUse use, std::uint64_t handle) {
    std::shared_ptr<const ImageObject> object;
    {
        const std::lock_guard lock(mutex_);
        const auto found = find_in_map(context, use, handle);
        if (found == objects_.end()) {
            return;
        }
        object = found->second;
        objects_.erase(found);
    }
    release_after_work(*object);
}

std::shared_ptr<const ImageObject> ImageObjects::find(const Context* context, ImageUse use,
                                                      std::uint64_t handle) const {
    const std::lock_guard lock(mutex_);
    const auto found = find_in_map(context, use, handle);
    if (found == objects_.end()) {
        fail(CUDA_ERROR_INVALID_VALUE,
             objects_.contains(handle)
                 ? std::string("the object belongs to another context, or is of the other kind")
                 : "the handle " + ImageTable::instance().explain(use, handle));
    }
    return found->second;
}

void ImageObjects::destroy_all_of(const Context& context) {
    std::vector<std::shared_ptr<const ImageObject>> doomed;
    {
        const std::lock_guard lock(mutex_);
        for (auto each = objects_.begin(); each != objects_.end();) {
            if (each->second->context.get() == &context) {
                doomed.push_back(std::move(each->second));
                each = objects_.erase(each);
            } else {
                ++each;
            }
        }
    }
    for (const auto& object : doomed) {
        release(*object);
    }
}

std::vector<std::shared_ptr<const ImageObject>> ImageObjects::all() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<const ImageObject>> found;
    for (const auto& [handle, object] : objects_) {
        found.push_back(object);
    }
    return found;
}

void ImageObjects::release(const ImageObject& object) {
    if (const auto memory = object.memory.lock()) {
        memory->remove_image(object.handle);
    }
    ImageTable::instance().erase(object.handle);
}

} // namespace cuprum::emulator
