// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "driver/call.hpp"
#include "driver/current.hpp"
#include "graph/graph_state.hpp"
#include "graph/node_parameters.hpp"

#include <cuprum/error.hpp>
#include <cuprum/graph/graph_node.hpp>

#include <stdexcept>
#include <string>
#include <utility>

namespace cuprum {

namespace {

using detail::Access;
using detail::GraphState;
using detail::NodeState;
using detail::Payload;
using driver::table;

CUDA_MEMCPY3D read_copy(const NodeState& node) {
    CUDA_MEMCPY3D copy{};
    driver::call(table().cuGraphMemcpyNodeGetParams, node.handle, &copy);
    return copy;
}

CUDA_MEMSET_NODE_PARAMS read_fill(const NodeState& node) {
    CUDA_MEMSET_NODE_PARAMS fill{};
    driver::call(table().cuGraphMemsetNodeGetParams, node.handle, &fill);
    return fill;
}

CUDA_MEM_ALLOC_NODE_PARAMS read_allocation(const NodeState& node) {
    CUDA_MEM_ALLOC_NODE_PARAMS allocation{};
    driver::call(table().cuGraphMemAllocNodeGetParams, node.handle, &allocation);
    return allocation;
}

/// Returns the address of one side of a copy, with its offsets.
CUdeviceptr side_address(CUmemorytype type, const void* host, CUdeviceptr device, std::size_t x,
                         std::size_t y, std::size_t z, std::size_t pitch, std::size_t rows) {
    const CUdeviceptr base = type == CU_MEMORYTYPE_HOST
                                 ? static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(host))
                                 : device;
    return base + x + y * pitch + z * rows * pitch;
}

bool is_linear(const CUDA_MEMCPY3D& copy) {
    return copy.Height <= 1 && copy.Depth <= 1 && copy.srcMemoryType != CU_MEMORYTYPE_ARRAY &&
           copy.dstMemoryType != CU_MEMORYTYPE_ARRAY;
}

CUdeviceptr destination_of(const CUDA_MEMCPY3D& copy) {
    return side_address(copy.dstMemoryType, copy.dstHost, copy.dstDevice, copy.dstXInBytes,
                        copy.dstY, copy.dstZ, copy.dstPitch, copy.dstHeight);
}

CUdeviceptr source_of(const CUDA_MEMCPY3D& copy) {
    return side_address(copy.srcMemoryType, copy.srcHost, copy.srcDevice, copy.srcXInBytes,
                        copy.srcY, copy.srcZ, copy.srcPitch, copy.srcHeight);
}

/// Returns a node's owner of memory, to keep it, as memory without a size.
NodeMemory kept_memory(const NodeState& node, std::size_t index, CUdeviceptr address) {
    return {address, node.payload == nullptr ? nullptr : node.payload->owners()[index]};
}

/// Replaces the parameters of a copy. The node's context must be current.
void set_copy(const GraphNode& node, const CUDA_MEMCPY3D& copy, const NodeMemory& dst,
              const NodeMemory& src) {
    detail::replace_parameters(node, MemcpyNode::CLASS_NAME, Payload::of(dst.owner(), src.owner()),
                               table().cuGraphMemcpyNodeSetParams, &copy);
}

/// Returns the context to update a node in.
CUcontext context_to_update(NodeState& node, GraphState& graph) {
    const CUcontext own = detail::context_of(node);
    return own != nullptr ? own : detail::context_for_node(graph);
}

} // namespace

CUdeviceptr MemcpyNode::dst() const {
    return destination_of(read_copy(detail::open(*this, CLASS_NAME)));
}

CUdeviceptr MemcpyNode::src() const {
    return source_of(read_copy(detail::open(*this, CLASS_NAME)));
}

RegionExtent MemcpyNode::extent() const {
    const CUDA_MEMCPY3D copy = read_copy(detail::open(*this, CLASS_NAME));
    return {.width = copy.WidthInBytes, .height = copy.Height, .depth = copy.Depth};
}

bool MemcpyNode::is_dst_on_host() const {
    return read_copy(detail::open(*this, CLASS_NAME)).dstMemoryType == CU_MEMORYTYPE_HOST;
}

bool MemcpyNode::is_src_on_host() const {
    return read_copy(detail::open(*this, CLASS_NAME)).srcMemoryType == CU_MEMORYTYPE_HOST;
}

bool MemcpyNode::is_one_dimensional() const {
    return is_linear(read_copy(detail::open(*this, CLASS_NAME)));
}

void MemcpyNode::update(const MemcpyUpdate& change) const {
    NodeState& state = detail::open(*this, CLASS_NAME);
    GraphState& graph = detail::open(state_);
    const CUDA_MEMCPY3D old = read_copy(state);
    if (!is_linear(old)) {
        throw std::invalid_argument(
            detail::describe(state) + " copies " + std::to_string(old.Height) + " rows and " +
            std::to_string(old.Depth) + " slices, or an array; pass MemcpyRegionParameters");
    }
    const NodeMemory dst = change.dst.value_or(kept_memory(state, 0, destination_of(old)));
    const NodeMemory src = change.src.value_or(kept_memory(state, 1, source_of(old)));
    const driver::Current current(context_to_update(state, graph));
    set_copy(*this,
             detail::copy_parameters(graph, dst, src, change.size.value_or(old.WidthInBytes)), dst,
             src);
}

void MemcpyNode::update(const MemcpyRegionParameters& parameters) const {
    NodeState& state = detail::open(*this, CLASS_NAME);
    GraphState& graph = detail::open(state_);
    const driver::Current current(context_to_update(state, graph));
    set_copy(*this, detail::copy_parameters(graph, parameters), parameters.dst, parameters.src);
}

CUdeviceptr MemsetNode::dptr() const {
    return read_fill(detail::open(*this, CLASS_NAME)).dst;
}

std::uint32_t MemsetNode::value() const {
    return read_fill(detail::open(*this, CLASS_NAME)).value;
}

unsigned MemsetNode::element_size() const {
    return read_fill(detail::open(*this, CLASS_NAME)).elementSize;
}

std::size_t MemsetNode::width() const {
    return read_fill(detail::open(*this, CLASS_NAME)).width;
}

std::size_t MemsetNode::height() const {
    return read_fill(detail::open(*this, CLASS_NAME)).height;
}

std::size_t MemsetNode::pitch() const {
    return read_fill(detail::open(*this, CLASS_NAME)).pitch;
}

void MemsetNode::update(const MemsetUpdate& change) const {
    NodeState& state = detail::open(*this, CLASS_NAME);
    GraphState& graph = detail::open(state_);
    const CUDA_MEMSET_NODE_PARAMS old = read_fill(state);
    const MemsetParameters wanted{
        .dst = change.dst.value_or(kept_memory(state, 0, old.dst)),
        .value = change.value.value_or(old.value),
        .element_size = change.element_size.value_or(old.elementSize),
        .width = change.width.value_or(old.width),
        .height = change.height.value_or(old.height),
        .pitch = change.pitch.value_or(old.pitch),
    };
    const CUDA_MEMSET_NODE_PARAMS fill = detail::fill_parameters(wanted);
    const driver::Current current(context_to_update(state, graph));
    detail::replace_parameters(*this, CLASS_NAME, Payload::of(wanted.dst.owner()),
                               table().cuGraphMemsetNodeSetParams, &fill);
}

CUdeviceptr AllocNode::dptr() const {
    return read_allocation(detail::open(*this, CLASS_NAME)).dptr;
}

std::size_t AllocNode::bytesize() const {
    return read_allocation(detail::open(*this, CLASS_NAME)).bytesize;
}

int AllocNode::device_id() const {
    return read_allocation(detail::open(*this, CLASS_NAME)).poolProps.location.id;
}

GraphMemoryType AllocNode::memory_type() const {
    const auto allocation = read_allocation(detail::open(*this, CLASS_NAME));
    if (allocation.poolProps.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED) {
        return GraphMemoryType::Managed;
    }
    return allocation.poolProps.location.type == CU_MEM_LOCATION_TYPE_DEVICE
               ? GraphMemoryType::Device
               : GraphMemoryType::Host;
}

std::vector<int> AllocNode::peer_access() const {
    const auto allocation = read_allocation(detail::open(*this, CLASS_NAME));
    std::vector<int> peers;
    for (std::size_t i = 0; i < allocation.accessDescCount; ++i) {
        peers.push_back(allocation.accessDescs[i].location.id);
    }
    return peers;
}

CUdeviceptr FreeNode::dptr() const {
    CUdeviceptr pointer = 0;
    driver::call(table().cuGraphMemFreeNodeGetParams, detail::open(*this, CLASS_NAME).handle,
                 &pointer);
    return pointer;
}

} // namespace cuprum
