// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "arrays/cupy_arrays.hpp"

#include "arrays/numpy_arrays.hpp"
#include "support/fast_paths.hpp"

#include <algorithm>
#include <atomic>
#include <initializer_list>

namespace cuprum::python {

namespace {

enum class Agreement : int { Unchecked, None, Agreed };
std::atomic<Agreement> agreement = Agreement::Unchecked;
PyTypeObject* array_type = nullptr;   // cupy.ndarray, never released; set before `agreement`
PyTypeObject* pointer_type = nullptr; // cupy.cuda.MemoryPointer, never released
using CurrentStream = std::intptr_t (*)();
constexpr std::uintptr_t ADDRESS = 0x7f1234560000; // of nothing
constexpr Py_ssize_t OFFSET_BYTES = 256;
constexpr int DEVICE = 5;

[[nodiscard]] bool is_list(const CupyArray::Numbers& numbers,
                           std::initializer_list<Py_ssize_t> expected) {
    // NOTE: nothing is read through pointers that are not those of a vector of this length.
    if (numbers.begin == nullptr || numbers.capacity < numbers.end ||
        numbers.end - numbers.begin != static_cast<Py_ssize_t>(expected.size()) ||
        reinterpret_cast<std::uintptr_t>(numbers.begin) % alignof(Py_ssize_t) != 0) {
        return false;
    }
    return std::equal(expected.begin(), expected.end(), numbers.begin);
}

[[nodiscard]] nb::object made_array(nb::handle cupy, nb::handle pointer, nb::handle shape,
                                    const char* dtype, nb::handle strides) {
    return cupy.attr("ndarray")(shape, dtype, pointer, strides);
}

/// Returns whether the fields of an array hold what it was made with.
[[nodiscard]] bool holds(nb::handle object, nb::handle pointer, Py_ssize_t size,
                         bool is_contiguous) {
    const auto& array = *reinterpret_cast<const CupyArray*>(object.ptr());
    return array.size == size && (array.is_c_contiguous != 0) == is_contiguous &&
           array.dtype == nb::object(object.attr("dtype")).ptr() && array.data == pointer.ptr();
}

/// Compares what we read in an array with odd extents, strides and element size, and in one that is
/// contiguous, with what they were made with.
[[nodiscard]] Agreement check(nb::handle cupy) noexcept {
    try {
        const nb::object cuda = cupy.attr("cuda");
        const nb::object memory =
            cuda.attr("UnownedMemory")(ADDRESS, OFFSET_BYTES * OFFSET_BYTES, nb::none(), DEVICE);
        const nb::object pointer = cuda.attr("MemoryPointer")(memory, OFFSET_BYTES);
        constexpr Py_ssize_t element = 16; // of complex128
        const nb::object part = made_array(cupy, pointer, nb::make_tuple(2, 3), "complex128",
                                           nb::make_tuple(7 * element, 3 * element));
        const nb::object whole =
            made_array(cupy, pointer, nb::make_tuple(5), "float32", nb::none());
        const nb::object arrays = cupy.attr("ndarray");
        const auto size_of = [](nb::handle object) {
            return static_cast<std::size_t>(Py_TYPE(object.ptr())->tp_basicsize);
        };
        if (part.type().ptr() != arrays.ptr() || size_of(part) < sizeof(CupyArray) ||
            size_of(pointer) < sizeof(CupyPointer)) {
            return Agreement::None;
        }
        const auto& first = *reinterpret_cast<const CupyArray*>(part.ptr());
        const auto& second = *reinterpret_cast<const CupyArray*>(whole.ptr());
        const auto& place = *reinterpret_cast<const CupyPointer*>(pointer.ptr());
        const bool is_same =
            holds(part, pointer, 6, false) && holds(whole, pointer, 5, true) &&
            is_list(first.shape, {2, 3}) && is_list(first.strides, {7 * element, 3 * element}) &&
            is_list(second.shape, {5}) && is_list(second.strides, {sizeof(float)}) &&
            place.address == static_cast<std::intptr_t>(ADDRESS) + OFFSET_BYTES &&
            place.device_id == DEVICE && can_read_dtypes();
        if (!is_same) {
            return Agreement::None;
        }
        array_type = reinterpret_cast<PyTypeObject*>(nb::object(arrays).release().ptr());
        pointer_type = reinterpret_cast<PyTypeObject*>(nb::borrow(pointer.type()).release().ptr());
        return Agreement::Agreed;
    } catch (...) {
        PyErr_Clear();
        return Agreement::None;
    }
}

/// Finds the function that CuPy's compiled modules offer each other, by its name and signature.
[[nodiscard]] CurrentStream find_current_stream() noexcept {
    const nb::object module =
        nb::steal(PyImport_GetModule(nb::str("cupy_backends.cuda.stream").ptr()));
    const nb::object functions =
        module.is_valid() ? nb::steal(PyObject_GetAttrString(module.ptr(), "__pyx_capi__"))
                          : nb::object();
    PyObject* const capsule = functions.is_valid() && PyDict_Check(functions.ptr()) != 0
                                  ? PyDict_GetItemString(functions.ptr(), "get_current_stream_ptr")
                                  : nullptr;
    constexpr const char* signature = "intptr_t (void)";
    CurrentStream current = nullptr;
    if (capsule != nullptr && PyCapsule_IsValid(capsule, signature) != 0) {
        Py_INCREF(capsule); // never released
        current = reinterpret_cast<CurrentStream>(PyCapsule_GetPointer(capsule, signature));
    }
    PyErr_Clear();
    return current;
}

} // namespace

const CupyArray* read_cupy_array(nb::handle array) {
    Agreement known = agreement.load(std::memory_order_acquire);
    if (known == Agreement::Unchecked) [[unlikely]] {
        const nb::object cupy = nb::steal(PyImport_GetModule(nb::str("cupy").ptr()));
        if (!cupy.is_valid()) {
            PyErr_Clear();
            return nullptr; // something that only looks alike
        }
        known = is_disabled(FastPath::Cupy) ? Agreement::None : check(cupy);
        (void)note_fast_path(FastPath::Cupy, known == Agreement::Agreed);
        agreement.store(known, std::memory_order_release);
    }
    if (known != Agreement::Agreed || (Py_TYPE(array.ptr()) != array_type &&
                                       PyType_IsSubtype(Py_TYPE(array.ptr()), array_type) == 0)) {
        return nullptr;
    }
    return reinterpret_cast<const CupyArray*>(array.ptr());
}

const CupyPointer* read_cupy_pointer(const CupyArray& array) noexcept {
    return array.data != nullptr && Py_TYPE(array.data) == pointer_type
               ? reinterpret_cast<const CupyPointer*>(array.data)
               : nullptr;
}

std::optional<std::uintptr_t> cupy_current_stream() {
    // NOTE: not a static that is initialised once: Python may let another thread in meanwhile.
    static std::atomic<bool> was_sought = false;
    static std::atomic<CurrentStream> found = nullptr;
    if (!was_sought.load(std::memory_order_acquire)) {
        found.store(find_current_stream(), std::memory_order_relaxed);
        was_sought.store(true, std::memory_order_release);
    }
    const CurrentStream current = found.load(std::memory_order_relaxed);
    if (current == nullptr) {
        return std::nullopt;
    }
    const std::intptr_t handle = current();
    if (handle == 0 && PyErr_Occurred() != nullptr) {
        throw nb::python_error();
    }
    return static_cast<std::uintptr_t>(handle);
}

} // namespace cuprum::python
