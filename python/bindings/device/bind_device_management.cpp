// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What a device offers beside its properties and the things made on it: contexts, limits, peers.

#include "device/bind_device_management.hpp"

#include "device/context_flags.hpp"
#include "device/device_objects.hpp"
#include "graph/graph_objects.hpp"
#include "support/choices.hpp"
#include "support/compatibility.hpp"
#include "support/python_objects.hpp"
#include "texture/bind_texture_object.hpp"

#include <cuprum/context.hpp>
#include <cuprum/context_settings.hpp>
#include <cuprum/device.hpp>
#include <cuprum/device_resources.hpp>
#include <cuprum/graph/graph_builder.hpp>
#include <cuprum/system/device.hpp>

#include <nanobind/stl/string.h>

#include <cstdio>
#include <string>

namespace cuprum::python {

using namespace nb::literals;

namespace {

void add_contexts(nb::class_<PyDevice>& type);
void add_limits(nb::class_<PyDevice>& type);
void add_peers(nb::class_<PyDevice>& type);
[[nodiscard]] std::string describe(const PyDevice& self);

} // namespace

void add_device_management(nb::class_<PyDevice>& type) {
    type.def("__str__", describe);
    type.def_prop_ro(
        "total_memory",
        [](const PyDevice& self) {
            const nb::gil_scoped_release unlocked;
            return self.core.total_memory();
        },
        "Return the size of the device's memory in bytes. Needs no context.");
    type.def_prop_ro(
        "resources",
        [](const PyDevice& self) { return make<DeviceResources>(self.core.resources()); },
        nb::sig("def resources(self) -> DeviceResources"),
        "Return the resources of the whole device, which green contexts divide.");
    add_contexts(type);
    add_limits(type);
    add_peers(type);
    type.def(
        "to_system_device",
        [](const PyDevice& self) {
            const auto device = [&] {
                const nb::gil_scoped_release unlocked;
                return self.core.to_system_device();
            }();
            return make<system::Device>(device);
        },
        nb::sig("def to_system_device(self) -> SystemDevice"),
        R"(Return the same device as the management library (NVML) knows it.

Returns
-------
SystemDevice
    The device of `cuprum.system`.

Raises
------
cuprum.system.LibraryNotFoundError
    If there is no NVML.
cuprum.system.NotFoundError
    If NVML does not see the device.)");
    type.def(
        "create_graph_builder",
        [](const PyDevice& self) {
            check_set_current(self);
            auto builder = [&] {
                const nb::gil_scoped_release unlocked;
                return self.core.create_graph_builder();
            }();
            return builder_object(std::move(builder));
        },
        nb::sig("def create_graph_builder(self) -> GraphBuilder"),
        R"(Create a builder of graphs that captures a new stream.

Returns
-------
GraphBuilder
    The builder. Call ``begin_building`` to start the capture.

Raises
------
CUDAError
    If the driver cannot create the stream.)");
    add_texture_making(type);
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

void add_contexts(nb::class_<PyDevice>& type) {
    type.def(
        "create_context",
        [](const PyDevice& self, nb::handle options) {
            const ContextOptions how = context_options(options);
            auto context = [&] {
                const nb::gil_scoped_release unlocked;
                return self.core.create_context(how);
            }();
            return context_object(std::move(context));
        },
        "options"_a = nb::none(),
        nb::sig("def create_context(self, options: cuprum._options.ContextOptions | dict | None = "
                "None) -> Context"),
        R"(Create a green context, which has its own part of the device.

It does not become current. ``Context.create`` makes one that is not green.

Parameters
----------
options : ContextOptions or dict
    What it is made of.

Returns
-------
Context
    The context. It is not made current.

Raises
------
ValueError
    If there are no multiprocessors, or if they belong to another device or a dry run.
NotSupportedError
    If the driver is older than CUDA 12.4.)");
    type.def(
        "as_current",
        [](const PyDevice& self) {
            auto context = [&] {
                const nb::gil_scoped_release unlocked;
                return self.core.primary_context();
            }();
            return current_context_guard(context_object(std::move(context)));
        },
        nb::sig("def as_current(self) -> CurrentContext"),
        R"(Make this device's primary context current for a ``with`` block.

The previous context is restored at the end.

Returns
-------
CurrentContext
    A guard for a ``with`` statement. It restores the context that was current before.

Raises
------
CUDAError
    If the primary context cannot be created.)");
    type.def_prop_ro(
        "is_primary_context_active",
        [](const PyDevice& self) {
            const nb::gil_scoped_release unlocked;
            return self.core.primary_context_state().is_active;
        },
        "Return whether the primary context exists.");
    type.def_prop_ro(
        "primary_context_flags",
        [](const PyDevice& self) {
            const PrimaryContextState state = [&] {
                const nb::gil_scoped_release unlocked;
                return self.core.primary_context_state();
            }();
            return context_flags_tuple(state.flags);
        },
        nb::sig("def primary_context_flags(self) -> cuprum._types.ContextFlags"),
        "Return the flags that the primary context has, or would have.");
    type.def(
        "set_primary_context_flags",
        [](const PyDevice& self, const nb::kwargs& flags) {
            const ContextFlags wanted = context_flags(flags);
            const nb::gil_scoped_release unlocked;
            self.core.set_primary_context_flags(wanted);
        },
        nb::sig("def set_primary_context_flags(self, **flags: object) -> None"),
        R"(Change the flags of the primary context; they are those of ``Context.set_flags``.

Raises
------
TypeError
    If there is no such flag.
ValueError
    If a flag has no such value.
CUDAError
    If the driver refuses the flags.)");
    type.def(
        "reset_primary_context", [](const PyDevice& self) { self.core.reset_primary_context(); },
        nb::call_guard<nb::gil_scoped_release>(),
        R"(Destroy everything in the primary context, of all libraries in the process.

The next use creates the context again. Old streams, events and context memory raise
``ClosedError``.

Raises
------
CUDAError
    If the driver refuses it.)");
}

void add_limits(nb::class_<PyDevice>& type) {
    type.def(
        "get_limit",
        [](const PyDevice& self, nb::handle limit) {
            const Limit which = LIMITS.parse(limit, "limit");
            const nb::gil_scoped_release unlocked;
            return self.core.limit(which);
        },
        "limit"_a, nb::sig("def get_limit(self, limit: cuprum.typing.LimitType | str) -> int"),
        R"(Return a limit of this device's context.

Parameters
----------
limit : LimitType or str
    Such as ``"stack_size"``, ``"printf_fifo_size"`` or ``"malloc_heap_size"``.

Returns
-------
int
    The current value.

Raises
------
ValueError
    If there is no such limit.)");
    type.def(
        "set_limit",
        [](const PyDevice& self, nb::handle limit, nb::handle value) {
            const Limit which = LIMITS.parse(limit, "limit");
            const std::size_t wanted = size_argument(value, "value");
            const nb::gil_scoped_release unlocked;
            self.core.set_limit(which, wanted);
        },
        "limit"_a, "value"_a,
        nb::sig("def set_limit(self, limit: cuprum.typing.LimitType | str, value: int) -> None"),
        R"(Change a limit of this device's context; the driver may round the value up.

Parameters
----------
limit : LimitType or str
    Such as ``"stack_size"``, ``"printf_fifo_size"`` or ``"malloc_heap_size"``.
value : int
    The value to ask for, usually in bytes.

Raises
------
ValueError
    If there is no such limit, or the value is negative.)");
}

void add_peers(nb::class_<PyDevice>& type) {
    type.def(
        "enable_peer_access",
        [](const PyDevice& self, nb::handle peer) {
            const Device other = device_argument(peer, "peer");
            const nb::gil_scoped_release unlocked;
            self.core.enable_peer_access(other);
        },
        "peer"_a.none(), nb::sig("def enable_peer_access(self, peer: Device | int) -> None"),
        R"(Let kernels on this device access another device's memory, except memory of pools.

Pools have ``peer_accessible_by``. Harmless if the access is enabled already.

Parameters
----------
peer : Device or int
    The device whose memory kernels on this one access, or its ordinal.

Raises
------
ValueError
    If there is no such device, or it is this one.)");
    type.def(
        "disable_peer_access",
        [](const PyDevice& self, nb::handle peer) {
            const Device other = device_argument(peer, "peer");
            const nb::gil_scoped_release unlocked;
            self.core.disable_peer_access(other);
        },
        "peer"_a.none(), nb::sig("def disable_peer_access(self, peer: Device | int) -> None"),
        R"(Disable the access. Harmless if it was not enabled.

Parameters
----------
peer : Device or int
    The device whose memory kernels on this one no longer access, or its ordinal.

Raises
------
ValueError
    If there is no such device, or it is this one.)");
    type.def(
        "get_p2p_attribute",
        [](const PyDevice& self, nb::handle attribute, nb::handle peer) {
            const P2PAttribute which = P2P_ATTRIBUTES.parse(attribute, "attribute");
            const Device other = device_argument(peer, "peer");
            const nb::gil_scoped_release unlocked;
            return self.core.p2p_attribute(which, other);
        },
        "attribute"_a, "peer"_a.none(),
        nb::sig("def get_p2p_attribute(self, attribute: cuprum.typing.P2PAttributeType | str, "
                "peer: Device | int) -> int"),
        R"(Return a property of the link to another device.

Parameters
----------
attribute : P2PAttributeType or str
    ``"performance_rank"``, ``"access_supported"``, ``"native_atomic_supported"`` or
    ``"cuda_array_access_supported"``.
peer : Device or int
    The other device.

Returns
-------
int
    The value of the attribute.

Raises
------
ValueError
    If there is no such attribute or no such device.)");
}

std::string describe(const PyDevice& self) {
    constexpr double gibibyte = 1024.0 * 1024.0 * 1024.0;
    const ComputeCapability capability = self.core.compute_capability();
    char memory[32];
    std::snprintf(memory, sizeof(memory), "%.1f GiB",
                  static_cast<double>(self.core.total_memory()) / gibibyte);
    return "<Device " + std::to_string(self.core.ordinal()) + " (" + self.core.name() +
           "), compute capability " + std::to_string(capability.major) + "." +
           std::to_string(capability.minor) + ", " +
           std::to_string(self.core.properties().multiprocessor_count()) + " multiprocessors, " +
           memory + (self.core.is_emulated() ? ", emulated>" : ">");
}

} // namespace

} // namespace cuprum::python
