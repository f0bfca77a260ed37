// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/class.hpp"

#include <cuprum/fault_injection.hpp>
#include <cuprum/trace.hpp>

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
    function(module, "start_trace", [](nb::handle path, bool has_device_work) {
        const std::string file = path_argument(path, "path");
        const nb::gil_scoped_release unlocked;
        TraceOptions options;
        options.has_device_work = has_device_work;
        start_trace(file, options);
    });
    function<&stop_trace>(module, "stop_trace", RELEASES_GIL);
    function<&is_tracing>(module, "is_tracing");
    function(module, "begin_range", [](const std::string& name) { detail::begin_range(name); });
    function<&detail::end_range>(module, "end_range");

    Class<Fault> fault(module, "FaultInjection");
    fault.constructor([](Fault* self, const std::string& function, int nth, int code) {
        new (self) Fault(function, nth, code);
    });
    fault.method("__enter__", [](nb::object self) {
        nb::cast<Fault&>(self).enter();
        return self;
    });
    fault.method("__exit__", [](Fault& self, const nb::args&) { self.exit(); });
    fault.method<&Fault::to_text>("__repr__");
    fault.property("call_count", &Fault::call_count);
    fault.property("failed_call", &Fault::failed_call);
}

} // namespace cuprum::python
