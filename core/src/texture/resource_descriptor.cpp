// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/texture/resource_descriptor.hpp>

#include "device/device_state.hpp"
#include "memory/buffer_state.hpp"
#include "support/text.hpp"
#include "texture/states.hpp"

#include <limits>
#include <stdexcept>
#include <string>

namespace cuprum {

namespace {

/// Checks format and channels of elements in a buffer and returns the bytes of one.
std::size_t linear_element_bytes(ArrayFormat format, unsigned num_channels) {
    const ArrayFormatInfo& info = info_of(format);
    if (info.num_channels != 0) {
        throw std::invalid_argument("format is " + std::string(info.name) +
                                    ", expected uint8, uint16, uint32, int8, int16, int32, float16 "
                                    "or float32: only arrays have other formats");
    }
    if (num_channels != 1 && num_channels != 2 && num_channels != 4) {
        throw std::invalid_argument("num_channels is " + std::to_string(num_channels) +
                                    ", expected 1, 2 or 4");
    }
    return std::size_t{info.bytes} * num_channels;
}

void check_positive(std::size_t value, const char* name) {
    if (value == 0) {
        throw std::invalid_argument(std::string(name) + " is 0, expected at least 1");
    }
}

} // namespace

ResourceDescriptor ResourceDescriptor::from_opaque_array(const OpaqueArray& array) {
    static_cast<void>(detail::open(array));
    return ResourceDescriptor(array);
}

ResourceDescriptor ResourceDescriptor::from_mipmapped_array(const MipmappedArray& array) {
    static_cast<void>(detail::open(array));
    return ResourceDescriptor(array);
}

ResourceDescriptor ResourceDescriptor::from_linear(const Buffer& buffer,
                                                   const LinearElements& elements) {
    const std::size_t available = detail::open(buffer).size;
    const std::size_t element = linear_element_bytes(elements.format, elements.num_channels);
    const std::size_t size = elements.size_bytes.value_or(available);
    const auto expect = [&](bool is_met, const std::string& expected) {
        if (!is_met) {
            throw std::invalid_argument("size_bytes is " + std::to_string(size) + ", " + expected);
        }
    };
    expect(size <= available, "which exceeds buffer.size, " + std::to_string(available));
    expect(size >= element,
           "expected at least one element of " + std::to_string(element) + " bytes");
    expect(size % element == 0,
           "expected a multiple of element size, " + std::to_string(element) + " bytes");
    return ResourceDescriptor(buffer, {.format = elements.format,
                                       .num_channels = elements.num_channels,
                                       .width = size / element,
                                       .height = 0,
                                       .pitch_bytes = size});
}

ResourceDescriptor ResourceDescriptor::from_pitch2d(const Buffer& buffer, const PitchedRows& rows) {
    const std::size_t available = detail::open(buffer).size;
    const std::size_t element = linear_element_bytes(rows.format, rows.num_channels);
    check_positive(rows.width, "width");
    check_positive(rows.height, "height");
    if (rows.width > std::numeric_limits<std::size_t>::max() / element ||
        rows.pitch_bytes < rows.width * element) {
        throw std::invalid_argument(
            "pitch_bytes is " + std::to_string(rows.pitch_bytes) +
            ", expected at least the bytes of a row: " + std::to_string(rows.width) +
            " elements of " + std::to_string(element) + " bytes");
    }
    if (rows.pitch_bytes > available / rows.height) {
        throw std::invalid_argument(
            "pitch_bytes times height, " + std::to_string(rows.pitch_bytes) + " times " +
            std::to_string(rows.height) + ", exceeds buffer.size, " + std::to_string(available));
    }
    return ResourceDescriptor(buffer, rows);
}

ResourceKind ResourceDescriptor::kind() const noexcept {
    switch (source_.index()) {
    case 0:
        return ResourceKind::OpaqueArray;
    case 1:
        return ResourceKind::MipmappedArray;
    default:
        return rows_.height == 0 ? ResourceKind::Linear : ResourceKind::Pitch2D;
    }
}

std::size_t ResourceDescriptor::size_bytes() const noexcept {
    return kind() == ResourceKind::Linear ? rows_.pitch_bytes : 0;
}

const char* to_string(ResourceKind kind) noexcept {
    return detail::enumerator_text<ResourceKind::Pitch2D>(
        kind, {"array", "mipmapped_array", "linear", "pitch2d"});
}

std::string to_string(const ResourceDescriptor& resource) {
    const PitchedRows& rows = resource.rows();
    const std::string elements =
        " of " + to_string(rows.format) + " channels=" + std::to_string(rows.num_channels);
    switch (resource.kind()) {
    case ResourceKind::OpaqueArray:
        return "<ResourceDescriptor of " + to_string(*resource.opaque_array()) + ">";
    case ResourceKind::MipmappedArray:
        return "<ResourceDescriptor of " + to_string(*resource.mipmapped_array()) + ">";
    case ResourceKind::Linear:
        return "<ResourceDescriptor linear " + std::to_string(rows.width) + elements + ">";
    case ResourceKind::Pitch2D:
        break;
    }
    return "<ResourceDescriptor pitch2d " + std::to_string(rows.width) + " x " +
           std::to_string(rows.height) + elements + " pitch=" + std::to_string(rows.pitch_bytes) +
           ">";
}

CUDA_RESOURCE_DESC detail::description_of(const ResourceDescriptor& resource) {
    CUDA_RESOURCE_DESC made{};
    const PitchedRows& rows = resource.rows();
    switch (resource.kind()) {
    case ResourceKind::OpaqueArray:
        made.resType = CU_RESOURCE_TYPE_ARRAY;
        made.res.array.hArray = open(*resource.opaque_array()).handle;
        break;
    case ResourceKind::MipmappedArray:
        made.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
        made.res.mipmap.hMipmappedArray = open(*resource.mipmapped_array()).handle;
        break;
    case ResourceKind::Linear:
        made.resType = CU_RESOURCE_TYPE_LINEAR;
        made.res.linear.devPtr = open(*resource.buffer()).pointer;
        made.res.linear.format = static_cast<CUarray_format>(rows.format);
        made.res.linear.numChannels = rows.num_channels;
        made.res.linear.sizeInBytes = rows.pitch_bytes;
        break;
    case ResourceKind::Pitch2D:
        made.resType = CU_RESOURCE_TYPE_PITCH2D;
        made.res.pitch2D.devPtr = open(*resource.buffer()).pointer;
        made.res.pitch2D.format = static_cast<CUarray_format>(rows.format);
        made.res.pitch2D.numChannels = rows.num_channels;
        made.res.pitch2D.width = rows.width;
        made.res.pitch2D.height = rows.height;
        made.res.pitch2D.pitchInBytes = rows.pitch_bytes;
        break;
    }
    return made;
}

const std::atomic<bool>* detail::withdrawal_of(const ResourceDescriptor& resource) noexcept {
    if (const OpaqueArray* const array = resource.opaque_array()) {
        return Access::state(*array)->withdrawal;
    }
    const MipmappedArray* const mipmap = resource.mipmapped_array();
    return mipmap != nullptr ? Access::state(*mipmap)->withdrawal : nullptr;
}

const std::shared_ptr<detail::ContextState>*
detail::array_context(const ResourceDescriptor& resource) {
    if (const OpaqueArray* const array = resource.opaque_array()) {
        return &open(*array).context;
    }
    const MipmappedArray* const mipmap = resource.mipmapped_array();
    return mipmap != nullptr ? &open(*mipmap).context : nullptr;
}

std::shared_ptr<detail::ContextState> detail::context_of(const ResourceDescriptor& resource) {
    if (const auto* const home = array_context(resource)) {
        return *home;
    }
    const int ordinal = resource.buffer()->device_id();
    if (ordinal < 0) { // memory of the host that devices can reach
        return context_state(current_context("a texture of host memory"));
    }
    return context_for(*devices()[static_cast<std::size_t>(ordinal)]);
}

void detail::refuse_device(int home, const DeviceState& device) {
    throw std::invalid_argument("resource lies on device " + std::to_string(home) +
                                ", expected one of device " + std::to_string(device.ordinal));
}

} // namespace cuprum
