// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What a device offers beside its properties and the things made on it: contexts, limits, peers.

#include "device/bind_device_management.hpp"

#include "device/context_flags.hpp"
#include "device/device_objects.hpp"
#include "graph/graph_objects.hpp"
#include "support/choices.hpp"
#include "support/class.hpp"
#include "support/compatibility.hpp"
#include "texture/bind_texture_object.hpp"

#include <cuprum/context.hpp>
#include <cuprum/context_settings.hpp>
#include <cuprum/device_resources.hpp>
#include <cuprum/graph/graph_builder.hpp>
#include <cuprum/system/device.hpp>

#include <cstdio>

namespace cuprum::python {

namespace {

void add_contexts(Class<PyDevice>& type) {
    type.method("create_context", [](const PyDevice& self, nb::handle options) {
        const ContextOptions how = context_options(options);
        auto context = without_gil([&] { return self.core.create_context(how); });
        return context_object(std::move(context));
    });
    type.method("as_current", [](const PyDevice& self) {
        auto context = without_gil([&] { return self.core.primary_context(); });
        return current_context_guard(context_object(std::move(context)));
    });
    type.property("is_primary_context_active", [](const PyDevice& self) {
        const nb::gil_scoped_release unlocked;
        return self.core.primary_context_state().is_active;
    });
    type.property("primary_context_flags", [](const PyDevice& self) {
        const PrimaryContextState state =
            without_gil([&] { return self.core.primary_context_state(); });
        return context_flags_tuple(state.flags);
    });
    type.method("set_primary_context_flags", [](const PyDevice& self, const nb::kwargs& flags) {
        const ContextFlags wanted = context_flags(flags);
        const nb::gil_scoped_release unlocked;
        self.core.set_primary_context_flags(wanted);
    });
    type.method(
        "reset_primary_context", [](const PyDevice& self) { self.core.reset_primary_context(); },
        RELEASES_GIL);
}

void add_limits(Class<PyDevice>& type) {
    type.method("get_limit", [](const PyDevice& self, nb::handle limit) {
        const Limit which = LIMITS.parse(limit, "limit");
        const nb::gil_scoped_release unlocked;
        return self.core.limit(which);
    });
    type.method("set_limit", [](const PyDevice& self, nb::handle limit, std::size_t wanted) {
        const Limit which = LIMITS.parse(limit, "limit");
        const nb::gil_scoped_release unlocked;
        self.core.set_limit(which, wanted);
    });
}

void add_peers(Class<PyDevice>& type) {
    type.method("enable_peer_access", [](const PyDevice& self, const Device& other) {
        const nb::gil_scoped_release unlocked;
        self.core.enable_peer_access(other);
    });
    type.method("disable_peer_access", [](const PyDevice& self, const Device& other) {
        const nb::gil_scoped_release unlocked;
        self.core.disable_peer_access(other);
    });
    type.method("get_p2p_attribute",
                [](const PyDevice& self, nb::handle attribute, const Device& other) {
                    const P2PAttribute which = P2P_ATTRIBUTES.parse(attribute, "attribute");
                    const nb::gil_scoped_release unlocked;
                    return self.core.p2p_attribute(which, other);
                });
}

[[nodiscard]] std::string describe(const PyDevice& self) {
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

void add_device_management(Class<PyDevice>& type) {
    type.method<describe>("__str__");
    type.property("total_memory", [](const PyDevice& self) {
        const nb::gil_scoped_release unlocked;
        return self.core.total_memory();
    });
    type.property("resources", [](const PyDevice& self) {
        return make<DeviceResources>(self.core.resources());
    });
    add_contexts(type);
    add_limits(type);
    add_peers(type);
    type.method("to_system_device", [](const PyDevice& self) {
        const auto device = without_gil([&] { return self.core.to_system_device(); });
        return make<system::Device>(device);
    });
    type.method("create_graph_builder", [](const PyDevice& self) {
        check_set_current(self);
        auto builder = without_gil([&] { return self.core.create_graph_builder(); });
        return builder_object(std::move(builder));
    });
    add_texture_making(type);
}

} // namespace cuprum::python
