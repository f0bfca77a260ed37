// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Memory of cuMemCreate in arrays that were created with CUDA_ARRAY3D_DEFERRED_MAPPING.

#include "api/entry.hpp"
#include "api/handles.hpp"
#include "objects/devices/device.hpp"
#include "objects/graphs/capture.hpp"
#include "objects/memory/virtual_memory.hpp"
#include "objects/process/error.hpp"
#include "objects/textures/array.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace cuprum::emulator;

namespace {

/// One operation that has been checked.
struct ArrayMapping {
    std::shared_ptr<ArrayMemory> array;
    std::shared_ptr<PhysicalMemory> memory; // nullptr: unmap
    std::uint64_t offset = 0;
};

std::shared_ptr<ArrayMemory> memory_of(const CUarrayMapInfo& info) {
    std::shared_ptr<ArrayMemory> memory;
    switch (info.resourceType) {
    case CU_RESOURCE_TYPE_ARRAY: {
        require(is_live(info.resource.array), "not an array, or it has been destroyed");
        const auto array = object_of(info.resource.array);
        require(array->role() == Array::Role::Whole,
                "memory is mapped into whole mipmaps, not into a level");
        memory = array->memory();
        break;
    }
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        require(is_live(info.resource.mipmap), "not a mipmapped array, or it has been destroyed");
        memory = object_of(info.resource.mipmap)->memory();
        break;
    default:
        fail(CUDA_ERROR_INVALID_VALUE, "resourceType must be that of an array or a mipmap");
    }
    require(memory->is_deferred(), "the array was not created with CUDA_ARRAY3D_DEFERRED_MAPPING");
    return memory;
}

ArrayMapping checked_mapping(const CUarrayMapInfo& info, int device) {
    require(info.flags == 0, "the flags must be 0");
    require_zero(info.reserved);
    require(std::has_single_bit(info.deviceBitMask) &&
                std::countr_zero(info.deviceBitMask) == device,
            "deviceBitMask must have the bit of the stream's device, and no other");
    ArrayMapping mapping{memory_of(info), nullptr, info.offset};
    if (info.memOperationType == CU_MEM_OPERATION_TYPE_UNMAP) {
        require(info.memHandle.memHandle == 0, "memHandle must be 0 to unmap");
        return mapping;
    }
    require(info.memOperationType == CU_MEM_OPERATION_TYPE_MAP, "unknown type of operation");
    require(info.memHandleType == CU_MEM_HANDLE_TYPE_GENERIC,
            "memHandleType must be CU_MEM_HANDLE_TYPE_GENERIC");
    mapping.memory = std::static_pointer_cast<PhysicalMemory>(
        HandleTable::instance().find(HandleKind::Physical, info.memHandle.memHandle));
    require(mapping.memory != nullptr && mapping.memory->shares.load() != 0,
            "not memory of cuMemCreate, or it has been released");
    require(mapping.memory->device() == device, "the memory belongs to another device");
    const std::uint64_t bytes = mapping.array->mapped_bytes();
    if (info.offset % MAPPING_ALIGNMENT_BYTES != 0 || info.offset > mapping.memory->bytes() ||
        bytes > mapping.memory->bytes() - info.offset) {
        fail(CUDA_ERROR_INVALID_VALUE,
             "the array needs " + std::to_string(bytes) + " bytes at a multiple of " +
                 std::to_string(MAPPING_ALIGNMENT_BYTES) + ", but the memory has " +
                 std::to_string(mapping.memory->bytes()) + " and offset is " +
                 std::to_string(info.offset));
    }
    return mapping;
}

} // namespace

ROW_PTSZ(cuMemMapArrayAsync, 11010, CUarrayMapInfo* mapInfoList, unsigned int count,
         Stream& stream) {
    Capture::refuse_in(stream.context(), nullptr);
    require(mapInfoList != nullptr || count == 0, "mapInfoList must not be NULL");
    std::vector<ArrayMapping> mappings;
    for (unsigned index = 0; index < count; ++index) {
        mappings.push_back(
            checked_mapping(mapInfoList[index], stream.context().device().ordinal()));
    }
    // Later calls check their arrays at once, so the mapping cannot wait for its turn in the
    // stream. Everything before it is done instead.
    stream.context().drain();
    for (ArrayMapping& mapping : mappings) {
        mapping.array->map(std::move(mapping.memory), mapping.offset);
    }
}
