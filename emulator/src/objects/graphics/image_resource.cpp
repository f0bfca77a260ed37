// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Images of OpenGL: while one is mapped, a mipmapped array holds a copy of all its levels.

#include "objects/graphics/gl_image.hpp"
#include "objects/graphics/graphics_resource.hpp"
#include "objects/process/error.hpp"
#include "objects/textures/array.hpp"

#include <map>
#include <string>
#include <utility>

namespace cuprum::emulator {

namespace {

CUDA_ARRAY3D_DESCRIPTOR descriptor_of(const gl::Image& image, unsigned register_flags) {
    CUDA_ARRAY3D_DESCRIPTOR descriptor{};
    descriptor.Width = image.width;
    descriptor.Height = image.height;
    descriptor.Depth = image.depth;
    descriptor.Format = image.format->array_format;
    descriptor.NumChannels = image.format->channels;
    if (image.target == gl::TEXTURE_CUBE_MAP) {
        descriptor.Flags |= CUDA_ARRAY3D_CUBEMAP;
    } else if (image.target == gl::TEXTURE_2D_ARRAY) {
        descriptor.Flags |= CUDA_ARRAY3D_LAYERED;
    }
    if ((register_flags & CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST) != 0) {
        descriptor.Flags |= CUDA_ARRAY3D_SURFACE_LDST;
    }
    if ((register_flags & CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER) != 0) {
        descriptor.Flags |= CUDA_ARRAY3D_TEXTURE_GATHER;
    }
    return descriptor;
}

class ImageResource final : public GraphicsResource {
public:
    ImageResource(std::shared_ptr<Context> context, const gl::Image& image, unsigned flags)
        : GraphicsResource(std::move(context), flags), image_(image),
          descriptor_(descriptor_of(image, flags)) {
        check_descriptor(descriptor_, shared_context()->device(), true);
    }

protected:
    [[nodiscard]] CUarray find_array(unsigned index, unsigned level) override {
        const auto& whole = mipmap_->level(level); // throws if there is none
        const bool has_layers = image_.depth != 0 && image_.target != gl::TEXTURE_3D;
        const unsigned count = has_layers ? image_.depth : 1;
        if (index >= count) {
            fail(CUDA_ERROR_INVALID_VALUE, "arrayIndex is " + std::to_string(index) +
                                               ", but the image has " + std::to_string(count) +
                                               (count == 1 ? " array" : " layers or faces"));
        }
        if (!has_layers) {
            return whole->handle<CUarray>();
        }
        auto& layer = layers_[{index, level}];
        if (layer == nullptr) {
            CUDA_ARRAY3D_DESCRIPTOR flat = whole->descriptor();
            flat.Depth = 0;
            flat.Flags &= ~(CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
            const ArrayLayout& layout = whole->layout();
            layer = std::make_shared<Array>(shared_context(), flat, mipmap_->memory(),
                                            layout.offset + index * layout.slice_bytes(),
                                            Array::Role::Level);
            HandleTable::instance().insert(HandleKind::Array, layer);
        }
        return layer->handle<CUarray>();
    }

    [[nodiscard]] CUmipmappedArray find_mipmapped_array() const override {
        return mipmap_->handle<CUmipmappedArray>();
    }

    void begin(const gl::Functions& gl, bool is_read) override {
        if (gl::find_image(gl, image_.name, image_.target) != image_) {
            fail(CUDA_ERROR_MAP_FAILED,
                 "image " + std::to_string(image_.name) +
                     " of OpenGL has another size, format or number of levels than when it was "
                     "registered; register it again after glTexImage");
        }
        auto mipmap = MipmappedArray::create(shared_context(), descriptor_, image_.levels);
        try {
            for (unsigned level = 0; is_read && level < image_.levels; ++level) {
                gl::read_level(gl, image_, level,
                               reinterpret_cast<void*>(mipmap->level(level)->address()));
            }
        } catch (...) {
            mipmap->destroy();
            throw;
        }
        mipmap->note_mapped();
        mipmap_ = std::move(mipmap);
    }

    void write_back(const gl::Functions& gl) override {
        if (gl::find_image(gl, image_.name, image_.target) != image_) {
            fail(CUDA_ERROR_UNMAP_FAILED,
                 "image " + std::to_string(image_.name) + " of OpenGL changed while it was mapped");
        }
        for (unsigned level = 0; level < image_.levels; ++level) {
            gl::write_level(gl, image_, level,
                            reinterpret_cast<const void*>(mipmap_->level(level)->address()));
        }
    }

    void end() noexcept override {
        for (const auto& [place, layer] : layers_) {
            HandleTable::instance().erase(HandleKind::Array, layer->handle_value());
        }
        layers_.clear();
        if (mipmap_ != nullptr) {
            mipmap_->destroy();
            mipmap_ = nullptr;
        }
    }

private:
    gl::Image image_;
    CUDA_ARRAY3D_DESCRIPTOR descriptor_;
    std::shared_ptr<MipmappedArray> mipmap_;                                 // while it is mapped
    std::map<std::pair<unsigned, unsigned>, std::shared_ptr<Array>> layers_; // by index and level
};

} // namespace

std::shared_ptr<GraphicsResource> register_image(const std::shared_ptr<Context>& context,
                                                 gl::Name image, gl::Enum target, unsigned flags) {
    const gl::Functions& gl = gl::current();
    return std::make_shared<ImageResource>(context, gl::find_image(gl, image, target), flags);
}

} // namespace cuprum::emulator
