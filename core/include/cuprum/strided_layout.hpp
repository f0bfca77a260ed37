// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/export.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace cuprum {

/// In which order the axes of a dense layout follow each other in memory.
enum class StrideOrder {
    C,    // the last axis is contiguous
    F,    // the first axis is contiguous
    Keep, // as in the layout at hand
};

/// The places of an array's elements: extents, strides, the size of an element, and the offset of
/// the first one.
///
/// Every operation returns a new layout, and none accesses memory. Extents, strides and offsets
/// count elements; names that end in `_in_bytes` count bytes. An operation that is not possible
/// throws std::invalid_argument, which shows the numbers.
///
/// @code
/// const cuprum::StridedLayout layout({2, 3}, sizeof(float));
/// const std::array<int, 2> order{1, 0};
/// const cuprum::StridedLayout transposed = layout.permuted(order);
/// assert(transposed.shape()[0] == 3 && transposed.strides()[0] == 1);
/// @endcode
class CUPRUM_API StridedLayout {
public:
    /// An extent, a stride or an offset.
    using Index = std::int64_t;
    /// One number for each axis.
    using Extents = std::span<const Index>;

    /// The largest number of axes.
    static constexpr std::size_t MAX_DIMENSIONS = 64;
    static constexpr std::size_t WIDEST_ACCESS_BYTES = 16; // of one load instruction of a GPU

    /// A part of an axis: one index, which removes the axis, or a range with a step.
    struct Slice {
        std::optional<Index> start = {}; // negative counts from the end; none is the first
        std::optional<Index> stop = {};  // the end, which is left out; none is the last
        Index step = 1;                  // negative goes backwards
        bool is_index = false;           // one element, so that the axis is removed

        /// Selects one element of the axis and removes the axis.
        [[nodiscard]] static Slice at(Index index) {
            return {.start = index, .stop = {}, .step = 1, .is_index = true};
        }

        /// Selects the elements from `start` up to, but without, `stop`.
        [[nodiscard]] static Slice range(std::optional<Index> start, std::optional<Index> stop,
                                         Index step = 1) {
            return {.start = start, .stop = stop, .step = step, .is_index = false};
        }
    };

    /// Creates a contiguous layout in C order with implicit strides.
    StridedLayout(Extents shape, std::size_t itemsize);
    /// Creates a layout with these strides, counted in elements.
    StridedLayout(Extents shape, Extents strides, std::size_t itemsize);
    /// Creates a contiguous layout in C order with implicit strides.
    StridedLayout(std::initializer_list<Index> shape, std::size_t itemsize);
    /// Creates a layout with these strides, counted in elements.
    StridedLayout(std::initializer_list<Index> shape, std::initializer_list<Index> strides,
                  std::size_t itemsize);

    /// Creates a layout from strides in bytes, which must be multiples of `itemsize`.
    [[nodiscard]] static StridedLayout from_byte_strides(Extents shape, Extents byte_strides,
                                                         std::size_t itemsize);
    /// Creates a layout without gaps. `StrideOrder::Keep` is not allowed here.
    [[nodiscard]] static StridedLayout dense(Extents shape, std::size_t itemsize,
                                             StrideOrder order = StrideOrder::C);
    /// Creates a layout without gaps. `axis_order` lists the axes from the outermost to the
    /// contiguous one.
    [[nodiscard]] static StridedLayout dense(Extents shape, std::size_t itemsize,
                                             std::span<const int> axis_order);

    /// Returns the number of axes.
    [[nodiscard]] std::size_t ndim() const noexcept { return extents_.size() / 2; }

    /// Returns the extents, outermost first.
    [[nodiscard]] Extents shape() const noexcept { return {extents_.data(), ndim()}; }

    /// Returns the strides, also where they are implicit.
    [[nodiscard]] Extents strides() const noexcept { return {extents_.data() + ndim(), ndim()}; }

    /// Returns whether the strides are implicit; the layout is then contiguous in C order.
    [[nodiscard]] bool has_implicit_strides() const noexcept { return is_implicit_; }

    /// Returns the size of an element in bytes.
    [[nodiscard]] std::size_t itemsize() const noexcept { return itemsize_; }

    /// Returns the offset of the element whose indices are all 0; slicing moves it.
    [[nodiscard]] Index slice_offset() const noexcept { return slice_offset_; }

    /// Returns the offset of the element whose indices are all 0, in bytes.
    [[nodiscard]] Index slice_offset_in_bytes() const noexcept {
        return slice_offset_ * static_cast<Index>(itemsize_);
    }

    /// Returns the number of elements.
    [[nodiscard]] Index volume() const noexcept { return volume_; }

    /// Returns the axes from the one with the largest stride to the one with the smallest.
    [[nodiscard]] std::vector<int> stride_order() const;

    /// Returns whether no two elements share memory. False can be wrong, because strides that
    /// interleave are not analysed; true is always right.
    [[nodiscard]] bool is_unique() const;
    /// Returns whether it is contiguous with the last axis varying fastest.
    [[nodiscard]] bool is_contiguous_c() const;
    /// Returns whether it is contiguous with the first axis varying fastest.
    [[nodiscard]] bool is_contiguous_f() const;
    /// Returns whether the layout is contiguous in some order of its axes.
    [[nodiscard]] bool is_contiguous_any() const;
    /// Returns whether it is contiguous in some order and begins at offset 0.
    [[nodiscard]] bool is_dense() const;

    /// Returns the smallest and the largest offset of an element; (0, -1) if there is none.
    [[nodiscard]] std::pair<Index, Index> offset_bounds() const noexcept;
    /// Returns the size of the memory that holds all elements.
    [[nodiscard]] std::size_t required_size_in_bytes() const;

    /// Returns a dense layout with the same shape.
    [[nodiscard]] StridedLayout to_dense(StrideOrder order = StrideOrder::Keep) const;
    /// Returns a dense layout with the same shape and this order of axes.
    [[nodiscard]] StridedLayout to_dense(std::span<const int> axis_order) const;

    /// Returns a layout of the same elements, in C order, with another shape. One extent may be -1
    /// and is computed.
    [[nodiscard]] StridedLayout reshaped(Extents shape) const;
    /// Returns a layout whose axis i is axis `axis_order[i]` of this one.
    [[nodiscard]] StridedLayout permuted(std::span<const int> axis_order) const;
    /// Merges neighbouring axes that one stride can walk. Only axes from `start_axis` to `end_axis`
    /// are merged, and only those whose bit in `mask` is set are merged into the axis before.
    [[nodiscard]] StridedLayout flattened(int start_axis = 0, int end_axis = -1,
                                          std::uint64_t mask = ~std::uint64_t{0}) const;
    /// Returns the axes, one bit each, that `flattened` can merge into the axis before. Masks of
    /// several layouts may be combined with `&`.
    [[nodiscard]] std::uint64_t flattened_axis_mask() const noexcept;
    /// Removes the axes of extent 1; a layout without elements becomes one empty axis.
    [[nodiscard]] StridedLayout squeezed() const;
    /// Adds axes of extent 1, numbered as in the result.
    [[nodiscard]] StridedLayout unsqueezed(std::span<const int> axes) const;
    /// Repeats axes of extent 1, and adds axes in front, by strides of 0.
    [[nodiscard]] StridedLayout broadcast_to(Extents shape) const;

    /// Combines neighbouring elements along a contiguous axis into larger ones, or splits each into
    /// smaller ones.
    ///
    /// @param address  where the layout will be used; its alignment is checked unless it is 0.
    /// @param keep_dim whether an axis that shrinks to extent 1 stays.
    [[nodiscard]] StridedLayout repacked(std::size_t itemsize, std::uintptr_t address = 0,
                                         int axis = -1, bool keep_dim = true) const;
    /// Returns the largest element size that divides `max_itemsize` and that `repacked` can widen
    /// to, or the present size if there is none.
    [[nodiscard]] std::size_t
    max_compatible_itemsize(std::size_t max_itemsize = WIDEST_ACCESS_BYTES,
                            std::uintptr_t address = 0, int axis = -1) const;

    /// Selects parts of the leading axes. The other axes stay whole.
    [[nodiscard]] StridedLayout sliced(std::span<const Slice> slices) const;
    /// Selects parts of the leading axes. The other axes stay whole.
    [[nodiscard]] StridedLayout sliced(std::initializer_list<Slice> slices) const;

    /// Returns, for example, "shape (2, 3), strides (3, 1), 4-byte elements, offset 0".
    [[nodiscard]] std::string to_string() const;

    /// Compares the places that elements have; implicit strides equal the same explicit ones.
    friend CUPRUM_API bool operator==(const StridedLayout& left,
                                      const StridedLayout& right) noexcept;

private:
    StridedLayout() = default;

    [[nodiscard]] static StridedLayout with_strides(std::vector<Index> shape,
                                                    const std::vector<Index>& strides,
                                                    std::size_t itemsize, Index slice_offset);
    void count_elements();

    std::vector<Index> extents_; // the shape, then the strides
    std::size_t itemsize_ = 1;   // bytes
    Index volume_ = 1;
    Index slice_offset_ = 0;
    bool is_implicit_ = false;
};

} // namespace cuprum
