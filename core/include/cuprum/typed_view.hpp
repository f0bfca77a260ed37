// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/buffer.hpp>
#include <cuprum/strided_layout.hpp>

#include <algorithm>
#include <array>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <version>

#if defined(__cpp_lib_mdspan)
#include <mdspan>
#endif

namespace cuprum {

/// A view of memory as an array of T with a fixed number of dimensions.
///
/// Like std::span it owns nothing. It is trivially copyable, so a kernel can take it as an
/// argument. Access elements on the host only if the host can reach the memory and no device is
/// using it.
///
/// @code
/// const auto memory = cuprum::LegacyPinnedMemoryResource::create()->allocate(64);
/// const auto matrix = cuprum::TypedView<float, 2>::on_host(memory, {4, 4});
/// matrix(1, 2) = 3;
/// assert(matrix.at(1, 2) == 3);
/// @endcode
template <typename T, std::size_t Rank>
    requires(std::is_trivially_copyable_v<T> && Rank >= 1 && Rank <= StridedLayout::MAX_DIMENSIONS)
class TypedView {
public:
    /// An extent, a stride or an index.
    using Index = StridedLayout::Index;
    /// One number for each axis.
    using Extents = std::array<Index, Rank>;

    TypedView() = default;

    /// Views `data` with these extents and strides, both in elements. Nothing is checked.
    constexpr TypedView(T* data, const Extents& shape, const Extents& strides) noexcept
        : data_(data), shape_(shape), strides_(strides) {}

    /// Views the same elements as constants.
    template <typename U>
        requires(!std::is_same_v<U, T> && std::is_same_v<const U, T>)
    // NOLINTNEXTLINE(google-explicit-constructor): as std::span does
    constexpr TypedView(const TypedView<U, Rank>& other) noexcept
        : TypedView(other.data(), other.shape(), other.strides()) {}

    /// Views a buffer from its start, in C order.
    /// @throws std::invalid_argument if the buffer is too small or not aligned for T.
    TypedView(const Buffer& buffer, const Extents& shape)
        : TypedView(buffer, StridedLayout(shape, sizeof(T))) {}

    /// Views a buffer through a layout, whose offsets count from the start of the buffer.
    /// @throws std::invalid_argument if the layout has another rank or element size or does not
    /// fit the buffer, or if the buffer is not aligned for T.
    TypedView(const Buffer& buffer, const StridedLayout& layout) {
        if (layout.ndim() != Rank || layout.itemsize() != sizeof(T)) {
            throw std::invalid_argument("the layout has " + layout.to_string() + ", expected " +
                                        std::to_string(Rank) + " dimensions of " +
                                        std::to_string(sizeof(T)) + "-byte elements");
        }
        if (const std::size_t needed = layout.required_size_in_bytes(); needed > buffer.size()) {
            throw std::invalid_argument("the buffer has " + std::to_string(buffer.size()) +
                                        " bytes, expected at least " + std::to_string(needed) +
                                        " for " + layout.to_string());
        }
        if (buffer.handle() % alignof(T) != 0) {
            throw std::invalid_argument("the buffer begins at " + std::to_string(buffer.handle()) +
                                        ", expected a multiple of " + std::to_string(alignof(T)));
        }
        data_ = buffer.data<T>() + layout.slice_offset();
        std::copy(layout.shape().begin(), layout.shape().end(), shape_.begin());
        std::copy(layout.strides().begin(), layout.strides().end(), strides_.begin());
    }

    /// Views a buffer that the host can reach.
    /// @throws std::invalid_argument also if the host cannot reach it.
    [[nodiscard]] static TypedView on_host(const Buffer& buffer, const Extents& shape) {
        return on_host(buffer, StridedLayout(shape, sizeof(T)));
    }

    /// Views memory that the host can access.
    [[nodiscard]] static TypedView on_host(const Buffer& buffer, const StridedLayout& layout) {
        static_cast<void>(buffer.as_span<std::byte>()); // checks that
        return TypedView(buffer, layout);
    }

    /// Returns the element at these indices. Only an assertion checks them.
    template <std::integral... Indices>
        requires(sizeof...(Indices) == Rank)
    [[nodiscard]] constexpr T& operator()(Indices... indices) const noexcept {
        const Extents at{static_cast<Index>(indices)...};
        assert(contains(at));
        return data_[offset_of(at)];
    }

    /// Returns the element at these indices.
    /// @throws std::out_of_range if an index is out of range.
    template <std::integral... Indices>
        requires(sizeof...(Indices) == Rank)
    [[nodiscard]] constexpr T& at(Indices... indices) const {
        const Extents at{static_cast<Index>(indices)...};
        if (!contains(at)) {
            std::string text;
            for (std::size_t i = 0; i < Rank; ++i) {
                text += " " + std::to_string(at[i]) + " of " + std::to_string(shape_[i]);
            }
            throw std::out_of_range("no such element:" + text);
        }
        return data_[offset_of(at)];
    }

    /// Indexes the first axis and returns an element, or a view with one dimension less.
    [[nodiscard]] constexpr decltype(auto) operator[](Index index) const noexcept {
        assert(index >= 0 && index < shape_[0]);
        T* const first = data_ + index * strides_[0];
        if constexpr (Rank == 1) {
            return *first;
        } else {
            std::array<Index, Rank - 1> shape{};
            std::array<Index, Rank - 1> strides{};
            std::copy(shape_.begin() + 1, shape_.end(), shape.begin());
            std::copy(strides_.begin() + 1, strides_.end(), strides.begin());
            return TypedView<T, Rank - 1>(first, shape, strides);
        }
    }

    /// Returns the first element.
    [[nodiscard]] constexpr T* data() const noexcept { return data_; }

    /// Returns the number of axes.
    [[nodiscard]] static constexpr std::size_t rank() noexcept { return Rank; }

    /// Returns the extents, outermost first.
    [[nodiscard]] constexpr const Extents& shape() const noexcept { return shape_; }

    /// Returns the strides in elements.
    [[nodiscard]] constexpr const Extents& strides() const noexcept { return strides_; }

    /// Returns the extent of an axis.
    [[nodiscard]] constexpr Index extent(std::size_t axis) const noexcept { return shape_[axis]; }

    /// Returns the stride of an axis in elements.
    [[nodiscard]] constexpr Index stride(std::size_t axis) const noexcept { return strides_[axis]; }

    /// Returns the number of elements.
    [[nodiscard]] constexpr Index size() const noexcept {
        Index count = 1;
        for (const Index extent : shape_) {
            count *= extent;
        }
        return count;
    }

    /// Returns its layout, with offset 0 at data().
    [[nodiscard]] StridedLayout layout() const {
        return StridedLayout(std::span<const Index>(shape_), std::span<const Index>(strides_),
                             sizeof(T));
    }

    /// Returns the elements in order.
    /// @throws std::invalid_argument unless it is contiguous in C order.
    [[nodiscard]] std::span<T> as_span() const {
        if (!layout().is_contiguous_c()) {
            throw std::invalid_argument("the view is not contiguous: it has " +
                                        layout().to_string());
        }
        return {data_, static_cast<std::size_t>(size())};
    }

#if defined(__cpp_lib_mdspan)
    /// Returns the same elements as the standard library's view.
    /// @throws std::invalid_argument if a stride is not positive, which mdspan does not allow.
    [[nodiscard]] std::mdspan<T, std::dextents<Index, Rank>, std::layout_stride> as_mdspan() const {
        Extents strides = strides_;
        for (std::size_t axis = 0; axis < Rank; ++axis) {
            if (strides[axis] <= 0 && shape_[axis] > 1) {
                throw std::invalid_argument("axis " + std::to_string(axis) + " has the stride " +
                                            std::to_string(strides[axis]) +
                                            ", expected a positive one: an mdspan has no other");
            }
            strides[axis] = strides[axis] > 0 ? strides[axis] : 1;
        }
        using Shape = std::dextents<Index, Rank>;
        return {data_, std::layout_stride::mapping<Shape>(Shape(shape_), strides)};
    }
#endif

private:
    [[nodiscard]] constexpr bool contains(const Extents& at) const noexcept {
        for (std::size_t i = 0; i < Rank; ++i) {
            if (at[i] < 0 || at[i] >= shape_[i]) {
                return false;
            }
        }
        return true;
    }

    [[nodiscard]] constexpr Index offset_of(const Extents& at) const noexcept {
        Index offset = 0;
        for (std::size_t i = 0; i < Rank; ++i) {
            offset += at[i] * strides_[i];
        }
        return offset;
    }

    T* data_ = nullptr;
    Extents shape_{};
    Extents strides_{};
};

} // namespace cuprum
