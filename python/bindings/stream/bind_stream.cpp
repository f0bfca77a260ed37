// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "device/device_objects.hpp"
#include "stream/bind_stream_operations.hpp"
#include "stream/stream_objects.hpp"
#include "support/class.hpp"
#include "support/fast_paths.hpp"
#include "support/owner_collection.hpp"
#include "support/recycling.hpp"
#include "support/waiting.hpp"

#include <cuprum/detail/closed.hpp>
#include <cuprum/detail/deferred_release.hpp>
#include <cuprum/detail/pending.hpp>
#include <cuprum/detail/record.hpp>

#include <cuda.h>
#include <nanobind/stl/pair.h>

#include <cstdlib>
#include <stdexcept>

namespace cuprum::python {

namespace {

[[nodiscard]] std::uintptr_t address(const Stream& stream) {
    return reinterpret_cast<std::uintptr_t>(stream.handle());
}

[[nodiscard]] std::size_t handle(const PyStream& self) {
    note_python_in_driver(); // other libraries can use it from here on
    return address(self);
}

[[nodiscard]] bool is_done(const PyStream& self) {
    const Brief unlocked;
    return self.is_done();
}

void sync(const PyStream& self) {
    // If the work is done already, the GIL need not be released. If it failed, the call that waits
    // reports it. But the query ends a capture as waiting does, so that is reported here.
    const int status = [&] {
        const Brief unlocked;
        return detail::query(self);
    }();
    if (status == CUDA_SUCCESS && !detail::has_deferred_releases()) {
        return;
    }
    if (status >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED &&
        status <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD) {
        throw CUDAError(status, "cuStreamSynchronize");
    }
    sync_with_signals(self);
}

void close(PyStream& self) {
    self.drop();
}

[[nodiscard]] EventUse event_use(nb::handle external) {
    return flag_argument(external, false) ? EventUse::External : EventUse::Normal;
}

[[nodiscard]] nb::object record(const PyStream& self, nb::handle event, nb::handle options,
                                nb::handle external) {
    // Nothing is called so often that does so little: this is the usual call, one event.
    if (Py_TYPE(event.ptr()) == TYPE<PyEvent> && is_ready_inside(event) &&
        external.ptr() == Py_False && options.is_none()) [[likely]] {
        const bool is_recorded = [&] {
            const Brief unlocked;
            return detail::record_unless_shared(self, *inside<PyEvent>(event));
        }();
        if (is_recorded) [[likely]] {
            return nb::borrow(event);
        }
    }
    if (event.is_none()) {
        const EventOptions how = event_options(options);
        if (how.ipc_enabled) [[unlikely]] {
            nb::module_::import_("cuprum._ipc_event").attr("make_picklable")();
        }
        const EventUse use = event_use(external);
        auto made = [&] {
            const Brief unlocked;
            if (use == EventUse::Normal) [[likely]] {
                return self.record(how);
            }
            Event event = Event::create(self.context(), how);
            self.record(event, use);
            return event;
        }();
        return make<PyEvent>(std::move(made));
    }
    const PyEvent* existing = get_if<PyEvent>(event);
    if (existing == nullptr) {
        raise_error(PyExc_TypeError, "event must be an Event or None, got " + type_label(event));
    }
    if (!options.is_none()) {
        raise_error(PyExc_ValueError,
                    "options say how a new event is made; leave them out when passing an event");
    }
    if (existing->is_ipc_enabled()) [[unlikely]] {
        raise_error(PyExc_TypeError, "IPC-enabled events should not be re-recorded, instead create "
                                     "a new event by supplying options.");
    }
    const EventUse use = event_use(external);
    {
        const Brief unlocked;
        self.record(*existing, use);
    }
    return nb::borrow(event);
}

void wait(const PyStream& self, nb::handle other, nb::handle external) {
    if (const PyEvent* event = get_if<PyEvent>(other)) {
        const EventUse use = event_use(external);
        const Brief unlocked;
        self.wait(*event, use);
    } else if (event_use(external) == EventUse::External) {
        raise_error(PyExc_ValueError, "external says how an event is waited for, and "
                                      "event_or_stream is a " +
                                          type_label(other) +
                                          "; record an event there and wait for that");
    } else if (const PyStream* stream = get_if<PyStream>(other)) {
        const Brief unlocked;
        self.wait(*stream);
    } else if (nb::hasattr(other, "__cuda_stream__")) {
        const Stream foreign = Stream::from_handle(protocol_stream(other));
        const Brief unlocked;
        self.wait(foreign);
    } else {
        raise_error(PyExc_ValueError,
                    "event_or_stream must be an Event, a Stream or have __cuda_stream__, got " +
                        type_label(other));
    }
}

[[nodiscard]] std::string represent(const PyStream& self) {
    if (self.is_closed()) {
        return "<Stream closed>";
    }
    if (detail::is_lost(self)) {
        return "<Stream lost in a reset>";
    }
    std::string context = "none";
    try {
        const nb::gil_scoped_release unlocked;
        context = hex_text(reinterpret_cast<std::uintptr_t>(self.context().handle()));
    } catch (const std::runtime_error&) { // NOLINT(bugprone-empty-catch)
        // A default stream while no context is current, or no driver there is.
    }
    return "<Stream handle=" + hex_text(address(self)) + " context=" + context + ">";
}

} // namespace

void bind_stream(nb::module_& module) {
    Class<PyStream> type(module, "Stream", nb::is_weak_referenceable(), nb::pooled(),
                         nb::type_slots(stream_slots()));
    check_fast_paths(type); // the first class that is recycled; no object exists yet
    recycle<PyStream>(type);
    type.refuse_construction("Stream objects cannot be instantiated directly. Use "
                             "Device.create_stream() or Stream.from_handle()");
    type.static_method("from_handle", [](nb::handle handle) {
        note_python_in_driver();
        return make<PyStream>(Stream::from_handle(reinterpret_cast<CUstream>(
            static_cast<std::uintptr_t>(address_argument(handle, "handle")))));
    });
    type.property("handle", handle);
    type.method("__cuda_stream__", [](const PyStream& self) { return std::pair(0, handle(self)); });
    type.property("is_closed", &PyStream::is_closed);
    type.property("is_nonblocking", &PyStream::is_nonblocking, RELEASES_GIL);
    type.property("priority", &PyStream::priority, RELEASES_GIL);
    type.property("context", [](const PyStream& self) {
        auto context = without_gil([&] { return self.context(); });
        return context_object(std::move(context));
    });
    type.property("device", [](const PyStream& self) {
        const Device device = without_gil([&] { return self.device(); });
        return device_object(device);
    });
    type.method<sync>("sync", HOT);
    type.property<is_done>("is_done", HOT);
    type.method<record>("record", HOT);
    type.method<wait>("wait", HOT);
    type.method<close>("close", HOT);
    type.method("__eq__", [](const PyStream& self, const PyStream& other) {
        return static_cast<const Stream&>(self) == static_cast<const Stream&>(other);
    });
    type.method("__hash__", [](const PyStream& self) {
        return std::hash<std::uintptr_t>{}(self.is_closed() ? 0 : address(self));
    });
    type.method<represent>("__repr__");
    add_stream_operations(type);
    add_stream_making(type);

    LEGACY_DEFAULT = make<PyStream>(Stream::legacy_default()).release().ptr();
    PER_THREAD_DEFAULT = make<PyStream>(Stream::per_thread_default()).release().ptr();
    module.attr("LEGACY_DEFAULT_STREAM") = nb::borrow(LEGACY_DEFAULT);
    module.attr("PER_THREAD_DEFAULT_STREAM") = nb::borrow(PER_THREAD_DEFAULT);
}

nb::object default_stream() {
    constexpr int decimal = 10;
    // Read every time, so that a program can change its mind.
    const char* setting = ::secure_getenv("CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM");
    const bool is_per_thread = setting != nullptr && std::strtol(setting, nullptr, decimal) != 0;
    return nb::borrow(is_per_thread ? PER_THREAD_DEFAULT : LEGACY_DEFAULT);
}

} // namespace cuprum::python
