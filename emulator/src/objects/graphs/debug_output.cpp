// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/graphs/debug_output.hpp"

#include "objects/devices/context.hpp"
#include "objects/graphs/conditional.hpp"
#include "objects/process/error.hpp"
#include "objects/streams/event.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace cuprum::emulator {

namespace {

constexpr unsigned ALL_DOT_FLAGS = (CU_GRAPH_DEBUG_DOT_FLAGS_CONDITIONAL_NODE_PARAMS << 1) - 1;

/// Writes one graph and what is in it.
class DotWriter {
public:
    DotWriter(std::ostream& out, unsigned flags)
        : out_(out), flags_(flags), is_verbose_((flags & CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE) != 0) {}

    void write(const Graph& graph) {
        out_ << "digraph dot {\n";
        write_level(graph, 1);
        out_ << "}\n";
    }

private:
    [[nodiscard]] bool wants(unsigned flag) const { return is_verbose_ || (flags_ & flag) != 0; }

    void write_level(const Graph& graph, int depth) {
        const unsigned number = graph.id();
        const std::string indent(static_cast<std::size_t>(depth) * 2, ' ');
        out_ << indent << "subgraph cluster_" << number << " {\n"
             << indent << "  label=\"graph_" << number << "\" graph[style=\"dashed\"]\n";
        for (const auto& node : graph.nodes()) {
            out_ << indent << "  \"" << name(number, *node) << "\" [style=\""
                 << (node->type() == CU_GRAPH_NODE_TYPE_KERNEL ? "bold" : "solid")
                 << "\" shape=\"record\" label=\"" << label(*node) << "\"];\n";
        }
        unsigned edge_number = 0;
        for (const auto& node : graph.nodes()) {
            for (const GraphEdge& edge : node->dependents()) {
                out_ << indent << "  \"" << name(number, *node) << "\" -> \""
                     << name(number, *edge.node) << "\"" << edge_label(edge, edge_number++)
                     << ";\n";
            }
        }
        out_ << indent << "}\n";
        for (const auto& node : graph.nodes()) {
            for_each_embedded(node->parameters(), [&](const Graph& embedded) {
                out_ << indent << "\"" << name(number, *node) << "\" -> \"graph_" << embedded.id()
                     << "\" [style=\"dotted\"];\n"
                     << indent << "\"graph_" << embedded.id() << "\" [shape=\"plaintext\"];\n";
                write_level(embedded, depth);
            });
        }
    }

    static std::string name(unsigned graph, const GraphNode& node) {
        return "graph_" + std::to_string(graph) + "_node_" + std::to_string(node.number());
    }

    [[nodiscard]] std::string edge_label(const GraphEdge& edge, unsigned number) const {
        std::string label;
        if (wants(CU_GRAPH_DEBUG_DOT_FLAGS_EXTRA_TOPO_INFO)) {
            label = "edge " + std::to_string(number);
        }
        if (!is_plain(edge.data)) {
            label += std::string(label.empty() ? "" : ", ") + "port " +
                     std::to_string(edge.data.from_port) + ", type " +
                     std::to_string(edge.data.type);
        }
        return label.empty() ? "" : " [label=\"" + label + "\"]";
    }

    [[nodiscard]] std::string label(GraphNode& node) const {
        std::ostringstream text;
        text << "{" << type_name(node.type()) << " | node " << node.number();
        if (wants(CU_GRAPH_DEBUG_DOT_FLAGS_EXTRA_TOPO_INFO)) {
            text << " | after " << node.dependencies().size() << ", before "
                 << node.dependents().size();
        }
        if (wants(CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES)) {
            text << " | handle 0x" << std::hex << node.handle_value() << std::dec;
        }
        std::visit([&](const auto& parameters) { describe_parameters(text, parameters); },
                   node.parameters());
        text << "}";
        return text.str();
    }

    [[nodiscard]] const char* type_name(CUgraphNodeType type) const {
        const bool is_runtime = (flags_ & CU_GRAPH_DEBUG_DOT_FLAGS_RUNTIME_TYPES) != 0;
        switch (type) {
        case CU_GRAPH_NODE_TYPE_KERNEL:
            return is_runtime ? "cudaGraphNodeTypeKernel" : "KERNEL";
        case CU_GRAPH_NODE_TYPE_MEMCPY:
            return is_runtime ? "cudaGraphNodeTypeMemcpy" : "MEMCPY";
        case CU_GRAPH_NODE_TYPE_MEMSET:
            return is_runtime ? "cudaGraphNodeTypeMemset" : "MEMSET";
        case CU_GRAPH_NODE_TYPE_HOST:
            return is_runtime ? "cudaGraphNodeTypeHost" : "HOST";
        case CU_GRAPH_NODE_TYPE_GRAPH:
            return is_runtime ? "cudaGraphNodeTypeGraph" : "GRAPH";
        case CU_GRAPH_NODE_TYPE_EMPTY:
            return is_runtime ? "cudaGraphNodeTypeEmpty" : "EMPTY";
        case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
            return is_runtime ? "cudaGraphNodeTypeWaitEvent" : "WAIT_EVENT";
        case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
            return is_runtime ? "cudaGraphNodeTypeEventRecord" : "EVENT_RECORD";
        case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
            return is_runtime ? "cudaGraphNodeTypeMemAlloc" : "MEM_ALLOC";
        case CU_GRAPH_NODE_TYPE_MEM_FREE:
            return is_runtime ? "cudaGraphNodeTypeMemFree" : "MEM_FREE";
        case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
            return "BATCH_MEM_OP";
        case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
            return is_runtime ? "cudaGraphNodeTypeExtSemaphoreSignal" : "EXT_SEMAS_SIGNAL";
        case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
            return is_runtime ? "cudaGraphNodeTypeExtSemaphoreWait" : "EXT_SEMAS_WAIT";
        case CU_GRAPH_NODE_TYPE_CONDITIONAL:
            return is_runtime ? "cudaGraphNodeTypeConditional" : "CONDITIONAL";
        default:
            return "UNKNOWN";
        }
    }

    void describe_parameters(std::ostream& text, const EmptyParameters& /*unused*/) const {
        (void)text;
    }

    void describe_parameters(std::ostream& text, const KernelParameters& kernel) const {
        text << " | " << kernel.function->kernel()->name;
        if (wants(CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES)) {
            text << " | function 0x" << std::hex << kernel.function->handle_value() << std::dec;
        }
        if (wants(CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS)) {
            text << " | grid (" << kernel.grid[0] << ", " << kernel.grid[1] << ", "
                 << kernel.grid[2] << ") | block (" << kernel.block[0] << ", " << kernel.block[1]
                 << ", " << kernel.block[2] << ") | shared memory " << kernel.shared_bytes
                 << " bytes | arguments";
            for (const auto& parameter : kernel.function->kernel()->parameters) {
                text << " 0x" << std::hex;
                for (std::uint32_t byte = parameter.size_bytes; byte != 0; --byte) {
                    const auto value =
                        static_cast<unsigned>(kernel.packed[parameter.offset + byte - 1]);
                    text << "0123456789abcdef"[value >> 4] << "0123456789abcdef"[value & 15];
                }
                text << std::dec;
            }
        }
        if (wants(CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_ATTRIBUTES)) {
            const LaunchRequest request = kernel.request();
            text << " | cooperative " << (request.is_cooperative ? 1 : 0) << " | priority "
                 << request.priority.value_or(0) << " | cluster (" << request.cluster[0] << ", "
                 << request.cluster[1] << ", " << request.cluster[2] << ")";
        }
    }

    void describe_parameters(std::ostream& text, const MemcpyParameters& copy) const {
        const auto side = [](CUmemorytype type) {
            return type == CU_MEMORYTYPE_HOST ? "H" : type == CU_MEMORYTYPE_ARRAY ? "A" : "D";
        };
        text << " | " << side(copy.request.srcMemoryType) << " to "
             << side(copy.request.dstMemoryType);
        if (wants(CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS)) {
            const Copy& shape = copy.copy;
            text << std::hex << " | source 0x" << shape.source.address << " | destination 0x"
                 << shape.destination.address << std::dec << " | " << shape.width_bytes
                 << " bytes x " << shape.height << " rows x " << shape.depth << " slices | pitches "
                 << shape.source.pitch_bytes << " and " << shape.destination.pitch_bytes;
        }
    }

    void describe_parameters(std::ostream& text, const MemsetParameters& set) const {
        if (wants(CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS)) {
            text << std::hex << " | destination 0x" << set.fill.address << " | value 0x"
                 << set.fill.value << std::dec << " | element " << set.fill.element_bytes
                 << " bytes | " << set.fill.width << " elements x " << set.fill.height
                 << " rows | pitch " << set.fill.pitch_bytes;
        }
    }

    void describe_parameters(std::ostream& text, const HostParameters& host) const {
        if (wants(CU_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS)) {
            text << std::hex << " | function 0x" << reinterpret_cast<std::uint64_t>(host.function)
                 << " | data 0x" << reinterpret_cast<std::uint64_t>(host.data) << std::dec;
        }
    }

    void describe_event(std::ostream& text, const Event& event) const {
        if (wants(CU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS)) {
            text << " | event 0x" << std::hex << event.handle_value() << std::dec;
        }
    }

    void describe_parameters(std::ostream& text, const RecordParameters& record) const {
        describe_event(text, *record.event);
    }

    void describe_parameters(std::ostream& text, const WaitParameters& wait) const {
        describe_event(text, *wait.event);
    }

    void describe_parameters(std::ostream& text, const ChildParameters& child) const {
        text << " | " << child.graph->nodes().size() << " nodes";
    }

    void describe_parameters(std::ostream& text, const AllocParameters& alloc) const {
        if (wants(CU_GRAPH_DEBUG_DOT_FLAGS_MEM_ALLOC_NODE_PARAMS)) {
            text << " | " << alloc.request.bytesize << " bytes at 0x" << std::hex
                 << alloc.request.dptr << std::dec << " | location type "
                 << alloc.request.poolProps.location.type << ", number "
                 << alloc.request.poolProps.location.id;
        }
    }

    void describe_parameters(std::ostream& text, const FreeParameters& free) const {
        if (wants(CU_GRAPH_DEBUG_DOT_FLAGS_MEM_FREE_NODE_PARAMS)) {
            text << " | address 0x" << std::hex << free.address << std::dec;
        }
    }

    void describe_parameters(std::ostream& text, const BatchParameters& batch) const {
        if (!wants(CU_GRAPH_DEBUG_DOT_FLAGS_BATCH_MEM_OP_NODE_PARAMS)) {
            return;
        }
        for (const CUstreamBatchMemOpParams& item : batch.items) {
            text << " | operation " << item.operation << std::hex << " address 0x"
                 << item.writeValue.address << " value 0x" << item.writeValue.value64 << std::dec;
        }
    }

    template <typename Item>
    void describe_parameters(std::ostream& text, const SemaphoreBatch<Item>& batch) const {
        constexpr bool is_signal = std::is_same_v<SemaphoreBatch<Item>, SemaphoreSignals>;
        if (!wants(is_signal ? CU_GRAPH_DEBUG_DOT_FLAGS_EXT_SEMAS_SIGNAL_NODE_PARAMS
                             : CU_GRAPH_DEBUG_DOT_FLAGS_EXT_SEMAS_WAIT_NODE_PARAMS)) {
            return;
        }
        for (std::size_t index = 0; index < batch.items.size(); ++index) {
            text << " | semaphore 0x" << std::hex << batch.semaphores[index]->handle_value()
                 << std::dec << " value " << batch.items[index].params.fence.value;
        }
    }

    void describe_parameters(std::ostream& text, const ConditionalParameters& conditional) const {
        constexpr const char* types[] = {"IF", "WHILE", "SWITCH"};
        text << " | " << types[conditional.type];
        if (wants(CU_GRAPH_DEBUG_DOT_FLAGS_CONDITIONAL_NODE_PARAMS)) {
            text << " | handle 0x" << std::hex << conditional.variable->handle() << std::dec
                 << " | default " << conditional.variable->default_value() << " | "
                 << conditional.bodies.size() << " bodies";
        }
    }

    std::ostream& out_;
    unsigned flags_;
    bool is_verbose_;
};

} // namespace

void write_dot(const Graph& graph, const std::string& path, unsigned flags) {
    require((flags & ~ALL_DOT_FLAGS) == 0, "unknown flags");
    std::ofstream out(path);
    DotWriter(out, flags).write(graph);
    out.close();
    if (!out) {
        fail(CUDA_ERROR_OPERATING_SYSTEM,
             "the file '" + path + "' cannot be written: " + std::strerror(errno));
    }
}

} // namespace cuprum::emulator
