// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings.hpp"
#include "device/bind_device_management.hpp"
#include "device/device_objects.hpp"
#include "memory/buffer_objects.hpp"
#include "memory/memory_objects.hpp"
#include "stream/stream_objects.hpp"
#include "support/arguments.hpp"
#include "support/compatibility.hpp"
#include "support/display.hpp"
#include "support/errors.hpp"
#include "support/fast_method.hpp"
#include "support/gil.hpp"
#include "support/held.hpp"
#include "support/instances.hpp"
#include "support/python_objects.hpp"
#include "support/waiting.hpp"

#include <cuprum/context.hpp>
#include <cuprum/device.hpp>
#include <cuprum/event.hpp>
#include <cuprum/host_memory.hpp>
#include <cuprum/memory_pool.hpp>
#include <cuprum/stream.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/operators.h>
#include <nanobind/stl/string.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace cuprum::python {

using namespace nb::literals;

namespace {

void bind_identity(nb::class_<PyDevice>& type);
void bind_factories(nb::class_<PyDevice>& type);
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
    nb::class_<PyDevice> type(module, "Device", nb::is_weak_referenceable(),
                              R"(One CUDA device.

There is one object per device: ``Device(0) is Device(0)``. Its methods act on this device even if
another one is current. Only ``set_current`` changes the current context.

Parameters
----------
device_id : int or Device, optional
    The device's ordinal. Without it, the device of the current context, or device 0 if there is
    none.

Raises
------
ValueError
    If there is no such device. The message shows the valid range.

Examples
--------
>>> device = cuprum.Device(0)
>>> device.set_current()
>>> device.device_id
0)");
    note_type<PyDevice>(type);
    type.def(nb::new_(&find_device), "device_id"_a = nb::none());
    general_call = TYPE<PyDevice>->tp_vectorcall;
    TYPE<PyDevice>->tp_vectorcall = call_type;
    type.def("__reduce__", [](const PyDevice& self) {
        return nb::make_tuple(nb::borrow(reinterpret_cast<PyObject*>(TYPE<PyDevice>)),
                              nb::make_tuple(self.core.ordinal()));
    });
    bind_identity(type);
    bind_factories(type);
    add_device_management(type);
    module.def("forget_initialized_devices", forget_devices,
               "Forget which devices were made current, and resources set on them.");
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
    return fast::answer([&] { return find_device(given == 0 ? Py_None : values[0]); });
}

void bind_identity(nb::class_<PyDevice>& type) {
    type.def_static(
        "get_all_devices",
        [] {
            const std::size_t count = devices().count;
            nb::list all;
            for (std::size_t i = 0; i < count; ++i) {
                all.append(device_object(Device(static_cast<int>(i))));
            }
            return nb::tuple(all);
        },
        nb::sig("def get_all_devices() -> tuple[Device, ...]"), R"(Return all devices, in order.

Returns
-------
tuple[Device, ...]
    The devices, by ordinal.

Raises
------
LibraryNotFoundError
    If there is no driver. The text shows the places that were searched.
CUDAError
    If the driver cannot start.)");
    type.def_prop_ro(
        "device_id", [](const PyDevice& self) { return self.core.ordinal(); },
        "Return the ordinal.");
    type.def("__int__", [](const PyDevice& self) { return self.core.ordinal(); });
    type.def("__index__", [](const PyDevice& self) { return self.core.ordinal(); });
    type.def_prop_ro(
        "name", [](const PyDevice& self) { return self.core.name(); }, "Return the model's name.");
    type.def_prop_ro(
        "uuid", [](const PyDevice& self) { return self.core.uuid(); },
        "Return the UUID as 8-4-4-4-12 hexadecimal digits. A restore onto another device changes "
        "it.");
    type.def_prop_ro(
        "pci_bus_id", [](const PyDevice& self) { return self.core.pci_bus_id(); },
        "Return the PCI address, such as ``0000:65:00.0``.");
    type.def_prop_ro(
        "compute_capability",
        [](const PyDevice& self) {
            const ComputeCapability capability = self.core.compute_capability();
            return nb::module_::import_("cuprum._types")
                .attr("ComputeCapability")(capability.major, capability.minor);
        },
        nb::sig("def compute_capability(self) -> cuprum._types.ComputeCapability"),
        "Return the compute capability as a named tuple ``(major, minor)``.");
    type.def_prop_ro(
        "arch", [](const PyDevice& self) { return self.core.arch(); },
        "Return the compute capability as compilers name it, such as ``90``.");
    type.def_prop_ro(
        "is_emulated", [](const PyDevice& self) { return self.core.is_emulated(); },
        "Return whether this is the emulated device.");
    type.def_prop_ro(
        "properties", [](const PyDevice& self) { return self.properties; },
        nb::sig("def properties(self) -> DeviceProperties"), "Return the device's attributes.");
    type.def_prop_ro(
        "memory_info",
        [](const PyDevice& self) {
            const MemoryInfo info = [&] {
                const nb::gil_scoped_release unlocked;
                return self.core.memory_info();
            }();
            return nb::module_::import_("cuprum._types")
                .attr("MemoryInfo")(info.free_bytes, info.total_bytes);
        },
        nb::sig("def memory_info(self) -> cuprum._types.MemoryInfo"),
        "Return free and total memory in bytes as a named tuple ``(free, total)``.");
    type.def(
        "can_access_peer",
        [](const PyDevice& self, nb::handle peer) {
            const Device other = device_argument(peer, "peer");
            const nb::gil_scoped_release unlocked;
            return self.core.can_access_peer(other);
        },
        "peer"_a.none(), nb::sig("def can_access_peer(self, peer: Device | int) -> bool"),
        R"(Return whether kernels on this device may access another device's memory.

Parameters
----------
peer : Device or int
    The other device, or its ordinal.

Returns
-------
bool
    True if the link between the devices allows it.

Raises
------
ValueError
    If there is no such device.)");
    type.def(
        "__eq__",
        [](const PyDevice& self, const PyDevice& other) { return self.core == other.core; },
        nb::is_operator(), nb::sig("def __eq__(self, other: object, /) -> bool"));
    // By ordinal, as __eq__: a restore onto another device changes the UUID.
    type.def("__hash__", [](const PyDevice& self) {
        return nb::hash(nb::make_tuple("cuprum.Device", self.core.ordinal()));
    });
    type.def("__repr__", [](const PyDevice& self) {
        return "<Device " + std::to_string(self.core.ordinal()) + " (" + self.core.name() + ")>";
    });
    bind_html(type, "device");
}

void bind_factories(nb::class_<PyDevice>& type) {
    fast_method<set_current>(type,
                             "def set_current(self, ctx: Context | None = None) -> Context | None",
                             R"(Make a context of this device current on the calling thread.

Parameters
----------
ctx : Context, optional
    Replaces the current context. Without it, the device's primary context becomes current.

Returns
-------
Context or None
    The context that was current before, if `ctx` was given and there was one.

Raises
------
RuntimeError
    If `ctx` belongs to another device.)");
    type.def_prop_ro("context", context_of, nb::sig("def context(self) -> Context"),
                     "Return the current context if it is this device's, else the primary one.");
    type.def(
        "sync",
        [](const PyDevice& self) {
            check_set_current(self);
            sync_with_signals(context_in_use(self));
        },
        R"(Block until all work of this device's context is done.

Ctrl-C raises KeyboardInterrupt on the main thread; the work continues.

Raises
------
CUDAError
    If any of that work failed; the context is then unusable.)");
    type.def_prop_ro(
        "default_stream", [](const PyDevice&) { return default_stream(); },
        nb::sig("def default_stream(self) -> Stream"),
        R"(Return the default stream.

It is ``LEGACY_DEFAULT_STREAM``, or ``PER_THREAD_DEFAULT_STREAM`` if the environment variable
``CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM`` is set to a number other than 0.)");
    fast_method<create_stream>(
        type,
        "def create_stream(self, obj: cuprum.typing.IsStreamType | None = None, "
        "options: cuprum._options.StreamOptions | dict | None = None) -> Stream",
        R"(Create a stream, or wrap one of another library.

Parameters
----------
obj : object with ``__cuda_stream__``, optional
    Wrapped, not owned; it is kept alive with the result.
options : StreamOptions or dict, optional
    How a new stream is made.

Returns
-------
Stream
    The stream.

Raises
------
ValueError
    If both are given, or the priority is out of the device's range.)");
    fast_method<create_event>(
        type,
        "def create_event(self, options: cuprum._options.EventOptions | dict | None = "
        "None) -> Event",
        R"(Create an event. It counts as done until it is recorded.

Parameters
----------
options : EventOptions or dict, optional
    How the event is made.

Returns
-------
Event
    The event.

Raises
------
TypeError
    If both timing and IPC are asked for.)");
    fast_method<allocate>(type, "def allocate(self, size: int, *, stream: Stream) -> Buffer",
                          R"(Allocate device memory from ``memory_resource``.

Parameters
----------
size : int
    In bytes.
stream : Stream
    Work on this stream may use the memory from now on. The memory is freed on this stream.

Returns
-------
Buffer
    The memory. It returns to its resource when the last reference is gone.

Raises
------
OutOfMemoryError
    If there is not enough memory. The message shows the requested and the free bytes.)");
    type.def_prop_rw(
        "memory_resource", memory_resource, set_memory_resource,
        nb::for_getter(nb::sig("def memory_resource(self) -> MemoryResource")),
        nb::for_setter(nb::sig("def memory_resource(self, resource: MemoryResource, /) -> None")),
        R"(Return the resource that ``allocate`` uses.

It is the device's current memory pool until another MemoryResource is set.)");
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
