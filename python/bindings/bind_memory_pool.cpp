// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "fast_method.hpp"
#include "memory_objects.hpp"

#include <cuprum/detail/runtime.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <string>
#include <utility>

namespace cuprum::python {

using namespace nb::literals;

namespace {

/// What is asked of a pool, live; keeps the pool alive.
struct PyPoolAttributes {
    explicit PyPoolAttributes(MemoryPool asked) : pool(std::move(asked)) {}

    Held<MemoryPool> pool;
};

void bind_attributes(nb::module_& module);
void bind_pool(nb::module_& module);
void bind_device_pool(nb::module_& module);
void bind_pinned_pool(nb::module_& module);
void bind_managed_pool(nb::module_& module);
template <typename Pool, typename Made>
[[nodiscard]] nb::object allocate(nb::handle self, nb::handle size, nb::handle stream);
[[nodiscard]] std::optional<Location> preferred_location(nb::handle options);
[[nodiscard]] bool truth(nb::handle object, const char* attribute);
[[nodiscard]] nb::object sharing();

constexpr const char* ALLOCATE = R"(Allocate memory, usable in a stream's order from here on.

Raises
------
OutOfMemoryError
    With the bytes asked for and free.)";

} // namespace

void bind_memory_pool(nb::module_& module) {
    bind_attributes(module);
    bind_pool(module);
    bind_device_pool(module);
    bind_pinned_pool(module);
    bind_managed_pool(module);
    module.def("reset_concurrent_access_warning", &detail::reset_managed_access_warning,
               "Let the warning about managed memory be given again.");
}

nb::object allocate_from(nb::handle resource, std::size_t bytes, nb::handle stream) {
    if (Py_TYPE(resource.ptr()) != TYPE<PyDeviceMemoryResource>) {
        nb::object made = resource.attr("allocate")(bytes, "stream"_a = stream);
        if (get_if<PyBuffer>(made) == nullptr) {
            raise_error(PyExc_TypeError, type_label(resource) +
                                             ".allocate must give a Buffer, got " +
                                             type_label(made));
        }
        return made;
    }
    return allocate_in<PyBuffer>(payload<PyDeviceMemoryResource>(resource)->core,
                                 nb::borrow(resource), bytes, stream);
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

template <PoolAttribute Name, bool IsFlag>
void bind_attribute(nb::class_<PyPoolAttributes>& type, const char* name, const char* sentence) {
    const auto get = [](const PyPoolAttributes& self) {
        const std::uint64_t value = [&] {
            const nb::gil_scoped_release unlocked;
            return self.pool.attribute(Name);
        }();
        return IsFlag ? nb::bool_(value != 0) : nb::object(nb::int_(value));
    };
    const auto set = [name](const PyPoolAttributes& self, nb::handle value) {
        constexpr bool is_mark =
            Name == PoolAttribute::ReservedMemHigh || Name == PoolAttribute::UsedMemHigh;
        if (Name == PoolAttribute::ReservedMemCurrent || Name == PoolAttribute::UsedMemCurrent) {
            raise_error(PyExc_AttributeError, std::string("attribute '") + name +
                                                  "' of a pool's attributes is not writable");
        }
        const std::uint64_t wanted = IsFlag
                                         ? static_cast<std::uint64_t>(PyObject_IsTrue(value.ptr()))
                                         : address_argument(value, name);
        if (is_mark && wanted != 0) {
            raise_error(PyExc_AttributeError, std::string("Attribute '") + name +
                                                  "' may only be set to zero (got " +
                                                  std::to_string(wanted) + ").");
        }
        const nb::gil_scoped_release unlocked;
        self.pool.set_attribute(Name, wanted);
    };
    const std::string kind = IsFlag ? "bool" : "int";
    const std::string getter = std::string("def ") + name + "(self) -> " + kind;
    const std::string setter =
        std::string("def ") + name + "(self, value: " + kind + ", /) -> None";
    type.def_prop_rw(name, get, set, nb::for_getter(nb::sig(getter.c_str())),
                     nb::for_setter(nb::sig(setter.c_str())), sentence);
}

void bind_attributes(nb::module_& module) {
    nb::class_<PyPoolAttributes> type(
        module, "MemoryPoolAttributes",
        R"(Tell what a pool holds and has held; each read asks the driver.

The reuse flags and the release threshold can be set, the high-water marks to 0. Holds the pool
alive, also when its resource is closed.)");
    note_type<PyPoolAttributes>(type);
    type.def(
        "__init__",
        [](nb::handle, const nb::args&, const nb::kwargs&) {
            raise_error(PyExc_RuntimeError, "MemoryPoolAttributes cannot be instantiated directly; "
                                            "use a pool's attributes");
        },
        nb::sig("def __init__(self, *args: object, **kwargs: object) -> None"));
    bind_attribute<PoolAttribute::ReuseFollowEventDependencies, true>(
        type, "reuse_follow_event_dependencies",
        "Tell whether memory freed on one stream is reused on another that waits for it.");
    bind_attribute<PoolAttribute::ReuseAllowOpportunistic, true>(
        type, "reuse_allow_opportunistic",
        "Tell whether memory is reused once the free is seen to be done.");
    bind_attribute<PoolAttribute::ReuseAllowInternalDependencies, true>(
        type, "reuse_allow_internal_dependencies",
        "Tell whether the driver may add waits between streams to reuse memory.");
    bind_attribute<PoolAttribute::ReleaseThreshold, false>(
        type, "release_threshold", "Return how many reserved bytes are kept at a synchronisation.");
    bind_attribute<PoolAttribute::ReservedMemCurrent, false>(
        type, "reserved_mem_current", "Return the bytes that the pool holds.");
    bind_attribute<PoolAttribute::ReservedMemHigh, false>(
        type, "reserved_mem_high", "Return the most bytes that the pool has held.");
    bind_attribute<PoolAttribute::UsedMemCurrent, false>(type, "used_mem_current",
                                                         "Return the bytes in use.");
    bind_attribute<PoolAttribute::UsedMemHigh, false>(type, "used_mem_high",
                                                      "Return the most bytes that were in use.");
    type.def("__repr__", [](const PyPoolAttributes& self) {
        const PoolAttributes now = [&] {
            const nb::gil_scoped_release unlocked;
            return self.pool.attributes();
        }();
        const auto number = [](const char* name, std::uint64_t value) {
            return std::string(name) + "=" + std::to_string(value);
        };
        const auto flag = [](const char* name, bool value) {
            return std::string(name) + "=" + (value ? "True" : "False");
        };
        return "MemoryPoolAttributes(" + number("release_threshold", now.release_threshold) + ", " +
               number("reserved_mem_current", now.reserved_mem_current) + ", " +
               number("reserved_mem_high", now.reserved_mem_high) + ", " +
               flag("reuse_allow_internal_dependencies", now.reuse_allow_internal_dependencies) +
               ", " + flag("reuse_allow_opportunistic", now.reuse_allow_opportunistic) + ", " +
               flag("reuse_follow_event_dependencies", now.reuse_follow_event_dependencies) + ", " +
               number("used_mem_current", now.used_mem_current) + ", " +
               number("used_mem_high", now.used_mem_high) + ")";
    });
}

void bind_pool(nb::module_& module) {
    nb::class_<PyMemoryPool, PyMemoryResource> type(
        module, "MemoryPool", nb::is_weak_referenceable(),
        "Share a stream-ordered pool of memory; what the three kinds of pool have in common.");
    note_type<PyMemoryPool>(type);
    type.def(
        "deallocate",
        [](const PyMemoryPool& self, nb::handle ptr, nb::handle size, nb::handle stream) {
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
        [](const PyMemoryPool& self) {
            return reinterpret_cast<std::uintptr_t>(self.core.handle());
        },
        "Return the driver's ``CUmemoryPool`` as an int.");
    type.def_prop_ro(
        "is_closed", [](const PyMemoryPool& self) { return self.core.is_closed(); },
        "Tell whether ``close`` was called.");
    type.def_prop_ro(
        "is_handle_owned", [](const PyMemoryPool& self) { return self.core.is_handle_owned(); },
        "Tell whether the pool is this resource's own, not one that others share.");
    type.def_prop_ro(
        "device_id", [](const PyMemoryPool& self) { return self.core.device_id(); },
        "Return the ordinal of the device whose memory this is, -1 for host memory.");
    type.def_prop_ro(
        "is_device_accessible",
        [](const PyMemoryPool& self) { return self.core.is_device_accessible(); },
        "Tell whether devices can reach the memory.");
    type.def_prop_ro(
        "is_host_accessible",
        [](const PyMemoryPool& self) { return self.core.is_host_accessible(); },
        "Tell whether the host can reach the memory.");
    type.def_prop_ro(
        "is_managed", [](const PyMemoryPool& self) { return self.core.is_managed(); },
        "Tell whether the memory moves between host and devices by itself.");
    type.def_prop_ro(
        "is_ipc_enabled", [](const PyMemoryPool& self) { return self.core.is_ipc_enabled(); },
        "Tell whether the pool can be shared with other processes.");
    type.def_prop_ro(
        "is_mapped", [](const PyMemoryPool& self) { return self.core.is_mapped(); },
        "Tell whether the pool is another process's, imported here.");
    type.def_prop_ro(
        "uuid",
        [](nb::handle self) -> nb::object {
            auto& pool = *nb::inst_ptr<PyMemoryPool>(self);
            if (!pool.uuid.is_valid() && pool.core.is_ipc_enabled() && !pool.core.is_mapped()) {
                pool.uuid = sharing().attr("new_uuid")(self);
            }
            return pool.uuid.is_valid() ? pool.uuid : nb::none();
        },
        nb::sig("def uuid(self) -> UUID | None"),
        "Return what other processes know the pool by; None if it is not shared.");
    type.def(
        "_set_uuid", [](PyMemoryPool& self, nb::object uuid) { self.uuid = std::move(uuid); },
        "uuid"_a, nb::sig("def _set_uuid(self, uuid: UUID) -> None"));
    type.def(
        "_export",
        [](nb::handle self) {
            const auto& pool = *nb::inst_ptr<PyMemoryPool>(self);
            auto handle = [&] {
                const nb::gil_scoped_release unlocked;
                return pool.core.allocation_handle();
            }();
            return make<PyIPCAllocationHandle>(std::move(handle), self.attr("uuid"));
        },
        nb::sig("def _export(self) -> IPCAllocationHandle"));
    type.def_prop_ro(
        "allocation_handle",
        [](nb::handle self) {
            (void)nb::inst_ptr<PyMemoryPool>(self)->core.handle(); // a closed pool has none
            return sharing().attr("handle_of")(self);
        },
        nb::sig("def allocation_handle(self) -> IPCAllocationHandle"),
        R"(Return the handle that other processes import the pool with.

All of them share one file descriptor, which is closed with the last.

Raises
------
RuntimeError
    If the pool was not made with ``ipc_enabled``.)");
    type.def(
        "register",
        [](nb::handle self, nb::handle uuid) { return sharing().attr("register")(self, uuid); },
        "uuid"_a, nb::sig("def register(self, uuid: UUID) -> MemoryPool"),
        R"(Enter an imported pool under what the exporter knows it by.

Buffers that arrive from other processes find it there. Returns the pool that is entered: this
one, or one that was before.)");
    type.def_static(
        "from_registry", [](nb::handle uuid) { return sharing().attr("from_registry")(uuid); },
        "uuid"_a, nb::sig("def from_registry(uuid: UUID) -> MemoryPool"),
        R"(Return the pool that is entered under a UUID.

Raises
------
RuntimeError
    If there is none.)");
    type.def(
        "__reduce__", [](nb::handle self) { return sharing().attr("reduce_pool")(self); },
        nb::sig("def __reduce__(self) -> tuple"));
    type.def_prop_ro(
        "attributes",
        [](const PyMemoryPool& self) {
            (void)self.core.handle(); // a closed pool has none
            return make<PyPoolAttributes>(MemoryPool(self.core));
        },
        nb::sig("def attributes(self) -> MemoryPoolAttributes"),
        "Return what the pool holds and has held; each read asks the driver.");
    const auto trim = [](const PyMemoryPool& self, nb::handle keep_bytes) {
        const std::size_t bytes = size_argument(keep_bytes, "keep_bytes");
        const nb::gil_scoped_release unlocked;
        self.core.trim(bytes);
    };
    type.def("trim", trim, "keep_bytes"_a = 0,
             nb::sig("def trim(self, keep_bytes: int = 0) -> None"),
             "Give memory back to the system until at most `keep_bytes` are reserved.");
    type.def("trim_to", trim, "keep_bytes"_a.none(),
             nb::sig("def trim_to(self, keep_bytes: int) -> None"),
             "Give memory back to the system until at most `keep_bytes` are reserved.");
    type.def(
        "close",
        [](nb::handle self) {
            auto& pool = *nb::inst_ptr<PyMemoryPool>(self);
            if (pool.uuid.is_valid()) {
                sharing().attr("forget")(self, pool.uuid);
            }
            pool.core.drop();
        },
        R"(Give up this object's share of the pool. Calling it again does nothing.

Buffers that came from it stay valid and keep the pool alive.)");
}

void bind_device_pool(nb::module_& module) {
    nb::class_<PyDeviceMemoryResource, PyMemoryPool> type(
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
                how.ipc_enabled = truth(given, "ipc_enabled");
                how.max_size = size_argument(nb::object(given.attr("max_size")), "max_size");
            }
            auto pool = [&] {
                const nb::gil_scoped_release unlocked;
                return given.is_valid() ? DeviceMemoryResource(device, how)
                                        : DeviceMemoryResource(device);
            }();
            new (self) PyDeviceMemoryResource(std::move(pool));
            if (how.ipc_enabled) {
                sharing().attr("make_picklable")();
            }
        },
        "device_id"_a.none(), "options"_a = nb::none(),
        nb::sig("def __init__(self, device_id: Device | int, options: "
                "cuprum._options.DeviceMemoryResourceOptions | dict | None = None) -> None"));
    fast_method<allocate<PyDeviceMemoryResource, PyBuffer>>(
        type, "def allocate(self, size: int, *, stream: Stream) -> Buffer", ALLOCATE);
    type.def_static(
        "from_handle",
        [](nb::handle device_id, nb::handle handle, nb::handle owner) {
            const Device device = device_argument(device_id, "device_id");
            const auto pool = reinterpret_cast<CUmemoryPool>(
                static_cast<std::uintptr_t>(address_argument(handle, "handle")));
            return make<PyDeviceMemoryResource>(DeviceMemoryResource::from_handle(
                device, pool, owner.is_none() ? nullptr : keep_alive(owner)));
        },
        "device_id"_a.none(), "handle"_a.none(), "owner"_a = nb::none(),
        nb::sig("def from_handle(device_id: Device | int, handle: int, owner: object | None = None)"
                " -> DeviceMemoryResource"),
        "Wrap a pool made elsewhere, without owning it; `owner` is kept alive with it.");
    type.def_static(
        "from_allocation_handle",
        [](nb::handle device_id, nb::handle alloc_handle) {
            const nb::object device = device_object(device_argument(device_id, "device_id"));
            return sharing().attr("import_pool")(
                nb::handle(reinterpret_cast<PyObject*>(TYPE<PyDeviceMemoryResource>)), device,
                alloc_handle);
        },
        "device_id"_a.none(), "alloc_handle"_a.none(),
        nb::sig("def from_allocation_handle(device_id: Device | int, alloc_handle: int | "
                "IPCAllocationHandle) -> DeviceMemoryResource"),
        R"(Import a pool of another process, to map its buffers; it does not allocate.

Parameters
----------
device_id : Device or int
    The device whose memory it is.
alloc_handle : int or IPCAllocationHandle
    A file descriptor, which stays the caller's, or what ``allocation_handle`` gave. A pool that
    this process knows by its UUID is returned as it is.)");
    type.def_static(
        "_import",
        [](nb::handle device, const PyIPCAllocationHandle& handle) {
            const Device place = device_argument(device, "device");
            auto pool = [&] {
                const nb::gil_scoped_release unlocked;
                return DeviceMemoryResource::from_allocation_handle(place, handle.core);
            }();
            return make<PyDeviceMemoryResource>(std::move(pool));
        },
        "device"_a, "handle"_a,
        nb::sig("def _import(device: Device | None, handle: IPCAllocationHandle) -> "
                "DeviceMemoryResource"));
    type.def_prop_ro(
        "device",
        [](const PyDeviceMemoryResource& self) {
            return device_object(Device(self.core.device_id()));
        },
        nb::sig("def device(self) -> Device"), "Return the device whose memory this is.");
    type.def_prop_rw(
        "peer_accessible_by",
        [](nb::handle self) {
            (void)nb::inst_ptr<PyMemoryPool>(self)->core.handle(); // a closed pool has none
            return nb::module_::import_("cuprum._peer_access")
                .attr("PeerAccessibleBySetProxy")(self);
        },
        [](nb::handle self, nb::handle devices) {
            (void)nb::module_::import_("cuprum._peer_access").attr("replace_peers")(self, devices);
        },
        nb::arg().none(),
        nb::for_getter(nb::sig("def peer_accessible_by(self) -> "
                               "cuprum._peer_access.PeerAccessibleBySetProxy")),
        nb::for_setter(nb::sig("def peer_accessible_by(self, devices: "
                               "collections.abc.Iterable[Device | int], /) -> None")),
        "Return the other devices that may access the memory: a live set, also to be assigned to.");
    type.def(
        "_peers",
        [](const PyDeviceMemoryResource& self) {
            const auto peers = [&] {
                const nb::gil_scoped_release unlocked;
                return DeviceMemoryResource(self.core.state()).peer_accessible_by();
            }();
            nb::list ordinals;
            for (const Device& peer : peers) {
                ordinals.append(peer.ordinal());
            }
            return ordinals;
        },
        nb::sig("def _peers(self) -> list[int]"));
    type.def(
        "_update_peers",
        [](const PyDeviceMemoryResource& self, nb::handle give, nb::handle take) {
            const auto list = [](nb::handle values) {
                std::vector<Device> devices;
                for (nb::handle value : nb::borrow<nb::object>(values)) {
                    devices.push_back(device_argument(value, "device"));
                }
                return devices;
            };
            const auto added = list(give);
            const auto removed = list(take);
            const nb::gil_scoped_release unlocked;
            DeviceMemoryResource(self.core.state()).update_peer_access(added, removed);
        },
        "give"_a, "take"_a,
        nb::sig("def _update_peers(self, give: collections.abc.Iterable[Device | int], take: "
                "collections.abc.Iterable[Device | int]) -> None"));
    type.def(
        "_access_of",
        [](const PyDeviceMemoryResource& self, nb::handle device) {
            const Device asked = device_argument(device, "device");
            const nb::gil_scoped_release unlocked;
            return DeviceMemoryResource(self.core.state()).is_accessible_from(asked) ? "rw" : "";
        },
        "device"_a);
}

void bind_pinned_pool(nb::module_& module) {
    nb::class_<PyPinnedMemoryResource, PyMemoryPool> type(
        module, "PinnedMemoryResource", nb::is_weak_referenceable(),
        R"(Allocate from a stream-ordered pool of host memory that devices can reach.

Parameters
----------
options : PinnedMemoryResourceOptions or dict, optional
    A pool of its own is made as they say. Without them, the process's current pool of pinned memory
    is used; that needs a driver for CUDA 13.0.)");
    note_type<PyPinnedMemoryResource>(type);
    type.def(
        "__init__",
        [](PyPinnedMemoryResource* self, nb::handle options) {
            const nb::object given = options_argument(options, "PinnedMemoryResourceOptions");
            PinnedMemoryResourceOptions how;
            if (given.is_valid()) {
                how.ipc_enabled = truth(given, "ipc_enabled");
                how.max_size = size_argument(nb::object(given.attr("max_size")), "max_size");
                how.numa_id = optional_int_argument(nb::object(given.attr("numa_id")), "numa_id");
            }
            auto pool = [&] {
                const nb::gil_scoped_release unlocked;
                return given.is_valid() ? PinnedMemoryResource(how) : PinnedMemoryResource();
            }();
            new (self) PyPinnedMemoryResource(std::move(pool));
            if (how.ipc_enabled) {
                sharing().attr("make_picklable")();
            }
        },
        "options"_a = nb::none(),
        nb::sig("def __init__(self, options: cuprum._options.PinnedMemoryResourceOptions | dict | "
                "None = None) -> None"));
    fast_method<allocate<PyPinnedMemoryResource, PyBuffer>>(
        type, "def allocate(self, size: int, *, stream: Stream) -> Buffer", ALLOCATE);
    type.def_static(
        "from_allocation_handle",
        [](nb::handle alloc_handle) {
            return sharing().attr("import_pool")(
                nb::handle(reinterpret_cast<PyObject*>(TYPE<PyPinnedMemoryResource>)), nb::none(),
                alloc_handle);
        },
        "alloc_handle"_a.none(),
        nb::sig("def from_allocation_handle(alloc_handle: int | IPCAllocationHandle) -> "
                "PinnedMemoryResource"),
        "Import a pool of another process, to map its buffers; it does not allocate.");
    type.def_static(
        "_import",
        [](nb::handle, const PyIPCAllocationHandle& handle) {
            auto pool = [&] {
                const nb::gil_scoped_release unlocked;
                return PinnedMemoryResource::from_allocation_handle(handle.core);
            }();
            return make<PyPinnedMemoryResource>(std::move(pool));
        },
        "device"_a.none(), "handle"_a,
        nb::sig("def _import(device: Device | None, handle: IPCAllocationHandle) -> "
                "PinnedMemoryResource"));
    type.def_prop_ro(
        "numa_id",
        [](const PyPinnedMemoryResource& self) {
            return PinnedMemoryResource(self.core.state()).numa_id();
        },
        "Return the NUMA node of the memory, -1 if the system places it.");
}

void bind_managed_pool(nb::module_& module) {
    nb::class_<PyManagedMemoryResource, PyMemoryPool> type(
        module, "ManagedMemoryResource", nb::is_weak_referenceable(),
        R"(Allocate from a stream-ordered pool of memory that moves between host and devices by itself.

Needs a driver for CUDA 13.0.

Parameters
----------
options : ManagedMemoryResourceOptions or dict, optional
    A pool of its own is made as they say. Without them, the process's current pool of managed
    memory is used.)");
    note_type<PyManagedMemoryResource>(type);
    type.def(
        "__init__",
        [](PyManagedMemoryResource* self, nb::handle options) {
            const nb::object given = options_argument(options, "ManagedMemoryResourceOptions");
            ManagedMemoryResourceOptions how;
            if (given.is_valid()) {
                how.preferred_location = preferred_location(given);
            }
            auto pool = [&] {
                const nb::gil_scoped_release unlocked;
                return given.is_valid() ? ManagedMemoryResource(how) : ManagedMemoryResource();
            }();
            new (self) PyManagedMemoryResource(std::move(pool));
        },
        "options"_a = nb::none(),
        nb::sig("def __init__(self, options: cuprum._options.ManagedMemoryResourceOptions | dict | "
                "None = None) -> None"));
    fast_method<allocate<PyManagedMemoryResource, PyManagedBuffer>>(
        type, "def allocate(self, size: int, *, stream: Stream) -> ManagedBuffer", ALLOCATE);
    type.def_prop_ro(
        "preferred_location",
        [](const PyManagedMemoryResource& self) -> nb::object {
            const auto place = ManagedMemoryResource(self.core.state()).preferred_location();
            if (!place) {
                return nb::none();
            }
            const bool has_id = place->kind != LocationKind::Host;
            return nb::make_tuple(to_string(place->kind),
                                  has_id ? nb::object(nb::int_(place->id)) : nb::none());
        },
        nb::sig("def preferred_location(self) -> tuple[str, int | None] | None"),
        "Return where memory rests, as (kind, number), or None if no place is preferred.");
}

template <typename Pool, typename Made>
nb::object allocate(nb::handle self, nb::handle size, nb::handle stream) {
    const auto* resource = get_if<Pool>(self);
    if (resource == nullptr) {
        raise_error(PyExc_TypeError, type_label(self) + " is not made yet: call its __init__");
    }
    const std::size_t bytes = size_argument(size, "size");
    try {
        return allocate_in<Made>(resource->core, nb::borrow(self), bytes, stream);
    } catch (const std::invalid_argument&) {
        if (resource->core.is_mapped()) {
            raise_error(PyExc_TypeError,
                        "Cannot allocate from a mapped IPC-enabled memory resource");
        }
        throw;
    }
}

/// Reads `preferred_location` and `preferred_location_type`, which explain each other.
std::optional<Location> preferred_location(nb::handle options) {
    const nb::object resolved =
        nb::module_::import_("cuprum._memory_options").attr("resolve_preferred_location")(options);
    if (resolved.is_none()) {
        return std::nullopt;
    }
    const auto kind = nb::cast<std::string>(resolved[0]);
    const int number =
        optional_int_argument(nb::object(resolved[1]), "preferred_location").value_or(0);
    if (kind == "device") {
        return Location::device(Device(number));
    }
    return kind == "host" ? Location::host() : Location::host_numa(number);
}

bool truth(nb::handle object, const char* attribute) {
    const int answer = PyObject_IsTrue(nb::object(object.attr(attribute)).ptr());
    if (answer < 0) {
        throw nb::python_error();
    }
    return answer != 0;
}

nb::object sharing() {
    return nb::module_::import_("cuprum._ipc_memory");
}

} // namespace

} // namespace cuprum::python
