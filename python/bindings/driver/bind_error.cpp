// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/arguments.hpp"
#include "support/errors.hpp"
#include "support/leaving.hpp"

#include <cuprum/error.hpp>
#include <cuprum/warning.hpp>

#include <cuda.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdio>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

namespace cuprum::python {

namespace nb = nanobind;

namespace {

/// The Python exception classes, held for the life of the process.
struct Classes {
    PyObject* cuda_error;
    PyObject* out_of_memory;
    PyObject* missing_file;
    PyObject* launch_error;
    PyObject* nvrtc_error;
    PyObject* nvvm_error;
    PyObject* linker_error;
    PyObject* not_supported;
    PyObject* unsupported_option;
    PyObject* no_context;
    PyObject* library_not_found;
    PyObject* closed;
};

Classes classes;
constexpr int NVML_LIBRARY_NOT_FOUND = 12; // NVML_ERROR_LIBRARY_NOT_FOUND

nb::object make_error(PyObject* type, const std::exception& error) {
    return nb::borrow(type)(message_object(error.what()));
}

void set_error(PyObject* type, const nb::object& error) {
    PyErr_SetObject(type, error.ptr());
}

void add_details(const nb::object& object, const Error& error) {
    object.attr("domain") = std::string(to_string(error.domain()));
    object.attr("code") = error.code();
    object.attr("name") = error.name();
    object.attr("call") = error.call();
    object.attr("explanation") = message_object(error.explanation());
}

void add_details(const nb::object& object, const CUDAError& error) {
    add_details(object, static_cast<const Error&>(error));
    if (!error.driver_log().empty()) {
        object.attr("driver_log") = message_object(error.driver_log());
    }
    if (!error.in_flight().empty()) {
        object.attr("in_flight") = error.in_flight();
    }
}

nb::object make_cuda_error(PyObject* type, const CUDAError& error) {
    nb::object object = make_error(type, error);
    add_details(object, error);
    return object;
}

void set_compiler_error(PyObject* type, const CompilerError& error) {
    const nb::object object = make_error(type, error);
    add_details(object, error);
    object.attr("log") = message_object(error.log());
    nb::list options;
    for (const std::string& option : error.options()) {
        options.append(message_object(option));
    }
    object.attr("options") = options;
    set_error(type, object);
}

/// Returns the class for a code of NVML. Few programs need them, so they are not held.
nb::object nvml_error_class(int code) {
    return nb::module_::import_("cuprum.system.exceptions").attr("class_of")(code);
}

void set_os_error(const std::system_error& error) {
    const nb::object object =
        nb::borrow(PyExc_OSError)(error.code().value(), message_object(error.what()));
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(object.ptr())), object.ptr());
}

/// Sets the Python error for one of Cuprum's exceptions; false for any other.
[[nodiscard]] bool set_own_error(const std::exception_ptr& exception) {
    try {
        std::rethrow_exception(exception);
    } catch (const OutOfMemoryError& error) {
        const nb::object object = make_cuda_error(classes.out_of_memory, error);
        object.attr("requested_bytes") = error.requested_bytes();
        object.attr("free_bytes") = error.free_bytes();
        object.attr("total_bytes") = error.total_bytes();
        set_error(classes.out_of_memory, object);
    } catch (const LaunchError& error) {
        const nb::object object = make_cuda_error(classes.launch_error, error);
        object.attr("limit") = error.limit();
        set_error(classes.launch_error, object);
    } catch (const NVRTCError& error) {
        set_compiler_error(classes.nvrtc_error, error);
    } catch (const NVVMError& error) {
        set_compiler_error(classes.nvvm_error, error);
    } catch (const LinkerError& error) {
        set_compiler_error(classes.linker_error, error);
    } catch (const UnsupportedOptionError& error) {
        set_error(classes.unsupported_option, make_error(classes.unsupported_option, error));
    } catch (const NotSupportedError& error) {
        set_error(classes.not_supported, make_cuda_error(classes.not_supported, error));
    } catch (const CUDAError& error) {
        const bool is_no_context =
            error.code() == CUDA_ERROR_INVALID_CONTEXT && error.call() == "cuCtxGetCurrent";
        PyObject* type = is_no_context                               ? classes.no_context
                         : error.code() == CUDA_ERROR_FILE_NOT_FOUND ? classes.missing_file
                                                                     : classes.cuda_error;
        set_error(type, make_cuda_error(type, error));
    } catch (const NVMLError& error) {
        const nb::object type = nvml_error_class(error.code());
        const nb::object object = make_error(type.ptr(), error);
        add_details(object, error);
        set_error(type.ptr(), object);
    } catch (const LibraryNotFoundError& error) {
        const bool is_nvml = error.library().find("NVML") != std::string::npos;
        const nb::object type = is_nvml ? nvml_error_class(NVML_LIBRARY_NOT_FOUND)
                                        : nb::borrow(classes.library_not_found);
        const nb::object object = make_error(type.ptr(), error);
        object.attr("library") = error.library();
        object.attr("tried") = error.tried();
        set_error(type.ptr(), object);
    } catch (const ClosedError& error) {
        set_error(classes.closed, make_error(classes.closed, error));
    } catch (const std::system_error& error) {
        // Python picks the class by the number: FileNotFoundError, PermissionError...
        set_os_error(error);
    } catch (const std::invalid_argument& error) {
        set_error(PyExc_ValueError, message_object(error.what()));
    } catch (const std::out_of_range& error) {
        set_error(PyExc_IndexError, message_object(error.what()));
    } catch (...) {
        return false;
    }
    return true;
}

PyObject* category(WarningKind kind) {
    switch (kind) {
    case WarningKind::Release:
    case WarningKind::HostFunction:
        return PyExc_RuntimeWarning;
    case WarningKind::Deprecated:
        return PyExc_DeprecationWarning;
    default:
        return PyExc_UserWarning;
    }
}

/// Returns the level of the Python line outside this package that led here; 1 is the line that
/// called from Python into C.
Py_ssize_t user_level() {
    const nb::object package = nb::module_::import_("cuprum").attr("__path__")[0];
    Py_ssize_t level = 1;
    for (nb::object frame = nb::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
         frame.is_valid() && !frame.is_none(); frame = frame.attr("f_back"), ++level) {
        const nb::object file = frame.attr("f_code").attr("co_filename");
        if (PyUnicode_Tailmatch(file.ptr(), package.ptr(), 0, PY_SSIZE_T_MAX, -1) != 1) {
            return level;
        }
    }
    return 1; // no Python below: a thread of the driver
}

void warn(WarningKind kind, std::string_view message) {
    const std::string text(message);
    const PythonScope python;
    if (!python) {
        std::fprintf(stderr, "cuprum: %s\n", text.c_str());
        return;
    }
    // A destructor may warn while an exception propagates; keep that exception.
    const nb::error_scope pending;
    if (PyErr_WarnEx(category(kind), text.c_str(), user_level()) != 0) {
        // The filter turns warnings into errors, but no caller can receive one here.
        PyErr_WriteUnraisable(nullptr);
    }
}

} // namespace

void bind_error(nb::module_& /*module*/) {
    const nb::module_ errors = nb::module_::import_("cuprum._errors");
    const auto find = [&errors](const char* name) {
        return nb::object(errors.attr(name)).release().ptr();
    };
    classes = {.cuda_error = find("CUDAError"),
               .out_of_memory = find("OutOfMemoryError"),
               .missing_file = find("MissingFileError"),
               .launch_error = find("LaunchError"),
               .nvrtc_error = find("NVRTCError"),
               .nvvm_error = find("NVVMError"),
               .linker_error = find("LinkerError"),
               .not_supported = find("NotSupportedError"),
               .unsupported_option = find("UnsupportedOptionError"),
               .no_context = find("NoContextError"),
               .library_not_found = find("LibraryNotFoundError"),
               .closed = find("ClosedError")};
    nb::register_exception_translator(
        [](const std::exception_ptr& exception, void*) {
            if (!set_own_error(exception)) {
                std::rethrow_exception(exception);
            }
        },
        nullptr);

    set_warning_handler(warn);
}

void raise_as(const char* class_name, const CUDAError& error, const std::string& text) {
    const nb::object type = nb::module_::import_("cuprum._errors").attr(class_name);
    const nb::object object = type(text);
    add_details(object, error);
    set_error(type.ptr(), object);
    throw nb::python_error();
}

void set_python_error(const std::exception_ptr& exception) noexcept {
    try {
        if (!set_own_error(exception)) {
            std::rethrow_exception(exception);
        }
    } catch (nb::python_error& error) {
        error.restore();
    } catch (const std::bad_alloc&) {
        PyErr_NoMemory();
    } catch (const std::exception& error) {
        set_error(PyExc_RuntimeError, message_object(error.what()));
    } catch (...) {
        PyErr_SetString(PyExc_SystemError, "unknown C++ exception");
    }
}

} // namespace cuprum::python
