// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings.hpp"
#include "graph/bind_executable_nodes.hpp"
#include "graph/graph_objects.hpp"
#include "graph/released_owners.hpp"
#include "support/arguments.hpp"
#include "support/fast_method.hpp"
#include "support/gil.hpp"

#include <nanobind/stl/string.h>

#include <cstdint>
#include <functional>
#include <string>

namespace cuprum::python {

using namespace nb::literals;

namespace {

[[gnu::hot]] void launch(const PyGraph& self, nb::handle stream);
void upload(const PyGraph& self, nb::handle stream);
[[nodiscard]] GraphDefinition source_argument(nb::handle source);

} // namespace

void bind_graph(nb::module_& module) {
    nb::class_<PyGraph> type(module, "Graph", nb::is_weak_referenceable(),
                             R"(An executable graph: many pieces of work that one call launches.

``GraphDefinition.instantiate`` and ``GraphBuilder.complete`` make it. It keeps alive what its nodes
use, also while it runs. Two launches of one graph never overlap.

Examples
--------
>>> with cuprum.graph.capture(stream) as builder:
...     buffer.fill(0, stream=builder)
>>> graph = builder.complete()
>>> graph.launch(stream))");
    note_type<PyGraph>(type);
    type.def(
        "__init__",
        [](nb::handle, const nb::args&, const nb::kwargs&) {
            raise_error(PyExc_RuntimeError, "Graph objects cannot be instantiated directly. Use "
                                            "GraphDefinition.instantiate() or "
                                            "GraphBuilder.complete()");
        },
        nb::sig("def __init__(self, *args: object, **kwargs: object) -> None"));
    type.def_prop_ro(
        "handle",
        [](const PyGraph& self) { return reinterpret_cast<std::uintptr_t>(self.handle()); },
        nb::sig("def handle(self) -> int"), "Return the driver's ``CUgraphExec`` as an int.");
    fast_method<launch>(type, "def launch(self, stream: Stream | GraphBuilder) -> None",
                        R"(Launch the graph. Returns at once.

Parameters
----------
stream : Stream or GraphBuilder
    The graph runs in this stream's order.

Raises
------
ClosedError
    If the graph or the stream is closed.)");
    fast_method<upload>(type, "def upload(self, stream: Stream) -> None",
                        R"(Prepare the device for the next launch, so that it is faster.

Parameters
----------
stream : Stream
    The upload is ordered on it.

Raises
------
TypeError
    If `stream` is None or not a stream.
GraphClosedError
    If the graph or the stream is closed.
CUDAError
    If the driver cannot upload the graph.)");
    type.def(
        "update",
        [](const PyGraph& self, nb::handle source) {
            const GraphDefinition definition = source_argument(source);
            in_graph_unlocked([&] { self.update(definition); });
            schedule_releases();
        },
        "source"_a.none(),
        nb::sig("def update(self, source: GraphDefinition | GraphBuilder) -> None"),
        R"(Take over the parameters of a graph with the same topology, for later launches.

Parameters
----------
source : GraphDefinition or GraphBuilder
    A builder must have ended.

Raises
------
GraphUpdateError
    If they differ in more; the text names the node. This graph stays as it was.)");
    type.def(
        "try_update",
        [](const PyGraph& self, nb::handle source) {
            const GraphDefinition definition = source_argument(source);
            const GraphUpdateResult result =
                in_graph_unlocked([&] { return self.try_update(definition); });
            schedule_releases();
            return update_result(result);
        },
        "source"_a.none(),
        nb::sig("def try_update(self, source: GraphDefinition | GraphBuilder) -> "
                "cuprum._graph_options.GraphUpdateResult"),
        R"(Do what ``update`` does, but return a refusal instead of raising it.

Parameters
----------
source : GraphDefinition or GraphBuilder
    A builder must have ended.

Returns
-------
GraphUpdateResult
    True if the graph was updated. If not, it says what differs.

Raises
------
TypeError
    If `source` is neither a definition nor a builder.
ValueError
    If a builder has not ended.
GraphClosedError
    If this graph or the source is closed.)");
    type.def(
        "__getitem__",
        [](const PyGraph& self, nb::handle node) { return executable_node(self, node); },
        "node"_a.none(),
        nb::sig("def __getitem__(self, node: GraphNode, /) -> ExecutableGraphNode"),
        R"(Return a node of this graph, named by that of its definition, to change it here alone.

Raises
------
TypeError
    If nodes of this kind cannot be changed.
ValueError
    If the graph is closed or the node destroyed.)");
    type.def_prop_ro(
        "flags",
        [](const PyGraph& self) { return in_graph_unlocked([&] { return self.flags(); }); },
        "Return the driver's ``CUgraphInstantiate_flags``.");
    type.def_prop_ro("is_closed", &PyGraph::is_closed, "Return whether ``close`` was called.");
    type.def(
        "close",
        [](PyGraph& self) {
            self.drop();
            schedule_releases();
        },
        R"(Release this object's share of the graph.

A launch that runs completes. Calling it again does nothing; any other use raises
GraphClosedError.)");
    // NOTE: not handle(), which says that others may launch the graph.
    type.def("__repr__", [](const PyGraph& self) { return to_string(self); });
    bind_executable_nodes(module);
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

void launch(const PyGraph& self, nb::handle stream) {
    const Stream& order = stream_argument(stream);
    in_graph([&] {
        const Brief unlocked(!self.is_launched.load(std::memory_order_relaxed));
        self.launch(order);
    });
    self.is_launched.store(true, std::memory_order_relaxed);
}

void upload(const PyGraph& self, nb::handle stream) {
    const Stream& order = stream_argument(stream);
    in_graph_unlocked([&] { self.upload(order); });
}

GraphDefinition source_argument(nb::handle source) {
    if (const auto* const definition = get_if<PyGraphDefinition>(source)) {
        return *definition;
    }
    const auto* const builder = get_if<PyGraphBuilder>(source);
    if (builder == nullptr) {
        raise_error(PyExc_TypeError, "expected GraphBuilder or GraphDefinition for source, got " +
                                         type_label(source));
    }
    if (builder->core.is_closed()) {
        raise_named("GraphClosedError", "Source graph builder has been closed.");
    }
    if (builder->core.phase() != GraphBuilderPhase::Ended) {
        raise_error(PyExc_ValueError, "Graph has not finished building. Call end_building() of the "
                                      "source first");
    }
    return builder->core.graph_definition();
}

} // namespace

} // namespace cuprum::python
