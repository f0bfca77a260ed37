// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/bind_graph_appending.hpp"
#include "graph/graph_objects.hpp"
#include "launch/kernel_arguments.hpp"
#include "launch/kernel_objects.hpp"
#include "launch/launch_config.hpp"
#include "stream/stream_objects.hpp"
#include "support/class.hpp"
#include "support/python_int.hpp"

#include <cuprum/detail/active_captures.hpp>
#include <cuprum/detail/launch_packed.hpp>
#include <cuprum/launch.hpp>

namespace cuprum::python {

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

[[gnu::hot]] void launch_kernel(nb::handle stream, nb::handle config, nb::handle kernel,
                                Rest values) {
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

} // namespace

void bind_launch(nb::module_& module) {
    function<launch_kernel>(module, "launch");
}

} // namespace cuprum::python
