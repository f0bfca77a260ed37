// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Texture and surface references, which came before objects: variables of a module that the program
// binds to memory by name. CUDA deprecates them.
//
// The variable (.texref or .surfref) holds the handle of an image, as if a kernel had got it as an
// argument. Each change of a bound reference makes a new image and writes its handle there.

#pragma once

#include "objects/devices/context.hpp"
#include "objects/process/object_of.hpp"
#include "objects/textures/image_object.hpp"

#include <cuda.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

namespace cuprum::emulator {

/// The variable of a module that a reference writes, and the image that is bound to it.
class ReferenceVariable {
public:
    /// `address` is 0 for a reference that is no variable.
    ReferenceVariable(std::shared_ptr<Context> context, std::uint64_t address, ImageUse use)
        : context_(std::move(context)), address_(address), use_(use) {}

    ~ReferenceVariable();
    ReferenceVariable(const ReferenceVariable&) = delete;
    ReferenceVariable& operator=(const ReferenceVariable&) = delete;

    [[nodiscard]] bool is_of_module() const noexcept { return address_ != 0; }

    [[nodiscard]] Context& context() const noexcept { return *context_; }

    /// Waits for work that may read the variable, then binds an image, or none.
    void bind(std::optional<ImageOfResource> image);

    /// Forgets the variable, whose memory is about to be freed.
    void detach() noexcept;

private:
    void drop_image() noexcept;

    std::shared_ptr<Context> context_;
    std::uint64_t address_;
    ImageUse use_;
    std::uint64_t image_ = 0;
    std::weak_ptr<ArrayMemory> memory_;
};

/// What a program has set on a texture reference.
struct TextureSettings {
    CUDA_TEXTURE_DESC texture{};
    CUarray_format format = CU_AD_FORMAT_FLOAT; // of linear memory
    unsigned channels = 1;
    std::optional<CUDA_RESOURCE_DESC> resource; // what is bound
};

/// A CUtexref: a texture reference of a module, or one that the program created.
class TextureReference final : public Object {
public:
    TextureReference(std::shared_ptr<Context> context, std::uint64_t address);

    /// Returns what is set now.
    [[nodiscard]] TextureSettings settings() const;

    /// Changes the settings and the image of the module's variable. A change that throws has no
    /// effect.
    void change(const std::function<void(TextureSettings&)>& change);

    /// Invalidates the handle.
    void destroy();

    [[nodiscard]] bool is_of_module() const noexcept { return variable_.is_of_module(); }

    [[nodiscard]] Context& context() const noexcept { return variable_.context(); }

    [[nodiscard]] const void* belongs_to() const noexcept override { return &context(); }

private:
    mutable std::mutex mutex_; // guards the members below
    TextureSettings settings_;
    ReferenceVariable variable_;
};

/// A CUsurfref: a surface reference of a module.
class SurfaceReference final : public Object {
public:
    SurfaceReference(std::shared_ptr<Context> context, std::uint64_t address);

    /// Binds an array. Throws INVALID_VALUE if it cannot be a surface.
    void bind(CUarray array);

    /// Returns the array. Throws INVALID_VALUE if there is none.
    [[nodiscard]] CUarray array() const;

    /// Invalidates the handle.
    void destroy();

    [[nodiscard]] Context& context() const noexcept { return variable_.context(); }

private:
    mutable std::mutex mutex_; // guards the members below
    CUarray array_ = nullptr;
    ReferenceVariable variable_;
};

/// Destroys the texture references that programs created in a context.
void destroy_references_of(const Context& context);

} // namespace cuprum::emulator
