// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "device/device_objects.hpp"
#include "stream/bind_stream_operations.hpp"
#include "stream/stream_objects.hpp"
#include "support/class.hpp"
#include "support/compatibility.hpp"
#include "support/recycling.hpp"
#include "support/waiting.hpp"

#include <cuprum/detail/closed.hpp>
#include <cuprum/detail/deferred_release.hpp>
#include <cuprum/detail/pending.hpp>

#include <cuda.h>

namespace cuprum::python {

namespace {

[[nodiscard]] std::uintptr_t address(const Event& event) {
    return reinterpret_cast<std::uintptr_t>(event.handle());
}

[[nodiscard]] bool is_done(const PyEvent& self) {
    const Brief unlocked;
    return self.is_done();
}

void sync(const PyEvent& self) {
    // If the work is done already, the GIL need not be released. If it failed, the call that waits
    // reports it.
    const int status = [&] {
        const Brief unlocked;
        return detail::query(self);
    }();
    if (status != CUDA_SUCCESS || detail::has_deferred_releases()) {
        sync_with_signals(self);
    }
}

void close(PyEvent& self) {
    self.drop();
}

[[nodiscard]] float milliseconds(const PyEvent& later, const PyEvent& earlier) {
    try {
        const nb::gil_scoped_release unlocked;
        return later.milliseconds_since(earlier);
    } catch (const CUDAError& error) {
        if (error.code() != CUDA_ERROR_INVALID_HANDLE && error.code() != CUDA_ERROR_NOT_READY) {
            throw;
        }
        // How the events were used is at fault, not the device: programs catch RuntimeError here.
        raise_as("ElapsedTimeError", error, error.advice());
    }
}

} // namespace

void bind_event(nb::module_& module) {
    Class<PyEvent> type(module, "Event", nb::is_weak_referenceable(), nb::pooled());
    recycle<PyEvent>(type);
    type.refuse_construction("Event objects cannot be instantiated directly. Use "
                             "Stream.record() or Device.create_event()");
    type.property("handle", [](const PyEvent& self) { return address(self); });
    type.property("is_closed", &PyEvent::is_closed);
    type.property("is_timing_enabled", &PyEvent::is_timing_enabled);
    type.property("is_blocking_sync", &PyEvent::is_blocking_sync);
    add_event_sharing(type);
    type.property("context", [](const PyEvent& self) -> nb::object {
        auto context = self.context();
        return context ? context_object(std::move(*context)) : nb::none();
    });
    type.property("device", [](const PyEvent& self) -> nb::object {
        const auto context = self.context();
        return context ? device_object(context->device()) : nb::none();
    });
    type.property<is_done>("is_done", HOT);
    type.method<sync>("sync", HOT);
    type.method<close>("close", HOT);
    type.method<milliseconds>("__sub__");
    // Python then tries __sub__, or gives up.
    type.method("__isub__",
                [](const PyEvent&, nb::handle) { return nb::borrow(Py_NotImplemented); });
    type.method("__rsub__",
                [](const PyEvent&, nb::handle) { return nb::borrow(Py_NotImplemented); });
    type.method("__eq__", [](const PyEvent& self, const PyEvent& other) {
        return static_cast<const Event&>(self) == static_cast<const Event&>(other);
    });
    type.method("__hash__", [](const PyEvent& self) {
        return std::hash<std::uintptr_t>{}(self.is_closed() ? 0 : address(self));
    });
    type.method("__repr__", [](const PyEvent& self) -> std::string {
        if (!self.is_closed() && detail::is_lost(self)) {
            return "<Event lost in a reset>";
        }
        return self.is_closed() || !compatibility::keeps_reprs_short()
                   ? to_string(self)
                   : "<Event handle=" + hex_text(address(self)) + ">";
    });
}

} // namespace cuprum::python
