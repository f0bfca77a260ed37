// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The states behind GraphDefinition and GraphNode.
//
// A graph and all child graphs and bodies below it form one hierarchy, which the root owns. A share
// of any of them is a share of the root: a std::shared_ptr that points to the part and counts for
// the root. So a part can never outlive the CUgraph that holds it.
//
// Each node has one NodeState, which its graph's table and all GraphNode objects share. It is made
// when the node is added, or when a traversal meets a node that others added (a capture, say). A
// destroyed node has a null handle there, so that every copy knows. If a node with a child graph or
// bodies is destroyed, all states below lose their handles, too. These stay in the hierarchy until
// the root goes, since somebody may still hold them.
//
// A hierarchy is *exposed* once other code may know a handle of it. Then user objects of the driver
// keep alive what it uses, too; see payload.hpp.
//
// The driver does not allow two threads to edit one graph. Looking at it from several threads is
// fine, but creates NodeStates, so that the table has a lock. It is never held while the driver is
// called.

#pragma once

#include "device/context_state.hpp"
#include "driver/call.hpp"
#include "driver/handle.hpp"
#include "graph/payload.hpp"

#include <cuprum/detail/access.hpp>
#include <cuprum/graph/graph_definition.hpp>
#include <cuprum/graph/graph_node.hpp>

#include <cuda.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace cuprum::detail {

struct GraphState;

/// What only nodes with graphs below them have.
struct NodeChildren {
    std::vector<GraphState*> graphs; // the child graph, or the bodies; the root owns them
    std::optional<GraphCondition> condition;
    std::optional<GraphConditionalType> cond_type;
};

/// A node of a graph, as long as somebody knows it.
struct NodeState {
    CUgraphNode handle = nullptr; // null once the node is destroyed
    GraphNodeType type = GraphNodeType::Empty;
    bool is_point = false;                    // a PointState
    bool may_have_attributes = true;          // launch attributes of a kernel node
    std::atomic<CUcontext> context = nullptr; // that the node runs in, if it is known
    PayloadShare payload;                     // of the current parameters
    std::unique_ptr<NodeChildren> children;   // null for most kinds

    NodeState() = default;

    /// Notes what was just added to the driver's graph.
    void note(CUgraphNode added, GraphNodeType kind, CUcontext runs_in,
              PayloadShare used) noexcept {
        handle = added;
        type = kind;
        may_have_attributes = false;
        context.store(runs_in, std::memory_order_relaxed);
        payload = std::move(used);
    }

    ~NodeState() = default;
    NodeState(const NodeState&) = delete;
    NodeState& operator=(const NodeState&) = delete;
};

/// Several nodes to depend on. It is no node itself.
struct PointState final : NodeState {
    std::vector<std::shared_ptr<NodeState>> nodes;
};

/// The nodes of one graph that somebody knows, by handle.
///
/// Adding a node is the call that must be fast: it appends to a list, and the memory of nodes comes
/// in pieces. The first search moves the list into a map. A piece goes when nobody knows a node of
/// it.
class NodeTable {
public:
    /// Makes the state of a node that is to be added, and room for it, so that adding it cannot
    /// fail. Hand it to insert() or take_back().
    [[nodiscard]] std::shared_ptr<NodeState> make() {
        if (added_.size() + promised_ >= added_.capacity() || unused_ == 0) [[unlikely]] {
            make_room();
        }
        ++promised_;
        return {piece_, &(*piece_)[--unused_]};
    }

    /// Adds a node that is not there and that make() made.
    void insert(std::shared_ptr<NodeState> node) noexcept {
        added_.push_back(std::move(node));
        --promised_;
    }

    /// Takes back a node that make() made and the driver refused.
    void take_back() noexcept { --promised_; }

    /// Returns the state of a node, or null.
    [[nodiscard]] std::shared_ptr<NodeState> find(CUgraphNode handle);

    void erase(CUgraphNode handle) noexcept;
    void clear() noexcept;

    [[nodiscard]] std::size_t size() const noexcept { return found_.size() + added_.size(); }

    /// Returns how many nodes were made that are neither inserted nor taken back, for tests.
    [[nodiscard]] std::size_t promised() const noexcept { return promised_; }

    /// Calls a function with a share of every state.
    template <typename Function>
    void for_each(const Function& function) const {
        for (const auto& [handle, node] : found_) {
            function(node);
        }
        for (const auto& node : added_) {
            function(node);
        }
    }

    /// Returns shares of the states that a function selects.
    template <typename Predicate>
    [[nodiscard]] std::vector<std::shared_ptr<NodeState>>
    shares_of(const Predicate& is_wanted) const {
        std::vector<std::shared_ptr<NodeState>> found;
        for_each([&](const std::shared_ptr<NodeState>& node) {
            if (is_wanted(*node)) {
                found.push_back(node);
            }
        });
        return found;
    }

private:
    using Piece = std::array<NodeState, 16>;

    [[gnu::cold]] void make_room();
    /// Moves the list into the map. Without memory, the rest stays in the list.
    void move_added();

    std::unordered_map<CUgraphNode, std::shared_ptr<NodeState>> found_;
    std::vector<std::shared_ptr<NodeState>> added_; // since the last search
    std::size_t promised_ = 0;                      // places in it, for nodes that make() made
    std::shared_ptr<Piece> piece_;                  // that new nodes come from
    std::size_t unused_ = 0;                        // nodes of it
};

/// Why a graph that was captured cannot be used.
enum class GraphDamage : std::uint8_t {
    None,
    StrayNode, // it has a node that was added by a call that failed
    LostBody,  // the capture of a body failed. The driver then destroys the body, but not the node,
               // and crashes when it is asked to instantiate or destroy the graph (seen with 580)
};

/// Addresses that allocation nodes make. Their ranges may overlap, as nodes that never run at the
/// same time can share memory.
class AddressRanges {
    using Ends = std::map<CUdeviceptr, CUdeviceptr>; // by beginning; the ranges in it are disjoint

public:
    using Room = Ends::node_type;

    /// Makes room for one more range, so that adding it cannot fail.
    [[nodiscard]] static Room make_room() {
        Ends one{{0, 0}};
        return one.extract(one.begin());
    }

    void add(Room room, CUdeviceptr begin, std::size_t bytes) noexcept;
    [[nodiscard]] bool contains(CUdeviceptr address) const noexcept;

private:
    Ends ends_;
};

/// A graph: a root, or a part below one. Destroying a root's state destroys the graph if it is
/// ours.
struct GraphState {
    CUgraph handle = nullptr;               // null once a part's node is destroyed
    bool is_owned = false;                  // a root that we destroy
    GraphState* root = this;                // of the hierarchy
    GraphState* parent = nullptr;           // null for a root
    NodeState* node = nullptr;              // of the parent, that holds this graph
    std::shared_ptr<ContextState> home;     // the context of its nodes; null for the current one
    std::shared_ptr<void> owner;            // of a graph made elsewhere
    GraphDamage damage = GraphDamage::None; // a root's
    std::atomic<bool> is_exposed = false;   // a root's: other code may know a handle
    std::atomic<KeptForOthers*> for_others = nullptr; // a root's: what its user objects hold,
    PayloadShare for_others_share;                    // and a share of that
    std::mutex exposing;                              // a root's: held while these are made
    mutable std::mutex lock;                          // guards `nodes` and `kept`
    NodeTable nodes;
    NodeState* last_kernel = nullptr; // the kernel node that was added last, if it is there
    std::vector<PayloadShare> kept;   // without a node that is known to use it
    std::mutex parts_mutex;           // guards `parts` and `known_parts`
    std::vector<std::unique_ptr<GraphState>> parts;       // a root's: all graphs below it
    std::unordered_map<CUgraph, GraphState*> known_parts; // a root's: the last one of each handle
    AddressRanges allocated;                              // a root's: memory of its nodes
    std::vector<std::uint64_t> conditions;         // a root's: those made here, for error texts
    std::atomic<CUcontext> seen_context = nullptr; // a root's: the context seen last,
    std::atomic<int> seen_ordinal = -1;            // and the ordinal of its device
    std::atomic<bool> asks_for_context = false;    // a root's: once, none was current

    GraphState() = default;
    ~GraphState();
    GraphState(const GraphState&) = delete;
    GraphState& operator=(const GraphState&) = delete;
};

using GraphShare = std::shared_ptr<GraphState>;
using NodeShare = std::shared_ptr<NodeState>;

/// Says for messages what is wrong with a graph.
[[nodiscard]] std::string to_string(GraphDamage damage);

/// Takes over a graph of the driver. Nodes that are added run in `home`, or in the current context.
[[nodiscard]] GraphShare own_graph(CUgraph handle, std::shared_ptr<ContextState> home = {});
/// Wraps a graph that others own and destroy after this state is gone.
[[nodiscard]] GraphShare view_graph(CUgraph handle, std::shared_ptr<void> owner,
                                    std::shared_ptr<ContextState> home = {});
/// Notes a graph that the driver keeps in a node of `parent`. Returns the one known already if
/// there is one.
[[nodiscard]] GraphShare part_of(const GraphShare& parent, NodeState& node, CUgraph handle);

/// Throws for a graph that is closed, destroyed or damaged.
[[noreturn, gnu::cold]] void refuse_graph(const GraphState* graph);

/// Returns a graph, to use it.
/// @throws ClosedError if it is closed, or its node was destroyed.
[[nodiscard]] inline GraphState& open(const GraphShare& graph) {
    if (graph == nullptr || graph->handle == nullptr || graph->root->damage != GraphDamage::None)
        [[unlikely]] {
        refuse_graph(graph.get());
    }
    return *graph;
}

/// Returns a node, to use it.
/// @throws ClosedError, naming the class, if it was destroyed; std::logic_error for an entry.
[[nodiscard]] NodeState& open(const GraphNode& node, const char* class_name);

/// @throws std::invalid_argument, naming the node, if it belongs to another graph; ClosedError if
/// it was destroyed.
void check_same_graph(GraphState& graph, const GraphNode& node);

/// Returns the state of a node of this graph, and asks the driver for its type if it is new.
[[nodiscard]] NodeShare node_state(GraphState& graph, CUgraphNode handle);

/// The state of a node that is about to be added, with room for it in the graph's table. Unless the
/// node is noted, the graph gets both back.
class PreparedNode {
public:
    [[nodiscard]] explicit PreparedNode(GraphState& graph);
    ~PreparedNode();
    PreparedNode(const PreparedNode&) = delete;
    PreparedNode& operator=(const PreparedNode&) = delete;

    /// Notes the node, which was just added to the driver's graph, and returns its state.
    NodeShare note(CUgraphNode handle, GraphNodeType type, CUcontext context = nullptr,
                   PayloadShare payload = {}) noexcept;

private:
    GraphState& graph_;
    NodeShare node_; // null once it is noted
};

/// Notes that a node and all graphs below it are gone.
void forget_node(GraphState& graph, NodeState& node) noexcept;
/// Notes that all graphs below a node are gone.
void forget_children(NodeState& node) noexcept;

/// Returns an object for a node.
[[nodiscard]] inline GraphNode to_node(const GraphShare& graph, NodeShare node) {
    return Access::make<GraphNode>(graph, std::move(node));
}

/// Returns the handles of several nodes that a new node depends on.
/// @throws std::invalid_argument, naming the node, if one belongs to another graph; ClosedError if
/// one was destroyed.
class Dependencies {
public:
    [[nodiscard]] explicit Dependencies(const NodeState* after) {
        if (after == nullptr) {
            return;
        }
        if (after->is_point || after->handle == nullptr) [[unlikely]] {
            gather(*after);
            return;
        }
        single_ = after->handle;
        data_ = &single_;
        size_ = 1;
    }

    /// Takes handles as they are.
    [[nodiscard]] explicit Dependencies(std::span<const CUgraphNode> handles) noexcept
        : data_(handles.data()), size_(handles.size()) {}

    Dependencies(const Dependencies&) = delete;
    Dependencies& operator=(const Dependencies&) = delete;

    [[nodiscard]] const CUgraphNode* data() const noexcept { return data_; }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }

private:
    [[gnu::cold]] void gather(const NodeState& after);

    CUgraphNode single_ = nullptr;
    std::vector<CUgraphNode> several_;
    const CUgraphNode* data_ = nullptr;
    std::size_t size_ = 0;
};

/// Adds a conditional node behind `dependencies`, with its bodies. Also for graphs being captured.
[[nodiscard]] NodeShare add_conditional(const GraphShare& graph, const Dependencies& dependencies,
                                        const GraphCondition& condition, GraphConditionalType type,
                                        unsigned bodies, CUcontext context);
/// Makes a condition for nodes of a graph.
[[nodiscard]] GraphCondition make_condition(GraphState& graph, CUcontext context,
                                            std::optional<unsigned> default_value);
/// Notes the graph in a new child graph node, which is a copy of `original`, with what the nodes of
/// the original keep alive. Returns false if some of that is not known to a node of the copy.
[[nodiscard]] bool adopt_child(const GraphShare& graph, NodeState& node, GraphState& original);
/// Notes for the nodes of a copy what those of the original keep alive, down to the last child.
/// Returns false as adopt_child() does.
[[nodiscard]] bool adopt_payloads(const GraphShare& copy, GraphState& original);

/// Lets a graph keep what a graph uses that is about to become a child of it, until the nodes of
/// the child do so. Unless `stay` is called, the graph gives it up again.
class KeptForChild {
public:
    [[nodiscard]] KeptForChild(GraphState& graph, GraphState& child);
    ~KeptForChild();
    KeptForChild(const KeptForChild&) = delete;
    KeptForChild& operator=(const KeptForChild&) = delete;

    /// Leaves it to the graph, also if something fails now.
    void stay() noexcept { is_staying_ = true; }

    /// Gives it up: the nodes of the child keep it.
    void give_up() noexcept;

private:
    GraphState& graph_;
    const Payload* payload_ = nullptr;
    bool is_staying_ = false;
};

/// Returns the graphs below a node, asking the driver if they are not known.
[[nodiscard]] NodeChildren& children_of(const GraphShare& graph, NodeState& node);

/// Notes that other code may know a handle of a hierarchy.
/// @throws CUDAError if the driver cannot make user objects.
void expose(GraphState& graph);

/// Lets user objects hold what a graph of an exposed hierarchy is about to use.
[[gnu::cold]] void keep_for_others(GraphState& graph, PayloadShare payload);

/// Does so if the hierarchy is exposed. If the driver then refuses the use, the user objects hold
/// it nevertheless.
inline void keep_if_exposed(GraphState& graph, const PayloadShare& payload) {
    if (graph.root->is_exposed.load(std::memory_order_relaxed) && payload) [[unlikely]] {
        keep_for_others(graph, payload);
    }
}

/// Keeps something alive without a node. It may be null.
void keep_in(GraphState& graph, PayloadShare payload);
/// Gives up what keep_in() keeps.
void give_up_in(GraphState& graph, const Payload* payload) noexcept;

/// Returns shares of everything that a graph and all graphs below it keep alive.
[[nodiscard]] std::vector<PayloadShare> payloads_in(GraphState& graph);
/// Returns the same as one Payload; null if that is nothing.
[[nodiscard]] PayloadShare everything_in(GraphState& graph);

/// Returns the context that nodes without memory of a certain device run in.
[[nodiscard]] CUcontext context_for_node(GraphState& graph);
/// Returns the context for a node that uses a buffer, which may be null.
[[nodiscard]] CUcontext context_for_node(GraphState& graph, const MemoryRange* buffer);

/// Returns whether an allocation node that is known in the hierarchy makes this address.
[[nodiscard]] bool is_allocated_by(GraphState& graph, CUdeviceptr address);

/// Returns the nodes of a graph in the driver's order.
[[nodiscard]] std::vector<CUgraphNode> nodes_of(CUgraph graph);

/// Describes a node for messages: `kernel node "scale" (0x...)`.
[[nodiscard]] std::string describe(const NodeState& node);
[[nodiscard]] std::string describe(GraphState& graph, CUgraphNode handle);

/// Makes an executable; what GraphDefinition::instantiate does.
[[nodiscard]] Graph instantiate(const GraphShare& graph, const GraphCompleteOptions& options);

/// Makes the Payload of a callback and fills in what the driver calls.
[[nodiscard]] PayloadShare callback_payload(std::function<void()> function, CUgraph graph,
                                            CUDA_HOST_NODE_PARAMS& parameters);
[[nodiscard]] PayloadShare callback_payload(const HostFunctionParameters& function,
                                            CUDA_HOST_NODE_PARAMS& parameters);

// Dependencies between nodes: read, added and removed, many in one driver call.

enum class EdgeChange : bool { Remove, Add };

/// Adds or removes edges from each of `from` to each of `to`, one of which is a single node.
/// @throws std::invalid_argument, naming the nodes, if one is of another graph, an edge is there
/// already or is missing, or it joins a node with itself.
void change_edges(GraphState& graph, std::span<const GraphNode> from, std::span<const GraphNode> to,
                  EdgeChange change);
void change_edges(GraphState& graph, std::span<const GraphEdge> edges, EdgeChange change);

/// Returns all edges of a graph.
[[nodiscard]] std::vector<GraphEdge> edges_of(const GraphShare& graph);

/// Returns the nodes on a cycle of the graph, each before the one that waits for it; empty if there
/// is none.
[[nodiscard]] std::vector<CUgraphNode> find_cycle(CUgraph graph);

using NeighbourEntry =
    driver::Entry<CUresult(CUgraphNode, CUgraphNode*, CUgraphEdgeData*, std::size_t*)>;

/// Returns the nodes that an entry of the driver lists for a node.
[[nodiscard]] std::vector<GraphNode> neighbours(const GraphNode& node, const NeighbourEntry& entry);

} // namespace cuprum::detail
