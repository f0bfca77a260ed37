// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "device/device_objects.hpp"
#include "graph/bind_graph_appending.hpp"
#include "graph/graph_objects.hpp"
#include "graph/released_owners.hpp"
#include "memory/buffer_objects.hpp"
#include "support/class.hpp"
#include "support/compatibility.hpp"
#include "support/display.hpp"

#include <cuprum/detail/access.hpp>
#include <cuprum/detail/unexposed_handle.hpp>

#include <filesystem>
#include <memory>

namespace cuprum::python {

namespace {

[[nodiscard]] GraphDefinition new_definition(nb::handle context) {
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

[[nodiscard]] std::optional<unsigned> default_value_argument(nb::handle value) {
    if (value.is_none()) {
        return std::nullopt;
    }
    return uint32_argument(value, "default_value");
}

void bind_looking(Class<PyGraphDefinition>& type) {
    type.method("nodes", [](const PyGraphDefinition& self) {
        nb::set found;
        for (const GraphNode& node : in_graph_unlocked([&] { return self.nodes(); })) {
            found.add(node_object(node));
        }
        return found;
    });
    type.method("edges", [](const PyGraphDefinition& self) {
        nb::set found;
        for (const GraphEdge& edge : in_graph_unlocked([&] { return self.edges(); })) {
            found.add(nb::make_tuple(node_object(edge.from), node_object(edge.to)));
        }
        return found;
    });
    type.property("_entry",
                  [](const PyGraphDefinition& self) { return node_object(self.entry()); });
}

void bind_pictures(Class<PyGraphDefinition>& type) {
    type.method("debug_dot_print",
                [](const PyGraphDefinition& self, nb::handle path, nb::handle options) {
                    const GraphDebugPrintOptions how = debug_options(options);
                    const std::filesystem::path file = path_argument(path, "path");
                    in_graph_unlocked([&] { self.debug_dot_print(file, how); });
                });
    type.method("to_dot", [](const PyGraphDefinition& self) {
        return in_graph_unlocked([&] { return self.to_dot(); });
    });
    type.method("to_text", [](const PyGraphDefinition& self) {
        return in_graph_unlocked([&] { return self.to_text(); });
    });
    static constexpr auto draw = [](const PyGraphDefinition& self) {
        return in_graph_unlocked([&] { return self.to_svg(); });
    };
    type.method("to_svg", draw);
    type.method("_repr_svg_", [](const PyGraphDefinition& self) -> nb::object {
        try {
            return nb::cast(draw(self));
        } catch (const LibraryNotFoundError&) {
            return nb::none();
        }
    });
    type.method("_repr_html_", [](nb::handle self) { return html_of(self, "graph"); });
}

/// Returns how many nodes and edges a graph has, as in " nodes=3 edges=2", for `repr`.
[[nodiscard]] std::string counts_text(const PyGraphDefinition& self) {
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
    Class<WeakHandle> type(module, "WeakHandle");
    type.constructor([](WeakHandle* self, nb::handle object) {
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
    });
    type.method("__bool__", [](const WeakHandle& self) { return !self.watched.expired(); });
    type.method("expired", [](const WeakHandle& self) { return self.watched.expired(); });
    type.method("use_count", [](const WeakHandle& self) { return self.watched.use_count(); });
}

} // namespace

void bind_graph_definition(nb::module_& module) {
    watch_for_releases();
    Class<PyGraphDefinition> type(module, "GraphDefinition", nb::is_weak_referenceable());
    type.constructor([](PyGraphDefinition* self, nb::handle context) {
        schedule_releases();
        new (self) PyGraphDefinition(new_definition(context));
    });
    type.property("handle", [](const PyGraphDefinition& self) {
        return reinterpret_cast<std::uintptr_t>(in_graph_unlocked([&] { return self.handle(); }));
    });
    add_appending(type);
    type.method("create_condition", [](const PyGraphDefinition& self, nb::handle default_value) {
        const auto value = default_value_argument(default_value);
        return make<GraphCondition>(
            in_graph_unlocked([&] { return self.create_condition(value); }));
    });
    type.method("instantiate", [](const PyGraphDefinition& self, nb::handle options) {
        const GraphCompleteOptions how = complete_options(options);
        return make<PyGraph>(in_graph_unlocked([&] { return self.instantiate(how); }));
    });
    type.method("clone", [](const PyGraphDefinition& self) {
        return definition_object(in_graph_unlocked([&] { return self.clone(); }));
    });
    bind_looking(type);
    bind_pictures(type);
    type.property("is_closed", &PyGraphDefinition::is_closed);
    type.method("close", [](PyGraphDefinition& self) {
        self.drop();
        schedule_releases();
    });
    type.method("__eq__", [](const PyGraphDefinition& self, const PyGraphDefinition& other) {
        return static_cast<const GraphDefinition&>(self) ==
               static_cast<const GraphDefinition&>(other);
    });
    type.method("__hash__",
                [](const PyGraphDefinition& self) { return std::hash<GraphDefinition>()(self); });
    type.method("__repr__", [](const PyGraphDefinition& self) -> std::string {
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

} // namespace cuprum::python
