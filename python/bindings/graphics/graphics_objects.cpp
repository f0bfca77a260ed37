// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "graphics/graphics_objects.hpp"

#include <cuprum/error.hpp>

#include <cuda.h>

#include <limits>
#include <string>

namespace cuprum::python {

Context current_context_for(const char* what) {
    auto context = Context::current();
    if (!context) {
        throw CUDAError(CUDA_ERROR_INVALID_CONTEXT, "cuCtxGetCurrent",
                        std::string(what) +
                            " needs a current context and no CUDA context is current on this "
                            "thread; make a device current first (Device.set_current)");
    }
    return std::move(*context);
}

int descriptor_argument(nb::handle value, const char* name) {
    nb::object number = nb::borrow(value);
    if (PyLong_Check(value.ptr()) == 0 && nb::hasattr(value, "fileno")) {
        number = value.attr("fileno")();
    }
    if (PyBool_Check(number.ptr()) != 0 || PyLong_Check(number.ptr()) == 0) {
        raise_error(PyExc_TypeError, std::string(name) +
                                         " must be a file descriptor (an int) or an "
                                         "object with fileno(), got " +
                                         type_label(value));
    }
    int is_overflow = 0;
    const long long read = PyLong_AsLongLongAndOverflow(number.ptr(), &is_overflow);
    if (is_overflow != 0 || read < 0 || read > std::numeric_limits<int>::max()) {
        raise_error(PyExc_ValueError, std::string(name) + " is " + repr_text(number) +
                                          ", expected an open file descriptor");
    }
    return static_cast<int>(read);
}

} // namespace cuprum::python
