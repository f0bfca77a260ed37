// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/buffer.hpp>
#include <cuprum/context.hpp>
#include <cuprum/detail/driver_types.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/device.hpp>
#include <cuprum/stream.hpp>
#include <cuprum/texture/mipmapped_array.hpp>
#include <cuprum/texture/opaque_array.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cuprum {

namespace detail {
struct Access;
struct GraphicsState;
} // namespace detail

/// What kernels do with a graphics resource. A promise that is broken gives undefined contents.
struct GraphicsOptions {
    bool is_read_only = false;          // kernels only read it
    bool is_write_discard = false;      // kernels write all of it and read none of it
    bool is_surface_load_store = false; // kernels access an image through surface objects
    bool is_texture_gather = false;     // kernels gather from an image through texture objects

    friend bool operator==(const GraphicsOptions&, const GraphicsOptions&) = default;
};

/// What kernels do with a resource during the next mappings.
enum class GraphicsMapUse { ReadWrite, ReadOnly, WriteDiscard };

/// Which devices Device::of_opengl asks for.
enum class GLDeviceList { All, CurrentFrame, NextFrame };

/// A buffer or an image of OpenGL or EGL that CUDA can use.
///
/// The graphics API owns the contents. Map the resource before CUDA work uses it, and unmap it
/// before the graphics API does. OpenGL's context must be current on the calling thread whenever a
/// resource is registered, mapped, unmapped or closed. Copies share one registration, which ends
/// with the last of them and of its mappings. Not for use by several threads at once.
///
/// @code
/// // `vertices` is the name of a buffer in the current context of OpenGL.
/// const auto resource =
///     cuprum::GraphicsResource::from_gl_buffer(device.primary_context(), vertices);
/// const cuprum::Buffer memory = resource.map(stream);
/// cuprum::launch(stream, {.block = 32}, kernel, memory);
/// resource.unmap(stream);
/// @endcode
class CUPRUM_API GraphicsResource {
public:
    /// Registers a buffer of OpenGL in a context, by the name that glGenBuffers returned.
    /// @throws std::invalid_argument if the options do not suit a buffer; CUDAError if OpenGL's
    /// context is not current or has no such buffer.
    [[nodiscard]] static GraphicsResource from_gl_buffer(const Context& context, unsigned buffer,
                                                         const GraphicsOptions& options = {});
    /// Registers a texture or a renderbuffer of OpenGL in a context, with its target, such as
    /// GL_TEXTURE_2D.
    /// @throws std::invalid_argument if the target is none that CUDA can use; CUDAError if OpenGL's
    /// context is not current or has no such image.
    [[nodiscard]] static GraphicsResource from_gl_image(const Context& context, unsigned image,
                                                        unsigned target,
                                                        const GraphicsOptions& options = {});
    /// Registers an image of EGL, an EGLImageKHR, in a context.
    /// @throws CUDAError if the driver refuses it; desktop drivers support few images.
    [[nodiscard]] static GraphicsResource from_egl_image(const Context& context, void* image,
                                                         const GraphicsOptions& options = {});

    /// Returns the driver's `CUgraphicsResource`.
    [[nodiscard]] CUgraphicsResource handle() const;
    /// Returns the context that the resource was registered in.
    [[nodiscard]] Context context() const;
    /// Returns whether it was registered as an image, which is mapped as arrays.
    [[nodiscard]] bool is_image() const;
    /// Returns whether the resource is mapped, so that CUDA may use it.
    [[nodiscard]] bool is_mapped() const;

    /// Maps a buffer for the work of a stream, after all work that OpenGL was given so far.
    ///
    /// The buffer is the mapping: closing its last share unmaps the resource in the order of its
    /// stream, which is `stream` unless you name another.
    /// @throws std::logic_error if the resource is mapped already or is an image; CUDAError if the
    /// driver refuses it. Nothing is mapped then.
    [[nodiscard]] Buffer map(const Stream& stream) const;

    /// Maps an image for the work of a stream and returns one of its arrays.
    ///
    /// `index` is the layer of a layered image or the face of a cube map, `level` the mipmap level.
    /// The array is the mapping: once it and the other arrays of the mapping are closed, the image
    /// is unmapped on `stream`.
    /// @throws std::logic_error if the resource is mapped already or is a buffer; CUDAError if the
    /// image has no such array. Nothing is mapped then.
    [[nodiscard]] OpaqueArray map_array(const Stream& stream, unsigned index = 0,
                                        unsigned level = 0) const;
    /// Returns another array of an image that is mapped. It shares the mapping.
    /// @throws std::logic_error if the resource is not mapped or is a buffer; CUDAError if the
    /// image has no such array.
    [[nodiscard]] OpaqueArray mapped_array(unsigned index = 0, unsigned level = 0) const;

    /// Returns an image that is mapped as a mipmapped array of `num_levels` levels, which the
    /// driver cannot tell. It shares the mapping.
    /// @throws std::logic_error if the resource is not mapped or is a buffer.
    [[nodiscard]] MipmappedArray mapped_mipmapped_array(unsigned num_levels = 1) const;

    /// Sets what kernels do with the resource when it is mapped next.
    /// @throws std::logic_error if it is mapped.
    void set_map_use(GraphicsMapUse use) const;

    /// Unmaps the resource now: later work of the graphics API waits for the work that `stream`
    /// holds. The arrays of the mapping raise ClosedError from now on, and so do their levels and
    /// planes and the textures and surfaces made of them. Its buffers must not be used any more.
    /// @throws std::logic_error if it is not mapped; CUDAError if the driver refuses it, and the
    /// resource stays mapped.
    void unmap(const Stream& stream) const;
    /// Unmaps the resource on the stream that it was mapped on.
    void unmap() const;

    /// Returns whether `close()` was called.
    [[nodiscard]] bool is_closed() const noexcept { return state_ == nullptr; }

    /// Gives up this share. The last one unregisters the resource, once it is not mapped any more.
    /// Calling it again does nothing.
    void close() noexcept { state_.reset(); }

    /// Compares handles.
    friend CUPRUM_API bool operator==(const GraphicsResource& left,
                                      const GraphicsResource& right) noexcept;

private:
    friend struct detail::Access;

    explicit GraphicsResource(std::shared_ptr<detail::GraphicsState> state) noexcept
        : state_(std::move(state)) {}

    std::shared_ptr<detail::GraphicsState> state_;
};

/// Returns the devices that the current context of OpenGL uses.
/// @throws CUDAError if no context of OpenGL is current on the calling thread.
[[nodiscard]] CUPRUM_API std::vector<Device> gl_devices(GLDeviceList list = GLDeviceList::All);

/// Returns handle and state for messages and logs. Makes no driver call.
[[nodiscard]] CUPRUM_API std::string to_string(const GraphicsResource& resource);

} // namespace cuprum

/// Hashes what operator== compares.
template <>
struct std::hash<cuprum::GraphicsResource> {
    [[nodiscard]] CUPRUM_API std::size_t
    operator()(const cuprum::GraphicsResource& resource) const noexcept;
};
