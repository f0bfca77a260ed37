// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings.hpp"
#include "support/arguments.hpp"

#include <cuprum/fault_injection.hpp>
#include <cuprum/trace.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>

namespace cuprum::python {

using namespace nb::literals;

namespace {

/// A fault that begins and ends with a `with` block.
class Fault {
public:
    Fault(std::string function, int nth, int code)
        : function_(std::move(function)), nth_(nth), code_(code) {}

    void enter() { injection_.emplace(function_, nth_, code_); }

    void exit() {
        if (injection_) {
            calls_ = injection_->call_count();
            failed_ = injection_->failed_call();
            injection_.reset();
        }
    }

    [[nodiscard]] std::string to_text() const {
        return "<FaultInjection function='" + function_ + "' nth=" + std::to_string(nth_) +
               " code=" + std::to_string(code_) + (injection_ ? " active>" : ">");
    }

    [[nodiscard]] int call_count() const { return injection_ ? injection_->call_count() : calls_; }

    [[nodiscard]] std::string failed_call() const {
        return injection_ ? injection_->failed_call() : failed_;
    }

private:
    std::string function_;
    int nth_;
    int code_;
    std::optional<FaultInjection> injection_;
    int calls_ = 0;
    std::string failed_;
};

} // namespace

void bind_trace(nb::module_& module) {
    module.def(
        "start_trace",
        [](nb::handle path, bool has_device_work) {
            const std::string file = path_argument(path, "path");
            const nb::gil_scoped_release unlocked;
            TraceOptions options;
            options.has_device_work = has_device_work;
            start_trace(file, options);
        },
        "path"_a, "has_device_work"_a,
        nb::sig("def start_trace(path: str | os.PathLike[str], has_device_work: bool) -> None"),
        "Start a trace; see ``cuprum.trace``.");
    module.def("stop_trace", &stop_trace, nb::call_guard<nb::gil_scoped_release>(),
               "Stop the trace; see ``cuprum.trace``.");
    module.def("is_tracing", &is_tracing, R"(Return whether a trace is being recorded.

Returns
-------
bool
    True between ``start`` and ``stop``.)");
    module.def(
        "begin_range", [](const std::string& name) { detail::begin_range(name); }, "name"_a,
        "Begin a range; see ``cuprum.trace``.");
    module.def("end_range", &detail::end_range, "End a range; see ``cuprum.trace``.");

    nb::class_<Fault> fault(module, "FaultInjection",
                            R"(A driver call that fails inside a ``with`` block.

See ``cuprum.testing.fail_call``.

Examples
--------
>>> with cuprum.testing.fail_call("cuEventCreate", code=2):
...     try:
...         device.create_event()
...     except cuprum.CUDAError as error:
...         print(error.name)
CUDA_ERROR_OUT_OF_MEMORY)");
    fault.def(nb::init<std::string, int, int>(), "function"_a, "nth"_a, "code"_a);
    fault.def("__enter__", [](nb::object self) {
        nb::cast<Fault&>(self).enter();
        return self;
    });
    fault.def(
        "__exit__", [](Fault& self, const nb::args&) { self.exit(); },
        nb::sig("def __exit__(self, *args: object) -> None"));
    fault.def("__repr__", &Fault::to_text);
    fault.def_prop_ro("call_count", &Fault::call_count,
                      "Return how often the function was called.");
    fault.def_prop_ro("failed_call", &Fault::failed_call,
                      "Return the function that was made to fail, or an empty string.");
}

} // namespace cuprum::python
