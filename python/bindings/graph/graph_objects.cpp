// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/graph_objects.hpp"

#include "graph/graph_choices.hpp"
#include "stream/stream_objects.hpp"
#include "support/arguments.hpp"
#include "support/gil.hpp"

#include <cuprum/detail/access.hpp>

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cuprum::python {

namespace {

/// The Python object of a node, borrowed.
struct Known {
    PyObject* object;           // a weak reference to it where there is no GIL
    const PyGraphNode* payload; // what it holds
};

/// The objects of all nodes, by the node: open addressing, so that a node costs no allocation.
class KnownNodes {
public:
    [[nodiscard]] const Known* find(const void* key) const noexcept {
        const std::size_t place = place_of(key);
        return slots_.empty() || slots_[place].key == nullptr ? nullptr : &slots_[place].known;
    }

    void insert(const void* key, const Known& known) {
        constexpr std::size_t least = 64;
        if ((count_ + 1) * 2 > slots_.size()) {
            grow(std::max(least, slots_.size() * 2));
        }
        Slot& slot = slots_[place_of(key)];
        count_ += slot.key == nullptr ? 1 : 0;
        slot = {key, known};
    }

    void erase(const void* key) noexcept {
        std::size_t gap = place_of(key);
        // Later entries move up into the gap, unless that is before their home.
        for (std::size_t next = (gap + 1) & mask(); slots_[next].key != nullptr;
             next = (next + 1) & mask()) {
            const std::size_t home = home_of(slots_[next].key);
            if (((next - home) & mask()) >= ((next - gap) & mask())) {
                slots_[gap] = slots_[next];
                gap = next;
            }
        }
        slots_[gap] = {};
        --count_;
    }

    template <typename Function>
    void for_each(const Function& function) const {
        for (const Slot& slot : slots_) {
            if (slot.key != nullptr) {
                function(slot.key, slot.known);
            }
        }
    }

private:
    struct Slot {
        const void* key = nullptr;
        Known known = {};
    };

    [[nodiscard]] std::size_t mask() const noexcept { return slots_.size() - 1; }

    [[nodiscard]] std::size_t home_of(const void* key) const noexcept {
        constexpr std::uint64_t spread = 0x9E3779B97F4A7C15;
        constexpr unsigned upper_half = 32;
        return static_cast<std::size_t>((reinterpret_cast<std::uintptr_t>(key) * spread) >>
                                        upper_half) &
               mask();
    }

    /// Returns where a key is, or where it would be.
    [[nodiscard]] std::size_t place_of(const void* key) const noexcept {
        if (slots_.empty()) {
            return 0;
        }
        std::size_t place = home_of(key);
        while (slots_[place].key != nullptr && slots_[place].key != key) {
            place = (place + 1) & mask();
        }
        return place;
    }

    void grow(std::size_t size) {
        std::vector<Slot> before(size);
        before.swap(slots_);
        for (const Slot& slot : before) {
            if (slot.key != nullptr) {
                slots_[place_of(slot.key)] = slot;
            }
        }
    }

    std::vector<Slot> slots_; // a power of two, at most half full
    std::size_t count_ = 0;
};

// Never destroyed: objects may be dropped while the process exits.
[[nodiscard]] KnownNodes& known_nodes() {
    static auto* const nodes = new KnownNodes;
    return *nodes;
}

nb::ft_mutex known_mutex; // guards the map where there is no GIL

[[nodiscard]] nb::object find_object(const void* key);
[[nodiscard]] nb::object make_object(const GraphNode& node);
[[nodiscard]] nb::object options_object(nb::handle options, const char* class_name);

} // namespace

PyGraphNode::~PyGraphNode() {
    using detail::Access;
    if (const void* const key = Access::node(*this).get(); key != nullptr) {
        const nb::ft_lock_guard lock(known_mutex);
        KnownNodes& nodes = known_nodes();
        if (const Known* const found = nodes.find(key);
            found != nullptr && found->payload == this) {
#ifdef Py_GIL_DISABLED
            Py_DECREF(found->object);
#endif
            nodes.erase(key);
        }
    }
    // The last share destroys the graph, and that releases what its nodes used.
    if (Access::state(*this).use_count() == 1) {
        const nb::gil_scoped_release unlocked;
        const auto graph = std::move(state_);
    }
}

nb::object node_object(const GraphNode& node) {
    const void* const key = detail::Access::node(node).get();
    if (key == nullptr) {
        return make<PyGraphNode>(node); // the entry of a graph
    }
    const nb::ft_lock_guard lock(known_mutex);
    if (nb::object found = find_object(key); found.is_valid()) {
        return found;
    }
    nb::object made = make_object(node);
#ifdef Py_GIL_DISABLED
    PyObject* const kept = PyWeakref_NewRef(made.ptr(), nullptr);
#else
    PyObject* const kept = made.ptr();
#endif
    known_nodes().insert(key, {kept, payload<PyGraphNode>(made)});
    return made;
}

nb::list live_nodes() {
    std::vector<nb::object> known; // dropped without the lock: the last reference takes it
    {
        const nb::ft_lock_guard lock(known_mutex);
        known_nodes().for_each([&](const void* key, const Known& /*known*/) {
            if (nb::object object = find_object(key); object.is_valid()) {
                known.push_back(std::move(object));
            }
        });
    }
    nb::list found;
    for (const nb::object& object : known) {
        if (payload<PyGraphNode>(object)->is_valid()) {
            found.append(object);
        }
    }
    return found;
}

nb::object builder_object(GraphBuilder builder, nb::object stream) {
    if (!stream.is_valid()) {
        stream = make<PyStream>(builder.stream());
    }
    return make<PyGraphBuilder>(std::move(builder), std::move(stream));
}

nb::handle captured_stream(nb::handle builder) noexcept {
    const auto* const held = get_if<PyGraphBuilder>(builder);
    return held != nullptr ? nb::handle(held->stream)
                           : builder; // else of a class derived from Stream
}

GraphCondition condition_argument(nb::handle condition) {
    const auto* const held = get_if<GraphCondition>(condition);
    if (held == nullptr) {
        raise_error(PyExc_TypeError, "condition must be a GraphCondition, as create_condition() "
                                     "makes it, got " +
                                         type_label(condition));
    }
    return *held;
}

unsigned uint32_argument(nb::handle value, const char* name) {
    const std::size_t number = size_argument(value, name);
    if (number > UINT32_MAX) {
        raise_error(PyExc_OverflowError, std::string(name) + " must be from 0 to 2**32 - 1, got " +
                                             std::to_string(number));
    }
    return static_cast<unsigned>(number);
}

const PyGraphNode& node_argument(nb::handle node, const char* name) {
    const auto* const held = get_if<PyGraphNode>(node);
    if (held == nullptr) {
        raise_error(PyExc_TypeError,
                    std::string(name) + " must be a GraphNode, got " + type_label(node));
    }
    return *held;
}

const PyGraphDefinition& child_argument(nb::handle child) {
    const auto* const held = get_if<PyGraphDefinition>(child);
    if (held == nullptr) {
        raise_error(PyExc_TypeError, "child must be a GraphDefinition, got " + type_label(child));
    }
    return *held;
}

GraphCompleteOptions complete_options(nb::handle options) {
    const nb::object given = options_object(options, "GraphCompleteOptions");
    if (!given.is_valid()) {
        return {};
    }
    GraphCompleteOptions how{.auto_free_on_launch = is_true(given, "auto_free_on_launch"),
                             .device_launch = is_true(given, "device_launch"),
                             .use_node_priority = is_true(given, "use_node_priority")};
    if (const nb::object stream = given.attr("upload_stream"); !stream.is_none()) {
        how.upload_stream = stream_argument(stream);
    }
    return how;
}

GraphDebugPrintOptions debug_options(nb::handle options) {
    const nb::object given = options_object(options, "GraphDebugPrintOptions");
    if (!given.is_valid()) {
        return {};
    }
    return {.verbose = is_true(given, "verbose"),
            .runtime_types = is_true(given, "runtime_types"),
            .kernel_node_params = is_true(given, "kernel_node_params"),
            .memcpy_node_params = is_true(given, "memcpy_node_params"),
            .memset_node_params = is_true(given, "memset_node_params"),
            .host_node_params = is_true(given, "host_node_params"),
            .event_node_params = is_true(given, "event_node_params"),
            .ext_semas_signal_node_params = is_true(given, "ext_semas_signal_node_params"),
            .ext_semas_wait_node_params = is_true(given, "ext_semas_wait_node_params"),
            .kernel_node_attributes = is_true(given, "kernel_node_attributes"),
            .handles = is_true(given, "handles"),
            .mem_alloc_node_params = is_true(given, "mem_alloc_node_params"),
            .mem_free_node_params = is_true(given, "mem_free_node_params"),
            .batch_mem_op_node_params = is_true(given, "batch_mem_op_node_params"),
            .extra_topo_info = is_true(given, "extra_topo_info"),
            .conditional_node_params = is_true(given, "conditional_node_params")};
}

void raise_named(const char* class_name, const char* text) {
    const nb::object type = nb::module_::import_("cuprum._errors").attr(class_name);
    PyErr_SetString(type.ptr(), text);
    throw nb::python_error();
}

void raise_graph_error(const GraphInstantiateError& error) {
    raise_as("GraphInstantiateError", error, error.what());
}

void raise_graph_error(const GraphUpdateError& error) {
    const GraphUpdateResult& result = error.result();
    const nb::object type = nb::module_::import_("cuprum._errors").attr("GraphUpdateError");
    const nb::object object =
        type("Graph update failed: " + result.text + " (" + driver_name(result.reason) + ")");
    object.attr("result") = update_result(result);
    object.attr("code") = error.code();
    object.attr("name") = error.name();
    object.attr("call") = error.call();
    object.attr("explanation") = error.explanation();
    PyErr_SetObject(type.ptr(), object.ptr());
    throw nb::python_error();
}

nb::object update_result(const GraphUpdateResult& result) {
    const auto node = [](const std::optional<GraphNode>& each) {
        return each ? node_object(*each) : nb::none();
    };
    return nb::module_::import_("cuprum._graph_options")
        .attr("GraphUpdateResult")(result.is_updated, GRAPH_UPDATE_REASONS.member(result.reason),
                                   result.text, node(result.node), node(result.from_node));
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

nb::object find_object(const void* key) {
    const Known* const found = known_nodes().find(key);
    if (found == nullptr) {
        return {};
    }
#ifdef Py_GIL_DISABLED
    PyObject* object = nullptr;
    PyWeakref_GetRef(found->object, &object);
    return nb::steal(object);
#else
    // An object that is being destroyed may be looked for by its weak references.
    return Py_REFCNT(found->object) == 0 ? nb::object() : nb::borrow(found->object);
#endif
}

nb::object make_object(const GraphNode& node) {
    const auto type = node.is_valid() ? node.type() : std::nullopt;
    if (!type) {
        return make<PyGraphNode>(node);
    }
    switch (*type) {
    case GraphNodeType::Empty:
        return make<PyNodeOf<EmptyNode>>(node);
    case GraphNodeType::Kernel:
        return make<PyNodeOf<KernelNode>>(node);
    case GraphNodeType::Memcpy:
        return make<PyNodeOf<MemcpyNode>>(node);
    case GraphNodeType::Memset:
        return make<PyNodeOf<MemsetNode>>(node);
    case GraphNodeType::Host:
        return make<PyNodeOf<HostCallbackNode>>(node);
    case GraphNodeType::Graph:
        return make<PyNodeOf<ChildGraphNode>>(node);
    case GraphNodeType::WaitEvent:
        return make<PyNodeOf<EventWaitNode>>(node);
    case GraphNodeType::EventRecord:
        return make<PyNodeOf<EventRecordNode>>(node);
    case GraphNodeType::MemAlloc:
        return make<PyNodeOf<AllocNode>>(node);
    case GraphNodeType::MemFree:
        return make<PyNodeOf<FreeNode>>(node);
    case GraphNodeType::Conditional:
        if (IfNode::matches(node)) {
            return make<PyConditionalOf<IfNode>>(node);
        }
        if (IfElseNode::matches(node)) {
            return make<PyConditionalOf<IfElseNode>>(node);
        }
        if (WhileNode::matches(node)) {
            return make<PyConditionalOf<WhileNode>>(node);
        }
        if (SwitchNode::matches(node)) {
            return make<PyConditionalOf<SwitchNode>>(node);
        }
        return make<PyConditionalNode>(node); // the driver cannot say which
    default:
        return make<PyGraphNode>(node);
    }
}

nb::object options_object(nb::handle options, const char* class_name) {
    if (options.is_none()) {
        return {};
    }
    const nb::object type = nb::module_::import_("cuprum._graph_options").attr(class_name);
    if (PyDict_Check(options.ptr()) != 0) {
        return type(**nb::borrow<nb::dict>(options));
    }
    if (PyObject_IsInstance(options.ptr(), type.ptr()) == 1) {
        return nb::borrow(options);
    }
    raise_error(PyExc_TypeError, std::string("options must be a ") + class_name +
                                     ", a dict or None, got " + type_label(options));
}

} // namespace

} // namespace cuprum::python
