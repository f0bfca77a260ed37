// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Views of CuPy's arrays.

#include "arrays/cupy_arrays.hpp"
#include "arrays/numpy_arrays.hpp"
#include "arrays/view_sources.hpp"
#include "support/names.hpp"

#include <cuprum/dlpack.hpp>

#include <algorithm>
#include <cstdint>

namespace cuprum::python {

namespace {

/// Reads integers of a tuple, without further ado; false if it holds anything else.
[[nodiscard]] bool read_tuple(PyObject* tuple, std::int64_t* out) noexcept {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i) {
        out[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(tuple, i));
        if (out[i] == -1 && PyErr_Occurred() != nullptr) {
            return false;
        }
    }
    return true;
}

} // namespace

bool view_cupy_array(StridedMemoryView& view, nb::handle object) {
    const auto& array = *reinterpret_cast<const CupyArray*>(object.ptr());
    const CupyPointer* const pointer = read_cupy_pointer(array);
    const std::size_t element = numpy_itemsize(array.dtype);
    if (pointer == nullptr || element == 0) [[unlikely]] {
        return false;
    }
    const auto ndim = static_cast<std::size_t>(array.shape.end - array.shape.begin);
    view.set_ndim(ndim, true);
    std::copy(array.shape.begin, array.shape.end, view.shape_data());
    const auto bytes = static_cast<std::int64_t>(element);
    for (std::size_t i = 0; i < ndim; ++i) {
        if (array.strides.begin[i] % bytes != 0) {
            return false;
        }
        view.strides_data()[i] = array.strides.begin[i] / bytes;
    }
    view.exporter = nb::borrow(object);
    view.type_source = StridedMemoryView::TypeSource::Exporter;
    view.itemsize = element;
    view.base = view.pointer = static_cast<std::uintptr_t>(pointer->address);
    view.device_id = pointer->device_id;
    view.device_type = dlpack::DeviceType::Unknown; // it may be managed memory
    view.is_device_accessible = true;
    return true;
}

bool view_cupy(StridedMemoryView& view, nb::handle array) {
    const Names& name = names();
    const auto attribute = [](nb::handle object, PyObject* called) {
        return nb::steal(PyObject_GetAttr(object.ptr(), called));
    };
    const auto refuse = [] {
        clear_error(PyExc_Exception);
        return false;
    };
    const nb::object data = attribute(array, name.data);
    const nb::object shape = attribute(array, name.shape);
    const nb::object strides = attribute(array, name.strides);
    const nb::object dtype = attribute(array, name.dtype);
    if (!data.is_valid() || !shape.is_valid() || !strides.is_valid() || !dtype.is_valid()) {
        return refuse();
    }
    const nb::object pointer = attribute(data, name.ptr);
    const nb::object device = attribute(data, name.device_id);
    if (!pointer.is_valid() || !device.is_valid() || PyTuple_CheckExact(shape.ptr()) == 0 ||
        PyTuple_CheckExact(strides.ptr()) == 0 ||
        PyTuple_GET_SIZE(shape.ptr()) != PyTuple_GET_SIZE(strides.ptr())) {
        return refuse();
    }
    const unsigned long long address = PyLong_AsUnsignedLongLong(pointer.ptr());
    const long ordinal = PyLong_AsLong(device.ptr());
    const std::size_t element = numpy_itemsize(dtype.ptr());
    view.set_ndim(static_cast<std::size_t>(PyTuple_GET_SIZE(shape.ptr())), true);
    if (PyErr_Occurred() != nullptr || element == 0 ||
        !read_tuple(shape.ptr(), view.shape_data()) ||
        !read_tuple(strides.ptr(), view.strides_data())) {
        return refuse();
    }
    for (std::size_t i = 0; i < view.shape().size(); ++i) {
        if (view.strides_data()[i] % static_cast<std::int64_t>(element) != 0) {
            return refuse();
        }
        view.strides_data()[i] /= static_cast<std::int64_t>(element);
    }
    view.exporter = nb::borrow(array);
    view.dtype = dtype;
    view.type_source = StridedMemoryView::TypeSource::Dtype;
    view.itemsize = element;
    view.base = view.pointer = static_cast<std::uintptr_t>(address);
    view.device_id = static_cast<std::int32_t>(ordinal);
    view.device_type = dlpack::DeviceType::Unknown; // it may be managed memory
    view.is_device_accessible = true;
    return true;
}

} // namespace cuprum::python
