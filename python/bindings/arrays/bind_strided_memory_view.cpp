// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "arrays/extents.hpp"
#include "arrays/strided_memory_view.hpp"
#include "arrays/tensor_map.hpp"
#include "arrays/view_copy.hpp"
#include "arrays/view_dlpack.hpp"
#include "arrays/view_sources.hpp"
#include "bindings.hpp"
#include "memory/buffer_dlpack.hpp"
#include "support/arguments.hpp"
#include "support/collection.hpp"
#include "support/fast_method.hpp"
#include "support/instances.hpp"
#include "support/names.hpp"
#include "support/python_objects.hpp"
#include "support/recycling.hpp"

#include <cuprum/strided_layout.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <string>

namespace cuprum::python {

using namespace nb::literals;

namespace {

using View = StridedMemoryView;
using Type = nb::class_<View>;

void bind_sources(Type& type);
void bind_facts(Type& type);
void bind_derived(Type& type);
void construct(View* self, nb::handle object, nb::handle stream);
[[nodiscard, gnu::hot]] nb::object from_any(nb::handle cls, nb::handle object, nb::handle stream);
[[nodiscard]] nb::object from_dlpack(nb::handle cls, nb::handle object, nb::handle stream);
[[nodiscard]] nb::object from_cuda_array(nb::handle cls, nb::handle object, nb::handle stream);
[[nodiscard]] nb::object from_array(nb::handle cls, nb::handle object);
[[nodiscard]] nb::object from_buffer(nb::handle cls, nb::handle buffer, nb::handle shape,
                                     nb::handle strides, nb::handle itemsize, nb::handle dtype,
                                     nb::handle is_readonly);
[[nodiscard]] nb::object view_again(nb::handle self, nb::handle layout, nb::handle dtype);
[[nodiscard]] std::string text_of(View& view);
[[nodiscard]] nb::object to_numpy(nb::handle self, nb::handle dtype, nb::handle copy);
int traverse(PyObject* self, visitproc visit, void* arg);
int clear(PyObject* self);

PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(clear)},
                       // Memory is freed while the objects of the cycle are still whole.
                       {Py_tp_finalize, reinterpret_cast<void*>(finalize_by<clear>)},
                       {0, nullptr}};

} // namespace

void bind_strided_memory_view(nb::module_& module) {
    static_cast<void>(names()); // made here, before threads come
    Type type(module, "StridedMemoryView", nb::is_weak_referenceable(), nb::pooled(),
              nb::type_slots(slots),
              R"(A view of another library's array, without a copy.

Made by one of the ``from_*`` methods from arrays of numpy, CuPy, PyTorch and others, or from a
Buffer. Keeps the array alive.

Examples
--------
>>> view = cuprum.utils.StridedMemoryView.from_any_interface(np.ones((2, 3)), stream_ptr=-1)
>>> view.shape, view.dtype
((2, 3), dtype('float64')))");
    note_type<View>(type);
    recycle<View>(type);
    type.def("__init__", construct, "obj"_a = nb::none(), "stream_ptr"_a = nb::none(),
             nb::sig("def __init__(self, obj: object | None = None, stream_ptr: int | None = None) "
                     "-> None"));
    bind_sources(type);
    bind_facts(type);
    bind_derived(type);
    bind_view_copy(type);
    bind_view_dlpack(type);
    type.def("__array__", to_numpy, "dtype"_a = nb::none(), "copy"_a = nb::none(),
             nb::sig("def __array__(self, dtype: object = None, copy: bool | None = None) -> "
                     "typing.Any"),
             R"(Return the elements in host memory as a numpy array.

Parameters
----------
dtype : object, optional
    The type that numpy asks for.
copy : bool, optional
    Whether numpy needs a copy.

Returns
-------
numpy.ndarray
    The elements.

Raises
------
TypeError
    If the elements lie in the memory of a device.)");
    type.attr("__array_ufunc__") = nb::none();
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

void bind_sources(Type& type) {
    fast_class_method<from_any>(
        type,
        "def from_any_interface(cls, obj: object, stream_ptr: int | None = None) -> "
        "StridedMemoryView",
        R"(View an object through DLPack, or through the CUDA array interface if it has no DLPack.

Parameters
----------
obj : object
    An array.
stream_ptr : int
    The stream that will use the memory. It waits for the work that the array's stream holds now.
    -1 means no ordering.

Returns
-------
StridedMemoryView
    The view.

Raises
------
BufferError
    If the object has neither protocol or `stream_ptr` is not given.)");
    fast_class_method<from_dlpack>(
        type,
        "def from_dlpack(cls, obj: object, stream_ptr: int | None = None) -> StridedMemoryView",
        R"(View an object through DLPack. See ``from_any_interface``.

Parameters
----------
obj : object
    An object with ``__dlpack__``.
stream_ptr : int, optional
    The ``CUstream`` that you use the view on; -1 orders nothing.

Returns
-------
StridedMemoryView
    The view. It keeps the object alive.

Raises
------
BufferError
    If the object does not have the protocol.)");
    fast_class_method<from_cuda_array>(
        type,
        "def from_cuda_array_interface(cls, obj: object, stream_ptr: int | None = None) -> "
        "StridedMemoryView",
        R"(View an object through ``__cuda_array_interface__``. See ``from_any_interface``.

Parameters
----------
obj : object
    An object with ``__cuda_array_interface__``.
stream_ptr : int, optional
    The ``CUstream`` that you use the view on; -1 orders nothing.

Returns
-------
StridedMemoryView
    The view. It keeps the object alive.

Raises
------
BufferError
    If the object does not have the protocol.)");
    fast_class_method<from_array>(type,
                                  "def from_array_interface(cls, obj: object) -> StridedMemoryView",
                                  R"(View an object in host memory through ``__array_interface__``.

Parameters
----------
obj : object
    An object with ``__array_interface__``, such as a numpy array.

Returns
-------
StridedMemoryView
    The view. It keeps the object alive.

Raises
------
BufferError
    If the object does not have the protocol.)");
    fast_class_method<from_buffer>(
        type,
        "def from_buffer(cls, buffer: Buffer, shape: tuple[int, ...], strides: tuple[int, ...] | "
        "None = None, *, itemsize: int | None = None, dtype: object | None = None, is_readonly: "
        "bool = False) -> StridedMemoryView",
        R"(View a buffer as an array.

No stream waits: order the use of the view after the work that fills the buffer yourself.

Parameters
----------
buffer : Buffer
    The memory; the view keeps it.
shape : tuple of int
    The extents.
strides : tuple of int, optional
    In elements; contiguous in C order if not given.
itemsize : int, optional
    Bytes per element; the dtype's if not given.
dtype : numpy.dtype, optional
    What the elements are, as ``numpy.dtype()`` takes it.
is_readonly : bool, optional
    Mark the view as read-only.

Returns
-------
StridedMemoryView
    The view.

Raises
------
ValueError
    If neither `itemsize` nor `dtype` is given, they contradict each other, or the buffer is too small.)");
}

std::size_t ptr(const View& self) {
    return self.pointer;
}

int device_id(const View& self) {
    return self.device_id;
}

bool is_device_accessible(const View& self) {
    return self.is_device_accessible;
}

bool readonly(const View& self) {
    return self.is_readonly;
}

nb::object exporting_obj(const View& self) {
    return self.exporter.is_valid() ? self.exporter : nb::none();
}

nb::object shape(const View& self) {
    self.check_not_empty();
    return to_tuple(self.shape());
}

nb::object strides(const View& self) {
    self.check_not_empty();
    const auto steps = self.strides();
    return steps ? to_tuple(*steps) : nb::none();
}

std::size_t size(const View& self) {
    return static_cast<std::size_t>(self.size());
}

void bind_facts(Type& type) {
    fast_property<ptr>(type, "def ptr(self) -> int", "Return the address of the first element.");
    fast_property<device_id>(type, "def device_id(self) -> int",
                             "Return the ordinal of the device it lies on, -1 for host memory.");
    fast_property<is_device_accessible>(type, "def is_device_accessible(self) -> bool",
                                        "Return whether devices can access the memory.");
    fast_property<readonly>(type, "def readonly(self) -> bool",
                            "Return whether the memory must not be written.");
    fast_property<exporting_obj>(type, "def exporting_obj(self) -> object", "Return the array.");
    fast_property<shape>(type, "def shape(self) -> tuple[int, ...]", "Return the extents.");
    fast_property<strides>(type, "def strides(self) -> tuple[int, ...] | None",
                           "Return the strides in elements, or None if the array gives none and is "
                           "contiguous in C order.");
    fast_property<size>(type, "def size(self) -> int", "Return the number of elements.");
    type.def_prop_ro("dtype", &View::dtype_object, nb::lock_self(),
                     nb::sig("def dtype(self) -> object"),
                     "Return the elements' numpy dtype (its string if there is no numpy), or None "
                     "if it is not known.");
    type.def_prop_ro("layout", &View::layout_object, nb::lock_self(),
                     nb::sig("def layout(self) -> StridedLayout"),
                     "Return the layout of the elements.");
    type.def_prop_ro("_layout", &View::layout_object, nb::lock_self(),
                     nb::sig("def _layout(self) -> StridedLayout"));
    type.def("__repr__", text_of, nb::lock_self());
}

void bind_derived(Type& type) {
    fast_method<view_again>(
        type,
        "def view(self, layout: StridedLayout | None = None, dtype: object | None = None) -> "
        "StridedMemoryView",
        R"(View the same memory with another layout or element type.

Parameters
----------
layout : StridedLayout, optional
    Offsets count from where the array, or the buffer, begins.
dtype : numpy.dtype, optional
    As ``numpy.dtype()`` takes it; of the layout's element size.

Returns
-------
StridedMemoryView
    This view if nothing is given.

Raises
------
ValueError
    If the layout reaches beyond the memory, or the element sizes differ.)");
    fast_method<tensor_map_of>(
        type,
        "def as_tensor_map(self, box_dim: tuple[int, ...] | None = None, *, options: "
        "cuprum._tensor_map.TensorMapDescriptorOptions | dict | None = None, element_strides: "
        "tuple[int, ...] | None = None, data_type: object | None = None, interleave: object | None "
        "= None, swizzle: object | None = None, l2_promotion: object | None = None, oob_fill: "
        "object | None = None) -> TensorMapDescriptor",
        R"(Create a tensor map, with which kernels copy boxes of the array to shared memory.

Numbers follow the axes of the view. If `data_type` has another size than the view's elements, the
innermost axis is seen as elements of that size.

Parameters
----------
box_dim : tuple of int
    The size of one copy, 1 to 256 elements on each axis.
options : TensorMapDescriptorOptions or dict, optional
    All arguments in one object, instead of the single ones.
element_strides : tuple of int, optional
    Copy every n-th element of an axis, 1 to 8.
data_type : numpy.dtype or TensorMapDataType, optional
    The type of the elements, if it is not that of the view.
interleave : TensorMapInterleave, optional
    Whether channels are interleaved.
swizzle : TensorMapSwizzle, optional
    How pieces are permuted in shared memory.
l2_promotion : TensorMapL2Promotion, optional
    How much the L2 cache fetches at once.
oob_fill : TensorMapOOBFill, optional
    What loads write for elements outside the array.

Returns
-------
TensorMapDescriptor
    It keeps the view alive. Pass it to a kernel.

Raises
------
TypeError
    If `box_dim` is missing, or `options` is given together with other arguments.
ValueError
    If a rule does not hold; the text says which.)");
}

/// Makes a Python object of a class with an empty view in it, and fills that.
template <typename Fill>
nb::object filled(nb::handle cls, const Fill& fill) {
    const bool is_derived = cls.ptr() != reinterpret_cast<PyObject*>(TYPE<View>);
    nb::object object = is_derived ? nb::inst_alloc(cls) : new_object<View>();
    auto* const view = new (inside<void>(object)) View();
    mark_ready(object);
    fill(*view);
    if (!is_derived) {
        track_if_needed(object, *view);
    }
    return object;
}

nb::object from_any(nb::handle cls, nb::handle object, nb::handle stream) {
    return filled(cls, [&](View& view) { view_any(view, object, ConsumerStream::from(stream)); });
}

nb::object from_dlpack(nb::handle cls, nb::handle object, nb::handle stream) {
    return filled(cls,
                  [&](View& view) { view_dlpack(view, object, ConsumerStream::from(stream)); });
}

nb::object from_cuda_array(nb::handle cls, nb::handle object, nb::handle stream) {
    return filled(cls, [&](View& view) {
        view_cuda_array_interface(view, object, ConsumerStream::from(stream));
    });
}

nb::object from_array(nb::handle cls, nb::handle object) {
    return filled(cls, [&](View& view) { view_array_interface(view, object); });
}

nb::object from_buffer(nb::handle cls, nb::handle buffer, nb::handle shape, nb::handle strides,
                       nb::handle itemsize, nb::handle dtype, nb::handle is_readonly) {
    if (itemsize.is_none() && dtype.is_none()) {
        raise_error(PyExc_ValueError, "either itemsize or dtype must be specified");
    }
    nb::object known = nb::borrow(dtype);
    std::size_t bytes = itemsize.is_none() ? 0 : size_argument(itemsize, "itemsize");
    if (!dtype.is_none()) {
        known = nb::module_::import_("numpy").attr("dtype")(dtype);
        const auto own = nb::cast<std::size_t>(nb::object(known.attr("itemsize")));
        if (!itemsize.is_none() && bytes != own) {
            raise_error(PyExc_ValueError, "itemsize " + std::to_string(bytes) +
                                              " does not match dtype.itemsize " +
                                              std::to_string(own));
        }
        bytes = own;
    }
    const auto extents = extents_argument(shape, "shape");
    nb::object layout =
        strides.is_none()
            ? make<StridedLayout>(extents, bytes)
            : make<StridedLayout>(extents, extents_argument(strides, "strides"), bytes);
    const bool readonly = flag_argument(is_readonly, false);
    return filled(
        cls, [&](View& view) { view_buffer(view, buffer, std::move(layout), known, readonly); });
}

void construct(View* self, nb::handle object, nb::handle stream) {
    const bool is_empty = object.is_none();
    const ArrayProducer producer = is_empty ? ArrayProducer{} : array_producer(object);
    const bool is_interface = producer.way == ArrayProducer::Way::CudaArrayInterface;
    const char* const what =
        is_empty ? "making an empty StridedMemoryView is deprecated; use a from_* method"
        : is_interface
            ? "making a StridedMemoryView from a CUDA-array-interface-supporting object is "
              "deprecated; use StridedMemoryView.from_any_interface(obj, stream_ptr)"
            : "StridedMemoryView(obj) is deprecated; use "
              "StridedMemoryView.from_any_interface(obj, stream_ptr)";
    if (PyErr_WarnEx(PyExc_DeprecationWarning, what, 1) != 0) {
        throw nb::python_error();
    }
    new (self) View();
    if (!is_empty) {
        try {
            view_any(*self, object, ConsumerStream::from(stream));
        } catch (...) {
            self->~StridedMemoryView();
            throw;
        }
    }
}

nb::object view_again(nb::handle self, nb::handle layout, nb::handle dtype) {
    auto& source = held_by<View>(self);
    if (layout.is_none() && dtype.is_none()) {
        return nb::borrow(self);
    }
    if (!layout.is_none() && get_if<StridedLayout>(layout) == nullptr) {
        raise_error(PyExc_TypeError, "layout must be a StridedLayout, got " + type_label(layout));
    }
    const nb::ft_object_guard guard(self);
    nb::object where = layout.is_none() ? source.layout_object() : nb::borrow(layout);
    const nb::object what = dtype.is_none() ? source.dtype_object() : nb::borrow(dtype);
    return filled(self.type(), [&](View& view) {
        view_view(view, source, std::move(where), what);
        if (source.managed != nullptr || source.versioned != nullptr) {
            view.kept = nb::borrow(self); // which has the tensor
        }
    });
}

std::string text_of(View& view) {
    if (!view.exporter.is_valid()) {
        return "StridedMemoryView(ptr=0, empty)";
    }
    nb::object dtype;
    try {
        dtype = view.dtype_object();
    } catch (nb::python_error& error) {
        if (!error.matches(PyExc_NotImplementedError)) {
            throw;
        }
        dtype = nb::str("unknown"); // to numpy: the view can be told one
    }
    const auto strides = view.strides();
    return nb::cast<std::string>(
        nb::str("StridedMemoryView(ptr={}, shape={}, strides={}, itemsize={}, dtype={}, "
                "device_id={}, is_device_accessible={}, readonly={}, exporting_obj={})")
            .format(nb::str(hex_text(view.pointer).c_str()), to_tuple(view.shape()),
                    strides ? to_tuple(*strides) : nb::none(), view.itemsize,
                    dtype.is_none() ? nb::object(nb::str("NoneType")) : dtype, view.device_id,
                    view.is_device_accessible, view.is_readonly,
                    nb::str(type_label(view.exporter).c_str())));
}

/// What numpy asks for. Without it, numpy would make an array of one Python object.
nb::object to_numpy(nb::handle self, nb::handle dtype, nb::handle copy) {
    auto& view = held_by<View>(self);
    view.check_not_empty();
    const auto kind = nb::cast<int>(nb::object(self.attr("__dlpack_device__")()[0]));
    if (kind == static_cast<int>(dlpack::DeviceType::Cuda)) {
        raise_error(PyExc_TypeError, "the view shows memory of device " +
                                         std::to_string(view.device_id) +
                                         ", which numpy cannot read; copy it to a numpy array with "
                                         "view.copy_to(array, stream)");
    }
    const nb::module_ numpy = nb::module_::import_("numpy");
    return numpy.attr(is_true(copy) ? "array" : "asarray")(numpy.attr("from_dlpack")(self),
                                                           "dtype"_a = dtype);
}

int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    if (nb::inst_ready(self)) {
        const View& view = *nb::inst_ptr<View>(self);
        Py_VISIT(view.exporter.ptr());
        Py_VISIT(view.kept.ptr());
        // A tensor is the view's alone, and so is what a tensor of our own holds.
        Py_VISIT(kept_by_buffer_tensor(view.managed));
        Py_VISIT(kept_by_buffer_tensor(view.versioned));
        Py_VISIT(kept_by_view_tensor(view.managed));
        Py_VISIT(kept_by_view_tensor(view.versioned));
        Py_VISIT(view.dtype.ptr());
        Py_VISIT(view.made_layout.ptr());
    }
    return 0;
}

int clear(PyObject* self) {
    if (nb::inst_ready(self)) {
        nb::inst_ptr<View>(self)->drop();
    }
    return 0;
}

} // namespace

} // namespace cuprum::python
