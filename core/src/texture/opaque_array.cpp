// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/texture/opaque_array.hpp>

#include "device/device_state.hpp"
#include "support/text.hpp"
#include "texture/states.hpp"

#include <cuprum/texture/mipmapped_array.hpp>

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>
#include <utility>

namespace cuprum {

namespace {

using driver::call;
using driver::table;

} // namespace

OpaqueArray OpaqueArray::create(const Context& context, const OpaqueArrayOptions& options) {
    auto state = std::make_shared<detail::ArrayState>(
        (static_cast<void>(detail::open(context)), detail::Access::state(context)));
    state->description = detail::description_of(options);
    state->format = &info_of(options.format);
    const driver::Current current(state->context->handle);
    const auto& entry = table().cuArray3DCreate;
    const CUresult status = entry(&state->handle, &state->description);
    if (status != CUDA_SUCCESS) [[unlikely]] {
        detail::raise_array_failure(status, entry.name, state->description, 0,
                                    *state->context->device);
    }
    state->is_owned = true;
    return OpaqueArray(std::move(state));
}

OpaqueArray Device::create_opaque_array(const OpaqueArrayOptions& options) const {
    return OpaqueArray::create(detail::Access::make<Context>(detail::context_for(*state_)),
                               options);
}

OpaqueArray OpaqueArray::from_handle(CUarray handle, std::shared_ptr<void> owner) {
    return detail::borrow_array(handle,
                                detail::context_state(detail::current_context("wrapping an array")),
                                std::move(owner));
}

OpaqueArray OpaqueArray::from_handle(CUarray handle, const Context& context,
                                     std::shared_ptr<void> owner) {
    static_cast<void>(detail::open(context));
    return detail::borrow_array(handle, detail::Access::state(context), std::move(owner));
}

CUarray OpaqueArray::handle() const {
    return detail::open(*this).handle;
}

OpaqueArrayOptions OpaqueArray::options() const {
    return detail::options_of(detail::open(*this).description);
}

ArrayExtent OpaqueArray::extent() const {
    return options().extent;
}

ArrayFormat OpaqueArray::format() const {
    return detail::open(*this).format->format;
}

unsigned OpaqueArray::num_channels() const {
    return detail::open(*this).description.NumChannels;
}

unsigned OpaqueArray::num_layers() const {
    return options().num_layers;
}

bool OpaqueArray::is_cubemap() const {
    return detail::open(*this).has_flag(CUDA_ARRAY3D_CUBEMAP);
}

bool OpaqueArray::is_surface_load_store() const {
    return detail::open(*this).has_flag(CUDA_ARRAY3D_SURFACE_LDST);
}

std::size_t OpaqueArray::element_bytes() const {
    return detail::open(*this).element_bytes();
}

std::size_t OpaqueArray::size_bytes() const {
    return detail::bytes_of(detail::open(*this).description);
}

Context OpaqueArray::context() const {
    return detail::Access::make<Context>(detail::open(*this).context);
}

Device OpaqueArray::device() const {
    return Device(detail::open(*this).context->device->ordinal);
}

ArrayMemoryRequirements OpaqueArray::memory_requirements() const {
    const detail::ArrayState& own = detail::open(*this);
    detail::check_deferred(own.description);
    CUDA_ARRAY_MEMORY_REQUIREMENTS needed{};
    const driver::Current current(own.context->handle);
    call(table().cuArrayGetMemoryRequirements, &needed, own.handle, own.context->device->handle);
    return {.size = needed.size, .alignment = needed.alignment};
}

ArraySparseProperties OpaqueArray::sparse_properties() const {
    const detail::ArrayState& own = detail::open(*this);
    detail::check_sparse(own.description);
    CUDA_ARRAY_SPARSE_PROPERTIES found{};
    const driver::Current current(own.context->handle);
    call(table().cuArrayGetSparseProperties, &found, own.handle);
    return detail::sparse_properties_of(found);
}

OpaqueArray OpaqueArray::plane(unsigned index) const {
    const detail::ArrayState& own = detail::open(*this);
    if (own.format->num_planes == 1 || index >= own.format->num_planes) {
        throw std::invalid_argument(
            "index is " + std::to_string(index) + ", but " +
            (own.format->num_planes == 1
                 ? "arrays of " + std::string(own.format->name) + " have no planes"
                 : "arrays of " + std::string(own.format->name) + " have " +
                       std::to_string(own.format->num_planes) + " planes"));
    }
    CUarray found = nullptr;
    const driver::Current current(own.context->handle);
    call(table().cuArrayGetPlane, &found, own.handle, index);
    OpaqueArray plane = detail::borrow_array(found, own.context, state_);
    detail::Access::state(plane)->withdrawal = own.withdrawal;
    return plane;
}

bool operator==(const OpaqueArray& left, const OpaqueArray& right) noexcept {
    return detail::handle_or_null(left) == detail::handle_or_null(right);
}

std::string to_string(const OpaqueArray& array) {
    if (array.is_closed()) {
        return "<OpaqueArray closed>";
    }
    return "<OpaqueArray " + detail::text_of(detail::Access::state(array)->description) + ">";
}

[[gnu::hot]] detail::ArrayState& detail::open(const OpaqueArray& array) {
    ArrayState& state = open(Access::state(array), "OpaqueArray");
    if (state.is_withdrawn()) [[unlikely]] {
        raise_closed("OpaqueArray");
    }
    return state;
}

OpaqueArray detail::borrow_array(CUarray handle, std::shared_ptr<ContextState> context,
                                 std::shared_ptr<void> owner) {
    if (handle == nullptr) {
        throw std::invalid_argument("handle is null, expected a CUarray");
    }
    auto state = std::make_shared<ArrayState>(std::move(context));
    const driver::Current current(state->context->handle);
    call(table().cuArray3DGetDescriptor, &state->description, handle);
    state->format = &info_of(static_cast<ArrayFormat>(state->description.Format));
    state->handle = handle;
    state->owner = std::move(owner);
    return Access::make<OpaqueArray>(std::move(state));
}

} // namespace cuprum

std::size_t
std::hash<cuprum::OpaqueArray>::operator()(const cuprum::OpaqueArray& array) const noexcept {
    return std::hash<const void*>()(cuprum::detail::handle_or_null(array));
}

namespace cuprum {

namespace {

using driver::table;

/// Returns how many levels an array can have: the last one has one element.
unsigned most_levels(const CUDA_ARRAY3D_DESCRIPTOR& description) {
    const bool is_deep = (description.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) == 0;
    const std::size_t largest = std::max(
        {description.Width, description.Height, is_deep ? description.Depth : std::size_t{0}});
    return static_cast<unsigned>(std::bit_width(largest));
}

std::shared_ptr<detail::MipmapState> state_in(const Context& context) {
    static_cast<void>(detail::open(context));
    return std::make_shared<detail::MipmapState>(detail::Access::state(context));
}

} // namespace

MipmappedArray MipmappedArray::create(const Context& context,
                                      const MipmappedArrayOptions& options) {
    auto state = state_in(context);
    state->description = detail::description_of(options.array);
    state->format = &info_of(options.array.format);
    const unsigned most = most_levels(state->description);
    if (options.num_levels > most) {
        throw std::invalid_argument(
            "num_levels is " + std::to_string(options.num_levels) + ", expected at most " +
            std::to_string(most) + ": the last level of an array of " +
            to_string(options.array.extent) + " elements then has one element");
    }
    state->num_levels = options.num_levels == 0 ? most : options.num_levels;
    const driver::Current current(state->context->handle);
    const auto& entry = table().cuMipmappedArrayCreate;
    const CUresult status = entry(&state->handle, &state->description, state->num_levels);
    if (status != CUDA_SUCCESS) [[unlikely]] {
        detail::raise_array_failure(status, entry.name, state->description, state->num_levels,
                                    *state->context->device);
    }
    state->is_owned = true;
    return MipmappedArray(std::move(state));
}

MipmappedArray Device::create_mipmapped_array(const MipmappedArrayOptions& options) const {
    return MipmappedArray::create(detail::Access::make<Context>(detail::context_for(*state_)),
                                  options);
}

MipmappedArray MipmappedArray::from_handle(CUmipmappedArray handle, unsigned num_levels,
                                           const Context& context, std::shared_ptr<void> owner) {
    if (handle == nullptr) {
        throw std::invalid_argument("handle is null, expected a CUmipmappedArray");
    }
    if (num_levels == 0) {
        throw std::invalid_argument("num_levels is 0, expected at least 1");
    }
    auto state = state_in(context);
    const driver::Current current(state->context->handle);
    CUarray first = nullptr;
    driver::call(table().cuMipmappedArrayGetLevel, &first, handle, 0U);
    driver::call(table().cuArray3DGetDescriptor, &state->description, first);
    state->format = &info_of(static_cast<ArrayFormat>(state->description.Format));
    state->handle = handle;
    state->num_levels = num_levels;
    state->owner = std::move(owner);
    return MipmappedArray(std::move(state));
}

CUmipmappedArray MipmappedArray::handle() const {
    return detail::open(*this).handle;
}

MipmappedArrayOptions MipmappedArray::options() const {
    const detail::MipmapState& own = detail::open(*this);
    return {.array = detail::options_of(own.description), .num_levels = own.num_levels};
}

unsigned MipmappedArray::num_levels() const {
    return detail::open(*this).num_levels;
}

ArrayExtent MipmappedArray::extent() const {
    return options().array.extent;
}

ArrayFormat MipmappedArray::format() const {
    return detail::open(*this).format->format;
}

unsigned MipmappedArray::num_channels() const {
    return detail::open(*this).description.NumChannels;
}

unsigned MipmappedArray::num_layers() const {
    return options().array.num_layers;
}

bool MipmappedArray::is_cubemap() const {
    return detail::open(*this).has_flag(CUDA_ARRAY3D_CUBEMAP);
}

bool MipmappedArray::is_surface_load_store() const {
    return detail::open(*this).has_flag(CUDA_ARRAY3D_SURFACE_LDST);
}

Context MipmappedArray::context() const {
    return detail::Access::make<Context>(detail::open(*this).context);
}

Device MipmappedArray::device() const {
    return Device(detail::open(*this).context->device->ordinal);
}

OpaqueArray MipmappedArray::level(unsigned index) const {
    const detail::MipmapState& own = detail::open(*this);
    if (index >= own.num_levels) {
        throw std::invalid_argument("level is " + std::to_string(index) +
                                    ", expected less than num_levels, which is " +
                                    std::to_string(own.num_levels));
    }
    CUarray found = nullptr;
    const driver::Current current(own.context->handle);
    driver::call(table().cuMipmappedArrayGetLevel, &found, own.handle, index);
    OpaqueArray level = detail::borrow_array(found, own.context, state_);
    detail::Access::state(level)->withdrawal = own.withdrawal;
    return level;
}

ArrayMemoryRequirements MipmappedArray::memory_requirements() const {
    const detail::MipmapState& own = detail::open(*this);
    detail::check_deferred(own.description);
    CUDA_ARRAY_MEMORY_REQUIREMENTS needed{};
    const driver::Current current(own.context->handle);
    driver::call(table().cuMipmappedArrayGetMemoryRequirements, &needed, own.handle,
                 own.context->device->handle);
    return {.size = needed.size, .alignment = needed.alignment};
}

ArraySparseProperties MipmappedArray::sparse_properties() const {
    const detail::MipmapState& own = detail::open(*this);
    detail::check_sparse(own.description);
    CUDA_ARRAY_SPARSE_PROPERTIES found{};
    const driver::Current current(own.context->handle);
    driver::call(table().cuMipmappedArrayGetSparseProperties, &found, own.handle);
    return detail::sparse_properties_of(found);
}

bool operator==(const MipmappedArray& left, const MipmappedArray& right) noexcept {
    return detail::handle_or_null(left) == detail::handle_or_null(right);
}

std::string to_string(const MipmappedArray& array) {
    if (array.is_closed()) {
        return "<MipmappedArray closed>";
    }
    const detail::MipmapState& state = *detail::Access::state(array);
    return "<MipmappedArray " + detail::text_of(state.description) +
           " levels=" + std::to_string(state.num_levels) + ">";
}

detail::MipmapState& detail::open(const MipmappedArray& array) {
    MipmapState& state = open(Access::state(array), "MipmappedArray");
    if (state.is_withdrawn()) [[unlikely]] {
        raise_closed("MipmappedArray");
    }
    return state;
}

} // namespace cuprum

std::size_t
std::hash<cuprum::MipmappedArray>::operator()(const cuprum::MipmappedArray& array) const noexcept {
    return std::hash<const void*>()(cuprum::detail::handle_or_null(array));
}
