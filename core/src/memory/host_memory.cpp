// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/host_memory.hpp>

#include "device/device_state.hpp"
#include "driver/current.hpp"
#include "memory/allocation.hpp"
#include "memory/buffer_state.hpp"
#include "memory/waiting_free.hpp"
#include "stream/stream_state.hpp"

#include <cuprum/error.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace cuprum {

namespace {

using driver::call;
using driver::table;

/// The registration of one range; a buffer over it gives it back here.
class RegisteredMemory final : public MemoryResource {
public:
    explicit RegisteredMemory(std::shared_ptr<void> owner) : owner_(std::move(owner)) {}

    [[nodiscard]] CUdeviceptr allocate_bytes(std::size_t /*bytes*/,
                                             const Stream& /*stream*/) override {
        throw std::logic_error("registered host memory exists already and cannot be allocated");
    }

    void deallocate_bytes(CUdeviceptr pointer, std::size_t /*bytes*/,
                          const Stream& stream) override {
        detail::free_after(stream, [pointer] {
            detail::free_in_any_context(table().cuMemHostUnregister, pointer);
        });
    }

    [[nodiscard]] bool is_device_accessible() const noexcept override { return true; }

    [[nodiscard]] bool is_host_accessible() const noexcept override { return true; }

    [[nodiscard]] int device_id() const noexcept override { return -1; }

    [[nodiscard]] bool is_context_bound() const noexcept override { return true; }

    [[nodiscard]] bool may_free_later() const noexcept override {
        return owner_ != nullptr; // else the memory may be gone as soon as the buffer is
    }

private:
    std::shared_ptr<void> owner_;
};

CUdeviceptr allocate_pinned(std::size_t bytes, CUcontext context) {
    const driver::Current current(context);
    void* memory = nullptr;
    detail::allocate(bytes, -1, table().cuMemAllocHost, &memory, bytes);
    return static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(memory));
}

CUdeviceptr allocate_on(const Device& device, std::size_t bytes, CUcontext context) {
    const driver::Current current(context);
    CUdeviceptr pointer = 0;
    detail::allocate(bytes, device.ordinal(), table().cuMemAlloc, &pointer, bytes);
    return pointer;
}

std::shared_ptr<detail::ContextState> context_on(const Device& device) {
    return detail::context_for(*detail::devices()[static_cast<std::size_t>(device.ordinal())]);
}

} // namespace

std::shared_ptr<LegacyPinnedMemoryResource> LegacyPinnedMemoryResource::create() {
    return std::shared_ptr<LegacyPinnedMemoryResource>(new LegacyPinnedMemoryResource);
}

Buffer LegacyPinnedMemoryResource::allocate(std::size_t bytes) {
    auto own = detail::share_of(*this);
    auto context = detail::any_context();
    const CUdeviceptr pointer = bytes == 0 ? 0 : allocate_pinned(bytes, context->handle);
    return detail::adopt(pointer, bytes, std::move(own), std::move(context));
}

CUdeviceptr LegacyPinnedMemoryResource::allocate_bytes(std::size_t bytes, const Stream& stream) {
    return allocate_pinned(bytes, stream.context().handle());
}

void LegacyPinnedMemoryResource::deallocate_bytes(CUdeviceptr pointer, std::size_t /*bytes*/,
                                                  const Stream& stream) {
    if (pointer == 0) {
        return;
    }
    detail::free_after(stream,
                       [pointer] { detail::free_in_any_context(table().cuMemFreeHost, pointer); });
}

std::shared_ptr<SynchronousMemoryResource> SynchronousMemoryResource::create(const Device& device) {
    return std::shared_ptr<SynchronousMemoryResource>(new SynchronousMemoryResource(device));
}

Buffer SynchronousMemoryResource::allocate(std::size_t bytes) {
    auto own = detail::share_of(*this);
    auto context = context_on(device_);
    const CUdeviceptr pointer = bytes == 0 ? 0 : allocate_on(device_, bytes, context->handle);
    return detail::adopt(pointer, bytes, std::move(own), std::move(context));
}

Buffer SynchronousMemoryResource::make_buffer(std::size_t bytes, const Stream& stream) {
    static_cast<void>(detail::handle_of(stream)); // a closed stream is an error here as everywhere
    Buffer buffer = allocate(bytes);
    if (bytes != 0) {
        buffer.set_deallocation_stream(stream);
    }
    return buffer;
}

CUdeviceptr SynchronousMemoryResource::allocate_bytes(std::size_t bytes, const Stream& stream) {
    (void)detail::handle_of(stream); // a closed stream is an error here as everywhere
    return allocate_on(device_, bytes, context_on(device_)->handle);
}

void SynchronousMemoryResource::deallocate_bytes(CUdeviceptr pointer, std::size_t /*bytes*/,
                                                 const Stream& stream) {
    if (pointer == 0) {
        return;
    }
    detail::free_after(stream,
                       [pointer] { detail::free_in_any_context(table().cuMemFree, pointer); });
}

Buffer register_host_memory(void* pointer, std::size_t bytes,
                            const HostRegistrationOptions& options, std::shared_ptr<void> owner) {
    if (pointer == nullptr || bytes == 0) {
        throw std::invalid_argument(std::string("the memory to register ") +
                                    (pointer == nullptr ? "is null" : "has 0 bytes") +
                                    ", expected existing host memory");
    }
    auto context = detail::any_context();
    auto resource = std::make_shared<RegisteredMemory>(std::move(owner));
    unsigned flags = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP;
    flags |= options.read_only ? unsigned{CU_MEMHOSTREGISTER_READ_ONLY} : 0U;
    flags |= options.io_memory ? unsigned{CU_MEMHOSTREGISTER_IOMEMORY} : 0U;
    {
        const driver::Current current(context->handle);
        detail::allocate(bytes, -1, table().cuMemHostRegister, pointer, bytes, flags);
    }
    return detail::adopt(static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(pointer)), bytes,
                         std::move(resource), std::move(context));
}

namespace detail {

Buffer adopt(CUdeviceptr pointer, std::size_t bytes, std::shared_ptr<MemoryResource> resource,
             std::shared_ptr<ContextState> context) {
    auto state = std::make_shared<BufferState>();
    state->size = bytes;
    state->resource = std::move(resource);
    state->make_in(std::move(context));
    state->pointer = pointer;
    return detail::Access::make<Buffer>(std::move(state));
}

void wait_before_free(const Stream& stream) {
    if (stream.is_closed()) {
        return;
    }
    if (driver::capture_status(handle_of(stream)) != CU_STREAM_CAPTURE_STATUS_NONE) {
        throw std::logic_error(
            "memory cannot be freed at once while its stream is capturing; close "
            "it before or after the capture, or on another stream");
    }
    stream.sync();
}

} // namespace detail

} // namespace cuprum
