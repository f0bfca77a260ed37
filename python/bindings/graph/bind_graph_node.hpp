// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "graph/graph_objects.hpp"
#include "support/arguments.hpp"
#include "support/class.hpp"

#include <cuprum/detail/unexposed_handle.hpp>

#include <nanobind/nanobind.h>

#include <array>
#include <cstdint>
#include <string>

namespace cuprum::python {

/// Binds the nodes that run or order work: empty, kernel, host callback, event record and wait.
void bind_plain_nodes(nb::module_& module);
/// Binds the nodes that work on memory: copy, fill, allocation and free.
void bind_memory_nodes(nb::module_& module);
/// Binds the nodes with graphs inside: child graphs and conditional nodes.
void bind_nodes_with_graphs(nb::module_& module);

/// Returns the text for `repr` of a node. `details` returns what follows the handle; it is not
/// called for a destroyed node.
template <typename Details>
[[nodiscard]] std::string represent(const char* class_name, const GraphNode& node,
                                    const Details& details) {
    const std::string begin = std::string("<") + class_name;
    if (!node.is_valid()) {
        return begin + " destroyed>";
    }
    return begin +
           " handle=" + hex_text(reinterpret_cast<std::uintptr_t>(detail::unexposed_handle(node))) +
           in_graph(details) + ">";
}

/// The names of all properties that are plain numbers. They stay readable once a node is destroyed.
inline constexpr std::array NUMBERS{"dptr",   "value",    "element_size", "width",
                                    "height", "pitch",    "dst",          "src",
                                    "size",   "bytesize", "device_id"};

/// Binds a property that is a number, one of NUMBERS.
template <typename Kind, typename Type>
void number_property(Type& type, const char* name, auto get) {
    type.property(name, [get, name](const PyNodeOf<Kind>& self) -> nb::object {
        if (self.last_numbers.is_valid()) {
            return self.last_numbers[name];
        }
        return nb::int_(in_graph([&] { return (self.template as<Kind>().*get)(); }));
    });
}

/// Makes the Python class of a kind of nodes.
template <typename Held, typename Base = PyGraphNode>
[[nodiscard]] Class<Held, Base> node_class(nb::module_& module, const char* name) {
    Class<Held, Base> type(module, name, nb::is_weak_referenceable(), nb::pooled());
    return type;
}

} // namespace cuprum::python
