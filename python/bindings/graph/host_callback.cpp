// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/host_callback.hpp"

#include "graph/released_owners.hpp"
#include "support/arguments.hpp"
#include "support/gil.hpp"
#include "support/leaving.hpp"

#include <cuprum/detail/deferred_release.hpp>

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cuprum::python {

namespace {

using Function = void (*)(void*);

/// A C function, with the data it is called with and the ctypes object that it came from.
struct CFunction {
    Function function;
    void* user_data;
    std::vector<std::byte> data; // a copy, if bytes were given
    std::shared_ptr<void> object;
};

void call_python(void* callable) noexcept {
    const cuprum::detail::HostFunctionScope scope;
    const PythonScope python;
    if (!python) {
        return;
    }
    auto* const called = static_cast<PyObject*>(callable);
    PyObject* const result = PyObject_CallNoArgs(called);
    if (result == nullptr) {
        PyErr_WriteUnraisable(called);
    }
    Py_XDECREF(result);
}

void call_c(void* function) noexcept {
    const cuprum::detail::HostFunctionScope scope;
    const PythonGate python; // ctypes takes the GIL itself if it needs to
    if (python) {
        const auto& called = *static_cast<CFunction*>(function);
        called.function(called.user_data);
    }
}

[[nodiscard]] bool is_c_function(nb::handle function) {
    PyObject* const modules = PyImport_GetModuleDict();
    PyObject* const ctypes = PyDict_GetItemString(modules, "ctypes");
    if (ctypes == nullptr) {
        return false; // then nobody has such a function
    }
    const nb::object type = nb::handle(ctypes).attr("_CFuncPtr");
    return PyObject_IsInstance(function.ptr(), type.ptr()) == 1;
}

[[nodiscard]] Function checked_address(nb::handle function) {
    const nb::module_ ctypes = nb::module_::import_("ctypes");
    const nb::object pointer = ctypes.attr("c_void_p");
    const nb::object result = function.attr("restype");
    const nb::object parameters = function.attr("argtypes");
    const bool is_fitting = result.is_none() && !parameters.is_none() && nb::len(parameters) == 1 &&
                            nb::object(parameters[0]).is(pointer);
    if (!is_fitting) {
        raise_error(PyExc_TypeError,
                    "callback is a C function with restype=" + repr_text(result) +
                        " and argtypes=" + repr_text(parameters) +
                        "; the driver calls a CUhostFn, which returns nothing and takes one "
                        "pointer: declare it as ctypes.CFUNCTYPE(None, ctypes.c_void_p), or pass a "
                        "Python callable");
    }
    const nb::object address = ctypes.attr("cast")(function, pointer).attr("value");
    if (address.is_none()) {
        raise_error(PyExc_ValueError, "callback is a null pointer to a C function");
    }
    return reinterpret_cast<Function>(
        static_cast<std::uintptr_t>(address_argument(address, "callback")));
}

void take_user_data(CFunction& function, nb::handle user_data) {
    function.user_data = nullptr;
    if (user_data.is_none()) {
        return;
    }
    if (PyObject_CheckBuffer(user_data.ptr()) == 0) {
        function.user_data = reinterpret_cast<void*>(
            static_cast<std::uintptr_t>(address_argument(user_data, "user_data")));
        return;
    }
    Py_buffer view;
    if (PyObject_GetBuffer(user_data.ptr(), &view, PyBUF_CONTIG_RO) != 0) {
        throw nb::python_error();
    }
    function.data.resize(static_cast<std::size_t>(view.len));
    if (!function.data.empty()) {
        std::memcpy(function.data.data(), view.buf, function.data.size());
        function.user_data = function.data.data();
    }
    PyBuffer_Release(&view);
}

} // namespace

HostFunctionParameters callback_argument(nb::handle function, nb::handle user_data) {
    if (is_c_function(function)) {
        auto called = std::make_shared<CFunction>();
        called->function = checked_address(function);
        take_user_data(*called, user_data);
        called->object = keep_for_graph(nb::borrow(function));
        note_python_in_driver(); // the function may be one that ctypes made from a callable
        CFunction* const address = called.get();
        return {.function = call_c, .user_data = address, .owner = std::move(called)};
    }
    if (PyCallable_Check(function.ptr()) == 0) {
        raise_error(PyExc_TypeError,
                    "callback must be callable without arguments, got " + type_label(function));
    }
    if (!user_data.is_none()) {
        raise_error(PyExc_ValueError, "user_data is only supported with ctypes function pointers; "
                                      "bind values to a Python callable with functools.partial");
    }
    note_python_in_driver();
    return {.function = call_python,
            .user_data = function.ptr(),
            .owner = keep_for_graph(nb::borrow(function))};
}

nb::object python_callable(Function function, void* user_data) {
    return function == call_python ? nb::borrow(static_cast<PyObject*>(user_data)) : nb::none();
}

std::uintptr_t c_function(Function function, void* user_data) noexcept {
    if (function == call_python) {
        return 0;
    }
    return reinterpret_cast<std::uintptr_t>(
        function == call_c ? static_cast<CFunction*>(user_data)->function : function);
}

} // namespace cuprum::python
