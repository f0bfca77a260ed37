// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "device/device_objects.hpp"
#include "graph/graph_choices.hpp"
#include "graph/graph_objects.hpp"
#include "graph/host_callback.hpp"
#include "graph/released_owners.hpp"
#include "stream/stream_objects.hpp"
#include "support/class.hpp"
#include "support/collection.hpp"

#include <vector>

namespace cuprum::python {

namespace {

using BuilderClass = Class<PyGraphBuilder>;

/// Returns the builder, to use it.
/// @throws GraphClosedError if it is closed.
[[nodiscard]] GraphBuilder& open(PyGraphBuilder& self) {
    if (self.core.is_closed()) {
        raise_named("GraphClosedError",
                    "Graph builder has been closed. Create another one to capture again");
    }
    return self.core;
}

/// Returns the builder, which must be building for `what`.
[[nodiscard]] GraphBuilder& building(PyGraphBuilder& self, const char* what) {
    GraphBuilder& builder = open(self);
    if (builder.phase() != GraphBuilderPhase::Building) {
        raise_error(PyExc_RuntimeError, std::string(what) + ": call begin_building() first");
    }
    return builder;
}

void begin(PyGraphBuilder& self, CaptureMode mode) {
    GraphBuilder& builder = open(self);
    if (builder.phase() == GraphBuilderPhase::Building) {
        raise_error(PyExc_RuntimeError, "Graph builder is already building.");
    }
    if (builder.phase() == GraphBuilderPhase::Ended) {
        raise_error(PyExc_RuntimeError, "Cannot resume building after building has ended. Create "
                                        "another builder, or edit graph_definition");
    }
    const Brief unlocked;
    builder.begin_building(mode);
}

void end(PyGraphBuilder& self) {
    GraphBuilder& builder = open(self);
    if (builder.phase() != GraphBuilderPhase::Building) {
        raise_error(PyExc_RuntimeError, "Graph builder is not building.");
    }
    const nb::gil_scoped_release unlocked;
    builder.end_building();
}

[[nodiscard]] CaptureMode mode_argument(nb::handle mode) {
    const std::string wanted =
        PyUnicode_Check(mode.ptr()) != 0 ? text_argument(mode, "mode") : std::string();
    if (wanted == "relaxed") {
        return CaptureMode::Relaxed;
    }
    if (wanted == "global") {
        return CaptureMode::Global;
    }
    if (wanted == "thread_local") {
        return CaptureMode::ThreadLocal;
    }
    raise_error(PyExc_ValueError, "Unsupported build mode: " + repr_text(mode) +
                                      ", expected 'global', 'thread_local' or 'relaxed'");
}

void bind_capture(BuilderClass& type) {
    type.method("begin_building", [](nb::handle self, nb::handle mode) {
        auto& builder = held_by<PyGraphBuilder>(self);
        static_cast<void>(open(builder));
        begin(builder, mode_argument(mode));
        return nb::borrow(self);
    });
    type.property("is_building", [](PyGraphBuilder& self) {
        const GraphBuilder& builder = open(self);
        const nb::gil_scoped_release unlocked;
        return builder.is_building();
    });
    type.method("end_building", [](nb::handle self) {
        end(held_by<PyGraphBuilder>(self));
        return nb::borrow(self);
    });
    type.property("stream", [](PyGraphBuilder& self) {
        static_cast<void>(open(self));
        return self.stream;
    });
    type.method("__cuda_stream__", [](PyGraphBuilder& self) {
        static_cast<void>(open(self));
        return nb::object(self.stream.attr("__cuda_stream__")());
    });
    type.property("is_closed", [](const PyGraphBuilder& self) { return self.core.is_closed(); });
    type.method("close", [](PyGraphBuilder& self) {
        {
            const nb::gil_scoped_release unlocked;
            self.core.close();
        }
        schedule_releases();
    });
}

void bind_scope(BuilderClass& type) {
    type.method("__enter__", [](nb::handle self) {
        auto& builder = held_by<PyGraphBuilder>(self);
        const GraphBuilder& core = open(builder);
        if (core.kind() == GraphBuilderKind::Forked) {
            raise_error(PyExc_RuntimeError,
                        "a forked builder is no context manager: GraphBuilder.join() ends it");
        }
        if (core.phase() != GraphBuilderPhase::Building) {
            begin(builder, CaptureMode::Relaxed);
        }
        return nb::borrow(self);
    });
    type.method("__exit__", [](PyGraphBuilder& self, nb::handle kind, nb::handle, nb::handle) {
        const auto discard = [&] {
            const nb::gil_scoped_release unlocked;
            self.core.close();
        };
        if (!kind.is_none()) {
            discard();
        } else if (self.core.phase() == GraphBuilderPhase::Building) {
            try {
                end(self);
            } catch (...) {
                discard(); // the stream must not stay in capture
                throw;
            }
        }
    });
}

void bind_results(BuilderClass& type) {
    static constexpr auto ended = [](PyGraphBuilder& self) -> GraphBuilder& {
        GraphBuilder& builder = open(self);
        if (builder.phase() != GraphBuilderPhase::Ended) {
            raise_error(PyExc_RuntimeError,
                        "Graph has not finished building. Call end_building() first");
        }
        return builder;
    };
    type.method("complete", [](PyGraphBuilder& self, nb::handle options) {
        const GraphBuilder& builder = ended(self);
        const GraphCompleteOptions how = complete_options(options);
        return make<PyGraph>(in_graph_unlocked([&] { return builder.complete(how); }));
    });
    type.method("debug_dot_print", [](PyGraphBuilder& self, nb::handle path, nb::handle options) {
        const GraphBuilder& builder = ended(self);
        const GraphDebugPrintOptions how = debug_options(options);
        const nb::object text = nb::steal(PyOS_FSPath(path.ptr()));
        if (!text.is_valid()) {
            throw nb::python_error();
        }
        const std::string file = text_argument(text, "path");
        in_graph_unlocked([&] { builder.debug_dot_print(file, how); });
    });
    type.property("graph_definition", [](PyGraphBuilder& self) {
        const GraphBuilder& builder = open(self);
        const char* problem = nullptr;
        if (builder.kind() == GraphBuilderKind::Forked) {
            problem = "a forked builder has no graph_definition: ask the builder it came from";
        } else if (builder.phase() == GraphBuilderPhase::Building) {
            problem = "there is no graph_definition while a capture is in progress: call "
                      "end_building() first";
        } else if (builder.kind() == GraphBuilderKind::Primary &&
                   builder.phase() == GraphBuilderPhase::NotStarted) {
            problem = "there is no graph_definition before begin_building() and "
                      "end_building(): nothing is captured";
        }
        if (problem != nullptr) {
            raise_error(PyExc_RuntimeError, problem);
        }
        return definition_object(in_graph([&] { return builder.graph_definition(); }));
    });
}

[[nodiscard]] nb::object join(const nb::args& given) {
    std::vector<GraphBuilder> builders;
    for (const nb::handle each : given) {
        auto* const held = get_if<PyGraphBuilder>(each);
        if (held == nullptr) {
            raise_error(PyExc_TypeError,
                        "graph_builders must all be GraphBuilder, got " + type_label(each));
        }
        builders.push_back(open(*held));
    }
    if (builders.size() < 2) {
        raise_error(PyExc_ValueError, "Must join with at least two graph builders, got " +
                                          std::to_string(builders.size()));
    }
    const GraphBuilder joined = without_gil([&] { return GraphBuilder::join(builders); });
    for (std::size_t i = 0; i < builders.size(); ++i) {
        if (builders[i] == joined) {
            return nb::borrow(given[i]);
        }
    }
    return builder_object(joined);
}

void bind_branches(BuilderClass& type) {
    type.method("split", [](nb::handle self, std::size_t branches) {
        if (branches < 2) {
            raise_error(PyExc_ValueError,
                        "Invalid split count: expecting >= 2, got " + std::to_string(branches));
        }
        auto& held = held_by<PyGraphBuilder>(self);
        GraphBuilder& builder =
            building(held, "Graph builder must be building before it can be split.");
        std::vector<GraphBuilder> all = without_gil([&] { return builder.split(branches); });
        nb::list objects;
        objects.append(self);
        for (std::size_t i = 1; i < all.size(); ++i) {
            objects.append(builder_object(std::move(all[i])));
        }
        return nb::tuple(objects);
    });
    type.static_method<join>("join");
    type.property("is_join_required",
                  [](PyGraphBuilder& self) { return open(self).is_join_required(); });
}

[[nodiscard]] nb::object builder_tuple(std::vector<GraphBuilder> builders) {
    nb::list objects;
    for (GraphBuilder& each : builders) {
        objects.append(builder_object(std::move(each)));
    }
    return nb::tuple(objects);
}

void bind_conditionals(BuilderClass& type) {
    constexpr const char* need = "a conditional node needs an active capture";
    type.method("create_condition", [](PyGraphBuilder& self, nb::handle default_value) {
        const GraphBuilder& builder =
            building(self, "a condition needs an active capture, whose graph it is part of");
        std::optional<unsigned> value;
        if (!default_value.is_none()) {
            value = uint32_argument(default_value, "default_value");
        }
        return make<GraphCondition>(
            in_graph_unlocked([&] { return builder.create_condition(value); }));
    });
    type.method("if_then", [](PyGraphBuilder& self, nb::handle condition) {
        GraphBuilder& builder = building(self, need);
        const GraphCondition tested = condition_argument(condition);
        return builder_object(in_graph_unlocked([&] { return builder.if_then(tested); }));
    });
    type.method("if_else", [](PyGraphBuilder& self, nb::handle condition) {
        GraphBuilder& builder = building(self, need);
        const GraphCondition tested = condition_argument(condition);
        auto both = in_graph_unlocked([&] { return builder.if_else(tested); });
        return nb::make_tuple(builder_object(std::move(both.first)),
                              builder_object(std::move(both.second)));
    });
    type.method("while_loop", [](PyGraphBuilder& self, nb::handle condition) {
        GraphBuilder& builder = building(self, need);
        const GraphCondition tested = condition_argument(condition);
        return builder_object(in_graph_unlocked([&] { return builder.while_loop(tested); }));
    });
    type.method("switch", [](PyGraphBuilder& self, nb::handle condition, std::size_t cases) {
        GraphBuilder& builder = building(self, need);
        const GraphCondition tested = condition_argument(condition);
        return builder_tuple(
            in_graph_unlocked([&] { return builder.switch_cases(tested, cases); }));
    });
}

void bind_content(BuilderClass& type) {
    type.method("embed", [](PyGraphBuilder& self, nb::handle child) {
        GraphBuilder& builder = open(self);
        const auto* const definition = get_if<PyGraphDefinition>(child);
        const auto* const other = get_if<PyGraphBuilder>(child);
        if (definition == nullptr && other == nullptr) {
            raise_error(PyExc_TypeError, "child must be a GraphBuilder or a GraphDefinition, "
                                         "got " +
                                             type_label(child));
        }
        if (other != nullptr && other->core.phase() != GraphBuilderPhase::Ended) {
            raise_error(PyExc_ValueError, "Child graph has not finished building. Call its "
                                          "end_building() first");
        }
        if (builder.phase() != GraphBuilderPhase::Building) {
            raise_error(PyExc_ValueError,
                        "Parent graph is not being built. Call begin_building() first");
        }
        in_graph_unlocked([&] {
            definition != nullptr ? builder.embed(*definition) : builder.embed(other->core);
        });
    });
    type.method("callback", [](PyGraphBuilder& self, nb::handle function, nb::handle user_data) {
        GraphBuilder& builder = building(self, "a callback needs an active capture");
        const HostFunctionParameters called = callback_argument(function, user_data);
        in_graph_unlocked([&] { builder.callback(called); });
    });
    type.method("keep_alive", [](PyGraphBuilder& self, nb::handle object) {
        const GraphBuilder& builder = open(self);
        auto kept = keep_for_graph(nb::borrow(object));
        in_graph_unlocked([&] { builder.keep_alive(std::move(kept)); });
    });
}

} // namespace

void bind_graph_builder(nb::module_& module) {
    BuilderClass type(module, "GraphBuilder", nb::is_weak_referenceable(),
                      nb::type_slots(MemberSlots<PyGraphBuilder, &PyGraphBuilder::stream>::slots));
    type.refuse_construction("GraphBuilder objects cannot be instantiated directly. Use "
                             "Device.create_graph_builder() or Stream.create_graph_builder()",
                             PyExc_NotImplementedError);
    bind_capture(type);
    bind_scope(type);
    bind_results(type);
    bind_branches(type);
    bind_conditionals(type);
    bind_content(type);
    type.method("__repr__", [](const PyGraphBuilder& self) { return to_string(self.core); });
}

} // namespace cuprum::python
