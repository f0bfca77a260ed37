// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/graphics/graphics_resource.hpp"

#include "check/written.hpp"
#include "objects/devices/all_contexts.hpp"
#include "objects/graphs/capture.hpp"
#include "objects/memory/address_space.hpp"
#include "objects/process/error.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <string>

namespace cuprum::emulator {

namespace {

/// Guards what is mapped. OpenGL runs on one thread at a time anyway.
std::mutex graphics_mutex;

class BufferResource final : public GraphicsResource {
public:
    BufferResource(std::shared_ptr<Context> context, gl::Name buffer, unsigned flags)
        : GraphicsResource(std::move(context), flags), buffer_(buffer),
          bytes_(gl::buffer_bytes(gl::current(), buffer)) {
        if (bytes_ == 0) {
            fail(CUDA_ERROR_OUT_OF_MEMORY, "buffer " + std::to_string(buffer) +
                                               " of OpenGL has no storage; call glBufferData "
                                               "before you register it");
        }
    }

protected:
    [[nodiscard]] std::shared_ptr<const Allocation> find_memory() const override { return memory_; }

    void begin(const gl::Functions& gl, bool is_read) override {
        if (const std::uint64_t now = gl::buffer_bytes(gl, buffer_); now != bytes_) {
            fail(CUDA_ERROR_MAP_FAILED,
                 "buffer " + std::to_string(buffer_) + " of OpenGL had " + std::to_string(bytes_) +
                     " bytes when it was registered and has " + std::to_string(now) +
                     " now; register it again after glBufferData");
        }
        auto memory =
            Allocations::instance().allocate(MemoryKind::Graphics, shared_context(), bytes_, 0,
                                             "buffer " + std::to_string(buffer_) + " of OpenGL");
        try {
            if (is_read) {
                gl::read_buffer(gl, buffer_, reinterpret_cast<void*>(memory->base), bytes_);
            }
        } catch (...) {
            Allocations::instance().remove(memory);
            throw;
        }
        if (is_read) {
            check::mark_written(AddressSpace::instance().map(), memory->base, bytes_);
        }
        memory_ = std::move(memory);
    }

    void write_back(const gl::Functions& gl) override {
        (void)gl::buffer_bytes(gl, buffer_); // throws if the buffer was deleted
        gl::write_buffer(gl, buffer_, reinterpret_cast<const void*>(memory_->base), bytes_);
    }

    void end() noexcept override {
        if (memory_ != nullptr) {
            Allocations::instance().remove(memory_);
            memory_ = nullptr;
        }
    }

private:
    gl::Name buffer_;
    std::uint64_t bytes_;
    std::shared_ptr<Allocation> memory_; // while it is mapped
};

} // namespace

GraphicsResource::GraphicsResource(std::shared_ptr<Context> context, unsigned register_flags)
    : context_(std::move(context)), life_(context_->life()),
      map_flags_(register_flags & (CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY |
                                   CU_GRAPHICS_MAP_RESOURCE_FLAGS_WRITE_DISCARD)) {}

void GraphicsResource::map(std::span<const std::shared_ptr<GraphicsResource>> resources,
                           Stream& stream) {
    Capture::refuse_on(stream, "graphics resources cannot be mapped in a capture");
    const std::lock_guard lock(graphics_mutex);
    std::size_t mapped = 0;
    try {
        const gl::Functions& gl = gl::current();
        for (const auto& each : resources) {
            each->check_usable(stream);
            if (each->is_mapped_) {
                fail(CUDA_ERROR_ALREADY_MAPPED, "the resource is mapped already");
            }
            each->begin(gl, (each->map_flags_ & CU_GRAPHICS_MAP_RESOURCE_FLAGS_WRITE_DISCARD) == 0);
            each->is_mapped_ = true;
            ++mapped;
        }
    } catch (...) {
        for (const auto& each : resources.first(mapped)) {
            each->end();
            each->is_mapped_ = false;
        }
        throw;
    }
}

void GraphicsResource::unmap(std::span<const std::shared_ptr<GraphicsResource>> resources,
                             Stream& stream) {
    Capture::refuse_on(stream, "graphics resources cannot be unmapped in a capture");
    const auto check_all = [&] {
        for (std::size_t index = 0; index < resources.size(); ++index) {
            resources[index]->check_usable(stream);
            resources[index]->check_mapped();
            if (std::ranges::find(resources.first(index), resources[index]) !=
                resources.first(index).end()) {
                fail(CUDA_ERROR_NOT_MAPPED, "the list names a resource twice");
            }
        }
    };
    const gl::Functions* gl = nullptr;
    {
        const std::lock_guard lock(graphics_mutex);
        check_all();
        gl = &gl::current();
    }
    // Without the lock: a kernel may wait for a thread that asks for a mapped address.
    stream.synchronize();
    drain_contexts();
    const std::lock_guard lock(graphics_mutex);
    stream.context().check_usable();
    check_all(); // another thread may have unmapped them meanwhile
    std::exception_ptr problem;
    for (const auto& each : resources) {
        try {
            if ((each->map_flags_ & CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY) == 0) {
                each->write_back(*gl);
            }
        } catch (...) { // the object is gone or has changed: a later try would fail too
            problem = problem == nullptr ? std::current_exception() : problem;
        }
        each->end();
        each->is_mapped_ = false;
    }
    if (problem != nullptr) {
        std::rethrow_exception(problem);
    }
}

void GraphicsResource::check_not_mapped() const {
    const std::lock_guard lock(graphics_mutex);
    if (is_mapped_ && context_->is_active() && context_->life() == life_) {
        fail(CUDA_ERROR_ALREADY_MAPPED, "the resource is mapped; unmap it first");
    }
}

void GraphicsResource::set_map_flags(unsigned flags) {
    const std::lock_guard lock(graphics_mutex);
    if (is_mapped_) {
        fail(CUDA_ERROR_ALREADY_MAPPED, "the flags cannot change while the resource is mapped");
    }
    map_flags_ = flags;
}

std::shared_ptr<const Allocation> GraphicsResource::memory() const {
    const std::lock_guard lock(graphics_mutex);
    check_mapped();
    return find_memory();
}

CUarray GraphicsResource::array(unsigned index, unsigned level) {
    const std::lock_guard lock(graphics_mutex);
    check_mapped();
    return find_array(index, level);
}

CUmipmappedArray GraphicsResource::mipmapped_array() const {
    const std::lock_guard lock(graphics_mutex);
    check_mapped();
    return find_mipmapped_array();
}

std::shared_ptr<const Allocation> GraphicsResource::find_memory() const {
    fail(CUDA_ERROR_NOT_MAPPED_AS_POINTER,
         "the resource is an image: ask for its array, not for a pointer");
}

CUarray GraphicsResource::find_array(unsigned /*index*/, unsigned /*level*/) {
    fail(CUDA_ERROR_NOT_MAPPED_AS_ARRAY,
         "the resource is a buffer: ask for its pointer, not for an array");
}

CUmipmappedArray GraphicsResource::find_mipmapped_array() const {
    fail(CUDA_ERROR_NOT_MAPPED_AS_ARRAY,
         "the resource is a buffer: ask for its pointer, not for an array");
}

void GraphicsResource::check_mapped() const {
    if (!is_mapped_) {
        fail(CUDA_ERROR_NOT_MAPPED, "the resource is not mapped");
    }
}

void GraphicsResource::check_usable(const Stream& stream) const {
    if (!context_->is_active() || context_->life() != life_) {
        fail(CUDA_ERROR_INVALID_HANDLE,
             "the context that the resource was registered in is destroyed");
    }
    if (&stream.context() != context_.get()) {
        fail(CUDA_ERROR_INVALID_HANDLE,
             "the resource was registered in another context than the stream's");
    }
}

std::shared_ptr<GraphicsResource> register_buffer(const std::shared_ptr<Context>& context,
                                                  gl::Name buffer, unsigned flags) {
    return std::make_shared<BufferResource>(context, buffer, flags);
}

} // namespace cuprum::emulator
