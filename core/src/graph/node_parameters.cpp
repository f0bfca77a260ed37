// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/node_parameters.hpp"

#include "device/context_state.hpp"
#include "device/device_state.hpp"
#include "driver/explanations.hpp"
#include "launch/submission.hpp"
#include "memory/buffer_state.hpp"
#include "memory/copies.hpp"
#include "support/text.hpp"

#include <cuprum/error.hpp>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

namespace cuprum::detail {

namespace {

using driver::table;

/// Refuses what the driver has for launches on streams only.
void check_config_of_node(const LaunchConfig& config) {
    const char* const field = config.programmatic_event.has_value() ? "programmatic_event"
                              : config.launch_completion_event.has_value()
                                  ? "launch_completion_event"
                                  : nullptr;
    if (field != nullptr) {
        throw std::invalid_argument(std::string("LaunchConfig ") + field +
                                    " is for launches on streams; in a graph, set "
                                    "programmatic_stream_serialization, or add an edge that is "
                                    "programmatic");
    }
}

CUmemorytype memory_type(GraphState& graph, const NodeMemory& memory) {
    if (memory.is_graph_memory()) {
        return CU_MEMORYTYPE_DEVICE;
    }
    if (const auto* const buffer = static_cast<const BufferState*>(memory.buffer());
        buffer != nullptr && buffer->resource != nullptr && !buffer->resource->is_managed() &&
        !buffer->resource->is_host_accessible()) {
        return CU_MEMORYTYPE_DEVICE;
    }
    unsigned type = 0;
    const auto& get = table().cuPointerGetAttribute;
    const CUresult status = get(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory.address());
    if (status == CUDA_SUCCESS && type != 0) {
        return static_cast<CUmemorytype>(type);
    }
    if (status != CUDA_SUCCESS && status != CUDA_ERROR_INVALID_VALUE) {
        driver::raise(status, get.name);
    }
    // The driver does not know the address: memory that the graph will allocate, or plain host
    // memory.
    return is_allocated_by(graph, memory.address()) ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
}

void check_fits(const NodeMemory& memory, std::size_t bytes, const char* what) {
    if (memory.address() == 0) {
        throw std::invalid_argument(std::string(what) + " is a null pointer, expected memory");
    }
    if (memory.size().has_value() && bytes > *memory.size()) {
        throw std::invalid_argument(std::string(what) + " takes " + std::to_string(bytes) +
                                    " bytes, but the memory has " + std::to_string(*memory.size()));
    }
}

SideDescription describe_side(GraphState& graph, const NodeMemory& memory,
                              const PlacedRows& rows = {}) {
    SideDescription side;
    side.type = memory_type(graph, memory);
    const CUdeviceptr address = memory.address() + rows.offset;
    if (side.type == CU_MEMORYTYPE_HOST) {
        side.host = reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
    } else {
        side.device = address;
    }
    side.pitch = rows.pitch;
    side.rows_per_slice = rows.pitch == 0 ? 0 : rows.slice_pitch / rows.pitch;
    return side;
}

SideDescription describe_box(GraphState& graph, const NodeMemory& memory, const RegionPlace& place,
                             const RegionExtent& extent, const char* what) {
    check_fits(memory, 0, what);
    const PlacedRows rows =
        place_rows(memory.size().value_or(std::numeric_limits<std::size_t>::max()), place, extent,
                   what, "the memory");
    check_pitch(rows.pitch, what);
    return describe_side(graph, memory, rows);
}

} // namespace

PreparedKernel::PreparedKernel(const LaunchConfig& config, const Kernel& kernel,
                               std::span<const KernelArgument> arguments)
    : PreparedKernel(config, kernel) {
    packed_.emplace(*state_, arguments);
    parameters_.kernelParams = packed_->addresses();
}

void PreparedKernel::pack(const NodeArguments& arguments) {
    packed_.emplace(*state_, arguments.addresses, arguments.types);
    parameters_.kernelParams = packed_->addresses();
}

void PreparedKernel::encode_attributes() {
    EncodedConfig& encoded = encoded_.emplace(*config_);
    check_config_of_node(*config_);
    // In a graph this is a property of edges.
    is_programmatic_ = config_->programmatic_stream_serialization;
    CUlaunchAttribute* const end = encoded.attributes + encoded.driver.numAttrs;
    CUlaunchAttribute* const kept =
        std::remove_if(encoded.attributes, end, [](const CUlaunchAttribute& attribute) {
            return attribute.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
        });
    encoded.driver.numAttrs = static_cast<unsigned>(kept - encoded.attributes);
}

void PreparedKernel::prepare_device(CUcontext context) const {
    if (config_->shmem_size != 0) {
        allow_shared_memory(*state_, context_state(context)->device->handle, config_->shmem_size);
    }
    if (config_->priority.has_value()) {
        static_cast<void>(checked_priority(*context_state(context)->device, config_->priority,
                                           "LaunchConfig priority"));
    }
}

PayloadShare kernel_payload(const std::shared_ptr<void>& kernel, const NodeArguments& arguments) {
    const auto buffers = static_cast<std::size_t>(std::ranges::count_if(
        arguments.buffers, [](const Buffer* buffer) { return buffer != nullptr; }));
    const auto handles = static_cast<std::size_t>(std::ranges::count_if(
        arguments.handles, [](const HandleArgument* handle) { return handle != nullptr; }));
    const bool has_owner = arguments.owner.use_count() != 0;
    const std::size_t count = buffers + handles + (has_owner ? 1 : 0);
    PayloadShare payload = Payload::make(1 + count);
    auto place = payload->owners().begin();
    *place++ = kernel;
    for (const Buffer* const buffer : arguments.buffers) {
        if (buffer != nullptr) {
            *place++ = Access::state(*buffer);
        }
    }
    for (const HandleArgument* const handle : arguments.handles) {
        if (handle != nullptr) {
            *place++ = Access::state(*handle);
        }
    }
    if (has_owner) {
        *place = arguments.owner;
    }
    return payload;
}

std::optional<CUlaunchAttributeValue> node_attribute(CUgraphNode node, int id) {
    CUlaunchAttributeValue value{};
    const auto& get = table().cuGraphKernelNodeGetAttribute;
    // NOLINTNEXTLINE(*EnumCastOutOfRange): a driver may know attributes that our cuda.h does not
    const CUresult status = get(node, static_cast<CUkernelNodeAttrID>(id), &value);
    if (status == CUDA_ERROR_INVALID_VALUE || status == CUDA_ERROR_NOT_SUPPORTED) {
        return std::nullopt;
    }
    if (status != CUDA_SUCCESS) {
        driver::raise(status, get.name);
    }
    return value;
}

void set_node_attributes(CUgraphNode node, std::span<const CUlaunchAttribute> attributes) {
    const auto& set = table().cuGraphKernelNodeSetAttribute;
    for (const CUlaunchAttribute& attribute : attributes) {
        const CUresult status = set(node, attribute.id, &attribute.value);
        if (status != CUDA_SUCCESS) {
            driver::raise(status, set.name,
                          driver::explanation_of(status) +
                              "; the kernel node does not take launch attribute " +
                              std::to_string(static_cast<int>(attribute.id)) +
                              " of its LaunchConfig");
        }
    }
}

CUDA_MEMCPY3D copy_parameters(GraphState& graph, const NodeMemory& dst, const NodeMemory& src,
                              std::size_t bytes) {
    if (bytes == 0) {
        throw std::invalid_argument("size is 0 bytes, expected something to copy");
    }
    check_fits(dst, bytes, "the destination");
    check_fits(src, bytes, "the source");
    return description_of(describe_side(graph, dst), describe_side(graph, src), {.width = bytes});
}

CUDA_MEMCPY3D copy_parameters(GraphState& graph, const MemcpyRegionParameters& parameters) {
    const RegionExtent& extent = parameters.extent;
    if (extent.width == 0 || extent.height == 0 || extent.depth == 0) {
        throw std::invalid_argument("extent is " + std::to_string(extent.width) + " bytes, " +
                                    std::to_string(extent.height) + " rows and " +
                                    std::to_string(extent.depth) +
                                    " slices, expected something to copy");
    }
    return description_of(
        describe_box(graph, parameters.dst, parameters.dst_place, extent, "the destination"),
        describe_box(graph, parameters.src, parameters.src_place, extent, "the source"), extent);
}

const MemoryRange* deciding_buffer(const NodeMemory& dst, const NodeMemory& src) noexcept {
    const auto is_of_device = [](const NodeMemory& memory) {
        const auto* const buffer = static_cast<const BufferState*>(memory.buffer());
        return buffer != nullptr && buffer->resource != nullptr &&
               buffer->resource->device_id() >= 0;
    };
    return is_of_device(dst) ? dst.buffer() : is_of_device(src) ? src.buffer() : nullptr;
}

CUDA_MEMSET_NODE_PARAMS fill_parameters(const MemsetParameters& parameters) {
    const auto bytes = std::size_t{parameters.element_size};
    if (bytes != 1 && bytes != 2 && bytes != 4) {
        throw std::invalid_argument("element_size is " + std::to_string(bytes) +
                                    " bytes, expected 1, 2 or 4");
    }
    if (bytes < 4 && parameters.value >> 8 * bytes != 0) {
        throw std::invalid_argument("value is " + std::to_string(parameters.value) +
                                    ", which does not fit into " + std::to_string(bytes) +
                                    (bytes == 1 ? " byte" : " bytes"));
    }
    if (parameters.width == 0 || parameters.height == 0) {
        throw std::invalid_argument("width is " + std::to_string(parameters.width) +
                                    " elements and height " + std::to_string(parameters.height) +
                                    " rows, expected at least 1");
    }
    const CUdeviceptr address = parameters.dst.address();
    if (address % bytes != 0) {
        throw std::invalid_argument("dst is " + hexadecimal(address) +
                                    ", expected a multiple of the value's " +
                                    std::to_string(bytes) + " bytes");
    }
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
    if (parameters.width > most / bytes) {
        throw std::invalid_argument("width is " + std::to_string(parameters.width) +
                                    " elements, beyond any memory");
    }
    const std::size_t row = parameters.width * bytes;
    std::size_t pitch = parameters.pitch;
    if (parameters.height > 1) {
        pitch = pitch == 0 ? row : pitch;
        if (pitch < row || pitch % bytes != 0) {
            throw std::invalid_argument("pitch is " + std::to_string(pitch) +
                                        " bytes, expected a multiple of the value's " +
                                        std::to_string(bytes) + " bytes and at least the row of " +
                                        std::to_string(row));
        }
        if (parameters.height - 1 > (most - row) / pitch) {
            throw std::invalid_argument("height is " + std::to_string(parameters.height) +
                                        " rows of " + std::to_string(pitch) +
                                        " bytes, beyond any memory");
        }
        check_fits(parameters.dst, (parameters.height - 1) * pitch + row, "the fill");
    } else {
        check_fits(parameters.dst, row, "the fill");
    }
    CUDA_MEMSET_NODE_PARAMS made{};
    made.dst = address;
    made.pitch = pitch;
    made.value = parameters.value;
    made.elementSize = parameters.element_size;
    made.width = parameters.width;
    made.height = parameters.height;
    return made;
}

CUcontext context_of(NodeState& node) {
    // NOTE: several threads may ask, each for its own executable.
    CUcontext known = node.context.load(std::memory_order_relaxed);
    if (known != nullptr) {
        return known;
    }
    if (node.type == GraphNodeType::Kernel) {
        CUDA_KERNEL_NODE_PARAMS parameters{};
        driver::call(table().cuGraphKernelNodeGetParams, node.handle, &parameters);
        known = parameters.ctx;
    } else if (node.type == GraphNodeType::Memcpy || node.type == GraphNodeType::Memset) {
        CUgraphNodeParams parameters{}; // only drivers from CUDA 13.2 on report them
        if (table().cuGraphNodeGetParams(node.handle, &parameters) == CUDA_SUCCESS) {
            known = node.type == GraphNodeType::Memcpy ? parameters.memcpy.copyCtx
                                                       : parameters.memset.ctx;
        }
    }
    node.context.store(known, std::memory_order_relaxed);
    return known;
}

void raise_for_node(CUresult status, const char* call, const NodeState& node) {
    driver::raise(status, call, driver::explanation_of(status) + "; it is about " + describe(node));
}

} // namespace cuprum::detail
