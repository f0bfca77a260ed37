// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/textures/reference.hpp"

#include "objects/process/error.hpp"
#include "objects/process/log.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace cuprum::emulator {

// ---- the variable ------------------------------------------------------------------------------

ReferenceVariable::~ReferenceVariable() {
    drop_image();
}

void ReferenceVariable::bind(std::optional<ImageOfResource> image) {
    if (!is_of_module()) {
        return; // no kernel can read it
    }
    context_->drain();
    drop_image();
    if (image.has_value()) {
        image_ = ImageTable::instance().insert(use_, std::move(image->image));
        if (image->memory != nullptr) {
            memory_ = image->memory;
            image->memory->add_image(image_);
        }
    }
    std::memcpy(reinterpret_cast<void*>(address_), &image_, sizeof image_);
}

void ReferenceVariable::detach() noexcept {
    drop_image();
    address_ = 0;
}

void ReferenceVariable::drop_image() noexcept {
    if (image_ == 0) {
        return;
    }
    if (const auto memory = memory_.lock()) {
        memory->remove_image(image_);
    }
    ImageTable::instance().erase(image_);
    image_ = 0;
    memory_.reset();
}

// ---- textures ----------------------------------------------------------------------------------

TextureReference::TextureReference(std::shared_ptr<Context> context, std::uint64_t address)
    : variable_(std::move(context), address, ImageUse::Texture) {
    std::ranges::fill(settings_.texture.addressMode, CU_TR_ADDRESS_MODE_CLAMP);
}

TextureSettings TextureReference::settings() const {
    const std::lock_guard lock(mutex_);
    return settings_;
}

void TextureReference::change(const std::function<void(TextureSettings&)>& change) {
    const std::lock_guard lock(mutex_);
    TextureSettings changed = settings_;
    change(changed);
    settings_ = changed;
    std::optional<ImageOfResource> image;
    if (settings_.resource.has_value() && variable_.is_of_module()) {
        try {
            image = texture_image(*settings_.resource, settings_.texture, nullptr,
                                  variable_.context().device());
        } catch (const DriverError& error) {
            // NVIDIA's driver accepts any settings, in any order. They may become valid later.
            log(LogLevel::Warn,
                std::string("a texture reference cannot be read as it is set: ") + error.what());
        }
    }
    variable_.bind(std::move(image));
}

void TextureReference::destroy() {
    HandleTable::instance().erase(HandleKind::TextureReference, handle_value());
    const std::lock_guard lock(mutex_);
    variable_.detach();
}

// ---- surfaces ----------------------------------------------------------------------------------

SurfaceReference::SurfaceReference(std::shared_ptr<Context> context, std::uint64_t address)
    : variable_(std::move(context), address, ImageUse::Surface) {}

void SurfaceReference::bind(CUarray array) {
    require((object_of(array)->descriptor().Flags & CUDA_ARRAY3D_SURFACE_LDST) != 0,
            "surface references need an array that was created with CUDA_ARRAY3D_SURFACE_LDST");
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
    ImageOfResource image = surface_image(resource);
    const std::lock_guard lock(mutex_);
    variable_.bind(std::move(image));
    array_ = array;
}

CUarray SurfaceReference::array() const {
    const std::lock_guard lock(mutex_);
    require(array_ != nullptr && is_live(array_), "no array is bound to the surface reference");
    return array_;
}

void SurfaceReference::destroy() {
    HandleTable::instance().erase(HandleKind::SurfaceReference, handle_value());
    const std::lock_guard lock(mutex_);
    variable_.detach();
}

void destroy_references_of(const Context& context) {
    auto& table = HandleTable::instance();
    for (const auto& object : table.all_of(HandleKind::TextureReference, &context)) {
        static_cast<TextureReference&>(*object).destroy();
    }
}

} // namespace cuprum::emulator
