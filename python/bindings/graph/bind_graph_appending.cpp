// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/bind_graph_appending.hpp"

#include "arrays/numpy_scalars.hpp"
#include "arrays/tensor_map.hpp"
#include "graph/graph_choices.hpp"
#include "graph/host_callback.hpp"
#include "graph/released_owners.hpp"
#include "launch/kernel_arguments.hpp"
#include "launch/kernel_objects.hpp"
#include "launch/launch_config.hpp"
#include "memory/buffer_objects.hpp"
#include "memory/buffer_parts.hpp"
#include "memory/memory_objects.hpp"
#include "stream/stream_objects.hpp"
#include "support/arguments.hpp"
#include "support/fast_method.hpp"
#include "support/gil.hpp"
#include "texture/texture_objects.hpp"

#include <cuprum/detail/access.hpp>
#include <cuprum/detail/active_captures.hpp>

#include <nanobind/stl/string.h>

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace cuprum::python {

using namespace nb::literals;

namespace {

template <typename Self>
[[nodiscard, gnu::hot]] PyObject* launch(PyObject* self, PyObject* const* values, Py_ssize_t given,
                                         PyObject* keywords) noexcept;
[[nodiscard]] GraphAllocationOptions allocation_options(nb::handle device, nb::handle memory_type,
                                                        nb::handle peer_access);
[[nodiscard]] GraphMemoryType memory_type_argument(nb::handle memory_type);

/// Returns whether a graph keeps an argument of a kernel.
[[nodiscard]] bool is_kept(PyObject* value) {
    PyTypeObject* const type = Py_TYPE(value);
    // NOTE: an AllocNode has a share of its graph, which must not keep itself alive. Of a texture
    // or surface the core keeps a share, so that closing the Python object is harmless.
    return type != &PyLong_Type && type != &PyFloat_Type && type != &PyBool_Type &&
           type != TYPE<PyNodeOf<AllocNode>> && type != TYPE<GraphCondition> &&
           type != TYPE<PyTextureObject> && type != TYPE<PySurfaceObject> &&
           known_numpy_scalar(type).kind == NumpyScalar::Kind::None;
}

/// Returns what keeps the memory of an argument alive. A tensor map may describe other memory
/// later, so that is its view and not the map.
[[nodiscard]] PyObject* keeper_of(PyObject* value) noexcept {
    const auto* const map = get_if<PyTensorMap>(value);
    return map == nullptr ? value : map->view.ptr();
}

/// Keeps those values for a graph that `is_wanted` chooses.
template <typename Choice>
[[nodiscard]] std::shared_ptr<void> keep_those(std::span<PyObject* const> values,
                                               const Choice& is_wanted) {
    Py_ssize_t count = 0;
    PyObject* last = nullptr;
    for (PyObject* const value : values) {
        if (is_wanted(value)) {
            ++count;
            last = keeper_of(value);
        }
    }
    if (count <= 1) {
        return count == 0 ? nullptr : keep_for_graph(nb::borrow(last));
    }
    nb::object kept = nb::steal(PyTuple_New(count));
    if (!kept.is_valid()) {
        throw nb::python_error();
    }
    Py_ssize_t place = 0;
    for (PyObject* const value : values) {
        if (is_wanted(value)) {
            PyTuple_SET_ITEM(kept.ptr(), place++, Py_NewRef(keeper_of(value)));
        }
    }
    return keep_for_graph(std::move(kept));
}

template <typename Self>
void add_work(nb::class_<Self>& type);
template <typename Self>
void add_memory(nb::class_<Self>& type);
template <typename Self>
void add_order(nb::class_<Self>& type);
template <typename Self>
void add_conditionals(nb::class_<Self>& type);

template <typename Self>
void add_all(nb::class_<Self>& type) {
    add_work(type);
    add_memory(type);
    add_order(type);
    add_conditionals(type);
}

} // namespace

void add_appending(nb::class_<PyGraphDefinition>& type) {
    add_all(type);
}

void add_appending(nb::class_<PyGraphNode>& type) {
    add_all(type);
}

NodeMemory memory_argument(nb::handle operand, nb::handle owner, const char* name,
                           bool is_written) {
    const std::string label(name);
    const auto active = [](const PyBuffer& buffer, const std::string& which) -> const PyBuffer& {
        if (buffer.is_closed()) {
            raise_named("GraphClosedError",
                        (which + " Buffer has no active allocation: it is closed").c_str());
        }
        return buffer;
    };
    if (const PyBuffer* const buffer = get_if<PyBuffer>(operand)) {
        if (!owner.is_none()) {
            raise_error(PyExc_ValueError, label + "_owner cannot be used when " + label +
                                              " is a Buffer: the graph keeps its memory alive");
        }
        if (is_written) {
            check_writable(active(*buffer, label), name);
        }
        return lasting_share(active(*buffer, label));
    }
    if (const auto* const allocation = get_if<PyNodeOf<AllocNode>>(operand)) {
        return in_graph([&] { return NodeMemory(allocation->template as<AllocNode>()); });
    }
    const CUdeviceptr address = address_argument(operand, name);
    if (owner.is_none()) {
        return address;
    }
    if (const PyBuffer* const buffer = get_if<PyBuffer>(owner)) {
        return {address, detail::Access::state(lasting_share(active(*buffer, label + "_owner")))};
    }
    return {address, keep_for_graph(nb::borrow(owner))};
}

const PyEvent& event_argument(nb::handle event) {
    const PyEvent* const held = get_if<PyEvent>(event);
    if (held == nullptr) {
        raise_error(PyExc_TypeError, "event must be an Event, got " + type_label(event));
    }
    return *held;
}

std::shared_ptr<void> keep_arguments(std::span<PyObject* const> values) {
    return keep_those(values, is_kept);
}

void keep_captured(const Stream& stream, std::span<PyObject* const> values) {
    if (values.empty()) {
        return;
    }
    if (const BufferList buffers(values); !buffers.all().empty()) {
        detail::retain_buffers(stream, buffers.all());
    }
    for (const detail::HandleArgument* const handle : handle_arguments(values)) {
        detail::retain_handle(stream, *handle);
    }
    auto kept = keep_those(values, [](PyObject* value) {
        const auto* const buffer = get_if<PyBuffer>(value);
        const bool is_graph_memory =
            buffer != nullptr && buffer->resource.is_valid() &&
            PyObject_TypeCheck(buffer->resource.ptr(), TYPE<PyGraphMemoryResource>) != 0;
        return is_kept(value) && !is_graph_memory;
    });
    if (kept != nullptr) {
        detail::retain_object(stream, std::move(kept));
    }
}

BufferList::BufferList(std::span<PyObject* const> values) {
    for (PyObject* const value : values) {
        if (Py_TYPE(value) == &PyLong_Type || Py_TYPE(value) == &PyFloat_Type) {
            continue;
        }
        const auto* const buffer = get_if<PyBuffer>(value);
        if (buffer == nullptr || buffer->kept.is_valid()) {
            continue;
        }
        if (count_ < few_.size()) {
            few_[count_++] = buffer;
            continue;
        }
        if (several_.empty()) {
            several_.assign(few_.begin(), few_.end());
        }
        several_.push_back(buffer);
    }
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

template <typename Self>
void add_work(nb::class_<Self>& type) {
    constexpr const char* signature =
        "def launch(self, config: LaunchConfig | dict, kernel: Kernel, *args: object) -> "
        "KernelNode";
    fast::add_method(type, signature,
                     {.name = "launch", .text = "launch($self, /, config, kernel, *args)"},
                     R"(Add a kernel node.

Parameters
----------
config : LaunchConfig or dict
    Grid, block and the rest, clusters and cooperative launches included.
kernel : Kernel
    What to run.
*args : Buffer, array, texture, surface, AllocNode, condition, number, numpy scalar, ctypes or bytes
    One for each parameter, as `cuprum.launch` takes them. Their values are copied now. The graph
    keeps the objects alive as long as it, a clone or an executable may run the kernel.

Returns
-------
KernelNode
    The new node.

Raises
------
TypeError
    If count, type or size of the arguments is not what the kernel takes.)",
                     fast::as_method(launch<Self>), METH_FASTCALL | METH_KEYWORDS);
    type.def(
        "callback",
        [](const Self& self, nb::handle function, nb::handle user_data) {
            const HostFunctionParameters called = callback_argument(function, user_data);
            return node_object(in_graph_unlocked([&] { return self.callback(called); }));
        },
        "fn"_a.none(), nb::kw_only(), "user_data"_a = nb::none(),
        nb::sig("def callback(self, fn: collections.abc.Callable[[], object], *, user_data: int | "
                "bytes | None = None) -> HostCallbackNode"),
        R"(Add a node that calls a function on the host.

The function runs on a thread of the driver and must not call CUDA. An exception that it raises goes
to ``sys.unraisablehook``, and the graph goes on. Python's garbage collector does not see the graph's
reference: a function that refers to its own graph keeps both alive.

Parameters
----------
fn : callable or ctypes function
    A callable without arguments. Or a C function that returns nothing and takes one pointer:
    ``ctypes.CFUNCTYPE(None, ctypes.c_void_p)``.
user_data : int or bytes-like, optional
    The argument of a C function: an address, or bytes that are copied.

Returns
-------
HostCallbackNode
    The new node.

Raises
------
TypeError
    If `fn` cannot be called.)");
    type.def(
        "embed",
        [](const Self& self, nb::handle child) {
            const PyGraphDefinition& copied = child_argument(child);
            return node_object(in_graph_unlocked([&] { return self.embed(copied); }));
        },
        "child"_a.none(), nb::sig("def embed(self, child: GraphDefinition) -> ChildGraphNode"),
        R"(Add a copy of another graph as one node.

Parameters
----------
child : GraphDefinition
    The graph to copy. Later changes of it have no effect here.

Returns
-------
ChildGraphNode
    The new node.

Raises
------
TypeError
    If the child is not a graph.)");
}

template <typename Self>
void add_memory(nb::class_<Self>& type) {
    type.def(
        "allocate",
        [](const Self& self, nb::handle size, nb::handle device, nb::handle memory_type,
           nb::handle peer_access) {
            const std::size_t bytes = size_argument(size, "size");
            const auto how = allocation_options(device, memory_type, peer_access);
            return node_object(in_graph_unlocked([&] { return self.allocate(bytes, how); }));
        },
        "size"_a.none(), nb::kw_only(), "device"_a = nb::none(), "memory_type"_a = nb::none(),
        "peer_access"_a = nb::none(),
        nb::sig("def allocate(self, size: int, *, device: Device | int | None = None, memory_type: "
                "cuprum.typing.GraphMemoryType | str | None = 'device', peer_access: "
                "collections.abc.Sequence[Device | int] | None = None) -> AllocNode"),
        R"(Add a node that allocates memory at every launch.

The address is known at once and the same for all launches.

Parameters
----------
size : int
    Bytes, at least 1.
device : Device or int, optional
    Whose memory. Without it, that of the current device.
memory_type : GraphMemoryType or str, optional
    ``"device"``, ``"host"`` (pinned) or ``"managed"``.
peer_access : sequence of Device or int, optional
    Other devices that may read and write it.

Returns
-------
AllocNode
    The new node; its ``dptr`` is the address.

Raises
------
ValueError
    If the size is negative, or there is no such kind of memory.)");
    type.def(
        "deallocate",
        [](const Self& self, nb::handle pointer) {
            if (const auto* const allocation = get_if<PyNodeOf<AllocNode>>(pointer)) {
                return node_object(in_graph_unlocked(
                    [&] { return self.deallocate(allocation->template as<AllocNode>()); }));
            }
            const CUdeviceptr address = address_argument(pointer, "dptr");
            return node_object(in_graph_unlocked([&] { return self.deallocate(address); }));
        },
        "dptr"_a.none(), nb::sig("def deallocate(self, dptr: AllocNode | int) -> FreeNode"),
        R"(Add a node that frees the memory of an allocation node.

Parameters
----------
dptr : AllocNode or int
    The allocation, or its address.

Returns
-------
FreeNode
    The new node.

Raises
------
GraphError
    If the graph frees it already.)");
    type.def(
        "memset",
        [](const Self& self, nb::handle dst, nb::handle value, nb::handle width, nb::handle height,
           nb::handle pitch, nb::handle owner) {
            MemsetParameters how{.dst = memory_argument(dst, owner, "dst", true),
                                 .width = size_argument(width, "width"),
                                 .height = size_argument(height, "height"),
                                 .pitch = size_argument(pitch, "pitch")};
            std::visit(
                [&](auto pattern) {
                    how.value = pattern;
                    how.element_size = sizeof(pattern);
                },
                pattern_argument(value));
            return node_object(in_graph_unlocked([&] { return self.memset(how); }));
        },
        "dst"_a.none(), "value"_a.none(), "width"_a.none(), "height"_a.none() = 1,
        "pitch"_a.none() = 0, nb::kw_only(), "dst_owner"_a = nb::none(),
        nb::sig("def memset(self, dst: Buffer | AllocNode | int, value: object, width: int, "
                "height: int = 1, pitch: int = 0, *, dst_owner: object = None) -> MemsetNode"),
        R"(Add a node that fills memory.

Parameters
----------
dst : Buffer, AllocNode or int
    Where. The graph keeps the memory of a Buffer alive, whatever happens to the Buffer.
value : int or bytes-like
    An int from 0 to 255, or the 1, 2 or 4 bytes of one element.
width : int
    Elements in a row.
height : int, optional
    Rows.
pitch : int, optional
    Bytes from row to row; unused for one row.
dst_owner : object, optional
    An object to keep alive if `dst` is an address.

Returns
-------
MemsetNode
    The new node.

Raises
------
ValueError
    If the value has another size than 1, 2 or 4 bytes, or the fill does not fit into the
    buffer.)");
    type.def(
        "memcpy",
        [](const Self& self, nb::handle dst, nb::handle src, nb::handle size, nb::handle dst_owner,
           nb::handle src_owner) {
            const NodeMemory to = memory_argument(dst, dst_owner, "dst", true);
            const NodeMemory from = memory_argument(src, src_owner, "src", false);
            const std::size_t bytes = size_argument(size, "size");
            return node_object(in_graph_unlocked([&] { return self.memcpy(to, from, bytes); }));
        },
        "dst"_a.none(), "src"_a.none(), "size"_a.none(), nb::kw_only(), "dst_owner"_a = nb::none(),
        "src_owner"_a = nb::none(),
        nb::sig("def memcpy(self, dst: Buffer | AllocNode | int, src: Buffer | AllocNode | int, "
                "size: int, *, dst_owner: object = None, src_owner: object = None) -> MemcpyNode"),
        R"(Add a node that copies memory, of devices or of the host.

Parameters
----------
dst, src : Buffer, AllocNode or int
    To where and from where. The graph keeps the memory of a Buffer alive, whatever happens to the
    Buffer.
size : int
    Bytes.
dst_owner, src_owner : object, optional
    Objects to keep alive if `dst` or `src` is an address.

Returns
-------
MemcpyNode
    The new node.

Raises
------
ValueError
    If the copy does not fit into a buffer.)");
}

template <typename Self>
void add_order(nb::class_<Self>& type) {
    type.def(
        "empty",
        [](const Self& self) {
            return node_object(in_graph_unlocked([&] { return self.empty(); }));
        },
        nb::sig("def empty(self) -> EmptyNode"),
        R"(Add a node that does nothing, to gather dependencies.

Returns
-------
EmptyNode
    The node.

Raises
------
GraphClosedError
    If the graph is closed, or this node was destroyed.)");
    type.def(
        "join",
        [](const Self& self, const nb::args& given) {
            std::vector<GraphNode> nodes;
            for (const nb::handle each : given) {
                if (const PyGraphNode& node = node_argument(each, "nodes"); !node.is_entry()) {
                    nodes.push_back(node);
                }
            }
            return node_object(in_graph_unlocked([&] { return self.join(nodes); }));
        },
        "nodes"_a, nb::sig("def join(self, *nodes: GraphNode) -> EmptyNode"),
        R"(Add an empty node that depends on other nodes as well.

Parameters
----------
*nodes : GraphNode
    Nodes of the same graph.

Returns
-------
EmptyNode
    The new node.

Raises
------
TypeError
    If an argument is not a node.
GraphError
    If a node belongs to another graph.
GraphClosedError
    If the graph is closed, or a node was destroyed.)");
    type.def(
        "record",
        [](const Self& self, nb::handle event) {
            const PyEvent& recorded = event_argument(event);
            return node_object(in_graph_unlocked([&] { return self.record(recorded); }));
        },
        "event"_a.none(), nb::sig("def record(self, event: Event) -> EventRecordNode"),
        R"(Add a node that records an event.

Parameters
----------
event : Event
    The event to record at each launch.

Returns
-------
EventRecordNode
    The node.

Raises
------
TypeError
    If the argument is not an event.)");
    type.def(
        "wait",
        [](const Self& self, nb::handle event) {
            const PyEvent& awaited = event_argument(event);
            return node_object(in_graph_unlocked([&] { return self.wait(awaited); }));
        },
        "event"_a.none(), nb::sig("def wait(self, event: Event) -> EventWaitNode"),
        R"(Add a node that waits for an event.

Parameters
----------
event : Event
    The event to wait for at each launch.

Returns
-------
EventWaitNode
    The node.

Raises
------
TypeError
    If the argument is not an event.)");
}

template <typename Self>
void add_conditionals(nb::class_<Self>& type) {
    type.def(
        "if_then",
        [](const Self& self, nb::handle condition) {
            const GraphCondition tested = condition_argument(condition);
            return node_object(in_graph_unlocked([&] { return self.if_then(tested); }));
        },
        "condition"_a.none(), nb::sig("def if_then(self, condition: GraphCondition) -> IfNode"),
        R"(Add a node that runs its body, ``then``, if a condition is not 0.

Parameters
----------
condition : GraphCondition
    A condition of this graph.

Returns
-------
IfNode
    The node, whose body is empty.

Raises
------
TypeError
    If `condition` is not a GraphCondition.
CUDAError
    If the condition is used already, or belongs to another graph.
GraphClosedError
    If the graph is closed, or this node was destroyed.)");
    type.def(
        "if_else",
        [](const Self& self, nb::handle condition) {
            const GraphCondition tested = condition_argument(condition);
            return node_object(in_graph_unlocked([&] { return self.if_else(tested); }));
        },
        "condition"_a.none(), nb::sig("def if_else(self, condition: GraphCondition) -> IfElseNode"),
        R"(Add a node that runs ``then`` if a condition is not 0, and ``else_`` if it is.

Parameters
----------
condition : GraphCondition
    A condition of this graph.

Returns
-------
IfElseNode
    The node, whose bodies are empty.

Raises
------
TypeError
    If `condition` is not a GraphCondition.
CUDAError
    If the condition is used already, or belongs to another graph.
GraphClosedError
    If the graph is closed, or this node was destroyed.)");
    type.def(
        "while_loop",
        [](const Self& self, nb::handle condition) {
            const GraphCondition tested = condition_argument(condition);
            return node_object(in_graph_unlocked([&] { return self.while_loop(tested); }));
        },
        "condition"_a.none(),
        nb::sig("def while_loop(self, condition: GraphCondition) -> WhileNode"),
        R"(Add a node that runs its body as long as a condition is not 0.

Parameters
----------
condition : GraphCondition
    A condition of this graph.

Returns
-------
WhileNode
    The node, whose body is empty.

Raises
------
TypeError
    If `condition` is not a GraphCondition.
CUDAError
    If the condition is used already, or belongs to another graph.
GraphClosedError
    If the graph is closed, or this node was destroyed.)");
    type.def(
        "switch",
        [](const Self& self, nb::handle condition, nb::handle count) {
            const GraphCondition tested = condition_argument(condition);
            const unsigned cases = uint32_argument(count, "count");
            return node_object(in_graph_unlocked([&] { return self.switch_cases(tested, cases); }));
        },
        "condition"_a.none(), "count"_a.none(),
        nb::sig("def switch(self, condition: GraphCondition, count: int) -> SwitchNode"),
        R"(Add a node that runs the body whose index a condition is.

Parameters
----------
condition : GraphCondition
    If there is no body with this index, none runs.
count : int
    How many bodies there are: ``branches`` of the node.

Returns
-------
SwitchNode
    The new node.

Raises
------
ValueError
    If `count` is less than 1.)");
}

[[nodiscard]] nb::object add_kernel(const GraphAppender& where, nb::handle config,
                                    nb::handle kernel, std::span<PyObject* const> values) {
    const PyKernel* const what = get_if<PyKernel>(kernel);
    if (what == nullptr) [[unlikely]] {
        raise_error(PyExc_TypeError, "kernel must be a Kernel, got " + type_label(kernel));
    }
    nb::object made;
    const PyLaunchConfig& how = config_argument(config, made);
    const KernelArguments arguments(*what, values, nullptr);
    const auto handles = handle_arguments(values);
    const detail::NodeArguments packed{.addresses = arguments.addresses(),
                                       .handles = handles,
                                       .owner = keep_arguments(values),
                                       .is_packed = true};
    const KernelNode node = in_graph([&] {
        const Brief unlocked(!what->is_loaded.load(std::memory_order_relaxed));
        return where.launch_with(how.core, *what, packed);
    });
    what->is_loaded.store(true, std::memory_order_relaxed);
    return node_object(node);
}

template <typename Self>
PyObject* launch(PyObject* self, PyObject* const* values, Py_ssize_t given,
                 PyObject* keywords) noexcept {
    constexpr std::size_t leading = 2;
    return fast::answer([&] {
        const auto& where = fast::self_argument<const Self&>(self);
        const auto count = static_cast<std::size_t>(given);
        if (keywords == nullptr && count >= leading) [[likely]] {
            return add_kernel(where, values[0], values[1], {values + leading, count - leading});
        }
        static fast::ParameterList parameters = [] {
            fast::ParameterList list;
            static_cast<void>(
                fast::read_signature("def launch(self, config: object, kernel: object)", list));
            return list;
        }();
        std::array<PyObject*, leading> sorted{};
        parameters.sort(values, count, keywords, sorted.data());
        return add_kernel(where, sorted[0], sorted[1], {});
    });
}

GraphAllocationOptions allocation_options(nb::handle device, nb::handle memory_type,
                                          nb::handle peer_access) {
    GraphAllocationOptions how;
    if (!memory_type.is_none()) {
        how.memory_type = memory_type_argument(memory_type);
    }
    if (!device.is_none()) {
        how.device = device_argument(device, "device");
    }
    if (!peer_access.is_none()) {
        for (const nb::handle each : nb::borrow<nb::object>(peer_access)) {
            how.peer_access.push_back(device_argument(each, "peer_access"));
        }
    }
    return how;
}

GraphMemoryType memory_type_argument(nb::handle memory_type) {
    std::string expected;
    for (const auto& choice : GRAPH_MEMORY_TYPES.all) {
        if (PyUnicode_Check(memory_type.ptr()) != 0 &&
            text_argument(memory_type, "memory_type") == choice.name) {
            return choice.value;
        }
        expected += (expected.empty() ? "'" : ", '") + std::string(choice.name) + "'";
    }
    raise_error(PyExc_ValueError, "memory_type: " + repr_text(memory_type) +
                                      " is not a valid GraphMemoryType. Must be one of " +
                                      expected);
}

} // namespace

} // namespace cuprum::python
