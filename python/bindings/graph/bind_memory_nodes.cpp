// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/bind_graph_appending.hpp"
#include "graph/bind_graph_node.hpp"
#include "graph/graph_choices.hpp"
#include "memory/buffer_parts.hpp"
#include "support/arguments.hpp"
#include "support/compatibility.hpp"

#include <nanobind/stl/string.h>

#include <optional>
#include <string>
#include <variant>

namespace cuprum::python {

using namespace nb::literals;

namespace {

void bind_memcpy_node(nb::module_& module);
void bind_memset_node(nb::module_& module);
void bind_alloc_node(nb::module_& module);
void bind_free_node(nb::module_& module);

/// Returns a size, or nothing for None.
[[nodiscard]] std::optional<std::size_t> optional_size(nb::handle value, const char* name) {
    if (value.is_none()) {
        return std::nullopt;
    }
    if (Py_ssize_t number = 0; compatibility::calls_negative_sizes_overflow() &&
                               read_small_int(value, number) && number < 0) {
        raise_error(PyExc_OverflowError,
                    std::string(name) + " must be at least 0, got " + std::to_string(number));
    }
    return size_argument(value, name);
}

/// Returns memory, or nothing for None.
/// @throws ValueError for an owner without memory.
[[nodiscard]] std::optional<NodeMemory> optional_memory(nb::handle operand, nb::handle owner,
                                                        const char* name, bool is_written) {
    if (!operand.is_none()) {
        return memory_argument(operand, owner, name, is_written);
    }
    if (!owner.is_none()) {
        raise_error(PyExc_ValueError, std::string(name) + "_owner requires " + name +
                                          ": it is the owner of the memory there");
    }
    return std::nullopt;
}

} // namespace

void bind_memory_nodes(nb::module_& module) {
    bind_memcpy_node(module);
    bind_memset_node(module);
    bind_alloc_node(module);
    bind_free_node(module);
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

void bind_memcpy_node(nb::module_& module) {
    using Node = PyNodeOf<MemcpyNode>;
    auto type = node_class<Node>(module, "MemcpyNode", R"(A node that copies memory.

Examples
--------
>>> definition = cuprum.graph.GraphDefinition()
>>> node = definition.memcpy(device.allocate(1024, stream=stream), buffer, 1024)
>>> node.size
1024)");
    number_property<MemcpyNode>(type, "dst", &MemcpyNode::dst,
                                "Return the address that it writes to.");
    number_property<MemcpyNode>(type, "src", &MemcpyNode::src,
                                "Return the address that it reads from.");
    number_property<MemcpyNode>(type, "size", &MemcpyNode::size,
                                "Return the bytes that it copies, or those of one row.");
    type.def_prop_ro(
        "extent",
        [](const Node& self) {
            const auto extent = in_graph([&] { return self.as<MemcpyNode>().extent(); });
            return nb::make_tuple(extent.width, extent.height, extent.depth);
        },
        nb::sig("def extent(self) -> tuple[int, int, int]"),
        "Return the bytes in a row, the rows in a slice and the slices.");
    type.def(
        "update",
        [](const Node& self, nb::handle dst, nb::handle src, nb::handle size, nb::handle dst_owner,
           nb::handle src_owner) {
            const MemcpyUpdate change{.dst = optional_memory(dst, dst_owner, "dst", true),
                                      .src = optional_memory(src, src_owner, "src", false),
                                      .size = optional_size(size, "size")};
            if (!change.dst && !change.src && !change.size) {
                return;
            }
            const MemcpyNode node = in_graph([&] { return self.as<MemcpyNode>(); });
            if (node.is_valid() && !in_graph([&] { return node.is_one_dimensional(); })) {
                raise_error(PyExc_NotImplementedError,
                            "the node's copy is multidimensional or between arrays, and dst, src "
                            "and size describe a plain one: destroy it and add another");
            }
            in_graph_unlocked([&] { node.update(change); });
        },
        nb::kw_only(), "dst"_a = nb::none(), "src"_a = nb::none(), "size"_a = nb::none(),
        "dst_owner"_a = nb::none(), "src_owner"_a = nb::none(),
        nb::sig("def update(self, *, dst: Buffer | AllocNode | int | None = None, src: Buffer | "
                "AllocNode | int | None = None, size: int | None = None, dst_owner: object = None, "
                "src_owner: object = None) -> None"),
        R"(Replace what is given and keep the rest; see ``GraphNode.memcpy``.

Executable graphs made before are not affected.

Parameters
----------
dst : Buffer, AllocNode or int, optional
    Where to write.
src : Buffer, AllocNode or int, optional
    Where to read.
size : int, optional
    The number of bytes.
dst_owner : object, optional
    An object to keep alive, if `dst` is an address.
src_owner : object, optional
    An object to keep alive, if `src` is an address.

Raises
------
NotImplementedError
    If the node copies a rectangle, a box or an array.)");
    type.def("__repr__", [](const Node& self) {
        const auto side = [](CUdeviceptr address, bool is_host) {
            return hex_text(address) + (is_host ? "(H)" : "(D)");
        };
        return represent("MemcpyNode", self, [&] {
            const MemcpyNode node = self.as<MemcpyNode>();
            return " dst=" + side(node.dst(), node.is_dst_on_host()) +
                   " src=" + side(node.src(), node.is_src_on_host()) +
                   " size=" + std::to_string(node.size());
        });
    });
}

void bind_memset_node(nb::module_& module) {
    using Node = PyNodeOf<MemsetNode>;
    auto type = node_class<Node>(module, "MemsetNode", R"(A node that fills memory.

Examples
--------
>>> definition = cuprum.graph.GraphDefinition()
>>> node = definition.memset(buffer, 7, 64)
>>> node.value, node.width
(7, 64))");
    number_property<MemsetNode>(type, "dptr", &MemsetNode::dptr,
                                "Return the address that it writes to.");
    number_property<MemsetNode>(type, "value", &MemsetNode::value,
                                "Return the value of one element.");
    number_property<MemsetNode>(type, "element_size", &MemsetNode::element_size,
                                "Return the bytes of one element: 1, 2 or 4.");
    number_property<MemsetNode>(type, "width", &MemsetNode::width, "Return the elements in a row.");
    number_property<MemsetNode>(type, "height", &MemsetNode::height, "Return the number of rows.");
    number_property<MemsetNode>(type, "pitch", &MemsetNode::pitch,
                                "Return the bytes from row to row.");
    type.def(
        "update",
        [](const Node& self, nb::handle dst, nb::handle value, nb::handle width, nb::handle height,
           nb::handle pitch, nb::handle dst_owner) {
            MemsetUpdate change{.dst = optional_memory(dst, dst_owner, "dst", true),
                                .width = optional_size(width, "width"),
                                .height = optional_size(height, "height"),
                                .pitch = optional_size(pitch, "pitch")};
            if (!value.is_none()) {
                std::visit(
                    [&](auto pattern) {
                        change.value = pattern;
                        change.element_size = static_cast<unsigned>(sizeof(pattern));
                    },
                    pattern_argument(value));
            }
            if (!change.dst && !change.value && !change.width && !change.height && !change.pitch) {
                return;
            }
            in_graph_unlocked([&] { self.as<MemsetNode>().update(change); });
        },
        nb::kw_only(), "dst"_a = nb::none(), "value"_a = nb::none(), "width"_a = nb::none(),
        "height"_a = nb::none(), "pitch"_a = nb::none(), "dst_owner"_a = nb::none(),
        nb::sig("def update(self, *, dst: Buffer | AllocNode | int | None = None, value: object = "
                "None, width: int | None = None, height: int | None = None, pitch: int | None = "
                "None, dst_owner: object = None) -> None"),
        R"(Replace what is given and keep the rest; see ``GraphNode.memset``.

Executable graphs made before are not affected.

Parameters
----------
dst : Buffer, AllocNode or int, optional
    Where to write.
value : object, optional
    An int from 0 to 255, or the 1, 2 or 4 bytes of one element.
width : int, optional
    Elements in a row.
height : int, optional
    The number of rows.
pitch : int, optional
    Bytes from row to row.
dst_owner : object, optional
    An object to keep alive, if `dst` is an address.

Raises
------
ValueError
    If the value has another size than 1, 2 or 4 bytes, or the fill does not fit into the
    buffer.)");
    type.def("__repr__", [](const Node& self) {
        return represent("MemsetNode", self, [&] {
            const MemsetNode node = self.as<MemsetNode>();
            return " dptr=" + hex_text(node.dptr()) + " value=" + std::to_string(node.value());
        });
    });
}

void bind_alloc_node(nb::module_& module) {
    using Node = PyNodeOf<AllocNode>;
    auto type =
        node_class<Node>(module, "AllocNode", R"(A node that allocates memory at each launch.

Examples
--------
>>> definition = cuprum.graph.GraphDefinition()
>>> memory = definition.allocate(64)
>>> fill = memory.memset(memory, 0, 64)
>>> free = fill.deallocate(memory))");
    number_property<AllocNode>(type, "dptr", &AllocNode::dptr,
                               "Return the address, which is the same for all launches.");
    number_property<AllocNode>(type, "bytesize", &AllocNode::bytesize, "Return the size in bytes.");
    number_property<AllocNode>(type, "device_id", &AllocNode::device_id,
                               "Return the ordinal of the device whose memory it is.");
    type.def_prop_ro(
        "memory_type",
        [](const Node& self) {
            return GRAPH_MEMORY_TYPES.member(
                in_graph([&] { return self.as<AllocNode>().memory_type(); }));
        },
        nb::sig("def memory_type(self) -> cuprum.typing.GraphMemoryType"),
        "Return the kind of memory.");
    type.def_prop_ro(
        "peer_access",
        [](const Node& self) {
            nb::list ordinals;
            for (const int ordinal : in_graph([&] { return self.as<AllocNode>().peer_access(); })) {
                ordinals.append(ordinal);
            }
            return nb::tuple(ordinals);
        },
        nb::sig("def peer_access(self) -> tuple[int, ...]"),
        "Return the ordinals of other devices that may access it.");
    type.def("__repr__", [](const Node& self) {
        return represent("AllocNode", self, [&] {
            const AllocNode node = self.as<AllocNode>();
            return " dptr=" + hex_text(node.dptr()) + " size=" + std::to_string(node.bytesize());
        });
    });
}

void bind_free_node(nb::module_& module) {
    using Node = PyNodeOf<FreeNode>;
    auto type = node_class<Node>(module, "FreeNode", R"(A node that frees memory of a graph.

Examples
--------
>>> definition = cuprum.graph.GraphDefinition()
>>> memory = definition.allocate(64)
>>> memory.deallocate(memory).dptr == memory.dptr
True)");
    number_property<FreeNode>(type, "dptr", &FreeNode::dptr, "Return the address that it frees.");
    type.def("__repr__", [](const Node& self) {
        return represent("FreeNode", self,
                         [&] { return " dptr=" + hex_text(self.as<FreeNode>().dptr()); });
    });
}

} // namespace

} // namespace cuprum::python
