// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Memory that is mapped into sparse and deferred arrays.

#include "answers.hpp"

#include <cstdint>
#include <vector>

namespace answers {

namespace {

CUmemGenericAllocationHandle make_memory(const char* name, std::size_t bytes, bool is_tile_pool) {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    properties.allocFlags.usage = is_tile_pool ? CU_MEM_CREATE_USAGE_TILE_POOL : 0;
    std::size_t granularity = 0;
    CUresult code =
        cuMemGetAllocationGranularity(&granularity, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    say(std::string(name) + " granularity", code, std::to_string(granularity));
    CUmemGenericAllocationHandle memory = 0;
    say(name, cuMemCreate(&memory, bytes, &properties, 0));
    return memory;
}

CUarrayMapInfo mapping(CUarray array, CUmemGenericAllocationHandle memory) {
    CUarrayMapInfo info{};
    info.resourceType = CU_RESOURCE_TYPE_ARRAY;
    info.resource.array = array;
    info.subresourceType = CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_SPARSE_LEVEL;
    info.memOperationType = CU_MEM_OPERATION_TYPE_MAP;
    info.memHandleType = CU_MEM_HANDLE_TYPE_GENERIC;
    info.memHandle.memHandle = memory;
    info.deviceBitMask = 1;
    return info;
}

void ask_sparse() {
    begin();
    CUstream stream = nullptr;
    cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    CUarray array = nullptr;
    auto descriptor = shape(1024, 1024, 0, CUDA_ARRAY3D_SPARSE);
    if (say("sparse array", cuArray3DCreate(&array, &descriptor)) != CUDA_SUCCESS) {
        return;
    }
    CUDA_ARRAY_SPARSE_PROPERTIES properties{};
    cuArrayGetSparseProperties(&properties, array);
    const auto pool = make_memory("tile pool", 4 << 20, true);
    const auto plain = make_memory("plain memory", 4 << 20, false);
    const unsigned width = properties.tileExtent.width;
    const unsigned height = properties.tileExtent.height;
    auto info = mapping(array, pool);
    info.subresource.sparseLevel.extentWidth = width;
    info.subresource.sparseLevel.extentHeight = height;
    info.subresource.sparseLevel.extentDepth = 1;
    say("map a tile", cuMemMapArrayAsync(&info, 1, stream));
    const auto with = [&](const char* name, auto change) {
        CUarrayMapInfo changed = info;
        change(changed);
        say(std::string("map ") + name, cuMemMapArrayAsync(&changed, 1, stream));
    };
    with("again", [](auto&) {});
    with("plain memory", [&](auto& each) { each.memHandle.memHandle = plain; });
    with("half a tile", [&](auto& each) { each.subresource.sparseLevel.extentWidth = width / 2; });
    with("at half a tile", [&](auto& each) { each.subresource.sparseLevel.offsetX = width / 2; });
    with("outside", [&](auto& each) { each.subresource.sparseLevel.offsetX = 1024; });
    with("level 1", [&](auto& each) { each.subresource.sparseLevel.level = 1; });
    with("layer 1", [&](auto& each) { each.subresource.sparseLevel.layer = 1; });
    with("depth 0", [&](auto& each) { each.subresource.sparseLevel.extentDepth = 0; });
    with("device mask 0", [](auto& each) { each.deviceBitMask = 0; });
    with("device mask 2", [](auto& each) { each.deviceBitMask = 2; });
    with("device mask 3", [](auto& each) { each.deviceBitMask = 3; });
    with("flags", [](auto& each) { each.flags = 1; });
    with("offset 1", [](auto& each) { each.offset = 1; });
    with("offset of a tile", [](auto& each) { each.offset = 65536; });
    with("offset at the end", [](auto& each) { each.offset = 4 << 20; });
    with("miptail",
         [](auto& each) { each.subresourceType = CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL; });
    with("operation 0",
         [](auto& each) { each.memOperationType = static_cast<CUmemOperationType>(0); });
    with("unmap with memory",
         [](auto& each) { each.memOperationType = CU_MEM_OPERATION_TYPE_UNMAP; });
    with("unmap", [](auto& each) {
        each.memOperationType = CU_MEM_OPERATION_TYPE_UNMAP;
        each.memHandle.memHandle = 0;
    });
    with("resource type 2", [](auto& each) { each.resourceType = CU_RESOURCE_TYPE_LINEAR; });
    say("map none", cuMemMapArrayAsync(&info, 0, stream));
    say("map NULL", cuMemMapArrayAsync(nullptr, 1, stream));
    say("map", cuMemMapArrayAsync(&info, 1, stream));
    say("sync", cuStreamSynchronize(stream));
    std::vector<float> values(width, 3.0F);
    say("copy into a mapped tile", cuMemcpyHtoA(array, 0, values.data(), 16));
    float back[4]{};
    const CUresult code = cuMemcpyAtoH(back, array, 0, 16);
    say("copy out of a mapped tile", code, std::to_string(back[1]));
    say("copy into unmapped tiles", cuMemcpyHtoA(array, std::size_t{width} * 4, values.data(), 16));
    back[1] = 5;
    const CUresult last = cuMemcpyAtoH(back, array, std::size_t{width} * 4, 16);
    say("copy out of unmapped tiles", last, std::to_string(back[1]));
    CUarray dense = make(shape(1024, 1024, 0));
    with("of a plain array", [&](auto& each) { each.resource.array = dense; });
}

void ask_deferred() {
    begin();
    CUstream stream = nullptr;
    cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    CUarray array = make(shape(64, 64, 0, CUDA_ARRAY3D_DEFERRED_MAPPING));
    CUDA_ARRAY_MEMORY_REQUIREMENTS needs{};
    CUresult code = cuArrayGetMemoryRequirements(&needs, array, 0);
    say("requirements", code, list(needs.size, needs.alignment));
    float values[4]{1, 2, 3, 4};
    const auto pool = make_memory("tile pool", 4 << 20, true);
    auto info = mapping(array, pool);
    say("map", cuMemMapArrayAsync(&info, 1, stream));
    say("sync", cuStreamSynchronize(stream));
    say("copy in", cuMemcpyHtoA(array, 0, values, 16));
    float back[4]{};
    code = cuMemcpyAtoH(back, array, 0, 16);
    say("copy out", code, std::to_string(back[3]));
    say("map again", cuMemMapArrayAsync(&info, 1, stream));
    const auto plain = make_memory("plain memory", 4 << 20, false);
    auto other = mapping(make(shape(64, 64, 0, CUDA_ARRAY3D_DEFERRED_MAPPING)), plain);
    say("map plain memory", cuMemMapArrayAsync(&other, 1, stream));
    say("sync", cuStreamSynchronize(stream));
    info.memOperationType = CU_MEM_OPERATION_TYPE_UNMAP;
    info.memHandle.memHandle = 0;
    say("unmap", cuMemMapArrayAsync(&info, 1, stream));
    say("sync", cuStreamSynchronize(stream));
    say("destroy", cuArrayDestroy(array));
    info = mapping(make(shape(64, 64, 0)), plain);
    say("map a plain array", cuMemMapArrayAsync(&info, 1, stream));
    info = mapping(make(shape(64, 64, 0, CUDA_ARRAY3D_DEFERRED_MAPPING)), plain);
    info.offset = 1;
    say("map at 1", cuMemMapArrayAsync(&info, 1, stream));
    info.offset = 65536;
    say("map at 65536", cuMemMapArrayAsync(&info, 1, stream));
    info.offset = 4 << 20;
    say("map at the end", cuMemMapArrayAsync(&info, 1, stream));
    info.offset = 0;
    info.deviceBitMask = 2;
    say("map for device 1", cuMemMapArrayAsync(&info, 1, stream));
    info.deviceBitMask = 1;
    info.subresourceType = static_cast<CUarraySparseSubresourceType>(9);
    say("map, subresource 9", cuMemMapArrayAsync(&info, 1, stream));
    say("sync", cuStreamSynchronize(stream));
}

/// Two arrays that are mapped to the same memory show the same texels.
void ask_shared_memory() {
    begin();
    CUstream stream = nullptr;
    cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    for (const bool is_pool : {false, true}) {
        const auto memory = make_memory(is_pool ? "tile pool" : "plain memory", 4 << 20, is_pool);
        CUarray first = make(shape(64, 0, 0, CUDA_ARRAY3D_DEFERRED_MAPPING));
        CUarray second = make(shape(64, 0, 0, CUDA_ARRAY3D_DEFERRED_MAPPING));
        for (CUarray array : {first, second}) {
            auto info = mapping(array, memory);
            say("map", cuMemMapArrayAsync(&info, 1, stream));
        }
        say("sync", cuStreamSynchronize(stream));
        float values[4]{1, 2, 3, 4};
        float back[4]{};
        say("copy into the first", cuMemcpyHtoA(first, 0, values, 16));
        const CUresult code = cuMemcpyAtoH(back, second, 0, 16);
        say("copy out of the second", code, std::to_string(back[2]));
    }
}

void ask_unmapped() {
    begin();
    CUarray array = make(shape(64, 64, 0, CUDA_ARRAY3D_DEFERRED_MAPPING));
    float values[4]{1, 2, 3, 4};
    say("copy before it is mapped", cuMemcpyHtoA(array, 0, values, 16));
    say("sync", cuCtxSynchronize());
}

void ask_sparse_mipmap() {
    begin();
    CUstream stream = nullptr;
    cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    CUmipmappedArray whole = nullptr;
    auto descriptor = shape(1024, 1024, 0, CUDA_ARRAY3D_SPARSE);
    if (say("sparse mipmap", cuMipmappedArrayCreate(&whole, &descriptor, 11)) != CUDA_SUCCESS) {
        return;
    }
    CUDA_ARRAY_SPARSE_PROPERTIES properties{};
    const CUresult code = cuMipmappedArrayGetSparseProperties(&properties, whole);
    say("properties", code,
        list(properties.tileExtent.width, properties.tileExtent.height, properties.tileExtent.depth,
             properties.miptailFirstLevel, properties.miptailSize, properties.flags));
    const auto pool = make_memory("tile pool", 16 << 20, true);
    CUarrayMapInfo info{};
    info.resourceType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    info.resource.mipmap = whole;
    info.memOperationType = CU_MEM_OPERATION_TYPE_MAP;
    info.memHandleType = CU_MEM_HANDLE_TYPE_GENERIC;
    info.memHandle.memHandle = pool;
    info.deviceBitMask = 1;
    info.subresourceType = CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL;
    info.subresource.miptail.size = properties.miptailSize;
    say("map the tail", cuMemMapArrayAsync(&info, 1, stream));
    info.subresource.miptail.size = 1;
    say("map a byte of the tail", cuMemMapArrayAsync(&info, 1, stream));
    info.subresourceType = CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_SPARSE_LEVEL;
    info.subresource.sparseLevel = {};
    info.subresource.sparseLevel.level = 1;
    info.subresource.sparseLevel.extentWidth = properties.tileExtent.width;
    info.subresource.sparseLevel.extentHeight = properties.tileExtent.height;
    info.subresource.sparseLevel.extentDepth = 1;
    say("map a tile of level 1", cuMemMapArrayAsync(&info, 1, stream));
    info.subresource.sparseLevel.level = properties.miptailFirstLevel;
    say("map a tile of the tail", cuMemMapArrayAsync(&info, 1, stream));
    info.subresource.sparseLevel.level = 99;
    say("map a tile of level 99", cuMemMapArrayAsync(&info, 1, stream));
    say("sync", cuStreamSynchronize(stream));
}

} // namespace

const std::initializer_list<Group> MAPPINGS{
    {"sparse arrays", ask_sparse},
    {"deferred arrays", ask_deferred},
    {"shared memory of deferred arrays", ask_shared_memory},
    {"deferred arrays that are not mapped", ask_unmapped},
    {"sparse mipmaps", ask_sparse_mipmap},
};

} // namespace answers
