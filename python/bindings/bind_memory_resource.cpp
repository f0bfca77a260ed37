// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "arguments.hpp"
#include "fast_method.hpp"
#include "objects.hpp"

#include <cuprum/memory_resource.hpp>

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>

namespace cuprum::python {

using namespace nb::literals;

namespace {

/// A MemoryResource written in Python, as the core sees it: frees go to its `deallocate`.
class PythonMemoryResource final : public MemoryResource {
public:
    explicit PythonMemoryResource(nb::handle object);

    [[nodiscard]] CUdeviceptr allocate_bytes(std::size_t bytes, const Stream& stream) override;
    void deallocate_bytes(CUdeviceptr pointer, std::size_t bytes, const Stream& stream) override;

    [[nodiscard]] bool is_device_accessible() const noexcept override { return is_device_; }

    [[nodiscard]] bool is_host_accessible() const noexcept override { return is_host_; }

    [[nodiscard]] int device_id() const noexcept override { return device_id_; }

private:
    std::shared_ptr<void> object_;
    bool is_device_ = false;
    bool is_host_ = false;
    int device_id_ = -1;
};

void bind_base(nb::module_& module);
void bind_attributes(nb::module_& module);
[[noreturn]] void refuse(nb::handle self, const char* member);
[[nodiscard]] nb::object allocate(nb::handle self, nb::handle size, nb::handle stream);
[[nodiscard]] nb::object allocate_in(const DeviceMemoryResource& pool, nb::handle resource,
                                     std::size_t bytes, nb::handle stream);
[[nodiscard]] const DeviceMemoryResource& pool_of(const PyDeviceMemoryResource& self);

} // namespace

void bind_memory_resource(nb::module_& module) {
    bind_base(module);
    bind_attributes(module);
    nb::class_<PyDeviceMemoryResource, PyMemoryResource> type(
        module, "DeviceMemoryResource", nb::is_weak_referenceable(),
        R"(Allocate from a stream-ordered pool of device memory.

Parameters
----------
device_id : Device or int
    The device whose memory it is.
options : DeviceMemoryResourceOptions or dict, optional
    A pool of its own is made as they say. Without them, the device's current pool is used, which
    the whole process shares.)");
    note_type<PyDeviceMemoryResource>(type);
    type.def(
        "__init__",
        [](PyDeviceMemoryResource* self, nb::handle device_id, nb::handle options) {
            const Device device = device_argument(device_id, "device_id");
            const nb::object given = options_argument(options, "DeviceMemoryResourceOptions");
            DeviceMemoryResourceOptions how;
            if (given.is_valid()) {
                if (PyObject_IsTrue(nb::object(given.attr("ipc_enabled")).ptr()) != 0) {
                    raise_error(PyExc_RuntimeError, "ipc_enabled is not available: pools cannot be "
                                                    "shared between processes yet");
                }
                how.max_size = size_argument(nb::object(given.attr("max_size")), "max_size");
            }
            auto pool = [&] {
                const nb::gil_scoped_release unlocked;
                return given.is_valid() ? DeviceMemoryResource(device, how)
                                        : DeviceMemoryResource(device);
            }();
            new (self) PyDeviceMemoryResource(std::move(pool));
        },
        "device_id"_a.none(), "options"_a = nb::none(),
        nb::sig("def __init__(self, device_id: Device | int, options: "
                "cuprum._options.DeviceMemoryResourceOptions | dict | None = None) -> None"));
    fast_method<allocate>(type, "def allocate(self, size: int, *, stream: Stream) -> Buffer",
                          R"(Allocate memory, usable in a stream's order from here on.

Raises
------
OutOfMemoryError
    With the bytes asked for and free.)");
    type.def(
        "deallocate",
        [](const PyDeviceMemoryResource& self, nb::handle ptr, nb::handle size, nb::handle stream) {
            const CUdeviceptr pointer = address_argument(ptr, "ptr");
            const std::size_t bytes = size_argument(size, "size");
            const Stream& order = stream_argument(stream);
            const nb::gil_scoped_release unlocked;
            self.core.deallocate(pointer, bytes, order);
        },
        "ptr"_a.none(), "size"_a.none(), nb::kw_only(), "stream"_a.none(),
        nb::sig("def deallocate(self, ptr: int, size: int, *, stream: Stream) -> None"),
        "Free memory that was allocated from this pool and is held by no Buffer.");
    type.def_prop_ro(
        "handle",
        [](const PyDeviceMemoryResource& self) {
            return reinterpret_cast<std::uintptr_t>(self.core.handle());
        },
        "Return the driver's ``CUmemoryPool`` as an int.");
    type.def_prop_ro(
        "is_handle_owned",
        [](const PyDeviceMemoryResource& self) { return self.core.is_handle_owned(); },
        "Tell whether the pool is this resource's own, not the device's shared one.");
    type.def_prop_ro(
        "device_id", [](const PyDeviceMemoryResource& self) { return self.core.device_id(); },
        "Return the ordinal of the device whose memory this is.");
    type.def_prop_ro(
        "device",
        [](const PyDeviceMemoryResource& self) { return device_object(self.core.device()); },
        nb::sig("def device(self) -> Device"), "Return the device whose memory this is.");
    type.def_prop_ro(
        "is_device_accessible", [](const PyDeviceMemoryResource&) { return true; },
        "Tell whether devices can reach the memory.");
    type.def_prop_ro(
        "is_host_accessible", [](const PyDeviceMemoryResource&) { return false; },
        "Tell whether the host can reach the memory.");
    type.def_prop_ro(
        "is_ipc_enabled", [](const PyDeviceMemoryResource&) { return false; },
        "Tell whether the pool can be shared with other processes; not available yet.");
    type.def_prop_ro(
        "is_mapped", [](const PyDeviceMemoryResource&) { return false; },
        "Tell whether the pool was imported from another process; not available yet.");
    type.def_prop_ro(
        "attributes",
        [](const PyDeviceMemoryResource& self) {
            const nb::gil_scoped_release unlocked;
            return self.core.attributes();
        },
        "Return what the pool holds and has held, as of now.");
    type.def(
        "trim",
        [](const PyDeviceMemoryResource& self, nb::handle keep_bytes) {
            const std::size_t bytes = size_argument(keep_bytes, "keep_bytes");
            const nb::gil_scoped_release unlocked;
            self.core.trim(bytes);
        },
        "keep_bytes"_a = 0, nb::sig("def trim(self, keep_bytes: int = 0) -> None"),
        "Give memory back to the device until at most `keep_bytes` are reserved.");
    type.def(
        "close", [](PyDeviceMemoryResource& self) { self.core.drop(); },
        R"(Give up this object's share of the pool. Calling it again does nothing.

Buffers that came from it stay valid and keep the pool alive.)");
}

nb::object allocate_from(nb::handle resource, std::size_t bytes, nb::handle stream) {
    if (Py_TYPE(resource.ptr()) != TYPE<PyDeviceMemoryResource>) {
        return resource.attr("allocate")(bytes, "stream"_a = stream);
    }
    return allocate_in(nb::inst_ptr<PyDeviceMemoryResource>(resource)->core, resource, bytes,
                       stream);
}

std::shared_ptr<MemoryResource> core_resource(nb::handle resource) {
    // A class derived from a pool may free in its own way.
    if (Py_TYPE(resource.ptr()) == TYPE<PyDeviceMemoryResource>) {
        return pool_of(*nb::inst_ptr<PyDeviceMemoryResource>(resource)).resource();
    }
    if (PyObject_TypeCheck(resource.ptr(), TYPE<PyMemoryResource>) == 0) {
        raise_error(PyExc_TypeError, "mr must be a MemoryResource, got " + type_label(resource));
    }
    return std::make_shared<PythonMemoryResource>(resource);
}

std::shared_ptr<void> keep_alive(nb::handle object) {
    object.inc_ref();
    return {object.ptr(), [](PyObject* kept) {
                if (is_python_gone()) {
                    return; // freed with the process
                }
                const nb::gil_scoped_acquire locked;
                Py_DECREF(kept);
            }};
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

void bind_base(nb::module_& module) {
    nb::class_<PyMemoryResource> type(module, "MemoryResource", nb::is_weak_referenceable(),
                                      R"(Say where memory comes from.

Derive from it to allocate in a way of your own: override ``allocate``, ``deallocate``,
``is_device_accessible``, ``is_host_accessible`` and ``device_id``. ``allocate`` usually ends with
``return Buffer.from_handle(pointer, size, self, stream=stream)``; the buffer then calls
``deallocate`` when it is closed or dropped.)");
    note_type<PyMemoryResource>(type);
    type.def(nb::init<>());
    // NOTE: nb::handle, not PyMemoryResource&: derived classes need not call __init__.
    type.def(
        "allocate",
        [](nb::handle self, const nb::args&, const nb::kwargs&) { refuse(self, "allocate"); },
        nb::sig("def allocate(self, size: int, *, stream: Stream) -> Buffer"),
        "Allocate memory, usable in a stream's order from here on. To be overridden.");
    type.def(
        "deallocate",
        [](nb::handle self, const nb::args&, const nb::kwargs&) { refuse(self, "deallocate"); },
        nb::sig("def deallocate(self, ptr: int, size: int, *, stream: Stream) -> None"),
        "Free what ``allocate`` gave, ordered on a stream. To be overridden.");
    type.def_prop_ro(
        "is_device_accessible", [](nb::handle self) { refuse(self, "is_device_accessible"); },
        nb::sig("def is_device_accessible(self) -> bool"),
        "Tell whether devices can reach the memory. To be overridden.");
    type.def_prop_ro(
        "is_host_accessible", [](nb::handle self) { refuse(self, "is_host_accessible"); },
        nb::sig("def is_host_accessible(self) -> bool"),
        "Tell whether the host can reach the memory. To be overridden.");
    type.def_prop_ro(
        "device_id", [](nb::handle self) { refuse(self, "device_id"); },
        nb::sig("def device_id(self) -> int"),
        "Return the ordinal of the device whose memory it is, -1 for host memory. To be "
        "overridden.");
    type.def_prop_ro(
        "is_managed", [](nb::handle) { return false; }, nb::sig("def is_managed(self) -> bool"),
        "Tell whether the memory moves between host and device by itself.");
}

void bind_attributes(nb::module_& module) {
    nb::class_<PoolAttributes> type(module, "DeviceMemoryResourceAttributes",
                                    "Hold what a pool holds and has held, when it was asked.");
    type.def_ro("reuse_follow_event_dependencies", &PoolAttributes::reuse_follow_event_dependencies,
                "Tell whether memory freed on one stream is reused on another that waits for it.");
    type.def_ro("reuse_allow_opportunistic", &PoolAttributes::reuse_allow_opportunistic,
                "Tell whether memory is reused once the free is seen to be done.");
    type.def_ro("reuse_allow_internal_dependencies",
                &PoolAttributes::reuse_allow_internal_dependencies,
                "Tell whether the driver may add waits between streams to reuse memory.");
    type.def_ro("release_threshold", &PoolAttributes::release_threshold,
                "Return how many reserved bytes are kept at a synchronisation.");
    type.def_ro("reserved_mem_current", &PoolAttributes::reserved_mem_current,
                "Return the bytes that the pool holds.");
    type.def_ro("reserved_mem_high", &PoolAttributes::reserved_mem_high,
                "Return the most bytes that the pool has held.");
    type.def_ro("used_mem_current", &PoolAttributes::used_mem_current, "Return the bytes in use.");
    type.def_ro("used_mem_high", &PoolAttributes::used_mem_high,
                "Return the most bytes that were in use.");
}

nb::object allocate_in(const DeviceMemoryResource& pool, nb::handle resource, std::size_t bytes,
                       nb::handle stream) {
    // A pool may have to get memory from the system first, which takes its time.
    constexpr std::size_t most_brief_bytes = 1U << 20U;
    const Stream& order = stream_argument(stream);
    auto buffer = [&] {
        const Brief unlocked(bytes > most_brief_bytes);
        return pool.allocate(bytes, order);
    }();
    return make<PyBuffer>(std::move(buffer), nb::borrow(resource), nb::object());
}

nb::object allocate(nb::handle self, nb::handle size, nb::handle stream) {
    const auto* resource = get_if<PyDeviceMemoryResource>(self);
    if (resource == nullptr) {
        raise_error(PyExc_TypeError, "self is not made yet: call DeviceMemoryResource.__init__");
    }
    return allocate_in(resource->core, self, size_argument(size, "size"), stream);
}

void refuse(nb::handle self, const char* member) {
    raise_error(PyExc_TypeError, type_label(self) + " must override MemoryResource." + member);
}

const DeviceMemoryResource& pool_of(const PyDeviceMemoryResource& self) {
    return self.core;
}

PythonMemoryResource::PythonMemoryResource(nb::handle object) : object_(keep_alive(object)) {
    // Read once: a buffer may be asked from any thread. A class may leave them out, and some
    // classes have no device.
    const auto read = [object](const char* name) -> nb::object {
        PyObject* value = PyObject_GetAttrString(object.ptr(), name);
        if (value == nullptr) {
            PyErr_Clear();
            return {};
        }
        return nb::steal(value);
    };
    const nb::object is_device = read("is_device_accessible");
    const nb::object is_host = read("is_host_accessible");
    const nb::object device = read("device_id");
    is_device_ = is_device.is_valid() && PyObject_IsTrue(is_device.ptr()) == 1;
    is_host_ = is_host.is_valid() && PyObject_IsTrue(is_host.ptr()) == 1;
    if (device.is_valid() && PyLong_Check(device.ptr()) != 0) {
        device_id_ = static_cast<int>(PyLong_AsLong(device.ptr()));
    }
    PyErr_Clear();
}

CUdeviceptr PythonMemoryResource::allocate_bytes(std::size_t /*bytes*/, const Stream& /*stream*/) {
    // Its `allocate` gives a whole Buffer, so allocations go to the Python object itself.
    throw std::logic_error("a memory resource written in Python is asked through Python");
}

void PythonMemoryResource::deallocate_bytes(CUdeviceptr pointer, std::size_t bytes,
                                            const Stream& stream) {
    if (is_python_gone()) {
        return;
    }
    const nb::gil_scoped_acquire locked;
    // A buffer may be dropped while an exception is on its way.
    const nb::error_scope pending;
    const nb::handle self(static_cast<PyObject*>(object_.get()));
    self.attr("deallocate")(pointer, bytes, "stream"_a = make<PyStream>(Stream(stream)));
}

} // namespace

} // namespace cuprum::python
