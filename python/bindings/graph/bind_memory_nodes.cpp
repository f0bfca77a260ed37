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

namespace {

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

void bind_memcpy_node(nb::module_& module) {
    using Node = PyNodeOf<MemcpyNode>;
    auto type = node_class<Node>(module, "MemcpyNode");
    number_property<MemcpyNode>(type, "dst", &MemcpyNode::dst);
    number_property<MemcpyNode>(type, "src", &MemcpyNode::src);
    number_property<MemcpyNode>(type, "size", &MemcpyNode::size);
    type.property("extent", [](const Node& self) {
        const auto extent = in_graph([&] { return self.as<MemcpyNode>().extent(); });
        return nb::make_tuple(extent.width, extent.height, extent.depth);
    });
    type.method("update", [](const Node& self, nb::handle dst, nb::handle src, nb::handle size,
                             nb::handle dst_owner, nb::handle src_owner) {
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
    });
    type.method("__repr__", [](const Node& self) {
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
    auto type = node_class<Node>(module, "MemsetNode");
    number_property<MemsetNode>(type, "dptr", &MemsetNode::dptr);
    number_property<MemsetNode>(type, "value", &MemsetNode::value);
    number_property<MemsetNode>(type, "element_size", &MemsetNode::element_size);
    number_property<MemsetNode>(type, "width", &MemsetNode::width);
    number_property<MemsetNode>(type, "height", &MemsetNode::height);
    number_property<MemsetNode>(type, "pitch", &MemsetNode::pitch);
    type.method("update", [](const Node& self, nb::handle dst, nb::handle value, nb::handle width,
                             nb::handle height, nb::handle pitch, nb::handle dst_owner) {
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
    });
    type.method("__repr__", [](const Node& self) {
        return represent("MemsetNode", self, [&] {
            const MemsetNode node = self.as<MemsetNode>();
            return " dptr=" + hex_text(node.dptr()) + " value=" + std::to_string(node.value());
        });
    });
}

void bind_alloc_node(nb::module_& module) {
    using Node = PyNodeOf<AllocNode>;
    auto type = node_class<Node>(module, "AllocNode");
    number_property<AllocNode>(type, "dptr", &AllocNode::dptr);
    number_property<AllocNode>(type, "bytesize", &AllocNode::bytesize);
    number_property<AllocNode>(type, "device_id", &AllocNode::device_id);
    type.property("memory_type", [](const Node& self) {
        return GRAPH_MEMORY_TYPES.member(
            in_graph([&] { return self.as<AllocNode>().memory_type(); }));
    });
    type.property("peer_access", [](const Node& self) {
        nb::list ordinals;
        for (const int ordinal : in_graph([&] { return self.as<AllocNode>().peer_access(); })) {
            ordinals.append(ordinal);
        }
        return nb::tuple(ordinals);
    });
    type.method("__repr__", [](const Node& self) {
        return represent("AllocNode", self, [&] {
            const AllocNode node = self.as<AllocNode>();
            return " dptr=" + hex_text(node.dptr()) + " size=" + std::to_string(node.bytesize());
        });
    });
}

void bind_free_node(nb::module_& module) {
    using Node = PyNodeOf<FreeNode>;
    auto type = node_class<Node>(module, "FreeNode");
    number_property<FreeNode>(type, "dptr", &FreeNode::dptr);
    type.method("__repr__", [](const Node& self) {
        return represent("FreeNode", self,
                         [&] { return " dptr=" + hex_text(self.as<FreeNode>().dptr()); });
    });
}

} // namespace

void bind_memory_nodes(nb::module_& module) {
    bind_memcpy_node(module);
    bind_memset_node(module);
    bind_alloc_node(module);
    bind_free_node(module);
}

} // namespace cuprum::python
