// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Texture and surface objects: which descriptors are accepted, and what is read back.

#include "answers.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace answers {

namespace {

CUDA_RESOURCE_DESC of_array(CUarray array) {
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
    return resource;
}

CUDA_RESOURCE_DESC of_mipmap(CUmipmappedArray array) {
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    resource.res.mipmap.hMipmappedArray = array;
    return resource;
}

CUDA_RESOURCE_DESC of_memory(CUdeviceptr memory, std::size_t bytes,
                             CUarray_format format = CU_AD_FORMAT_FLOAT, unsigned channels = 1) {
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_LINEAR;
    resource.res.linear.devPtr = memory;
    resource.res.linear.format = format;
    resource.res.linear.numChannels = channels;
    resource.res.linear.sizeInBytes = bytes;
    return resource;
}

CUDA_RESOURCE_DESC of_pitched(CUdeviceptr memory, std::size_t width, std::size_t height,
                              std::size_t pitch, CUarray_format format = CU_AD_FORMAT_FLOAT,
                              unsigned channels = 1) {
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_PITCH2D;
    resource.res.pitch2D.devPtr = memory;
    resource.res.pitch2D.format = format;
    resource.res.pitch2D.numChannels = channels;
    resource.res.pitch2D.width = width;
    resource.res.pitch2D.height = height;
    resource.res.pitch2D.pitchInBytes = pitch;
    return resource;
}

CUtexObject create(const std::string& name, const CUDA_RESOURCE_DESC& resource,
                   const CUDA_TEXTURE_DESC& texture = {},
                   const CUDA_RESOURCE_VIEW_DESC* view = nullptr) {
    CUtexObject object = 0;
    return say(name, cuTexObjectCreate(&object, &resource, &texture, view)) == CUDA_SUCCESS ? object
                                                                                            : 0;
}

void read_back(const std::string& name, CUtexObject object) {
    CUDA_TEXTURE_DESC found;
    std::memset(&found, 0x55, sizeof found);
    const CUresult code = cuTexObjectGetTextureDesc(&found, object);
    const auto thousandth = [](float value) { return static_cast<long>(value * 1000); };
    say(name + " texture", code,
        list(static_cast<int>(found.addressMode[0]), static_cast<int>(found.addressMode[1]),
             static_cast<int>(found.addressMode[2]), static_cast<int>(found.filterMode),
             found.flags, found.maxAnisotropy, static_cast<int>(found.mipmapFilterMode),
             thousandth(found.mipmapLevelBias), thousandth(found.minMipmapLevelClamp),
             thousandth(found.maxMipmapLevelClamp), thousandth(found.borderColor[0]),
             thousandth(found.borderColor[3]), found.reserved[0]));
    CUDA_RESOURCE_DESC resource;
    std::memset(&resource, 0x55, sizeof resource);
    say(name + " resource", cuTexObjectGetResourceDesc(&resource, object),
        [&] { return list(static_cast<int>(resource.resType), resource.flags); });
    CUDA_RESOURCE_VIEW_DESC view;
    std::memset(&view, 0x55, sizeof view);
    const CUresult view_code = cuTexObjectGetResourceViewDesc(&view, object);
    say(name + " view", view_code,
        view_code == CUDA_SUCCESS
            ? list(static_cast<int>(view.format), view.width, view.height, view.depth,
                   view.firstMipmapLevel, view.lastMipmapLevel, view.firstLayer, view.lastLayer)
            : "");
}

void ask_samplers() {
    begin();
    CUarray floats = make(shape(16, 16, 0));
    const auto resource = of_array(floats);
    CUDA_TEXTURE_DESC plain{};
    const auto with = [&](const std::string& name, auto change) {
        CUDA_TEXTURE_DESC texture = plain;
        change(texture);
        const CUtexObject object = create(name, resource, texture);
        if (object != 0) {
            read_back(name, object);
            cuTexObjectDestroy(object);
        }
    };
    const CUtexObject object = create("plain", resource);
    read_back("plain", object);
    say_value("an object fits in 32 bits", object >> 32 == 0 ? "yes" : "no");
    for (int mode = -1; mode < 6; ++mode) {
        for (int dimension = 0; dimension < 3; ++dimension) {
            for (const unsigned flags : {0U, unsigned{CU_TRSF_NORMALIZED_COORDINATES}}) {
                with("address mode " + list(dimension, mode, flags), [&](auto& texture) {
                    texture.addressMode[dimension] = static_cast<CUaddress_mode>(mode);
                    texture.flags = flags;
                });
            }
        }
    }
    for (int mode = -1; mode < 4; ++mode) {
        with("filter mode " + std::to_string(mode),
             [&](auto& texture) { texture.filterMode = static_cast<CUfilter_mode>(mode); });
        with("mipmap filter mode " + std::to_string(mode),
             [&](auto& texture) { texture.mipmapFilterMode = static_cast<CUfilter_mode>(mode); });
    }
    for (unsigned bit = 0; bit < 32; ++bit) {
        with("flag " + std::to_string(1U << bit),
             [&](auto& texture) { texture.flags = 1U << bit; });
    }
    for (const unsigned anisotropy : {0U, 1U, 2U, 16U, 17U, 1000U, ~0U}) {
        with("anisotropy " + std::to_string(anisotropy),
             [&](auto& texture) { texture.maxAnisotropy = anisotropy; });
    }
    const float infinity = std::numeric_limits<float>::infinity();
    with("bias 100", [](auto& texture) { texture.mipmapLevelBias = 100; });
    with("bias -100", [](auto& texture) { texture.mipmapLevelBias = -100; });
    with("bias infinity", [&](auto& texture) { texture.mipmapLevelBias = infinity; });
    with("levels from 3 to 1", [](auto& texture) {
        texture.minMipmapLevelClamp = 3;
        texture.maxMipmapLevelClamp = 1;
    });
    with("levels from -1 to 100", [](auto& texture) {
        texture.minMipmapLevelClamp = -1;
        texture.maxMipmapLevelClamp = 100;
    });
    with("border", [](auto& texture) {
        texture.addressMode[0] = CU_TR_ADDRESS_MODE_BORDER;
        texture.borderColor[0] = 0.5F;
        texture.borderColor[3] = -2;
    });
    with("reserved", [](auto& texture) { texture.reserved[0] = 1; });
    CUDA_TEXTURE_DESC texture{};
    CUtexObject made = 0;
    say("NULL output", cuTexObjectCreate(nullptr, &resource, &texture, nullptr));
    say("NULL resource", cuTexObjectCreate(&made, nullptr, &texture, nullptr));
    say("NULL texture", cuTexObjectCreate(&made, &resource, nullptr, nullptr));
}

void ask_formats_of_textures() {
    begin();
    constexpr int formats[] = {0x01, 0x02, 0x03, 0x08, 0x09, 0x0a, 0x10, 0x20, 0x50, 0x91,
                               0x92, 0x93, 0x97, 0x98, 0x99, 0x9b, 0x9c, 0x9d, 0x9e, 0x9f,
                               0xa1, 0xa2, 0xa5, 0xa6, 0xa8, 0xa9, 0xb0, 0xb1, 0xb2, 0xb4,
                               0xc0, 0xc1, 0xc2, 0xc3, 0xc5, 0xc6, 0xc8, 0xc9, 0xcb};
    for (const int format : formats) {
        for (const unsigned channels : {1U, 2U, 3U, 4U}) {
            auto descriptor = shape(64, 32, 0, 0, static_cast<CUarray_format>(format), channels);
            CUarray array = nullptr;
            if (cuArray3DCreate(&array, &descriptor) != CUDA_SUCCESS) {
                continue;
            }
            const auto resource = of_array(array);
            std::string codes;
            for (const bool is_linear : {false, true}) {
                for (const unsigned flags : {0, CU_TRSF_READ_AS_INTEGER, CU_TRSF_SRGB}) {
                    CUDA_TEXTURE_DESC texture{};
                    texture.filterMode = static_cast<CUfilter_mode>(is_linear);
                    texture.flags = flags;
                    CUtexObject object = 0;
                    const CUresult code = cuTexObjectCreate(&object, &resource, &texture, nullptr);
                    codes += " " + std::to_string(static_cast<int>(code));
                    cuTexObjectDestroy(object);
                }
            }
            char name[64];
            std::snprintf(name, sizeof name, "format 0x%x x%u point, integer, srgb; linear ...",
                          static_cast<unsigned>(format), channels);
            say_value(name, codes.substr(1));
            cuArrayDestroy(array);
        }
    }
}

void ask_memory_textures() {
    begin();
    CUdeviceptr memory = 0;
    cuMemAlloc(&memory, 1 << 20);
    create("linear", of_memory(memory, 4096));
    read_back("linear", create("linear again", of_memory(memory, 4096)));
    for (const unsigned offset : {1, 2, 4, 8, 16, 32, 64, 128, 256, 512}) {
        create("linear at " + std::to_string(offset), of_memory(memory + offset, 4096));
        create("linear x4 at " + std::to_string(offset),
               of_memory(memory + offset, 4096, CU_AD_FORMAT_FLOAT, 4));
        create("pitched at " + std::to_string(offset), of_pitched(memory + offset, 16, 16, 512));
    }
    create("linear no bytes", of_memory(memory, 0));
    create("linear 2 bytes of floats", of_memory(memory, 2));
    create("linear 6 bytes of floats", of_memory(memory, 6));
    create("linear NULL", of_memory(0, 4096));
    create("linear over the memory", of_memory(memory, 2 << 20));
    create("linear not memory", of_memory(0x1000, 4096));
    create("linear 2^28 elements", of_memory(memory, std::size_t{1} << 30));
    create("linear more than 2^28 elements", of_memory(memory, (std::size_t{1} << 30) + 4));
    create("linear 2^28 bytes", of_memory(memory, 1 << 28, CU_AD_FORMAT_UNSIGNED_INT8));
    create("linear 2^28 + 1 bytes", of_memory(memory, (1 << 28) + 1, CU_AD_FORMAT_UNSIGNED_INT8));
    for (const unsigned channels : {0U, 1U, 2U, 3U, 4U, 5U}) {
        create("linear x" + std::to_string(channels),
               of_memory(memory, 4096, CU_AD_FORMAT_FLOAT, channels));
        create("pitched x" + std::to_string(channels),
               of_pitched(memory, 16, 16, 512, CU_AD_FORMAT_FLOAT, channels));
    }
    for (const auto format :
         {static_cast<CUarray_format>(0), CU_AD_FORMAT_BC1_UNORM, CU_AD_FORMAT_NV12,
          CU_AD_FORMAT_UNORM_INT8X4, CU_AD_FORMAT_UNORM_INT_101010_2,
          static_cast<CUarray_format>(0x7777)}) {
        create("linear format " + std::to_string(format), of_memory(memory, 4096, format, 4));
        create("pitched format " + std::to_string(format),
               of_pitched(memory, 16, 16, 512, format, 4));
    }
    create("pitched", of_pitched(memory, 16, 16, 512));
    create("pitched tight", of_pitched(memory, 16, 16, 64));
    for (const std::size_t pitch :
         {0, 4, 16, 32, 48, 60, 63, 64, 72, 96, 2097120, 2097121, 2097152}) {
        create("pitched pitch " + std::to_string(pitch), of_pitched(memory, 16, 1, pitch));
        create("pitched pitch, two rows " + std::to_string(pitch),
               of_pitched(memory, 16, 2, pitch));
    }
    for (const std::size_t width : {0, 131072, 131073, 100000000}) {
        create("pitched bytes, width " + std::to_string(width),
               of_pitched(memory, width, 1, 131072, CU_AD_FORMAT_UNSIGNED_INT8));
    }
    for (const std::size_t height : {0, 65000, 65001, 65536, 65537}) {
        create("pitched height " + std::to_string(height), of_pitched(memory, 16, height, 64));
    }
    create("pitched NULL", of_pitched(0, 16, 16, 512));
    create("pitched not memory", of_pitched(0x10000, 16, 16, 512));
    create("pitched over the memory", of_pitched(memory, 16, 5000, 512));
    CUDA_TEXTURE_DESC texture{};
    texture.filterMode = CU_TR_FILTER_MODE_LINEAR;
    create("linear memory, linear filter", of_memory(memory, 4096), texture);
    create("linear memory of integers, linear filter",
           of_memory(memory, 4096, CU_AD_FORMAT_UNSIGNED_INT32), texture);
    create("pitched, linear filter", of_pitched(memory, 16, 16, 512), texture);
    create("pitched integers, linear filter",
           of_pitched(memory, 16, 16, 512, CU_AD_FORMAT_UNSIGNED_INT32), texture);
    create("pitched bytes, linear filter",
           of_pitched(memory, 16, 16, 512, CU_AD_FORMAT_UNSIGNED_INT8), texture);
    texture.flags = CU_TRSF_READ_AS_INTEGER;
    create("pitched bytes as integers, linear filter",
           of_pitched(memory, 16, 16, 512, CU_AD_FORMAT_UNSIGNED_INT8), texture);
    texture = {};
    texture.flags = CU_TRSF_NORMALIZED_COORDINATES;
    create("linear memory, normalized coordinates", of_memory(memory, 4096), texture);
    texture.flags = 0;
    texture.addressMode[0] = static_cast<CUaddress_mode>(9);
    create("linear memory, address mode 9", of_memory(memory, 4096), texture);
    void* host = nullptr;
    cuMemHostAlloc(&host, 1 << 16, CU_MEMHOSTALLOC_DEVICEMAP);
    CUdeviceptr mapped = 0;
    cuMemHostGetDevicePointer(&mapped, host, 0);
    create("pinned memory", of_memory(mapped, 4096));
    cuMemAllocManaged(&mapped, 1 << 16, CU_MEM_ATTACH_GLOBAL);
    create("managed memory", of_memory(mapped, 4096));
    create("managed memory pitched", of_pitched(mapped, 16, 16, 512));
    auto resource = of_memory(memory, 4096);
    resource.flags = 1;
    create("resource flags 1", resource);
    resource.flags = 0;
    resource.resType = static_cast<CUresourcetype>(7);
    create("resource type 7", resource);
}

void ask_views() {
    begin();
    const auto view = [](CUresourceViewFormat format, std::size_t width, std::size_t height,
                         std::size_t depth, unsigned first_level = 0, unsigned last_level = 0,
                         unsigned first_layer = 0, unsigned last_layer = 0) {
        CUDA_RESOURCE_VIEW_DESC result{};
        result.format = format;
        result.width = width;
        result.height = height;
        result.depth = depth;
        result.firstMipmapLevel = first_level;
        result.lastMipmapLevel = last_level;
        result.firstLayer = first_layer;
        result.lastLayer = last_layer;
        return result;
    };
    const auto ask = [](const std::string& name, const CUDA_RESOURCE_DESC& resource,
                        const CUDA_RESOURCE_VIEW_DESC& wanted, unsigned flags = 0) {
        CUDA_TEXTURE_DESC texture{};
        texture.flags = flags;
        const CUtexObject object = create("view " + name, resource, texture, &wanted);
        if (object != 0) {
            read_back("view " + name, object);
        }
    };
    constexpr unsigned NORMALIZED = CU_TRSF_NORMALIZED_COORDINATES;
    const auto flat = of_array(make(shape(16, 8, 0)));
    ask("same", flat, view(CU_RES_VIEW_FORMAT_FLOAT_1X32, 16, 8, 0));
    ask("no format", flat, view(CU_RES_VIEW_FORMAT_NONE, 16, 8, 0));
    ask("all zero", flat, view(CU_RES_VIEW_FORMAT_NONE, 0, 0, 0));
    ask("format and no size", flat, view(CU_RES_VIEW_FORMAT_FLOAT_1X32, 0, 0, 0));
    ask("depth 1", flat, view(CU_RES_VIEW_FORMAT_FLOAT_1X32, 16, 8, 1));
    for (int format = 1; format < 0x24; ++format) {
        CUDA_TEXTURE_DESC texture{};
        const auto wanted = view(static_cast<CUresourceViewFormat>(format), 16, 8, 0);
        create("view of floats as " + std::to_string(format), flat, texture, &wanted);
    }
    ask("narrow", flat, view(CU_RES_VIEW_FORMAT_FLOAT_1X32, 8, 8, 0));
    ask("wide", flat, view(CU_RES_VIEW_FORMAT_FLOAT_1X32, 32, 8, 0));
    ask("low", flat, view(CU_RES_VIEW_FORMAT_FLOAT_1X32, 16, 4, 0));
    ask("last level 1", flat, view(CU_RES_VIEW_FORMAT_FLOAT_1X32, 16, 8, 0, 0, 1));
    ask("first level 1", flat, view(CU_RES_VIEW_FORMAT_FLOAT_1X32, 16, 8, 0, 1, 1));
    ask("last layer 1", flat, view(CU_RES_VIEW_FORMAT_FLOAT_1X32, 16, 8, 0, 0, 0, 0, 1));
    const auto pairs = of_array(make(shape(16, 8, 0, 0, CU_AD_FORMAT_UNSIGNED_INT32, 2)));
    const auto quads = of_array(make(shape(16, 8, 0, 0, CU_AD_FORMAT_UNSIGNED_INT32, 4)));
    for (int format = 0x19; format <= 0x22; ++format) {
        const auto block = static_cast<CUresourceViewFormat>(format);
        CUDA_TEXTURE_DESC texture{};
        const auto larger = view(block, 64, 32, 0);
        const auto same = view(block, 16, 8, 0);
        create("view of 2 x 32 as " + std::to_string(format), pairs, texture, &larger);
        create("view of 4 x 32 as " + std::to_string(format), quads, texture, &larger);
        create("view of 4 x 32 as " + std::to_string(format) + ", size kept", quads, texture,
               &same);
    }
    const auto ints = of_array(make(shape(16, 8, 0, 0, CU_AD_FORMAT_UNSIGNED_INT32)));
    for (int format = 1; format < 0x19; ++format) {
        CUDA_TEXTURE_DESC texture{};
        const auto wanted = view(static_cast<CUresourceViewFormat>(format), 16, 8, 0);
        create("view of 1 x 32 as " + std::to_string(format), ints, texture, &wanted);
    }
    const auto layers = of_array(make(shape(16, 8, 6, CUDA_ARRAY3D_LAYERED)));
    ask("layers", layers, view(CU_RES_VIEW_FORMAT_FLOAT_1X32, 16, 8, 6, 0, 0, 2, 4));
    ask("layers, depth 3", layers, view(CU_RES_VIEW_FORMAT_FLOAT_1X32, 16, 8, 3, 0, 0, 2, 4));
    ask("layers, depth 0", layers, view(CU_RES_VIEW_FORMAT_FLOAT_1X32, 16, 8, 0, 0, 0, 2, 4));
    ask("layers 4 to 2", layers, view(CU_RES_VIEW_FORMAT_FLOAT_1X32, 16, 8, 6, 0, 0, 4, 2));
    ask("layers to 6", layers, view(CU_RES_VIEW_FORMAT_FLOAT_1X32, 16, 8, 6, 0, 0, 0, 6));
    ask("layers, all", layers, view(CU_RES_VIEW_FORMAT_FLOAT_1X32, 16, 8, 6, 0, 0, 0, 5));
    ask("layers, only 0", layers, view(CU_RES_VIEW_FORMAT_FLOAT_1X32, 16, 8, 6));
    const auto volume = of_array(make(shape(16, 8, 4)));
    ask("volume", volume, view(CU_RES_VIEW_FORMAT_FLOAT_1X32, 16, 8, 4));
    ask("volume, less deep", volume, view(CU_RES_VIEW_FORMAT_FLOAT_1X32, 16, 8, 2));
    const auto cube =
        of_array(make(shape(16, 16, 12, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED)));
    ask("cubes, all", cube, view(CU_RES_VIEW_FORMAT_FLOAT_1X32, 16, 16, 12, 0, 0, 0, 11));
    ask("cubes, second", cube, view(CU_RES_VIEW_FORMAT_FLOAT_1X32, 16, 16, 12, 0, 0, 6, 11));
    ask("cubes, second as 1", cube, view(CU_RES_VIEW_FORMAT_FLOAT_1X32, 16, 16, 12, 0, 0, 1, 1));
    ask("cubes, part", cube, view(CU_RES_VIEW_FORMAT_FLOAT_1X32, 16, 16, 12, 0, 0, 1, 7));
    CUmipmappedArray whole = nullptr;
    auto descriptor = shape(16, 8, 0);
    cuMipmappedArrayCreate(&whole, &descriptor, 4);
    const auto levels = of_mipmap(whole);
    ask("levels", levels, view(CU_RES_VIEW_FORMAT_FLOAT_1X32, 16, 8, 0, 1, 2), NORMALIZED);
    ask("levels, smaller", levels, view(CU_RES_VIEW_FORMAT_FLOAT_1X32, 8, 4, 0, 1, 2), NORMALIZED);
    ask("levels 2 to 1", levels, view(CU_RES_VIEW_FORMAT_FLOAT_1X32, 16, 8, 0, 2, 1), NORMALIZED);
    ask("levels to 4", levels, view(CU_RES_VIEW_FORMAT_FLOAT_1X32, 16, 8, 0, 0, 4), NORMALIZED);
    CUdeviceptr memory = 0;
    cuMemAlloc(&memory, 1 << 20);
    ask("of linear memory", of_memory(memory, 4096),
        view(CU_RES_VIEW_FORMAT_FLOAT_1X32, 1024, 0, 0));
    ask("of linear memory, all zero", of_memory(memory, 4096),
        view(CU_RES_VIEW_FORMAT_NONE, 0, 0, 0));
    ask("of pitched memory", of_pitched(memory, 16, 16, 512),
        view(CU_RES_VIEW_FORMAT_FLOAT_1X32, 16, 16, 0));
    auto reserved = view(CU_RES_VIEW_FORMAT_FLOAT_1X32, 16, 8, 0);
    reserved.reserved[0] = 1;
    ask("reserved", flat, reserved);
    const auto blocks = of_array(make(shape(16, 16, 0, 0, CU_AD_FORMAT_BC1_UNORM, 4)));
    ask("of BC1", blocks, view(CU_RES_VIEW_FORMAT_UNSIGNED_BC1, 16, 16, 0));
}

void ask_mipmapped_textures() {
    begin();
    CUmipmappedArray whole = nullptr;
    auto descriptor = shape(16, 8, 0);
    cuMipmappedArrayCreate(&whole, &descriptor, 4);
    CUDA_TEXTURE_DESC texture{};
    create("mipmap, coordinates not normalized", of_mipmap(whole), texture);
    texture.flags = CU_TRSF_NORMALIZED_COORDINATES;
    texture.maxMipmapLevelClamp = 3;
    read_back("mipmap", create("mipmap", of_mipmap(whole), texture));
    texture.mipmapFilterMode = CU_TR_FILTER_MODE_LINEAR;
    create("mipmap linear", of_mipmap(whole), texture);
    auto integers = shape(16, 8, 0, 0, CU_AD_FORMAT_UNSIGNED_INT32);
    CUmipmappedArray other = nullptr;
    cuMipmappedArrayCreate(&other, &integers, 4);
    create("mipmap of integers, levels linear", of_mipmap(other), texture);
    CUarray level = nullptr;
    cuMipmappedArrayGetLevel(&level, whole, 1);
    texture = {};
    create("texture of a level", of_array(level), texture);
    auto linear = texture;
    linear.filterMode = CU_TR_FILTER_MODE_LINEAR;
    create("depth texture", of_array(make(shape(16, 8, 0, CUDA_ARRAY3D_DEPTH_TEXTURE))), linear);
    linear.flags = CU_TRSF_SEAMLESS_CUBEMAP;
    create("seamless of 2d", of_array(make(shape(16, 16, 0))), linear);
    create("seamless of a cube", of_array(make(shape(16, 16, 6, CUDA_ARRAY3D_CUBEMAP))), linear);
    linear.flags = CU_TRSF_SEAMLESS_CUBEMAP | CU_TRSF_NORMALIZED_COORDINATES;
    create("seamless of a cube, normalized", of_array(make(shape(16, 16, 6, CUDA_ARRAY3D_CUBEMAP))),
           linear);
    texture.flags = 0;
    create("cube, not normalized", of_array(make(shape(16, 16, 6, CUDA_ARRAY3D_CUBEMAP))), texture);
    create("sparse", of_array(make(shape(64, 64, 0, CUDA_ARRAY3D_SPARSE))), texture);
    create("deferred and not mapped",
           of_array(make(shape(64, 64, 0, CUDA_ARRAY3D_DEFERRED_MAPPING))), texture);
    create("NULL mipmap", of_mipmap(nullptr), texture);
}

void ask_surfaces() {
    begin();
    const auto ask = [](const std::string& name, const CUDA_RESOURCE_DESC& resource) {
        CUsurfObject object = 0;
        const CUresult code = say("surface " + name, cuSurfObjectCreate(&object, &resource));
        if (code == CUDA_SUCCESS) {
            CUDA_RESOURCE_DESC found;
            std::memset(&found, 0x55, sizeof found);
            say("surface " + name + " resource", cuSurfObjectGetResourceDesc(&found, object), [&] {
                return list(static_cast<int>(found.resType),
                            found.res.array.hArray == resource.res.array.hArray ? 1 : 0,
                            found.flags);
            });
            say("surface " + name + " destroy", cuSurfObjectDestroy(object));
        }
    };
    constexpr unsigned SURFACE = CUDA_ARRAY3D_SURFACE_LDST;
    ask("2d", of_array(make(shape(16, 16, 0, SURFACE))));
    ask("without the flag", of_array(make(shape(16, 16, 0))));
    ask("1d", of_array(make(shape(16, 0, 0, SURFACE))));
    ask("3d", of_array(make(shape(16, 16, 4, SURFACE))));
    ask("cube", of_array(make(shape(16, 16, 6, SURFACE | CUDA_ARRAY3D_CUBEMAP))));
    ask("halves", of_array(make(shape(16, 16, 0, SURFACE, CU_AD_FORMAT_HALF, 2))));
    ask("unorm", of_array(make(shape(16, 16, 0, SURFACE, CU_AD_FORMAT_UNORM_INT8X4, 4))));
    CUmipmappedArray whole = nullptr;
    auto descriptor = shape(16, 16, 0, SURFACE);
    cuMipmappedArrayCreate(&whole, &descriptor, 3);
    ask("mipmap", of_mipmap(whole));
    CUarray level = nullptr;
    cuMipmappedArrayGetLevel(&level, whole, 1);
    ask("level", of_array(level));
    CUdeviceptr memory = 0;
    cuMemAlloc(&memory, 1 << 16);
    ask("linear", of_memory(memory, 4096));
    ask("pitched", of_pitched(memory, 16, 16, 512));
    auto flags = of_array(make(shape(16, 16, 0, SURFACE)));
    flags.flags = 1;
    ask("flags", flags);
    ask("NULL array", of_array(nullptr));
    CUsurfObject object = 0;
    say("surface NULL resource", cuSurfObjectCreate(&object, nullptr));
    const auto good = of_array(make(shape(16, 16, 0, SURFACE)));
    cuSurfObjectCreate(&object, &good);
    say("surface resource into NULL", cuSurfObjectGetResourceDesc(nullptr, object));
    CUDA_RESOURCE_DESC found{};
    say("a surface as a texture", cuTexObjectGetResourceDesc(&found, object));
    say("destroy a surface as a texture", cuTexObjectDestroy(object));
}

void ask_dead_objects() {
    begin();
    const auto resource = of_array(make(shape(16, 16, 0)));
    CUDA_TEXTURE_DESC texture{};
    CUDA_RESOURCE_DESC found{};
    CUDA_RESOURCE_VIEW_DESC view{};
    CUtexObject object = 0;
    cuTexObjectCreate(&object, &resource, &texture, nullptr);
    say("resource into NULL", cuTexObjectGetResourceDesc(nullptr, object));
    say("texture into NULL", cuTexObjectGetTextureDesc(nullptr, object));
    say("view into NULL", cuTexObjectGetResourceViewDesc(nullptr, object));
    say("destroy", cuTexObjectDestroy(object));
    say("resource of a destroyed texture", cuTexObjectGetResourceDesc(&found, object));
    say("texture of a destroyed texture", cuTexObjectGetTextureDesc(&texture, object));
    say("view of a destroyed texture", cuTexObjectGetResourceViewDesc(&view, object));
    say("destroy again", cuTexObjectDestroy(object));
    say("destroy 0", cuTexObjectDestroy(0));
    say("destroy 123456789", cuTexObjectDestroy(123456789));
    say("resource of 0", cuTexObjectGetResourceDesc(&found, 0));
    say("surface of 0", cuSurfObjectGetResourceDesc(&found, 0));
    say("destroy surface 0", cuSurfObjectDestroy(0));
    say("destroy surface 123456789", cuSurfObjectDestroy(123456789));
}

void ask_texture_of_dead_array() {
    begin();
    CUarray array = make(shape(16, 16, 0));
    const auto resource = of_array(array);
    const CUtexObject object = create("texture", resource);
    say("destroy the array", cuArrayDestroy(array));
    CUDA_RESOURCE_DESC found{};
    say("its resource", cuTexObjectGetResourceDesc(&found, object),
        [&] { return list(found.res.array.hArray == array ? 1 : 0); });
    say("destroy the texture", cuTexObjectDestroy(object));
    create("texture of a destroyed array", resource);
}

void ask_null_array_texture() {
    begin();
    create("texture of NULL", of_array(nullptr));
}

void ask_objects_of_contexts() {
    const CUcontext first = begin();
    const auto resource = of_array(make(shape(16, 16, 0)));
    const CUtexObject object = create("texture", resource);
    CUcontext second = nullptr;
    CUctxCreateParams parameters{};
    cuCtxCreate(&second, &parameters, 0, 0);
    CUDA_RESOURCE_DESC found{};
    say("resource from another context", cuTexObjectGetResourceDesc(&found, object));
    say("destroy from another context", cuTexObjectDestroy(object));
    cuCtxSetCurrent(nullptr);
    CUDA_TEXTURE_DESC texture{};
    CUtexObject other = 0;
    say("create without a context", cuTexObjectCreate(&other, &resource, &texture, nullptr));
    say("resource without a context", cuTexObjectGetResourceDesc(&found, object));
    say("destroy without a context", cuTexObjectDestroy(object));
    cuCtxSetCurrent(first);
    say("destroy from its context", cuTexObjectDestroy(object));
}

} // namespace

const std::initializer_list<Group> OBJECTS{
    {"samplers", ask_samplers},
    {"formats of textures", ask_formats_of_textures},
    {"textures of memory", ask_memory_textures},
    {"views", ask_views},
    {"textures of mipmaps", ask_mipmapped_textures},
    {"surfaces", ask_surfaces},
    {"dead objects", ask_dead_objects},
    {"texture of a dead array", ask_texture_of_dead_array},
    {"texture of NULL", ask_null_array_texture},
    {"objects of contexts", ask_objects_of_contexts},
};

} // namespace answers
