// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "arrays/extents.hpp"
#include "arrays/strided_memory_view.hpp"
#include "arrays/tensor_map.hpp"
#include "arrays/view_copy.hpp"
#include "arrays/view_dlpack.hpp"
#include "arrays/view_sources.hpp"
#include "memory/buffer_dlpack.hpp"
#include "support/class.hpp"
#include "support/collection.hpp"
#include "support/names.hpp"
#include "support/recycling.hpp"

#include <cuprum/strided_layout.hpp>

namespace cuprum::python {

using namespace nb::literals;

namespace {

using View = StridedMemoryView;
using Type = Class<View>;

int clear(PyObject* self) {
    if (nb::inst_ready(self)) {
        nb::inst_ptr<View>(self)->drop();
    }
    return 0;
}

std::size_t ptr(const View& self) {
    return self.pointer;
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

PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(clear)},
                       // Memory is freed while the objects of the cycle are still whole.
                       {Py_tp_finalize, reinterpret_cast<void*>(finalize_by<clear>)},
                       {0, nullptr}};

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

[[nodiscard, gnu::hot]] nb::object from_any(nb::handle cls, nb::handle object, nb::handle stream) {
    return filled(cls, [&](View& view) { view_any(view, object, ConsumerStream::from(stream)); });
}

[[nodiscard]] nb::object from_array(nb::handle cls, nb::handle object) {
    return filled(cls, [&](View& view) { view_array_interface(view, object); });
}

bool readonly(const View& self) {
    return self.is_readonly;
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

[[nodiscard]] nb::object from_buffer(nb::handle cls, nb::handle buffer, nb::handle shape,
                                     nb::handle strides, nb::handle itemsize, nb::handle dtype,
                                     nb::handle is_readonly) {
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

[[nodiscard]] nb::object from_cuda_array(nb::handle cls, nb::handle object, nb::handle stream) {
    return filled(cls, [&](View& view) {
        view_cuda_array_interface(view, object, ConsumerStream::from(stream));
    });
}

[[nodiscard]] nb::object from_dlpack(nb::handle cls, nb::handle object, nb::handle stream) {
    return filled(cls,
                  [&](View& view) { view_dlpack(view, object, ConsumerStream::from(stream)); });
}

void bind_sources(Type& type) {
    type.class_method<from_any>("from_any_interface", HOT);
    type.class_method<from_dlpack>("from_dlpack", HOT);
    type.class_method<from_cuda_array>("from_cuda_array_interface", HOT);
    type.class_method<from_array>("from_array_interface", HOT);
    type.class_method<from_buffer>("from_buffer", HOT);
}

int device_id(const View& self) {
    return self.device_id;
}

bool is_device_accessible(const View& self) {
    return self.is_device_accessible;
}

nb::object exporting_obj(const View& self) {
    return self.exporter.is_valid() ? self.exporter : nb::none();
}

std::size_t size(const View& self) {
    return static_cast<std::size_t>(self.size());
}

[[nodiscard]] std::string text_of(View& view) {
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

void bind_facts(Type& type) {
    type.property("ptr", ptr);
    type.property("device_id", device_id);
    type.property("is_device_accessible", is_device_accessible);
    type.property("readonly", readonly);
    type.property("exporting_obj", exporting_obj);
    type.property("shape", shape);
    type.property("strides", strides);
    type.property("size", size);
    type.property("dtype", &View::dtype_object, LOCKS_SELF);
    type.property("layout", &View::layout_object, LOCKS_SELF);
    type.property("_layout", &View::layout_object, LOCKS_SELF);
    type.method<text_of>("__repr__", LOCKS_SELF);
}

[[nodiscard, gnu::hot]] nb::object view_again(nb::handle self, nb::handle layout,
                                              nb::handle dtype) {
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

void bind_derived(Type& type) {
    type.method<view_again>("view", HOT);
    type.method<tensor_map_of>("as_tensor_map", HOT);
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

/// What numpy asks for. Without it, numpy would make an array of one Python object.
[[nodiscard]] nb::object to_numpy(nb::handle self, nb::handle dtype, nb::handle copy) {
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

} // namespace

void bind_strided_memory_view(nb::module_& module) {
    static_cast<void>(names()); // made here, before threads come
    Type type(module, "StridedMemoryView", nb::is_weak_referenceable(), nb::pooled(),
              nb::type_slots(slots));
    recycle<View>(type);
    type.constructor<construct>();
    bind_sources(type);
    bind_facts(type);
    bind_derived(type);
    bind_view_copy(type);
    bind_view_dlpack(type);
    type.method<to_numpy>("__array__");
    type.attr("__array_ufunc__") = nb::none();
}

} // namespace cuprum::python
