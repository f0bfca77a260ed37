// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Textures and renderbuffers of OpenGL, as far as arrays can hold them.

#pragma once

#include "objects/graphics/gl.hpp"

#include <cuda.h>

#include <cstdint>

namespace cuprum::emulator::gl {

/// How texels of an internal format of OpenGL lie in an array.
struct ImageFormat {
    Enum internal = 0;
    Enum layout = 0; // the format argument of glGetTexImage
    Enum type = 0;
    CUarray_format array_format = CU_AD_FORMAT_UNSIGNED_INT8;
    unsigned channels = 0;
    unsigned channel_bytes = 0;

    [[nodiscard]] std::uint64_t texel_bytes() const noexcept {
        return std::uint64_t{channels} * channel_bytes;
    }
};

/// An image and its sizes when it was registered.
struct Image {
    Name name = 0;
    Enum target = 0;
    const ImageFormat* format = nullptr;
    unsigned width = 0;
    unsigned height = 0;
    unsigned depth = 0; // slices, layers or faces; 0 for an image without
    unsigned levels = 1;

    friend bool operator==(const Image&, const Image&) = default;

    /// Returns the size of a level.
    [[nodiscard]] unsigned width_of(unsigned level) const noexcept;
    [[nodiscard]] unsigned height_of(unsigned level) const noexcept;
    /// Returns how many slices, layers or faces a level has, at least 1.
    [[nodiscard]] unsigned slices_of(unsigned level) const noexcept;
};

/// Returns whether cuGraphicsGLRegisterImage takes images of a target.
[[nodiscard]] bool is_image_target(Enum target) noexcept;

/// Asks OpenGL about an image.
///
/// @throws DriverError INVALID_HANDLE if there is no such image, INVALID_VALUE if it has another
/// target, no storage, or a format that no array has; NOT_SUPPORTED for OpenGL ES.
[[nodiscard]] Image find_image(const Functions& gl, Name name, Enum target);

/// Copies a level to memory: rows, then slices, without gaps.
void read_level(const Functions& gl, const Image& image, unsigned level, void* to);

/// Copies memory to a level.
void write_level(const Functions& gl, const Image& image, unsigned level, const void* from);

} // namespace cuprum::emulator::gl
