// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The arrays, textures and surfaces of the fake driver, and copies with arrays.

#include "support/fake_functions.hpp"

#include <algorithm>
#include <string>

namespace cuprum::testing {

namespace {

constexpr std::size_t MOST_ELEMENTS = std::size_t{1} << 20U; // along an edge

FakeDriver& fake() {
    return *active_fake();
}

template <typename Map, typename Handle>
CUresult destroy(Map& map, Handle handle) {
    const auto place = map.find(handle);
    if (place == map.end()) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (place->second.context != FakeDriver::current()) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    map.erase(place);
    return CUDA_SUCCESS;
}

bool is_too_large(const CUDA_ARRAY3D_DESCRIPTOR& array) {
    return std::max({array.Width, array.Height, array.Depth}) > MOST_ELEMENTS;
}

/// Destroys what lies in a mipmapped array or belongs to a planar one.
void destroy_parts(void* whole) {
    std::erase_if(fake().arrays, [&](const auto& item) { return item.second.whole == whole; });
}

CUarray make_part(void* whole, const CUDA_ARRAY3D_DESCRIPTOR& description) {
    const auto made = fake().next_handle<CUarray>();
    fake().arrays[made] = {FakeDriver::current(), description, whole};
    return made;
}

std::string side_text(CUmemorytype type, CUarray array, std::size_t pitch, std::size_t rows,
                      const std::string& place) {
    if (type == CU_MEMORYTYPE_ARRAY) {
        return fake().arrays.count(array) != 0 ? "array at " + place : "no array";
    }
    return (type == CU_MEMORYTYPE_HOST ? "host" : "buffer") + (" pitch " + std::to_string(pitch)) +
           " rows " + std::to_string(rows);
}

std::string place_text(std::size_t x, std::size_t y, std::size_t z) {
    return std::to_string(x) + "," + std::to_string(y) + "," + std::to_string(z);
}

} // namespace

void add_arrays(driver::Table& table) {
    table.cuArray3DCreate = [](CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* description) {
        if (FakeDriver::current() == nullptr) {
            return CUDA_ERROR_INVALID_CONTEXT;
        }
        if (is_too_large(*description)) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        *array = make_part(nullptr, *description);
        return CUDA_SUCCESS;
    };
    table.cuArray3DGetDescriptor = [](CUDA_ARRAY3D_DESCRIPTOR* description, CUarray array) {
        const auto place = fake().arrays.find(array);
        if (place == fake().arrays.end()) {
            return CUDA_ERROR_INVALID_HANDLE;
        }
        *description = place->second.description;
        return CUDA_SUCCESS;
    };
    table.cuArrayDestroy = [](CUarray array) {
        const CUresult status = destroy(fake().arrays, array);
        destroy_parts(array);
        return status;
    };
    table.cuArrayGetPlane = [](CUarray* plane, CUarray array, unsigned) {
        CUDA_ARRAY3D_DESCRIPTOR description = fake().arrays.at(array).description;
        description.Format = CU_AD_FORMAT_UNSIGNED_INT8;
        description.NumChannels = 1;
        *plane = make_part(array, description);
        return CUDA_SUCCESS;
    };
    table.cuArrayGetMemoryRequirements = [](CUDA_ARRAY_MEMORY_REQUIREMENTS* needed, CUarray,
                                            CUdevice) {
        *needed = {.size = 65536, .alignment = 512, .reserved = {}};
        return CUDA_SUCCESS;
    };
    table.cuMipmappedArrayGetMemoryRequirements = [](CUDA_ARRAY_MEMORY_REQUIREMENTS* needed,
                                                     CUmipmappedArray, CUdevice) {
        *needed = {.size = 131072, .alignment = 1024, .reserved = {}};
        return CUDA_SUCCESS;
    };
    table.cuArrayGetSparseProperties = [](CUDA_ARRAY_SPARSE_PROPERTIES* found, CUarray) {
        *found = {};
        found->tileExtent = {128, 64, 1};
        return CUDA_SUCCESS;
    };
    table.cuMipmappedArrayGetSparseProperties = [](CUDA_ARRAY_SPARSE_PROPERTIES* found,
                                                   CUmipmappedArray) {
        *found = {};
        found->tileExtent = {128, 64, 1};
        found->miptailFirstLevel = 3;
        found->miptailSize = 65536;
        found->flags = CU_ARRAY_SPARSE_PROPERTIES_SINGLE_MIPTAIL;
        return CUDA_SUCCESS;
    };
    table.cuMipmappedArrayCreate = [](CUmipmappedArray* array,
                                      const CUDA_ARRAY3D_DESCRIPTOR* description, unsigned levels) {
        if (is_too_large(*description)) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        *array = fake().next_handle<CUmipmappedArray>();
        fake().mipmaps[*array] = {FakeDriver::current(), *description, levels};
        return CUDA_SUCCESS;
    };
    table.cuMipmappedArrayDestroy = [](CUmipmappedArray array) {
        destroy_parts(array);
        return destroy(fake().mipmaps, array);
    };
    table.cuMipmappedArrayGetLevel = [](CUarray* level, CUmipmappedArray array, unsigned index) {
        const auto place = fake().mipmaps.find(array);
        if (place == fake().mipmaps.end()) {
            return CUDA_ERROR_INVALID_HANDLE;
        }
        CUDA_ARRAY3D_DESCRIPTOR description = place->second.description;
        const auto shrink = [&](std::size_t size) {
            return size == 0 ? size : std::max<std::size_t>(size >> index, 1);
        };
        description.Width = shrink(description.Width);
        description.Height = shrink(description.Height);
        *level = make_part(array, description);
        return CUDA_SUCCESS;
    };
    table.cuTexObjectCreate = [](CUtexObject* texture, const CUDA_RESOURCE_DESC* resource,
                                 const CUDA_TEXTURE_DESC* sampling,
                                 const CUDA_RESOURCE_VIEW_DESC* view) {
        const bool is_buffer = resource->resType == CU_RESOURCE_TYPE_LINEAR ||
                               resource->resType == CU_RESOURCE_TYPE_PITCH2D;
        if (is_buffer && resource->res.linear.devPtr % 256 != 0) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        *texture = reinterpret_cast<std::uintptr_t>(fake().next_handle<void*>());
        fake().textures[*texture] = {FakeDriver::current()};
        fake().last_texture = {*resource, *sampling,
                               view != nullptr ? *view : CUDA_RESOURCE_VIEW_DESC{},
                               view != nullptr};
        return CUDA_SUCCESS;
    };
    table.cuTexObjectDestroy = [](CUtexObject texture) {
        return destroy(fake().textures, texture);
    };
    table.cuSurfObjectCreate = [](CUsurfObject* surface, const CUDA_RESOURCE_DESC*) {
        *surface = reinterpret_cast<std::uintptr_t>(fake().next_handle<void*>());
        fake().surfaces[*surface] = {FakeDriver::current()};
        return CUDA_SUCCESS;
    };
    table.cuSurfObjectDestroy = [](CUsurfObject surface) {
        return destroy(fake().surfaces, surface);
    };
    table.cuMemcpy3DAsync = [](const CUDA_MEMCPY3D* copy, CUstream stream) {
        if (copy->srcMemoryType == CU_MEMORYTYPE_ARRAY ||
            copy->dstMemoryType == CU_MEMORYTYPE_ARRAY) {
            fake().notes.push_back(
                "copy of " + std::to_string(copy->WidthInBytes) + " x " +
                std::to_string(copy->Height) + " x " + std::to_string(copy->Depth) + " from " +
                side_text(copy->srcMemoryType, copy->srcArray, copy->srcPitch, copy->srcHeight,
                          place_text(copy->srcXInBytes, copy->srcY, copy->srcZ)) +
                " to " +
                side_text(copy->dstMemoryType, copy->dstArray, copy->dstPitch, copy->dstHeight,
                          place_text(copy->dstXInBytes, copy->dstY, copy->dstZ)));
        }
        return check_stream(stream);
    };
}

} // namespace cuprum::testing
