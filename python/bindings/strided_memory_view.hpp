// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "dlpack.hpp"
#include "objects.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace cuprum::python {

/// What another library's array is: where it lies, its extents, what its elements are.
class StridedMemoryView {
public:
    /// How the elements are described: numpy's kind letter and their size.
    struct ElementType {
        char kind = 'V';
        std::size_t size = 0; // bytes
    };

    /// Reads an object through the first protocol that it has.
    [[nodiscard]] static StridedMemoryView from_any_interface(nb::handle object, nb::handle stream);
    [[nodiscard]] static StridedMemoryView from_dlpack(nb::handle object, nb::handle stream);
    [[nodiscard]] static StridedMemoryView from_cuda_array_interface(nb::handle object,
                                                                     nb::handle stream);
    [[nodiscard]] static StridedMemoryView from_array_interface(nb::handle object);

    StridedMemoryView(StridedMemoryView&& other) noexcept;
    StridedMemoryView& operator=(StridedMemoryView&&) = delete;
    StridedMemoryView(const StridedMemoryView&) = delete;
    StridedMemoryView& operator=(const StridedMemoryView&) = delete;
    ~StridedMemoryView();

    [[nodiscard]] std::uintptr_t ptr() const noexcept { return pointer_; }

    [[nodiscard]] int device_id() const noexcept { return device_id_; }

    [[nodiscard]] bool is_device_accessible() const noexcept { return is_device_accessible_; }

    [[nodiscard]] bool readonly() const noexcept { return is_readonly_; }

    [[nodiscard]] const nb::object& exporting_obj() const noexcept { return object_; }

    [[nodiscard]] std::span<const std::int64_t> shape() const noexcept {
        return {extents_.get(), ndim_};
    }

    /// Returns the strides in elements; none means contiguous in C order.
    [[nodiscard]] std::optional<std::span<const std::int64_t>> strides() const noexcept;
    /// Returns the number of elements.
    [[nodiscard]] std::int64_t size() const noexcept;
    /// Returns the elements' numpy dtype, or its type string if numpy is not installed.
    [[nodiscard]] nb::object dtype();

private:
    explicit StridedMemoryView(nb::handle object) : object_(nb::borrow(object)) {}

    [[nodiscard]] static StridedMemoryView from_numpy(nb::handle array);
    void set_extents(std::size_t ndim, bool has_strides);
    void take(dlpack::Tensor& tensor);
    void read_interface(nb::dict interface);

    [[nodiscard]] std::int64_t* shape_data() noexcept { return extents_.get(); }

    [[nodiscard]] std::int64_t* strides_data() noexcept { return extents_.get() + ndim_; }

    nb::object object_;
    nb::object dtype_;                        // null until asked for
    std::unique_ptr<std::int64_t[]> extents_; // shape, then strides
    std::size_t ndim_ = 0;
    std::uintptr_t pointer_ = 0;
    ElementType type_;
    int device_id_ = -1;
    bool is_device_accessible_ = false;
    bool is_readonly_ = false;
    bool has_strides_ = false;
    // What DLPack handed over, at most one of them.
    dlpack::ManagedTensor* managed_ = nullptr;
    dlpack::ManagedTensorVersioned* versioned_ = nullptr;
};

} // namespace cuprum::python
