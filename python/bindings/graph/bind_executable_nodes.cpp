// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/bind_executable_nodes.hpp"

#include "graph/bind_graph_appending.hpp"
#include "graph/host_callback.hpp"
#include "graph/kernel_update.hpp"
#include "memory/buffer_parts.hpp"
#include "support/arguments.hpp"

#include <cuprum/detail/unexposed_handle.hpp>

#include <nanobind/stl/string.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace cuprum::python {

using namespace nb::literals;

namespace {

template <typename Kind>
[[nodiscard]] ExecutableClass<Kind> executable_class(nb::module_& module, const char* name,
                                                     const char* documentation);

/// Makes calls of the class fail.
template <typename Type>
void refuse_construction(Type& type) {
    type.def(
        "__init__",
        [](nb::handle, const nb::args&, const nb::kwargs&) {
            raise_error(PyExc_RuntimeError, "executable nodes cannot be instantiated directly. Use "
                                            "graph[node]");
        },
        nb::sig("def __init__(self, *args: object, **kwargs: object) -> None"));
}

template <typename Kind>
void add_switch(ExecutableClass<Kind>& type);
template <typename Kind>
void bind_event_node(nb::module_& module, const char* name, const char* documentation);
void bind_kernel_node(nb::module_& module);
void bind_memcpy_node(nb::module_& module);
void bind_memset_node(nb::module_& module);
void bind_child_graph_node(nb::module_& module);
void bind_callback_node(nb::module_& module);

} // namespace

void bind_executable_nodes(nb::module_& module) {
    nb::class_<AnyExecutable> base(
        module, "ExecutableGraphNode", nb::is_weak_referenceable(),
        R"(A node of an executable graph. Changes apply to later launches.

``graph[node]`` makes it, where `node` is one of the graph's definition.

Examples
--------
>>> definition = cuprum.graph.GraphDefinition()
>>> node = definition.memset(buffer, 0, 64)
>>> graph = definition.instantiate()
>>> graph[node].node == node
True)");
    note_type<AnyExecutable>(base);
    refuse_construction(base);
    bind_kernel_node(module);
    bind_memcpy_node(module);
    bind_memset_node(module);
    bind_child_graph_node(module);
    bind_event_node<ExecutableEventRecordNode>(module, "ExecutableEventRecordNode",
                                               R"(An event record node of an executable graph.

Examples
--------
>>> definition = cuprum.graph.GraphDefinition()
>>> node = definition.record(device.create_event())
>>> graph = definition.instantiate()
>>> graph[node].update(device.create_event()))");
    bind_event_node<ExecutableEventWaitNode>(module, "ExecutableEventWaitNode",
                                             R"(An event wait node of an executable graph.

Examples
--------
>>> definition = cuprum.graph.GraphDefinition()
>>> node = definition.wait(device.create_event())
>>> graph = definition.instantiate()
>>> graph[node].update(device.create_event()))");
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

// ---- helpers -----------------------------------------------------------------------------------

namespace {

template <typename Kind>
ExecutableClass<Kind> executable_class(nb::module_& module, const char* name,
                                       const char* documentation) {
    using Held = PyExecutable<Kind>;
    ExecutableClass<Kind> type(module, name, nb::is_weak_referenceable(), documentation);
    note_type<Held>(type);
    refuse_construction(type);
    type.def_prop_ro(
        "node", [](const Held& self) { return node_object(self.core.node()); },
        nb::sig("def node(self) -> GraphNode"), "Return the node of the definition.");
    type.def("__repr__", [name](const Held& self) {
        return std::string("<") + name + " node=" +
               hex_text(
                   reinterpret_cast<std::uintptr_t>(detail::unexposed_handle(self.core.node()))) +
               ">";
    });
    return type;
}

template <typename Kind>
void add_switch(ExecutableClass<Kind>& type) {
    using Held = PyExecutable<Kind>;
    type.def_prop_ro(
        "is_enabled",
        [](const Held& self) { return in_graph_unlocked([&] { return self.core.is_enabled(); }); },
        "Return whether the node runs.");
    type.def(
        "enable", [](const Held& self) { in_graph_unlocked([&] { self.core.enable(); }); },
        R"(Let the node run in later launches.

Raises
------
CUDAError
    If the driver refuses it.)");
    type.def(
        "disable", [](const Held& self) { in_graph_unlocked([&] { self.core.disable(); }); },
        R"(Skip the node in later launches.

Raises
------
CUDAError
    If the driver refuses it.)");
}

void bind_kernel_node(nb::module_& module) {
    auto type = executable_class<ExecutableKernelNode>(module, "ExecutableKernelNode",
                                                       R"(A kernel node of an executable graph.

Examples
--------
>>> definition = cuprum.graph.GraphDefinition()
>>> node = definition.launch(cuprum.LaunchConfig(grid=1, block=32), kernel, buffer)
>>> graph = definition.instantiate()
>>> graph[node].disable()
>>> graph[node].is_enabled
False)");
    add_kernel_update(type);
    add_switch(type);
}

void bind_memcpy_node(nb::module_& module) {
    using Held = PyExecutable<ExecutableMemcpyNode>;
    auto type = executable_class<ExecutableMemcpyNode>(module, "ExecutableMemcpyNode",
                                                       R"(A copy node of an executable graph.

Examples
--------
>>> definition = cuprum.graph.GraphDefinition()
>>> other = device.allocate(1024, stream=stream)
>>> node = definition.memcpy(other, buffer, 1024)
>>> graph = definition.instantiate()
>>> graph[node].update(dst=other, src=buffer, size=512))");
    type.def(
        "update",
        [](const Held& self, nb::handle dst, nb::handle src, nb::handle size) {
            const NodeMemory to = memory_argument(dst, nb::none(), "dst", true);
            const NodeMemory from = memory_argument(src, nb::none(), "src", false);
            const std::size_t bytes = size_argument(size, "size");
            in_graph_unlocked([&] { self.core.update(to, from, bytes); });
        },
        nb::kw_only(), "dst"_a.none(), "src"_a.none(), "size"_a.none(),
        nb::sig("def update(self, *, dst: Buffer | AllocNode | int, src: Buffer | AllocNode | int, "
                "size: int) -> None"),
        R"(Replace the copy for later launches; see ``GraphNode.memcpy``.

Parameters
----------
dst : Buffer, AllocNode or int
    Where to write.
src : Buffer, AllocNode or int
    Where to read.
size : int
    The number of bytes.

Raises
------
TypeError
    If an argument has another type.
GraphError
    If the copy does not fit into a buffer.
GraphClosedError
    If a buffer is closed.
CUDAError
    If the driver refuses the change, as for memory of another kind or device.)");
    add_switch(type);
}

void bind_memset_node(nb::module_& module) {
    using Held = PyExecutable<ExecutableMemsetNode>;
    auto type = executable_class<ExecutableMemsetNode>(module, "ExecutableMemsetNode",
                                                       R"(A fill node of an executable graph.

Examples
--------
>>> definition = cuprum.graph.GraphDefinition()
>>> node = definition.memset(buffer, 0, 64)
>>> graph = definition.instantiate()
>>> graph[node].update(dst=buffer, value=1, width=64))");
    type.def(
        "update",
        [](const Held& self, nb::handle dst, nb::handle value, nb::handle width, nb::handle height,
           nb::handle pitch) {
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
        },
        nb::kw_only(), "dst"_a.none(), "value"_a.none(), "width"_a.none(), "height"_a.none() = 1,
        "pitch"_a.none() = 0,
        nb::sig("def update(self, *, dst: Buffer | AllocNode | int, value: object, width: int, "
                "height: int = 1, pitch: int = 0) -> None"),
        R"(Replace the fill for later launches; see ``GraphNode.memset``.

Parameters
----------
dst : Buffer, AllocNode or int
    Where to write.
value : object
    An int from 0 to 255, or the 1, 2 or 4 bytes of one element.
width : int
    Elements in a row.
height : int, optional
    The number of rows.
pitch : int, optional
    Bytes from row to row; 0 means without gaps.

Raises
------
TypeError
    If an argument has another type.
OverflowError
    If `value` is an int that does not fit a byte.
ValueError
    If `value` is of 3, or of more than 4 bytes.
GraphError
    If the fill does not fit into the buffer.
GraphClosedError
    If the buffer is closed.
CUDAError
    If the driver refuses the change, as for another number of dimensions.)");
    add_switch(type);
}

void bind_child_graph_node(nb::module_& module) {
    using Held = PyExecutable<ExecutableChildGraphNode>;
    executable_class<ExecutableChildGraphNode>(module, "ExecutableChildGraphNode",
                                               R"(A child graph node of an executable graph.

Examples
--------
>>> child, parent = cuprum.graph.GraphDefinition(), cuprum.graph.GraphDefinition()
>>> fill = child.memset(buffer, 0, 64)
>>> node = parent.embed(child)
>>> graph = parent.instantiate()
>>> graph[node].update(child))")
        .def(
            "update",
            [](const Held& self, nb::handle child) {
                const PyGraphDefinition& source = child_argument(child);
                in_graph_unlocked([&] { self.core.update(source); });
            },
            "child"_a.none(), nb::sig("def update(self, child: GraphDefinition) -> None"),
            R"(Take over the parameters of a graph with the child's topology, for later launches.

Parameters
----------
child : GraphDefinition
    A graph with the same nodes and edges.

Raises
------
TypeError
    If `child` is not a GraphDefinition.
GraphClosedError
    If `child` is closed.
CUDAError
    If its nodes or edges differ. The graph stays as it was.)");
}

template <typename Kind>
void bind_event_node(nb::module_& module, const char* name, const char* documentation) {
    executable_class<Kind>(module, name, documentation)
        .def(
            "update",
            [](const PyExecutable<Kind>& self, nb::handle event) {
                const PyEvent& replacement = event_argument(event);
                in_graph_unlocked([&] { self.core.update(replacement); });
            },
            "event"_a.none(), nb::sig("def update(self, event: Event) -> None"),
            R"(Replace the event for later launches.

Parameters
----------
event : Event
    The event to use instead.

Raises
------
TypeError
    If the argument is not an event.
GraphClosedError
    If the event is closed.)");
}

void bind_callback_node(nb::module_& module) {
    using Held = PyExecutable<ExecutableHostCallbackNode>;
    executable_class<ExecutableHostCallbackNode>(module, "ExecutableHostCallbackNode",
                                                 R"(A host callback node of an executable graph.

Examples
--------
>>> definition = cuprum.graph.GraphDefinition()
>>> node = definition.callback(lambda: None)
>>> graph = definition.instantiate()
>>> graph[node].update(lambda: print("called")))")
        .def(
            "update",
            [](const Held& self, nb::handle function, nb::handle user_data) {
                const HostFunctionParameters called = callback_argument(function, user_data);
                in_graph_unlocked([&] { self.core.update(called); });
            },
            "fn"_a.none(), nb::kw_only(), "user_data"_a = nb::none(),
            nb::sig("def update(self, fn: collections.abc.Callable[[], object], *, user_data: int "
                    "| bytes | None = None) -> None"),
            R"(Replace the function for later launches; see ``GraphNode.callback``.

Parameters
----------
fn : Callable[[], object]
    The function to call instead.
user_data : int or bytes, optional
    For a C function: its argument.

Raises
------
TypeError
    If `fn` cannot be called.
ValueError
    If there is `user_data` for a Python function.
CUDAError
    If the driver refuses the change.)");
}

} // namespace

} // namespace cuprum::python
