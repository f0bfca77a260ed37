// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/bind_executable_nodes.hpp"
#include "graph/graph_objects.hpp"
#include "graph/released_owners.hpp"
#include "support/class.hpp"

namespace cuprum::python {

namespace {

[[gnu::hot]] void launch(const PyGraph& self, nb::handle stream) {
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

[[nodiscard]] GraphDefinition source_argument(nb::handle source) {
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

void bind_graph(nb::module_& module) {
    Class<PyGraph> type(module, "Graph", nb::is_weak_referenceable());
    type.refuse_construction("Graph objects cannot be instantiated directly. Use "
                             "GraphDefinition.instantiate() or "
                             "GraphBuilder.complete()");
    type.property("handle", [](const PyGraph& self) {
        return reinterpret_cast<std::uintptr_t>(self.handle());
    });
    type.method<launch>("launch", HOT);
    type.method<upload>("upload", HOT);
    type.method("update", [](const PyGraph& self, nb::handle source) {
        const GraphDefinition definition = source_argument(source);
        in_graph_unlocked([&] { self.update(definition); });
        schedule_releases();
    });
    type.method("try_update", [](const PyGraph& self, nb::handle source) {
        const GraphDefinition definition = source_argument(source);
        const GraphUpdateResult result =
            in_graph_unlocked([&] { return self.try_update(definition); });
        schedule_releases();
        return update_result(result);
    });
    type.method("__getitem__",
                [](const PyGraph& self, nb::handle node) { return executable_node(self, node); });
    type.property("flags", [](const PyGraph& self) {
        return in_graph_unlocked([&] { return self.flags(); });
    });
    type.property("is_closed", &PyGraph::is_closed);
    type.method("close", [](PyGraph& self) {
        self.drop();
        schedule_releases();
    });
    // NOTE: not handle(), which says that others may launch the graph.
    type.method("__repr__", [](const PyGraph& self) { return to_string(self); });
    bind_executable_nodes(module);
}

} // namespace cuprum::python
