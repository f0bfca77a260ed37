// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/graph_state.hpp"

#include "device/device_state.hpp"
#include "memory/buffer_state.hpp"
#include "program/kernel_state.hpp"
#include "support/locks.hpp"
#include "support/text.hpp"

#include <cuprum/device.hpp>
#include <cuprum/error.hpp>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <new>
#include <stdexcept>
#include <utility>

namespace cuprum::detail {

namespace {

[[noreturn, gnu::cold]] void raise_destroyed(const char* class_name) {
    throw ClosedError(class_name, ClosedError::Reason::Destroyed);
}

/// Notes that a graph below a node is gone, with all its nodes.
void forget_part(GraphState& part) noexcept {
    const auto forget = [&](const NodeShare& node) {
        forget_children(*node);
        node->handle = nullptr;
        node->payload = nullptr;
    };
    part.nodes.for_each(forget);
    part.nodes.clear();
    part.last_kernel = nullptr;
    part.kept.clear();
    if (part.parent != nullptr) {
        part.handle = nullptr;
    }
}

void collect(GraphState& graph, std::vector<PayloadShare>& all) {
    std::vector<GraphState*> below;
    {
        const std::lock_guard lock(graph.lock);
        all.insert(all.end(), graph.kept.begin(), graph.kept.end());
        graph.nodes.for_each([&](const NodeShare& node) {
            if (node->payload) {
                all.push_back(node->payload);
            }
            if (node->children != nullptr) {
                below.insert(below.end(), node->children->graphs.begin(),
                             node->children->graphs.end());
            }
        });
    }
    for (GraphState* const part : below) {
        collect(*part, all);
    }
}

/// Gives user objects to all graphs of a hierarchy, if they have none. The lock `exposing` is held.
void retain_for_others(GraphState& root) {
    if (root.for_others.load(std::memory_order_relaxed) != nullptr) {
        return;
    }
    const auto kept = std::make_shared<KeptForOthers>(payloads_in(root));
    PayloadShare share = Payload::of(kept);
    std::vector<CUgraph> graphs{root.handle};
    {
        const std::lock_guard lock(root.parts_mutex);
        for (const auto& part : root.parts) {
            if (part->handle != nullptr) {
                graphs.push_back(part->handle);
            }
        }
    }
    for (const CUgraph graph : graphs) {
        static_cast<void>(retain_payload(graph, share));
    }
    root.for_others_share = std::move(share);
    root.for_others.store(kept.get(), std::memory_order_release);
}

} // namespace

void NodeTable::make_room() {
    if (const std::size_t needed = added_.size() + promised_ + 1; needed > added_.capacity()) {
        added_.reserve(2 * needed + std::tuple_size_v<Piece>);
    }
    if (unused_ == 0) {
        piece_ = std::make_shared<Piece>();
        unused_ = piece_->size();
    }
}

void NodeTable::move_added() {
    for (; !added_.empty(); added_.pop_back()) {
        found_.emplace(added_.back()->handle, added_.back());
    }
}

NodeShare NodeTable::find(CUgraphNode handle) {
    move_added();
    const auto place = found_.find(handle);
    return place == found_.end() ? nullptr : place->second;
}

void NodeTable::erase(CUgraphNode handle) noexcept {
    try {
        move_added();
    } catch (const std::bad_alloc&) { // the node may be in the list still
        std::erase_if(added_, [&](const NodeShare& node) { return node->handle == handle; });
    }
    found_.erase(handle);
}

void NodeTable::clear() noexcept {
    found_.clear();
    added_.clear();
}

void AddressRanges::add(Room room, CUdeviceptr begin, std::size_t bytes) noexcept {
    CUdeviceptr end = begin + bytes;
    auto next = ends_.upper_bound(begin);
    if (next != ends_.begin() && std::prev(next)->second >= begin) { // grows the one before
        --next;
        begin = next->first;
    }
    while (next != ends_.end() && next->first <= end) {
        end = std::max(end, next->second);
        next = ends_.erase(next);
    }
    room.key() = begin;
    room.mapped() = end;
    ends_.insert(next, std::move(room));
}

bool AddressRanges::contains(CUdeviceptr address) const noexcept {
    const auto next = ends_.upper_bound(address);
    return next != ends_.begin() && address < std::prev(next)->second;
}

GraphState::~GraphState() {
    if (handle == nullptr || parent != nullptr) {
        return;
    }
    forget_part(*this); // nodes do not outlive their graph, but a point may
    for (const auto& part : parts) {
        forget_part(*part);
    }
    if (is_owned) {
        release_or_defer("graph", driver::table().cuGraphDestroy, std::exchange(handle, nullptr));
    }
    release_payloads();
}

std::string to_string(GraphDamage damage) {
    return damage == GraphDamage::LostBody
               ? "the capture of a conditional body failed, so that the driver destroyed the body"
               : "a call that failed left a node in it, which the driver does not remove during a "
                 "capture";
}

GraphShare own_graph(CUgraph handle, std::shared_ptr<ContextState> home) {
    GraphShare made;
    try {
        made = std::make_shared<GraphState>();
    } catch (...) {
        release_or_defer("graph", driver::table().cuGraphDestroy, handle);
        throw;
    }
    made->handle = handle;
    made->is_owned = true;
    made->home = std::move(home);
    return made;
}

GraphShare view_graph(CUgraph handle, std::shared_ptr<void> owner,
                      std::shared_ptr<ContextState> home) {
    auto made = std::make_shared<GraphState>();
    made->handle = handle;
    made->owner = std::move(owner);
    made->home = std::move(home);
    return made;
}

GraphShare part_of(const GraphShare& parent, NodeState& node, CUgraph handle) {
    GraphState& root = *parent->root;
    GraphShare part;
    {
        const std::lock_guard lock(root.parts_mutex);
        GraphState*& known = root.known_parts[handle];
        if (known != nullptr && known->handle == handle) { // else it is gone, and its handle used
            return {parent, known};                        // again
        }
        auto& made = *root.parts.emplace_back(std::make_unique<GraphState>());
        known = &made;
        made.handle = handle;
        made.root = &root;
        made.parent = parent.get();
        made.node = &node;
        part = {parent, &made};
    }
    if (root.for_others.load(std::memory_order_acquire) != nullptr) {
        static_cast<void>(retain_payload(handle, root.for_others_share));
    }
    return part;
}

void refuse_graph(const GraphState* graph) {
    if (graph == nullptr) {
        raise_closed("GraphDefinition");
    }
    if (graph->handle == nullptr) {
        raise_destroyed("GraphDefinition");
    }
    throw std::logic_error("this graph cannot be used: " + to_string(graph->root->damage) +
                           "; capture the whole graph again");
}

NodeState& open(const GraphNode& node, const char* class_name) {
    const NodeShare& state = Access::node(node);
    if (state == nullptr) [[unlikely]] {
        throw std::logic_error("this is the entry of a graph, which is no node");
    }
    if (state->handle == nullptr) [[unlikely]] {
        raise_destroyed(class_name);
    }
    return *state;
}

void check_same_graph(GraphState& graph, const GraphNode& node) {
    const NodeState& state = open(node, "GraphNode");
    if (Access::state(node).get() != &graph) [[unlikely]] {
        throw std::invalid_argument(describe(state) + " belongs to graph " +
                                    hexadecimal(Access::state(node)->handle) +
                                    ", expected a node of graph " + hexadecimal(graph.handle));
    }
}

NodeShare node_state(GraphState& graph, CUgraphNode handle) {
    {
        const std::lock_guard lock(graph.lock);
        if (NodeShare known = graph.nodes.find(handle)) {
            return known;
        }
    }
    CUgraphNodeType type{};
    driver::call(driver::table().cuGraphNodeGetType, handle, &type);
    const std::lock_guard lock(graph.lock);
    if (NodeShare known = graph.nodes.find(handle)) { // another thread was faster
        return known;
    }
    NodeShare made = graph.nodes.make();
    made->handle = handle;
    made->type = static_cast<GraphNodeType>(type);
    graph.nodes.insert(made);
    return made;
}

PreparedNode::PreparedNode(GraphState& graph) : graph_(graph) {
    const std::lock_guard lock(graph.lock);
    node_ = graph.nodes.make();
}

PreparedNode::~PreparedNode() {
    if (node_ != nullptr) [[unlikely]] {
        const std::lock_guard lock(graph_.lock);
        graph_.nodes.take_back();
    }
}

NodeShare PreparedNode::note(CUgraphNode handle, GraphNodeType type, CUcontext context,
                             PayloadShare payload) noexcept {
    NodeShare node = std::move(node_);
    node->note(handle, type, context, std::move(payload));
    const std::lock_guard lock(graph_.lock);
    graph_.nodes.insert(node);
    return node;
}

void forget_children(NodeState& node) noexcept {
    if (node.children != nullptr) {
        for (GraphState* const part : node.children->graphs) {
            forget_part(*part);
        }
        node.children->graphs.clear();
    }
}

void forget_node(GraphState& graph, NodeState& node) noexcept {
    forget_children(node);
    const PayloadShare gone = std::move(node.payload); // given up without the lock
    const std::lock_guard lock(graph.lock);
    graph.last_kernel = graph.last_kernel == &node ? nullptr : graph.last_kernel;
    graph.nodes.erase(node.handle);
    node.handle = nullptr;
}

void Dependencies::gather(const NodeState& after) {
    if (!after.is_point) {
        raise_destroyed("GraphNode");
    }
    const auto& nodes = static_cast<const PointState&>(after).nodes;
    several_.reserve(nodes.size());
    for (const NodeShare& node : nodes) {
        if (node->handle == nullptr) [[unlikely]] {
            raise_destroyed("GraphNode");
        }
        several_.push_back(node->handle);
    }
    data_ = several_.data();
    size_ = several_.size();
}

std::vector<CUgraphNode> nodes_of(CUgraph graph) {
    std::size_t count = 0;
    driver::call(driver::table().cuGraphGetNodes, graph, nullptr, &count);
    std::vector<CUgraphNode> nodes(count);
    if (count != 0) {
        driver::call(driver::table().cuGraphGetNodes, graph, nodes.data(), &count);
    }
    return nodes;
}

std::string describe(const NodeState& node) {
    std::string text = to_string(node.type);
    if (node.type == GraphNodeType::Kernel && node.payload) {
        const auto* const kernel = static_cast<const KernelState*>(node.payload->owners()[0].get());
        text += " " + quoted(std::string_view(kernel->name));
    }
    return text + (node.handle == nullptr ? " (destroyed)" : " (" + hexadecimal(node.handle) + ")");
}

std::string describe(GraphState& graph, CUgraphNode handle) {
    const auto known_in = [&](GraphState& each) -> NodeShare {
        const std::lock_guard lock(each.lock);
        return each.nodes.find(handle);
    };
    GraphState& root = *graph.root;
    NodeShare known = known_in(root);
    {
        const std::lock_guard lock(root.parts_mutex);
        for (std::size_t i = 0; known == nullptr && i < root.parts.size(); ++i) {
            known = known_in(*root.parts[i]);
        }
    }
    if (known != nullptr) {
        return describe(*known);
    }
    NodeState unknown;
    unknown.handle = handle;
    CUgraphNodeType type{};
    if (driver::table().cuGraphNodeGetType(handle, &type) != CUDA_SUCCESS) {
        return "node " + hexadecimal(handle);
    }
    unknown.type = static_cast<GraphNodeType>(type);
    return describe(unknown);
}

bool is_allocated_by(GraphState& graph, CUdeviceptr address) {
    return graph.root->allocated.contains(address);
}

void expose(GraphState& graph) {
    GraphState& root = *graph.root;
    if (root.is_exposed.load(std::memory_order_acquire)) {
        return;
    }
    {
        const QuietLock lock(root.exposing);
        retain_for_others(root);
    }
    root.is_exposed.store(true, std::memory_order_release);
}

void keep_for_others(GraphState& graph, PayloadShare payload) {
    GraphState& root = *graph.root;
    if (root.for_others.load(std::memory_order_acquire) == nullptr) { // a graph of others
        const QuietLock lock(root.exposing);
        retain_for_others(root);
    }
    root.for_others.load(std::memory_order_acquire)->add(std::move(payload));
}

void keep_in(GraphState& graph, PayloadShare payload) {
    if (payload == nullptr) {
        return;
    }
    keep_if_exposed(graph, payload);
    const std::lock_guard lock(graph.lock);
    graph.kept.push_back(std::move(payload));
}

void give_up_in(GraphState& graph, const Payload* payload) noexcept {
    PayloadShare gone; // given up without the lock
    const std::lock_guard lock(graph.lock);
    const auto last = // it was kept a moment ago
        std::find_if(graph.kept.rbegin(), graph.kept.rend(),
                     [&](const PayloadShare& each) { return each.get() == payload; });
    if (last != graph.kept.rend()) {
        gone = std::move(*last);
        graph.kept.erase(std::prev(last.base()));
    }
}

std::vector<PayloadShare> payloads_in(GraphState& graph) {
    std::vector<PayloadShare> all;
    collect(graph, all);
    return all;
}

PayloadShare everything_in(GraphState& graph) {
    std::vector<PayloadShare> all = payloads_in(graph);
    return all.empty() ? nullptr
                       : Payload::of(std::make_shared<std::vector<PayloadShare>>(std::move(all)));
}

CUcontext context_for_node(GraphState& graph) {
    GraphState& root = *graph.root;
    if (root.home != nullptr) {
        return root.home->handle;
    }
    CUcontext current = nullptr;
    driver::call(driver::table().cuCtxGetCurrent, &current);
    return current != nullptr ? current : Device().primary_context().handle();
}

CUcontext context_for_node(GraphState& graph, const MemoryRange* buffer) {
    GraphState& root = *graph.root;
    if (root.home != nullptr || buffer == nullptr) {
        return context_for_node(graph);
    }
    const auto& resource = static_cast<const BufferState*>(buffer)->resource;
    const int ordinal = resource == nullptr ? -1 : resource->device_id();
    CUcontext current = nullptr;
    driver::call(driver::table().cuCtxGetCurrent, &current);
    if (current == nullptr) {
        return ordinal < 0 ? Device().primary_context().handle()
                           : Device(ordinal).primary_context().handle();
    }
    if (ordinal < 0) {
        return current;
    }
    if (root.seen_context.load(std::memory_order_relaxed) != current) {
        root.seen_ordinal.store(context_state(current)->device->ordinal, std::memory_order_relaxed);
        root.seen_context.store(current, std::memory_order_relaxed);
    }
    return root.seen_ordinal.load(std::memory_order_relaxed) == ordinal
               ? current
               : Device(ordinal).primary_context().handle();
}

} // namespace cuprum::detail
