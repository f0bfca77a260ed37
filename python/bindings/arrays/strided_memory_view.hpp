// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "arrays/dlpack.hpp"
#include "support/recycling.hpp"

#include <cuprum/buffer.hpp>
#include <cuprum/detail/access.hpp>
#include <cuprum/device.hpp>
#include <cuprum/dlpack.hpp>
#include <cuprum/strided_layout.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace cuprum::python {

/// What another library's array is: where it lies, its extents, what its elements are.
///
/// Made in place, inside a Python object, and filled by the functions in view_sources.hpp. Only
/// what making a view needs is read then; dtype and layout become Python objects when asked for.
class StridedMemoryView {
public:
    static constexpr std::size_t INLINE_DIMENSIONS = 4; // more are on the heap

    /// Who knows what the elements are.
    enum class TypeSource : std::uint8_t {
        None,     // nobody
        DLPack,   // `type`
        Exporter, // the array has a `dtype`
        Text,     // `dtype` holds numpy's type string until it is asked for
        Dtype,    // `dtype`
    };

    /// The part of memory that views of this view may reach, in bytes from `base`.
    struct Range {
        std::int64_t begin = 0;
        std::int64_t end = 0;
    };

    // NOTE: a defaulted one would have all of it cleared first, which takes longer than the rest.
    StridedMemoryView() noexcept {} // NOLINT(modernize-use-equals-default)

    ~StridedMemoryView() {
        if (managed != nullptr || versioned != nullptr || !share.is_closed()) [[unlikely]] {
            drop_memory();
        }
    }

    StridedMemoryView(const StridedMemoryView&) = delete;
    StridedMemoryView& operator=(const StridedMemoryView&) = delete;

    [[nodiscard]] std::span<const std::int64_t> shape() const noexcept {
        return {extents(), ndim_};
    }

    /// Returns the strides in elements as the producer gave them; none means contiguous in C order.
    [[nodiscard]] std::optional<std::span<const std::int64_t>> strides() const noexcept {
        return has_strides_ ? std::optional(std::span(extents() + ndim_, ndim_)) : std::nullopt;
    }

    /// Makes room for extents, and for strides if there are any.
    void set_ndim(std::size_t ndim, bool has_strides) {
        ndim_ = ndim;
        has_strides_ = has_strides;
        if (ndim > INLINE_DIMENSIONS) [[unlikely]] {
            more_extents_ = std::make_unique<std::int64_t[]>(2 * ndim);
        }
    }

    [[nodiscard]] std::int64_t* shape_data() noexcept {
        return more_extents_ != nullptr ? more_extents_.get() : few_extents_.data();
    }

    [[nodiscard]] std::int64_t* strides_data() noexcept { return shape_data() + ndim_; }

    /// Takes over a producer's extents, and its strides unless they are null.
    /// @throws BufferError as check_extents() does.
    inline void take_extents(std::size_t ndim, const std::int64_t* shape,
                             const std::int64_t* strides);

    /// Returns the number of elements.
    /// @throws ValueError if the view is empty, as StridedMemoryView() makes it.
    [[nodiscard]] std::int64_t size() const;
    /// Returns where the elements lie; offsets count from `base`.
    [[nodiscard]] StridedLayout layout() const;
    /// Returns the same as a Python object, always the same one.
    [[nodiscard]] nb::object layout_object();
    /// Returns the elements' numpy dtype (its type string if there is no numpy), or None.
    [[nodiscard]] nb::object dtype_object();
    /// Returns the elements' type for DLPack.
    /// @throws BufferError if it has none.
    [[nodiscard]] dlpack::DataType dlpack_type();
    /// Returns the device for DLPack, asking the driver if the producer did not say.
    [[nodiscard]] dlpack::Device dlpack_device();
    /// Returns what views of this view may reach.
    [[nodiscard]] Range reachable() const;

    void check_not_empty() const;
    /// Gives up the memory, and all Python objects with it: the view is empty then. Call it with
    /// the GIL held.
    void drop() noexcept;
    /// Looks at what a producer gave as extents.
    /// @throws BufferError if one is negative, or there are more elements than 64 bits can count.
    void check_extents() const;

    nb::object exporter; // the array, kept alive; null if the view is empty
    nb::object kept;     // what must outlive the memory: a buffer's, or the view that has it
    // Of a buffer's memory, which may be closed.
    Buffer share = cuprum::detail::Access::make<Buffer>(nullptr);
    nb::object dtype;
    nb::object made_layout;      // null until asked for
    std::uintptr_t base = 0;     // what the offsets of layouts count from
    std::uintptr_t pointer = 0;  // the first element
    std::size_t itemsize = 0;    // bytes
    dlpack::DataType type{};     // if the source of the type is DLPack
    std::int32_t device_id = -1; // -1 is the host
    dlpack::DeviceType device_type = dlpack::DeviceType::Cpu;
    TypeSource type_source = TypeSource::None;
    bool is_device_accessible = false;
    bool is_readonly = false;
    std::optional<Range> range;        // none: what the elements take up
    std::uintptr_t ordered_stream = 0; // the memory is ready in this stream's order…
    bool is_ordered = false;           // …if this is set
    // What DLPack handed over, at most one of them.
    dlpack::ManagedTensor* managed = nullptr;
    dlpack::ManagedTensorVersioned* versioned = nullptr;

private:
    /// Gives up what holds the memory, but for Python objects.
    void drop_memory() noexcept;

    [[nodiscard]] const std::int64_t* extents() const noexcept {
        return more_extents_ != nullptr ? more_extents_.get() : few_extents_.data();
    }

    std::size_t ndim_ = 0;
    bool has_strides_ = false;
    std::array<std::int64_t, 2 * INLINE_DIMENSIONS> few_extents_; // the shape, then the strides
    std::unique_ptr<std::int64_t[]> more_extents_;
};

inline void StridedMemoryView::take_extents(std::size_t ndim, const std::int64_t* shape,
                                            const std::int64_t* strides) {
    set_ndim(ndim, strides != nullptr);
    std::int64_t* const own = shape_data();
    std::int64_t count = 1;
    bool is_unusual = false;
    for (std::size_t i = 0; i < ndim; ++i) {
        const std::int64_t extent = shape[i];
        own[i] = extent;
        if (strides != nullptr) {
            own[ndim + i] = strides[i];
        }
        const bool is_beyond = __builtin_mul_overflow(count, extent, &count);
        is_unusual = is_unusual || is_beyond || extent <= 0;
    }
    if (is_unusual) [[unlikely]] {
        check_extents();
    }
}

template <>
inline constexpr bool IS_RECYCLED<StridedMemoryView> = true;

/// Plain numpy arrays refer to nothing that the collector knows.
template <>
[[nodiscard]] inline bool may_refer_back(const StridedMemoryView& view) noexcept {
    return view.exporter.is_valid() && PyType_IS_GC(Py_TYPE(view.exporter.ptr())) != 0;
}

/// An array that others hold too stays.
template <>
[[nodiscard]] inline bool may_begin_chain(const StridedMemoryView& view) noexcept {
    return view.kept.is_valid() || view.managed != nullptr || view.versioned != nullptr ||
           !view.share.is_closed() || !view.exporter.is_valid() ||
           Py_REFCNT(view.exporter.ptr()) == 1;
}

/// Returns numpy's dtype of a DLPack type.
/// @throws NotImplementedError if numpy, with or without ml_dtypes, has none.
[[nodiscard]] nb::object numpy_dtype(const dlpack::DataType& type);

/// Returns the DLPack type of numpy's dtype.
/// @throws BufferError if there is none.
[[nodiscard]] dlpack::DataType dlpack_type_of(nb::handle dtype);

} // namespace cuprum::python
