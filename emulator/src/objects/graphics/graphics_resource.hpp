// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Buffers and images of OpenGL that kernels use.
//
// OpenGL on a CPU has its own memory, so mapping copies: the contents go to device memory when the
// resource is mapped and back when it is unmapped. Both happen on the calling thread, because
// OpenGL's context is current there. Unmapping waits for the stream first. Device memory exists
// only while the resource is mapped, so that a use after unmapping is found.

#pragma once

#include "objects/devices/context.hpp"
#include "objects/graphics/gl.hpp"
#include "objects/memory/allocations.hpp"
#include "objects/process/handle_table.hpp"
#include "objects/streams/stream.hpp"

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <span>

namespace cuprum::emulator {

/// A buffer or an image of OpenGL, registered in a context.
class GraphicsResource : public Object {
public:
    ~GraphicsResource() override = default;

    /// Maps resources for the work of a stream: all or none.
    ///
    /// @throws DriverError ALREADY_MAPPED, INVALID_GRAPHICS_CONTEXT, MAP_FAILED.
    static void map(std::span<const std::shared_ptr<GraphicsResource>> resources, Stream& stream);

    /// Waits for the stream and gives mapped resources back to OpenGL. The device memory goes then,
    /// so this waits for the work of all other streams as well.
    ///
    /// @throws DriverError NOT_MAPPED before anything is unmapped, INVALID_GRAPHICS_CONTEXT.
    static void unmap(std::span<const std::shared_ptr<GraphicsResource>> resources, Stream& stream);

    /// Throws ALREADY_MAPPED while the resource is mapped, unless its context is destroyed.
    void check_not_mapped() const;

    /// Sets what kernels do with the memory: CU_GRAPHICS_MAP_RESOURCE_FLAGS_*. Throws
    /// ALREADY_MAPPED.
    void set_map_flags(unsigned flags);

    /// Returns the memory of a mapped buffer. Throws NOT_MAPPED, NOT_MAPPED_AS_POINTER.
    [[nodiscard]] std::shared_ptr<const Allocation> memory() const;

    /// Returns an array of a mapped image. Throws NOT_MAPPED, NOT_MAPPED_AS_ARRAY, INVALID_VALUE.
    [[nodiscard]] CUarray array(unsigned index, unsigned level);

    /// Returns the mipmapped array of a mapped image. Throws NOT_MAPPED, NOT_MAPPED_AS_ARRAY.
    [[nodiscard]] CUmipmappedArray mipmapped_array() const;

    [[nodiscard]] const Context& context() const noexcept { return *context_; }

protected:
    GraphicsResource(std::shared_ptr<Context> context, unsigned register_flags);

    /// Makes the device memory. Copies the contents to it if `is_read`.
    virtual void begin(const gl::Functions& gl, bool is_read) = 0;
    /// Copies the contents back.
    virtual void write_back(const gl::Functions& gl) = 0;
    /// Frees the device memory.
    virtual void end() noexcept = 0;

    /// Return what is mapped, with the lock held. Throw for a resource of another kind.
    [[nodiscard]] virtual std::shared_ptr<const Allocation> find_memory() const;
    [[nodiscard]] virtual CUarray find_array(unsigned index, unsigned level);
    [[nodiscard]] virtual CUmipmappedArray find_mipmapped_array() const;

    [[nodiscard]] const std::shared_ptr<Context>& shared_context() const noexcept {
        return context_;
    }

private:
    void check_usable(const Stream& stream) const;
    void check_mapped() const;

    std::shared_ptr<Context> context_;
    std::uint64_t life_; // of the context, when the resource was registered
    unsigned map_flags_;
    bool is_mapped_ = false;
};

/// Registers a buffer. Throws INVALID_VALUE, INVALID_GRAPHICS_CONTEXT.
[[nodiscard]] std::shared_ptr<GraphicsResource>
register_buffer(const std::shared_ptr<Context>& context, gl::Name buffer, unsigned flags);

/// Registers a texture or a renderbuffer. Throws INVALID_VALUE, INVALID_GRAPHICS_CONTEXT.
[[nodiscard]] std::shared_ptr<GraphicsResource>
register_image(const std::shared_ptr<Context>& context, gl::Name image, gl::Enum target,
               unsigned flags);

} // namespace cuprum::emulator
