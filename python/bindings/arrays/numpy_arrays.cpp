// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "arrays/numpy_arrays.hpp"

#include "support/fast_paths.hpp"

#include <cstring>

namespace cuprum::python {

namespace {

using Agreement = NumpyAgreement;

[[nodiscard]] std::size_t itemsize_in(PyObject* dtype, Agreement version) noexcept {
    return version == Agreement::Version2
               ? static_cast<std::size_t>(reinterpret_cast<NumpyDtype2*>(dtype)->itemsize)
               : static_cast<std::size_t>(reinterpret_cast<NumpyDtype1*>(dtype)->itemsize);
}

/// Compares what we read in an array with odd extents, strides and element size, and in one that is
/// read-only, with what numpy says of them.
[[nodiscard]] Agreement check() noexcept {
    try {
        const nb::object numpy = nb::module_::import_("numpy");
        const nb::object whole = numpy.attr("zeros")(nb::make_tuple(3, 7), "complex128");
        const nb::object part = whole[nb::make_tuple(nb::slice(1, 3, 1), nb::slice(0, 7, 3))];
        const nb::object fixed = numpy.attr("zeros")(5, "float32");
        nb::object(fixed.attr("flags")).attr("writeable") = false;
        if (part.type().ptr() != nb::object(numpy.attr("ndarray")).ptr() ||
            reinterpret_cast<PyTypeObject*>(part.type().ptr())->tp_basicsize <
                static_cast<Py_ssize_t>(sizeof(NumpyArray))) {
            return Agreement::None;
        }
        const auto* first = reinterpret_cast<const NumpyArray*>(part.ptr());
        const auto* second = reinterpret_cast<const NumpyArray*>(fixed.ptr());
        constexpr Py_ssize_t element = 16; // of complex128
        if (first->ndim != 2 || second->ndim != 1 ||
            reinterpret_cast<std::uintptr_t>(first->data) !=
                nb::cast<std::uintptr_t>(
                    nb::object(nb::object(part.attr("ctypes")).attr("data"))) ||
            first->dtype != nb::object(part.attr("dtype")).ptr() ||
            (first->flags & NumpyArray::C_CONTIGUOUS) != 0 ||
            (first->flags & NumpyArray::WRITEABLE) == 0 ||
            (second->flags & NumpyArray::C_CONTIGUOUS) == 0 ||
            (second->flags & NumpyArray::WRITEABLE) != 0) {
            return Agreement::None;
        }
        if (first->shape[0] != 2 || first->shape[1] != 3 || second->shape[0] != 5 ||
            first->strides[0] != 7 * element || first->strides[1] != 3 * element) {
            return Agreement::None;
        }
        for (const Agreement version : {Agreement::Version2, Agreement::Version1}) {
            if (itemsize_in(first->dtype, version) == element &&
                itemsize_in(second->dtype, version) == sizeof(float) &&
                reinterpret_cast<NumpyDtypeHead*>(first->dtype)->letters[0] == 'c' &&
                reinterpret_cast<NumpyDtypeHead*>(second->dtype)->letters[0] == 'f') {
                return version;
            }
        }
        return Agreement::None;
    } catch (...) {
        PyErr_Clear();
        return Agreement::None;
    }
}

} // namespace

bool can_read_dtypes() noexcept {
    Agreement known = numpy_agreement.load(std::memory_order_relaxed);
    if (known == Agreement::Unchecked) [[unlikely]] {
        known = check();
        if (!note_fast_path(FastPath::Numpy, known != Agreement::None)) {
            known = Agreement::None;
        }
        numpy_agreement.store(known, std::memory_order_relaxed);
    }
    return known != Agreement::None;
}

std::size_t unread_itemsize(PyObject* dtype) {
    if (const Agreement known = numpy_agreement.load(std::memory_order_relaxed);
        known == Agreement::Version1) {
        return itemsize_in(dtype, known);
    }
    return nb::cast<std::size_t>(nb::object(nb::handle(dtype).attr("itemsize")));
}

} // namespace cuprum::python
