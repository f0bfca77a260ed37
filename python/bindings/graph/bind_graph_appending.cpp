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
#include "support/class.hpp"
#include "texture/texture_objects.hpp"

#include <cuprum/detail/access.hpp>
#include <cuprum/detail/active_captures.hpp>

#include <variant>
#include <vector>

namespace cuprum::python {

namespace {

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

[[nodiscard]] nb::object add_kernel(const GraphAppender& where, nb::handle config,
                                    nb::handle kernel, Rest values) {
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
void add_conditionals(Class<Self>& type) {
    type.method("if_then", [](const Self& self, nb::handle condition) {
        const GraphCondition tested = condition_argument(condition);
        return node_object(in_graph_unlocked([&] { return self.if_then(tested); }));
    });
    type.method("if_else", [](const Self& self, nb::handle condition) {
        const GraphCondition tested = condition_argument(condition);
        return node_object(in_graph_unlocked([&] { return self.if_else(tested); }));
    });
    type.method("while_loop", [](const Self& self, nb::handle condition) {
        const GraphCondition tested = condition_argument(condition);
        return node_object(in_graph_unlocked([&] { return self.while_loop(tested); }));
    });
    type.method("switch", [](const Self& self, nb::handle condition, nb::handle count) {
        const GraphCondition tested = condition_argument(condition);
        const unsigned cases = uint32_argument(count, "count");
        return node_object(in_graph_unlocked([&] { return self.switch_cases(tested, cases); }));
    });
}

[[nodiscard]] GraphMemoryType memory_type_argument(nb::handle memory_type) {
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

[[nodiscard]] GraphAllocationOptions allocation_options(nb::handle device, nb::handle memory_type,
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

template <typename Self>
void add_memory(Class<Self>& type) {
    type.method("allocate", [](const Self& self, std::size_t bytes, nb::handle device,
                               nb::handle memory_type, nb::handle peer_access) {
        const auto how = allocation_options(device, memory_type, peer_access);
        return node_object(in_graph_unlocked([&] { return self.allocate(bytes, how); }));
    });
    type.method("deallocate", [](const Self& self, nb::handle pointer) {
        if (const auto* const allocation = get_if<PyNodeOf<AllocNode>>(pointer)) {
            return node_object(in_graph_unlocked(
                [&] { return self.deallocate(allocation->template as<AllocNode>()); }));
        }
        const CUdeviceptr address = address_argument(pointer, "dptr");
        return node_object(in_graph_unlocked([&] { return self.deallocate(address); }));
    });
    type.method("memset", [](const Self& self, nb::handle dst, nb::handle value, nb::handle width,
                             nb::handle height, nb::handle pitch, nb::handle owner) {
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
    });
    type.method("memcpy", [](const Self& self, nb::handle dst, nb::handle src, std::size_t bytes,
                             nb::handle dst_owner, nb::handle src_owner) {
        const NodeMemory to = memory_argument(dst, dst_owner, "dst", true);
        const NodeMemory from = memory_argument(src, src_owner, "src", false);
        return node_object(in_graph_unlocked([&] { return self.memcpy(to, from, bytes); }));
    });
}

template <typename Self>
void add_order(Class<Self>& type) {
    type.method("empty", [](const Self& self) {
        return node_object(in_graph_unlocked([&] { return self.empty(); }));
    });
    type.method("join", [](const Self& self, const nb::args& given) {
        std::vector<GraphNode> nodes;
        for (const nb::handle each : given) {
            if (const PyGraphNode& node = node_argument(each, "nodes"); !node.is_entry()) {
                nodes.push_back(node);
            }
        }
        return node_object(in_graph_unlocked([&] { return self.join(nodes); }));
    });
    type.method("record", [](const Self& self, nb::handle event) {
        const PyEvent& recorded = event_argument(event);
        return node_object(in_graph_unlocked([&] { return self.record(recorded); }));
    });
    type.method("wait", [](const Self& self, nb::handle event) {
        const PyEvent& awaited = event_argument(event);
        return node_object(in_graph_unlocked([&] { return self.wait(awaited); }));
    });
}

template <typename Self>
void add_work(Class<Self>& type) {
    type.template method<add_kernel>("launch");
    type.method("callback", [](const Self& self, nb::handle function, nb::handle user_data) {
        const HostFunctionParameters called = callback_argument(function, user_data);
        return node_object(in_graph_unlocked([&] { return self.callback(called); }));
    });
    type.method("embed", [](const Self& self, nb::handle child) {
        const PyGraphDefinition& copied = child_argument(child);
        return node_object(in_graph_unlocked([&] { return self.embed(copied); }));
    });
}

template <typename Self>
void add_all(Class<Self>& type) {
    add_work(type);
    add_memory(type);
    add_order(type);
    add_conditionals(type);
}

} // namespace

void add_appending(Class<PyGraphDefinition>& type) {
    add_all(type);
}

void add_appending(Class<PyGraphNode>& type) {
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

} // namespace cuprum::python
