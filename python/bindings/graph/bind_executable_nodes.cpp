// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/bind_executable_nodes.hpp"

#include "graph/bind_graph_appending.hpp"
#include "graph/host_callback.hpp"
#include "graph/kernel_update.hpp"
#include "memory/buffer_parts.hpp"
#include "support/class.hpp"

#include <cuprum/detail/unexposed_handle.hpp>

#include <variant>

namespace cuprum::python {

namespace {

/// Makes calls of the class fail.
template <typename Type>
void refuse_construction(Type& type) {
    type.refuse_construction("executable nodes cannot be instantiated directly. Use "
                             "graph[node]");
}

template <typename Kind>
[[nodiscard]] ExecutableClass<Kind> executable_class(nb::module_& module, const char* name) {
    using Held = PyExecutable<Kind>;
    ExecutableClass<Kind> type(module, name, nb::is_weak_referenceable());
    refuse_construction(type);
    type.property("node", [](const Held& self) { return node_object(self.core.node()); });
    type.method("__repr__", [](nb::handle self_object) {
        const Held& self = held_by<Held>(self_object);
        return "<" + type_label(self_object) + " node=" +
               hex_text(
                   reinterpret_cast<std::uintptr_t>(detail::unexposed_handle(self.core.node()))) +
               ">";
    });
    return type;
}

template <typename Kind>
void add_switch(ExecutableClass<Kind>& type) {
    using Held = PyExecutable<Kind>;
    type.property("is_enabled", [](const Held& self) {
        return in_graph_unlocked([&] { return self.core.is_enabled(); });
    });
    type.method("enable", [](const Held& self) { in_graph_unlocked([&] { self.core.enable(); }); });
    type.method("disable",
                [](const Held& self) { in_graph_unlocked([&] { self.core.disable(); }); });
}

void bind_kernel_node(nb::module_& module) {
    auto type = executable_class<ExecutableKernelNode>(module, "ExecutableKernelNode");
    add_kernel_update(type);
    add_switch(type);
}

void bind_memcpy_node(nb::module_& module) {
    using Held = PyExecutable<ExecutableMemcpyNode>;
    auto type = executable_class<ExecutableMemcpyNode>(module, "ExecutableMemcpyNode");
    type.method("update", [](const Held& self, nb::handle dst, nb::handle src, std::size_t bytes) {
        const NodeMemory to = memory_argument(dst, nb::none(), "dst", true);
        const NodeMemory from = memory_argument(src, nb::none(), "src", false);
        in_graph_unlocked([&] { self.core.update(to, from, bytes); });
    });
    add_switch(type);
}

void bind_memset_node(nb::module_& module) {
    using Held = PyExecutable<ExecutableMemsetNode>;
    auto type = executable_class<ExecutableMemsetNode>(module, "ExecutableMemsetNode");
    type.method("update", [](const Held& self, nb::handle dst, nb::handle value, nb::handle width,
                             nb::handle height, nb::handle pitch) {
        MemsetParameters how{.dst = memory_argument(dst, nb::none(), "dst", true),
                             .width = size_argument(width, "width"),
                             .height = size_argument(height, "height"),
                             .pitch = size_argument(pitch, "pitch")};
        std::visit(
            [&](auto pattern) {
                how.value = pattern;
                how.element_size = sizeof(pattern);
            },
            pattern_argument(value));
        in_graph_unlocked([&] { self.core.update(how); });
    });
    add_switch(type);
}

void bind_child_graph_node(nb::module_& module) {
    using Held = PyExecutable<ExecutableChildGraphNode>;
    executable_class<ExecutableChildGraphNode>(module, "ExecutableChildGraphNode")
        .method("update", [](const Held& self, nb::handle child) {
            const PyGraphDefinition& source = child_argument(child);
            in_graph_unlocked([&] { self.core.update(source); });
        });
}

template <typename Kind>
void bind_event_node(nb::module_& module, const char* name) {
    executable_class<Kind>(module, name)
        .method("update", [](const PyExecutable<Kind>& self, nb::handle event) {
            const PyEvent& replacement = event_argument(event);
            in_graph_unlocked([&] { self.core.update(replacement); });
        });
}

void bind_callback_node(nb::module_& module) {
    using Held = PyExecutable<ExecutableHostCallbackNode>;
    executable_class<ExecutableHostCallbackNode>(module, "ExecutableHostCallbackNode")
        .method("update", [](const Held& self, nb::handle function, nb::handle user_data) {
            const HostFunctionParameters called = callback_argument(function, user_data);
            in_graph_unlocked([&] { self.core.update(called); });
        });
}

} // namespace

void bind_executable_nodes(nb::module_& module) {
    Class<AnyExecutable> base(module, "ExecutableGraphNode", nb::is_weak_referenceable());
    refuse_construction(base);
    bind_kernel_node(module);
    bind_memcpy_node(module);
    bind_memset_node(module);
    bind_child_graph_node(module);
    bind_event_node<ExecutableEventRecordNode>(module, "ExecutableEventRecordNode");
    bind_event_node<ExecutableEventWaitNode>(module, "ExecutableEventWaitNode");
    bind_callback_node(module);
}

nb::object executable_node(const PyGraph& graph, nb::handle node) {
    const PyGraphNode& named = node_argument(node, "node");
    const auto check = [&] {
        if (graph.is_closed()) {
            raise_named("GraphClosedError", "executable graph has been closed");
        }
        if (!named.is_valid()) {
            raise_named("GraphClosedError",
                        "source graph node is no longer valid: it has been destroyed");
        }
    };
    // Makes the object if the node is of this kind.
    const auto view = [&]<typename Kind>(std::type_identity<Kind>) -> nb::object {
        if (get_if<PyNodeOf<Kind>>(node) == nullptr) {
            return {};
        }
        check();
        return in_graph([&] {
            auto found = graph[named.template as<Kind>()];
            return make<PyExecutable<decltype(found)>>(std::move(found));
        });
    };
    nb::object made;
    const auto is_any_of = [&]<typename... Kinds>(std::type_identity<Kinds>... kinds) {
        return ((made = view(kinds), made.is_valid()) || ...);
    };
    if (is_any_of(std::type_identity<KernelNode>(), std::type_identity<MemcpyNode>(),
                  std::type_identity<MemsetNode>(), std::type_identity<ChildGraphNode>(),
                  std::type_identity<EventRecordNode>(), std::type_identity<EventWaitNode>(),
                  std::type_identity<HostCallbackNode>())) {
        return made;
    }
    raise_error(PyExc_TypeError, type_label(node) + " does not support executable updates");
}

} // namespace cuprum::python
