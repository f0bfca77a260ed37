// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "device/context_state.hpp"
#include "driver/handle.hpp"

#include <cuprum/detail/access.hpp>
#include <cuprum/detail/handle_argument.hpp>
#include <cuprum/texture/resource_descriptor.hpp>
#include <cuprum/texture/texture_object.hpp>

#include <cuda.h>

#include <atomic>
#include <memory>

namespace cuprum::detail {

/// Returns the flag of an array that ends with its owner, see end_with(); null for other memory.
[[nodiscard]] const std::atomic<bool>* withdrawal_of(const ResourceDescriptor& resource) noexcept;

/// A texture or surface of the driver, its context, and the memory that it reads. Destroying the
/// state destroys the driver's object.
struct HandleState {
    unsigned long long handle = 0;
    std::shared_ptr<ContextState> context;
    unsigned made_at = 0; // the context's count of resets when it was made
    bool is_surface = false;
    bool is_owned = false;
    ResourceDescriptor resource;
    TextureObjectOptions options;                  // of a texture
    const std::atomic<bool>* withdrawal = nullptr; // of the array, which `resource` keeps

    HandleState(const ResourceDescriptor& memory, const TextureObjectOptions& how,
                const std::shared_ptr<ContextState>& home)
        : context(home), made_at(home->reset_count.load(std::memory_order_relaxed)),
          resource(memory), options(how), withdrawal(withdrawal_of(memory)) {}

    ~HandleState();
    HandleState(const HandleState&) = delete;
    HandleState& operator=(const HandleState&) = delete;

    [[nodiscard]] bool is_lost() const noexcept { return !is_intact(context, made_at); }
};

/// Returns the state of a texture or surface, to use it.
/// @throws ClosedError if it is closed, a device reset destroyed it, or its array was withdrawn.
template <typename Object>
[[nodiscard]] HandleState& open_handle(const Object& object) {
    HandleState& state = open(Access::state(object), Object::CLASS_NAME);
    if (state.withdrawal != nullptr && state.withdrawal->load(std::memory_order_relaxed))
        [[unlikely]] {
        raise_closed(Object::CLASS_NAME);
    }
    return state;
}

/// Returns a resource as the driver takes it.
/// @throws ClosedError if the array or the buffer is closed.
[[nodiscard]] CUDA_RESOURCE_DESC description_of(const ResourceDescriptor& resource);

/// Returns the context of the array that a resource is; null for a buffer.
/// @throws ClosedError if the array is closed.
[[nodiscard]] const std::shared_ptr<ContextState>*
array_context(const ResourceDescriptor& resource);

/// Returns the context of a resource: that of the array, or the one that methods of the buffer's
/// device act in.
[[nodiscard]] std::shared_ptr<ContextState> context_of(const ResourceDescriptor& resource);

/// Throws std::invalid_argument that names the device of a resource and another one.
[[noreturn, gnu::cold]] void refuse_device(int home, const DeviceState& device);

} // namespace cuprum::detail
