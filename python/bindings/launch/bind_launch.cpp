// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings.hpp"
#include "graph/bind_graph_appending.hpp"
#include "graph/graph_objects.hpp"
#include "launch/kernel_arguments.hpp"
#include "launch/kernel_objects.hpp"
#include "launch/launch_config.hpp"
#include "stream/stream_objects.hpp"
#include "support/arguments.hpp"
#include "support/errors.hpp"
#include "support/fast_method.hpp"
#include "support/gil.hpp"
#include "support/instances.hpp"
#include "support/python_int.hpp"
#include "support/python_objects.hpp"

#include <cuprum/detail/active_captures.hpp>
#include <cuprum/detail/launch_packed.hpp>
#include <cuprum/launch.hpp>
#include <cuprum/stream.hpp>

#include <nanobind/nanobind.h>

#include <array>
#include <cstddef>
#include <optional>
#include <string>

namespace cuprum::python {

using namespace nb::literals;

namespace {

[[nodiscard, gnu::hot]] PyObject* launch_kernel(PyObject* module, PyObject* const* values,
                                                Py_ssize_t count, PyObject* keywords) noexcept;

// NOTE: bound without nanobind, for speed: no tuple of arguments is made. The first line of the
// text is the signature that `inspect` reads.
PyMethodDef launch_definition[] = {{"launch", fast::as_method(launch_kernel),
                                    METH_FASTCALL | METH_KEYWORDS,
                                    R"(launch($module, /, stream, config, kernel, *kernel_args)
--

Launch a kernel. Returns at once; the arguments are copied.

Parameters
----------
stream : Stream or GraphBuilder
    The kernel runs in this stream's order. In a builder's capture it becomes a node.
config : LaunchConfig or dict
    Grid, block and the rest.
kernel : Kernel
    What to run.
*kernel_args : Buffer, array, texture, surface, condition, number, numpy scalar, ctypes or bytes
    One for each parameter. A Buffer passes its address. So does an object with DLPack or
    ``__cuda_array_interface__``; the stream waits for its producer. Python's numbers convert to the
    parameter's size. Everything else, such as ctypes and numpy structures, must have that size.

    PTX and the mangled names of C++ kernels declare whether a parameter is a floating-point number.
    An int is then converted to it, and a float for an integer is refused. A cubin does not declare
    the types of ``extern "C"`` kernels. There an int for a ``float`` passes the integer's bits, so
    pass ``2.0`` instead of ``2``.

Raises
------
TypeError
    If count, type or size of the arguments is not what the kernel takes.
OverflowError
    If a number does not fit its parameter.
ValueError
    If the configuration exceeds a limit of the device. The message shows the numbers.)"},
                                   {nullptr, nullptr, 0, nullptr}};

} // namespace

void bind_launch(nb::module_& module) {
    if (PyModule_AddFunctions(module.ptr(), launch_definition) != 0) {
        throw nb::python_error();
    }
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

/// Wraps a foreign stream, which only launch() takes as it is.
Stream foreign_stream(nb::handle stream) {
    if (stream.is_none() || !nb::hasattr(stream, "__cuda_stream__")) {
        return stream_argument(stream); // raises
    }
    if (PyErr_WarnEx(PyExc_DeprecationWarning,
                     "Passing foreign stream objects to this function via the stream protocol is "
                     "deprecated. Convert the object explicitly using Stream(obj) instead. Here "
                     "that is device.create_stream(obj)",
                     1) != 0) {
        throw nb::python_error();
    }
    return Stream::from_handle(protocol_stream(stream));
}

[[gnu::hot]] void launch_with(nb::handle stream, nb::handle config, nb::handle kernel,
                              std::span<PyObject* const> values) {
    const PyKernel* const what = get_if<PyKernel>(kernel);
    if (what == nullptr) [[unlikely]] {
        raise_error(PyExc_TypeError, "kernel must be a Kernel, got " + type_label(kernel) +
                                         "; the order is launch(stream, config, kernel, "
                                         "*arguments)");
    }
    nb::object made;
    const PyLaunchConfig& how = Py_TYPE(config.ptr()) == TYPE<PyLaunchConfig> && is_ready(config)
                                    ? *payload<PyLaunchConfig>(config)
                                    : config_argument(config, made);
    std::optional<Stream> foreign;
    if (Py_TYPE(stream.ptr()) != TYPE<PyStream> && get_if<PyGraphBuilder>(stream) == nullptr &&
        get_if<PyStream>(stream) == nullptr) [[unlikely]] {
        foreign = foreign_stream(stream);
    }
    const Stream& where = foreign ? *foreign : stream_argument(stream);
    const KernelArguments arguments(*what, values, &where);
    {
        const Brief unlocked(!what->is_loaded.load(std::memory_order_relaxed));
        detail::launch_packed(where, how.core, how.encoded, *what, arguments.addresses());
    }
    what->is_loaded.store(true, std::memory_order_relaxed);
    if (detail::active_captures.load(std::memory_order_relaxed) != 0) [[unlikely]] {
        keep_captured(where, values);
    }
}

/// Sorts stream, config and kernel given by name into their places.
std::array<nb::handle, 3> sort_keywords(PyObject* const* values, Py_ssize_t count,
                                        PyObject* keywords) {
    constexpr std::array names{"stream", "config", "kernel"};
    std::array<nb::handle, 3> sorted{};
    for (Py_ssize_t i = 0; i < count && i < 3; ++i) {
        sorted[static_cast<std::size_t>(i)] = values[i];
    }
    for (Py_ssize_t i = 0; keywords != nullptr && i < PyTuple_GET_SIZE(keywords); ++i) {
        const std::string name = text_argument(PyTuple_GET_ITEM(keywords, i), "keyword");
        std::size_t place = 0;
        while (place < names.size() && name != names[place]) {
            ++place;
        }
        if (place == names.size() || sorted[place].is_valid()) {
            raise_error(PyExc_TypeError,
                        "launch() got an unexpected or repeated keyword argument '" + name +
                            "'; kernel arguments are positional");
        }
        sorted[place] = values[count + i];
    }
    for (std::size_t place = 0; place < names.size(); ++place) {
        if (!sorted[place].is_valid()) {
            raise_error(PyExc_TypeError, std::string("launch() needs stream, config and kernel; ") +
                                             names[place] + " is missing");
        }
    }
    return sorted;
}

PyObject* launch_kernel(PyObject* /*module*/, PyObject* const* values, Py_ssize_t count,
                        PyObject* keywords) noexcept {
    constexpr Py_ssize_t leading = 3;
    try {
        if (keywords == nullptr && count >= leading) [[likely]] {
            launch_with(values[0], values[1], values[2],
                        {values + leading, static_cast<std::size_t>(count - leading)});
        } else {
            const auto sorted = sort_keywords(values, count, keywords);
            launch_with(sorted[0], sorted[1], sorted[2], {});
        }
        Py_RETURN_NONE;
    } catch (...) {
        set_python_error(std::current_exception());
        return nullptr;
    }
}

} // namespace

} // namespace cuprum::python
