// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Nodes of graphs, with functions for all types of nodes, and attributes of kernel nodes.

#include "api/graph_handles.hpp"
#include "api/newer_cuda.hpp"
#include "api/semaphores.hpp"
#include "objects/graphs/conditional.hpp"
#include "objects/graphs/embedded_nodes.hpp"
#include "objects/graphs/kernel_attributes.hpp"
#include "objects/graphs/memory_nodes.hpp"
#include "objects/process/error.hpp"

#include <bit>
#include <span>

using namespace cuprum::emulator;

namespace {

template <typename... Functions>
struct Overloaded : Functions... {
    using Functions::operator()...;
};

/// clang 16 does not deduce the functions without it.
template <typename... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

/// Returns how many bytes the parameters of a type of node have, of those that all share.
std::size_t bytes_of(CUgraphNodeType type) {
    using Any = CUgraphNodeParams;
    switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return sizeof Any::kernel;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return sizeof Any::memcpy;
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return sizeof Any::memset;
    case CU_GRAPH_NODE_TYPE_HOST:
        return sizeof Any::host;
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return sizeof Any::graph;
    case CU_GRAPH_NODE_TYPE_EMPTY:
        return 0;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return sizeof Any::eventWait;
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
        return sizeof Any::extSemSignal;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        return sizeof Any::alloc;
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        return sizeof Any::free;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        return sizeof Any::memOp;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        return sizeof Any::conditional;
    default:
        return sizeof Any::reserved1; // refused later, by its type
    }
}

void check_reserved(const CUgraphNodeParams* request) {
    require(request != nullptr, "nodeParams must not be NULL");
    require_zero(request->reserved0);
    require(request->reserved2 == 0, "the reserved fields must be 0");
    const auto* const bytes = reinterpret_cast<const unsigned char*>(request->reserved1);
    require_zero(std::span(bytes, sizeof request->reserved1).subspan(bytes_of(request->type)));
}

/// Returns the parameters of a node that contains no graph and no memory.
NodeParameters plain_parameters(const CUgraphNodeParams& request) {
    switch (request.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: {
        const auto kernel = std::bit_cast<CUDA_KERNEL_NODE_PARAMS>(request.kernel);
        return parameters_from(&kernel);
    }
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        require(request.memcpy.flags == 0 && request.memcpy.reserved == 0,
                "the flags of a copy node must be 0");
        return parameters_from(&request.memcpy.copyParams, request.memcpy.copyCtx);
    case CU_GRAPH_NODE_TYPE_MEMSET: {
        const CUDA_MEMSET_NODE_PARAMS set{request.memset.dst,   request.memset.pitch,
                                          request.memset.value, request.memset.elementSize,
                                          request.memset.width, request.memset.height};
        return parameters_from(&set, request.memset.ctx);
    }
    case CU_GRAPH_NODE_TYPE_HOST: {
        const CUDA_HOST_NODE_PARAMS host{request.host.fn, request.host.userData};
        return parameters_from(&host);
    }
    case CU_GRAPH_NODE_TYPE_EMPTY:
        return EmptyParameters{};
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return WaitParameters{event_of_node(request.eventWait.event)};
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return RecordParameters{event_of_node(request.eventRecord.event)};
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: {
        const CUDA_BATCH_MEM_OP_NODE_PARAMS batch{request.memOp.ctx, request.memOp.count,
                                                  request.memOp.paramArray, request.memOp.flags};
        return parameters_from(&batch);
    }
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL: {
        const auto signals = std::bit_cast<CUDA_EXT_SEM_SIGNAL_NODE_PARAMS>(request.extSemSignal);
        return parameters_from(&signals);
    }
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT: {
        const auto waits = std::bit_cast<CUDA_EXT_SEM_WAIT_NODE_PARAMS>(request.extSemWait);
        return parameters_from(&waits);
    }
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        fail(CUDA_ERROR_NOT_SUPPORTED, std::string("the parameters of a node of type '") +
                                           name_of(request.type) + "' cannot be changed");
    default:
        fail(CUDA_ERROR_INVALID_VALUE, "unknown type of node");
    }
}

/// Adds a node of any type; writes what the caller is told through `request`.
std::shared_ptr<GraphNode> add_any(Graph& graph, CUgraphNodeParams& request,
                                   const std::vector<GraphEdge>& edges) {
    switch (request.type) {
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return add_child(graph, *object_of(request.graph.graph), edges,
                         request.graph.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: {
        CUDA_MEM_ALLOC_NODE_PARAMS alloc{request.alloc.poolProps, request.alloc.accessDescs,
                                         request.alloc.accessDescCount, request.alloc.bytesize, 0};
        auto node = add_allocation(graph, alloc, edges);
        request.alloc.dptr = node->get<AllocParameters>().request.dptr;
        return node;
    }
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        return add_free(graph, request.free.dptr, edges);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: {
        auto node = add_conditional(graph, request.conditional,
                                    context_or_current(request.conditional.ctx), edges);
        request.conditional.phGraph_out = node->get<ConditionalParameters>().handles.data();
        return node;
    }
    default:
        return graph.add(plain_parameters(request), edges);
    }
}

void add_any_node(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies,
                  const CUgraphEdgeData* data, std::size_t count, CUgraphNodeParams* request) {
    require(out != nullptr, "phGraphNode must not be NULL");
    check_reserved(request);
    *out = add_any(*object_of(graph), *request, edges_from(dependencies, data, count))
               ->handle<CUgraphNode>();
}

/// Checks that parameters are for the type of node that they are given to.
void check_type(const GraphNode& node, const CUgraphNodeParams& request) {
    require(node.type() == request.type, "nodeParams is for a node of another type");
}

/// Writes the parameters of any node. Pointers in them are valid until the node changes.
void write_any(GraphNode& node, CUgraphNodeParams& out) {
    out = {};
    out.type = node.type();
    const auto write = Overloaded{
        [](EmptyParameters&) {},
        [&](KernelParameters& kernel) {
            out.kernel = std::bit_cast<CUDA_KERNEL_NODE_PARAMS_v3>(request_of(node, kernel));
        },
        [&](MemcpyParameters& copy) {
            out.memcpy.copyParams = copy.request;
            out.memcpy.copyCtx = copy.context->handle<CUcontext>();
        },
        [&](MemsetParameters& set) {
            const Fill& fill = set.fill;
            out.memset = {fill.address,
                          fill.pitch_bytes,
                          fill.value,
                          fill.element_bytes,
                          fill.width,
                          fill.height,
                          set.context->handle<CUcontext>()};
        },
        [&](HostParameters& host) {
            out.host.fn = host.function;
            out.host.userData = host.data;
        },
        [&](RecordParameters& record) { out.eventRecord.event = request_of(node, record); },
        [&](WaitParameters& wait) { out.eventWait.event = request_of(node, wait); },
        [&](ChildParameters& child) {
            out.graph.graph = request_of(node, child);
            out.graph.ownership = child.is_moved ? CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE
                                                 : CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE;
        },
        [&](AllocParameters& memory) {
            out.alloc = std::bit_cast<CUDA_MEM_ALLOC_NODE_PARAMS_v2>(request_of(node, memory));
        },
        [&](FreeParameters& memory) { out.free.dptr = memory.address; },
        [&](BatchParameters& batch) {
            out.memOp = std::bit_cast<CUDA_BATCH_MEM_OP_NODE_PARAMS_v2>(request_of(node, batch));
        },
        [&](ConditionalParameters& conditional) {
            out.conditional.handle = conditional.variable->handle();
            out.conditional.type = conditional.type;
            out.conditional.size = static_cast<unsigned>(conditional.handles.size());
            out.conditional.phGraph_out = conditional.handles.data();
            out.conditional.ctx = conditional.context->handle<CUcontext>();
        },
        [&](SemaphoreSignals& batch) {
            out.extSemSignal =
                std::bit_cast<CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2>(request_of(node, batch));
        },
        [&](SemaphoreWaits& batch) {
            out.extSemWait =
                std::bit_cast<CUDA_EXT_SEM_WAIT_NODE_PARAMS_v2>(request_of(node, batch));
        },
    };
    std::visit(write, node.parameters());
}

} // namespace

ROW(cuGraphNodeGetParams, 13020, GraphLocked, GraphNode& node, CUgraphNodeParams& nodeParams) {
    write_any(node, nodeParams);
}

ROW(cuGraphAddNode_v2, 12030, GraphLocked, CUgraphNode* phGraphNode, CUgraph hGraph,
    const CUgraphNode* dependencies, const CUgraphEdgeData* dependencyData, size_t numDependencies,
    CUgraphNodeParams* nodeParams) {
    add_any_node(phGraphNode, hGraph, dependencies, dependencyData, numDependencies, nodeParams);
}

ROW(cuGraphAddNode, 12020, GraphLocked, CUgraphNode* phGraphNode, CUgraph hGraph,
    const CUgraphNode* dependencies, size_t numDependencies, CUgraphNodeParams* nodeParams) {
    add_any_node(phGraphNode, hGraph, dependencies, nullptr, numDependencies, nodeParams);
}

ROW(cuGraphNodeSetParams, 12020, GraphLocked, GraphNode& node, CUgraphNodeParams* nodeParams) {
    check_reserved(nodeParams);
    check_type(node, *nodeParams);
    if (nodeParams->type == CU_GRAPH_NODE_TYPE_GRAPH) {
        replace_child(node, *object_of(nodeParams->graph.graph));
        return;
    }
    set_parameters(node, plain_parameters(*nodeParams));
}

ROW(cuGraphExecNodeSetParams, 12020, GraphLocked, GraphExecutable& executable, GraphNode& node,
    CUgraphNodeParams* nodeParams) {
    check_reserved(nodeParams);
    check_type(node, *nodeParams);
    if (nodeParams->type == CU_GRAPH_NODE_TYPE_GRAPH) {
        executable.set_child(node, *object_of(nodeParams->graph.graph));
    } else {
        executable.set_parameters(node, plain_parameters(*nodeParams));
    }
}

ROW(cuGraphConditionalHandleCreate, 12030, GraphLocked, CUgraphConditionalHandle& pHandle_out,
    Graph& graph, CUcontext ctx, unsigned int defaultLaunchValue, unsigned int flags) {
    pHandle_out = add_variable(graph, context_or_current(ctx), defaultLaunchValue, flags);
}

// ---- attributes of kernel nodes ----------------------------------------------------------------

ROW(cuGraphKernelNodeGetAttribute, 11000, GraphLocked, GraphNode& node, CUkernelNodeAttrID attr,
    CUkernelNodeAttrValue* value_out) {
    put(value_out, attribute_of(node.get<KernelParameters>(), attr));
}

ROW(cuGraphKernelNodeSetAttribute, 11000, GraphLocked, GraphNode& node, CUkernelNodeAttrID attr,
    const CUkernelNodeAttrValue& value) {
    set_attribute(node.get<KernelParameters>(), attr, value);
}

ROW(cuGraphKernelNodeCopyAttributes, 11000, GraphLocked, GraphNode& to, GraphNode& from) {
    to.get<KernelParameters>().attributes = from.get<KernelParameters>().attributes;
}
