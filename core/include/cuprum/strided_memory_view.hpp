// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/buffer.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/dlpack.hpp>
#include <cuprum/stream.hpp>
#include <cuprum/strided_layout.hpp>
#include <cuprum/typed_view.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace cuprum {

class TensorMapSource;

/// A view of an array: where it lies, its layout and the type of its elements. Nothing is copied.
///
/// It comes from a buffer, whose memory it shares, or from another library through DLPack, and
/// passes to other libraries the same way. Copies of a view share what they keep alive. A view
/// orders nothing: make the stream that uses the memory wait for the stream that fills it.
///
/// @code
/// const std::array<std::int64_t, 2> shape{8, 16};
/// const auto matrix = cuprum::StridedMemoryView::of<float>(buffer, shape);
/// assert(matrix.layout().volume() == 128);
/// @endcode
class CUPRUM_API StridedMemoryView {
public:
    /// Views a buffer from its start.
    /// @param type the type of the elements; none means bytes of the layout's element size.
    /// @throws std::invalid_argument if the buffer is too small, or the sizes of type and layout
    /// differ.
    StridedMemoryView(const Buffer& buffer, const StridedLayout& layout, dlpack::DataType type = {},
                      bool is_readonly = false);

    /// Views a buffer as an array of T in C order.
    template <typename T>
    [[nodiscard]] static StridedMemoryView of(const Buffer& buffer, StridedLayout::Extents shape) {
        return {buffer, StridedLayout(shape, sizeof(T)), dlpack::type_of<T>()};
    }

    /// Takes over a tensor of another library. The last copy of the view calls its deleter; if this
    /// function throws, it calls the deleter itself.
    /// @throws std::invalid_argument if the tensor is null, has a version other than 1, lies on a
    /// device that is neither the CPU nor CUDA's, or has elements that are not whole bytes.
    [[nodiscard]] static StridedMemoryView from_dlpack(dlpack::ManagedTensorVersioned* tensor);
    /// Takes over a tensor of DLPack before version 1.
    [[nodiscard]] static StridedMemoryView from_dlpack(dlpack::ManagedTensor* tensor);
    /// Returns a tensor that shares the memory. The caller owns it and calls its deleter once, from
    /// any thread.
    /// @throws std::invalid_argument if the type of the elements is not known.
    [[nodiscard]] dlpack::ManagedTensorVersioned* to_dlpack() const;

    /// Returns the address of the first element.
    [[nodiscard]] CUdeviceptr handle() const noexcept {
        return base_ + static_cast<CUdeviceptr>(layout_.slice_offset_in_bytes());
    }

    /// Returns the layout. Its offsets count from the start of the array or buffer.
    [[nodiscard]] const StridedLayout& layout() const noexcept { return layout_; }

    /// Returns the type of the elements. It has no bits if the type is not known.
    [[nodiscard]] dlpack::DataType type() const noexcept { return type_; }

    /// Returns where the memory lies.
    [[nodiscard]] dlpack::Device device() const noexcept { return device_; }

    /// Returns whether kernels and copies on a device can use the memory.
    [[nodiscard]] bool is_device_accessible() const noexcept {
        return device_.type != dlpack::DeviceType::Cpu;
    }

    /// Returns whether the host can read and write the memory directly.
    [[nodiscard]] bool is_host_accessible() const noexcept {
        return device_.type != dlpack::DeviceType::Cuda;
    }

    /// Returns whether the memory must not be written to.
    [[nodiscard]] bool is_readonly() const noexcept { return is_readonly_; }

    /// Views the same memory through another layout.
    /// @throws std::invalid_argument if it reaches outside the memory or has another element size.
    [[nodiscard]] StridedMemoryView view(const StridedLayout& layout) const;

    /// Views the elements as T.
    /// @throws std::invalid_argument if their type or the rank differs, or the memory is not
    /// aligned for T.
    template <typename T, std::size_t Rank>
    [[nodiscard]] TypedView<T, Rank> typed() const {
        check_typed(dlpack::type_of<T>(), sizeof(T), alignof(T), Rank, std::is_const_v<T>);
        std::array<StridedLayout::Index, Rank> shape{};
        std::array<StridedLayout::Index, Rank> strides{};
        std::copy(layout_.shape().begin(), layout_.shape().end(), shape.begin());
        std::copy(layout_.strides().begin(), layout_.strides().end(), strides.begin());
        return {reinterpret_cast<T*>(static_cast<std::uintptr_t>(handle())), shape, strides};
    }

    /// Copies all elements from another array of the same shape and type; see copy_strided.
    /// @throws std::invalid_argument also if this view is read-only.
    void copy_from(const StridedMemoryView& source, const Stream& stream) const;

    /// Copies all elements to another array of the same shape and type; see copy_strided.
    void copy_to(const StridedMemoryView& destination, const Stream& stream) const {
        destination.copy_from(*this, stream);
    }

private:
    friend class TensorMapSource;

    StridedMemoryView(std::shared_ptr<void> kept, const dlpack::Tensor& tensor, bool is_readonly);

    void check_typed(dlpack::DataType type, std::size_t bytes, std::size_t alignment,
                     std::size_t rank, bool is_const) const;

    CUdeviceptr base_ = 0;
    StridedLayout layout_;
    dlpack::DataType type_{};
    dlpack::Device device_{};
    bool is_readonly_ = false;
    StridedLayout::Index first_byte_ = 0; // what views of this view may reach, from base_
    StridedLayout::Index end_byte_ = 0;
    std::shared_ptr<void> kept_; // a share of the buffer, or the other library's tensor
};

} // namespace cuprum
