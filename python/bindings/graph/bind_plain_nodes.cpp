// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/bind_graph_appending.hpp"
#include "graph/bind_graph_node.hpp"
#include "graph/host_callback.hpp"
#include "graph/kernel_update.hpp"
#include "launch/kernel_objects.hpp"
#include "launch/launch_config.hpp"
#include "stream/stream_objects.hpp"
#include "support/class.hpp"
#include "support/compatibility.hpp"

#include <cstring>

namespace cuprum::python {

namespace {

using PyKernelNode = PyNodeOf<KernelNode>;

[[nodiscard]] std::string extents_text(const Dim3& dimensions) {
    return "(" + std::to_string(dimensions.x) + ", " + std::to_string(dimensions.y) + ", " +
           std::to_string(dimensions.z) + ")";
}

[[nodiscard]] nb::object extents(const Dim3& dimensions) {
    return nb::make_tuple(dimensions.x, dimensions.y, dimensions.z);
}

void bind_kernel_node_attributes(Class<PyKernelNode, PyGraphNode>& type) {
    type.method("argument_bytes", [](const PyKernelNode& self, std::size_t place) {
        const auto bytes = in_graph([&] { return self.as<KernelNode>().argument_bytes(place); });
        return nb::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    });
    type.method("attribute", [](const PyKernelNode& self, int id) {
        const RawLaunchAttribute found =
            in_graph_unlocked([&] { return self.as<KernelNode>().attribute(id); });
        return nb::bytes(reinterpret_cast<const char*>(found.value.data()), found.value.size());
    });
    type.method("set_attribute", [](const PyKernelNode& self, int id, const nb::bytes& value) {
        RawLaunchAttribute attribute{.id = id};
        if (value.size() > attribute.value.size()) {
            raise_error(PyExc_ValueError, "value has " + std::to_string(value.size()) +
                                              " bytes, expected at most " +
                                              std::to_string(attribute.value.size()));
        }
        std::memcpy(attribute.value.data(), value.c_str(), value.size());
        in_graph_unlocked([&] { self.as<KernelNode>().set_attribute(attribute); });
    });
    type.method("copy_attributes_from", [](const PyKernelNode& self, const PyKernelNode& other) {
        in_graph_unlocked(
            [&] { self.as<KernelNode>().copy_attributes_from(other.as<KernelNode>()); });
    });
}

void bind_kernel_node(nb::module_& module) {
    auto type = node_class<PyKernelNode>(module, "KernelNode");
    type.property("grid", [](const PyKernelNode& self) {
        return extents(in_graph([&] { return self.as<KernelNode>().grid(); }));
    });
    type.property("block", [](const PyKernelNode& self) {
        return extents(in_graph([&] { return self.as<KernelNode>().block(); }));
    });
    type.property("shmem_size", [](const PyKernelNode& self) {
        return in_graph([&] { return self.as<KernelNode>().shmem_size(); });
    });
    type.property("kernel", [](const PyKernelNode& self) {
        return make<PyKernel>(in_graph([&] { return self.as<KernelNode>().kernel(); }));
    });
    type.property("config", [](const PyKernelNode& self) {
        return config_object(in_graph_unlocked([&] { return self.as<KernelNode>().config(); }));
    });
    add_kernel_update(type);
    bind_kernel_node_attributes(type);
    type.method("__repr__", [](const PyKernelNode& self) {
        return represent("KernelNode", self, [&] {
            const KernelNode node = self.as<KernelNode>();
            const Kernel kernel = node.kernel();
            const std::string handle =
                " kernel=" + hex_text(reinterpret_cast<std::uintptr_t>(kernel.handle()));
            return compatibility::keeps_reprs_short() ? handle
                                                      : handle + " name='" + kernel.name() +
                                                            "' grid=" + extents_text(node.grid()) +
                                                            " block=" + extents_text(node.block());
        });
    });
}

void bind_callback_node(nb::module_& module) {
    using Node = PyNodeOf<HostCallbackNode>;
    auto type = node_class<Node>(module, "HostCallbackNode");
    type.property("callback", [](const Node& self) -> nb::object {
        const auto called = in_graph([&] { return self.as<HostCallbackNode>().parameters(); });
        return python_callable(called.function, called.user_data);
    });
    type.method("update", [](const Node& self, nb::handle function, nb::handle user_data) {
        const HostFunctionParameters called = callback_argument(function, user_data);
        in_graph_unlocked([&] { self.as<HostCallbackNode>().update(called); });
    });
    type.method("__repr__", [](const Node& self) {
        return represent("HostCallbackNode", self, [&] {
            const HostFunctionParameters called = self.as<HostCallbackNode>().parameters();
            const nb::object callable = python_callable(called.function, called.user_data);
            if (callable.is_none()) {
                return " cfunc=" + hex_text(c_function(called.function, called.user_data));
            }
            const nb::object name = nb::getattr(callable, "__name__", nb::str("?"));
            return " callback=" + nb::cast<std::string>(nb::str(name));
        });
    });
}

template <typename Kind>
void bind_event_node(nb::module_& module, const char* name) {
    using Node = PyNodeOf<Kind>;
    auto type = node_class<Node>(module, name);
    type.property("event", [](const Node& self) {
        return make<PyEvent>(in_graph([&] { return self.template as<Kind>().event(); }));
    });
    type.method("update", [](const Node& self, nb::handle event) {
        const PyEvent& replacement = event_argument(event);
        in_graph_unlocked([&] { self.template as<Kind>().update(replacement); });
    });
    type.method("__repr__", [](nb::handle object) {
        const Node& self = held_by<Node>(object);
        return represent(type_label(object).c_str(), self, [&] {
            const Event event = self.template as<Kind>().event();
            return " event=" + hex_text(reinterpret_cast<std::uintptr_t>(event.handle()));
        });
    });
}

} // namespace

void bind_plain_nodes(nb::module_& module) {
    node_class<PyNodeOf<EmptyNode>>(module, "EmptyNode")
        .method("__repr__", [](const PyNodeOf<EmptyNode>& self) {
            return represent("EmptyNode", self, [] { return std::string(); });
        });
    bind_kernel_node(module);
    bind_callback_node(module);
    bind_event_node<EventRecordNode>(module, "EventRecordNode");
    bind_event_node<EventWaitNode>(module, "EventWaitNode");
}

} // namespace cuprum::python
