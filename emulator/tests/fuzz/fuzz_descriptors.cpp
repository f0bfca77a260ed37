// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// libFuzzer entry point for the descriptors of arrays, textures and surfaces, and for copies of
// arrays. tools/fuzz runs it.
//
// An input is a sequence of calls. Each field of a descriptor is a likely value or any bytes of the
// input. No call may crash, and after all objects are destroyed no memory may be in use.

#include <cuda.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

namespace {

constexpr std::size_t MEMORY_BYTES = 1 << 16;

/// Reads values from an input; zeros follow its end.
class Input {
public:
    Input(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

    [[nodiscard]] bool is_empty() const { return size_ == 0; }

    template <typename T>
    T raw() {
        T value{};
        const std::size_t count = size_ < sizeof value ? size_ : sizeof value;
        std::memcpy(&value, data_, count);
        data_ += count;
        size_ -= count;
        return value;
    }

    /// Returns one of these values or, rarely, any.
    template <typename T, std::size_t COUNT>
    T one_of(const std::array<T, COUNT>& likely) {
        const auto choice = raw<std::uint8_t>();
        return choice >= 240 ? static_cast<T>(raw<std::uint64_t>()) : likely[choice % COUNT];
    }

    std::size_t size() {
        return one_of(
            std::array<std::size_t, 16>{0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 64, 131072, 2048});
    }

private:
    const std::uint8_t* data_;
    std::size_t size_;
};

/// The objects that an input has made.
struct World {
    CUcontext context = nullptr;
    CUdeviceptr memory = 0;
    std::vector<CUarray> arrays;
    std::vector<CUmipmappedArray> mipmaps;
    std::vector<CUtexObject> textures;
    std::vector<CUsurfObject> surfaces;
};

template <typename T>
T pick(Input& input, const std::vector<T>& all) {
    const auto choice = input.raw<std::uint8_t>();
    return all.empty() || choice >= 250 ? (T)(std::uintptr_t)input.raw<std::uint64_t>()
                                        : all[choice % all.size()];
}

CUarray_format format(Input& input) {
    return static_cast<CUarray_format>(input.one_of(std::array<int, 24>{
        0x01, 0x02, 0x03, 0x08, 0x09, 0x0a, 0x10, 0x20, 0x20, 0x50, 0x91, 0x92,
        0x97, 0x99, 0x9b, 0x9e, 0x9f, 0xa5, 0xa9, 0xb0, 0xb2, 0xc0, 0xc2, 0xcb}));
}

CUDA_ARRAY3D_DESCRIPTOR descriptor(Input& input) {
    CUDA_ARRAY3D_DESCRIPTOR result{};
    result.Width = input.size();
    result.Height = input.size();
    result.Depth = input.size();
    result.Format = format(input);
    result.NumChannels = input.one_of(std::array<unsigned, 6>{1, 2, 4, 4, 3, 0});
    result.Flags = input.one_of(std::array<unsigned, 12>{
        0, 0, 0, CUDA_ARRAY3D_LAYERED, CUDA_ARRAY3D_CUBEMAP,
        CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED, CUDA_ARRAY3D_SURFACE_LDST,
        CUDA_ARRAY3D_TEXTURE_GATHER, CUDA_ARRAY3D_SPARSE, CUDA_ARRAY3D_DEFERRED_MAPPING,
        CUDA_ARRAY3D_VIDEO_ENCODE_DECODE, CUDA_ARRAY3D_DEPTH_TEXTURE});
    return result;
}

CUDA_RESOURCE_DESC resource(Input& input, const World& world) {
    CUDA_RESOURCE_DESC result{};
    result.resType =
        static_cast<CUresourcetype>(input.one_of(std::array<int, 6>{0, 0, 1, 1, 2, 3}));
    const CUdeviceptr address =
        input.one_of(std::array<CUdeviceptr, 4>{world.memory, world.memory, world.memory + 512, 0});
    switch (result.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
        result.res.array.hArray = pick(input, world.arrays);
        break;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        result.res.mipmap.hMipmappedArray = pick(input, world.mipmaps);
        break;
    case CU_RESOURCE_TYPE_LINEAR:
        result.res.linear = {address, format(input), input.one_of(std::array<unsigned, 3>{1, 2, 4}),
                             input.size()};
        break;
    default:
        result.res.pitch2D = {
            address,      format(input), input.one_of(std::array<unsigned, 3>{1, 2, 4}),
            input.size(), input.size(),  input.one_of(std::array<std::size_t, 4>{32, 64, 512, 0})};
    }
    result.flags = input.one_of(std::array<unsigned, 4>{0, 0, 0, 1});
    return result;
}

CUDA_TEXTURE_DESC texture(Input& input) {
    CUDA_TEXTURE_DESC result{};
    for (CUaddress_mode& mode : result.addressMode) {
        mode = static_cast<CUaddress_mode>(input.one_of(std::array<int, 4>{0, 1, 2, 3}));
    }
    result.filterMode = static_cast<CUfilter_mode>(input.one_of(std::array<int, 2>{0, 1}));
    result.mipmapFilterMode = static_cast<CUfilter_mode>(input.one_of(std::array<int, 2>{0, 1}));
    result.flags = input.one_of(std::array<unsigned, 8>{0, 1, 2, 3, 0x10, 0x20, 0x40, 0x12});
    result.maxAnisotropy = input.raw<std::uint8_t>();
    result.mipmapLevelBias = input.raw<float>();
    result.minMipmapLevelClamp = input.raw<float>();
    result.maxMipmapLevelClamp = input.raw<float>();
    return result;
}

CUDA_RESOURCE_VIEW_DESC view(Input& input) {
    CUDA_RESOURCE_VIEW_DESC result{};
    result.format = static_cast<CUresourceViewFormat>(input.raw<std::uint8_t>() % 40);
    result.width = input.size();
    result.height = input.size();
    result.depth = input.size();
    result.firstMipmapLevel = input.raw<std::uint8_t>() % 4;
    result.lastMipmapLevel = input.one_of(std::array<unsigned, 3>{0, 1, 3});
    result.firstLayer = input.raw<std::uint8_t>() % 4;
    result.lastLayer = input.one_of(std::array<unsigned, 3>{0, 3, 11});
    return result;
}

/// Copies between arrays and device memory. Host memory would have to be as large as the copy says.
void copy(Input& input, const World& world) {
    CUDA_MEMCPY3D request{};
    request.srcMemoryType = static_cast<CUmemorytype>(input.one_of(
        std::array<int, 3>{CU_MEMORYTYPE_ARRAY, CU_MEMORYTYPE_ARRAY, CU_MEMORYTYPE_DEVICE}));
    request.dstMemoryType = static_cast<CUmemorytype>(input.one_of(
        std::array<int, 3>{CU_MEMORYTYPE_ARRAY, CU_MEMORYTYPE_ARRAY, CU_MEMORYTYPE_DEVICE}));
    if (request.srcMemoryType == CU_MEMORYTYPE_HOST ||
        request.srcMemoryType == CU_MEMORYTYPE_UNIFIED ||
        request.dstMemoryType == CU_MEMORYTYPE_HOST ||
        request.dstMemoryType == CU_MEMORYTYPE_UNIFIED) {
        return;
    }
    request.srcArray = pick(input, world.arrays);
    request.dstArray = pick(input, world.arrays);
    request.srcDevice = world.memory + input.raw<std::uint16_t>();
    request.dstDevice = world.memory + input.raw<std::uint16_t>();
    request.srcXInBytes = input.size();
    request.srcY = input.size();
    request.srcZ = input.size();
    request.dstXInBytes = input.size();
    request.dstY = input.size();
    request.dstZ = input.size();
    request.srcPitch = input.size();
    request.dstPitch = input.size();
    request.srcHeight = input.size();
    request.dstHeight = input.size();
    request.srcLOD = input.one_of(std::array<std::size_t, 4>{0, 0, 0, 1});
    request.WidthInBytes = input.size();
    request.Height = input.size();
    request.Depth = input.size();
    (void)cuMemcpy3D(&request);
}

void create(Input& input, World& world) {
    const auto wanted = descriptor(input);
    if (input.raw<std::uint8_t>() % 3 != 0) {
        CUarray array = nullptr;
        if (cuArray3DCreate(&array, &wanted) == CUDA_SUCCESS) {
            world.arrays.push_back(array);
        }
        return;
    }
    CUmipmappedArray mipmap = nullptr;
    if (cuMipmappedArrayCreate(&mipmap, &wanted, input.raw<std::uint8_t>()) == CUDA_SUCCESS) {
        world.mipmaps.push_back(mipmap);
        CUarray level = nullptr;
        (void)cuMipmappedArrayGetLevel(&level, mipmap, input.raw<std::uint8_t>() % 8);
    }
}

void create_object(Input& input, World& world) {
    const auto what = resource(input, world);
    if (input.raw<std::uint8_t>() % 4 == 0) {
        CUsurfObject surface = 0;
        if (cuSurfObjectCreate(&surface, &what) == CUDA_SUCCESS) {
            world.surfaces.push_back(surface);
        }
        return;
    }
    const auto how = texture(input);
    const auto seen = view(input);
    CUtexObject object = 0;
    if (cuTexObjectCreate(&object, &what, &how,
                          input.raw<std::uint8_t>() % 3 == 0 ? &seen : nullptr) == CUDA_SUCCESS) {
        world.textures.push_back(object);
    }
}

void read_back(Input& input, const World& world) {
    CUDA_RESOURCE_DESC what{};
    CUDA_TEXTURE_DESC how{};
    CUDA_RESOURCE_VIEW_DESC seen{};
    CUDA_ARRAY3D_DESCRIPTOR size{};
    CUDA_ARRAY_MEMORY_REQUIREMENTS needs{};
    CUarray plane = nullptr;
    const CUtexObject object = pick(input, world.textures);
    const CUarray array = pick(input, world.arrays);
    (void)cuTexObjectGetResourceDesc(&what, object);
    (void)cuTexObjectGetTextureDesc(&how, object);
    (void)cuTexObjectGetResourceViewDesc(&seen, object);
    (void)cuSurfObjectGetResourceDesc(&what, pick(input, world.surfaces));
    (void)cuArray3DGetDescriptor(&size, array);
    (void)cuArrayGetPlane(&plane, array, input.raw<std::uint8_t>() % 4);
    (void)cuArrayGetMemoryRequirements(&needs, array, 0);
}

void destroy(Input& input, World& world) {
    switch (input.raw<std::uint8_t>() % 4) {
    case 0:
        (void)cuArrayDestroy(pick(input, world.arrays));
        break;
    case 1:
        (void)cuMipmappedArrayDestroy(pick(input, world.mipmaps));
        break;
    case 2:
        (void)cuTexObjectDestroy(pick(input, world.textures));
        break;
    default:
        (void)cuSurfObjectDestroy(pick(input, world.surfaces));
    }
}

std::size_t free_bytes() {
    std::size_t free = 0;
    std::size_t total = 0;
    (void)cuMemGetInfo(&free, &total);
    return free;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static World start = [] {
        World world;
        (void)cuInit(0);
        (void)cuDevicePrimaryCtxRetain(&world.context, 0);
        (void)cuCtxSetCurrent(world.context);
        (void)cuMemAlloc(&world.memory, MEMORY_BYTES);
        return world;
    }();
    World world = start;
    const std::size_t before = free_bytes();
    Input input(data, size);
    while (!input.is_empty()) {
        switch (input.raw<std::uint8_t>() % 8) {
        case 0:
        case 1:
            create(input, world);
            break;
        case 2:
        case 3:
            create_object(input, world);
            break;
        case 4:
        case 5:
            copy(input, world);
            break;
        case 6:
            read_back(input, world);
            break;
        default:
            destroy(input, world);
        }
    }
    for (const CUtexObject object : world.textures) {
        (void)cuTexObjectDestroy(object);
    }
    for (const CUsurfObject surface : world.surfaces) {
        (void)cuSurfObjectDestroy(surface);
    }
    for (const CUarray array : world.arrays) {
        (void)cuArrayDestroy(array);
    }
    for (const CUmipmappedArray mipmap : world.mipmaps) {
        (void)cuMipmappedArrayDestroy(mipmap);
    }
    if (free_bytes() != before) {
        std::abort(); // memory leaked
    }
    return 0;
}

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
    constexpr std::size_t new_bytes = 1024;
    if (seed % 4 != 0 && size != 0) {
        return LLVMFuzzerMutate(data, size, max_size);
    }
    std::mt19937 random(seed); // a new sequence of calls
    const std::size_t length = max_size < new_bytes ? max_size : new_bytes;
    for (std::size_t index = 0; index < length; ++index) {
        data[index] = static_cast<std::uint8_t>(random());
    }
    return length;
}
