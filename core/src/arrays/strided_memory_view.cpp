// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/strided_memory_view.hpp>

#include "arrays/layout_algebra.hpp"

#include <cuprum/region.hpp>

#include <algorithm>
#include <vector>

namespace cuprum {

namespace {

using Index = StridedLayout::Index;

constexpr unsigned BYTE_BITS = 8;

/// Keeps a tensor until the last copy of the view is gone.
template <typename Managed>
std::shared_ptr<void> keep(Managed* tensor) {
    if (tensor == nullptr) {
        throw std::invalid_argument("tensor is null, expected a DLPack tensor to take over");
    }
    return {tensor, [](void* kept) {
                auto* const held = static_cast<Managed*>(kept);
                if (held->deleter != nullptr) {
                    held->deleter(held);
                }
            }};
}

/// A tensor given to another library, with the memory that it points to.
struct Exported {
    explicit Exported(StridedMemoryView source) : view(std::move(source)) {}

    dlpack::ManagedTensorVersioned managed{};
    StridedMemoryView view;
    std::vector<Index> extents; // the shape, then the strides
};

std::size_t bytes_of(dlpack::DataType type) {
    const unsigned bits = unsigned{type.bits} * type.lanes;
    if (bits == 0 || bits % BYTE_BITS != 0) {
        throw std::invalid_argument("elements of " + std::to_string(bits) +
                                    " bits cannot be viewed, only whole bytes");
    }
    return bits / BYTE_BITS;
}

StridedLayout layout_of(const dlpack::Tensor& tensor) {
    const std::size_t bytes = bytes_of(tensor.dtype);
    if (tensor.ndim < 0 || (tensor.ndim > 0 && tensor.shape == nullptr)) {
        throw std::invalid_argument(
            "the tensor has ndim " + std::to_string(tensor.ndim) +
            (tensor.ndim < 0 ? ", expected 0 or more" : " and no shape, expected one"));
    }
    const auto ndim = static_cast<std::size_t>(tensor.ndim);
    const std::span<const Index> shape(tensor.shape, ndim);
    return tensor.strides == nullptr
               ? StridedLayout(shape, bytes)
               : StridedLayout(shape, std::span<const Index>(tensor.strides, ndim), bytes);
}

dlpack::Device device_of(const Buffer& buffer) {
    if (!buffer.is_device_accessible()) {
        return {dlpack::DeviceType::Cpu, 0};
    }
    if (!buffer.is_host_accessible()) {
        return {dlpack::DeviceType::Cuda, buffer.device_id()};
    }
    return {buffer.is_managed() ? dlpack::DeviceType::CudaManaged : dlpack::DeviceType::CudaHost,
            0};
}

dlpack::Device checked(dlpack::Device device) {
    switch (device.type) {
    case dlpack::DeviceType::Cpu:
    case dlpack::DeviceType::Cuda:
    case dlpack::DeviceType::CudaHost:
    case dlpack::DeviceType::CudaManaged:
        return device;
    default:
        throw std::invalid_argument("DLPack's device type " +
                                    std::to_string(static_cast<int>(device.type)) +
                                    " is neither the CPU nor CUDA");
    }
}

std::string text_of(dlpack::DataType type) {
    return type.bits == 0 ? std::string("untyped bytes") : detail::text_of(type, 0);
}

} // namespace

StridedMemoryView::StridedMemoryView(const Buffer& buffer, const StridedLayout& layout,
                                     dlpack::DataType type, bool is_readonly)
    : base_(buffer.handle()), layout_(layout), type_(type), device_(device_of(buffer)),
      is_readonly_(is_readonly), end_byte_(static_cast<Index>(buffer.size())),
      kept_(std::make_shared<Buffer>(buffer)) {
    if (const std::size_t needed = layout.required_size_in_bytes(); needed > buffer.size()) {
        throw std::invalid_argument("the buffer has " + std::to_string(buffer.size()) +
                                    " bytes, expected at least " + std::to_string(needed) +
                                    " for " + layout.to_string());
    }
    if (type.bits != 0 && bytes_of(type) != layout.itemsize()) {
        throw std::invalid_argument("type is " + text_of(type) + ", expected " +
                                    std::to_string(layout.itemsize()) + " bytes as in the layout");
    }
}

StridedMemoryView::StridedMemoryView(std::shared_ptr<void> kept, const dlpack::Tensor& tensor,
                                     bool is_readonly)
    : base_(static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(tensor.data)) +
            tensor.byte_offset),
      layout_(layout_of(tensor)), type_(tensor.dtype), device_(checked(tensor.device)),
      is_readonly_(is_readonly), kept_(std::move(kept)) {
    const auto [lowest, highest] = layout_.offset_bounds();
    first_byte_ = lowest * static_cast<Index>(layout_.itemsize());
    end_byte_ = (highest + 1) * static_cast<Index>(layout_.itemsize());
}

StridedMemoryView StridedMemoryView::from_dlpack(dlpack::ManagedTensorVersioned* tensor) {
    auto kept = keep(tensor);
    if (tensor->version.major != dlpack::CURRENT_VERSION.major) {
        throw std::invalid_argument("the tensor has DLPack version " +
                                    std::to_string(tensor->version.major) + "." +
                                    std::to_string(tensor->version.minor) + ", expected 1");
    }
    return {std::move(kept), tensor->tensor, (tensor->flags & dlpack::FLAG_READ_ONLY) != 0};
}

StridedMemoryView StridedMemoryView::from_dlpack(dlpack::ManagedTensor* tensor) {
    auto kept = keep(tensor);
    return {std::move(kept), tensor->tensor, false};
}

dlpack::ManagedTensorVersioned* StridedMemoryView::to_dlpack() const {
    if (type_.bits == 0) {
        throw std::invalid_argument("the view's elements have no type, which DLPack needs; make it "
                                    "with one");
    }
    auto exported = std::make_unique<Exported>(*this);
    const auto shape = layout_.shape();
    const auto strides = layout_.strides();
    exported->extents.assign(shape.begin(), shape.end());
    exported->extents.insert(exported->extents.end(), strides.begin(), strides.end());
    const bool is_empty = layout_.volume() == 0;
    exported->managed = {.version = dlpack::CURRENT_VERSION,
                         .owner = exported.get(),
                         .deleter =
                             [](dlpack::ManagedTensorVersioned* self) {
                                 delete static_cast<Exported*>(self->owner);
                             },
                         .flags = is_readonly_ ? dlpack::FLAG_READ_ONLY : 0,
                         .tensor = {.data = is_empty ? nullptr
                                                     : reinterpret_cast<void*>(
                                                           static_cast<std::uintptr_t>(handle())),
                                    .device = device_,
                                    .ndim = static_cast<std::int32_t>(layout_.ndim()),
                                    .dtype = type_,
                                    .shape = exported->extents.data(),
                                    .strides = exported->extents.data() + layout_.ndim(),
                                    .byte_offset = 0}};
    return &exported.release()->managed;
}

StridedMemoryView StridedMemoryView::view(const StridedLayout& layout) const {
    const auto bytes = static_cast<Index>(layout.itemsize());
    const auto [lowest, highest] = layout.offset_bounds();
    if (type_.bits != 0 && layout.itemsize() != layout_.itemsize()) {
        throw std::invalid_argument("the layout has " + layout.to_string() + ", expected " +
                                    std::to_string(layout_.itemsize()) + "-byte elements");
    }
    if (layout.volume() != 0 &&
        (lowest * bytes < first_byte_ || (highest + 1) * bytes > end_byte_)) {
        throw std::invalid_argument("the layout (" + layout.to_string() + ") reaches from byte " +
                                    std::to_string(lowest * bytes) + " to " +
                                    std::to_string((highest + 1) * bytes) + ", the memory from " +
                                    std::to_string(first_byte_) + " to " +
                                    std::to_string(end_byte_));
    }
    StridedMemoryView other = *this;
    other.layout_ = layout;
    return other;
}

void StridedMemoryView::copy_from(const StridedMemoryView& source, const Stream& stream) const {
    if (is_readonly_) {
        throw std::invalid_argument("the destination is read-only");
    }
    if (type_.bits != 0 && source.type_.bits != 0 && !(type_ == source.type_)) {
        throw std::invalid_argument("the source's elements are " + text_of(source.type_) +
                                    ", the destination's " + text_of(type_) +
                                    ", expected the same: nothing is converted");
    }
    copy_strided(base_, layout_, source.base_, source.layout_, stream);
}

void StridedMemoryView::check_typed(dlpack::DataType type, std::size_t bytes, std::size_t alignment,
                                    std::size_t rank, bool is_const) const {
    const bool is_same =
        type_.bits == 0 || type.bits == 0 ? layout_.itemsize() == bytes : type == type_;
    if (!is_same || layout_.ndim() != rank) {
        throw std::invalid_argument("the view has " + std::to_string(layout_.ndim()) +
                                    " dimensions of " + text_of(type_) + ", not " +
                                    std::to_string(rank) + " of " + text_of(type));
    }
    if (is_readonly_ && !is_const) {
        throw std::invalid_argument("the view is read-only: see it as const elements");
    }
    if (handle() % alignment != 0 && layout_.volume() != 0) {
        throw std::invalid_argument("the elements begin at address " + std::to_string(handle()) +
                                    ", expected a multiple of " + std::to_string(alignment));
    }
}

} // namespace cuprum
