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

#include <memory>

namespace cuprum::detail {

/// A texture or surface of the driver, its context, and the memory that it reads. Destroying the
/// state destroys the driver's object.
struct HandleState {
    unsigned long long handle = 0;
    std::shared_ptr<ContextState> context;
    unsigned made_at = 0; // the context's count of resets when it was made
    bool is_surface = false;
    bool is_owned = false;
    ResourceDescriptor resource;
    TextureObjectOptions options; // of a texture

    explicit HandleState(const ResourceDescriptor& memory) : resource(memory) {}

    ~HandleState();
    HandleState(const HandleState&) = delete;
    HandleState& operator=(const HandleState&) = delete;

    /// Sets the context that the object will be made in.
    void make_in(std::shared_ptr<ContextState> home) noexcept {
        context = std::move(home);
        made_at = context->reset_count.load(std::memory_order_relaxed);
    }

    [[nodiscard]] bool is_lost() const noexcept { return !is_intact(context, made_at); }
};

/// Returns the state of a texture or surface, to use it.
/// @throws ClosedError if it is closed or a device reset destroyed it.
template <typename Object>
[[nodiscard]] HandleState& open_handle(const Object& object) {
    return open(Access::state(object), Object::CLASS_NAME);
}

/// Returns a resource as the driver takes it.
/// @throws ClosedError if the array or the buffer is closed.
[[nodiscard]] CUDA_RESOURCE_DESC description_of(const ResourceDescriptor& resource);

/// Returns the context of a resource: that of the array, or the one that methods of the buffer's
/// device act in.
[[nodiscard]] std::shared_ptr<ContextState> context_of(const ResourceDescriptor& resource);

/// Checks that a resource lies on a device.
/// @throws std::invalid_argument that names both devices.
void check_device(const ResourceDescriptor& resource, const DeviceState& device);

} // namespace cuprum::detail
