// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings.hpp"
#include "device/device_objects.hpp"
#include "graph/bind_graph_appending.hpp"
#include "graph/graph_objects.hpp"
#include "graph/released_owners.hpp"
#include "memory/buffer_objects.hpp"
#include "support/arguments.hpp"
#include "support/compatibility.hpp"
#include "support/display.hpp"

#include <cuprum/detail/access.hpp>
#include <cuprum/detail/unexposed_handle.hpp>
#include <cuprum/error.hpp>

#include <nanobind/stl/string.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace cuprum::python {

using namespace nb::literals;

namespace {

[[nodiscard]] GraphDefinition new_definition(nb::handle context);
[[nodiscard]] std::optional<unsigned> default_value_argument(nb::handle value);
[[nodiscard]] std::string counts_text(const PyGraphDefinition& self);
void bind_looking(nb::class_<PyGraphDefinition>& type);
void bind_pictures(nb::class_<PyGraphDefinition>& type);
void bind_weak_handle(nb::module_& module);

} // namespace

void bind_graph_definition(nb::module_& module) {
    watch_for_releases();
    nb::class_<PyGraphDefinition> type(module, "GraphDefinition", nb::is_weak_referenceable(),
                                       R"(A graph of work that is built node by node.

Its methods add nodes that depend on nothing; the same methods of a node add nodes that depend on it.
``instantiate`` makes an executable graph. One thread at a time may edit a graph, together with the
graphs inside it.

Parameters
----------
context : Context or Device, optional
    Where the nodes run. Without it, in the context that is current when they are added.

Raises
------
TypeError
    If `context` is neither a Context nor a Device.
ClosedError
    If the context is closed.
CUDAError
    If the driver cannot create the graph.

Examples
--------
>>> definition = cuprum.graph.GraphDefinition()
>>> node = definition.memset(buffer, 0, 128)
>>> node = node.launch(cuprum.LaunchConfig(grid=1, block=32), kernel, buffer)
>>> graph = definition.instantiate()
>>> graph.launch(stream))");
    note_type<PyGraphDefinition>(type);
    type.def(
        "__init__",
        [](PyGraphDefinition* self, nb::handle context) {
            schedule_releases();
            new (self) PyGraphDefinition(new_definition(context));
        },
        "context"_a = nb::none(),
        nb::sig("def __init__(self, context: Context | Device | None = None) -> None"));
    type.def_prop_ro(
        "handle",
        [](const PyGraphDefinition& self) {
            return reinterpret_cast<std::uintptr_t>(
                in_graph_unlocked([&] { return self.handle(); }));
        },
        nb::sig("def handle(self) -> int"),
        R"(Return the driver's ``CUgraph`` as an int.

From then on user objects of the driver keep alive what the graph uses, so that other code may clone
or instantiate it. This makes launches of executable graphs that are made later several microseconds
slower.)");
    add_appending(type);
    type.def(
        "create_condition",
        [](const PyGraphDefinition& self, nb::handle default_value) {
            const auto value = default_value_argument(default_value);
            return make<GraphCondition>(
                in_graph_unlocked([&] { return self.create_condition(value); }));
        },
        "default_value"_a = nb::none(),
        nb::sig("def create_condition(self, default_value: int | None = None) -> GraphCondition"),
        R"(Make a condition for one conditional node of this graph.

Parameters
----------
default_value : int, optional
    The value at the start of every launch. Without it, the condition keeps its value.

Returns
-------
GraphCondition
    Pass it to the conditional node and to the kernels that set it.

Raises
------
TypeError
    If the value is not an int.
ValueError
    If the value does not fit 32 bits.
GraphClosedError
    If the graph is closed.)");
    type.def(
        "instantiate",
        [](const PyGraphDefinition& self, nb::handle options) {
            const GraphCompleteOptions how = complete_options(options);
            return make<PyGraph>(in_graph_unlocked([&] { return self.instantiate(how); }));
        },
        "options"_a = nb::none(),
        nb::sig("def instantiate(self, options: cuprum._graph_options.GraphCompleteOptions | dict "
                "| None = None) -> Graph"),
        R"(Make an executable graph. Later changes of this one do not affect it.

Parameters
----------
options : GraphCompleteOptions or dict, optional
    How to make it.

Returns
-------
Graph
    The executable graph.

Raises
------
GraphError
    If the graph has a cycle; the text names its nodes.
GraphInstantiateError
    If the driver refuses it for another reason.)");
    type.def(
        "clone",
        [](const PyGraphDefinition& self) {
            return definition_object(in_graph_unlocked([&] { return self.clone(); }));
        },
        nb::sig("def clone(self) -> GraphDefinition"), R"(Return a copy that changes on its own.

Returns
-------
GraphDefinition
    The copy.

Raises
------
GraphClosedError
    If the graph is closed.
CUDAError
    If the driver cannot clone the graph: it allocates or frees memory, or has conditional nodes.)");
    bind_looking(type);
    bind_pictures(type);
    type.def_prop_ro("is_closed", &PyGraphDefinition::is_closed,
                     "Return whether ``close`` was called.");
    type.def(
        "close",
        [](PyGraphDefinition& self) {
            self.drop();
            schedule_releases();
        },
        R"(Release this object's share of the graph.

Nodes, other objects of the same graph and executables stay. Calling it again does nothing.)");
    type.def(
        "__eq__",
        [](const PyGraphDefinition& self, const PyGraphDefinition& other) {
            return static_cast<const GraphDefinition&>(self) ==
                   static_cast<const GraphDefinition&>(other);
        },
        nb::is_operator(), nb::sig("def __eq__(self, other: object, /) -> bool"));
    type.def("__hash__",
             [](const PyGraphDefinition& self) { return std::hash<GraphDefinition>()(self); });
    type.def("__repr__", [](const PyGraphDefinition& self) -> std::string {
        if (self.is_closed()) {
            return "<GraphDefinition closed>";
        }
        try {
            return "<GraphDefinition handle=" +
                   hex_text(reinterpret_cast<std::uintptr_t>(detail::unexposed_handle(self))) +
                   counts_text(self) + ">";
        } catch (const ClosedError&) {
            return "<GraphDefinition destroyed>";
        }
    });
    bind_weak_handle(module);
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

GraphDefinition new_definition(nb::handle context) {
    if (context.is_none()) {
        const nb::gil_scoped_release unlocked;
        return {};
    }
    if (const PyContext* const held = get_if<PyContext>(context)) {
        const nb::gil_scoped_release unlocked;
        return GraphDefinition(static_cast<const Context&>(*held));
    }
    const Device device = device_argument(context, "context");
    const nb::gil_scoped_release unlocked;
    return GraphDefinition(device);
}

std::optional<unsigned> default_value_argument(nb::handle value) {
    if (value.is_none()) {
        return std::nullopt;
    }
    return uint32_argument(value, "default_value");
}

void bind_looking(nb::class_<PyGraphDefinition>& type) {
    type.def(
        "nodes",
        [](const PyGraphDefinition& self) {
            nb::set found;
            for (const GraphNode& node : in_graph_unlocked([&] { return self.nodes(); })) {
                found.add(node_object(node));
            }
            return found;
        },
        nb::sig("def nodes(self) -> set[GraphNode]"), R"(Return all nodes.

Returns
-------
set[GraphNode]
    The nodes.

Raises
------
GraphClosedError
    If the graph is closed.)");
    type.def(
        "edges",
        [](const PyGraphDefinition& self) {
            nb::set found;
            for (const GraphEdge& edge : in_graph_unlocked([&] { return self.edges(); })) {
                found.add(nb::make_tuple(node_object(edge.from), node_object(edge.to)));
            }
            return found;
        },
        nb::sig("def edges(self) -> set[tuple[GraphNode, GraphNode]]"),
        R"(Return all edges, each as the node that is waited for and the one that waits.

Returns
-------
set[tuple[GraphNode, GraphNode]]
    The edges.

Raises
------
GraphClosedError
    If the graph is closed.)");
    type.def_prop_ro(
        "_entry", [](const PyGraphDefinition& self) { return node_object(self.entry()); },
        nb::sig("def _entry(self) -> GraphNode"),
        "Return the place before all nodes, as a node that does not exist.");
}

void bind_pictures(nb::class_<PyGraphDefinition>& type) {
    type.def(
        "debug_dot_print",
        [](const PyGraphDefinition& self, nb::handle path, nb::handle options) {
            const GraphDebugPrintOptions how = debug_options(options);
            const std::filesystem::path file = path_argument(path, "path");
            in_graph_unlocked([&] { self.debug_dot_print(file, how); });
        },
        "path"_a, "options"_a = nb::none(),
        nb::sig("def debug_dot_print(self, path: str | os.PathLike[str], options: "
                "cuprum._graph_options.GraphDebugPrintOptions | dict | None = None) -> None"),
        R"(Write what the driver knows of the graph to a file, in the language of Graphviz.

Parameters
----------
path : str or path-like
    The file, which is overwritten.
options : GraphDebugPrintOptions or dict, optional
    What to say about nodes.

Raises
------
CUDAError
    If the file cannot be written.
GraphClosedError
    If the graph is closed.)");
    type.def(
        "to_dot",
        [](const PyGraphDefinition& self) {
            return in_graph_unlocked([&] { return self.to_dot(); });
        },
        R"(Return a picture of the graph in the language of Graphviz.

Returns
-------
str
    Text for Graphviz.

Raises
------
GraphClosedError
    If the graph is closed.)");
    type.def(
        "to_text",
        [](const PyGraphDefinition& self) {
            return in_graph_unlocked([&] { return self.to_text(); });
        },
        R"(Return the graph as a tree of lines for a terminal.

Returns
-------
str
    One line for each node.

Raises
------
GraphClosedError
    If the graph is closed.)");
    const auto draw = [](const PyGraphDefinition& self) {
        return in_graph_unlocked([&] { return self.to_svg(); });
    };
    type.def("to_svg", draw, R"(Return a picture of the graph as an SVG.

Returns
-------
str
    The picture as text.

Raises
------
LibraryNotFoundError
    If Graphviz's program ``dot`` is not on the path.)");
    type.def(
        "_repr_svg_",
        [draw](const PyGraphDefinition& self) -> nb::object {
            try {
                return nb::cast(draw(self));
            } catch (const LibraryNotFoundError&) {
                return nb::none();
            }
        },
        nb::sig("def _repr_svg_(self) -> str | None"),
        "Return the picture of the graph; None without Graphviz.");
    bind_html(type, "graph");
}

/// Returns how many nodes and edges a graph has, as in " nodes=3 edges=2", for `repr`.
std::string counts_text(const PyGraphDefinition& self) {
    if (compatibility::keeps_reprs_short()) {
        return {};
    }
    try {
        const nb::gil_scoped_release unlocked;
        return " nodes=" + std::to_string(self.nodes().size()) +
               " edges=" + std::to_string(self.edges().size());
    } catch (const CUDAError&) {
        return {}; // such as a graph that is being captured
    }
}

/// Watches whether something is alive, without keeping it so.
struct WeakHandle {
    std::weak_ptr<const void> watched;
};

void bind_weak_handle(nb::module_& module) {
    nb::class_<WeakHandle> type(module, "WeakHandle",
                                R"(An observer of a buffer's memory or of a graph, for tests.

It is true while somebody shares the memory or the graph, and does not keep it alive.

Parameters
----------
obj : Buffer or GraphDefinition
    What to watch.)");
    type.def(
        "__init__",
        [](WeakHandle* self, nb::handle object) {
            if (const PyBuffer* const buffer = get_if<PyBuffer>(object)) {
                if (buffer->is_closed()) {
                    raise_named("GraphClosedError", "obj is a closed Buffer: it has no memory");
                }
                new (self) WeakHandle{detail::Access::state(*buffer)};
            } else if (const auto* const graph = get_if<PyGraphDefinition>(object)) {
                new (self) WeakHandle{detail::Access::state(*graph)};
            } else {
                raise_error(PyExc_TypeError,
                            "obj must be a Buffer or a GraphDefinition, got " + type_label(object));
            }
        },
        "obj"_a.none(), nb::sig("def __init__(self, obj: Buffer | GraphDefinition) -> None"));
    type.def("__bool__", [](const WeakHandle& self) { return !self.watched.expired(); });
    type.def(
        "expired", [](const WeakHandle& self) { return self.watched.expired(); },
        "Return whether nobody shares it any more.");
    type.def(
        "use_count", [](const WeakHandle& self) { return self.watched.use_count(); },
        "Return how many share it.");
}

} // namespace

} // namespace cuprum::python
