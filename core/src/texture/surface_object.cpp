// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/texture/surface_object.hpp>

#include "device/device_state.hpp"
#include "driver/current.hpp"
#include "support/recycled.hpp"
#include "support/text.hpp"
#include "texture/array_state.hpp"
#include "texture/handle_state.hpp"

#include <stdexcept>
#include <string>
#include <utility>

namespace cuprum {

SurfaceObject SurfaceObject::create(const ResourceDescriptor& resource) {
    if (resource.kind() != ResourceKind::OpaqueArray) {
        throw std::invalid_argument("resource has the kind " +
                                    std::string(to_string(resource.kind())) +
                                    ", expected an array-backed one: only an OpaqueArray, or a "
                                    "level of a MipmappedArray, can be a surface");
    }
    const detail::ArrayState& array = detail::open(*resource.opaque_array());
    if (!array.has_flag(CUDA_ARRAY3D_SURFACE_LDST)) {
        throw std::invalid_argument("the array was made without is_surface_load_store; make it "
                                    "with is_surface_load_store=True");
    }
    const CUDA_RESOURCE_DESC memory = detail::description_of(resource);
    auto state =
        detail::make_recycled<detail::HandleState>(resource, TextureObjectOptions{}, array.context);
    state->is_surface = true;
    const driver::Current current(state->context->handle);
    driver::call(driver::table().cuSurfObjectCreate, &state->handle, &memory);
    state->is_owned = true;
    return SurfaceObject(std::move(state));
}

SurfaceObject SurfaceObject::create(const OpaqueArray& array) {
    return create(ResourceDescriptor::from_opaque_array(array));
}

SurfaceObject Device::create_surface_object(const ResourceDescriptor& resource) const {
    if (const auto* const home = detail::array_context(resource);
        home != nullptr && (*home)->device != state_) {
        detail::refuse_device((*home)->device->ordinal, *state_);
    }
    return SurfaceObject::create(resource);
}

CUsurfObject SurfaceObject::handle() const {
    return detail::open_handle(*this).handle;
}

const ResourceDescriptor& SurfaceObject::resource() const {
    return detail::open_handle(*this).resource;
}

Context SurfaceObject::context() const {
    return detail::Access::make<Context>(detail::open_handle(*this).context);
}

Device SurfaceObject::device() const {
    return Device(detail::open_handle(*this).context->device->ordinal);
}

bool operator==(const SurfaceObject& left, const SurfaceObject& right) noexcept {
    return left.state_ == right.state_;
}

std::string to_string(const SurfaceObject& surface) {
    return surface.is_closed()
               ? "<SurfaceObject closed>"
               : "<SurfaceObject handle=" +
                     detail::hexadecimal(detail::Access::state(surface)->handle) + ">";
}

} // namespace cuprum

std::size_t
std::hash<cuprum::SurfaceObject>::operator()(const cuprum::SurfaceObject& surface) const noexcept {
    return std::hash<std::shared_ptr<cuprum::detail::HandleState>>()(
        cuprum::detail::Access::state(surface));
}
