// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/bind_graph_appending.hpp"
#include "graph/bind_graph_node.hpp"
#include "graph/host_callback.hpp"
#include "graph/kernel_update.hpp"
#include "launch/kernel_objects.hpp"
#include "launch/launch_config.hpp"
#include "stream/stream_objects.hpp"
#include "support/arguments.hpp"
#include "support/compatibility.hpp"

#include <nanobind/stl/string.h>

#include <cstdint>
#include <cstring>
#include <string>

namespace cuprum::python {

using namespace nb::literals;

namespace {

void bind_kernel_node(nb::module_& module);
void bind_kernel_node_attributes(nb::class_<PyNodeOf<KernelNode>, PyGraphNode>& type);
void bind_callback_node(nb::module_& module);
template <typename Kind>
void bind_event_node(nb::module_& module, const char* name, const char* documentation);

} // namespace

void bind_plain_nodes(nb::module_& module) {
    node_class<PyNodeOf<EmptyNode>>(module, "EmptyNode",
                                    R"(A node that does nothing but order others.

Examples
--------
>>> definition = cuprum.graph.GraphDefinition()
>>> first, second = definition.memset(buffer, 0, 8), definition.memset(buffer, 0, 8)
>>> both = first.join(second)
>>> both.pred == {first, second}
True)")
        .def("__repr__", [](const PyNodeOf<EmptyNode>& self) {
            return represent("EmptyNode", self, [] { return std::string(); });
        });
    bind_kernel_node(module);
    bind_callback_node(module);
    bind_event_node<EventRecordNode>(module, "EventRecordNode", R"(A node that records an event.

Examples
--------
>>> definition = cuprum.graph.GraphDefinition()
>>> event = device.create_event()
>>> definition.record(event).event == event
True)");
    bind_event_node<EventWaitNode>(module, "EventWaitNode", R"(A node that waits for an event.

Examples
--------
>>> definition = cuprum.graph.GraphDefinition()
>>> event = device.create_event()
>>> definition.wait(event).event == event
True)");
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

using PyKernelNode = PyNodeOf<KernelNode>;

[[nodiscard]] std::string extents_text(const Dim3& dimensions) {
    return "(" + std::to_string(dimensions.x) + ", " + std::to_string(dimensions.y) + ", " +
           std::to_string(dimensions.z) + ")";
}

[[nodiscard]] nb::object extents(const Dim3& dimensions) {
    return nb::make_tuple(dimensions.x, dimensions.y, dimensions.z);
}

void bind_kernel_node(nb::module_& module) {
    auto type = node_class<PyKernelNode>(module, "KernelNode", R"(A node that runs a kernel.

Examples
--------
>>> definition = cuprum.graph.GraphDefinition()
>>> node = definition.launch(cuprum.LaunchConfig(grid=1, block=32), kernel, buffer)
>>> node.block
(32, 1, 1))");
    type.def_prop_ro(
        "grid",
        [](const PyKernelNode& self) {
            return extents(in_graph([&] { return self.as<KernelNode>().grid(); }));
        },
        nb::sig("def grid(self) -> tuple[int, int, int]"), "Return the grid's three extents.");
    type.def_prop_ro(
        "block",
        [](const PyKernelNode& self) {
            return extents(in_graph([&] { return self.as<KernelNode>().block(); }));
        },
        nb::sig("def block(self) -> tuple[int, int, int]"), "Return the block's three extents.");
    type.def_prop_ro(
        "shmem_size",
        [](const PyKernelNode& self) {
            return in_graph([&] { return self.as<KernelNode>().shmem_size(); });
        },
        "Return the dynamic shared memory per block, in bytes.");
    type.def_prop_ro(
        "kernel",
        [](const PyKernelNode& self) {
            return make<PyKernel>(in_graph([&] { return self.as<KernelNode>().kernel(); }));
        },
        nb::sig("def kernel(self) -> Kernel"), "Return the kernel.");
    type.def_prop_ro(
        "config",
        [](const PyKernelNode& self) {
            return config_object(in_graph_unlocked([&] { return self.as<KernelNode>().config(); }));
        },
        nb::sig("def config(self) -> LaunchConfig"),
        "Return how it is launched, with the attributes that the driver reports.");
    add_kernel_update(type);
    bind_kernel_node_attributes(type);
    type.def("__repr__", [](const PyKernelNode& self) {
        return represent("KernelNode", self, [&] {
            const KernelNode node = self.as<KernelNode>();
            const Kernel kernel = node.kernel();
            const std::string handle =
                " kernel=" + hex_text(reinterpret_cast<std::uintptr_t>(kernel.handle()));
            return compatibility::keeps_reprs_short() ? handle
                                                      : handle + " name='" + kernel.name() +
                                                            "' grid=" + extents_text(node.grid()) +
                                                            " block=" + extents_text(node.block());
        });
    });
}

void bind_kernel_node_attributes(nb::class_<PyKernelNode, PyGraphNode>& type) {
    type.def(
        "argument_bytes",
        [](const PyKernelNode& self, nb::handle index) {
            const std::size_t place = size_argument(index, "index");
            const auto bytes =
                in_graph([&] { return self.as<KernelNode>().argument_bytes(place); });
            return nb::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        },
        "index"_a.none(), nb::sig("def argument_bytes(self, index: int) -> bytes"),
        R"(Return the value of an argument.

Parameters
----------
index : int
    The number of the argument, counted from 0.

Returns
-------
bytes
    As many bytes as the parameter has.

Raises
------
IndexError
    If the kernel has fewer.)");
    type.def(
        "attribute",
        [](const PyKernelNode& self, int id) {
            const RawLaunchAttribute found =
                in_graph_unlocked([&] { return self.as<KernelNode>().attribute(id); });
            return nb::bytes(reinterpret_cast<const char*>(found.value.data()), found.value.size());
        },
        "id"_a, nb::sig("def attribute(self, id: int) -> bytes"),
        R"(Return a launch attribute by the driver's number, 64 bytes.

Parameters
----------
id : int
    A ``CUlaunchAttributeID``.

Returns
-------
bytes
    A ``CUlaunchAttributeValue``.

Raises
------
CUDAError
    If the driver has no such attribute.)");
    type.def(
        "set_attribute",
        [](const PyKernelNode& self, int id, const nb::bytes& value) {
            RawLaunchAttribute attribute{.id = id};
            if (value.size() > attribute.value.size()) {
                raise_error(PyExc_ValueError, "value has " + std::to_string(value.size()) +
                                                  " bytes, expected at most " +
                                                  std::to_string(attribute.value.size()));
            }
            std::memcpy(attribute.value.data(), value.c_str(), value.size());
            in_graph_unlocked([&] { self.as<KernelNode>().set_attribute(attribute); });
        },
        "id"_a, "value"_a, nb::sig("def set_attribute(self, id: int, value: bytes) -> None"),
        R"(Set a launch attribute by the driver's number.

Parameters
----------
id : int
    A ``CUlaunchAttributeID``.
value : bytes
    A ``CUlaunchAttributeValue`` of up to 64 bytes.

Raises
------
ValueError
    If `value` has more than 64 bytes.
GraphClosedError
    If the node was destroyed.
CUDAError
    If the driver does not know the attribute, or refuses the value.)");
    type.def(
        "copy_attributes_from",
        [](const PyKernelNode& self, const PyKernelNode& other) {
            in_graph_unlocked(
                [&] { self.as<KernelNode>().copy_attributes_from(other.as<KernelNode>()); });
        },
        "other"_a, nb::sig("def copy_attributes_from(self, other: KernelNode) -> None"),
        R"(Take over all launch attributes of another kernel node.

Parameters
----------
other : KernelNode
    The node to copy from.

Raises
------
TypeError
    If `other` is not a kernel node.
GraphClosedError
    If one of the nodes was destroyed.)");
}

void bind_callback_node(nb::module_& module) {
    using Node = PyNodeOf<HostCallbackNode>;
    auto type =
        node_class<Node>(module, "HostCallbackNode", R"(A node that calls a function on the host.

Examples
--------
>>> definition = cuprum.graph.GraphDefinition()
>>> node = definition.callback(lambda: print("called"))
>>> definition.instantiate().launch(stream); stream.sync()
called)");
    type.def_prop_ro(
        "callback",
        [](const Node& self) -> nb::object {
            const auto called = in_graph([&] { return self.as<HostCallbackNode>().parameters(); });
            return python_callable(called.function, called.user_data);
        },
        nb::sig("def callback(self) -> collections.abc.Callable[[], object] | None"),
        "Return the Python callable; None if the node calls a C function.");
    type.def(
        "update",
        [](const Node& self, nb::handle function, nb::handle user_data) {
            const HostFunctionParameters called = callback_argument(function, user_data);
            in_graph_unlocked([&] { self.as<HostCallbackNode>().update(called); });
        },
        "fn"_a.none(), nb::kw_only(), "user_data"_a = nb::none(),
        nb::sig("def update(self, fn: collections.abc.Callable[[], object], *, user_data: int | "
                "bytes | None = None) -> None"),
        R"(Replace the function; see ``GraphNode.callback``.

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
GraphClosedError
    If the node was destroyed.)");
    type.def("__repr__", [](const Node& self) {
        return represent("HostCallbackNode", self, [&] {
            const HostFunctionParameters called = self.as<HostCallbackNode>().parameters();
            const nb::object callable = python_callable(called.function, called.user_data);
            if (callable.is_none()) {
                return " cfunc=" + hex_text(c_function(called.function, called.user_data));
            }
            const nb::object name = nb::getattr(callable, "__name__", nb::str("?"));
            return " callback=" + nb::cast<std::string>(nb::str(name));
        });
    });
}

template <typename Kind>
void bind_event_node(nb::module_& module, const char* name, const char* documentation) {
    using Node = PyNodeOf<Kind>;
    auto type = node_class<Node>(module, name, documentation);
    type.def_prop_ro(
        "event",
        [](const Node& self) {
            return make<PyEvent>(in_graph([&] { return self.template as<Kind>().event(); }));
        },
        nb::sig("def event(self) -> Event"), "Return the event.");
    type.def(
        "update",
        [](const Node& self, nb::handle event) {
            const PyEvent& replacement = event_argument(event);
            in_graph_unlocked([&] { self.template as<Kind>().update(replacement); });
        },
        "event"_a.none(), nb::sig("def update(self, event: Event) -> None"), R"(Replace the event.

Parameters
----------
event : Event
    The event to use instead.

Raises
------
TypeError
    If the argument is not an event.
GraphClosedError
    If the event is closed, or the node was destroyed.)");
    type.def("__repr__", [name](const Node& self) {
        return represent(name, self, [&] {
            const Event event = self.template as<Kind>().event();
            return " event=" + hex_text(reinterpret_cast<std::uintptr_t>(event.handle()));
        });
    });
}

} // namespace

} // namespace cuprum::python
