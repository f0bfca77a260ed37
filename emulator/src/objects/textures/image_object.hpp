// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Texture and surface objects.
//
// An object is two things: an `Image` in the table that instructions read (interp/image.hpp), whose
// handle is the program's CUtexObject or CUsurfObject, and the descriptors that the program can
// read back, which are kept here.

#pragma once

#include "objects/devices/context.hpp"
#include "objects/process/origin.hpp"
#include "objects/textures/array.hpp"

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

namespace cuprum::emulator {

/// A texture or surface object.
struct ImageObject {
    ImageUse use = ImageUse::Texture;
    std::uint64_t handle = 0;
    std::shared_ptr<Context> context;
    CUDA_RESOURCE_DESC resource{};
    CUDA_TEXTURE_DESC texture{};                 // of textures
    std::optional<CUDA_RESOURCE_VIEW_DESC> view; // of textures that have one
    std::weak_ptr<ArrayMemory> memory;           // of arrays
    Origin made_by;
};

/// The texture and surface objects of the process.
class ImageObjects {
public:
    /// Returns the process's objects; never destroyed.
    [[nodiscard]] static ImageObjects& instance();

    /// Creates a texture object.
    ///
    /// @throws DriverError INVALID_VALUE, INVALID_HANDLE or NOT_SUPPORTED; the message names field,
    /// value and limit.
    [[nodiscard]] std::uint64_t create_texture(const std::shared_ptr<Context>& context,
                                               const CUDA_RESOURCE_DESC& resource,
                                               const CUDA_TEXTURE_DESC& texture,
                                               const CUDA_RESOURCE_VIEW_DESC* view);

    /// Creates a surface object.
    [[nodiscard]] std::uint64_t create_surface(const std::shared_ptr<Context>& context,
                                               const CUDA_RESOURCE_DESC& resource);

    /// Destroys an object of a context, or of any if it is nullptr. Does nothing for other handles,
    /// as NVIDIA's driver. Kernels that were launched before can still use the object.
    void destroy(const Context* context, ImageUse use, std::uint64_t handle);

    /// Returns an object of a context, or of any if it is nullptr. Throws INVALID_VALUE if there is
    /// none.
    [[nodiscard]] std::shared_ptr<const ImageObject> find(const Context* context, ImageUse use,
                                                          std::uint64_t handle) const;

    /// Destroys all objects of a context.
    void destroy_all_of(const Context& context);

    /// Returns all live objects.
    [[nodiscard]] std::vector<std::shared_ptr<const ImageObject>> all() const;

private:
    using Map = std::unordered_map<std::uint64_t, std::shared_ptr<const ImageObject>>;

    std::uint64_t add(ImageObject object, Image image, const std::shared_ptr<ArrayMemory>& memory);
    [[nodiscard]] Map::const_iterator find_in_map(const Context* context, ImageUse use,
                                                  std::uint64_t handle) const;
    static void release(const ImageObject& object);

    mutable std::mutex mutex_; // guards objects_
    Map objects_;
};

/// What an image shows, and the memory of the array that it shows.
struct ImageOfResource {
    Image image;
    std::shared_ptr<ArrayMemory> memory; // nullptr for linear and pitched memory
};

/// Describes a resource as a texture reads it. Throws as create_texture() does.
[[nodiscard]] ImageOfResource texture_image(const CUDA_RESOURCE_DESC& resource,
                                            const CUDA_TEXTURE_DESC& texture,
                                            const CUDA_RESOURCE_VIEW_DESC* view,
                                            const Device& device);

/// Describes a resource as a surface reads and writes it. Throws as create_surface() does.
[[nodiscard]] ImageOfResource surface_image(const CUDA_RESOURCE_DESC& resource);

} // namespace cuprum::emulator
