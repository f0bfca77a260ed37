// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/pictures.hpp"
#include "support/readable_name.hpp"
#include "support/text.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string_view>
#include <utility>

namespace cuprum::detail {

namespace {

/// One end of a copy.
struct CopyEnd {
    CUmemorytype type = CU_MEMORYTYPE_HOST;
    CUdeviceptr address = 0;
};

/// Returns whether a call succeeds.
template <typename Entry, typename... Args>
bool succeeds(const Entry& entry, Args... args) {
    return entry(args...) == CUDA_SUCCESS;
}

const char* kernel_name(const CUDA_KERNEL_NODE_PARAMS& launch, const driver::Table& driver) {
    const char* name = nullptr;
    if (launch.kern != nullptr && succeeds(driver.cuKernelGetName, &name, launch.kern)) {
        return name;
    }
    // NOTE: a launch may pass a kernel as a function.
    if (launch.func != nullptr &&
        (succeeds(driver.cuFuncGetName, &name, launch.func) ||
         succeeds(driver.cuKernelGetName, &name, reinterpret_cast<CUkernel>(launch.func)))) {
        return name;
    }
    return nullptr;
}

/// Leaves out trailing ones: "16", "16 x 8".
std::string extents_text(unsigned x, unsigned y, unsigned z) {
    return std::to_string(x) + (y != 1 || z != 1 ? " x " + std::to_string(y) : std::string()) +
           (z != 1 ? " x " + std::to_string(z) : std::string());
}

void describe_kernel(CUgraphNode node, const driver::Table& driver, NodeText& text) {
    CUDA_KERNEL_NODE_PARAMS launch = {};
    text.title = "kernel";
    if (!succeeds(driver.cuGraphKernelNodeGetParams, node, &launch)) {
        return;
    }
    if (const char* const name = kernel_name(launch, driver)) {
        text.title = readable_name(name);
    }
    text.details.push_back(
        "grid " + extents_text(launch.gridDimX, launch.gridDimY, launch.gridDimZ) + ", block " +
        extents_text(launch.blockDimX, launch.blockDimY, launch.blockDimZ));
    if (launch.sharedMemBytes != 0) {
        text.details.push_back("shared memory " + bytes_text(launch.sharedMemBytes));
    }
}

std::string place_text(const CopyEnd& end, const driver::Table& driver) {
    if (end.type == CU_MEMORYTYPE_ARRAY) {
        return "array";
    }
    unsigned type = 0;
    unsigned is_managed = 0;
    if (succeeds(driver.cuPointerGetAttribute, static_cast<void*>(&is_managed),
                 CU_POINTER_ATTRIBUTE_IS_MANAGED, end.address) &&
        is_managed != 0) {
        return "managed memory";
    }
    if (!succeeds(driver.cuPointerGetAttribute, static_cast<void*>(&type),
                  CU_POINTER_ATTRIBUTE_MEMORY_TYPE, end.address)) {
        return end.type == CU_MEMORYTYPE_DEVICE ? "device" : "host"; // the driver does not know it
    }
    int device = 0;
    if (type == CU_MEMORYTYPE_DEVICE &&
        succeeds(driver.cuPointerGetAttribute, static_cast<void*>(&device),
                 CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, end.address)) {
        return "device " + std::to_string(device);
    }
    return type == CU_MEMORYTYPE_DEVICE ? "device" : "pinned host";
}

void describe_copy(CUgraphNode node, const driver::Table& driver, NodeText& text) {
    CUDA_MEMCPY3D copy = {};
    text.title = "copy";
    if (!succeeds(driver.cuGraphMemcpyNodeGetParams, node, &copy)) {
        return;
    }
    text.title = "copy " + bytes_text(copy.WidthInBytes * copy.Height * copy.Depth);
    const auto end = [](CUmemorytype type, const void* host, CUdeviceptr device) {
        return CopyEnd{type, type == CU_MEMORYTYPE_HOST ? reinterpret_cast<std::uintptr_t>(host)
                                                        : device};
    };
    text.details.push_back(
        place_text(end(copy.srcMemoryType, copy.srcHost, copy.srcDevice), driver) + " to " +
        place_text(end(copy.dstMemoryType, copy.dstHost, copy.dstDevice), driver));
    if (copy.Height > 1 || copy.Depth > 1) {
        text.details.push_back(
            std::to_string(copy.WidthInBytes) + " bytes x " + std::to_string(copy.Height) +
            " rows" +
            (copy.Depth > 1 ? " x " + std::to_string(copy.Depth) + " slices" : std::string()));
    }
}

void describe_fill(CUgraphNode node, const driver::Table& driver, NodeText& text) {
    CUDA_MEMSET_NODE_PARAMS fill = {};
    text.title = "fill";
    if (!succeeds(driver.cuGraphMemsetNodeGetParams, node, &fill)) {
        return;
    }
    text.title =
        "fill " + bytes_text(fill.width * fill.height * fill.elementSize) + " with " +
        (fill.value < 10 ? std::to_string(fill.value) : hexadecimal(std::uintptr_t{fill.value}));
    if (fill.elementSize != 1) {
        text.details.push_back(std::to_string(fill.width * fill.height) + " values of " +
                               std::to_string(fill.elementSize) + " bytes");
    }
    if (fill.height > 1) {
        text.details.push_back(std::to_string(fill.height) + " rows");
    }
}

void describe_memory_node(CUgraphNode node, const driver::Table& driver, NodeText& text) {
    if (text.type == GraphNodeType::MemFree) {
        CUdeviceptr address = 0;
        text.title = "free memory";
        if (succeeds(driver.cuGraphMemFreeNodeGetParams, node, &address)) {
            text.title = "free " + hexadecimal(std::uintptr_t{address});
        }
        return;
    }
    CUDA_MEM_ALLOC_NODE_PARAMS allocation = {};
    text.title = "allocate memory";
    if (succeeds(driver.cuGraphMemAllocNodeGetParams, node, &allocation)) {
        text.title = "allocate " + bytes_text(allocation.bytesize);
        text.details.push_back("at " + hexadecimal(std::uintptr_t{allocation.dptr}));
        if (allocation.poolProps.location.type == CU_MEM_LOCATION_TYPE_DEVICE) {
            text.details.push_back("device " + std::to_string(allocation.poolProps.location.id));
        }
    }
}

void describe_event(CUgraphNode node, const driver::Table& driver, NodeText& text) {
    const bool is_record = text.type == GraphNodeType::EventRecord;
    CUevent event = nullptr;
    const bool is_known = is_record ? succeeds(driver.cuGraphEventRecordNodeGetEvent, node, &event)
                                    : succeeds(driver.cuGraphEventWaitNodeGetEvent, node, &event);
    text.title = is_record ? "record event" : "wait for event";
    if (is_known) {
        text.title += " " + hexadecimal(event);
    }
}

} // namespace

NodeText describe_node(CUgraphNode node, const driver::Table& driver) {
    NodeText text;
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    if (!succeeds(driver.cuGraphNodeGetType, node, &type)) {
        text.title = "node";
        return text;
    }
    text.type = static_cast<GraphNodeType>(type);
    switch (text.type) {
    case GraphNodeType::Kernel:
        describe_kernel(node, driver, text);
        break;
    case GraphNodeType::Memcpy:
        describe_copy(node, driver, text);
        break;
    case GraphNodeType::Memset:
        describe_fill(node, driver, text);
        break;
    case GraphNodeType::WaitEvent:
    case GraphNodeType::EventRecord:
        describe_event(node, driver, text);
        break;
    case GraphNodeType::MemAlloc:
    case GraphNodeType::MemFree:
        describe_memory_node(node, driver, text);
        break;
    default: // the others have a title only
        const char* const title = enumerator_text<GraphNodeType::Conditional>(
            text.type,
            {"", "", "", "host function", "child graph", "empty", "", "",
             "signal external semaphores", "wait for external semaphores", "", "",
             "memory operations", "conditional"},
            nullptr);
        text.title =
            title != nullptr ? title : "node of type " + std::to_string(static_cast<int>(type));
        break;
    }
    return text;
}

std::vector<std::string> describe_nodes(CUgraph graph, std::size_t count,
                                        const driver::Table& driver) {
    std::size_t total = 0;
    if (!succeeds(driver.cuGraphGetNodes, graph, static_cast<CUgraphNode*>(nullptr), &total)) {
        return {};
    }
    std::vector<CUgraphNode> nodes(total);
    if (total == 0 || !succeeds(driver.cuGraphGetNodes, graph, nodes.data(), &total)) {
        return {};
    }
    nodes.resize(total);
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (lines.size() >= count) {
            lines.push_back("and " + std::to_string(nodes.size() - i) + " more");
            break;
        }
        const NodeText text = describe_node(nodes[i], driver);
        lines.push_back(to_line(text));
        CUgraph child = nullptr;
        if (text.type == GraphNodeType::Graph &&
            succeeds(driver.cuGraphChildGraphNodeGetGraph, nodes[i], &child)) {
            for (const std::string& line : describe_nodes(child, count - lines.size(), driver)) {
                lines.push_back("child graph: " + line);
            }
        }
    }
    return lines;
}

std::string to_line(const NodeText& text) {
    std::string line = text.title;
    for (const std::string& detail : text.details) {
        line += ", " + detail;
    }
    return line;
}

std::string bytes_text(std::size_t bytes) {
    static constexpr std::array UNITS{"KiB", "MiB", "GiB", "TiB"};
    if (bytes < 1024) {
        return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
    }
    auto value = static_cast<double>(bytes) / 1024;
    std::size_t unit = 0;
    while (value >= 1024 && unit + 1 < UNITS.size()) {
        value /= 1024;
        ++unit;
    }
    char number[32];
    std::snprintf(number, sizeof number, "%.4g", value);
    return std::string(number) + " " + UNITS[unit];
}

} // namespace cuprum::detail
