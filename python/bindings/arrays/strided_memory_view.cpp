// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "arrays/strided_memory_view.hpp"

#include "memory/buffer_dlpack.hpp"
#include "memory/buffer_objects.hpp"
#include "support/arguments.hpp"
#include "support/gil.hpp"
#include "support/names.hpp"
#include "support/python_objects.hpp"

#include <cuprum/buffer.hpp>
#include <cuprum/device.hpp>
#include <cuprum/dlpack.hpp>
#include <cuprum/strided_layout.hpp>

#include <utility>

namespace cuprum::python {

void StridedMemoryView::drop() noexcept {
    drop_memory();
    base = 0;
    pointer = 0;
    kept.reset();
    type_source = TypeSource::None;
    dtype.reset();
    exporter.reset();
}

void StridedMemoryView::drop_memory() noexcept {
    auto* const tensor = std::exchange(managed, nullptr);
    if (tensor != nullptr && tensor->deleter != nullptr) {
        tensor->deleter(tensor);
    }
    auto* const newer_tensor = std::exchange(versioned, nullptr);
    if (newer_tensor != nullptr && newer_tensor->deleter != nullptr) {
        newer_tensor->deleter(newer_tensor);
    }
    if (!share.is_closed()) {
        const Brief unlocked(true); // it may be the last one
        share.close();
    }
}

void StridedMemoryView::check_not_empty() const {
    if (!exporter.is_valid()) {
        raise_error(PyExc_ValueError,
                    "the view is empty: Cannot infer layout; make it with a from_* method");
    }
}

std::int64_t StridedMemoryView::size() const {
    check_not_empty();
    std::uint64_t count = 1; // checked before, unless it is 0 in the end
    for (const std::int64_t extent : shape()) {
        count *= static_cast<std::uint64_t>(extent);
    }
    return static_cast<std::int64_t>(count);
}

void StridedMemoryView::check_extents() const {
    std::int64_t count = 1;
    bool is_beyond = false;
    bool is_empty = false;
    for (const std::int64_t extent : shape()) {
        if (extent < 0) {
            raise_error(PyExc_BufferError,
                        "shape must not be negative, got an extent of " + std::to_string(extent));
        }
        is_empty = is_empty || extent == 0;
        is_beyond = __builtin_mul_overflow(count, extent, &count) || is_beyond;
    }
    if (is_beyond && !is_empty) {
        raise_error(PyExc_BufferError, "shape has more elements than 64 bits can count");
    }
}

StridedLayout StridedMemoryView::layout() const {
    check_not_empty();
    if (made_layout.is_valid()) {
        return *nb::inst_ptr<StridedLayout>(made_layout);
    }
    if (itemsize == 0) {
        raise_error(PyExc_ValueError, "the elements have size 0, so they have no layout");
    }
    return has_strides_ ? StridedLayout(shape(), *strides(), itemsize)
                        : StridedLayout(shape(), itemsize);
}

nb::object StridedMemoryView::layout_object() {
    if (!made_layout.is_valid()) {
        made_layout = make<StridedLayout>(layout());
    }
    return made_layout;
}

nb::object StridedMemoryView::dtype_object() {
    switch (type_source) {
    case TypeSource::None:
        return nb::none();
    case TypeSource::DLPack:
        dtype = numpy_dtype(type);
        break;
    case TypeSource::Exporter:
        dtype = exporter.attr("dtype");
        break;
    case TypeSource::Text:
        try {
            dtype = nb::module_::import_("numpy").attr("dtype")(dtype);
        } catch (nb::python_error& error) {
            if (!error.matches(PyExc_ImportError)) {
                throw;
            }
        }
        break;
    case TypeSource::Dtype:
        return dtype;
    }
    // NOTE: `type` stays what it is: dlpack_type() then reads the same from the dtype.
    type_source = TypeSource::Dtype;
    return dtype;
}

dlpack::DataType StridedMemoryView::dlpack_type() {
    check_not_empty();
    if (type_source == TypeSource::DLPack || type.bits != 0) {
        return type;
    }
    const nb::object known = dtype_object();
    if (known.is_none()) {
        raise_error(PyExc_BufferError, "the view has no dtype, which DLPack needs; make it with "
                                       "the argument dtype, or view.view(dtype=…)");
    }
    type = dlpack_type_of(known);
    return type;
}

dlpack::Device StridedMemoryView::dlpack_device() {
    check_not_empty();
    if (device_type == dlpack::DeviceType::Unknown) {
        if (const PyBuffer* buffer = get_if<PyBuffer>(exporter)) {
            const dlpack::Device device = dlpack_device_of(*buffer);
            device_type = device.type;
        } else if (pointer == 0) {
            device_type = dlpack::DeviceType::Cuda;
        } else {
            const Buffer memory = Buffer::from_handle(pointer, 1);
            device_type = dlpack_device_type_of(memory);
        }
    }
    // The protocol gives every other memory the number 0.
    return {device_type, device_type == dlpack::DeviceType::Cuda ? device_id : 0};
}

StridedMemoryView::Range StridedMemoryView::reachable() const {
    if (range) {
        return *range;
    }
    const auto [lowest, highest] = layout().offset_bounds();
    const auto bytes = static_cast<std::int64_t>(itemsize);
    return {lowest * bytes, (highest + 1) * bytes};
}

} // namespace cuprum::python
