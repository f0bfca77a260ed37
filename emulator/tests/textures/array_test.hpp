// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What the tests of arrays, textures and surfaces share.

#pragma once

#include "api/driver.hpp"

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace cuprum::emulator::test {

inline CUDA_ARRAY3D_DESCRIPTOR descriptor(std::size_t width, std::size_t height = 0,
                                          std::size_t depth = 0, unsigned flags = 0,
                                          CUarray_format format = CU_AD_FORMAT_FLOAT,
                                          unsigned channels = 1) {
    CUDA_ARRAY3D_DESCRIPTOR result{};
    result.Width = width;
    result.Height = height;
    result.Depth = depth;
    result.Format = format;
    result.NumChannels = channels;
    result.Flags = flags;
    return result;
}

/// Returns the descriptor of a whole mipmap's or array's resource.
inline CUDA_RESOURCE_DESC resource_of(CUarray array) {
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
    return resource;
}

inline CUDA_RESOURCE_DESC resource_of(CUmipmappedArray mipmap) {
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    resource.res.mipmap.hMipmappedArray = mipmap;
    return resource;
}

class ArrayTest : public DriverTest {
protected:
    /// Creates an array. The test must destroy it.
    static CUarray create(const CUDA_ARRAY3D_DESCRIPTOR& wanted) {
        CUarray array = nullptr;
        EXPECT_TRUE(succeeds(CU(cuArray3DCreate)(&array, &wanted)));
        return array;
    }

    /// Returns the code with which creating an array fails.
    static CUresult refusal(const CUDA_ARRAY3D_DESCRIPTOR& wanted) {
        CUarray array = nullptr;
        return CU(cuArray3DCreate)(&array, &wanted);
    }

    static void destroy(CUarray array) { EXPECT_TRUE(succeeds(CU(cuArrayDestroy)(array))); }

    static std::vector<std::uint8_t> numbers(std::size_t count) {
        std::vector<std::uint8_t> bytes(count);
        std::iota(bytes.begin(), bytes.end(), std::uint8_t{1});
        return bytes;
    }

    /// Describes a copy between an array and packed host memory.
    static CUDA_MEMCPY3D between(CUarray array, void* host, bool is_to_array, std::size_t width,
                                 std::size_t height = 1, std::size_t depth = 1) {
        CUDA_MEMCPY3D copy{};
        copy.srcMemoryType = is_to_array ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_ARRAY;
        copy.dstMemoryType = is_to_array ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_HOST;
        copy.srcHost = is_to_array ? host : nullptr;
        copy.dstHost = is_to_array ? nullptr : host;
        copy.srcArray = is_to_array ? nullptr : array;
        copy.dstArray = is_to_array ? array : nullptr;
        copy.WidthInBytes = width;
        copy.Height = height;
        copy.Depth = depth;
        return copy;
    }

    /// Returns the last message of the driver's log.
    static std::string last_message() {
        std::vector<char> text(1 << 16);
        std::size_t size = text.size();
        EXPECT_TRUE(succeeds(CU(cuLogsDumpToMemory)(nullptr, text.data(), &size, 0)));
        std::string all(text.data(), size);
        while (!all.empty() && (all.back() == '\n' || all.back() == '\0')) {
            all.pop_back();
        }
        return all.substr(all.find_last_of('\n') + 1);
    }
};

} // namespace cuprum::emulator::test
