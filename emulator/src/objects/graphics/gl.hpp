// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The OpenGL that the program uses.
//
// The emulated device loads no graphics library. It looks for one that the program has loaded
// already (EGL, then GLX) and that has a context current on the calling thread. All functions here
// work in that context, keep its bindings and pixel settings, and leave its error flag alone.

#pragma once

#include <cstddef>
#include <cstdint>

namespace cuprum::emulator::gl {

// The names of types and constants are OpenGL's, without their prefix.
using Enum = unsigned;
using Name = unsigned;

constexpr Enum TEXTURE_2D = 0x0DE1;
constexpr Enum TEXTURE_3D = 0x806F;
constexpr Enum TEXTURE_RECTANGLE = 0x84F5;
constexpr Enum TEXTURE_CUBE_MAP = 0x8513;
constexpr Enum TEXTURE_2D_ARRAY = 0x8C1A;
constexpr Enum RENDERBUFFER = 0x8D41;

/// The functions of OpenGL in use, and the version of the context they are called in. A function
/// that the library does not have is nullptr.
struct Functions {
    int version = 0;          // 45 for OpenGL 4.5
    bool is_embedded = false; // OpenGL ES

    const unsigned char* (*get_string)(Enum) = nullptr;
    void (*get_integers)(Enum, int*) = nullptr;

    unsigned char (*is_buffer)(Name) = nullptr;
    void (*generate_buffers)(int, Name*) = nullptr;
    void (*delete_buffers)(int, const Name*) = nullptr;
    void (*bind_buffer)(Enum, Name) = nullptr;
    void (*buffer_data)(Enum, std::ptrdiff_t, const void*, Enum) = nullptr;
    void (*buffer_parameter)(Enum, Enum, int*) = nullptr;
    void (*buffer_parameter_64)(Enum, Enum, std::int64_t*) = nullptr;
    void (*copy_buffer)(Enum, Enum, std::ptrdiff_t, std::ptrdiff_t, std::ptrdiff_t) = nullptr;
    void* (*map_buffer)(Enum, std::ptrdiff_t, std::ptrdiff_t, unsigned) = nullptr;
    unsigned char (*unmap_buffer)(Enum) = nullptr;

    Enum (*get_error)() = nullptr;
    unsigned char (*is_texture)(Name) = nullptr;
    void (*generate_textures)(int, Name*) = nullptr;
    void (*delete_textures)(int, const Name*) = nullptr;
    void (*bind_texture)(Enum, Name) = nullptr;
    void (*texture_parameter)(Enum, Enum, int*) = nullptr;
    void (*level_parameter)(Enum, int, Enum, int*) = nullptr;
    void (*pixel_store)(Enum, int) = nullptr;
    void (*get_image)(Enum, int, Enum, Enum, void*) = nullptr;
    void (*set_image_2d)(Enum, int, int, int, int, int, Enum, Enum, const void*) = nullptr;
    void (*set_image_3d)(Enum, int, int, int, int, int, int, int, Enum, Enum,
                         const void*) = nullptr;
    void (*storage_2d)(Enum, int, Enum, int, int) = nullptr;

    unsigned char (*is_renderbuffer)(Name) = nullptr;
    void (*bind_renderbuffer)(Enum, Name) = nullptr;
    void (*renderbuffer_parameter)(Enum, Enum, int*) = nullptr;
    void (*copy_image)(Name, Enum, int, int, int, int, Name, Enum, int, int, int, int, int, int,
                       int) = nullptr;
};

/// Returns the functions of the OpenGL whose context is current on the calling thread.
///
/// @throws DriverError INVALID_GRAPHICS_CONTEXT if no context is current.
[[nodiscard]] const Functions& current();

/// Returns the size of a buffer's storage, 0 if it has none.
///
/// @throws DriverError INVALID_HANDLE if there is no such buffer, NOT_SUPPORTED if the context is
/// older than OpenGL 3.1 or OpenGL ES 3.0.
[[nodiscard]] std::uint64_t buffer_bytes(const Functions& gl, Name buffer);

/// Copies all of a buffer to memory, after all work that OpenGL was given so far.
///
/// @throws DriverError MAP_FAILED if OpenGL refuses that.
void read_buffer(const Functions& gl, Name buffer, void* to, std::uint64_t bytes);

/// Copies memory to a buffer.
///
/// @throws DriverError UNMAP_FAILED if OpenGL refuses that.
void write_buffer(const Functions& gl, Name buffer, const void* from, std::uint64_t bytes);

} // namespace cuprum::emulator::gl
