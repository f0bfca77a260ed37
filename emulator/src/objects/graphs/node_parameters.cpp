// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/graphs/node_parameters.hpp"

#include "bytecode/readable_name.hpp"
#include "objects/devices/context.hpp"
#include "objects/devices/device.hpp"
#include "objects/process/error.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <type_traits>

namespace cuprum::emulator {

namespace {

std::string hex(std::uint64_t number) {
    std::ostringstream out;
    out << "0x" << std::hex << number;
    return out.str();
}

} // namespace

LaunchRequest KernelParameters::request() const {
    LaunchRequest result;
    std::ranges::copy(grid, result.grid);
    std::ranges::copy(block, result.block);
    result.shared_bytes = shared_bytes;
    result.packed = packed;
    std::vector<CUlaunchAttribute> list;
    for (const auto& [id, value] : attributes) {
        CUlaunchAttribute attribute{};
        attribute.id = id;
        attribute.value = value;
        if (id != CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE) {
            list.push_back(attribute);
        }
    }
    apply_attributes(result, list);
    result.attributes = {}; // `list` ends here
    return result;
}

CUgraphNodeType type_of(const NodeParameters& parameters) noexcept {
    constexpr std::array types{CU_GRAPH_NODE_TYPE_EMPTY,
                               CU_GRAPH_NODE_TYPE_KERNEL,
                               CU_GRAPH_NODE_TYPE_MEMCPY,
                               CU_GRAPH_NODE_TYPE_MEMSET,
                               CU_GRAPH_NODE_TYPE_HOST,
                               CU_GRAPH_NODE_TYPE_EVENT_RECORD,
                               CU_GRAPH_NODE_TYPE_WAIT_EVENT,
                               CU_GRAPH_NODE_TYPE_GRAPH,
                               CU_GRAPH_NODE_TYPE_MEM_ALLOC,
                               CU_GRAPH_NODE_TYPE_MEM_FREE,
                               CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
                               CU_GRAPH_NODE_TYPE_CONDITIONAL,
                               CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL,
                               CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT};
    static_assert(types.size() == std::variant_size_v<NodeParameters>);
    return types[parameters.index()];
}

const char* name_of(CUgraphNodeType type) noexcept {
    switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return "kernel";
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return "memory copy";
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return "memory set";
    case CU_GRAPH_NODE_TYPE_HOST:
        return "host function";
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return "child graph";
    case CU_GRAPH_NODE_TYPE_EMPTY:
        return "empty";
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return "event wait";
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return "event record";
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
        return "semaphore signal";
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
        return "semaphore wait";
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        return "allocation";
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        return "free";
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        return "batch of memory operations";
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        return "conditional";
    default:
        return "unknown";
    }
}

std::string describe(const NodeParameters& parameters) {
    if (const auto* kernel = std::get_if<KernelParameters>(&parameters)) {
        return "kernel '" + bytecode::readable_name(kernel->function->kernel()->name) + "'";
    }
    std::string text = name_of(type_of(parameters));
    if (const auto* copy = std::get_if<MemcpyParameters>(&parameters)) {
        const Copy& shape = copy->copy;
        text += " of " + std::to_string(shape.width_bytes * shape.height * shape.depth) +
                " bytes from " + hex(shape.source.address) + " to " +
                hex(shape.destination.address);
    } else if (const auto* fill = std::get_if<MemsetParameters>(&parameters)) {
        const Fill& shape = fill->fill;
        text += " of " + std::to_string(shape.width * shape.element_bytes * shape.height) +
                " bytes at " + hex(shape.address);
    } else if (const auto* alloc = std::get_if<AllocParameters>(&parameters)) {
        text += " of " + std::to_string(alloc->request.bytesize) + " bytes at " +
                hex(alloc->request.dptr);
    } else if (const auto* free = std::get_if<FreeParameters>(&parameters)) {
        text += " of " + hex(free->address);
    }
    return text;
}

std::shared_ptr<Context> context_of(const NodeParameters& parameters) {
    return std::visit(
        [](const auto& each) -> std::shared_ptr<Context> {
            if constexpr (requires { each.context; }) {
                return each.context;
            } else {
                return nullptr;
            }
        },
        parameters);
}

KernelParameters kernel_parameters(const std::shared_ptr<Function>& function, CUkernel kernel,
                                   const LaunchRequest& request) {
    KernelParameters result;
    result.function = function;
    result.module = function->module();
    result.kernel = kernel;
    result.context = result.module->context().shared_from_this();
    std::ranges::copy(request.grid, result.grid);
    std::ranges::copy(request.block, result.block);
    result.shared_bytes = request.shared_bytes;
    result.is_extra = request.extra != nullptr;
    for (const CUlaunchAttribute& attribute : request.attributes) {
        result.attributes[attribute.id] = attribute.value;
    }
    if (request.is_cooperative) {
        result.attributes[CU_LAUNCH_ATTRIBUTE_COOPERATIVE].cooperative = 1;
    }
    check_launch(*function, *result.context, result.context->device().sm_count(), request);
    result.packed = pack_arguments(*function->kernel(), request);
    return result;
}

void check_memset(const MemsetParameters& parameters) {
    const Fill& fill = parameters.fill;
    require(fill.element_bytes == 1 || fill.element_bytes == 2 || fill.element_bytes == 4,
            "the size of an element must be 1, 2 or 4 bytes");
    require(!is_empty(fill), "a node cannot set an empty range of memory");
    check_work(fill, parameters.context->device().ordinal());
}

void check_memcpy(const MemcpyParameters& parameters) {
    require(!is_empty(parameters.copy), "a node cannot copy an empty range of memory");
    check_work(parameters.copy, parameters.context->device().ordinal());
}

} // namespace cuprum::emulator
