// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings.hpp"
#include "device/bind_device_management.hpp"
#include "device/device_objects.hpp"
#include "memory/buffer_objects.hpp"
#include "memory/memory_objects.hpp"
#include "stream/stream_objects.hpp"
#include "support/class.hpp"
#include "support/class_method.hpp"
#include "support/compatibility.hpp"
#include "support/display.hpp"
#include "support/held.hpp"
#include "support/waiting.hpp"

#include <cuprum/context.hpp>
#include <cuprum/host_memory.hpp>
#include <cuprum/memory_pool.hpp>

#include <atomic>
#include <memory>

namespace cuprum::python {

namespace {

void bind_identity(Class<PyDevice>& type);
void bind_factories(Class<PyDevice>& type);
[[nodiscard]] nb::object find_device(nb::handle device_id);
[[nodiscard]] PyObject* call_type(PyObject* type, PyObject* const* values, std::size_t count,
                                  PyObject* keywords) noexcept;
vectorcallfunc general_call = nullptr; // what call_type stands before
[[nodiscard]] nb::object context_of(const PyDevice& self);
/// Returns the current context if it is this device's, else the primary one.
[[nodiscard]] Context context_in_use(const PyDevice& self);
[[nodiscard, gnu::hot]] nb::object set_current(PyDevice& self, nb::handle context);
[[nodiscard, gnu::noinline]] nb::object replace_current(PyDevice& self, nb::handle context);
[[nodiscard, gnu::hot]] nb::object create_stream(PyDevice& self, nb::handle object,
                                                 nb::handle options);
[[nodiscard, gnu::hot]] nb::object create_event(PyDevice& self, nb::handle options);
[[nodiscard, gnu::hot]] nb::object allocate(PyDevice& self, nb::handle size, nb::handle stream);
[[nodiscard]] nb::object memory_resource(PyDevice& self);
void set_memory_resource(PyDevice& self, nb::handle resource);
void forget_devices();

} // namespace

void bind_device(nb::module_& module) {
    bind_device_properties(module);
    Class<PyDevice> type(module, "Device", nb::is_weak_referenceable());
    type.creator<&find_device>();
    binding::set_copier(type, [](nb::handle derived, nb::handle device) {
        const PyDevice& known = held_by<PyDevice>(device);
        return make_as<PyDevice>(derived, known.core, known.properties);
    });
    general_call = TYPE<PyDevice>->tp_vectorcall;
    TYPE<PyDevice>->tp_vectorcall = call_type;
    type.method("__reduce__", [](const PyDevice& self) {
        return nb::make_tuple(nb::borrow(reinterpret_cast<PyObject*>(TYPE<PyDevice>)),
                              nb::make_tuple(self.core.ordinal()));
    });
    bind_identity(type);
    bind_factories(type);
    add_device_management(type);
    function<forget_devices>(module, "forget_initialized_devices");
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

/// The Python object of each device, made when first asked for and then kept.
struct DeviceTable {
    explicit DeviceTable(std::size_t device_count)
        : count(device_count), objects(std::make_unique<std::atomic<PyObject*>[]>(device_count)) {}

    std::size_t count;
    std::unique_ptr<std::atomic<PyObject*>[]> objects;
};

std::atomic<DeviceTable*> device_table = nullptr;

DeviceTable& devices() {
    if (DeviceTable* table = device_table.load(std::memory_order_acquire)) [[likely]] {
        return *table;
    }
    // NOTE: no function-local static: its lock would be held while the GIL is taken back.
    std::size_t count = 0;
    {
        const nb::gil_scoped_release unlocked;
        count = Device::all().size();
    }
    auto made = std::make_unique<DeviceTable>(count);
    DeviceTable* expected = nullptr;
    if (device_table.compare_exchange_strong(expected, made.get())) {
        return *made.release(); // for the life of the process
    }
    return *expected;
}

nb::object find_device(nb::handle device_id) {
    if (device_id.is_none()) {
        const Device device = [] {
            const Brief unlocked(device_table.load(std::memory_order_relaxed) == nullptr);
            return Device();
        }();
        return device_object(device);
    }
    if (Py_TYPE(device_id.ptr()) == TYPE<PyDevice>) {
        return nb::borrow(device_id);
    }
    if (PyLong_CheckExact(device_id.ptr()) != 0) {
        const long ordinal = PyLong_AsLong(device_id.ptr());
        if (ordinal == -1 && PyErr_Occurred() != nullptr) {
            PyErr_Clear();
        }
        DeviceTable& table = devices();
        if (ordinal >= 0 && static_cast<std::size_t>(ordinal) < table.count) {
            if (PyObject* object = table.objects[ordinal].load(std::memory_order_acquire)) {
                return nb::borrow(object);
            }
        }
    }
    return device_object(device_argument(device_id, "device_id"));
}

/// Answers the usual calls of the class, Device() and Device(0), with no layer in between.
PyObject* call_type(PyObject* type, PyObject* const* values, std::size_t count,
                    PyObject* keywords) noexcept {
    const Py_ssize_t given = PyVectorcall_NARGS(count);
    if (keywords != nullptr || given > 1) {
        return general_call(type, values, count, keywords);
    }
    return answer([&] { return find_device(given == 0 ? Py_None : values[0]); });
}

void bind_identity(Class<PyDevice>& type) {
    type.static_method("get_all_devices", [] {
        const std::size_t count = devices().count;
        nb::list all;
        for (std::size_t i = 0; i < count; ++i) {
            all.append(device_object(Device(static_cast<int>(i))));
        }
        return nb::tuple(all);
    });
    type.property("device_id", [](const PyDevice& self) { return self.core.ordinal(); });
    type.method("__int__", [](const PyDevice& self) { return self.core.ordinal(); });
    type.method("__index__", [](const PyDevice& self) { return self.core.ordinal(); });
    type.property("name", [](const PyDevice& self) { return self.core.name(); });
    type.property("uuid", [](const PyDevice& self) { return self.core.uuid(); });
    type.property("pci_bus_id", [](const PyDevice& self) { return self.core.pci_bus_id(); });
    type.property("compute_capability", [](const PyDevice& self) {
        const ComputeCapability capability = self.core.compute_capability();
        return nb::module_::import_("cuprum._types")
            .attr("ComputeCapability")(capability.major, capability.minor);
    });
    type.property("arch", [](const PyDevice& self) { return self.core.arch(); });
    type.property("is_emulated", [](const PyDevice& self) { return self.core.is_emulated(); });
    type.property("properties", [](const PyDevice& self) { return self.properties; });
    type.property("memory_info", [](const PyDevice& self) {
        const MemoryInfo info = without_gil([&] { return self.core.memory_info(); });
        return nb::module_::import_("cuprum._types")
            .attr("MemoryInfo")(info.free_bytes, info.total_bytes);
    });
    type.method("can_access_peer", [](const PyDevice& self, const Device& other) {
        const nb::gil_scoped_release unlocked;
        return self.core.can_access_peer(other);
    });
    type.method("__eq__", [](const PyDevice& self, const PyDevice& other) {
        return self.core == other.core;
    });
    // By ordinal, as __eq__: a restore onto another device changes the UUID.
    type.method("__hash__", [](const PyDevice& self) {
        return nb::hash(nb::make_tuple("cuprum.Device", self.core.ordinal()));
    });
    type.method("__repr__", [](const PyDevice& self) {
        return "<Device " + std::to_string(self.core.ordinal()) + " (" + self.core.name() + ")>";
    });
    type.method("_repr_html_", [](nb::handle self) { return html_of(self, "device"); });
}

void bind_factories(Class<PyDevice>& type) {
    type.method<set_current>("set_current", HOT);
    type.property("context", context_of);
    type.method("sync", [](const PyDevice& self) {
        check_set_current(self);
        sync_with_signals(context_in_use(self));
    });
    type.property("default_stream", [](const PyDevice&) { return default_stream(); });
    type.method<create_stream>("create_stream", HOT);
    type.method<create_event>("create_event", HOT);
    type.method<allocate>("allocate", HOT);
    type.property("memory_resource", memory_resource, set_memory_resource);
}

Context context_in_use(const PyDevice& self) {
    const nb::gil_scoped_release unlocked;
    auto current = Context::current();
    return current && current->device() == self.core ? std::move(*current)
                                                     : self.core.primary_context();
}

nb::object context_of(const PyDevice& self) {
    check_set_current(self);
    return context_object(context_in_use(self));
}

/// Surrounds a driver call in a device's context: the first one makes the context, which takes
/// long.
class InDevice {
public:
    [[nodiscard]] explicit InDevice(PyDevice& device)
        : unlocked_(!device.is_used.load(std::memory_order_relaxed)), device_(device) {}

    ~InDevice() { device_.is_used.store(true, std::memory_order_relaxed); }

    InDevice(const InDevice&) = delete;
    InDevice& operator=(const InDevice&) = delete;

private:
    Brief unlocked_;
    PyDevice& device_;
};

nb::object set_current(PyDevice& self, nb::handle context) {
    if (!context.is_none()) [[unlikely]] {
        return replace_current(self, context);
    }
    {
        const InDevice unlocked(self);
        self.core.set_current();
    }
    self.was_made_current.store(true, std::memory_order_relaxed);
    return nb::none();
}

nb::object replace_current(PyDevice& self, nb::handle context) {
    const PyContext* wanted = get_if<PyContext>(context);
    if (wanted == nullptr) {
        raise_error(PyExc_TypeError, "ctx must be a Context or None, got " + type_label(context));
    }
    if (!wanted->is_closed() && wanted->device() != self.core) {
        raise_error(PyExc_RuntimeError,
                    "ctx belongs to device " + std::to_string(wanted->device().ordinal()) +
                        ", expected one of device " + std::to_string(self.core.ordinal()) +
                        "; call set_current() on the device it belongs to");
    }
    auto previous = [&] {
        const Brief unlocked;
        return self.core.set_current(*wanted);
    }();
    self.was_made_current.store(true, std::memory_order_relaxed);
    return previous ? context_object(std::move(*previous)) : nb::none();
}

nb::object create_event(PyDevice& self, nb::handle options) {
    check_set_current(self);
    const EventOptions how = options.is_none() ? EventOptions{} : event_options(options);
    if (how.ipc_enabled) [[unlikely]] {
        raise_error(PyExc_TypeError,
                    "IPC-enabled events must be bound; use Stream.record for creation.");
    }
    auto event = [&] {
        const InDevice unlocked(self);
        return self.core.create_event(how);
    }();
    return make<PyEvent>(std::move(event));
}

nb::object allocate(PyDevice& self, nb::handle size, nb::handle stream) {
    check_set_current(self);
#ifndef Py_GIL_DISABLED
    if (self.memory_resource.is_valid()) [[likely]] {
        nb::object resource = self.memory_resource; // which Python code may replace
        const std::size_t bytes = size_argument(size, "size");
        if (Py_TYPE(resource.ptr()) == TYPE<PyDeviceMemoryResource>) [[likely]] {
            MemoryPool& pool = *payload<PyDeviceMemoryResource>(resource)->core;
            return allocate_in<PyBuffer>(pool, std::move(resource), bytes, stream);
        }
        return allocate_from(resource, bytes, stream);
    }
#endif
    return allocate_from(memory_resource(self), size_argument(size, "size"), stream);
}

nb::object create_stream(PyDevice& self, nb::handle object, nb::handle options) {
    check_set_current(self);
    if (!object.is_none()) [[unlikely]] {
        return stream_of(reinterpret_cast<PyObject*>(TYPE<PyStream>), object, options);
    }
    const StreamOptions how = options.is_none() ? StreamOptions{} : stream_options(options);
    auto stream = [&] {
        const InDevice unlocked(self);
        return self.core.create_stream(how);
    }();
    return make<PyStream>(std::move(stream));
}

nb::object memory_resource(PyDevice& self) {
    {
        const nb::ft_lock_guard lock(self.mutex);
        if (self.memory_resource.is_valid()) {
            return self.memory_resource;
        }
    }
    const std::shared_ptr<MemoryResource>& resource = [&]() -> const auto& {
        const nb::gil_scoped_release unlocked; // and without the lock: it may warn
        return self.core.memory_resource();
    }();
    auto pool = std::dynamic_pointer_cast<DeviceMemoryResource>(resource);
    nb::object made = pool != nullptr ? make<PyDeviceMemoryResource>(std::move(pool))
                                      : make<PySynchronousMemoryResource>(resource);
    const nb::ft_lock_guard lock(self.mutex);
    if (!self.memory_resource.is_valid()) { // else another thread was faster
        self.memory_resource = made;
    }
    return self.memory_resource;
}

void set_memory_resource(PyDevice& self, nb::handle resource) {
    if (PyObject_TypeCheck(resource.ptr(), TYPE<PyMemoryResource>) == 0) {
        raise_error(PyExc_TypeError,
                    "memory_resource must be a MemoryResource, got " + type_label(resource));
    }
    nb::object previous = nb::borrow(resource); // released without the lock: it may run Python code
    const nb::ft_lock_guard lock(self.mutex);
    std::swap(self.memory_resource, previous);
}

void forget_devices() {
    DeviceTable& table = devices();
    for (std::size_t i = 0; i < table.count; ++i) {
        if (PyObject* object = table.objects[i].load(std::memory_order_acquire)) {
            auto& device = *nb::inst_ptr<PyDevice>(nb::handle(object));
            device.was_made_current.store(false, std::memory_order_relaxed);
            nb::object previous; // released without the lock
            {
                const nb::ft_lock_guard lock(device.mutex);
                std::swap(device.memory_resource, previous);
            }
            give_up(previous);
        }
    }
}

} // namespace

nb::object device_object(const Device& device) {
    auto& entry = devices().objects[device.ordinal()];
    if (PyObject* object = entry.load(std::memory_order_acquire)) [[likely]] {
        return nb::borrow(object);
    }
    nb::object made = make<PyDevice>(device, make<DeviceProperties>(device.properties()));
    PyObject* expected = nullptr;
    if (entry.compare_exchange_strong(expected, made.ptr())) {
        made.inc_ref(); // the table's share
        return made;
    }
    return nb::borrow(expected);
}

} // namespace cuprum::python
