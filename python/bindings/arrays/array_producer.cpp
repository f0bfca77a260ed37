// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "arrays/array_producer.hpp"

#include "arrays/cupy_arrays.hpp"
#include "arrays/numpy_arrays.hpp"
#include "arrays/numpy_scalars.hpp"
#include "arrays/torch_tensors.hpp"
#include "support/arguments.hpp"
#include "support/names.hpp"

#include <cuprum/dlpack.hpp>

#include <nanobind/stl/string.h>

#include <string>
#include <string_view>

namespace cuprum::python {

namespace {

/// Returns whether a type, or one it derives from, was defined in a package.
[[nodiscard]] bool comes_from(PyTypeObject* type, std::string_view package) {
    for (; type != nullptr && type != &PyBaseObject_Type; type = type->tp_base) {
        const nb::handle object(reinterpret_cast<PyObject*>(type));
        const nb::object module = nb::getattr(object, "__module__", nb::none());
        if (!nb::isinstance<nb::str>(module)) {
            continue;
        }
        const std::string_view name = nb::borrow<nb::str>(module).c_str();
        if (name.starts_with(package) &&
            (name.size() == package.size() || name[package.size()] == '.')) {
            return true;
        }
    }
    return false;
}

[[nodiscard]] const dlpack::ExchangeTable* exchange_table(nb::handle type) {
    PyObject* const found = PyObject_GetAttr(type.ptr(), names().exchange_table);
    if (found == nullptr) {
        clear_error(PyExc_AttributeError);
        return nullptr;
    }
    const nb::object capsule = nb::steal(found);
    if (PyCapsule_IsValid(found, dlpack::EXCHANGE_NAME) == 0) {
        return nullptr; // the form before version 1.3
    }
    auto* header =
        static_cast<dlpack::ExchangeHeader*>(PyCapsule_GetPointer(found, dlpack::EXCHANGE_NAME));
    while (header != nullptr && header->version.major != dlpack::CURRENT_VERSION.major) {
        header = header->previous;
    }
    const auto* table = reinterpret_cast<const dlpack::ExchangeTable*>(header);
    return table != nullptr && table->managed_from_object != nullptr &&
                   table->current_work_stream != nullptr
               ? table
               : nullptr;
}

/// Returns whether the class of an array, which may be a derived one, has no `__dlpack__` of its
/// own.
[[nodiscard]] bool exchanges_like(nb::handle object, const char* module) {
    const nb::object arrays = nb::module_::import_(module).attr("ndarray");
    const nb::object own = nb::getattr(object.type(), "__dlpack__", nb::none());
    return own.is(nb::object(arrays.attr("__dlpack__")));
}

/// Returns whether an object is a numpy array that exchanges data as arrays do.
[[nodiscard]] bool is_plain_numpy(nb::handle object) {
    return is_numpy_array(object.ptr()) && read_numpy_array(object.ptr()) != nullptr &&
           exchanges_like(object, "numpy");
}

[[nodiscard]] ArrayProducer::Way way_of_cupy(nb::handle object) {
    if (read_cupy_array(object) == nullptr) {
        return ArrayProducer::Way::Cupy;
    }
    return exchanges_like(object, "cupy") ? ArrayProducer::Way::CupyArray
                                          : ArrayProducer::Way::DLPack;
}

[[nodiscard]] ArrayProducer classify(nb::handle object) {
    using Way = ArrayProducer::Way;
    PyTypeObject* const type = Py_TYPE(object.ptr());
    const nb::handle type_object(reinterpret_cast<PyObject*>(type));
    ArrayProducer producer;
    producer.has_dlpack =
        nb::hasattr(object, "__dlpack__") && nb::hasattr(object, "__dlpack_device__");
    if (is_plain_numpy(object)) {
        producer.way = Way::Numpy;
        return producer;
    }
    producer.table = exchange_table(type_object);
    if (producer.table != nullptr) {
        producer.way = Way::Exchange;
        producer.is_from_torch = comes_from(type, "torch");
        // What is lent says nothing about being read-only; these two libraries have no such arrays.
        producer.may_borrow = producer.table->tensor_from_object != nullptr &&
                              (producer.is_from_torch || comes_from(type, "cupy"));
        producer.is_torch_type = producer.may_borrow && is_torch_type(type);
        return producer;
    }
    if (producer.has_dlpack) {
        producer.way = comes_from(type, "cupy")    ? way_of_cupy(object)
                       : comes_from(type, "torch") ? Way::Torch
                                                   : Way::DLPack;
    } else if (nb::hasattr(object, "__cuda_array_interface__")) {
        producer.way = Way::CudaArrayInterface;
    }
    return producer;
}

} // namespace

const ArrayProducer& unseen_producer(nb::handle object) {
    static thread_local ArrayProducer found;
    found = classify(object);
#ifndef Py_GIL_DISABLED
    // An object with attributes of its own may differ from others of its type.
    const bool is_alike = found.way != ArrayProducer::Way::None &&
                          found.way != ArrayProducer::Way::CudaArrayInterface;
    PyTypeObject* const type = Py_TYPE(object.ptr());
    if (const unsigned version = version_of(type); is_alike && version != 0) {
        place_of(type) = {type, version, found};
    }
#endif
    return found;
}

} // namespace cuprum::python
