// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What the Python objects of graphs hold.

#pragma once

#include "support/errors.hpp"
#include "support/held.hpp"
#include "support/python_objects.hpp"

#include <cuprum/error.hpp>
#include <cuprum/graph/graph.hpp>
#include <cuprum/graph/graph_builder.hpp>
#include <cuprum/graph/graph_condition.hpp>
#include <cuprum/graph/graph_definition.hpp>
#include <cuprum/graph/graph_node.hpp>

#include <nanobind/nanobind.h>

#include <atomic>
#include <stdexcept>
#include <utility>

namespace cuprum::python {

using PyGraphDefinition = Held<GraphDefinition>;

/// An executable graph, and whether it was launched: the first launch may take long.
struct PyGraph : Held<Graph> {
    using Held<Graph>::Held;

    mutable std::atomic<bool> is_launched = false;
};

/// A node. There is at most one Python object for each node of the driver: see node_object().
struct PyGraphNode : GraphNode {
    explicit PyGraphNode(GraphNode node) noexcept : GraphNode(std::move(node)) {}

    PyGraphNode(const PyGraphNode&) = delete;
    PyGraphNode& operator=(const PyGraphNode&) = delete;
    ~PyGraphNode();

    nb::object last_numbers; // the numbers that describe a destroyed node, by name; or null
};

/// A node of one kind, which has a Python class of its own. Holds nothing else.
template <typename Kind>
struct PyNodeOf : PyGraphNode {
    using PyGraphNode::PyGraphNode;
};

/// A kind that derives from another.
template <typename Kind>
struct PyConditionalOf : PyNodeOf<ConditionalNode> {
    using PyNodeOf<ConditionalNode>::PyNodeOf;
};

using PyConditionalNode = PyNodeOf<ConditionalNode>;

/// A builder, and the Python object of the stream that it captures.
struct PyGraphBuilder {
    PyGraphBuilder(GraphBuilder builder, nb::object captured) noexcept
        : core(std::move(builder)), stream(std::move(captured)) {}

    PyGraphBuilder(const PyGraphBuilder&) = delete;
    PyGraphBuilder& operator=(const PyGraphBuilder&) = delete;

    ~PyGraphBuilder() {
        const nb::gil_scoped_release unlocked; // the last share ends the capture
        const GraphBuilder gone = std::move(core);
    }

    GraphBuilder core;
    nb::object stream;
};

/// Returns the one Python object of a node, made on first use.
[[nodiscard]] nb::object node_object(const GraphNode& node);

/// Returns all nodes that have Python objects and are not destroyed.
[[nodiscard]] nb::list live_nodes();

[[nodiscard]] inline nb::object definition_object(GraphDefinition definition) {
    return make<PyGraphDefinition>(std::move(definition));
}

/// Makes the Python object of a builder. The one of its stream is made too if there is none.
[[nodiscard]] nb::object builder_object(GraphBuilder builder, nb::object stream = {});

/// Returns a `condition` argument.
/// @throws TypeError for anything but a GraphCondition.
[[nodiscard]] GraphCondition condition_argument(nb::handle condition);

/// Returns a number that the driver takes as 32 bits.
/// @throws OverflowError naming the argument.
[[nodiscard]] unsigned uint32_argument(nb::handle value, const char* name);

/// Returns a node given as an argument.
/// @throws TypeError naming the argument.
[[nodiscard]] const PyGraphNode& node_argument(nb::handle node, const char* name);

/// Returns a `child` argument.
/// @throws TypeError for anything but a GraphDefinition.
[[nodiscard]] const PyGraphDefinition& child_argument(nb::handle child);

/// Returns options for an executable graph, from a GraphCompleteOptions, a dict or None.
[[nodiscard]] GraphCompleteOptions complete_options(nb::handle options);

/// Returns options for printing a graph, from a GraphDebugPrintOptions, a dict or None.
[[nodiscard]] GraphDebugPrintOptions debug_options(nb::handle options);

/// Raises an exception of cuprum._errors that has only a text.
[[noreturn]] void raise_named(const char* class_name, const char* text);

/// Raises GraphInstantiateError or GraphUpdateError.
[[noreturn]] void raise_graph_error(const GraphInstantiateError& error);
[[noreturn]] void raise_graph_error(const GraphUpdateError& error);

/// Returns the answer of Graph::try_update as a GraphUpdateResult of Python.
[[nodiscard]] nb::object update_result(const GraphUpdateResult& result);

/// Calls a function that works on a graph. Wrong uses that the core finds before the driver does
/// raise GraphError and GraphClosedError: like all refusals of the driver, these are CUDAErrors.
template <typename Function>
decltype(auto) in_graph(const Function& function) {
    try {
        return function();
    } catch (const GraphInstantiateError& error) {
        raise_graph_error(error);
    } catch (const GraphUpdateError& error) {
        raise_graph_error(error);
    } catch (const ClosedError& error) {
        raise_named("GraphClosedError", error.what());
    } catch (const std::invalid_argument& error) {
        raise_named("GraphError", error.what());
    }
}

/// The same without the GIL, for functions that only call the driver.
template <typename Function>
decltype(auto) in_graph_unlocked(const Function& function) {
    return in_graph([&]() -> decltype(auto) {
        const nb::gil_scoped_release unlocked;
        return function();
    });
}

} // namespace cuprum::python
