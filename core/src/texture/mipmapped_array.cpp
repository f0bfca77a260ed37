// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/texture/mipmapped_array.hpp>

#include "device/device_state.hpp"
#include "texture/array_description.hpp"
#include "texture/array_state.hpp"
#include "texture/mipmap_state.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>
#include <utility>

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
    const CUmipmappedArray first = left.is_closed() ? nullptr : left.state_->handle;
    const CUmipmappedArray second = right.is_closed() ? nullptr : right.state_->handle;
    return first == second;
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

detail::MipmapState::~MipmapState() {
    if (is_owned) {
        release_with_context(context, made_at, "mipmapped array",
                             driver::table().cuMipmappedArrayDestroy, handle);
    }
}

} // namespace cuprum

std::size_t
std::hash<cuprum::MipmappedArray>::operator()(const cuprum::MipmappedArray& array) const noexcept {
    const auto& state = cuprum::detail::Access::state(array);
    return std::hash<const void*>()(state == nullptr ? nullptr : state->handle);
}
