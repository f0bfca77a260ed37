// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/graphs/graph.hpp"

#include "objects/graphs/conditional.hpp"
#include "objects/process/error.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <set>
#include <string>

namespace cuprum::emulator {

namespace {

std::atomic<std::uint64_t> next_node_id{1};

bool is_same(const CUgraphEdgeData& one, const CUgraphEdgeData& other) noexcept {
    return std::memcmp(&one, &other, sizeof one) == 0;
}

/// Looks at nodes and at what must come before them, the last first, until `is_wanted` is true.
template <typename Function>
const GraphNode* visit(const std::vector<GraphEdge>& nodes,
                       std::unordered_set<const GraphNode*>& seen, const Function& is_wanted) {
    std::vector<const GraphNode*> open;
    for (const GraphEdge& edge : nodes) {
        open.push_back(edge.node);
    }
    while (!open.empty()) {
        const GraphNode* node = open.back();
        open.pop_back();
        if (seen.insert(node).second) {
            if (is_wanted(*node)) {
                return node;
            }
            for (const GraphEdge& edge : node->dependencies()) {
                open.push_back(edge.node);
            }
        }
    }
    return nullptr;
}

constexpr std::initializer_list<CUgraphNodeType> MEMORY{CU_GRAPH_NODE_TYPE_MEM_ALLOC,
                                                        CU_GRAPH_NODE_TYPE_MEM_FREE};

constexpr const char* FIXED = "nodes and edges cannot be removed from a graph that has allocation "
                              "or free nodes";

} // namespace

std::recursive_mutex& GraphLock::mutex() {
    static auto* const the_mutex = new std::recursive_mutex;
    return *the_mutex;
}

std::uint32_t next_graph_id() noexcept {
    static std::atomic<std::uint32_t> last_id{0};
    return last_id.fetch_add(1, std::memory_order_relaxed) + 1;
}

bool is_plain(const CUgraphEdgeData& data) noexcept {
    return is_same(data, CUgraphEdgeData{});
}

// ---- nodes -------------------------------------------------------------------------------------

GraphNode::GraphNode(Graph& graph, NodeParameters parameters)
    : graph_(&graph), id_(next_node_id.fetch_add(1, std::memory_order_relaxed)),
      parameters_(std::move(parameters)) {}

void** GraphNode::argument_pointers() {
    auto& kernel = get<KernelParameters>();
    const auto& declared = kernel.function->kernel()->parameters;
    pointers_.clear();
    for (const auto& parameter : declared) {
        pointers_.push_back(kernel.packed.data() + parameter.offset);
    }
    return pointers_.empty() ? nullptr : pointers_.data();
}

void** GraphNode::extra_pointers() {
    auto& kernel = get<KernelParameters>();
    packed_bytes_ = kernel.packed.size();
    pointers_ = {CU_LAUNCH_PARAM_BUFFER_POINTER, kernel.packed.data(), CU_LAUNCH_PARAM_BUFFER_SIZE,
                 &packed_bytes_, CU_LAUNCH_PARAM_END};
    return pointers_.data();
}

void GraphNode::refuse_type(const NodeParameters& wanted) const {
    fail(CUDA_ERROR_INVALID_VALUE, "node " + std::to_string(number_) +
                                       " of the graph is a node of "
                                       "type '" +
                                       name_of(type()) + "', not '" + name_of(type_of(wanted)) +
                                       "'");
}

// ---- graphs ------------------------------------------------------------------------------------

std::shared_ptr<Graph> Graph::create() {
    std::shared_ptr<Graph> graph(new Graph);
    HandleTable::instance().insert(HandleKind::Graph, graph);
    return graph;
}

Graph::~Graph() {
    for (const auto& node : nodes()) {
        node->graph_ = nullptr; // a capture may still hold the node
    }
}

std::shared_ptr<GraphNode> Graph::add(NodeParameters parameters,
                                      const std::vector<GraphEdge>& dependencies) {
    std::unordered_set<const GraphNode*> seen;
    for (const GraphEdge& edge : dependencies) {
        check_edge(edge, parameters);
        require(seen.insert(edge.node).second, "a node is named twice among the dependencies");
    }
    auto node = std::make_shared<GraphNode>(*this, std::move(parameters));
    adopt(*node);
    for (const GraphEdge& edge : dependencies) {
        node->dependencies_.add(edge);
        edge.node->dependents_.add({node.get(), edge.data});
    }
    return node;
}

void Graph::add_edges(const std::vector<std::pair<GraphEdge, GraphNode*>>& edges) {
    std::set<std::pair<const GraphNode*, const GraphNode*>> seen;
    for (const auto& [from, to] : edges) {
        require(to->is_alive() && &to->graph() == this, "a node is of another graph");
        check_edge(from, to->parameters());
        require(from.node != to, "a node cannot depend on itself");
        require(!to->dependencies_.contains(from.node) && seen.emplace(from.node, to).second,
                "the edge exists already");
    }
    for (const auto& [from, to] : edges) {
        to->dependencies_.add(from);
        from.node->dependents_.add({to, from.data});
    }
}

void Graph::remove_edges(const std::vector<std::pair<GraphEdge, GraphNode*>>& edges) {
    if (!edges.empty() && contains(MEMORY)) {
        fail(CUDA_ERROR_NOT_SUPPORTED, FIXED);
    }
    for (const auto& [from, to] : edges) {
        require(from.node->is_alive() && to->is_alive() && &to->graph() == this &&
                    &from.node->graph() == this,
                "a node is of another graph");
        const GraphEdge* const found = to->dependencies_.find(from.node);
        require(found != nullptr && is_same(found->data, from.data),
                "the edge does not exist, or has other data");
    }
    for (const auto& [from, to] : edges) {
        if (to->dependencies_.erase(from.node)) {
            from.node->dependents_.erase(to);
        }
    }
}

void Graph::remove(GraphNode& node) {
    check_not_capturing("nodes cannot be removed from a graph");
    if (root().contains(MEMORY)) {
        fail(CUDA_ERROR_NOT_SUPPORTED, FIXED);
    }
    const auto self = node.shared_from_this();
    for (const GraphEdge& edge : node.dependencies()) {
        edge.node->dependents_.erase(&node);
    }
    for (const GraphEdge& edge : node.dependents()) {
        edge.node->dependencies_.erase(&node);
    }
    node.dependencies_.clear();
    node.dependents_.clear();
    subtract_counts(counts_of(node));
    end_handles(node);
    node.graph_ = nullptr;
    if (const auto known = clones_.find(node.original_id_);
        known != clones_.end() && known->second == &node) {
        clones_.erase(known);
    }
    nodes_.erase(&node);
}

std::shared_ptr<Graph> Graph::clone() const {
    if (is_unique()) {
        fail(CUDA_ERROR_NOT_SUPPORTED, "a graph that has allocation, free or conditional nodes "
                                       "cannot be cloned or embedded by copy");
    }
    auto copy = create();
    try {
        std::unordered_map<const GraphNode*, GraphNode*> clones;
        for (const auto& node : nodes()) {
            NodeParameters parameters = node->parameters_;
            if (auto* child = std::get_if<ChildParameters>(&parameters)) {
                child->graph = child->graph->clone();
                child->is_moved = false;
            }
            auto cloned = std::make_shared<GraphNode>(*copy, std::move(parameters));
            cloned->original_id_ = node->id_;
            copy->adopt(*cloned);
            clones[node.get()] = cloned.get();
            copy->clones_[node->id_] = cloned.get();
        }
        for (const auto& node : nodes()) {
            GraphNode* const cloned = clones.at(node.get());
            for (const GraphEdge& edge : node->dependencies()) {
                cloned->dependencies_.add({clones.at(edge.node), edge.data});
            }
            for (const GraphEdge& edge : node->dependents()) {
                cloned->dependents_.add({clones.at(edge.node), edge.data});
            }
        }
    } catch (...) {
        copy->destroy();
        throw;
    }
    copy->references_ = references_;
    return copy;
}

GraphNode& Graph::find_clone(const GraphNode& original) const {
    const auto found = clones_.find(original.id());
    require(found != clones_.end(), "the graph has no clone of the node, or it was removed");
    return *found->second;
}

void Graph::destroy() {
    auto& table = HandleTable::instance();
    const auto self = table.erase(HandleKind::Graph, handle_value()); // lives until we are done
    for (const auto& node : nodes()) {
        end_handles(*node);
    }
    references_ = {}; // the program may wait for the destructors before it drops anything else
    owner_ = nullptr; // a capture may hold this graph for longer than the owner lives
}

void Graph::check_own(const char* what) const {
    if (owner_ != nullptr) {
        fail(CUDA_ERROR_INVALID_VALUE,
             std::string("the graph belongs to a node of another graph and cannot be ") + what);
    }
}

void Graph::check_not_capturing(const char* what) const {
    if (capture_count_ != 0) {
        fail(CUDA_ERROR_ILLEGAL_STATE, std::string(what) + " while a stream captures into it");
    }
}

Graph& Graph::root() noexcept {
    Graph* graph = this;
    while (graph->owner_ != nullptr) {
        graph = graph->owner_;
    }
    return *graph;
}

void Graph::replace_child(GraphNode& node, ChildParameters child) {
    auto& parameters = node.get<ChildParameters>();
    subtract_counts(counts_of(node));
    parameters.graph->destroy();
    child.graph->owner_ = this;
    parameters = std::move(child);
    add_counts(counts_of(node));
}

bool Graph::contains(std::initializer_list<CUgraphNodeType> types) const {
    return std::ranges::any_of(
        types, [&](CUgraphNodeType type) { return counts_[static_cast<std::size_t>(type)] != 0; });
}

bool Graph::is_unique() const {
    return contains({CU_GRAPH_NODE_TYPE_MEM_ALLOC, CU_GRAPH_NODE_TYPE_MEM_FREE,
                     CU_GRAPH_NODE_TYPE_CONDITIONAL});
}

void Graph::collect_references(UserReferences& into) const {
    into.add(references_);
    for (const auto& node : nodes()) {
        for_each_embedded(node->parameters_,
                          [&](const Graph& each) { each.collect_references(into); });
    }
}

std::unordered_set<const GraphNode*> Graph::with_ancestors(const std::vector<GraphEdge>& nodes) {
    std::unordered_set<const GraphNode*> found;
    (void)visit(nodes, found, [](const GraphNode& /*node*/) { return false; });
    return found;
}

const GraphNode* Graph::find_ancestor(const std::vector<GraphEdge>& nodes,
                                      const std::function<bool(const GraphNode&)>& is_wanted) {
    std::unordered_set<const GraphNode*> seen;
    return visit(nodes, seen, is_wanted);
}

void Graph::check_edge(const GraphEdge& from, const NodeParameters& to) const {
    require(from.node->is_alive() && &from.node->graph() == this, "a node is of another graph");
    const CUgraphEdgeData& data = from.data;
    if (is_plain(data)) {
        return;
    }
    require(std::ranges::all_of(data.reserved, [](unsigned char byte) { return byte == 0; }) &&
                data.to_port == 0,
            "the reserved bytes and to_port of an edge must be 0");
    const bool is_between_kernels =
        from.node->type() == CU_GRAPH_NODE_TYPE_KERNEL && type_of(to) == CU_GRAPH_NODE_TYPE_KERNEL;
    require(data.from_port <= CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER &&
                (data.from_port == 0 || from.node->type() == CU_GRAPH_NODE_TYPE_KERNEL),
            "only kernel nodes have ports other than 0");
    require(data.type <= CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC &&
                (data.type == CU_GRAPH_DEPENDENCY_TYPE_DEFAULT ||
                 (is_between_kernels && data.from_port != CU_GRAPH_KERNEL_NODE_PORT_DEFAULT)),
            "a programmatic edge leads from a port of a kernel node to a kernel node");
    require(data.from_port != CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC ||
                data.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC,
            "the programmatic port needs an edge of programmatic type");
}

void Graph::adopt(GraphNode& node) {
    node.number_ = next_number_++;
    HandleTable::instance().insert(HandleKind::GraphNode, node.shared_from_this());
    nodes_.add(node.shared_from_this());
    for_each_embedded(node.parameters_, [&](Graph& embedded) { embedded.owner_ = this; });
    add_counts(counts_of(node));
}

Graph::Counts Graph::counts_of(const GraphNode& node) {
    Counts counts{};
    ++counts[static_cast<std::size_t>(node.type())];
    for_each_embedded(node.parameters_, [&](const Graph& embedded) {
        std::ranges::transform(counts, embedded.counts_, counts.begin(), std::plus<>());
    });
    return counts;
}

void Graph::add_counts(const Counts& counts) noexcept {
    for (Graph* graph = this; graph != nullptr; graph = graph->owner_) {
        std::ranges::transform(graph->counts_, counts, graph->counts_.begin(), std::plus<>());
    }
}

void Graph::subtract_counts(const Counts& counts) noexcept {
    for (Graph* graph = this; graph != nullptr; graph = graph->owner_) {
        std::ranges::transform(graph->counts_, counts, graph->counts_.begin(), std::minus<>());
    }
}

/// Ends the handles of a node and of what is embedded in it.
void Graph::end_handles(GraphNode& node) {
    HandleTable::instance().erase(HandleKind::GraphNode, node.handle_value());
    for_each_embedded(node.parameters_, [](Graph& embedded) { embedded.destroy(); });
}

} // namespace cuprum::emulator
