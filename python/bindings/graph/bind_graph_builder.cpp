// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings.hpp"
#include "device/device_objects.hpp"
#include "graph/graph_choices.hpp"
#include "graph/graph_objects.hpp"
#include "graph/host_callback.hpp"
#include "graph/released_owners.hpp"
#include "stream/stream_objects.hpp"
#include "support/arguments.hpp"
#include "support/collection.hpp"

#include <nanobind/stl/string.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace cuprum::python {

using namespace nb::literals;

namespace {

using BuilderClass = nb::class_<PyGraphBuilder>;

void bind_capture(BuilderClass& type);
void bind_scope(BuilderClass& type);
void bind_results(BuilderClass& type);
void bind_branches(BuilderClass& type);
void bind_conditionals(BuilderClass& type);
void bind_content(BuilderClass& type);

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

[[nodiscard]] CaptureMode mode_argument(nb::handle mode);
[[nodiscard]] nb::object builder_tuple(std::vector<GraphBuilder> builders);
void begin(PyGraphBuilder& self, CaptureMode mode);
void end(PyGraphBuilder& self);
[[nodiscard]] nb::object join(const nb::args& given);

} // namespace

void bind_graph_builder(nb::module_& module) {
    BuilderClass type(module, "GraphBuilder", nb::is_weak_referenceable(),
                      nb::type_slots(MemberSlots<PyGraphBuilder, &PyGraphBuilder::stream>::slots),
                      R"(A graph that is built by capturing a stream.

``Stream.create_graph_builder`` and ``Device.create_graph_builder`` make it. From ``begin_building``
to ``end_building``, work that is enqueued on the builder, or on its stream, becomes a part of the
graph instead of running. As a context manager it begins, and ends whatever happens in the body; if
the body raises, what was captured is discarded.

The graph keeps kernels, buffers, argument objects, events and callbacks alive. Pass to ``keep_alive``
what it cannot know, such as memory whose address is given as a number.

Examples
--------
>>> builder = stream.create_graph_builder().begin_building()
>>> buffer.fill(0, stream=builder)
>>> graph = builder.end_building().complete()
>>> graph.launch(stream))");
    note_type<PyGraphBuilder>(type);
    type.def(
        "__init__",
        [](nb::handle, const nb::args&, const nb::kwargs&) {
            raise_error(PyExc_NotImplementedError,
                        "GraphBuilder objects cannot be instantiated directly. Use "
                        "Device.create_graph_builder() or Stream.create_graph_builder()");
        },
        nb::sig("def __init__(self, *args: object, **kwargs: object) -> None"));
    bind_capture(type);
    bind_scope(type);
    bind_results(type);
    bind_branches(type);
    bind_conditionals(type);
    bind_content(type);
    type.def("__repr__", [](const PyGraphBuilder& self) { return to_string(self.core); });
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

void bind_capture(BuilderClass& type) {
    type.def(
        "begin_building",
        [](nb::handle self, nb::handle mode) {
            auto& builder = held_by<PyGraphBuilder>(self);
            static_cast<void>(open(builder));
            begin(builder, mode_argument(mode));
            return nb::borrow(self);
        },
        "mode"_a.none() = "relaxed",
        nb::sig("def begin_building(self, mode: cuprum.typing.CaptureModeType | str = 'relaxed') "
                "-> GraphBuilder"),
        R"(Begin to capture the stream.

Parameters
----------
mode : CaptureModeType or str, optional
    Who may make calls that a graph cannot contain, such as synchronising: with ``"global"`` no
    thread of the process, with ``"thread_local"`` no call of this thread is allowed, with
    ``"relaxed"`` all are. A forbidden call fails and invalidates the capture.

Returns
-------
GraphBuilder
    This one.

Raises
------
RuntimeError
    If it has begun before.)");
    type.def_prop_ro(
        "is_building",
        [](PyGraphBuilder& self) {
            const GraphBuilder& builder = open(self);
            const nb::gil_scoped_release unlocked;
            return builder.is_building();
        },
        R"(Return whether the capture is active.

Raises
------
CUDAError
    If a forbidden call invalidated it. ``end_building`` or ``close`` ends it then.)");
    type.def(
        "end_building",
        [](nb::handle self) {
            end(held_by<PyGraphBuilder>(self));
            return nb::borrow(self);
        },
        nb::sig("def end_building(self) -> GraphBuilder"),
        R"(End the capture and keep its graph. It cannot be resumed.

Returns
-------
GraphBuilder
    This one.

Raises
------
RuntimeError
    If it is not building, or has forks that were not joined.
CUDAError
    If the capture was invalidated.)");
    type.def_prop_ro(
        "stream",
        [](PyGraphBuilder& self) {
            static_cast<void>(open(self));
            return self.stream;
        },
        nb::sig("def stream(self) -> Stream"), "Return the stream that is captured.");
    type.def(
        "__cuda_stream__",
        [](PyGraphBuilder& self) {
            static_cast<void>(open(self));
            return nb::object(self.stream.attr("__cuda_stream__")());
        },
        nb::sig("def __cuda_stream__(self) -> tuple[int, int]"),
        "Return ``(0, handle)`` of the stream, the protocol by which libraries exchange streams.");
    type.def_prop_ro(
        "is_closed", [](const PyGraphBuilder& self) { return self.core.is_closed(); },
        "Return whether ``close`` was called.");
    type.def(
        "close",
        [](PyGraphBuilder& self) {
            {
                const nb::gil_scoped_release unlocked;
                self.core.close();
            }
            schedule_releases();
        },
        R"(Close the builder. A capture that is active ends, and what was captured is discarded.

Definitions and executable graphs made before stay. Calling it again does nothing.

Raises
------
CUDAError
    If the capture cannot be ended, as on another thread than it began on.)");
}

void bind_scope(BuilderClass& type) {
    type.def(
        "__enter__",
        [](nb::handle self) {
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
        },
        nb::sig("def __enter__(self) -> GraphBuilder"), "Begin building, unless it has begun.");
    type.def(
        "__exit__",
        [](PyGraphBuilder& self, nb::handle kind, nb::handle, nb::handle) {
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
        },
        "exc_type"_a.none(), "exc_value"_a.none(), "traceback"_a.none(),
        nb::sig("def __exit__(self, exc_type: object, exc_value: object, traceback: object) -> "
                "None"),
        "End building. After an exception, discard what was captured.");
}

void bind_results(BuilderClass& type) {
    const auto ended = [](PyGraphBuilder& self) -> GraphBuilder& {
        GraphBuilder& builder = open(self);
        if (builder.phase() != GraphBuilderPhase::Ended) {
            raise_error(PyExc_RuntimeError,
                        "Graph has not finished building. Call end_building() first");
        }
        return builder;
    };
    type.def(
        "complete",
        [ended](PyGraphBuilder& self, nb::handle options) {
            const GraphBuilder& builder = ended(self);
            const GraphCompleteOptions how = complete_options(options);
            return make<PyGraph>(in_graph_unlocked([&] { return builder.complete(how); }));
        },
        "options"_a = nb::none(),
        nb::sig("def complete(self, options: cuprum._graph_options.GraphCompleteOptions | dict | "
                "None = None) -> Graph"),
        R"(Make an executable graph of what was captured. May be called several times.

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
RuntimeError
    If ``end_building`` was not called.)");
    type.def(
        "debug_dot_print",
        [ended](PyGraphBuilder& self, nb::handle path, nb::handle options) {
            const GraphBuilder& builder = ended(self);
            const GraphDebugPrintOptions how = debug_options(options);
            const nb::object text = nb::steal(PyOS_FSPath(path.ptr()));
            if (!text.is_valid()) {
                throw nb::python_error();
            }
            const std::string file = text_argument(text, "path");
            in_graph_unlocked([&] { builder.debug_dot_print(file, how); });
        },
        "path"_a, "options"_a = nb::none(),
        nb::sig("def debug_dot_print(self, path: str | os.PathLike[str], options: "
                "cuprum._graph_options.GraphDebugPrintOptions | dict | None = None) -> None"),
        R"(Write what was captured to a file; see ``GraphDefinition.debug_dot_print``.

Parameters
----------
path : str or path-like
    The file to write.
options : GraphDebugPrintOptions or dict, optional
    What to show beside nodes and edges.

Raises
------
RuntimeError
    If ``end_building`` was not called.
CUDAError
    If the file cannot be written.
GraphClosedError
    If the builder is closed.)");
    type.def_prop_ro(
        "graph_definition",
        [](PyGraphBuilder& self) {
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
        },
        nb::sig("def graph_definition(self) -> GraphDefinition"),
        R"(Return what was captured, to look at it or to edit it.

It stays valid when the builder is closed. The body of a conditional node has one also before
``begin_building``.

Raises
------
RuntimeError
    While the builder builds, before it has begun, and for forks.)");
}

void bind_branches(BuilderClass& type) {
    type.def(
        "split",
        [](nb::handle self, nb::handle count) {
            const std::size_t branches = size_argument(count, "count");
            if (branches < 2) {
                raise_error(PyExc_ValueError,
                            "Invalid split count: expecting >= 2, got " + std::to_string(branches));
            }
            auto& held = held_by<PyGraphBuilder>(self);
            GraphBuilder& builder =
                building(held, "Graph builder must be building before it can be split.");
            std::vector<GraphBuilder> all = [&] {
                const nb::gil_scoped_release unlocked;
                return builder.split(branches);
            }();
            nb::list objects;
            objects.append(self);
            for (std::size_t i = 1; i < all.size(); ++i) {
                objects.append(builder_object(std::move(all[i])));
            }
            return nb::tuple(objects);
        },
        "count"_a.none(), nb::sig("def split(self, count: int) -> tuple[GraphBuilder, ...]"),
        R"(Split the capture into builders that go on from here independently.

Parameters
----------
count : int
    How many, at least 2.

Returns
-------
tuple of GraphBuilder
    The first is this one. ``join`` the others before the end.

Raises
------
ValueError
    If `count` is less than 2.)");
    type.def_static("join", join, "graph_builders"_a,
                    nb::sig("def join(*graph_builders: GraphBuilder) -> GraphBuilder"),
                    R"(Join builders of one capture: one of them goes on after the work of all.

Parameters
----------
*graph_builders : GraphBuilder
    At least two.

Returns
-------
GraphBuilder
    The first that is no fork, or else the first of all. The others are closed.

Raises
------
ValueError
    If there are fewer than two, one is given twice, or they belong to different captures.)");
    type.def_prop_ro(
        "is_join_required", [](PyGraphBuilder& self) { return open(self).is_join_required(); },
        "Return whether the builder is a fork, which must be joined before the capture ends.");
}

void bind_conditionals(BuilderClass& type) {
    constexpr const char* need = "a conditional node needs an active capture";
    type.def(
        "create_condition",
        [](PyGraphBuilder& self, nb::handle default_value) {
            const GraphBuilder& builder =
                building(self, "a condition needs an active capture, whose graph it is part of");
            std::optional<unsigned> value;
            if (!default_value.is_none()) {
                value = uint32_argument(default_value, "default_value");
            }
            return make<GraphCondition>(
                in_graph_unlocked([&] { return builder.create_condition(value); }));
        },
        "default_value"_a = nb::none(),
        nb::sig("def create_condition(self, default_value: int | None = None) -> GraphCondition"),
        R"(Make a condition for one conditional node; see ``GraphDefinition.create_condition``.

Parameters
----------
default_value : int, optional
    The value at the start of each launch. Without it the value stays.

Returns
-------
GraphCondition
    The condition.

Raises
------
RuntimeError
    If the builder is not building.
ValueError
    If the value does not fit 32 bits.
GraphClosedError
    If the builder is closed.)");
    type.def(
        "if_then",
        [](PyGraphBuilder& self, nb::handle condition) {
            GraphBuilder& builder = building(self, need);
            const GraphCondition tested = condition_argument(condition);
            return builder_object(in_graph_unlocked([&] { return builder.if_then(tested); }));
        },
        "condition"_a.none(),
        nb::sig("def if_then(self, condition: GraphCondition) -> GraphBuilder"),
        R"(Add a node that runs its body if a condition is not 0.

Parameters
----------
condition : GraphCondition
    As ``create_condition`` makes it.

Returns
-------
GraphBuilder
    Builds the body: capture it between ``begin_building`` and ``end_building``, or edit its
    ``graph_definition``. This builder goes on after the node.

Raises
------
TypeError
    If `condition` is not a GraphCondition.
RuntimeError
    If the builder is not building.
CUDAError
    If the condition is used already, or belongs to another graph.
GraphClosedError
    If the builder is closed.)");
    type.def(
        "if_else",
        [](PyGraphBuilder& self, nb::handle condition) {
            GraphBuilder& builder = building(self, need);
            const GraphCondition tested = condition_argument(condition);
            auto both = in_graph_unlocked([&] { return builder.if_else(tested); });
            return nb::make_tuple(builder_object(std::move(both.first)),
                                  builder_object(std::move(both.second)));
        },
        "condition"_a.none(),
        nb::sig("def if_else(self, condition: GraphCondition) -> tuple[GraphBuilder, "
                "GraphBuilder]"),
        R"(Add a node with two bodies, for a condition that is not 0 and one that is.

Parameters
----------
condition : GraphCondition
    A condition of this graph.

Returns
-------
tuple[GraphBuilder, GraphBuilder]
    Builders of the two bodies.

Raises
------
TypeError
    If `condition` is not a GraphCondition.
RuntimeError
    If the builder is not building.
CUDAError
    If the condition is used already, or belongs to another graph.
GraphClosedError
    If the builder is closed.)");
    type.def(
        "while_loop",
        [](PyGraphBuilder& self, nb::handle condition) {
            GraphBuilder& builder = building(self, need);
            const GraphCondition tested = condition_argument(condition);
            return builder_object(in_graph_unlocked([&] { return builder.while_loop(tested); }));
        },
        "condition"_a.none(),
        nb::sig("def while_loop(self, condition: GraphCondition) -> GraphBuilder"),
        R"(Add a node that runs its body as long as a condition is not 0; returns the body.

Parameters
----------
condition : GraphCondition
    A condition of this graph.

Returns
-------
GraphBuilder
    The builder of the body.

Raises
------
TypeError
    If `condition` is not a GraphCondition.
RuntimeError
    If the builder is not building.
CUDAError
    If the condition is used already, or belongs to another graph.
GraphClosedError
    If the builder is closed.)");
    type.def(
        "switch",
        [](PyGraphBuilder& self, nb::handle condition, nb::handle count) {
            GraphBuilder& builder = building(self, need);
            const GraphCondition tested = condition_argument(condition);
            const std::size_t cases = size_argument(count, "count");
            return builder_tuple(
                in_graph_unlocked([&] { return builder.switch_cases(tested, cases); }));
        },
        "condition"_a.none(), "count"_a.none(),
        nb::sig("def switch(self, condition: GraphCondition, count: int) -> "
                "tuple[GraphBuilder, ...]"),
        R"(Add a node that runs the body whose index a condition is; returns the bodies.

Parameters
----------
condition : GraphCondition
    A condition of this graph.
count : int
    The number of bodies.

Returns
-------
tuple[GraphBuilder, ...]
    Builders of the bodies.

Raises
------
ValueError
    If `count` is less than 1.)");
}

void bind_content(BuilderClass& type) {
    type.def(
        "embed",
        [](PyGraphBuilder& self, nb::handle child) {
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
        },
        "child"_a.none(), nb::sig("def embed(self, child: GraphBuilder | GraphDefinition) -> None"),
        R"(Capture a copy of another graph as one node.

Parameters
----------
child : GraphBuilder or GraphDefinition
    A builder must have ended.

Raises
------
TypeError
    If `child` is neither a builder nor a definition.
ValueError
    If this builder is not building, or the child's has not ended.
GraphClosedError
    If the builder or the child is closed.)");
    type.def(
        "callback",
        [](PyGraphBuilder& self, nb::handle function, nb::handle user_data) {
            GraphBuilder& builder = building(self, "a callback needs an active capture");
            const HostFunctionParameters called = callback_argument(function, user_data);
            in_graph_unlocked([&] { builder.callback(called); });
        },
        "fn"_a.none(), nb::kw_only(), "user_data"_a = nb::none(),
        nb::sig("def callback(self, fn: collections.abc.Callable[[], object], *, user_data: int | "
                "bytes | None = None) -> None"),
        R"(Capture a call of a function on the host; see ``GraphNode.callback``.

Parameters
----------
fn : Callable[[], object]
    The function to call at each launch.
user_data : int or bytes, optional
    For a C function: its argument.

Raises
------
TypeError
    If `fn` cannot be called.
ValueError
    If there is `user_data` for a Python function.
RuntimeError
    If the builder is not building.
GraphClosedError
    If the builder is closed.)");
    type.def(
        "keep_alive",
        [](PyGraphBuilder& self, nb::handle object) {
            const GraphBuilder& builder = open(self);
            auto kept = keep_for_graph(nb::borrow(object));
            in_graph_unlocked([&] { builder.keep_alive(std::move(kept)); });
        },
        "obj"_a.none(), nb::sig("def keep_alive(self, obj: object) -> None"),
        R"(Keep an object alive as long as the graph, its copies and executables exist.

Parameters
----------
obj : object
    Such as a Buffer whose address was captured.

Raises
------
RuntimeError
    If the builder has no graph: nothing was captured.
GraphClosedError
    If the builder is closed.)");
}

CaptureMode mode_argument(nb::handle mode) {
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

nb::object builder_tuple(std::vector<GraphBuilder> builders) {
    nb::list objects;
    for (GraphBuilder& each : builders) {
        objects.append(builder_object(std::move(each)));
    }
    return nb::tuple(objects);
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

nb::object join(const nb::args& given) {
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
    const GraphBuilder joined = [&] {
        const nb::gil_scoped_release unlocked;
        return GraphBuilder::join(builders);
    }();
    for (std::size_t i = 0; i < builders.size(); ++i) {
        if (builders[i] == joined) {
            return nb::borrow(given[i]);
        }
    }
    return builder_object(joined);
}

} // namespace

} // namespace cuprum::python
