// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Which arrays exist, and what the driver says about them.

#include "answers.hpp"

#include <algorithm>

namespace answers {

namespace {

constexpr int FORMATS[] = {
    0x00, 0x01, 0x02, 0x03, 0x04, 0x08, 0x09, 0x0a, 0x10, 0x20, 0x30, 0x40, 0x50, 0x51, 0x91,
    0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9a, 0x9b, 0x9c, 0x9d, 0x9e, 0x9f, 0xa0,
    0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xb0, 0xb1, 0xb2, 0xb3, 0xb4, 0xb5,
    0xb6, 0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xcb, 0xcc, 0x7fffffff};

std::string number(int value) {
    char text[16];
    std::snprintf(text, sizeof text, "0x%x", value);
    return text;
}

struct Shape {
    const char* name;
    std::size_t width, height, depth;
    unsigned flags;
};

constexpr Shape SHAPES[] = {
    {"1d", 64, 0, 0, 0},
    {"2d", 64, 32, 0, 0},
    {"3d", 64, 32, 8, 0},
    {"layered1d", 64, 0, 8, CUDA_ARRAY3D_LAYERED},
    {"layered2d", 64, 32, 8, CUDA_ARRAY3D_LAYERED},
    {"cube", 64, 64, 6, CUDA_ARRAY3D_CUBEMAP},
    {"layeredcube", 64, 64, 12, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED},
    {"surface2d", 64, 32, 0, CUDA_ARRAY3D_SURFACE_LDST},
    {"gather2d", 64, 32, 0, CUDA_ARRAY3D_TEXTURE_GATHER},
    {"depth2d", 64, 32, 0, CUDA_ARRAY3D_DEPTH_TEXTURE},
    {"color2d", 64, 32, 0, CUDA_ARRAY3D_COLOR_ATTACHMENT},
    {"sparse2d", 64, 32, 0, CUDA_ARRAY3D_SPARSE},
    {"deferred2d", 64, 32, 0, CUDA_ARRAY3D_DEFERRED_MAPPING},
    {"video2d", 64, 32, 0, CUDA_ARRAY3D_VIDEO_ENCODE_DECODE},
    {"odd2d", 63, 31, 0, 0},
};

std::string digits(CUresult code) {
    return code == CUDA_SUCCESS ? "ok" : std::to_string(static_cast<int>(code));
}

void ask_formats() {
    begin();
    for (const int format : FORMATS) {
        for (const Shape& each : SHAPES) {
            std::string codes;
            for (const unsigned channels : {0U, 1U, 2U, 3U, 4U, 8U}) {
                auto descriptor = shape(each.width, each.height, each.depth, each.flags,
                                        static_cast<CUarray_format>(format), channels);
                CUarray array = nullptr;
                const CUresult code = cuArray3DCreate(&array, &descriptor);
                codes += " " + digits(code);
                if (code == CUDA_SUCCESS) {
                    cuArrayDestroy(array);
                }
            }
            say_value("format " + number(format) + " " + each.name + " channels 0 1 2 3 4 8",
                      codes.substr(1));
        }
    }
}

void ask_mipmapped_formats() {
    begin();
    for (const int format : FORMATS) {
        std::string codes;
        for (const unsigned channels : {1U, 2U, 3U, 4U}) {
            auto descriptor = shape(64, 32, 0, 0, static_cast<CUarray_format>(format), channels);
            CUmipmappedArray array = nullptr;
            const CUresult code = cuMipmappedArrayCreate(&array, &descriptor, 3);
            codes += " " + digits(code);
            if (code == CUDA_SUCCESS) {
                cuMipmappedArrayDestroy(array);
            }
        }
        say_value("mipmapped format " + number(format) + " channels 1 2 3 4", codes.substr(1));
    }
}

void describe(const std::string& name, CUarray array) {
    CUDA_ARRAY3D_DESCRIPTOR deep{};
    CUresult code = cuArray3DGetDescriptor(&deep, array);
    say(name + " 3d descriptor", code,
        list(deep.Width, deep.Height, deep.Depth, static_cast<int>(deep.Format), deep.NumChannels,
             deep.Flags));
    CUDA_ARRAY_DESCRIPTOR flat{};
    code = cuArrayGetDescriptor(&flat, array);
    say(name + " descriptor", code,
        list(flat.Width, flat.Height, static_cast<int>(flat.Format), flat.NumChannels));
}

void ask_descriptors() {
    begin();
    for (const Shape& each : SHAPES) {
        auto descriptor = shape(each.width, each.height, each.depth, each.flags);
        CUarray array = nullptr;
        if (say(std::string("make ") + each.name, cuArray3DCreate(&array, &descriptor)) ==
            CUDA_SUCCESS) {
            describe(each.name, array);
        }
    }
    CUDA_ARRAY_DESCRIPTOR flat{};
    flat.Width = 10;
    flat.Height = 0;
    flat.Format = CU_AD_FORMAT_HALF;
    flat.NumChannels = 4;
    CUarray array = nullptr;
    say("cuArrayCreate 1d", cuArrayCreate(&array, &flat));
    describe("cuArrayCreate 1d", array);
    flat.Height = 5;
    say("cuArrayCreate 2d", cuArrayCreate(&array, &flat));
    describe("cuArrayCreate 2d", array);
    flat.Width = 0;
    say("cuArrayCreate no width", cuArrayCreate(&array, &flat));
    say("cuArrayCreate NULL descriptor", cuArrayCreate(&array, nullptr));
    say("cuArrayCreate NULL output", cuArrayCreate(nullptr, &flat));
    say("cuArray3DCreate NULL descriptor", cuArray3DCreate(&array, nullptr));
    auto good = shape(4, 4, 0);
    say("cuArray3DCreate NULL output", cuArray3DCreate(nullptr, &good));
    for (const int format : {0x50, 0x91, 0x97, 0x9b, 0x9d, 0x9f, 0xa2, 0xa5, 0xa8, 0xa9,
                             0xb0, 0xb1, 0xb2, 0xb4, 0xb5, 0xc0, 0xc1, 0xc2, 0xc5, 0xcb}) {
        for (const unsigned channels : {1U, 2U, 3U, 4U}) {
            auto descriptor = shape(64, 32, 0, 0, static_cast<CUarray_format>(format), channels);
            if (cuArray3DCreate(&array, &descriptor) == CUDA_SUCCESS) {
                describe("format " + number(format) + " x" + std::to_string(channels), array);
            }
        }
    }
}

void ask_video() {
    begin();
    const auto ask = [](const std::string& name, std::size_t width, std::size_t height,
                        std::size_t depth, unsigned flags) {
        CUarray array = nullptr;
        auto descriptor = shape(width, height, depth, flags | CUDA_ARRAY3D_VIDEO_ENCODE_DECODE,
                                CU_AD_FORMAT_NV12, 3);
        say("NV12 " + name, cuArray3DCreate(&array, &descriptor));
    };
    ask("2d", 64, 32, 0, 0);
    ask("odd", 63, 31, 0, 0);
    ask("odd width", 63, 32, 0, 0);
    ask("1d", 64, 0, 0, 0);
    ask("3d", 64, 32, 4, 0);
    ask("layered", 64, 32, 4, CUDA_ARRAY3D_LAYERED);
    ask("surface", 64, 32, 0, CUDA_ARRAY3D_SURFACE_LDST);
    ask("tiny", 2, 2, 0, 0);
    auto descriptor = shape(64, 32, 0, CUDA_ARRAY3D_VIDEO_ENCODE_DECODE, CU_AD_FORMAT_NV12, 3);
    CUmipmappedArray mipmap = nullptr;
    say("NV12 mipmap", cuMipmappedArrayCreate(&mipmap, &descriptor, 2));
    CUarray array = make(descriptor);
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
    CUDA_TEXTURE_DESC texture{};
    CUtexObject object = 0;
    say("NV12 texture", cuTexObjectCreate(&object, &resource, &texture, nullptr));
    CUarray plane = nullptr;
    cuArrayGetPlane(&plane, array, 1);
    resource.res.array.hArray = plane;
    say("texture of a plane", cuTexObjectCreate(&object, &resource, &texture, nullptr));
    CUsurfObject surface = 0;
    say("surface of a plane", cuSurfObjectCreate(&surface, &resource));
    for (const auto& [format, channels] : {std::pair{CU_AD_FORMAT_YUY2, 4U},
                                           {CU_AD_FORMAT_Y210, 2U},
                                           {CU_AD_FORMAT_AYUV, 4U},
                                           {CU_AD_FORMAT_Y410, 1U},
                                           {CU_AD_FORMAT_Y416, 4U}}) {
        resource.res.array.hArray =
            make(shape(64, 32, 0, CUDA_ARRAY3D_VIDEO_ENCODE_DECODE, format, channels));
        say("texture of format " + number(format),
            cuTexObjectCreate(&object, &resource, &texture, nullptr));
    }
}

void create(const std::string& name, const CUDA_ARRAY3D_DESCRIPTOR& descriptor) {
    CUarray array = nullptr;
    if (say(name, cuArray3DCreate(&array, &descriptor)) == CUDA_SUCCESS) {
        cuArrayDestroy(array);
    }
}

void ask_limits() {
    begin();
    using std::to_string;
    constexpr auto BYTE = CU_AD_FORMAT_UNSIGNED_INT8;
    const auto ask = [&](const char* name, std::size_t w, std::size_t h, std::size_t d,
                         unsigned flags) {
        create(std::string(name) + " " + list(w, h, d), shape(w, h, d, flags, BYTE));
        create(std::string(name) + " surface " + list(w, h, d),
               shape(w, h, d, flags | CUDA_ARRAY3D_SURFACE_LDST, BYTE));
    };
    for (const std::size_t w : {0, 1, 32768, 32769, 65536, 131072, 131073}) {
        ask("1d", w, 0, 0, 0);
    }
    for (const std::size_t w : {0, 32768, 32769, 65536, 65537, 131072, 131073}) {
        ask("2d", w, 1, 0, 0);
        ask("2d", 1, w, 0, 0);
    }
    for (const std::size_t w : {2048, 2049, 8192, 8193, 16384, 16385, 32768, 32769}) {
        ask("3d", w, 1, 1, 0);
        ask("3d", 1, w, 1, 0);
        ask("3d", 1, 1, w, 0);
    }
    ask("3d", 16384, 1, 16385, 0);
    ask("3d", 8193, 1, 16385, 0);
    ask("3d", 8192, 1, 32768, 0);
    ask("3d no width", 0, 4, 4, 0);
    ask("3d no height", 4, 0, 4, 0);
    for (const std::size_t w : {0, 32768, 32769}) {
        ask("layered1d", w, 0, 1, CUDA_ARRAY3D_LAYERED);
        ask("layered2d", w, 1, 1, CUDA_ARRAY3D_LAYERED);
        ask("layered2d", 1, w, 1, CUDA_ARRAY3D_LAYERED);
    }
    for (const std::size_t d : {0, 2048, 2049}) {
        ask("layered1d", 1, 0, d, CUDA_ARRAY3D_LAYERED);
        ask("layered2d", 1, 1, d, CUDA_ARRAY3D_LAYERED);
    }
    for (const std::size_t w : {32768, 32769}) {
        ask("cube", w, w, 6, CUDA_ARRAY3D_CUBEMAP);
    }
    for (const std::size_t d : {0, 5, 6, 7, 12}) {
        ask("cube", 4, 4, d, CUDA_ARRAY3D_CUBEMAP);
    }
    ask("cube not square", 4, 8, 6, CUDA_ARRAY3D_CUBEMAP);
    ask("cube no height", 4, 0, 6, CUDA_ARRAY3D_CUBEMAP);
    for (const std::size_t d : {0, 6, 7, 12, 2046, 2048, 2052}) {
        ask("layeredcube", 4, 4, d, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED);
    }
    constexpr unsigned GATHER = CUDA_ARRAY3D_TEXTURE_GATHER;
    for (const std::size_t w : {32768, 32769}) {
        ask("gather", w, 1, 0, GATHER);
        ask("gather", 1, w, 0, GATHER);
    }
    ask("gather 1d", 4, 0, 0, GATHER);
    ask("gather 3d", 4, 4, 4, GATHER);
    ask("gather layered", 4, 4, 4, GATHER | CUDA_ARRAY3D_LAYERED);
    ask("gather cube", 4, 4, 6, GATHER | CUDA_ARRAY3D_CUBEMAP);
    for (unsigned bit = 0; bit < 32; ++bit) {
        create("2d flag " + number(static_cast<int>(1U << bit)), shape(64, 64, 0, 1U << bit));
        create("1d flag " + number(static_cast<int>(1U << bit)), shape(64, 0, 0, 1U << bit));
        create("3d flag " + number(static_cast<int>(1U << bit)), shape(64, 64, 8, 1U << bit));
    }
    create("sparse and deferred",
           shape(64, 64, 0, CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING));
    create("sparse layered", shape(64, 64, 4, CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_LAYERED));
    create("sparse cube", shape(64, 64, 6, CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_CUBEMAP));
    create("depth and surface",
           shape(64, 64, 0, CUDA_ARRAY3D_DEPTH_TEXTURE | CUDA_ARRAY3D_SURFACE_LDST));
    create("too much memory", shape(131072, 65536, 0, 0, CU_AD_FORMAT_FLOAT, 4));
    create("far too much memory", shape(16384, 16384, 16384, 0, CU_AD_FORMAT_FLOAT, 4));
}

void ask_mipmaps() {
    begin();

    struct Question {
        const char* name;
        CUDA_ARRAY3D_DESCRIPTOR descriptor;
        unsigned levels;
    };

    constexpr unsigned LAYERED = CUDA_ARRAY3D_LAYERED;
    constexpr unsigned CUBE = CUDA_ARRAY3D_CUBEMAP;
    const Question questions[] = {
        {"1d", shape(13, 0, 0), 100},
        {"1d one", shape(1, 0, 0), 100},
        {"1d none", shape(13, 0, 0), 0},
        {"2d", shape(13, 7, 0), 100},
        {"2d three", shape(13, 7, 0), 3},
        {"3d", shape(13, 7, 5), 100},
        {"3d deep", shape(2, 3, 17), 100},
        {"layered1d", shape(13, 0, 5, LAYERED), 100},
        {"layered2d", shape(13, 7, 40, LAYERED), 100},
        {"cube", shape(12, 12, 6, CUBE), 100},
        {"layeredcube", shape(12, 12, 18, CUBE | LAYERED), 100},
        {"surface", shape(13, 7, 0, CUDA_ARRAY3D_SURFACE_LDST), 100},
        {"gather", shape(13, 7, 0, CUDA_ARRAY3D_TEXTURE_GATHER), 100},
        {"wide1d", shape(32769, 0, 0), 2},
        {"wide2d", shape(32769, 1, 0), 2},
        {"bc1", shape(16, 16, 0, 0, CU_AD_FORMAT_BC1_UNORM, 4), 100},
        {"nv12", shape(16, 16, 0, 0, CU_AD_FORMAT_NV12, 3), 2},
        {"no width", shape(0, 16, 0), 2},
    };
    for (const Question& each : questions) {
        CUmipmappedArray whole = nullptr;
        const std::string name = std::string("mipmap ") + each.name;
        if (say(name, cuMipmappedArrayCreate(&whole, &each.descriptor, each.levels)) !=
            CUDA_SUCCESS) {
            continue;
        }
        for (unsigned level = 0; level < 20; ++level) {
            CUarray array = nullptr;
            const std::string which = name + " level " + std::to_string(level);
            const CUresult code = cuMipmappedArrayGetLevel(&array, whole, level);
            if (code != CUDA_SUCCESS) {
                say(which, code);
                break;
            }
            CUarray again = nullptr;
            cuMipmappedArrayGetLevel(&again, whole, level);
            describe(which, array);
            say_value(which + " is the same handle again", again == array ? "yes" : "no");
        }
        say(name + " destroy", cuMipmappedArrayDestroy(whole));
    }
    CUmipmappedArray whole = nullptr;
    auto descriptor = shape(16, 16, 0);
    say("mipmap NULL output", cuMipmappedArrayCreate(nullptr, &descriptor, 2));
    say("mipmap NULL descriptor", cuMipmappedArrayCreate(&whole, nullptr, 2));
    say("mipmap", cuMipmappedArrayCreate(&whole, &descriptor, 2));
    say("level NULL output", cuMipmappedArrayGetLevel(nullptr, whole, 0));
    CUarray level = nullptr;
    say("level 2 of 2", cuMipmappedArrayGetLevel(&level, whole, 2));
    say("level", cuMipmappedArrayGetLevel(&level, whole, 1));
    say("destroy a level", cuArrayDestroy(level));
}

void ask_level_after_destroy() {
    begin();
    CUmipmappedArray whole = nullptr;
    auto descriptor = shape(16, 16, 0);
    cuMipmappedArrayCreate(&whole, &descriptor, 2);
    CUarray level = nullptr;
    cuMipmappedArrayGetLevel(&level, whole, 1);
    say("destroy the whole", cuMipmappedArrayDestroy(whole));
    CUDA_ARRAY3D_DESCRIPTOR found{};
    say("describe a level of it", cuArray3DGetDescriptor(&found, level));
}

void ask_planes() {
    begin();
    for (const int format : FORMATS) {
        for (const unsigned channels : {1U, 2U, 3U, 4U}) {
            const unsigned flags =
                format >= CU_AD_FORMAT_P010 ? CUDA_ARRAY3D_VIDEO_ENCODE_DECODE : 0;
            auto descriptor =
                shape(64, 32, 0, flags, static_cast<CUarray_format>(format), channels);
            CUarray array = nullptr;
            if (cuArray3DCreate(&array, &descriptor) != CUDA_SUCCESS) {
                continue;
            }
            for (unsigned plane = 0; plane < 4; ++plane) {
                CUarray part = nullptr;
                const CUresult code = cuArrayGetPlane(&part, array, plane);
                const std::string name = "format " + number(format) + " x" +
                                         std::to_string(channels) + " plane " +
                                         std::to_string(plane);
                if (code != CUDA_SUCCESS) {
                    say(name, code);
                    break;
                }
                describe(name, part);
                CUarray again = nullptr;
                cuArrayGetPlane(&again, array, plane);
                say_value(name + " is the same handle again", again == part ? "yes" : "no");
            }
            cuArrayDestroy(array);
        }
    }
    CUarray array = make(shape(64, 32, 0, CUDA_ARRAY3D_VIDEO_ENCODE_DECODE, CU_AD_FORMAT_NV12, 3));
    CUarray part = nullptr;
    say("plane NULL output", cuArrayGetPlane(nullptr, array, 0));
    say("plane", cuArrayGetPlane(&part, array, 0));
    say("destroy a plane", cuArrayDestroy(part));
}

void ask_requirements() {
    begin();
    const auto ask = [](const std::string& name, const CUDA_ARRAY3D_DESCRIPTOR& descriptor) {
        CUarray array = nullptr;
        if (say(name, cuArray3DCreate(&array, &descriptor)) != CUDA_SUCCESS) {
            return;
        }
        CUDA_ARRAY_MEMORY_REQUIREMENTS needs{};
        CUresult code = cuArrayGetMemoryRequirements(&needs, array, 0);
        say(name + " requirements", code, list(needs.size, needs.alignment));
        CUDA_ARRAY_SPARSE_PROPERTIES sparse{};
        code = cuArrayGetSparseProperties(&sparse, array);
        say(name + " sparse", code,
            list(sparse.tileExtent.width, sparse.tileExtent.height, sparse.tileExtent.depth,
                 sparse.miptailFirstLevel, sparse.miptailSize, sparse.flags));
    };
    constexpr unsigned DEFERRED = CUDA_ARRAY3D_DEFERRED_MAPPING;
    constexpr unsigned SPARSE = CUDA_ARRAY3D_SPARSE;
    ask("plain", shape(64, 64, 0));
    for (const unsigned flags : {DEFERRED, SPARSE}) {
        const std::string kind = flags == DEFERRED ? "deferred " : "sparse ";
        ask(kind + "1d", shape(64, 0, 0, flags));
        for (const unsigned channels : {1U, 2U, 4U}) {
            for (const auto format :
                 {CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_FLOAT}) {
                const std::string what = " " + number(format) + " x" + std::to_string(channels);
                ask(kind + "2d" + what, shape(1000, 600, 0, flags, format, channels));
                ask(kind + "3d" + what, shape(100, 60, 30, flags, format, channels));
                ask(kind + "layered" + what,
                    shape(100, 60, 30, flags | CUDA_ARRAY3D_LAYERED, format, channels));
            }
        }
        ask(kind + "cube", shape(64, 64, 6, flags | CUDA_ARRAY3D_CUBEMAP));
        ask(kind + "tiny", shape(1, 1, 0, flags));
    }
    for (const unsigned flags : {0U, DEFERRED, SPARSE, SPARSE | CUDA_ARRAY3D_LAYERED}) {
        auto descriptor = shape(1000, 600, (flags & CUDA_ARRAY3D_LAYERED) != 0 ? 4 : 0, flags);
        CUmipmappedArray whole = nullptr;
        const std::string name = "mipmap flags " + std::to_string(flags);
        if (say(name, cuMipmappedArrayCreate(&whole, &descriptor, 10)) != CUDA_SUCCESS) {
            continue;
        }
        CUDA_ARRAY_MEMORY_REQUIREMENTS needs{};
        CUresult code = cuMipmappedArrayGetMemoryRequirements(&needs, whole, 0);
        say(name + " requirements", code, list(needs.size, needs.alignment));
        CUDA_ARRAY_SPARSE_PROPERTIES sparse{};
        code = cuMipmappedArrayGetSparseProperties(&sparse, whole);
        say(name + " sparse", code,
            list(sparse.tileExtent.width, sparse.tileExtent.height, sparse.tileExtent.depth,
                 sparse.miptailFirstLevel, sparse.miptailSize, sparse.flags));
        CUarray level = nullptr;
        cuMipmappedArrayGetLevel(&level, whole, 1);
        say(name + " level requirements", cuArrayGetMemoryRequirements(&needs, level, 0));
        say(name + " level sparse", cuArrayGetSparseProperties(&sparse, level));
    }
    CUarray array = make(shape(64, 64, 0, DEFERRED));
    CUDA_ARRAY_MEMORY_REQUIREMENTS needs{};
    say("requirements of device 99", cuArrayGetMemoryRequirements(&needs, array, 99));
    say("requirements of device -1", cuArrayGetMemoryRequirements(&needs, array, -1));
    say("requirements NULL", cuArrayGetMemoryRequirements(nullptr, array, 0));
    say("sparse NULL", cuArrayGetSparseProperties(nullptr, array));
}

void ask_memory() {
    begin();
    const auto used = [](const CUDA_ARRAY3D_DESCRIPTOR& descriptor, const char* name) {
        std::size_t before = 0;
        std::size_t after = 0;
        std::size_t end = 0;
        std::size_t total = 0;
        cuMemGetInfo(&before, &total);
        CUarray array = make(descriptor);
        cuMemGetInfo(&after, &total);
        cuArrayDestroy(array);
        cuMemGetInfo(&end, &total);
        say_value(std::string("MiB used by ") + name, std::to_string((before - after) >> 20) +
                                                          ", left " +
                                                          std::to_string((before - end) >> 20));
    };
    used(shape(4096, 4096, 0), "64 MiB in 2-D");
    used(shape(256, 256, 256), "64 MiB in 3-D");
    used(shape(4096, 4096, 0, CUDA_ARRAY3D_SPARSE), "64 MiB sparse");
    used(shape(4096, 4096, 0, CUDA_ARRAY3D_DEFERRED_MAPPING), "64 MiB deferred");
}

void ask_linear_widths() {
    begin();
    for (const int format : FORMATS) {
        for (const unsigned channels : {0U, 1U, 2U, 3U, 4U}) {
            std::size_t width = 0;
            const CUresult code = cuDeviceGetTexture1DLinearMaxWidth(
                &width, static_cast<CUarray_format>(format), channels, 0);
            say("linear width " + number(format) + " x" + std::to_string(channels), code,
                std::to_string(width));
        }
    }
    say("linear width NULL", cuDeviceGetTexture1DLinearMaxWidth(nullptr, CU_AD_FORMAT_FLOAT, 1, 0));
    std::size_t width = 0;
    say("linear width device 99",
        cuDeviceGetTexture1DLinearMaxWidth(&width, CU_AD_FORMAT_FLOAT, 1, 99));
}

void ask_attributes() {
    begin();
    for (int attribute = 1; attribute < CU_DEVICE_ATTRIBUTE_MAX; ++attribute) {
        int value = 0;
        const CUresult code =
            cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(attribute), 0);
        if (code == CUDA_SUCCESS) {
            say_value("attribute " + std::to_string(attribute), std::to_string(value));
        } else {
            say("attribute " + std::to_string(attribute), code);
        }
    }
}

// ---- handles that are not valid ----------------------------------------------------------------

void ask_null_array() {
    begin();
    CUDA_ARRAY3D_DESCRIPTOR deep{};
    CUDA_ARRAY_DESCRIPTOR flat{};
    say("destroy NULL", cuArrayDestroy(nullptr));
    say("3d descriptor of NULL", cuArray3DGetDescriptor(&deep, nullptr));
    say("descriptor of NULL", cuArrayGetDescriptor(&flat, nullptr));
    CUarray array = make(shape(8, 8, 0));
    say("3d descriptor into NULL", cuArray3DGetDescriptor(nullptr, array));
    say("descriptor into NULL", cuArrayGetDescriptor(nullptr, array));
    CUarray part = nullptr;
    say("plane of NULL", cuArrayGetPlane(&part, nullptr, 0));
    CUDA_ARRAY_SPARSE_PROPERTIES sparse{};
    say("sparse properties of NULL", cuArrayGetSparseProperties(&sparse, nullptr));
    CUDA_ARRAY_MEMORY_REQUIREMENTS needs{};
    say("requirements of NULL", cuArrayGetMemoryRequirements(&needs, nullptr, 0));
}

void ask_null_mipmap() {
    begin();
    CUarray part = nullptr;
    say("destroy NULL mipmap", cuMipmappedArrayDestroy(nullptr));
    say("level of NULL", cuMipmappedArrayGetLevel(&part, nullptr, 0));
    CUDA_ARRAY_SPARSE_PROPERTIES sparse{};
    say("mipmap sparse properties of NULL", cuMipmappedArrayGetSparseProperties(&sparse, nullptr));
    CUDA_ARRAY_MEMORY_REQUIREMENTS needs{};
    say("mipmap requirements of NULL", cuMipmappedArrayGetMemoryRequirements(&needs, nullptr, 0));
}

void ask_destroyed_twice() {
    begin();
    CUarray array = make(shape(8, 8, 0));
    say("destroy", cuArrayDestroy(array));
    say("destroy again", cuArrayDestroy(array));
}

void ask_destroyed_described() {
    begin();
    CUarray array = make(shape(8, 8, 0));
    cuArrayDestroy(array);
    CUDA_ARRAY3D_DESCRIPTOR deep{};
    say("3d descriptor of a destroyed array", cuArray3DGetDescriptor(&deep, array));
    CUDA_ARRAY_DESCRIPTOR flat{};
    say("descriptor of a destroyed array", cuArrayGetDescriptor(&flat, array));
}

void ask_destroyed_mipmap() {
    begin();
    CUmipmappedArray whole = nullptr;
    auto descriptor = shape(16, 16, 0);
    cuMipmappedArrayCreate(&whole, &descriptor, 2);
    cuMipmappedArrayDestroy(whole);
    CUarray part = nullptr;
    say("level of a destroyed mipmap", cuMipmappedArrayGetLevel(&part, whole, 0));
    say("destroy again", cuMipmappedArrayDestroy(whole));
}

void ask_garbage_array() {
    begin();
    CUDA_ARRAY3D_DESCRIPTOR deep{};
    say("descriptor of 0x1230", cuArray3DGetDescriptor(&deep, reinterpret_cast<CUarray>(0x1230)));
}

void ask_wrong_kind() {
    begin();
    CUmipmappedArray whole = nullptr;
    auto descriptor = shape(16, 16, 0);
    cuMipmappedArrayCreate(&whole, &descriptor, 2);
    CUDA_ARRAY3D_DESCRIPTOR deep{};
    say("descriptor of a mipmap", cuArray3DGetDescriptor(&deep, reinterpret_cast<CUarray>(whole)));
}

// ---- contexts ----------------------------------------------------------------------------------

void ask_without_context() {
    cuInit(0);
    CUarray array = nullptr;
    auto descriptor = shape(8, 8, 0);
    say("create without a context", cuArray3DCreate(&array, &descriptor));
    CUmipmappedArray whole = nullptr;
    say("create a mipmap without a context", cuMipmappedArrayCreate(&whole, &descriptor, 2));
    begin();
    array = make(descriptor);
    cuCtxSetCurrent(nullptr);
    CUDA_ARRAY3D_DESCRIPTOR found{};
    say("describe without a context", cuArray3DGetDescriptor(&found, array));
    say("destroy without a context", cuArrayDestroy(array));
}

void ask_before_init() {
    CUarray array = nullptr;
    auto descriptor = shape(8, 8, 0);
    say("create before cuInit", cuArray3DCreate(&array, &descriptor));
}

void ask_other_context() {
    const CUcontext first = begin();
    CUarray array = make(shape(8, 8, 0));
    CUcontext second = nullptr;
    CUctxCreateParams parameters{};
    say("second context", cuCtxCreate(&second, &parameters, 0, 0));
    CUDA_ARRAY3D_DESCRIPTOR found{};
    say("describe from another context", cuArray3DGetDescriptor(&found, array));
    float values[8]{};
    say("copy from another context", cuMemcpyAtoH(values, array, 0, 16));
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
    CUDA_TEXTURE_DESC texture{};
    CUtexObject object = 0;
    say("texture from another context", cuTexObjectCreate(&object, &resource, &texture, nullptr));
    say("destroy from another context", cuArrayDestroy(array));
    CUarray doomed = make(shape(8, 8, 0));
    cuCtxDestroy(second);
    cuCtxSetCurrent(first);
    say("describe an array of a destroyed context", cuArray3DGetDescriptor(&found, doomed));
}

void ask_after_reset() {
    begin();
    CUarray array = make(shape(8, 8, 0));
    say("reset", cuDevicePrimaryCtxReset(0));
    begin();
    CUDA_ARRAY3D_DESCRIPTOR found{};
    say("describe after a reset", cuArray3DGetDescriptor(&found, array));
}

} // namespace

const std::initializer_list<Group> ARRAYS{
    {"attributes", ask_attributes},
    {"formats", ask_formats},
    {"mipmapped formats", ask_mipmapped_formats},
    {"descriptors", ask_descriptors},
    {"limits", ask_limits},
    {"mipmaps", ask_mipmaps},
    {"level after destroy", ask_level_after_destroy},
    {"planes", ask_planes},
    {"video", ask_video},
    {"requirements", ask_requirements},
    {"memory", ask_memory},
    {"linear widths", ask_linear_widths},
    {"null array", ask_null_array},
    {"null mipmap", ask_null_mipmap},
    {"destroyed twice", ask_destroyed_twice},
    {"destroyed described", ask_destroyed_described},
    {"destroyed mipmap", ask_destroyed_mipmap},
    {"garbage array", ask_garbage_array},
    {"wrong kind", ask_wrong_kind},
    {"without context", ask_without_context},
    {"before init", ask_before_init},
    {"other context", ask_other_context},
    {"after reset", ask_after_reset},
};

} // namespace answers
