// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "strided_memory_view.hpp"

#include "arguments.hpp"
#include "numpy_scalars.hpp"

#include <cuprum/buffer.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstdlib>
#include <cstring>
#include <string>

namespace cuprum::python {

namespace {

[[nodiscard]] StridedMemoryView::ElementType element_type(const dlpack::DataType& type);
[[nodiscard]] StridedMemoryView::ElementType element_type(const std::string& typestr);
[[nodiscard]] nb::object ask_for_capsule(nb::handle object, nb::handle stream);
/// Returns a stream as DLPack takes it: an address, or -1 for no ordering.
[[nodiscard]] nb::object stream_or_raise(nb::handle stream);

} // namespace

StridedMemoryView StridedMemoryView::from_any_interface(nb::handle object, nb::handle stream) {
    if (is_numpy_array(object.ptr()) && !stream.is_none()) {
        return from_numpy(object);
    }
    if (nb::hasattr(object, "__dlpack__")) {
        return from_dlpack(object, stream);
    }
    if (nb::hasattr(object, "__cuda_array_interface__")) {
        return from_cuda_array_interface(object, stream);
    }
    raise_error(PyExc_BufferError, type_label(object) + " cannot be viewed: it has neither "
                                                        "__dlpack__ nor __cuda_array_interface__");
}

StridedMemoryView StridedMemoryView::from_dlpack(nb::handle object, nb::handle stream) {
    const nb::object order = stream_or_raise(stream);
    const nb::object device = object.attr("__dlpack_device__")();
    const bool is_on_cpu =
        nb::cast<int>(nb::object(device[0])) == static_cast<int>(dlpack::DeviceType::Cpu);
    const nb::object capsule = ask_for_capsule(object, is_on_cpu ? nb::none() : order);

    StridedMemoryView view(object);
    if (void* pointer = PyCapsule_IsValid(capsule.ptr(), dlpack::VERSIONED_NAME) != 0
                            ? PyCapsule_GetPointer(capsule.ptr(), dlpack::VERSIONED_NAME)
                            : nullptr) {
        PyCapsule_SetName(capsule.ptr(), dlpack::USED_VERSIONED_NAME);
        view.versioned_ = static_cast<dlpack::ManagedTensorVersioned*>(pointer);
        view.is_readonly_ = (view.versioned_->flags & dlpack::FLAG_READ_ONLY) != 0;
        view.take(view.versioned_->tensor);
        return view;
    }
    void* pointer = PyCapsule_GetPointer(capsule.ptr(), dlpack::NAME);
    if (pointer == nullptr) {
        PyErr_Clear();
        raise_error(PyExc_BufferError,
                    type_label(object) + ".__dlpack__ did not give a DLPack capsule");
    }
    PyCapsule_SetName(capsule.ptr(), dlpack::USED_NAME);
    view.managed_ = static_cast<dlpack::ManagedTensor*>(pointer);
    view.take(view.managed_->tensor);
    return view;
}

StridedMemoryView StridedMemoryView::from_cuda_array_interface(nb::handle object,
                                                               nb::handle stream) {
    constexpr int oldest_version = 3;
    constexpr std::int64_t no_ordering = -1;
    const nb::object order = stream_or_raise(stream);
    const auto interface = nb::cast<nb::dict>(nb::object(object.attr("__cuda_array_interface__")));
    if (nb::cast<int>(nb::object(interface["version"])) < oldest_version) {
        raise_error(PyExc_BufferError, "__cuda_array_interface__ must have version 3 or later");
    }
    if (interface.contains("mask") && !nb::object(interface["mask"]).is_none()) {
        raise_error(PyExc_BufferError, "masked arrays cannot be viewed");
    }
    StridedMemoryView view(object);
    view.read_interface(interface);
    view.is_device_accessible_ = true;
    {
        const nb::gil_scoped_release unlocked;
        view.device_id_ = view.pointer_ == 0 ? Device().ordinal()
                                             : Buffer::from_handle(view.pointer_, 1).device_id();
    }
    const nb::object produced =
        interface.contains("stream") ? nb::object(interface["stream"]) : nb::none();
    if (!produced.is_none() && nb::cast<std::int64_t>(order) != no_ordering &&
        !produced.equal(order)) {
        const auto wrap = [](nb::handle address) {
            return Stream::from_handle(reinterpret_cast<CUstream>(
                static_cast<std::uintptr_t>(address_argument(address, "stream"))));
        };
        const Stream consumer = wrap(order);
        const Stream producer = wrap(produced);
        const nb::gil_scoped_release unlocked;
        consumer.wait(producer);
    }
    return view;
}

StridedMemoryView StridedMemoryView::from_array_interface(nb::handle object) {
    if (is_numpy_array(object.ptr())) {
        return from_numpy(object);
    }
    StridedMemoryView view(object);
    view.read_interface(nb::cast<nb::dict>(nb::object(object.attr("__array_interface__"))));
    return view;
}

StridedMemoryView StridedMemoryView::from_numpy(nb::handle array) {
    // The buffer protocol costs a fraction of what numpy's DLPack does, and says the same.
    Py_buffer buffer;
    if (PyObject_GetBuffer(array.ptr(), &buffer, PyBUF_STRIDED_RO) != 0) {
        // Types that the buffer protocol does not know, such as dates.
        PyErr_Clear();
        StridedMemoryView view(array);
        view.read_interface(nb::cast<nb::dict>(nb::object(array.attr("__array_interface__"))));
        return view;
    }
    StridedMemoryView view(array);
    const auto ndim = static_cast<std::size_t>(buffer.ndim);
    const bool is_contiguous = PyBuffer_IsContiguous(&buffer, 'C') != 0;
    view.set_extents(ndim, !is_contiguous);
    for (std::size_t i = 0; i < ndim; ++i) {
        view.shape_data()[i] = buffer.shape[i];
        if (!is_contiguous) {
            view.strides_data()[i] = buffer.strides[i] / buffer.itemsize;
        }
    }
    view.pointer_ = reinterpret_cast<std::uintptr_t>(buffer.buf);
    view.type_ = {'V', static_cast<std::size_t>(buffer.itemsize)}; // dtype() asks the array
    view.is_readonly_ = buffer.readonly != 0;
    PyBuffer_Release(&buffer); // the array is kept alive, so its memory stays
    return view;
}

StridedMemoryView::StridedMemoryView(StridedMemoryView&& other) noexcept
    : object_(std::move(other.object_)), dtype_(std::move(other.dtype_)),
      extents_(std::move(other.extents_)), ndim_(other.ndim_), pointer_(other.pointer_),
      type_(other.type_), device_id_(other.device_id_),
      is_device_accessible_(other.is_device_accessible_), is_readonly_(other.is_readonly_),
      has_strides_(other.has_strides_), managed_(std::exchange(other.managed_, nullptr)),
      versioned_(std::exchange(other.versioned_, nullptr)) {}

StridedMemoryView::~StridedMemoryView() {
    if (managed_ != nullptr && managed_->deleter != nullptr) {
        managed_->deleter(managed_);
    }
    if (versioned_ != nullptr && versioned_->deleter != nullptr) {
        versioned_->deleter(versioned_);
    }
}

std::optional<std::span<const std::int64_t>> StridedMemoryView::strides() const noexcept {
    if (!has_strides_) {
        return std::nullopt;
    }
    return std::span<const std::int64_t>(extents_.get() + ndim_, ndim_);
}

std::int64_t StridedMemoryView::size() const noexcept {
    std::int64_t count = 1;
    for (const std::int64_t extent : shape()) {
        count *= extent;
    }
    return count;
}

nb::object StridedMemoryView::dtype() {
    if (dtype_.is_valid()) {
        return dtype_;
    }
    if (is_numpy_array(object_.ptr())) {
        dtype_ = object_.attr("dtype");
        return dtype_;
    }
    if (type_.kind == 'E') {
        dtype_ = nb::module_::import_("numpy").attr("dtype")(
            nb::module_::import_("ml_dtypes").attr("bfloat16"));
        return dtype_;
    }
    const nb::str typestr((type_.kind + std::to_string(type_.size)).c_str());
    try {
        dtype_ = nb::module_::import_("numpy").attr("dtype")(typestr);
    } catch (nb::python_error& error) {
        if (!error.matches(PyExc_ImportError)) {
            throw;
        }
        dtype_ = typestr;
    }
    return dtype_;
}

void StridedMemoryView::set_extents(std::size_t ndim, bool has_strides) {
    ndim_ = ndim;
    has_strides_ = has_strides;
    extents_ = std::make_unique<std::int64_t[]>(has_strides ? 2 * ndim : ndim);
}

void StridedMemoryView::take(dlpack::Tensor& tensor) {
    switch (tensor.device.type) {
    case dlpack::DeviceType::Cpu:
        device_id_ = -1;
        break;
    case dlpack::DeviceType::Cuda:
    case dlpack::DeviceType::CudaHost:
    case dlpack::DeviceType::CudaManaged:
        device_id_ = tensor.device.id;
        is_device_accessible_ = true;
        break;
    default:
        raise_error(PyExc_BufferError, "DLPack device type " +
                                           std::to_string(static_cast<int>(tensor.device.type)) +
                                           " is neither the CPU nor CUDA");
    }
    type_ = element_type(tensor.dtype);
    pointer_ = reinterpret_cast<std::uintptr_t>(tensor.data) + tensor.byte_offset;
    set_extents(static_cast<std::size_t>(tensor.ndim), tensor.strides != nullptr);
    for (std::size_t i = 0; i < ndim_; ++i) {
        shape_data()[i] = tensor.shape[i];
        if (has_strides_) {
            strides_data()[i] = tensor.strides[i];
        }
    }
    // Newer producers always fill the strides in; contiguous is contiguous either way.
    std::int64_t expected = 1;
    bool is_contiguous = has_strides_;
    for (std::size_t i = ndim_; is_contiguous && i-- > 0;) {
        is_contiguous = shape_data()[i] == 1 || strides_data()[i] == expected;
        expected *= shape_data()[i];
    }
    has_strides_ = has_strides_ && !is_contiguous && size() != 0;
}

void StridedMemoryView::read_interface(nb::dict interface) {
    const nb::object data = interface["data"];
    pointer_ = address_argument(nb::object(data[0]), "the address in data");
    is_readonly_ = nb::cast<bool>(nb::object(data[1]));
    type_ = element_type(nb::cast<std::string>(nb::object(interface["typestr"])));
    const nb::object shape = interface["shape"];
    const nb::object strides =
        interface.contains("strides") ? nb::object(interface["strides"]) : nb::none();
    set_extents(nb::len(shape), !strides.is_none());
    for (std::size_t i = 0; i < ndim_; ++i) {
        shape_data()[i] = nb::cast<std::int64_t>(nb::object(shape[i]));
        if (has_strides_) {
            const auto bytes = nb::cast<std::int64_t>(nb::object(strides[i]));
            const auto size = static_cast<std::int64_t>(type_.size);
            if (size != 0 && bytes % size != 0) {
                raise_error(PyExc_BufferError, "strides must be multiples of the element size");
            }
            strides_data()[i] = size == 0 ? 0 : bytes / size;
        }
    }
    if (interface.contains("descr") && type_.kind == 'V' && nb::hasattr(object_, "dtype")) {
        dtype_ = object_.attr("dtype"); // a record: only the object itself knows its fields
    }
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

StridedMemoryView::ElementType element_type(const dlpack::DataType& type) {
    if (type.lanes != 1) {
        raise_error(PyExc_NotImplementedError, "vector elements (DLPack lanes) cannot be viewed");
    }
    const std::size_t size = type.bits / 8U;
    switch (type.code) {
    case dlpack::TypeCode::Int:
        return {'i', size};
    case dlpack::TypeCode::UInt:
        return {'u', size};
    case dlpack::TypeCode::Float:
        return {'f', size};
    case dlpack::TypeCode::BFloat:
        return {'E', size}; // ours: numpy has no letter for it
    case dlpack::TypeCode::Complex:
        return {'c', size};
    case dlpack::TypeCode::Bool:
        return {'b', size};
    }
    raise_error(PyExc_NotImplementedError, "DLPack type code " +
                                               std::to_string(static_cast<int>(type.code)) +
                                               " cannot be viewed");
}

StridedMemoryView::ElementType element_type(const std::string& typestr) {
    constexpr std::size_t shortest = 3; // byte order, kind, size
    if (typestr.size() < shortest || typestr[0] == '>') {
        raise_error(PyExc_BufferError,
                    "typestr must be little-endian like \"<f4\", got \"" + typestr + "\"");
    }
    return {typestr[1], static_cast<std::size_t>(std::strtoul(typestr.c_str() + 2, nullptr, 10))};
}

nb::object ask_for_capsule(nb::handle object, nb::handle stream) {
    const nb::object method = object.attr("__dlpack__");
    try {
        return method(nb::arg("stream") = stream,
                      nb::arg("max_version") = nb::make_tuple(dlpack::CURRENT_VERSION.major,
                                                              dlpack::CURRENT_VERSION.minor));
    } catch (nb::python_error& error) {
        // A producer from before versions; any other TypeError it raises again.
        if (!error.matches(PyExc_TypeError)) {
            throw;
        }
    }
    return method(nb::arg("stream") = stream);
}

nb::object stream_or_raise(nb::handle stream) {
    if (stream.is_none()) {
        raise_error(PyExc_BufferError, "stream_ptr must be the address of the stream that will use "
                                       "the memory, or -1 for no ordering, got None");
    }
    return nb::borrow(stream);
}

} // namespace

} // namespace cuprum::python
