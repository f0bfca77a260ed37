// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "arrays/view_sources.hpp"

#include "arrays/cupy_arrays.hpp"
#include "arrays/numpy_arrays.hpp"
#include "arrays/torch_tensors.hpp"
#include "memory/buffer_dlpack.hpp"
#include "memory/buffer_objects.hpp"
#include "support/arguments.hpp"
#include "support/gil.hpp"
#include "support/names.hpp"
#include "support/python_objects.hpp"

#include <cuprum/detail/order.hpp>
#include <cuprum/dlpack.hpp>
#include <cuprum/strided_layout.hpp>

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>

namespace cuprum::python {

namespace {

constexpr unsigned BYTE_BITS = 8;

[[noreturn, gnu::cold]] void refuse_device(dlpack::DeviceType type) {
    raise_error(PyExc_BufferError, "DLPack's device type " +
                                       std::to_string(static_cast<int>(type)) +
                                       ": device not supported, expected the CPU or CUDA");
}

[[noreturn, gnu::cold]] void refuse_dimensions(const dlpack::Tensor& tensor) {
    raise_error(PyExc_BufferError,
                "the tensor has ndim " + std::to_string(tensor.ndim) +
                    (tensor.shape == nullptr ? " and no shape" : "") + ", expected 0 to " +
                    std::to_string(StridedLayout::MAX_DIMENSIONS) + " and a shape");
}

[[noreturn, gnu::cold]] void refuse_elements(unsigned bits) {
    raise_error(PyExc_BufferError,
                "elements of " + std::to_string(bits) + " bits cannot be viewed, only whole bytes");
}

/// Reads a tensor's description.
[[gnu::hot]] void take(StridedMemoryView& view, const dlpack::Tensor& tensor) {
    const dlpack::DeviceType type = tensor.device.type;
    if (type != dlpack::DeviceType::Cpu) {
        if (type != dlpack::DeviceType::Cuda && type != dlpack::DeviceType::CudaHost &&
            type != dlpack::DeviceType::CudaManaged) [[unlikely]] {
            refuse_device(type);
        }
        view.device_id = tensor.device.id;
        view.is_device_accessible = true;
    }
    const unsigned bits = unsigned{tensor.dtype.bits} * tensor.dtype.lanes;
    if (bits % BYTE_BITS != 0 || bits == 0) [[unlikely]] {
        refuse_elements(bits);
    }
    view.device_type = type;
    view.type = tensor.dtype;
    view.type_source = StridedMemoryView::TypeSource::DLPack;
    view.itemsize = bits / BYTE_BITS;
    view.base = view.pointer = reinterpret_cast<std::uintptr_t>(tensor.data) +
                               static_cast<std::uintptr_t>(tensor.byte_offset);
    if (tensor.ndim < 0 || tensor.ndim > std::int32_t{StridedLayout::MAX_DIMENSIONS} ||
        (tensor.ndim > 0 && tensor.shape == nullptr)) [[unlikely]] {
        refuse_dimensions(tensor);
    }
    // NOTE: newer producers fill the strides in always.
    view.take_extents(static_cast<std::size_t>(tensor.ndim), tensor.shape, tensor.strides);
}

[[noreturn, gnu::cold]] void refuse_objects() {
    raise_error(PyExc_BufferError, "the array holds Python objects, which have no meaning "
                                   "outside of Python");
}

[[noreturn, gnu::cold]] void refuse_strides(std::size_t axis, Py_ssize_t stride,
                                            std::int64_t element) {
    raise_error(PyExc_ValueError, "strides must be divisible by itemsize: axis " +
                                      std::to_string(axis) + " has " + std::to_string(stride) +
                                      " bytes, an element " + std::to_string(element));
}

void order(StridedMemoryView& view, ConsumerStream stream) {
    if (stream.kind == ConsumerStream::Kind::Handle &&
        view.device_type != dlpack::DeviceType::Cpu) {
        view.ordered_stream = stream.handle;
        view.is_ordered = true;
    }
}

[[gnu::noinline]] void borrow_tensor(nb::handle object, const ArrayProducer& seen,
                                     dlpack::Tensor& tensor) {
    const ArrayProducer producer = seen; // what follows may run code that looks at other types
    tensor = {};
    if (producer.table->tensor_from_object(object.ptr(), &tensor) != 0) {
        throw nb::python_error();
    }
    if (producer.is_torch_type) {
        note_torch_tensor(object, *producer.table, tensor);
    }
}

/// Returns what a method without arguments says; false if there is none, as in older versions.
bool has_bit(nb::handle object, PyObject* method) {
    const nb::object answer = nb::steal(PyObject_CallMethodNoArgs(object.ptr(), method));
    if (!answer.is_valid()) {
        clear_error(PyExc_AttributeError);
        return false;
    }
    return is_true(answer);
}

/// Looks whether a tensor of PyTorch's has in memory what it says. Conjugates of complex numbers,
/// and negatives such as the imaginary parts of conjugates, are made when they are used. None of
/// the ways to exchange tensors mentions the latter. Tensors of integers are always stored.
void check_is_stored(nb::handle object, const dlpack::DataType& type) {
    const bool is_complex = type.code == dlpack::TypeCode::Complex;
    if (is_complex && has_bit(object, names().is_conj)) {
        raise_error(PyExc_BufferError, "the tensor has its conjugate bit set: its memory holds the "
                                       "conjugates of its elements; pass tensor.resolve_conj()");
    }
    if ((is_complex || type.code == dlpack::TypeCode::Float ||
         type.code == dlpack::TypeCode::BFloat) &&
        has_bit(object, names().is_neg)) {
        raise_error(PyExc_BufferError, "the tensor has its negative bit set: its memory holds the "
                                       "negatives of its elements; pass tensor.resolve_neg()");
    }
}

/// Orders the consumer after the work on what is viewed if that is a buffer or a view of ours,
/// whose stream is known; their C functions can only say that none is current.
[[nodiscard]] bool wait_for_own(const StridedMemoryView& view, ConsumerStream stream) {
    if (const auto* const buffer = get_if<PyBuffer>(view.exporter)) {
        return wait_for_buffer(stream, *buffer);
    }
    const auto* const source = get_if<StridedMemoryView>(view.exporter);
    if (source != nullptr && source->is_ordered) {
        stream.wait_for(source->ordered_stream);
        return true;
    }
    return source != nullptr && !source->share.is_closed() &&
           wait_for_buffer(stream, source->share);
}

void order_after_producer(StridedMemoryView& view, const dlpack::ExchangeTable& table,
                          ConsumerStream stream) {
    if (view.device_type == dlpack::DeviceType::Cpu ||
        view.device_type == dlpack::DeviceType::Cuda) {
        stream.require();
    }
    if (stream.kind == ConsumerStream::Kind::Handle && view.is_device_accessible) {
        void* producer = nullptr;
        if (!wait_for_own(view, stream)) {
            if (table.current_work_stream(view.device_type, view.device_id, &producer) != 0) {
                throw nb::python_error();
            }
            stream.wait_for(reinterpret_cast<std::uintptr_t>(producer));
        }
        order(view, stream);
    }
}

/// Views what the C functions of a type lend.
[[gnu::hot]] void view_lent(StridedMemoryView& view, nb::handle object,
                            const ArrayProducer& producer, ConsumerStream stream) {
    const dlpack::ExchangeTable& table = *producer.table;
    dlpack::Tensor tensor;
    if (!producer.is_torch_type || !read_torch_tensor(object, table, tensor)) [[unlikely]] {
        borrow_tensor(object, producer, tensor);
    }
    if (producer.is_from_torch) {
        check_is_stored(object, tensor.dtype);
    }
    view.exporter = nb::borrow(object);
    take(view, tensor);
    if (stream.kind != ConsumerStream::Kind::NoOrder) [[unlikely]] {
        order_after_producer(view, table, stream);
    }
}

/// Views what the C functions of a type hand out.
void view_exchange(StridedMemoryView& view, nb::handle object, const ArrayProducer& producer,
                   ConsumerStream stream) {
    dlpack::ManagedTensorVersioned* tensor = nullptr;
    if (producer.table->managed_from_object(object.ptr(), &tensor) != 0) {
        throw nb::python_error();
    }
    view_managed(view, object, tensor);
    if (producer.is_from_torch) {
        check_is_stored(object, view.type);
    }
    order_after_producer(view, *producer.table, stream);
}

/// Raises for an object that offers nothing: what its properties raise, if that is why.
[[noreturn]] void raise_no_protocol(nb::handle object) {
    for (PyObject* const name : {names().dlpack, names().dlpack_device, names().cuda_array}) {
        const nb::object found = nb::steal(PyObject_GetAttr(object.ptr(), name));
        if (!found.is_valid()) {
            clear_error(PyExc_AttributeError);
        }
    }
    raise_error(PyExc_BufferError, type_label(object) +
                                       " does not support any data exchange protocol: it has "
                                       "neither __dlpack__ nor __cuda_array_interface__");
}

[[nodiscard]] nb::object ask_for_capsule(nb::handle object, nb::handle stream) {
    const Names& name = names();
    std::array<PyObject*, 3> arguments{object.ptr(), stream.ptr(), name.newest_version};
    PyObject* capsule =
        PyObject_VectorcallMethod(name.dlpack, arguments.data(), 1, name.stream_and_version);
    if (capsule == nullptr && PyErr_ExceptionMatches(PyExc_TypeError) != 0) {
        // A producer from before versions. If it fails again, the first error is shown with it.
        nb::python_error first;
        capsule = PyObject_VectorcallMethod(name.dlpack, arguments.data(), 1, name.stream_keyword);
        if (capsule == nullptr) {
            nb::python_error second;
            const nb::object cause = nb::borrow(first.value());
            PyException_SetContext(second.value().ptr(), nb::object(cause).release().ptr());
            throw second;
        }
    }
    if (capsule == nullptr) {
        throw nb::python_error();
    }
    return nb::steal(capsule);
}

[[nodiscard]] dlpack::DeviceType device_type_of(nb::handle object) {
    const nb::object device =
        nb::steal(PyObject_CallMethodNoArgs(object.ptr(), names().dlpack_device));
    if (!device.is_valid()) {
        nb::python_error error; // takes the error that is set
        if (nb::hasattr(object, nb::handle(names().dlpack_device))) {
            throw error;
        }
        raise_error(PyExc_BufferError, type_label(object) + " has no __dlpack_device__, expected "
                                                            "an array with DLPack");
    }
    if (PyTuple_Check(device.ptr()) == 0 || PyTuple_GET_SIZE(device.ptr()) != 2) {
        raise_error(PyExc_BufferError, type_label(object) +
                                           ".__dlpack_device__ must give (type, ordinal), got " +
                                           repr_text(device));
    }
    const auto number = static_cast<int>(
        address_argument(PyTuple_GET_ITEM(device.ptr(), 0), "the type in __dlpack_device__"));
    switch (const auto type = static_cast<dlpack::DeviceType>(number)) {
    case dlpack::DeviceType::Cpu:
    case dlpack::DeviceType::Cuda:
    case dlpack::DeviceType::CudaHost:
    case dlpack::DeviceType::CudaManaged:
        return type;
    default:
        raise_error(PyExc_BufferError, "DLPack's device type " + std::to_string(number) +
                                           ": device not supported, expected the CPU or CUDA");
    }
}

void take_capsule(StridedMemoryView& view, nb::handle object, nb::handle capsule) {
    if (PyCapsule_IsValid(capsule.ptr(), dlpack::VERSIONED_NAME) != 0) {
        auto* tensor = static_cast<dlpack::ManagedTensorVersioned*>(
            PyCapsule_GetPointer(capsule.ptr(), dlpack::VERSIONED_NAME));
        PyCapsule_SetName(capsule.ptr(), dlpack::USED_VERSIONED_NAME);
        view_managed(view, object, tensor);
    } else if (PyCapsule_IsValid(capsule.ptr(), dlpack::NAME) != 0) {
        view.managed =
            static_cast<dlpack::ManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), dlpack::NAME));
        PyCapsule_SetName(capsule.ptr(), dlpack::USED_NAME);
        view.exporter = nb::borrow(object);
        take(view, view.managed->tensor);
    } else {
        raise_error(PyExc_BufferError, type_label(object) +
                                           ".__dlpack__ did not give a DLPack capsule, but " +
                                           repr_text(capsule));
    }
}

void view_capsule(StridedMemoryView& view, nb::handle object, ConsumerStream stream) {
    const dlpack::DeviceType type = device_type_of(object);
    const bool is_on_cpu = type == dlpack::DeviceType::Cpu;
    if (is_on_cpu || type == dlpack::DeviceType::Cuda) {
        stream.require();
    }
    nb::object order_by = nb::none(); // which is the legacy default stream, for CUDA
    if (!is_on_cpu && stream.kind == ConsumerStream::Kind::NoOrder) {
        order_by = nb::int_(-1);
    } else if (!is_on_cpu && stream.handle != 0) {
        order_by = nb::int_(stream.handle);
    }
    take_capsule(view, object, ask_for_capsule(object, order_by));
    order(view, stream);
}

/// Does what CuPy's `__dlpack__` does, at a fifth of its cost: the consumer waits for what CuPy's
/// current stream holds. Returns false, with the view empty, if it cannot.
[[nodiscard]] bool view_cupy_array_ordered(StridedMemoryView& view, nb::handle array,
                                           ConsumerStream stream) {
    const std::optional<std::uintptr_t> producer =
        stream.kind == ConsumerStream::Kind::Handle ? cupy_current_stream() : std::nullopt;
    if (!producer || !view_cupy_array(view, array)) {
        return false;
    }
    stream.wait_for(*producer);
    order(view, stream);
    return true;
}

/// Asks PyTorch's compiled side, which is several times faster than its `__dlpack__` in Python;
/// Returns false, with the view empty, if it cannot.
[[nodiscard]] bool view_torch(StridedMemoryView& view, nb::handle tensor) {
    const nb::object module = nb::steal(PyImport_GetModule(names().torch_module));
    const nb::object function = module.is_valid()
                                    ? nb::steal(PyObject_GetAttr(module.ptr(), names().to_dlpack))
                                    : nb::object();
    const nb::object capsule = function.is_valid()
                                   ? nb::steal(PyObject_CallOneArg(function.ptr(), tensor.ptr()))
                                   : nb::object();
    if (!capsule.is_valid()) {
        clear_error(PyExc_Exception);
        return false;
    }
    take_capsule(view, tensor, capsule);
    return true;
}

/// Views what has no quick way.
void view_other(StridedMemoryView& view, nb::handle object, const ArrayProducer& seen,
                ConsumerStream stream) {
    const ArrayProducer producer = seen; // what follows runs code that may look at other types
    switch (producer.way) {
    case ArrayProducer::Way::Numpy:
        stream.require();
        return view_numpy(view, object);
    case ArrayProducer::Way::Exchange:
        return view_exchange(view, object, producer, stream);
    case ArrayProducer::Way::CupyArray:
        if (stream.kind == ConsumerStream::Kind::NoOrder
                ? view_cupy_array(view, object)
                : view_cupy_array_ordered(view, object, stream)) {
            return;
        }
        return view_capsule(view, object, stream);
    case ArrayProducer::Way::Cupy:
        if (stream.kind == ConsumerStream::Kind::NoOrder && view_cupy(view, object)) {
            return;
        }
        return view_capsule(view, object, stream);
    case ArrayProducer::Way::Torch:
        if (stream.kind != ConsumerStream::Kind::NoOrder || !view_torch(view, object)) {
            view_capsule(view, object, stream);
        }
        return check_is_stored(object, view.type);
    case ArrayProducer::Way::DLPack:
        return view_capsule(view, object, stream);
    case ArrayProducer::Way::CudaArrayInterface:
        return view_cuda_array_interface(view, object, stream);
    case ArrayProducer::Way::None:
        break;
    }
    raise_no_protocol(object);
}

} // namespace

// ---- streams -----------------------------------------------------------------------------------

ConsumerStream ConsumerStream::from_unusual(nb::handle argument, const char* name) {
    if (argument.is_none()) {
        return {};
    }
    Py_ssize_t number = 0;
    if (read_small_int(argument, number)) { // less than -1
        raise_error(PyExc_ValueError, std::string(name) +
                                          " must be a stream's address, 0, 1 or 2 for default "
                                          "streams, or -1 for no ordering, got " +
                                          std::to_string(number));
    }
    if (PyLong_Check(argument.ptr()) == 0 && PyIndex_Check(argument.ptr()) != 0) {
        const nb::object whole = nb::steal(PyNumber_Index(argument.ptr()));
        if (!whole.is_valid()) {
            throw nb::python_error();
        }
        return from(whole, name); // one of numpy's
    }
    return {Kind::Handle, address_argument(argument, name)};
}

void ConsumerStream::refuse_none() {
    raise_error(PyExc_BufferError,
                "stream_ptr: stream=None is ambiguous; pass the address of the stream that "
                "will use the memory, or -1 for no ordering");
}

void ConsumerStream::wait_for(std::uintptr_t producer) const {
    if (kind != Kind::Handle) {
        return;
    }
    note_python_in_driver(); // another library's stream
    const Brief unlocked;
    detail::order_streams(reinterpret_cast<CUstream>(handle), reinterpret_cast<CUstream>(producer));
}

// ---- DLPack ------------------------------------------------------------------------------------

void view_any(StridedMemoryView& view, nb::handle object, ConsumerStream stream) {
    const ArrayProducer& producer = array_producer(object);
    if (producer.way == ArrayProducer::Way::Exchange && producer.may_borrow) {
        view_lent(view, object, producer, stream);
    } else if (producer.way == ArrayProducer::Way::Numpy) {
        stream.require();
        view_numpy(view, object);
    } else {
        view_other(view, object, producer, stream);
    }
}

void view_dlpack(StridedMemoryView& view, nb::handle object, ConsumerStream stream) {
    const ArrayProducer producer = array_producer(object);
    if (producer.way == ArrayProducer::Way::None ||
        producer.way == ArrayProducer::Way::CudaArrayInterface) {
        return view_capsule(view, object, stream); // raises what the object says
    }
    view_any(view, object, stream);
}

void view_managed(StridedMemoryView& view, nb::handle object,
                  dlpack::ManagedTensorVersioned* tensor) {
    view.versioned = tensor;
    view.exporter = nb::borrow(object);
    if (tensor->version.major != dlpack::CURRENT_VERSION.major) {
        raise_error(PyExc_BufferError, "the tensor has DLPack version " +
                                           std::to_string(tensor->version.major) + "." +
                                           std::to_string(tensor->version.minor) + ", expected 1");
    }
    view.is_readonly = (tensor->flags & dlpack::FLAG_READ_ONLY) != 0;
    take(view, tensor->tensor);
}

// ---- numpy -------------------------------------------------------------------------------------

void view_numpy(StridedMemoryView& view, nb::handle object) {
    const auto& array = *reinterpret_cast<const NumpyArray*>(object.ptr());
    if (holds_objects(array)) [[unlikely]] {
        refuse_objects();
    }
    view.exporter = nb::borrow(object);
    view.type_source = StridedMemoryView::TypeSource::Exporter;
    view.itemsize = numpy_itemsize(array.dtype);
    view.base = view.pointer = reinterpret_cast<std::uintptr_t>(array.data);
    view.is_readonly = (array.flags & NumpyArray::WRITEABLE) == 0;
    const auto ndim = static_cast<std::size_t>(array.ndim);
    const auto element = static_cast<std::int64_t>(view.itemsize);
    view.set_ndim(ndim, ndim != 0 && element != 0); // as numpy's own DLPack
    std::int64_t* const shape = view.shape_data();
    for (std::size_t i = 0; i < ndim; ++i) {
        shape[i] = array.shape[i];
    }
    if (element == 0) [[unlikely]] {
        return;
    }
    std::int64_t* const strides = view.strides_data();
    for (std::size_t i = 0; i < ndim; ++i) {
        if (array.strides[i] % element != 0) {
            refuse_strides(i, array.strides[i], element);
        }
        strides[i] = array.strides[i] / element;
    }
}

// ---- buffers and views -------------------------------------------------------------------------

namespace {

[[nodiscard]] nb::object checked_dtype(nb::handle dtype, const StridedLayout& layout) {
    if (dtype.is_none()) {
        return nb::none();
    }
    nb::object known = nb::module_::import_("numpy").attr("dtype")(dtype);
    if (nb::cast<bool>(nb::object(known.attr("hasobject")))) {
        raise_error(PyExc_ValueError, "dtype is " + repr_text(known) +
                                          ": Python objects have no meaning outside of Python");
    }
    if (const auto bytes = nb::cast<std::size_t>(nb::object(known.attr("itemsize")));
        bytes != layout.itemsize()) {
        raise_error(PyExc_ValueError, "dtype has elements of " + std::to_string(bytes) +
                                          " bytes, expected the layout's " +
                                          std::to_string(layout.itemsize()));
    }
    return known;
}

/// Sets what a layout says: extents, offset, element.
void apply_layout(StridedMemoryView& view, nb::object layout_object, nb::object dtype) {
    const StridedLayout& layout = *nb::inst_ptr<StridedLayout>(layout_object);
    view.set_ndim(layout.ndim(), !layout.has_implicit_strides());
    std::ranges::copy(layout.shape(), view.shape_data());
    if (!layout.has_implicit_strides()) {
        std::ranges::copy(layout.strides(), view.strides_data());
    }
    view.itemsize = layout.itemsize();
    view.pointer = view.base + static_cast<std::uintptr_t>(layout.slice_offset_in_bytes());
    view.made_layout = std::move(layout_object);
    view.type_source = dtype.is_none() ? StridedMemoryView::TypeSource::None
                                       : StridedMemoryView::TypeSource::Dtype;
    view.dtype = std::move(dtype);
}

void check_reach(const StridedLayout& layout, const StridedMemoryView::Range& range) {
    if (layout.volume() == 0) {
        return;
    }
    const auto [lowest, highest] = layout.offset_bounds();
    const auto bytes = static_cast<std::int64_t>(layout.itemsize());
    if (lowest * bytes < range.begin || (highest + 1) * bytes > range.end) {
        const std::string reach =
            range.begin == 0 && lowest >= 0
                ? "Expected at least " + std::to_string((highest + 1) * bytes) + " bytes, got " +
                      std::to_string(range.end) + " bytes"
                : "it reaches from byte " + std::to_string(lowest * bytes) + " to " +
                      std::to_string((highest + 1) * bytes) + ", the memory from " +
                      std::to_string(range.begin) + " to " + std::to_string(range.end);
        raise_error(PyExc_ValueError, "the memory is too small for the layout. " + reach + " (" +
                                          layout.to_string() + ")");
    }
}

} // namespace

void view_buffer(StridedMemoryView& view, nb::handle object, nb::object layout_object,
                 nb::handle dtype, bool is_readonly) {
    const PyBuffer* buffer = get_if<PyBuffer>(object);
    if (buffer == nullptr) {
        raise_error(PyExc_TypeError, "buffer must be a Buffer, got " + type_label(object));
    }
    const StridedLayout& layout = *nb::inst_ptr<StridedLayout>(layout_object);
    nb::object known = checked_dtype(dtype, layout);
    const auto bytes = static_cast<std::int64_t>(buffer->size());
    // Wrapped memory of size 0 is memory of unknown size.
    const bool is_size_known = bytes != 0 || buffer->resource.is_valid();
    view.range = {.begin = 0,
                  .end = is_size_known ? bytes : std::numeric_limits<std::int64_t>::max()};
    check_reach(layout, *view.range);
    view.exporter = nb::borrow(object);
    view.base = buffer->handle();
    view.share = *buffer;
    view.kept = buffer->kept;
    view.is_readonly = is_readonly || buffer->is_readonly;
    view.device_id = buffer->device_id();
    view.is_device_accessible = buffer->is_device_accessible();
    view.device_type =
        view.is_device_accessible ? dlpack::DeviceType::Unknown : dlpack::DeviceType::Cpu;
    apply_layout(view, std::move(layout_object), std::move(known));
}

void view_view(StridedMemoryView& view, StridedMemoryView& source, nb::object layout_object,
               nb::handle dtype) {
    const StridedLayout& layout = *nb::inst_ptr<StridedLayout>(layout_object);
    nb::object known = checked_dtype(dtype, layout);
    view.range = source.reachable();
    check_reach(layout, *view.range);
    view.base = source.base;
    view.is_readonly = source.is_readonly;
    view.device_id = source.device_id;
    view.device_type = source.device_type;
    view.is_device_accessible = source.is_device_accessible;
    view.ordered_stream = source.ordered_stream;
    view.is_ordered = source.is_ordered;
    view.exporter = source.exporter;
    view.share = source.share;
    view.kept = source.kept;
    apply_layout(view, std::move(layout_object), std::move(known));
}

} // namespace cuprum::python
